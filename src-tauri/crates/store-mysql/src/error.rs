//! From what the server says to what can be done about it.

use campanile_store::StoreError;
use sqlx::mysql::MySqlDatabaseError;

// Numbers of errors that both servers give.
const DISK_FULL: u16 = 1021;
const DUPLICATE: u16 = 1062;
const TABLE_FULL: u16 = 1114;
const LOCK_WAIT: u16 = 1205;
const DEADLOCK: u16 = 1213;
const OPTION_PREVENTS: u16 = 1290;
const READ_ONLY: u16 = 1836;

/// What a step of a migration is told that was done already: table, column, index, or nothing there to drop.
const DONE_ALREADY: [u16; 4] = [1050, 1060, 1061, 1091];

fn number_of(error: &sqlx::Error) -> Option<u16> {
    let refusal = error.as_database_error()?.try_downcast_ref::<MySqlDatabaseError>()?;
    Some(refusal.number())
}

fn cause_of(error: &StoreError) -> Option<u16> {
    match error {
        StoreError::Unavailable(cause) => number_of(cause.downcast_ref::<sqlx::Error>()?),
        _ => None,
    }
}

/// The transaction has met another, and was undone or is to be: the same again may well succeed.
pub(crate) fn is_collision(error: &StoreError) -> bool {
    matches!(cause_of(error), Some(DEADLOCK | LOCK_WAIT))
}

/// Of the collisions the slow kind: it has waited as long as it may.
pub(crate) fn is_lock_wait(error: &StoreError) -> bool {
    cause_of(error) == Some(LOCK_WAIT)
}

/// The row is there already.
pub(crate) fn is_duplicate(error: &StoreError) -> bool {
    cause_of(error) == Some(DUPLICATE)
}

pub(crate) fn was_done_already(error: &sqlx::Error) -> bool {
    number_of(error).is_some_and(|number| DONE_ALREADY.contains(&number))
}

/// The server answered; what stands on the connection is in order.
pub(crate) fn is_refusal(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(_))
}

/// For everything but a COMMIT: nothing of what failed has been written.
pub(crate) fn sorted(error: sqlx::Error, address: &str) -> StoreError {
    match number_of(&error) {
        Some(DISK_FULL | TABLE_FULL) => StoreError::DiskFull,
        Some(OPTION_PREVENTS | READ_ONLY) => StoreError::ReadOnly(address.to_owned()),
        Some(_) => StoreError::Unavailable(error.into()),
        None => match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
                StoreError::Damaged(error.to_string())
            }
            _ => StoreError::Unavailable(error.into()),
        },
    }
}

/// For a COMMIT, and what is sent along before it. Refused for a collision, it was not tried; after any other failure
/// nobody knows.
pub(crate) fn on_commit(error: sqlx::Error, address: &str) -> StoreError {
    match number_of(&error) {
        Some(DEADLOCK | LOCK_WAIT | OPTION_PREVENTS | READ_ONLY) => sorted(error, address),
        _ => StoreError::Unknown(error.into()),
    }
}
