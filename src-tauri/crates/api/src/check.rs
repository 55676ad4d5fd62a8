//! Whether a job can be saved here and now: the rules of the model, and what only the node knows.

use campanile_engine::launcher::chain_faults;
use campanile_model::blackout::{Blackouts, JobBlackout, JobWindows};
use campanile_model::job::{Job, JobSpec, Mode};
use campanile_model::schedule::{PreviewRun, Schedule, Timing, preview};
use campanile_model::sharding::DATA;
use campanile_model::{Almanac, Code, Fault, JobId, Timestamp, Words, job_check};
use serde_json::{Map, Value};

use crate::blackouts::tell_of_windows;
use crate::moments::Told;
use crate::versions::exception_words;
use crate::views::{AskPreview, CheckJob, JobCheck, LapsedException, PreviewRow, PreviewView, ProcessorView};
use crate::{Api, CallContext, input};

/// The group of the executor that lives in the program itself: what it hosts is known without asking.
const EMBEDDED_GROUP: &str = "local";

const PREVIEWED: u32 = 20;
const MOST_PREVIEWED: u32 = 200;

/// The next runs of a schedule, asked without a node: `document` has the schedule and whatever else of a job decides
/// its times; `zone` is the one that they are told in.
pub fn preview_alone(
    document: Map<String, Value>,
    almanac: &Almanac,
    zone: &str,
    from: Timestamp,
    count: u32,
) -> Result<PreviewView, Fault> {
    let zone = almanac.zone(zone).map_err(|error| job_check::schedule_fault(&error))?;
    let count = checked_count(Some(count))?;
    preview_document(document, NOBODYS, almanac, &Blackouts::new(), from, count, &Told::new(zone))
}

fn preview_document(
    mut document: Map<String, Value>,
    job: JobId,
    almanac: &Almanac,
    blackouts: &Blackouts,
    from: Timestamp,
    count: usize,
    told: &Told,
) -> Result<PreviewView, Fault> {
    // What every job has, and its times do not depend on.
    document.entry("name").or_insert_with(|| Value::from("preview"));
    document.entry("processor").or_insert_with(|| Value::from("preview"));
    let spec = input::read_spec(&Value::Object(document))?;
    if let Some(fault) = job_check::check(&spec, almanac, from).into_iter().next() {
        return Err(fault);
    }
    let mut view = previewed(&spec.timing(job, from), almanac, from, count, told)?;
    tell_of_windows(&mut view, &spec, &JobWindows::of(&spec, blackouts, almanac), told);
    Ok(view)
}

/// The place in a spread is a job's own; what belongs to no job has this one's.
const NOBODYS: JobId = JobId::from_bytes([0; 16]);

fn checked_count(count: Option<u32>) -> Result<usize, Fault> {
    let count = count.unwrap_or(PREVIEWED);
    if !(1..=MOST_PREVIEWED).contains(&count) {
        let reason = Words::new(
            format!("count is {count}; it can be 1 to {MOST_PREVIEWED}"),
            format!("count 为 {count}；可用范围是 1 到 {MOST_PREVIEWED}"),
        );
        return Err(Code::BadRequest.fault().with_words("reason", &reason).at("count"));
    }
    Ok(count as usize)
}

pub(crate) fn previewed(
    timing: &Timing,
    almanac: &Almanac,
    from: Timestamp,
    count: usize,
    told: &Told,
) -> Result<PreviewView, Fault> {
    let preview = preview(timing, almanac, from, count).map_err(|error| job_check::schedule_fault(&error))?;
    let row = |run: PreviewRun| PreviewRow {
        planned: run.planned,
        due: told.moment(run.due),
        local: run.local,
        reason: run.reason,
    };
    Ok(PreviewView {
        words: preview.words,
        runs: preview.runs.into_iter().map(row).collect(),
        warnings: preview.warnings,
    })
}

impl Api {
    /// Of a job as it stands, or of a schedule as it is written, for that job where one is named.
    pub(crate) async fn preview(&self, ask: AskPreview, cx: &CallContext) -> Result<PreviewView, Fault> {
        let told = self.told(cx)?;
        let count = checked_count(ask.count)?;
        let from = ask.from.unwrap_or_else(|| self.now());
        let job = match &ask.job {
            Some(job) => Some(self.job(job).await?),
            None => None,
        };
        match (ask.spec, &job) {
            (Some(document), _) => {
                let job = job.as_ref().map_or(NOBODYS, |job| job.id);
                preview_document(document, job, &self.almanac(), &self.blackouts().await?, from, count, &told)
            }
            (None, Some(job)) => self.preview_job(job, from, count, &told).await,
            (None, None) => {
                let reason = Words::new("name a job, or give a schedule", "请指定任务或给出调度");
                Err(Code::BadRequest.fault().with_words("reason", &reason).at("spec"))
            }
        }
    }

    pub(crate) async fn check_job(&self, asked: CheckJob, cx: &CallContext) -> Result<JobCheck, Fault> {
        let told = self.told(cx)?;
        let before = match &asked.job {
            Some(job) => Some(self.job(job).await?),
            None => None,
        };
        let spec = match input::read_spec(&asked.spec) {
            Ok(spec) => spec,
            Err(fault) => {
                // The times can be shown as soon as the schedule is right, whatever else is still missing.
                let preview = self.preview_of_draft(&asked.spec, &told);
                return Ok(JobCheck { faults: vec![fault], preview, lapsed: Vec::new() });
            }
        };
        let spec = keeping_phase(spec, before.as_ref());
        let (faults, mut warnings) = self.faults_of(&spec, before.as_ref().map(|job| job.id)).await?;
        let now = self.now();
        let id = before.map_or(NOBODYS, |job| job.id);
        let windows = JobWindows::of(&spec, &self.blackouts().await?, &self.almanac());
        let preview = previewed(&spec.timing(id, now), &self.almanac(), now, PREVIEWED as usize, &told).ok().map(
            |mut preview| {
                preview.warnings.append(&mut warnings);
                tell_of_windows(&mut preview, &spec, &windows, &told);
                preview
            },
        );
        let lapsed = self.lapsed(&spec, id, &told);
        Ok(JobCheck { faults, preview, lapsed })
    }

    /// What was changed by hand and is still to come, and means nothing to the job as it would be saved.
    fn lapsed(&self, spec: &JobSpec, job: JobId, told: &Told) -> Vec<LapsedException> {
        let now = self.now();
        let Ok(times) = spec.timing(job, now).compile(&self.almanac()) else { return Vec::new() };
        let still_to_come = times.lapsed().iter().filter(|exception| exception.planned() > now);
        still_to_come
            .map(|exception| LapsedException { exception: *exception, words: exception_words(exception, told) })
            .collect()
    }

    fn preview_of_draft(&self, draft: &Value, told: &Told) -> Option<PreviewView> {
        let schedule = Schedule::from_document(draft.get("schedule")?).ok()?;
        let now = self.now();
        previewed(&Timing::plain(schedule, now), &self.almanac(), now, PREVIEWED as usize, told).ok()
    }

    /// What keeps it from being saved, and what does not but ought to be known.
    pub(crate) async fn faults_of(
        &self,
        spec: &JobSpec,
        job: Option<JobId>,
    ) -> Result<(Vec<Fault>, Vec<Words>), Fault> {
        let mut faults = job_check::check(spec, &self.almanac(), self.now());
        let mut warnings = Vec::new();
        if let Some(other) = self.store().job_named(&spec.name).await?
            && Some(other.id) != job
        {
            faults.push(Code::JobNameTaken.fault().with("job", &spec.name).at("name"));
        }
        let renamed: Vec<String> = match job {
            Some(id) => self.store().jobs(&[id]).await?.into_iter().map(|job| job.spec.name).collect(),
            None => Vec::new(),
        };
        let renamed: Vec<String> = renamed.into_iter().filter(|name| *name != spec.name).collect();
        faults.extend(chain_faults(self.store(), &[spec], &renamed).await?.into_iter().flatten());
        let blackouts = self.blackouts().await?;
        for (index, own) in spec.blackouts.iter().enumerate() {
            if let JobBlackout::Named(name) = own
                && !blackouts.contains_key(name)
            {
                let fault = Code::BlackoutNotFound.fault().with("name", name);
                faults.push(fault.at(format!("blackouts.{index}")));
            }
        }
        let processors = self.node.processors();
        let found = processors.iter().find(|one| one.group == spec.executor_group && one.name == spec.processor);
        match found {
            Some(processor) => {
                let mut parameters = spec.parameters.clone();
                if spec.mode == Mode::Sharding {
                    // It comes item by item, and is not one of its parameters.
                    parameters.remove(DATA);
                }
                faults.extend(parameter_faults(processor, &parameters));
            }
            None if spec.executor_group == EMBEDDED_GROUP => {
                faults.push(Code::ProcessorNotRegistered.fault().with("name", &spec.processor).at("processor"));
            }
            None => warnings.push(Code::NoExecutorForProcessor.fault().with("name", &spec.processor).message),
        }
        Ok((faults, warnings))
    }
}

/// A fixed rate keeps its phase unless its period or its start was changed.
pub(crate) fn keeping_phase(mut spec: JobSpec, before: Option<&Job>) -> JobSpec {
    if let (Schedule::FixedRate(new), Some(Schedule::FixedRate(old))) =
        (&mut spec.schedule, before.map(|job| &job.spec.schedule))
        && new.start_time.is_none()
        && new.every_seconds == old.every_seconds
    {
        new.start_time = old.start_time;
    }
    spec
}

/// What the processor's schema says of the parameters: what is missing, what is unknown, what has another type.
fn parameter_faults(processor: &ProcessorView, parameters: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut refuse = |name: &str, en: String, zh: String| {
        let reason = Words::new(format!("it {en}"), zh);
        faults.push(
            Code::ParametersRefused
                .fault()
                .with("field", name)
                .with_words("problem", &reason)
                .at(format!("parameters.{name}")),
        );
    };
    let schema = &processor.schema;
    let no_properties = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&no_properties);
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let empty =
            parameters.get(name).is_none_or(|value| value.is_null() || value.as_str().is_some_and(str::is_empty));
        if empty {
            refuse(name, "is missing".into(), "不能为空".into());
        }
    }
    for (name, value) in parameters {
        let Some(property) = properties.get(name) else {
            if schema["additionalProperties"] == Value::Bool(false) {
                refuse(name, "is not a parameter of this processor".into(), "不是该 Processor 的参数".into());
            }
            continue;
        };
        // A template becomes its value when the run begins.
        let template = value.as_str().is_some_and(|text| text.contains('{') && property["type"] != "string");
        if value.is_null() || template {
            continue;
        }
        if let Some(kind) = property["type"].as_str()
            && !has_type(value, kind)
        {
            refuse(name, format!("is {value}, not of type {kind}"), format!("为 {value}，类型应为 {kind}"));
            continue;
        }
        if let Some(choices) = property["enum"].as_array()
            && !choices.contains(value)
        {
            let list: Vec<String> =
                choices.iter().map(|choice| choice.as_str().map_or(choice.to_string(), str::to_owned)).collect();
            refuse(
                name,
                format!("is {value}; it can be {}", list.join(", ")),
                format!("为 {value}；可用的值有 {}", list.join("、")),
            );
        }
        if let Some(number) = value.as_f64() {
            let too_small = property["minimum"].as_f64().is_some_and(|least| number < least)
                || property["exclusiveMinimum"].as_f64().is_some_and(|least| number <= least);
            let too_large = property["maximum"].as_f64().is_some_and(|most| number > most);
            if too_small || too_large {
                refuse(name, format!("is {number}, which is out of range"), format!("为 {number}，超出范围"));
            }
        }
    }
    faults
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_held_against_the_schema_of_their_processor() {
        let processor = ProcessorView {
            group: "local".into(),
            name: "demo".into(),
            title: Words::new("Demo", "演示"),
            description: Words::default(),
            schema: json!({
                "type": "object", "required": ["command"], "additionalProperties": false,
                "properties": {
                    "command": {"type": "string"},
                    "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 60},
                    "method": {"type": "string", "enum": ["GET", "POST"]},
                    "codes": {"type": "array"},
                },
            }),
            executors: 1,
        };
        let refused = |parameters: Value| -> Vec<String> {
            let parameters = parameters.as_object().expect("an object").clone();
            parameter_faults(&processor, &parameters).into_iter().filter_map(|fault| fault.field).collect()
        };
        assert!(refused(json!({"command": "echo {planned}", "seconds": 3, "method": "GET", "codes": [1]})).is_empty());
        assert!(
            refused(json!({"command": "x", "seconds": "{shard.index}"})).is_empty(),
            "a template may become a number"
        );
        assert_eq!(refused(json!({})), ["parameters.command"]);
        assert_eq!(refused(json!({"command": "x", "comand": "y"})), ["parameters.comand"]);
        assert_eq!(refused(json!({"command": 3})), ["parameters.command"]);
        assert_eq!(refused(json!({"command": "x", "seconds": 0})), ["parameters.seconds"]);
        assert_eq!(refused(json!({"command": "x", "seconds": 61})), ["parameters.seconds"]);
        assert_eq!(refused(json!({"command": "x", "method": "FETCH"})), ["parameters.method"]);
    }
}
