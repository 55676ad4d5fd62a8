//! Times that others worked out: Quartz itself, cronsim and croniter, python-dateutil, Python's zoneinfo.
//!
//! The cases lie in `tests/vectors` beside the scripts that made them. Where we differ on purpose the
//! reason is here and in docs/differences.md.

use std::collections::BTreeMap;

use crate::schedule::{Cron, Dialect, DstGap, Plan, Repeat, RepeatLevel, Schedule, ScheduleError};
use crate::{Almanac, Timestamp};

const QUARTZ: &str = include_str!("../../../tests/vectors/quartz.txt");
const CRON: &str = include_str!("../../../tests/vectors/cron.txt");
const REPEAT: &str = include_str!("../../../tests/vectors/repeat.txt");
const ZONES: &str = include_str!("../../../tests/vectors/zones.txt");

fn base36(text: &str) -> i64 {
    i64::from_str_radix(text, 36).unwrap_or_else(|error| panic!("'{text}': {error}"))
}

fn second(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

/// Each time told as the seconds since the one before.
fn unrolled(from: i64, times: &str) -> Vec<i64> {
    let mut at = from;
    times
        .split_whitespace()
        .map(|step| {
            at += base36(step);
            at
        })
        .collect()
}

/// The next times, as many as were expected.
fn next(plan: &Plan, from: i64, n: usize) -> Vec<i64> {
    let mut after = second(from);
    let mut times = Vec::new();
    while times.len() < n
        && let Some(next) = plan.next_after(after)
    {
        times.push(next.millis() / 1000);
        after = next;
    }
    times
}

/// Walking back from the last time meets the same ones, and there are as many as were found.
fn check_backwards(plan: &Plan, from: i64, times: &[i64], case: &str) {
    let Some(last) = times.last() else { return };
    assert_eq!(plan.count_between(second(from + 1), second(last + 1)), times.len() as u64, "{case}");
    let mut before = second(last + 1);
    for time in times.iter().rev() {
        assert_eq!(plan.last_before(before), Some(second(*time)), "{case}, before {before}");
        before = second(*time);
    }
}

fn plan(cron: Cron) -> Result<Plan, ScheduleError> {
    Schedule::Cron(cron).plan(&Almanac::bundled(), second(0))
}

#[test]
fn quartz_expressions_come_when_quartz_says() {
    let almanac = Almanac::bundled();
    let (mut compared, mut refused) = (0, 0);
    for case in QUARTZ.lines() {
        let [expression, zone_name, from, times] = case.split('\t').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let cron = Cron { dialect: Some(Dialect::Quartz), ..Cron::unix(expression, zone_name) };
        if times == "!" {
            assert!(plan(cron).is_err(), "Quartz refuses {expression}");
            refused += 1;
            continue;
        }
        let from = base36(from);
        let expected = unrolled(from, times);
        let plan = match plan(cron) {
            Ok(plan) => plan,
            Err(ScheduleError::NeverFires { .. }) if expected.is_empty() => continue,
            Err(error) => panic!("{expression}: {error}"),
        };
        let zone = almanac.zone(zone_name).unwrap();
        // Quartz passes over what the clocks skip, and takes the second of two: near a change only the policy is right.
        let change_near = |at: i64| zone.offset_millis(second(at - 90_000)) != zone.offset_millis(second(at + 90_000));
        let mut from = from;
        for time in &expected {
            let found = next(&plan, from, 1);
            if change_near(*time) || found.first().is_some_and(|found| change_near(*found)) {
                break;
            }
            assert_eq!(found, [*time], "{expression} in {zone_name} after {}", second(from));
            check_backwards(&plan, from, &found, case);
            compared += 1;
            from = *time;
        }
    }
    assert!(compared > 15_000 && refused > 30, "{compared} compared, {refused} refused");
}

#[test]
fn crontab_expressions_come_when_cronsim_says_and_mostly_croniter() {
    let (mut compared, mut of_both) = (0, 0);
    for case in CRON.lines() {
        let [expression, zone, from, agree, times] = case.split('\t').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let from = base36(from);
        let expected = unrolled(from, times);
        // What the clocks skip, Debian's cron runs when the gap ends.
        let plan = match plan(Cron { dst_gap: DstGap::NextValid, ..Cron::unix(expression, zone) }) {
            Ok(plan) => plan,
            Err(ScheduleError::NeverFires { .. }) if expected.is_empty() => continue,
            Err(error) => panic!("{expression}: {error}"),
        };
        let found = next(&plan, from, expected.len());
        assert_eq!(found, expected, "{expression} in {zone} after {}", second(from));
        check_backwards(&plan, from, &found, case);
        compared += expected.len();
        of_both += if agree == "=" { expected.len() } else { 0 };
    }
    assert!(compared > 14_000 && of_both > compared * 8 / 10, "{compared} compared, {of_both} of them by both");
}

#[test]
fn recurrences_come_when_dateutil_says() {
    let mut compared = 0;
    for case in REPEAT.lines() {
        let [rule, start, times] = case.split('\t').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let [level, interval, days] = rule.split(' ').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let level = match level {
            "hour" => RepeatLevel::Hour,
            "day" => RepeatLevel::Day,
            "week" => RepeatLevel::Week,
            "month" => RepeatLevel::Month,
            "year" => RepeatLevel::Year,
            other => panic!("{other}"),
        };
        let start = base36(start);
        let mut repeat = Repeat::new(second(start), "UTC", level);
        repeat.repeat_interval = interval.parse().unwrap();
        if days != "-" {
            repeat.repeat_days = days.split(',').map(|day| day.parse().unwrap()).collect();
        }
        let counted = Repeat { count: Some(4), ..repeat.clone() };
        let expected = unrolled(start, times);
        let saved = second(start.min(0));
        let plan = Schedule::Repeat(repeat).plan(&Almanac::bundled(), saved).unwrap();
        assert_eq!(next(&plan, start - 1, 1), [start], "{case}: the first run is at the start");
        let found = next(&plan, start, expected.len());
        assert_eq!(found, expected, "{case}");
        check_backwards(&plan, start, &found, case);
        compared += found.len();
        if expected.len() > 3 {
            let plan = Schedule::Repeat(counted).plan(&Almanac::bundled(), saved).unwrap();
            assert_eq!(next(&plan, start, 10), expected[..3], "{case}, four in all");
        }
    }
    assert!(compared > 12_000, "{compared}");
}

#[test]
fn every_zone_changes_when_python_says() {
    // What the zones of a later version have otherwise than those of the version that the program carries.
    let known: BTreeMap<&str, [&str; 2]> = BTreeMap::from([("2026e", ["America/Havana", "Cuba"])]);
    let almanac = Almanac::bundled();
    let mut lines = ZONES.lines();
    let version = lines.next().unwrap();
    let excused = known.get(almanac.zones().version()).filter(|_| version == "2026f").copied().unwrap_or_default();
    let mut compared = 0;
    for line in lines {
        let [name, changes, digest] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if excused.contains(&name) {
            continue;
        }
        let zone = almanac.zone(name).unwrap_or_else(|_| panic!("{name} is not known"));
        let mut found = Vec::new();
        let mut stretch = zone.stretch(0);
        while stretch.end < 2_145_916_800_000 {
            let next = zone.stretch(stretch.end);
            if next.offset != stretch.offset {
                found.push(format!("{}:{}", next.start / 1000, next.offset / 1000));
            }
            stretch = next;
        }
        assert_eq!(found.len().to_string(), changes, "{name}: {found:?}");
        let hash = found.join(" ").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        assert_eq!(format!("{hash:016x}"), digest, "{name}: {found:?}");
        compared += 1;
    }
    assert!(compared > 590, "{compared}");
}
