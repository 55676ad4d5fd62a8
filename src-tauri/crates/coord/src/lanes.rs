//! Ready lanes as windows on the store: ids of ready tasks, handed to takers in lane order, each to one.
//!
//! What is here is a copy of what the store says, and may be lost or stale: a claim in the store decides who has a task.
//! Whoever takes an id reads the task, and gives it back, puts it aside, or has done with it. Each id of a group stands
//! in one place: in the window of its lane, in a taker's hand, or on a *shelf*.
//!
//! A shelf keeps what the taker could not use, by what its tasks need: whoever can give such tasks out just now, since it
//! has an executor that can run them and no limit is in the way, takes from there.

use std::time::Duration;

use async_trait::async_trait;
use campanile_model::{Lane, TaskId};

use crate::Result;

/// A window is filled up to so many ids. What comes back finds a little room above it.
pub const FILLED_TO: usize = 4_500;

/// No window and no lane of a shelf keeps more; what does not fit is forgotten, and put back from the store later.
pub const WINDOW: usize = 5_000;

/// No taker has more in hand.
pub const IN_HAND: usize = 500;

/// What has been on a shelf for so long returns to its lanes, to be looked at anew.
pub const ON_SHELF: Duration = Duration::from_secs(60);

/// Where ids wait that the taker could not use, by what they wait for, in one word. Only takers that name it take from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shelf(pub String);

/// An id on its way through a taker's hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InLane {
    /// The lane that it was taken from, and goes back to.
    pub lane: Lane,
    pub task: TaskId,
}

/// What a taker would like.
#[derive(Clone, Debug)]
pub struct Grasp<'a> {
    pub taker: &'a str,
    /// No lane below this one.
    pub down_to: Lane,
    /// Of each lane what is on these comes first, since it has waited longest.
    pub shelves: &'a [Shelf],
    pub most: usize,
    /// What is in hand for longer goes back.
    pub lease: Duration,
}

/// What a round of upkeep came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Ids that went back to their lanes.
    pub returned: usize,
    /// There was more than fits into one round.
    pub again: bool,
}

#[async_trait]
pub trait Lanes: Send + Sync {
    /// Puts ids that the store says are ready behind those in the lane's window, in the order given, as far as the
    /// window is to be filled. Ids that stand somewhere else already stay there, except where that is another lane's
    /// window: the store knows better which lane it is. Says how much room is left.
    async fn refill(&self, group: &str, lane: Lane, ids: &[TaskId]) -> Result<usize>;

    /// Moves ids into the taker's hand, lane by lane.
    async fn take(&self, group: &str, grasp: &Grasp<'_>) -> Result<Vec<InLane>>;

    /// They have gone, or are ready no more: nothing is known of them afterwards.
    async fn done(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()>;

    /// What is still in the taker's hand goes back to the head of its lane, in the order given.
    async fn give_back(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()>;

    /// What is still in the taker's hand goes to a shelf, behind what is there.
    async fn put_aside(&self, group: &str, taker: &str, shelf: &Shelf, ids: &[InLane]) -> Result<()>;

    /// Returns what has been in hand past its lease, or on a shelf for longer than [`ON_SHELF`], and keeps the rest from
    /// expiring. To be called every few seconds for a group that has ready tasks.
    async fn keep(&self, group: &str) -> Result<Kept>;
}
