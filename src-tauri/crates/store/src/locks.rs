//! What a store keeps of locks: their fencing tokens, which nothing may forget, and what nodes say of them to people.
//!
//! Who holds a lock it does not know.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::lock::LockBoard;

use crate::Result;

#[async_trait]
pub trait LockStore: Send + Sync {
    /// Greater than every token that was ever given out for this lock, to whichever node. Of two that ask at once each
    /// gets its own. A token that nobody hears of is never given out again.
    async fn next_token(&self, lock: &str) -> Result<u64>;

    /// Writes it over what the same life of a node said before. Those that were last seen before `forget_before` go.
    /// It is a node's word about itself, for show; it needs no lease, and does not count as a change.
    async fn put_lock_board(&self, board: &LockBoard, forget_before: Timestamp) -> Result<()>;

    /// By the names of the nodes' lives.
    async fn lock_boards(&self) -> Result<Vec<LockBoard>>;
}
