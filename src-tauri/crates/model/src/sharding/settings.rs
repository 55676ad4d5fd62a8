//! What a job says about its shards, as it counts.

use super::OnLevelFailure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardSettings {
    /// At most so many items in one shard.
    pub max_size: u32,
    /// No more shards than leave each so many items, unless `max_size` asks for more.
    pub min_size: u32,
    pub on_level_failure: OnLevelFailure,
    /// Percent of progress from one notice to the next.
    pub notify_step: u32,
}

impl Default for ShardSettings {
    fn default() -> Self {
        ShardSettings { max_size: 1000, min_size: 1, on_level_failure: OnLevelFailure::Stop, notify_step: 10 }
    }
}
