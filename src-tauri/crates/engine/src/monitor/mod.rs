//! Finds what would otherwise stay as it is: turns that have come, times that have passed, executors that are gone.
//!
//! Whatever is not final has a rule here that will end it.

pub mod stopping;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::task::{Need, Part, Step, StopCause, StopStage, Task, TaskState};
use campanile_model::{LaneClock, TaskId, Timestamp};
use campanile_store::{Lead, Taken, Wanted, WantedNeed};

use crate::assigner::place;
use crate::dispatcher::lanes::{self, Queued};
use crate::dispatcher::outcome;
use crate::events::Topic;
use crate::link::{AttemptRef, ToExecutor};
use crate::officer::{Officer, Pass, PassError};
use crate::roster::{EXECUTOR_LEASE, Gone};
use crate::share::{Duty, Share};
use crate::shared::{Holding, Shared, read_holding};
use crate::specs::Specs;

/// Tasks in one transaction.
const BATCH: usize = 500;

/// It looks at least this often.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at the tasks that wait.
const LANES_EVERY: Duration = Duration::from_secs(1);

/// Whether a task, as it now is, has something coming that the monitor would learn of too late by itself: it knows every
/// time that is further off than its patience before that time has come.
pub fn is_pressing(task: &Task, now: Timestamp) -> bool {
    let soon = now + PATIENCE;
    match task.state() {
        TaskState::Waiting => task.due_at <= soon,
        state if state.is_held() => task.stop.is_some() || task.deadline_at.is_some_and(|at| at <= soon),
        _ => false,
    }
}

pub struct Monitor {
    shared: Arc<Shared>,
    /// What it shows for what the executors that sit here have.
    lead: Lead,
    share: Arc<Share>,
    /// Stops that their executors have been told of in this term, with the stage.
    told: HashSet<(TaskId, u32, StopStage, u64)>,
    specs: Specs,
    /// When it last looked after the tasks that wait.
    lanes_at: Option<Timestamp>,
}

impl Monitor {
    pub fn new(shared: Arc<Shared>, lead: Lead, share: Arc<Share>) -> Monitor {
        Monitor { shared, lead, share, told: HashSet::new(), specs: Specs::default(), lanes_at: None }
    }

    /// Writes steps; those that lost are decided anew in the next pass.
    async fn take(&self, lead: &Lead, steps: &[Step], now: Timestamp) -> Result<usize, PassError> {
        if steps.is_empty() {
            return Ok(0);
        }
        let taken = self.shared.store.take(lead, steps).await?;
        let mut did = 0;
        let mut ready = Vec::new();
        for (step, taken) in steps.iter().zip(taken) {
            if taken == Taken::Done {
                did += 1;
                ready.extend((step.task().state() == TaskState::Ready).then(|| Queued::of(step.task())));
                self.shared.roster.keeps_who_lost(step);
                if step.before().is_held() && !step.task().state().is_held() {
                    if let Some(executor) = step.moves().first().and(step.task().executor.as_ref()) {
                        self.shared.roster.lets_go(executor, step.task().id, now);
                    }
                    self.shared.events.count_finished(1);
                }
            }
        }
        lanes::show(&self.shared, ready.into_iter()).await;
        Ok(did)
    }

    /// Waiting tasks whose turn has come are Ready.
    async fn call_due(&self, now: Timestamp) -> Result<usize, PassError> {
        let led = self.share.led();
        if led.of().is_empty() {
            return Ok(0);
        }
        let due = self.shared.store.due_tasks(led.of(), now, BATCH).await?;
        let Some(lead) = led.lead(due.iter().map(|task| task.job)).filter(|_| !due.is_empty()) else { return Ok(0) };
        let lanes = self.shared.lane_clock().await?;
        let steps: Vec<Step> = due.into_iter().filter_map(|task| outcome::due(task, lanes, now).ok()).collect();
        let did = self.take(&lead, &steps, now).await?;
        if did > 0 {
            self.shared.coord.ring(Bell::Dispatcher);
        }
        Ok(did)
    }

    /// Whether it is for this node to act on what the executor holds: it sits here, or there is only one node to act.
    fn is_ours(&self, task: &Task) -> bool {
        let sits_here = || task.executor.as_ref().is_some_and(|executor| self.shared.roster.sits_here(executor));
        !self.shared.in_team() || sits_here()
    }

    /// Push timeouts and run timeouts.
    async fn judge_deadlines(&self, now: Timestamp) -> Result<usize, PassError> {
        let past = self.shared.store.past_deadline(now, BATCH).await?;
        let mut steps = Vec::with_capacity(past.len());
        for task in past.into_iter().filter(|task| self.is_ours(task)) {
            let step = match task.state() {
                TaskState::Pushed => Some(self.judge_push(task, now)),
                TaskState::Running => outcome::overrun(task, now).ok(),
                _ => None,
            };
            steps.extend(step);
        }
        self.take(&self.lead, &steps, now).await
    }

    /// Time counts only while the executor has a free slot; a task that is being taken back waits for the answer.
    fn judge_push(&self, task: Task, now: Timestamp) -> Step {
        let timeout = Duration::from_millis(u64::try_from(task.limits.push_timeout_ms).unwrap_or(0));
        let executor = task.executor.as_ref();
        if let Some(executor) = executor {
            // What a node pushed that the executor has left meanwhile is in its hands as far as anyone knows.
            self.shared.roster.has_in_hand(executor, task.id, now);
        }
        let idle = executor.and_then(|executor| self.shared.roster.idle_since_push(executor, task.id, now));
        let again = now + timeout.max(Duration::from_secs(1));
        if task.stop.is_none()
            && idle.is_some_and(|idle| idle >= timeout)
            && let Some(mut step) = stopping::ask(task.clone(), StopCause::Withdrawn, now)
        {
            step.task_mut().deadline_at = Some(again);
            return step;
        }
        // As much as is missing, were a slot free from now on.
        let missing = timeout.saturating_sub(idle.unwrap_or_default()).max(Duration::from_secs(1));
        let mut step = task.begin();
        step.task_mut().deadline_at = Some(if step.task().stop.is_some() { again } else { now + missing });
        step
    }

    /// Carries each stop to the stage that is due, and tells the executor.
    async fn pursue_stops(&mut self, now: Timestamp) -> Result<(usize, Option<Timestamp>), PassError> {
        let stopping = self.shared.store.stopping_tasks(BATCH).await?;
        let mut steps = Vec::new();
        let mut next: Option<Timestamp> = None;
        let mut current = HashSet::with_capacity(self.told.len());
        for task in stopping.into_iter().filter(|task| self.is_ours(task)) {
            let Some(stop) = task.stop.clone() else { continue };
            // Taking back a task that has not begun needs no force.
            let due = stopping::due_stage(&stop, now).filter(|_| stop.cause != StopCause::Withdrawn);
            let stage =
                due.unwrap_or(if stop.stage == StopStage::Acknowledged { StopStage::Asked } else { stop.stage });
            self.tell(&task, stage, &mut current);
            if let Some(due) = due {
                let mut step = task.begin();
                step.task_mut().stop = Some(campanile_model::task::Stop { stage: due, stage_at: now, ..stop });
                steps.push(step);
            } else if stop.cause != StopCause::Withdrawn {
                next = next.into_iter().chain(stopping::next_stage_at(&stop)).min();
            }
        }
        self.told = current;
        let did = self.take(&self.lead, &steps, now).await?;
        Ok((did, next))
    }

    /// Once for each stage and session.
    fn tell(&self, task: &Task, stage: StopStage, current: &mut HashSet<(TaskId, u32, StopStage, u64)>) {
        let Some(session) = task.executor.as_ref().and_then(|executor| self.shared.roster.session(executor)) else {
            return;
        };
        let key = (task.id, task.attempt(), stage, session);
        let attempt = AttemptRef { task: task.id, attempt: task.attempt() };
        let withdrawn = task.stop.as_ref().is_some_and(|stop| stop.cause == StopCause::Withdrawn);
        let words = if withdrawn { ToExecutor::Withdraw(attempt) } else { ToExecutor::Stop { attempt, stage } };
        if self.told.contains(&key) || self.shared.link.tell(session, words) {
            current.insert(key);
        }
    }

    /// What executors had that are gone: of those that sit here each node counts it, of those that were with a node
    /// that is gone itself whoever has the duty.
    async fn count_losses(&self, general: Option<&Lead>, now: Timestamp) -> Result<usize, PassError> {
        let mut did = 0;
        let roster = &self.shared.roster;
        let mut gone = self.shared.store.holders().await?;
        gone.retain(|executor| roster.is_gone(executor, now));
        if !gone.is_empty() && self.shared.in_team() {
            // What another node says of it may be a second old.
            self.shared.look_around(&self.shared.store.executors().await?, now).await?;
            gone.retain(|executor| roster.is_gone(executor, now));
        }
        for executor in gone {
            let lead = if roster.sits_here(&executor) { Some(&self.lead) } else { general };
            let Some(lead) = lead else { continue };
            let held = self.shared.store.held_by(&executor, BATCH).await?;
            let steps: Vec<Step> = held
                .into_iter()
                .filter_map(|task| outcome::lose(task, now, self.shared.dice.fraction()).ok())
                .collect();
            tracing::warn!(executor = executor.name, tasks = steps.len(), "an executor is gone with what it had");
            did += self.take(lead, &steps, now).await?;
        }
        for Gone { executor, session, said_goodbye } in self.shared.roster.clear_gone(now) {
            match said_goodbye {
                true => tracing::info!(executor = executor.name, "an executor has left"),
                false => tracing::info!(executor = executor.name, "an executor's lease has passed"),
            }
            if let Some(session) = session {
                self.shared.link.close(session);
            }
            self.shared.events.say(Topic::Executors, now);
        }
        Ok(did)
    }

    /// What only time brings about for tasks that wait: once a second is often enough.
    async fn look_after_lanes(&mut self, general: Option<&Lead>, now: Timestamp) -> Result<Looked, PassError> {
        let Some(lead) = general else { return Ok(Looked::default()) };
        if self.lanes_at.is_some_and(|at| at <= now && now.since(at) < LANES_EVERY) {
            return Ok(Looked::default());
        }
        let mut looked = Looked { expired: self.expire(lead, now).await?, ..Looked::default() };
        let lanes = self.shared.lane_clock().await?;
        looked.promoted = self.promote(lead, lanes, now).await?;
        looked.questions = self.end_questions(lead, now).await?;
        let needs = self.shared.store.ready_needs().await?;
        looked.placed = self.place_anew(lead, &needs, now).await?;
        // While everything is held nobody can come, and time that was held does not count.
        if lanes.held_since.is_none() {
            looked.given_up = self.give_up_waiting(lead, &needs, now).await?;
        }
        let more = [looked.expired, looked.promoted, looked.placed, looked.given_up, looked.questions]
            .into_iter()
            .any(|did| did >= BATCH);
        self.lanes_at = (!more).then_some(now);
        Ok(looked)
    }

    /// Questions that nobody answered in time.
    async fn end_questions(&self, lead: &Lead, now: Timestamp) -> Result<usize, PassError> {
        let first = self.shared.store.open_questions(1).await?.pop();
        if first.is_none_or(|first| first.until > now) {
            return Ok(0);
        }
        let ended = self.shared.store.end_questions(lead, now, BATCH).await?;
        if ended > 0 {
            self.shared.events.say(Topic::Jobs, now);
        }
        Ok(usize::try_from(ended).unwrap_or(usize::MAX))
    }

    /// Tasks that have waited long enough in their lane move up.
    async fn promote(&self, lead: &Lead, lanes: LaneClock, now: Timestamp) -> Result<usize, PassError> {
        let waited = self.shared.store.promotable(lanes.at(now), BATCH).await?;
        let steps: Vec<Step> = waited.into_iter().filter_map(|task| outcome::promote(task, lanes, now)).collect();
        let did = self.take(lead, &steps, now).await?;
        self.shared.events.count_promoted(did as u64);
        Ok(did)
    }

    /// Ready tasks that are no longer worth beginning.
    async fn expire(&self, lead: &Lead, now: Timestamp) -> Result<usize, PassError> {
        let expired = self.shared.store.expired(now, BATCH).await?;
        let steps: Vec<Step> = expired.into_iter().filter_map(|task| outcome::expire(task, now).ok()).collect();
        let did = self.take(lead, &steps, now).await?;
        self.shared.events.count_saved(did as u64);
        self.shared.events.count_finished(did as u64);
        Ok(did)
    }

    /// Ready tasks whose executor is gone, where another will do.
    async fn place_anew(&mut self, lead: &Lead, needs: &[Need], now: Timestamp) -> Result<usize, PassError> {
        if self.shared.roster.is_gathering(now) {
            return Ok(0);
        }
        let mut did = 0;
        for need in needs.iter().filter(|need| need.placed.as_ref().is_some_and(|placed| !placed.firm)) {
            let away =
                self.shared.roster.absent_since(need, now).is_some_and(|since| now.since(since) >= EXECUTOR_LEASE);
            let anyone = Need { placed: None, ..need.clone() };
            let live = self.shared.roster.names_of(&anyone, now);
            if !away || live.is_empty() {
                continue;
            }
            let wanted = Wanted { needs: vec![WantedNeed::all_of(need.clone())], limit: BATCH };
            let mut steps = Vec::new();
            // Shards are dealt anew together.
            let ready = self.shared.store.ready_tasks(&wanted).await?;
            for task in ready.into_iter().filter(|task| !matches!(task.part, Some(Part::Shard { .. }))) {
                let spec = self.specs.of(self.shared.store.as_ref(), task.job, task.version).await?;
                let instance = self.shared.store.instances(&[task.instance]).await?.pop();
                let place = spec.zip(instance).and_then(|(spec, instance)| place::hashed(&spec, &instance, &live));
                steps.push(outcome::place(task, place));
            }
            did += self.take(lead, &steps, now).await?;
        }
        Ok(did)
    }

    /// Ready tasks for which nobody came.
    async fn give_up_waiting(&self, lead: &Lead, needs: &[Need], now: Timestamp) -> Result<usize, PassError> {
        let released_at = match read_holding(self.shared.store.as_ref()).await? {
            Some(Holding::Released(at)) => at.min(now),
            Some(Holding::Held(_)) | None => Timestamp::EPOCH,
        };
        let mut did = 0;
        for need in needs {
            let Some(absent_since) = self.shared.roster.absent_since(need, now) else { continue };
            let wanted = Wanted { needs: vec![WantedNeed::all_of(need.clone())], limit: BATCH };
            let ready = self.shared.store.ready_tasks(&wanted).await?;
            let steps: Vec<Step> = ready
                .into_iter()
                .filter(|task| {
                    let since = task.ready_at.unwrap_or(now).max(absent_since).max(released_at);
                    since.plus_millis(task.limits.ready_timeout_ms) <= now
                })
                .filter_map(|task| outcome::ready_timeout(task, now, self.shared.dice.fraction()).ok())
                .collect();
            did += self.take(lead, &steps, now).await?;
        }
        Ok(did)
    }
}

/// What became of tasks that wait.
#[derive(Default)]
struct Looked {
    expired: usize,
    promoted: usize,
    placed: usize,
    given_up: usize,
    questions: usize,
}

#[async_trait]
impl Officer for Monitor {
    fn name(&self) -> &'static str {
        "monitor"
    }

    fn bell(&self) -> Bell {
        Bell::Monitor
    }

    fn patience(&self) -> Duration {
        PATIENCE
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let outcome = self.look(now).await;
        self.share.settle(outcome)
    }
}

impl Monitor {
    async fn look(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let due = self.call_due(now).await?;
        let deadlines = self.judge_deadlines(now).await?;
        let (stops, next_stop) = self.pursue_stops(now).await?;
        let general = self.share.duty(Duty::Monitor);
        let lost = self.count_losses(general.as_ref(), now).await?;
        let Looked { expired, promoted, placed, given_up, questions } =
            self.look_after_lanes(general.as_ref(), now).await?;

        let did = due + deadlines + stops + lost + expired + promoted + placed + given_up + questions;
        if did > 0 {
            self.shared.events.say(Topic::Tasks, now);
        }
        if promoted + placed > 0 {
            self.shared.coord.ring(Bell::Dispatcher);
        }
        if lost + given_up + expired > 0 {
            self.shared.events.say(Topic::Instances, now);
            self.shared.coord.ring(Bell::Alerter);
            self.shared.coord.ring(Bell::Assigner);
            self.shared.coord.ring(Bell::Launcher);
        }
        if deadlines > 0 {
            self.shared.coord.ring(Bell::Alerter);
        }
        let of = self.share.led().of();
        let due_at = if of.is_empty() { None } else { self.shared.store.earliest_due_task(of).await? };
        // A deadline that has passed here is one of another node's: it is no reason to look again at once.
        let deadline = self.shared.store.earliest_deadline().await?.filter(|at| !self.shared.in_team() || *at > now);
        let next = [due_at, deadline, next_stop].into_iter().flatten().min();
        Ok(Pass {
            did,
            again: due == BATCH
                || deadlines == BATCH
                || [expired, promoted, placed, given_up, questions].into_iter().any(|did| did >= BATCH),
            next: next.map(|next| next.max(now.plus_millis(1))),
        })
    }
}
