//! What a node says once the executor is admitted, and what is answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use campanile_proto::v1::{self, report::What, to_executor};
use tokio::time::Instant;

use super::feed::{Feed, Piece, is_fed};
use super::line::Link;
use super::record::{Phase, Record};
use super::{ASK_TO_TERMINATE, Happening, Key, Session, attempt_of, key_of};
use crate::{CancelStage, context::Ending, failure, outbox::Outbox, secrets::Mask};

impl Session {
    pub(super) fn hear(&mut self, message: to_executor::Message, now: Instant) {
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
            Message::ShardData(data) => self.fed(data.attempt.clone().as_ref(), Piece::Data(data)),
            Message::LocksGranted(granted) => self.locks_granted(granted, now),
            Message::LocksRefused(refused) => self.locks_refused(refused),
            Message::LocksLost(lost) => self.locks_lost(&lost),
            Message::LocksLeft(left) => self.locks_left(&left),
            Message::ShardEnds(ends) => self.fed(ends.attempt.clone().as_ref(), Piece::Ends(ends)),
        }
    }

    pub(super) fn pushed(&mut self, push: v1::Push) {
        let Some(key) = key_of(push.attempt.as_ref()) else { return };
        let at_ms = (self.config.wall_clock)();
        if self.ended.last_sequence(&key).is_some() {
            self.answer_for_unheld(&key, handed_back(v1::HandBackReason::AlreadyEnded));
            return;
        }
        if self.declined.last_sequence(&key).is_some_and(|declined| push.sequence_after < declined) {
            // The push that was handed back, come again: whoever took the hand-back may have given the attempt to
            // another executor since. A new push of it shows that the hand-back was heard.
            tracing::debug!(executor = %self.config.name, task = %key.0, "an old push of what was handed back");
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
        let held = self.running + self.queue.len();
        let refusal = if self.draining || self.leaving.is_some() {
            Some(v1::HandBackReason::Draining)
        } else if hosted.is_none_or(|hosted| !hosted.methods().contains(&push.method())) {
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
            feed: Feed::new(is_fed(&push)),
            mask: Mask::default(),
            ending: Arc::new(Ending::new()),
            stop_without_lease: hosted.is_some_and(|hosted| hosted.info.stop_without_lease),
            stopping: None,
        };
        if let Some(reason) = refusal {
            record.report(at_ms, handed_back(reason), &mut self.outgoing);
            self.declined.add(key.clone(), record.last_sequence);
        } else {
            record.phase = Phase::Queued(Box::new(push));
            record.report(at_ms, What::Accepted(v1::Accepted {}), &mut self.outgoing);
            record.accepted = record.last_sequence;
            self.queue.push_back(key.clone());
        }
        self.records.insert(key, record);
    }

    fn fed(&mut self, attempt: Option<&v1::AttemptRef>, piece: Piece) {
        let Some(record) = key_of(attempt).and_then(|key| self.records.get_mut(&key)) else { return };
        if record.is_running() || record.is_queued() {
            record.feed.put(piece);
        }
    }

    pub(super) fn withdraw(&mut self, key: &Key) {
        let Some(record) = self.records.get_mut(key) else {
            self.answer_for_unheld(key, handed_back(v1::HandBackReason::Unknown));
            return;
        };
        // If it was started, Started is the answer and has been given.
        if record.is_queued() {
            let at_ms = (self.config.wall_clock)();
            record.phase = Phase::HandedBack;
            record.report(at_ms, handed_back(v1::HandBackReason::Withdrawn), &mut self.outgoing);
            self.declined.add(key.clone(), record.last_sequence);
            self.queue.retain(|queued| queued != key);
        }
    }

    pub(super) fn cancel(&mut self, key: &Key, ask: v1::CancelAsk, reason: &str) {
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

    pub(super) fn acknowledged(&mut self, key: &Key, sequence: u64) {
        let Some(record) = self.records.get_mut(key) else { return };
        record.acknowledge(sequence);
        let at_ms = (self.config.wall_clock)();
        record.flush(at_ms, &mut self.outgoing);
        if record.is_told() {
            self.let_go(key);
        }
    }

    /// Drops what is over and acknowledged, and remembers that it ended here.
    pub(super) fn let_go_of_what_is_told(&mut self) {
        let told: Vec<Key> =
            self.records.values().filter(|record| record.is_told()).map(|record| record.key.clone()).collect();
        for key in told {
            self.let_go(&key);
        }
    }

    fn let_go(&mut self, key: &Key) {
        if let Some(record) = self.records.remove(key)
            && matches!(record.phase, Phase::Ended)
        {
            self.ended.add(key.clone(), record.last_sequence);
        }
    }

    pub(super) fn forget(&mut self, key: &Key, now: Instant) {
        self.lose_locks(|of| of == key);
        let Some(record) = self.records.get_mut(key) else { return };
        if record.is_running() {
            record.stop(failure::LEASE_LOST, CancelStage::Ask, now + ASK_TO_TERMINATE);
            self.stopping = true;
            return;
        }
        self.let_go(key);
        self.queue.retain(|queued| queued != key);
    }

    pub(super) fn answer_for_unheld(&mut self, key: &Key, what: What) {
        let at_ms = (self.config.wall_clock)();
        self.outgoing.say(v1::Report { attempt: Some(attempt_of(key)), sequence: 0, at_ms, what: Some(what) });
    }
}

pub(super) fn handed_back(reason: v1::HandBackReason) -> What {
    What::HandedBack(v1::HandedBack { reason: reason.into(), message: String::new() })
}

fn cancel_stage(reached: v1::CancelReached) -> What {
    What::CancelStage(v1::CancelStage { reached: reached.into() })
}
