//! How a story knows that everything that was to happen now has happened.
//!
//! What the engine waits for comes in through traits, so whoever stands behind them sees it come to rest: each officer
//! asleep until a later moment, no bell unheard, nobody speaking on the link. Nothing is told to the engine, and
//! nothing waits for a duration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use campanile_coord::{Bell, Coord, Heard as Told, LocalCoord, Presence, Reach};
use campanile_engine::link::{Heard, Link, NodeAddress, SessionId, ToExecutor};
use campanile_gateway::Switchboard;
use campanile_model::Timestamp;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use tokio::sync::Notify;

/// Beats whenever something that is watched has changed.
#[derive(Default)]
pub struct Pulse(Notify);

impl Pulse {
    pub fn beat(&self) {
        self.0.notify_one();
    }

    pub async fn felt(&self) {
        self.0.notified().await;
    }
}

/// Bells that know which of them rang and were not heard.
pub struct CountedBells {
    bells: LocalCoord,
    unheard: [AtomicBool; Bell::ALL.len()],
    pulse: Arc<Pulse>,
}

impl CountedBells {
    pub fn new(pulse: Arc<Pulse>) -> CountedBells {
        CountedBells { bells: LocalCoord::default(), unheard: Default::default(), pulse }
    }

    /// Nobody hears the others any more, or again; everyone looks.
    pub fn falls_silent(&self, silent: bool) {
        for unheard in &self.unheard {
            unheard.store(true, Ordering::Relaxed);
        }
        self.bells.goes_away(silent);
        self.pulse.beat();
    }

    pub fn is_unheard(&self, bell: Bell) -> bool {
        self.unheard[bell as usize].load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Coord for CountedBells {
    fn ring(&self, bell: Bell) {
        self.unheard[bell as usize].store(true, Ordering::Relaxed);
        self.bells.ring(bell);
        self.pulse.beat();
    }

    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()> {
        async move {
            self.bells.listen(bell).await;
            self.unheard[bell as usize].store(false, Ordering::Relaxed);
            self.pulse.beat();
        }
        .boxed()
    }

    fn announce(&self, presence: Presence) {
        self.bells.announce(presence);
    }

    async fn present(&self, now: Timestamp) -> campanile_coord::Result<Vec<Presence>> {
        self.bells.present(now).await
    }

    fn tell(&self, stale: &[String]) {
        self.bells.tell(stale);
    }

    fn hear(&self) -> BoxStream<'static, Told> {
        self.bells.hear()
    }

    fn reach(&self) -> Reach {
        self.bells.reach()
    }

    async fn leave(&self, node: &str) {
        self.bells.leave(node).await;
    }
}

/// The real switchboard, with a mark for whether the engine is all ears.
pub struct Ear {
    pub board: Switchboard,
    listening: AtomicUsize,
    pulse: Arc<Pulse>,
}

impl Ear {
    pub fn new(pulse: Arc<Pulse>) -> Ear {
        Ear { board: Switchboard::default(), listening: AtomicUsize::new(0), pulse }
    }

    pub fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed) > 0
    }
}

struct Listening<'a>(&'a Ear);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.listening.fetch_sub(1, Ordering::Relaxed);
        self.0.pulse.beat();
    }
}

#[async_trait]
impl Link for Ear {
    async fn hear(&self) -> Heard {
        self.listening.fetch_add(1, Ordering::Relaxed);
        let _listening = Listening(self);
        self.pulse.beat();
        self.board.hear().await
    }

    fn overhear(&self) -> Option<Heard> {
        self.board.overhear()
    }

    fn tell(&self, session: SessionId, what: ToExecutor) -> bool {
        let told = self.board.tell(session, what);
        self.pulse.beat();
        told
    }

    fn has_room(&self, session: SessionId) -> bool {
        self.board.has_room(session)
    }

    fn show_nodes(&self, nodes: &[NodeAddress]) {
        self.board.show_nodes(nodes);
    }

    fn close(&self, session: SessionId) {
        self.board.close(session);
        self.pulse.beat();
    }
}
