//! Tables of examples: what a person writes, and the times or the words it comes to.

mod adjust;
mod against_others;
mod clock_changes;
mod cron;
mod document;
mod duty;
mod every_change;
mod examples;
mod fuzz;
mod quartz;
mod ranges;
mod repeat;
mod reschedule;
mod timing;
mod vectors;

use super::*;

/// A schedule as people write it.
pub(super) fn schedule(document: &str) -> Schedule {
    serde_saphyr::from_str(document).unwrap_or_else(|error| panic!("{document}: {error}"))
}

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The next times as the wall clock of the schedule's zone shows them, from `saved` on.
pub(super) fn times(document: &str, saved: &str, n: usize) -> Vec<String> {
    let almanac = Almanac::bundled();
    let plan = schedule(document).plan(&almanac, at(saved)).unwrap_or_else(|error| panic!("{document}: {error}"));
    let utc = almanac.zone("UTC").unwrap();
    let zone = plan.zone().unwrap_or(&utc);
    let mut times = Vec::new();
    let mut after = at(saved).plus_millis(-1);
    while times.len() < n
        && let Some(next) = plan.next_after(after)
    {
        assert!(next > after, "{document}: {next} does not come after {after}");
        times.push(zone.rfc3339(next));
        after = next;
    }
    times
}

/// The first times planned from `saved` on.
#[track_caller]
pub(super) fn check<const N: usize>(document: &str, saved: &str, expected: [&str; N]) {
    assert_eq!(times(document, saved, N), expected, "{document} from {saved}");
}

/// All times planned from `saved` on, of a schedule that ends.
#[track_caller]
pub(super) fn check_all<const N: usize>(document: &str, saved: &str, expected: [&str; N]) {
    assert_eq!(times(document, saved, N + 1), expected, "{document} from {saved}");
}

/// Refused, at a field, with a message that has `said` in it and a Chinese one beside it.
#[track_caller]
pub(super) fn check_refused(document: &str, saved: &str, field: &str, said: &str) {
    let document: serde_json::Value = serde_saphyr::from_str(document).unwrap();
    let refused = Schedule::from_document(&document)
        .and_then(|schedule| schedule.plan(&Almanac::bundled(), at(saved)).map(|_| ()))
        .expect_err(&format!("{document} was accepted"));
    assert_eq!(refused.at(), field, "{document}: {refused}");
    let words = refused.words();
    assert!(words.en.contains(said), "{document}: '{}' does not say '{said}'", words.en);
    assert!(words.zh.chars().any(|letter| letter > '\u{2e80}'), "{document}: '{}' is not Chinese", words.zh);
}

#[test]
fn a_plan_is_small_enough_for_a_hundred_thousand_jobs() {
    assert!(size_of::<Plan>() <= 128, "{} bytes", size_of::<Plan>());
}

#[test]
fn a_rate_keeps_its_phase_in_elapsed_time() {
    check(
        "{kind: fixedRate, everySeconds: 90, startTime: 2026-01-01T00:00:00Z}",
        "2026-01-01T00:02:00Z",
        ["2026-01-01T00:03:00+00:00", "2026-01-01T00:04:30+00:00", "2026-01-01T00:06:00+00:00"],
    );
    // Without a start it counts from when it was saved.
    check(
        "{kind: fixedRate, everySeconds: 1}",
        "2026-01-01T00:00:00.250Z",
        ["2026-01-01T00:00:00.250+00:00", "2026-01-01T00:00:01.250+00:00"],
    );
}

#[test]
fn a_rate_saved_again_keeps_its_phase_once_it_is_written_down() {
    let rate = schedule("{kind: fixedRate, everySeconds: 3600}").anchored(at("2026-01-01T00:10:00Z"));
    let again = rate.clone().anchored(at("2026-01-01T05:33:00Z"));
    assert_eq!(rate, again);
    let plan = again.plan(&Almanac::bundled(), at("2026-01-01T05:33:00Z")).unwrap();
    assert_eq!(plan.next_after(at("2026-01-01T05:33:00Z")), Some(at("2026-01-01T06:10:00Z")));
}

#[test]
fn a_delay_is_counted_from_the_end_of_the_last_run() {
    let almanac = Almanac::bundled();
    let saved = at("2026-01-01T00:00:00Z");
    let plan = schedule("{kind: fixedDelay, everySeconds: 60}").plan(&almanac, saved).unwrap();
    assert_eq!(plan.next_after(saved.plus_millis(-1)), Some(saved));
    assert_eq!(plan.next_after(saved), None);
    assert_eq!(plan.after_final(at("2026-01-01T00:05:17Z")), Some(at("2026-01-01T00:06:17Z")));

    let later = schedule("{kind: fixedDelay, everySeconds: 60, startTime: 2026-01-02T00:00:00Z}");
    let plan = later.plan(&almanac, saved).unwrap();
    assert_eq!(plan.next_after(saved), Some(at("2026-01-02T00:00:00Z")));

    let cron = schedule("{kind: cron, expression: '@daily'}").plan(&almanac, saved).unwrap();
    assert_eq!(cron.after_final(saved), None);
}

#[test]
fn once_is_once_and_not_in_the_past() {
    check_all("{kind: once, at: 1767225600000}", "2025-12-31T00:00:00Z", ["2026-01-01T00:00:00+00:00"]);
    check_refused("{kind: once, at: 2026-01-01T00:00:00Z}", "2026-01-01T00:00:01Z", "at", "already passed");
}

#[test]
fn manual_plans_nothing() {
    check_all("{kind: manual}", "2026-01-01T00:00:00Z", []);
}

#[test]
fn running_after_other_jobs_is_understood_and_refused_by_name() {
    check_refused("{kind: after, jobs: [a, b, a]}", "2026-01-01T00:00:00Z", "jobs", "named twice");
    check_refused("{kind: after, jobs: []}", "2026-01-01T00:00:00Z", "jobs", "at least one");
}

#[test]
fn the_ends_of_time_are_answered_and_not_passed() {
    let ends =
        [i64::MIN, -1, 0, Timestamp::MAX.millis() - 1, Timestamp::MAX.millis(), i64::MAX].map(Timestamp::from_millis);
    for document in [
        "{kind: cron, expression: '* * * * *', timeZone: Europe/Berlin}",
        "{kind: cron, expression: '30 2 29 2 *', timeZone: Europe/Berlin}",
        "{startTime: 0, repeatLevel: day, timeZone: America/New_York}",
        "{startTime: 0, repeatLevel: month, repeatInterval: 4294967295}",
        "{startTime: 0, repeatLevel: day, count: 4294967295}",
        "{kind: fixedRate, everySeconds: 4294967295, startTime: 0}",
        "{kind: fixedDelay, everySeconds: 1, startTime: 0}",
        "{kind: once, at: 1000}",
    ] {
        let plan = schedule(document).plan(&Almanac::bundled(), Timestamp::from_millis(0)).unwrap();
        for end in ends {
            let next = plan.next_after(end);
            assert!(next.is_none_or(|next| next > end && next <= Timestamp::MAX), "{document} after {end}: {next:?}");
        }
    }
}

#[test]
fn a_zone_nobody_knows_is_answered_with_a_guess() {
    let almanac = Almanac::bundled();
    let nearest = |name: &str| match almanac.zone(name) {
        Err(ScheduleError::UnknownZone { nearest, .. }) => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(nearest("Asia/Shanhai").as_deref(), Some("Asia/Shanghai"));
    assert_eq!(nearest("Asia/Beijing").as_deref(), Some("Asia/Shanghai"));
    assert_eq!(nearest("Berlin").as_deref(), Some("Europe/Berlin"));
    assert_eq!(nearest("New York").as_deref(), Some("America/New_York"));
    assert_eq!(nearest("Middle-earth/Bree"), None);
    assert_eq!(nearest(&"x".repeat(5_000_000)), None);
    assert_eq!(almanac.zone("asia/shanghai").unwrap().name(), "Asia/Shanghai");
    assert_eq!(almanac.zones().version().len(), "2026e".len());
}

/// What the schedule says of itself.
#[track_caller]
fn check_words(document: &str, en: &str, zh: &str) {
    let words = schedule(document).words(&Almanac::bundled());
    assert_eq!((words.en.as_str(), words.zh.as_str()), (en, zh), "{document}");
}

#[test]
fn every_kind_says_in_a_sentence_what_it_does() {
    check_words("{kind: fixedRate, everySeconds: 900}", "every 15 minutes", "每 15 分钟");
    check_words("{kind: fixedDelay, everySeconds: 1}", "1 second after the last run ended", "上次运行结束后 1 秒");
    check_words(
        "{kind: once, at: 2026-01-01T00:00:00Z}",
        "once at 2026-01-01 00:00:00 UTC",
        "仅一次：2026-01-01 00:00:00 UTC",
    );
    check_words("{kind: manual}", "only when asked", "仅手动运行");
    check_words(
        "{kind: after, jobs: [load, clean], need: all}",
        "after all of load and clean succeeded",
        "在 load、clean 全部成功之后",
    );
}
