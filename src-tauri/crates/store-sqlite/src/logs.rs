//! Who keeps which part of a log.

use async_trait::async_trait;
use campanile_model::TaskId;
use campanile_store::{LogPart, LogStore, Result};
use serde_json::Value;

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::{self, Columns, Hex, Id};

#[async_trait]
impl LogStore for SqliteStore {
    async fn note_log_parts(&self, parts: &[LogPart]) -> Result<()> {
        let mut write = self.write().await?;
        for part in parts {
            write
                .execute(
                    sql("INSERT INTO log_parts (task, attempt, part, keeper, since) VALUES (?, ?, ?, ?, ?)
                         ON CONFLICT DO NOTHING")
                    .bind(part.task.blob())
                    .bind(i64::from(part.attempt))
                    .bind(i64::from(part.part))
                    .bind(part.keeper.clone())
                    .bind(part.since.millis()),
                )
                .await?;
        }
        write.commit().await
    }

    async fn log_parts(&self, tasks: &[TaskId]) -> Result<Vec<LogPart>> {
        let ids: Vec<String> = tasks.iter().map(|task| task.hex()).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT task, attempt, part, keeper, since FROM log_parts
                     WHERE task IN (SELECT unhex(value) FROM json_each(?)) ORDER BY task, attempt, part")
                .bind(Value::from(ids).to_string()),
            )
            .await?;
        rows::all(&found, |row| {
            Ok(LogPart {
                task: row.id("task")?,
                attempt: row.small("attempt")?,
                part: row.small("part")?,
                keeper: row.text("keeper")?,
                since: row.time("since")?,
            })
        })
    }
}
