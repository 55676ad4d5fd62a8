//! The number of statements does not grow with the batch: at full load at most a tenth of one per firing and per report.
//! Nor do the rows that are read grow with what has been.

// Also in the functions that the test is made of.
#![allow(clippy::unwrap_used)]

mod servers;

use campanile_model::Partitions;
use campanile_model::instance::InstanceState;
use campanile_model::limits::Limits;
use campanile_model::task::{Step, TaskEvent, TaskState};
use campanile_store::conformance::fixtures::*;
use campanile_store::{
    AlarmStore, Archive, Assignment, Bound, Claimed, ExecutorName, InstanceFilter, InstanceStore, JobFilter, JobStore,
    RequestStore, Scope, ShardStore, Taken, TaskFilter, TaskStore, UnplannedStore, Wanted, WantedNeed,
};
use campanile_store_mysql::MysqlStore;
use servers::Server;
use sqlx::{MySqlConnection, Row as _};
use tokio::sync::Mutex;

const FIRINGS: usize = 400;

/// The server counts the rows that it reads for everybody, so these tests go one after the other.
static ALONE: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn a_batch_costs_a_few_statements_whatever_its_size() {
    let _alone = ALONE.lock().await;
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let jobs: Vec<_> = (0..FIRINGS).map(|n| job(&format!("job-{n}"))).collect();
    save(&store, &lead, &jobs.iter().collect::<Vec<_>>()).await;

    let begun = store.statements();
    let due = store.due_jobs(Partitions::ALL, at(60), FIRINGS).await.unwrap();
    let launches: Vec<_> = due.iter().map(|job| launch_of(job, 60, vec![instance(job, 60)], Vec::new())).collect();
    store.launch(&lead, &launches).await.unwrap();
    let launched = store.statements();

    let assignments: Vec<_> = store
        .unassigned(Partitions::ALL, FIRINGS)
        .await
        .unwrap()
        .iter()
        .map(|instance| Assignment { instance: instance.id, at: at(60), tasks: vec![task(instance)] })
        .collect();
    assert_eq!(assignments.len(), FIRINGS);
    store.assign(&lead, &assignments).await.unwrap();
    let assigned = store.statements();
    println!("statements: {} for launching, {} for assigning {FIRINGS} firings", launched - begun, assigned - launched);
    within_budget(assigned - begun);

    // Every report of a task's life, in batches as they come at full load.
    let mut tasks = store.due_tasks(Partitions::ALL, at(60), FIRINGS).await.unwrap();
    let reports = [TaskEvent::Due, TaskEvent::Push, TaskEvent::Start, TaskEvent::Succeed];
    for (n, event) in reports.into_iter().enumerate() {
        let before = store.statements();
        let steps: Vec<Step> = tasks
            .into_iter()
            .map(|task| {
                let mut step = step(task, &[event], 61);
                let instance = step.task().instance;
                match event {
                    TaskEvent::Start => step.moves_instance(moves(instance, InstanceState::Running, 61)),
                    TaskEvent::Succeed => step.moves_instance(moves(instance, InstanceState::Succeeded, 62)),
                    _ => {}
                }
                step
            })
            .collect();
        match event {
            // With every kind of bound there is.
            TaskEvent::Push => {
                let scopes = [
                    Scope::Executor(executor("boot-1")),
                    Scope::Job(jobs[0].id),
                    Scope::Tenant("acme".to_owned()),
                    Scope::Group("local".to_owned()),
                    Scope::Everything,
                ];
                let bounds = scopes.map(|scope| Bound { scope, most: 1000 });
                let claimed = store.claim(&lead, &steps, &bounds, &Limits::default()).await.unwrap();
                assert!(claimed.iter().all(|claimed| *claimed == Claimed::Done));
            }
            _ => {
                store.take(&lead, &steps).await.unwrap();
            }
        }
        tasks = match n {
            0 => {
                let needs = store.ready_needs().await.unwrap();
                let needs = needs.into_iter().map(WantedNeed::all_of).collect();
                store.ready_tasks(&Wanted { needs, limit: FIRINGS }).await.unwrap()
            }
            _ => store.tasks(&steps.iter().map(|step| step.task().id).collect::<Vec<_>>()).await.unwrap(),
        };
        let spent = store.statements() - before;
        println!("statements: {spent} for {FIRINGS} reports of {event:?}");
        within_budget(spent);
    }
    assert!(tasks.iter().all(|task| task.state() == TaskState::Succeeded));

    // A page costs the same whatever is on it.
    let before = store.statements();
    store.job_page(&JobFilter::default(), None, 100).await.unwrap();
    store.instance_page(&InstanceFilter::default(), None, 100).await.unwrap();
    assert!(store.statements() - before <= 6);
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
    let lead = lead(&store).await;
    let job = saved(&store, &lead, "import").await;
    let instance = launched(&store, &lead, &job, 60).await;
    let count = u32::try_from(FIRINGS).unwrap();
    let before = store.statements();
    let tasks = sharded(&store, &lead, &instance, count).await;
    let made = store.statements();

    let from: Vec<_> = (0..count).map(|shard| (instance.id, piece_of(shard))).collect();
    let mut pieces = 0;
    for from in from.chunks(64) {
        pieces += store.pieces(from, 1).await.unwrap().len();
    }
    assert_eq!(pieces, FIRINGS);
    let given = store.statements();

    let of: Vec<_> = (0..count).map(|shard| (instance.id, piece_of(shard), u64::from(shard))).collect();
    assert_eq!(store.item_outcomes(&of).await.unwrap().len(), FIRINGS);
    let steps: Vec<Step> = tasks.into_iter().map(|task| says_done(task, 61)).collect();
    let taken = store.take(&lead, &steps).await.unwrap();
    assert!(taken.iter().all(|taken| *taken == Taken::Done));
    let told = store.statements();
    assert_eq!(store.shard_run(instance.id).await.unwrap().map(|run| run.tally.done), Some(u64::from(count)));
    println!(
        "statements for {count} shards: {} made, {} given out, {} told of",
        made - before,
        given - made,
        told - given
    );
    for spent in [made - before, given - made, told - given] {
        within_budget(spent);
    }
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

fn within_budget(statements: u64) {
    let allowed = FIRINGS as u64 / 10;
    assert!(statements <= allowed, "{statements} statements, {allowed} are allowed");
}
