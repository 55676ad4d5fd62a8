//! Passes: who is let in at a node's API for a short while.

use async_trait::async_trait;
use campanile_model::pass::Pass;

use crate::{Lead, Result};

#[async_trait]
pub trait PassStore: Send + Sync {
    /// A node's own, written over what stands under its digest. People's are written by the clerk
    /// ([`Change::PutPass`](crate::Change::PutPass)).
    async fn put_pass(&self, lead: &Lead, pass: &Pass) -> Result<()>;

    /// As it was given or renewed last. One that has run out is handed back, too, until it is swept away.
    async fn pass(&self, digest: &str) -> Result<Option<Pass>>;
}
