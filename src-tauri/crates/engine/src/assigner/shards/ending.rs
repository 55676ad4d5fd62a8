//! How a run that is cut into shards ends: by itself, with `post_process`, or because someone asked for it.

use campanile_coord::Bell;
use campanile_model::Failure;
use campanile_model::instance::{InstanceMove, InstanceState};
use campanile_model::sharding::{Level, LevelState, Phase, ShardRun};
use campanile_model::task::{IncidentKind, Part, Step, StopCause, TaskState};
use campanile_store::{Settlement, ShardWrite};

use super::super::ended;
use super::{Case, Conductor, Went, nobody};
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
        if self.owes_notice(case) {
            // The one before it was under way when this pass began.
            return Ok(Went::waits(self.now.plus_millis(1)));
        }
        if case.run.post_processes {
            let task = self.task(case, Part::PostProcess { round: case.run.round }, None);
            let run = ShardRun { phase: Phase::PostProcess, post: Some(task.id), ..case.run.clone() };
            return Ok(Went::did(self.write(&ShardWrite { tasks: vec![task], ..ShardWrite::of(run) }).await?));
        }
        match case.run.behind.is_none() {
            true => self.end(case, InstanceState::Succeeded, None, None).await,
            false => self.end(case, InstanceState::Failed, self.failure(case).await?, None).await,
        }
    }

    pub(super) async fn after_post_process(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let Some(post) = case.run.post else { return Ok(Went::default()) };
        let Some(task) = self.shared.store.tasks(&[post]).await?.pop() else { return Ok(Went::default()) };
        if !task.state().is_final() {
            return Ok(Went::default());
        }
        let levels = self.shared.store.levels(case.instance.id).await?;
        let went_well = levels.iter().all(|level| level.state == LevelState::Succeeded);
        match task.state() {
            TaskState::Succeeded if went_well => {
                self.end(case, InstanceState::Succeeded, None, task.result.clone()).await
            }
            TaskState::Succeeded => self.end(case, InstanceState::Failed, self.failure(case).await?, None).await,
            TaskState::Cancelled => self.end(case, InstanceState::Cancelled, None, None).await,
            _ => self.end(case, InstanceState::Failed, task.failure.clone(), None).await,
        }
    }

    /// What the first shard that failed says; where none did, nobody was there for a level.
    async fn failure(&self, case: &Case<'_>) -> Result<Option<Failure>, PassError> {
        let levels = self.shared.store.levels(case.instance.id).await?;
        let Some(failed) = levels.iter().find(|level| level.state == LevelState::Failed) else { return Ok(None) };
        let mut found = None;
        self.each_shard(case, failed, |task, _| {
            if found.is_none() && task.state() != TaskState::Succeeded {
                found.clone_from(&task.failure);
            }
        })
        .await?;
        Ok(if failed.first.is_none() { Some(nobody(case)) } else { found })
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
