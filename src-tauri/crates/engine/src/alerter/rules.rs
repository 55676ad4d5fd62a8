//! Which incident is an alarm, and how bad. Pure.

use campanile_model::alarm::{Alarm, AlarmRule, Severity, Sighting};
use campanile_model::calendar::WorkingDays;
use campanile_model::task::{Incident, IncidentKind};
use campanile_model::{Lane, Timestamp, Words};
use campanile_store::LaneDepth;

/// Sightings in a row that make some rules critical.
const IN_A_ROW: u32 = 3;

/// What an incident is a sighting of; `job` is the job's name.
pub fn sighting(incident: &Incident, job: &str) -> Option<Sighting> {
    let executor = incident.executor.as_deref().unwrap_or("-");
    let cause = incident.failure.as_ref().map(|failure| failure.message.clone()).unwrap_or_default();
    let because = |en: String, zh: String| match cause.en.is_empty() {
        true => Words::new(en, zh),
        false => Words::new(format!("{en}: {}", cause.en), format!("{zh}：{}", cause.zh)),
    };
    let (rule, severity, message) = match incident.kind {
        IncidentKind::ReadyTimeout => (
            AlarmRule::ReadyTimeout,
            Severity::Warning,
            because(format!("a task of {job} found no executor"), format!("任务 {job} 没有可用的执行器")),
        ),
        IncidentKind::PushTimeout => (
            AlarmRule::PushTimeout,
            Severity::Warning,
            because(format!("a task of {job} was pushed and never started"), format!("任务 {job} 下发后未开始执行")),
        ),
        IncidentKind::ExecutorLost => (
            AlarmRule::ExecutorLost,
            Severity::Warning,
            Words::new(
                format!("executor {executor} was lost with a task of {job}"),
                format!("执行器 {executor} 失联，其上有任务 {job} 的作业"),
            ),
        ),
        IncidentKind::Overran => (
            AlarmRule::Overran,
            Severity::Warning,
            Words::new(format!("a task of {job} runs past its timeout"), format!("任务 {job} 的作业运行超时")),
        ),
        IncidentKind::SystemFailure => (
            AlarmRule::SystemFailure,
            Severity::Emergency,
            because(format!("{job} met a failure of its system"), format!("任务 {job} 遇到系统级故障")),
        ),
        IncidentKind::InstanceFailed => (
            AlarmRule::InstanceFailed,
            Severity::Warning,
            because(format!("{job} failed"), format!("任务 {job} 运行失败")),
        ),
        IncidentKind::FiringMissed => (
            AlarmRule::FiringMissed,
            Severity::Warning,
            Words::new(format!("{job} missed a firing"), format!("任务 {job} 错过了执行时间")),
        ),
        IncidentKind::InstanceSucceeded => return None,
    };
    Some(Sighting { rule, severity, subject: subject(job), job: Some(incident.job), message, at: incident.at })
}

pub fn subject(job: &str) -> String {
    format!("job:{job}")
}

/// The rules that a run which succeeds puts an end to.
pub const ENDED_BY_SUCCESS: [AlarmRule; 7] = [
    AlarmRule::ReadyTimeout,
    AlarmRule::PushTimeout,
    AlarmRule::ExecutorLost,
    AlarmRule::Overran,
    AlarmRule::SystemFailure,
    AlarmRule::InstanceFailed,
    AlarmRule::FiringMissed,
];

/// A third sighting of a job's in a row is critical. What is looked at time and again is as bad as it looks.
#[must_use]
pub fn judged(mut alarm: Alarm) -> Alarm {
    if alarm.job.is_some() && alarm.streak >= IN_A_ROW && alarm.severity < Severity::Critical {
        alarm.severity = Severity::Critical;
        alarm.state = campanile_model::alarm::AlarmState::Firing;
    }
    alarm
}

/// How deep a lane may be.
const DEEP: u64 = 1000;
const DEEP_IMMEDIATE: u64 = 100;

/// A lane that is too deep.
pub fn lane_sighting(depth: &LaneDepth, now: Timestamp) -> Option<Sighting> {
    let name = depth.lane.name();
    let severity = match depth.lane {
        Lane::Immediate if depth.depth > DEEP_IMMEDIATE => Severity::Emergency,
        _ if depth.depth > DEEP => Severity::Warning,
        _ => return None,
    };
    Some(Sighting {
        rule: AlarmRule::LaneDepth,
        severity,
        subject: lane_subject(depth.lane),
        job: None,
        message: Words::new(
            format!("{} tasks wait in lane {name}", depth.depth),
            format!("{} 通道中有 {} 个作业在等待", name, depth.depth),
        ),
        at: now,
    })
}

/// Of the tasks that wait, in percent, those that were moved up a lane.
const MANY_PROMOTED: u64 = 10;
const MOST_PROMOTED: u64 = 25;

/// A share of fewer tasks says nothing.
const FEWEST_TO_SHARE: u64 = 20;

/// Lanes as a whole.
pub const LANES: &str = "lane:all";

/// Lanes that move up too much of what waits in them.
pub fn promoted_sighting(depths: &[LaneDepth], now: Timestamp) -> Option<Sighting> {
    let waiting: u64 = depths.iter().map(|depth| depth.depth).sum();
    let promoted: u64 = depths.iter().map(|depth| depth.promoted).sum();
    if waiting < FEWEST_TO_SHARE {
        return None;
    }
    let share = promoted * 100 / waiting;
    let severity = match share {
        MOST_PROMOTED.. => Severity::Critical,
        MANY_PROMOTED.. => Severity::Warning,
        _ => return None,
    };
    Some(Sighting {
        rule: AlarmRule::Promoted,
        severity,
        subject: LANES.to_owned(),
        job: None,
        message: Words::new(
            format!("{promoted} of {waiting} waiting tasks ({share} %) had to be moved up a lane"),
            format!("{waiting} 个等待中的作业有 {promoted} 个（{share}%）因等待过久而上移通道"),
        ),
        at: now,
    })
}

const STARVED: u64 = 5;
const MANY_STARVED: u64 = 20;

/// The first lane with tasks that have been in it for too long, as the store calls them stale.
pub fn starved_sighting(depths: &[LaneDepth], now: Timestamp) -> Option<Sighting> {
    let first = depths.iter().find(|depth| depth.lane == Lane::Immediate)?;
    let starved = first.stale;
    let severity = match starved {
        MANY_STARVED.. => Severity::Critical,
        STARVED.. => Severity::Warning,
        _ => return None,
    };
    Some(Sighting {
        rule: AlarmRule::Starved,
        severity,
        subject: lane_subject(Lane::Immediate),
        job: None,
        message: Words::new(
            format!("{starved} tasks have waited in lane Immediate for more than 30 s, and no lane is above it"),
            format!("{starved} 个作业在 Immediate 通道等待超过 30 秒，已无更高通道"),
        ),
        at: now,
    })
}

/// So long before the data of a calendar ends.
const CALENDAR_ENDS_DAYS: i64 = 30;

const A_DAY_MS: i64 = 86_400_000;

/// A calendar whose data ends soon, or has ended.
pub fn calendar_sighting(days: &WorkingDays, now: Timestamp) -> Option<Sighting> {
    let ends = days.data_ends_from(now)?;
    let left = ends.day() - now.millis().div_euclid(A_DAY_MS);
    if left >= CALENDAR_ENDS_DAYS {
        return None;
    }
    let label = days.label();
    let message = match left < 0 {
        true => Words::new(
            format!("calendar {} has no data for this year", label.en),
            format!("日历“{}”没有今年的数据", label.zh),
        ),
        false => Words::new(
            format!("the data of calendar {} ends on {ends}", label.en),
            format!("日历“{}”的数据到 {ends} 为止", label.zh),
        ),
    };
    let (rule, severity, subject) = (AlarmRule::CalendarEnds, Severity::Warning, calendar_subject(days.name()));
    Some(Sighting { rule, severity, subject, job: None, message, at: now })
}

pub fn calendar_subject(calendar: &str) -> String {
    format!("calendar:{calendar}")
}

/// What nodes meet in.
pub const MEETING_PLACE: &str = "redis";

/// Nodes do not reach each other: all goes on from the database, only not as fast.
pub fn silence_sighting(now: Timestamp) -> Sighting {
    let message = Words::new(
        "Redis does not answer; work goes on from the database, a little slower",
        "Redis 无响应；作业继续由数据库调度，速度略慢",
    );
    let (rule, severity, subject) = (AlarmRule::Coordination, Severity::Warning, MEETING_PLACE.to_owned());
    Sighting { rule, severity, subject, job: None, message, at: now }
}

pub fn lane_subject(lane: Lane) -> String {
    format!("lane:{}", lane.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(lane: Lane, depth: u64, promoted: u64, stale: u64) -> LaneDepth {
        LaneDepth { lane, depth, oldest_ready_at: None, promoted, stale }
    }

    #[test]
    fn a_tenth_of_all_that_waits_moved_up_is_a_warning_and_a_quarter_critical() {
        // (in Normal, in Immediate, of them moved up) → how bad
        let table = [
            ((100, 0, 9), None),
            ((90, 10, 10), Some(Severity::Warning)),
            ((76, 24, 24), Some(Severity::Warning)),
            ((75, 25, 25), Some(Severity::Critical)),
            ((9, 10, 10), None), // too few to tell
            ((10, 10, 10), Some(Severity::Critical)),
        ];
        for ((normal, immediate, promoted), severity) in table {
            let depths = [depth(Lane::Immediate, immediate, promoted, 0), depth(Lane::Normal, normal, 0, 0)];
            let seen = promoted_sighting(&depths, Timestamp::EPOCH);
            assert_eq!(seen.map(|seen| seen.severity), severity, "{promoted} of {}", normal + immediate);
        }
    }

    #[test]
    fn five_that_wait_too_long_in_the_first_lane_are_starved_and_twenty_critically() {
        let table =
            [(4, None), (5, Some(Severity::Warning)), (19, Some(Severity::Warning)), (20, Some(Severity::Critical))];
        for (stale, severity) in table {
            let depths = [depth(Lane::Immediate, 50, 0, stale), depth(Lane::Low, 100, 0, 100)];
            let seen = starved_sighting(&depths, Timestamp::EPOCH);
            assert_eq!(seen.map(|seen| seen.severity), severity, "{stale}");
        }
    }

    #[test]
    fn only_what_happens_to_a_job_gets_worse_by_happening_again() {
        let id = campanile_model::AlarmId::from_bytes([1; 16]);
        let mut alarms = [None, Some(campanile_model::JobId::new(1, [1; 10]))].map(|job| {
            let seen =
                Sighting { job, ..lane_sighting(&depth(Lane::Low, 2000, 0, 0), Timestamp::EPOCH).expect("deep") };
            (0..3).fold(None, |alarm, _| Some(judged(Alarm::sighted(alarm, seen.clone(), id))))
        });
        let severities = alarms.each_mut().map(|alarm| alarm.as_ref().map(|alarm| alarm.severity));
        assert_eq!(severities, [Some(Severity::Warning), Some(Severity::Critical)]);
    }

    #[test]
    fn a_lane_is_too_deep_above_a_thousand_and_the_first_above_a_hundred() {
        let table = [
            (Lane::Normal, 1000, None),
            (Lane::Normal, 1001, Some(Severity::Warning)),
            (Lane::Immediate, 100, None),
            (Lane::Immediate, 101, Some(Severity::Emergency)),
        ];
        for (lane, depth, severity) in table {
            let seen = lane_sighting(
                &LaneDepth { lane, depth, oldest_ready_at: None, promoted: 0, stale: 0 },
                Timestamp::EPOCH,
            );
            assert_eq!(seen.map(|seen| seen.severity), severity, "{depth} in {lane:?}");
        }
    }
}
