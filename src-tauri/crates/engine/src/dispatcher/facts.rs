//! What a run knows of itself, as it is filled into parameters. Pure.

use campanile_model::instance::Instance;
use campanile_model::job::JobSpec;
use campanile_model::schedule::Zone;
use campanile_model::task::Task;
use campanile_model::template;
use serde_json::{Map, Value};

use super::parts;
use crate::link::Upstream;

/// Its own parameters, where it was given some, else those of its job.
pub(super) fn parameters_of(instance: &Instance, spec: &JobSpec) -> Map<String, Value> {
    let own = instance.parameters.as_ref().and_then(|own| serde_json::from_str(own).ok());
    own.unwrap_or_else(|| spec.parameters.clone())
}

pub(crate) struct Known<'a> {
    task: &'a Task,
    instance: &'a Instance,
    id: String,
    spec: &'a JobSpec,
    executor: &'a str,
    zone: Option<&'a Zone>,
    upstream: Option<Value>,
}

pub(crate) fn facts<'a>(
    task: &'a Task,
    instance: &'a Instance,
    spec: &'a JobSpec,
    executor: &'a str,
    zone: Option<&'a Zone>,
    upstream: Option<&Upstream>,
) -> Known<'a> {
    let upstream = upstream.and_then(|upstream| serde_json::from_str(&upstream.result).ok());
    Known { task, instance, id: instance.id.to_string(), spec, executor, zone, upstream }
}

impl Known<'_> {
    pub(crate) fn as_facts(&self) -> template::Facts<'_> {
        template::Facts {
            planned: self.instance.planned,
            due: self.instance.due,
            zone: self.zone,
            attempt: self.task.attempt(),
            job: &self.spec.name,
            instance: &self.id,
            version: self.task.version,
            tenant: self.spec.tenant.as_deref(),
            executor: self.executor,
            shard: parts::place(self.task),
            upstream: self.upstream.as_ref(),
        }
    }
}
