//! Retention: what is old goes, in small steps.

use std::time::Duration;

use async_trait::async_trait;
use campanile_model::{TaskId, Timestamp};

use crate::{Lead, Result};

/// What may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// Questions and backfills that were asked before this and are at their end; final instances that ended before it,
    /// with their tasks and history …
    pub instances_before: Timestamp,
    /// … and those of a job beyond this many newer ones.
    pub keep_per_job: u32,
    pub requests_before: Timestamp,
    pub incidents_before: Timestamp,
    pub alarms_before: Timestamp,
    /// Staged data that was written last before this, and that no run waits for.
    pub staged_before: Timestamp,
    /// Passes that ran out before this.
    pub passes_before: Timestamp,
    /// At most this many rows of a kind in one step.
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    pub instances: u64,
    pub others: u64,
    /// Tasks that are gone, so that their logs can go too.
    pub tasks: Vec<TaskId>,
}

/// Omissions are known by planned times, and the mark is a due time. So far apart may the two lie that an omission can
/// still be the reason of a time that was due after the mark.
pub const OMISSIONS_OUTLIVE: Duration = Duration::from_secs(32 * 86_400);

#[async_trait]
pub trait UpkeepStore: Send + Sync {
    /// One small step. Where an instance of the schedule goes, the job's purge mark moves to its due time; spans that end
    /// before the mark go with it, and omissions that end `OMISSIONS_OUTLIVE` before it. The ledger begins at the mark: a
    /// span that it falls into stays as it is. Open alarms, unanswered requests and incidents that the alerter has not
    /// read stay, however old. Nothing to do: all zeros.
    async fn purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged>;
}
