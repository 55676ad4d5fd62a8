//! Small files, and what is found in them.

use std::fs;
use std::path::PathBuf;

use campanile_sheets::{Found, HIGHEST_LEVEL, Options, ReadError, Reading, Report, ReportKind, read};
use tempfile::TempDir;

struct Read {
    found: Found,
    /// Level, row and item.
    items: Vec<(u32, u64, String)>,
}

impl Read {
    fn items(&self) -> Vec<&str> {
        self.items.iter().map(|(_, _, item)| item.as_str()).collect()
    }

    fn levels(&self) -> Vec<u32> {
        self.items.iter().map(|(level, _, _)| *level).collect()
    }

    fn rows(&self) -> Vec<u64> {
        self.items.iter().map(|(_, row, _)| *row).collect()
    }

    /// Row and reason.
    fn faults(&self) -> Vec<String> {
        self.found.faults.iter().map(|fault| format!("{}: {}", fault.row, fault.words.en)).collect()
    }
}

fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("it can be written");
    (folder, path)
}

fn try_with(name: &str, bytes: &[u8], options: &Options) -> Result<Read, ReadError> {
    let (_folder, path) = file(name, bytes);
    let mut items = Vec::new();
    let found = read(&path, options, &Reading::default(), &mut |level, row, item| {
        items.push((level, row, item));
        true
    })?;
    assert_eq!(found.items, items.len() as u64);
    assert_eq!(found.bytes, bytes.len() as u64);
    assert_eq!(found.levels.values().sum::<u64>(), found.items);
    Ok(Read { found, items })
}

fn with(name: &str, bytes: &[u8], options: &Options) -> Read {
    try_with(name, bytes, options).expect("it can be read")
}

fn plain(name: &str, text: &str) -> Read {
    with(name, text.as_bytes(), &Options::default())
}

fn by_level(column: &str) -> Options {
    Options { level: Some(column.to_owned()), ..Options::default() }
}

#[test]
fn a_row_is_an_object_of_header_and_value_and_its_texts_stay_as_they_are() {
    let read = plain("a.csv", "id,名称,note\n007,\"a, \"\"b\"\"\",\r\n8,x,\"two\r\nlines\"\n\n9,y,-\n");
    assert_eq!(
        read.items(),
        [
            r#"{"id":"007","名称":"a, \"b\"","note":""}"#,
            r#"{"id":"8","名称":"x","note":"two\nlines"}"#,
            r#"{"id":"9","名称":"y","note":"-"}"#,
        ]
    );
    // As a spreadsheet counts: a cell of two lines is one row, an empty line is one too.
    assert_eq!(read.rows(), [2, 3, 5]);
    assert_eq!(read.found.columns, ["id", "名称", "note"]);
    assert_eq!(read.found.first[0].cells, ["007", "a, \"b\"", ""]);
    assert_eq!((read.found.delimiter, read.found.encoding.as_deref()), (Some(','), Some("UTF-8")));
    assert_eq!(read.found.sha256.len(), 64);
}

#[test]
fn what_chinese_excel_writes_is_read_as_it_was_meant() {
    // 编号,姓名 / 1,张三
    let gbk = b"\xb1\xe0\xba\xc5,\xd0\xd5\xc3\xfb\r\n1,\xd5\xc5\xc8\xfd\r\n";
    let read = with("a.csv", gbk, &Options::default());
    assert_eq!(read.items(), [r#"{"编号":"1","姓名":"张三"}"#]);
    assert_eq!(read.found.encoding.as_deref(), Some("gb18030"));
    let said = Options { encoding: Some("gbk".to_owned()), ..Options::default() };
    assert_eq!(with("a.csv", gbk, &said).items(), read.items());
    let marked = with("a.csv", "\u{feff}编号\n1\n".as_bytes(), &Options::default());
    assert_eq!(marked.items(), [r#"{"编号":"1"}"#]);
    let mut unicode = vec![0xff, 0xfe];
    unicode.extend("a\tb\r\n1\t客\r\n".encode_utf16().flat_map(u16::to_le_bytes));
    let unicode = with("a.txt", &unicode, &Options::default());
    assert_eq!(unicode.items(), [r#"{"a":"1","b":"客"}"#]);
    assert_eq!(unicode.found.delimiter, Some('\t'));
}

#[test]
fn rows_that_are_wrong_are_named_and_the_others_counted() {
    let read = plain("a.csv", "a,b\n1,2\n3\n4,5,6\n7,8,\n9,10\n");
    assert_eq!(read.faults(), ["3: it has 1 cells where the header has 2", "4: it has 3 cells where the header has 2"]);
    assert_eq!((read.found.faulty, read.found.items), (2, 3));

    let mut long = String::from("a\n");
    long.push_str(&"1\n".repeat(30));
    let many = plain("a.csv", &long.replace('1', "1,2"));
    assert_eq!((many.found.faults.len(), many.found.faulty), (20, 30));

    let mut broken = "a,b\n张三李四王五赵六,1\n".repeat(3).into_bytes();
    broken.extend_from_slice(b"x\xff,2\ny,3\n");
    let broken = with("a.csv", &broken, &Options { headerless: true, ..Options::default() });
    assert_eq!(broken.faults(), ["7: it is not UTF-8 throughout"]);
}

#[test]
fn a_quote_that_is_never_closed_does_not_take_the_rest_of_the_file() {
    let mut text = String::from("a,b\n1,\"x\n");
    text.push_str(&"2,y\n".repeat(1_000_000));
    let read = plain("a.csv", &text);
    assert_eq!(read.faults(), ["2: it is longer than 1953 KB; perhaps a quote is never closed"]);
}

#[test]
fn a_header_must_tell_its_columns_apart() {
    assert_eq!(plain("a.csv", "a,b,a\n1,2,3\n").faults(), ["1: two columns are called a"]);
    assert_eq!(plain("a.csv", "a,,c,\n1,2,3,\n").items(), [r#"{"a":"1","B":"2","c":"3"}"#]);
    let headerless = Options { headerless: true, ..Options::default() };
    assert_eq!(with("a.csv", b"1,2\n3,4\n", &headerless).items(), [r#"{"A":"1","B":"2"}"#, r#"{"A":"3","B":"4"}"#]);
    for nothing in ["", "\n", "a,b\n", "\u{feff}"] {
        let read = plain("a.csv", nothing);
        assert_eq!((read.found.items, read.found.faulty), (0, 0), "{nothing:?}");
    }
}

#[test]
fn a_column_says_the_level() {
    let read = with("a.csv", b"id,level\na,2\nb, 0\nc,2\n", &by_level("level"));
    assert_eq!(read.levels(), [2, 0, 2]);
    assert_eq!(read.items()[1], r#"{"id":"b","level":" 0"}"#);
    let wrong = with("a.csv", b"id,level\na,\nb,-1\nc,1.5\nd,1000000\ne,1\n", &by_level("level"));
    assert_eq!(wrong.found.faulty, 4);
    assert_eq!(wrong.faults()[0], format!("2: the level, level, is no whole number from 0 to {HIGHEST_LEVEL}"));
    assert_eq!(with("a.csv", b"id\na\n", &by_level("level")).faults(), ["1: there is no column level"]);
}

#[test]
fn too_many_levels_are_refused() {
    let mut text = String::from("level\n");
    (0..=10_000).for_each(|level| text.push_str(&format!("{level}\n")));
    assert_eq!(
        with("a.csv", text.as_bytes(), &by_level("level")).faults(),
        ["10002: there are more than 10000 levels"]
    );
}

#[test]
fn json_comes_as_levels_as_one_level_or_line_by_line() {
    let levels = plain("a.json", "[[1, {\"a\": [2, \"]\"]}],\n [],\n [\"x\\\"\", null]]");
    assert_eq!(levels.items(), ["1", r#"{"a": [2, "]"]}"#, r#""x\"""#, "null"]);
    assert_eq!(levels.levels(), [0, 0, 2, 2]);
    let flat = plain("a.json", "[1, 12345678901234567890.10, [2]]\n");
    // Letter by letter, whatever a number can be read as.
    assert_eq!(flat.items(), ["1", "12345678901234567890.10", "[2]"]);
    assert_eq!(flat.levels(), [0, 0, 0]);
    let lines = plain("a.jsonl", "{\"id\": 1, \"n\": 5}\r\n\n{\"id\": 2,\n\"n\": 6}\n7 \"x\"");
    assert_eq!(lines.items(), [r#"{"id": 1, "n": 5}"#, r#"{"id": 2, "n": 6}"#, "7", "\"x\""]);
    assert_eq!(lines.rows(), [1, 3, 5, 5]);
    assert_eq!(lines.found.columns, ["id", "n"]);
    assert_eq!(lines.found.first[1].cells, ["2", "6"]);
    let by_field = with("a.jsonl", b"{\"n\": 3}\n{\"n\": \"1\"}\n{}", &by_level("n"));
    assert_eq!((by_field.levels(), by_field.found.faulty), (vec![3, 1], 1));
    for nothing in ["", " \n", "[]", "[[], []]"] {
        assert_eq!(plain("a.json", nothing).found.items, 0, "{nothing:?}");
    }
}

#[test]
fn json_that_is_broken_is_told_by_its_item() {
    for (text, expected) in [
        ("[1, 2", "3: it is no JSON at line 1"),
        ("[1,\n2,]", "3: it is no JSON (line 2): EOF while parsing a value at line 1 column 0"),
        ("[1 2]", "2: it is no JSON at line 1"),
        ("[1] 2", "2: something stands after the end of the list"),
        ("[[1], 2]", "2: it stands after level 1 and is no list of items"),
        ("[[1, tru]]", "2: it is no JSON (line 1): EOF while parsing a value at line 1 column 3"),
        ("[\"a\nb", "1: it is no JSON (line 1): EOF while parsing a string at line 1 column 4"),
    ] {
        assert_eq!(plain("a.json", text).faults(), [expected], "{text:?}");
    }
    assert_eq!(with("a.json", b"[[1]]", &by_level("x")).found.faulty, 1);
}

#[test]
fn an_item_that_is_too_large_is_refused_by_its_row() {
    let large = "x".repeat(1 << 20);
    let too_large = "it is larger than 1 MB; put what is large into a file, and its place into the row";
    assert_eq!(plain("a.json", &format!("[1, \"{large}\", 2]")).faults(), [format!("2: {too_large}")]);
    assert_eq!(plain("a.json", &format!("[1, \"{large}\", 2]")).items(), ["1", "2"]);
    let row = "x".repeat(1_000_000);
    assert_eq!(plain("a.csv", &format!("a\n1\n{row}\n2\n")).faults(), [format!("3: {too_large}")]);
    let fits = "x".repeat(1_000_000 - "{\"a\":\"\"}".len());
    assert_eq!(plain("a.csv", &format!("a\n{fits}\n")).found.items, 1);
}

/// A workbook of one sheet, `first`.
fn workbook(rows: &[Vec<&str>]) -> Vec<u8> {
    let cells = |row: &Vec<&str>| {
        row.iter()
            .map(|cell| match cell.parse() {
                Ok(number) => campanile_sheets::Cell::Number(number),
                Err(_) if cell.is_empty() => campanile_sheets::Cell::Empty,
                Err(_) => (*cell).into(),
            })
            .collect::<Vec<_>>()
    };
    let mut report = Report::begin(ReportKind::Xlsx, "first", cells(&rows[0])).expect("it begins");
    rows[1..].iter().for_each(|row| report.row(&cells(row)).expect("it is written"));
    report.finish().expect("it ends")
}

#[test]
fn a_workbook_is_read_row_by_row() {
    let book = workbook(&[
        vec!["编号", "level", "", "note"],
        vec!["1", "3", "", "错 & <ok>"],
        vec!["", "", "", ""],
        vec!["2", "4"],
        vec!["3", "4", "x", "y", "z"],
    ]);
    let read = with("a.xlsx", &book, &by_level("level"));
    assert_eq!(
        read.items(),
        [r#"{"编号":1,"level":3,"C":null,"note":"错 & <ok>"}"#, r#"{"编号":2,"level":4,"C":null,"note":null}"#]
    );
    assert_eq!((read.levels(), read.rows()), (vec![3, 4], vec![2, 4]));
    assert_eq!(read.faults(), ["5: it has 5 cells where the header has 4"]);
    assert_eq!((read.found.sheets, read.found.sheet), (vec!["first".to_owned()], Some("first".to_owned())));
    let other = Options { sheet: Some("second".to_owned()), ..Options::default() };
    let refused = try_with("a.xlsx", &book, &other).err();
    assert!(matches!(refused, Some(ReadError::Unreadable(words)) if words.en.contains("no sheet second")));
    for broken in [&book[..book.len() / 2], b"PK\x03\x04 no workbook"] {
        assert!(matches!(try_with("a.xlsx", broken, &Options::default()), Err(ReadError::Unreadable(_))));
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    let (_folder, path) = file("a.csv", "a\n1\n2\n".as_bytes());
    let mut seen = 0;
    let changed = read(&path, &Options::default(), &Reading::default(), &mut |_, _, _| {
        seen += 1;
        if seen == 1 {
            fs::write(&path, "a\n1\n2\n3\n").expect("it can be written");
        }
        true
    });
    assert_eq!(changed, Err(ReadError::Changed));
    let gone = path.with_file_name("other.csv");
    let missing = read(&gone, &Options::default(), &Reading::default(), &mut |_, _, _| true);
    assert!(matches!(missing, Err(ReadError::Unreadable(words)) if words.en == "there is no such file"));
}

#[test]
fn the_same_bytes_have_the_same_hash_however_far_they_were_understood() {
    let hash = |name: &str, text: &str| plain(name, text).found.sha256;
    assert_eq!(hash("a.csv", "a\n1\n"), hash("b.txt", "a\n1\n"));
    let mut text = String::from("a,b,a\n");
    text.push_str(&"1,2,3\n".repeat(100_000));
    assert_eq!(hash("a.csv", &text), hash("a.csv", &text));
    assert_ne!(hash("a.csv", &text), hash("a.csv", &format!("{text}1,2,3\n")));
    assert_eq!(hash("a.json", &text), hash("a.csv", &text));
}

#[test]
fn a_reading_is_stopped_and_tells_how_far_it_is() {
    let (_folder, path) = file("a.csv", format!("a\n{}", "1\n".repeat(1000)).as_bytes());
    let reading = Reading::default();
    let stopped = read(&path, &Options::default(), &reading, &mut |_, _, _| {
        if reading.items() == 10 {
            reading.stop();
        }
        true
    });
    assert_eq!(stopped, Err(ReadError::Stopped));
    assert_eq!(reading.items(), 11);
    assert!(reading.bytes() > 0);
}
