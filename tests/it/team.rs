//! Nodes that share a database, and the work: with real processes, on a real MariaDB.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use campanile_model::Timestamp;
use campanile_model::node::NodeEntry;
use campanile_store::{LeaseStore as _, NodeStore as _};
use campanile_store_mysql::MysqlStore;
use campanile_tests::campanile::{Campanile, LOOK_EVERY, Member, PATIENCE, Serve, told, wait_for, wait_until};
use serde_json::{Value, json};

use crate::chaos::{Counts, Kept, agrees, kept};
use crate::sdks::command;
use crate::servers::{Database, Server};

pub fn configures(folder: &Path, text: &str, mode: u32) {
    fs::create_dir_all(folder).expect("a data folder");
    let file = folder.join("campanile.toml");
    fs::write(&file, text).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("its own file");
}

/// A node of the team, which hosts an executor of its own where that is said.
fn joins(folder: &Path, database: &Database, name: &str, embedded: bool) {
    joins_with(folder, database, name, embedded, "");
}

pub fn joins_with(folder: &Path, database: &Database, name: &str, embedded: bool, more: &str) {
    let url = database.url();
    let text = format!(
        "node.name = \"{name}\"\n[database]\nurl = \"{url}\"\nconnections = 8\n\
         [embedded]\nenabled = {embedded}\n{more}"
    );
    configures(folder, &text, 0o600);
}

/// Runs of the job by how they stand.
fn standing(of: &Campanile) -> BTreeMap<String, usize> {
    let mut standing = BTreeMap::new();
    for run in of.runs("tick") {
        *standing.entry(run["state"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    standing
}

fn succeeded(of: &Campanile) -> usize {
    standing(of).get("succeeded").copied().unwrap_or(0)
}

fn of_two_nodes(database: &Database) {
    let (mut one, mut other) = (Campanile::new(), Campanile::new());
    joins(one.data(), database, "one", true);
    joins(other.data(), database, "other", true);
    let tick = json!({
        "name": "tick",
        "schedule": {"kind": "fixedRate", "everySeconds": 2},
        "processor": "shell",
        "parameters": {"command": "true"},
    });
    // Nobody drives the engine yet: the command carries it out itself.
    one.applies(&[tick]);
    let first = one.serves();
    wait_until("the first node fires", || succeeded(&one) >= 2);
    let second = other.serves();
    let jobs: Value = other.cli(&["jobs"]).done();
    assert_eq!(jobs[0]["name"], "tick", "{jobs}");

    first.kill_9();
    let before = succeeded(&other);
    wait_until("the other goes on", || succeeded(&other) >= before + 4);
    other.checks_the_ledger();
    assert!(!other.data().join("campanile.db").exists(), "the folder keeps no database of its own");

    // The first comes back, as one more.
    let first = one.serves();
    assert!(second.stop().success());
    let before = succeeded(&one);
    wait_until("and the first goes on again", || succeeded(&one) >= before + 2);
    assert!(first.stop().success());
    one.checks_the_ledger();
}

#[tokio::test]
async fn of_two_nodes_on_one_database_one_goes_on_when_the_other_is_killed() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let database = tokio::task::spawn_blocking(move || {
        of_two_nodes(&database);
        database
    });
    drop(database.await.expect("the story came to its end"));
}

#[test]
fn a_team_that_others_may_read_or_that_makes_no_sense_is_refused_without_its_password() {
    let good = "[database]\nurl = \"mysql://u:s3cret@127.0.0.1:1/d\"\n";
    let postgres = "[database]\nurl = \"postgres://u:s3cret@127.0.0.1:1/d\"\n";
    let more = "[database]\nurl = \"mysql://u:s3cret@127.0.0.1:1/d\"\ncolour = \"s3cret\"\n";
    for (text, mode, reason, code) in [
        (good, 0o644, "make it 0600", "k_sc_ec_600010"),
        (good, 0o600, "storage does not answer", "k_sc_ec_500001"),
        (postgres, 0o600, "not a mysql:// address", "k_sc_ec_600010"),
        (more, 0o600, "line 3, column 1: database.colour: there is no such key", "k_sc_ec_600010"),
        ("s3cret", 0o600, "this is no TOML", "k_sc_ec_600010"),
    ] {
        let campanile = Campanile::new();
        configures(campanile.data(), text, mode);
        let said = campanile.cli(&["jobs"]);
        assert_eq!(said.refused().1, code, "{text}");
        assert!(said.err.contains(reason) && !said.err.contains("s3cret"), "{text}: {}", said.err);
        assert!(!campanile.data().join("campanile.db").exists(), "{text}");
    }
}

#[test]
fn what_is_configured_is_shown_with_where_it_comes_from_and_without_its_secrets() {
    let campanile = Campanile::new();
    let text = "[node]\nname = \"a\"\n[database]\nurl = \"mysql://u:s3cret@127.0.0.1:1/d\"\n";
    configures(campanile.data(), text, 0o600);
    let said = campanile.cli(&["config"]);
    assert!(!said.out.contains("s3cret"), "{}", said.out);
    let shown = said.done();
    let of = |key: &str| {
        let lines = shown.as_array().expect("lines").iter();
        lines.clone().find(|line| line["key"] == key).unwrap_or_else(|| panic!("no {key} in {shown}")).clone()
    };
    assert_eq!(of("node.name")["value"], "a");
    assert!(of("node.name")["origin"].as_str().is_some_and(|origin| origin.ends_with("campanile.toml:2")), "{shown}");
    assert_eq!(of("database.connections")["origin"], "default");
    assert_eq!(of("data")["origin"], "--data");
}

const EXECUTORS: usize = 6;
const JOBS: usize = 40;

/// Three nodes on a database of their own, and executors that join them.
pub struct Team {
    pub server: Server,
    database: Database,
    pub nodes: Vec<Campanile>,
    pub serving: Vec<Option<Serve>>,
    members: Vec<Member>,
    diary: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Team {
    /// `more` stands at the end of what each node is told.
    pub fn begins(more: &str) -> Option<Team> {
        let server = Server::of_its_own()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime for what is looked up");
        let database = runtime.block_on(server.database());
        let nodes: Vec<Campanile> = (0..3).map(|_| Campanile::new()).collect();
        for (n, node) in nodes.iter().enumerate() {
            joins_with(node.data(), &database, &format!("node-{n}"), false, more);
        }
        let diary = nodes[0].beside("diary");
        let serving = vec![None, None, None];
        let mut team = Team { server, database, nodes, serving, members: Vec::new(), diary, runtime };
        (0..3).for_each(|node| team.starts(node));
        let rust = command("rust").expect("it is built with this test");
        let commands = ["rust", "go", "python"].map(|sdk| command(sdk).unwrap_or_else(|| rust.clone()));
        for n in 0..EXECUTORS {
            let node = team.serving[n % 3].as_ref().and_then(|serve| serve.executors.clone()).expect("it listens");
            let name = format!("executor-{n}");
            let record = team.nodes[0].beside(&format!("{name}.log"));
            team.members.push(Member::starts(&commands[n % 3], &node, &name, 4, &team.diary, &record));
        }
        Some(team)
    }

    pub fn starts(&mut self, node: usize) {
        self.serving[node] = Some(self.nodes[node].serves_with(&["--executors", "127.0.0.1:0"]));
    }

    /// What stands in the database; nothing while it does not answer.
    pub fn looks<T>(&self, look: impl AsyncFnOnce(&MysqlStore) -> campanile_store::Result<T>) -> Option<T> {
        self.runtime.block_on(async {
            let store = MysqlStore::open(&self.database.url()).await.ok()?;
            let seen = look(&store).await.ok();
            store.close().await;
            seen
        })
    }

    /// The nodes that lead something, with how many partitions each.
    fn shares(&self) -> BTreeMap<String, usize> {
        let rows = self.looks(async |store| {
            let now = store.now().await?;
            let rows = store.leases("launch/").await?;
            Ok(rows.into_iter().filter(|row| row.until > now).collect::<Vec<_>>())
        });
        let mut shares = BTreeMap::new();
        for row in rows.unwrap_or_default() {
            *shares.entry(row.lead.holder).or_default() += 1;
        }
        shares
    }

    pub fn are_shared_by(&self, nodes: usize) {
        let fair = 64_usize.div_ceil(nodes);
        let within = Instant::now();
        let shares = wait_for("the partitions are shared out", || {
            let shares = self.shares();
            let all = shares.values().sum::<usize>() == 64 && shares.len() == nodes;
            (all && shares.values().all(|share| *share <= fair)).then_some(shares)
        });
        println!("shared out in {} ms: {shares:?}", within.elapsed().as_millis());
    }

    fn nodes_that_are_there(&self) -> Vec<NodeEntry> {
        self.looks(async |store| store.nodes().await).unwrap_or_default()
    }

    fn ended(&self) -> BTreeSet<(String, u32)> {
        let ends = told(&self.diary).into_iter().filter(|line| line.what == "ends");
        ends.map(|line| (line.task, line.attempt)).collect()
    }

    /// Work goes on: as much as this more has ended.
    pub fn goes_on(&self, what: &str) {
        let before = self.ended().len();
        let began = Instant::now();
        wait_until(what, || self.ended().len() >= before + 30);
        println!("{what}: 30 more in {} ms", began.elapsed().as_millis());
    }

    /// Nothing more begins, what there is comes to its end, and the nodes leave.
    pub fn comes_to_rest(&mut self, jobs: &[String]) {
        for member in &mut self.members {
            assert!(member.is_running(), "{} gave up", member.name);
        }
        let mut pause = vec!["pause"];
        pause.extend(jobs.iter().map(String::as_str));
        self.nodes[0].cli(&pause).done();
        self.everything_ends();
        self.nodes[2].checks_the_ledger();
        self.members.clear();
        // Once all have left, nobody is there who could forget one that was killed just now.
        let serving = self.serving.iter().flatten().count();
        wait_until("those that were killed are forgotten", || self.nodes_that_are_there().len() == serving);
        for serve in self.serving.iter_mut().filter_map(Option::take) {
            assert!(serve.stop().success());
        }
        assert_eq!(self.nodes_that_are_there(), [], "each has left in good order");
    }

    /// However much has piled up, it gets less until nothing is left.
    fn everything_ends(&self) {
        let (mut ended, mut at) = (self.ended().len(), Instant::now());
        loop {
            let page = self.nodes[1].cli(&["runs", "--state", "waiting", "--state", "running"]).done();
            let Some(left) = page["rows"].as_array().and_then(|rows| rows.first()) else { return };
            let now = self.ended().len();
            if now > ended {
                (ended, at) = (now, Instant::now());
            }
            if at.elapsed() > PATIENCE {
                let why = left["id"].as_str().map(|id| self.nodes[1].cli(&["why", id]));
                panic!("nothing ends any more, and there is left: {left}, {why:?}\n{}", self.what_is_left().join("\n"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What has not ended, oldest first, as the database has it; and what each node said last.
    fn what_is_left(&self) -> Vec<String> {
        let rows = "SELECT CONCAT_WS(' ', j.name, i.state, FROM_UNIXTIME(i.due / 1000), 'task', t.state, t.attempt,
                           t.lane, 'ready', FROM_UNIXTIME(t.ready_at / 1000), 'pushed', FROM_UNIXTIME(t.pushed_at / 1000),
                           'started', FROM_UNIXTIME(t.started_at / 1000), t.executor_name, t.executor_boot, t.stop)
                    FROM instances i JOIN jobs j ON j.id = i.job LEFT JOIN tasks t ON t.instance_seq = i.seq
                    WHERE i.state IN ('waiting', 'running') ORDER BY i.seq LIMIT 40";
        let mut left: Vec<String> = self
            .runtime
            .block_on(async {
                let mut looker = self.database.connect().await;
                sqlx::query_scalar::<_, Vec<u8>>(rows).fetch_all(&mut looker).await.expect("rows")
            })
            .into_iter()
            .map(|row| String::from_utf8_lossy(&row).into_owned())
            .collect();
        for node in &self.nodes {
            let said = node.all_said();
            let last: Vec<&str> = said.lines().rev().take(30).collect();
            left.extend(last.into_iter().rev().map(str::to_owned));
        }
        left
    }

    /// Every task with its way, which is the same story as the executors tell.
    pub fn agrees(self) -> (Kept, Counts) {
        let tasks = self.runtime.block_on(async {
            let store = self.database.open().await;
            let tasks = kept(&store).await;
            store.close().await;
            tasks
        });
        let counts = agrees(&tasks, &told(&self.diary));
        println!("{counts:?}");
        // The database goes before its server does.
        let Team { server, database, .. } = self;
        drop(database);
        drop(server);
        (tasks, counts)
    }
}

#[test]
fn three_nodes_share_the_work_and_nothing_is_lost_or_doubled_when_any_of_them_or_the_database_goes() {
    let Some(mut team) = Team::begins("") else { return };
    let jobs: Vec<Value> = (0..JOBS)
        .map(|n| {
            let (ms, overlap) = ([20, 150, 600][n % 3], if n % 3 == 0 { "allow" } else { "queue" });
            json!({
                "name": format!("busy-{n}"),
                "schedule": {"kind": "fixedRate", "everySeconds": 2 + n % 3},
                "executorGroup": "conformance",
                "processor": "sleeps",
                "parameters": {"ms": ms},
                "overlap": overlap,
                "retry": {"retries": 50, "baseSeconds": 0.2, "maxSeconds": 1},
            })
        })
        .collect();
    team.nodes[1].applies(&jobs);
    team.are_shared_by(3);
    team.goes_on("with three nodes");

    team.serving[0].take().expect("it runs").kill_9();
    team.are_shared_by(2);
    team.goes_on("with the first one killed");
    team.starts(0);
    team.are_shared_by(3);

    team.server.crashes();
    team.goes_on("after the database came back");

    // Held up for longer than its leases: others take over, and what it still wants to write is refused.
    team.serving[1].as_ref().expect("it runs").freeze();
    team.are_shared_by(2);
    team.goes_on("with the second one frozen");
    team.serving[1].as_ref().expect("it runs").thaw();
    team.are_shared_by(3);

    assert!(team.serving[2].take().expect("it runs").stop().success());
    team.are_shared_by(2);
    team.goes_on("with the third one gone in good order");
    let clocks: Vec<i64> = team.nodes_that_are_there().iter().map(|node| node.offset_ms.abs()).collect();
    assert!(clocks.iter().all(|offset| *offset < 1000), "one machine has one time: {clocks:?}");
    team.starts(2);
    team.are_shared_by(3);
    team.comes_to_rest(&(0..JOBS).map(|n| format!("busy-{n}")).collect::<Vec<_>>());
    let (_, counts) = team.agrees();
    assert!(counts.tasks > 200, "hardly anything ran: {counts:?}");
}

/// Two that both believe they lead cannot both write: one is held up through its leases with the store under its hands.
#[tokio::test]
async fn a_node_that_was_paused_through_its_leases_is_refused_what_it_goes_on_to_write() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let (old, new) = (database.open().await, database.open().await);
    let now = old.now().await.expect("a time");
    let all: Vec<String> = (0..64).map(|n| format!("launch/{n:02}")).collect();
    let led = old.take_leases(&all, "old", now, now.plus_seconds(3)).await.expect("an answer");
    let seat = old.take_lease("node/old", "old", now, now.plus_seconds(3)).await.expect("an answer").expect("free");
    assert_eq!(led.len(), 64);
    let later = now.plus_seconds(4);
    let taken = new.take_leases(&all[..32], "new", later, later.plus_seconds(3)).await.expect("an answer");
    assert_eq!(taken.len(), 32);
    new.take_lease("node/old", "new", later, later).await.expect("an answer").expect("at its end");
    let kept = old.keep_leases(&led, later.plus_seconds(9)).await.expect("an answer");
    assert_eq!(kept.len(), 32, "what nobody took is its own still");
    let entry = NodeEntry {
        node: "old".to_owned(),
        name: String::new(),
        executors_at: String::new(),
        api: None,
        keeper: String::new(),
        version: String::new(),
        offset_ms: 0,
        partitions: 0,
        since: now,
        seen_at: now,
    };
    for refused in [&led[0], &seat] {
        let outcome = old.put_node(refused, &entry, Timestamp::EPOCH).await;
        assert!(matches!(outcome, Err(campanile_store::StoreError::Fenced(_))), "{outcome:?}");
    }
    old.put_node(&led[40], &entry, Timestamp::EPOCH).await.expect("it leads this one");
    old.close().await;
    new.close().await;
}
