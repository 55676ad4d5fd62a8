//! The times of a job across its versions.
//!
//! A new version holds from when it was saved, or from its `effectiveFrom` where that is later; up to
//! there the version before it still holds. Nobody's change loses a time that had come already.

use crate::job::{Job, JobSpec, JobVersion};
use crate::schedule::{CompiledTiming, Grid, Occurrence, ScheduleError, Timing};
use crate::{Almanac, JobId, Timestamp};

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
fn holds_from(version: &JobVersion) -> Timestamp {
    version.spec.effective_from.map_or(version.saved_at, |from| from.max(version.saved_at))
}

/// The longest `spreadSeconds`: so much later than planned may a time be due, and outlive its version.
pub const LONGEST_SPREAD_SECONDS: u32 = 86_400;

/// Whether times due after `through` may be those of an earlier version.
pub fn needs_earlier(version: &JobVersion, through: Timestamp) -> bool {
    version.version > 1 && holds_from(version).plus_seconds(i64::from(LONGEST_SPREAD_SECONDS)) > through
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
            if !overtaken {
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

    /// Planned times that exceptions dropped, due in (after, until], with the version that planned each.
    pub fn skipped_between(&self, after: Timestamp, until: Timestamp) -> Vec<(u32, Timestamp)> {
        let mut skipped: Vec<(u32, Timestamp)> = self
            .segments
            .iter()
            .flat_map(|segment| {
                let skipped = segment.timing.skipped_between(after, until);
                skipped.into_iter().map(|skipped| (segment.version, skipped.planned))
            })
            .collect();
        skipped.sort_unstable_by_key(|(version, planned)| (*planned, *version));
        skipped
    }

    /// The newest version's times; none where it holds at no time.
    pub fn newest(&self) -> Option<&CompiledTiming> {
        self.segments.first().map(|segment| &segment.timing)
    }
}

impl JobSpec {
    /// What decides this job's times, as saved at `saved_at`.
    pub fn timing(&self, job: JobId, saved_at: Timestamp) -> Timing {
        Timing {
            schedule: self.schedule.clone(),
            exceptions: self.exceptions.clone(),
            effective_from: self.effective_from,
            effective_until: self.effective_until,
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
