//! Reports row by row, as CSV or as a workbook.
//!
//! What was written so far is taken out again and again, so that a report is never whole in memory.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use crate::workbook::Workbook;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// UTF-8 with a byte order mark, by which Excel knows it.
    Csv,
    Xlsx,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Empty,
    Number(u64),
    Text(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

/// A report that is being written.
pub struct Report {
    written: Written,
    form: Form,
}

enum Form {
    Csv(Box<csv::Writer<Written>>),
    Xlsx(Box<Workbook<Written>>),
}

/// What was written and not yet taken.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Report {
    /// `name` is that of a workbook's sheet.
    pub fn begin(kind: ReportKind, name: &str, head: Vec<Cell>) -> io::Result<Report> {
        let mut written = Written::default();
        let form = match kind {
            ReportKind::Csv => {
                written.write_all("\u{feff}".as_bytes())?;
                let mut rows = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(written.clone());
                rows.write_record(head.iter().map(plain)).map_err(io::Error::from)?;
                Form::Csv(Box::new(rows))
            }
            ReportKind::Xlsx => Form::Xlsx(Box::new(Workbook::begin(written.clone(), name, head)?)),
        };
        Ok(Report { written, form })
    }

    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(rows) => rows.write_record(cells.iter().map(plain)).map_err(io::Error::from),
            Form::Xlsx(book) => book.row(cells),
        }
    }

    /// What has been written since.
    pub fn take(&mut self) -> io::Result<Vec<u8>> {
        if let Form::Csv(rows) = &mut self.form {
            rows.flush()?;
        }
        Ok(mem::take(&mut *self.written.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The rest of it.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        let Report { written, form } = self;
        match form {
            Form::Csv(mut rows) => rows.flush()?,
            Form::Xlsx(book) => drop(book.finish()?),
        }
        Ok(mem::take(&mut *written.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// A spreadsheet that opens a CSV takes some texts for formulas, and would carry them out.
fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => {
            let begins = text.as_bytes().first();
            let is_number =
                || text.parse::<f64>().is_ok() || text[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
            match begins {
                Some(b'=' | b'@' | b'\t') => format!("'{text}"),
                Some(b'+' | b'-') if !is_number() => format!("'{text}"),
                _ => text.clone(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_comes_in_pieces_and_excel_knows_its_letters() {
        let mut report =
            Report::begin(ReportKind::Csv, "report", vec!["row".into(), "消息".into()]).expect("it begins");
        report.row(&[Cell::Number(1), "a,\"b\"\nc".into()]).expect("it is written");
        let first = report.take().expect("there is some");
        assert!(report.take().expect("nothing more").is_empty());
        report.row(&[Cell::Empty, "错".into()]).expect("it is written");
        let all = [first, report.finish().expect("it ends")].concat();
        assert_eq!(String::from_utf8(all).expect("text"), "\u{feff}row,消息\r\n1,\"a,\"\"b\"\"\nc\"\r\n,错\r\n");
    }

    #[test]
    fn nothing_in_a_csv_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@x", "'@x"),
            ("-5", "-5"),
            ("-1.5e3", "-1.5e3"),
            ("+86 138", "+86 138"),
            ("-cmd", "'-cmd"),
            ("+a", "'+a"),
            ("错", "错"),
            ("", ""),
        ] {
            assert_eq!(plain(&text.into()), expected, "{text}");
        }
    }
}
