//! `sql`: one statement on a named connection to MySQL, PostgreSQL or SQLite.
//!
//! Jobs name a connection; what it stands for is the executor's to know, so that no
//! job carries a password. Each run has a connection of its own, closed at its end:
//! nothing of a session (variables, locks, a half-done transaction) reaches the next.
//!
//! Without `parameters` the statement goes as plain text, which every statement may;
//! with them it is prepared, and only their values travel. A parameter of text is
//! text: where PostgreSQL wants another type the statement has to say so
//! (`$1::text::date`).
//!
//! A cancel stops the statement in the server too, as far as the server lets us.

use std::{
    collections::{BTreeMap, HashMap},
    str::FromStr as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use campanile_sdk::{FailureCode, Processor, ProcessorInfo, Question, TaskContext, TaskError, failure};
use futures::{StreamExt as _, stream::BoxStream};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{
    AssertSqlSafe, Column as _, Connection as _, Either, Executor as _, Row as _, TypeInfo as _, ValueRef as _,
    mysql::{MySqlConnection, MySqlDatabaseError, MySqlRow},
    postgres::{PgConnection, PgDatabaseError, PgRow, PgValueFormat},
    sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow},
};

/// The result carries no more rows than this ...
const MAX_ROWS: usize = 100;

/// ... and no more of them than fit here, as JSON.
const MAX_ROWS_BYTES: usize = 56 * 1024;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// How long SQLite waits for another writer before it says that it is busy.
const SQLITE_PATIENCE: Duration = Duration::from_secs(5);

/// What the names of connections stand for at this executor.
#[async_trait]
pub trait Connections: Send + Sync + 'static {
    /// `mysql://…`, `postgres://…` or `sqlite:path`; `None` when there is no such
    /// connection. An error is a reason to try again later (a locked keychain).
    async fn url(&self, name: &str) -> Result<Option<String>, String>;
}

#[async_trait]
impl Connections for BTreeMap<String, String> {
    async fn url(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.get(name).cloned())
    }
}

#[async_trait]
impl Connections for HashMap<String, String> {
    async fn url(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.get(name).cloned())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlParameters {
    pub connection: String,
    pub statement: String,
    #[serde(default)]
    pub parameters: Vec<Value>,
}

pub struct SqlProcessor {
    connections: Arc<dyn Connections>,
}

impl SqlProcessor {
    pub fn new(connections: impl Connections) -> Self {
        SqlProcessor { connections: Arc::new(connections) }
    }
}

#[async_trait]
impl Processor for SqlProcessor {
    fn name(&self) -> &str {
        "sql"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new("sql")
            .title("SQL statement", "SQL 语句")
            .description(
                "Runs a statement on a named connection. Rows affected and the first rows are the result.",
                "在指定连接上执行一条语句；影响行数与前若干行作为结果。",
            )
            .parameters(json!({
                "type": "object",
                "required": ["connection", "statement"],
                "additionalProperties": false,
                "x-order": ["connection", "statement", "parameters"],
                "properties": {
                    "connection": {
                        "type": "string", "minLength": 1, "format": "connection",
                        "title": "Connection", "title:zh": "连接",
                        "description": "One that the executor knows by this name.",
                        "description:zh": "Executor 上以此名称配置的连接。"
                    },
                    "statement": {
                        "type": "string", "minLength": 1, "format": "multiline",
                        "title": "Statement", "title:zh": "语句"
                    },
                    "parameters": {
                        "type": "array", "default": [],
                        "title": "Parameters", "title:zh": "参数",
                        "description": "Values for ? (MySQL, SQLite) or $1, $2 (PostgreSQL), in order.",
                        "description:zh": "依次对应 ?（MySQL、SQLite）或 $1、$2（PostgreSQL）的值。"
                    }
                }
            }))
            .answers_still_needed()
    }

    /// Yes where the query returns a row.
    async fn still_needed(&self, question: Question) -> Result<bool, TaskError> {
        let text = |name: &str| question.parameters.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (name, query) = (text("connection"), text("statement"));
        let url = self
            .connections
            .url(&name)
            .await
            .map_err(|detail| unreachable(&name).with("detail", detail))?
            .ok_or_else(|| failure::CONNECTION_UNKNOWN.business().with("connection", &name))?;
        let query = sqlx::raw_sql(AssertSqlSafe(query));
        let found = match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("mysql" | "mariadb") => {
                let mut connection = connected(&name, MySqlConnection::connect(&url)).await?;
                query.fetch_optional(&mut connection).await.map(|row| row.is_some())
            }
            Some("postgres" | "postgresql") => {
                let mut connection = connected(&name, PgConnection::connect(&url)).await?;
                query.fetch_optional(&mut connection).await.map(|row| row.is_some())
            }
            _ => {
                let mut connection = connected(&name, SqliteConnection::connect(&url)).await?;
                query.fetch_optional(&mut connection).await.map(|row| row.is_some())
            }
        };
        found.map_err(|error| failed(&name, &error))
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        let parameters: SqlParameters = ctx.parameters_as()?;
        if parameters.statement.trim().is_empty() {
            return Err(refused("statement", "it is empty", "不能为空"));
        }
        let name = &parameters.connection;
        let url = self
            .connections
            .url(name)
            .await
            .map_err(|detail| unreachable(name).with("detail", detail))?
            .ok_or_else(|| failure::CONNECTION_UNKNOWN.business().with("connection", name))?;
        match url.split_once(':').map(|(scheme, _)| scheme) {
            Some("mysql" | "mariadb") => on_mysql(&ctx, &url, &parameters).await,
            Some("postgres" | "postgresql") => on_postgres(&ctx, &url, &parameters).await,
            Some("sqlite") => on_sqlite(&ctx, &url, &parameters).await,
            _ => Err(failure::DATABASE_UNREACHABLE
                .business()
                .with("connection", name)
                .with("detail", "its address must begin with mysql:, postgres: or sqlite:")),
        }
    }
}

fn refused(field: &str, en: &str, zh: &str) -> TaskError {
    failure::PARAMETERS_REFUSED.business().with("field", field).with_words("problem", en, zh)
}

fn unreachable(connection: &str) -> TaskError {
    failure::DATABASE_UNREACHABLE.transient().with("connection", connection)
}

fn cancelled() -> TaskError {
    TaskError::cancelled("the statement was stopped")
}

pub(crate) async fn connected<C>(
    name: &str,
    connecting: impl Future<Output = Result<C, sqlx::Error>>,
) -> Result<C, TaskError> {
    match tokio::time::timeout(CONNECT_WITHIN, connecting).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(not_connected(name, &error)),
        Err(_) => Err(unreachable(name).with("detail", format!("no answer within {} s", CONNECT_WITHIN.as_secs()))),
    }
}

/// Wrong credentials and names stay wrong; everything else may pass.
fn not_connected(name: &str, error: &sqlx::Error) -> TaskError {
    let judged = judge(error);
    let lasting = matches!(error, sqlx::Error::Configuration(_)) || judged.0 == failure::STATEMENT_FAILED;
    let failure = match lasting {
        true => failure::DATABASE_UNREACHABLE.business(),
        false => failure::DATABASE_UNREACHABLE.transient(),
    };
    failure.with("connection", name).with("detail", said(error))
}

// ---------------------------------------------------------------- databases --

async fn on_mysql(ctx: &TaskContext, url: &str, parameters: &SqlParameters) -> Result<Value, TaskError> {
    let name = &parameters.connection;
    let mut connection = connected(name, MySqlConnection::connect(url)).await?;
    let id: String = sqlx::query_scalar("SELECT CAST(CONNECTION_ID() AS CHAR)")
        .fetch_one(&mut connection)
        .await
        .map_err(|error| failed(name, &error))?;
    let statement = AssertSqlSafe(parameters.statement.clone());
    let work = async {
        if parameters.parameters.is_empty() {
            gather(connection.fetch_many(sqlx::raw_sql(statement)), |row| mysql_row(row, false)).await
        } else {
            let mut query = sqlx::query(statement);
            for value in &parameters.parameters {
                query = match value {
                    Value::Null => query.bind(None::<String>),
                    Value::Bool(value) => query.bind(*value),
                    Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                        (Some(value), _) => query.bind(value),
                        (None, Some(value)) => query.bind(value),
                        (None, None) => query.bind(number.as_f64()),
                    },
                    Value::String(text) => query.bind(text.clone()),
                    json => query.bind(json.to_string()),
                };
            }
            gather(connection.fetch_many(query), |row| mysql_row(row, true)).await
        }
    };
    let outcome = tokio::select! {
        outcome = work => Some(outcome),
        () = ctx.cancelled() => None,
    };
    match outcome {
        Some(outcome) => {
            close(ctx, connection.close()).await;
            outcome.map_err(|error| failed(name, &error))
        }
        None => {
            let stop = async {
                let mut other = MySqlConnection::connect(url).await?;
                other.execute(sqlx::raw_sql(AssertSqlSafe(format!("KILL {id}")))).await?;
                other.close().await
            };
            stopped(ctx, stop).await;
            Err(cancelled())
        }
    }
}

async fn on_postgres(ctx: &TaskContext, url: &str, parameters: &SqlParameters) -> Result<Value, TaskError> {
    let name = &parameters.connection;
    let mut connection = connected(name, PgConnection::connect(url)).await?;
    let id: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut connection)
        .await
        .map_err(|error| failed(name, &error))?;
    let statement = AssertSqlSafe(parameters.statement.clone());
    let work = async {
        if parameters.parameters.is_empty() {
            gather(connection.fetch_many(sqlx::raw_sql(statement)), postgres_row).await
        } else {
            let mut query = sqlx::query(statement);
            for value in &parameters.parameters {
                query = match value {
                    Value::Null => query.bind(None::<String>),
                    Value::Bool(value) => query.bind(*value),
                    Value::Number(number) => match number.as_i64() {
                        Some(value) => query.bind(value),
                        None => query.bind(number.as_f64()),
                    },
                    Value::String(text) => query.bind(text.clone()),
                    json => query.bind(sqlx::types::Json(json.clone())),
                };
            }
            gather(connection.fetch_many(query), postgres_row).await
        }
    };
    let outcome = tokio::select! {
        outcome = work => Some(outcome),
        () = ctx.cancelled() => None,
    };
    match outcome {
        Some(outcome) => {
            close(ctx, connection.close()).await;
            outcome.map_err(|error| failed(name, &error))
        }
        None => {
            let stop = async {
                let mut other = PgConnection::connect(url).await?;
                other.execute(sqlx::raw_sql(AssertSqlSafe(format!("SELECT pg_terminate_backend({id})")))).await?;
                other.close().await
            };
            stopped(ctx, stop).await;
            Err(cancelled())
        }
    }
}

async fn on_sqlite(ctx: &TaskContext, url: &str, parameters: &SqlParameters) -> Result<Value, TaskError> {
    let name = &parameters.connection;
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| not_connected(name, &error))?
        .create_if_missing(false)
        .busy_timeout(SQLITE_PATIENCE);
    let mut connection = connected(name, SqliteConnection::connect_with(&options)).await?;
    let stop = Arc::new(AtomicBool::new(false));
    {
        let stop = stop.clone();
        let mut handle = connection.lock_handle().await.map_err(|error| failed(name, &error))?;
        handle.set_progress_handler(10_000, move || !stop.load(Ordering::Relaxed));
    }
    let statement = AssertSqlSafe(parameters.statement.clone());
    let work = async {
        if parameters.parameters.is_empty() {
            gather(connection.fetch_many(sqlx::raw_sql(statement)), sqlite_row).await
        } else {
            let mut query = sqlx::query(statement);
            for value in &parameters.parameters {
                query = match value {
                    Value::Null => query.bind(None::<String>),
                    Value::Bool(value) => query.bind(*value),
                    Value::Number(number) => match number.as_i64() {
                        Some(value) => query.bind(value),
                        None => query.bind(number.as_f64()),
                    },
                    Value::String(text) => query.bind(text.clone()),
                    json => query.bind(json.to_string()),
                };
            }
            gather(connection.fetch_many(query), sqlite_row).await
        }
    };
    let outcome = tokio::select! {
        outcome = work => Some(outcome),
        () = ctx.cancelled() => None,
    };
    stop.store(true, Ordering::Relaxed);
    match outcome {
        Some(outcome) => {
            close(ctx, connection.close()).await;
            outcome.map_err(|error| failed(name, &error))
        }
        None => {
            // Waits until the statement has seen the flag: then it no longer writes.
            close(ctx, connection.close()).await;
            Err(cancelled())
        }
    }
}

/// The statement is done either way; that the connection did not end well is worth a
/// line and nothing more.
async fn close(ctx: &TaskContext, closing: impl Future<Output = Result<(), sqlx::Error>>) {
    match tokio::time::timeout(CONNECT_WITHIN, closing).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => ctx.log(format!("the connection did not close well: {error}")),
        Err(_) => ctx.log("the connection did not close in time"),
    }
}

async fn stopped(ctx: &TaskContext, stopping: impl Future<Output = Result<(), sqlx::Error>>) {
    match tokio::time::timeout(CONNECT_WITHIN, stopping).await {
        Ok(Ok(())) => ctx.log("the server was told to stop the statement"),
        Ok(Err(error)) => ctx.log(format!("the server may still run the statement: {error}")),
        Err(_) => ctx.log("the server may still run the statement: no answer"),
    }
}

// ------------------------------------------------------------------- results --

/// Reads everything, keeps the first rows. Of several statements the rows of the
/// last one that gave any.
async fn gather<Done, Row>(
    mut coming: BoxStream<'_, Result<Either<Done, Row>, sqlx::Error>>,
    read: impl Fn(&Row) -> Result<Vec<Value>, sqlx::Error>,
) -> Result<Value, sqlx::Error>
where
    Done: Affected,
    Row: sqlx::Row,
{
    let mut affected = 0;
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<Value> = Vec::new();
    let mut bytes = 0;
    let mut count: u64 = 0;
    let mut fresh = true;
    while let Some(next) = coming.next().await {
        match next? {
            Either::Left(done) => {
                // A database counts the rows that it returns here, too.
                if fresh {
                    affected += done.affected();
                }
                fresh = true;
            }
            Either::Right(row) => {
                if fresh {
                    columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
                    rows.clear();
                    (bytes, count, fresh) = (0, 0, false);
                }
                count += 1;
                if rows.len() < MAX_ROWS && bytes < MAX_ROWS_BYTES {
                    let row = Value::Array(read(&row)?);
                    bytes += row.to_string().len() + 1;
                    if bytes < MAX_ROWS_BYTES {
                        rows.push(row);
                    }
                }
            }
        }
    }
    let truncated = (rows.len() as u64) < count;
    Ok(json!({
        "rowsAffected": affected, "columns": columns, "rows": rows, "rowCount": count, "truncated": truncated
    }))
}

trait Affected {
    fn affected(&self) -> u64;
}

impl Affected for sqlx::mysql::MySqlQueryResult {
    fn affected(&self) -> u64 {
        self.rows_affected()
    }
}

impl Affected for sqlx::postgres::PgQueryResult {
    fn affected(&self) -> u64 {
        self.rows_affected()
    }
}

impl Affected for sqlx::sqlite::SqliteQueryResult {
    fn affected(&self) -> u64 {
        self.rows_affected()
    }
}

fn sqlite_row(row: &SqliteRow) -> Result<Vec<Value>, sqlx::Error> {
    (0..row.len())
        .map(|at| {
            let raw = row.try_get_raw(at)?;
            if raw.is_null() {
                return Ok(Value::Null);
            }
            let kind = raw.type_info().name().to_owned();
            Ok(match kind.as_str() {
                "INTEGER" | "BOOLEAN" | "INT4" => json!(row.try_get_unchecked::<i64, _>(at)?),
                "REAL" => json!(row.try_get_unchecked::<f64, _>(at)?),
                "BLOB" => bytes_as_text(row.try_get_unchecked::<&[u8], _>(at)?),
                _ => text_or_bytes(row.try_get_unchecked::<&[u8], _>(at)?),
            })
        })
        .collect()
}

fn mysql_row(row: &MySqlRow, prepared: bool) -> Result<Vec<Value>, sqlx::Error> {
    (0..row.len())
        .map(|at| {
            let raw = row.try_get_raw(at)?;
            if raw.is_null() {
                return Ok(Value::Null);
            }
            let kind = raw.type_info().name().to_owned();
            let bytes = row.try_get_unchecked::<&[u8], _>(at)?;
            Ok(if prepared { mysql_binary(&kind, bytes) } else { from_text(&kind, bytes) })
        })
        .collect()
}

/// A value of a plain-text answer; MySQL's and PostgreSQL's names of types together.
fn from_text(kind: &str, bytes: &[u8]) -> Value {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes_as_text(bytes) };
    let number = |text: &str| text.parse::<serde_json::Number>().map_or_else(|_| json!(text), Value::Number);
    match kind {
        "BOOL" => json!(text == "t"),
        "BYTEA" => json!(text.replacen(r"\x", "0x", 1)),
        "BIT" => json!(bytes.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte))),
        "JSON" | "JSONB" => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        "BOOLEAN" | "YEAR" | "FLOAT" | "DOUBLE" | "INT2" | "INT4" | "INT8" | "OID" | "FLOAT4" | "FLOAT8" => {
            number(text)
        }
        _ if is_mysql_integer(kind) => number(text),
        _ => text_or_bytes(bytes),
    }
}

fn is_mysql_integer(kind: &str) -> bool {
    matches!(kind.trim_end_matches(" UNSIGNED"), "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT")
}

/// A value of a prepared statement's answer from MySQL. What has no form of its own
/// there comes as text.
fn mysql_binary(kind: &str, bytes: &[u8]) -> Value {
    match kind {
        "FLOAT" => bytes.try_into().map_or(Value::Null, |bytes| json!(f32::from_le_bytes(bytes))),
        "DOUBLE" => bytes.try_into().map_or(Value::Null, |bytes| json!(f64::from_le_bytes(bytes))),
        "DATE" | "DATETIME" | "TIMESTAMP" => {
            mysql_date(kind, bytes).map_or_else(|| bytes_as_text(bytes), Value::String)
        }
        "TIME" => mysql_time(bytes).map_or_else(|| bytes_as_text(bytes), Value::String),
        _ if kind == "BOOLEAN" || kind == "YEAR" || is_mysql_integer(kind) => {
            let unsigned = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
            if kind.ends_with("UNSIGNED") || kind == "YEAR" {
                return json!(unsigned);
            }
            let unused = 64 - 8 * u32::try_from(bytes.len()).unwrap_or(8).min(8);
            match unused {
                64 => Value::Null,
                unused => json!((unsigned << unused).cast_signed() >> unused),
            }
        }
        _ => from_text(kind, bytes),
    }
}

/// Length, year (2), month, day, and where there is a time: hour, minute, second,
/// and where it has a fraction: microseconds (4).
fn mysql_date(kind: &str, bytes: &[u8]) -> Option<String> {
    let [_, y0, y1, month, day, time @ ..] = bytes else { return None };
    let date = format!("{:04}-{month:02}-{day:02}", u16::from_le_bytes([*y0, *y1]));
    Some(match time {
        _ if kind == "DATE" => date,
        [] => format!("{date} 00:00:00"),
        [hour, minute, second] => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        [hour, minute, second, a, b, c, d] => {
            format!("{date} {hour:02}:{minute:02}:{second:02}.{:06}", u32::from_le_bytes([*a, *b, *c, *d]))
        }
        _ => return None,
    })
}

/// Length, sign, days (4), hour, minute, second, and where it has a fraction:
/// microseconds (4).
fn mysql_time(bytes: &[u8]) -> Option<String> {
    let [sign, a, b, c, d, hour, minute, second, rest @ ..] = bytes.get(1..)? else {
        return bytes.is_empty().then(String::new).or_else(|| (bytes == [0]).then(|| "00:00:00".to_owned()));
    };
    let hours = u32::from_le_bytes([*a, *b, *c, *d]) * 24 + u32::from(*hour);
    let sign = if *sign == 1 { "-" } else { "" };
    Some(match rest {
        [a, b, c, d] => format!("{sign}{hours:02}:{minute:02}:{second:02}.{:06}", u32::from_le_bytes([*a, *b, *c, *d])),
        _ => format!("{sign}{hours:02}:{minute:02}:{second:02}"),
    })
}

fn postgres_row(row: &PgRow) -> Result<Vec<Value>, sqlx::Error> {
    (0..row.len())
        .map(|at| {
            let raw = row.try_get_raw(at)?;
            if raw.is_null() {
                return Ok(Value::Null);
            }
            let kind = raw.type_info().name().to_owned();
            let bytes = raw.as_bytes().map_err(sqlx::Error::Decode)?;
            Ok(match raw.format() {
                PgValueFormat::Text => from_text(&kind, bytes),
                PgValueFormat::Binary => postgres_binary(&kind, bytes),
            })
        })
        .collect()
}

/// A value of a prepared statement's answer from PostgreSQL: the common types; of
/// others the bytes.
fn postgres_binary(kind: &str, bytes: &[u8]) -> Value {
    const MICROS_OF_DAY: i64 = 86_400_000_000;
    let integer = || {
        let sign = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
        bytes.iter().fold(if sign { -1i64 } else { 0 }, |value, byte| value << 8 | i64::from(*byte))
    };
    match (kind, bytes.len()) {
        ("BOOL", 1) => json!(bytes[0] != 0),
        ("INT2", 2) | ("INT4", 4) | ("INT8", 8) => json!(integer()),
        ("OID", 4) => json!(integer() & 0xffff_ffff),
        ("FLOAT4", 4) => bytes.try_into().map_or(Value::Null, |bytes| json!(f32::from_be_bytes(bytes))),
        ("FLOAT8", 8) => bytes.try_into().map_or(Value::Null, |bytes| json!(f64::from_be_bytes(bytes))),
        ("NUMERIC", _) => postgres_numeric(bytes).map_or_else(|| bytes_as_text(bytes), Value::String),
        ("DATE", 4) => json!(civil_date(integer() + DAYS_TO_2000)),
        ("TIME", 8) => json!(clock(integer())),
        ("TIMESTAMP", 8) | ("TIMESTAMPTZ", 8) => {
            let (days, micros) = (integer().div_euclid(MICROS_OF_DAY), integer().rem_euclid(MICROS_OF_DAY));
            let zone = if kind == "TIMESTAMPTZ" { "+00" } else { "" };
            json!(format!("{} {}{zone}", civil_date(days + DAYS_TO_2000), clock(micros)))
        }
        ("UUID", 16) => {
            let hex = hex(bytes);
            json!(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
        }
        ("JSONB", _) => {
            serde_json::from_slice(bytes.get(1..).unwrap_or_default()).unwrap_or_else(|_| bytes_as_text(bytes))
        }
        ("JSON", _) => serde_json::from_slice(bytes).unwrap_or_else(|_| bytes_as_text(bytes)),
        ("BYTEA", _) => bytes_as_text(bytes),
        _ => text_or_bytes(bytes),
    }
}

/// From 1970-01-01 to PostgreSQL's own first day.
const DAYS_TO_2000: i64 = 10_957;

/// Count of digits, weight of the first, sign, digits after the point, then digits
/// of base 10,000, two bytes each.
fn postgres_numeric(bytes: &[u8]) -> Option<String> {
    let words: Vec<i16> = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
    let [_, weight, sign, scale, digits @ ..] = words.as_slice() else { return None };
    match sign.cast_unsigned() {
        0xC000 => return Some("NaN".into()),
        0xD000 => return Some("Infinity".into()),
        0xF000 => return Some("-Infinity".into()),
        _ => {}
    }
    let (weight, scale) = (i32::from(*weight), usize::try_from(*scale).ok()?);
    let digit =
        |place: i32| usize::try_from(weight - place).ok().and_then(|at| digits.get(at)).copied().unwrap_or_default();
    let mut whole = String::new();
    for place in (0..=weight.max(0)).rev() {
        whole.push_str(&format!("{:04}", digit(place)));
    }
    let whole = whole.trim_start_matches('0');
    let mut fraction = String::new();
    let mut place = -1;
    while fraction.len() < scale {
        fraction.push_str(&format!("{:04}", digit(place)));
        place -= 1;
    }
    fraction.truncate(scale);
    let sign = if sign.cast_unsigned() == 0x4000 { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// The Gregorian date that is `days` after 1970-01-01, reckoned in eras of 400 years
/// that begin on 1 March, so that a leap day is the last of its year.
fn civil_date(days: i64) -> String {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock(micros: i64) -> String {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 { text } else { format!("{text}.{fraction:06}") }
}

/// MariaDB says BLOB of its JSON, too: what is text is shown as text.
fn text_or_bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => json!(text),
        _ => bytes_as_text(bytes),
    }
}

fn bytes_as_text(bytes: &[u8]) -> Value {
    json!(format!("0x{}", hex(bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// ------------------------------------------------------------------ failures --

pub(crate) fn failed(connection: &str, error: &sqlx::Error) -> TaskError {
    let (code, class) = judge(error);
    code.failure(class).with("connection", connection).with("detail", said(error))
}

pub(crate) fn said(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}

/// What broke, and whether another try is worth it.
pub(crate) fn judge(error: &sqlx::Error) -> (FailureCode, campanile_sdk::Class) {
    use campanile_sdk::Class::{Business, System, Transient};

    let statement = (failure::STATEMENT_FAILED, Business);
    let busy = (failure::DATABASE_BUSY, Transient);
    let exhausted = (failure::EXHAUSTED, System);
    let away = (failure::DATABASE_UNREACHABLE, Transient);
    let Some(refusal) = error.as_database_error() else {
        return match error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => away,
            _ => statement,
        };
    };
    if let Some(refusal) = refusal.try_downcast_ref::<MySqlDatabaseError>() {
        return match refusal.number() {
            1205 | 1213 | 3572 => busy,
            1021 | 1037 | 1038 | 1041 | 1114 => exhausted,
            1040 | 1053 | 1158..=1161 | 1203 | 1226 | 1317 | 1927 => away,
            _ => statement,
        };
    }
    if let Some(refusal) = refusal.try_downcast_ref::<PgDatabaseError>() {
        return match refusal.code() {
            "40001" | "40P01" | "55P03" => busy,
            "53300" => away,
            code if code.starts_with("53") => exhausted,
            code if code.starts_with("08") || code.starts_with("57") => away,
            _ => statement,
        };
    }
    match refusal.code().and_then(|code| code.parse::<i32>().ok()).map(|code| code & 0xff) {
        Some(5 | 6) => busy,
        Some(7 | 13) => exhausted,
        Some(10) => away,
        _ => statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_prepared_statement_of_postgres_gives_reads_as_psql_shows_it() {
        let micros = |text: i64| text.to_be_bytes();
        assert_eq!(postgres_binary("INT4", &(-7i32).to_be_bytes()), json!(-7));
        assert_eq!(postgres_binary("INT8", &i64::MIN.to_be_bytes()), json!(i64::MIN));
        assert_eq!(postgres_binary("DATE", &9_556i32.to_be_bytes()), json!("2026-03-01"));
        assert_eq!(postgres_binary("DATE", &(-1i32).to_be_bytes()), json!("1999-12-31"));
        assert_eq!(postgres_binary("TIMESTAMP", &micros(-1)), json!("1999-12-31 23:59:59.999999"));
        assert_eq!(postgres_binary("TIMESTAMPTZ", &micros(86_400_000_000)), json!("2000-01-02 00:00:00+00"));
        assert_eq!(postgres_binary("JSONB", b"\x01{\"a\":1}"), json!({"a": 1}));
        assert_eq!(postgres_binary("BYTEA", &[0, 255]), json!("0x00ff"));
        for (words, text) in [
            (vec![2, 1, 0, 2, 1, 2345, 6700], "12345.67"),
            (vec![1, -1, 0x4000, 3, 50], "-0.005"),
            (vec![0, 0, 0, 0], "0"),
            (vec![1, 1, 0, 0, 3], "30000"),
            (vec![1, -2, 0, 8, 1], "0.00000001"),
        ] {
            let bytes: Vec<u8> = words.iter().flat_map(|word: &i16| word.to_be_bytes()).collect();
            assert_eq!(postgres_binary("NUMERIC", &bytes), json!(text));
        }
    }

    #[test]
    fn what_a_prepared_statement_of_mysql_gives_reads_as_its_client_shows_it() {
        assert_eq!(mysql_binary("TINYINT", &[0xff]), json!(-1));
        assert_eq!(mysql_binary("TINYINT UNSIGNED", &[0xff]), json!(255));
        assert_eq!(mysql_binary("BIGINT", &(-5i64).to_le_bytes()), json!(-5));
        assert_eq!(mysql_binary("DATE", &[4, 0xea, 7, 11, 21]), json!("2026-11-21"));
        assert_eq!(mysql_binary("DATETIME", &[7, 0xea, 7, 11, 21, 2, 5, 9]), json!("2026-11-21 02:05:09"));
        assert_eq!(mysql_binary("TIME", &[8, 1, 1, 0, 0, 0, 2, 3, 4]), json!("-26:03:04"));
        assert_eq!(mysql_binary("TIME", &[0]), json!("00:00:00"));
        assert_eq!(mysql_binary("DECIMAL", b"12.50"), json!("12.50"));
        assert_eq!(from_text("BIGINT UNSIGNED", b"18446744073709551615"), json!(u64::MAX));
        assert_eq!(from_text("BLOB", b"{\"a\":1}"), json!("{\"a\":1}"));
    }
}
