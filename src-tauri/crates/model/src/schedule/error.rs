//! Why a schedule was refused, to be shown beside the field that is wrong.
//!
//! A variant is a different thing to do next: mend a field, choose a zone, choose a dialect,
//! think again, or wait for a later version. The numbered fault codes are given at the edge.

use std::fmt;

use super::cron::Dialect;
use crate::Words;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// One field says something that no schedule can mean. Mend it.
    ///
    /// `span` counts characters of the field's own text: where in a cron expression it is.
    Field { field: String, words: Words, span: Option<(usize, usize)> },

    /// The zone data has no such zone. Choose another; `nearest` is a guess at what was meant.
    UnknownZone { name: String, nearest: Option<String> },

    /// There is no such calendar. Choose one of those that are `known`.
    UnknownCalendar { name: String, known: Vec<String> },

    /// Six fields mean different things in two dialects. Say which.
    WhichDialect { readings: Vec<(Dialect, Words)> },

    /// All of it can be read, and no time will ever come of it.
    NeverFires { field: String, reason: Words },

    /// It is understood, and this version cannot carry it out.
    NotYet { field: String, words: Words },
}

impl ScheduleError {
    pub(crate) fn field(field: &str, en: impl Into<String>, zh: impl Into<String>) -> Self {
        ScheduleError::Field { field: field.to_owned(), words: Words::new(en, zh), span: None }
    }

    pub(crate) fn never(field: &str, en: impl Into<String>, zh: impl Into<String>) -> Self {
        ScheduleError::NeverFires { field: field.to_owned(), reason: Words::new(en, zh) }
    }

    /// The field of the document that the message belongs beside.
    pub fn at(&self) -> &str {
        match self {
            ScheduleError::Field { field, .. }
            | ScheduleError::NeverFires { field, .. }
            | ScheduleError::NotYet { field, .. } => field,
            ScheduleError::UnknownZone { .. } => "timeZone",
            ScheduleError::UnknownCalendar { .. } => "calendar",
            ScheduleError::WhichDialect { .. } => "dialect",
        }
    }

    /// The characters of the field's text that are meant, from and up to.
    pub fn span(&self) -> Option<(usize, usize)> {
        match self {
            ScheduleError::Field { span, .. } => *span,
            _ => None,
        }
    }

    /// The whole message without the field's name, in both languages.
    pub fn words(&self) -> Words {
        match self {
            ScheduleError::Field { words, .. } | ScheduleError::NotYet { words, .. } => words.clone(),
            ScheduleError::NeverFires { reason, .. } => {
                Words::new("it would never fire: {reason}", "永远不会触发：{reason}").joined("reason", reason)
            }
            ScheduleError::UnknownZone { name, nearest: None } => {
                Words::new("there is no time zone '{name}'", "没有名为“{name}”的时区").with("name", name)
            }
            ScheduleError::UnknownZone { name, nearest: Some(nearest) } => Words::new(
                "there is no time zone '{name}'; did you mean {nearest}?",
                "没有名为“{name}”的时区，是否指 {nearest}？",
            )
            .with("name", name)
            .with("nearest", nearest),
            ScheduleError::UnknownCalendar { name, known } => Words::new(
                "there is no calendar named '{name}'; there are {known}",
                "没有名为“{name}”的日历；现有 {known}",
            )
            .with("name", name)
            .with("known", &known.join(", ")),
            ScheduleError::WhichDialect { readings } => {
                let list = |pick: fn(&Words) -> &str, separator: &str| {
                    readings
                        .iter()
                        .map(|(dialect, words)| format!("{}: {}", dialect.as_str(), pick(words)))
                        .collect::<Vec<_>>()
                        .join(separator)
                };
                Words::new(
                    format!(
                        "six fields can be read in more than one way, so the dialect has to be named ({})",
                        list(|words| &words.en, "; ")
                    ),
                    format!("六个字段有不止一种读法，请写明 dialect（{}）", list(|words| &words.zh, "；")),
                )
            }
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at(), self.words().en)?;
        match self.span() {
            Some((from, _)) => write!(f, " (at character {})", from + 1),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScheduleError {}

/// Words put into words, each in its own language.
pub(crate) trait Joined {
    fn joined(self, name: &str, part: &Words) -> Words;
}

impl Joined for Words {
    fn joined(self, name: &str, part: &Words) -> Words {
        let slot = format!("{{{name}}}");
        Words::new(self.en.replace(&slot, &part.en), self.zh.replace(&slot, &part.zh))
    }
}
