//! Views of what runs: why a run ran or did not, executors, searches in logs, secrets.

use std::collections::BTreeMap;

use campanile_model::connection::Secret;
use campanile_model::executor::{Drain, HostedProcessor, MachineReading};
use campanile_model::instance::InstanceState;
use campanile_model::limits::LimitOn;
use campanile_model::task::{Part, TaskState};
use campanile_model::{Timestamp, Words};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Allowed, Moment};

// --- why

/// The id of a run or of a task; or a job, by name or id, and a time of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct AskWhy {
    pub id: Option<String>,
    pub job: Option<String>,
    /// RFC 3339, epoch milliseconds, or a wall-clock time in the zone of the call: `2026-11-21T09:30`.
    pub at: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WhyView {
    /// The whole of it in a sentence.
    pub verdict: Words,
    pub job: String,
    pub job_name: String,
    pub instance: Option<String>,
    pub state: Option<InstanceState>,
    /// Why it still waits now; nothing where it does not.
    pub waiting: Option<WaitingView>,
    /// In the order of time; what has not come yet last.
    pub links: Vec<WhyLink>,
}

/// Nothing is silently stuck: what it waits for, since when, and the rule that ends the wait.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WaitingView {
    pub since: Moment,
    pub words: Words,
    pub ends: Words,
    /// When that rule acts, where it is a matter of time.
    pub ends_at: Option<Moment>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WhyLink {
    pub step: WhyStep,
    pub at: Option<Moment>,
    pub words: Words,
    pub tone: WhyTone,
    /// The person, the executor or the node that did it.
    pub who: Option<String>,
    pub task: Option<String>,
    pub attempt: Option<u32>,
    pub state: Option<TaskState>,
    /// After the link before it, where that was a while.
    pub after_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum WhyStep {
    Planned,
    Due,
    Created,
    Assigned,
    Held,
    Admitted,
    Pushed,
    HandedBack,
    Started,
    Overran,
    Stopping,
    /// An attempt ended; another one may come.
    AttemptEnded,
    Retry,
    Finished,
    /// It did not happen.
    NotFired,
    /// It moved up a lane.
    Promoted,
    /// Something was said of an attempt that changed nothing, such as its end when it was lost already.
    Remark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum WhyTone {
    Plain,
    Good,
    Bad,
    /// Later than it might have been.
    Late,
    /// Has not come yet.
    Waits,
}

// --- executors

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExecutorList {
    pub now: Timestamp,
    pub rows: Vec<ExecutorRow>,
    /// Whether all is well, in a sentence.
    pub verdict: Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ExecutorState {
    /// Takes work.
    Live,
    /// Takes nothing new; what runs goes on.
    Draining,
    /// Within its lease, without a stream.
    Silent,
    Gone,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExecutorRow {
    pub group: String,
    pub name: String,
    pub boot: String,
    pub state: ExecutorState,
    /// What a hand is needed for, or what is out of the ordinary.
    pub remarks: Vec<Words>,
    pub embedded: bool,
    pub processors: Vec<HostedProcessor>,
    pub labels: BTreeMap<String, String>,
    pub capacity: u32,
    pub queue: u32,
    pub in_hand: u32,
    pub running: u32,
    /// By what ended of late; none where that was too little to tell.
    pub suggested_capacity: Option<u32>,
    pub ended: u32,
    pub mean_ms: Option<f64>,
    pub version: String,
    pub node: String,
    pub since: Moment,
    pub heard: Moment,
    pub gone: Option<Moment>,
    pub machine: Option<MachineReading>,
    pub disregarded: f64,
    pub takes_secrets: bool,
    pub drain: Option<Drain>,
    /// What it has in hand, oldest first, at most fifty.
    pub runs: Vec<ExecutorTask>,
    pub can_drain: Allowed,
    pub can_resume: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExecutorTask {
    pub task: String,
    pub instance: String,
    pub job: String,
    pub job_name: String,
    pub processor: String,
    /// Which part it is of a run that is cut into shards.
    pub part: Option<Part>,
    pub state: TaskState,
    pub attempt: u32,
    pub since: Option<Moment>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfExecutor {
    /// The group; `local` where absent.
    #[serde(default = "local")]
    #[ts(as = "Option<String>", optional)]
    pub group: String,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskExecutorLog {
    #[serde(default = "local")]
    #[ts(as = "Option<String>", optional)]
    pub group: String,
    pub name: String,
    /// Rows, at most 1000; 300 where absent.
    pub limit: Option<u32>,
}

/// What an executor was given and what its tasks wrote, the latest of it, in the order of time.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExecutorLog {
    pub rows: Vec<ExecutorLogRow>,
    /// There was more, or there were earlier tasks.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExecutorLogRow {
    pub at: Timestamp,
    /// `09:30:00.120`
    pub time: String,
    pub task: String,
    pub instance: String,
    pub job_name: String,
    pub part: Option<Part>,
    pub attempt: u32,
    pub said: ExecutorSaid,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecutorSaid {
    /// A line of the task's log.
    Line {
        /// `stdout`, `stderr` or `log`.
        stream: String,
        text: String,
    },
    /// The task came into this state.
    Step { to: TaskState, reason: Option<Words> },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DrainInput {
    #[serde(default = "local")]
    #[ts(as = "Option<String>", optional)]
    pub group: String,
    pub name: String,
    pub reason: String,
}

fn local() -> String {
    "local".to_owned()
}

// --- what is held, and by which limit

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HeldList {
    /// False: another program drives the engine, and only it knows.
    pub known: bool,
    /// What holds most first.
    pub rows: Vec<HeldRow>,
}

/// One reason why ready tasks do not go.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HeldRow {
    pub kind: HeldKind,
    pub words: Words,
    pub since: Moment,
    /// As they were last counted, which is once a second; 0 for a level that waits, of which there are no tasks yet.
    #[ts(type = "number")]
    pub tasks: u64,
    /// The job whose own limit it is.
    pub job: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum HeldKind {
    /// By a person: everything, or what is still to go after that.
    Hold,
    /// Nobody is there to take it.
    Absence,
    /// Everyone who is there is full, or left alone for a while.
    Busy,
    Machine,
    Limit,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LimitList {
    pub rows: Vec<LimitRow>,
    /// Groups that a limit can be set for; others may come.
    pub groups: Vec<String>,
    pub can_change: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LimitRow {
    pub limit: LimitOn,
    pub most: u32,
    /// Pushed, running or overrun now.
    #[ts(type = "number")]
    pub in_use: u64,
    /// Ready tasks that it holds back, as they were last counted.
    #[ts(type = "number")]
    pub holds: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutLimit {
    pub limit: LimitOn,
    /// Nothing: no limit.
    pub most: Option<u32>,
}

// --- logs

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct SearchLog {
    pub task: String,
    /// The last one where absent.
    pub attempt: Option<u32>,
    pub text: String,
    /// Capital letters are letters of their own.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub exact: bool,
    /// Where an earlier answer ended.
    #[ts(type = "number", optional)]
    pub from: Option<u64>,
    /// At most 500; 100 where absent.
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LogHits {
    pub attempt: u32,
    pub hits: Vec<LogHit>,
    /// Where to search on; none: the end was reached.
    #[ts(type = "number | null")]
    pub next: Option<u64>,
    #[ts(type = "number")]
    pub searched_bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LogHit {
    /// Where the line begins, as `read_log` counts.
    #[ts(type = "number")]
    pub offset: u64,
    pub before: Vec<super::LogLineView>,
    pub line: super::LogLineView,
    pub after: Vec<super::LogLineView>,
}

// --- secrets

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SecretList {
    pub rows: Vec<SecretRow>,
    /// Groups that a secret can be set for now.
    pub groups: Vec<String>,
    pub can_add: Allowed,
}

/// Of a secret there is everything but its value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SecretRow {
    pub group: String,
    pub name: String,
    pub by: String,
    pub at: Moment,
    /// The beginning of the public key that it is sealed to.
    pub sealed_to: String,
    /// The group's executors have another key by now: tasks that name it are refused.
    pub stale: bool,
    pub can_change: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutSecret {
    #[serde(default = "local")]
    #[ts(as = "Option<String>", optional)]
    pub group: String,
    pub name: String,
    pub value: Secret,
    /// The group's public key in hexadecimal; that of its executors where absent.
    pub key: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfSecret {
    #[serde(default = "local")]
    #[ts(as = "Option<String>", optional)]
    pub group: String,
    pub name: String,
}

// --- comparing

/// A run beside the last one of its job that succeeded before it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ComparisonView {
    /// None: no run of the job has succeeded before.
    pub good: Option<super::InstanceRow>,
    pub differences: Vec<Difference>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Difference {
    pub what: Words,
    /// Of the run that went well (empty: it had none) …
    pub good: String,
    /// … and of this one.
    pub here: String,
    pub same: bool,
}
