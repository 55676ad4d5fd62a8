//! Rows as the text of a statement.
//!
//! One statement carries many rows, and how many differs each time: bound, each number of rows would be a statement of
//! its own to prepare, and the server would describe ten thousand parameters before it takes them. So rows are written
//! out: numbers as numbers, and everything else as its bytes in hexadecimal digits. Nothing that a person wrote is ever
//! read as SQL, whatever is in it and however the server is set up.

use std::fmt::Write as _;

pub(crate) use campanile_store_sql::{Cell, IntoCell, Row, id, row};

use crate::rows::Id;

/// Of the rows of one statement together, unless the server takes less.
pub(crate) const LONGEST_TEXT: usize = 4 << 20;

/// A table that is joined grows slower than its rows: beyond this many it is another statement.
const JOINED_ROWS: usize = 128;

fn write(cell: &Cell, text: &mut String) {
    let hex = |text: &mut String, bytes: &[u8]| {
        text.push_str("X'");
        for byte in bytes {
            text.push(char::from(HEX[usize::from(byte >> 4)]));
            text.push(char::from(HEX[usize::from(byte & 15)]));
        }
        text.push('\'');
    };
    match cell {
        Cell::Null => text.push_str("NULL"),
        Cell::Number(number) => write!(text, "{number}").expect("a string takes everything"),
        Cell::Bytes(bytes) => hex(text, bytes),
        Cell::Text(words) => {
            text.push_str("_utf8mb4 ");
            hex(text, words.as_bytes());
        }
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// `1, 2, 3`, or NULL where there is nothing: `IN (NULL)` finds no row.
pub(crate) fn list(values: impl IntoIterator<Item = Cell>) -> String {
    let mut text = String::new();
    for value in values {
        if !text.is_empty() {
            text.push_str(", ");
        }
        write(&value, &mut text);
    }
    if text.is_empty() { "NULL".to_owned() } else { text }
}

pub(crate) fn ids<I: Id>(ids: impl IntoIterator<Item = I>) -> String {
    list(ids.into_iter().map(id))
}

pub(crate) fn numbers(numbers: impl IntoIterator<Item = i64>) -> String {
    list(numbers.into_iter().map(Cell::Number))
}

/// One search after the other, each in parentheses; `order` is of all of them together. One alone brings its own order:
/// what may stand behind its parentheses has changed with MySQL's versions.
pub(crate) fn union(searches: &[String], order: &str) -> String {
    match searches {
        [one] => one.clone(),
        several => format!("{} {order}", several.join(" UNION ALL ")),
    }
}

/// `head (1, 2), (3, 4) tail`, in as many statements as the length of their text asks for.
pub(crate) fn inserts(head: &str, rows: &[Row], tail: &str, longest: usize) -> Vec<String> {
    gathered(rows, longest, usize::MAX, |text, row, first| {
        text.push_str(if first { "(" } else { ", (" });
        text.push_str(&list(row.iter().cloned()));
        text.push(')');
    })
    .into_iter()
    .map(|rows| format!("{head} VALUES {rows} {tail}"))
    .collect()
}

/// The rows as a table to join, `(SELECT 1 AS c0, 2 AS c1 UNION ALL SELECT 3, 4)`.
pub(crate) fn tables(rows: &[Row], longest: usize) -> Vec<String> {
    gathered(rows, longest, JOINED_ROWS, |text, row, first| {
        if !first {
            text.push_str(" UNION ALL ");
        }
        text.push_str("SELECT ");
        for (n, value) in row.iter().enumerate() {
            if n > 0 {
                text.push_str(", ");
            }
            write(value, text);
            if first {
                write!(text, " AS c{n}").expect("a string takes everything");
            }
        }
    })
    .into_iter()
    .map(|rows| format!("({rows})"))
    .collect()
}

fn gathered(rows: &[Row], longest: usize, most: usize, write: impl Fn(&mut String, &Row, bool)) -> Vec<String> {
    let mut texts = Vec::new();
    let (mut text, mut held) = (String::new(), 0);
    for row in rows {
        let before = text.len();
        write(&mut text, row, held == 0);
        if held > 0 && (text.len() > longest || held >= most) {
            text.truncate(before);
            texts.push(std::mem::take(&mut text));
            write(&mut text, row, true);
            held = 0;
        }
        held += 1;
    }
    if held > 0 {
        texts.push(text);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_written_is_read_as_sql() {
        let row = row!["it's \\ \"x\"\0; --", -5_i64, None::<i64>, true];
        assert_eq!(list(row), "_utf8mb4 X'69742773205C20227822003B202D2D', -5, NULL, 1");
        assert_eq!(list([]), "NULL");
    }

    #[test]
    fn rows_are_cut_where_the_text_grows_too_long() {
        let rows: Vec<Row> = (0..5_i64).map(|n| row![n]).collect();
        assert_eq!(
            inserts("INSERT INTO t (n)", &rows, "", 9),
            [
                "INSERT INTO t (n) VALUES (0), (1) ",
                "INSERT INTO t (n) VALUES (2), (3) ",
                "INSERT INTO t (n) VALUES (4) "
            ]
        );
        // One that is too long by itself goes alone.
        assert_eq!(inserts("I", &rows[..2], "", 1), ["I VALUES (0) ", "I VALUES (1) "]);
        assert_eq!(inserts("I", &[], "", 9), Vec::<String>::new());
    }

    #[test]
    fn a_table_to_join_names_its_columns_once() {
        let rows: Vec<Row> = (0..130_i64).map(|n| row![n, None::<i64>]).collect();
        let tables = tables(&rows, LONGEST_TEXT);
        assert_eq!(tables.len(), 2);
        assert!(tables[0].starts_with("(SELECT 0 AS c0, NULL AS c1 UNION ALL SELECT 1, NULL UNION"));
        assert_eq!(tables[1], "(SELECT 128 AS c0, NULL AS c1 UNION ALL SELECT 129, NULL)");
    }
}
