//! One story for every SDK: executors in processes of their own, on a real node, that run, fail, die, freeze, outlive
//! their node and leave.
//!
//! The executors of all languages do the same (tests/executor). One whose tools are not on this machine is passed over,
//! and leaves no receipt.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use campanile_tests::campanile::{Campanile, Member, Serve, Told, free_address, told, wait_for, wait_until};
use serde_json::{Value, json};

/// How the executor of a language is started.
pub fn command(sdk: &str) -> Option<Vec<String>> {
    if sdk == "rust" {
        return Some(vec![env!("CARGO_BIN_EXE_conformance-executor").to_owned()]);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the checkout");
    let said = Command::new(root.join(".ci/sdks")).args(["executor", sdk]).output().expect("it can be run");
    if said.status.code() == Some(3) {
        return None;
    }
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(String::from_utf8(said.stdout).expect("words").lines().map(str::to_owned).collect())
}

/// A node that executors of one language join.
pub struct Place {
    pub campanile: Campanile,
    pub command: Vec<String>,
    pub node: String,
    pub diary: PathBuf,
}

impl Place {
    pub fn new(sdk: &str) -> Option<Place> {
        let command = command(sdk)?;
        let campanile = Campanile::new();
        let diary = campanile.beside("diary");
        Some(Place { campanile, command, node: free_address(), diary })
    }

    pub fn serves(&mut self) -> Serve {
        self.campanile.serves_with(&["--executors", &self.node])
    }

    fn member(&self, name: &str) -> Member {
        let record = self.campanile.beside(&format!("{name}.log"));
        Member::starts(&self.command, &self.node, name, 4, &self.diary, &record)
    }

    pub fn saves(&self, jobs: &[(&str, &str, Value)]) {
        let documents: Vec<Value> = jobs
            .iter()
            .map(|(name, processor, more)| {
                let mut document = json!({
                    "name": name,
                    "schedule": {"kind": "manual"},
                    "executorGroup": "conformance",
                    "processor": processor,
                    "retry": {"retries": 3, "baseSeconds": 0.2},
                });
                let fields = document.as_object_mut().expect("an object");
                fields.extend(more.as_object().expect("an object").clone());
                document
            })
            .collect();
        self.campanile.applies(&documents);
    }

    fn told(&self, what: &str) -> Vec<Told> {
        told(&self.diary).into_iter().filter(|line| line.what == what).collect()
    }

    /// The one line that comes after those there are.
    fn next(&self, what: &str, before: usize) -> Told {
        wait_for(&format!("somebody says '{what}'"), || self.told(what).into_iter().nth(before))
    }

    /// Starts a run; who wants to know how it ended waits for it.
    pub fn run(&self, job: &str) -> Run {
        let (data, job) = (self.campanile.data().to_owned(), job.to_owned());
        Run(thread::spawn(move || Campanile::on(&data).runs_to_its_end(&job)))
    }
}

pub struct Run(JoinHandle<Value>);

impl Run {
    pub fn end(self) -> End {
        End(self.0.join().expect("the run can be waited for"))
    }
}

/// A run that has ended, with everything that is known of it.
pub struct End(Value);

impl End {
    pub fn state(&self) -> &str {
        self.0["row"]["state"].as_str().expect("a state")
    }

    fn task(&self) -> &Value {
        &self.0["tasks"][0]
    }

    fn result(&self) -> &Value {
        &self.task()["result"]
    }

    /// The codes that the task went through, with the attempt where it changed.
    fn way(&self) -> Vec<(u64, u64)> {
        let history = self.task()["history"].as_array().expect("a history");
        history.iter().map(|step| (step["attempt"].as_u64().unwrap_or(0), step["to"].as_u64().unwrap_or(0))).collect()
    }

    fn had(&self, code: u64) -> bool {
        self.way().iter().any(|(_, to)| *to == code)
    }

    #[track_caller]
    pub fn succeeded(&self, attempt: u64) {
        assert_eq!(self.state(), "succeeded", "{:#}", self.0);
        assert_eq!(self.task()["attempt"], attempt, "{:#}", self.0);
    }

    #[track_caller]
    pub fn failed(&self, class: &str, code: &str, attempts: u64) {
        assert_eq!(self.state(), "failed", "{:#}", self.0);
        let (failure, task) = (&self.task()["failure"], self.task());
        assert_eq!((failure["class"].as_str(), failure["code"].as_str()), (Some(class), Some(code)), "{:#}", self.0);
        assert_eq!((task["state"].as_u64(), task["attempt"].as_u64()), (Some(302), Some(attempts)));
    }
}

fn leaves_a_receipt(sdk: &str) {
    let receipt = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ran-sdk-{sdk}"));
    File::create(receipt).expect("a receipt can be left");
}

/// Every kind of end, what a task is told and what it says.
fn runs_end_as_the_processor_says(sdk: &str) {
    let Some(mut place) = Place::new(sdk) else { return };
    let serve = place.serves();
    let _one = place.member("one");
    place.saves(&[
        ("echo", "echo", json!({"parameters": {"said": "你好", "many": [1, 2.5, null]}})),
        (
            "transient",
            "fails",
            json!({"parameters": {"class": "transient"}, "retry": {"retries": 1, "baseSeconds": 0.2}}),
        ),
        ("business", "fails", json!({"parameters": {"class": "business"}})),
        ("panics", "panics", json!({"retry": {"retries": 0}})),
        ("talks", "talks", json!({"parameters": {"lines": 4000}})),
        ("walks", "walks", json!({"parameters": {"steps": 30}})),
        ("sleeps", "sleeps", json!({"parameters": {"ms": 600_000}})),
        ("stubborn", "stubborn", json!({})),
    ]);
    let campanile = &place.campanile;

    // What is asked to end and does not is ended by the last stage, which comes after fifteen seconds.
    let stubborn = place.run("stubborn");
    place.next("begins", 0);
    let asked = campanile.runs("stubborn")[0]["id"].as_str().expect("an id").to_owned();
    campanile.cli(&["cancel", &asked]).done();

    let echo = place.run("echo").end();
    echo.succeeded(1);
    let said = echo.result();
    assert_eq!(said["parameters"], json!({"said": "你好", "many": [1, 2.5, null]}));
    assert_eq!((said["job"].as_str(), said["origin"].as_str()), (Some("echo"), Some("manual")));
    assert_eq!(said["key"], echo.task()["idempotency_key"]);
    assert_eq!(echo.way(), [(1, 101), (1, 201), (1, 202), (1, 301)]);
    assert_eq!(campanile.log(echo.0["row"]["id"].as_str().expect("an id")), ["an echo"]);

    place.run("transient").end().failed("transient", "said_no", 2);
    let attempts: Vec<Told> = place.told("begins").split_off(1);
    assert_eq!(attempts.iter().map(|line| line.attempt).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(attempts[0].key, attempts[1].key, "each attempt has the key of its task");
    place.run("business").end().failed("business", "said_no", 1);

    let panicked = place.run("panics").end();
    assert_eq!((panicked.state(), panicked.task()["attempt"].as_u64()), ("failed", Some(1)));
    place.run("echo").end().succeeded(1);

    let talks = place.run("talks").end();
    talks.succeeded(1);
    let lines = campanile.log(talks.0["row"]["id"].as_str().expect("an id"));
    assert_eq!(lines, (0..4000).map(|line| format!("line {line}")).collect::<Vec<_>>());
    let walks = place.run("walks").end();
    walks.succeeded(1);
    assert_eq!(walks.result(), 30);

    let before = place.told("begins").len();
    let sleeps = place.run("sleeps");
    place.next("begins", before);
    let asked = campanile.runs("sleeps")[0]["id"].as_str().expect("an id").to_owned();
    campanile.cli(&["cancel", &asked]).done();
    let sleeps = sleeps.end();
    assert_eq!((sleeps.state(), sleeps.task()["state"].as_u64()), ("cancelled", Some(303)));

    let stubborn = stubborn.end();
    assert_eq!((stubborn.state(), stubborn.task()["state"].as_u64()), ("cancelled", Some(303)));
    assert_eq!(stubborn.task()["stop"]["stage"], "killed", "{:#}", stubborn.0);
    campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

/// Of two executors one dies, and later one is frozen while it works.
fn what_an_executor_loses_another_one_runs(sdk: &str) {
    let Some(mut place) = Place::new(sdk) else { return };
    let _serve = place.serves();
    let mut members = vec![place.member("one"), place.member("two")];
    let over = place.campanile.gate("over");
    place.saves(&[
        ("long", "sleeps", json!({"parameters": {"until": over.path()}})),
        ("short", "sleeps", json!({"parameters": {"ms": 10}, "route": "roundRobin"})),
    ]);

    let long = place.run("long");
    let first = place.next("begins", 0);
    let dies = members.iter().position(|member| member.name == first.executor).expect("a member");
    members.remove(dies).kill_9();
    let second = place.next("begins", 1);
    over.opens();
    let long = long.end();
    long.succeeded(2);
    assert!(long.had(403), "{:?}", long.way());
    assert_ne!(second.executor, first.executor);
    assert_eq!((second.task, second.attempt, second.key), (first.task, 2, first.key));
    assert_eq!(place.told("ends").len(), 1);

    // The one that died comes back under its name, as another owner.
    members.push(place.member(&first.executor));
    wait_until("both have work again", || {
        let began = place.told("begins").len();
        place.run("short").end().succeeded(1);
        place.told("begins")[began..].iter().any(|line| line.executor == first.executor)
    });

    over.closes();
    let (began, ended) = (place.told("begins").len(), place.told("ends").len());
    let long = place.run("long");
    let first = place.next("begins", began);
    let frozen = members.iter().find(|member| member.name == first.executor).expect("a member");
    frozen.freeze();
    place.next("begins", began + 1);
    over.opens();
    let long = long.end();
    long.succeeded(2);
    assert!(long.had(403), "{:?}", long.way());
    frozen.thaw();
    // What it did all the same is refused, and it goes on as a member.
    wait_until("it is thawed, and works again", || {
        let began = place.told("begins").len();
        place.run("short").end().succeeded(1);
        place.told("begins")[began..].iter().any(|line| line.executor == first.executor)
    });
    let run = long.0["row"]["id"].as_str().expect("an id");
    let now = place.campanile.runs("long").into_iter().find(|row| row["id"] == run).expect("the run");
    assert_eq!((now["state"].as_str(), &now["tasks"][0]["attempt"]), (Some("succeeded"), &json!(2)));
    let ends: Vec<_> = place.told("ends").split_off(ended);
    let own = |line: &&Told| line.task == first.task && line.executor != first.executor;
    assert_eq!(ends.iter().filter(own).map(|line| line.attempt).collect::<Vec<_>>(), [2]);
    place.campanile.checks_the_ledger();
}

/// The node is killed and comes back; then the executor is asked to leave.
fn work_outlives_the_node_and_an_executor_leaves_in_good_order(sdk: &str) {
    let Some(mut place) = Place::new(sdk) else { return };
    let serve = place.serves();
    let one = place.member("one");
    let [long_over, middle_over] = ["long", "middle"].map(|name| place.campanile.gate(name));
    place.saves(&[
        ("long", "sleeps", json!({"parameters": {"until": long_over.path()}})),
        ("middle", "sleeps", json!({"parameters": {"until": middle_over.path()}})),
    ]);
    let (long, middle) = (place.run("long"), place.run("middle"));
    place.next("begins", 1);
    serve.kill_9();
    // One ends while nobody is there to be told.
    middle_over.opens();
    place.next("ends", 0);
    let _serve = place.serves();
    middle.end().succeeded(1);
    long_over.opens();
    long.end().succeeded(1);
    assert_eq!((place.told("begins").len(), place.told("ends").len()), (2, 2), "each ran once");

    middle_over.closes();
    let middle = place.run("middle");
    place.next("begins", 2);
    one.is_asked_to_leave();
    middle_over.opens();
    assert!(one.left().success());
    let middle = middle.end();
    middle.succeeded(1);
    assert_eq!(middle.way(), [(1, 101), (1, 201), (1, 202), (1, 301)]);
    place.campanile.checks_the_ledger();
    leaves_a_receipt(sdk);
}

/// Over TLS, where both sides show who they are, and with the token of its group: all of it or nothing.
fn who_comes_in_shows_a_certificate_and_a_token(sdk: &str) {
    let Some(mut place) = Place::new(sdk) else { return };
    let certs = place.campanile.beside("certs");
    let certs = certs.to_str().expect("a path").to_owned();
    place.campanile.cli(&["certs", "make", "--out", &certs, "--host", "localhost", "--host", "127.0.0.1"]).done();
    let made = place.campanile.cli(&["token", "make", "--scope", "executor:conformance", "--note", "a story"]).done();
    let token = made["token"].as_str().expect("a token").to_owned();
    let file = |name: &str| format!("{certs}/{name}");
    let (ca, cert, key) = (file("ca.pem"), file("node.pem"), file("node-key.pem"));
    let secured = ["--tls-cert", &cert, "--tls-key", &key, "--client-ca", &ca];
    let _serve = place.campanile.serves_with(&[&["--executors", &place.node][..], &secured[..]].concat());
    place.saves(&[("echo", "echo", json!({}))]);

    let record = |name: &str| place.campanile.beside(&format!("{name}.log"));
    let starts = |name: &str, more: &[(&str, &str)]| {
        Member::starts_with(&place.command, &place.node, name, 4, &place.diary, &record(name), more)
    };
    // Whoever has but one of them stays outside: without TLS nobody is spoken to, without a token nobody comes in.
    let _plain = starts("plain", &[("CAMPANILE_TOKEN", &token)]);
    let mut untold = starts("untold", &[("CAMPANILE_CERTS", &certs)]);
    wait_until("who has no token gives up", || !untold.is_running());
    let said = std::fs::read_to_string(record("untold")).unwrap_or_default();
    assert!(said.contains("k_sc_ec_400010"), "{said}");
    let _known = starts("known", &[("CAMPANILE_TOKEN", &token), ("CAMPANILE_CERTS", &certs)]);
    for _ in 0..3 {
        let echo = place.run("echo").end();
        echo.succeeded(1);
        assert_eq!(echo.task()["executor"]["name"], "known");
    }
    place.campanile.checks_the_ledger();
}

/// All at once: nearly all of the time of these stories is waiting.
pub fn for_every_sdk(story: fn(&str)) {
    let tells = |sdk: &'static str| {
        let thread = thread::Builder::new().name(format!("SDK for {sdk}"));
        (sdk, thread.spawn(move || story(sdk)).expect("a thread"))
    };
    let each: Vec<_> = ["rust", "go", "python"].map(tells).into();
    let failed: Vec<&str> = each.into_iter().filter_map(|(sdk, told)| told.join().is_err().then_some(sdk)).collect();
    assert!(failed.is_empty(), "not so with the SDK for {failed:?}");
}

#[test]
fn with_every_sdk_runs_end_as_the_processor_says() {
    for_every_sdk(runs_end_as_the_processor_says);
}

#[test]
fn with_every_sdk_what_an_executor_loses_another_one_runs() {
    for_every_sdk(what_an_executor_loses_another_one_runs);
}

#[test]
fn with_every_sdk_who_comes_in_shows_a_certificate_and_a_token() {
    for_every_sdk(who_comes_in_shows_a_certificate_and_a_token);
}

#[test]
fn with_every_sdk_work_outlives_the_node_and_an_executor_leaves_in_good_order() {
    for_every_sdk(work_outlives_the_node_and_an_executor_leaves_in_good_order);
}
