//! What becomes of a task, and of its instance, when something happened to it. Pure.
//!
//! Each function carries a step along the table of states and adds what follows from it: the next
//! attempt where the policy has one, the end of the instance where it has none, an incident for the
//! alerter where something went wrong.

use campanile_model::instance::{InstanceMove, InstanceState};
use campanile_model::retry::judged;
use campanile_model::task::{
    ExecutorRef, Illegal, Incident, IncidentKind, Part, Placement, Step, StopCause, StopStage, Task, TaskEvent,
    TaskState,
};
use campanile_model::{Code, Failure, FailureClass, Lane, LaneClock, Timestamp, Words};

/// A task that was lost this often before it had begun uses up retries like any other.
const LOST_UNSTARTED_FREE: u32 = 5;

pub fn due(task: Task, lanes: LaneClock, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    step.on(TaskEvent::Due, now, None)?;
    let task = step.task_mut();
    task.promote_at = lanes.promotion(task.lane, now);
    Ok(step)
}

/// It has waited long enough in its lane: one up, where its wait starts anew. None: there is none above.
pub fn promote(task: Task, lanes: LaneClock, now: Timestamp) -> Option<Step> {
    let (lane, above) = (task.lane, task.lane.above()?);
    let mut step = task.begin();
    let waited = lane.patience().map_or(0, |patience| patience.as_secs());
    let reason = Words::new(
        format!("waited {waited} s in lane {} and moved up to {}", lane.name(), above.name()),
        format!("在 {} 通道等待 {waited} 秒，上移到 {}", lane.name(), above.name()),
    );
    let attempt = step.task().attempt();
    step.remarks(attempt, now, reason);
    let task = step.task_mut();
    task.lane = above;
    task.lane_since = Some(now);
    task.promote_at = lanes.promotion(above, now);
    task.promotions += 1;
    Some(step)
}

/// Whoever it was meant for is gone for good: another place, or none.
pub fn place(task: Task, executor: Option<String>) -> Step {
    let mut step = task.begin();
    step.task_mut().needs.placed = executor.map(|executor| Placement { executor, firm: false });
    step
}

/// Its time to be worth doing has passed.
pub fn expire(task: Task, now: Timestamp) -> Result<Step, Illegal> {
    supersede(task, Words::new("it was not begun before it expired", "未能在有效期内开始"), now)
}

/// Whoever knows says that it is no longer worth doing.
pub fn not_needed(task: Task, said: &str, now: Timestamp) -> Result<Step, Illegal> {
    let reason = match said.trim() {
        "" => Words::new("it was asked, and is no longer needed", "经询问，已不再需要执行"),
        said => Words::new(
            format!("it was asked, and is no longer needed: {said}"),
            format!("经询问，已不再需要执行：{said}"),
        ),
    };
    supersede(task, reason, now)
}

fn supersede(task: Task, reason: Words, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    step.on(TaskEvent::Supersede, now, Some(reason))?;
    ends(&mut step, InstanceState::Superseded, now, None);
    Ok(step)
}

/// The instance ends with the task, unless it has others.
fn ends(step: &mut Step, to: InstanceState, now: Timestamp, result: Option<String>) -> bool {
    if let Some(Part::Shard { items, done, .. }) = step.task().part {
        // Nothing more will be said of its items: the shard's end is theirs.
        step.settles(Vec::new(), items.saturating_sub(done));
    }
    if step.task().limits.of_several {
        return false;
    }
    let instance = step.task().instance;
    step.moves_instance(InstanceMove { instance, to, at: now, result });
    true
}

pub fn push(task: Task, executor: ExecutorRef, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    step.on(TaskEvent::Push, now, None)?;
    let task = step.task_mut();
    task.deadline_at = Some(now.plus_millis(task.limits.push_timeout_ms));
    task.executor = Some(executor);
    task.failure = None;
    Ok(step)
}

pub fn start(step: &mut Step, now: Timestamp) -> Result<(), Illegal> {
    step.on(TaskEvent::Start, now, None)?;
    let task = step.task_mut();
    task.deadline_at = task.limits.run_timeout_ms.map(|timeout| now.plus_millis(timeout));
    // What was being taken back began all the same; it may go on.
    if task.stop.as_ref().is_some_and(|stop| stop.cause == StopCause::Withdrawn) {
        task.stop = None;
    }
    let instance = task.instance;
    step.moves_instance(InstanceMove { instance, to: InstanceState::Running, at: now, result: None });
    Ok(())
}

pub fn succeed(step: &mut Step, result: Option<String>, now: Timestamp) -> Result<(), Illegal> {
    step.on(TaskEvent::Succeed, now, None)?;
    let task = step.task_mut();
    task.result.clone_from(&result);
    task.stop = None;
    let job = task.job;
    if ends(step, InstanceState::Succeeded, now, result) {
        step.notes(incident(IncidentKind::InstanceSucceeded, job, step.task(), now));
    }
    Ok(())
}

/// The executor says that it did not work out.
pub fn fail(step: &mut Step, failure: Failure, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    match step.task().stop.as_ref().map(|stop| stop.cause) {
        Some(StopCause::Operator | StopCause::Replaced) => return cancel(step, now),
        Some(StopCause::Overran) => return time_out(step, now, jitter),
        Some(StopCause::Withdrawn) | None => {}
    }
    let class = judged(&failure, &step.task().limits.failure_rules);
    let failure = Failure { class, ..failure };
    step.on(TaskEvent::Fail, now, Some(failure.message.clone()))?;
    if failure.class == FailureClass::System {
        step.notes(incident_with(IncidentKind::SystemFailure, step.task(), now, Some(failure.clone())));
    }
    settle(step, failure, now, jitter)
}

/// Stopped at its timeout.
fn time_out(step: &mut Step, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    let seconds = step.task().limits.run_timeout_ms.unwrap_or(0) / 1000;
    let failure = failure_of(Code::TaskTimedOut, &[("seconds", &seconds.to_string())]);
    step.on(TaskEvent::Fail, now, Some(failure.message.clone()))?;
    settle(step, failure, now, jitter)
}

/// The executor says that it stopped it. Where nobody asked for that it is a failure.
pub fn cancelled(step: &mut Step, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    match step.task().stop.as_ref().map(|stop| stop.cause) {
        Some(StopCause::Overran) => time_out(step, now, jitter),
        Some(StopCause::Withdrawn) if step.task().state() == TaskState::Pushed => withdrawn(step, now, jitter),
        Some(StopCause::Operator | StopCause::Replaced) => cancel(step, now),
        Some(StopCause::Withdrawn) | None => {
            let message = Words::new("the executor stopped it by itself", "执行器自行停止了它");
            let failure =
                Failure { class: FailureClass::Transient, code: Code::TaskIllegal.as_str().to_owned(), message };
            step.on(TaskEvent::Fail, now, Some(failure.message.clone()))?;
            settle(step, failure, now, jitter)
        }
    }
}

/// Ends it, and its instance, for good.
pub fn cancel(step: &mut Step, now: Timestamp) -> Result<(), Illegal> {
    step.on(TaskEvent::Cancel, now, None)?;
    ends(step, InstanceState::Cancelled, now, None);
    Ok(())
}

/// The executor says that it did not begin it.
pub fn hand_back(step: &mut Step, reason: Words, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    match step.task().stop.as_ref().map(|stop| stop.cause) {
        Some(StopCause::Operator | StopCause::Replaced) => cancel(step, now),
        Some(StopCause::Withdrawn) => withdrawn(step, now, jitter),
        Some(StopCause::Overran) | None => step.on(TaskEvent::HandBack, now, Some(reason)),
    }
}

/// It was taken back before it began.
fn withdrawn(step: &mut Step, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    let task = step.task();
    let executor = task.executor.as_ref().map_or(String::new(), |executor| executor.name.clone());
    let seconds = (task.limits.push_timeout_ms / 1000).to_string();
    let failure = failure_of(Code::TaskPushTimeout, &[("executor", &executor), ("seconds", &seconds)]);
    step.on(TaskEvent::NeverStarted, now, Some(failure.message.clone()))?;
    step.notes(incident_with(IncidentKind::PushTimeout, step.task(), now, Some(failure.clone())));
    settle(step, failure, now, jitter)
}

/// Nobody was there to take it.
pub fn ready_timeout(task: Task, now: Timestamp, jitter: f64) -> Result<Step, Illegal> {
    let mut step = task.begin();
    let task = step.task();
    let seconds = (task.limits.ready_timeout_ms / 1000).to_string();
    let failure = failure_of(
        Code::TaskReadyTimeout,
        &[("group", &task.group), ("processor", &task.processor), ("seconds", &seconds)],
    );
    step.on(TaskEvent::NoExecutor, now, Some(failure.message.clone()))?;
    step.notes(incident_with(IncidentKind::ReadyTimeout, step.task(), now, Some(failure.clone())));
    settle(&mut step, failure, now, jitter)?;
    Ok(step)
}

/// Its executor is gone.
pub fn lose(task: Task, now: Timestamp, jitter: f64) -> Result<Step, Illegal> {
    let mut step = task.begin();
    vanish(&mut step, now, jitter)?;
    Ok(step)
}

/// Whoever had it has it no more, and cannot say what became of it.
pub fn vanish(step: &mut Step, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    let task = step.task();
    // A task whose stop was asked is never retried by itself.
    if task.stop.as_ref().is_some_and(|stop| matches!(stop.cause, StopCause::Operator | StopCause::Replaced)) {
        return cancel(step, now);
    }
    let unstarted = task.state() == TaskState::Pushed;
    let executor = task.executor.as_ref().map_or(String::new(), |executor| executor.name.clone());
    let failure = failure_of(Code::TaskExecutorLost, &[("executor", &executor)]);
    step.on(TaskEvent::Lose, now, Some(failure.message.clone()))?;
    step.notes(incident_with(IncidentKind::ExecutorLost, step.task(), now, Some(failure.clone())));
    if unstarted && step.task().lost_unstarted < LOST_UNSTARTED_FREE {
        step.task_mut().lost_unstarted += 1;
        let lane = step.task().lane;
        return again(step, lane, now, Some(failure));
    }
    settle(step, failure, now, jitter)
}

/// It still runs at its deadline. Where the policy says so it is stopped.
pub fn overrun(task: Task, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    step.on(TaskEvent::PassDeadline, now, None)?;
    step.notes(incident_with(IncidentKind::Overran, step.task(), now, None));
    if step.task().limits.kill_on_overrun && step.task().stop.is_none() {
        step.task_mut().stop = Some(campanile_model::task::Stop {
            cause: StopCause::Overran,
            stage: StopStage::Asked,
            asked_at: now,
            stage_at: now,
        });
    }
    Ok(step)
}

/// An operator gives a task that ended badly its next attempt; its instance runs again.
pub fn run_again(task: Task, by: &str, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    let reason = Words::new(format!("asked for by {by}"), format!("由 {by} 要求"));
    step.on(TaskEvent::RunAgain, now, Some(reason))?;
    let task = step.task_mut();
    task.due_at = now;
    task.retries_used = 0;
    task.failure = None;
    let instance = task.instance;
    step.moves_instance(InstanceMove { instance, to: InstanceState::Running, at: now, result: None });
    Ok(step)
}

/// A shard, or `pre_process`, of a run that goes into another round.
pub fn another_round(task: Task, round: u32, now: Timestamp) -> Result<Step, Illegal> {
    let mut step = task.begin();
    let reason = Words::new(format!("round {round}"), format!("第 {round} 轮"));
    step.on(TaskEvent::RunAgain, now, Some(reason))?;
    let task = step.task_mut();
    task.due_at = now;
    task.retries_used = 0;
    task.failure = None;
    if let Some(Part::Shard { round: of, .. }) = &mut task.part {
        *of = round;
    }
    Ok(step)
}

/// The next attempt, or the end.
fn settle(step: &mut Step, failure: Failure, now: Timestamp, jitter: f64) -> Result<(), Illegal> {
    let task = step.task();
    let used = task.retries_used;
    match task.limits.retry.next_lane(used, failure.class) {
        Some(lane) => {
            let due = now + task.limits.retry.delay(used, jitter);
            step.task_mut().retries_used += 1;
            again(step, lane, due, Some(failure))
        }
        None => {
            step.task_mut().failure = Some(failure.clone());
            step.task_mut().stop = None;
            if ends(step, InstanceState::Failed, now, None) {
                step.notes(incident_with(IncidentKind::InstanceFailed, step.task(), now, Some(failure)));
            }
            Ok(())
        }
    }
}

fn again(step: &mut Step, lane: Lane, due: Timestamp, failure: Option<Failure>) -> Result<(), Illegal> {
    let at = step.task().finished_at.unwrap_or(due);
    step.on(TaskEvent::Retry, at, None)?;
    let task = step.task_mut();
    task.lane = lane;
    task.due_at = due;
    task.failure = failure;
    Ok(())
}

fn failure_of(code: Code, parameters: &[(&str, &str)]) -> Failure {
    let fault = parameters.iter().fold(code.fault(), |fault, (name, value)| fault.with(name, value));
    Failure { class: FailureClass::Transient, code: fault.code, message: fault.message }
}

fn incident(kind: IncidentKind, job: campanile_model::JobId, task: &Task, now: Timestamp) -> Incident {
    Incident {
        seq: 0,
        at: now,
        kind,
        job,
        instance: Some(task.instance),
        task: Some(task.id),
        executor: task.executor.as_ref().map(|executor| executor.name.clone()),
        failure: None,
    }
}

fn incident_with(kind: IncidentKind, task: &Task, now: Timestamp, failure: Option<Failure>) -> Incident {
    Incident { failure, ..incident(kind, task.job, task, now) }
}
