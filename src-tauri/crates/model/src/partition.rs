//! What the nodes of a team share out among themselves: jobs by 64 partitions, and the rule of who takes which. Pure.

use std::fmt;

use crate::JobId;

/// Jobs are dealt into so many partitions.
pub const PARTITIONS: u32 = 64;

impl JobId {
    /// The partition that the job is in, for good: the last six of its random bits, which every database can read.
    pub fn partition(self) -> u32 {
        u32::from(self.bytes()[15]) % PARTITIONS
    }
}

/// A set of partitions, or of anything else that is counted from 0 to 63.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Partitions(u64);

impl Partitions {
    pub const ALL: Partitions = Partitions(u64::MAX);
    pub const NONE: Partitions = Partitions(0);

    /// From 0 up to, not including, `end`.
    pub fn below(end: u32) -> Partitions {
        (0..end.min(PARTITIONS)).collect()
    }

    pub fn holds(self, partition: u32) -> bool {
        partition < PARTITIONS && self.0 & (1 << partition) != 0
    }

    pub fn has(self, job: JobId) -> bool {
        self.holds(job.partition())
    }

    /// One bit for each, the lowest for partition 0.
    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn without(self, other: Partitions) -> Partitions {
        Partitions(self.0 & !other.0)
    }

    pub fn iter(self) -> impl DoubleEndedIterator<Item = u32> {
        (0..PARTITIONS).filter(move |partition| self.holds(*partition))
    }
}

impl FromIterator<u32> for Partitions {
    fn from_iter<I: IntoIterator<Item = u32>>(partitions: I) -> Partitions {
        Partitions(partitions.into_iter().filter(|one| *one < PARTITIONS).fold(0, |bits, one| bits | (1 << one)))
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What a node does about what is shared out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    pub give: Partitions,
    pub take: Partitions,
}

/// Each of `nodes` has a fair share of `of`: as many as would do if all had equally many, rounded up. What a node has
/// beyond that it gives back, the last first; where it has less, it takes of what is free. It begins at a place of its
/// own, `from`, so that two that begin together do not want the same ones.
pub fn turn(mine: Partitions, free: Partitions, of: u32, nodes: u32, from: u32) -> Turn {
    let fair = of.min(PARTITIONS).div_ceil(nodes.max(1));
    let beyond = mine.len().saturating_sub(fair) as usize;
    let give = mine.iter().rev().take(beyond).collect();
    let missing = fair.saturating_sub(mine.len()) as usize;
    let from = from % of.max(1);
    let in_turn = (from..of).chain(0..from);
    let take = in_turn.filter(|one| free.without(mine).holds(*one)).take(missing).collect();
    Turn { give, take }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(of: impl IntoIterator<Item = u32>) -> Partitions {
        of.into_iter().collect()
    }

    #[test]
    fn a_node_takes_its_fair_share_and_gives_back_what_is_beyond_it() {
        let none = Partitions::NONE;
        // (mine, free, of, nodes, from) → (give, take)
        let table = [
            ((none, Partitions::ALL, 64, 1, 0), (none, Partitions::ALL)),
            ((none, Partitions::ALL, 64, 1, 17), (none, Partitions::ALL)),
            ((none, Partitions::ALL, 64, 3, 0), (none, set(0..22))),
            ((none, Partitions::ALL, 64, 3, 50), (none, set((50..64).chain(0..8)))),
            // Someone joins: the others give back, and it takes that.
            ((Partitions::ALL, none, 64, 2, 0), (set(32..64), none)),
            ((none, set(32..64), 64, 2, 0), (none, set(32..64))),
            ((set(0..32), none, 64, 3, 0), (set(22..32), none)),
            // Someone goes: who has less than a share takes of what is free.
            ((set(0..22), set(44..64), 64, 2, 40), (none, set(44..54))),
            // Two of three have a share rounded up, and the third what is left.
            ((set(0..20), none, 64, 3, 0), (none, none)),
            // More nodes than there is to share out.
            ((none, set(0..4), 4, 9, 3), (none, set(3..4))),
            ((set(0..2), set(2..4), 4, 9, 0), (set(1..2), none)),
            // Nobody has been heard of, not even we.
            ((set(0..4), none, 4, 0, 0), (none, none)),
        ];
        for (n, ((mine, free, of, nodes, from), (give, take))) in table.into_iter().enumerate() {
            assert_eq!(turn(mine, free, of, nodes, from), Turn { give, take }, "case {n}");
        }
    }

    #[test]
    fn whoever_comes_and_goes_everything_is_led_and_evenly_after_a_few_turns() {
        let mut held = [Partitions::NONE; 5];
        for live in [vec![0], vec![0, 1], vec![0, 1, 2, 3, 4], vec![1, 4], vec![0, 1, 4]] {
            for (node, held) in held.iter_mut().enumerate() {
                if !live.contains(&node) {
                    *held = Partitions::NONE;
                }
            }
            for _ in 0..3 {
                for node in &live {
                    let led: Partitions = held.iter().flat_map(|held| held.iter()).collect();
                    let nodes = u32::try_from(live.len()).expect("few");
                    let from = u32::try_from(node * 13).expect("small");
                    let Turn { give, take } = turn(held[*node], Partitions::ALL.without(led), 64, nodes, from);
                    held[*node] = held[*node].without(give).iter().chain(take.iter()).collect();
                }
            }
            let sizes: Vec<u32> = live.iter().map(|node| held[*node].len()).collect();
            let fair = 64_u32.div_ceil(u32::try_from(live.len()).expect("few"));
            assert_eq!(sizes.iter().sum::<u32>(), 64, "{live:?}: {sizes:?}");
            assert!(sizes.iter().all(|size| *size <= fair), "{live:?}: {sizes:?}");
        }
    }

    #[test]
    fn a_job_is_in_the_partition_of_its_last_six_bits() {
        for (last, partition) in [(0, 0), (1, 1), (63, 63), (64, 0), (255, 63)] {
            let mut bytes = [7; 16];
            bytes[15] = last;
            let job = JobId::from_bytes(bytes);
            assert_eq!(job.partition(), partition);
            assert!(Partitions::ALL.has(job) && !Partitions::NONE.has(job));
            assert!(Partitions::from_iter([partition]).has(job));
        }
        assert_eq!(Partitions::below(64), Partitions::ALL);
        assert_eq!(Partitions::below(3).iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
