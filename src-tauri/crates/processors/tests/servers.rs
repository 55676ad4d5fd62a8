//! `sql` and `import` on real servers of MariaDB and PostgreSQL, started for the test in a folder
//! of its own. Where a server is not installed its test says so and passes; where it
//! ran it leaves a receipt in the build's folder for tests.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::unix::fs::chown,
    path::Path,
    process::{Child, Command, Stdio},
};

use campanile_processors::{Files, ImportProcessor, Obstacle, SqlProcessor, check_connection};
use campanile_sdk::{
    CancelStage, Class, Processor, TaskError,
    testing::{ShardedRun, TestRun},
};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, MySqlConnection, PgConnection};

struct Server {
    child: Child,
    url: String,
    sql: SqlProcessor,
    _home: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Waits for the line with which the server says that it is ready.
    fn ready(mut child: Child, ready: &str, url: String, home: tempfile::TempDir) -> Server {
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        while !log.contains(ready) {
            assert!(said.read_line(&mut log).unwrap() > 0, "the server ended: {log}");
        }
        // Whoever does not read on makes the server wait.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let wrong = url.replace("secret", "wrong");
        let sql = SqlProcessor::new(BTreeMap::from([("db".to_owned(), url.clone()), ("wrong".to_owned(), wrong)]));
        Server { child, url, sql, _home: home }
    }

    async fn run(&self, statement: &str, parameters: Value) -> Result<Value, TaskError> {
        let parameters = json!({"connection": "db", "statement": statement, "parameters": parameters});
        self.sql.process(TestRun::new(parameters).context()).await
    }

    async fn rows(&self, statement: &str, parameters: Value) -> Value {
        self.run(statement, parameters).await.unwrap()["rows"].clone()
    }
}

fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        eprintln!("not run: {program} is not installed");
    }
    there
}

fn receipt(name: &str) {
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ran-sql-on-{name}")), "ran\n").unwrap();
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn mariadb() -> Option<Server> {
    if !installed("mariadbd") {
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let (data, socket, port) = (home.path().join("data"), home.path().join("socket"), free_port());
    // One that starts removes what others have left in a folder that they share.
    let temporary = home.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let made = Command::new("mariadb-install-db")
        .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", temporary.display()))
        .args(nix::unistd::getuid().is_root().then_some("--user=root"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let child = Command::new("mariadbd")
        .args(["--no-defaults", "--bind-address=127.0.0.1"])
        .args(nix::unistd::getuid().is_root().then_some("--user=root"))
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", temporary.display()))
        .arg(format!("--socket={}", socket.display()))
        .arg(format!("--port={port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let url = format!("mysql://campanile:secret@127.0.0.1:{port}/shop");
    let server = Server::ready(child, "ready for connections", url, home);
    let root = format!("mysql://root@localhost/mysql?socket={}", socket.display());
    let mut root = MySqlConnection::connect(&root).await.unwrap();
    root.execute(sqlx::raw_sql(
        "CREATE DATABASE shop CHARACTER SET utf8mb4; CREATE USER campanile IDENTIFIED BY 'secret'; GRANT ALL ON shop.* TO campanile",
    ))
    .await
    .unwrap();
    root.close().await.unwrap();
    Some(server)
}

async fn postgres() -> Option<Server> {
    if !installed("postgres") || !installed("initdb") {
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let (data, port) = (home.path().join("data"), free_port());
    // PostgreSQL does not run as root.
    let as_whom = |program: &str| {
        if !nix::unistd::getuid().is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", program]);
        command
    };
    if nix::unistd::getuid().is_root() {
        let user = nix::unistd::User::from_name("postgres").unwrap().unwrap();
        chown(home.path(), Some(user.uid.as_raw()), Some(user.gid.as_raw())).unwrap();
    }
    let password = home.path().join("password");
    fs::write(&password, "secret").unwrap();
    let made = as_whom("initdb")
        .current_dir("/")
        .args(["-U", "campanile", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"])
        .arg(format!("--pwfile={}", password.display()))
        .arg("-D")
        .arg(&data)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let child = as_whom("postgres")
        .current_dir("/")
        .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
        .arg("-c")
        .arg(format!("unix_socket_directories={}", home.path().display()))
        .arg("-D")
        .arg(&data)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let url = format!("postgres://campanile:secret@127.0.0.1:{port}/postgres");
    Some(Server::ready(child, "ready to accept connections", url, home))
}

fn failed(outcome: Result<Value, TaskError>) -> (Class, String) {
    let error = outcome.unwrap_err();
    (error.class().unwrap(), error.code().unwrap().to_owned())
}

async fn wrong_password(server: &Server) {
    let run = TestRun::new(json!({"connection": "wrong", "statement": "SELECT 1"}));
    assert_eq!(failed(server.sql.process(run.context()).await), (Class::Business, "k_sc_ec_300025".to_owned()));
}

/// What a person is told who tests the connection.
async fn checked(server: &Server) {
    check_connection(&server.url).await.unwrap();
    let wrong = check_connection(&server.url.replace("secret", "wrong")).await.unwrap_err();
    assert!(matches!(&wrong, Obstacle::LoginRefused { user, .. } if user == "campanile"), "{wrong:?}");
    let (address, _) = server.url.rsplit_once('/').unwrap();
    // MariaDB does not tell whoever may not see them which databases there are.
    match check_connection(&format!("{address}/no%20where")).await.unwrap_err() {
        Obstacle::DatabaseMissing { database, .. } => assert_eq!(database, "no where"),
        Obstacle::LoginRefused { detail, .. } => assert!(detail.contains("no where"), "{detail}"),
        other => panic!("{other:?}"),
    }
}

/// Asks for the end once `running` says that the statement is there.
async fn cancelled(server: &Server, statement: &str, running: impl Future<Output = ()>) -> TaskError {
    let run = TestRun::new(json!({"connection": "db", "statement": statement}));
    let (outcome, ()) = tokio::join!(server.sql.process(run.context()), async {
        running.await;
        run.cancel(CancelStage::Ask);
    });
    outcome.unwrap_err()
}

#[tokio::test]
async fn mariadb_values_come_with_their_types_prepared_or_not() {
    let Some(server) = mariadb().await else { return };
    server
        .run(
            "CREATE TABLE v (i INT, u BIGINT UNSIGNED, t TINYINT, f DOUBLE, d DECIMAL(10,2), s VARCHAR(20), x TEXT,
             day DATE, at DATETIME(6), span TIME, y YEAR, bits BIT(10), js JSON, raw VARBINARY(4), none INT);
             INSERT INTO v VALUES (-5, 18446744073709551615, -1, 1.5, 12.50, '茶', 'long', '2026-11-21',
             '2026-11-21 02:05:09.000123', '-26:03:04', 2026, b'1000000001', '{\"a\": [1]}', x'00ff', NULL)",
            json!([]),
        )
        .await
        .unwrap();
    let expected = json!([[
        -5,
        u64::MAX,
        -1,
        1.5,
        "12.50",
        "茶",
        "long",
        "2026-11-21",
        "2026-11-21 02:05:09.000123",
        "-26:03:04",
        2026,
        513,
        "{\"a\": [1]}",
        "0x00ff",
        null
    ]]);
    let plain = server.rows("SELECT * FROM v", json!([])).await;
    assert_eq!(plain, expected);
    let prepared = server.rows("SELECT * FROM v WHERE i = ? AND s = ?", json!([-5, "茶"])).await;
    assert_eq!(prepared, expected);

    assert_eq!(server.run("UPDATE v SET i = 6", json!([])).await.unwrap()["rowsAffected"], json!(1));
    let syntax = (Class::Business, "k_sc_ec_300017".to_owned());
    assert_eq!(failed(server.run("SELEKT 1", json!([])).await), syntax);
    wrong_password(&server).await;
    checked(&server).await;

    let mut holder = MySqlConnection::connect(&server.url).await.unwrap();
    holder.execute("BEGIN").await.unwrap();
    holder.execute("UPDATE v SET i = 7").await.unwrap();
    let locked = server.run("SET innodb_lock_wait_timeout = 1; UPDATE v SET i = 8", json!([])).await;
    assert_eq!(failed(locked), (Class::Transient, "k_sc_ec_300026".to_owned()));

    let seen = "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(1000)%'";
    let mut count = async |expected: i64| {
        while sqlx::query_scalar::<_, i64>(seen).fetch_one(&mut holder).await.unwrap() != expected {}
    };
    assert!(cancelled(&server, "SELECT SLEEP(1000)", count(1)).await.is_cancelled());
    count(0).await;
    receipt("mariadb");
}

#[tokio::test]
async fn postgres_values_come_with_their_types_prepared_or_not() {
    let Some(server) = postgres().await else { return };
    server
        .run(
            "CREATE TYPE mood AS ENUM ('calm', 'busy');
             CREATE TABLE v (i INT, l BIGINT, b BOOL, f FLOAT8, n NUMERIC(12,3), s TEXT, day DATE, at TIMESTAMP,
             atz TIMESTAMPTZ, clock TIME, id UUID, js JSON, jb JSONB, raw BYTEA, m mood, none INT);
             INSERT INTO v VALUES (-5, 9007199254740993, true, 1.5, -12345.678, '茶', '2026-11-21',
             '1999-12-31 23:59:59.999999', '2026-11-21 10:05:09+08', '02:05:09', '0191e2c4-0000-7000-8000-00000000000a',
             '{\"a\":1}', '{\"b\":[2]}', '\\x00ff', 'busy', NULL)",
            json!([]),
        )
        .await
        .unwrap();
    let expected = json!([[
        -5, 9_007_199_254_740_993_i64, true, 1.5, "-12345.678", "茶", "2026-11-21", "1999-12-31 23:59:59.999999",
        "2026-11-21 02:05:09+00", "02:05:09", "0191e2c4-0000-7000-8000-00000000000a", {"a": 1}, {"b": [2]}, "0x00ff",
        "busy", null
    ]]);
    let plain = server.rows("SET TIME ZONE 'UTC'; SELECT * FROM v", json!([])).await;
    assert_eq!(plain, expected);
    let prepared = server
        .rows("SELECT * FROM v WHERE i = $1 AND s = $2 AND day = $3::text::date", json!([-5, "茶", "2026-11-21"]))
        .await;
    assert_eq!(prepared, expected);

    assert_eq!(server.run("UPDATE v SET i = 6", json!([])).await.unwrap()["rowsAffected"], json!(1));
    let syntax = (Class::Business, "k_sc_ec_300017".to_owned());
    assert_eq!(failed(server.run("SELEKT 1", json!([])).await), syntax);
    wrong_password(&server).await;
    checked(&server).await;

    let mut holder = PgConnection::connect(&server.url).await.unwrap();
    holder.execute("BEGIN").await.unwrap();
    holder.execute("UPDATE v SET i = 7").await.unwrap();
    let locked = server.run("SET lock_timeout = '10ms'; UPDATE v SET i = 8", json!([])).await;
    assert_eq!(failed(locked), (Class::Transient, "k_sc_ec_300026".to_owned()));
    holder.execute("COMMIT").await.unwrap();

    let seen = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(1000)%'";
    let mut count = async |expected: i64| {
        while sqlx::query_scalar::<_, i64>(seen).fetch_one(&mut holder).await.unwrap() != expected {}
    };
    assert!(cancelled(&server, "SELECT pg_sleep(1000)", count(1)).await.is_cancelled());
    count(0).await;
    receipt("postgres");
}

/// Rows with numbers and dates go into columns of such types; what does not fit is its row's error.
async fn imports(server: &Server) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("orders.csv");
    fs::write(&file, "id,day,price,note\n1,2026-03-01,2.50,茶\n2,2026-03-02,x,\n3,2026-13-01,1,\n4,,3,a'b\n").unwrap();
    let connections = BTreeMap::from([("db".to_owned(), server.url.clone())]);
    let import = ImportProcessor::new(connections, home.path().join("imports.db"), Files::Anywhere);
    let table = "CREATE TABLE imported (id INTEGER PRIMARY KEY, day DATE, price DECIMAL(8,2), note VARCHAR(20))";
    server.run(table, json!([])).await.unwrap();
    let counts = |run: &ShardedRun| ["inserted", "present", "failed"].map(|name| run.result[name].as_u64().unwrap());
    let parameters = |more: Value| {
        let mut all = json!({"connection": "db", "table": "imported", "key": "id", "file": file});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let run = ShardedRun::of(&import, parameters(json!({})), Vec::new()).await.unwrap();
    assert_eq!(counts(&run), [2, 0, 2], "{:?}", run.outcomes);
    let lines: Vec<u64> =
        run.result["errors"].as_array().unwrap().iter().map(|error| error["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 4]);
    let again = ShardedRun::of(&import, parameters(json!({})), Vec::new()).await.unwrap();
    assert_eq!(counts(&again), [0, 2, 2]);
    let rows = server.rows("SELECT id, note FROM imported ORDER BY id", json!([])).await;
    assert_eq!(rows, json!([[1, "茶"], [4, "a'b"]]));
    // Into a table that it makes, and some of the columns alone.
    let made = json!({"table": "made", "createTable": true, "columns": ["id", "note"]});
    let run = ShardedRun::of(&import, parameters(made), Vec::new()).await.unwrap();
    assert_eq!(counts(&run), [4, 0, 0], "{:?}", run.outcomes);
    // A key that is not one is found out before anything is handed out, where the database says so.
    let refused = ShardedRun::of(&import, parameters(json!({"key": "nothing"})), Vec::new()).await.unwrap_err();
    assert_eq!(refused.class(), Some(Class::Business));
}

#[tokio::test]
async fn rows_are_imported_into_mariadb() {
    let Some(server) = mariadb().await else { return };
    imports(&server).await;
}

#[tokio::test]
async fn rows_are_imported_into_postgres() {
    let Some(server) = postgres().await else { return };
    imports(&server).await;
}
