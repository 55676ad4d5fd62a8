//! Which executor a task is meant for, where its job or a person says more than "someone". Pure.

use campanile_model::instance::Instance;
use campanile_model::job::{JobSpec, Mode, Route};
use campanile_model::task::{Needs, Placement};
use serde_json::{Map, Value};

/// What the job asks of whoever takes its tasks; without a place.
pub fn needs_of(spec: &JobSpec) -> Needs {
    Needs {
        labels: spec.labels.clone(),
        placed: None,
        io: spec.io,
        tenant: spec.tenant.clone(),
        limit: spec.max_concurrent,
    }
}

/// The places of an instance's tasks, one for each. `live` are the executors that could take it, in order; `last` is
/// the one that had the job's last task. None: it is a broadcast and nobody is there.
pub fn places(
    spec: &JobSpec,
    instance: &Instance,
    live: &[String],
    last: Option<&String>,
) -> Option<Vec<Option<Placement>>> {
    let firm = |executor: &String| Some(Placement { executor: executor.clone(), firm: true });
    let soft = |executor: String| Placement { executor, firm: false };
    if let Some(picked) = &instance.executor {
        return Some(vec![firm(picked)]);
    }
    match (spec.mode, spec.route) {
        (Mode::Broadcast, _) if live.is_empty() => None,
        (Mode::Broadcast, _) => Some(live.iter().map(firm).collect()),
        (_, Route::ConsistentHash) => Some(vec![hashed(spec, instance, live).map(soft)]),
        (_, Route::Sticky) => Some(vec![last.filter(|last| live.contains(last)).cloned().map(soft)]),
        _ => Some(vec![None]),
    }
}

/// The executor that the value of the job's hash key belongs to; none where the job does not go by one.
///
/// Each executor draws a number out of its name and the value, and the highest has it: when one leaves only its own
/// values move, and when one joins it takes its share from all.
pub fn hashed(spec: &JobSpec, instance: &Instance, live: &[String]) -> Option<String> {
    if spec.route != Route::ConsistentHash {
        return None;
    }
    let own: Option<Map<String, Value>> = instance.parameters.as_ref().and_then(|own| serde_json::from_str(own).ok());
    let parameters = own.as_ref().unwrap_or(&spec.parameters);
    let value = spec.hash_key.as_ref().and_then(|key| parameters.get(key)).unwrap_or(&Value::Null).to_string();
    live.iter().max_by_key(|name| (drawn(name, &value), *name)).cloned()
}

/// FNV-1a over both, stirred so that names that differ little draw numbers that differ much.
fn drawn(name: &str, value: &str) -> u64 {
    let bytes = name.bytes().chain([0xff]).chain(value.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use campanile_store::conformance::fixtures;
    use serde_json::json;

    use super::*;

    fn spec(fields: &Value) -> JobSpec {
        let mut document = json!({"name": "j", "processor": "p", "schedule": {"kind": "manual"}});
        for (key, value) in fields.as_object().expect("an object") {
            document[key.as_str()] = value.clone();
        }
        serde_json::from_value(document).expect("a job")
    }

    fn names(n: usize) -> Vec<String> {
        (1..=n).map(|n| format!("host-{n}")).collect()
    }

    #[test]
    fn mode_route_and_a_persons_pick_decide_where_tasks_are_meant_for() {
        let instance = fixtures::instance(&fixtures::job("j"), 60);
        let picked = Instance { executor: Some("host-9".to_owned()), ..instance.clone() };
        let broadcast = spec(&json!({"mode": "broadcast"}));
        let sticky = spec(&json!({"route": "sticky"}));
        let place = |executor: &str, firm| Some(Placement { executor: executor.to_owned(), firm });
        let last = "host-2".to_owned();
        let gone = "host-7".to_owned();
        assert_eq!(places(&spec(&json!({})), &instance, &names(2), Some(&last)), Some(vec![None]));
        assert_eq!(
            places(&broadcast, &instance, &names(2), None),
            Some(vec![place("host-1", true), place("host-2", true)])
        );
        assert_eq!(places(&broadcast, &instance, &[], None), None);
        assert_eq!(places(&broadcast, &picked, &[], None), Some(vec![place("host-9", true)]));
        assert_eq!(places(&sticky, &instance, &names(3), Some(&last)), Some(vec![place("host-2", false)]));
        assert_eq!(places(&sticky, &instance, &names(3), Some(&gone)), Some(vec![None]));
        assert_eq!(places(&sticky, &instance, &names(3), None), Some(vec![None]));
    }

    #[test]
    fn a_value_keeps_its_executor_while_others_come_and_go() {
        let spec = spec(&json!({"route": "consistentHash", "hashKey": "customer"}));
        let at = |customer: usize, live: &[String]| {
            let parameters = json!({"customer": customer}).to_string();
            let instance = Instance { parameters: Some(parameters), ..fixtures::instance(&fixtures::job("j"), 60) };
            hashed(&spec, &instance, live).expect("somebody is there")
        };
        let five = names(5);
        let four = &five[..4];
        let mut shares: BTreeMap<String, usize> = BTreeMap::new();
        let mut moved = 0;
        for customer in 0..1000 {
            let (before, after) = (at(customer, &five), at(customer, four));
            assert!(before == after || before == "host-5", "{customer} moved from {before} to {after}");
            moved += usize::from(before != after);
            *shares.entry(before).or_default() += 1;
        }
        assert_eq!(shares.len(), 5);
        assert!(shares.values().all(|share| (140..260).contains(share)), "{shares:?}");
        assert_eq!(moved, shares["host-5"]);
    }
}
