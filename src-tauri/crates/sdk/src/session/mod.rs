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

mod feed;
mod leaving;
mod line;
mod locks;
mod orders;
mod record;
mod running;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use campanile_proto::v1;
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::leaving::Leaving;
use self::line::Link;
use self::locks::Claims;
use self::record::{Outgoing, Record, Remembered};
use crate::{
    CancelStage, ConnectError, TaskError, Transport, Wire,
    executor::{Config, Left, RunError},
    failure,
    locks::Wanted,
    outbox::Urgency,
};

/// What a processor says reaches the node this much later at most, unless it
/// presses; so a busy log costs ten messages a second.
const FLUSH: Duration = Duration::from_millis(100);

/// A node that takes a stream and then does not answer Register is left.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);

const MACHINE_EVERY: Duration = Duration::from_secs(10);

/// What the executor has to end by itself is terminated this long after it was asked.
const ASK_TO_TERMINATE: Duration = Duration::from_secs(5);

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
    Locks(Key, Wanted),
}

enum Outcome {
    Returned(Result<Value, TaskError>),
    Panicked(String),
    Dropped,
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
    /// How many of the records run.
    running: usize,
    /// Something that runs may have been told to end by the executor itself. Seldom so; else nobody looks.
    stopping: bool,
    ended: Remembered,
    /// Handed back on this stream, and with which report: an older push is not taken.
    declined: Remembered,
    flush_at: Option<Instant>,
    claims: Claims,
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
            running: 0,
            stopping: false,
            ended: Remembered::default(),
            declined: Remembered::default(),
            flush_at: None,
            claims: Claims::new(),
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
        if self.stopping {
            let running = self.records.values().filter(|record| record.is_running());
            moments.extend(running.filter_map(|record| record.stopping.as_ref()?.next));
        }
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
            Happening::Locks(key, wanted) => self.wanted(key, wanted, now),
        }
    }

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
        if self.stopping {
            self.stopping = false;
            for record in self.records.values_mut().filter(|record| record.is_running()) {
                record.go_on_stopping(now);
                self.stopping |= record.stopping.is_some();
            }
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
        self.lose_locks(|_| true);
        for record in self.records.values_mut().filter(|record| record.is_running() && record.stop_without_lease) {
            record.stop(failure::LEASE_LOST, CancelStage::Ask, now + ASK_TO_TERMINATE);
            self.stopping = true;
        }
    }
}
