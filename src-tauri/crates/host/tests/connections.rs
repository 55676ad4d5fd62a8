//! Named connections of a whole node: defined through the API, used by a job, tested, removed; and that nothing but the
//! executor ever sees the password.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Options, Who};
use campanile_model::request::{Person, Role};
use campanile_model::{Code, Fault};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PASSWORD: &str = "s3cret-@:/?#%";

struct Running {
    host: Arc<Host>,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(folder: &TempDir) -> Running {
        let who = Who::Serve { allow_shell: false, capacity: None };
        let host = Host::open(Options { data: folder.path().join("data"), who }).await.expect("it opens");
        let host = Arc::new(host);
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(host.clone().run(shutdown.clone()));
        Running { host, shutdown, task }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("it ends in good order");
        self.host.close().await;
    }

    async fn ask(&self, operation: &str, input: Value) -> Value {
        self.ask_as(Role::Admin, operation, input).await.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    async fn refused(&self, operation: &str, input: Value) -> Fault {
        self.ask_as(Role::Admin, operation, input).await.expect_err(operation)
    }

    async fn ask_as(&self, role: Role, operation: &str, input: Value) -> Result<Value, Fault> {
        let who = Person { name: "lin".to_owned(), role };
        let cx = CallContext { who, zone: "UTC".to_owned(), lang: Lang::En };
        self.host.call(operation, input, &cx).await
    }

    /// The rows of Settings, by name.
    async fn row(&self, name: &str) -> Value {
        let list = self.ask("list_connections", json!({})).await;
        let rows = list["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["name"] == name).cloned().unwrap_or_default()
    }

    async fn result_of(&self, job: &str) -> Value {
        let done = self.ask("run_jobs", json!({"jobs": [job]})).await;
        let mut frames = self.host.feed().subscribe();
        loop {
            let detail = self.ask("get_instance", json!({"instance": done["instances"][0]})).await;
            if !matches!(detail["row"]["state"].as_str(), Some("waiting" | "running")) {
                return detail;
            }
            frames.next().await.expect("the feed goes on");
        }
    }
}

fn mysql(port: u16, user: &str) -> Value {
    json!({"kind": "mysql", "host": "127.0.0.1", "port": port, "database": "orders", "user": user})
}

/// What is kept of passwords; the key of the own executor lies beside them.
fn slots(folder: &TempDir) -> Vec<String> {
    let read = fs::read_dir(folder.path().join("data/secrets"));
    let kept = read.into_iter().flatten().flatten().filter(|entry| entry.file_name() != "executor.key");
    kept.map(|entry| fs::read_to_string(entry.path()).expect("ours")).collect()
}

/// A port where nobody listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it has one").port()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_uses_a_connection_that_was_defined_in_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let file = folder.path().join("my orders?.db");
    fs::write(&file, "").expect("a file");
    let address = json!({"kind": "sqlite", "path": file});
    let tested = node.ask("test_connection", json!({"name": "orders", "address": address})).await;
    assert!(tested["server"].as_str().is_some_and(|server| server.starts_with("SQLite 3")), "{tested}");
    node.ask("put_connection", json!({"name": "orders", "address": address, "new": true})).await;
    let tested = node.ask("test_connection", json!({"name": "orders"})).await;
    assert_eq!(tested["fault"], Value::Null, "{tested}");

    let spec = json!({"name": "count", "schedule": {"kind": "manual"}, "processor": "sql",
        "parameters": {"connection": "orders", "statement": "CREATE TABLE t (n); INSERT INTO t VALUES (7); SELECT n FROM t"},
        "retry": {"retries": 0}});
    node.ask("save_job", json!({"spec": spec})).await;
    let run = node.result_of("count").await;
    assert_eq!(run["row"]["state"], "succeeded", "{run:#}");

    node.ask("remove_connection", json!({"name": "orders"})).await;
    assert_eq!(node.row("orders").await, Value::Null);
    let run = node.result_of("count").await;
    assert_eq!(run["row"]["state"], "failed", "{run:#}");
    let fault = node.refused("remove_connection", json!({"name": "orders"})).await;
    assert!(fault.is(Code::ConnectionUnknown), "{fault}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_kept_replaced_and_forgotten_and_seen_by_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let port = closed_port();
    let put = json!({"name": "订单", "address": mysql(port, "report"), "password": PASSWORD, "new": true});
    node.ask("put_connection", put.clone()).await;
    assert_eq!(slots(&folder), [PASSWORD]);
    let row = node.row("订单").await;
    assert_eq!((&row["password"], &row["address"]["user"]), (&json!("file"), &json!("report")), "{row}");

    let fault = node.refused("put_connection", put).await;
    assert_eq!(fault.field.as_deref(), Some("name"), "there is one already");

    // What is kept goes along to another database of the same server, and to no other server.
    let mut address = mysql(port, "report");
    address["database"] = json!("archive");
    node.ask("put_connection", json!({"name": "订单", "address": address})).await;
    assert_eq!(node.row("订单").await["password"], "file");
    for operation in ["put_connection", "test_connection"] {
        let fault = node.refused(operation, json!({"name": "订单", "address": mysql(port, "other")})).await;
        assert_eq!(fault.field.as_deref(), Some("password"), "{operation}: {fault}");
    }

    let tested = node.ask("test_connection", json!({"name": "订单"})).await;
    assert_eq!(tested["fault"]["code"], Code::ConnectionRefused.as_str(), "{tested}");
    assert!(!tested.to_string().contains("s3cret"), "{tested}");

    node.ask("put_connection", json!({"name": "订单", "address": address, "password": "another"})).await;
    assert_eq!(slots(&folder), ["another"], "the old one is gone");
    node.ask("put_connection", json!({"name": "订单", "address": address, "password": ""})).await;
    assert_eq!((slots(&folder).len(), node.row("订单").await["password"].clone()), (0, Value::Null));

    node.ask("put_connection", json!({"name": "订单", "address": address, "password": PASSWORD})).await;
    let audit = node.ask("list_audit", json!({})).await.to_string();
    assert!(audit.contains("setting:connection:订单") && !audit.contains("s3cret"), "{audit}");
    let bootstrap = node.ask("bootstrap", json!({})).await.to_string();
    assert!(!bootstrap.contains("connection:"), "{bootstrap}");
    let list = node.ask("list_connections", json!({})).await.to_string();
    assert!(!list.contains("s3cret"), "{list}");
    node.ask("remove_connection", json!({"name": "订单"})).await;
    assert_eq!(slots(&folder).len(), 0);
    node.stop().await;
    // Nor does it stand in the database, or in what the program wrote.
    for path in [folder.path().join("data/campanile.db"), folder.path().join("data/campanile.db-wal")] {
        assert!(!holds(&path, b"s3cret"), "{}", path.display());
    }
}

fn holds(path: &Path, needle: &[u8]) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_the_configuration_defines_is_shown_and_used_and_not_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let path = folder.path().join("data/connections.json");
    fs::write(&path, format!(r#"{{"stock": "postgres://u:s3cret@127.0.0.1:{}/d"}}"#, closed_port())).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
    let row = node.row("stock").await;
    assert_eq!((&row["kind"], &row["can_change"]["ok"]), (&json!("postgres"), &json!(false)));
    assert!(!row.to_string().contains("s3cret"), "{row}");
    let tested = node.ask("test_connection", json!({"name": "stock"})).await;
    assert_eq!(tested["fault"]["code"], Code::ConnectionRefused.as_str(), "{tested}");
    let fault = node.refused("put_connection", json!({"name": "stock", "address": mysql(1, "u")})).await;
    assert_eq!(fault.field.as_deref(), Some("name"), "{fault}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_administrator_defines_connections() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = Running::start(&folder).await;
    let address = mysql(1, "u");
    let table = [
        ("put_connection", json!({"name": "a", "address": address})),
        ("remove_connection", json!({"name": "a"})),
        ("test_connection", json!({"name": "a", "address": address})),
    ];
    for (operation, input) in table {
        let fault = node.ask_as(Role::Editor, operation, input).await.expect_err(operation);
        assert!(fault.is(Code::NoPermission), "{operation}: {fault}");
    }
    assert!(node.ask_as(Role::Editor, "list_connections", json!({})).await.is_ok(), "who writes jobs may name them");
    let fault = node.ask_as(Role::Viewer, "list_connections", json!({})).await.expect_err("others need not");
    assert!(fault.is(Code::NoPermission), "{fault}");
    let around = json!({"key": "connection:a", "value": {"address": address, "password": "s3cret"}});
    assert_eq!(node.refused("set_setting", around).await.field.as_deref(), Some("key"));
    node.stop().await;
}
