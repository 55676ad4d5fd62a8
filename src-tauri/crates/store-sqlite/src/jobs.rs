//! Jobs as the engine reads them, and the changes of one that the clerk makes.

use async_trait::async_trait;
use campanile_model::job::{Job, JobVersion};
use campanile_model::schedule::Schedule;
use campanile_model::{JobId, Partitions, Timestamp};
use campanile_store::{JobStore, LedgerExtract, MadeInstance, Result, Taken};
use serde_json::json;

use crate::SqliteStore;
use crate::connection::{Write, composed, sql, within};
use crate::rows::{self, Columns, Hex, Id, batch, hexes, limit, written};

#[async_trait]
impl JobStore for SqliteStore {
    async fn due_jobs(&self, of: Partitions, now: Timestamp, most: usize) -> Result<Vec<Job>> {
        let text = format!(
            "SELECT * FROM jobs WHERE next_due <= ? AND removed = 0{} ORDER BY next_due, seq LIMIT ?",
            within(of, "id")
        );
        let found = self.read().await?.rows(composed(text).bind(now.millis()).bind(limit(most))).await?;
        rows::all(&found, rows::job)
    }

    async fn earliest_due(&self, of: Partitions) -> Result<Option<Timestamp>> {
        let text = format!(
            "SELECT next_due FROM jobs WHERE next_due IS NOT NULL AND removed = 0{} ORDER BY next_due LIMIT 1",
            within(of, "id")
        );
        let row = self.read().await?.row(composed(text)).await?;
        row.map(|row| row.time("next_due")).transpose()
    }

    async fn idle_fixed_delay_jobs(&self, of: Partitions, most: usize) -> Result<Vec<Job>> {
        let text = format!(
            "SELECT * FROM jobs WHERE next_due IS NULL AND removed = 0 AND fixed_delay = 1{}
                 AND NOT EXISTS (SELECT 1 FROM instances
                                 WHERE job = jobs.id AND state IN ('waiting', 'running'))
             ORDER BY seq LIMIT ?",
            within(of, "id")
        );
        let found = self.read().await?.rows(composed(text).bind(limit(most))).await?;
        rows::all(&found, rows::job)
    }

    async fn jobs(&self, ids: &[JobId]) -> Result<Vec<Job>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM jobs WHERE id IN (SELECT unhex(value) FROM json_each(?)) AND removed = 0")
                    .bind(hexes(ids.iter().copied())),
            )
            .await?;
        rows::all(&found, rows::job)
    }

    async fn job_named(&self, name: &str) -> Result<Option<Job>> {
        let row = self
            .read()
            .await?
            .row(sql("SELECT * FROM jobs WHERE name = ? AND removed = 0").bind(name.to_owned()))
            .await?;
        row.as_ref().map(rows::job).transpose()
    }

    async fn job_version(&self, job: JobId, version: u32) -> Result<Option<JobVersion>> {
        let row = self
            .read()
            .await?
            .row(
                sql("SELECT * FROM job_versions WHERE job = ? AND version = ?")
                    .bind(job.blob())
                    .bind(i64::from(version)),
            )
            .await?;
        row.as_ref().map(rows::job_version).transpose()
    }

    async fn job_versions(&self, of: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
        let of = of.iter().map(|(job, version)| json!([job.hex(), version])).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT v.* FROM jsonb_each(?) j
                     CROSS JOIN job_versions v ON v.job = unhex(j.value ->> 0) AND v.version = j.value ->> 1")
                .bind(batch(of)),
            )
            .await?;
        rows::all(&found, rows::job_version)
    }

    async fn jobs_after(&self, after: Option<JobId>, most: usize) -> Result<Vec<Job>> {
        let after = after.map(Id::blob).unwrap_or_default();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM jobs WHERE id > ? AND removed = 0 ORDER BY id LIMIT ?")
                    .bind(after)
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::job)
    }

    async fn ledger_extract(&self, job: JobId) -> Result<LedgerExtract> {
        let mut line = self.snapshot().await?;
        let marks = line.row(sql("SELECT purge_mark FROM jobs WHERE id = ?").bind(job.blob())).await?;
        let Some(marks) = marks else { return Ok(LedgerExtract::default()) };
        let mark = marks.maybe_int("purge_mark")?;
        let spans = line.rows(sql("SELECT * FROM ledger_spans WHERE job = ? ORDER BY seq").bind(job.blob())).await?;
        let made = line
            .rows(
                sql("SELECT id, origin, firing_key, planned, due FROM instances
                     WHERE job = ? AND origin IN ('schedule', 'added') AND due > ? ORDER BY due, seq")
                .bind(job.blob())
                .bind(mark.unwrap_or(i64::MIN)),
            )
            .await?;
        let omissions =
            line.rows(sql("SELECT * FROM omissions WHERE job = ? ORDER BY from_at, seq").bind(job.blob())).await?;
        Ok(LedgerExtract {
            purged_through: mark.map(Timestamp::from_millis),
            spans: rows::all(&spans, rows::span)?,
            made: rows::all(&made, |row| {
                Ok(MadeInstance {
                    id: row.id("id")?,
                    origin: row.named("origin", campanile_model::instance::Origin::named)?,
                    key: row.text("firing_key")?,
                    planned: row.time("planned")?,
                    due: row.time("due")?,
                })
            })?,
            omissions: rows::all(&omissions, rows::omission)?,
        })
    }
}

/// What a search looks through.
fn search_text(job: &Job) -> String {
    let spec = &job.spec;
    let mut text = spec.name.to_lowercase();
    for word in spec.tenant.iter().chain(&spec.tags) {
        text.push('\n');
        text.push_str(&word.to_lowercase());
    }
    text
}

impl Write {
    /// The new job, or the next version of one. Whether it is paused, and when its last instance ended, is not the
    /// business of a version: an existing job keeps both.
    pub(crate) async fn put_job(&mut self, job: &Job, seen_version: Option<u32>, by: &str) -> Result<Taken> {
        let namesake = self
            .row(
                sql("SELECT 1 FROM jobs WHERE name = ? AND removed = 0 AND id <> ?")
                    .bind(job.spec.name.clone())
                    .bind(job.id.blob()),
            )
            .await?;
        if namesake.is_some() {
            return Ok(Taken::Lost);
        }
        let spec = written(&job.spec)?;
        let fixed_delay = i64::from(matches!(job.spec.schedule, Schedule::FixedDelay(_)));
        let put = match seen_version {
            None => {
                sql("INSERT INTO jobs (id, name, version, spec, fixed_delay, search, saved_at, fired_through, next_due,
                                       paused, last_final_at)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
                .bind(job.id.blob())
                .bind(job.spec.name.clone())
                .bind(i64::from(job.version))
                .bind(spec.clone())
                .bind(fixed_delay)
                .bind(search_text(job))
                .bind(job.saved_at.millis())
                .bind(job.fired_through.millis())
                .bind(job.next_due.map(Timestamp::millis))
                .bind(i64::from(job.paused))
                .bind(job.last_final_at.map(Timestamp::millis))
            }
            Some(seen) => {
                sql("UPDATE jobs SET name = ?, version = ?, spec = ?, fixed_delay = ?, search = ?, saved_at = ?,
                                     fired_through = max(fired_through, ?), next_due = ?
                     WHERE id = ? AND version = ? AND removed = 0")
                .bind(job.spec.name.clone())
                .bind(i64::from(job.version))
                .bind(spec.clone())
                .bind(fixed_delay)
                .bind(search_text(job))
                .bind(job.saved_at.millis())
                .bind(job.fired_through.millis())
                .bind(job.next_due.map(Timestamp::millis))
                .bind(job.id.blob())
                .bind(i64::from(seen))
            }
        };
        if self.execute(put).await? == 0 {
            return Ok(Taken::Lost);
        }
        let version = self
            .execute(
                sql("INSERT INTO job_versions (job, version, spec, saved_at, saved_by) VALUES (?, ?, ?, ?, ?)
                     ON CONFLICT DO NOTHING")
                .bind(job.id.blob())
                .bind(i64::from(job.version))
                .bind(spec)
                .bind(job.saved_at.millis())
                .bind(by.to_owned()),
            )
            .await?;
        self.put_chain(job).await?;
        // A version that exists already is somebody else's.
        Ok(if version == 1 { Taken::Done } else { Taken::Lost })
    }

    /// The row stays, for the names in what it has made.
    pub(crate) async fn remove_job(&mut self, job: JobId) -> Result<()> {
        self.execute(sql("UPDATE jobs SET removed = 1, next_due = NULL WHERE id = ?").bind(job.blob())).await?;
        self.drop_chain(job).await
    }

    pub(crate) async fn pause_job(&mut self, job: JobId, paused: bool) -> Result<()> {
        self.execute(
            sql("UPDATE jobs SET paused = ? WHERE id = ? AND removed = 0").bind(i64::from(paused)).bind(job.blob()),
        )
        .await?;
        Ok(())
    }
}
