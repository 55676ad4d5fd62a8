//! How a run that is cut into shards ends: by itself, with `post_process`, or because someone asked for it.

use campanile_coord::Bell;
use campanile_model::instance::{InstanceMove, InstanceState};
use campanile_model::sharding::{Level, LevelState, Phase, Selection, ShardRun};
use campanile_model::task::{IncidentKind, Part, Step, StopCause, Task, TaskState};
use campanile_model::{Failure, TaskId};
use campanile_store::{Settlement, ShardWrite};

use super::super::ended;
use super::{Case, Conductor, Went, nobody, some_shard};
use crate::events::Topic;
use crate::monitor::stopping;
use crate::officer::PassError;

/// Tasks that are asked to stop in one transaction.
const BATCH: usize = 500;

/// No run has more tasks with executors at once.
const MOST_HELD: usize = 20_000;

impl Conductor<'_> {
    /// All levels are final: `post_process` where there is one, once the last notice is over.
    pub(super) async fn all_levels_over(&self, case: &Case<'_>) -> Result<Went, PassError> {
        if !self.shared.store.open_tasks(case.instance.id, 1).await?.is_empty() {
            return Ok(Went::default());
        }
        if self.was_not_needed(case).await? {
            return self.end(case, InstanceState::Superseded, None, None).await;
        }
        if self.owes_notice(case) {
            // The one before it was under way when this pass began.
            return Ok(Went::waits(self.now.plus_millis(1)));
        }
        if case.run.post_processes {
            let task = self.task(case, Part::PostProcess { round: case.run.round }, None);
            let run = ShardRun { phase: Phase::PostProcess, post: Some(task.id), ..case.run.clone() };
            return Ok(Went::did(self.write(&ShardWrite { tasks: vec![task], ..ShardWrite::of(run) }).await?));
        }
        self.end_as_its_levels(case, None).await
    }

    /// Somebody was asked, and nothing of it was begun, or no more of it: who would be told of its end is not called either.
    async fn was_not_needed(&self, case: &Case<'_>) -> Result<bool, PassError> {
        if case.run.behind != Some(LevelState::Cancelled) {
            return Ok(false);
        }
        let store = self.shared.store.as_ref();
        for level in store.levels(case.instance.id).await? {
            if level.state == LevelState::Cancelled
                && some_shard(store, case.instance.id, &level, |task, _| task.state() == TaskState::Superseded).await?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `post_process` has nothing against it.
    async fn end_as_its_levels(&self, case: &Case<'_>, result: Option<String>) -> Result<Went, PassError> {
        if case.run.behind.is_none() {
            // All have succeeded.
            return self.end(case, InstanceState::Succeeded, None, result).await;
        }
        let levels = self.shared.store.levels(case.instance.id).await?;
        if let Some(failed) = levels.iter().find(|level| level.state == LevelState::Failed) {
            return self.end(case, InstanceState::Failed, self.failure(case, failed).await?, None).await;
        }
        if levels.iter().any(|level| level.state == LevelState::Cancelled) {
            // A person took shards out of it.
            return self.end(case, InstanceState::Cancelled, None, None).await;
        }
        self.end(case, InstanceState::Succeeded, None, result).await
    }

    pub(super) async fn after_post_process(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let Some(post) = case.run.post else { return Ok(Went::default()) };
        let Some(task) = self.shared.store.tasks(&[post]).await?.pop() else { return Ok(Went::default()) };
        if !task.state().is_final() {
            return Ok(Went::default());
        }
        match task.state() {
            TaskState::Succeeded => self.end_as_its_levels(case, task.result.clone()).await,
            TaskState::Cancelled => self.end(case, InstanceState::Cancelled, None, None).await,
            _ => self.end(case, InstanceState::Failed, task.failure.clone(), None).await,
        }
    }

    /// What the first shard of a level that failed says; where it has none, nobody was there for it.
    async fn failure(&self, case: &Case<'_>, failed: &Level) -> Result<Option<Failure>, PassError> {
        if failed.first.is_none() {
            return Ok(Some(nobody(case)));
        }
        let mut found = None;
        let says = |task: &Task, _| {
            found = task.failure.clone().filter(|_| task.state() != TaskState::Succeeded);
            found.is_some()
        };
        some_shard(self.shared.store.as_ref(), case.instance.id, failed, says).await?;
        Ok(found)
    }

    /// Ends the instance; that the run is over then is written by the next pass.
    pub(super) async fn end(
        &self,
        case: &Case<'_>,
        to: InstanceState,
        failure: Option<Failure>,
        result: Option<String>,
    ) -> Result<Went, PassError> {
        let incidents = match to {
            InstanceState::Succeeded => vec![ended(IncidentKind::InstanceSucceeded, case.instance, None, self.now)],
            InstanceState::Failed => {
                vec![ended(IncidentKind::InstanceFailed, case.instance, failure.clone(), self.now)]
            }
            _ => Vec::new(),
        };
        let change = InstanceMove { instance: case.instance.id, to, at: self.now, result };
        let settled = self.shared.store.settle(self.lead, &[Settlement { change, failure, incidents }]).await?;
        self.shared.events.say(Topic::Instances, self.now);
        // A job may wait for this end.
        for bell in [Bell::Launcher, Bell::Alerter] {
            self.shared.coord.ring(bell);
        }
        Ok(Went::did(settled.into_iter().filter(|settled| *settled).count()))
    }

    /// Someone asked for the end of some of its shards. The run goes on with the others.
    pub(super) async fn stop_some(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let store = &self.shared.store;
        let mut open: Vec<TaskId> = Vec::new();
        for level in store.levels(case.instance.id).await? {
            if !level.state.is_final() && case.run.stops.touches(level.level) {
                self.each_shard(case, &level, |task, index| {
                    if case.run.stops.has(level.level, index)
                        && stopping::ask(task.clone(), StopCause::Operator, self.now).is_some()
                    {
                        open.push(task.id);
                    }
                })
                .await?;
            }
        }
        for some in open.chunks(BATCH) {
            let tasks = store.tasks(some).await?.into_iter();
            let steps: Vec<Step> =
                tasks.filter_map(|task| stopping::ask(task, StopCause::Operator, self.now)).collect();
            store.take(self.lead, &steps).await?;
        }
        if !open.is_empty() {
            // Looked at once more before it is done with: a step may have been lost.
            self.shared.coord.ring(Bell::Monitor);
            self.shared.events.say(Topic::Tasks, self.now);
            return Ok(Went::did(open.len()));
        }
        let run = ShardRun { stops: Selection::default(), ..case.run.clone() };
        Ok(Went::did(self.write(&ShardWrite::of(run)).await?))
    }

    /// Someone asked for its end: what has not begun ends at once, what runs is asked to stop.
    pub(super) async fn stop(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let store = &self.shared.store;
        let open = store.open_tasks(case.instance.id, MOST_HELD).await?;
        if !open.is_empty() {
            let ask = |task| stopping::ask(task, StopCause::Operator, self.now);
            let steps: Vec<Step> = open.into_iter().filter_map(ask).take(BATCH).collect();
            if steps.is_empty() {
                return Ok(Went::default());
            }
            store.take(self.lead, &steps).await?;
            self.shared.coord.ring(Bell::Monitor);
            self.shared.events.say(Topic::Tasks, self.now);
            return Ok(Went::did(steps.len()));
        }
        let levels = store.levels(case.instance.id).await?;
        let rest: Vec<Level> = levels.into_iter().filter(|level| !level.state.is_final()).collect();
        if !rest.is_empty() {
            return self.cancel(case, rest).await;
        }
        self.end(case, InstanceState::Cancelled, None, None).await
    }
}
