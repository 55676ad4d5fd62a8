//! Carries runs that are cut into shards through their phases: the data taken in, `pre_process`, level after level,
//! `notify` on the way, `post_process`, the end.
//!
//! What comes next is read from the run as it is written: a pass does one thing for each run, writes it where the run is
//! still as it was seen, and so goes on after a crash from wherever it was. Shards are tasks like others; that they
//! run, fail and are tried again is no business of this file.

mod dealing;
mod ending;
mod loading;
mod rounds;

use std::sync::Arc;

use campanile_coord::Bell;
use campanile_model::instance::{Instance, InstanceState};
use campanile_model::job::JobSpec;
use campanile_model::sharding::level::{self, Next};
use campanile_model::sharding::{Level, LevelState, Phase, ShardRun, is_notice_due, shard_count};
use campanile_model::task::{Need, Needs, Part, Placement, Task, TaskState};
use campanile_model::{Code, Failure, FailureClass, Timestamp};
use campanile_store::{Lead, ShardWrite, Taken};

use super::{expires_at, place, task_of};
use crate::events::Topic;
use crate::link::Method;
use crate::officer::PassError;
use crate::roster::Standing;
use crate::shared::Shared;

pub use dealing::some_shard;
pub use loading::{Given, given};
pub use rounds::next_round;

/// Levels that are looked at together.
const AHEAD: usize = 16;

/// `notify` has so long to begin, and so long again to end: `post_process` waits for the last one, and for no longer.
const NOTICE_MS: i64 = 60_000;

pub(super) struct Conductor<'a> {
    pub shared: &'a Arc<Shared>,
    pub lead: &'a Lead,
    pub now: Timestamp,
}

/// A run with what it is a run of.
struct Case<'a> {
    run: ShardRun,
    instance: &'a Instance,
    spec: &'a JobSpec,
}

/// What a pass came to for one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Went {
    pub did: usize,
    pub next: Option<Timestamp>,
}

impl Went {
    fn did(did: usize) -> Went {
        Went { did, next: None }
    }

    /// Nothing before then.
    fn waits(until: Timestamp) -> Went {
        Went { did: 0, next: Some(until) }
    }
}

impl Conductor<'_> {
    pub(super) async fn advance(&self, run: ShardRun, instance: &Instance, spec: &JobSpec) -> Result<Went, PassError> {
        let case = Case { run, instance, spec };
        if case.instance.state.is_final() {
            let over = ShardRun { phase: Phase::Over, ..case.run };
            return Ok(Went::did(self.write(&ShardWrite::of(over)).await?));
        }
        if case.run.stopping {
            return self.stop(&case).await;
        }
        if !case.run.stops.is_empty() {
            return self.stop_some(&case).await;
        }
        match case.run.phase {
            Phase::Levels => self.levels(case).await,
            Phase::Loading if !case.run.loaded => self.load(&case).await,
            Phase::Loading => self.open(&case).await,
            Phase::PreProcess => self.after_pre_process(&case).await,
            Phase::PostProcess => self.after_post_process(&case).await,
            Phase::Reopening => self.reopen(&case).await,
            Phase::Over => Ok(Went::default()),
        }
    }

    /// Who could be called for a method of the run's processor.
    fn standing(&self, case: &Case<'_>, method: Method) -> Standing {
        self.shared.roster.standing(&need_of(case), method, self.now)
    }

    /// The data is there. Who is there says which methods the processor has.
    async fn open(&self, case: &Case<'_>) -> Result<Went, PassError> {
        if expires_at(case.instance, case.spec).is_some_and(|at| at <= self.now) {
            return self.end(case, InstanceState::Superseded, None, None).await;
        }
        let has = |method| self.standing(case, method) != Standing::default();
        if self.standing(case, Method::ShardingProcess).live.is_empty() {
            let since = case.instance.assigned_at.unwrap_or(self.now).max(case.instance.not_before);
            return match self.patience_ends(case, since) {
                Some(until) => Ok(Went::waits(until)),
                None => self.end(case, InstanceState::Failed, Some(nobody(case)), None).await,
            };
        }
        let run =
            ShardRun { notifies: has(Method::Notify), post_processes: has(Method::PostProcess), ..case.run.clone() };
        if !has(Method::PreProcess) {
            return self.plan(case, run).await;
        }
        let task = self.task(case, Part::PreProcess { level: 0, next: 0, whole: false }, None);
        let run = ShardRun { phase: Phase::PreProcess, ..run };
        Ok(Went::did(self.write(&ShardWrite { tasks: vec![task], ..ShardWrite::of(run) }).await?))
    }

    /// Until when whoever waits since then waits for someone to come; none: it has waited long enough.
    fn patience_ends(&self, case: &Case<'_>, since: Timestamp) -> Option<Timestamp> {
        let until = since.plus_seconds(i64::from(case.spec.ready_timeout_seconds));
        if until > self.now {
            return Some(until);
        }
        // Who is there is known only a while after a node has begun.
        self.shared.roster.is_gathering(self.now).then(|| self.now.plus_seconds(1))
    }

    /// Lays out the levels of the data that counts.
    async fn plan(&self, case: &Case<'_>, run: ShardRun) -> Result<Went, PassError> {
        let sizes = self.shared.store.level_sizes(case.instance.id, run.draft).await?;
        let levels: Vec<Level> = sizes.iter().map(|(level, items)| Level::new(*level, *items)).collect();
        let mut run =
            ShardRun { phase: Phase::Levels, level_count: sizes.last().map_or(0, |(level, _)| level + 1), ..run };
        run.tally.total = sizes.iter().map(|(_, items)| items).sum();
        Ok(Went::did(self.write(&ShardWrite { levels, adopts: true, ..ShardWrite::of(run) }).await?))
    }

    async fn after_pre_process(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let Some(task) = self.shared.store.tasks_after(case.instance.id, None, 1).await?.pop() else {
            return Ok(Went::default());
        };
        match (task.state(), task.part) {
            (TaskState::Succeeded, Some(Part::PreProcess { whole: true, .. })) => {
                self.plan(case, ShardRun { draft: task.attempt(), ..case.run.clone() }).await
            }
            (TaskState::Succeeded, _) => self.plan(case, case.run.clone()).await,
            (TaskState::Cancelled, _) => self.end(case, InstanceState::Cancelled, None, None).await,
            (TaskState::Superseded, _) => self.end(case, InstanceState::Superseded, None, None).await,
            (state, _) if state.is_final() => self.end(case, InstanceState::Failed, task.failure.clone(), None).await,
            _ => Ok(Went::default()),
        }
    }

    async fn levels(&self, mut case: Case<'_>) -> Result<Went, PassError> {
        if let Some(task) = self.notice(&case).await? {
            let mut run = ShardRun { told: case.run.tally.done, ..case.run.clone() };
            run.notices.push(task.id);
            return Ok(Went::did(self.write(&ShardWrite { tasks: vec![task], ..ShardWrite::of(run) }).await?));
        }
        let front = self.come_to_the_front(&mut case).await?;
        let states: Vec<LevelState> =
            case.run.behind.into_iter().chain(front.iter().map(|level| level.state)).collect();
        match (level::next(&states, case.spec.shard_settings().on_level_failure), front) {
            (Next::Start(_), Some(level)) => self.start(&case, level).await,
            (Next::Wait(_), Some(level)) => self.go_on(&case, level).await,
            (Next::Cancel(_), Some(_)) => {
                let levels = self.shared.store.levels(case.instance.id).await?;
                let rest = levels.into_iter().filter(|level| !level.state.is_final()).collect();
                self.cancel(&case, rest).await
            }
            _ => self.all_levels_over(&case).await,
        }
    }

    /// The first level that is not final. How far that is, is written with whatever is written next: so that a run with
    /// very many levels does not look at all of them in each pass.
    async fn come_to_the_front(&self, case: &mut Case<'_>) -> Result<Option<Level>, PassError> {
        loop {
            let run = &mut case.run;
            let levels = self.shared.store.levels_from(case.instance.id, run.front, AHEAD).await?;
            let looked_at = levels.len();
            for level in levels {
                if !level.state.is_final() {
                    return Ok(Some(level));
                }
                run.front = level.level + 1;
                run.behind = level::worse(run.behind, level.state);
            }
            if looked_at < AHEAD {
                return Ok(None);
            }
        }
    }

    /// A call of `notify`, where one is due and the last one is over.
    async fn notice(&self, case: &Case<'_>) -> Result<Option<Task>, PassError> {
        let run = &case.run;
        if !self.owes_notice(case) {
            return Ok(None);
        }
        let last = match run.notices.last() {
            Some(last) => self.shared.store.tasks(&[*last]).await?.pop(),
            None => None,
        };
        if last.is_some_and(|last| !last.state().is_final()) {
            return Ok(None);
        }
        let part = Part::Notify { done: run.tally.done, total: run.tally.total };
        Ok(Some(self.task(case, part, None)))
    }

    fn owes_notice(&self, case: &Case<'_>) -> bool {
        let run = &case.run;
        run.notifies && is_notice_due(run.told, run.tally, case.spec.shard_settings().notify_step)
    }

    async fn start(&self, case: &Case<'_>, level: Level) -> Result<Went, PassError> {
        if level.shards > 0 {
            // It ran in an earlier round: it is cut as it was.
            let started_at = Some(self.now);
            return self.go_on(case, Level { state: LevelState::Running, started_at, ..level }).await;
        }
        let live = self.standing(case, Method::ShardingProcess).live;
        let Some(shards) = shard_count(level.items, &case.spec.shard_settings(), live.len()) else {
            let level = level.ended(LevelState::Succeeded, self.now);
            return Ok(Went::did(self.write(&ShardWrite { levels: vec![level], ..write_of(case) }).await?));
        };
        let level = match (live.is_empty(), level.waits_since) {
            (false, _) => {
                // Written with the first of its items that are dealt.
                let (state, started_at) = (LevelState::Running, Some(self.now));
                let (executors, round) = (live, case.run.round);
                let level = Level { state, shards, executors, round, waits_since: None, started_at, ..level };
                return self.go_on(case, level).await;
            }
            (true, None) => Level { waits_since: Some(self.now), ..level },
            (true, Some(since)) => match self.patience_ends(case, since) {
                Some(until) => return Ok(Went::waits(until)),
                None => {
                    let done = i64::try_from(self.open_items(case, &level).await?).unwrap_or(i64::MAX);
                    let level = level.ended(LevelState::Failed, self.now);
                    let write = ShardWrite { levels: vec![level], done, ..write_of(case) };
                    return Ok(Went::did(self.write(&write).await?));
                }
            },
        };
        Ok(Went::did(self.write(&ShardWrite { levels: vec![level], ..write_of(case) }).await?))
    }

    /// Levels that do not run, in this round at least; their items are as they will be.
    async fn cancel(&self, case: &Case<'_>, levels: Vec<Level>) -> Result<Went, PassError> {
        let mut done = 0;
        for level in &levels {
            done += self.open_items(case, level).await?;
        }
        let done = i64::try_from(done).unwrap_or(i64::MAX);
        let levels = levels.into_iter().map(|level| level.ended(LevelState::Cancelled, self.now)).collect();
        Ok(Went::did(self.write(&ShardWrite { done, levels, ..write_of(case) }).await?))
    }

    /// A task of the run.
    fn task(&self, case: &Case<'_>, part: Part, executor: Option<String>) -> Task {
        let picked = &case.instance.executor;
        let placed = picked.clone().or(executor);
        let placed = placed.map(|executor| Placement { executor, firm: picked.is_some() });
        let needs = Needs { placed, ..place::needs_of(case.spec) };
        let id = self.shared.dice.task_id(self.now);
        let mut task = task_of(case.instance, case.spec, id, needs).as_part(part);
        // Its end is not that of the run.
        task.limits.of_several = true;
        task.due_at = task.due_at.max(self.now);
        // Whether the run is worth doing was settled when it began; what it has begun it carries through.
        task.expires_at = task.expires_at.filter(|_| matches!(part, Part::PreProcess { .. }));
        if matches!(part, Part::Notify { .. }) {
            task.expires_at = Some(self.now.plus_millis(NOTICE_MS));
            task.limits.retry.retries = 0;
            task.limits.run_timeout_ms = Some(NOTICE_MS);
            task.limits.kill_on_overrun = true;
        }
        task
    }

    /// How much it changed: nothing, where someone else wrote first.
    async fn write(&self, write: &ShardWrite) -> Result<usize, PassError> {
        if self.shared.store.conduct(self.lead, write).await? == Taken::Lost {
            return Ok(0);
        }
        if !write.tasks.is_empty() {
            self.shared.coord.ring(Bell::Monitor);
            self.shared.events.say(Topic::Tasks, self.now);
        }
        self.shared.events.say(Topic::Instances, self.now);
        Ok(1)
    }
}

fn write_of(case: &Case<'_>) -> ShardWrite {
    ShardWrite::of(case.run.clone())
}

fn need_of(case: &Case<'_>) -> Need {
    let placed = case.instance.executor.clone().map(|executor| Placement { executor, firm: true });
    let needs = Needs { placed, ..place::needs_of(case.spec) };
    needs.of(&case.spec.executor_group, &case.spec.processor, case.instance.job)
}

fn nobody(case: &Case<'_>) -> Failure {
    let fault = Code::NoExecutorForProcessor.fault().with("name", &case.spec.processor);
    Failure { class: FailureClass::Transient, code: fault.code, message: fault.message }
}
