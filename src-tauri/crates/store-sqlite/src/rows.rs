//! Between rows and the nouns of the model, and many rows as one parameter.

use campanile_model::secret::to_hex;
pub(crate) use campanile_store_sql::*;
use serde_json::{Value, json};

/// Ids as JSON parameters carry them; the statement says `unhex`.
pub(crate) trait Hex {
    fn hex(self) -> String;
}

impl<I: Id> Hex for I {
    fn hex(self) -> String {
        to_hex(&self.blob())
    }
}

/// A row as JSON parameters carry it.
pub(crate) fn carried(row: Row) -> Value {
    row.into_iter()
        .map(|cell| match cell {
            Cell::Null => Value::Null,
            Cell::Number(number) => json!(number),
            Cell::Bytes(bytes) => json!(to_hex(&bytes)),
            Cell::Text(text) => json!(text),
        })
        .collect()
}

/// A list of ids as one parameter.
pub(crate) fn hexes<I: Id>(ids: impl IntoIterator<Item = I>) -> String {
    Value::from(ids.into_iter().map(Hex::hex).collect::<Vec<_>>()).to_string()
}

/// Rows as one parameter.
pub(crate) fn batch(rows: Vec<Value>) -> String {
    Value::Array(rows).to_string()
}

/// Long texts of many rows as one parameter, out of which the statement cuts each: as JSON every byte of them would be
/// written, read and copied once more.
#[derive(Default)]
pub(crate) struct Texts(Vec<u8>);

impl Texts {
    /// Items, one in a line; hands back where they begin, counted from 1, and how long they are.
    pub fn add_lines(&mut self, items: &[String]) -> [usize; 2] {
        let before = self.0.len();
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.0.push(b'\n');
            }
            self.0.extend_from_slice(item.as_bytes());
        }
        [before + 1, self.0.len() - before]
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}
