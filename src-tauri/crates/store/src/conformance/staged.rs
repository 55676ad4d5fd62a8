//! Staged data: read from a file, waiting for a run, taken or let go.

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::sharding::{Chunk, ShardRun, Staged};
use campanile_model::{DataId, InstanceId};

use super::fixtures::*;
use super::upkeep::nothing;
use crate::{Change, Lead, Purge, ShardWrite, Store, Taken};

fn data_id(n: u8) -> DataId {
    DataId::new(1_000_000 + i64::from(n), [n; 10])
}

fn staged(n: u8, seconds: i64) -> Staged {
    Staged {
        id: data_id(n),
        by: "mei".to_owned(),
        at: at(seconds),
        source: "客户.csv".to_owned(),
        sha256: "00ff".to_owned(),
        items: 0,
        levels: 0,
        whole: false,
        instance: None,
    }
}

fn chunk(level: u32, first: u64, items: &[&str]) -> Chunk {
    Chunk { draft: 0, level, first, items: items.iter().map(|item| (*item).to_owned()).collect() }
}

/// Whole data of three items.
async fn whole(store: &dyn Store, n: u8, seconds: i64) -> Staged {
    let staged = Staged { items: 3, levels: 2, whole: true, ..staged(n, seconds) };
    let chunks = [chunk(0, 0, &["1", "2"]), chunk(1, 0, &["3"])];
    assert_eq!(store.stage(&staged, &chunks).await.unwrap(), Taken::Done);
    staged
}

async fn instance_of(store: &dyn Store, lead: &Lead, name: &str) -> Instance {
    let job = saved(store, lead, name).await;
    launched(store, lead, &job, 60).await
}

async fn takes(store: &dyn Store, lead: &Lead, data: DataId, instance: InstanceId) -> Taken {
    carry_out(store, lead, vec![Change::TakeStaged { data, instance }]).await
}

pub async fn data_that_is_read_comes_back_in_order_and_is_whole_once(store: &dyn Store) {
    let first = staged(1, 60);
    assert_eq!(store.staged(first.id).await.unwrap(), None);
    assert_eq!(store.stage(&first, &[]).await.unwrap(), Taken::Done);
    assert_eq!(store.staged(first.id).await.unwrap(), Some(first.clone()));
    let chunks = [chunk(1, 0, &[r#"{"a":"错\n"}"#]), chunk(0, 2, &["3"]), chunk(0, 0, &["1", "2"])];
    assert_eq!(store.stage(&Staged { at: at(61), ..first.clone() }, &chunks).await.unwrap(), Taken::Done);
    // What was written may be written again.
    let again = [chunk(0, 2, &["changed"])];
    let done = Staged { at: at(62), items: 4, levels: 2, whole: true, ..first.clone() };
    assert_eq!(store.stage(&done, &again).await.unwrap(), Taken::Done);
    assert_eq!(store.stage(&done, &[chunk(5, 0, &["late"])]).await.unwrap(), Taken::Lost);
    assert_eq!(store.staged(first.id).await.unwrap(), Some(done));
    let [third, second, first_chunk] = chunks;
    let in_order = [first_chunk, second, third];
    assert_eq!(store.staged_chunks(first.id, 9).await.unwrap(), in_order);
    assert_eq!(store.staged_chunks(first.id, 2).await.unwrap(), in_order[..2]);
    assert_eq!(store.staged_chunks(data_id(2), 9).await.unwrap(), []);
}

pub async fn one_run_takes_it_and_only_whole(store: &dyn Store) {
    let lead = lead(store).await;
    let (one, two) = (instance_of(store, &lead, "one").await.id, instance_of(store, &lead, "two").await.id);
    assert_eq!(takes(store, &lead, data_id(1), one).await, Taken::Lost);
    store.stage(&staged(1, 60), &[chunk(0, 0, &["1"])]).await.unwrap();
    assert_eq!(takes(store, &lead, data_id(1), one).await, Taken::Lost);
    let done = Staged { whole: true, items: 1, levels: 1, ..staged(1, 61) };
    store.stage(&done, &[]).await.unwrap();
    assert_eq!(takes(store, &lead, done.id, one).await, Taken::Done);
    assert_eq!(takes(store, &lead, done.id, two).await, Taken::Lost);
    assert_eq!(store.staged(done.id).await.unwrap(), Some(Staged { instance: Some(one), ..done.clone() }));
    assert_eq!(store.discard_staged(done.id).await.unwrap(), Taken::Lost);
}

pub async fn what_a_run_takes_goes_from_there_in_one_write(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = instance_of(store, &lead, "import").await;
    let data = whole(store, 1, 60).await.id;
    let other = whole(store, 2, 60).await.id;
    let begins = ShardWrite { begins: Some(at(61)), ..ShardWrite::of(ShardRun::new(instance.id)) };
    assert_eq!(store.conduct(&lead, &begins).await.unwrap(), Taken::Done);
    let run = store.shard_run(instance.id).await.unwrap().unwrap();
    let first = store.staged_chunks(data, 1).await.unwrap();
    let write = ShardWrite { data: first.clone(), takes: Some((data, (0, 2))), ..ShardWrite::of(run.clone()) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Done);
    // Seen as it was before: nothing of it is written.
    let all = ShardWrite { takes: Some((data, (9, 0))), ..write };
    assert_eq!(store.conduct(&lead, &all).await.unwrap(), Taken::Lost);
    assert_eq!(store.chunks(instance.id, 0, (0, 0), 9).await.unwrap(), first);
    let rest = store.staged_chunks(data, 9).await.unwrap();
    assert_eq!(rest, [chunk(1, 0, &["3"])]);
    let run = store.shard_run(instance.id).await.unwrap().unwrap();
    let write =
        ShardWrite { data: rest, takes: Some((data, (1, 1))), ..ShardWrite::of(ShardRun { loaded: true, ..run }) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Done);
    assert_eq!(store.staged_chunks(data, 9).await.unwrap(), []);
    assert_eq!(store.level_sizes(instance.id, 0).await.unwrap(), [(0, 2), (1, 1)]);
    assert!(store.shard_run(instance.id).await.unwrap().unwrap().loaded);
    assert_eq!(store.staged_chunks(other, 9).await.unwrap().len(), 2);
}

pub async fn what_is_discarded_is_gone_and_its_chunks_go_bit_by_bit(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = instance_of(store, &lead, "import").await.id;
    let data = whole(store, 1, 60).await.id;
    assert_eq!(store.discard_staged(data).await.unwrap(), Taken::Done);
    assert_eq!(store.discard_staged(data).await.unwrap(), Taken::Lost);
    assert_eq!(store.staged(data).await.unwrap(), None);
    assert_eq!(takes(store, &lead, data, instance).await, Taken::Lost);
    assert_eq!(store.stage(&staged(1, 70), &[chunk(7, 0, &["late"])]).await.unwrap(), Taken::Lost);
    // Ten in a hundred of what a step may take, for these are large: the two chunks, then what is known of them.
    let step = Purge { limit: 10, staged_before: at(0), ..nothing() };
    assert_eq!(store.purge(&lead, &step).await.unwrap().others, 1);
    assert_eq!(store.staged_chunks(data, 9).await.unwrap().len(), 1);
    assert_eq!(store.purge(&lead, &step).await.unwrap().others, 1);
    assert_eq!(store.purge(&lead, &step).await.unwrap().others, 1);
    assert_eq!(store.purge(&lead, &step).await.unwrap().others, 0);
    assert_eq!(store.staged_chunks(data, 9).await.unwrap(), []);
}

pub async fn what_lies_for_long_goes_unless_a_run_waits_for_it(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = instance_of(store, &lead, "import").await.id;
    let (left, taken, new) = (whole(store, 1, 60).await, whole(store, 2, 60).await, whole(store, 3, 500).await);
    assert_eq!(takes(store, &lead, taken.id, instance).await, Taken::Done);
    let before = Purge { staged_before: at(400), ..nothing() };
    while store.purge(&lead, &before).await.unwrap().others > 0 {}
    let there = |data: DataId| async move { store.staged(data).await.unwrap().is_some() };
    assert_eq!([there(left.id).await, there(taken.id).await, there(new.id).await], [false, true, true]);
    assert_eq!(store.staged_chunks(taken.id, 9).await.unwrap().len(), 2);
    // The run ended before it had all of it.
    assert!(store.end_unassigned(&lead, &moves(instance, InstanceState::Cancelled, 61)).await.unwrap());
    while store.purge(&lead, &before).await.unwrap().others > 0 {}
    assert_eq!([there(taken.id).await, there(new.id).await], [false, true]);
    assert_eq!(store.staged_chunks(taken.id, 9).await.unwrap(), []);
}
