//! How long it takes until work goes on after somebody has died: an executor, a node. Real programs, really killed.

use std::path::Path;

use anyhow::{Context as _, ensure};
use campanile_model::Timestamp;
use campanile_model::task::{Task, TaskState};
use campanile_store::{Archive as _, ExecutorStore as _, HistoryEntry, InstanceFilter, TaskStore as _};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, Member, free_address, wait_for, wait_until};
use serde_json::{Value, json};

use crate::executor::GROUP;
use crate::figures::Spans;
use crate::rig::now;

const RUNS: usize = 20;

fn executor(campanile: &Campanile, nodes: &str, name: &str) -> anyhow::Result<Member> {
    let own = std::env::current_exe()?.to_str().context("a path that can be written")?.to_owned();
    let record = campanile.beside(&format!("{name}.log"));
    let command = [own, "executor".to_owned()];
    Ok(Member::starts(&command, nodes, name, RUNS as u32, &campanile.beside("diary"), &record))
}

/// How many executors of the bench are there.
#[tokio::main(flavor = "current_thread")]
async fn connected(data: &Path) -> anyhow::Result<usize> {
    let store = SqliteStore::open(&data.join("campanile.db")).await?;
    let there = store.executors().await?;
    store.close().await?;
    Ok(there.iter().filter(|(entry, _)| entry.connected && entry.executor.group == GROUP).count())
}

/// Of every task its history.
#[tokio::main(flavor = "current_thread")]
async fn tasks(data: &Path) -> anyhow::Result<Vec<(Task, Vec<HistoryEntry>)>> {
    let store = SqliteStore::open(&data.join("campanile.db")).await?;
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.instance_page(&InstanceFilter::default(), cursor, 500).await?;
        for row in page.rows {
            for task in store.tasks_of(row.instance.id).await? {
                let history = store.history(task.id).await?;
                found.push((task, history));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    store.close().await?;
    Ok(found)
}

/// Executors that die with work in their hands.
pub fn of_executors() -> anyhow::Result<()> {
    for (what, freezes) in [("killed", false), ("frozen", true)] {
        let mut campanile = Campanile::new();
        let names: Vec<String> = (0..RUNS).map(|n| format!("long-{n}")).collect();
        let retry = json!({"retries": 3, "baseSeconds": 0.1, "maxSeconds": 1});
        let job = |name: &String| {
            json!({
                "name": name, "schedule": {"kind": "manual"}, "executorGroup": GROUP, "processor": "sleep",
                "retry": retry,
            })
        };
        campanile.applies(&names.iter().map(job).collect::<Vec<Value>>());
        let serve = campanile.serves_with(&["--executors", "127.0.0.1:0"]);
        let address = serve.executors.clone().context("it listens")?;
        let mut dies = Some(executor(&campanile, &address, "dies")?);
        let mut run = vec!["run"];
        run.extend(names.iter().map(String::as_str));
        campanile.cli(&run).done();
        let all_run_at = |name: &str, attempt: u32| {
            let tasks = tasks(campanile.data()).unwrap_or_default();
            let runs = |task: &Task| {
                task.state() == TaskState::Running
                    && task.attempt() == attempt
                    && task.executor.as_ref().is_some_and(|executor| executor.name == name)
            };
            tasks.iter().filter(|(task, _)| runs(task)).count() == RUNS
        };
        wait_until("all of them run", || all_run_at("dies", 1));
        let _lives = executor(&campanile, &address, "lives")?;
        wait_until("another is there", || connected(campanile.data()).is_ok_and(|there| there == 2));
        let died_at = now();
        match freezes {
            true => dies.as_ref().context("it runs")?.freeze(),
            false => dies.take().context("it runs")?.kill_9(),
        }
        wait_until("all of them run elsewhere", || all_run_at("lives", 2));
        let tasks = tasks(campanile.data())?;
        let spans = |to: TaskState, attempt: u32| {
            let moves = tasks.iter().flat_map(|(_, history)| history);
            let those = moves.filter(|made| made.to == to && made.attempt == attempt && made.from != made.to);
            Spans::of(those.map(|made| made.at.since(died_at).as_millis() as i64))
        };
        println!("recovery    an executor {what} with {RUNS} tasks:");
        println!("            found to be lost   {}", spans(TaskState::ExecutorLost, 1));
        println!("            run by another     {}", spans(TaskState::Running, 2));
        campanile.checks_the_ledger();
    }
    Ok(())
}

/// A node that dies in the middle of its work, with another on its folder, or without.
pub fn of_nodes() -> anyhow::Result<()> {
    for stands_by in [true, false] {
        let mut campanile = Campanile::new();
        let job = |n: usize| {
            json!({
                "name": format!("each-second-{n}"), "schedule": {"kind": "fixedRate", "everySeconds": 1},
                "executorGroup": GROUP, "processor": "nothing", "overlap": "allow",
                "misfire": {"policy": "catchUp"},
            })
        };
        campanile.applies(&(0..RUNS).map(job).collect::<Vec<Value>>());
        let addresses = [free_address(), free_address()];
        let first = campanile.serves_with(&["--executors", &addresses[0]]);
        let _works = executor(&campanile, &addresses.join(","), "works")?;
        let done = |since: Timestamp| {
            let tasks = tasks(campanile.data()).unwrap_or_default();
            tasks.iter().filter(|(task, _)| task.started_at.is_some_and(|at| at > since)).count()
        };
        wait_until("it works", || done(Timestamp::EPOCH) >= RUNS * 2);
        let second = stands_by.then(|| campanile.serves_with(&["--executors", &addresses[1]]));
        let died_at = now();
        first.kill_9();
        let second = second.unwrap_or_else(|| campanile.serves_with(&["--executors", &addresses[1]]));
        let done = |since: Timestamp| {
            let tasks = tasks(campanile.data()).unwrap_or_default();
            tasks.iter().filter(|(task, _)| task.started_at.is_some_and(|at| at > since)).count()
        };
        wait_until("work goes on", || done(died_at) >= RUNS * 2);
        let names: Vec<String> = (0..RUNS).map(|n| format!("each-second-{n}")).collect();
        let mut pause = vec!["pause"];
        pause.extend(names.iter().map(String::as_str));
        campanile.cli(&pause).done();
        wait_for("all is done", || {
            let page = campanile.cli(&["runs", "--state", "waiting", "--state", "running"]).done();
            page["rows"].as_array().is_some_and(Vec::is_empty).then_some(())
        });
        let tasks = tasks(campanile.data())?;
        let unfinished = tasks.iter().filter(|(task, _)| task.state() != TaskState::Succeeded).count();
        ensure!(unfinished == 0, "{unfinished} of {} tasks did not come to their end", tasks.len());
        let started = tasks.iter().filter_map(|(task, _)| task.started_at).filter(|at| *at > died_at).min();
        let fired = tasks.iter().filter_map(|(task, _)| task.ready_at).filter(|at| *at > died_at).min();
        let (started, fired) = (started.context("work went on")?, fired.context("firings went on")?);
        let how = if stands_by { "with another standing by" } else { "and started again at once" };
        println!(
            "recovery    a node killed, {how}: fires again after {:.2?}, runs again after {:.2?}; {} runs, none lost",
            fired.since(died_at),
            started.since(died_at),
            tasks.len()
        );
        campanile.checks_the_ledger();
        drop(second);
    }
    Ok(())
}
