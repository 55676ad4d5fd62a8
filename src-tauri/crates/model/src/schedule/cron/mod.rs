//! Cron expressions: what people write, and the times it comes to.
//!
//! `parse` turns text into fields and says where it is wrong (`quartz` what only that dialect has), `next` steps through the times,
//! `words` says in a sentence what was understood. The clock changes are the zone's part.

mod edit;
mod next;
mod parse;
mod quartz;
mod words;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::error::ScheduleError;
use super::zone::{DstGap, DstOverlap, Reading};
use crate::Words;

pub(crate) use next::CronTimes;
pub(crate) use parse::Parsed;
pub(crate) use words::weekdays;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Dialect {
    /// Five fields, from minutes to weekdays.
    Unix,
    /// Six, with seconds in front.
    Seconds,
    /// Six or seven, with seconds in front and a year behind; Sunday is 1.
    Quartz,
}

impl Dialect {
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Unix => "unix",
            Dialect::Seconds => "seconds",
            Dialect::Quartz => "quartz",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cron {
    pub expression: String,
    /// Absent: five fields and `@daily` and its kin are `unix`, seven are `quartz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dialect: Option<Dialect>,
    pub time_zone: String,
    pub dst_gap: DstGap,
    pub dst_overlap: DstOverlap,
}

impl Cron {
    pub fn unix(expression: impl Into<String>, time_zone: impl Into<String>) -> Cron {
        Cron {
            expression: expression.into(),
            dialect: None,
            time_zone: time_zone.into(),
            dst_gap: DstGap::default(),
            dst_overlap: DstOverlap::default(),
        }
    }

    pub(crate) fn parse(&self) -> Result<Parsed, ScheduleError> {
        parse::parse(&self.expression, self.dialect)
    }

    pub(crate) fn times(&self) -> Result<(CronTimes, Reading), ScheduleError> {
        let parsed = self.parse()?;
        let times = parsed.times()?;
        let reading = match parsed.starts_with_star() {
            true => Reading::EachInstant,
            false => Reading::Fixed { gap: self.dst_gap, overlap: self.dst_overlap },
        };
        Ok((times, reading))
    }

    /// What it says, without the zone: 'at 02:00 every day'.
    pub(crate) fn phrase(&self) -> Result<Words, ScheduleError> {
        self.parse().map(|parsed| words::phrase(&parsed))
    }

    /// What is allowed and probably not meant.
    pub(crate) fn warnings(&self) -> Vec<Words> {
        self.parse().map(|parsed| words::warnings(&parsed)).unwrap_or_default()
    }
}
