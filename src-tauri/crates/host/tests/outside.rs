//! Runs asked for from outside, over the real HTTP server: who may, what the key makes one, and what is refused.

use std::sync::Arc;

use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Options, Server, Who};
use campanile_model::request::{Person, Role};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct Running {
    host: Arc<Host>,
    at: String,
    shutdown: CancellationToken,
    parts: Vec<JoinHandle<()>>,
}

impl Running {
    async fn start(folder: &TempDir) -> Running {
        let who = Who::Serve { allow_shell: false, capacity: None };
        let host = Host::open(Options { data: folder.path().join("data"), who }).await.expect("it opens");
        let host = Arc::new(host);
        let server = Server::bind(&host, 0).await.expect("a port");
        let at = format!("http://{}", server.address());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(host.clone().run(shutdown.clone()));
        let serving = tokio::spawn(server.run(host.clone(), shutdown.clone()));
        let node = Running { host, at, shutdown, parts: vec![running, serving] };
        let job = |name: &str| {
            json!({
                "name": name, "schedule": {"kind": "manual"}, "executorGroup": "nobody", "processor": "greet",
                "parameters": {"greeting": "hello", "name": "world"}, "overlap": "allow",
            })
        };
        let text = json!([job("nightly-report"), job("other")]).to_string();
        node.ask("apply_jobs", json!({"text": text})).await;
        node
    }

    async fn stop(self) {
        self.shutdown.cancel();
        for part in self.parts {
            part.await.expect("it ends in good order");
        }
        self.host.close().await;
    }

    async fn ask(&self, operation: &str, input: Value) -> Value {
        let who = Person { name: "mei".to_owned(), role: Role::Admin };
        let cx = CallContext { who, zone: "UTC".to_owned(), lang: Lang::En };
        self.host.call(operation, input, &cx).await.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    async fn token(&self, scope: &str) -> String {
        self.ask("make_token", json!({"scope": scope})).await["token"].as_str().expect("a token").to_owned()
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        token: &str,
        key: Option<&str>,
        body: &str,
    ) -> (StatusCode, Value) {
        let mut request = reqwest::Client::new().request(method, format!("{}{path}", self.at)).body(body.to_owned());
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let response = request.send().await.expect("it answers");
        let status = response.status();
        (status, response.json().await.expect("as JSON"))
    }

    async fn run(&self, job: &str, token: &str, key: Option<&str>, body: &str) -> (StatusCode, Value) {
        self.send(Method::POST, &format!("/v1/jobs/{job}/runs"), token, key, body).await
    }
}

#[tokio::test]
async fn a_key_makes_one_run_and_its_parameters_go_over_the_jobs_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let token = node.token("run:nightly-*").await;
    let body = json!({"parameters": {"name": "mei"}}).to_string();
    let (status, first) = node.run("nightly-report", &token, Some("order-17"), &body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{first}");
    assert_eq!((first["job"].as_str(), first["isFinal"].as_bool()), (Some("nightly-report"), Some(false)));
    let (status, again) = node.run("nightly-report", &token, Some("order-17"), "").await;
    assert_eq!((status, &again["run"]), (StatusCode::ACCEPTED, &first["run"]));
    let (_, other) = node.run("nightly-report", &token, Some("order-18"), "").await;
    let (_, without) = node.run("nightly-report", &token, None, "").await;
    let (_, without_again) = node.run("nightly-report", &token, None, "").await;
    for run in [&other, &without, &without_again] {
        assert_ne!(run["run"], first["run"]);
    }
    assert_ne!(without["run"], without_again["run"]);

    let detail = node.ask("get_instance", json!({"instance": first["run"]})).await;
    assert_eq!(detail["parameters"], json!({"greeting": "hello", "name": "mei"}));
    assert_eq!(detail["row"]["origin"], "api");
    let (status, seen) =
        node.send(Method::GET, &format!("/v1/runs/{}", first["run"].as_str().expect("an id")), &token, None, "").await;
    assert_eq!((status, &seen["run"]), (StatusCode::OK, &first["run"]));
    let audit = node.ask("list_audit", json!({})).await.to_string();
    assert!(audit.contains("token:") && audit.contains("runByKey"), "{audit}");
    node.stop().await;
}

#[tokio::test]
async fn what_a_token_is_not_for_is_refused_and_what_makes_no_sense_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let (token, all, executor) =
        (node.token("run:nightly-*").await, node.token("run:*").await, node.token("executor:demo").await);
    let (_, made) = node.run("other", &all, None, "").await;
    let other = format!("/v1/runs/{}", made["run"].as_str().expect("an id"));
    for (job, token, body, status, code) in [
        ("nightly-report", "", "", StatusCode::UNAUTHORIZED, "k_sc_ec_400006"),
        ("other", &*token, "", StatusCode::FORBIDDEN, "k_sc_ec_400005"),
        ("nightly-report", &*executor, "", StatusCode::FORBIDDEN, "k_sc_ec_400005"),
        ("nobody-knows", &*all, "", StatusCode::NOT_FOUND, "k_sc_ec_000004"),
        ("other", &*all, "{", StatusCode::BAD_REQUEST, ""),
        ("other", &*all, r#"{"parameters": 1}"#, StatusCode::BAD_REQUEST, ""),
        ("other", &*all, r#"{"besides": true}"#, StatusCode::BAD_REQUEST, ""),
    ] {
        let (answered, fault) = node.run(job, token, None, body).await;
        assert_eq!(answered, status, "{job} {body}: {fault}");
        assert!(fault["code"].as_str().expect("a code").contains(code), "{fault}");
        assert!(fault["message"]["zh"].as_str().is_some_and(|zh| !zh.is_ascii()), "{fault}");
    }
    let (status, _) = node.run("other", &all, Some(&"x".repeat(201)), "").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(node.send(Method::GET, &other, &token, None, "").await.0, StatusCode::NOT_FOUND);
    assert_eq!(node.send(Method::GET, &other, &all, None, "").await.0, StatusCode::OK);
    node.stop().await;
}

#[tokio::test]
async fn after_ten_wrong_tokens_even_the_right_one_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let token = node.token("run:*").await;
    for _ in 0..10 {
        assert_eq!(node.run("other", "cmp_00_00", None, "").await.0, StatusCode::UNAUTHORIZED);
    }
    let (status, fault) = node.run("other", &token, None, "").await;
    assert_eq!((status, fault["code"].as_str()), (StatusCode::TOO_MANY_REQUESTS, Some("k_sc_ec_400014")));
    node.stop().await;
}

#[tokio::test]
async fn the_document_names_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let (status, document) = node.send(Method::GET, "/v1/openapi.json", "", None, "").await;
    assert_eq!(status, StatusCode::OK);
    let token = node.token("run:*").await;
    let (_, run) = node.run("other", &token, None, "").await;
    let described = document["components"]["schemas"]["Run"]["properties"].as_object().expect("properties");
    for field in run.as_object().expect("a run").keys() {
        assert!(described.contains_key(field), "{field} is not in the document");
    }
    for path in ["/v1/jobs/{name}/runs", "/v1/runs/{id}", "/v1/openapi.json"] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    node.stop().await;
}
