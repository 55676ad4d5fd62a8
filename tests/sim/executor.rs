//! Executors that follow a script instead of running anything, and write down what they did.
//!
//! They keep the protocol as the executor SDK does: nothing is started without a lease, an attempt is
//! started once however often it is pushed, what is not acknowledged is said again in the next
//! session. What a task comes to is drawn by lot when it starts. An executor's death is its task
//! dropped by the world; everything in its hands is gone with it, except the [`Diary`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use campanile_engine::link::{
    AttemptRef, FromExecutor, ItemOutcome, Method, ProcessorOffer, Push, Registration, Report, Said, ToExecutor,
};
use campanile_model::task::{ExecutorRef, StopStage};
use campanile_model::{Failure, FailureClass, Words};
use futures::future::{Either, select};

use crate::link::{Network, Wire, brief_attempt};
use crate::runtime::{Hands, Luck};

const HEARTBEAT_MS: i64 = 1000;
const LEASE_MS: i64 = 3000;
const WELCOME_WITHIN_MS: i64 = 3000;

/// What tasks come to, in a thousand each.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    pub transient: u32,
    pub business: u32,
    pub system: u32,
    pub hands_back: u32,
    /// Is let lie for seconds although a slot is free.
    pub dawdles: u32,
    /// Runs ten times as long.
    pub long: u32,
    /// Goes on until it is killed.
    pub ignores_cancel: u32,
    /// Is no longer worth doing, when it is asked.
    pub not_needed: u32,
    /// Gets no answer, when it is asked.
    pub says_nothing: u32,
    pub longest_run_ms: i64,
    /// The mutation: an attempt that is pushed again is started again.
    pub runs_a_repeated_push: bool,
}

impl Script {
    pub const CALM: Script = Script {
        transient: 0,
        business: 0,
        system: 0,
        hands_back: 0,
        dawdles: 0,
        long: 0,
        ignores_cancel: 0,
        not_needed: 0,
        says_nothing: 0,
        longest_run_ms: 300,
        runs_a_repeated_push: false,
    };
}

/// What an executor did, as nobody can take back.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    Began,
    Ended(Said),
    /// Its end is committed, the node says.
    EndAcknowledged(Said),
    /// A shard began with these items of its level.
    GotItems(Vec<u64>),
    /// What it said of these items is committed, the node says.
    ItemsAcknowledged(Vec<u64>),
    /// `post_process` was shown how these ended: level, shard, code.
    SawEnds(Vec<(u32, u32, u16)>),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub at: i64,
    pub executor: ExecutorRef,
    pub attempt: AttemptRef,
    pub deed: Deed,
}

/// What all executors did, in order. It outlives them.
#[derive(Clone, Default)]
pub struct Diary(Arc<Mutex<Vec<Entry>>>);

impl Diary {
    pub fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().expect("nobody panics while writing")
    }
}

/// What stays the same through all lives of an executor.
#[derive(Clone)]
pub struct Executor {
    pub group: String,
    pub name: String,
    /// The node in whose process it lives.
    pub home: Option<String>,
    pub processors: Vec<String>,
    /// A label of it.
    pub zone: &'static str,
    pub capacity: u32,
    pub queue: u32,
    pub hands: Hands,
    pub network: Network,
    pub diary: Diary,
    /// The world may change it while the executor lives.
    pub script: Arc<Mutex<Script>>,
}

impl Executor {
    /// One life, from its start until the world drops it.
    pub async fn live(self, boot: String, luck: Luck) {
        let me = ExecutorRef { group: self.group.clone(), name: self.name.clone(), boot };
        let now = self.hands.now();
        let life = Life {
            executor: self,
            me,
            luck,
            line: Line::Down { retry_at: now },
            tries: 0,
            lease_until: None,
            next_heartbeat: now,
            heartbeats: 0,
            heartbeats_sent: BTreeMap::new(),
            heard_at: now,
            held: BTreeMap::new(),
            queue: VecDeque::new(),
            over: BTreeSet::new(),
            declined: BTreeMap::new(),
            draining: false,
            dawdles_until: now,
        };
        life.run().await;
    }
}

enum Line {
    Down { retry_at: i64 },
    Joining { wire: Arc<Wire>, since: i64 },
    Up(Arc<Wire>),
}

enum Phase {
    Queued,
    Running { ends_at: i64, comes_to: Said, heeds: StopStage },
    Ended,
    HandedBack,
}

struct Held {
    phase: Phase,
    hands_back: bool,
    dawdles: bool,
    last_sequence: u64,
    accepted: u64,
    unacknowledged: BTreeMap<u64, Report>,
    stage: Option<StopStage>,
    method: Method,
    /// Everything that follows the push is here.
    whole: bool,
    items: Vec<u64>,
    ends: Vec<(u32, u32, u16)>,
    /// Of its items so many are still to be told of; none: it is judged as a whole.
    untold: Option<usize>,
    /// When it gives in to the stage that it heeds, or to its own wish to stop.
    gives_in_at: Option<i64>,
}

struct Life {
    executor: Executor,
    me: ExecutorRef,
    luck: Luck,
    line: Line,
    tries: usize,
    lease_until: Option<i64>,
    next_heartbeat: i64,
    heartbeats: u64,
    heartbeats_sent: BTreeMap<u64, i64>,
    heard_at: i64,
    held: BTreeMap<AttemptRef, Held>,
    queue: VecDeque<AttemptRef>,
    /// Ended here and acknowledged; a late push of one is not run.
    over: BTreeSet<AttemptRef>,
    /// Handed back, and up to which report. An older push of one that comes again is not taken again.
    declined: BTreeMap<AttemptRef, u64>,
    /// It was told to take nothing new.
    draining: bool,
    /// It begins nothing until then.
    dawdles_until: i64,
}

impl Life {
    async fn run(mut self) {
        loop {
            let now = self.executor.hands.now();
            self.keep_time(now);
            self.start_what_may(now);
            match self.next_word().await {
                Some(Some(word)) => {
                    let now = self.executor.hands.now();
                    self.heard_at = now;
                    self.hear(word, now);
                }
                Some(None) => self.lose_line(),
                None => {}
            }
        }
    }

    /// Some(None): the session has ended. None: it is time for something.
    async fn next_word(&self) -> Option<Option<ToExecutor>> {
        let timer = self.executor.hands.sleep_until(self.wake_at());
        match &self.line {
            Line::Down { .. } => {
                timer.await;
                None
            }
            Line::Joining { wire, .. } | Line::Up(wire) => first(wire.hear(), timer).await,
        }
    }

    fn wake_at(&self) -> i64 {
        let mut moments = vec![i64::MAX];
        match &self.line {
            Line::Down { retry_at } => moments.push(*retry_at),
            Line::Joining { since, .. } => moments.push(since + WELCOME_WITHIN_MS),
            Line::Up(_) => moments.extend([self.next_heartbeat, self.heard_at + 2 * LEASE_MS]),
        }
        moments.extend(self.lease_until);
        if !self.queue.is_empty() {
            moments.extend(Some(self.dawdles_until).filter(|until| *until > self.executor.hands.now()));
        }
        for held in self.held.values() {
            if let Phase::Running { ends_at, .. } = held.phase {
                moments.push(ends_at);
                moments.extend(held.gives_in_at);
            }
        }
        moments.into_iter().min().unwrap_or(i64::MAX)
    }

    fn keep_time(&mut self, now: i64) {
        match &self.line {
            Line::Down { retry_at } if *retry_at <= now => self.connect(now),
            Line::Joining { wire, since } if since + WELCOME_WITHIN_MS <= now => {
                wire.hang_up();
                self.lose_line();
            }
            Line::Up(wire) if self.heard_at + 2 * LEASE_MS <= now => {
                wire.hang_up();
                self.lose_line();
            }
            Line::Up(wire) if self.next_heartbeat <= now => {
                self.heartbeats += 1;
                wire.say(FromExecutor::Heartbeat { number: self.heartbeats, machine: None });
                self.heartbeats_sent.insert(self.heartbeats, now);
                self.next_heartbeat = now + HEARTBEAT_MS;
            }
            _ => {}
        }
        if self.lease_until.is_some_and(|until| until <= now) {
            self.lease_until = None;
        }
        let ended: Vec<(AttemptRef, Said)> = self
            .held
            .iter()
            .filter_map(|(attempt, held)| match &held.phase {
                Phase::Running { .. } if held.gives_in_at.is_some_and(|at| at <= now) => {
                    Some((*attempt, Said::Cancelled))
                }
                Phase::Running { ends_at, comes_to, .. } if *ends_at <= now => Some((*attempt, comes_to.clone())),
                _ => None,
            })
            .collect();
        for (attempt, said) in ended {
            self.end(attempt, said);
        }
    }

    fn connect(&mut self, now: i64) {
        self.tries += 1;
        // It begins with any node and tries them in turn.
        let Some(wire) = self.executor.network.connect(&self.me, self.executor.home.as_deref(), self.tries) else {
            self.lose_line();
            return;
        };
        let offer = |name: &String| ProcessorOffer {
            name: name.clone(),
            title: Words::new(name, name),
            description: Words::default(),
            schema: serde_json::Value::Null,
            stops_without_lease: false,
            answers_still_needed: true,
            methods: methods_of(name).to_vec(),
        };
        wire.say(FromExecutor::Register(Registration {
            executor: self.me.clone(),
            embedded: self.executor.home.is_some(),
            processors: self.executor.processors.iter().map(offer).collect(),
            labels: BTreeMap::from([("zone".to_owned(), self.executor.zone.to_owned())]),
            sdk_version: String::new(),
            public_key: None,
            capacity: self.executor.capacity,
            queue: self.executor.queue,
            still_held: self
                .held
                .iter()
                .filter(|(_, held)| !matches!(held.phase, Phase::HandedBack))
                .map(|(attempt, _)| *attempt)
                .collect(),
        }));
        self.heard_at = now;
        self.line = Line::Joining { wire: Arc::new(wire), since: now };
    }

    fn lose_line(&mut self) {
        // What did not come whole does not come any more.
        let cut: Vec<AttemptRef> = self.queue.iter().copied().filter(|queued| !self.held[queued].whole).collect();
        for attempt in cut {
            self.held.remove(&attempt);
            self.queue.retain(|queued| *queued != attempt);
        }
        let wait = self.luck.between(50, 500);
        self.line = Line::Down { retry_at: self.executor.hands.now() + wait };
        self.heartbeats_sent.clear();
    }

    fn hear(&mut self, word: ToExecutor, now: i64) {
        if let ToExecutor::Welcome { still_yours, draining, .. } = word {
            self.draining = draining;
            self.welcomed(&still_yours.into_iter().collect(), now);
            return;
        }
        if let ToExecutor::Refused(_) = word {
            if let Line::Joining { wire, .. } | Line::Up(wire) = &self.line {
                wire.hang_up();
            }
            self.lose_line();
            return;
        }
        if !matches!(self.line, Line::Up(_)) {
            return;
        }
        match word {
            ToExecutor::Welcome { .. } | ToExecutor::Refused(_) => {}
            ToExecutor::HeartbeatSeen { number } => {
                if let Some(sent) = self.heartbeats_sent.remove(&number) {
                    self.lease_until = Some(sent + LEASE_MS).filter(|until| *until > now).max(self.lease_until);
                }
            }
            ToExecutor::Withdraw(attempt) => self.withdraw(attempt),
            ToExecutor::Push(push) => self.pushed(&push),
            ToExecutor::Stop { attempt, stage } => self.stop(attempt, stage, now),
            ToExecutor::Seen { attempt, sequence } => self.acknowledged(attempt, sequence),
            ToExecutor::Forget(attempt) => self.forget(attempt, now),
            ToExecutor::Drain { .. } => self.drain(),
            ToExecutor::Resume => self.draining = false,
            ToExecutor::StillNeeded(question) => {
                let script = *self.executor.script.lock().expect("nobody panics with it");
                if !self.luck.chance(script.says_nothing) {
                    let needed = !self.luck.chance(script.not_needed);
                    self.say(FromExecutor::StillNeeded { question: question.id, needed, message: String::new() });
                }
            }
            // It knows its network.
            ToExecutor::Nodes(_) => {}
            ToExecutor::ShardData { attempt, items, last, .. } => {
                if let Some(held) = self.held.get_mut(&attempt).filter(|held| !held.whole) {
                    held.items.extend(items.into_iter().map(|(index, _)| index));
                    held.whole = last;
                }
            }
            ToExecutor::ShardEnds { attempt, ends, last } => {
                if let Some(held) = self.held.get_mut(&attempt).filter(|held| !held.whole) {
                    held.ends.extend(ends.into_iter().map(|end| (end.level, end.shard, end.state.code())));
                    held.whole = last;
                }
            }
        }
    }

    fn welcomed(&mut self, still_ours: &BTreeMap<AttemptRef, u64>, now: i64) {
        let Line::Joining { wire, since } = &self.line else { return };
        let wire = Arc::clone(wire);
        self.lease_until = Some(since + LEASE_MS);
        self.line = Line::Up(wire);
        self.next_heartbeat = now;
        let mut gone = Vec::new();
        let mut stored = Vec::new();
        for (attempt, held) in &mut self.held {
            if let Some(sequence) = still_ours.get(attempt) {
                stored.extend(held.unacknowledged.range(..=*sequence).map(|(sequence, _)| (*attempt, *sequence)));
                continue;
            }
            match held.phase {
                Phase::Queued | Phase::HandedBack => gone.push(*attempt),
                Phase::Running { .. } => held.gives_in_at = Some(now + 500),
                // Said once more, so that it can be shown as finished too late.
                Phase::Ended => {}
            }
        }
        for attempt in gone {
            self.held.remove(&attempt);
            self.queue.retain(|queued| *queued != attempt);
        }
        for (attempt, sequence) in stored {
            self.acknowledged(attempt, sequence);
        }
        let again: Vec<Report> = self.held.values().flat_map(|held| held.unacknowledged.values().cloned()).collect();
        for report in again {
            self.say(FromExecutor::Report(report));
        }
    }

    fn drain(&mut self) {
        self.draining = true;
        self.say(FromExecutor::Draining { leaving: false });
        for attempt in std::mem::take(&mut self.queue) {
            self.set_phase(attempt, Phase::HandedBack);
            self.report(attempt, Said::HandedBack(Words::new("it takes nothing new", "不再接收新作业")));
        }
    }

    fn pushed(&mut self, push: &Push) {
        let attempt = push.attempt;
        let script = *self.executor.script.lock().expect("nobody panics while setting it");
        let known = self.over.contains(&attempt)
            || self.held.get(&attempt).is_some_and(|held| !matches!(held.phase, Phase::HandedBack));
        if known && script.runs_a_repeated_push {
            self.over.remove(&attempt);
            self.held.remove(&attempt);
        } else if self.over.contains(&attempt) {
            self.say_of_unheld(attempt, Said::Unheld);
            return;
        } else if let Some(held) = self.held.get(&attempt).filter(|_| known) {
            let mut again: Vec<Report> = held.unacknowledged.values().cloned().collect();
            if again.is_empty() {
                again.push(Report { attempt, sequence: held.accepted, said: Said::Accepted });
            }
            for report in again {
                self.say(FromExecutor::Report(report));
            }
            return;
        }
        if self.declined.get(&attempt).is_some_and(|declined| push.sequence_after < *declined) {
            return;
        }
        self.held.remove(&attempt);
        let last_sequence = push.sequence_after;
        self.held.insert(
            attempt,
            Held {
                phase: Phase::HandedBack,
                hands_back: self.luck.chance(script.hands_back),
                dawdles: self.luck.chance(script.dawdles),
                last_sequence,
                accepted: 0,
                unacknowledged: BTreeMap::new(),
                stage: None,
                method: push.method,
                whole: !push.more_follows,
                items: Vec::new(),
                ends: Vec::new(),
                untold: None,
                gives_in_at: None,
            },
        );
        let in_hand =
            self.held.values().filter(|held| matches!(held.phase, Phase::Queued | Phase::Running { .. })).count();
        let room = (self.executor.capacity + self.executor.queue) as usize;
        if self.draining {
            self.report(attempt, Said::HandedBack(Words::new("it takes nothing new", "不再接收新作业")));
        } else if in_hand >= room {
            self.report(attempt, Said::HandedBack(Words::new("no room", "没有空位")));
        } else if !self.executor.processors.contains(&push.processor)
            || !methods_of(&push.processor).contains(&push.method)
        {
            self.report(attempt, Said::HandedBack(Words::new("no such processor here", "此处没有该处理器")));
        } else {
            self.set_phase(attempt, Phase::Queued);
            self.report(attempt, Said::Accepted);
            if let Some(held) = self.held.get_mut(&attempt) {
                held.accepted = held.last_sequence;
            }
            self.queue.push_back(attempt);
        }
    }

    fn start_what_may(&mut self, now: i64) {
        if self.lease_until.is_none_or(|until| until <= now) {
            return;
        }
        let script = *self.executor.script.lock().expect("nobody panics while setting it");
        loop {
            let running = self.held.values().filter(|held| matches!(held.phase, Phase::Running { .. })).count();
            if running >= self.executor.capacity as usize || now < self.dawdles_until {
                return;
            }
            let whole = |queued: &AttemptRef| self.held.get(queued).is_none_or(|held| held.whole);
            let Some(attempt) = self.queue.iter().position(whole).and_then(|place| self.queue.remove(place)) else {
                return;
            };
            if let Some(held) = self.held.get_mut(&attempt).filter(|held| held.dawdles) {
                held.dawdles = false;
                self.queue.push_front(attempt);
                self.dawdles_until = now + self.luck.between(1000, 12_000);
                return;
            }
            if self.held.get(&attempt).is_some_and(|held| held.hands_back) {
                self.set_phase(attempt, Phase::HandedBack);
                self.report(attempt, Said::HandedBack(Words::new("not now", "暂不执行")));
                continue;
            }
            let phase = self.draw_run(&script, now);
            self.set_phase(attempt, phase);
            self.write_down(attempt, Deed::Began);
            self.report(attempt, Said::Started);
            self.begin_part(attempt);
        }
    }

    /// What a part of a run that is cut into shards does first.
    fn begin_part(&mut self, attempt: AttemptRef) {
        let Some(held) = self.held.get_mut(&attempt) else { return };
        match held.method {
            Method::ShardingProcess => {
                let items = held.items.clone();
                let tells = self.luck.chance(700);
                let first = items.len() / 2;
                held.untold = tells.then_some(items.len() - first);
                self.write_down(attempt, Deed::GotItems(items.clone()));
                if tells && first > 0 {
                    self.tell_of_items(attempt, &items[..first]);
                }
            }
            Method::PostProcess => {
                let ends = held.ends.clone();
                self.write_down(attempt, Deed::SawEnds(ends));
            }
            Method::PreProcess => {
                // Some of it, whatever becomes of the attempt.
                if self.luck.chance(500) {
                    self.give_data(attempt, 0, false);
                }
            }
            Method::Process | Method::Notify => {}
        }
    }

    /// What such a part does before it ends well.
    fn finish_part(&mut self, attempt: AttemptRef) {
        let Some(held) = self.held.get(&attempt) else { return };
        match (held.method, held.untold) {
            (Method::ShardingProcess, Some(untold)) if untold > 0 => {
                let items = held.items[held.items.len() - untold..].to_vec();
                self.tell_of_items(attempt, &items);
            }
            (Method::PreProcess, _) if self.luck.chance(500) => {
                let level = u32::try_from(self.luck.between(0, 2)).unwrap_or(0);
                self.give_data(attempt, level, true);
            }
            _ => {}
        }
    }

    fn tell_of_items(&mut self, attempt: AttemptRef, items: &[u64]) {
        let outcomes = items.iter().map(|index| ItemOutcome {
            index: *index,
            succeeded: self.luck.chance(900),
            message: String::new(),
        });
        let outcomes = outcomes.collect();
        self.report(attempt, Said::Items(outcomes));
    }

    fn give_data(&mut self, attempt: AttemptRef, level: u32, last: bool) {
        let items = (0..self.luck.between(0, 12)).map(|n| n.to_string()).collect();
        self.report(attempt, Said::NewData { level, items, last });
    }

    fn draw_run(&mut self, script: &Script, now: i64) -> Phase {
        let mut lasts = self.luck.between(5, script.longest_run_ms);
        if self.luck.chance(script.long) {
            lasts *= 10;
        }
        let heeds = if self.luck.chance(script.ignores_cancel) {
            lasts *= 10;
            StopStage::Killed
        } else {
            StopStage::Asked
        };
        let fails = |class| {
            let message = Words::new("as the script says", "按剧本失败");
            Said::Failed(Failure { class, code: "script".to_owned(), message })
        };
        let drawn = u32::try_from(self.luck.between(0, 999)).unwrap_or(0);
        let comes_to = if drawn < script.transient {
            fails(FailureClass::Transient)
        } else if drawn < script.transient + script.business {
            fails(FailureClass::Business)
        } else if drawn < script.transient + script.business + script.system {
            fails(FailureClass::System)
        } else {
            Said::Succeeded { result: Some(format!("\"{}\"", self.me.boot)) }
        };
        Phase::Running { ends_at: now + lasts, comes_to, heeds }
    }

    fn end(&mut self, attempt: AttemptRef, said: Said) {
        if matches!(said, Said::Succeeded { .. }) {
            self.finish_part(attempt);
        }
        self.set_phase(attempt, Phase::Ended);
        self.write_down(attempt, Deed::Ended(said.clone()));
        self.report(attempt, said);
    }

    fn withdraw(&mut self, attempt: AttemptRef) {
        match self.held.get(&attempt).map(|held| &held.phase) {
            None => self.say_of_unheld(attempt, Said::HandedBack(Words::new("it is not here", "此处没有"))),
            Some(Phase::Queued) => {
                self.queue.retain(|queued| *queued != attempt);
                self.set_phase(attempt, Phase::HandedBack);
                self.report(attempt, Said::HandedBack(Words::new("taken back", "已收回")));
            }
            // It has been said, or is about to be, what became of it.
            Some(_) => {}
        }
    }

    fn stop(&mut self, attempt: AttemptRef, stage: StopStage, now: i64) {
        let reached = match stage {
            StopStage::Asked => StopStage::Acknowledged,
            further => further,
        };
        let gives_in_at = now + self.luck.between(1, 400);
        let Some(held) = self.held.get_mut(&attempt) else {
            self.say_of_unheld(attempt, Said::Unheld);
            return;
        };
        match &held.phase {
            Phase::Queued => {
                self.queue.retain(|queued| *queued != attempt);
                self.report(attempt, Said::Stopping(reached));
                self.end(attempt, Said::Cancelled);
            }
            Phase::Running { heeds, .. } => {
                if held.stage.is_some_and(|before| before >= stage) {
                    return;
                }
                held.stage = Some(stage);
                if stage >= *heeds {
                    held.gives_in_at = Some(held.gives_in_at.map_or(gives_in_at, |at| at.min(gives_in_at)));
                }
                self.report(attempt, Said::Stopping(reached));
            }
            Phase::Ended | Phase::HandedBack => {}
        }
    }

    fn acknowledged(&mut self, attempt: AttemptRef, sequence: u64) {
        let Some(held) = self.held.get_mut(&attempt) else { return };
        let seen = held.unacknowledged.remove(&sequence);
        let is_told = matches!(held.phase, Phase::Ended | Phase::HandedBack) && held.unacknowledged.is_empty();
        let ended = matches!(held.phase, Phase::Ended);
        match seen.map(|report| report.said) {
            Some(said @ (Said::Succeeded { .. } | Said::Failed(_) | Said::Cancelled)) => {
                self.write_down(attempt, Deed::EndAcknowledged(said));
            }
            Some(Said::Items(outcomes)) => {
                let items = outcomes.iter().map(|outcome| outcome.index).collect();
                self.write_down(attempt, Deed::ItemsAcknowledged(items));
            }
            _ => {}
        }
        if is_told {
            self.held.remove(&attempt);
            if ended {
                self.over.insert(attempt);
            }
        }
    }

    fn forget(&mut self, attempt: AttemptRef, now: i64) {
        let Some(held) = self.held.get_mut(&attempt) else { return };
        match held.phase {
            Phase::Running { .. } => {
                held.gives_in_at.get_or_insert(now + 500);
            }
            Phase::Ended => {
                self.held.remove(&attempt);
                self.over.insert(attempt);
            }
            Phase::Queued | Phase::HandedBack => {
                self.held.remove(&attempt);
                self.queue.retain(|queued| *queued != attempt);
            }
        }
    }

    fn set_phase(&mut self, attempt: AttemptRef, phase: Phase) {
        if let Some(held) = self.held.get_mut(&attempt) {
            held.phase = phase;
        }
    }

    fn report(&mut self, attempt: AttemptRef, said: Said) {
        let Some(held) = self.held.get_mut(&attempt) else { return };
        held.last_sequence += 1;
        if matches!(said, Said::HandedBack(_)) {
            self.declined.insert(attempt, held.last_sequence);
        }
        let report = Report { attempt, sequence: held.last_sequence, said };
        held.unacknowledged.insert(report.sequence, report.clone());
        self.say(FromExecutor::Report(report));
    }

    fn say_of_unheld(&self, attempt: AttemptRef, said: Said) {
        self.say(FromExecutor::Report(Report { attempt, sequence: 0, said }));
    }

    fn say(&self, what: FromExecutor) {
        if let Line::Up(wire) = &self.line {
            wire.say(what);
        }
    }

    fn write_down(&self, attempt: AttemptRef, deed: Deed) {
        let hands = &self.executor.hands;
        hands.note(|| format!("{} {}: {deed:?}", self.me.boot, brief_attempt(attempt)));
        self.executor.diary.entries().push(Entry { at: hands.now(), executor: self.me.clone(), attempt, deed });
    }
}

/// One processor has every method, the other only what it must have.
fn methods_of(processor: &str) -> &'static [Method] {
    match processor {
        "alpha" => &[Method::Process, Method::PreProcess, Method::ShardingProcess, Method::Notify, Method::PostProcess],
        _ => &[Method::Process, Method::ShardingProcess],
    }
}

/// Whichever comes first, the word or the time.
async fn first<T>(word: impl Future<Output = T>, timer: impl Future<Output = ()>) -> Option<T> {
    match select(pin!(word), pin!(timer)).await {
        Either::Left((word, _)) => Some(word),
        Either::Right(((), _)) => None,
    }
}
