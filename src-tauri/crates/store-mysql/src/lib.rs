//! The store on a server of MySQL 8 or MariaDB 10.6 and newer: what the nodes of a team share.
//!
//! Many write at once, so every transaction runs at READ COMMITTED and locks what it decides about: it begins by
//! holding the lease that it shows, which keeps anyone from taking that lease over before the write has ended, and goes
//! on to jobs, instances or tasks. Where two wait for each other the server ends one of them, and that one is tried
//! again from its beginning ([`connection`]). A row of a firing is unique by (job, origin, key), a step by its fence: what is tried again
//! finds what it wrote.
//!
//! # What statements may say
//!
//! They keep to what both servers understand; `tests/subset.rs` reads them all.
//!
//! | not used | because |
//! | --- | --- |
//! | `RETURNING` | MySQL has none |
//! | `INSERT … AS new`, `VALUES ROW(…)`, a bare table of values | MariaDB has none, or writes it in another way |
//! | JSON functions, `->`, `->>` | MariaDB keeps JSON as text and has no arrows; what is looked into has a column |
//! | windows (`OVER`) | what is cut off is cut off by the program: one rule less on which servers differ |
//! | functional and partial indexes, `IF NOT EXISTS` but for tables | one of the two has none; generated columns are in both |
//! | `FOR SHARE`, `NOWAIT` | MariaDB says `LOCK IN SHARE MODE`, and nobody here gives up at once |
//! | `INTERSECT`, `EXCEPT`, `LATERAL`, sequences, `FULL JOIN` | one of the two has none, or has it lately |
//! | `INSERT IGNORE`, `REPLACE` | they hide what went wrong, or delete what they replace |
//! | collations by name, but for `utf8mb4_bin` | the newer ones have other names on each |
//! | words that either reserves as names (`key`, `rank`, `lead`, `before`, …) | nothing is quoted |
//!
//! What both have and is used: `ON DUPLICATE KEY UPDATE`, `FOR UPDATE SKIP LOCKED` (MariaDB from 10.6 on),
//! `LOCK IN SHARE MODE`, `STRAIGHT_JOIN` and `FORCE INDEX` (neither guesses the same plan), stored generated columns,
//! `GET_LOCK`, `SHA2`.
//!
//! Files are named after the nouns of the contract, and each is the twin of one in the crate for SQLite.

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
mod requests;
mod rows;
mod schema;
mod settings;
mod shards;
mod staged;
mod tasks;
mod unplanned;
mod upkeep;
mod values;

use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use campanile_model::Timestamp;
use campanile_store::{Result, StoreError};
use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, MySqlPool};

use crate::connection::sql;
use crate::rows::Columns as _;
use crate::schema::Older;

/// How the store deals with its server.
#[derive(Clone, Debug)]
pub struct Manner {
    /// The most connections at once.
    pub connections: u32,
    /// A transaction whose node says nothing for so long is undone by the server, in whole seconds: a node that was
    /// paused holds up nobody any longer than this.
    pub patience: Duration,
    /// How long a statement waits for another's lock before its transaction is tried again, in whole seconds.
    pub lock_wait: Duration,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { connections: 16, patience: Duration::from_secs(5), lock_wait: Duration::from_secs(5) }
    }
}

/// How long a request waits for a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A connection that has been idle for longer is asked whether it is still there.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

pub struct MysqlStore {
    /// Without user and password: what a person has to look at.
    address: Arc<str>,
    manner: Manner,
    pool: MySqlPool,
    /// The longest text of a statement.
    longest: usize,
    statements: Arc<AtomicU64>,
    retries: AtomicU64,
}

impl MysqlStore {
    /// Opens the database at `mysql://user:password@host:port/database`, which must exist, and brings its schema up to
    /// date. Of several nodes that open it at once one does that, the others find it done.
    pub async fn open(url: &str) -> Result<MysqlStore> {
        MysqlStore::open_in(url, Manner::default()).await
    }

    pub async fn open_in(url: &str, manner: Manner) -> Result<MysqlStore> {
        MysqlStore::open_as(url, manner, Older::Migrate).await
    }

    /// The same for whoever only looks on: the schema has to be the one that this program knows, and stays as it is.
    pub async fn open_to_look(url: &str, manner: Manner) -> Result<MysqlStore> {
        MysqlStore::open_as(url, manner, Older::Refuse).await
    }

    async fn open_as(url: &str, manner: Manner, older: Older) -> Result<MysqlStore> {
        let options = MySqlConnectOptions::from_str(url)
            .map_err(|error| StoreError::Unavailable(error.into()))?
            .disable_statement_logging();
        let address: Arc<str> = format!(
            "mysql://{}:{}/{}",
            options.get_host(),
            options.get_port(),
            options.get_database().unwrap_or_default()
        )
        .into();
        let mut first = options.connect().await.map_err(|error| error::sorted(error, &address))?;
        let largest_packet = schema::prepare(&mut first, &address, older).await?;
        // Whatever becomes of this one, the schema is ready.
        let _ = first.close().await;

        let session = format!(
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
             SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO',
                         innodb_lock_wait_timeout = {}",
            manner.lock_wait.as_secs().max(1)
        );
        let pool = MySqlPoolOptions::new()
            .max_connections(manner.connections)
            .acquire_timeout(CONNECT_WITHIN)
            .test_before_acquire(false)
            .after_connect(move |connection, _| {
                let session = session.clone();
                Box::pin(async move {
                    connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(session))).await?;
                    Ok(())
                })
            })
            .before_acquire(|connection, about| {
                Box::pin(async move {
                    if about.idle_for > TRUSTED_FOR {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options);
        Ok(MysqlStore {
            address,
            manner,
            pool,
            // Room for what a statement says around its rows.
            longest: usize::try_from(largest_packet / 2).unwrap_or(usize::MAX).min(values::LONGEST_TEXT),
            statements: Arc::default(),
            retries: AtomicU64::new(0),
        })
    }

    /// Waits for what is under way and closes the connections; whoever still uses the store is refused.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Statements sent to the server so far, the beginning and end of transactions left out.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Transactions that were tried again because they had met another.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// The server's time: that of every node of the team.
    pub async fn now(&self) -> Result<Timestamp> {
        let row = self
            .read()
            .await?
            .row(sql("SELECT CAST(FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED) AS now_ms"))
            .await?;
        row.ok_or_else(|| rows::damaged("the server does not say what time it is"))?.time("now_ms")
    }
}
