//! Runs: instances with their tasks, why each ran when it ran, and what it wrote.

use campanile_model::instance::{Instance, InstanceState, Origin};
use campanile_model::job::JobVersion;
use campanile_model::request::{Ask, Role};
use campanile_model::task::{Task, TaskState};
use campanile_model::{Code, Fault, InstanceId, TaskId, Timestamp, Words};
use campanile_store::{HistoryEntry, InstanceFilter, InstanceSummary, TaskFilter};
use serde_json::{Map, Value};

use crate::future::{backfilled_words, chained_words};
use crate::jobs::page_size;
use crate::logs::line_view;
use crate::moments::Told;
use crate::sharding::{progress, selection};
use crate::views::*;
use crate::why::{ended_words, lane_words};
use crate::{Api, CallContext};

const LOG_LINES: u32 = 1000;
const MOST_LOG_LINES: u32 = 5000;

/// Of one run, where it is shown whole: one that is cut into shards may have a hundred thousand.
pub(crate) const MOST_TASKS: usize = 200;

impl Api {
    pub(crate) async fn list_instances(&self, list: ListInstances, cx: &CallContext) -> Result<InstancePage, Fault> {
        let told = self.told(cx)?;
        let job = match &list.job {
            Some(job) => Some(self.job(job).await?.id),
            None => None,
        };
        let filter = InstanceFilter {
            job,
            states: list.states,
            task_states: list.task_states,
            executor: list.executor.map(OfExecutor::named),
            due_from: list.due_from,
            due_until: list.due_until,
        };
        let page = self.archive.instance_page(&filter, list.cursor, page_size(list.limit)).await?;
        let rows = page.rows.into_iter().map(|summary| instance_row(summary, &told, cx)).collect();
        Ok(InstancePage { rows, next: page.next })
    }

    pub(crate) async fn get_instance(&self, of: OfInstance, cx: &CallContext) -> Result<InstanceDetail, Fault> {
        let told = self.told(cx)?;
        let not_found = || Code::InstanceNotFound.fault().with("instance", &of.instance).at("instance");
        let id: InstanceId = of.instance.parse().map_err(|_| not_found())?;
        let summary = self.archive.instance_summary(id).await?.ok_or_else(not_found)?;
        let instance = summary.instance.clone();
        let Some(version) = self.store().job_version(instance.job, instance.version).await? else {
            return Err(Code::JobNotFound.fault().with("job", &summary.job_name));
        };
        let tasks = match &summary.sharded {
            Some(run) => self.phase_tasks(run).await?,
            None => self.store().tasks_after(id, None, MOST_TASKS).await?,
        };
        // Of a sharded run whatever was made first stands for it.
        let first = self.store().tasks_after(id, None, 1).await?;
        let upstream = self.upstream_runs(&instance).await?;
        let chain = self.chain(&instance, &upstream, &version, first.first(), &told).await?;
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
        let mut histories = self.archive.histories(&ids).await?;
        let rows = tasks.into_iter().map(|task| {
            let history = histories.remove(&task.id).unwrap_or_default();
            task_row(task, &summary.job_name, history, &told)
        });
        let rows = rows.collect();
        let spec = version.spec;
        Ok(InstanceDetail {
            row: instance_row(summary, &told, cx),
            words: spec.schedule_words(&self.almanac()),
            mode: spec.mode,
            overlap: spec.overlap,
            group: spec.executor_group,
            processor: spec.processor,
            parameters: instance.parameters.as_deref().and_then(as_object).unwrap_or(spec.parameters),
            reason: instance.reason,
            asked_by: instance.asked_by,
            repeats: instance.repeats.map(|other| other.to_string()),
            upstream,
            result: instance.result.as_deref().map(as_value),
            failure: instance.failure,
            chain,
            tasks: rows,
        })
    }

    /// Those that are still kept.
    async fn upstream_runs(&self, instance: &Instance) -> Result<Vec<UpstreamRun>, Fault> {
        let ids = instance.upstream();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.store().instances(&ids).await?;
        let names = self.names(&found.iter().map(|one| one.job).collect::<Vec<_>>()).await?;
        let run = |one: Instance| UpstreamRun {
            instance: one.id.to_string(),
            job: one.job.to_string(),
            name: names.get(&one.job).cloned().unwrap_or_default(),
            state: one.state,
        };
        Ok(found.into_iter().map(run).collect())
    }

    /// Each moment from planned to finished; what has not come yet says what it waits for.
    async fn chain(
        &self,
        instance: &Instance,
        upstream: &[UpstreamRun],
        version: &JobVersion,
        task: Option<&Task>,
        told: &Told,
    ) -> Result<Vec<ChainLink>, Fault> {
        let link = |step: ChainStep, at: Timestamp, words: Words| ChainLink { step, at: Some(told.moment(at)), words };
        let schedule = version.spec.schedule_words(&self.almanac());
        let planned = match instance.origin {
            Origin::Schedule => Words::new(
                format!("by version {} of the job: {}", instance.version, schedule.en),
                format!("任务第 {} 版：{}", instance.version, schedule.zh),
            ),
            Origin::Added => Words::new("an occurrence that was added by hand", "手动添加的一次执行"),
            Origin::After => chained_words(upstream),
            Origin::Backfill => backfilled_words(instance.asked_by.as_deref(), instance.planned, told),
            Origin::Manual | Origin::Api => {
                let who = instance.asked_by.as_deref().unwrap_or("?");
                Words::new(format!("asked for by {who}"), format!("由 {who} 发起"))
            }
        };
        let due = match &instance.reason {
            Some(reason) => reason.clone(),
            None if instance.due == instance.planned => Words::new("at its planned time", "按计划时间"),
            None => Words::new("later than planned", "晚于计划时间"),
        };
        let created = match instance.created.since(instance.due).as_millis() {
            0..1000 => Words::new("on time", "准时"),
            late => {
                Words::new(format!("{} s after it was due", late / 1000), format!("晚于应触发时间 {} 秒", late / 1000))
            }
        };
        let mut chain = vec![
            link(ChainStep::Planned, instance.planned, planned),
            link(ChainStep::Due, instance.due, due),
            link(ChainStep::Created, instance.created, created),
        ];

        let waits = |step: ChainStep, words: Words| ChainLink { step, at: None, words };
        let over = instance.state.is_final();
        let Some(task) = task else {
            if !over {
                chain.push(waits(ChainStep::Assigned, self.waits_for(instance, None, told).await?));
            } else if let Some(at) = instance.finished_at {
                chain.push(link(ChainStep::Finished, at, ended_words(instance.state)));
            }
            return Ok(chain);
        };
        let assigned = instance.assigned_at.unwrap_or(instance.created);
        let became = match task.part {
            Some(_) => Words::new("its data was taken in, to be cut into shards", "已接收数据，准备分片"),
            None => Words::new("became one task", "已生成一个作业"),
        };
        chain.push(link(ChainStep::Assigned, assigned, became));

        let lane = lane_words(task.lane);
        match task.ready_at {
            Some(at) => {
                let words = match task.attempt() {
                    1 => Words::new(format!("ready, in lane {}", lane.en), format!("就绪，进入 {} 通道", lane.zh)),
                    attempt => Words::new(
                        format!("ready for attempt {attempt}, in lane {}", lane.en),
                        format!("第 {attempt} 次尝试就绪，进入 {} 通道", lane.zh),
                    ),
                };
                chain.push(link(ChainStep::Admitted, at, words));
            }
            None if !task.state().is_final() => {
                let at = told.moment(task.due_at).text;
                let words = match task.attempt() {
                    1 => Words::new(format!("its turn comes at {at}"), format!("将在 {at} 轮到它")),
                    attempt => Words::new(
                        format!("attempt {attempt} begins at {at}, by the retry policy"),
                        format!("按重试策略，第 {attempt} 次尝试将在 {at} 开始"),
                    ),
                };
                chain.push(waits(ChainStep::Admitted, words));
            }
            None => {}
        }
        match (task.pushed_at, &task.executor) {
            (Some(at), executor) => {
                let name = executor.as_ref().map_or("?", |executor| executor.name.as_str());
                chain.push(link(
                    ChainStep::Pushed,
                    at,
                    Words::new(format!("to executor {name}"), format!("下发到执行器 {name}")),
                ));
            }
            (None, _) if task.state() == TaskState::Ready => {
                chain.push(waits(ChainStep::Pushed, self.waits_for(instance, Some(task), told).await?));
            }
            (None, _) => {}
        }
        match task.started_at {
            Some(at) => chain.push(link(ChainStep::Started, at, Words::new("began to run", "开始运行"))),
            None if task.state() == TaskState::Pushed => {
                let words = Words::new("waits for a free place at the executor", "在执行器上等待空位");
                chain.push(waits(ChainStep::Started, words));
            }
            None => {}
        }
        match (over, instance.finished_at) {
            (true, at) => {
                let at = at.or(task.finished_at).unwrap_or(instance.created);
                let mut words = ended_words(instance.state);
                if let (Some(failure), InstanceState::Failed) = (&task.failure, instance.state) {
                    words = Words::new(
                        format!("{}: {}", words.en, failure.message.en),
                        format!("{}：{}", words.zh, failure.message.zh),
                    );
                }
                chain.push(link(ChainStep::Finished, at, words));
            }
            (false, _) if task.state().is_held() => {
                let words = match &task.stop {
                    Some(_) => Words::new("is being stopped", "正在停止"),
                    None => Words::new("is running", "正在运行"),
                };
                chain.push(waits(ChainStep::Finished, words));
            }
            (false, _) => {}
        }
        Ok(chain)
    }

    pub(crate) async fn cancel_instance(&self, of: OfShards, cx: &CallContext) -> Result<DoneView, Fault> {
        let shards = selection(of.shards)?;
        self.ask(cx, Ask::CancelInstance { instance: instance_id(&of.instance)?, shards }).await.map(DoneView::from)
    }

    pub(crate) async fn retry_instance(&self, of: OfShards, cx: &CallContext) -> Result<DoneView, Fault> {
        let shards = selection(of.shards)?;
        self.ask(cx, Ask::RetryInstance { instance: instance_id(&of.instance)?, shards }).await.map(DoneView::from)
    }

    pub(crate) async fn list_tasks(&self, list: ListTasks, cx: &CallContext) -> Result<TaskPage, Fault> {
        let told = self.told(cx)?;
        let filter = TaskFilter { states: list.states, executor: list.executor.map(OfExecutor::named) };
        let page = self.archive.task_page(&filter, list.cursor, page_size(list.limit)).await?;
        let jobs: Vec<_> = page.rows.iter().map(|task| task.job).collect();
        let names = self.names(&jobs).await?;
        let row = |task: Task| {
            let name = names.get(&task.job).cloned().unwrap_or_default();
            task_row(task, &name, Vec::new(), &told)
        };
        Ok(TaskPage { rows: page.rows.into_iter().map(row).collect(), next: page.next })
    }

    pub(crate) async fn read_log(&self, read: ReadLog, cx: &CallContext) -> Result<LogView, Fault> {
        let told = self.told(cx)?;
        let not_found = || Code::TaskNotFound.fault().with("task", &read.task).at("task");
        let id: TaskId = read.task.parse().map_err(|_| not_found())?;
        let task = self.store().tasks(&[id]).await?.pop().ok_or_else(not_found)?;
        let mut attempts = self.logs.attempts(id).await?;
        attempts.push(task.attempt());
        attempts.sort_unstable();
        attempts.dedup();
        let attempt = read.attempt.unwrap_or(task.attempt());
        // Asked before the lines are read: what is written in between is there at the next look.
        let closed = attempt < task.attempt() || task.state().is_final();
        let limit = read.limit.unwrap_or(LOG_LINES).clamp(1, MOST_LOG_LINES) as usize;
        let page = self.logs.read(id, attempt, read.from.unwrap_or(0), limit).await?;
        let lines = page.lines.iter().map(|line| line_view(line, &told));
        Ok(LogView {
            task: read.task,
            attempt,
            attempts,
            lines: lines.collect(),
            next: page.next,
            at_end: page.at_end,
            closed,
        })
    }
}

pub(crate) fn instance_id(text: &str) -> Result<InstanceId, Fault> {
    text.parse().map_err(|_| Code::InstanceNotFound.fault().with("instance", text).at("instance"))
}

fn as_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn as_object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

pub(crate) fn instance_row(summary: InstanceSummary, told: &Told, cx: &CallContext) -> InstanceRow {
    let InstanceSummary { instance, job_name, tasks, sharded } = summary;
    let between = |from: Timestamp, to: Timestamp| (to.millis() - from.millis()) as f64;
    let can_cancel = match instance.state.is_final() {
        true => Allowed::no(Words::new("it has ended", "已结束")),
        false => cx.may(Role::Operator),
    };
    let can_retry = match instance.state {
        InstanceState::Failed | InstanceState::Cancelled if !tasks.is_empty() || sharded.is_some() => {
            cx.may(Role::Operator)
        }
        InstanceState::Failed | InstanceState::Cancelled => Allowed::no(Words::new(
            "it ended before it had a task; run the job again",
            "它在生成作业前已结束，请重新运行任务",
        )),
        InstanceState::Waiting | InstanceState::Running => Allowed::no(Words::new("it has not ended", "尚未结束")),
        InstanceState::Succeeded | InstanceState::Superseded => Allowed::no(Words::new(
            "only what failed or was cancelled is tried again",
            "只有失败或已取消的运行可以重试",
        )),
    };
    InstanceRow {
        id: instance.id.to_string(),
        job: instance.job.to_string(),
        job_name,
        version: instance.version,
        origin: instance.origin,
        state: instance.state,
        planned: told.moment(instance.planned),
        due: told.moment(instance.due),
        started: told.maybe(instance.started_at),
        finished: told.maybe(instance.finished_at),
        late_ms: instance.started_at.map(|started| between(instance.due, started).max(0.0)),
        took_ms: instance
            .started_at
            .zip(instance.finished_at)
            .map(|(started, finished)| between(started, finished).max(0.0)),
        tasks: tasks.into_iter().map(|(id, state, attempt)| TaskBrief { id: id.to_string(), state, attempt }).collect(),
        sharding: sharded.as_ref().map(progress),
        can_cancel,
        can_retry,
    }
}

pub(crate) fn task_row(task: Task, job_name: &str, history: Vec<HistoryEntry>, told: &Told) -> TaskRow {
    let history = history.into_iter().map(|entry| HistoryRow {
        at: told.moment(entry.at),
        from: entry.from,
        to: entry.to,
        attempt: entry.attempt,
        executor: entry.executor,
        node: entry.node,
        reason: entry.reason,
    });
    TaskRow {
        id: task.id.to_string(),
        instance: task.instance.to_string(),
        job: task.job.to_string(),
        job_name: job_name.to_owned(),
        part: task.part,
        state: task.state(),
        attempt: task.attempt(),
        attempts_most: task.attempt().max(task.limits.retry.retries + 1),
        lane: task.lane,
        promotions: task.promotions,
        idempotency_key: task.idempotency_key(),
        due: told.moment(task.due_at),
        ready: told.maybe(task.ready_at),
        pushed: told.maybe(task.pushed_at),
        started: told.maybe(task.started_at),
        finished: told.maybe(task.finished_at),
        history: history.collect(),
        result: task.result.as_deref().map(as_value),
        group: task.group,
        processor: task.processor,
        executor: task.executor,
        failure: task.failure,
        stop: task.stop,
    }
}
