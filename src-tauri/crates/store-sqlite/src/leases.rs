//! Leases: one row each. The write lock is what lets one of two have it.

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_store::{Lead, LeaseRow, LeaseStore, Result};
use serde_json::json;
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::connection::sql;
use crate::rows::{Columns, batch, number};

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
        Ok(Some(Lead::of(lease, holder, term)))
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
        row.as_ref().map(lease_row).transpose()
    }

    async fn leases(&self, beginning: &str) -> Result<Vec<LeaseRow>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT lease, holder, term, until FROM leases WHERE lease >= ?1 AND substr(lease, 1, length(?1)) = ?1
                     ORDER BY lease")
                .bind(beginning.to_owned()),
            )
            .await?;
        found.iter().map(lease_row).collect()
    }

    async fn take_leases(
        &self,
        leases: &[String],
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Lead>> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let mut write = self.write().await?;
        let taken = write
            .rows(
                sql("INSERT INTO leases (lease, holder, term, until)
                     SELECT value ->> 0, ?2, 1, ?4 FROM jsonb_each(?1) WHERE true
                     ON CONFLICT (lease) DO UPDATE SET
                         term = term + (until <= ?3),
                         holder = excluded.holder,
                         until = excluded.until
                     WHERE until <= ?3 OR holder = excluded.holder
                     RETURNING lease, term")
                .bind(batch(leases.iter().map(|lease| json!([lease])).collect()))
                .bind(holder.to_owned())
                .bind(now.millis())
                .bind(until.millis()),
            )
            .await?;
        let taken =
            taken.iter().map(|row| Ok(Lead::of(row.text("lease")?, holder, row.count("term")?))).collect::<Result<_>>();
        write.commit().await?;
        taken
    }

    async fn keep_leases(&self, leads: &[Lead], until: Timestamp) -> Result<Vec<Lead>> {
        if leads.is_empty() {
            return Ok(Vec::new());
        }
        let mut write = self.write().await?;
        let kept = write
            .rows(
                sql("UPDATE leases SET until = ?2 FROM (SELECT value ->> 0 AS name, value ->> 1 AS holds, value ->> 2 AS at
                                                        FROM jsonb_each(?1)) u
                     WHERE lease = u.name AND holder = u.holds AND term = u.at AND until <> 0
                     RETURNING lease, holder, term")
                .bind(batch(leads.iter().map(|lead| json!([lead.lease, lead.holder, lead.term])).collect()))
                .bind(until.millis()),
            )
            .await?;
        let kept = kept
            .iter()
            .map(|row| Ok(Lead::of(row.text("lease")?, row.text("holder")?, row.count("term")?)))
            .collect::<Result<_>>();
        write.commit().await?;
        kept
    }

    async fn release_leases(&self, leads: &[Lead]) -> Result<()> {
        self.keep_leases(leads, Timestamp::EPOCH).await.map(|_| ())
    }
}

fn lease_row(row: &SqliteRow) -> Result<LeaseRow> {
    Ok(LeaseRow {
        lead: Lead::of(row.text("lease")?, row.text("holder")?, row.count("term")?),
        until: row.time("until")?,
    })
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
