//! Workbooks. An .xlsx is read cell by cell; the texts that its cells share are held, each once. Older formats are held
//! whole.

use std::io::{BufReader, Read, Seek};
use std::path::Path;

use calamine::{Cell, Data, DataRef, ExcelDateTime, Ods, Range, Reader as _, Xls, Xlsb, Xlsx, XlsxError};
use campanile_model::Words;
use serde_json::{Number, Value};
use zip::ZipArchive;

use crate::Options;
use crate::separated::broken;
use crate::table::{Table, is_empty};
use crate::taking::{Halt, ReadError, Taking, went};
use crate::watched::{Opened, Watched, ending};

/// Of the texts that the cells of an .xlsx share, which are held while it is read.
pub const LARGEST_TEXTS: u64 = 256 << 20;

/// Of a file that is held whole.
pub const LARGEST_OLD_WORKBOOK: u64 = 32 << 20;

type Source = BufReader<Watched>;

pub(crate) fn read(
    opened: &Opened,
    path: &Path,
    options: &Options,
    taking: &mut Taking<'_, '_>,
) -> Result<(), ReadError> {
    // A workbook is not read in the order of its bytes; its hash is a reading of its own.
    let mut all = opened.hashed(taking.reading)?;
    std::io::copy(&mut all, &mut std::io::sink()).map_err(|error| broken(&error))?;
    let source = || Ok(BufReader::with_capacity(1 << 16, opened.seekable(taking.reading)?));
    let kind = ending(path);
    let is_zip = opened.beginning()?.starts_with(b"PK");
    if is_zip && !matches!(kind.as_str(), "ods" | "xlsb") {
        check_texts(source()?)?;
        let book: Xlsx<Source> = Xlsx::new(source()?).map_err(|error| unreadable(&error, taking))?;
        let sheet = chosen(&book.sheet_names(), options, taking)?;
        return went(read_cells(book, &sheet, options, taking));
    }
    if opened.bytes() > LARGEST_OLD_WORKBOOK {
        let most = LARGEST_OLD_WORKBOOK >> 20;
        return Err(ReadError::Unreadable(Words::new(
            format!("a file of this format may have {most} MB; save it as .xlsx or CSV"),
            format!("该格式的文件最大 {most} MB；请另存为 .xlsx 或 CSV"),
        )));
    }
    let (range, sheet) = match (is_zip, kind.as_str()) {
        (true, "ods") => whole::<Ods<Source>>(source()?, options, taking)?,
        (true, _) => whole::<Xlsb<Source>>(source()?, options, taking)?,
        (false, _) => whole::<Xls<Source>>(source()?, options, taking)?,
    };
    taking.about().sheet = Some(sheet);
    went(read_range(&range, options, taking))
}

/// Small as a file, they may be large in memory.
fn check_texts(source: Source) -> Result<(), ReadError> {
    let Ok(mut archive) = ZipArchive::new(source) else { return Ok(()) };
    let texts: u64 = (0..archive.len())
        .filter_map(|n| {
            let file = archive.by_index_raw(n).ok()?;
            Some((file.name().ok()?.to_ascii_lowercase(), file.size()))
        })
        .filter(|(name, _)| name.ends_with("sharedstrings.xml") || name.ends_with("styles.xml"))
        .map(|(_, size)| size)
        .sum();
    if texts <= LARGEST_TEXTS {
        return Ok(());
    }
    let most = LARGEST_TEXTS >> 20;
    Err(ReadError::Unreadable(Words::new(
        format!("its texts have more than {most} MB; save it as CSV"),
        format!("其文本内容超过 {most} MB；请另存为 CSV"),
    )))
}

fn unreadable(error: &dyn std::fmt::Display, taking: &Taking<'_, '_>) -> ReadError {
    if taking.reading.is_stopped() {
        return ReadError::Stopped;
    }
    ReadError::Unreadable(Words::new(format!("it is no workbook: {error}"), format!("不是有效的工作簿：{error}")))
}

fn chosen(sheets: &[String], options: &Options, taking: &mut Taking<'_, '_>) -> Result<String, ReadError> {
    sheets.clone_into(&mut taking.about().sheets);
    let found = match &options.sheet {
        Some(wanted) => sheets.iter().find(|sheet| *sheet == wanted),
        None => sheets.first(),
    };
    let sheet = found.cloned().ok_or_else(|| match &options.sheet {
        Some(wanted) => ReadError::Unreadable(Words::new(
            format!("it has no sheet {wanted}; there are {}", sheets.join(", ")),
            format!("没有名为 {wanted} 的工作表；现有 {}", sheets.join("、")),
        )),
        None => ReadError::Unreadable(Words::new("it has no sheets", "没有工作表")),
    })?;
    taking.about().sheet = Some(sheet.clone());
    Ok(sheet)
}

fn whole<B>(source: Source, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(Range<Data>, String), ReadError>
where
    B: calamine::Reader<Source>,
    B::Error: std::fmt::Display,
{
    let mut book = B::new(source).map_err(|error| unreadable(&error, taking))?;
    let sheet = chosen(&book.sheet_names(), options, taking)?;
    let range = book.worksheet_range(&sheet).map_err(|error| unreadable(&error, taking))?;
    Ok((range, sheet))
}

fn read_range(range: &Range<Data>, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
    let (top, left) = range.start().unwrap_or_default();
    let mut rows = Rows { table: None, options };
    for (n, cells) in (u64::from(top) + 1..).zip(range.rows()) {
        let mut row = vec![Value::Null; left as usize];
        for cell in cells {
            match value_of(cell) {
                Ok(value) => row.push(value),
                Err(error) => {
                    row.push(Value::Null);
                    taking.fault(n, error);
                }
            }
        }
        rows.take(n, row, taking)?;
    }
    Ok(())
}

fn read_cells<R: Read + Seek>(
    mut book: Xlsx<R>,
    sheet: &str,
    options: &Options,
    taking: &mut Taking<'_, '_>,
) -> Result<(), Halt> {
    let wrong = |error: XlsxError, taking: &Taking<'_, '_>| Halt::Error(unreadable(&error, taking));
    let mut cells = book.worksheet_cells_reader(sheet).map_err(|error| wrong(error, taking))?;
    let mut rows = Rows { table: None, options };
    let mut row: Vec<Value> = Vec::new();
    let mut at = None;
    loop {
        let cell: Option<Cell<DataRef<'_>>> = match cells.next_cell() {
            Ok(cell) => cell,
            Err(error) => return Err(wrong(error, taking)),
        };
        let place = cell.as_ref().map(Cell::get_position);
        if place.map(|(row, _)| row) != at {
            if let Some(at) = at {
                rows.take(u64::from(at) + 1, std::mem::take(&mut row), taking)?;
            }
            at = place.map(|(row, _)| row);
        }
        let (Some(cell), Some((n, column))) = (cell, place) else { return Ok(()) };
        let value = match value_of(&Data::from(cell.get_value().clone())) {
            Ok(value) => value,
            Err(error) => {
                taking.fault(u64::from(n) + 1, error);
                Value::Null
            }
        };
        if value.is_null() {
            continue;
        }
        let column = column as usize;
        if row.len() <= column {
            row.resize(column + 1, Value::Null);
        }
        row[column] = value;
    }
}

/// Rows of cells as they come; those without anything in them are passed over.
struct Rows<'a> {
    table: Option<(Table, usize)>,
    options: &'a Options,
}

impl Rows<'_> {
    fn take(&mut self, row: u64, mut cells: Vec<Value>, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        if cells.iter().all(is_empty) {
            return Ok(());
        }
        let begun = match &self.table {
            Some(begun) => begun,
            None => {
                let table = Table::begin(row, &cells, self.options, taking)?;
                let columns = taking.about().columns.len();
                let begun = self.table.insert((table, columns));
                if !self.options.headerless {
                    return Ok(());
                }
                begun
            }
        };
        // A row ends with its last cell that has something in it.
        if cells.len() < begun.1 {
            cells.resize(begun.1, Value::Null);
        }
        begun.0.row(row, cells, taking)
    }
}

fn value_of(cell: &Data) -> Result<Value, Words> {
    Ok(match cell {
        Data::Empty => Value::Null,
        Data::Bool(yes) => Value::Bool(*yes),
        Data::Int(number) => Value::from(*number),
        Data::Float(number) => number_of(*number),
        Data::String(text) if text.is_empty() => Value::Null,
        Data::String(text) => Value::from(text.as_str()),
        Data::DateTime(at) => Value::from(time_of(at)),
        Data::DateTimeIso(text) | Data::DurationIso(text) => Value::from(text.as_str()),
        Data::Error(error) => {
            return Err(Words::new(format!("a cell has the error {error}"), format!("有单元格为错误值 {error}")));
        }
    })
}

/// Whole numbers as such: 101 is kept as 101.0 in a workbook.
fn number_of(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within what is exact")]
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// A day, a moment, a time of day, or a length of time.
fn time_of(at: &ExcelDateTime) -> String {
    const DAY_SECONDS: f64 = 86_400.0;
    if at.is_duration() {
        #[expect(clippy::cast_possible_truncation, reason = "seconds of a length that a cell can show")]
        let seconds = (at.as_f64() * DAY_SECONDS).round() as i64;
        let sign = if seconds < 0 { "-" } else { "" };
        let seconds = seconds.abs();
        return format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, milli) = at.to_ymd_hms_milli();
    let time = match milli {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    };
    if (0.0..1.0).contains(&at.as_f64()) {
        return time;
    }
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02}T{time}"),
    }
}
