//! The calendars that the program carries: China's, and the plain week.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{CHINA, Calendar, Date, DayKind, Layer, MarkedDay, WEEKDAYS};
use crate::Words;

/// The calendars that are there without anybody having made them.
pub fn built_in() -> &'static [Calendar] {
    static BUILT_IN: LazyLock<Vec<Calendar>> = LazyLock::new(|| vec![china(), weekdays()]);
    &BUILT_IN
}

fn weekdays() -> Calendar {
    Calendar {
        title: Some(Words::new("Monday to Friday", "周一至周五")),
        week: Some(vec![1, 2, 3, 4, 5]),
        ..Calendar::new(WEEKDAYS)
    }
}

#[derive(Deserialize)]
struct Table {
    provenance: Words,
    names: BTreeMap<String, (String, String)>,
    years: BTreeMap<u16, Year>,
}

/// By name, such stretches of days of the year as `05-01..05-05 05-09`.
#[derive(Deserialize)]
struct Year {
    off: BTreeMap<String, String>,
    work: BTreeMap<String, String>,
}

fn china() -> Calendar {
    const WHOLE: &str = "the table is right: a test reads all of it";
    let table: Table = serde_json::from_str(include_str!("china.json")).expect(WHOLE);
    let mut days = Vec::new();
    for (year, marks) in &table.years {
        for (kind, named) in [(DayKind::Off, &marks.off), (DayKind::Work, &marks.work)] {
            for (name, stretches) in named {
                let (en, zh) = table.names.get(name).expect(WHOLE);
                let name = match kind {
                    DayKind::Off => Words::new(en, zh),
                    DayKind::Work => Words::new(format!("make-up working day for {en}"), format!("{zh}调休上班")),
                };
                for stretch in stretches.split(' ') {
                    let (first, last) = stretch.split_once("..").unwrap_or((stretch, stretch));
                    let date = |day: &str| format!("{year}-{day}").parse::<Date>().expect(WHOLE);
                    let (mut date, last) = (date(first), date(last));
                    while date <= last {
                        days.push(MarkedDay { date, kind, name: Some(name.clone()) });
                        date = date.plus_days(1);
                    }
                }
            }
        }
    }
    days.sort_by_key(|day| day.date);
    let country = Layer {
        name: "country".to_owned(),
        source: table.provenance.en.clone(),
        years: table.years.keys().copied().collect(),
        days,
    };
    Calendar {
        title: Some(Words::new("China", "中国")),
        week: Some(vec![1, 2, 3, 4, 5]),
        time_zone: Some("Asia/Shanghai".to_owned()),
        layers: vec![country],
        ..Calendar::new(CHINA)
    }
}
