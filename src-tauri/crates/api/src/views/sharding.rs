//! A run that is cut into shards, as it is shown: how far it is, its phases, its levels, and where each shard stands.
//!
//! What may be long comes in columns, and in pages.

use campanile_model::sharding::{Phase, Tally};
use campanile_model::task::TaskState;
use campanile_model::{Failure, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LogLineView, Moment, TaskRow};

/// How far a run is that is cut into shards; beside its row wherever that is shown.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShardProgress {
    pub phase: Phase,
    /// 1, and one more each time that failed shards are retried. Progress is that of the round.
    pub round: u32,
    pub tally: Tally,
    pub levels: u32,
    pub stopping: bool,
}

/// A run in progress, in a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ShardedNow {
    pub instance: String,
    pub phase: Phase,
    pub round: u32,
    pub tally: Tally,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShardingView {
    pub now: Timestamp,
    pub progress: ShardProgress,
    /// Since when the present round has been at its items.
    pub since: Option<Timestamp>,
    pub pre: Option<PhaseTask>,
    /// Of this round.
    pub notices: Vec<PhaseTask>,
    pub post: Option<PhaseTask>,
    /// The first of them.
    pub levels: LevelColumns,
}

/// What is done once for a run, or now and then: `pre_process`, a call of `notify`, `post_process`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PhaseTask {
    pub task: String,
    pub state: TaskState,
    pub attempt: u32,
    /// Of a notice: the progress that it told.
    pub told: Option<Tally>,
    pub due: Moment,
    pub started: Option<Moment>,
    pub finished: Option<Moment>,
    pub executor: Option<String>,
    pub failure: Option<Failure>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct ListLevels {
    pub instance: String,
    /// No level below this one.
    pub from: Option<u32>,
}

/// Levels that have items, in order, column by column.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct LevelColumns {
    pub level: Vec<u32>,
    #[ts(type = "number[]")]
    pub items: Vec<u64>,
    pub state: Vec<campanile_model::sharding::LevelState>,
    /// 0 while it has not started.
    pub shards: Vec<u32>,
    /// So many of them are tasks.
    pub made: Vec<u32>,
    pub started: Vec<Option<Timestamp>>,
    pub ended: Vec<Option<Timestamp>>,
    /// It could start, and nobody is there.
    pub waits_since: Vec<Option<Timestamp>>,
    /// Where to go on.
    pub next: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct ListShards {
    pub instance: String,
    pub cursor: Option<i64>,
}

/// Where shards stand, column by column. How many items each has follows from its level.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ShardColumns {
    pub level: Vec<u32>,
    pub shard: Vec<u32>,
    pub state: Vec<TaskState>,
    /// Items of which the outcome was reported.
    #[ts(type = "number[]")]
    pub done: Vec<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShardPage {
    /// In order.
    pub shards: ShardColumns,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
    /// What changes from here on is told by `shard_changes` since this place.
    #[ts(type = "number")]
    pub seen: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AskShardChanges {
    pub instance: String,
    #[ts(type = "number")]
    pub since: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShardChanges {
    pub shards: ShardColumns,
    #[ts(type = "number")]
    pub seen: i64,
    /// There is more: ask again.
    pub more: bool,
    /// So much has happened since that all of it is read sooner than what has changed.
    pub anew: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfShard {
    pub instance: String,
    pub level: u32,
    pub shard: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShardView {
    pub task: TaskRow,
    /// The last lines that its present attempt wrote, at most five.
    pub tail: Vec<LogLineView>,
}
