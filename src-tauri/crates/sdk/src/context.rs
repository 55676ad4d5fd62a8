//! What a processor is given for one attempt, and how it speaks while it works.

use std::{
    future::pending,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use campanile_proto::v1;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    TaskError,
    failure::PARAMETERS_REFUSED,
    locks::{Door, LockRequest},
    log::{Line, Stream},
    outbox::Outbox,
    sharding::{Notice, Shard},
};

/// How far the node has gone to end this attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CancelStage {
    /// Nobody has asked.
    None,
    /// End in your own way.
    Ask,
    /// TERM to whatever was started.
    Terminate,
    /// KILL to whatever was started. A processor that is not [`Undroppable`] is
    /// dropped at its next await.
    Kill,
}

/// One attempt at one task. Clones are the same attempt.
#[derive(Clone)]
pub struct TaskContext(Arc<Attempt>);

pub(crate) struct Attempt {
    pub push: v1::Push,
    pub context: v1::Context,
    pub parameters: Value,
    pub outbox: Arc<Outbox>,
    pub ending: Arc<Ending>,
    pub boot_id: String,
    pub executor: String,
    pub scratch: PathBuf,
    pub scratch_made: AtomicBool,
    pub wall_clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub locks: Arc<Door>,
}

/// What stands between an attempt and its end: how far the asking has gone, and
/// whether it may be dropped.
#[derive(Debug)]
pub(crate) struct Ending {
    stage: watch::Sender<CancelStage>,
    holds: AtomicUsize,
    pub dropped: CancellationToken,
}

impl Ending {
    pub fn new() -> Self {
        Ending {
            stage: watch::Sender::new(CancelStage::None),
            holds: AtomicUsize::new(0),
            dropped: CancellationToken::new(),
        }
    }

    pub fn stage(&self) -> CancelStage {
        *self.stage.borrow()
    }

    /// Goes on to `stage`, never back. True when that was news.
    pub fn reach(&self, stage: CancelStage) -> bool {
        let news = self.stage.send_if_modified(|reached| {
            let further = stage > *reached;
            *reached = stage.max(*reached);
            further
        });
        self.drop_if_due();
        news
    }

    fn drop_if_due(&self) {
        if self.stage() == CancelStage::Kill && self.holds.load(Ordering::SeqCst) == 0 {
            self.dropped.cancel();
        }
    }
}

/// While this lives, the KILL of a cancellation does not drop the processor:
/// whoever holds it has started something that outlives a future (a process) and
/// undertakes to end it and to return.
#[derive(Debug)]
pub struct Undroppable(Arc<Ending>);

impl Drop for Undroppable {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::SeqCst);
        self.0.drop_if_due();
    }
}

impl TaskContext {
    pub(crate) fn new(attempt: Attempt) -> Self {
        TaskContext(Arc::new(attempt))
    }

    pub fn task_id(&self) -> &str {
        self.0.push.attempt.as_ref().map_or("", |attempt| &attempt.task_id)
    }

    /// Counts from 1.
    pub fn attempt(&self) -> u32 {
        self.0.push.attempt.as_ref().map_or(0, |attempt| attempt.attempt)
    }

    /// The same for each attempt of the task: what the processor writes elsewhere
    /// can be made to happen once by it.
    pub fn idempotency_key(&self) -> &str {
        &self.0.push.idempotency_key
    }

    pub fn processor(&self) -> &str {
        &self.0.push.processor
    }

    /// The name of the job.
    pub fn job(&self) -> &str {
        &self.0.context.job
    }

    pub fn job_version(&self) -> u32 {
        self.0.context.job_version
    }

    pub fn instance_id(&self) -> &str {
        &self.0.context.instance_id
    }

    /// schedule, added, manual, api, backfill or after.
    pub fn origin(&self) -> &str {
        &self.0.context.origin
    }

    /// The time that the schedule names, in milliseconds since 1970 UTC.
    pub fn planned_ms(&self) -> i64 {
        self.0.context.planned_ms
    }

    /// When it was to run, after rolls, moves and spread.
    pub fn due_ms(&self) -> i64 {
        self.0.context.due_ms
    }

    /// When its time to run is over. The node watches it; a processor may look.
    pub fn deadline_ms(&self) -> Option<i64> {
        self.0.context.deadline_ms
    }

    pub fn tenant(&self) -> &str {
        &self.0.context.tenant
    }

    /// What the jobs before this one gave, for `after` jobs.
    pub fn upstream(&self) -> &[v1::Upstream] {
        &self.0.context.upstream
    }

    pub(crate) fn method(&self) -> v1::Method {
        self.0.push.method()
    }

    pub(crate) fn own_shard(&self) -> Shard {
        let shard = self.0.push.shard.unwrap_or_default();
        Shard {
            level: shard.level,
            level_count: shard.level_count,
            index: shard.index.unwrap_or(0),
            count: shard.count,
            round: shard.round,
            item_count: shard.item_count,
        }
    }

    pub(crate) fn notice(&self) -> Notice {
        let notice = self.0.push.notice.unwrap_or_default();
        Notice { items_done: notice.items_done, items_total: notice.items_total, percent: notice.percent }
    }

    pub fn shard(&self) -> Option<&v1::Shard> {
        self.0.push.shard.as_ref()
    }

    /// Of the executor's process: another one after each start.
    pub fn boot_id(&self) -> &str {
        &self.0.boot_id
    }

    /// The name of the executor.
    pub fn executor(&self) -> &str {
        &self.0.executor
    }

    /// A JSON object; its templates are filled in.
    pub fn parameters(&self) -> &Value {
        &self.0.parameters
    }

    /// The parameters as a type. What does not fit is a business failure that
    /// names the field.
    pub fn parameters_as<T: DeserializeOwned>(&self) -> Result<T, TaskError> {
        serde_path_to_error::deserialize(&self.0.parameters).map_err(|error| {
            let (field, en, zh) = explain(&error.path().to_string(), &error.inner().to_string());
            PARAMETERS_REFUSED.business().with("field", field).with_words("problem", &en, &zh)
        })
    }

    /// Writes lines to the task's log. Never waits: a log that is far ahead of the
    /// link loses lines, and says how many.
    pub fn log(&self, text: impl AsRef<str>) {
        for line in text.as_ref().lines() {
            self.line(Stream::Log, Line::from_bytes(line.as_bytes()));
        }
    }

    /// As [`TaskContext::log`], for one line from anywhere.
    pub fn line(&self, stream: Stream, line: Line) {
        self.0.outbox.line(self.stamped(stream, line));
    }

    /// As [`TaskContext::line`], but waits while the link is behind. For what can
    /// be held back, such as the output of a program.
    pub async fn line_when_room(&self, stream: Stream, line: Line) {
        self.0.outbox.line_when_room(self.stamped(stream, line)).await;
    }

    fn stamped(&self, stream: Stream, line: Line) -> v1::LogLine {
        v1::LogLine {
            at_ms: (self.0.wall_clock)(),
            stream: v1::LogStream::from(stream).into(),
            text: line.text,
            cut_bytes: line.cut_bytes,
        }
    }

    /// How far it is, 0 to 100, and what it is at. Only the latest is kept.
    pub fn progress(&self, percent: impl Into<Option<f64>>, message: impl AsRef<str>) {
        let percent = percent.into().filter(|percent| percent.is_finite()).map(|percent| percent.clamp(0.0, 100.0));
        self.0.outbox.progress(percent, message.as_ref());
    }

    /// The outcome of one item of a shard, by its place in the level. An item that
    /// was reported is not handed out again with the next attempt.
    pub fn item(&self, index: u64, outcome: Result<(), ()>, message: impl AsRef<str>) {
        self.0.outbox.item(index, outcome.is_ok(), message.as_ref());
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel_stage() >= CancelStage::Ask
    }

    /// Returns once someone asked for the end of this attempt; at once if so
    /// already.
    pub async fn cancelled(&self) {
        self.cancel_reaches(CancelStage::Ask).await;
    }

    pub fn cancel_stage(&self) -> CancelStage {
        self.0.ending.stage()
    }

    /// Returns once the cancellation has gone as far as `stage`.
    pub async fn cancel_reaches(&self, stage: CancelStage) {
        let mut reached = self.0.ending.stage.subscribe();
        if reached.wait_for(|reached| *reached >= stage).await.is_err() {
            pending::<()>().await;
        }
    }

    /// Keeps the KILL of a cancellation from dropping the processor.
    #[must_use]
    pub fn undroppable(&self) -> Undroppable {
        self.0.ending.holds.fetch_add(1, Ordering::SeqCst);
        Undroppable(self.0.ending.clone())
    }

    /// A folder for this attempt alone, made on the first call and removed when the
    /// attempt is over.
    pub fn scratch(&self) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(&self.0.scratch)?;
        self.0.scratch_made.store(true, Ordering::SeqCst);
        Ok(self.0.scratch.clone())
    }

    /// Takes a lock that one task at a time may hold, among all executors of the node's team, waiting for it if need be:
    ///
    /// ```no_run
    /// # async fn run(ctx: campanile_sdk::TaskContext) -> Result<(), campanile_sdk::TaskError> {
    /// let guard = ctx.lock("accounts/17").wait(std::time::Duration::from_secs(5)).await?;
    /// // ... `guard.token()` is greater than that of every holder before ...
    /// guard.release().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A task may take a lock that it holds once more. A lock that is lost cancels the task.
    pub fn lock(&self, name: impl Into<String>) -> LockRequest {
        LockRequest::new(self.0.locks.clone(), vec![name.into()])
    }

    /// Takes all of them or none. They are taken in the order of their names, whatever order they are named in, so that
    /// two tasks that want the same ones do not wait for each other.
    pub fn locks<Name: Into<String>>(&self, names: impl IntoIterator<Item = Name>) -> LockRequest {
        LockRequest::new(self.0.locks.clone(), names.into_iter().map(Into::into).collect())
    }

    pub(crate) fn dropped(&self) -> CancellationToken {
        self.0.ending.dropped.clone()
    }

    pub(crate) fn scratch_to_remove(&self) -> Option<&Path> {
        self.0.scratch_made.load(Ordering::SeqCst).then_some(self.0.scratch.as_path())
    }
}

impl std::fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "task {} attempt {} of {}", self.task_id(), self.attempt(), self.job())
    }
}

/// The field that is wrong, and what is wrong with it in both languages. serde
/// names a missing or an unknown field in its message, any other by its path.
fn explain(path: &str, message: &str) -> (String, String, String) {
    let named = |rest: &str| rest.split('`').next().unwrap_or_default().to_owned();
    let inside = |field: String| match path.strip_suffix(&format!(".{field}")).unwrap_or(path) {
        "." | "" => field,
        parent if parent == field => field,
        parent => format!("{parent}.{field}"),
    };
    if let Some(rest) = message.strip_prefix("missing field `") {
        return (inside(named(rest)), "it is required".into(), "此项必填".into());
    }
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let known = rest.split_once(", expected ").map_or("", |(_, known)| known);
        return (
            inside(named(rest)),
            format!("there is no such parameter (known: {known})"),
            format!("没有这个参数（可用：{known}）"),
        );
    }
    (path.to_owned(), message.to_owned(), message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRun;
    use serde_json::json;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Parameters {
        url: String,
        retry: Option<Retry>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Retry {
        times: u32,
    }

    fn refused(parameters: Value) -> String {
        let run = TestRun::new(parameters);
        run.context().parameters_as::<Parameters>().unwrap_err().message().to_owned()
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        assert_eq!(refused(json!({})), "parameter url is not right: it is required");
        assert_eq!(
            refused(json!({"url": 3})),
            "parameter url is not right: invalid type: integer `3`, expected a string"
        );
        assert_eq!(
            refused(json!({"url": "u", "uri": "u"})),
            "parameter uri is not right: there is no such parameter (known: `url` or `retry`)"
        );
        assert_eq!(
            refused(json!({"url": "u", "retry": {"times": "3"}})),
            "parameter retry.times is not right: invalid type: string \"3\", expected u32"
        );
        assert_eq!(refused(json!({"url": "u", "retry": {}})), "parameter retry.times is not right: it is required");
        assert_eq!(
            refused(json!({"url": "u", "retry": {"times": 1, "pause": 2}})),
            "parameter retry.pause is not right: there is no such parameter (known: `times`)"
        );
    }

    #[test]
    fn a_stage_is_never_taken_back_and_a_hold_keeps_the_kill_off() {
        let ending = Arc::new(Ending::new());
        assert!(ending.reach(CancelStage::Terminate));
        assert!(!ending.reach(CancelStage::Ask));
        ending.holds.fetch_add(1, Ordering::SeqCst);
        let hold = Undroppable(ending.clone());
        assert!(ending.reach(CancelStage::Kill));
        assert!(!ending.dropped.is_cancelled());
        drop(hold);
        assert!(ending.dropped.is_cancelled());
    }
}
