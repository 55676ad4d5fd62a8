//! Gives ready tasks to executors that have room.
//!
//! A task is written as Pushed before it is told to anyone: what was told and not written could run
//! twice. What was written and not told is handed back when the executor says what it has.
//!
//! The dispatcher does not wait for executors and does not time anything out (the monitor does).

pub mod gate;
pub mod outcome;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::instance::Instance;
use campanile_model::job::JobSpec;
use campanile_model::task::{Step, Task, TaskState};
use campanile_model::{InstanceId, Timestamp};
use campanile_store::{Lead, StoreError, Taken, Wanted};

use crate::events::Topic;
use crate::link::{AttemptRef, Push, ToExecutor};
use crate::officer::{Officer, Pass, PassError};
use crate::roster::Offer;
use crate::shared::{Holding, Shared, read_holding};
use crate::specs::Specs;
use gate::{RELEASED_OVER, Rounds, choose};

/// Tasks in one transaction.
const BATCH: usize = 500;

pub struct Dispatcher {
    shared: Arc<Shared>,
    lead: Lead,
    specs: Specs,
    rounds: Rounds,
}

impl Dispatcher {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Dispatcher {
        Dispatcher { shared, lead, specs: Specs::default(), rounds: Rounds::default() }
    }

    /// Which of the steps were written. Where storage stopped answering in the middle of it, it is asked again until
    /// it tells: a push that was written must be told to its executor.
    async fn take(&self, steps: &[Step]) -> Result<Vec<Taken>, PassError> {
        match self.shared.store.take(&self.lead, steps).await {
            Ok(taken) => Ok(taken),
            Err(StoreError::Unknown(cause)) => {
                tracing::warn!(error = %cause, "storage stopped answering while tasks were pushed");
                let ids: Vec<_> = steps.iter().map(|step| step.task().id).collect();
                let found = loop {
                    match self.shared.store.tasks(&ids).await {
                        Ok(found) => break found,
                        Err(StoreError::Fenced(_)) => return Err(PassError::Overtaken),
                        Err(_) => {
                            let clock = &self.shared.clock;
                            clock.sleep_until(clock.now() + Duration::from_millis(100)).await;
                        }
                    }
                };
                let found: HashMap<_, Task> = found.into_iter().map(|task| (task.id, task)).collect();
                let written = |step: &Step| {
                    found.get(&step.task().id).is_some_and(|task| {
                        task.fence() == step.next_fence()
                            && task.state() == TaskState::Pushed
                            && task.executor == step.task().executor
                    })
                };
                Ok(steps.iter().map(|step| if written(step) { Taken::Done } else { Taken::Lost }).collect())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn tell(&self, offer: &Offer, task: &Task, instance: &Instance, spec: &JobSpec, now: Timestamp) {
        let parameters = instance
            .parameters
            .clone()
            .unwrap_or_else(|| serde_json::Value::Object(spec.parameters.clone()).to_string());
        let push = Push {
            attempt: AttemptRef { task: task.id, attempt: task.attempt() },
            idempotency_key: task.idempotency_key(),
            processor: task.processor.clone(),
            parameters,
            job: spec.name.clone(),
            instance: instance.id.to_string(),
            planned: instance.planned,
            due: instance.due,
            version: task.version,
            origin: instance.origin,
            tenant: spec.tenant.clone(),
            deadline: task.limits.run_timeout_ms.map(|timeout| now.plus_millis(timeout)),
            kill_on_overrun: task.limits.kill_on_overrun,
            sequence_after: task.sequence,
            secrets: Vec::new(),
            upstream: Vec::new(),
        };
        if !self.shared.link.tell(offer.session, ToExecutor::Push(Box::new(push))) {
            // It hands back, when it returns, what it never heard of; else its lease ends.
            tracing::info!(task = %task.id, executor = offer.executor.name, "the session ended before the push was told");
        }
    }
}

#[async_trait]
impl Officer for Dispatcher {
    fn name(&self) -> &'static str {
        "dispatcher"
    }

    fn bell(&self) -> Bell {
        Bell::Dispatcher
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let mut offers: Vec<Offer> =
            self.shared.roster.offers(now).into_iter().filter(|offer| offer.room > 0).collect();
        if offers.is_empty() {
            return Ok(Pass::default());
        }
        let released_at = match read_holding(self.shared.store.as_ref()).await? {
            Some(Holding::Held(_)) => return Ok(Pass::default()),
            // A release that lies ahead of us was written by a clock that has been set back since.
            Some(Holding::Released(at)) if at <= now && now.since(at) < RELEASED_OVER => Some(at),
            Some(Holding::Released(_)) | None => None,
        };
        let room: usize = offers.iter().map(|offer| offer.room as usize).sum();
        let mut processors: Vec<(String, String)> = offers
            .iter()
            .flat_map(|offer| offer.processors.iter().map(|name| (offer.executor.group.clone(), name.clone())))
            .collect();
        processors.sort_unstable();
        processors.dedup();
        // Some of what is found may not go yet.
        let limit = if released_at.is_some() { BATCH } else { room.min(BATCH) };
        let wanted = Wanted { processors, limit };
        let ready = self.shared.store.ready_tasks(&wanted).await?;
        if ready.is_empty() {
            return Ok(Pass::default());
        }
        let found = ready.len();
        let instances: Vec<InstanceId> = ready.iter().map(|task| task.instance).collect();
        let instances: HashMap<InstanceId, Instance> =
            self.shared.store.instances(&instances).await?.into_iter().map(|found| (found.id, found)).collect();

        let mut steps = Vec::with_capacity(ready.len());
        let mut told = Vec::with_capacity(ready.len());
        for task in ready {
            let Some(spec) = self.specs.of(self.shared.store.as_ref(), task.job, task.version).await? else { continue };
            let Some(instance) = instances.get(&task.instance) else { continue };
            if released_at.is_some_and(|at| !gate::is_released(&task, at, now)) {
                continue;
            }
            let dice = &self.shared.dice;
            let Some(place) = choose(&task, spec.route, &mut offers, &mut self.rounds, |bound| dice.below(bound))
            else {
                continue;
            };
            let Ok(step) = outcome::push(task, offers[place].executor.clone(), now) else { continue };
            steps.push(step);
            told.push((place, instance, spec));
        }
        let taken = self.take(&steps).await?;
        let mut did = 0;
        for ((step, taken), (place, instance, spec)) in steps.iter().zip(taken).zip(told) {
            if taken == Taken::Done {
                did += 1;
                let offer = &offers[place];
                self.shared.roster.holds(&offer.executor, step.task().id, false);
                self.tell(offer, step.task(), instance, &spec, now);
            }
        }
        if did > 0 {
            self.shared.events.say(Topic::Tasks, now);
            // Its push timeout is a deadline like any other.
            self.shared.coord.ring(Bell::Monitor);
        }
        Ok(Pass { did, again: did > 0 && found == BATCH, next: None })
    }
}
