//! Calendars as tables: China day by day against three others, layers, years without data, files.

mod china;
mod days;
mod files;

use super::{Calendar, Date, DayKind, Layer, MarkedDay, WorkingDays};
use crate::Words;

fn date(text: &str) -> Date {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// `2026-10-02` is a day off, `2026-10-10!` a working day.
fn layer(name: &str, years: &[u16], days: &[&str]) -> Layer {
    let day = |text: &&str| {
        let kind = if text.ends_with('!') { DayKind::Work } else { DayKind::Off };
        let plain = text.trim_end_matches('!');
        MarkedDay {
            date: date(plain),
            kind,
            name: Some(Words::new(format!("{name} {plain}"), format!("{name}{plain}"))),
        }
    };
    Layer { name: name.to_owned(), source: String::new(), years: years.to_vec(), days: days.iter().map(day).collect() }
}

fn calendar(layers: Vec<Layer>) -> Calendar {
    Calendar { layers, ..Calendar::new("acme") }
}

fn compiled(calendar: &Calendar) -> WorkingDays {
    WorkingDays::new(calendar, None)
}
