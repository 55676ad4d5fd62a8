//! Who is let in with a pass: whoever shows the secret of one that holds. A pass is looked up in the store, so that it
//! opens every node of a team, and none any more once it has run out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use campanile_api::passes::known_by;
use campanile_engine::Clock;
use campanile_model::Fault;
use campanile_model::pass::Pass;
use campanile_store::Store;

/// A pass is looked up again after this long.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Passes that are remembered; beyond them all are looked up again, rather than memory filled.
const MOST_REMEMBERED: usize = 10_000;

pub(crate) struct Passes {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    read: Mutex<HashMap<String, (Instant, Pass)>>,
}

impl Passes {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Passes {
        Passes { store, clock, read: Mutex::default() }
    }

    /// The pass of which someone shows the secret; none: there is no such one, or it has run out.
    pub async fn known(&self, shown: &str) -> Result<Option<Pass>, Fault> {
        let Some(digest) = known_by(shown) else { return Ok(None) };
        let pass = match self.remembered(&digest) {
            Some(pass) => Some(pass),
            None => self.read(&digest).await?,
        };
        let now = self.clock.now();
        Ok(pass.filter(|pass| pass.holds(now)))
    }

    fn remembered(&self, digest: &str) -> Option<Pass> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, pass) = read.get(digest)?;
        (at.elapsed() < READ_AGAIN_AFTER).then(|| pass.clone())
    }

    async fn read(&self, digest: &str) -> Result<Option<Pass>, Fault> {
        // What is found is at least as new as this.
        let at = Instant::now();
        let found = self.store.pass(digest).await?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.retain(|_, (at, _)| at.elapsed() < READ_AGAIN_AFTER);
        if read.len() >= MOST_REMEMBERED {
            read.clear();
        }
        if let Some(pass) = &found {
            read.insert(digest.to_owned(), (at, pass.clone()));
        }
        Ok(found)
    }

    /// Ends when a pass with which somebody came in has run out; one that is renewed meanwhile goes on.
    pub async fn over(&self, shown: &str, mut pass: Pass) {
        loop {
            let now = self.clock.now();
            let look_at = now.plus_millis(i64::try_from(READ_AGAIN_AFTER.as_millis()).unwrap_or(i64::MAX));
            self.clock.sleep_until(look_at.min(pass.until)).await;
            match self.known(shown).await {
                Ok(Some(found)) => pass = found,
                Ok(None) => return,
                // What is known of it holds while nobody can be asked.
                Err(_) if pass.holds(self.clock.now()) => {}
                Err(_) => return,
            }
        }
    }
}
