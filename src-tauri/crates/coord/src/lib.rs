//! What Campanile asks of a meeting place: that those who wait are woken.
//!
//! Nothing here is the truth: a bell that nobody heard costs time and nothing else, because every
//! officer also looks by itself. `local` is the answer within one process; a shared one passes the
//! same suite in `conformance`.

use campanile_model::Timestamp;
use futures::future::BoxFuture;

mod clock;
pub mod conformance;
mod local;
pub mod locks;

pub use clock::Clock;
pub use local::{LocalCoord, LocalLocks};

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

pub trait Coord: Send + Sync {
    /// Wakes whoever listens, and whoever listens next where nobody does: a ring is not lost between two looks.
    /// Several rings may be heard as one.
    fn ring(&self, bell: Bell);

    /// Resolves once the bell has rung since the last time someone heard it.
    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()>;

    /// This node is there until `until`.
    fn announce(&self, presence: Presence);

    /// Nodes whose announcement still holds at `now`, by name.
    fn present(&self, now: Timestamp) -> Vec<Presence>;
}
