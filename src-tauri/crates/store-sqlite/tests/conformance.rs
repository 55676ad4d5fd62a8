//! The promises of the contract, kept on SQLite.

use std::ops::Deref;

use campanile_store_sqlite::SqliteStore;
use tempfile::TempDir;

struct Fresh {
    store: SqliteStore,
    _folder: TempDir,
}

impl Deref for Fresh {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

async fn fresh() -> Fresh {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.expect("a new database");
    Fresh { store, _folder: folder }
}

campanile_store::conformance!(fresh);
campanile_store::archive_conformance!(fresh);
