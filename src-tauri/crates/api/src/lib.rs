//! Everything a person may ask, for the window, the browser and the command line alike.
//!
//! Reading goes to the archive, writing through the engine's desk to whoever leads. Nothing here
//! decides what becomes of a job or a task; it checks what was sent, and tells what is there in the
//! zone and the languages of the one who asked.

mod alarms;
mod apply;
mod blackouts;
mod calendar;
mod calendars;
mod check;
mod compare;
mod connections;
mod crontab;
mod executors;
mod feed;
mod files;
mod future;
mod future_views;
mod input;
mod jobs;
mod limits;
mod locks;
mod logs;
mod moments;
mod nodes;
pub mod operations;
pub mod outside;
mod painter;
pub mod passes;
mod pulse;
mod report;
mod runs;
mod samples;
mod secrets;
mod sharding;
mod staging;
mod times;
pub mod tokens;
mod typescript;
mod versions;
pub mod views;
mod why;
mod window;
mod zones;

use std::sync::Arc;
use std::time::Duration;

use campanile_engine::events::Events;
use campanile_engine::held::Held;
use campanile_engine::logs::Logs;
use campanile_engine::{Desk, Shelf};
use campanile_model::request::{Ask, Done, Person, Role};
use campanile_model::schedule::Zone;
use campanile_model::task::{ExecutorRef, Task};
use campanile_model::{Almanac, Timestamp, Words};
use campanile_store::{Archive, Store};
use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::moments::Told;
use crate::times::Times;
use crate::views::{Allowed, LocksKept, NodeState, ProcessorView};

pub use calendars::calendar_alone;
pub use campanile_model::alarm::Severity;
pub use campanile_model::{Code, Fault};
pub use check::preview_alone;
pub use connections::{Connections, Password, Tried};
pub use feed::{EVERYTHING, Feed, Subscription};
pub use operations::OPERATIONS;
pub use report::ReportPieces;
pub use typescript::types;
pub use zones::ZoneFolder;

/// What the program that answers knows of itself, and the store does not.
pub trait Node: Send + Sync {
    fn state(&self) -> NodeState;

    /// Whether no other node leads anything: all that changes is changed, and told, by this program.
    fn leads_everything(&self) -> bool;

    /// Of all executors that it knows, and those that it would host itself.
    fn processors(&self) -> Vec<ProcessorView>;

    /// Tasks that executors have in hand; none where another program drives the engine.
    fn in_hand(&self) -> Option<u32>;

    /// Executors that are connected to it: when each was last heard, what it has in hand and what of that it runs.
    fn heard(&self) -> Vec<(ExecutorRef, Timestamp, u32, u32)>;

    /// What keeps a ready task from going, as far as this program drives the engine and has found it.
    fn held(&self, task: &Task) -> Option<Words>;

    /// Everything that keeps ready tasks from going; none where another program drives the engine.
    fn all_held(&self) -> Option<Vec<Held>>;

    /// What secrets for the executor that it hosts itself are sealed to.
    fn own_key(&self) -> Option<[u8; 32]>;

    /// The group of that executor.
    fn own_group(&self) -> &str;

    /// What keeps it from working, such as a full disk.
    fn trouble(&self) -> Option<Fault>;
}

#[derive(Clone, Debug)]
pub struct About {
    pub version: String,
    pub data_folder: String,
    /// Of this machine.
    pub zone: String,
    /// Where it is kept who holds a lock; none where none are given out.
    pub locks: Option<LocksKept>,
    /// Where the program says over HTTP that it is well, while it drives the engine.
    pub health: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    #[default]
    En,
    Zh,
}

/// Who asks, and how the answer is to be told.
#[derive(Clone, Debug)]
pub struct CallContext {
    pub who: Person,
    /// A zone's name; `local` or nothing is that of the node's machine.
    pub zone: String,
    pub lang: Lang,
}

/// How long a person waits for the clerk before being told that the request stands.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Api {
    desk: Desk,
    archive: Arc<dyn Archive>,
    logs: Arc<dyn Logs>,
    events: Arc<Events>,
    shelf: Arc<Shelf>,
    node: Arc<dyn Node>,
    connections: Arc<dyn Connections>,
    zone_folder: Arc<dyn ZoneFolder>,
    about: About,
    times: Times,
    files: Files,
}

/// What an [`Api`] stands on.
pub struct Below {
    pub desk: Desk,
    pub archive: Arc<dyn Archive>,
    pub logs: Arc<dyn Logs>,
    pub events: Arc<Events>,
    pub shelf: Arc<Shelf>,
    pub node: Arc<dyn Node>,
    pub connections: Arc<dyn Connections>,
    pub zone_folder: Arc<dyn ZoneFolder>,
    pub about: About,
}

impl Api {
    pub fn new(below: Below) -> Api {
        let Below { desk, archive, logs, events, shelf, node, connections, zone_folder, about } = below;
        let (times, files) = (Times::default(), Files::default());
        Api { desk, archive, logs, events, shelf, node, connections, zone_folder, about, times, files }
    }

    fn now(&self) -> Timestamp {
        self.desk.clock.now()
    }

    /// By which times are planned just now.
    fn almanac(&self) -> Arc<Almanac> {
        self.shelf.almanac()
    }

    fn store(&self) -> &dyn Store {
        &*self.desk.store
    }

    fn zone(&self, name: &str) -> Result<Zone, Fault> {
        let name = if name.is_empty() || name == "local" { &self.about.zone } else { name };
        self.almanac().zone(name).map_err(|_| Code::UnknownZone.fault().with("zone", name))
    }

    fn told(&self, cx: &CallContext) -> Result<Told, Fault> {
        Ok(Told::new(self.zone(&cx.zone)?))
    }

    async fn ask(&self, cx: &CallContext, ask: Ask) -> Result<Done, Fault> {
        self.desk.ask(&cx.who, ask, PATIENCE).await
    }
}

impl CallContext {
    fn may(&self, role: Role) -> Allowed {
        if self.who.role >= role { Allowed::YES } else { Allowed::no(Code::NoPermission.fault().message) }
    }
}
