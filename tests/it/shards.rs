//! Runs that are cut into shards, as processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use campanile_tests::campanile::{Campanile, wait_until};
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};

/// A job whose shards write each of their items into a file, with the level that it is of.
fn import(file: &Path, data: &[Vec<u32>], more: &Value) -> Value {
    let command = format!(
        "while read -r item; do echo \"$CAMPANILE_SHARD_LEVEL $item $CAMPANILE_SHARD_INDEX/$CAMPANILE_SHARD_COUNT\"; \
         done < \"$CAMPANILE_SHARD_ITEMS\" >> '{}'",
        file.display()
    );
    let mut job = json!({
        "name": "import",
        "schedule": {"kind": "manual"},
        "mode": "sharding",
        "processor": "shell",
        "parameters": {"command": command, "data": data},
    });
    for (field, value) in more.as_object().expect("fields") {
        job[field.as_str()] = value.clone();
    }
    job
}

/// What was written: level and item, with the shard that had it, in order.
fn written(file: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let parts = text.lines().filter_map(|line| line.rsplit_once(' '));
    parts.map(|(item, shard)| (item.to_owned(), shard.to_owned())).collect()
}

#[test]
fn every_item_goes_to_one_shard_and_levels_follow_one_another() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let data: Vec<Vec<u32>> = vec![(0..25).collect(), vec![100], Vec::new(), (200..207).collect()];
    campanile.applies(&[import(&file, &data, &json!({"shardMaxSize": 10}))]);
    let serve = campanile.serves();
    let run = campanile.runs_to_its_end("import");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");

    let written = written(&file);
    let levels: Vec<&str> = written.iter().map(|(item, _)| item.split(' ').next().unwrap_or_default()).collect();
    assert!(levels.is_sorted(), "{levels:?}");
    let mut by_item: BTreeMap<&str, &str> = BTreeMap::new();
    for (item, shard) in &written {
        assert!(by_item.insert(item, shard).is_none(), "{item} was given out twice");
    }
    assert_eq!(by_item.len(), 33);
    // Its index modulo their number: three shards of twenty-five items, one of one, one of seven.
    assert_eq!([by_item["0 0"], by_item["0 13"], by_item["0 24"]], ["0/3", "1/3", "0/3"]);
    assert_eq!([by_item["1 100"], by_item["3 206"]], ["0/1", "0/1"]);
    assert!(serve.stop().success());
}

#[test]
fn after_a_level_that_failed_the_next_is_cancelled_and_a_further_round_goes_on_from_there() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let mend = campanile.beside("mended");
    let data = vec![vec![1, 2, 3], vec![4]];
    let mut job = import(&file, &data, &json!({"shardMaxSize": 1, "retry": {"retries": 0}}));
    let command = job["parameters"]["command"].as_str().expect("a command").to_owned();
    let second = format!("[ $CAMPANILE_SHARD_INDEX != 1 ] || [ -e '{}' ] || exit 3; {command}", mend.display());
    job["parameters"]["command"] = json!(second);
    campanile.applies(&[job]);
    let serve = campanile.serves();
    let run = campanile.runs_to_its_end("import");
    assert_eq!(run["row"]["state"], "failed", "{run}");
    let items = || -> Vec<String> {
        let mut items: Vec<String> = written(&file).into_iter().map(|(item, _)| item).collect();
        items.sort();
        items
    };
    assert_eq!(items(), ["0 1", "0 3"]);

    fs::write(&mend, "").expect("it can be written");
    let id = run["row"]["id"].as_str().expect("an id").to_owned();
    campanile.cli(&["retry", &id]).done();
    wait_until("the further round ends", || campanile.runs("import")[0]["state"] == "succeeded");
    // What succeeded did not run again, and the second level ran after all.
    assert_eq!(items(), ["0 1", "0 2", "0 3", "1 4"]);
    campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

#[test]
fn a_run_that_is_cancelled_begins_nothing_more() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let data = vec![(0..50).collect(), vec![100]];
    let mut job = import(&file, &data, &json!({"shardMaxSize": 1}));
    let command = job["parameters"]["command"].as_str().expect("a command").to_owned();
    job["parameters"]["command"] = json!(format!("{command}; sleep 60"));
    campanile.applies(&[job]);
    let serve = campanile.serves();
    campanile.cli(&["run", "import"]).done();
    wait_until("some of it runs", || written(&file).len() >= 2);
    let id = campanile.runs("import")[0]["id"].as_str().expect("an id").to_owned();
    campanile.cli(&["cancel", &id]).done();
    wait_until("it is over", || campanile.runs("import")[0]["state"] == "cancelled");
    assert!(written(&file).len() < 50);
    assert!(serve.stop().success());
}

#[test]
fn a_run_without_items_has_nothing_to_do_and_data_of_another_shape_is_refused() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    campanile.applies(&[import(&file, &[], &json!({}))]);
    let wrong = import(&file, &[], &json!({"name": "wrong", "parameters": {"command": "true", "data": [[1], 2]}}));
    assert_eq!(campanile.apply(&[wrong]).refused().1, "k_sc_ec_000010");
    let serve = campanile.serves();
    let run = campanile.runs_to_its_end("import");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    assert!(written(&file).is_empty());
    assert!(serve.stop().success());
}

#[test]
fn of_a_run_in_which_several_failed_some_are_retried_and_the_others_stay() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let mend = campanile.beside("mended");
    let data = vec![(0..6).collect(), vec![100]];
    let more = json!({"shardMaxSize": 1, "retry": {"retries": 0}, "onLevelFailure": "continue"});
    let mut job = import(&file, &data, &more);
    let command = job["parameters"]["command"].as_str().expect("a command").to_owned();
    // Of the first level shards 1, 3 and 5 fail until it is mended.
    let odd = "[ $CAMPANILE_SHARD_LEVEL = 0 ] && [ $((CAMPANILE_SHARD_INDEX % 2)) = 1 ]";
    job["parameters"]["command"] =
        json!(format!("if {odd} && [ ! -e '{}' ]; then exit 3; fi; {command}", mend.display()));
    campanile.applies(&[job]);
    let serve = campanile.serves();
    let run = campanile.runs_to_its_end("import");
    assert_eq!(run["row"]["state"], "failed", "{run}");
    assert_eq!(run["row"]["tasks"], json!([]), "a run of many shards names none of them");
    assert_eq!(run["row"]["sharding"]["tally"], json!({"done": 7, "total": 7}));
    let items = || -> Vec<String> {
        let mut items: Vec<String> = written(&file).into_iter().map(|(item, _)| item).collect();
        items.sort();
        items
    };
    assert_eq!(items(), ["0 0", "0 2", "0 4", "1 100"]);

    let id = run["row"]["id"].as_str().expect("an id").to_owned();
    // Nothing of these failed, that is no range, and there is no such level.
    assert_eq!(campanile.cli(&["retry", &id, "--shards", "0:0,0:2,1:0"]).refused().1, "k_sc_ec_100020");
    assert_eq!(campanile.cli(&["retry", &id, "--shards", "7:0-9"]).refused().1, "k_sc_ec_100020");
    assert_eq!(campanile.cli(&["retry", &id, "--shards", "first"]).refused().1, "k_sc_ec_000001");
    fs::write(&mend, "").expect("it can be written");
    campanile.cli(&["retry", &id, "--shards", "0:0-1,0:5"]).done();
    wait_until("the further round ends", || {
        let run = &campanile.runs("import")[0];
        run["sharding"]["round"] == 2 && run["state"] == "failed"
    });
    assert_eq!(items(), ["0 0", "0 1", "0 2", "0 4", "0 5", "1 100"], "the third one stays as it failed");
    assert_eq!(campanile.runs("import")[0]["sharding"]["tally"], json!({"done": 2, "total": 2}));
    // What is left, by itself.
    campanile.cli(&["retry", &id]).done();
    wait_until("the last round ends", || campanile.runs("import")[0]["state"] == "succeeded");
    assert_eq!(items().len(), 7);
    campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

#[test]
fn of_a_run_in_progress_some_shards_are_cancelled_and_the_others_go_on() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let go = campanile.beside("go");
    let mut job = import(&file, &[(0..8).collect()], &json!({"shardMaxSize": 1}));
    let command = job["parameters"]["command"].as_str().expect("a command").to_owned();
    job["parameters"]["command"] = json!(format!("while [ ! -e '{}' ]; do sleep 0.1; done; {command}", go.display()));
    campanile.applies(&[job]);
    let serve = campanile.serves();
    campanile.cli(&["run", "import"]).done();
    wait_until("its shards are there", || campanile.runs("import")[0]["state"] == "running");
    let id = campanile.runs("import")[0]["id"].as_str().expect("an id").to_owned();
    campanile.cli(&["cancel", &id, "--shards", "0:0,0:5-6"]).done();
    let cancelled = || campanile.cli(&["tasks", "--state", "303"]).done()["rows"].as_array().map_or(0, Vec::len);
    wait_until("they are cancelled", || cancelled() == 3);
    assert_eq!(campanile.runs("import")[0]["state"], "running");
    fs::write(&go, "").expect("it can be written");
    wait_until("it is over", || campanile.runs("import")[0]["state"] == "cancelled");
    let items: Vec<String> = {
        let mut items: Vec<String> = written(&file).into_iter().map(|(item, _)| item).collect();
        items.sort();
        items
    };
    assert_eq!(items, ["0 1", "0 2", "0 3", "0 4", "0 7"]);
    assert_eq!(campanile.cli(&["cancel", &id, "--shards", "0:1"]).refused().1, "k_sc_ec_100005");
    assert!(serve.stop().success());
}

#[test]
fn what_a_run_waits_for_is_told_however_many_of_its_shards_are_done() {
    let mut campanile = Campanile::new();
    let file = campanile.beside("items");
    let go = campanile.beside("go");
    let data: Vec<Vec<u32>> = vec![(0..205).collect(), vec![300]];
    let mut job = import(&file, &data, &json!({"shardMaxSize": 1}));
    let command = job["parameters"]["command"].as_str().expect("a command").to_owned();
    let waits = format!("while [ ! -e '{}' ]; do sleep 0.1; done", go.display());
    job["parameters"]["command"] = json!(format!("[ \"$CAMPANILE_SHARD_LEVEL\" = 0 ] || {waits}; {command}"));
    campanile.applies(&[job]);
    let serve = campanile.serves();
    campanile.cli(&["run", "import"]).done();
    let id = campanile.runs("import")[0]["id"].as_str().expect("an id").to_owned();
    let waits_for = || campanile.cli(&["why", &id]).done()["waiting"]["words"]["en"].as_str().map(str::to_owned);
    wait_until("the last of its 206 shards runs", || {
        written(&file).len() == 205 && waits_for().is_some_and(|words| words.starts_with("runs on"))
    });
    fs::write(&go, "").expect("it can be written");
    wait_until("it is over", || campanile.runs("import")[0]["state"] == "succeeded");
    assert_eq!(waits_for(), None);
    assert!(serve.stop().success());
}

#[tokio::main(flavor = "current_thread")]
async fn customers(campanile: &Campanile) -> i64 {
    let url = format!("sqlite:{}", campanile.data().join("imports.db").display());
    let mut link = SqliteConnection::connect(&url).await.expect("it is there");
    sqlx::query_scalar("SELECT count(*) FROM customers").fetch_one(&mut link).await.expect("a number")
}

#[test]
fn ten_thousand_customers_are_imported_once_however_often_the_import_runs() {
    let mut campanile = Campanile::new();
    let parameters = json!({
        "file": "sample:customers", "table": "customers", "createTable": true, "key": "id", "parent": "brought_by",
        "required": ["name", "email"],
    });
    let job = json!({
        "name": "customers", "schedule": {"kind": "manual"}, "mode": "sharding", "processor": "import",
        "parameters": parameters, "shardMaxSize": 200,
    });
    campanile.applies(&[job]);
    let serve = campanile.serves();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let run = campanile.runs_to_its_end("customers");
        assert_eq!(run["row"]["state"], "succeeded", "{run}");
        seen.push(customers(&campanile));
    }
    assert!((9_900..10_000).contains(&seen[0]), "{seen:?}");
    assert_eq!(seen[0], seen[1]);
    assert!(serve.stop().success());
}
