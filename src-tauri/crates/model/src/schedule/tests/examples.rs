//! A table of examples: every level of `repeat` and every dialect of cron, over both nights on which the clocks
//! change, leap days, the ends of months and years, and a zone whose rule changed this year.

use super::check;

fn repeat(level: &str, start: &str, more: &str) -> String {
    format!("{{startTime: '{start}', timeZone: Europe/Berlin, repeatLevel: {level}{more}}}")
}

#[test]
fn an_hour_is_an_hour_of_elapsed_time() {
    let saved = "2026-01-01T00:00:00Z";
    check(
        &repeat("hour", "2026-03-29T01:30:00+01:00", ""),
        saved,
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00"],
    );
    check(
        &repeat("hour", "2026-10-25T01:30:00+02:00", ""),
        saved,
        [
            "2026-10-25T01:30:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T03:30:00+01:00",
        ],
    );
    check(
        &repeat("hour", "2027-12-31T20:00:00+01:00", ", repeatInterval: 6"),
        saved,
        ["2027-12-31T20:00:00+01:00", "2028-01-01T02:00:00+01:00", "2028-01-01T08:00:00+01:00"],
    );
}

#[test]
fn a_day_keeps_its_time_of_day() {
    let saved = "2026-01-01T00:00:00Z";
    check(
        &repeat("day", "2026-03-28T02:30:00+01:00", ""),
        saved,
        ["2026-03-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"],
    );
    check(
        &repeat("day", "2026-10-24T02:30:00+02:00", ", dstOverlap: both"),
        saved,
        [
            "2026-10-24T02:30:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-26T02:30:00+01:00",
        ],
    );
    check(
        &repeat("day", "2028-02-27T12:00:00+01:00", ", repeatInterval: 2"),
        saved,
        ["2028-02-27T12:00:00+01:00", "2028-02-29T12:00:00+01:00", "2028-03-02T12:00:00+01:00"],
    );
    check(
        &repeat("day", "2026-12-30T12:00:00+01:00", ", repeatInterval: 3"),
        saved,
        ["2026-12-30T12:00:00+01:00", "2027-01-02T12:00:00+01:00"],
    );
}

#[test]
fn a_week_begins_on_monday() {
    let saved = "2026-01-01T00:00:00Z";
    // 29 March and 25 October 2026 are Sundays.
    check(
        &repeat("week", "2026-03-22T02:30:00+01:00", ""),
        saved,
        ["2026-03-22T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-04-05T02:30:00+02:00"],
    );
    check(
        &repeat("week", "2026-10-18T02:30:00+02:00", ", dstOverlap: second"),
        saved,
        ["2026-10-18T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-11-01T02:30:00+01:00"],
    );
    // Every second week from the one that holds Sunday 27 December: Mondays and Sundays.
    check(
        &repeat("week", "2026-12-27T08:00:00+01:00", ", repeatInterval: 2, repeatDays: [1, 7]"),
        saved,
        ["2026-12-27T08:00:00+01:00", "2027-01-04T08:00:00+01:00", "2027-01-10T08:00:00+01:00"],
    );
    check(
        &repeat("week", "2028-02-28T08:00:00+01:00", ", repeatDays: [2, 3]"),
        saved,
        ["2028-02-28T08:00:00+01:00", "2028-02-29T08:00:00+01:00", "2028-03-01T08:00:00+01:00"],
    );
}

#[test]
fn a_month_passes_over_days_that_it_lacks() {
    let saved = "2026-01-01T00:00:00Z";
    check(
        &repeat("month", "2026-02-28T02:30:00+01:00", ", repeatDays: [29]"),
        saved,
        ["2026-02-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-04-29T02:30:00+02:00"],
    );
    check(
        &repeat("month", "2026-08-31T02:30:00+02:00", ", repeatDays: [25, 31]"),
        saved,
        [
            "2026-08-31T02:30:00+02:00",
            "2026-09-25T02:30:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-31T02:30:00+01:00",
        ],
    );
    check(
        &repeat("month", "2027-12-31T23:00:00+01:00", ", repeatDays: [-1]"),
        saved,
        ["2027-12-31T23:00:00+01:00", "2028-01-31T23:00:00+01:00", "2028-02-29T23:00:00+01:00"],
    );
    check(
        &repeat("month", "2026-11-30T23:00:00+01:00", ", repeatInterval: 3"),
        saved,
        ["2026-11-30T23:00:00+01:00", "2027-05-30T23:00:00+02:00", "2027-08-30T23:00:00+02:00"],
    );
}

#[test]
fn a_year_from_the_leap_day_runs_in_leap_years() {
    check(
        &repeat("year", "2096-02-29T02:30:00+01:00", ""),
        "2096-01-01T00:00:00Z",
        ["2096-02-29T02:30:00+01:00", "2104-02-29T02:30:00+01:00"],
    );
    check(
        &repeat("year", "2020-03-29T01:30:00+01:00", ""),
        "2026-01-01T00:00:00Z",
        ["2026-03-29T01:30:00+01:00", "2027-03-29T01:30:00+02:00"],
    );
    check(
        &repeat("year", "2025-03-29T02:30:00+01:00", ""),
        "2026-01-01T00:00:00Z",
        ["2026-03-29T03:30:00+02:00", "2027-03-29T02:30:00+02:00"],
    );
    check(
        &repeat("year", "2025-12-31T23:59:59+01:00", ", repeatInterval: 2"),
        "2026-01-01T00:00:00Z",
        ["2027-12-31T23:59:59+01:00", "2029-12-31T23:59:59+01:00"],
    );
}

#[test]
fn every_dialect_keeps_to_the_clock_on_the_wall() {
    let cron = |dialect: &str, expression: &str, more: &str| {
        format!("{{kind: cron, dialect: {dialect}, expression: '{expression}', timeZone: Europe/Berlin{more}}}")
    };
    let (spring, autumn) = ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z");
    for (dialect, daily) in [("unix", "30 2 * * *"), ("seconds", "0 30 2 * * *"), ("quartz", "0 30 2 * * ?")] {
        check(&cron(dialect, daily, ""), spring, ["2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"]);
        check(
            &cron(dialect, daily, ", dstGap: nextValid"),
            spring,
            ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
        );
        check(&cron(dialect, daily, ", dstGap: skip"), spring, ["2026-03-30T02:30:00+02:00"]);
        check(&cron(dialect, daily, ""), autumn, ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]);
        check(
            &cron(dialect, daily, ", dstOverlap: both"),
            autumn,
            ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"],
        );
    }
    // A minute field that begins with a star follows the clocks; in quartz `0/30` does not begin with one.
    check(
        &cron("seconds", "15 */30 2 * * *", ""),
        autumn,
        [
            "2026-10-25T02:00:15+02:00",
            "2026-10-25T02:30:15+02:00",
            "2026-10-25T02:00:15+01:00",
            "2026-10-25T02:30:15+01:00",
        ],
    );
    check(
        &cron("quartz", "15 0/30 2 * * ?", ""),
        autumn,
        ["2026-10-25T02:00:15+02:00", "2026-10-25T02:30:15+02:00", "2026-10-26T02:00:15+01:00"],
    );
    check(
        &cron("quartz", "59 59 23 L 2,12 ? 2027-2028", ""),
        "2026-12-31T00:00:00Z",
        ["2027-02-28T23:59:59+01:00", "2027-12-31T23:59:59+01:00", "2028-02-29T23:59:59+01:00"],
    );
    check(
        &cron("seconds", "30 59 23 31 12 *", ""),
        "2026-01-01T00:00:00Z",
        ["2026-12-31T23:59:30+01:00", "2027-12-31T23:59:30+01:00"],
    );
}

#[test]
fn half_an_hour_and_a_lost_day_are_changes_like_others() {
    let cron = |expression: &str, zone: &str| {
        format!("{{kind: cron, dialect: quartz, expression: '{expression}', timeZone: {zone}}}")
    };
    check(
        &cron("0 15 2 ? * SUN", "Australia/Lord_Howe"),
        "2026-09-30T00:00:00Z",
        ["2026-10-04T02:45:00+11:00", "2026-10-11T02:15:00+11:00"],
    );
    check(
        &cron("0 0 12 L-1 12 ?", "Pacific/Apia"),
        "2011-12-01T00:00:00Z",
        ["2011-12-31T12:00:00+14:00", "2012-12-30T12:00:00+14:00"],
    );
    check(
        "{startTime: '2011-12-28T12:00:00-10:00', timeZone: Pacific/Apia, repeatLevel: day, dstGap: skip}",
        "2011-12-01T00:00:00Z",
        [
            "2011-12-28T12:00:00-10:00",
            "2011-12-29T12:00:00-10:00",
            "2011-12-31T12:00:00+14:00",
            "2012-01-01T12:00:00+14:00",
        ],
    );
}

#[test]
fn a_zone_that_changed_its_rule_this_year_keeps_the_time_of_day() {
    // In 2026 Vancouver put its clocks forward for the last time.
    check(
        "{kind: cron, expression: '0 9 1 3,4,11,12 *', timeZone: America/Vancouver}",
        "2026-01-01T00:00:00Z",
        [
            "2026-03-01T09:00:00-08:00",
            "2026-04-01T09:00:00-07:00",
            "2026-11-01T09:00:00-07:00",
            "2026-12-01T09:00:00-07:00",
            "2027-03-01T09:00:00-07:00",
        ],
    );
}
