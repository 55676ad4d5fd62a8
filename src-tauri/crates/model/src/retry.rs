//! What a failure means, and when the next attempt comes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Lane, Words};

/// What kind of trouble a failure was: it decides whether trying again makes sense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FailureClass {
    /// Network, lock, time-out: retried.
    #[default]
    Transient,
    /// Bad parameters, no permission: recorded, not retried.
    Business,
    /// Out of memory, disk full: retried one lane above Retry, alarm at once.
    System,
}

/// Why an attempt did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Failure {
    pub class: FailureClass,
    /// A stable code of ours or of the processor's.
    pub code: String,
    pub message: Words,
}

/// How often and how late an attempt that failed is made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Retry {
    /// Attempts after the first.
    pub retries: u32,
    pub base_seconds: f64,
    pub max_seconds: f64,
    pub multiplier: f64,
}

impl Default for Retry {
    fn default() -> Self {
        Retry { retries: 3, base_seconds: 1.0, max_seconds: 60.0, multiplier: 2.0 }
    }
}

impl Retry {
    pub const NONE: Retry = Retry { retries: 0, base_seconds: 1.0, max_seconds: 60.0, multiplier: 2.0 };

    /// The wait before retry number `n`, the first being 0; `jitter` is drawn from 0 to 1 and
    /// stretches it to 0.8 to 1.2 of itself.
    pub fn delay(&self, n: u32, jitter: f64) -> Duration {
        let exponent = i32::try_from(n).unwrap_or(i32::MAX);
        let plain = (self.base_seconds * self.multiplier.powi(exponent)).min(self.max_seconds);
        Duration::from_secs_f64((plain * (0.8 + 0.4 * jitter.clamp(0.0, 1.0))).clamp(0.0, 86_400.0 * 365.0))
    }

    /// The lane of the next attempt, or none where there is to be none.
    pub fn next_lane(&self, used: u32, class: FailureClass) -> Option<Lane> {
        if used >= self.retries {
            return None;
        }
        match class {
            FailureClass::Transient => Some(Lane::Retry),
            FailureClass::System => Some(Lane::High),
            FailureClass::Business => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_from_a_second_to_a_minute() {
        let retry = Retry::default();
        let waits: Vec<u64> = (0..8).map(|n| retry.delay(n, 0.5).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(retry.delay(0, 0.0), Duration::from_millis(800));
        assert_eq!(retry.delay(0, 1.0), Duration::from_millis(1200));
        assert_eq!(retry.delay(4000, 0.5).as_secs(), 60);
    }

    #[test]
    fn the_class_of_a_failure_decides_whether_and_where_it_is_tried_again() {
        let retry = Retry::default();
        assert_eq!(retry.next_lane(0, FailureClass::Transient), Some(Lane::Retry));
        assert_eq!(retry.next_lane(2, FailureClass::System), Some(Lane::High));
        assert_eq!(retry.next_lane(0, FailureClass::Business), None);
        assert_eq!(retry.next_lane(3, FailureClass::Transient), None);
    }
}
