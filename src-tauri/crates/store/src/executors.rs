//! Executors, as the nodes that hold their streams write them down for everyone else.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};

use crate::{Lead, Result};

#[async_trait]
pub trait ExecutorStore: Send + Sync {
    /// Writes each over what stood under its group and name; what drains it stays. One that says it is gone is written
    /// only over the same life at the same node: who has moved, or come back, is not gone. Those that were gone before
    /// `forget_before` go, with what drained them.
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()>;

    /// By group and name, with what drains each.
    async fn executors(&self) -> Result<Vec<(ExecutorEntry, Option<Drain>)>>;
}

/// Whether what is to be written may stand where `stored` does.
pub fn may_replace(seen: &ExecutorEntry, stored: &ExecutorEntry) -> bool {
    seen.gone_at.is_none() || (seen.executor.boot == stored.executor.boot && seen.node == stored.node)
}
