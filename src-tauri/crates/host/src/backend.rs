//! Where a program keeps everything and meets others: the database of its data folder and nobody or, where its
//! configuration names them, the database that it shares with others and the Redis that they meet in.
//!
//! Without a Redis nodes look for each other's work in the database. What is in the folder besides (logs, secrets,
//! children of tasks) stays there and is not shared.

use std::sync::Arc;

use campanile_coord::{Coord, LocalCoord};
use campanile_coord_redis::{Place, Redis, RedisCoord};
use campanile_engine::{Clock, SystemClock};
use campanile_model::{Code, Fault, Words};
use campanile_store::{Archive, Store, StoreError};
use campanile_store_mysql::{Manner, MysqlStore};
use campanile_store_sqlite::SqliteStore;

use crate::config::Config;
use crate::folder::DataFolder;
use crate::team_clock::TeamClock;

#[derive(Clone)]
enum Kept {
    Folder(Arc<SqliteStore>),
    Team(Arc<MysqlStore>, Arc<TeamClock>),
}

#[derive(Clone)]
pub(crate) struct Backend {
    kept: Kept,
    coord: Arc<dyn Coord>,
}

impl Backend {
    pub async fn open(data: &DataFolder, config: &Config) -> Result<Backend, Fault> {
        let Some(url) = config.text("database.url") else {
            let kept = Kept::Folder(Arc::new(SqliteStore::open(&data.database()).await?));
            return Ok(Backend { kept, coord: Arc::new(LocalCoord::default()) });
        };
        // A Redis that does not answer is no reason not to begin; one that cannot be an address is.
        let coord: Arc<dyn Coord> = match place(config) {
            Some(place) => Arc::new(RedisCoord::on(&Redis::at(place).map_err(|_| no_redis())?, rand::random())),
            None => Arc::new(LocalCoord::default()),
        };
        let manner = Manner::default();
        let connections = config.number("database.connections").unwrap_or(manner.connections);
        let store = Arc::new(MysqlStore::open_in(url, Manner { connections, ..manner }).await?);
        let clock = Arc::new(TeamClock::open(store.clone()).await?);
        Ok(Backend { kept: Kept::Team(store, clock), coord })
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match &self.kept {
            Kept::Folder(store) => store.clone(),
            Kept::Team(store, _) => store.clone(),
        }
    }

    pub fn archive(&self) -> Arc<dyn Archive> {
        match &self.kept {
            Kept::Folder(store) => store.clone(),
            Kept::Team(store, _) => store.clone(),
        }
    }

    /// The time that its node goes by.
    pub fn clock(&self) -> Arc<dyn Clock> {
        match &self.kept {
            Kept::Folder(_) => Arc::new(SystemClock),
            Kept::Team(_, clock) => clock.clone(),
        }
    }

    /// The clock of a team, which wants to be measured; none on a folder.
    pub fn team_clock(&self) -> Option<&Arc<TeamClock>> {
        match &self.kept {
            Kept::Folder(_) => None,
            Kept::Team(_, clock) => Some(clock),
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
            Kept::Team(store, _) => store.statements(),
        }
    }

    /// `node` is what this program was called.
    pub async fn close(&self, node: &str) -> Result<(), StoreError> {
        self.coord.leave(node).await;
        match &self.kept {
            Kept::Folder(store) => store.close().await,
            Kept::Team(store, _) => {
                store.close().await;
                Ok(())
            }
        }
    }
}

/// One address is a server; several are a Cluster or, with the name of a master, Sentinels.
fn place(config: &Config) -> Option<Place> {
    let urls: Vec<String> = config.text("redis.url")?.split_whitespace().map(str::to_owned).collect();
    Some(match (config.text("redis.master"), urls.as_slice()) {
        (Some(master), _) => Place::Sentinel { sentinels: urls, master: master.to_owned() },
        (None, [one]) => Place::Single(one.clone()),
        (None, _) => Place::Cluster(urls),
    })
}

/// What is wrong with an address is not repeated: there may be a password in it.
fn no_redis() -> Fault {
    let reason = Words::new(
        "redis.url: it is not a redis:// or rediss:// address",
        "redis.url：不是 redis:// 或 rediss:// 地址",
    );
    Code::ConfigInvalid.fault().with_words("reason", &reason)
}
