//! Where a program keeps everything: the database of its data folder or, where `team.json` lies in the folder, the one
//! that it shares with others.
//!
//! ```json
//! {"database": "mysql://campanile:secret@db.example.com/campanile"}
//! ```
//!
//! Read once, when the folder is opened. The file holds a password: one that others may read is refused. What is in the
//! folder besides (logs, secrets, children of tasks) stays there and is not shared.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

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
}

#[derive(Clone)]
pub(crate) enum Backend {
    Folder(Arc<SqliteStore>),
    Team(Arc<MysqlStore>),
}

impl Backend {
    pub async fn open(data: &DataFolder) -> Result<Backend, Fault> {
        match team(&data.team())? {
            None => Ok(Backend::Folder(Arc::new(SqliteStore::open(&data.database()).await?))),
            Some(team) => Ok(Backend::Team(Arc::new(MysqlStore::open(&team.database).await?))),
        }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Backend::Folder(store) => store.clone(),
            Backend::Team(store) => store.clone(),
        }
    }

    pub fn archive(&self) -> Arc<dyn Archive> {
        match self {
            Backend::Folder(store) => store.clone(),
            Backend::Team(store) => store.clone(),
        }
    }

    /// Sent by this program so far.
    pub fn statements(&self) -> u64 {
        match self {
            Backend::Folder(store) => store.statements(),
            Backend::Team(store) => store.statements(),
        }
    }

    pub async fn close(&self) -> Result<(), StoreError> {
        match self {
            Backend::Folder(store) => store.close().await,
            Backend::Team(store) => {
                store.close().await;
                Ok(())
            }
        }
    }
}

/// None: there is no such file, and the folder is all there is.
fn team(file: &Path) -> Result<Option<Team>, Fault> {
    let trouble = |reason: String| {
        let reason = format!("{}: {reason}", file.display());
        Code::StorageUnavailable.fault().with("reason", reason)
    };
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
