//! Fencing tokens, and what nodes say of the locks that are held through them.
//!
//! Each is one statement that is a transaction by itself, on a connection for reading: neither is a change that consoles
//! must hear of, and whoever waits for a lock waits for a token as well.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_model::lock::{LockBoard, token_counter};
use campanile_store::{LockStore, Result};

use crate::MysqlStore;
use crate::connection::{composed, sql};
use crate::rows::{Columns, written};

#[async_trait]
impl LockStore for MysqlStore {
    async fn next_token(&self, lock: &str) -> Result<u64> {
        let counter = token_counter(lock);
        self.again(|| async move {
            // What the connection counted last is its own: nobody else can have counted in between.
            let text = format!(
                "INSERT INTO lock_tokens (counter, token) VALUES ({counter}, LAST_INSERT_ID(1))
                 ON DUPLICATE KEY UPDATE token = LAST_INSERT_ID(token + 1);
                 SELECT CAST(LAST_INSERT_ID() AS SIGNED) AS token"
            );
            let row = self.read().await?.row(composed(text)).await?;
            row.ok_or_else(|| crate::rows::damaged("a token that was just counted is not there"))?.count("token")
        })
        .await
    }

    async fn put_lock_board(&self, board: &LockBoard, forget_before: Timestamp) -> Result<()> {
        let text = written(board)?;
        let text = &text;
        self.again(|| async move {
            let mut line = self.read().await?;
            line.execute(
                sql("INSERT INTO lock_boards (node, seen_at, board) VALUES (?, ?, ?)
                     ON DUPLICATE KEY UPDATE seen_at = VALUES(seen_at), board = VALUES(board)")
                .bind(board.node.as_bytes().to_vec())
                .bind(board.seen_at.millis())
                .bind(text.clone()),
            )
            .await?;
            line.execute(sql("DELETE FROM lock_boards WHERE seen_at < ?").bind(forget_before.millis())).await?;
            Ok(())
        })
        .await
    }

    async fn lock_boards(&self) -> Result<Vec<LockBoard>> {
        let rows = self.read().await?.rows(sql("SELECT board FROM lock_boards ORDER BY node")).await?;
        rows.iter().map(|row| row.json("board")).collect()
    }
}
