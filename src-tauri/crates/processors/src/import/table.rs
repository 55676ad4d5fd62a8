//! Puts rows into a table, each once: a row whose key is there already is left as it is.

use std::str::FromStr as _;
use std::time::Duration;

use campanile_sdk::{TaskError, failure};
use serde_json::{Map, Value};
use sqlx::mysql::MySqlConnection;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{AssertSqlSafe, Connection as _};

use super::Asked;
use crate::sql::{connected, failed, judge, said};

/// How long SQLite waits for another shard that writes.
const SQLITE_PATIENCE: Duration = Duration::from_secs(30);

/// Values in one statement; SQLite takes 32,766, MySQL 65,535.
const MOST_VALUES: usize = 20_000;

/// Rows in one statement.
const MOST_ROWS: usize = 200;

enum Link {
    MySql(MySqlConnection),
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

pub struct Table {
    link: Link,
    /// As the job names it, for what is said of it.
    connection: String,
    table: String,
    key: String,
    columns: Vec<String>,
}

/// How a row fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fared {
    New,
    WasThere,
    /// The database refused it, and said this.
    Refused(String),
}

impl Table {
    /// Refused where there is no such table, it has no such columns, or nothing keeps its key from being there twice.
    pub async fn open(url: &str, asked: &Asked, columns: Vec<String>, make: bool) -> Result<Table, TaskError> {
        let name = asked.connection_name();
        let link = match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("mysql" | "mariadb") => Link::MySql(connected(name, MySqlConnection::connect(url)).await?),
            Some("postgres" | "postgresql") => Link::Postgres(connected(name, PgConnection::connect(url)).await?),
            Some("sqlite") => {
                let options = SqliteConnectOptions::from_str(url).map_err(|error| failed(name, &error))?;
                let options = options.busy_timeout(SQLITE_PATIENCE).journal_mode(SqliteJournalMode::Wal);
                let options = options.create_if_missing(asked.connection.is_empty());
                Link::Sqlite(connected(name, SqliteConnection::connect_with(&options)).await?)
            }
            _ => {
                return Err(failure::DATABASE_UNREACHABLE
                    .business()
                    .with("connection", name)
                    .with("detail", "its address must begin with mysql:, postgres: or sqlite:"));
            }
        };
        let (table, key) = (asked.table.clone(), asked.key.clone());
        let mut table = Table { link, connection: name.to_owned(), table, key, columns };
        if make {
            let statement = table.making();
            table.runs(statement).await?;
        }
        let statement = table.probing();
        table.runs(statement).await?;
        Ok(table)
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where in a row its key stands.
    pub fn key_place(&self) -> Option<usize> {
        self.columns.iter().position(|column| *column == self.key)
    }

    /// So many rows go into one statement.
    pub fn batch(&self) -> usize {
        (MOST_VALUES / self.columns.len().max(1)).clamp(1, MOST_ROWS)
    }

    /// In the order of the rows. One that the database refuses does not keep the others out. An error: nothing is known
    /// of those whose fate is not told, and another try is harmless.
    pub async fn insert(&mut self, rows: &[Vec<Value>]) -> Result<Vec<Fared>, TaskError> {
        match self.insert_together(rows).await {
            // Which of them were new is known by count alone; it is all that is told of them.
            Ok(new) => {
                let new = usize::try_from(new).unwrap_or(usize::MAX);
                let fared = |place| if place < new { Fared::New } else { Fared::WasThere };
                return Ok((0..rows.len()).map(fared).collect());
            }
            Err(error) if judge(&error).0 != failure::STATEMENT_FAILED => {
                return Err(failed(&self.connection, &error));
            }
            Err(_) => {}
        }
        let mut fared = Vec::with_capacity(rows.len());
        for row in rows {
            fared.push(match self.insert_together(std::slice::from_ref(row)).await {
                Ok(0) => Fared::WasThere,
                Ok(_) => Fared::New,
                Err(error) if judge(&error).0 == failure::STATEMENT_FAILED => Fared::Refused(said(&error)),
                Err(error) => return Err(failed(&self.connection, &error)),
            });
        }
        Ok(fared)
    }

    pub async fn close(self) {
        // What was written is written; a connection that does not end well is the server's to clear away.
        let _ = match self.link {
            Link::MySql(link) => link.close().await,
            Link::Postgres(link) => link.close().await,
            Link::Sqlite(link) => link.close().await,
        };
    }

    /// How many of them were new.
    async fn insert_together(&mut self, rows: &[Vec<Value>]) -> Result<u64, sqlx::Error> {
        let (into, names) = (self.place(), self.names());
        let ignoring = self.ignoring();
        let places = || vec![format!("({})", vec!["?"; self.columns.len()].join(", ")); rows.len()].join(", ");
        match &mut self.link {
            Link::Sqlite(link) => {
                let statement = format!("INSERT INTO {into} ({names}) VALUES {} {ignoring}", places());
                let mut query = sqlx::query(AssertSqlSafe(statement));
                for value in rows.iter().flatten() {
                    query = match value {
                        Value::Null => query.bind(None::<String>),
                        Value::Bool(value) => query.bind(*value),
                        Value::Number(number) if number.is_i64() => query.bind(number.as_i64()),
                        Value::Number(number) => query.bind(number.as_f64()),
                        Value::String(text) => query.bind(text.clone()),
                        json => query.bind(json.to_string()),
                    };
                }
                Ok(query.execute(link).await?.rows_affected())
            }
            Link::MySql(link) => {
                // The server counts a row that is there as touched: how many there are is asked before and after.
                let place = self.columns.iter().position(|column| *column == self.key).unwrap_or(0);
                let key = quoted(&self.key, '`');
                let count =
                    format!("SELECT COUNT(*) FROM {into} WHERE {key} IN ({})", vec!["?"; rows.len()].join(", "));
                let mut there = sqlx::query_scalar::<_, i64>(AssertSqlSafe(count));
                for row in rows {
                    there = there.bind(text_of(&row[place]));
                }
                let there = there.fetch_one(&mut *link).await?;
                let statement = format!("INSERT INTO {into} ({names}) VALUES {} {ignoring}", places());
                let mut query = sqlx::query(AssertSqlSafe(statement));
                for value in rows.iter().flatten() {
                    query = query.bind(text_of(value));
                }
                query.execute(link).await?;
                Ok((rows.len() as u64).saturating_sub(u64::try_from(there).unwrap_or(0)))
            }
            Link::Postgres(link) => {
                // The server knows the types of the columns, and reads the values as such.
                let statement = format!(
                    "INSERT INTO {into} ({names}) SELECT {names} FROM jsonb_populate_recordset(NULL::{into}, $1) {ignoring}"
                );
                let object = |row: &Vec<Value>| {
                    Value::Object(self.columns.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>())
                };
                let rows = Value::Array(rows.iter().map(object).collect());
                let query = sqlx::query(AssertSqlSafe(statement)).bind(sqlx::types::Json(rows));
                Ok(query.execute(link).await?.rows_affected())
            }
        }
    }

    async fn runs(&mut self, statement: String) -> Result<(), TaskError> {
        let statement = sqlx::raw_sql(AssertSqlSafe(statement));
        let done = match &mut self.link {
            Link::MySql(link) => statement.execute(link).await.map(|_| ()),
            Link::Postgres(link) => statement.execute(link).await.map(|_| ()),
            Link::Sqlite(link) => statement.execute(link).await.map(|_| ()),
        };
        done.map_err(|error| failed(&self.connection, &error))
    }

    /// A table of texts.
    fn making(&self) -> String {
        let (text, key) = match self.link {
            // A key of MySQL has a length.
            Link::MySql(_) => ("TEXT", "VARCHAR(190)"),
            Link::Postgres(_) | Link::Sqlite(_) => ("TEXT", "TEXT"),
        };
        let column = |name: &String| match *name == self.key {
            true => format!("{} {key} NOT NULL PRIMARY KEY", self.quoted(name)),
            false => format!("{} {text}", self.quoted(name)),
        };
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        format!("CREATE TABLE IF NOT EXISTS {} ({})", self.place(), columns.join(", "))
    }

    /// An insert of nothing: it is refused where an insert of something would be.
    fn probing(&self) -> String {
        let nothing = vec!["NULL"; self.columns.len()].join(", ");
        let from = if matches!(self.link, Link::MySql(_)) { "FROM DUAL " } else { "" };
        format!(
            "INSERT INTO {} ({}) SELECT {nothing} {from}WHERE 1 = 0 {}",
            self.place(),
            self.names(),
            self.ignoring()
        )
    }

    fn ignoring(&self) -> String {
        let key = self.quoted(&self.key);
        match self.link {
            // Not `INSERT IGNORE`, which would let values through that do not fit their columns.
            Link::MySql(_) => format!("ON DUPLICATE KEY UPDATE {key} = {}.{key}", self.place()),
            Link::Postgres(_) | Link::Sqlite(_) => format!("ON CONFLICT ({key}) DO NOTHING"),
        }
    }

    /// The table may be named with its schema.
    fn place(&self) -> String {
        let parts: Vec<String> = self.table.split('.').map(|part| self.quoted(part)).collect();
        parts.join(".")
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|name| self.quoted(name)).collect();
        names.join(", ")
    }

    fn quoted(&self, name: &str) -> String {
        quoted(name, if matches!(self.link, Link::MySql(_)) { '`' } else { '"' })
    }
}

fn quoted(name: &str, mark: char) -> String {
    format!("{mark}{}{mark}", name.replace(mark, &format!("{mark}{mark}")))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(u8::from(*value).to_string()),
        json => Some(json.to_string()),
    }
}
