//! An executor that does what the story says, over the messages that real ones send.
//!
//! It acts when the world lets it and never by itself, so that a story decides what comes first. It keeps what was not
//! acknowledged and says it again, as the protocol asks; it does no work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use campanile_gateway::Admission;
use campanile_model::Timestamp;
use campanile_sdk::proto::PROTOCOL_VERSION;
use campanile_sdk::proto::v1::{self, report::What, to_executor::Message};
use campanile_sdk::transport::{NodeWire, Wire, wire};
use campanile_sdk::{Class, FailureCode};
use tokio::sync::mpsc::error::TryRecvError;

use crate::stillness::Ear;

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Succeeds,
    Fails(Class),
    /// It starts, and runs until the story says more.
    Runs,
    /// It is taken and not started.
    Waits,
    /// Nothing at all is said of it.
    Silent,
    /// It is given back once; the same attempt that comes again succeeds.
    HandsBack,
    /// It is given back whenever it comes.
    AlwaysHandsBack,
}

/// At which stage of a cancellation an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obeys {
    AtOnce,
    AtTerm,
    AtKill,
}

pub type Key = (String, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Queued,
    Running,
    Ended,
}

/// An attempt in its hands.
struct Hand {
    push: v1::Push,
    stand: Stand,
    deed: Deed,
    sequence: u64,
    unacknowledged: BTreeMap<u64, What>,
}

impl Hand {
    fn job(&self) -> &str {
        self.push.context.as_ref().map_or("", |context| &context.job)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Joining,
    Up,
}

/// Which executor began an attempt, for all executors of a world: an attempt that begins twice is a broken promise.
#[derive(Default)]
pub struct Begun(Mutex<BTreeMap<Key, Vec<String>>>);

impl Begun {
    fn note(&self, key: &Key, executor: &str) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.entry(key.clone()).or_default().push(executor.to_owned());
    }

    pub fn twice(&self) -> Vec<(Key, Vec<String>)> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.iter().filter(|(_, by)| by.len() > 1).map(|(key, by)| (key.clone(), by.clone())).collect()
    }
}

pub struct Actor {
    pub name: String,
    boot: u32,
    running: u32,
    queued: u32,
    embedded: bool,
    /// By processor: what becomes of the first attempt of a task, of the second, …; the last goes on.
    scripts: BTreeMap<String, Vec<Deed>>,
    /// What its processor is called for; and what becomes of a call of `notify`, where that is something else.
    methods: Vec<v1::Method>,
    notices: Option<Deed>,
    obeys: Obeys,
    hands: BTreeMap<Key, Hand>,
    /// Everything that was pushed to it, in order, over all its lives.
    pub pushed: Vec<v1::Push>,
    /// Stages of cancellations that it was told of, in order.
    pub asked: Vec<(Timestamp, v1::CancelAsk)>,
    /// Attempts that it was told to forget.
    pub forgotten: Vec<Key>,
    /// The codes with which it was refused.
    pub refusals: Vec<String>,
    begun: Arc<Begun>,
    labels: Vec<(String, String)>,
    /// What it says when it is asked whether a run is still needed; the inner none: nothing.
    answer: Option<Option<bool>>,
    /// How often it was asked.
    asked_whether: usize,
    machine: Option<v1::Machine>,
    wire: Option<(Wire, Link)>,
    beat: u64,
    beat_seen: u64,
    beat_at: Option<Timestamp>,
    /// Not before this moment does it look for a node again.
    again_at: Option<Timestamp>,
    alive: bool,
    silent: bool,
}

impl Actor {
    pub fn new(name: &str, begun: Arc<Begun>) -> Actor {
        Actor {
            name: name.to_owned(),
            boot: 1,
            running: 10,
            queued: 10,
            embedded: false,
            scripts: BTreeMap::from([("work".to_owned(), vec![Deed::Succeeds])]),
            methods: vec![v1::Method::Process],
            notices: None,
            obeys: Obeys::AtOnce,
            hands: BTreeMap::new(),
            pushed: Vec::new(),
            asked: Vec::new(),
            forgotten: Vec::new(),
            refusals: Vec::new(),
            begun,
            labels: Vec::new(),
            answer: None,
            asked_whether: 0,
            machine: None,
            wire: None,
            beat: 0,
            beat_seen: 0,
            beat_at: None,
            again_at: None,
            alive: true,
            silent: false,
        }
    }

    // What the story says.

    /// Attempt 1 of each task that comes from now on does the first, attempt 2 the second, …; the last goes on.
    pub fn does(&mut self, deeds: impl Into<Vec<Deed>>) -> &mut Actor {
        self.scripts.insert("work".to_owned(), deeds.into());
        self
    }

    /// Its processor does these for runs that are cut into shards.
    pub fn has_methods<const N: usize>(&mut self, methods: [v1::Method; N]) -> &mut Actor {
        self.methods = methods.to_vec();
        self
    }

    /// What becomes of calls of `notify`.
    pub fn takes_notices(&mut self, deed: Deed) -> &mut Actor {
        self.notices = Some(deed);
        self
    }

    /// How often it was asked whether a run is still needed.
    pub fn questions(&self) -> usize {
        self.asked_whether
    }

    /// What it was called for, in order.
    pub fn called_for(&self) -> Vec<v1::Method> {
        self.pushed.iter().map(v1::Push::method).collect()
    }

    pub fn has_room_for(&mut self, running: u32, queued: u32) -> &mut Actor {
        (self.running, self.queued) = (running, queued);
        self
    }

    pub fn has_labels<const N: usize>(&mut self, labels: [(&str, &str); N]) -> &mut Actor {
        self.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        self
    }

    /// Its processor may be asked whether a run is still needed, and says so; none: it says nothing.
    pub fn answers(&mut self, answer: Option<bool>) -> &mut Actor {
        self.answer = Some(answer);
        self
    }

    /// Its next heartbeat carries these readings.
    pub fn reads_machine(&mut self, cpu: f64, memory: f64, disk: f64) {
        self.machine = Some(v1::Machine {
            cpu_percent: Some(cpu),
            memory_percent: Some(memory),
            disk_queue: Some(disk),
            cores: None,
        });
    }

    pub fn obeys(&mut self, when: Obeys) -> &mut Actor {
        self.obeys = when;
        self
    }

    pub fn is_embedded(&mut self) -> &mut Actor {
        self.embedded = true;
        self
    }

    /// What it has of the job succeeds, whatever its script says.
    pub fn finishes(&mut self, job: &str) {
        let keys = self.running_of(job);
        assert!(!keys.is_empty(), "{} runs nothing of {job}", self.name);
        for key in keys {
            self.ends(&key, Deed::Succeeds);
        }
    }

    pub fn fails(&mut self, job: &str, class: Class) {
        let keys = self.running_of(job);
        assert!(!keys.is_empty(), "{} runs nothing of {job}", self.name);
        for key in keys {
            self.ends(&key, Deed::Fails(class));
        }
    }

    /// Begins what it has queued of the job.
    pub fn begins(&mut self, job: &str) {
        let keys = self.keys(|hand| hand.job() == job && hand.stand == Stand::Queued);
        assert!(!keys.is_empty(), "{} has nothing of {job} queued", self.name);
        for key in keys {
            if let Some(hand) = self.hands.get_mut(&key) {
                hand.deed = Deed::Runs;
            }
        }
    }

    /// Jobs of what it runs, one name for each attempt.
    pub fn runs(&self) -> Vec<String> {
        let running = self.hands.values().filter(|hand| hand.stand == Stand::Running);
        running.map(|hand| hand.job().to_owned()).collect()
    }

    /// Cut off: it hears nothing and says nothing, and goes on with what it has.
    pub fn falls_silent(&mut self) {
        self.silent = true;
    }

    /// Its old stream is dead by now: it opens a new one.
    pub fn is_back(&mut self) {
        self.silent = false;
        self.wire = None;
    }

    /// As after a pause of its process: the stream is as it was.
    pub fn wakes(&mut self) {
        self.silent = false;
    }

    /// Killed, with everything it had.
    pub fn dies(&mut self) {
        self.alive = false;
        self.wire = None;
        self.hands.clear();
    }

    /// A new life under the old name.
    pub fn returns(&mut self) {
        self.alive = true;
        self.silent = false;
        self.boot += 1;
        self.again_at = None;
    }

    pub fn is_awake(&self) -> bool {
        self.alive && !self.silent
    }

    /// The program at the other end is gone.
    pub fn loses_its_node(&mut self) {
        self.wire = None;
    }

    pub fn looks_again_at(&mut self, moment: Timestamp) {
        self.again_at = Some(moment);
    }

    pub fn says_goodbye(&mut self) {
        self.say(v1::Goodbye {});
        self.alive = false;
    }

    fn keys(&self, which: impl Fn(&Hand) -> bool) -> Vec<Key> {
        self.hands.iter().filter(|(_, hand)| which(hand)).map(|(key, _)| key.clone()).collect()
    }

    fn running_of(&self, job: &str) -> Vec<Key> {
        self.keys(|hand| hand.job() == job && hand.stand == Stand::Running)
    }

    // What the world makes it do.

    /// Everything that it said has been heard, and there is nothing that it waits for.
    pub fn is_still(&self) -> bool {
        self.silent
            || !self.alive
            || match &self.wire {
                None => self.again_at.is_some(),
                Some((_, Link::Joining)) => false,
                Some((_, Link::Up)) => self.beat == self.beat_seen,
            }
    }

    /// Whether it would open a stream now.
    pub fn wants_a_node(&self, now: Timestamp) -> bool {
        self.alive && !self.silent && self.wire.is_none() && self.again_at.is_none_or(|at| at <= now)
    }

    /// Opens a stream to a node.
    pub fn connects(&mut self, ear: &Arc<Ear>) {
        let (mine, NodeWire { from_executor, to_executor }) = wire();
        let admission = if self.embedded { Admission::Embedded } else { Admission::Remote };
        let ear = ear.clone();
        tokio::spawn(async move { ear.board.serve(admission, from_executor, to_executor).await });
        self.wire = Some((mine, Link::Joining));
        (self.beat, self.beat_seen, self.beat_at, self.again_at) = (0, 0, None, None);
        let held = self.hands.iter().map(|(key, hand)| v1::HeldAttempt {
            attempt: Some(attempt(key)),
            state: match hand.stand {
                Stand::Queued => v1::HeldState::Queued,
                Stand::Running => v1::HeldState::Running,
                Stand::Ended => v1::HeldState::Ended,
            }
            .into(),
            last_sequence: hand.sequence,
        });
        let processors = self.scripts.keys().map(|name| v1::Processor {
            name: name.clone(),
            kind: v1::ProcessorKind::Unicast.into(),
            methods: self.methods.iter().map(|method| (*method).into()).collect(),
            answers_still_needed: self.answer.is_some(),
            ..v1::Processor::default()
        });
        let register = v1::Register {
            protocol_version: PROTOCOL_VERSION,
            group: "local".to_owned(),
            name: self.name.clone(),
            boot_id: format!("{}-life-{}", self.name, self.boot),
            processors: processors.collect(),
            labels: self.labels.iter().cloned().collect(),
            capacity: Some(v1::Capacity { running: self.running, queued: self.queued }),
            still_held: held.collect(),
            ..v1::Register::default()
        };
        self.say(register);
    }

    /// Hears what there is, answers it, and does what its script says. True: something happened.
    pub fn acts(&mut self, now: Timestamp) -> bool {
        if self.silent || !self.alive {
            return false;
        }
        let mut acted = false;
        loop {
            let Some((wire, _)) = &mut self.wire else { return acted };
            match wire.from_node.try_recv() {
                Ok(message) => {
                    acted = true;
                    self.hears(message, now);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.wire = None;
                    self.again_at = Some(now.plus_millis(100));
                    return true;
                }
            }
        }
        if matches!(self.wire, Some((_, Link::Up))) && self.beat_at.is_none_or(|at| at != now) {
            self.beat += 1;
            self.beat_at = Some(now);
            let machine = self.machine.take();
            self.say(v1::Heartbeat { number: self.beat, machine });
            acted = true;
        }
        self.works() || acted
    }

    fn hears(&mut self, message: v1::ToExecutor, now: Timestamp) {
        match message.message {
            Some(Message::Welcome(welcome)) => self.is_welcomed(&welcome),
            Some(Message::Refused(refused)) => {
                self.refusals.push(refused.code);
                self.wire = None;
                self.again_at = Some(now.plus_millis(1000));
            }
            Some(Message::HeartbeatAck(ack)) => self.beat_seen = ack.number,
            Some(Message::Push(push)) => self.is_given(push),
            Some(Message::Withdraw(withdraw)) => {
                let Some(key) = withdraw.attempt.as_ref().map(key) else { return };
                let queued = self.hands.get(&key).is_some_and(|hand| hand.stand == Stand::Queued);
                if queued {
                    let reason = v1::HandBackReason::Withdrawn.into();
                    self.report(&key, What::HandedBack(v1::HandedBack { reason, message: String::new() }));
                    self.stands(&key, Stand::Ended);
                }
            }
            Some(Message::Cancel(cancel)) => self.is_asked_to_stop(&cancel, now),
            Some(Message::Ack(ack)) => {
                if let Some(key) = ack.attempt.as_ref().map(key)
                    && let Some(hand) = self.hands.get_mut(&key)
                {
                    hand.unacknowledged.remove(&ack.sequence);
                    if hand.stand == Stand::Ended && hand.unacknowledged.is_empty() {
                        self.hands.remove(&key);
                    }
                }
            }
            Some(Message::StillNeeded(question)) => {
                self.asked_whether += 1;
                if let Some(Some(needed)) = self.answer {
                    let question_id = question.question_id;
                    self.say(v1::StillNeededAnswer { question_id, needed, message: String::new() });
                }
            }
            Some(Message::Forget(forget)) => {
                if let Some(key) = forget.attempt.as_ref().map(key) {
                    self.hands.remove(&key);
                    self.forgotten.push(key);
                }
            }
            _ => {}
        }
    }

    fn is_welcomed(&mut self, welcome: &v1::Welcome) {
        if let Some((_, link)) = &mut self.wire {
            *link = Link::Up;
        }
        let yours: BTreeMap<Key, u64> = welcome
            .still_yours
            .iter()
            .filter_map(|still| Some((key(still.attempt.as_ref()?), still.stored_sequence)))
            .collect();
        // What is not its own any more it stops; what had ended is said all the same, to be refused.
        let lost: BTreeSet<Key> =
            self.keys(|hand| hand.stand != Stand::Ended).into_iter().filter(|key| !yours.contains_key(key)).collect();
        self.hands.retain(|key, _| !lost.contains(key));
        let mut again = Vec::new();
        for (key, hand) in &mut self.hands {
            let stored = yours.get(key).copied().unwrap_or(0);
            hand.unacknowledged.retain(|sequence, _| *sequence > stored);
            again.extend(hand.unacknowledged.iter().map(|(sequence, what)| (key.clone(), *sequence, what.clone())));
        }
        self.hands.retain(|_, hand| hand.stand != Stand::Ended || !hand.unacknowledged.is_empty());
        for (key, sequence, what) in again {
            self.say(v1::Report { attempt: Some(attempt(&key)), sequence, at_ms: 0, what: Some(what) });
        }
    }

    fn is_given(&mut self, push: v1::Push) {
        let Some(key) = push.attempt.as_ref().map(key) else { return };
        self.pushed.push(push.clone());
        if self.hands.contains_key(&key) {
            return;
        }
        let deeds = self.scripts.get(&push.processor).cloned().unwrap_or_else(|| vec![Deed::HandsBack]);
        let place = (key.1 as usize).saturating_sub(1).min(deeds.len() - 1);
        let given = self.pushed.iter().filter(|before| before.attempt == push.attempt).count();
        let notice = self.notices.filter(|_| push.method() == v1::Method::Notify);
        let deed = match notice.unwrap_or(deeds[place]) {
            Deed::AlwaysHandsBack => Deed::HandsBack,
            Deed::HandsBack if given > 1 => Deed::Succeeds,
            deed => deed,
        };
        let sequence = push.sequence_after;
        self.hands
            .insert(key.clone(), Hand { push, stand: Stand::Queued, deed, sequence, unacknowledged: BTreeMap::new() });
        match deed {
            Deed::Silent => {}
            Deed::HandsBack => {
                let reason = v1::HandBackReason::NoRoom.into();
                self.report(&key, What::HandedBack(v1::HandedBack { reason, message: String::new() }));
                self.stands(&key, Stand::Ended);
            }
            _ => self.report(&key, What::Accepted(v1::Accepted {})),
        }
    }

    fn is_asked_to_stop(&mut self, cancel: &v1::Cancel, now: Timestamp) {
        let ask = cancel.ask();
        self.asked.push((now, ask));
        let Some(key) = cancel.attempt.as_ref().map(key) else { return };
        let Some(stand) = self.hands.get(&key).map(|hand| hand.stand) else {
            let reached = v1::CancelReached::Gone.into();
            let what = Some(What::CancelStage(v1::CancelStage { reached }));
            self.say(v1::Report { attempt: Some(attempt(&key)), sequence: 0, at_ms: 0, what });
            return;
        };
        if stand == Stand::Ended {
            return;
        }
        let (reached, ends) = match ask {
            v1::CancelAsk::Kill => (v1::CancelReached::Killed, true),
            v1::CancelAsk::Terminate => (v1::CancelReached::Terminated, self.obeys != Obeys::AtKill),
            _ => (v1::CancelReached::Acknowledged, self.obeys == Obeys::AtOnce),
        };
        self.report(&key, What::CancelStage(v1::CancelStage { reached: reached.into() }));
        if ends {
            let cancelled = v1::Cancelled { message: String::new() };
            let outcome = Some(v1::finished::Outcome::Cancelled(cancelled));
            self.report(&key, What::Finished(v1::Finished { outcome }));
            self.stands(&key, Stand::Ended);
        }
    }

    /// Begins what there is a slot for, and ends what its script ends.
    fn works(&mut self) -> bool {
        let mut worked = false;
        for key in self.keys(|hand| {
            hand.stand == Stand::Queued && !matches!(hand.deed, Deed::Waits | Deed::Silent | Deed::HandsBack)
        }) {
            let running = self.hands.values().filter(|hand| hand.stand == Stand::Running).count();
            if running >= self.running as usize {
                break;
            }
            worked = true;
            self.begun.note(&key, &format!("{} life {}", self.name, self.boot));
            self.stands(&key, Stand::Running);
            self.report(&key, What::Started(v1::Started {}));
            let job = self.hands.get(&key).map(|hand| hand.job().to_owned()).unwrap_or_default();
            let at_ms = self.beat_at.map_or(0, Timestamp::millis);
            let line = v1::LogLine { at_ms, text: format!("{job} begins"), ..v1::LogLine::default() };
            self.report(&key, What::LogLines(v1::LogLines { lines: vec![line], dropped: 0 }));
            if let Some(deed @ (Deed::Succeeds | Deed::Fails(_))) = self.hands.get(&key).map(|hand| hand.deed) {
                self.ends(&key, deed);
            }
        }
        worked
    }

    fn ends(&mut self, key: &Key, deed: Deed) {
        use v1::finished::Outcome;

        let outcome = match deed {
            Deed::Fails(class) => {
                const SAID_NO: FailureCode =
                    FailureCode { code: "test_said_no", en: "the story says no", zh: "剧本要求失败" };
                let (code, en, zh) = (SAID_NO.code.to_owned(), SAID_NO.en.to_owned(), SAID_NO.zh.to_owned());
                let class = v1::FailureClass::from(class).into();
                Outcome::Failed(v1::Failure { class, code, message_en: en, message_zh: zh })
            }
            _ => Outcome::Succeeded(v1::Succeeded { result_json: "\"done\"".to_owned() }),
        };
        self.report(key, What::Finished(v1::Finished { outcome: Some(outcome) }));
        self.stands(key, Stand::Ended);
    }

    fn stands(&mut self, key: &Key, stand: Stand) {
        if let Some(hand) = self.hands.get_mut(key) {
            hand.stand = stand;
        }
    }

    fn report(&mut self, key: &Key, what: What) {
        let Some(hand) = self.hands.get_mut(key) else { return };
        hand.sequence += 1;
        let sequence = hand.sequence;
        hand.unacknowledged.insert(sequence, what.clone());
        if matches!(self.wire, Some((_, Link::Up))) && !self.silent {
            self.say(v1::Report { attempt: Some(attempt(key)), sequence, at_ms: 0, what: Some(what) });
        }
    }

    fn say(&mut self, message: impl Into<v1::FromExecutor>) {
        if let Some((wire, _)) = &self.wire {
            // A stream that has ended says so when it is read.
            let _ = wire.to_node.try_send(message.into());
        }
    }
}

fn key(attempt: &v1::AttemptRef) -> Key {
    (attempt.task_id.clone(), attempt.attempt)
}

fn attempt(key: &Key) -> v1::AttemptRef {
    v1::AttemptRef::new(key.0.clone(), key.1)
}
