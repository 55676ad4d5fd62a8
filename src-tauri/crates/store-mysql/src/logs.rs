//! Who keeps which part of a log.
//!
//! Each verb is one statement that is a transaction by itself, on a connection for reading: it is no change that consoles
//! must hear of.

use async_trait::async_trait;
use campanile_model::TaskId;
use campanile_store::{LogPart, LogStore, Result};

use crate::MysqlStore;
use crate::connection::composed;
use crate::rows::{self, Columns};
use crate::values::{Cell, Row, id, ids, row};

#[async_trait]
impl LogStore for MysqlStore {
    async fn note_log_parts(&self, parts: &[LogPart]) -> Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let mut parts: Vec<&LogPart> = parts.iter().collect();
        // Nodes that note the same ones at once come to them in one order.
        parts.sort_by_key(|part| (part.task, part.attempt, part.part));
        let keeper = |part: &LogPart| Cell::Bytes(part.keeper.as_bytes().to_vec());
        let noted: Vec<Row> =
            parts.iter().map(|part| row![id(part.task), part.attempt, part.part, keeper(part), part.since]).collect();
        let noted = &noted;
        self.again(|| async move {
            let head = "INSERT INTO log_parts (task, attempt, part, keeper, since)";
            self.read().await?.insert(head, noted, "ON DUPLICATE KEY UPDATE keeper = keeper").await
        })
        .await
    }

    async fn log_parts(&self, tasks: &[TaskId]) -> Result<Vec<LogPart>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!(
            "SELECT task, attempt, part, keeper, since FROM log_parts FORCE INDEX (PRIMARY) WHERE task IN ({})
             ORDER BY task, attempt, part",
            ids(tasks.iter().copied())
        );
        rows::all(&self.read().await?.rows(composed(text)).await?, |row| {
            Ok(LogPart {
                task: row.id("task")?,
                attempt: row.small("attempt")?,
                part: row.small("part")?,
                keeper: String::from_utf8_lossy(&row.maybe_blob("keeper")?.unwrap_or_default()).into_owned(),
                since: row.time("since")?,
            })
        })
    }
}
