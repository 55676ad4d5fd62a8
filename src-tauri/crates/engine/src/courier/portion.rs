//! How many pieces of shards to read at once. Pure.
//!
//! A piece may hold one small item or a megabyte, and only who has read some knows which; so the next read is as large as
//! the last one lets expect.

/// Of many small ones, and where nothing is known yet.
const MOST: usize = 64;
const FIRST: usize = 8;

/// What is read at once is to come to about so much, in bytes.
const MUCH: usize = 4 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct Portion(usize);

impl Default for Portion {
    fn default() -> Portion {
        Portion(FIRST)
    }
}

impl Portion {
    pub fn pieces(self) -> usize {
        self.0
    }

    /// So much was read.
    #[must_use]
    pub fn after(self, bytes: usize) -> Portion {
        match bytes > MUCH {
            true => Portion((self.0 / 2).max(1)),
            false => Portion((self.0 * 2).min(MOST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_grows_while_little_is_read_and_shrinks_to_a_single_piece() {
        let after = |reads: &[usize]| reads.iter().fold(Portion::default(), |portion, bytes| portion.after(*bytes));
        assert_eq!(after(&[]).pieces(), 8);
        assert_eq!(after(&[0, MUCH]).pieces(), 32);
        assert_eq!(after(&[0; 9]).pieces(), 64);
        assert_eq!(after(&[MUCH + 1]).pieces(), 4);
        assert_eq!(after(&[usize::MAX; 9]).pieces(), 1);
        assert_eq!(after(&[usize::MAX, usize::MAX, usize::MAX, usize::MAX, 1]).pieces(), 2);
    }
}
