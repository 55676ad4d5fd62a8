//! Locks as people see them, and how many counters their tokens come from.
//!
//! Who holds what is decided elsewhere, in a table that may forget; what stands here is what each node says of the locks
//! that are held or waited for through it, for everyone to look at. Nothing is locked by it.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::task::ExecutorRef;

/// Tokens are counted by so many counters; a lock's name says which is its own. Several locks share one, so that what
/// is kept does not grow with the names that anyone has ever thought of.
pub const TOKEN_COUNTERS: u32 = 4096;

/// Of what is held and waited for through one node so much is written down.
pub const MOST_SHOWN: usize = 1000;

/// Which counter the tokens of a lock come from, for good: by its name, as FNV-1a and a multiplication mix it.
pub fn token_counter(lock: &str) -> u32 {
    let hash = lock
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // Names that differ in their last digits alone must not meet in one: its bits are mixed once more.
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    u32::try_from(mixed >> 32).unwrap_or(0) % TOKEN_COUNTERS
}

/// An attempt that holds a lock, or waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockClaim {
    pub lock: String,
    pub executor: ExecutorRef,
    pub task: String,
    pub attempt: u32,
    pub since: Timestamp,
    /// When it is over by itself: the lease, unless it is renewed, or the patience of one that waits.
    pub until: Timestamp,
    /// None: it waits.
    pub held: Option<LockHeld>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockHeld {
    pub token: u64,
    /// How often it is entered.
    pub count: u32,
    /// It is renewed for as long as its executor is there.
    pub watched: bool,
}

/// What is held and waited for through one node, as it last said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockBoard {
    /// Of one life.
    pub node: String,
    pub seen_at: Timestamp,
    /// By lock, holders first; at most [`MOST_SHOWN`].
    pub claims: Vec<LockClaim>,
    /// So many more there are.
    pub left_out: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_counter_for_good_and_names_are_spread_over_all_of_them() {
        for (lock, counter) in [("a", 222), ("orders", 312), ("日报", 1832)] {
            assert_eq!(token_counter(lock), counter, "{lock}: tokens that were given out count from there");
        }
        let mut locks = vec![0u32; TOKEN_COUNTERS as usize];
        (0..100_000).for_each(|n| locks[token_counter(&format!("order/{n}")) as usize] += 1);
        assert!(locks.iter().all(|locks| (1..100).contains(locks)), "{:?}", locks.iter().max());
    }
}
