//! What people look at: pages of what is and was, by key. Nothing here counts over history.

use std::collections::HashMap;

use async_trait::async_trait;
use campanile_model::alarm::{Alarm, AlarmState};
use campanile_model::backfill::Backfill;
use campanile_model::instance::{Instance, InstanceState, Omission};
use campanile_model::job::{Job, JobVersion};
use campanile_model::question::Question;
use campanile_model::request::AuditEntry;
use campanile_model::sharding::ShardRun;
use campanile_model::task::{Task, TaskState};
use campanile_model::{InstanceId, JobId, TaskId, Timestamp, Words};

use crate::Result;

/// The place in a list where the next page begins; opaque to whoever holds it. None: the first page, or no further one.
pub type Cursor = Option<i64>;

#[derive(Clone, Debug)]
pub struct Page<T> {
    pub rows: Vec<T>,
    pub next: Cursor,
}

#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Part of a name, tag or tenant, whatever the case.
    pub text: Option<String>,
    pub paused: Option<bool>,
    pub tag: Option<String>,
}

/// A job with what its row shows.
#[derive(Clone, Debug)]
pub struct JobSummary {
    pub job: Job,
    /// State, due time and id of the last instances, newest first, at most twelve.
    pub last: Vec<(InstanceState, Timestamp, InstanceId)>,
}

/// An executor by its name in its group, whatever life it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorName {
    pub group: String,
    pub name: String,
}

#[derive(Clone, Debug, Default)]
pub struct InstanceFilter {
    pub job: Option<JobId>,
    pub states: Vec<InstanceState>,
    /// With a task in one of these states.
    pub task_states: Vec<TaskState>,
    /// With a task that this executor has, or had last.
    pub executor: Option<ExecutorName>,
    pub due_from: Option<Timestamp>,
    pub due_until: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
pub struct TaskFilter {
    /// One of these; none: any.
    pub states: Vec<TaskState>,
    /// That this executor has, or had last.
    pub executor: Option<ExecutorName>,
}

/// An instance with what its row shows.
#[derive(Clone, Debug)]
pub struct InstanceSummary {
    pub instance: Instance,
    pub job_name: String,
    /// Of one that is cut into shards none are named: they may be a hundred thousand.
    pub tasks: Vec<(TaskId, TaskState, u32)>,
    /// Where it is cut into shards, how far it is.
    pub sharded: Option<ShardRun>,
}

/// Where a shard stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardMark {
    pub level: u32,
    pub shard: u32,
    pub state: TaskState,
    /// Items of which the outcome was reported.
    pub done: u64,
}

/// What has changed of the shards of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardNews {
    /// As they are now, each once; in no order.
    pub marks: Vec<ShardMark>,
    /// The place in the history of all tasks up to which it looked …
    pub through: i64,
    /// … and whether there is more behind it.
    pub more: bool,
}

/// A step of a task as the history has it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    pub at: Timestamp,
    pub from: TaskState,
    pub to: TaskState,
    pub attempt: u32,
    pub executor: Option<String>,
    /// The node that wrote it.
    pub node: String,
    pub reason: Option<Words>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub succeeded: u64,
    pub failed: u64,
}

#[async_trait]
pub trait Archive: Send + Sync {
    /// In the order of names, whatever the case.
    async fn job_page(&self, filter: &JobFilter, cursor: Cursor, limit: usize) -> Result<Page<JobSummary>>;

    /// How many jobs match, counted up to `most` (a number at `most` means 'that many or more').
    async fn job_count(&self, filter: &JobFilter, most: u64) -> Result<u64>;

    /// Newest first.
    async fn versions(&self, job: JobId) -> Result<Vec<JobVersion>>;

    /// Newest first: by the order in which they were made or, where a range of due times narrows it and no job does, by
    /// due time.
    async fn instance_page(
        &self,
        filter: &InstanceFilter,
        cursor: Cursor,
        limit: usize,
    ) -> Result<Page<InstanceSummary>>;

    async fn instance_summary(&self, id: InstanceId) -> Result<Option<InstanceSummary>>;

    /// The steps of these tasks, of each the oldest first; who has taken none is left out.
    async fn histories(&self, of: &[TaskId]) -> Result<HashMap<TaskId, Vec<HistoryEntry>>>;

    /// The steps of one, oldest first.
    async fn history(&self, task: TaskId) -> Result<Vec<HistoryEntry>> {
        Ok(self.histories(&[task]).await?.remove(&task).unwrap_or_default())
    }

    /// Newest first.
    async fn task_page(&self, filter: &TaskFilter, cursor: Cursor, limit: usize) -> Result<Page<Task>>;

    /// Where the shards of a run stand, in order of level and shard; `limit` bounds the rows that are read for a page.
    async fn shard_page(&self, instance: InstanceId, cursor: Cursor, limit: usize) -> Result<Page<ShardMark>>;

    /// Shards of a run that have moved since that place in the history of all tasks, and those that run: of them
    /// reports come that move nothing. `limit` bounds the moves that are read. Some that moved shortly before may be
    /// named again: where several write at once a lower place may be filled after a higher one.
    async fn shard_news(&self, instance: InstanceId, since: i64, limit: usize) -> Result<ShardNews>;

    /// The last place in the history of all tasks.
    async fn last_move(&self) -> Result<i64>;

    /// One shard; `first` is the first of its level.
    async fn shard(&self, instance: InstanceId, first: TaskId, level: u32, shard: u32) -> Result<Option<Task>>;

    /// Firings that did not happen, latest first, at most `limit`; of one job or of all, since `since`.
    async fn omissions(&self, job: Option<JobId>, since: Timestamp, limit: usize) -> Result<Vec<Omission>>;

    /// What people were asked since `since`, newest first, at most `limit`.
    async fn questions(&self, since: Timestamp, limit: usize) -> Result<Vec<Question>>;

    /// Newest first, at most `limit`; of one job or of all.
    async fn backfills(&self, job: Option<JobId>, limit: usize) -> Result<Vec<Backfill>>;

    /// Worst and latest first.
    async fn alarm_page(&self, states: &[AlarmState], cursor: Cursor, limit: usize) -> Result<Page<Alarm>>;

    /// Newest first.
    async fn audit_page(&self, cursor: Cursor, limit: usize) -> Result<Page<AuditEntry>>;

    /// Instances that ended in [since, until), by outcome.
    async fn outcomes(&self, since: Timestamp, until: Timestamp) -> Result<OutcomeCounts>;

    /// Instances due in [from, until) with their state, earliest first, at most `limit`: what the calendar paints as past.
    async fn fired(&self, from: Timestamp, until: Timestamp, limit: usize) -> Result<Vec<InstanceSummary>>;

    /// Grows whenever anyone, this program or another, has written.
    async fn change_count(&self) -> Result<u64>;
}
