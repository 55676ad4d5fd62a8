//! What an executor is called for where a task is a part of a run that is cut into shards. Pure.

use campanile_model::sharding::{PieceAt, ShardRun, Tally};
use campanile_model::task::{Part, Task};

use crate::courier::Contents;
use crate::link::{Method, Shard};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Called {
    pub method: Method,
    pub shard: Option<Shard>,
    pub notice: Option<Tally>,
    /// What comes after the push.
    pub follows: Option<Contents>,
}

pub(super) fn called(task: &Task, run: Option<&ShardRun>) -> Called {
    let (Some(part), Some(run)) = (task.part, run) else { return Called::default() };
    let once = Shard { level_count: run.level_count, round: run.round, items: run.tally.total, ..Shard::default() };
    match part {
        Part::PreProcess { .. } => Called {
            method: Method::PreProcess,
            shard: Some(once),
            notice: None,
            follows: Some(Contents::Data { draft: run.draft, from: (0, 0) }),
        },
        Part::Shard { level, index, count, round, items, done } => Called {
            method: Method::ShardingProcess,
            shard: Some(Shard {
                level,
                level_count: run.level_count,
                index: Some(index),
                count,
                round,
                items: items.saturating_sub(done),
            }),
            notice: None,
            follows: Some(Contents::Items { from: PieceAt { level, shard: index, first: 0 }, count }),
        },
        Part::Notify { done, total } => {
            Called { method: Method::Notify, shard: Some(once), notice: Some(Tally { done, total }), follows: None }
        }
        Part::PostProcess { round } => Called {
            method: Method::PostProcess,
            shard: Some(Shard { round, ..once }),
            notice: None,
            follows: Some(Contents::Ends { after: None }),
        },
    }
}

/// Which shard of how many, as templates know it.
pub(super) fn place(task: &Task) -> (u32, u32) {
    match task.part {
        Some(Part::Shard { index, count, .. }) => (index, count),
        _ => (0, 1),
    }
}
