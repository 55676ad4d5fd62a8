//! The two seams of every store call, before its effect and after it, and the weather at them.
//!
//! A hook may let (virtual) time pass at either seam, and may fail: before the effect with
//! 'unavailable', so that nothing is written, or after it with 'unknown', so that something is. Each
//! seam is an await of its own, so that a node can die between a write and the news of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use campanile_store::{Result, StoreError};

use crate::runtime::{Hands, Luck};

/// A call of the store, as a fault hook sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    pub name: &'static str,
    pub writes: bool,
}

#[async_trait]
pub trait Faults: Send + Sync {
    /// An error here means that nothing was read or written.
    async fn before(&self, op: Op) -> Result<()>;

    /// An error here means that what was to be written has been.
    async fn after(&self, op: Op) -> Result<()>;
}

/// A store that always answers, at once.
pub struct NoFaults;

#[async_trait]
impl Faults for NoFaults {
    async fn before(&self, _op: Op) -> Result<()> {
        Ok(())
    }

    async fn after(&self, _op: Op) -> Result<()> {
        Ok(())
    }
}

/// How a node's way to the store is just now; failures in a thousand calls.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub slowest_ms: i64,
    pub fails_before: u32,
    pub fails_after: u32,
}

impl Weather {
    pub const CALM: Weather = Weather { slowest_ms: 0, fails_before: 0, fails_after: 0 };
}

/// How often which call was refused, or left without an answer.
pub type Refusals = Arc<Mutex<BTreeMap<String, u64>>>;

/// Faults that follow a weather which the world changes.
pub struct Forecast {
    hands: Hands,
    node: String,
    luck: Mutex<Luck>,
    weather: Arc<Mutex<Weather>>,
    refusals: Refusals,
}

impl Forecast {
    pub fn new(hands: &Hands, node: &str, luck: Luck, weather: Arc<Mutex<Weather>>, refusals: Refusals) -> Forecast {
        Forecast { hands: hands.clone(), node: node.to_owned(), luck: Mutex::new(luck), weather, refusals }
    }

    fn count(&self, what: &str, op: Op) {
        let mut refusals = self.refusals.lock().expect("nobody panics while counting");
        *refusals.entry(format!("{what} {}", op.name)).or_default() += 1;
    }

    /// Waits as long as the weather has it, and says whether the call fails at this seam.
    async fn seam(&self, failures: impl Fn(&Weather) -> u32) -> bool {
        let weather = *self.weather.lock().expect("nobody panics while setting it");
        let (wait, fails) = {
            let mut luck = self.luck.lock().expect("drawing does not panic");
            let slow = weather.slowest_ms > 0 && luck.chance(300);
            let wait = if slow { luck.between(1, weather.slowest_ms) } else { 0 };
            (wait, luck.chance(failures(&weather)))
        };
        if wait > 0 {
            self.hands.sleep(wait).await;
        } else {
            self.hands.step_aside().await;
        }
        fails
    }
}

#[async_trait]
impl Faults for Forecast {
    async fn before(&self, op: Op) -> Result<()> {
        // Few instances have several tasks, and it is their ends that are settled; and a claim is rare, too.
        let times = if matches!(op.name, "settle" | "conduct" | "claim") { 5 } else { 1 };
        if self.seam(|weather| weather.fails_before * times).await {
            self.count("refused", op);
            self.hands.note(|| format!("{}: {} is refused by the store", self.node, op.name));
            return Err(StoreError::Unavailable("the simulated store is away".into()));
        }
        Ok(())
    }

    async fn after(&self, op: Op) -> Result<()> {
        // A claim is rare among what a pass asks, and the worst place to fall silent: what was claimed must be told.
        let times = if op.name == "claim" { 5 } else { 1 };
        if self.seam(|weather| weather.fails_after * times).await {
            self.count("unknown", op);
            self.hands.note(|| format!("{}: nobody knows what became of {}", self.node, op.name));
            return match op.writes {
                true => Err(StoreError::Unknown("the simulated store fell silent".into())),
                false => Err(StoreError::Unavailable("the simulated store fell silent".into())),
            };
        }
        Ok(())
    }
}
