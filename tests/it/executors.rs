//! Executors as processes of their own, over the network: they work, die, freeze and come back, and so does the node.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use campanile_store::{Archive as _, HistoryEntry, TaskStore as _};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, Serve, wait_for, wait_until};
use serde_json::{Value, json};

/// An executor that runs as a process.
struct Executor {
    child: Child,
    record: PathBuf,
}

impl Executor {
    fn starts(campanile: &Campanile, name: &str, words: &[&str]) -> Executor {
        let record = campanile.beside(&format!("{name}.log"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_demo-executor"));
        command.args(["--name", name]).args(words).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&record).expect("a record"));
        Executor { child: command.spawn().expect("it can be started"), record }
    }

    fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill can be run");
        assert!(told.success(), "it is gone already");
    }

    fn kill_9(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }

    /// It goes by itself: what it said.
    fn ends(mut self) -> (bool, String) {
        let status = wait_for("the executor ends", || self.child.try_wait().expect("it can be asked"));
        (status.success(), fs::read_to_string(&self.record).unwrap_or_default())
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // It has ended already where this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the stories write it out where they call")]
fn job(name: &str, processor: &str, parameters: Value) -> Value {
    json!({
        "name": name,
        "schedule": {"kind": "manual"},
        "executorGroup": "demo",
        "processor": processor,
        "parameters": parameters,
        "retry": {"retries": 3, "baseSeconds": 0.2, "maxSeconds": 1},
    })
}

fn diary_job(name: &str, diary: &Path, seconds: &[f64]) -> Value {
    job(name, "diary", json!({"diary": diary, "seconds": seconds}))
}

/// The words of each line of the diary.
fn lines(diary: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(diary).unwrap_or_default();
    text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn count(diary: &Path, what: &str) -> usize {
    lines(diary).iter().filter(|line| line[0] == what).count()
}

/// The only task of the job's only run.
fn task(campanile: &Campanile) -> Value {
    campanile.cli(&["tasks"]).done()["rows"][0].clone()
}

fn code(campanile: &Campanile) -> i64 {
    task(campanile)["state"].as_i64().unwrap_or_default()
}

fn runs(campanile: &Campanile, job: &str) -> String {
    let done = campanile.cli(&["run", job]).done();
    done["instances"][0].as_str().expect("a run").to_owned()
}

/// What is written of the only task of a run.
#[tokio::main(flavor = "current_thread")]
async fn history(data: &Path, run: &str) -> Vec<HistoryEntry> {
    let store = SqliteStore::open(&data.join("campanile.db")).await.expect("the database");
    let tasks = store.tasks_of(run.parse().expect("an id")).await.expect("tasks");
    let history = store.history(tasks[0].id).await.expect("a history");
    store.close().await.expect("it is closed");
    history
}

/// No attempt was begun twice, whoever began it.
fn nothing_began_twice(diary: &Path) {
    let mut begun: Vec<String> =
        lines(diary).iter().filter(|line| line[0] == "begins").map(|line| line[1..3].join(" ")).collect();
    let all = begun.len();
    begun.sort();
    begun.dedup();
    assert_eq!(begun.len(), all, "{:?}", lines(diary));
}

fn listening(campanile: &mut Campanile) -> (Serve, String) {
    let serve = campanile.serves_with(&["--executors", "127.0.0.1:0"]);
    let address = serve.executors.clone().expect("it listens");
    (serve, address)
}

#[test]
fn an_executor_in_another_process_runs_what_a_job_asks() {
    let mut campanile = Campanile::new();
    campanile.applies(&[job("hi", "greet", json!({"name": "mei"})), job("falls", "panic", json!({}))]);
    let (_serve, address) = listening(&mut campanile);
    let executor = Executor::starts(&campanile, "demo-1", &["--node", &address]);

    let ended = campanile.runs_to_its_end("hi");
    assert_eq!(ended["row"]["state"], "succeeded", "{ended}");
    assert_eq!(campanile.log(ended["row"]["id"].as_str().expect("a run")), ["hello, mei"]);
    assert_eq!(task(&campanile)["executor"]["name"], "demo-1");

    // A panic fails its task and no more.
    let fallen = campanile.runs_to_its_end("falls");
    assert_eq!(fallen["row"]["state"], "failed", "{fallen}");
    assert_eq!(campanile.runs_to_its_end("hi")["row"]["state"], "succeeded");

    // It leaves in good order when it is asked to.
    executor.signal("-TERM");
    let (well, said) = executor.ends();
    assert!(well, "{said}");
}

#[test]
fn an_executor_that_dies_is_noticed_and_its_work_goes_to_another() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    campanile.applies(&[diary_job("long", &diary, &[600.0, 0.0])]);
    let (_serve, address) = listening(&mut campanile);
    let first = Executor::starts(&campanile, "demo-1", &["--node", &address]);
    runs(&campanile, "long");
    wait_until("it runs", || count(&diary, "begins") == 1);

    let second = Executor::starts(&campanile, "demo-2", &["--node", &address]);
    first.kill_9();
    // Well before the ten minutes that its first attempt would have lasted.
    wait_until("the other does it", || count(&diary, "ends") == 1);
    wait_until("it has succeeded", || code(&campanile) == 301);
    assert_eq!(task(&campanile)["executor"]["name"], "demo-2");
    nothing_began_twice(&diary);
    campanile.checks_the_ledger();
    drop(second);
}

#[test]
fn an_executor_that_was_frozen_is_told_to_stop_and_what_it_says_late_is_refused() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    campanile.applies(&[diary_job("long", &diary, &[600.0, 0.0])]);
    let (_serve, address) = listening(&mut campanile);
    let frozen = Executor::starts(&campanile, "demo-1", &["--node", &address]);
    let run = runs(&campanile, "long");
    wait_until("it runs", || count(&diary, "begins") == 1);

    frozen.signal("-STOP");
    let _other = Executor::starts(&campanile, "demo-2", &["--node", &address]);
    wait_until("the other does it", || count(&diary, "ends") == 1);
    wait_until("it has succeeded", || code(&campanile) == 301);

    frozen.signal("-CONT");
    wait_until("what it still ran is stopped", || count(&diary, "stops") == 1);
    assert_eq!(code(&campanile), 301, "what it says late changes nothing");
    wait_until("it is written that it came too late", || {
        history(campanile.data(), &run).iter().any(|entry| {
            let reason = entry.reason.as_ref().map_or("", |reason| reason.en.as_str());
            entry.attempt == 1 && entry.from == entry.to && reason.starts_with("finished too late")
        })
    });
    assert_eq!(task(&campanile)["executor"]["name"], "demo-2");
    nothing_began_twice(&diary);
    // It is an executor like any other again.
    campanile.applies(&[job("hi", "greet", json!({}))]);
    assert_eq!(campanile.runs_to_its_end("hi")["row"]["state"], "succeeded");
    campanile.checks_the_ledger();
}

#[test]
fn a_node_that_dies_finds_what_was_done_meanwhile() {
    let mut campanile = Campanile::new();
    let diary = campanile.beside("diary");
    let jobs: Vec<Value> = (0..6).map(|n| diary_job(&format!("job-{n}"), &diary, &[8.0 + f64::from(n)])).collect();
    campanile.applies(&jobs);
    let (serve, address) = listening(&mut campanile);
    // Four at once, two more wait there.
    let _executor = Executor::starts(&campanile, "demo-1", &["--node", &address, "--capacity", "4"]);
    // All at once: on a busy machine the first would be over before the last is asked for.
    campanile.cli(&["run", "job-0", "job-1", "job-2", "job-3", "job-4", "job-5"]).done();
    wait_until("four run", || count(&diary, "begins") == 4);
    serve.kill_9();
    wait_until("some end while nobody is there", || count(&diary, "ends") >= 2);

    let _again = campanile.serves_with(&["--executors", &address]);
    wait_until("all are done", || {
        let page = campanile.cli(&["tasks"]).done();
        let rows = page["rows"].as_array().expect("rows").clone();
        rows.len() == 6 && rows.iter().all(|row| row["state"] == 301)
    });
    let page = campanile.cli(&["tasks"]).done();
    for row in page["rows"].as_array().expect("rows") {
        assert_eq!(row["attempt"], 1, "nothing was lost, so nothing was tried again: {row}");
    }
    assert_eq!((count(&diary, "begins"), count(&diary, "ends")), (6, 6));
    nothing_began_twice(&diary);
    campanile.checks_the_ledger();
}

#[test]
fn a_group_with_a_token_takes_none_without_it_and_revoking_turns_out() {
    let mut campanile = Campanile::new();
    campanile.applies(&[job("hi", "greet", json!({}))]);
    let (_serve, address) = listening(&mut campanile);
    let made = campanile.cli(&["token", "make", "--scope", "executor:demo", "--note", "for the story"]).done();
    let token = made["token"].as_str().expect("a token").to_owned();
    let listed = campanile.cli(&["token", "list"]).done();
    assert_eq!(listed["rows"][0]["scope"], "executor:demo");
    assert!(!listed.to_string().contains(&token[20..]), "it is shown once: {listed}");

    for wrong in [&["--node", &*address][..], &["--node", &*address, "--token", "cmp_00_00"]] {
        let (well, said) = Executor::starts(&campanile, "demo-0", wrong).ends();
        assert!(!well && said.contains("k_sc_ec_400010"), "{said}");
    }
    let executor = Executor::starts(&campanile, "demo-1", &["--node", &address, "--token", &token]);
    assert_eq!(campanile.runs_to_its_end("hi")["row"]["state"], "succeeded");

    campanile.cli(&["token", "revoke", made["id"].as_str().expect("an id")]).done();
    let (well, said) = executor.ends();
    assert!(!well && said.contains("k_sc_ec_400010"), "{said}");
    let audit = campanile.cli(&["audit"]).done().to_string();
    assert!(audit.contains("token:") && !audit.contains(&token[20..]), "{audit}");
}

#[test]
fn over_tls_both_sides_show_who_they_are() {
    let mut campanile = Campanile::new();
    campanile.applies(&[job("hi", "greet", json!({}))]);
    let certs = campanile.beside("certs");
    let certs = certs.to_str().expect("a path").to_owned();
    campanile.cli(&["certs", "make", "--out", &certs, "--host", "localhost", "--host", "127.0.0.1"]).done();
    let file = |name: &str| format!("{certs}/{name}");
    let (ca, cert, key) = (file("ca.pem"), file("node.pem"), file("node-key.pem"));
    let serve = campanile.serves_with(&[
        "--executors",
        "127.0.0.1:0",
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
        "--client-ca",
        &ca,
    ]);
    let address = serve.executors.clone().expect("it listens");
    // Without TLS, and without a certificate, there is no way in; both keep trying.
    let _plain = Executor::starts(&campanile, "plain", &["--node", &address]);
    let _nobody = Executor::starts(&campanile, "nobody", &["--node", &address, "--ca", &ca]);
    let _known = Executor::starts(&campanile, "known", &["--node", &address, "--ca", &ca, "--identity", &certs]);
    for _ in 0..3 {
        assert_eq!(campanile.runs_to_its_end("hi")["row"]["state"], "succeeded");
        assert_eq!(task(&campanile)["executor"]["name"], "known");
    }
}

#[test]
fn an_address_for_other_machines_wants_tls() {
    let mut campanile = Campanile::new();
    let said = campanile.try_serve_with(&["--executors", "0.0.0.0:0"]).err().expect("it is refused");
    assert_eq!(said.refused().1, "k_sc_ec_400015");
    assert!(campanile.try_serve_with(&["--executors", "0.0.0.0:0", "--without-tls"]).is_ok());
}
