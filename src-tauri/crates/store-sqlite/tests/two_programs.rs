//! The promises of the contract, kept while two programs have the file open: every call goes to the other one.

use std::ops::Deref;

use campanile_store::conformance::in_turn::InTurn;
use campanile_store_sqlite::SqliteStore;
use tempfile::TempDir;

struct Fresh {
    programs: InTurn<SqliteStore>,
    _folder: TempDir,
}

impl Deref for Fresh {
    type Target = InTurn<SqliteStore>;

    fn deref(&self) -> &InTurn<SqliteStore> {
        &self.programs
    }
}

/// Both open the file at the same moment: one of them makes it.
async fn fresh() -> Fresh {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("campanile.db");
    let (one, other) = tokio::join!(SqliteStore::open(&path), SqliteStore::open(&path));
    let stores = [one.expect("a new database"), other.expect("the same database")];
    Fresh { programs: InTurn::new(stores), _folder: folder }
}

campanile_store::conformance!(fresh);
