//! Cron: times, words, and what is wrong with an expression.

use super::{at, check, check_refused};
use crate::schedule::{Cron, Dialect, Schedule, ScheduleError};
use crate::{Almanac, Words};

#[test]
fn fields_mean_what_they_mean_in_a_crontab() {
    let saved = "2026-01-01T00:00:00Z"; // a Thursday
    check(
        "{kind: cron, expression: '0 2 * * *', timeZone: Asia/Shanghai}",
        saved,
        ["2026-01-02T02:00:00+08:00", "2026-01-03T02:00:00+08:00"],
    );
    check(
        "{kind: cron, expression: '*/20 9-10 * * 1-5'}",
        saved,
        [
            "2026-01-01T09:00:00+00:00",
            "2026-01-01T09:20:00+00:00",
            "2026-01-01T09:40:00+00:00",
            "2026-01-01T10:00:00+00:00",
            "2026-01-01T10:20:00+00:00",
            "2026-01-01T10:40:00+00:00",
            "2026-01-02T09:00:00+00:00",
        ],
    );
    check(
        "{kind: cron, expression: '5,35 23 28-31 FEB,Dec *'}",
        saved,
        ["2026-02-28T23:05:00+00:00", "2026-02-28T23:35:00+00:00", "2026-12-28T23:05:00+00:00"],
    );
    check("{kind: cron, expression: '0 0 * * sun'}", saved, ["2026-01-04T00:00:00+00:00", "2026-01-11T00:00:00+00:00"]);
    check("{kind: cron, expression: '0 0 * * 7'}", saved, ["2026-01-04T00:00:00+00:00", "2026-01-11T00:00:00+00:00"]);
    check(
        "{kind: cron, expression: '0 0 * * FRI-SUN'}",
        saved,
        [
            "2026-01-02T00:00:00+00:00",
            "2026-01-03T00:00:00+00:00",
            "2026-01-04T00:00:00+00:00",
            "2026-01-09T00:00:00+00:00",
        ],
    );
    check(
        "{kind: cron, expression: '10/20 12 * * *'}",
        saved,
        [
            "2026-01-01T12:10:00+00:00",
            "2026-01-01T12:30:00+00:00",
            "2026-01-01T12:50:00+00:00",
            "2026-01-02T12:10:00+00:00",
        ],
    );
    check("{kind: cron, expression: '@monthly'}", saved, ["2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"]);
    check("{kind: cron, expression: '@WEEKLY', dialect: unix}", saved, ["2026-01-04T00:00:00+00:00"]);
    check(
        "{kind: cron, expression: '*/20 30 8 * * *', dialect: seconds}",
        saved,
        [
            "2026-01-01T08:30:00+00:00",
            "2026-01-01T08:30:20+00:00",
            "2026-01-01T08:30:40+00:00",
            "2026-01-02T08:30:00+00:00",
        ],
    );
}

#[test]
fn either_day_suffices_only_where_neither_field_begins_with_a_star() {
    let saved = "2026-02-01T00:00:00Z";
    check(
        "{kind: cron, expression: '0 0 13 * 5'}",
        saved,
        [
            "2026-02-06T00:00:00+00:00",
            "2026-02-13T00:00:00+00:00",
            "2026-02-20T00:00:00+00:00",
            "2026-02-27T00:00:00+00:00",
            "2026-03-06T00:00:00+00:00",
            "2026-03-13T00:00:00+00:00",
        ],
    );
    // Every second day of the month that is also a Friday.
    check(
        "{kind: cron, expression: '0 0 */2 * 5'}",
        saved,
        [
            "2026-02-13T00:00:00+00:00",
            "2026-02-27T00:00:00+00:00",
            "2026-03-13T00:00:00+00:00",
            "2026-03-27T00:00:00+00:00",
        ],
    );
}

#[test]
fn a_leap_day_is_found_across_a_century_that_has_none() {
    check(
        "{kind: cron, expression: '0 12 29 2 *', timeZone: Europe/Berlin}",
        "2092-03-01T00:00:00Z",
        ["2096-02-29T12:00:00+01:00", "2104-02-29T12:00:00+01:00", "2108-02-29T12:00:00+01:00"],
    );
    // A 29 February that is a Monday comes every 28 years, save across 2100.
    check(
        "{kind: cron, expression: '0 0 29 2 */8,1', timeZone: UTC}",
        "2026-01-01T00:00:00Z",
        [
            "2032-02-29T00:00:00+00:00", // a Sunday: */8 names only the first
            "2044-02-29T00:00:00+00:00",
        ],
    );
}

#[test]
fn nothing_is_planned_before_the_job_was_saved() {
    let plan =
        Schedule::Cron(Cron::unix("* * * * *", "UTC")).plan(&Almanac::bundled(), at("2026-01-01T00:00:30Z")).unwrap();
    assert_eq!(plan.next_after(at("1990-01-01T00:00:00Z")), Some(at("2026-01-01T00:01:00Z")));
}

/// Refused, with the marked part of the expression and a message about it.
#[track_caller]
fn check_wrong(expression: &str, marked: &str, said: &str) {
    check_wrong_in(None, expression, marked, said);
}

#[track_caller]
pub(super) fn check_wrong_in(dialect: Option<Dialect>, expression: &str, marked: &str, said: &str) {
    let cron = Cron { dialect, ..Cron::unix(expression, "UTC") };
    let refused = Schedule::Cron(cron).plan(&Almanac::bundled(), at("2026-01-01T00:00:00Z")).unwrap_err();
    let (from, to) = refused.span().unwrap_or_else(|| panic!("{expression}: {refused} marks nothing"));
    let under: String = expression.chars().skip(from).take(to - from).collect();
    let Words { en, .. } = refused.words();
    assert_eq!(under, marked, "{expression}: {en}");
    assert!(en.contains(said), "{expression}: '{en}' does not say '{said}'");
}

#[test]
fn what_is_wrong_is_marked_where_it_stands() {
    check_wrong("", "", "empty");
    check_wrong("60 * * * *", "60", "60 is outside 0 to 59 for the minute");
    check_wrong("0 24 * * *", "24", "hour");
    check_wrong("0 0 0 * *", "0", "day of the month");
    check_wrong("0 0 1,32 * *", "32", "1 to 31");
    check_wrong("0 0 * 13 *", "13", "month");
    check_wrong("0 0 * jan,febr *", "febr", "is not a month");
    check_wrong("0 0 * * 8", "8", "day of the week");
    check_wrong("0 0 * * mon-foo", "foo", "is not a day of the week");
    check_wrong("*/0 * * * *", "0", "not a step");
    check_wrong("*/x * * * *", "x", "not a step");
    check_wrong("1,,2 * * * *", "", "missing beside a comma");
    check_wrong("0 22-2 * * *", "22-2", "22-23,0-2");
    check_wrong("0 0 L * *", "L", "quartz");
    check_wrong("0 0 * * 5#2", "5#2", "quartz");
    check_wrong("0 0 ? * *", "?", "quartz");
    check_wrong("0 0 15W * *", "15W", "quartz");
    check_wrong("-5 * * * *", "", "not a minute");
    check_wrong("* * * *", "* * * *", "4 fields where five are expected");
    check_wrong("every day", "every day", "2 fields");
    check_wrong("@reboot", "@reboot", "not a time");
    check_wrong("@fortnightly", "@fortnightly", "@weekly");
    check_wrong("0 0 * * 每天", "每天", "is not a day of the week");
    check_wrong("99999999999999999999 * * * *", "99999999999999999999", "outside 0 to 59");
    check_wrong(&"1,".repeat(2_000_000), "", "longer than 1000 characters");
    check_wrong_in(Some(Dialect::Seconds), "0 2 * * *", "0 2 * * *", "seconds dialect has 6");
    check_wrong_in(Some(Dialect::Unix), "0 0 2 * * *", "0 0 2 * * *", "unix dialect has 5");
}

#[test]
fn what_can_never_come_is_refused_with_the_reason() {
    let saved = "2026-01-01T00:00:00Z";
    check_refused("{kind: cron, expression: '0 0 30 2 *'}", saved, "expression", "February has no day 30");
    check_refused("{kind: cron, expression: '0 0 31 2,4,6,9,11 *'}", saved, "expression", "has no day 31");
    check_refused(
        "{kind: cron, expression: '0 0 30-31 feb */2'}",
        saved,
        "expression",
        "February has no days 30 and 31",
    );
    // With a weekday beside it, the weekday suffices.
    check("{kind: cron, expression: '0 0 30 2 1'}", saved, ["2026-02-02T00:00:00+00:00"]);
}

#[test]
fn six_fields_are_refused_with_both_readings() {
    let six = |expression: &str| {
        let refused =
            Schedule::Cron(Cron::unix(expression, "UTC")).plan(&Almanac::bundled(), at("2026-01-01T00:00:00Z"));
        assert!(matches!(refused, Err(ScheduleError::WhichDialect { .. })), "{refused:?}");
        refused.unwrap_err().words()
    };
    let words = six("0 0 9 * * 2");
    assert!(words.en.contains("seconds: on Tuesdays at 09:00"), "{}", words.en);
    assert!(words.en.contains("quartz: cannot be read, in the quartz dialect exactly one"), "{}", words.en);
    assert!(words.zh.contains("seconds: 每周二 09:00") && words.zh.contains("quartz: 读不通"), "{}", words.zh);
    let words = six("0 0 9 ? * 2");
    assert!(words.en.contains("seconds: cannot be read, '?' belongs to the quartz dialect"), "{}", words.en);
    assert!(words.en.contains("quartz: on Mondays at 09:00") && words.zh.contains("quartz: 每周一 09:00"), "{words:?}");
}

/// What the expression says, in both languages.
#[track_caller]
fn check_words(expression: &str, en: &str, zh: &str) {
    let dialect = (expression.split_whitespace().count() == 6).then_some(Dialect::Seconds);
    let cron = Cron { dialect, ..Cron::unix(expression, "Asia/Shanghai") };
    let words = Schedule::Cron(cron).words(&Almanac::bundled());
    let (en, zh) = (format!("{en} (Asia/Shanghai)"), format!("{zh}（Asia/Shanghai）"));
    assert_eq!((words.en, words.zh), (en, zh), "{expression}");
}

#[test]
fn an_expression_is_said_as_one_would_say_it() {
    check_words("* * * * *", "every minute", "每分钟");
    check_words("*/15 * * * *", "every 15 minutes", "每 15 分钟");
    check_words(
        "*/7 * * * *",
        "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of the hour",
        "每小时的第 0、7、14、21、28、35、42、49 和 56 分",
    );
    check_words("0 * * * *", "every hour", "每小时");
    check_words("5 * * * *", "every hour at minute 5", "每小时的第 5 分");
    check_words("0 */2 * * *", "every 2 hours", "每 2 小时");
    check_words(
        "*/5 */2 * * *",
        "every 5 minutes in every 2nd hour from 00",
        "从 0 点起每 2 小时的第一个小时内每 5 分钟",
    );
    check_words("@daily", "daily at 00:00", "每天 00:00");
    check_words("0 2 * * *", "daily at 02:00", "每天 02:00");
    check_words("0,30 9,18 * * *", "daily at 09:00, 09:30, 18:00 and 18:30", "每天 09:00、09:30、18:00 和 18:30");
    check_words("30 8 * * 1-5", "Monday to Friday at 08:30", "每周一至周五 08:30");
    check_words("0 9 * * 1,5", "on Mondays and Fridays at 09:00", "每周一和周五 09:00");
    check_words("0 9 * * 6,0", "on Saturdays and Sundays at 09:00", "每周六和周日 09:00");
    check_words("0 9 * 12 1", "on Mondays in December at 09:00", "12 月的每周一 09:00");
    check_words("0 9 * 6-8 *", "every day in June to August at 09:00", "6 月至 8 月的每天 09:00");
    check_words("0 0 1 * *", "on day 1 of each month at 00:00", "每月 1 日 00:00");
    check_words("0 0 1,15 * *", "on days 1 and 15 of each month at 00:00", "每月 1 日和 15 日 00:00");
    check_words("0 0 */10 * *", "every 10 days from day 1 of each month at 00:00", "每月 1 日起每 10 天 00:00");
    check_words("0 0 1 1 *", "on 1 January of every year at 00:00", "每年 1 月 1 日 00:00");
    check_words("0 0 1 1,7 *", "on day 1 of January and July at 00:00", "1 月和 7 月的 1 日 00:00");
    check_words(
        "*/10 9-17 * * 1-5",
        "every 10 minutes from 09:00 to 17:50, Monday to Friday",
        "每周一至周五，09:00 至 17:50 每 10 分钟",
    );
    check_words("0 9-17 * * *", "every hour from 09:00 to 17:00", "09:00 至 17:00 每小时");
    check_words("*/20 * * * 0", "every 20 minutes on Sundays", "每周日，每 20 分钟");
    check_words("0 0 13 * 5", "on day 13 of each month and also on Fridays at 00:00", "每月 13 日以及每周五 00:00");
    check_words(
        "0 0 */2 * 5",
        "every 2 days from day 1 of each month where that is Friday at 00:00",
        "每月 1 日起每 2 天（且须是周五）00:00",
    );
    check_words("*/20 * * * * *", "every 20 seconds", "每 20 秒");
    check_words("30 15 4 * * *", "daily at 04:15:30", "每天 04:15:30");
}

#[test]
fn what_is_allowed_but_hardly_meant_is_said() {
    let warned = |expression: &str, said: &str| {
        let warnings = Schedule::Cron(Cron::unix(expression, "UTC")).warnings(&Almanac::bundled()).unwrap();
        assert!(warnings.iter().any(|words| words.en.contains(said)), "{expression}: {warnings:?}");
    };
    warned("*/90 * * * *", "longer than the hour");
    warned("*/7 * * * *", "not a multiple of 7");
    warned("0 0 13 * 5", "either of them");
    warned("0 0 31 * *", "months without day 31 are passed over");
    let quiet = Schedule::Cron(Cron::unix("*/15 9-17 * * 1-5", "UTC")).warnings(&Almanac::bundled()).unwrap();
    assert_eq!(quiet, []);
}
