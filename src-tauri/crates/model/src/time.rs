//! An instant, as everything here stores and compares it: milliseconds since 1970 in UTC.
//!
//! Reads no clock and knows no zone; wall-clock time lives in `schedule/zone`.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};
use ts_rs::TS;

/// Milliseconds since the Unix epoch. Ordered, and small enough to be an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, TS)]
#[serde(transparent)]
#[ts(type = "number")]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Timestamp = Timestamp(0);
    /// Later than anything a schedule plans (the year 9999).
    pub const MAX: Timestamp = Timestamp(253_402_300_799_000);

    pub const fn from_millis(millis: i64) -> Self {
        Timestamp(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero where `earlier` is the later one.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }

    pub const fn plus_millis(self, millis: i64) -> Self {
        Timestamp(self.0.saturating_add(millis))
    }

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Timestamp(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// RFC 3339 in UTC, with milliseconds only where there are some.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(f, "{instant}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is neither epoch milliseconds nor an RFC 3339 time such as 2026-03-01T09:00:00+08:00")]
pub struct NotATime(pub String);

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        if let Ok(millis) = text.trim().parse::<i64>() {
            return Ok(Timestamp(millis));
        }
        text.trim()
            .parse::<jiff::Timestamp>()
            .map(|instant| Timestamp(instant.as_millisecond()))
            .map_err(|_| NotATime(text.to_owned()))
    }
}

/// People write either form; we write milliseconds.
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl de::Visitor<'_> for EitherForm {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("epoch milliseconds or an RFC 3339 time")
            }

            fn visit_i64<E: de::Error>(self, millis: i64) -> Result<Timestamp, E> {
                Ok(Timestamp(millis))
            }

            fn visit_u64<E: de::Error>(self, millis: u64) -> Result<Timestamp, E> {
                i64::try_from(millis).map(Timestamp).map_err(|_| E::custom(NotATime(millis.to_string())))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_people_write_mean_the_same_instant() {
        let written = ["1648029600000", "2022-03-23T18:00:00+08:00", "2022-03-23T10:00:00Z"];
        for text in written {
            assert_eq!(text.parse(), Ok(Timestamp::from_millis(1_648_029_600_000)), "{text}");
        }
        assert!("tomorrow".parse::<Timestamp>().is_err());
    }
}
