//! Jobs and what the ledger knows of them. Jobs are written by the clerk (`requests`) and moved on by `launch`.

use async_trait::async_trait;
use campanile_model::instance::{Omission, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::ledger::LedgerSpan;
use campanile_model::{InstanceId, JobId, Partitions, Timestamp};

use crate::Result;

/// An instance as the ledger sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeInstance {
    pub id: InstanceId,
    pub origin: Origin,
    pub key: String,
    pub planned: Timestamp,
    pub due: Timestamp,
}

/// What the ledger check reads of one job, from its purge mark on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerExtract {
    /// The purge mark: instances due up to here may be gone, and a span that began before it tells of some that are.
    pub purged_through: Option<Timestamp>,
    /// In the order of time.
    pub spans: Vec<LedgerSpan>,
    /// Of origin schedule and added, due after the purge mark, in the order of due time.
    pub made: Vec<MadeInstance>,
    pub omissions: Vec<Omission>,
}

#[async_trait]
pub trait JobStore: Send + Sync {
    /// Jobs of these partitions with `next_due <= now`, earliest first, at most `limit`. Paused ones too: what they do
    /// not fire is recorded.
    async fn due_jobs(&self, of: Partitions, now: Timestamp, limit: usize) -> Result<Vec<Job>>;

    /// The earliest `next_due` of all jobs of these partitions.
    async fn earliest_due(&self, of: Partitions) -> Result<Option<Timestamp>>;

    /// Jobs of these partitions that wait for an instance to end before they know their next time (`fixedDelay`, no `next_due`, no
    /// instance that is not final), at most `limit`.
    async fn idle_fixed_delay_jobs(&self, of: Partitions, limit: usize) -> Result<Vec<Job>>;

    /// Those of `ids` that exist and were not removed; in any order.
    async fn jobs(&self, ids: &[JobId]) -> Result<Vec<Job>>;

    async fn job_named(&self, name: &str) -> Result<Option<Job>>;

    /// The job in the form it had in a version; also of a removed job.
    async fn job_version(&self, job: JobId, version: u32) -> Result<Option<JobVersion>>;

    /// Those of these versions that there are, of removed jobs too; in any order.
    async fn job_versions(&self, of: &[(JobId, u32)]) -> Result<Vec<JobVersion>>;

    /// Jobs in the order of their ids, after `after`, at most `limit`; removed ones left out.
    async fn jobs_after(&self, after: Option<JobId>, limit: usize) -> Result<Vec<Job>>;

    async fn ledger_extract(&self, job: JobId) -> Result<LedgerExtract>;
}
