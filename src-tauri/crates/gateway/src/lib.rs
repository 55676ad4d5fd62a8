//! The protocol's side of the link: sessions of executors, in the engine's words.
//!
//! A [`Switchboard`] is the engine's [`Link`]; streams are plugged into it, whatever carries them: channels in this
//! process, or a [`Listener`] on the network. It converts and passes on, and decides nothing: who may come in the
//! [`Door`] says, who may stay, and what counts, the engine.
//!
//! [`Link`]: campanile_engine::link::Link

mod connection;
mod convert;
mod door;
mod listener;
mod locks;
mod stream;
mod switchboard;

pub use door::{Caller, Door};
pub use listener::{Listener, Secure};
pub use locks::LockRoom;
pub use switchboard::{Admission, Switchboard};
