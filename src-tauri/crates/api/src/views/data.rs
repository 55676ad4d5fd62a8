//! Views of data: files that are handed in, looked at, and taken in for a run that is cut into shards.

use campanile_model::{Fault, Words};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Allowed;

/// A file that was handed in, to be looked at. It is known by this name of ours to whoever handed it in.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GivenFile {
    pub file: String,
    /// As people call it.
    pub name: String,
    #[ts(type = "number")]
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfFile {
    pub file: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DataKind {
    Csv,
    Excel,
    Json,
}

/// How a file is to be read; what is absent is found.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields = nullable)]
pub struct LookAtData {
    pub file: String,
    pub kind: Option<DataKind>,
    /// `utf-8`, `gbk`, `utf-16le` and so on.
    pub encoding: Option<String>,
    /// Between the cells of a CSV: one character.
    pub delimiter: Option<String>,
    /// The first row is an item like the others; columns are called A, B, C and so on.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub headerless: bool,
    /// Of a workbook; the first one where absent.
    pub sheet: Option<String>,
    /// The column, or the field of JSON items, with the level as a whole number. Without it all items are of one level.
    pub level_column: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DataPhase {
    /// Handed in, and not looked at.
    Given,
    /// It is being read, and nothing changes.
    Looking,
    Looked,
    /// It is being read once more, into storage.
    Staging,
    /// A run may take it.
    Staged,
    /// What is wrong stands beside it.
    Failed,
}

/// How far a file has come.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DataView {
    pub file: String,
    pub name: String,
    pub phase: DataPhase,
    #[ts(type = "number")]
    pub bytes: u64,
    /// Of the reading that is under way, from 0 to 1.
    pub part: f64,
    /// So far, or all of them.
    #[ts(type = "number")]
    pub items: u64,
    /// What the last look found.
    pub look: Option<DataLook>,
    /// What `run_jobs` takes as `data`, once it is staged.
    pub data: Option<String>,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DataLook {
    pub kind: DataKind,
    pub encoding: Option<String>,
    pub delimiter: Option<String>,
    /// All of a workbook, and the one that was read.
    pub sheets: Vec<String>,
    pub sheet: Option<String>,
    /// Of a table; of JSON, the fields of the first item. Nothing where items are no objects.
    pub columns: Vec<String>,
    pub level_column: Option<String>,
    /// At most twenty.
    pub first_rows: Vec<DataRow>,
    #[ts(type = "number")]
    pub items: u64,
    pub levels: u32,
    /// The first hundred, in order.
    pub level_sizes: Vec<LevelSize>,
    #[ts(type = "number")]
    pub largest_bytes: u64,
    /// The first twenty rows that are wrong, and how many there are. With any of them nothing can be started.
    pub faults: Vec<DataFault>,
    #[ts(type = "number")]
    pub faulty: u64,
    pub sha256: String,
    pub can_stage: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DataRow {
    /// As a spreadsheet counts; of JSON the number of the item, or its line.
    #[ts(type = "number")]
    pub row: u64,
    pub level: u32,
    /// By column; the item as JSON where there are none. Cut where long.
    pub cells: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LevelSize {
    pub level: u32,
    #[ts(type = "number")]
    pub items: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DataFault {
    #[ts(type = "number")]
    pub row: u64,
    pub words: Words,
}

// --- the report

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ReportFormat {
    Csv,
    Xlsx,
}
