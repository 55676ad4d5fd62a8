//! The protocol's side of the link: sessions of executors, in the engine's words.
//!
//! A [`Switchboard`] is the engine's [`Link`]; streams are plugged into it, whatever carries them.
//! It converts and passes on, and decides nothing: who may stay, and what counts, the engine says.

mod convert;
mod switchboard;

pub use switchboard::{Admission, Switchboard};
