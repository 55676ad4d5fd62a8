//! The times of a cron expression on the wall clock: whole days are passed over by mask, so that
//! the 29th of February is as near as the next minute.

use crate::schedule::civil::{
    DAY, Day, HORIZON_YEAR, HOUR, MINUTE, SECOND, Wall, date_of, day_of, days_in_month, split, weekday,
};
use crate::schedule::zone::WallTimes;

/// A set bit is a number that the field names. 32 bytes for each expression.
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
}

/// Four centuries are one turn of the calendar: what has not come by then never comes.
const TURN_YEARS: i64 = 400;

impl CronTimes {
    /// Whether any date there is satisfies the day fields.
    pub(crate) fn has_a_day(&self) -> bool {
        let longest = |month: u32| days_in_month(2000, month);
        // Every date that exists falls on every weekday at some time.
        (self.either_day && self.weekdays != 0)
            || (1..=12).any(|month| self.has_month(month) && self.days & days_up_to(longest(month)) != 0)
    }

    pub(crate) fn has_month(&self, month: u32) -> bool {
        self.months & 1 << month != 0
    }

    /// Bit n is the n-th of that month.
    fn days_of(&self, year: i64, month: u32) -> u32 {
        let length = days_in_month(year, month);
        let sunday_0 = (weekday(day_of(year, month, 1)) + 1) % 7;
        // Turned so that bit 0 is the weekday of the 1st, then laid end to end over the month.
        let week = u64::from(self.weekdays);
        let week = (week >> sunday_0 | week << (7 - sunday_0)) & 0x7f;
        let by_weekday = (0..5).fold(0u64, |days, nth| days | week << (7 * nth)) << 1;
        let by_weekday = by_weekday as u32;
        let days = if self.either_day { self.days | by_weekday } else { self.days & by_weekday };
        days & days_up_to(length)
    }

    fn day_at_or_after(&self, from: Day) -> Option<Day> {
        let (mut year, mut month, day) = date_of(from);
        let last_year = (year + TURN_YEARS).min(HORIZON_YEAR - 1);
        let mut not_before = !0u32 << day;
        while year <= last_year {
            if self.has_month(month) {
                let days = self.days_of(year, month) & not_before;
                if days != 0 {
                    return Some(day_of(year, month, days.trailing_zeros()));
                }
            }
            not_before = !0;
            // The next month named, or the first one of the next year.
            match self.months >> (month + 1) {
                0 => {
                    year += 1;
                    month = self.months.trailing_zeros();
                }
                later => month += 1 + later.trailing_zeros(),
            }
        }
        None
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
        Some(i64::from(hour) * HOUR + i64::from(minute) * MINUTE + i64::from(second) * SECOND)
    }
}

fn days_up_to(last: u32) -> u32 {
    (!0u32 >> (31 - last)) & !1
}

fn lowest(mask: u64) -> Option<u32> {
    (mask != 0).then(|| mask.trailing_zeros())
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
}
