//! A level that runs: its items dealt into shards, its shards made tasks, and dealt anew when executors come or go.

use std::collections::BTreeSet;

use campanile_coord::Bell;
use campanile_model::sharding::data::pieces_of;
use campanile_model::sharding::deal::{Change, Open, deal, deal_again};
use campanile_model::sharding::level;
use campanile_model::sharding::plan::Cut;
use campanile_model::sharding::{Chunk, Level, LevelState};
use campanile_model::task::{Need, Part, Task, TaskState};
use campanile_model::{InstanceId, TaskId};
use campanile_store::{ShardWrite, Store};

use super::{Case, Conductor, Went, need_of, write_of};
use crate::dispatcher::outcome;
use crate::link::Method;
use crate::officer::PassError;

/// Chunks that are read at once.
const CHUNKS: usize = 32;

/// Of values that are dealt in one write, or little more than one chunk beyond it: the fewer writes a level takes, the
/// fewer pieces each of its shards is in.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Shards that become tasks in one write, and tasks that are read or moved at once.
pub(super) const TASKS: usize = 500;

impl Conductor<'_> {
    pub(super) async fn go_on(&self, case: &Case<'_>, level: Level) -> Result<Went, PassError> {
        if level.dealt < level.items {
            return self.deal_items(case, level).await;
        }
        if level.made < level.shards {
            return self.make_tasks(case, level).await;
        }
        if level.round < case.run.round {
            return self.run_again(case, level).await;
        }
        let moved = self.deal_anew(case, &level).await?;
        if moved > 0 {
            return Ok(Went::did(moved));
        }
        // A notice may be under way beside the shards, never two.
        let open = self.shared.store.open_tasks(case.instance.id, 2).await?;
        if open.iter().any(|task| matches!(task.part, Some(Part::Shard { .. }))) {
            return Ok(Went::default());
        }
        let mut states = Vec::new();
        self.each_shard(case, &level, |task, _| states.push(task.state())).await?;
        let state = level::ended(states);
        let ended = level.ended(state, self.now);
        Ok(Went::did(self.write(&ShardWrite { levels: vec![ended], ..write_of(case) }).await?))
    }

    async fn deal_items(&self, case: &Case<'_>, level: Level) -> Result<Went, PassError> {
        let chunks = self.chunks_of(case, &level).await?;
        let Some(last) = chunks.last() else {
            tracing::error!(instance = %case.instance.id, level = level.level, "data of the level is missing");
            let failed = Level { dealt: level.items, ..level }.ended(LevelState::Failed, self.now);
            return Ok(Went::did(self.write(&ShardWrite { levels: vec![failed], ..write_of(case) }).await?));
        };
        let dealt = last.end();
        let pieces = pieces_of(chunks, level.shards);
        let through = Some((level.level, dealt));
        let level = Level { dealt, ..level };
        // A small level begins with one write.
        let (tasks, level) = match dealt < level.items {
            true => (Vec::new(), level),
            false => self.next_tasks(case, level),
        };
        let write = ShardWrite { pieces, dealt: through, levels: vec![level], tasks, ..write_of(case) };
        Ok(Went::did(self.write(&write).await?))
    }

    /// Those that are dealt next.
    async fn chunks_of(&self, case: &Case<'_>, level: &Level) -> Result<Vec<Chunk>, PassError> {
        let (mut chunks, mut bytes): (Vec<Chunk>, usize) = (Vec::new(), 0);
        loop {
            let from = (level.level, chunks.last().map_or(level.dealt, Chunk::end));
            let page = self.shared.store.chunks(case.instance.id, case.run.draft, from, CHUNKS).await?;
            let is_full = page.len() == CHUNKS;
            for chunk in page {
                if chunk.level != level.level || bytes >= MOST_BYTES {
                    return Ok(chunks);
                }
                bytes += chunk.items.iter().map(String::len).sum::<usize>();
                chunks.push(chunk);
            }
            if !is_full {
                return Ok(chunks);
            }
        }
    }

    async fn make_tasks(&self, case: &Case<'_>, level: Level) -> Result<Went, PassError> {
        let (tasks, level) = self.next_tasks(case, level);
        Ok(Went::did(self.write(&ShardWrite { tasks, levels: vec![level], ..write_of(case) }).await?))
    }

    /// Shards that are to become tasks next, and the level as it is with them.
    fn next_tasks(&self, case: &Case<'_>, level: Level) -> (Vec<Task>, Level) {
        let cut = Cut { items: level.items, shards: level.shards };
        let shards: Vec<u32> = (0..level.shards).collect();
        let executors: Vec<&str> = level.executors.iter().map(String::as_str).collect();
        let dealt = deal(&shards, &executors);
        let tasks: Vec<Task> = dealt
            .into_iter()
            .skip(level.made as usize)
            .take(TASKS)
            .map(|(index, executor)| {
                let (count, round, items) = (level.shards, case.run.round, cut.size_of(index));
                let part = Part::Shard { level: level.level, index, count, round, items, done: 0 };
                self.task(case, part, Some(executor.to_owned()))
            })
            .collect();
        let made = level.made + u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let first = level.first.or(tasks.first().map(|task| task.id));
        (tasks, Level { made, first, ..level })
    }

    /// Shards that nobody has go to others, where those who are there have changed.
    async fn deal_anew(&self, case: &Case<'_>, level: &Level) -> Result<usize, PassError> {
        let standing = self.standing(case, Method::ShardingProcess);
        if standing.live.is_empty() || case.instance.executor.is_some() {
            return Ok(0);
        }
        let changed = standing.live != level.executors;
        if !changed && !self.some_wait_for_others(case, &standing.live).await? {
            return Ok(0);
        }
        let mut open: Vec<(u32, String, TaskId)> = Vec::new();
        self.each_shard(case, level, |task, index| {
            if let (TaskState::Waiting | TaskState::Ready, Some(placed)) = (task.state(), &task.needs.placed) {
                open.push((index, placed.executor.clone(), task.id));
            }
        })
        .await?;
        open.sort_unstable();
        let change = Change { before: &level.executors, live: &standing.live, draining: &standing.draining };
        let stand: Vec<Open<'_>> = open.iter().map(|(shard, executor, _)| Open { shard: *shard, executor }).collect();
        let moves = deal_again(&stand, &change);
        let id_of = |shard: u32| open.binary_search_by_key(&shard, |(open, _, _)| *open).ok().map(|at| open[at].2);
        let mut did = 0;
        for some in moves.chunks(TASKS) {
            let ids: Vec<TaskId> = some.iter().filter_map(|(shard, _)| id_of(*shard)).collect();
            let steps = self.shared.store.tasks(&ids).await?.into_iter().filter_map(|task| {
                let Some(Part::Shard { index, .. }) = task.part else { return None };
                let (_, to) = some.iter().find(|(shard, _)| *shard == index)?;
                let is_open = matches!(task.state(), TaskState::Waiting | TaskState::Ready);
                is_open.then(|| outcome::place(task, Some((*to).to_owned())))
            });
            let steps: Vec<_> = steps.collect();
            did += self.shared.store.take(self.lead, &steps).await?.len();
        }
        if changed {
            let level = Level { executors: standing.live, ..level.clone() };
            did += self.write(&ShardWrite { levels: vec![level], ..write_of(case) }).await?;
        }
        if did > 0 {
            self.shared.coord.ring(Bell::Dispatcher);
        }
        Ok(did)
    }

    /// Whether a shard is ready and meant for someone who is not there.
    async fn some_wait_for_others(&self, case: &Case<'_>, live: &BTreeSet<String>) -> Result<bool, PassError> {
        let ours = need_of(case);
        let needs = self.shared.store.ready_needs().await?;
        Ok(needs.into_iter().any(|need| {
            let away = need.placed.as_ref().is_some_and(|placed| !placed.firm && !live.contains(&placed.executor));
            away && Need { placed: None, ..need } == ours
        }))
    }

    /// Looks at every shard of a level.
    pub(super) async fn each_shard(
        &self,
        case: &Case<'_>,
        of: &Level,
        mut look: impl FnMut(&Task, u32) + Send,
    ) -> Result<(), PassError> {
        let look = |task: &Task, index| {
            look(task, index);
            false
        };
        some_shard(self.shared.store.as_ref(), case.instance.id, of, look).await?;
        Ok(())
    }
}

/// Whether some shard of a level is as `is` says; looks at no more of them than it has to.
pub async fn some_shard(
    store: &dyn Store,
    instance: InstanceId,
    of: &Level,
    mut is: impl FnMut(&Task, u32) -> bool + Send,
) -> campanile_store::Result<bool> {
    let Some(first) = of.first else { return Ok(false) };
    let mut page = store.tasks(&[first]).await?;
    let mut seen = 0;
    while let Some(last) = page.last().map(|task| task.id) {
        for task in &page {
            if let Some(Part::Shard { level, index, .. }) = task.part
                && level == of.level
            {
                if is(task, index) {
                    return Ok(true);
                }
                seen += 1;
            }
        }
        if seen >= of.made {
            break;
        }
        page = store.tasks_after(instance, Some(last), TASKS).await?;
    }
    Ok(false)
}
