//! `sql` on a SQLite file.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use campanile_processors::SqlProcessor;
use campanile_sdk::{CancelStage, Class, Processor, Question, TaskError, testing::TestRun};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, SqliteConnection};

struct World {
    _home: tempfile::TempDir,
    url: String,
    sql: SqlProcessor,
}

async fn world() -> World {
    let home = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/shop.db", home.path().display());
    let mut setup = SqliteConnection::connect(&format!("{url}?mode=rwc")).await.unwrap();
    setup
        .execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, price REAL, photo BLOB);
             INSERT INTO orders VALUES (1, '茶', 2.5, x'00ff'), (2, NULL, 3, NULL)",
        )
        .await
        .unwrap();
    setup.close().await.unwrap();
    let connections = BTreeMap::from([
        ("shop".to_owned(), url.clone()),
        ("gone".to_owned(), format!("sqlite:{}/no/such.db", home.path().display())),
        ("odd".to_owned(), "ftp://example.org".to_owned()),
    ]);
    World { _home: home, url, sql: SqlProcessor::new(connections) }
}

impl World {
    async fn run(&self, statement: &str, parameters: Value) -> Result<Value, TaskError> {
        let parameters = json!({"connection": "shop", "statement": statement, "parameters": parameters});
        self.sql.process(TestRun::new(parameters).context()).await
    }
}

fn failed(outcome: Result<Value, TaskError>) -> (Class, String, String) {
    let error = outcome.unwrap_err();
    (error.class().unwrap(), error.code().unwrap().to_owned(), error.message().to_owned())
}

#[tokio::test]
async fn rows_come_with_their_types() {
    let world = world().await;
    let expected = json!({
        "rowsAffected": 0, "columns": ["id", "name", "price", "photo"],
        "rows": [[1, "茶", 2.5, "0x00ff"], [2, null, 3.0, null]],
        "rowCount": 2, "truncated": false,
    });
    assert_eq!(world.run("SELECT * FROM orders ORDER BY id", json!([])).await.unwrap(), expected);
    assert_eq!(world.run("SELECT * FROM orders WHERE id > ? ORDER BY id", json!([0])).await.unwrap(), expected);
}

#[tokio::test]
async fn writes_say_how_many_rows_and_values_are_bound() {
    let world = world().await;
    let written = world
        .run("INSERT INTO orders VALUES (?, ?, ?, NULL)", json!([3, "x'); DROP TABLE orders; --", null]))
        .await
        .unwrap();
    assert_eq!(written["rowsAffected"], json!(1));
    assert_eq!(world.run("UPDATE orders SET price = price + 1", json!([])).await.unwrap()["rowsAffected"], json!(3));
    let rows = world.run("SELECT name, price FROM orders WHERE id = ?", json!([3])).await.unwrap();
    assert_eq!(rows["rows"], json!([["x'); DROP TABLE orders; --", null]]));
}

#[tokio::test]
async fn several_statements_run_in_order_and_the_last_rows_are_kept() {
    let world = world().await;
    let result = world
        .run("SELECT 1 AS a; DELETE FROM orders WHERE id = 1; SELECT count(*) AS n FROM orders", json!([]))
        .await
        .unwrap();
    assert_eq!((&result["columns"], &result["rows"]), (&json!(["n"]), &json!([[1]])));
}

#[tokio::test]
async fn many_or_wide_rows_are_counted_and_cut() {
    let world = world().await;
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n";
    let result = world.run(many, json!([])).await.unwrap();
    assert_eq!((result["rows"].as_array().unwrap().len(), &result["rowCount"]), (100, &json!(1000)));
    assert_eq!(result["truncated"], json!(true));
    let wide = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT hex(zeroblob(2000)) FROM n";
    let result = world.run(wide, json!([])).await.unwrap();
    assert!(result.to_string().len() < 64 * 1024 && result["truncated"] == json!(true));
}

#[tokio::test]
async fn what_the_database_refuses_is_business_and_a_lock_is_not() {
    let world = world().await;
    let (class, code, message) = failed(world.run("SELEKT 1", json!([])).await);
    assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300017"));
    assert!(message.contains("SELEKT"), "{message}");
    let (class, code, _) = failed(world.run("INSERT INTO orders (id) VALUES (1)", json!([])).await);
    assert_eq!((class, code.as_str()), (Class::Business, "k_sc_ec_300017"));

    let mut writer = SqliteConnection::connect(&world.url).await.unwrap();
    writer.execute("BEGIN IMMEDIATE").await.unwrap();
    let (class, code, _) = failed(world.run("PRAGMA busy_timeout = 1; DELETE FROM orders", json!([])).await);
    assert_eq!((class, code.as_str()), (Class::Transient, "k_sc_ec_300026"));
    writer.close().await.unwrap();
}

#[tokio::test]
async fn a_cancel_stops_the_statement() {
    let world = world().await;
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let run = TestRun::new(json!({"connection": "shop", "statement": endless}));
    let ctx = run.context();
    let (outcome, ()) = tokio::join!(world.sql.process(ctx), async { run.cancel(CancelStage::Ask) });
    assert!(outcome.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_connection_that_is_not_there_or_not_right_is_named() {
    let world = world().await;
    for (connection, code, named) in [
        ("elsewhere", "k_sc_ec_300016", "elsewhere"),
        ("gone", "k_sc_ec_300025", "gone"),
        ("odd", "k_sc_ec_300025", "must begin with mysql:"),
    ] {
        let run = TestRun::new(json!({"connection": connection, "statement": "SELECT 1"}));
        let (class, found, message) = failed(world.sql.process(run.context()).await);
        assert_eq!((class, found.as_str()), (Class::Business, code), "{message}");
        assert!(message.contains(named), "{message}");
    }
    let run = TestRun::new(json!({"connection": "shop", "statement": " "}));
    assert_eq!(failed(world.sql.process(run.context()).await).1, "k_sc_ec_300010");
    let run = TestRun::new(json!({"connection": "shop", "statment": "SELECT 1"}));
    assert!(failed(world.sql.process(run.context()).await).2.contains("statment"));
}

#[tokio::test]
async fn a_run_is_still_needed_where_the_query_returns_a_row() {
    let world = world().await;
    let ask = async |connection: &str, statement: &str| {
        let parameters = json!({"connection": connection, "statement": statement});
        let question =
            Question { parameters, job: "report".to_owned(), instance_id: "i".to_owned(), planned_ms: 0, due_ms: 0 };
        world.sql.still_needed(question).await
    };
    assert!(ask("shop", "SELECT 1 FROM orders WHERE name IS NULL").await.unwrap());
    assert!(!ask("shop", "SELECT 1 FROM orders WHERE id = 3").await.unwrap());
    // Nobody can say: the node takes no answer for yes, and the refusal tells whoever looks why.
    assert_eq!(ask("unknown", "SELECT 1").await.unwrap_err().class(), Some(Class::Business));
    assert!(ask("gone", "SELECT 1").await.is_err());
    assert!(ask("shop", "SELECT 1 FROM nowhere").await.is_err());
}
