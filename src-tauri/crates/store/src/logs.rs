//! Who keeps which part of a log. The lines themselves are files of the nodes that heard them.

use async_trait::async_trait;
use campanile_model::{TaskId, Timestamp};

use crate::Result;

/// What one node wrote of an attempt in one go: until the attempt ended, or its executor went to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    pub task: TaskId,
    pub attempt: u32,
    /// In the order in which they were begun.
    pub part: u32,
    /// Who has the lines: a node, through all its lives.
    pub keeper: String,
    /// When its first line came.
    pub since: Timestamp,
}

#[async_trait]
pub trait LogStore: Send + Sync {
    /// Notes who keeps these parts. Of two that note the same part the first one stays; so does what was noted before.
    /// It is a node's word about itself: it needs no lease, and does not count as a change.
    async fn note_log_parts(&self, parts: &[LogPart]) -> Result<()>;

    /// The parts of the logs of these tasks, in order of task, attempt and part. They go with their task.
    async fn log_parts(&self, tasks: &[TaskId]) -> Result<Vec<LogPart>>;
}
