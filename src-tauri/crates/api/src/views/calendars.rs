//! Working-day calendars, as the console and the command line see them.

use campanile_model::calendar::{Calendar, Date, DayChange, DayKind, FileKind, Uncovered};
use campanile_model::{Fault, Words};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Allowed, Moment};

/// A calendar by its name.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct OfCalendar {
    pub calendar: String,
    /// The year that is shown; that of now where absent.
    #[serde(default)]
    pub year: Option<u16>,
    /// Of a change: the revision that the person had before them.
    #[serde(default)]
    pub seen_revision: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WorkCalendarList {
    pub rows: Vec<WorkCalendarRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WorkCalendarRow {
    pub name: String,
    pub title: Words,
    /// As the program carries it: nobody has changed it.
    pub built_in: bool,
    /// The program carries one of this name; what was changed of it can be taken back.
    pub carried: bool,
    pub base: Option<String>,
    pub revision: u32,
    pub saved_at: Option<Moment>,
    pub saved_by: Option<String>,
    /// Working days of an ordinary week, 1 (Monday) to 7.
    pub week: Vec<u8>,
    pub uncovered: Uncovered,
    /// Years that have data; none: it needs none.
    pub years: Vec<u16>,
    /// The last day that it has data for, counted from now without a break; none: no end is in sight.
    #[ts(type = "string | null")]
    pub data_ends: Option<Date>,
    /// That day is less than 30 days away.
    pub ends_soon: bool,
    /// Jobs whose times depend on it.
    pub jobs: u32,
    /// The version by which times planned with it are recorded.
    pub version: String,
    pub can_edit: Allowed,
    pub can_remove: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WorkCalendarView {
    pub row: WorkCalendarRow,
    /// What was written of it, to be edited and put back.
    pub document: Calendar,
    pub year: WorkCalendarYear,
    /// Names of jobs that depend on it, the first hundred.
    pub jobs: Vec<String>,
}

/// A year at a glance.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WorkCalendarYear {
    pub year: u16,
    pub covered: bool,
    /// Working days of it, as far as they are known.
    pub working_days: u32,
    /// Each day of it, in order.
    pub days: Vec<WorkCalendarDay>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WorkCalendarDay {
    #[ts(type = "string")]
    pub date: Date,
    /// 1 is Monday.
    pub weekday: u8,
    /// None: there is no data, and the calendar says to wait for it.
    pub works: Option<bool>,
    pub why: Words,
    /// Where it is marked, and not as the week has it.
    pub mark: Option<DayMark>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DayMark {
    pub kind: DayKind,
    pub name: Option<Words>,
    /// The calendar and the layer that say so.
    pub calendar: String,
    pub layer: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutCalendar {
    pub calendar: Calendar,
    #[serde(default)]
    pub seen_revision: Option<u32>,
}

/// A file to be read into a layer of a calendar, in place of what that layer has for the same years.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct CalendarFile {
    /// The calendar; one that is not there is made.
    pub calendar: String,
    /// `country` where absent.
    #[serde(default)]
    pub layer: Option<String>,
    /// By the file's name, or by how it begins, where absent.
    #[serde(default)]
    pub kind: Option<FileKind>,
    #[serde(default)]
    pub file_name: Option<String>,
    pub text: String,
    /// The years for which the file says all; those that it tells of where absent.
    #[serde(default)]
    pub years: Option<Vec<u16>>,
    #[serde(default)]
    pub seen_revision: Option<u32>,
}

/// What a change of a calendar comes to. Nothing is written.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarDraft {
    /// As it would be put. None: see `faults`.
    pub calendar: Option<Calendar>,
    /// It is not there yet.
    pub new: bool,
    /// What keeps it from being saved: of a file each with its line.
    pub faults: Vec<Fault>,
    /// Days that were read from the file, and entries that are neither days off nor working days.
    pub read: u32,
    pub passed_over: u32,
    /// Days that are worked before and not after, or the other way.
    pub days: Vec<DayChange>,
    /// Days that change beyond those that are listed.
    pub more_days: u32,
    pub jobs: Vec<JobTimesChange>,
    pub more_jobs: u32,
}

/// Future times of a job that come to be others.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct JobTimesChange {
    pub job: String,
    pub name: String,
    pub changes: Vec<TimeChangeView>,
    /// Times that change beyond those that are listed.
    pub more: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TimeChangeView {
    pub planned: Moment,
    /// None: it does not come.
    pub before: Option<Moment>,
    pub after: Option<Moment>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarSaved {
    pub changed: u32,
    pub revision: u32,
    pub jobs: Vec<JobTimesChange>,
    pub more_jobs: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct ExportCalendar {
    pub calendar: String,
    pub kind: FileKind,
    /// All years that have marked days where absent.
    #[serde(default)]
    pub years: Option<Vec<u16>>,
}
