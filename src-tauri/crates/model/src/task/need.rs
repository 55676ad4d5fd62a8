//! What a task asks of whoever takes it. Tasks with equal needs can go, or have to wait, for the same reasons.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JobId;

/// The executor that a task is meant for, by its name within the group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Placement {
    pub executor: String,
    /// Nobody else will do (broadcast, picked by hand). Otherwise another is found once this one is gone.
    pub firm: bool,
}

/// What a task asks beside its group and processor; settled when it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// The executor has all of these.
    pub labels: BTreeMap<String, String>,
    pub placed: Option<Placement>,
    /// It works the disk.
    pub io: bool,
    pub tenant: Option<String>,
    /// So many tasks of its job go at once.
    pub limit: Option<u32>,
}

/// Everything that decides whether a ready task may go, in one key. Stores keep it as canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Need {
    pub group: String,
    pub processor: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placement>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub io: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<JobLimit>,
}

/// So many tasks of one job go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobLimit {
    pub job: JobId,
    pub most: u32,
}

impl Needs {
    /// The whole key of a task that asks this.
    pub fn of(&self, group: &str, processor: &str, job: JobId) -> Need {
        Need {
            group: group.to_owned(),
            processor: processor.to_owned(),
            labels: self.labels.clone(),
            placed: self.placed.clone(),
            io: self.io,
            tenant: self.tenant.clone(),
            limit: self.limit.map(|most| JobLimit { job, most }),
        }
    }
}

impl Need {
    pub fn needs(self) -> Needs {
        Needs {
            labels: self.labels,
            placed: self.placed,
            io: self.io,
            tenant: self.tenant,
            limit: self.limit.map(|limit| limit.most),
        }
    }

    /// The same for stores and for whoever compares.
    pub fn key(&self) -> String {
        serde_json::to_string(self).expect("names and numbers are JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_need_is_the_key_that_was_given_to_tasks_made_before_there_were_keys() {
        let job = JobId::new(1, [1; 10]);
        let plain = Needs::default().of("local", "shell", job);
        assert_eq!(plain.key(), r#"{"group":"local","processor":"shell"}"#);
        let needs = Needs {
            labels: BTreeMap::from([("disk".to_owned(), "ssd".to_owned())]),
            placed: Some(Placement { executor: "a".to_owned(), firm: true }),
            io: true,
            tenant: Some("acme".to_owned()),
            limit: Some(2),
        };
        let need = needs.of("g", "p", job);
        let read: Need = serde_json::from_str(&need.key()).expect("what was written");
        assert_eq!(read, need);
        assert_eq!(read.needs(), needs);
    }
}
