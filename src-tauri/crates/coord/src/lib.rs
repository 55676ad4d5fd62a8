//! What Campanile asks of a meeting place: that those who wait are woken, and that nodes hear of each other.
//!
//! Nothing here is the truth: a bell that nobody heard costs time and nothing else, because every
//! officer also looks by itself. `local` is the answer within one process; a shared one passes the
//! same suite in `conformance`.
//!
//! Nothing here waits for long, either. What only says something ([`Coord::ring`], [`Coord::tell`],
//! [`Coord::announce`]) does not wait at all; what asks something answers, or says that the place is [`Away`], within
//! [`PATIENCE`].

use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

mod clock;
pub mod conformance;
pub mod lanes;
mod local;
pub mod locks;
pub mod traffic;

pub use clock::{Clock, spans};
use lanes::Lanes;
pub use local::{LocalCoord, LocalLanes, LocalLocks, LocalTraffic, hearing};

/// What does not answer within this does not answer.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// The place does not answer: whether what was asked was done is not known. Go on without it.
#[derive(Debug, thiserror::Error)]
#[error("the meeting place does not answer")]
pub struct Away(#[source] pub Box<dyn std::error::Error + Send + Sync>);

pub type Result<T> = std::result::Result<T, Away>;

/// What one part rings so that another looks sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bell {
    /// A job's next time may have come nearer.
    Launcher,
    /// There may be an instance without tasks.
    Assigner,
    /// There may be a ready task, or an executor with room.
    Dispatcher,
    /// A deadline, a retry or a stop may have come nearer.
    Monitor,
    /// There may be a new incident.
    Alerter,
    /// Someone has asked for something.
    Clerk,
    /// Someone's request has an answer.
    Answers,
    /// Old rows may go.
    Sweeper,
    /// An executor has come or gone, or is to be left alone.
    Registrar,
}

impl Bell {
    /// In the order of their numbers, by which nodes of different versions know them: new ones come last.
    pub const ALL: [Bell; 9] = [
        Bell::Launcher,
        Bell::Assigner,
        Bell::Dispatcher,
        Bell::Monitor,
        Bell::Alerter,
        Bell::Clerk,
        Bell::Answers,
        Bell::Sweeper,
        Bell::Registrar,
    ];
}

/// Who is there, as far as anyone has said lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    pub node: String,
    pub until: Timestamp,
}

/// Whom a ring reaches just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This node, which meets nobody else here.
    Alone,
    /// Every node.
    Team,
    /// This node, though there may be others: the place does not answer. Whoever depends on others looks by himself.
    Away,
}

/// What a node hears of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Things of this kind have changed.
    Stale(Vec<String>),
    /// Something was said that did not arrive: anything may have changed.
    Missed,
}

/// Longest that one thing told of may be called, in bytes; it is one word.
pub const LONGEST_TOLD: usize = 64;

#[async_trait]
pub trait Coord: Send + Sync {
    /// Wakes whoever listens, on every node, and whoever listens next where nobody does: a ring is not lost between
    /// two looks. Several rings may be heard as one, and a ring for another node may be lost on the way.
    fn ring(&self, bell: Bell);

    /// Resolves once the bell has rung since the last time someone heard it.
    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()>;

    /// This node is there until `until`.
    fn announce(&self, presence: Presence);

    /// Nodes whose announcement still holds at `now`, by name.
    async fn present(&self, now: Timestamp) -> Result<Vec<Presence>>;

    /// Tells the other nodes what has changed. Much that is told at once may be heard as [`Heard::Missed`].
    fn tell(&self, stale: &[String]);

    /// What the other nodes tell from now on. Nothing is lost in silence: whoever does not hear it hears, within
    /// [`PATIENCE`] of the place answering again, that he has missed something. It may be heard for nothing.
    fn hear(&self) -> BoxStream<'static, Heard>;

    fn reach(&self) -> Reach;

    /// The ready lanes that all nodes share here; none where there is nobody to share them with.
    fn lanes(&self) -> Option<&dyn Lanes> {
        None
    }

    /// Says what is still to be said, and that `node` is there no more; for whoever stops.
    async fn leave(&self, node: &str);
}
