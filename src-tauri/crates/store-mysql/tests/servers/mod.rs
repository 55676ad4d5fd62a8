//! A real MariaDB in a folder of its own, on a free port: one for each test binary, a new database for each case.
//!
//! Where `CAMPANILE_TEST_MYSQL` says the address of a server, that one is used instead; databases are then made on it
//! and dropped again, all with names that begin with `campanile_test_`, and nothing else of it is touched.

// Each test binary uses its own part of it.
#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use campanile_store_mysql::MysqlStore;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, MySqlConnection};

const THEIR_OWN: &str = "CAMPANILE_TEST_MYSQL";

fn installed() -> bool {
    let there = Command::new("mariadbd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        eprintln!("not run: mariadbd is not installed");
    }
    there
}

/// Left where a test that needs a server did run: on which.
fn receipt(name: &str, version: &str) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ran-{name}"));
    fs::write(place, format!("ran on {version}\n")).unwrap();
}

pub struct Server {
    url: String,
    home: Option<PathBuf>,
    /// While it is held, the shell around the server waits; when this process goes, in whatever way, the shell ends
    /// the server and removes its folder.
    life: Option<ChildStdin>,
}

/// The shell that a server lives and ends with: its arguments are the folder, and the server with its own. Where there is
/// a file `again` it is started anew whenever it ends.
const WITH_ITS_TEST: &str = r#"
    home=$1; shift; exec 3<&0
    ( read -r _ <&3; touch "$home/over"; kill -9 "$(cat "$home/pid")" 2>/dev/null ) &
    while :; do
        "$@" </dev/null 3<&- & echo $! >"$home/pid"
        wait $!
        if [ -e "$home/over" ] || [ ! -e "$home/again" ]; then break; fi
    done
    rm -rf "$home"
"#;

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Of its own: a server that starts takes what it finds there for its own leavings, and removes it.
fn tmpdir(home: &Path) -> String {
    format!("--tmpdir={}", home.join("tmp").display())
}

fn as_root() -> Option<&'static str> {
    nix::unistd::getuid().is_root().then_some("--user=root")
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let home = tempfile::tempdir().unwrap().keep();
        let (data, socket, port) = (home.join("data"), home.join("socket"), free_port());
        fs::create_dir(home.join("tmp")).unwrap();
        let made = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", data.display()))
            .arg(tmpdir(&home))
            .args(as_root())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (mut child, life) = Server::spawn(&home, &data, &socket, port, arguments);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        while !log.contains("ready for connections") {
            assert!(said.read_line(&mut log).unwrap() > 0, "the server ended: {log}");
        }
        // Whoever does not read on makes the server wait; and whoever is not waited for stays.
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut said, &mut std::io::sink());
            let _ = child.wait();
        });
        // An account like that of a node: it has its databases, and nothing else.
        let account =
            "CREATE USER campanile IDENTIFIED BY 'secret'; GRANT ALL ON `campanile\\_test\\_%`.* TO campanile";
        let by_socket = Command::new("mariadb")
            .args(["--no-defaults", "-uroot", "-e", account])
            .arg(format!("--socket={}", socket.display()))
            .output()
            .unwrap();
        assert!(by_socket.status.success(), "{}", String::from_utf8_lossy(&by_socket.stderr));
        Server { url: format!("mysql://campanile:secret@127.0.0.1:{port}/"), home: Some(home), life: Some(life) }
    }

    fn spawn(home: &Path, data: &Path, socket: &Path, port: u16, arguments: &[&str]) -> (Child, ChildStdin) {
        let mut child = Command::new("sh")
            .args(["-c", WITH_ITS_TEST, "with-its-test"])
            .arg(home)
            .args(["mariadbd", "--no-defaults", "--bind-address=127.0.0.1"])
            .args(as_root())
            .arg(format!("--datadir={}", data.display()))
            .arg(tmpdir(home))
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--port={port}"))
            // With a binary log, as every server has one that others follow.
            .args(["--log-bin", "--binlog-format=ROW", "--server-id=1", "--max-connections=1000"])
            .args(["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M", "--performance-schema=off"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let life = child.stdin.take().unwrap();
        (child, life)
    }

    /// The one of this test binary; none where there is no server to start.
    pub fn shared() -> Option<&'static Server> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED
            .get_or_init(|| match std::env::var(THEIR_OWN) {
                Ok(url) => {
                    eprintln!("databases named campanile_test_… are made and dropped on the server of {THEIR_OWN}");
                    Some(Server { url, home: None, life: None })
                }
                Err(_) => installed().then(|| Server::start(&[])),
            })
            .as_ref()
    }

    /// One for a story that does to it what others must not notice; none where there is no server to start.
    pub fn of_its_own() -> Option<Server> {
        installed().then(|| Server::start(&[]))
    }

    /// From now on it is started anew whenever it ends, as by whatever keeps services running.
    pub fn is_looked_after(&self) {
        let home = self.home.as_ref().expect("a server of our own");
        fs::write(home.join("again"), "").unwrap();
    }

    /// Ends it as a crash would; it comes up again by itself.
    pub fn crashes(&self) {
        self.is_looked_after();
        let home = self.home.as_ref().expect("a server of our own");
        let pid = fs::read_to_string(home.join("pid")).unwrap();
        assert!(Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
    }

    /// Nobody else uses it.
    pub fn is_ours(&self) -> bool {
        self.life.is_some()
    }

    fn options(&self) -> MySqlConnectOptions {
        MySqlConnectOptions::from_str(&self.url).unwrap().disable_statement_logging()
    }

    pub async fn connect(&self) -> MySqlConnection {
        self.options().connect().await.unwrap()
    }

    pub async fn database(&self) -> Database {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("campanile_test_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let mut connection = self.connect().await;
        let version: String = sqlx::query_scalar("SELECT VERSION()").fetch_one(&mut connection).await.unwrap();
        receipt(if self.is_ours() { "store-on-mariadb" } else { "store-on-their-own-server" }, &version);
        run(&mut connection, &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).await;
        connection.close().await.unwrap();
        Database { options: self.options().database(&name), name }
    }
}

pub async fn run(connection: &mut MySqlConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(connection).await.unwrap();
}

/// A database of a case's own; it is dropped with this.
pub struct Database {
    options: MySqlConnectOptions,
    name: String,
}

impl Database {
    pub fn url(&self) -> String {
        self.options.to_url_lossy().to_string()
    }

    /// Does something to it that the store itself never does.
    pub async fn connect(&self) -> MySqlConnection {
        self.options.connect().await.unwrap()
    }

    pub async fn open(&self) -> MysqlStore {
        MysqlStore::open(&self.url()).await.expect("a database of our own")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (options, name) = (self.options.clone(), self.name.clone());
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut connection = options.connect().await?;
                sqlx::raw_sql(AssertSqlSafe(format!("DROP DATABASE {name}"))).execute(&mut connection).await?;
                connection.close().await
            })
        });
        // A case that failed says why by itself; that the rest was not tidied up would only hide it.
        if let (Err(error), false) = (dropped.join().unwrap(), std::thread::panicking()) {
            panic!("{} could not be dropped: {error}", self.name);
        }
    }
}

/// A store on a new database. It goes first: connections are closed before the database is dropped.
pub struct Housed<S> {
    store: S,
    _database: Database,
}

impl<S> Housed<S> {
    pub fn new(store: S, database: Database) -> Housed<S> {
        Housed { store, _database: database }
    }
}

impl<S> Deref for Housed<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.store
    }
}
