//! The kinds that follow no calendar: a fixed rate, a fixed delay, one instant, other jobs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::error::ScheduleError;
use crate::Timestamp;

/// `start_time` + k × period in elapsed time, whatever the runs do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FixedRate {
    pub every_seconds: u32,
    /// Absent: the moment the job was saved. `Schedule::anchored` writes that moment down, so
    /// that a later edit keeps the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub start_time: Option<Timestamp>,
}

/// The period after the last instance became final, however it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FixedDelay {
    pub every_seconds: u32,
    /// Absent: the first run is on saving.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub start_time: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Once {
    pub at: Timestamp,
}

/// When other jobs have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct After {
    /// Names of the upstream jobs.
    pub jobs: Vec<String>,
    pub on: AfterOutcome,
    pub need: AfterNeed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AfterOutcome {
    #[default]
    Success,
    Failure,
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AfterNeed {
    /// Each upstream instance that ends as asked.
    #[default]
    Any,
    /// When each upstream has ended so at least once since the last firing.
    All,
}

pub(crate) fn period(every_seconds: u32) -> Result<i64, ScheduleError> {
    match every_seconds {
        0 => Err(ScheduleError::field("everySeconds", "the shortest period is 1 second", "最短周期为 1 秒")),
        _ => Ok(i64::from(every_seconds) * 1000),
    }
}

/// The first of start + k × period strictly after `after`.
pub(crate) fn elapsed_after(start: i64, period: i64, after: i64) -> Option<i64> {
    if after < start {
        return Some(start);
    }
    let gone = (after - start) / period;
    Some(start + (gone + 1) * period).filter(|next| *next <= Timestamp::MAX.millis())
}
