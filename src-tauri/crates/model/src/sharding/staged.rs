//! Data that was read from a file and waits for a run to take it.
//!
//! It is inert: nothing runs by it, and whoever reads the file may stop at any time. Once the whole of it is there, one
//! run may take it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{DataId, InstanceId, Timestamp};

/// The parameter under which a job, or a run, has its data.
pub const DATA: &str = "data";

/// Where the data of a run is none itself but names some that is staged: `{"data": {"staged": "…"}}`.
const STAGED: &str = "staged";

/// What is known of staged data. Stores keep it whole, beside what they look for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Staged {
    pub id: DataId,
    /// Who reads it.
    pub by: String,
    /// When it was written last.
    pub at: Timestamp,
    /// The name of the file, for people.
    pub source: String,
    /// Of the file, in hexadecimal digits.
    pub sha256: String,
    pub items: u64,
    pub levels: u32,
    /// All of it is there.
    pub whole: bool,
    /// The run that has taken it.
    pub instance: Option<InstanceId>,
}

/// What a run has under [`DATA`] where it takes staged data.
pub fn naming(data: DataId) -> Value {
    json!({STAGED: data})
}

/// The staged data that a run takes, by its parameters.
pub fn named(parameters: &Map<String, Value>) -> Option<DataId> {
    parameters.get(DATA)?.as_object()?.get(STAGED)?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_the_data_that_it_takes() {
        let id = DataId::new(1_000, [7; 10]);
        let parameters = Map::from_iter([(DATA.to_owned(), naming(id))]);
        assert_eq!(named(&parameters), Some(id));
        for other in [json!([[1]]), json!({"staged": 5}), json!({"staged": "x"}), json!(null)] {
            assert_eq!(named(&Map::from_iter([(DATA.to_owned(), other.clone())])), None, "{other}");
        }
        assert_eq!(named(&Map::new()), None);
    }
}
