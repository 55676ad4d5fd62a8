//! What dragging an occurrence comes to.

use proptest::prelude::*;

use super::{at, schedule};
use crate::schedule::{
    Cron, Exception, Refusal, Repeat, RepeatLevel, Rescheduled, Schedule, Scope, Timing, Upshot, reschedule,
};
use crate::{Almanac, Timestamp};

const SAVED: &str = "2025-12-01T00:00:00Z";
const NOW: &str = "2026-01-05T08:00:00+01:00"; // a Monday

/// Times of January 2026 in Berlin: `07 09:00`.
fn january(text: &str) -> Timestamp {
    let (day, time) = text.split_once(' ').unwrap();
    let seconds = if time.len() == 5 { ":00" } else { "" };
    at(&format!("2026-01-{day}T{time}{seconds}+01:00"))
}

fn timing(document: &str) -> Timing {
    Timing::plain(schedule(document), at(SAVED))
}

fn drag(timing: &Timing, scope: Scope, from: &str, to: &str) -> Result<Rescheduled, Refusal> {
    reschedule(timing, january(from), january(to), scope, &Almanac::bundled(), at(NOW))
}

/// The runs shown, day and time of January, as many as are expected.
#[track_caller]
fn check_runs(told: &[crate::schedule::PreviewRun], expected: &[&str]) {
    let runs: Vec<String> = told.iter().map(|run| run.local[8..16].replace('T', " ")).collect();
    assert_eq!(runs[..expected.len()], *expected, "{runs:?}");
}

/// A new version: the words on the right of the arrow, from when it holds, and its next runs.
#[track_caller]
fn check(document: &str, scope: Scope, from: &str, to: &str, words: &str, holds_from: &str, runs: &[&str]) {
    let moved = drag(&timing(document), scope, from, to).unwrap_or_else(|refusal| panic!("{document}: {refusal:?}"));
    let Upshot::NewSchedule { effective_from, schedule } = &moved.outcome else { panic!("{:?}", moved.outcome) };
    assert_eq!(moved.words.en.split(" → ").nth(1), Some(words), "{document}");
    assert_eq!(schedule.words(&Almanac::bundled()).en, words);
    assert_eq!(*effective_from, january(holds_from), "{document}: holds from {effective_from}");
    check_runs(&moved.after, runs);
}

#[track_caller]
fn check_refused(document: &str, scope: Scope, from: &str, to: &str, reason: &str) {
    let refusal = drag(&timing(document), scope, from, to).expect_err(document);
    assert!(refusal.reason.en.contains(reason), "{document}: '{}' does not say '{reason}'", refusal.reason.en);
    assert!(!refusal.instead.en.is_empty() && !refusal.instead.zh.is_empty() && !refusal.reason.zh.is_empty());
}

const CRON: &str = "{kind: cron, expression: '0 9 * * *', timeZone: Europe/Berlin}";
const REPEAT: &str = "{startTime: '2025-12-03T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: day}";

#[test]
fn this_run_alone_becomes_an_exception() {
    let moved = drag(&timing(CRON), Scope::ThisRun, "07 09:00", "08 10:30").unwrap();
    let exception = Exception::MoveTo { planned: january("07 09:00"), at: january("08 10:30") };
    assert_eq!(moved.outcome, Upshot::Exception { exception, replaces: None });
    assert_eq!(moved.words.en, "this run only: Wed 7 Jan 2026, 09:00 → Thu 8 Jan 2026, 10:30");
    check_runs(&moved.before, &["07 09:00", "08 09:00", "09 09:00"]);
    check_runs(&moved.after, &["08 09:00", "08 10:30", "09 09:00"]);

    // Dragged once more it is the same run still.
    let mut again = timing(CRON);
    again.exceptions.push(exception);
    let moved = drag(&again, Scope::ThisRun, "07 09:00", "06 07:00").unwrap();
    let second = Exception::MoveTo { planned: january("07 09:00"), at: january("06 07:00") };
    assert_eq!(moved.outcome, Upshot::Exception { exception: second, replaces: Some(exception) });
    check_runs(&moved.after, &["06 07:00", "06 09:00", "08 09:00"]);

    // One that was added by hand goes as a whole.
    let added = Exception::Added { at: january("07 12:00") };
    again.exceptions = vec![added];
    let moved = drag(&again, Scope::ThisRun, "07 12:00", "07 13:00").unwrap();
    let exception = Exception::Added { at: january("07 13:00") };
    assert_eq!(moved.outcome, Upshot::Exception { exception, replaces: Some(added) });
    check_runs(&moved.after, &["07 13:00", "08 09:00"]);
}

#[test]
fn a_daily_time_moves_from_this_run_on_or_as_a_whole() {
    for document in [CRON, REPEAT] {
        let words = "daily at 10:30 (Europe/Berlin)";
        check(document, Scope::Following, "07 09:00", "07 10:30", words, "07 09:00", &["07 10:30", "08 10:30"]);
        check(document, Scope::All, "07 09:00", "07 10:30", words, "05 09:00", &["05 10:30", "06 10:30"]);
        let words = "daily at 07:15 (Europe/Berlin)";
        check(document, Scope::Following, "07 09:00", "07 07:15", words, "07 07:15", &["07 07:15", "08 07:15"]);
        // Today's run at nine is still to come: it keeps its time, as its new one has passed.
        check(document, Scope::All, "07 09:00", "07 07:15", words, "06 07:15", &["06 07:15", "07 07:15"]);
    }
    // What ran today before it was moved does not run today again.
    let seven = "{kind: cron, expression: '0 7 * * *', timeZone: Europe/Berlin}";
    check(seven, Scope::All, "07 07:00", "07 18:00", "daily at 18:00 (Europe/Berlin)", "06 07:00", &["06 18:00"]);
    check(
        "{kind: cron, expression: '@daily', timeZone: Europe/Berlin}",
        Scope::Following,
        "07 00:00",
        "07 01:00",
        "daily at 01:00 (Europe/Berlin)",
        "07 00:00",
        &["07 01:00"],
    );
    check(
        "{kind: cron, expression: '15 30 6 * * *', dialect: seconds, timeZone: Europe/Berlin}",
        Scope::Following,
        "07 06:30:15",
        "07 08:00",
        "daily at 08:00 (Europe/Berlin)",
        "07 06:30:15",
        &["07 08:00"],
    );
}

#[test]
fn a_day_of_the_week_or_month_moves_to_another() {
    check(
        "{kind: cron, expression: '0 9 * * 1,3,5', timeZone: Europe/Berlin}",
        Scope::Following,
        "07 09:00",
        "08 10:00",
        "on Mondays, Thursdays and Fridays at 10:00 (Europe/Berlin)",
        "07 09:00",
        &["08 10:00", "09 10:00", "12 10:00"],
    );
    check(
        "{kind: cron, expression: '0 9 * * mon', timeZone: Europe/Berlin}",
        Scope::All,
        "12 09:00",
        "13 09:00",
        "on Tuesdays at 09:00 (Europe/Berlin)",
        "05 09:00",
        &["06 09:00", "13 09:00"],
    );
    check(
        "{kind: cron, expression: '0 9 6,20 * *', timeZone: Europe/Berlin}",
        Scope::Following,
        "20 09:00",
        "19 09:00",
        "on days 6 and 19 of each month at 09:00 (Europe/Berlin)",
        "19 09:00",
        &["19 09:00", "06 09:00", "19 09:00"],
    );
    check(
        "{startTime: '2025-12-01T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: week, repeatDays: [1, 3]}",
        Scope::All,
        "14 09:00",
        "15 08:00",
        "every week on Monday and Thursday at 08:00 (Europe/Berlin)",
        "07 09:00",
        &["08 08:00", "12 08:00", "15 08:00"],
    );
    check(
        "{startTime: '2025-12-31T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: month, repeatDays: [-1]}",
        Scope::Following,
        "31 09:00",
        "30 09:00",
        "every month on day 2 from the end at 09:00 (Europe/Berlin)",
        "30 09:00",
        &["30 09:00", "27 09:00", "30 09:00"],
    );
    check(
        "{startTime: '2025-12-10T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: month, repeatInterval: 1}",
        Scope::All,
        "10 09:00",
        "12 09:00",
        "every month on day 12 at 09:00 (Europe/Berlin)",
        "10 09:00",
        &["12 09:00", "12 09:00"],
    );
    check(
        "{startTime: '2025-01-20T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: year}",
        Scope::All,
        "20 09:00",
        "21 09:00",
        "every year on 21 January at 09:00 (Europe/Berlin)",
        "20 09:00",
        &["21 09:00"],
    );
}

#[test]
fn a_day_that_some_months_lack_is_warned_of() {
    let monthly = "{kind: cron, expression: '0 9 20 * *', timeZone: Europe/Berlin}";
    let moved = drag(&timing(monthly), Scope::Following, "20 09:00", "31 09:00").unwrap();
    assert!(moved.warnings[0].en.contains("months without day 31 are passed over"), "{:?}", moved.warnings);
    assert_eq!(drag(&timing(monthly), Scope::Following, "20 09:00", "21 09:00").unwrap().warnings, []);
}

#[test]
fn a_count_is_shared_between_the_old_version_and_the_new() {
    let counted = "{startTime: '2026-01-03T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: day, count: 6}";
    check(
        counted,
        Scope::Following,
        "07 09:00",
        "07 10:00",
        "daily at 10:00, 2 times (Europe/Berlin)",
        "07 09:00",
        &["07 10:00", "08 10:00"],
    );
}

#[test]
fn rates_and_single_instants_move_by_what_they_say() {
    let rate = "{kind: fixedRate, everySeconds: 7200, startTime: '2026-01-05T09:00:00+01:00'}";
    // Without a zone of its own a rate is told in UTC.
    let moved = drag(&timing(rate), Scope::Following, "05 13:00", "05 13:30").unwrap();
    check_runs(&moved.after, &["05 12:30", "05 14:30"]);
    let moved = drag(&timing(rate), Scope::All, "05 13:00", "05 13:30").unwrap();
    check_runs(&moved.after, &["05 08:30", "05 10:30", "05 12:30"]);

    for scope in [Scope::ThisRun, Scope::Following, Scope::All] {
        let moved =
            drag(&timing("{kind: once, at: '2026-01-07T09:00:00+01:00'}"), scope, "07 09:00", "09 10:00").unwrap();
        let Upshot::NewSchedule { schedule: Schedule::Once(once), .. } = moved.outcome else { panic!() };
        assert_eq!(once.at, january("09 10:00"));
        assert_eq!(moved.after.len(), 1);
    }
}

#[test]
fn a_series_of_working_days_goes_to_days_that_its_calendar_works() {
    let every_other = timing(
        "{startTime: '2026-02-11T18:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: workday, repeatInterval: 2}",
    );
    let friday = at("2026-02-13T18:00:00+08:00");
    let to = |date: &str| {
        let to = at(&format!("{date}T18:00:00+08:00"));
        reschedule(&every_other, friday, to, Scope::Following, &Almanac::bundled(), at(NOW))
    };
    // A Saturday that is worked to make up for the Spring Festival.
    let made_up = to("2026-02-14").expect("people work that day");
    let runs: Vec<&str> = made_up.after.iter().map(|run| &run.local[..10]).collect();
    assert_eq!(runs[..3], ["2026-02-14", "2026-02-25", "2026-02-27"], "{runs:?}");
    let refused = to("2026-02-16").expect_err("a Monday of the Spring Festival");
    assert!(refused.reason.en.contains("not a working day"), "{refused:?}");
}

#[test]
fn what_cannot_be_moved_so_is_refused_with_the_reason() {
    let several = "{kind: cron, expression: '0 9,12 * * *', timeZone: Europe/Berlin}";
    check_refused(several, Scope::All, "07 09:00", "07 10:00", "more than one time of day");
    check_refused(CRON, Scope::Following, "07 09:00", "08 09:00", "every day is a run already");
    check_refused(REPEAT, Scope::All, "07 09:00", "08 09:00", "every day is a run already");
    check_refused(CRON, Scope::Following, "07 09:00", "07 09:00:30", "whole minutes only");
    check_refused(CRON, Scope::ThisRun, "07 09:00", "04 09:00", "already passed");
    check_refused(CRON, Scope::ThisRun, "04 09:00", "07 10:00", "already come");
    check_refused(CRON, Scope::ThisRun, "07 09:01", "07 10:00", "no run at that time");
    let weekly = "{kind: cron, expression: '0 9 * * 1,3', timeZone: Europe/Berlin}";
    check_refused(weekly, Scope::All, "07 09:00", "12 09:00", "already");
    check_refused(
        weekly,
        Scope::Following,
        "07 09:00",
        "15 09:00",
        "pass over another run of the series, at Mon 12 Jan 2026, 09:00",
    );
    let into_next_week = "{kind: cron, expression: '0 9 7,8 * *', timeZone: Europe/Berlin}";
    check_refused(into_next_week, Scope::Following, "08 09:00", "06 09:00", "pass over");
    let both_days = "{kind: cron, expression: '0 9 7 * 3', timeZone: Europe/Berlin}";
    check_refused(both_days, Scope::All, "07 09:00", "08 09:00", "days of the month and of the week");
    let stepped = "{kind: cron, expression: '0 9 */3 * *', timeZone: Europe/Berlin}";
    check_refused(stepped, Scope::All, "07 09:00", "08 09:00", "follow a step");
    let monthly = "{kind: cron, expression: '0 9 31 * *', timeZone: Europe/Berlin}";
    let almanac = Almanac::bundled();
    let into_february = at("2026-02-01T09:00:00+01:00");
    let refusal =
        reschedule(&timing(monthly), january("31 09:00"), into_february, Scope::All, &almanac, at(NOW)).unwrap_err();
    assert!(refusal.reason.en.contains("another month"), "{refusal:?}");
    check_refused(
        "{kind: fixedDelay, everySeconds: 60}",
        Scope::Following,
        "07 09:00",
        "07 10:00",
        "no run at that time",
    );
    check_refused("{kind: manual}", Scope::ThisRun, "07 09:00", "07 10:00", "no run at that time");
    let first_off_days =
        "{startTime: '2026-01-06T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: week, repeatDays: [1]}";
    check_refused(first_off_days, Scope::All, "06 09:00", "07 09:00", "does not name");
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let zones = prop_oneof![Just("Europe/Berlin"), Just("Asia/Shanghai"), Just("America/New_York")];
    let cron = (
        zones.clone(),
        0..60u32,
        0..24u32,
        prop_oneof![Just("* * *"), Just("* * 1-5"), Just("* * 2"), Just("10 * *"), Just("5,20 * *"), Just("14 3 *"),],
    )
        .prop_map(|(zone, minute, hour, days)| Schedule::Cron(Cron::unix(format!("{minute} {hour} {days}"), zone)));
    let levels = prop_oneof![
        Just(RepeatLevel::Hour),
        Just(RepeatLevel::Day),
        Just(RepeatLevel::Week),
        Just(RepeatLevel::Month),
        Just(RepeatLevel::Year),
    ];
    let repeat = (zones, levels, 1..4u32, 0..40_000i64).prop_map(|(zone, level, interval, minutes)| {
        // Before the 28th, so that no month lacks the day.
        let start = at("2025-12-01T05:00:00Z").plus_seconds(minutes * 60 % (26 * 86_400));
        Schedule::Repeat(Repeat { repeat_interval: interval, ..Repeat::new(start, zone, level) })
    });
    prop_oneof![cron, repeat]
}

proptest! {
    /// Old runs before the new version holds, and new ones from then on: as many as there were,
    /// the dragged one among them, none twice and none lost.
    #[test]
    fn no_run_is_lost_or_doubled_by_moving_a_series(
        schedule in schedules(),
        nth in 0..6usize,
        moved_minutes in prop_oneof![-600i64..600, -3000i64..3000],
        all in any::<bool>(),
    ) {
        let almanac = Almanac::bundled();
        let now = at("2026-01-05T07:00:00Z");
        let timing = Timing::plain(schedule, at(SAVED));
        let old = timing.schedule.plan(&almanac, timing.saved_at).unwrap();
        let mut planned = now;
        for _ in 0..=nth {
            planned = old.next_after(planned).unwrap();
        }
        let new_time = planned.plus_seconds(moved_minutes * 60);
        let scope = if all { Scope::All } else { Scope::Following };
        let Ok(moved) = reschedule(&timing, planned, new_time, scope, &almanac, now) else { return Ok(()) };
        if !moved.warnings.is_empty() {
            return Ok(()); // such as months without the new day, of which the person is told
        }
        let Upshot::NewSchedule { schedule, effective_from } = moved.outcome else { panic!("a series was moved") };
        let new = schedule.plan(&almanac, now).unwrap();

        let until = planned.plus_seconds(400 * 86_400);
        let runs = |plan: &crate::schedule::Plan, from: Timestamp, until: Timestamp| {
            let mut runs = Vec::new();
            let mut after = from.plus_millis(-1);
            while let Some(run) = plan.next_after(after).filter(|run| *run < until) {
                runs.push(run);
                after = run;
            }
            runs
        };
        let mut together = runs(&old, now, effective_from);
        together.extend(runs(&new, effective_from, until));
        let before = runs(&old, now, until);
        prop_assert!(effective_from >= now);
        prop_assert!(together.contains(&new_time), "{:?} to {}", timing.schedule, new_time);
        prop_assert!(
            together.len().abs_diff(before.len()) <= 1,
            "{:?} {} to {} {:?}: {} runs became {}",
            timing.schedule, planned, new_time, scope, before.len(), together.len()
        );
    }
}
