//! Executors, as the nodes that hold their streams write them down for everyone else.

use std::collections::BTreeMap;

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_store::{ExecutorStore, Lead, Result, Taken, may_replace};

use crate::MysqlStore;
use crate::connection::{Write, composed, sql};
use crate::rows::{Columns, maybe_written, written};
use crate::values::{Cell, list, row};

#[async_trait]
impl ExecutorStore for MysqlStore {
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let replaced = write.executors_said_gone(seen).await?;
            let values = seen
                .iter()
                .filter(|entry| replaced.get(&name_of(entry)).is_none_or(|stored| may_replace(entry, stored)))
                .map(|entry| Ok(row![&entry.executor.group, &entry.executor.name, written(entry)?, entry.gone_at]))
                .collect::<Result<Vec<_>>>()?;
            let tail = "ON DUPLICATE KEY UPDATE seen = VALUES(seen), gone_at = VALUES(gone_at)";
            write.insert("INSERT INTO executors (grp, name, seen, gone_at)", &values, tail).await?;
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

fn name_of(entry: &ExecutorEntry) -> (String, String) {
    (entry.executor.group.clone(), entry.executor.name.clone())
}

impl Write {
    /// What stands where those are to be written that say they are gone; nobody else writes it meanwhile.
    async fn executors_said_gone(
        &mut self,
        seen: &[ExecutorEntry],
    ) -> Result<BTreeMap<(String, String), ExecutorEntry>> {
        let gone = seen.iter().filter(|entry| entry.gone_at.is_some());
        let text = |text: &str| list([Cell::Bytes(text.as_bytes().to_vec())]);
        let named: Vec<String> = gone
            .map(|entry| format!("(grp = {} AND name = {})", text(&entry.executor.group), text(&entry.executor.name)))
            .collect();
        if named.is_empty() {
            return Ok(BTreeMap::new());
        }
        let text = format!("SELECT seen FROM executors WHERE {} FOR UPDATE", named.join(" OR "));
        let stored = self.rows(composed(text)).await?;
        let stored = stored.iter().map(|row| row.json::<ExecutorEntry>("seen"));
        stored.map(|entry| entry.map(|entry| (name_of(&entry), entry))).collect()
    }

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
