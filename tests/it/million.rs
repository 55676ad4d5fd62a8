//! Many items over executors that die and come, at a node that is killed in the middle: 20,000 of them, or a million
//! with CAMPANILE_SOAK. Whatever happens on the way, each has its outcome once, and everybody was called as promised.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use campanile_model::InstanceId;
use campanile_model::sharding::{LevelState, Phase, PieceAt, ShardRun};
use campanile_model::task::{Part, Task, TaskState};
use campanile_store::{ShardStore as _, TaskStore as _};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{LOOK_EVERY, PATIENCE};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::parts::{Place, job};

/// Of every so many items one is told to have failed.
const FAIL_EVERY: u64 = 97;
const LEVELS: u32 = 4;

/// A node is to make do with so much, however many items there are.
const MOST_MEMORY: u64 = 300 * 1024 * 1024;

struct Size {
    items: u64,
    shard: u64,
    batch: u64,
    pause_ms: u64,
}

fn size() -> Size {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some_and(|soak| soak != "0");
    match soak {
        true => Size { items: 1_000_000, shard: 1000, batch: 500, pause_ms: 0 },
        false => Size { items: 20_000, shard: 100, batch: 20, pause_ms: 15 },
    }
}

/// Looks at the run in the store, and holds it to going forwards.
pub struct Watch {
    runtime: Runtime,
    store: SqliteStore,
    run: InstanceId,
    done: u64,
}

impl Watch {
    pub fn of(place: &Place, run: &str) -> Watch {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let path = place.campanile.data().join("campanile.db");
        let store = runtime.block_on(SqliteStore::open(&path)).expect("the database");
        Watch { runtime, store, run: run.parse().expect("an id"), done: 0 }
    }

    fn look(&mut self) -> ShardRun {
        let run = self.runtime.block_on(self.store.shard_run(self.run)).expect("it can be read").expect("it is there");
        assert!(run.tally.done >= self.done, "progress went from {} back to {}", self.done, run.tally.done);
        self.done = run.tally.done;
        run
    }

    /// Waits for as long as it goes on.
    pub fn until(&mut self, what: &str, so: impl Fn(&ShardRun) -> bool) -> ShardRun {
        let (mut moved, mut seen) = (Instant::now(), 0);
        loop {
            let run = self.look();
            if so(&run) {
                return run;
            }
            if run.tally.done != seen {
                (moved, seen) = (Instant::now(), run.tally.done);
            }
            assert!(moved.elapsed() < PATIENCE, "it stands still, and never: {what}; {run:?}");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn tasks(&self) -> Vec<Task> {
        self.runtime.block_on(self.store.tasks_of(self.run)).expect("they can be read")
    }

    /// Level and shard of those that have succeeded.
    fn succeeded(&self) -> BTreeSet<(u64, u64)> {
        let tasks = self.tasks().into_iter().filter(|task| task.state() == TaskState::Succeeded);
        tasks.filter_map(|task| shard_of(&task)).collect()
    }

    pub fn ends(self) {
        self.runtime.block_on(self.store.close()).expect("it is closed");
    }
}

fn shard_of(task: &Task) -> Option<(u64, u64)> {
    match task.part {
        Some(Part::Shard { level, index, .. }) => Some((level.into(), index.into())),
        _ => None,
    }
}

fn place_of(line: &Value) -> (u64, u64) {
    (line["level"].as_u64().expect("a level"), line["shard"].as_u64().expect("a shard"))
}

/// When something was killed: what had succeeded by then, and how much was written in the diary after that.
struct Cut {
    succeeded: BTreeSet<(u64, u64)>,
    lines: usize,
}

impl Cut {
    fn now(watch: &Watch, place: &Place) -> Cut {
        let succeeded = watch.succeeded();
        Cut { succeeded, lines: place.diary().len() }
    }
}

#[test]
fn of_many_items_each_has_its_outcome_once_whoever_is_killed_on_the_way() {
    let Size { items, shard, batch, pause_ms } = size();
    let mut place = Place::new();
    let parameters =
        json!({"items": items, "levels": LEVELS, "batch": batch, "pauseMs": pause_ms, "failEvery": FAIL_EVERY});
    place.campanile.applies(&[job("import", &parameters, &json!({"shardMaxSize": shard}))]);
    let serve = place.serves();
    let mut members = BTreeMap::from(["a", "b", "c"].map(|name| (name, place.executor(name, 4))));
    place.campanile.joined(&["a", "b", "c"]);
    let began = Instant::now();
    let id = place.begins("import");
    let mut watch = Watch::of(&place, &id);

    watch.until("a third is done", |run| run.tally.total == items && run.tally.done * 3 >= items);
    members.remove("b").expect("it is there").kill_9();
    let first = Cut::now(&watch, &place);
    watch.until("half of it is done", |run| run.tally.done * 2 >= items);
    members.insert("d", place.executor("d", 4));
    place.campanile.joined(&["d"]);
    watch.until("two thirds are done", |run| run.tally.done * 3 >= items * 2);
    let second = Cut::now(&watch, &place);
    let memory = serve.most_memory();
    serve.kill_9();
    assert!(second.succeeded.len() as u64 * shard < items, "everything was done before the node was killed");
    let serve = place.serves();
    watch.until("it is over", |run| run.phase == Phase::Over);
    let took = began.elapsed();
    let memory = memory.max(serve.most_memory());

    assert_eq!(place.campanile.runs("import")[0]["state"], "succeeded");
    every_item_has_its_outcome(&watch, items);
    nothing_that_had_succeeded_ran_again(&watch, &place, &[first, second]);
    everybody_was_called_as_promised(&place, items, &watch);
    assert!(memory < MOST_MEMORY, "the node took {} MiB", memory >> 20);
    println!("{items} items in {:.1} s, the node took at most {} MiB", took.as_secs_f64(), memory >> 20);
    watch.ends();
    place.campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

fn every_item_has_its_outcome(watch: &Watch, items: u64) {
    let of = |level: u32, shard: u32, first: u64| {
        let from = [(watch.run, PieceAt { level, shard, first })];
        watch.runtime.block_on(watch.store.pieces(&from, 100)).expect("they can be read")
    };
    let levels = watch.runtime.block_on(watch.store.levels(watch.run)).expect("they can be read");
    assert_eq!(levels.len(), LEVELS as usize);
    let (mut seen, mut before) = (0, 0);
    for level in &levels {
        assert_eq!(level.state, LevelState::Succeeded);
        for shard in 0..level.shards {
            let mut from = 0;
            loop {
                let pieces = of(level.level, shard, from);
                for (_, piece, said) in &pieces {
                    for place in 0..piece.items.len() {
                        let index = piece.at.first + place as u64 * u64::from(level.shards);
                        let n = before + index;
                        assert_eq!(piece.items[place], format!("{{\"n\":{n}}}"));
                        let (well, message) = said.outcomes.of(place).unwrap_or_else(|| panic!("{n} has no outcome"));
                        assert_eq!(well, !n.is_multiple_of(FAIL_EVERY), "{n}");
                        assert_eq!(message.is_empty(), well, "{n}: {message}");
                        seen += 1;
                    }
                }
                match pieces.last() {
                    Some((_, piece, _)) => from = piece.at.first + 1,
                    None => break,
                }
            }
        }
        before += level.items;
    }
    assert_eq!(seen, items);
}

fn nothing_that_had_succeeded_ran_again(watch: &Watch, place: &Place, cuts: &[Cut]) {
    let diary = place.diary();
    for cut in cuts {
        let again: Vec<&Value> = diary[cut.lines..]
            .iter()
            .filter(|line| line["what"] == "begins" && cut.succeeded.contains(&place_of(line)))
            .collect();
        assert!(again.is_empty(), "had succeeded and began again: {again:?}");
    }
    let mut begun: BTreeSet<((u64, u64), u64)> = BTreeSet::new();
    for line in diary.iter().filter(|line| line["what"] == "begins") {
        let attempt = line["attempt"].as_u64().expect("a number");
        assert!(begun.insert((place_of(line), attempt)), "the same attempt began twice: {line}");
    }
    for task in watch.tasks() {
        let Some(place) = shard_of(&task) else { continue };
        assert_eq!(task.state(), TaskState::Succeeded);
        assert!(begun.contains(&(place, task.attempt().into())), "{task:?} is said to have run");
        let attempts = begun.range((place, 0)..=(place, u64::MAX)).next_back().map(|(_, attempt)| *attempt);
        assert_eq!(attempts, Some(task.attempt().into()), "no attempt came after the one that succeeded");
    }
}

fn everybody_was_called_as_promised(place: &Place, items: u64, watch: &Watch) {
    let diary = place.diary();
    let what = |line: &Value| line["what"].as_str().expect("a word").to_owned();
    // Whoever was killed never says that it ended.
    let mut under_way: Option<String> = None;
    let mut told: Vec<u64> = Vec::new();
    let mut posts = 0;
    for line in &diary {
        let by = line["by"].as_str().expect("a name");
        match what(line).as_str() {
            "notice begins" => {
                assert!(under_way.is_none_or(|other| other == "b"), "two notices at once: {line}");
                assert_eq!(posts, 0, "a notice after post_process");
                assert_eq!(line["total"], items);
                told.push(line["done"].as_u64().expect("a number"));
                under_way = Some(by.to_owned());
            }
            "notice ends" => under_way = None,
            "post_process" => {
                assert!(under_way.as_deref().is_none_or(|by| by == "b"), "post_process during a notice");
                let saw = line["saw"].as_array().expect("a list");
                let mut shards: Vec<(u64, u64)> = watch.tasks().iter().filter_map(shard_of).collect();
                shards.sort_unstable();
                let seen: Vec<(u64, u64)> =
                    saw.iter().map(|end| (end[0].as_u64().unwrap_or(0), end[1].as_u64().unwrap_or(0))).collect();
                assert_eq!(seen, shards);
                assert!(saw.iter().all(|end| end[2] == 301));
                posts += 1;
            }
            _ => {}
        }
    }
    assert_eq!(posts, 1, "post_process is called once");
    assert_eq!(told.last(), Some(&items), "the last notice is of the whole: {told:?}");
    let steps_are_large = told.windows(2).all(|pair| pair[1] == items || (pair[1] - pair[0]) * 10 >= items);
    assert!(told.is_sorted() && steps_are_large, "{told:?}");
    assert!(told.len() >= 4, "hardly anybody was told: {told:?}");
    assert_eq!(diary.iter().filter(|line| line["what"] == "pre_process").count(), 1);
}
