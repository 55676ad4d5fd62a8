//! Executors, as the leading node writes them down for everyone else.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};

use crate::{Lead, Result};

#[async_trait]
pub trait ExecutorStore: Send + Sync {
    /// Writes each over what stood under its group and name; what drains it stays. Those that were gone before
    /// `forget_before` go, with what drained them.
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()>;

    /// By group and name, with what drains each.
    async fn executors(&self) -> Result<Vec<(ExecutorEntry, Option<Drain>)>>;
}
