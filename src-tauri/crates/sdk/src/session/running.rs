//! Processors at work: started when there is room, seen through to whatever end they come to.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, atomic::AtomicBool};
use std::time::Duration;

use campanile_proto::{
    MAX_RESULT_BYTES,
    v1::{self, report::What},
};
use futures::FutureExt;
use serde_json::Value;
use tokio::time::Instant;

use super::feed::Arriving;
use super::record::Phase;
use super::{Happening, Key, Outcome, Session};
use crate::executor::Work;
use crate::locks::Door;
use crate::outbox::{Outbox, cut};
use crate::secrets::{self, Mask};
use crate::sharding::NewData;
use crate::{CancelStage, Question, TaskContext, TaskError, context::Attempt, failure};

/// A failure's sentence is cut here.
const MAX_FAILURE_BYTES: usize = 8 * 1024;

const ANSWER_WITHIN: Duration = Duration::from_secs(2);

impl Session {
    pub(super) fn start_what_may(&mut self, now: Instant) {
        if self.lease_until.is_none_or(|end| end <= now) || self.leaving.is_some() {
            return;
        }
        let most = self.capacity.borrow().running as usize;
        while self.running < most {
            let may_start = |key: &Key| self.records.get(key).is_none_or(|record| record.feed.has_begun());
            let Some(key) = self.queue.iter().position(may_start).and_then(|place| self.queue.remove(place)) else {
                return;
            };
            self.start(&key);
        }
    }

    /// Where nothing can come to run, it ends at once.
    pub(super) fn start(&mut self, key: &Key) {
        let at_ms = (self.config.wall_clock)();
        let Some(record) = self.records.get_mut(key) else { return };
        let Phase::Queued(push) = std::mem::replace(&mut record.phase, Phase::Running) else { return };
        self.running += 1;
        record.report(at_ms, What::Started(v1::Started {}), &mut self.outgoing);

        let Some(hosted) = self.config.processors.get(&push.processor) else { return };
        let Some(work) = hosted.work(push.method()) else { return };
        let arriving = record.feed.take();
        let parameters = if push.parameters_json.is_empty() {
            Ok(Value::Object(serde_json::Map::new()))
        } else {
            serde_json::from_str::<Value>(&push.parameters_json)
        };
        let parameters = match parameters {
            Ok(parameters) => parameters,
            Err(error) => {
                let refused = failure::PARAMETERS_REFUSED.business().with("field", ".").with("problem", error);
                self.end(key, Outcome::Returned(Err(refused)));
                return;
            }
        };
        let filled = secrets::fill(parameters, &push.secrets, self.config.secret_key.as_ref());
        let (parameters, mask) = match filled {
            Ok(filled) => filled,
            Err(refused) => {
                self.end(key, Outcome::Returned(Err(refused)));
                return;
            }
        };
        record.outbox.mask(mask.clone());
        record.mask = mask;
        let outbox = record.outbox.clone();
        let (of_locks, about) = (self.happened.clone(), key.clone());
        // Fails only when the session is gone, and with it everything that was held.
        let locks = Door::new(move |wanted| drop(of_locks.send(Happening::Locks(about.clone(), wanted))));
        let ctx = TaskContext::new(Attempt {
            context: push.context.clone().unwrap_or_default(),
            parameters,
            outbox: record.outbox.clone(),
            ending: record.ending.clone(),
            boot_id: self.config.boot_id.clone(),
            executor: self.config.name.clone(),
            scratch: self.config.scratch.join(folder_name(key)),
            scratch_made: AtomicBool::new(false),
            wall_clock: self.config.wall_clock.clone(),
            locks,
            push: *push,
        });
        let key = key.clone();
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let outcome = see_through(work, ctx, arriving, outbox).await;
            // Fails only when the session is gone, and nobody is left to report to.
            let _ = happened.send(Happening::Ended(key, outcome));
        });
    }

    pub(super) fn end(&mut self, key: &Key, outcome: Outcome) {
        self.forget_locks(key);
        let at_ms = (self.config.wall_clock)();
        let Some(record) = self.records.get_mut(key) else { return };
        if record.is_running() {
            self.running -= 1;
        }
        record.phase = Phase::Ended;
        record.flush(at_ms, &mut self.outgoing);
        let cancelled = |message: &str| match &record.stopping {
            Some(stopping) => stopping.why.transient().into_outcome(),
            None if record.ending.stage() > CancelStage::None => TaskError::cancelled(message).into_outcome(),
            None => failure::CANCELLED_UNASKED.business().into_outcome(),
        };
        let unasked = record.stopping.is_none() && record.ending.stage() == CancelStage::None;
        let outcome = match outcome {
            // Whatever it made of what it had, it had not all of it.
            _ if record.feed.is_broken() && unasked => failure::DATA_INCOMPLETE.transient().into_outcome(),
            Outcome::Dropped => cancelled("dropped at KILL"),
            Outcome::Returned(Err(error)) if error.is_cancelled() => cancelled(error.message()),
            Outcome::Returned(Err(error)) => error.into_outcome(),
            Outcome::Panicked(detail) => failure::PANICKED.business().with("detail", detail).into_outcome(),
            Outcome::Returned(Ok(result)) => succeeded(&record.mask.value(result)),
        };
        let outcome = masked(outcome, &record.mask);
        let finished = v1::Finished { outcome: Some(bounded(outcome)) };
        record.report(at_ms, What::Finished(finished), &mut self.outgoing);
    }

    pub(super) fn ask_still_needed(&mut self, question: v1::StillNeeded) {
        let Some(hosted) = self.config.processors.get(&question.processor) else {
            self.outgoing.say(answer_yes(question.question_id, "no such processor here"));
            return;
        };
        let Some(processor) = hosted.whole.clone() else {
            self.outgoing.say(answer_yes(question.question_id, "it has no such method"));
            return;
        };
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let context = question.context.unwrap_or_default();
            let id = question.question_id;
            let answer = match serde_json::from_str(&question.parameters_json) {
                Err(error) => answer_yes(id, &error.to_string()),
                Ok(parameters) => {
                    let asked = processor.still_needed(Question {
                        parameters,
                        job: context.job,
                        instance_id: context.instance_id,
                        planned_ms: context.planned_ms,
                        due_ms: context.due_ms,
                    });
                    match tokio::time::timeout(ANSWER_WITHIN, AssertUnwindSafe(asked).catch_unwind()).await {
                        Ok(Ok(Ok(needed))) => v1::StillNeededAnswer { question_id: id, needed, message: String::new() },
                        Ok(Ok(Err(error))) => answer_yes(id, error.message()),
                        Ok(Err(_)) => answer_yes(id, "the processor panicked"),
                        Err(_) => answer_yes(id, "no answer in time"),
                    }
                }
            };
            // Fails only when the session is gone.
            let _ = happened.send(Happening::Answered(answer));
        });
    }
}

/// Runs a processor to its end, whatever end that is, and clears up behind it.
async fn see_through(work: Work, ctx: TaskContext, arriving: Option<Arriving>, outbox: Arc<Outbox>) -> Outcome {
    let behind = ctx.clone();
    let dropped = ctx.dropped();
    let work = AssertUnwindSafe(call(work, ctx, arriving, outbox)).catch_unwind();
    let outcome = tokio::select! {
        biased;
        returned = work => match returned {
            Ok(result) => Outcome::Returned(result),
            Err(panic) => Outcome::Panicked(
                panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "without a message".to_owned()),
            ),
        },
        () = dropped.cancelled() => Outcome::Dropped,
    };
    if let Some(scratch) = behind.scratch_to_remove()
        && let Err(error) = tokio::fs::remove_dir_all(scratch).await
    {
        behind.log(format!("the scratch folder could not be removed: {error}"));
    }
    outcome
}

/// The method that the push names.
async fn call(
    work: Work,
    ctx: TaskContext,
    arriving: Option<Arriving>,
    outbox: Arc<Outbox>,
) -> Result<Value, TaskError> {
    let processor = match work {
        Work::Whole(processor) => return processor.process(ctx).await,
        Work::Shards(processor) => processor,
    };
    let arriving = arriving.ok_or_else(|| failure::DATA_INCOMPLETE.transient())?;
    match ctx.method() {
        v1::Method::PreProcess => {
            let mut data = NewData::new(ctx.clone(), outbox);
            processor.pre_process(ctx, arriving.into_items(), &mut data).await?;
            data.finish().await.map(|()| Value::Null)
        }
        v1::Method::Notify => {
            let progress = ctx.notice();
            processor.notify(ctx, progress).await.map(|()| Value::Null)
        }
        v1::Method::PostProcess => processor.post_process(ctx, arriving.into_shard_ends()).await,
        v1::Method::ShardingProcess | v1::Method::Process | v1::Method::Unspecified => {
            let shard = ctx.own_shard();
            processor.sharding_process(ctx, shard, arriving.into_items()).await
        }
    }
}

fn succeeded(result: &Value) -> v1::finished::Outcome {
    let result_json = result.to_string();
    if result_json.len() > MAX_RESULT_BYTES {
        return failure::RESULT_TOO_LARGE
            .business()
            .with("bytes", result_json.len())
            .with("limit", MAX_RESULT_BYTES)
            .into_outcome();
    }
    v1::finished::Outcome::Succeeded(v1::Succeeded { result_json })
}

/// A failure says what was wrong with what, and so may say a secret.
fn masked(outcome: v1::finished::Outcome, mask: &Mask) -> v1::finished::Outcome {
    use v1::finished::Outcome;

    match outcome {
        Outcome::Failed(failure) => Outcome::Failed(v1::Failure {
            message_en: mask.text(&failure.message_en).into_owned(),
            message_zh: mask.text(&failure.message_zh).into_owned(),
            ..failure
        }),
        Outcome::Cancelled(cancelled) => {
            Outcome::Cancelled(v1::Cancelled { message: mask.text(&cancelled.message).into_owned() })
        }
        other => other,
    }
}

fn bounded(outcome: v1::finished::Outcome) -> v1::finished::Outcome {
    match outcome {
        v1::finished::Outcome::Failed(failure) => v1::finished::Outcome::Failed(v1::Failure {
            message_en: cut(&failure.message_en, MAX_FAILURE_BYTES),
            message_zh: cut(&failure.message_zh, MAX_FAILURE_BYTES),
            ..failure
        }),
        other => other,
    }
}

fn answer_yes(question_id: String, why: &str) -> v1::StillNeededAnswer {
    v1::StillNeededAnswer { question_id, needed: true, message: why.to_owned() }
}

/// A task id comes from outside; as the name of a folder it must stay in its place.
fn folder_name(key: &Key) -> String {
    let safe: String =
        key.0.chars().map(|char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' }).collect();
    format!("{safe}-{}", key.1)
}
