//! Gives ready tasks to executors that have room.
//!
//! A task is written as Pushed before it is told to anyone: what was told and not written could run
//! twice. What was written and not told is handed back when the executor says what it has. Every bound
//! on work at once is enforced in that write.
//!
//! Several nodes that meet share lanes of ready tasks (`lanes`); the others look for them in the store.
//!
//! The dispatcher does not wait for executors and does not time anything out (the monitor does).

mod facts;
pub mod gate;
pub(crate) mod lanes;
pub mod outcome;
mod parts;
mod secrets;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_coord::lanes::{Lanes, Shelf};
use campanile_model::instance::{Instance, Origin};
use campanile_model::job::{JobSpec, StillNeeded};
use campanile_model::limits::Limits;
use campanile_model::schedule::Zone;
use campanile_model::sharding::{DATA, ShardRun};
use campanile_model::task::{Need, Step, Task, TaskState};
use campanile_model::{InstanceId, Lane, TaskId, Timestamp, template};
use campanile_store::{Bound, Claimed, Lead, Room, Scope, StoreError, Taken, Wanted, WantedNeed};
use serde_json::{Map, Value, json};

use crate::courier::Delivery;
use crate::events::Topic;
use crate::held::{Finding, HoldCause};
use crate::link::{AttemptRef, Push, Question, SealedSecret, ToExecutor, Upstream};
use crate::monitor;
use crate::officer::{Officer, Pass, PassError};
use crate::questions::{self, About, Need as Needed};
use crate::roster::Offer;
use crate::shared::{Holding, Shared, read_holding, read_limits};
use crate::specs::Specs;
pub(crate) use facts::facts;
use facts::parameters_of;
use gate::{RELEASED_OVER, Rounds, bounds_on, choose, judge};
use lanes::{Hand, Queued, Seen};
use secrets::Sealed;

/// Tasks in one transaction, and in memory at once.
const BATCH: usize = 500;

/// What is held is counted anew after so long.
const COUNT_EVERY: Duration = Duration::from_secs(1);

pub struct Dispatcher {
    shared: Arc<Shared>,
    lead: Lead,
    specs: Specs,
    rounds: Rounds,
    counted_at: Option<Timestamp>,
    seen: Seen,
}

/// What the needs of all ready tasks come to.
struct Sorted {
    wanted: Vec<WantedNeed>,
    findings: Vec<Finding>,
    /// Every bound that a push of this pass may fall under.
    bounds: Vec<Bound>,
    /// What is left of them, executors apart.
    room: Room,
}

/// Whom tasks are given to, and under which bounds.
struct Takers {
    offers: Vec<Offer>,
    bounds: Vec<Bound>,
    /// What the bounds were made of.
    limits: Limits,
    room: Room,
    /// A hold has ended lately.
    released_at: Option<Timestamp>,
}

/// What came of giving tasks out.
#[derive(Default)]
struct Given {
    pass: Pass,
    /// What is Ready still, as far as is known.
    left: Vec<Queued>,
}

/// A task that is to go.
struct Going {
    offer: usize,
    instance: Instance,
    /// Where the task is a part of a run that is cut into shards.
    run: Option<ShardRun>,
    spec: Arc<JobSpec>,
    secrets: Vec<SealedSecret>,
}

impl Dispatcher {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Dispatcher {
        Dispatcher {
            shared,
            lead,
            specs: Specs::default(),
            rounds: Rounds::default(),
            counted_at: None,
            seen: Seen::default(),
        }
    }

    /// Which of the steps were written. Where storage stopped answering in the middle of it, it is asked again until
    /// it tells: a push that was written must be told to its executor.
    async fn claim(&self, steps: &[Step], bounds: &[Bound], limits: &Limits) -> Result<Vec<Claimed>, PassError> {
        match self.shared.store.claim(&self.lead, steps, bounds, limits).await {
            Ok(claimed) => Ok(claimed),
            Err(StoreError::Unknown(cause)) => {
                tracing::warn!(error = %cause, "storage stopped answering while tasks were pushed");
                let ids: Vec<_> = steps.iter().map(|step| step.task().id).collect();
                let found = loop {
                    match self.shared.store.tasks(&ids).await {
                        Ok(found) => break found,
                        Err(StoreError::Fenced(lease)) => return Err(PassError::Overtaken(lease)),
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
                Ok(steps.iter().map(|step| if written(step) { Claimed::Done } else { Claimed::Lost }).collect())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What each need may do now: what is wanted of the store, what is held, and every bound there is.
    async fn sort_out(
        &self,
        needs: Vec<Need>,
        offers: &[Offer],
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Sorted, PassError> {
        let bounds_of: Vec<Vec<(Bound, HoldCause)>> = needs.iter().map(|need| bounds_on(need, limits)).collect();
        let mut bounds: Vec<Bound> = Vec::new();
        let mut places: HashMap<Scope, usize> = HashMap::new();
        for (bound, _) in bounds_of.iter().flatten() {
            let place = *places.entry(bound.scope.clone()).or_insert_with(|| {
                bounds.push(bound.clone());
                bounds.len() - 1
            });
            // Two versions of a job may allow differently; while both have tasks the lesser counts.
            bounds[place].most = bounds[place].most.min(bound.most);
        }
        let scopes: Vec<Scope> = bounds.iter().map(|bound| bound.scope.clone()).collect();
        let mut held = if scopes.is_empty() { Vec::new() } else { self.shared.store.held(&scopes).await? };
        // A node's limit counts what that node has given out, and nobody else gives out for it: it is not for the
        // store to enforce.
        let mut own_limit = None;
        if self.shared.in_team()
            && let Some(place) = places.get(&Scope::Everything)
        {
            held[*place] = self.shared.roster.all_in_hand();
            own_limit = Some(*place);
        }

        let mut wanted = Vec::new();
        let mut findings = Vec::new();
        for (need, own) in needs.into_iter().zip(bounds_of) {
            let left: Vec<(u64, HoldCause)> = own
                .into_iter()
                .map(|(bound, cause)| (u64::from(bound.most).saturating_sub(held[places[&bound.scope]]), cause))
                .collect();
            let verdict = judge(&need, offers, &left, now);
            let below = verdict.goes.map(|(down_to, _)| down_to);
            if let Some(cause) = verdict.cause {
                findings.push(Finding { need: need.clone(), below, cause });
            }
            if let Some((down_to, limit)) = verdict.goes {
                wanted.push(WantedNeed { need, down_to, limit });
            }
        }
        let room = Room::left(&bounds, &held);
        if let Some(place) = own_limit {
            bounds.remove(place);
        }
        bounds.extend(
            offers.iter().map(|offer| Bound { scope: Scope::Executor(offer.executor.clone()), most: offer.most }),
        );
        Ok(Sorted { wanted, findings, bounds, room })
    }

    /// Says what is held, and now and then how much of it.
    async fn show_held(
        &mut self,
        mut findings: Vec<Finding>,
        all: Option<HoldCause>,
        now: Timestamp,
    ) -> Result<(), PassError> {
        // Who is not here may be with another node.
        let roster = &self.shared.roster;
        findings.retain(|found| !found.cause.is_absence() || !roster.someone_elsewhere(&found.need));
        let any = !findings.is_empty() || all.is_some();
        self.shared.held.found(findings, all, now);
        let due = self.counted_at.is_none_or(|at| now.since(at) >= COUNT_EVERY || at > now);
        if any && due {
            self.counted_at = Some(now);
            self.shared.held.count(&self.shared.store.ready_counts().await?);
            self.shared.events.say(Topic::Tasks, now);
        }
        Ok(())
    }

    /// Whether the run is still worth doing; none: that is being asked.
    fn is_needed(
        &self,
        task: &Task,
        instance: &Instance,
        spec: &JobSpec,
        offers: &[Offer],
        now: Timestamp,
    ) -> Result<Option<String>, Timestamp> {
        let Some(still_needed) = &spec.still_needed else { return Ok(None) };
        let Some(about) = About::of(task) else { return Ok(None) };
        match self.shared.questions.about(about, now) {
            Needed::Needed => return Ok(None),
            Needed::NotNeeded(said) => return Ok(Some(said)),
            Needed::Asked(until) => return Err(until),
            Needed::NotAsked => {}
        }
        let (processor, parameters) = match still_needed {
            StillNeeded::Processor => (task.processor.as_str(), parameters_of(instance, spec)),
            StillNeeded::Sql { connection, query } => (
                "sql",
                Map::from_iter([("connection".to_owned(), json!(connection)), ("statement".to_owned(), json!(query))]),
            ),
            StillNeeded::Http { url } => ("http", Map::from_iter([("url".to_owned(), json!(url))])),
        };
        let knows = |offer: &&Offer| offer.executor.group == task.group && offer.answering.contains(processor);
        // Where nobody can say, it is worth doing.
        let Some(offer) = offers.iter().find(knows) else { return Ok(None) };
        let zone = self.zone(spec);
        let facts = facts(task, instance, spec, &offer.executor.name, zone.as_ref(), None);
        let question = Question {
            id: about.id(),
            processor: processor.to_owned(),
            parameters: Value::Object(template::fill(&parameters, &facts.as_facts())).to_string(),
            job: spec.name.clone(),
            version: task.version,
            instance: instance.id.to_string(),
            origin: instance.origin,
            planned: instance.planned,
            due: instance.due,
            tenant: spec.tenant.clone(),
        };
        if !self.shared.link.tell(offer.session, ToExecutor::StillNeeded(Box::new(question))) {
            return Ok(None);
        }
        self.shared.questions.ask(about, now);
        Err(now + questions::ANSWER_WITHIN)
    }

    fn tell(&self, offer: &Offer, task: &Task, going: &Going, upstream: Vec<Upstream>, now: Timestamp) {
        let Going { instance, spec, .. } = going;
        let zone = self.zone(spec);
        let facts = facts(task, instance, spec, &offer.executor.name, zone.as_ref(), upstream.first());
        let mut parameters = parameters_of(instance, spec);
        if task.part.is_some() {
            // It comes item by item.
            parameters.remove(DATA);
        }
        let parameters = template::fill(&parameters, &facts.as_facts());
        let called = parts::called(task, going.run.as_ref());
        let push = Push {
            attempt: AttemptRef { task: task.id, attempt: task.attempt() },
            idempotency_key: task.idempotency_key(),
            processor: task.processor.clone(),
            parameters: Value::Object(parameters).to_string(),
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
            secrets: going.secrets.clone(),
            upstream,
            method: called.method,
            shard: called.shard,
            notice: called.notice,
            more_follows: called.follows.is_some(),
        };
        let attempt = push.attempt;
        if !self.shared.link.tell(offer.session, ToExecutor::Push(Box::new(push))) {
            // It hands back, when it returns, what it never heard of; else its lease ends.
            tracing::info!(task = %task.id, executor = offer.executor.name, "the session ended before the push was told");
            return;
        }
        if let Some(contents) = called.follows {
            let session = offer.session;
            self.shared.deliveries.add(Delivery { session, attempt, instance: instance.id, contents });
        }
    }
}

impl Dispatcher {
    fn zone(&self, spec: &JobSpec) -> Option<Zone> {
        let name = spec.schedule.time_zone()?;
        self.shared.shelf.almanac().zone(name).ok()
    }

    /// The runs that tasks are parts of.
    async fn find_runs(&self, steps: &[Step], going: &mut [Going]) -> Result<(), PassError> {
        let mut found: HashMap<InstanceId, Option<ShardRun>> = HashMap::new();
        for (_, going) in steps.iter().zip(going).filter(|(step, _)| step.task().part.is_some()) {
            let instance = going.instance.id;
            going.run = match found.get(&instance) {
                Some(run) => run.clone(),
                None => {
                    let run = self.shared.store.shard_run(instance).await?;
                    found.insert(instance, run.clone());
                    run
                }
            };
        }
        Ok(())
    }

    /// What the runs before this one gave.
    async fn upstream_of(&mut self, going: &[Going]) -> Result<HashMap<InstanceId, Vec<Upstream>>, PassError> {
        let before = |instance: &Instance| -> Vec<InstanceId> {
            match instance.origin {
                Origin::After => instance.key.split(',').filter_map(|id| id.trim().parse().ok()).collect(),
                _ => Vec::new(),
            }
        };
        let wanted: Vec<InstanceId> = going.iter().flat_map(|going| before(&going.instance)).collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self.shared.store.instances(&wanted).await?;
        let mut upstream = HashMap::with_capacity(found.len());
        for instance in found {
            let spec = self.specs.of(self.shared.store.as_ref(), instance.job, instance.version).await?;
            let gave = Upstream {
                job: spec.map_or_else(String::new, |spec| spec.name.clone()),
                instance: instance.id.to_string(),
                result: instance.result.unwrap_or_else(|| "null".to_owned()),
            };
            upstream.insert(instance.id, gave);
        }
        let of = |going: &Going| {
            let gave = before(&going.instance).iter().filter_map(|id| upstream.get(id).cloned()).collect();
            (going.instance.id, gave)
        };
        Ok(going.iter().map(of).collect())
    }

    /// Writes the ends of tasks that are no longer worth doing.
    async fn save_the_work(&self, steps: &[Step], now: Timestamp) -> Result<usize, PassError> {
        if steps.is_empty() {
            return Ok(0);
        }
        let taken = self.shared.store.take(&self.lead, steps).await?;
        let saved = taken.into_iter().filter(|taken| *taken == Taken::Done).count();
        self.shared.events.count_saved(saved as u64);
        self.shared.events.count_finished(saved as u64);
        self.shared.events.say(Topic::Instances, now);
        for bell in [Bell::Assigner, Bell::Launcher, Bell::Alerter] {
            self.shared.coord.ring(bell);
        }
        Ok(saved)
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
        let shared = self.shared.clone();
        if let Some(lanes) = shared.lanes().filter(|_| !self.seen.is_old(now))
            && let Some(pass) = self.give_from_lanes(lanes, now).await?
        {
            return Ok(pass);
        }
        self.give_from_store(now).await
    }
}

impl Dispatcher {
    /// Whether everything is held, or has been until lately.
    async fn holding(&self, now: Timestamp) -> Result<Option<Holding>, PassError> {
        Ok(match read_holding(self.shared.store.as_ref()).await? {
            // A release that lies ahead of us was written by a clock that has been set back since.
            Some(Holding::Released(at)) if at > now || now.since(at) >= RELEASED_OVER => None,
            holding => holding,
        })
    }

    /// Of what is found some may not go yet, and must not stand before what may.
    fn slack(&self, offers: &[Offer], now: Timestamp) -> usize {
        let refused: HashSet<TaskId> = offers.iter().flat_map(|offer| offer.refused.keys().copied()).collect();
        refused.len() + self.shared.questions.open(now)
    }

    /// Looks at everything that is Ready.
    async fn give_from_store(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let needs = self.shared.store.ready_needs().await?;
        if needs.is_empty() {
            self.shared.held.found(Vec::new(), None, now);
            self.seen.note(needs, Vec::new(), false, now);
            return Ok(Pass::default());
        }
        let released_at = match self.holding(now).await? {
            Some(Holding::Held(_)) => {
                self.show_held(Vec::new(), Some(HoldCause::Everything), now).await?;
                self.seen.forget();
                return Ok(Pass::default());
            }
            Some(Holding::Released(at)) => Some(at),
            None => None,
        };
        let limits = read_limits(self.shared.store.as_ref()).await?;
        let offers = self.shared.roster.offers(now);
        let Sorted { mut wanted, findings, bounds, room: room_left } =
            self.sort_out(needs.clone(), &offers, &limits, now).await?;
        let held = findings.iter().any(|found| !found.cause.is_absence());
        let all = released_at.map(|_| HoldCause::Released);
        self.show_held(findings, all, now).await?;
        let all_lanes = wanted.iter().filter(|wanted| wanted.down_to == Lane::Low);
        let open: Vec<Need> = all_lanes.map(|wanted| wanted.need.clone()).collect();
        if wanted.is_empty() {
            self.seen.note(needs, open, held, now);
            return Ok(Pass::default());
        }
        let slack = self.slack(&offers, now);
        for wanted in &mut wanted {
            wanted.limit = if released_at.is_some() { BATCH } else { (wanted.limit + slack).min(BATCH) };
        }
        let room: usize = offers.iter().map(|offer| offer.room as usize).sum();
        let limit = if released_at.is_some() { BATCH } else { (room + slack).min(BATCH) };
        let ready = self.shared.store.ready_tasks(&Wanted { needs: wanted, limit }).await?;
        let found = ready.len();
        let takers = Takers { offers, bounds, limits, room: room_left, released_at };
        let Given { mut pass, left } = self.give_out(ready, takers, now).await?;
        pass.again |= pass.did > 0 && found == BATCH;
        self.seen.note(needs, open, held || found == limit, now);
        if released_at.is_some() {
            self.seen.forget();
            return Ok(pass);
        }
        lanes::refill(&self.shared, &mut self.seen, left, now).await?;
        Ok(pass)
    }

    /// Gives out what no other node is handed just now. None: the store is to be looked at itself.
    async fn give_from_lanes(&mut self, lanes: &dyn Lanes, now: Timestamp) -> Result<Option<Pass>, PassError> {
        let offers = self.shared.roster.offers(now);
        let slack = self.slack(&offers, now);
        let mut hand = match Hand::fill(&self.shared, lanes, &self.seen, &offers, slack, BATCH, now).await {
            Ok(hand) => hand,
            Err(away) => {
                lanes::trouble(&away);
                return Ok(None);
            }
        };
        if hand.short {
            self.seen.is_short();
        }
        if hand.is_empty() {
            return Ok((!hand.short).then(Pass::default));
        }
        let (mut left, mut aside) = (hand.ids(), HashMap::new());
        let outcome = self.give_from(&mut hand, offers, &mut left, &mut aside, now).await;
        hand.let_go(&self.shared, lanes, &left, &aside).await;
        outcome
    }

    /// Says in `left` what of the hand is Ready still, and in `aside` what is not for this node now.
    async fn give_from(
        &mut self,
        hand: &mut Hand,
        offers: Vec<Offer>,
        left: &mut Vec<TaskId>,
        aside: &mut HashMap<TaskId, Shelf>,
        now: Timestamp,
    ) -> Result<Option<Pass>, PassError> {
        if self.holding(now).await?.is_some() {
            self.seen.forget();
            return Ok(None);
        }
        hand.shows(self.shared.store.tasks(left).await?);
        let mut ready = std::mem::take(&mut hand.tasks);
        let limits = read_limits(self.shared.store.as_ref()).await?;
        let needs: BTreeMap<String, Need> = ready.iter().map(Task::need).map(|need| (need.key(), need)).collect();
        let Sorted { wanted, findings, bounds, room } =
            self.sort_out(needs.into_values().collect(), &offers, &limits, now).await?;
        self.seen.closes(&findings);
        let goes = wanted.iter().map(|wanted| (wanted.need.key(), wanted.down_to)).collect();
        *aside = lanes::set_aside(&mut ready, &goes);
        *left = ready.iter().map(|task| task.id).collect();
        let takers = Takers { offers, bounds, limits, room, released_at: None };
        let mut given = self.give_out(ready, takers, now).await?;
        *left = given.left.iter().map(|queued| queued.task).collect();
        // What was set aside stood before what may go.
        given.pass.again |= !aside.is_empty() || hand.short;
        Ok(Some(given.pass))
    }

    /// Gives as many of them as may go to those who take them, in the order given.
    async fn give_out(&mut self, ready: Vec<Task>, takers: Takers, now: Timestamp) -> Result<Given, PassError> {
        let Takers { mut offers, bounds, limits, room: mut room_left, released_at } = takers;
        let mut left = Vec::new();
        let versions = ready.iter().map(|task| (task.job, task.version));
        self.specs.fetch(self.shared.store.as_ref(), versions).await?;
        let instances: Vec<InstanceId> = ready.iter().map(|task| task.instance).collect();
        let instances: HashMap<InstanceId, Instance> =
            self.shared.store.instances(&instances).await?.into_iter().map(|found| (found.id, found)).collect();
        let mut steps = Vec::with_capacity(ready.len());
        let mut told = Vec::with_capacity(ready.len());
        let mut saved = Vec::new();
        let mut next: Option<Timestamp> = None;
        for task in ready {
            if task.is_expired(now) {
                saved.extend(outcome::expire(task, now).ok());
                continue;
            }
            let Some(spec) = self.specs.of(self.shared.store.as_ref(), task.job, task.version).await? else { continue };
            let Some(instance) = instances.get(&task.instance) else { continue };
            if released_at.is_some_and(|at| !gate::is_released(&task, at, now)) {
                left.push(Queued::of(&task));
                continue;
            }
            let dice = &self.shared.dice;
            let Some(offer) = choose(&task, spec.route, &mut offers, &mut self.rounds, now, |bound| dice.below(bound))
            else {
                left.push(Queued::of(&task));
                continue;
            };
            let go = match self.is_needed(&task, instance, &spec, &offers, now) {
                Ok(None) => {
                    let queued = Queued::of(&task);
                    let step = outcome::push(task, offers[offer].executor.clone(), now).ok();
                    let step = step.filter(|step| room_left.admit(step.task()));
                    left.extend(step.is_none().then_some(queued));
                    step
                }
                Ok(Some(said)) => {
                    saved.extend(outcome::not_needed(task, &said, now).ok());
                    None
                }
                Err(until) => {
                    left.push(Queued::of(&task));
                    next = next.into_iter().chain([until]).min();
                    None
                }
            };
            match go {
                Some(step) => {
                    steps.push(step);
                    told.push(Going { offer, instance: instance.clone(), run: None, spec, secrets: Vec::new() });
                }
                None => {
                    offers[offer].room += 1;
                    offers[offer].in_hand -= 1;
                }
            }
        }
        let mut did = self.save_the_work(&saved, now).await?;
        if steps.is_empty() {
            return Ok(Given { pass: Pass { did, again: did > 0, next }, left });
        }
        let upstream = self.upstream_of(&told).await?;
        // Read before anything is written: what was written as pushed has to be told.
        self.find_runs(&steps, &mut told).await?;
        let mut sealed = Sealed::default();
        for (step, going) in steps.iter().zip(&mut told) {
            // Names that a template brings are not looked for: what a run before this one gave opens nothing.
            let named = Value::Object(parameters_of(&going.instance, &going.spec)).to_string();
            going.secrets = sealed.of(self.shared.store.as_ref(), &step.task().group, &named).await?;
        }
        let claimed = self.claim(&steps, &bounds, &limits).await?;
        // Another node was faster: what is left may be for us.
        let lost = claimed.contains(&Claimed::Lost);
        for ((step, claimed), going) in steps.iter().zip(claimed).zip(told) {
            if claimed == Claimed::Full {
                left.push(Queued::of(step.task()));
            }
            if claimed == Claimed::Done {
                did += 1;
                let offer = &offers[going.offer];
                let task = step.task();
                self.shared.roster.holds(&offer.executor, task.id, false, now);
                self.shared.questions.forget(AttemptRef { task: task.id, attempt: task.attempt() });
                let upstream = upstream.get(&going.instance.id).cloned().unwrap_or_default();
                self.tell(offer, task, &going, upstream, now);
            }
        }
        if did > 0 {
            self.shared.events.say(Topic::Tasks, now);
            // Its push timeout is a deadline like any other.
            if steps.iter().any(|step| monitor::is_pressing(step.task(), now)) {
                self.shared.coord.ring(Bell::Monitor);
            }
        }
        Ok(Given { pass: Pass { did, again: lost, next }, left })
    }
}
