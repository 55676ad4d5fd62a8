//! Tasks: found by what is to be done with them, and moved on by steps.

use async_trait::async_trait;
use campanile_model::task::{ExecutorRef, Step, Task};
use campanile_model::{InstanceId, Lane, TaskId, Timestamp};

use crate::{Lead, Result};

/// Ready work that someone could take now.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// (group, processor)
    pub processors: Vec<(String, String)>,
    pub limit: usize,
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

    async fn tasks(&self, ids: &[TaskId]) -> Result<Vec<Task>>;

    async fn tasks_of(&self, instance: InstanceId) -> Result<Vec<Task>>;

    /// Waiting tasks with `due_at <= now`, oldest first, at most `limit`.
    async fn due_tasks(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>>;

    /// When the next Waiting task is due.
    async fn earliest_due_task(&self) -> Result<Option<Timestamp>>;

    /// Ready tasks in lane order, first in first out (by `ready_at`, then in the order they were made) within a lane.
    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>>;

    /// (group, processor) of all Ready tasks.
    async fn ready_processors(&self) -> Result<Vec<(String, String)>>;

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
    async fn lane_depths(&self) -> Result<Vec<LaneDepth>>;
}
