//! Who keeps which part of a log, in memory.

use async_trait::async_trait;
use campanile_model::TaskId;
use campanile_store::{LogPart, LogStore, Result};

use super::MemoryStore;

#[async_trait]
impl LogStore for MemoryStore {
    async fn note_log_parts(&self, parts: &[LogPart]) -> Result<()> {
        self.write("note_log_parts", |stored| {
            for part in parts {
                stored.log_parts.entry((part.task, part.attempt, part.part)).or_insert_with(|| part.clone());
            }
            Ok(())
        })
        .await
    }

    async fn log_parts(&self, tasks: &[TaskId]) -> Result<Vec<LogPart>> {
        let of = |part: &&LogPart| tasks.contains(&part.task);
        self.read("log_parts", |stored| stored.log_parts.values().filter(of).cloned().collect()).await
    }
}
