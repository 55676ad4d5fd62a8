//! Data for a run out of files, over the real HTTP server: handed in, looked at, taken in, run, and reported of.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Options, Server, Who};
use campanile_model::Fault;
use campanile_model::request::{Person, Role};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct Running {
    host: Arc<Host>,
    folder: TempDir,
    at: String,
    token: String,
    client: reqwest::Client,
    shutdown: CancellationToken,
    parts: Vec<JoinHandle<()>>,
}

impl Running {
    async fn start() -> Running {
        let folder = tempfile::tempdir().expect("a folder");
        let who = Who::Serve { allow_shell: true, capacity: None };
        let host = Host::open(Options { data: folder.path().join("data"), who }).await.expect("it opens");
        let host = Arc::new(host);
        let server = Server::bind(&host, 0).await.expect("a port");
        let at = format!("http://{}", server.address());
        let token = server.url().rsplit_once('=').expect("a token").1.to_owned();
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(host.clone().run(shutdown.clone()));
        let serving = tokio::spawn(server.run(host.clone(), shutdown.clone()));
        let client = reqwest::Client::new();
        let node = Running { host, folder, at, token, client, shutdown, parts: vec![running, serving] };
        let job = json!([{
            "name": "import", "schedule": {"kind": "manual"}, "mode": "sharding", "processor": "shell",
            "parameters": {"command": "cat \"$CAMPANILE_SHARD_ITEMS\""}, "retry": {"retries": 0},
        }]);
        node.ask("apply_jobs", json!({"text": job.to_string()})).await;
        node
    }

    async fn stop(self) {
        self.shutdown.cancel();
        for part in self.parts {
            part.await.expect("it ends in good order");
        }
        self.host.close().await;
    }

    async fn try_as(&self, role: Role, operation: &str, input: Value) -> Result<Value, Fault> {
        let who = Person { name: "mei".to_owned(), role };
        self.host.call(operation, input, &CallContext { who, zone: "UTC".to_owned(), lang: Lang::En }).await
    }

    async fn ask(&self, operation: &str, input: Value) -> Value {
        self.try_as(Role::Operator, operation, input.clone())
            .await
            .or(self.try_as(Role::Admin, operation, input).await)
            .unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    async fn upload(&self, name: &str, bytes: &[u8]) -> Value {
        let request = self.client.post(format!("{}/api/uploads?name={name}", self.at)).bearer_auth(&self.token);
        let answer = request.body(bytes.to_vec()).send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK);
        serde_json::from_str(&answer.text().await.expect("text")).expect("JSON")
    }

    /// Until it is neither looked at nor taken in any more.
    async fn settled(&self, file: &Value) -> Value {
        loop {
            let view = self.ask("data_file", json!({"file": file})).await;
            if !matches!(view["phase"].as_str(), Some("looking" | "staging")) {
                return view;
            }
        }
    }

    async fn looked(&self, look: Value) -> Value {
        let file = look["file"].clone();
        self.ask("look_at_data", look).await;
        self.settled(&file).await
    }

    async fn download(&self, wanted: &Value) -> (Option<String>, Vec<u8>) {
        let body = json!({"input": wanted, "lang": "zh"}).to_string();
        let request = self.client.post(format!("{}/api/downloads", self.at)).bearer_auth(&self.token);
        let offer = request.header("content-type", "application/json").body(body).send().await.expect("an answer");
        let offer: Value = serde_json::from_str(&offer.text().await.expect("text")).expect("JSON");
        let ticket = offer["ticket"].as_str().expect("a ticket");
        let file = self.client.get(format!("{}/api/downloads/{ticket}", self.at)).send().await.expect("an answer");
        assert_eq!(file.status(), StatusCode::OK);
        let kind = file.headers().get("content-type").and_then(|kind| kind.to_str().ok()).map(str::to_owned);
        (kind, file.bytes().await.expect("a body").to_vec())
    }

    fn uploads(&self) -> usize {
        fs::read_dir(self.folder.path().join("data/uploads")).map_or(0, Iterator::count)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path
    }
}

#[tokio::test]
async fn what_a_browser_sends_is_looked_at_as_often_as_one_likes_and_taken_in_once() {
    let node = Running::start().await;
    let given = node.upload("客户.csv", "id;step\n7;1\n8;0\n".as_bytes()).await;
    assert_eq!((&given["name"], &given["bytes"]), (&json!("客户.csv"), &json!(16)));
    let file = &given["file"];
    assert_eq!(node.settled(file).await["phase"], "given");
    let plain = node.looked(json!({"file": file})).await;
    assert_eq!((&plain["phase"], &plain["items"], &plain["look"]["levels"]), (&json!("looked"), &json!(2), &json!(1)));
    assert_eq!(plain["look"]["columns"], json!(["id", "step"]));
    assert_eq!(plain["look"]["delimiter"], ";");
    assert_eq!(plain["look"]["firstRows"][1], json!({"row": 3, "level": 0, "cells": ["8", "0"]}));
    let by_level = node.looked(json!({"file": file, "levelColumn": "step"})).await;
    let sizes = json!([{"level": 0, "items": 1}, {"level": 1, "items": 1}]);
    assert_eq!(by_level["look"]["levelSizes"], sizes);
    assert_eq!(by_level["look"]["canStage"]["ok"], true);

    node.ask("stage_data", json!({"file": file})).await;
    let staged = node.settled(file).await;
    assert_eq!((&staged["phase"], &staged["items"]), (&json!("staged"), &json!(2)));
    let run = json!({"jobs": ["import"], "data": staged["data"]});
    let done = node.ask("run_jobs", run.clone()).await;
    // What a run has taken no other can have.
    let again = node.try_as(Role::Operator, "run_jobs", run).await.expect_err("it is taken");
    assert_eq!(again.code, "k_sc_ec_100011");
    let instance = &done["instances"][0];
    let state = loop {
        let detail = node.ask("get_instance", json!({"instance": instance})).await;
        if !matches!(detail["row"]["state"].as_str(), Some("waiting" | "running")) {
            break detail["row"]["state"].clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(state, "succeeded");

    let (kind, csv) = node.download(&json!({"instance": instance, "format": "csv", "name": "a.csv"})).await;
    assert_eq!(kind.as_deref(), Some("text/csv; charset=utf-8"));
    let csv = String::from_utf8(csv).expect("text");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "\u{feff}行,层级,分片,执行器,结果,说明,id,step,数据项");
    assert!(lines[1].starts_with("1,0,0,") && lines[1].ends_with(",成功,,8,0,"), "{csv}");
    assert!(lines[2].starts_with("1,1,0,") && lines[2].ends_with(",成功,,7,1,"), "{csv}");
    let (kind, xlsx) = node.download(&json!({"instance": instance, "format": "xlsx", "name": "a.xlsx"})).await;
    assert!(kind.is_some_and(|kind| kind.contains("spreadsheetml")) && xlsx.starts_with(b"PK"));

    assert_eq!(node.uploads(), 1);
    assert_eq!(node.ask("discard_data", json!({"file": file})).await["changed"], 1);
    assert_eq!(node.uploads(), 0);
    let gone = node.try_as(Role::Operator, "data_file", json!({"file": file})).await.expect_err("it is gone");
    assert_eq!(gone.code, "k_sc_ec_100015");
    node.stop().await;
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_looked_at_or_has_a_wrong_row_is_not_taken_in() {
    let node = Running::start().await;
    let path = node.file("a.csv", "id\n1\n2\n");
    let given = node.host.hand_in(&path).expect("it is there");
    let file = json!(given.file);
    let not_yet = node.try_as(Role::Operator, "stage_data", json!({"file": file})).await.expect_err("not looked at");
    assert_eq!(not_yet.code, "k_sc_ec_100016");
    assert_eq!(node.looked(json!({"file": file})).await["phase"], "looked");
    // As long as before.
    node.file("a.csv", "id\n1\n3\n");
    node.ask("stage_data", json!({"file": file})).await;
    let failed = node.settled(&file).await;
    assert_eq!((&failed["phase"], &failed["fault"]["code"]), (&json!("failed"), &json!("k_sc_ec_100013")));
    assert_eq!(failed["data"], Value::Null);

    node.file("a.csv", "id\n1\n3,4\n");
    let wrong = node.looked(json!({"file": file})).await;
    assert_eq!((&wrong["look"]["faulty"], &wrong["look"]["faults"][0]["row"]), (&json!(1), &json!(3)));
    assert_eq!(wrong["look"]["canStage"]["ok"], false);
    let refused = node.try_as(Role::Operator, "stage_data", json!({"file": file})).await.expect_err("a row is wrong");
    assert_eq!(refused.code, "k_sc_ec_100014");

    fs::remove_file(&path).expect("it is there");
    let missing = node.looked(json!({"file": file})).await;
    assert_eq!(missing["fault"]["code"], "k_sc_ec_100012");
    // A file of somebody's own stays theirs.
    node.file("a.csv", "id\n");
    node.ask("discard_data", json!({"file": file})).await;
    assert!(path.exists());
    node.stop().await;
}

#[tokio::test]
async fn who_may_not_run_a_job_may_not_bring_data_and_nobody_sends_files_without_the_token() {
    let node = Running::start().await;
    let given = node.upload("a.json", b"[1, 2]").await;
    for operation in ["look_at_data", "stage_data", "discard_data"] {
        let refused = node.try_as(Role::Viewer, operation, json!({"file": given["file"]})).await.expect_err(operation);
        assert_eq!(refused.code, "k_sc_ec_400005", "{operation}");
    }
    let request = node.client.post(format!("{}/api/uploads?name=a.csv", node.at)).bearer_auth("wrong");
    assert_eq!(request.body("x").send().await.expect("an answer").status(), StatusCode::UNAUTHORIZED);
    assert_eq!(node.uploads(), 1);
    node.stop().await;
}

#[tokio::test]
async fn a_program_sends_the_items_of_a_run_as_the_body_of_its_request() {
    let node = Running::start().await;
    let token = node.try_as(Role::Admin, "make_token", json!({"scope": "run:imp*"})).await.expect("a token");
    let token = token["token"].as_str().expect("a token").to_owned();
    let send = async |job: &str, kind: &str, body: &'static str| {
        let request = node.client.post(format!("{}/v1/jobs/{job}/runs?levelColumn=step", node.at)).bearer_auth(&token);
        let request = request.header("idempotency-key", "day-17").header("content-type", kind);
        let answer = request.body(body).send().await.expect("an answer");
        let status = answer.status();
        let said: Value = serde_json::from_str(&answer.text().await.expect("text")).expect("JSON");
        (status, said)
    };
    let (status, fault) = send("import", "text/csv; charset=utf-8", "id,step\n1,x\n").await;
    assert_eq!((status, &fault["code"]), (StatusCode::BAD_REQUEST, &json!("k_sc_ec_100014")));
    let (status, run) = send("import", "application/x-ndjson", "{\"step\": 1}\n{\"step\": 0}\n").await;
    assert_eq!(status, StatusCode::ACCEPTED, "{run}");
    // The same request once more is the same run.
    let (status, again) = send("import", "application/x-ndjson", "{\"step\": 1}\n").await;
    assert_eq!((status, &again["run"]), (StatusCode::ACCEPTED, &run["run"]));
    assert_eq!(send("other", "text/csv", "id,step\n1,1\n").await.0, StatusCode::FORBIDDEN);
    assert_eq!(node.uploads(), 0);
    node.stop().await;
}
