//! Bells, presence and what nodes tell each other: two of them that meet.

use std::any::Any;
use std::sync::Arc;

use campanile_model::Timestamp;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use super::until;
use crate::{Bell, Clock, Coord, Heard, LONGEST_TOLD, Presence, Reach};

/// Two nodes that reach each other, with no bell unheard.
#[derive(Clone)]
pub struct Fresh {
    pub one: Arc<dyn Coord>,
    pub other: Arc<dyn Coord>,
    pub clock: Arc<dyn Clock>,
    /// What they live in, for as long as they are used.
    pub house: Arc<dyn Any + Send + Sync>,
}

pub async fn a_ring_wakes_the_one_who_listens(fresh: &Fresh) {
    let listening = fresh.one.listen(Bell::Clerk);
    fresh.one.ring(Bell::Clerk);
    listening.await;
}

pub async fn a_ring_before_anyone_listens_is_heard(fresh: &Fresh) {
    fresh.one.ring(Bell::Launcher);
    fresh.one.ring(Bell::Launcher);
    fresh.one.listen(Bell::Launcher).await;
    assert!(fresh.one.listen(Bell::Launcher).now_or_never().is_none(), "two rings were heard as one");
}

pub async fn a_bell_is_not_another_bell(fresh: &Fresh) {
    fresh.one.ring(Bell::Launcher);
    fresh.other.listen(Bell::Launcher).await;
    for node in [&fresh.one, &fresh.other] {
        assert!(node.listen(Bell::Monitor).now_or_never().is_none());
    }
}

pub async fn a_ring_is_heard_on_every_node(fresh: &Fresh) {
    for bell in Bell::ALL {
        fresh.other.ring(bell);
        fresh.one.listen(bell).await;
        fresh.other.listen(bell).await;
    }
}

async fn names(of: &dyn Coord, now: i64) -> Vec<String> {
    let present = of.present(Timestamp::from_millis(now)).await.expect("an answer");
    present.into_iter().map(|presence| presence.node).collect()
}

pub async fn presence_is_seen_by_every_node_and_ends_by_itself(fresh: &Fresh) {
    let at = Timestamp::from_millis;
    fresh.one.announce(Presence { node: "b".into(), until: at(20) });
    fresh.other.announce(Presence { node: "a".into(), until: at(10) });
    for node in [&fresh.one, &fresh.other] {
        until(&*fresh.clock, "both are seen", async || names(&**node, 5).await == ["a", "b"]).await;
        assert_eq!(names(&**node, 10).await, ["b"]);
        assert!(names(&**node, 20).await.is_empty());
    }
    fresh.one.announce(Presence { node: "a".into(), until: at(30) });
    until(&*fresh.clock, "it goes on", async || names(&*fresh.one, 25).await == ["a"]).await;
}

pub async fn whoever_leaves_is_there_no_more(fresh: &Fresh) {
    for (node, name) in [(&fresh.one, "a"), (&fresh.other, "b")] {
        node.announce(Presence { node: name.into(), until: Timestamp::from_millis(20) });
    }
    until(&*fresh.clock, "both are seen", async || names(&*fresh.one, 5).await == ["a", "b"]).await;
    fresh.other.leave("b").await;
    assert_eq!(names(&*fresh.one, 5).await, ["a"]);
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The next thing heard that was told; what was missed before it is none of it.
async fn next_told(hearing: &mut BoxStream<'static, Heard>) -> Vec<String> {
    loop {
        match hearing.next().await.expect("it never ends") {
            Heard::Stale(stale) => return stale,
            Heard::Missed => {}
        }
    }
}

pub async fn what_one_tells_the_other_hears(fresh: &Fresh) {
    let mut hearing = fresh.other.hear();
    fresh.one.tell(&words(&["jobs", "tasks"]));
    let mut told = next_told(&mut hearing).await;
    told.sort_unstable();
    assert_eq!(told, ["jobs", "tasks"]);
    let longest = "x".repeat(LONGEST_TOLD);
    fresh.one.tell(std::slice::from_ref(&longest));
    assert_eq!(next_told(&mut hearing).await, [longest]);
}

pub async fn nobody_hears_what_he_told_himself(fresh: &Fresh) {
    let (mut own, mut others) = (fresh.one.hear(), fresh.other.hear());
    fresh.one.tell(&words(&["own"]));
    assert_eq!(next_told(&mut others).await, ["own"]);
    fresh.other.tell(&words(&["other"]));
    assert_eq!(next_told(&mut own).await, ["other"]);
}

/// Far more than anyone takes in at once: what is not heard is heard to be missing.
pub async fn nothing_is_lost_in_silence(fresh: &Fresh) {
    const MANY: usize = 3000;
    let mut hearing = fresh.other.hear();
    let mut unheard = std::collections::BTreeSet::new();
    for n in 0..MANY {
        let name = format!("log:{n}");
        fresh.one.tell(std::slice::from_ref(&name));
        unheard.insert(name);
    }
    let last = format!("log:{}", MANY - 1);
    let mut missed = false;
    while !missed && !unheard.is_empty() {
        match hearing.next().await.expect("it never ends") {
            Heard::Stale(stale) => unheard.retain(|name| !stale.contains(name)),
            Heard::Missed => missed = true,
        }
        assert!(unheard.contains(&last) || missed || unheard.is_empty(), "the last was heard before {unheard:?}");
    }
}

pub async fn nodes_that_meet_reach_each_other(fresh: &Fresh) {
    assert_eq!((fresh.one.reach(), fresh.other.reach()), (Reach::Team, Reach::Team));
}
