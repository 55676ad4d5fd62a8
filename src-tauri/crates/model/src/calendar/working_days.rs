//! A calendar with everything looked up: cheap to ask for any day, near or far.
//!
//! Years in which some day is marked, or which have data, are bit sets with the number of working days
//! before each; all other years are arithmetic on the week. To count a hundred years of working days
//! costs no more than to count a week of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Calendar, Date, DayKind, Uncovered};
use crate::schedule::civil::{DAY, Day, HORIZON_YEAR, date_of, day_of, is_leap, weekday};
use crate::{Timestamp, Words};

/// A run is moved over no more days than these.
pub const LONGEST_ROLL_DAYS: i64 = 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Working,
    Off,
    /// There is no data for its year, and the calendar says to wait for it.
    Unknown,
}

/// Where a day on which nobody works leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rolled {
    To(Day),
    /// No working day is near enough.
    Nowhere,
    /// A year that has no data yet lies between.
    Unknown,
}

/// A day that departs from the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub kind: DayKind,
    pub name: Option<Words>,
    /// The calendar and the layer that say so.
    pub calendar: String,
    pub layer: String,
}

#[derive(Clone, Debug)]
pub struct WorkingDays {
    name: String,
    label: Words,
    /// Monday is bit 0.
    week: u8,
    hold: bool,
    time_zone: Option<String>,
    /// Nothing but the week is needed where no year is named.
    covered: BTreeSet<i64>,
    marks: BTreeMap<Day, Mark>,
    first_year: i64,
    years: Vec<Year>,
    version: String,
}

/// One year of the table.
#[derive(Clone, Copy, Debug)]
struct Year {
    begins: Day,
    /// Working days from the beginning of the table to the beginning of this year.
    before: i64,
    worked: [u64; 6],
}

impl WorkingDays {
    /// `base` is what the calendar builds on, if it builds on one.
    pub fn new(calendar: &Calendar, base: Option<&WorkingDays>) -> WorkingDays {
        let week = match &calendar.week {
            Some(days) => days.iter().filter(|day| (1..=7).contains(*day)).fold(0, |week, day| week | 1 << (day - 1)),
            None => base.map_or(0b1_1111, |base| base.week),
        };
        let uncovered = calendar.uncovered.map(|uncovered| uncovered == Uncovered::Hold);
        let mut covered = base.map(|base| base.covered.clone()).unwrap_or_default();
        let mut marks = base.map(|base| base.marks.clone()).unwrap_or_default();
        for layer in &calendar.layers {
            covered.extend(layer.years.iter().map(|year| i64::from(*year)));
            for day in &layer.days {
                let mark = Mark {
                    kind: day.kind,
                    name: day.name.clone(),
                    calendar: calendar.name.clone(),
                    layer: layer.name.clone(),
                };
                marks.insert(day.date.day(), mark);
            }
        }
        let mut working = WorkingDays {
            name: calendar.name.clone(),
            label: calendar.label(),
            week,
            hold: uncovered.unwrap_or_else(|| base.is_some_and(|base| base.hold)),
            time_zone: calendar.time_zone.clone().or_else(|| base.and_then(|base| base.time_zone.clone())),
            covered,
            marks,
            first_year: 1970,
            years: Vec::new(),
            version: String::new(),
        };
        working.fill_in_years();
        working.version = working.fingerprint();
        working
    }

    fn fill_in_years(&mut self) {
        let marked = self.marks.keys().map(|day| date_of(*day).0);
        let told: BTreeSet<i64> = self.covered.iter().copied().chain(marked).collect();
        let (Some(first), Some(last)) = (told.first(), told.last()) else { return };
        self.first_year = *first;
        let mut before = 0;
        for year in *first..=*last {
            let begins = day_of(year, 1, 1);
            let mut worked = [0_u64; 6];
            for place in 0..if is_leap(year) { 366 } else { 365 } {
                if self.by_mark_or_week(begins + place) == Standing::Working {
                    worked[place as usize / 64] |= 1 << (place % 64);
                }
            }
            self.years.push(Year { begins, before, worked });
            before += worked.iter().map(|word| i64::from(word.count_ones())).sum::<i64>();
        }
    }

    fn by_mark_or_week(&self, day: Day) -> Standing {
        if self.is_unknown(day) {
            return Standing::Unknown;
        }
        let works = match self.marks.get(&day) {
            Some(mark) => mark.kind == DayKind::Work,
            None => self.week & 1 << weekday(day) != 0,
        };
        if works { Standing::Working } else { Standing::Off }
    }

    fn is_unknown(&self, day: Day) -> bool {
        self.hold && !self.covers_year(date_of(day).0)
    }

    /// Names what it plans by: two that agree on every day have the same one.
    fn fingerprint(&self) -> String {
        // FNV-1a: the ledger keeps it, so it must be the same on every machine and in every release.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        take(&[self.week, u8::from(self.hold)]);
        take(self.time_zone.as_deref().unwrap_or_default().as_bytes());
        for year in &self.covered {
            take(&year.to_le_bytes());
        }
        for (day, mark) in &self.marks {
            take(&day.to_le_bytes());
            take(&[u8::from(mark.kind == DayKind::Work)]);
        }
        format!("{}:{:08x}", self.name, (hash ^ hash >> 32) as u32)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What people call it.
    pub fn label(&self) -> &Words {
        &self.label
    }

    /// Such as `cn:5f1c29ab`; what it plans by, not how its days are named.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn time_zone(&self) -> Option<&str> {
        self.time_zone.as_deref()
    }

    /// Whether nothing is planned in years without data.
    pub fn holds(&self) -> bool {
        self.hold
    }

    /// Working days of an ordinary week, 1 (Monday) to 7.
    pub fn week(&self) -> Vec<u8> {
        (1..=7).filter(|day| self.week & 1 << (day - 1) != 0).collect()
    }

    /// Whether it needs data from year to year at all.
    pub fn needs_data(&self) -> bool {
        !self.covered.is_empty()
    }

    /// The years that have data.
    pub fn covered_years(&self) -> impl Iterator<Item = i64> + '_ {
        self.covered.iter().copied()
    }

    pub fn covers_year(&self, year: i64) -> bool {
        self.covered.is_empty() || self.covered.contains(&year)
    }

    /// The year of a day, where that has no data.
    pub(crate) fn uncovered_year(&self, day: Day) -> Option<i64> {
        let year = date_of(day).0;
        (!self.covers_year(year)).then_some(year)
    }

    /// The last day up to which there is data without a break from `day` on. None: no end is in sight.
    pub fn data_ends(&self, day: Day) -> Option<Date> {
        if !self.needs_data() {
            return None;
        }
        let mut year = date_of(day).0;
        while self.covers_year(year) {
            year += 1;
        }
        Some(Date::of_day(day_of(year, 1, 1) - 1))
    }

    /// The same, from the day that holds an instant, in UTC.
    pub fn data_ends_from(&self, at: Timestamp) -> Option<Date> {
        self.data_ends(at.millis().div_euclid(DAY))
    }

    /// Years that have data, or in which some day is marked.
    pub fn told_years(&self) -> impl Iterator<Item = i64> + '_ {
        self.first_year..self.first_year + self.years.len() as i64
    }

    pub fn marked_days(&self) -> impl Iterator<Item = Date> + '_ {
        self.marks.keys().map(|day| Date::of_day(*day))
    }

    pub fn standing_of(&self, date: Date) -> Standing {
        self.standing(date.day())
    }

    pub fn mark_of(&self, date: Date) -> Option<&Mark> {
        self.marks.get(&date.day())
    }

    pub(crate) fn standing(&self, day: Day) -> Standing {
        match self.year_at(day) {
            Some(_) if self.hold => self.by_mark_or_week(day),
            Some(year) if year.works(day) => Standing::Working,
            Some(_) => Standing::Off,
            None => self.by_mark_or_week(day),
        }
    }

    pub(crate) fn is_working(&self, day: Day) -> bool {
        self.standing(day) == Standing::Working
    }

    fn year_at(&self, day: Day) -> Option<&Year> {
        let first = self.years.first()?;
        if day < first.begins {
            return None;
        }
        let place = self.years.partition_point(|year| year.begins <= day) - 1;
        let year = &self.years[place];
        (day - year.begins < 366 && date_of(day).0 == self.first_year + place as i64).then_some(year)
    }

    /// Why a day is worked, or is not: the name of the day, else what the week says.
    pub fn why(&self, date: Date) -> Words {
        let standing = self.standing_of(date);
        let marked = self.mark_of(date).and_then(|mark| mark.name.clone());
        match (standing, marked) {
            (Standing::Unknown, _) => {
                let year = date.year().to_string();
                Words::new("no data for {year}", "没有 {year} 年的数据").with("year", &year)
            }
            (_, Some(name)) => name,
            (Standing::Working, None) => Words::new("working day", "工作日"),
            (Standing::Off, None) if weekday(date.day()) > 4 => Words::new("weekend", "周末"),
            (Standing::Off, None) => Words::new("not a working day", "非工作日"),
        }
    }

    /// The working day that a run on `day`, on which nobody works, is moved to.
    pub(crate) fn roll(&self, day: Day, step: i64) -> Rolled {
        for distance in 1..=LONGEST_ROLL_DAYS {
            match self.standing(day + step * distance) {
                Standing::Working => return Rolled::To(day + step * distance),
                Standing::Off => {}
                Standing::Unknown => return Rolled::Unknown,
            }
        }
        Rolled::Nowhere
    }

    /// Working days before `day`, counted from a fixed day: the number of a working day in the row of all.
    pub(crate) fn number(&self, day: Day) -> i64 {
        let begins = self.table_begins();
        if day < begins {
            return if self.hold && self.needs_data() { 0 } else { -self.in_weeks(day, begins) };
        }
        match self.year_at(day) {
            Some(year) => year.before + year.worked_before(day),
            None => {
                let beyond = self.table_ends();
                let in_table = self.in_table();
                if self.hold && self.needs_data() { in_table } else { in_table + self.in_weeks(beyond, day) }
            }
        }
    }

    /// The working day that has a number. None: there is none that is known.
    pub(crate) fn numbered(&self, number: i64) -> Option<Day> {
        let (in_table, waits) = (self.in_table(), self.hold && self.needs_data());
        if (0..in_table).contains(&number) {
            let place = self.years.partition_point(|year| year.before <= number) - 1;
            // Years without a working day share their number with the one after.
            return self.years[place].nth(number - self.years[place].before);
        }
        if waits || self.week == 0 {
            return None;
        }
        let per_week = i64::from(self.week.count_ones());
        let (from, nth) = match number < 0 {
            // Whole weeks back, far enough, and forward from there.
            true => {
                let weeks = (-number).div_euclid(per_week) + 1;
                let from = self.table_begins() - 7 * weeks;
                (from, number + weeks * per_week)
            }
            false => (self.table_ends() + 7 * ((number - in_table) / per_week), (number - in_table) % per_week),
        };
        let mut left = nth;
        let mut day = from;
        loop {
            if self.week & 1 << weekday(day) != 0 {
                if left == 0 {
                    return (date_of(day).0 < HORIZON_YEAR).then_some(day);
                }
                left -= 1;
            }
            day += 1;
        }
    }

    /// The first working day at or after `day`, that is known of.
    pub(crate) fn working_from(&self, day: Day) -> Option<Day> {
        match self.is_working(day) {
            true => Some(day),
            false => self.numbered(self.number(day)),
        }
    }

    fn table_begins(&self) -> Day {
        day_of(self.first_year, 1, 1)
    }

    fn table_ends(&self) -> Day {
        day_of(self.first_year + self.years.len() as i64, 1, 1)
    }

    fn in_table(&self) -> i64 {
        self.years.last().map_or(0, |last| last.before + last.worked_before(last.begins + 366))
    }

    /// Working days of the week in [from, to).
    fn in_weeks(&self, from: Day, to: Day) -> i64 {
        let whole = (to - from) / 7;
        let rest = (from + whole * 7..to).filter(|day| self.week & 1 << weekday(*day) != 0).count();
        whole * i64::from(self.week.count_ones()) + rest as i64
    }
}

impl Year {
    fn works(&self, day: Day) -> bool {
        let place = (day - self.begins) as usize;
        self.worked[place / 64] & 1 << (place % 64) != 0
    }

    fn worked_before(&self, day: Day) -> i64 {
        let place = (day - self.begins) as usize;
        let whole: u32 = self.worked[..place / 64].iter().map(|word| word.count_ones()).sum();
        let part = self.worked.get(place / 64).map_or(0, |word| (word & ((1_u64 << (place % 64)) - 1)).count_ones());
        i64::from(whole + part)
    }

    /// The n-th working day of the year, from 0.
    fn nth(&self, n: i64) -> Option<Day> {
        let mut left = n;
        for (index, word) in self.worked.iter().enumerate() {
            let here = i64::from(word.count_ones());
            if left >= here {
                left -= here;
                continue;
            }
            let mut word = *word;
            for _ in 0..left {
                word &= word - 1;
            }
            return Some(self.begins + index as i64 * 64 + i64::from(word.trailing_zeros()));
        }
        None
    }
}
