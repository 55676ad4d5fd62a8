//! Sharded runs: data in chunks, pieces of shards, outcomes of items.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use campanile_model::instance::{InstanceMove, InstanceState};
use campanile_model::sharding::{Chunk, Level, Outcomes, Piece, PieceAt, PieceOutcomes, ShardRun, Tally};
use campanile_model::task::{Step, Task};
use campanile_model::{InstanceId, Partitions, TaskId};
use campanile_store::{Lead, Result, ShardStore, ShardWrite, Taken};
use sqlx::mysql::MySqlRow;

use crate::MysqlStore;
use crate::connection::{Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Id, limit, number, written};
use crate::values::{Row, ids, row};

#[async_trait]
impl ShardStore for MysqlStore {
    async fn conduct(&self, lead: &Lead, what: &ShardWrite) -> Result<Taken> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let taken = write.conduct(what).await?;
            match taken {
                Taken::Done => write.commit().await?,
                Taken::Lost => write.abandon().await?,
            }
            Ok(taken)
        })
        .await
    }

    async fn shard_runs(&self, of: Partitions, after: Option<InstanceId>, most: usize) -> Result<Vec<ShardRun>> {
        let of_these = match of {
            Partitions::ALL => String::new(),
            of => format!(
                " AND EXISTS (SELECT 1 FROM instances i WHERE i.seq = shard_runs.instance_seq{})",
                within(of, "i.job")
            ),
        };
        let text = format!(
            "SELECT fence, done, run FROM shard_runs FORCE INDEX (shard_runs_open) WHERE is_open = 1
                 AND instance_seq > coalesce((SELECT seq FROM instances WHERE id IN ({})), 0){of_these}
             ORDER BY instance_seq LIMIT {}",
            ids(after),
            limit(most)
        );
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, run)
    }

    async fn shard_run(&self, instance: InstanceId) -> Result<Option<ShardRun>> {
        let found = sql("SELECT fence, done, run FROM shard_runs
                         WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)")
        .bind(instance.blob());
        self.read().await?.row(found).await?.as_ref().map(run).transpose()
    }

    async fn levels(&self, instance: InstanceId) -> Result<Vec<Level>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT entry FROM shard_levels WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                     ORDER BY level")
                .bind(instance.blob()),
            )
            .await?;
        rows::all(&found, |row| row.json("entry"))
    }

    async fn levels_from(&self, instance: InstanceId, from: u32, most: usize) -> Result<Vec<Level>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT entry FROM shard_levels
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND level >= ?
                     ORDER BY level LIMIT ?")
                .bind(instance.blob())
                .bind(i64::from(from))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, |row| row.json("entry"))
    }

    async fn level_sizes(&self, instance: InstanceId, draft: u32) -> Result<Vec<(u32, u64)>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT level, CAST(SUM(n) AS SIGNED) AS total FROM shard_data
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND draft = ?
                     GROUP BY level ORDER BY level")
                .bind(instance.blob())
                .bind(i64::from(draft)),
            )
            .await?;
        rows::all(&found, |row| Ok((row.small("level")?, row.count("total")?)))
    }

    async fn chunks(&self, instance: InstanceId, draft: u32, from: (u32, u64), most: usize) -> Result<Vec<Chunk>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT draft, level, first, items FROM shard_data
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND draft = ?
                         AND (level > ? OR (level = ? AND first >= ?))
                     ORDER BY level, first LIMIT ?")
                .bind(instance.blob())
                .bind(i64::from(draft))
                .bind(i64::from(from.0))
                .bind(i64::from(from.0))
                .bind(number(from.1))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, |row| {
            Ok(Chunk {
                draft: row.small("draft")?,
                level: row.small("level")?,
                first: row.count("first")?,
                items: lines(&row.text("items")?),
            })
        })
    }

    async fn pieces(
        &self,
        from: &[(InstanceId, PieceAt)],
        most: usize,
    ) -> Result<Vec<(InstanceId, Piece, PieceOutcomes)>> {
        let searches = from.iter().map(|(instance, PieceAt { level, shard, first })| {
            let (id, most) = (ids([*instance]), limit(most));
            format!(
                "(SELECT {id} AS id, p.level, p.shard, p.first, p.items, o.marks, o.messages
                  FROM shard_pieces p FORCE INDEX (PRIMARY) STRAIGHT_JOIN shard_outcomes o FORCE INDEX (PRIMARY)
                      ON o.instance_seq = p.instance_seq AND o.level = p.level AND o.shard = p.shard
                      AND o.first = p.first
                  WHERE p.instance_seq = (SELECT seq FROM instances WHERE id = {id}) AND p.level = {level}
                      AND p.shard = {shard} AND p.first >= {first}
                  ORDER BY p.first LIMIT {most})"
            )
        });
        let searches: Vec<String> = searches.collect();
        if searches.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.read().await?.rows(composed(searches.join(" UNION ALL "))).await?;
        let mut pieces = rows::all(&found, |row| {
            let outcomes = outcomes(row)?;
            Ok((row.id("id")?, Piece { at: outcomes.at, items: lines(&row.text("items")?) }, outcomes))
        })?;
        pieces.sort_by_key(|(instance, piece, _)| (*instance, piece.at));
        Ok(pieces)
    }

    async fn item_outcomes(&self, of: &[(InstanceId, PieceAt, u64)]) -> Result<Vec<(InstanceId, PieceOutcomes)>> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let mut line = self.read().await?;
        let instances = ids(of.iter().map(|(instance, _, _)| *instance).collect::<BTreeSet<_>>());
        let instances = line.rows(composed(format!("SELECT id, seq FROM instances WHERE id IN ({instances})"))).await?;
        let instances = rows::all(&instances, |row| Ok((row.id("id")?, row.int("seq")?)))?;
        let seqs: BTreeMap<InstanceId, i64> = instances.iter().copied().collect();
        let by_seq: BTreeMap<i64, InstanceId> = instances.into_iter().map(|(id, seq)| (seq, id)).collect();
        // With nothing in them that would have to be looked up, these are ranges of one index.
        let ranges = of.iter().filter_map(|(instance, PieceAt { level, shard, first }, last)| {
            let seq = seqs.get(instance)?;
            Some(format!(
                "(instance_seq = {seq} AND level = {level} AND shard = {shard} AND first BETWEEN {first} AND {last})"
            ))
        });
        let ranges: Vec<String> = ranges.collect();
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!(
            "SELECT * FROM shard_outcomes FORCE INDEX (PRIMARY) WHERE {}
             ORDER BY instance_seq, level, shard, first",
            ranges.join(" OR ")
        );
        let found = line.rows(composed(text)).await?;
        rows::all(&found, |row| {
            let instance = by_seq.get(&row.int("instance_seq")?).copied();
            Ok((instance.ok_or_else(|| rows::damaged("outcomes of no run"))?, outcomes(row)?))
        })
    }

    async fn tasks_after(&self, instance: InstanceId, after: Option<TaskId>, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_of_instance)
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                         AND seq > coalesce((SELECT last.seq FROM tasks last WHERE last.id = ?), 0)
                     ORDER BY seq LIMIT ?")
                .bind(instance.blob())
                .bind(after.map(Id::blob))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn open_tasks(&self, instance: InstanceId, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_by_state)
                     WHERE state IN (100, 101, 201, 202, 203)
                         AND instance_seq = (SELECT seq FROM instances WHERE id = ?)
                     LIMIT ?")
                .bind(instance.blob())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }
}

pub(crate) fn run(row: &MySqlRow) -> Result<ShardRun> {
    let kept: ShardRun = row.json("run")?;
    let tally = Tally { done: row.count("done")?, ..kept.tally };
    Ok(ShardRun { fence: row.count("fence")?, tally, ..kept })
}

fn outcomes(row: &MySqlRow) -> Result<PieceOutcomes> {
    let at = PieceAt { level: row.small("level")?, shard: row.small("shard")?, first: row.count("first")? };
    Ok(PieceOutcomes { at, outcomes: Outcomes::stored(row.text("marks")?, row.json("messages")?) })
}

/// One value in a line, as they are kept.
pub(crate) fn lines(items: &str) -> Vec<String> {
    items.split('\n').map(str::to_owned).collect()
}

/// What steps of tasks bring to the runs that they are parts of.
#[derive(Default)]
pub(crate) struct Brought<'s> {
    outcomes: Vec<Row>,
    done: BTreeMap<i64, u64>,
    data: Vec<(i64, &'s Chunk)>,
}

impl<'s> Brought<'s> {
    pub(crate) fn add(&mut self, instance: i64, step: &'s Step) -> Result<()> {
        for PieceOutcomes { at, outcomes } in step.outcomes() {
            let messages = written(outcomes.messages())?;
            self.outcomes.push(row![instance, at.level, at.shard, at.first, outcomes.marks(), messages]);
        }
        if step.done() > 0 {
            *self.done.entry(instance).or_default() += step.done();
        }
        self.data.extend(step.data().iter().map(|chunk| (instance, chunk)));
        Ok(())
    }
}

impl Write {
    /// Where it is lost, what was written so far is to be abandoned.
    pub(crate) async fn conduct(&mut self, what: &ShardWrite) -> Result<Taken> {
        if let Some(at) = what.reopens {
            let running = InstanceMove { instance: what.run.instance, to: InstanceState::Running, at, result: None };
            self.move_instances(&[&running], Only::Any).await?;
        }
        let Some(seq) = self.move_run(what).await? else { return Ok(Taken::Lost) };
        let levels = what.levels.iter().map(|level| Ok(row![seq, level.level, written(level)?]));
        let levels = levels.collect::<Result<Vec<Row>>>()?;
        let head = "INSERT INTO shard_levels (instance_seq, level, entry)";
        self.insert(head, &levels, "ON DUPLICATE KEY UPDATE entry = VALUES(entry)").await?;
        self.put_chunks(what.data.iter().map(|chunk| (seq, chunk))).await?;
        if let Some((data, through)) = what.takes {
            self.drop_staged(data, through).await?;
        }
        if what.adopts {
            self.execute(
                sql("DELETE FROM shard_data WHERE instance_seq = ? AND draft <> ?")
                    .bind(seq)
                    .bind(i64::from(what.run.draft)),
            )
            .await?;
        }
        self.put_pieces(seq, &what.pieces).await?;
        if let Some((level, through)) = what.dealt {
            self.execute(
                sql("DELETE FROM shard_data WHERE instance_seq = ? AND draft = ? AND level = ? AND first < ?")
                    .bind(seq)
                    .bind(i64::from(what.run.draft))
                    .bind(i64::from(level))
                    .bind(number(through)),
            )
            .await?;
        }
        let tasks = what.tasks.iter().map(|task| rows::task_values(seq, task, task.fence()));
        self.insert(crate::tasks::MAKE, &tasks.collect::<Result<Vec<Row>>>()?, "").await?;
        Ok(Taken::Done)
    }

    /// The run's row, where it is as it was seen; hands back the place of its instance.
    async fn move_run(&mut self, what: &ShardWrite) -> Result<Option<i64>> {
        let run = &what.run;
        let instance = sql("SELECT seq, state, assigned_at FROM instances FORCE INDEX (instances_by_id)
                            WHERE id = ? FOR UPDATE")
        .bind(run.instance.blob());
        let Some(instance) = self.row(instance).await? else { return Ok(None) };
        let seq = instance.int("seq")?;
        let state = instance.named("state", InstanceState::named)?;
        let found = sql("SELECT fence FROM shard_runs WHERE instance_seq = ? FOR UPDATE").bind(seq);
        let fence = self.row(found).await?.map(|row| row.count("fence")).transpose()?;
        match (what.begins, fence) {
            (Some(at), None) => {
                let open = state == InstanceState::Waiting && instance.maybe_int("assigned_at")?.is_none();
                if !open || run.fence != 0 {
                    return Ok(None);
                }
                self.execute(
                    sql("INSERT INTO shard_runs (instance_seq, fence, phase, done, run) VALUES (?, 1, ?, ?, ?)")
                        .bind(seq)
                        .bind(run.phase.name())
                        .bind(what.done)
                        .bind(written(run)?),
                )
                .await?;
                self.execute(sql("UPDATE instances SET assigned_at = ? WHERE seq = ?").bind(at.millis()).bind(seq))
                    .await?;
            }
            (None, Some(fence)) => {
                if fence != run.fence || (state.is_final() && !what.tasks.is_empty()) {
                    return Ok(None);
                }
                self.execute(
                    sql("UPDATE shard_runs SET fence = fence + 1, phase = ?, done = done + ?, run = ?
                         WHERE instance_seq = ?")
                    .bind(run.phase.name())
                    .bind(what.done)
                    .bind(written(run)?)
                    .bind(seq),
                )
                .await?;
            }
            _ => return Ok(None),
        }
        Ok(Some(seq))
    }

    async fn put_chunks<'c>(&mut self, chunks: impl Iterator<Item = (i64, &'c Chunk)>) -> Result<()> {
        let values = chunks.map(|(instance, chunk)| {
            let n = chunk.items.len() as u64;
            row![instance, chunk.draft, chunk.level, chunk.first, n, chunk.items.join("\n")]
        });
        let head = "INSERT INTO shard_data (instance_seq, draft, level, first, n, items)";
        // What is there is left as it is.
        self.insert(head, &values.collect::<Vec<Row>>(), "ON DUPLICATE KEY UPDATE n = n").await
    }

    async fn put_pieces(&mut self, instance: i64, pieces: &[Piece]) -> Result<()> {
        let values = pieces
            .iter()
            .map(|Piece { at, items }| row![instance, at.level, at.shard, at.first, items.join("\n")])
            .collect::<Vec<Row>>();
        self.insert("INSERT INTO shard_pieces (instance_seq, level, shard, first, items)", &values, "").await?;
        let none = pieces.iter().map(|Piece { at, items }| {
            let marks = Outcomes::none(items.len());
            row![instance, at.level, at.shard, at.first, marks.marks(), "{}"]
        });
        let head = "INSERT INTO shard_outcomes (instance_seq, level, shard, first, marks, messages)";
        self.insert(head, &none.collect::<Vec<Row>>(), "").await
    }

    pub(crate) async fn put_brought(&mut self, brought: Brought<'_>) -> Result<()> {
        let outcomes = "shard_outcomes o ON o.instance_seq = u.c0 AND o.level = u.c1 AND o.shard = u.c2
            AND o.first = u.c3 SET o.marks = u.c4, o.messages = u.c5";
        self.change(&brought.outcomes, outcomes).await?;
        let done: Vec<Row> = brought.done.iter().map(|(instance, more)| row![*instance, *more]).collect();
        self.change(&done, "shard_runs r ON r.instance_seq = u.c0 SET r.done = r.done + u.c1").await?;
        self.put_chunks(brought.data.into_iter()).await
    }
}
