//! Finds out whether a connection can be used, and if not, what exactly is in the way: each step on the way to the
//! database is taken by itself, so that the one that fails has a name.
//!
//! It reads nothing but what the server says of its version.

use std::{io, path::Path, str::FromStr as _, time::Duration};

use sqlx::{
    Connection as _,
    mysql::{MySqlConnection, MySqlDatabaseError},
    postgres::{PgConnection, PgDatabaseError},
    sqlite::{SqliteConnectOptions, SqliteConnection},
};
use tokio::{net, time::timeout};

/// The whole check takes no longer.
pub const CHECK_WITHIN: Duration = Duration::from_secs(5);

/// What is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    HostUnknown {
        host: String,
        detail: String,
    },
    Refused {
        address: String,
        detail: String,
    },
    Silent {
        address: String,
    },
    LoginRefused {
        user: String,
        detail: String,
    },
    DatabaseMissing {
        database: String,
        detail: String,
    },
    /// The database, or what answers in its place, says something else.
    Other {
        detail: String,
    },
}

/// What the server says it is, where everything is well.
pub async fn check_connection(url: &str) -> Result<String, Obstacle> {
    if url.starts_with("sqlite:") {
        return limited(url, sqlite(url)).await;
    }
    let parsed = reqwest::Url::parse(url).map_err(|error| other(&error))?;
    let mysql = matches!(parsed.scheme(), "mysql" | "mariadb");
    if !mysql && !matches!(parsed.scheme(), "postgres" | "postgresql") {
        return Err(Obstacle::Other { detail: "the address must begin with mysql:, postgres: or sqlite:".to_owned() });
    }
    let host = parsed.host_str().unwrap_or("localhost").trim_matches(['[', ']']).to_owned();
    let port = parsed.port().unwrap_or(if mysql { 3306 } else { 5432 });
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let whole = async {
        reach(&host, port, &address).await?;
        let user = percent_decoded(parsed.username());
        let database = percent_decoded(parsed.path().trim_start_matches('/'));
        let version = if mysql { mysql_version(url).await } else { postgres_version(url).await };
        version.map_err(|error| judge(&error, user, database))
    };
    limited(&address, whole).await
}

async fn limited(address: &str, check: impl Future<Output = Result<String, Obstacle>>) -> Result<String, Obstacle> {
    match timeout(CHECK_WITHIN, check).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Obstacle::Silent { address: address.to_owned() }),
    }
}

/// Whether the host has an address, and something there takes connections.
async fn reach(host: &str, port: u16, address: &str) -> Result<(), Obstacle> {
    let unknown = |detail: String| Obstacle::HostUnknown { host: host.to_owned(), detail };
    // A little less than the whole, so that it is known which step was silent.
    let found = match timeout(CHECK_WITHIN * 4 / 5, net::lookup_host((host, port))).await {
        Ok(Ok(found)) => found.collect::<Vec<_>>(),
        Ok(Err(error)) => return Err(unknown(error.to_string())),
        Err(_) => return Err(unknown("nobody answers who knows names".to_owned())),
    };
    match net::TcpStream::connect(found.as_slice()).await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Obstacle::Silent { address: address.to_owned() }),
        Err(error) => Err(Obstacle::Refused { address: address.to_owned(), detail: error.to_string() }),
    }
}

async fn mysql_version(url: &str) -> Result<String, sqlx::Error> {
    let mut connection = MySqlConnection::connect(url).await?;
    let version: String = sqlx::query_scalar("SELECT VERSION()").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(if version.contains("MariaDB") { version } else { format!("MySQL {version}") })
}

async fn postgres_version(url: &str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(format!("PostgreSQL {version}"))
}

async fn sqlite(url: &str) -> Result<String, Obstacle> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| other(&error))?.create_if_missing(false);
    let path = options.get_filename().to_owned();
    if !url.contains(":memory:")
        && let Err(error) = tokio::fs::File::open(&path).await
    {
        let database = path.display().to_string();
        return Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(&path, &error),
            _ => Obstacle::Other { detail: format!("{database}: {error}") },
        });
    }
    let version = async {
        let mut connection = SqliteConnection::connect_with(&options).await?;
        // A file that is no database is noticed only when something is read from it.
        sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&mut connection).await?;
        let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok::<_, sqlx::Error>(version)
    };
    version.await.map(|version| format!("SQLite {version}")).map_err(|error| other(&said(&error)))
}

fn missing(path: &Path, error: &io::Error) -> Obstacle {
    Obstacle::DatabaseMissing { database: path.display().to_string(), detail: error.to_string() }
}

fn judge(error: &sqlx::Error, user: String, database: String) -> Obstacle {
    let detail = said(error);
    let Some(refusal) = error.as_database_error() else { return Obstacle::Other { detail } };
    if let Some(refusal) = refusal.try_downcast_ref::<MySqlDatabaseError>() {
        return match refusal.number() {
            1045 | 1044 | 1130 | 1251 | 1698 | 1862 | 3118 | 4151 => Obstacle::LoginRefused { user, detail },
            1049 => Obstacle::DatabaseMissing { database, detail },
            _ => Obstacle::Other { detail },
        };
    }
    if let Some(refusal) = refusal.try_downcast_ref::<PgDatabaseError>() {
        return match refusal.code() {
            "28P01" | "28000" | "42501" => Obstacle::LoginRefused { user, detail },
            "3D000" => Obstacle::DatabaseMissing { database, detail },
            _ => Obstacle::Other { detail },
        };
    }
    Obstacle::Other { detail }
}

fn said(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}

fn other(error: &dyn ToString) -> Obstacle {
    Obstacle::Other { detail: error.to_string() }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let coded = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match coded {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_step_that_fails_is_named() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("it has one").port();
        drop(free);
        let refused = check_connection(&format!("mysql://u:p@127.0.0.1:{port}/d")).await;
        assert!(
            matches!(&refused, Err(Obstacle::Refused { address, .. }) if *address == format!("127.0.0.1:{port}")),
            "{refused:?}"
        );

        let unknown = check_connection("postgres://u:p@no-such-host.invalid/d").await;
        assert!(
            matches!(&unknown, Err(Obstacle::HostUnknown { host, .. }) if host == "no-such-host.invalid"),
            "{unknown:?}"
        );

        let folder = tempfile::tempdir().expect("a folder");
        let missing = check_connection(&format!("sqlite:{}/no%3F.db", folder.path().display())).await;
        assert!(
            matches!(&missing, Err(Obstacle::DatabaseMissing { database, .. }) if database.ends_with("no?.db")),
            "{missing:?}"
        );

        let file = folder.path().join("text.db");
        std::fs::write(&file, "this is a text, and no database at all, however long one reads on in it")
            .expect("a file");
        let text = check_connection(&format!("sqlite:{}", file.display())).await;
        assert!(matches!(&text, Err(Obstacle::Other { detail }) if detail.contains("not a database")), "{text:?}");

        let file = folder.path().join("empty.db");
        std::fs::write(&file, "").expect("a file");
        let well = check_connection(&format!("sqlite:{}", file.display())).await;
        assert!(well.as_ref().is_ok_and(|said| said.starts_with("SQLite 3")), "{well:?}");
    }

    #[test]
    fn what_was_encoded_for_the_address_is_read_as_it_was_written() {
        assert_eq!(percent_decoded("a%40b%E4%B8%AD%"), "a@b中%");
    }
}
