//! Puts a node together on a data folder: picks the backends, opens the API, hosts the embedded executor.
//!
//! Several programs may have one folder open. Whichever holds the engine's lease drives it and hosts
//! the executor; the others are full consoles and take over when it goes. A command that finds
//! nobody leading holds the lease just long enough to have its request carried out.

mod backend;
pub mod certs;
pub mod config;
mod connections;
mod console;
mod downloads;
mod embedded;
mod executors;
mod face;
mod folder;
mod health;
mod http;
mod keychain;
mod locks;
mod logs;
mod outside;
mod passes;
mod records;
mod saving;
mod team_clock;
mod teams;
mod tries;
mod uploads;
mod zone_data;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use campanile_api::views::GivenFile;
use campanile_api::{About, Api, Below, CallContext, EVERYTHING, Feed};
use campanile_engine::courier::Deliveries;
use campanile_engine::events::Events;
use campanile_engine::held::HeldTable;
use campanile_engine::link::NodeAddress;
use campanile_engine::logs::Logs;
use campanile_engine::machine::Thresholds;
use campanile_engine::questions::Questions;
use campanile_engine::roster::Roster;
use campanile_engine::{Clock, Desk, Dice, Member, Node, Shared, Shelf, Standing};
use campanile_gateway::{LockRoom, Switchboard};
use campanile_model::node::NodeApi;
use campanile_model::request::{Person, Role};
use campanile_model::schedule::Zones;
use campanile_model::{Almanac, Code, Fault};
use campanile_processors::ChildLedger;
use campanile_sdk::SecretKey;
use campanile_store::Store;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::config::Config;
use crate::connections::NamedConnections;
use crate::embedded::Embedded;
use crate::executors::Tokens;
use crate::face::Face;
use crate::keychain::Vault;
use crate::logs::neighbours::{Asked, Given, Neighbours};
use crate::logs::passes::NodePasses;
use crate::logs::team::TeamLogs;
use crate::passes::Passes;
use crate::zone_data::KeptZones;

pub use downloads::{LogText, Pieces, Wanted, WantedLog, WantedReport, file_name};
pub use executors::{ExecutorPort, TlsFiles};
pub use folder::{DataFolder, make_key};
pub use http::{Server, status_of};
pub use logs::FileLogs;
pub use records::{Records, keep_records};
pub use saving::save;
pub use teams::{Place, Places, Team, pinned};

/// Which program opens the folder, and so what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The app on a person's own machine.
    Desktop,
    Serve {
        allow_shell: bool,
        /// Tasks that run here at once; the executor's own measure where absent.
        capacity: Option<u32>,
    },
    /// One command; it drives no engine.
    Command,
    /// A window that looks at a team by the team's database: it drives no engine and leads nothing, not even for once.
    Console,
}

pub struct Options {
    pub data: PathBuf,
    pub who: Who,
}

pub struct Host {
    data: DataFolder,
    hosts_executor: bool,
    who: Who,
    person: Person,
    backend: Backend,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    node: Arc<Node>,
    face: Arc<Face>,
    api: Arc<Api>,
    feed: Arc<Feed>,
    embedded: Embedded,
    switchboard: Arc<Switchboard>,
    /// None: this program gives out no locks.
    locks: Option<Arc<LockRoom>>,
    shelf: Arc<Shelf>,
    kept_zones: KeptZones,
    tokens: Arc<Tokens>,
    /// None: it keeps all logs itself.
    team_logs: Option<Arc<TeamLogs>>,
    passes: Passes,
}

/// How often a command looks whether its request waits for someone to carry it out.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Host {
    /// Opens the folder as its own configuration says, and brings what is in it up to date.
    pub async fn open(options: Options) -> Result<Host, Fault> {
        let data = vec![("data", "--data", options.data.display().to_string())];
        let config = Config::read(None, data, |name| std::env::var(name).ok())?;
        Host::open_as(options, &config).await
    }

    /// The same with a configuration that has been read.
    pub async fn open_as(options: Options, config: &Config) -> Result<Host, Fault> {
        let Options { data, who } = options;
        let data = DataFolder::open(&data)?;
        let backend = Backend::open(&data, config, who).await?;
        let store = backend.store();
        let children = ChildLedger::open(data.children()).map_err(|error| folder::fault(&error, data.root()))?;

        let machine = machine();
        let clock = backend.clock();
        let called = config.text("node.name").unwrap_or(&machine).to_owned();
        let name = node_name(&called, who);
        let keeper = match config.in_team() {
            true => Some(logs::team::keeper(&called, &data.known_by()?)),
            false => None,
        };
        let member = keeper.clone().map(|keeper| Member {
            name: called.clone(),
            keeper,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Member::default()
        });
        let dice = Arc::new(Dice::fair());
        let kept_zones = KeptZones::new(&data);
        let shelf = Arc::new(Shelf::new(Almanac::new(Arc::new(kept_zones.newest()), [])));
        let events = Arc::new(Events::default());
        let coord = backend.coord();
        let desk = Desk { store: store.clone(), coord: coord.clone(), clock: clock.clone(), dice: dice.clone() };
        let own_logs = FileLogs::new(data.logs());
        let team_logs = keeper.map(|keeper| {
            let passes = Box::new(NodePasses::new(desk.clone(), name.clone(), person()));
            let others = Box::new(Neighbours::new(store.clone(), machine.clone(), passes));
            Arc::new(TeamLogs::new(own_logs.clone(), keeper, store.clone(), clock.clone(), others))
        });
        let logs: Arc<dyn Logs> = match &team_logs {
            Some(logs) => logs.clone(),
            None => Arc::new(own_logs),
        };
        let switchboard = Arc::new(Switchboard::default());
        let node = Arc::new(Node::new(Shared {
            node: name,
            member: std::sync::Mutex::new(member),
            store: store.clone(),
            coord: coord.clone(),
            clock: clock.clone(),
            dice: dice.clone(),
            link: switchboard.clone(),
            logs: logs.clone(),
            events: events.clone(),
            shelf: shelf.clone(),
            roster: Roster::of(if who == Who::Desktop { Thresholds::DESKTOP } else { Thresholds::SERVER }),
            held: HeldTable::default(),
            questions: Questions::default(),
            deliveries: Deliveries::default(),
            trouble: std::sync::Mutex::default(),
        }));

        // A server has no session whose keychain it could ask; of a folder that both use, each reads where it can.
        let vault = Vault::new(data.secrets(), who == Who::Desktop);
        let connections = NamedConnections::new(data.connections(), store.clone(), vault);
        // A console on a team has no executor that secrets could be for.
        let key = (who != Who::Console).then(|| {
            data.executor_key()
                .inspect_err(|error| tracing::warn!(%error, "without its key the embedded executor takes no secrets"))
                .ok()
        });
        let key = key.flatten();
        let own_key = key.as_ref().map(SecretKey::public);
        let embedded = Embedded::new(called, Arc::new(children), &data, who, connections.clone(), switchboard.clone())
            .with_key(key);
        let face = Arc::new(Face::new(node.clone(), embedded.offers(), own_key));
        let api = Arc::new(Api::new(Below {
            desk,
            archive: backend.archive(),
            logs,
            events,
            shelf: shelf.clone(),
            node: face.clone(),
            connections: Arc::new(connections),
            zone_folder: Arc::new(kept_zones.clone()),
            about: About {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                data_folder: data.root().display().to_string(),
                zone: machine_zone(shelf.almanac().zones()),
                locks: backend.locks_kept(),
                health: (who != Who::Console).then(|| health::address(&data)).flatten(),
            },
        }));
        let feed = Arc::new(Feed::new(api.clone()));
        let tokens = Arc::new(Tokens::new(store.clone()));
        let passes = Passes::new(store.clone(), clock.clone());
        let locks = who.may_lead().then(|| locks::open(&backend, node.name(), &switchboard)).flatten();
        let hosts_executor = config.flag("embedded.enabled").unwrap_or(!config.in_team());
        let host = Host {
            data,
            hosts_executor,
            who,
            person: person(),
            backend,
            store,
            clock,
            node,
            face,
            api,
            feed,
            embedded,
            switchboard,
            locks,
            shelf,
            kept_zones,
            tokens,
            team_logs,
            passes,
        };
        host.look_who_leads().await?;
        Ok(host)
    }

    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// Who sits at this machine; in local mode that is someone with every role.
    pub fn person(&self) -> &Person {
        &self.person
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Statements that this program has sent to the database so far.
    pub fn statements(&self) -> u64 {
        self.backend.statements()
    }

    pub(crate) fn switchboard(&self) -> &Arc<Switchboard> {
        &self.switchboard
    }

    /// Where executors reach this node, as they see it; without one they keep to the addresses that they have.
    pub fn tells_executors_of(&self, address: Option<&str>) {
        if self.backend.team_clock().is_some() {
            // It says so to the others, and all of them to all executors.
            self.node.is_reached_at(address);
            return;
        }
        let node = |address: &str| NodeAddress { name: self.node.name().to_owned(), address: address.to_owned() };
        self.switchboard.set_nodes(address.map(node).as_slice());
    }

    /// Where this node's own API answers consoles and other nodes; said to all of its team.
    pub fn answers_at(&self, api: NodeApi) {
        self.node.answers_at(api);
    }

    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// A file of this machine, which whoever asks may read; looked at and taken in under the name that comes back.
    pub fn hand_in(&self, path: &Path) -> Result<GivenFile, Fault> {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        self.api.hand_in(path.to_owned(), &name, false)
    }

    pub(crate) fn tokens(&self) -> &Arc<Tokens> {
        &self.tokens
    }

    /// Lines that this node keeps, for another one.
    pub(crate) async fn part_of_log(&self, asked: &Asked) -> Result<Given, Fault> {
        match &self.team_logs {
            Some(logs) => logs.give(asked).await,
            None => Err(Code::UnknownOperation.fault()),
        }
    }

    pub(crate) fn passes(&self) -> &Passes {
        &self.passes
    }

    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Whether this program drives the engine now.
    pub fn leads(&self) -> bool {
        self.node.standing() == Standing::Leading
    }

    /// Asks one operation. Where nobody leads and nobody here wants to, the request is carried out all the same.
    pub async fn call(&self, operation: &str, input: Value, cx: &CallContext) -> Result<Value, Fault> {
        let answer = self.api.call(operation, input, cx);
        if self.who != Who::Command {
            return answer.await;
        }
        self.look_who_leads().await?;
        let answered = CancellationToken::new();
        let carrying = self.carry_out_without_engine(&answered);
        tokio::pin!(answer, carrying);
        tokio::select! {
            answer = &mut answer => {
                // The answer is there before the lease is given back; dropped in between, it would seem that someone
                // leads until it runs out.
                answered.cancel();
                match carrying.await {
                    Ok(()) => answer,
                    Err(fault) => answer.map_err(|_| fault),
                }
            }
            trouble = &mut carrying => Err(trouble.err().unwrap_or_else(|| Code::NotLeading.fault())),
        }
    }

    /// Carries out what is asked while nobody leads, until it is answered; starts no tasks.
    async fn carry_out_without_engine(&self, answered: &CancellationToken) -> Result<(), Fault> {
        loop {
            if self.store_has_requests().await? {
                match self.node.clerk_once().await {
                    // No feed runs here that would tell.
                    Ok(true) => self.backend.coord().tell(&EVERYTHING.map(str::to_owned)),
                    Ok(false) => {}
                    // Whoever has taken the lease meanwhile carries it out.
                    Err(error) => tracing::warn!(%error, "a request could not be carried out here"),
                }
            }
            tokio::select! {
                () = answered.cancelled() => return Ok(()),
                () = self.clock.sleep_until(self.clock.now() + LOOK_EVERY) => {}
            }
        }
    }

    async fn store_has_requests(&self) -> Result<bool, Fault> {
        let store: &dyn Store = &*self.store;
        Ok(!store.open_requests(1).await?.is_empty())
    }

    /// Whoever takes no part in the engine has to ask who does.
    async fn look_who_leads(&self) -> Result<(), Fault> {
        if !self.who.may_lead() {
            let store: &dyn Store = &*self.store;
            let row = store.lease(self.node.clerk_lease()).await?;
            self.face.someone_leads(row.is_some_and(|row| row.until > self.clock.now()));
        }
        Ok(())
    }

    /// Drives the engine whenever this program has the lease, until `shutdown`; then steps down in good order.
    pub async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let node = self.node.clone();
        let driving = tokio::spawn(async move { node.run().await });
        let feed = self.feed.clone();
        let feeding = tokio::spawn(async move { feed.run().await });
        let host = self.clone();
        let leaving = shutdown.child_token();
        let hosting = tokio::spawn(async move {
            if host.hosts_executor {
                host.embedded.run(&host.node, leaving).await;
            }
        });
        let host = self.clone();
        let measuring = tokio::spawn(async move {
            if let Some(clock) = host.backend.team_clock() {
                clock.go().await;
            }
        });
        let host = self.clone();
        let leaving = shutdown.child_token();
        let locking = tokio::spawn(async move { host.give_out_locks(leaving).await });
        let host = self.clone();
        let answering = tokio::spawn(async move { health::run(&host.data, &host.node).await });
        let host = self.clone();
        let watching = tokio::spawn(async move { host.kept_zones.watch(&host.shelf, host.clock.as_ref()).await });

        let host = self.clone();
        let noting = tokio::spawn(async move {
            if let Some(logs) = &host.team_logs {
                logs.run().await;
            }
        });

        let host = self.clone();
        let asked_of_desktop = shutdown.child_token();
        let listening = tokio::spawn(async move {
            if host.who == Who::Desktop {
                executors::listen_as_settings_say(host, asked_of_desktop).await;
            }
        });

        shutdown.cancelled().await;
        // The executor first: what it still has to report needs the engine.
        if hosting.await.is_err() {
            tracing::error!("the embedded executor ended in a panic");
        }
        if locking.await.is_err() {
            tracing::error!("the room where locks are given out ended in a panic");
        }
        listening.abort();
        answering.abort();
        watching.abort();
        measuring.abort();
        feeding.abort();
        driving.abort();
        // Its future is gone once this returns: nothing writes under the lease any more.
        let _ = driving.await;
        noting.abort();
        if let Some(logs) = &self.team_logs
            && let Err(error) = logs.note().await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "who keeps the last parts of logs is not noted");
        }
        if let Err(error) = self.node.step_down().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the lease could not be given up; it runs out by itself"
            );
        }
    }

    pub async fn close(&self) {
        if let Err(error) = self.backend.close(self.node.name()).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database was not closed in good order");
        }
    }
}

impl Who {
    fn may_run_shell(self) -> bool {
        match self {
            Who::Desktop => true,
            Who::Serve { allow_shell, .. } => allow_shell,
            // It hosts nothing; jobs may be written for a program that does.
            Who::Command | Who::Console => true,
        }
    }

    /// Whether it drives the engine when nobody else does.
    fn may_lead(self) -> bool {
        matches!(self, Who::Desktop | Who::Serve { .. })
    }

    fn capacity(self) -> Option<u32> {
        match self {
            Who::Serve { capacity, .. } => capacity,
            Who::Desktop | Who::Command | Who::Console => None,
        }
    }
}

/// What this machine calls itself.
fn machine() -> String {
    sysinfo::System::host_name().unwrap_or_else(|_| "localhost".to_owned())
}

/// One for each start of a program: a lease must not be taken for that of an earlier life.
fn node_name(called: &str, who: Who) -> String {
    let kind = match who {
        Who::Desktop => "desktop",
        Who::Serve { .. } => "serve",
        Who::Command => "command",
        Who::Console => "console",
    };
    format!("{called}-{kind}-{:08x}", rand::random::<u32>())
}

fn person() -> Person {
    let name = ["USER", "USERNAME", "LOGNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    Person { name: name.unwrap_or_else(|| "local".to_owned()), role: Role::Admin }
}

/// The zone of this machine; UTC where it has none that we know.
pub fn machine_zone(zones: &Zones) -> String {
    let found = jiff::tz::TimeZone::try_system().ok().and_then(|zone| zone.iana_name().map(str::to_owned));
    match found.and_then(|name| zones.get(&name).ok()) {
        // Machines without a place of their own are given this name for it.
        Some(zone) if zone.name() != "Etc/UTC" => zone.name().to_owned(),
        _ => "UTC".to_owned(),
    }
}
