//! Hears what executors say and writes it down, many reports at a time.
//!
//! A burst of reports becomes one transaction: while one batch is written the next one gathers. A
//! report is acknowledged after it is committed, never before, so that what was acknowledged is
//! never lost; one that is late or said twice changes nothing and is counted.

pub mod items;
mod rings;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use campanile_coord::Bell;
use campanile_model::task::{ExecutorRef, Illegal, Move, Step, Task, TaskState};
use campanile_model::{Code, Fault, TaskId, Timestamp, Words};
use campanile_store::{Lead, StoreError, Taken};
use futures::future::{Either, select};

use crate::dispatcher::outcome;
use crate::events::Topic;
use crate::link::{AttemptRef, FromExecutor, Heard, Registration, Report, Said, SessionId, ToExecutor};
use crate::officer::PassError;
use crate::shared::Shared;
use items::Pieces;
use rings::{Concerned, Seldom};

/// Reports in one transaction; three make a task.
const BATCH: usize = 1000;

/// Of data in one transaction, or little more.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Between two tries at storage that does not answer.
const TRY_AGAIN: Duration = Duration::from_millis(100);

pub struct Progress {
    shared: Arc<Shared>,
    lead: Lead,
    /// Heard, and not written yet.
    reports: Vec<(SessionId, Report)>,
    seldom: Seldom,
    /// Reports that came too late or twice.
    pub disregarded: u64,
}

impl Progress {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Progress {
        Progress { shared, lead, reports: Vec::new(), seldom: Seldom::default(), disregarded: 0 }
    }

    /// Listens until the lease is lost.
    pub async fn listen(&mut self) -> PassError {
        loop {
            let Some(first) = self.hear().await else { continue };
            let at = self.shared.clock.now();
            let (mut heard, is_all) = self.gather(first);
            self.shared.roster.hears_late(at, is_all);
            while let Err(error) = self.take_in(&mut heard).await {
                match error {
                    PassError::Overtaken(lease) => return PassError::Overtaken(lease),
                    PassError::Store(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "reports cannot be written");
                        self.shared.note_trouble(Some(&error));
                        self.shared.clock.sleep_until(self.shared.clock.now() + TRY_AGAIN).await;
                    }
                }
            }
        }
    }

    /// The next that is said; none where it was time to ring for what shards have done.
    async fn hear(&mut self) -> Option<Heard> {
        let Shared { link, clock, coord, roster, .. } = self.shared.as_ref();
        let owed = self.seldom.owed();
        if owed.is_none_or(|at| at > clock.now()) {
            if let Some(heard) = link.overhear() {
                return Some(heard);
            }
            roster.hears_at_once();
            let Some(at) = owed else { return Some(link.hear().await) };
            if let Either::Left((heard, _)) = select(link.hear(), clock.sleep_until(at)).await {
                return Some(heard);
            }
        }
        self.seldom.rings(clock.now());
        coord.ring(Bell::Assigner);
        None
    }

    /// What can be written together with the first, and whether that is all that has been said.
    fn gather(&self, first: Heard) -> (VecDeque<Heard>, bool) {
        let mut bytes = weight(&first);
        let mut heard = VecDeque::from([first]);
        while heard.len() < BATCH && bytes < MOST_BYTES {
            let Some(more) = self.shared.link.overhear() else { return (heard, true) };
            bytes += weight(&more);
            heard.push_back(more);
        }
        (heard, false)
    }

    /// Everything in the order in which it was heard. After a failure it goes on where it stood: what an executor said
    /// when it registered must not be taken for what it says now.
    async fn take_in(&mut self, heard: &mut VecDeque<Heard>) -> Result<(), PassError> {
        let now = self.shared.clock.now();
        while let Some(Heard { said, .. }) = heard.front() {
            // What came before must be written first: it decides what is still the executor's.
            if matches!(said, FromExecutor::Register(_) | FromExecutor::Goodbye | FromExecutor::Gone) {
                self.write_down(now).await?;
            }
            let Some(Heard { session, said }) = heard.pop_front() else { break };
            if !matches!(said, FromExecutor::Register(_) | FromExecutor::Gone)
                && !self.shared.roster.heard(session, now)
            {
                // It has lost its seat (its lease passed, or another life took the name): it has to register again.
                self.shared.link.close(session);
                continue;
            }
            match said {
                FromExecutor::Report(report) => self.reports.push((session, report)),
                FromExecutor::Log { attempt, sequence, lines } => {
                    self.shared.logs.append(attempt.task, attempt.attempt, &lines).await;
                    self.shared.link.tell(session, ToExecutor::Seen { attempt, sequence });
                    self.shared.events.say(Topic::Log(attempt.task), now);
                }
                FromExecutor::Heartbeat { number, machine } => {
                    if let Some(machine) = machine {
                        self.shared.roster.reads(session, machine, now);
                    }
                    self.shared.link.tell(session, ToExecutor::HeartbeatSeen { number });
                }
                FromExecutor::Capacity { capacity, queue } => {
                    self.shared.roster.resize(session, capacity, queue, now);
                    self.shared.coord.ring(Bell::Dispatcher);
                }
                FromExecutor::Draining { leaving: true } => self.shared.roster.drains(session),
                // It does what it was told; for how long, its row says.
                FromExecutor::Draining { leaving: false } => {}
                FromExecutor::StillNeeded { question, needed, message } => {
                    self.shared.questions.answer(&question, needed, &message);
                    self.shared.coord.ring(Bell::Dispatcher);
                }
                FromExecutor::Goodbye => {
                    self.shared.roster.leaves(session);
                    self.shared.coord.ring(Bell::Monitor);
                }
                FromExecutor::Register(registration) => self.seat(session, &registration, now).await?,
                FromExecutor::Gone => {
                    self.shared.roster.disconnected(session);
                    self.shared.coord.ring(Bell::Registrar);
                }
            }
        }
        self.write_down(now).await
    }

    /// Writes what has been heard; what could not be written stays for the next try.
    async fn write_down(&mut self, now: Timestamp) -> Result<(), PassError> {
        let reports = std::mem::take(&mut self.reports);
        let written = self.write(&reports, now).await;
        if written.is_err() {
            self.reports = reports;
        }
        written
    }

    async fn seat(&mut self, session: SessionId, registration: &Registration, now: Timestamp) -> Result<(), PassError> {
        let executor = &registration.executor;
        let elsewhere = self.is_taken_elsewhere(executor, now).await?;
        let seated = match elsewhere {
            Some(fault) => Err(fault),
            None => self.shared.roster.seat(session, registration.clone(), now),
        };
        match seated {
            Err(fault) => {
                self.shared.link.tell(session, ToExecutor::Refused(fault));
                self.shared.link.close(session);
                return Ok(());
            }
            Ok(Some(replaced)) => self.shared.link.close(replaced),
            Ok(None) => {}
        }
        let settled = match self.write_down_who_came(executor, now).await {
            Ok(()) => self.take_over_what_it_holds(executor, &registration.still_held, now).await,
            Err(error) => Err(error),
        };
        match settled {
            Ok(still_yours) => {
                let node = self.shared.node.clone();
                self.shared.link.tell(session, ToExecutor::Welcome { node, still_yours, draining: false });
            }
            Err(error) => {
                // Nobody may be pushed to who has not been told what is its own.
                self.shared.roster.disconnected(session);
                self.shared.link.close(session);
                return Err(error);
            }
        }
        self.shared.coord.ring(Bell::Dispatcher);
        self.shared.coord.ring(Bell::Monitor);
        self.shared.coord.ring(Bell::Registrar);
        Ok(())
    }

    /// Another life has its name at another node, and its lease has not passed.
    async fn is_taken_elsewhere(&self, executor: &ExecutorRef, now: Timestamp) -> Result<Option<Fault>, PassError> {
        if !self.shared.in_team() {
            return Ok(None);
        }
        self.shared.look_around(&self.shared.store.executors().await?, now).await?;
        Ok(self.shared.roster.is_taken_elsewhere(executor, now))
    }

    /// Before it is told what is its own, everyone can see where it is: the node that it came from must not count it as
    /// lost.
    async fn write_down_who_came(&self, executor: &ExecutorRef, now: Timestamp) -> Result<(), PassError> {
        if self.shared.in_team()
            && let Some(entry) = self.shared.roster.entry(&self.shared.node, executor, now)
        {
            self.shared.store.put_executors(&self.lead, &[entry], Timestamp::EPOCH).await?;
        }
        Ok(())
    }

    async fn take_over_what_it_holds(
        &mut self,
        executor: &ExecutorRef,
        still_held: &[AttemptRef],
        now: Timestamp,
    ) -> Result<Vec<(AttemptRef, u64)>, PassError> {
        let still_its = self.settle_what_it_holds(executor, still_held, now).await?;
        let attempts: Vec<_> = still_its.iter().map(|(attempt, _)| (attempt.task, attempt.attempt)).collect();
        self.shared.logs.take_up(&attempts).await?;
        Ok(still_its)
    }

    /// Holds what is written as the executor's against what it says it has.
    async fn settle_what_it_holds(
        &mut self,
        executor: &ExecutorRef,
        still_held: &[AttemptRef],
        now: Timestamp,
    ) -> Result<Vec<(AttemptRef, u64)>, PassError> {
        // A step that lost against another writer is decided anew: nobody else would look at this task again.
        let kept = loop {
            let held = self.shared.store.held_by(executor, usize::MAX >> 1).await?;
            let (kept, unknown): (Vec<Task>, Vec<Task>) =
                held.into_iter().partition(|task| still_held.contains(&attempt_of(task)));
            if unknown.is_empty() {
                break kept;
            }
            let steps = unknown.into_iter().filter_map(|task| self.without_it(task, now)).collect::<Vec<_>>();
            let taken = self.shared.store.take(&self.lead, &steps).await?;
            for (step, _) in steps.iter().zip(taken).filter(|(_, taken)| *taken == Taken::Done) {
                self.shared.roster.keeps_who_lost(step);
            }
            self.shared.events.say(Topic::Tasks, now);
        };
        let in_hand = kept.iter().map(|task| (task.id, task.state() != TaskState::Pushed));
        self.shared.roster.recount(executor, in_hand, now);
        Ok(kept.iter().map(|task| (attempt_of(task), task.sequence)).collect())
    }

    /// What becomes of a task whose executor has come back without it.
    fn without_it(&self, task: Task, now: Timestamp) -> Option<Step> {
        let jitter = self.shared.dice.fraction();
        let step = match task.state() {
            TaskState::Pushed => {
                let mut step = task.begin();
                let reason = Words::new("the executor never heard of it", "执行器没有收到它");
                outcome::hand_back(&mut step, reason, now, jitter).map(|()| step)
            }
            _ => outcome::lose(task, now, jitter),
        };
        step.inspect_err(|illegal| tracing::error!(%illegal, "what an executor lost cannot be settled")).ok()
    }

    /// Writes reports, then acknowledges them.
    async fn write(&mut self, reports: &[(SessionId, Report)], now: Timestamp) -> Result<(), PassError> {
        if reports.is_empty() {
            return Ok(());
        }
        let mut by_task: BTreeMap<TaskId, Vec<(SessionId, &Report)>> = BTreeMap::new();
        for (session, report) in reports {
            by_task.entry(report.attempt.task).or_default().push((*session, report));
        }
        let mut concerned = Concerned::default();
        let mut written = false;
        // A step that lost against another writer is decided anew, on what is there now.
        while !by_task.is_empty() {
            let ids: Vec<TaskId> = by_task.keys().copied().collect();
            let tasks: HashMap<TaskId, Task> =
                self.shared.store.tasks(&ids).await?.into_iter().map(|task| (task.id, task)).collect();
            let mut pieces = self.pieces_of(&tasks, &by_task).await?;
            let mut steps = Vec::new();
            let mut decided = Vec::new();
            for (id, reports) in std::mem::take(&mut by_task) {
                let Some(task) = tasks.get(&id) else {
                    self.forget(&reports);
                    continue;
                };
                let owner = task.executor.clone();
                let (step, answers) = self.step(task.clone(), &reports, &mut pieces, now);
                match step {
                    Some(step) => {
                        steps.push(step);
                        decided.push((id, reports, owner, answers));
                    }
                    None => self.answer(answers),
                }
            }
            if steps.is_empty() {
                break;
            }
            let taken = match self.shared.store.take(&self.lead, &steps).await {
                Ok(taken) => taken,
                // Read again: what was written shows by its sequence.
                Err(StoreError::Unknown(cause)) => return Err(PassError::Store(StoreError::Unknown(cause))),
                Err(error) => return Err(error.into()),
            };
            self.shared.note_trouble(None);
            for ((step, taken), (id, reports, owner, answers)) in steps.iter().zip(taken).zip(decided) {
                match taken {
                    Taken::Lost => {
                        by_task.insert(id, reports);
                    }
                    Taken::Done => {
                        written = true;
                        concerned.add(step, now);
                        self.shared.roster.keeps_who_lost(step);
                        self.follow(step, owner, now);
                        self.answer(answers);
                    }
                }
            }
        }
        if !written {
            return Ok(());
        }
        self.shared.events.say(Topic::Tasks, now);
        self.shared.events.say(Topic::Instances, now);
        if concerned.runs && self.seldom.is_time(now) {
            concerned.assigner = true;
        }
        for bell in concerned.bells() {
            self.shared.coord.ring(bell);
        }
        Ok(())
    }

    /// What is known of the items of which something is said.
    async fn pieces_of(
        &self,
        tasks: &HashMap<TaskId, Task>,
        reports: &BTreeMap<TaskId, Vec<(SessionId, &Report)>>,
    ) -> Result<Pieces, PassError> {
        let shards = tasks.values().filter_map(|task| {
            let said = reports[&task.id].iter().filter_map(|(_, report)| match &report.said {
                Said::Items(items) => Some(items),
                _ => None,
            });
            let (at, last) = items::pieces_with(task.part?, said.flatten())?;
            Some((task.instance, at, last))
        });
        let shards: Vec<_> = shards.collect();
        if shards.is_empty() {
            return Ok(Pieces::default());
        }
        Ok(Pieces::of(self.shared.store.item_outcomes(&shards).await?))
    }

    /// Carries the task through all that was said of it. No step: nothing of it counts.
    fn step(
        &mut self,
        task: Task,
        reports: &[(SessionId, &Report)],
        pieces: &mut Pieces,
        now: Timestamp,
    ) -> (Option<Step>, Vec<(SessionId, ToExecutor)>) {
        let mut answers = Vec::with_capacity(reports.len());
        let mut step = task.begin();
        let mut changed = false;
        for (session, report) in reports {
            let AttemptRef { task: id, attempt } = report.attempt;
            let seen = ToExecutor::Seen { attempt: report.attempt, sequence: report.sequence };
            let task = step.task();
            let speaks = self.shared.roster.executor(*session);
            let is_owner = speaks.as_ref().is_some_and(|executor| task.executor.as_ref() == Some(executor));
            if !is_owner || task.attempt() != attempt || !task.state().is_held() {
                let known = is_owner && task.attempt() == attempt && (1..=task.sequence).contains(&report.sequence);
                if !known {
                    self.disregard(*session);
                }
                if known {
                    answers.push((*session, seen));
                } else {
                    if is_an_end(&report.said)
                        && self.shared.roster.was_lost(report.attempt)
                        && !step.moves().iter().any(Move::is_remark)
                        && let Some(executor) = speaks
                    {
                        tracing::info!(task = %id, attempt, executor = executor.name, "finished too late");
                        step.remarks(attempt, now, too_late(&executor.name, &report.said));
                        changed = true;
                    }
                    answers.push((*session, ToExecutor::Forget(report.attempt)));
                }
                continue;
            }
            if (1..=task.sequence).contains(&report.sequence) {
                answers.push((*session, seen));
                continue;
            }
            // That it has the task is known from the push; to write it down would be a write for nothing.
            if report.said == Said::Accepted {
                if report.sequence > 0 {
                    answers.push((*session, seen));
                }
                continue;
            }
            match self.apply(&mut step, &report.said, pieces, now) {
                Ok(()) => {
                    let task = step.task_mut();
                    task.sequence = task.sequence.max(report.sequence);
                    changed = true;
                }
                Err(illegal) => {
                    tracing::warn!(task = %id, attempt, %illegal, "a report does not fit and is disregarded");
                    self.disregard(*session);
                }
            }
            if report.sequence > 0 {
                answers.push((*session, seen));
            }
        }
        (changed.then_some(step), answers)
    }

    fn apply(&self, step: &mut Step, said: &Said, pieces: &mut Pieces, now: Timestamp) -> Result<(), Illegal> {
        let jitter = self.shared.dice.fraction();
        match said {
            Said::Accepted | Said::Progress { .. } => Ok(()),
            Said::Items(outcomes) => {
                pieces.settle(step, outcomes);
                Ok(())
            }
            Said::NewData { level, items, last } => {
                if !items::give(step, *level, items, *last) {
                    tracing::warn!(task = %step.task().id, level, "new data does not follow what came before");
                }
                Ok(())
            }
            // It did not stop what it does not have; whoever asked for that is answered by the task's end.
            Said::HandedBack(_) if step.task().state() != TaskState::Pushed => outcome::vanish(step, now, jitter),
            Said::HandedBack(reason) => outcome::hand_back(step, reason.clone(), now, jitter),
            Said::Unheld => outcome::vanish(step, now, jitter),
            Said::Started => outcome::start(step, now),
            Said::Stopping(stage) => {
                if let Some(stop) = &mut step.task_mut().stop
                    && stop.stage < *stage
                {
                    stop.stage = *stage;
                    stop.stage_at = now;
                }
                Ok(())
            }
            Said::Succeeded { result } => outcome::succeed(step, result.clone(), now),
            Said::Failed(failure) => outcome::fail(step, failure.clone(), now, jitter),
            Said::Cancelled => outcome::cancelled(step, now, jitter),
        }
    }

    /// What the roster and the counts make of a step that is written.
    fn follow(&self, step: &Step, owner: Option<ExecutorRef>, now: Timestamp) {
        let task = step.task();
        let Some(executor) = owner else { return };
        if step.before() == task.state() && !task.state().is_held() {
            return;
        }
        let roster = &self.shared.roster;
        if task.state().is_held() {
            roster.holds(&executor, task.id, task.state() != TaskState::Pushed, now);
            return;
        }
        if step.moves().iter().any(|made| made.to() == TaskState::Running) {
            roster.holds(&executor, task.id, true, now);
        }
        roster.lets_go(&executor, task.id, now);
        if step.moves().iter().any(|made| made.from() == TaskState::Pushed && made.to() == TaskState::Ready) {
            roster.gave_back(&executor, task.id, task.handed_back, now);
        }
        if let Some(end) = step.moves().iter().find(|made| made.to().is_final() && !made.is_remark()) {
            self.shared.events.count_finished(1);
            if let Some(started_at) = task.started_at.or(step.started_before()) {
                let took = end.at().since(started_at);
                roster.ended(&executor, u64::try_from(took.as_millis()).unwrap_or(u64::MAX), end.at());
            }
        }
    }

    /// It changes nothing, and is counted.
    fn disregard(&mut self, session: SessionId) {
        self.disregarded += 1;
        self.shared.roster.disregards(session);
    }

    fn answer(&self, answers: Vec<(SessionId, ToExecutor)>) {
        for (session, answer) in answers {
            self.shared.link.tell(session, answer);
        }
    }

    fn forget(&mut self, reports: &[(SessionId, &Report)]) {
        for (session, report) in reports {
            self.disregard(*session);
            self.shared.link.tell(*session, ToExecutor::Forget(report.attempt));
        }
    }
}

/// What a word weighs that may be large.
fn weight(heard: &Heard) -> usize {
    match &heard.said {
        FromExecutor::Report(Report { said: Said::NewData { items, .. }, .. }) => items.iter().map(String::len).sum(),
        _ => 0,
    }
}

fn attempt_of(task: &Task) -> AttemptRef {
    AttemptRef { task: task.id, attempt: task.attempt() }
}

fn too_late(executor: &str, said: &Said) -> Words {
    let (en, zh) = match said {
        Said::Succeeded { .. } => ("succeeded", "成功"),
        Said::Cancelled => ("was stopped", "已停止"),
        _ => ("failed", "失败"),
    };
    Words::new(
        format!("finished too late: it {en} at {executor}, which had lost it; this changes nothing"),
        format!("完成得太晚：已在失去该作业的 {executor} 上{zh}，结果不计入"),
    )
}

fn is_an_end(said: &Said) -> bool {
    matches!(said, Said::Succeeded { .. } | Said::Failed(_) | Said::Cancelled)
}

/// A node that does not lead hears executors only to send them on.
pub async fn turn_away(shared: &Shared) {
    loop {
        let Heard { session, said } = shared.link.hear().await;
        if said != FromExecutor::Gone {
            shared.link.tell(session, ToExecutor::Refused(Code::NotLeading.fault()));
            shared.link.close(session);
        }
    }
}
