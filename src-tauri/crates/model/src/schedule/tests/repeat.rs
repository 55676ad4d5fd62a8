//! Readable recurrence: the examples of its definition, ends, and the levels one by one.

use super::{at, check, check_all, check_refused, schedule};
use crate::Almanac;
use crate::schedule::{Timing, preview};

#[test]
fn the_first_run_is_at_the_start_and_months_count_from_its_month() {
    check(
        r#"{"startTime": 1648029600000, "timeZone": "Asia/Shanghai", "repeatLevel": "month", "repeatInterval": 2, "repeatDays": [3, 5, 23]}"#,
        "2022-01-01T00:00:00Z",
        [
            "2022-03-23T18:00:00+08:00",
            "2022-05-03T18:00:00+08:00",
            "2022-05-05T18:00:00+08:00",
            "2022-05-23T18:00:00+08:00",
            "2022-07-03T18:00:00+08:00",
        ],
    );
    check(
        "{startTime: '2022-03-10T18:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: month, repeatInterval: 2, repeatDays: [3, 5, 23]}",
        "2022-01-01T00:00:00Z",
        [
            "2022-03-10T18:00:00+08:00",
            "2022-03-23T18:00:00+08:00",
            "2022-05-03T18:00:00+08:00",
            "2022-05-05T18:00:00+08:00",
            "2022-05-23T18:00:00+08:00",
        ],
    );
}

#[test]
fn days_of_a_month_count_from_either_end_and_what_it_lacks_is_passed_over() {
    check(
        "{startTime: '2026-01-31T08:00:00Z', repeatLevel: month}",
        "2026-01-01T00:00:00Z",
        ["2026-01-31T08:00:00+00:00", "2026-03-31T08:00:00+00:00", "2026-05-31T08:00:00+00:00"],
    );
    check(
        "{startTime: '2028-01-31T08:00:00Z', repeatLevel: month, repeatDays: [-1, 15]}",
        "2026-01-01T00:00:00Z",
        [
            "2028-01-31T08:00:00+00:00",
            "2028-02-15T08:00:00+00:00",
            "2028-02-29T08:00:00+00:00",
            "2028-03-15T08:00:00+00:00",
            "2028-03-31T08:00:00+00:00",
        ],
    );
    // Named twice from both ends, it runs once.
    check(
        "{startTime: '2026-02-28T08:00:00Z', repeatLevel: month, repeatDays: [28, -1]}",
        "2026-01-01T00:00:00Z",
        ["2026-02-28T08:00:00+00:00", "2026-03-28T08:00:00+00:00", "2026-03-31T08:00:00+00:00"],
    );
    check(
        "{startTime: '2026-01-01T08:00:00Z', repeatLevel: month, repeatDays: [-31]}",
        "2026-01-01T00:00:00Z",
        ["2026-01-01T08:00:00+00:00", "2026-03-01T08:00:00+00:00", "2026-05-01T08:00:00+00:00"],
    );
}

#[test]
fn weeks_begin_on_monday() {
    // From a Thursday: its own week still has Saturday, the next one counted is two weeks on.
    check(
        "{startTime: '2026-01-01T09:00:00Z', repeatLevel: week, repeatInterval: 2, repeatDays: [1, 6]}",
        "2026-01-01T00:00:00Z",
        [
            "2026-01-01T09:00:00+00:00",
            "2026-01-03T09:00:00+00:00",
            "2026-01-12T09:00:00+00:00",
            "2026-01-17T09:00:00+00:00",
            "2026-01-26T09:00:00+00:00",
        ],
    );
    check(
        "{startTime: '2026-01-04T09:00:00Z', repeatLevel: week}",
        "2026-01-01T00:00:00Z",
        ["2026-01-04T09:00:00+00:00", "2026-01-11T09:00:00+00:00"],
    );
}

#[test]
fn hours_are_elapsed_and_days_are_dates() {
    // Over the night of 25 October the clocks go back: 24 elapsed hours are an hour early.
    check(
        "{startTime: '2026-10-24T06:00:00+02:00', timeZone: Europe/Berlin, repeatLevel: hour, repeatInterval: 24}",
        "2026-01-01T00:00:00Z",
        ["2026-10-24T06:00:00+02:00", "2026-10-25T05:00:00+01:00", "2026-10-26T05:00:00+01:00"],
    );
    check(
        "{startTime: '2026-10-24T06:00:00+02:00', timeZone: Europe/Berlin, repeatLevel: day}",
        "2026-01-01T00:00:00Z",
        ["2026-10-24T06:00:00+02:00", "2026-10-25T06:00:00+01:00", "2026-10-26T06:00:00+01:00"],
    );
    check(
        "{startTime: '2026-02-27T06:00:00Z', repeatLevel: day, repeatInterval: 3}",
        "2026-03-03T00:00:00Z",
        ["2026-03-05T06:00:00+00:00", "2026-03-08T06:00:00+00:00"],
    );
}

#[test]
fn a_year_from_a_leap_day_runs_in_leap_years() {
    check(
        "{startTime: '2024-02-29T00:00:00Z', repeatLevel: year}",
        "2024-01-01T00:00:00Z",
        ["2024-02-29T00:00:00+00:00", "2028-02-29T00:00:00+00:00", "2032-02-29T00:00:00+00:00"],
    );
    check(
        "{startTime: '2096-02-29T00:00:00Z', repeatLevel: year, repeatInterval: 4}",
        "2026-01-01T00:00:00Z",
        ["2096-02-29T00:00:00+00:00", "2104-02-29T00:00:00+00:00"],
    );
    check(
        "{startTime: '2026-12-25T00:00:00Z', repeatLevel: year, repeatInterval: 2}",
        "2026-01-01T00:00:00Z",
        ["2026-12-25T00:00:00+00:00", "2028-12-25T00:00:00+00:00"],
    );
}

#[test]
fn working_days_are_counted_and_a_start_off_duty_moves_to_the_next() {
    // Saturday 3 January 2026.
    check(
        "{startTime: '2026-01-03T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: workday, repeatInterval: 3}",
        "2026-01-01T00:00:00Z",
        [
            "2026-01-05T09:00:00+01:00",
            "2026-01-08T09:00:00+01:00",
            "2026-01-13T09:00:00+01:00",
            "2026-01-16T09:00:00+01:00",
            "2026-01-21T09:00:00+01:00",
        ],
    );
    check_all(
        "{startTime: '2026-01-02T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: workday, count: 3}",
        "2026-01-01T00:00:00Z",
        ["2026-01-02T09:00:00+01:00", "2026-01-05T09:00:00+01:00", "2026-01-06T09:00:00+01:00"],
    );
    // In China Saturday the 3rd is a day off, and Sunday the 4th is worked in its place.
    check(
        "{startTime: '2026-01-03T09:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: workday}",
        "2026-01-01T00:00:00Z",
        ["2026-01-04T09:00:00+08:00", "2026-01-05T09:00:00+08:00"],
    );
}

#[test]
fn an_end_is_inclusive_and_a_count_counts_planned_times() {
    check_all(
        "{startTime: '2026-01-01T09:00:00Z', repeatLevel: day, endTime: '2026-01-03T09:00:00Z'}",
        "2026-01-01T00:00:00Z",
        ["2026-01-01T09:00:00+00:00", "2026-01-02T09:00:00+00:00", "2026-01-03T09:00:00+00:00"],
    );
    check_all(
        "{startTime: '2026-01-01T09:00:00Z', repeatLevel: week, repeatDays: [1, 3], count: 3}",
        "2026-01-01T00:00:00Z",
        ["2026-01-01T09:00:00+00:00", "2026-01-05T09:00:00+00:00", "2026-01-07T09:00:00+00:00"],
    );
    // Those before it was saved are counted too: they were planned.
    check_all(
        "{startTime: '2026-01-01T09:00:00Z', repeatLevel: hour, count: 3}",
        "2026-01-01T09:30:00Z",
        ["2026-01-01T10:00:00+00:00", "2026-01-01T11:00:00+00:00"],
    );
    // A time that the clocks skip and the policy drops is not a planned time.
    check_all(
        "{startTime: '2026-03-28T02:30:00+01:00', timeZone: Europe/Berlin, repeatLevel: day, count: 2, dstGap: skip}",
        "2026-01-01T00:00:00Z",
        ["2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00"],
    );
    check_all(
        "{startTime: '2026-10-24T02:30:00+02:00', timeZone: Europe/Berlin, repeatLevel: day, count: 3, dstOverlap: both}",
        "2026-01-01T00:00:00Z",
        ["2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"],
    );
}

#[test]
fn a_start_thirty_years_ago_is_as_near_as_yesterday() {
    check(
        "{startTime: '1996-01-01T18:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: day, repeatInterval: 7, count: 100000}",
        "2026-01-01T00:00:00Z",
        ["2026-01-05T18:00:00+08:00", "2026-01-12T18:00:00+08:00"],
    );
    check(
        "{startTime: '1996-01-31T18:00:00Z', repeatLevel: month, repeatInterval: 7}",
        "2026-01-01T00:00:00Z",
        ["2026-05-31T18:00:00+00:00", "2026-12-31T18:00:00+00:00"],
    );
}

#[test]
fn a_wrong_field_has_its_own_message() {
    let saved = "2026-01-01T00:00:00Z";
    let start = "startTime: '2026-01-01T09:00:00Z'";
    check_refused(&format!("{{{start}, repeatLevel: week, repeatDays: [0]}}"), saved, "repeatDays", "1 is Monday");
    check_refused(
        &format!("{{{start}, repeatLevel: month, repeatDays: [32]}}"),
        saved,
        "repeatDays",
        "32 is not a day of a month",
    );
    check_refused(&format!("{{{start}, repeatLevel: month, repeatDays: [0]}}"), saved, "repeatDays", "0 is not a day");
    check_refused(
        &format!("{{{start}, repeatLevel: month, repeatDays: [300]}}"),
        saved,
        "repeatDays",
        "300 is not a day",
    );
    check_refused(
        &format!("{{{start}, repeatLevel: day, repeatDays: [1]}}"),
        saved,
        "repeatDays",
        "not at the level 'day'",
    );
    check_refused(&format!("{{{start}, repeatLevel: day, repeatInterval: 0}}"), saved, "repeatInterval", "from 1");
    check_refused(&format!("{{{start}, repeatLevel: day, count: 0}}"), saved, "count", "count is 0");
    check_refused(&format!("{{{start}, repeatLevel: day, endTime: 1}}"), saved, "endTime", "before startTime");
    check_refused(
        &format!("{{{start}, repeatLevel: day, endTime: '2026-01-05T00:00:00Z'}}"),
        "2026-02-01T00:00:00Z",
        "endTime",
        "last time was before it was saved",
    );
    check_refused(
        &format!("{{{start}, repeatLevel: day, timeZone: Asia/Beijing}}"),
        saved,
        "timeZone",
        "did you mean Asia/Shanghai",
    );
}

#[track_caller]
fn check_words(document: &str, en: &str, zh: &str) {
    let words = schedule(document).words(&Almanac::bundled());
    assert_eq!((words.en.as_str(), words.zh.as_str()), (en, zh), "{document}");
}

#[test]
fn a_repeat_is_said_as_one_would_say_it() {
    let start = "startTime: 1648029600000, timeZone: Asia/Shanghai";
    check_words(
        &format!("{{{start}, repeatLevel: month, repeatInterval: 2, repeatDays: [3, 5, 23]}}"),
        "every 2 months on days 3, 5 and 23 at 18:00 (Asia/Shanghai)",
        "每 2 个月的 3 日、5 日和 23 日 18:00（Asia/Shanghai）",
    );
    check_words(
        &format!("{{{start}, repeatLevel: month, repeatDays: [-1]}}"),
        "every month on the last day at 18:00 (Asia/Shanghai)",
        "每月最后一天 18:00（Asia/Shanghai）",
    );
    check_words(
        &format!("{{{start}, repeatLevel: day}}"),
        "daily at 18:00 (Asia/Shanghai)",
        "每天 18:00（Asia/Shanghai）",
    );
    check_words(
        &format!("{{{start}, repeatLevel: week, repeatInterval: 2, repeatDays: [1, 2, 3, 4, 5]}}"),
        "every 2 weeks on Monday to Friday at 18:00 (Asia/Shanghai)",
        "每 2 周的周一至周五 18:00（Asia/Shanghai）",
    );
    check_words(
        &format!("{{{start}, repeatLevel: week}}"),
        "every week on Wednesday at 18:00 (Asia/Shanghai)",
        "每周三 18:00（Asia/Shanghai）",
    );
    check_words(
        "{startTime: '2026-01-05T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: workday, count: 5}",
        "every working day (Monday to Friday) at 09:00, 5 times (Europe/Berlin)",
        "每个工作日（周一至周五）09:00，共 5 次（Europe/Berlin）",
    );
    check_words(
        "{startTime: '2026-02-03T09:00:00Z', repeatLevel: year}",
        "every year on 3 February at 09:00 (UTC)",
        "每年 2 月 3 日 09:00（UTC）",
    );
}

#[test]
fn a_start_off_the_named_days_is_warned_of_and_marked() {
    let document =
        "{startTime: '2022-03-10T18:00:00+08:00', timeZone: Asia/Shanghai, repeatLevel: month, repeatDays: [23]}";
    let saved = at("2022-01-01T00:00:00Z");
    let shown = preview(&Timing::plain(schedule(document), saved), &Almanac::bundled(), saved, 2).unwrap();
    assert!(shown.warnings[0].en.contains("2022-03-23T18:00:00"), "{:?}", shown.warnings);
    assert!(shown.runs[0].reason.is_some() && shown.runs[1].reason.is_none(), "{:?}", shown.runs);
}
