//! The times of a job across its versions.
//!
//! A new version holds from when it was saved, or from its `effectiveFrom` where that is later; up to
//! there the version before it still holds. Nobody's change loses a time that had come already.

use std::collections::BTreeSet;

use crate::calendar::{LONGEST_ROLL_DAYS, WorkingDays};
use crate::job::{Job, JobSpec, JobVersion};
use crate::schedule::{CompiledTiming, Exception, Grid, Occurrence, ScheduleError, Skipped, Timing};
use crate::{Almanac, JobId, Timestamp, Words};

struct Segment {
    version: u32,
    timing: CompiledTiming,
}

/// What a job's versions plan together, up to and including one of them.
pub struct Timeline {
    /// Newest first.
    segments: Vec<Segment>,
}

/// The first moment at which a version holds, and so the first at which the one before it does not.
pub fn holds_from(version: &JobVersion) -> Timestamp {
    version.spec.effective_from.map_or(version.saved_at, |from| from.max(version.saved_at))
}

/// The longest `spreadSeconds`: so much later than planned may a time be due, and outlive its version.
pub const LONGEST_SPREAD_SECONDS: u32 = 86_400;

/// The longest that a time can be moved on by days off and spread together.
const LONGEST_DELAY_SECONDS: i64 = LONGEST_SPREAD_SECONDS as i64 + (LONGEST_ROLL_DAYS + 1) * 86_400;

/// Whether times due after `through` may be those of an earlier version.
pub fn needs_earlier(version: &JobVersion, through: Timestamp) -> bool {
    version.version > 1 && holds_from(version).plus_seconds(LONGEST_DELAY_SECONDS) > through
}

impl Timeline {
    /// From versions of one job, newest first, as far back as [`needs_earlier`] says.
    pub fn new(versions: &[JobVersion], almanac: &Almanac) -> Result<Timeline, ScheduleError> {
        let mut segments = Vec::with_capacity(versions.len());
        let mut until = None;
        for version in versions {
            let mut timing = version.spec.timing(version.job, version.saved_at);
            timing.effective_until = match (timing.effective_until, until) {
                (Some(own), Some(next)) => Some(own.min(next)),
                (own, next) => own.or(next),
            };
            let starts = holds_from(version);
            let overtaken = timing.effective_until.is_some_and(|until| until <= starts);
            // A clock that is set back between two saves lets the later one overtake the earlier before it has held.
            // Its schedule comes to nothing; the runs that people added to it are still to come.
            let adds = version.spec.effective_from.is_none()
                && version.spec.exceptions.iter().any(|exception| match exception {
                    Exception::Added { at } => timing.effective_until.is_none_or(|until| *at < until),
                    Exception::Skip { .. } | Exception::MoveTo { .. } => false,
                });
            if !overtaken || adds {
                segments.push(Segment { version: version.version, timing: timing.compile(almanac)? });
            }
            until = Some(until.map_or(starts, |until| starts.min(until)));
        }
        Ok(Timeline { segments })
    }

    /// Occurrences due in (after, until] with the version that planned each, oldest due first, at most `limit`.
    pub fn due_between(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<(u32, Occurrence)> {
        let mut due: Vec<(u32, Occurrence)> = self
            .segments
            .iter()
            .flat_map(|segment| {
                let times = segment.timing.due_between(after, until, limit);
                times.into_iter().map(|occurrence| (segment.version, occurrence))
            })
            .collect();
        due.sort_by_key(|(version, occurrence)| (occurrence.due, occurrence.planned, *version));
        due.truncate(limit);
        due
    }

    /// Adds to each cell of `grid` how many occurrences of all versions are due in it, of those due in [from, until).
    pub fn add_counts(&self, grid: &Grid, from: Timestamp, until: Timestamp, counts: &mut [u32]) {
        for segment in &self.segments {
            segment.timing.add_counts(grid, from, until, counts);
        }
    }

    pub fn next_due(&self, after: Timestamp) -> Option<Timestamp> {
        self.due_between(after, Timestamp::MAX, 1).first().map(|(_, occurrence)| occurrence.due)
    }

    /// Planned times that exceptions and calendars dropped, due in (after, until], with the version that planned
    /// each, earliest first, at most `limit`.
    pub fn skipped_between(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<(u32, Skipped)> {
        let mut skipped: Vec<(u32, Skipped)> = self
            .segments
            .iter()
            .flat_map(|segment| {
                let skipped = segment.timing.skipped_between(after, until, limit);
                skipped.into_iter().map(|skipped| (segment.version, skipped))
            })
            .collect();
        skipped.sort_by_key(|(version, skipped)| (skipped.due, skipped.planned, *version));
        skipped.truncate(limit);
        skipped
    }

    /// Occurrences that were to come at `through` or before although they were planned for later: they were moved to
    /// a working day that had passed when that was decided.
    pub fn moved_behind(&self, through: Timestamp) -> Vec<(u32, Occurrence)> {
        let mut behind: Vec<(u32, Occurrence)> = self
            .segments
            .iter()
            .flat_map(|segment| {
                segment.timing.moved_behind(through).into_iter().map(|occurrence| (segment.version, occurrence))
            })
            .collect();
        behind.sort_by_key(|(version, occurrence)| (occurrence.due, occurrence.planned, *version));
        behind
    }

    /// Zone data and calendars by which these times are planned: what the ledger records.
    pub fn data_version(&self, almanac: &Almanac) -> String {
        let calendars: BTreeSet<&str> =
            self.segments.iter().filter_map(|segment| segment.timing.calendar()).map(WorkingDays::version).collect();
        let mut version = almanac.zones().version().to_owned();
        for calendar in calendars {
            version.push(' ');
            version.push_str(calendar);
        }
        version
    }

    /// Whether its times depend on working days.
    pub fn uses_calendar(&self) -> bool {
        self.segments.iter().any(|segment| segment.timing.calendar().is_some())
    }

    /// The newest version's times; none where it holds at no time.
    pub fn newest(&self) -> Option<&CompiledTiming> {
        self.segments.first().map(|segment| &segment.timing)
    }
}

impl JobSpec {
    /// When it runs, in a sentence.
    pub fn schedule_words(&self, almanac: &Almanac) -> Words {
        // Neither the job nor when it was saved is said.
        self.timing(JobId::from_bytes([0; 16]), Timestamp::EPOCH).words(almanac)
    }

    /// What decides this job's times, as saved at `saved_at`.
    pub fn timing(&self, job: JobId, saved_at: Timestamp) -> Timing {
        Timing {
            schedule: self.schedule.clone(),
            exceptions: self.exceptions.clone(),
            effective_from: self.effective_from,
            effective_until: self.effective_until,
            calendar: self.calendar.clone(),
            on_non_workday: self.on_non_workday,
            spread_seconds: self.spread_seconds,
            saved_at,
            spread_seed: job.seed(),
        }
    }
}

impl Job {
    /// Its present version as a row of its history.
    pub fn as_version(&self) -> JobVersion {
        JobVersion {
            job: self.id,
            version: self.version,
            spec: self.spec.clone(),
            saved_at: self.saved_at,
            saved_by: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_was_added_outlives_a_version_that_a_clock_set_back_let_be_overtaken() {
        let at = |second: i64| Timestamp::from_millis(second * 1000);
        let version = |version, saved: i64, spec: serde_json::Value| {
            let mut whole = json!({"name": "job", "executorGroup": "local", "processor": "shell"});
            whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
            let spec = serde_json::from_value(whole).unwrap();
            JobVersion { job: JobId::from_bytes([1; 16]), version, spec, saved_at: at(saved), saved_by: String::new() }
        };
        let every = |seconds: u32| json!({"kind": "fixedRate", "everySeconds": seconds, "startTime": 0});
        let added =
            |seconds: &[i64]| seconds.iter().map(|one| json!({"change": "added", "at": at(*one)})).collect::<Vec<_>>();
        let versions = [
            version(3, 30, json!({"schedule": every(20)})),
            version(2, 40, json!({"schedule": every(7), "exceptions": added(&[25, 33])})),
            version(1, 0, json!({"schedule": every(10)})),
        ];
        let timeline = Timeline::new(&versions, &Almanac::bundled()).unwrap();
        let due: Vec<(u32, i64)> = timeline
            .due_between(at(10), at(50), 20)
            .into_iter()
            .map(|(version, occurrence)| (version, occurrence.due.millis() / 1000))
            .collect();
        assert_eq!(due, [(1, 20), (2, 25), (3, 40)]);
    }
}
