//! What must be true of runs that are cut into shards.

use std::collections::{BTreeMap, BTreeSet};

use campanile_model::instance::InstanceState;
use campanile_model::sharding::level::worse;
use campanile_model::sharding::{LevelState, Phase, Selection, ShardRange, shard_of};
use campanile_model::task::{Part, TaskState};
use campanile_model::{InstanceId, TaskId};

use crate::checks::{Promise, Violation, broken};
use crate::executor::{Deed, Entry};
use crate::memory_store::{Sharded, Stored};
use crate::runtime::Luck;

/// Shards that a person marks; none: they mean the whole run.
pub fn marked(luck: &mut Luck, of: Option<&Sharded>) -> Selection {
    let Some(sharded) = of.filter(|sharded| !sharded.levels.is_empty()) else { return Selection::default() };
    if luck.chance(500) {
        return Selection::default();
    }
    let levels: Vec<u32> = sharded.levels.keys().copied().collect();
    let mut ranges = Vec::new();
    for _ in 0..=luck.index(2) {
        let level = luck.one_of(&levels);
        let shards = sharded.levels[&level].shards.max(1);
        let from = u32::try_from(luck.index(shards as usize)).unwrap_or(0);
        let until = from + 1 + u32::try_from(luck.index(3)).unwrap_or(0);
        ranges.push(ShardRange { level, from, until });
    }
    Selection::from(ranges)
}

/// What holds at every moment.
pub fn check(stored: &Stored, diary: &[Entry], found: &mut Vec<Violation>) {
    for (id, sharded) in &stored.sharded {
        let mut complain = |what: String| found.push(broken(Promise::Items, format!("run {id}: {what}")));
        for fault in &sharded.faults {
            complain(fault.clone());
        }
        let tally = sharded.run.tally;
        let reopens = matches!(sharded.run.phase, Phase::Loading | Phase::PreProcess | Phase::Reopening);
        if !reopens && tally.done > tally.total {
            complain(format!("{} of {} items are done", tally.done, tally.total));
        }
        every_item_is_somewhere(sharded, &mut complain);
        if sharded.run.phase == Phase::Levels {
            let behind = sharded.levels.range(..sharded.run.front).map(|(_, level)| level.state);
            if behind.clone().any(|state| !state.is_final()) || behind.fold(None, worse) != sharded.run.behind {
                complain(format!("{:?} before level {}: {:?}", sharded.run.behind, sharded.run.front, sharded.levels));
            }
        }
        if sharded.run.phase != Phase::Over && !sharded.run.stopping {
            levels_follow_one_another(stored, *id, &mut complain);
        }
    }
    items_are_given_out_while_nothing_is_known_of_them(diary, found);
}

/// Each item of a level is in one chunk or in the piece of its shard, once.
fn every_item_is_somewhere(sharded: &Sharded, complain: &mut impl FnMut(String)) {
    for level in sharded.levels.values() {
        let chunks =
            sharded.data.values().filter(|chunk| chunk.draft == sharded.run.draft && chunk.level == level.level);
        let mut places: Vec<u64> = chunks.flat_map(|chunk| chunk.first..chunk.end()).collect();
        for (piece, said) in sharded.pieces.values().filter(|(piece, _)| piece.at.level == level.level) {
            let of_piece = (piece.at.first..).step_by(level.shards.max(1) as usize).take(piece.items.len());
            for place in of_piece {
                if shard_of(place, level.shards.max(1)) != piece.at.shard {
                    complain(format!("item {place} of level {} is in shard {}", level.level, piece.at.shard));
                }
                places.push(place);
            }
            if said.len() != piece.items.len() {
                complain(format!("{} outcomes of {} items", said.len(), piece.items.len()));
            }
        }
        places.sort_unstable();
        if !places.iter().copied().eq(0..level.items) {
            complain(format!("of {} items of level {} there are {places:?}", level.items, level.level));
        }
    }
}

/// No shard of a level has begun while one before it goes on.
fn levels_follow_one_another(stored: &Stored, id: InstanceId, complain: &mut impl FnMut(String)) {
    let tasks = stored.tasks_of.get(&id).into_iter().flatten().filter_map(|task| stored.tasks.get(task));
    let open: BTreeSet<u32> = tasks
        .filter(|task| !task.row.state().is_final())
        .filter_map(|task| match task.row.part {
            Some(Part::Shard { level, .. }) => Some(level),
            _ => None,
        })
        .collect();
    if open.len() > 1 {
        complain(format!("levels {open:?} run at once"));
    }
}

fn items_are_given_out_while_nothing_is_known_of_them(diary: &[Entry], found: &mut Vec<Violation>) {
    // By which attempt it was acknowledged. One before it, frozen since it got its items, still has them in hand.
    let mut known: BTreeMap<TaskId, BTreeMap<u64, u32>> = BTreeMap::new();
    for entry in diary {
        let task = entry.attempt.task;
        match &entry.deed {
            Deed::ItemsAcknowledged(items) => {
                let known = known.entry(task).or_default();
                for item in items {
                    known.entry(*item).or_insert(entry.attempt.attempt);
                }
            }
            Deed::GotItems(items) => {
                let known = known.entry(task).or_default();
                let is_known = |item: &&u64| known.get(item).is_some_and(|by| *by <= entry.attempt.attempt);
                let again: Vec<&u64> = items.iter().filter(is_known).collect();
                if !again.is_empty() {
                    found.push(broken(Promise::Items, format!("{task} got {again:?} again")));
                }
            }
            Deed::SawEnds(ends) => {
                let places: Vec<(u32, u32)> = ends.iter().map(|(level, shard, _)| (*level, *shard)).collect();
                if !places.is_sorted() || places.windows(2).any(|pair| pair[0] == pair[1]) {
                    found.push(broken(Promise::Items, format!("{task} was shown ends out of order: {ends:?}")));
                }
                if ends.iter().any(|(_, _, code)| *code < 300) {
                    found.push(broken(Promise::Items, format!("{task} was shown what has not ended: {ends:?}")));
                }
            }
            Deed::Began | Deed::Ended(_) | Deed::EndAcknowledged(_) => {}
        }
    }
}

/// What holds once everything has ended.
pub fn ended(stored: &Stored, diary: &[Entry], found: &mut Vec<Violation>) {
    for (id, sharded) in &stored.sharded {
        let Some(instance) = stored.instances.get(id).map(|placed| &placed.row) else { continue };
        let run = &sharded.run;
        let mut complain = |what: String| {
            found.push(broken(Promise::Items, format!("run {id}, {}, round {}: {what}", instance.state, run.round)));
        };
        if run.phase != Phase::Over {
            complain(format!("is {:?} still", run.phase));
        }
        let levels: Vec<LevelState> = sharded.levels.values().map(|level| level.state).collect();
        let by_itself = matches!(instance.state, InstanceState::Succeeded | InstanceState::Failed);
        if by_itself && !levels.is_empty() && run.tally.done != run.tally.total {
            complain(format!("{} of {} items are done; levels {levels:?}", run.tally.done, run.tally.total));
        }
        let all_well = levels.iter().all(|level| *level == LevelState::Succeeded);
        if instance.state == InstanceState::Succeeded && !all_well {
            complain(format!("and its levels {levels:?}"));
        }
        if by_itself && run.notifies && !levels.is_empty() && run.told != run.tally.total {
            complain(format!("the last notice said {} of {}", run.told, run.tally.total));
        }
        if by_itself && run.post_processes && !levels.is_empty() && run.post.is_none() {
            complain("post_process was not called".to_owned());
        }
    }
    // What was acknowledged is kept.
    for entry in diary {
        let Deed::ItemsAcknowledged(items) = &entry.deed else { continue };
        let Some(task) = stored.tasks.get(&entry.attempt.task).map(|placed| &placed.row) else { continue };
        let Some(Part::Shard { level, index, count, .. }) = task.part else { continue };
        let Some(sharded) = stored.sharded.get(&task.instance) else { continue };
        for item in items {
            let kept = sharded.pieces.values().any(|(piece, said)| {
                (piece.at.level, piece.at.shard) == (level, index)
                    && piece.at.first <= *item
                    && usize::try_from((item - piece.at.first) / u64::from(count))
                        .is_ok_and(|place| said.of(place).is_some())
            });
            if !kept {
                found.push(broken(Promise::Items, format!("what {} said of item {item} is lost", task.id)));
            }
        }
        if task.state() == TaskState::Running {
            found.push(broken(Promise::Items, format!("{} runs still", task.id)));
        }
    }
}
