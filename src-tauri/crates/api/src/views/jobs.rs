//! Jobs: their list, their versions, what saving one would do, crontabs and documents of them.

use campanile_model::instance::InstanceState;
use campanile_model::job::JobSpec;
use campanile_model::{Fault, Lane, Timestamp, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use super::*;

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
    /// Of a single job that is cut into shards: data that was staged for it.
    #[serde(default)]
    pub data: Option<String>,
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
