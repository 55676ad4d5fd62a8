//! Working-day calendars: on which days work is done, and why not on the others.
//!
//! A [`Calendar`] is what a person keeps: a weekly pattern, and layers of days that depart from it. The
//! country's layer comes first, then the company's, then the team's; where several mark a day, the last
//! one counts. A calendar can build on another, so that a company's holds only what is its own and
//! follows the country's as that grows. [`WorkingDays`] is the same with everything looked up, ready to be asked.
//!
//! What a job makes of a day on which nobody works is `schedule/duty`'s; where calendars are kept is the
//! engine's. Nothing here knows the time of day.

mod check;
mod china;
mod date;
mod difference;
mod file;
mod working_days;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use check::{LONGEST_CALENDAR_NAME, check};
pub use china::built_in;
pub use date::Date;
pub use difference::{DayChange, difference};
pub use file::{FileKind, FileRead, calendar_of_file, read_file, write_file};
pub use working_days::{LONGEST_ROLL_DAYS, Mark, Rolled, Standing, WorkingDays};

use crate::job::API_VERSION;
use crate::{Timestamp, Words};

/// The one of China, and the one that has nothing but its week.
pub const CHINA: &str = "cn";
pub const WEEKDAYS: &str = "weekdays";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "WorkCalendar")]
pub struct Calendar {
    #[serde(default = "api_version")]
    pub api_version: String,
    /// Unique; what jobs, files and errors call it.
    pub name: String,
    /// What people call it, where that is more than its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<Words>,
    /// The calendar that it builds on; its own name means the one that the program carries under that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base: Option<String>,
    /// Working days of an ordinary week, 1 (Monday) to 7. Absent: the base's, else Monday to Friday.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub week: Option<Vec<u8>>,
    /// Where its days begin and end, for schedules that are written in no zone. Absent: the base's, else UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub time_zone: Option<String>,
    /// Absent: the base's, else `weekly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub uncovered: Option<Uncovered>,
    /// From the most general to the most particular: of two that mark a day the later counts.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// Counts what was saved under this name; written by the program.
    #[serde(default)]
    pub revision: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub saved_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub saved_by: Option<String>,
}

/// What holds in a year for which there is no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Uncovered {
    /// The weekly pattern, with a warning on each run.
    #[default]
    Weekly,
    /// Nothing is planned until the data is there.
    Hold,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(rename = "WorkCalendarLayer")]
pub struct Layer {
    /// Such as `country`, `company`, `team`.
    pub name: String,
    /// Where its days are from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub source: String,
    /// The years for which its days are all there are. A calendar in which no layer names years needs
    /// no data: its week holds for ever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<u16>>")]
    pub years: Vec<u16>,
    #[serde(default)]
    pub days: Vec<MarkedDay>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MarkedDay {
    pub date: Date,
    pub kind: DayKind,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "one_or_both_languages")]
    #[ts(optional)]
    pub name: Option<Words>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DayKind {
    /// Nobody works, whatever day of the week it is.
    Off,
    /// Work is done, whatever day of the week it is.
    Work,
}

fn api_version() -> String {
    API_VERSION.to_owned()
}

/// A name is written once, or in both languages.
fn one_or_both_languages<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Words>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Name {
        One(String),
        Both(Words),
    }
    Ok(Option::<Name>::deserialize(deserializer)?.map(|name| match name {
        Name::One(text) => Words::new(text.clone(), text),
        Name::Both(words) => words,
    }))
}

impl Calendar {
    pub fn new(name: &str) -> Calendar {
        Calendar {
            api_version: api_version(),
            name: name.to_owned(),
            title: None,
            base: None,
            week: None,
            time_zone: None,
            uncovered: None,
            layers: Vec::new(),
            revision: 0,
            saved_at: None,
            saved_by: None,
        }
    }

    /// What people call it.
    pub fn label(&self) -> Words {
        self.title.clone().unwrap_or_else(|| Words::new(self.name.clone(), self.name.clone()))
    }

    /// Whether it says the same, whoever saved it and when.
    pub fn says_the_same(&self, other: &Calendar) -> bool {
        let bare = |calendar: &Calendar| Calendar { revision: 0, saved_at: None, saved_by: None, ..calendar.clone() };
        bare(self) == bare(other)
    }
}
