//! Days on which nobody works: the policies as tables, and against a walk that tries every planned time.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{ToSpan, civil};
use proptest::prelude::*;

use super::{at, schedule};
use crate::calendar::{Calendar, Date, DayKind, Layer, MarkedDay, Standing, Uncovered, WorkingDays};
use crate::instance::OmissionReason;
use crate::schedule::{
    CompiledTiming, Exception, Grid, OnNonWorkday, Repeat, RepeatLevel, Schedule, Timing, Zones, preview,
};
use crate::{Almanac, Timestamp};

const DAILY: &str = "{kind: cron, expression: '0 9 * * *', timeZone: Asia/Shanghai}";

fn timing(document: &str, calendar: Option<&str>, policy: OnNonWorkday, saved: &str) -> Timing {
    Timing {
        calendar: calendar.map(str::to_owned),
        on_non_workday: policy,
        ..Timing::plain(schedule(document), at(saved))
    }
}

/// The next runs, `2026-10-08 09:00 < 2026-10-01` where it was moved.
fn runs(timing: &Timing, almanac: &Almanac, from: &str, n: usize) -> Vec<String> {
    let compiled = timing.compile(almanac).unwrap_or_else(|error| panic!("{error}"));
    let zone = compiled.plan().zone().cloned().unwrap_or_else(|| almanac.zone("Asia/Shanghai").expect("a zone"));
    let short = |moment: Timestamp| zone.rfc3339(moment)[..16].replace('T', " ");
    compiled
        .due_between(at(from).plus_millis(-1), Timestamp::MAX, n)
        .into_iter()
        .map(|run| match run.due == run.planned {
            true => short(run.due),
            false => format!("{} < {}", short(run.due), &short(run.planned)[..10]),
        })
        .collect()
}

fn check(policy: OnNonWorkday, from: &str, expected: &[&str]) {
    let timing = timing(DAILY, None, policy, "2026-01-01T00:00:00+08:00");
    assert_eq!(runs(&timing, &Almanac::bundled(), from, expected.len()), expected, "{policy:?}");
}

#[test]
fn national_day_of_2026_by_each_policy() {
    // Thu 1 to Wed 7 October are off, Sat 10 October is worked.
    let from = "2026-09-30T00:00:00+08:00";
    check(OnNonWorkday::Run, from, &["2026-09-30 09:00", "2026-10-01 09:00", "2026-10-02 09:00"]);
    check(
        OnNonWorkday::Skip,
        from,
        &["2026-09-30 09:00", "2026-10-08 09:00", "2026-10-09 09:00", "2026-10-10 09:00", "2026-10-12 09:00"],
    );
    // Those of the seven days come to one moment with that of the 8th, which was not moved.
    check(OnNonWorkday::NextWorkday, from, &["2026-09-30 09:00", "2026-10-08 09:00", "2026-10-09 09:00"]);
    check(OnNonWorkday::PreviousWorkday, from, &["2026-09-30 09:00", "2026-10-08 09:00", "2026-10-09 09:00"]);
}

#[test]
fn a_moved_run_keeps_its_time_of_day_and_says_from_where() {
    let monthly =
        "{startTime: 2026-01-03T18:30:00+08:00, timeZone: Asia/Shanghai, repeatLevel: month, repeatDays: [3]}";
    let saved = "2026-01-01T00:00:00+08:00";
    let almanac = Almanac::bundled();
    let next = timing(monthly, Some("cn"), OnNonWorkday::NextWorkday, saved);
    let from = "2026-09-01T00:00:00+08:00";
    assert_eq!(runs(&next, &almanac, from, 2), ["2026-09-03 18:30", "2026-10-08 18:30 < 2026-10-03"]);
    let previous = timing(monthly, Some("cn"), OnNonWorkday::PreviousWorkday, saved);
    assert_eq!(runs(&previous, &almanac, from, 2), ["2026-09-03 18:30", "2026-09-30 18:30 < 2026-10-03"]);

    let shown = preview(&next, &almanac, at("2026-09-04T00:00:00+08:00"), 1).expect("times");
    let reason = shown.runs[0].reason.clone().expect("a reason");
    assert_eq!(reason.en, "moved from Sat 3 Oct: National Day");
    assert_eq!(reason.zh, "由10月3日周六移来：国庆节");
    assert!(shown.words.en.ends_with("on days off moved to the next working day (China)"), "{}", shown.words.en);
}

#[test]
fn what_does_not_come_is_told_with_its_reason() {
    let left = |policy| -> Vec<(String, OmissionReason, String)> {
        let timing = timing(DAILY, None, policy, "2026-01-01T00:00:00+08:00");
        let compiled = timing.compile(&Almanac::bundled()).expect("times");
        let zone = compiled.plan().zone().expect("a zone");
        compiled
            .skipped_between(at("2026-09-30T12:00:00+08:00"), at("2026-10-11T12:00:00+08:00"), 100)
            .into_iter()
            .map(|left| (zone.rfc3339(left.planned)[..10].to_owned(), left.cause, left.reason.en))
            .collect()
    };
    let skipped = left(OnNonWorkday::Skip);
    assert_eq!(skipped.len(), 8, "{skipped:?}");
    assert_eq!(skipped[2], ("2026-10-03".to_owned(), OmissionReason::NonWorkday, "Sat 3 Oct: National Day".to_owned()));
    assert_eq!(skipped[7].2, "Sun 11 Oct: weekend");
    let merged = left(OnNonWorkday::NextWorkday);
    assert_eq!(merged.len(), 7);
    assert!(merged.iter().all(|(_, cause, _)| *cause == OmissionReason::Merged));
    assert_eq!(left(OnNonWorkday::Run), []);
}

#[test]
fn of_several_that_come_to_one_moment_the_unmoved_else_the_earliest_is_left() {
    let weekend = "{kind: cron, expression: '0 9 * * 6,0', timeZone: Europe/Berlin}";
    let almanac = Almanac::bundled();
    let next = timing(weekend, None, OnNonWorkday::NextWorkday, "2026-11-01T00:00:00Z");
    assert_eq!(
        runs(&next, &almanac, "2026-11-10T00:00:00Z", 2),
        ["2026-11-16 09:00 < 2026-11-14", "2026-11-23 09:00 < 2026-11-21"]
    );
    let previous = timing(weekend, None, OnNonWorkday::PreviousWorkday, "2026-11-01T00:00:00Z");
    assert_eq!(runs(&previous, &almanac, "2026-11-10T00:00:00Z", 1), ["2026-11-13 09:00 < 2026-11-14"]);
}

#[test]
fn what_a_hand_has_moved_or_added_stays_where_it_was_put() {
    let saturday = at("2026-11-14T09:00:00+01:00");
    let mut timing = timing(
        "{kind: cron, expression: '0 9 * * *', timeZone: Europe/Berlin}",
        None,
        OnNonWorkday::NextWorkday,
        "2026-11-01T00:00:00Z",
    );
    timing.exceptions = vec![
        Exception::MoveTo { planned: at("2026-11-12T09:00:00+01:00"), at: saturday.plus_seconds(3600) },
        Exception::Added { at: saturday.plus_seconds(7200) },
        Exception::Skip { planned: at("2026-11-16T09:00:00+01:00") },
    ];
    assert_eq!(
        runs(&timing, &Almanac::bundled(), "2026-11-12T00:00:00Z", 5),
        [
            "2026-11-13 09:00",
            "2026-11-14 10:00 < 2026-11-12",
            "2026-11-14 11:00",
            // Monday's own was taken out, so that of Saturday has the moment to itself.
            "2026-11-16 09:00 < 2026-11-14",
            "2026-11-17 09:00",
        ]
    );
}

#[test]
fn it_holds_by_its_own_time_and_is_moved_after() {
    // Effective from and until look at Saturday the 14th, wherever its run comes to be.
    let mut timing = timing(
        "{kind: cron, expression: '0 9 * * 6', timeZone: Europe/Berlin}",
        None,
        OnNonWorkday::NextWorkday,
        "2026-11-01T00:00:00Z",
    );
    timing.effective_from = Some(at("2026-11-13T00:00:00Z"));
    timing.effective_until = Some(at("2026-11-15T00:00:00Z"));
    assert_eq!(runs(&timing, &Almanac::bundled(), "2026-11-01T00:00:00Z", 9), ["2026-11-16 09:00 < 2026-11-14"]);
    timing.spread_seconds = 0;
    timing.on_non_workday = OnNonWorkday::PreviousWorkday;
    assert_eq!(runs(&timing, &Almanac::bundled(), "2026-11-01T00:00:00Z", 9), ["2026-11-13 09:00 < 2026-11-14"]);
}

#[test]
fn what_was_moved_to_a_day_that_has_passed_is_found() {
    // Saved on Saturday noon: Sunday's run belongs to Friday, which is over.
    let saved = "2026-11-14T12:00:00+01:00";
    let timing = timing(
        "{kind: cron, expression: '0 9 * * *', timeZone: Europe/Berlin}",
        None,
        OnNonWorkday::PreviousWorkday,
        saved,
    );
    let compiled = timing.compile(&Almanac::bundled()).expect("times");
    let behind = compiled.moved_behind(at(saved));
    let told: Vec<_> = behind.iter().map(|run| (run.planned, run.due)).collect();
    assert_eq!(told, [(at("2026-11-15T09:00:00+01:00"), at("2026-11-13T09:00:00+01:00"))]);
    assert_eq!(compiled.moved_behind(at("2026-11-16T12:00:00+01:00")), []);
    assert_eq!(compiled.due_of(at("2026-11-15T09:00:00+01:00")), Some(at("2026-11-13T09:00:00+01:00")));
}

#[test]
fn an_uncovered_year_warns_on_each_run_or_holds_them() {
    let almanac = Almanac::bundled();
    let weekly = timing(DAILY, Some("cn"), OnNonWorkday::Skip, "2026-01-01T00:00:00+08:00");
    let shown = preview(&weekly, &almanac, at("2026-12-31T00:00:00+08:00"), 2).expect("times");
    assert_eq!(shown.runs[0].reason, None);
    assert_eq!(shown.runs[1].local, "2027-01-01T09:00:00+08:00", "a Friday, for all that is known");
    let reason = shown.runs[1].reason.clone().expect("a warning");
    assert_eq!(reason.en, "calendar China has no data for 2027: its week was taken to hold");

    let mut waiting = Calendar::new("waiting");
    waiting.base = Some("cn".to_owned());
    waiting.uncovered = Some(Uncovered::Hold);
    let almanac = almanac.with_calendar(waiting);
    let held = timing(DAILY, Some("waiting"), OnNonWorkday::NextWorkday, "2026-01-01T00:00:00+08:00");
    assert_eq!(runs(&held, &almanac, "2026-12-30T00:00:00+08:00", 9), ["2026-12-30 09:00", "2026-12-31 09:00"]);
    let shown = preview(&held, &almanac, at("2026-12-30T00:00:00+08:00"), 5).expect("times");
    assert!(shown.warnings.iter().any(|warning| warning.en.contains("has data up to 2026")), "{:?}", shown.warnings);
    let compiled = held.compile(&almanac).expect("times");
    let left = compiled.skipped_between(at("2027-01-01T00:00:00+08:00"), at("2027-01-03T00:00:00+08:00"), 9);
    assert!(left.iter().all(|left| left.cause == OmissionReason::NoCalendarData) && left.len() == 2, "{left:?}");
}

#[test]
fn working_days_are_counted_by_the_jobs_calendar_else_the_workspaces() {
    let document = |zone: &str, interval: u32| {
        format!(
            "{{startTime: '2026-09-30T09:00:00+08:00', timeZone: {zone}, repeatLevel: workday, repeatInterval: {interval}}}"
        )
    };
    let almanac = Almanac::bundled();
    let check = |document: &str, calendar: Option<&str>, expected: &[&str]| {
        let timing = timing(document, calendar, OnNonWorkday::Run, "2026-09-01T00:00:00+08:00");
        assert_eq!(runs(&timing, &almanac, "2026-09-01T00:00:00+08:00", expected.len()), expected, "{document}");
    };
    let shanghai = document("Asia/Shanghai", 1);
    let by_china = ["2026-09-30 09:00", "2026-10-08 09:00", "2026-10-09 09:00", "2026-10-10 09:00", "2026-10-12 09:00"];
    check(&shanghai, None, &by_china);
    check(&shanghai, Some("cn"), &by_china);
    check(&shanghai, Some("weekdays"), &["2026-09-30 09:00", "2026-10-01 09:00", "2026-10-02 09:00"]);
    check(&document("Asia/Singapore", 1), None, &["2026-09-30 09:00", "2026-10-01 09:00", "2026-10-02 09:00"]);
    check(&document("Asia/Singapore", 1), Some("cn"), &by_china);
    check(&document("Asia/Shanghai", 2), None, &["2026-09-30 09:00", "2026-10-09 09:00", "2026-10-12 09:00"]);

    // A start on a day off moves to the next working day at the same time of day.
    let holiday = "{startTime: '2026-10-02T09:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: workday}";
    check(holiday, None, &["2026-10-08 09:00", "2026-10-09 09:00"]);
    assert_eq!(schedule(&shanghai).words(&almanac).en, "every working day (China) at 09:00 (Asia/Shanghai)");
    let elsewhere = schedule(&document("Asia/Singapore", 1)).words(&almanac);
    assert_eq!(elsewhere.zh, "每个工作日（周一至周五）09:00（Asia/Singapore）");
}

#[test]
fn what_cannot_be_is_refused_by_field() {
    let almanac = Almanac::bundled();
    let refused = |document: &str, calendar: Option<&str>, policy| {
        let timing = timing(document, calendar, policy, "2026-01-01T00:00:00Z");
        timing.compile(&almanac).map(|_| ()).expect_err("it was accepted").at().to_owned()
    };
    assert_eq!(refused(DAILY, Some("nobody"), OnNonWorkday::Run), "calendar");
    assert_eq!(refused(DAILY, Some("nobody"), OnNonWorkday::Skip), "calendar");
    let delay = "{kind: fixedDelay, everySeconds: 60}";
    assert_eq!(refused(delay, None, OnNonWorkday::Skip), "onNonWorkday");
    assert_eq!(refused(delay, None, OnNonWorkday::PreviousWorkday), "onNonWorkday");
    // Never: a Saturday on which nobody works, for ever.
    let saturdays = timing(
        "{kind: cron, expression: '0 9 * * 6', timeZone: UTC}",
        None,
        OnNonWorkday::Skip,
        "2026-01-01T00:00:00Z",
    );
    assert_eq!(saturdays.compile(&almanac).expect("it can be read").next_due(at("2026-01-01T00:00:00Z")), None);
}

#[test]
fn a_fixed_delay_waits_for_the_next_working_day() {
    let delay = timing(
        "{kind: fixedDelay, everySeconds: 3600}",
        Some("cn"),
        OnNonWorkday::NextWorkday,
        "2026-09-30T09:00:00+08:00",
    );
    let compiled = delay.compile(&Almanac::bundled()).expect("times");
    // In the zone of the calendar: in UTC it would still be the 30th.
    let next = compiled.after_final(at("2026-09-30T23:30:00+08:00")).expect("one follows");
    assert_eq!(next.due, at("2026-10-08T00:30:00+08:00"));
    assert_eq!(next.planned, at("2026-10-01T00:30:00+08:00"));
}

/// Slow and plain: places every planned time by itself.
struct ByHand<'a> {
    days: &'a WorkingDays,
    zone: TimeZone,
    policy: OnNonWorkday,
}

#[derive(Debug, PartialEq)]
struct Walked {
    due: Vec<(Timestamp, Timestamp)>,
    left: Vec<(Timestamp, Timestamp)>,
}

impl ByHand<'_> {
    fn standing(&self, date: civil::Date) -> Standing {
        self.days.standing_of(Date::new(date.year().into(), date.month() as u32, date.day() as u32).expect("a date"))
    }

    fn placed(&self, planned: Timestamp) -> Option<Timestamp> {
        let local = self.zone.to_datetime(jiff::Timestamp::from_millisecond(planned.millis()).expect("an instant"));
        let step = match (self.standing(local.date()), self.policy) {
            (Standing::Working, _) => return Some(planned),
            (Standing::Off, OnNonWorkday::NextWorkday) => 1,
            (Standing::Off, OnNonWorkday::PreviousWorkday) => -1,
            _ => return None,
        };
        for distance in 1..=31 {
            let date = local.date().checked_add((step * distance).days()).expect("a date");
            match self.standing(date) {
                Standing::Working => {
                    let there = self.zone.to_zoned(date.to_datetime(local.time())).expect("an instant");
                    return Some(Timestamp::from_millis(there.timestamp().as_millisecond()));
                }
                Standing::Off => {}
                Standing::Unknown => return None,
            }
        }
        None
    }

    fn walk(&self, planned: &[Timestamp], after: Timestamp, until: Timestamp) -> Walked {
        let mut moments: BTreeMap<Timestamp, Vec<(bool, Timestamp)>> = BTreeMap::new();
        let mut left = Vec::new();
        for one in planned {
            match self.placed(*one) {
                Some(due) => moments.entry(due).or_default().push((due != *one, *one)),
                None => left.push((*one, *one)),
            }
        }
        let mut due = Vec::new();
        for (moment, mut those) in moments {
            those.sort_unstable();
            due.push((moment, those[0].1));
            left.extend(those[1..].iter().map(|(_, planned)| (moment, *planned)));
        }
        let within = |(at, _): &(Timestamp, Timestamp)| *at > after && *at <= until;
        left.sort_unstable();
        Walked { due: due.into_iter().filter(within).collect(), left: left.into_iter().filter(within).collect() }
    }
}

fn drawn_calendar(week: &[u8], years: &[u16], hold: bool, off: &[i64], work: &[i64]) -> Calendar {
    let mut calendar = Calendar::new("drawn");
    calendar.week = Some(week.to_vec());
    calendar.uncovered = hold.then_some(Uncovered::Hold);
    let first: Date = "2025-12-01".parse().expect("a date");
    let mut days: BTreeMap<Date, DayKind> = off.iter().map(|day| (first.plus_days(*day), DayKind::Off)).collect();
    days.extend(work.iter().map(|day| (first.plus_days(*day), DayKind::Work)));
    let days = days.into_iter().map(|(date, kind)| MarkedDay { date, kind, name: None }).collect();
    calendar.layers = vec![Layer { name: "drawn".into(), source: String::new(), years: years.to_vec(), days }];
    calendar
}

fn all_planned(timing: &CompiledTiming, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let mut planned = Vec::new();
    let mut after = from;
    while let Some(next) = timing.plan().next_after(after).filter(|next| *next <= to) {
        planned.push(next);
        after = next;
    }
    planned
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every policy against the walk, over clock changes, ends of years and years without data.
    #[test]
    fn every_policy_agrees_with_a_walk_over_all_planned_times(
        zone in prop::sample::select(vec!["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut"]),
        expression in prop::sample::select(vec!["0 9 * * *", "30 2 * * *", "*/45 */5 * * *", "0 0 * * *", "15 23 1,15,28 * *", "0 12 * * 6,0", "59 23 31 * *"]),
        hourly in proptest::option::weighted(0.2, 1..50u32),
        policy in prop::sample::select(vec![OnNonWorkday::Skip, OnNonWorkday::NextWorkday, OnNonWorkday::PreviousWorkday]),
        week in prop::sample::select(vec![vec![1u8, 2, 3, 4, 5], vec![7, 1, 2, 3, 4], vec![1, 2, 3, 4, 5, 6, 7], vec![3]]),
        years in prop::sample::select(vec![vec![], vec![2026u16], vec![2026, 2027], vec![2025, 2027]]),
        hold in any::<bool>(),
        off in prop::collection::vec(0..500i64, 0..40),
        long_off in proptest::option::weighted(0.3, (0..450i64, 5..45i64)),
        work in prop::collection::vec(0..500i64, 0..12),
        from in 0..420i64,
        at_minute in 0..1440i64,
        length in 1..12i64,
    ) {
        let mut off = off;
        if let Some((begins, length)) = long_off {
            off.extend(begins..begins + length);
        }
        let calendar = drawn_calendar(&week, &years, hold, &off, &work);
        let almanac = Almanac::new(Arc::new(Zones::bundled()), [calendar]);
        let days = almanac.calendar("drawn").expect("there");
        let saved = at("2025-12-01T00:00:00Z");
        let schedule = match hourly {
            Some(interval) => {
                let mut repeat = Repeat::new(saved.plus_seconds(1234), zone, RepeatLevel::Hour);
                repeat.repeat_interval = interval;
                Schedule::Repeat(repeat)
            }
            None => schedule(&format!("{{kind: cron, expression: '{expression}', timeZone: {zone}}}")),
        };
        let mut timing = Timing::plain(schedule, saved);
        timing.calendar = Some("drawn".to_owned());
        timing.on_non_workday = policy;
        let compiled = timing.compile(&almanac).expect("times");
        let after = saved.plus_seconds((from * 1440 + at_minute) * 60);
        let until = after.plus_seconds(length * 86_400);
        let planned = all_planned(&compiled, after.plus_seconds(-40 * 86_400), until.plus_seconds(40 * 86_400));
        let by_hand = ByHand { days: &days, zone: TimeZone::get(zone).expect("a zone"), policy };
        let walked = by_hand.walk(&planned, after, until);
        let due: Vec<_> =
            compiled.due_between(after, until, usize::MAX).into_iter().map(|run| (run.due, run.planned)).collect();
        prop_assert_eq!(&due, &walked.due);
        let left: Vec<_> = compiled
            .skipped_between(after, until, usize::MAX)
            .into_iter()
            .map(|left| (left.due, left.planned))
            .collect();
        prop_assert_eq!(&left, &walked.left);
        for (due, planned) in &due {
            let days = (due.millis() - planned.millis()).abs() / 86_400_000;
            prop_assert!(days <= 31, "moved over {} days", days);
            prop_assert_eq!(compiled.due_of(*planned), Some(*due));
        }
        // One at a time finds the same as all at once.
        let mut next = after;
        for (due, planned) in &due {
            let found = compiled.next_due(next).expect("there is one");
            prop_assert_eq!((found.due, found.planned), (*due, *planned));
            next = found.due;
        }
        prop_assert!(compiled.next_due(next).is_none_or(|found| found.due > until));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// What the calendar of many jobs is drawn from.
    #[test]
    fn counts_by_cell_agree_with_going_through(
        document in prop::sample::select(vec![
            "{kind: cron, expression: '*/20 * * * *', timeZone: Europe/Berlin}",
            "{kind: cron, expression: '30 2 * * *', timeZone: America/New_York}",
            "{kind: fixedRate, everySeconds: 5000, startTime: 2026-01-01T00:00:11Z}",
            "{startTime: '2026-01-05T10:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: workday, repeatInterval: 2}",
        ]),
        calendar in prop::sample::select(vec!["cn", "weekdays"]),
        policy in prop::sample::select(vec![OnNonWorkday::Run, OnNonWorkday::Skip, OnNonWorkday::NextWorkday, OnNonWorkday::PreviousWorkday]),
        day in 0i64..365,
        step in prop_oneof![Just(900u32), Just(3600), Just(86_400)],
        cells in 1usize..400,
        spread in prop_oneof![2 => Just(0u32), 1 => 1..7200u32],
    ) {
        let saved = at("2026-01-01T00:00:00Z");
        let mut timing = timing(document, Some(calendar), policy, "2026-01-01T00:00:00Z");
        timing.spread_seconds = spread;
        timing.spread_seed = 3;
        let grid = Grid::new(saved.plus_seconds(day * 86_400), step, cells);
        let hidden = timing.schedule.plan(&Almanac::bundled(), saved).expect("times").next_after(grid.start());
        timing.exceptions = hidden.into_iter().map(|planned| Exception::Skip { planned }).collect();
        let compiled = timing.compile(&Almanac::bundled()).expect("times");
        let mut expected = vec![0; cells];
        for run in compiled.due_between(grid.start().plus_millis(-1), grid.end().plus_millis(-1), usize::MAX) {
            expected[grid.cell_of(run.due).expect("in the grid")] += 1;
        }
        let mut counts = vec![0; cells];
        compiled.add_counts(&grid, grid.start(), grid.end(), &mut counts);
        prop_assert_eq!(counts, expected);
    }
}
