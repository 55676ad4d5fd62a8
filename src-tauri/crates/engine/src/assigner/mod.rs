//! Turns an instance whose turn has come into tasks.
//!
//! An instance's turn comes when the earlier ones of its job have ended, or at once where it runs
//! beside them. Where the newest one replaces the others, they are stopped for it.
//!
//! The assigner does not look at executors where the mode does not ask for it: a unicast task goes
//! to whoever the dispatcher finds.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::instance::{Instance, InstanceMove, InstanceState};
use campanile_model::job::{JobSpec, Overrun};
use campanile_model::task::{NewTask, StopCause, Task, TaskLimits};
use campanile_model::{TaskId, Timestamp};
use campanile_store::{Assignment, Lead};

use crate::events::Topic;
use crate::monitor::stopping;
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;
use crate::specs::Specs;

/// Instances in one transaction.
const BATCH: usize = 500;

pub struct Assigner {
    shared: Arc<Shared>,
    lead: Lead,
    specs: Specs,
}

impl Assigner {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Assigner {
        Assigner { shared, lead, specs: Specs::default() }
    }

    /// Stops what stands before an instance that replaces it.
    async fn make_way(&mut self, now: Timestamp) -> Result<usize, PassError> {
        let store = &self.shared.store;
        let replacing = store.replacing(BATCH).await?;
        let mut stopped = 0;
        for newest in replacing {
            for (_, older, state) in store.unfinished(&[newest.job]).await? {
                if older == newest.id {
                    break;
                }
                if state == InstanceState::Waiting {
                    let ended = InstanceMove { instance: older, to: InstanceState::Cancelled, at: now, result: None };
                    if store.end_unassigned(&self.lead, &ended).await? {
                        stopped += 1;
                        continue;
                    }
                }
                let steps = store
                    .tasks_of(older)
                    .await?
                    .into_iter()
                    .filter_map(|task| stopping::ask(task, StopCause::Replaced, now))
                    .collect::<Vec<_>>();
                if !steps.is_empty() {
                    stopped += steps.len();
                    store.take(&self.lead, &steps).await?;
                }
            }
        }
        if stopped > 0 {
            self.shared.coord.ring(Bell::Monitor);
            self.shared.events.say(Topic::Tasks, now);
        }
        Ok(stopped)
    }
}

/// The one task of a unicast instance.
pub fn unicast_task(instance: &Instance, spec: &JobSpec, id: TaskId) -> Task {
    Task::waiting(NewTask {
        id,
        instance: instance.id,
        job: instance.job,
        version: instance.version,
        group: spec.executor_group.clone(),
        processor: spec.processor.clone(),
        limits: TaskLimits {
            ready_timeout_ms: i64::from(spec.ready_timeout_seconds) * 1000,
            push_timeout_ms: i64::from(spec.push_timeout_seconds) * 1000,
            run_timeout_ms: spec.timeout_seconds.map(|seconds| i64::from(seconds) * 1000),
            kill_on_overrun: spec.overrun == Overrun::Kill,
            retry: spec.retry.clone(),
        },
        lane: instance.lane,
        due_at: instance.not_before,
    })
}

#[async_trait]
impl Officer for Assigner {
    fn name(&self) -> &'static str {
        "assigner"
    }

    fn bell(&self) -> Bell {
        Bell::Assigner
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let stopped = self.make_way(now).await?;
        let instances = self.shared.store.unassigned(BATCH).await?;
        if instances.is_empty() {
            return Ok(Pass { did: stopped, ..Pass::default() });
        }
        let mut assignments = Vec::with_capacity(instances.len());
        for instance in &instances {
            let Some(spec) = self.specs.of(self.shared.store.as_ref(), instance.job, instance.version).await? else {
                tracing::error!(instance = %instance.id, "its job has no version {}", instance.version);
                continue;
            };
            let task = unicast_task(instance, &spec, self.shared.dice.task_id(now));
            assignments.push(Assignment { instance: instance.id, at: now, tasks: vec![task] });
        }
        let written = self.shared.store.assign(&self.lead, &assignments).await?;
        self.shared.coord.ring(Bell::Monitor);
        self.shared.events.say(Topic::Instances, now);
        self.shared.events.say(Topic::Tasks, now);
        let did = written.iter().filter(|written| **written).count();
        Ok(Pass { did: did + stopped, again: did == BATCH, next: None })
    }
}
