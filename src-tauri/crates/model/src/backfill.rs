//! Backfills: the planned times of a stretch of the past, run one after the other as if they had come now.
//!
//! In lane Low, no more than one a second, and where the job's overlap is not `allow`, only while no
//! other run of the job is there: what is made good must not stand in the way of what is due.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::job::{JobSpec, Overlap};
use crate::schedule::Timing;
use crate::{JobId, RequestId, Timestamp};

/// The most times that one backfill makes good.
pub const MOST_BACKFILLED: usize = 10_000;

/// Between two of its runs, at the least.
pub const EVERY_MS: i64 = 1000;

/// Runs that begin together after a pause of the engine.
const MOST_AT_ONCE: i64 = 60;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backfill {
    /// The request that asked for it.
    pub id: RequestId,
    pub job: JobId,
    /// The version whose times they are.
    pub version: u32,
    /// Planned times in [from, to).
    pub from: Timestamp,
    pub to: Timestamp,
    /// Those up to here are made.
    pub through: Timestamp,
    pub planned: u32,
    pub made: u32,
    pub asked_by: String,
    pub asked_at: Timestamp,
    pub ended: Option<BackfillEnd>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillEnd {
    pub at: Timestamp,
    pub how: BackfillState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum BackfillState {
    Running,
    /// All of its runs are made.
    Done,
    /// A person ended it before.
    Cancelled,
}

impl Backfill {
    pub fn state(&self) -> BackfillState {
        self.ended.as_ref().map_or(BackfillState::Running, |end| end.how)
    }

    /// What makes the run of a planned time one and the same.
    pub fn key(&self, planned: Timestamp) -> String {
        format!("{}:{}", self.id, planned.millis())
    }

    /// When its next run may be made.
    pub fn next_at(&self) -> Timestamp {
        self.asked_at.plus_millis(i64::from(self.made).saturating_mul(EVERY_MS))
    }

    /// How many runs may be made now, beside `open` instances of the job.
    pub fn room(&self, overlap: Overlap, open: usize, now: Timestamp) -> usize {
        if now < self.next_at() {
            return 0;
        }
        match overlap {
            Overlap::Allow => {
                let owed = (now.millis() - self.next_at().millis()) / EVERY_MS + 1;
                usize::try_from(owed.min(MOST_AT_ONCE)).unwrap_or(0)
            }
            Overlap::Skip | Overlap::Queue | Overlap::Replace => usize::from(open == 0),
        }
    }
}

impl JobSpec {
    /// The times of this job in the past: as if it had been saved before `from`, and each at its own place.
    pub fn backfill_timing(&self, job: JobId, from: Timestamp) -> Timing {
        Timing { effective_from: None, spread_seconds: 0, saved_at: from, ..self.timing(job, from) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backfill(made: u32) -> Backfill {
        Backfill {
            id: RequestId::from_bytes([1; 16]),
            job: JobId::from_bytes([2; 16]),
            version: 1,
            from: Timestamp::EPOCH,
            to: Timestamp::from_millis(1000),
            through: Timestamp::EPOCH,
            planned: 100,
            made,
            asked_by: "mei".to_owned(),
            asked_at: Timestamp::from_millis(10_000),
            ended: None,
        }
    }

    #[test]
    fn its_runs_come_a_second_apart_and_one_at_a_time_unless_they_may_overlap() {
        let table = [
            (Overlap::Queue, 0, 0, 10_000, 1),
            (Overlap::Queue, 0, 1, 10_000, 0),
            (Overlap::Queue, 1, 0, 10_999, 0),
            (Overlap::Queue, 1, 0, 11_000, 1),
            (Overlap::Skip, 3, 0, 99_000, 1),
            (Overlap::Replace, 3, 2, 99_000, 0),
            (Overlap::Allow, 0, 9, 10_000, 1),
            (Overlap::Allow, 1, 9, 10_500, 0),
            (Overlap::Allow, 1, 9, 13_000, 3),
            (Overlap::Allow, 1, 9, 9_000_000, 60),
        ];
        for (overlap, made, open, now, room) in table {
            let found = backfill(made).room(overlap, open, Timestamp::from_millis(now));
            assert_eq!(found, room, "{overlap:?}, {made} made, {open} open at {now}");
        }
    }
}
