//! Tasks: found by what is to be done with them, and moved on by steps.

use std::collections::HashMap;

use async_trait::async_trait;
use campanile_model::limits::Limits;
use campanile_model::task::{ExecutorRef, Need, Step, Task};
use campanile_model::{InstanceId, JobId, Lane, Partitions, TaskId, Timestamp};

use crate::{Lead, Result};

/// Ready work that may go now.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub needs: Vec<WantedNeed>,
    /// Of all together.
    pub limit: usize,
}

#[derive(Clone, Debug)]
pub struct WantedNeed {
    pub need: Need,
    /// No lane below this one.
    pub down_to: Lane,
    pub limit: usize,
}

impl WantedNeed {
    pub fn all_of(need: Need) -> WantedNeed {
        WantedNeed { need, down_to: Lane::Low, limit: usize::MAX >> 1 }
    }
}

/// Something that takes so many tasks at once and no more. All but an executor count what is held: 201, 202 and 203;
/// so does an executor, whose bound is what it runs and what may wait there together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Executor(ExecutorRef),
    Job(JobId),
    Tenant(String),
    Group(String),
    /// All that is held: with one node, what the node has given out.
    Everything,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub scope: Scope,
    pub most: u32,
}

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Written; the row shows the step's next fence.
    Done,
    /// Someone moved the task first, or it is gone.
    Lost,
    /// A bound was reached: nothing of this step was written.
    Full,
}

/// The room that bounds leave, for a backend to take from within the transaction of a claim.
#[derive(Debug, Default)]
pub struct Room(HashMap<Scope, u64>);

impl Room {
    /// `held` says for each bound what is held now.
    pub fn left(bounds: &[Bound], held: &[u64]) -> Room {
        let mut room = HashMap::with_capacity(bounds.len());
        for (bound, held) in bounds.iter().zip(held) {
            let left = u64::from(bound.most).saturating_sub(*held);
            let least = room.entry(bound.scope.clone()).or_insert(left);
            *least = left.min(*least);
        }
        Room(room)
    }

    /// Takes a place everywhere the task needs one; false where one is missing, and none is taken.
    pub fn admit(&mut self, task: &Task) -> bool {
        let scopes = scopes_of(task);
        if scopes.iter().any(|scope| self.0.get(scope) == Some(&0)) {
            return false;
        }
        for scope in &scopes {
            if let Some(left) = self.0.get_mut(scope) {
                *left -= 1;
            }
        }
        true
    }
}

/// Everything that a task takes a place of while it is held.
pub fn scopes_of(task: &Task) -> Vec<Scope> {
    let mut scopes = vec![Scope::Everything, Scope::Group(task.group.clone()), Scope::Job(task.job)];
    scopes.extend(task.executor.clone().map(Scope::Executor));
    scopes.extend(task.needs.tenant.clone().map(Scope::Tenant));
    scopes
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Written; the row shows the step's next fence.
    Done,
    /// Someone moved the task first, or it is gone: nothing of this step was written.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneDepth {
    pub lane: Lane,
    /// Ready tasks in it.
    pub depth: u64,
    pub oldest_ready_at: Option<Timestamp>,
    /// Of them those that have moved up into it.
    pub promoted: u64,
    /// Of them those that have been in it since before the moment asked about.
    pub stale: u64,
}

#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Writes each step where its task still shows the fence that was seen: the task, its moves into the history,
    /// its incidents, and the change of its instance. One step is wholly written or not at all; of two that saw the
    /// same fence one is Lost. The steps of a batch follow each other: a later one of the same task must have seen the
    /// earlier. An instance of the schedule that moves to a final state stamps its job's `last_final_at`. A move to the
    /// state that the instance is in already, or away from a final one, is left out; out of a final one only Running
    /// is open.
    async fn take(&self, lead: &Lead, steps: &[Step]) -> Result<Vec<Taken>>;

    /// Writes pushes as `take` does, each only where every bound that it falls under has room still. What is held is
    /// counted in the same transaction, with the pushes of the batch before it. `limits` are those that the bounds were
    /// made of: where people have set others since, there is room for none.
    async fn claim(&self, lead: &Lead, pushes: &[Step], bounds: &[Bound], limits: &Limits) -> Result<Vec<Claimed>>;

    /// How many tasks are held in each scope.
    async fn held(&self, scopes: &[Scope]) -> Result<Vec<u64>>;

    async fn tasks(&self, ids: &[TaskId]) -> Result<Vec<Task>>;

    async fn tasks_of(&self, instance: InstanceId) -> Result<Vec<Task>>;

    /// Waiting tasks of jobs of these partitions with `due_at <= now`, oldest first, at most `limit`.
    async fn due_tasks(&self, of: Partitions, now: Timestamp, limit: usize) -> Result<Vec<Task>>;

    /// When the next Waiting task of these partitions is due.
    async fn earliest_due_task(&self, of: Partitions) -> Result<Option<Timestamp>>;

    /// Ready tasks in lane order, first in first out (by `lane_since`, then in the order they were made) within a lane.
    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>>;

    /// The needs of all Ready tasks, each once, however many tasks have it.
    async fn ready_needs(&self) -> Result<Vec<Need>>;

    /// How many Ready tasks there are of each need and lane.
    async fn ready_counts(&self) -> Result<Vec<(Need, Lane, u64)>>;

    /// Ready tasks whose `promote_at` is `lane_time` or earlier, earliest first, at most `limit`.
    async fn promotable(&self, lane_time: Timestamp, limit: usize) -> Result<Vec<Task>>;

    /// Ready tasks whose `expires_at` has come, earliest first, at most `limit`.
    async fn expired(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>>;

    /// For each of these jobs the executor that last had a task of it, by name.
    async fn last_executors(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>>;

    /// Held tasks (Pushed, Running) whose `deadline_at` has come, at most `limit`.
    async fn past_deadline(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>>;

    /// The next `deadline_at` of a held task.
    async fn earliest_deadline(&self) -> Result<Option<Timestamp>>;

    /// Held tasks that are being stopped, at most `limit`.
    async fn stopping_tasks(&self, limit: usize) -> Result<Vec<Task>>;

    /// The executors that hold tasks.
    async fn holders(&self) -> Result<Vec<ExecutorRef>>;

    /// Held tasks of one executor's life, at most `limit`.
    async fn held_by(&self, executor: &ExecutorRef, limit: usize) -> Result<Vec<Task>>;

    /// Depth of every lane, empty ones too, in lane order.
    async fn lane_depths(&self, stale_before: Timestamp) -> Result<Vec<LaneDepth>>;
}
