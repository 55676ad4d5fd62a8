//! The nodes of a team, a row for each life.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::node::NodeEntry;
use campanile_store::{Lead, NodeStore, Result};

use crate::MysqlStore;
use crate::connection::sql;
use crate::rows::{Columns, written};

#[async_trait]
impl NodeStore for MysqlStore {
    async fn put_node(&self, lead: &Lead, entry: &NodeEntry, forget_before: Timestamp) -> Result<()> {
        let text = written(entry)?;
        let text = &text;
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            write
                .execute(
                    sql("INSERT INTO nodes (node, seen_at, entry) VALUES (?, ?, ?)
                         ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at), entry = VALUES(entry)")
                    .bind(entry.node.as_bytes().to_vec())
                    .bind(entry.seen_at.millis())
                    .bind(text.clone()),
                )
                .await?;
            write.execute(sql("DELETE FROM nodes WHERE seen_at < ?").bind(forget_before.millis())).await?;
            write.commit().await
        })
        .await
    }

    async fn remove_node(&self, lead: &Lead, node: &str) -> Result<()> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            write.execute(sql("DELETE FROM nodes WHERE node = ?").bind(node.as_bytes().to_vec())).await?;
            write.commit().await
        })
        .await
    }

    async fn nodes(&self) -> Result<Vec<NodeEntry>> {
        let rows = self.read().await?.rows(sql("SELECT entry FROM nodes ORDER BY node")).await?;
        rows.iter().map(|row| row.json("entry")).collect()
    }
}
