//! Two nodes, each in a folder of its own, that share a database on a server: with real processes, on a real MariaDB.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use campanile_tests::campanile::{Campanile, wait_until};
use serde_json::{Value, json};

use crate::servers::{Database, Server};

fn writes_team(folder: &Path, text: &str, mode: u32) {
    fs::create_dir_all(folder).expect("a data folder");
    let file = folder.join("team.json");
    fs::write(&file, text).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("its own file");
}

fn joins(folder: &Path, database: &Database) {
    writes_team(folder, &json!({"database": database.url()}).to_string(), 0o600);
}

/// Runs of the job by how they stand.
fn standing(of: &Campanile) -> BTreeMap<String, usize> {
    let mut standing = BTreeMap::new();
    for run in of.runs("tick") {
        *standing.entry(run["state"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    standing
}

fn succeeded(of: &Campanile) -> usize {
    standing(of).get("succeeded").copied().unwrap_or(0)
}

fn of_two_nodes(database: &Database) {
    let (mut one, mut other) = (Campanile::new(), Campanile::new());
    joins(one.data(), database);
    joins(other.data(), database);
    let tick = json!({
        "name": "tick",
        "schedule": {"kind": "fixedRate", "everySeconds": 2},
        "processor": "shell",
        "parameters": {"command": "true"},
    });
    // Nobody drives the engine yet: the command carries it out itself.
    one.applies(&[tick]);
    let first = one.serves();
    wait_until("the first node fires", || succeeded(&one) >= 2);
    let second = other.serves();
    let jobs: Value = other.cli(&["jobs"]).done();
    assert_eq!(jobs[0]["name"], "tick", "{jobs}");

    first.kill_9();
    let before = succeeded(&other);
    wait_until("the other goes on", || succeeded(&other) >= before + 4);
    other.checks_the_ledger();
    assert!(!other.data().join("campanile.db").exists(), "the folder keeps no database of its own");

    // The first comes back, as one more.
    let first = one.serves();
    assert!(second.stop().success());
    let before = succeeded(&one);
    wait_until("and the first goes on again", || succeeded(&one) >= before + 2);
    assert!(first.stop().success());
    one.checks_the_ledger();
}

#[tokio::test]
async fn of_two_nodes_on_one_database_one_goes_on_when_the_other_is_killed() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let database = tokio::task::spawn_blocking(move || {
        of_two_nodes(&database);
        database
    });
    drop(database.await.expect("the story came to its end"));
}

#[test]
fn a_team_that_others_may_read_or_that_makes_no_sense_is_refused_without_its_password() {
    let good = r#"{"database": "mysql://u:s3cret@127.0.0.1:1/d"}"#;
    let postgres = r#"{"database": "postgres://u:s3cret@127.0.0.1:1/d"}"#;
    let more = r#"{"database": "mysql://u:s3cret@127.0.0.1:1/d", "colour": "s3cret"}"#;
    for (text, mode, reason) in [
        (good, 0o644, "make it 0600"),
        (good, 0o600, "storage does not answer"),
        (postgres, 0o600, "not a mysql:// address"),
        (more, 0o600, "not a team"),
        ("s3cret", 0o600, "not a team"),
    ] {
        let campanile = Campanile::new();
        writes_team(campanile.data(), text, mode);
        let said = campanile.cli(&["jobs"]);
        assert_eq!(said.refused().1, "k_sc_ec_500001", "{text}");
        assert!(said.err.contains(reason) && !said.err.contains("s3cret"), "{text}: {}", said.err);
        assert!(!campanile.data().join("campanile.db").exists(), "{text}");
    }
}
