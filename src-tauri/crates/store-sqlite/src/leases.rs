//! Leases: one row each. The write lock is what lets one of two have it.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_store::{Lead, LeaseRow, LeaseStore, Result};

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::{Columns, number};

#[async_trait]
impl LeaseStore for SqliteStore {
    async fn take_lease(&self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<Option<Lead>> {
        let mut write = self.write().await?;
        // The row is written where the lease is free, or is the asker's own; its own keeps the term while it lasts.
        let taken = write
            .row(
                sql("INSERT INTO leases (lease, holder, term, until) VALUES (?1, ?2, 1, ?4)
                     ON CONFLICT (lease) DO UPDATE SET
                         term = term + (until <= ?3),
                         holder = excluded.holder,
                         until = excluded.until
                     WHERE until <= ?3 OR holder = excluded.holder
                     RETURNING term")
                .bind(lease.to_owned())
                .bind(holder.to_owned())
                .bind(now.millis())
                .bind(until.millis()),
            )
            .await?;
        let term = match taken {
            Some(row) => row.count("term")?,
            None => {
                write.abandon().await?;
                return Ok(None);
            }
        };
        write.commit().await?;
        Ok(Some(Lead { lease: lease.to_owned(), holder: holder.to_owned(), term }))
    }

    async fn keep_lease(&self, lead: &Lead, until: Timestamp) -> Result<bool> {
        self.set_until(lead, until).await
    }

    async fn release_lease(&self, lead: &Lead) -> Result<()> {
        self.set_until(lead, Timestamp::EPOCH).await.map(|_| ())
    }

    async fn lease(&self, lease: &str) -> Result<Option<LeaseRow>> {
        let row = self
            .read()
            .await?
            .row(sql("SELECT lease, holder, term, until FROM leases WHERE lease = ?").bind(lease.to_owned()))
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(LeaseRow {
            lead: Lead { lease: row.text("lease")?, holder: row.text("holder")?, term: row.count("term")? },
            until: row.time("until")?,
        }))
    }
}

impl SqliteStore {
    async fn set_until(&self, lead: &Lead, until: Timestamp) -> Result<bool> {
        let mut write = self.write().await?;
        let kept = write
            .execute(
                sql("UPDATE leases SET until = ? WHERE lease = ? AND holder = ? AND term = ? AND until <> 0")
                    .bind(until.millis())
                    .bind(lead.lease.clone())
                    .bind(lead.holder.clone())
                    .bind(number(lead.term)),
            )
            .await?;
        write.commit().await?;
        Ok(kept == 1)
    }
}
