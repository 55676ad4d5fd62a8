//! Reads a schedule from a document, field by field, so that each wrong field has a message of
//! its own in both languages, and no field is passed over unread.
//!
//! Checks forms, not sense: whether the times can be planned is [`Schedule::plan`]'s question.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use super::repeat::day_out_of_range;
use super::{
    After, AfterNeed, AfterOutcome, Cron, Dialect, DstGap, DstOverlap, FixedDelay, FixedRate, Once, Repeat,
    RepeatLevel, Schedule, ScheduleError,
};
use crate::Timestamp;

/// Where a document names no zone. Nodes may stand in different ones, so it is not theirs.
const DEFAULT_ZONE: &str = "UTC";

const KINDS: [&str; 7] = ["repeat", "cron", "fixedRate", "fixedDelay", "once", "after", "manual"];
const GAPS: [(&str, DstGap); 3] = [("shift", DstGap::Shift), ("nextValid", DstGap::NextValid), ("skip", DstGap::Skip)];
const OVERLAPS: [(&str, DstOverlap); 3] =
    [("first", DstOverlap::First), ("second", DstOverlap::Second), ("both", DstOverlap::Both)];
const LEVELS: [(&str, RepeatLevel); 6] = [
    ("hour", RepeatLevel::Hour),
    ("day", RepeatLevel::Day),
    ("week", RepeatLevel::Week),
    ("month", RepeatLevel::Month),
    ("year", RepeatLevel::Year),
    ("workday", RepeatLevel::Workday),
];
const DIALECTS: [(&str, Dialect); 3] =
    [("unix", Dialect::Unix), ("seconds", Dialect::Seconds), ("quartz", Dialect::Quartz)];
const OUTCOMES: [(&str, AfterOutcome); 3] =
    [("success", AfterOutcome::Success), ("failure", AfterOutcome::Failure), ("done", AfterOutcome::Done)];
const NEEDS: [(&str, AfterNeed); 2] = [("any", AfterNeed::Any), ("all", AfterNeed::All)];

impl Schedule {
    pub fn from_document(document: &Value) -> Result<Schedule, ScheduleError> {
        let Value::Object(fields) = document else {
            return Err(ScheduleError::field(
                "schedule",
                "a schedule is a set of fields such as {kind: cron, expression: \"0 2 * * *\"}",
                "调度应由若干字段组成，例如 {kind: cron, expression: \"0 2 * * *\"}",
            ));
        };
        let mut document = Document { fields, read: vec!["kind"] };
        let kind = match document.text("kind")? {
            Some(kind) => kind,
            None if fields.contains_key("repeatLevel") => "repeat".to_owned(),
            None => {
                return Err(ScheduleError::field(
                    "kind",
                    format!("is missing; it is one of {}", KINDS.join(", ")),
                    format!("缺少该字段，可用的值有 {}", KINDS.join("、")),
                ));
            }
        };
        let schedule = match kind.as_str() {
            "repeat" => Schedule::Repeat(document.repeat()?),
            "cron" => Schedule::Cron(Cron {
                expression: document.required("expression", Document::text)?,
                dialect: document.choice("dialect", &DIALECTS)?,
                time_zone: document.zone()?,
                dst_gap: document.choice("dstGap", &GAPS)?.unwrap_or_default(),
                dst_overlap: document.choice("dstOverlap", &OVERLAPS)?.unwrap_or_default(),
            }),
            "fixedRate" => Schedule::FixedRate(FixedRate {
                every_seconds: document.required("everySeconds", Document::whole)?,
                start_time: document.time("startTime")?,
            }),
            "fixedDelay" => Schedule::FixedDelay(FixedDelay {
                every_seconds: document.required("everySeconds", Document::whole)?,
                start_time: document.time("startTime")?,
            }),
            "once" => Schedule::Once(Once { at: document.required("at", Document::time)? }),
            "after" => Schedule::After(After {
                jobs: document.required("jobs", Document::names)?,
                on: document.choice("on", &OUTCOMES)?.unwrap_or_default(),
                need: document.choice("need", &NEEDS)?.unwrap_or_default(),
            }),
            "manual" => Schedule::Manual,
            other => {
                return Err(ScheduleError::field(
                    "kind",
                    format!("'{other}' is not a kind of schedule; it is one of {}", KINDS.join(", ")),
                    format!("没有“{other}”这种调度，可用的值有 {}", KINDS.join("、")),
                ));
            }
        };
        document.nothing_unread(&kind)?;
        Ok(schedule)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Schedule, D::Error> {
        let document = Value::deserialize(deserializer)?;
        Schedule::from_document(&document).map_err(D::Error::custom)
    }
}

struct Document<'a> {
    fields: &'a Map<String, Value>,
    read: Vec<&'static str>,
}

impl<'a> Document<'a> {
    /// A field left empty is a field left out.
    fn field(&mut self, name: &'static str) -> Option<&'a Value> {
        if !self.read.contains(&name) {
            self.read.push(name);
        }
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Result<Option<T>, ScheduleError>,
    ) -> Result<T, ScheduleError> {
        read(self, name)?.ok_or_else(|| ScheduleError::field(name, "is missing", "缺少该字段"))
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, ScheduleError> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                Err(ScheduleError::field(name, format!("{other} is not a text"), format!("{other} 不是文本")))
            }
        }
    }

    fn time(&mut self, name: &'static str) -> Result<Option<Timestamp>, ScheduleError> {
        let read = match self.field(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.parse().ok(),
            Some(Value::Number(number)) => number.as_i64().map(Timestamp::from_millis),
            Some(_) => None,
        };
        read.map(Some).ok_or_else(|| {
            let value = &self.fields[name];
            ScheduleError::field(
                name,
                format!("{value} is neither epoch milliseconds nor an RFC 3339 time such as 2026-03-01T09:00:00+08:00"),
                format!("{value} 既不是毫秒时间戳，也不是 RFC 3339 时间，例如 2026-03-01T09:00:00+08:00"),
            )
        })
    }

    fn whole(&mut self, name: &'static str) -> Result<Option<u32>, ScheduleError> {
        let Some(value) = self.field(name) else { return Ok(None) };
        match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(ScheduleError::field(
                name,
                format!("{value} is not a whole number from 1 to {}", u32::MAX),
                format!("{value} 不是 1 到 {} 之间的整数", u32::MAX),
            )),
        }
    }

    fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, ScheduleError> {
        let Some(value) = self.field(name) else { return Ok(None) };
        let chosen = choices.iter().find(|(text, _)| value.as_str() == Some(text));
        chosen.map(|(_, choice)| Some(*choice)).ok_or_else(|| {
            let list: Vec<&str> = choices.iter().map(|(text, _)| *text).collect();
            ScheduleError::field(
                name,
                format!("{value} is not known; it is one of {}", list.join(", ")),
                format!("不认识 {value}，可用的值有 {}", list.join("、")),
            )
        })
    }

    fn zone(&mut self) -> Result<String, ScheduleError> {
        Ok(self.text("timeZone")?.unwrap_or_else(|| DEFAULT_ZONE.to_owned()))
    }

    fn names(&mut self, name: &'static str) -> Result<Option<Vec<String>>, ScheduleError> {
        let Some(value) = self.field(name) else { return Ok(None) };
        let names = value
            .as_array()
            .and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
        names.map(Some).ok_or_else(|| {
            ScheduleError::field(name, format!("{value} is not a list of names"), format!("{value} 不是名称列表"))
        })
    }

    fn days(&mut self, level: RepeatLevel) -> Result<Vec<i8>, ScheduleError> {
        let Some(value) = self.field("repeatDays") else { return Ok(Vec::new()) };
        let wrong = || {
            ScheduleError::field(
                "repeatDays",
                format!("{value} is not a list of whole numbers"),
                format!("{value} 不是整数列表"),
            )
        };
        let days = value.as_array().ok_or_else(wrong)?;
        days.iter()
            .map(|day| {
                let day = day.as_i64().ok_or_else(wrong)?;
                i8::try_from(day).map_err(|_| day_out_of_range(day, level))
            })
            .collect()
    }

    fn repeat(&mut self) -> Result<Repeat, ScheduleError> {
        let level = match self.choice("repeatLevel", &LEVELS)? {
            Some(level) => level,
            None => return Err(ScheduleError::field("repeatLevel", "is missing", "缺少该字段")),
        };
        Ok(Repeat {
            start_time: self.required("startTime", Document::time)?,
            time_zone: self.zone()?,
            repeat_level: level,
            repeat_interval: self.whole("repeatInterval")?.unwrap_or(1),
            repeat_days: self.days(level)?,
            end_time: self.time("endTime")?,
            count: self.whole("count")?,
            dst_gap: self.choice("dstGap", &GAPS)?.unwrap_or_default(),
            dst_overlap: self.choice("dstOverlap", &OVERLAPS)?.unwrap_or_default(),
        })
    }

    fn nothing_unread(&self, kind: &str) -> Result<(), ScheduleError> {
        match self.fields.keys().find(|name| !self.read.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(ScheduleError::field(
                name,
                format!("a {kind} schedule has no such field; it has {}", self.read[1..].join(", ")),
                format!("{kind} 调度没有这个字段，可用的字段有 {}", self.read[1..].join("、")),
            )),
        }
    }
}
