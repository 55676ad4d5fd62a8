//! What each request changes, decided on what is there now.

use std::collections::HashSet;
use std::sync::Arc;

use campanile_model::alarm::AlarmState;
use campanile_model::executor::Drain;
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Origin};
use campanile_model::job::{Job, Overlap};
use campanile_model::limits::{LIMITS, Limits};
use campanile_model::request::{Answer, Ask, AuditEntry, Done, Hold, Request, SaveJob};
use campanile_model::secret::SECRET_SETTING;
use campanile_model::task::{StopCause, TaskState};
use campanile_model::{AlarmId, Almanac, Code, Fault, InstanceId, JobId, Timestamp, job_check, template};
use campanile_store::{CarriedOut, Change, StoreError};
use serde_json::{Map, Value, json};

use crate::dispatcher::outcome;
use crate::launcher::{self, TimelineError, timeline};
use crate::monitor::stopping;
use crate::shared::{HELD_MILLIS, HOLD, Holding, Shared, read_held_millis};
use crate::shelf::{ALMANAC_SETTING, CALENDAR_SETTING};

#[derive(Debug)]
pub enum CarryError {
    Store(StoreError),
    Refused(Box<Fault>),
}

impl CarryError {
    pub fn refused(fault: Fault) -> CarryError {
        CarryError::Refused(Box::new(fault))
    }
}

impl From<StoreError> for CarryError {
    fn from(error: StoreError) -> CarryError {
        CarryError::Store(error)
    }
}

impl From<Fault> for CarryError {
    fn from(fault: Fault) -> CarryError {
        CarryError::refused(fault)
    }
}

pub(super) type Result<T> = std::result::Result<T, CarryError>;

/// What a request comes to, before it is written.
pub(super) struct Draft<'a> {
    pub(super) shared: &'a Shared,
    pub(super) almanac: Arc<Almanac>,
    pub(super) request: &'a Request,
    pub(super) now: Timestamp,
    pub(super) changes: Vec<Change>,
    pub(super) done: Done,
    audit: Vec<AuditEntry>,
}

pub async fn carry(shared: &Shared, request: &Request, now: Timestamp) -> Result<CarriedOut> {
    let almanac = shared.shelf.renew(shared.store.as_ref()).await?;
    let mut draft =
        Draft { shared, almanac, request, now, changes: Vec::new(), done: Done::default(), audit: Vec::new() };
    match &request.ask {
        Ask::SaveJobs { jobs } => draft.save_jobs(jobs).await?,
        Ask::RemoveJobs { jobs } => draft.remove_jobs(jobs).await?,
        Ask::PauseJobs { jobs } => draft.pause_jobs(jobs, true).await?,
        Ask::ResumeJobs { jobs } => draft.pause_jobs(jobs, false).await?,
        Ask::RunJobs { jobs, parameters, beside, repeats, executor } => {
            draft.run_jobs(jobs, parameters.as_ref(), *beside, *repeats, executor.as_deref()).await?;
        }
        Ask::RunByKey { job, key, parameters, beside } => {
            draft.run_by_key(*job, key, parameters.as_ref(), *beside).await?;
        }
        Ask::CancelInstance { instance } => draft.cancel_instance(*instance).await?,
        Ask::RetryInstance { instance } => draft.retry_instance(*instance).await?,
        Ask::AcknowledgeAlarms { alarms, note } => draft.acknowledge(alarms, note).await?,
        Ask::Hold { reason } => draft.hold(reason).await?,
        Ask::Release => draft.release().await?,
        Ask::Set { key, value } => draft.set(key, value).await?,
        Ask::PutCalendar { calendar, seen_revision } => draft.put_calendar(calendar, *seen_revision).await?,
        Ask::RemoveCalendar { calendar, seen_revision } => draft.remove_calendar(calendar, *seen_revision).await?,
        Ask::DrainExecutor { group, name, reason } => draft.drain(group, name, Some(reason)).await?,
        Ask::ResumeExecutor { group, name } => draft.drain(group, name, None).await?,
    }
    Ok(CarriedOut { request: request.id, changes: draft.changes, answer: Answer::Done(draft.done), audit: draft.audit })
}

/// How a person, or a program, wants a job to run.
#[derive(Clone, Copy)]
struct Wish<'a> {
    parameters: Option<&'a Map<String, Value>>,
    beside: bool,
    repeats: Option<InstanceId>,
    executor: Option<&'a str>,
}

impl Draft<'_> {
    async fn save_jobs(&mut self, jobs: &[SaveJob]) -> Result<()> {
        let mut names = HashSet::new();
        for save in jobs {
            let spec = &save.spec;
            if let Some(fault) = job_check::check(spec, &self.almanac, self.now).into_iter().next() {
                return Err(fault.into());
            }
            if !names.insert(spec.name.as_str()) {
                return Err(Code::JobNameTaken.fault().with("job", &spec.name).at("name").into());
            }
            let namesake = self.shared.store.job_named(&spec.name).await?;
            if let Some(other) = &namesake
                && save.job != Some(other.id)
            {
                return Err(Code::JobNameTaken.fault().with("job", &spec.name).at("name").into());
            }
            match save.job {
                None => self.create(save).await?,
                Some(id) => self.change(id, save).await?,
            }
        }
        Ok(())
    }

    async fn create(&mut self, save: &SaveJob) -> Result<()> {
        let mut spec = save.spec.clone();
        spec.schedule = spec.schedule.anchored(self.now);
        let mut job = Job {
            id: self.shared.dice.job_id(self.now),
            spec,
            version: 1,
            saved_at: self.now,
            // A time that falls on this very moment still comes.
            fired_through: self.now.plus_millis(-1),
            next_due: None,
            paused: false,
            last_final_at: None,
        };
        job.next_due = self.next_due(&job).await?;
        self.note(&job.spec.name, None, Some(spec_of(&job)));
        self.done.jobs.push(job.id);
        self.done.changed += 1;
        self.changes.push(Change::PutJob { job, seen_version: None, by: self.request.who.name.clone() });
        Ok(())
    }

    async fn change(&mut self, id: JobId, save: &SaveJob) -> Result<()> {
        let before = self.job(id).await?;
        if let Some(seen) = save.seen_version
            && seen != before.version
        {
            let fault = Code::JobChanged.fault().with("job", &before.spec.name).with("version", before.version);
            return Err(fault.into());
        }
        self.done.jobs.push(id);
        let mut spec = save.spec.clone();
        spec.schedule = spec.schedule.anchored(self.now);
        if spec == before.spec {
            return Ok(());
        }
        let mut job = before.clone();
        job.spec = spec;
        job.version = before.version + 1;
        job.saved_at = self.now;
        job.next_due = self.next_due(&job).await?;
        self.note(&job.spec.name, Some(spec_of(&before)), Some(spec_of(&job)));
        self.done.changed += 1;
        let seen_version = Some(before.version);
        self.changes.push(Change::PutJob { job, seen_version, by: self.request.who.name.clone() });
        Ok(())
    }

    /// When the job in its new form fires next; times of the form before it that have come already still count.
    async fn next_due(&self, job: &Job) -> Result<Option<Timestamp>> {
        let store = self.shared.store.as_ref();
        match timeline(store, job, &self.almanac).await {
            Ok(timeline) => Ok(launcher::next_due(store, job, &timeline).await?),
            Err(TimelineError::Store(error)) => Err(error.into()),
            Err(error @ TimelineError::Schedule(_)) => Err(Code::ScheduleInvalid.fault().with("reason", error).into()),
        }
    }

    async fn remove_jobs(&mut self, jobs: &[JobId]) -> Result<()> {
        for id in jobs {
            let job = self.job(*id).await?;
            self.note(&job.spec.name, Some(spec_of(&job)), None);
            self.changes.push(Change::RemoveJob(*id));
            self.done.jobs.push(*id);
            self.done.changed += 1;
        }
        // What has not begun goes with its job; what runs may finish.
        for (_, instance, state) in self.shared.store.unfinished(jobs).await? {
            if state == InstanceState::Waiting {
                self.stop(instance).await?;
            }
        }
        Ok(())
    }

    async fn pause_jobs(&mut self, jobs: &[JobId], paused: bool) -> Result<()> {
        for id in jobs {
            let job = self.job(*id).await?;
            self.done.jobs.push(*id);
            if job.paused == paused {
                continue;
            }
            self.note(&job.spec.name, Some(json!({"paused": job.paused})), Some(json!({"paused": paused})));
            self.changes.push(Change::PauseJob { job: *id, paused });
            self.done.changed += 1;
        }
        Ok(())
    }

    async fn run_jobs(
        &mut self,
        jobs: &[JobId],
        parameters: Option<&Map<String, Value>>,
        beside: bool,
        repeats: Option<InstanceId>,
        executor: Option<&str>,
    ) -> Result<()> {
        // The key is the request's: carried out twice it runs once.
        let key = self.request.id.to_string();
        for id in jobs {
            let wish = Wish { parameters, beside, repeats, executor };
            self.run(*id, Origin::Manual, key.clone(), wish).await?;
        }
        Ok(())
    }

    /// What the key has made before is the answer, however it has gone on since.
    async fn run_by_key(
        &mut self,
        job: JobId,
        key: &str,
        parameters: Option<&Map<String, Value>>,
        beside: bool,
    ) -> Result<()> {
        if let Some(instance) = self.shared.store.firing(job, Origin::Api, key).await? {
            self.done.jobs.push(job);
            self.done.instances.push(instance);
            return Ok(());
        }
        let wish = Wish { parameters, beside, repeats: None, executor: None };
        self.run(job, Origin::Api, key.to_owned(), wish).await
    }

    async fn run(&mut self, id: JobId, origin: Origin, key: String, wish: Wish<'_>) -> Result<()> {
        let Wish { parameters, beside, repeats, executor } = wish;
        let job = self.job(id).await?;
        if let Some(wrong) = parameters.and_then(|own| template::check(own).into_iter().next()) {
            let field = format!("parameters.{}", wrong.path);
            let fault = Code::JobInvalid.fault().with("field", &field).with_words("reason", &wrong.words);
            return Err(fault.at(field).into());
        }
        if let Some(executor) = executor
            && self.shared.roster.knows_all(self.now)
            && !self.shared.roster.has(&job.spec.executor_group, executor)
        {
            return Err(Code::ExecutorNotFound.fault().with("executor", executor).at("executor").into());
        }
        let waiting = self.shared.store.unfinished(&[id]).await?;
        let beside = beside || job.spec.overlap == Overlap::Allow;
        // One runs, one waits: a further one would be skipped, and the person is told so.
        let full = match job.spec.overlap {
            _ if beside => false,
            Overlap::Skip => !waiting.is_empty(),
            Overlap::Queue => waiting.len() > 1,
            Overlap::Allow | Overlap::Replace => false,
        };
        if full {
            let reason = format!("{} has an earlier run that has not ended; choose 'run beside'", job.spec.name);
            return Err(Code::BadRequest.fault().with("reason", reason).at("beside").into());
        }
        let merged = parameters.map(|own| {
            let mut merged = job.spec.parameters.clone();
            merged.extend(own.clone());
            Value::Object(merged).to_string()
        });
        let instance = self.shared.dice.instance_id(self.now);
        let made = Instance {
            id: instance,
            job: job.id,
            version: job.version,
            origin,
            key,
            planned: self.request.asked_at,
            due: self.request.asked_at,
            not_before: self.now,
            reason: None,
            created: self.now,
            state: InstanceState::Waiting,
            beside,
            replaces: !beside && job.spec.overlap == Overlap::Replace,
            lane: job.spec.priority,
            parameters: merged,
            repeats,
            asked_by: Some(self.request.who.name.clone()),
            executor: executor.map(str::to_owned),
            assigned_at: None,
            started_at: None,
            finished_at: None,
            result: None,
            failure: None,
        };
        self.note(&job.spec.name, None, Some(json!({"instance": instance, "parameters": parameters})));
        self.changes.push(Change::PutInstance(made));
        self.done.jobs.push(job.id);
        self.done.instances.push(instance);
        self.done.changed += 1;
        Ok(())
    }

    async fn cancel_instance(&mut self, id: InstanceId) -> Result<()> {
        let instance = self.instance(id).await?;
        if instance.state.is_final() {
            return Err(Code::InstanceFinal.fault().with("instance", id).with("state", instance.state).into());
        }
        self.stop(id).await?;
        self.note(&format!("instance:{id}"), Some(json!({"state": instance.state})), None);
        self.done.instances.push(id);
        Ok(())
    }

    /// Ends what has not begun, and asks executors to stop what has.
    async fn stop(&mut self, instance: InstanceId) -> Result<()> {
        let tasks = self.shared.store.tasks_of(instance).await?;
        if tasks.is_empty() {
            let ended = InstanceMove { instance, to: InstanceState::Cancelled, at: self.now, result: None };
            self.changes.push(Change::EndUnassigned(ended));
            self.done.changed += 1;
        }
        for task in tasks {
            if let Some(step) = stopping::ask(task, StopCause::Operator, self.now) {
                self.changes.push(Change::Step(step));
                self.done.changed += 1;
            }
        }
        Ok(())
    }

    async fn retry_instance(&mut self, id: InstanceId) -> Result<()> {
        let instance = self.instance(id).await?;
        if matches!(instance.state, InstanceState::Succeeded | InstanceState::Superseded) {
            return Err(Code::NothingToRetry.fault().with("instance", id).with("state", instance.state).into());
        }
        if !instance.state.is_final() {
            let fault = Code::InstanceNotFinal.fault().with("instance", id).with("state", instance.state);
            return Err(fault.into());
        }
        for task in self.shared.store.tasks_of(id).await? {
            if !task.state().is_final() || task.state() == TaskState::Succeeded {
                continue;
            }
            let state = task.state();
            let step = outcome::run_again(task, &self.request.who.name, self.now)
                .map_err(|illegal| Code::TaskIllegal.fault().with("task", id).with("state", illegal.from))?;
            self.note(&format!("task:{}", step.task().id), Some(json!({"state": state})), None);
            self.changes.push(Change::Step(step));
            self.done.changed += 1;
        }
        if self.done.changed == 0 {
            let fault = Code::NothingToRetry.fault().with("instance", id).with("state", instance.state);
            return Err(fault.into());
        }
        self.done.instances.push(id);
        Ok(())
    }

    async fn acknowledge(&mut self, alarms: &[AlarmId], note: &str) -> Result<()> {
        let note = note.trim();
        if note.is_empty() {
            return Err(Code::NoteMissing.fault().at("note").into());
        }
        let found = self.shared.store.alarms(alarms).await?;
        if let Some(missing) = alarms.iter().find(|id| !found.iter().any(|alarm| alarm.id == **id)) {
            return Err(Code::AlarmNotFound.fault().with("alarm", missing).into());
        }
        for alarm in found {
            if alarm.state != AlarmState::Firing {
                continue;
            }
            let id = alarm.id;
            self.note(&format!("alarm:{id}"), Some(json!({"state": alarm.state})), Some(json!({"note": note})));
            self.changes.push(Change::PutAlarm(alarm.acknowledge(&self.request.who.name, note, self.now)));
            self.done.changed += 1;
        }
        Ok(())
    }

    async fn hold(&mut self, reason: &str) -> Result<()> {
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(Code::HoldNeedsReason.fault().at("reason").into());
        }
        let before = self.shared.hold().await?;
        // A hold that takes the place of another goes on from its beginning.
        let since = before.as_ref().map_or(self.now, |before| before.since);
        let hold = Hold { by: self.request.who.name.clone(), reason: reason.to_owned(), since };
        self.put(HOLD, json!(before), json!(Holding::Held(hold)));
        Ok(())
    }

    async fn release(&mut self) -> Result<()> {
        if let Some(before) = self.shared.hold().await? {
            // The clock of the lanes goes on where it stood.
            let held = read_held_millis(self.shared.store.as_ref()).await?;
            let this = i64::try_from(self.now.since(before.since).as_millis()).unwrap_or(i64::MAX);
            self.changes.push(Change::Set { key: HELD_MILLIS.to_owned(), value: json!(held.saturating_add(this)) });
            self.put(HOLD, json!(before), json!(Holding::Released(self.now)));
        }
        Ok(())
    }

    async fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        if key == LIMITS {
            let limits: Limits = serde_json::from_value(value.clone())
                .map_err(|error| Code::BadRequest.fault().with("reason", error).at("value"))?;
            if let Some(fault) = limits.check().into_iter().next() {
                return Err(fault.into());
            }
        }
        let planned_by = key == ALMANAC_SETTING || key.starts_with(CALENDAR_SETTING);
        if key == HOLD || key == HELD_MILLIS || planned_by || key.is_empty() || key.chars().count() > 100 {
            return Err(Code::BadRequest.fault().with("reason", format!("'{key}' is not a setting")).at("key").into());
        }
        let before = self.shared.store.setting(key).await?;
        if key.starts_with(SECRET_SETTING) {
            // The audit log is for ever: a key that is lost one day must not open what it tells.
            let told = |value: &Value| json!({"sealedTo": value.get("sealedTo"), "by": value.get("by")});
            let before = before.as_ref().filter(|value| !value.is_null()).map(told);
            let after = Some(value).filter(|value| !value.is_null()).map(told);
            self.note(&format!("setting:{key}"), before, after);
            self.changes.push(Change::Set { key: key.to_owned(), value: value.clone() });
            self.done.changed += 1;
            return Ok(());
        }
        self.put(key, json!(before), value.clone());
        Ok(())
    }

    /// Without a reason it takes work again.
    async fn drain(&mut self, group: &str, name: &str, reason: Option<&str>) -> Result<()> {
        let known = self.shared.store.executors().await?;
        let found = known.into_iter().find(|(one, _)| one.executor.group == group && one.executor.name == name);
        let Some((_, before)) = found else {
            return Err(Code::ExecutorNotFound.fault().with("executor", format!("{group}/{name}")).at("name").into());
        };
        if before.is_some() == reason.is_some() {
            return Ok(());
        }
        let drain = reason.map(|reason| Drain {
            by: self.request.who.name.clone(),
            reason: reason.trim().to_owned(),
            since: self.now,
        });
        self.note(&format!("executor:{group}/{name}"), Some(json!(before)), Some(json!(drain)));
        self.changes.push(Change::DrainExecutor { group: group.to_owned(), name: name.to_owned(), drain });
        self.done.changed += 1;
        Ok(())
    }

    fn put(&mut self, key: &str, before: Value, after: Value) {
        self.note(&format!("setting:{key}"), Some(before), Some(after.clone()));
        self.changes.push(Change::Set { key: key.to_owned(), value: after });
        self.done.changed += 1;
    }

    pub(super) fn note(&mut self, subject: &str, before: Option<Value>, after: Option<Value>) {
        self.audit.push(AuditEntry {
            at: self.now,
            who: self.request.who.name.clone(),
            action: self.request.ask.name().to_owned(),
            subject: subject.to_owned(),
            before,
            after,
        });
    }

    async fn job(&self, id: JobId) -> Result<Job> {
        let found = self.shared.store.jobs(&[id]).await?.into_iter().next();
        found.ok_or_else(|| Code::JobNotFound.fault().with("job", id).into())
    }

    async fn instance(&self, id: InstanceId) -> Result<Instance> {
        let found = self.shared.store.instances(&[id]).await?.into_iter().next();
        found.ok_or_else(|| Code::InstanceNotFound.fault().with("instance", id).into())
    }
}

fn spec_of(job: &Job) -> Value {
    serde_json::to_value(&job.spec).unwrap_or(Value::Null)
}
