//! Sharded runs in memory.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use campanile_model::instance::{Instance, InstanceMove, InstanceState};
use campanile_model::sharding::{Chunk, Level, Outcomes, Phase, Piece, PieceAt, PieceOutcomes, ShardRun};
use campanile_model::task::{Step, Task};
use campanile_model::{InstanceId, Partitions, TaskId};
use campanile_store::{Lead, Result, ShardStore, ShardWrite, Taken};

use super::{MemoryStore, Placed, Stored, rows_of};

/// A sharded run with all that belongs to it.
#[derive(Clone)]
pub struct Sharded {
    pub run: ShardRun,
    pub levels: BTreeMap<u32, Level>,
    /// By draft, level and place.
    pub data: BTreeMap<(u32, u32, u64), Chunk>,
    pub pieces: BTreeMap<PieceAt, (Piece, Outcomes)>,
    /// Promises that a write has broken.
    pub faults: Vec<String>,
    /// What became of levels while they ran.
    pub seen: BTreeSet<&'static str>,
}

impl Sharded {
    /// What a step brings beside its task.
    pub(super) fn take(&mut self, step: &Step) {
        self.run.tally.done += step.done();
        for chunk in step.data() {
            self.data.entry((chunk.draft, chunk.level, chunk.first)).or_insert_with(|| chunk.clone());
        }
        for PieceOutcomes { at, outcomes } in step.outcomes() {
            if let Some((_, said)) = self.pieces.get_mut(at) {
                let lost = said.marks().chars().zip(outcomes.marks().chars()).any(|(was, is)| was != '.' && was != is);
                if lost || said.len() != outcomes.len() {
                    self.faults.push(format!("{at:?} was {} and became {}", said.marks(), outcomes.marks()));
                }
                said.clone_from(outcomes);
            }
        }
    }
}

impl Stored {
    pub(super) fn conduct(&mut self, write: &ShardWrite) -> Taken {
        let id = write.run.instance;
        let mut run = ShardRun { fence: write.run.fence + 1, ..write.run.clone() };
        let more = |done: u64| done.saturating_add_signed(write.done);
        match write.begins {
            Some(at) => {
                let has_tasks = self.has_tasks(id);
                let Some(placed) = self.instances.get_mut(&id) else { return Taken::Lost };
                let open = placed.row.state == InstanceState::Waiting && placed.row.assigned_at.is_none();
                if !open || has_tasks || write.run.fence != 0 {
                    return Taken::Lost;
                }
                placed.row.assigned_at = Some(at);
                run.tally.done = more(0);
                let begun = Sharded {
                    run,
                    levels: BTreeMap::new(),
                    data: BTreeMap::new(),
                    pieces: BTreeMap::new(),
                    faults: Vec::new(),
                    seen: BTreeSet::new(),
                };
                self.sharded.insert(id, begun);
            }
            None => {
                let ended = self.instances.get(&id).is_none_or(|placed| placed.row.state.is_final());
                if ended && write.reopens.is_none() && !write.tasks.is_empty() {
                    return Taken::Lost;
                }
                let seen = self.sharded.get_mut(&id).filter(|sharded| sharded.run.fence == write.run.fence);
                let Some(sharded) = seen else { return Taken::Lost };
                run.tally.done = more(sharded.run.tally.done);
                if run.round == sharded.run.round && run.tally.done < sharded.run.tally.done {
                    sharded
                        .faults
                        .push(format!("progress went from {} back to {}", sharded.run.tally.done, run.tally.done));
                }
                sharded.run = run;
            }
        }
        if let Some(at) = write.reopens {
            self.move_instance(&InstanceMove { instance: id, to: InstanceState::Running, at, result: None });
        }
        let Some(sharded) = self.sharded.get_mut(&id) else { return Taken::Lost };
        for level in &write.levels {
            let before =
                sharded.levels.get(&level.level).filter(|before| before.made > 0 && before.round == level.round);
            let Some(before) = before else { continue };
            if level.executors.difference(&before.executors).next().is_some() {
                sharded.seen.insert("level dealt to whoever came");
            }
            if before.executors.difference(&level.executors).next().is_some() {
                sharded.seen.insert("level dealt to who is left");
            }
        }
        sharded.levels.extend(write.levels.iter().map(|level| (level.level, level.clone())));
        for chunk in &write.data {
            sharded.data.entry((chunk.draft, chunk.level, chunk.first)).or_insert_with(|| chunk.clone());
        }
        if let Some((data, through)) = write.takes
            && let Some((_, chunks)) = self.staged.get_mut(&data)
        {
            chunks.retain(|at, _| *at >= through);
        }
        let draft = sharded.run.draft;
        if write.adopts {
            sharded.data.retain(|(of, _, _), _| *of == draft);
        }
        if let Some((level, through)) = write.dealt {
            sharded.data.retain(|(of, at, first), _| *of != draft || *at != level || *first >= through);
        }
        let none = |piece: &Piece| (piece.at, (piece.clone(), Outcomes::none(piece.items.len())));
        sharded.pieces.extend(write.pieces.iter().map(none));
        for task in &write.tasks {
            let order = self.next_order();
            self.tasks.insert(task.id, Placed { order, row: task.clone() });
            self.tasks_of.entry(id).or_default().push(task.id);
        }
        Taken::Done
    }

    /// The shards of these, in order.
    fn item_outcomes(&self, of: &[(InstanceId, PieceAt, u64)]) -> Vec<(InstanceId, PieceOutcomes)> {
        let mut found = Vec::new();
        for (id, sharded) in &self.sharded {
            let wanted = |at: &PieceAt| {
                of.iter().any(|(instance, from, last)| {
                    let is_of_shard = instance == id && (at.level, at.shard) == (from.level, from.shard);
                    is_of_shard && (from.first..=*last).contains(&at.first)
                })
            };
            let pieces = sharded.pieces.iter().filter(|(at, _)| wanted(at));
            found.extend(pieces.map(|(at, (_, said))| (*id, PieceOutcomes { at: *at, outcomes: said.clone() })));
        }
        found
    }
}

#[async_trait]
impl ShardStore for MemoryStore {
    async fn conduct(&self, lead: &Lead, write: &ShardWrite) -> Result<Taken> {
        self.lead("conduct", lead, |stored| stored.conduct(write)).await
    }

    async fn shard_runs(&self, of: Partitions, after: Option<InstanceId>, limit: usize) -> Result<Vec<ShardRun>> {
        self.read("shard_runs", |stored| {
            let after = after.and_then(|after| stored.instances.get(&after)).map_or(0, |placed| placed.order);
            let wanted = |instance: &&Instance| of.has(instance.job) && stored.instances[&instance.id].order > after;
            let instances = stored.instances_in_order().into_iter().filter(wanted);
            let runs = instances.filter_map(|instance| stored.sharded.get(&instance.id));
            runs.filter(|one| one.run.phase != Phase::Over).map(|one| one.run.clone()).take(limit).collect()
        })
        .await
    }

    async fn shard_run(&self, instance: InstanceId) -> Result<Option<ShardRun>> {
        self.read("shard_run", |stored| stored.sharded.get(&instance).map(|sharded| sharded.run.clone())).await
    }

    async fn levels(&self, instance: InstanceId) -> Result<Vec<Level>> {
        self.read("levels", |stored| {
            stored.sharded.get(&instance).map(|one| one.levels.values().cloned().collect()).unwrap_or_default()
        })
        .await
    }

    async fn levels_from(&self, instance: InstanceId, from: u32, limit: usize) -> Result<Vec<Level>> {
        self.read("levels_from", |stored| {
            let levels = stored.sharded.get(&instance).into_iter().flat_map(|one| one.levels.range(from..));
            levels.map(|(_, level)| level.clone()).take(limit).collect()
        })
        .await
    }

    async fn level_sizes(&self, instance: InstanceId, draft: u32) -> Result<Vec<(u32, u64)>> {
        self.read("level_sizes", |stored| {
            let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
            let chunks = stored.sharded.get(&instance).into_iter().flat_map(|sharded| sharded.data.values());
            for chunk in chunks.filter(|chunk| chunk.draft == draft) {
                *sizes.entry(chunk.level).or_default() += chunk.items.len() as u64;
            }
            sizes.into_iter().collect()
        })
        .await
    }

    async fn chunks(&self, instance: InstanceId, draft: u32, from: (u32, u64), limit: usize) -> Result<Vec<Chunk>> {
        self.read("chunks", |stored| {
            let chunks = stored.sharded.get(&instance).into_iter().flat_map(|sharded| sharded.data.values());
            let wanted = chunks.filter(|chunk| chunk.draft == draft && (chunk.level, chunk.first) >= from);
            wanted.take(limit).cloned().collect()
        })
        .await
    }

    async fn pieces(
        &self,
        from: &[(InstanceId, PieceAt)],
        limit: usize,
    ) -> Result<Vec<(InstanceId, Piece, PieceOutcomes)>> {
        self.read("pieces", |stored| {
            let mut found = Vec::new();
            for (instance, from) in from {
                let pieces = stored.sharded.get(instance).into_iter().flat_map(|sharded| sharded.pieces.values());
                let shard = |at: &PieceAt| (at.level, at.shard);
                let wanted =
                    pieces.filter(|(piece, _)| shard(&piece.at) == shard(from) && piece.at.first >= from.first);
                found.extend(wanted.take(limit).map(|(piece, said)| {
                    (*instance, piece.clone(), PieceOutcomes { at: piece.at, outcomes: said.clone() })
                }));
            }
            found.sort_by_key(|(instance, piece, _)| (*instance, piece.at));
            found
        })
        .await
    }

    async fn item_outcomes(&self, of: &[(InstanceId, PieceAt, u64)]) -> Result<Vec<(InstanceId, PieceOutcomes)>> {
        self.read("item_outcomes", |stored| stored.item_outcomes(of)).await
    }

    async fn tasks_after(&self, instance: InstanceId, after: Option<TaskId>, limit: usize) -> Result<Vec<Task>> {
        self.read("tasks_after", |stored| {
            let last = after.and_then(|after| stored.tasks.get(&after)).map_or(0, |placed| placed.order);
            let of_it = stored.tasks_of.get(&instance).into_iter().flatten().filter_map(|id| stored.tasks.get(id));
            let mut found: Vec<&Placed<Task>> = of_it.filter(|placed| placed.order > last).collect();
            found.sort_by_key(|placed| placed.order);
            rows_of(found).take(limit).collect()
        })
        .await
    }

    async fn open_tasks(&self, instance: InstanceId, limit: usize) -> Result<Vec<Task>> {
        self.read("open_tasks", |stored| {
            let of_it = stored.tasks_of.get(&instance).into_iter().flatten().filter_map(|id| stored.tasks.get(id));
            let open = of_it.filter(|placed| !placed.row.state().is_final());
            open.map(|placed| placed.row.clone()).take(limit).collect()
        })
        .await
    }
}
