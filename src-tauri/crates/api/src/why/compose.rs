//! The causal chain of a run, out of what is known of it. Pure.

use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::instance::{Instance, InstanceState, Origin};
use campanile_model::request::Hold;
use campanile_model::task::{Task, TaskState};
use campanile_model::{Lane, TaskId, Timestamp, Words};
use campanile_store::HistoryEntry;

use super::verdict::verdict;
use super::waiting::waiting;
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
    /// Of a run that is cut into shards: what it waits for while it has no tasks.
    pub between: Option<Between>,
}

/// What a run that is cut into shards is at, between its tasks.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    /// A level that could start; none: it is its beginning.
    pub level: Option<u32>,
    pub since: Timestamp,
    /// Its data is still on its way into the run.
    pub loading: bool,
    pub group: String,
    pub processor: String,
    pub ready_timeout_seconds: u32,
}

pub(crate) struct Why {
    pub verdict: Words,
    pub waiting: Option<WaitingView>,
    pub links: Vec<WhyLink>,
}

/// A start this soon after its time is on time.
pub(super) const PROMPT_MS: i64 = 1_000;

pub(super) type Tell<'a> = &'a dyn Fn(Timestamp) -> Moment;

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
                (Ready, Ready) => {
                    (WhyStep::Promoted, reason(entry, Words::new("moved up a lane", "上移一个通道")), WhyTone::Late)
                }
                (from, to) if from == to => {
                    (WhyStep::Remark, reason(entry, Words::new("a remark", "备注")), WhyTone::Late)
                }
                (Pushed, Ready) => {
                    (WhyStep::HandedBack, reason(entry, Words::new("handed back", "被退回")), WhyTone::Late)
                }
                (_, Ready) => {
                    // Of an attempt in between nothing says in which lane it was.
                    let lane = match entry.attempt {
                        attempt if attempt == task.attempt() => lane_before(task, history, entry.at),
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

/// The lane that a task of its present attempt was in then: since it has only moved up.
fn lane_before(task: &Task, history: &[HistoryEntry], at: Timestamp) -> Option<Lane> {
    let promoted = |entry: &&HistoryEntry| {
        (entry.from, entry.to) == (TaskState::Ready, TaskState::Ready)
            && entry.attempt == task.attempt()
            && entry.at >= at
    };
    let since = history.iter().filter(promoted).count();
    Lane::from_number(task.lane.number() + u8::try_from(since).ok()?)
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
        let between = |level, loading| Standing {
            between: Some(Between {
                level,
                since: at(0),
                loading,
                group: "local".to_owned(),
                processor: "import".to_owned(),
                ready_timeout_seconds: 60,
            }),
            ..plain()
        };
        check(&given, &[], between(Some(2), false), "level 2 waits for executors", Some("with none for 60 s"));
        check(&given, &[], between(None, false), "no executor of group local", Some("with none for 60 s"));
        check(&given, &[], between(None, true), "takes in the data", Some("once all of it is there"));
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
    fn what_moved_up_a_lane_says_so_and_what_was_remarked_is_not_taken_for_a_step() {
        use TaskEvent::{Due, Push, Start, Succeed};
        let given = instance();
        let (mut task, mut history) = task(&given, &[Due, Push, Start, Succeed]);
        (task.lane, task.promotions) = (Lane::High, 2);
        let remark = |state: TaskState, second: i64, words: &str| HistoryEntry {
            at: at(second),
            from: state,
            to: state,
            attempt: 1,
            executor: Some("vm".to_owned()),
            node: "node-a".to_owned(),
            reason: Some(Words::new(words, "说明")),
        };
        history.insert(1, remark(TaskState::Ready, 1, "moved up to Retry"));
        history.insert(2, remark(TaskState::Ready, 1, "moved up to High"));
        history.push(remark(TaskState::Succeeded, 9, "finished too late"));
        let told = Told::new(Almanac::bundled().zone("UTC").expect("a zone"));
        let links = of_task(&task, &history, Lane::Normal, &|at| told.moment(at));
        let told: Vec<(WhyStep, &str)> = links.iter().map(|link| (link.step, link.words.en.as_str())).collect();
        let expected = [
            (WhyStep::Admitted, "ready, in lane Normal"),
            (WhyStep::Promoted, "moved up to Retry"),
            (WhyStep::Promoted, "moved up to High"),
            (WhyStep::Pushed, "to executor vm"),
            (WhyStep::Started, "began to run"),
            (WhyStep::AttemptEnded, "succeeded"),
            (WhyStep::Remark, "finished too late"),
        ];
        assert_eq!(told, expected);
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
