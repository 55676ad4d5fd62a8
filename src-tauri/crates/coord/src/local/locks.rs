//! The lock table of one process: the reference for any other.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::Clock;
use crate::locks::{Entered, Entry, Found, LockError, LockName, LockRow, LockTable, Owner, Result};

struct Row {
    owner: Owner,
    /// By number, each with its keeper.
    entries: BTreeMap<u64, String>,
    token: Option<u64>,
    until: Timestamp,
}

impl Row {
    fn count(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }
}

#[derive(Default)]
struct State {
    rows: BTreeMap<LockName, Row>,
    waiting: BTreeMap<LockName, HashMap<Owner, Timestamp>>,
    /// Rung when a lock is left; there while anyone listens.
    bells: HashMap<LockName, watch::Sender<()>>,
}

impl State {
    fn forget_what_is_over(&mut self, lock: &LockName, now: Timestamp) {
        if self.rows.get(lock).is_some_and(|row| row.until <= now) {
            self.rows.remove(lock);
        }
    }

    fn ring(&mut self, lock: &LockName) {
        if let Some(bell) = self.bells.remove(lock) {
            bell.send_replace(());
        }
    }

    fn of_owner(&mut self, lock: &LockName, owner: &Owner) -> Result<&mut Row> {
        let not_held = || LockError::NotHeld { lock: lock.clone(), owner: owner.clone() };
        self.rows.get_mut(lock).filter(|row| row.owner == *owner).ok_or_else(not_held)
    }

    fn waits_no_more(&mut self, lock: &LockName, owner: &Owner) {
        if let Some(waiting) = self.waiting.get_mut(lock) {
            waiting.remove(owner);
            if waiting.is_empty() {
                self.waiting.remove(lock);
            }
        }
    }
}

pub struct LocalLocks {
    clock: Arc<dyn Clock>,
    since: Timestamp,
    state: Mutex<State>,
}

impl LocalLocks {
    pub fn new(clock: Arc<dyn Clock>) -> LocalLocks {
        LocalLocks { since: clock.now(), clock, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state as it is now, with this lock's lease looked at.
    fn at(&self, lock: &LockName) -> (MutexGuard<'_, State>, Timestamp) {
        let now = self.clock.now();
        let mut state = self.state();
        state.forget_what_is_over(lock, now);
        (state, now)
    }
}

#[async_trait]
impl LockTable for LocalLocks {
    async fn enter(&self, lock: &LockName, entry: &Entry, lease: Duration, waits: Option<Duration>) -> Result<Entered> {
        let (mut state, now) = self.at(lock);
        let owner = &entry.owner;
        let free = || Row { owner: owner.clone(), entries: BTreeMap::new(), token: None, until: now };
        let row = state.rows.entry(lock.clone()).or_insert_with(free);
        if row.owner == *owner {
            row.entries.insert(entry.number, entry.keeper.clone());
            row.until = row.until.max(now + lease);
            let entered = Entered::Ours { count: row.count(), token: row.token };
            state.waits_no_more(lock, owner);
            return Ok(entered);
        }
        let theirs = Entered::Theirs { owner: row.owner.clone(), left: row.until.since(now) };
        if let Some(waits) = waits {
            state.waiting.entry(lock.clone()).or_default().insert(owner.clone(), now + waits);
        }
        Ok(theirs)
    }

    async fn leave(&self, lock: &LockName, entry: &Entry, lease: Duration) -> Result<u32> {
        let (mut state, now) = self.at(lock);
        let row = state.of_owner(lock, &entry.owner)?;
        if row.entries.get(&entry.number) != Some(&entry.keeper) {
            return Err(LockError::NotHeld { lock: lock.clone(), owner: entry.owner.clone() });
        }
        row.entries.remove(&entry.number);
        row.until = row.until.max(now + lease);
        let count = row.count();
        if count == 0 {
            state.rows.remove(lock);
            state.ring(lock);
        }
        Ok(count)
    }

    async fn adopt(&self, lock: &LockName, entry: &Entry, lease: Option<Duration>) -> Result<Found> {
        let (mut state, now) = self.at(lock);
        let row = state.of_owner(lock, &entry.owner)?;
        let Some(keeper) = row.entries.get_mut(&entry.number) else {
            return Err(LockError::NotHeld { lock: lock.clone(), owner: entry.owner.clone() });
        };
        keeper.clone_from(&entry.keeper);
        row.until = row.until.max(now + lease.unwrap_or_default());
        Ok(Found { count: row.count(), token: row.token, left: row.until.since(now) })
    }

    async fn renew(&self, lock: &LockName, owner: &Owner, lease: Duration) -> Result<()> {
        let (mut state, now) = self.at(lock);
        state.of_owner(lock, owner)?.until = now + lease;
        Ok(())
    }

    async fn stamp(&self, lock: &LockName, owner: &Owner, token: u64, lease: Duration) -> Result<()> {
        let (mut state, now) = self.at(lock);
        let row = state.of_owner(lock, owner)?;
        row.token = Some(token);
        row.until = now + lease;
        Ok(())
    }

    async fn gives_up(&self, lock: &LockName, owner: &Owner) -> Result<()> {
        self.state().waits_no_more(lock, owner);
        Ok(())
    }

    async fn break_open(&self, lock: &LockName) -> Result<bool> {
        let (mut state, _) = self.at(lock);
        let was_held = state.rows.remove(lock).is_some();
        state.ring(lock);
        Ok(was_held)
    }

    fn freed(&self, lock: &LockName) -> BoxFuture<'static, ()> {
        let mut bell = self.state().bells.entry(lock.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        // Its sender goes when it has rung; a ring just before that is a ring as well.
        async move { drop(bell.changed().await) }.boxed()
    }

    async fn held(&self, limit: usize) -> Result<Vec<LockRow>> {
        let now = self.clock.now();
        let mut state = self.state();
        state.rows.retain(|_, row| row.until > now);
        state.waiting.retain(|_, waiting| {
            waiting.retain(|_, until| *until > now);
            !waiting.is_empty()
        });
        let waiters = |lock: &LockName| state.waiting.get(lock).map_or(0, HashMap::len);
        Ok(state
            .rows
            .iter()
            .take(limit)
            .map(|(lock, row)| LockRow {
                lock: lock.clone(),
                owner: row.owner.clone(),
                count: row.count(),
                token: row.token,
                left: row.until.since(now),
                waiters: u32::try_from(waiters(lock)).unwrap_or(u32::MAX),
            })
            .collect())
    }

    async fn memory(&self) -> Result<Duration> {
        Ok(self.clock.now().since(self.since))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::LocalLocks;
    use crate::conformance::locks::Fresh;
    use crate::conformance::tokio_clock;
    use crate::locks::Quorum;

    const SHORT: Duration = Duration::from_millis(60);

    async fn fresh() -> Fresh {
        let clock = tokio_clock();
        Fresh { table: Arc::new(LocalLocks::new(clock.clone())), clock, short: SHORT }
    }

    /// Three of them as one: whatever one table promises.
    async fn fresh_quorum() -> Fresh {
        let clock = tokio_clock();
        let tables = (0..3).map(|_| Arc::new(LocalLocks::new(clock.clone())) as _).collect();
        Fresh { table: Arc::new(Quorum::new(tables, clock.clone()).expect("three is odd")), clock, short: SHORT }
    }

    mod alone {
        use super::fresh;

        crate::locks_conformance!(paused, fresh);
    }

    mod as_a_quorum {
        use super::fresh_quorum;

        crate::locks_conformance!(paused, fresh_quorum);
    }
}
