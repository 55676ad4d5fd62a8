//! Every change of the clocks of every zone from 1970 to 2037: around it, what is planned is what a
//! walk over each minute finds, in order, and the same backwards and in number.
//!
//! An everyday run looks at one change in a few dozen, another few dozen each time the list of
//! changes grows; CAMPANILE_SOAK looks at all of them.

use jiff::ToSpan;
use jiff::tz::TimeZoneDatabase;

use super::against_others::Plain;
use crate::schedule::{Cron, DstGap, DstOverlap, Plan, Repeat, RepeatLevel, Schedule};
use crate::{Almanac, Timestamp};

const EVERYDAY: usize = 61;

/// Minute, hour, day of the month, day of the week.
const EXPRESSIONS: [[&str; 4]; 10] = [
    ["30", "2", "*", "*"],
    ["0,30", "0-3", "*", "*"],
    ["*/20", "*", "*", "*"],
    ["15", "*", "*", "*"],
    ["*/10", "1,2,23", "*", "*"],
    ["5-55/10", "0,1,2,3", "*", "*"],
    ["0", "0", "*", "*"],
    ["59", "23,1", "*", "0,6"],
    ["1", "0", "1-7", "0"],
    ["45", "1,2", "*/2", "*"],
];

const GAPS: [DstGap; 3] = [DstGap::Shift, DstGap::NextValid, DstGap::Skip];
const OVERLAPS: [DstOverlap; 3] = [DstOverlap::First, DstOverlap::Second, DstOverlap::Both];

fn forwards(plan: &Plan, from: Timestamp, until: Timestamp) -> Vec<i64> {
    let mut times = Vec::new();
    let mut after = from.plus_millis(-1);
    while let Some(next) = plan.next_after(after).filter(|next| *next < until) {
        assert!(next > after, "{next} does not come after {after}");
        times.push(next.millis());
        after = next;
    }
    times
}

fn backwards(plan: &Plan, from: Timestamp, until: Timestamp) -> Vec<i64> {
    let mut times = Vec::new();
    let mut before = until;
    while let Some(last) = plan.last_before(before).filter(|last| *last >= from) {
        assert!(last < before, "{last} does not come before {before}");
        times.push(last.millis());
        before = last;
    }
    times.reverse();
    times
}

#[test]
fn around_each_change_of_each_zone_every_minute_is_accounted_for() {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some();
    let almanac = Almanac::bundled();
    let zones = TimeZoneDatabase::bundled();
    let mut names = almanac.zones().names();
    names.sort();
    let (mut changes, mut looked_at) = (0_usize, 0_usize);
    for name in &names {
        let tz = zones.get(name).unwrap();
        let zone = almanac.zone(name).unwrap();
        let mut stretch = zone.stretch(0);
        while stretch.end < 2_145_916_800_000 {
            let change = Timestamp::from_millis(stretch.end);
            stretch = zone.stretch(stretch.end);
            changes += 1;
            if stretch.offset == stretch.before || !(soak || changes.is_multiple_of(EVERYDAY)) {
                continue;
            }
            looked_at += 1;
            // Another expression and another policy from one change to the next.
            let [minutes, hours, days, weekdays] = EXPRESSIONS[looked_at % EXPRESSIONS.len()];
            let (gap, overlap) = (GAPS[looked_at / 2 % 3], OVERLAPS[looked_at / 3 % 3]);
            let expression = format!("{minutes} {hours} {days} * {weekdays}");
            let case = format!("{expression} in {name} around {change}, {gap:?} {overlap:?}");

            let from = jiff::Timestamp::from_millisecond(change.millis()).unwrap() - 25.hours();
            let expected: Vec<i64> =
                Plain::new(minutes, hours, days, weekdays).instants(&tz, from, 2, gap, overlap).into_iter().collect();
            let (from, until) = (change.plus_seconds(-25 * 3600), change.plus_seconds(23 * 3600));
            let cron = Cron { dst_gap: gap, dst_overlap: overlap, ..Cron::unix(&expression, name) };
            let plan = Schedule::Cron(cron).plan(&almanac, Timestamp::from_millis(-1_000_000_000_000)).unwrap();
            assert_eq!(forwards(&plan, from, until), expected, "{case}");
            assert_eq!(backwards(&plan, from, until), expected, "{case}, backwards");
            assert_eq!(plan.count_between(from, until), expected.len() as u64, "{case}, counted");

            let start = change.plus_seconds(-86_400 * (looked_at as i64 % 9) - 1800 * (looked_at as i64 % 5));
            let level = [RepeatLevel::Day, RepeatLevel::Week, RepeatLevel::Month, RepeatLevel::Hour][looked_at % 4];
            let repeat = Repeat { dst_gap: gap, dst_overlap: overlap, ..Repeat::new(start, name.as_str(), level) };
            let plan = Schedule::Repeat(repeat).plan(&almanac, Timestamp::from_millis(-1_000_000_000_000)).unwrap();
            let times = forwards(&plan, start.plus_seconds(-86_400), until);
            assert_eq!(times.first(), Some(&start.millis()), "{case}: a {level:?} from {start} begins there");
            assert_eq!(backwards(&plan, start.plus_seconds(-86_400), until), times, "{case}: {level:?} backwards");
            assert_eq!(plan.count_between(start.plus_seconds(-86_400), until), times.len() as u64, "{case}: {level:?}");
        }
    }
    assert!(changes > 30_000 && looked_at > changes / EVERYDAY / 2, "{looked_at} of {changes}");
}
