//! Dates as day numbers and wall-clock times as milliseconds, so that stepping through a
//! calendar is arithmetic on small integers and cannot fail.
//!
//! Knows the Gregorian calendar and nothing else: which instant a wall-clock time is, if any,
//! is a question for the zone.

/// Days since 1970-01-01.
pub(crate) type Day = i64;

/// What a clock on the wall shows, as milliseconds since it showed 1970-01-01 00:00.
pub(crate) type Wall = i64;

pub(crate) const SECOND: i64 = 1000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Nothing is planned at or after this: 9999-01-01.
pub(crate) const HORIZON: Wall = 253_370_764_800 * SECOND;
pub(crate) const HORIZON_YEAR: i64 = 9999;

const DAYS_IN_400_YEARS: i64 = 146_097;

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day number of a date. A year is counted from March, so that the leap day is its last.
pub(crate) fn day_of(year: i64, month: u32, day: u32) -> Day {
    let year_from_march = if month > 2 { year } else { year - 1 };
    let months_since_march = (i64::from(month) + 9) % 12;
    let days_before_month = (153 * months_since_march + 2) / 5;
    year_from_march * 365 + year_from_march.div_euclid(4) - year_from_march.div_euclid(100)
        + year_from_march.div_euclid(400)
        + days_before_month
        + i64::from(day)
        - 719_469
}

/// (year, month, day of the month) of a day number.
pub(crate) fn date_of(day: Day) -> (i64, u32, u32) {
    let since_march_of_year_0 = day + 719_468;
    let cycle = since_march_of_year_0.div_euclid(DAYS_IN_400_YEARS);
    let in_cycle = since_march_of_year_0.rem_euclid(DAYS_IN_400_YEARS);
    let year_in_cycle = (in_cycle - in_cycle / 1460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
    let in_year = in_cycle - (365 * year_in_cycle + year_in_cycle / 4 - year_in_cycle / 100);
    let months_since_march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * months_since_march + 2) / 5 + 1;
    let month = if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    let year = cycle * 400 + year_in_cycle + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// Monday is 0.
pub(crate) fn weekday(day: Day) -> u32 {
    (day + 3).rem_euclid(7) as u32
}

pub(crate) fn split(wall: Wall) -> (Day, i64) {
    (wall.div_euclid(DAY), wall.rem_euclid(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_is_itself_again() {
        let mut expected = (1899, 12, 31);
        for day in day_of(1899, 12, 31)..day_of(2301, 1, 1) {
            assert_eq!(date_of(day), expected);
            assert_eq!(day_of(expected.0, expected.1, expected.2), day);
            expected = match expected {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == days_in_month(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
        assert_eq!(day_of(1970, 1, 1), 0);
        assert_eq!(weekday(day_of(2026, 11, 21)), 5); // a Saturday
    }
}
