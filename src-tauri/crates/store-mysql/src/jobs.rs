//! Jobs as the engine reads them, and the changes of one that the clerk makes.

use async_trait::async_trait;
use campanile_model::job::{Job, JobVersion};
use campanile_model::schedule::Schedule;
use campanile_model::{JobId, Partitions, Timestamp};
use campanile_store::{JobStore, LedgerExtract, MadeInstance, Result, Taken};

use crate::MysqlStore;
use crate::connection::{Write, composed, sql, within};
use crate::error;
use crate::rows::{self, Columns, Id, limit, written};
use crate::values::ids;

#[async_trait]
impl JobStore for MysqlStore {
    async fn due_jobs(&self, of: Partitions, now: Timestamp, most: usize) -> Result<Vec<Job>> {
        let found = self
            .read()
            .await?
            .rows(composed(format!(
                "SELECT * FROM jobs FORCE INDEX (jobs_due) WHERE removed = 0 AND next_due <= {}{}
                     ORDER BY next_due, seq LIMIT {}",
                now.millis(),
                within(of, "id"),
                limit(most)
            )))
            .await?;
        rows::all(&found, rows::job)
    }

    async fn earliest_due(&self, of: Partitions) -> Result<Option<Timestamp>> {
        let row = self
            .read()
            .await?
            .row(composed(format!(
                "SELECT next_due FROM jobs FORCE INDEX (jobs_due) WHERE removed = 0 AND next_due IS NOT NULL{}
                      ORDER BY next_due LIMIT 1",
                within(of, "id")
            )))
            .await?;
        row.map(|row| row.time("next_due")).transpose()
    }

    async fn idle_fixed_delay_jobs(&self, of: Partitions, most: usize) -> Result<Vec<Job>> {
        let found = self
            .read()
            .await?
            .rows(composed(format!(
                "SELECT j.* FROM jobs j FORCE INDEX (jobs_in_delay)
                     WHERE j.removed = 0 AND j.fixed_delay = 1 AND j.next_due IS NULL{}
                         AND NOT EXISTS (SELECT 1 FROM instances w FORCE INDEX (instances_of_job_by_state)
                                         WHERE w.job = j.id AND w.state = 'waiting')
                         AND NOT EXISTS (SELECT 1 FROM instances r FORCE INDEX (instances_of_job_by_state)
                                         WHERE r.job = j.id AND r.state = 'running')
                     ORDER BY j.seq LIMIT {}",
                within(of, "j.id"),
                limit(most)
            )))
            .await?;
        rows::all(&found, rows::job)
    }

    async fn jobs(&self, jobs: &[JobId]) -> Result<Vec<Job>> {
        let text = format!("SELECT * FROM jobs WHERE id IN ({}) AND removed = 0", ids(jobs.iter().copied()));
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::job)
    }

    async fn job_named(&self, name: &str) -> Result<Option<Job>> {
        let row = self
            .read()
            .await?
            .row(sql("SELECT * FROM jobs WHERE live_name = ?").bind(name.as_bytes().to_vec()))
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
        if of.is_empty() {
            return Ok(Vec::new());
        }
        // Not as a list of pairs: MariaDB looks through the whole table for one.
        let each: Vec<String> =
            of.iter().map(|(job, version)| format!("(job = {} AND version = {version})", ids([*job]))).collect();
        let text = format!("SELECT * FROM job_versions WHERE {}", each.join(" OR "));
        let found = self.read().await?.rows(composed(text)).await?;
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
        let Some(marks) = marks else {
            line.close().await?;
            return Ok(LedgerExtract::default());
        };
        let mark = marks.maybe_int("purge_mark")?;
        let spans = line.rows(sql("SELECT * FROM ledger_spans WHERE job = ? ORDER BY seq").bind(job.blob())).await?;
        let made = line
            .rows(
                sql("SELECT id, origin, firing_key, planned, due FROM instances FORCE INDEX (instances_of_job)
                     WHERE job = ? AND origin IN ('schedule', 'added') AND due > ? ORDER BY due, seq")
                .bind(job.blob())
                .bind(mark.unwrap_or(i64::MIN)),
            )
            .await?;
        let omissions =
            line.rows(sql("SELECT * FROM omissions WHERE job = ? ORDER BY from_at, seq").bind(job.blob())).await?;
        line.close().await?;
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

/// A line each, with a line break on both sides: a tag has none in it.
pub(crate) fn tag_lines(tags: &[String]) -> String {
    tags.iter().fold("\n".to_owned(), |lines, tag| lines + tag + "\n")
}

impl Write {
    /// The new job, or the next version of one. Whether it is paused, and when its last instance ended, is not the
    /// business of a version: an existing job keeps both.
    pub(crate) async fn put_job(&mut self, job: &Job, seen_version: Option<u32>, by: &str) -> Result<Taken> {
        let spec = written(&job.spec)?;
        let fixed_delay = i64::from(matches!(job.spec.schedule, Schedule::FixedDelay(_)));
        let put = match seen_version {
            None => sql("INSERT INTO jobs (name, version, spec, fixed_delay, sort_name, search, tags, saved_at,
                                       fired_through, next_due, paused, last_final_at, id)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
            Some(_) => sql(
                "UPDATE jobs SET name = ?, version = ?, spec = ?, fixed_delay = ?, sort_name = ?, search = ?, tags = ?,
                                     saved_at = ?, fired_through = GREATEST(fired_through, ?), next_due = ?
                     WHERE id = ? AND version = ? AND removed = 0",
            ),
        };
        let put = put
            .bind(job.spec.name.clone())
            .bind(i64::from(job.version))
            .bind(spec.clone())
            .bind(fixed_delay)
            .bind(job.spec.name.to_lowercase().into_bytes())
            .bind(search_text(job))
            .bind(tag_lines(&job.spec.tags))
            .bind(job.saved_at.millis())
            .bind(job.fired_through.millis())
            .bind(job.next_due.map(Timestamp::millis));
        let put = match seen_version {
            None => put.bind(i64::from(job.paused)).bind(job.last_final_at.map(Timestamp::millis)).bind(job.id.blob()),
            Some(seen) => put.bind(job.id.blob()).bind(i64::from(seen)),
        };
        // The id is there already, or the name is another job's.
        if !self.put_anew(put).await? {
            return Ok(Taken::Lost);
        }
        let version = sql("INSERT INTO job_versions (job, version, spec, saved_at, saved_by) VALUES (?, ?, ?, ?, ?)")
            .bind(job.id.blob())
            .bind(i64::from(job.version))
            .bind(spec)
            .bind(job.saved_at.millis())
            .bind(by.to_owned());
        // A version that exists already is somebody else's.
        if !self.put_anew(version).await? {
            return Ok(Taken::Lost);
        }
        self.put_chain(job).await?;
        Ok(Taken::Done)
    }

    /// False: a unique key of it is taken, or nothing was there to change.
    async fn put_anew(&mut self, statement: impl Into<crate::connection::Statement>) -> Result<bool> {
        match self.execute(statement).await {
            Ok(put) => Ok(put == 1),
            Err(error) if error::is_duplicate(&error) => Ok(false),
            Err(error) => Err(error),
        }
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
