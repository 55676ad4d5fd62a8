//! Jobs as documents: what `apply` reads and `export` writes.
//!
//! Applying is all or nothing, and applying what is already so changes nothing. What an export
//! writes leaves out what has its default, and comes back as the same job.

use std::collections::HashSet;

use campanile_model::job::{Job, JobSpec};
use campanile_model::request::SaveJob;
use campanile_model::{Code, Fault, Timestamp, Words};
use serde_json::{Map, Value, json};

use crate::check::keeping_phase;
use crate::views::*;
use crate::{Api, CallContext, input};

/// Documents in one request.
const MOST_AT_ONCE: usize = 10_000;

impl Api {
    pub(crate) async fn apply_jobs(&self, apply: ApplyInput, cx: &CallContext) -> Result<Applied, Fault> {
        let documents = documents(&apply.text)?;
        let mut names = HashSet::new();
        let mut saves = Vec::new();
        let mut applied = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let number = index + 1;
            let spec = input::read_spec(document).map_err(|fault| in_document(fault, number, document))?;
            if !names.insert(spec.name.clone()) {
                return Err(in_document(
                    Code::JobNameTaken.fault().with("job", &spec.name).at("name"),
                    number,
                    document,
                ));
            }
            let before = self.store().job_named(&spec.name).await?;
            let spec = keeping_phase(spec, before.as_ref());
            let change = match &before {
                Some(job) if job.spec == spec => AppliedChange::Unchanged,
                Some(_) => AppliedChange::Changed,
                None => AppliedChange::Created,
            };
            applied.push(AppliedJob { name: spec.name.clone(), change });
            if change == AppliedChange::Unchanged {
                continue;
            }
            let (faults, _) = self.faults_of(&spec, before.as_ref().map(|job| job.id)).await?;
            if let Some(fault) = faults.into_iter().next() {
                return Err(in_document(fault, number, document));
            }
            let (job, seen_version) = (before.as_ref().map(|job| job.id), before.as_ref().map(|job| job.version));
            saves.push(SaveJob { spec, job, seen_version });
        }
        if !apply.dry_run && !saves.is_empty() {
            self.save_all(saves, cx).await?;
        }
        Ok(Applied { jobs: applied })
    }

    pub(crate) async fn export_jobs(&self, of: OfJobs, _: &CallContext) -> Result<Document, Fault> {
        let mut jobs: Vec<Job> = Vec::new();
        if of.jobs.is_empty() {
            jobs = self.all_jobs().await?;
        }
        for job in &of.jobs {
            jobs.push(self.job(job).await?);
        }
        jobs.sort_by(|one, other| one.spec.name.cmp(&other.spec.name));
        jobs.dedup_by_key(|job| job.id);
        let mut text = String::new();
        for job in &jobs {
            if !text.is_empty() {
                text.push_str("---\n");
            }
            text.push_str(&yaml(&job.spec)?);
        }
        Ok(Document { text })
    }
}

/// The documents of a text: JSON (one job or a list of them), or YAML in as many documents as one likes.
fn documents(text: &str) -> Result<Vec<Value>, Fault> {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    // YAML may begin with a brace as well; what is JSON is read as JSON, for it knows no octal numbers or dates.
    let found = match serde_json::from_str::<Value>(trimmed) {
        Ok(value) => Ok(vec![value]),
        Err(_) => serde_saphyr::from_multiple::<Value>(trimmed),
    };
    let found = found.map_err(|error| {
        let first = error.to_string().lines().next().unwrap_or_default().to_owned();
        let reason = Words::new(format!("it cannot be read: {first}"), format!("无法解析：{first}"));
        Code::BadRequest.fault().with_words("reason", &reason).at("text")
    })?;
    let mut jobs = Vec::new();
    for value in found {
        match value {
            Value::Null => {}
            Value::Array(list) => jobs.extend(list),
            value => jobs.push(value),
        }
    }
    let trouble = match jobs.len() {
        0 => Some(Words::new("there is no job in it", "其中没有任务")),
        count if count > MOST_AT_ONCE => Some(Words::new(
            format!("there are more than {MOST_AT_ONCE} jobs in it"),
            format!("其中的任务超过 {MOST_AT_ONCE} 个"),
        )),
        _ => None,
    };
    match trouble {
        Some(reason) => Err(Code::BadRequest.fault().with_words("reason", &reason).at("text")),
        None => Ok(jobs),
    }
}

/// Says which of several documents a fault is about.
fn in_document(mut fault: Fault, number: usize, document: &Value) -> Fault {
    let name = document["name"].as_str().map_or_else(|| format!("#{number}"), |name| format!("#{number} ({name})"));
    fault.message =
        Words::new(format!("job {name}: {}", fault.message.en), format!("任务 {name}：{}", fault.message.zh));
    fault
}

fn yaml(spec: &JobSpec) -> Result<String, Fault> {
    let mut document = serde_json::to_value(spec).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        leave_out_defaults(fields, &spec.schedule_document());
        write_times(fields);
    }
    let mut text = serde_saphyr::to_string(&document).map_err(|error| {
        let reason = Words::new(error.to_string(), error.to_string());
        Code::BadRequest.fault().with_words("reason", &reason)
    })?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

trait ScheduleDocument {
    fn schedule_document(&self) -> Value;
}

impl ScheduleDocument for JobSpec {
    fn schedule_document(&self) -> Value {
        serde_json::to_value(&self.schedule).unwrap_or_default()
    }
}

/// What a job that says only the necessary has anyway.
fn leave_out_defaults(fields: &mut Map<String, Value>, schedule: &Value) {
    let least = json!({"name": "", "processor": "", "schedule": schedule});
    let defaults = serde_json::from_value::<JobSpec>(least).and_then(serde_json::to_value).unwrap_or_default();
    fields.retain(|name, value| {
        matches!(name.as_str(), "apiVersion" | "name" | "schedule" | "processor" | "executorGroup")
            || defaults.get(name) != Some(value)
    });
    for policy in ["misfire", "retry"] {
        if let Some(inner) = fields.get_mut(policy).and_then(Value::as_object_mut) {
            inner.retain(|name, value| defaults[policy].get(name) != Some(value));
        }
    }
    if let Some(schedule) = fields.get_mut("schedule").and_then(Value::as_object_mut) {
        let usual = json!({"dstGap": "shift", "dstOverlap": "first", "repeatInterval": 1});
        schedule.retain(|name, value| usual.get(name) != Some(value));
    }
}

/// Times as people write them.
fn write_times(fields: &mut Map<String, Value>) {
    fn write(value: &mut Value) {
        if let Some(millis) = value.as_i64() {
            *value = Value::String(Timestamp::from_millis(millis).to_string());
        }
    }
    for name in ["effectiveFrom", "effectiveUntil"] {
        fields.get_mut(name).into_iter().for_each(write);
    }
    if let Some(schedule) = fields.get_mut("schedule").and_then(Value::as_object_mut) {
        for name in ["startTime", "endTime", "at"] {
            schedule.get_mut(name).into_iter().for_each(write);
        }
    }
    for exception in fields.get_mut("exceptions").and_then(Value::as_array_mut).into_iter().flatten() {
        for name in ["planned", "at"] {
            exception.get_mut(name).into_iter().for_each(write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(document: &Value) -> JobSpec {
        input::read_spec(document).expect("a job")
    }

    #[test]
    fn what_is_exported_is_short_and_comes_back_as_the_same_job() {
        let jobs = [
            json!({"name": "nightly", "schedule": {"kind": "cron", "expression": "0 2 * * *", "timeZone": "Asia/Shanghai"},
                "processor": "shell", "parameters": {"command": "report --day \"yesterday\"\nexit 0"}, "tags": ["财务"]}),
            json!({"name": "yes", "schedule": {"kind": "fixedRate", "everySeconds": 60, "startTime": 1_648_029_600_123_i64},
                "processor": "http", "parameters": {"url": "http://localhost/?a=1#b", "expectedStatus": "200"},
                "retry": {"retries": 0}, "exceptions": [{"change": "skip", "planned": 1_648_029_660_123_i64}],
                "effectiveFrom": "2026-01-01T00:00:00Z"}),
            json!({"name": "2026-01-01", "schedule": {"repeatLevel": "month", "startTime": 0, "repeatDays": [-1, 5]}, "processor": "shell"}),
        ];
        for document in jobs {
            let job = spec(&document);
            let text = yaml(&job).expect("it can be written");
            assert!(!text.contains("readyTimeoutSeconds"), "defaults are left out:\n{text}");
            let [back] = &documents(&text).expect("it can be read")[..] else { panic!("one document:\n{text}") };
            assert_eq!(spec(back), job, "{text}");
        }
    }

    #[test]
    fn several_documents_and_lists_are_read_alike() {
        let yaml = "name: a\n---\nname: b\n---\n";
        let names = |text: &str| -> Vec<String> {
            let found = documents(text).expect("documents");
            found.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
        };
        assert_eq!(names(yaml), ["a", "b"]);
        assert_eq!(names(r#"[{"name": "a"}, {"name": "b"}]"#), ["a", "b"]);
        assert_eq!(names(r#"{"name": "a"}"#), ["a"]);
        for wrong in ["", "# nothing\n", "a: [", "{\"name\": "] {
            let fault = documents(wrong).expect_err(wrong);
            assert!(fault.is(Code::BadRequest), "{fault}");
        }
    }

    #[test]
    fn yaml_may_begin_with_a_brace() {
        let jobs = documents("{name: a}\n---\n{name: b}\n").expect("two jobs");
        assert_eq!((jobs[0]["name"].as_str(), jobs[1]["name"].as_str()), (Some("a"), Some("b")));
        assert!(documents("{name: ").is_err());
    }
}
