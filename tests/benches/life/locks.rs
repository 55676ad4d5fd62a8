//! What a lock costs, taken and released by one client after the other, against a plain SET NX PX and its deletion on the
//! same Redis in the same run: through the library with tokens counted in memory, with tokens out of SQLite, and by a task
//! over the stream of its executor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use campanile_coord::conformance::locks::CountingFences;
use campanile_coord::locks::{Fences, Keep, LockError, LockName, Locks, Owner};
use campanile_coord::spans;
use campanile_coord_redis::{Place, RedisLocks};
use campanile_engine::link::{AttemptRef, FromExecutor, Heard, Link as _, Method, Push, ToExecutor};
use campanile_gateway::{Caller, Door, Listener, Switchboard};
use campanile_model::instance::Origin;
use campanile_model::{Fault, TaskId};
use campanile_sdk::{Executor, Network, processor_fn};
use campanile_store::LockStore as _;
use campanile_store_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::figures::scaled;
use crate::redis_servers::{self, Server};
use crate::rig::now;

struct Stored(Arc<SqliteStore>);

#[async_trait]
impl Fences for Stored {
    async fn next(&self, lock: &LockName) -> Result<u64, LockError> {
        self.0.next_token(lock.as_str()).await.map_err(|error| LockError::Unavailable(Box::new(error)))
    }
}

pub async fn beside_a_plain_key() -> anyhow::Result<()> {
    if !redis_servers::installed() {
        return Ok(());
    }
    let server = Server::start(&[]);
    let most = scaled(20_000, 200);
    let plain = Micros::of(&plain(&server, most).await?);
    println!("{most} locks taken and released, one after the other, on one Redis");
    println!("  SET NX PX and its deletion: {plain}");
    let folder = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(&folder.path().join("tokens.db")).await?);
    let counted = Micros::of(&library(&server, Arc::new(CountingFences::default()), most).await?);
    println!("  a lock, its token counted in memory: {counted}; {}", counted.against(&plain));
    let stored = Micros::of(&library(&server, Arc::new(Stored(store.clone())), most).await?);
    println!("  a lock, its token out of SQLite: {stored}; {}", stored.against(&plain));
    let streamed = Micros::of(&streamed(&server, Arc::new(Stored(store.clone())), most).await?);
    println!("  the same by a task over its executor's stream: {streamed}; {}", streamed.against(&plain));
    // Each had a token of its own, and nothing is locked that was released.
    ensure!(store.next_token("bench").await? == 2 * most as u64 + 1, "holdings without tokens");
    ensure!(server.cli(&["KEYS", "*lock:*"]).is_empty(), "something is locked still");
    store.close().await?;
    Ok(())
}

async fn plain(server: &Server, most: usize) -> anyhow::Result<Vec<Duration>> {
    let mut connection = redis::Client::open(server.url())?.get_multiplexed_async_connection().await?;
    let own = redis::Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    );
    let mut spans = Vec::with_capacity(most);
    for n in 0..most {
        let began = Instant::now();
        let set: Option<String> =
            redis::cmd("SET").arg("plain").arg(n).arg("NX").arg("PX").arg(30_000).query_async(&mut connection).await?;
        let deleted: u32 = own.key("plain").arg(n).invoke_async(&mut connection).await?;
        spans.push(began.elapsed());
        ensure!(set.is_some() && deleted == 1, "it was not ours");
    }
    Ok(spans)
}

async fn library(server: &Server, fences: Arc<dyn Fences>, most: usize) -> anyhow::Result<Vec<Duration>> {
    let locks = locks_on(server, fences)?;
    let (name, owner) = (LockName::new("bench")?, Owner("bench".to_owned()));
    let mut spans = Vec::with_capacity(most);
    for _ in 0..most {
        let began = Instant::now();
        let holding = locks.take(&name, &owner, Keep::Watched, Duration::ZERO).await?;
        ensure!(locks.leave(&holding).await? == 0, "it is still entered");
        spans.push(began.elapsed());
    }
    Ok(spans)
}

fn locks_on(server: &Server, fences: Arc<dyn Fences>) -> anyhow::Result<Locks> {
    let table = Arc::new(RedisLocks::open(Place::Single(server.url()))?);
    Ok(Locks::new(table, fences, spans(), "bench"))
}

struct OpenDoor;

#[async_trait]
impl Door for OpenDoor {
    async fn admits(&self, _: &Caller) -> Result<(), Fault> {
        Ok(())
    }
}

/// A node that does nothing but push one task and give out locks; its executor comes over a real socket.
async fn streamed(server: &Server, fences: Arc<dyn Fences>, most: usize) -> anyhow::Result<Vec<Duration>> {
    let board = Arc::new(Switchboard::default());
    let room = board.gives_out_locks(Arc::new(locks_on(server, fences)?));
    let listener = Listener::bind("127.0.0.1:0".parse()?).await?;
    let address = listener.address().to_string();
    let shutdown = CancellationToken::new();
    let listening = tokio::spawn(listener.run(board.clone(), Arc::new(OpenDoor), shutdown.clone()));
    let keeping = tokio::spawn(async move { room.run().await });
    let answering = tokio::spawn({
        let board = board.clone();
        async move {
            loop {
                let Heard { session, said } = board.hear().await;
                match said {
                    FromExecutor::Register(_) => {
                        let node = "bench".to_owned();
                        board.tell(session, ToExecutor::Welcome { node, still_yours: Vec::new(), draining: false });
                        board.tell(session, ToExecutor::Push(Box::new(one_task())));
                    }
                    FromExecutor::Heartbeat { number, .. } => {
                        board.tell(session, ToExecutor::HeartbeatSeen { number });
                    }
                    _ => {}
                }
            }
        }
    });
    let (tell, mut told) = mpsc::unbounded_channel();
    let executor = Executor::builder("bench", "bench")
        .processor(processor_fn("locks", move |ctx| {
            let tell = tell.clone();
            async move {
                for _ in 0..most {
                    let began = Instant::now();
                    ctx.lock("bench").wait(Duration::ZERO).await?.release().await?;
                    // Whoever measures has gone only when it has failed.
                    let _ = tell.send(began.elapsed());
                }
                Ok(json!(most))
            }
        }))
        .build()?;
    let running = tokio::spawn(executor.run(Network::to(address), shutdown.clone()));
    let mut spans = Vec::with_capacity(most);
    while spans.len() < most {
        let next = tokio::time::timeout(Duration::from_secs(60), told.recv()).await;
        spans.push(next.context("the task says nothing")?.context("the task has failed")?);
    }
    shutdown.cancel();
    for part in [answering.abort_handle(), running.abort_handle()] {
        part.abort();
    }
    keeping.abort();
    listening.await?;
    Ok(spans)
}

fn one_task() -> Push {
    Push {
        attempt: AttemptRef { task: TaskId::from_bytes([7; 16]), attempt: 1 },
        idempotency_key: "bench".to_owned(),
        processor: "locks".to_owned(),
        parameters: Value::Object(serde_json::Map::new()).to_string(),
        job: "bench".to_owned(),
        instance: "bench".to_owned(),
        planned: now(),
        due: now(),
        version: 1,
        origin: Origin::Manual,
        tenant: None,
        deadline: None,
        kill_on_overrun: false,
        sequence_after: 0,
        secrets: Vec::new(),
        upstream: Vec::new(),
        method: Method::Process,
        shard: None,
        notice: None,
        more_follows: false,
    }
}

/// Spans in microseconds, in order.
struct Micros(Vec<u128>);

impl Micros {
    fn of(spans: &[Duration]) -> Micros {
        let mut micros: Vec<u128> = spans.iter().map(Duration::as_micros).collect();
        micros.sort_unstable();
        Micros(micros)
    }

    fn at(&self, share: f64) -> u128 {
        let place = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(place.saturating_sub(1)).copied().unwrap_or(0)
    }

    fn against(&self, other: &Micros) -> String {
        let times = |share| self.at(share) as f64 / other.at(share).max(1) as f64;
        format!("{:.1} times at p50, {:.1} at p99", times(0.5), times(0.99))
    }
}

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let most = self.0.last().copied().unwrap_or(0);
        write!(f, "p50 {} µs, p95 {} µs, p99 {} µs, most {most} µs", self.at(0.5), self.at(0.95), self.at(0.99))
    }
}
