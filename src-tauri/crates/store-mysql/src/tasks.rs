//! Tasks: found by what is to be done with them, and moved on by steps.
//!
//! What the engine looks for has an index of its own. The statements name it: left to itself either server may prefer
//! another, and lock or sort more than was asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use campanile_model::limits::{LIMITS, Limits};
use campanile_model::task::{ExecutorRef, Incident, Need, Step, Task};
use campanile_model::{InstanceId, JobId, Lane, Partitions, TaskId, Timestamp};
use campanile_store::{Bound, Claimed, LaneDepth, Lead, Result, Room, Scope, Taken, TaskStore, Wanted};

use crate::MysqlStore;
use crate::connection::{Line, Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Id, limit};
use crate::shards::Brought;
use crate::values::{Cell, IntoCell, Row, ids, list, numbers, row, union};

pub(crate) const MAKE: &str = "INSERT INTO tasks (
        instance_seq, id, instance, job, version, grp, processor, limits, state, attempt, fence, lane, due_at, ready_at,
        pushed_at, started_at, finished_at, deadline_at, executor_group, executor_name, executor_boot, sequence,
        retries_used, lost_unstarted, stop, failure, result, lane_since, promote_at, promotions, handed_back, need, tenant,
        expires_at, part)";

const MOVE_ON: &str = "tasks t ON t.seq = u.c0 SET
        t.version = u.c4, t.grp = u.c5, t.processor = u.c6, t.limits = u.c7, t.state = u.c8, t.attempt = u.c9,
        t.fence = u.c10, t.lane = u.c11, t.due_at = u.c12, t.ready_at = u.c13, t.pushed_at = u.c14,
        t.started_at = u.c15, t.finished_at = u.c16, t.deadline_at = u.c17, t.executor_group = u.c18,
        t.executor_name = u.c19, t.executor_boot = u.c20, t.sequence = u.c21, t.retries_used = u.c22,
        t.lost_unstarted = u.c23, t.stop = u.c24, t.failure = u.c25, t.result = u.c26, t.lane_since = u.c27,
        t.promote_at = u.c28, t.promotions = u.c29, t.handed_back = u.c30, t.need = u.c31,
        t.part = u.c34";

/// So many needs are looked for by one statement.
const NEEDS_AT_ONCE: usize = 64;

#[async_trait]
impl TaskStore for MysqlStore {
    async fn take(&self, lead: &Lead, steps: &[Step]) -> Result<Vec<Taken>> {
        let steps: &Vec<&Step> = &steps.iter().collect();
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let taken = write.take_steps(&lead.holder, steps).await?;
            write.commit().await?;
            Ok(taken)
        })
        .await
    }

    async fn claim(&self, lead: &Lead, pushes: &[Step], bounds: &[Bound], limits: &Limits) -> Result<Vec<Claimed>> {
        let steps: &Vec<&Step> = &pushes.iter().collect();
        let scopes: &Vec<Scope> = &bounds.iter().map(|bound| bound.scope.clone()).collect();
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            // Claims go one after the other, whichever node makes them: each counts what the one before it took.
            write.rows(sql("SELECT gate FROM gates FORCE INDEX (PRIMARY) WHERE gate = 'claims' FOR UPDATE")).await?;
            let as_seen = limits_now(&mut write).await? == *limits;
            let mut room = Room::left(bounds, &held_in(&mut write, scopes).await?);
            // A task that someone is moving now has moved: it is passed over, not waited for.
            let claimed =
                write.put_steps(&lead.holder, steps, " SKIP LOCKED", |task| as_seen && room.admit(task)).await?;
            write.commit().await?;
            Ok(claimed)
        })
        .await
    }

    async fn held(&self, scopes: &[Scope]) -> Result<Vec<u64>> {
        held_in(&mut self.read().await?, scopes).await
    }

    async fn tasks(&self, tasks: &[TaskId]) -> Result<Vec<Task>> {
        let text = format!("SELECT * FROM tasks WHERE id IN ({})", ids(tasks.iter().copied()));
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::task)
    }

    async fn tasks_of(&self, instance: InstanceId) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT t.* FROM instances i STRAIGHT_JOIN tasks t ON t.instance_seq = i.seq
                     WHERE i.id = ? ORDER BY t.seq")
                .bind(instance.blob()),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn due_tasks(&self, of: Partitions, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(composed(format!(
                "SELECT * FROM tasks FORCE INDEX (tasks_waiting) WHERE state = 100 AND due_at <= {}{}
                     ORDER BY due_at, seq LIMIT {}",
                now.millis(),
                within(of, "job"),
                limit(most)
            )))
            .await?;
        rows::all(&found, rows::task)
    }

    async fn earliest_due_task(&self, of: Partitions) -> Result<Option<Timestamp>> {
        let row = self
            .read()
            .await?
            .row(composed(format!(
                "SELECT due_at FROM tasks FORCE INDEX (tasks_waiting) WHERE state = 100{}
                      ORDER BY due_at, seq LIMIT 1",
                within(of, "job")
            )))
            .await?;
        row.map(|row| row.time("due_at")).transpose()
    }

    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>> {
        // The first of each need by its own index, then the first of all of them: what may not go now is never read,
        // however much of it there is.
        let mut needs: BTreeMap<String, (u8, usize)> = BTreeMap::new();
        for wanted in &wanted.needs {
            let widest = needs.entry(wanted.need.key()).or_insert((0, 0));
            *widest = (widest.0.max(wanted.down_to.number()), widest.1.max(wanted.limit));
        }
        let searches: Vec<String> = needs
            .into_iter()
            .map(|(need, (down_to, most))| {
                format!(
                    "(SELECT seq, lane, lane_since FROM tasks FORCE INDEX (tasks_ready)
                      WHERE state = 101 AND need_hash = UNHEX(SHA2({}, 256)) AND lane <= {down_to}
                      ORDER BY lane, lane_since, seq LIMIT {})",
                    list([Cell::Bytes(need.into_bytes())]),
                    limit(most.min(wanted.limit))
                )
            })
            .collect();
        let mut line = self.read().await?;
        let mut first = BTreeSet::new();
        for searches in searches.chunks(NEEDS_AT_ONCE) {
            let order = format!("ORDER BY lane, lane_since, seq LIMIT {}", limit(wanted.limit));
            let text = union(searches, &order);
            for row in &line.rows(composed(text)).await? {
                first.insert((row.int("lane")?, row.maybe_int("lane_since")?, row.int("seq")?));
            }
        }
        if first.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!(
            "SELECT * FROM tasks WHERE seq IN ({}) AND state = 101 ORDER BY lane, lane_since, seq",
            numbers(first.into_iter().take(wanted.limit).map(|(_, _, seq)| seq))
        );
        let found = line.rows(composed(text)).await?;
        rows::all(&found, rows::task)
    }

    async fn ready_needs(&self) -> Result<Vec<Need>> {
        // From each need straight to the next one, over all the tasks between; then one task of each.
        let mut line = self.read().await?;
        let hashes = line
            .rows(sql("SELECT need_hash FROM tasks FORCE INDEX (tasks_ready) WHERE state = 101 GROUP BY need_hash"))
            .await?;
        let hashes = hashes.iter().map(|row| row.maybe_blob("need_hash")).collect::<Result<Vec<_>>>()?;
        Ok(line.needs(hashes.into_iter().flatten()).await?.into_values().collect())
    }

    async fn ready_counts(&self) -> Result<Vec<(Need, Lane, u64)>> {
        let mut line = self.read().await?;
        let found = line
            .rows(sql("SELECT need_hash, lane, COUNT(*) AS n FROM tasks FORCE INDEX (tasks_ready) WHERE state = 101
                       GROUP BY need_hash, lane"))
            .await?;
        let mut counted = Vec::with_capacity(found.len());
        for row in &found {
            counted.push((row.maybe_blob("need_hash")?.unwrap_or_default(), row.lane("lane")?, row.count("n")?));
        }
        let hashes: BTreeSet<Vec<u8>> = counted.iter().map(|(hash, ..)| hash.clone()).collect();
        let needs = line.needs(hashes).await?;
        // What has gone between the two statements is no longer ready.
        Ok(counted.into_iter().filter_map(|(hash, lane, n)| Some((needs.get(&hash)?.clone(), lane, n))).collect())
    }

    async fn promotable(&self, lane_time: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_promotable) WHERE state = 101 AND promote_at <= ?
                     ORDER BY promote_at, seq LIMIT ?")
                .bind(lane_time.millis())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn expired(&self, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_expiring) WHERE state = 101 AND expires_at <= ?
                     ORDER BY expires_at, seq LIMIT ?")
                .bind(now.millis())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn last_executors(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        let text = format!(
            "SELECT j.id AS job,
                    (SELECT t.executor_name FROM instances i FORCE INDEX (instances_of_job)
                     STRAIGHT_JOIN tasks t FORCE INDEX (tasks_of_instance) ON t.instance_seq = i.seq
                     WHERE i.job = j.id AND t.executor_name IS NOT NULL
                     ORDER BY i.seq DESC, t.seq DESC LIMIT 1) AS executor
             FROM jobs j FORCE INDEX (jobs_by_id) WHERE j.id IN ({})",
            ids(jobs.iter().copied())
        );
        let found = self.read().await?.rows(composed(text)).await?;
        let found = rows::all(&found, |row| Ok((row.id("job")?, row.maybe_text("executor")?)))?;
        Ok(found.into_iter().filter_map(|(job, executor)| Some((job, executor?))).collect())
    }

    async fn past_deadline(&self, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_deadline) WHERE state IN (201, 202) AND deadline_at <= ?
                     ORDER BY deadline_at, seq LIMIT ?")
                .bind(now.millis())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn earliest_deadline(&self) -> Result<Option<Timestamp>> {
        // Overrun tasks keep none.
        let text = state_by_state(&[201, 202], |state| {
            format!(
                "(SELECT deadline_at FROM tasks FORCE INDEX (tasks_deadline)
                  WHERE state = {state} AND deadline_at IS NOT NULL ORDER BY deadline_at LIMIT 1)"
            )
        });
        let text = format!("{text} ORDER BY deadline_at LIMIT 1");
        let row = self.read().await?.row(composed(text)).await?;
        row.map(|row| row.time("deadline_at")).transpose()
    }

    async fn stopping_tasks(&self, most: usize) -> Result<Vec<Task>> {
        // Among the held ones, of which there are never many.
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_held) WHERE state IN (201, 202, 203) AND stop IS NOT NULL
                     ORDER BY seq LIMIT ?")
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn holders(&self) -> Result<Vec<ExecutorRef>> {
        let text = state_by_state(&HELD, |state| {
            format!(
                "(SELECT DISTINCT executor_group, executor_name, executor_boot FROM tasks FORCE INDEX (tasks_held)
                  WHERE state = {state} AND executor_name IS NOT NULL)"
            )
        });
        let text = format!(
            "SELECT DISTINCT executor_group, executor_name, executor_boot FROM ({text}) held
             ORDER BY executor_group, executor_name, executor_boot"
        );
        rows::all(&self.read().await?.rows(composed(text)).await?, rows::executor)
    }

    async fn held_by(&self, executor: &ExecutorRef, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks FORCE INDEX (tasks_held) WHERE state IN (201, 202, 203)
                         AND executor_group = ? AND executor_name = ? AND executor_boot = ?
                     ORDER BY seq LIMIT ?")
                .bind(executor.group.as_bytes().to_vec())
                .bind(executor.name.as_bytes().to_vec())
                .bind(executor.boot.as_bytes().to_vec())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn lane_depths(&self, stale_before: Timestamp) -> Result<Vec<LaneDepth>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT lane, COUNT(*) AS depth, MIN(ready_at) AS oldest,
                            CAST(SUM(promotions > 0) AS SIGNED) AS promoted,
                            CAST(COALESCE(SUM(lane_since < ?), 0) AS SIGNED) AS stale
                     FROM tasks FORCE INDEX (tasks_ready) WHERE state = 101 GROUP BY lane")
                .bind(stale_before.millis()),
            )
            .await?;
        let empty = |lane| LaneDepth { lane, depth: 0, oldest_ready_at: None, promoted: 0, stale: 0 };
        let mut depths: Vec<LaneDepth> = Lane::ALL.into_iter().map(empty).collect();
        for row in &found {
            let lane = row.lane("lane")?;
            for depth in depths.iter_mut().filter(|depth| depth.lane == lane) {
                depth.depth = row.count("depth")?;
                depth.oldest_ready_at = row.maybe_time("oldest")?;
                depth.promoted = row.count("promoted")?;
                depth.stale = row.count("stale")?;
            }
        }
        Ok(depths)
    }
}

/// A task's row as far as a step has to know it.
struct Seen {
    seq: i64,
    instance: i64,
    fence: i64,
    executor: Option<String>,
}

/// The states of a task that an executor holds.
const HELD: [u16; 3] = [201, 202, 203];

/// One search for each state, and what all of them find. Where an index answers by itself, and is asked for several
/// states at once, the server may rather read the whole of it for the order of the answer: its statistics decide, and
/// then all that has ever been finished is read.
fn state_by_state(states: &[u16], search: impl Fn(u16) -> String) -> String {
    union(&states.iter().copied().map(search).collect::<Vec<_>>(), "")
}

/// How many tasks are held in each scope.
/// Who sets others meanwhile waits until the claim is written.
async fn limits_now(line: &mut Line) -> Result<Limits> {
    let setting = sql("SELECT value FROM settings FORCE INDEX (PRIMARY) WHERE name = ? LOCK IN SHARE MODE");
    let row = line.row(setting.bind(LIMITS.as_bytes().to_vec())).await?;
    Limits::of(row.map(|row| row.json("value")).transpose()?).map_err(rows::damaged)
}

async fn held_in(line: &mut Line, scopes: &[Scope]) -> Result<Vec<u64>> {
    let mut held: HashMap<Scope, u64> = HashMap::with_capacity(scopes.len());
    if !scopes.is_empty() {
        let text = state_by_state(&HELD, |state| {
            format!(
                "(SELECT executor_group, executor_name, executor_boot, COUNT(*) AS n
                  FROM tasks FORCE INDEX (tasks_held) WHERE state = {state}
                  GROUP BY executor_group, executor_name, executor_boot)"
            )
        });
        let found = line.rows(composed(text)).await?;
        for row in &found {
            let executor = rows::executor(row)?;
            let n = row.count("n")?;
            *held.entry(Scope::Group(executor.group.clone())).or_default() += n;
            *held.entry(Scope::Everything).or_default() += n;
            *held.entry(Scope::Executor(executor)).or_default() += n;
        }
    }
    let jobs: Vec<JobId> = scopes
        .iter()
        .filter_map(|scope| match scope {
            Scope::Job(job) => Some(*job),
            _ => None,
        })
        .collect();
    if !jobs.is_empty() {
        let text = format!(
            "SELECT job, COUNT(*) AS n FROM tasks FORCE INDEX (tasks_held)
             WHERE state IN (201, 202, 203) AND job IN ({}) GROUP BY job",
            ids(jobs)
        );
        for row in &line.rows(composed(text)).await? {
            held.insert(Scope::Job(row.id("job")?), row.count("n")?);
        }
    }
    let tenants: Vec<Cell> = scopes
        .iter()
        .filter_map(|scope| match scope {
            Scope::Tenant(tenant) => Some(tenant.cell()),
            _ => None,
        })
        .collect();
    if !tenants.is_empty() {
        let text = format!(
            "SELECT tenant, COUNT(*) AS n FROM tasks FORCE INDEX (tasks_held)
             WHERE state IN (201, 202, 203) AND tenant IN ({}) GROUP BY tenant",
            list(tenants)
        );
        for row in &line.rows(composed(text)).await? {
            held.insert(Scope::Tenant(row.text("tenant")?), row.count("n")?);
        }
    }
    Ok(scopes.iter().map(|scope| held.get(scope).copied().unwrap_or(0)).collect())
}

impl Line {
    /// The needs behind these hashes, as far as a ready task still has them.
    async fn needs(&mut self, hashes: impl IntoIterator<Item = Vec<u8>>) -> Result<HashMap<Vec<u8>, Need>> {
        let searches: Vec<String> = hashes
            .into_iter()
            .map(|hash| {
                format!(
                    "(SELECT need_hash, need FROM tasks FORCE INDEX (tasks_ready)
                      WHERE state = 101 AND need_hash = {} LIMIT 1)",
                    list([Cell::Bytes(hash)])
                )
            })
            .collect();
        let mut needs = HashMap::with_capacity(searches.len());
        for searches in searches.chunks(NEEDS_AT_ONCE) {
            for row in &self.rows(composed(union(searches, ""))).await? {
                needs.insert(row.maybe_blob("need_hash")?.unwrap_or_default(), row.json("need")?);
            }
        }
        Ok(needs)
    }
}

impl Write {
    /// Of several steps of one task the later ones must have seen the earlier.
    pub(crate) async fn take_steps(&mut self, node: &str, steps: &[&Step]) -> Result<Vec<Taken>> {
        let put = self.put_steps(node, steps, "", |_| true).await?;
        let taken = |claimed| if claimed == Claimed::Done { Taken::Done } else { Taken::Lost };
        Ok(put.into_iter().map(taken).collect())
    }

    /// As `take_steps`, leaving out what is not admitted.
    async fn put_steps(
        &mut self,
        node: &str,
        steps: &[&Step],
        where_locked: &str,
        mut admit: impl FnMut(&Task) -> bool,
    ) -> Result<Vec<Claimed>> {
        let text = format!(
            "SELECT seq, instance_seq, id, fence, executor_name FROM tasks FORCE INDEX (tasks_by_id)
             WHERE id IN ({}) FOR UPDATE{where_locked}",
            ids(steps.iter().map(|step| step.task().id).collect::<BTreeSet<TaskId>>())
        );
        let found = self.rows(composed(text)).await?;
        let mut rows_seen = HashMap::with_capacity(found.len());
        for row in &found {
            let id: TaskId = row.id("id")?;
            let seen = Seen {
                seq: row.int("seq")?,
                instance: row.int("instance_seq")?,
                fence: row.int("fence")?,
                executor: row.maybe_text("executor_name")?,
            };
            rows_seen.insert(id, seen);
        }

        let mut taken = Vec::with_capacity(steps.len());
        let mut latest = BTreeMap::new();
        let mut history = Vec::new();
        let mut incidents = Vec::new();
        let mut instances = Vec::new();
        let mut shards = Brought::default();
        for step in steps {
            let task = step.task();
            let seen = rows_seen.get_mut(&task.id).filter(|seen| seen.fence == rows::number(step.seen()));
            let Some(seen) = seen else {
                taken.push(Claimed::Lost);
                continue;
            };
            if !admit(task) {
                taken.push(Claimed::Full);
                continue;
            }
            taken.push(Claimed::Done);
            let now = task.executor.as_ref().map(|executor| executor.name.clone());
            for made in step.moves() {
                // Who handed a task back is no longer in it.
                let executor = now.as_ref().or(seen.executor.as_ref());
                let reason = rows::maybe_written(made.reason())?;
                history.push(row![
                    seen.seq,
                    made.at(),
                    made.from().code(),
                    made.to().code(),
                    made.attempt(),
                    executor,
                    node,
                    reason
                ]);
            }
            incidents.extend(step.incidents());
            instances.extend(step.instance());
            shards.add(seen.instance, step)?;
            seen.fence = rows::number(step.next_fence());
            seen.executor = now;
            latest.insert(seen.seq, *step);
        }

        let moved = latest
            .into_iter()
            .map(|(seq, step)| rows::task_values(seq, step.task(), step.next_fence()))
            .collect::<Result<Vec<Row>>>()?;
        self.change(&moved, MOVE_ON).await?;
        let head = "INSERT INTO task_moves (task_seq, at, from_state, to_state, attempt, executor, node, reason)";
        self.insert(head, &history, "").await?;
        self.put_incidents(incidents.into_iter()).await?;
        self.move_instances(&instances, Only::Any).await?;
        self.put_brought(shards).await?;
        Ok(taken)
    }

    pub(crate) async fn put_incidents<'i>(&mut self, incidents: impl Iterator<Item = &'i Incident>) -> Result<()> {
        let values = incidents.map(rows::incident_values).collect::<Result<Vec<Row>>>()?;
        if values.is_empty() {
            return Ok(());
        }
        // Whoever reads them in the order of their numbers may have to wait for all that are on their way.
        let gate = "SELECT gate FROM gates FORCE INDEX (PRIMARY) WHERE gate = 'incidents' LOCK IN SHARE MODE";
        self.rows(sql(gate)).await?;
        let head = "INSERT INTO incidents (at, kind, job, instance, task, executor, failure)";
        self.insert(head, &values, "").await
    }
}
