//! Whether a calendar, as a person wrote it, is one that can be saved.
//!
//! Does not look at jobs: what an edit does to them is shown before it is saved, and is not a fault of it.

use std::collections::HashSet;

use super::date::{FIRST_YEAR, LAST_YEAR};
use super::{Calendar, built_in};
use crate::job::API_VERSION;
use crate::{Almanac, Code, Fault, Words};

pub const LONGEST_CALENDAR_NAME: usize = 64;
const LONGEST_WORD: usize = 200;
const MOST_LAYERS: usize = 16;
const MOST_DAYS: usize = 20_000;
/// Calendars that stand on one another.
const HIGHEST_TOWER: usize = 8;

/// Everything that keeps it from being saved among the calendars that there are.
pub fn check(calendar: &Calendar, almanac: &Almanac) -> Vec<Fault> {
    let mut found = Found(Vec::new());
    if calendar.api_version != API_VERSION {
        let version = &calendar.api_version;
        found.wrong(
            "apiVersion",
            format!("is {version:?}; this program reads {API_VERSION}"),
            format!("为 {version:?}；本程序可读取 {API_VERSION}"),
        );
    }
    found.text("name", &calendar.name, LONGEST_CALENDAR_NAME);
    if calendar.name.contains(['/', '\\', ':']) {
        found.wrong("name", "has one of / \\ : in it", "不能含有 / \\ : 字符");
    }
    if let Some(title) = &calendar.title {
        found.words("title", title);
    }
    found.base(calendar, almanac);
    if let Some(week) = &calendar.week {
        let days: HashSet<u8> = week.iter().copied().collect();
        if week.is_empty() {
            found.wrong("week", "has no working day", "没有工作日");
        } else if days.len() != week.len() || week.iter().any(|day| !(1..=7).contains(day)) {
            found.wrong("week", "names days from 1 (Monday) to 7, each once", "应为 1（周一）至 7，且不重复");
        }
    }
    if let Some(zone) = &calendar.time_zone
        && almanac.zone(zone).is_err()
    {
        found.0.push(Code::UnknownZone.fault().with("zone", zone).at("timeZone"));
    }
    if calendar.layers.len() > MOST_LAYERS {
        found.wrong("layers", format!("there are more than {MOST_LAYERS}"), format!("超过 {MOST_LAYERS} 个"));
    }
    if calendar.layers.iter().map(|layer| layer.days.len()).sum::<usize>() > MOST_DAYS {
        found.wrong("layers", format!("mark more than {MOST_DAYS} days"), format!("标记的日期超过 {MOST_DAYS} 天"));
    }
    let mut names = HashSet::new();
    for (index, layer) in calendar.layers.iter().enumerate() {
        let at = format!("layers.{index}");
        found.text(&format!("{at}.name"), &layer.name, LONGEST_CALENDAR_NAME);
        if !names.insert(&layer.name) {
            found.wrong(&format!("{at}.name"), "is the name of another layer too", "与其他层重名");
        }
        if layer.source.chars().count() > 2 * LONGEST_WORD {
            found.wrong(&format!("{at}.source"), "is too long", "过长");
        }
        if layer.years.iter().any(|year| !(FIRST_YEAR..=LAST_YEAR).contains(&i64::from(*year))) {
            found.wrong(
                &format!("{at}.years"),
                format!("are years from {FIRST_YEAR} to {LAST_YEAR}"),
                format!("应为 {FIRST_YEAR} 至 {LAST_YEAR} 年"),
            );
        }
        let mut dates = HashSet::new();
        for (place, day) in layer.days.iter().enumerate() {
            let at = format!("{at}.days.{place}");
            if !dates.insert(day.date) {
                found.wrong(&at, format!("marks {} a second time", day.date), format!("重复标记了 {}", day.date));
            }
            if let Some(name) = &day.name {
                found.words(&at, name);
            }
        }
    }
    found.0
}

struct Found(Vec<Fault>);

impl Found {
    fn wrong(&mut self, field: &str, en: impl Into<String>, zh: impl Into<String>) {
        let reason = Words::new(en, zh);
        self.0.push(Code::CalendarInvalid.fault().with("field", field).with_words("reason", &reason).at(field));
    }

    fn text(&mut self, field: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            self.wrong(field, "is empty", "不能为空");
        } else if text.chars().count() > most {
            self.wrong(field, format!("is longer than {most} characters"), format!("超过 {most} 个字符"));
        } else if text.chars().any(char::is_control) || text.trim() != text {
            self.wrong(field, "has a control character in it, or a space around it", "含有控制字符或首尾空格");
        }
    }

    fn words(&mut self, field: &str, words: &Words) {
        if [&words.en, &words.zh].iter().any(|text| text.chars().count() > LONGEST_WORD) {
            self.wrong(
                field,
                format!("is longer than {LONGEST_WORD} characters"),
                format!("超过 {LONGEST_WORD} 个字符"),
            );
        }
    }

    fn base(&mut self, calendar: &Calendar, almanac: &Almanac) {
        let mut chain = vec![calendar.name.clone()];
        let mut base = calendar.base.clone();
        while let Some(name) = base {
            // A calendar on its own name stands on what the program carries under that name.
            if chain.last() == Some(&name) {
                if !built_in().iter().any(|built_in| built_in.name == name) {
                    self.wrong("base", format!("'{name}' stands on itself"), format!("“{name}”以自身为基础"));
                }
                return;
            }
            if chain.contains(&name) || chain.len() >= HIGHEST_TOWER {
                let circle = chain.join(" → ");
                self.wrong(
                    "base",
                    format!("goes in a circle: {circle} → {name}"),
                    format!("形成循环：{circle} → {name}"),
                );
                return;
            }
            let Some(below) = almanac.calendar_document(&name) else {
                self.0.push(Code::CalendarNotFound.fault().with("calendar", &name).at("base"));
                return;
            };
            base = below.base.clone();
            chain.push(name);
        }
    }
}
