//! The two seams of every store call: before its effect and after it.
//!
//! A hook may let (virtual) time pass at either seam, and may fail: before the effect with
//! 'unavailable', so that nothing is written, or after it with 'unknown', so that something is. Each
//! seam is an await of its own, so that a node can die between a write and the news of it.

use async_trait::async_trait;
use campanile_store::Result;

/// A call of the store, as a fault hook sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    pub name: &'static str,
    pub writes: bool,
}

#[async_trait]
pub trait Faults: Send + Sync {
    /// An error here means that nothing was read or written.
    async fn before(&self, op: Op) -> Result<()>;

    /// An error here means that what was to be written has been.
    async fn after(&self, op: Op) -> Result<()>;
}

/// A store that always answers, at once.
pub struct NoFaults;

#[async_trait]
impl Faults for NoFaults {
    async fn before(&self, _op: Op) -> Result<()> {
        Ok(())
    }

    async fn after(&self, _op: Op) -> Result<()> {
        Ok(())
    }
}
