//! A node of a team, as it is written down for the others and for people.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

/// One running engine, as it last said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeEntry {
    /// Of one life: its name and what is drawn when it starts. The holder of its leases.
    pub node: String,
    /// What people call it.
    pub name: String,
    /// Where executors reach it, host:port; empty: they do not.
    pub executors_at: String,
    /// Where consoles reach it, host:port; empty: they do not.
    pub console_at: String,
    pub version: String,
    /// How far its machine's clock is from the database's, which it goes by.
    pub offset_ms: i64,
    /// So many of the launch partitions are with it.
    pub partitions: u32,
    pub since: Timestamp,
    pub seen_at: Timestamp,
}
