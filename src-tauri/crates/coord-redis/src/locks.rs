//! The lock table in Redis: one hash for each lock, changed by scripts only, and a sorted set of those who wait for it.
//!
//! Who leaves a lock says so on one channel, to which each process listens once. A message may be lost with its
//! connection; then everyone who waits is woken when the connection stands again, and looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::locks::{Entered, Entry, Found, LockError, LockName, LockRow, LockTable, Owner, Result};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use redis::{RedisError, RedisResult, Value};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::place::{Line, Place, PlaceError, Redis};
use crate::{PREFIX, encoded, ms, scripts};

scripts! {
    ENTER = "locks/enter.lua";
    LEAVE = "locks/leave.lua";
    ADOPT = "locks/adopt.lua";
    KEEP = "locks/keep.lua";
    GIVE_UP = "locks/give_up.lua";
    BREAK = "locks/break.lua";
    LOOK = "locks/look.lua";
    MEMORY = "locks/memory.lua";
}

/// Between two tries to listen.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);

/// The mark of a memory that nobody asks for is forgotten after so long; it only begins anew then.
const MARK_LASTS: Duration = Duration::from_secs(7 * 24 * 3600);

/// Keys that one step of a walk looks at, and the pause after it: a walk must not be felt by others.
const STEP: usize = 500;
const PAUSE: Duration = Duration::from_millis(1);

pub struct RedisLocks {
    line: Arc<Line>,
    bells: Arc<Bells>,
    listening: JoinHandle<()>,
}

impl Drop for RedisLocks {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl RedisLocks {
    /// Does not reach out: a Redis that is away is an error of each verb, until it is back.
    pub fn open(place: Place) -> std::result::Result<RedisLocks, PlaceError> {
        Ok(RedisLocks::on(&Redis::at(place)?))
    }

    /// On a connection that others use as well.
    pub fn on(redis: &Redis) -> RedisLocks {
        let line = redis.line();
        let bells = Arc::new(Bells::default());
        let listening = tokio::spawn(listen(line.place.clone(), bells.clone()));
        RedisLocks { line, bells, listening }
    }

    /// Names of keys that look like locks, at most `limit` of each node.
    async fn names(&self, limit: usize) -> RedisResult<Vec<LockName>> {
        let prefix = format!("{PREFIX}lock:{{");
        let mut names = Vec::new();
        for mut node in self.line.place.masters().await? {
            let mut cursor = 0u64;
            loop {
                let step = redis::cmd("SCAN")
                    .arg(cursor)
                    .arg("MATCH")
                    .arg(format!("{prefix}*"))
                    .arg("COUNT")
                    .arg(STEP)
                    .query_async::<(u64, Vec<String>)>(&mut node)
                    .await?;
                let read = |key: &String| {
                    let name = key.strip_prefix(&prefix)?.strip_suffix('}')?;
                    LockName::new(decoded(name)).ok()
                };
                names.extend(step.1.iter().filter_map(read));
                cursor = step.0;
                if cursor == 0 || names.len() >= limit.saturating_mul(4).max(STEP) {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        // A walk may meet a key twice.
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

#[async_trait]
impl LockTable for RedisLocks {
    async fn enter(&self, lock: &LockName, entry: &Entry, lease: Duration, waits: Option<Duration>) -> Result<Entered> {
        let mut script = ENTER.key(lock_key(lock));
        script.key(waiters_key(lock)).arg(&entry.owner.0).arg(entry.number).arg(&entry.keeper);
        script.arg(ms(lease)).arg(waits.map_or(0, ms));
        let (ours, first, second): (bool, Value, Value) = self.line.run(&script).await.map_err(away)?;
        if ours {
            let token: String = read(&second)?;
            return Ok(Entered::Ours { count: read(&first)?, token: token.parse().ok() });
        }
        let left: i64 = read(&second)?;
        Ok(Entered::Theirs {
            owner: Owner(read(&first)?),
            left: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
        })
    }

    async fn leave(&self, lock: &LockName, entry: &Entry, lease: Duration) -> Result<u32> {
        let mut script = LEAVE.key(lock_key(lock));
        script.arg(&entry.owner.0).arg(entry.number).arg(&entry.keeper);
        script.arg(ms(lease)).arg(channel()).arg(lock.as_str());
        let left: i64 = self.line.run(&script).await.map_err(away)?;
        u32::try_from(left).map_err(|_| LockError::NotHeld { lock: lock.clone(), owner: entry.owner.clone() })
    }

    async fn adopt(&self, lock: &LockName, entry: &Entry, lease: Option<Duration>) -> Result<Found> {
        let mut script = ADOPT.key(lock_key(lock));
        script.arg(&entry.owner.0).arg(entry.number).arg(&entry.keeper).arg(lease.map_or(0, ms));
        let found: Vec<Value> = self.line.run(&script).await.map_err(away)?;
        let [count, token, left] = found.as_slice() else {
            return Err(LockError::NotHeld { lock: lock.clone(), owner: entry.owner.clone() });
        };
        let left: i64 = read(left)?;
        Ok(Found {
            count: read(count)?,
            token: read::<String>(token)?.parse().ok(),
            left: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
        })
    }

    async fn renew(&self, lock: &LockName, owner: &Owner, lease: Duration) -> Result<()> {
        self.keep(lock, owner, "", lease).await
    }

    async fn stamp(&self, lock: &LockName, owner: &Owner, token: u64, lease: Duration) -> Result<()> {
        self.keep(lock, owner, &token.to_string(), lease).await
    }

    async fn gives_up(&self, lock: &LockName, owner: &Owner) -> Result<()> {
        self.line.run(GIVE_UP.key(waiters_key(lock)).arg(&owner.0)).await.map_err(away)
    }

    async fn break_open(&self, lock: &LockName) -> Result<bool> {
        let mut script = BREAK.key(lock_key(lock));
        script.arg(channel()).arg(lock.as_str());
        self.line.run(&script).await.map_err(away)
    }

    fn freed(&self, lock: &LockName) -> BoxFuture<'static, ()> {
        self.bells.listen(lock)
    }

    async fn held(&self, limit: usize) -> Result<Vec<LockRow>> {
        let mut rows = Vec::new();
        for lock in self.names(limit).await.map_err(away)? {
            if rows.len() == limit {
                break;
            }
            let mut script = LOOK.key(lock_key(&lock));
            script.key(waiters_key(&lock));
            let row: Vec<Value> = self.line.run(&script).await.map_err(away)?;
            // It has been left since the walk met it.
            let [owner, count, token, left, waiters] = row.as_slice() else { continue };
            let left: i64 = read(left)?;
            rows.push(LockRow {
                owner: Owner(read(owner)?),
                count: read(count)?,
                token: read::<String>(token)?.parse().ok(),
                left: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
                waiters: read(waiters)?,
                lock,
            });
        }
        Ok(rows)
    }

    async fn memory(&self) -> Result<Duration> {
        let mut script = MEMORY.key(format!("{PREFIX}lock-memory"));
        let millis: i64 = self.line.run(script.arg(ms(MARK_LASTS))).await.map_err(away)?;
        Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
    }
}

impl RedisLocks {
    async fn keep(&self, lock: &LockName, owner: &Owner, token: &str, lease: Duration) -> Result<()> {
        let mut script = KEEP.key(lock_key(lock));
        script.arg(&owner.0).arg(ms(lease)).arg(token);
        let kept: bool = self.line.run(&script).await.map_err(away)?;
        if kept { Ok(()) } else { Err(LockError::NotHeld { lock: lock.clone(), owner: owner.clone() }) }
    }
}

fn away(error: RedisError) -> LockError {
    LockError::Unavailable(Box::new(error))
}

fn read<T: redis::FromRedisValue>(value: &Value) -> Result<T> {
    redis::from_redis_value_ref(value).map_err(|error| LockError::Unavailable(Box::new(error)))
}

/// Both keys of a lock stand under its name as hash tag, so that one script may touch both in a cluster.
fn lock_key(lock: &LockName) -> String {
    format!("{PREFIX}lock:{{{}}}", encoded(lock.as_str()))
}

fn waiters_key(lock: &LockName) -> String {
    format!("{PREFIX}lock-waiters:{{{}}}", encoded(lock.as_str()))
}

fn channel() -> String {
    format!("{PREFIX}lock-left")
}

fn decoded(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        name.push_str(before);
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        name.push(code.map_or('%', char::from));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    name.push_str(rest);
    name
}

/// Those of this process who wait for a lock to be left.
#[derive(Default)]
struct Bells(Mutex<HashMap<LockName, watch::Sender<()>>>);

impl Bells {
    fn bells(&self) -> MutexGuard<'_, HashMap<LockName, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, lock: &LockName) -> BoxFuture<'static, ()> {
        let mut bells = self.bells();
        // Whoever gave up listening has left its bell behind.
        if bells.len() >= 1024 {
            bells.retain(|_, bell| bell.receiver_count() > 0);
        }
        let mut bell = bells.entry(lock.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        async move { drop(bell.changed().await) }.boxed()
    }

    fn ring(&self, lock: &LockName) {
        if let Some(bell) = self.bells().remove(lock) {
            bell.send_replace(());
        }
    }

    fn ring_all(&self) {
        for (_, bell) in self.bells().drain() {
            bell.send_replace(());
        }
    }
}

async fn listen(place: Place, bells: Arc<Bells>) {
    for turn in 0.. {
        if let Err(error) = listen_once(&place, turn, &bells).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "not listening for locks that are left");
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

async fn listen_once(place: &Place, turn: usize, bells: &Bells) -> RedisResult<()> {
    let mut messages = place.listening_post(turn).await?.get_async_pubsub().await?;
    messages.subscribe(channel()).await?;
    bells.ring_all();
    let mut messages = messages.into_on_message();
    while let Some(message) = messages.next().await {
        if let Ok(lock) = LockName::new(message.get_payload::<String>()?) {
            bells.ring(&lock);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_makes_one_hash_tag_and_is_read_back() {
        for name in ["a", "}", "{x}{", "50%", "%7b", "%", "a[b]*?\\", "order:17", "日报"] {
            let key = lock_key(&LockName::new(name).expect("a good name"));
            let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).expect("a tag");
            assert!(!tag.0.is_empty() && tag.1.is_empty(), "{key}");
            assert_eq!(decoded(tag.0), name);
        }
    }
}
