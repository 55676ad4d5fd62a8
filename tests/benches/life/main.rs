//! What a firing costs from its time to the end of its task: in the store alone, in a whole node on SQLite with executors
//! in processes of their own over real gRPC, and in nodes that share a MariaDB and a Redis. What its time costs to find is
//! in the model's bench.
//!
//! Small unless SCALE says otherwise (`make bench` sets 1). Every figure comes with a count of what was there
//! afterwards, and the run fails where something is missing: a number that was measured on nothing shows.
//!
//! `life WORD` runs one part alone: `store`, `steady`, `burst`, `nodes`, `items`, `shards`, `logs`, `locks` or
//! `recovery`. The same program is the executor that the parts work with (`life executor NODES NAME CAPACITY`).

mod burst;
mod executor;
mod figures;
mod items;
mod locks;
mod logs;
mod nodes;
mod recovery;
#[path = "../../../src-tauri/crates/coord-redis/tests/servers/mod.rs"]
mod redis_servers;
mod rig;
#[path = "../../../src-tauri/crates/store-mysql/tests/servers/mod.rs"]
mod servers;
mod shards;
mod steady;
mod store;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    if words.first().is_some_and(|word| word == "executor") {
        return runtime.block_on(executor::live(&words[1..]));
    }
    // `cargo test --benches` and `cargo bench` pass flags of their own, and words that belong to them.
    let parts = ["store", "steady", "burst", "nodes", "items", "shards", "logs", "locks", "recovery"];
    let chosen = words.iter().map(String::as_str).find(|word| parts.contains(word));
    let is_wanted = |part: &str| chosen.is_none_or(|chosen| chosen == part);
    if is_wanted("store") || is_wanted("burst") {
        let alone = runtime.block_on(store::firings())?;
        if is_wanted("burst") {
            runtime.block_on(burst::all_at_once(alone))?;
            runtime.block_on(burst::in_two_halves())?;
        }
    }
    if is_wanted("steady") {
        runtime.block_on(steady::load(200))?;
        runtime.block_on(steady::load(2000))?;
    }
    if is_wanted("nodes") {
        runtime.block_on(nodes::of_a_team())?;
    }
    if is_wanted("items") {
        runtime.block_on(items::from_files())?;
    }
    if is_wanted("shards") {
        runtime.block_on(shards::beside_plain_tasks())?;
        runtime.block_on(shards::items())?;
        runtime.block_on(shards::planning())?;
    }
    if is_wanted("logs") {
        runtime.block_on(logs::beside_a_flood())?;
    }
    if is_wanted("locks") {
        runtime.block_on(locks::beside_a_plain_key())?;
    }
    if is_wanted("recovery") {
        recovery::of_executors()?;
        recovery::of_nodes()?;
    }
    Ok(())
}
