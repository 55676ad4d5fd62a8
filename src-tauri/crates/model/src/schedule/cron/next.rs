//! The times of a cron expression on the wall clock: whole days are passed over by mask, so that
//! the 29th of February is as near as the next minute, and counted by how many bits are set.

use crate::schedule::civil::{
    DAY, Day, HORIZON_YEAR, HOUR, MINUTE, SECOND, Wall, date_of, day_of, days_in_month, split, weekday,
};
use crate::schedule::zone::WallTimes;

/// A set bit is a number that the field names. 40 bytes for each expression, and 64 more for what only quartz can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronTimes {
    pub seconds: u64,
    pub minutes: u64,
    pub hours: u32,
    pub days: u32,
    pub months: u16,
    /// Sunday is bit 0.
    pub weekdays: u8,
    /// A day of either field will do; else it must be in both.
    pub either_day: bool,
    pub quartz: Option<Box<QuartzDays>>,
}

/// Days that are others in each month, and years.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuartzDays {
    /// Bit n: n days before the last of the month.
    pub last: u32,
    /// Bit n: of Monday to Friday the one nearest to the n-th, in the same month.
    pub near: u32,
    /// Bit n: the one nearest to the day n days before the last.
    pub near_last: u32,
    /// Sunday is bit 0.
    pub last_weekdays: u8,
    /// Seven bits for the first week of the month, seven for the second, …
    pub nth_weekdays: u64,
    /// Bit n is the year 1970 + n; none: every year.
    pub years: Option<[u64; 4]>,
}

const FIRST_YEAR: i64 = 1970;

/// Four centuries are one turn of the calendar: what has not come by then never comes.
const TURN_YEARS: i64 = 400;

impl QuartzDays {
    /// Bit n is the n-th of a month of such a length, whose 1st is such a weekday (Sunday is 0).
    fn days_of(&self, length: u32, first: u32) -> (u32, u32) {
        let from_end = |bits: u32| (0..length).filter(move |before| bits & 1 << before != 0).map(move |n| length - n);
        let sunday_0 = |day: u32| (first + day - 1) % 7;
        let nearest = |day: u32| match sunday_0(day) {
            6 if day == 1 => 3,
            6 => day - 1,
            0 if day == length => day - 2,
            0 => day + 1,
            _ => day,
        };
        let last = from_end(self.last).fold(0, |days, day| days | 1 << day);
        let near = (1..=length).filter(|day| self.near & 1 << day != 0).chain(from_end(self.near_last));
        let of_month = near.fold(last, |days, day| days | 1 << nearest(day));
        let of_week = (1..=length).filter(|day| {
            let bit = 1 << sunday_0(*day);
            let is_last = day + 7 > length && self.last_weekdays & bit != 0;
            is_last || self.nth_weekdays >> (7 * ((day - 1) / 7)) & u64::from(bit) != 0
        });
        (of_month, of_week.fold(0, |days, day| days | 1 << day))
    }

    fn has_year(&self, year: i64) -> bool {
        let Some(years) = &self.years else { return true };
        let place = year - FIRST_YEAR;
        (0..256).contains(&place) && years[place as usize / 64] & 1 << (place % 64) != 0
    }
}

impl CronTimes {
    /// Whether any date there is satisfies the day fields.
    pub(crate) fn has_a_day(&self) -> bool {
        self.day_at_or_after(0).is_some()
    }

    /// The same if all years were named.
    pub(crate) fn has_a_day_in_some_year(&self) -> bool {
        let quartz = self.quartz.as_ref().map(|days| Box::new(QuartzDays { years: None, ..(**days).clone() }));
        CronTimes { quartz, ..self.clone() }.has_a_day()
    }

    fn has_month(&self, month: u32) -> bool {
        self.months & 1 << month != 0
    }

    fn has_year(&self, year: i64) -> bool {
        self.quartz.as_ref().is_none_or(|days| days.has_year(year))
    }

    /// Bit n is the n-th of that month.
    fn days_of(&self, year: i64, month: u32) -> u32 {
        let length = days_in_month(year, month);
        let sunday_0 = (weekday(day_of(year, month, 1)) + 1) % 7;
        // Turned so that bit 0 is the weekday of the 1st, then laid end to end over the month.
        let week = u64::from(self.weekdays);
        let week = (week >> sunday_0 | week << (7 - sunday_0)) & 0x7f;
        let by_weekday = (0..5).fold(0u64, |days, nth| days | week << (7 * nth)) << 1;
        let (mut by_day, mut by_weekday) = (self.days, by_weekday as u32);
        if let Some(quartz) = &self.quartz {
            let (of_month, of_week) = quartz.days_of(length, sunday_0);
            by_day |= of_month;
            by_weekday |= of_week;
        }
        let days = if self.either_day { by_day | by_weekday } else { by_day & by_weekday };
        days & days_up_to(length)
    }

    fn day_at_or_after(&self, from: Day) -> Option<Day> {
        let (mut year, mut month, day) = date_of(from);
        let last_year = (year + TURN_YEARS).min(HORIZON_YEAR - 1);
        let mut not_before = !0u32 << day;
        while year <= last_year {
            if !self.has_year(year) {
                (year, month, not_before) = (year + 1, 1, !0);
                continue;
            }
            if self.has_month(month) {
                let days = self.days_of(year, month) & not_before;
                if days != 0 {
                    return Some(day_of(year, month, days.trailing_zeros()));
                }
            }
            not_before = !0;
            // The next month named, or the first one of the next year.
            match self.months >> (month + 1) {
                0 => (year, month) = (year + 1, self.months.trailing_zeros()),
                later => month += 1 + later.trailing_zeros(),
            }
        }
        None
    }

    fn day_at_or_before(&self, to: Day) -> Option<Day> {
        let (mut year, mut month, day) = date_of(to);
        let first_year = year - TURN_YEARS;
        let mut not_after = days_up_to(day);
        while year >= first_year {
            if !self.has_year(year) {
                (year, month, not_after) = (year - 1, 12, !0);
                continue;
            }
            if self.has_month(month) {
                let days = self.days_of(year, month) & not_after;
                if let Some(day) = highest(days.into()) {
                    return Some(day_of(year, month, day));
                }
            }
            not_after = !0;
            match highest((self.months & ((1 << month) - 1)).into()) {
                Some(earlier) => month = earlier,
                None => (year, month) = (year - 1, highest(self.months.into())?),
            }
        }
        None
    }

    /// Days from `from` to before `until`, month by month.
    fn days_between(&self, from: Day, until: Day) -> u64 {
        let mut count = 0;
        let mut day = from;
        while day < until {
            let (year, month, date) = date_of(day);
            let next_month = day + i64::from(days_in_month(year, month) - date) + 1;
            if self.has_year(year) && self.has_month(month) {
                let last = date + u32::try_from(until.min(next_month) - day).unwrap_or(31) - 1;
                let days = self.days_of(year, month) & days_up_to(last) & !0u32 << date;
                count += u64::from(days.count_ones());
            }
            day = next_month;
        }
        count
    }

    fn names_day(&self, day: Day) -> bool {
        self.days_between(day, day + 1) == 1
    }

    fn a_minute(&self) -> u64 {
        self.seconds.count_ones().into()
    }

    fn an_hour(&self) -> u64 {
        u64::from(self.minutes.count_ones()) * self.a_minute()
    }

    pub(crate) fn a_day(&self) -> u64 {
        u64::from(self.hours.count_ones()) * self.an_hour()
    }

    /// How many times of day are before `time` (milliseconds into the day).
    pub(crate) fn before_time(&self, time: i64) -> u64 {
        let second = (time + SECOND - 1) / SECOND;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        if hour >= 24 {
            return self.a_day();
        }
        let below = |mask: u64, bit: i64| u64::from((mask & ((1 << bit) - 1)).count_ones());
        let mut count = below(self.hours.into(), hour) * self.an_hour();
        if self.hours & 1 << hour != 0 {
            count += below(self.minutes, minute) * self.a_minute();
            if self.minutes & 1 << minute != 0 {
                count += below(self.seconds, second);
            }
        }
        count
    }

    /// The first time of day at or after `from` (milliseconds into the day), if there is one.
    fn time_at_or_after(&self, from: i64) -> Option<i64> {
        let from = (from + SECOND - 1) / SECOND;
        let (mut hour, mut minute, second) = ((from / 3600) as u32, (from / 60 % 60) as u32, (from % 60) as u32);
        if hour > 23 {
            return None;
        }
        let mut picked = None;
        if self.hours & 1 << hour != 0 {
            if self.minutes & 1 << minute != 0
                && let Some(second) = lowest(self.seconds & !0 << second)
            {
                picked = Some((minute, second));
            } else if let Some(later) = lowest(self.minutes & (!1 << minute)) {
                minute = later;
                picked = Some((minute, self.seconds.trailing_zeros()));
            }
        }
        let (minute, second) = match picked {
            Some(picked) => picked,
            None => {
                hour = lowest(u64::from(self.hours) & (!1 << hour))?;
                (self.minutes.trailing_zeros(), self.seconds.trailing_zeros())
            }
        };
        Some(time_of_day(hour, minute, second))
    }

    /// The last time of day at or before `to`.
    fn time_at_or_before(&self, to: i64) -> Option<i64> {
        let to = to / SECOND;
        let (hour, minute, second) = ((to / 3600) as u32, (to / 60 % 60) as u32, (to % 60) as u32);
        if self.hours & 1 << hour != 0 {
            if self.minutes & 1 << minute != 0
                && let Some(second) = highest(self.seconds & (!0 >> (63 - second)))
            {
                return Some(time_of_day(hour, minute, second));
            }
            if let Some(minute) = highest(self.minutes & ((1 << minute) - 1)) {
                return Some(time_of_day(hour, minute, highest(self.seconds)?));
            }
        }
        let hour = highest(u64::from(self.hours) & ((1 << hour) - 1))?;
        Some(time_of_day(hour, highest(self.minutes)?, highest(self.seconds)?))
    }
}

fn time_of_day(hour: u32, minute: u32, second: u32) -> i64 {
    i64::from(hour) * HOUR + i64::from(minute) * MINUTE + i64::from(second) * SECOND
}

fn days_up_to(last: u32) -> u32 {
    (!0u32 >> (31 - last)) & !1
}

fn lowest(mask: u64) -> Option<u32> {
    (mask != 0).then(|| mask.trailing_zeros())
}

fn highest(mask: u64) -> Option<u32> {
    mask.checked_ilog2()
}

impl WallTimes for CronTimes {
    fn at_or_after(&self, from: Wall) -> Option<Wall> {
        let (day, time) = split(from);
        let first_day = self.day_at_or_after(day)?;
        if first_day == day {
            if let Some(time) = self.time_at_or_after(time) {
                return Some(day * DAY + time);
            }
            let next_day = self.day_at_or_after(day + 1)?;
            return Some(next_day * DAY + self.time_at_or_after(0)?);
        }
        Some(first_day * DAY + self.time_at_or_after(0)?)
    }

    fn at_or_before(&self, to: Wall) -> Option<Wall> {
        let (day, time) = split(to);
        let last_day = self.day_at_or_before(day)?;
        if last_day == day {
            if let Some(time) = self.time_at_or_before(time) {
                return Some(day * DAY + time);
            }
            let day_before = self.day_at_or_before(day - 1)?;
            return Some(day_before * DAY + self.time_at_or_before(DAY - 1)?);
        }
        Some(last_day * DAY + self.time_at_or_before(DAY - 1)?)
    }

    fn count(&self, from: Wall, until: Wall) -> u64 {
        if from >= until {
            return 0;
        }
        let ((first, from_time), (last, until_time)) = (split(from), split(until));
        let within = |day, time| if self.names_day(day) { self.before_time(time) } else { 0 };
        self.days_between(first, last) * self.a_day() + within(last, until_time) - within(first, from_time)
    }
}
