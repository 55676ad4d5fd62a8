//! Rows of cells as items: an object of header and value each.

use std::collections::HashSet;

use campanile_model::Words;
use serde_json::Value;

use crate::Options;
use crate::taking::{Halt, Taking, level_of, no_level};

/// Columns of a table.
const MOST_COLUMNS: usize = 1000;

/// A table whose header was read.
pub(crate) struct Table {
    /// Each as it stands in an item: `"name":`.
    keys: Vec<String>,
    level: Option<(usize, String)>,
}

impl Table {
    /// By its first row; that row is an item itself where there is no header.
    pub(crate) fn begin(
        row: u64,
        cells: &[Value],
        options: &Options,
        taking: &mut Taking<'_, '_>,
    ) -> Result<Table, Halt> {
        let mut columns: Vec<String> = cells
            .iter()
            .map(|cell| if options.headerless { String::new() } else { shown(cell).trim().to_owned() })
            .enumerate()
            .map(|(n, name)| if name.is_empty() { letters(n) } else { name })
            .collect();
        // Cells at the end of a header that have nothing in them are none.
        let last = cells.iter().rposition(|cell| !is_empty(cell)).map_or(0, |last| last + 1);
        if !options.headerless {
            columns.truncate(last);
        }
        let mut refuse = |words: Words| {
            taking.fault(row, words);
            Err(Halt::Here)
        };
        if columns.len() > MOST_COLUMNS {
            let words =
                Words::new(format!("there are more than {MOST_COLUMNS} columns"), format!("列数超过 {MOST_COLUMNS}"));
            return refuse(words);
        }
        let mut seen = HashSet::new();
        if let Some(twice) = columns.iter().find(|name| !seen.insert(name.as_str())) {
            let words = Words::new(format!("two columns are called {twice}"), format!("有两列都名为 {twice}"));
            return refuse(words);
        }
        let level = match &options.level {
            None => None,
            Some(name) => match columns.iter().position(|column| column == name.trim()) {
                Some(at) => Some((at, name.trim().to_owned())),
                None => {
                    let words = Words::new(format!("there is no column {name}"), format!("没有名为 {name} 的列"));
                    return refuse(words);
                }
            },
        };
        let keys = columns.iter().map(|name| format!("{}:", Value::from(name.as_str()))).collect();
        taking.about().columns = columns;
        Ok(Table { keys, level })
    }

    pub(crate) fn row(&self, row: u64, mut cells: Vec<Value>, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        let columns = self.keys.len();
        if cells.len() > columns && cells[columns..].iter().all(is_empty) {
            cells.truncate(columns);
        }
        if cells.len() != columns {
            let words = Words::new(
                format!("it has {} cells where the header has {columns}", cells.len()),
                format!("有 {} 个单元格，而表头有 {columns} 个", cells.len()),
            );
            taking.fault(row, words);
            return Ok(());
        }
        let level = match &self.level {
            None => 0,
            Some((at, name)) => match level_of(&cells[*at]) {
                Some(level) => level,
                None => {
                    taking.fault(row, no_level(name));
                    return Ok(());
                }
            },
        };
        let mut item = String::from("{");
        for (n, (key, cell)) in self.keys.iter().zip(&cells).enumerate() {
            if n > 0 {
                item.push(',');
            }
            item.push_str(key);
            item.push_str(&cell.to_string());
        }
        item.push('}');
        if taking.wants_first() {
            taking.show(row, level, cells.iter().map(shown));
        }
        taking.item(row, level, item)
    }
}

pub(crate) fn is_empty(cell: &Value) -> bool {
    match cell {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A value as a cell shows it.
pub(crate) fn shown(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What a spreadsheet calls its columns: A to Z, AA to ZZ and so on.
pub(crate) fn letters(mut column: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'A' + u8::try_from(column % 26).unwrap_or(0));
        column /= 26;
        if column == 0 {
            break;
        }
        column -= 1;
    }
    name.reverse();
    name.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_called_as_a_spreadsheet_calls_them() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (701, "ZZ"), (702, "AAA")] {
            assert_eq!(letters(column), name);
        }
    }
}
