//! Executors, as the leading node writes them down for everyone else.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_store::{ExecutorStore, Lead, Result, Taken};

use crate::MysqlStore;
use crate::connection::{Write, sql};
use crate::rows::{Columns, maybe_written, written};
use crate::values::row;

#[async_trait]
impl ExecutorStore for MysqlStore {
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()> {
        let values = seen
            .iter()
            .map(|entry| Ok(row![&entry.executor.group, &entry.executor.name, written(entry)?, entry.gone_at]))
            .collect::<Result<Vec<_>>>()?;
        let values = &values;
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let tail = "ON DUPLICATE KEY UPDATE seen = VALUES(seen), gone_at = VALUES(gone_at)";
            write.insert("INSERT INTO executors (grp, name, seen, gone_at)", values, tail).await?;
            write.execute(sql("DELETE FROM executors WHERE gone_at < ?").bind(forget_before.millis())).await?;
            write.commit().await
        })
        .await
    }

    async fn executors(&self) -> Result<Vec<(ExecutorEntry, Option<Drain>)>> {
        let rows = self.read().await?.rows(sql("SELECT seen, drain FROM executors ORDER BY grp, name")).await?;
        rows.iter().map(|row| Ok((row.json("seen")?, row.maybe_json("drain")?))).collect()
    }
}

impl Write {
    pub(crate) async fn drain_executor(&mut self, group: &str, name: &str, drain: Option<&Drain>) -> Result<Taken> {
        let changed = self
            .execute(
                sql("UPDATE executors SET drain = ? WHERE grp = ? AND name = ?")
                    .bind(maybe_written(drain)?)
                    .bind(group.as_bytes().to_vec())
                    .bind(name.as_bytes().to_vec()),
            )
            .await?;
        Ok(if changed == 0 { Taken::Lost } else { Taken::Done })
    }
}
