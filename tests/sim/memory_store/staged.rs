//! Staged data in memory.

use async_trait::async_trait;
use campanile_model::sharding::{Chunk, Staged};
use campanile_model::{DataId, InstanceId, Timestamp};
use campanile_store::{Purge, Result, StagedStore, Taken};

use super::{MemoryStore, Stored};

/// When it was discarded.
const NEVER: Timestamp = Timestamp::from_millis(0);

impl Stored {
    fn stage(&mut self, staged: &Staged, chunks: &[Chunk]) -> Taken {
        let (known, data) = self.staged.entry(staged.id).or_insert_with(|| (staged.clone(), Default::default()));
        let is_new = data.is_empty() && known == staged;
        if known.at == NEVER || (known.whole && !is_new) {
            return Taken::Lost;
        }
        *known = Staged { instance: known.instance, ..staged.clone() };
        for chunk in chunks {
            data.entry((chunk.level, chunk.first)).or_insert_with(|| chunk.clone());
        }
        Taken::Done
    }

    pub(super) fn take_staged(&mut self, data: DataId, instance: InstanceId) -> Taken {
        match self.staged.get_mut(&data) {
            Some((known, _)) if known.at != NEVER && known.whole && known.instance.is_none() => {
                known.instance = Some(instance);
                Taken::Done
            }
            _ => Taken::Lost,
        }
    }

    pub(super) fn purge_staged(&mut self, purge: &Purge) -> u64 {
        let waits = |id: &InstanceId| self.instances.get(id).is_some_and(|one| one.row.finished_at.is_none());
        let old = self
            .staged
            .values()
            .map(|(known, _)| known)
            .filter(|known| known.at < purge.staged_before && !known.instance.as_ref().is_some_and(waits));
        let Some(oldest) = old.min_by_key(|known| known.at).map(|known| known.id) else { return 0 };
        let Some((known, data)) = self.staged.get_mut(&oldest) else { return 0 };
        known.at = NEVER;
        if data.is_empty() {
            self.staged.remove(&oldest);
            return 1;
        }
        let some: Vec<(u32, u64)> = data.keys().copied().take(purge.limit.div_ceil(10)).collect();
        some.iter().for_each(|at| drop(data.remove(at)));
        some.len() as u64
    }
}

#[async_trait]
impl StagedStore for MemoryStore {
    async fn stage(&self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken> {
        self.write("stage", |stored| Ok(stored.stage(staged, chunks))).await
    }

    async fn staged(&self, data: DataId) -> Result<Option<Staged>> {
        self.read("staged", |stored| {
            stored.staged.get(&data).map(|(known, _)| known.clone()).filter(|known| known.at != NEVER)
        })
        .await
    }

    async fn staged_chunks(&self, data: DataId, limit: usize) -> Result<Vec<Chunk>> {
        self.read("staged_chunks", |stored| {
            let chunks = stored.staged.get(&data).into_iter().flat_map(|(_, chunks)| chunks.values());
            chunks.take(limit).cloned().collect()
        })
        .await
    }

    async fn discard_staged(&self, data: DataId) -> Result<Taken> {
        self.write("discard_staged", |stored| {
            let there = stored.staged.get_mut(&data).map(|(known, _)| known);
            Ok(match there.filter(|known| known.at != NEVER && known.instance.is_none()) {
                Some(known) => {
                    known.at = NEVER;
                    Taken::Done
                }
                None => Taken::Lost,
            })
        })
        .await
    }
}
