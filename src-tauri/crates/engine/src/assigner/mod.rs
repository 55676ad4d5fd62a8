//! Turns an instance whose turn has come into tasks.
//!
//! An instance's turn comes when the earlier ones of its job have ended, or at once where it runs
//! beside them. Where the newest one replaces the others, they are stopped for it.
//!
//! A broadcast becomes one task for each executor that is there, and ends when all of them have; it is
//! ended here too, because none of its tasks knows of the others.
//!
//! A run that is cut into shards has phases, which `shards` carries it through.
//!
//! The assigner does not look at executors where neither mode nor route asks for it: such a task goes
//! to whoever the dispatcher finds.

pub mod place;
pub mod shards;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::instance::{self, Instance, InstanceMove, InstanceState};
use campanile_model::job::{JobSpec, Mode, Overrun, Route};
use campanile_model::sharding::ShardRun;
use campanile_model::task::{Incident, IncidentKind, Needs, NewTask, StopCause, Task, TaskLimits, TaskState};
use campanile_model::{Code, Failure, FailureClass, InstanceId, JobId, TaskId, Timestamp};
use campanile_store::{Assignment, Settlement, ShardWrite, Taken};
use serde_json::Value;
use shards::{Conductor, Went};

use crate::events::Topic;
use crate::monitor::stopping;
use crate::officer::{Officer, Pass, PassError};
use crate::share::{Led, Share};
use crate::shared::Shared;
use crate::specs::Specs;

/// Instances in one transaction.
const BATCH: usize = 500;

/// Runs that are cut into shards in one pass.
const RUNS: usize = 100;

/// The most that is kept of a result, as JSON.
const LARGEST_RESULT: usize = 64 * 1024;

pub struct Assigner {
    shared: Arc<Shared>,
    share: Arc<Share>,
    /// What this pass is for.
    led: Led,
    specs: Specs,
    lap: Lap,
}

/// How far it has come through the runs that are cut into shards. A pass takes so many of them, the next one goes on
/// behind them: so that none waits for the end of others, however many there are.
#[derive(Default)]
struct Lap {
    through: Option<InstanceId>,
    /// When the first of those that the lap has come to has something to do again.
    next: Option<Timestamp>,
}

impl Assigner {
    pub fn new(shared: Arc<Shared>, share: Arc<Share>) -> Assigner {
        Assigner { shared, share, led: Led::default(), specs: Specs::default(), lap: Lap::default() }
    }

    /// Stops what stands before an instance that replaces it.
    async fn make_way(&mut self, now: Timestamp) -> Result<usize, PassError> {
        let store = &self.shared.store;
        let replacing = store.replacing(self.led.of(), BATCH).await?;
        let mut stopped = 0;
        for newest in replacing {
            let Some(lead) = self.led.lead([newest.job]) else { continue };
            for (_, older, state) in store.unfinished(&[newest.job]).await? {
                if older == newest.id {
                    break;
                }
                if state == InstanceState::Waiting {
                    let ended = InstanceMove { instance: older, to: InstanceState::Cancelled, at: now, result: None };
                    if store.end_unassigned(&lead, &ended).await? {
                        stopped += 1;
                        continue;
                    }
                }
                if let Some(run) = store.shard_run(older).await? {
                    if !run.stopping {
                        let stop = ShardWrite::of(ShardRun { stopping: true, ..run });
                        stopped += usize::from(store.conduct(&lead, &stop).await? == Taken::Done);
                    }
                    continue;
                }
                let steps = store
                    .tasks_of(older)
                    .await?
                    .into_iter()
                    .filter_map(|task| stopping::ask(task, StopCause::Replaced, now))
                    .collect::<Vec<_>>();
                if !steps.is_empty() {
                    stopped += steps.len();
                    store.take(&lead, &steps).await?;
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

/// A task of an instance.
pub fn task_of(instance: &Instance, spec: &JobSpec, id: TaskId, needs: Needs) -> Task {
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
            of_several: spec.mode == Mode::Broadcast,
            failure_rules: spec.failure_rules.clone(),
        },
        needs,
        expires_at: expires_at(instance, spec),
        lane: instance.lane,
        due_at: instance.not_before,
    })
}

/// When it is no longer worth beginning.
fn expires_at(instance: &Instance, spec: &JobSpec) -> Option<Timestamp> {
    spec.expires_after_seconds.map(|seconds| instance.due.plus_seconds(i64::from(seconds)))
}

/// A broadcast that found nobody.
fn nobody_there(instance: &Instance, spec: &JobSpec, now: Timestamp) -> Settlement {
    let fault = Code::NoExecutorForProcessor.fault().with("name", &spec.processor);
    let failure = Failure { class: FailureClass::Transient, code: fault.code, message: fault.message };
    let change = InstanceMove { instance: instance.id, to: InstanceState::Failed, at: now, result: None };
    let incidents = vec![ended(IncidentKind::InstanceFailed, instance, Some(failure.clone()), now)];
    Settlement { change, failure: Some(failure), incidents }
}

/// An instance of several tasks all of which have ended.
fn settled_by(instance: &Instance, spec: &JobSpec, tasks: &[Task], now: Timestamp) -> Settlement {
    let states: Vec<TaskState> = tasks.iter().map(Task::state).collect();
    let to = instance::settled(&states, spec.min_success);
    let failure = tasks.iter().rev().find_map(|task| task.failure.clone()).filter(|_| to == InstanceState::Failed);
    let incidents = match to {
        InstanceState::Succeeded => vec![ended(IncidentKind::InstanceSucceeded, instance, None, now)],
        InstanceState::Failed => vec![ended(IncidentKind::InstanceFailed, instance, failure.clone(), now)],
        _ => Vec::new(),
    };
    let result = (to == InstanceState::Succeeded).then(|| gathered(tasks)).flatten();
    Settlement { change: InstanceMove { instance: instance.id, to, at: now, result }, failure, incidents }
}

/// What the executors gave, by their names; none where that is more than is kept of a result.
fn gathered(tasks: &[Task]) -> Option<String> {
    let given = tasks.iter().filter_map(|task| {
        let value: Value = serde_json::from_str(task.result.as_ref()?).ok()?;
        Some((task.executor.as_ref()?.name.clone(), value))
    });
    let given = Value::Object(given.collect()).to_string();
    (given.len() <= LARGEST_RESULT).then_some(given)
}

fn ended(kind: IncidentKind, instance: &Instance, failure: Option<Failure>, now: Timestamp) -> Incident {
    let (job, instance) = (instance.job, Some(instance.id));
    Incident { seq: 0, at: now, kind, job, instance, task: None, executor: None, failure }
}

/// What a pass came to for runs that are cut into shards.
struct Conducted {
    did: usize,
    /// There is more to do at once.
    again: bool,
    next: Option<Timestamp>,
}

impl Assigner {
    /// Ends instances of several tasks, once all of them have ended.
    async fn settle(&mut self, now: Timestamp) -> Result<usize, PassError> {
        let store = self.shared.store.clone();
        let ended = store.ended_together(self.led.of(), BATCH).await?;
        if ended.is_empty() {
            return Ok(0);
        }
        let mut settlements = Vec::with_capacity(ended.len());
        let mut jobs = Vec::with_capacity(ended.len());
        for instance in store.instances(&ended).await? {
            let Some(spec) = self.specs.of(store.as_ref(), instance.job, instance.version).await? else { continue };
            let tasks = store.tasks_of(instance.id).await?;
            settlements.push(settled_by(&instance, &spec, &tasks, now));
            jobs.push(instance.job);
        }
        self.end(&settlements, &jobs, now).await
    }

    async fn end(&self, settlements: &[Settlement], jobs: &[JobId], now: Timestamp) -> Result<usize, PassError> {
        let Some(lead) = self.led.lead(jobs.iter().copied()).filter(|_| !settlements.is_empty()) else { return Ok(0) };
        let written = self.shared.store.settle(&lead, settlements).await?;
        self.shared.events.say(Topic::Instances, now);
        // A job may wait for this end.
        for bell in [Bell::Launcher, Bell::Alerter] {
            self.shared.coord.ring(bell);
        }
        Ok(written.into_iter().filter(|written| *written).count())
    }

    /// Begins runs that are cut into shards.
    async fn begin_shards(
        &mut self,
        instances: &[(&Instance, Arc<JobSpec>)],
        now: Timestamp,
    ) -> Result<usize, PassError> {
        let mut refused = Vec::new();
        let mut refused_jobs = Vec::new();
        let mut did = 0;
        for (instance, spec) in instances {
            let Some(lead) = self.led.lead([instance.job]) else { continue };
            match shards::given(instance, spec) {
                Ok(data) => {
                    let conductor = Conductor { shared: &self.shared, lead: &lead, now };
                    did += usize::from(conductor.begin(instance, data).await?);
                }
                Err(fault) => {
                    let failure = Failure { class: FailureClass::Business, code: fault.code, message: fault.message };
                    let change =
                        InstanceMove { instance: instance.id, to: InstanceState::Failed, at: now, result: None };
                    let incidents = vec![ended(IncidentKind::InstanceFailed, instance, Some(failure.clone()), now)];
                    refused.push(Settlement { change, failure: Some(failure), incidents });
                    refused_jobs.push(instance.job);
                }
            }
        }
        Ok(did + self.end(&refused, &refused_jobs, now).await?)
    }

    /// Carries runs that are cut into shards a step further.
    async fn conduct(&mut self, now: Timestamp) -> Result<Conducted, PassError> {
        let shared = self.shared.clone();
        let mut went = Went { did: 0, next: self.lap.next };
        let runs = shared.store.shard_runs(self.led.of(), self.lap.through, RUNS).await?;
        let through = runs.last().map(|run| run.instance).filter(|_| runs.len() == RUNS);
        let ids: Vec<InstanceId> = runs.iter().map(|run| run.instance).collect();
        let found = if ids.is_empty() { Vec::new() } else { shared.store.instances(&ids).await? };
        let found: HashMap<InstanceId, Instance> = found.into_iter().map(|found| (found.id, found)).collect();
        for run in runs {
            let Some(instance) = found.get(&run.instance) else { continue };
            let Some(lead) = self.led.lead([instance.job]) else { continue };
            let conductor = Conductor { shared: &shared, lead: &lead, now };
            let spec = self.specs.of(shared.store.as_ref(), instance.job, instance.version).await?;
            let Some(spec) = spec else { continue };
            let further = conductor.advance(run, instance, &spec).await?;
            went.did += further.did;
            went.next = went.next.into_iter().chain(further.next).min();
        }
        let more = through.is_some();
        self.lap = Lap { through, next: went.next.filter(|_| more) };
        Ok(Conducted { did: went.did, again: went.did > 0 || more, next: went.next })
    }

    /// Who could take the instance's tasks at some time.
    fn live(&self, spec: &JobSpec, instance: &Instance, now: Timestamp) -> Vec<String> {
        let need = place::needs_of(spec).of(&spec.executor_group, &spec.processor, instance.job);
        self.shared.roster.names_of(&need, now)
    }
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
        self.led = self.share.led();
        if self.led.of().is_empty() {
            return Ok(Pass::default());
        }
        let outcome = self.assign(now).await;
        self.share.settle(outcome)
    }
}

impl Assigner {
    async fn assign(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let settled = self.settle(now).await?;
        let stopped = self.make_way(now).await? + settled;
        let Conducted { did: conducted, again: conducts, next } = self.conduct(now).await?;
        let store = self.shared.store.clone();
        let instances = store.unassigned(self.led.of(), BATCH).await?;
        if instances.is_empty() {
            return Ok(Pass { did: stopped + conducted, again: conducts, next });
        }
        let versions = instances.iter().map(|instance| (instance.job, instance.version));
        self.specs.fetch(store.as_ref(), versions).await?;
        let mut found = Vec::with_capacity(instances.len());
        for instance in &instances {
            match self.specs.of(store.as_ref(), instance.job, instance.version).await? {
                Some(spec) => found.push((instance, spec)),
                None => tracing::error!(instance = %instance.id, "its job has no version {}", instance.version),
            }
        }
        let (sharded, found): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, spec)| spec.mode == Mode::Sharding);
        let begun = self.begin_shards(&sharded, now).await?;
        let sticky = found.iter().filter(|(_, spec)| spec.route == Route::Sticky);
        let sticky: Vec<JobId> = sticky.map(|(instance, _)| instance.job).collect();
        let last: HashMap<JobId, String> = match sticky.is_empty() {
            true => HashMap::new(),
            false => store.last_executors(&sticky).await?.into_iter().collect(),
        };
        let mut assignments = Vec::with_capacity(found.len());
        let (mut failed, mut failed_jobs) = (Vec::new(), Vec::new());
        let mut jobs = Vec::with_capacity(found.len());
        for (instance, spec) in found {
            let places_matter =
                spec.mode == Mode::Broadcast || matches!(spec.route, Route::ConsistentHash | Route::Sticky);
            let live = if places_matter { self.live(&spec, instance, now) } else { Vec::new() };
            let Some(places) = place::places(&spec, instance, &live, last.get(&instance.job)) else {
                // Who is there is known only a while after a node has begun.
                if !self.shared.roster.is_gathering(now) {
                    failed.push(nobody_there(instance, &spec, now));
                    failed_jobs.push(instance.job);
                }
                continue;
            };
            let tasks = places.into_iter().map(|placed| {
                let needs = Needs { placed, ..place::needs_of(&spec) };
                task_of(instance, &spec, self.shared.dice.task_id(now), needs)
            });
            jobs.push(instance.job);
            assignments.push(Assignment { instance: instance.id, at: now, tasks: tasks.collect() });
        }
        let ended = self.end(&failed, &failed_jobs, now).await?;
        let written = match self.led.lead(jobs).filter(|_| !assignments.is_empty()) {
            Some(lead) => store.assign(&lead, &assignments).await?,
            None => Vec::new(),
        };
        self.shared.coord.ring(Bell::Monitor);
        self.shared.events.say(Topic::Instances, now);
        self.shared.events.say(Topic::Tasks, now);
        let did = written.iter().filter(|written| **written).count();
        let again = did == BATCH || ended > 0 || begun > 0 || conducts;
        Ok(Pass { did: did + stopped + ended + conducted + begun, again, next })
    }
}
