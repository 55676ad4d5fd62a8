//! What has just changed, for whoever is looking. It may be lost: the truth is in the store.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use campanile_model::{TaskId, Timestamp};
use tokio::sync::broadcast;

/// A kind of thing of which something has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    Jobs,
    Instances,
    Tasks,
    Alarms,
    Settings,
    Audit,
    Executors,
    /// Lines were added.
    Log(TaskId),
}

/// Tells whoever subscribed; tells nobody where nobody did.
pub struct Events {
    sender: broadcast::Sender<Topic>,
    finished: AtomicU64,
    saved: AtomicU64,
    promoted: AtomicU64,
    last_at: AtomicI64,
}

impl Default for Events {
    fn default() -> Self {
        Events {
            sender: broadcast::channel(4096).0,
            finished: AtomicU64::new(0),
            saved: AtomicU64::new(0),
            promoted: AtomicU64::new(0),
            last_at: AtomicI64::new(0),
        }
    }
}

impl Events {
    pub fn say(&self, topic: Topic, at: Timestamp) {
        self.last_at.fetch_max(at.millis(), Ordering::Relaxed);
        // Nobody listening is no fault.
        let _ = self.sender.send(topic);
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Topic> {
        self.sender.subscribe()
    }

    pub fn count_finished(&self, tasks: u64) {
        self.finished.fetch_add(tasks, Ordering::Relaxed);
    }

    /// Tasks that became final since the program started.
    pub fn finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    pub fn count_saved(&self, tasks: u64) {
        self.saved.fetch_add(tasks, Ordering::Relaxed);
    }

    /// Tasks that were not run because they were no longer worth doing, since the program started.
    pub fn saved(&self) -> u64 {
        self.saved.load(Ordering::Relaxed)
    }

    pub fn count_promoted(&self, tasks: u64) {
        self.promoted.fetch_add(tasks, Ordering::Relaxed);
    }

    /// How often tasks have moved up a lane, since the program started.
    pub fn promoted(&self) -> u64 {
        self.promoted.load(Ordering::Relaxed)
    }

    pub fn last_at(&self) -> Option<Timestamp> {
        match self.last_at.load(Ordering::Relaxed) {
            0 => None,
            at => Some(Timestamp::from_millis(at)),
        }
    }
}
