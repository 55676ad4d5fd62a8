//! Settings, by key.

use async_trait::async_trait;
use campanile_store::{Result, SettingStore};
use serde_json::Value;

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::Columns;

#[async_trait]
impl SettingStore for SqliteStore {
    async fn setting(&self, key: &str) -> Result<Option<Value>> {
        let row = self.read().await?.row(sql("SELECT value FROM settings WHERE key = ?").bind(key.to_owned())).await?;
        row.map(|row| row.json("value")).transpose()
    }

    async fn settings(&self) -> Result<Vec<(String, Value)>> {
        let rows = self.read().await?.rows(sql("SELECT key, value FROM settings ORDER BY key")).await?;
        rows.iter().map(|row| Ok((row.text("key")?, row.json("value")?))).collect()
    }
}
