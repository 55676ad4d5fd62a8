//! Instances: launched once each, given their tasks, and moved along with them.
//!
//! The row of a job is locked before anything is made of it or written into its ledger: of several that launch the same
//! job, or put an instance of it, each sees what the one before it has left.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Omission, OmissionReason, Origin};
use campanile_model::ledger::LedgerSpan;
use campanile_model::{InstanceId, JobId, Partitions, Timestamp};
use campanile_store::{
    Assignment, Entries, InstanceStore, Launch, Launched, Lead, Ledger, Moved, Result, Settlement, follow,
};
use sqlx::mysql::MySqlRow;

use crate::MysqlStore;
use crate::connection::{Write, composed, sql, within};
use crate::rows::{self, Columns, Id, limit};
use crate::values::{Row, id, ids, row};

const MAKE: &str = "INSERT INTO instances (
        id, job, version, origin, firing_key, planned, due, not_before, reason, created, state, beside, replaces, lane,
        parameters, repeats, asked_by, assigned_at, started_at, finished_at, result, executor, failure)";

/// The oldest instance of a job that is not final; one look into the index for each state, whatever waits there.
const OLDEST_UNFINISHED: &str = "LEAST(
        COALESCE((SELECT w.seq FROM instances w FORCE INDEX (instances_of_job_by_state)
                  WHERE w.job = i.job AND w.state = 'waiting' ORDER BY w.seq LIMIT 1), 9223372036854775807),
        COALESCE((SELECT r.seq FROM instances r FORCE INDEX (instances_of_job_by_state)
                  WHERE r.job = i.job AND r.state = 'running' ORDER BY r.seq LIMIT 1), 9223372036854775807))";

#[async_trait]
impl InstanceStore for MysqlStore {
    async fn launch(&self, lead: &Lead, launches: &[Launch]) -> Result<Vec<Launched>> {
        self.again(|| self.try_launch(lead, launches)).await
    }

    async fn plan_next(&self, lead: &Lead, job: JobId, version: u32, next_due: Timestamp) -> Result<bool> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let planned = write
                .execute(
                    sql("UPDATE jobs SET next_due = ?
                         WHERE id = ? AND version = ? AND next_due IS NULL AND removed = 0 AND fixed_delay = 1")
                    .bind(next_due.millis())
                    .bind(job.blob())
                    .bind(i64::from(version)),
                )
                .await?;
            write.commit().await?;
            Ok(planned == 1)
        })
        .await
    }

    async fn unassigned(&self, of: Partitions, most: usize) -> Result<Vec<Instance>> {
        let text = format!(
            "SELECT i.* FROM instances i FORCE INDEX (instances_unassigned)
             WHERE i.state = 'waiting' AND i.assigned_at IS NULL AND (i.beside = 1 OR i.seq = {OLDEST_UNFINISHED}){}
             ORDER BY i.seq LIMIT {}",
            within(of, "i.job"),
            limit(most)
        );
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::instance)
    }

    async fn replacing(&self, of: Partitions, most: usize) -> Result<Vec<Instance>> {
        let text = format!(
            "SELECT i.* FROM instances i FORCE INDEX (instances_replacing)
             WHERE i.replaces = 1 AND i.state = 'waiting'
                 AND i.seq = (SELECT n.seq FROM instances n FORCE INDEX (instances_replacing)
                              WHERE n.replaces = 1 AND n.state = 'waiting' AND n.job = i.job
                              ORDER BY n.seq DESC LIMIT 1)
                 AND i.seq > {OLDEST_UNFINISHED}{}
             ORDER BY i.seq LIMIT {}",
            within(of, "i.job"),
            limit(most)
        );
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::instance)
    }

    async fn assign(&self, lead: &Lead, assignments: &[Assignment]) -> Result<Vec<bool>> {
        self.again(|| self.try_assign(lead, assignments)).await
    }

    async fn end_unassigned(&self, lead: &Lead, change: &InstanceMove) -> Result<bool> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let ended = write.move_instances(&[change], Only::Unassigned).await?;
            write.commit().await?;
            Ok(ended == 1)
        })
        .await
    }

    async fn ended_together(&self, of: Partitions, most: usize) -> Result<Vec<InstanceId>> {
        let found = self
            .read()
            .await?
            .rows(composed(format!(
                "SELECT i.id FROM instances i FORCE INDEX (instances_several)
                     WHERE i.several = 1 AND i.state IN ('waiting', 'running'){}
                         AND NOT EXISTS (SELECT 1 FROM tasks t FORCE INDEX (tasks_of_instance)
                                         WHERE t.instance_seq = i.seq AND t.state < 300)
                     ORDER BY i.seq LIMIT {}",
                within(of, "i.job"),
                limit(most)
            )))
            .await?;
        rows::all(&found, |row| row.id("id"))
    }

    async fn settle(&self, lead: &Lead, settlements: &[Settlement]) -> Result<Vec<bool>> {
        self.again(|| self.try_settle(lead, settlements)).await
    }

    async fn firing(&self, job: JobId, origin: Origin, key: &str) -> Result<Option<InstanceId>> {
        let found = sql("SELECT id FROM instances FORCE INDEX (instances_once)
                         WHERE job = ? AND origin = ? AND firing_hash = UNHEX(SHA2(?, 256))")
        .bind(job.blob())
        .bind(origin.name())
        .bind(key.as_bytes().to_vec());
        let row = self.read().await?.row(found).await?;
        row.map(|row| row.id("id")).transpose()
    }

    async fn instances(&self, instances: &[InstanceId]) -> Result<Vec<Instance>> {
        let text = format!("SELECT * FROM instances WHERE id IN ({})", ids(instances.iter().copied()));
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::instance)
    }

    async fn unfinished(&self, jobs: &[JobId]) -> Result<Vec<(JobId, InstanceId, InstanceState)>> {
        let text = format!(
            "SELECT job, id, state FROM instances FORCE INDEX (instances_of_job_by_state)
             WHERE job IN ({}) AND state IN ('waiting', 'running') ORDER BY seq",
            ids(jobs.iter().copied())
        );
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, |row| Ok((row.id("job")?, row.id("id")?, row.named("state", InstanceState::named)?)))
    }
}

impl MysqlStore {
    async fn try_launch(&self, lead: &Lead, launches: &[Launch]) -> Result<Vec<Launched>> {
        let mut write = self.write_as(lead).await?;
        let mut ledgers = write.ledgers(launches.iter().map(|launch| launch.job)).await?;
        let mut written = Vec::with_capacity(launches.len());
        let mut entries = Entries::default();
        for launch in launches {
            let ledger = ledgers.get_mut(&launch.job).filter(|ledger| ledger.is_as_seen(launch));
            written.push(ledger.is_some());
            if let Some(ledger) = ledger {
                ledger.take(launch, &mut entries);
            }
        }
        let kept = || launches.iter().zip(&written).filter(|(_, written)| **written).map(|(launch, _)| launch);

        let made = write.put_instances(kept().flat_map(|launch| &launch.instances)).await?;
        let superseded: Vec<&InstanceMove> = kept().flat_map(|launch| &launch.supersedes).collect();
        write.move_instances(&superseded, Only::Unassigned).await?;
        write.put_questions(kept().flat_map(|launch| &launch.questions)).await?;
        // Of several launches of one job the last says how far it has come.
        let moved_on: BTreeMap<JobId, &Launch> = kept().map(|launch| (launch.job, launch)).collect();
        let moved_on: Vec<Row> =
            moved_on.into_iter().map(|(job, launch)| row![id(job), launch.fired_through, launch.next_due]).collect();
        write.change(&moved_on, "jobs j ON j.id = u.c0 SET j.fired_through = u.c1, j.next_due = u.c2").await?;
        write.put_ledger(entries).await?;
        write.put_incidents(kept().flat_map(|launch| &launch.incidents)).await?;
        write.commit().await?;

        Ok(launches
            .iter()
            .zip(&written)
            .map(|(launch, written)| {
                if !written {
                    return Launched::Stale;
                }
                let made = launch.instances.iter().filter(|instance| made.contains(&instance.id)).count();
                Launched::Written { made: u32::try_from(made).unwrap_or(u32::MAX) }
            })
            .collect())
    }

    async fn try_assign(&self, lead: &Lead, assignments: &[Assignment]) -> Result<Vec<bool>> {
        let mut write = self.write_as(lead).await?;
        let text = format!(
            "SELECT seq, id FROM instances FORCE INDEX (instances_by_id)
             WHERE id IN ({}) AND state = 'waiting' AND assigned_at IS NULL FOR UPDATE",
            ids(assignments.iter().map(|assignment| assignment.instance))
        );
        let found = write.rows(composed(text)).await?;
        let mut open = HashMap::with_capacity(found.len());
        for row in &found {
            let instance: InstanceId = row.id("id")?;
            open.insert(instance, row.int("seq")?);
        }
        let mut assigned = Vec::with_capacity(assignments.len());
        let mut moments = Vec::new();
        let mut tasks = Vec::new();
        for assignment in assignments {
            // Without tasks it would wait for ever: it stays unassigned.
            let seq = if assignment.tasks.is_empty() { None } else { open.remove(&assignment.instance) };
            assigned.push(seq.is_some());
            if let Some(seq) = seq {
                let several = assignment.tasks.len() > 1 || assignment.tasks.iter().any(|task| task.limits.of_several);
                moments.push(row![seq, assignment.at, several]);
                for task in &assignment.tasks {
                    tasks.push(rows::task_values(seq, task, task.fence())?);
                }
            }
        }
        write.insert(crate::tasks::MAKE, &tasks, "").await?;
        write.change(&moments, "instances i ON i.seq = u.c0 SET i.assigned_at = u.c1, i.several = u.c2").await?;
        write.commit().await?;
        Ok(assigned)
    }

    async fn try_settle(&self, lead: &Lead, settlements: &[Settlement]) -> Result<Vec<bool>> {
        let mut write = self.write_as(lead).await?;
        // The instances are locked before their tasks are looked at: whoever moves a task back to life moves its
        // instance in the same transaction.
        let text = format!(
            "SELECT seq FROM instances FORCE INDEX (instances_by_id)
             WHERE id IN ({}) AND state IN ('waiting', 'running') FOR UPDATE",
            ids(settlements.iter().map(|settlement| settlement.change.instance))
        );
        let found = write.rows(composed(text)).await?;
        let seqs = found.iter().map(|row| row.int("seq")).collect::<Result<Vec<i64>>>()?;
        let text = format!(
            "SELECT i.id FROM instances i FORCE INDEX (PRIMARY)
             WHERE i.seq IN ({})
                 AND NOT EXISTS (SELECT 1 FROM tasks t FORCE INDEX (tasks_of_instance)
                                 WHERE t.instance_seq = i.seq AND t.state < 300)",
            crate::values::numbers(seqs)
        );
        let found = write.rows(composed(text)).await?;
        let open: HashSet<InstanceId> = rows::all(&found, |row| row.id("id"))?.into_iter().collect();
        let settled: Vec<bool> =
            settlements.iter().map(|settlement| open.contains(&settlement.change.instance)).collect();
        let kept = || settlements.iter().filter(|settlement| open.contains(&settlement.change.instance));
        write.put_incidents(kept().flat_map(|settlement| &settlement.incidents)).await?;
        let changes: Vec<&InstanceMove> = kept().map(|settlement| &settlement.change).collect();
        write.move_instances(&changes, Only::Any).await?;
        let failures = kept()
            .filter_map(|settlement| Some((settlement.change.instance, settlement.failure.as_ref()?)))
            .map(|(instance, failure)| Ok(row![id(instance), rows::written(failure)?]))
            .collect::<Result<Vec<Row>>>()?;
        write.change(&failures, "instances i ON i.id = u.c0 SET i.failure = u.c1").await?;
        write.commit().await?;
        Ok(settled)
    }
}

/// Which instances a move may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    Unassigned,
    Any,
}

/// Of the last rows only what a further one is held against.
fn last_omission(row: &MySqlRow) -> Result<(JobId, (i64, Omission))> {
    let (job, to) = (row.id("job")?, row.time("to_at")?);
    let reason = row.named("reason", OmissionReason::named)?;
    Ok((job, (row.int("seq")?, Omission { job, version: row.small("version")?, from: to, to, count: 0, reason })))
}

fn last_span(row: &MySqlRow) -> Result<(JobId, (i64, LedgerSpan))> {
    let (job, to) = (row.id("job")?, row.time("to_at")?);
    let (version, zone_data) = (row.small("version")?, row.text("zone_data")?);
    let span = LedgerSpan { job, version, zone_data, from: to, to, planned: 0, made: 0, not_made: 0 };
    Ok((job, (row.int("seq")?, span)))
}

impl Write {
    /// Locks the rows of these jobs, and says where their ledgers end; removed jobs left out.
    pub(crate) async fn ledgers(&mut self, jobs: impl Iterator<Item = JobId>) -> Result<HashMap<JobId, Ledger>> {
        let jobs = ids(jobs.collect::<BTreeSet<JobId>>());
        let text = format!(
            "SELECT id, version, fired_through, made_through FROM jobs FORCE INDEX (jobs_by_id)
             WHERE id IN ({jobs}) AND removed = 0 FOR UPDATE"
        );
        let found = self.rows(composed(text)).await?;
        // Only now, when nobody else lengthens them.
        let mut last = Vec::with_capacity(2);
        for (table, columns) in [
            ("omissions", "l.job, l.seq, l.version, l.to_at, l.reason"),
            ("ledger_spans", "l.job, l.seq, l.version, l.to_at, l.zone_data"),
        ] {
            let text = format!(
                "SELECT {columns} FROM jobs j FORCE INDEX (jobs_by_id)
                 STRAIGHT_JOIN {table} l
                     ON l.seq = (SELECT m.seq FROM {table} m FORCE INDEX ({table}_of_job)
                                 WHERE m.job = j.id ORDER BY m.seq DESC LIMIT 1)
                 WHERE j.id IN ({jobs})"
            );
            last.push(self.rows(composed(text)).await?);
        }
        let mut omissions: HashMap<JobId, (i64, Omission)> =
            last[0].iter().map(last_omission).collect::<Result<_>>()?;
        let mut spans: HashMap<JobId, (i64, LedgerSpan)> = last[1].iter().map(last_span).collect::<Result<_>>()?;
        let mut ledgers = HashMap::with_capacity(found.len());
        for row in &found {
            let job: JobId = row.id("id")?;
            let (version, fired_through) = (row.small("version")?, row.time("fired_through")?);
            let made_through = row.maybe_time("made_through")?;
            let (omission, span) = (omissions.remove(&job), spans.remove(&job));
            ledgers.insert(job, Ledger::ending(version, fired_through, made_through, omission, span));
        }
        Ok(ledgers)
    }

    /// Writes those whose firing has not been made before, and hands back which they were.
    pub(crate) async fn put_instances<'i>(
        &mut self,
        instances: impl Iterator<Item = &'i Instance>,
    ) -> Result<HashSet<InstanceId>> {
        let mut values = Vec::new();
        let mut jobs = HashMap::new();
        for instance in instances {
            values.push(rows::instance_values(instance)?);
            jobs.insert(instance.id, (instance.job, instance.origin.is_planned().then_some(instance.planned)));
        }
        if values.is_empty() {
            return Ok(HashSet::new());
        }
        let of_jobs = ids(jobs.values().map(|(job, _)| *job).collect::<BTreeSet<JobId>>());
        let lock = format!("SELECT seq FROM jobs FORCE INDEX (jobs_by_id) WHERE id IN ({of_jobs}) FOR UPDATE");
        self.rows(composed(lock)).await?;
        // What is put a second time is not made a second time.
        let before = self.there(jobs.keys().copied()).await?;
        self.insert(MAKE, &values, "ON DUPLICATE KEY UPDATE seq = seq").await?;
        let mut made = self.there(jobs.keys().copied()).await?;
        made.retain(|instance| !before.contains(instance));

        let mut more: BTreeMap<JobId, (u32, Option<Timestamp>)> = BTreeMap::new();
        for instance in &made {
            let (job, planned) = jobs[instance];
            let entry = more.entry(job).or_default();
            entry.0 += 1;
            entry.1 = entry.1.max(planned);
        }
        let more: Vec<Row> = more.into_iter().map(|(job, (made, planned))| row![id(job), made, planned]).collect();
        self.change(
            &more,
            "jobs j ON j.id = u.c0
             SET j.instances = j.instances + u.c1,
                 j.made_through = GREATEST(COALESCE(j.made_through, CAST(u.c2 AS SIGNED)),
                                           COALESCE(CAST(u.c2 AS SIGNED), j.made_through))",
        )
        .await?;
        Ok(made)
    }

    async fn there(&mut self, instances: impl Iterator<Item = InstanceId>) -> Result<HashSet<InstanceId>> {
        let text = format!("SELECT id FROM instances FORCE INDEX (instances_by_id) WHERE id IN ({})", ids(instances));
        let found = self.rows(composed(text)).await?;
        Ok(rows::all(&found, |row| row.id("id"))?.into_iter().collect())
    }

    pub(crate) async fn put_ledger(&mut self, entries: Entries) -> Result<()> {
        let longer: Vec<Row> =
            entries.longer_omissions.into_iter().map(|(seq, (to, more))| row![seq, to, more]).collect();
        self.change(&longer, "omissions o ON o.seq = u.c0 SET o.to_at = u.c1, o.times = o.times + u.c2").await?;
        let new: Vec<Row> = entries
            .omissions
            .iter()
            .map(|new| row![id(new.job), new.version, new.from, new.to, new.count, new.reason.name()])
            .collect();
        self.insert("INSERT INTO omissions (job, version, from_at, to_at, times, reason)", &new, "").await?;
        let longer: Vec<Row> = entries
            .longer_spans
            .into_iter()
            .map(|(seq, (to, planned, made, not_made))| row![seq, to, planned, made, not_made])
            .collect();
        self.change(
            &longer,
            "ledger_spans s ON s.seq = u.c0
             SET s.to_at = u.c1, s.planned = s.planned + u.c2, s.made = s.made + u.c3, s.not_made = s.not_made + u.c4",
        )
        .await?;
        let new: Vec<Row> = entries
            .spans
            .iter()
            .map(|new| {
                let LedgerSpan { job, version, zone_data, from, to, planned, made, not_made } = new;
                row![id(*job), *version, zone_data, *from, *to, *planned, *made, *not_made]
            })
            .collect();
        let head = "INSERT INTO ledger_spans (job, version, zone_data, from_at, to_at, planned, made, not_made)";
        self.insert(head, &new, "").await
    }

    /// Carries instances along, in the order of the moves; hands back how many moves counted.
    pub(crate) async fn move_instances(&mut self, moves: &[&InstanceMove], only: Only) -> Result<usize> {
        if moves.is_empty() {
            return Ok(0);
        }
        let text = format!(
            "SELECT seq, id, job, origin, state, assigned_at, started_at, finished_at, result
             FROM instances FORCE INDEX (instances_by_id) WHERE id IN ({}) FOR UPDATE",
            ids(moves.iter().map(|change| change.instance).collect::<BTreeSet<InstanceId>>())
        );
        let found = self.rows(composed(text)).await?;
        let mut stored = BTreeMap::new();
        for row in &found {
            if only == Only::Unassigned && row.maybe_int("assigned_at")?.is_some() {
                continue;
            }
            stored.insert(row.int("seq")?, rows::moving(row)?);
        }
        let Moved { counted, instances, endings, last_final } = follow(moves, stored);
        let moved: Vec<Row> = instances
            .into_iter()
            .map(|(seq, instance)| {
                row![seq, instance.state.name(), instance.started_at, instance.finished_at, instance.result]
            })
            .collect();
        self.change(
            &moved,
            "instances i ON i.seq = u.c0
             SET i.state = u.c1, i.started_at = u.c2, i.finished_at = u.c3, i.result = u.c4, i.failure = NULL",
        )
        .await?;
        self.put_endings(endings).await?;
        let ended: Vec<Row> = last_final.into_iter().map(|(job, at)| row![id(job), at]).collect();
        self.change(
            &ended,
            "jobs j ON j.id = u.c0 SET j.last_final_at = GREATEST(COALESCE(j.last_final_at, u.c1), u.c1)",
        )
        .await?;
        Ok(counted)
    }
}
