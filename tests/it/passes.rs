//! Passes: what is shown at the door of a node's API for a quarter of an hour.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use campanile_api::Lang;
use campanile_api::passes::{draw, known_by};
use campanile_api::views::{PutTeam, PutTeamNode, TeamColour};
use campanile_coord::LocalCoord;
use campanile_engine::{Desk, Dice, SystemClock};
use campanile_host::{DataFolder, Places, Team};
use campanile_model::connection::Secret;
use campanile_model::pass::PASS_SECONDS;
use campanile_model::request::{Ask, Person, Role};
use campanile_model::{Code, Fault};
use campanile_store::{PassStore as _, Store};
use campanile_store_sqlite::SqliteStore;
use campanile_tests::campanile::{Campanile, PATIENCE};
use campanile_tests::story;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::Notify;
use tokio::time::timeout;

fn give(digest: &str) -> Ask {
    Ask::GivePass { digest: digest.to_owned() }
}

fn person(name: &str, role: Role) -> Person {
    Person { name: name.to_owned(), role }
}

#[tokio::test]
async fn a_pass_is_its_owners_and_on_record_once_however_often_it_is_renewed() {
    story(async |world| {
        let digest = "0f".repeat(32);
        let mut given = Vec::new();
        for _ in 0..3 {
            world.asks_in_person("first", person("li", Role::Operator), give(&digest)).await.expect("it is given");
            given.push(world.store().pass(&digest).await.expect("it is read").expect("it is there"));
            world.sleeps(600).await;
        }
        assert!(given.iter().all(|pass| pass.who == person("li", Role::Operator)), "{given:?}");
        assert!(
            given.windows(2).all(|pair| pair[1].until.since(pair[0].until) >= Duration::from_secs(600)),
            "{given:?}"
        );
        let told = |entries: &[campanile_model::request::AuditEntry]| -> Vec<(String, String)> {
            let passes = entries.iter().filter(|entry| entry.action == "givePass");
            passes.map(|entry| (entry.who.clone(), entry.subject.clone())).collect()
        };
        let once = ("li".to_owned(), "pass:0f0f0f0f0f0f".to_owned());
        assert_eq!(told(&world.audit().await), std::slice::from_ref(&once));

        for (who, digest, code) in [
            (person("mei", Role::Admin), digest.as_str(), Code::NoPermission),
            (person("li", Role::Operator), "", Code::BadRequest),
            (person("li", Role::Operator), "0F", Code::BadRequest),
        ] {
            let refused = world.asks_in_person("first", who, give(digest)).await.expect_err("it is not given");
            assert!(refused.is(code), "{refused}");
        }
        assert_eq!(world.store().pass(&digest).await.expect("it is read").as_ref(), given.last());

        // What has run out is swept away, and whoever comes again is on record again.
        world.sleeps(PASS_SECONDS).await;
        world.advance(61).await;
        assert_eq!(world.store().pass(&digest).await.expect("it is read"), None);
        world.asks_in_person("first", person("li", Role::Viewer), give(&digest)).await.expect("it is given");
        assert_eq!(told(&world.audit().await), [once.clone(), once]);
    })
    .await;
}

async fn through(folder: &Path, url: &str, token: &str) -> Arc<Team> {
    let places = Places::open(DataFolder::open(folder).expect("a folder"), false).await.expect("it opens");
    let node = PutTeamNode {
        address: url.split("/#").next().expect("an address").to_owned(),
        token: Some(Secret(token.to_owned())),
    };
    let name = format!("team {}", rand::random::<u32>());
    let id = places
        .put(PutTeam { id: None, name, colour: TeamColour::Red, nodes: vec![node], database: None })
        .await
        .expect("it is kept");
    places.look_at(Some(&id)).await.expect("it is looked at");
    places.team().expect("a team")
}

async fn jobs(team: &Team) -> Result<Value, Fault> {
    team.call("list_jobs", &json!({}), "UTC", Lang::En).await
}

#[tokio::test]
async fn a_pass_opens_every_node_for_its_owner_until_it_has_run_out_and_what_stands_in_the_database_none() {
    let mut campanile = Campanile::new();
    let (first, second) = (campanile.serves(), campanile.serves());
    campanile.applies(&[json!({
        "name": "hello",
        "schedule": {"kind": "manual"},
        "processor": "shell",
        "parameters": {"command": "true"}
    })]);
    let file = campanile.data().join("campanile.db");
    let store = Arc::new(SqliteStore::open(&file).await.expect("it opens"));
    let desk = Desk {
        store: store.clone() as Arc<dyn Store>,
        coord: Arc::new(LocalCoord::default()),
        clock: Arc::new(SystemClock),
        dice: Arc::new(Dice::fair()),
    };
    let own = tempfile::tempdir().expect("a folder");
    let secret = draw().0;
    let digest = known_by(&secret).expect("it is a pass");
    let refused = async |token: &str| {
        let fault = jobs(&*through(own.path(), &first.url, token).await).await.expect_err("it opens nothing");
        assert!(fault.is(Code::TokenWrong), "{token}: {fault}");
    };

    refused(&secret).await;
    desk.ask(&person("li", Role::Viewer), give(&digest), PATIENCE).await.expect("it is given");
    let looked_at = through(own.path(), &first.url, &secret).await;
    assert_eq!(jobs(&looked_at).await.expect("it opens")["rows"][0]["name"], "hello");
    assert!(jobs(&*through(own.path(), &second.url, &secret).await).await.is_ok());
    let run = looked_at.call("run_jobs", &json!({"jobs": ["hello"]}), "UTC", Lang::En).await;
    let fault = run.expect_err("its owner looks on");
    assert!(fault.is(Code::NoPermission), "{fault}");
    refused(&digest).await;
    refused(&format!("pass_{digest}")).await;

    // It runs out while somebody looks on.
    let looks_on = Notify::new();
    let frames = looked_at.follow(|_| {
        looks_on.notify_one();
        true
    });
    let runs_out = async {
        looks_on.notified().await;
        let mut meddler = SqliteConnectOptions::new().filename(&file).connect().await.expect("it opens");
        sqlx::query("UPDATE passes SET until_at = 1").execute(&mut meddler).await.expect("it is written");
        meddler.close().await.expect("it closes");
    };
    let both = Box::pin(async { tokio::join!(frames, runs_out) });
    let (followed, ()) = timeout(PATIENCE, both).await.expect("the feed ends");
    followed.expect("it was let in");
    let fault = jobs(&looked_at).await.expect_err("it has run out");
    assert!(fault.is(Code::TokenWrong), "{fault}");
    assert!(looked_at.follow(|_| true).await.expect_err("it is not let in").is(Code::TokenWrong));
    store.close().await.expect("it closes");
}
