//! One run more, and a wider window.

use super::{at, schedule};
use crate::schedule::{Exception, Timing, Upshot, copied, spread_over};
use crate::{Almanac, Timestamp};

const SAVED: &str = "2025-12-01T00:00:00Z";
const NOW: &str = "2026-01-05T08:00:00+01:00";

fn timing(document: &str) -> Timing {
    Timing { spread_seed: 7, ..Timing::plain(schedule(document), at(SAVED)) }
}

const KINDS: [&str; 7] = [
    "{kind: cron, expression: '0 9 * * *', timeZone: Europe/Berlin}",
    "{startTime: '2025-12-03T09:00:00+01:00', timeZone: Europe/Berlin, repeatLevel: day}",
    "{kind: fixedRate, everySeconds: 7200, startTime: '2026-01-05T09:00:00+01:00'}",
    "{kind: fixedDelay, everySeconds: 60}",
    "{kind: once, at: '2026-01-07T09:00:00+01:00'}",
    "{kind: after, jobs: [load]}",
    "{kind: manual}",
];

#[test]
fn a_job_of_any_kind_can_have_one_run_more() {
    let noon: Timestamp = at("2026-01-07T12:34:00+01:00");
    for document in KINDS {
        let copy = copied(&timing(document), noon, &Almanac::bundled(), at(NOW)).expect(document);
        assert_eq!(copy.outcome, Upshot::Exception { exception: Exception::Added { at: noon }, replaces: None });
        assert_eq!(copy.after[0].planned, noon, "{document}");
        assert!(copy.words.en.starts_with("one run more: Wed 7 Jan 2026, 1"), "{}", copy.words.en);
        let past = copied(&timing(document), at("2026-01-05T07:00:00+01:00"), &Almanac::bundled(), at(NOW));
        assert!(past.expect_err(document).reason.en.contains("passed"));
    }
    let twice = copied(&timing(KINDS[0]), at("2026-01-07T09:00:00+01:00"), &Almanac::bundled(), at(NOW));
    assert!(twice.expect_err("it runs then").reason.en.contains("already"));
    let until = Timing { effective_until: Some(at("2026-01-07T00:00:00Z")), ..timing(KINDS[0]) };
    let over = copied(&until, noon, &Almanac::bundled(), at(NOW));
    assert!(over.expect_err("it is over by then").reason.en.contains("not in force"));
}

#[test]
fn a_wider_window_is_another_spread() {
    for document in &KINDS[..6] {
        let wider = spread_over(&timing(document), 600, &Almanac::bundled(), at(NOW)).expect(document);
        assert_eq!(wider.outcome, Upshot::NewSpread { spread_seconds: 600 });
        assert_eq!(wider.words.en, "at its time → within 10 minutes of its time");
        for (before, after) in wider.before.iter().zip(&wider.after) {
            assert!((0..=600_000).contains(&(after.due.millis() - before.due.millis())), "{document}");
        }
    }
    assert!(spread_over(&timing(KINDS[6]), 600, &Almanac::bundled(), at(NOW)).is_err());
    assert!(spread_over(&timing(KINDS[0]), 90_000, &Almanac::bundled(), at(NOW)).is_err());
}
