//! Between rows and the nouns of the model. A row that makes no sense is reported as damage, never guessed at.

use campanile_model::alarm::{Alarm, AlarmRule, AlarmState, Severity};
use campanile_model::backfill::Backfill;
use campanile_model::chain::Ending;
use campanile_model::instance::{Instance, InstanceState, Omission, OmissionReason, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::ledger::LedgerSpan;
use campanile_model::question::Question;
use campanile_model::request::{AuditEntry, Request};
use campanile_model::task::{ExecutorRef, Incident, Need, NewTask, Part, StoredTask, Task, TaskState};
use campanile_model::{AlarmId, DataId, InstanceId, JobId, Lane, QuestionId, RequestId, TaskId, Timestamp};
use campanile_store::{HistoryEntry, Moving, Result, ShardMark, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

pub(crate) trait Id: Copy {
    fn of(bytes: [u8; 16]) -> Self;
    fn blob(self) -> Vec<u8>;
    /// As JSON parameters carry it; the statement says `unhex`.
    fn hex(self) -> String;
}

macro_rules! ids {
    ($($name:ident),*) => {$(
        impl Id for $name {
            fn of(bytes: [u8; 16]) -> Self {
                $name::from_bytes(bytes)
            }

            fn blob(self) -> Vec<u8> {
                self.bytes().to_vec()
            }

            fn hex(self) -> String {
                self.uuid().simple().to_string()
            }
        }
    )*};
}

ids!(JobId, InstanceId, TaskId, AlarmId, RequestId, QuestionId, DataId);

/// Numbers of ours that only grow, and not that far.
pub(crate) fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(crate) fn limit(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(crate) fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(what.to_string())
}

pub(crate) fn written<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(damaged)
}

pub(crate) fn maybe_written<T: Serialize>(value: Option<&T>) -> Result<Option<String>> {
    value.map(written).transpose()
}

/// A list of ids as one parameter.
pub(crate) fn hexes<I: Id>(ids: impl IntoIterator<Item = I>) -> String {
    Value::from(ids.into_iter().map(Id::hex).collect::<Vec<_>>()).to_string()
}

/// Rows as one parameter.
pub(crate) fn batch(rows: Vec<Value>) -> String {
    Value::Array(rows).to_string()
}

/// Long texts of many rows as one parameter, out of which the statement cuts each: as JSON every byte of them would be
/// written, read and copied once more.
#[derive(Default)]
pub(crate) struct Texts(Vec<u8>);

impl Texts {
    /// Items, one in a line; hands back where they begin, counted from 1, and how long they are.
    pub fn add_lines(&mut self, items: &[String]) -> [usize; 2] {
        let before = self.0.len();
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.0.push(b'\n');
            }
            self.0.extend_from_slice(item.as_bytes());
        }
        [before + 1, self.0.len() - before]
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Columns by name.
pub(crate) trait Columns {
    fn int(&self, column: &str) -> Result<i64>;
    fn maybe_int(&self, column: &str) -> Result<Option<i64>>;
    fn text(&self, column: &str) -> Result<String>;
    fn maybe_text(&self, column: &str) -> Result<Option<String>>;
    fn maybe_blob(&self, column: &str) -> Result<Option<Vec<u8>>>;

    fn small(&self, column: &str) -> Result<u32> {
        let n = self.int(column)?;
        u32::try_from(n).map_err(|_| damaged(format!("{column} is {n}")))
    }

    fn count(&self, column: &str) -> Result<u64> {
        let n = self.int(column)?;
        u64::try_from(n).map_err(|_| damaged(format!("{column} is {n}")))
    }

    fn flag(&self, column: &str) -> Result<bool> {
        Ok(self.int(column)? != 0)
    }

    fn time(&self, column: &str) -> Result<Timestamp> {
        self.int(column).map(Timestamp::from_millis)
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.maybe_int(column)?.map(Timestamp::from_millis))
    }

    fn id<I: Id>(&self, column: &str) -> Result<I> {
        self.maybe_id(column)?.ok_or_else(|| damaged(format!("{column} is missing")))
    }

    fn maybe_id<I: Id>(&self, column: &str) -> Result<Option<I>> {
        let Some(blob) = self.maybe_blob(column)? else { return Ok(None) };
        let bytes = <[u8; 16]>::try_from(blob).map_err(|_| damaged(format!("{column} is not an id")))?;
        Ok(Some(I::of(bytes)))
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T> {
        serde_json::from_str(&self.text(column)?).map_err(|error| damaged(format!("{column}: {error}")))
    }

    fn maybe_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>> {
        let Some(text) = self.maybe_text(column)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| damaged(format!("{column}: {error}")))
    }

    fn named<T>(&self, column: &str, named: impl Fn(&str) -> Option<T>) -> Result<T> {
        let name = self.text(column)?;
        named(&name).ok_or_else(|| damaged(format!("{column} is '{name}'")))
    }

    fn task_state(&self, column: &str) -> Result<TaskState> {
        let code = self.int(column)?;
        u16::try_from(code)
            .ok()
            .and_then(TaskState::from_code)
            .ok_or_else(|| damaged(format!("{column} is {code}, which is not a task code")))
    }

    fn lane(&self, column: &str) -> Result<Lane> {
        let n = self.int(column)?;
        u8::try_from(n)
            .ok()
            .and_then(Lane::from_number)
            .ok_or_else(|| damaged(format!("{column} is {n}, which is not a lane")))
    }
}

impl Columns for SqliteRow {
    fn int(&self, column: &str) -> Result<i64> {
        self.try_get(column).map_err(damaged)
    }

    fn maybe_int(&self, column: &str) -> Result<Option<i64>> {
        self.try_get(column).map_err(damaged)
    }

    fn text(&self, column: &str) -> Result<String> {
        self.try_get(column).map_err(damaged)
    }

    fn maybe_text(&self, column: &str) -> Result<Option<String>> {
        self.try_get(column).map_err(damaged)
    }

    fn maybe_blob(&self, column: &str) -> Result<Option<Vec<u8>>> {
        self.try_get(column).map_err(damaged)
    }
}

pub(crate) fn all<T>(rows: &[SqliteRow], of: impl Fn(&SqliteRow) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(of).collect()
}

pub(crate) fn job(row: &SqliteRow) -> Result<Job> {
    Ok(Job {
        id: row.id("id")?,
        spec: row.json("spec")?,
        version: row.small("version")?,
        saved_at: row.time("saved_at")?,
        fired_through: row.time("fired_through")?,
        next_due: row.maybe_time("next_due")?,
        paused: row.flag("paused")?,
        last_final_at: row.maybe_time("last_final_at")?,
    })
}

pub(crate) fn job_version(row: &SqliteRow) -> Result<JobVersion> {
    Ok(JobVersion {
        job: row.id("job")?,
        version: row.small("version")?,
        spec: row.json("spec")?,
        saved_at: row.time("saved_at")?,
        saved_by: row.text("saved_by")?,
    })
}

pub(crate) fn span(row: &SqliteRow) -> Result<LedgerSpan> {
    Ok(LedgerSpan {
        job: row.id("job")?,
        version: row.small("version")?,
        zone_data: row.text("zone_data")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        planned: row.small("planned")?,
        made: row.small("made")?,
        not_made: row.small("not_made")?,
    })
}

pub(crate) fn omission(row: &SqliteRow) -> Result<Omission> {
    Ok(Omission {
        job: row.id("job")?,
        version: row.small("version")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        count: row.small("count")?,
        reason: row.named("reason", OmissionReason::named)?,
    })
}

pub(crate) fn ending(row: &SqliteRow) -> Result<Ending> {
    Ok(Ending {
        seq: row.int("seq")?,
        job: row.id("job")?,
        upstream: row.id("upstream")?,
        instance: row.id("instance")?,
        state: row.named("state", InstanceState::named)?,
        at: row.time("at")?,
        kept: row.flag("kept")?,
    })
}

pub(crate) fn question(row: &SqliteRow) -> Result<Question> {
    Ok(Question {
        id: row.id("id")?,
        job: row.id("job")?,
        version: row.small("version")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        count: row.small("count")?,
        asked_at: row.time("asked_at")?,
        until: row.time("until_at")?,
        answer: row.maybe_json("answer")?,
    })
}

pub(crate) fn backfill(row: &SqliteRow) -> Result<Backfill> {
    Ok(Backfill {
        id: row.id("id")?,
        job: row.id("job")?,
        version: row.small("version")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        through: row.time("through_at")?,
        planned: row.small("planned")?,
        made: row.small("made")?,
        asked_by: row.text("asked_by")?,
        asked_at: row.time("asked_at")?,
        ended: row.maybe_json("ended")?,
    })
}

pub(crate) fn instance(row: &SqliteRow) -> Result<Instance> {
    Ok(Instance {
        id: row.id("id")?,
        job: row.id("job")?,
        version: row.small("version")?,
        origin: row.named("origin", Origin::named)?,
        key: row.text("key")?,
        planned: row.time("planned")?,
        due: row.time("due")?,
        not_before: row.time("not_before")?,
        reason: row.maybe_json("reason")?,
        created: row.time("created")?,
        state: row.named("state", InstanceState::named)?,
        beside: row.flag("beside")?,
        replaces: row.flag("replaces")?,
        lane: row.lane("lane")?,
        parameters: row.maybe_text("parameters")?,
        repeats: row.maybe_id("repeats")?,
        asked_by: row.maybe_text("asked_by")?,
        executor: row.maybe_text("executor")?,
        assigned_at: row.maybe_time("assigned_at")?,
        started_at: row.maybe_time("started_at")?,
        finished_at: row.maybe_time("finished_at")?,
        result: row.maybe_text("result")?,
        failure: row.maybe_json("failure")?,
    })
}

pub(crate) fn moving(row: &SqliteRow) -> Result<Moving> {
    Ok(Moving {
        id: row.id("id")?,
        job: row.id("job")?,
        origin: row.named("origin", Origin::named)?,
        state: row.named("state", InstanceState::named)?,
        started_at: row.maybe_time("started_at")?,
        finished_at: row.maybe_time("finished_at")?,
        result: row.maybe_text("result")?,
    })
}

/// In the order of the columns of `instances::MAKE`.
pub(crate) fn instance_values(instance: &Instance) -> Result<Value> {
    Ok(json!([
        instance.id.hex(),
        instance.job.hex(),
        instance.version,
        instance.origin.name(),
        instance.key,
        instance.planned,
        instance.due,
        instance.not_before,
        maybe_written(instance.reason.as_ref())?,
        instance.created,
        instance.state.name(),
        instance.beside,
        instance.replaces,
        instance.lane.number(),
        instance.parameters,
        instance.repeats.map(Id::hex),
        instance.asked_by,
        instance.assigned_at,
        instance.started_at,
        instance.finished_at,
        instance.result,
        instance.executor,
        maybe_written(instance.failure.as_ref())?,
    ]))
}

pub(crate) fn task(row: &SqliteRow) -> Result<Task> {
    let mut task = Task::waiting(NewTask {
        id: row.id("id")?,
        instance: row.id("instance")?,
        job: row.id("job")?,
        version: row.small("version")?,
        group: row.text("grp")?,
        processor: row.text("processor")?,
        limits: row.json("limits")?,
        needs: row.json::<Need>("need")?.needs(),
        expires_at: row.maybe_time("expires_at")?,
        lane: row.lane("lane")?,
        due_at: row.time("due_at")?,
    });
    task.ready_at = row.maybe_time("ready_at")?;
    task.lane_since = row.maybe_time("lane_since")?;
    task.promote_at = row.maybe_time("promote_at")?;
    task.promotions = row.small("promotions")?;
    task.pushed_at = row.maybe_time("pushed_at")?;
    task.started_at = row.maybe_time("started_at")?;
    task.finished_at = row.maybe_time("finished_at")?;
    task.deadline_at = row.maybe_time("deadline_at")?;
    task.executor = match row.maybe_text("executor_name")? {
        None => None,
        Some(_) => Some(executor(row)?),
    };
    task.sequence = row.count("sequence")?;
    task.retries_used = row.small("retries_used")?;
    task.lost_unstarted = row.small("lost_unstarted")?;
    task.handed_back = row.small("handed_back")?;
    task.stop = row.maybe_json("stop")?;
    task.failure = row.maybe_json("failure")?;
    task.result = row.maybe_text("result")?;
    task.part = row.maybe_json("part")?;
    Ok(task.stored(&StoredTask {
        state: row.task_state("state")?,
        attempt: row.small("attempt")?,
        fence: row.count("fence")?,
    }))
}

pub(crate) fn executor(row: &SqliteRow) -> Result<ExecutorRef> {
    Ok(ExecutorRef {
        group: row.text("executor_group")?,
        name: row.text("executor_name")?,
        boot: row.text("executor_boot")?,
    })
}

/// In the order of the columns of `tasks::MAKE` and `tasks::MOVE_ON`; `seq` is the task's own, or that of the
/// instance for a new one.
pub(crate) fn task_values(seq: i64, task: &Task, fence: u64) -> Result<Value> {
    let executor = task.executor.as_ref();
    Ok(json!([
        seq,
        task.id.hex(),
        task.instance.hex(),
        task.job.hex(),
        task.version,
        task.group,
        task.processor,
        written(&task.limits)?,
        task.state().code(),
        task.attempt(),
        fence,
        task.lane.number(),
        task.due_at,
        task.ready_at,
        task.pushed_at,
        task.started_at,
        task.finished_at,
        task.deadline_at,
        executor.map(|executor| &executor.group),
        executor.map(|executor| &executor.name),
        executor.map(|executor| &executor.boot),
        task.sequence,
        task.retries_used,
        task.lost_unstarted,
        maybe_written(task.stop.as_ref())?,
        maybe_written(task.failure.as_ref())?,
        task.result,
        task.lane_since,
        task.promote_at,
        task.promotions,
        task.handed_back,
        task.need().key(),
        task.needs.tenant,
        task.expires_at,
        maybe_written(task.part.as_ref())?,
    ]))
}

/// None of what is no shard.
pub(crate) fn shard_mark(row: &SqliteRow) -> Result<Option<ShardMark>> {
    let Some(Part::Shard { level, index, done, .. }) = row.maybe_json("part")? else { return Ok(None) };
    Ok(Some(ShardMark { level, shard: index, state: row.task_state("state")?, done }))
}

pub(crate) fn history_entry(row: &SqliteRow) -> Result<HistoryEntry> {
    Ok(HistoryEntry {
        at: row.time("at")?,
        from: row.task_state("from_state")?,
        to: row.task_state("to_state")?,
        attempt: row.small("attempt")?,
        executor: row.maybe_text("executor")?,
        node: row.text("node")?,
        reason: row.maybe_json("reason")?,
    })
}

pub(crate) fn incident(row: &SqliteRow) -> Result<Incident> {
    Ok(Incident {
        seq: row.int("seq")?,
        at: row.time("at")?,
        kind: serde_json::from_value(Value::String(row.text("kind")?)).map_err(damaged)?,
        job: row.id("job")?,
        instance: row.maybe_id("instance")?,
        task: row.maybe_id("task")?,
        executor: row.maybe_text("executor")?,
        failure: row.maybe_json("failure")?,
    })
}

pub(crate) fn incident_values(incident: &Incident) -> Result<Value> {
    Ok(json!([
        incident.at,
        incident.kind,
        incident.job.hex(),
        incident.instance.map(Id::hex),
        incident.task.map(Id::hex),
        incident.executor,
        maybe_written(incident.failure.as_ref())?,
    ]))
}

pub(crate) fn severity_number(severity: Severity) -> i64 {
    match severity {
        Severity::Info => 0,
        Severity::Warning => 1,
        Severity::Critical => 2,
        Severity::Emergency => 3,
    }
}

pub(crate) fn alarm(row: &SqliteRow) -> Result<Alarm> {
    let severity = row.int("severity")?;
    Ok(Alarm {
        id: row.id("id")?,
        fence: row.count("fence")?,
        rule: row.named("rule", AlarmRule::named)?,
        severity: Severity::ALL
            .into_iter()
            .find(|known| severity_number(*known) == severity)
            .ok_or_else(|| damaged(format!("severity is {severity}")))?,
        subject: row.text("subject")?,
        job: row.maybe_id("job")?,
        message: row.json("message")?,
        state: row.named("state", AlarmState::named)?,
        first_at: row.time("first_at")?,
        last_at: row.time("last_at")?,
        count: row.small("count")?,
        streak: row.small("streak")?,
        acknowledged: row.maybe_json("acknowledged")?,
        resolved_at: row.maybe_time("resolved_at")?,
    })
}

/// In the order of the columns of `alarms::MAKE` and `alarms::CHANGE`.
pub(crate) fn alarm_values(alarm: &Alarm) -> Result<Value> {
    Ok(json!([
        alarm.id.hex(),
        alarm.fence + 1,
        alarm.rule.name(),
        severity_number(alarm.severity),
        alarm.subject,
        alarm.job.map(Id::hex),
        written(&alarm.message)?,
        alarm.state.name(),
        alarm.first_at,
        alarm.last_at,
        alarm.count,
        alarm.streak,
        maybe_written(alarm.acknowledged.as_ref())?,
        alarm.resolved_at,
    ]))
}

pub(crate) fn request(row: &SqliteRow) -> Result<Request> {
    Ok(Request { id: row.id("id")?, who: row.json("who")?, ask: row.json("ask")?, asked_at: row.time("asked_at")? })
}

pub(crate) fn audit_entry(row: &SqliteRow) -> Result<AuditEntry> {
    Ok(AuditEntry {
        at: row.time("at")?,
        who: row.text("who")?,
        action: row.text("action")?,
        subject: row.text("subject")?,
        before: row.maybe_json("before")?,
        after: row.maybe_json("after")?,
    })
}
