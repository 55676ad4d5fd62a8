//! Bells, presence, live events, ready lanes and traffic windows on real servers: one alone, one behind Sentinel, and a
//! cluster; with two nodes at once. What happens when Redis fails is in `trouble.rs`.

mod servers;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use campanile_coord::conformance::{lanes, place, tokio_clock, traffic};
use campanile_coord::{Bell, Coord, Reach};
use campanile_coord_redis::{Place, Redis, RedisCoord, RedisLanes, RedisTraffic, keyspace};
use futures::FutureExt as _;
use servers::{Server, cluster, installed, receipt, watched};

/// Two ways to one place: as from two nodes.
fn two_ways(place: &Place) -> [Redis; 2] {
    [0, 1].map(|_| Redis::at(place.clone()).expect("good addresses"))
}

/// Two nodes that hear each other, with no bell unheard.
async fn meeting(at: &Place, house: Arc<dyn Any + Send + Sync>) -> place::Fresh {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let [one, other] = two_ways(at).map(|redis| RedisCoord::on(&redis, NEXT.fetch_add(1, Ordering::Relaxed)));
    let clock = tokio_clock();
    while (one.reach(), other.reach()) != (Reach::Team, Reach::Team) {
        clock.sleep_until(clock.now() + std::time::Duration::from_millis(2)).await;
    }
    for (from, to) in [(&one, &other), (&other, &one)] {
        // Whoever has heard one note of the other misses nothing more of him.
        let mut hearing = to.hear();
        from.tell(&["hello".to_owned()]);
        while futures::StreamExt::next(&mut hearing).await != Some(campanile_coord::Heard::Stale(vec!["hello".into()]))
        {
            from.tell(&["hello".to_owned()]);
        }
    }
    for node in [&one, &other] {
        // What was rung when it began to listen.
        for bell in Bell::ALL {
            let _ = node.listen(bell).now_or_never();
        }
    }
    place::Fresh { one: Arc::new(one), other: Arc::new(other), clock, house }
}

fn lanes_at(at: &Place, house: Arc<dyn Any + Send + Sync>) -> lanes::Fresh {
    let [one, other] = two_ways(at).map(|redis| Arc::new(RedisLanes::on(&redis, lanes::ON_SHELF)));
    lanes::Fresh { one, other, clock: tokio_clock(), house }
}

fn traffic_at(at: &Place, house: Arc<dyn Any + Send + Sync>) -> traffic::Fresh {
    let [one, other] = two_ways(at).map(|redis| Arc::new(RedisTraffic::on(&redis)));
    traffic::Fresh { one, other, house }
}

fn alone() -> Option<(Place, Arc<Server>)> {
    let server = installed().then(|| Server::start(&[]))?;
    receipt("coord-on-redis");
    Some((Place::Single(server.url()), Arc::new(server)))
}

async fn meeting_alone() -> Option<place::Fresh> {
    let (at, house) = alone()?;
    Some(meeting(&at, house).await)
}

async fn lanes_alone() -> Option<lanes::Fresh> {
    alone().map(|(at, house)| lanes_at(&at, house))
}

async fn traffic_alone() -> Option<traffic::Fresh> {
    alone().map(|(at, house)| traffic_at(&at, house))
}

mod one_server {
    mod meeting {
        campanile_coord::conformance!(real, super::super::meeting_alone);
    }
    mod lanes {
        campanile_coord::lanes_conformance!(real, super::super::lanes_alone);
    }
    mod traffic {
        campanile_coord::traffic_conformance!(real, super::super::traffic_alone);
    }
}

/// Every suite, on what is emptied before each case; whatever a case leaves behind is a good tenant.
async fn keeps_all_promises(at: &Place, empties: impl Fn()) {
    let nothing = || -> Arc<dyn Any + Send + Sync> { Arc::new(()) };
    let whole = Redis::at(at.clone()).expect("good addresses");
    let emptied = async || {
        let reading = keyspace::read(&whole).await.expect("readable");
        assert!(reading.breaches.is_empty(), "{:?}", reading.breaches);
        empties();
    };
    let fresh = async || {
        emptied().await;
        meeting(at, nothing()).await
    };
    campanile_coord::conformance!(all, fresh);
    let fresh = async || {
        emptied().await;
        lanes_at(at, nothing())
    };
    campanile_coord::lanes_conformance!(all, fresh);
    let fresh = async || {
        emptied().await;
        traffic_at(at, nothing())
    };
    campanile_coord::traffic_conformance!(all, fresh);
    emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_keeps_the_promises() {
    if !installed() {
        return;
    }
    let nodes = cluster();
    let at = Place::Cluster(nodes.iter().map(Server::url).collect());
    keeps_all_promises(&at, || nodes.iter().for_each(|node| assert_eq!(node.cli(&["FLUSHALL"]), "OK"))).await;
    receipt("coord-on-redis-cluster");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_behind_sentinel_keeps_the_promises() {
    if !installed() {
        return;
    }
    let (master, _replica, sentinels) = watched();
    let at = Place::Sentinel { sentinels: sentinels.iter().map(Server::url).collect(), master: "town".into() };
    keeps_all_promises(&at, || assert_eq!(master.cli(&["FLUSHALL"]), "OK")).await;
}
