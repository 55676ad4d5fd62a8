//! Retention: what is old goes, in small steps. What somebody else is just writing is passed over and goes with a later
//! step: upkeep waits for nobody.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use campanile_model::{JobId, TaskId, Timestamp};
use campanile_store::{Lead, OMISSIONS_OUTLIVE, Purge, Purged, Result, UpkeepStore};

use crate::MysqlStore;
use crate::connection::{Write, composed, sql};
use crate::rows::{self, Columns, Id, limit};
use crate::values::{Row, id, ids, numbers, row};

#[async_trait]
impl UpkeepStore for MysqlStore {
    async fn purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged> {
        self.again(|| self.try_purge(lead, purge)).await
    }
}

impl MysqlStore {
    async fn try_purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged> {
        let mut write = self.write_as(lead).await?;
        let old = write.old_instances(purge).await?;
        let mut purged = Purged::default();
        if !old.is_empty() {
            write.move_ledger_marks(&old).await?;
            purged.tasks = write.tasks_in(&old).await?;
            purged.instances = write.drop_instances(&old).await?;
        }
        for (gone, before) in [
            (
                "DELETE FROM requests WHERE is_open = 0 AND asked_at < ? ORDER BY asked_at LIMIT ?",
                purge.requests_before,
            ),
            (
                "DELETE FROM questions WHERE is_open = 0 AND asked_at < ? ORDER BY asked_at LIMIT ?",
                purge.instances_before,
            ),
            (
                "DELETE FROM backfills WHERE is_open = 0 AND asked_at < ? ORDER BY asked_at LIMIT ?",
                purge.instances_before,
            ),
            (
                "DELETE FROM alarms WHERE state = 'resolved' AND resolved_at < ? ORDER BY resolved_at LIMIT ?",
                purge.alarms_before,
            ),
            ("DELETE FROM passes WHERE until_at < ? ORDER BY until_at LIMIT ?", purge.passes_before),
        ] {
            purged.others += write.execute(sql(gone).bind(before.millis()).bind(limit(purge.limit))).await?;
        }
        let read = write.row(sql("SELECT mark FROM marks WHERE reader = 'alerter'")).await?;
        let read = read.map_or(Ok(0), |row| row.int("mark"))?;
        purged.others += write
            .execute(
                sql("DELETE FROM incidents WHERE at < ? AND seq <= ? ORDER BY at LIMIT ?")
                    .bind(purge.incidents_before.millis())
                    .bind(read)
                    .bind(limit(purge.limit)),
            )
            .await?;
        // These rows are large.
        purged.others += write.purge_staged(purge.staged_before, limit(purge.limit.div_ceil(10))).await?;
        write.commit().await?;
        Ok(purged)
    }
}

impl Write {
    /// Final instances that ended too long ago, and the oldest of those jobs that have too many; each with its job, and
    /// both locked.
    async fn old_instances(&mut self, purge: &Purge) -> Result<BTreeMap<i64, JobId>> {
        let aged = self
            .rows(
                sql("SELECT seq, job FROM instances FORCE INDEX (instances_finished) WHERE finished_at < ?
                     ORDER BY finished_at LIMIT ?")
                .bind(purge.instances_before.millis())
                .bind(limit(purge.limit)),
            )
            .await?;
        let mut old = BTreeMap::new();
        for row in &aged {
            old.insert(row.int("seq")?, row.id("job")?);
        }
        let large = self
            .rows(
                sql("SELECT id, instances - ? AS beyond FROM jobs FORCE INDEX (jobs_by_size) WHERE instances > ?
                     ORDER BY instances DESC LIMIT ?")
                .bind(i64::from(purge.keep_per_job))
                .bind(i64::from(purge.keep_per_job))
                .bind(limit(purge.limit)),
            )
            .await?;
        for row in &large {
            let room = purge.limit.saturating_sub(old.len());
            if room == 0 {
                break;
            }
            let job: JobId = row.id("id")?;
            let beyond = self
                .rows(
                    sql("SELECT oldest.seq FROM (SELECT seq, finished_at FROM instances FORCE INDEX (instances_of_job)
                                                 WHERE job = ? ORDER BY seq LIMIT ?) oldest
                         WHERE oldest.finished_at IS NOT NULL ORDER BY oldest.seq LIMIT ?")
                    .bind(job.blob())
                    .bind(row.int("beyond")?)
                    .bind(limit(room)),
                )
                .await?;
            for row in &beyond {
                old.insert(row.int("seq")?, job);
            }
        }
        self.locked(old).await
    }

    /// Jobs before instances, as everyone does it; what has come back to life meanwhile is left out.
    async fn locked(&mut self, old: BTreeMap<i64, JobId>) -> Result<BTreeMap<i64, JobId>> {
        if old.is_empty() {
            return Ok(old);
        }
        let jobs: BTreeSet<JobId> = old.values().copied().collect();
        let text =
            format!("SELECT id FROM jobs FORCE INDEX (jobs_by_id) WHERE id IN ({}) FOR UPDATE SKIP LOCKED", ids(jobs));
        let found = self.rows(composed(text)).await?;
        let jobs: BTreeSet<JobId> = rows::all(&found, |row| row.id("id"))?.into_iter().collect();
        let seqs = old.iter().filter(|(_, job)| jobs.contains(job)).map(|(seq, _)| *seq);
        let text = format!(
            "SELECT seq, job FROM instances FORCE INDEX (PRIMARY)
             WHERE seq IN ({}) AND finished_at IS NOT NULL FOR UPDATE SKIP LOCKED",
            numbers(seqs)
        );
        let found = self.rows(composed(text)).await?;
        found.iter().map(|row| Ok((row.int("seq")?, row.id("job")?))).collect()
    }

    /// Where instances of the schedule go, the ledger of their job begins later.
    async fn move_ledger_marks(&mut self, old: &BTreeMap<i64, JobId>) -> Result<()> {
        let text = format!(
            "SELECT i.job, MAX(i.due) AS due FROM instances i STRAIGHT_JOIN jobs j ON j.id = i.job
             WHERE i.seq IN ({}) AND i.origin IN ('schedule', 'added')
                 AND (j.purge_mark IS NULL OR i.due > j.purge_mark)
             GROUP BY i.job",
            numbers(old.keys().copied())
        );
        let marks = self.rows(composed(text)).await?;
        for row in &marks {
            self.move_ledger_mark(row.id("job")?, row.time("due")?).await?;
        }
        Ok(())
    }

    /// What lies wholly before the mark goes.
    async fn move_ledger_mark(&mut self, job: JobId, mark: Timestamp) -> Result<()> {
        self.execute(sql("UPDATE jobs SET purge_mark = ? WHERE id = ?").bind(mark.millis()).bind(job.blob())).await?;
        self.execute(sql("DELETE FROM ledger_spans WHERE job = ? AND to_at <= ?").bind(job.blob()).bind(mark.millis()))
            .await?;
        let outlived = mark - OMISSIONS_OUTLIVE;
        self.execute(
            sql("DELETE FROM omissions WHERE job = ? AND to_at <= ?").bind(job.blob()).bind(outlived.millis()),
        )
        .await?;
        Ok(())
    }

    async fn tasks_in(&mut self, old: &BTreeMap<i64, JobId>) -> Result<Vec<TaskId>> {
        let text = format!(
            "SELECT id FROM tasks FORCE INDEX (tasks_of_instance) WHERE instance_seq IN ({}) ORDER BY instance_seq, seq",
            numbers(old.keys().copied())
        );
        rows::all(&self.rows(composed(text)).await?, |row| row.id("id"))
    }

    /// Tasks, their history and who keeps their logs go with their instance.
    async fn drop_instances(&mut self, old: &BTreeMap<i64, JobId>) -> Result<u64> {
        let seqs = numbers(old.keys().copied());
        for text in [
            format!(
                "DELETE p FROM tasks t STRAIGHT_JOIN log_parts p ON p.task = t.id WHERE t.instance_seq IN ({seqs})"
            ),
            format!(
                "DELETE m FROM tasks t STRAIGHT_JOIN task_moves m ON m.task_seq = t.seq WHERE t.instance_seq IN ({seqs})"
            ),
            format!("DELETE FROM tasks WHERE instance_seq IN ({seqs})"),
            format!("DELETE FROM shard_runs WHERE instance_seq IN ({seqs})"),
            format!("DELETE FROM shard_levels WHERE instance_seq IN ({seqs})"),
            format!("DELETE FROM shard_data WHERE instance_seq IN ({seqs})"),
            format!("DELETE FROM shard_pieces WHERE instance_seq IN ({seqs})"),
            format!("DELETE FROM shard_outcomes WHERE instance_seq IN ({seqs})"),
        ] {
            self.execute(composed(text)).await?;
        }
        let mut fewer: BTreeMap<JobId, u32> = BTreeMap::new();
        old.values().for_each(|job| *fewer.entry(*job).or_default() += 1);
        let fewer: Vec<Row> = fewer.into_iter().map(|(job, gone)| row![id(job), gone]).collect();
        self.change(&fewer, "jobs j ON j.id = u.c0 SET j.instances = j.instances - u.c1").await?;
        self.execute(composed(format!("DELETE FROM instances WHERE seq IN ({seqs})"))).await
    }
}
