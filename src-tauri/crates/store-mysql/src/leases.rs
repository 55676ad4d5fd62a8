//! Leases: one row each. Its lock is what lets one of two have it, and every write of a holder holds it too.

use std::collections::BTreeSet;

use async_trait::async_trait;
use campanile_model::Timestamp;
use campanile_store::{Lead, LeaseRow, LeaseStore, Result};
use sqlx::mysql::MySqlRow;

use crate::MysqlStore;
use crate::connection::{composed, sql};
use crate::rows::{Columns, number};
use crate::values::{Cell, Row, list, row};

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
        row.as_ref().map(lease_row).transpose()
    }

    async fn leases(&self, beginning: &str) -> Result<Vec<LeaseRow>> {
        let name = beginning.as_bytes().to_vec();
        let length = number(name.len() as u64);
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT lease, holder, term, until_at FROM leases WHERE lease >= ? AND SUBSTR(lease, 1, ?) = ?
                     ORDER BY lease")
                .bind(name.clone())
                .bind(length)
                .bind(name),
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
        self.again(|| self.try_take_leases(leases, holder, now, until)).await
    }

    async fn keep_leases(&self, leads: &[Lead], until: Timestamp) -> Result<Vec<Lead>> {
        if leads.is_empty() {
            return Ok(Vec::new());
        }
        self.again(|| self.set_all_until(leads, until)).await
    }

    async fn release_leases(&self, leads: &[Lead]) -> Result<()> {
        if leads.is_empty() {
            return Ok(());
        }
        self.again(|| self.set_all_until(leads, Timestamp::EPOCH)).await.map(|_| ())
    }
}

fn lease_row(row: &MySqlRow) -> Result<LeaseRow> {
    Ok(LeaseRow {
        lead: Lead::of(row.text("lease")?, row.text("holder")?, row.count("term")?),
        until: row.time("until_at")?,
    })
}

fn bytes(text: &str) -> Cell {
    Cell::Bytes(text.as_bytes().to_vec())
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
        Ok(Some(Lead::of(lease, holder, term)))
    }

    async fn try_take_leases(
        &self,
        leases: &[String],
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Lead>> {
        let named = list(leases.iter().map(|lease| bytes(lease)));
        let there =
            format!("SELECT lease, holder, term, until_at FROM leases FORCE INDEX (PRIMARY) WHERE lease IN ({named})");
        let mut open: BTreeSet<&str> = leases.iter().map(String::as_str).collect();
        let mut new = open.clone();
        for found in self.read().await?.rows(composed(there)).await? {
            let found = lease_row(&found)?;
            new.remove(found.lead.lease.as_str());
            if found.until > now && found.lead.holder != holder {
                open.remove(found.lead.lease.as_str());
            }
        }
        // What others hold is not even locked: whoever looks is in nobody's way.
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let mut write = self.write().await?;
        let new: Vec<Row> = new.into_iter().map(|lease| row![bytes(lease), bytes(""), 0_i64, 0_i64]).collect();
        if !new.is_empty() {
            let tail = "ON DUPLICATE KEY UPDATE lease = VALUES(lease)";
            write.insert("INSERT INTO leases (lease, holder, term, until_at)", &new, tail).await?;
        }
        // Who is about to take one, or writes under one, is not waited for: there is a next time.
        let text = format!(
            "SELECT lease, holder, term, until_at FROM leases FORCE INDEX (PRIMARY) WHERE lease IN ({})
             ORDER BY lease FOR UPDATE SKIP LOCKED",
            list(open.into_iter().map(bytes))
        );
        let mut taken = Vec::new();
        for found in write.rows(composed(text)).await? {
            let (is_free, is_own) = (found.time("until_at")? <= now, found.text("holder")? == holder);
            if is_free || is_own {
                // Its own keeps the term while it lasts.
                taken.push(Lead::of(found.text("lease")?, holder, found.count("term")? + u64::from(is_free)));
            }
        }
        if taken.is_empty() {
            write.abandon().await?;
            return Ok(taken);
        }
        let rows: Vec<Row> =
            taken.iter().map(|lead| row![bytes(&lead.lease), bytes(holder), lead.term, until]).collect();
        write
            .change(
                &rows,
                "leases l FORCE INDEX (PRIMARY) ON l.lease = u.c0 SET l.holder = u.c1, l.term = u.c2, l.until_at = u.c3",
            )
            .await?;
        write.commit().await?;
        Ok(taken)
    }

    async fn set_all_until(&self, leads: &[Lead], until: Timestamp) -> Result<Vec<Lead>> {
        let mut write = self.write().await?;
        let text = format!(
            "SELECT lease, holder, term, until_at FROM leases FORCE INDEX (PRIMARY)
             WHERE lease IN ({}) AND holder = {} AND until_at <> 0 ORDER BY lease FOR UPDATE",
            list(leads.iter().map(|lead| bytes(&lead.lease))),
            list([bytes(&leads[0].holder)])
        );
        let found = write.rows(composed(text)).await?;
        let found: Vec<Lead> = found.iter().map(|row| Ok(lease_row(row)?.lead)).collect::<Result<_>>()?;
        let ours: Vec<Lead> = leads.iter().filter(|lead| found.contains(lead)).cloned().collect();
        if ours.is_empty() {
            write.abandon().await?;
            return Ok(ours);
        }
        let text = format!(
            "UPDATE leases SET until_at = {} WHERE lease IN ({})",
            until.millis(),
            list(ours.iter().map(|lead| bytes(&lead.lease)))
        );
        write.execute(composed(text)).await?;
        write.commit().await?;
        Ok(ours)
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
