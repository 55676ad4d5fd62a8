//! Several programs on one folder, as processes.

use std::fs;
use std::time::Instant;

use campanile_tests::campanile::{Campanile, task_processes, wait_for, wait_until};
use serde_json::json;

#[test]
fn of_two_programs_the_second_is_a_console_and_takes_over_within_five_seconds() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    let command = format!("echo $CAMPANILE_PLANNED $CAMPANILE_ATTEMPT >> '{}'", diary.display());
    campanile.applies(&[json!({
        "name": "tick",
        "schedule": {"kind": "fixedRate", "everySeconds": 1},
        "processor": "shell",
        "parameters": {"command": command},
    })]);
    let ticks = || fs::read_to_string(&diary).unwrap_or_default().lines().count();

    let first = campanile.serves();
    wait_until("the first one works", || ticks() >= 2);
    let second = campanile.serves();
    // A console of its own: what is asked through it is carried out by the first.
    assert_ne!(first.url, second.url);
    let before = ticks();
    wait_until("the first one goes on", || ticks() > before);

    let killed_at = Instant::now();
    first.kill_9();
    let before = ticks();
    let taken_over = wait_for("the second one takes over", || (ticks() > before).then(|| killed_at.elapsed()));
    println!("taken over, the first tick {} ms after the kill", taken_over.as_millis());
    let leading = second.said().lines().any(|line| line.contains("leading"));
    assert!(leading, "it says so");

    campanile.checks_the_ledger();
    assert!(second.stop().success());
    let text = fs::read_to_string(&diary).unwrap_or_default();
    let mut attempts: Vec<&str> = text.lines().collect();
    let all = attempts.len();
    attempts.sort_unstable();
    attempts.dedup();
    assert_eq!(attempts.len(), all, "an attempt at a time ran twice:\n{text}");
}

#[test]
fn with_nobody_there_a_command_carries_out_what_it_is_asked_and_starts_nothing() {
    let mut campanile = Campanile::new();
    let mark = campanile.beside("mark");
    let touch = |name: &str| {
        json!({
            "name": name,
            "schedule": {"kind": "fixedRate", "everySeconds": 1},
            "processor": "shell",
            "parameters": {"command": format!("echo {name} >> '{}'", mark.display())},
        })
    };
    campanile.applies(&[touch("kept"), touch("paused")]);
    campanile.cli(&["pause", "paused"]).done();
    let started = campanile.cli(&["run", "kept"]).done();
    assert_eq!(started["instances"].as_array().map(Vec::len), Some(1));
    let jobs = campanile.cli(&["jobs"]).done();
    let paused: Vec<bool> = jobs.as_array().expect("jobs").iter().map(|job| job["paused"] == true).collect();
    assert_eq!(paused, [false, true]);
    assert_eq!(campanile.runs("kept").len(), 1, "it waits for somebody to run it");
    assert_eq!(campanile.runs("kept")[0]["state"], "waiting");
    assert!(!mark.exists() && task_processes(campanile.data()).is_empty(), "nothing was started");

    // To wait for its end would be to wait for ever.
    let refused = campanile.cli(&["run", "kept", "--wait"]).refused();
    assert_eq!(refused, (4, "k_sc_ec_600001".to_owned()));

    let serve = campanile.serves();
    wait_until("it is run", || fs::read_to_string(&mark).is_ok_and(|text| text.contains("kept")));
    campanile.checks_the_ledger();
    assert!(serve.stop().success());
    let text = fs::read_to_string(&mark).expect("it was written");
    assert!(!text.contains("paused"));
}

#[test]
fn what_a_command_asks_is_carried_out_by_the_program_that_is_there() {
    let mut campanile = Campanile::new();
    let serve = campanile.serves();
    campanile.applies(&[json!({
        "name": "greet",
        "schedule": {"kind": "manual"},
        "processor": "shell",
        "parameters": {"command": "echo hello"},
    })]);
    let run = campanile.runs_to_its_end("greet");
    assert_eq!(run["row"]["state"], "succeeded");
    assert_eq!(campanile.log(run["row"]["id"].as_str().expect("an id")), ["hello"]);

    let run = campanile.cli(&["run", "greet", "--param", "command=echo 你好", "--wait"]).done();
    assert_eq!(campanile.log(run[0]["row"]["id"].as_str().expect("an id")), ["你好"]);
    assert!(serve.stop().success());
}

#[test]
fn a_program_that_leaves_in_good_order_ends_what_runs_and_its_task_is_tried_again() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    campanile.applies(&[json!({
        "name": "long",
        "schedule": {"kind": "manual"},
        "processor": "shell",
        "parameters": {"command": format!("echo $CAMPANILE_ATTEMPT >> '{}'; [ $CAMPANILE_ATTEMPT = 2 ] || sleep 600", diary.display())},
    })]);
    let serve = campanile.serves();
    campanile.cli(&["run", "long"]).done();
    wait_until("it runs", || diary.exists());
    assert!(serve.stop().success());
    assert_eq!(task_processes(campanile.data()), [], "no child outlives it");

    let serve = campanile.serves();
    wait_until("it is tried again and succeeds", || campanile.runs("long")[0]["state"] == "succeeded");
    assert_eq!(fs::read_to_string(&diary).expect("it was written"), "1\n2\n");
    assert!(serve.stop().success());
}
