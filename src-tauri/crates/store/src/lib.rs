//! What Campanile asks of a database: one trait per noun, in verbs of the field, each with a promise.
//!
//! The engine's part is [`Store`]; what people look at is [`Archive`]. The promises are tests in
//! `conformance`, which every backend runs. A backend decides nothing: what to write was decided by
//! the rules in `model` and the officers in `engine`; here it is written wholly or not at all.
//!
//! Every write of an officer shows its [`Lead`]: the lease it acts under and the term the database
//! gave it, or several of them. Where a term has passed to someone else, or was released, the write is refused and changes nothing, so
//! that of two nodes that both believe they lead only one can write.

mod archive;
pub mod conformance;
mod error;

mod alarms;
mod executors;
mod instances;
mod jobs;
mod leases;
mod ledger;
mod locks;
mod logs;
mod moving;
mod nodes;
mod passes;
mod requests;
mod settings;
mod shards;
mod staged;
mod tasks;
mod unplanned;
mod upkeep;

pub use alarms::{AlarmStore, IncidentMark};
pub use archive::*;
pub use error::{Result, StoreError};
pub use executors::{ExecutorStore, may_replace};
pub use instances::{Assignment, InstanceStore, Launch, Launched, Settlement};
pub use jobs::{JobStore, LedgerExtract, MadeInstance};
pub use leases::{Lead, LeaseRow, LeaseStore};
pub use ledger::{Entries, Ledger};
pub use locks::LockStore;
pub use logs::{LogPart, LogStore};
pub use moving::{Moved, Moving, follow};
pub use nodes::NodeStore;
pub use passes::PassStore;
pub use requests::{CarriedOut, Change, RequestStore};
pub use settings::SettingStore;
pub use shards::{ShardStore, ShardWrite};
pub use staged::StagedStore;
pub use tasks::{Bound, Claimed, LaneDepth, Room, Scope, Taken, TaskStore, Wanted, WantedNeed, scopes_of};
pub use unplanned::{Cause, Unplanned, UnplannedStore};
pub use upkeep::{OMISSIONS_OUTLIVE, Purge, Purged, UpkeepStore};

/// Everything that the engine needs kept.
pub trait Store:
    LeaseStore
    + NodeStore
    + PassStore
    + LockStore
    + LogStore
    + JobStore
    + InstanceStore
    + UnplannedStore
    + TaskStore
    + ShardStore
    + StagedStore
    + ExecutorStore
    + AlarmStore
    + RequestStore
    + SettingStore
    + UpkeepStore
    + Send
    + Sync
{
}

impl<S> Store for S where
    S: LeaseStore
        + NodeStore
        + PassStore
        + LockStore
        + LogStore
        + JobStore
        + InstanceStore
        + UnplannedStore
        + TaskStore
        + ShardStore
        + StagedStore
        + ExecutorStore
        + AlarmStore
        + RequestStore
        + SettingStore
        + UpkeepStore
        + Send
        + Sync
{
}
