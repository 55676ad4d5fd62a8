//! A run beside the last one of its job that went well: what is different.

use std::collections::BTreeSet;

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::job::JobSpec;
use campanile_model::task::Task;
use campanile_model::{Code, Fault, InstanceId, Words};
use campanile_store::InstanceFilter;
use serde_json::{Map, Value};

use crate::runs::instance_row;
use crate::views::*;
use crate::why::span_en;
use crate::{Api, CallContext};

/// Runs that went well are looked for among so many.
const LOOKED_THROUGH: usize = 50;

/// A value that is longer is cut.
const LONGEST: usize = 300;

struct Side {
    instance: Instance,
    spec: JobSpec,
    tasks: Vec<Task>,
}

impl Api {
    pub(crate) async fn compare_run(&self, of: OfInstance, cx: &CallContext) -> Result<ComparisonView, Fault> {
        let told = self.told(cx)?;
        let not_found = || Code::InstanceNotFound.fault().with("instance", &of.instance).at("instance");
        let id: InstanceId = of.instance.parse().map_err(|_| not_found())?;
        let now = self.archive.instance_summary(id).await?.ok_or_else(not_found)?.instance;
        let filter =
            InstanceFilter { job: Some(now.job), states: vec![InstanceState::Succeeded], ..InstanceFilter::default() };
        let good = self.archive.instance_page(&filter, None, LOOKED_THROUGH).await?.rows;
        let good = good.into_iter().find(|summary| {
            summary.instance.id != id && (summary.instance.created, summary.instance.id) < (now.created, id)
        });
        let Some(summary) = good else { return Ok(ComparisonView { good: None, differences: Vec::new() }) };
        let then = self.side(summary.instance.clone()).await?;
        let now = self.side(now).await?;
        Ok(ComparisonView { good: Some(instance_row(summary, &told, cx)), differences: differences(&then, &now) })
    }

    async fn side(&self, instance: Instance) -> Result<Side, Fault> {
        let spec = self.version_of(&instance).await?.spec;
        let tasks = self.store().tasks_after(instance.id, None, crate::runs::MOST_TASKS).await?;
        Ok(Side { instance, spec, tasks })
    }
}

fn differences(then: &Side, now: &Side) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut put = |en: &str, zh: &str, of: &dyn Fn(&Side) -> String| {
        let (then, now) = (of(then), of(now));
        all.push(Difference { what: Words::new(en, zh), same: then == now, good: then, here: now });
    };
    put("version of the job", "任务版本", &|side| side.instance.version.to_string());
    put("processor", "Processor", &|side| format!("{}/{}", side.spec.executor_group, side.spec.processor));
    put("executor", "执行器", &|side| {
        let names: BTreeSet<&str> =
            side.tasks.iter().filter_map(|task| task.executor.as_ref()).map(|one| one.name.as_str()).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    });
    put("attempts", "尝试次数", &|side| {
        side.tasks.iter().map(Task::attempt).max().map(|attempt| attempt.to_string()).unwrap_or_default()
    });
    all.push(time("started after due", "晚于应触发时间", then, now, &|instance| {
        Some(instance.started_at?.millis() - instance.due.millis())
    }));
    all.push(time("ran for", "运行时长", then, now, &|instance| {
        Some(instance.finished_at?.millis() - instance.started_at?.millis())
    }));
    fields(&mut all, "parameter", "参数", &parameters(then), &parameters(now));
    let result = |side: &Side| -> Value {
        side.instance.result.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
    };
    match (result(then), result(now)) {
        (Value::Object(then), Value::Object(now)) => fields(&mut all, "result", "结果", &then, &now),
        (then, now) => {
            let (then, now) = (told(&then), told(&now));
            all.push(Difference { what: Words::new("result", "结果"), same: then == now, good: then, here: now });
        }
    }
    all
}

/// Spans are never the same to the millisecond: half as long again is.
fn time(en: &str, zh: &str, then: &Side, now: &Side, of: &dyn Fn(&Instance) -> Option<i64>) -> Difference {
    let (before, after) = (of(&then.instance), of(&now.instance));
    let text = |ms: Option<i64>| ms.map(|ms| span_en(ms.max(0))).unwrap_or_default();
    let alike = match (before, after) {
        (Some(before), Some(after)) => {
            let (short, long) = (before.min(after).max(0), before.max(after).max(0));
            long - short < 100 || long * 2 <= short * 3
        }
        (before, after) => before == after,
    };
    Difference { what: Words::new(en, zh), good: text(before), here: text(after), same: alike }
}

fn parameters(side: &Side) -> Map<String, Value> {
    let own = side.instance.parameters.as_deref().and_then(|text| serde_json::from_str(text).ok());
    own.unwrap_or_else(|| side.spec.parameters.clone())
}

fn fields(all: &mut Vec<Difference>, en: &str, zh: &str, then: &Map<String, Value>, now: &Map<String, Value>) {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    for name in names {
        let (before, after) = (then.get(name), now.get(name));
        let text = |value: Option<&Value>| value.map(told).unwrap_or_default();
        all.push(Difference {
            what: Words::new(format!("{en} {name}"), format!("{zh} {name}")),
            good: text(before),
            here: text(after),
            same: before == after,
        });
    }
}

fn told(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text,
    }
}
