//! What changes for each day when one calendar takes the place of another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Date, Standing, WorkingDays};
use crate::Words;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DayChange {
    pub date: Date,
    /// None: it is not known.
    #[ts(type = "boolean | null")]
    pub worked_before: Option<bool>,
    #[ts(type = "boolean | null")]
    pub worked_after: Option<bool>,
    pub why_before: Words,
    pub why_after: Words,
}

/// Days of these years that are worked in one and not in the other.
pub fn difference(before: &WorkingDays, after: &WorkingDays, years: std::ops::RangeInclusive<i64>) -> Vec<DayChange> {
    let known = |standing| match standing {
        Standing::Working => Some(true),
        Standing::Off => Some(false),
        Standing::Unknown => None,
    };
    let mut changes = Vec::new();
    let (Some(mut date), Some(last)) = (Date::new(*years.start(), 1, 1), Date::new(*years.end(), 12, 31)) else {
        return changes;
    };
    while date <= last {
        let (was, is) = (before.standing_of(date), after.standing_of(date));
        if was != is {
            changes.push(DayChange {
                date,
                worked_before: known(was),
                worked_after: known(is),
                why_before: before.why(date),
                why_after: after.why(date),
            });
        }
        date = date.plus_days(1);
    }
    changes
}
