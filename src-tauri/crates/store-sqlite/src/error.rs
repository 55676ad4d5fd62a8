//! From what SQLite says to what can be done about it.

use std::fs;
use std::io;
use std::path::Path;

use campanile_store::StoreError;

// Primary result codes of SQLite; the extended ones carry them in their low byte.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READONLY: i32 = 8;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const NOTADB: i32 = 26;

/// The shared-memory file could not grow: in practice the disk is full.
const IOERR_SHMSIZE: i32 = 4874;

fn code_of(error: &sqlx::Error) -> Option<i32> {
    match error {
        sqlx::Error::Database(database) => database.code()?.parse().ok(),
        _ => None,
    }
}

pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code_of(error).map(|code| code & 0xff), Some(BUSY | LOCKED))
}

/// For everything but a COMMIT: nothing of what failed has been written.
pub(crate) fn sorted(error: sqlx::Error, folder: &str) -> StoreError {
    let Some(code) = code_of(&error) else {
        return match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
                StoreError::Damaged(error.to_string())
            }
            _ => StoreError::Unavailable(error.into()),
        };
    };
    if code == IOERR_SHMSIZE {
        return StoreError::DiskFull;
    }
    match code & 0xff {
        FULL => StoreError::DiskFull,
        READONLY => StoreError::ReadOnly(folder.to_owned()),
        CORRUPT | NOTADB => StoreError::Damaged(error.to_string()),
        _ => StoreError::Unavailable(error.into()),
    }
}

/// For a COMMIT. SQLite refuses one before it has written the mark that makes it count where the disk is full, the
/// file is locked or may not be written; after any other failure nobody knows.
pub(crate) fn on_commit(error: sqlx::Error, folder: &str) -> StoreError {
    match code_of(&error).map(|code| code & 0xff) {
        Some(FULL | READONLY | BUSY | LOCKED) => sorted(error, folder),
        _ => StoreError::Unknown(error.into()),
    }
}

/// SQLite says of a folder that cannot be written, and of a full disk, only that it could not open the file.
pub(crate) fn on_opening(error: sqlx::Error, folder: &Path) -> StoreError {
    let shown = folder.display().to_string();
    if code_of(&error).is_none_or(|code| code & 0xff == CANTOPEN) {
        match probe(folder).map_err(|refusal| refusal.kind()) {
            Err(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
                return StoreError::ReadOnly(shown);
            }
            Err(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => return StoreError::DiskFull,
            Err(_) | Ok(()) => {}
        }
    }
    sorted(error, &shown)
}

/// Whether a file can be made in the folder and written to.
fn probe(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".campanile-probe-{}", std::process::id()));
    let written = fs::write(&file, [0; 4096]);
    let removed = fs::remove_file(&file);
    written.and(removed)
}
