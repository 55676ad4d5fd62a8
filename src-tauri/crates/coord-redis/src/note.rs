//! What one node says to the others, on one channel: bells rung and things that have changed, under a number.
//!
//! The number grows by one with everything that a node says. A node also repeats its last number when it has nothing to
//! say, so that whoever missed something learns of it soon, and that silence means that the place is away.

use std::collections::HashMap;

use campanile_coord::Bell;
use tokio::time::{Duration, Instant};

/// Longest that one note may be, in bytes.
const LONGEST: usize = 8 * 1024;

/// A node that has said nothing for so long is forgotten; so are the oldest of very many.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
const MOST_NODES: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub from: u64,
    /// Of the last thing that was said: of this note, where it says something.
    pub number: u64,
    /// A bit for each bell.
    pub bells: u32,
    pub stale: Vec<String>,
    /// More has changed than the note can name.
    pub more: bool,
}

pub fn bit(bell: Bell) -> u32 {
    1 << bell as u32
}

pub fn bells(bits: u32) -> impl Iterator<Item = Bell> {
    Bell::ALL.into_iter().filter(move |bell| bits & bit(*bell) != 0)
}

impl Note {
    pub fn says_something(&self) -> bool {
        self.bells != 0 || self.more || !self.stale.is_empty()
    }

    pub fn text(&self) -> String {
        let mut text = format!("{:016x} {} {:x}", self.from, self.number, self.bells);
        let named = text.len();
        for name in &self.stale {
            text.push(' ');
            text.push_str(name);
        }
        if self.more || text.len() > LONGEST {
            text.truncate(named);
            text.push_str(" *");
        }
        text
    }

    /// None: nobody of this version wrote it.
    pub fn read(text: &str) -> Option<Note> {
        let mut words = text.split(' ');
        let from = u64::from_str_radix(words.next()?, 16).ok()?;
        let number = words.next()?.parse().ok()?;
        let bells = u32::from_str_radix(words.next()?, 16).ok()?;
        let stale: Vec<String> = words.map(str::to_owned).collect();
        let more = stale.iter().any(|name| name == "*");
        Some(Note { from, number, bells, stale: if more { Vec::new() } else { stale }, more })
    }
}

/// What has been heard of each node so far.
#[derive(Default)]
pub struct Numbers(HashMap<u64, (u64, Instant)>);

impl Numbers {
    /// Whether something was said before this note that never arrived.
    pub fn misses(&mut self, note: &Note, now: Instant) -> bool {
        if self.0.len() >= MOST_NODES {
            self.0.retain(|_, (_, heard)| now.duration_since(*heard) < FORGOTTEN_AFTER);
        }
        if self.0.len() >= MOST_NODES
            && let Some(oldest) = self.0.iter().min_by_key(|(_, (_, heard))| *heard).map(|(node, _)| *node)
        {
            self.0.remove(&oldest);
        }
        let before = self.0.insert(note.from, (note.number, now)).map_or(0, |(number, _)| number);
        before + u64::from(note.says_something()) != note.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(from: u64, number: u64) -> Note {
        Note { from, number, bells: 1, ..Note::default() }
    }

    fn repeats(from: u64, number: u64) -> Note {
        Note { from, number, ..Note::default() }
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let stale = vec!["jobs".to_owned(), "log:0198".to_owned()];
        for note in [
            repeats(u64::MAX, 0),
            says(7, 1),
            Note { stale, ..says(1, 2) },
            Note { more: true, ..repeats(1, 3) },
            Note { bells: Bell::ALL.into_iter().map(bit).sum(), ..repeats(1, 4) },
        ] {
            assert_eq!(Note::read(&note.text()), Some(note));
        }
        assert_eq!(
            bells(bit(Bell::Clerk) | bit(Bell::Registrar) | 1 << 31).collect::<Vec<_>>(),
            [Bell::Clerk, Bell::Registrar]
        );
        for nonsense in ["", "x", "1 2", "1 x 0", "zz 1 0"] {
            assert_eq!(Note::read(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said_to_be_more() {
        let stale = (0..1000).map(|n| format!("log:{n:060}")).collect();
        let note = Note { stale, ..says(1, 1) };
        assert!(note.text().len() <= LONGEST);
        assert_eq!(Note::read(&note.text()), Some(Note { more: true, ..says(1, 1) }));
    }

    #[test]
    fn a_number_that_was_skipped_is_missed_and_one_that_is_repeated_is_not() {
        let mut numbers = Numbers::default();
        let now = Instant::now();
        let table = [
            (says(1, 1), false),
            (says(1, 2), false),
            (repeats(1, 2), false),
            (repeats(1, 3), true), // said, and never heard
            (says(1, 4), false),
            (says(1, 6), true),
            (says(2, 9), true), // who knows what it had said before
            (repeats(3, 0), false),
            (says(3, 1), false),
        ];
        for (note, missed) in table {
            assert_eq!(numbers.misses(&note, now), missed, "{note:?}");
        }
    }

    #[test]
    fn of_very_many_nodes_the_silent_ones_are_forgotten() {
        let mut numbers = Numbers::default();
        let now = Instant::now();
        for node in 0..MOST_NODES as u64 * 2 {
            numbers.misses(&repeats(node, 1), now);
        }
        assert!(numbers.0.len() <= MOST_NODES);
    }
}
