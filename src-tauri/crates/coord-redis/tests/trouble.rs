//! What nodes make of a Redis that fails: frozen, killed, flushed, and failed over in the middle of it. Every call
//! returns within its limit, nothing is lost in silence, and all goes on by itself.

mod servers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use campanile_coord::conformance::lanes::{ON_SHELF, id};
use campanile_coord::lanes::{Grasp, IN_HAND, Lanes, Shelf, WINDOW};
use campanile_coord::traffic::{Counts, Traffic};
use campanile_coord::{Bell, Coord, Heard, PATIENCE, Presence, Reach};
use campanile_coord_redis::{Place, Redis, RedisCoord, RedisLanes, RedisTraffic, keyspace};
use campanile_model::{Lane, TaskId, Timestamp};
use futures::StreamExt as _;
use futures::future::{join, join_all};
use servers::{Server, installed, receipt, watched};

/// A machine with two cores that does other things too.
const SLACK: Duration = Duration::from_secs(2);
const NEVER_SO_LONG: Duration = Duration::from_secs(60);

async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < NEVER_SO_LONG, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Every verb, each within its limit; how many of them were answered.
async fn every_verb_ends_in_time(redis: &Redis, coord: &RedisCoord) -> usize {
    let (lanes, traffic) = (RedisLanes::on(redis, ON_SHELF), RedisTraffic::on(redis));
    let grasp = Grasp { taker: "t", down_to: Lane::Low, shelves: &[], most: 1, lease: SLACK };
    let began = Instant::now();
    // What only says something does not wait at all.
    coord.ring(Bell::Clerk);
    coord.tell(&["jobs".to_owned()]);
    coord.announce(Presence { node: "n".into(), until: Timestamp::from_millis(1) });
    assert!(began.elapsed() < Duration::from_millis(500));
    coord.listen(Bell::Clerk).await;
    let answered = async |answer: bool| {
        assert!(began.elapsed() < PATIENCE + SLACK, "after {:?}", began.elapsed());
        usize::from(answer)
    };
    let (present, ids) = (coord.present(Timestamp::EPOCH), [id(1)]);
    // All at once: whoever stands behind others does not wait for longer.
    let verbs = futures::join!(
        async { answered(present.await.is_ok()).await },
        async { answered(lanes.refill("g", Lane::Low, &ids).await.is_ok()).await },
        async { answered(lanes.take("g", &grasp).await.is_ok()).await },
        async { answered(lanes.keep("g").await.is_ok()).await },
        async { answered(traffic.metered("d", 1, Counts::default()).await.is_ok()).await },
        async { answered(traffic.windows("d", 1).await.is_ok()).await },
        async { answered(traffic.draw("d", 1, 1, 1).await.is_ok()).await },
    );
    verbs.0 + verbs.1 + verbs.2 + verbs.3 + verbs.4 + verbs.5 + verbs.6
}

/// Two nodes live through something that takes Redis away and gives it back.
async fn live_through(place: Place, goes: impl FnOnce(), returns: impl FnOnce()) {
    let redis = [0, 1].map(|_| Redis::at(place.clone()).expect("good addresses"));
    let [one, other] = [(&redis[0], 1), (&redis[1], 2)].map(|(redis, from)| RedisCoord::on(redis, from));
    until("they meet", async || one.reach() == Reach::Team && other.reach() == Reach::Team).await;
    assert_eq!(every_verb_ends_in_time(&redis[0], &one).await, 7);
    let mut hearing = other.hear();

    goes();
    let gone_at = Instant::now();
    until("it is away", async || one.reach() == Reach::Away && other.reach() == Reach::Away).await;
    assert!(gone_at.elapsed() < Duration::from_secs(3) + SLACK, "noticed after {:?}", gone_at.elapsed());
    assert_eq!(every_verb_ends_in_time(&redis[0], &one).await, 0);
    one.tell(&["in vain".to_owned()]);

    returns();
    until("it is back", async || one.reach() == Reach::Team && other.reach() == Reach::Team).await;
    // Heard, or known to be missing.
    let heard = async { while !matches!(hearing.next().await, Some(Heard::Missed)) {} };
    tokio::time::timeout(NEVER_SO_LONG, heard).await.expect("something was missed");
    until("all is answered", async || every_verb_ends_in_time(&redis[0], &one).await == 7).await;
    until("a ring is heard again", async || {
        one.ring(Bell::Sweeper);
        tokio::time::timeout(Duration::from_millis(200), other.listen(Bell::Sweeper)).await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_freezes_holds_nobody_up() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    live_through(Place::Single(server.url()), || server.freeze(), || server.thaw()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_killed_and_comes_back_is_found_again() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let place = Place::Single(server.url());
    let server = std::cell::RefCell::new(server);
    live_through(place, || server.borrow_mut().kill(), || server.borrow_mut().restart()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_sentinel_nodes_go_on_with_the_new_master() {
    if !installed() {
        return;
    }
    let (mut master, replica, sentinels) = watched();
    let place = Place::Sentinel { sentinels: sentinels.iter().map(Server::url).collect(), master: "town".into() };
    let redis = Redis::at(place).expect("good addresses");
    let coord = RedisCoord::on(&redis, 1);
    until("it is there", async || coord.reach() == Reach::Team).await;
    let fails_over = async {
        master.kill();
        until("the replica leads", async || replica.cli(&["ROLE"]).starts_with("master")).await;
    };
    let lanes = RedisLanes::on(&redis, ON_SHELF);
    join(everything_goes_once(&lanes, async || {}), fails_over).await;
    until("it is there again", async || coord.reach() == Reach::Team).await;
    assert_eq!(every_verb_ends_in_time(&redis, &coord).await, 7);
    receipt("coord-on-redis-sentinel");
}

/// Takers empty a store of ready tasks by way of the lanes, while something happens to Redis. What decides who has a
/// task is the store, here a set; what the lanes lose it puts back.
async fn everything_goes_once(lanes: &RedisLanes, mut happens: impl AsyncFnMut()) {
    const MANY: usize = 400;
    let store = std::sync::Mutex::new((0..MANY).map(id).collect::<BTreeSet<TaskId>>());
    let gone = std::sync::Mutex::new(Vec::new());
    let left = || store.lock().expect("nobody panics").len();
    let refills = async {
        while left() > 0 {
            let ready: Vec<TaskId> = store.lock().expect("nobody panics").iter().copied().collect();
            // Away is no fault: it is tried again.
            let _ = lanes.refill("g", Lane::Normal, &ready).await;
            let _ = lanes.keep("g").await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let takers = ["t", "u", "v"].map(|taker| {
        let (store, gone, left) = (&store, &gone, &left);
        async move {
            let lease = Duration::from_millis(500);
            let mut round = 0;
            while left() > 0 {
                let grasp = Grasp { taker, down_to: Lane::Low, shelves: &[], most: 5, lease };
                let Ok(taken) = lanes.take("g", &grasp).await else { continue };
                round += 1;
                match round % 4 {
                    // This one crashes with them in hand.
                    0 => {}
                    1 => drop(lanes.give_back("g", taker, &taken).await),
                    _ => {
                        for id in &taken {
                            if store.lock().expect("nobody panics").remove(&id.task) {
                                gone.lock().expect("nobody panics").push(id.task);
                            }
                        }
                        drop(lanes.done("g", taker, &taken).await);
                    }
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let troubles = async {
        while left() > MANY / 4 {
            happens().await;
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    };
    let all = join(join(refills, troubles), join_all(takers));
    tokio::time::timeout(NEVER_SO_LONG, all).await.expect("nothing waits for ever");
    let gone = gone.into_inner().expect("nobody panics");
    assert_eq!(gone.len(), MANY, "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lanes_that_are_flushed_again_and_again_lose_nothing() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let redis = Redis::at(Place::Single(server.url())).expect("a good address");
    let lanes = RedisLanes::on(&redis, ON_SHELF);
    everything_goes_once(&lanes, async || assert_eq!(server.cli(&["FLUSHALL"]), "OK")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lanes_of_a_server_that_is_restarted_again_and_again_lose_nothing() {
    let Some(mut server) = installed().then(|| Server::start(&[])) else { return };
    let redis = Redis::at(Place::Single(server.url())).expect("a good address");
    let lanes = RedisLanes::on(&redis, ON_SHELF);
    everything_goes_once(&lanes, async || server.restart()).await;
}

/// Where `Shelf("p")` of group g is kept.
const SHELF: &str = "campanile:1:{g}:shelf:af63ed4c8602096f";

/// Everything filled to its bounds at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_fullest_the_keyspace_is_that_of_a_good_tenant() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let redis = Redis::at(Place::Single(server.url())).expect("a good address");
    let (lanes, traffic) = (RedisLanes::on(&redis, Duration::from_secs(60)), RedisTraffic::on(&redis));
    let lease = Duration::from_secs(60);
    let takers: Vec<String> = (0..20).map(|n| format!("a-machine-of-some-name-serve-{n:08x}")).collect();
    for (n, lane) in Lane::ALL.into_iter().enumerate().rev() {
        let ids: Vec<TaskId> = (n * 2 * WINDOW..(n + 1) * 2 * WINDOW).map(id).collect();
        // A shelf is filled, the hands are, and then the window again.
        for _ in 0..WINDOW / IN_HAND + 1 {
            lanes.refill("g", lane, &ids).await.expect("an answer");
            let grasp = Grasp { taker: &takers[0], down_to: lane, shelves: &[], most: IN_HAND, lease };
            let hand = lanes.take("g", &grasp).await.expect("an answer");
            lanes.put_aside("g", &takers[0], &Shelf("p".into()), &hand).await.expect("an answer");
        }
        lanes.refill("g", lane, &ids).await.expect("an answer");
    }
    for taker in &takers {
        let grasp = Grasp { taker, down_to: Lane::Low, shelves: &[], most: IN_HAND, lease };
        lanes.take("g", &grasp).await.expect("an answer");
    }
    let more: Vec<TaskId> = (100 * WINDOW..103 * WINDOW).map(id).collect();
    for lane in Lane::ALL {
        lanes.refill("g", lane, &more).await.expect("an answer");
    }
    for second in 0..20 {
        let counts = Counts { selects: u64::MAX >> 2, ..Counts::default() };
        traffic.metered("a database", second, counts).await.expect("an answer");
        traffic.draw("a database", second, 5, 1).await.expect("an answer");
    }
    let coord = Arc::new(RedisCoord::on(&redis, 1));
    for n in 0..1200 {
        coord.announce(Presence { node: format!("node-{n}"), until: Timestamp::from_millis(1_790_000_000_000) });
        // Each of them says so itself.
        coord.leave("nobody").await;
    }
    let reading = keyspace::read(&redis).await.expect("readable");
    let named: Vec<String> = reading.breaches.iter().map(ToString::to_string).collect();
    assert!(named.is_empty(), "{named:?}");
    let bytes = |key: &str| server.cli(&["MEMORY", "USAGE", key, "SAMPLES", "0"]).parse::<u64>().unwrap_or(0);
    for lane in 0..Lane::ALL.len() {
        let (window, shelf) = (bytes(&format!("campanile:1:{{g}}:lane:{lane}")), bytes(&format!("{SHELF}:{lane}")));
        assert!(window > 70_000 && shelf > 70_000, "they are full: {window}, {shelf}");
    }
    assert!(reading.keys > 60, "{reading:?}");
}

/// The reading itself finds what it is to find.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_tenant_is_named() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let redis = Redis::at(Place::Single(server.url())).expect("a good address");
    server.cli(&["SET", "stranger", "x", "EX", "60"]);
    server.cli(&["SET", "campanile:1:for-ever", "x"]);
    server.cli(&["SET", "campanile:1:large", &"x".repeat(20_000), "EX", "60"]);
    server.cli(&["HSET", "campanile:1:field", "f", &"x".repeat(20_000)]);
    server.cli(&["EVAL", "for n = 1, 10000 do redis.call('RPUSH', KEYS[1], n) end", "1", "campanile:1:many"]);
    for key in ["field", "many"] {
        server.cli(&["EXPIRE", &format!("campanile:1:{key}"), "60"]);
    }
    let reading = keyspace::read(&redis).await.expect("readable");
    let mut named: Vec<String> = reading.breaches.iter().map(ToString::to_string).collect();
    named.sort_unstable();
    assert_eq!(
        named,
        [
            "campanile:1:field: LargeValue(20000)",
            "campanile:1:for-ever: NoExpiry",
            "campanile:1:large: LargeValue(20000)",
            "campanile:1:many: ManyMembers(10000)",
            "stranger: Stranger",
        ]
    );
}
