//! What the console and the command line are shown, and what they send.
//!
//! Every moment comes as milliseconds and as text in the zone that was asked for: the window never
//! computes a zone. Whatever a person might do to a thing stands beside it as [`Allowed`].

mod access;
mod alarms;
mod calendar;
mod calendars;
mod data;
mod execution;
mod jobs;
mod locks;
mod nodes;
mod sharding;
mod teams;

use campanile_model::alarm::Severity;
use campanile_model::instance::{InstanceState, OmissionReason, Origin};
use campanile_model::job::{Mode, Overlap};
use campanile_model::request::{Hold, Person};
use campanile_model::retention::Retention;
use campanile_model::sharding::ShardRange;
use campanile_model::task::{ExecutorRef, Part, Stop, TaskState};
use campanile_model::{Failure, Fault, Lane, Timestamp, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

pub use crate::future_views::*;
pub use access::*;
pub use alarms::*;
pub use calendar::*;
pub use calendars::*;
pub use data::*;
pub use execution::*;
pub use jobs::*;
pub use locks::*;
pub use nodes::*;
pub use sharding::*;
pub use teams::*;

/// An instant, and how its wall clock reads in the zone of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Moment {
    pub ms: Timestamp,
    /// `2026-11-21 09:30:00`
    pub text: String,
    /// `+08:00`
    pub offset: String,
}

/// Whether something may be done now, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Allowed {
    pub ok: bool,
    pub why: Option<Words>,
}

impl Allowed {
    pub const YES: Allowed = Allowed { ok: true, why: None };

    pub fn no(why: Words) -> Allowed {
        Allowed { ok: false, why: Some(why) }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Nothing {}

// --- the window as a whole

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Bootstrap {
    pub now: Timestamp,
    pub version: String,
    pub zone_data: String,
    /// `local`, or a team's name.
    pub connection: String,
    pub data_folder: String,
    pub person: Person,
    /// The zone of this machine.
    pub zone: String,
    pub zones: Vec<String>,
    pub processors: Vec<ProcessorView>,
    /// What `set_setting` has stored: `language`, `theme`, `clock`, …
    #[ts(type = "Record<string, unknown>")]
    pub settings: Map<String, Value>,
    /// What holds now; set by `set_setting` as `retention`.
    pub retention: Retention,
    /// Nobody has created a job yet.
    pub first_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProcessorView {
    pub group: String,
    pub name: String,
    pub title: Words,
    pub description: Words,
    /// JSON Schema of its parameters; titles and descriptions in Chinese stand under `title:zh` and `description:zh`.
    #[ts(type = "unknown")]
    pub schema: Value,
    /// Executors that have it now.
    pub executors: u32,
}

/// What the status bar and the top bar show; part of every frame of the feed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Status {
    pub now: Timestamp,
    pub node: NodeState,
    /// Tasks that became final, a second, over the last ten.
    pub tasks_per_second: f64,
    pub lanes: Vec<LaneView>,
    pub running: u32,
    pub last_event_at: Option<Timestamp>,
    pub hold: Option<Hold>,
    pub open_alarms: u32,
    pub worst: Option<Severity>,
    /// Trouble of the node itself, such as a full disk.
    pub trouble: Option<Fault>,
    /// Runs in progress that are cut into shards, oldest first; at most twenty.
    pub sharded: Vec<ShardedNow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum NodeState {
    /// This program drives the engine.
    Leading,
    /// Another program drives it; this one is a console and takes over when that goes.
    Standby,
    /// No program drives it just now.
    Leaderless,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LaneView {
    pub lane: Lane,
    #[ts(type = "number")]
    pub depth: u64,
    pub oldest_wait_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FrameKind {
    Snapshot,
    Delta,
}

/// One message of the live feed. Numbers follow one another; after a gap comes a snapshot, and all is stale.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Frame {
    #[ts(type = "number")]
    pub seq: u64,
    pub kind: FrameKind,
    /// Topics of which queries are stale: `jobs`, `instances`, `tasks`, `alarms`, `settings`, `audit`, `executors`,
    /// `log:<task id>`.
    pub stale: Vec<String>,
    pub status: Status,
}

// --- pulse

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Pulse {
    pub now: Timestamp,
    /// Sixty minutes from the start of the present one.
    pub next_hour: Vec<StripMinute>,
    /// The next runs, at most eight.
    pub upcoming: Vec<Upcoming>,
    pub running: Vec<InstanceRow>,
    /// What is cut into shards and in progress, oldest first; at most twenty. `running` leaves it out.
    pub sharded: Vec<InstanceRow>,
    /// The last hour.
    pub outcomes: OutcomesView,
    pub alarms: Vec<AlarmRow>,
    /// What did not fire in the last day.
    pub omissions: Vec<OmissionRow>,
    /// Up to 10,000 are counted.
    #[ts(type = "number")]
    pub jobs: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct StripMinute {
    pub at: Moment,
    pub firings: u32,
    /// At most five of the jobs that fire in it.
    pub jobs: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Upcoming {
    pub job: String,
    pub name: String,
    pub due: Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OutcomesView {
    #[ts(type = "number")]
    pub succeeded: u64,
    #[ts(type = "number")]
    pub failed: u64,
    /// Succeeded ÷ (succeeded + failed); none where nothing ended.
    pub rate: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OmissionRow {
    pub job: String,
    pub name: String,
    pub from: Moment,
    pub to: Moment,
    pub count: u32,
    pub reason: OmissionReason,
    pub missed: bool,
    pub words: Words,
}

// --- runs

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListInstances {
    pub job: Option<String>,
    #[ts(as = "Option<Vec<InstanceState>>", optional)]
    pub states: Vec<InstanceState>,
    #[ts(as = "Option<Vec<TaskState>>", optional)]
    pub task_states: Vec<TaskState>,
    /// With a task that this executor has, or had last.
    pub executor: Option<OfExecutor>,
    pub due_from: Option<Timestamp>,
    pub due_until: Option<Timestamp>,
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct InstancePage {
    pub rows: Vec<InstanceRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct InstanceRow {
    pub id: String,
    pub job: String,
    pub job_name: String,
    pub version: u32,
    pub origin: Origin,
    pub state: InstanceState,
    pub planned: Moment,
    pub due: Moment,
    pub started: Option<Moment>,
    pub finished: Option<Moment>,
    /// Started after due.
    pub late_ms: Option<f64>,
    pub took_ms: Option<f64>,
    /// Of one that is cut into shards none are named.
    pub tasks: Vec<TaskBrief>,
    pub sharding: Option<ShardProgress>,
    pub can_cancel: Allowed,
    pub can_retry: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TaskBrief {
    pub id: String,
    pub state: TaskState,
    pub attempt: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfInstance {
    pub instance: String,
}

/// A run, or of one that is cut into shards these alone.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct OfShards {
    pub instance: String,
    pub shards: Option<Vec<ShardRange>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct InstanceDetail {
    pub row: InstanceRow,
    pub words: Words,
    pub mode: Mode,
    pub overlap: Overlap,
    pub group: String,
    pub processor: String,
    /// As the tasks get them.
    #[ts(type = "Record<string, unknown>")]
    pub parameters: Map<String, Value>,
    pub reason: Option<Words>,
    pub asked_by: Option<String>,
    pub repeats: Option<String>,
    /// The runs whose end brought it about.
    pub upstream: Vec<UpstreamRun>,
    #[ts(type = "unknown")]
    pub result: Option<Value>,
    /// Why it failed, where none of its tasks says so.
    pub failure: Option<Failure>,
    /// Why it ran when it ran, step by step.
    pub chain: Vec<ChainLink>,
    /// Of one that is cut into shards, what is not a shard.
    pub tasks: Vec<TaskRow>,
}

/// One moment in the chain from planned to finished. Without `at`: it has not come yet, and `words` says what it waits for.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ChainLink {
    pub step: ChainStep,
    pub at: Option<Moment>,
    pub words: Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ChainStep {
    Planned,
    Due,
    Created,
    Assigned,
    Admitted,
    Pushed,
    Started,
    Finished,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TaskRow {
    pub id: String,
    pub instance: String,
    pub job: String,
    pub job_name: String,
    /// Which part it is of a run that is cut into shards; none: all of its run.
    pub part: Option<Part>,
    pub state: TaskState,
    pub attempt: u32,
    pub attempts_most: u32,
    pub lane: Lane,
    /// How often it has moved up a lane.
    pub promotions: u32,
    pub group: String,
    pub processor: String,
    pub executor: Option<ExecutorRef>,
    pub due: Moment,
    pub ready: Option<Moment>,
    pub pushed: Option<Moment>,
    pub started: Option<Moment>,
    pub finished: Option<Moment>,
    pub failure: Option<Failure>,
    pub stop: Option<Stop>,
    pub idempotency_key: String,
    #[ts(type = "unknown")]
    pub result: Option<Value>,
    /// Oldest first; only where the task's instance was asked for.
    pub history: Vec<HistoryRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HistoryRow {
    pub at: Moment,
    pub from: TaskState,
    pub to: TaskState,
    pub attempt: u32,
    pub executor: Option<String>,
    pub node: String,
    pub reason: Option<Words>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListTasks {
    #[ts(as = "Option<Vec<TaskState>>", optional)]
    pub states: Vec<TaskState>,
    /// That this executor has, or had last.
    pub executor: Option<OfExecutor>,
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TaskPage {
    pub rows: Vec<TaskRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct ReadLog {
    pub task: String,
    /// The last one where absent.
    pub attempt: Option<u32>,
    /// Where to go on, as an earlier answer said; the beginning where absent. Negative: that many bytes from the end.
    pub from: Option<i64>,
    /// Lines, at most 5000; 1000 where absent.
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LogView {
    pub task: String,
    pub attempt: u32,
    pub attempts: Vec<u32>,
    pub lines: Vec<LogLineView>,
    #[ts(type = "number")]
    pub next: u64,
    /// Nothing more is there now …
    pub at_end: bool,
    /// … and nothing more will come.
    pub closed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LogLineView {
    pub at: Timestamp,
    /// `09:30:00.120`
    pub time: String,
    /// `stdout`, `stderr` or `log`.
    pub stream: String,
    pub text: String,
}
