//! Locks: one holder at a time, across everyone who shares the meeting place.
//!
//! A [`LockTable`] remembers who holds what and until when; it is what a backend answers. [`Locks`] is what people
//! use: it waits, keeps alive what it took, and gives each holding its fencing token. [`Quorum`] makes one table out
//! of several that do not know each other.
//!
//! A lock is an agreement, not a wall. A table that loses its memory, or a holder that sleeps through its lease, can
//! leave two who believe that they hold the same lock. What must never be written twice therefore shows the token of
//! its holding, which only ever grows, and is refused where a greater one has been shown before.

mod quorum;
mod take;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;

pub use quorum::Quorum;
pub use take::{Holding, Keep, Locks, Wish};

/// A holding that nobody renews ends after so long.
pub const LEASE: Duration = Duration::from_secs(30);

/// The watchdog renews what it keeps this often.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);

pub const LONGEST_NAME: usize = 200;

/// What is locked: 1 to 200 bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockName(String);

impl LockName {
    pub fn new(name: impl Into<String>) -> Result<LockName> {
        let name = name.into();
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
        if fits { Ok(LockName(name)) } else { Err(LockError::BadName(name)) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who holds or waits. An attempt of an executor's life, a node's officer: whoever enters under the same owner enters
/// the same holding, so two that must not share one are two owners.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub String);

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One time that an owner enters a lock. Entering again under the same number is entering once: whoever did not hear
/// the answer asks again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    pub owner: Owner,
    /// The owner's own: it tells its entries apart by it.
    pub number: u64,
    /// Through whom it was entered, one life of a node: only that one leaves it. When the owner has gone over to another
    /// keeper, what the one before says of it counts no more.
    pub keeper: String,
}

/// What is known of a holding of which an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub count: u32,
    pub token: Option<u64>,
    pub left: Duration,
}

/// The answer to one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entered {
    /// It is the owner's, entered so many times by now; `token` once the holding has one.
    Ours { count: u32, token: Option<u64> },
    /// Someone else's, for at most so long unless it is renewed.
    Theirs { owner: Owner, left: Duration },
}

/// A lock as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRow {
    pub lock: LockName,
    pub owner: Owner,
    pub count: u32,
    pub token: Option<u64>,
    pub left: Duration,
    /// Those who wait for it now, as far as is known.
    pub waiters: u32,
}

/// An error is a different thing to do next.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Choose another name.
    #[error("a lock's name has 1 to {LONGEST_NAME} bytes and no control characters: {0:?}")]
    BadName(String),

    /// It is not the owner's, or not any more. Stop what only a holder may do.
    #[error("{owner} does not hold {lock}")]
    NotHeld { lock: LockName, owner: Owner },

    /// The time to wait is over; someone else holds it still.
    #[error("{lock} is held by {holder}")]
    TimedOut { lock: LockName, holder: Owner },

    /// Whether it was done is not known. Locks expire by themselves: try again, or do without.
    #[error("the lock table does not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

pub type Result<T> = std::result::Result<T, LockError>;

/// Who holds what. Every verb is one step: of two that ask at once one comes first, wholly.
///
/// Entering and leaving make a holding expire no sooner than `lease` from now; renewing it and writing its token down
/// make it expire just then.
#[async_trait]
pub trait LockTable: Send + Sync {
    /// Takes a free lock, or enters once more what is the owner's already.
    ///
    /// Where it is someone else's and `waits` is given, the owner is shown as waiting for so long, or until it has
    /// the lock or says [`LockTable::gives_up`].
    async fn enter(&self, lock: &LockName, entry: &Entry, lease: Duration, waits: Option<Duration>) -> Result<Entered>;

    /// Leaves what was entered once, where the entry is there and is its keeper's; the lock is free when no entry is
    /// left. Says how often it is still entered.
    async fn leave(&self, lock: &LockName, entry: &Entry, lease: Duration) -> Result<u32>;

    /// Makes the entry its keeper's, through whomever it was entered; for an owner that has gone over to another one. A
    /// lease is given where it is to be kept alive from now on.
    async fn adopt(&self, lock: &LockName, entry: &Entry, lease: Option<Duration>) -> Result<Found>;

    async fn renew(&self, lock: &LockName, owner: &Owner, lease: Duration) -> Result<()>;

    /// Writes the token of the holding down, where it is still the owner's.
    async fn stamp(&self, lock: &LockName, owner: &Owner, token: u64, lease: Duration) -> Result<()>;

    /// The owner does not wait any more. Nothing where it did not.
    async fn gives_up(&self, lock: &LockName, owner: &Owner) -> Result<()>;

    /// Takes the lock from whoever holds it; for people. False: it was free.
    async fn break_open(&self, lock: &LockName) -> Result<bool>;

    /// Resolves when the lock may have become free since this was called. It may resolve for nothing, and a message
    /// may be lost: whoever waits also looks when the holder's time has passed.
    fn freed(&self, lock: &LockName) -> BoxFuture<'static, ()>;

    /// Held locks by name, at most `limit`.
    async fn held(&self, limit: usize) -> Result<Vec<LockRow>>;

    /// For how long it has certainly forgotten nothing. A restart, or whatever else empties it, begins this anew.
    async fn memory(&self) -> Result<Duration>;
}

/// Where tokens come from: something that does not forget.
#[async_trait]
pub trait Fences: Send + Sync {
    /// Greater than every one that was given out for this lock before.
    async fn next(&self, lock: &LockName) -> Result<u64>;
}
