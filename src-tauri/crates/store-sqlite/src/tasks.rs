//! Tasks: found by what is to be done with them, and moved on by steps.
//!
//! What the engine looks for has an index of its own, which holds nothing else. The statements name it: left to
//! itself SQLite prefers the one over all states that the pages go by, and then sorts what it found.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use campanile_model::limits::{LIMITS, Limits};
use campanile_model::task::{ExecutorRef, Incident, Need, Step, Task};
use campanile_model::{InstanceId, JobId, Lane, Partitions, TaskId, Timestamp};
use campanile_store::{Bound, Claimed, LaneDepth, Lead, Result, Room, Scope, Taken, TaskStore, Wanted};
use serde_json::{Value, json};

use crate::SqliteStore;
use crate::connection::{Line, Write, composed, sql, within};
use crate::instances::Only;
use crate::rows::{self, Columns, Hex, Id, batch, hexes, limit};
use crate::shards::Brought;

pub(crate) const MAKE: &str = "INSERT INTO tasks (
        instance_seq, id, instance, job, version, grp, processor, limits, state, attempt, fence, lane, due_at, ready_at,
        pushed_at, started_at, finished_at, deadline_at, executor_group, executor_name, executor_boot, sequence,
        retries_used, lost_unstarted, stop, failure, result, lane_since, promote_at, promotions, handed_back, need, tenant,
        expires_at, part)
    SELECT value ->> 0, unhex(value ->> 1), unhex(value ->> 2), unhex(value ->> 3), value ->> 4, value ->> 5,
        value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
        value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20,
        value ->> 21, value ->> 22, value ->> 23, value ->> 24, value ->> 25, value ->> 26, value ->> 27, value ->> 28,
        value ->> 29, value ->> 30, value ->> 31, value ->> 32, value ->> 33, value ->> 34
    FROM jsonb_each(?)";

const MOVE_ON: &str = "UPDATE tasks SET
        version = u.v ->> 4, grp = u.v ->> 5, processor = u.v ->> 6, limits = u.v ->> 7, state = u.v ->> 8,
        attempt = u.v ->> 9, fence = u.v ->> 10, lane = u.v ->> 11, due_at = u.v ->> 12, ready_at = u.v ->> 13,
        pushed_at = u.v ->> 14, started_at = u.v ->> 15, finished_at = u.v ->> 16, deadline_at = u.v ->> 17,
        executor_group = u.v ->> 18, executor_name = u.v ->> 19, executor_boot = u.v ->> 20, sequence = u.v ->> 21,
        retries_used = u.v ->> 22, lost_unstarted = u.v ->> 23, stop = u.v ->> 24, failure = u.v ->> 25,
        result = u.v ->> 26, lane_since = u.v ->> 27, promote_at = u.v ->> 28, promotions = u.v ->> 29,
        handed_back = u.v ->> 30, need = u.v ->> 31, part = u.v ->> 34
    FROM (SELECT value AS v FROM jsonb_each(?)) AS u
    WHERE tasks.seq = u.v ->> 0";

#[async_trait]
impl TaskStore for SqliteStore {
    async fn take(&self, lead: &Lead, steps: &[Step]) -> Result<Vec<Taken>> {
        let mut write = self.write_as(lead).await?;
        let taken = write.take_steps(&lead.holder, &steps.iter().collect::<Vec<_>>()).await?;
        write.commit().await?;
        Ok(taken)
    }

    async fn claim(&self, lead: &Lead, pushes: &[Step], bounds: &[Bound], limits: &Limits) -> Result<Vec<Claimed>> {
        let mut write = self.write_as(lead).await?;
        let as_seen = limits_now(&mut write).await? == *limits;
        let scopes: Vec<Scope> = bounds.iter().map(|bound| bound.scope.clone()).collect();
        let mut room = Room::left(bounds, &held_in(&mut write, &scopes).await?);
        let steps: Vec<&Step> = pushes.iter().collect();
        let claimed = write.put_steps(&lead.holder, &steps, |task| as_seen && room.admit(task)).await?;
        write.commit().await?;
        Ok(claimed)
    }

    async fn held(&self, scopes: &[Scope]) -> Result<Vec<u64>> {
        held_in(&mut self.read().await?, scopes).await
    }

    async fn tasks(&self, ids: &[TaskId]) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                    .bind(hexes(ids.iter().copied())),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn tasks_of(&self, instance: InstanceId) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) ORDER BY seq")
                    .bind(instance.blob()),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn due_tasks(&self, of: Partitions, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                composed(format!("SELECT * FROM tasks INDEXED BY tasks_waiting WHERE state = 100 AND due_at <= ?{} ORDER BY due_at, seq LIMIT ?", within(of, "job")))
                    .bind(now.millis())
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn earliest_due_task(&self, of: Partitions) -> Result<Option<Timestamp>> {
        let row = self
            .read()
            .await?
            .row(composed(format!(
                "SELECT due_at FROM tasks INDEXED BY tasks_waiting WHERE state = 100{} ORDER BY due_at, seq LIMIT 1",
                within(of, "job")
            )))
            .await?;
        row.map(|row| row.time("due_at")).transpose()
    }

    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>> {
        // The first of each need by its own index, then the first of all of them: what may not go now is never read,
        // however much of it there is. A limit cannot come out of a row, so the needs of which only a few are wanted
        // are read with a small one, and the rest of them is cut off by counting.
        let needs = wanted
            .needs
            .iter()
            .map(|wanted| json!([wanted.need.key(), wanted.down_to.number(), limit(wanted.limit)]))
            .collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("WITH wanted AS (SELECT value ->> 0 AS need, max(value ->> 1) AS down_to, max(value ->> 2) AS most
                                     FROM jsonb_each(?1) GROUP BY value ->> 0),
                     candidate AS (
                         SELECT t.seq, t.lane, t.lane_since, t.need, w.most FROM wanted w CROSS JOIN tasks t
                         WHERE w.most <= 16
                             AND t.seq IN (SELECT seq FROM tasks INDEXED BY tasks_ready
                                           WHERE state = 101 AND need = w.need AND lane <= w.down_to
                                           ORDER BY lane, lane_since, seq LIMIT 16)
                         UNION ALL
                         SELECT t.seq, t.lane, t.lane_since, t.need, w.most FROM wanted w CROSS JOIN tasks t
                         WHERE w.most > 16
                             AND t.seq IN (SELECT seq FROM tasks INDEXED BY tasks_ready
                                           WHERE state = 101 AND need = w.need AND lane <= w.down_to
                                           ORDER BY lane, lane_since, seq LIMIT ?2)),
                     numbered AS (
                         SELECT *, row_number() OVER (PARTITION BY need ORDER BY lane, lane_since, seq) AS place
                         FROM candidate),
                     first AS (
                         SELECT seq FROM numbered WHERE place <= most ORDER BY lane, lane_since, seq LIMIT ?2)
                     SELECT t.* FROM first f CROSS JOIN tasks t ON t.seq = f.seq
                     ORDER BY t.lane, t.lane_since, t.seq")
                .bind(batch(needs))
                .bind(limit(wanted.limit)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn ready_needs(&self) -> Result<Vec<Need>> {
        // From each need straight to the next one, over all the tasks between.
        let found = self
            .read()
            .await?
            .rows(sql("WITH RECURSIVE found (need) AS (
                           SELECT * FROM (SELECT need FROM tasks INDEXED BY tasks_ready WHERE state = 101
                                          ORDER BY need LIMIT 1)
                           UNION ALL
                           SELECT t.need FROM found CROSS JOIN tasks t
                           WHERE t.seq = (SELECT seq FROM tasks INDEXED BY tasks_ready
                                          WHERE state = 101 AND need > found.need
                                          ORDER BY need LIMIT 1)
                       )
                       SELECT need FROM found"))
            .await?;
        rows::all(&found, |row| row.json("need"))
    }

    async fn ready_counts(&self) -> Result<Vec<(Need, Lane, u64)>> {
        let found = self
            .read()
            .await?
            .rows(sql("SELECT need, lane, count(*) AS n FROM tasks INDEXED BY tasks_ready WHERE state = 101
                       GROUP BY need, lane"))
            .await?;
        rows::all(&found, |row| Ok((row.json("need")?, row.lane("lane")?, row.count("n")?)))
    }

    async fn promotable(&self, lane_time: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_promotable WHERE state = 101 AND promote_at <= ?
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
                sql("SELECT * FROM tasks INDEXED BY tasks_expiring WHERE state = 101 AND expires_at <= ?
                     ORDER BY expires_at, seq LIMIT ?")
                .bind(now.millis())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn last_executors(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT unhex(j.value) AS job,
                            (SELECT t.executor_name
                             FROM instances i INDEXED BY instances_of_job
                             CROSS JOIN tasks t INDEXED BY tasks_of_instance ON t.instance_seq = i.seq
                             WHERE i.job = unhex(j.value) AND t.executor_name IS NOT NULL
                             ORDER BY i.seq DESC, t.seq DESC LIMIT 1) AS executor
                     FROM json_each(?) j")
                .bind(hexes(jobs.iter().copied())),
            )
            .await?;
        let found = rows::all(&found, |row| Ok((row.id("job")?, row.maybe_text("executor")?)))?;
        Ok(found.into_iter().filter_map(|(job, executor)| Some((job, executor?))).collect())
    }

    async fn past_deadline(&self, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_deadline WHERE state IN (201, 202) AND deadline_at <= ?
                     ORDER BY deadline_at, seq LIMIT ?")
                .bind(now.millis())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn earliest_deadline(&self) -> Result<Option<Timestamp>> {
        // Overrun tasks keep none.
        let row = self
            .read()
            .await?
            .row(sql("SELECT deadline_at FROM tasks INDEXED BY tasks_deadline WHERE state IN (201, 202) AND deadline_at IS NOT NULL
                      ORDER BY deadline_at, seq LIMIT 1"))
            .await?;
        row.map(|row| row.time("deadline_at")).transpose()
    }

    async fn stopping_tasks(&self, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_stopping WHERE state IN (201, 202, 203) AND stop IS NOT NULL ORDER BY seq LIMIT ?")
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn holders(&self) -> Result<Vec<ExecutorRef>> {
        let found = self
            .read()
            .await?
            .rows(sql("SELECT DISTINCT executor_group, executor_name, executor_boot FROM tasks INDEXED BY tasks_held
                       WHERE state IN (201, 202, 203) AND executor_name IS NOT NULL
                       ORDER BY executor_group, executor_name, executor_boot"))
            .await?;
        rows::all(&found, rows::executor)
    }

    async fn held_by(&self, executor: &ExecutorRef, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_held WHERE state IN (201, 202, 203)
                         AND executor_group = ? AND executor_name = ? AND executor_boot = ?
                     ORDER BY seq LIMIT ?")
                .bind(executor.group.clone())
                .bind(executor.name.clone())
                .bind(executor.boot.clone())
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
                sql("SELECT lane, count(*) AS depth, min(ready_at) AS oldest, sum(promotions > 0) AS promoted,
                            sum(lane_since < ?) AS stale
                     FROM tasks INDEXED BY tasks_ready WHERE state = 101 GROUP BY lane")
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

/// How many tasks are held in each scope.
async fn limits_now(line: &mut Line) -> Result<Limits> {
    let row = line.row(sql("SELECT value FROM settings WHERE key = ?").bind(LIMITS)).await?;
    Limits::of(row.map(|row| row.json("value")).transpose()?).map_err(rows::damaged)
}

async fn held_in(line: &mut Line, scopes: &[Scope]) -> Result<Vec<u64>> {
    let mut held: HashMap<Scope, u64> = HashMap::with_capacity(scopes.len());
    if !scopes.is_empty() {
        let found = line
            .rows(sql("SELECT executor_group, executor_name, executor_boot, count(*) AS n
                       FROM tasks INDEXED BY tasks_held WHERE state IN (201, 202, 203)
                       GROUP BY executor_group, executor_name, executor_boot"))
            .await?;
        for row in &found {
            let executor = rows::executor(row)?;
            let n = row.count("n")?;
            *held.entry(Scope::Group(executor.group.clone())).or_default() += n;
            *held.entry(Scope::Everything).or_default() += n;
            held.insert(Scope::Executor(executor), n);
        }
    }
    let jobs = scopes.iter().filter_map(|scope| match scope {
        Scope::Job(job) => Some(job.hex()),
        _ => None,
    });
    let jobs: Vec<Value> = jobs.map(Value::from).collect();
    if !jobs.is_empty() {
        let found = line
            .rows(
                sql("SELECT job, count(*) AS n FROM tasks INDEXED BY tasks_held
                     WHERE state IN (201, 202, 203) AND +job IN (SELECT unhex(value) FROM json_each(?)) GROUP BY job")
                .bind(batch(jobs)),
            )
            .await?;
        for row in &found {
            held.insert(Scope::Job(row.id("job")?), row.count("n")?);
        }
    }
    let tenants = scopes.iter().filter_map(|scope| match scope {
        Scope::Tenant(tenant) => Some(Value::from(tenant.clone())),
        _ => None,
    });
    let tenants: Vec<Value> = tenants.collect();
    if !tenants.is_empty() {
        let found = line
            .rows(
                sql("SELECT tenant, count(*) AS n FROM tasks INDEXED BY tasks_held
                     WHERE state IN (201, 202, 203) AND tenant IN (SELECT value FROM json_each(?)) GROUP BY tenant")
                .bind(batch(tenants)),
            )
            .await?;
        for row in &found {
            held.insert(Scope::Tenant(row.text("tenant")?), row.count("n")?);
        }
    }
    Ok(scopes.iter().map(|scope| held.get(scope).copied().unwrap_or(0)).collect())
}

impl Write {
    /// Of several steps of one task the later ones must have seen the earlier.
    pub(crate) async fn take_steps(&mut self, node: &str, steps: &[&Step]) -> Result<Vec<Taken>> {
        let put = self.put_steps(node, steps, |_| true).await?;
        let taken = |claimed| if claimed == Claimed::Done { Taken::Done } else { Taken::Lost };
        Ok(put.into_iter().map(taken).collect())
    }

    /// As `take_steps`, leaving out what is not admitted.
    async fn put_steps(
        &mut self,
        node: &str,
        steps: &[&Step],
        mut admit: impl FnMut(&Task) -> bool,
    ) -> Result<Vec<Claimed>> {
        let found = self
            .rows(
                sql("SELECT seq, instance_seq, id, fence, executor_name FROM tasks
                     WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                .bind(hexes(steps.iter().map(|step| step.task().id))),
            )
            .await?;
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
                history.push(json!([
                    seen.seq,
                    made.at(),
                    made.from().code(),
                    made.to().code(),
                    made.attempt(),
                    executor,
                    node,
                    reason
                ]));
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
            .map(|(seq, step)| rows::task_values(seq, step.task(), step.next_fence()).map(rows::carried))
            .collect::<Result<Vec<Value>>>()?;
        if !moved.is_empty() {
            self.execute(sql(MOVE_ON).bind(batch(moved))).await?;
        }
        if !history.is_empty() {
            self.execute(
                sql("INSERT INTO task_moves (task_seq, at, from_state, to_state, attempt, executor, node, reason)
                     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
                            value ->> 7
                     FROM jsonb_each(?)")
                .bind(batch(history)),
            )
            .await?;
        }
        self.put_incidents(incidents.into_iter()).await?;
        self.move_instances(&instances, Only::Any).await?;
        self.put_brought(shards).await?;
        Ok(taken)
    }

    pub(crate) async fn put_incidents<'i>(&mut self, incidents: impl Iterator<Item = &'i Incident>) -> Result<()> {
        let values =
            incidents.map(|one| rows::incident_values(one).map(rows::carried)).collect::<Result<Vec<Value>>>()?;
        if values.is_empty() {
            return Ok(());
        }
        self.execute(
            sql("INSERT INTO incidents (at, kind, job, instance, task, executor, failure)
                 SELECT value ->> 0, value ->> 1, unhex(value ->> 2), unhex(value ->> 3), unhex(value ->> 4),
                        value ->> 5, value ->> 6
                 FROM jsonb_each(?)")
            .bind(batch(values)),
        )
        .await?;
        Ok(())
    }
}
