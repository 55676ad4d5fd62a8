//! The promises of the lock table, and of the library on top of it, as tests that every backend runs.
//!
//! Leases are short here and nobody sleeps through one: who waits for a lock is woken by its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{Either, join, select};

use crate::Clock;
use crate::locks::{Entered, Entry, Fences, Keep, LEASE, LockError, LockName, LockTable, Locks, Owner, Result, Wish};

/// An empty table, and the clock by which its users wait.
#[derive(Clone)]
pub struct Fresh {
    pub table: Arc<dyn LockTable>,
    pub clock: Arc<dyn Clock>,
    /// A lease that ends soon, and yet not before a busy machine has done a few steps.
    pub short: Duration,
}

#[macro_export]
macro_rules! locks_conformance {
    ($time:ident, $fresh:path) => {
        $crate::cases! { $time locks $fresh;
            a_lock_has_one_owner,
            an_owner_enters_again_and_leaves_as_often,
            what_one_does_not_hold_one_cannot_leave,
            entering_twice_under_one_number_is_entering_once,
            an_owner_that_has_gone_over_is_left_by_its_new_keeper_alone,
            a_holding_goes_on_with_its_token_through_another_keeper,
            a_wish_that_is_withdrawn_leaves_nothing_behind,
            a_watched_entry_outlives_one_with_a_lease_of_its_own,
            a_lock_ends_by_itself,
            entering_again_and_leaving_lengthen_the_lease,
            a_renewed_lock_goes_on,
            a_lock_that_is_left_wakes_the_one_who_waits,
            who_waits_in_vain_is_told_who_has_it,
            a_token_is_that_of_the_holding,
            tokens_grow_in_the_order_of_the_holdings,
            one_that_lost_it_before_its_token_came_waits_anew,
            the_watchdog_keeps_a_lock,
            a_lost_lock_is_told_to_its_holder,
            an_explicit_lease_is_not_renewed,
            several_are_taken_together_or_none,
            two_who_want_the_same_ones_both_get_them,
            people_see_holders_and_waiters,
            people_may_break_a_lock,
            many_at_once_are_one_at_a_time,
        }
    };
}

/// Tokens of one process: what a store gives, without a store.
#[derive(Default)]
pub struct CountingFences(Mutex<HashMap<LockName, u64>>);

#[async_trait]
impl Fences for CountingFences {
    async fn next(&self, lock: &LockName) -> Result<u64> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let token = last.entry(lock.clone()).or_default();
        *token += 1;
        Ok(*token)
    }
}

const LONG: Duration = Duration::from_secs(10);

fn name(name: &str) -> LockName {
    LockName::new(name).expect("a good name")
}

fn owner(name: &str) -> Owner {
    Owner(name.to_owned())
}

/// One time that the owner enters, through `keeper`.
fn entry(who: &str, number: u64, keeper: &str) -> Entry {
    Entry { owner: owner(who), number, keeper: keeper.to_owned() }
}

fn library(fresh: &Fresh) -> Locks {
    library_of(fresh, "k", &Arc::new(CountingFences::default()))
}

fn library_of(fresh: &Fresh, keeper: &str, fences: &Arc<CountingFences>) -> Locks {
    Locks::new(fresh.table.clone(), fences.clone(), fresh.clock.clone(), keeper)
}

async fn enter(fresh: &Fresh, lock: &LockName, who: &str, lease: Duration) -> Entered {
    enter_again(fresh, lock, who, 1, lease).await
}

async fn enter_again(fresh: &Fresh, lock: &LockName, who: &str, number: u64, lease: Duration) -> Entered {
    fresh.table.enter(lock, &entry(who, number, "k"), lease, None).await.expect("an answer")
}

/// Waits until the holder's time is over, as `who`.
async fn outwait(fresh: &Fresh, lock: &LockName, who: &str) -> crate::locks::Holding {
    library(fresh).take(lock, &owner(who), Keep::For(LONG), LONG).await.expect("free in the end")
}

pub async fn a_lock_has_one_owner(fresh: &Fresh) {
    let lock = name("a");
    assert_eq!(enter(fresh, &lock, "one", LONG).await, Entered::Ours { count: 1, token: None });
    let Entered::Theirs { owner: holder, left } = enter(fresh, &lock, "two", LONG).await else {
        panic!("two owners of one lock");
    };
    assert_eq!(holder, owner("one"));
    assert!(left <= LONG && left > LONG / 2, "{left:?}");
    assert_eq!(enter(fresh, &name("b"), "two", LONG).await, Entered::Ours { count: 1, token: None }, "another lock");
}

pub async fn an_owner_enters_again_and_leaves_as_often(fresh: &Fresh) {
    let lock = name("a");
    for number in 1..=3 {
        let count = u32::try_from(number).expect("a small number");
        assert_eq!(enter_again(fresh, &lock, "one", number, LONG).await, Entered::Ours { count, token: None });
    }
    for (number, left) in [(2, 2), (1, 1)] {
        assert_eq!(fresh.table.leave(&lock, &entry("one", number, "k"), LONG).await.expect("left"), left);
        assert!(matches!(enter(fresh, &lock, "two", LONG).await, Entered::Theirs { .. }), "still held");
    }
    assert_eq!(fresh.table.leave(&lock, &entry("one", 3, "k"), LONG).await.expect("left"), 0);
    assert_eq!(enter(fresh, &lock, "two", LONG).await, Entered::Ours { count: 1, token: None });
}

pub async fn what_one_does_not_hold_one_cannot_leave(fresh: &Fresh) {
    let lock = name("a");
    let refused = |answer: Result<()>| assert!(matches!(answer, Err(LockError::NotHeld { .. })), "{answer:?}");
    let two = owner("two");
    refused(fresh.table.leave(&lock, &entry("two", 1, "k"), LONG).await.map(|_| ()));
    enter(fresh, &lock, "one", LONG).await;
    refused(fresh.table.leave(&lock, &entry("two", 1, "k"), LONG).await.map(|_| ()));
    refused(fresh.table.leave(&lock, &entry("one", 2, "k"), LONG).await.map(|_| ()));
    refused(fresh.table.adopt(&lock, &entry("two", 1, "k"), None).await.map(|_| ()));
    refused(fresh.table.adopt(&lock, &entry("one", 2, "k"), None).await.map(|_| ()));
    refused(fresh.table.renew(&lock, &two, LONG).await);
    refused(fresh.table.stamp(&lock, &two, 7, LONG).await);
    assert_eq!(fresh.table.leave(&lock, &entry("one", 1, "k"), LONG).await.expect("its own"), 0);
    refused(fresh.table.leave(&lock, &entry("one", 1, "k"), LONG).await.map(|_| ()));
}

pub async fn entering_twice_under_one_number_is_entering_once(fresh: &Fresh) {
    let lock = name("a");
    for _ in 0..2 {
        assert_eq!(enter(fresh, &lock, "one", LONG).await, Entered::Ours { count: 1, token: None });
    }
    assert_eq!(fresh.table.leave(&lock, &entry("one", 1, "k"), LONG).await.expect("left"), 0);
}

pub async fn an_owner_that_has_gone_over_is_left_by_its_new_keeper_alone(fresh: &Fresh) {
    let lock = name("a");
    let (before, after) = (entry("one", 1, "k"), entry("one", 1, "l"));
    enter(fresh, &lock, "one", LONG).await;
    fresh.table.stamp(&lock, &owner("one"), 7, LONG).await.expect("its own");
    let found = fresh.table.adopt(&lock, &after, None).await.expect("it is one's");
    assert_eq!((found.count, found.token), (1, Some(7)));
    assert!(found.left <= LONG && found.left > LONG / 2, "{found:?}");
    let found = fresh.table.adopt(&lock, &after, Some(LONG * 2)).await.expect("it is one's");
    assert!(found.left > LONG, "{found:?}");
    let late = fresh.table.leave(&lock, &before, LONG).await;
    assert!(matches!(late, Err(LockError::NotHeld { .. })), "{late:?}");
    assert_eq!(fresh.table.leave(&lock, &after, LONG).await.expect("its own"), 0);
}

/// The owner's stream went over to another node: what it holds goes on there, and ends there.
pub async fn a_holding_goes_on_with_its_token_through_another_keeper(fresh: &Fresh) {
    let (lock, fences) = (name("a"), Arc::new(CountingFences::default()));
    let (here, there) = (library_of(fresh, "k", &fences), library_of(fresh, "l", &fences));
    let one = owner("one");
    let wish = Wish { owner: one.clone(), number: 5, keep: Keep::Watched, patience: Duration::ZERO };
    let locks = [lock.clone()];
    let before = here.take_as(&locks, &wish).await.expect("free").remove(0);
    let wrong = there.adopt(&lock, &one, 5, Keep::Watched, before.token + 1).await;
    assert!(matches!(wrong, Err(LockError::NotHeld { .. })), "that is another holding: {wrong:?}");
    let after = there.adopt(&lock, &one, 5, Keep::Watched, before.token).await.expect("it is one's");
    assert_eq!((after.token, after.count), (before.token, 1));
    here.withdraw(&locks, &wish).await;
    assert!(matches!(enter(fresh, &lock, "two", LONG).await, Entered::Theirs { .. }), "it is not here any more");
    assert_eq!(there.leave(&after).await.expect("its own"), 0);
    let gone = there.adopt(&lock, &one, 5, Keep::Watched, before.token).await;
    assert!(matches!(gone, Err(LockError::NotHeld { .. })), "{gone:?}");
}

pub async fn a_wish_that_is_withdrawn_leaves_nothing_behind(fresh: &Fresh) {
    let (locks, all) = (library(fresh), [name("b"), name("a")]);
    let wish = Wish { owner: owner("one"), number: 3, keep: Keep::Watched, patience: LONG };
    enter(fresh, &all[0], "two", LONG).await;
    {
        let waits = std::pin::pin!(locks.take_as(&all, &wish));
        let waiting = async {
            while fresh.table.held(10).await.expect("a list").iter().all(|row| row.waiters == 0) {
                fresh.clock.sleep_until(fresh.clock.now() + Duration::from_millis(1)).await;
            }
        };
        assert!(matches!(select(waits, Box::pin(waiting)).await, Either::Right(_)), "it waits for the second of them");
    }
    locks.withdraw(&all, &wish).await;
    let rows = fresh.table.held(10).await.expect("a list");
    assert_eq!(rows.iter().map(|row| (row.lock.as_str(), row.waiters)).collect::<Vec<_>>(), [("b", 0)]);
}

pub async fn a_lock_ends_by_itself(fresh: &Fresh) {
    let lock = name("a");
    enter(fresh, &lock, "one", fresh.short).await;
    outwait(fresh, &lock, "two").await;
    let late = fresh.table.leave(&lock, &entry("one", 1, "k"), LONG).await;
    assert!(matches!(late, Err(LockError::NotHeld { .. })), "{late:?}");
}

pub async fn entering_again_and_leaving_lengthen_the_lease(fresh: &Fresh) {
    let lock = name("a");
    enter(fresh, &lock, "one", fresh.short).await;
    enter_again(fresh, &lock, "one", 2, LONG).await;
    enter_again(fresh, &lock, "one", 3, fresh.short).await;
    let left = |entered| match entered {
        Entered::Theirs { left, .. } => left,
        ours @ Entered::Ours { .. } => panic!("{ours:?}"),
    };
    assert!(left(enter(fresh, &lock, "two", LONG).await) > fresh.short);
    fresh.table.leave(&lock, &entry("one", 1, "k"), LONG * 3).await.expect("left once");
    assert!(left(enter(fresh, &lock, "two", LONG).await) > LONG);
}

pub async fn a_renewed_lock_goes_on(fresh: &Fresh) {
    let lock = name("a");
    enter(fresh, &lock, "one", fresh.short).await;
    fresh.table.renew(&lock, &owner("one"), LONG).await.expect("it is one's");
    let Entered::Theirs { left, .. } = enter(fresh, &lock, "two", LONG).await else { panic!("it was renewed") };
    assert!(left > fresh.short, "{left:?}");
}

pub async fn a_lock_that_is_left_wakes_the_one_who_waits(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let first = locks.take(&lock, &owner("one"), Keep::For(LONG * 60), Duration::ZERO).await.expect("free");
    let (one, two) = (owner("one"), owner("two"));
    let began = fresh.clock.now();
    let waits = locks.take(&lock, &two, Keep::For(LONG), LONG * 30);
    let leaves = async {
        // Once the other is seen to wait.
        while fresh.table.held(10).await.expect("a list").first().is_none_or(|row| row.waiters == 0) {
            fresh.clock.sleep_until(fresh.clock.now() + Duration::from_millis(1)).await;
        }
        assert_eq!(first.entry.owner, one);
        locks.leave(&first).await.expect("left");
    };
    let (second, ()) = join(waits, leaves).await;
    assert_eq!(second.expect("woken").entry.owner, two);
    assert!(fresh.clock.now().since(began) < LONG * 20, "it was the message that woke it, not the end of the lease");
}

pub async fn who_waits_in_vain_is_told_who_has_it(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    enter(fresh, &lock, "one", LONG).await;
    for patience in [Duration::ZERO, fresh.short] {
        match locks.take(&lock, &owner("two"), Keep::Watched, patience).await {
            Err(LockError::TimedOut { holder, .. }) => assert_eq!(holder, owner("one")),
            other => panic!("{other:?}"),
        }
    }
    let rows = fresh.table.held(10).await.expect("a list");
    assert_eq!(rows[0].waiters, 0, "who gave up does not wait");
}

pub async fn a_token_is_that_of_the_holding(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let one = owner("one");
    let outer = locks.take(&lock, &one, Keep::Watched, Duration::ZERO).await.expect("free");
    let inner = locks.take(&lock, &one, Keep::Watched, Duration::ZERO).await.expect("its own");
    assert_eq!((inner.count, inner.token), (2, outer.token));
    assert_eq!(locks.leave(&inner).await.expect("left"), 1);
    assert_eq!(locks.leave(&outer).await.expect("left"), 0);
    let again = locks.take(&lock, &one, Keep::Watched, Duration::ZERO).await.expect("free");
    assert_eq!((again.count, again.token), (1, outer.token + 1), "another holding, another token");
}

pub async fn tokens_grow_in_the_order_of_the_holdings(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let mut last = 0;
    for who in ["one", "two", "one"] {
        let holding = locks.take(&lock, &owner(who), Keep::For(fresh.short), LONG).await.expect("free in the end");
        assert!(holding.token > last);
        last = holding.token;
    }
}

/// A store that answers only when told, and a second holder meanwhile.
pub async fn one_that_lost_it_before_its_token_came_waits_anew(fresh: &Fresh) {
    struct Slow {
        inner: CountingFences,
        asked: AtomicU64,
        go_on: tokio::sync::Notify,
        was_asked: tokio::sync::Notify,
    }

    #[async_trait]
    impl Fences for Slow {
        async fn next(&self, lock: &LockName) -> Result<u64> {
            if self.asked.fetch_add(1, Ordering::SeqCst) == 0 {
                self.was_asked.notify_one();
                self.go_on.notified().await;
            }
            self.inner.next(lock).await
        }
    }

    let fences = Arc::new(Slow {
        inner: CountingFences::default(),
        asked: AtomicU64::new(0),
        go_on: tokio::sync::Notify::new(),
        was_asked: tokio::sync::Notify::new(),
    });
    let lock = name("a");
    let locks = Locks::new(fresh.table.clone(), fences.clone(), fresh.clock.clone(), "k");
    let (one, two) = (owner("one"), owner("two"));
    let slow = async { locks.take(&lock, &one, Keep::For(fresh.short), LONG).await.expect("in the end") };
    let quick = async {
        fences.was_asked.notified().await;
        let second =
            locks.take(&lock, &two, Keep::For(fresh.short), LONG).await.expect("the first one's lease is over");
        fences.go_on.notify_one();
        second
    };
    let (first, second) = join(slow, quick).await;
    assert!(first.token > second.token, "whoever holds it later shows the greater token: {first:?}, {second:?}");
}

pub async fn the_watchdog_keeps_a_lock(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let mut holding = locks.take(&lock, &owner("one"), Keep::Watched, Duration::ZERO).await.expect("free");
    fresh.table.renew(&lock, &owner("one"), fresh.short).await.expect("its own");
    locks.renew_all().await;
    let Entered::Theirs { left, .. } = enter(fresh, &lock, "two", LONG).await else { panic!("it was renewed") };
    assert!(left > fresh.short && left <= LEASE, "{left:?}");
    assert!(futures::FutureExt::now_or_never(holding.lost()).is_none());
    let until = locks.watched_until(&lock, &owner("one")).expect("it is watched");
    assert!(until.since(locks.now()) > fresh.short, "people are told of the renewal");
    locks.leave(&holding).await.expect("its own");
    assert_eq!(locks.watched_until(&lock, &owner("one")), None);
}

pub async fn a_lost_lock_is_told_to_its_holder(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let mut holding = locks.take(&lock, &owner("one"), Keep::Watched, Duration::ZERO).await.expect("free");
    assert!(fresh.table.break_open(&lock).await.expect("broken"));
    locks.renew_all().await;
    holding.lost().await;
    let late = locks.leave(&holding).await;
    assert!(matches!(late, Err(LockError::NotHeld { .. })), "{late:?}");
}

pub async fn an_explicit_lease_is_not_renewed(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    locks.take(&lock, &owner("one"), Keep::For(fresh.short), Duration::ZERO).await.expect("free");
    let renews = async {
        loop {
            locks.renew_all().await;
            fresh.clock.sleep_until(fresh.clock.now() + fresh.short / 6).await;
        }
    };
    let two = owner("two");
    match select(Box::pin(locks.take(&lock, &two, Keep::For(LONG), LONG)), Box::pin(renews)).await {
        Either::Left((taken, _)) => assert_eq!(taken.expect("free in the end").entry.owner, two),
        Either::Right((never, _)) => never,
    }
}

pub async fn a_watched_entry_outlives_one_with_a_lease_of_its_own(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let one = owner("one");
    let watched = locks.take(&lock, &one, Keep::Watched, Duration::ZERO).await.expect("free");
    let brief = locks.take(&lock, &one, Keep::For(fresh.short), Duration::ZERO).await.expect("its own");
    assert_eq!((brief.token, brief.count), (watched.token, 2));
    let Entered::Theirs { left, .. } = enter(fresh, &lock, "two", LONG).await else { panic!("it is one's") };
    assert!(left > fresh.short, "the shorter lease takes nothing from the longer: {left:?}");
    // Leaving the brief one leaves the watchdog at its work.
    assert_eq!(locks.leave(&brief).await.expect("left"), 1);
    fresh.table.renew(&lock, &one, fresh.short).await.expect("its own");
    locks.renew_all().await;
    let Entered::Theirs { left, .. } = enter(fresh, &lock, "two", LONG).await else { panic!("it is one's") };
    assert!(left > fresh.short, "{left:?}");
    assert_eq!(locks.leave(&watched).await.expect("left"), 0);
}

pub async fn several_are_taken_together_or_none(fresh: &Fresh) {
    let locks = library(fresh);
    let all = [name("c"), name("a"), name("b")];
    let one = owner("one");
    let taken = locks.take_all(&all, &one, Keep::Watched, Duration::ZERO).await.expect("all free");
    assert_eq!(taken.iter().map(|held| held.lock.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    locks.leave(&taken[0]).await.expect("left");
    let refused = locks.take_all(&all, &owner("two"), Keep::Watched, fresh.short).await;
    assert!(matches!(&refused, Err(LockError::TimedOut { lock, .. }) if *lock == name("b")), "{refused:?}");
    let free = enter(fresh, &name("a"), "three", LONG).await;
    assert_eq!(free, Entered::Ours { count: 1, token: None }, "what was taken in vain was left");
}

pub async fn two_who_want_the_same_ones_both_get_them(fresh: &Fresh) {
    let locks = library(fresh);
    let (forth, back) = ([name("a"), name("b")], [name("b"), name("a")]);
    let (one, two) = (owner("one"), owner("two"));
    let take = async |names: &[LockName], who: &Owner| {
        let held = locks.take_all(names, who, Keep::For(LONG), LONG).await.expect("in turn");
        for holding in &held {
            locks.leave(holding).await.expect("its own");
        }
    };
    join(take(&forth, &one), take(&back, &two)).await;
}

pub async fn people_see_holders_and_waiters(fresh: &Fresh) {
    let locks = library(fresh);
    let held = locks.take(&name("b"), &owner("one"), Keep::Watched, Duration::ZERO).await.expect("free");
    enter(fresh, &name("a"), "two", LONG).await;
    let wanted = fresh.table.enter(&name("b"), &entry("three", 1, "k"), LONG, Some(LONG)).await.expect("an answer");
    assert!(matches!(wanted, Entered::Theirs { .. }));
    let rows = fresh.table.held(10).await.expect("a list");
    let seen: Vec<_> =
        rows.iter().map(|row| (row.lock.as_str(), row.owner.0.as_str(), row.count, row.token, row.waiters)).collect();
    assert_eq!(seen, [("a", "two", 1, None, 0), ("b", "one", 1, Some(held.token), 1)]);
    assert!(rows.iter().all(|row| row.left > Duration::ZERO && row.left <= LEASE));
    assert_eq!(fresh.table.held(1).await.expect("a list").len(), 1);
}

pub async fn people_may_break_a_lock(fresh: &Fresh) {
    let lock = name("a");
    assert!(!fresh.table.break_open(&lock).await.expect("an answer"), "there was nothing to break");
    enter(fresh, &lock, "one", LONG).await;
    assert!(fresh.table.break_open(&lock).await.expect("an answer"));
    assert_eq!(enter(fresh, &lock, "two", LONG).await, Entered::Ours { count: 1, token: None });
}

pub async fn many_at_once_are_one_at_a_time(fresh: &Fresh) {
    let (lock, locks) = (name("a"), library(fresh));
    let inside = AtomicU64::new(0);
    let turns = (0..20).map(|n| {
        let (lock, locks, inside) = (&lock, &locks, &inside);
        async move {
            let held = locks.take(lock, &owner(&n.to_string()), Keep::For(LONG), LONG * 3).await.expect("in turn");
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two inside");
            tokio::task::yield_now().await;
            inside.fetch_sub(1, Ordering::SeqCst);
            locks.leave(&held).await.expect("its own");
            held.token
        }
    });
    let mut tokens = futures::future::join_all(turns).await;
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 20, "each holding has a token of its own");
}
