//! `repeat`: recurrence as people say it, every so many hours, days, weeks, months, years or
//! working days from a first run.
//!
//! Every level but the hour counts local dates and keeps the first run's time of day; finding
//! the next date is a division, not a walk, so a start thirty years ago costs nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::civil::{
    DAY, Day, HORIZON_YEAR, HOUR, MINUTE, SECOND, Wall, date_of, day_of, days_in_month, split, weekday,
};
use super::cron::weekdays;
use super::error::ScheduleError;
use super::phrase::{MONTHS_EN, and_list, spaced, zh_list};
use super::zone::{DstGap, DstOverlap, Reading, WallTimes, Zone, wall_text};
use crate::calendar::WorkingDays;
use crate::{Almanac, Timestamp, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RepeatLevel {
    Hour,
    Day,
    Week,
    Month,
    Year,
    Workday,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Repeat {
    /// The first run, and the time of day of all others.
    pub start_time: Timestamp,
    pub time_zone: String,
    pub repeat_level: RepeatLevel,
    /// Counted from the period that holds `start_time`.
    pub repeat_interval: u32,
    /// For `week` 1 (Monday) to 7; for `month` 1 to 31, and -1 to -31 from the month's end.
    /// Empty means the day of `start_time`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<i8>>")]
    pub repeat_days: Vec<i8>,
    /// No planned time is later than this; one at it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end_time: Option<Timestamp>,
    /// No more planned times than this, counted from the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub count: Option<u32>,
    pub dst_gap: DstGap,
    pub dst_overlap: DstOverlap,
}

/// What a repeat comes to, before saving and ends are looked at.
#[derive(Clone, Debug)]
pub(crate) enum RepeatPlan {
    Elapsed { zone: Zone, start: i64, period: i64 },
    Dated { zone: Zone, first: Option<i64>, times: DatedTimes, reading: Reading },
}

impl Repeat {
    pub fn new(start_time: Timestamp, time_zone: impl Into<String>, repeat_level: RepeatLevel) -> Repeat {
        Repeat {
            start_time,
            time_zone: time_zone.into(),
            repeat_level,
            repeat_interval: 1,
            repeat_days: Vec::new(),
            end_time: None,
            count: None,
            dst_gap: DstGap::default(),
            dst_overlap: DstOverlap::default(),
        }
    }

    /// The rule, and the last instant it plans (`i64::MAX`: none).
    pub(crate) fn plan(&self, almanac: &Almanac, calendar: Option<&str>) -> Result<(RepeatPlan, i64), ScheduleError> {
        let zone = almanac.zone(&self.time_zone)?;
        self.check_numbers()?;
        let start = self.start_time.millis();
        if let Some(end) = self.end_time
            && end < self.start_time
        {
            return Err(ScheduleError::never("endTime", "endTime is before startTime", "结束时间早于开始时间"));
        }
        let end = self.end_time.map_or(i64::MAX, Timestamp::millis);
        if self.repeat_level == RepeatLevel::Hour {
            let period = i64::from(self.repeat_interval) * HOUR;
            let last =
                self.count.map_or(i64::MAX, |count| start.saturating_add(period.saturating_mul(i64::from(count) - 1)));
            return Ok((RepeatPlan::Elapsed { zone, start, period }, last.min(end)));
        }
        let (first, times) = self.dated(&zone, almanac, calendar)?;
        let reading = Reading::Fixed { gap: self.dst_gap, overlap: self.dst_overlap };
        let plan = RepeatPlan::Dated { zone, first, times, reading };
        let last = match self.count {
            None => i64::MAX,
            Some(count) => plan.nth(u64::from(count)).unwrap_or(i64::MAX),
        };
        let waits_for_data = plan.workdays().is_some_and(WorkingDays::holds);
        if !waits_for_data && plan.first_after(i64::MIN / 2).is_none_or(|first| first > end) {
            return Err(ScheduleError::never(
                "endTime",
                "the first run would be after endTime",
                "第一次运行会晚于结束时间",
            ));
        }
        Ok((plan, last.min(end)))
    }

    /// What is allowed and probably not meant.
    pub(crate) fn warnings(&self, almanac: &Almanac, calendar: Option<&str>) -> Result<Vec<Words>, ScheduleError> {
        let zone = almanac.zone(&self.time_zone)?;
        let mut warnings = Vec::new();
        if self.repeat_level == RepeatLevel::Hour {
            return Ok(warnings);
        }
        let (_, times) = self.dated(&zone, almanac, calendar)?;
        let start = times.start_day();
        if let Some(named) = times.day_at_or_after(start)
            && named != start
        {
            let named = wall_text(named * DAY + times.time_of_day);
            warnings.push(Words::new(
                format!(
                    "the first run is at the start, which is not on a day that was chosen; the first such is {named}"
                ),
                format!("首次运行在开始时间，但当天不在所选日期中；第一个所选日期是 {named}"),
            ));
        }
        match &times.rule {
            Rule::Workdays(days) if calendar.is_none() && !days.needs_data() => warnings.push(Words::new(
                "working days are Monday to Friday; choose a calendar for public holidays to count",
                "工作日按周一至周五计算；如需考虑节假日，请选择日历",
            )),
            Rule::Months { days, from_end } if (*days | *from_end) & 0x1fff_fffe == 0 => {
                warnings.push(Words::new("months that lack these days are passed over", "没有这些日期的月份会被跳过"));
            }
            Rule::Years { month: 2, day: 29 } => {
                warnings.push(Words::new("29 February comes in leap years only", "2 月 29 日只在闰年出现"));
            }
            _ => {}
        }
        Ok(warnings)
    }

    fn check_numbers(&self) -> Result<(), ScheduleError> {
        if self.repeat_interval == 0 {
            return Err(ScheduleError::field(
                "repeatInterval",
                "the interval is a whole number from 1",
                "间隔应为从 1 起的整数",
            ));
        }
        if self.count == Some(0) {
            return Err(ScheduleError::never("count", "count is 0", "次数为 0"));
        }
        let level = self.repeat_level;
        for day in &self.repeat_days {
            let allowed = match level {
                RepeatLevel::Week => (1..=7).contains(day),
                RepeatLevel::Month => *day != 0 && (-31..=31).contains(day),
                _ => {
                    return Err(ScheduleError::field(
                        "repeatDays",
                        format!("days can be chosen for weeks and months, not at the level '{}'", level.as_str()),
                        format!("只有按周或按月重复时才能指定日期，级别“{}”不能", level.as_str()),
                    ));
                }
            };
            if !allowed {
                return Err(day_out_of_range(i64::from(*day), level));
            }
        }
        Ok(())
    }

    /// The first run as an instant of its own, and the dates of the others.
    fn dated(
        &self,
        zone: &Zone,
        almanac: &Almanac,
        calendar: Option<&str>,
    ) -> Result<(Option<i64>, DatedTimes), ScheduleError> {
        let (start_day, time_of_day) = split(zone.wall(self.start_time));
        let (_, month, day_of_month) = date_of(start_day);
        let rule = match self.repeat_level {
            RepeatLevel::Hour | RepeatLevel::Day => Rule::Days,
            RepeatLevel::Week if self.repeat_days.is_empty() => Rule::Weeks { weekdays: 1 << weekday(start_day) },
            RepeatLevel::Week => {
                Rule::Weeks { weekdays: self.repeat_days.iter().fold(0, |mask, day| mask | 1 << (day - 1)) }
            }
            RepeatLevel::Month if self.repeat_days.is_empty() => Rule::Months { days: 1 << day_of_month, from_end: 0 },
            RepeatLevel::Month => Rule::Months {
                days: self.repeat_days.iter().filter(|day| **day > 0).fold(0, |mask, day| mask | 1 << day),
                from_end: self.repeat_days.iter().filter(|day| **day < 0).fold(0, |mask, day| mask | 1 << -day),
            },
            RepeatLevel::Year => Rule::Years { month: month as u8, day: day_of_month as u8 },
            RepeatLevel::Workday => Rule::Workdays(workdays(zone, almanac, calendar)?),
        };
        let (start_day, starts_off_duty) = match &rule {
            // Where no working day is known after it, the start keeps its own until one is.
            Rule::Workdays(days) => {
                let worked = days.working_from(start_day);
                (worked.unwrap_or(start_day), worked != Some(start_day))
            }
            _ => (start_day, false),
        };
        let first = (!starts_off_duty).then_some(self.start_time.millis());
        let times = DatedTimes {
            start_day,
            time_of_day,
            interval: i64::from(self.repeat_interval),
            rule,
            // Where the first run stands for itself, its date must not bring it a second time,
            // unless the clocks repeat it and both passes were asked for.
            with_start_day: starts_off_duty || self.dst_overlap == DstOverlap::Both,
        };
        Ok((first, times))
    }

    pub(crate) fn words(&self, zone: &Zone, almanac: &Almanac, calendar: Option<&str>) -> Words {
        let wall = zone.wall(self.start_time);
        let (start_day, time) = split(wall);
        let (_, month, day_of_month) = date_of(start_day);
        let at = clock_text(time);
        let n = self.repeat_interval;
        let name = zone.name();
        let every = |one_en: &str, many_en: &str, one_zh: &str, many_zh: &str| match n {
            1 => Words::new(one_en, one_zh),
            _ => Words::new(format!("every {n} {many_en}"), format!("每 {n} {many_zh}")),
        };
        let mut words = match self.repeat_level {
            RepeatLevel::Hour => {
                let beat = every("every hour", "hours", "每小时", "小时");
                let from = zone.rfc3339(self.start_time);
                Words::new(format!("{} from {from}", beat.en), format!("从 {from} 起{}", beat.zh))
            }
            RepeatLevel::Day => {
                let beat = every("daily", "days", "每天", "天");
                Words::new(format!("{} at {at}", beat.en), spaced(&[&beat.zh, &at]))
            }
            RepeatLevel::Week => {
                let mask = match self.repeat_days.is_empty() {
                    true => 1 << weekday(start_day),
                    false => self.repeat_days.iter().fold(0u8, |mask, day| mask | 1 << (day - 1)),
                };
                let days = weekdays(mask << 1 & 0x7f | mask >> 6);
                let beat = every("every week", "weeks", "每周", "周");
                let each = if n == 1 { "每".to_owned() } else { format!("{}的", beat.zh) };
                Words::new(format!("{} on {} at {at}", beat.en, days.en), spaced(&[&each, &days.zh, &at]))
            }
            RepeatLevel::Month => {
                let mut days = self.repeat_days.clone();
                if days.is_empty() {
                    days.push(day_of_month as i8);
                }
                let days = month_days(&days);
                let beat = every("every month", "months", "每月", "个月的");
                Words::new(format!("{} on {} at {at}", beat.en, days.en), spaced(&[&beat.zh, &days.zh, &at]))
            }
            RepeatLevel::Year => {
                let beat = every("every year", "years", "每年", "年的");
                Words::new(
                    format!("{} on {day_of_month} {} at {at}", beat.en, MONTHS_EN[month as usize - 1]),
                    spaced(&[&beat.zh, &format!("{month} 月 {day_of_month} 日 {at}")]),
                )
            }
            RepeatLevel::Workday => {
                let beat = every("every working day", "working days", "每个工作日", "个工作日");
                let label = match workdays(zone, almanac, calendar) {
                    Ok(days) => days.label().clone(),
                    Err(unknown) => unknown.words(),
                };
                Words::new(format!("{} ({}) at {at}", beat.en, label.en), format!("{}（{}）{at}", beat.zh, label.zh))
            }
        };
        if let Some(end) = self.end_time {
            let end = zone.rfc3339(end);
            words = Words::new(format!("{}, until {end}", words.en), format!("{}，直到 {end}", words.zh));
        }
        if let Some(count) = self.count {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            words = Words::new(format!("{}, {times}", words.en), format!("{}，共 {count} 次", words.zh));
        }
        Words::new(format!("{} ({name})", words.en), format!("{}（{name}）", words.zh))
    }
}

/// The calendar that working days are counted by: the job's, else the workspace's.
fn workdays(zone: &Zone, almanac: &Almanac, calendar: Option<&str>) -> Result<Arc<WorkingDays>, ScheduleError> {
    calendar.map_or_else(|| almanac.workspace_calendar(Some(zone)), |name| almanac.calendar(name))
}

pub(crate) fn day_out_of_range(day: i64, level: RepeatLevel) -> ScheduleError {
    match level {
        RepeatLevel::Week => ScheduleError::field(
            "repeatDays",
            format!("{day} is not a day of the week; 1 is Monday and 7 is Sunday"),
            format!("{day} 不是星期几；1 为周一，7 为周日"),
        ),
        _ => ScheduleError::field(
            "repeatDays",
            format!("{day} is not a day of a month; 1 to 31 count from its beginning, -1 to -31 from its end"),
            format!("{day} 不是月份中的日期；1 到 31 从月初数，-1 到 -31 从月末数"),
        ),
    }
}

/// `days 3, 5 and 23`, `the last day`, `days 1, 15 and the last but one`.
fn month_days(days: &[i8]) -> Words {
    let mut days = days.to_vec();
    days.sort_by_key(|day| if *day > 0 { i16::from(*day) } else { 100 + i16::from(*day) });
    days.dedup();
    let plain: Vec<String> = days.iter().filter(|day| **day > 0).map(ToString::to_string).collect();
    let from_end: Vec<i8> = days.iter().copied().filter(|day| *day < 0).collect();
    let mut en: Vec<String> = Vec::new();
    if !plain.is_empty() {
        en.extend(plain.iter().cloned());
        en[0] = format!("{} {}", if plain.len() == 1 { "day" } else { "days" }, en[0]);
    }
    en.extend(from_end.iter().map(|day| match day {
        -1 => "the last day".to_owned(),
        _ => format!("day {} from the end", -day),
    }));
    let zh: Vec<String> = days
        .iter()
        .map(|day| match day {
            1.. => format!("{day} 日"),
            -1 => "最后一天".to_owned(),
            _ => format!("倒数第 {} 天", -day),
        })
        .collect();
    Words::new(and_list(&en), zh_list(&zh))
}

/// `18:00`, with seconds only where there are some.
pub(crate) fn clock_text(time_of_day: i64) -> String {
    let (hour, minute) = (time_of_day / HOUR, time_of_day / MINUTE % 60);
    match (time_of_day / SECOND % 60, time_of_day % SECOND) {
        (0, 0) => format!("{hour:02}:{minute:02}"),
        (second, 0) => format!("{hour:02}:{minute:02}:{second:02}"),
        (second, millis) => format!("{hour:02}:{minute:02}:{second:02}.{millis:03}"),
    }
}

impl RepeatLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            RepeatLevel::Hour => "hour",
            RepeatLevel::Day => "day",
            RepeatLevel::Week => "week",
            RepeatLevel::Month => "month",
            RepeatLevel::Year => "year",
            RepeatLevel::Workday => "workday",
        }
    }
}

/// The first run strictly after `after`, the one at the start included.
pub(crate) fn first_after(
    zone: &Zone,
    first: Option<i64>,
    times: &DatedTimes,
    reading: Reading,
    after: i64,
) -> Option<i64> {
    match first {
        Some(first) if after < first => Some(first),
        Some(_) => zone.first_after(after, times, reading),
        None => zone.first_after(after.max(times.before_start()), times, reading),
    }
}

impl RepeatPlan {
    fn workdays(&self) -> Option<&WorkingDays> {
        match self {
            RepeatPlan::Elapsed { .. } => None,
            RepeatPlan::Dated { times, .. } => times.workdays(),
        }
    }

    fn first_after(&self, after: i64) -> Option<i64> {
        match self {
            RepeatPlan::Elapsed { start, period, .. } => super::interval::elapsed_after(*start, *period, after),
            RepeatPlan::Dated { zone, first, times, reading } => first_after(zone, *first, times, *reading, after),
        }
    }

    /// The n-th run from the first, which is the 1st. None: there are not so many.
    fn nth(&self, n: u64) -> Option<i64> {
        match self {
            RepeatPlan::Elapsed { .. } => None,
            RepeatPlan::Dated { zone, first: Some(first), times, reading } => {
                zone.nth_after(*first, n - 1, times, *reading)
            }
            RepeatPlan::Dated { zone, first: None, times, reading } => {
                zone.nth_after(times.before_start(), n, times, *reading)
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Rule {
    Days,
    /// Monday is bit 0.
    Weeks {
        weekdays: u8,
    },
    /// Bit n is the n-th day of the month, or the n-th from its end.
    Months {
        days: u32,
        from_end: u32,
    },
    Years {
        month: u8,
        day: u8,
    },
    /// By a calendar.
    Workdays(Arc<WorkingDays>),
}

/// Dates by a rule, all at one time of day, none before the start.
#[derive(Clone, Debug)]
pub(crate) struct DatedTimes {
    start_day: Day,
    time_of_day: i64,
    interval: i64,
    rule: Rule,
    with_start_day: bool,
}

impl WallTimes for DatedTimes {
    fn at_or_after(&self, from: Wall) -> Option<Wall> {
        let (day, time) = split(from);
        let day = if time > self.time_of_day { day + 1 } else { day };
        let day = self.day_at_or_after(day.max(self.first_day()))?;
        Some(day * DAY + self.time_of_day)
    }

    fn at_or_before(&self, to: Wall) -> Option<Wall> {
        let (day, time) = split(to);
        let day = if time < self.time_of_day { day - 1 } else { day };
        let day = self.day_at_or_before(day).filter(|day| *day >= self.first_day())?;
        Some(day * DAY + self.time_of_day)
    }

    fn count(&self, from: Wall, until: Wall) -> u64 {
        // The first day whose time is at or after a moment.
        let day = |wall: Wall| {
            let (day, time) = split(wall);
            if time > self.time_of_day { day + 1 } else { day }
        };
        self.days_between(day(from).max(self.first_day()), day(until))
    }
}

/// `n` rounded up to the next that is a multiple of `interval`.
fn up_to_multiple(n: i64, interval: i64) -> i64 {
    n + (-n).rem_euclid(interval)
}

fn monday_of(day: Day) -> Day {
    day - i64::from(weekday(day))
}

impl DatedTimes {
    /// An instant before any that the start could be in any zone.
    fn before_start(&self) -> i64 {
        self.start_day * DAY + self.time_of_day - 2 * DAY
    }

    /// Whether the rule itself, not the first run's privilege, names a date.
    pub(crate) fn names_day(&self, day: Day) -> bool {
        self.day_at_or_after(day) == Some(day)
    }

    pub(crate) fn start_day(&self) -> Day {
        self.start_day
    }

    fn first_day(&self) -> Day {
        if self.with_start_day { self.start_day } else { self.start_day + 1 }
    }

    /// None: none from the start on.
    fn day_at_or_before(&self, to: Day) -> Option<Day> {
        if to < self.start_day {
            return None;
        }
        match &self.rule {
            Rule::Days => Some(to - (to - self.start_day) % self.interval),
            Rule::Weeks { weekdays } => {
                let week = (monday_of(to) - monday_of(self.start_day)) / 7;
                let weekdays = *weekdays;
                let passed = weekdays & !0u8 >> (7 - weekday(to));
                let (week, named) = match (week % self.interval, passed) {
                    (0, 1..) => (week, passed),
                    (0, 0) => (week - self.interval, weekdays),
                    (over, _) => (week - over, weekdays),
                };
                let day = monday_of(self.start_day) + 7 * week + i64::from(named.ilog2());
                Some(day).filter(|day| *day >= self.start_day)
            }
            Rule::Months { .. } | Rule::Years { .. } | Rule::Workdays(_) => self.by_halves(to),
        }
    }

    /// The last day up to `to`, between one that is before it and one that is after.
    fn by_halves(&self, to: Day) -> Option<Day> {
        let first = self.day_at_or_after(self.start_day).filter(|first| *first <= to)?;
        // Further and further back, until something is found there.
        let mut back = self.interval;
        let mut found = loop {
            match self.day_at_or_after((to - back).max(first)) {
                Some(day) if day <= to => break day,
                _ => back *= 2,
            }
        };
        // Then on from there: never more than a few steps, since the one before was too far.
        while let Some(next) = self.day_at_or_after(found + 1).filter(|next| *next <= to) {
            found = next;
        }
        Some(found)
    }

    fn days_between(&self, from: Day, until: Day) -> u64 {
        let from = from.max(self.start_day);
        if from >= until {
            return 0;
        }
        let before = |day: Day| -> i64 {
            match &self.rule {
                Rule::Days => (day - self.start_day + self.interval - 1).div_euclid(self.interval),
                Rule::Weeks { weekdays } => {
                    let weekdays = *weekdays;
                    let weeks = (monday_of(day) - monday_of(self.start_day)) / 7;
                    let whole = (weeks + self.interval - 1).div_euclid(self.interval);
                    let begun = if weeks % self.interval == 0 { weekdays & !(!0u8 << weekday(day)) } else { 0 };
                    whole * i64::from(weekdays.count_ones()) + i64::from(begun.count_ones())
                }
                _ => 0,
            }
        };
        match &self.rule {
            Rule::Days | Rule::Weeks { .. } => u64::try_from(before(until) - before(from)).unwrap_or(0),
            // A few a month at most, and found by arithmetic each.
            Rule::Months { .. } | Rule::Years { .. } | Rule::Workdays(_) => {
                let mut count = 0;
                let mut day = from;
                while let Some(next) = self.day_at_or_after(day).filter(|next| *next < until) {
                    count += 1;
                    day = next + 1;
                }
                count
            }
        }
    }

    pub(crate) fn workdays(&self) -> Option<&WorkingDays> {
        match &self.rule {
            Rule::Workdays(days) => Some(days),
            _ => None,
        }
    }

    fn day_at_or_after(&self, from: Day) -> Option<Day> {
        let day = match &self.rule {
            Rule::Days => self.start_day + up_to_multiple(from - self.start_day, self.interval),
            Rule::Weeks { weekdays } => {
                let week = (monday_of(from) - monday_of(self.start_day)) / 7;
                let left = *weekdays & !0u8 << weekday(from);
                if week % self.interval == 0 && left != 0 {
                    monday_of(from) + i64::from(left.trailing_zeros())
                } else {
                    let next = up_to_multiple(week + 1, self.interval);
                    monday_of(self.start_day) + 7 * next + i64::from(weekdays.trailing_zeros())
                }
            }
            Rule::Months { days, from_end } => self.month_day(from, *days, *from_end)?,
            Rule::Years { month, day } => self.year_day(from, u32::from(*month), u32::from(*day))?,
            Rule::Workdays(days) => {
                let start = days.number(self.start_day);
                days.numbered(start + up_to_multiple(days.number(from) - start, self.interval))?
            }
        };
        (date_of(day).0 < HORIZON_YEAR).then_some(day)
    }

    fn month_day(&self, from: Day, days: u32, from_end: u32) -> Option<Day> {
        let number = |day: Day| {
            let (year, month, _) = date_of(day);
            year * 12 + i64::from(month) - 1
        };
        let start = number(self.start_day);
        let mut month_number = start + up_to_multiple(number(from) - start, self.interval);
        let mut not_before = if month_number == number(from) { date_of(from).2 } else { 1 };
        while month_number < HORIZON_YEAR * 12 {
            let (year, month) = (month_number.div_euclid(12), month_number.rem_euclid(12) as u32 + 1);
            let length = days_in_month(year, month);
            let counted_back = (1..=length).filter(|day| from_end & 1 << (length + 1 - day) != 0);
            let named = counted_back.fold(days, |named, day| named | 1 << day);
            let named = named & (!0u32 >> (31 - length)) & !0u32 << not_before;
            if named != 0 {
                return Some(day_of(year, month, named.trailing_zeros()));
            }
            not_before = 1;
            month_number += self.interval;
        }
        None
    }

    fn year_day(&self, from: Day, month: u32, day: u32) -> Option<Day> {
        let (start, from_year) = (date_of(self.start_day).0, date_of(from).0);
        let mut year = start + up_to_multiple(from_year - start, self.interval);
        while year < HORIZON_YEAR {
            if day <= days_in_month(year, month) && day_of(year, month, day) >= from {
                return Some(day_of(year, month, day));
            }
            year += self.interval;
        }
        None
    }
}
