//! Logs that a test can look into. Nothing is lost and nothing is cut.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use campanile_engine::logs::{LogLine, LogPage, Logs};
use campanile_model::{Fault, TaskId, Timestamp};

/// By task and attempt. An offset is the number of a line.
#[derive(Default)]
pub struct MemoryLogs(Mutex<BTreeMap<(TaskId, u32), Vec<LogLine>>>);

impl MemoryLogs {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<(TaskId, u32), Vec<LogLine>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tasks of which there is anything.
    pub fn tasks(&self) -> Vec<TaskId> {
        let mut tasks: Vec<TaskId> = self.kept().keys().map(|(task, _)| *task).collect();
        tasks.dedup();
        tasks
    }

    pub fn text(&self, task: TaskId, attempt: u32) -> String {
        let kept = self.kept();
        let lines = kept.get(&(task, attempt)).into_iter().flatten();
        lines.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

#[async_trait]
impl Logs for MemoryLogs {
    async fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]) {
        self.kept().entry((task, attempt)).or_default().extend_from_slice(lines);
    }

    async fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> Result<LogPage, Fault> {
        let kept = self.kept();
        let lines = kept.get(&(task, attempt)).map(Vec::as_slice).unwrap_or_default();
        let from = usize::try_from(from).unwrap_or(0).min(lines.len());
        let until = from.saturating_add(limit).min(lines.len());
        Ok(LogPage {
            lines: lines[from..until].to_vec(),
            starts: (from as u64..until as u64).collect(),
            next: until as u64,
            at_end: until == lines.len(),
        })
    }

    async fn attempts(&self, task: TaskId) -> Result<Vec<u32>, Fault> {
        Ok(self.kept().keys().filter(|(of, _)| *of == task).map(|(_, attempt)| *attempt).collect())
    }

    async fn remove(&self, tasks: &[TaskId]) {
        self.kept().retain(|(task, _), _| !tasks.contains(task));
    }

    async fn purge(&self, before: Timestamp, _most_bytes: u64) {
        self.kept().retain(|_, lines| lines.last().is_some_and(|line| line.at >= before));
    }
}
