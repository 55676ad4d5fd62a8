//! What a run waits for now, and the rule that ends the wait: nothing is silently stuck. Pure.

use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::task::{StopCause, StopStage, Task, TaskState};
use campanile_model::{Code, Timestamp, Words};

use super::compose::{Between, Facts, Tell, lane_words};
use crate::views::WaitingView;

/// What it waits for now, and the rule that ends the wait.
pub(super) fn waiting(facts: &Facts<'_>, tell: Tell<'_>) -> Option<WaitingView> {
    let instance = facts.instance;
    if instance.state.is_final() {
        return None;
    }
    let wait = |since: Timestamp, words: Words, ends: Words, ends_at: Option<Timestamp>| WaitingView {
        since: tell(since),
        words,
        ends,
        ends_at: ends_at.map(tell),
    };
    if facts.standing.leaderless {
        let words = Code::NotLeading.fault().message;
        let ends = Words::new(
            "it goes on as soon as a program drives the engine: the desktop app, or `campanile serve`",
            "一旦有程序驱动引擎（桌面应用或 `campanile serve`）即继续",
        );
        return Some(wait(instance.created, words, ends, None));
    }
    if let Some(between) = &facts.standing.between
        && facts.tasks.iter().all(|(task, _)| task.state().is_final())
    {
        let (words, ends, ends_at) = between_tasks(between);
        return Some(wait(between.since, words, ends, ends_at.filter(|at| *at > facts.now)));
    }
    // The one that is furthest behind is what the run waits for.
    let Some((task, _)) =
        facts.tasks.iter().filter(|(task, _)| !task.state().is_final()).min_by_key(|(task, _)| task.state().code())
    else {
        if !facts.tasks.is_empty() {
            return None;
        }
        return Some(unassigned(facts, tell));
    };
    Some(match task.state() {
        TaskState::Waiting => {
            let words = match task.attempt() {
                1 => Words::new("its time has not come", "尚未到时间"),
                attempt => Words::new(
                    format!("attempt {attempt} comes after a pause, by the retry policy"),
                    format!("按重试策略，第 {attempt} 次尝试在间隔后进行"),
                ),
            };
            let ends = Words::new("it becomes ready at that time", "到时即就绪");
            let since = task.finished_at.or(instance.assigned_at).unwrap_or(instance.created);
            wait(since, words, ends, Some(task.due_at))
        }
        TaskState::Ready => ready(facts, task, tell),
        TaskState::Pushed => {
            let name = task.executor.as_ref().map_or("?", |executor| executor.name.as_str());
            let words = Words::new(
                format!("waits in the queue of executor {name} for a free place"),
                format!("在执行器 {name} 的队列中等待空位"),
            );
            let seconds = task.limits.push_timeout_ms / 1000;
            let ends = Words::new(
                format!(
                    "it starts when a place is free; not started within {seconds} s of a free one, it is taken back (402)"
                ),
                format!("有空位即开始；有空位 {seconds} 秒仍未开始则收回（402）"),
            );
            wait(task.pushed_at.unwrap_or(instance.created), words, ends, None)
        }
        _ => running(task, &wait),
    })
}

/// Of a run that is cut into shards.
pub(crate) fn between_tasks(between: &Between) -> (Words, Words, Option<Timestamp>) {
    if between.loading {
        let words = Words::new("takes in the data that was staged for it", "正在载入为其准备的数据");
        return (words, Words::new("it begins once all of it is there", "数据到齐后即开始"), None);
    }
    let Between { level, since, group, processor, ready_timeout_seconds: seconds, .. } = between;
    let nobody = Words::new(
        format!("no executor of group {group} is there for processor {processor}"),
        format!("执行器组 {group} 中没有执行器可运行 {processor}"),
    );
    let words = match level {
        Some(level) => Words::new(
            format!("level {level} waits for executors: {}", nobody.en),
            format!("第 {level} 层等待执行器：{}", nobody.zh),
        ),
        None => nobody,
    };
    let ends = Words::new(
        format!("an executor with this processor; with none for {seconds} s it fails (k_sc_ec_300006)"),
        format!("等待注册了该 Processor 的执行器；{seconds} 秒内没有则失败（k_sc_ec_300006）"),
    );
    (words, ends, Some(since.plus_seconds(i64::from(*seconds))))
}

fn unassigned(facts: &Facts<'_>, tell: Tell<'_>) -> WaitingView {
    let instance = facts.instance;
    let (words, ends) = match facts.standing.earlier {
        0 => (
            Words::new("its turn is now", "即将轮到它"),
            Words::new("it becomes a task at the next look", "下一轮检查时生成作业"),
        ),
        1 => (
            Words::new("waits for an earlier run of its job", "等待该任务的前一次运行结束"),
            Words::new(
                "its turn comes when that run ends; cancel that one, or run this job beside it",
                "前一次运行结束即轮到它；可取消前一次，或让本任务并行运行",
            ),
        ),
        count => (
            Words::new(
                format!("waits for {count} earlier runs of its job"),
                format!("等待该任务的前 {count} 次运行结束"),
            ),
            Words::new("its turn comes when they have ended", "它们结束后即轮到它"),
        ),
    };
    WaitingView { since: tell(instance.created), words, ends, ends_at: None }
}

fn ready(facts: &Facts<'_>, task: &Task, tell: Tell<'_>) -> WaitingView {
    let since = task.ready_at.unwrap_or(facts.instance.created);
    let (words, ends, ends_at) = if let Some(hold) = &facts.standing.hold {
        let ends = Words::new(
            format!("someone has to release the hold that {} began", hold.by),
            format!("需要有人解除 {} 发起的全部暂停", hold.by),
        );
        (Code::Held.fault().with("reason", &hold.reason).message, ends, None)
    } else if facts.standing.unoffered.contains(&task.id) {
        let seconds = task.limits.ready_timeout_ms / 1000;
        let ends = Words::new(
            format!("an executor with this processor; with none for {seconds} s it ends as 401"),
            format!("等待注册了该 Processor 的执行器；{seconds} 秒内没有则以 401 结束"),
        );
        let ends_at = since.plus_millis(task.limits.ready_timeout_ms);
        let message = Code::NoExecutorForProcessor.fault().with("name", &task.processor).message;
        (message, ends, Some(ends_at).filter(|at| *at > facts.now))
    } else {
        let able: Vec<_> = facts.standing.executors.iter().filter(|(entry, _)| could_take(entry, task)).collect();
        if !able.is_empty() && able.iter().all(|(entry, drain)| drain.is_some() || entry.draining) {
            return drained(&able, since, tell);
        }
        if let Some((_, words)) = facts.standing.held.iter().find(|(id, _)| *id == task.id) {
            let lane = lane_words(task.lane);
            let words = Words::new(
                format!("waits in lane {}: {}", lane.en, words.en),
                format!("在 {} 通道等待：{}", lane.zh, words.zh),
            );
            let ends =
                Words::new("it goes when that is over and its turn in the lane comes", "该情况解除且轮到它时即下发");
            return WaitingView { since: tell(since), words, ends, ends_at: None };
        }
        let full = able.iter().filter(|(entry, _)| entry.in_hand >= entry.capacity.saturating_add(entry.queue)).count();
        let lane = lane_words(task.lane);
        let words = match full {
            full if full > 0 && full == able.len() => Words::new(
                format!("waits in lane {}: all {full} executors that could take it are full", lane.en),
                format!("在 {} 通道等待：可运行它的 {full} 个执行器均已满", lane.zh),
            ),
            _ => Words::new(
                format!("waits in lane {} for an executor with room", lane.en),
                format!("在 {} 通道等待有空位的执行器", lane.zh),
            ),
        };
        let ends = Words::new("it goes when its turn in the lane comes and a place is free", "轮到它且有空位时即下发");
        (words, ends, None)
    };
    WaitingView { since: tell(since), words, ends, ends_at: ends_at.map(tell) }
}

fn could_take(entry: &ExecutorEntry, task: &Task) -> bool {
    entry.executor.group == task.group && entry.processors.iter().any(|processor| processor.name == task.processor)
}

/// Everyone who could take it is to be left alone.
fn drained(able: &[&(ExecutorEntry, Option<Drain>)], since: Timestamp, tell: Tell<'_>) -> WaitingView {
    let names: Vec<&str> = able.iter().map(|(entry, _)| entry.executor.name.as_str()).collect();
    let names = names.join(", ");
    let by = able.iter().find_map(|(_, drain)| drain.as_ref()).map_or(Words::default(), |drain| {
        let reason = if drain.reason.is_empty() { String::new() } else { format!(": {}", drain.reason) };
        Words::new(format!(" by {}{reason}", drain.by), format!("（由 {}{reason}）", drain.by))
    });
    let words = Words::new(
        format!("waits: every executor that could take it is drained ({names}){}", by.en),
        format!("等待：可运行它的执行器均在排空（{names}）{}", by.zh),
    );
    let ends = Words::new(
        "somebody resumes one of them, or another executor with its processor joins",
        "有人恢复其中之一，或有注册了该 Processor 的其他执行器加入",
    );
    WaitingView { since: tell(since), words, ends, ends_at: None }
}

fn running(task: &Task, wait: &dyn Fn(Timestamp, Words, Words, Option<Timestamp>) -> WaitingView) -> WaitingView {
    let name = task.executor.as_ref().map_or("?", |executor| executor.name.as_str());
    let since = task.started_at.unwrap_or(task.due_at);
    if let Some(stop) = &task.stop {
        let words = match (stop.cause, stop.stage) {
            (StopCause::Withdrawn, _) => Words::new("is being taken back", "正在收回"),
            (_, StopStage::Asked) => Words::new("was asked to stop", "已要求停止"),
            (_, StopStage::Acknowledged) => Words::new("the executor is stopping it", "执行器正在停止它"),
            (_, StopStage::Terminated) => Words::new("its processes were told to terminate", "已通知其进程终止"),
            (_, StopStage::Killed) => Words::new("its processes were killed", "已强制结束其进程"),
        };
        let ends = Words::new(
            "5 s after it was asked its processes get TERM, 10 s later KILL; an executor that goes silent is lost",
            "要求停止 5 秒后发送 TERM，再过 10 秒 KILL；执行器失联则按失联处理",
        );
        return wait(stop.stage_at, words, ends, None);
    }
    let overran = task.state() == TaskState::Overrun;
    let words = match overran {
        true => Words::new(format!("still runs on {name}, past its timeout"), format!("在 {name} 上运行，已超时")),
        false => Words::new(format!("runs on {name}"), format!("在 {name} 上运行")),
    };
    let ends = match (task.deadline_at, task.limits.kill_on_overrun) {
        (Some(_), true) => Words::new("at its timeout it is stopped", "到超时时间将被停止"),
        (Some(_), false) => Words::new(
            "at its timeout it is marked as overrun (203) and goes on",
            "到超时时间将标记为超时（203）并继续运行",
        ),
        (None, _) => Words::new(
            "its own end; or its executor being lost (3 s without a word), or somebody cancelling it",
            "自行结束；或执行器失联（3 秒无心跳），或被取消",
        ),
    };
    wait(since, words, ends, task.deadline_at)
}
