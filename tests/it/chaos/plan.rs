//! What goes wrong, and when: all of it drawn from one seed before anything begins.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Node,
    Executor(usize),
    Link(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// kill -9; another process takes the place when it is over.
    Killed,
    /// SIGSTOP, and SIGCONT when it is over.
    Frozen,
    /// Every stream is broken, and none comes through until it is over.
    Cut,
    /// Everything takes longer.
    Slow,
    /// What the executor says waits, and comes all at once when it is over.
    MuteUp,
    /// What the node says waits; then the stream breaks, so that what was not acknowledged is reported once more.
    MuteDownThenBreak,
}

/// One thing that goes wrong, from when until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub from: Duration,
    pub until: Duration,
    pub target: Target,
    pub fault: Fault,
}

/// The kinds of trouble, as often as they are to come, and how long each may last, in milliseconds. An executor's lease is
/// 3 s: most may end before it and after it.
const DECK: &[(bool, Fault, u64, u64)] = &[
    // (is about the node, ...)
    (true, Fault::Killed, 200, 6000),
    (true, Fault::Frozen, 300, 6000),
    (false, Fault::Killed, 100, 5000),
    (false, Fault::Killed, 100, 5000),
    (false, Fault::Frozen, 500, 7000),
    (false, Fault::Frozen, 3500, 7000),
    (false, Fault::Cut, 200, 2500),
    (false, Fault::Cut, 2500, 7000),
    (false, Fault::Slow, 1000, 6000),
    (false, Fault::MuteUp, 500, 6000),
    (false, Fault::MuteDownThenBreak, 300, 6000),
    (false, Fault::MuteDownThenBreak, 300, 2500),
];

/// In the order in which it begins. Nothing suffers two things at once, and every kind of trouble comes about as often as
/// the deck has it.
pub fn plan(seed: u64, length: Duration, executors: usize) -> Vec<Trouble> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut free: BTreeMap<Target, Duration> = BTreeMap::new();
    let (mut troubles, mut deck) = (Vec::new(), Vec::new());
    let mut at = Duration::from_millis(2000);
    while at < length {
        if deck.is_empty() {
            deck = DECK.to_vec();
            deck.shuffle(&mut dice);
        }
        let (node, fault, shortest, longest) = deck.pop().expect("it was filled");
        let one = dice.random_range(0..executors);
        let target = match (node, fault) {
            (true, _) => Target::Node,
            (false, Fault::Killed | Fault::Frozen) => Target::Executor(one),
            (false, _) => Target::Link(one),
        };
        let from = at.max(free.get(&target).copied().unwrap_or_default());
        let until = from + Duration::from_millis(dice.random_range(shortest..longest));
        free.insert(target, until + Duration::from_millis(500));
        troubles.push(Trouble { from, until, target, fault });
        at += Duration::from_millis(dice.random_range(400..2600));
    }
    troubles.sort_by_key(|trouble| trouble.from);
    troubles
}

#[test]
fn a_seed_is_a_plan_in_which_everything_goes_wrong_and_nothing_twice_at_once() {
    let minute = Duration::from_secs(60);
    assert_eq!(plan(7, minute, 4), plan(7, minute, 4));
    assert_ne!(plan(7, minute, 4), plan(8, minute, 4));
    for seed in 0..50 {
        let troubles = plan(seed, minute, 4);
        for (_, fault, ..) in DECK {
            assert!(troubles.iter().any(|trouble| trouble.fault == *fault), "seed {seed} has no {fault:?}");
        }
        for (at, one) in troubles.iter().enumerate() {
            let beside = troubles[..at].iter().find(|other| other.target == one.target && other.until > one.from);
            assert_eq!(beside, None, "seed {seed}: beside {one:?}");
        }
    }
}
