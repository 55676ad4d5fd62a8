//! Data that was read from a file and waits for a run to take it.

use async_trait::async_trait;
use campanile_model::sharding::{Chunk, Staged};
use campanile_model::{DataId, InstanceId, Timestamp};
use campanile_store::{Result, StagedStore, Taken};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::connection::{Write, sql};
use crate::rows::{self, Columns, Id, Texts, batch, limit, number, written};
use crate::shards::lines;

#[async_trait]
impl StagedStore for SqliteStore {
    async fn stage(&self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken> {
        let mut write = self.write().await?;
        let taken = write.stage(staged, chunks).await?;
        match taken {
            Taken::Done => write.commit().await?,
            Taken::Lost => write.abandon().await?,
        }
        Ok(taken)
    }

    async fn staged(&self, data: DataId) -> Result<Option<Staged>> {
        let found = sql("SELECT instance, row FROM staged WHERE id = ? AND at > 0").bind(data.blob());
        self.read().await?.row(found).await?.as_ref().map(staged).transpose()
    }

    async fn staged_chunks(&self, data: DataId, most: usize) -> Result<Vec<Chunk>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT level, first, items FROM staged_data
                     WHERE staged_seq = (SELECT seq FROM staged WHERE id = ?) ORDER BY level, first LIMIT ?")
                .bind(data.blob())
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, |row| {
            Ok(Chunk {
                draft: 0,
                level: row.small("level")?,
                first: row.count("first")?,
                items: lines(&row.text("items")?),
            })
        })
    }

    async fn discard_staged(&self, data: DataId) -> Result<Taken> {
        let mut write = self.write().await?;
        let gone = write
            .execute(sql("UPDATE staged SET at = 0 WHERE id = ? AND at > 0 AND instance IS NULL").bind(data.blob()))
            .await?;
        write.commit().await?;
        Ok(if gone == 0 { Taken::Lost } else { Taken::Done })
    }
}

fn staged(row: &SqliteRow) -> Result<Staged> {
    let kept: Staged = row.json("row")?;
    Ok(Staged { instance: row.maybe_id("instance")?, ..kept })
}

impl Write {
    async fn stage(&mut self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken> {
        let found = self
            .row(
                sql("INSERT INTO staged (id, at, whole, row) VALUES (?, ?, ?, ?)
                     ON CONFLICT (id) DO UPDATE SET at = excluded.at, whole = excluded.whole, row = excluded.row
                         WHERE whole = 0 AND at > 0
                     RETURNING seq")
                .bind(staged.id.blob())
                .bind(staged.at.millis())
                .bind(staged.whole)
                .bind(written(staged)?),
            )
            .await?;
        let Some(seq) = found.map(|row| row.int("seq")).transpose()? else { return Ok(Taken::Lost) };
        let mut texts = Texts::default();
        let values: Vec<Value> = chunks
            .iter()
            .map(|chunk| {
                let [from, length] = texts.add_lines(&chunk.items);
                json!([seq, chunk.level, chunk.first, from, length])
            })
            .collect();
        if !values.is_empty() {
            self.execute(
                sql("INSERT INTO staged_data (staged_seq, level, first, items)
                     SELECT value ->> 0, value ->> 1, value ->> 2,
                            CAST(substr(?2, value ->> 3, value ->> 4) AS TEXT)
                     FROM jsonb_each(?1) WHERE true
                     ON CONFLICT DO NOTHING")
                .bind(batch(values))
                .bind(texts.bytes()),
            )
            .await?;
        }
        Ok(Taken::Done)
    }

    pub(crate) async fn take_staged(&mut self, data: DataId, instance: InstanceId) -> Result<Taken> {
        let taken = self
            .execute(
                sql("UPDATE staged SET instance = ? WHERE id = ? AND at > 0 AND whole = 1 AND instance IS NULL")
                    .bind(instance.blob())
                    .bind(data.blob()),
            )
            .await?;
        Ok(if taken == 0 { Taken::Lost } else { Taken::Done })
    }

    /// Chunks that a run has now.
    pub(crate) async fn drop_staged(&mut self, data: DataId, (level, through): (u32, u64)) -> Result<()> {
        self.execute(
            sql("DELETE FROM staged_data
                 WHERE staged_seq = (SELECT seq FROM staged WHERE id = ?) AND (level, first) < (?, ?)")
            .bind(data.blob())
            .bind(i64::from(level))
            .bind(number(through)),
        )
        .await?;
        Ok(())
    }

    /// Some of what nobody waits for any more; how much.
    pub(crate) async fn purge_staged(&mut self, before: Timestamp, most: i64) -> Result<u64> {
        let found = self
            .row(
                sql("SELECT s.seq FROM staged s INDEXED BY staged_by_time
                     WHERE s.at < ? AND NOT EXISTS
                         (SELECT 1 FROM instances i WHERE i.id = s.instance AND i.finished_at IS NULL)
                     ORDER BY s.at LIMIT 1")
                .bind(before.millis()),
            )
            .await?;
        let Some(seq) = found.map(|row| row.int("seq")).transpose()? else { return Ok(0) };
        // Nobody takes what is only a part.
        self.execute(sql("UPDATE staged SET at = 0 WHERE seq = ?").bind(seq)).await?;
        let gone = self
            .execute(
                sql("DELETE FROM staged_data WHERE rowid IN (
                         SELECT rowid FROM staged_data WHERE staged_seq = ? LIMIT ?)")
                .bind(seq)
                .bind(most),
            )
            .await?;
        if gone > 0 {
            return Ok(gone);
        }
        self.execute(sql("DELETE FROM staged WHERE seq = ?").bind(seq)).await
    }
}
