//! Executors, secrets and the reasons of runs, on a whole node with the executor that lives in it.

mod support;

use std::fs;
use std::path::Path;

use campanile_host::Who;
use campanile_model::Code;
use serde_json::{Value, json};
use support::{Running, folder, shell};

const VALUE: &str = "hunter2-pässwörd-7f3a";

/// Files under a folder that hold the value, whatever they are.
fn holding(folder: &Path, value: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, value));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(value.len()).any(|window| window == value.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_its_task_and_nothing_else() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    node.ask("put_secret", json!({"name": "token", "value": VALUE})).await;
    let listed = node.ask("list_secrets", json!({})).await;
    assert_eq!(
        (listed["rows"][0]["name"].as_str(), listed["rows"][0]["group"].as_str()),
        (Some("token"), Some("local"))
    );
    assert_eq!(listed["rows"][0]["stale"], false, "{listed:#}");

    // It says it aloud, and says whether it is the right one.
    // In two pieces, which the shell puts together, so that the job itself does not hold it.
    let (head, tail) = VALUE.split_at(7);
    let command = format!(
        "echo \"the token is ${{secret:token}}\"; test \"${{secret:token}}\" = \"{head}\"\"{tail}\" && echo right; exit 3"
    );
    let job = shell("careless", &command);
    node.ask("save_job", job).await;
    let detail = node.run_to_its_end("careless").await;
    let task = detail["tasks"][0]["id"].clone();
    let log = node
        .until_answer("read_log", json!({"task": task}), |log| log["closed"] == true && log["at_end"] == true)
        .await;
    let texts: Vec<&str> =
        log["lines"].as_array().into_iter().flatten().filter_map(|line| line["text"].as_str()).collect();
    assert!(texts.contains(&"the token is ***"), "{texts:?}");
    assert!(texts.contains(&"right"), "the task had the value: {texts:?}");
    assert!(!detail.to_string().contains(VALUE));
    let audit = node.ask("list_audit", json!({})).await;
    assert!(audit["rows"].as_array().into_iter().flatten().any(|row| row["subject"] == "setting:secret:local/token"));
    assert!(!audit.to_string().contains("ciphertext"), "what is sealed is not told over and over: {audit:#}");
    assert!(!node.ask("bootstrap", json!({})).await["settings"].to_string().contains("secret:"));

    node.stop().await;
    assert_eq!(holding(folder.path(), VALUE), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_secret_is_missing_or_sealed_elsewhere_is_refused_by_its_name() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    node.ask("save_job", shell("needy", "echo ${secret:token}")).await;
    let code = |detail: &Value| detail["tasks"][0]["failure"]["code"].as_str().unwrap_or_default().to_owned();
    let missing = node.run_to_its_end("needy").await;
    assert_eq!(code(&missing), Code::SecretMissing.as_str(), "{missing:#}");
    assert!(missing["tasks"][0]["failure"]["message"]["zh"].as_str().is_some_and(|zh| zh.contains("token")));

    let other = "5866666666666666666666666666666666666666666666666666666666666666";
    node.ask("put_secret", json!({"name": "token", "value": VALUE, "key": other})).await;
    assert_eq!(node.ask("list_secrets", json!({})).await["rows"][0]["stale"], true);
    let closed = node.run_to_its_end("needy").await;
    assert_eq!(code(&closed), Code::SecretClosed.as_str(), "{closed:#}");

    node.ask("remove_secret", json!({"name": "token"})).await;
    assert_eq!(node.ask("list_secrets", json!({})).await["rows"], json!([]));
    assert!(node.refused("remove_secret", json!({"name": "token"})).await.is(Code::SecretNotFound));
    let table = [
        (json!({"name": "a b", "value": VALUE}), Code::BadRequest, "name"),
        (json!({"name": "token", "value": "abc"}), Code::BadRequest, "value"),
        (json!({"name": "token", "value": VALUE, "key": "00"}), Code::BadRequest, "key"),
        (json!({"name": "token", "value": VALUE, "group": "etl"}), Code::SecretKeyUnknown, "group"),
    ];
    for (input, expected, field) in table {
        let refused = node.refused("put_secret", input).await;
        assert!(refused.is(expected) && refused.field.as_deref() == Some(field), "{refused:?}");
        assert!(!format!("{refused:?}").contains(VALUE));
    }
    let set = node.refused("set_setting", json!({"key": "secret:local/x", "value": VALUE})).await;
    assert!(set.is(Code::BadRequest), "nothing would seal it: {set}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_is_seen_drained_and_resumed() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    let list = node.until_answer("list_executors", json!({}), |list| list["rows"][0]["state"] == "live").await;
    let row = &list["rows"][0];
    let names: Vec<&str> =
        row["processors"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"shell") && names.contains(&"sql"), "{names:?}");
    assert_eq!((row["group"].as_str(), row["embedded"].as_bool()), (Some("local"), Some(true)));
    assert_eq!((row["takes_secrets"].as_bool(), row["can_drain"]["ok"].as_bool()), (Some(true), Some(true)));
    let name = row["name"].clone();

    node.ask("drain_executor", json!({"name": name, "reason": "new disk"})).await;
    let drained = node.until_answer("list_executors", json!({}), |list| list["rows"][0]["state"] == "draining").await;
    assert_eq!(drained["rows"][0]["drain"]["reason"], "new disk");
    assert!(drained["verdict"]["en"].as_str().is_some_and(|en| en.contains("drained")), "{drained:#}");
    node.ask("save_job", shell("work", "echo done")).await;
    let asked = node.ask("run_jobs", json!({"jobs": ["work"]})).await;
    let instance = asked["instances"][0].clone();
    let ready =
        node.until_answer("why", json!({"id": instance}), |why| why["waiting"]["words"]["en"].is_string()).await;
    assert!(ready["verdict"]["en"].as_str().is_some_and(|en| en.contains("has not started")), "{ready:#}");

    node.ask("resume_executor", json!({"name": name})).await;
    let ended = node
        .until_answer("get_instance", json!({"instance": instance}), |detail| detail["row"]["state"] == "succeeded")
        .await;
    assert_eq!(ended["tasks"][0]["state"], 301);
    let why = node.ask("why", json!({"id": ended["tasks"][0]["id"]})).await;
    let steps: Vec<&str> =
        why["links"].as_array().into_iter().flatten().filter_map(|link| link["step"].as_str()).collect();
    assert_eq!(
        steps,
        ["planned", "due", "created", "assigned", "admitted", "pushed", "started", "attemptEnded", "finished"]
    );
    let unknown = node.refused("drain_executor", json!({"name": "nobody", "reason": ""})).await;
    assert!(unknown.is(Code::ExecutorNotFound), "{unknown}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_firing_that_did_not_happen_says_why() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    let spec = json!({
        "name": "nightly", "processor": "shell", "parameters": {"command": "true"},
        "schedule": {"kind": "cron", "expression": "30 2 * * *", "timeZone": "Asia/Shanghai"},
        "exceptions": [{"change": "skip", "planned": "2099-01-02T02:30:00+08:00"}]
    });
    node.ask("save_job", json!({"spec": spec})).await;
    let table = [
        ("2099-01-01T02:30", "has not come yet"),
        ("2099-01-02T02:30", "took this occurrence out"),
        ("2099-01-01T03:00", "does not name this time"),
        ("2020-01-01T02:30", "did not exist then"),
    ];
    for (at, expected) in table {
        let why = node.ask("why", json!({"job": "nightly", "at": at})).await;
        let verdict = why["verdict"]["en"].as_str().unwrap_or_default();
        assert!(verdict.contains(expected), "{at}: {verdict}");
        assert!(!why["verdict"]["zh"].as_str().unwrap_or_default().is_ascii());
    }
    assert!(node.refused("why", json!({"id": "nobody"})).await.is(Code::InstanceNotFound));
    assert!(node.refused("why", json!({"job": "nightly", "at": "tomorrow"})).await.is(Code::TimeInvalid));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_searched_and_a_run_compared_with_the_last_good_one() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    node.ask("save_job", shell("count", "seq 1 3000; echo Needle here; seq 1 10")).await;
    let detail = node.run_to_its_end("count").await;
    let task = detail["tasks"][0]["id"].clone();
    node.until_answer("read_log", json!({"task": task, "from": -1000}), |log| {
        log["closed"] == true && log["at_end"] == true && log["lines"].as_array().is_some_and(|lines| lines.len() > 9)
    })
    .await;
    let found = node.ask("search_log", json!({"task": task, "text": "needle"})).await;
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{found:#}");
    let hit = &found["hits"][0];
    assert_eq!((hit["line"]["text"].as_str(), found["next"].is_null()), (Some("Needle here"), true));
    assert_eq!((hit["before"][1]["text"].as_str(), hit["after"][0]["text"].as_str()), (Some("3000"), Some("1")));
    let there = node.ask("read_log", json!({"task": task, "from": hit["offset"], "limit": 1})).await;
    assert_eq!(there["lines"][0]["text"], "Needle here");
    assert!(node.refused("search_log", json!({"task": task, "text": ""})).await.is(Code::BadRequest));

    let first = node.ask("compare_run", json!({"instance": detail["row"]["id"]})).await;
    assert!(first["good"].is_null(), "{first:#}");
    let again =
        node.ask("run_jobs", json!({"jobs": ["count"], "parameters": {"command": "exit 1"}})).await["instances"][0]
            .clone();
    node.until_answer("get_instance", json!({"instance": again}), |detail| detail["row"]["state"] == "failed").await;
    let compared = node.ask("compare_run", json!({"instance": again})).await;
    assert_eq!(compared["good"]["id"], detail["row"]["id"]);
    let differs: Vec<&str> = compared["differences"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["same"] == false)
        .filter_map(|one| one["what"]["en"].as_str())
        .collect();
    assert!(differs.contains(&"parameter command"), "{differs:?}");
    node.stop().await;
}
