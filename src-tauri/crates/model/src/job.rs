//! Jobs, as people write them and as the engine keeps them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::blackout::JobBlackout;
use crate::schedule::{Exception, OnNonWorkday, Schedule};
use crate::sharding::{OnLevelFailure, ShardSettings};
use crate::{FailureRule, JobId, Lane, Retry, Timestamp};

pub const API_VERSION: &str = "campanile/v1";

/// What `apply` reads and `export` writes. Every field but name, processor and schedule has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobSpec {
    #[serde(default = "api_version")]
    pub api_version: String,
    /// Unique; what the CLI, the API, files and errors call it.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub schedule: Schedule,
    /// Single occurrences that were skipped, moved or added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<Exception>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_until: Option<Timestamp>,
    /// The working-day calendar; none is the workspace's: China's for zones of China, else Monday to Friday.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_non_workday: OnNonWorkday,
    /// Names of the workspace's blackout windows, and windows of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blackouts: Vec<JobBlackout>,
    #[serde(default)]
    pub misfire: Misfire,
    #[serde(default)]
    pub overlap: Overlap,
    /// What becomes of the one that waits (`overlap: queue`) when a further one comes; without it the further one is
    /// skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersede: Option<Supersede>,
    #[serde(default)]
    pub spread_seconds: u32,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub route: Route,
    /// Only executors with all of these labels take it, whatever the route.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Route `consistentHash`: the parameter whose value decides who takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_key: Option<String>,
    /// Mode `broadcast`: so many executors have to succeed; none: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_success: Option<u32>,
    /// Mode `sharding`: at most so many items in one shard (1000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_max_size: Option<u32>,
    /// Mode `sharding`: no more shards than leave each so many items (1), unless `shardMaxSize` asks for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_min_size: Option<u32>,
    /// Mode `sharding`: what becomes of the levels after one that failed (`stop`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_level_failure: Option<OnLevelFailure>,
    /// Mode `sharding`: people's own code is told each time that progress has grown by so many percent (10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify_step: Option<u32>,
    #[serde(default = "local")]
    pub executor_group: String,
    pub processor: String,
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub parameters: Map<String, Value>,
    #[serde(default)]
    pub priority: Lane,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    #[serde(default)]
    pub overrun: Overrun,
    #[serde(default)]
    pub retry: Retry,
    /// What a failure means by its message; the first rule that matches counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_rules: Vec<FailureRule>,
    /// At most so many of its tasks are with executors at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// It works the disk: it waits while the executor's disk is behind.
    #[serde(default, skip_serializing_if = "is_false")]
    pub io: bool,
    /// Counted from its due time: what has not begun by then is no longer worth doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_seconds: Option<u32>,
    /// Asked just before a run goes to an executor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub still_needed: Option<StillNeeded>,
    #[serde(default = "sixty")]
    pub ready_timeout_seconds: u32,
    #[serde(default = "sixty")]
    pub push_timeout_seconds: u32,
}

impl JobSpec {
    /// What it says about its shards, with the defaults for what it leaves out.
    pub fn shard_settings(&self) -> ShardSettings {
        let usual = ShardSettings::default();
        ShardSettings {
            max_size: self.shard_max_size.unwrap_or(usual.max_size),
            min_size: self.shard_min_size.unwrap_or(usual.min_size),
            on_level_failure: self.on_level_failure.unwrap_or(usual.on_level_failure),
            notify_step: self.notify_step.unwrap_or(usual.notify_step),
        }
    }
}

fn api_version() -> String {
    API_VERSION.to_owned()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn local() -> String {
    "local".to_owned()
}

fn sixty() -> u32 {
    60
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What becomes of a firing that is late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Misfire {
    pub policy: MisfirePolicy,
    /// Later than this is late; so is later than the job's next due time, whichever is earlier.
    pub grace_seconds: u32,
    /// The most that `catchUp` makes good.
    pub max: u32,
}

impl Default for Misfire {
    fn default() -> Self {
        Misfire { policy: MisfirePolicy::FireOnce, grace_seconds: 60, max: 100 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum MisfirePolicy {
    Skip,
    /// The latest missed time runs; the others are folded into it.
    #[default]
    FireOnce,
    /// Oldest first, one at a time.
    CatchUp,
    /// A person is asked; without an answer they are skipped after a day.
    Ask,
}

/// What happens while an instance of the job has a task that is not final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    Allow,
    Skip,
    /// One waits; a further one is skipped.
    #[default]
    Queue,
    /// The old one is stopped; the new one starts when it is final.
    Replace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Supersede {
    /// The latest is worth most: the one that waits is superseded by it.
    Latest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    #[default]
    Unicast,
    Broadcast,
    Sharding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Route {
    RoundRobin,
    Random,
    #[default]
    LeastLoaded,
    ConsistentHash,
    Sticky,
    Label,
}

/// Who knows whether a run is still worth doing. No answer in two seconds is yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "ask", deny_unknown_fields)]
pub enum StillNeeded {
    /// The job's own processor, where it has such a method.
    Processor,
    /// Yes where the query returns a row.
    Sql { connection: String, query: String },
    /// Yes where the answer is 200.
    Http { url: String },
}

/// What happens when a task still runs past its timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Overrun {
    #[default]
    Note,
    Kill,
}

/// A job as the engine keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: JobId,
    pub spec: JobSpec,
    /// Grows by one with every change of the spec; every instance knows the one that made it.
    pub version: u32,
    /// When this version was saved; it plans nothing before.
    pub saved_at: Timestamp,
    /// Firings due up to here have been decided, and are never decided again.
    pub fired_through: Timestamp,
    /// None: nothing is planned, or the next time depends on an instance that has not ended. [`Timestamp::MAX`]: never again.
    pub next_due: Option<Timestamp>,
    pub paused: bool,
    /// When the last instance that the schedule made became final (what `fixedDelay` counts from).
    pub last_final_at: Option<Timestamp>,
}

/// An earlier or present form of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobVersion {
    pub job: JobId,
    pub version: u32,
    pub spec: JobSpec,
    pub saved_at: Timestamp,
    pub saved_by: String,
}
