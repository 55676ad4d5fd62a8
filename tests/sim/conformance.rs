//! The store in memory keeps every promise that a database has to keep.

use crate::memory_store::MemoryStore;

async fn fresh() -> Box<MemoryStore> {
    Box::new(MemoryStore::new())
}

campanile_store::conformance!(fresh);
