//! The data of a sharded run, as it is kept: in chunks until a level is dealt, then in pieces of its shards.
//!
//! No chunk and no piece grows with the data: it holds [`MOST_ITEMS`] values at most, and no more than [`MOST_BYTES`]
//! of them but where a single one is longer. A value is at most [`LARGEST_ITEM`] bytes of JSON. So 1,000,000 items of a
//! hundred bytes are a thousand chunks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::shard_of;

/// Values in one chunk or piece.
pub const MOST_ITEMS: usize = 1000;

/// Of the values in one chunk or piece, as JSON.
pub const MOST_BYTES: usize = 256 * 1024;

/// Of one value, as JSON. It goes to executors in one message, of which there is none larger than 1 MiB.
pub const LARGEST_ITEM: usize = 1_000_000;

/// Of what is kept of a message about an item.
pub const LONGEST_MESSAGE: usize = 500;

/// Values of a level that follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// 0: what the run was given. Else the attempt of `pre_process` that gave it, which counts once it is adopted.
    pub draft: u32,
    pub level: u32,
    /// The place in the level of the first.
    pub first: u64,
    /// JSON, each without a line break.
    pub items: Vec<String>,
}

impl Chunk {
    /// The place of whatever comes after it.
    pub fn end(&self) -> u64 {
        self.first + self.items.len() as u64
    }
}

/// Values of one shard that follow one another there; in the level so many lie between as there are shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub at: PieceAt,
    pub items: Vec<String>,
}

/// Which piece of which shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceAt {
    pub level: u32,
    pub shard: u32,
    /// The place in the level of its first value.
    pub first: u64,
}

/// What became of the values of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceOutcomes {
    pub at: PieceAt,
    pub outcomes: Outcomes,
}

/// Outcomes by place in a piece. The first that was said of a value stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// A letter for each value: `.` nothing was said of it, `+` it succeeded, `-` it failed.
    marks: String,
    messages: BTreeMap<u32, String>,
}

impl Outcomes {
    /// Nothing was said of any of so many.
    pub fn none(count: usize) -> Outcomes {
        Outcomes { marks: ".".repeat(count), messages: BTreeMap::new() }
    }

    /// As a store read it back.
    pub fn stored(marks: String, messages: BTreeMap<u32, String>) -> Outcomes {
        Outcomes { marks, messages }
    }

    pub fn marks(&self) -> &str {
        &self.marks
    }

    pub fn messages(&self) -> &BTreeMap<u32, String> {
        &self.messages
    }

    pub fn len(&self) -> usize {
        self.marks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// False: something was said of it before, or there is no such value, and nothing has changed.
    pub fn say(&mut self, place: usize, succeeded: bool, message: &str) -> bool {
        if self.marks.as_bytes().get(place) != Some(&b'.') {
            return false;
        }
        self.marks.replace_range(place..=place, if succeeded { "+" } else { "-" });
        if !message.is_empty() {
            let end = message.floor_char_boundary(LONGEST_MESSAGE);
            self.messages.insert(u32::try_from(place).unwrap_or(u32::MAX), message[..end].to_owned());
        }
        true
    }

    /// Whether it succeeded, with what was said; none where nothing was.
    pub fn of(&self, place: usize) -> Option<(bool, &str)> {
        let succeeded = match self.marks.as_bytes().get(place)? {
            b'+' => true,
            b'-' => false,
            _ => return None,
        };
        let message = u32::try_from(place).ok().and_then(|place| self.messages.get(&place));
        Some((succeeded, message.map_or("", String::as_str)))
    }

    /// Places of which nothing was said.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.marks.bytes().enumerate().filter(|(_, mark)| *mark == b'.').map(|(place, _)| place)
    }
}

/// Puts values into chunks or pieces as they come; gives one out whenever it is full.
#[derive(Debug, Default)]
pub struct Gatherer {
    items: Vec<String>,
    bytes: usize,
}

impl Gatherer {
    /// What was full before this value, which begins the next one.
    pub fn add(&mut self, item: String) -> Option<Vec<String>> {
        let full = self.items.len() >= MOST_ITEMS || self.bytes + item.len() > MOST_BYTES;
        let given = if full { self.take() } else { None };
        self.bytes += item.len();
        self.items.push(item);
        given
    }

    /// What is left.
    pub fn take(&mut self) -> Option<Vec<String>> {
        self.bytes = 0;
        let items = std::mem::take(&mut self.items);
        (!items.is_empty()).then_some(items)
    }
}

/// Deals chunks of a level that follow one another into pieces of its shards, in the order of shards and places.
pub fn pieces_of(chunks: Vec<Chunk>, shards: u32) -> Vec<Piece> {
    let level = chunks.first().map_or(0, |chunk| chunk.level);
    let mut gathering: BTreeMap<u32, (u64, Gatherer)> = BTreeMap::new();
    let mut pieces = Vec::new();
    for chunk in chunks {
        for (index, item) in (chunk.first..).zip(chunk.items) {
            let shard = shard_of(index, shards);
            let (first, gatherer) = gathering.entry(shard).or_insert_with(|| (index, Gatherer::default()));
            if let Some(items) = gatherer.add(item) {
                pieces.push(Piece { at: PieceAt { level, shard, first: *first }, items });
                *first = index;
            }
        }
    }
    for (shard, (first, mut gatherer)) in gathering {
        pieces.extend(gatherer.take().map(|items| Piece { at: PieceAt { level, shard, first }, items }));
    }
    pieces.sort_by_key(|piece| piece.at);
    pieces
}

/// JSON as it is kept: in one line. Outside of strings, where it cannot stand, a line break is a space.
pub fn in_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunks_of(items: &[String]) -> Vec<Chunk> {
        let mut gatherer = Gatherer::default();
        let mut full: Vec<Vec<String>> = items.iter().filter_map(|item| gatherer.add(item.clone())).collect();
        full.extend(gatherer.take());
        let mut first = 0;
        let chunk = |items: Vec<String>| {
            let chunk = Chunk { draft: 0, level: 2, first, items };
            first = chunk.end();
            chunk
        };
        full.into_iter().map(chunk).collect()
    }

    #[test]
    fn a_chunk_is_full_by_number_or_by_size_and_one_that_is_longer_stands_alone() {
        let small: Vec<String> = (0..2500).map(|n| n.to_string()).collect();
        let sizes = |items: &[String]| chunks_of(items).iter().map(|chunk| chunk.items.len()).collect::<Vec<_>>();
        assert_eq!(sizes(&small), [1000, 1000, 500]);
        let large = "x".repeat(100 * 1024);
        assert_eq!(sizes(&vec![large; 5]), [2, 2, 1]);
        let larger = "x".repeat(LARGEST_ITEM);
        assert_eq!(sizes(&["1".to_owned(), larger.clone(), larger, "2".to_owned()]), [1, 1, 1, 1]);
        assert_eq!(sizes(&[]), [] as [usize; 0]);
    }

    #[test]
    fn the_first_outcome_of_a_value_stays() {
        let mut outcomes = Outcomes::none(3);
        assert!(outcomes.say(1, false, "no such customer"));
        assert!(!outcomes.say(1, true, "after all"));
        assert!(outcomes.say(2, true, ""));
        assert!(!outcomes.say(3, true, ""));
        assert_eq!(outcomes.marks(), ".-+");
        assert_eq!(outcomes.of(0), None);
        assert_eq!(outcomes.of(1), Some((false, "no such customer")));
        assert_eq!(outcomes.of(2), Some((true, "")));
        assert_eq!(outcomes.open().collect::<Vec<_>>(), [0]);
        assert!(outcomes.say(0, false, &"错".repeat(500)));
        assert_eq!(outcomes.of(0).map(|(_, message)| message.len()), Some(498));
    }

    proptest! {
        #[test]
        fn dealing_puts_every_value_into_the_piece_of_its_shard(
            lengths in proptest::collection::vec(1_usize..2000, 1..3000), shards in 1_u32..50,
        ) {
            let items: Vec<String> =
                lengths.iter().enumerate().map(|(n, length)| format!("{n}:{}", "x".repeat(*length))).collect();
            let pieces = pieces_of(chunks_of(&items), shards);
            let mut seen = vec![false; items.len()];
            for piece in &pieces {
                prop_assert!(piece.items.len() <= MOST_ITEMS);
                prop_assert!(piece.items.iter().map(String::len).sum::<usize>() <= MOST_BYTES);
                let places = (piece.at.first..).step_by(shards as usize);
                for (place, item) in places.zip(&piece.items) {
                    let place = usize::try_from(place).expect("few");
                    prop_assert_eq!(item, &items[place]);
                    prop_assert_eq!(shard_of(place as u64, shards), piece.at.shard);
                    prop_assert!(!std::mem::replace(&mut seen[place], true));
                }
            }
            prop_assert!(seen.iter().all(|seen| *seen));
        }
    }
}
