//! An attempt that the executor has, or of which it still has something to report.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use campanile_proto::v1::{self, report::What};
use tokio::time::Instant;

use super::feed::Feed;
use super::{Key, attempt_of};
use crate::{
    CancelStage,
    context::Ending,
    failure,
    outbox::{Outbox, weight},
    secrets::Mask,
};

/// Log text of one attempt that may be under way without an Ack.
pub(super) const MAX_LOG_UNDER_WAY: usize = 1024 * 1024;

/// Log text in one report.
const MAX_LOG_IN_REPORT: usize = 256 * 1024;

/// Attempts that are remembered after they are gone, so that a late push of one is not run.
const MOST_REMEMBERED: usize = 10_000;

const TERMINATE_TO_KILL: Duration = Duration::from_secs(10);

/// What is to be sent, in order. Only what is kept elsewhere, too, may be lost
/// with it.
#[derive(Default)]
pub(super) struct Outgoing {
    pub(super) up: bool,
    pub(super) waiting: VecDeque<v1::FromExecutor>,
}

impl Outgoing {
    /// Without a link there is nobody to say it to.
    pub(super) fn say(&mut self, message: impl Into<v1::FromExecutor>) {
        if self.up {
            self.waiting.push_back(message.into());
        }
    }
}

pub(super) enum Phase {
    Queued(Box<v1::Push>),
    Running,
    Ended,
    HandedBack,
}

/// An attempt that the executor has, or of which it still has something to report.
pub(super) struct Record {
    pub(super) key: Key,
    pub(super) phase: Phase,
    pub(super) last_sequence: u64,
    pub(super) accepted: u64,
    pub(super) unacknowledged: BTreeMap<u64, v1::Report>,
    pub(super) log_under_way: usize,
    pub(super) last_progress: Option<v1::Progress>,
    pub(super) outbox: Arc<Outbox>,
    /// What follows its push.
    pub(super) feed: Feed,
    /// What nothing that is reported may say.
    pub(super) mask: Mask,
    pub(super) ending: Arc<Ending>,
    pub(super) stop_without_lease: bool,
    pub(super) stopping: Option<Stopping>,
}

/// An end that the executor itself wants, at its own pace.
pub(super) struct Stopping {
    pub(super) why: failure::FailureCode,
    pub(super) next: Option<Instant>,
}

impl Record {
    pub(super) fn report(&mut self, at_ms: i64, what: What, outgoing: &mut Outgoing) {
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

    pub(super) fn acknowledge(&mut self, sequence: u64) {
        match self.unacknowledged.remove(&sequence).and_then(|report| report.what) {
            Some(What::LogLines(lines)) => self.log_under_way -= weight(&lines),
            Some(What::NewData(piece)) => self.outbox.data_arrived(&piece),
            _ => {}
        }
    }

    /// Moves what the processor said into reports. Without a link it stays where
    /// its size is bounded, unless the attempt is over.
    pub(super) fn flush(&mut self, at_ms: i64, outgoing: &mut Outgoing) {
        let over = matches!(self.phase, Phase::Ended);
        if !outgoing.up && !over {
            return;
        }
        self.outbox.looked();
        while let Some(items) = self.outbox.take_items() {
            self.report(at_ms, What::Items(items), outgoing);
        }
        while let Some(piece) = self.outbox.take_data() {
            self.report(at_ms, What::NewData(piece), outgoing);
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

    pub(super) fn send_again(&mut self, at_ms: i64, outgoing: &mut Outgoing) {
        for report in self.unacknowledged.values() {
            outgoing.say(report.clone());
        }
        if matches!(self.phase, Phase::Running)
            && let Some(progress) = self.last_progress.clone()
        {
            self.report(at_ms, What::Progress(progress), outgoing);
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    pub(super) fn is_queued(&self) -> bool {
        matches!(self.phase, Phase::Queued(_))
    }

    /// It is over here, and the node has heard all of it.
    pub(super) fn is_told(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::HandedBack) && self.unacknowledged.is_empty()
    }

    /// Begins an end of the executor's own making; a second reason changes nothing.
    pub(super) fn stop(&mut self, why: failure::FailureCode, from: CancelStage, next: Instant) {
        match &mut self.stopping {
            Some(stopping) => drop(stopping.next.get_or_insert(next)),
            None => self.stopping = Some(Stopping { why, next: Some(next) }),
        }
        self.ending.reach(from);
    }

    /// Tells the processor to end, and leaves it the time to.
    pub(super) fn ask_to_end(&mut self, why: failure::FailureCode) {
        if self.stopping.is_none() {
            self.stopping = Some(Stopping { why, next: None });
        }
        self.ending.reach(CancelStage::Ask);
    }

    pub(super) fn go_on_stopping(&mut self, now: Instant) {
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

/// The last attempts of which something is over, and the last number that a report of each had.
#[derive(Default)]
pub(super) struct Remembered {
    order: VecDeque<Key>,
    known: HashMap<Key, u64>,
}

impl Remembered {
    pub(super) fn add(&mut self, key: Key, last_sequence: u64) {
        if self.known.insert(key.clone(), last_sequence).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MOST_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn last_sequence(&self, key: &Key) -> Option<u64> {
        self.known.get(key).copied()
    }

    pub(super) fn clear(&mut self) {
        *self = Remembered::default();
    }
}
