//! What exceptions, the span in which a schedule holds, and spread make of planned times.

use super::{at, schedule};
use crate::schedule::{CompiledTiming, Exception, Occurrence, OccurrenceOrigin, Timing, preview};
use crate::{Almanac, Timestamp};

const SAVED: &str = "2026-01-01T00:00:00Z";

fn day(day: u32, time: &str) -> Timestamp {
    at(&format!("2026-01-{day:02}T{time}:00Z"))
}

fn daily_at_nine() -> Timing {
    Timing::plain(schedule("{kind: cron, expression: '0 9 * * *'}"), at(SAVED))
}

fn compiled(timing: &Timing) -> CompiledTiming {
    timing.compile(&Almanac::bundled()).unwrap()
}

/// Due times after the first of January and up to the end of the sixth, `planned > due` where they differ.
#[track_caller]
fn check(timing: &Timing, expected: &[&str]) {
    let short = |time: Timestamp| time.to_string()[8..16].to_owned();
    let told = |occurrence: &Occurrence| match occurrence.planned == occurrence.due {
        true => short(occurrence.due),
        false => format!("{} > {}", short(occurrence.planned), short(occurrence.due)),
    };
    let (from, until) = (at(SAVED), day(7, "00:00"));
    let timing = compiled(timing);
    let due = timing.due_between(from, until, 100);
    assert_eq!(due.iter().map(told).collect::<Vec<_>>(), expected);

    // Asked one at a time, or in small portions, it is the same.
    let mut after = from;
    for occurrence in &due {
        let next = timing.next_due(after);
        assert_eq!(next.as_ref(), Some(occurrence));
        after = occurrence.due;
    }
    assert_eq!(timing.due_between(from, until, 2), due[..due.len().min(2)]);
}

#[test]
fn a_plain_schedule_is_due_when_it_is_planned() {
    check(&daily_at_nine(), &["01T09:00", "02T09:00", "03T09:00", "04T09:00", "05T09:00", "06T09:00"]);
}

#[test]
fn exceptions_skip_move_and_add() {
    let mut timing = daily_at_nine();
    timing.exceptions = vec![
        Exception::Skip { planned: day(2, "09:00") },
        Exception::MoveTo { planned: day(3, "09:00"), at: day(4, "12:00") },
        Exception::MoveTo { planned: day(6, "09:00"), at: day(5, "06:00") },
        Exception::Added { at: day(2, "10:00") },
    ];
    check(&timing, &["01T09:00", "02T10:00", "04T09:00", "03T09:00 > 04T12:00", "06T09:00 > 05T06:00", "05T09:00"]);
    let skipped = compiled(&timing).skipped_between(at(SAVED), day(7, "00:00"), 10);
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].planned, day(2, "09:00"));
    assert_eq!(compiled(&timing).skipped_between(day(2, "09:00"), day(7, "00:00"), 10), []);

    let added = &compiled(&timing).due_between(day(2, "09:30"), day(2, "10:00"), 10)[0];
    assert_eq!(added.origin, OccurrenceOrigin::Added);
}

#[test]
fn of_two_exceptions_about_one_time_the_later_counts() {
    let mut timing = daily_at_nine();
    timing.exceptions = vec![
        Exception::Skip { planned: day(2, "09:00") },
        Exception::MoveTo { planned: day(2, "09:00"), at: day(2, "11:00") },
        Exception::MoveTo { planned: day(3, "09:00"), at: day(3, "11:00") },
        Exception::MoveTo { planned: day(3, "09:00"), at: day(3, "09:00") },
    ];
    check(&timing, &["01T09:00", "02T09:00 > 02T11:00", "03T09:00", "04T09:00", "05T09:00", "06T09:00"]);
}

#[test]
fn an_exception_for_a_time_that_is_not_planned_is_told_and_changes_nothing() {
    let mut timing = daily_at_nine();
    let lapsed = Exception::MoveTo { planned: day(2, "08:00"), at: day(2, "12:00") };
    timing.exceptions = vec![lapsed];
    check(&timing, &["01T09:00", "02T09:00", "03T09:00", "04T09:00", "05T09:00", "06T09:00"]);
    assert_eq!(compiled(&timing).lapsed(), [lapsed]);
    let warnings = preview(&timing, &Almanac::bundled(), at(SAVED), 1).unwrap().warnings;
    assert!(warnings[0].en.contains("2026-01-02T08:00:00+00:00 no longer applies"), "{warnings:?}");
}

#[test]
fn a_schedule_holds_from_and_until_judged_after_exceptions() {
    let mut timing = daily_at_nine();
    timing.effective_from = Some(day(3, "09:00"));
    timing.effective_until = Some(day(5, "09:00"));
    check(&timing, &["03T09:00", "04T09:00"]);

    timing.exceptions = vec![
        Exception::MoveTo { planned: day(2, "09:00"), at: day(3, "12:00") },
        Exception::MoveTo { planned: day(4, "09:00"), at: day(6, "09:00") },
    ];
    check(&timing, &["03T09:00", "02T09:00 > 03T12:00"]);
    // What was moved out of the span has to be accounted for.
    let skipped = compiled(&timing).skipped_between(at(SAVED), day(7, "00:00"), 10);
    assert_eq!(skipped.iter().map(|skipped| skipped.planned).collect::<Vec<_>>(), [day(4, "09:00")]);

    timing.effective_until = Some(day(3, "09:00"));
    assert_eq!(timing.compile(&Almanac::bundled()).unwrap_err().at(), "effectiveUntil");
}

#[test]
fn spread_has_one_place_for_a_job_and_many_for_many() {
    let mut timing = daily_at_nine();
    timing.spread_seconds = 600;
    timing.exceptions = vec![Exception::MoveTo { planned: day(2, "09:00"), at: day(2, "12:00") }];
    let mut places = std::collections::BTreeSet::new();
    for seed in 0..1000 {
        timing.spread_seed = seed;
        let compiled = compiled(&timing);
        let place = compiled.place_in_spread_seconds();
        let due = compiled.due_between(at(SAVED), day(4, "00:00"), 10);
        let meant = [day(1, "09:00"), day(2, "12:00"), day(3, "09:00")];
        let expected: Vec<Timestamp> = meant.iter().map(|at| at.plus_seconds(i64::from(place))).collect();
        assert_eq!(due.iter().map(|occurrence| occurrence.due).collect::<Vec<_>>(), expected);
        places.insert(place);
    }
    assert!(places.len() > 450 && places.last() <= Some(&600), "{} places", places.len());
}

#[test]
fn what_falls_on_one_instant_by_hand_and_by_plan_comes_twice_under_two_names() {
    let mut timing = daily_at_nine();
    timing.exceptions = vec![
        Exception::MoveTo { planned: day(2, "09:00"), at: day(3, "09:00") },
        Exception::Added { at: day(3, "09:00") },
    ];
    let due = compiled(&timing).due_between(day(2, "12:00"), day(3, "09:00"), 10);
    let names: Vec<_> = due.iter().map(|occurrence| (occurrence.origin, occurrence.planned)).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(due.iter().all(|occurrence| occurrence.due == day(3, "09:00")));
}

#[test]
fn the_run_after_a_delay_is_spread_too() {
    let mut timing = Timing::plain(schedule("{kind: fixedDelay, everySeconds: 60}"), at(SAVED));
    timing.spread_seconds = 30;
    let compiled = compiled(&timing);
    let place = i64::from(compiled.place_in_spread_seconds());
    let next = compiled.after_final(day(1, "10:00")).unwrap();
    assert_eq!((next.planned, next.due), (day(1, "10:01"), day(1, "10:01").plus_seconds(place)));
    timing.effective_until = Some(day(1, "09:00"));
    assert_eq!(timing.compile(&Almanac::bundled()).unwrap().after_final(day(1, "10:00")), None);
}

#[test]
fn a_preview_tells_local_times_and_the_reason_for_each_shift() {
    let mut timing =
        Timing::plain(schedule("{kind: cron, expression: '0 9 * * *', timeZone: Asia/Shanghai}"), at(SAVED));
    let planned = at("2026-01-02T09:00:00+08:00");
    timing.exceptions = vec![
        Exception::MoveTo { planned, at: planned.plus_seconds(3600) },
        Exception::Added { at: planned.plus_seconds(7200) },
    ];
    let shown = preview(&timing, &Almanac::bundled(), at("2026-01-01T12:00:00+08:00"), 3).unwrap();
    let told: Vec<_> =
        shown.runs.iter().map(|run| (run.local.as_str(), run.reason.as_ref().map(|words| words.en.as_str()))).collect();
    assert_eq!(
        told,
        [
            ("2026-01-02T10:00:00+08:00", Some("moved by hand from 2026-01-02T09:00:00+08:00")),
            ("2026-01-02T11:00:00+08:00", Some("added by hand")),
            ("2026-01-03T09:00:00+08:00", None),
        ]
    );
    assert_eq!(shown.words.en, "daily at 09:00 (Asia/Shanghai)");
    assert_eq!(shown.time_zone, "Asia/Shanghai");
}
