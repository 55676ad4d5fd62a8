//! Taking locks and keeping them: waiting, the watchdog, fencing tokens, several at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::Timestamp;
use futures::future::{Either, join_all, select};
use tokio::sync::watch;

use super::{Entered, Entry, Fences, LEASE, LockError, LockName, LockTable, Owner, RENEW_EVERY, Result};
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

/// What somebody wants of a lock, or of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub owner: Owner,
    /// Asking again under the same number is asking once.
    pub number: u64,
    pub keep: Keep,
    /// How long it waits, for all of them together; zero tries once.
    pub patience: Duration,
}

/// A lock that was taken, as its holder knows it. Dropping it leaves nothing: a holder says so, or its lease ends.
#[derive(Clone, Debug)]
pub struct Holding {
    pub lock: LockName,
    pub entry: Entry,
    /// Greater than that of every holding of this lock before.
    pub token: u64,
    /// How often it is entered by now.
    pub count: u32,
    /// Until when it was known to last, by the library's clock; a watched one goes on from there.
    pub until: Timestamp,
    pub keep: Keep,
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
    /// Those of its entries that are to be kept alive, by number.
    entries: BTreeSet<u64>,
    /// When it ends unless it is renewed, by our clock.
    until: Timestamp,
    lost: watch::Sender<bool>,
}

/// The lock library of one process.
pub struct Locks {
    table: Arc<dyn LockTable>,
    fences: Arc<dyn Fences>,
    clock: Arc<dyn Clock>,
    keeper: String,
    drawn: AtomicU64,
    watched: Mutex<BTreeMap<(LockName, Owner), Watched>>,
}

impl Locks {
    /// `keeper` is this life of this process. The clock is for spans: it is not to be set.
    pub fn new(
        table: Arc<dyn LockTable>,
        fences: Arc<dyn Fences>,
        clock: Arc<dyn Clock>,
        keeper: impl Into<String>,
    ) -> Locks {
        // Far from the numbers that others choose for themselves.
        let drawn = AtomicU64::new(1 << 62);
        Locks { table, fences, clock, keeper: keeper.into(), drawn, watched: Mutex::default() }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes the lock, or enters once more what is the owner's, waiting for at most `patience`.
    pub async fn take(&self, lock: &LockName, owner: &Owner, keep: Keep, patience: Duration) -> Result<Holding> {
        self.take_one(lock, &self.wish(owner, keep, patience)).await
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
        self.take_as(locks, &self.wish(owner, keep, patience)).await
    }

    fn wish(&self, owner: &Owner, keep: Keep, patience: Duration) -> Wish {
        Wish { owner: owner.clone(), number: self.drawn.fetch_add(1, Ordering::Relaxed), keep, patience }
    }

    /// The same for one who numbers what it asks. Whoever drops this before it is done says [`Locks::withdraw`].
    pub async fn take_as(&self, locks: &[LockName], wish: &Wish) -> Result<Vec<Holding>> {
        let give_up_at = self.clock.now() + wish.patience;
        let mut taken: Vec<Holding> = Vec::with_capacity(locks.len());
        for lock in in_order(locks) {
            let left = give_up_at.since(self.clock.now());
            match self.take_one(&lock, &Wish { patience: left, ..wish.clone() }).await {
                Ok(holding) => taken.push(holding),
                Err(error) => {
                    for holding in taken.into_iter().rev() {
                        self.forget(&holding.lock, &holding.entry);
                        self.leave_in_haste(&holding.lock, &holding.entry, wish.keep).await;
                    }
                    return Err(error);
                }
            }
        }
        Ok(taken)
    }

    /// A waiter sleeps until it hears that the lock was left or until the holder's time has passed, whichever is first.
    async fn take_one(&self, lock: &LockName, wish: &Wish) -> Result<Holding> {
        let entry = self.entry(&wish.owner, wish.number);
        let give_up_at = self.clock.now() + wish.patience;
        loop {
            // Listening begins before the try, so that a lock left in between is heard of.
            let freed = self.table.freed(lock);
            let before = self.clock.now();
            let waits = give_up_at.since(before);
            let waits = (waits > Duration::ZERO).then_some(waits);
            match self.table.enter(lock, &entry, wish.keep.lease(), waits).await? {
                Entered::Ours { count, token } => match self.token(lock, &wish.owner, wish.keep, token).await {
                    Ok(token) => {
                        return Ok(self.held(lock, entry, wish.keep, count, token, before + wish.keep.lease()));
                    }
                    // It expired before it had its token: as if it had never been taken.
                    Err(LockError::NotHeld { .. }) => {}
                    Err(error) => {
                        self.leave_in_haste(lock, &entry, wish.keep).await;
                        return Err(error);
                    }
                },
                Entered::Theirs { owner: holder, left } => {
                    let now = self.clock.now();
                    if now >= give_up_at {
                        self.table.gives_up(lock, &wish.owner).await?;
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

    /// Leaves once what was taken once. Says how often it is still entered; 0: it is free.
    pub async fn leave(&self, holding: &Holding) -> Result<u32> {
        let left = self.table.leave(&holding.lock, &holding.entry, holding.keep.lease()).await;
        match left {
            // It may be there still, and whoever asks again must find it.
            Err(LockError::Unavailable(_)) => {}
            Err(_) => drop(self.lock().remove(&(holding.lock.clone(), holding.entry.owner.clone()))),
            Ok(_) => self.forget(&holding.lock, &holding.entry),
        }
        left
    }

    /// The watchdog cares for it no more: it goes by itself. For one that could not be left.
    pub fn let_expire(&self, holding: &Holding) {
        self.forget(&holding.lock, &holding.entry);
    }

    /// When what is watched ends unless it is renewed once more, by the library's clock. None: it is not watched here.
    pub fn watched_until(&self, lock: &LockName, owner: &Owner) -> Option<Timestamp> {
        self.lock().get(&(lock.clone(), owner.clone())).map(|watched| watched.until)
    }

    /// Goes on with a lock that the owner took through someone else, or through an earlier life of this process, where
    /// it is still the owner's and has the token that the owner knows.
    pub async fn adopt(&self, lock: &LockName, owner: &Owner, number: u64, keep: Keep, token: u64) -> Result<Holding> {
        let entry = self.entry(owner, number);
        let before = self.clock.now();
        let lease = (keep == Keep::Watched).then_some(LEASE);
        let found = self.table.adopt(lock, &entry, lease).await?;
        if found.token != Some(token) {
            // Another holding of the same owner's, of which it does not know.
            return Err(LockError::NotHeld { lock: lock.clone(), owner: owner.clone() });
        }
        Ok(self.held(lock, entry, keep, found.count, token, before + found.left))
    }

    /// For one who does not want them any more and does not know whether it has them: what was entered is left, and
    /// nobody waits.
    pub async fn withdraw(&self, locks: &[LockName], wish: &Wish) {
        let entry = self.entry(&wish.owner, wish.number);
        for lock in in_order(locks).into_iter().rev() {
            self.forget(&lock, &entry);
            let (gave_up, ()) = futures::future::join(
                self.table.gives_up(&lock, &wish.owner),
                self.leave_in_haste(&lock, &entry, wish.keep),
            )
            .await;
            if let Err(error) = gave_up {
                tracing::debug!(%lock, error = &error as &dyn std::error::Error, "it is shown as waiting for a while");
            }
        }
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
                entry.until = entry.until.max(asked_at + LEASE);
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

    fn held(&self, lock: &LockName, entry: Entry, keep: Keep, count: u32, token: u64, until: Timestamp) -> Holding {
        let lost = match keep {
            // Its sender is gone at once: it is never told that it is lost.
            Keep::For(_) => watch::channel(false).1,
            Keep::Watched => {
                let mut watched = self.lock();
                let of_owner = watched.entry((lock.clone(), entry.owner.clone())).or_insert_with(|| Watched {
                    entries: BTreeSet::new(),
                    until,
                    lost: watch::Sender::new(false),
                });
                of_owner.entries.insert(entry.number);
                of_owner.until = of_owner.until.max(until);
                of_owner.lost.subscribe()
            }
        };
        Holding { lock: lock.clone(), entry, token, count, until, keep, lost }
    }

    fn entry(&self, owner: &Owner, number: u64) -> Entry {
        Entry { owner: owner.clone(), number, keeper: self.keeper.clone() }
    }

    /// For one that is of no use: whether it worked is of no interest, since it expires by itself.
    async fn leave_in_haste(&self, lock: &LockName, entry: &Entry, keep: Keep) {
        if let Err(error) = self.table.leave(lock, entry, keep.lease()).await {
            tracing::debug!(%lock, owner = %entry.owner, error = &error as &dyn std::error::Error, "left to expire");
        }
    }

    /// The entry is watched no more; the others of its owner's are.
    fn forget(&self, lock: &LockName, entry: &Entry) {
        let key = (lock.clone(), entry.owner.clone());
        let mut watched = self.lock();
        if let Some(of_owner) = watched.get_mut(&key) {
            of_owner.entries.remove(&entry.number);
            if of_owner.entries.is_empty() {
                watched.remove(&key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(LockName, Owner), Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each once, by name.
fn in_order(locks: &[LockName]) -> Vec<LockName> {
    let mut names = locks.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}
