//! Data that was read from a file and waits for a run to take it.
//!
//! Whoever reads a file writes it, and holds no lease: it changes nothing that anybody goes by. What a run takes of it
//! moves with a write of the run ([`ShardWrite::takes`](crate::ShardWrite::takes)). It is bounded as the data of runs is.

use async_trait::async_trait;
use campanile_model::DataId;
use campanile_model::sharding::{Chunk, Staged};

use crate::{Result, Taken};

#[async_trait]
pub trait StagedStore: Send + Sync {
    /// Writes what is known of it, and further chunks; `instance` is left as it is. A chunk whose place is taken is left
    /// as it is. Lost where all of it is there already.
    async fn stage(&self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken>;

    async fn staged(&self, data: DataId) -> Result<Option<Staged>>;

    /// Its first chunks, in order, at most `limit`.
    async fn staged_chunks(&self, data: DataId, limit: usize) -> Result<Vec<Chunk>>;

    /// Nobody will take it: it is gone, and its chunks go bit by bit with upkeep. Lost where a run has taken it, or it
    /// is not there.
    async fn discard_staged(&self, data: DataId) -> Result<Taken>;
}
