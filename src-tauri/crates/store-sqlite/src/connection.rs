//! How statements reach SQLite: a reader, a snapshot for answers that need several statements, and the one writer.
//!
//! Every statement is counted, because the number of them per batch is part of what we promise.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use campanile_model::Partitions;
use campanile_store::{Lead, Result, StoreError};
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Sqlite, SqliteConnection, Transaction};
use tokio::sync::OwnedMutexGuard;

use crate::{SqliteStore, error};

pub(crate) type Statement = Query<'static, Sqlite, SqliteArguments>;

pub(crate) fn sql(text: &'static str) -> Statement {
    #[cfg(test)]
    crate::plans::note(text);
    sqlx::query(text)
}

/// For statements put together from literals; what a person wrote is always bound.
pub(crate) fn composed(text: String) -> Statement {
    #[cfg(test)]
    crate::plans::note(&text);
    sqlx::query(AssertSqlSafe(text))
}

/// ` AND …`: the job whose id stands in `column` is in one of these partitions. Nothing where that goes without saying.
pub(crate) fn within(of: Partitions, column: &str) -> String {
    if of == Partitions::ALL {
        return String::new();
    }
    // SQLite has no number for a byte, but its place among the digits.
    let digit = |place| format!("instr('0123456789ABCDEF', substr(hex({column}), {place}, 1)) - 1");
    let partition = format!("((({}) * 16 + {}) & 63)", digit(31), digit(32));
    format!(" AND ((1 << {partition}) & {}) <> 0", of.bits().cast_signed())
}

enum Held {
    Reader(PoolConnection<Sqlite>),
    Snapshot(Transaction<'static, Sqlite>),
    Writer(SqliteConnection),
}

pub(crate) struct Line {
    held: Held,
    folder: Arc<str>,
    statements: Arc<AtomicU64>,
}

impl Line {
    fn connection(&mut self) -> &mut SqliteConnection {
        self.statements.fetch_add(1, Ordering::Relaxed);
        match &mut self.held {
            Held::Reader(connection) => connection,
            Held::Snapshot(transaction) => transaction,
            Held::Writer(connection) => connection,
        }
    }

    /// How many rows it touched.
    pub async fn execute(&mut self, statement: Statement) -> Result<u64> {
        match statement.execute(self.connection()).await {
            Ok(done) => Ok(done.rows_affected()),
            Err(error) => Err(error::sorted(error, &self.folder)),
        }
    }

    pub async fn rows(&mut self, statement: Statement) -> Result<Vec<SqliteRow>> {
        statement.fetch_all(self.connection()).await.map_err(|error| error::sorted(error, &self.folder))
    }

    pub async fn row(&mut self, statement: Statement) -> Result<Option<SqliteRow>> {
        statement.fetch_optional(self.connection()).await.map_err(|error| error::sorted(error, &self.folder))
    }
}

/// A write transaction; it holds SQLite's write lock from its beginning.
///
/// One that is dropped without a word, because its caller was, takes its connection along: closing it is what rolls
/// back, whatever state it was in.
pub(crate) struct Write {
    line: Line,
    slot: OwnedMutexGuard<Option<SqliteConnection>>,
}

impl Deref for Write {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl DerefMut for Write {
    fn deref_mut(&mut self) -> &mut Line {
        &mut self.line
    }
}

impl Write {
    pub async fn commit(self) -> Result<()> {
        self.end("COMMIT").await
    }

    /// Undoes everything.
    pub async fn abandon(self) -> Result<()> {
        self.end("ROLLBACK").await
    }

    async fn end(self, how: &'static str) -> Result<()> {
        let Write { line, mut slot } = self;
        let Held::Writer(mut connection) = line.held else { unreachable!("a write holds the writer") };
        match sqlx::raw_sql(how).execute(&mut connection).await {
            Ok(_) => {
                *slot = Some(connection);
                Ok(())
            }
            Err(error) => Err(error::on_commit(error, &line.folder)),
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store was closed".into())
}

impl SqliteStore {
    fn line(&self, held: Held) -> Line {
        Line { held, folder: Arc::clone(&self.folder), statements: Arc::clone(&self.statements) }
    }

    pub(crate) async fn read(&self) -> Result<Line> {
        let connection = self.readers.acquire().await.map_err(|error| error::sorted(error, &self.folder))?;
        Ok(self.line(Held::Reader(connection)))
    }

    /// Its statements all see the same state.
    pub(crate) async fn snapshot(&self) -> Result<Line> {
        let transaction = self.readers.begin().await.map_err(|error| error::sorted(error, &self.folder))?;
        Ok(self.line(Held::Snapshot(transaction)))
    }

    /// A write that depends on no lease.
    pub(crate) async fn write(&self) -> Result<Write> {
        let mut slot = Arc::clone(&self.writer).lock_owned().await;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None if self.readers.is_closed() => return Err(closed()),
            None => self.options.connect().await.map_err(|error| error::sorted(error, &self.folder))?,
        };
        match sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await {
            Ok(_) => Ok(Write { line: self.line(Held::Writer(connection)), slot }),
            Err(error) => {
                if error::is_busy(&error) {
                    *slot = Some(connection);
                }
                Err(error::sorted(error, &self.folder))
            }
        }
    }

    /// A write of whoever has the lease. That is looked up under the same lock that guards the write.
    pub(crate) async fn write_as(&self, lead: &Lead) -> Result<Write> {
        let mut write = self.write().await?;
        for (lease, term) in lead.shown() {
            let held = write
                .row(
                    sql("SELECT 1 FROM leases WHERE lease = ? AND holder = ? AND term = ? AND until <> 0")
                        .bind(lease.to_owned())
                        .bind(lead.holder.clone())
                        .bind(crate::rows::number(term)),
                )
                .await?;
            if held.is_none() {
                let lease = lease.to_owned();
                write.abandon().await?;
                return Err(StoreError::Fenced(lease));
            }
        }
        Ok(write)
    }

    /// SQLite's count of other connections' commits, as the watching one sees it.
    pub(crate) async fn commits_seen(&self) -> Result<u64> {
        let mut watch = self.watch.lock().await;
        let Some(watch) = watch.as_mut() else { return Err(closed()) };
        let count: i64 = sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(watch)
            .await
            .map_err(|error| error::sorted(error, &self.folder))?;
        Ok(count.unsigned_abs())
    }
}
