//! Times in a range, without going through them: the last before a moment, how many there are, and
//! how many fall into each of many equal stretches of time.
//!
//! The calendar of a hundred thousand jobs is drawn from this. What is found here is what
//! [`Plan::next_after`] finds one by one; the tests hold them against each other.

use super::civil::{self, DAY, Wall, split};
use super::cron::CronTimes;
use super::zone::{Reading, Shown, WallTimes, Zone};
use super::{EARLIEST, Plan, Planned, interval};
use crate::Timestamp;

/// Equal stretches of time, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    start: i64,
    step: i64,
    cells: usize,
}

impl Grid {
    /// `step_seconds` of 0 is taken for 1.
    pub fn new(start: Timestamp, step_seconds: u32, cells: usize) -> Grid {
        Grid { start: start.millis(), step: i64::from(step_seconds.max(1)) * 1000, cells }
    }

    pub fn start(&self) -> Timestamp {
        Timestamp::from_millis(self.start)
    }

    /// The first moment after it.
    pub fn end(&self) -> Timestamp {
        let cells = i64::try_from(self.cells).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.start.saturating_add(self.step.saturating_mul(cells)))
    }

    pub fn cells(&self) -> usize {
        self.cells
    }

    pub fn cell_of(&self, at: Timestamp) -> Option<usize> {
        let place = at.millis().checked_sub(self.start)?.div_euclid(self.step);
        usize::try_from(place).ok().filter(|place| *place < self.cells)
    }

    pub fn cell_start(&self, cell: usize) -> Timestamp {
        let cell = i64::try_from(cell).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.start.saturating_add(self.step.saturating_mul(cell)))
    }

    fn moved(self, millis: i64) -> Grid {
        Grid { start: self.start + millis, ..self }
    }
}

impl Plan {
    /// The last planned time strictly before `before`; none: nothing is planned before it.
    pub fn last_before(&self, before: Timestamp) -> Option<Timestamp> {
        let before = before.millis().min(self.last.saturating_add(1)).clamp(EARLIEST, civil::HORIZON);
        let last = match &self.times {
            Planned::Cron { zone, times, reading } => zone.last_before(before, times, *reading),
            Planned::Dated { zone, first, times, reading } => {
                let by_rule = zone.last_before(before, times, *reading).filter(|last| Some(*last) > *first);
                by_rule.or(first.filter(|first| *first < before))
            }
            Planned::Elapsed { start, period, .. } => {
                (before > *start).then(|| start + (before - 1 - start).div_euclid(*period) * period)
            }
            Planned::Delay { first, .. } | Planned::Once(first) => Some(*first).filter(|first| *first < before),
            Planned::Nothing => None,
        };
        last.filter(|last| *last >= self.saved_at).map(Timestamp::from_millis)
    }

    /// How many times are planned in [from, until). Of a fixed delay only the first is known.
    pub fn count_between(&self, from: Timestamp, until: Timestamp) -> u64 {
        let Some((from, until)) = self.within(from, until) else { return 0 };
        match &self.times {
            Planned::Cron { zone, times, reading } => count_shown(zone, times, *reading, from, until),
            Planned::Dated { zone, first, times, reading } => {
                let its_own = u64::from(first.is_some_and(|first| (from..until).contains(&first)));
                let rest = first.map_or(from, |first| from.max(first + 1));
                its_own + count_shown(zone, times, *reading, rest, until)
            }
            Planned::Elapsed { start, period, .. } => elapsed_between(*start, *period, from, until),
            Planned::Delay { first, .. } | Planned::Once(first) => u64::from((from..until).contains(first)),
            Planned::Nothing => 0,
        }
    }

    /// Adds to each cell how many of the times planned in [from, until) come, `later` milliseconds
    /// later than planned, to lie in it. The grid has to hold all of them.
    pub(crate) fn add_counts(&self, grid: &Grid, from: Timestamp, until: Timestamp, later: i64, counts: &mut [u32]) {
        let grid = grid.moved(-later);
        let (from, until) = (from.max(grid.start()), until.min(grid.end()));
        let Some((from, until)) = self.within(from, until) else { return };
        match &self.times {
            Planned::Cron { zone, times, reading } => {
                zone.each_shown(from, until, times, *reading, |shown| match shown {
                    Shown::Walls { first, end, offset } => cron_cells(&grid, times, first, end, offset, counts),
                    Shown::Moved(at) => one_in(&grid, at, counts),
                });
            }
            Planned::Elapsed { start, period, .. } if *period < grid.step => {
                let first = grid.cell_of(Timestamp::from_millis(from)).unwrap_or(0);
                for (cell, count) in counts.iter_mut().enumerate().skip(first) {
                    let begins = grid.cell_start(cell).millis();
                    if begins >= until {
                        break;
                    }
                    let (begins, ends) = (begins.max(from), (begins + grid.step).min(until));
                    *count += u32::try_from(elapsed_between(*start, *period, begins, ends)).unwrap_or(u32::MAX);
                }
            }
            Planned::Elapsed { start, period, .. } => {
                let mut after = from - 1;
                while let Some(next) = interval::elapsed_after(*start, *period, after).filter(|next| *next < until) {
                    one_in(&grid, next, counts);
                    after = next;
                }
            }
            Planned::Dated { zone, first, times, reading } => {
                if let Some(first) = first.filter(|first| (from..until).contains(first)) {
                    one_in(&grid, first, counts);
                }
                let rest = first.map_or(from, |first| from.max(first + 1));
                zone.each_shown(rest, until, times, *reading, |shown| match shown {
                    Shown::Walls { first, end, offset } => {
                        let mut wall = first;
                        while let Some(next) = times.at_or_after(wall).filter(|next| *next < end) {
                            one_in(&grid, next - offset, counts);
                            wall = next + 1;
                        }
                    }
                    Shown::Moved(at) => one_in(&grid, at, counts),
                });
            }
            Planned::Delay { first, .. } | Planned::Once(first) => {
                if (from..until).contains(first) {
                    one_in(&grid, *first, counts);
                }
            }
            Planned::Nothing => {}
        }
    }

    /// The part of a range in which anything can be planned.
    fn within(&self, from: Timestamp, until: Timestamp) -> Option<(i64, i64)> {
        let from = from.millis().max(self.saved_at).max(EARLIEST);
        let until = until.millis().min(self.last.saturating_add(1)).min(civil::HORIZON);
        (from < until).then_some((from, until))
    }
}

fn one_in(grid: &Grid, at: i64, counts: &mut [u32]) {
    if let Some(count) = grid.cell_of(Timestamp::from_millis(at)).and_then(|cell| counts.get_mut(cell)) {
        *count += 1;
    }
}

fn elapsed_between(start: i64, period: i64, from: i64, until: i64) -> u64 {
    let before = |at: i64| (at - 1 - start).div_euclid(period).max(-1);
    u64::try_from(before(until) - before(from)).unwrap_or(0)
}

fn count_shown(zone: &Zone, times: &impl WallTimes, reading: Reading, from: i64, until: i64) -> u64 {
    let mut count = 0;
    zone.each_shown(from, until, times, reading, |shown| {
        count += match shown {
            Shown::Walls { first, end, .. } => times.count(first, end),
            Shown::Moved(_) => 1,
        }
    });
    count
}

/// Day by day: rare times are counted one by one, frequent ones by how many come before each edge
/// between two cells.
fn cron_cells(grid: &Grid, times: &CronTimes, first: Wall, end: Wall, offset: i64, counts: &mut [u32]) {
    let mut wall = first;
    while let Some(next) = times.at_or_after(wall).filter(|next| *next < end) {
        let (day, _) = split(next);
        let day_end = ((day + 1) * DAY).min(end);
        let edges = (day_end - next) / grid.step + 1;
        if times.a_day() <= u64::try_from(edges).unwrap_or(0) {
            one_in(grid, next - offset, counts);
            wall = next + 1;
            continue;
        }
        let Some(mut cell) = grid.cell_of(Timestamp::from_millis(next - offset)) else { return };
        let time = |wall: Wall| wall - day * DAY;
        let mut begun = time(next);
        let mut counted = times.before_time(begun);
        while begun < time(day_end) {
            let edge = time(grid.cell_start(cell + 1).millis() + offset).min(time(day_end));
            let before = times.before_time(edge);
            if let Some(count) = counts.get_mut(cell) {
                *count += u32::try_from(before - counted).unwrap_or(u32::MAX);
            }
            (begun, counted, cell) = (edge, before, cell + 1);
        }
        wall = day_end;
    }
}
