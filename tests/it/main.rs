//! Stories: what must be true for someone, told on a whole node.
//!
//! Most are told in a [`campanile_tests::World`], whose time they move. Those of `bad_input`, `by_database`, `chaos`,
//! `consoles`, `crontab`, `executors`, `folder`, `kill`, `locks`, `meeting`, `million`, `parts`, `passes`, `sdks`, `shards`,
//! `team`, `team_chaos` and `team_logs` are told
//! with real processes, on real time, because what they are about is the process itself.

mod alarms;
mod bad_input;
mod by_database;
mod calendars;
mod chaos;
mod codes;
mod consoles;
mod crontab;
mod data;
mod executors;
mod firing;
mod folder;
mod kill;
mod lanes;
mod locks;
mod meeting;
mod million;
mod nodes;
mod overlap;
mod parts;
mod passes;
mod people;
mod phases;
#[path = "../../src-tauri/crates/coord-redis/tests/servers/mod.rs"]
mod redis_servers;
mod retention;
mod sdks;
#[path = "../../src-tauri/crates/store-mysql/tests/servers/mod.rs"]
mod servers;
mod shards;
mod stopping;
mod tasks;
mod team;
mod team_chaos;
mod team_logs;
mod unplanned;
