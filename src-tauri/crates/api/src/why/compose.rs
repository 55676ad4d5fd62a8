//! The causal chain of a run, out of what is known of it. Pure.

use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::instance::{Instance, InstanceState, Origin};
use campanile_model::request::Hold;
use campanile_model::task::{StopCause, StopStage, Task, TaskState};
use campanile_model::{Code, Lane, TaskId, Timestamp, Words};
use campanile_store::HistoryEntry;

use crate::views::*;

/// What the chain is made of.
pub(crate) struct Facts<'a> {
    pub now: Timestamp,
    pub instance: &'a Instance,
    /// The schedule that made it, in words.
    pub schedule: Words,
    pub tasks: &'a [(Task, Vec<HistoryEntry>)],
    pub standing: Standing,
}

/// What keeps things waiting now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub leaderless: bool,
    pub hold: Option<Hold>,
    /// Earlier runs of the job that have not ended.
    pub earlier: usize,
    /// Ready tasks for which no live executor is there.
    pub unoffered: Vec<TaskId>,
    /// What the dispatcher found to keep a ready task from going.
    pub held: Vec<(TaskId, Words)>,
    /// Those that have not gone, with what drains each.
    pub executors: Vec<(ExecutorEntry, Option<Drain>)>,
}

pub(crate) struct Why {
    pub verdict: Words,
    pub waiting: Option<WaitingView>,
    pub links: Vec<WhyLink>,
}

/// A start this soon after its time is on time.
const PROMPT_MS: i64 = 1_000;

type Tell<'a> = &'a dyn Fn(Timestamp) -> Moment;

pub(crate) fn compose(facts: &Facts<'_>, tell: Tell<'_>) -> Why {
    let mut links = beginnings(facts, tell);
    for (task, history) in facts.tasks {
        links.extend(of_task(task, history, facts.instance.lane, tell));
    }
    // Tasks of one run interleave; what has no time yet stays behind.
    links.sort_by_key(|link| link.at.as_ref().map_or(Timestamp::MAX, |at| at.ms));
    if let Some(finished) = facts.instance.finished_at {
        links.push(ended(facts.instance, finished, tell));
    }
    let waiting = waiting(facts, tell);
    if let Some(waiting) = &waiting {
        let mut link = link(WhyStep::Held, None, waiting.words.clone());
        link.tone = WhyTone::Waits;
        links.push(link);
    }
    let mut before: Option<Timestamp> = None;
    for link in &mut links {
        let Some(at) = link.at.as_ref().map(|at| at.ms) else { continue };
        link.after_ms = before.map(|before| (at.millis() - before.millis()) as f64).filter(|gap| *gap > 0.0);
        before = Some(at);
    }
    Why { verdict: verdict(facts, waiting.as_ref()), waiting, links }
}

fn link(step: WhyStep, at: Option<Moment>, words: Words) -> WhyLink {
    WhyLink { step, at, words, tone: WhyTone::Plain, who: None, task: None, attempt: None, state: None, after_ms: None }
}

/// From the plan to the tasks.
fn beginnings(facts: &Facts<'_>, tell: Tell<'_>) -> Vec<WhyLink> {
    let instance = facts.instance;
    let mut planned = link(WhyStep::Planned, Some(tell(instance.planned)), planned_words(instance, &facts.schedule));
    planned.who = super::asked_by(instance);
    let mut due = link(WhyStep::Due, Some(tell(instance.due)), due_words(instance));
    if instance.due != instance.planned {
        due.tone = WhyTone::Late;
    }
    let late = instance.created.millis() - instance.due.millis();
    let mut created = link(WhyStep::Created, Some(tell(instance.created)), created_words(late));
    if late >= PROMPT_MS {
        created.tone = WhyTone::Late;
    }
    let mut links = vec![planned, due, created];
    if let Some(at) = instance.assigned_at {
        let words = match facts.tasks.len() {
            0 | 1 => Words::new("became one task", "已生成一个作业"),
            many => Words::new(format!("became {many} tasks"), format!("已生成 {many} 个作业")),
        };
        let mut assigned = link(WhyStep::Assigned, Some(tell(at)), words);
        if at.millis() - instance.created.millis() >= PROMPT_MS {
            assigned.tone = WhyTone::Late;
        }
        links.push(assigned);
    }
    links
}

pub(crate) fn planned_words(instance: &Instance, schedule: &Words) -> Words {
    let who = instance.asked_by.as_deref().unwrap_or("?");
    match instance.origin {
        Origin::Schedule => Words::new(
            format!("by version {} of the job: {}", instance.version, schedule.en),
            format!("任务第 {} 版：{}", instance.version, schedule.zh),
        ),
        Origin::Added => Words::new("an occurrence that was added by hand", "手动添加的一次执行"),
        Origin::After => Words::new("the runs before it had ended", "上游运行已结束"),
        Origin::Backfill => Words::new(format!("a backfill that {who} asked for"), format!("由 {who} 发起的补数")),
        Origin::Manual | Origin::Api if instance.repeats.is_some() => {
            Words::new(format!("run again by {who}"), format!("由 {who} 再次运行"))
        }
        Origin::Manual | Origin::Api => Words::new(format!("asked for by {who}"), format!("由 {who} 发起")),
    }
}

pub(crate) fn due_words(instance: &Instance) -> Words {
    match &instance.reason {
        Some(reason) => reason.clone(),
        None if instance.due == instance.planned => Words::new("at its planned time", "按计划时间"),
        None => Words::new("later than planned", "晚于计划时间"),
    }
}

pub(crate) fn created_words(late_ms: i64) -> Words {
    match late_ms {
        ..PROMPT_MS => Words::new("on time", "准时"),
        late => Words::new(
            format!("{} after it was due: nobody drove the engine, or it was behind", span_en(late)),
            format!("晚于应触发时间 {}：当时无人驱动引擎，或引擎来不及", span_zh(late)),
        ),
    }
}

/// What the history says of one task.
fn of_task(task: &Task, history: &[HistoryEntry], first_lane: Lane, tell: Tell<'_>) -> Vec<WhyLink> {
    use TaskState::*;

    let reason = |entry: &HistoryEntry, otherwise: Words| entry.reason.clone().unwrap_or(otherwise);
    let name = |entry: &HistoryEntry| entry.executor.clone().unwrap_or_else(|| "?".to_owned());
    history
        .iter()
        .map(|entry| {
            let executor = name(entry);
            let (step, words, tone) = match (entry.from, entry.to) {
                (Pushed, Ready) => {
                    (WhyStep::HandedBack, reason(entry, Words::new("handed back", "被退回")), WhyTone::Late)
                }
                (_, Ready) => {
                    // Of an attempt in between nothing says in which lane it was.
                    let lane = match entry.attempt {
                        attempt if attempt == task.attempt() => Some(task.lane),
                        1 => Some(first_lane),
                        _ => None,
                    };
                    let words = match lane.map(lane_words) {
                        Some(lane) => {
                            Words::new(format!("ready, in lane {}", lane.en), format!("就绪，进入 {} 通道", lane.zh))
                        }
                        None => Words::new("ready", "就绪"),
                    };
                    (WhyStep::Admitted, reason(entry, words), WhyTone::Plain)
                }
                (_, Pushed) => {
                    let words = Words::new(format!("to executor {executor}"), format!("下发到执行器 {executor}"));
                    (WhyStep::Pushed, reason(entry, words), WhyTone::Plain)
                }
                (_, Running) => (WhyStep::Started, Words::new("began to run", "开始运行"), WhyTone::Plain),
                (_, Overrun) => (
                    WhyStep::Overran,
                    reason(entry, Words::new("still runs past its timeout", "已超时，仍在运行")),
                    WhyTone::Late,
                ),
                (_, Waiting) => {
                    (WhyStep::Retry, reason(entry, Words::new("will be tried again", "将再次尝试")), WhyTone::Plain)
                }
                (_, Succeeded) => (WhyStep::AttemptEnded, Words::new("succeeded", "成功"), WhyTone::Good),
                (_, Superseded) => {
                    (WhyStep::AttemptEnded, reason(entry, ended_words(InstanceState::Superseded)), WhyTone::Plain)
                }
                (_, Cancelled) => {
                    (WhyStep::AttemptEnded, reason(entry, Words::new("cancelled", "已取消")), WhyTone::Plain)
                }
                (_, Failed | ReadyTimeout | PushTimeout | ExecutorLost) => {
                    let otherwise = Words::new(entry.to.name(), entry.to.name_zh());
                    (WhyStep::AttemptEnded, reason(entry, otherwise), WhyTone::Bad)
                }
            };
            let mut link = link(step, Some(tell(entry.at)), words);
            link.tone = tone;
            link.task = Some(task.id.to_string());
            link.attempt = Some(entry.attempt);
            link.state = Some(entry.to);
            link.who = Some(match (step, &entry.executor) {
                (WhyStep::Started | WhyStep::HandedBack | WhyStep::AttemptEnded, Some(executor)) => executor.clone(),
                _ => entry.node.clone(),
            });
            link
        })
        .collect()
}

fn ended(instance: &Instance, at: Timestamp, tell: Tell<'_>) -> WhyLink {
    let mut link = link(WhyStep::Finished, Some(tell(at)), ended_words(instance.state));
    link.tone = match instance.state {
        InstanceState::Succeeded => WhyTone::Good,
        InstanceState::Failed => WhyTone::Bad,
        _ => WhyTone::Plain,
    };
    link
}

pub(crate) fn ended_words(state: InstanceState) -> Words {
    match state {
        InstanceState::Succeeded => Words::new("succeeded", "成功"),
        InstanceState::Failed => Words::new("failed", "失败"),
        InstanceState::Cancelled => Words::new("cancelled", "已取消"),
        InstanceState::Superseded => Words::new("no longer worth doing when its turn came", "轮到它时已无必要执行"),
        InstanceState::Waiting | InstanceState::Running => Words::new("not yet", "尚未结束"),
    }
}

/// What it waits for now, and the rule that ends the wait.
pub(crate) fn waiting(facts: &Facts<'_>, tell: Tell<'_>) -> Option<WaitingView> {
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

fn verdict(facts: &Facts<'_>, waiting: Option<&WaitingView>) -> Words {
    let instance = facts.instance;
    let from = match instance.started_at {
        Some(started) => {
            let late = started.millis() - instance.due.millis();
            match late {
                ..PROMPT_MS => Words::new("It started on time", "准时开始"),
                late => {
                    let most = latest_cause(facts);
                    Words::new(
                        format!("It started {} late{}", span_en(late), most.en),
                        format!("晚 {} 开始{}", span_zh(late), most.zh),
                    )
                }
            }
        }
        None if instance.state.is_final() => Words::new("It never started", "从未开始"),
        None => Words::new("It has not started", "尚未开始"),
    };
    let failure = facts.tasks.iter().find_map(|(task, _)| task.failure.as_ref());
    let attempts = facts.tasks.iter().map(|(task, _)| task.attempt()).max().unwrap_or(1);
    let end = match (instance.state, waiting) {
        (InstanceState::Succeeded, _) if attempts > 1 => {
            Words::new(format!(" and succeeded at attempt {attempts}."), format!("，第 {attempts} 次尝试成功。"))
        }
        (InstanceState::Succeeded, _) => Words::new(" and succeeded.", "，已成功。"),
        (InstanceState::Failed, _) => match failure {
            Some(failure) => Words::new(
                format!(" and failed after {}: {}.", times_en(attempts), failure.message.en.trim_end_matches('.')),
                format!("，尝试 {attempts} 次后失败：{}。", failure.message.zh.trim_end_matches('。')),
            ),
            None => Words::new(" and failed.", "，已失败。"),
        },
        (InstanceState::Cancelled, _) => Words::new(" and was cancelled.", "，已取消。"),
        (InstanceState::Superseded, _) => {
            Words::new("; it was no longer worth doing when its turn came.", "；轮到它时已无必要执行。")
        }
        (_, Some(waiting)) => {
            Words::new(format!("; now it {}.", says(&waiting.words.en)), format!("；现在{}。", waiting.words.zh))
        }
        (_, None) => Words::new(".", "。"),
    };
    Words::new(format!("{}{}", from.en, end.en), format!("{}{}", from.zh, end.zh))
}

/// Words that begin with a noun stand after a colon.
fn says(words: &str) -> String {
    let verb = ["waits", "runs", "still runs", "is ", "was "];
    match verb.iter().any(|verb| words.starts_with(verb)) {
        true => words.to_owned(),
        false => format!("waits: {words}"),
    }
}

/// Where most of a late start was spent.
fn latest_cause(facts: &Facts<'_>) -> Words {
    let instance = facts.instance;
    let Some((task, history)) = facts.tasks.first() else { return Words::default() };
    let first = |to: TaskState| history.iter().find(|entry| entry.to == to).map(|entry| entry.at);
    let moments = [
        (Some(instance.due), Words::default()),
        (Some(instance.created), Words::new("nobody drove the engine when it was due", "应触发时无人驱动引擎")),
        (instance.assigned_at, Words::new("it waited for an earlier run of its job", "它等待了该任务的前一次运行")),
        (first(TaskState::Ready), Words::new("its turn came later", "它的轮次较晚")),
        (
            first(TaskState::Pushed),
            Words::new(
                format!("it waited in lane {} for an executor", lane_words(task.lane).en),
                format!("它在 {} 通道等待执行器", lane_words(task.lane).zh),
            ),
        ),
        (first(TaskState::Running), Words::new("it waited at the executor for a free place", "它在执行器上等待空位")),
    ];
    let mut worst: Option<(i64, &Words)> = None;
    let mut before: Option<Timestamp> = None;
    for (at, words) in &moments {
        let Some(at) = *at else { continue };
        if let Some(before) = before {
            let gap = at.millis() - before.millis();
            if worst.as_ref().is_none_or(|(most, _)| gap > *most) {
                worst = Some((gap, words));
            }
        }
        before = Some(at);
    }
    match worst {
        Some((gap, words)) if gap >= PROMPT_MS => Words::new(format!(": {}", words.en), format!("：{}", words.zh)),
        _ => Words::default(),
    }
}

fn times_en(attempts: u32) -> String {
    match attempts {
        1 => "one attempt".to_owned(),
        many => format!("{many} attempts"),
    }
}

pub(crate) fn span_en(ms: i64) -> String {
    match ms {
        ..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{} s", ms / 1000),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

pub(crate) fn span_zh(ms: i64) -> String {
    match ms {
        ..1000 => format!("{ms} 毫秒"),
        1000..60_000 => format!("{} 秒", ms / 1000),
        60_000..3_600_000 => format!("{} 分 {} 秒", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{} 小时 {} 分", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

pub(crate) fn lane_words(lane: Lane) -> Words {
    let zh = match lane {
        Lane::Immediate => "立即",
        Lane::High => "高",
        Lane::Retry => "重试",
        Lane::Normal => "普通",
        Lane::Low => "低",
    };
    Words::new(lane.name(), zh)
}

#[cfg(test)]
mod tests {
    use campanile_model::almanac::Almanac;
    use campanile_model::task::{ExecutorRef, Needs, NewTask, TaskEvent, TaskLimits};
    use campanile_model::{InstanceId, JobId, Retry};

    use super::*;
    use crate::moments::Told;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000).plus_seconds(second)
    }

    fn instance() -> Instance {
        Instance {
            id: InstanceId::new(1, [1; 10]),
            job: JobId::new(1, [2; 10]),
            version: 3,
            origin: Origin::Schedule,
            key: String::new(),
            planned: at(0),
            due: at(0),
            not_before: at(0),
            reason: None,
            created: at(0),
            state: InstanceState::Waiting,
            beside: false,
            replaces: false,
            lane: Lane::Normal,
            parameters: None,
            repeats: None,
            asked_by: None,
            assigned_at: None,
            started_at: None,
            finished_at: None,
            result: None,
            executor: None,
            failure: None,
        }
    }

    /// A task that these things happened to, a second apart from the first second on.
    fn task(instance: &Instance, events: &[TaskEvent]) -> (Task, Vec<HistoryEntry>) {
        let limits = TaskLimits {
            ready_timeout_ms: 60_000,
            push_timeout_ms: 60_000,
            run_timeout_ms: None,
            kill_on_overrun: false,
            retry: Retry::default(),
            of_several: false,
            failure_rules: Vec::new(),
        };
        let new = NewTask {
            id: TaskId::new(1, [3; 10]),
            instance: instance.id,
            job: instance.job,
            version: instance.version,
            group: "local".to_owned(),
            processor: "shell".to_owned(),
            limits,
            lane: instance.lane,
            needs: Needs::default(),
            due_at: instance.due,
            expires_at: None,
        };
        let mut step = Task::waiting(new).begin();
        for (second, event) in (1..).zip(events) {
            step.on(*event, at(second), None).expect("the table allows it");
            if *event == TaskEvent::Push {
                let boot = "b".to_owned();
                step.task_mut().executor = Some(ExecutorRef { group: "local".to_owned(), name: "vm".to_owned(), boot });
            }
        }
        let history = step.moves().iter().map(|one| HistoryEntry {
            at: one.at(),
            from: one.from(),
            to: one.to(),
            attempt: one.attempt(),
            executor: Some("vm".to_owned()),
            node: "node-a".to_owned(),
            reason: one.reason().cloned(),
        });
        let history = history.collect();
        (step.task().clone(), history)
    }

    fn check(instance: &Instance, events: &[TaskEvent], standing: Standing, verdict: &str, ends: Option<&str>) {
        let zone = Almanac::bundled().zone("UTC").expect("a zone");
        let told = Told::new(zone);
        let tasks = if events.is_empty() { Vec::new() } else { vec![task(instance, events)] };
        let facts = Facts {
            now: at(30),
            instance,
            schedule: Words::new("daily at 02:30", "每天 02:30"),
            tasks: &tasks,
            standing,
        };
        let why = compose(&facts, &|at| told.moment(at));
        assert!(why.verdict.en.contains(verdict), "{}", why.verdict.en);
        assert!(!why.verdict.zh.is_ascii(), "{}", why.verdict.zh);
        match (&why.waiting, ends) {
            (Some(waiting), Some(ends)) => assert!(waiting.ends.en.contains(ends), "{}", waiting.ends.en),
            (waiting, ends) => assert_eq!(waiting.is_some(), ends.is_some(), "{verdict}"),
        }
        let times: Vec<i64> = why.links.iter().filter_map(|link| Some(link.at.as_ref()?.ms.millis())).collect();
        assert!(times.is_sorted(), "in the order of time");
        let open = why.links.iter().filter(|link| link.at.is_none()).count();
        assert_eq!(open, usize::from(ends.is_some()), "what it waits for stands last, and nothing else without a time");
    }

    #[test]
    fn whatever_has_not_ended_says_what_it_waits_for_and_the_rule_that_ends_it() {
        use TaskEvent::{Due, Fail, PassDeadline, Push, Retry as Again, Start};
        let mut given = instance();
        given.assigned_at = Some(at(0));
        let plain = Standing::default;
        let hold = Hold { by: "mei".to_owned(), reason: "moving".to_owned(), since: at(0) };
        let held = || Standing { hold: Some(hold.clone()), ..plain() };
        let alone = || Standing { unoffered: vec![TaskId::new(1, [3; 10])], ..plain() };

        check(
            &instance(),
            &[],
            Standing { earlier: 1, ..plain() },
            "waits for an earlier run",
            Some("when that run ends"),
        );
        check(&instance(), &[], Standing { leaderless: true, ..plain() }, "waits", Some("drives the engine"));
        check(&given, &[Due], plain(), "waits in lane Normal for an executor with room", Some("a place is free"));
        check(&given, &[Due], held(), "moving", Some("release the hold that mei began"));
        check(&given, &[Due], alone(), "no executor for processor shell", Some("401"));
        check(&given, &[Due, Push], plain(), "in the queue of executor vm", Some("402"));
        check(&given, &[Due, Push, Start, Fail, Again], plain(), "attempt 2 comes after a pause", Some("at that time"));
        let mut begun = given.clone();
        (begun.state, begun.started_at) = (InstanceState::Running, Some(at(3)));
        check(&begun, &[Due, Push, Start], plain(), "runs on vm", Some("its own end"));
        check(&begun, &[Due, Push, Start, PassDeadline], plain(), "past its timeout", Some("its own end"));
    }

    #[test]
    fn a_late_start_says_where_most_of_it_was_spent() {
        use TaskEvent::{Due, Push, Start, Succeed};
        let mut late = instance();
        (late.state, late.started_at, late.finished_at) = (InstanceState::Succeeded, Some(at(22)), Some(at(25)));
        (late.created, late.assigned_at) = (at(0), Some(at(20)));
        check(&late, &[], Standing::default(), "It started 22 s late", None);
        let ended = &[Due, Push, Start, Succeed];
        check(&late, ended, Standing::default(), "waited for an earlier run of its job and succeeded", None);
        (late.created, late.assigned_at) = (at(0), Some(at(0)));
        let mut prompt = late.clone();
        prompt.started_at = Some(at(0));
        check(&prompt, ended, Standing::default(), "It started on time and succeeded", None);
        (late.created, late.assigned_at) = (at(20), Some(at(20)));
        check(&late, ended, Standing::default(), "nobody drove the engine", None);
    }
}
