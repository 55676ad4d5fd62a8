//! What people are shown of firings beside the clock, and of what a change of a job comes to.

use campanile_model::backfill::BackfillState;
use campanile_model::blackout::Blackout;
use campanile_model::instance::InstanceState;
use campanile_model::schedule::Exception;
use campanile_model::{Timestamp, Words};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::views::{Allowed, Moment, OmissionRow, RescheduleChoice};

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct QuestionList {
    pub rows: Vec<QuestionRow>,
}

/// Firings that were missed and are run only if a person says so (`misfire: ask`).
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct QuestionRow {
    pub id: String,
    pub job: String,
    pub name: String,
    /// Planned time of the first and of the last of them.
    pub from: Moment,
    pub to: Moment,
    pub count: u32,
    pub asked_at: Moment,
    /// Without an answer by then they are skipped.
    pub until: Moment,
    pub words: Words,
    pub can_answer: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswerQuestions {
    pub questions: Vec<String>,
    /// True: one run stands for all that a question is about. False: they are skipped.
    pub run: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AskAway {
    /// When the person last looked.
    pub since: Timestamp,
}

/// What the policies did while nobody looked.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AwayView {
    pub since: Moment,
    pub missed: u32,
    pub folded: u32,
    pub skipped: u32,
    /// One for each job that lost a firing, the one that lost most first.
    pub rows: Vec<AwayRow>,
    /// What waits to be answered, whenever it was asked.
    pub questions: Vec<QuestionRow>,
    /// False: there was more than could be looked through.
    pub complete: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AwayRow {
    pub job: String,
    pub name: String,
    /// Dropped, with nothing in their place.
    pub missed: u32,
    /// Made good by a later run.
    pub folded: u32,
    /// Left to a person.
    pub asked: u32,
    /// By pause, overlap or exception.
    pub skipped: u32,
    pub from: Moment,
    pub to: Moment,
    pub omissions: Vec<OmissionRow>,
    pub can_run: Allowed,
}

/// Planned times in [from, to); `to` is now where absent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskBackfill {
    pub job: String,
    pub from: Timestamp,
    pub to: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BackfillPlan {
    pub job: String,
    pub name: String,
    pub count: u32,
    pub first: Option<Moment>,
    pub last: Option<Moment>,
    /// How it would go on.
    pub words: Words,
    pub allowed: Allowed,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListBackfills {
    pub job: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BackfillList {
    pub rows: Vec<BackfillRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BackfillRow {
    pub id: String,
    pub job: String,
    pub name: String,
    pub from: Moment,
    pub to: Moment,
    pub planned: u32,
    pub made: u32,
    pub state: BackfillState,
    pub asked_by: String,
    pub asked_at: Moment,
    pub ended_at: Option<Moment>,
    pub can_cancel: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfBackfill {
    pub backfill: String,
}

/// A run whose end brought this one about.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct UpstreamRun {
    pub instance: String,
    pub job: String,
    pub name: String,
    pub state: InstanceState,
}

/// An exception that means nothing to the job as it would be saved.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LapsedException {
    pub exception: Exception,
    pub words: Words,
}

/// Two versions of a job, or one of them and what is about to be saved.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct CompareVersions {
    pub job: String,
    pub from: u32,
    /// The present version where neither this nor `spec` is given.
    pub to: Option<u32>,
    #[serde(default)]
    #[ts(type = "unknown", optional)]
    pub spec: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VersionDiff {
    pub job: String,
    pub name: String,
    pub from: u32,
    /// None: what is about to be saved.
    pub to: Option<u32>,
    /// In the order of the job's fields; empty: nothing differs.
    pub changes: Vec<FieldChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FieldChange {
    /// Such as `misfire.policy`.
    pub field: String,
    pub name: Words,
    /// None: it was not set.
    pub before: Option<Words>,
    /// None: it is set no more.
    pub after: Option<Words>,
}

/// A copy of a run, at a wall-clock time in the zone of the call or at an instant.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct AskCopy {
    pub job: String,
    pub to_local: Option<String>,
    pub to: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AskSpread {
    pub job: String,
    /// How long after its time a run may start.
    pub seconds: u32,
}

/// What a copy or a wider window would do; saved with `save_job`, taken back with `restore_version`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AdjustView {
    pub job: String,
    pub name: String,
    pub version: u32,
    pub choice: RescheduleChoice,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BlackoutList {
    /// By name.
    pub rows: Vec<BlackoutRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BlackoutRow {
    pub name: String,
    pub blackout: Blackout,
    pub words: Words,
    /// The window of now, or the next one.
    pub next: Option<BlackoutSpan>,
    pub can_edit: Allowed,
}

/// One time that a window lasts.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BlackoutSpan {
    pub name: String,
    pub from: Moment,
    pub until: Moment,
    /// It is for all jobs there are.
    pub everything: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PutBlackout {
    pub name: String,
    pub blackout: Blackout,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfBlackout {
    pub name: String,
}

/// What a window would hold back in the next 31 days.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct BlackoutEffect {
    pub words: Words,
    pub windows: Vec<BlackoutSpan>,
    pub rows: Vec<EffectRow>,
    /// False: more jobs are held back than are listed.
    pub complete: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EffectRow {
    pub job: String,
    pub name: String,
    /// At most 1,000 are counted.
    pub count: u32,
    pub first: Moment,
    /// What becomes of them.
    pub words: Words,
}
