//! What a batch may cost: the number of statements does not grow with what is in it.
//!
//! At full load that is a tenth of one for each firing and each report, at most. A backend that sends statements counts
//! them, and runs these cases with its counter.

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::limits::Limits;
use campanile_model::task::{Step, Task, TaskEvent, TaskState};
use campanile_model::{JobId, Partitions};

use super::fixtures::*;
use crate::{
    Archive, Assignment, Bound, Claimed, InstanceFilter, JobFilter, Lead, Scope, Store, Taken, Wanted, WantedNeed,
};

/// In one batch.
pub const FIRINGS: usize = 400;

const ALLOWED: u64 = FIRINGS as u64 / 10;

/// Statements that were sent since the last look.
struct Meter<F> {
    count: F,
    seen: u64,
}

impl<F: Fn() -> u64> Meter<F> {
    fn new(count: F) -> Meter<F> {
        let seen = count();
        Meter { count, seen }
    }

    fn spent(&mut self) -> u64 {
        let now = (self.count)();
        now - std::mem::replace(&mut self.seen, now)
    }

    fn allows(&mut self, what: &str) {
        let spent = self.spent();
        println!("statements: {spent} for {what}");
        assert!(spent <= ALLOWED, "{spent} statements for {what}, {ALLOWED} are allowed");
    }
}

/// Launches [`FIRINGS`] instances and takes every report of their tasks; all of them have ended then.
pub async fn a_batch_costs_a_few_statements_whatever_its_size<S: Store + Archive>(
    store: &S,
    statements: impl Fn() -> u64,
) {
    let lead = lead(store).await;
    let jobs: Vec<_> = (0..FIRINGS).map(|n| job(&format!("job-{n}"))).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;

    let mut meter = Meter::new(statements);
    let due = store.due_jobs(Partitions::ALL, at(60), FIRINGS).await.unwrap();
    let launches: Vec<_> = due.iter().map(|job| launch_of(job, 60, vec![instance(job, 60)], Vec::new())).collect();
    store.launch(&lead, &launches).await.unwrap();
    let unassigned = store.unassigned(Partitions::ALL, FIRINGS).await.unwrap();
    let assignments: Vec<_> = unassigned
        .iter()
        .map(|instance| Assignment { instance: instance.id, at: at(60), tasks: vec![task(instance)] })
        .collect();
    assert_eq!(assignments.len(), FIRINGS);
    store.assign(&lead, &assignments).await.unwrap();
    meter.allows("launching and assigning");

    // Every report of a task's life, in batches as they come at full load.
    let mut tasks = store.due_tasks(Partitions::ALL, at(60), FIRINGS).await.unwrap();
    for event in [TaskEvent::Due, TaskEvent::Push, TaskEvent::Start, TaskEvent::Succeed] {
        meter.spent();
        let steps: Vec<Step> = tasks.into_iter().map(|task| reported(task, event)).collect();
        if event == TaskEvent::Push {
            claim_under_every_bound(store, &lead, jobs[0].id, &steps).await;
        } else {
            store.take(&lead, &steps).await.unwrap();
        }
        tasks = if event == TaskEvent::Due {
            let needs = store.ready_needs().await.unwrap().into_iter().map(WantedNeed::all_of).collect();
            store.ready_tasks(&Wanted { needs, limit: FIRINGS }).await.unwrap()
        } else {
            store.tasks(&steps.iter().map(|step| step.task().id).collect::<Vec<_>>()).await.unwrap()
        };
        meter.allows(&format!("reports of {event:?}"));
    }
    assert_eq!(tasks.iter().filter(|task| task.state() == TaskState::Succeeded).count(), FIRINGS);

    // A page costs the same whatever is on it.
    store.job_page(&JobFilter::default(), None, 100).await.unwrap();
    store.instance_page(&InstanceFilter::default(), None, 100).await.unwrap();
    let spent = meter.spent();
    assert!(spent <= 6, "{spent} statements for two pages");
}

fn reported(task: Task, event: TaskEvent) -> Step {
    let mut step = step(task, &[event], 61);
    let instance = step.task().instance;
    match event {
        TaskEvent::Start => step.moves_instance(moves(instance, InstanceState::Running, 61)),
        TaskEvent::Succeed => step.moves_instance(moves(instance, InstanceState::Succeeded, 62)),
        _ => {}
    }
    step
}

async fn claim_under_every_bound(store: &dyn Store, lead: &Lead, job: JobId, steps: &[Step]) {
    let scopes = [
        Scope::Executor(executor("boot-1")),
        Scope::Job(job),
        Scope::Tenant("acme".to_owned()),
        Scope::Group("local".to_owned()),
        Scope::Everything,
    ];
    let bounds = scopes.map(|scope| Bound { scope, most: 1000 });
    let claimed = store.claim(lead, steps, &bounds, &Limits::default()).await.unwrap();
    assert!(claimed.iter().all(|claimed| *claimed == Claimed::Done));
}

/// Makes [`FIRINGS`] shards of one run, gives out their items and takes what becomes of them. Returns the run.
pub async fn shards_cost_a_few_statements_however_many_there_are(
    store: &dyn Store,
    statements: impl Fn() -> u64,
) -> Instance {
    let lead = lead(store).await;
    let job = saved(store, &lead, "import").await;
    let instance = launched(store, &lead, &job, 60).await;
    let count = u32::try_from(FIRINGS).unwrap();
    let mut meter = Meter::new(statements);
    let tasks = sharded(store, &lead, &instance, count).await;
    meter.allows("making shards");

    let from: Vec<_> = (0..count).map(|shard| (instance.id, piece_of(shard))).collect();
    let mut pieces = 0;
    for from in from.chunks(64) {
        pieces += store.pieces(from, 1).await.unwrap().len();
    }
    assert_eq!(pieces, FIRINGS);
    meter.allows("giving out their items");

    let of: Vec<_> = (0..count).map(|shard| (instance.id, piece_of(shard), u64::from(shard))).collect();
    assert_eq!(store.item_outcomes(&of).await.unwrap().len(), FIRINGS);
    let steps: Vec<Step> = tasks.into_iter().map(|task| says_done(task, 61)).collect();
    let taken = store.take(&lead, &steps).await.unwrap();
    assert!(taken.iter().all(|taken| *taken == Taken::Done));
    meter.allows("taking what became of them");
    assert_eq!(store.shard_run(instance.id).await.unwrap().map(|run| run.tally.done), Some(u64::from(count)));
    instance
}
