//! Which executor a shard is meant for.
//!
//! Executors stand in the byte order of their names, and each gets a block of shards that follow one another. Who is
//! lost has only what it had dealt out again; when somebody joins, or is drained, everything that has not gone to an
//! executor yet is dealt anew.

use std::collections::BTreeSet;

/// How many of `shards` each of so many executors gets: as even as can be; what remains goes one each to the first of
/// them where the number of shards is odd, and to the last ones where it is even.
pub fn blocks(shards: usize, executors: usize) -> Vec<usize> {
    if executors == 0 {
        return Vec::new();
    }
    let (each, more) = (shards / executors, shards % executors);
    let has_one_more = |place: usize| match shards % 2 {
        1 => place < more,
        _ => place >= executors - more,
    };
    (0..executors).map(|place| each + usize::from(has_one_more(place))).collect()
}

/// The executor of each shard, in the order of `shards`, which ascend. Empty where nobody is there.
pub fn deal<'a>(shards: &[u32], executors: &[&'a str]) -> Vec<(u32, &'a str)> {
    let mut order = executors.to_vec();
    order.sort_unstable();
    let sizes = blocks(shards.len(), order.len());
    let places = order.iter().zip(sizes).flat_map(|(executor, size)| std::iter::repeat_n(*executor, size));
    shards.iter().copied().zip(places).collect()
}

/// A shard that has not gone to an executor, and the one that it is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Open<'a> {
    pub shard: u32,
    pub executor: &'a str,
}

/// Those who were there when a level was dealt last, and those who are there now.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub before: &'a BTreeSet<String>,
    /// They take work.
    pub live: &'a BTreeSet<String>,
    /// They live and take nothing new.
    pub draining: &'a BTreeSet<String>,
}

impl Change<'_> {
    /// Whether everything that is open is dealt anew, rather than what the lost ones had.
    pub fn is_for_all(&self) -> bool {
        let joined = self.live.difference(self.before).next().is_some();
        let drained = self.before.intersection(self.draining).any(|name| !self.live.contains(name));
        joined || drained
    }
}

/// The open shards that now belong to someone else, in the order of shards. Nothing where nobody is there: they stay
/// where they are until somebody comes.
pub fn deal_again<'a>(open: &[Open<'_>], change: &Change<'a>) -> Vec<(u32, &'a str)> {
    let live: Vec<&'a str> = change.live.iter().map(String::as_str).collect();
    let all = change.is_for_all();
    let mut moving: Vec<Open<'_>> =
        open.iter().filter(|open| all || !change.live.contains(open.executor)).copied().collect();
    moving.sort_unstable();
    let shards: Vec<u32> = moving.iter().map(|open| open.shard).collect();
    let dealt = deal(&shards, &live);
    dealt.into_iter().zip(&moving).filter(|((_, to), from)| *to != from.executor).map(|(dealt, _)| dealt).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Who has what, as SPEC writes it.
    fn said(dealt: &BTreeMap<u32, String>) -> String {
        let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (shard, name) in dealt {
            by_name.entry(name).or_default().push(shard.to_string());
        }
        let said: Vec<String> = by_name.iter().map(|(name, shards)| format!("{name}=[{}]", shards.join(","))).collect();
        said.join(" ")
    }

    fn first(shards: u32, executors: &str) -> BTreeMap<u32, String> {
        let shards: Vec<u32> = (0..shards).collect();
        let executors: Vec<&str> = executors.split_whitespace().collect();
        deal(&shards, &executors).into_iter().map(|(shard, name)| (shard, name.to_owned())).collect()
    }

    fn again(dealt: &mut BTreeMap<u32, String>, open: &[u32], before: &str, live: &str, draining: &str) {
        let (before, live, draining) = (names(before), names(live), names(draining));
        let change = Change { before: &before, live: &live, draining: &draining };
        let moved: Vec<(u32, String)> = {
            let open: Vec<Open<'_>> =
                open.iter().map(|shard| Open { shard: *shard, executor: dealt[shard].as_str() }).collect();
            deal_again(&open, &change).into_iter().map(|(shard, name)| (shard, name.to_owned())).collect()
        };
        dealt.extend(moved);
    }

    #[test]
    fn shards_are_dealt_in_blocks_and_the_remainder_by_the_odd_even_rule() {
        let table = [
            (9, "1 2 3", "1=[0,1,2] 2=[3,4,5] 3=[6,7,8]"),
            (8, "1 2 3", "1=[0,1] 2=[2,3,4] 3=[5,6,7]"),
            (7, "1 2 3", "1=[0,1,2] 2=[3,4] 3=[5,6]"),
            (10, "1 2 3", "1=[0,1,2] 2=[3,4,5] 3=[6,7,8,9]"),
            (2, "1 2 3", "2=[0] 3=[1]"),
            (1, "1 2 3", "1=[0]"),
            // In the order of bytes, whatever order they came in.
            (3, "b B a", "B=[0] a=[1] b=[2]"),
            (3, "", ""),
        ];
        for (shards, executors, expected) in table {
            assert_eq!(said(&first(shards, executors)), expected, "{shards} on {executors}");
        }
    }

    #[test]
    fn what_a_lost_executor_had_is_dealt_to_those_alive_and_nothing_else_moves() {
        let mut dealt = first(9, "1 2 3");
        let all: Vec<u32> = (0..9).collect();
        again(&mut dealt, &all, "1 2 3", "2 3", "");
        assert_eq!(said(&dealt), "2=[0,1,3,4,5] 3=[2,6,7,8]");

        // Shards 0 and 1 were finished when it was lost.
        let mut dealt = first(9, "1 2 3");
        again(&mut dealt, &(2..9).collect::<Vec<_>>(), "1 2 3", "2 3", "");
        assert_eq!(said(&dealt), "1=[0,1] 2=[2,3,4,5] 3=[6,7,8]");
    }

    #[test]
    fn who_joins_or_is_drained_has_everything_dealt_anew_that_was_not_pushed() {
        let mut dealt = first(9, "1 2 3");
        again(&mut dealt, &[1, 2, 4, 5, 7, 8], "1 2 3", "1 2 3 4", "");
        assert_eq!(said(&dealt), "1=[0,1] 2=[2,3] 3=[4,5,6] 4=[7,8]");

        let mut dealt = first(8, "1 2 3");
        again(&mut dealt, &[1, 4, 7], "1 2 3", "2 3", "1");
        assert_eq!(said(&dealt), "1=[0] 2=[1,2,3,4] 3=[5,6,7]");

        // The one that was lost comes back after its shards were dealt out.
        let mut dealt = first(4, "1 2");
        again(&mut dealt, &[0, 1, 2, 3], "1 2", "2", "");
        again(&mut dealt, &[0, 1, 2, 3], "2", "1 2", "");
        assert_eq!(said(&dealt), "1=[0,1] 2=[2,3]");
    }

    #[test]
    fn while_nobody_is_there_everything_stays_where_it_is() {
        let mut dealt = first(4, "1 2");
        again(&mut dealt, &[0, 1, 2, 3], "1 2", "", "2");
        assert_eq!(said(&dealt), "1=[0,1] 2=[2,3]");
    }

    proptest! {
        #[test]
        fn blocks_follow_one_another_and_differ_by_one_at_most(shards in 0_usize..3000, executors in 1_usize..60) {
            let sizes = blocks(shards, executors);
            prop_assert_eq!(sizes.iter().sum::<usize>(), shards);
            let (least, most) = (sizes.iter().min().expect("one"), sizes.iter().max().expect("one"));
            prop_assert!(most - least <= 1);
        }

        #[test]
        fn only_open_shards_move_and_only_to_those_alive(
            shards in 1_u32..200,
            open in proptest::collection::btree_set(0_u32..200, 0..200),
            executors in 1_usize..9,
            lost in proptest::collection::btree_set(0_usize..9, 0..9),
            joined in 0_usize..3,
        ) {
            let before: Vec<String> = (0..executors).map(|place| format!("e{place}")).collect();
            let dealt = first(shards, &before.join(" "));
            let mut live: BTreeSet<String> =
                before.iter().enumerate().filter(|(place, _)| !lost.contains(place)).map(|(_, name)| name.clone()).collect();
            live.extend((0..joined).map(|place| format!("n{place}")));
            let before: BTreeSet<String> = before.into_iter().collect();
            let none = BTreeSet::new();
            let change = Change { before: &before, live: &live, draining: &none };
            let open: Vec<u32> = open.into_iter().filter(|shard| *shard < shards).collect();
            let stand: Vec<Open<'_>> =
                open.iter().map(|shard| Open { shard: *shard, executor: &dealt[shard] }).collect();
            let moved = deal_again(&stand, &change);
            let mut seen = BTreeSet::new();
            for (shard, to) in &moved {
                prop_assert!(open.contains(shard) && live.contains(*to) && seen.insert(*shard));
                prop_assert!(joined > 0 || !live.contains(&dealt[shard]), "{} was where it could stay", shard);
            }
            // Nothing open is left with someone who is gone, while anyone is there.
            if !live.is_empty() {
                for shard in &open {
                    prop_assert!(live.contains(&dealt[shard]) || seen.contains(shard));
                }
            }
        }
    }
}
