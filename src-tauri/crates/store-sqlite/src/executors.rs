//! Executors, as the nodes that hold their streams write them down for everyone else.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_store::{ExecutorStore, Lead, Result, Taken, may_replace};
use serde_json::json;

use crate::SqliteStore;
use crate::connection::{Write, sql};
use crate::rows::{Columns, batch, maybe_written, written};

#[async_trait]
impl ExecutorStore for SqliteStore {
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()> {
        let mut write = self.write_as(lead).await?;
        let mut values = Vec::with_capacity(seen.len());
        for entry in seen {
            if entry.gone_at.is_none() || write.is_as_seen(entry).await? {
                values.push(json!([entry.executor.group, entry.executor.name, written(entry)?, entry.gone_at]));
            }
        }
        if !values.is_empty() {
            write
                .execute(
                    sql("INSERT INTO executors (grp, name, seen, gone_at)
                         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?) WHERE true
                         ON CONFLICT (grp, name) DO UPDATE SET seen = excluded.seen, gone_at = excluded.gone_at")
                    .bind(batch(values)),
                )
                .await?;
        }
        write.execute(sql("DELETE FROM executors WHERE gone_at < ?").bind(forget_before.millis())).await?;
        write.commit().await
    }

    async fn executors(&self) -> Result<Vec<(ExecutorEntry, Option<Drain>)>> {
        let rows = self.read().await?.rows(sql("SELECT seen, drain FROM executors ORDER BY grp, name")).await?;
        rows.iter().map(|row| Ok((row.json("seen")?, row.maybe_json("drain")?))).collect()
    }
}

impl Write {
    /// Nobody stands where it is to be written, or whom it may replace.
    async fn is_as_seen(&mut self, entry: &ExecutorEntry) -> Result<bool> {
        let stored = self
            .row(
                sql("SELECT seen FROM executors WHERE grp = ? AND name = ?")
                    .bind(entry.executor.group.clone())
                    .bind(entry.executor.name.clone()),
            )
            .await?;
        Ok(match stored {
            Some(row) => may_replace(entry, &row.json("seen")?),
            None => true,
        })
    }

    pub(crate) async fn drain_executor(&mut self, group: &str, name: &str, drain: Option<&Drain>) -> Result<Taken> {
        let changed = self
            .execute(
                sql("UPDATE executors SET drain = ? WHERE grp = ? AND name = ?")
                    .bind(maybe_written(drain)?)
                    .bind(group.to_owned())
                    .bind(name.to_owned()),
            )
            .await?;
        Ok(if changed == 0 { Taken::Lost } else { Taken::Done })
    }
}
