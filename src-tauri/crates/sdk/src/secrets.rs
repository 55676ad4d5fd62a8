//! What `${secret:name}` stands for: opened here, put into the parameters, and kept out of everything said.
//!
//! A secret comes sealed to the key of this executor's group (libsodium's sealed box: X25519,
//! XSalsa20-Poly1305, the nonce by BLAKE2b), so that no node can read it. A value that was put into a
//! task's parameters is replaced by `***` wherever the task says it: in its log, in its progress, in
//! what it reports of items, in its result and in its failure.

use std::borrow::Cow;
use std::path::Path;

use campanile_proto::v1;
use crypto_box::aead::OsRng;
use serde_json::Value;

use crate::{TaskError, failure};

const BEGINS: &str = "${secret:";
const MASKED: &str = "***";

/// A part of a value that is shorter is no secret of its own: to mask it would tear every text apart.
const SHORTEST: usize = 4;

/// What opens the secrets of an executor group. All executors of the group have the same.
#[derive(Clone)]
pub struct SecretKey(crypto_box::SecretKey);

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{path}: {source}")]
    Unreadable { path: String, source: std::io::Error },

    #[error("{path}: others may read it; make it 0600")]
    OthersMayRead { path: String },

    #[error("a key is 64 hexadecimal digits")]
    NotAKey,
}

impl SecretKey {
    /// A new one, drawn by the system.
    pub fn generate() -> SecretKey {
        SecretKey(crypto_box::SecretKey::generate(&mut OsRng))
    }

    pub fn from_hex(text: &str) -> Result<SecretKey, KeyError> {
        let bytes: [u8; 32] =
            from_hex(text.trim()).ok_or(KeyError::NotAKey)?.try_into().map_err(|_| KeyError::NotAKey)?;
        Ok(SecretKey(crypto_box::SecretKey::from_bytes(bytes)))
    }

    /// As `campanile secret keygen` wrote it: the first line that is not a remark.
    pub fn read(path: &Path) -> Result<SecretKey, KeyError> {
        let told = || path.display().to_string();
        let unreadable = |source| KeyError::Unreadable { path: told(), source };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(KeyError::OthersMayRead { path: told() });
            }
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        SecretKey::from_hex(line.unwrap_or_default())
    }

    /// To be kept where only its executors can read it.
    pub fn to_hex(&self) -> String {
        to_hex(&self.0.to_bytes())
    }

    /// What secrets are sealed to; everyone may know it.
    pub fn public(&self) -> [u8; 32] {
        *self.0.public_key().as_bytes()
    }

    fn open(&self, ciphertext: &[u8]) -> Option<String> {
        String::from_utf8(self.0.unseal(ciphertext).ok()?).ok()
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the secret key to {}", to_hex(&self.public()))
    }
}

/// Puts the values into the parameters; hands back what has to be masked from now on.
pub(crate) fn fill(
    parameters: Value,
    sealed: &[v1::SealedSecret],
    key: Option<&SecretKey>,
) -> Result<(Value, Mask), TaskError> {
    let mut mask = Mask::default();
    let filled = filled(parameters, &mut |name| {
        let missing = || failure::SECRET_MISSING.business().with("name", name);
        let secret = sealed.iter().find(|secret| secret.name == name).ok_or_else(missing)?;
        let closed = || failure::SECRET_CLOSED.business().with("name", name);
        let value = key.and_then(|key| key.open(&secret.ciphertext)).ok_or_else(closed)?;
        mask.add(&value);
        Ok(value)
    })?;
    mask.0.sort_by_key(|needle| std::cmp::Reverse(needle.len()));
    Ok((filled, mask))
}

type Open<'a> = &'a mut dyn FnMut(&str) -> Result<String, TaskError>;

fn filled(value: Value, open: Open<'_>) -> Result<Value, TaskError> {
    Ok(match value {
        Value::String(text) => Value::String(filled_text(&text, open)?),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| filled(value, open)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| Ok((name, filled(value, open)?)))
                .collect::<Result<_, TaskError>>()?,
        ),
        other => other,
    })
}

fn filled_text(text: &str, open: Open<'_>) -> Result<String, TaskError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGINS) {
        let (before, after) = rest.split_at(at);
        let Some((name, behind)) = after[BEGINS.len()..].split_once('}') else { break };
        out.push_str(before);
        out.push_str(&open(name)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// What must not be said, the longest first.
#[derive(Clone, Default)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    /// The value, each line of one that has several, and each as it stands in JSON and in addresses.
    fn add(&mut self, value: &str) {
        for part in std::iter::once(value).chain(value.lines()) {
            let part = part.trim();
            if part.len() < SHORTEST {
                continue;
            }
            let quoted = Value::from(part).to_string();
            let in_json = quoted[1..quoted.len() - 1].to_owned();
            for form in [part.to_owned(), in_json, in_address(part)] {
                if !self.0.contains(&form) {
                    self.0.push(form);
                }
            }
        }
    }

    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for needle in &self.0 {
            if masked.contains(needle.as_str()) {
                masked = Cow::Owned(masked.replace(needle.as_str(), MASKED));
            }
        }
        masked
    }

    /// As [`Mask::text`], for a text whose end was cut off: the beginning of a secret may stand there.
    pub fn cut_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = self.text(text);
        let begun = self.0.iter().filter_map(|needle| {
            let ends = needle.char_indices().map(|(at, _)| at).rev();
            ends.into_iter().find(|at| *at >= SHORTEST && masked.contains(&needle[..*at])).map(|at| &needle[..at])
        });
        match begun.max_by_key(|begun| begun.len()) {
            Some(begun) => Cow::Owned(masked.replace(begun, MASKED)),
            None => masked,
        }
    }

    pub fn value(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(&text).into_owned()),
            Value::Array(values) => Value::Array(values.into_iter().map(|value| self.value(value)).collect()),
            Value::Object(fields) => Value::Object(
                fields.into_iter().map(|(name, value)| (self.text(&name).into_owned(), self.value(value))).collect(),
            ),
            // A secret that is a number.
            Value::Number(number) if self.0.contains(&number.to_string()) => Value::from(MASKED),
            other => other,
        }
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} masked", self.0.len())
    }
}

fn in_address(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sealed(key: &SecretKey, name: &str, value: &str) -> v1::SealedSecret {
        let ciphertext = key.0.public_key().seal(&mut OsRng, value.as_bytes()).expect("it can be sealed");
        v1::SealedSecret { name: name.to_owned(), ciphertext }
    }

    #[test]
    fn a_secret_is_put_where_the_parameters_name_it_and_masked_wherever_it_is_said() {
        let key = SecretKey::generate();
        let sealed = [sealed(&key, "token", "s3cr\"t/x"), sealed(&key, "pin", "123456"), sealed(&key, "few", "ab")];
        let parameters = json!({
            "header": "Bearer ${secret:token}", "list": ["${secret:pin}${secret:few}"], "n": 3, "open": "${secret:x"
        });
        let (filled, mask) = fill(parameters, &sealed, Some(&key)).expect("all are there");
        assert_eq!(filled["header"], "Bearer s3cr\"t/x");
        assert_eq!(filled["list"][0], "123456ab");
        assert_eq!(filled["open"], "${secret:x", "what is not a secret is left alone");
        let table = [
            ("plain", "plain"),
            ("the token is s3cr\"t/x!", "the token is ***!"),
            (r#"{"token": "s3cr\"t/x"}"#, r#"{"token": "***"}"#),
            ("?token=s3cr%22t%2Fx", "?token=***"),
            ("123456 and 1234567", "*** and ***7"),
            ("about", "about"),
        ];
        for (said, masked) in table {
            assert_eq!(mask.text(said), masked);
        }
        assert_eq!(mask.value(json!({"a": ["s3cr\"t/x", 123_456, 5]})), json!({"a": ["***", "***", 5]}));
        assert_eq!(mask.cut_text("… 12345"), "… ***");
    }

    #[test]
    fn each_line_of_a_secret_is_one() {
        let key = SecretKey::generate();
        let sealed = [sealed(&key, "pem", "-----BEGIN-----\nMIIEvQ\n-----END-----\n")];
        let (_, mask) = fill(json!("${secret:pem}"), &sealed, Some(&key)).expect("it is there");
        assert_eq!(mask.text("out: MIIEvQ"), "out: ***");
    }

    #[test]
    fn a_secret_that_is_missing_or_sealed_to_another_key_is_refused_by_its_name() {
        let (key, other) = (SecretKey::generate(), SecretKey::generate());
        let parameters = || json!({"p": "${secret:token}"});
        let code = |sealed: &[v1::SealedSecret], key: Option<&SecretKey>| {
            let error = fill(parameters(), sealed, key).map(|_| ()).expect_err("it is refused");
            assert!(error.message().contains("token"), "{}", error.message());
            error.code().unwrap_or_default().to_owned()
        };
        assert_eq!(code(&[], Some(&key)), failure::SECRET_MISSING.code);
        let sealed = [sealed(&other, "token", "value")];
        assert_eq!(code(&sealed, Some(&key)), failure::SECRET_CLOSED.code);
        assert_eq!(code(&sealed, None), failure::SECRET_CLOSED.code);
    }

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = SecretKey::generate();
        let again = SecretKey::from_hex(&format!(" {}\n", key.to_hex())).expect("a key");
        assert_eq!(again.public(), key.public());
        assert!(!format!("{key:?}").contains(&key.to_hex()));
        assert!(matches!(SecretKey::from_hex("00"), Err(KeyError::NotAKey)));
        assert!(matches!(SecretKey::from_hex("zz"), Err(KeyError::NotAKey)));
    }
}
