//! The nouns of Campanile and the rules about them: what exists, and what may become of it.
//!
//! Nothing here waits, reads a clock, draws a random number or touches a disk: time is an
//! argument, so that every rule can be checked by a table.

pub mod schedule;
pub mod time;

pub use time::Timestamp;
