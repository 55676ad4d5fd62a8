//! Alarms, the audit log, what holds for all, and the ledger check.

use campanile_model::Words;
use campanile_model::alarm::{AlarmRule, AlarmState, Severity};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::*;

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListAlarms {
    #[ts(as = "Option<Vec<AlarmState>>", optional)]
    pub states: Vec<AlarmState>,
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AlarmPage {
    pub rows: Vec<AlarmRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AlarmRow {
    pub id: String,
    pub rule: AlarmRule,
    pub severity: Severity,
    pub state: AlarmState,
    pub subject: String,
    /// The job it is about.
    pub job: Option<String>,
    pub message: Words,
    pub first: Moment,
    pub last: Moment,
    pub count: u32,
    pub acknowledged: Option<AcknowledgementView>,
    pub resolved: Option<Moment>,
    pub can_acknowledge: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcknowledgementView {
    pub by: String,
    pub at: Moment,
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AcknowledgeInput {
    pub alarms: Vec<String>,
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct HoldInput {
    pub reason: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetInput {
    pub key: String,
    #[ts(type = "unknown")]
    pub value: Value,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(optional_fields = nullable)]
pub struct ListAudit {
    pub cursor: Option<i64>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    #[ts(type = "number | null")]
    pub next: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AuditRow {
    pub at: Moment,
    pub who: String,
    pub action: String,
    pub subject: String,
    #[ts(type = "unknown")]
    pub before: Option<Value>,
    #[ts(type = "unknown")]
    pub after: Option<Value>,
}

/// The ledger check of all jobs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LedgerView {
    pub clean: bool,
    pub jobs: u32,
    pub spans: u32,
    #[ts(type = "number")]
    pub planned: u64,
    #[ts(type = "number")]
    pub made: u64,
    #[ts(type = "number")]
    pub not_made: u64,
    pub findings: Vec<LedgerFindingView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LedgerFindingView {
    pub job: String,
    pub at: Option<Moment>,
    pub words: Words,
}
