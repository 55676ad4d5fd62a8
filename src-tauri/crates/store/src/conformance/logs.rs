//! Who keeps which part of a log.

use campanile_model::TaskId;
use futures::future::join_all;

use super::fixtures::*;
use super::upkeep::nothing;
use crate::{LogPart, Purge, Store};

fn part(task: TaskId, attempt: u32, part: u32, keeper: &str) -> LogPart {
    LogPart { task, attempt, part, keeper: keeper.to_owned(), since: at(i64::from(part)) }
}

pub async fn parts_of_logs_read_back_in_order_by_their_task(store: &dyn Store) {
    let (one, other, none) = (task_id(), task_id(), task_id());
    let first = [part(one, 2, 0, "a"), part(other, 1, 0, "钟楼#1"), part(one, 1, 1, "b")];
    store.note_log_parts(&first).await.unwrap();
    store.note_log_parts(&[part(one, 1, 0, "a")]).await.unwrap();
    store.note_log_parts(&[]).await.unwrap();
    let of_one = [part(one, 1, 0, "a"), part(one, 1, 1, "b"), part(one, 2, 0, "a")];
    assert_eq!(store.log_parts(&[one]).await.unwrap(), of_one);
    assert_eq!(store.log_parts(&[other]).await.unwrap(), [part(other, 1, 0, "钟楼#1")]);
    assert_eq!(store.log_parts(&[one, other, none]).await.unwrap().len(), 4);
    assert_eq!(store.log_parts(&[none]).await.unwrap(), []);
    assert_eq!(store.log_parts(&[]).await.unwrap(), []);
}

pub async fn of_two_that_note_the_same_part_the_first_stays(store: &dyn Store) {
    let task = task_id();
    store.note_log_parts(&[part(task, 1, 0, "a")]).await.unwrap();
    store.note_log_parts(&[part(task, 1, 0, "b"), part(task, 1, 1, "b")]).await.unwrap();
    assert_eq!(store.log_parts(&[task]).await.unwrap(), [part(task, 1, 0, "a"), part(task, 1, 1, "b")]);

    let keepers: Vec<String> = (0..8).map(|n| format!("node-{n}")).collect();
    let tasks: Vec<TaskId> = (0..20).map(|_| task_id()).collect();
    let of = |keeper: &String| tasks.iter().map(|task| part(*task, 1, 1, keeper)).collect();
    let several: Vec<Vec<LogPart>> = keepers.iter().map(of).collect();
    for noted in join_all(several.iter().map(|parts| store.note_log_parts(parts))).await {
        noted.unwrap();
    }
    let found = store.log_parts(&tasks).await.unwrap();
    assert_eq!(found.len(), 20, "{found:?}");
}

pub async fn parts_go_with_their_task(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (_, old) = succeeded(store, &lead, &job, 60).await;
    let (_, new) = succeeded(store, &lead, &job, 120).await;
    store.note_log_parts(&[part(old.id, 1, 0, "a"), part(old.id, 2, 1, "b"), part(new.id, 1, 0, "a")]).await.unwrap();
    let purge = Purge { instances_before: at(62), ..nothing() };
    store.purge(&lead, &purge).await.unwrap();
    assert_eq!(store.log_parts(&[old.id, new.id]).await.unwrap(), [part(new.id, 1, 0, "a")]);
}
