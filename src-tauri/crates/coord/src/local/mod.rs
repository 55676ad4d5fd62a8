//! The meeting place of one process: the reference for any other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt, unfold};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};

use crate::lanes::Lanes;
use crate::{Away, Bell, Coord, Heard, Presence, Reach, Result};

mod lanes;
mod locks;
mod traffic;

pub use lanes::LocalLanes;
pub use locks::LocalLocks;
pub use traffic::LocalTraffic;

/// Whoever lags by more has missed something.
const HEARD_KEPT: usize = 256;

/// A node is named anew with each start of a program.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

/// What one node hears.
struct Ears {
    bells: [Notify; Bell::ALL.len()],
    told: broadcast::Sender<Heard>,
}

#[derive(Default)]
struct Place {
    ears: Mutex<Vec<Weak<Ears>>>,
    present: Mutex<BTreeMap<String, Timestamp>>,
    away: AtomicBool,
}

impl Place {
    fn everyone(&self) -> Vec<Arc<Ears>> {
        let mut ears = self.ears.lock().unwrap_or_else(PoisonError::into_inner);
        ears.retain(|ears| ears.strong_count() > 0);
        ears.iter().filter_map(Weak::upgrade).collect()
    }

    fn present(&self) -> MutexGuard<'_, BTreeMap<String, Timestamp>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One node's way to the place.
pub struct LocalCoord {
    place: Arc<Place>,
    own: Arc<Ears>,
    lanes: Option<Arc<dyn Lanes>>,
}

impl Default for LocalCoord {
    fn default() -> Self {
        LocalCoord::at(Arc::default())
    }
}

impl LocalCoord {
    fn at(place: Arc<Place>) -> LocalCoord {
        let own = Arc::new(Ears { bells: Default::default(), told: broadcast::channel(HEARD_KEPT).0 });
        place.ears.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&own));
        LocalCoord { place, own, lanes: None }
    }

    /// With ready lanes that all share who meet here.
    #[must_use]
    pub fn with_lanes(self, lanes: Arc<dyn Lanes>) -> LocalCoord {
        LocalCoord { lanes: Some(lanes), ..self }
    }

    /// Another node that meets this one.
    #[must_use]
    pub fn beside(&self) -> LocalCoord {
        LocalCoord { lanes: self.lanes.clone(), ..LocalCoord::at(self.place.clone()) }
    }

    /// Lets the place fall silent, or speak again: what happens to a shared one.
    pub fn goes_away(&self, away: bool) {
        self.place.away.store(away, Ordering::Relaxed);
        for ears in self.place.everyone() {
            if !away {
                // Nobody listening is no fault.
                let _ = ears.told.send(Heard::Missed);
            }
            ears.bells.iter().for_each(Notify::notify_one);
        }
    }

    fn is_away(&self) -> bool {
        self.place.away.load(Ordering::Relaxed)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("it was made to fall silent")]
struct Silent;

#[async_trait]
impl Coord for LocalCoord {
    fn ring(&self, bell: Bell) {
        self.own.bells[bell as usize].notify_one();
        if !self.is_away() {
            self.place.everyone().iter().for_each(|ears| ears.bells[bell as usize].notify_one());
        }
    }

    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()> {
        self.own.bells[bell as usize].notified().boxed()
    }

    fn announce(&self, presence: Presence) {
        if !self.is_away() {
            let mut present = self.place.present();
            present.retain(|_, until| presence.until.since(*until) < FORGOTTEN_AFTER);
            present.insert(presence.node, presence.until);
        }
    }

    async fn present(&self, now: Timestamp) -> Result<Vec<Presence>> {
        if self.is_away() {
            return Err(Away(Box::new(Silent)));
        }
        let present = self.place.present();
        let there = present.iter().filter(|(_, until)| **until > now);
        Ok(there.map(|(node, until)| Presence { node: node.clone(), until: *until }).collect())
    }

    fn tell(&self, stale: &[String]) {
        if stale.is_empty() || self.is_away() {
            return;
        }
        for ears in self.place.everyone().into_iter().filter(|ears| !Arc::ptr_eq(ears, &self.own)) {
            // Nobody listening is no fault.
            let _ = ears.told.send(Heard::Stale(stale.to_vec()));
        }
    }

    fn hear(&self) -> BoxStream<'static, Heard> {
        hearing(self.own.told.subscribe())
    }

    fn reach(&self) -> Reach {
        match self.place.everyone().len() {
            _ if self.is_away() => Reach::Away,
            0 | 1 => Reach::Alone,
            _ => Reach::Team,
        }
    }

    fn lanes(&self) -> Option<&dyn Lanes> {
        self.lanes.as_deref()
    }

    async fn leave(&self, node: &str) {
        self.place.present().remove(node);
    }
}

/// What arrives here, as a stream that says where something was dropped.
pub fn hearing(told: broadcast::Receiver<Heard>) -> BoxStream<'static, Heard> {
    unfold(told, async |mut told| match told.recv().await {
        Ok(heard) => Some((heard, told)),
        Err(RecvError::Lagged(_)) => Some((Heard::Missed, told)),
        Err(RecvError::Closed) => None,
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::LocalCoord;
    use crate::conformance::place::Fresh;
    use crate::conformance::tokio_clock;

    async fn fresh() -> Fresh {
        let one = LocalCoord::default();
        let other = one.beside();
        Fresh { one: Arc::new(one), other: Arc::new(other), clock: tokio_clock(), house: Arc::new(()) }
    }

    crate::conformance!(paused, fresh);

    #[tokio::test]
    async fn whoever_meets_nobody_is_alone() {
        use crate::{Coord as _, Reach};
        let one = LocalCoord::default();
        assert_eq!(one.reach(), Reach::Alone);
        let other = one.beside();
        assert_eq!((one.reach(), other.reach()), (Reach::Team, Reach::Team));
        other.goes_away(true);
        assert_eq!(one.reach(), Reach::Away);
    }
}
