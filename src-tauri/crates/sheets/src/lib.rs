//! Files of items, and files about items: CSV, Excel and JSON read row by row, reports written row by row.
//!
//! A crate of its own, because what stands in a file is a matter of its bytes alone: nothing here knows a store, a
//! clock or a network, and every rule is a table of small files. It blocks; whoever calls it gives it a thread.
//!
//! What it holds of a file at once is bounded: a row, and what readers read ahead. Two formats are exceptions, and say
//! so where they are read: the texts of an Excel file (.xlsx), each once, and the whole of an old workbook (.xls, .ods,
//! .xlsb), which is why those may be [`LARGEST_OLD_WORKBOOK`] at most.

mod excel;
mod json;
mod report;
mod separated;
mod table;
mod taking;
mod text;
mod watched;
mod workbook;

use std::path::Path;

pub use excel::{LARGEST_OLD_WORKBOOK, LARGEST_TEXTS};
pub use report::{Cell, Report, ReportKind};
pub use taking::{FirstRow, Found, HIGHEST_LEVEL, MOST_LEVELS, ReadError, RowFault, Take};
pub use watched::Reading;

use crate::taking::Taking;
use crate::watched::Opened;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows of cells: commas, semicolons, tabs or bars between them.
    Separated,
    /// .xlsx, and the older .xls, .ods and .xlsb.
    Workbook,
    /// A list of levels, each a list of items; a list of items; or values one after another.
    Json,
}

/// What a person says of a file; the rest is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// By the name and the first bytes where absent.
    pub kind: Option<Kind>,
    /// `utf-8`, `gbk`, `utf-16le` and so on.
    pub encoding: Option<String>,
    /// Between the cells of a row.
    pub delimiter: Option<char>,
    /// The first row is an item like the others; columns are called A, B, C and so on.
    pub headerless: bool,
    /// Of a workbook; the first one where absent.
    pub sheet: Option<String>,
    /// The column, or the field of each item, that says the level.
    pub level: Option<String>,
}

/// Reads a file from its beginning to its end and gives out every item with its level. Rows that are wrong are counted
/// and passed over: whoever wants all or nothing looks at what was found.
pub fn read(path: &Path, options: &Options, reading: &Reading, take: &mut Take<'_>) -> Result<Found, ReadError> {
    let opened = Opened::open(path)?;
    let kind = match options.kind {
        Some(kind) => kind,
        None => kind_of(path, &opened.beginning()?),
    };
    let mut taking = Taking::new(kind, options, reading, take);
    match kind {
        Kind::Separated => separated::read(&opened, options, &mut taking)?,
        Kind::Json => json::read(&opened, options, &mut taking)?,
        Kind::Workbook => excel::read(&opened, path, options, &mut taking)?,
    }
    let found = taking.found();
    opened.ends_as_it_began(found)
}

/// By what it begins with; where that says nothing, by its name.
fn kind_of(path: &Path, beginning: &[u8]) -> Kind {
    const ZIP: &[u8] = b"PK\x03\x04";
    const OLD_OFFICE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0];
    if beginning.starts_with(ZIP) || beginning.starts_with(OLD_OFFICE) {
        return Kind::Workbook;
    }
    match watched::ending(path).as_str() {
        "json" | "jsonl" | "ndjson" => Kind::Json,
        _ => Kind::Separated,
    }
}
