//! A node and executors of all SDKs as processes, while everything goes wrong that can: they are killed and frozen, the
//! network between them is cut, slow and one-sided. Afterwards nothing is lost, doubled or stuck.
//!
//! A seed is a plan of what goes wrong; `CAMPANILE_SEED=n` has the same things go wrong again at the same times, though
//! what the processes are at by then is theirs. A minute, or ten with CAMPANILE_SOAK.

mod link;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use campanile_model::instance::InstanceState;
use campanile_model::task::{Task, TaskEvent, TaskState};
use campanile_store::{Archive, HistoryEntry, InstanceFilter, TaskStore};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, Member, Serve, Told, free_address, told, wait_until};
use serde_json::{Value, json};

use crate::sdks::command;
use link::{Link, Weather};
use plan::{Fault, Target, Trouble, plan};

const EXECUTORS: usize = 4;
const JOBS: usize = 8;
const LEDGER_EVERY: Duration = Duration::from_secs(7);

fn length() -> Duration {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some_and(|soak| soak != "0");
    Duration::from_secs(if soak { 600 } else { 60 })
}

pub(crate) fn seed() -> u64 {
    match std::env::var("CAMPANILE_SEED") {
        Ok(seed) => seed.parse().expect("CAMPANILE_SEED is a number"),
        Err(_) => rand::random(),
    }
}

struct Chaos {
    campanile: Campanile,
    node: String,
    serve: Option<Serve>,
    node_is_frozen: bool,
    members: Vec<Option<Member>>,
    commands: Vec<Vec<String>>,
    links: Vec<Link>,
    diary: PathBuf,
    network: tokio::runtime::Runtime,
}

impl Chaos {
    fn begins() -> Chaos {
        let campanile = Campanile::new();
        let network = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let network = network.expect("a runtime for the network");
        let node = free_address();
        let links = (0..EXECUTORS).map(|_| network.block_on(Link::to(node.clone()))).collect();
        let rust = command("rust").expect("it is built with this test");
        let commands = ["rust", "go", "python", "rust"].map(|sdk| command(sdk).unwrap_or_else(|| rust.clone()));
        let diary = campanile.beside("diary");
        let mut chaos = Chaos {
            campanile,
            node,
            serve: None,
            node_is_frozen: false,
            members: Vec::new(),
            commands: commands.to_vec(),
            links,
            diary,
            network,
        };
        chaos.starts_the_node();
        for at in 0..EXECUTORS {
            let member = chaos.executor(at);
            chaos.members.push(Some(member));
        }
        let jobs: Vec<Value> = (0..JOBS)
            .map(|n| {
                let ms = [30, 400, 900, 2500][n % 4];
                let overlap = if n % 3 == 0 { "allow" } else { "queue" };
                json!({
                    "name": format!("busy-{n}"),
                    "schedule": {"kind": "fixedRate", "everySeconds": 1 + n % 2},
                    "executorGroup": "conformance",
                    "processor": "sleeps",
                    "parameters": {"ms": ms},
                    "overlap": overlap,
                    "retry": {"retries": 50, "baseSeconds": 0.2, "maxSeconds": 1},
                })
            })
            .collect();
        chaos.campanile.applies(&jobs);
        chaos
    }

    fn starts_the_node(&mut self) {
        self.serve = Some(self.campanile.serves_with(&["--executors", &self.node]));
    }

    fn executor(&self, at: usize) -> Member {
        let name = format!("executor-{at}");
        let record = self.campanile.beside(&format!("{name}.log"));
        Member::starts(&self.commands[at], &self.links[at].address, &name, 4, &self.diary, &record)
    }

    fn goes_wrong(&mut self, trouble: &Trouble) {
        match (trouble.target, trouble.fault) {
            (Target::Node, Fault::Killed) => self.serve.take().expect("it runs").kill_9(),
            (Target::Node, _) => {
                self.node_is_frozen = true;
                self.serve.as_ref().expect("it runs").freeze();
            }
            (Target::Executor(at), Fault::Killed) => self.members[at].take().expect("it runs").kill_9(),
            (Target::Executor(at), _) => self.members[at].as_ref().expect("it runs").freeze(),
            (Target::Link(at), Fault::Cut) => self.links[at].becomes(Weather::Cut),
            (Target::Link(at), Fault::Slow) => self.links[at].becomes(Weather::Slow),
            (Target::Link(at), Fault::MuteUp) => self.links[at].becomes(Weather::MuteUp),
            (Target::Link(at), _) => self.links[at].becomes(Weather::MuteDown),
        }
    }

    fn is_over(&mut self, trouble: &Trouble) {
        match (trouble.target, trouble.fault) {
            (Target::Node, Fault::Killed) => self.starts_the_node(),
            (Target::Node, _) => {
                self.node_is_frozen = false;
                self.serve.as_ref().expect("it runs").thaw();
            }
            (Target::Executor(at), Fault::Killed) => self.members[at] = Some(self.executor(at)),
            (Target::Executor(at), _) => self.members[at].as_ref().expect("it runs").thaw(),
            (Target::Link(at), Fault::MuteDownThenBreak) => self.links[at].breaks(),
            (Target::Link(at), _) => self.links[at].becomes(Weather::Fair),
        }
    }

    fn lives_through(&mut self, troubles: &[Trouble]) {
        let began = Instant::now();
        let mut moments: Vec<(Duration, bool, &Trouble)> = Vec::new();
        for trouble in troubles {
            moments.extend([(trouble.from, false, trouble), (trouble.until, true, trouble)]);
        }
        moments.sort_by_key(|(at, ..)| *at);
        let mut next_ledger = LEDGER_EVERY;
        for (at, over, trouble) in moments {
            while began.elapsed() < at {
                if began.elapsed() >= next_ledger && self.serve.is_some() && !self.node_is_frozen {
                    self.campanile.checks_the_ledger();
                    next_ledger = began.elapsed() + LEDGER_EVERY;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            println!("{:6} ms: {:?} {}", began.elapsed().as_millis(), trouble, if over { "is over" } else { "" });
            if over { self.is_over(trouble) } else { self.goes_wrong(trouble) }
        }
    }

    /// Nothing more begins, and what there is comes to its end.
    fn comes_to_rest(&mut self) {
        for member in self.members.iter_mut().flatten() {
            assert!(member.is_running(), "{} gave up", member.name);
        }
        let names: Vec<String> = (0..JOBS).map(|n| format!("busy-{n}")).collect();
        let mut pause = vec!["pause"];
        pause.extend(names.iter().map(String::as_str));
        self.campanile.cli(&pause).done();
        wait_until("everything has ended", || {
            let page = self.campanile.cli(&["runs", "--state", "waiting", "--state", "running"]).done();
            page["rows"].as_array().is_some_and(Vec::is_empty)
        });
        self.campanile.checks_the_ledger();
        self.members.clear();
        assert!(self.serve.take().expect("it runs").stop().success());
    }

    async fn tasks(&self) -> Kept {
        let store = SqliteStore::open(&self.campanile.data().join("campanile.db")).await.expect("the database");
        let kept = kept(&store).await;
        store.close().await.expect("it is closed");
        kept
    }
}

pub(crate) type Kept = BTreeMap<String, (Task, Vec<HistoryEntry>)>;

/// Every task with its way; all runs have succeeded.
pub(crate) async fn kept(store: &(impl Archive + TaskStore)) -> Kept {
    let (mut kept, mut cursor) = (BTreeMap::new(), None);
    loop {
        let page = store.instance_page(&InstanceFilter::default(), cursor, 500).await.expect("instances");
        for row in page.rows {
            assert_eq!(row.instance.state, InstanceState::Succeeded, "{} {:?}", row.job_name, row.tasks);
            for task in store.tasks_of(row.instance.id).await.expect("tasks") {
                let mut history = store.history(task.id).await.expect("a history");
                // What only remarks on an attempt moves nothing.
                history.retain(|entry| entry.from != entry.to);
                kept.insert(task.id.to_string(), (task, history));
            }
        }
        cursor = page.next;
        if cursor.is_none() {
            return kept;
        }
    }
}

#[test]
fn whatever_goes_wrong_nothing_is_lost_doubled_or_stuck() {
    let seed = seed();
    println!("CAMPANILE_SEED={seed} has the same go wrong again");
    let mut chaos = Chaos::begins();
    chaos.lives_through(&plan(seed, length(), EXECUTORS));
    chaos.comes_to_rest();
    let network = &chaos.network;
    let tasks = network.block_on(chaos.tasks());
    let diary = told(&chaos.diary);
    let counts = agrees(&tasks, &diary);
    println!("{counts:?}");
    let least = length().as_secs() as usize;
    assert!(counts.tasks > least && counts.attempts > counts.tasks, "hardly anything ran: {counts:?}");
    assert!(counts.lost > 0 && counts.cut_off > 0, "nothing was ever lost: {counts:?}");
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub tasks: usize,
    pub attempts: usize,
    /// Attempts whose executor was given up.
    pub lost: usize,
    /// Begun and never ended.
    pub cut_off: usize,
    /// Ended at an executor that had been given up: the report came too late.
    too_late: usize,
}

/// What the executors wrote and what the node has kept are one story.
pub(crate) fn agrees(tasks: &Kept, diary: &[Told]) -> Counts {
    let begun = each_began_once(diary);
    for line in diary {
        let (task, _) = tasks.get(&line.task).unwrap_or_else(|| panic!("it ran and nobody knows of it: {line:?}"));
        assert!(line.attempt <= task.attempt(), "an attempt ran that nobody made: {line:?}");
    }
    let mut counts = Counts { tasks: tasks.len(), attempts: begun.len(), ..Counts::default() };
    let ended: BTreeMap<_, _> =
        diary.iter().filter(|line| line.what == "ends").map(|line| ((&line.task, line.attempt), line)).collect();
    counts.cut_off = begun.len() - ended.len();
    for (id, (task, history)) in tasks {
        assert_eq!(task.state(), TaskState::Succeeded, "{task:?}");
        let last = ended.get(&(id, task.attempt()));
        let last = last.unwrap_or_else(|| panic!("{task:?} is said to have ended well, and did not"));
        let owner = history.iter().rev().find_map(|entry| entry.executor.as_deref());
        assert_eq!(owner, Some(last.executor.as_str()), "the report of another one was taken: {history:?}");
        moves_as_it_may(history);
        for entry in history.iter().filter(|entry| entry.to == TaskState::ExecutorLost) {
            counts.lost += 1;
            counts.too_late += usize::from(ended.contains_key(&(id, entry.attempt)));
        }
    }
    counts
}

fn each_began_once(diary: &[Told]) -> BTreeSet<(&String, u32)> {
    let mut begun = BTreeSet::new();
    for line in diary.iter().filter(|line| line.what == "begins") {
        assert!(begun.insert((&line.task, line.attempt)), "an attempt began twice: {line:?}");
    }
    begun
}

/// Each step goes on from the last along the table, and an attempt that was given up is not heard of again.
fn moves_as_it_may(history: &[HistoryEntry]) {
    for (before, entry) in history.iter().zip(&history[1..]) {
        let legal = TaskEvent::ALL.iter().any(|event| entry.from.on(*event) == Ok(entry.to));
        assert!(entry.from == before.to && legal, "no way from {before:?} to {entry:?}");
        let anew = before.to == TaskState::ExecutorLost;
        assert!(!anew || entry.to == TaskState::Waiting, "heard of after it was given up: {entry:?}");
    }
}

#[test]
fn what_must_not_be_is_seen() {
    use TaskState::{ExecutorLost, Failed, Pushed, Ready, Running, Succeeded, Waiting};
    let goes = |states: &[TaskState]| {
        let steps: Vec<HistoryEntry> = states
            .windows(2)
            .map(|step| HistoryEntry {
                at: campanile_model::Timestamp::from_millis(0),
                from: step[0],
                to: step[1],
                attempt: 1,
                executor: None,
                node: String::new(),
                reason: None,
            })
            .collect();
        std::panic::catch_unwind(|| moves_as_it_may(&steps)).is_ok()
    };
    assert!(goes(&[Ready, Pushed, Running, ExecutorLost, Waiting, Ready, Pushed, Succeeded]));
    assert!(!goes(&[Ready, Pushed, Running, ExecutorLost, Succeeded]), "a late report");
    assert!(!goes(&[Ready, Pushed, Running, Succeeded, Failed]), "a second end");

    let line = |executor: &str, attempt| Told {
        what: "begins".into(),
        executor: executor.into(),
        task: "t".into(),
        attempt,
        key: "k".into(),
    };
    assert_eq!(each_began_once(&[line("a", 1), line("b", 2)]).len(), 2);
    let twice = std::panic::catch_unwind(|| each_began_once(&[line("a", 1), line("b", 1)]).len());
    assert!(twice.is_err(), "one attempt at two executors");
}
