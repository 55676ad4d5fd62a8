//! The quartz dialect: days counted within the month, ranges that go round, years.

use super::{at, check, check_all, check_refused};
use crate::Almanac;
use crate::schedule::{Cron, Dialect, Schedule};

fn quartz(expression: &str) -> Cron {
    Cron { dialect: Some(Dialect::Quartz), ..Cron::unix(expression, "UTC") }
}

/// The first days of 2026 and after on which it comes.
#[track_caller]
fn check_days<const N: usize>(expression: &str, expected: [&str; N]) {
    let document = format!("{{kind: cron, dialect: quartz, expression: '0 0 12 {expression}'}}");
    check(
        &document,
        "2026-01-01T00:00:00Z",
        expected.map(|day| format!("{day}T12:00:00+00:00")).each_ref().map(String::as_str),
    );
}

#[test]
fn a_day_can_be_counted_from_the_end_of_the_month() {
    check_days("L * ?", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]);
    check_days("L-3 * ?", ["2026-01-28", "2026-02-25", "2026-03-28", "2026-04-27"]);
    check_days("L 2 ?", ["2026-02-28", "2027-02-28", "2028-02-29"]);
    check_days("1,L,l-1 3 ?", ["2026-03-01", "2026-03-30", "2026-03-31", "2027-03-01"]);
    // Only months of 31 days have a day 30 days before the last.
    check_days("L-30 * ?", ["2026-01-01", "2026-03-01", "2026-05-01", "2026-07-01", "2026-08-01"]);
}

#[test]
fn the_nearest_working_day_stays_in_its_month() {
    // 15 February and 15 March 2026 are Sundays, 15 August is a Saturday.
    check_days("15W 2,3,8 ?", ["2026-02-16", "2026-03-16", "2026-08-14"]);
    // 1 August 2026 is a Saturday, 1 November a Sunday.
    check_days("1W 8,11 ?", ["2026-08-03", "2026-11-02"]);
    // 31 May 2026 is a Sunday, 31 October a Saturday.
    check_days("31W 4,5,10 ?", ["2026-05-29", "2026-10-30"]);
    check_days("LW * ?", ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]);
    check_days("L-2W 5,6 ?", ["2026-05-29", "2026-06-29"]);
}

#[test]
fn a_weekday_can_be_counted_within_the_month() {
    check_days("? * 6#3", ["2026-01-16", "2026-02-20", "2026-03-20"]);
    check_days("? * FRI#3", ["2026-01-16", "2026-02-20"]);
    check_days("? * 2#5", ["2026-03-30", "2026-06-29", "2026-08-31"]);
    check_days("? * 6L", ["2026-01-30", "2026-02-27", "2026-03-27"]);
    check_days("? * friL", ["2026-01-30", "2026-02-27"]);
    // On its own it is the last day of a week that begins on Sunday.
    check_days("? * L", ["2026-01-03", "2026-01-10", "2026-01-17"]);
    check_days("? * 1", ["2026-01-04", "2026-01-11"]);
    check_days("? * 2-6", ["2026-01-01", "2026-01-02", "2026-01-05"]);
}

#[test]
fn ranges_go_round() {
    check_days("? * FRI-MON", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-09"]);
    check_days("15 NOV-FEB ?", ["2026-01-15", "2026-02-15", "2026-11-15", "2026-12-15", "2027-01-15"]);
    check_days("30-2 * ?", ["2026-01-01", "2026-01-02", "2026-01-30", "2026-01-31", "2026-02-01"]);
    check(
        "{kind: cron, dialect: quartz, expression: '0 0 22-2/2 * * ?'}",
        "2026-01-01T00:00:00Z",
        [
            "2026-01-01T00:00:00+00:00",
            "2026-01-01T02:00:00+00:00",
            "2026-01-01T22:00:00+00:00",
            "2026-01-02T00:00:00+00:00",
        ],
    );
    check(
        "{kind: cron, dialect: quartz, expression: '50-10/10 /20 9 * * ?'}",
        "2026-01-01T00:00:00Z",
        [
            "2026-01-01T09:00:00+00:00",
            "2026-01-01T09:00:10+00:00",
            "2026-01-01T09:00:50+00:00",
            "2026-01-01T09:20:00+00:00",
        ],
    );
}

#[test]
fn a_year_can_be_named() {
    check_all(
        "{kind: cron, expression: '0 0 12 1 1 ? 2027,2029-2030'}",
        "2026-01-01T00:00:00Z",
        ["2027-01-01T12:00:00+00:00", "2029-01-01T12:00:00+00:00", "2030-01-01T12:00:00+00:00"],
    );
    check(
        "{kind: cron, expression: '0 0 12 29 2 ? 2026/2'}",
        "2026-01-01T00:00:00Z",
        ["2028-02-29T12:00:00+00:00", "2032-02-29T12:00:00+00:00"],
    );
    check("{kind: cron, expression: '0 0 12 1 1 ? *'}", "2026-06-01T00:00:00Z", ["2027-01-01T12:00:00+00:00"]);
    let saved = "2026-01-01T00:00:00Z";
    let never = |expression: &str, said: &str| {
        check_refused(&format!("{{kind: cron, expression: '{expression}'}}"), saved, "expression", said);
    };
    never("0 0 12 29 2 ? 2027", "February has no day 29 in 2027");
    never("0 0 12 1 1 ? 2020-2025", "before it was saved");
    never("0 0 12 30W 2 ? *", "February has no day of Monday to Friday nearest to day 30");
    never("0 0 12 L-30 4 ? *", "April has no day 31 from the end");
    never("0 0 12 ? 2 2#5 2026-2027", "has no fifth Monday in 2026 to 2027");
}

#[test]
fn what_quartz_refuses_is_refused_and_marked() {
    let wrong = |expression: &str, marked: &str, said: &str| {
        super::cron::check_wrong_in(Some(Dialect::Quartz), expression, marked, said);
    };
    wrong("0 0 9 * * *", "*", "exactly one");
    wrong("0 0 9 ? * ?", "?", "one of the two");
    wrong("0 0 9 15 * MON", "MON", "exactly one");
    wrong("0 0 9 ? * 2#1,6#3", "2#1,6#3", "stand alone");
    wrong("0 0 9 ? * 2,6L", "2,6L", "stand alone");
    wrong("0 0 9 ? * 2,L", "2,L", "stand alone");
    wrong("0 0 9 ?,5 * MON", "?,5", "stand alone");
    wrong("0 0 9 ? * 0", "0", "outside 1 to 7");
    wrong("0 0 9 ? * 8", "8", "outside 1 to 7");
    wrong("0 0 9 ? * 6#6", "6", "1 to 5");
    wrong("0 0 9 ? * 8#1", "8", "outside 1 to 7");
    wrong("0 0 9 ? * 3W", "3W", "'W' belongs");
    wrong("0 0 9 3#2 * ?", "3#2", "'#' belongs");
    wrong("0 0 9 L-31 * ?", "L-31", "'L-0' to 'L-30'");
    wrong("0 0 9 3L * ?", "3L", "'L' stands first");
    wrong("0 0 9 32W * ?", "32", "outside 1 to 31");
    wrong("0 0/60 9 * * ?", "60", "longest is 59");
    wrong("0 0 */24 * * ?", "24", "longest is 23");
    wrong("0 0 L * * ?", "L", "is not a hour");
    wrong("0 0 9 1 1 ? 1969", "1969", "outside 1970 to 2199");
    wrong("0 0 9 1 1 ? 2030-2020", "2030-2020", "runs backwards");
    wrong("0 0 9 * *", "0 0 9 * *", "has 6 or 7");
    wrong("0 0 9 1 1 ? 2026 x", "0 0 9 1 1 ? 2026 x", "has 6 or 7");
}

#[test]
fn a_quartz_expression_is_said_as_one_would_say_it() {
    let words = |expression: &str, en: &str, zh: &str| {
        let words = quartz(expression).phrase().unwrap();
        assert_eq!((words.en.as_str(), words.zh.as_str()), (en, zh), "{expression}");
    };
    words("0 0 9 ? * 2-6", "Monday to Friday at 09:00", "每周一至周五 09:00");
    words("0 0 12 L * ?", "on the last day of each month at 12:00", "每月最后一天 12:00");
    words(
        "0 0 12 1,15,L * ?",
        "on days 1 and 15 and the last day of each month at 12:00",
        "每月 1 日和 15 日和最后一天 12:00",
    );
    words("0 0 12 L-3 * ?", "on day 4 from the end of each month at 12:00", "每月倒数第 4 天 12:00");
    words(
        "0 0 12 15W 1,7 ?",
        "on the day of Monday to Friday nearest to day 15 of January and July at 12:00",
        "1 月和 7 月的离 15 日最近的周一至周五 12:00",
    );
    words(
        "0 0 12 LW * ?",
        "on the last day of Monday to Friday of each month at 12:00",
        "每月最后一个周一至周五的日子 12:00",
    );
    words("0 0 12 ? * 6#3", "on the third Friday of each month at 12:00", "每月第三个周五 12:00");
    words("0 0 12 ? 12 6L", "on the last Friday of December at 12:00", "12 月的最后一个周五 12:00");
    words("0 0/10 * * * ?", "every 10 minutes", "每 10 分钟");
    words(
        "0 0 12 1 1 ? 2026,2028-2030",
        "on 1 January of every year at 12:00, in 2026 and 2028 to 2030",
        "2026 年和 2028 至 2030 年：每年 1 月 1 日 12:00",
    );
    words(
        "0 0 12 * * ? 2026/2",
        "daily at 12:00, in every 2nd year from 2026 to 2198",
        "2026 至 2198 年间每 2 年：每天 12:00",
    );
    words("0 0 12 ? * L", "on Saturdays at 12:00", "每周六 12:00");
}

#[test]
fn a_run_that_is_dragged_is_written_in_the_numbers_of_the_dialect() {
    use crate::schedule::civil::{DAY, HOUR, MINUTE, day_of};
    // Monday 16 November 2026, at nine.
    let monday = day_of(2026, 11, 16) * DAY + 9 * HOUR;
    let moved = |expression: &str, to: i64| quartz(expression).moved(monday, to).map(|cron| cron.expression);
    assert_eq!(moved("0 0 9 ? * 2-6", monday + 90 * MINUTE).unwrap(), "0 30 10 ? * 2-6");
    assert_eq!(moved("0 0 9 ? * 2-6", monday + 5 * DAY).unwrap(), "0 0 9 ? * 3,4,5,6,7");
    assert_eq!(moved("0 0 9 ? * MON 2026-2030", monday - DAY).unwrap(), "0 0 9 ? * 1 2026-2030");
    assert_eq!(moved("0 0 9 1,16 * ?", monday + DAY).unwrap(), "0 0 9 1,17 * ?");
    assert_eq!(moved("0 0 9 ? * 2#3", monday + HOUR).unwrap(), "0 0 10 ? * 2#3");
    for counted in ["0 0 9 ? * 2#3", "0 0 9 15W * ?", "0 0 9 L-14 * ?"] {
        let refused = moved(counted, monday + DAY).unwrap_err();
        assert!(refused.reason.en.contains("within each month"), "{counted}: {}", refused.reason.en);
    }
}

#[test]
fn months_without_the_day_are_told_of() {
    let warned = |expression: &str| {
        let warnings = Schedule::Cron(quartz(expression)).warnings(&Almanac::bundled()).unwrap();
        warnings.into_iter().map(|words| words.en).collect::<Vec<_>>()
    };
    assert_eq!(warned("0 0 12 ? * 2#5"), ["months without a fifth Monday are passed over"]);
    assert_eq!(warned("0 0 12 31W * ?").len(), 1);
    assert_eq!(warned("0 0 12 L * ?"), Vec::<String>::new());
    assert_eq!(warned("0 0 12 15W * ?"), Vec::<String>::new());
}

#[test]
fn a_parsed_expression_takes_no_more_than_200_bytes() {
    use super::super::cron::CronTimes;
    for expression in ["*/5 * * * * ?", "0 0 12 L-3W,15W,1 2/3 ? 2026-2090/2", "0 0 12 ? * 6#3 2030"] {
        let plan = Schedule::Cron(quartz(expression)).plan(&Almanac::bundled(), at("2026-01-01T00:00:00Z")).unwrap();
        let crate::schedule::Planned::Cron { times, .. } = &plan.times else { panic!("a cron") };
        let CronTimes { quartz, .. } = times;
        let bytes = size_of_val(&plan) + quartz.as_ref().map_or(0, |days| size_of_val(&**days));
        assert!(bytes <= 200, "{expression}: {bytes} bytes");
    }
}
