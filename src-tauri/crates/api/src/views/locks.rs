//! Locks that tasks hold and wait for.

use campanile_model::Timestamp;
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
    /// Through which node.
    pub node: String,
    pub since: Moment,
    /// When the lease ends unless it is renewed, or the patience of one that waits.
    pub until: Moment,
}
