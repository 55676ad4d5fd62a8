//! Makes a database ours: looks at the server and at what is there, and brings the schema up to date.
//!
//! Neither server undoes a change of its schema, so a migration goes step by step, and how many of its steps were
//! taken is written down after each. Whoever finds one half done goes on from there; of the step that was under way
//! when a node went nobody knows whether it was taken, so what it says is there already counts as taken. A lock of the
//! server, held by the connection, lets one node at a time do this.

use campanile_store::{Result, StoreError};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, MySqlConnection, Row as _};

use crate::error;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Where it is written how far the schema has come; also the mark by which the database is known to be ours.
const TABLE: &str = "campanile_schema";

/// How long a node waits for another that migrates.
const LOCK_SECONDS: u32 = 600;

/// The oldest servers whose statements we can use.
const OLDEST_MYSQL: (u32, u32) = (8, 0);
const OLDEST_MARIADB: (u32, u32) = (10, 6);

enum Refusal {
    Ours(StoreError),
    Theirs(sqlx::Error),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Refusal::Theirs(error)
    }
}

/// How far the schema has come: whole migrations, and steps of the next.
struct Come {
    version: i64,
    steps: i64,
}

/// What becomes of a schema that is older than ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Older {
    /// It is brought up to date.
    Migrate,
    Refuse,
}

/// Hands back the largest packet that the server takes.
pub(crate) async fn prepare(connection: &mut MySqlConnection, address: &str, older: Older) -> Result<u64> {
    match prepared(connection, older).await {
        Ok(largest) => Ok(largest),
        Err(Refusal::Ours(error)) => Err(error),
        Err(Refusal::Theirs(error)) => Err(error::sorted(error, address)),
    }
}

async fn prepared(connection: &mut MySqlConnection, older: Older) -> std::result::Result<u64, Refusal> {
    let server = sqlx::query("SELECT VERSION() AS version, CAST(@@max_allowed_packet AS SIGNED) AS largest")
        .fetch_one(&mut *connection)
        .await?;
    let version: String = server.try_get("version")?;
    if let Some(reason) = too_old(&version) {
        return Err(Refusal::Ours(StoreError::Unavailable(reason.into())));
    }
    let largest: i64 = server.try_get("largest")?;
    let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    // A schema that is as we know it needs neither the lock nor the right to change one.
    match come(connection).await? {
        Some(come) if come.version > known => return Err(newer(come.version, known)),
        Some(come) if come.version == known => {}
        come if older == Older::Refuse => {
            let found = come.map_or(0, |come| come.version);
            return Err(Refusal::Ours(StoreError::Older { found, known }));
        }
        _ => locked(connection, known).await?,
    }
    Ok(largest.unsigned_abs())
}

fn newer(found: i64, known: i64) -> Refusal {
    Refusal::Ours(StoreError::Newer { found, known })
}

/// Why the server cannot be used; none where it can.
fn too_old(version: &str) -> Option<String> {
    let is_mariadb = version.contains("MariaDB");
    // MariaDB 10 went as a MySQL 5.5.5 for the sake of old replicas.
    let plain = version.strip_prefix("5.5.5-").filter(|_| is_mariadb).unwrap_or(version);
    let mut numbers = plain.split(|letter: char| !letter.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let (name, oldest) = if is_mariadb { ("MariaDB", OLDEST_MARIADB) } else { ("MySQL", OLDEST_MYSQL) };
    (found < oldest).then(|| format!("{name} {}.{} or newer is needed; this is {version}", oldest.0, oldest.1))
}

/// None: the database is empty.
async fn come(connection: &mut MySqlConnection) -> std::result::Result<Option<Come>, Refusal> {
    let tables = sqlx::query(
        "SELECT COUNT(*) AS tables_there, CAST(COALESCE(SUM(table_name = ?), 0) AS SIGNED) AS ours
         FROM information_schema.tables WHERE table_schema = DATABASE()",
    )
    .bind(TABLE)
    .fetch_one(&mut *connection)
    .await?;
    let (there, ours): (i64, i64) = (tables.try_get("tables_there")?, tables.try_get("ours")?);
    if there == 0 {
        return Ok(None);
    }
    if ours == 0 {
        let reason = "the database has tables of another program in it";
        return Err(Refusal::Ours(StoreError::Damaged(reason.to_owned())));
    }
    let row = sqlx::query("SELECT version, steps FROM campanile_schema").fetch_optional(&mut *connection).await?;
    match row {
        Some(row) => Ok(Some(Come { version: row.try_get("version")?, steps: row.try_get("steps")? })),
        None => Ok(Some(Come { version: 0, steps: 0 })),
    }
}

async fn locked(connection: &mut MySqlConnection, known: i64) -> std::result::Result<(), Refusal> {
    // Names of locks are the server's, and short.
    let got: Option<i64> =
        sqlx::query_scalar("SELECT GET_LOCK(CONCAT('campanile ', LEFT(SHA2(DATABASE(), 256), 40)), ?) AS got")
            .bind(LOCK_SECONDS)
            .fetch_one(&mut *connection)
            .await?;
    if got != Some(1) {
        let reason = "another node has been changing the schema for ten minutes";
        return Err(Refusal::Ours(StoreError::Unavailable(reason.into())));
    }
    // The lock ends with its connection, which the caller closes.
    migrated(connection, known).await
}

async fn migrated(connection: &mut MySqlConnection, known: i64) -> std::result::Result<(), Refusal> {
    let found = match come(connection).await? {
        Some(come) => come,
        None => {
            let made = "CREATE TABLE IF NOT EXISTS campanile_schema (
                            version BIGINT NOT NULL, -- of the last migration that was taken whole
                            steps   BIGINT NOT NULL  -- of the next one
                        ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin";
            sqlx::raw_sql(made).execute(&mut *connection).await?;
            Come { version: 0, steps: 0 }
        }
    };
    if found.version > known {
        return Err(newer(found.version, known));
    }
    let mut before = usize::try_from(found.steps).unwrap_or(0);
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found.version) {
        let steps = steps_of(migration.sql.as_str());
        for (n, step) in steps.iter().enumerate().skip(before) {
            let taken = sqlx::raw_sql(AssertSqlSafe(step.clone())).execute(&mut *connection).await;
            match taken {
                Err(error) if n == before && error::was_done_already(&error) => {}
                outcome => {
                    outcome?;
                }
            }
            if n + 1 < steps.len() {
                come_to(connection, migration.version - 1, n + 1).await?;
            }
        }
        come_to(connection, migration.version, 0).await?;
        before = 0;
    }
    Ok(())
}

async fn come_to(connection: &mut MySqlConnection, version: i64, steps: usize) -> std::result::Result<(), sqlx::Error> {
    let text = format!("DELETE FROM {TABLE}; INSERT INTO {TABLE} (version, steps) VALUES ({version}, {steps})");
    sqlx::raw_sql(AssertSqlSafe(format!("START TRANSACTION; {text}; COMMIT"))).execute(connection).await?;
    Ok(())
}

/// A step ends with a semicolon at the end of its line.
fn steps_of(migration: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut step = String::new();
    for line in migration.lines() {
        step.push_str(line);
        step.push('\n');
        if line.trim_end().ends_with(';') && !line.trim_start().starts_with("--") {
            steps.push(step.trim().trim_end_matches(';').to_owned());
            step.clear();
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_is_told_by_its_version() {
        for (version, is_too_old) in [
            ("8.0.36", false),
            ("8.4.2-log", false),
            ("9.1.0", false),
            ("5.7.44", true),
            ("10.11.19-MariaDB-0+deb12u1", false),
            ("10.6.0-MariaDB", false),
            ("11.4.2-MariaDB-log", false),
            ("10.5.23-MariaDB", true),
            ("5.5.5-10.11.6-MariaDB", false),
            ("5.5.5-10.4.1-MariaDB", true),
            ("a riddle", true),
        ] {
            assert_eq!(too_old(version).is_some(), is_too_old, "{version}");
        }
    }

    #[test]
    fn a_migration_is_cut_into_its_steps() {
        let steps =
            steps_of("-- one; or two;\nCREATE TABLE a (\n  b INT -- what; is it\n);\n\nINSERT INTO a\n VALUES (1);\n");
        assert_eq!(steps.len(), 2);
        assert!(steps[0].starts_with("-- one") && steps[0].ends_with(')'));
        assert_eq!(steps[1], "INSERT INTO a\n VALUES (1)");
        assert!(MIGRATIONS.iter().all(|migration| !steps_of(migration.sql.as_str()).is_empty()));
    }
}
