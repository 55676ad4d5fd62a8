//! Sharded runs: their data in chunks, their levels, and what became of every item.
//!
//! What bounds it: a chunk and a piece hold 1,000 values at most and no more than 256 KiB of them (a single longer value
//! up to a megabyte stands alone), their outcomes a letter and at most 500 bytes for each value. So no row grows with the
//! data; 1,000,000 items of a hundred bytes are a thousand chunks while they wait, and about as many pieces once they
//! are dealt, or one for each shard where there are more shards. The number of statements of a call grows with none of
//! them. A caller bounds what one call carries.

use async_trait::async_trait;
use campanile_model::sharding::{Chunk, Level, Piece, PieceAt, PieceOutcomes, ShardRun};
use campanile_model::task::Task;
use campanile_model::{DataId, InstanceId, Partitions, TaskId, Timestamp};

use crate::{Lead, Result, Taken};

/// What is written of a run at once.
#[derive(Clone, Debug)]
pub struct ShardWrite {
    /// As it will be, but for `fence`, which is what was seen, and `tally.done`: to what is there `done` is added.
    pub run: ShardRun,
    pub done: i64,
    /// Where the run is new (its fence is 0): when its instance was assigned. It must be Waiting and have no tasks.
    pub begins: Option<Timestamp>,
    /// The instance, which is final, runs again.
    pub reopens: Option<Timestamp>,
    /// Levels as they will be.
    pub levels: Vec<Level>,
    /// Further data; a chunk whose place is taken is left as it is.
    pub data: Vec<Chunk>,
    /// Staged data that the run takes: its chunks up to that level and place go.
    pub takes: Option<(DataId, (u32, u64))>,
    /// The drafts but the run's own go.
    pub adopts: bool,
    /// Further pieces, with nothing said of their items yet; and the chunks of the run's draft that they come from: a
    /// level and the place up to which its chunks go.
    pub pieces: Vec<Piece>,
    pub dealt: Option<(u32, u64)>,
    /// Further tasks of the instance.
    pub tasks: Vec<Task>,
}

impl ShardWrite {
    /// The run alone.
    pub fn of(run: ShardRun) -> ShardWrite {
        ShardWrite {
            run,
            done: 0,
            begins: None,
            reopens: None,
            levels: Vec::new(),
            data: Vec::new(),
            takes: None,
            adopts: false,
            pieces: Vec::new(),
            dealt: None,
            tasks: Vec::new(),
        }
    }
}

#[async_trait]
pub trait ShardStore: Send + Sync {
    /// Writes all of it where the run still shows the fence that was seen (0: there is none yet), or nothing. An
    /// instance that is final gets no tasks: nothing is written.
    async fn conduct(&self, lead: &Lead, write: &ShardWrite) -> Result<Taken>;

    /// Runs of jobs of these partitions that are not over, oldest instance first, after that one, at most `limit`. Where
    /// that one is gone, from the oldest on.
    async fn shard_runs(&self, of: Partitions, after: Option<InstanceId>, limit: usize) -> Result<Vec<ShardRun>>;

    async fn shard_run(&self, instance: InstanceId) -> Result<Option<ShardRun>>;

    /// In order.
    async fn levels(&self, instance: InstanceId) -> Result<Vec<Level>>;

    /// In order, from that one on, at most `limit`.
    async fn levels_from(&self, instance: InstanceId, from: u32, limit: usize) -> Result<Vec<Level>>;

    /// How many items each level of a draft has, in order; levels without any are left out.
    async fn level_sizes(&self, instance: InstanceId, draft: u32) -> Result<Vec<(u32, u64)>>;

    /// Chunks of a draft from that level and place on, in order, at most `limit`.
    async fn chunks(&self, instance: InstanceId, draft: u32, from: (u32, u64), limit: usize) -> Result<Vec<Chunk>>;

    /// The pieces of shards, of each from the place on that is named, with what became of their items; at most `limit`
    /// of each. Those of a run come in the order of level, shard and place.
    async fn pieces(
        &self,
        from: &[(InstanceId, PieceAt)],
        limit: usize,
    ) -> Result<Vec<(InstanceId, Piece, PieceOutcomes)>>;

    /// What became of items, without the items: of those pieces of shards that begin between a place and another, both
    /// included. Those of a run come in the order of level, shard and place.
    async fn item_outcomes(&self, of: &[(InstanceId, PieceAt, u64)]) -> Result<Vec<(InstanceId, PieceOutcomes)>>;

    /// Tasks of an instance in the order in which they were made, after that one, at most `limit`.
    async fn tasks_after(&self, instance: InstanceId, after: Option<TaskId>, limit: usize) -> Result<Vec<Task>>;

    /// Tasks of an instance that are not final, in no order; at most `limit`.
    async fn open_tasks(&self, instance: InstanceId, limit: usize) -> Result<Vec<Task>>;
}
