//! Firings that no clock plans: the queues of ends, questions to people, backfills.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use campanile_model::backfill::{Backfill, BackfillEnd};
use campanile_model::chain::{Ending, after_of};
use campanile_model::instance::InstanceState;
use campanile_model::job::Job;
use campanile_model::question::{Question, QuestionAnswer};
use campanile_model::{InstanceId, JobId, Partitions, QuestionId, RequestId, Timestamp};
use campanile_store::{Cause, Entries, Launched, Lead, Result, Taken, Unplanned, UnplannedStore};

use crate::MysqlStore;
use crate::connection::{Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Id, limit, maybe_written, written};
use crate::values::{id, ids, list, numbers, row};

#[async_trait]
impl UnplannedStore for MysqlStore {
    async fn downstream(&self, upstream: &str) -> Result<Vec<Job>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT j.* FROM chains c STRAIGHT_JOIN jobs j ON j.id = c.job
                     WHERE c.upstream = ? AND j.removed = 0 ORDER BY j.id")
                .bind(upstream.as_bytes().to_vec()),
            )
            .await?;
        let mut jobs: Vec<Job> = rows::all(&found, rows::job)?;
        // A version that holds no more may have named it.
        jobs.retain(|job| after_of(&job.spec).is_some_and(|after| after.jobs.iter().any(|name| name == upstream)));
        Ok(jobs)
    }

    async fn endings(&self, of: Partitions, most: usize) -> Result<Vec<Ending>> {
        let mut line = self.snapshot().await?;
        let new = line
            .rows(composed(format!(
                "SELECT * FROM endings FORCE INDEX (endings_new) WHERE kept = 0{} ORDER BY seq LIMIT {}",
                within(of, "job"),
                limit(most)
            )))
            .await?;
        let mut endings: Vec<Ending> = rows::all(&new, rows::ending)?;
        if !endings.is_empty() {
            let jobs: BTreeSet<JobId> = endings.iter().map(|ending| ending.job).collect();
            let text =
                format!("SELECT * FROM endings FORCE INDEX (endings_of_job) WHERE job IN ({}) AND kept = 1", ids(jobs));
            let kept = line.rows(composed(text)).await?;
            endings.extend(rows::all(&kept, rows::ending)?);
        }
        line.close().await?;
        endings.sort_by_key(|ending| ending.seq);
        Ok(endings)
    }

    async fn launch_unplanned(&self, lead: &Lead, unplanned: &[Unplanned]) -> Result<Vec<Launched>> {
        self.again(|| self.try_launch_unplanned(lead, unplanned)).await
    }

    async fn open_backfills(&self, of: Partitions, most: usize) -> Result<Vec<Backfill>> {
        let found = self
            .read()
            .await?
            .rows(composed(format!(
                "SELECT b.* FROM backfills b FORCE INDEX (backfills_open) STRAIGHT_JOIN jobs j ON j.id = b.job
                     WHERE b.is_open = 1 AND j.removed = 0{} ORDER BY b.seq LIMIT {}",
                within(of, "b.job"),
                limit(most)
            )))
            .await?;
        rows::all(&found, rows::backfill)
    }

    async fn open_questions(&self, most: usize) -> Result<Vec<Question>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM questions FORCE INDEX (questions_open) WHERE is_open = 1
                     ORDER BY until_at, seq LIMIT ?")
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::question)
    }

    async fn end_questions(&self, lead: &Lead, now: Timestamp, most: usize) -> Result<u64> {
        let answer = &written(&QuestionAnswer::ran_out(now))?;
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let ended = write
                .execute(
                    sql("UPDATE questions SET answer = ? WHERE is_open = 1 AND until_at <= ?
                         ORDER BY until_at, seq LIMIT ?")
                    .bind(answer.clone())
                    .bind(now.millis())
                    .bind(limit(most)),
                )
                .await?;
            write.commit().await?;
            Ok(ended)
        })
        .await
    }
}

impl MysqlStore {
    async fn try_launch_unplanned(&self, lead: &Lead, unplanned: &[Unplanned]) -> Result<Vec<Launched>> {
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
        let mut open = Vec::new();
        for one in unplanned {
            match &one.cause {
                Cause::Endings { used, kept } => seqs.extend(used.iter().chain(kept).copied()),
                Cause::Backfill { id, .. } => open.push(*id),
            }
        }
        let mut standing = Standing { endings: HashSet::new(), backfills: HashMap::new() };
        if !seqs.is_empty() {
            let text =
                format!("SELECT seq FROM endings FORCE INDEX (PRIMARY) WHERE seq IN ({}) FOR UPDATE", numbers(seqs));
            let found = self.rows(composed(text)).await?;
            standing.endings.extend(rows::all(&found, |row| row.int("seq"))?);
        }
        if !open.is_empty() {
            let text = format!(
                "SELECT id, through_at FROM backfills FORCE INDEX (backfills_by_id)
                 WHERE id IN ({}) AND ended IS NULL FOR UPDATE",
                ids(open)
            );
            let found = self.rows(composed(text)).await?;
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
            self.execute(composed(format!("DELETE FROM endings WHERE seq IN ({})", numbers(gone)))).await?;
        }
        if !marked.is_empty() {
            let text = format!("UPDATE endings SET kept = 1 WHERE seq IN ({})", numbers(marked));
            self.execute(composed(text)).await?;
        }
        for (backfill, (through, made, end)) in moved {
            self.execute(
                sql("UPDATE backfills SET through_at = ?, made = made + ?, ended = ? WHERE id = ?")
                    .bind(through.millis())
                    .bind(limit(made))
                    .bind(end)
                    .bind(backfill.blob()),
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
            let upstreams: Vec<_> = after.jobs.iter().map(|upstream| row![upstream, id(job.id)]).collect();
            let tail = "ON DUPLICATE KEY UPDATE job = job";
            self.insert("INSERT INTO chains (upstream, job)", &upstreams, tail).await?;
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
        let ended: Vec<_> = ended.into_iter().filter(|(_, _, state, _)| *state != InstanceState::Superseded).collect();
        if ended.is_empty() {
            return Ok(());
        }
        let upstreams: BTreeSet<JobId> = ended.iter().map(|(job, ..)| *job).collect();
        let text = format!(
            "SELECT u.id, c.job FROM jobs u FORCE INDEX (jobs_by_id)
             STRAIGHT_JOIN chains c ON c.upstream = CAST(u.name AS BINARY)
             WHERE u.id IN ({}) ORDER BY c.job",
            list(upstreams.into_iter().map(id))
        );
        let mut followers: HashMap<JobId, Vec<JobId>> = HashMap::new();
        for row in &self.rows(composed(text)).await? {
            followers.entry(row.id("id")?).or_default().push(row.id("job")?);
        }
        let mut endings = Vec::new();
        for (upstream, instance, state, at) in ended {
            for job in followers.get(&upstream).into_iter().flatten() {
                endings.push(row![id(*job), id(upstream), id(instance), state.name(), at]);
            }
        }
        self.insert("INSERT INTO endings (job, upstream, instance, state, at)", &endings, "").await
    }

    pub(crate) async fn put_questions<'q>(&mut self, questions: impl Iterator<Item = &'q Question>) -> Result<()> {
        let values = questions
            .map(|question| {
                Ok(row![
                    id(question.id),
                    id(question.job),
                    question.version,
                    question.from,
                    question.to,
                    question.count,
                    question.asked_at,
                    question.until,
                    maybe_written(question.answer.as_ref())?,
                ])
            })
            .collect::<Result<Vec<_>>>()?;
        let head = "INSERT INTO questions (id, job, version, from_at, to_at, times, asked_at, until_at, answer)";
        self.insert(head, &values, "").await
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
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE seq = seq")
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
