//! What the console and the command line are shown, and what they send.
//!
//! Every moment comes as milliseconds and as text in the zone that was asked for: the window never
//! computes a zone. Whatever a person might do to a thing stands beside it as [`Allowed`].

mod calendars;

pub use calendars::*;

use campanile_model::alarm::{AlarmRule, AlarmState, Severity};
use campanile_model::connection::{Address, Keeper, Secret};
use campanile_model::instance::{InstanceState, OmissionReason, Origin};
use campanile_model::job::{JobSpec, Mode, Overlap};
use campanile_model::request::{Hold, Person};
use campanile_model::schedule::Scope;
use campanile_model::task::{ExecutorRef, Stop, TaskState};
use campanile_model::{Failure, Fault, Lane, Timestamp, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

mod execution;

pub use crate::future_views::*;
pub use execution::*;

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

// --- jobs

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListJobs {
    pub text: Option<String>,
    pub paused: Option<bool>,
    pub tag: Option<String>,
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobPage {
    pub rows: Vec<JobRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
    /// How many match; counted up to 10,000.
    #[ts(type = "number")]
    pub total: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobRow {
    pub id: String,
    pub name: String,
    pub description: String,
    pub version: u32,
    pub words: Words,
    pub kind: String,
    pub paused: bool,
    pub next: Option<Moment>,
    pub last: Vec<LastOutcome>,
    pub group: String,
    pub processor: String,
    pub priority: Lane,
    pub tenant: Option<String>,
    pub tags: Vec<String>,
    pub can_run: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LastOutcome {
    pub instance: String,
    pub state: InstanceState,
    pub due: Timestamp,
}

/// A job by its id or by its name.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfJob {
    pub job: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobDetail {
    pub row: JobRow,
    pub spec: JobSpec,
    pub saved_at: Moment,
    pub preview: Option<PreviewView>,
    /// Names of the jobs that it runs after, and of those that run after it.
    pub upstream: Vec<String>,
    pub downstream: Vec<String>,
    /// Newest first.
    pub versions: Vec<VersionRow>,
    pub omissions: Vec<OmissionRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VersionRow {
    pub version: u32,
    pub saved_at: Moment,
    pub saved_by: String,
    pub words: Words,
    pub spec: JobSpec,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskPreview {
    /// As much of a job as decides its times: the schedule, and what it has of policies; …
    #[ts(type = "Record<string, unknown> | null", optional)]
    pub spec: Option<Map<String, Value>>,
    /// … of this job, or alone, a job as it stands.
    pub job: Option<String>,
    pub from: Option<Timestamp>,
    /// 1 to 200; 20 where absent.
    pub count: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PreviewView {
    pub words: Words,
    pub runs: Vec<PreviewRow>,
    pub warnings: Vec<Words>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PreviewRow {
    pub planned: Timestamp,
    pub due: Moment,
    /// RFC 3339 in the schedule's own zone.
    pub local: String,
    pub reason: Option<Words>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct CheckJob {
    #[ts(type = "unknown")]
    pub spec: Value,
    /// The job that is being edited.
    pub job: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobCheck {
    /// Empty: it can be saved.
    pub faults: Vec<Fault>,
    pub preview: Option<PreviewView>,
    /// Changes made by hand to runs that would not be planned any more.
    pub lapsed: Vec<LapsedException>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct SaveJobInput {
    #[ts(type = "unknown")]
    pub spec: Value,
    pub job: Option<String>,
    pub seen_version: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfJobs {
    pub jobs: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct RunJobsInput {
    pub jobs: Vec<String>,
    #[serde(default)]
    #[ts(type = "Record<string, unknown> | null", optional)]
    pub parameters: Option<Map<String, Value>>,
    /// Does not wait for instances that are still there.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub beside: bool,
    /// The only executor that may run it, by its name in the job's group.
    #[serde(default)]
    pub executor: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct RestoreVersion {
    pub job: String,
    pub version: u32,
    pub seen_version: Option<u32>,
}

/// What there is now because of what was asked.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DoneView {
    pub jobs: Vec<String>,
    pub instances: Vec<String>,
    pub changed: u32,
    /// Of a single job that was saved: its version now.
    pub version: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Document {
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct ApplyInput {
    /// YAML (several documents) or JSON.
    pub text: String,
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Applied {
    pub jobs: Vec<AppliedJob>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AppliedJob {
    pub name: String,
    pub change: AppliedChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AppliedChange {
    Created,
    Changed,
    Unchanged,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct CrontabInput {
    pub text: String,
    /// Of the lines' times; this machine's where absent.
    pub zone: Option<String>,
    /// Lines to take; all that can be where absent.
    pub lines: Option<Vec<u32>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CrontabReading {
    pub lines: Vec<CrontabLine>,
    pub jobs: u32,
    pub refused: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CrontabLine {
    /// Counts from 1.
    pub number: u32,
    pub text: String,
    pub outcome: CrontabOutcome,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum CrontabOutcome {
    Job {
        name: String,
        words: Words,
        command: String,
        next: Option<Moment>,
    },
    /// A comment or an empty line.
    Blank,
    /// An environment line; it goes with the jobs below it.
    Environment,
    Refused {
        fault: Fault,
    },
}

// --- calendar

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskCalendar {
    /// The first day, `2026-11-16`; the Monday of this week where absent.
    pub date: Option<String>,
    /// 1 to 42; 7 where absent.
    pub days: Option<u32>,
    /// Only jobs whose name, tag or tenant has this.
    pub text: Option<String>,
}

/// The zone data that times are planned by.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ZonesView {
    /// Such as `2026f`.
    pub version: String,
    /// What this program carries.
    pub bundled: String,
    pub zones: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportZones {
    /// Of the machine of the node: compiled zones with their `tzdata.zi`.
    pub folder: String,
    /// Only says what would change.
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ZonesImported {
    pub before: String,
    pub version: String,
    /// Jobs with times in the next months that are others now.
    pub changed: u32,
    /// The first of them.
    pub jobs: Vec<ChangedTimes>,
}

/// The first times that a job had and has no more, and those that it has now.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ChangedTimes {
    pub job: String,
    pub name: String,
    pub time_zone: String,
    pub before: Vec<Moment>,
    pub after: Vec<Moment>,
}

/// What entries and bands share is told once: of a job in `jobs`, of an entry in `notes`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarView {
    pub now: Timestamp,
    pub zone: String,
    pub days: Vec<CalendarDay>,
    pub jobs: Vec<CalendarJob>,
    /// Earliest first.
    pub entries: Vec<CalendarEntry>,
    /// Jobs too frequent to be drawn one by one.
    pub bands: Vec<CalendarBand>,
    /// Firings in each quarter of an hour of each day, in the order of the days.
    pub load: Vec<Vec<u32>>,
    pub notes: Vec<Words>,
}

/// A job of which there is an entry or a band.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarJob {
    pub id: String,
    pub name: String,
    pub words: Words,
    /// For a colour that stays with the job: 0 to 11.
    pub hue: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarDay {
    /// `2026-11-16`
    pub date: String,
    /// 1 (Monday) to 7.
    pub weekday: u8,
    pub start: Timestamp,
    pub end: Timestamp,
    pub today: bool,
    /// The clocks change on this day: what a person should know of it.
    pub clock_change: Option<Words>,
    /// Blackout windows that touch the day.
    pub blackouts: Vec<BlackoutSpan>,
    /// Firings that are in `load` and neither entries nor in a band, because there are too many.
    pub unlisted: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarEntry {
    /// Index into `jobs`.
    pub job: u32,
    pub version: u32,
    /// What identifies the occurrence; absent for runs by hand.
    pub planned: Option<Timestamp>,
    pub due: Moment,
    /// Index into `days`, and wall-clock minutes since midnight.
    pub day: u32,
    pub minute: u32,
    /// Past ones have an instance and a state.
    pub instance: Option<String>,
    pub state: Option<InstanceState>,
    pub origin: Origin,
    /// Index into `notes`: why it is where it is.
    pub reason: Option<u32>,
    /// Index into `notes`: why it cannot be moved; absent where it can.
    pub fixed: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarBand {
    /// Index into `jobs`.
    pub job: u32,
    pub version: u32,
    pub day: u32,
    pub from_minute: u32,
    pub to_minute: u32,
    pub count: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskReschedule {
    pub job: String,
    pub planned: Timestamp,
    /// Where it was dropped: a wall-clock time in the zone of the call, `2026-11-18T10:30`, …
    pub to_local: Option<String>,
    /// … or an instant.
    pub to: Option<Timestamp>,
}

/// What a drop would do, for each of the three scopes; saved with `save_job`, taken back with `restore_version`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RescheduleView {
    pub job: String,
    pub name: String,
    pub version: u32,
    pub from: Moment,
    pub to: Moment,
    pub choices: Vec<RescheduleChoice>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RescheduleChoice {
    pub scope: Scope,
    pub allowed: Allowed,
    /// The schedule in words, as it would be.
    pub words: Option<Words>,
    pub before: Vec<Moment>,
    pub after: Vec<Moment>,
    /// Other jobs due within a minute of the new time.
    pub collisions: Vec<String>,
    pub spec: Option<JobSpec>,
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
    pub tasks: Vec<TaskBrief>,
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
    /// Why it ran when it ran, step by step.
    pub chain: Vec<ChainLink>,
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

// --- alarms, audit, upkeep

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListAlarms {
    #[ts(as = "Option<Vec<AlarmState>>", optional)]
    pub states: Vec<AlarmState>,
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AlarmPage {
    pub rows: Vec<AlarmRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AlarmRow {
    pub id: String,
    pub rule: AlarmRule,
    pub severity: Severity,
    pub state: AlarmState,
    pub subject: String,
    /// The job it is about.
    pub job: Option<String>,
    pub message: Words,
    pub first: Moment,
    pub last: Moment,
    pub count: u32,
    pub acknowledged: Option<AcknowledgementView>,
    pub resolved: Option<Moment>,
    pub can_acknowledge: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcknowledgementView {
    pub by: String,
    pub at: Moment,
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcknowledgeInput {
    pub alarms: Vec<String>,
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HoldInput {
    pub reason: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetInput {
    pub key: String,
    #[ts(type = "unknown")]
    pub value: Value,
}

// --- connections

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionList {
    pub rows: Vec<ConnectionView>,
    /// What would hold a password that is given now.
    pub keeper: Keeper,
    pub can_add: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionView {
    pub name: String,
    /// `mysql`, `postgres`, `sqlite`.
    pub kind: String,
    /// None of one that the executor's configuration defines: its address may hold a password.
    pub address: Option<Address>,
    /// What holds its password, where it has one.
    pub password: Option<Keeper>,
    pub can_change: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutConnection {
    pub name: String,
    pub address: Address,
    /// Absent: the one that is kept stays. Empty: none.
    pub password: Option<Secret>,
    /// It is refused where there is one of that name.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub new: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfConnection {
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct TestConnection {
    pub name: String,
    /// Absent: as it is defined now, and as a job would get it.
    pub address: Option<Address>,
    /// As for putting.
    pub password: Option<Secret>,
}

/// One of the two is there.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionTest {
    /// What the database says it is: `MySQL 8.4.2`.
    pub server: Option<String>,
    /// What is in the way.
    pub fault: Option<Fault>,
}

// --- tokens

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MakeToken {
    /// `executor:GROUP`, or `run:JOB` where the name may have stars.
    pub scope: String,
    /// For whom it is.
    #[serde(default)]
    #[ts(as = "Option<String>", optional)]
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenMade {
    pub id: String,
    /// Told here and never again.
    pub token: String,
    pub scope: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenList {
    pub rows: Vec<TokenView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenView {
    pub id: String,
    pub scope: String,
    pub note: String,
    pub made_by: String,
    pub made_at: Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfToken {
    pub id: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListAudit {
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AuditRow {
    pub at: Moment,
    pub who: String,
    pub action: String,
    pub subject: String,
    #[ts(type = "unknown")]
    pub before: Option<Value>,
    #[ts(type = "unknown")]
    pub after: Option<Value>,
}

/// The ledger check of all jobs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LedgerView {
    pub clean: bool,
    pub jobs: u32,
    pub spans: u32,
    #[ts(type = "number")]
    pub planned: u64,
    #[ts(type = "number")]
    pub made: u64,
    #[ts(type = "number")]
    pub not_made: u64,
    pub findings: Vec<LedgerFindingView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LedgerFindingView {
    pub job: String,
    pub at: Option<Moment>,
    pub words: Words,
}
