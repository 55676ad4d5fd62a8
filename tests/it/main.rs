//! Stories: what must be true for someone, told on a whole node.
//!
//! Most are told in a [`campanile_tests::World`], whose time they move. Those of `bad_input`, `chaos`, `crontab`,
//! `executors`, `folder`, `kill` and `sdks` are told with real processes, on real time, because what they are about is
//! the process itself.

mod alarms;
mod bad_input;
mod calendars;
mod chaos;
mod codes;
mod crontab;
mod executors;
mod firing;
mod folder;
mod kill;
mod lanes;
mod nodes;
mod overlap;
mod people;
mod retention;
mod sdks;
mod stopping;
mod tasks;
mod unplanned;
