//! The link to a node: found, joined, kept and lost.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use campanile_proto::{PROTOCOL_VERSION, v1};
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::record::{Outgoing, Phase};
use super::{ASK_TO_TERMINATE, Event, Key, Session, attempt_of, key_of};
use crate::{CancelStage, ConnectError, Wire, executor::RunError, failure};

const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(2);

pub(super) enum Link {
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
    pub(super) async fn next(&mut self, has_outgoing: bool) -> Event {
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

impl Session {
    pub(super) fn join(&mut self, wire: Wire, now: Instant) {
        let register = v1::Register {
            protocol_version: PROTOCOL_VERSION,
            group: self.config.group.clone(),
            name: self.config.name.clone(),
            boot_id: self.config.boot_id.clone(),
            processors: self
                .config
                .processors
                .values()
                .map(|hosted| hosted.info.registered(hosted.kind(), &hosted.methods()))
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

    pub(super) fn lose_link(&mut self, now: Instant) {
        self.tries = self.tries.saturating_add(1);
        let longest = (FIRST_RETRY * 2u32.saturating_pow(self.tries.min(16) - 1)).min(LONGEST_RETRY);
        self.break_link(now + spread(longest, &self.config.boot_id, self.tries));
    }

    pub(super) fn break_link(&mut self, retry_at: Instant) {
        self.link = Link::Down { retry_at };
        self.outgoing = Outgoing::default();
        self.heartbeats_sent.clear();
        let mut incomplete = Vec::new();
        for record in self.records.values_mut() {
            record.outbox.set_linked(false);
            if record.feed.break_off() && record.is_queued() {
                incomplete.push(record.key.clone());
            }
        }
        // Not held any more when there is a stream again, they are free to go elsewhere.
        for key in incomplete {
            self.records.remove(&key);
            self.queue.retain(|queued| *queued != key);
        }
    }

    pub(super) fn welcomed(&mut self, welcome: v1::Welcome, now: Instant) {
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
        // What was pushed on the stream before does not come on this one.
        self.declined.clear();
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
                    self.stopping = true;
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
        self.lose_locks(|key| !ours.contains_key(key));
        self.ask_for_locks_again(now);
        self.let_go_of_what_is_told();
        if let Some(leaving) = &self.leaving {
            self.outgoing.say(v1::Draining { leaving: true });
            tracing::debug!(goodbye = leaving.said_goodbye, "joined while leaving");
        }
        if self.draining {
            self.hand_back_queue(v1::HandBackReason::Draining);
        }
    }

    pub(super) fn refused(&mut self, refusal: v1::Refused, now: Instant) {
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

    pub(super) fn send_what_has_room(&mut self) {
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

    pub(super) fn lease_extended(&mut self, ack: v1::HeartbeatAck, now: Instant) {
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
}

/// Somewhere between half of `longest` and all of it, by hash, so that executors
/// which lost one node do not come back as one.
fn spread(longest: Duration, boot_id: &str, tries: u32) -> Duration {
    let mut hasher = DefaultHasher::new();
    (boot_id, tries).hash(&mut hasher);
    longest / 2 + longest.mul_f64((hasher.finish() % 1000) as f64 / 2000.0)
}
