//! The executor's side of the protocol: one loop that holds every attempt, the
//! lease and the link.
//!
//! The loop waits for one event at a time and answers it without waiting, so each
//! rule below is plain code on plain state. Processors run in tasks of their own
//! and speak to the loop through a channel and their outboxes; the loop never
//! waits for them, nor for the node.
//!
//! It does not watch deadlines and does not retry tasks: the node does. It
//! decides only what is the executor's to decide: what has room, what may start
//! (nothing without a lease), what was seen before, and when to let go.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use campanile_proto::{
    MAX_RESULT_BYTES, PROTOCOL_VERSION,
    v1::{self, report::What, to_executor},
};
use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    CancelStage, ConnectError, Question, TaskContext, TaskError, Transport, Wire,
    context::{Attempt, Ending},
    executor::{Config, Left, RunError},
    failure,
    outbox::{Outbox, Urgency, cut, weight},
};

/// What a processor says reaches the node this much later at most, unless it
/// presses; so a busy log costs ten messages a second.
const FLUSH: Duration = Duration::from_millis(100);

/// Log text of one attempt that may be under way without an Ack.
const MAX_LOG_UNDER_WAY: usize = 1024 * 1024;

/// Log text in one report.
const MAX_LOG_IN_REPORT: usize = 256 * 1024;

/// A failure's sentence is cut here.
const MAX_FAILURE_BYTES: usize = 8 * 1024;

/// Ended attempts that are remembered, so that a late push of one is not run.
const REMEMBERED_ENDS: usize = 10_000;

const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(2);

/// A node that takes a stream and then does not answer Register is left.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);

const MACHINE_EVERY: Duration = Duration::from_secs(10);

/// The pace at which the executor ends what it has to end by itself.
const ASK_TO_TERMINATE: Duration = Duration::from_secs(5);
const TERMINATE_TO_KILL: Duration = Duration::from_secs(10);

/// At shutdown: from TERM to KILL, from KILL to giving up, and how long the last
/// acknowledgements are waited for.
const LEAVE_STEP: Duration = Duration::from_secs(5);

const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// (task, attempt)
type Key = (String, u32);

fn key_of(attempt: Option<&v1::AttemptRef>) -> Option<Key> {
    attempt.map(|attempt| (attempt.task_id.clone(), attempt.attempt))
}

fn attempt_of(key: &Key) -> v1::AttemptRef {
    v1::AttemptRef::new(key.0.clone(), key.1)
}

enum Event {
    Shutdown,
    Timer,
    CapacityChanged,
    Happened(Happening),
    Connected(Result<Wire, ConnectError>),
    Said(Box<v1::ToExecutor>),
    Room,
    Broken,
}

/// What comes from the processors' side.
enum Happening {
    Pending(Key, Urgency),
    Ended(Key, Outcome),
    Answered(v1::StillNeededAnswer),
}

enum Outcome {
    Returned(Result<Value, TaskError>),
    Panicked(String),
    Dropped,
}

enum Link {
    Down {
        retry_at: Instant,
    },
    Connecting(BoxFuture<'static, Result<Wire, ConnectError>>),
    /// Register is sent; nothing else may be before Welcome.
    Joining {
        wire: Wire,
        since: Instant,
    },
    Up(Wire),
}

impl Link {
    async fn next(&mut self, has_outgoing: bool) -> Event {
        let wire = match self {
            Link::Down { .. } => return std::future::pending().await,
            Link::Connecting(opening) => return Event::Connected(opening.await),
            Link::Joining { wire, .. } | Link::Up(wire) => wire,
        };
        tokio::select! {
            biased;
            room = wire.to_node.reserve(), if has_outgoing => match room {
                Ok(_) => Event::Room,
                Err(_) => Event::Broken,
            },
            said = wire.from_node.recv() => match said {
                Some(message) => Event::Said(Box::new(message)),
                None => Event::Broken,
            },
        }
    }
}

/// What is to be sent, in order. Only what is kept elsewhere, too, may be lost
/// with it.
#[derive(Default)]
struct Outgoing {
    up: bool,
    waiting: VecDeque<v1::FromExecutor>,
}

impl Outgoing {
    /// Without a link there is nobody to say it to.
    fn say(&mut self, message: impl Into<v1::FromExecutor>) {
        if self.up {
            self.waiting.push_back(message.into());
        }
    }
}

enum Phase {
    Queued(Box<v1::Push>),
    Running,
    Ended,
    HandedBack,
}

/// An attempt that the executor has, or of which it still has something to report.
struct Record {
    key: Key,
    phase: Phase,
    last_sequence: u64,
    accepted: u64,
    unacknowledged: BTreeMap<u64, v1::Report>,
    log_under_way: usize,
    last_progress: Option<v1::Progress>,
    outbox: Arc<Outbox>,
    ending: Arc<Ending>,
    stop_without_lease: bool,
    stopping: Option<Stopping>,
}

/// An end that the executor itself wants, at its own pace.
struct Stopping {
    why: failure::FailureCode,
    next: Option<Instant>,
}

impl Record {
    fn report(&mut self, at_ms: i64, what: What, outgoing: &mut Outgoing) {
        self.last_sequence += 1;
        let kept = !matches!(what, What::Progress(_));
        if let What::LogLines(lines) = &what {
            self.log_under_way += weight(lines);
        }
        let report =
            v1::Report { attempt: Some(attempt_of(&self.key)), sequence: self.last_sequence, at_ms, what: Some(what) };
        if kept {
            self.unacknowledged.insert(report.sequence, report.clone());
        }
        outgoing.say(report);
    }

    fn acknowledge(&mut self, sequence: u64) {
        if let Some(v1::Report { what: Some(What::LogLines(lines)), .. }) = self.unacknowledged.remove(&sequence) {
            self.log_under_way -= weight(&lines);
        }
    }

    /// Moves what the processor said into reports. Without a link it stays where
    /// its size is bounded, unless the attempt is over.
    fn flush(&mut self, at_ms: i64, outgoing: &mut Outgoing) {
        let over = matches!(self.phase, Phase::Ended);
        if !outgoing.up && !over {
            return;
        }
        self.outbox.looked();
        while let Some(items) = self.outbox.take_items() {
            self.report(at_ms, What::Items(items), outgoing);
        }
        while over || self.log_under_way < MAX_LOG_UNDER_WAY {
            let Some(lines) = self.outbox.take_lines(MAX_LOG_IN_REPORT) else { break };
            self.report(at_ms, What::LogLines(lines), outgoing);
        }
        if let Some(progress) = self.outbox.take_progress() {
            self.last_progress = Some(progress.clone());
            self.report(at_ms, What::Progress(progress), outgoing);
        }
    }

    fn send_again(&mut self, at_ms: i64, outgoing: &mut Outgoing) {
        for report in self.unacknowledged.values() {
            outgoing.say(report.clone());
        }
        if matches!(self.phase, Phase::Running)
            && let Some(progress) = self.last_progress.clone()
        {
            self.report(at_ms, What::Progress(progress), outgoing);
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    fn is_queued(&self) -> bool {
        matches!(self.phase, Phase::Queued(_))
    }

    /// Begins an end of the executor's own making; a second reason changes nothing.
    fn stop(&mut self, why: failure::FailureCode, from: CancelStage, next: Instant) {
        if self.stopping.is_none() {
            self.stopping = Some(Stopping { why, next: Some(next) });
        }
        self.ending.reach(from);
    }

    fn go_on_stopping(&mut self, now: Instant) {
        let Some(stopping) = &mut self.stopping else { return };
        if stopping.next.is_none_or(|next| next > now) {
            return;
        }
        stopping.next = match self.ending.stage() {
            CancelStage::None | CancelStage::Ask => {
                self.ending.reach(CancelStage::Terminate);
                Some(now + TERMINATE_TO_KILL)
            }
            CancelStage::Terminate => {
                self.ending.reach(CancelStage::Kill);
                None
            }
            CancelStage::Kill => None,
        };
    }
}

/// The last attempts that ended here and are acknowledged.
#[derive(Default)]
struct Remembered {
    order: VecDeque<Key>,
    known: HashSet<Key>,
}

impl Remembered {
    fn add(&mut self, key: Key) {
        if !self.known.insert(key.clone()) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > REMEMBERED_ENDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

struct Leaving {
    finish_by: Instant,
    stopped: bool,
    kill_at: Option<Instant>,
    give_up: Instant,
    /// Set once nothing runs.
    report_by: Option<Instant>,
    said_goodbye: bool,
}

pub(crate) struct Session {
    config: Config,
    transport: Arc<dyn Transport>,
    shutdown: CancellationToken,
    capacity: watch::Receiver<v1::Capacity>,

    link: Link,
    outgoing: Outgoing,
    tries: u32,
    nodes: Vec<v1::NodeAddress>,

    heartbeat: Duration,
    lease: Duration,
    lease_until: Option<Instant>,
    next_heartbeat: Instant,
    next_machine: Instant,
    heartbeats: u64,
    heartbeats_sent: VecDeque<(u64, Instant)>,
    last_heard: Instant,

    records: BTreeMap<Key, Record>,
    queue: VecDeque<Key>,
    ended: Remembered,
    flush_at: Option<Instant>,
    happenings: mpsc::UnboundedReceiver<Happening>,
    happened: mpsc::UnboundedSender<Happening>,

    draining: bool,
    leaving: Option<Leaving>,
    refused: Option<RunError>,
}

impl Session {
    pub fn new(
        config: Config,
        transport: Arc<dyn Transport>,
        shutdown: CancellationToken,
        capacity: watch::Receiver<v1::Capacity>,
    ) -> Self {
        let now = Instant::now();
        let (happened, happenings) = mpsc::unbounded_channel();
        Session {
            config,
            transport,
            shutdown,
            capacity,
            link: Link::Down { retry_at: now },
            outgoing: Outgoing::default(),
            tries: 0,
            nodes: Vec::new(),
            heartbeat: Duration::from_secs(1),
            lease: Duration::from_secs(3),
            lease_until: None,
            next_heartbeat: now,
            next_machine: now,
            heartbeats: 0,
            heartbeats_sent: VecDeque::new(),
            last_heard: now,
            records: BTreeMap::new(),
            queue: VecDeque::new(),
            ended: Remembered::default(),
            flush_at: None,
            happenings,
            happened,
            draining: false,
            leaving: None,
            refused: None,
        }
    }

    pub async fn run(mut self) -> Result<Left, RunError> {
        loop {
            let now = Instant::now();
            self.keep_time(now);
            self.start_what_may(now);
            self.send_what_has_room();
            if let Some(left) = self.may_leave(now) {
                return match self.refused {
                    Some(refused) => Err(refused),
                    None => Ok(left),
                };
            }
            let event = self.next_event().await;
            self.answer(event, Instant::now());
        }
    }

    async fn next_event(&mut self) -> Event {
        let wake_at = self.wake_at();
        tokio::select! {
            biased;
            () = self.shutdown.cancelled(), if self.leaving.is_none() => Event::Shutdown,
            () = tokio::time::sleep_until(wake_at) => Event::Timer,
            Some(happening) = self.happenings.recv() => Event::Happened(happening),
            Ok(()) = self.capacity.changed() => Event::CapacityChanged,
            event = self.link.next(!self.outgoing.waiting.is_empty()) => event,
        }
    }

    /// The next moment at which time alone changes something.
    fn wake_at(&self) -> Instant {
        let mut moments = vec![Instant::now() + Duration::from_secs(3600)];
        match &self.link {
            Link::Down { retry_at } => moments.push(*retry_at),
            Link::Connecting(_) => {}
            Link::Joining { since, .. } => moments.push(*since + WELCOME_WITHIN),
            Link::Up(_) => moments.extend([self.next_heartbeat, self.last_heard + 2 * self.lease]),
        }
        moments.extend(self.lease_until);
        moments.extend(self.flush_at);
        moments.extend(
            self.records
                .values()
                .filter(|record| record.is_running())
                .filter_map(|record| record.stopping.as_ref()?.next),
        );
        if let Some(leaving) = &self.leaving {
            if !leaving.stopped {
                moments.push(leaving.finish_by);
            }
            moments.extend(leaving.kill_at);
            moments.push(leaving.report_by.unwrap_or(leaving.give_up));
        }
        moments.into_iter().min().unwrap_or_else(Instant::now)
    }

    fn answer(&mut self, event: Event, now: Instant) {
        match event {
            Event::Timer | Event::Room => {}
            Event::Shutdown => self.leave(now, self.config.time_to_leave),
            Event::CapacityChanged => {
                let capacity = *self.capacity.borrow_and_update();
                self.outgoing.say(capacity);
            }
            Event::Happened(happening) => self.happened(happening, now),
            Event::Connected(Ok(wire)) => self.join(wire, now),
            Event::Connected(Err(error)) => {
                tracing::debug!(executor = %self.config.name, %error, "no stream yet");
                self.lose_link(now);
            }
            Event::Broken => {
                tracing::info!(executor = %self.config.name, "the stream broke; connecting again");
                self.lose_link(now);
            }
            Event::Said(message) => {
                self.last_heard = now;
                if let Some(message) = message.message {
                    self.hear(message, now);
                }
            }
        }
    }

    // ------------------------------------------------------------------ time --

    fn keep_time(&mut self, now: Instant) {
        match &self.link {
            Link::Down { retry_at } if *retry_at <= now => {
                let transport = self.transport.clone();
                let nodes = self.nodes.clone();
                self.link = Link::Connecting(Box::pin(async move { transport.connect(&nodes).await }));
            }
            Link::Joining { since, .. } if *since + WELCOME_WITHIN <= now => self.lose_link(now),
            Link::Up(_) if self.last_heard + 2 * self.lease <= now => {
                tracing::warn!(executor = %self.config.name, "the node fell silent; connecting again");
                self.lose_link(now);
            }
            Link::Up(_) if self.next_heartbeat <= now => self.beat(now),
            _ => {}
        }
        if self.lease_until.is_some_and(|end| end <= now) {
            self.lose_lease(now);
        }
        if self.flush_at.is_some_and(|at| at <= now) {
            self.flush_at = None;
            let at_ms = (self.config.wall_clock)();
            for record in self.records.values_mut() {
                record.flush(at_ms, &mut self.outgoing);
            }
        }
        for record in self.records.values_mut().filter(|record| record.is_running()) {
            record.go_on_stopping(now);
        }
        self.go_on_leaving(now);
    }

    fn beat(&mut self, now: Instant) {
        self.heartbeats += 1;
        self.heartbeats_sent.push_back((self.heartbeats, now));
        let machine = match &self.config.machine {
            Some(read) if self.next_machine <= now => {
                self.next_machine = now + MACHINE_EVERY;
                Some(read())
            }
            _ => None,
        };
        self.outgoing.say(v1::Heartbeat { number: self.heartbeats, machine });
        self.next_heartbeat = now + self.heartbeat;
    }

    /// The lease ended: nothing starts, and what asked for it is stopped.
    fn lose_lease(&mut self, now: Instant) {
        tracing::warn!(executor = %self.config.name, "the lease ended; nothing new is started");
        self.lease_until = None;
        for record in self.records.values_mut().filter(|record| record.is_running() && record.stop_without_lease) {
            record.stop(failure::LEASE_LOST, CancelStage::Ask, now + ASK_TO_TERMINATE);
        }
    }

    // ------------------------------------------------------------------ link --

    fn join(&mut self, wire: Wire, now: Instant) {
        let register = v1::Register {
            protocol_version: PROTOCOL_VERSION,
            group: self.config.group.clone(),
            name: self.config.name.clone(),
            boot_id: self.config.boot_id.clone(),
            processors: self
                .config
                .processors
                .values()
                .map(|hosted| hosted.info.registered(v1::ProcessorKind::Unicast, &[v1::Method::Process]))
                .collect(),
            labels: self.config.labels.clone(),
            capacity: Some(*self.capacity.borrow_and_update()),
            sdk_version: env!("CARGO_PKG_VERSION").to_owned(),
            token: self.config.token.clone(),
            public_key: self.config.public_key.clone(),
            still_held: self
                .records
                .values()
                .filter_map(|record| {
                    let state = match record.phase {
                        Phase::Queued(_) => v1::HeldState::Queued,
                        Phase::Running => v1::HeldState::Running,
                        Phase::Ended => v1::HeldState::Ended,
                        Phase::HandedBack => return None,
                    };
                    Some(v1::HeldAttempt {
                        attempt: Some(attempt_of(&record.key)),
                        state: state.into(),
                        last_sequence: record.last_sequence,
                    })
                })
                .collect(),
        };
        // The wire is new and empty: Register has room, or the node is gone already.
        if wire.to_node.try_send(register.into()).is_err() {
            self.lose_link(now);
            return;
        }
        self.link = Link::Joining { wire, since: now };
        self.last_heard = now;
    }

    fn lose_link(&mut self, now: Instant) {
        self.tries = self.tries.saturating_add(1);
        let longest = (FIRST_RETRY * 2u32.saturating_pow(self.tries.min(16) - 1)).min(LONGEST_RETRY);
        self.break_link(now + spread(longest, &self.config.boot_id, self.tries));
    }

    fn break_link(&mut self, retry_at: Instant) {
        self.link = Link::Down { retry_at };
        self.outgoing = Outgoing::default();
        self.heartbeats_sent.clear();
        for record in self.records.values() {
            record.outbox.set_linked(false);
        }
    }

    fn welcomed(&mut self, welcome: v1::Welcome, now: Instant) {
        let Link::Joining { wire, since } = std::mem::replace(&mut self.link, Link::Down { retry_at: now }) else {
            tracing::warn!(executor = %self.config.name, "a second Welcome on one stream; connecting again");
            self.lose_link(now);
            return;
        };
        self.link = Link::Up(wire);
        self.tries = 0;
        self.outgoing = Outgoing { up: true, waiting: VecDeque::new() };
        self.heartbeat = Duration::from_millis(u64::from(welcome.heartbeat_ms.max(1)));
        self.lease = Duration::from_millis(u64::from(welcome.lease_ms.max(1)));
        self.lease_until = Some(since + self.lease);
        self.heartbeats = 0;
        self.next_heartbeat = now;
        self.nodes = welcome.nodes;
        self.draining = welcome.draining;

        let ours: BTreeMap<Key, u64> = welcome
            .still_yours
            .iter()
            .filter_map(|still| Some((key_of(still.attempt.as_ref())?, still.stored_sequence)))
            .collect();
        let at_ms = (self.config.wall_clock)();
        let mut gone = Vec::new();
        for record in self.records.values_mut() {
            record.outbox.set_linked(true);
            match (ours.get(&record.key), &record.phase) {
                (Some(stored), _) => {
                    let told: Vec<u64> =
                        record.unacknowledged.range(..=stored).map(|(sequence, _)| *sequence).collect();
                    for sequence in told {
                        record.acknowledge(sequence);
                    }
                }
                (None, Phase::Queued(_) | Phase::HandedBack) => {
                    gone.push(record.key.clone());
                    continue;
                }
                (None, Phase::Running) => {
                    record.stop(failure::LEASE_LOST, CancelStage::Ask, now + ASK_TO_TERMINATE);
                }
                // Reported once more, so that it can be shown as finished too late.
                (None, Phase::Ended) => {}
            }
            record.flush(at_ms, &mut self.outgoing);
        }
        for key in gone {
            self.records.remove(&key);
            self.queue.retain(|queued| *queued != key);
        }
        self.outgoing.waiting.clear();
        for record in self.records.values_mut() {
            record.send_again(at_ms, &mut self.outgoing);
        }
        self.let_go_of_what_is_told();
        if let Some(leaving) = &self.leaving {
            self.outgoing.say(v1::Draining { leaving: true });
            tracing::debug!(goodbye = leaving.said_goodbye, "joined while leaving");
        }
        if self.draining {
            self.hand_back_queue(v1::HandBackReason::Draining);
        }
    }

    fn refused(&mut self, refusal: v1::Refused, now: Instant) {
        tracing::warn!(executor = %self.config.name, code = %refusal.code, "{}", refusal.message_en);
        if refusal.retry_after_ms > 0 {
            self.break_link(now + Duration::from_millis(refusal.retry_after_ms));
            return;
        }
        self.refused = Some(RunError::Refused {
            code: refusal.code,
            message_en: refusal.message_en,
            message_zh: refusal.message_zh,
        });
        self.break_link(now + Duration::from_secs(3600));
        self.leave(now, Duration::ZERO);
    }

    fn send_what_has_room(&mut self) {
        let Link::Up(wire) = &self.link else { return };
        while let Some(message) = self.outgoing.waiting.pop_front() {
            if let Err(refused) = wire.to_node.try_send(message) {
                // Full or closed: either way the message is not sent, and the next
                // event says which it is.
                self.outgoing.waiting.push_front(refused.into_inner());
                return;
            }
        }
    }

    // ------------------------------------------------------- what a node says --

    fn hear(&mut self, message: to_executor::Message, now: Instant) {
        use to_executor::Message;

        match message {
            Message::Welcome(welcome) => self.welcomed(welcome, now),
            Message::Refused(refusal) => self.refused(refusal, now),
            // Before Welcome a node has nothing else to say.
            _ if !matches!(self.link, Link::Up(_)) => {}
            Message::HeartbeatAck(ack) => self.lease_extended(ack, now),
            Message::Push(push) => self.pushed(push),
            Message::Withdraw(withdraw) => {
                if let Some(key) = key_of(withdraw.attempt.as_ref()) {
                    self.withdraw(&key);
                }
            }
            Message::Cancel(cancel) => {
                if let Some(key) = key_of(cancel.attempt.as_ref()) {
                    self.cancel(&key, cancel.ask(), &cancel.reason);
                }
            }
            Message::Ack(ack) => {
                if let Some(key) = key_of(ack.attempt.as_ref()) {
                    self.acknowledged(&key, ack.sequence);
                }
            }
            Message::Forget(forget) => {
                if let Some(key) = key_of(forget.attempt.as_ref()) {
                    self.forget(&key, now);
                }
            }
            Message::Drain(drain) => {
                tracing::info!(executor = %self.config.name, reason = %drain.reason, "draining");
                self.draining = true;
                self.outgoing.say(v1::Draining { leaving: self.leaving.is_some() });
                self.hand_back_queue(v1::HandBackReason::Draining);
            }
            Message::Resume(_) => self.draining = false,
            Message::StillNeeded(question) => self.ask_still_needed(question),
            Message::Nodes(nodes) => self.nodes = nodes.nodes,
            // For methods that no processor here has: a push of one is handed back.
            Message::ShardData(_) | Message::ShardEnds(_) => {}
        }
    }

    fn lease_extended(&mut self, ack: v1::HeartbeatAck, now: Instant) {
        while let Some((number, sent)) = self.heartbeats_sent.front().copied() {
            if number > ack.number {
                break;
            }
            self.heartbeats_sent.pop_front();
            if number == ack.number {
                self.lease = Duration::from_millis(u64::from(ack.lease_ms.max(1)));
                let until = sent + self.lease;
                if until > now && self.lease_until.is_none_or(|end| end < until) {
                    self.lease_until = Some(until);
                }
            }
        }
    }

    fn pushed(&mut self, push: v1::Push) {
        let Some(key) = key_of(push.attempt.as_ref()) else { return };
        let at_ms = (self.config.wall_clock)();
        if self.ended.known.contains(&key) {
            self.answer_for_unheld(&key, handed_back(v1::HandBackReason::AlreadyEnded));
            return;
        }
        let mut last_sequence = push.sequence_after;
        if let Some(record) = self.records.get_mut(&key) {
            if !matches!(record.phase, Phase::HandedBack) {
                // Here already. Whatever the node has not heard, it hears again.
                if record.unacknowledged.is_empty() {
                    let accepted = What::Accepted(v1::Accepted {});
                    self.outgoing.say(v1::Report {
                        attempt: Some(attempt_of(&key)),
                        sequence: record.accepted,
                        at_ms,
                        what: Some(accepted),
                    });
                }
                record.send_again(at_ms, &mut self.outgoing);
                return;
            }
            last_sequence = last_sequence.max(record.last_sequence);
            self.records.remove(&key);
        }

        let hosted = self.config.processors.get(&push.processor);
        let capacity = *self.capacity.borrow();
        let held = self.records.values().filter(|record| record.is_running() || record.is_queued()).count();
        let refusal = if self.draining || self.leaving.is_some() {
            Some(v1::HandBackReason::Draining)
        } else if hosted.is_none() || push.method() != v1::Method::Process {
            Some(v1::HandBackReason::UnknownProcessor)
        } else if held >= (capacity.running as usize).saturating_add(capacity.queued as usize) {
            Some(v1::HandBackReason::NoRoom)
        } else {
            None
        };

        let happened = self.happened.clone();
        let waking = key.clone();
        let mut record = Record {
            key: key.clone(),
            phase: Phase::HandedBack,
            last_sequence,
            accepted: 0,
            unacknowledged: BTreeMap::new(),
            log_under_way: 0,
            last_progress: None,
            outbox: Arc::new(Outbox::new(true, move |urgency| {
                // Fails only when the session is gone, and nobody is left to hear it.
                let _ = happened.send(Happening::Pending(waking.clone(), urgency));
            })),
            ending: Arc::new(Ending::new()),
            stop_without_lease: hosted.is_some_and(|hosted| hosted.info.stop_without_lease),
            stopping: None,
        };
        if let Some(reason) = refusal {
            record.report(at_ms, handed_back(reason), &mut self.outgoing);
        } else {
            record.phase = Phase::Queued(Box::new(push));
            record.report(at_ms, What::Accepted(v1::Accepted {}), &mut self.outgoing);
            record.accepted = record.last_sequence;
            self.queue.push_back(key.clone());
        }
        self.records.insert(key, record);
    }

    fn withdraw(&mut self, key: &Key) {
        let Some(record) = self.records.get_mut(key) else {
            self.answer_for_unheld(key, handed_back(v1::HandBackReason::Unknown));
            return;
        };
        // If it was started, Started is the answer and has been given.
        if record.is_queued() {
            let at_ms = (self.config.wall_clock)();
            record.phase = Phase::HandedBack;
            record.report(at_ms, handed_back(v1::HandBackReason::Withdrawn), &mut self.outgoing);
            self.queue.retain(|queued| queued != key);
        }
    }

    fn cancel(&mut self, key: &Key, ask: v1::CancelAsk, reason: &str) {
        let at_ms = (self.config.wall_clock)();
        let Some(record) = self.records.get_mut(key) else {
            self.answer_for_unheld(key, cancel_stage(v1::CancelReached::Gone));
            return;
        };
        let (stage, reached) = match ask {
            v1::CancelAsk::Unspecified => return,
            v1::CancelAsk::Ask => (CancelStage::Ask, v1::CancelReached::Acknowledged),
            v1::CancelAsk::Terminate => (CancelStage::Terminate, v1::CancelReached::Terminated),
            v1::CancelAsk::Kill => (CancelStage::Kill, v1::CancelReached::Killed),
        };
        match record.phase {
            Phase::Queued(_) => {
                record.phase = Phase::Ended;
                record.report(at_ms, cancel_stage(v1::CancelReached::Acknowledged), &mut self.outgoing);
                let outcome = v1::finished::Outcome::Cancelled(v1::Cancelled {
                    message: format!("before it was started: {reason}"),
                });
                record.report(at_ms, What::Finished(v1::Finished { outcome: Some(outcome) }), &mut self.outgoing);
                self.queue.retain(|queued| queued != key);
            }
            Phase::Running => {
                if record.ending.reach(stage) {
                    record.report(at_ms, cancel_stage(reached), &mut self.outgoing);
                }
            }
            // Its end is under way already, and says more.
            Phase::Ended | Phase::HandedBack => {}
        }
    }

    fn acknowledged(&mut self, key: &Key, sequence: u64) {
        let Some(record) = self.records.get_mut(key) else { return };
        record.acknowledge(sequence);
        let at_ms = (self.config.wall_clock)();
        record.flush(at_ms, &mut self.outgoing);
        self.let_go_of_what_is_told();
    }

    /// Drops what is over and acknowledged, and remembers that it ended here.
    fn let_go_of_what_is_told(&mut self) {
        let told: Vec<Key> = self
            .records
            .values()
            .filter(|record| {
                matches!(record.phase, Phase::Ended | Phase::HandedBack) && record.unacknowledged.is_empty()
            })
            .map(|record| record.key.clone())
            .collect();
        for key in told {
            if let Some(record) = self.records.remove(&key)
                && matches!(record.phase, Phase::Ended)
            {
                self.ended.add(key);
            }
        }
    }

    fn forget(&mut self, key: &Key, now: Instant) {
        let Some(record) = self.records.get_mut(key) else { return };
        if record.is_running() {
            record.stop(failure::LEASE_LOST, CancelStage::Ask, now + ASK_TO_TERMINATE);
            return;
        }
        if let Some(record) = self.records.remove(key)
            && matches!(record.phase, Phase::Ended)
        {
            self.ended.add(key.clone());
        }
        self.queue.retain(|queued| queued != key);
    }

    fn answer_for_unheld(&mut self, key: &Key, what: What) {
        let at_ms = (self.config.wall_clock)();
        self.outgoing.say(v1::Report { attempt: Some(attempt_of(key)), sequence: 0, at_ms, what: Some(what) });
    }

    fn ask_still_needed(&mut self, question: v1::StillNeeded) {
        let Some(hosted) = self.config.processors.get(&question.processor) else {
            self.outgoing.say(answer_yes(question.question_id, "no such processor here"));
            return;
        };
        let processor = hosted.processor.clone();
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let context = question.context.unwrap_or_default();
            let id = question.question_id;
            let answer = match serde_json::from_str(&question.parameters_json) {
                Err(error) => answer_yes(id, &error.to_string()),
                Ok(parameters) => {
                    let asked = processor.still_needed(Question {
                        parameters,
                        job: context.job,
                        instance_id: context.instance_id,
                        planned_ms: context.planned_ms,
                        due_ms: context.due_ms,
                    });
                    match tokio::time::timeout(ANSWER_WITHIN, AssertUnwindSafe(asked).catch_unwind()).await {
                        Ok(Ok(Ok(needed))) => v1::StillNeededAnswer { question_id: id, needed, message: String::new() },
                        Ok(Ok(Err(error))) => answer_yes(id, error.message()),
                        Ok(Err(_)) => answer_yes(id, "the processor panicked"),
                        Err(_) => answer_yes(id, "no answer in time"),
                    }
                }
            };
            // Fails only when the session is gone.
            let _ = happened.send(Happening::Answered(answer));
        });
    }

    // ---------------------------------------------------------------- running --

    fn start_what_may(&mut self, now: Instant) {
        if self.lease_until.is_none_or(|end| end <= now) || self.leaving.is_some() {
            return;
        }
        let most = self.capacity.borrow().running as usize;
        let mut running = self.records.values().filter(|record| record.is_running()).count();
        while running < most {
            let Some(key) = self.queue.pop_front() else { return };
            if self.start(&key) {
                running += 1;
            }
        }
    }

    /// False when nothing came to run.
    fn start(&mut self, key: &Key) -> bool {
        let at_ms = (self.config.wall_clock)();
        let Some(record) = self.records.get_mut(key) else { return false };
        let Phase::Queued(push) = std::mem::replace(&mut record.phase, Phase::Running) else { return false };
        record.report(at_ms, What::Started(v1::Started {}), &mut self.outgoing);

        let Some(hosted) = self.config.processors.get(&push.processor) else { return false };
        let processor = hosted.processor.clone();
        let parameters = if push.parameters_json.is_empty() {
            Ok(Value::Object(serde_json::Map::new()))
        } else {
            serde_json::from_str::<Value>(&push.parameters_json)
        };
        let parameters = match parameters {
            Ok(parameters) => parameters,
            Err(error) => {
                let refused = failure::PARAMETERS_REFUSED.business().with("field", ".").with("problem", error);
                self.end(key, Outcome::Returned(Err(refused)));
                return false;
            }
        };
        let ctx = TaskContext::new(Attempt {
            context: push.context.clone().unwrap_or_default(),
            parameters,
            outbox: record.outbox.clone(),
            ending: record.ending.clone(),
            boot_id: self.config.boot_id.clone(),
            executor: self.config.name.clone(),
            scratch: self.config.scratch.join(folder_name(key)),
            scratch_made: AtomicBool::new(false),
            wall_clock: self.config.wall_clock.clone(),
            push: *push,
        });
        let key = key.clone();
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let outcome = see_through(processor, ctx).await;
            // Fails only when the session is gone, and nobody is left to report to.
            let _ = happened.send(Happening::Ended(key, outcome));
        });
        true
    }

    fn happened(&mut self, happening: Happening, now: Instant) {
        match happening {
            Happening::Pending(_, Urgency::Soon) => {
                self.flush_at.get_or_insert(now + FLUSH);
            }
            Happening::Pending(key, Urgency::Now) => {
                let at_ms = (self.config.wall_clock)();
                if let Some(record) = self.records.get_mut(&key) {
                    record.flush(at_ms, &mut self.outgoing);
                }
            }
            Happening::Ended(key, outcome) => self.end(&key, outcome),
            Happening::Answered(answer) => self.outgoing.say(answer),
        }
    }

    fn end(&mut self, key: &Key, outcome: Outcome) {
        let at_ms = (self.config.wall_clock)();
        let Some(record) = self.records.get_mut(key) else { return };
        record.phase = Phase::Ended;
        record.flush(at_ms, &mut self.outgoing);
        let cancelled = |message: &str| match &record.stopping {
            Some(stopping) => stopping.why.transient().into_outcome(),
            None if record.ending.stage() > CancelStage::None => TaskError::cancelled(message).into_outcome(),
            None => failure::CANCELLED_UNASKED.business().into_outcome(),
        };
        let outcome = match outcome {
            Outcome::Dropped => cancelled("dropped at KILL"),
            Outcome::Returned(Err(error)) if error.is_cancelled() => cancelled(error.message()),
            Outcome::Returned(Err(error)) => error.into_outcome(),
            Outcome::Panicked(detail) => failure::PANICKED.business().with("detail", detail).into_outcome(),
            Outcome::Returned(Ok(result)) => succeeded(&result),
        };
        let finished = v1::Finished { outcome: Some(bounded(outcome)) };
        record.report(at_ms, What::Finished(finished), &mut self.outgoing);
    }

    // ---------------------------------------------------------------- leaving --

    fn leave(&mut self, now: Instant, limit: Duration) {
        let finish_by = now + limit;
        self.leaving = Some(Leaving {
            finish_by,
            stopped: false,
            kill_at: None,
            give_up: finish_by + 2 * LEAVE_STEP,
            report_by: None,
            said_goodbye: false,
        });
        self.outgoing.say(v1::Draining { leaving: true });
        self.hand_back_queue(v1::HandBackReason::Draining);
    }

    fn hand_back_queue(&mut self, reason: v1::HandBackReason) {
        let at_ms = (self.config.wall_clock)();
        for key in std::mem::take(&mut self.queue) {
            if let Some(record) = self.records.get_mut(&key) {
                record.phase = Phase::HandedBack;
                record.report(at_ms, handed_back(reason), &mut self.outgoing);
            }
        }
    }

    fn go_on_leaving(&mut self, now: Instant) {
        let Some(leaving) = &mut self.leaving else { return };
        let mut running: Vec<_> = self.records.values_mut().filter(|record| record.is_running()).collect();
        if running.is_empty() {
            leaving.report_by.get_or_insert(now + LEAVE_STEP);
        }
        if leaving.finish_by <= now && !leaving.stopped {
            leaving.stopped = true;
            leaving.kill_at = Some(now + LEAVE_STEP);
            for record in &mut running {
                record.stop(failure::EXECUTOR_LEFT, CancelStage::Terminate, now + LEAVE_STEP);
            }
        }
        if leaving.kill_at.is_some_and(|at| at <= now) {
            leaving.kill_at = None;
            for record in &mut running {
                record.ending.reach(CancelStage::Kill);
            }
        }
    }

    /// What is left behind, once it is time to go.
    fn may_leave(&mut self, now: Instant) -> Option<Left> {
        let leaving = self.leaving.as_mut()?;
        let unfinished = self.records.values().filter(|record| record.is_running()).count();
        let unreported = self.records.values().filter(|record| !record.unacknowledged.is_empty()).count();
        let left = Left { unfinished, unreported };
        if leaving.report_by.unwrap_or(leaving.give_up) <= now || self.refused.is_some() && unfinished == 0 {
            return Some(left);
        }
        if unfinished > 0 || unreported > 0 {
            return None;
        }
        if !self.outgoing.up {
            // Nothing to say and nobody to say it to.
            return Some(left);
        }
        if !leaving.said_goodbye {
            leaving.said_goodbye = true;
            self.outgoing.say(v1::Goodbye {});
            self.send_what_has_room();
        }
        self.outgoing.waiting.is_empty().then_some(left)
    }
}

/// Runs a processor to its end, whatever end that is, and clears up behind it.
async fn see_through(processor: Arc<dyn crate::Processor>, ctx: TaskContext) -> Outcome {
    let behind = ctx.clone();
    let dropped = ctx.dropped();
    let work = AssertUnwindSafe(async move { processor.process(ctx).await }).catch_unwind();
    let outcome = tokio::select! {
        biased;
        returned = work => match returned {
            Ok(result) => Outcome::Returned(result),
            Err(panic) => Outcome::Panicked(
                panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "without a message".to_owned()),
            ),
        },
        () = dropped.cancelled() => Outcome::Dropped,
    };
    if let Some(scratch) = behind.scratch_to_remove()
        && let Err(error) = tokio::fs::remove_dir_all(scratch).await
    {
        behind.log(format!("the scratch folder could not be removed: {error}"));
    }
    outcome
}

fn succeeded(result: &Value) -> v1::finished::Outcome {
    let result_json = result.to_string();
    if result_json.len() > MAX_RESULT_BYTES {
        return failure::RESULT_TOO_LARGE
            .business()
            .with("bytes", result_json.len())
            .with("limit", MAX_RESULT_BYTES)
            .into_outcome();
    }
    v1::finished::Outcome::Succeeded(v1::Succeeded { result_json })
}

fn bounded(outcome: v1::finished::Outcome) -> v1::finished::Outcome {
    match outcome {
        v1::finished::Outcome::Failed(failure) => v1::finished::Outcome::Failed(v1::Failure {
            message_en: cut(&failure.message_en, MAX_FAILURE_BYTES),
            message_zh: cut(&failure.message_zh, MAX_FAILURE_BYTES),
            ..failure
        }),
        other => other,
    }
}

fn handed_back(reason: v1::HandBackReason) -> What {
    What::HandedBack(v1::HandedBack { reason: reason.into(), message: String::new() })
}

fn cancel_stage(reached: v1::CancelReached) -> What {
    What::CancelStage(v1::CancelStage { reached: reached.into() })
}

fn answer_yes(question_id: String, why: &str) -> v1::StillNeededAnswer {
    v1::StillNeededAnswer { question_id, needed: true, message: why.to_owned() }
}

/// Somewhere between half of `longest` and all of it, by hash, so that executors
/// which lost one node do not come back as one.
fn spread(longest: Duration, boot_id: &str, tries: u32) -> Duration {
    let mut hasher = DefaultHasher::new();
    (boot_id, tries).hash(&mut hasher);
    longest / 2 + longest.mul_f64((hasher.finish() % 1000) as f64 / 2000.0)
}

/// A task id comes from outside; as the name of a folder it must stay in its place.
fn folder_name(key: &Key) -> String {
    let safe: String =
        key.0.chars().map(|char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' }).collect();
    format!("{safe}-{}", key.1)
}
