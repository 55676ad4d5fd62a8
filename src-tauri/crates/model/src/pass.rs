//! Passes: by what a console, or another node, is let in at a node's API for a short while.
//!
//! Whoever wants in draws a secret for itself and tells nobody but the node that it shows it to. What is kept is a digest
//! of it, with whose it is and for how long: what stands in the database opens nothing.

use crate::Timestamp;
use crate::request::Person;

/// A pass is good for so long after it was given or renewed.
pub const PASS_SECONDS: i64 = 15 * 60;

/// What is kept of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// SHA-256 of the secret, in hex.
    pub digest: String,
    pub who: Person,
    pub until: Timestamp,
}

impl Pass {
    /// Given at that moment, or renewed.
    pub fn given(digest: String, who: Person, now: Timestamp) -> Pass {
        Pass { digest, who, until: now.plus_seconds(PASS_SECONDS) }
    }

    pub fn holds(&self, now: Timestamp) -> bool {
        now < self.until
    }
}

/// Whether a text is a digest as passes are kept by.
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Role;

    #[test]
    fn a_pass_holds_for_a_quarter_of_an_hour() {
        let at = |second: i64| Timestamp::EPOCH.plus_seconds(second);
        let pass = Pass::given("0".repeat(64), Person { name: "mei".into(), role: Role::Viewer }, at(100));
        for (second, holds) in [(100, true), (999, true), (1000, false), (5000, false)] {
            assert_eq!(pass.holds(at(second)), holds, "{second}");
        }
    }

    #[test]
    fn a_digest_is_told_by_its_form() {
        for (text, is) in [
            ("0123456789abcdef".repeat(4), true),
            ("0123456789ABCDEF".repeat(4), false),
            ("0123456789abcdeg".repeat(4), false),
            ("ab".repeat(31), false),
            ("ab".repeat(33), false),
            (String::new(), false),
        ] {
            assert_eq!(is_digest(&text), is, "{text}");
        }
    }
}
