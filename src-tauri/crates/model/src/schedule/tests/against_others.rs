//! Times judged by evaluators that share nothing with ours: another cron library in UTC, and a
//! walk over every minute and every wall-clock minute for nights on which the clocks change.

use std::collections::BTreeSet;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, ToSpan};
use proptest::prelude::*;

use crate::schedule::{Cron, DstGap, DstOverlap, Repeat, RepeatLevel, Schedule};
use crate::{Almanac, Timestamp};

fn field(first: u32, last: u32) -> impl Strategy<Value = String> {
    let one = first..=last;
    let range = (first..=last, first..=last).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b)));
    prop_oneof![
        3 => Just("*".to_owned()),
        2 => (2..=12u32).prop_map(|step| format!("*/{step}")),
        3 => one.clone().prop_map(|number| number.to_string()),
        2 => range.clone(),
        1 => (range, 2..=5u32).prop_map(|(range, step)| format!("{range}/{step}")),
        2 => prop::collection::vec(one, 2..5)
            .prop_map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
    ]
}

/// The day fields, where at least one is open or neither begins with a star: on steps such as
/// `*/2` beside a weekday the other library follows another tradition than Vixie's.
fn day_fields() -> impl Strategy<Value = (String, String)> {
    (field(1, 31), field(0, 6)).prop_filter("another tradition", |(days, weekdays)| {
        days == "*" || weekdays == "*" || !(days.starts_with('*') || weekdays.starts_with('*'))
    })
}

proptest! {
    #[test]
    fn in_utc_every_expression_comes_when_another_library_says(
        minutes in field(0, 59),
        hours in field(0, 23),
        (days, weekdays) in day_fields(),
        months in field(1, 12),
        from in 0i64..4_102_444_800,
    ) {
        let expression = format!("{minutes} {hours} {days} {months} {weekdays}");
        let start = Timestamp::from_millis(from * 1000);
        let ours = Schedule::Cron(Cron::unix(&expression, "UTC")).plan(&Almanac::bundled(), start);
        let theirs = croner::Cron::from_str(&expression).expect("generated to be right");
        let mut after = jiff::Timestamp::from_second(from).unwrap().to_zoned(TimeZone::UTC);
        let Ok(ours) = ours else {
            // We refuse what never comes; they find nothing.
            prop_assert!(theirs.find_next_occurrence(&after, false).is_err(), "{expression} is refused");
            return Ok(());
        };
        for _ in 0..6 {
            let next = theirs.find_next_occurrence(&after, false);
            let found = ours.next_after(Timestamp::from_millis(after.timestamp().as_millisecond()));
            let expected = next.as_ref().ok().map(|next| Timestamp::from_millis(next.timestamp().as_millisecond()));
            prop_assert_eq!(found, expected, "{} after {}", expression, after);
            match next {
                Ok(next) => after = next,
                Err(_) => break,
            }
        }
    }
}

/// The numbers that a field names, found by trying each.
fn named(field: &str, first: i64, last: i64) -> BTreeSet<i64> {
    let mut numbers = BTreeSet::new();
    for part in field.split(',') {
        let (body, step) = part.split_once('/').unwrap_or((part, "1"));
        let step: i64 = step.parse().unwrap();
        let (from, to) = match (body, body.split_once('-')) {
            ("*", _) => (first, last),
            (_, Some((from, to))) => (from.parse().unwrap(), to.parse().unwrap()),
            (one, None) => (one.parse().unwrap(), one.parse().unwrap()),
        };
        numbers.extend((from..=to).filter(|number| (number - from) % step == 0));
    }
    numbers
}

pub(super) struct Plain {
    minutes: BTreeSet<i64>,
    hours: BTreeSet<i64>,
    days: BTreeSet<i64>,
    weekdays: BTreeSet<i64>,
    either_day: bool,
    each_instant: bool,
}

impl Plain {
    pub(super) fn new(minutes: &str, hours: &str, days: &str, weekdays: &str) -> Plain {
        Plain {
            minutes: named(minutes, 0, 59),
            hours: named(hours, 0, 23),
            days: named(days, 1, 31),
            weekdays: named(weekdays, 0, 7),
            either_day: !days.starts_with('*') && !weekdays.starts_with('*'),
            each_instant: minutes.starts_with('*') || hours.starts_with('*'),
        }
    }

    fn shows(&self, wall: DateTime) -> bool {
        let day = self.days.contains(&i64::from(wall.day()));
        let weekday = self.weekdays.contains(&i64::from(wall.weekday().to_sunday_zero_offset()));
        let date = if self.either_day { day || weekday } else { day && weekday };
        date && self.hours.contains(&i64::from(wall.hour())) && self.minutes.contains(&i64::from(wall.minute()))
    }

    /// All instants from `from`, minute by minute, for `days` days.
    pub(super) fn instants(
        &self,
        zone: &TimeZone,
        from: jiff::Timestamp,
        days: i64,
        gap: DstGap,
        overlap: DstOverlap,
    ) -> BTreeSet<i64> {
        let until = from + (days * 24).hours();
        let mut instants = BTreeSet::new();
        if self.each_instant {
            let mut at = from;
            while at < until {
                if self.shows(zone.to_datetime(at)) {
                    instants.insert(at.as_millisecond());
                }
                at += 1.minute();
            }
            return instants;
        }
        let mut wall = zone.to_datetime(from) - 3.days();
        let end = zone.to_datetime(until) + 3.days();
        while wall < end {
            if self.shows(wall) {
                instants.extend(resolved(zone, wall, gap, overlap));
            }
            wall += 1.minute();
        }
        instants.retain(|at| (from.as_millisecond()..until.as_millisecond()).contains(at));
        instants
    }
}

/// What a wall-clock time comes to, by the other library's own account of the clock changes.
fn resolved(zone: &TimeZone, wall: DateTime, gap: DstGap, overlap: DstOverlap) -> Vec<i64> {
    let told = zone.to_ambiguous_timestamp(wall);
    let instants = match told.offset() {
        AmbiguousOffset::Unambiguous { .. } => vec![told.unambiguous().unwrap()],
        AmbiguousOffset::Fold { .. } => match overlap {
            DstOverlap::First => vec![told.earlier().unwrap()],
            DstOverlap::Second => vec![told.later().unwrap()],
            DstOverlap::Both => vec![told.earlier().unwrap(), told.later().unwrap()],
        },
        AmbiguousOffset::Gap { .. } => match gap {
            DstGap::Shift => vec![told.compatible().unwrap()],
            // The seam lies between the two readings of a time that it swallowed.
            DstGap::NextValid => vec![zone.following(told.earlier().unwrap()).next().unwrap().timestamp()],
            DstGap::Skip => vec![],
        },
    };
    instants.into_iter().map(jiff::Timestamp::as_millisecond).collect()
}

/// Nights on which the clocks do something, by the instant of the change.
const NIGHTS: [(&str, &str); 12] = [
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ("America/Santiago", "2026-09-06T04:00:00Z"),
    ("Africa/Casablanca", "2026-02-15T02:00:00Z"),
    ("Europe/Moscow", "2014-10-25T22:00:00Z"),
    ("Asia/Pyongyang", "2018-05-04T15:00:00Z"),
    ("Asia/Shanghai", "2026-01-01T00:00:00Z"),
];

fn gaps() -> impl Strategy<Value = DstGap> {
    prop_oneof![Just(DstGap::Shift), Just(DstGap::NextValid), Just(DstGap::Skip)]
}

fn overlaps() -> impl Strategy<Value = DstOverlap> {
    prop_oneof![Just(DstOverlap::First), Just(DstOverlap::Second), Just(DstOverlap::Both)]
}

/// Hours near the changes, so that most cases meet one.
fn hour_field() -> impl Strategy<Value = String> {
    prop_oneof![2 => field(0, 4), 1 => field(0, 23), 1 => Just("0-3".to_owned()), 1 => Just("23,0,1,2".to_owned())]
}

proptest! {
    #[test]
    fn over_a_clock_change_every_minute_is_accounted_for(
        night in 0..NIGHTS.len(),
        minutes in field(0, 59),
        hours in hour_field(),
        days in prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 31)],
        weekdays in prop_oneof![3 => Just("*".to_owned()), 1 => field(0, 6)],
        gap in gaps(),
        overlap in overlaps(),
    ) {
        let (zone_name, change) = NIGHTS[night];
        let expression = format!("{minutes} {hours} {days} * {weekdays}");
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(zone_name).unwrap();
        let from = change.parse::<jiff::Timestamp>().unwrap() - 36.hours();
        let expected = Plain::new(&minutes, &hours, &days, &weekdays).instants(&zone, from, 3, gap, overlap);

        let cron = Cron { dst_gap: gap, dst_overlap: overlap, ..Cron::unix(&expression, zone_name) };
        let start = Timestamp::from_millis(from.as_millisecond());
        let plan = Schedule::Cron(cron).plan(&Almanac::bundled(), start).expect("comes in some year");
        let until = start.plus_seconds(3 * 86_400);
        let mut found = BTreeSet::new();
        let mut after = start.plus_millis(-1);
        while let Some(next) = plan.next_after(after).filter(|next| *next < until) {
            prop_assert!(next > after, "{expression}: {next} after {after}");
            found.insert(next.millis());
            after = next;
        }
        prop_assert_eq!(found, expected, "{} in {} with {:?} {:?}", expression, zone_name, gap, overlap);
    }

    #[test]
    fn a_repeat_counts_dates_and_keeps_its_time_of_day(
        night in 0..NIGHTS.len(),
        level in prop_oneof![Just(RepeatLevel::Day), Just(RepeatLevel::Week), Just(RepeatLevel::Month), Just(RepeatLevel::Year)],
        interval in 1u32..5,
        days_before in 0i64..900,
        minute_of_day in 0i64..1440,
        days in prop::collection::vec(1i8..=7, 0..4),
        gap in gaps(),
        overlap in prop_oneof![Just(DstOverlap::First), Just(DstOverlap::Second)],
    ) {
        let (zone_name, change) = NIGHTS[night];
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(zone_name).unwrap();
        let change: jiff::Timestamp = change.parse().unwrap();
        let start_wall = (zone.to_datetime(change) - days_before.days()).date().to_datetime(jiff::civil::Time::midnight())
            + minute_of_day.minutes();
        let start = zone.to_ambiguous_timestamp(start_wall).compatible().unwrap();
        let start_wall = zone.to_datetime(start);
        let days = if matches!(level, RepeatLevel::Week | RepeatLevel::Month) { days } else { Vec::new() };

        // Each date from the start, one by one, judged by the calendar.
        let until = change + 48.hours();
        let mut expected = BTreeSet::from([start.as_millisecond()]);
        let mut date = start_wall.date();
        while date <= zone.to_datetime(until).date() {
            if date > start_wall.date() && falls_on(date, start_wall.date(), level, i64::from(interval), &days) {
                expected.extend(resolved(&zone, date.to_datetime(start_wall.time()), gap, overlap));
            }
            date += Span::new().days(1);
        }
        expected.retain(|at| *at >= start.as_millisecond() && *at < until.as_millisecond());

        let mut repeat = Repeat::new(Timestamp::from_millis(start.as_millisecond()), zone_name, level);
        repeat.repeat_interval = interval;
        repeat.repeat_days = days;
        repeat.dst_gap = gap;
        repeat.dst_overlap = overlap;
        let counted = Repeat { count: Some(u32::try_from(expected.len()).unwrap()), ..repeat.clone() };
        let saved = Timestamp::from_millis(start.as_millisecond());
        let plan = Schedule::Repeat(repeat).plan(&Almanac::bundled(), saved).unwrap();
        let counted = Schedule::Repeat(counted).plan(&Almanac::bundled(), saved).unwrap();
        let mut after = saved.plus_millis(-1);
        for at in &expected {
            let next = plan.next_after(after);
            prop_assert_eq!(next, Some(Timestamp::from_millis(*at)));
            prop_assert_eq!(counted.next_after(after), next);
            after = Timestamp::from_millis(*at);
        }
        prop_assert!(plan.next_after(after).is_none_or(|next| next.millis() >= until.as_millisecond()));
        prop_assert_eq!(counted.next_after(after), None);
    }
}

fn falls_on(date: jiff::civil::Date, start: jiff::civil::Date, level: RepeatLevel, interval: i64, days: &[i8]) -> bool {
    let days_between = |from: jiff::civil::Date, to: jiff::civil::Date| i64::from((to - from).get_days());
    let monday = |date: jiff::civil::Date| date - Span::new().days(date.weekday().to_monday_zero_offset());
    match level {
        RepeatLevel::Day => days_between(start, date) % interval == 0,
        RepeatLevel::Week => {
            let named = match days.is_empty() {
                true => date.weekday() == start.weekday(),
                false => days.contains(&date.weekday().to_monday_one_offset()),
            };
            named && days_between(monday(start), monday(date)) / 7 % interval == 0
        }
        RepeatLevel::Month => {
            let months = |date: jiff::civil::Date| i64::from(date.year()) * 12 + i64::from(date.month());
            let named = if days.is_empty() { date.day() == start.day() } else { days.contains(&date.day()) };
            named && (months(date) - months(start)) % interval == 0
        }
        RepeatLevel::Year => {
            (date.month(), date.day()) == (start.month(), start.day())
                && i64::from(date.year() - start.year()) % interval == 0
        }
        RepeatLevel::Hour | RepeatLevel::Workday => unreachable!("not asked here"),
    }
}
