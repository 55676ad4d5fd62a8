//! Bounds on the work that is with executors at once, beside those of executors and jobs: one setting for all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Code, Fault, Words};

/// The setting under which they are kept.
pub const LIMITS: &str = "limits";

/// A bound may be anything from 1 to this.
pub const MOST_AT_ONCE: u32 = 1_000_000;

/// Tasks that are Pushed, Running or Overrun; what is not named is not bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// All that the node has given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// By the name of the executor group.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tenants: BTreeMap<String, u32>,
}

/// What a bound is on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "on", content = "name")]
pub enum LimitOn {
    Node,
    Group(String),
    Tenant(String),
}

impl Limits {
    /// What the setting says; without it nothing is bounded.
    pub fn of(setting: Option<serde_json::Value>) -> serde_json::Result<Limits> {
        setting.map_or_else(|| Ok(Limits::default()), serde_json::from_value)
    }

    /// Sets one, or lifts it.
    pub fn put(&mut self, on: &LimitOn, most: Option<u32>) {
        let put = |limits: &mut BTreeMap<String, u32>, name: &String| match most {
            Some(most) => limits.insert(name.clone(), most),
            None => limits.remove(name),
        };
        match on {
            LimitOn::Node => self.node = most,
            LimitOn::Group(name) => drop(put(&mut self.groups, name)),
            LimitOn::Tenant(name) => drop(put(&mut self.tenants, name)),
        }
    }

    /// Each that is set.
    pub fn all(&self) -> Vec<(LimitOn, u32)> {
        let node = self.node.map(|most| (LimitOn::Node, most));
        let groups = self.groups.iter().map(|(name, most)| (LimitOn::Group(name.clone()), *most));
        let tenants = self.tenants.iter().map(|(name, most)| (LimitOn::Tenant(name.clone()), *most));
        node.into_iter().chain(groups).chain(tenants).collect()
    }

    /// Everything that keeps them from being set.
    pub fn check(&self) -> Vec<Fault> {
        let named = |kind: &str, limits: &BTreeMap<String, u32>| {
            limits.iter().map(|(name, most)| (format!("{kind}.{name}"), *most)).collect::<Vec<_>>()
        };
        self.node
            .map(|most| ("node".to_owned(), most))
            .into_iter()
            .chain(named("groups", &self.groups))
            .chain(named("tenants", &self.tenants))
            .filter(|(_, most)| !(1..=MOST_AT_ONCE).contains(most))
            .map(|(field, most)| {
                let reason = Words::new(
                    format!("is {most}; it can be 1 to {MOST_AT_ONCE}"),
                    format!("为 {most}；可用范围是 1 到 {MOST_AT_ONCE}"),
                );
                Code::JobInvalid.fault().with("field", &field).with_words("reason", &reason).at(field)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_limit_is_set_and_lifted_without_the_others() {
        let mut limits: Limits = serde_json::from_value(json!({"groups": {"local": 4}})).unwrap();
        limits.put(&LimitOn::Tenant("acme".to_owned()), Some(2));
        limits.put(&LimitOn::Node, Some(9));
        limits.put(&LimitOn::Group("local".to_owned()), Some(5));
        let all =
            [(LimitOn::Node, 9), (LimitOn::Group("local".to_owned()), 5), (LimitOn::Tenant("acme".to_owned()), 2)];
        assert_eq!(limits.all(), all);
        limits.put(&LimitOn::Node, None);
        limits.put(&LimitOn::Group("local".to_owned()), None);
        limits.put(&LimitOn::Group("unknown".to_owned()), None);
        assert_eq!(limits.all(), all[2..]);
    }

    #[test]
    fn a_limit_of_nothing_is_refused_beside_its_name() {
        let read = |value| serde_json::from_value::<Limits>(value).map(|limits| limits.check());
        assert_eq!(read(json!({"node": 5, "groups": {"local": 1}, "tenants": {"acme": 10}})).unwrap(), []);
        let faults = read(json!({"node": 0, "tenants": {"acme": 0, "b": 2}})).unwrap();
        let fields: Vec<_> = faults.iter().filter_map(|fault| fault.field.as_deref()).collect();
        assert_eq!(fields, ["node", "tenants.acme"]);
        assert!(read(json!({"nodes": 5})).is_err());
        assert!(read(json!({"node": -1})).is_err());
    }
}
