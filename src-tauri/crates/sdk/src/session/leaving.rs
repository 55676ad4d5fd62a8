//! Going in good order: what waits is handed back, what runs gets its time, what is said is heard.

use std::time::Duration;

use campanile_proto::v1;
use tokio::time::Instant;

use super::Session;
use super::orders::handed_back;
use super::record::Phase;
use crate::{CancelStage, executor::Left, failure};

/// At shutdown: from TERM to KILL, from KILL to giving up, and how long the last
/// acknowledgements are waited for.
const LEAVE_STEP: Duration = Duration::from_secs(5);

pub(super) struct Leaving {
    pub(super) finish_by: Instant,
    pub(super) stopped: bool,
    pub(super) kill_at: Option<Instant>,
    pub(super) give_up: Instant,
    /// Set once nothing runs.
    pub(super) report_by: Option<Instant>,
    pub(super) said_goodbye: bool,
}

impl Session {
    pub(super) fn leave(&mut self, now: Instant, limit: Duration) {
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

    pub(super) fn hand_back_queue(&mut self, reason: v1::HandBackReason) {
        let at_ms = (self.config.wall_clock)();
        for key in std::mem::take(&mut self.queue) {
            if let Some(record) = self.records.get_mut(&key) {
                record.phase = Phase::HandedBack;
                record.report(at_ms, handed_back(reason), &mut self.outgoing);
                self.declined.add(key, record.last_sequence);
            }
        }
    }

    pub(super) fn go_on_leaving(&mut self, now: Instant) {
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
                self.stopping = true;
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
    pub(super) fn may_leave(&mut self, now: Instant) -> Option<Left> {
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
