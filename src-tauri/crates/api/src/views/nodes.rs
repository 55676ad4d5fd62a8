//! The nodes of a team and what each leads.

use campanile_model::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::*;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct NodeList {
    pub now: Timestamp,
    /// Those that are there before those that have gone, by name. None on a data folder: one program drives it alone.
    pub rows: Vec<NodeRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct NodeRow {
    /// Of one life.
    pub node: String,
    /// What people call it.
    pub name: String,
    /// It was seen within its lease.
    pub live: bool,
    pub version: String,
    /// Where executors reach it; empty: they do not.
    pub executors_at: String,
    /// Where consoles reach it; empty: they do not.
    pub console_at: String,
    /// How far its machine's clock is from the database's.
    #[ts(type = "number")]
    pub offset_ms: i64,
    /// So many of the launch partitions are with it, of so many.
    pub partitions: u32,
    pub partitions_of: u32,
    /// What it does for the whole team.
    pub duties: Vec<NodeDuty>,
    pub since: Moment,
    pub seen: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum NodeDuty {
    /// Carries out what people ask.
    Clerk,
    /// Tasks that wait, and what was with nodes that are gone.
    Monitor,
    Alerter,
    Sweeper,
}
