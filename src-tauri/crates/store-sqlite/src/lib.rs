//! The store on one SQLite file: what a desktop and a node of its own keep everything in.
//!
//! One connection writes, several read; the file may be open in several programs at once, so every write begins by
//! taking SQLite's write lock and decides under it. What is decided about many rows is decided in Rust and written by
//! a few statements that carry all the rows as one JSON parameter: their number does not grow with the batch.
//!
//! Files are named after the nouns of the contract, and each is the twin of one in the crate for MySQL.

mod alarms;
mod archive;
mod connection;
mod error;
mod executors;
mod instances;
mod jobs;
mod leases;
mod locks;
mod logs;
mod nodes;
mod passes;
#[cfg(test)]
mod plans;
mod requests;
mod rows;
mod settings;
mod shards;
mod staged;
mod tasks;
mod unplanned;
mod upkeep;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use campanile_store::{Result, StoreError};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Written into the file's header, so that another program's database is not taken for ours: "CAMP".
const APPLICATION_ID: i64 = 0x43_41_4d_50;

/// How long a statement waits while another program writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Two programs that create the same file at once cannot wait for each other by SQLite's own means.
const OPEN_ATTEMPTS: u32 = 50;
const OPEN_PAUSE: Duration = Duration::from_millis(100);

const READERS: u32 = 4;

pub struct SqliteStore {
    /// The folder of the file: what a person has to look at when it cannot be written.
    folder: Arc<str>,
    options: SqliteConnectOptions,
    /// None while a write that did not end cleanly has taken the connection with it.
    writer: Arc<Mutex<Option<SqliteConnection>>>,
    readers: SqlitePool,
    /// Never writes: SQLite tells it of every commit of anybody else.
    watch: Mutex<Option<SqliteConnection>>,
    statements: Arc<AtomicU64>,
}

impl SqliteStore {
    /// Opens the file, which is made where there is none, and brings its schema up to date.
    ///
    /// The folder must exist. A file that a newer program has written is refused untouched.
    pub async fn open(path: &Path) -> Result<SqliteStore> {
        let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder: Arc<str> = parent.display().to_string().into();
        let readable = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true)
            .disable_statement_logging();
        let options = readable
            .clone()
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal);
        let readable = readable.pragma("query_only", "ON");

        let writer = match prepared(&options).await {
            Ok(writer) => writer,
            Err(Refusal::Ours(error)) => return Err(error),
            Err(Refusal::Theirs(error)) => return Err(error::on_opening(error, parent)),
        };
        let watch = readable.connect().await.map_err(|error| error::on_opening(error, parent))?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(readable);

        Ok(SqliteStore {
            folder,
            options,
            writer: Arc::new(Mutex::new(Some(writer))),
            readers,
            watch: Mutex::new(Some(watch)),
            statements: Arc::default(),
        })
    }

    /// Waits for what is under way and closes the file; whoever still uses the store is refused.
    pub async fn close(&self) -> Result<()> {
        self.readers.close().await;
        let watch = self.watch.lock().await.take();
        // The writer last: whoever closes the file last empties its write-ahead log into it.
        let writer = self.writer.lock().await.take();
        for connection in watch.into_iter().chain(writer) {
            connection.close().await.map_err(|error| error::sorted(error, &self.folder))?;
        }
        Ok(())
    }

    /// Statements sent to SQLite so far, the beginning and end of transactions left out.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

enum Refusal {
    Ours(StoreError),
    Theirs(sqlx::Error),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Refusal::Theirs(error)
    }
}

/// A connection to a file whose schema is ours and up to date.
async fn prepared(options: &SqliteConnectOptions) -> std::result::Result<SqliteConnection, Refusal> {
    let mut attempt = 1;
    loop {
        match attempted(options).await {
            Err(Refusal::Theirs(error)) if error::is_busy(&error) && attempt < OPEN_ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(OPEN_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

async fn attempted(options: &SqliteConnectOptions) -> std::result::Result<SqliteConnection, Refusal> {
    let mut connection = options.connect().await?;
    // Under the write lock: of several programs that open the file at once one migrates it, the others find it done.
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await?;
    match migrated(&mut connection).await {
        Ok(()) => {
            sqlx::raw_sql("COMMIT").execute(&mut connection).await?;
            Ok(connection)
        }
        Err(refusal) => {
            // The connection is dropped, and its transaction with it.
            Err(refusal)
        }
    }
}

async fn migrated(connection: &mut SqliteConnection) -> std::result::Result<(), Refusal> {
    let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    let owner: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await?;
    if owner != APPLICATION_ID {
        let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
        if tables > 0 || found != 0 {
            return Err(Refusal::Ours(StoreError::Damaged("the file is another program's database".to_owned())));
        }
    }
    let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    if found > known {
        return Err(Refusal::Ours(StoreError::Newer { found, known }));
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        sqlx::raw_sql(migration.sql.clone()).execute(&mut *connection).await?;
    }
    if found < known {
        // A pragma takes no parameters; the number is our own.
        let stamp = format!("PRAGMA user_version = {known}; PRAGMA application_id = {APPLICATION_ID}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(stamp)).execute(&mut *connection).await?;
    }
    Ok(())
}
