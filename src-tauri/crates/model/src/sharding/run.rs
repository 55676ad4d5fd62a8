//! A sharded run as it is kept: how far it is, and each of its levels.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{LevelState, Selection, Tally};
use crate::{InstanceId, TaskId, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Its data is being taken in.
    Loading,
    PreProcess,
    /// Its levels, one after another.
    Levels,
    PostProcess,
    /// It has ended, and what failed or never ran is to run again.
    Reopening,
    /// Nothing more is done for it.
    Over,
}

impl Phase {
    pub const ALL: [Phase; 6] =
        [Phase::Loading, Phase::PreProcess, Phase::Levels, Phase::PostProcess, Phase::Reopening, Phase::Over];

    pub const fn name(self) -> &'static str {
        match self {
            Phase::Loading => "loading",
            Phase::PreProcess => "preProcess",
            Phase::Levels => "levels",
            Phase::PostProcess => "postProcess",
            Phase::Reopening => "reopening",
            Phase::Over => "over",
        }
    }

    pub fn named(name: &str) -> Option<Phase> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// Stores keep it whole, beside what they look for and count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShardRun {
    pub instance: InstanceId,
    /// Grows by one with every write of its own; a write names the one it has seen. Steps of its tasks leave it alone.
    pub fence: u64,
    pub phase: Phase,
    /// All of the data that it was given is there.
    #[serde(default)]
    pub loaded: bool,
    /// 1, and one more each time that failed shards are retried.
    pub round: u32,
    /// Which draft of the data counts.
    pub draft: u32,
    /// Items of the round, and those of them of which the outcome is known. `done` grows with the steps of tasks.
    pub tally: Tally,
    /// How many were done when `notify` was called last.
    pub told: u64,
    /// The calls of `notify` in this round, in the order in which they were made.
    #[serde(default)]
    pub notices: Vec<TaskId>,
    /// The task of `post_process`.
    pub post: Option<TaskId>,
    pub level_count: u32,
    /// The levels before this one are final in this round ...
    #[serde(default)]
    pub front: u32,
    /// ... and this is the worst that became of them, where not all have succeeded.
    #[serde(default)]
    pub behind: Option<LevelState>,
    /// What its processor has beside `sharding_process` and `pre_process`.
    pub notifies: bool,
    pub post_processes: bool,
    /// Someone asked for its end: nothing of it begins any more.
    pub stopping: bool,
    /// Of what did not succeed before, this round takes these; none: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Selection>,
    /// Someone asked for the end of these, and it is still to be passed on.
    #[serde(default, skip_serializing_if = "Selection::is_empty")]
    pub stops: Selection,
}

impl ShardRun {
    /// One that begins.
    pub fn new(instance: InstanceId) -> ShardRun {
        ShardRun {
            instance,
            fence: 0,
            phase: Phase::Loading,
            loaded: false,
            round: 1,
            draft: 0,
            tally: Tally::default(),
            told: 0,
            notices: Vec::new(),
            post: None,
            level_count: 0,
            front: 0,
            behind: None,
            notifies: false,
            post_processes: false,
            stopping: false,
            again: None,
            stops: Selection::default(),
        }
    }

    /// Whether a shard that did not succeed in an earlier round runs in this one.
    pub fn takes_again(&self, level: u32, shard: u32) -> bool {
        self.again.as_ref().is_none_or(|again| again.has(level, shard))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    pub level: u32,
    pub items: u64,
    pub state: LevelState,
    /// 0 while it has not started.
    pub shards: u32,
    /// So many items have been dealt into pieces of shards.
    pub dealt: u64,
    /// So many of its shards are tasks, of which this is the first.
    pub made: u32,
    pub first: Option<TaskId>,
    /// To whom its shards were dealt last.
    pub executors: BTreeSet<String>,
    /// The round in which its shards last ran.
    pub round: u32,
    /// Since when it could start and nobody was there.
    pub waits_since: Option<Timestamp>,
    /// In this round, as the next one.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
}

impl Level {
    pub fn new(level: u32, items: u64) -> Level {
        Level {
            level,
            items,
            state: LevelState::Waiting,
            shards: 0,
            dealt: 0,
            made: 0,
            first: None,
            executors: BTreeSet::new(),
            round: 0,
            waits_since: None,
            started_at: None,
            ended_at: None,
        }
    }

    /// The same, at its end.
    #[must_use]
    pub fn ended(self, state: LevelState, at: Timestamp) -> Level {
        Level { state, ended_at: Some(at), ..self }
    }
}
