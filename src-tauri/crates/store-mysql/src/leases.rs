//! Leases: one row each. Its lock is what lets one of two have it, and every write of a holder holds it too.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_store::{Lead, LeaseRow, LeaseStore, Result};

use crate::MysqlStore;
use crate::connection::sql;
use crate::rows::{Columns, number};

#[async_trait]
impl LeaseStore for MysqlStore {
    async fn take_lease(&self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<Option<Lead>> {
        self.again(|| self.try_take_lease(lease, holder, now, until)).await
    }

    async fn keep_lease(&self, lead: &Lead, until: Timestamp) -> Result<bool> {
        self.again(|| self.set_until(lead, until)).await
    }

    async fn release_lease(&self, lead: &Lead) -> Result<()> {
        self.again(|| self.set_until(lead, Timestamp::EPOCH)).await.map(|_| ())
    }

    async fn lease(&self, lease: &str) -> Result<Option<LeaseRow>> {
        let row = self
            .read()
            .await?
            .row(
                sql("SELECT lease, holder, term, until_at FROM leases WHERE lease = ?").bind(lease.as_bytes().to_vec()),
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(LeaseRow {
            lead: Lead { lease: row.text("lease")?, holder: row.text("holder")?, term: row.count("term")? },
            until: row.time("until_at")?,
        }))
    }
}

impl MysqlStore {
    async fn try_take_lease(
        &self,
        lease: &str,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lead>> {
        let mut write = self.write().await?;
        // There must be a row to lock. One that is made here is free, and stays only if it is taken.
        write
            .execute(
                sql("INSERT INTO leases (lease, holder, term, until_at) VALUES (?, '', 0, 0)
                     ON DUPLICATE KEY UPDATE lease = lease")
                .bind(lease.as_bytes().to_vec()),
            )
            .await?;
        let row = write
            .row(
                sql("SELECT holder, term, until_at FROM leases FORCE INDEX (PRIMARY) WHERE lease = ? FOR UPDATE")
                    .bind(lease.as_bytes().to_vec()),
            )
            .await?;
        let row = row.ok_or_else(|| crate::rows::damaged("a lease that was just written is not there"))?;
        let (is_free, is_own) = (row.time("until_at")? <= now, row.text("holder")? == holder);
        if !is_free && !is_own {
            write.abandon().await?;
            return Ok(None);
        }
        // Its own keeps the term while it lasts.
        let term = row.count("term")? + u64::from(is_free);
        write
            .execute(
                sql("UPDATE leases SET holder = ?, term = ?, until_at = ? WHERE lease = ?")
                    .bind(holder.as_bytes().to_vec())
                    .bind(number(term))
                    .bind(until.millis())
                    .bind(lease.as_bytes().to_vec()),
            )
            .await?;
        write.commit().await?;
        Ok(Some(Lead { lease: lease.to_owned(), holder: holder.to_owned(), term }))
    }

    async fn set_until(&self, lead: &Lead, until: Timestamp) -> Result<bool> {
        let mut write = self.write().await?;
        let kept = write
            .execute(
                sql("UPDATE leases SET until_at = ? WHERE lease = ? AND holder = ? AND term = ? AND until_at <> 0")
                    .bind(until.millis())
                    .bind(lead.lease.as_bytes().to_vec())
                    .bind(lead.holder.as_bytes().to_vec())
                    .bind(number(lead.term)),
            )
            .await?;
        write.commit().await?;
        Ok(kept == 1)
    }
}
