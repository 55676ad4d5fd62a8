//! Where the nodes of a simulated team meet: bells and ready lanes, which fall silent, stop answering and are forgotten.
//!
//! Nothing that anyone promises depends on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use campanile_coord::lanes::{Grasp, InLane, Kept, Lanes, ON_SHELF, Shelf};
use campanile_coord::{Away, Coord, LocalCoord, LocalLanes, Result};
use campanile_model::{Lane, TaskId};

use crate::runtime::{Hands, Luck, MachineClock};

/// Lanes that may not answer, and count what they hand out.
struct SimLanes {
    lanes: LocalLanes,
    silent: AtomicBool,
    handed: AtomicU64,
}

impl SimLanes {
    fn there(&self) -> Result<&LocalLanes> {
        match self.silent.load(Ordering::Relaxed) {
            true => Err(Away("it was made not to answer".into())),
            false => Ok(&self.lanes),
        }
    }
}

#[async_trait]
impl Lanes for SimLanes {
    async fn refill(&self, group: &str, lane: Lane, ids: &[TaskId]) -> Result<usize> {
        self.there()?.refill(group, lane, ids).await
    }

    async fn take(&self, group: &str, grasp: &Grasp<'_>) -> Result<Vec<InLane>> {
        let taken = self.there()?.take(group, grasp).await?;
        self.handed.fetch_add(taken.len() as u64, Ordering::Relaxed);
        Ok(taken)
    }

    async fn done(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        self.there()?.done(group, taker, ids).await
    }

    async fn give_back(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        self.there()?.give_back(group, taker, ids).await
    }

    async fn put_aside(&self, group: &str, taker: &str, shelf: &Shelf, ids: &[InLane]) -> Result<()> {
        self.there()?.put_aside(group, taker, shelf, ids).await
    }

    async fn keep(&self, group: &str) -> Result<Kept> {
        self.there()?.keep(group).await
    }
}

pub struct Meeting {
    coord: LocalCoord,
    lanes: Arc<SimLanes>,
}

impl Meeting {
    pub fn new(hands: &Hands) -> Meeting {
        let lanes = LocalLanes::new(Arc::new(MachineClock::new(hands)), ON_SHELF);
        let lanes = Arc::new(SimLanes { lanes, silent: AtomicBool::new(false), handed: AtomicU64::new(0) });
        Meeting { coord: LocalCoord::default().with_lanes(lanes.clone()), lanes }
    }

    /// A way to it for one more of them.
    pub fn seat(&self) -> Arc<dyn Coord> {
        Arc::new(self.coord.beside())
    }

    /// Ids that lanes have handed out.
    pub fn handed(&self) -> u64 {
        self.lanes.handed.load(Ordering::Relaxed)
    }

    fn is_silent(&self, silent: bool) {
        self.lanes.silent.store(silent, Ordering::Relaxed);
    }

    /// Is not always there, until then.
    pub async fn troubles(self: Arc<Meeting>, hands: Hands, mut luck: Luck, calm_at: i64) {
        while hands.now() < calm_at {
            hands.sleep(luck.between(500, 30_000)).await;
            match luck.index(3) {
                0 => {
                    hands.note(|| "the meeting place has forgotten everything".to_owned());
                    self.lanes.lanes.forgets();
                }
                1 => {
                    // Nobody has noticed yet.
                    hands.note(|| "the meeting place stops answering".to_owned());
                    self.is_silent(true);
                    hands.sleep(luck.between(100, 3_000)).await;
                    self.is_silent(false);
                }
                _ => {
                    hands.note(|| "the meeting place falls silent".to_owned());
                    self.is_silent(true);
                    self.coord.goes_away(true);
                    hands.sleep(luck.between(100, 12_000)).await;
                    self.is_silent(false);
                    self.coord.goes_away(false);
                    hands.note(|| "the meeting place is back".to_owned());
                }
            }
        }
    }
}
