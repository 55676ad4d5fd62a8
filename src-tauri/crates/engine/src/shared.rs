//! What the officers of one node share.

use std::sync::{Arc, Mutex, PoisonError};

use campanile_coord::lanes::Lanes;
use campanile_coord::{Coord, Reach};
use campanile_model::blackout::Blackouts;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::limits::{LIMITS, Limits};
use campanile_model::node::NodeApi;
use campanile_model::request::Hold;
use campanile_model::{Fault, LaneClock, Timestamp};
use campanile_store::{SettingStore, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::courier::Deliveries;
use crate::events::Events;
use crate::held::HeldTable;
use crate::link::Link;
use crate::logs::Logs;
use crate::questions::Questions;
use crate::roster::Roster;
use crate::shelf::Shelf;
use crate::{Clock, Dice};

/// The setting under which a hold is kept.
pub const HOLD: &str = "hold";

/// The setting under which the workspace's blackout windows are kept.
pub const BLACKOUTS: &str = "blackouts";

/// The setting that says how long everything has been held in all, in milliseconds; the present hold apart.
pub const HELD_MILLIS: &str = "heldMillis";

/// What a node of a team says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// Where executors reach it, host:port; empty: they do not.
    pub executors_at: String,
    /// Where consoles and other nodes reach it.
    pub api: Option<NodeApi>,
    /// By which it is known as the keeper of logs, through all its lives.
    pub keeper: String,
    pub version: String,
}

pub struct Shared {
    /// What this node is called in this life; the holder of its leases.
    pub node: String,
    /// Where it shares its work with others. None: one node at a time drives everything.
    pub member: Mutex<Option<Member>>,
    pub store: Arc<dyn Store>,
    pub coord: Arc<dyn Coord>,
    pub clock: Arc<dyn Clock>,
    pub dice: Arc<Dice>,
    pub link: Arc<dyn Link>,
    pub logs: Arc<dyn Logs>,
    pub events: Arc<Events>,
    pub shelf: Arc<Shelf>,
    pub roster: Roster,
    /// What ready tasks wait for.
    pub held: HeldTable,
    pub questions: Questions,
    /// What follows pushes to executors.
    pub deliveries: Deliveries,
    /// What keeps the node from working just now, for people to see.
    pub trouble: Mutex<Option<Fault>>,
}

impl Shared {
    /// Whether everything is held, and by whom.
    pub async fn hold(&self) -> Result<Option<Hold>, StoreError> {
        read_hold(self.store.as_ref()).await
    }

    /// Time as the lanes count it.
    pub async fn lane_clock(&self) -> Result<LaneClock, StoreError> {
        let held_since = self.hold().await?.map(|hold| hold.since);
        Ok(LaneClock { held_millis: read_held_millis(self.store.as_ref()).await?, held_since })
    }

    /// Whether it shares its work with others.
    pub fn in_team(&self) -> bool {
        self.member.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The ready lanes that nodes share, while they can be reached.
    pub fn lanes(&self) -> Option<&dyn Lanes> {
        self.coord.lanes().filter(|_| self.coord.reach() == Reach::Team)
    }

    /// Reads which executors are with other nodes, and which of these are there. Streams of executors that have moved
    /// are closed here.
    pub async fn look_around(
        &self,
        stored: &[(ExecutorEntry, Option<Drain>)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.in_team() {
            let nodes = self.store.nodes().await?;
            for session in self.roster.sees_others(&self.node, stored, &nodes, now) {
                self.link.close(session);
            }
        }
        Ok(())
    }

    pub fn note_trouble(&self, error: Option<&StoreError>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // To be overtaken is no trouble: someone else works.
        *trouble = error.filter(|error| !matches!(error, StoreError::Fenced(_))).map(StoreError::fault);
    }
}

/// What the hold setting says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Holding {
    Held(Hold),
    /// What had waited goes out little by little from here on.
    Released(Timestamp),
}

/// How long everything has been held, in all the holds that have ended.
pub async fn read_held_millis(store: &(impl SettingStore + ?Sized)) -> Result<i64, StoreError> {
    Ok(store.setting(HELD_MILLIS).await?.and_then(|millis| millis.as_i64()).unwrap_or(0))
}

/// The bounds on work at once that are set.
pub async fn read_limits(store: &(impl SettingStore + ?Sized)) -> Result<Limits, StoreError> {
    Limits::of(store.setting(LIMITS).await?).map_err(|error| StoreError::Damaged(format!("setting {LIMITS}: {error}")))
}

/// Whether everything is held, and by whom.
pub async fn read_hold(store: &(impl SettingStore + ?Sized)) -> Result<Option<Hold>, StoreError> {
    Ok(match read_holding(store).await? {
        Some(Holding::Held(hold)) => Some(hold),
        Some(Holding::Released(_)) | None => None,
    })
}

/// The blackout windows of the workspace, by name.
pub async fn read_blackouts(store: &(impl SettingStore + ?Sized)) -> Result<Blackouts, StoreError> {
    let Some(value) = store.setting(BLACKOUTS).await? else { return Ok(Blackouts::new()) };
    serde_json::from_value(value).map_err(|error| StoreError::Damaged(format!("setting {BLACKOUTS}: {error}")))
}

pub async fn read_holding(store: &(impl SettingStore + ?Sized)) -> Result<Option<Holding>, StoreError> {
    let Some(value) = store.setting(HOLD).await? else { return Ok(None) };
    serde_json::from_value(value).map_err(|error| StoreError::Damaged(format!("setting {HOLD}: {error}")))
}
