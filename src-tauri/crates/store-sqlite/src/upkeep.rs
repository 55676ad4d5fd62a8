//! Retention: what is old goes, in small steps.

use std::collections::BTreeSet;

use async_trait::async_trait;
use campanile_model::{JobId, TaskId, Timestamp};
use campanile_store::{Lead, OMISSIONS_OUTLIVE, Purge, Purged, Result, UpkeepStore};
use serde_json::Value;

use crate::SqliteStore;
use crate::connection::{Write, sql};
use crate::rows::{self, Columns, Hex, Id, limit};

#[async_trait]
impl UpkeepStore for SqliteStore {
    async fn purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged> {
        let mut write = self.write_as(lead).await?;
        let old = write.old_instances(purge).await?;
        let mut purged = Purged::default();
        if !old.is_empty() {
            write.move_ledger_marks(&old).await?;
            purged.tasks = write.tasks_in(&old).await?;
            write.forget_logs(&purged.tasks).await?;
            purged.instances = write.drop_instances(&old).await?;
        }
        let most = limit(purge.limit);
        purged.others += write
            .execute(
                sql(
                    "DELETE FROM requests WHERE seq IN (
                         SELECT seq FROM requests WHERE answer IS NOT NULL AND asked_at < ? ORDER BY asked_at LIMIT ?)",
                )
                .bind(purge.requests_before.millis())
                .bind(most),
            )
            .await?;
        for old in [
            "DELETE FROM questions WHERE seq IN (
                 SELECT seq FROM questions WHERE answer IS NOT NULL AND asked_at < ? ORDER BY asked_at LIMIT ?)",
            "DELETE FROM backfills WHERE seq IN (
                 SELECT seq FROM backfills WHERE ended IS NOT NULL AND asked_at < ? ORDER BY asked_at LIMIT ?)",
        ] {
            purged.others += write.execute(sql(old).bind(purge.instances_before.millis()).bind(most)).await?;
        }
        purged.others += write
            .execute(
                sql("DELETE FROM incidents WHERE seq IN (
                         SELECT seq FROM incidents
                         WHERE at < ? AND seq <= coalesce((SELECT mark FROM marks WHERE reader = 'alerter'), 0)
                         ORDER BY at LIMIT ?)")
                .bind(purge.incidents_before.millis())
                .bind(most),
            )
            .await?;
        purged.others += write
            .execute(
                sql("DELETE FROM alarms WHERE seq IN (
                         SELECT seq FROM alarms INDEXED BY alarms_resolved WHERE state = 'resolved' AND resolved_at < ?
                         ORDER BY resolved_at LIMIT ?)")
                .bind(purge.alarms_before.millis())
                .bind(most),
            )
            .await?;
        purged.others += write
            .execute(
                sql("DELETE FROM passes WHERE digest IN (
                         SELECT digest FROM passes WHERE until_at < ? ORDER BY until_at LIMIT ?)")
                .bind(purge.passes_before.millis())
                .bind(most),
            )
            .await?;
        // These rows are large.
        purged.others += write.purge_staged(purge.staged_before, limit(purge.limit.div_ceil(10))).await?;
        write.commit().await?;
        Ok(purged)
    }
}

fn seqs(of: &BTreeSet<i64>) -> String {
    Value::from(of.iter().copied().collect::<Vec<_>>()).to_string()
}

impl Write {
    /// Final instances that ended too long ago, and the oldest of those jobs that have too many.
    async fn old_instances(&mut self, purge: &Purge) -> Result<BTreeSet<i64>> {
        let aged = self
            .rows(
                sql("SELECT seq FROM instances WHERE finished_at < ? ORDER BY finished_at LIMIT ?")
                    .bind(purge.instances_before.millis())
                    .bind(limit(purge.limit)),
            )
            .await?;
        let mut old = aged.iter().map(|row| row.int("seq")).collect::<Result<BTreeSet<i64>>>()?;

        let large = self
            .rows(
                sql("SELECT id, instances - ?1 AS beyond FROM jobs WHERE instances > ?1 ORDER BY instances DESC LIMIT ?2")
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
                    sql("SELECT seq FROM (SELECT seq, finished_at FROM instances WHERE job = ? ORDER BY seq LIMIT ?)
                         WHERE finished_at IS NOT NULL ORDER BY seq LIMIT ?")
                    .bind(job.blob())
                    .bind(row.int("beyond")?)
                    .bind(limit(room)),
                )
                .await?;
            for row in &beyond {
                old.insert(row.int("seq")?);
            }
        }
        Ok(old)
    }

    /// Where instances of the schedule go, the ledger of their job begins later.
    async fn move_ledger_marks(&mut self, old: &BTreeSet<i64>) -> Result<()> {
        let marks = self
            .rows(
                sql("SELECT i.job, max(i.due) AS due FROM instances i JOIN jobs j ON j.id = i.job
                     WHERE i.seq IN (SELECT value FROM json_each(?)) AND i.origin IN ('schedule', 'added')
                         AND (j.purge_mark IS NULL OR i.due > j.purge_mark)
                     GROUP BY i.job")
                .bind(seqs(old)),
            )
            .await?;
        for row in &marks {
            self.move_ledger_mark(row.id("job")?, row.time("due")?).await?;
        }
        Ok(())
    }

    /// What lies wholly before the mark goes.
    async fn move_ledger_mark(&mut self, job: JobId, mark: Timestamp) -> Result<()> {
        self.execute(sql("UPDATE jobs SET purge_mark = ?2 WHERE id = ?1").bind(job.blob()).bind(mark.millis())).await?;
        self.execute(sql("DELETE FROM ledger_spans WHERE job = ? AND to_at <= ?").bind(job.blob()).bind(mark.millis()))
            .await?;
        let outlived = mark - OMISSIONS_OUTLIVE;
        self.execute(
            sql("DELETE FROM omissions WHERE job = ? AND to_at <= ?").bind(job.blob()).bind(outlived.millis()),
        )
        .await?;
        Ok(())
    }

    async fn tasks_in(&mut self, old: &BTreeSet<i64>) -> Result<Vec<TaskId>> {
        let found = self
            .rows(sql("SELECT id FROM tasks WHERE instance_seq IN (SELECT value FROM json_each(?))").bind(seqs(old)))
            .await?;
        rows::all(&found, |row| row.id("id"))
    }

    async fn forget_logs(&mut self, tasks: &[TaskId]) -> Result<()> {
        let ids: Vec<String> = tasks.iter().map(|task| task.hex()).collect();
        let text = "DELETE FROM log_parts WHERE task IN (SELECT unhex(value) FROM json_each(?))";
        self.execute(sql(text).bind(Value::from(ids).to_string())).await?;
        Ok(())
    }

    /// Tasks and their history go with their instance.
    async fn drop_instances(&mut self, old: &BTreeSet<i64>) -> Result<u64> {
        self.execute(
            sql("UPDATE jobs SET instances = instances - u.gone
                 FROM (SELECT job, count(*) AS gone FROM instances
                       WHERE seq IN (SELECT value FROM json_each(?)) GROUP BY job) AS u
                 WHERE jobs.id = u.job")
            .bind(seqs(old)),
        )
        .await?;
        self.execute(sql("DELETE FROM instances WHERE seq IN (SELECT value FROM json_each(?))").bind(seqs(old))).await
    }
}
