//! Instants as the wall clock of one zone shows them, and back.
//!
//! A date here is the number of days since 1970-01-01, a wall-clock time the milliseconds since it
//! showed that day's midnight: both are arithmetic, and only the zone knows which instant is meant.

use campanile_model::schedule::Zone;
use campanile_model::{Code, Fault, Timestamp, Words};

use crate::views::Moment;

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Longer than any change of the clocks that has been.
const LONGEST_CHANGE: i64 = 25 * HOUR;

/// Tells instants in a zone.
pub(crate) struct Told {
    zone: Zone,
}

impl Told {
    pub(crate) fn new(zone: Zone) -> Told {
        Told { zone }
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }

    pub(crate) fn moment(&self, at: Timestamp) -> Moment {
        let written = self.zone.rfc3339(at);
        // `2026-11-21T09:30:00`, perhaps a fraction, and `+08:00`.
        let (clock, offset) = written.split_at(written.len() - 6);
        let text = clock.split('.').next().unwrap_or(clock).replacen('T', " ", 1);
        Moment { ms: at, text, offset: offset.to_owned() }
    }

    pub(crate) fn maybe(&self, at: Option<Timestamp>) -> Option<Moment> {
        at.map(|at| self.moment(at))
    }

    /// `09:30:00.120`
    pub(crate) fn time_of_day(&self, at: Timestamp) -> String {
        let within = self.wall(at).rem_euclid(DAY);
        let (hour, minute) = (within / HOUR, within / MINUTE % 60);
        format!("{hour:02}:{minute:02}:{:02}.{:03}", within / 1000 % 60, within % 1000)
    }

    pub(crate) fn wall(&self, at: Timestamp) -> i64 {
        at.millis() + self.zone.offset_millis(at)
    }

    pub(crate) fn day(&self, at: Timestamp) -> i64 {
        self.wall(at).div_euclid(DAY)
    }

    /// Wall-clock minutes since midnight.
    pub(crate) fn minute(&self, at: Timestamp) -> u32 {
        u32::try_from(self.wall(at).rem_euclid(DAY) / MINUTE).expect("less than a day")
    }

    /// The instant at which the clocks show `wall`: the first of two; where they skip it, later by what they skip.
    pub(crate) fn instant(&self, wall: i64) -> Timestamp {
        let offset_around = |at: i64| self.zone.offset_millis(Timestamp::from_millis(at));
        let before = offset_around(wall - LONGEST_CHANGE);
        let after = offset_around(wall + LONGEST_CHANGE);
        [before.max(after), before.min(after)]
            .into_iter()
            .map(|offset| Timestamp::from_millis(wall - offset))
            .find(|at| self.wall(*at) == wall)
            .unwrap_or(Timestamp::from_millis(wall - before))
    }

    /// The first instant of a day, which need not be a midnight.
    pub(crate) fn day_start(&self, day: i64) -> Timestamp {
        let midnight = self.instant(day * DAY);
        match self.change_between(Timestamp::from_millis(midnight.millis() - LONGEST_CHANGE), midnight) {
            // The clocks went from before midnight to after it: the day begins there.
            Some(change) if self.day(change.at) == day && change.at < midnight => change.at,
            _ => midnight,
        }
    }

    /// The one change of the clocks in (from, until]; two within days of each other do not happen.
    pub(crate) fn change_between(&self, from: Timestamp, until: Timestamp) -> Option<ClockChange> {
        let offset = |at: i64| self.zone.offset_millis(Timestamp::from_millis(at));
        let (mut low, mut high) = (from.millis(), until.millis());
        let (before, after) = (offset(low), offset(high));
        if before == after {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if offset(middle) == before { low = middle } else { high = middle }
        }
        Some(ClockChange { at: Timestamp::from_millis(high), shown: high + before, by: after - before })
    }
}

pub(crate) struct ClockChange {
    pub at: Timestamp,
    /// What the clocks would have shown without it.
    shown: i64,
    by: i64,
}

impl ClockChange {
    pub(crate) fn words(&self) -> Words {
        let minutes = self.by.abs() / MINUTE;
        let (en, zh) = match minutes % 60 {
            0 if minutes == 60 => ("1 hour".to_owned(), "1 小时".to_owned()),
            0 => (format!("{} hours", minutes / 60), format!("{} 小时", minutes / 60)),
            _ => (format!("{minutes} minutes"), format!("{minutes} 分钟")),
        };
        let within = self.shown.rem_euclid(DAY);
        let at = format!("{:02}:{:02}", within / HOUR, within / MINUTE % 60);
        match self.by > 0 {
            true => Words::new(format!("at {at} the clocks go forward by {en}"), format!("{at} 时钟拨快 {zh}")),
            false => Words::new(format!("at {at} the clocks go back by {en}"), format!("{at} 时钟拨慢 {zh}")),
        }
    }
}

/// `2026-11-16` as a day.
pub(crate) fn read_day(text: &str) -> Result<i64, Fault> {
    let day = if text.len() == 10 { format!("{text}T00:00:00Z").parse::<Timestamp>().ok() } else { None };
    day.map(|at| at.millis().div_euclid(DAY)).ok_or_else(|| Code::TimeInvalid.fault().with("text", text))
}

/// `2026-11-18T10:30`, with seconds or without, as a wall-clock time.
pub(crate) fn read_wall(text: &str) -> Result<i64, Fault> {
    let seconds = if text.len() == "2026-11-18T10:30".len() { ":00Z" } else { "Z" };
    let read = format!("{text}{seconds}").replacen(' ', "T", 1).parse::<Timestamp>();
    read.map(Timestamp::millis).map_err(|_| Code::TimeInvalid.fault().with("text", text))
}

/// `2026-11-16`
pub(crate) fn day_text(day: i64) -> String {
    Timestamp::from_millis(day * DAY).to_string().chars().take(10).collect()
}

/// Monday is 1.
pub(crate) fn weekday(day: i64) -> u8 {
    u8::try_from((day + 3).rem_euclid(7) + 1).expect("1 to 7")
}

#[cfg(test)]
mod tests {
    use campanile_model::Almanac;

    use super::*;

    fn told(zone: &str) -> Told {
        Told::new(Almanac::bundled().zone(zone).expect("a zone"))
    }

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn an_instant_is_told_as_the_clock_on_the_wall_shows_it() {
        let moment = told("Asia/Shanghai").moment(at("2026-11-21T01:30:00.120Z"));
        assert_eq!((moment.text.as_str(), moment.offset.as_str()), ("2026-11-21 09:30:00", "+08:00"));
        assert_eq!(told("Asia/Kolkata").moment(at("2026-11-21T01:30:00Z")).offset, "+05:30");
        assert_eq!(told("America/St_Johns").moment(at("2026-11-21T01:30:00Z")).text, "2026-11-20 22:00:00");
        assert_eq!(told("UTC").time_of_day(at("2026-11-21T01:30:07.120Z")), "01:30:07.120");
    }

    #[test]
    fn a_time_that_was_dropped_on_the_calendar_is_the_instant_that_a_person_means() {
        let table = [
            ("Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59:00Z"),
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00Z"), // skipped: 03:30
            ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"), // twice: the first
            ("Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z"),
            ("Asia/Shanghai", "2026-11-18T10:30:15", "2026-11-18T02:30:15Z"),
            ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:30:00Z"),
            ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"),
        ];
        for (zone, wall, expected) in table {
            let wall = read_wall(wall).expect("a wall-clock time");
            assert_eq!(told(zone).instant(wall), at(expected), "{zone} {wall}");
        }
    }

    #[test]
    fn a_day_begins_when_the_clocks_first_show_it() {
        let table = [
            ("Asia/Shanghai", "2026-11-16", "2026-11-15T16:00:00Z"),
            ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z"),
            // The clocks go from 24:00 to 01:00.
            ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"),
        ];
        for (zone, day, expected) in table {
            let day = read_day(day).expect("a day");
            assert_eq!(told(zone).day_start(day), at(expected), "{zone} {}", day_text(day));
        }
        assert_eq!(weekday(read_day("2026-11-16").expect("a day")), 1);
        assert!(read_day("2026-13-01").is_err() && read_day("tomorrow").is_err());
    }

    #[test]
    fn a_change_of_the_clocks_is_said_in_words() {
        let berlin = told("Europe/Berlin");
        let change = |day: &str| {
            let day = read_day(day).expect("a day");
            berlin.change_between(berlin.day_start(day), berlin.day_start(day + 1)).map(|change| change.words().en)
        };
        assert_eq!(change("2026-03-29").as_deref(), Some("at 02:00 the clocks go forward by 1 hour"));
        assert_eq!(change("2026-10-25").as_deref(), Some("at 03:00 the clocks go back by 1 hour"));
        assert_eq!(change("2026-10-26"), None);
    }
}
