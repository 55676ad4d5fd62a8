//! A whole node on a folder of its own, or several that share a MariaDB and a Redis, in this process, with executors that
//! are processes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use campanile_engine::ENGINE_LEASE;
use campanile_engine::ledger::check_all;
use campanile_host::{DataFolder, ExecutorPort, Host, Options, Who};
use campanile_model::instance::InstanceState;
use campanile_model::job::Job;
use campanile_model::task::{Task, TaskState};
use campanile_model::{Almanac, Partitions, Timestamp};
use campanile_store::conformance::fixtures;
use campanile_store::{Archive, Change, InstanceFilter, InstanceSummary, Lead, Store, Taken, TaskFilter};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::Member;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::executor::{GROUP, wall_clock};
use crate::redis_servers;
use crate::servers::{Database, Server};

/// Nothing here takes as long on any machine.
const PATIENCE: Duration = Duration::from_secs(1800);

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Jobs in one transaction.
const BATCH: usize = 500;

const PAGE: usize = 500;

/// Jobs that are written to see how long it takes.
const FEW: usize = 50;

/// From the last job that was written until the first fires: for the node to begin, and the executors to join.
const MARGIN: Duration = Duration::from_secs(4);

pub fn now() -> Timestamp {
    Timestamp::from_millis(wall_clock())
}

/// A job for the executors of the benches, first due at that time.
pub fn job(name: &str, processor: &str, schedule: &Value, first: Timestamp, more: &Value) -> anyhow::Result<Job> {
    let mut spec = json!({
        "name": name, "executorGroup": GROUP, "processor": processor, "schedule": schedule, "overlap": "allow"
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    let now = now();
    Ok(Job {
        id: fixtures::job_id(),
        spec: serde_json::from_value(spec)?,
        version: 1,
        saved_at: now,
        fired_through: now,
        next_due: Some(first),
        paused: false,
        last_final_at: None,
    })
}

/// A store of either kind.
pub trait Kept: Store + Archive {}

impl<S: Store + Archive> Kept for S {}

pub struct Rig {
    folder: TempDir,
    pub hosts: Vec<Arc<Host>>,
    /// For looking, and for writing jobs before the nodes begin.
    pub store: Box<dyn Kept>,
    addresses: Vec<String>,
    shutdown: CancellationToken,
    parts: Vec<JoinHandle<()>>,
    executors: Vec<Member>,
    /// What a team shares; it goes last.
    shared: Option<(Database, Server, redis_servers::Server)>,
}

impl Rig {
    /// A node that has not begun, and executors that knock at its door.
    pub async fn with(executors: usize, capacity: u32) -> anyhow::Result<Rig> {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("data");
        let store = SqliteStore::open(&DataFolder::open(&data)?.database()).await?;
        Rig::of(folder, vec![data], Box::new(store), None, executors, capacity).await
    }

    /// So many nodes on a MariaDB and a Redis of their own, and executors that knock at the doors of all of them. None
    /// where there are no servers to start.
    pub async fn of_team(nodes: usize, executors: usize, capacity: u32) -> anyhow::Result<Option<Rig>> {
        let Some(server) = Server::of_its_own().filter(|_| redis_servers::installed()) else { return Ok(None) };
        let (database, redis) = (server.database().await, redis_servers::Server::start(&[]));
        let folder = tempfile::tempdir()?;
        let mut folders = Vec::with_capacity(nodes);
        for n in 0..nodes {
            let data = folder.path().join(format!("data-{n}"));
            DataFolder::open(&data)?;
            let text = format!(
                "node.name = \"node-{n}\"\ndatabase.url = \"{}\"\nredis.url = \"{}\"\n",
                database.url(),
                redis.url()
            );
            let config = data.join("campanile.toml");
            fs::write(&config, text)?;
            fs::set_permissions(&config, Permissions::from_mode(0o600))?;
            folders.push(data);
        }
        let store = database.open().await;
        let shared = Some((database, server, redis));
        Ok(Some(Rig::of(folder, folders, Box::new(store), shared, executors, capacity).await?))
    }

    async fn of(
        folder: TempDir,
        folders: Vec<PathBuf>,
        store: Box<dyn Kept>,
        shared: Option<(Database, Server, redis_servers::Server)>,
        executors: usize,
        capacity: u32,
    ) -> anyhow::Result<Rig> {
        let (shutdown, mut parts) = (CancellationToken::new(), Vec::new());
        let (mut hosts, mut addresses) = (Vec::new(), Vec::new());
        for data in folders {
            let who = Who::Serve { allow_shell: false, capacity: None };
            let host = Arc::new(Host::open(Options { data, who }).await?);
            let port = ExecutorPort::bind(([127, 0, 0, 1], 0).into(), None).await?;
            addresses.push(port.address().to_string());
            parts.push(tokio::spawn(port.run(host.clone(), shutdown.clone())));
            hosts.push(host);
        }
        let mut rig = Rig { folder, hosts, store, addresses, shutdown, parts, executors: Vec::new(), shared };
        rig.start_executors(executors, capacity)?;
        Ok(rig)
    }

    /// Sent by all nodes.
    pub fn statements(&self) -> u64 {
        self.hosts.iter().map(|host| host.statements()).sum()
    }

    fn start_executors(&mut self, count: usize, capacity: u32) -> anyhow::Result<()> {
        let own = std::env::current_exe()?.to_str().context("a path that can be written")?.to_owned();
        let command = [own, "executor".to_owned()];
        let (diary, record) = (self.folder.path().join("diary"), self.folder.path().join("executors.log"));
        for n in 0..count {
            let name = format!("{GROUP}-{n}");
            let node = &self.addresses[n % self.addresses.len()];
            self.executors.push(Member::starts(&command, node, &name, capacity, &diary, &record));
        }
        Ok(())
    }

    /// Writes so many jobs whose first time is the moment that it hands back, and lets the node begin before it.
    pub async fn begins(
        &mut self,
        count: usize,
        jobs: impl Fn(Timestamp) -> anyhow::Result<Vec<Job>>,
    ) -> anyhow::Result<Timestamp> {
        let until = now().plus_seconds(3600);
        let lead = self.store.take_lease(ENGINE_LEASE, "the bench", now(), until).await?;
        let lead = lead.context("nobody else is here")?;
        // How long it takes to write them shows on a few that never fire.
        let began = Instant::now();
        let manual = |n| job(&format!("never-{n}"), "nothing", &json!({"kind": "manual"}), Timestamp::MAX, &json!({}));
        let few = (0..FEW).map(manual).collect::<anyhow::Result<Vec<Job>>>()?;
        self.write(&lead, &few).await?;
        let writing = began.elapsed().mul_f64(1.5 * (count as f64 / FEW as f64));
        let from = now() + MARGIN + writing;
        self.write(&lead, &jobs(from)?).await?;
        self.store.release_lease(&lead).await?;

        for host in &self.hosts {
            self.parts.push(tokio::spawn(host.clone().run(self.shutdown.clone())));
        }
        self.wait_until("the nodes lead", async || Ok(self.hosts.iter().all(|host| host.leads()))).await?;
        self.executors_join().await?;
        if now() >= from {
            println!(
                "            (the machine was too slow to be ready in time: what is late here is later than it is)"
            );
        }
        Ok(from)
    }

    async fn write(&self, lead: &Lead, jobs: &[Job]) -> anyhow::Result<()> {
        for jobs in jobs.chunks(BATCH) {
            let new = |job: &Job| Change::PutJob { job: job.clone(), seen_version: None, by: "bench".to_owned() };
            let taken = fixtures::carry_out(self.store.as_ref(), lead, jobs.iter().map(new).collect()).await;
            ensure!(taken == Taken::Done, "the jobs were not written");
        }
        Ok(())
    }

    /// Starts executors while the node works.
    pub async fn executors_come(&mut self, count: usize, capacity: u32) -> anyhow::Result<()> {
        self.start_executors(count, capacity)?;
        self.executors_join().await
    }

    async fn executors_join(&self) -> anyhow::Result<()> {
        self.wait_until("the executors have joined", async || {
            let there = self.store.executors().await?;
            let joined = there.iter().filter(|(entry, _)| entry.connected && entry.executor.group == GROUP);
            Ok(joined.count() == self.executors.len())
        })
        .await
    }

    pub async fn wait_until(
        &self,
        what: &str,
        mut so: impl AsyncFnMut() -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        while !so().await? {
            ensure!(began.elapsed() < PATIENCE, "never: {what}");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Until then there is nothing to do but to wait.
    pub async fn until(&self, time: Timestamp) -> anyhow::Result<()> {
        self.wait_until("its time", async || Ok(now() >= time)).await
    }

    /// No job is due any more: every firing is written.
    pub async fn recorded(&self) -> anyhow::Result<()> {
        self.wait_until("all firings are recorded", async || {
            Ok(self.store.earliest_due(Partitions::ALL).await?.is_none_or(|due| due > now()))
        })
        .await
    }

    /// No task is under way, and none waits.
    pub async fn done(&self) -> anyhow::Result<()> {
        let filter = InstanceFilter {
            states: vec![InstanceState::Waiting, InstanceState::Running],
            ..InstanceFilter::default()
        };
        self.wait_until("all is done", async || Ok(self.store.instance_page(&filter, None, 1).await?.rows.is_empty()))
            .await
    }

    /// Everything that was made, once it is done: instances, and their tasks.
    pub async fn made(&self) -> anyhow::Result<(Vec<InstanceSummary>, Vec<Task>)> {
        let (mut instances, mut tasks, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let page = self.store.instance_page(&InstanceFilter::default(), cursor, PAGE).await?;
            instances.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let succeeded = TaskFilter { states: vec![TaskState::Succeeded], executor: None };
        loop {
            let page = self.store.task_page(&succeeded, cursor, PAGE).await?;
            tasks.extend(page.rows);
            cursor = page.next;
            if cursor.is_none() {
                return Ok((instances, tasks));
            }
        }
    }

    /// The ledger says that nothing is lost and nothing doubled, and the node leaves in good order.
    pub async fn ends_clean(self) -> anyhow::Result<()> {
        let report = check_all(self.store.as_ref(), &Almanac::bundled()).await?;
        ensure!(report.findings.is_empty(), "the ledger is not clean: {:?}", report.findings);
        self.leaves().await
    }

    /// The nodes leave, whatever is under way.
    pub async fn leaves(self) -> anyhow::Result<()> {
        drop(self.executors);
        self.shutdown.cancel();
        for part in self.parts {
            part.await?;
        }
        drop(self.store);
        for host in self.hosts {
            host.close().await;
        }
        if let Some((database, server, redis)) = self.shared {
            // The database goes before its server does; it is asked by a thread of its own.
            tokio::task::spawn_blocking(move || drop(database)).await?;
            drop((server, redis));
        }
        Ok(())
    }
}
