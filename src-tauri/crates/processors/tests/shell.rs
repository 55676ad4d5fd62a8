//! `shell` with real processes.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use campanile_processors::{ChildLedger, ShellProcessor, ShellShards};
use campanile_sdk::sharding::{Item, Items, Shard};
use campanile_sdk::{
    CancelStage, Class, Processor, ShardingProcessor, TaskError, log::Stream, proto::v1, testing::TestRun,
};
use serde_json::{Value, json};

struct World {
    _home: tempfile::TempDir,
    folder: std::path::PathBuf,
    shell: Arc<ShellProcessor>,
    ledger: Arc<ChildLedger>,
}

fn world() -> World {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("children");
    let ledger = Arc::new(ChildLedger::open(&folder).unwrap());
    World { _home: home, folder, shell: Arc::new(ShellProcessor::new(ledger.clone())), ledger }
}

impl World {
    async fn run(&self, parameters: Value) -> (Result<Value, TaskError>, TestRun) {
        let run = TestRun::new(parameters);
        let outcome = self.shell.process(run.context()).await;
        (outcome, run)
    }

    fn records(&self) -> usize {
        fs::read_dir(&self.folder).unwrap().count()
    }
}

fn failed(outcome: Result<Value, TaskError>) -> (Class, String, String) {
    let error = outcome.unwrap_err();
    (error.class().unwrap(), error.code().unwrap().to_owned(), error.message().to_owned())
}

fn is_running(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

/// The first line that `path` gets, as a number: how a child says which one it is.
async fn number_in(path: &Path) -> i32 {
    tokio::time::timeout(std::time::Duration::from_secs(10), async {
        loop {
            if let Ok(text) = fs::read_to_string(path)
                && let Some((line, _)) = text.split_once('\n')
            {
                return line.trim().parse().unwrap();
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the child says its number")
}

#[tokio::test]
async fn a_shard_finds_its_items_in_a_file_one_in_a_line() {
    let world = world();
    let run = TestRun::new(json!({"command": "cat \"$CAMPANILE_SHARD_ITEMS\""}));
    let (arriving, items) = tokio::sync::mpsc::channel(3);
    for (index, value) in [json!({"id": 7}), json!("a\nb"), Value::Null].into_iter().enumerate() {
        arriving.send(Ok(Item { level: 0, index: index as u64, value })).await.unwrap();
    }
    drop(arriving);
    let shard = Shard { level: 0, level_count: 1, index: 0, count: 1, round: 1, item_count: 3 };
    let shards = ShellShards(world.shell.clone());
    let result = shards.sharding_process(run.context(), shard, Items::new(items)).await.unwrap();
    assert!(result.to_string().contains(r#"{\"id\":7}\n\"a\\nb\"\nnull"#), "{result}");
}

#[tokio::test]
async fn a_shard_whose_items_break_off_runs_nothing() {
    let world = world();
    let run = TestRun::new(json!({"command": "true"}));
    let (arriving, items) = tokio::sync::mpsc::channel(1);
    arriving.send(Err(TaskError::transient("broke", "the stream broke"))).await.unwrap();
    let shard = Shard { level: 0, level_count: 1, index: 0, count: 1, round: 1, item_count: 3 };
    let outcome = ShellShards(world.shell.clone()).sharding_process(run.context(), shard, Items::new(items)).await;
    assert_eq!(failed(outcome).1, "broke");
    assert_eq!(world.records(), 0);
}

#[tokio::test]
async fn output_becomes_log_lines_and_the_end_of_it_the_result() {
    let world = world();
    let (outcome, mut run) = world.run(json!({"command": "echo out; echo err >&2; printf last"})).await;
    assert_eq!(outcome.unwrap(), json!({"exitCode": 0, "stdout": "out\nlast"}));
    let mut lines: Vec<_> = run.lines().iter().map(|line| (line.stream(), line.text.clone())).collect();
    lines.sort_by_key(|(stream, _)| i32::from(*stream));
    assert_eq!(
        lines,
        [
            (Stream::Stdout.into(), "out".to_owned()),
            (Stream::Stdout.into(), "last".to_owned()),
            (v1::LogStream::Stderr, "err".to_owned())
        ]
    );
    assert_eq!(world.records(), 0);
}

#[tokio::test]
async fn a_command_knows_its_task_its_folder_and_its_environment_and_has_no_input() {
    let world = world();
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = world
        .run(json!({
            "command": "echo $CAMPANILE_TASK_ID $CAMPANILE_ATTEMPT $CAMPANILE_JOB $CAMPANILE_IDEMPOTENCY_KEY; pwd; echo $GREETING; cat",
            "workingFolder": folder.path(),
            "environment": {"GREETING": "你好"},
        }))
        .await;
    let expected = format!("test-task 1 test test-key\n{}\n你好\n", folder.path().canonicalize().unwrap().display());
    assert_eq!(outcome.unwrap()["stdout"], json!(expected));
}

#[tokio::test]
async fn exit_codes_decide_the_outcome() {
    let world = world();
    let exited = |class, code| (class, "k_sc_ec_300012".to_owned(), format!("the command ended with exit code {code}"));
    let (outcome, _) = world.run(json!({"command": "exit 3"})).await;
    assert_eq!(failed(outcome), exited(Class::Transient, 3));
    let (outcome, _) = world.run(json!({"command": "exit 3", "businessCodes": [3]})).await;
    assert_eq!(failed(outcome), exited(Class::Business, 3));
    let (outcome, _) = world.run(json!({"command": "exit 3", "successCodes": [0, 3]})).await;
    assert_eq!(outcome.unwrap()["exitCode"], json!(3));
    let (outcome, _) = world.run(json!({"command": "kill -SEGV $$"})).await;
    let (class, code, message) = failed(outcome);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300013"));
    assert_eq!(message, "the command was ended by signal SIGSEGV");
}

#[tokio::test]
async fn a_command_that_is_not_there_says_which() {
    let world = world();
    let (outcome, _) = world.run(json!({"command": "no-such-command --now"})).await;
    let (class, code, message) = failed(outcome);
    assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300011"));
    assert!(message.contains("no-such-command"), "{message}");
    let (outcome, _) = world.run(json!({"command": "/etc/passwd"})).await;
    let (class, code, _) = failed(outcome);
    assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300023"));
    let (outcome, _) = world.run(json!({"command": "true", "shell": "/no/such/shell"})).await;
    assert_eq!(failed(outcome).1, "k_sc_ec_300011");
    let (outcome, _) = world.run(json!({"command": "true", "shell": "no-such-shell"})).await;
    assert_eq!(failed(outcome).1, "k_sc_ec_300011");
}

#[tokio::test]
async fn wrong_parameters_are_refused_and_named() {
    let world = world();
    for (parameters, code, named) in [
        (json!({}), "k_sc_ec_300010", "command"),
        (json!({"command": " "}), "k_sc_ec_300010", "command"),
        (json!({"command": "true", "folder": "/"}), "k_sc_ec_300010", "folder"),
        (json!({"command": "true", "environment": {"A=B": ""}}), "k_sc_ec_300010", "environment.A=B"),
        (json!({"command": "true", "environment": {"CAMPANILE_BOOT": "x"}}), "k_sc_ec_300010", "CAMPANILE_BOOT"),
        (json!({"command": "true", "successCodes": ["0"]}), "k_sc_ec_300010", "successCodes[0]"),
        (json!({"command": "true", "workingFolder": "/no/such"}), "k_sc_ec_300020", "/no/such"),
        (json!({"command": "x".repeat(200_000)}), "k_sc_ec_300010", "command"),
    ] {
        let (outcome, _) = world.run(parameters).await;
        let (class, found, message) = failed(outcome);
        assert_eq!((class, found.as_str()), (Class::Business, code), "{message}");
        assert!(message.contains(named), "{message}");
    }
}

#[tokio::test]
async fn a_line_of_five_megabytes_and_bytes_that_are_no_text_are_kept_within_bounds() {
    let world = world();
    let (outcome, mut run) = world
        .run(json!({"command": r"head -c 5242880 /dev/zero | tr '\0' x; echo; printf 'a\377\376b\n'; echo after"}))
        .await;
    assert!(outcome.unwrap()["stdout"].as_str().unwrap().ends_with("a\u{fffd}\u{fffd}b\nafter\n"));
    let lines = run.lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].cut_bytes, 5_242_880 - 65_536);
    assert!(lines[0].text.len() < 66_000 && lines[0].text.contains("bytes cut"));
    assert_eq!(lines[1].text, "a\u{fffd}\u{fffd}b");
    assert_eq!(lines[2].text, "after");
}

#[tokio::test]
async fn term_goes_to_the_whole_group_with_grandchildren() {
    let world = world();
    let told = tempfile::tempdir().unwrap();
    let grandchild = told.path().join("grandchild");
    let run = TestRun::new(json!({
        "command": format!("sh -c 'echo $$ > {}; sleep 1000' & wait", grandchild.display())
    }));
    let (shell, ctx) = (world.shell.clone(), run.context());
    let running = tokio::spawn(async move { shell.process(ctx).await });
    let grandchild = number_in(&grandchild).await;
    assert_eq!(world.records(), 1);
    run.cancel(CancelStage::Ask);
    assert!(is_running(grandchild));
    run.cancel(CancelStage::Terminate);
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.message(), "ended by SIGTERM");
    assert!(error.is_cancelled());
    assert!(!is_running(grandchild));
    assert_eq!(world.records(), 0);
}

#[tokio::test]
async fn kill_ends_what_does_not_hear_term() {
    let world = world();
    let told = tempfile::tempdir().unwrap();
    let grandchild = told.path().join("grandchild");
    let run = TestRun::new(json!({
        "command": format!("trap '' TERM; sh -c 'echo $$ > {}; while :; do sleep 1000; done' & wait; wait", grandchild.display())
    }));
    let (shell, ctx) = (world.shell.clone(), run.context());
    let running = tokio::spawn(async move { shell.process(ctx).await });
    let grandchild = number_in(&grandchild).await;
    run.cancel(CancelStage::Terminate);
    run.cancel(CancelStage::Kill);
    assert_eq!(running.await.unwrap().unwrap_err().message(), "ended by SIGKILL");
    assert!(!is_running(grandchild));
}

#[tokio::test]
async fn after_a_failure_nothing_of_the_group_is_left() {
    let world = world();
    let (outcome, mut run) = world.run(json!({"command": "sleep 1000 & echo $!; exit 4"})).await;
    assert_eq!(failed(outcome).1, "k_sc_ec_300012");
    let background: i32 = run.log()[0].parse().unwrap();
    assert!(!is_running(background));
    assert_eq!(world.records(), 0);
}

#[tokio::test]
async fn after_a_success_the_background_goes_on_until_the_next_boot() {
    let world = world();
    let (outcome, mut run) = world.run(json!({"command": "sleep 1000 & echo $!"})).await;
    assert!(outcome.is_ok());
    let background: i32 = run.log()[0].parse().unwrap();
    assert!(is_running(background));
    assert!(run.log()[1].starts_with("still running in the background"), "{:?}", run.log());
    assert_eq!(world.ledger.end_strays("test-boot").await.unwrap(), [], "this boot's own are left alone");
    let ended = world.ledger.end_strays("next-boot").await.unwrap();
    assert_eq!(ended.len(), 1);
    assert_eq!((ended[0].pid, ended[0].task.as_str(), ended[0].killed), (background, "test-task", false));
    assert!(!is_running(background));
    assert_eq!(world.records(), 0);
}

/// What a killed parent leaves: the child's parent is not us, only record and mark
/// are there.
#[tokio::test]
async fn children_of_a_killed_parent_are_found_also_outside_their_group() {
    let world = world();
    let told = tempfile::tempdir().unwrap();
    let (leader, apart) = (told.path().join("leader"), told.path().join("apart"));
    let home = fs::canonicalize(&world.folder).unwrap();
    let script = format!(
        "echo $$ > {}; setsid sh -c 'trap \"\" TERM; echo $$ > {}; while :; do sleep 1000; done' & while :; do sleep 1000; done",
        leader.display(),
        apart.display()
    );
    let mut parent = Command::new("/bin/sh")
        .args(["-c", "setsid sh -c \"$0\" & exit 0", &script])
        .env("CAMPANILE_BOOT", "killed-boot")
        .env("CAMPANILE_HOME", &home)
        .process_group(0)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    parent.wait().unwrap();
    let (leader, apart) = (number_in(&leader).await, number_in(&apart).await);
    let stat = fs::read_to_string(format!("/proc/{leader}/stat")).unwrap();
    let start_ticks: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let machine_boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let record = json!({
        "pid": leader, "startTicks": start_ticks, "machineBoot": machine_boot.trim(),
        "boot": "killed-boot", "task": "t-1", "attempt": 2,
    });
    fs::write(world.folder.join(format!("{leader}.json")), record.to_string()).unwrap();
    fs::write(world.folder.join("1.tmp"), "half a rec").unwrap();

    let ended = world.ledger.end_strays("new-boot").await.unwrap();
    assert!(!is_running(leader) && !is_running(apart));
    let of = |pid| ended.iter().find(|ended| ended.pid == pid).unwrap();
    assert_eq!((of(leader).task.as_str(), of(leader).attempt, of(leader).killed), ("t-1", 2, false));
    assert!(of(apart).killed, "it did not hear TERM");
    assert_eq!(world.records(), 0);
}

#[tokio::test]
async fn a_pid_that_is_someone_elses_by_now_is_left_alone() {
    let world = world();
    let mut innocent = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
    let record = json!({
        "pid": innocent.id(), "startTicks": 1, "machineBoot": "another start of the machine",
        "boot": "old-boot", "task": "t-1", "attempt": 1,
    });
    fs::write(world.folder.join("9.json"), record.to_string()).unwrap();
    assert_eq!(world.ledger.end_strays("new-boot").await.unwrap(), []);
    assert!(is_running(i32::try_from(innocent.id()).unwrap()));
    assert_eq!(world.records(), 0);
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

/// As when we are killed between starting the gate and recording it.
#[tokio::test]
async fn a_child_that_could_not_be_recorded_never_runs() {
    let world = world();
    let told = tempfile::tempdir().unwrap();
    let mark = told.path().join("ran");
    fs::remove_dir_all(&world.folder).unwrap();
    let home = world.folder.display().to_string();
    let (outcome, _) = world.run(json!({"command": format!("touch {}", mark.display())})).await;
    let (class, code, _) = failed(outcome);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300029"));
    let gates = || {
        fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            fs::read(entry.path().join("environ"))
                .is_ok_and(|environment| String::from_utf8_lossy(&environment).contains(&home))
        })
    };
    while gates() {
        tokio::task::yield_now().await;
    }
    assert!(!mark.exists());
}
