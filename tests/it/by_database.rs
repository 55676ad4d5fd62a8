//! A console that knows a team by its database alone: it finds the nodes there and works through them, one after the other,
//! one of them over TLS; with none left it reads the database, and goes back to a node that returns. Real processes, on a
//! real MariaDB.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use campanile_api::Lang;
use campanile_api::views::{PutTeam, PutTeamDatabase, PutTeamNode, TeamColour, TeamNodeTried};
use campanile_host::{Places, Team, Wanted, WantedLog};
use campanile_model::connection::Secret;
use campanile_model::{Code, Fault};
use campanile_tests::campanile::{Campanile, PATIENCE, Serve};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::consoles::{LOOK_EVERY, ask, base, console, hears, runs};
use crate::servers::{Database, Server, run};
use crate::team::joins_with;

fn known_by(database: &str, password: Option<&str>) -> PutTeam {
    let password = password.map(|password| Secret(password.to_owned()));
    let database = Some(PutTeamDatabase { address: database.to_owned(), password });
    PutTeam { id: None, name: "生产".to_owned(), colour: TeamColour::Amber, nodes: Vec::new(), database }
}

/// The address without its password, and the password.
fn apart(url: &str) -> (String, Option<String>) {
    let (scheme, rest) = url.split_once("://").expect("an address");
    let (account, place) = rest.split_once('@').expect("an account");
    match account.split_once(':') {
        Some((user, password)) => (format!("{scheme}://{user}@{place}"), Some(password.to_owned())),
        None => (url.to_owned(), None),
    }
}

async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let waited = timeout(PATIENCE, async {
        while !so().await {
            sleep(LOOK_EVERY).await;
        }
    });
    assert!(waited.await.is_ok(), "never: {what}");
}

async fn goes_by(team: &Team, node: &Serve) {
    let expected = base(&node.url).to_owned();
    until(&format!("it goes by {expected}"), async || {
        // Whoever asks nothing notices nothing.
        ask(team, "status", json!({})).await.is_ok() && team.node().as_ref() == Some(&expected)
    })
    .await;
    hears(team).await;
}

/// Off the runtime: what starts and ends processes waits.
async fn aside<T: Send + 'static>(doing: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(doing).await.expect("it is done")
}

/// A change that nobody tells of shows within two seconds; a machine that does other things may be late, but not always.
async fn shows_what_is_changed_directly(team: &Team, database: &Database) {
    let mut meddler = database.connect().await;
    let mut late = Vec::new();
    for turn in 0..5 {
        let changed_at = RefCell::new(None);
        let heard = RefCell::new(None::<Duration>);
        let has_looked = Notify::new();
        let looking = team.follow(|frame| {
            // The first look at a database says nothing of a change; there has been one with the second frame.
            if frame.seq >= 2 {
                has_looked.notify_one();
            }
            let Some(changed_at) = *changed_at.borrow() else { return true };
            if frame.stale.iter().any(|topic| topic == "jobs") {
                *heard.borrow_mut() = Some(Instant::now().duration_since(changed_at));
            }
            heard.borrow().is_none()
        });
        let changing = async {
            has_looked.notified().await;
            let change = format!(
                "INSERT INTO settings (name, value) VALUES ('story', '{turn}') ON DUPLICATE KEY UPDATE value = '{turn}';
                 UPDATE changes SET times = times + 1"
            );
            run(&mut meddler, &change).await;
            *changed_at.borrow_mut() = Some(Instant::now());
        };
        let both = Box::pin(async { tokio::join!(looking, changing) });
        let (followed, ()) = timeout(PATIENCE, both).await.expect("it is heard");
        followed.expect("the database is read");
        let took = heard.borrow().expect("it was heard");
        if took < Duration::from_secs(2) {
            return;
        }
        late.push(took);
    }
    panic!("every change showed late: {late:?}");
}

async fn runs_of(team: &Team) -> usize {
    let page = ask(team, "list_instances", json!({})).await.expect("its runs");
    page["rows"].as_array().expect("rows").len()
}

async fn through(places: &Places, node: &Serve, token: &str) -> Result<Value, Fault> {
    let node = PutTeamNode { address: base(&node.url).to_owned(), token: Some(Secret(token.to_owned())) };
    let name = format!("by hand {}", rand::random::<u32>());
    let put = PutTeam { id: None, name, colour: TeamColour::Red, nodes: vec![node], database: None };
    let id = places.put(put).await.expect("it is kept");
    places.look_at(Some(&id)).await.expect("it is looked at");
    ask(&places.team().expect("a team"), "list_jobs", json!({})).await
}

fn code(tried: &TeamNodeTried) -> Option<&str> {
    tried.fault.as_ref().map(|fault| fault.code.as_str())
}

async fn story(database: &Database, own: &Path) {
    let (mut one, mut other) = (Campanile::new(), Campanile::new());
    joins_with(one.data(), database, "one", true, "");
    // The other shows a certificate that no authority of this machine has signed.
    let certs = other.beside("certs");
    campanile_host::certs::make(&certs, &["127.0.0.1".to_owned()], "nobody").expect("certificates");
    let tls = format!("[http]\ncertificate = \"{0}/node.pem\"\nkey = \"{0}/node-key.pem\"\n", certs.display());
    joins_with(other.data(), database, "other", true, &tls);
    let (address, password) = apart(&database.url());
    let places = console(own).await;

    // There is nothing in the database yet, and a console makes nothing there.
    let put = known_by(&address, password.as_deref());
    let tried = places.test(&put).await.expect("it is tried");
    assert_eq!(tried.iter().map(code).collect::<Vec<_>>(), [Some(Code::SchemaOlder.as_str())], "{tried:?}");
    if password.is_some() {
        let tried = places.test(&known_by(&address, Some("not it"))).await.expect("it is tried");
        assert_eq!(tried.iter().map(code).collect::<Vec<_>>(), [Some(Code::StorageUnavailable.as_str())], "{tried:?}");
    }

    let hello = json!({"name": "hello", "schedule": {"kind": "manual"}, "processor": "shell",
        "parameters": {"command": "echo 你好"}});
    let (mut one, first, other, second) = aside(move || {
        one.applies(&[hello]);
        let (first, second) = (one.serves(), other.serves());
        (one, first, other, second)
    })
    .await;
    assert!(second.url.starts_with("https://"), "{}", second.url);

    // Both are found, and both let it in.
    until("both nodes are found and let it in", async || {
        let tried = places.test(&put).await.expect("it is tried");
        tried.len() == 3 && tried.iter().all(|tried| tried.fault.is_none())
    })
    .await;
    let id = places.put(put).await.expect("it is kept");
    places.look_at(Some(&id)).await.expect("it is looked at");
    let team = places.team().expect("a team");
    until("a node is reached", async || team.node().is_some()).await;
    hears(&team).await;
    assert_eq!(ask(&team, "list_jobs", json!({})).await.expect("its jobs")["rows"][0]["name"], "hello");
    assert_eq!(runs(&team, "hello").await["row"]["state"], "succeeded");
    assert!(team.reads_database().is_none());
    let book = std::fs::read_to_string(own.join("teams.json")).expect("it is there");
    assert!(password.as_deref().is_none_or(|password| !book.contains(&format!(":{password}@"))), "{book}");

    // The one that it goes by is killed; it goes on through the other.
    let by_first = team.node().as_deref() == Some(base(&first.url));
    let (gone, left) = if by_first { (first, second) } else { (second, first) };
    aside(move || gone.kill_9()).await;
    goes_by(&team, &left).await;
    assert_eq!(runs(&team, "hello").await["row"]["state"], "succeeded");

    // What stands in the database opens nothing.
    let mut reader = database.connect().await;
    let digests: Vec<Vec<u8>> =
        sqlx::query_scalar("SELECT digest FROM passes").fetch_all(&mut reader).await.expect("passes");
    assert!(!digests.is_empty(), "the console has a pass");
    if left.url.starts_with("http://") {
        let elsewhere = tempfile::tempdir().expect("a folder");
        let stranger = console(elsewhere.path()).await;
        for digest in &digests {
            let digest = String::from_utf8_lossy(digest).into_owned();
            for shown in [digest.clone(), format!("pass_{digest}")] {
                let refused = through(&stranger, &left, &shown).await.expect_err("it opens nothing");
                assert!(refused.is(Code::TokenWrong), "{refused}");
            }
        }
    }

    // That one goes, too: what there is to see is read from the database.
    aside(move || assert!(left.stop().success())).await;
    until("the database is read", async || {
        let read = ask(&team, "list_jobs", json!({})).await;
        read.is_ok_and(|jobs| jobs["rows"][0]["name"] == "hello") && team.reads_database().is_some()
    })
    .await;
    let why = team.reads_database().expect("it says why");
    assert!(why.is(Code::NodesAway) && why.message.zh.contains("生产"), "{why:?}");
    assert!(team.node().is_none());
    Box::pin(shows_what_is_changed_directly(&team, database)).await;
    let before = runs_of(&team).await;
    assert_eq!(before, 2);

    // What takes a node says so; what is asked waits for one, and is answered.
    let log = Wanted::Log(WantedLog { task: "t".to_owned(), attempt: 1, name: "t.log".to_owned() });
    for refused in [
        ask(&team, "read_log", json!({"task": "t", "attempt": 1})).await.expect_err("logs are away"),
        team.save(&log, &own.join("t.log"), Lang::En).await.expect_err("so are files"),
        team.hand_in(&own.join("teams.json")).await.map(drop).expect_err("and uploads"),
    ] {
        assert!(refused.is(Code::NodesAway), "{refused}");
    }
    let unanswered = ask(&team, "run_jobs", json!({"jobs": ["hello"]})).await.expect_err("nobody carries it out");
    assert!(unanswered.is(Code::Unanswered), "{unanswered}");
    assert_eq!(runs_of(&team).await, before);

    // A node returns: it goes by that, and what was asked is done, once.
    let (one, first) = aside(move || {
        let first = one.serves();
        (one, first)
    })
    .await;
    goes_by(&team, &first).await;
    assert!(team.reads_database().is_none());
    until("what was asked is done", async || runs_of(&team).await == before + 1).await;
    assert_eq!(runs(&team, "hello").await["row"]["state"], "succeeded");
    assert_eq!(runs_of(&team).await, before + 2);
    let audit = ask(&team, "list_audit", json!({})).await.expect("an audit").to_string();
    assert!(audit.contains("givePass"), "{audit}");

    // Forgotten, it leaves nothing here.
    places.remove(&id).await.expect("it is forgotten");
    assert!(places.team().is_none());
    drop(team);
    let secrets = std::fs::read_dir(own.join("secrets")).map_or(0, Iterator::count);
    assert_eq!(secrets, 0);
    aside(move || {
        assert!(first.stop().success());
        one.checks_the_ledger();
        drop(other);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_by_database_goes_from_node_to_node_to_the_database_and_back() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let own = tempfile::tempdir().expect("a folder");
    Box::pin(story(&database, own.path())).await;
}
