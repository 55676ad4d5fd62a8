//! The way to executors, as the engine sees it: what it hears, and what it tells.
//!
//! A session is one connection of one executor. Within a session messages arrive in order or the
//! session ends; what was under way when it ended is lost in both directions. What an executor still
//! has to say it says again in its next session, and nothing that was said twice counts twice.

use std::collections::BTreeMap;

use async_trait::async_trait;
use campanile_model::instance::Origin;
use campanile_model::task::{ExecutorRef, StopStage};
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
}

#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    pub executor: ExecutorRef,
    /// It lives in the program that holds the data folder: its earlier lives are known to be over.
    pub embedded: bool,
    pub processors: Vec<ProcessorOffer>,
    pub labels: BTreeMap<String, String>,
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
    Progress,
    /// How far stopping has come.
    Stopping(StopStage),
    Succeeded {
        result: Option<String>,
    },
    Failed(Failure),
    Cancelled,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FromExecutor {
    Register(Registration),
    Heartbeat {
        number: u64,
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
    Draining,
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
}

#[derive(Clone, Debug, PartialEq)]
pub enum ToExecutor {
    /// What of that which it holds is still its own, with the last report of each that is stored.
    Welcome {
        node: String,
        still_yours: Vec<(AttemptRef, u64)>,
    },
    Refused(Fault),
    HeartbeatSeen {
        number: u64,
    },
    Push(Box<Push>),
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
}

#[async_trait]
pub trait Link: Send + Sync {
    /// The next thing any executor says; what one executor says comes in its order.
    async fn hear(&self) -> Heard;

    /// What has been said already and not heard yet; does not wait.
    fn overhear(&self) -> Option<Heard>;

    /// False: the session has ended, and nothing was told.
    fn tell(&self, session: SessionId, what: ToExecutor) -> bool;

    /// Ends the session.
    fn close(&self, session: SessionId);
}
