//! A date as it stands in calendars: `2026-10-01`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ts_rs::TS;

use crate::Words;
use crate::schedule::civil::{Day, date_of, day_of, days_in_month, weekday};

/// Years that a calendar can tell of.
pub(crate) const FIRST_YEAR: i64 = 1970;
pub(crate) const LAST_YEAR: i64 = 2199;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TS)]
#[ts(rename = "CalendarDate", as = "String")]
pub struct Date(Day);

impl Date {
    /// None: there is no such day, or it is outside the years that calendars tell of.
    pub fn new(year: i64, month: u32, day: u32) -> Option<Date> {
        let exists = (FIRST_YEAR..=LAST_YEAR).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day);
        exists.then(|| Date(day_of(year, month, day)))
    }

    /// By days since 1970-01-01.
    pub const fn of_day(day: i64) -> Date {
        Date(day)
    }

    /// Days since 1970-01-01.
    pub const fn day(self) -> i64 {
        self.0
    }

    pub fn year(self) -> i64 {
        date_of(self.0).0
    }

    /// 1 is Monday.
    pub fn weekday(self) -> u8 {
        weekday(self.0) as u8 + 1
    }

    #[must_use]
    pub const fn plus_days(self, days: i64) -> Date {
        Date(self.0 + days)
    }

    /// `Sat 3 Oct` and `10月3日周六`.
    pub fn words(self) -> Words {
        const DAYS: [(&str, &str); 7] = [
            ("Mon", "周一"),
            ("Tue", "周二"),
            ("Wed", "周三"),
            ("Thu", "周四"),
            ("Fri", "周五"),
            ("Sat", "周六"),
            ("Sun", "周日"),
        ];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (_, month, day) = date_of(self.0);
        let (en, zh) = DAYS[weekday(self.0) as usize];
        Words::new(format!("{en} {day} {}", MONTHS[month as usize - 1]), format!("{month}月{day}日{zh}"))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a date such as 2026-10-01, from {FIRST_YEAR} to {LAST_YEAR}")]
pub struct NotADate(pub String);

/// `2026-10-01`, `2026/10/1`, `20261001`.
impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Date, NotADate> {
        let wrong = || NotADate(text.chars().take(40).collect());
        let plain = text.trim();
        let parts: Vec<&str> = match plain.len() == 8 && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            true => vec![&plain[..4], &plain[4..6], &plain[6..]],
            false => plain.split(['-', '/']).collect(),
        };
        let [year, month, day] = parts[..] else { return Err(wrong()) };
        let number = |text: &str, longest: usize| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true if (1..=longest).contains(&text.len()) => text.parse::<u32>().ok(),
            _ => None,
        };
        let found = number(year, 4).zip(number(month, 2)).zip(number(day, 2));
        found.and_then(|((year, month), day)| Date::new(i64::from(year), month, day)).ok_or_else(wrong)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
