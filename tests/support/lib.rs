//! What tests that need more than one crate stand on.
//!
//! [`World`] is a whole node on a real SQLite file, with time, executors and people in the hands of the story.
//! [`campanile::Campanile`] is the real program, as a process on a data folder.

pub mod actor;
pub mod campanile;
pub mod clock;
pub mod logs;
pub mod stillness;
pub mod world;

pub use actor::{Actor, Deed, Obeys};
pub use world::{World, every, job, story};
