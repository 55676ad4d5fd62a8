//! Executors, written down for everyone else.

use std::collections::BTreeMap;

use campanile_model::Words;
use campanile_model::executor::{Drain, ExecutorEntry, HostedProcessor, MachineReading};
use campanile_model::task::ExecutorRef;

use super::fixtures::*;
use crate::{Change, Store, Taken};

fn entry(group: &str, name: &str, second: i64) -> ExecutorEntry {
    ExecutorEntry {
        executor: ExecutorRef { group: group.to_owned(), name: name.to_owned(), boot: format!("boot-{second}") },
        node: "node-a".to_owned(),
        embedded: false,
        processors: vec![HostedProcessor {
            name: "shell".to_owned(),
            title: Words::new("Shell", "命令"),
            methods: vec!["process".to_owned()],
        }],
        labels: BTreeMap::from([("zone".to_owned(), "a".to_owned())]),
        capacity: 4,
        queue: 4,
        in_hand: 3,
        running: 2,
        version: "0.1.0".to_owned(),
        public_key: "00ff".to_owned(),
        machine: Some(MachineReading { cpu_percent: Some(12.5), ..MachineReading::default() }),
        connected: true,
        draining: false,
        since: at(second),
        heard_at: at(second),
        gone_at: None,
        disregarded: 1,
        ended: 20,
        ended_took_ms: 900,
    }
}

fn drain(group: &str, name: &str, drain: Option<Drain>) -> Change {
    Change::DrainExecutor { group: group.to_owned(), name: name.to_owned(), drain }
}

pub async fn an_executor_reads_back_as_it_was_last_seen(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.executors().await.unwrap(), []);
    let (one, two) = (entry("local", "b", 0), entry("local", "a", 0));
    let other = entry("etl", "z", 0);
    store.put_executors(&lead, &[one.clone(), two.clone(), other.clone()], at(-60)).await.unwrap();
    let all = vec![(other, None), (two, None), (one.clone(), None)];
    assert_eq!(store.executors().await.unwrap(), all);
    let again = ExecutorEntry { gone_at: Some(at(9)), machine: None, ..entry("local", "b", 0) };
    store.put_executors(&lead, std::slice::from_ref(&again), at(-60)).await.unwrap();
    assert_eq!(store.executors().await.unwrap()[2], (again, None));
}

pub async fn what_drains_an_executor_outlives_its_lives(store: &dyn Store) {
    let lead = lead(store).await;
    let why = Drain { by: "mei".to_owned(), reason: "new disk".to_owned(), since: at(3) };
    assert_eq!(carry_out(store, &lead, vec![drain("local", "a", Some(why.clone()))]).await, Taken::Lost);
    store.put_executors(&lead, &[entry("local", "a", 0)], at(-60)).await.unwrap();
    assert_eq!(carry_out(store, &lead, vec![drain("local", "a", Some(why.clone()))]).await, Taken::Done);
    let next = entry("local", "a", 9);
    store.put_executors(&lead, std::slice::from_ref(&next), at(-60)).await.unwrap();
    assert_eq!(store.executors().await.unwrap(), [(next.clone(), Some(why))]);
    assert_eq!(carry_out(store, &lead, vec![drain("local", "a", None)]).await, Taken::Done);
    assert_eq!(store.executors().await.unwrap(), [(next, None)]);
}

pub async fn one_that_has_long_been_gone_is_forgotten(store: &dyn Store) {
    let lead = lead(store).await;
    let gone = |name: &str, second| ExecutorEntry { gone_at: Some(at(second)), ..entry("local", name, 0) };
    let all = [gone("long", 10), gone("lately", 20), entry("local", "there", 0)];
    store.put_executors(&lead, &all, at(0)).await.unwrap();
    assert_eq!(store.executors().await.unwrap().len(), 3);
    store.put_executors(&lead, &[], at(20)).await.unwrap();
    let names: Vec<String> = store.executors().await.unwrap().into_iter().map(|(one, _)| one.executor.name).collect();
    assert_eq!(names, ["lately", "there"]);
}

pub async fn one_that_has_moved_or_come_back_is_not_written_down_as_gone(store: &dyn Store) {
    let lead = lead(store).await;
    let first = entry("local", "a", 0);
    let moved = ExecutorEntry { node: "node-b".to_owned(), ..entry("local", "a", 0) };
    let gone = |of: &ExecutorEntry| ExecutorEntry { gone_at: Some(at(9)), connected: false, ..of.clone() };
    let back = entry("local", "a", 5);
    for there in [&moved, &back] {
        store.put_executors(&lead, std::slice::from_ref(there), at(-60)).await.unwrap();
        let others = entry("local", "z", 0);
        store.put_executors(&lead, &[gone(&first), others.clone()], at(-60)).await.unwrap();
        assert_eq!(store.executors().await.unwrap(), [(there.clone(), None), (others, None)]);
    }
    store.put_executors(&lead, &[gone(&back)], at(-60)).await.unwrap();
    assert_eq!(store.executors().await.unwrap()[0], (gone(&back), None));
}
