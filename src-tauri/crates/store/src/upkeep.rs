//! Retention: what is old goes, in small steps.

use async_trait::async_trait;
use campanile_model::{TaskId, Timestamp};

use crate::{Lead, Result};

/// What may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// Final instances that ended before this, with their tasks and history …
    pub instances_before: Timestamp,
    /// … and those of a job beyond this many newer ones.
    pub keep_per_job: u32,
    pub requests_before: Timestamp,
    pub incidents_before: Timestamp,
    pub alarms_before: Timestamp,
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

#[async_trait]
pub trait UpkeepStore: Send + Sync {
    /// One small step. Where an instance of the schedule goes, the job's purge mark moves to its due time, spans before
    /// the mark and omissions planned before that instance go with it, and the ledger begins there: a span that the mark
    /// falls into begins at it and counts only what comes after. Open alarms, unanswered requests and incidents that the
    /// alerter has not read stay, however old. Nothing to do: all zeros.
    async fn purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged>;
}
