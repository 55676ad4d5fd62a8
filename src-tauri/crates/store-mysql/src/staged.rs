//! Data that was read from a file and waits for a run to take it.

use async_trait::async_trait;
use campanile_model::sharding::{Chunk, Staged};
use campanile_model::{DataId, InstanceId, Timestamp};
use campanile_store::{Result, StagedStore, Taken};
use sqlx::mysql::MySqlRow;

use crate::MysqlStore;
use crate::connection::{Write, sql};
use crate::rows::{self, Columns, Id, limit, number, written};
use crate::shards::lines;
use crate::values::{Row, row};

#[async_trait]
impl StagedStore for MysqlStore {
    async fn stage(&self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken> {
        self.again(|| async move {
            let mut write = self.write().await?;
            let taken = write.stage(staged, chunks).await?;
            match taken {
                Taken::Done => write.commit().await?,
                Taken::Lost => write.abandon().await?,
            }
            Ok(taken)
        })
        .await
    }

    async fn staged(&self, data: DataId) -> Result<Option<Staged>> {
        let found = sql("SELECT instance, entry FROM staged FORCE INDEX (staged_by_id) WHERE id = ? AND at > 0")
            .bind(data.blob());
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
        self.again(|| async move {
            let mut write = self.write().await?;
            let gone = write
                .execute(sql("UPDATE staged SET at = 0 WHERE id = ? AND at > 0 AND instance IS NULL").bind(data.blob()))
                .await?;
            write.commit().await?;
            Ok(if gone == 0 { Taken::Lost } else { Taken::Done })
        })
        .await
    }
}

fn staged(row: &MySqlRow) -> Result<Staged> {
    let kept: Staged = row.json("entry")?;
    Ok(Staged { instance: row.maybe_id("instance")?, ..kept })
}

impl Write {
    async fn stage(&mut self, staged: &Staged, chunks: &[Chunk]) -> Result<Taken> {
        self.execute(
            sql("INSERT INTO staged (id, at, whole, entry) VALUES (?, ?, 0, ?) ON DUPLICATE KEY UPDATE seq = seq")
                .bind(staged.id.blob())
                .bind(staged.at.millis())
                .bind(written(staged)?),
        )
        .await?;
        let found = sql("SELECT seq, at, whole FROM staged FORCE INDEX (staged_by_id) WHERE id = ? FOR UPDATE");
        let Some(found) = self.row(found.bind(staged.id.blob())).await? else { return Ok(Taken::Lost) };
        if found.int("at")? == 0 || found.int("whole")? != 0 {
            return Ok(Taken::Lost);
        }
        let seq = found.int("seq")?;
        self.execute(
            sql("UPDATE staged SET at = ?, whole = ?, entry = ? WHERE seq = ?")
                .bind(staged.at.millis())
                .bind(staged.whole)
                .bind(written(staged)?)
                .bind(seq),
        )
        .await?;
        let values = chunks.iter().map(|chunk| row![seq, chunk.level, chunk.first, chunk.items.join("\n")]);
        let head = "INSERT INTO staged_data (staged_seq, level, first, items)";
        // What is there is left as it is.
        self.insert(head, &values.collect::<Vec<Row>>(), "ON DUPLICATE KEY UPDATE level = level").await?;
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
        let found = sql("SELECT seq FROM staged FORCE INDEX (staged_by_id) WHERE id = ?").bind(data.blob());
        let Some(seq) = self.row(found).await?.map(|row| row.int("seq")).transpose()? else { return Ok(()) };
        self.execute(
            sql("DELETE FROM staged_data WHERE staged_seq = ? AND (level < ? OR (level = ? AND first < ?))")
                .bind(seq)
                .bind(i64::from(level))
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
                sql("SELECT s.seq FROM staged s FORCE INDEX (staged_by_time)
                     LEFT JOIN instances i FORCE INDEX (instances_by_id)
                         ON i.id = s.instance AND i.finished_at IS NULL
                     WHERE s.at < ? AND i.seq IS NULL ORDER BY s.at LIMIT 1")
                .bind(before.millis()),
            )
            .await?;
        let Some(seq) = found.map(|row| row.int("seq")).transpose()? else { return Ok(0) };
        // Nobody takes what is only a part.
        self.execute(sql("UPDATE staged SET at = 0 WHERE seq = ?").bind(seq)).await?;
        let gone = sql("DELETE FROM staged_data WHERE staged_seq = ? ORDER BY level, first LIMIT ?");
        let gone = self.execute(gone.bind(seq).bind(most)).await?;
        if gone > 0 {
            return Ok(gone);
        }
        self.execute(sql("DELETE FROM staged WHERE seq = ?").bind(seq)).await
    }
}
