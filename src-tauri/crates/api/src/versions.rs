//! What two versions of a job differ in, field by field, in words.

use campanile_model::job::JobSpec;
use campanile_model::schedule::Exception;
use campanile_model::{Almanac, Code, Fault, Timestamp, Words};
use serde_json::{Map, Value};

use crate::check::keeping_phase;
use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext, input};

impl Api {
    pub(crate) async fn compare_versions(
        &self,
        compare: CompareVersions,
        cx: &CallContext,
    ) -> Result<VersionDiff, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&compare.job).await?;
        let spec_of = async |version: u32| {
            let found = self.store().job_version(job.id, version).await?;
            let unknown = || Code::NothingToRestore.fault().with("job", &job.spec.name).with("version", version);
            found.map(|found| found.spec).ok_or_else(unknown)
        };
        let before = spec_of(compare.from).await.map_err(|fault: Fault| fault.at("from"))?;
        let (to, after) = match (&compare.spec, compare.to) {
            (Some(spec), _) => (None, keeping_phase(input::read_spec(spec)?, Some(&job))),
            (None, Some(to)) => (Some(to), spec_of(to).await.map_err(|fault: Fault| fault.at("to"))?),
            (None, None) => (Some(job.version), job.spec.clone()),
        };
        Ok(VersionDiff {
            job: job.id.to_string(),
            name: job.spec.name,
            from: compare.from,
            to,
            changes: differences(&before, &after, &self.almanac(), &told),
        })
    }
}

/// What a field is called, in the order in which people read a job.
const NAMES: &[(&str, &str, &str)] = &[
    ("name", "Name", "名称"),
    ("description", "Description", "说明"),
    ("schedule", "Schedule", "调度"),
    ("calendar", "Calendar", "日历"),
    ("onNonWorkday", "On a non-working day", "非工作日"),
    ("exceptions", "Single runs changed by hand", "单次更改"),
    ("effectiveFrom", "In force from", "生效时间"),
    ("effectiveUntil", "In force until", "失效时间"),
    ("blackouts", "Blackout windows", "禁止执行时段"),
    ("misfire.policy", "Missed runs", "错过的执行"),
    ("misfire.graceSeconds", "Late after (s)", "宽限（秒）"),
    ("misfire.max", "Most made good", "最多补跑"),
    ("overlap", "Overlap", "重叠"),
    ("supersede", "Supersede", "取代"),
    ("spreadSeconds", "Spread (s)", "分散（秒）"),
    ("mode", "Mode", "模式"),
    ("route", "Route", "路由"),
    ("executorGroup", "Executor group", "执行器组"),
    ("processor", "Processor", "Processor"),
    ("parameters", "Parameters", "参数"),
    ("priority", "Priority", "优先级"),
    ("tenant", "Tenant", "租户"),
    ("tags", "Tags", "标签"),
    ("owner", "Owner", "负责人"),
    ("timeoutSeconds", "Timeout (s)", "超时（秒）"),
    ("overrun", "When it overruns", "超时处理"),
    ("retry.retries", "Retries", "重试次数"),
    ("readyTimeoutSeconds", "Ready timeout (s)", "就绪超时（秒）"),
    ("pushTimeoutSeconds", "Push timeout (s)", "下发超时（秒）"),
];

/// Fields whose parts are compared one by one.
const IN_PARTS: [&str; 3] = ["misfire", "retry", "parameters"];

fn differences(before: &JobSpec, after: &JobSpec, almanac: &Almanac, told: &Told) -> Vec<FieldChange> {
    let (old, new) = (fields_of(before), fields_of(after));
    let mut fields: Vec<&String> = old.keys().chain(new.keys()).collect();
    fields.sort_unstable();
    fields.dedup();
    fields.retain(|field| old.get(*field) != new.get(*field));
    let place = |field: &str| {
        let known = NAMES.iter().position(|(of, ..)| *of == field || field.starts_with(&format!("{of}.")));
        known.unwrap_or(NAMES.len())
    };
    fields.sort_by_key(|field| (place(field), (*field).clone()));
    let told_of = |fields: &Map<String, Value>, spec: &JobSpec, field: &str| {
        fields.get(field).map(|value| value_words(field, value, spec, almanac, told))
    };
    fields
        .into_iter()
        .map(|field| FieldChange {
            field: field.clone(),
            name: field_name(field),
            before: told_of(&old, before, field),
            after: told_of(&new, after, field),
        })
        .collect()
}

/// A job's fields by their paths; what is null is not set.
fn fields_of(spec: &JobSpec) -> Map<String, Value> {
    let mut fields = Map::new();
    let Ok(Value::Object(document)) = serde_json::to_value(spec) else { return fields };
    for (name, value) in document {
        match value {
            Value::Null => {}
            Value::Object(parts) if IN_PARTS.contains(&name.as_str()) => {
                fields.extend(parts.into_iter().map(|(part, value)| (format!("{name}.{part}"), value)));
            }
            value => {
                fields.insert(name, value);
            }
        }
    }
    fields
}

fn field_name(field: &str) -> Words {
    if let Some((_, en, zh)) = NAMES.iter().find(|(of, ..)| *of == field) {
        return Words::new(*en, *zh);
    }
    let part = field.split_once('.').and_then(|(whole, part)| {
        let (_, en, zh) = NAMES.iter().find(|(of, ..)| *of == whole)?;
        Some(Words::new(format!("{en}: {part}"), format!("{zh}：{part}")))
    });
    part.unwrap_or_else(|| Words::new(field, field))
}

fn value_words(field: &str, value: &Value, spec: &JobSpec, almanac: &Almanac, told: &Told) -> Words {
    let same = |text: String| Words::new(text.clone(), text);
    match (field, value) {
        ("schedule", _) => spec.schedule.words(almanac),
        ("exceptions", _) => spec
            .exceptions
            .iter()
            .map(|exception| exception_words(exception, told))
            .reduce(|all, one| Words::new(format!("{}; {}", all.en, one.en), format!("{}；{}", all.zh, one.zh)))
            .unwrap_or_default(),
        ("effectiveFrom" | "effectiveUntil", Value::Number(at)) => {
            same(told.moment(Timestamp::from_millis(at.as_i64().unwrap_or_default())).text)
        }
        (_, Value::String(text)) => same(text.clone()),
        (_, Value::Bool(true)) => Words::new("yes", "是"),
        (_, Value::Bool(false)) => Words::new("no", "否"),
        (_, Value::Array(list)) if list.iter().all(Value::is_string) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            Words::new(texts.join(", "), texts.join("、"))
        }
        (_, other) => same(other.to_string()),
    }
}

/// One change made by hand, in a sentence.
pub(crate) fn exception_words(exception: &Exception, told: &Told) -> Words {
    let at = |at: Timestamp| told.moment(at).text;
    match *exception {
        Exception::Skip { planned } => Words::new(format!("{} skipped", at(planned)), format!("跳过 {}", at(planned))),
        Exception::MoveTo { planned, at: to } => {
            Words::new(format!("{} moved to {}", at(planned), at(to)), format!("{} 移到 {}", at(planned), at(to)))
        }
        Exception::Added { at: added } => Words::new(format!("{} added", at(added)), format!("增加 {}", at(added))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(changes: Value) -> JobSpec {
        let mut document = json!({
            "name": "report", "processor": "shell", "parameters": {"command": "report"},
            "schedule": {"kind": "cron", "expression": "0 9 * * *", "timeZone": "Asia/Shanghai"},
        });
        if let Value::Object(changes) = changes {
            for (key, value) in changes {
                document[key] = value;
            }
        }
        serde_json::from_value(document).expect("a job")
    }

    /// Field, before and after, in English.
    fn check(before: Value, after: Value, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let almanac = Almanac::bundled();
        let told = Told::new(almanac.zone("Asia/Shanghai").expect("a zone"));
        let found = differences(&spec(before), &spec(after), &almanac, &told);
        let en = |words: &Option<Words>| words.as_ref().map(|words| words.en.clone());
        let told: Vec<_> = found.iter().map(|one| (one.field.clone(), en(&one.before), en(&one.after))).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(field, before, after)| ((*field).to_owned(), before.map(str::to_owned), after.map(str::to_owned)))
            .collect();
        assert_eq!(told, expected);
        assert!(found.iter().all(|one| !one.name.zh.is_empty()));
    }

    #[test]
    fn what_differs_is_told_in_words_and_in_the_order_of_a_job() {
        check(json!({}), json!({}), &[]);
        check(
            json!({"tags": ["a"], "misfire": {"policy": "skip"}}),
            json!({
                "schedule": {"kind": "cron", "expression": "30 10 * * *", "timeZone": "Asia/Shanghai"},
                "tags": ["a", "b"], "owner": "lin", "parameters": {"command": "other"},
                "effectiveFrom": "2026-12-01T09:00:00+08:00",
                "exceptions": [{"change": "skip", "planned": "2026-12-02T10:30:00+08:00"}],
            }),
            &[
                ("schedule", Some("daily at 09:00 (Asia/Shanghai)"), Some("daily at 10:30 (Asia/Shanghai)")),
                ("exceptions", None, Some("2026-12-02 10:30:00 skipped")),
                ("effectiveFrom", None, Some("2026-12-01 09:00:00")),
                ("misfire.policy", Some("skip"), Some("fireOnce")),
                ("parameters.command", Some("report"), Some("other")),
                ("tags", Some("a"), Some("a, b")),
                ("owner", None, Some("lin")),
            ],
        );
    }
}
