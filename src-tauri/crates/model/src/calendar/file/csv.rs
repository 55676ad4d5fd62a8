//! CSV: one day or stretch of days a row.
//!
//! With a header, columns are known by their names, in either language; without one they are date, kind,
//! name. A row that does not say its kind is a day off. Commas, semicolons and tabs part columns.

use super::{Reading, told_by_name};
use crate::Words;
use crate::calendar::{Date, DayKind};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Date,
    Until,
    Kind,
    IsWork,
    IsOff,
    Name,
    NameZh,
    Other,
}

pub(super) fn read(text: &str, reading: &mut Reading) {
    let first: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(5).collect();
    let seen = |mark: &char| first.iter().map(|line| line.matches(*mark).count()).sum::<usize>();
    // Of equals the last one counts.
    let separator = [';', '\t', ','].into_iter().max_by_key(seen).unwrap_or(',');
    let mut columns = None;
    for (line, cells) in rows(text, separator, reading) {
        if cells.iter().all(|cell| cell.trim().is_empty()) || cells[0].trim_start().starts_with('#') {
            continue;
        }
        let Some(known) = &columns else {
            let header: Vec<Column> = cells.iter().map(|cell| column(cell)).collect();
            if header.contains(&Column::Date) {
                columns = Some(header);
                continue;
            }
            let plain = vec![Column::Date, Column::Kind, Column::Name, Column::NameZh];
            row(line, &cells, &plain, reading);
            columns = Some(plain);
            continue;
        };
        row(line, &cells, known, reading);
    }
}

fn column(cell: &str) -> Column {
    let plain: String = cell.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    match plain.as_str() {
        "date" | "day" | "日期" | "开始日期" | "from" | "start" | "startdate" => Column::Date,
        "until" | "to" | "end" | "enddate" | "结束日期" => Column::Until,
        "kind" | "type" | "类型" | "状态" => Column::Kind,
        "isworkday" | "isworkingday" | "workday" | "working" | "是否工作日" | "是否上班" => Column::IsWork,
        "isoffday" | "offday" | "isholiday" | "是否休息" | "是否放假" | "是否节假日" => Column::IsOff,
        "name" | "holiday" | "summary" | "名称" | "节日" | "节假日" | "说明" => Column::Name,
        "namezh" | "中文名称" => Column::NameZh,
        _ => Column::Other,
    }
}

fn row(line: usize, cells: &[String], columns: &[Column], reading: &mut Reading) {
    let cell = |column: Column| {
        let place = columns.iter().position(|known| *known == column)?;
        cells.get(place).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    };
    let mut date = |text: &str| match text.parse::<Date>() {
        Ok(date) => Some(date),
        Err(_) => {
            let text: String = text.chars().take(40).collect();
            reading.fault(
                line,
                format!("'{text}' is not a date such as 2026-10-01"),
                format!("“{text}”不是日期，应如 2026-10-01"),
            );
            None
        }
    };
    let Some(text) = cell(Column::Date) else {
        reading.fault(line, "there is no date in this row", "该行没有日期");
        return;
    };
    let Some(first) = date(text) else { return };
    let last = match cell(Column::Until) {
        None => first,
        Some(text) => match date(text) {
            Some(last) => last,
            None => return,
        },
    };
    let (by_name, name) = cell(Column::Name).map_or((None, String::new()), told_by_name);
    let said = [(Column::Kind, false), (Column::IsWork, false), (Column::IsOff, true)]
        .into_iter()
        .find_map(|(column, turned)| cell(column).map(|text| (text, turned, column == Column::Kind)));
    let kind = match said {
        None => by_name.unwrap_or(DayKind::Off),
        Some((text, turned, is_word)) => match kind(text, turned, is_word) {
            Some(kind) => kind,
            None => {
                let text: String = text.chars().take(40).collect();
                reading.fault(
                    line,
                    format!("'{text}' is neither 'off' nor 'work'"),
                    format!("“{text}”既不是 off（休）也不是 work（班）"),
                );
                return;
            }
        },
    };
    let zh = cell(Column::NameZh).unwrap_or(&name).to_owned();
    let en = if name.is_empty() { zh.clone() } else { name };
    let name = (!en.is_empty()).then(|| Words::new(en, zh));
    reading.mark(line, first, last, kind, name.as_ref());
}

fn kind(text: &str, turned: bool, is_word: bool) -> Option<DayKind> {
    let plain = text.to_lowercase();
    let yes = match plain.as_str() {
        "off" | "holiday" | "rest" | "day off" | "non-working" | "休" | "休息" | "休息日" | "放假" | "假"
        | "节假日" | "假日" => {
            return Some(DayKind::Off);
        }
        "work" | "workday" | "working" | "working day" | "班" | "上班" | "补班" | "工作日" | "调休" | "调休上班" =>
        {
            return Some(DayKind::Work);
        }
        // What 1 means is said by the name of the column alone.
        _ if is_word => return None,
        "1" | "true" | "yes" | "y" | "是" => true,
        "0" | "false" | "no" | "n" | "否" => false,
        _ => return None,
    };
    Some(if yes != turned { DayKind::Work } else { DayKind::Off })
}

/// The cells of each row, with the number of the line on which it begins. A quoted cell may hold anything.
fn rows(text: &str, separator: char, reading: &mut Reading) -> Vec<(usize, Vec<String>)> {
    let mut rows = Vec::new();
    let (mut row, mut cell) = (Vec::new(), String::new());
    let (mut line, mut begun) = (1, 1);
    let mut quoted_since = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match letter {
            '"' if quoted_since.is_some() && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' if quoted_since.is_some() => quoted_since = None,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted_since = Some(line);
            }
            _ if quoted_since.is_some() => cell.push(letter),
            '\n' => {
                row.push(std::mem::take(&mut cell));
                rows.push((begun, std::mem::take(&mut row)));
                begun = line;
            }
            '\r' => {}
            _ if letter == separator => row.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    if let Some(line) = quoted_since {
        reading.fault(line, "a quotation mark is not closed", "引号没有闭合");
        return Vec::new();
    }
    row.push(cell);
    rows.push((begun, row));
    rows
}

pub(super) fn write(days: &[(Date, DayKind, Option<Words>)]) -> String {
    let quoted = |text: &str| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut file = "date,kind,name,nameZh\n".to_owned();
    for (date, kind, name) in days {
        let kind = if *kind == DayKind::Work { "work" } else { "off" };
        let (en, zh) =
            name.as_ref().map_or((String::new(), String::new()), |name| (quoted(&name.en), quoted(&name.zh)));
        file.push_str(&format!("{date},{kind},{en},{zh}\n"));
    }
    file
}
