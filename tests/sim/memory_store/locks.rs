//! Fencing tokens and boards of locks in memory.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::lock::{LockBoard, token_counter};
use campanile_store::{LockStore, Result};

use super::MemoryStore;

#[async_trait]
impl LockStore for MemoryStore {
    async fn next_token(&self, lock: &str) -> Result<u64> {
        self.write("next_token", |stored| {
            let token = stored.lock_tokens.entry(token_counter(lock)).or_default();
            *token += 1;
            Ok(*token)
        })
        .await
    }

    async fn put_lock_board(&self, board: &LockBoard, forget_before: Timestamp) -> Result<()> {
        self.write("put_lock_board", |stored| {
            stored.lock_boards.insert(board.node.clone(), board.clone());
            stored.lock_boards.retain(|_, board| board.seen_at >= forget_before);
            Ok(())
        })
        .await
    }

    async fn lock_boards(&self) -> Result<Vec<LockBoard>> {
        self.read("lock_boards", |stored| stored.lock_boards.values().cloned().collect()).await
    }
}
