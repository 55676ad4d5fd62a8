//! When: schedules, and the times they plan.
//!
//! A [`Schedule`] is what a person wrote. [`Schedule::plan`] checks all of it against the zone
//! data and gives a [`Plan`], whose one question is [`Plan::next_after`]. [`Timing`] adds the
//! policies that move planned times, [`preview`] shows the result and [`reschedule`] changes it.
//!
//! Nothing here knows of instances: a time that has come is the launcher's business.

mod adjust;
pub(crate) mod civil;
mod cron;
mod document;
mod duty;
mod error;
mod interval;
mod phrase;
mod preview;
mod range;
mod repeat;
mod reschedule;
mod timing;
mod zone;
mod zone_data;

#[cfg(test)]
mod tests;

use serde::Serialize;
use ts_rs::TS;

pub use adjust::{copied, spread_over};
pub use cron::{Cron, Dialect};
pub use duty::OnNonWorkday;
pub use error::ScheduleError;
pub use interval::{After, AfterNeed, AfterOutcome, FixedDelay, FixedRate, Once};
pub use preview::{Preview, PreviewRun, preview};
pub use range::Grid;
pub use repeat::{Repeat, RepeatLevel};
pub use reschedule::{Refusal, Rescheduled, Scope, Upshot, reschedule};
pub use timing::{CompiledTiming, Exception, Occurrence, OccurrenceOrigin, Shift, Skipped, Timing};
pub use zone::{DstGap, DstOverlap, Zone, Zones};
pub use zone_data::{BadZoneData, ZoneData, is_version};

use crate::calendar::WorkingDays;
use crate::chain::MOST_UPSTREAMS;
use crate::{Almanac, Timestamp, Words};
use cron::CronTimes;
use repeat::{DatedTimes, RepeatPlan, clock_text};
use zone::{Reading, WallTimes};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Schedule {
    Repeat(Repeat),
    Cron(Cron),
    FixedRate(FixedRate),
    FixedDelay(FixedDelay),
    Once(Once),
    After(After),
    /// Runs when a person or a program asks.
    Manual,
}

impl Schedule {
    pub fn kind(&self) -> &'static str {
        match self {
            Schedule::Repeat(_) => "repeat",
            Schedule::Cron(_) => "cron",
            Schedule::FixedRate(_) => "fixedRate",
            Schedule::FixedDelay(_) => "fixedDelay",
            Schedule::Once(_) => "once",
            Schedule::After(_) => "after",
            Schedule::Manual => "manual",
        }
    }

    /// The zone that it is written in; an instant or an interval has none.
    pub fn time_zone(&self) -> Option<&str> {
        match self {
            Schedule::Repeat(repeat) => Some(&repeat.time_zone),
            Schedule::Cron(cron) => Some(&cron.time_zone),
            _ => None,
        }
    }

    /// Writes down what 'when it was saved' means for this job, once, when it is first saved.
    #[must_use]
    pub fn anchored(mut self, saved_at: Timestamp) -> Schedule {
        if let Schedule::FixedRate(rate) = &mut self {
            rate.start_time.get_or_insert(saved_at);
        }
        self
    }

    /// Checks everything and parses once; what comes back is cheap to ask. Working days are the workspace's.
    pub fn plan(&self, almanac: &Almanac, saved_at: Timestamp) -> Result<Plan, ScheduleError> {
        self.plan_by(almanac, None, saved_at)
    }

    /// The same, with the calendar by which working days are counted.
    pub fn plan_by(
        &self,
        almanac: &Almanac,
        calendar: Option<&str>,
        saved_at: Timestamp,
    ) -> Result<Plan, ScheduleError> {
        let mut last = i64::MAX;
        let times = match self {
            Schedule::Repeat(repeat) => {
                check_time("startTime", repeat.start_time)?;
                repeat.end_time.map_or(Ok(()), |end| check_time("endTime", end))?;
                let (plan, repeat_ends) = repeat.plan(almanac, calendar)?;
                last = repeat_ends;
                match plan {
                    RepeatPlan::Elapsed { zone, start, period } => Planned::Elapsed { zone: Some(zone), start, period },
                    RepeatPlan::Dated { zone, first, times, reading } => Planned::Dated { zone, first, times, reading },
                }
            }
            Schedule::Cron(cron) => {
                let zone = almanac.zone(&cron.time_zone)?;
                let (times, reading) = cron.times()?;
                Planned::Cron { zone, times, reading }
            }
            Schedule::FixedRate(rate) => {
                let start = rate.start_time.unwrap_or(saved_at);
                check_time("startTime", start)?;
                Planned::Elapsed { zone: None, start: start.millis(), period: interval::period(rate.every_seconds)? }
            }
            Schedule::FixedDelay(delay) => {
                let start = delay.start_time.unwrap_or(saved_at);
                check_time("startTime", start)?;
                Planned::Delay { first: start.max(saved_at).millis(), period: interval::period(delay.every_seconds)? }
            }
            Schedule::Once(once) => {
                check_time("at", once.at)?;
                if once.at < saved_at {
                    return Err(ScheduleError::never("at", "that time has already passed", "该时间已经过去"));
                }
                Planned::Once(once.at.millis())
            }
            Schedule::After(after) => {
                after.check()?;
                Planned::Nothing
            }
            Schedule::Manual => Planned::Nothing,
        };
        let plan = Plan { times, saved_at: saved_at.millis(), last };
        let waits_for_data = plan.workdays().is_some_and(WorkingDays::holds);
        let may_plan_nothing = matches!(self, Schedule::Manual | Schedule::After(_)) || waits_for_data;
        if !may_plan_nothing && plan.next_after(saved_at.plus_millis(-1)).is_none() {
            let field = match self {
                Schedule::Cron(_) => "expression",
                _ if last == i64::MAX => "startTime",
                _ => "endTime",
            };
            return Err(ScheduleError::never(
                field,
                "its last time was before it was saved",
                "最后一次时间早于保存时间",
            ));
        }
        Ok(plan)
    }

    /// The schedule in a sentence, in both languages.
    ///
    /// A field that is wrong is quoted as it stands: a list of jobs has to show something.
    pub fn words(&self, almanac: &Almanac) -> Words {
        self.words_by(almanac, None)
    }

    /// The same, with the calendar by which working days are counted.
    pub fn words_by(&self, almanac: &Almanac, calendar: Option<&str>) -> Words {
        match self {
            Schedule::Repeat(repeat) => match almanac.zone(&repeat.time_zone) {
                Ok(zone) => repeat.words(&zone, almanac, calendar),
                Err(unknown) => unknown.words(),
            },
            Schedule::Cron(cron) => {
                let zone = almanac.zone(&cron.time_zone).map_or(cron.time_zone.clone(), |zone| zone.name().to_owned());
                match cron.phrase() {
                    Ok(phrase) => Words::new(format!("{} ({zone})", phrase.en), format!("{}（{zone}）", phrase.zh)),
                    Err(_) => Words::new(
                        format!("cron '{}' ({zone})", cron.expression),
                        format!("cron “{}”（{zone}）", cron.expression),
                    ),
                }
            }
            Schedule::FixedRate(rate) => {
                let period = duration_words(rate.every_seconds);
                match rate.start_time {
                    None => Words::new(format!("every {}", period.en), format!("每 {}", period.zh)),
                    Some(start) => Words::new(
                        format!("every {}, counted from {}", period.en, read_aloud(start)),
                        format!("每 {}（自 {} 起）", period.zh, read_aloud(start)),
                    ),
                }
            }
            Schedule::FixedDelay(delay) => {
                let period = duration_words(delay.every_seconds);
                let (from_en, from_zh) = match delay.start_time {
                    None => (String::new(), String::new()),
                    Some(start) => {
                        (format!(", first at {}", read_aloud(start)), format!("，首次 {}", read_aloud(start)))
                    }
                };
                Words::new(
                    format!("{} after the last run ended{from_en}", period.en),
                    format!("上次运行结束后 {}{from_zh}", period.zh),
                )
            }
            Schedule::Once(once) => {
                let at = read_aloud(once.at);
                Words::new(format!("once at {at}"), format!("仅一次：{at}"))
            }
            Schedule::After(after) => after.words(),
            Schedule::Manual => Words::new("only when asked", "仅手动运行"),
        }
    }
}

/// An instant of a schedule that has no zone, to the second: `2026-11-21 03:21:22 UTC`.
fn read_aloud(at: Timestamp) -> String {
    match at.to_string().split_once('T') {
        Some((date, time)) => format!("{date} {} UTC", time.get(..8).unwrap_or(time)),
        None => at.to_string(),
    }
}

impl After {
    fn check(&self) -> Result<(), ScheduleError> {
        if self.jobs.is_empty() {
            return Err(ScheduleError::field("jobs", "name at least one job to run after", "请至少写明一个上游任务"));
        }
        if self.jobs.len() > MOST_UPSTREAMS {
            return Err(ScheduleError::field(
                "jobs",
                format!("there are more than {MOST_UPSTREAMS}"),
                format!("超过 {MOST_UPSTREAMS} 个"),
            ));
        }
        let twice = self.jobs.iter().enumerate().find(|(index, job)| self.jobs[..*index].contains(job));
        if let Some((_, job)) = twice {
            return Err(ScheduleError::field("jobs", format!("{job} is named twice"), format!("{job} 重复出现")));
        }
        Ok(())
    }

    fn words(&self) -> Words {
        let on = match self.on {
            AfterOutcome::Success => ("succeeded", "成功"),
            AfterOutcome::Failure => ("failed", "失败"),
            AfterOutcome::Done => ("ended", "结束"),
        };
        let need = match (self.need, self.jobs.len()) {
            (_, 0 | 1) => ("", ""),
            (AfterNeed::Any, _) => ("any of ", "任一"),
            (AfterNeed::All, _) => ("all of ", "全部"),
        };
        Words::new(
            format!("after {}{} {}", need.0, phrase::and_list(&self.jobs), on.0),
            format!("在 {} {}{}之后", self.jobs.join("、"), need.1, on.1),
        )
    }
}

/// Such as `90 seconds`, `15 minutes`, `1 day`: the largest unit that it is whole in.
pub(crate) fn duration_words(seconds: u32) -> Words {
    let (n, en, zh) = match seconds {
        _ if seconds != 0 && seconds.is_multiple_of(86_400) => (seconds / 86_400, "day", "天"),
        _ if seconds != 0 && seconds.is_multiple_of(3600) => (seconds / 3600, "hour", "小时"),
        _ if seconds != 0 && seconds.is_multiple_of(60) => (seconds / 60, "minute", "分钟"),
        _ => (seconds, "second", "秒"),
    };
    let plural = if n == 1 { "" } else { "s" };
    Words::new(format!("{n} {en}{plural}"), format!("{n} {zh}"))
}

/// 1900-01-01: nothing is planned before it, as nothing is after the horizon.
const EARLIEST: i64 = -2_208_988_800_000;

/// Years that the zone data and four-digit dates can tell.
fn check_time(field: &str, at: Timestamp) -> Result<(), ScheduleError> {
    if (EARLIEST..civil::HORIZON).contains(&at.millis()) {
        return Ok(());
    }
    Err(ScheduleError::field(
        field,
        format!("{} is outside the years 1900 to 9998", at.millis()),
        format!("{} 超出 1900 至 9998 年", at.millis()),
    ))
}

/// A schedule that was found right, ready to be asked.
#[derive(Clone, Debug)]
pub struct Plan {
    times: Planned,
    saved_at: i64,
    last: i64,
}

#[derive(Clone, Debug)]
enum Planned {
    Cron { zone: Zone, times: CronTimes, reading: Reading },
    Dated { zone: Zone, first: Option<i64>, times: DatedTimes, reading: Reading },
    Elapsed { zone: Option<Zone>, start: i64, period: i64 },
    Delay { first: i64, period: i64 },
    Once(i64),
    Nothing,
}

impl Plan {
    /// The first planned time strictly after `after`. None: nothing more is planned.
    ///
    /// Nothing is planned before the job was saved. Of a fixed delay only the first run is known
    /// beforehand; the others come from [`Plan::after_final`].
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.millis().max(self.saved_at.saturating_sub(1)).clamp(EARLIEST, civil::HORIZON);
        let next = match &self.times {
            Planned::Cron { zone, times, reading } => zone.first_after(after, times, *reading),
            Planned::Dated { zone, first, times, reading } => repeat::first_after(zone, *first, times, *reading, after),
            Planned::Elapsed { start, period, .. } => interval::elapsed_after(*start, *period, after),
            Planned::Delay { first, .. } | Planned::Once(first) => Some(*first).filter(|first| *first > after),
            Planned::Nothing => None,
        };
        next.filter(|next| *next <= self.last).map(Timestamp::from_millis)
    }

    /// Of a fixed delay, the run that follows one which became final at `ended`.
    pub fn after_final(&self, ended: Timestamp) -> Option<Timestamp> {
        match self.times {
            Planned::Delay { first, period } => Some(ended.plus_millis(period).max(Timestamp::from_millis(first))),
            _ => None,
        }
    }

    /// Whether a time is one of those planned. Of a fixed delay only the first is known.
    pub fn plans(&self, time: Timestamp) -> bool {
        self.next_after(time.plus_millis(-1)) == Some(time)
    }

    /// The calendar whose working days are counted.
    pub fn workdays(&self) -> Option<&WorkingDays> {
        match &self.times {
            Planned::Dated { times, .. } => times.workdays(),
            _ => None,
        }
    }

    /// Whether the times depend on what happens and not on the clock alone.
    pub fn waits_for_the_last_run(&self) -> bool {
        matches!(self.times, Planned::Delay { .. })
    }

    pub fn zone(&self) -> Option<&Zone> {
        match &self.times {
            Planned::Cron { zone, .. } | Planned::Dated { zone, .. } => Some(zone),
            Planned::Elapsed { zone, .. } => zone.as_ref(),
            Planned::Delay { .. } | Planned::Once(_) | Planned::Nothing => None,
        }
    }

    /// What is particular about a planned time: the clocks moved it or show it twice, or the
    /// first run is on a day that the rule does not name.
    pub fn remark(&self, planned: Timestamp) -> Option<Words> {
        let (zone, times, reading): (_, &dyn Names, _) = match &self.times {
            Planned::Cron { zone, times, reading } => (zone, times, *reading),
            Planned::Dated { zone, first, times, reading } => {
                let (day, _) = civil::split(zone.wall(planned));
                if *first == Some(planned.millis()) {
                    return (!times.names_day(day)).then(|| {
                        Words::new(
                            "the first run is at the start, whatever day that is",
                            "首次运行在开始时间，不论当天是否被选中",
                        )
                    });
                }
                if first.is_none() && day == times.start_day() {
                    return Some(Words::new("the first working day from the start", "从开始时间起的第一个工作日"));
                }
                (zone, times, *reading)
            }
            _ => return None,
        };
        let Reading::Fixed { .. } = reading else { return None };
        let stretch = zone.stretch(planned.millis());
        let wall = zone.wall(planned);
        let gap = stretch.offset - stretch.before;
        if gap > 0 && planned.millis() - stretch.start < gap && !times.names(wall) {
            // Moved by the gap's length, or put at its end.
            let meant = if times.names(wall - gap) { clock_text(civil::split(wall - gap).1) } else { String::new() };
            return Some(match meant.is_empty() {
                false => Words::new(
                    format!("the clocks skip {meant} that day: later by the length of the gap"),
                    format!("当天时钟跳过 {meant}：顺延跳过的时长"),
                ),
                true => Words::new(
                    "the clocks skip the time that was meant: at the first moment after the gap",
                    "当天时钟跳过了原定时间：改在跳过后的第一刻",
                ),
            });
        }
        let first_pass =
            stretch.after < stretch.offset && planned.millis() >= stretch.end - (stretch.offset - stretch.after);
        let second_pass = gap < 0 && planned.millis() < stretch.start - gap;
        let shown = clock_text(civil::split(wall).1);
        match (first_pass, second_pass) {
            (true, _) => Some(Words::new(
                format!("the clocks show {shown} twice that day: this is the first"),
                format!("当天时钟两次显示 {shown}：这是第一次"),
            )),
            (_, true) => Some(Words::new(
                format!("the clocks show {shown} twice that day: this is the second"),
                format!("当天时钟两次显示 {shown}：这是第二次"),
            )),
            _ => None,
        }
    }
}

/// Whether a wall-clock time is among those that were asked for.
trait Names {
    fn names(&self, wall: civil::Wall) -> bool;
}

impl<T: WallTimes> Names for T {
    fn names(&self, wall: civil::Wall) -> bool {
        self.at_or_after(wall) == Some(wall)
    }
}
