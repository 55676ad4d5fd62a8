//! Runs: started, listed, waited for, and what they wrote.

use std::time::{Duration, Instant};

use campanile_api::views::*;
use campanile_model::instance::InstanceState;
use campanile_model::sharding::ShardRange;
use campanile_model::task::TaskState;
use campanile_model::{Code, Fault};
use serde_json::{Map, Value, json};

use crate::arguments::{Logs, OfShards, Run, Runs, Tasks};
use crate::said::Lang;
use crate::session::{Session, write};
use crate::{Answer, data};

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Where the program that ran it has gone, another one takes over within five seconds, or none does.
pub const NOBODY_COMES: Duration = Duration::from_secs(10);

pub async fn run(session: &Session, run: Run) -> Result<Answer, Fault> {
    if let Some(file) = run.data_file.clone() {
        return data::run(session, run, &file).await;
    }
    if run.wait {
        let status: Status = session.ask("status", json!({})).await?;
        if status.node == NodeState::Leaderless {
            // Nobody would run it.
            return Err(Code::NotLeading.fault());
        }
    }
    let parameters = parameters(session, &run).await?;
    let input = json!({"jobs": run.jobs, "parameters": parameters, "beside": run.beside, "executor": run.executor});
    let done: DoneView = session.ask("run_jobs", input).await?;
    match run.wait {
        true => ended(session, &done.instances).await,
        false => started(session, &done),
    }
}

/// Tells of runs that nobody waits for.
pub fn started(session: &Session, done: &DoneView) -> Result<Answer, Fault> {
    match session.is_for_programs() {
        true => write(&format!("{:#}\n", json!(done))),
        false => write(&done.instances.iter().map(|id| format!("{id}\n")).collect::<String>()),
    }
    Ok(Answer::Yes)
}

/// Waits for the end of runs, and tells of it.
pub async fn ended(session: &Session, instances: &[String]) -> Result<Answer, Fault> {
    let mut ended: Vec<InstanceDetail> = Vec::new();
    let mut led_at = Instant::now();
    for instance in instances {
        loop {
            let detail: InstanceDetail = session.ask("get_instance", json!({"instance": instance})).await?;
            if detail.row.state.is_final() {
                ended.push(detail);
                break;
            }
            let status: Status = session.ask("status", json!({})).await?;
            if status.node != NodeState::Leaderless {
                led_at = Instant::now();
            } else if led_at.elapsed() >= NOBODY_COMES {
                return Err(Code::NotLeading.fault());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    match session.is_for_programs() {
        true => write(&format!("{:#}\n", json!(ended))),
        false => {
            let rows: Vec<InstanceRow> = ended.iter().map(|detail| detail.row.clone()).collect();
            write(&told(session, &rows));
        }
    }
    let all_well = ended.iter().all(|detail| detail.row.state == InstanceState::Succeeded);
    Ok(if all_well { Answer::Yes } else { Answer::No })
}

/// What was typed as text is text where the processor wants text, and JSON otherwise.
pub async fn parameters(session: &Session, run: &Run) -> Result<Option<Map<String, Value>>, Fault> {
    if run.param.is_empty() {
        return Ok(None);
    }
    let bootstrap: Bootstrap = session.ask("bootstrap", json!({})).await?;
    let job: JobDetail = session.ask("get_job", json!({"job": run.jobs.first()})).await?;
    let processor = bootstrap
        .processors
        .into_iter()
        .find(|one| one.group == job.spec.executor_group && one.name == job.spec.processor);
    let mut parameters = Map::new();
    for (name, typed) in &run.param {
        let wants_text = processor.as_ref().is_some_and(|one| one.schema["properties"][name]["type"] == "string");
        let value = match wants_text {
            true => Value::String(typed.clone()),
            false => serde_json::from_str(typed).unwrap_or_else(|_| Value::String(typed.clone())),
        };
        parameters.insert(name.clone(), value);
    }
    Ok(Some(parameters))
}

pub async fn list(session: &Session, list: Runs) -> Result<Answer, Fault> {
    let input = json!({
        "job": list.job,
        "states": list.state,
        "executor": list.executor.as_deref().map(of_executor),
        "limit": list.limit,
    });
    session.show("list_instances", input, |page: &InstancePage| told(session, &page.rows)).await.map(|_| Answer::Yes)
}

fn told(session: &Session, rows: &[InstanceRow]) -> String {
    let mut table = session.table(&[
        ("RUN", "执行记录"),
        ("JOB", "任务"),
        ("STATE", "状态"),
        ("DUE", "应触发时间"),
        ("TOOK", "耗时"),
        ("TASKS", "作业"),
    ]);
    for row in rows {
        let tasks: Vec<String> = row.tasks.iter().map(|task| task.state.code().to_string()).collect();
        table.row(vec![
            row.id.clone(),
            row.job_name.clone(),
            state_name(row.state, session.lang).to_owned(),
            row.due.text.clone(),
            row.took_ms.map_or_else(|| "-".to_owned(), duration),
            tasks.join(","),
        ]);
    }
    table.text()
}

fn state_name(state: InstanceState, lang: Lang) -> &'static str {
    let zh = match state {
        InstanceState::Waiting => "等待",
        InstanceState::Running => "运行中",
        InstanceState::Succeeded => "成功",
        InstanceState::Failed => "失败",
        InstanceState::Cancelled => "已取消",
        InstanceState::Superseded => "已作废",
    };
    lang.choose(state.name(), zh)
}

fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms => format!("{:.0} min {:.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0) / 1000.0),
    }
}

pub async fn tasks(session: &Session, list: Tasks) -> Result<Answer, Fault> {
    let told = |page: &TaskPage| {
        let mut table = session.table(&[
            ("TASK", "作业"),
            ("JOB", "任务"),
            ("STATE", "状态"),
            ("ATTEMPT", "尝试"),
            ("EXECUTOR", "执行器"),
            ("DUE", "应触发时间"),
            ("REASON", "原因"),
        ]);
        for row in &page.rows {
            table.row(vec![
                row.id.clone(),
                row.job_name.clone(),
                task_state(row.state, session.lang),
                format!("{}/{}", row.attempt, row.attempts_most),
                row.executor.as_ref().map_or_else(|| "-".to_owned(), |executor| executor.name.clone()),
                row.due.text.clone(),
                row.failure.as_ref().map(|failure| session.lang.of(&failure.message).to_owned()).unwrap_or_default(),
            ]);
        }
        table.text()
    };
    let executor = list.executor.as_deref().map(of_executor);
    let input = json!({"states": list.state, "executor": executor, "limit": list.limit});
    session.show("list_tasks", input, told).await.map(|_| Answer::Yes)
}

/// `group/name`, or the name of one of the group `local`.
fn of_executor(written: &str) -> Value {
    match written.split_once('/') {
        Some((group, name)) => json!({"group": group, "name": name}),
        None => json!({"name": written}),
    }
}

fn task_state(state: TaskState, lang: Lang) -> String {
    format!("{} {}", state.code(), lang.choose(state.name(), state.name_zh()))
}

pub async fn logs(session: &Session, logs: Logs) -> Result<Answer, Fault> {
    let task = task_of(session, &logs.task).await?;
    let mut from = 0;
    loop {
        let input = json!({"task": task, "attempt": logs.attempt, "from": from, "limit": 5000});
        let page: LogView = session.ask("read_log", input).await?;
        from = page.next;
        let mut text = String::new();
        for line in &page.lines {
            match session.is_for_programs() {
                true => text.push_str(&format!("{}\n", json!(line))),
                false => text.push_str(&format!("{} {:<6} {}\n", line.time, line.stream, line.text)),
            }
        }
        write(&text);
        if page.at_end && (page.closed || !logs.follow) {
            return Ok(Answer::Yes);
        }
        if page.at_end {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// A task by its own id, or by that of its run.
async fn task_of(session: &Session, id: &str) -> Result<String, Fault> {
    let of_run: Result<InstanceDetail, Fault> = session.ask("get_instance", json!({"instance": id})).await;
    let Ok(detail) = of_run else { return Ok(id.to_owned()) };
    if detail.row.sharding.is_some() {
        return first_shard(session, id).await;
    }
    Ok(detail.tasks.into_iter().next().map_or_else(|| id.to_owned(), |task| task.id))
}

/// What stands for a run that is cut into shards: the first of its first level.
async fn first_shard(session: &Session, run: &str) -> Result<String, Fault> {
    let sharding: ShardingView = session.ask("get_sharding", json!({"instance": run})).await?;
    let level = sharding.levels.level.first().copied().unwrap_or(0);
    let shard: ShardView = session.ask("get_shard", json!({"instance": run, "level": level, "shard": 0})).await?;
    Ok(shard.task.id)
}

/// `0:3` or `0:3-5`.
fn shard_range(text: &str) -> Result<ShardRange, Fault> {
    let range = || {
        let (level, shards) = text.trim().split_once(':')?;
        let (from, to) = shards.split_once('-').unwrap_or((shards, shards));
        let last: u32 = to.parse().ok()?;
        Some(ShardRange { level: level.parse().ok()?, from: from.parse().ok()?, until: last.checked_add(1)? })
    };
    let wrong = || Code::BadRequest.fault().with("reason", format!("{text} is not LEVEL:FROM-TO")).at("shards");
    range().ok_or_else(wrong)
}

pub async fn change(session: &Session, operation: &str, of: OfShards) -> Result<Answer, Fault> {
    let mut input = json!({"instance": of.run});
    if !of.shards.is_empty() {
        let ranges = of.shards.iter().map(|text| shard_range(text)).collect::<Result<Vec<_>, _>>()?;
        input["shards"] = json!(ranges);
    }
    let told = |_: &DoneView| match operation {
        "cancel_instance" => session.say("it is being stopped\n", "正在停止\n").to_owned(),
        _ => session.say("it is tried again\n", "正在重试\n").to_owned(),
    };
    session.show(operation, input, told).await.map(|_| Answer::Yes)
}
