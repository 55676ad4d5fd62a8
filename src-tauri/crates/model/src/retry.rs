//! What a failure means, and when the next attempt comes.

use std::time::Duration;

use regex::{Regex, RegexBuilder};
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

/// What a job says of a failure by its message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailureRule {
    /// Part of the code or the message; between slashes (`/exit code (75|111)$/`) a regular expression.
    #[serde(rename = "match")]
    pub pattern: String,
    pub class: FailureClass,
}

/// A regular expression that compiles to more than this is refused.
const LARGEST_EXPRESSION: usize = 256 * 1024;

impl FailureRule {
    /// The regular expression, where the rule is one.
    pub fn expression(&self) -> Option<Result<Regex, regex::Error>> {
        let inner = self.pattern.strip_prefix('/')?.strip_suffix('/').filter(|inner| !inner.is_empty())?;
        Some(RegexBuilder::new(inner).size_limit(LARGEST_EXPRESSION).dfa_size_limit(LARGEST_EXPRESSION).build())
    }

    fn matches(&self, failure: &Failure) -> bool {
        let texts = [&failure.code, &failure.message.en, &failure.message.zh];
        match self.expression() {
            Some(Ok(expression)) => texts.into_iter().any(|text| expression.is_match(text)),
            // It was refused when the job was saved.
            Some(Err(_)) => false,
            None => texts.into_iter().any(|text| text.contains(&self.pattern)),
        }
    }
}

/// The class that the first matching rule gives. What a processor called `business` or `system` stays that: rules are
/// for what it left open, and `transient` is what it says where it does not know.
pub fn judged(failure: &Failure, rules: &[FailureRule]) -> FailureClass {
    match failure.class {
        FailureClass::Transient => {
            rules.iter().find(|rule| rule.matches(failure)).map_or(failure.class, |rule| rule.class)
        }
        said => said,
    }
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
    fn the_first_rule_that_matches_the_message_decides_what_the_processor_left_open() {
        use FailureClass::{Business, System, Transient};
        let rule = |pattern: &str, class| FailureRule { pattern: pattern.to_owned(), class };
        let rules = [
            rule("no space left", System),
            rule("/exit code (64|78)$/", Business),
            rule("exit code 6", System),
            rule("格式错误", Business),
            rule("/", System),
        ];
        let judge = |class, code: &str, en: &str, zh: &str| {
            judged(&Failure { class, code: code.to_owned(), message: Words::new(en, zh) }, &rules)
        };
        let table = [
            (Transient, "E1", "write failed: no space left on device", "", System),
            (Transient, "E1", "the command ended with exit code 64", "", Business),
            (Transient, "E1", "the command ended with exit code 641", "", System),
            (Transient, "E1", "the command ended with exit code 75", "", Transient),
            (Transient, "E1", "bad", "行 3 格式错误", Business),
            (Transient, "a/b", "bad", "", System),
            (Business, "E1", "no space left", "", Business),
            (System, "E1", "the command ended with exit code 64", "", System),
        ];
        for (class, code, en, zh, expected) in table {
            assert_eq!(judge(class, code, en, zh), expected, "{code} {en} {zh}");
        }
    }

    #[test]
    fn an_expression_that_would_eat_the_memory_is_refused() {
        let rule = |pattern: &str| FailureRule { pattern: pattern.to_owned(), class: FailureClass::Business };
        assert!(rule("/(a{1000}){1000}/").expression().unwrap().is_err());
        assert!(rule("/a(/").expression().unwrap().is_err());
        assert!(rule("/a+/").expression().unwrap().is_ok());
        assert!(rule("a/b").expression().is_none());
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
