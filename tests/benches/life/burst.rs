//! A hundred thousand jobs due in one second.

use std::time::Instant;

use anyhow::ensure;
use campanile_model::Timestamp;
use campanile_model::job::Job;
use campanile_model::task::Task;
use serde_json::json;

use crate::figures::{Spans, scaled};
use crate::rig::{Rig, job, now};

const EXECUTORS: usize = 2;

/// Of each executor; as many again may wait there.
const CAPACITY: u32 = 200;

/// Accepted, started, finished.
const REPORTS: usize = 3;

/// Each once, in the second that begins then.
pub fn jobs(count: usize, from: Timestamp) -> anyhow::Result<Vec<Job>> {
    (0..count)
        .map(|n| {
            let at = from.plus_millis((n * 1000 / count) as i64);
            job(&format!("once-{n:06}"), "nothing", &json!({"kind": "once", "at": at}), at, &json!({}))
        })
        .collect()
}

pub async fn all_at_once(store_alone: f64) -> anyhow::Result<()> {
    Box::pin(on(Rig::with(EXECUTORS, CAPACITY).await?, scaled(100_000, 500), store_alone)).await
}

/// On this rig, whose store takes so many a second alone.
pub async fn on(mut rig: Rig, count: usize, store_alone: f64) -> anyhow::Result<()> {
    let from = rig.begins(count, |from| jobs(count, from)).await?;
    rig.until(from).await?;
    let before = rig.statements();
    rig.until(from.plus_seconds(1)).await?;
    rig.recorded().await?;
    let recorded = now().since(from);
    rig.done().await?;
    let took = now().since(from);
    let statements = (rig.statements() - before) as f64;

    let (instances, tasks) = rig.made().await?;
    ensure!(instances.len() == count, "{} of {count} firings were made", instances.len());
    ensure!(tasks.len() == count, "{} of {count} tasks came to their end", tasks.len());
    let (rate, each) = (count as f64 / took.as_secs_f64(), statements / count as f64);
    let share = 100.0 * rate / store_alone;
    println!("burst       {count} jobs due in one second: recorded in {recorded:.2?}, done in {took:.2?}, none lost");
    println!(
        "            {rate:.0} tasks a second end to end, {share:.0} % of the store alone, {each:.3} statements each"
    );
    let late = instances.iter().map(|row| row.instance.created.since(row.instance.due).as_millis() as i64);
    println!("            recorded after its time: {}", Spans::of(late));
    println!("            ready → running  {}", ready_to_running(&tasks));
    rig.ends_clean().await
}

/// How long tasks that were ready waited until they ran.
pub fn ready_to_running(tasks: &[Task]) -> Spans {
    let began = tasks.iter().filter_map(|task| Some((task.ready_at?, task.started_at?)));
    Spans::of(began.map(|(ready, start)| start.since(ready).as_millis() as i64))
}

/// First the firings, with nobody there; then the executors come. So each half shows what it takes by itself.
pub async fn in_two_halves() -> anyhow::Result<()> {
    let count = scaled(20_000, 500);
    let mut rig = Rig::with(0, CAPACITY).await?;
    let from = rig.begins(count, |from| jobs(count, from)).await?;
    rig.until(from).await?;
    let (began, before) = (Instant::now(), rig.statements());
    rig.until(from.plus_seconds(1)).await?;
    rig.wait_until("all tasks are ready", async || {
        let ready: u64 = rig.store.ready_counts().await?.iter().map(|(_, _, tasks)| tasks).sum();
        Ok(ready == count as u64)
    })
    .await?;
    let (fired_in, fired_with) = (began.elapsed().as_secs_f64(), (rig.statements() - before) as f64);

    let (began, before) = (Instant::now(), rig.statements());
    rig.executors_come(EXECUTORS, CAPACITY).await?;
    rig.done().await?;
    let (done_in, done_with) = (began.elapsed().as_secs_f64(), (rig.statements() - before) as f64);

    let (instances, tasks) = rig.made().await?;
    ensure!((instances.len(), tasks.len()) == (count, count), "{} firings, {} tasks", instances.len(), tasks.len());
    let count = count as f64;
    println!(
        "halves      {count} firings until they are ready: {:.0} a second, {:.3} statements each",
        count / fired_in,
        fired_with / count
    );
    println!(
        "            pushed, run and reported: {:.0} a second, {:.3} statements a task, {:.3} a report",
        count / done_in,
        done_with / count,
        done_with / count / REPORTS as f64
    );
    rig.ends_clean().await
}
