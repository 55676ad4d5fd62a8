//! Where a program keeps everything and meets others: the database of its data folder and nobody or, where its
//! configuration names them, the database that it shares with others and the Redis that they meet in.
//!
//! Without a Redis nodes look for each other's work in the database. What is in the folder besides (logs, secrets,
//! children of tasks) stays there and is not shared.

use std::sync::Arc;

use campanile_api::views::LocksKept;
use campanile_coord::locks::{LockTable, Quorum};
use campanile_coord::{Coord, LocalCoord, LocalLocks, spans};
use campanile_coord_redis::{Place, Redis, RedisCoord, RedisLocks};
use campanile_engine::{Clock, SystemClock};
use campanile_model::{Code, Fault, Words};
use campanile_store::{Archive, Store, StoreError};
use campanile_store_mysql::{Manner, MysqlStore};
use campanile_store_sqlite::SqliteStore;

use crate::Who;
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
    locked_in: LockedIn,
}

/// Where locks are kept.
#[derive(Clone)]
enum LockedIn {
    /// In this process, which is the only one that gives them out.
    Here,
    Redis(Redis),
    /// Servers that share nothing.
    Several(Vec<Redis>),
    /// Others give them out too, and there is no place to meet.
    Nowhere,
}

impl Backend {
    /// A console takes the team's database as it is; every other program brings its own up to date.
    pub async fn open(data: &DataFolder, config: &Config, who: Who) -> Result<Backend, Fault> {
        let Some(url) = config.text("database.url") else {
            let kept = Kept::Folder(Arc::new(SqliteStore::open(&data.database()).await?));
            let coord = Arc::new(LocalCoord::default());
            return Ok(Backend { kept, coord, locked_in: LockedIn::Here });
        };
        // A Redis that does not answer is no reason not to begin; one that cannot be an address is.
        let redis = place(config).map(Redis::at).transpose().map_err(|_| no_redis("redis.url"))?;
        let coord: Arc<dyn Coord> = match &redis {
            Some(redis) => Arc::new(RedisCoord::on(redis, rand::random())),
            None => Arc::new(LocalCoord::default()),
        };
        let locked_in = match (several(config)?, redis) {
            (Some(several), _) => LockedIn::Several(several),
            (None, Some(redis)) => LockedIn::Redis(redis),
            (None, None) => LockedIn::Nowhere,
        };
        let manner = Manner::default();
        let connections = config.number("database.connections").unwrap_or(manner.connections);
        let manner = Manner { connections, ..manner };
        let store = match who {
            Who::Console => MysqlStore::open_to_look(url, manner).await?,
            _ => MysqlStore::open_in(url, manner).await?,
        };
        let store = Arc::new(store);
        let clock = Arc::new(TeamClock::open(store.clone()).await?);
        Ok(Backend { kept: Kept::Team(store, clock), coord, locked_in })
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

    /// Where locks are kept; for one program that gives them out, once. None: there is no place that others see too.
    pub fn lock_table(&self) -> Option<Arc<dyn LockTable>> {
        match &self.locked_in {
            LockedIn::Here => Some(Arc::new(LocalLocks::new(spans()))),
            LockedIn::Redis(redis) => Some(Arc::new(RedisLocks::on(redis))),
            LockedIn::Several(several) => {
                let tables = several.iter().map(|redis| Arc::new(RedisLocks::on(redis)) as _).collect();
                Quorum::new(tables, spans()).ok().map(|quorum| Arc::new(quorum) as _)
            }
            LockedIn::Nowhere => None,
        }
    }

    /// The same for people.
    pub fn locks_kept(&self) -> Option<LocksKept> {
        match &self.locked_in {
            LockedIn::Here => Some(LocksKept::Process),
            LockedIn::Redis(_) => Some(LocksKept::Redis),
            LockedIn::Several(_) => Some(LocksKept::Majority),
            LockedIn::Nowhere => None,
        }
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

/// Servers that keep locks by majority.
fn several(config: &Config) -> Result<Option<Vec<Redis>>, Fault> {
    let Some(urls) = config.text("redis.locks") else { return Ok(None) };
    let several: Vec<Redis> = urls
        .split_whitespace()
        .map(|url| Redis::at(Place::Single(url.to_owned())).map_err(|_| no_redis("redis.locks")))
        .collect::<Result<_, _>>()?;
    if several.len() < 3 || several.len().is_multiple_of(2) {
        let reason = Words::new(
            format!("redis.locks: a majority needs three or five servers, not {}", several.len()),
            format!("redis.locks：多数表决需要三个或五个服务器，而不是 {} 个", several.len()),
        );
        return Err(Code::ConfigInvalid.fault().with_words("reason", &reason));
    }
    Ok(Some(several))
}

/// What is wrong with an address is not repeated: there may be a password in it.
fn no_redis(key: &str) -> Fault {
    let reason = Words::new(
        format!("{key}: it is not a redis:// or rediss:// address"),
        format!("{key}：不是 redis:// 或 rediss:// 地址"),
    );
    Code::ConfigInvalid.fault().with_words("reason", &reason)
}
