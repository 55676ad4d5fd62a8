//! Executors as they are written down: for people, and for programs that do not drive the engine.
//!
//! Who is connected, and what each has in hand, the node that holds its stream knows by itself; this is what it says
//! of them to everyone else, and what stays of one that has gone. Nothing is dispatched by it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::task::ExecutorRef;
use crate::{Timestamp, Words};

/// Why an executor is to take nothing new, and who said so. It holds for every life under that name until it is lifted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Drain {
    pub by: String,
    pub reason: String,
    pub since: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostedProcessor {
    pub name: String,
    pub title: Words,
    /// What it is called for; nodes that do not hold its stream go by this.
    #[serde(default)]
    #[ts(skip)]
    pub methods: Vec<String>,
}

/// What an executor said of the machine it runs on; a missing one is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct MachineReading {
    pub cpu_percent: Option<f64>,
    pub memory_percent: Option<f64>,
    pub disk_queue: Option<f64>,
    pub cores: Option<u32>,
}

/// One executor as the leading node last saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutorEntry {
    pub executor: ExecutorRef,
    /// The node that holds its stream, or held it last.
    pub node: String,
    pub embedded: bool,
    pub processors: Vec<HostedProcessor>,
    pub labels: BTreeMap<String, String>,
    /// How many tasks it runs at once …
    pub capacity: u32,
    /// … and how many more may wait there.
    pub queue: u32,
    pub in_hand: u32,
    pub running: u32,
    pub version: String,
    /// What secrets for it are sealed to, in hexadecimal; empty: it takes none.
    pub public_key: String,
    pub machine: Option<MachineReading>,
    /// It has a stream now.
    pub connected: bool,
    /// It takes nothing new, by its own word or by ours.
    pub draining: bool,
    /// When this life of it was first seen.
    pub since: Timestamp,
    pub heard_at: Timestamp,
    /// Its lease has passed, or it said goodbye.
    pub gone_at: Option<Timestamp>,
    /// Reports that came too late, twice or out of place, and changed nothing.
    pub disregarded: u64,
    /// Tasks that ended here in the last ten minutes, and how long they ran together.
    pub ended: u32,
    pub ended_took_ms: u64,
}

/// What an executor's tasks of late are counted over.
pub const RATE_OVER_MS: i64 = 600_000;

impl ExecutorEntry {
    /// By what ended in the last ten minutes, or for as long as it has been there.
    pub fn suggested_capacity(&self) -> Option<u32> {
        let there_ms = self.heard_at.millis() - self.since.millis();
        suggested_capacity(self.ended, self.ended_took_ms, there_ms.clamp(LEAST_RATED_MS, RATE_OVER_MS))
    }
}

/// Of one that has been there for less nothing more is known.
const LEAST_RATED_MS: i64 = 10_000;

/// As many places as arrive while one task runs, and half as many again and more: rate × mean duration × 2.5. None
/// where too little ended to tell.
fn suggested_capacity(ended: u32, took_ms: u64, over_ms: i64) -> Option<u32> {
    const FEWEST: u32 = 20;
    if ended < FEWEST || over_ms <= 0 {
        return None;
    }
    // rate × mean = the time that was worked ÷ the time that passed.
    let busy = took_ms as f64 / over_ms as f64;
    Some((busy * 2.5).ceil().clamp(1.0, f64::from(u32::MAX)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_capacity_is_rate_times_duration_times_two_and_a_half() {
        // (ended, took together, over) → suggested
        let table = [
            ((10_000, 1_000_000, 10_000), Some(250)), // 1000/s × 0.1 s
            ((600, 600_000, 600_000), Some(3)),       // 1/s × 1 s
            ((20, 20, 600_000), Some(1)),             // next to nothing is still one
            ((19, 1_000_000, 600_000), None),         // too few to tell
            ((20, 20, 0), None),
        ];
        for ((ended, took, over), expected) in table {
            assert_eq!(suggested_capacity(ended, took, over), expected, "{ended} in {took} ms over {over} ms");
        }
    }
}
