//! Where the lines go that tasks write: files, not rows.

use async_trait::async_trait;
use campanile_model::{Fault, TaskId, Timestamp};
use campanile_store::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStream {
    Stdout,
    Stderr,
    /// What the processor itself says.
    Log,
}

impl LogStream {
    pub const ALL: [LogStream; 3] = [LogStream::Stdout, LogStream::Stderr, LogStream::Log];

    pub fn named(name: &str) -> Option<LogStream> {
        LogStream::ALL.into_iter().find(|stream| stream.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            LogStream::Stdout => "stdout",
            LogStream::Stderr => "stderr",
            LogStream::Log => "log",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub at: Timestamp,
    pub stream: LogStream,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    pub lines: Vec<LogLine>,
    /// Where each line begins.
    pub starts: Vec<u64>,
    /// Where the next page begins.
    pub next: u64,
    /// Nothing more is there now.
    pub at_end: bool,
}

#[async_trait]
pub trait Logs: Send + Sync {
    /// Adds lines to the log of one attempt. What cannot be written is counted and said in the log as soon as it can.
    async fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]);

    /// An executor has come with these attempts under way: what is added from now on follows all that was written of them
    /// until then, at whichever node.
    async fn take_up(&self, attempts: &[(TaskId, u32)]) -> Result<(), StoreError> {
        let _ = attempts;
        Ok(())
    }

    /// Lines from `from` on (a place that an earlier page gave, 0 for the beginning, negative for so many bytes from
    /// the end), at most `limit`. A log that does not exist is empty.
    async fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> Result<LogPage, Fault>;

    /// Attempts of the task that have a log.
    async fn attempts(&self, task: TaskId) -> Result<Vec<u32>, Fault>;

    /// The logs of these tasks go.
    async fn remove(&self, tasks: &[TaskId]);

    /// Files last written before `before` go, and the oldest ones beyond `most_bytes`.
    async fn purge(&self, before: Timestamp, most_bytes: u64);
}
