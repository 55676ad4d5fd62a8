//! CSV and its kin.

use std::io::Read;

use campanile_model::Words;
use campanile_model::sharding::data::LARGEST_ITEM;
use csv::{ReaderBuilder, StringRecord};
use serde_json::Value;

use crate::Options;
use crate::table::{Table, is_empty};
use crate::taking::{Halt, ReadError, Taking, went};
use crate::text::{RowTooLong, Text, named};
use crate::watched::{Opened, Stopped, unreadable};

/// Of a row as it stands in the file, quotes and all. A quote that is never closed takes the rest of a file.
const LONGEST_ROW: u64 = 2 * LARGEST_ITEM as u64;

/// What may stand between cells; the first wins where two would do.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Rows by which the delimiter is found.
const SAMPLE: usize = 20;

pub(crate) fn read(opened: &Opened, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), ReadError> {
    let encoding = match &options.encoding {
        None => None,
        Some(label) => Some(named(label).ok_or_else(|| {
            let words = Words::new(format!("no encoding is called {label}"), format!("没有名为 {label} 的编码"));
            ReadError::Unreadable(words)
        })?),
    };
    let mut text = Text::new(opened.hashed(taking.reading)?, encoding, true, LONGEST_ROW);
    let sample = text.peek().map_err(|error| broken(&error))?;
    let delimiter = match options.delimiter {
        Some(delimiter) => u8::try_from(delimiter).ok().filter(u8::is_ascii).ok_or_else(|| {
            ReadError::Unreadable(Words::new("the delimiter is no ASCII character", "分隔符不是 ASCII 字符"))
        })?,
        None => delimiter_of(sample),
    };
    taking.about().delimiter = Some(char::from(delimiter));
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(text);
    let outcome = read_rows(&mut rows, options, taking);
    let encoding = rows.get_ref().encoding();
    taking.about().encoding = Some(encoding.name().to_owned());
    went(outcome)?;
    // For the hash, where the end was not reached.
    drain(rows.into_inner())
}

fn drain(mut text: Text<impl Read>) -> Result<(), ReadError> {
    let mut piece = vec![0; 1 << 16];
    loop {
        text.row_ends(u64::MAX);
        match text.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(broken(&error)),
        }
    }
}

fn read_rows<R: Read>(
    rows: &mut csv::Reader<Text<R>>,
    options: &Options,
    taking: &mut Taking<'_, '_>,
) -> Result<(), Halt> {
    let mut table: Option<Table> = None;
    let mut record = StringRecord::new();
    // Line ends within cells so far: what makes lines of rows.
    let mut within = 0;
    let mut last = 0;
    loop {
        match rows.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => {
                let too_long = match error.kind() {
                    csv::ErrorKind::Io(io) => {
                        io.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<RowTooLong>)
                    }
                    _ => false,
                };
                if too_long {
                    taking.fault(last + 1, never_closed());
                    return Err(Halt::Here);
                }
                return Err(halted(error));
            }
        }
        within += record.iter().map(|cell| cell.bytes().filter(|byte| *byte == b'\n').count() as u64).sum::<u64>();
        let after = rows.position();
        let row = (after.line() - 1).saturating_sub(within);
        last = row;
        let is_broken = rows.get_ref().row_ends(after.byte());
        if is_broken {
            let encoding = rows.get_ref().encoding().name();
            let words =
                Words::new(format!("it is not {encoding} throughout"), format!("含有无法按 {encoding} 解读的内容"));
            taking.fault(row, words);
            continue;
        }
        let cells: Vec<Value> = record.iter().map(Value::from).collect();
        if cells.iter().all(is_empty) {
            continue;
        }
        let begun = match &table {
            Some(begun) => begun,
            None => {
                let begun = table.insert(Table::begin(row, &cells, options, taking)?);
                if !options.headerless {
                    continue;
                }
                begun
            }
        };
        begun.row(row, cells, taking)?;
    }
}

fn never_closed() -> Words {
    let most = LONGEST_ROW / 1024;
    Words::new(
        format!("it is longer than {most} KB; perhaps a quote is never closed"),
        format!("超过 {most} KB；可能有引号未闭合"),
    )
}

fn halted(error: csv::Error) -> Halt {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Halt::Error(broken(&error)),
        other => {
            let text = csv::Error::from(std::io::Error::other(format!("{other:?}"))).to_string();
            Halt::Error(ReadError::Unreadable(Words::new(text.clone(), text)))
        }
    }
}

pub(crate) fn broken(error: &std::io::Error) -> ReadError {
    match error.get_ref() {
        Some(inner) if inner.is::<Stopped>() => ReadError::Stopped,
        _ => unreadable(error),
    }
}

/// Whichever makes rows of the same number of cells, as many as can be, out of what a file begins with.
fn delimiter_of(sample: &[u8]) -> u8 {
    let score = |delimiter: &u8| {
        let mut rows = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(*delimiter).from_reader(sample);
        let mut record = csv::ByteRecord::new();
        let mut first = None;
        let (mut seen, mut alike) = (0_usize, 0_usize);
        while seen < SAMPLE && rows.read_byte_record(&mut record).unwrap_or(false) {
            seen += 1;
            alike += usize::from(*first.get_or_insert(record.len()) == record.len());
        }
        let cells = first.unwrap_or(0);
        // One column is no table of that delimiter.
        if cells < 2 { (0, 0) } else { (alike * 100 / seen.max(1), cells) }
    };
    let mut best = (DELIMITERS[0], (0, 0));
    for delimiter in DELIMITERS {
        let scored = score(&delimiter);
        if scored > best.1 {
            best = (delimiter, scored);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_makes_a_table() {
        for (sample, expected) in [
            ("a,b\n1,2\n", ','),
            ("a;b\n1,5;2\n", ';'),
            ("a\tb\tc\n1\t2\t3\n", '\t'),
            ("a|b\n1|2\n", '|'),
            ("name\nx\n", ','),
            ("", ','),
            ("\"a;x\",b\n\"1;1\",2\n", ','),
        ] {
            assert_eq!(char::from(delimiter_of(sample.as_bytes())), expected, "{sample:?}");
        }
    }
}
