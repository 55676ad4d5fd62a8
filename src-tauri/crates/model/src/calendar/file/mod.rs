//! Calendars as files of other programs: iCalendar and CSV, read and written.
//!
//! A file that is wrong anywhere is refused whole, each fault with its line. What is read is days; which
//! calendar and layer they belong to is said by whoever asked.

mod csv;
mod ics;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Calendar, Date, DayKind, Layer, MarkedDay, WorkingDays};
use crate::{Code, Fault, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    Ics,
    Csv,
}

impl FileKind {
    /// What a file seems to be, by its name or by how it begins.
    pub fn guess(name: &str, text: &str) -> FileKind {
        let name = name.to_ascii_lowercase();
        let begins = text.trim_start_matches('\u{feff}').trim_start();
        let is_ics = name.ends_with(".ics") || name.ends_with(".ical") || name.ends_with(".ifb");
        match is_ics || begins.get(..15).is_some_and(|begins| begins.eq_ignore_ascii_case("BEGIN:VCALENDAR")) {
            true => FileKind::Ics,
            false => FileKind::Csv,
        }
    }
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// In order, each date once.
    pub days: Vec<MarkedDay>,
    /// The years that it tells of.
    pub years: Vec<u16>,
    /// What it calls itself.
    pub title: Option<String>,
    /// Entries that are no days off and no working days, such as festivals on which work is done.
    pub passed_over: u32,
}

/// More than these are not told of one file.
const MOST_FAULTS: usize = 20;
const MOST_DAYS: usize = 20_000;
const LARGEST_FILE: usize = 4 * 1024 * 1024;
/// The longest stretch of days that one entry may name.
const LONGEST_STRETCH_DAYS: i64 = 366;
/// What repeats every year without an end is written down up to here.
const LAST_REPEATED_YEAR: i64 = 2050;

pub fn read_file(kind: FileKind, text: &str) -> Result<FileRead, Vec<Fault>> {
    let mut reading = Reading::default();
    if text.len() > LARGEST_FILE {
        reading.fault(1, "the file is larger than 4 MB", "文件大于 4 MB");
        return Err(reading.faults);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match kind {
        FileKind::Ics => ics::read(text, &mut reading),
        FileKind::Csv => csv::read(text, &mut reading),
    }
    reading.whole()
}

/// A calendar that says what the file says, and nothing else.
pub fn calendar_of_file(name: &str, source: &str, read: &FileRead) -> Calendar {
    let layer = Layer {
        name: "country".to_owned(),
        source: source.to_owned(),
        years: read.years.clone(),
        days: read.days.clone(),
    };
    let title = read.title.as_ref().map(|title| Words::new(title.clone(), title.clone()));
    Calendar { title, layers: vec![layer], ..Calendar::new(name) }
}

/// The days of these years that depart from the week, as a file.
pub fn write_file(kind: FileKind, calendar: &WorkingDays, years: std::ops::RangeInclusive<i64>, zh: bool) -> String {
    let marked = |day: &Date| calendar.mark_of(*day).map(|mark| (*day, mark.kind, mark.name.clone()));
    let days: Vec<(Date, DayKind, Option<Words>)> = years
        .filter_map(|year| Date::new(year, 1, 1))
        .flat_map(|first| (0..366).map(move |n| first.plus_days(n)).filter(move |day| day.year() == first.year()))
        .filter_map(|day| marked(&day))
        .collect();
    match kind {
        FileKind::Ics => ics::write(calendar, &days, zh),
        FileKind::Csv => csv::write(&days),
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reading {
    days: BTreeMap<Date, (usize, MarkedDay)>,
    title: Option<String>,
    passed_over: u32,
    faults: Vec<Fault>,
}

impl Reading {
    fn fault(&mut self, line: usize, en: impl Into<String>, zh: impl Into<String>) {
        if self.faults.len() < MOST_FAULTS {
            let reason = Words::new(en, zh);
            self.faults
                .push(Code::CalendarFileRefused.fault().with("line", line).with_words("reason", &reason).at("text"));
        }
    }

    /// All days from `first` to `last`, as line `line` says.
    fn mark(&mut self, line: usize, first: Date, last: Date, kind: DayKind, name: Option<&Words>) {
        if last < first {
            self.fault(
                line,
                format!("it ends on {last}, before it begins on {first}"),
                format!("结束日期 {last} 早于开始日期 {first}"),
            );
            return;
        }
        if last.day() - first.day() >= LONGEST_STRETCH_DAYS {
            self.fault(line, "it is longer than a year", "时间跨度超过一年");
            return;
        }
        for distance in 0..=last.day() - first.day() {
            let date = first.plus_days(distance);
            match self.days.entry(date) {
                Entry::Vacant(entry) => {
                    entry.insert((line, MarkedDay { date, kind, name: name.cloned() }));
                }
                Entry::Occupied(entry) if entry.get().1.kind == kind => {}
                Entry::Occupied(entry) => {
                    let other = entry.get().0;
                    self.fault(
                        line,
                        format!("{date} is a working day and a day off: line {other} says the other"),
                        format!("{date} 同时是工作日和休息日：第 {other} 行与此相反"),
                    );
                    return;
                }
            }
        }
    }

    fn whole(mut self) -> Result<FileRead, Vec<Fault>> {
        if self.days.len() > MOST_DAYS {
            self.fault(1, format!("it marks more than {MOST_DAYS} days"), format!("标记的日期超过 {MOST_DAYS} 天"));
        }
        if self.days.is_empty() && self.faults.is_empty() {
            self.fault(1, "no day off and no working day was found in it", "文件中没有找到休息日或工作日");
        }
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let days: Vec<MarkedDay> = self.days.into_values().map(|(_, day)| day).collect();
        let mut years: Vec<u16> = days.iter().filter_map(|day| u16::try_from(day.date.year()).ok()).collect();
        years.dedup();
        Ok(FileRead { days, years, title: self.title, passed_over: self.passed_over })
    }
}

/// What a name says of the day that it stands for, and the name without that.
fn told_by_name(summary: &str) -> (Option<DayKind>, String) {
    const TAGS: [(&str, DayKind); 10] = [
        ("(休)", DayKind::Off),
        ("（休）", DayKind::Off),
        ("[休]", DayKind::Off),
        ("(holiday)", DayKind::Off),
        ("(班)", DayKind::Work),
        ("（班）", DayKind::Work),
        ("[班]", DayKind::Work),
        ("(workday)", DayKind::Work),
        ("(work)", DayKind::Work),
        ("(working day)", DayKind::Work),
    ];
    const WORK: [&str; 11] = [
        "上班",
        "补班",
        "調班",
        "调班",
        "补课",
        "make-up work",
        "makeup work",
        "make up work",
        "alternate work",
        "adjusted work",
        "special working day",
    ];
    let lower = summary.to_lowercase();
    for (tag, kind) in TAGS {
        if let Some(place) = lower.find(tag) {
            let tagged = summary.get(place..place + tag.len()).unwrap_or(tag);
            return (Some(kind), summary.replace(tagged, "").trim().to_owned());
        }
    }
    let works = WORK.iter().any(|word| lower.contains(word));
    (works.then_some(DayKind::Work), summary.trim().to_owned())
}
