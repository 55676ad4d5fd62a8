//! An .xlsx written from its first byte to its last, a row at a time, into whatever takes bytes.
//!
//! Texts stand in their cells, not in a table of all texts, so that nothing has to be remembered of a row that is
//! written. A sheet that is full is followed by another.

use std::io::{self, Write};

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::report::Cell;

/// What a sheet of .xlsx can have.
const MOST_ROWS: u32 = 1_048_576;

/// Of a sheet, before it is packed: beyond 4 GB a part needs a form that Excel does not open.
const MOST_BYTES: u64 = 3 << 30;

/// What a cell of .xlsx can have, in UTF-16 units.
const LONGEST_CELL: usize = 32_767;

pub(crate) struct Workbook<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    name: String,
    head: Vec<Cell>,
    sheets: u32,
    rows: u32,
    /// Of this sheet.
    bytes: u64,
    most_rows: u32,
    line: String,
}

impl<W: Write> Workbook<W> {
    pub(crate) fn begin(output: W, name: &str, head: Vec<Cell>) -> io::Result<Workbook<W>> {
        Workbook::with_rows(output, name, head, MOST_ROWS)
    }

    fn with_rows(output: W, name: &str, head: Vec<Cell>, most_rows: u32) -> io::Result<Workbook<W>> {
        let zip = ZipWriter::new_stream(output);
        let mut book =
            Workbook { zip, name: name.to_owned(), head, sheets: 0, rows: 0, bytes: 0, most_rows, line: String::new() };
        book.next_sheet()?;
        Ok(book)
    }

    pub(crate) fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        if self.rows >= self.most_rows || self.bytes >= MOST_BYTES {
            self.zip.write_all(SHEET_ENDS.as_bytes())?;
            self.next_sheet()?;
        }
        self.put(cells)
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.zip.write_all(SHEET_ENDS.as_bytes())?;
        let sheets = 1..=self.sheets;
        let of_sheets = |line: &dyn Fn(u32) -> String| sheets.clone().map(line).collect::<String>();
        let listed = of_sheets(&|n| {
            let name = escaped(&self.name_of(n));
            format!(r#"<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>"#)
        });
        let related = of_sheets(&|n| {
            format!(r#"<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>"#)
        });
        let types = of_sheets(&|n| {
            format!(r#"<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{SPREADSHEET}.worksheet+xml"/>"#)
        });
        let book = format!(r#"{XML}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>"#);
        let relations = format!(r#"{XML}<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>"#);
        let root = format!(
            r#"{XML}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
        );
        let types = format!(
            r#"{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{SPREADSHEET}.sheet.main+xml"/>{types}</Types>"#
        );
        let parts = [
            ("xl/workbook.xml", book),
            ("xl/_rels/workbook.xml.rels", relations),
            ("_rels/.rels", root),
            ("[Content_Types].xml", types),
        ];
        for (name, text) in parts {
            self.zip.start_file(name, options()).map_err(io::Error::from)?;
            self.zip.write_all(text.as_bytes())?;
        }
        Ok(self.zip.finish().map_err(io::Error::from)?.into_inner())
    }

    fn name_of(&self, sheet: u32) -> String {
        if sheet == 1 { self.name.clone() } else { format!("{} {sheet}", self.name) }
    }

    fn next_sheet(&mut self) -> io::Result<()> {
        self.sheets += 1;
        self.rows = 0;
        self.bytes = 0;
        let name = format!("xl/worksheets/sheet{}.xml", self.sheets);
        self.zip.start_file(name, options()).map_err(io::Error::from)?;
        write!(
            self.zip,
            r#"{XML}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>"#
        )?;
        let head = self.head.clone();
        self.put(&head)
    }

    fn put(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.rows += 1;
        let line = &mut self.line;
        line.clear();
        line.push_str("<row>");
        for cell in cells {
            match cell {
                Cell::Empty => line.push_str("<c/>"),
                Cell::Number(number) => line.push_str(&format!("<c><v>{number}</v></c>")),
                Cell::Text(text) => {
                    line.push_str(r#"<c t="inlineStr"><is><t xml:space="preserve">"#);
                    line.push_str(&escaped(within(text)));
                    line.push_str("</t></is></c>");
                }
            }
        }
        line.push_str("</row>");
        self.bytes += line.len() as u64;
        self.zip.write_all(line.as_bytes())
    }
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const SPREADSHEET: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const SHEET_ENDS: &str = "</sheetData></worksheet>";

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

/// As much as a cell takes.
fn within(text: &str) -> &str {
    if text.len() <= LONGEST_CELL {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find(|(_, letter)| {
        units += letter.len_utf16();
        units > LONGEST_CELL
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// What XML cannot have is written as Excel writes it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(letter),
            letter if letter < ' ' || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                escaped.push_str(&format!("_x{:04X}_", letter as u32));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use calamine::{Data, Reader as _, Xlsx};

    use super::*;

    #[test]
    fn a_sheet_that_is_full_is_followed_by_another_with_the_same_head() {
        let head = vec![Cell::Text("row".to_owned()), Cell::Text("消息".to_owned())];
        let mut book = Workbook::with_rows(Vec::new(), "report", head, 3).expect("it begins");
        for n in 1..=5 {
            book.row(&[Cell::Number(n), Cell::Text(format!("<{n}> & \"错\"\n"))]).expect("it is written");
        }
        let bytes = book.finish().expect("it ends");
        let mut read: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).expect("it is a workbook");
        assert_eq!(read.sheet_names(), ["report", "report 2", "report 3"]);
        let second = read.worksheet_range("report 2").expect("a sheet");
        let rows: Vec<Vec<Data>> = second.rows().map(<[Data]>::to_vec).collect();
        let text = |text: &str| Data::String(text.to_owned());
        assert_eq!(
            rows,
            [
                vec![text("row"), text("消息")],
                vec![Data::Float(3.0), text("<3> & \"错\"\n")],
                vec![Data::Float(4.0), text("<4> & \"错\"\n")],
            ]
        );
    }

    #[test]
    fn a_cell_takes_what_excel_takes() {
        assert_eq!(within(&"x".repeat(40_000)).len(), LONGEST_CELL);
        assert_eq!(within(&"错".repeat(40_000)).chars().count(), LONGEST_CELL);
        assert_eq!(escaped("a\u{1}<b"), "a_x0001_&lt;b");
    }
}
