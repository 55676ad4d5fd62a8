//! The nodes of a team, as each writes itself down for the others and for people.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::node::NodeEntry;

use crate::{Lead, Result};

#[async_trait]
pub trait NodeStore: Send + Sync {
    /// Writes it over what the same life of a node said before. Those that were last seen before `forget_before` go.
    async fn put_node(&self, lead: &Lead, entry: &NodeEntry, forget_before: Timestamp) -> Result<()>;

    /// It has left in good order.
    async fn remove_node(&self, lead: &Lead, node: &str) -> Result<()>;

    /// By the names of their lives.
    async fn nodes(&self) -> Result<Vec<NodeEntry>>;
}
