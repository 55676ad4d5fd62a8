//! A further round: shards that did not succeed run again with the items of which nothing is known, then the levels
//! that never ran, then `post_process`.

use campanile_model::TaskId;
use campanile_model::sharding::level::opens_again;
use campanile_model::sharding::{Level, LevelState, Phase, Selection, ShardRun, Tally};
use campanile_model::task::{Part, Step, Task, TaskState};
use campanile_store::ShardWrite;

use super::dealing::TASKS;
use super::{Case, Conductor, Went, write_of};
use crate::dispatcher::outcome;
use crate::officer::PassError;

/// The run as its next round begins, which takes these of the shards that did not succeed (none: all of them). Whoever
/// asks for it writes it.
pub fn next_round(run: &ShardRun, again: Option<Selection>) -> ShardWrite {
    let done = i64::try_from(run.tally.done).unwrap_or(i64::MAX);
    let run = ShardRun {
        phase: Phase::Reopening,
        round: run.round + 1,
        tally: Tally::default(),
        told: 0,
        notices: Vec::new(),
        post: None,
        front: 0,
        behind: None,
        stopping: false,
        again,
        stops: Selection::default(),
        ..run.clone()
    };
    ShardWrite { done: -done, ..ShardWrite::of(run) }
}

impl Conductor<'_> {
    /// Lays out what the round has to do.
    pub(super) async fn reopen(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let store = &self.shared.store;
        let levels = store.levels(case.instance.id).await?;
        if levels.is_empty() {
            return self.reopen_the_beginning(case).await;
        }
        let mut total = 0;
        let mut opened = Vec::with_capacity(levels.len());
        for level in levels {
            let is_asked_for = case.run.again.as_ref().is_none_or(|again| again.touches(level.level));
            if !opens_again(level.state, is_asked_for, level.made > 0) {
                continue;
            }
            total += self.open_items(case, &level).await?;
            let state = LevelState::Waiting;
            opened.push(Level { state, waits_since: None, started_at: None, ended_at: None, ..level });
        }
        let run = ShardRun { phase: Phase::Levels, tally: Tally { done: 0, total }, ..case.run.clone() };
        Ok(Went::did(self.write(&ShardWrite { levels: opened, ..ShardWrite::of(run) }).await?))
    }

    /// Items of a level that the round has not come to: those that are no shard's yet, and those of shards that did not
    /// succeed in an earlier round.
    pub(super) async fn open_items(&self, case: &Case<'_>, level: &Level) -> Result<u64, PassError> {
        let (mut dealt, mut open) = (0, 0);
        self.each_shard(case, level, |task, _| {
            if let Some(Part::Shard { items, done, .. }) = task.part {
                dealt += items;
                if is_to_run_again(&case.run, task) {
                    open += items.saturating_sub(done);
                }
            }
        })
        .await?;
        Ok(open + level.items.saturating_sub(dealt))
    }

    /// It did not come to its levels.
    async fn reopen_the_beginning(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let pre = self.shared.store.tasks_after(case.instance.id, None, 1).await?.pop();
        let pre = pre.filter(|task| matches!(task.part, Some(Part::PreProcess { .. })));
        let phase = match &pre {
            Some(_) => Phase::PreProcess,
            None => Phase::Loading,
        };
        if let Some(task) = pre.filter(|task| task.state().is_final() && task.state() != TaskState::Succeeded) {
            let steps: Vec<Step> = outcome::another_round(task, case.run.round, self.now).into_iter().collect();
            return Ok(Went::did(self.shared.store.take(self.lead, &steps).await?.len()));
        }
        let run = ShardRun { phase, ..case.run.clone() };
        Ok(Went::did(self.write(&ShardWrite::of(run)).await?))
    }

    /// Shards of a level that ran in an earlier round.
    pub(super) async fn run_again(&self, case: &Case<'_>, level: Level) -> Result<Went, PassError> {
        let round = case.run.round;
        let mut failed: Vec<TaskId> = Vec::new();
        self.each_shard(case, &level, |task, _| {
            if task.state().is_final() && is_to_run_again(&case.run, task) {
                failed.push(task.id);
            }
        })
        .await?;
        let mut did = 0;
        for some in failed.chunks(TASKS) {
            let tasks = self.shared.store.tasks(some).await?.into_iter();
            let tasks = tasks.filter(|task| task.state().is_final() && is_to_run_again(&case.run, task));
            let steps: Vec<Step> =
                tasks.filter_map(|task| outcome::another_round(task, round, self.now).ok()).collect();
            did += self.shared.store.take(self.lead, &steps).await?.len();
        }
        if did > 0 {
            // Looked at once more before the level goes on: a step may have been lost.
            self.shared.coord.ring(campanile_coord::Bell::Monitor);
            return Ok(Went::did(did));
        }
        let write = ShardWrite { levels: vec![Level { round, ..level }], ..write_of(case) };
        Ok(Went::did(self.write(&write).await?))
    }
}

/// A shard of an earlier round that did not succeed and is among those that this one takes.
fn is_to_run_again(run: &ShardRun, task: &Task) -> bool {
    let Some(Part::Shard { level, index, round, .. }) = task.part else { return false };
    round < run.round && task.state() != TaskState::Succeeded && run.takes_again(level, index)
}
