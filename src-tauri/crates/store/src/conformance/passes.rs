//! Passes: kept by their digest, for as long as they hold.

use campanile_model::Timestamp;
use campanile_model::pass::Pass;
use campanile_model::request::{Person, Role};

use super::fixtures::*;
use super::upkeep::nothing;
use crate::{CarriedOut, Change, Purge, Purged, Store, StoreError, Taken};

fn digest(letter: &str) -> String {
    letter.repeat(64)
}

fn pass(letter: &str, name: &str, role: Role, until: Timestamp) -> Pass {
    Pass { digest: digest(letter), who: Person { name: name.to_owned(), role }, until }
}

pub async fn a_pass_reads_back_as_it_was_given_last(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.pass(&digest("a")).await.unwrap(), None);
    let (mei, li) = (pass("a", "mei", Role::Viewer, at(900)), pass("b", "李雷", Role::Admin, at(901)));
    store.put_pass(&lead, &mei).await.unwrap();
    store.put_pass(&lead, &li).await.unwrap();
    assert_eq!(store.pass(&digest("a")).await.unwrap(), Some(mei.clone()));
    assert_eq!(store.pass(&digest("b")).await.unwrap(), Some(li));
    let renewed = Pass { until: at(1500), ..mei };
    store.put_pass(&lead, &renewed).await.unwrap();
    assert_eq!(store.pass(&digest("a")).await.unwrap(), Some(renewed));
    assert_eq!(store.pass(&digest("A")).await.unwrap(), None);
    assert_eq!(store.pass("").await.unwrap(), None);
}

pub async fn a_pass_is_given_with_the_answer_to_its_request_or_not_at_all(store: &dyn Store) {
    let lead = lead(store).await;
    let given = pass("a", "mei", Role::Operator, at(900));
    let unasked = request();
    let outcome = |request, pass: &Pass| CarriedOut {
        request,
        changes: vec![Change::PutPass(pass.clone())],
        answer: done(),
        audit: Vec::new(),
    };
    assert_eq!(store.carry_out(&lead, &outcome(unasked.id, &given)).await.unwrap(), Taken::Lost);
    assert_eq!(store.pass(&given.digest).await.unwrap(), None);
    for until in [at(900), at(1700)] {
        let asked = request();
        store.ask(&asked).await.unwrap();
        let given = Pass { until, ..given.clone() };
        assert_eq!(store.carry_out(&lead, &outcome(asked.id, &given)).await.unwrap(), Taken::Done);
        assert_eq!(store.pass(&given.digest).await.unwrap(), Some(given));
    }
}

pub async fn a_node_that_does_not_lead_gives_no_pass(store: &dyn Store) {
    let lead = lead(store).await;
    store.release_lease(&lead).await.unwrap();
    let refused = store.put_pass(&lead, &pass("a", "node", Role::Viewer, at(900))).await;
    assert!(matches!(refused, Err(StoreError::Fenced(_))), "{refused:?}");
    assert_eq!(store.pass(&digest("a")).await.unwrap(), None);
}

pub async fn passes_that_ran_out_go_in_small_steps(store: &dyn Store) {
    let lead = lead(store).await;
    for (letter, until) in [("a", 10), ("b", 20), ("c", 30), ("d", 40)] {
        store.put_pass(&lead, &pass(letter, "mei", Role::Viewer, at(until))).await.unwrap();
    }
    let purge = Purge { passes_before: at(40), limit: 2, ..nothing() };
    for others in [2, 1, 0] {
        assert_eq!(store.purge(&lead, &purge).await.unwrap(), Purged { others, ..Purged::default() });
    }
    assert_eq!(store.pass(&digest("c")).await.unwrap(), None);
    assert_eq!(store.pass(&digest("d")).await.unwrap(), Some(pass("d", "mei", Role::Viewer, at(40))));
}
