//! Two nodes that share a database and meet in Redis: with real servers, that are killed, flushed and come back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use campanile_api::views::Frame;
use campanile_api::{CallContext, Lang};
use campanile_coord_redis::{Place, Redis, keyspace};
use campanile_host::{Host, Options, Who};
use campanile_store::LeaseStore as _;
use campanile_tests::campanile::{Campanile, PATIENCE, wait_until};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::redis_servers::{self, receipt};
use crate::servers::{Database, Server};
use crate::team::configures;

fn joins(folder: &Path, database: &Database, redis: &redis_servers::Server, name: &str) {
    joins_in(folder, database, &format!("redis.url = \"{}\"\n", redis.url()), name);
}

fn joins_in(folder: &Path, database: &Database, redis: &str, name: &str) {
    let url = database.url();
    let text = format!("node.name = \"{name}\"\nembedded.enabled = true\ndatabase.url = \"{url}\"\n{redis}");
    configures(folder, &text, 0o600);
}

fn succeeded(of: &Campanile) -> usize {
    let page = of.cli(&["runs", "tick", "--state", "succeeded", "--limit", "500"]).done();
    page["rows"].as_array().map_or(0, Vec::len)
}

/// How the alarm of a Redis that is away stands.
fn alarm(of: &Campanile) -> Option<String> {
    let alarms = of.cli(&["alarms", "--all"]).done();
    let rows = alarms.as_array().cloned().unwrap_or_else(|| alarms["rows"].as_array().cloned().unwrap_or_default());
    let found = rows.into_iter().find(|alarm| alarm["rule"] == "coordination")?;
    found["state"].as_str().map(str::to_owned)
}

fn tasks_go_on(database: &Database, redis: &mut redis_servers::Server) {
    let (mut one, mut other) = (Campanile::new(), Campanile::new());
    joins(one.data(), database, redis, "one");
    joins(other.data(), database, redis, "other");
    let first = one.serves();
    let second = other.serves();
    // Handed in at one node and carried out by another.
    let tick = json!({
        "name": "tick",
        "schedule": {"kind": "fixedRate", "everySeconds": 1},
        "processor": "shell",
        "parameters": {"command": "true"},
    });
    other.applies(&[tick]);
    wait_until("it fires", || succeeded(&one) >= 2);
    assert_eq!(alarm(&one), None);

    redis.kill();
    let (gone_at, before) = (Instant::now(), succeeded(&other));
    wait_until("work goes on from the database", || succeeded(&other) >= before + 3);
    println!("three more runs {:?} after Redis was killed", gone_at.elapsed());
    wait_until("an alarm says so", || alarm(&other).as_deref() == Some("firing"));

    redis.restart();
    wait_until("the alarm ends with it", || alarm(&other).as_deref() == Some("resolved"));
    for _ in 0..3 {
        redis.cli(&["FLUSHALL"]);
        let before = succeeded(&other);
        wait_until("what Redis knew is missed by nobody", || succeeded(&other) > before);
    }

    redis.freeze();
    let before = succeeded(&other);
    wait_until("a Redis that only hangs holds nobody up", || succeeded(&other) >= before + 3);
    redis.thaw();

    first.kill_9();
    let before = succeeded(&other);
    wait_until("the other node goes on", || succeeded(&other) >= before + 3);
    other.checks_the_ledger();
    assert!(second.stop().success());
}

#[tokio::test]
async fn tasks_go_on_while_redis_is_killed_flushed_and_frozen() {
    let (Some(server), true) = (Server::shared(), redis_servers::installed()) else { return };
    let mut redis = redis_servers::Server::start(&[]);
    let way = Redis::at(Place::Single(redis.url())).expect("a good address");
    let database = server.database().await;
    let lived = tokio::task::spawn_blocking(move || {
        tasks_go_on(&database, &mut redis);
        (database, redis)
    });
    let _kept = lived.await.expect("the story came to its end");
    let reading = keyspace::read(&way).await.expect("readable");
    assert!(reading.keys > 0 && reading.breaches.is_empty(), "{:?}", reading.breaches);
    receipt("team-on-redis");
}

/// A node in this process.
struct Seated {
    host: Arc<Host>,
    shutdown: CancellationToken,
    run: tokio::task::JoinHandle<()>,
}

impl Seated {
    async fn at(folder: &Path) -> Seated {
        let who = Who::Serve { allow_shell: true, capacity: None };
        let host = Arc::new(Host::open(Options { data: folder.to_owned(), who }).await.expect("it opens"));
        let shutdown = CancellationToken::new();
        let run = tokio::spawn(host.clone().run(shutdown.clone()));
        Seated { host, shutdown, run }
    }

    async fn ask(&self, operation: &str, input: Value) -> Value {
        let cx = CallContext { who: self.host.person().clone(), zone: "UTC".to_owned(), lang: Lang::En };
        self.host.call(operation, input, &cx).await.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    async fn leaves(self) {
        self.shutdown.cancel();
        self.run.await.expect("it ends in good order");
        self.host.close().await;
    }
}

/// What a frame is, and what it says is stale.
fn changes(frame: &Frame) -> (String, Vec<Value>) {
    let frame = serde_json::to_value(frame).expect("JSON");
    let stale = frame["stale"].as_array().cloned().unwrap_or_default();
    (frame["kind"].as_str().unwrap_or_default().to_owned(), stale)
}

/// The live feed of a console whose node does not drive the engine: what exactly has changed, soon after it has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_at_another_node_is_told_what_has_changed() {
    let (Some(server), true) = (Server::shared(), redis_servers::installed()) else { return };
    let redis = redis_servers::Server::start(&[]);
    let database = server.database().await;
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    joins(one.path(), &database, &redis, "one");
    joins(other.path(), &database, &redis, "other");
    let story = async {
        let leads = Seated::at(one.path()).await;
        while !leads.host.leads() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let looks_on = Seated::at(other.path()).await;
        let spec = json!({
            "name": "work",
            "schedule": {"kind": "manual"},
            "processor": "shell",
            "parameters": {"command": "sleep 1; echo here"},
        });
        leads.ask("save_job", json!({"spec": spec})).await;
        let mut frames = looks_on.host.feed().subscribe();
        // Until nothing changes any more, and nothing of what came before is on the way.
        let mut calm = 0;
        while calm < 3 {
            let (_, stale) = changes(&frames.next().await.expect("the feed goes on"));
            calm = if stale.is_empty() { calm + 1 } else { 0 };
        }
        leads.ask("run_jobs", json!({"jobs": ["work"]})).await;
        // A log grows on the other machine. Whoever only sees that the database has changed takes all for changed.
        let told = loop {
            let (kind, stale) = changes(&frames.next().await.expect("the feed goes on"));
            let log = stale.iter().filter_map(Value::as_str).any(|name| name.starts_with("log:"));
            if log && kind == "delta" {
                break stale;
            }
        };
        assert!(!told.contains(&json!("settings")), "{told:?}");
        looks_on.leaves().await;
        leads.leaves().await;
    };
    tokio::time::timeout(PATIENCE, story).await.expect("in time");
    let way = Redis::at(Place::Single(redis.url())).expect("a good address");
    let reading = keyspace::read(&way).await.expect("readable");
    assert!(reading.breaches.is_empty(), "{:?}", reading.breaches);
}

/// Each of two nodes leads a share, and neither hears the other: what one of them writes is seen at both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consoles_of_nodes_that_meet_nowhere_see_what_either_of_them_changes() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    joins_in(one.path(), &database, "", "one");
    joins_in(other.path(), &database, "", "other");
    let story = async {
        let seated = [Seated::at(one.path()).await, Seated::at(other.path()).await];
        let store = database.open().await;
        let shared_out = async || {
            let (leases, now) = (store.leases("launch/").await.expect("an answer"), store.now().await.expect("a time"));
            let mut led: BTreeMap<String, usize> = BTreeMap::new();
            for row in leases.into_iter().filter(|row| row.until > now) {
                *led.entry(row.lead.holder).or_default() += 1;
            }
            led.into_values().eq([32, 32])
        };
        while !shared_out().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.close().await;
        let mut feeds = seated.each_ref().map(|node| node.host.feed().subscribe());
        for n in 0..2 {
            // The clerk is with one of them, and says so only there.
            let spec = json!({"name": format!("work-{n}"), "schedule": {"kind": "manual"}, "processor": "shell",
                              "parameters": {"command": "true"}});
            seated[0].ask("save_job", json!({"spec": spec})).await;
            for feed in &mut feeds {
                // A snapshot says everything for its own sake.
                loop {
                    let (kind, stale) = changes(&feed.next().await.expect("the feed goes on"));
                    if kind == "delta" && stale.contains(&json!("audit")) {
                        break;
                    }
                }
            }
        }
        for node in seated {
            node.leaves().await;
        }
    };
    tokio::time::timeout(PATIENCE, story).await.expect("in time");
}
