//! The meeting place of one process: the reference for any other.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use campanile_model::Timestamp;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Notify;

use crate::{Bell, Coord, Presence};

mod locks;

pub use locks::LocalLocks;

#[derive(Default)]
pub struct LocalCoord {
    bells: [Notify; Bell::ALL.len()],
    present: Mutex<BTreeMap<String, Timestamp>>,
}

impl Coord for LocalCoord {
    fn ring(&self, bell: Bell) {
        self.bells[bell as usize].notify_one();
    }

    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()> {
        self.bells[bell as usize].notified().boxed()
    }

    fn announce(&self, presence: Presence) {
        self.lock().insert(presence.node, presence.until);
    }

    fn present(&self, now: Timestamp) -> Vec<Presence> {
        let mut present = self.lock();
        present.retain(|_, until| *until > now);
        present.iter().map(|(node, until)| Presence { node: node.clone(), until: *until }).collect()
    }
}

impl LocalCoord {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Timestamp>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::LocalCoord;

    async fn fresh() -> LocalCoord {
        LocalCoord::default()
    }

    crate::conformance!(fresh);
}
