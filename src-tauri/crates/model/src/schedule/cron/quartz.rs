//! What only the quartz dialect can say: days counted within the month, and `?` in one of the two day fields.

use super::next::QuartzDays;
use super::parse::{Field, Fields, Item, Kind, Parsed, WEEKDAYS, YEARS, number, wrong};
use crate::schedule::error::ScheduleError;

pub(super) fn count_from_sunday_0(item: &mut Item) {
    match item {
        Item::Every { .. } | Item::Open | Item::Last { .. } | Item::Near { .. } | Item::NearLast { .. } => {}
        Item::One(day) | Item::LastOf { weekday: day } | Item::Nth { weekday: day, .. } => *day -= 1,
        Item::Range { from, to, .. } => {
            *from -= 1;
            *to -= 1;
        }
        Item::Onwards { from, step } => *item = Item::Range { from: *from - 1, to: 6, step: *step },
    }
}

/// In quartz the day is told by one of the two fields, and the other says so.
pub(super) fn check_one_day_is_open(fields: &Fields) -> Result<(), ScheduleError> {
    let left_open = |field: &Field| field.items == [Item::Open];
    match (left_open(&fields.days), left_open(&fields.weekdays)) {
        (true, true) => Err(wrong(
            fields.weekdays.span,
            "one of the two day fields has to say which days; '?' can stand in the other only",
            "“日”和“星期”必须有一个写明日期，只有另一个可以是“?”",
        )),
        (false, false) => Err(wrong(
            fields.weekdays.span,
            "in the quartz dialect exactly one of the two day fields is '?': write '?' in the one that does not matter",
            "quartz 写法的“日”和“星期”必须恰好有一个是“?”：请把不限定的那个写成“?”",
        )),
        _ => Ok(()),
    }
}

/// `L`, `L-3`, `LW`, `L-3W`, `15W` of the days of the month; `L`, `6L`, `FRIL`, `6#3`, `FRI#3` of the weekdays.
pub(super) fn day_of_the_month(part: &str, span: (usize, usize), kind: &Kind) -> Result<Item, ScheduleError> {
    let upper = part.to_uppercase();
    let refused = |en: &str, zh: &str| Err(wrong(span, format!("'{part}' {en}"), format!("“{part}”{zh}")));
    if kind.en == WEEKDAYS.en {
        if upper == "L" {
            // The last day of a week that begins on Sunday.
            return Ok(Item::One(7));
        }
        if let Some((day, nth)) = part.split_once('#') {
            let weekday = number(day, (span.0, span.0 + day.chars().count()), kind)?;
            return match nth {
                "1" | "2" | "3" | "4" | "5" => Ok(Item::Nth { weekday, nth: u32::from(nth.as_bytes()[0] - b'0') }),
                _ => {
                    let nth_span = (span.0 + day.chars().count() + 1, span.1);
                    Err(wrong(
                        nth_span,
                        format!("'{nth}' is not a week of the month; after '#' comes 1 to 5"),
                        format!("“{nth}”不是月内的第几个，“#”之后应为 1 到 5"),
                    ))
                }
            };
        }
        if let Some(day) = part.strip_suffix(['L', 'l']) {
            let weekday = number(day, (span.0, span.0 + day.chars().count()), kind)?;
            return Ok(Item::LastOf { weekday });
        }
        return refused(
            "is not a day of the week; 'W' belongs to the days of the month",
            "不是星期；“W”只用于“日”字段",
        );
    }
    if upper.contains('#') {
        return refused(
            "is not a day of the month; '#' belongs to the days of the week",
            "不是日期；“#”只用于“星期”字段",
        );
    }
    let (body, near) = match upper.strip_suffix('W') {
        Some(body) => (body, true),
        None => (upper.as_str(), false),
    };
    if let Some(rest) = body.strip_prefix('L') {
        let before = match rest.strip_prefix('-') {
            None if rest.is_empty() => Some(0),
            Some(digits) if !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit()) => {
                digits.parse().ok().filter(|before| *before <= 30)
            }
            _ => None,
        };
        return match before {
            Some(before) if near => Ok(Item::NearLast { before }),
            Some(before) => Ok(Item::Last { before }),
            None => refused(
                "is not a day counted from the end; 'L-0' to 'L-30' are",
                "不是从月末数的日期，应为 L-0 到 L-30",
            ),
        };
    }
    if near {
        let day = number(body, (span.0, span.0 + body.chars().count()), kind)?;
        return Ok(Item::Near { day });
    }
    refused("is not a day of the month; 'L' stands first, as in 'L-3'", "不是日期；“L”应写在最前，例如 L-3")
}

/// `L`, `W`, `#` and `?`, which only Quartz and what follows it know.
pub(super) fn needs_quartz(part: &str, kind: &Kind) -> bool {
    if part.contains(['#', '?']) {
        return true;
    }
    let lower = part.to_lowercase();
    if let Some(day) = lower.strip_suffix('l')
        && kind.names.contains(&day)
    {
        return true;
    }
    let named = kind.names.iter().any(|name| lower.contains(name));
    !named
        && part.to_uppercase().chars().any(|letter| matches!(letter, 'L' | 'W'))
        && part.to_uppercase().chars().all(|letter| letter.is_ascii_digit() || matches!(letter, 'L' | 'W' | '-'))
}

impl Parsed {
    pub(super) fn quartz_days(&self) -> Option<Box<QuartzDays>> {
        let mut found = QuartzDays::default();
        let fields = &self.fields;
        for item in fields.days.of_the_month().chain(fields.weekdays.of_the_month()) {
            match item {
                Item::Last { before } => found.last |= 1 << before,
                Item::Near { day } => found.near |= 1 << day,
                Item::NearLast { before } => found.near_last |= 1 << before,
                Item::LastOf { weekday } => found.last_weekdays |= 1 << weekday,
                Item::Nth { weekday, nth } => found.nth_weekdays |= 1 << (7 * (nth - 1) + weekday),
                Item::Every { .. } | Item::Open | Item::One(_) | Item::Range { .. } | Item::Onwards { .. } => {}
            }
        }
        if let Some(years) = &fields.years {
            let mut named = [0; 4];
            for year in years.numbers(&YEARS) {
                let place = year - YEARS.first;
                named[place as usize / 64] |= 1 << (place % 64);
            }
            found.years = Some(named);
        }
        (found != QuartzDays::default()).then(|| Box::new(found))
    }
}
