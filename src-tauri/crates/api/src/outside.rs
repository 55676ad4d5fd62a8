//! What programs ask from outside: to run a job, and how the run goes.
//!
//! They show a token instead of sitting at a console, and know jobs and runs by name and id alone. What they may is the
//! token's scope; the clerk still carries it out, and the audit log names the token.

use campanile_model::instance::{InstanceState, Origin};
use campanile_model::job::Job;
use campanile_model::request::{Ask, Person, Role};
use campanile_model::token::Scope;
use campanile_model::{Code, Fault, InstanceId, Timestamp, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::views::{DataPhase, DataView, GivenFile, LookAtData, OfFile};
use crate::{Api, CallContext, Lang, PATIENCE};

/// Of the key and of the parameters as JSON.
const LONGEST_KEY: usize = 200;
const LARGEST_PARAMETERS: usize = 64 * 1024;

/// Who asks: a token, by its id.
#[derive(Clone, Debug)]
pub struct Outsider {
    pub token: String,
    pub scope: Scope,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunWanted {
    /// In the place of the job's own, one by one.
    pub parameters: Option<Map<String, Value>>,
    /// Do not wait for earlier runs of the job.
    pub beside: bool,
}

/// How a file is read that comes in the place of parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct FileWanted {
    pub level_column: Option<String>,
    pub sheet: Option<String>,
    pub encoding: Option<String>,
    pub headerless: bool,
    /// Do not wait for earlier runs of the job.
    pub beside: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    pub run: String,
    pub job: String,
    pub state: InstanceState,
    pub is_final: bool,
    pub due: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// What it gave, where it gave something.
    pub result: Option<Value>,
    /// Of its task that ended badly.
    pub failure: Option<Fault>,
}

impl Api {
    /// Asks for a run of a job. With a key that was used before for the job, it is the run of then.
    pub async fn run_from_outside(
        &self,
        who: &Outsider,
        job: &str,
        key: Option<&str>,
        wanted: RunWanted,
    ) -> Result<RunState, Fault> {
        let found = self.job_from_outside(who, job).await?;
        let key = self.key_from_outside(key)?;
        let bytes = wanted.parameters.as_ref().map_or(0, |own| Value::Object(own.clone()).to_string().len());
        if bytes > LARGEST_PARAMETERS {
            let en = format!("parameters have at most {LARGEST_PARAMETERS} bytes");
            return Err(bad("parameters", en, format!("参数最多 {LARGEST_PARAMETERS} 字节")));
        }
        let ask = Ask::RunByKey { job: found.id, key, parameters: wanted.parameters, beside: wanted.beside };
        self.run_asked_from_outside(who, job, ask).await
    }

    /// As `run_from_outside`, with the items of a file that was handed in. It goes, whatever comes of it.
    pub async fn run_with_file_from_outside(
        &self,
        who: &Outsider,
        job: &str,
        key: Option<&str>,
        given: &GivenFile,
        wanted: FileWanted,
    ) -> Result<RunState, Fault> {
        let person = person(who);
        let cx = CallContext { who: person, zone: String::new(), lang: Lang::En };
        let run = self.run_with_file(who, job, key, given, wanted, &cx).await;
        // What a run has taken stays its own.
        self.discard_data(OfFile { file: given.file.clone() }, &cx).await?;
        run
    }

    async fn run_with_file(
        &self,
        who: &Outsider,
        job: &str,
        key: Option<&str>,
        given: &GivenFile,
        wanted: FileWanted,
        cx: &CallContext,
    ) -> Result<RunState, Fault> {
        let found = self.job_from_outside(who, job).await?;
        let key = self.key_from_outside(key)?;
        if let Some(made) = self.store().firing(found.id, Origin::Api, &key).await? {
            return self.run_seen_from_outside(who, &made.to_string()).await;
        }
        let look = LookAtData {
            file: given.file.clone(),
            kind: None,
            encoding: wanted.encoding,
            delimiter: None,
            headerless: wanted.headerless,
            sheet: wanted.sheet,
            level_column: wanted.level_column,
        };
        let looking = self.look_at_data(look, cx).await?;
        self.settled(looking, cx).await?;
        let staging = self.stage_data(OfFile { file: given.file.clone() }, cx).await?;
        let staged = self.settled(staging, cx).await?;
        let Some(data) = staged.data.as_ref().and_then(|data| data.parse().ok()) else {
            return Err(Code::DataGone.fault().with("data", &given.name));
        };
        let beside = wanted.beside;
        let ask = Ask::RunWithData { job: found.id, data, key: Some(key), parameters: None, beside, executor: None };
        self.run_asked_from_outside(who, job, ask).await
    }

    /// Until it is neither looked at nor taken in any more.
    async fn settled(&self, mut view: DataView, cx: &CallContext) -> Result<DataView, Fault> {
        loop {
            if let Some(fault) = view.fault {
                return Err(fault);
            }
            if !matches!(view.phase, DataPhase::Looking | DataPhase::Staging) {
                return Ok(view);
            }
            view = self.data_file(OfFile { file: view.file }, cx).await?;
        }
    }

    /// Whether a job exists is nothing for those who may not run it.
    pub async fn job_from_outside(&self, who: &Outsider, job: &str) -> Result<Job, Fault> {
        if !who.scope.admits_run(job) {
            return Err(Code::NoPermission.fault());
        }
        let found = self.store().job_named(job).await?;
        found.ok_or_else(|| Code::JobNotFound.fault().with("job", job))
    }

    fn key_from_outside(&self, key: Option<&str>) -> Result<String, Fault> {
        match key {
            Some(key) if key.is_empty() || key.len() > LONGEST_KEY => {
                let en = format!("an idempotency key has 1 to {LONGEST_KEY} bytes");
                Err(bad("Idempotency-Key", en, format!("幂等键长度应为 1 到 {LONGEST_KEY} 字节")))
            }
            Some(key) => Ok(key.to_owned()),
            // Without one every request is another run.
            None => Ok(self.desk.dice.request_id(self.now()).to_string()),
        }
    }

    async fn run_asked_from_outside(&self, who: &Outsider, job: &str, ask: Ask) -> Result<RunState, Fault> {
        let done = self.desk.ask(&person(who), ask, PATIENCE).await?;
        let Some(instance) = done.instances.first() else {
            return Err(Code::InstanceNotFound.fault().with("instance", job));
        };
        self.run_seen_from_outside(who, &instance.to_string()).await
    }

    pub async fn run_seen_from_outside(&self, who: &Outsider, run: &str) -> Result<RunState, Fault> {
        let not_found = || Code::InstanceNotFound.fault().with("instance", run);
        let id: InstanceId = run.parse().map_err(|_| not_found())?;
        let summary = self.archive.instance_summary(id).await?.ok_or_else(not_found)?;
        // That it is there is nothing for those who may not run its job.
        if !who.scope.admits_run(&summary.job_name) {
            return Err(not_found());
        }
        let instance = summary.instance;
        let failed = matches!(instance.state, InstanceState::Failed);
        let tasks =
            if failed { self.store().tasks_after(id, None, crate::runs::MOST_TASKS).await? } else { Vec::new() };
        let failure = tasks
            .into_iter()
            .find_map(|task| task.failure)
            .or(instance.failure.clone())
            .map(|failure| Fault { code: failure.code, message: failure.message, hint: None, field: None, span: None });
        Ok(RunState {
            run: id.to_string(),
            job: summary.job_name,
            state: instance.state,
            is_final: instance.state.is_final(),
            due: instance.due,
            started_at: instance.started_at,
            finished_at: instance.finished_at,
            result: instance.result.as_deref().and_then(|result| serde_json::from_str(result).ok()),
            failure,
        })
    }
}

fn person(who: &Outsider) -> Person {
    Person { name: format!("token:{}", who.token), role: Role::Operator }
}

fn bad(field: &str, en: String, zh: String) -> Fault {
    Code::BadRequest.fault().with_words("reason", &Words::new(en, zh)).at(field)
}
