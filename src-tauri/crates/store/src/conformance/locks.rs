//! Tokens that only grow, and what nodes say of the locks that are held through them.

use std::collections::BTreeSet;

use campanile_model::lock::{LockBoard, LockClaim, LockHeld};
use campanile_model::task::ExecutorRef;
use futures::future::join_all;

use super::fixtures::*;
use crate::Store;

pub async fn tokens_of_a_lock_only_grow(store: &dyn Store) {
    let mut last = 0;
    for other in ["b", "a/b", "日报", "A", " a"] {
        let token = store.next_token("a").await.unwrap();
        assert!(token > last, "{token} after {last}");
        last = token;
        assert!(store.next_token(other).await.unwrap() > 0);
    }
}

pub async fn of_many_who_ask_at_once_each_gets_a_token_of_its_own(store: &dyn Store) {
    let tokens: Vec<u64> =
        join_all((0..40).map(|_| store.next_token("a"))).await.into_iter().map(Result::unwrap).collect();
    let different: BTreeSet<u64> = tokens.iter().copied().collect();
    assert_eq!(different.len(), 40, "{tokens:?}");
    assert!(store.next_token("a").await.unwrap() > *different.last().unwrap());
}

fn board(node: &str, seen: i64) -> LockBoard {
    let executor = ExecutorRef { group: "g".into(), name: "e".into(), boot: "b".into() };
    let claim = |held| LockClaim {
        lock: "日报/\"1\"".into(),
        executor: executor.clone(),
        task: "t".into(),
        attempt: 2,
        since: at(seen - 1),
        until: at(seen + 30),
        held,
    };
    LockBoard {
        node: node.into(),
        seen_at: at(seen),
        claims: vec![claim(Some(LockHeld { token: 1 << 40, count: 2, watched: true })), claim(None)],
        left_out: 3,
    }
}

pub async fn a_board_reads_back_as_it_was_last_written_and_is_forgotten_when_long_unseen(store: &dyn Store) {
    store.put_lock_board(&board("b", 1), at(0)).await.unwrap();
    store.put_lock_board(&board("a", 5), at(0)).await.unwrap();
    store.put_lock_board(&board("b", 6), at(0)).await.unwrap();
    assert_eq!(store.lock_boards().await.unwrap(), [board("a", 5), board("b", 6)]);
    store.put_lock_board(&board("c", 7), at(6)).await.unwrap();
    assert_eq!(store.lock_boards().await.unwrap(), [board("b", 6), board("c", 7)]);
}
