//! Reads rows out of CSV, in the order of their levels.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use campanile_sdk::{TaskError, failure};
use csv::{ByteRecord, Position, Reader, ReaderBuilder, StringRecord};
use serde_json::{Map, Value, json};

use super::order::{Named, Wrong, levels};
use super::{Asked, sample};

trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// The file that is asked for, or the sample.
pub enum Source {
    Path(PathBuf),
    Sample,
}

impl Source {
    fn open(&self) -> Result<Box<dyn ReadSeek>, TaskError> {
        match self {
            Source::Sample => Ok(Box::new(Cursor::new(sample::customers()))),
            Source::Path(path) => {
                let file = File::open(path).map_err(|error| unreadable(path, &error))?;
                Ok(Box::new(BufReader::with_capacity(256 * 1024, file)))
            }
        }
    }

    /// By which it shows that it is not what it was.
    fn mark(&self) -> Option<(u64, SystemTime)> {
        let Source::Path(path) = self else { return None };
        let about = path.metadata().ok()?;
        Some((about.len(), about.modified().ok()?))
    }

    fn name(&self) -> &Path {
        match self {
            Source::Path(path) => path,
            Source::Sample => Path::new("sample"),
        }
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> TaskError {
    failure::FILE_UNREADABLE.business().with("file", path.display()).with("detail", error)
}

/// One row to be handed out.
type Out<'o> = &'o mut dyn FnMut(u32, Value) -> Result<(), TaskError>;

/// Hands out every row with its level: `{"line", "row": {column: value}}`, or with `"wrong"` where it cannot be imported.
/// Takes as long as it takes, and is not to be called where others wait.
pub fn rows(source: &Source, asked: &Asked, out: Out<'_>) -> Result<(), TaskError> {
    let before = source.mark();
    let mut reader = reader(source.open()?, asked);
    let header = header(source, &mut reader, asked)?;
    match &asked.parent {
        None => in_order(source, &mut reader, &header, out)?,
        Some(parent) => by_level(source, &mut reader, &header, asked, parent, out)?,
    }
    if source.mark() != before {
        return Err(failure::FILE_CHANGED.transient().with("file", source.name().display()));
    }
    Ok(())
}

fn reader(file: Box<dyn ReadSeek>, asked: &Asked) -> Reader<Box<dyn ReadSeek>> {
    // A row with too few or too many fields is that row's error, not the file's.
    ReaderBuilder::new().delimiter(asked.delimiter()).flexible(true).from_reader(file)
}

fn header(source: &Source, reader: &mut Reader<Box<dyn ReadSeek>>, asked: &Asked) -> Result<Vec<String>, TaskError> {
    let header = reader.headers().map_err(|error| unreadable(source.name(), &error))?;
    // What some programs put before the first word of a file.
    let header: Vec<String> = header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
    let named = asked.columns.iter().chain([&asked.key]).chain(&asked.parent).chain(&asked.required);
    for name in named {
        if !header.contains(name) {
            let found = header.join(", ");
            return Err(unreadable(source.name(), &format!("there is no column {name}; there is {found}")));
        }
    }
    Ok(header)
}

fn in_order(
    source: &Source,
    reader: &mut Reader<Box<dyn ReadSeek>>,
    header: &[String],
    out: Out<'_>,
) -> Result<(), TaskError> {
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(source.name(), &error))? {
        out(0, item(&record, header, None))?;
    }
    Ok(())
}

/// Reads it twice: first who names whom, then the rows of one level after the other.
fn by_level(
    source: &Source,
    reader: &mut Reader<Box<dyn ReadSeek>>,
    header: &[String],
    asked: &Asked,
    parent: &str,
    out: Out<'_>,
) -> Result<(), TaskError> {
    let place_of = |name: &str| header.iter().position(|column| column == name).unwrap_or(usize::MAX);
    let (key, parent) = (place_of(&asked.key), place_of(parent));
    let field =
        |record: &ByteRecord, at: usize| String::from_utf8_lossy(record.get(at).unwrap_or_default()).trim().to_owned();
    let mut record = ByteRecord::new();
    let (mut named, mut places): (Vec<Named>, Vec<Position>) = (Vec::new(), Vec::new());
    loop {
        let place = reader.position().clone();
        if !reader.read_byte_record(&mut record).map_err(|error| unreadable(source.name(), &error))? {
            break;
        }
        let line = record.position().map_or(0, Position::line);
        named.push(Named { line, key: field(&record, key), parent: field(&record, parent) });
        places.push(place);
    }
    let judged = levels(&named, &asked.key);
    drop(named);
    let mut rows: Vec<(u32, usize)> =
        judged.iter().enumerate().map(|(row, level)| (*level.as_ref().unwrap_or(&0), row)).collect();
    rows.sort_unstable();
    for (level, row) in rows {
        if reader.position().byte() != places[row].byte() {
            reader.seek(places[row].clone()).map_err(|error| unreadable(source.name(), &error))?;
        }
        if !reader.read_byte_record(&mut record).map_err(|error| unreadable(source.name(), &error))? {
            return Err(failure::FILE_CHANGED.transient().with("file", source.name().display()));
        }
        out(level, item(&record, header, judged[row].as_ref().err()))?;
    }
    Ok(())
}

fn item(record: &ByteRecord, header: &[String], wrong: Option<&Wrong>) -> Value {
    let line = record.position().map_or(0, Position::line);
    if let Some(wrong) = wrong {
        return json!({"line": line, "wrong": wrong.to_string()});
    }
    if record.len() != header.len() {
        let (has, wanted) = (record.len(), header.len());
        let wrong = format!("{has} fields instead of {wanted}. 应有 {wanted} 个字段，实有 {has} 个。");
        return json!({"line": line, "wrong": wrong});
    }
    let Ok(record) = StringRecord::from_byte_record(record.clone()) else {
        return json!({"line": line, "wrong": "it is not UTF-8. 不是 UTF-8 编码。"});
    };
    let value = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    let row: Map<String, Value> =
        header.iter().zip(&record).map(|(name, text)| (name.clone(), value(text.trim()))).collect();
    json!({"line": line, "row": row})
}
