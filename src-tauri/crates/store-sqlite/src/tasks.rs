//! Tasks: found by what is to be done with them, and moved on by steps.
//!
//! What the engine looks for has an index of its own, which holds nothing else. The statements name it: left to
//! itself SQLite prefers the one over all states that the pages go by, and then sorts what it found.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use campanile_model::task::{ExecutorRef, Incident, Step, Task};
use campanile_model::{InstanceId, Lane, TaskId, Timestamp};
use campanile_store::{LaneDepth, Lead, Result, Taken, TaskStore, Wanted};
use serde_json::{Value, json};

use crate::SqliteStore;
use crate::connection::{Write, sql};
use crate::instances::Only;
use crate::rows::{self, Columns, Id, batch, hexes, limit};

pub(crate) const MAKE: &str = "INSERT INTO tasks (
        instance_seq, id, instance, job, version, grp, processor, limits, state, attempt, fence, lane, due_at, ready_at,
        pushed_at, started_at, finished_at, deadline_at, executor_group, executor_name, executor_boot, sequence,
        retries_used, lost_unstarted, stop, failure, result)
    SELECT value ->> 0, unhex(value ->> 1), unhex(value ->> 2), unhex(value ->> 3), value ->> 4, value ->> 5,
        value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13,
        value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19, value ->> 20,
        value ->> 21, value ->> 22, value ->> 23, value ->> 24, value ->> 25, value ->> 26
    FROM jsonb_each(?)";

const MOVE_ON: &str = "UPDATE tasks SET
        version = u.v ->> 4, grp = u.v ->> 5, processor = u.v ->> 6, limits = u.v ->> 7, state = u.v ->> 8,
        attempt = u.v ->> 9, fence = u.v ->> 10, lane = u.v ->> 11, due_at = u.v ->> 12, ready_at = u.v ->> 13,
        pushed_at = u.v ->> 14, started_at = u.v ->> 15, finished_at = u.v ->> 16, deadline_at = u.v ->> 17,
        executor_group = u.v ->> 18, executor_name = u.v ->> 19, executor_boot = u.v ->> 20, sequence = u.v ->> 21,
        retries_used = u.v ->> 22, lost_unstarted = u.v ->> 23, stop = u.v ->> 24, failure = u.v ->> 25,
        result = u.v ->> 26
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

    async fn due_tasks(&self, now: Timestamp, most: usize) -> Result<Vec<Task>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM tasks INDEXED BY tasks_waiting WHERE state = 100 AND due_at <= ? ORDER BY due_at, seq LIMIT ?")
                    .bind(now.millis())
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn earliest_due_task(&self) -> Result<Option<Timestamp>> {
        let row = self
            .read()
            .await?
            .row(sql(
                "SELECT due_at FROM tasks INDEXED BY tasks_waiting WHERE state = 100 ORDER BY due_at, seq LIMIT 1",
            ))
            .await?;
        row.map(|row| row.time("due_at")).transpose()
    }

    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>> {
        // The first of each processor by its own index, then the first of all of them: what nobody can take now is
        // never read, however much of it there is.
        let pairs = wanted.processors.iter().map(|(group, processor)| json!([group, processor])).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT t.* FROM (SELECT DISTINCT value ->> 0 AS grp, value ->> 1 AS processor
                                      FROM jsonb_each(?1)) AS p
                     CROSS JOIN tasks t
                     WHERE t.seq IN (SELECT seq FROM tasks INDEXED BY tasks_ready
                                     WHERE state = 101 AND grp = p.grp AND processor = p.processor
                                     ORDER BY lane, ready_at, seq LIMIT ?2)
                     ORDER BY t.lane, t.ready_at, t.seq LIMIT ?2")
                .bind(batch(pairs))
                .bind(limit(wanted.limit)),
            )
            .await?;
        rows::all(&found, rows::task)
    }

    async fn ready_processors(&self) -> Result<Vec<(String, String)>> {
        // From each pair straight to the next one, over all the tasks between.
        let found = self
            .read()
            .await?
            .rows(sql("WITH RECURSIVE pair (grp, processor) AS (
                           SELECT * FROM (SELECT grp, processor FROM tasks INDEXED BY tasks_ready WHERE state = 101
                                          ORDER BY grp, processor LIMIT 1)
                           UNION ALL
                           SELECT t.grp, t.processor FROM pair CROSS JOIN tasks t
                           WHERE t.seq = (SELECT seq FROM tasks INDEXED BY tasks_ready
                                          WHERE state = 101 AND (grp, processor) > (pair.grp, pair.processor)
                                          ORDER BY grp, processor LIMIT 1)
                       )
                       SELECT grp, processor FROM pair"))
            .await?;
        rows::all(&found, |row| Ok((row.text("grp")?, row.text("processor")?)))
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

    async fn lane_depths(&self) -> Result<Vec<LaneDepth>> {
        let found = self
            .read()
            .await?
            .rows(sql("SELECT lane, count(*) AS depth, min(ready_at) AS oldest FROM tasks INDEXED BY tasks_ready WHERE state = 101
                       GROUP BY lane"))
            .await?;
        let mut depths: Vec<LaneDepth> =
            Lane::ALL.into_iter().map(|lane| LaneDepth { lane, depth: 0, oldest_ready_at: None }).collect();
        for row in &found {
            let lane = row.lane("lane")?;
            for depth in depths.iter_mut().filter(|depth| depth.lane == lane) {
                depth.depth = row.count("depth")?;
                depth.oldest_ready_at = row.maybe_time("oldest")?;
            }
        }
        Ok(depths)
    }
}

/// A task's row as far as a step has to know it.
struct Seen {
    seq: i64,
    fence: i64,
    executor: Option<String>,
}

impl Write {
    /// Of several steps of one task the later ones must have seen the earlier.
    pub(crate) async fn take_steps(&mut self, node: &str, steps: &[&Step]) -> Result<Vec<Taken>> {
        let found = self
            .rows(
                sql("SELECT seq, id, fence, executor_name FROM tasks
                     WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                .bind(hexes(steps.iter().map(|step| step.task().id))),
            )
            .await?;
        let mut rows_seen = HashMap::with_capacity(found.len());
        for row in &found {
            let id: TaskId = row.id("id")?;
            let seen =
                Seen { seq: row.int("seq")?, fence: row.int("fence")?, executor: row.maybe_text("executor_name")? };
            rows_seen.insert(id, seen);
        }

        let mut taken = Vec::with_capacity(steps.len());
        let mut latest = BTreeMap::new();
        let mut history = Vec::new();
        let mut incidents = Vec::new();
        let mut instances = Vec::new();
        for step in steps {
            let task = step.task();
            let seen = rows_seen.get_mut(&task.id).filter(|seen| seen.fence == rows::number(step.seen()));
            let Some(seen) = seen else {
                taken.push(Taken::Lost);
                continue;
            };
            taken.push(Taken::Done);
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
            seen.fence = rows::number(step.next_fence());
            seen.executor = now;
            latest.insert(seen.seq, *step);
        }

        let moved = latest
            .into_iter()
            .map(|(seq, step)| rows::task_values(seq, step.task(), step.next_fence()))
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
        Ok(taken)
    }

    pub(crate) async fn put_incidents<'i>(&mut self, incidents: impl Iterator<Item = &'i Incident>) -> Result<()> {
        let values = incidents.map(rows::incident_values).collect::<Result<Vec<Value>>>()?;
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
