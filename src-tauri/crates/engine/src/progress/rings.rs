//! Which officers are rung for what was reported. Pure.

use std::time::Duration;

use campanile_coord::Bell;
use campanile_model::Timestamp;
use campanile_model::task::{IncidentKind, Part, Step};

use crate::monitor;

/// Between two rings for shards.
const RING_EVERY: Duration = Duration::from_millis(20);

/// Whom a batch of reports concerns. Most only say that something began, and who is not concerned is let be: a pass for
/// nothing costs as much as the report.
#[derive(Default)]
pub(super) struct Concerned {
    /// A slot is free again.
    dispatcher: bool,
    monitor: bool,
    /// The end of a task may be the end of its instance, and another's turn.
    pub assigner: bool,
    /// The end of a shard may be that of its level, and of items that are done somebody may want to be told: for the
    /// assigner as well, but not for each.
    pub runs: bool,
    /// A job may wait for this end.
    launcher: bool,
    /// What went well may be read whenever there is time.
    alerter: bool,
}

impl Concerned {
    pub fn add(&mut self, step: &Step, now: Timestamp) {
        let task = step.task();
        self.dispatcher |= step.before().is_held() && !task.state().is_held();
        self.monitor |= monitor::is_pressing(task, now);
        let is_shard = matches!(task.part, Some(Part::Shard { .. }));
        self.assigner |= task.state().is_final() && !is_shard;
        self.runs |= is_shard && (task.state().is_final() || step.done() > 0);
        self.launcher |= step.instance().is_some_and(|change| change.to.is_final());
        self.alerter |= step.incidents().iter().any(|incident| incident.kind != IncidentKind::InstanceSucceeded);
    }

    pub fn bells(self) -> impl Iterator<Item = Bell> {
        let Concerned { dispatcher, monitor, assigner, launcher, alerter, .. } = self;
        let bells = [
            (dispatcher, Bell::Dispatcher),
            (monitor, Bell::Monitor),
            (assigner, Bell::Assigner),
            (launcher, Bell::Launcher),
            (alerter, Bell::Alerter),
        ];
        bells.into_iter().filter(|(concerned, _)| *concerned).map(|(_, bell)| bell)
    }
}

/// When the assigner was last rung for shards. They end by the thousand, and a pass looks at whole runs: so it is rung at
/// once where there was peace before, and else after a while for all of them together.
#[derive(Default)]
pub(super) struct Seldom {
    rung_at: Option<Timestamp>,
    owes: bool,
}

impl Seldom {
    /// Whether to ring now for what has just come; else it is owed.
    pub fn is_time(&mut self, now: Timestamp) -> bool {
        // A clock that was set back says nothing of how long ago it was.
        let is_time = self.rung_at.is_none_or(|at| at > now || now.since(at) >= RING_EVERY);
        if is_time {
            self.rings(now);
        } else {
            self.owes = true;
        }
        is_time
    }

    pub fn owed(&self) -> Option<Timestamp> {
        self.rung_at.filter(|_| self.owes).map(|at| at + RING_EVERY)
    }

    pub fn rings(&mut self, now: Timestamp) {
        *self = Seldom { rung_at: Some(now), owes: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_ring_at_once_after_peace_and_else_together() {
        let at = Timestamp::from_millis;
        let mut seldom = Seldom::default();
        assert!(seldom.is_time(at(1000)));
        assert_eq!(seldom.owed(), None);
        assert!(!seldom.is_time(at(1001)) && !seldom.is_time(at(1019)));
        assert_eq!(seldom.owed(), Some(at(1020)));
        seldom.rings(at(1020));
        assert_eq!(seldom.owed(), None);
        assert!(seldom.is_time(at(1040)));
        // The clock was set back.
        assert!(seldom.is_time(at(10)));
        assert!(!seldom.is_time(at(11)));
    }
}
