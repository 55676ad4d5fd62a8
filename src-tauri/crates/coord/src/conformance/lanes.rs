//! Ready lanes, as two nodes see them.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use campanile_model::{Lane, TaskId};
use futures::future::join_all;

use super::until;
use crate::Clock;
use crate::lanes::{FILLED_TO, Grasp, IN_HAND, InLane, Lanes, Shelf};

/// How long something stays on a shelf here: long enough for a few steps of a busy machine.
pub const ON_SHELF: Duration = Duration::from_millis(700);

/// A lease that nobody outlives here, and one that is soon over.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

/// Two ways to the same lanes, all empty.
#[derive(Clone)]
pub struct Fresh {
    pub one: Arc<dyn Lanes>,
    pub other: Arc<dyn Lanes>,
    pub clock: Arc<dyn Clock>,
    /// What they live in, for as long as they are used.
    pub house: Arc<dyn Any + Send + Sync>,
}

/// As ids are made: what they are told apart by is random.
fn ids<const N: usize>(from: u16) -> [TaskId; N] {
    std::array::from_fn(|n| id(usize::from(from) + n))
}

pub fn id(n: usize) -> TaskId {
    let mut random = [0; 10];
    let mixed = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    random[2..].copy_from_slice(&mixed.to_be_bytes());
    TaskId::new(1_790_000_000_000 + n as i64, random)
}

fn grasp(taker: &str, most: usize) -> Grasp<'_> {
    Grasp { taker, down_to: Lane::Low, shelves: &[], most, lease: LONG }
}

async fn refill(lanes: &dyn Lanes, lane: Lane, ids: &[TaskId]) -> usize {
    lanes.refill("g", lane, ids).await.expect("an answer")
}

async fn take(lanes: &dyn Lanes, grasp: &Grasp<'_>) -> Vec<InLane> {
    lanes.take("g", grasp).await.expect("an answer")
}

/// Takes up to `most`, as ids.
async fn taken(lanes: &dyn Lanes, taker: &str, most: usize) -> Vec<TaskId> {
    tasks(&take(lanes, &grasp(taker, most)).await)
}

fn tasks(taken: &[InLane]) -> Vec<TaskId> {
    taken.iter().map(|id| id.task).collect()
}

pub async fn ids_go_in_lane_order_and_first_in_first_out(fresh: &Fresh) {
    let [a, b, c, d, e] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[c, b]).await;
    refill(&*fresh.one, Lane::Low, &[a]).await;
    refill(&*fresh.other, Lane::Immediate, &[d]).await;
    refill(&*fresh.other, Lane::Normal, &[e]).await;
    let first = take(&*fresh.other, &grasp("t", 2)).await;
    assert_eq!(first, [InLane { lane: Lane::Immediate, task: d }, InLane { lane: Lane::Normal, task: c }]);
    assert_eq!(taken(&*fresh.one, "t", 9).await, [b, e, a]);
    assert!(taken(&*fresh.one, "t", 9).await.is_empty());
}

pub async fn only_lanes_that_may_go_are_taken_from(fresh: &Fresh) {
    let [a, b] = ids(0);
    refill(&*fresh.one, Lane::High, &[a]).await;
    refill(&*fresh.one, Lane::Normal, &[b]).await;
    let high = Grasp { down_to: Lane::High, ..grasp("t", 9) };
    assert_eq!(tasks(&take(&*fresh.one, &high).await), [a]);
    assert!(take(&*fresh.one, &high).await.is_empty());
    assert_eq!(taken(&*fresh.one, "t", 9).await, [b]);
}

pub async fn an_id_is_in_the_lanes_once(fresh: &Fresh) {
    let all: [TaskId; 4] = ids(0);
    for lanes in [&fresh.one, &fresh.other, &fresh.one] {
        let room = refill(&**lanes, Lane::Normal, &[all[0], all[1], all[1], all[2]]).await;
        assert_eq!(room, FILLED_TO - 3);
    }
    assert_eq!(taken(&*fresh.one, "t", 1).await, [all[0]]);
    // In hand it is not missing either.
    refill(&*fresh.other, Lane::Normal, &all).await;
    assert_eq!(taken(&*fresh.other, "u", 9).await, all[1..]);
}

pub async fn of_several_takers_each_id_goes_to_one(fresh: &Fresh) {
    let all: [TaskId; 300] = ids(0);
    refill(&*fresh.one, Lane::Normal, &all).await;
    let nodes = [&fresh.one, &fresh.other];
    let names: Vec<String> = (0..6).map(|n| format!("t{n}")).collect();
    let takers = names.iter().enumerate().map(|(n, taker)| async move {
        let mut got = Vec::new();
        loop {
            let more = taken(&**nodes[n % 2], taker, 7).await;
            if more.is_empty() {
                return got;
            }
            assert!(more.is_sorted(), "in order");
            got.extend(more);
        }
    });
    let got: Vec<TaskId> = join_all(takers).await.into_iter().flatten().collect();
    assert_eq!(got.len(), all.len());
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(all));
}

pub async fn what_has_gone_may_come_again(fresh: &Fresh) {
    let [a] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[a]).await;
    let first = take(&*fresh.one, &grasp("t", 1)).await;
    fresh.one.done("g", "t", &first).await.expect("an answer");
    assert!(taken(&*fresh.other, "u", 1).await.is_empty());
    // Its next attempt.
    refill(&*fresh.other, Lane::Retry, &[a]).await;
    assert_eq!(take(&*fresh.other, &grasp("u", 1)).await, [InLane { lane: Lane::Retry, task: a }]);
}

pub async fn what_is_given_back_stands_at_the_head_in_its_order(fresh: &Fresh) {
    let [a, b, c, d, e] = ids(0);
    refill(&*fresh.one, Lane::High, &[d]).await;
    refill(&*fresh.one, Lane::Normal, &[a, b, c, e]).await;
    let taken_first = take(&*fresh.one, &grasp("t", 4)).await;
    fresh.one.give_back("g", "t", &taken_first).await.expect("an answer");
    assert_eq!(taken(&*fresh.other, "u", 9).await, [d, a, b, c, e]);
}

pub async fn what_stays_in_hand_past_its_lease_goes_back_to_its_lane(fresh: &Fresh) {
    let [a, b, c] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[a, b, c]).await;
    let short = Grasp { lease: SHORT, ..grasp("t", 2) };
    assert_eq!(tasks(&take(&*fresh.one, &short).await), [a, b]);
    assert_eq!(fresh.other.keep("g").await.expect("an answer").returned, 0, "its lease is not over");
    let mut returned = 0;
    until(&*fresh.clock, "its lease is over", async || {
        returned += fresh.other.keep("g").await.expect("an answer").returned;
        returned == 2
    })
    .await;
    assert_eq!(taken(&*fresh.other, "u", 9).await, [a, b, c]);
}

pub async fn whoever_lost_it_cannot_give_it_back(fresh: &Fresh) {
    let [a] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[a]).await;
    let short = Grasp { lease: SHORT, ..grasp("t", 1) };
    let late = take(&*fresh.one, &short).await;
    until(&*fresh.clock, "its lease is over", async || fresh.one.keep("g").await.expect("an answer").returned == 1)
        .await;
    assert_eq!(taken(&*fresh.other, "u", 1).await, [a]);
    fresh.one.give_back("g", "t", &late).await.expect("an answer");
    let shelf = [Shelf("x".into())];
    fresh.one.put_aside("g", "t", &shelf[0], &late).await.expect("an answer");
    let all = Grasp { shelves: &shelf, ..grasp("t", 1) };
    assert!(take(&*fresh.one, &all).await.is_empty(), "it is in another's hand");
}

pub async fn what_was_put_aside_is_taken_by_those_who_ask_for_it(fresh: &Fresh) {
    let [a, b, c, d] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[a, b, c]).await;
    refill(&*fresh.one, Lane::Low, &[d]).await;
    let hand = take(&*fresh.one, &grasp("t", 2)).await;
    let shelf = Shelf(r#"{"processor":"p","labels":{"disk":"ssd"}}"#.into());
    fresh.one.put_aside("g", "t", &shelf, &hand).await.expect("an answer");
    assert_eq!(taken(&*fresh.one, "t", 1).await, [c], "it stands in nobody's way");
    // What is known to be aside is not put back.
    refill(&*fresh.one, Lane::Normal, &[a, b]).await;
    let named = [Shelf("other".into()), shelf];
    let able = Grasp { shelves: &named, ..grasp("u", 9) };
    assert_eq!(tasks(&take(&*fresh.other, &able).await), [a, b, d], "before what came to the lower lane");
}

pub async fn what_was_put_aside_for_long_is_looked_at_again(fresh: &Fresh) {
    let [a, b] = ids(0);
    refill(&*fresh.one, Lane::Normal, &[a, b]).await;
    for shelf in [Shelf("x".into()), Shelf("y".into())] {
        let hand = take(&*fresh.one, &grasp("t", 1)).await;
        fresh.one.put_aside("g", "t", &shelf, &hand).await.expect("an answer");
    }
    assert!(taken(&*fresh.one, "t", 9).await.is_empty());
    let mut returned = 0;
    until(&*fresh.clock, "both return", async || {
        returned += fresh.other.keep("g").await.expect("an answer").returned;
        returned == 2
    })
    .await;
    assert_eq!(taken(&*fresh.one, "t", 9).await.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([a, b]));
}

pub async fn a_task_that_moved_up_stands_in_its_new_lane_alone(fresh: &Fresh) {
    let [a, b] = ids(0);
    refill(&*fresh.one, Lane::Low, &[a, b]).await;
    refill(&*fresh.one, Lane::Normal, &[a]).await;
    let all = take(&*fresh.one, &grasp("t", 9)).await;
    assert_eq!(all, [InLane { lane: Lane::Normal, task: a }, InLane { lane: Lane::Low, task: b }]);
}

pub async fn a_window_has_a_bound(fresh: &Fresh) {
    let many: Vec<TaskId> = (0..FILLED_TO + 300).map(id).collect();
    for some in many.chunks(1000) {
        refill(&*fresh.one, Lane::Normal, some).await;
    }
    assert_eq!(refill(&*fresh.one, Lane::Normal, &many[FILLED_TO..]).await, 0);
    let mut got = 0;
    loop {
        let hand = take(&*fresh.other, &grasp("t", IN_HAND)).await;
        fresh.other.done("g", "t", &hand).await.expect("an answer");
        if hand.is_empty() {
            break;
        }
        got += hand.len();
    }
    assert_eq!(got, FILLED_TO, "what did not fit is left to the store");
    assert_eq!(refill(&*fresh.one, Lane::Normal, &many[FILLED_TO..]).await, FILLED_TO - 300);
}

pub async fn a_hand_has_a_bound(fresh: &Fresh) {
    let many: Vec<TaskId> = (0..IN_HAND + 50).map(id).collect();
    refill(&*fresh.one, Lane::Normal, &many).await;
    assert_eq!(taken(&*fresh.one, "t", IN_HAND + 50).await.len(), IN_HAND);
    assert!(taken(&*fresh.one, "t", 1).await.is_empty());
    assert_eq!(taken(&*fresh.one, "u", IN_HAND).await.len(), 50);
}

pub async fn groups_are_apart(fresh: &Fresh) {
    let [a, b] = ids(0);
    for (group, id) in [("{g}", a), ("g:1", b)] {
        fresh.one.refill(group, Lane::Normal, &[id]).await.expect("an answer");
    }
    assert!(taken(&*fresh.one, "t", 9).await.is_empty());
    for (group, id) in [("{g}", a), ("g:1", b)] {
        let got = fresh.other.take(group, &grasp("t", 9)).await.expect("an answer");
        assert_eq!(tasks(&got), [id]);
    }
}
