//! What comes of a file: items with their levels, and rows that are wrong.

use std::collections::BTreeMap;

use campanile_model::Words;
use campanile_model::sharding::data::LARGEST_ITEM;
use serde_json::Value;

use crate::watched::Reading;
use crate::{Kind, Options};

/// Each level has a row of its own while its run goes on.
pub const MOST_LEVELS: usize = 10_000;

pub const HIGHEST_LEVEL: u32 = 999_999;

/// Rows at the beginning that are shown.
const FIRST_ROWS: usize = 20;

/// Of a cell that is shown.
const LONGEST_SHOWN: usize = 200;

/// Rows that are wrong and named one by one.
const MOST_FAULTS: usize = 20;

/// Takes an item as JSON in one line: its level, its row, itself. False: nobody wants more.
pub type Take<'a> = dyn FnMut(u32, u64, String) -> bool + 'a;

/// What a file has in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub kind: Kind,
    /// Of a text.
    pub encoding: Option<String>,
    pub delimiter: Option<char>,
    /// Of a workbook: all of them, and the one that was read.
    pub sheets: Vec<String>,
    pub sheet: Option<String>,
    /// Of a table; of other items, the fields of the first.
    pub columns: Vec<String>,
    pub first: Vec<FirstRow>,
    pub items: u64,
    /// How many items each has.
    pub levels: BTreeMap<u32, u64>,
    /// The largest item, in bytes.
    pub largest: u64,
    /// The first of those that are wrong …
    pub faults: Vec<RowFault>,
    /// … and how many there are.
    pub faulty: u64,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstRow {
    pub row: u64,
    pub level: u32,
    /// By column, or the item itself where there are none; cut where long.
    pub cells: Vec<String>,
}

/// A row that is wrong. Rows are counted as a spreadsheet counts them, from 1 and with the header; items of a JSON list
/// from 1; values one after another by their line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    pub row: u64,
    pub words: Words,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read as what it is taken for.
    #[error("it cannot be read: {}", .0.en)]
    Unreadable(Words),
    /// It is not what it was when the reading began. Look at it again.
    #[error("it was changed while it was read")]
    Changed,
    /// Nobody wants more of it.
    #[error("it was stopped")]
    Stopped,
}

/// The reading ends here.
#[derive(Debug)]
pub(crate) enum Halt {
    /// With what was found so far: what follows cannot be understood.
    Here,
    Error(ReadError),
}

impl From<ReadError> for Halt {
    fn from(error: ReadError) -> Halt {
        Halt::Error(error)
    }
}

/// As far as a reading goes: a halt that is no error is an end.
pub(crate) fn went(outcome: Result<(), Halt>) -> Result<(), ReadError> {
    match outcome {
        Ok(()) | Err(Halt::Here) => Ok(()),
        Err(Halt::Error(error)) => Err(error),
    }
}

pub(crate) struct Taking<'a, 'b> {
    pub(crate) reading: &'a Reading,
    take: &'a mut Take<'b>,
    found: Found,
}

impl<'a, 'b> Taking<'a, 'b> {
    pub(crate) fn new(kind: Kind, options: &Options, reading: &'a Reading, take: &'a mut Take<'b>) -> Taking<'a, 'b> {
        let found = Found {
            kind,
            encoding: None,
            delimiter: None,
            sheets: Vec::new(),
            sheet: options.sheet.clone(),
            columns: Vec::new(),
            first: Vec::new(),
            items: 0,
            levels: BTreeMap::new(),
            largest: 0,
            faults: Vec::new(),
            faulty: 0,
            bytes: 0,
            sha256: String::new(),
        };
        Taking { reading, take, found }
    }

    pub(crate) fn about(&mut self) -> &mut Found {
        &mut self.found
    }

    pub(crate) fn found(self) -> Found {
        self.found
    }

    pub(crate) fn wants_first(&self) -> bool {
        self.found.first.len() < FIRST_ROWS
    }

    pub(crate) fn show(&mut self, row: u64, level: u32, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| cut(&cell)).collect();
        self.found.first.push(FirstRow { row, level, cells });
    }

    pub(crate) fn fault(&mut self, row: u64, words: Words) {
        self.found.faulty += 1;
        if self.found.faults.len() < MOST_FAULTS {
            self.found.faults.push(RowFault { row, words });
        }
    }

    pub(crate) fn item(&mut self, row: u64, level: u32, item: String) -> Result<(), Halt> {
        if item.len() > LARGEST_ITEM {
            self.fault(row, too_large());
            return Ok(());
        }
        let found = &mut self.found;
        if found.levels.len() >= MOST_LEVELS && !found.levels.contains_key(&level) {
            let words =
                Words::new(format!("there are more than {MOST_LEVELS} levels"), format!("层级超过 {MOST_LEVELS} 个"));
            self.fault(row, words);
            return Err(Halt::Here);
        }
        let found = &mut self.found;
        *found.levels.entry(level).or_default() += 1;
        found.items += 1;
        found.largest = found.largest.max(item.len() as u64);
        self.reading.one_more();
        if self.reading.is_stopped() || !(self.take)(level, row, item) {
            return Err(Halt::Error(ReadError::Stopped));
        }
        Ok(())
    }
}

pub(crate) fn too_large() -> Words {
    let most = LARGEST_ITEM / 1_000_000;
    Words::new(
        format!("it is larger than {most} MB; put what is large into a file, and its place into the row"),
        format!("超过 {most} MB；请将较大的内容放入文件，在该行中只写其位置"),
    )
}

/// A level as somebody wrote it.
pub(crate) fn level_of(value: &Value) -> Option<u32> {
    let level = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    u32::try_from(level).ok().filter(|level| *level <= HIGHEST_LEVEL)
}

pub(crate) fn no_level(column: &str) -> Words {
    Words::new(
        format!("the level, {column}, is no whole number from 0 to {HIGHEST_LEVEL}"),
        format!("层级列 {column} 不是 0 到 {HIGHEST_LEVEL} 的整数"),
    )
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
