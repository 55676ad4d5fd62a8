//! Which future times of jobs another almanac changes: shown before a calendar is saved, and written to the
//! audit log when it is.

use std::collections::BTreeMap;

use campanile_model::job::Job;
use campanile_model::schedule::{Occurrence, OnNonWorkday, RepeatLevel, Schedule};
use campanile_model::timeline::Timeline;
use campanile_model::{Almanac, JobId, Timestamp};
use campanile_store::{JobStore, StoreError};

use crate::launcher::versions_since;

/// So far ahead times are compared.
const AHEAD_SECONDS: i64 = 400 * 86_400;

/// Of a job that runs often, so many of its next times are.
const MOST_TIMES: usize = 1000;

const JOBS_AT_ONCE: usize = 200;

/// A planned time that comes at another moment, or comes no more, or did not come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeChange {
    pub planned: Timestamp,
    pub before: Option<Timestamp>,
    pub after: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEffect {
    pub job: JobId,
    pub name: String,
    /// In the order of time.
    pub changes: Vec<TimeChange>,
}

/// Whether a job's times depend on a calendar at all.
pub fn uses_calendar(job: &Job) -> bool {
    let by_workdays =
        matches!(&job.spec.schedule, Schedule::Repeat(repeat) if repeat.repeat_level == RepeatLevel::Workday);
    by_workdays || job.spec.on_non_workday != OnNonWorkday::Run
}

/// The calendar that a job's times depend on.
pub fn calendar_of(job: &Job, almanac: &Almanac) -> Option<String> {
    if !uses_calendar(job) {
        return None;
    }
    let zone = match &job.spec.schedule {
        Schedule::Repeat(_) | Schedule::Cron(_) => {
            job.spec.schedule.time_zone().and_then(|zone| almanac.zone(zone).ok())
        }
        _ => None,
    };
    let workspace = || almanac.workspace_calendar(zone.as_ref()).ok().map(|days| days.name().to_owned());
    job.spec.calendar.clone().or_else(workspace)
}

/// Jobs whose future times are others by `after` than by `before`.
pub async fn effect(
    store: &(impl JobStore + ?Sized),
    before: &Almanac,
    after: &Almanac,
    now: Timestamp,
) -> Result<Vec<JobEffect>, StoreError> {
    let mut effects = Vec::new();
    let mut last = None;
    loop {
        let jobs = store.jobs_after(last, JOBS_AT_ONCE).await?;
        for job in jobs.iter().filter(|job| uses_calendar(job)) {
            let versions = versions_since(store, job.as_version(), now).await?;
            let (was, is) = (Timeline::new(&versions, before), Timeline::new(&versions, after));
            let same = |was: &Timeline, is: &Timeline| was.data_version(before) == is.data_version(after);
            if let (Ok(was), Ok(is)) = (&was, &is)
                && same(was, is)
            {
                continue;
            }
            let times = |timeline: &Result<Timeline, _>| -> (Vec<(u32, Occurrence)>, Timestamp) {
                let until = now.plus_seconds(AHEAD_SECONDS);
                let Ok(timeline) = timeline else { return (Vec::new(), until) };
                let times = timeline.due_between(now, until, MOST_TIMES);
                // Where they were cut off, what comes after is not known to be missing.
                let known = match times.last() {
                    Some((_, last)) if times.len() == MOST_TIMES => last.due,
                    _ => until,
                };
                (times, known)
            };
            let ((was, was_until), (is, is_until)) = (times(&was), times(&is));
            let until = was_until.min(is_until);
            let mut changes: BTreeMap<Timestamp, TimeChange> = BTreeMap::new();
            for (_, run) in was {
                let none = TimeChange { planned: run.planned, before: None, after: None };
                changes.entry(run.planned).or_insert(none).before = Some(run.due);
            }
            for (_, run) in is {
                let none = TimeChange { planned: run.planned, before: None, after: None };
                changes.entry(run.planned).or_insert(none).after = Some(run.due);
            }
            let is_change = |change: &TimeChange| {
                change.before != change.after && change.before.into_iter().chain(change.after).any(|due| due <= until)
            };
            let changes: Vec<TimeChange> = changes.into_values().filter(is_change).collect();
            if !changes.is_empty() {
                effects.push(JobEffect { job: job.id, name: job.spec.name.clone(), changes });
            }
        }
        match jobs.last() {
            Some(job) if jobs.len() == JOBS_AT_ONCE => last = Some(job.id),
            _ => return Ok(effects),
        }
    }
}

/// Names of jobs that a calendar's days decide about by name, at most `most`.
pub async fn jobs_naming(
    store: &(impl JobStore + ?Sized),
    calendar: &str,
    most: usize,
) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    let mut last = None;
    loop {
        let jobs = store.jobs_after(last, JOBS_AT_ONCE).await?;
        let naming = jobs.iter().filter(|job| job.spec.calendar.as_deref() == Some(calendar));
        names.extend(naming.map(|job| job.spec.name.clone()));
        match jobs.last() {
            Some(job) if jobs.len() == JOBS_AT_ONCE && names.len() < most => last = Some(job.id),
            _ => {
                names.truncate(most);
                return Ok(names);
            }
        }
    }
}
