//! Alarms, and the incidents that the alerter has still to read.

use std::collections::HashMap;

use async_trait::async_trait;
use campanile_model::AlarmId;
use campanile_model::alarm::{Alarm, AlarmRule};
use campanile_model::task::Incident;
use campanile_store::{AlarmStore, IncidentMark, Lead, Result, Taken};

use crate::MysqlStore;
use crate::connection::{Line, Write, composed, sql};
use crate::error;
use crate::rows::{self, Columns, limit, number};
use crate::values::{Cell, ids, list, union};

const MAKE: &str = "INSERT INTO alarms (
        id, fence, rule_name, severity, subject, job, message, state, first_at, last_at, times, streak, acknowledged,
        resolved_at)";

const CHANGE: &str = "alarms a ON a.id = u.c0 SET
        a.fence = u.c1, a.rule_name = u.c2, a.severity = u.c3, a.subject = u.c4, a.job = u.c5, a.message = u.c6,
        a.state = u.c7, a.first_at = u.c8, a.last_at = u.c9, a.times = u.c10, a.streak = u.c11,
        a.acknowledged = u.c12, a.resolved_at = u.c13";

#[async_trait]
impl AlarmStore for MysqlStore {
    async fn new_incidents(&self, most: usize) -> Result<Vec<Incident>> {
        let (mark, mut found) = new_incidents(&mut self.read().await?, most).await?;
        let missing = |found: &[Incident]| found.iter().zip(1..).position(|(one, n)| one.seq != mark + n);
        let Some(before) = missing(&found) else { return Ok(found) };
        if before > 0 {
            found.truncate(before);
            return Ok(found);
        }
        // A number was drawn before that of what is seen. What has it was undone, or is still being written: then it
        // must not be passed by.
        self.again(|| async move {
            let mut write = self.write().await?;
            write.rows(sql("SELECT gate FROM gates FORCE INDEX (PRIMARY) WHERE gate = 'incidents' FOR UPDATE")).await?;
            let (_, found) = new_incidents(&mut write, most).await?;
            write.abandon().await?;
            Ok(found)
        })
        .await
    }

    async fn put_alarms(&self, lead: &Lead, alarms: &[Alarm], mark: Option<IncidentMark>) -> Result<Taken> {
        let alarms: &Vec<&Alarm> = &alarms.iter().collect();
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            if write.take_alarms(alarms).await? == Taken::Lost {
                write.abandon().await?;
                return Ok(Taken::Lost);
            }
            if let Some(mark) = mark {
                write
                    .execute(
                        sql("INSERT INTO marks (reader, mark) VALUES ('alerter', ?)
                             ON DUPLICATE KEY UPDATE mark = GREATEST(mark, VALUES(mark))")
                        .bind(mark),
                    )
                    .await?;
            }
            write.commit().await?;
            Ok(Taken::Done)
        })
        .await
    }

    async fn latest_alarms(&self, of: &[(AlarmRule, String)]) -> Result<Vec<Alarm>> {
        let searches: Vec<String> = of
            .iter()
            .map(|(rule, subject)| {
                format!(
                    "(SELECT seq FROM alarms FORCE INDEX (alarms_of_subject)
                      WHERE rule_name = '{}' AND subject_hash = UNHEX(SHA2({}, 256)) ORDER BY seq DESC LIMIT 1)",
                    rule.name(),
                    list([Cell::Bytes(subject.clone().into_bytes())])
                )
            })
            .collect();
        if searches.is_empty() {
            return Ok(Vec::new());
        }
        let mut line = self.read().await?;
        let latest = line.rows(composed(union(&searches, ""))).await?;
        let latest = latest.iter().map(|row| row.int("seq")).collect::<Result<Vec<i64>>>()?;
        let text = format!("SELECT * FROM alarms WHERE seq IN ({}) ORDER BY seq", crate::values::numbers(latest));
        rows::all(&line.rows(composed(text)).await?, rows::alarm)
    }

    async fn alarms(&self, alarms: &[AlarmId]) -> Result<Vec<Alarm>> {
        let text = format!("SELECT * FROM alarms WHERE id IN ({})", ids(alarms.iter().copied()));
        let found = self.read().await?.rows(composed(text)).await?;
        rows::all(&found, rows::alarm)
    }

    async fn open_alarms(&self) -> Result<Vec<Alarm>> {
        let found = self
            .read()
            .await?
            .rows(sql("SELECT * FROM alarms FORCE INDEX (alarms_by_state) WHERE state IN ('firing', 'acknowledged')
                       ORDER BY seq"))
            .await?;
        rows::all(&found, rows::alarm)
    }
}

/// How far they have been read, and what is seen beyond.
async fn new_incidents(line: &mut Line, most: usize) -> Result<(i64, Vec<Incident>)> {
    let mark = line.row(sql("SELECT mark FROM marks FORCE INDEX (PRIMARY) WHERE reader = 'alerter'")).await?;
    let mark = mark.map_or(Ok(0), |row| row.int("mark"))?;
    let text = "SELECT * FROM incidents FORCE INDEX (PRIMARY) WHERE seq > ? ORDER BY seq LIMIT ?";
    let found = line.rows(sql(text).bind(mark).bind(limit(most))).await?;
    Ok((mark, rows::all(&found, rows::incident)?))
}

impl Write {
    /// All of them or, where one has changed, Lost: the caller then undoes the rest.
    pub(crate) async fn take_alarms(&mut self, alarms: &[&Alarm]) -> Result<Taken> {
        if alarms.is_empty() {
            return Ok(Taken::Done);
        }
        let all = ids(alarms.iter().map(|alarm| alarm.id));
        let text = format!("SELECT id, fence FROM alarms FORCE INDEX (alarms_by_id) WHERE id IN ({all}) FOR UPDATE");
        let found = self.rows(composed(text)).await?;
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
            let values = rows::alarm_values(alarm)?;
            if alarm.fence == 0 { new.push(values) } else { changed.push(values) }
        }
        match self.insert(MAKE, &new, "").await {
            // Somebody else's, made since the rows were read.
            Err(error) if error::is_duplicate(&error) => return Ok(Taken::Lost),
            outcome => outcome?,
        }
        self.change(&changed, CHANGE).await?;
        // A generated column may not look at the number that the row was given.
        let text = format!(
            "UPDATE alarms
             SET place = (severity << 61) | (LEAST(GREATEST(last_at, 0), 8796093022207) << 18) | (seq & 262143)
             WHERE id IN ({all})"
        );
        self.execute(composed(text)).await?;
        Ok(Taken::Done)
    }
}
