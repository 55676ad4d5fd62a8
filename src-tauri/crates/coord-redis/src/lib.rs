//! The meeting place in Redis: the shared answer to the `coord` contract.
//!
//! Redis holds what may be lost. Nothing here is believed without a limit in time, and every key has an expiry, so that
//! what nobody cares for goes by itself.

mod locks;
mod place;

pub use locks::RedisLocks;
pub use place::{Place, PlaceError};

/// Every key begins with it; the number is the layout's, and changes with it.
pub(crate) const PREFIX: &str = "campanile:1:";
