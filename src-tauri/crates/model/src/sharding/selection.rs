//! Some shards of a run, as a person marks them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A selection is kept with its run, which is written often: more ranges than this are refused.
pub const MOST_RANGES: usize = 2_000;

/// Shards of a level that follow one another: from `from` up to but without `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
pub struct ShardRange {
    pub level: u32,
    pub from: u32,
    pub until: u32,
}

/// In order, and no two of its ranges touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<ShardRange>", into = "Vec<ShardRange>")]
pub struct Selection(Vec<ShardRange>);

impl From<Vec<ShardRange>> for Selection {
    fn from(mut ranges: Vec<ShardRange>) -> Selection {
        ranges.retain(|range| range.from < range.until);
        ranges.sort_unstable();
        let mut apart: Vec<ShardRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match apart.last_mut().filter(|last| last.level == range.level && range.from <= last.until) {
                Some(last) => last.until = last.until.max(range.until),
                None => apart.push(range),
            }
        }
        Selection(apart)
    }
}

impl From<Selection> for Vec<ShardRange> {
    fn from(selection: Selection) -> Vec<ShardRange> {
        selection.0
    }
}

impl Selection {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_too_scattered(&self) -> bool {
        self.0.len() > MOST_RANGES
    }

    pub fn has(&self, level: u32, shard: u32) -> bool {
        let behind = self.0.partition_point(|range| (range.level, range.from) <= (level, shard));
        self.0[..behind].last().is_some_and(|range| range.level == level && shard < range.until)
    }

    /// Whether it has a shard of that level.
    pub fn touches(&self, level: u32) -> bool {
        let behind = self.0.partition_point(|range| range.level < level);
        self.0.get(behind).is_some_and(|range| range.level == level)
    }

    #[must_use]
    pub fn and(self, other: Selection) -> Selection {
        let mut all = self.0;
        all.extend(other.0);
        Selection::from(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Level, first, and the one behind the last.
    type Ranges = [(u32, u32, u32)];

    fn of(ranges: &Ranges) -> Selection {
        let ranges: Vec<_> = ranges
            .iter()
            .map(|(level, from, until)| ShardRange { level: *level, from: *from, until: *until })
            .collect();
        Selection::from(ranges)
    }

    #[test]
    fn ranges_that_touch_are_one_and_empty_ones_are_none() {
        let table: &[(&Ranges, &Ranges)] = &[
            (&[], &[]),
            (&[(0, 3, 3), (0, 5, 4)], &[]),
            (&[(0, 4, 6), (0, 0, 2), (0, 2, 4)], &[(0, 0, 6)]),
            (&[(0, 0, 9), (0, 2, 4), (0, 20, 21)], &[(0, 0, 9), (0, 20, 21)]),
            // The end of one level is not the beginning of the next.
            (&[(1, 0, 2), (0, 0, 2)], &[(0, 0, 2), (1, 0, 2)]),
        ];
        for (given, expected) in table {
            assert_eq!(of(given), Selection(Vec::from(of(expected))), "{given:?}");
            assert_eq!(of(given).0.len(), expected.len(), "{given:?}");
        }
    }

    #[test]
    fn a_shard_is_in_it_or_not() {
        let some = of(&[(0, 2, 4), (2, 0, 1), (2, 7, 9)]);
        let table = [
            (0, 1, false),
            (0, 2, true),
            (0, 3, true),
            (0, 4, false),
            (1, 0, false),
            (2, 0, true),
            (2, 1, false),
            (2, 8, true),
            (2, 9, false),
            (3, 0, false),
        ];
        for (level, shard, expected) in table {
            assert_eq!(some.has(level, shard), expected, "{level} {shard}");
        }
        assert_eq!([0, 1, 2, 3].map(|level| some.touches(level)), [true, false, true, false]);
        assert!(!Selection::default().has(0, 0));
        assert!(of(&[(0, 0, 2)]).and(of(&[(0, 2, 5), (4, 1, 2)])).has(4, 1));
    }

    #[test]
    fn it_is_kept_as_its_ranges() {
        let text = serde_json::to_string(&of(&[(0, 2, 4)])).expect("it can be written");
        assert_eq!(text, r#"[{"level":0,"from":2,"until":4}]"#);
        assert_eq!(serde_json::from_str::<Selection>(&text).expect("it can be read"), of(&[(0, 2, 4)]));
    }
}
