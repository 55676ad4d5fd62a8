//! What becomes of times that fall on days on which nobody works.
//!
//! Asked for each planned time after exceptions and the effective span have been looked at, and before
//! spread. A time is left out, or moved to a working day at the same time of day; of several that come to
//! one moment one is left, the one that was not moved, else the earliest. A whole stretch of days off is
//! passed at a time and a day is entered at the right moment, so that the cost of the next time does not
//! grow with how often the job runs.
//!
//! What was changed by hand does not come here: a person chose that day.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Zone;
use super::civil::{DAY, Day, HOUR, split};
use crate::calendar::{Date, LONGEST_ROLL_DAYS, Rolled, Standing, WorkingDays};
use crate::{Timestamp, Words};

/// What happens to a run on a day on which nobody works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OnNonWorkday {
    /// It runs all the same.
    #[default]
    Run,
    Skip,
    NextWorkday,
    PreviousWorkday,
}

/// Clocks change by less than this on any day that is looked at from its middle.
const AROUND: i64 = 3 * HOUR;

/// A schedule none of whose times is worked for so long has none.
const LOOK_AHEAD_DAYS: i64 = 40 * 366;

/// Why a time does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nobody works that day.
    Off,
    /// Nobody works that day, nor on any day near enough.
    NoneNear,
    /// It is not known who works that day, and the calendar says to wait.
    NoData,
    /// Another run is at the moment to which it would be moved.
    Merged,
}

/// A time where it comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub due: Timestamp,
    pub moved: bool,
    pub planned: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct Duty {
    pub days: Arc<WorkingDays>,
    pub policy: OnNonWorkday,
    /// In which days begin and end; none is UTC.
    pub zone: Option<Zone>,
}

/// What comes in a stretch of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// What is planned there, and nothing else.
    AsPlanned,
    /// Nothing.
    Empty,
    /// What is planned there and what is moved there.
    Mixed,
}

/// The first planned time strictly after one.
pub(crate) trait PlannedTimes {
    fn first_after(&self, after: Timestamp) -> Option<Timestamp>;
}

impl Duty {
    pub fn day(&self, at: Timestamp) -> Day {
        split(self.wall(at)).0
    }

    pub fn date(&self, at: Timestamp) -> Date {
        Date::of_day(self.day(at))
    }

    fn wall(&self, at: Timestamp) -> i64 {
        self.zone.as_ref().map_or(at.millis(), |zone| zone.wall(at))
    }

    fn at(&self, day: Day, time_of_day: i64) -> Timestamp {
        let wall = day * DAY + time_of_day;
        self.zone.as_ref().map_or(Timestamp::from_millis(wall), |zone| zone.instant_of(wall))
    }

    fn offset(&self, at: Timestamp) -> i64 {
        self.zone.as_ref().map_or(0, |zone| zone.offset_millis(at))
    }

    /// The offset that holds all through a day and around it. None: the clocks change.
    fn offset_throughout(&self, day: Day) -> Option<i64> {
        let begins = self.offset(self.at(day, 0).plus_millis(-AROUND));
        let ends = self.offset(self.at(day + 1, 0).plus_millis(AROUND));
        (begins == ends).then_some(begins)
    }

    fn step(&self) -> i64 {
        if self.policy == OnNonWorkday::PreviousWorkday { -1 } else { 1 }
    }

    /// What becomes of all times of a day.
    fn lead(&self, day: Day) -> Result<Day, Left> {
        match (self.policy, self.days.standing(day)) {
            (OnNonWorkday::Run, _) | (_, Standing::Working) => Ok(day),
            (_, Standing::Unknown) => Err(Left::NoData),
            (OnNonWorkday::Skip, Standing::Off) => Err(Left::Off),
            (_, Standing::Off) => match self.days.roll(day, self.step()) {
                Rolled::To(day) => Ok(day),
                Rolled::Nowhere => Err(Left::NoneNear),
                Rolled::Unknown => Err(Left::NoData),
            },
        }
    }

    /// Where a planned time comes to be, whatever else is planned.
    pub fn place(&self, planned: Timestamp) -> Result<Placed, Left> {
        let (day, time) = split(self.wall(planned));
        let to = self.lead(day)?;
        let due = if to == day { planned } else { self.at(to, time) };
        Ok(Placed { due, moved: to != day, planned })
    }

    /// Days whose times come to be on a working day, that day included.
    fn leading_to(&self, target: Day) -> std::ops::RangeInclusive<Day> {
        if !matches!(self.policy, OnNonWorkday::NextWorkday | OnNonWorkday::PreviousWorkday) {
            return target..=target;
        }
        let back = -self.step();
        let far = (1..=LONGEST_ROLL_DAYS)
            .take_while(|distance| self.days.standing(target + back * distance) == Standing::Off)
            .last()
            .unwrap_or(0);
        if back < 0 { target - far..=target } else { target..=target + far }
    }

    /// The first time that comes to be strictly after `after`.
    pub fn first_after(&self, times: &impl PlannedTimes, after: Timestamp) -> Option<Placed> {
        match self.policy {
            OnNonWorkday::Run => times.first_after(after).map(|planned| Placed { due: planned, moved: false, planned }),
            OnNonWorkday::Skip => self.first_worked(times, after),
            OnNonWorkday::NextWorkday | OnNonWorkday::PreviousWorkday => self.first_moved(times, after),
        }
    }

    fn first_worked(&self, times: &impl PlannedTimes, after: Timestamp) -> Option<Placed> {
        let last_day = self.day(after) + LOOK_AHEAD_DAYS;
        let mut after = after;
        loop {
            let planned = times.first_after(after)?;
            let day = self.day(planned);
            if self.days.is_working(day) {
                return Some(Placed { due: planned, moved: false, planned });
            }
            let worked = self.days.working_from(day + 1).filter(|worked| *worked <= last_day)?;
            // A night on which the clocks go back can show a day twice.
            after = after.max(self.at(worked, 0).plus_millis(-AROUND - 1)).max(planned);
        }
    }

    fn first_moved(&self, times: &impl PlannedTimes, after: Timestamp) -> Option<Placed> {
        let last_day = self.day(after) + LOOK_AHEAD_DAYS;
        let mut day = self.day(after) - 1;
        loop {
            let target = self.days.working_from(day).filter(|target| *target <= last_day)?;
            if let Some(found) = self.first_on(target, times, after) {
                // Where the clocks skip midnight it can come to be on the day after.
                let later = match self.day(found.due) > target {
                    true => self.days.working_from(target + 1).and_then(|next| self.first_on(next, times, after)),
                    false => None,
                };
                return Some(later.map_or(found, |later| later.min(found)));
            }
            // On to where the next planned time leads.
            let passed = self.at(*self.leading_to(target).end() + 1, 0).plus_millis(-1);
            let next_day = self.day(times.first_after(passed.plus_millis(-AROUND))?);
            day = self.lead(next_day).unwrap_or(next_day).max(target + 1);
        }
    }

    /// The first that comes to be on a working day, strictly after `after`.
    fn first_on(&self, target: Day, times: &impl PlannedTimes, after: Timestamp) -> Option<Placed> {
        self.leading_to(target).filter_map(|day| self.first_of(day, target, times, after)).min()
    }

    /// The first of the times of `day` that comes to be on `target`, strictly after `after`.
    fn first_of(&self, day: Day, target: Day, times: &impl PlannedTimes, after: Timestamp) -> Option<Placed> {
        if let Some(later) = self.later_by(day, target) {
            let begins = self.at(day, 0).plus_millis(-1);
            let planned = times.first_after(begins.max(after.plus_millis(-later)))?;
            let placed = Placed { due: planned.plus_millis(later), moved: day != target, planned };
            return (self.day(planned) == day).then_some(placed);
        }
        let mut first = None;
        self.each_of(day, times, |planned| {
            if let Ok(placed) = self.place(planned)
                && placed.due > after
            {
                first = Some(first.map_or(placed, |first: Placed| first.min(placed)));
            }
            true
        });
        first
    }

    /// How much later than planned all times of `day` come to be on `target`. None: the clocks change on one of them.
    fn later_by(&self, day: Day, target: Day) -> Option<i64> {
        let own = self.offset_throughout(day)?;
        let there = if day == target { own } else { self.offset_throughout(target)? };
        Some((target - day) * DAY + own - there)
    }

    /// Tells each time of a day, until told to stop.
    fn each_of(&self, day: Day, times: &impl PlannedTimes, mut tell: impl FnMut(Timestamp) -> bool) {
        let ends = self.at(day + 1, 0).plus_millis(AROUND);
        let mut after = self.at(day, 0).plus_millis(-AROUND - 1);
        while let Some(planned) = times.first_after(after).filter(|planned| *planned < ends) {
            after = planned;
            if self.day(planned) == day && !tell(planned) {
                return;
            }
        }
    }

    /// Times that do not come, by the moment at which they would have come, in (after, until], at most `limit`.
    pub fn left_between(
        &self,
        times: &impl PlannedTimes,
        after: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Vec<(Timestamp, Timestamp, Left)> {
        let mut left = Vec::new();
        if self.policy == OnNonWorkday::Run || until <= after {
            return left;
        }
        self.left_in_place(times, after, until, limit, &mut left);
        if self.policy != OnNonWorkday::Skip {
            self.merged(times, after, until, limit, &mut left);
            left.sort_unstable_by_key(|(due, planned, _)| (*due, *planned));
            left.truncate(limit);
        }
        left
    }

    /// Those whose whole day is left out.
    fn left_in_place(
        &self,
        times: &impl PlannedTimes,
        after: Timestamp,
        until: Timestamp,
        limit: usize,
        left: &mut Vec<(Timestamp, Timestamp, Left)>,
    ) {
        let mut from = after;
        while let Some(planned) = times.first_after(from).filter(|planned| *planned <= until) {
            if left.len() >= limit {
                return;
            }
            let day = self.day(planned);
            from = planned;
            match self.lead(day) {
                Err(why) => left.push((planned, planned, why)),
                Ok(_) => {
                    let last_day = self.day(until);
                    let Some(next) = (day + 1..=last_day + 1).find(|day| self.lead(*day).is_err()) else { return };
                    from = from.max(self.at(next, 0).plus_millis(-AROUND - 1));
                }
            }
        }
    }

    /// Those that would be moved to where another one is.
    fn merged(
        &self,
        times: &impl PlannedTimes,
        after: Timestamp,
        until: Timestamp,
        limit: usize,
        left: &mut Vec<(Timestamp, Timestamp, Left)>,
    ) {
        let last_day = self.day(until) + 1;
        let mut day = self.day(after) - 1;
        let most = left.len().saturating_add(limit);
        while let Some(target) = self.days.working_from(day).filter(|target| *target <= last_day) {
            for other in self.leading_to(target).filter(|other| *other != target) {
                let mut look = |placed: Placed| {
                    let is_merged = placed.due > after
                        && placed.due <= until
                        && self.first_after(times, placed.due.plus_millis(-1)).map(|first| first.planned)
                            != Some(placed.planned);
                    if is_merged {
                        left.push((placed.due, placed.planned, Left::Merged));
                    }
                    left.len() < most
                };
                match self.later_by(other, target) {
                    Some(later) => {
                        let (mut from, to) = (
                            self.at(other, 0).plus_millis(-1).max(after.plus_millis(-later)),
                            until.plus_millis(-later),
                        );
                        while let Some(planned) = times.first_after(from).filter(|planned| *planned <= to) {
                            from = planned;
                            if self.day(planned) != other
                                || !look(Placed { due: planned.plus_millis(later), moved: true, planned })
                            {
                                break;
                            }
                        }
                    }
                    None => self.each_of(other, times, |planned| self.place(planned).map_or(true, &mut look)),
                }
            }
            if left.len() >= most {
                return;
            }
            // On to the next working day to which something may lead.
            day = target + 1;
            let Some(next) = times.first_after(self.at(day, 0).plus_millis(-AROUND)) else { return };
            if self.step() > 0 {
                day = day.max(self.day(next) - 1);
            } else {
                day = day.max(self.lead(self.day(next)).unwrap_or(day));
            }
        }
    }

    /// Tells of [from, until) what comes in each part of it.
    pub fn each_stretch(&self, from: Timestamp, until: Timestamp, mut tell: impl FnMut(Timestamp, Timestamp, Stretch)) {
        if from >= until {
            return;
        }
        if self.policy == OnNonWorkday::Run {
            return tell(from, until, Stretch::AsPlanned);
        }
        let (mut begun, mut day) = (from, self.day(from));
        let mut stretch = self.stretch(day);
        while begun < until {
            day += 1;
            let next = self.stretch(day);
            let ends = self.at(day, 0);
            if next != stretch || ends >= until {
                let ends = ends.min(until);
                if begun < ends {
                    tell(begun, ends, stretch);
                }
                (begun, stretch) = (ends.max(begun), next);
            }
        }
    }

    fn stretch(&self, day: Day) -> Stretch {
        if self.offset_throughout(day).is_none() {
            return Stretch::Mixed;
        }
        match self.lead(day) {
            Ok(to) if to != day => Stretch::Empty,
            Err(_) => Stretch::Empty,
            Ok(_) if self.leading_to(day) == (day..=day) => Stretch::AsPlanned,
            Ok(_) => Stretch::Mixed,
        }
    }

    /// Why a time is not at its own place, or does not come at all.
    pub fn why(&self, planned: Timestamp, left: Left) -> Words {
        let date = self.date(planned);
        let (day, why) = (date.words(), self.days.why(date));
        let label = self.days.label();
        match left {
            Left::Off => Words::new(format!("{}: {}", day.en, why.en), format!("{}：{}", day.zh, why.zh)),
            Left::NoneNear => Words::new(
                format!("{}: {}, and no working day within {LONGEST_ROLL_DAYS} days", day.en, why.en),
                format!("{}：{}，且 {LONGEST_ROLL_DAYS} 天内没有工作日", day.zh, why.zh),
            ),
            Left::NoData => Words::new(
                format!("{}: calendar {} has no data for it yet", day.en, label.en),
                format!("{}：日历“{}”尚无当年数据", day.zh, label.zh),
            ),
            Left::Merged => Words::new(
                format!("{}: {}; moved to where another run is", day.en, why.en),
                format!("{}：{}；移动后与另一次运行合并", day.zh, why.zh),
            ),
        }
    }
}
