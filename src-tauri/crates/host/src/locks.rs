//! Locks as this program gives them out: where they are kept, where their tokens come from, and what people see.
//!
//! On a data folder the one program that drives the engine keeps them itself; a team keeps them in its Redis. A team
//! without one gives out none: what each node kept for itself would lock nobody else out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::locks::{Fences, LockError, LockName, Locks};
use campanile_coord::spans;
use campanile_gateway::{LockRoom, Switchboard};
use campanile_model::Timestamp;
use campanile_model::lock::{LockBoard, LockClaim, MOST_SHOWN};
use campanile_store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::Host;
use crate::backend::Backend;

/// What is held is written down for people this often where it has changed ...
const SAY_EVERY: Duration = Duration::from_secs(1);

/// ... and at least so often while there is anything.
const SAY_AGAIN: Duration = Duration::from_secs(10);

/// What a node that has gone said is forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(3600);

struct StoredTokens(Arc<dyn Store>);

#[async_trait]
impl Fences for StoredTokens {
    async fn next(&self, lock: &LockName) -> Result<u64, LockError> {
        self.0.next_token(lock.as_str()).await.map_err(|error| LockError::Unavailable(Box::new(error)))
    }
}

/// The room in which the attempts of executors that join this switchboard get their locks, before anyone joins it.
pub(crate) fn open(backend: &Backend, node: &str, switchboard: &Arc<Switchboard>) -> Option<Arc<LockRoom>> {
    let table = backend.lock_table()?;
    let tokens = Arc::new(StoredTokens(backend.store()));
    Some(switchboard.gives_out_locks(Arc::new(Locks::new(table, tokens, spans(), node))))
}

impl Host {
    /// Cares for what is locked, until `shutdown`.
    pub(crate) async fn give_out_locks(&self, shutdown: CancellationToken) {
        let Some(room) = &self.locks else { return };
        tokio::select! {
            never = room.run() => match never {},
            () = self.tell_of_locks(room) => {}
            () = shutdown.cancelled() => {}
        }
        // Where storage does not take it, it is seen to be old.
        let _ = self.write_lock_board(Vec::new()).await;
    }

    async fn tell_of_locks(&self, room: &LockRoom) {
        let mut told = Vec::new();
        let mut told_at = tokio::time::Instant::now();
        let mut left = Vec::new();
        loop {
            tokio::time::sleep(SAY_EVERY).await;
            let claims = room.claims();
            let now = apart(&claims);
            // Nobody has more time left than a moment ago, unless it was renewed.
            let renewed = lefts(&claims).zip(&left).any(|(now, before)| now > *before);
            left = lefts(&claims).collect();
            if now == told && !renewed && (now.is_empty() || told_at.elapsed() < SAY_AGAIN) {
                continue;
            }
            match self.write_lock_board(claims).await {
                Ok(()) => (told, told_at) = (now, tokio::time::Instant::now()),
                Err(error) => tracing::debug!(%error, "what is locked could not be written down"),
            }
        }
    }

    /// Times of claims are milliseconds from now.
    async fn write_lock_board(&self, mut claims: Vec<LockClaim>) -> Result<(), StoreError> {
        let now = self.clock.now();
        let left_out = u32::try_from(claims.len().saturating_sub(MOST_SHOWN)).unwrap_or(u32::MAX);
        claims.truncate(MOST_SHOWN);
        for claim in &mut claims {
            for at in [&mut claim.since, &mut claim.until] {
                *at = Timestamp::from_millis(now.millis() + at.millis());
            }
        }
        let board = LockBoard { node: self.node.name().to_owned(), seen_at: now, claims, left_out };
        self.store.put_lock_board(&board, now - FORGET_AFTER).await
    }
}

/// How long each has, from now.
fn lefts(claims: &[LockClaim]) -> impl Iterator<Item = Timestamp> {
    claims.iter().map(|claim| claim.until)
}

/// What tells one board from another, whenever it is looked at.
fn apart(claims: &[LockClaim]) -> Vec<LockClaim> {
    let timeless = |claim: &LockClaim| LockClaim { since: Timestamp::EPOCH, until: Timestamp::EPOCH, ..claim.clone() };
    claims.iter().map(timeless).collect()
}
