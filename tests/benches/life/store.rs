//! The store alone: the same rows as a whole node writes, with the same durability, and nothing else.

use std::time::Instant;

use campanile_engine::dispatcher::outcome;
use campanile_model::ledger::LedgerSpan;
use campanile_model::task::{Illegal, Step, Task};
use campanile_model::{LaneClock, Partitions, Timestamp};
use campanile_store::conformance::fixtures::{self, at};
use campanile_store::{Assignment, Change, Launch, Lead, Store, Taken, Wanted, WantedNeed};
use campanile_store_sqlite::SqliteStore;

use crate::figures::scaled;

const BATCH: usize = 500;

/// Firings a second, from launch to the end of their tasks.
pub async fn firings() -> anyhow::Result<f64> {
    let count = scaled(20_000, BATCH);
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("bench.db")).await?;
    let rate = firings_on(&store, || store.statements(), count).await?;
    store.close().await?;
    Ok(rate)
}

/// The same on this one, which says how many statements it has sent.
pub async fn firings_on(store: &dyn Store, statements: impl Fn() -> u64, count: usize) -> anyhow::Result<f64> {
    let lead = fixtures::lead(store).await;
    let jobs: Vec<_> = (0..BATCH).map(|n| fixtures::job(&format!("job-{n}"))).collect();
    let changes = jobs
        .iter()
        .map(|job| Change::PutJob { job: job.clone(), seen_version: None, by: "bench".to_owned() })
        .collect();
    anyhow::ensure!(fixtures::carry_out(store, &lead, changes).await == Taken::Done, "the jobs were not written");

    let before = statements();
    let start = Instant::now();
    let mut through: Vec<Timestamp> = jobs.iter().map(|job| job.fired_through).collect();
    let mut finished = 0;
    for round in 0..count / BATCH {
        let second = round as i64 * 60;
        let launches: Vec<Launch> = jobs
            .iter()
            .zip(&mut through)
            .map(|(job, through)| {
                let from = std::mem::replace(through, at(second));
                Launch {
                    job: job.id,
                    version: job.version,
                    seen_through: from,
                    instances: vec![fixtures::instance(job, second)],
                    supersedes: Vec::new(),
                    omissions: Vec::new(),
                    questions: Vec::new(),
                    span: LedgerSpan {
                        job: job.id,
                        version: job.version,
                        zone_data: "bench".to_owned(),
                        from,
                        to: at(second),
                        planned: 1,
                        made: 1,
                        not_made: 0,
                    },
                    fired_through: at(second),
                    next_due: Some(at(second + 60)),
                    incidents: Vec::new(),
                }
            })
            .collect();
        store.launch(&lead, &launches).await?;
        let assignments: Vec<Assignment> = launches
            .iter()
            .flat_map(|launch| &launch.instances)
            .map(|instance| Assignment { instance: instance.id, at: at(second), tasks: vec![fixtures::task(instance)] })
            .collect();
        store.assign(&lead, &assignments).await?;
        let ready = store.due_tasks(Partitions::ALL, Timestamp::MAX, BATCH).await?;
        step(store, &lead, ready, |task, step| outcome::due(task, LaneClock::default(), at(step))).await?;
        let needs = store.ready_needs().await?.into_iter().map(WantedNeed::all_of).collect();
        let wanted = Wanted { needs, limit: BATCH };
        let ready = store.ready_tasks(&wanted).await?;
        step(store, &lead, ready, |task, second| outcome::push(task, fixtures::executor("boot"), at(second))).await?;
        let held = store.held_by(&fixtures::executor("boot"), BATCH).await?;
        finished += step(store, &lead, held, |task, second| {
            let mut step = task.begin();
            outcome::start(&mut step, at(second))?;
            outcome::succeed(&mut step, None, at(second))?;
            Ok(step)
        })
        .await?;
    }
    let took = start.elapsed().as_secs_f64();
    let sent = statements() - before;
    let rate = finished as f64 / took;
    println!(
        "store       {finished} firings from launch to end in {took:.2} s: {rate:.0} a second, {:.3} statements each",
        sent as f64 / finished as f64
    );
    anyhow::ensure!(finished == count / BATCH * BATCH, "{finished} of {count} came to their end");
    Ok(rate)
}

async fn step(
    store: &dyn Store,
    lead: &Lead,
    tasks: Vec<Task>,
    mut carry: impl FnMut(Task, i64) -> Result<Step, Illegal>,
) -> anyhow::Result<usize> {
    let steps = tasks.into_iter().map(|task| carry(task, 0)).collect::<Result<Vec<_>, _>>()?;
    let taken = store.take(lead, &steps).await?;
    Ok(taken.iter().filter(|taken| **taken == Taken::Done).count())
}
