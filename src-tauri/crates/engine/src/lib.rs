//! What acts: the officers who turn times into instances, instances into tasks, and tasks into outcomes.
//!
//! Nouns and rules are in `model`. Time, randomness, store, coordination and link come in through
//! traits, so that a whole cluster runs in one seeded process.

pub mod alerter;
pub mod assigner;
pub mod clerk;
mod clock;
pub mod courier;
mod desk;
mod dice;
pub mod dispatcher;
pub mod effect;
pub mod events;
pub mod held;
pub mod launcher;
pub mod ledger;
pub mod link;
pub mod logs;
pub mod machine;
pub mod monitor;
mod node;
pub mod officer;
pub mod progress;
pub mod questions;
pub mod registrar;
mod rest;
pub mod roster;
pub mod share;
mod shared;
mod shelf;
mod specs;
pub mod sweeper;
mod team;

pub use clock::{Clock, SystemClock};
pub use desk::Desk;
pub use dice::Dice;
pub use node::{ENGINE_LEASE, LEASE, Node, Standing};
pub use shared::{
    BLACKOUTS, HELD_MILLIS, HOLD, Holding, Member, Shared, read_blackouts, read_held_millis, read_hold, read_limits,
};
pub use shelf::{ALMANAC_SETTING, CALENDAR_SETTING, Shelf, read_calendars};
pub use team::{is_live, seat_lease};
