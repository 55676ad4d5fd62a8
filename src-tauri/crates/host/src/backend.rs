//! Where a program keeps everything and meets others: the database of its data folder and nobody or, where `team.json`
//! lies in the folder, the database that it shares with others and the Redis that they meet in.
//!
//! ```json
//! {
//!   "database": "mysql://campanile:secret@db.example.com/campanile",
//!   "redis": "redis://:secret@redis.example.com"
//! }
//! ```
//!
//! Instead of one server `redis` may be `{"sentinels": ["redis://..", ..], "master": ".."}` or
//! `{"cluster": ["redis://..", ..]}`; without it nodes look for each other's work in the database. Read once, when the
//! folder is opened. The file holds passwords: one that others may read is refused. What is in the folder besides (logs,
//! secrets, children of tasks) stays there and is not shared.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use campanile_coord::{Coord, LocalCoord};
use campanile_coord_redis::{Place, Redis, RedisCoord};
use campanile_model::{Code, Fault};
use campanile_store::{Archive, Store, StoreError};
use campanile_store_mysql::MysqlStore;
use campanile_store_sqlite::SqliteStore;
use serde::Deserialize;

use crate::folder::DataFolder;
use crate::keychain::private;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Team {
    database: String,
    redis: Option<RedisPlace>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum RedisPlace {
    Single(String),
    Sentinel { sentinels: Vec<String>, master: String },
    Cluster { cluster: Vec<String> },
}

impl RedisPlace {
    fn place(self) -> Place {
        match self {
            RedisPlace::Single(url) => Place::Single(url),
            RedisPlace::Sentinel { sentinels, master } => Place::Sentinel { sentinels, master },
            RedisPlace::Cluster { cluster } => Place::Cluster(cluster),
        }
    }
}

#[derive(Clone)]
enum Kept {
    Folder(Arc<SqliteStore>),
    Team(Arc<MysqlStore>),
}

#[derive(Clone)]
pub(crate) struct Backend {
    kept: Kept,
    coord: Arc<dyn Coord>,
}

impl Backend {
    pub async fn open(data: &DataFolder) -> Result<Backend, Fault> {
        let Some(team) = team(&data.team())? else {
            let kept = Kept::Folder(Arc::new(SqliteStore::open(&data.database()).await?));
            return Ok(Backend { kept, coord: Arc::new(LocalCoord::default()) });
        };
        let redis = team.redis.map(|redis| Redis::at(redis.place())).transpose();
        // What is wrong with an address is not repeated: there may be a password in it.
        let redis = redis.map_err(|_| trouble(&data.team(), "its redis is not a redis:// or rediss:// address"))?;
        let kept = Kept::Team(Arc::new(MysqlStore::open(&team.database).await?));
        // A Redis that does not answer is no reason not to begin.
        let coord: Arc<dyn Coord> = match redis {
            Some(redis) => Arc::new(RedisCoord::on(&redis, rand::random())),
            None => Arc::new(LocalCoord::default()),
        };
        Ok(Backend { kept, coord })
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match &self.kept {
            Kept::Folder(store) => store.clone(),
            Kept::Team(store) => store.clone(),
        }
    }

    pub fn archive(&self) -> Arc<dyn Archive> {
        match &self.kept {
            Kept::Folder(store) => store.clone(),
            Kept::Team(store) => store.clone(),
        }
    }

    /// Where this program meets the others.
    pub fn coord(&self) -> Arc<dyn Coord> {
        self.coord.clone()
    }

    /// Sent by this program so far.
    pub fn statements(&self) -> u64 {
        match &self.kept {
            Kept::Folder(store) => store.statements(),
            Kept::Team(store) => store.statements(),
        }
    }

    /// `node` is what this program was called.
    pub async fn close(&self, node: &str) -> Result<(), StoreError> {
        self.coord.leave(node).await;
        match &self.kept {
            Kept::Folder(store) => store.close().await,
            Kept::Team(store) => {
                store.close().await;
                Ok(())
            }
        }
    }
}

fn trouble(file: &Path, reason: &str) -> Fault {
    let reason = format!("{}: {reason}", file.display());
    Code::StorageUnavailable.fault().with("reason", reason)
}

/// None: there is no such file, and the folder is all there is.
fn team(file: &Path) -> Result<Option<Team>, Fault> {
    let trouble = |reason: String| trouble(file, &reason);
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(trouble(error.to_string())),
    };
    private(file).map_err(|error| trouble(error.to_string()))?;
    // Of what stands in the file nothing is repeated: it holds a password.
    let team: Team = serde_json::from_str(&text)
        .map_err(|error| trouble(format!("line {}, column {}: not a team", error.line(), error.column())))?;
    if !team.database.starts_with("mysql://") {
        return Err(trouble("its database is not a mysql:// address".to_owned()));
    }
    Ok(Some(team))
}
