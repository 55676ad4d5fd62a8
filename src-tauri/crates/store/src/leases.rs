//! Leases: who leads, and since which term.

use async_trait::async_trait;
use campanile_model::Timestamp;

use crate::Result;

/// A lease as its holder shows it with every write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    pub lease: String,
    pub holder: String,
    /// Given by the store; grows whenever the lease changes hands.
    pub term: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub lead: Lead,
    pub until: Timestamp,
}

#[async_trait]
pub trait LeaseStore: Send + Sync {
    /// Takes the lease until `until` where it is free, released or at its end by `now`. None: someone else has it.
    /// Its holder asking again gets the same term only while it still has it; otherwise a new one.
    ///
    /// Of two that ask at once, one gets it.
    async fn take_lease(&self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<Option<Lead>>;

    /// Extends a lease that is still ours (same term, also where it has run out and nobody took it).
    /// False: it has passed to someone else, or was released.
    async fn keep_lease(&self, lead: &Lead, until: Timestamp) -> Result<bool>;

    /// Gives it up at once; nothing is written under its term any more. Nothing happens where it is no longer ours.
    async fn release_lease(&self, lead: &Lead) -> Result<()>;

    /// Who has it, or had it last (an `until` in the past, zero after a release).
    async fn lease(&self, lease: &str) -> Result<Option<LeaseRow>>;
}
