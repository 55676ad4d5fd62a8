//! The nouns of the model out of rows, and as rows. Every table that both backends have is read and written here alone.

use campanile_model::alarm::{Alarm, AlarmRule, AlarmState, Severity};
use campanile_model::backfill::Backfill;
use campanile_model::chain::Ending;
use campanile_model::instance::{Instance, InstanceState, Omission, OmissionReason, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::ledger::LedgerSpan;
use campanile_model::question::Question;
use campanile_model::request::{AuditEntry, Request};
use campanile_model::task::{ExecutorRef, Incident, Need, NewTask, Part, StoredTask, Task};
use campanile_store::{HistoryEntry, Moving, Result, ShardMark};
use serde_json::Value as Json;

use crate::cells::{Row, id};
use crate::columns::{Columns, damaged, maybe_written, written};
use crate::row;

pub fn job(row: &impl Columns) -> Result<Job> {
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

pub fn job_version(row: &impl Columns) -> Result<JobVersion> {
    Ok(JobVersion {
        job: row.id("job")?,
        version: row.small("version")?,
        spec: row.json("spec")?,
        saved_at: row.time("saved_at")?,
        saved_by: row.text("saved_by")?,
    })
}

pub fn span(row: &impl Columns) -> Result<LedgerSpan> {
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

pub fn omission(row: &impl Columns) -> Result<Omission> {
    Ok(Omission {
        job: row.id("job")?,
        version: row.small("version")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        count: row.small("times")?,
        reason: row.named("reason", OmissionReason::named)?,
    })
}

pub fn ending(row: &impl Columns) -> Result<Ending> {
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

pub fn question(row: &impl Columns) -> Result<Question> {
    Ok(Question {
        id: row.id("id")?,
        job: row.id("job")?,
        version: row.small("version")?,
        from: row.time("from_at")?,
        to: row.time("to_at")?,
        count: row.small("times")?,
        asked_at: row.time("asked_at")?,
        until: row.time("until_at")?,
        answer: row.maybe_json("answer")?,
    })
}

pub fn backfill(row: &impl Columns) -> Result<Backfill> {
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

pub fn instance(row: &impl Columns) -> Result<Instance> {
    Ok(Instance {
        id: row.id("id")?,
        job: row.id("job")?,
        version: row.small("version")?,
        origin: row.named("origin", Origin::named)?,
        key: row.text("firing_key")?,
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

pub fn moving(row: &impl Columns) -> Result<Moving> {
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
pub fn instance_values(instance: &Instance) -> Result<Row> {
    Ok(row![
        id(instance.id),
        id(instance.job),
        instance.version,
        instance.origin.name(),
        &instance.key,
        instance.planned,
        instance.due,
        instance.not_before,
        maybe_written(instance.reason.as_ref())?,
        instance.created,
        instance.state.name(),
        instance.beside,
        instance.replaces,
        instance.lane.number(),
        instance.parameters.as_ref(),
        instance.repeats.map(id),
        instance.asked_by.as_ref(),
        instance.assigned_at,
        instance.started_at,
        instance.finished_at,
        instance.result.as_ref(),
        instance.executor.as_ref(),
        maybe_written(instance.failure.as_ref())?,
    ])
}

pub fn task(row: &impl Columns) -> Result<Task> {
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

pub fn executor(row: &impl Columns) -> Result<ExecutorRef> {
    Ok(ExecutorRef {
        group: row.text("executor_group")?,
        name: row.text("executor_name")?,
        boot: row.text("executor_boot")?,
    })
}

/// In the order of the columns of `tasks::MAKE` and `tasks::MOVE_ON`; `seq` is the task's own, or that of the
/// instance for a new one.
pub fn task_values(seq: i64, task: &Task, fence: u64) -> Result<Row> {
    let executor = task.executor.as_ref();
    Ok(row![
        seq,
        id(task.id),
        id(task.instance),
        id(task.job),
        task.version,
        &task.group,
        &task.processor,
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
        task.result.as_ref(),
        task.lane_since,
        task.promote_at,
        task.promotions,
        task.handed_back,
        task.need().key(),
        task.needs.tenant.as_ref(),
        task.expires_at,
        maybe_written(task.part.as_ref())?,
    ])
}

/// None of what is no shard.
pub fn shard_mark(row: &impl Columns) -> Result<Option<ShardMark>> {
    let Some(Part::Shard { level, index, done, .. }) = row.maybe_json("part")? else { return Ok(None) };
    Ok(Some(ShardMark { level, shard: index, state: row.task_state("state")?, done }))
}

pub fn history_entry(row: &impl Columns) -> Result<HistoryEntry> {
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

pub fn incident(row: &impl Columns) -> Result<Incident> {
    Ok(Incident {
        seq: row.int("seq")?,
        at: row.time("at")?,
        kind: serde_json::from_value(Json::String(row.text("kind")?)).map_err(damaged)?,
        job: row.id("job")?,
        instance: row.maybe_id("instance")?,
        task: row.maybe_id("task")?,
        executor: row.maybe_text("executor")?,
        failure: row.maybe_json("failure")?,
    })
}

pub fn incident_values(incident: &Incident) -> Result<Row> {
    let kind = match serde_json::to_value(incident.kind).map_err(damaged)? {
        Json::String(kind) => kind,
        other => return Err(damaged(format!("an incident of the kind {other}"))),
    };
    Ok(row![
        incident.at,
        kind,
        id(incident.job),
        incident.instance.map(id),
        incident.task.map(id),
        incident.executor.as_ref(),
        maybe_written(incident.failure.as_ref())?,
    ])
}

pub fn severity_number(severity: Severity) -> i64 {
    match severity {
        Severity::Info => 0,
        Severity::Warning => 1,
        Severity::Critical => 2,
        Severity::Emergency => 3,
    }
}

pub fn alarm(row: &impl Columns) -> Result<Alarm> {
    let severity = row.int("severity")?;
    Ok(Alarm {
        id: row.id("id")?,
        fence: row.count("fence")?,
        rule: row.named("rule_name", AlarmRule::named)?,
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
        count: row.small("times")?,
        streak: row.small("streak")?,
        acknowledged: row.maybe_json("acknowledged")?,
        resolved_at: row.maybe_time("resolved_at")?,
    })
}

/// In the order of the columns of `alarms::MAKE` and `alarms::CHANGE`.
pub fn alarm_values(alarm: &Alarm) -> Result<Row> {
    Ok(row![
        id(alarm.id),
        alarm.fence + 1,
        alarm.rule.name(),
        severity_number(alarm.severity),
        &alarm.subject,
        alarm.job.map(id),
        written(&alarm.message)?,
        alarm.state.name(),
        alarm.first_at,
        alarm.last_at,
        alarm.count,
        alarm.streak,
        maybe_written(alarm.acknowledged.as_ref())?,
        alarm.resolved_at,
    ])
}

pub fn request(row: &impl Columns) -> Result<Request> {
    Ok(Request { id: row.id("id")?, who: row.json("who")?, ask: row.json("ask")?, asked_at: row.time("asked_at")? })
}

pub fn audit_entry(row: &impl Columns) -> Result<AuditEntry> {
    Ok(AuditEntry {
        at: row.time("at")?,
        who: row.text("who")?,
        action: row.text("action")?,
        subject: row.text("subject")?,
        before: row.maybe_json("before_value")?,
        after: row.maybe_json("after_value")?,
    })
}
