//! Instances: launched once each, given their tasks, and moved along with them.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Omission, OmissionReason, Origin};
use campanile_model::ledger::LedgerSpan;
use campanile_model::{InstanceId, JobId, Partitions, Timestamp};
use campanile_store::{
    Assignment, Entries, InstanceStore, Launch, Launched, Lead, Ledger, Moved, Result, Settlement, follow,
};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::connection::{Write, composed, sql, within};
use crate::rows::{self, Columns, Hex, Id, batch, hexes, limit};

const MAKE: &str = "INSERT INTO instances (
        id, job, version, origin, firing_key, planned, due, not_before, reason, created, state, beside, replaces, lane,
        parameters, repeats, asked_by, assigned_at, started_at, finished_at, result, executor, failure)
    SELECT unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
        value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
        value ->> 14, unhex(value ->> 15), value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20,
        value ->> 21, value ->> 22
    FROM jsonb_each(?) WHERE true
    ON CONFLICT (job, origin, firing_key) DO NOTHING
    RETURNING id";

#[async_trait]
impl InstanceStore for SqliteStore {
    async fn launch(&self, lead: &Lead, launches: &[Launch]) -> Result<Vec<Launched>> {
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
        let moved_on: Vec<Value> = moved_on
            .into_iter()
            .map(|(job, launch)| json!([job.hex(), launch.fired_through, launch.next_due]))
            .collect();
        if !moved_on.is_empty() {
            write
                .execute(
                    sql("UPDATE jobs SET fired_through = u.fired_through, next_due = u.next_due
                         FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS fired_through, value ->> 2 AS next_due
                               FROM jsonb_each(?)) AS u
                         WHERE jobs.id = u.id")
                    .bind(batch(moved_on)),
                )
                .await?;
        }
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

    async fn plan_next(&self, lead: &Lead, job: JobId, version: u32, next_due: Timestamp) -> Result<bool> {
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
    }

    async fn unassigned(&self, of: Partitions, most: usize) -> Result<Vec<Instance>> {
        let found = self
            .read()
            .await?
            .rows(
                composed(format!(
                    "SELECT * FROM instances i INDEXED BY instances_unassigned
                     WHERE state = 'waiting' AND assigned_at IS NULL{}
                         AND (beside = 1
                              OR seq = (SELECT seq FROM instances INDEXED BY instances_unfinished
                                        WHERE job = i.job AND state IN ('waiting', 'running') ORDER BY seq LIMIT 1))
                     ORDER BY seq LIMIT ?",
                    within(of, "i.job")
                ))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::instance)
    }

    async fn replacing(&self, of: Partitions, most: usize) -> Result<Vec<Instance>> {
        let found = self
            .read()
            .await?
            .rows(
                composed(format!("SELECT * FROM instances i INDEXED BY instances_replacing WHERE state = 'waiting' AND replaces = 1{}
                         AND seq = (SELECT max(seq) FROM instances
                                    WHERE job = i.job AND state = 'waiting' AND replaces = 1)
                         AND EXISTS (SELECT 1 FROM instances
                                     WHERE job = i.job AND seq < i.seq AND state IN ('waiting', 'running'))
                     ORDER BY seq LIMIT ?", within(of, "i.job")))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::instance)
    }

    async fn assign(&self, lead: &Lead, assignments: &[Assignment]) -> Result<Vec<bool>> {
        let mut write = self.write_as(lead).await?;
        let found = write
            .rows(
                sql("SELECT seq, id FROM instances
                     WHERE id IN (SELECT unhex(value) FROM json_each(?))
                         AND +state = 'waiting' AND assigned_at IS NULL")
                .bind(hexes(assignments.iter().map(|assignment| assignment.instance))),
            )
            .await?;
        let mut open = HashMap::with_capacity(found.len());
        for row in &found {
            let id: InstanceId = row.id("id")?;
            open.insert(id, row.int("seq")?);
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
                moments.push(json!([seq, assignment.at, several]));
                for task in &assignment.tasks {
                    tasks.push(rows::carried(rows::task_values(seq, task, task.fence())?));
                }
            }
        }
        if !moments.is_empty() {
            write.execute(sql(crate::tasks::MAKE).bind(batch(tasks))).await?;
            write
                .execute(
                    sql("UPDATE instances SET assigned_at = u.at, several = u.several
                         FROM (SELECT value ->> 0 AS seq, value ->> 1 AS at, value ->> 2 AS several
                               FROM jsonb_each(?)) AS u
                         WHERE instances.seq = u.seq")
                    .bind(batch(moments)),
                )
                .await?;
        }
        write.commit().await?;
        Ok(assigned)
    }

    async fn end_unassigned(&self, lead: &Lead, change: &InstanceMove) -> Result<bool> {
        let mut write = self.write_as(lead).await?;
        let ended = write.move_instances(&[change], Only::Unassigned).await?;
        write.commit().await?;
        Ok(ended == 1)
    }

    async fn ended_together(&self, of: Partitions, most: usize) -> Result<Vec<InstanceId>> {
        let found = self
            .read()
            .await?
            .rows(
                composed(format!(
                    "SELECT i.id FROM instances i INDEXED BY instances_several
                     WHERE i.several = 1 AND i.state IN ('waiting', 'running'){}
                         AND NOT EXISTS (SELECT 1 FROM tasks t INDEXED BY tasks_of_instance
                                         WHERE t.instance_seq = i.seq AND t.state < 300)
                     ORDER BY i.seq LIMIT ?",
                    within(of, "i.job")
                ))
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, |row| row.id("id"))
    }

    async fn settle(&self, lead: &Lead, settlements: &[Settlement]) -> Result<Vec<bool>> {
        let mut write = self.write_as(lead).await?;
        let found = write
            .rows(
                sql("SELECT i.id FROM instances i
                     WHERE i.id IN (SELECT unhex(value) FROM json_each(?)) AND +i.state IN ('waiting', 'running')
                         AND NOT EXISTS (SELECT 1 FROM tasks t INDEXED BY tasks_of_instance
                                         WHERE t.instance_seq = i.seq AND t.state < 300)")
                .bind(hexes(settlements.iter().map(|settlement| settlement.change.instance))),
            )
            .await?;
        let open: HashSet<InstanceId> = rows::all(&found, |row| row.id("id"))?.into_iter().collect();
        let settled: Vec<bool> =
            settlements.iter().map(|settlement| open.contains(&settlement.change.instance)).collect();
        let kept = || settlements.iter().filter(|settlement| open.contains(&settlement.change.instance));
        write.put_incidents(kept().flat_map(|settlement| &settlement.incidents)).await?;
        let changes: Vec<&InstanceMove> = kept().map(|settlement| &settlement.change).collect();
        write.move_instances(&changes, Only::Any).await?;
        let failures = kept()
            .filter_map(|settlement| Some((settlement.change.instance, settlement.failure.as_ref()?)))
            .map(|(instance, failure)| Ok(json!([instance.hex(), rows::written(failure)?])))
            .collect::<Result<Vec<Value>>>()?;
        if !failures.is_empty() {
            write
                .execute(
                    sql("UPDATE instances SET failure = u.failure
                         FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS failure FROM jsonb_each(?)) AS u
                         WHERE instances.id = u.id")
                    .bind(batch(failures)),
                )
                .await?;
        }
        write.commit().await?;
        Ok(settled)
    }

    async fn firing(&self, job: JobId, origin: Origin, key: &str) -> Result<Option<InstanceId>> {
        let found = sql("SELECT id FROM instances WHERE job = ? AND origin = ? AND firing_key = ?")
            .bind(job.blob())
            .bind(origin.name())
            .bind(key.to_owned());
        let row = self.read().await?.row(found).await?;
        row.map(|row| row.id("id")).transpose()
    }

    async fn instances(&self, ids: &[InstanceId]) -> Result<Vec<Instance>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM instances WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                    .bind(hexes(ids.iter().copied())),
            )
            .await?;
        rows::all(&found, rows::instance)
    }

    async fn unfinished(&self, jobs: &[JobId]) -> Result<Vec<(JobId, InstanceId, InstanceState)>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT job, id, state FROM instances INDEXED BY instances_unfinished
                     WHERE job IN (SELECT unhex(value) FROM json_each(?)) AND state IN ('waiting', 'running')
                     ORDER BY seq")
                .bind(hexes(jobs.iter().copied())),
            )
            .await?;
        rows::all(&found, |row| Ok((row.id("job")?, row.id("id")?, row.named("state", InstanceState::named)?)))
    }
}

/// Which instances a move may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Only {
    Unassigned,
    Any,
}

/// Where a job's ledger ends; of the last rows only what a further one is held against.
fn ledger(row: &SqliteRow) -> Result<Ledger> {
    let job: JobId = row.id("id")?;
    let omission = match row.maybe_int("o_seq")? {
        None => None,
        Some(seq) => {
            let to = row.time("o_to")?;
            let reason = row.named("o_reason", OmissionReason::named)?;
            Some((seq, Omission { job, version: row.small("o_version")?, from: to, to, count: 0, reason }))
        }
    };
    let span = match row.maybe_int("s_seq")? {
        None => None,
        Some(seq) => {
            let (to, version, zone_data) = (row.time("s_to")?, row.small("s_version")?, row.text("s_zone_data")?);
            Some((seq, LedgerSpan { job, version, zone_data, from: to, to, planned: 0, made: 0, not_made: 0 }))
        }
    };
    let (version, fired_through) = (row.small("version")?, row.time("fired_through")?);
    Ok(Ledger::ending(version, fired_through, row.maybe_time("made_through")?, omission, span))
}

impl Write {
    /// Where the ledgers of these jobs end; removed jobs left out.
    pub(crate) async fn ledgers(&mut self, jobs: impl Iterator<Item = JobId>) -> Result<HashMap<JobId, Ledger>> {
        let found = self
            .rows(
                sql("SELECT j.id, j.version, j.fired_through, j.made_through,
                            o.seq AS o_seq, o.version AS o_version, o.reason AS o_reason, o.to_at AS o_to,
                            s.seq AS s_seq, s.version AS s_version, s.zone_data AS s_zone_data, s.to_at AS s_to
                     FROM jobs j
                     LEFT JOIN omissions o ON o.seq = (SELECT max(seq) FROM omissions WHERE job = j.id)
                     LEFT JOIN ledger_spans s ON s.seq = (SELECT max(seq) FROM ledger_spans WHERE job = j.id)
                     WHERE j.id IN (SELECT unhex(value) FROM json_each(?)) AND j.removed = 0")
                .bind(hexes(jobs)),
            )
            .await?;
        let mut ledgers = HashMap::with_capacity(found.len());
        for row in &found {
            let job: JobId = row.id("id")?;
            ledgers.insert(job, ledger(row)?);
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
            values.push(rows::carried(rows::instance_values(instance)?));
            jobs.insert(instance.id, (instance.job, instance.origin.is_planned().then_some(instance.planned)));
        }
        if values.is_empty() {
            return Ok(HashSet::new());
        }
        let made = self.rows(sql(MAKE).bind(batch(values))).await?;
        let made = rows::all(&made, |row| row.id("id"))?.into_iter().collect::<HashSet<InstanceId>>();

        let mut more: BTreeMap<JobId, (u32, Option<Timestamp>)> = BTreeMap::new();
        for id in &made {
            let (job, planned) = jobs[id];
            let entry = more.entry(job).or_default();
            entry.0 += 1;
            entry.1 = entry.1.max(planned);
        }
        if !more.is_empty() {
            let more = more.into_iter().map(|(job, (made, planned))| json!([job.hex(), made, planned])).collect();
            self.execute(
                sql("UPDATE jobs SET instances = instances + u.made,
                                     made_through = max(coalesce(made_through, u.planned),
                                                        coalesce(u.planned, made_through))
                     FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS made, value ->> 2 AS planned
                           FROM jsonb_each(?)) AS u
                     WHERE jobs.id = u.id")
                .bind(batch(more)),
            )
            .await?;
        }
        Ok(made)
    }

    pub(crate) async fn put_ledger(&mut self, entries: Entries) -> Result<()> {
        if !entries.longer_omissions.is_empty() {
            let longer = entries.longer_omissions.into_iter().map(|(seq, (to, more))| json!([seq, to, more])).collect();
            self.execute(
                sql("UPDATE omissions SET to_at = u.to_at, times = times + u.more
                     FROM (SELECT value ->> 0 AS seq, value ->> 1 AS to_at, value ->> 2 AS more
                           FROM jsonb_each(?)) AS u
                     WHERE omissions.seq = u.seq")
                .bind(batch(longer)),
            )
            .await?;
        }
        if !entries.omissions.is_empty() {
            let new = entries
                .omissions
                .iter()
                .map(|row| json!([row.job.hex(), row.version, row.from, row.to, row.count, row.reason.name()]));
            self.execute(
                sql("INSERT INTO omissions (job, version, from_at, to_at, times, reason)
                     SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
                     FROM jsonb_each(?)")
                .bind(batch(new.collect())),
            )
            .await?;
        }
        if !entries.longer_spans.is_empty() {
            let longer = entries
                .longer_spans
                .into_iter()
                .map(|(seq, (to, planned, made, not_made))| json!([seq, to, planned, made, not_made]))
                .collect();
            self.execute(
                sql("UPDATE ledger_spans SET to_at = u.to_at, planned = ledger_spans.planned + u.planned,
                                             made = ledger_spans.made + u.made,
                                             not_made = ledger_spans.not_made + u.not_made
                     FROM (SELECT value ->> 0 AS seq, value ->> 1 AS to_at, value ->> 2 AS planned,
                                  value ->> 3 AS made, value ->> 4 AS not_made
                           FROM jsonb_each(?)) AS u
                     WHERE ledger_spans.seq = u.seq")
                .bind(batch(longer)),
            )
            .await?;
        }
        if !entries.spans.is_empty() {
            let new = entries.spans.iter().map(|row| {
                json!([
                    row.job.hex(),
                    row.version,
                    row.zone_data,
                    row.from,
                    row.to,
                    row.planned,
                    row.made,
                    row.not_made
                ])
            });
            self.execute(
                sql("INSERT INTO ledger_spans (job, version, zone_data, from_at, to_at, planned, made, not_made)
                     SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
                            value ->> 6, value ->> 7
                     FROM jsonb_each(?)")
                .bind(batch(new.collect())),
            )
            .await?;
        }
        Ok(())
    }

    /// Carries instances along, in the order of the moves; hands back how many moves counted.
    pub(crate) async fn move_instances(&mut self, moves: &[&InstanceMove], only: Only) -> Result<usize> {
        if moves.is_empty() {
            return Ok(0);
        }
        let found = self
            .rows(
                sql("SELECT seq, id, job, origin, state, assigned_at, started_at, finished_at, result FROM instances
                     WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                .bind(hexes(moves.iter().map(|change| change.instance))),
            )
            .await?;
        let mut stored = BTreeMap::new();
        for row in &found {
            if only == Only::Unassigned && row.maybe_int("assigned_at")?.is_some() {
                continue;
            }
            stored.insert(row.int("seq")?, rows::moving(row)?);
        }
        let Moved { counted, instances, endings, last_final } = follow(moves, stored);
        let moved: Vec<Value> = instances
            .iter()
            .map(|(seq, instance)| {
                json!([seq, instance.state.name(), instance.started_at, instance.finished_at, instance.result])
            })
            .collect();
        if !moved.is_empty() {
            self.execute(
                sql("UPDATE instances SET state = u.state, started_at = u.started_at, finished_at = u.finished_at,
                                          result = u.result, failure = NULL
                     FROM (SELECT value ->> 0 AS seq, value ->> 1 AS state, value ->> 2 AS started_at,
                                  value ->> 3 AS finished_at, value ->> 4 AS result
                           FROM jsonb_each(?)) AS u
                     WHERE instances.seq = u.seq")
                .bind(batch(moved)),
            )
            .await?;
        }
        self.put_endings(endings).await?;
        if !last_final.is_empty() {
            let ended = last_final.into_iter().map(|(job, at)| json!([job.hex(), at])).collect();
            self.execute(
                sql("UPDATE jobs SET last_final_at = max(coalesce(last_final_at, u.at), u.at)
                     FROM (SELECT unhex(value ->> 0) AS id, value ->> 1 AS at FROM jsonb_each(?)) AS u
                     WHERE jobs.id = u.id")
                .bind(batch(ended)),
            )
            .await?;
        }
        Ok(counted)
    }
}
