//! Taking locks and keeping them: waiting, the watchdog, fencing tokens, several at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::Timestamp;
use futures::future::{Either, join_all, select};
use tokio::sync::watch;

use super::{Entered, Fences, LEASE, LockError, LockName, LockTable, Owner, RENEW_EVERY, Result};
use crate::Clock;

/// How long a holding lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until it is left: the watchdog renews it.
    Watched,
    /// For so long, and not renewed.
    For(Duration),
}

impl Keep {
    fn lease(self) -> Duration {
        match self {
            Keep::Watched => LEASE,
            Keep::For(lease) => lease,
        }
    }
}

/// A lock that was taken, as its holder knows it. Dropping it leaves nothing: a holder says so, or its lease ends.
#[derive(Clone, Debug)]
pub struct Holding {
    pub lock: LockName,
    pub owner: Owner,
    /// Greater than that of every holding of this lock before.
    pub token: u64,
    /// How often it is entered by now.
    pub count: u32,
    keep: Keep,
    lost: watch::Receiver<bool>,
}

impl Holding {
    /// Resolves when the watchdog finds the lock lost: whatever only a holder may do must stop. Never resolves for one
    /// that is not watched, nor after it was left.
    pub async fn lost(&mut self) {
        if self.lost.wait_for(|lost| *lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

struct Watched {
    /// When it ends unless it is renewed, by our clock.
    until: Timestamp,
    lost: watch::Sender<bool>,
}

/// The lock library of one process.
pub struct Locks {
    table: Arc<dyn LockTable>,
    fences: Arc<dyn Fences>,
    clock: Arc<dyn Clock>,
    watched: Mutex<BTreeMap<(LockName, Owner), Watched>>,
}

impl Locks {
    pub fn new(table: Arc<dyn LockTable>, fences: Arc<dyn Fences>, clock: Arc<dyn Clock>) -> Locks {
        Locks { table, fences, clock, watched: Mutex::default() }
    }

    /// Takes the lock, waiting for at most `patience`; zero tries once.
    ///
    /// A waiter sleeps until it hears that the lock was left or until the holder's time has passed, whichever is first.
    pub async fn take(&self, lock: &LockName, owner: &Owner, keep: Keep, patience: Duration) -> Result<Holding> {
        let give_up_at = self.clock.now() + patience;
        loop {
            // Listening begins before the try, so that a lock left in between is heard of.
            let freed = self.table.freed(lock);
            let before = self.clock.now();
            let waits = give_up_at.since(before);
            let waits = (waits > Duration::ZERO).then_some(waits);
            match self.table.enter(lock, owner, keep.lease(), waits).await? {
                Entered::Ours { count, token } => match self.token(lock, owner, keep, token).await {
                    Ok(token) => return Ok(self.held(lock, owner, keep, count, token, before)),
                    // It expired before it had its token: as if it had never been taken.
                    Err(LockError::NotHeld { .. }) => {}
                    Err(error) => {
                        self.leave_in_haste(lock, owner, keep).await;
                        return Err(error);
                    }
                },
                Entered::Theirs { owner: holder, left } => {
                    let now = self.clock.now();
                    if now >= give_up_at {
                        self.table.gives_up(lock, owner).await?;
                        return Err(LockError::TimedOut { lock: lock.clone(), holder });
                    }
                    // Not a moment too early: a try just before the end would be one for nothing.
                    let look_at = (now + left + Duration::from_millis(1)).min(give_up_at);
                    if let Either::Left(((), _)) = select(freed, self.clock.sleep_until(look_at)).await {
                        continue;
                    }
                }
            }
        }
    }

    /// Takes all of them or none, waiting for at most `patience` altogether. Everyone takes them in the order of their
    /// names, so that two who want the same ones never wait for each other.
    pub async fn take_all(
        &self,
        locks: &[LockName],
        owner: &Owner,
        keep: Keep,
        patience: Duration,
    ) -> Result<Vec<Holding>> {
        let give_up_at = self.clock.now() + patience;
        let mut names = locks.to_vec();
        names.sort_unstable();
        names.dedup();
        let mut taken: Vec<Holding> = Vec::with_capacity(names.len());
        for lock in &names {
            let left = give_up_at.since(self.clock.now());
            match self.take(lock, owner, keep, left).await {
                Ok(holding) => taken.push(holding),
                Err(error) => {
                    for holding in taken.into_iter().rev() {
                        self.forget(&holding.lock, &holding.owner);
                        self.leave_in_haste(&holding.lock, &holding.owner, keep).await;
                    }
                    return Err(error);
                }
            }
        }
        Ok(taken)
    }

    /// Leaves once what was taken once. Says how often it is still entered; 0: it is free.
    pub async fn leave(&self, holding: &Holding) -> Result<u32> {
        let left = self.table.leave(&holding.lock, &holding.owner, holding.keep.lease()).await;
        if !matches!(left, Ok(1..) | Err(LockError::Unavailable(_))) {
            self.forget(&holding.lock, &holding.owner);
        }
        left
    }

    /// The watchdog: renews what is watched, for as long as it is polled. Whoever hosts the library runs it.
    pub async fn keep_alive(&self) -> std::convert::Infallible {
        loop {
            self.clock.sleep_until(self.clock.now() + RENEW_EVERY).await;
            self.renew_all().await;
        }
    }

    /// One round of the watchdog.
    pub async fn renew_all(&self) {
        let held: Vec<(LockName, Owner)> = self.lock().keys().cloned().collect();
        join_all(held.iter().map(|(lock, owner)| self.renew(lock, owner))).await;
    }

    async fn renew(&self, lock: &LockName, owner: &Owner) {
        let asked_at = self.clock.now();
        let renewed = self.table.renew(lock, owner, LEASE).await;
        let now = self.clock.now();
        let key = (lock.clone(), owner.clone());
        let mut watched = self.lock();
        let Some(entry) = watched.get_mut(&key) else { return };
        let lost = match renewed {
            Ok(()) => {
                // From when it was asked, so that we never believe in it for longer than the table does.
                entry.until = asked_at + LEASE;
                false
            }
            Err(LockError::Unavailable(cause)) => {
                tracing::warn!(%lock, %owner, error = &*cause as &dyn std::error::Error, "a lock could not be renewed");
                now + RENEW_EVERY >= entry.until
            }
            Err(_) => true,
        };
        if lost {
            tracing::warn!(%lock, %owner, "a lock was lost");
            entry.lost.send_replace(true);
            watched.remove(&key);
        }
    }

    /// A holding's token: the one it has, or a new one.
    ///
    /// The token is asked for first and written into the holding after: that it is still ours then proves that nobody
    /// had the lock in between, and so that tokens grow in the order in which the lock was held.
    async fn token(&self, lock: &LockName, owner: &Owner, keep: Keep, known: Option<u64>) -> Result<u64> {
        if let Some(token) = known {
            return Ok(token);
        }
        let token = self.fences.next(lock).await?;
        self.table.stamp(lock, owner, token, keep.lease()).await?;
        Ok(token)
    }

    fn held(&self, lock: &LockName, owner: &Owner, keep: Keep, count: u32, token: u64, since: Timestamp) -> Holding {
        let lost = match keep {
            // Its sender is gone at once: it is never told that it is lost.
            Keep::For(_) => watch::channel(false).1,
            Keep::Watched => {
                let mut watched = self.lock();
                let entry = watched
                    .entry((lock.clone(), owner.clone()))
                    .or_insert_with(|| Watched { until: since + LEASE, lost: watch::Sender::new(false) });
                entry.until = since + LEASE;
                entry.lost.subscribe()
            }
        };
        Holding { lock: lock.clone(), owner: owner.clone(), token, count, keep, lost }
    }

    /// For one that is of no use: whether it worked is of no interest, since it expires by itself.
    async fn leave_in_haste(&self, lock: &LockName, owner: &Owner, keep: Keep) {
        if let Err(error) = self.table.leave(lock, owner, keep.lease()).await {
            tracing::debug!(%lock, %owner, error = &error as &dyn std::error::Error, "left to expire");
        }
    }

    fn forget(&self, lock: &LockName, owner: &Owner) {
        self.lock().remove(&(lock.clone(), owner.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(LockName, Owner), Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
