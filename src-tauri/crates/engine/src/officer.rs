//! One duty, done a pass at a time, and the loop that does it.

use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::{Bell, Coord};
use campanile_model::Timestamp;
use campanile_store::StoreError;
use futures::future::{Either, select};

use crate::Clock;

/// What a pass came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Things it changed.
    pub did: usize,
    /// There is more to do than fitted into one pass.
    pub again: bool,
    /// When there will be something to do, as far as is known now.
    pub next: Option<Timestamp>,
}

#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// We do not lead any more: this lease is not ours.
    #[error("the lease {0} has passed to someone else")]
    Overtaken(String),

    /// The same pass will be tried again.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for PassError {
    fn from(error: StoreError) -> PassError {
        match error {
            StoreError::Fenced(lease) => PassError::Overtaken(lease),
            other => PassError::Store(other),
        }
    }
}

/// One duty, done a pass at a time.
///
/// Even when the caller knows what changed, the officer is not told: after a restart nobody will
/// know, and that must be the same code. Bells only make the next pass come sooner.
#[async_trait]
pub trait Officer: Send {
    /// What the log calls it.
    fn name(&self) -> &'static str;

    fn bell(&self) -> Bell;

    /// The longest it waits when nothing calls for it.
    fn patience(&self) -> Duration;

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError>;
}

/// The wait after a pass that failed; doubled each time up to the second.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Does passes until the lease is lost. Storage that fails is tried again, ever more slowly.
pub async fn patrol(
    officer: &mut dyn Officer,
    clock: &dyn Clock,
    coord: &dyn Coord,
    trouble: &(dyn Fn(Option<&StoreError>) + Sync),
) -> PassError {
    let mut wait = FIRST_WAIT;
    loop {
        let now = clock.now();
        match officer.pass(now).await {
            Ok(pass) => {
                wait = FIRST_WAIT;
                trouble(None);
                if pass.again {
                    continue;
                }
                // Counted from the clock as it is now: it may have been set back during the pass.
                let latest = clock.now() + officer.patience();
                let until = pass.next.map_or(latest, |next| next.min(latest));
                match select(coord.listen(officer.bell()), clock.sleep_until(until)).await {
                    Either::Left(_) | Either::Right(_) => {}
                }
            }
            Err(PassError::Overtaken(lease)) => return PassError::Overtaken(lease),
            Err(PassError::Store(error)) => {
                tracing::warn!(officer = officer.name(), error = &error as &dyn std::error::Error, "a pass failed");
                trouble(Some(&error));
                clock.sleep_until(clock.now() + wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        }
    }
}
