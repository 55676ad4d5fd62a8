//! Alarms, and the incidents that the alerter has still to read.

use std::collections::HashMap;

use async_trait::async_trait;
use campanile_model::AlarmId;
use campanile_model::alarm::{Alarm, AlarmRule};
use campanile_model::task::Incident;
use campanile_store::{AlarmStore, IncidentMark, Lead, Result, Taken};
use serde_json::json;

use crate::SqliteStore;
use crate::connection::{Write, sql};
use crate::rows::{self, Columns, batch, hexes, limit, number};

const MAKE: &str = "INSERT INTO alarms (
        id, fence, rule_name, severity, subject, job, message, state, first_at, last_at, times, streak, acknowledged,
        resolved_at)
    SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, unhex(value ->> 5), value ->> 6,
        value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13
    FROM jsonb_each(?)";

const CHANGE: &str = "UPDATE alarms SET
        fence = u.v ->> 1, rule_name = u.v ->> 2, severity = u.v ->> 3, subject = u.v ->> 4, job = unhex(u.v ->> 5),
        message = u.v ->> 6, state = u.v ->> 7, first_at = u.v ->> 8, last_at = u.v ->> 9, times = u.v ->> 10,
        streak = u.v ->> 11, acknowledged = u.v ->> 12, resolved_at = u.v ->> 13
    FROM (SELECT value AS v FROM jsonb_each(?)) AS u
    WHERE alarms.id = unhex(u.v ->> 0)";

#[async_trait]
impl AlarmStore for SqliteStore {
    async fn new_incidents(&self, most: usize) -> Result<Vec<Incident>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM incidents
                     WHERE seq > coalesce((SELECT mark FROM marks WHERE reader = 'alerter'), 0)
                     ORDER BY seq LIMIT ?")
                .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::incident)
    }

    async fn put_alarms(&self, lead: &Lead, alarms: &[Alarm], mark: Option<IncidentMark>) -> Result<Taken> {
        let mut write = self.write_as(lead).await?;
        if write.take_alarms(&alarms.iter().collect::<Vec<_>>()).await? == Taken::Lost {
            write.abandon().await?;
            return Ok(Taken::Lost);
        }
        if let Some(mark) = mark {
            write
                .execute(
                    sql("INSERT INTO marks (reader, mark) VALUES ('alerter', ?)
                         ON CONFLICT (reader) DO UPDATE SET mark = max(mark, excluded.mark)")
                    .bind(mark),
                )
                .await?;
        }
        write.commit().await?;
        Ok(Taken::Done)
    }

    async fn latest_alarms(&self, of: &[(AlarmRule, String)]) -> Result<Vec<Alarm>> {
        let pairs = of.iter().map(|(rule, subject)| json!([rule.name(), subject])).collect();
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM alarms
                     WHERE seq IN (SELECT (SELECT seq FROM alarms WHERE rule_name = p.value ->> 0 AND subject = p.value ->> 1
                                           ORDER BY seq DESC LIMIT 1)
                                   FROM jsonb_each(?) AS p)
                     ORDER BY seq")
                .bind(batch(pairs)),
            )
            .await?;
        rows::all(&found, rows::alarm)
    }

    async fn alarms(&self, ids: &[AlarmId]) -> Result<Vec<Alarm>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM alarms WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                    .bind(hexes(ids.iter().copied())),
            )
            .await?;
        rows::all(&found, rows::alarm)
    }

    async fn open_alarms(&self) -> Result<Vec<Alarm>> {
        let found = self
            .read()
            .await?
            .rows(sql(
                "SELECT * FROM alarms INDEXED BY alarms_open WHERE state IN ('firing', 'acknowledged') ORDER BY seq",
            ))
            .await?;
        rows::all(&found, rows::alarm)
    }
}

impl Write {
    /// All of them or, where one has changed, Lost: the caller then undoes the rest.
    pub(crate) async fn take_alarms(&mut self, alarms: &[&Alarm]) -> Result<Taken> {
        if alarms.is_empty() {
            return Ok(Taken::Done);
        }
        let found = self
            .rows(
                sql("SELECT id, fence FROM alarms WHERE id IN (SELECT unhex(value) FROM json_each(?))")
                    .bind(hexes(alarms.iter().map(|alarm| alarm.id))),
            )
            .await?;
        let mut fences = HashMap::with_capacity(found.len());
        for row in &found {
            let id: AlarmId = row.id("id")?;
            fences.insert(id, row.int("fence")?);
        }
        let mut new = Vec::new();
        let mut changed = Vec::new();
        for alarm in alarms {
            // One that is named twice has changed by the second time.
            if fences.insert(alarm.id, -1).unwrap_or(0) != number(alarm.fence) {
                return Ok(Taken::Lost);
            }
            let values = rows::carried(rows::alarm_values(alarm)?);
            if alarm.fence == 0 { new.push(values) } else { changed.push(values) }
        }
        if !new.is_empty() {
            self.execute(sql(MAKE).bind(batch(new))).await?;
        }
        if !changed.is_empty() {
            self.execute(sql(CHANGE).bind(batch(changed))).await?;
        }
        Ok(Taken::Done)
    }
}
