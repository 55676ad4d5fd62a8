//! Logs of a team, read at nodes that did not write them: with real processes, over TLS, on a real MariaDB.

use std::net::TcpListener;
use std::time::Duration;

use campanile_host::pinned;
use campanile_tests::campanile::{Campanile, PATIENCE, Serve};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::servers::Server;
use crate::team::joins_with;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// As on a machine that others reach: on every address, with a certificate that it makes for itself.
fn serves_others(campanile: &mut Campanile) -> Serve {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr()).expect("a port");
    let (port, advertised) = (free.port().to_string(), free.to_string());
    campanile.serves_with(&["--listen", "0.0.0.0", "--port", &port, "--http-advertise", &advertised])
}

/// Asks a node's API, trusting its own certificate alone.
async fn asks(node: &Serve, operation: &str, input: Value) -> Value {
    let (base, token) = node.url.split_once("/#token=").expect("an address with a token");
    assert!(base.starts_with("https://127.0.0.1:"), "{base}");
    let client = pinned::client(node.fingerprint.as_deref(), PATIENCE).expect("a client");
    let question = client.post(format!("{base}/api/{operation}")).bearer_auth(token).json(&json!({"input": input}));
    let answer = question.send().await.expect("an answer");
    assert!(answer.status().is_success(), "{operation}: {:?}", answer.text().await);
    answer.json().await.expect("it is JSON")
}

async fn reads(node: &Serve, task: &str) -> Vec<String> {
    let page = asks(node, "read_log", json!({"task": task, "attempt": 1})).await;
    assert_eq!(page["at_end"], true, "{page}");
    let lines = page["lines"].as_array().expect("lines").iter();
    lines.map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn finds(node: &Serve, task: &str, text: &str) -> usize {
    let found = asks(node, "search_log", json!({"task": task, "attempt": 1, "text": text})).await;
    found["hits"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn a_log_is_read_at_every_node_and_says_where_a_part_of_it_is_away() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let (mut one, mut other) = (Campanile::new(), Campanile::new());
    joins_with(one.data(), &database, "one", true, "");
    joins_with(other.data(), &database, "other", false, "");
    let hello = json!({
        "name": "hello",
        "schedule": {"kind": "manual"},
        "processor": "shell",
        "parameters": {"command": "echo 你好; echo second; echo third"},
    });
    one.applies(&[hello]);
    let first = serves_others(&mut one);
    let second = serves_others(&mut other);
    assert!(first.fingerprint.is_some() && first.fingerprint != second.fingerprint);
    let ended = one.runs_to_its_end("hello");
    assert_eq!(ended["row"]["state"], "succeeded", "{ended}");
    let run = ended["row"]["id"].as_str().expect("an id").to_owned();
    let task = ended["tasks"][0]["id"].as_str().expect("a task").to_owned();

    let whole = ["你好", "second", "third"];
    assert_eq!(reads(&first, &task).await, whole);
    assert_eq!(reads(&second, &task).await, whole);
    assert_eq!(finds(&second, &task, "second").await, 1);
    assert_eq!(other.log(&run), whole, "a command beside it reads it, too");

    first.kill_9();
    let left = reads(&second, &task).await;
    assert!(left.len() == 1 && left[0].contains("at node one, which is away"), "{left:?}");
    assert!(left[0].contains("在节点 one 上"), "{left:?}");
    assert_eq!(finds(&second, &task, "second").await, 0);

    let _first = serves_others(&mut one);
    let there_again = async {
        while reads(&second, &task).await != whole {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, there_again).await.expect("it is there again with its node");
}
