//! Sharded runs: data in chunks, pieces of shards, outcomes of items.

use async_trait::async_trait;
use campanile_model::instance::{InstanceMove, InstanceState};
use campanile_model::sharding::{Chunk, Level, Outcomes, Piece, PieceAt, PieceOutcomes, ShardRun, Tally};
use campanile_model::task::{Step, Task};
use campanile_model::{InstanceId, Partitions, TaskId};
use campanile_store::{Lead, Result, ShardStore, ShardWrite, Taken};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::connection::{Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Hex, Id, Texts, batch, limit, number, written};

#[async_trait]
impl ShardStore for SqliteStore {
    async fn conduct(&self, lead: &Lead, what: &ShardWrite) -> Result<Taken> {
        let mut write = self.write_as(lead).await?;
        let taken = write.conduct(what).await?;
        match taken {
            Taken::Done => write.commit().await?,
            Taken::Lost => write.abandon().await?,
        }
        Ok(taken)
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
            "SELECT fence, done, run FROM shard_runs INDEXED BY shard_runs_open
             WHERE phase <> 'over' AND instance_seq > coalesce((SELECT seq FROM instances WHERE id = ?), 0){of_these}
             ORDER BY instance_seq LIMIT ?"
        );
        let search = composed(text).bind(after.map(Id::blob)).bind(limit(most));
        let found = self.read().await?.rows(search).await?;
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
                sql("SELECT row FROM shard_levels WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                     ORDER BY level")
                .bind(instance.blob()),
            )
            .await?;
        rows::all(&found, |row| row.json("row"))
    }

    async fn levels_from(&self, instance: InstanceId, from: u32, most: usize) -> Result<Vec<Level>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT row FROM shard_levels
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND level >= ?
                     ORDER BY level LIMIT ?")
                .bind(instance.blob())
                .bind(i64::from(from))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, |row| row.json("row"))
    }

    async fn level_sizes(&self, instance: InstanceId, draft: u32) -> Result<Vec<(u32, u64)>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT level, sum(count) AS n FROM shard_data
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND draft = ?
                     GROUP BY level ORDER BY level")
                .bind(instance.blob())
                .bind(i64::from(draft)),
            )
            .await?;
        rows::all(&found, |row| Ok((row.small("level")?, row.count("n")?)))
    }

    async fn chunks(&self, instance: InstanceId, draft: u32, from: (u32, u64), most: usize) -> Result<Vec<Chunk>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT draft, level, first, items FROM shard_data
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND draft = ?
                         AND (level, first) >= (?, ?)
                     ORDER BY level, first LIMIT ?")
                .bind(instance.blob())
                .bind(i64::from(draft))
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
        let from = from.iter().map(|(instance, at)| json!([instance.hex(), at.level, at.shard, at.first])).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT i.id, p.level, p.shard, p.first, p.items, o.marks, o.messages
                     FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS level, value ->> 2 AS shard,
                                  value ->> 3 AS first
                           FROM jsonb_each(?)) AS u
                     CROSS JOIN instances i ON i.id = u.id
                     CROSS JOIN shard_pieces p ON p.rowid IN (
                         SELECT rowid FROM shard_pieces
                         WHERE instance_seq = i.seq AND level = u.level AND shard = u.shard AND first >= u.first
                         ORDER BY first LIMIT ?)
                     CROSS JOIN shard_outcomes o ON o.instance_seq = p.instance_seq AND o.level = p.level
                         AND o.shard = p.shard AND o.first = p.first")
                .bind(batch(from))
                .bind(limit(most)),
            )
            .await?;
        let mut pieces = rows::all(&found, |row| {
            let outcomes = outcomes(row)?;
            Ok((row.id("id")?, Piece { at: outcomes.at, items: lines(&row.text("items")?) }, outcomes))
        })?;
        pieces.sort_by_key(|(instance, piece, _)| (*instance, piece.at));
        Ok(pieces)
    }

    async fn item_outcomes(&self, of: &[(InstanceId, PieceAt, u64)]) -> Result<Vec<(InstanceId, PieceOutcomes)>> {
        let of = of.iter();
        let of = of.map(|(instance, at, last)| json!([instance.hex(), at.level, at.shard, at.first, last])).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT i.id, o.* FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS level, value ->> 2 AS shard,
                                                   value ->> 3 AS first, value ->> 4 AS last
                                            FROM jsonb_each(?)) AS u
                     CROSS JOIN instances i ON i.id = u.id
                     CROSS JOIN shard_outcomes o ON o.instance_seq = i.seq AND o.level = u.level
                         AND o.shard = u.shard AND o.first BETWEEN u.first AND u.last
                     ORDER BY o.instance_seq, o.level, o.shard, o.first")
                .bind(batch(of)),
            )
            .await?;
        rows::all(&found, |row| Ok((row.id("id")?, outcomes(row)?)))
    }

    async fn tasks_after(&self, instance: InstanceId, after: Option<TaskId>, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_of_instance
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                         AND seq > coalesce((SELECT seq FROM tasks WHERE id = ?), 0)
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
                sql("SELECT * FROM tasks INDEXED BY tasks_by_state
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

pub(crate) fn run(row: &SqliteRow) -> Result<ShardRun> {
    let kept: ShardRun = row.json("run")?;
    let tally = Tally { done: row.count("done")?, ..kept.tally };
    Ok(ShardRun { fence: row.count("fence")?, tally, ..kept })
}

fn outcomes(row: &SqliteRow) -> Result<PieceOutcomes> {
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
    outcomes: Vec<Value>,
    done: Vec<Value>,
    data: Vec<(i64, &'s Chunk)>,
}

impl<'s> Brought<'s> {
    pub(crate) fn add(&mut self, instance: i64, step: &'s Step) -> Result<()> {
        for PieceOutcomes { at, outcomes } in step.outcomes() {
            let messages = written(outcomes.messages())?;
            self.outcomes.push(json!([instance, at.level, at.shard, at.first, outcomes.marks(), messages]));
        }
        if step.done() > 0 {
            self.done.push(json!([instance, step.done()]));
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
        self.put_levels(seq, &what.levels).await?;
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
        if !what.tasks.is_empty() {
            let tasks = what.tasks.iter().map(|task| rows::task_values(seq, task, task.fence()).map(rows::carried));
            self.execute(sql(crate::tasks::MAKE).bind(batch(tasks.collect::<Result<_>>()?))).await?;
        }
        Ok(Taken::Done)
    }

    /// The run's row, where it is as it was seen; hands back the place of its instance.
    async fn move_run(&mut self, what: &ShardWrite) -> Result<Option<i64>> {
        let run = &what.run;
        let moved = match what.begins {
            Some(at) => {
                let made = self
                    .row(
                        sql("INSERT INTO shard_runs (instance_seq, fence, phase, done, run)
                             SELECT seq, 1, ?, ?, ? FROM instances
                             WHERE id = ? AND +state = 'waiting' AND assigned_at IS NULL AND ? = 0
                             ON CONFLICT DO NOTHING RETURNING instance_seq")
                        .bind(run.phase.name())
                        .bind(what.done)
                        .bind(written(run)?)
                        .bind(run.instance.blob())
                        .bind(number(run.fence)),
                    )
                    .await?;
                if made.is_some() {
                    self.execute(
                        sql("UPDATE instances SET assigned_at = ? WHERE id = ?")
                            .bind(at.millis())
                            .bind(run.instance.blob()),
                    )
                    .await?;
                }
                made
            }
            None => {
                self.row(
                    sql("UPDATE shard_runs SET fence = fence + 1, phase = ?, done = done + ?, run = ?
                         WHERE instance_seq = (SELECT seq FROM instances
                                               WHERE id = ? AND (? = 0 OR +state IN ('waiting', 'running')))
                             AND fence = ?
                         RETURNING instance_seq")
                    .bind(run.phase.name())
                    .bind(what.done)
                    .bind(written(run)?)
                    .bind(run.instance.blob())
                    .bind(!what.tasks.is_empty())
                    .bind(number(run.fence)),
                )
                .await?
            }
        };
        moved.map(|row| row.int("instance_seq")).transpose()
    }

    async fn put_levels(&mut self, instance: i64, levels: &[Level]) -> Result<()> {
        if levels.is_empty() {
            return Ok(());
        }
        let values = levels.iter().map(|level| Ok(json!([instance, level.level, written(level)?])));
        self.execute(
            sql("INSERT INTO shard_levels (instance_seq, level, row)
                 SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?) WHERE true
                 ON CONFLICT (instance_seq, level) DO UPDATE SET row = excluded.row")
            .bind(batch(values.collect::<Result<_>>()?)),
        )
        .await?;
        Ok(())
    }

    async fn put_chunks<'c>(&mut self, chunks: impl Iterator<Item = (i64, &'c Chunk)>) -> Result<()> {
        let mut texts = Texts::default();
        let values: Vec<Value> = chunks
            .map(|(instance, chunk)| {
                let [from, length] = texts.add_lines(&chunk.items);
                json!([instance, chunk.draft, chunk.level, chunk.first, chunk.items.len(), from, length])
            })
            .collect();
        if values.is_empty() {
            return Ok(());
        }
        self.execute(
            sql("INSERT INTO shard_data (instance_seq, draft, level, first, count, items)
                 SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
                        CAST(substr(?2, value ->> 5, value ->> 6) AS TEXT)
                 FROM jsonb_each(?1) WHERE true
                 ON CONFLICT DO NOTHING")
            .bind(batch(values))
            .bind(texts.bytes()),
        )
        .await?;
        Ok(())
    }

    async fn put_pieces(&mut self, instance: i64, pieces: &[Piece]) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let mut texts = Texts::default();
        let values = pieces.iter().map(|Piece { at, items }| {
            let [from, length] = texts.add_lines(items);
            json!([instance, at.level, at.shard, at.first, from, length])
        });
        let values = batch(values.collect());
        self.execute(
            sql("INSERT INTO shard_pieces (instance_seq, level, shard, first, items)
                 SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
                        CAST(substr(?2, value ->> 4, value ->> 5) AS TEXT)
                 FROM jsonb_each(?1)")
            .bind(values)
            .bind(texts.bytes()),
        )
        .await?;
        let none = pieces.iter().map(|Piece { at, items }| {
            json!([instance, at.level, at.shard, at.first, Outcomes::none(items.len()).marks(), "{}"])
        });
        self.execute(
            sql("INSERT INTO shard_outcomes (instance_seq, level, shard, first, marks, messages)
                 SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM jsonb_each(?)")
            .bind(batch(none.collect())),
        )
        .await?;
        Ok(())
    }

    pub(crate) async fn put_brought(&mut self, brought: Brought<'_>) -> Result<()> {
        if !brought.outcomes.is_empty() {
            self.execute(
                sql("UPDATE shard_outcomes SET marks = u.v ->> 4, messages = u.v ->> 5
                     FROM (SELECT value AS v FROM jsonb_each(?)) AS u
                     WHERE shard_outcomes.instance_seq = u.v ->> 0 AND shard_outcomes.level = u.v ->> 1
                         AND shard_outcomes.shard = u.v ->> 2 AND shard_outcomes.first = u.v ->> 3")
                .bind(batch(brought.outcomes)),
            )
            .await?;
        }
        if !brought.done.is_empty() {
            self.execute(
                sql("UPDATE shard_runs SET done = done + u.more
                     FROM (SELECT value ->> 0 AS seq, sum(value ->> 1) AS more FROM jsonb_each(?)
                           GROUP BY value ->> 0) AS u
                     WHERE shard_runs.instance_seq = u.seq")
                .bind(batch(brought.done)),
            )
            .await?;
        }
        self.put_chunks(brought.data.into_iter()).await
    }
}
