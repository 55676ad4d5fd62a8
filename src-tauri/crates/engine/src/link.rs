//! The way to executors, as the engine sees it: what it hears, and what it tells.
//!
//! A session is one connection of one executor. Within a session messages arrive in order or the
//! session ends; what was under way when it ended is lost in both directions. What an executor still
//! has to say it says again in its next session, and nothing that was said twice counts twice.

use std::collections::BTreeMap;

use async_trait::async_trait;
use campanile_model::instance::Origin;
use campanile_model::sharding::Tally;
use campanile_model::task::{ExecutorRef, StopStage, TaskState};
use campanile_model::{Failure, Fault, TaskId, Timestamp, Words};
use serde_json::Value;

use crate::logs::LogLine;

/// One connection; never used again for another.
pub type SessionId = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptRef {
    pub task: TaskId,
    pub attempt: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorOffer {
    pub name: String,
    pub title: Words,
    pub description: Words,
    pub schema: Value,
    /// What runs is stopped there when the lease ends, rather than going on.
    pub stops_without_lease: bool,
    /// It may be asked whether a run is still worth doing.
    pub answers_still_needed: bool,
    /// What it can be called for.
    pub methods: Vec<Method>,
}

/// What a processor is called for: all of a run, or a part of one that is cut into shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    #[default]
    Process,
    PreProcess,
    ShardingProcess,
    Notify,
    PostProcess,
}

impl Method {
    pub const ALL: [Method; 5] =
        [Method::Process, Method::PreProcess, Method::ShardingProcess, Method::Notify, Method::PostProcess];

    /// As it is written down.
    pub fn name(self) -> &'static str {
        match self {
            Method::Process => "process",
            Method::PreProcess => "preProcess",
            Method::ShardingProcess => "shardingProcess",
            Method::Notify => "notify",
            Method::PostProcess => "postProcess",
        }
    }
}

/// Readings of the machine that an executor runs on; a missing one is unknown, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Machine {
    pub cpu_percent: Option<f64>,
    /// (1 - available / total) x 100
    pub memory_percent: Option<f64>,
    /// Requests that wait at its disks, on average since the reading before.
    pub disk_queue: Option<f64>,
    pub cores: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    pub executor: ExecutorRef,
    /// It lives in the program that holds the data folder: its earlier lives are known to be over.
    pub embedded: bool,
    pub processors: Vec<ProcessorOffer>,
    pub labels: BTreeMap<String, String>,
    pub sdk_version: String,
    /// Secrets are sealed to it (X25519, 32 bytes); none: it takes no secrets.
    pub public_key: Option<[u8; 32]>,
    /// How many tasks it runs at once …
    pub capacity: u32,
    /// … and how many more may wait there.
    pub queue: u32,
    /// Attempts of which it has something: queued, running, or ended and not acknowledged.
    pub still_held: Vec<AttemptRef>,
}

/// Something about one attempt. Sequences of an attempt rise; 0 answers for an attempt that the executor does not
/// hold, and is neither kept nor acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub attempt: AttemptRef,
    pub sequence: u64,
    pub said: Said,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// It has the task and will start it.
    Accepted,
    /// It did not start it and will not.
    HandedBack(Words),
    /// It does not have it, and cannot say that it never began it.
    Unheld,
    Started,
    /// How far it is, for show; the latest is worth something and no other.
    Progress {
        /// 0 to 100; none: only the message is new.
        percent: Option<f64>,
        message: String,
    },
    /// Outcomes of items of a shard.
    Items(Vec<ItemOutcome>),
    /// What takes the place of the data, level by level, in chunks.
    NewData {
        level: u32,
        /// JSON
        items: Vec<String>,
        last: bool,
    },
    /// How far stopping has come.
    Stopping(StopStage),
    Succeeded {
        result: Option<String>,
    },
    Failed(Failure),
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOutcome {
    pub index: u64,
    pub succeeded: bool,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FromExecutor {
    Register(Registration),
    Heartbeat {
        number: u64,
        /// Every ten seconds or so.
        machine: Option<Machine>,
    },
    Report(Report),
    Log {
        attempt: AttemptRef,
        sequence: u64,
        lines: Vec<LogLine>,
    },
    /// Its credit, changed.
    Capacity {
        capacity: u32,
        queue: u32,
    },
    /// It takes nothing new.
    Draining {
        /// And leaves once what runs is over.
        leaving: bool,
    },
    /// Its answer to [`ToExecutor::StillNeeded`].
    StillNeeded {
        question: String,
        needed: bool,
        message: String,
    },
    /// It leaves for good, and has nothing in hand.
    Goodbye,
    /// The session has ended.
    Gone,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub session: SessionId,
    pub said: FromExecutor,
}

/// A task on its way to an executor, with everything the run knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    pub attempt: AttemptRef,
    pub idempotency_key: String,
    pub processor: String,
    /// JSON
    pub parameters: String,
    pub job: String,
    pub instance: String,
    pub planned: Timestamp,
    pub due: Timestamp,
    pub version: u32,
    pub origin: Origin,
    pub tenant: Option<String>,
    /// When its time is over if it begins at once. The node watches it; the executor shows it.
    pub deadline: Option<Timestamp>,
    pub kill_on_overrun: bool,
    /// The attempt's reports are numbered from here on.
    pub sequence_after: u64,
    /// What `${secret:name}` in the parameters stands for; no node can read it.
    pub secrets: Vec<SealedSecret>,
    /// What the runs before this one gave, for `after` jobs.
    pub upstream: Vec<Upstream>,
    pub method: Method,
    /// For all methods but `Process`.
    pub shard: Option<Shard>,
    /// For `Notify`.
    pub notice: Option<Tally>,
    /// [`ToExecutor::ShardData`] or [`ToExecutor::ShardEnds`] of this attempt come after it.
    pub more_follows: bool,
}

/// Which piece of a sharded run an attempt has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shard {
    pub level: u32,
    pub level_count: u32,
    /// None for the methods that run once.
    pub index: Option<u32>,
    pub count: u32,
    pub round: u32,
    /// So many items come.
    pub items: u64,
}

/// How a shard ended, for whoever looks at all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardEnd {
    pub level: u32,
    pub shard: u32,
    pub state: TaskState,
    /// JSON
    pub result: Option<String>,
    pub failure: Option<Failure>,
}

/// A secret that only the executor it was sealed for can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    pub name: String,
    pub ciphertext: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    pub job: String,
    pub instance: String,
    /// JSON
    pub result: String,
}

/// Asked just before dispatch: is this run still worth doing? It starts nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What the answer names.
    pub id: String,
    pub processor: String,
    /// JSON
    pub parameters: String,
    pub job: String,
    pub version: u32,
    pub instance: String,
    pub origin: Origin,
    pub planned: Timestamp,
    pub due: Timestamp,
    pub tenant: Option<String>,
}

/// Where a node is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddress {
    pub name: String,
    /// host:port
    pub address: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ToExecutor {
    /// What of that which it holds is still its own, with the last report of each that is stored.
    Welcome {
        node: String,
        still_yours: Vec<(AttemptRef, u64)>,
        /// It is to take nothing new for now, as after [`ToExecutor::Drain`].
        draining: bool,
    },
    Refused(Fault),
    HeartbeatSeen {
        number: u64,
    },
    Push(Box<Push>),
    /// Items of a shard with their places in the level, or of the whole data level by level; in order.
    ShardData {
        attempt: AttemptRef,
        level: u32,
        /// JSON
        items: Vec<(u64, String)>,
        last: bool,
    },
    /// How shards ended, by level and then by shard.
    ShardEnds {
        attempt: AttemptRef,
        ends: Vec<ShardEnd>,
        last: bool,
    },
    /// Give it back if it has not begun.
    Withdraw(AttemptRef),
    Stop {
        attempt: AttemptRef,
        stage: StopStage,
    },
    /// The report is committed and need not be said again.
    Seen {
        attempt: AttemptRef,
        sequence: u64,
    },
    /// The attempt is not the executor's any more: stop it, and say nothing more of it.
    Forget(AttemptRef),
    /// Take nothing new, hand back what is queued, finish what runs.
    Drain {
        reason: String,
    },
    /// The end of a drain.
    Resume,
    StillNeeded(Box<Question>),
    /// The list of nodes has changed.
    Nodes(Vec<NodeAddress>),
}

#[async_trait]
pub trait Link: Send + Sync {
    /// The next thing any executor says; what one executor says comes in its order.
    async fn hear(&self) -> Heard;

    /// What has been said already and not heard yet; does not wait.
    fn overhear(&self) -> Option<Heard>;

    /// False: the session has ended, and nothing was told.
    fn tell(&self, session: SessionId, what: ToExecutor) -> bool;

    /// Whether whoever tells much should go on: false while a good deal waits for the executor to take it. True of a
    /// session that has ended.
    fn has_room(&self, session: SessionId) -> bool;

    /// Where executors find nodes from now on.
    fn show_nodes(&self, nodes: &[NodeAddress]);

    /// Ends the session.
    fn close(&self, session: SessionId);
}
