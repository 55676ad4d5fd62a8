//! One sentence in the two languages that everything a person reads comes in.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Words {
    pub en: String,
    pub zh: String,
}

impl Words {
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Words { en: en.into(), zh: zh.into() }
    }

    /// Puts `value` where either sentence says `{name}`.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let slot = format!("{{{name}}}");
        self.en = self.en.replace(&slot, value);
        self.zh = self.zh.replace(&slot, value);
        self
    }
}
