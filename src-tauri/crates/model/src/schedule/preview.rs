//! The next runs of a job, each with the reason where it is not where one would expect it.
//!
//! Everything that shows the future shows this: the form, the calendar, the command line.

use serde::Serialize;
use ts_rs::TS;

use super::{Occurrence, Schedule, ScheduleError, Timing};
use crate::{Almanac, Timestamp, Words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRun {
    pub planned: Timestamp,
    pub due: Timestamp,
    /// The due time as the wall clock of the schedule's zone shows it: RFC 3339 with its offset.
    pub local: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<Words>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    pub runs: Vec<PreviewRun>,
    pub words: Words,
    /// What is allowed and probably not meant.
    pub warnings: Vec<Words>,
    /// The zone that `local` is told in; UTC where the schedule names none.
    pub time_zone: String,
    pub zone_data_version: String,
}

/// The next `n` runs due strictly after `from`.
pub fn preview(timing: &Timing, almanac: &Almanac, from: Timestamp, n: usize) -> Result<Preview, ScheduleError> {
    let compiled = timing.compile(almanac)?;
    let zone = match compiled.plan().zone() {
        Some(zone) => zone.clone(),
        None => almanac.zone("UTC")?,
    };
    let reason = |occurrence: &Occurrence| {
        let mut reasons: Vec<Words> = Vec::new();
        match occurrence.origin {
            super::OccurrenceOrigin::Added => reasons.push(Words::new("added by hand", "手动添加")),
            super::OccurrenceOrigin::Schedule => reasons.extend(compiled.plan().remark(occurrence.planned)),
        }
        reasons.extend(occurrence.shifts.iter().map(|shift| shift.words(&zone)));
        reasons
            .into_iter()
            .reduce(|all, one| Words::new(format!("{}; {}", all.en, one.en), format!("{}；{}", all.zh, one.zh)))
    };
    let runs: Vec<PreviewRun> = compiled
        .due_between(from, Timestamp::MAX, n)
        .iter()
        .map(|occurrence| PreviewRun {
            planned: occurrence.planned,
            due: occurrence.due,
            local: zone.rfc3339(occurrence.due),
            reason: reason(occurrence),
        })
        .collect();

    let mut warnings = timing.schedule.warnings_by(almanac, timing.calendar.as_deref())?;
    let has_times = !matches!(timing.schedule, Schedule::Manual | Schedule::FixedDelay(_) | Schedule::After(_));
    if runs.is_empty() && has_times {
        warnings.push(Words::new("nothing more is planned", "之后不再有计划的运行"));
    }
    if let Some(days) = compiled.calendar().filter(|days| days.holds() && days.needs_data()) {
        let known = days.covered_years().last().map_or_else(String::new, |year| year.to_string());
        let label = days.label();
        warnings.push(Words::new(
            format!("calendar {} has data up to {known}; nothing is planned beyond it until there is more", label.en),
            format!("日历“{}”的数据到 {known} 年为止；在补充数据之前，之后不会安排运行", label.zh),
        ));
    }
    for lapsed in compiled.lapsed().iter().filter(|lapsed| lapsed.planned() > from) {
        let planned = zone.rfc3339(lapsed.planned());
        warnings.push(Words::new(
            format!("the change made by hand to {planned} no longer applies: this schedule does not run then"),
            format!("对 {planned} 的手动更改不再有效：该调度在此时没有运行"),
        ));
    }
    Ok(Preview {
        runs,
        words: timing.words(almanac),
        warnings,
        time_zone: zone.name().to_owned(),
        zone_data_version: almanac.zones().version().to_owned(),
    })
}

impl Schedule {
    /// What is allowed and probably not meant.
    pub fn warnings(&self, almanac: &Almanac) -> Result<Vec<Words>, ScheduleError> {
        self.warnings_by(almanac, None)
    }

    /// The same, with the calendar by which working days are counted.
    pub fn warnings_by(&self, almanac: &Almanac, calendar: Option<&str>) -> Result<Vec<Words>, ScheduleError> {
        match self {
            Schedule::Cron(cron) => Ok(cron.warnings()),
            Schedule::Repeat(repeat) => repeat.warnings(almanac, calendar),
            Schedule::FixedDelay(_) => Ok(vec![Words::new(
                "only the first run is known beforehand: each later one follows the end of the one before",
                "只能预知第一次运行：之后每次取决于上一次的结束时间",
            )]),
            Schedule::After(_) => Ok(vec![Words::new(
                "it has no times of its own: it runs when other jobs end",
                "没有自己的时间：在其他任务结束后运行",
            )]),
            Schedule::FixedRate(_) | Schedule::Once(_) | Schedule::Manual => Ok(Vec::new()),
        }
    }
}
