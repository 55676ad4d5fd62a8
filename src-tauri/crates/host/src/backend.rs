//! Where a program keeps everything: the database of its data folder or, where its configuration names one, the one
//! that it shares with others.
//!
//! What is in the folder besides (logs, secrets, children of tasks) stays there and is not shared.

use std::sync::Arc;

use campanile_engine::{Clock, SystemClock};
use campanile_model::Fault;
use campanile_store::{Archive, Store, StoreError};
use campanile_store_mysql::{Manner, MysqlStore};
use campanile_store_sqlite::SqliteStore;

use crate::config::Config;
use crate::folder::DataFolder;
use crate::team_clock::TeamClock;

#[derive(Clone)]
pub(crate) enum Backend {
    Folder(Arc<SqliteStore>),
    Team(Arc<MysqlStore>, Arc<TeamClock>),
}

impl Backend {
    pub async fn open(data: &DataFolder, config: &Config) -> Result<Backend, Fault> {
        let Some(url) = config.text("database.url") else {
            return Ok(Backend::Folder(Arc::new(SqliteStore::open(&data.database()).await?)));
        };
        let manner = Manner::default();
        let connections = config.number("database.connections").unwrap_or(manner.connections);
        let store = Arc::new(MysqlStore::open_in(url, Manner { connections, ..manner }).await?);
        let clock = Arc::new(TeamClock::open(store.clone()).await?);
        Ok(Backend::Team(store, clock))
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Backend::Folder(store) => store.clone(),
            Backend::Team(store, _) => store.clone(),
        }
    }

    pub fn archive(&self) -> Arc<dyn Archive> {
        match self {
            Backend::Folder(store) => store.clone(),
            Backend::Team(store, _) => store.clone(),
        }
    }

    /// The time that its node goes by.
    pub fn clock(&self) -> Arc<dyn Clock> {
        match self {
            Backend::Folder(_) => Arc::new(SystemClock),
            Backend::Team(_, clock) => clock.clone(),
        }
    }

    /// Sent by this program so far.
    pub fn statements(&self) -> u64 {
        match self {
            Backend::Folder(store) => store.statements(),
            Backend::Team(store, _) => store.statements(),
        }
    }

    pub async fn close(&self) -> Result<(), StoreError> {
        match self {
            Backend::Folder(store) => store.close().await,
            Backend::Team(store, _) => {
                store.close().await;
                Ok(())
            }
        }
    }
}
