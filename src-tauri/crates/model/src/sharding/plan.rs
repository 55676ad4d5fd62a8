//! Into how many shards a level is cut, and which item goes to which.

use super::ShardSettings;

/// How a level is cut: settled when it starts, and the same for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub items: u64,
    pub shards: u32,
}

/// How many shards a level of `items` gets, with so many executors that could take them. None for a level without
/// items, which is passed over.
///
/// `shardMaxSize` and `shardMinSize` bound the number from below and above; where they contradict each other the
/// largest size counts, because it is what a processor can take.
pub fn shard_count(items: u64, settings: &ShardSettings, executors: usize) -> Option<u32> {
    if items == 0 {
        return None;
    }
    let low = items.div_ceil(u64::from(settings.max_size.max(1)));
    let high = (items / u64::from(settings.min_size.max(1))).max(1);
    let count = if low > high { low } else { (executors as u64).clamp(low, high) };
    Some(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The shard of an item: its place in the level modulo their number.
pub fn shard_of(index: u64, shards: u32) -> u32 {
    u32::try_from(index % u64::from(shards)).expect("less than the number of shards")
}

impl Cut {
    /// How many items a shard has.
    pub fn size_of(self, shard: u32) -> u64 {
        let shards = u64::from(self.shards);
        self.items / shards + u64::from(u64::from(shard) < self.items % shards)
    }
}

/// The places in its level of a shard's items, in order.
pub fn items_of(cut: Cut, shard: u32) -> impl Iterator<Item = u64> {
    (u64::from(shard)..cut.items).step_by(cut.shards as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings(max_size: u32, min_size: u32) -> ShardSettings {
        ShardSettings { max_size, min_size, ..ShardSettings::default() }
    }

    #[test]
    fn the_number_of_shards_follows_items_bounds_and_executors() {
        let table = [
            // Items, max, min, executors, shards.
            (3000, 1000, 100, 3, Some(3)),
            (50, 1000, 100, 3, Some(1)),
            (9000, 1000, 100, 3, Some(9)),
            (1000, 100, 100, 3, Some(10)),
            (1500, 1000, 800, 3, Some(2)),
            (0, 1000, 1, 3, None),
            (1, 1000, 1, 8, Some(1)),
            (5, 1000, 1, 8, Some(5)),
            (1_000_000, 1000, 1, 3, Some(1000)),
            (7, u32::MAX, 1, 0, Some(1)),
        ];
        for (items, max, min, executors, shards) in table {
            assert_eq!(shard_count(items, &settings(max, min), executors), shards, "{items} {max} {min} {executors}");
        }
    }

    proptest! {
        #[test]
        fn the_number_of_shards_keeps_to_its_bounds(
            items in 1_u64..3_000_000, max in 1_u32..5000, min in 1_u32..5000, executors in 0_usize..200,
        ) {
            prop_assume!(min <= max);
            let shards = u64::from(shard_count(items, &settings(max, min), executors).expect("there are items"));
            let largest = items.div_ceil(shards);
            prop_assert!(largest <= u64::from(max), "a shard of {largest}");
            // Smaller than the least size only where the largest size, or one shard alone, leaves no choice.
            let forced = items.div_ceil(u64::from(max)) == shards || shards == 1;
            prop_assert!(items / shards >= u64::from(min) || forced);
            prop_assert!(shards <= items);
        }

        #[test]
        fn every_item_is_in_exactly_one_shard_and_sizes_differ_by_one_at_most(items in 1_u64..5000, shards in 1_u32..600) {
            prop_assume!(u64::from(shards) <= items);
            let cut = Cut { items, shards };
            let mut seen = vec![0_u32; usize::try_from(items).expect("few")];
            let mut sizes = Vec::new();
            for shard in 0..shards {
                let places: Vec<u64> = items_of(cut, shard).collect();
                for place in &places {
                    prop_assert_eq!(shard_of(*place, shards), shard);
                    seen[usize::try_from(*place).expect("few")] += 1;
                }
                prop_assert_eq!(places.len() as u64, cut.size_of(shard));
                sizes.push(places.len());
            }
            prop_assert!(seen.iter().all(|times| *times == 1));
            let (least, most) = (sizes.iter().min().expect("one"), sizes.iter().max().expect("one"));
            prop_assert!(most - least <= 1);
        }
    }
}
