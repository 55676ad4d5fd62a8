//! Documents: what is written comes back the same, and each wrong field says so itself.

use super::{check_refused, schedule};
use crate::schedule::{DstGap, DstOverlap, Schedule};

#[track_caller]
fn check_round_trip(document: &str, kind: &str) {
    let read = schedule(document);
    assert_eq!(read.kind(), kind);
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), read, "{json}");
    let yaml = serde_saphyr::to_string(&read).unwrap();
    assert_eq!(schedule(&yaml), read, "{yaml}");
}

#[test]
fn what_is_written_comes_back_the_same() {
    check_round_trip(
        "{kind: cron, expression: '0 2 * * *', timeZone: Asia/Shanghai, dstGap: nextValid, dstOverlap: both}",
        "cron",
    );
    check_round_trip("{kind: cron, expression: '0 0 9 ? * MON#1', dialect: quartz}", "cron");
    check_round_trip(
        "{startTime: 1648029600000, repeatLevel: month, repeatDays: [1, -1], endTime: 2030-01-01T00:00:00Z, count: 4}",
        "repeat",
    );
    check_round_trip("{kind: repeat, startTime: 1648029600000, repeatLevel: hour}", "repeat");
    check_round_trip("{kind: fixedRate, everySeconds: 5, startTime: 1}", "fixedRate");
    check_round_trip("{kind: fixedDelay, everySeconds: 5}", "fixedDelay");
    check_round_trip("{kind: once, at: 2030-01-01T00:00:00+08:00}", "once");
    check_round_trip("{kind: after, jobs: [a], on: failure, need: all}", "after");
    check_round_trip("{kind: manual}", "manual");
}

#[test]
fn names_are_as_they_are_documented_and_the_rest_has_defaults() {
    let cron = schedule("{kind: cron, expression: '0 2 * * *'}");
    let json = serde_json::to_value(&cron).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"kind": "cron", "expression": "0 2 * * *", "timeZone": "UTC", "dstGap": "shift", "dstOverlap": "first"})
    );
    let Schedule::Repeat(repeat) = schedule("{startTime: 5, repeatLevel: week, timeZone: null}") else { panic!() };
    assert_eq!((repeat.repeat_interval, repeat.dst_gap, repeat.dst_overlap), (1, DstGap::Shift, DstOverlap::First));
}

#[test]
fn each_wrong_field_says_so_itself() {
    let saved = "2026-01-01T00:00:00Z";
    check_refused("just text", saved, "schedule", "set of fields");
    check_refused("{expression: '0 2 * * *'}", saved, "kind", "is missing");
    check_refused("{kind: crom}", saved, "kind", "'crom' is not a kind");
    check_refused("{kind: 7}", saved, "kind", "not a text");
    check_refused("{kind: cron}", saved, "expression", "is missing");
    check_refused("{kind: cron, expression: 5}", saved, "expression", "5 is not a text");
    check_refused("{kind: cron, expression: '@daily', dialect: spring}", saved, "dialect", "unix, seconds, quartz");
    check_refused("{kind: cron, expression: '@daily', dstGap: maybe}", saved, "dstGap", "shift, nextValid, skip");
    check_refused(
        "{kind: cron, expression: '@daily', timezone: UTC}",
        saved,
        "timezone",
        "expression, dialect, timeZone",
    );
    check_refused(
        "{kind: cron, expression: '@daily', timeZone: Mars/Base}",
        saved,
        "timeZone",
        "no time zone 'Mars/Base'",
    );
    check_refused("{kind: once, at: tomorrow}", saved, "at", "neither epoch milliseconds nor");
    check_refused("{kind: once, at: 9999999999999999}", saved, "at", "outside the years");
    check_refused("{kind: once, at: 1.5}", saved, "at", "1.5 is neither");
    check_refused("{kind: once}", saved, "at", "is missing");
    check_refused("{kind: fixedRate, everySeconds: 0}", saved, "everySeconds", "1 second");
    check_refused("{kind: fixedRate, everySeconds: 0.5}", saved, "everySeconds", "not a whole number");
    check_refused("{kind: fixedDelay, everySeconds: -1}", saved, "everySeconds", "not a whole number");
    check_refused("{kind: fixedRate}", saved, "everySeconds", "is missing");
    check_refused("{kind: manual, at: 5}", saved, "at", "no such field");
    check_refused("{kind: after, jobs: one}", saved, "jobs", "not a list of names");
    check_refused("{repeatLevel: fortnight, startTime: 5}", saved, "repeatLevel", "hour, day, week");
    check_refused("{repeatLevel: day}", saved, "startTime", "is missing");
    check_refused(
        "{repeatLevel: week, startTime: 5, repeatDays: monday}",
        saved,
        "repeatDays",
        "not a list of whole numbers",
    );
    check_refused(
        "{repeatLevel: week, startTime: 5, repeatInterval: two}",
        saved,
        "repeatInterval",
        "not a whole number",
    );
}

#[test]
fn a_refusal_inside_another_document_still_says_which_field() {
    let refused = serde_json::from_str::<Vec<Schedule>>(r#"[{"kind": "once", "at": "soon"}]"#).unwrap_err();
    assert!(refused.to_string().contains("at: \"soon\" is neither"), "{refused}");
}
