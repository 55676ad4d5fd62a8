//! Locks that tasks take through their executors: two that exclude each other, one that enters twice, one that waits,
//! one whose executor dies, and one that goes over to another node.

use std::thread;

use campanile_tests::campanile::{Campanile, Member, Serve, Told, free_address, told, wait_for, wait_until};
use serde_json::{Value, json};

use crate::redis_servers;
use crate::sdks::{Place, for_every_sdk};
use crate::servers::Server;
use crate::team::configures;

/// What the diary says of locks, in its order: `locks` or `leaves`, the token, and who says it.
fn said(all: Vec<Told>) -> Vec<(String, u64, String)> {
    let of_lock = |line: Told| {
        let (what, token) = line.what.split_once(':')?;
        Some((what.to_owned(), token.parse().ok()?, line.executor))
    };
    all.into_iter().filter_map(of_lock).collect()
}

fn locks(of: &Campanile) -> Vec<Value> {
    of.cli(&["locks"]).done()["rows"].as_array().expect("a list").clone()
}

/// An executor that runs one task at a time, so that two tasks are with two executors.
fn member(place: &Place, name: &str) -> Member {
    let record = place.campanile.beside(&format!("{name}.log"));
    Member::starts(&place.command, &place.node, name, 1, &place.diary, &record)
}

fn of_two_tasks_that_lock_the_same_one_waits(sdk: &str) {
    let Some(mut place) = Place::new(sdk) else { return };
    let _serve = place.serves();
    let mut members = vec![member(&place, "one"), member(&place, "two")];
    let once = json!({"retries": 0});
    let seen = place.campanile.gate("seen");
    place.saves(&[
        ("first", "locks", json!({"parameters": {"lock": "日报/1", "until": seen.path(), "again": true}})),
        ("second", "locks", json!({"parameters": {"lock": "日报/1", "ms": 10}})),
        ("tries", "locks", json!({"parameters": {"lock": "日报/1", "ms": 10, "waitMs": 0}, "retry": once})),
        ("names", "locks", json!({"parameters": {"lock": "", "ms": 10}, "retry": once})),
        ("keeps", "locks", json!({"parameters": {"lock": "日报/1", "ms": 600_000}, "retry": once})),
    ]);
    let campanile = &place.campanile;
    let diary = || said(told(&place.diary));
    // Who is there alone may have a second task waiting beside the one it runs.
    campanile.joined(&["one", "two"]);

    let first = place.run("first");
    wait_until("the first has it, twice", || diary().len() == 2);
    let second = place.run("second");
    let row = wait_for("people see who has it and who waits", || {
        let row = locks(campanile).into_iter().next()?;
        let waits = row["waiters"].as_array().is_some_and(|waiters| waiters.len() == 1);
        (waits && row["holder"].is_object()).then_some(row)
    });
    let (holder, waiter) = (&row["holder"], &row["waiters"][0]);
    assert_eq!((&holder["of"]["job_name"], &waiter["of"]["job_name"]), (&json!("first"), &json!("second")), "{row:#}");
    let run = campanile.runs("first")[0]["id"].clone();
    assert_eq!(holder["of"]["instance"], run, "the way to the run: {row:#}");
    assert_eq!(campanile.cli(&["locks"]).done()["kept"], "process");
    assert_eq!(campanile.cli(&["nodes"]).done()["rows"], json!([]), "one program drives the folder");
    assert_eq!((row["lock"].as_str(), row["count"].as_u64()), (Some("日报/1"), Some(1)), "{row:#}");
    assert_ne!(holder["executor"], waiter["executor"], "{row:#}");
    seen.opens();
    first.end().succeeded(1);
    second.end().succeeded(1);
    let [(_, token, one), again, left, (what, greater, two), (_, same, _)] = diary().try_into().expect("five lines");
    assert_eq!((row["token"].as_u64(), holder["executor"].as_str()), (Some(token), Some(one.as_str())), "{row:#}");
    assert_eq!((again, left), (("locks".into(), token, one.clone()), ("leaves".into(), token, one.clone())));
    assert_eq!((what.as_str(), same), ("locks", greater));
    assert!(one != two && greater > token, "{one} {token}, {two} {greater}");
    place.run("names").end().failed("business", "k_sc_ec_300072", 1);

    // Its executor dies with it, and whoever waits has it when that is known.
    let keeps = place.run("keeps");
    wait_until("it has it", || diary().len() == 6);
    let (_, token, dies) = diary().remove(5);
    place.run("tries").end().failed("transient", "k_sc_ec_300071", 1);
    let waits = place.run("second");
    wait_until("the other waits", || locks(campanile).iter().any(|row| row["waiters"][0].is_object()));
    let place_of = members.iter().position(|member| member.name == dies).expect("a member");
    members.remove(place_of).kill_9();
    waits.end().succeeded(1);
    let (what, greater, _) = diary().remove(6);
    assert!(what == "locks" && greater > token, "{what} {greater} after {token}");
    assert_eq!(keeps.end().state(), "failed");
    wait_until("nothing is locked", || locks(campanile).is_empty());
    place.campanile.checks_the_ledger();
}

#[test]
fn with_every_sdk_of_two_tasks_that_lock_the_same_one_waits() {
    for_every_sdk(of_two_tasks_that_lock_the_same_one_waits);
}

fn a_lock_goes_over_with_its_executor(url: &str, redis: &str, command: &[String]) {
    let mut nodes = [Campanile::new(), Campanile::new()];
    let addresses = [free_address(), free_address()];
    let mut serving: Vec<Option<Serve>> = Vec::new();
    for (n, node) in nodes.iter_mut().enumerate() {
        let text = format!(
            "node.name = \"node-{n}\"\n[database]\nurl = \"{url}\"\nconnections = 8\n[redis]\nurl = \"{redis}\"\n"
        );
        configures(node.data(), &text, 0o600);
        serving.push(Some(node.serves_with(&["--executors", &addresses[n]])));
    }
    let shares = |of: &Campanile| {
        let rows = of.cli(&["nodes"]).done()["rows"].as_array().expect("a list").clone();
        let live = rows.into_iter().filter(|row| row["live"] == true);
        let share = |row: Value| (row["partitions"].as_u64(), row["duties"].as_array().map_or(0, Vec::len));
        live.map(share).collect::<Vec<_>>()
    };
    wait_until("the work is shared by both", || shares(&nodes[1]) == [(Some(32), 2), (Some(32), 2)]);
    assert_eq!(nodes[1].cli(&["locks"]).done()["kept"], "redis");
    let diary = nodes[1].beside("diary");
    let record = |name: &str| nodes[1].beside(&format!("{name}.log"));
    let _one = Member::starts(command, &addresses[0], "one", 1, &diary, &record("one"));
    let job = |name: &str, processor: &str, parameters: Value| {
        json!({
            "name": name, "schedule": {"kind": "manual"}, "executorGroup": "conformance", "processor": processor,
            "parameters": parameters, "retry": {"retries": 0},
        })
    };
    let over = nodes[1].gate("over");
    nodes[1].applies(&[
        job("long", "locks", json!({"lock": "x", "until": over.path()})),
        job("short", "locks", json!({"lock": "x", "ms": 10})),
        job("queued", "sleeps", json!({"ms": 10})),
    ]);
    let run = |job: &'static str| {
        let data = nodes[1].data().to_owned();
        thread::spawn(move || Campanile::on(&data).runs_to_its_end(job))
    };
    let diary = || said(told(&diary));
    let long = run("long");
    wait_until("it has it", || diary().len() == 1);
    wait_until("the other node says so", || locks(&nodes[1]).len() == 1);
    // The one place to wait at its executor is taken, so that whoever wants the lock too runs at another.
    nodes[1].cli(&["run", "queued"]).done();
    wait_until("one waits for the executor", || nodes[1].runs("queued")[0]["tasks"][0]["state"] == 201);
    // Its node dies; it goes over to the other, and who waits there waits on.
    let _two = Member::starts(command, &addresses[1], "two", 1, &nodes[1].beside("diary"), &record("two"));
    let short = run("short");
    wait_until("the other waits", || locks(&nodes[1]).iter().any(|row| row["waiters"][0].is_object()));
    serving[0].take().expect("it serves").kill_9();
    wait_until("the other has all of it", || shares(&nodes[1]) == [(Some(64), 4)]);
    over.opens();
    for (name, run) in [("long", long), ("short", short)] {
        let end = run.join().expect("the run can be waited for");
        assert_eq!(end["row"]["state"], "succeeded", "{name}: {end:#}");
        assert_eq!(end["tasks"][0]["attempt"], 1, "{name}: {end:#}");
    }
    let lines = diary();
    let [(_, token, _), (left, same, _), (taken, greater, _), _] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((left.as_str(), same, taken.as_str()), ("leaves", token, "locks"), "{lines:?}");
    assert!(greater > token, "{lines:?}");
    wait_until("who waited has run", || nodes[1].runs("queued")[0]["state"] == "succeeded");
}

#[tokio::test]
async fn a_lock_goes_on_with_its_token_when_its_node_is_killed() {
    let Some(server) = Server::shared() else { return };
    if !redis_servers::installed() {
        return;
    }
    let database = server.database().await;
    let redis = redis_servers::Server::start(&[]);
    let told = tokio::task::spawn_blocking(move || {
        let command = crate::sdks::command("rust").expect("it is built along");
        a_lock_goes_over_with_its_executor(&database.url(), &redis.url(), &command);
        (database, redis)
    });
    drop(told.await.expect("the story came to its end"));
}

/// What a node kept for itself would lock nobody else out.
fn a_team_without_a_place_to_meet_gives_out_none(url: &str) {
    let mut node = Campanile::new();
    configures(node.data(), &format!("node.name = \"alone\"\n[database]\nurl = \"{url}\"\n"), 0o600);
    let address = free_address();
    let _serve = node.serves_with(&["--executors", &address]);
    let command = crate::sdks::command("rust").expect("it is built along");
    let _one = Member::starts(&command, &address, "one", 1, &node.beside("diary"), &node.beside("one.log"));
    node.applies(&[json!({
        "name": "locks", "schedule": {"kind": "manual"}, "executorGroup": "conformance", "processor": "locks",
        "parameters": {"lock": "x", "ms": 10}, "retry": {"retries": 0},
    })]);
    let end = node.runs_to_its_end("locks");
    assert_eq!(end["tasks"][0]["failure"]["code"], "k_sc_ec_300074", "{end:#}");
}

#[tokio::test]
async fn where_nodes_have_no_place_to_meet_no_locks_are_given_out() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let told = tokio::task::spawn_blocking(move || {
        a_team_without_a_place_to_meet_gives_out_none(&database.url());
        database
    });
    drop(told.await.expect("the story came to its end"));
}
