//! Fencing tokens, and what nodes say of the locks that are held through them.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::lock::{LockBoard, token_counter};
use campanile_store::{LockStore, Result};

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::{Columns, written};

#[async_trait]
impl LockStore for SqliteStore {
    async fn next_token(&self, lock: &str) -> Result<u64> {
        let mut write = self.write().await?;
        let row = write
            .row(
                sql("INSERT INTO lock_tokens (counter, token) VALUES (?, 1)
                     ON CONFLICT (counter) DO UPDATE SET token = token + 1 RETURNING token")
                .bind(i64::from(token_counter(lock))),
            )
            .await?;
        let token = row.map(|row| row.count("token")).transpose()?;
        write.commit().await?;
        token.ok_or_else(|| crate::rows::damaged("a token that was just counted is not there"))
    }

    async fn put_lock_board(&self, board: &LockBoard, forget_before: Timestamp) -> Result<()> {
        let mut write = self.write().await?;
        write
            .execute(
                sql("INSERT INTO lock_boards (node, seen_at, board) VALUES (?, ?, ?)
                     ON CONFLICT (node) DO UPDATE SET seen_at = excluded.seen_at, board = excluded.board")
                .bind(board.node.clone())
                .bind(board.seen_at.millis())
                .bind(written(board)?),
            )
            .await?;
        write.execute(sql("DELETE FROM lock_boards WHERE seen_at < ?").bind(forget_before.millis())).await?;
        write.commit().await
    }

    async fn lock_boards(&self) -> Result<Vec<LockBoard>> {
        let rows = self.read().await?.rows(sql("SELECT board FROM lock_boards ORDER BY node")).await?;
        rows.iter().map(|row| row.json("board")).collect()
    }
}
