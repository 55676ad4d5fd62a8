//! Traffic windows: what databases have been asked within a second, and how much a round may still give them.
//!
//! Seconds are those of the nodes' common clock, counted from the epoch. What a figure means for the tasks that want
//! the database is not decided here.

use async_trait::async_trait;

use crate::Result;

/// Windows that are kept; older ones are forgotten.
pub const SECONDS_KEPT: i64 = 10;

/// Statements within a window, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub selects: u64,
    pub inserts: u64,
    pub updates: u64,
    pub deletes: u64,
}

impl Counts {
    pub fn total(self) -> u64 {
        self.selects + self.inserts + self.updates + self.deletes
    }
}

/// One second of one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub second: i64,
    /// The sum of what meters in the users' services have counted; none: nobody has reported.
    pub metered: Option<Counts>,
    /// What the server's own counters say.
    pub probed: Option<Counts>,
}

#[async_trait]
pub trait Traffic: Send + Sync {
    /// Adds to what meters have counted. Zero is a report as well. Where whether it was added is not known it is not to
    /// be repeated: a figure that is too small is out of date in a second, one that is too large holds work back.
    async fn metered(&self, database: &str, second: i64, counts: Counts) -> Result<()>;

    /// What a probe has seen. Of several reports of one second the last counts.
    async fn probed(&self, database: &str, second: i64, counts: Counts) -> Result<()>;

    /// What is known of the ten seconds that end with `through`, oldest first; seconds of which nothing is known are
    /// left out.
    async fn windows(&self, database: &str, through: i64) -> Result<Vec<Window>>;

    /// Takes from what the round of this second may give to the whole team, at most `allowance`: says how much of
    /// `wanted` there was. What is not taken lapses with the second.
    async fn draw(&self, database: &str, round: i64, allowance: u32, wanted: u32) -> Result<u32>;
}
