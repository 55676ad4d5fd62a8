//! Executors: who is there, what each has in hand, and keeping one from taking more.
//!
//! Read from what the leading node has written down, so that a console that stands by and the command
//! line see the same as the window of the program that leads.

use std::collections::BTreeSet;

use campanile_model::executor::{Drain, ExecutorEntry, MachineReading};
use campanile_model::request::{Ask, Role};
use campanile_model::{Fault, TaskId, Timestamp, Words};
use campanile_store::{ExecutorName, TaskFilter};

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

/// Of one executor's tasks so many are named.
const NAMED: usize = 50;

/// The log of an executor looks at so many of its tasks …
const LOGGED: usize = 20;

/// … at so many attempts of each, and at so many bytes of the end of what each wrote.
const ATTEMPTS_LOGGED: usize = 2;
const LOG_TAIL: i64 = 32 * 1024;

const LOG_ROWS: u32 = 300;
const MOST_LOG_ROWS: u32 = 1_000;

/// A heartbeat comes every second; it is written every five.
const SILENT_AFTER_MS: i64 = 8_000;

/// From these on a machine is said to be busy.
const BUSY_CPU: f64 = 80.0;
const BUSY_MEMORY: f64 = 75.0;

impl Api {
    pub(crate) async fn list_executors(&self, _: Nothing, cx: &CallContext) -> Result<ExecutorList, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let mut rows = Vec::new();
        // What is written down is seconds old; of those that are connected here more is known.
        let heard = self.node.heard();
        for (mut entry, drain) in self.store().executors().await? {
            if let Some((_, heard_at, in_hand, running)) = heard.iter().find(|(one, ..)| *one == entry.executor) {
                (entry.heard_at, entry.in_hand, entry.running) = (*heard_at, *in_hand, *running);
            }
            let tasks = match entry.gone_at {
                Some(_) => Vec::new(),
                None => self.store().held_by(&entry.executor, NAMED).await?,
            };
            let names = self.names(&tasks.iter().map(|task| task.job).collect::<Vec<_>>()).await?;
            let runs = tasks.into_iter().map(|task| ExecutorTask {
                task: task.id.to_string(),
                instance: task.instance.to_string(),
                job: task.job.to_string(),
                job_name: names.get(&task.job).cloned().unwrap_or_default(),
                processor: task.processor.clone(),
                state: task.state(),
                part: task.part,
                attempt: task.attempt(),
                since: told.maybe(task.started_at.or(task.pushed_at)),
            });
            let runs: Vec<ExecutorTask> = runs.collect();
            let led = self.node.state() != NodeState::Leaderless;
            rows.push(row(entry, drain, runs, &Seen { now, led, told: &told, cx }));
        }
        // Those that work before those that do not; what has gone last.
        rows.sort_by_key(|row| match row.state {
            ExecutorState::Live | ExecutorState::Draining | ExecutorState::Silent => 0,
            ExecutorState::Gone => 1,
        });
        let verdict = verdict(&rows, self.node.state());
        Ok(ExecutorList { now, rows, verdict })
    }

    pub(crate) async fn executor_log(&self, ask: AskExecutorLog, cx: &CallContext) -> Result<ExecutorLog, Fault> {
        let told = self.told(cx)?;
        let most = ask.limit.unwrap_or(LOG_ROWS).clamp(1, MOST_LOG_ROWS) as usize;
        let of = ExecutorName { group: ask.group, name: ask.name };
        let filter = TaskFilter { states: Vec::new(), executor: Some(of.clone()) };
        let page = self.archive.task_page(&filter, None, LOGGED).await?;
        let names = self.names(&page.rows.iter().map(|task| task.job).collect::<Vec<_>>()).await?;
        let tasks: Vec<TaskId> = page.rows.iter().map(|task| task.id).collect();
        let mut histories = self.archive.histories(&tasks).await?;
        let mut is_cut = page.next.is_some();
        let mut rows = Vec::new();
        for task in &page.rows {
            let row = |at, attempt, said| ExecutorLogRow {
                at,
                time: told.time_of_day(at),
                task: task.id.to_string(),
                instance: task.instance.to_string(),
                job_name: names.get(&task.job).cloned().unwrap_or_default(),
                part: task.part,
                attempt,
                said,
            };
            // Of a task that was elsewhere before, what happened there is left out.
            let history = histories.remove(&task.id).unwrap_or_default();
            let here = history.into_iter().filter(|step| step.executor.as_deref() == Some(of.name.as_str()));
            let mut attempts = BTreeSet::new();
            for step in here.filter(|step| step.from != step.to || step.reason.is_some()) {
                attempts.insert(step.attempt);
                rows.push(row(step.at, step.attempt, ExecutorSaid::Step { to: step.to, reason: step.reason }));
            }
            for attempt in attempts.into_iter().rev().take(ATTEMPTS_LOGGED) {
                let page = self.logs.read(task.id, attempt, -LOG_TAIL, MOST_LOG_ROWS as usize).await?;
                is_cut |= page.starts.first().is_some_and(|start| *start > 0);
                rows.extend(page.lines.into_iter().map(|line| {
                    let stream = line.stream.name().to_owned();
                    row(line.at, attempt, ExecutorSaid::Line { stream, text: line.text })
                }));
            }
        }
        // Stable: what was said in one millisecond stays in its order.
        rows.sort_by_key(|row| row.at);
        is_cut |= rows.len() > most;
        rows.drain(..rows.len().saturating_sub(most));
        Ok(ExecutorLog { rows, is_cut })
    }

    pub(crate) async fn drain_executor(&self, drain: DrainInput, cx: &CallContext) -> Result<DoneView, Fault> {
        let DrainInput { group, name, reason } = drain;
        self.ask(cx, Ask::DrainExecutor { group, name, reason }).await.map(DoneView::from)
    }

    pub(crate) async fn resume_executor(&self, of: OfExecutor, cx: &CallContext) -> Result<DoneView, Fault> {
        self.ask(cx, Ask::ResumeExecutor { group: of.group, name: of.name }).await.map(DoneView::from)
    }
}

impl OfExecutor {
    pub(crate) fn named(self) -> ExecutorName {
        ExecutorName { group: self.group, name: self.name }
    }
}

struct Seen<'a> {
    now: Timestamp,
    /// Someone drives the engine.
    led: bool,
    told: &'a Told,
    cx: &'a CallContext,
}

fn row(entry: ExecutorEntry, drain: Option<Drain>, runs: Vec<ExecutorTask>, seen: &Seen<'_>) -> ExecutorRow {
    let age = seen.now.millis() - entry.heard_at.millis();
    let state = match (&entry.gone_at, entry.connected && age < SILENT_AFTER_MS) {
        (Some(_), _) => ExecutorState::Gone,
        // What nobody writes down any more is not known to be there.
        _ if !seen.led => ExecutorState::Gone,
        (None, false) => ExecutorState::Silent,
        (None, true) if entry.draining || drain.is_some() => ExecutorState::Draining,
        (None, true) => ExecutorState::Live,
    };
    let suggested = entry.suggested_capacity();
    let mean_ms = (entry.ended > 0).then(|| entry.ended_took_ms as f64 / f64::from(entry.ended));
    let remarks = remarks(&entry, drain.as_ref(), state, suggested);
    let can_drain = match &drain {
        Some(_) => Allowed::no(Words::new("it is drained already", "已在排空")),
        None => seen.cx.may(Role::Operator),
    };
    let can_resume = match &drain {
        None => Allowed::no(Words::new("nobody has drained it", "没有人将其排空")),
        Some(_) => seen.cx.may(Role::Operator),
    };
    ExecutorRow {
        group: entry.executor.group,
        name: entry.executor.name,
        boot: entry.executor.boot,
        state,
        remarks,
        embedded: entry.embedded,
        processors: entry.processors,
        labels: entry.labels,
        capacity: entry.capacity,
        queue: entry.queue,
        in_hand: entry.in_hand,
        running: entry.running,
        suggested_capacity: suggested,
        ended: entry.ended,
        mean_ms,
        version: entry.version,
        node: entry.node,
        since: seen.told.moment(entry.since),
        heard: seen.told.moment(entry.heard_at),
        gone: seen.told.maybe(entry.gone_at),
        machine: entry.machine,
        disregarded: entry.disregarded as f64,
        takes_secrets: !entry.public_key.is_empty(),
        drain,
        runs,
        can_drain,
        can_resume,
    }
}

/// What is out of the ordinary, the gravest first.
fn remarks(entry: &ExecutorEntry, drain: Option<&Drain>, state: ExecutorState, suggested: Option<u32>) -> Vec<Words> {
    let mut remarks = Vec::new();
    if state == ExecutorState::Gone {
        return remarks;
    }
    if state == ExecutorState::Silent {
        remarks.push(Words::new(
            "has not been heard; when its lease passes, what it has is lost to it (403)",
            "没有心跳；租约过期后，其持有的作业按失联处理（403）",
        ));
    }
    if let Some(drain) = drain {
        let reason = match drain.reason.as_str() {
            "" => Words::default(),
            reason => Words::new(format!(": {reason}"), format!("：{reason}")),
        };
        remarks.push(Words::new(
            format!("drained by {}{}", drain.by, reason.en),
            format!("由 {} 排空{}", drain.by, reason.zh),
        ));
    } else if entry.draining {
        remarks.push(Words::new("is leaving: it takes nothing new", "正在退出：不再接收新作业"));
    }
    if let Some(MachineReading { cpu_percent, memory_percent, .. }) = entry.machine {
        if let Some(cpu) = cpu_percent.filter(|cpu| *cpu > BUSY_CPU) {
            remarks.push(Words::new(format!("CPU {cpu:.0} %: Low waits"), format!("CPU {cpu:.0}%：低优先级等待")));
        }
        if let Some(memory) = memory_percent.filter(|memory| *memory > BUSY_MEMORY) {
            remarks.push(Words::new(
                format!("memory {memory:.0} %: only Immediate and High go"),
                format!("内存 {memory:.0}%：仅立即与高优先级可下发"),
            ));
        }
    }
    if entry.in_hand >= entry.capacity.saturating_add(entry.queue) && entry.capacity > 0 {
        remarks.push(Words::new("full: nothing more fits", "已满：没有空位"));
    }
    if let Some(suggested) = suggested.filter(|suggested| *suggested > entry.capacity) {
        remarks.push(Words::new(
            format!("by its last ten minutes a capacity of {suggested} would suit it"),
            format!("按最近十分钟的情况，建议容量为 {suggested}"),
        ));
    }
    if entry.disregarded > 0 {
        let count = entry.disregarded;
        remarks.push(Words::new(
            format!("{count} of its reports came too late or twice and changed nothing"),
            format!("有 {count} 个报告迟到或重复，未产生影响"),
        ));
    }
    remarks
}

fn verdict(rows: &[ExecutorRow], node: NodeState) -> Words {
    let count = |state: ExecutorState| rows.iter().filter(|row| row.state == state).count();
    let live = count(ExecutorState::Live);
    let places: u32 = rows.iter().filter(|row| row.state == ExecutorState::Live).map(|row| row.capacity).sum();
    let running: u32 = rows.iter().filter(|row| row.state != ExecutorState::Gone).map(|row| row.running).sum();
    if node == NodeState::Leaderless {
        return Words::new(
            "No program drives the engine: nobody knows which executors are there.",
            "没有程序驱动引擎：无法得知有哪些执行器。",
        );
    }
    if live == 0 {
        return match count(ExecutorState::Draining) {
            0 => Words::new("No executor takes work.", "没有执行器可接收作业。"),
            _ => Words::new("All executors are drained: nothing new starts.", "所有执行器均在排空：不会开始新作业。"),
        };
    }
    let well = Words::new(
        format!(
            "{live} {} work, {running} of {places} places are taken",
            if live == 1 { "executor takes" } else { "executors take" }
        ),
        format!("{live} 个执行器正常，已用 {running}/{places} 个空位"),
    );
    let mut more = Words::default();
    let (silent, draining) = (count(ExecutorState::Silent), count(ExecutorState::Draining));
    if silent > 0 {
        more.en.push_str(&format!(", {silent} not heard"));
        more.zh.push_str(&format!("，{silent} 个没有心跳"));
    }
    if draining > 0 {
        more.en.push_str(&format!(", {draining} drained"));
        more.zh.push_str(&format!("，{draining} 个排空中"));
    }
    Words::new(format!("{}{}.", well.en, more.en), format!("{}{}。", well.zh, more.zh))
}
