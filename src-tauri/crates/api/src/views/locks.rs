//! Locks that tasks hold and wait for.

use campanile_model::Timestamp;
use campanile_model::task::Part;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::*;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LockList {
    pub now: Timestamp,
    /// By name.
    pub rows: Vec<LockView>,
    /// There are more than are written down.
    pub left_out: u32,
    /// None: there is no place that all nodes of the team see, and none are given out.
    pub kept: Option<LocksKept>,
}

/// Where it is known who holds what: what a lock is worth hangs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LocksKept {
    /// In the memory of the one program that gives them out.
    Process,
    /// In the Redis of the team.
    Redis,
    /// In several Redis servers that share nothing: held where most of them say so.
    Majority,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LockView {
    pub lock: String,
    /// None: it is waited for, and whoever has it is not known here.
    pub holder: Option<LockParty>,
    /// The fencing token of the holding.
    pub token: Option<u64>,
    /// How often the holder has entered it.
    pub count: u32,
    /// It is kept alive until it is left; else it ends at `until`.
    pub watched: bool,
    /// Who has waited longest comes first.
    pub waiters: Vec<LockParty>,
}

/// An attempt that holds or waits.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LockParty {
    pub group: String,
    pub executor: String,
    pub task: String,
    pub attempt: u32,
    /// The run that the task is of, as long as it is kept.
    pub of: Option<LockRun>,
    /// Through which node.
    pub node: String,
    pub since: Moment,
    /// When the lease ends unless it is renewed, or the patience of one that waits.
    pub until: Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LockRun {
    pub instance: String,
    pub job_name: String,
    /// Which part it is of a run that is cut into shards.
    pub part: Option<Part>,
}
