//! The two nights of the year, and stranger changes: half hours and a day that never was.

use super::{at, check, schedule};
use crate::Almanac;
use crate::schedule::{Timing, preview};

#[test]
fn a_beat_fires_at_each_instant_that_the_clocks_show_it() {
    let quarter_hours = "{kind: cron, expression: '*/15 * * * *', timeZone: Europe/Berlin}";
    check(
        quarter_hours,
        "2026-10-25T00:00:00Z",
        [
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:15:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:45:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:15:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T02:45:00+01:00",
            "2026-10-25T03:00:00+01:00",
        ],
    );
    check(quarter_hours, "2026-03-29T00:45:00Z", ["2026-03-29T01:45:00+01:00", "2026-03-29T03:00:00+02:00"]);
    // One star is enough, in either field.
    check(
        "{kind: cron, expression: '30 * * * *', timeZone: Europe/Berlin}",
        "2026-03-29T00:00:00Z",
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"],
    );
    check(
        "{kind: cron, expression: '*/30 2 * * *', timeZone: Europe/Berlin}",
        "2026-03-28T12:00:00Z",
        ["2026-03-30T02:00:00+02:00"],
    );
}

#[test]
fn a_time_the_clocks_skip_goes_where_the_policy_says() {
    let daily = |policy: &str| format!("{{kind: cron, expression: '30 2 * * *', timeZone: Europe/Berlin{policy}}}");
    let saved = "2026-03-28T00:00:00Z";
    let (before, after) = ("2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00");
    check(&daily(""), saved, [before, "2026-03-29T03:30:00+02:00", after]);
    check(&daily(", dstGap: shift"), saved, [before, "2026-03-29T03:30:00+02:00", after]);
    check(&daily(", dstGap: nextValid"), saved, [before, "2026-03-29T03:00:00+02:00", after]);
    check(&daily(", dstGap: skip"), saved, [before, after]);

    let repeat = "{startTime: '2026-03-28T02:30:00+01:00', timeZone: Europe/Berlin, repeatLevel: day}";
    check(repeat, saved, [before, "2026-03-29T03:30:00+02:00", after]);
}

#[test]
fn a_time_the_clocks_show_twice_is_the_one_the_policy_says() {
    let daily = |policy: &str| format!("{{kind: cron, expression: '30 2 * * *', timeZone: Europe/Berlin{policy}}}");
    let saved = "2026-10-24T12:00:00Z";
    let next_day = "2026-10-26T02:30:00+01:00";
    check(&daily(""), saved, ["2026-10-25T02:30:00+02:00", next_day]);
    check(&daily(", dstOverlap: second"), saved, ["2026-10-25T02:30:00+01:00", next_day]);
    check(&daily(", dstOverlap: both"), saved, ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", next_day]);
}

#[test]
fn firings_that_fall_on_one_instant_are_one() {
    check(
        "{kind: cron, expression: '30 2,3 * * *', timeZone: Europe/Berlin}",
        "2026-03-29T00:00:00Z",
        ["2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00", "2026-03-30T03:30:00+02:00"],
    );
    // A later time of day can come to an earlier instant: they are told in the order of instants.
    check(
        "{kind: cron, expression: '10,45 2,3 * * *', timeZone: Europe/Berlin}",
        "2026-03-29T00:00:00Z",
        ["2026-03-29T03:10:00+02:00", "2026-03-29T03:45:00+02:00", "2026-03-30T02:10:00+02:00"],
    );
    check(
        "{kind: cron, expression: '45 2 * * *', timeZone: Europe/Berlin}",
        "2026-03-29T00:00:00Z",
        ["2026-03-29T03:45:00+02:00"],
    );
}

#[test]
fn a_start_in_the_second_pass_is_where_it_was_put() {
    check(
        "{startTime: '2026-10-25T02:30:00+01:00', timeZone: Europe/Berlin, repeatLevel: day}",
        "2026-01-01T00:00:00Z",
        ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"],
    );
    check(
        "{startTime: '2026-10-25T02:30:00+02:00', timeZone: Europe/Berlin, repeatLevel: day, dstOverlap: second}",
        "2026-01-01T00:00:00Z",
        ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
    );
}

#[test]
fn lord_howe_changes_by_half_an_hour() {
    let saved = "2026-10-02T12:00:00Z";
    check(
        "{kind: cron, expression: '15 2 * * *', timeZone: Australia/Lord_Howe}",
        saved,
        ["2026-10-03T02:15:00+10:30", "2026-10-04T02:45:00+11:00", "2026-10-05T02:15:00+11:00"],
    );
    check(
        "{kind: cron, expression: '45 1 * * *', timeZone: Australia/Lord_Howe, dstOverlap: both}",
        "2026-04-04T12:00:00Z",
        ["2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30", "2026-04-06T01:45:00+10:30"],
    );
}

#[test]
fn in_samoa_the_30th_of_december_2011_never_was() {
    let daily = |policy: &str| format!("{{kind: cron, expression: '0 10 * * *', timeZone: Pacific/Apia{policy}}}");
    let saved = "2011-12-29T12:00:00Z";
    let (before, after) = ("2011-12-29T10:00:00-10:00", "2012-01-01T10:00:00+14:00");
    // A day later is the 31st at ten, which is planned already: one firing.
    check(&daily(""), saved, [before, "2011-12-31T10:00:00+14:00", after]);
    check(&daily(", dstGap: skip"), saved, [before, "2011-12-31T10:00:00+14:00", after]);
    check(
        &daily(", dstGap: nextValid"),
        saved,
        [before, "2011-12-31T00:00:00+14:00", "2011-12-31T10:00:00+14:00", after],
    );
    check(
        "{kind: cron, expression: '0 * * * *', timeZone: Pacific/Apia}",
        "2011-12-30T09:30:00Z",
        ["2011-12-31T00:00:00+14:00", "2011-12-31T01:00:00+14:00"],
    );
}

#[test]
fn a_zone_that_changed_for_good_keeps_the_time_of_day() {
    // Russia left summer time for good in October 2014.
    check(
        "{kind: cron, expression: '0 9 * * *', timeZone: Europe/Moscow}",
        "2014-10-25T00:00:00Z",
        ["2014-10-25T09:00:00+04:00", "2014-10-26T09:00:00+03:00", "2014-10-27T09:00:00+03:00"],
    );
}

#[test]
fn the_preview_says_what_the_clocks_did() {
    let shown = |document: &str, from: &str| {
        let timing = Timing::plain(schedule(document), at(from));
        let runs = preview(&timing, &Almanac::bundled(), at(from), 2).unwrap().runs;
        runs.into_iter().map(|run| run.reason.map_or(String::new(), |words| words.en)).collect::<Vec<_>>()
    };
    let daily = |policy: &str| format!("{{kind: cron, expression: '30 2 * * *', timeZone: Europe/Berlin{policy}}}");
    assert_eq!(
        shown(&daily(""), "2026-03-28T12:00:00Z"),
        ["the clocks skip 02:30 that day: later by the length of the gap", ""]
    );
    assert_eq!(
        shown(&daily(", dstGap: nextValid"), "2026-03-28T12:00:00Z"),
        ["the clocks skip the time that was meant: at the first moment after the gap", ""]
    );
    assert_eq!(
        shown(&daily(", dstOverlap: both"), "2026-10-24T12:00:00Z"),
        [
            "the clocks show 02:30 twice that day: this is the first",
            "the clocks show 02:30 twice that day: this is the second"
        ]
    );
}
