//! One lock table out of several that share nothing: a lock is held where more than half of them say so.
//!
//! Losing a minority of them, with all they remembered, gives no lock to two holders. One that has forgotten says yes to
//! everybody, so its word counts only once every lease that it may have forgotten has ended; until then the others have
//! to agree without it. What all this costs is a message or two to each for every step.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;
use futures::FutureExt;
use futures::future::{BoxFuture, Either, join_all, select, select_all};

use super::{Entered, Entry, Found, LockError, LockName, LockRow, LockTable, Owner, Result};
use crate::Clock;

/// How far the clocks of the tables may run apart, as a part of the lease, and a moment for rounding.
const DRIFT_PART: u32 = 100;
const DRIFT: Duration = Duration::from_millis(2);

/// Longer leases are only given by all tables together: no table's word is waited for longer than this.
const REMEMBERS: Duration = super::LEASE;

pub struct Quorum {
    tables: Vec<Arc<dyn LockTable>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, thiserror::Error)]
#[error("a quorum lock needs an odd number of tables, three or more, not {0}")]
pub struct NotOdd(pub usize);

#[derive(Debug, thiserror::Error)]
#[error("only {answered} of {asked} lock tables answered in time and have remembered for long enough")]
struct TooFew {
    answered: usize,
    asked: usize,
}

impl Quorum {
    pub fn new(tables: Vec<Arc<dyn LockTable>>, clock: Arc<dyn Clock>) -> std::result::Result<Quorum, NotOdd> {
        if tables.len() < 3 || tables.len().is_multiple_of(2) {
            return Err(NotOdd(tables.len()));
        }
        Ok(Quorum { tables, clock })
    }

    fn majority(&self) -> usize {
        self.tables.len() / 2 + 1
    }

    /// One table that hangs must not eat the validity of what the others gave.
    async fn of_all<'a, T, F>(&'a self, lease: Duration, ask: impl Fn(&'a dyn LockTable) -> F) -> Vec<Result<T>>
    where
        F: Future<Output = Result<T>> + Send + 'a,
    {
        let late = self.clock.now() + (lease / 10).max(Duration::from_millis(5));
        let answers = self.tables.iter().map(|table| {
            let answer = Box::pin(ask(table.as_ref()));
            async move {
                match select(answer, self.clock.sleep_until(late)).await {
                    Either::Left((answer, _)) => answer,
                    Either::Right(_) => Err(LockError::Unavailable(Box::new(TooFew { answered: 0, asked: 1 }))),
                }
            }
        });
        join_all(answers).await
    }

    /// A table's answer, and for how long it has forgotten nothing: asked afterwards, so that what it gave is in it.
    async fn gives(
        &self,
        table: &dyn LockTable,
        lock: &LockName,
        entry: &Entry,
        lease: Duration,
        waits: Option<Duration>,
    ) -> Result<(Entered, Duration)> {
        let entered = table.enter(lock, entry, lease, waits).await?;
        let memory = match entered {
            Entered::Ours { .. } => table.memory().await?,
            Entered::Theirs { .. } => Duration::ZERO,
        };
        Ok((entered, memory))
    }

    /// A verb that only a holder may use: a majority must say that it was one.
    async fn as_holder<'a, T, F>(
        &'a self,
        lock: &LockName,
        owner: &Owner,
        lease: Duration,
        ask: impl Fn(&'a dyn LockTable) -> F,
    ) -> Result<Vec<T>>
    where
        F: Future<Output = Result<T>> + Send + 'a,
    {
        let mut done = Vec::new();
        let mut refused = 0;
        for answer in self.of_all(lease, ask).await {
            match answer {
                Ok(answer) => done.push(answer),
                Err(LockError::NotHeld { .. }) => refused += 1,
                Err(_) => {}
            }
        }
        let asked = self.tables.len();
        if done.len() >= self.majority() {
            Ok(done)
        } else if refused > asked - self.majority() {
            Err(LockError::NotHeld { lock: lock.clone(), owner: owner.clone() })
        } else {
            Err(LockError::Unavailable(Box::new(TooFew { answered: done.len() + refused, asked })))
        }
    }

    /// What more than half of the tables say. One that still knows an earlier holding of the owner's, which the others
    /// have seen end, is outvoted: its token may be older than one that was given out since.
    fn agreed(&self, ours: &[(u32, Option<u64>)]) -> Entered {
        let mut counts: Vec<u32> = ours.iter().map(|(count, _)| *count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let told = |wanted: u64| ours.iter().filter(|(_, token)| *token == Some(wanted)).count();
        let token = ours.iter().filter_map(|(_, token)| *token).find(|token| told(*token) >= self.majority());
        Entered::Ours { count: counts[self.majority() - 1], token }
    }

    /// Whether tables that gave a lock, and have forgotten nothing for so long, are enough for such a lease.
    ///
    /// Any two majorities have a table in common, and that one knows of the first when it is asked for the second, unless
    /// it has forgotten in between. Of all tables together a minority may forget: the next majority still has one that
    /// knows.
    fn suffices(&self, memories: &[Duration], lease: Duration) -> bool {
        let lasting = memories.iter().filter(|memory| **memory >= REMEMBERS).count();
        memories.len() == self.tables.len() || (lease <= REMEMBERS && lasting >= self.majority())
    }

    /// Whether what was given at `since` still holds for long enough to be worth anything.
    fn is_valid(&self, since: Timestamp, lease: Duration) -> bool {
        let spent = self.clock.now().since(since) + lease / DRIFT_PART + DRIFT;
        spent < lease
    }
}

#[async_trait]
impl LockTable for Quorum {
    async fn enter(&self, lock: &LockName, entry: &Entry, lease: Duration, waits: Option<Duration>) -> Result<Entered> {
        let since = self.clock.now();
        let answers = self.of_all(lease, |table| self.gives(table, lock, entry, lease, waits)).await;
        let (mut ours, mut memories) = (Vec::new(), Vec::new());
        for answer in &answers {
            if let Ok((Entered::Ours { count, token }, memory)) = answer {
                ours.push((*count, *token));
                memories.push(*memory);
            }
        }
        if self.suffices(&memories, lease) && self.is_valid(since, lease) {
            return Ok(self.agreed(&ours));
        }
        // Only where we know that we entered: one that did not answer may hold an earlier entry of ours, and what it
        // did unseen expires.
        let entered =
            self.tables.iter().zip(&answers).filter(|(_, answer)| matches!(answer, Ok((Entered::Ours { .. }, _))));
        for left in join_all(entered.map(|(table, _)| table.leave(lock, entry, lease))).await {
            if let Err(error) = left {
                tracing::debug!(%lock, owner = %entry.owner, error = &error as &dyn std::error::Error, "left to expire");
            }
        }
        let theirs = answers.iter().filter_map(|answer| match answer {
            Ok((Entered::Theirs { owner, left }, _)) => Some((left, owner)),
            _ => None,
        });
        match theirs.max() {
            Some((left, holder)) => Ok(Entered::Theirs { owner: holder.clone(), left: *left }),
            None => {
                let answered = memories.iter().filter(|memory| **memory >= REMEMBERS).count();
                Err(LockError::Unavailable(Box::new(TooFew { answered, asked: self.tables.len() })))
            }
        }
    }

    async fn leave(&self, lock: &LockName, entry: &Entry, lease: Duration) -> Result<u32> {
        let left = self.as_holder(lock, &entry.owner, lease, |table| table.leave(lock, entry, lease)).await?;
        Ok(left.into_iter().max().unwrap_or(0))
    }

    async fn adopt(&self, lock: &LockName, entry: &Entry, lease: Option<Duration>) -> Result<Found> {
        let since = self.clock.now();
        let patience = lease.unwrap_or(super::LEASE);
        let found = self.as_holder(lock, &entry.owner, patience, |table| table.adopt(lock, entry, lease)).await?;
        let seen: Vec<(u32, Option<u64>)> = found.iter().map(|found| (found.count, found.token)).collect();
        // It lasts for as long as a majority remembers it.
        let mut left: Vec<Duration> = found.iter().map(|found| found.left).collect();
        left.sort_unstable_by(|a, b| b.cmp(a));
        let left = left[self.majority() - 1].saturating_sub(self.clock.now().since(since));
        match self.agreed(&seen) {
            Entered::Ours { count, token } if self.is_valid(since, left) => Ok(Found { count, token, left }),
            _ => Err(LockError::NotHeld { lock: lock.clone(), owner: entry.owner.clone() }),
        }
    }

    async fn renew(&self, lock: &LockName, owner: &Owner, lease: Duration) -> Result<()> {
        let since = self.clock.now();
        self.as_holder(lock, owner, lease, |table| table.renew(lock, owner, lease)).await?;
        if self.is_valid(since, lease) {
            Ok(())
        } else {
            Err(LockError::NotHeld { lock: lock.clone(), owner: owner.clone() })
        }
    }

    async fn stamp(&self, lock: &LockName, owner: &Owner, token: u64, lease: Duration) -> Result<()> {
        self.as_holder(lock, owner, lease, |table| table.stamp(lock, owner, token, lease)).await.map(|_| ())
    }

    async fn gives_up(&self, lock: &LockName, owner: &Owner) -> Result<()> {
        // What does not hear of it forgets the waiter by itself.
        self.of_all(super::LEASE, |table| table.gives_up(lock, owner)).await;
        Ok(())
    }

    async fn break_open(&self, lock: &LockName) -> Result<bool> {
        let answers = self.of_all(super::LEASE, |table| table.break_open(lock)).await;
        let answered = answers.iter().filter(|answer| answer.is_ok()).count();
        if answered < self.majority() {
            return Err(LockError::Unavailable(Box::new(TooFew { answered, asked: self.tables.len() })));
        }
        Ok(answers.into_iter().any(|answer| answer.unwrap_or(false)))
    }

    fn freed(&self, lock: &LockName) -> BoxFuture<'static, ()> {
        select_all(self.tables.iter().map(|table| table.freed(lock))).map(|_| ()).boxed()
    }

    /// As the tables tell it that know most of it: one of them may have been away.
    async fn held(&self, limit: usize) -> Result<Vec<LockRow>> {
        let mut rows: Vec<(LockRow, usize)> = Vec::new();
        for row in self.of_all(super::LEASE, |table| table.held(limit)).await.into_iter().flatten().flatten() {
            match rows.iter_mut().find(|(known, _)| known.lock == row.lock && known.owner == row.owner) {
                Some((known, told)) => {
                    known.left = known.left.min(row.left);
                    known.waiters = known.waiters.max(row.waiters);
                    *told += 1;
                }
                None => rows.push((row, 1)),
            }
        }
        let mut rows: Vec<LockRow> =
            rows.into_iter().filter(|(_, told)| *told >= self.majority()).map(|(row, _)| row).collect();
        rows.sort_by(|a, b| a.lock.cmp(&b.lock));
        rows.truncate(limit);
        Ok(rows)
    }

    async fn memory(&self) -> Result<Duration> {
        let answers = self.of_all(super::LEASE, LockTable::memory).await;
        let mut memories: Vec<Duration> = answers.into_iter().filter_map(Result::ok).collect();
        memories.sort_unstable_by(|a, b| b.cmp(a));
        Ok(memories.get(self.majority() - 1).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Quorum, REMEMBERS};
    use crate::LocalLocks;
    use crate::conformance::tokio_clock;
    use crate::locks::{Entered, Entry, LockName, LockTable, Owner};

    const LEASE: Duration = Duration::from_secs(10);

    fn three() -> (Vec<Arc<LocalLocks>>, Quorum) {
        let clock = tokio_clock();
        let tables: Vec<Arc<LocalLocks>> = (0..3).map(|_| Arc::new(LocalLocks::new(clock.clone()))).collect();
        let quorum = Quorum::new(tables.iter().map(|table| table.clone() as _).collect(), clock);
        (tables, quorum.expect("three is odd"))
    }

    fn entry(owner: &str) -> Entry {
        Entry { owner: Owner(owner.into()), number: 1, keeper: "k".into() }
    }

    #[test]
    fn an_even_number_of_tables_is_refused() {
        let clock =
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async { tokio_clock() });
        for (tables, accepted) in [(1, false), (2, false), (3, true), (4, false), (5, true)] {
            let tables = (0..tables).map(|_| Arc::new(LocalLocks::new(clock.clone())) as _).collect();
            assert_eq!(Quorum::new(tables, clock.clone()).is_ok(), accepted);
        }
    }

    /// A table that has begun anew while the others have not.
    fn forgetful(tables: &[Arc<LocalLocks>], place: usize) -> Quorum {
        let clock = tokio_clock();
        let mut tables: Vec<Arc<dyn LockTable>> = tables.iter().map(|table| table.clone() as _).collect();
        tables[place] = Arc::new(LocalLocks::new(clock.clone()));
        Quorum::new(tables, clock).expect("three is odd")
    }

    #[tokio::test(start_paused = true)]
    async fn the_word_of_one_that_has_forgotten_counts_once_what_it_forgot_is_over() {
        let (tables, _) = three();
        let (lock, one, two) = (LockName::new("a").expect("a good name"), entry("one"), entry("two"));
        tokio::time::sleep(REMEMBERS).await;
        // A majority gave it; one of that then forgets.
        for table in &tables[..2] {
            table.enter(&lock, &one, LEASE, None).await.expect("free");
        }
        let quorum = forgetful(&tables, 0);
        let entered = quorum.enter(&lock, &two, LEASE, None).await.expect("all answer");
        assert!(matches!(entered, Entered::Theirs { .. }), "{entered:?}");
        tokio::time::sleep(REMEMBERS).await;
        let entered = quorum.enter(&lock, &two, LEASE, None).await.expect("all answer");
        assert!(matches!(entered, Entered::Ours { .. }), "{entered:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn how_many_must_give_a_lock() {
        let (_, quorum) = three();
        let (new, old, long) = (Duration::ZERO, REMEMBERS, REMEMBERS + Duration::from_secs(1));
        for (memories, lease, suffices) in [
            (vec![new, new, new], LEASE, true),
            (vec![new, new, new], long, true),
            (vec![old, old], LEASE, true),
            (vec![old, old], long, false),
            (vec![new, old], LEASE, false),
            (vec![old], LEASE, false),
            (vec![], LEASE, false),
        ] {
            assert_eq!(quorum.suffices(&memories, lease), suffices, "{memories:?} {lease:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_one_table_remembers_of_an_earlier_holding_is_outvoted() {
        let (tables, quorum) = three();
        let (lock, one) = (LockName::new("a").expect("a good name"), entry("one"));
        tables[0].enter(&lock, &one, LEASE, None).await.expect("free");
        tables[0].stamp(&lock, &one.owner, 5, LEASE).await.expect("its own");
        let entered = quorum.enter(&lock, &one, LEASE, None).await.expect("all answer");
        assert_eq!(entered, Entered::Ours { count: 1, token: None }, "5 may be less than what was given out since");
    }

    #[tokio::test(start_paused = true)]
    async fn a_lock_that_a_minority_gave_is_left_there_again() {
        let (tables, quorum) = three();
        let (lock, one, two) = (LockName::new("a").expect("a good name"), entry("one"), entry("two"));
        for table in &tables[1..] {
            table.enter(&lock, &one, LEASE, None).await.expect("free");
        }
        let entered = quorum.enter(&lock, &two, LEASE, None).await.expect("all answer");
        assert!(matches!(entered, Entered::Theirs { .. }), "{entered:?}");
        let free = tables[0].enter(&lock, &one, LEASE, None).await.expect("free again");
        assert_eq!(free, Entered::Ours { count: 1, token: None });
    }
}
