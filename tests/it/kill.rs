//! kill -9 of a node in the middle of its work, over and over: nothing is lost, nothing is doubled, nothing is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use campanile_model::instance::InstanceState;
use campanile_model::task::TaskState;
use campanile_store::{Archive as _, InstanceFilter, TaskStore as _};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, TaskProcess, task_processes, wait_for, wait_until};
use serde_json::{Value, json};

const JOBS: usize = 50;

fn rounds() -> usize {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some_and(|soak| soak != "0");
    if soak { 20 } else { 5 }
}

/// Jobs that fire every second or two, and whose runs last one to three, but that the first attempts of every fifth one
/// go on for long, so that they outlive the node that is killed; each tells when it begins and when it ends.
fn jobs(diary: &Path) -> Vec<Value> {
    let diary = diary.display();
    (0..JOBS)
        .map(|n| {
            let tell = |what: &str| format!(r#"echo "{what} $CAMPANILE_TASK_ID $CAMPANILE_ATTEMPT $$" >> '{diary}'"#);
            let long = if n % 5 == 4 { 30 } else { 1 + n % 3 };
            let sleep = format!("if [ $CAMPANILE_ATTEMPT = 1 ]; then sleep {long}; else sleep 1; fi");
            let command = format!("{}; {sleep}; {}", tell("begins"), tell("ends"));
            json!({
                "name": format!("busy-{n:02}"),
                "schedule": {"kind": "fixedRate", "everySeconds": 1 + n % 2},
                "processor": "shell",
                "parameters": {"command": command},
                "retry": {"retries": 30, "baseSeconds": 0.2, "maxSeconds": 1},
            })
        })
        .collect()
}

/// (task, attempt) of each line of the diary that says so, in order.
fn told(diary: &Path, what: &str) -> Vec<(String, u32)> {
    let text = fs::read_to_string(diary).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            (words.next() == Some(what)).then_some(())?;
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        })
        .collect()
}

fn no_attempt_began_twice(diary: &Path) {
    let mut seen = BTreeSet::new();
    let twice: Vec<_> = told(diary, "begins").into_iter().filter(|attempt| !seen.insert(attempt.clone())).collect();
    assert!(twice.is_empty(), "attempts began twice: {twice:?}");
}

/// Of those that run now, such as belong to a life that is over.
fn strays(data: &Path, lives: &BTreeSet<String>) -> Vec<TaskProcess> {
    task_processes(data).into_iter().filter(|process| lives.contains(&process.boot)).collect()
}

/// How many tasks have processes now.
fn at_work(data: &Path) -> usize {
    let tasks: BTreeSet<String> = task_processes(data).into_iter().map(|process| process.task).collect();
    tasks.len()
}

#[test]
fn a_node_killed_in_the_middle_of_its_work_loses_nothing_and_runs_nothing_twice() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    campanile.applies(&jobs(&diary));
    let mut lives_over: BTreeSet<String> = BTreeSet::new();

    for round in 0..rounds() {
        let serve = campanile.serves_with(&["--capacity", "50"]);
        if round > 0 {
            assert!(!strays(campanile.data(), &lives_over).is_empty(), "round {round}: nothing outlived the node");
        }
        // Someone works again, and by then nobody of an earlier life does.
        let began_before = told(&diary, "begins").len();
        let present = wait_for("the new life runs something", || {
            let now = task_processes(campanile.data());
            now.iter().any(|process| !lives_over.contains(&process.boot)).then_some(now)
        });
        let old: Vec<_> = present.iter().filter(|process| lives_over.contains(&process.boot)).collect();
        let still: Vec<_> = strays(campanile.data(), &lives_over);
        assert!(
            old.iter().all(|process| !still.contains(process)),
            "round {round}: children of an earlier life run beside the new one: {old:?}"
        );
        campanile.checks_the_ledger();

        // Killed at another place each time, with nearly all of the jobs at work.
        let more = JOBS + 17 * (round % 5);
        wait_until("it is in the middle of work", || {
            told(&diary, "begins").len() >= began_before + more && at_work(campanile.data()) >= JOBS * 3 / 4
        });
        lives_over.extend(task_processes(campanile.data()).into_iter().map(|process| process.boot));
        serve.kill_9();
        no_attempt_began_twice(&diary);
    }

    let serve = campanile.serves_with(&["--capacity", "50"]);
    let names: Vec<String> = (0..JOBS).map(|n| format!("busy-{n:02}")).collect();
    let mut pause = vec!["pause"];
    pause.extend(names.iter().map(String::as_str));
    campanile.cli(&pause).done();
    wait_until("everything has ended", || {
        let page = campanile.cli(&["runs", "--state", "waiting", "--state", "running"]).done();
        page["rows"].as_array().is_some_and(Vec::is_empty)
    });
    campanile.checks_the_ledger();
    assert_eq!(task_processes(campanile.data()), [], "nothing runs any more");
    assert!(serve.stop().success());
    no_attempt_began_twice(&diary);
    everything_is_on_record(campanile.data(), &diary);
}

/// What the diary tells and what the store has kept are one story.
#[tokio::main(flavor = "current_thread")]
async fn everything_is_on_record(data: &Path, diary: &Path) {
    let store = SqliteStore::open(&data.join("campanile.db")).await.expect("the database");
    let mut kept = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = store.instance_page(&InstanceFilter::default(), cursor, 500).await.expect("instances");
        for row in page.rows {
            assert_eq!(row.instance.state, InstanceState::Succeeded, "{} {:?}", row.job_name, row.tasks);
            for task in store.tasks_of(row.instance.id).await.expect("tasks") {
                let history = store.history(task.id).await.expect("a history");
                kept.insert(task.id.to_string(), (task, history));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let ended: BTreeSet<_> = told(diary, "ends").into_iter().collect();
    for (id, (task, _)) in &kept {
        assert_eq!(task.state(), TaskState::Succeeded);
        assert!(ended.contains(&(id.clone(), task.attempt())), "{task:?} is said to have ended well, and did not");
    }
    let begun = told(diary, "begins");
    for (id, attempt) in &begun {
        let (task, history) = kept.get(id).unwrap_or_else(|| panic!("{id} ran and nobody knows of it"));
        let known = *attempt <= task.attempt() && history.iter().any(|entry| entry.attempt == *attempt);
        assert!(known, "attempt {attempt} of {id} ran and nobody knows of it");
    }
    println!("{} attempts at {} tasks, {} of them ended", begun.len(), kept.len(), ended.len());
    assert!(kept.len() > JOBS, "hardly anything ran");
    assert!(ended.len() + rounds() < begun.len(), "hardly anything was cut off in the middle");
    store.close().await.expect("it is closed");
}
