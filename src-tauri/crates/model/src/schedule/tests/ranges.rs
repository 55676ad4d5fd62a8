//! What is found in a range at once, held against walking through it one by one.

use proptest::prelude::*;

use super::{at, schedule};
use crate::schedule::{Exception, Grid, Plan, Timing};
use crate::{Almanac, Timestamp};

/// Schedules of every kind that plans times, in zones that do strange things to them.
const DOCUMENTS: [&str; 26] = [
    "{kind: cron, expression: '*/15 * * * *', timeZone: Europe/Berlin}",
    "{kind: cron, expression: '* * * * *', timeZone: Asia/Kathmandu}",
    "{kind: cron, expression: '30 2 * * *', timeZone: Europe/Berlin}",
    "{kind: cron, expression: '30 2,3 * * *', timeZone: Europe/Berlin, dstGap: nextValid, dstOverlap: both}",
    "{kind: cron, expression: '0,59 0-3 * * *', timeZone: Europe/Berlin, dstOverlap: second}",
    "{kind: cron, expression: '5-55/7 0-3,23 * * *', timeZone: America/New_York, dstGap: skip, dstOverlap: both}",
    "{kind: cron, expression: '*/10 1,2 * * *', timeZone: Australia/Lord_Howe}",
    "{kind: cron, expression: '1/10 1,2 * * *', timeZone: Australia/Lord_Howe, dstOverlap: both}",
    "{kind: cron, expression: '*/5 20 8 * * 1-5', dialect: seconds, timeZone: Asia/Shanghai}",
    "{kind: cron, expression: '* * * * * *', dialect: seconds, timeZone: Asia/Shanghai}",
    "{kind: cron, expression: '0 0 12 L-2W,15 * ?', dialect: quartz, timeZone: Europe/Moscow}",
    "{kind: cron, expression: '0 0/7 9-17 ? * 6#3 2024-2030', timeZone: America/Santiago}",
    "{kind: cron, expression: '0 9 29 2 *', timeZone: Pacific/Apia}",
    "{startTime: '2026-03-28T02:30:00+01:00', timeZone: Europe/Berlin, repeatLevel: day}",
    "{startTime: '2026-03-01T02:30:00+01:00', timeZone: Europe/Berlin, repeatLevel: day, repeatInterval: 2, dstOverlap: both}",
    "{startTime: '2026-03-28T01:45:00+10:30', timeZone: Australia/Lord_Howe, repeatLevel: day, dstGap: skip}",
    "{startTime: 1648029600000, timeZone: Asia/Shanghai, repeatLevel: month, repeatInterval: 2, repeatDays: [3, 5, 23]}",
    "{startTime: '2026-01-31T10:00:00Z', repeatLevel: month, repeatDays: [-1, 31, -2]}",
    "{startTime: '2026-01-31T10:00:00Z', repeatLevel: month}",
    "{startTime: '2024-02-29T10:00:00Z', repeatLevel: year}",
    "{startTime: '2026-01-29T10:00:00Z', repeatLevel: week, repeatDays: [1, 4, 7], repeatInterval: 3}",
    "{startTime: '2026-01-31T10:00:00Z', repeatLevel: workday, repeatInterval: 2}",
    "{startTime: '2026-01-31T10:00:00Z', repeatLevel: hour, repeatInterval: 5, count: 100}",
    "{startTime: '2026-01-31T10:00:00Z', repeatLevel: day, endTime: '2026-05-01T10:00:00Z'}",
    "{kind: fixedRate, everySeconds: 47, startTime: 2026-01-01T00:00:11Z}",
    "{kind: fixedRate, everySeconds: 100000, startTime: 2026-01-01T00:00:11Z}",
];

fn walked(plan: &Plan, from: Timestamp, until: Timestamp, most: usize) -> Vec<Timestamp> {
    let mut times = Vec::new();
    let mut after = from.plus_millis(-1);
    while let Some(next) = plan.next_after(after).filter(|next| *next < until) {
        assert!(next > after);
        times.push(next);
        after = next;
        if times.len() == most {
            break;
        }
    }
    times
}

proptest! {
    #[test]
    fn counts_and_steps_back_agree_with_walking(
        document in prop::sample::select(&DOCUMENTS[..]),
        from in prop_oneof![
            Just("2026-03-29T00:00:00Z"), Just("2026-10-25T00:00:00Z"), Just("2026-04-04T14:00:00Z"),
            Just("2026-10-03T14:00:00Z"), Just("2026-02-28T00:00:00Z"), Just("2026-11-01T05:00:00Z"),
            Just("2026-12-31T00:00:00Z"), Just("2026-09-06T00:00:00Z"), Just("2026-01-30T00:00:00Z"),
        ],
        before in 0i64..100_000_000,
        length in 1i64..300_000_000,
    ) {
        const MOST: usize = 4000;
        let plan = schedule(document).plan(&Almanac::bundled(), at("2022-03-01T00:00:00Z")).unwrap();
        let from = at(from).plus_millis(-before);
        let mut until = from.plus_millis(length);
        let times = walked(&plan, from, until, MOST);
        if times.len() == MOST {
            until = *times.last().unwrap();
        }
        let times: Vec<Timestamp> = times.into_iter().filter(|time| *time < until).collect();
        prop_assert_eq!(plan.count_between(from, until), times.len() as u64, "{} from {} to {}", document, from, until);

        let mut back = Vec::new();
        let mut before = until;
        while let Some(last) = plan.last_before(before).filter(|last| *last >= from) {
            prop_assert!(last < before, "{document}: {last} is not before {before}");
            back.push(last);
            before = last;
        }
        back.reverse();
        prop_assert_eq!(&back, &times, "{} from {} to {}", document, from, until);
    }

    #[test]
    fn every_cell_holds_what_walking_finds_in_it(
        document in prop::sample::select(&DOCUMENTS[..]),
        start in 1_767_225_600i64..1_798_761_600,
        step in prop_oneof![Just(900u32), Just(60), Just(3600), 1..5000u32, Just(86_400)],
        cells in 1usize..200,
        spread in prop_oneof![2 => Just(0u32), 1 => 1..7200u32],
        seed in any::<u64>(),
        cut in (0i64..2, 0i64..2),
    ) {
        let saved = at("2022-03-01T00:00:00Z");
        let mut timing = Timing { spread_seconds: spread, spread_seed: seed, ..Timing::plain(schedule(document), saved) };
        let grid = Grid::new(Timestamp::from_millis(start * 1000), step, cells);
        let plan = timing.schedule.plan(&Almanac::bundled(), saved).unwrap();
        let planned = walked(&plan, grid.start(), grid.end(), 3);
        if let [first, .., last] = planned[..] {
            timing.exceptions = vec![Exception::Skip { planned: first }, Exception::MoveTo { planned: last, at: first.plus_seconds(7) }];
        }
        let times = timing.compile(&Almanac::bundled()).unwrap();
        let (from, until) = (grid.start().plus_seconds(cut.0 * 333), grid.end().plus_seconds(-cut.1 * 777));
        let due = times.due_between(from.plus_millis(-1), until.plus_millis(-1), 20_000);
        prop_assume!(due.len() < 20_000);
        let mut expected = vec![0; cells];
        for occurrence in &due {
            expected[grid.cell_of(occurrence.due).unwrap()] += 1;
        }
        let mut counts = vec![0; cells];
        times.add_counts(&grid, from, until, &mut counts);
        prop_assert_eq!(counts, expected, "{} on {:?}", document, grid);
    }
}
