//! What each request changes, decided on what is there now.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use campanile_model::alarm::AlarmState;
use campanile_model::backfill::{Backfill, BackfillEnd, BackfillState};
use campanile_model::blackout::{Blackout, MOST_BLACKOUTS};
use campanile_model::chain::after_of;
use campanile_model::executor::Drain;
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Origin};
use campanile_model::job::{Job, JobSpec, Mode, Overlap};
use campanile_model::limits::{LIMITS, LimitOn, Limits};
use campanile_model::question::QuestionAnswer;
use campanile_model::request::{Answer, Ask, AuditEntry, Done, Hold, Request, SaveJob};
use campanile_model::retention::{RETENTION, Retention};
use campanile_model::schedule::Schedule;
use campanile_model::secret::SECRET_SETTING;
use campanile_model::sharding::{DATA, Selection, ShardRun, Staged, staged};
use campanile_model::task::{StopCause, TaskState};
use campanile_model::{
    AlarmId, Almanac, Code, DataId, Fault, InstanceId, JobId, Partitions, QuestionId, RequestId, Timestamp, Words,
    job_check, template,
};
use campanile_store::{CarriedOut, Change, ShardWrite, StoreError};
use serde_json::{Map, Value, json};

use super::shards::no_shards;
use crate::dispatcher::outcome;
use crate::launcher::line::{Line, Room};
use crate::launcher::unplanned::{new_instance, superseded};
use crate::launcher::{self, TimelineError, backfill_times, chain_faults, timeline};
use crate::monitor::stopping;
use crate::shared::{BLACKOUTS, HELD_MILLIS, HOLD, Holding, Shared, read_blackouts, read_held_millis, read_limits};
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
        Ask::CancelInstance { instance, shards } if shards.is_empty() => draft.cancel_instance(*instance).await?,
        Ask::CancelInstance { instance, shards } => draft.cancel_shards(*instance, shards).await?,
        Ask::RetryInstance { instance, shards } => draft.retry_instance(*instance, shards).await?,
        Ask::RunWithData { job, data, key, parameters, beside, executor } => {
            let (parameters, executor) = (parameters.as_ref(), executor.as_deref());
            let wish = Wish { parameters, beside: *beside, executor, ..Wish::default() };
            draft.run_with_data(*job, *data, key.as_deref(), wish).await?;
        }
        Ask::AnswerQuestions { questions, run } => draft.answer_questions(questions, *run).await?,
        Ask::Backfill { job, from, to } => draft.backfill(*job, *from, *to).await?,
        Ask::PutBlackout { name, blackout } => draft.put_blackout(name, blackout.as_ref()).await?,
        Ask::CancelBackfill { backfill } => draft.cancel_backfill(*backfill).await?,
        Ask::AcknowledgeAlarms { alarms, note } => draft.acknowledge(alarms, note).await?,
        Ask::Hold { reason } => draft.hold(reason).await?,
        Ask::Release => draft.release().await?,
        Ask::Set { key, value } => draft.set(key, value).await?,
        Ask::PutCalendar { calendar, seen_revision } => draft.put_calendar(calendar, *seen_revision).await?,
        Ask::RemoveCalendar { calendar, seen_revision } => draft.remove_calendar(calendar, *seen_revision).await?,
        Ask::DrainExecutor { group, name, reason } => draft.drain(group, name, Some(reason)).await?,
        Ask::ResumeExecutor { group, name } => draft.drain(group, name, None).await?,
        Ask::PutLimit { limit, most } => draft.put_limit(limit, *most).await?,
        Ask::GivePass { digest } => draft.give_pass(digest).await?,
    }
    Ok(CarriedOut { request: request.id, changes: draft.changes, answer: Answer::Done(draft.done), audit: draft.audit })
}

/// How a person, or a program, wants a job to run.
#[derive(Clone, Copy, Default)]
struct Wish<'a> {
    parameters: Option<&'a Map<String, Value>>,
    beside: bool,
    repeats: Option<InstanceId>,
    executor: Option<&'a str>,
    /// What it takes as its data.
    data: Option<&'a Staged>,
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
        }
        self.check_chains(jobs).await?;
        for save in jobs {
            match save.job {
                None => self.create(save).await?,
                Some(id) => self.change(id, save).await?,
            }
        }
        self.carry_names_downstream(jobs).await
    }

    async fn check_chains(&self, jobs: &[SaveJob]) -> Result<()> {
        let specs: Vec<&JobSpec> = jobs.iter().map(|save| &save.spec).collect();
        if specs.iter().all(|spec| after_of(spec).is_none()) {
            return Ok(());
        }
        let renamed: Vec<String> = self.renamed(jobs).await?.into_iter().map(|(old, _)| old).collect();
        let faults = chain_faults(self.shared.store.as_ref(), &specs, &renamed).await?;
        match faults.into_iter().flatten().next() {
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }

    /// Old and new name of those that are to be called something else.
    async fn renamed(&self, jobs: &[SaveJob]) -> Result<Vec<(String, String)>> {
        let ids: Vec<JobId> = jobs.iter().filter_map(|save| save.job).collect();
        let stored = self.shared.store.jobs(&ids).await?;
        let renamed = jobs.iter().filter_map(|save| {
            let old = &stored.iter().find(|job| save.job == Some(job.id))?.spec.name;
            (*old != save.spec.name).then(|| (old.clone(), save.spec.name.clone()))
        });
        Ok(renamed.collect())
    }

    /// Jobs that run after one that is renamed go on to: each gets a version with the new name.
    async fn carry_names_downstream(&mut self, jobs: &[SaveJob]) -> Result<()> {
        let renamed = self.renamed(jobs).await?;
        let mut carried: BTreeMap<JobId, Job> = BTreeMap::new();
        for (old, new) in &renamed {
            for job in self.shared.store.downstream(old).await? {
                if jobs.iter().any(|save| save.job == Some(job.id)) {
                    continue;
                }
                let job = carried.entry(job.id).or_insert(job);
                if let Schedule::After(after) = &mut job.spec.schedule {
                    after.jobs.iter_mut().filter(|name| *name == old).for_each(|name| name.clone_from(new));
                }
            }
        }
        for (id, job) in carried {
            self.change(id, &SaveJob { spec: job.spec, job: Some(id), seen_version: Some(job.version) }).await?;
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
            let mut downstream = self.shared.store.downstream(&job.spec.name).await?;
            downstream.retain(|other| !jobs.contains(&other.id));
            if !downstream.is_empty() {
                let names: Vec<String> = downstream.into_iter().map(|other| other.spec.name).collect();
                let fault = Code::JobHasDownstream.fault().with("job", &job.spec.name).with("jobs", names.join(", "));
                return Err(fault.into());
            }
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
            let wish = Wish { parameters, beside, repeats, executor, data: None };
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
        if self.was_made(job, key).await? {
            return Ok(());
        }
        let wish = Wish { parameters, beside, ..Wish::default() };
        self.run(job, Origin::Api, key.to_owned(), wish).await
    }

    async fn was_made(&mut self, job: JobId, key: &str) -> Result<bool> {
        let Some(instance) = self.shared.store.firing(job, Origin::Api, key).await? else { return Ok(false) };
        self.done.jobs.push(job);
        self.done.instances.push(instance);
        Ok(true)
    }

    async fn run_with_data(&mut self, job: JobId, data: DataId, key: Option<&str>, wish: Wish<'_>) -> Result<()> {
        let (origin, key) = match key {
            Some(key) if self.was_made(job, key).await? => return Ok(()),
            Some(key) => (Origin::Api, key.to_owned()),
            None => (Origin::Manual, self.request.id.to_string()),
        };
        let staged = self.shared.store.staged(data).await?;
        let Some(staged) = staged.filter(|staged| staged.whole && staged.instance.is_none()) else {
            return Err(Code::DataGone.fault().with("data", data).at("data").into());
        };
        self.run(job, origin, key, Wish { data: Some(&staged), ..wish }).await
    }

    async fn run(&mut self, id: JobId, origin: Origin, key: String, wish: Wish<'_>) -> Result<()> {
        let Wish { parameters, beside, repeats, executor, data } = wish;
        let job = self.job(id).await?;
        let is_sharded = job.spec.mode == Mode::Sharding;
        if data.is_some() && !is_sharded {
            let reason = Words::new("the job is not cut into shards", "该任务不是分片任务");
            return Err(Code::ShardDataInvalid.fault().with_words("reason", &reason).at("data").into());
        }
        // Data of shards goes to them as it is.
        let wrong = parameters.map(template::check).unwrap_or_default();
        if let Some(wrong) = wrong.into_iter().find(|wrong| !(is_sharded && wrong.is_within(DATA))) {
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
        let open = self.shared.store.unfinished(&[id]).await?;
        let line = Line::new(open.into_iter().map(|(_, instance, state)| (instance, state)).collect());
        let beside = beside || job.spec.overlap == Overlap::Allow;
        match line.room(&job.spec) {
            _ if beside => {}
            Room::Free => {}
            Room::InPlaceOf(older) => self.changes.push(Change::EndUnassigned(superseded(older, self.now))),
            // One runs, one waits: a further one would be skipped, and the person is told so.
            Room::None => {
                let name = &job.spec.name;
                let reason = Words::new(
                    format!("{name} has an earlier run that has not ended; choose 'run beside'"),
                    format!("{name} 的前一次运行尚未结束，可选择“并行运行”"),
                );
                return Err(Code::BadRequest.fault().with_words("reason", &reason).at("beside").into());
            }
        }
        let instance = self.shared.dice.instance_id(self.now);
        let merged = (parameters.is_some() || data.is_some()).then(|| {
            let mut merged = job.spec.parameters.clone();
            merged.extend(parameters.cloned().unwrap_or_default());
            merged.extend(data.map(|data| (DATA.to_owned(), staged::naming(data.id))));
            Value::Object(merged).to_string()
        });
        let mut told = json!({"instance": instance, "parameters": parameters});
        if let Some(Staged { id, source, sha256, items, .. }) = data {
            told["data"] = json!({"file": source, "items": items, "sha256": sha256});
            self.changes.push(Change::TakeStaged { data: *id, instance });
        }
        let made = Instance {
            origin,
            key,
            planned: self.request.asked_at,
            due: self.request.asked_at,
            beside,
            replaces: !beside && job.spec.overlap == Overlap::Replace,
            parameters: merged,
            repeats,
            asked_by: Some(self.request.who.name.clone()),
            executor: executor.map(str::to_owned),
            ..new_instance(instance, job.id, job.version, &job.spec, self.now)
        };
        self.note(&job.spec.name, None, Some(told));
        self.changes.push(Change::PutInstance(made));
        self.done.jobs.push(job.id);
        self.done.instances.push(instance);
        self.done.changed += 1;
        Ok(())
    }

    async fn answer_questions(&mut self, questions: &[QuestionId], run: bool) -> Result<()> {
        const MOST_OPEN: usize = 10_000;
        let open = self.shared.store.open_questions(MOST_OPEN).await?;
        for id in questions {
            let Some(question) = open.iter().find(|question| question.id == *id && question.until > self.now) else {
                return Err(Code::QuestionAnswered.fault().at("questions").into());
            };
            let job = self.job(question.job).await?;
            let mut ran = None;
            if run {
                let instance = self.shared.dice.instance_id(self.now);
                // The key is the question's: however often it is answered, it runs once.
                self.changes.push(Change::PutInstance(Instance {
                    key: question.id.to_string(),
                    planned: question.to,
                    due: question.to,
                    reason: Some(asked_words(question.count)),
                    asked_by: Some(self.request.who.name.clone()),
                    ..new_instance(instance, job.id, job.version, &job.spec, self.now)
                }));
                self.done.instances.push(instance);
                ran = Some(instance);
            }
            let answer = QuestionAnswer { at: self.now, by: Some(self.request.who.name.clone()), ran };
            self.changes.push(Change::AnswerQuestion { question: question.id, answer });
            let told = json!({"from": question.from, "to": question.to, "count": question.count, "run": run});
            self.note(&job.spec.name, None, Some(told));
            self.done.jobs.push(job.id);
            self.done.changed += 1;
        }
        Ok(())
    }

    async fn backfill(&mut self, id: JobId, from: Timestamp, to: Timestamp) -> Result<()> {
        let job = self.job(id).await?;
        let times = backfill_times(&job, from, to, self.now, &self.shared.shelf.almanac())?;
        let backfill = Backfill {
            id: self.request.id,
            job: job.id,
            version: job.version,
            from,
            to,
            through: from.plus_millis(-1),
            planned: u32::try_from(times.len()).unwrap_or(u32::MAX),
            made: 0,
            asked_by: self.request.who.name.clone(),
            asked_at: self.now,
            ended: None,
        };
        self.note(&job.spec.name, None, Some(json!({"from": from, "to": to, "planned": backfill.planned})));
        self.done.jobs.push(job.id);
        self.done.changed = backfill.planned;
        self.changes.push(Change::PutBackfill(backfill));
        Ok(())
    }

    async fn put_blackout(&mut self, name: &str, blackout: Option<&Blackout>) -> Result<()> {
        let mut blackouts = read_blackouts(self.shared.store.as_ref()).await?;
        let before = blackouts.get(name).cloned();
        match blackout {
            Some(blackout) => {
                if let Some(fault) = blackout_fault(name, blackout, &self.shared.shelf.almanac()) {
                    return Err(fault.into());
                }
                blackouts.insert(name.to_owned(), blackout.clone());
            }
            None if before.is_none() => return Err(Code::BlackoutNotFound.fault().with("name", name).into()),
            None => {
                blackouts.remove(name);
            }
        }
        if blackouts.len() > MOST_BLACKOUTS {
            let reason = Words::new(
                format!("there are more than {MOST_BLACKOUTS} windows"),
                format!("时段超过 {MOST_BLACKOUTS} 个"),
            );
            return Err(Code::BlackoutInvalid.fault().with("field", "name").with_words("reason", &reason).into());
        }
        self.note(&format!("blackout:{name}"), Some(json!(before)), Some(json!(blackout)));
        self.changes.push(Change::Set { key: BLACKOUTS.to_owned(), value: json!(blackouts) });
        self.done.changed += 1;
        Ok(())
    }

    /// What it has made goes on; it makes no more.
    async fn cancel_backfill(&mut self, id: RequestId) -> Result<()> {
        const MOST_OPEN: usize = 10_000;
        let open = self.shared.store.open_backfills(Partitions::ALL, MOST_OPEN).await?;
        let Some(backfill) = open.into_iter().find(|backfill| backfill.id == id) else {
            return Err(Code::BackfillNotFound.fault().with("backfill", id).into());
        };
        let end = BackfillEnd { at: self.now, how: BackfillState::Cancelled };
        let job = self.job(backfill.job).await?;
        self.note(&job.spec.name, Some(json!({"made": backfill.made, "planned": backfill.planned})), None);
        self.changes.push(Change::EndBackfill { backfill: id, end });
        self.done.jobs.push(backfill.job);
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
        if let Some(run) = self.shared.store.shard_run(instance).await? {
            // Whoever carries it through its phases ends its tasks.
            self.changes.push(Change::Conduct(Box::new(ShardWrite::of(ShardRun { stopping: true, ..run }))));
            self.done.changed += 1;
            return Ok(());
        }
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

    async fn retry_instance(&mut self, id: InstanceId, shards: &Selection) -> Result<()> {
        let instance = self.instance(id).await?;
        if matches!(instance.state, InstanceState::Succeeded | InstanceState::Superseded) {
            return Err(Code::NothingToRetry.fault().with("instance", id).with("state", instance.state).into());
        }
        if !instance.state.is_final() {
            let fault = Code::InstanceNotFinal.fault().with("instance", id).with("state", instance.state);
            return Err(fault.into());
        }
        if let Some(run) = self.shared.store.shard_run(id).await? {
            return self.retry_shards(&instance, &run, shards).await;
        }
        if !shards.is_empty() {
            return Err(no_shards(id).into());
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
        if key == RETENTION {
            let retention: Retention = serde_json::from_value(value.clone())
                .map_err(|error| Code::BadRequest.fault().with("reason", error).at("value"))?;
            if let Some(fault) = retention.check().into_iter().next() {
                return Err(fault.into());
            }
        }
        let planned_by = key == ALMANAC_SETTING || key.starts_with(CALENDAR_SETTING);
        if key == HOLD
            || key == BLACKOUTS
            || key == HELD_MILLIS
            || planned_by
            || key.is_empty()
            || key.chars().count() > 100
        {
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

    async fn put_limit(&mut self, on: &LimitOn, most: Option<u32>) -> Result<()> {
        if let LimitOn::Group(name) | LimitOn::Tenant(name) = on
            && (name.trim().is_empty() || name.chars().count() > 100)
        {
            let reason = Words::new("a name has 1 to 100 characters", "名称为 1 到 100 个字符");
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("name").into());
        }
        let before = read_limits(self.shared.store.as_ref()).await?;
        let mut limits = before.clone();
        limits.put(on, most);
        if let Some(fault) = limits.check().into_iter().next() {
            return Err(fault.at("most").into());
        }
        if limits != before {
            self.put(LIMITS, json!(before), json!(limits));
        }
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

    pub(super) async fn instance(&self, id: InstanceId) -> Result<Instance> {
        let found = self.shared.store.instances(&[id]).await?.into_iter().next();
        found.ok_or_else(|| Code::InstanceNotFound.fault().with("instance", id).into())
    }
}

/// What is wrong with a window of the workspace.
pub fn blackout_fault(name: &str, blackout: &Blackout, almanac: &Almanac) -> Option<Fault> {
    let invalid = |field: &str, words: &Words| {
        Code::BlackoutInvalid.fault().with("field", field).with_words("reason", words).at(field)
    };
    if name.trim().is_empty() || name.trim() != name || name.chars().count() > job_check::LONGEST_NAME {
        return Some(invalid(
            "name",
            &Words::new("is empty, too long or begins with a space", "不能为空、过长或首尾有空格"),
        ));
    }
    let error = blackout.window.compile(almanac).err()?;
    Some(invalid(error.at(), &error.words()))
}

fn asked_words(missed: u32) -> Words {
    match missed {
        1 => Words::new("its time was missed; a person had it run", "错过了执行时间，经人工确认后补跑"),
        _ => Words::new(
            format!("{missed} times were missed; a person had this run make them good"),
            format!("错过了 {missed} 次，经人工确认由本次运行补上"),
        ),
    }
}

fn spec_of(job: &Job) -> Value {
    serde_json::to_value(&job.spec).unwrap_or(Value::Null)
}
