//! Firings that no clock plans: the queues of ends, questions to people, backfills.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use campanile_model::backfill::{Backfill, BackfillEnd};
use campanile_model::chain::{Ending, after_of};
use campanile_model::instance::InstanceState;
use campanile_model::job::Job;
use campanile_model::question::{Question, QuestionAnswer};
use campanile_model::{InstanceId, JobId, Partitions, QuestionId, RequestId, Timestamp};
use campanile_store::{Cause, Entries, Launched, Lead, Result, Taken, Unplanned, UnplannedStore};
use serde_json::{Value, json};

use crate::SqliteStore;
use crate::connection::{Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Hex, Id, batch, hexes, limit, maybe_written, written};

#[async_trait]
impl UnplannedStore for SqliteStore {
    async fn downstream(&self, upstream: &str) -> Result<Vec<Job>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM jobs WHERE id IN (SELECT job FROM chains WHERE upstream = ?) AND removed = 0
                     ORDER BY id")
                .bind(upstream.to_owned()),
            )
            .await?;
        let mut jobs: Vec<Job> = rows::all(&found, rows::job)?;
        // A version that holds no more may have named it.
        jobs.retain(|job| after_of(&job.spec).is_some_and(|after| after.jobs.iter().any(|name| name == upstream)));
        Ok(jobs)
    }

    async fn endings(&self, of: Partitions, most: usize) -> Result<Vec<Ending>> {
        let text = format!(
            "WITH new AS (SELECT seq, job FROM endings INDEXED BY endings_new WHERE kept = 0{}
                          ORDER BY seq LIMIT ?)
             SELECT * FROM endings
             WHERE seq IN (SELECT seq FROM new)
                 OR seq IN (SELECT e.seq FROM endings e INDEXED BY endings_of_job
                            WHERE e.job IN (SELECT job FROM new) AND e.kept = 1)
             ORDER BY seq",
            within(of, "job")
        );
        let found = self.read().await?.rows(composed(text).bind(limit(most))).await?;
        rows::all(&found, rows::ending)
    }

    async fn launch_unplanned(&self, lead: &Lead, unplanned: &[Unplanned]) -> Result<Vec<Launched>> {
        let mut write = self.write_as(lead).await?;
        let mut ledgers = write.ledgers(unplanned.iter().map(|one| one.job)).await?;
        let mut standing = write.standing(unplanned).await?;
        let mut is_kept = Vec::with_capacity(unplanned.len());
        let mut entries = Entries::default();
        for one in unplanned {
            let ledger = ledgers.get_mut(&one.job).filter(|ledger| ledger.version() == one.version);
            let stands = ledger.is_some() && standing.take(&one.cause);
            if let (Some(ledger), true) = (ledger, stands) {
                ledger.omit_all(&one.omissions, &one.instances, &mut entries);
            }
            is_kept.push(stands);
        }
        let kept = || unplanned.iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(one, _)| one);

        let made = write.put_instances(kept().flat_map(|one| &one.instances)).await?;
        let superseded: Vec<_> = kept().flat_map(|one| &one.supersedes).collect();
        write.move_instances(&superseded, Only::Unassigned).await?;
        write.put_ledger(entries).await?;
        write.put_questions(kept().flat_map(|one| &one.questions)).await?;
        write.put_incidents(kept().flat_map(|one| &one.incidents)).await?;
        write.use_up(kept().map(|one| (&one.cause, one.instances.len()))).await?;
        write.commit().await?;
        Ok(unplanned
            .iter()
            .zip(&is_kept)
            .map(|(one, kept)| match kept {
                true => {
                    let made = one.instances.iter().filter(|instance| made.contains(&instance.id)).count();
                    Launched::Written { made: u32::try_from(made).unwrap_or(u32::MAX) }
                }
                false => Launched::Stale,
            })
            .collect())
    }

    async fn open_backfills(&self, of: Partitions, most: usize) -> Result<Vec<Backfill>> {
        let text = format!(
            "SELECT b.* FROM backfills b INDEXED BY backfills_open JOIN jobs j ON j.id = b.job
             WHERE b.ended IS NULL AND j.removed = 0{} ORDER BY b.seq LIMIT ?",
            within(of, "b.job")
        );
        let found = self.read().await?.rows(composed(text).bind(limit(most))).await?;
        rows::all(&found, rows::backfill)
    }

    async fn open_questions(&self, most: usize) -> Result<Vec<Question>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM questions INDEXED BY questions_open WHERE answer IS NULL
                     ORDER BY until_at, seq LIMIT ?")
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::question)
    }

    async fn end_questions(&self, lead: &Lead, now: Timestamp, most: usize) -> Result<u64> {
        let mut write = self.write_as(lead).await?;
        let ended = write
            .execute(
                sql("UPDATE questions SET answer = ?1 WHERE seq IN (
                         SELECT seq FROM questions INDEXED BY questions_open WHERE answer IS NULL AND until_at <= ?2
                         ORDER BY until_at, seq LIMIT ?3)")
                .bind(written(&QuestionAnswer::ran_out(now))?)
                .bind(now.millis())
                .bind(limit(most)),
            )
            .await?;
        write.commit().await?;
        Ok(ended)
    }
}

/// The causes of a batch as they stand in the database.
struct Standing {
    endings: HashSet<i64>,
    backfills: HashMap<RequestId, Timestamp>,
}

impl Standing {
    /// False: it does not stand as it was seen.
    fn take(&mut self, cause: &Cause) -> bool {
        match cause {
            Cause::Endings { used, kept } => {
                let stands = used.iter().chain(kept).all(|seq| self.endings.contains(seq));
                if stands {
                    used.iter().for_each(|seq| {
                        self.endings.remove(seq);
                    });
                }
                stands
            }
            Cause::Backfill { id, seen_through, through, .. } => match self.backfills.get_mut(id) {
                Some(stands) if stands == seen_through => {
                    *stands = *through;
                    true
                }
                _ => false,
            },
        }
    }
}

impl Write {
    async fn standing(&mut self, unplanned: &[Unplanned]) -> Result<Standing> {
        let mut seqs = Vec::new();
        let mut ids = Vec::new();
        for one in unplanned {
            match &one.cause {
                Cause::Endings { used, kept } => seqs.extend(used.iter().chain(kept).copied()),
                Cause::Backfill { id, .. } => ids.push(*id),
            }
        }
        let mut standing = Standing { endings: HashSet::new(), backfills: HashMap::new() };
        if !seqs.is_empty() {
            let found = self
                .rows(
                    sql("SELECT seq FROM endings WHERE seq IN (SELECT value FROM json_each(?))")
                        .bind(Value::from(seqs).to_string()),
                )
                .await?;
            standing.endings.extend(rows::all(&found, |row| row.int("seq"))?);
        }
        if !ids.is_empty() {
            let found = self
                .rows(
                    sql("SELECT id, through_at FROM backfills
                         WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND ended IS NULL")
                    .bind(hexes(ids)),
                )
                .await?;
            standing.backfills.extend(rows::all(&found, |row| Ok((row.id("id")?, row.time("through_at")?)))?);
        }
        Ok(standing)
    }

    async fn use_up<'c>(&mut self, causes: impl Iterator<Item = (&'c Cause, usize)>) -> Result<()> {
        let (mut gone, mut marked) = (Vec::new(), Vec::new());
        let mut moved: BTreeMap<RequestId, (Timestamp, usize, Option<String>)> = BTreeMap::new();
        for (cause, made) in causes {
            match cause {
                Cause::Endings { used, kept } => {
                    gone.extend(used.iter().copied());
                    marked.extend(kept.iter().copied());
                }
                Cause::Backfill { id, through, done_at, .. } => {
                    let end = done_at
                        .map(|at| BackfillEnd { at, how: campanile_model::backfill::BackfillState::Done })
                        .map(|end| written(&end))
                        .transpose()?;
                    let entry = moved.entry(*id).or_insert((*through, 0, None));
                    *entry = (*through, entry.1 + made, end);
                }
            }
        }
        if !gone.is_empty() {
            let gone = Value::from(gone).to_string();
            self.execute(sql("DELETE FROM endings WHERE seq IN (SELECT value FROM json_each(?))").bind(gone)).await?;
        }
        if !marked.is_empty() {
            let marked = Value::from(marked).to_string();
            self.execute(sql("UPDATE endings SET kept = 1 WHERE seq IN (SELECT value FROM json_each(?))").bind(marked))
                .await?;
        }
        if !moved.is_empty() {
            let moved =
                moved.into_iter().map(|(id, (through, made, end))| json!([id.hex(), through, made, end])).collect();
            self.execute(
                sql("UPDATE backfills SET through_at = u.through_at, made = backfills.made + u.made, ended = u.ended
                     FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS through_at, value ->> 2 AS made,
                                  value ->> 3 AS ended
                           FROM jsonb_each(?)) AS u
                     WHERE backfills.id = u.id")
                .bind(batch(moved)),
            )
            .await?;
        }
        Ok(())
    }

    /// The job follows those that its version names, from when that version holds on; until then those of the versions
    /// before it as well.
    pub(crate) async fn put_chain(&mut self, job: &Job) -> Result<()> {
        if job.spec.effective_from.is_none_or(|from| from <= job.saved_at) {
            self.execute(sql("DELETE FROM chains WHERE job = ?").bind(job.id.blob())).await?;
        }
        if let Some(after) = after_of(&job.spec) {
            self.execute(
                sql("INSERT INTO chains (upstream, job) SELECT value, ?1 FROM json_each(?2) WHERE true
                     ON CONFLICT DO NOTHING")
                .bind(job.id.blob())
                .bind(Value::from(after.jobs.clone()).to_string()),
            )
            .await?;
        }
        Ok(())
    }

    /// Nobody decides on what waits for a job that is gone.
    pub(crate) async fn drop_chain(&mut self, job: JobId) -> Result<()> {
        self.execute(sql("DELETE FROM chains WHERE job = ?").bind(job.blob())).await?;
        self.execute(sql("DELETE FROM endings WHERE job = ?").bind(job.blob())).await?;
        Ok(())
    }

    /// Queues the ends of instances for the jobs that follow theirs.
    pub(crate) async fn put_endings(
        &mut self,
        ended: Vec<(JobId, InstanceId, InstanceState, Timestamp)>,
    ) -> Result<()> {
        let ended: Vec<Value> = ended
            .into_iter()
            .filter(|(_, _, state, _)| *state != InstanceState::Superseded)
            .map(|(job, instance, state, at)| json!([job.hex(), instance.hex(), state.name(), at]))
            .collect();
        if ended.is_empty() {
            return Ok(());
        }
        self.execute(
            sql("INSERT INTO endings (job, upstream, instance, state, at)
                 SELECT c.job, u.id, unhex(e.value ->> 1), e.value ->> 2, e.value ->> 3
                 FROM jsonb_each(?) e
                 CROSS JOIN jobs u ON u.id = unhex(e.value ->> 0)
                 CROSS JOIN chains c ON c.upstream = u.name
                 ORDER BY e.key")
            .bind(batch(ended)),
        )
        .await?;
        Ok(())
    }

    pub(crate) async fn put_questions<'q>(&mut self, questions: impl Iterator<Item = &'q Question>) -> Result<()> {
        let values = questions
            .map(|question| {
                Ok(json!([
                    question.id.hex(),
                    question.job.hex(),
                    question.version,
                    question.from,
                    question.to,
                    question.count,
                    question.asked_at,
                    question.until,
                    maybe_written(question.answer.as_ref())?,
                ]))
            })
            .collect::<Result<Vec<Value>>>()?;
        if values.is_empty() {
            return Ok(());
        }
        self.execute(
            sql("INSERT INTO questions (id, job, version, from_at, to_at, times, asked_at, until_at, answer)
                 SELECT unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5,
                        value ->> 6, value ->> 7, value ->> 8
                 FROM jsonb_each(?)")
            .bind(batch(values)),
        )
        .await?;
        Ok(())
    }

    pub(crate) async fn answer_question(&mut self, question: QuestionId, answer: &QuestionAnswer) -> Result<Taken> {
        let answered = self
            .execute(
                sql("UPDATE questions SET answer = ? WHERE id = ? AND answer IS NULL")
                    .bind(written(answer)?)
                    .bind(question.blob()),
            )
            .await?;
        Ok(if answered == 1 { Taken::Done } else { Taken::Lost })
    }

    pub(crate) async fn put_backfill(&mut self, backfill: &Backfill) -> Result<()> {
        self.execute(
            sql("INSERT INTO backfills (id, job, version, from_at, to_at, through_at, planned, made, asked_by, asked_at,
                                        ended)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
            .bind(backfill.id.blob())
            .bind(backfill.job.blob())
            .bind(i64::from(backfill.version))
            .bind(backfill.from.millis())
            .bind(backfill.to.millis())
            .bind(backfill.through.millis())
            .bind(i64::from(backfill.planned))
            .bind(i64::from(backfill.made))
            .bind(backfill.asked_by.clone())
            .bind(backfill.asked_at.millis())
            .bind(maybe_written(backfill.ended.as_ref())?),
        )
        .await?;
        Ok(())
    }

    pub(crate) async fn end_backfill(&mut self, backfill: RequestId, end: &BackfillEnd) -> Result<Taken> {
        let ended = self
            .execute(
                sql("UPDATE backfills SET ended = ? WHERE id = ? AND ended IS NULL")
                    .bind(written(end)?)
                    .bind(backfill.blob()),
            )
            .await?;
        Ok(if ended == 1 { Taken::Done } else { Taken::Lost })
    }
}
