//! How statements reach the server: a reader, a snapshot for answers that need several statements, and a write.
//!
//! Every statement is counted, because the number of them per batch is part of what we promise.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use campanile_model::Partitions;
use campanile_store::{Lead, Result, StoreError};
use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Executor as _, MySql, MySqlConnection};

use crate::rows::Columns as _;
use crate::values::{self, Cell, Row, list};
use crate::{MysqlStore, error};

type Bound = Query<'static, MySql, MySqlArguments>;

/// A transaction is tried so often where the server ends it for the sake of another ...
const ATTEMPTS: u32 = 40;

/// ... and so often where it has waited for a lock as long as it may ...
const WAITS: u32 = 4;

/// ... with pauses between that grow up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// What a connection that is at nobody's service may take its time for, in seconds: eight hours, as ever.
const IDLE_SECONDS: u64 = 28_800;

pub(crate) enum Statement {
    /// Prepared once, and its parameters bound.
    Bound(Bound),
    /// Sent as it stands.
    Text(String),
}

impl From<Bound> for Statement {
    fn from(bound: Bound) -> Statement {
        Statement::Bound(bound)
    }
}

pub(crate) fn sql(text: &'static str) -> Bound {
    sqlx::query(text)
}

/// For statements put together from literals and `values`, which writes nothing as a person wrote it.
pub(crate) fn composed(text: impl Into<String>) -> Statement {
    Statement::Text(text.into())
}

/// ` AND …`: the job whose id stands in `column` is in one of these partitions. Nothing where that goes without saying.
pub(crate) fn within(of: Partitions, column: &str) -> String {
    match of {
        Partitions::ALL => String::new(),
        of => format!(" AND ((1 << (ASCII(SUBSTR({column}, 16, 1)) & 63)) & {}) <> 0", of.bits()),
    }
}

/// A connection at somebody's service. One that is dropped in the middle of a statement or of a transaction is closed:
/// that is what undoes a transaction, whatever state it was in.
pub(crate) struct Line {
    connection: Option<PoolConnection<MySql>>,
    address: Arc<str>,
    statements: Arc<AtomicU64>,
    longest: usize,
    in_transaction: bool,
    in_statement: bool,
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take().filter(|_| self.in_transaction || self.in_statement) {
            drop(connection.detach());
        }
    }
}

impl Line {
    fn connection(&mut self) -> &mut MySqlConnection {
        self.in_statement = true;
        self.connection.as_mut().expect("it is taken away only at the end")
    }

    fn answered<T>(&mut self, answer: std::result::Result<T, sqlx::Error>) -> std::result::Result<T, sqlx::Error> {
        self.in_statement = answer.as_ref().err().is_some_and(|error| !error::is_refusal(error));
        answer
    }

    /// How many rows it found to touch.
    pub async fn execute(&mut self, statement: impl Into<Statement>) -> Result<u64> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let answer = match statement.into() {
            Statement::Bound(query) => self.connection().execute(query).await,
            Statement::Text(text) => self.plain(text).await,
        };
        match self.answered(answer) {
            Ok(done) => Ok(done.rows_affected()),
            Err(error) => Err(error::sorted(error, &self.address)),
        }
    }

    pub async fn rows(&mut self, statement: impl Into<Statement>) -> Result<Vec<MySqlRow>> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let answer = match statement.into() {
            Statement::Bound(query) => self.connection().fetch_all(query).await,
            Statement::Text(text) => self.connection().fetch_all(sqlx::raw_sql(AssertSqlSafe(text))).await,
        };
        self.answered(answer).map_err(|error| error::sorted(error, &self.address))
    }

    /// The first row; what a statement would find beyond it, it is not to look for.
    pub async fn row(&mut self, statement: impl Into<Statement>) -> Result<Option<MySqlRow>> {
        Ok(self.rows(statement).await?.into_iter().next())
    }

    /// Writes the rows, `head VALUES … tail`.
    pub async fn insert(&mut self, head: &str, rows: &[Row], tail: &str) -> Result<()> {
        for text in values::inserts(head, rows, tail, self.longest) {
            self.execute(composed(text)).await?;
        }
        Ok(())
    }

    /// Joins the rows, whose columns are `u.c0`, `u.c1` and so on, to what they change, in this order:
    /// `UPDATE (…) u STRAIGHT_JOIN change`.
    pub async fn change(&mut self, rows: &[Row], change: &str) -> Result<()> {
        for table in values::tables(rows, self.longest) {
            self.execute(composed(format!("UPDATE {table} u STRAIGHT_JOIN {change}"))).await?;
        }
        Ok(())
    }

    async fn plain(&mut self, text: String) -> std::result::Result<sqlx::mysql::MySqlQueryResult, sqlx::Error> {
        self.connection().execute(sqlx::raw_sql(AssertSqlSafe(text))).await
    }

    /// The end of a snapshot. Dropped without it, it costs its connection.
    pub async fn close(mut self) -> Result<()> {
        let ended = self.plain("COMMIT".to_owned()).await;
        self.answered(ended).map_err(|error| error::sorted(error, &self.address))?;
        self.in_transaction = false;
        Ok(())
    }
}

/// A write transaction. One that is dropped without a word, because its caller was, is undone.
pub(crate) struct Write(Line);

impl Deref for Write {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.0
    }
}

impl DerefMut for Write {
    fn deref_mut(&mut self) -> &mut Line {
        &mut self.0
    }
}

impl Write {
    pub async fn commit(mut self) -> Result<()> {
        // Which of the sixteen rows counts it does not matter; that two connections seldom choose the same does.
        let text = format!(
            "UPDATE changes SET times = times + 1 WHERE slot = CONNECTION_ID() & 15; COMMIT; {}",
            patience(IDLE_SECONDS)
        );
        let ended = self.0.plain(text).await;
        self.0.answered(ended).map_err(|error| error::on_commit(error, &self.0.address))?;
        self.0.in_transaction = false;
        Ok(())
    }

    /// Undoes everything.
    pub async fn abandon(mut self) -> Result<()> {
        let ended = self.0.plain(format!("ROLLBACK; {}", patience(IDLE_SECONDS))).await;
        self.0.answered(ended).map_err(|error| error::sorted(error, &self.0.address))?;
        self.0.in_transaction = false;
        Ok(())
    }
}

/// How long the server waits for what a connection says next.
fn patience(seconds: u64) -> String {
    format!("SET SESSION wait_timeout = {seconds}")
}

impl MysqlStore {
    pub(crate) async fn read(&self) -> Result<Line> {
        let connection = self.pool.acquire().await.map_err(|error| error::sorted(error, &self.address))?;
        Ok(Line {
            connection: Some(connection),
            address: Arc::clone(&self.address),
            statements: Arc::clone(&self.statements),
            longest: self.longest,
            in_transaction: false,
            in_statement: false,
        })
    }

    /// Its statements all see the same state. It is to be closed.
    pub(crate) async fn snapshot(&self) -> Result<Line> {
        let mut line = self.read().await?;
        line.in_transaction = true;
        let text = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION READ ONLY".to_owned();
        let begun = line.plain(text).await;
        line.answered(begun).map_err(|error| error::sorted(error, &self.address))?;
        Ok(line)
    }

    /// A write that depends on no lease.
    pub(crate) async fn write(&self) -> Result<Write> {
        self.begun(None).await
    }

    /// A write of whoever has the lease, which cannot pass on before the write has ended.
    pub(crate) async fn write_as(&self, lead: &Lead) -> Result<Write> {
        self.begun(Some(lead)).await
    }

    async fn begun(&self, lead: Option<&Lead>) -> Result<Write> {
        let mut line = self.read().await?;
        line.in_transaction = true;
        let mut text = format!("{}; START TRANSACTION", patience(self.manner.patience.as_secs().max(1)));
        if let Some(lead) = lead {
            text.push_str(&format!(
                "; SELECT lease, term FROM leases FORCE INDEX (PRIMARY)
                 WHERE lease IN ({}) AND holder = {} AND until_at <> 0 LOCK IN SHARE MODE",
                list(lead.shown().map(|(lease, _)| Cell::Bytes(lease.as_bytes().to_vec()))),
                list([Cell::Bytes(lead.holder.clone().into_bytes())]),
            ));
        }
        let held = line.connection().fetch_all(sqlx::raw_sql(AssertSqlSafe(text))).await;
        let held = line.answered(held).map_err(|error| error::sorted(error, &self.address))?;
        let write = Write(line);
        let Some(lead) = lead else { return Ok(write) };
        let held: BTreeMap<String, u64> =
            held.iter().map(|row| Ok((row.text("lease")?, row.count("term")?))).collect::<Result<_>>()?;
        let gone = lead.shown().find(|(lease, term)| held.get(*lease) != Some(term));
        match gone.map(|(lease, _)| lease.to_owned()) {
            Some(lease) => {
                write.abandon().await?;
                Err(StoreError::Fenced(lease))
            }
            None => Ok(write),
        }
    }

    /// Tries a whole transaction again where others were in its way. What it decides it reads each time anew.
    pub(crate) async fn again<T, F>(&self, attempt: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut pause = Duration::from_millis(1);
        let mut waits = 0;
        for _ in 1..ATTEMPTS {
            let error = match attempt().await {
                Err(error) if error::is_collision(&error) => error,
                outcome => return outcome,
            };
            waits += u32::from(error::is_lock_wait(&error));
            if waits >= WAITS {
                return Err(error);
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        attempt().await
    }
}
