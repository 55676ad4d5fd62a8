//! Settings of the whole installation, by key. They are written by the clerk.

use async_trait::async_trait;
use serde_json::Value;

use crate::Result;

#[async_trait]
pub trait SettingStore: Send + Sync {
    async fn setting(&self, key: &str) -> Result<Option<Value>>;

    async fn settings(&self) -> Result<Vec<(String, Value)>>;
}
