//! The ledger: spans of time whose firings have been decided, against which every instance is checked.

use serde::{Deserialize, Serialize};

use crate::{JobId, Timestamp};

/// All due times in (from, to] were decided under one version of the job. Spans of a job touch:
/// where one ends the next begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSpan {
    pub job: JobId,
    pub version: u32,
    /// The zone data by which the times were planned.
    pub zone_data: String,
    pub from: Timestamp,
    pub to: Timestamp,
    pub planned: u32,
    pub made: u32,
    pub not_made: u32,
}
