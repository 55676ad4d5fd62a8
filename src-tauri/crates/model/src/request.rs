//! What people ask of the engine, and what became of it.
//!
//! Whoever asks writes a [`Request`]; the clerk carries it out, checks the role again, and writes
//! change and audit entry together.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::blackout::Blackout;
use crate::calendar::Calendar;
use crate::job::JobSpec;
use crate::limits::LimitOn;
use crate::sharding::Selection;
use crate::{AlarmId, DataId, Fault, InstanceId, JobId, QuestionId, RequestId, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Viewer,
    /// Runs, acknowledges, pauses, holds.
    Operator,
    /// Changes jobs and calendars.
    Editor,
    Admin,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Person {
    pub name: String,
    pub role: Role,
}

/// A job to be saved, and the version that the person had before them (none: it is to be new).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveJob {
    pub spec: JobSpec,
    pub job: Option<JobId>,
    pub seen_version: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "ask")]
pub enum Ask {
    /// All of them or none.
    SaveJobs {
        jobs: Vec<SaveJob>,
    },
    RemoveJobs {
        jobs: Vec<JobId>,
    },
    PauseJobs {
        jobs: Vec<JobId>,
    },
    ResumeJobs {
        jobs: Vec<JobId>,
    },
    RunJobs {
        jobs: Vec<JobId>,
        parameters: Option<Map<String, Value>>,
        beside: bool,
        repeats: Option<InstanceId>,
        /// The only executor that may run it, by its name in the job's group.
        #[serde(default)]
        executor: Option<String>,
    },
    /// A program's own request for one run. Asked again with the same key it is the same run, whatever else it says.
    RunByKey {
        job: JobId,
        key: String,
        parameters: Option<Map<String, Value>>,
        beside: bool,
    },
    /// One run of a job that is cut into shards, with data that was staged for it.
    RunWithData {
        job: JobId,
        data: DataId,
        /// A program's own, as in `RunByKey`.
        key: Option<String>,
        parameters: Option<Map<String, Value>>,
        beside: bool,
        executor: Option<String>,
    },
    CancelInstance {
        instance: InstanceId,
        /// Of one that is cut into shards, these alone; empty: all of it.
        #[serde(default)]
        shards: Selection,
    },
    /// The tasks of the instance that ended badly get their next attempt.
    RetryInstance {
        instance: InstanceId,
        #[serde(default)]
        shards: Selection,
    },
    /// What was missed is run after all, or is not.
    AnswerQuestions {
        questions: Vec<QuestionId>,
        run: bool,
    },
    /// Runs the times that were planned in [from, to).
    Backfill {
        job: JobId,
        from: Timestamp,
        to: Timestamp,
    },
    CancelBackfill {
        backfill: RequestId,
    },
    /// A blackout window of the workspace under that name; none: there is to be none.
    PutBlackout {
        name: String,
        blackout: Option<Blackout>,
    },
    AcknowledgeAlarms {
        alarms: Vec<AlarmId>,
        note: String,
    },
    Hold {
        reason: String,
    },
    Release,
    Set {
        key: String,
        value: Value,
    },
    /// A calendar, new or in place of the one of its name; `seen_revision` is the one that the person had before them.
    PutCalendar {
        calendar: Box<Calendar>,
        seen_revision: Option<u32>,
    },
    /// What people made under a name; a built-in calendar of that name is there again.
    RemoveCalendar {
        calendar: String,
        seen_revision: Option<u32>,
    },
    /// It takes nothing new, under any of its lives, until it is resumed.
    DrainExecutor {
        group: String,
        name: String,
        reason: String,
    },
    ResumeExecutor {
        group: String,
        name: String,
    },
    /// So much work at once, or as much as there is.
    PutLimit {
        limit: LimitOn,
        most: Option<u32>,
    },
    /// To be let in at the nodes' API, with this person's role, by whoever can show what this is the digest of. Asked
    /// again, it holds for longer.
    GivePass {
        digest: String,
    },
}

impl Ask {
    /// The least role that may ask this.
    pub const fn needs(&self) -> Role {
        match self {
            Ask::SaveJobs { .. }
            | Ask::RemoveJobs { .. }
            | Ask::PutCalendar { .. }
            | Ask::RemoveCalendar { .. }
            | Ask::PutBlackout { .. } => Role::Editor,
            Ask::PauseJobs { .. }
            | Ask::ResumeJobs { .. }
            | Ask::RunJobs { .. }
            | Ask::RunByKey { .. }
            | Ask::RunWithData { .. }
            | Ask::CancelInstance { .. }
            | Ask::RetryInstance { .. }
            | Ask::AnswerQuestions { .. }
            | Ask::Backfill { .. }
            | Ask::CancelBackfill { .. }
            | Ask::AcknowledgeAlarms { .. }
            | Ask::Hold { .. }
            | Ask::DrainExecutor { .. }
            | Ask::ResumeExecutor { .. }
            | Ask::Release => Role::Operator,
            Ask::Set { .. } | Ask::PutLimit { .. } => Role::Admin,
            // It opens no more than its owner's role does.
            Ask::GivePass { .. } => Role::Viewer,
        }
    }

    /// What the audit log calls it.
    pub const fn name(&self) -> &'static str {
        match self {
            Ask::SaveJobs { .. } => "saveJobs",
            Ask::RemoveJobs { .. } => "removeJobs",
            Ask::PauseJobs { .. } => "pauseJobs",
            Ask::ResumeJobs { .. } => "resumeJobs",
            Ask::RunJobs { .. } => "runJobs",
            Ask::RunByKey { .. } => "runByKey",
            Ask::RunWithData { .. } => "runWithData",
            Ask::CancelInstance { .. } => "cancelInstance",
            Ask::RetryInstance { .. } => "retryInstance",
            Ask::AnswerQuestions { .. } => "answerQuestions",
            Ask::Backfill { .. } => "backfill",
            Ask::CancelBackfill { .. } => "cancelBackfill",
            Ask::PutBlackout { .. } => "putBlackout",
            Ask::AcknowledgeAlarms { .. } => "acknowledgeAlarms",
            Ask::Hold { .. } => "hold",
            Ask::Release => "release",
            Ask::Set { .. } => "set",
            Ask::PutCalendar { .. } => "putCalendar",
            Ask::RemoveCalendar { .. } => "removeCalendar",
            Ask::DrainExecutor { .. } => "drainExecutor",
            Ask::ResumeExecutor { .. } => "resumeExecutor",
            Ask::PutLimit { .. } => "putLimit",
            Ask::GivePass { .. } => "givePass",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub id: RequestId,
    pub who: Person,
    pub ask: Ask,
    pub asked_at: Timestamp,
}

/// What the clerk made of a request. Asking again under the same id gives the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Done(Done),
    Refused(Fault),
}

/// What there is now because of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub jobs: Vec<JobId>,
    pub instances: Vec<InstanceId>,
    /// How many things it changed.
    pub changed: u32,
}

/// A change and who made it; kept for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub at: Timestamp,
    pub who: String,
    pub action: String,
    pub subject: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// Nothing is dispatched while there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Hold {
    pub by: String,
    pub reason: String,
    pub since: Timestamp,
}
