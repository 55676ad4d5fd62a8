//! Tokens: what a program shows to be let in, and for what.
//!
//! A token is told once, when it is made; kept is only a digest of it. It reads `cmp_<id>_<secret>`: the id finds the
//! row, the secret proves the rest.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Code, Fault, Timestamp, Words};

/// The settings that hold tokens begin with this; the token's id follows.
pub const TOKEN_SETTING: &str = "token:";

const PREFIX: &str = "cmp";
const MOST_CHARACTERS: usize = 200;

/// What a token lets in. `executor:billing`, or `run:nightly-*` where a star stands for any letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// An executor, into this group.
    Executor(String),
    /// A request to run jobs with such names.
    Run(String),
}

impl Scope {
    pub fn admits_executor(&self, group: &str) -> bool {
        matches!(self, Scope::Executor(own) if own == group)
    }

    pub fn admits_run(&self, job: &str) -> bool {
        matches!(self, Scope::Run(pattern) if fits(pattern, job))
    }
}

/// Whether a name fits a pattern in which each star stands for any letters, or none.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    // The shortest fit of each part leaves the most for those after it.
    let mut left = name;
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

impl FromStr for Scope {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Scope, Fault> {
        let refused =
            |en: &str, zh: &str| Code::BadRequest.fault().with_words("reason", &Words::new(en, zh)).at("scope");
        let (kind, of) = text.split_once(':').unwrap_or((text, ""));
        if of.is_empty() || of.chars().count() > MOST_CHARACTERS || of.chars().any(char::is_control) {
            return Err(refused(
                "a scope is executor:GROUP or run:JOB, where JOB may have stars",
                "范围应为 executor:组名 或 run:任务名（任务名可含 *）",
            ));
        }
        match kind {
            "executor" if of.contains('*') => {
                Err(refused("a token is for one executor group; it has no stars", "令牌只能用于一个执行器组，不能含 *"))
            }
            "executor" => Ok(Scope::Executor(of.to_owned())),
            "run" => Ok(Scope::Run(of.to_owned())),
            _ => Err(refused("a scope begins with executor: or run:", "范围应以 executor: 或 run: 开头")),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Executor(group) => write!(f, "executor:{group}"),
            Scope::Run(pattern) => write!(f, "run:{pattern}"),
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = Fault;

    fn try_from(text: String) -> Result<Scope, Fault> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.to_string()
    }
}

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub scope: Scope,
    /// For whom it was made, for people to read.
    #[serde(default)]
    pub note: String,
    /// SHA-256 of the secret, in hex.
    pub digest: String,
    pub made_by: String,
    pub made_at: Timestamp,
}

/// A token as a program shows it, taken apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shown<'a> {
    pub id: &'a str,
    pub secret: &'a str,
}

impl<'a> Shown<'a> {
    /// None: it is no token of ours.
    pub fn read(text: &'a str) -> Option<Shown<'a>> {
        let (id, secret) = text.strip_prefix(PREFIX)?.strip_prefix('_')?.split_once('_')?;
        let plain =
            |part: &str| !part.is_empty() && part.len() <= 100 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        (plain(id) && plain(secret)).then_some(Shown { id, secret })
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}_{}_{}", self.id, self.secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_for_one_group_or_for_jobs_by_name() {
        for (text, executor, run) in [
            ("executor:billing", Some("billing"), None),
            ("run:nightly", None, Some("nightly")),
            ("run:nightly-*", None, Some("nightly-report")),
            ("run:*", None, Some("anything")),
        ] {
            let scope: Scope = text.parse().unwrap();
            assert_eq!(scope.to_string(), text);
            assert_eq!(scope.admits_executor("billing"), executor.is_some(), "{text}");
            assert_eq!(run.is_some_and(|job| scope.admits_run(job)), run.is_some(), "{text}");
            assert!(!scope.admits_executor("billing-2") && !scope.admits_executor("*"));
        }
        for text in ["", "executor", "executor:", "executor:*", "executor:a*", "run:", "admin:x", "run:a\nb"] {
            let fault = text.parse::<Scope>().unwrap_err();
            assert_eq!(fault.field.as_deref(), Some("scope"), "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, fitting) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abd", false),
            ("a*b*c", "aXbYbZc", true),
            ("*ab", "aab", true),
            ("ab*ab", "ab", false),
            ("ab*ab", "abab", true),
            ("*", "", true),
            ("日*", "日报", true),
            ("a", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), fitting, "{pattern} {name}");
        }
    }

    #[test]
    fn a_token_reads_back_as_it_is_told() {
        let shown = Shown { id: "0a1b", secret: "ff00" };
        let told = shown.to_string();
        assert_eq!(told, "cmp_0a1b_ff00");
        assert!(Shown::read(&told) == Some(shown));
        for text in ["", "cmp", "cmp__", "cmp_a_", "cmp_0a1b", "xyz_0a_ff", "cmp_0a_f f", "cmp_../_ff"] {
            assert!(Shown::read(text).is_none(), "{text}");
        }
    }
}
