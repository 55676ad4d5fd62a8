//! Runs that are cut into shards: phases, levels, and where each of up to a hundred thousand shards stands.

use campanile_model::instance::InstanceState;
use campanile_model::sharding::{Level, LevelState, Phase, Selection, ShardRange, ShardRun};
use campanile_model::task::{Part, Task};
use campanile_model::{Code, Fault, InstanceId, Partitions, TaskId, Words};
use campanile_store::{InstanceSummary, ShardMark};

use crate::logs::line_view;
use crate::moments::Told;
use crate::runs::{instance_id, task_row};
use crate::views::*;
use crate::{Api, CallContext};

/// Levels in one answer, shards in one, and moves that are looked through for one.
const LEVELS: usize = 1_000;
const SHARDS: usize = 10_000;
const MOVES: usize = 20_000;

/// With more moves than this in between, the whole is read sooner.
const MOST_MOVES: i64 = 200_000;

/// Runs in progress that are named.
const RUNS: usize = 20;

const TAIL_LINES: usize = 5;
const TAIL_BYTES: i64 = -2_000;

impl Api {
    pub(crate) async fn get_sharding(&self, of: OfInstance, cx: &CallContext) -> Result<ShardingView, Fault> {
        let told = self.told(cx)?;
        let run = self.run_of(instance_id(&of.instance)?).await?;
        let levels = self.store().levels(run.instance).await?;
        let mut ids: Vec<TaskId> = run.notices.clone();
        ids.extend(run.post);
        let mut tasks = self.store().tasks(&ids).await?;
        tasks.sort_by_key(|task| task.id);
        let pre = self.store().tasks_after(run.instance, None, 1).await?.pop();
        let pre = pre.filter(|task| matches!(task.part, Some(Part::PreProcess { .. })));
        let mut post = None;
        let mut notices = Vec::new();
        for task in tasks {
            match task.part {
                Some(Part::PostProcess { .. }) => post = Some(phase_task(task, &told)),
                _ => notices.push(phase_task(task, &told)),
            }
        }
        Ok(ShardingView {
            now: self.now(),
            since: levels.iter().filter(|level| level.round == run.round).filter_map(|level| level.started_at).min(),
            progress: progress(&run),
            pre: pre.map(|task| phase_task(task, &told)),
            notices,
            post,
            levels: columns(&levels, 0),
        })
    }

    pub(crate) async fn list_levels(&self, list: ListLevels, _: &CallContext) -> Result<LevelColumns, Fault> {
        let run = self.run_of(instance_id(&list.instance)?).await?;
        let levels = self.store().levels(run.instance).await?;
        Ok(columns(&levels, list.from.unwrap_or(0)))
    }

    pub(crate) async fn list_shards(&self, list: ListShards, _: &CallContext) -> Result<ShardPage, Fault> {
        let id = instance_id(&list.instance)?;
        // Asked before they are read: what changes in between is told twice rather than not at all.
        let seen = self.archive.last_move().await?;
        let page = self.archive.shard_page(id, list.cursor, SHARDS).await?;
        Ok(ShardPage { shards: shard_columns(&page.rows), next: page.next, seen })
    }

    pub(crate) async fn shard_changes(&self, ask: AskShardChanges, _: &CallContext) -> Result<ShardChanges, Fault> {
        let id = instance_id(&ask.instance)?;
        let last = self.archive.last_move().await?;
        if last - ask.since > MOST_MOVES {
            return Ok(ShardChanges { shards: ShardColumns::default(), seen: last, more: false, anew: true });
        }
        let news = self.archive.shard_news(id, ask.since, MOVES).await?;
        Ok(ShardChanges { shards: shard_columns(&news.marks), seen: news.through, more: news.more, anew: false })
    }

    pub(crate) async fn get_shard(&self, of: OfShard, cx: &CallContext) -> Result<ShardView, Fault> {
        let told = self.told(cx)?;
        let not_found = || Code::TaskNotFound.fault().with("task", format!("{}/{}", of.level, of.shard)).at("shard");
        let id = instance_id(&of.instance)?;
        let levels = self.store().levels(id).await?;
        let level = levels.iter().find(|level| level.level == of.level);
        let first = level.and_then(|level| level.first).ok_or_else(not_found)?;
        let task = self.archive.shard(id, first, of.level, of.shard).await?.ok_or_else(not_found)?;
        let names = self.names(&[task.job]).await?;
        let history = self.archive.history(task.id).await?;
        let page = self.logs.read(task.id, task.attempt(), TAIL_BYTES, TAIL_LINES * 20).await?;
        let skipped = page.lines.len().saturating_sub(TAIL_LINES);
        let tail = page.lines[skipped..].iter().map(|line| line_view(line, &told)).collect();
        let name = names.get(&task.job).cloned().unwrap_or_default();
        Ok(ShardView { task: task_row(task, &name, history, &told), tail })
    }

    /// What is in progress, for the status.
    pub(crate) async fn sharded_now(&self) -> Result<Vec<ShardedNow>, Fault> {
        let runs = self.store().shard_runs(Partitions::ALL, None, RUNS).await?.into_iter();
        let now = |run: ShardRun| ShardedNow {
            instance: run.instance.to_string(),
            phase: run.phase,
            round: run.round,
            tally: run.tally,
        };
        Ok(runs.map(now).collect())
    }

    pub(crate) async fn sharded_in_progress(&self) -> Result<Vec<InstanceSummary>, Fault> {
        let mut found = Vec::new();
        for run in self.store().shard_runs(Partitions::ALL, None, RUNS).await? {
            found.extend(self.archive.instance_summary(run.instance).await?);
        }
        found.retain(|summary| !summary.instance.state.is_final());
        Ok(found)
    }

    /// What of a sharded run is not a shard.
    pub(crate) async fn phase_tasks(&self, run: &ShardRun) -> Result<Vec<Task>, Fault> {
        let pre = self.store().tasks_after(run.instance, None, 1).await?;
        let mut tasks: Vec<Task> =
            pre.into_iter().filter(|task| matches!(task.part, Some(Part::PreProcess { .. }))).collect();
        let mut ids: Vec<TaskId> = run.notices.last().copied().into_iter().collect();
        ids.extend(run.post);
        let mut rest = self.store().tasks(&ids).await?;
        rest.sort_by_key(|task| task.id);
        tasks.extend(rest);
        Ok(tasks)
    }

    async fn run_of(&self, id: InstanceId) -> Result<ShardRun, Fault> {
        let not_found = || Code::InstanceNotFound.fault().with("instance", id).at("instance");
        self.store().shard_run(id).await?.ok_or_else(not_found)
    }
}

pub(crate) fn progress(run: &ShardRun) -> ShardProgress {
    ShardProgress {
        phase: run.phase,
        round: run.round,
        tally: run.tally,
        levels: run.level_count,
        stopping: run.stopping && run.phase != Phase::Over,
    }
}

pub(crate) fn selection(shards: Option<Vec<ShardRange>>) -> Result<Selection, Fault> {
    let Some(shards) = shards else { return Ok(Selection::default()) };
    let selection = Selection::from(shards);
    if selection.is_empty() {
        // An empty selection would mean the whole run.
        return Err(Code::BadRequest.fault().with("reason", "no shard is marked").at("shards"));
    }
    Ok(selection)
}

impl InstanceDetail {
    /// How it ended, for whoever was not looking; none: it has not, or there is nothing to say of it.
    pub fn ended_words(&self) -> Option<Words> {
        let (name, items) = (&self.row.job_name, self.row.sharding.as_ref().map_or(0, |of| of.tally.done));
        match self.row.state {
            InstanceState::Succeeded => {
                Some(Words::new(format!("{name} succeeded: {items} items"), format!("{name} 成功：{items} 项")))
            }
            InstanceState::Failed => Some(match &self.failure {
                Some(failure) => Words::new(
                    format!("{name} failed: {}", failure.message.en),
                    format!("{name} 失败：{}", failure.message.zh),
                ),
                None => Words::new(format!("{name} failed"), format!("{name} 失败")),
            }),
            InstanceState::Cancelled => Some(Words::new(format!("{name} was cancelled"), format!("{name} 已取消"))),
            InstanceState::Waiting | InstanceState::Running | InstanceState::Superseded => None,
        }
    }
}

fn phase_task(task: Task, told: &Told) -> PhaseTask {
    PhaseTask {
        task: task.id.to_string(),
        state: task.state(),
        attempt: task.attempt(),
        told: match task.part {
            Some(Part::Notify { done, total }) => Some(campanile_model::sharding::Tally { done, total }),
            _ => None,
        },
        due: told.moment(task.due_at),
        started: told.maybe(task.started_at),
        finished: told.maybe(task.finished_at),
        executor: task.executor.map(|executor| executor.name),
        failure: task.failure,
    }
}

fn columns(levels: &[Level], from: u32) -> LevelColumns {
    let behind: Vec<&Level> = levels.iter().filter(|level| level.level >= from).collect();
    let shown = &behind[..behind.len().min(LEVELS)];
    fn each<T>(shown: &[&Level], of: impl Fn(&Level) -> T) -> Vec<T> {
        shown.iter().map(|level| of(level)).collect()
    }
    LevelColumns {
        level: each(shown, |level| level.level),
        items: each(shown, |level| level.items),
        state: each(shown, |level| level.state),
        shards: each(shown, |level| level.shards),
        made: each(shown, |level| level.made),
        started: each(shown, |level| level.started_at),
        ended: each(shown, |level| level.ended_at),
        waits_since: each(shown, |level| level.waits_since.filter(|_| level.state == LevelState::Waiting)),
        next: behind.get(LEVELS).map(|level| level.level),
    }
}

fn shard_columns(marks: &[ShardMark]) -> ShardColumns {
    ShardColumns {
        level: marks.iter().map(|mark| mark.level).collect(),
        shard: marks.iter().map(|mark| mark.shard).collect(),
        state: marks.iter().map(|mark| mark.state).collect(),
        done: marks.iter().map(|mark| mark.done).collect(),
    }
}
