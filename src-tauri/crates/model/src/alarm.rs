//! Alarms: what asks for a person's attention, and when two sightings are one alarm.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AlarmId, JobId, Timestamp, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    Info,
    Warning,
    Critical,
    Emergency,
}

impl Severity {
    pub const ALL: [Severity; 4] = [Severity::Info, Severity::Warning, Severity::Critical, Severity::Emergency];

    pub const fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
            Severity::Emergency => "emergency",
        }
    }

    pub fn named(name: &str) -> Option<Severity> {
        Self::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AlarmRule {
    LaneDepth,
    ReadyTimeout,
    PushTimeout,
    ExecutorLost,
    Overran,
    InstanceFailed,
    FiringMissed,
    SystemFailure,
    Storage,
    /// The data of a calendar in use ends soon.
    CalendarEnds,
    /// Of the tasks that wait, so many had to be moved up a lane.
    Promoted,
    /// Tasks wait in the first lane, with none above it.
    Starved,
    /// What nodes meet in does not answer.
    Coordination,
}

impl AlarmRule {
    pub const ALL: [AlarmRule; 13] = [
        AlarmRule::LaneDepth,
        AlarmRule::ReadyTimeout,
        AlarmRule::PushTimeout,
        AlarmRule::ExecutorLost,
        AlarmRule::Overran,
        AlarmRule::InstanceFailed,
        AlarmRule::FiringMissed,
        AlarmRule::SystemFailure,
        AlarmRule::Storage,
        AlarmRule::CalendarEnds,
        AlarmRule::Promoted,
        AlarmRule::Starved,
        AlarmRule::Coordination,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            AlarmRule::LaneDepth => "laneDepth",
            AlarmRule::ReadyTimeout => "readyTimeout",
            AlarmRule::PushTimeout => "pushTimeout",
            AlarmRule::ExecutorLost => "executorLost",
            AlarmRule::Overran => "overran",
            AlarmRule::InstanceFailed => "instanceFailed",
            AlarmRule::FiringMissed => "firingMissed",
            AlarmRule::SystemFailure => "systemFailure",
            AlarmRule::Storage => "storage",
            AlarmRule::CalendarEnds => "calendarEnds",
            AlarmRule::Promoted => "promoted",
            AlarmRule::Starved => "starved",
            AlarmRule::Coordination => "coordination",
        }
    }

    pub fn named(name: &str) -> Option<AlarmRule> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AlarmState {
    Firing,
    Acknowledged,
    Resolved,
}

impl AlarmState {
    pub const ALL: [AlarmState; 3] = [AlarmState::Firing, AlarmState::Acknowledged, AlarmState::Resolved];

    pub const fn name(self) -> &'static str {
        match self {
            AlarmState::Firing => "firing",
            AlarmState::Acknowledged => "acknowledged",
            AlarmState::Resolved => "resolved",
        }
    }

    pub fn named(name: &str) -> Option<AlarmState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledgement {
    pub by: String,
    pub at: Timestamp,
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    pub id: AlarmId,
    /// Grows by one with every write; a write names the one it has seen. 0: not written yet.
    pub fence: u64,
    pub rule: AlarmRule,
    pub severity: Severity,
    /// What it is about: `job:<name>`, `lane:<name>`, `executor:<name>`.
    pub subject: String,
    pub job: Option<JobId>,
    pub message: Words,
    pub state: AlarmState,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub count: u32,
    /// How many sightings there were in a row; three of some rules are critical.
    pub streak: u32,
    pub acknowledged: Option<Acknowledgement>,
    pub resolved_at: Option<Timestamp>,
}

/// One time that a rule saw something.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    pub rule: AlarmRule,
    pub severity: Severity,
    pub subject: String,
    pub job: Option<JobId>,
    pub message: Words,
    pub at: Timestamp,
}

/// A resolved alarm that is seen again within this time is the same one.
pub const REOPENS_WITHIN: Duration = Duration::from_secs(600);

impl Alarm {
    /// A new alarm, or `latest` counted up. The same rule on the same subject is one alarm.
    pub fn sighted(latest: Option<Alarm>, sighting: Sighting, new_id: AlarmId) -> Alarm {
        let reopened = latest.filter(|alarm| match alarm.resolved_at {
            None => true,
            Some(resolved_at) => sighting.at.since(resolved_at) <= REOPENS_WITHIN,
        });
        let Some(mut alarm) = reopened else {
            return Alarm {
                id: new_id,
                fence: 0,
                rule: sighting.rule,
                severity: sighting.severity,
                subject: sighting.subject,
                job: sighting.job,
                message: sighting.message,
                state: AlarmState::Firing,
                first_at: sighting.at,
                last_at: sighting.at,
                count: 1,
                streak: 1,
                acknowledged: None,
                resolved_at: None,
            };
        };
        if alarm.state == AlarmState::Resolved {
            alarm.state = AlarmState::Firing;
            alarm.acknowledged = None;
            alarm.resolved_at = None;
            alarm.streak = 0;
        }
        // What got worse must be seen again, even by whoever acknowledged the milder form.
        if sighting.severity > alarm.severity {
            alarm.state = AlarmState::Firing;
        }
        alarm.severity = alarm.severity.max(sighting.severity);
        alarm.message = sighting.message;
        alarm.last_at = alarm.last_at.max(sighting.at);
        alarm.count += 1;
        alarm.streak += 1;
        alarm
    }

    pub fn acknowledge(mut self, by: &str, note: &str, at: Timestamp) -> Alarm {
        self.state = AlarmState::Acknowledged;
        self.acknowledged = Some(Acknowledgement { by: by.to_owned(), at, note: note.to_owned() });
        self
    }

    pub fn resolve(mut self, at: Timestamp) -> Alarm {
        self.state = AlarmState::Resolved;
        self.resolved_at = Some(at);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(second: i64, severity: Severity) -> Sighting {
        Sighting {
            rule: AlarmRule::InstanceFailed,
            severity,
            subject: "job:report".to_owned(),
            job: None,
            message: Words::new("failed", "失败"),
            at: Timestamp::EPOCH.plus_seconds(second),
        }
    }

    fn id(n: u8) -> AlarmId {
        AlarmId::from_bytes([n; 16])
    }

    #[test]
    fn the_same_rule_on_the_same_subject_counts_up() {
        let first = Alarm::sighted(None, seen(0, Severity::Warning), id(1));
        let second = Alarm::sighted(Some(first), seen(30, Severity::Warning), id(2));
        assert_eq!((second.id, second.count, second.last_at.millis()), (id(1), 2, 30_000));
    }

    #[test]
    fn a_resolved_one_reopens_within_ten_minutes_and_is_new_after() {
        let resolved =
            Alarm::sighted(None, seen(0, Severity::Warning), id(1)).resolve(Timestamp::EPOCH.plus_seconds(60));
        let soon = Alarm::sighted(Some(resolved.clone()), seen(660, Severity::Warning), id(2));
        assert_eq!((soon.id, soon.state), (id(1), AlarmState::Firing));
        let late = Alarm::sighted(Some(resolved), seen(661, Severity::Warning), id(2));
        assert_eq!((late.id, late.count), (id(2), 1));
    }

    #[test]
    fn an_acknowledged_one_that_gets_worse_fires_again() {
        let calm =
            Alarm::sighted(None, seen(0, Severity::Warning), id(1)).acknowledge("mei", "on it", Timestamp::EPOCH);
        let same = Alarm::sighted(Some(calm.clone()), seen(1, Severity::Warning), id(2));
        assert_eq!(same.state, AlarmState::Acknowledged);
        let worse = Alarm::sighted(Some(calm), seen(1, Severity::Critical), id(2));
        assert_eq!(worse.state, AlarmState::Firing);
    }
}
