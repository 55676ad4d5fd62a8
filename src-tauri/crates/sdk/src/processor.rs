//! What a processor is: a name, a description from which a form is made, and the
//! work itself.

use std::{collections::BTreeSet, future::Future, sync::Arc};

use async_trait::async_trait;
use campanile_proto::v1;
use serde_json::{Value, json};

use crate::{TaskContext, TaskError, sharding::Also};

/// Work of one kind, registered under a name.
///
/// One value serves many tasks at once. A panic fails the task in which it
/// happens, as a business failure, and nothing else.
#[async_trait]
pub trait Processor: Send + Sync + 'static {
    /// Unique within the executor group.
    fn name(&self) -> &str;

    /// What people see of it. The default has no parameters described.
    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name())
    }

    /// Does the work of one attempt. The result, at most 64 KiB as JSON, is kept
    /// and handed to the jobs that run after this one.
    ///
    /// The same task may come again as a later attempt, after a failure as well as
    /// after the loss of an executor that had done it: `ctx.idempotency_key()` is
    /// the same each time.
    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError>;

    /// Whether a run that waits is still worth doing. Asked only where
    /// [`ProcessorInfo::answers_still_needed`] is set; an error or no answer within
    /// two seconds counts as yes.
    async fn still_needed(&self, _question: Question) -> Result<bool, TaskError> {
        Ok(true)
    }
}

/// What [`Processor::still_needed`] is asked about.
#[derive(Clone, Debug)]
pub struct Question {
    pub parameters: Value,
    pub job: String,
    pub instance_id: String,
    pub planned_ms: i64,
    pub due_ms: i64,
}

/// What people see of a processor, in both languages.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorInfo {
    pub name: String,
    pub title_en: String,
    pub title_zh: String,
    pub description_en: String,
    pub description_zh: String,
    /// A JSON Schema of an object. The console makes a form of it: `title` and
    /// `title:zh`, `description` and `description:zh`, `default`, `x-order` (names
    /// in the order of the form), `format` one of command, multiline, duration,
    /// connection.
    pub parameter_schema: Value,
    /// What runs is stopped when the executor loses its lease, rather than going on.
    pub stop_without_lease: bool,
    /// [`Processor::still_needed`] is worth asking.
    pub answers_still_needed: bool,
    /// What a sharding processor has beside `sharding_process`.
    pub also: BTreeSet<Also>,
}

impl ProcessorInfo {
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        ProcessorInfo {
            title_en: name.clone(),
            title_zh: name.clone(),
            name,
            description_en: String::new(),
            description_zh: String::new(),
            parameter_schema: json!({ "type": "object" }),
            stop_without_lease: false,
            answers_still_needed: false,
            also: BTreeSet::new(),
        }
    }

    #[must_use]
    pub fn title(mut self, en: impl Into<String>, zh: impl Into<String>) -> Self {
        (self.title_en, self.title_zh) = (en.into(), zh.into());
        self
    }

    #[must_use]
    pub fn description(mut self, en: impl Into<String>, zh: impl Into<String>) -> Self {
        (self.description_en, self.description_zh) = (en.into(), zh.into());
        self
    }

    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.parameter_schema = schema;
        self
    }

    #[must_use]
    pub fn stop_without_lease(mut self) -> Self {
        self.stop_without_lease = true;
        self
    }

    #[must_use]
    pub fn answers_still_needed(mut self) -> Self {
        self.answers_still_needed = true;
        self
    }

    /// A method that a sharding processor has beside `sharding_process`; others are not called.
    #[must_use]
    pub fn also(mut self, method: Also) -> Self {
        self.also.insert(method);
        self
    }

    pub(crate) fn registered(&self, kind: v1::ProcessorKind, methods: &[v1::Method]) -> v1::Processor {
        v1::Processor {
            name: self.name.clone(),
            title_en: self.title_en.clone(),
            title_zh: self.title_zh.clone(),
            description_en: self.description_en.clone(),
            description_zh: self.description_zh.clone(),
            parameter_schema_json: self.parameter_schema.to_string(),
            kind: kind.into(),
            methods: methods.iter().map(|method| i32::from(*method)).collect(),
            stop_without_lease: self.stop_without_lease,
            answers_still_needed: self.answers_still_needed,
        }
    }
}

/// A processor out of a closure.
pub fn processor_fn<F, Work>(name: impl Into<String>, work: F) -> impl Processor
where
    F: Fn(TaskContext) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<Value, TaskError>> + Send + 'static,
{
    Closure { name: name.into(), work }
}

struct Closure<F> {
    name: String,
    work: F,
}

#[async_trait]
impl<F, Work> Processor for Closure<F>
where
    F: Fn(TaskContext) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<Value, TaskError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        (self.work)(ctx).await
    }
}

#[async_trait]
impl<P: Processor + ?Sized> Processor for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn describe(&self) -> ProcessorInfo {
        (**self).describe()
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        (**self).process(ctx).await
    }

    async fn still_needed(&self, question: Question) -> Result<bool, TaskError> {
        (**self).still_needed(question).await
    }
}
