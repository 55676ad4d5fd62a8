//! Traffic windows, as two nodes see them.

use std::any::Any;
use std::sync::Arc;

use futures::future::join_all;

use crate::traffic::{Counts, SECONDS_KEPT, Traffic, Window};

/// Two ways to the same windows, all empty.
#[derive(Clone)]
pub struct Fresh {
    pub one: Arc<dyn Traffic>,
    pub other: Arc<dyn Traffic>,
    /// What they live in, for as long as they are used.
    pub house: Arc<dyn Any + Send + Sync>,
}

const NOW: i64 = 1_790_000_000;

fn counts(selects: u64, inserts: u64, updates: u64, deletes: u64) -> Counts {
    Counts { selects, inserts, updates, deletes }
}

async fn windows(fresh: &Fresh, database: &str, through: i64) -> Vec<Window> {
    let seen = fresh.one.windows(database, through).await.expect("an answer");
    assert_eq!(fresh.other.windows(database, through).await.expect("an answer"), seen, "both see the same");
    seen
}

async fn metered(traffic: &dyn Traffic, database: &str, second: i64, counts: Counts) {
    traffic.metered(database, second, counts).await.expect("an answer");
}

pub async fn what_meters_count_adds_up(fresh: &Fresh) {
    metered(&*fresh.one, "a", NOW, counts(1, 2, 3, 4)).await;
    metered(&*fresh.other, "a", NOW, counts(10, 20, 30, 40)).await;
    metered(&*fresh.other, "a", NOW + 1, counts(5, 0, 0, 0)).await;
    let sums = [(NOW, counts(11, 22, 33, 44)), (NOW + 1, counts(5, 0, 0, 0))];
    let expected = sums.map(|(second, sum)| Window { second, metered: Some(sum), probed: None });
    assert_eq!(windows(fresh, "a", NOW + 1).await, expected);
    assert_eq!(expected[0].metered.map(Counts::total), Some(110));
}

pub async fn nothing_counted_is_known_too(fresh: &Fresh) {
    assert!(windows(fresh, "a", NOW).await.is_empty(), "nobody has said anything");
    metered(&*fresh.one, "a", NOW, Counts::default()).await;
    let silent = Window { second: NOW, metered: Some(Counts::default()), probed: None };
    assert_eq!(windows(fresh, "a", NOW).await, [silent]);
}

pub async fn a_probe_stands_beside_the_meters(fresh: &Fresh) {
    metered(&*fresh.one, "a", NOW, counts(7, 0, 0, 0)).await;
    for probed in [counts(5, 1, 0, 0), counts(9, 0, 0, 2)] {
        fresh.other.probed("a", NOW, probed).await.expect("an answer");
    }
    let both = Window { second: NOW, metered: Some(counts(7, 0, 0, 0)), probed: Some(counts(9, 0, 0, 2)) };
    assert_eq!(windows(fresh, "a", NOW).await, [both]);
}

pub async fn windows_are_those_of_ten_seconds(fresh: &Fresh) {
    for ago in 0..SECONDS_KEPT + 2 {
        metered(&*fresh.one, "a", NOW - SECONDS_KEPT - 1 + ago, counts(1, 0, 0, 0)).await;
    }
    let seconds: Vec<i64> = windows(fresh, "a", NOW).await.iter().map(|window| window.second).collect();
    assert_eq!(seconds, (NOW - SECONDS_KEPT + 1..=NOW).collect::<Vec<_>>());
    let before: Vec<i64> = windows(fresh, "a", NOW - 8).await.iter().map(|window| window.second).collect();
    assert_eq!(before.last(), Some(&(NOW - 8)), "nothing later than asked for");
}

pub async fn an_allowance_is_one_for_all(fresh: &Fresh) {
    let nodes = [&fresh.one, &fresh.other];
    let draws = (0..40).map(|n| nodes[n % 2].draw("a", NOW, 100, 7));
    let given: Vec<u32> = join_all(draws).await.into_iter().map(|given| given.expect("an answer")).collect();
    assert_eq!(given.iter().sum::<u32>(), 100, "{given:?}");
    assert_eq!(fresh.one.draw("a", NOW, 100, 1).await.expect("an answer"), 0);
    assert_eq!(fresh.one.draw("a", NOW, 103, 7).await.expect("an answer"), 3, "more is allowed meanwhile");
    assert_eq!(fresh.one.draw("a", NOW, 50, 7).await.expect("an answer"), 0, "less is");
    assert!(windows(fresh, "a", NOW).await.is_empty(), "what was given out is no traffic yet");
}

pub async fn another_round_begins_anew(fresh: &Fresh) {
    assert_eq!(fresh.one.draw("a", NOW, 5, 9).await.expect("an answer"), 5);
    assert_eq!(fresh.other.draw("a", NOW + 1, 5, 4).await.expect("an answer"), 4);
}

pub async fn databases_are_apart(fresh: &Fresh) {
    for name in ["a", "{a}", "a:1", "日报"] {
        metered(&*fresh.one, name, NOW, counts(name.len() as u64, 0, 0, 0)).await;
        assert_eq!(fresh.one.draw(name, NOW, 5, 9).await.expect("an answer"), 5);
    }
    for name in ["a", "{a}", "a:1", "日报"] {
        let seen = windows(fresh, name, NOW).await;
        assert_eq!(seen[0].metered.map(Counts::total), Some(name.len() as u64), "{name}");
    }
}
