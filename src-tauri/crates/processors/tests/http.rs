//! `http` against a server of a few lines.

#![allow(clippy::unwrap_used)]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use campanile_processors::{HttpPolicy, HttpProcessor, PrivateAddresses};
use campanile_sdk::{CancelStage, Class, Processor, Question, TaskError, testing::TestRun};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// Answers each request with what `answer` makes of it; keeps what was asked.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

async fn serve(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = asked.clone();
    tokio::spawn(async move {
        let mut silent = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let read = stream.read(&mut buffer).await.unwrap();
                request.extend_from_slice(&buffer[..read]);
                if read == 0 || complete(&request) {
                    break;
                }
            }
            let request = String::from_utf8(request).unwrap();
            seen.lock().unwrap().push(request.clone());
            match answer(&request) {
                Some(answer) => {
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    stream.shutdown().await.unwrap();
                }
                None => silent.push(stream),
            }
        }
    });
    Server { address, asked }
}

fn complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned))
        .map_or(0, |length| length.parse().unwrap());
    body.len() >= length
}

fn answer(status: &str, headers: &str, body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len()))
}

async fn run_with(policy: PrivateAddresses, parameters: Value) -> Result<Value, TaskError> {
    let http = HttpProcessor::new(HttpPolicy { private: policy });
    http.process(TestRun::new(parameters).context()).await
}

async fn run(parameters: Value) -> Result<Value, TaskError> {
    run_with(PrivateAddresses::WhenAsked, parameters).await
}

fn failed(outcome: Result<Value, TaskError>) -> (Class, String, String) {
    let error = outcome.unwrap_err();
    (error.class().unwrap(), error.code().unwrap().to_owned(), error.message().to_owned())
}

#[tokio::test]
async fn a_request_goes_out_as_written_and_its_answer_is_the_result() {
    let server = serve(|_| answer("201 Created", "content-type: text/plain\r\n", "你好")).await;
    let result = run(json!({
        "method": "post", "url": format!("http://{}/orders?day=1", server.address), "allowPrivate": true,
        "headers": {"X-Team": "billing"}, "body": {"n": 1}, "expectedStatus": 201,
    }))
    .await
    .unwrap();
    assert_eq!(result, json!({"status": 201, "contentType": "text/plain", "body": "你好", "truncated": false}));
    let asked = server.asked.lock().unwrap()[0].clone();
    assert!(asked.starts_with("POST /orders?day=1 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("x-team: billing\r\n") && asked.contains("idempotency-key: test-key\r\n"), "{asked}");
    assert!(asked.contains("content-type: application/json\r\n") && asked.ends_with("{\"n\":1}"), "{asked}");
}

#[tokio::test]
async fn a_status_that_was_not_expected_fails_by_its_kind() {
    for (status, class) in [
        ("500 Internal Server Error", Class::Transient),
        ("429 Too Many Requests", Class::Transient),
        ("404 Not Found", Class::Business),
    ] {
        let server = serve(move |_| answer(status, "", "")).await;
        let url = format!("http://{}/", server.address);
        let (found, code, message) = failed(run(json!({"url": url, "allowPrivate": true})).await);
        assert_eq!((found, code.as_str()), (class, "k_sc_ec_300014"));
        assert_eq!(message, format!("{url} answered {}, expected 200-299", &status[..3]));
    }
}

#[tokio::test]
async fn private_addresses_need_both_the_job_and_the_executor() {
    let server = serve(|_| answer("200 OK", "", "in")).await;
    let literal = format!("http://{}/", server.address);
    let named = format!("http://localhost:{}/", server.address.port());
    for url in [&literal, &named] {
        let asked = json!({"url": url, "allowPrivate": true});
        let (class, code, message) = failed(run(json!({"url": url})).await);
        assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300015"), "{message}");
        let (_, code, _) = failed(run_with(PrivateAddresses::Never, asked.clone()).await);
        assert_eq!(code, "k_sc_ec_300015");
        assert_eq!(run(asked).await.unwrap()["body"], json!("in"));
    }
    assert_eq!(server.asked.lock().unwrap().len(), 2, "nothing else got through");
}

#[tokio::test]
async fn link_local_is_never_called_also_not_by_a_redirect() {
    for url in ["http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[::ffff:a9fe:a9fe]/"] {
        let (class, code, _) = failed(run(json!({"url": url, "allowPrivate": true})).await);
        assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300015"), "{url}");
    }
    let server = serve(|_| answer("302 Found", "location: http://169.254.169.254/\r\n", "")).await;
    let url = format!("http://{}/", server.address);
    let (class, code, message) = failed(run(json!({"url": url, "allowPrivate": true})).await);
    assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300015"), "{message}");
}

#[tokio::test]
async fn redirects_are_followed_unless_told_not_to() {
    let server = serve(|request| match request.starts_with("GET /old ") {
        true => answer("302 Found", "location: /new\r\n", ""),
        false => answer("200 OK", "", "moved here"),
    })
    .await;
    let url = format!("http://{}/old", server.address);
    let asked =
        |follow| json!({"url": url, "allowPrivate": true, "followRedirects": follow, "expectedStatus": "200,302"});
    assert_eq!(run(asked(true)).await.unwrap()["body"], json!("moved here"));
    assert_eq!(run(asked(false)).await.unwrap()["status"], json!(302));
}

#[tokio::test]
async fn a_long_answer_is_cut() {
    let server = serve(|_| answer("200 OK", "", &"时".repeat(20_000))).await;
    let result = run(json!({"url": format!("http://{}/", server.address), "allowPrivate": true})).await.unwrap();
    assert_eq!(result["truncated"], json!(true));
    let body = result["body"].as_str().unwrap();
    assert!(body.len() > 32_000 && body.len() <= 32 * 1024 && body.chars().all(|char| char == '时'), "{}", body.len());
}

#[tokio::test]
async fn silence_ends_at_the_time_limit_or_at_a_cancel() {
    let server = serve(|_| None).await;
    let url = format!("http://{}/", server.address);
    let (class, code, message) = failed(run(json!({"url": url, "allowPrivate": true, "timeoutSeconds": 0.05})).await);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300019"));
    assert_eq!(message, "the request took longer than 0.05 s");

    let http = HttpProcessor::new(HttpPolicy { private: PrivateAddresses::WhenAsked });
    let run = TestRun::new(json!({"url": url, "allowPrivate": true}));
    run.cancel(CancelStage::Ask);
    assert!(http.process(run.context()).await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn nobody_there_is_worth_another_try() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let (class, code, message) = failed(run(json!({"url": url, "allowPrivate": true})).await);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300024"), "{message}");
    let (class, code, _) = failed(run(json!({"url": "http://no-such-host.invalid/"})).await);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300024"));
}

#[tokio::test]
async fn wrong_parameters_are_refused_and_named() {
    for (parameters, named) in [
        (json!({}), "url"),
        (json!({"url": "example.org"}), "url"),
        (json!({"url": "ftp://example.org/"}), "url"),
        (json!({"url": "http://example.org/", "method": "GET IT"}), "method"),
        (json!({"url": "http://example.org/", "headers": {"a b": "c"}}), "headers.a b"),
        (json!({"url": "http://example.org/", "timeoutSeconds": 0}), "timeoutSeconds"),
        (json!({"url": "http://example.org/", "expectedStatus": "ok"}), "expectedStatus"),
        (json!({"url": "http://example.org/", "verify": false}), "verify"),
    ] {
        let (class, code, message) = failed(run(parameters).await);
        assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300010"));
        assert!(message.starts_with(&format!("parameter {named} is not right")), "{message}");
    }
}

#[tokio::test]
async fn a_run_is_still_needed_where_the_answer_is_200() {
    let server = serve(|request| match request.split(' ').nth(1) {
        Some("/open") => answer("200 OK", "", "yes"),
        Some("/moved") => answer("302 Found", "location: /open\r\n", ""),
        Some("/made") => answer("201 Created", "", ""),
        Some("/closed") => answer("404 Not Found", "", ""),
        _ => answer("500 Internal Server Error", "", ""),
    })
    .await;
    let ask = async |policy: PrivateAddresses, path: &str| {
        let http = HttpProcessor::new(HttpPolicy { private: policy });
        let parameters = json!({"url": format!("http://{}{path}", server.address)});
        let question =
            Question { parameters, job: "report".to_owned(), instance_id: "i".to_owned(), planned_ms: 0, due_ms: 0 };
        http.still_needed(question).await
    };
    // The last of them is no answer about the run, but it is not 200 either.
    for (path, needed) in [("/open", true), ("/moved", true), ("/made", false), ("/closed", false), ("/broken", false)]
    {
        assert_eq!(ask(PrivateAddresses::WhenAsked, path).await.unwrap(), needed, "{path}");
    }
    // An address that is no one's business is not asked at all.
    let asked = server.asked.lock().unwrap().len();
    assert!(ask(PrivateAddresses::Never, "/open").await.is_err());
    assert_eq!(server.asked.lock().unwrap().len(), asked);
}
