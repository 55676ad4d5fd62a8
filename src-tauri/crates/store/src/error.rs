//! What can go wrong with a store; each variant is a different thing to do next.

use campanile_model::{Code, Fault};

pub type Result<T> = std::result::Result<T, StoreError>;

type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The lease has passed to someone else. Drop the work; it is no longer ours.
    #[error("the lease {0} is held under another term")]
    Fenced(String),

    /// Refused before anything was written. Try again.
    #[error("storage is unavailable")]
    Unavailable(#[source] Cause),

    /// It may have been written. Only an idempotent write may be tried again.
    #[error("storage stopped answering mid-write")]
    Unknown(#[source] Cause),

    /// Nothing can be written until someone makes room.
    #[error("the disk is full")]
    DiskFull,

    /// Nothing can be written here at all.
    #[error("{0} cannot be written")]
    ReadOnly(String),

    /// A newer program has been here.
    #[error("schema {found} is newer than {known}")]
    Newer { found: i64, known: i64 },

    /// An older program has been here last, and whoever only looks on does not change it.
    #[error("schema {found} is older than {known}")]
    Older { found: i64, known: i64 },

    /// What was read makes no sense.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// As the person should see it.
    pub fn fault(&self) -> Fault {
        match self {
            StoreError::Fenced(_) => Code::NotLeading.fault(),
            StoreError::Unavailable(cause) | StoreError::Unknown(cause) => {
                Code::StorageUnavailable.fault().with("reason", cause)
            }
            StoreError::DiskFull => Code::DiskFull.fault(),
            StoreError::ReadOnly(folder) => Code::DataReadOnly.fault().with("folder", folder),
            StoreError::Newer { found, known } => Code::SchemaNewer.fault().with("found", found).with("known", known),
            StoreError::Older { found, known } => Code::SchemaOlder.fault().with("found", found).with("known", known),
            StoreError::Damaged(reason) => Code::DataDamaged.fault().with("reason", reason),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        error.fault()
    }
}
