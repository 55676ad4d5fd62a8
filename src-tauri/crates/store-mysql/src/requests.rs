//! What people ask, and how it is carried out: changes, answer and audit entries in one transaction.

use async_trait::async_trait;
use campanile_model::RequestId;
use campanile_model::request::{Answer, AuditEntry, Request};
use campanile_model::task::Step;
use campanile_store::{CarriedOut, Change, Lead, RequestStore, Result, Taken};

use crate::MysqlStore;
use crate::connection::{Write, sql};
use crate::instances::Only;
use crate::rows::{self, Columns, Id, limit, maybe_written, written};
use crate::values::row;

#[async_trait]
impl RequestStore for MysqlStore {
    async fn ask(&self, request: &Request) -> Result<()> {
        self.again(|| async move {
            let mut write = self.write().await?;
            write
                .execute(
                    sql("INSERT INTO requests (id, who, ask, asked_at) VALUES (?, ?, ?, ?)
                         ON DUPLICATE KEY UPDATE seq = seq")
                    .bind(request.id.blob())
                    .bind(written(&request.who)?)
                    .bind(written(&request.ask)?)
                    .bind(request.asked_at.millis()),
                )
                .await?;
            write.commit().await
        })
        .await
    }

    async fn open_requests(&self, most: usize) -> Result<Vec<Request>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM requests FORCE INDEX (requests_open) WHERE is_open = 1 ORDER BY seq LIMIT ?")
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::request)
    }

    async fn answer(&self, request: RequestId) -> Result<Option<Answer>> {
        let row = self.read().await?.row(sql("SELECT answer FROM requests WHERE id = ?").bind(request.blob())).await?;
        match row {
            Some(row) => row.maybe_json("answer"),
            None => Ok(None),
        }
    }

    async fn carry_out(&self, lead: &Lead, done: &CarriedOut) -> Result<Taken> {
        self.again(|| async move {
            let mut write = self.write_as(lead).await?;
            let taken = write.carry_out(&lead.holder, done).await?;
            match taken {
                Taken::Done => write.commit().await?,
                Taken::Lost => write.abandon().await?,
            }
            Ok(taken)
        })
        .await
    }
}

fn step_of(change: &Change) -> Option<&Step> {
    match change {
        Change::Step(step) => Some(step),
        _ => None,
    }
}

impl Write {
    async fn carry_out(&mut self, node: &str, done: &CarriedOut) -> Result<Taken> {
        let answered = self
            .execute(
                sql("UPDATE requests SET answer = ? WHERE id = ? AND answer IS NULL")
                    .bind(written(&done.answer)?)
                    .bind(done.request.blob()),
            )
            .await?;
        if answered == 0 {
            return Ok(Taken::Lost);
        }
        // Steps that stand together go together; everything else in the order in which it was decided.
        let mut changes = done.changes.as_slice();
        while let Some((first, rest)) = changes.split_first() {
            let steps: Vec<&Step> = changes.iter().map_while(step_of).collect();
            let taken = if steps.is_empty() {
                changes = rest;
                self.change(first).await?
            } else {
                changes = &changes[steps.len()..];
                let taken = self.take_steps(node, &steps).await?;
                if taken.contains(&Taken::Lost) { Taken::Lost } else { Taken::Done }
            };
            if taken == Taken::Lost {
                return Ok(Taken::Lost);
            }
        }
        self.put_audit(&done.audit).await?;
        Ok(Taken::Done)
    }

    async fn change(&mut self, change: &Change) -> Result<Taken> {
        match change {
            Change::PutJob { job, seen_version, by } => return self.put_job(job, *seen_version, by).await,
            Change::RemoveJob(job) => self.remove_job(*job).await?,
            Change::PauseJob { job, paused } => self.pause_job(*job, *paused).await?,
            Change::PutInstance(instance) => {
                self.put_instances(std::iter::once(instance)).await?;
            }
            Change::Step(_) => unreachable!("steps are taken together"),
            Change::EndUnassigned(change) => {
                if self.move_instances(&[change], Only::Unassigned).await? == 0 {
                    return Ok(Taken::Lost);
                }
            }
            Change::AnswerQuestion { question, answer } => return self.answer_question(*question, answer).await,
            Change::PutBackfill(backfill) => self.put_backfill(backfill).await?,
            Change::EndBackfill { backfill, end } => return self.end_backfill(*backfill, end).await,
            Change::PutAlarm(alarm) => return self.take_alarms(&[alarm]).await,
            Change::Set { key, value } => {
                self.execute(
                    sql("INSERT INTO settings (name, value) VALUES (?, ?)
                         ON DUPLICATE KEY UPDATE value = VALUES(value)")
                    .bind(key.as_bytes().to_vec())
                    .bind(value.to_string()),
                )
                .await?;
            }
            Change::Conduct(write) => return self.conduct(write).await,
            Change::TakeStaged { data, instance } => return self.take_staged(*data, *instance).await,
            Change::DrainExecutor { group, name, drain } => {
                return self.drain_executor(group, name, drain.as_ref()).await;
            }
            Change::PutPass(pass) => self.put_pass(pass).await?,
        }
        Ok(Taken::Done)
    }

    async fn put_audit(&mut self, entries: &[AuditEntry]) -> Result<()> {
        let values = entries
            .iter()
            .map(|entry| {
                Ok(row![
                    entry.at,
                    &entry.who,
                    &entry.action,
                    &entry.subject,
                    maybe_written(entry.before.as_ref())?,
                    maybe_written(entry.after.as_ref())?
                ])
            })
            .collect::<Result<Vec<_>>>()?;
        let head = "INSERT INTO audit (at, who, action, subject, before_value, after_value)";
        self.insert(head, &values, "").await
    }
}
