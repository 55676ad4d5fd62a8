//! Which part of a sharded run a task is.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A task without one is all of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "is")]
pub enum Part {
    /// What it has given so far in the place of the data: where the next value goes, and whether that was all.
    #[serde(rename_all = "camelCase")]
    PreProcess {
        level: u32,
        #[ts(type = "number")]
        next: u64,
        whole: bool,
    },
    /// `done`: items of which the outcome was reported.
    #[serde(rename_all = "camelCase")]
    Shard {
        level: u32,
        index: u32,
        count: u32,
        round: u32,
        #[ts(type = "number")]
        items: u64,
        #[ts(type = "number")]
        done: u64,
    },
    #[serde(rename_all = "camelCase")]
    Notify {
        #[ts(type = "number")]
        done: u64,
        #[ts(type = "number")]
        total: u64,
    },
    #[serde(rename_all = "camelCase")]
    PostProcess { round: u32 },
}

impl Part {
    /// As the next attempt finds it: outcomes that were reported stay, data that did not come whole does not.
    #[must_use]
    pub fn again(self) -> Part {
        match self {
            Part::PreProcess { .. } => Part::PreProcess { level: 0, next: 0, whole: false },
            part => part,
        }
    }
}
