//! Firings that no clock plans: after the end of other jobs, of the past, and those that a person is asked about.

use async_trait::async_trait;
use campanile_model::backfill::Backfill;
use campanile_model::chain::Ending;
use campanile_model::instance::{Instance, InstanceMove, Omission};
use campanile_model::job::Job;
use campanile_model::question::Question;
use campanile_model::task::Incident;
use campanile_model::{JobId, Partitions, RequestId, Timestamp};

use crate::{Launched, Lead, Result};

/// What brought it about; it is used up, or moved on, with what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// All of them must still be in the queue: those used leave it, those kept are marked and stay.
    Endings { used: Vec<i64>, kept: Vec<i64> },
    /// It must still be open, at `seen_through`.
    Backfill { id: RequestId, seen_through: Timestamp, through: Timestamp, done_at: Option<Timestamp> },
}

/// What one pass decided about one job beside its clock, written in one transaction.
#[derive(Clone, Debug)]
pub struct Unplanned {
    pub job: JobId,
    /// The job must still be at this version.
    pub version: u32,
    pub cause: Cause,
    pub instances: Vec<Instance>,
    /// Instances without tasks that are no longer worth doing; one that has some by now is left as it is.
    pub supersedes: Vec<InstanceMove>,
    pub omissions: Vec<Omission>,
    /// What a person is to be asked.
    pub questions: Vec<Question>,
    pub incidents: Vec<Incident>,
}

#[async_trait]
pub trait UnplannedStore: Send + Sync {
    /// Jobs whose present version runs after the job of this name; in the order of their ids.
    async fn downstream(&self, upstream: &str) -> Result<Vec<Job>>;

    /// The ends that nobody has looked at, for jobs of these partitions, oldest first, at most `limit`, and before them those that the same jobs
    /// keep. Wherever an instance ends (but is not superseded), its end is written for each job whose versions run after
    /// its job, in the same transaction: neither can be without the other.
    async fn endings(&self, of: Partitions, limit: usize) -> Result<Vec<Ending>>;

    /// Writes each wholly or not at all, as `launch` does; Stale where the job or the cause is not as it was seen. A
    /// firing is made once.
    async fn launch_unplanned(&self, lead: &Lead, unplanned: &[Unplanned]) -> Result<Vec<Launched>>;

    /// Those that are not at their end and whose job is there, in one of these partitions, oldest first, at most `limit`.
    async fn open_backfills(&self, of: Partitions, limit: usize) -> Result<Vec<Backfill>>;

    /// Those without an answer, the one that runs out first before the others, at most `limit`.
    async fn open_questions(&self, limit: usize) -> Result<Vec<Question>>;

    /// Those whose time has come by `now` end without a person, at most `limit`; how many.
    async fn end_questions(&self, lead: &Lead, now: Timestamp, limit: usize) -> Result<u64>;
}
