//! The lock table on real servers: one alone, three as a quorum, a cluster, and one behind Sentinel.

mod servers;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::conformance::locks::{self as cases, CountingFences, Fresh};
use campanile_coord::conformance::tokio_clock;
use campanile_coord::locks::{
    Entered, Entry, Found, Keep, LockError, LockName, LockRow, LockTable, Locks, Owner, Quorum, Result,
};
use campanile_coord_redis::{Place, RedisLocks};
use futures::future::BoxFuture;
use servers::{Server, cluster, installed, receipt, watched};

/// A table together with the servers that it lives on.
struct Housed<T> {
    table: T,
    _servers: Vec<Server>,
}

#[async_trait]
impl<T: LockTable> LockTable for Housed<T> {
    async fn enter(&self, lock: &LockName, entry: &Entry, lease: Duration, waits: Option<Duration>) -> Result<Entered> {
        self.table.enter(lock, entry, lease, waits).await
    }

    async fn leave(&self, lock: &LockName, entry: &Entry, lease: Duration) -> Result<u32> {
        self.table.leave(lock, entry, lease).await
    }

    async fn adopt(&self, lock: &LockName, entry: &Entry, lease: Option<Duration>) -> Result<Found> {
        self.table.adopt(lock, entry, lease).await
    }

    async fn renew(&self, lock: &LockName, owner: &Owner, lease: Duration) -> Result<()> {
        self.table.renew(lock, owner, lease).await
    }

    async fn stamp(&self, lock: &LockName, owner: &Owner, token: u64, lease: Duration) -> Result<()> {
        self.table.stamp(lock, owner, token, lease).await
    }

    async fn gives_up(&self, lock: &LockName, owner: &Owner) -> Result<()> {
        self.table.gives_up(lock, owner).await
    }

    async fn break_open(&self, lock: &LockName) -> Result<bool> {
        self.table.break_open(lock).await
    }

    fn freed(&self, lock: &LockName) -> BoxFuture<'static, ()> {
        self.table.freed(lock)
    }

    async fn held(&self, limit: usize) -> Result<Vec<LockRow>> {
        self.table.held(limit).await
    }

    async fn memory(&self) -> Result<Duration> {
        self.table.memory().await
    }
}

fn open(server: &Server) -> RedisLocks {
    RedisLocks::open(Place::Single(server.url())).expect("a good address")
}

async fn alone() -> Option<Fresh> {
    if !installed() {
        return None;
    }
    let server = Server::start(&[]);
    let table = open(&server);
    receipt("locks-on-redis");
    Some(Fresh { table: Arc::new(Housed { table, _servers: vec![server] }), clock: tokio_clock(), short: SHORT })
}

async fn as_a_quorum() -> Option<Fresh> {
    if !installed() {
        return None;
    }
    let servers: Vec<Server> = (0..3).map(|_| Server::start(&[])).collect();
    // One of them may be late.
    servers.iter().for_each(Server::has_remembered_for_long);
    let tables = servers.iter().map(|server| Arc::new(open(server)) as Arc<dyn LockTable>).collect();
    let clock = tokio_clock();
    let table = Quorum::new(tables, clock.clone()).expect("three is odd");
    Some(Fresh { table: Arc::new(Housed { table, _servers: servers }), clock, short: SHORT })
}

mod one_server {
    campanile_coord::locks_conformance!(real, super::alone);
}

mod quorum_of_three {
    campanile_coord::locks_conformance!(real, super::as_a_quorum);
}

fn name(name: &str) -> LockName {
    LockName::new(name).expect("a good name")
}

fn owner(name: &str) -> Owner {
    Owner(name.to_owned())
}

fn entry(name: &str) -> Entry {
    Entry { owner: owner(name), number: 1, keeper: "k".to_owned() }
}

const SHORT: Duration = Duration::from_millis(800);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_keeps_the_promises() {
    if !installed() {
        return;
    }
    let nodes = cluster();
    let place = Place::Cluster(nodes.iter().map(Server::url).collect());
    let table = Arc::new(RedisLocks::open(place).expect("good addresses"));
    let fresh = Fresh { table, clock: tokio_clock(), short: SHORT };
    let empty = || nodes.iter().for_each(|node| assert_eq!(node.cli(&["FLUSHALL"]), "OK"));
    cases::a_lock_has_one_owner(&fresh).await;
    empty();
    cases::an_owner_enters_again_and_leaves_as_often(&fresh).await;
    empty();
    cases::a_lock_that_is_left_wakes_the_one_who_waits(&fresh).await;
    empty();
    cases::several_are_taken_together_or_none(&fresh).await;
    empty();
    // Its locks lie on different nodes.
    cases::people_see_holders_and_waiters(&fresh).await;
    empty();
    cases::many_at_once_are_one_at_a_time(&fresh).await;
    receipt("locks-on-redis-cluster");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_sentinel_locks_go_on_with_the_new_master() {
    if !installed() {
        return;
    }
    let (mut master, replica, sentinels) = watched();
    let clock = tokio_clock();
    let place = Place::Sentinel { sentinels: sentinels.iter().map(Server::url).collect(), master: "town".into() };
    let table = Arc::new(RedisLocks::open(place).expect("good addresses"));
    let locks = Locks::new(table, Arc::new(CountingFences::default()), clock.clone(), "k");
    let before = locks.take(&name("a"), &owner("one"), Keep::For(LONG), Duration::ZERO).await.expect("free");
    master.kill();
    let after = loop {
        match locks.take(&name("a"), &owner("two"), Keep::For(LONG), LONG * 3).await {
            Ok(holding) => break holding,
            Err(LockError::Unavailable(_)) => clock.sleep_until(clock.now() + Duration::from_millis(50)).await,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(after.token > before.token, "whatever the new master knows of the old holding, the token is a greater one");
    assert!(replica.cli(&["ROLE"]).starts_with("master"));
    receipt("locks-on-redis-sentinel");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quorum_outlives_one_server_that_forgets_everything() {
    if !installed() {
        return;
    }
    let mut servers: Vec<Server> = (0..3).map(|_| Server::start(&[])).collect();
    let tables = servers.iter().map(|server| Arc::new(open(server)) as Arc<dyn LockTable>).collect();
    let quorum = Quorum::new(tables, tokio_clock()).expect("three is odd");
    let lock = name("a");
    let first = quorum.enter(&lock, &entry("one"), LONG, None).await.expect("all answer");
    assert!(matches!(first, Entered::Ours { count: 1, .. }));
    servers[0].cli(&["FLUSHALL"]);
    let second = quorum.enter(&lock, &entry("two"), LONG, None).await.expect("all answer");
    assert!(matches!(second, Entered::Theirs { .. }), "{second:?}");
    servers[1].kill();
    let second = quorum.enter(&lock, &entry("two"), LONG, None).await;
    assert!(!matches!(second, Ok(Entered::Ours { .. })), "one that forgot and one that is away are no majority");
    quorum.renew(&lock, &owner("one"), LONG).await.expect_err("nor are they for the holder, who must stop");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_of_a_redis_begins_anew_when_it_forgets() {
    if !installed() {
        return;
    }
    let mut server = Server::start(&[]);
    let table = open(&server);
    assert!(table.memory().await.expect("it answers") < LONG);
    let flushed: fn(&mut Server) = |server| drop(server.cli(&["FLUSHALL"]));
    for forgets in [flushed, Server::restart] {
        server.has_remembered_for_long();
        assert!(table.memory().await.expect("it answers") > LONG);
        forgets(&mut server);
        let memory = loop {
            match table.memory().await {
                Ok(memory) => break memory,
                Err(LockError::Unavailable(_)) => tokio::task::yield_now().await,
                Err(other) => panic!("{other}"),
            }
        };
        assert!(memory < LONG, "{memory:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_forgets_can_hold_a_lock_twice_and_the_token_tells() {
    let Some(fresh) = alone().await else { return };
    let locks = Locks::new(fresh.table.clone(), Arc::new(CountingFences::default()), fresh.clock.clone(), "k");
    let lock = name("a");
    let mut first = locks.take(&lock, &owner("one"), Keep::Watched, Duration::ZERO).await.expect("free");
    // What FLUSHALL does to one lock.
    fresh.table.break_open(&lock).await.expect("forgotten");
    let second = locks.take(&lock, &owner("two"), Keep::Watched, Duration::ZERO).await.expect("forgotten");
    assert!(second.token > first.token, "what is written with the first one's token can be refused");
    locks.renew_all().await;
    first.lost().await;
}
