//! The number of statements does not grow with the batch, nor do the rows that are read with what has been.

// Also in the functions that the test is made of.
#![allow(clippy::unwrap_used)]

mod servers;

use campanile_model::Partitions;
use campanile_model::task::TaskState;
use campanile_store::conformance::budget;
use campanile_store::conformance::fixtures::*;
use campanile_store::{
    AlarmStore, Archive, ExecutorName, InstanceFilter, InstanceStore, JobStore, RequestStore, Scope, ShardStore,
    TaskFilter, TaskStore, UnplannedStore,
};
use campanile_store_mysql::MysqlStore;
use servers::Server;
use sqlx::{MySqlConnection, Row as _};
use tokio::sync::Mutex;

/// The server counts the rows that it reads for everybody, so these tests go one after the other.
static ALONE: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn a_batch_costs_a_few_statements_whatever_its_size() {
    let _alone = ALONE.lock().await;
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    budget::a_batch_costs_a_few_statements_whatever_its_size(&store, || store.statements()).await;
    if server.is_ours() {
        // Whatever the server knows of the tables when it plans: nothing, or all.
        let mut looker = database.connect().await;
        what_has_been_is_not_read_again(&store, &mut looker).await;
        sqlx::raw_sql("ANALYZE TABLE jobs, instances, tasks, alarms, requests").execute(&mut looker).await.unwrap();
        what_has_been_is_not_read_again(&store, &mut looker).await;
    }
    store.close().await;
}

/// Rows that the server has read so far, for anybody.
async fn rows_read(looker: &mut MySqlConnection) -> u64 {
    let rows = sqlx::query("SHOW GLOBAL STATUS LIKE 'Handler_read%'").fetch_all(looker).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(1).parse::<u64>().unwrap()).sum()
}

/// Four hundred instances have ended, with their tasks; the engine looks for what there is to do.
async fn what_has_been_is_not_read_again(store: &MysqlStore, looker: &mut MySqlConnection) {
    let now = at(61);
    rows_read(looker).await;
    let (first, second) = (rows_read(looker).await, rows_read(looker).await);
    let looking_itself = second - first;
    macro_rules! reads_little {
        ($($search:expr;)*) => {$(
            // The first time the server reads what it knows of the table, too.
            $search.await.unwrap();
            let before = rows_read(looker).await;
            $search.await.unwrap();
            let read = rows_read(looker).await - before - looking_itself;
            assert!(read <= 40, "{} reads {read} rows", stringify!($search));
        )*};
    }
    let succeeded = TaskFilter { states: vec![TaskState::Succeeded], executor: None };
    let nobody = ExecutorName { group: "local".to_owned(), name: "nobody".to_owned() };
    let of_nobody = InstanceFilter { executor: Some(nobody), ..InstanceFilter::default() };
    reads_little! {
        store.due_jobs(Partitions::ALL, now, 100);
        store.earliest_due(Partitions::ALL);
        store.idle_fixed_delay_jobs(Partitions::ALL, 100);
        store.unassigned(Partitions::ALL, 100);
        store.replacing(Partitions::ALL, 100);
        store.ended_together(Partitions::ALL, 100);
        store.due_tasks(Partitions::ALL, now, 100);
        store.earliest_due_task(Partitions::ALL);
        store.ready_needs();
        store.ready_counts();
        store.promotable(now, 100);
        store.expired(now, 100);
        store.past_deadline(now, 100);
        store.earliest_deadline();
        store.stopping_tasks(100);
        store.holders();
        store.held_by(&executor("boot-1"), 100);
        store.held(&[Scope::Everything, Scope::Tenant("acme".to_owned())]);
        store.lane_depths(now);
        store.open_requests(100);
        store.open_alarms();
        store.open_questions(100);
        store.open_backfills(Partitions::ALL, 100);
        store.endings(Partitions::ALL, 100);
        store.new_incidents(100);
        // A page reads what is on it.
        store.instance_page(&InstanceFilter::default(), None, 1);
        store.task_page(&succeeded, None, 1);
        store.instance_page(&of_nobody, None, 100);
    }
}

#[tokio::test]
async fn shards_cost_a_few_statements_however_many_there_are() {
    let _alone = ALONE.lock().await;
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let instance = budget::shards_cost_a_few_statements_however_many_there_are(&store, || store.statements()).await;
    if server.is_ours() {
        // Of many shards those are read that are asked for.
        let mut looker = database.connect().await;
        let (first, second) = (rows_read(&mut looker).await, rows_read(&mut looker).await);
        let looking_itself = second - first;
        let few = [(instance.id, piece_of(7)), (instance.id, piece_of(9))];
        store.pieces(&few, 2).await.unwrap();
        let before = rows_read(&mut looker).await;
        store.pieces(&few, 2).await.unwrap();
        store.item_outcomes(&few.map(|(instance, at)| (instance, at, at.first))).await.unwrap();
        let read = rows_read(&mut looker).await - before - looking_itself;
        assert!(read <= 40, "{read} rows are read for two shards");
    }
    store.close().await;
}
