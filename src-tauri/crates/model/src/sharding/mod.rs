//! A run cut into shards: what is decided about them.
//!
//! The data of a sharded run is a list of *levels*; the items of a level run in parallel, the levels one after another.
//! A level is cut into *shards* when it starts (`plan`), and the shards are dealt to executors (`deal`), again whenever
//! those who are there change. A shard is a task like any other: how it lives, fails and is tried again is not decided
//! here.

pub mod data;
pub mod deal;
pub mod level;
pub mod plan;
pub mod progress;
mod run;
mod selection;
mod settings;
pub mod staged;

pub use data::{Chunk, Outcomes, Piece, PieceAt, PieceOutcomes};
pub use level::{LevelState, OnLevelFailure};
pub use plan::{Cut, items_of, shard_count, shard_of};
pub use progress::{Tally, is_notice_due};
pub use run::{Level, Phase, ShardRun};
pub use selection::{MOST_RANGES, Selection, ShardRange};
pub use settings::ShardSettings;
pub use staged::{DATA, Staged};
