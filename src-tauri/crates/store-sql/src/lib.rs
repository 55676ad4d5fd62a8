//! What the backends on SQL have in common: what stands in a row, and which noun of the model it is.
//!
//! Not here: how statements reach a server, and what they say. In that the backends differ, and know nothing of each
//! other.

mod cells;
mod columns;
mod nouns;

pub use cells::*;
pub use columns::*;
pub use nouns::*;
