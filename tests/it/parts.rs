//! Runs that are cut into shards, at executors of one's own: what `pre_process`, the shards, `notify` and `post_process`
//! are called for, and when.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use campanile_model::InstanceId;
use campanile_model::sharding::{Level, Phase, ShardRun};
use campanile_store::ShardStore as _;
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, Member, Serve, free_address, wait_until};
use serde_json::{Value, json};

use crate::million::Watch;

/// A node that executors of shards join.
pub struct Place {
    pub campanile: Campanile,
    pub node: String,
    diary: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let campanile = Campanile::new();
        let diary = campanile.beside("diary");
        Place { campanile, node: free_address(), diary }
    }

    pub fn serves(&mut self) -> Serve {
        self.campanile.serves_with(&["--executors", &self.node])
    }

    pub fn executor(&self, name: &str, capacity: u32) -> Member {
        let record = self.campanile.beside(&format!("{name}.log"));
        let command = [env!("CARGO_BIN_EXE_sharding-executor").to_owned()];
        Member::starts(&command, &self.node, name, capacity, &self.diary, &record)
    }

    /// What executors wrote down, in order.
    pub fn diary(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.diary).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Of the diary what says that.
    pub fn told(&self, what: &str) -> Vec<Value> {
        self.diary().into_iter().filter(|line| line["what"] == what).collect()
    }

    /// The run as the store has it, with its levels.
    #[tokio::main(flavor = "current_thread")]
    pub async fn run_now(&self, id: &str) -> (ShardRun, Vec<Level>) {
        let store = SqliteStore::open(&self.campanile.data().join("campanile.db")).await.expect("the database");
        let id: InstanceId = id.parse().expect("an id");
        let run = store.shard_run(id).await.expect("it can be read").expect("it is there");
        let levels = store.levels(id).await.expect("they can be read");
        store.close().await.expect("it is closed");
        (run, levels)
    }

    /// Runs the job and hands back the run's id.
    pub fn begins(&self, job: &str) -> String {
        self.campanile.cli(&["run", job]).done();
        self.campanile.runs(job)[0]["id"].as_str().expect("an id").to_owned()
    }
}

pub fn job(name: &str, parameters: &Value, more: &Value) -> Value {
    let mut job = json!({
        "name": name,
        "schedule": {"kind": "manual"},
        "mode": "sharding",
        "executorGroup": "shards",
        "processor": "import",
        "parameters": parameters,
    });
    for (field, value) in more.as_object().expect("fields") {
        job[field.as_str()] = value.clone();
    }
    job
}

/// (level, shard, code) of what `post_process` saw, each time that it was called.
fn ends_seen(place: &Place) -> Vec<Vec<(u64, u64, u64)>> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let calls = place.told("post_process");
    let seen = |call: &Value| -> Vec<(u64, u64, u64)> {
        let ends = call["saw"].as_array().expect("a list").iter();
        ends.map(|end| (number(&end[0]), number(&end[1]), number(&end[2]))).collect()
    };
    calls.iter().map(seen).collect()
}

#[test]
fn more_executors_than_items_and_a_processor_that_says_nothing_of_items() {
    let mut place = Place::new();
    let silent = json!({"processor": "silent", "shardMaxSize": 10});
    place.campanile.applies(&[
        job("few", &json!({"items": 2}), &json!({})),
        job("silent", &json!({"items": 25, "levels": 2}), &silent),
    ]);
    let serve = place.serves();
    let _members = ["a", "b", "c"].map(|name| place.executor(name, 2));
    place.campanile.joined(&["a", "b", "c"]);
    let run = place.campanile.runs_to_its_end("few");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    let counts: Vec<Value> = place.told("begins").iter().map(|line| line["count"].clone()).collect();
    assert_eq!(counts, [2, 2], "no more shards than items");

    let run = place.campanile.runs_to_its_end("silent");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    let id = run["row"]["id"].as_str().expect("an id");
    let (run, _) = place.run_now(id);
    assert_eq!((run.tally.done, run.tally.total), (25, 25), "the end of a shard is that of its items");
    let told: Vec<u64> = place.told("notice ends").iter().filter_map(|line| line["done"].as_u64()).collect();
    assert_eq!(told.last(), Some(&25));
    assert!(serve.stop().success());
}

#[test]
fn a_panic_fails_its_shard_alone_and_a_further_round_does_what_is_missing() {
    let mut place = Place::new();
    let mended = place.campanile.beside("mended");
    let parameters = json!({"items": 40, "levels": 2, "panicsAt": 1, "until": mended});
    let more = |policy: &str| json!({"shardMaxSize": 10, "onLevelFailure": policy, "retry": {"retries": 0}});
    let stops = job("stops", &parameters, &more("stop"));
    place.campanile.applies(&[stops, job("goes-on", &parameters, &more("continue"))]);
    let serve = place.serves();
    let _members = ["a", "b"].map(|name| place.executor(name, 2));
    place.campanile.joined(&["a", "b"]);

    let run = place.campanile.runs_to_its_end("goes-on");
    assert_eq!(run["row"]["state"], "failed", "{run}");
    let all = [(0, 0, 301), (0, 1, 302), (1, 0, 301), (1, 1, 302)];
    assert_eq!(ends_seen(&place), [all]);

    let run = place.campanile.runs_to_its_end("stops");
    assert_eq!(run["row"]["state"], "failed", "{run}");
    // The second level never came to be cut into shards.
    assert_eq!(ends_seen(&place)[1], all[..2]);
    let id = run["row"]["id"].as_str().expect("an id");
    let (before, _) = place.run_now(id);
    assert_eq!((before.tally.done, before.tally.total), (40, 40), "what had no chance is as it will be");

    fs::write(&mended, "").expect("it can be written");
    place.campanile.cli(&["retry", id]).done();
    wait_until("the further round ends", || place.campanile.runs("stops")[0]["state"] == "succeeded");
    let (after, _) = place.run_now(id);
    assert_eq!((after.round, after.tally.done, after.tally.total), (2, 30, 30), "the items without an outcome");
    assert_eq!(ends_seen(&place)[2], [(0, 0, 301), (0, 1, 301), (1, 0, 301), (1, 1, 301)]);
    // In its second round it called for the shard that had failed, and for those that had never been.
    let again: Vec<(Value, Value)> = place
        .told("begins")
        .into_iter()
        .filter(|line| line["round"] == 2)
        .map(|line| (line["level"].clone(), line["shard"].clone()))
        .collect();
    assert_eq!(again.len(), 3, "{again:?}");
    assert!(!again.contains(&(json!(0), json!(0))));
    place.campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

#[test]
fn an_executor_that_is_drained_gets_no_more_shards_and_what_it_has_goes_on() {
    let mut place = Place::new();
    let parameters = json!({"items": 1200, "levels": 2, "batch": 5, "pauseMs": 40});
    place.campanile.applies(&[job("import", &parameters, &json!({"shardMaxSize": 5}))]);
    let serve = place.serves();
    let _members = ["a", "b"].map(|name| place.executor(name, 2));
    place.campanile.joined(&["a", "b"]);
    let id = place.begins("import");
    wait_until("both are at work", || {
        let begun = place.told("begins");
        ["a", "b"].iter().all(|name| begun.iter().any(|line| line["by"] == *name))
    });
    place.campanile.cli(&["drain", "a", "--group", "shards"]).done();
    let before = place.told("begins").len();
    let (drained, _) = place.run_now(&id);
    wait_until("it ends", || place.campanile.runs("import")[0]["state"] == "succeeded");
    assert!(drained.tally.done < drained.tally.total, "there was nothing left to do");
    let begun = place.told("begins");
    // What waits there may be begun there: as much as it may run at once.
    let after = begun[before..].iter().filter(|line| line["by"] == "a").count();
    assert!(after <= 2, "{after} shards were begun by an executor that had been drained");
    let attempts: BTreeSet<u64> = begun.iter().filter_map(|line| line["attempt"].as_u64()).collect();
    assert_eq!((begun.len(), attempts), (240, BTreeSet::from([1])), "nothing that it had was taken from it");
    assert!(serve.stop().success());
}

#[test]
fn after_a_cancel_in_the_middle_the_rest_is_cancelled_and_nobody_is_called_at_the_end() {
    let mut place = Place::new();
    let parameters = json!({"items": 60, "levels": 3, "hangsAt": 1});
    place.campanile.applies(&[job("import", &parameters, &json!({"shardMaxSize": 5}))]);
    let serve = place.serves();
    let _member = place.executor("a", 2);
    place.campanile.joined(&["a"]);
    let id = place.begins("import");
    wait_until("the second level runs", || place.told("begins").iter().any(|line| line["level"] == 1));
    place.campanile.cli(&["cancel", &id]).done();
    wait_until("it is over", || place.campanile.runs("import")[0]["state"] == "cancelled");
    wait_until("its run is over too", || place.run_now(&id).0.phase == Phase::Over);
    let (run, levels) = place.run_now(&id);
    let states: Vec<&str> = levels.iter().map(|level| level.state.name()).collect();
    assert_eq!(states, ["succeeded", "cancelled", "cancelled"]);
    assert_eq!(run.tally.done, run.tally.total);
    assert!(place.told("post_process").is_empty());
    assert!(place.told("begins").iter().all(|line| line["level"] != 2));
    assert!(serve.stop().success());
}

#[test]
fn very_many_levels_of_one_item_follow_one_another_and_an_item_that_is_too_large_is_refused() {
    let mut place = Place::new();
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some_and(|soak| soak != "0");
    let count: u64 = if soak { 1000 } else { 200 };
    let large = json!({"items": 3, "bytes": 1024 * 1024});
    place.campanile.applies(&[
        job("levels", &json!({"items": count, "levels": count}), &json!({})),
        job("large", &large, &json!({})),
        // As long as an item may be: with its name and number about it.
        job("largest", &json!({"items": 3, "bytes": 1_000_000 - 20}), &json!({})),
    ]);
    let serve = place.serves();
    let _member = place.executor("a", 4);
    place.campanile.joined(&["a"]);
    let run = place.campanile.runs_to_its_end("large");
    assert_eq!(run["row"]["state"], "failed", "{run}");
    assert!(run.to_string().contains("k_sc_ec_300052"), "{run}");
    assert!(place.told("begins").is_empty());
    let run = place.campanile.runs_to_its_end("largest");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");

    let before = place.told("begins").len();
    let id = place.begins("levels");
    let mut watch = Watch::of(&place, &id);
    watch.until("it ends", |run| run.phase == Phase::Over);
    watch.ends();
    assert_eq!(place.campanile.runs("levels")[0]["state"], "succeeded");
    let levels: Vec<u64> = place.told("begins")[before..].iter().filter_map(|line| line["level"].as_u64()).collect();
    assert_eq!(levels, (0..count).collect::<Vec<u64>>());
    assert!(serve.stop().success());
}

#[test]
fn items_of_a_megabyte_go_from_a_file_to_executors_and_into_the_report() {
    // As an object of one field: a megabyte of JSON, which is as much as an item may have.
    const LONG: usize = 1_000_000 - "{\"text\":\"\"}".len();
    const ITEMS: usize = 12;
    let mut place = Place::new();
    place.campanile.applies(&[job("import", &json!({}), &json!({"shardMaxSize": 2}))]);
    let text = |n: usize| format!("{n:04}{}", "x".repeat(LONG - 4));
    let write = |name: &str, last: &str| {
        let path = place.campanile.beside(name);
        let rows: String = (0..ITEMS).map(|n| text(n) + "\n").collect();
        fs::write(&path, format!("text\n{rows}{last}")).expect("it can be written");
        path.to_str().expect("a plain path").to_owned()
    };
    let (fits, larger) = (write("fits.csv", ""), write("larger.csv", &format!("{}\n", "x".repeat(LONG + 1))));
    let serve = place.serves();
    let _members = ["a", "b"].map(|name| place.executor(name, 2));
    place.campanile.joined(&["a", "b"]);

    let said = place.campanile.cli(&["run", "import", "--data", &larger]);
    assert_eq!(said.refused().1, "k_sc_ec_100014");
    assert!(said.err.contains(&format!("row {} of larger.csv: it is larger than 1 MB", ITEMS + 2)), "{}", said.err);

    let ended = place.campanile.cli(&["run", "import", "--data", &fits]).done();
    let row = &ended[0]["row"];
    assert_eq!(row["state"], "succeeded", "{row}");
    assert_eq!(place.told("begins").len(), ITEMS / 2);
    let id = row["id"].as_str().expect("an id");
    let path = place.campanile.beside("report.csv");
    place.campanile.cli(&["report", id, "-o", path.to_str().expect("a plain path")]).done();
    let report = fs::read_to_string(&path).expect("it was written");
    let mut rows: Vec<&str> = report.lines().skip(1).collect();
    rows.sort_by_key(|row| row.split(',').next().and_then(|n| n.parse::<usize>().ok()));
    assert_eq!(rows.len(), ITEMS);
    for (n, row) in rows.into_iter().enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        assert!(cells[4] == "succeeded" && cells[6] == text(n), "row {n}: {}", &row[..100]);
    }
    // A cell of a workbook holds less: what is cut off there is not lost here.
    let book = place.campanile.beside("report.xlsx");
    place.campanile.cli(&["report", id, "-o", book.to_str().expect("a plain path")]).done();
    assert!(serve.stop().success());
}

#[test]
fn runs_that_wait_for_somebody_do_not_stand_before_others() {
    const WAITING: usize = 120;
    let mut place = Place::new();
    let nobody = json!({"executorGroup": "nobody", "readyTimeoutSeconds": 3600});
    let mut jobs: Vec<Value> =
        (0..WAITING).map(|n| job(&format!("waits-{n}"), &json!({"data": [[1]]}), &nobody)).collect();
    jobs.push(job("import", &json!({"items": 5}), &json!({})));
    place.campanile.applies(&jobs);
    let serve = place.serves();
    let _member = place.executor("a", 2);
    place.campanile.joined(&["a"]);
    let names: Vec<String> = (0..WAITING).map(|n| format!("waits-{n}")).collect();
    let mut words = vec!["run"];
    words.extend(names.iter().map(String::as_str));
    place.campanile.cli(&words).done();
    let run = place.campanile.runs_to_its_end("import");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    assert!(serve.stop().success());
}
