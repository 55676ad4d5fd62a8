//! Stories: what must be true for someone, told on a whole node.
//!
//! Those of the first modules are told in a [`campanile_tests::World`], whose time they move; those of the last ones
//! with real processes, on real time, because what they are about is the process itself.

mod alarms;
mod codes;
mod firing;
mod nodes;
mod overlap;
mod people;
mod retention;
mod stopping;
mod tasks;
