//! What people ask, and how it is carried out.

use async_trait::async_trait;
use campanile_model::alarm::Alarm;
use campanile_model::backfill::{Backfill, BackfillEnd};
use campanile_model::executor::Drain;
use campanile_model::instance::{Instance, InstanceMove};
use campanile_model::job::Job;
use campanile_model::pass::Pass;
use campanile_model::question::QuestionAnswer;
use campanile_model::request::{Answer, AuditEntry, Request};
use campanile_model::task::Step;
use campanile_model::{DataId, InstanceId, JobId, QuestionId, RequestId};
use serde_json::Value;

use crate::{Lead, Result, ShardWrite, Taken};

/// One thing that carrying out a request writes.
#[derive(Clone, Debug)]
pub enum Change {
    /// A new job (`seen_version` none) or the next version of one; `by` goes into the version's row.
    /// Lost where the version is another by now, or the name is another job's. `fired_through` is written for a new
    /// job, and otherwise only moved forward; whether it is paused and `last_final_at` stay as they are stored.
    PutJob {
        job: Job,
        seen_version: Option<u32>,
        by: String,
    },
    /// Its history stays, its name is free again, and what waits in its queue is gone.
    RemoveJob(JobId),
    /// Neither this nor removing makes a version, or changes anything where the job is gone.
    PauseJob {
        job: JobId,
        paused: bool,
    },
    /// Left out where (job, origin, key) exists.
    PutInstance(Instance),
    /// Lost where the task has moved.
    Step(Step),
    /// Ends an instance without tasks; Lost where it has some by now, or is final.
    EndUnassigned(InstanceMove),
    /// Lost where it has an answer, or nobody asked.
    AnswerQuestion {
        question: QuestionId,
        answer: QuestionAnswer,
    },
    /// Left out where it exists.
    PutBackfill(Backfill),
    /// Lost where it is at its end, or nobody asked for it.
    EndBackfill {
        backfill: RequestId,
        end: BackfillEnd,
    },
    /// Lost where the alarm has changed.
    PutAlarm(Alarm),
    Set {
        key: String,
        value: Value,
    },
    /// A run that is cut into shards. Lost as in [`ShardStore::conduct`](crate::ShardStore::conduct).
    Conduct(Box<ShardWrite>),
    /// Staged data is that run's from now on. Lost where it is not there, is not whole, or was taken.
    TakeStaged {
        data: DataId,
        instance: InstanceId,
    },
    /// What keeps an executor from taking anything new, or nothing any more. Lost where no such executor is known.
    DrainExecutor {
        group: String,
        name: String,
        drain: Option<Drain>,
    },
    /// Over what stands under its digest.
    PutPass(Pass),
}

/// A request's end: what it changed, what it answers, and what the audit log says of it.
#[derive(Clone, Debug)]
pub struct CarriedOut {
    pub request: RequestId,
    pub changes: Vec<Change>,
    pub answer: Answer,
    pub audit: Vec<AuditEntry>,
}

#[async_trait]
pub trait RequestStore: Send + Sync {
    /// Writes the request down. A second one with the same id changes nothing.
    async fn ask(&self, request: &Request) -> Result<()>;

    /// Requests without an answer, in the order they were asked, at most `limit`.
    async fn open_requests(&self, limit: usize) -> Result<Vec<Request>>;

    /// What became of it; none while it is open or unknown.
    async fn answer(&self, request: RequestId) -> Result<Option<Answer>>;

    /// Changes, answer and audit entries in one transaction. Lost (nothing written; read again and decide again)
    /// where one of the changes is lost, or the request has an answer already or was never asked.
    async fn carry_out(&self, lead: &Lead, done: &CarriedOut) -> Result<Taken>;
}
