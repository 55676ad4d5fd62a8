//! The number of statements does not grow with the batch.

use campanile_store::conformance::budget;
use campanile_store_sqlite::SqliteStore;

#[tokio::test]
async fn a_batch_costs_a_few_statements_whatever_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.unwrap();
    budget::a_batch_costs_a_few_statements_whatever_its_size(&store, || store.statements()).await;
}

#[tokio::test]
async fn shards_cost_a_few_statements_however_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.unwrap();
    budget::shards_cost_a_few_statements_however_many_there_are(&store, || store.statements()).await;
}
