//! The times of jobs, kept at hand: a version of a job never changes, so it is compiled once.
//!
//! A job that fires too often to be listed is counted by quarters of an hour instead: an interval
//! by division, a cron expression by the shape of one of its days, which all its days share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use campanile_engine::launcher::{self, TimelineError};
use campanile_model::job::Job;
use campanile_model::schedule::{CompiledTiming, Cron, RepeatLevel, Schedule, Timing};
use campanile_model::timeline::Timeline;
use campanile_model::{Almanac, Fault, JobId, Timestamp};

use crate::Api;
use crate::moments::{DAY, HOUR, MINUTE, Told};

/// Beyond these all are compiled anew when they are wanted.
const AT_HAND: usize = 20_000;

pub(crate) const QUARTER: i64 = 15 * MINUTE;
pub(crate) const QUARTERS: usize = 96;

/// More than these in a quarter are taken to come at even steps.
const COUNTED_ONE_BY_ONE: usize = 16;

/// Firings in each quarter of an hour of a day, as the clock on the wall has them.
pub(crate) type Quarters = [u32; QUARTERS];

/// None: its times cannot be told.
type Known = Option<Arc<Timeline>>;

#[derive(Default)]
pub(crate) struct Times {
    timelines: Mutex<HashMap<(JobId, u32), Known>>,
    /// Of cron expressions, by expression, dialect and zone.
    shapes: Mutex<HashMap<String, Option<Arc<Shape>>>>,
}

struct Shape {
    /// In the expression's own zone.
    told: Told,
    quarters: Quarters,
}

impl Api {
    /// None: its times cannot be told (its zone is gone, say); an alarm says so.
    pub(crate) async fn timeline(&self, job: &Job) -> Result<Option<Arc<Timeline>>, Fault> {
        let known =
            self.times.timelines.lock().unwrap_or_else(PoisonError::into_inner).get(&(job.id, job.version)).cloned();
        if let Some(timeline) = known {
            return Ok(timeline);
        }
        let timeline = match launcher::timeline(self.store(), job, &self.almanac()).await {
            Ok(timeline) => Some(Arc::new(timeline)),
            Err(TimelineError::Store(error)) => return Err(error.into()),
            Err(TimelineError::Schedule(_)) => None,
        };
        let mut timelines = self.times.timelines.lock().unwrap_or_else(PoisonError::into_inner);
        if timelines.len() >= AT_HAND {
            timelines.clear();
        }
        timelines.insert((job.id, job.version), timeline.clone());
        Ok(timeline)
    }

    /// Firings of a job in [from, until), which lies within one day of `told`, by the quarters of that day.
    pub(crate) fn quarters(
        &self,
        job: &Job,
        timeline: &Timeline,
        from: Timestamp,
        until: Timestamp,
        told: &Told,
    ) -> Quarters {
        let mut quarters = [0; QUARTERS];
        let even = period(&job.spec.schedule);
        // Where the clocks do not change, a wall-clock time is one addition.
        let offset = told.offset_throughout(from, until);
        let shape = match &job.spec.schedule {
            Schedule::Cron(cron) => self.times.shape(cron, &self.almanac(), from),
            _ => None,
        };
        let shape = shape.and_then(|shape| {
            let own_offset = shape.told.offset_throughout(from, until)?;
            offset.map(|_| (shape, own_offset))
        });
        // Whether a day of the expression's own zone is one of its days.
        let mut named: HashMap<i64, bool> = HashMap::new();
        let mut at = from;
        while at < until {
            let wall = offset.map_or_else(|| told.wall(at), |offset| at.millis() + offset);
            let quarter_ends = at.plus_millis(QUARTER - wall.rem_euclid(QUARTER));
            let end = quarter_ends.min(until);
            let whole = end.millis() - at.millis() == QUARTER;
            let count = match (&even, &shape) {
                (Some((start, period)), _) => firings_between(*start, *period, at, end),
                (None, Some((shape, own_offset))) if whole && (at.millis() + own_offset).rem_euclid(QUARTER) == 0 => {
                    let own_wall = at.millis() + own_offset;
                    let day = own_wall.div_euclid(DAY);
                    let is_named = *named.entry(day).or_insert_with(|| {
                        let begins = shape.told.day_start(day).max(from).plus_millis(-1);
                        let ends = shape.told.day_start(day + 1).min(until).plus_millis(-1);
                        !timeline.due_between(begins, ends, 1).is_empty()
                    });
                    if is_named { shape.quarters[quarter_at(own_wall)] } else { 0 }
                }
                _ => probe(at, end, |after, until, limit| {
                    timeline.due_between(after, until, limit).iter().map(|(_, occurrence)| occurrence.due).collect()
                }),
            };
            quarters[quarter_at(wall)] += count;
            at = end;
        }
        quarters
    }
}

pub(crate) fn quarter_of(told: &Told, at: Timestamp) -> usize {
    quarter_at(told.wall(at))
}

fn quarter_at(wall: i64) -> usize {
    usize::try_from(wall.rem_euclid(DAY) / QUARTER).unwrap_or(0)
}

/// Start and period of a schedule that comes at even steps.
fn period(schedule: &Schedule) -> Option<(i64, i64)> {
    match schedule {
        Schedule::FixedRate(rate) => Some((rate.start_time?.millis(), i64::from(rate.every_seconds) * 1000)),
        Schedule::Repeat(repeat)
            if repeat.repeat_level == RepeatLevel::Hour && repeat.end_time.is_none() && repeat.count.is_none() =>
        {
            Some((repeat.start_time.millis(), i64::from(repeat.repeat_interval) * HOUR))
        }
        _ => None,
    }
}

/// How many of start + k × period lie in [from, until).
fn firings_between(start: i64, period: i64, from: Timestamp, until: Timestamp) -> u32 {
    let before = |at: Timestamp| (at.millis() - 1 - start).div_euclid(period).max(-1);
    u32::try_from(before(until) - before(from)).unwrap_or(0)
}

/// Counts times in [from, until); many are taken to come at even steps.
fn probe(from: Timestamp, until: Timestamp, due: impl Fn(Timestamp, Timestamp, usize) -> Vec<Timestamp>) -> u32 {
    let times = due(from.plus_millis(-1), until.plus_millis(-1), COUNTED_ONE_BY_ONE + 1);
    let counted = u32::try_from(times.len()).unwrap_or(u32::MAX);
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if times.len() > COUNTED_ONE_BY_ONE && last > first => {
            let step = (last.millis() - first.millis()) / COUNTED_ONE_BY_ONE as i64;
            u32::try_from((until.millis() - 1 - first.millis()) / step.max(1) + 1).unwrap_or(counted)
        }
        _ => counted,
    }
}

impl Times {
    fn shape(&self, cron: &Cron, almanac: &Almanac, near: Timestamp) -> Option<Arc<Shape>> {
        let key = format!("{} {:?} {}", cron.expression, cron.dialect, cron.time_zone);
        if let Some(shape) = self.shapes.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return shape.clone();
        }
        let shape = shape_of(cron, almanac, near).map(Arc::new);
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        if shapes.len() >= AT_HAND {
            shapes.clear();
        }
        shapes.insert(key, shape.clone());
        shape
    }
}

fn shape_of(cron: &Cron, almanac: &Almanac, near: Timestamp) -> Option<Shape> {
    let told = Told::new(almanac.zone(&cron.time_zone).ok()?);
    let timing: CompiledTiming = Timing::plain(Schedule::Cron(cron.clone()), near).compile(almanac).ok()?;
    let mut first = timing.plan().next_after(near.plus_millis(DAY))?;
    loop {
        let day = told.day(first);
        let (begins, ends) = (told.day_start(day), told.day_start(day + 1));
        if ends.millis() - begins.millis() != DAY {
            // Not the day on which the clocks change.
            first = timing.plan().next_after(ends.plus_millis(-1))?;
            continue;
        }
        let mut quarters = [0; QUARTERS];
        for (index, count) in quarters.iter_mut().enumerate() {
            let from = begins.plus_millis(index as i64 * QUARTER);
            *count = probe(from, from.plus_millis(QUARTER), |after, until, limit| {
                timing.due_between(after, until, limit).iter().map(|occurrence| occurrence.due).collect()
            });
        }
        return Some(Shape { told, quarters });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_day_counts_what_a_walk_through_the_day_counts() {
        let almanac = Almanac::bundled();
        let near: Timestamp = "2026-11-16T00:00:00Z".parse().expect("a time");
        for expression in ["* * * * *", "*/7 9-17 * * 1-5", "0,30 * * * *", "5 0-6/2 1 * *"] {
            let cron = Cron::unix(expression, "Europe/Berlin");
            let shape = shape_of(&cron, &almanac, near).expect("it fires");
            let timing = Timing::plain(Schedule::Cron(cron), near).compile(&almanac).expect("a schedule");
            let first = timing.plan().next_after(near.plus_millis(DAY)).expect("it fires");
            let begins = shape.told.day_start(shape.told.day(first));
            let walked = timing.due_between(begins.plus_millis(-1), begins.plus_millis(DAY - 1), usize::MAX).len();
            assert_eq!(shape.quarters.iter().sum::<u32>() as usize, walked, "{expression}");
        }
        let seconds =
            Cron { dialect: Some(campanile_model::schedule::Dialect::Seconds), ..Cron::unix("*/10 * 8 * * *", "UTC") };
        let shape = shape_of(&seconds, &almanac, near).expect("it fires");
        assert_eq!(shape.quarters[32..36], [90; 4]);
        assert_eq!(shape.quarters.iter().sum::<u32>(), 360);
    }

    #[test]
    fn even_steps_are_counted_by_division() {
        let at = Timestamp::from_millis;
        assert_eq!(firings_between(1000, 500, at(0), at(1000)), 0);
        assert_eq!(firings_between(1000, 500, at(0), at(1001)), 1);
        assert_eq!(firings_between(1000, 500, at(1000), at(2000)), 2);
        assert_eq!(firings_between(1000, 500, at(1001), at(2001)), 2);
    }
}
