//! Settings, by key.

use async_trait::async_trait;
use campanile_store::{Result, SettingStore};
use serde_json::Value;

use crate::MysqlStore;
use crate::connection::sql;
use crate::rows::Columns;

#[async_trait]
impl SettingStore for MysqlStore {
    async fn setting(&self, key: &str) -> Result<Option<Value>> {
        let setting = sql("SELECT value FROM settings WHERE name = ?").bind(key.as_bytes().to_vec());
        let row = self.read().await?.row(setting).await?;
        row.map(|row| row.json("value")).transpose()
    }

    async fn settings(&self) -> Result<Vec<(String, Value)>> {
        let rows = self.read().await?.rows(sql("SELECT name, value FROM settings ORDER BY name")).await?;
        rows.iter().map(|row| Ok((row.text("name")?, row.json("value")?))).collect()
    }
}
