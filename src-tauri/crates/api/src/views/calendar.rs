//! The calendar as it is painted, what a drop on it would do, and the zone data that times are planned by.

use campanile_model::instance::{InstanceState, Origin};
use campanile_model::job::JobSpec;
use campanile_model::schedule::Scope;
use campanile_model::{Timestamp, Words};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::*;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskCalendar {
    /// The first day, `2026-11-16`; the Monday of this week where absent.
    pub date: Option<String>,
    /// 1 to 42; 7 where absent.
    pub days: Option<u32>,
    /// Only jobs whose name, tag or tenant has this.
    pub text: Option<String>,
}

/// The zone data that times are planned by.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ZonesView {
    /// Such as `2026f`.
    pub version: String,
    /// What this program carries.
    pub bundled: String,
    pub zones: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ImportZones {
    /// Of the machine of the node: compiled zones with their `tzdata.zi`.
    pub folder: String,
    /// Only says what would change.
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ZonesImported {
    pub before: String,
    pub version: String,
    /// Jobs with times in the next months that are others now.
    pub changed: u32,
    /// The first of them.
    pub jobs: Vec<ChangedTimes>,
}

/// The first times that a job had and has no more, and those that it has now.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ChangedTimes {
    pub job: String,
    pub name: String,
    pub time_zone: String,
    pub before: Vec<Moment>,
    pub after: Vec<Moment>,
}

/// What entries and bands share is told once: of a job in `jobs`, of an entry in `notes`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarView {
    pub now: Timestamp,
    pub zone: String,
    pub days: Vec<CalendarDay>,
    pub jobs: Vec<CalendarJob>,
    /// Earliest first.
    pub entries: Vec<CalendarEntry>,
    /// Jobs too frequent to be drawn one by one.
    pub bands: Vec<CalendarBand>,
    /// Firings in each quarter of an hour of each day, in the order of the days.
    pub load: Vec<Vec<u32>>,
    pub notes: Vec<Words>,
}

/// A job of which there is an entry or a band.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarJob {
    pub id: String,
    pub name: String,
    pub words: Words,
    /// For a colour that stays with the job: 0 to 11.
    pub hue: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarDay {
    /// `2026-11-16`
    pub date: String,
    /// 1 (Monday) to 7.
    pub weekday: u8,
    pub start: Timestamp,
    pub end: Timestamp,
    pub today: bool,
    /// The clocks change on this day: what a person should know of it.
    pub clock_change: Option<Words>,
    /// Blackout windows that touch the day.
    pub blackouts: Vec<BlackoutSpan>,
    /// Firings that are in `load` and neither entries nor in a band, because there are too many.
    pub unlisted: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarEntry {
    /// Index into `jobs`.
    pub job: u32,
    pub version: u32,
    /// What identifies the occurrence; absent for runs by hand.
    pub planned: Option<Timestamp>,
    pub due: Moment,
    /// Index into `days`, and wall-clock minutes since midnight.
    pub day: u32,
    pub minute: u32,
    /// Past ones have an instance and a state.
    pub instance: Option<String>,
    pub state: Option<InstanceState>,
    pub origin: Origin,
    /// Index into `notes`: why it is where it is.
    pub reason: Option<u32>,
    /// Index into `notes`: why it cannot be moved; absent where it can.
    pub fixed: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CalendarBand {
    /// Index into `jobs`.
    pub job: u32,
    pub version: u32,
    pub day: u32,
    pub from_minute: u32,
    pub to_minute: u32,
    pub count: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskReschedule {
    pub job: String,
    pub planned: Timestamp,
    /// Where it was dropped: a wall-clock time in the zone of the call, `2026-11-18T10:30`, …
    pub to_local: Option<String>,
    /// … or an instant.
    pub to: Option<Timestamp>,
}

/// What a drop would do, for each of the three scopes; saved with `save_job`, taken back with `restore_version`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RescheduleView {
    pub job: String,
    pub name: String,
    pub version: u32,
    pub from: Moment,
    pub to: Moment,
    pub choices: Vec<RescheduleChoice>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RescheduleChoice {
    pub scope: Scope,
    pub allowed: Allowed,
    /// The schedule in words, as it would be.
    pub words: Option<Words>,
    pub before: Vec<Moment>,
    pub after: Vec<Moment>,
    /// Other jobs due within a minute of the new time.
    pub collisions: Vec<String>,
    pub spec: Option<JobSpec>,
}
