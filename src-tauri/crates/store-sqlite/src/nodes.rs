//! The nodes of a team, a row for each life.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::node::NodeEntry;
use campanile_store::{Lead, NodeStore, Result};

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::{Columns, written};

#[async_trait]
impl NodeStore for SqliteStore {
    async fn put_node(&self, lead: &Lead, entry: &NodeEntry, forget_before: Timestamp) -> Result<()> {
        let mut write = self.write_as(lead).await?;
        write
            .execute(
                sql("INSERT INTO nodes (node, seen_at, entry) VALUES (?, ?, ?)
                     ON CONFLICT (node) DO UPDATE SET seen_at = excluded.seen_at, entry = excluded.entry")
                .bind(entry.node.clone())
                .bind(entry.seen_at.millis())
                .bind(written(entry)?),
            )
            .await?;
        write.execute(sql("DELETE FROM nodes WHERE seen_at < ?").bind(forget_before.millis())).await?;
        write.commit().await
    }

    async fn remove_node(&self, lead: &Lead, node: &str) -> Result<()> {
        let mut write = self.write_as(lead).await?;
        write.execute(sql("DELETE FROM nodes WHERE node = ?").bind(node.to_owned())).await?;
        write.commit().await
    }

    async fn nodes(&self) -> Result<Vec<NodeEntry>> {
        let rows = self.read().await?.rows(sql("SELECT entry FROM nodes ORDER BY node")).await?;
        rows.iter().map(|row| row.json("entry")).collect()
    }
}
