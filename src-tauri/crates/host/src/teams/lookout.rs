//! A team by its database: which nodes there are is read there, a pass is asked for there, and where no node can be
//! reached what is shown is read there.
//!
//! It never changes the schema, leads nothing, and does not speak to the Redis of the team. What people ask while no node
//! is reached is handed in as a request in the database, for whichever node carries it out.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use campanile_api::views::{Frame, TeamNodeTried};
use campanile_api::{CallContext, Feed, Lang};
use campanile_engine::is_live;
use campanile_model::connection::Secret;
use campanile_model::node::NodeApi;
use campanile_model::{Code, Fault, Words};
use serde_json::Value;
use tokio::sync::{Notify, OnceCell, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::link::{Link, Miss, Node};
use super::own_pass::OwnPass;
use super::team::tried_node;
use crate::config::Config;
use crate::{Host, Options, Who, machine};

/// How often what nodes there are is looked at while one of them answers ...
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// ... and while none does.
const LOOK_SOON: Duration = Duration::from_secs(1);

/// How often what is shown is read where no node tells of changes.
const READ_EVERY: Duration = Duration::from_secs(1);

/// How long a question waits until it is known how the team is looked at.
const SETTLES_WITHIN: Duration = Duration::from_secs(15);

/// A pass that the nodes do not take is not replaced more often than this.
const DRAW_EVERY: Duration = Duration::from_secs(30);

/// Connections to the database: a window asks several things at once.
const CONNECTIONS: u32 = 4;

/// What only a node can do: logs lie on the machines of nodes, files are handed in there, and passwords of connections
/// are theirs.
pub(super) const NEED_A_NODE: [&str; 11] = [
    "read_log",
    "search_log",
    "executor_log",
    "look_at_data",
    "data_file",
    "stage_data",
    "discard_data",
    "put_connection",
    "remove_connection",
    "test_connection",
    "import_zones",
];

/// How the team is looked at just now.
#[derive(Clone)]
pub(super) enum Standing {
    Opening,
    Live,
    /// No node can be reached.
    Reading(Fault),
    /// Neither can the database.
    Away(Fault),
}

impl Standing {
    pub fn is_live(&self) -> bool {
        matches!(self, Standing::Live)
    }
}

pub(super) struct Lookout {
    inner: Arc<Inner>,
    _gone: DropGuard,
}

struct Inner {
    name: String,
    /// What it keeps on this machine.
    folder: PathBuf,
    url: Secret,
    link: Link,
    host: OnceCell<Arc<Host>>,
    standing: watch::Sender<Standing>,
    /// Nodes turned us away.
    refused: AtomicBool,
    wake: Notify,
}

impl Lookout {
    /// Begins to look; what keeps it from that is told to whoever asks.
    pub fn on(name: &str, folder: PathBuf, url: Secret) -> Lookout {
        let inner = Arc::new(Inner {
            name: name.to_owned(),
            folder,
            url,
            link: Link::new(name, Vec::new()),
            host: OnceCell::new(),
            standing: watch::Sender::new(Standing::Opening),
            refused: AtomicBool::new(false),
            wake: Notify::new(),
        });
        let gone = CancellationToken::new();
        tokio::spawn(keep(inner.clone(), gone.clone()));
        Lookout { inner, _gone: gone.drop_guard() }
    }

    pub fn link(&self) -> &Link {
        &self.inner.link
    }

    pub fn is_live(&self) -> bool {
        self.inner.standing.borrow().is_live()
    }

    /// Why the database is read instead of asking a node.
    pub fn reads(&self) -> Option<Fault> {
        match &*self.inner.standing.borrow() {
            Standing::Reading(fault) => Some(fault.clone()),
            Standing::Opening | Standing::Live | Standing::Away(_) => None,
        }
    }

    /// How the team is looked at, as soon as that is known.
    pub async fn settles(&self) -> Standing {
        let mut standing = self.inner.standing.subscribe();
        let known = standing.wait_for(|standing| !matches!(standing, Standing::Opening));
        match tokio::time::timeout(SETTLES_WITHIN, known).await {
            Ok(Ok(standing)) => standing.clone(),
            Ok(Err(_)) | Err(_) => Standing::Away(self.inner.no_database()),
        }
    }

    /// No node took what was asked.
    pub fn loses(&self, reason: &Words) {
        self.inner.reads_since(Standing::Reading(self.inner.nodes_away(reason)));
    }

    /// A node turned us away.
    pub fn is_refused(&self, fault: &Fault) {
        self.inner.refused.store(true, Ordering::Relaxed);
        self.loses(&fault.message);
    }

    pub async fn call(&self, operation: &str, input: Value, zone: &str, lang: Lang) -> Result<Value, Fault> {
        if NEED_A_NODE.contains(&operation) {
            return Err(self.needs_node().await);
        }
        let host = self.host()?;
        let cx = CallContext { who: host.person().clone(), zone: zone.to_owned(), lang };
        host.call(operation, input, &cx).await
    }

    /// Frames of what is read, until a node can be asked again (then true) or `each` wants no more.
    pub async fn follow(&self, each: &mut impl FnMut(Frame) -> bool) -> Result<bool, Fault> {
        let host = self.host()?;
        let feed = Feed::looking_every(host.api.clone(), READ_EVERY);
        let mut frames = feed.subscribe();
        let telling = async {
            while let Some(frame) = frames.next().await {
                if !each(frame) {
                    return false;
                }
            }
            true
        };
        let mut standing = self.inner.standing.subscribe();
        let changed = standing.wait_for(|standing| !matches!(standing, Standing::Reading(_)));
        tokio::select! {
            never = feed.run() => match never {},
            wanted = telling => Ok(wanted),
            standing = changed => match standing.map(|standing| standing.clone()) {
                Ok(Standing::Away(fault)) => Err(fault),
                Ok(_) => Ok(true),
                Err(_) => Err(self.inner.no_database()),
            },
        }
    }

    /// What is said of something that only a node can do.
    pub async fn needs_node(&self) -> Fault {
        match self.settles().await {
            Standing::Reading(fault) | Standing::Away(fault) => fault,
            Standing::Opening | Standing::Live => self.inner.nodes_away(&Words::default()),
        }
    }

    fn host(&self) -> Result<&Arc<Host>, Fault> {
        match (&*self.inner.standing.borrow(), self.inner.host.get()) {
            (Standing::Away(fault), _) => Err(fault.clone()),
            (_, Some(host)) => Ok(host),
            (_, None) => Err(self.inner.no_database()),
        }
    }

    /// What the database and each of the nodes say, as they would be looked at.
    pub async fn test(name: &str, address: &str, folder: PathBuf, url: &Secret) -> Vec<TeamNodeTried> {
        let said = |fault| TeamNodeTried { address: address.to_owned(), version: None, fault };
        let host = match open(folder, url).await {
            Ok(host) => Arc::new(host),
            Err(fault) => return vec![said(Some(fault))],
        };
        let mut tried = vec![said(None)];
        match nodes_of(&host).await {
            Ok(apis) if apis.is_empty() => tried.push(said(Some(nodes_away(name, &no_nodes())))),
            Ok(apis) => match OwnPass::default().shown(&host).await {
                Ok(pass) => {
                    for api in apis {
                        tried.push(match Node::of_row(&api, pass.clone()) {
                            Ok(node) => tried_node(&node, name).await,
                            Err(fault) => TeamNodeTried { address: api.address, version: None, fault: Some(fault) },
                        });
                    }
                }
                Err(fault) => tried.push(said(Some(nodes_away(name, &fault.message)))),
            },
            Err(fault) => tried.push(said(Some(fault))),
        }
        host.close().await;
        tried
    }
}

async fn keep(inner: Arc<Inner>, gone: CancellationToken) {
    let looking = async {
        let host = inner.opens().await;
        let measuring = async {
            match host.backend.team_clock() {
                Some(clock) => clock.go().await,
                None => std::future::pending().await,
            }
        };
        tokio::join!(measuring, inner.looks(host));
    };
    tokio::select! {
        () = gone.cancelled() => {}
        () = looking => {}
    }
    if let Some(host) = inner.host.get() {
        host.close().await;
    }
}

impl Inner {
    /// Tries until it is open.
    async fn opens(&self) -> &Arc<Host> {
        loop {
            match open(self.folder.clone(), &self.url).await {
                Ok(host) => return self.host.get_or_init(async || Arc::new(host)).await,
                Err(fault) => self.standing.send_replace(Standing::Away(fault)),
            };
            tokio::time::sleep(LOOK_SOON).await;
        }
    }

    async fn looks(&self, host: &Host) {
        let mut pass = OwnPass::default();
        loop {
            if let Some(standing) = self.look(host, &mut pass).await {
                self.reads_since(standing);
            }
            let next = if self.standing.borrow().is_live() { LOOK_EVERY } else { LOOK_SOON };
            tokio::select! {
                () = tokio::time::sleep(next) => {}
                () = self.wake.notified() => {}
            }
        }
    }

    /// How the team is to be looked at; none: as before.
    async fn look(&self, host: &Host, pass: &mut OwnPass) -> Option<Standing> {
        let live = self.standing.borrow().is_live();
        let apis = match nodes_of(host).await {
            Ok(apis) => apis,
            // While a node answers, it says itself what is wrong with the database.
            Err(_) if live => return None,
            Err(fault) => return Some(Standing::Away(fault)),
        };
        if apis.is_empty() {
            // It may only be late in saying that it is there.
            if live && self.link.finds_one().await.is_ok() {
                return None;
            }
            self.link.has(Vec::new());
            return Some(Standing::Reading(self.nodes_away(&no_nodes())));
        }
        if self.refused.swap(false, Ordering::Relaxed) && !pass.is_younger_than(DRAW_EVERY, Instant::now()) {
            *pass = OwnPass::default();
        }
        let shown = match pass.shown(host).await {
            Ok(shown) => shown,
            Err(fault) => return Some(Standing::Reading(self.nodes_away(&fault.message))),
        };
        let reached = apis.iter().map(|api| Node::of_row(api, shown.clone()));
        let nodes = match reached.collect::<Result<Vec<Node>, Fault>>() {
            Ok(nodes) => nodes,
            Err(fault) => return Some(Standing::Reading(self.nodes_away(&fault.message))),
        };
        self.link.has(nodes);
        if live {
            return None;
        }
        Some(match self.link.finds_one().await {
            Ok(()) => Standing::Live,
            Err(Miss::Away(reason) | Miss::Silent(reason)) => Standing::Reading(self.nodes_away(&reason)),
            Err(Miss::Refused(fault)) => {
                self.refused.store(fault.is(Code::TokenWrong), Ordering::Relaxed);
                Standing::Reading(self.nodes_away(&fault.message))
            }
        })
    }

    /// Tells of it where it is another way than before, and looks again soon.
    fn reads_since(&self, standing: Standing) {
        let stops = self.standing.borrow().is_live() && !standing.is_live();
        self.standing.send_replace(standing);
        if stops {
            self.wake.notify_one();
        }
    }

    fn nodes_away(&self, reason: &Words) -> Fault {
        nodes_away(&self.name, reason)
    }

    fn no_database(&self) -> Fault {
        let reason = Words::new("the database has not answered yet", "数据库尚未应答");
        Code::StorageUnavailable.fault().with_words("reason", &reason)
    }
}

fn nodes_away(team: &str, reason: &Words) -> Fault {
    Code::NodesAway.fault().with("team", team).with_words("reason", reason)
}

fn no_nodes() -> Words {
    Words::new("none runs whose API this machine could reach", "没有运行中的节点可从本机访问其 API")
}

async fn open(folder: PathBuf, url: &Secret) -> Result<Host, Fault> {
    // Nothing is taken from the environment: that is for this machine's own node.
    let said = vec![
        ("database.url", "team", url.0.clone()),
        ("database.connections", "team", CONNECTIONS.to_string()),
        ("data", "team", folder.display().to_string()),
    ];
    let config = Config::read(None, said, |_| None)?;
    Host::open_as(Options { data: folder, who: Who::Console }, &config).await
}

/// The APIs of the nodes that are there, as far as the way to them is one that a pass may go: to another machine by TLS
/// alone.
async fn nodes_of(host: &Host) -> Result<Vec<NodeApi>, Fault> {
    host.look_who_leads().await?;
    let (now, here) = (host.clock.now(), machine());
    let live = host.store().nodes().await?.into_iter().filter(|entry| is_live(entry, now));
    let apis = live.filter_map(|entry| entry.api);
    Ok(apis.filter(|api| api.leads_there_from(&here) && api.is_private()).collect())
}

#[cfg(test)]
mod tests {
    use campanile_api::OPERATIONS;

    use super::*;

    #[test]
    fn what_needs_a_node_can_be_asked() {
        for operation in NEED_A_NODE {
            assert!(OPERATIONS.contains(&operation), "{operation}");
        }
    }
}
