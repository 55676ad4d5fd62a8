//! Why a run ran when it ran, why it did not, and what it waits for now.
//!
//! Everything here is composed of what is stored: the moments of the instance, the history of its
//! tasks, what was left out and why. Nothing is decided here, and nothing is asked of the engine but
//! how things stand this moment. `compose` is pure; the rest fetches what it needs.

mod compose;
mod not_fired;
mod verdict;
mod waiting;

use std::collections::HashMap;

use campanile_model::instance::{Instance, Origin};
use campanile_model::job::JobVersion;
use campanile_model::sharding::Phase;
use campanile_model::task::{Task, TaskState};
use campanile_model::{Code, Fault, InstanceId, TaskId, Timestamp, Words};

use crate::moments::{Told, read_wall};
use crate::runs::MOST_TASKS;
use crate::views::*;
use crate::{Api, CallContext};

pub(crate) use compose::Between;
use compose::{Facts, Standing, compose};
pub(crate) use compose::{ended_words, lane_words, span_en};
pub(crate) use waiting::between_tasks;

impl Api {
    pub(crate) async fn why(&self, ask: AskWhy, cx: &CallContext) -> Result<WhyView, Fault> {
        match (&ask.id, &ask.job) {
            (Some(id), _) => self.why_of(id, cx).await,
            (None, Some(job)) => {
                let at = match &ask.at {
                    Some(at) => self.moment_of(at, cx)?,
                    None => {
                        let reason = Words::new(
                            "say which time of the job: --at 2026-11-21T09:30",
                            "请指明该任务的哪个时间：--at 2026-11-21T09:30",
                        );
                        return Err(Code::BadRequest.fault().with_words("reason", &reason).at("at"));
                    }
                };
                self.why_at(job, at, cx).await
            }
            (None, None) => {
                let reason = Words::new("say what: an id, or a job and a time", "请指明对象：ID，或任务与时间");
                Err(Code::BadRequest.fault().with_words("reason", &reason).at("id"))
            }
        }
    }

    /// An instant, or what the wall clock of the call shows.
    fn moment_of(&self, text: &str, cx: &CallContext) -> Result<Timestamp, Fault> {
        if let Ok(at) = text.parse() {
            return Ok(at);
        }
        Ok(self.told(cx)?.instant(read_wall(text.trim())?))
    }

    /// Of a run or of one task of it.
    async fn why_of(&self, id: &str, cx: &CallContext) -> Result<WhyView, Fault> {
        let not_found = || Code::InstanceNotFound.fault().with("instance", id).at("id");
        if let Ok(instance) = id.parse::<InstanceId>()
            && self.archive.instance_summary(instance).await?.is_some()
        {
            return self.why_instance(instance, None, cx).await;
        }
        let task: TaskId = id.parse().map_err(|_| not_found())?;
        let task = self.store().tasks(&[task]).await?.pop().ok_or_else(not_found)?;
        self.why_instance(task.instance, Some(task.id), cx).await
    }

    pub(crate) async fn why_instance(
        &self,
        id: InstanceId,
        only: Option<TaskId>,
        cx: &CallContext,
    ) -> Result<WhyView, Fault> {
        let told = self.told(cx)?;
        let not_found = || Code::InstanceNotFound.fault().with("instance", id);
        let summary = self.archive.instance_summary(id).await?.ok_or_else(not_found)?;
        let instance = summary.instance;
        let version = self.version_of(&instance).await?;
        let mut tasks = Vec::new();
        let mut asked = match only {
            Some(only) => self.store().tasks(&[only]).await?,
            None => self.store().tasks_after(id, None, MOST_TASKS).await?,
        };
        if asked.len() == MOST_TASKS && asked.iter().all(|task| task.state().is_final()) {
            // Of more than are told one by one, the one that is furthest behind is told all the same.
            let open = self.store().open_tasks(id, MOST_TASKS).await?;
            asked.extend(open.into_iter().min_by_key(|task| task.state().code()));
        }
        for task in asked.into_iter().filter(|task| task.instance == id) {
            let history = self.archive.history(task.id).await?;
            tasks.push((task, history));
        }
        let standing = self.standing(&instance, tasks.iter().map(|(task, _)| task)).await?;
        let facts = Facts {
            now: self.now(),
            instance: &instance,
            schedule: version.spec.schedule.words(&self.almanac()),
            tasks: &tasks,
            standing,
        };
        let why = compose(&facts, &|at| told.moment(at));
        Ok(WhyView {
            verdict: why.verdict,
            job: instance.job.to_string(),
            job_name: summary.job_name,
            instance: Some(id.to_string()),
            state: Some(instance.state),
            waiting: why.waiting,
            links: why.links,
        })
    }

    pub(crate) async fn version_of(&self, instance: &Instance) -> Result<JobVersion, Fault> {
        let version = self.store().job_version(instance.job, instance.version).await?;
        version.ok_or_else(|| Code::JobNotFound.fault().with("job", instance.job))
    }

    /// What a run without tasks, or one task of it, waits for.
    pub(crate) async fn waits_for(
        &self,
        instance: &Instance,
        task: Option<&Task>,
        told: &Told,
    ) -> Result<Words, Fault> {
        let standing = self.standing(instance, task.into_iter()).await?;
        let tasks: Vec<_> = task.into_iter().map(|task| (task.clone(), Vec::new())).collect();
        let facts = Facts { now: self.now(), instance, schedule: Words::default(), tasks: &tasks, standing };
        Ok(waiting::waiting(&facts, &|at| told.moment(at)).map(|waiting| waiting.words).unwrap_or_default())
    }

    /// What a run that is cut into shards is at while none of its tasks says so.
    pub(crate) async fn between_tasks(&self, instance: &Instance) -> Result<Option<Between>, Fault> {
        let Some(begun) = instance.assigned_at else { return Ok(None) };
        let Some(run) = self.store().shard_run(instance.id).await? else { return Ok(None) };
        let (level, since) = match run.phase {
            Phase::Loading => (None, begun.max(instance.not_before)),
            Phase::Levels => {
                let levels = self.store().levels(instance.id).await?;
                let waits = levels.iter().find_map(|level| Some((level.level, level.waits_since?)));
                let Some((level, since)) = waits else { return Ok(None) };
                (Some(level), since)
            }
            _ => return Ok(None),
        };
        let spec = self.version_of(instance).await?.spec;
        Ok(Some(Between {
            level,
            since,
            loading: run.phase == Phase::Loading && !run.loaded,
            group: spec.executor_group,
            processor: spec.processor,
            ready_timeout_seconds: spec.ready_timeout_seconds,
        }))
    }

    /// How things stand this moment, as far as they keep this run from going on.
    pub(crate) async fn standing(
        &self,
        instance: &Instance,
        tasks: impl Iterator<Item = &Task>,
    ) -> Result<Standing, Fault> {
        let mut standing = Standing { leaderless: self.node.state() == NodeState::Leaderless, ..Standing::default() };
        if instance.state.is_final() {
            return Ok(standing);
        }
        standing.hold = self.hold_now().await?;
        standing.between = self.between_tasks(instance).await?;
        if instance.assigned_at.is_none() && !instance.beside {
            let unfinished = self.store().unfinished(&[instance.job]).await?;
            standing.earlier = unfinished.iter().take_while(|(_, id, _)| *id != instance.id).count();
        }
        let offered: HashMap<(String, String), u32> =
            self.node.processors().into_iter().map(|one| ((one.group, one.name), one.executors)).collect();
        let known = self.store().executors().await?;
        standing.executors = known.into_iter().filter(|(entry, _)| entry.gone_at.is_none()).collect();
        for task in tasks.filter(|task| task.state() == TaskState::Ready) {
            let executors = offered.get(&(task.group.clone(), task.processor.clone())).copied().unwrap_or(0);
            standing.held.extend(self.node.held(task).map(|words| (task.id, words)));
            if executors == 0 {
                standing.unoffered.push(task.id);
            }
        }
        Ok(standing)
    }
}

/// The person who asked for it; none for what the schedule made.
pub(crate) fn asked_by(instance: &Instance) -> Option<String> {
    match instance.origin {
        Origin::Schedule => None,
        _ => instance.asked_by.clone(),
    }
}
