//! Time that moves when the test says so, and wakes whoever was waiting for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use campanile_engine::Clock;
use campanile_model::Timestamp;
use tokio::sync::watch;

use crate::stillness::Pulse;

/// The time of a world, as one of those who live in it sees it: all clocks of a world show the same, each knows its
/// own sleepers.
pub struct ManualClock {
    time: watch::Sender<Timestamp>,
    sleepers: Mutex<BTreeMap<u64, Timestamp>>,
    next: AtomicU64,
    pulse: Arc<Pulse>,
}

impl ManualClock {
    pub fn new(start: Timestamp, pulse: Arc<Pulse>) -> ManualClock {
        ManualClock { time: watch::Sender::new(start), sleepers: Mutex::default(), next: AtomicU64::new(0), pulse }
    }

    /// Another clock of the same world.
    pub fn beside(&self) -> ManualClock {
        ManualClock {
            time: self.time.clone(),
            sleepers: Mutex::default(),
            next: AtomicU64::new(0),
            pulse: self.pulse.clone(),
        }
    }

    /// Sets every clock of the world.
    pub fn set(&self, now: Timestamp) {
        self.time.send_replace(now);
    }

    /// How many wait here for a moment that has not come.
    pub fn asleep(&self) -> usize {
        let now = self.now();
        self.sleepers().values().filter(|until| **until > now).count()
    }

    fn sleepers(&self) -> MutexGuard<'_, BTreeMap<u64, Timestamp>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Asleep<'a> {
    clock: &'a ManualClock,
    number: u64,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.clock.sleepers().remove(&self.number);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.time.borrow()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let before = self.now();
        if before >= deadline {
            return;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.sleepers().insert(number, deadline);
        let _asleep = Asleep { clock: self, number };
        self.pulse.beat();
        let mut now = self.time.subscribe();
        now.wait_for(|now| *now >= deadline || *now < before).await.expect("we hold the sender");
    }
}
