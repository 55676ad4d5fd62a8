//! Instances: launching them, and giving them their tasks.

use async_trait::async_trait;
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Omission, Origin};
use campanile_model::ledger::LedgerSpan;
use campanile_model::question::Question;
use campanile_model::task::{Incident, Task};
use campanile_model::{Failure, InstanceId, JobId, Partitions, Timestamp};

use crate::{Lead, Result};

/// What one pass decided about one job, written in one transaction.
#[derive(Clone, Debug)]
pub struct Launch {
    pub job: JobId,
    /// The job must still be at this version …
    pub version: u32,
    /// … and have fired through here.
    pub seen_through: Timestamp,
    pub instances: Vec<Instance>,
    /// Instances without tasks that are no longer worth doing; one that has some by now is left as it is.
    pub supersedes: Vec<InstanceMove>,
    pub omissions: Vec<Omission>,
    /// What a person is to be asked.
    pub questions: Vec<Question>,
    pub span: LedgerSpan,
    pub fired_through: Timestamp,
    pub next_due: Option<Timestamp>,
    /// What the alerter is to know of it: firings that were missed.
    pub incidents: Vec<Incident>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launched {
    /// Written. `made` of its instances are new; the others had been made before (same job, origin and key).
    Written { made: u32 },
    /// The job was changed meanwhile, or removed: nothing of this launch was written.
    Stale,
}

/// The tasks of one instance.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub instance: InstanceId,
    pub at: Timestamp,
    pub tasks: Vec<Task>,
}

/// The end of an instance that no task of its own brings about.
#[derive(Clone, Debug)]
pub struct Settlement {
    pub change: InstanceMove,
    /// What the instance is to say of its failure; a later move takes it away.
    pub failure: Option<Failure>,
    pub incidents: Vec<Incident>,
}

/// Where it takes partitions, it tells of their jobs alone.
#[async_trait]
pub trait InstanceStore: Send + Sync {
    /// Writes each launch wholly or not at all: instances, what they supersede, omissions, questions, the span,
    /// `fired_through` and `next_due`.
    ///
    /// A firing is made once: an instance whose (job, origin, key) exists is left as it is. An omission that
    /// continues the job's last one (same version and reason, no instance of the job's own plan made between) lengthens
    /// that row; a span that continues the job's last one (same version and zone data) lengthens it likewise.
    async fn launch(&self, lead: &Lead, launches: &[Launch]) -> Result<Vec<Launched>>;

    /// For a fixedDelay job that is still at `version` with no `next_due`: sets it. False: it has changed.
    async fn plan_next(&self, lead: &Lead, job: JobId, version: u32, next_due: Timestamp) -> Result<bool>;

    /// Waiting instances without tasks whose turn has come: `beside`, or the oldest of their job that is not final.
    /// Oldest first, at most `limit`.
    async fn unassigned(&self, of: Partitions, limit: usize) -> Result<Vec<Instance>>;

    /// Waiting instances with `replaces` that stand behind an older one of their job that is not final. Newest of
    /// each job only; at most `limit`.
    async fn replacing(&self, of: Partitions, limit: usize) -> Result<Vec<Instance>>;

    /// Gives instances their tasks. An instance that is no longer Waiting, or has tasks, is passed over; the answer
    /// says for each whether it was written. One that brings no tasks is passed over too.
    async fn assign(&self, lead: &Lead, assignments: &[Assignment]) -> Result<Vec<bool>>;

    /// Ends an instance that has no tasks. False: it has some by now, or is final. The end of an instance of the
    /// schedule stamps the job's `last_final_at` here as it does in `take`.
    async fn end_unassigned(&self, lead: &Lead, change: &InstanceMove) -> Result<bool>;

    /// Instances of several tasks that are not final although all their tasks are; oldest first, at most `limit`.
    async fn ended_together(&self, of: Partitions, limit: usize) -> Result<Vec<InstanceId>>;

    /// Ends each instance that has no task that is not final, none at all included; the answer says for each whether it
    /// was written. False: a task goes on, or the instance is final.
    async fn settle(&self, lead: &Lead, settlements: &[Settlement]) -> Result<Vec<bool>>;

    /// The instance that a firing has made, if it was made.
    async fn firing(&self, job: JobId, origin: Origin, key: &str) -> Result<Option<InstanceId>>;

    async fn instances(&self, ids: &[InstanceId]) -> Result<Vec<Instance>>;

    /// Instances of these jobs that are not final, oldest first.
    async fn unfinished(&self, jobs: &[JobId]) -> Result<Vec<(JobId, InstanceId, InstanceState)>>;
}
