//! Secrets: values that only the executors of one group can read.
//!
//! What is kept is the value sealed to the group's public key. Whoever keeps it, sends it or backs it
//! up cannot open it; only what holds the group's secret key can.

use serde::{Deserialize, Serialize};

use crate::{Code, Fault, Timestamp, Words};

/// Each is a setting under this, its group and its name.
pub const SECRET_SETTING: &str = "secret:";

const BEGINS: &str = "${secret:";

pub const SHORTEST_VALUE: usize = 4;
pub const LONGEST_VALUE: usize = 32 * 1024;
const LONGEST_NAME: usize = 64;

/// A value as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedValue {
    /// The public key, in hexadecimal.
    pub sealed_to: String,
    /// In hexadecimal.
    pub ciphertext: String,
    pub by: String,
    pub at: Timestamp,
}

pub fn setting(group: &str, name: &str) -> String {
    format!("{SECRET_SETTING}{group}/{name}")
}

/// Group and name out of a setting's key.
pub fn of_setting(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(SECRET_SETTING)?.rsplit_once('/')
}

/// Names that a text puts as `${secret:name}`, each once, in the order in which they come.
pub fn names_in(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(BEGINS) {
        let Some((name, behind)) = after.split_once('}') else { break };
        if !names.contains(&name) {
            names.push(name);
        }
        rest = behind;
    }
    names
}

/// Letters, digits, `-`, `_` and `.`: a name stands in parameters and on command lines.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let good = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(good) {
        let reason = Words::new(
            format!("a name has 1 to {LONGEST_NAME} letters, digits, '-', '_' or '.'"),
            format!("名称由 1 到 {LONGEST_NAME} 个字母、数字、“-”、“_”或“.”组成"),
        );
        return Err(Code::BadRequest.fault().with_words("reason", &reason).at("name"));
    }
    Ok(())
}

/// Shorter ones could not be kept out of logs without tearing every line apart.
pub fn check_value(value: &str) -> Result<(), Fault> {
    if (SHORTEST_VALUE..=LONGEST_VALUE).contains(&value.len()) {
        return Ok(());
    }
    let reason = Words::new(
        format!("a secret has {SHORTEST_VALUE} to {LONGEST_VALUE} bytes"),
        format!("密钥值应为 {SHORTEST_VALUE} 到 {LONGEST_VALUE} 字节"),
    );
    Err(Code::BadRequest.fault().with_words("reason", &reason).at("value"))
}

/// The bytes that a text in hexadecimal stands for.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_a_text_are_those_it_names() {
        let table: [(&str, &[&str]); 5] = [
            ("", &[]),
            (r#"{"url": "https://x/?t=${secret:token}&p=${secret:pin}", "t": "${secret:token}"}"#, &["token", "pin"]),
            ("${secret:open", &[]),
            ("${planned} ${secret:}", &[""]),
            ("$ {secret:x}", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(names_in(text), expected, "{text}");
        }
    }

    #[test]
    fn a_setting_names_group_and_secret() {
        assert_eq!(of_setting(&setting("etl/eu", "api-token")), Some(("etl/eu", "api-token")));
        assert_eq!(of_setting("connection:x"), None);
    }

    #[test]
    fn names_and_values_have_bounds() {
        for (name, good) in [("api-token", true), ("a.b_C-9", true), ("", false), ("a b", false), ("a}", false)] {
            assert_eq!(check_name(name).is_ok(), good, "{name}");
        }
        assert!(check_name(&"x".repeat(65)).is_err());
        for (value, good) in [("abc", false), ("abcd", true), ("密码", true)] {
            assert_eq!(check_value(value).is_ok(), good, "{value}");
        }
    }

    #[test]
    fn bytes_are_told_in_hexadecimal_and_back() {
        assert_eq!(from_hex(&to_hex(&[0, 15, 255])), Some(vec![0, 15, 255]));
        assert_eq!((from_hex("0"), from_hex("0g"), from_hex("é")), (None, None, None));
    }
}
