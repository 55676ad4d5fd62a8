//! A console on another data folder that looks at a team: two real nodes, one of which is killed under it.

use std::path::Path;
use std::time::Duration;

use campanile_api::Lang;
use campanile_api::views::{PutTeam, PutTeamNode, ReportFormat, TeamColour};
use campanile_host::{DataFolder, Places, Team, Wanted, WantedLog, WantedReport};
use campanile_model::connection::Secret;
use campanile_model::{Code, Fault};
use campanile_tests::campanile::{Campanile, PATIENCE};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

pub const LOOK_EVERY: Duration = Duration::from_millis(50);

pub async fn console(folder: &Path) -> Places {
    Places::open(DataFolder::open(folder).expect("a folder"), false).await.expect("it opens")
}

fn team(name: &str, addresses: &[&str]) -> PutTeam {
    let node = |address: &&str| PutTeamNode { address: (*address).to_owned(), token: None };
    PutTeam {
        id: None,
        name: name.to_owned(),
        colour: TeamColour::Red,
        nodes: addresses.iter().map(node).collect(),
        database: None,
    }
}

pub async fn ask(team: &Team, operation: &str, input: Value) -> Result<Value, Fault> {
    team.call(operation, &input, "UTC", Lang::En).await
}

/// Runs a job by way of the team, and waits for its end.
pub async fn runs(team: &Team, job: &str) -> Value {
    let done = ask(team, "run_jobs", json!({"jobs": [job]})).await.expect("it is asked");
    let run = done["instances"][0].as_str().expect("a run").to_owned();
    let ended = async {
        loop {
            let found = ask(team, "get_instance", json!({"instance": run})).await;
            if let Ok(found) = found
                && !found["row"]["finished"].is_null()
            {
                return found;
            }
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, ended).await.expect("it ends")
}

/// Waits for a frame of the live feed, connecting again as a window does.
pub async fn hears(team: &Team) {
    let heard = async {
        let mut any = false;
        while !any {
            let followed = team
                .follow(|_| {
                    any = true;
                    false
                })
                .await;
            if followed.is_err() {
                sleep(LOOK_EVERY).await;
            }
        }
    };
    timeout(PATIENCE, heard).await.expect("a frame comes");
}

pub fn base(url: &str) -> &str {
    url.split("/#").next().expect("an address")
}

#[tokio::test]
async fn a_console_looks_at_a_team_and_goes_on_at_its_next_node() {
    let mut campanile = Campanile::new();
    let (first, second) = (campanile.serves(), campanile.serves());
    let hello = json!({"name": "hello", "schedule": {"kind": "manual"}, "processor": "shell", "parameters": {"command": "echo 你好"}});
    campanile.applies(&[hello]);

    let own = tempfile::tempdir().expect("a folder");
    let places = console(own.path()).await;
    assert!(places.team().is_none(), "it begins with its own machine");
    let id = places.put(team("生产", &[&first.url, &second.url])).await.expect("it is kept");
    places.look_at(Some(&id)).await.expect("it is reached");
    let looked_at = places.team().expect("a team");
    assert_eq!(looked_at.node().as_deref(), Some(base(&first.url)));
    hears(&looked_at).await;
    let jobs = ask(&looked_at, "list_jobs", json!({})).await.expect("its jobs");
    assert_eq!(jobs["rows"][0]["name"], "hello", "{jobs}");
    let ended = runs(&looked_at, "hello").await;
    assert_eq!(ended["row"]["state"], "succeeded", "{ended}");

    // What is saved and what is sent goes by the node, too.
    let log = own.path().join("hello.log");
    let task = ended["tasks"][0]["id"].as_str().expect("a task").to_owned();
    let wanted = Wanted::Log(WantedLog { task, attempt: 1, name: "hello.log".to_owned() });
    looked_at.save(&wanted, &log, Lang::En).await.expect("it is saved");
    assert!(std::fs::read_to_string(&log).expect("it is there").contains("你好"));
    let refused = Wanted::Report(WantedReport {
        instance: ended["row"]["id"].as_str().expect("an id").to_owned(),
        format: ReportFormat::Csv,
        name: "none.csv".to_owned(),
    });
    looked_at.save(&refused, &own.path().join("none.csv"), Lang::En).await.expect_err("it has no shards");
    assert!(!own.path().join("none.csv").exists(), "what was refused leaves nothing");
    let rows = own.path().join("客户.csv");
    std::fs::write(&rows, "id,name\n1,a\n2,b\n").expect("it can be written");
    let given = looked_at.hand_in(&rows).await.expect("it is sent");
    assert_eq!((given.name.as_str(), given.bytes), ("客户.csv", 16));
    ask(&looked_at, "look_at_data", json!({"file": given.file})).await.expect("the node has it");

    first.kill_9();
    hears(&looked_at).await;
    assert_eq!(looked_at.node().as_deref(), Some(base(&second.url)));
    let ended = runs(&looked_at, "hello").await;
    assert_eq!(ended["row"]["state"], "succeeded", "{ended}");

    second.kill_9();
    // What was under way to it may have been done.
    let under_way = ask(&looked_at, "list_jobs", json!({})).await.expect_err("it is gone");
    assert!(under_way.is(Code::TeamAway) || under_way.is(Code::TeamSilent), "{under_way}");
    let fault = ask(&looked_at, "list_jobs", json!({})).await.expect_err("nobody is there");
    assert!(fault.is(Code::TeamAway), "{fault}");
    assert!(fault.message.zh.contains("生产"), "{fault:?}");

    // The next start looks there again, without being told a token.
    drop(places);
    let again = console(own.path()).await;
    assert_eq!(again.view().await.current.as_deref(), Some(id.as_str()));
    again.look_at(None).await.expect("back to this machine");
    assert!(again.team().is_none());
}

#[tokio::test]
async fn a_token_is_kept_apart_and_goes_with_its_team() {
    let mut campanile = Campanile::new();
    let serve = campanile.serves();
    let token = serve.url.split("token=").nth(1).expect("a token").to_owned();
    let own = tempfile::tempdir().expect("a folder");
    let places = console(own.path()).await;

    let mut wrong = team("staging", &[base(&serve.url)]);
    assert!(places.put(wrong.clone()).await.expect_err("it has no token").is(Code::TeamAddress));
    wrong.nodes[0].token = Some(Secret("not it".to_owned()));
    let tried = places.test(&wrong).await.expect("it is tried");
    assert!(tried[0].fault.as_ref().is_some_and(|fault| fault.is(Code::TokenWrong)), "{tried:?}");
    let id = places.put(wrong).await.expect("it may be kept all the same");
    places.look_at(Some(&id)).await.expect("it is looked at");
    let looked_at = places.team().expect("a team");
    let fault = looked_at.follow(|_| true).await.expect_err("it is not let in");
    assert!(fault.is(Code::TokenWrong), "{fault}");

    // Mended while it is looked at; a window that follows the changes connects anew.
    let changes = places.changes();
    let mended = PutTeam { id: Some(id.clone()), ..team("staging", &[&serve.url]) };
    places.put(mended.clone()).await.expect("it is changed");
    assert!(changes.has_changed().expect("somebody tells"));
    hears(&places.team().expect("a team")).await;
    // Its token stays where none is given.
    let renamed = PutTeam { id: Some(id.clone()), ..team("before", &[base(&serve.url)]) };
    places.put(renamed.clone()).await.expect("it is renamed");
    let tried = places.test(&renamed).await.expect("it is tried");
    assert!(tried[0].fault.is_none() && tried[0].version.is_some(), "{tried:?}");
    assert!(places.put(team("before", &[&serve.url])).await.expect_err("there is one").is(Code::TeamNameTaken));

    let book = std::fs::read_to_string(own.path().join("teams.json")).expect("it is there");
    assert!(!book.contains(&token) && book.contains("before"), "{book}");
    let kept = || -> Vec<_> {
        let files = std::fs::read_dir(own.path().join("secrets")).expect("a folder");
        files.map(|file| file.expect("a file").path()).collect()
    };
    let [only] = &kept()[..] else { panic!("{:?}", kept()) };
    assert_eq!(std::fs::read_to_string(only).expect("it is there"), token);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(only.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
    }
    places.remove(&id).await.expect("it is forgotten");
    assert!(kept().is_empty() && places.team().is_none());
    assert!(places.look_at(Some(&id)).await.expect_err("it is gone").is(Code::TeamUnknown));
}
