//! What was sent, as values: each wrong field is named, in both languages.

use campanile_model::job::JobSpec;
use campanile_model::job_check::schedule_fault;
use campanile_model::schedule::Schedule;
use campanile_model::{Code, Fault, Words};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads the input of an operation.
pub(crate) fn read<T: DeserializeOwned>(input: Value) -> Result<T, Fault> {
    // No input is the empty one.
    let input = if input.is_null() { Value::Object(serde_json::Map::new()) } else { input };
    match serde_path_to_error::deserialize(&input) {
        Ok(value) => Ok(value),
        Err(error) => {
            let path = error.path().to_string();
            if let Some(fault) = schedule_refusal(&input, &path) {
                return Err(fault);
            }
            let words = words(&error.into_inner().to_string());
            Err(match path.as_str() {
                "." | "" => Code::BadRequest.fault().with_words("reason", &words),
                field => {
                    let reason = Words::new(format!("{field}: {}", words.en), format!("{field}：{}", words.zh));
                    Code::BadRequest.fault().with_words("reason", &reason).at(field)
                }
            })
        }
    }
}

/// Reads a job as a person wrote it. Fields are named as they stand in it.
pub(crate) fn read_spec(spec: &Value) -> Result<JobSpec, Fault> {
    if !spec.is_object() {
        let reason = Words::new("a job is a set of fields", "任务应由若干字段组成");
        return Err(Code::BadRequest.fault().with_words("reason", &reason).at("spec"));
    }
    serde_path_to_error::deserialize(spec).map_err(|error| {
        let path = error.path().to_string();
        if let Some(fault) = schedule_refusal(spec, &path) {
            return fault;
        }
        let raw = error.into_inner().to_string();
        let field = match (path.as_str(), quoted(&raw)) {
            ("." | "", Some(name)) if raw.starts_with("missing field") || raw.starts_with("unknown field") => name,
            (path, Some(name)) if raw.starts_with("missing field") => format!("{path}.{name}"),
            (path, _) => path.to_owned(),
        };
        Code::JobInvalid.fault().with("field", &field).with_words("reason", &words(&raw)).at(field)
    })
}

/// A schedule says better than its deserializer what is wrong with it, and where.
fn schedule_refusal(input: &Value, path: &str) -> Option<Fault> {
    let at = path.strip_suffix("schedule").filter(|before| before.is_empty() || before.ends_with('.'))?;
    let mut value = input;
    for part in path.split('.') {
        value = value.get(part)?;
    }
    let error = Schedule::from_document(value).err()?;
    let fault = schedule_fault(&error);
    // What is about a job is named as in the job, wherever in the request that stands.
    let field = fault.field.clone().filter(|_| at.is_empty() || at == "spec.")?;
    Some(fault.at(field))
}

/// What serde says, said to a person.
fn words(raw: &str) -> Words {
    let en = raw.to_owned();
    let name = quoted(raw).unwrap_or_default();
    let zh = if raw.starts_with("missing field") {
        format!("缺少字段 {name}")
    } else if raw.starts_with("unknown field") {
        match raw.split_once("expected") {
            Some((_, known)) => format!("没有字段 {name}，可用的有{}", known.trim_start_matches(" one of")),
            None => format!("没有字段 {name}"),
        }
    } else if raw.starts_with("unknown variant") {
        match raw.split_once("expected") {
            Some((_, known)) => format!("不认识 {name}，可用的有{}", known.trim_start_matches(" one of")),
            None => format!("不认识 {name}"),
        }
    } else if let Some(rest) = raw.strip_prefix("invalid type: ").or_else(|| raw.strip_prefix("invalid value: ")) {
        match rest.split_once(", expected ") {
            Some((found, expected)) => format!("{found} 不符合要求，应为 {expected}"),
            None => format!("{rest} 不符合要求"),
        }
    } else {
        format!("无法读取（{raw}）")
    };
    Words::new(en, zh)
}

fn quoted(raw: &str) -> Option<String> {
    raw.split('`').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::views::{ListJobs, OfJob};

    #[test]
    fn what_is_wrong_with_an_input_is_said_with_its_field() {
        let fault = read::<OfJob>(json!({})).expect_err("the job is missing");
        assert!(fault.is(Code::BadRequest), "{fault}");
        assert_eq!(fault.message.en, "the request is not valid: missing field `job`");
        assert_eq!(fault.message.zh, "请求无效：缺少字段 job");

        let fault = read::<ListJobs>(json!({"limit": "ten"})).expect_err("not a number");
        assert_eq!(fault.field.as_deref(), Some("limit"));
        assert!(read::<ListJobs>(Value::Null).is_ok(), "what has only defaults may be left out");
    }

    #[test]
    fn a_schedule_keeps_its_own_words_wherever_it_stands() {
        let fault = read_spec(&json!({"name": "a", "processor": "shell", "schedule": {"kind": "cron"}}))
            .expect_err("no expression");
        assert!(fault.is(Code::ScheduleInvalid), "{fault}");
        assert_eq!(fault.field.as_deref(), Some("schedule.expression"));

        let fault = read_spec(&json!({"name": "a", "processor": "shell", "schedule": {"kind": "yearly"}}))
            .expect_err("no such kind");
        assert_eq!(fault.field.as_deref(), Some("schedule.kind"));
    }

    #[test]
    fn what_is_wrong_with_a_job_stands_beside_the_field_of_the_job() {
        let table = [
            (json!({"name": "a", "schedule": {"kind": "manual"}}), "processor"),
            (json!({"name": "a", "processor": "p", "schedule": {"kind": "manual"}, "pirority": "high"}), "pirority"),
            (json!({"name": "a", "processor": "p", "schedule": {"kind": "manual"}, "priority": "huge"}), "priority"),
            (
                json!({"name": "a", "processor": "p", "schedule": {"kind": "manual"}, "retry": {"retries": -1}}),
                "retry.retries",
            ),
            (
                json!({"name": "a", "processor": "p", "schedule": {"kind": "manual"}, "misfire": {"policy": "never"}}),
                "misfire.policy",
            ),
        ];
        for (spec, field) in table {
            let fault = read_spec(&spec).expect_err("something is wrong");
            assert_eq!(fault.field.as_deref(), Some(field), "{fault}");
            assert!(!fault.message.zh.is_ascii() && !fault.message.zh.contains('{'), "{fault:?}");
        }
    }
}
