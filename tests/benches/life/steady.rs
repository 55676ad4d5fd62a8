//! A load that a node carries all day: jobs that fire every second, evenly.

use std::collections::{HashMap, HashSet};

use anyhow::ensure;
use campanile_model::instance::InstanceState;
use campanile_model::{InstanceId, JobId, Timestamp};
use campanile_store::InstanceFilter;
use serde_json::{Value, json};

use crate::burst::ready_to_running;
use crate::figures::{Spans, bearable, scaled};
use crate::rig::{Rig, job, now};

const EXECUTORS: usize = 2;
const CAPACITY: u32 = 200;

/// Of the jobs, those whose runs say when they were done.
const PROBES: usize = 4;

pub async fn load(per_second: usize) -> anyhow::Result<()> {
    Box::pin(on(Rig::with(EXECUTORS, CAPACITY).await?, per_second)).await
}

pub async fn on(mut rig: Rig, per_second: usize) -> anyhow::Result<()> {
    let (per_second, seconds) = (bearable(per_second), scaled(60, 2));
    let jobs = |from: Timestamp| {
        let end = json!({"effectiveUntil": from.plus_seconds(seconds as i64)});
        let one = |n: usize| {
            let first = from.plus_millis((n * 1000 / per_second) as i64);
            let schedule = json!({"kind": "fixedRate", "everySeconds": 1, "startTime": first});
            let processor = if n < PROBES { "stamp" } else { "nothing" };
            job(&format!("each-second-{n:04}"), processor, &schedule, first, &end)
        };
        (0..per_second).map(one).collect()
    };
    let from = rig.begins(per_second, jobs).await?;
    let until = from.plus_seconds(seconds as i64);
    let mut probes = Vec::with_capacity(PROBES);
    for n in 0..PROBES {
        probes.extend(rig.store.job_named(&format!("each-second-{n:04}")).await?.map(|job| job.id));
    }
    let before = rig.statements();
    let (seen, all_done) = tokio::join!(watched(&rig, &probes, until), async {
        rig.until(until).await?;
        rig.recorded().await?;
        rig.done().await?;
        anyhow::Ok((now(), rig.statements()))
    });
    let (seen, (ended, after)) = (seen?, all_done?);

    let (instances, tasks) = rig.made().await?;
    let count = per_second * seconds;
    // A job that is still busy or late when it is due again has its firings folded, by its policies, and says so.
    let omissions = rig.store.omissions(None, from, count).await?;
    let folded: usize = omissions.iter().map(|omission| omission.count as usize).sum();
    ensure!(instances.len() + folded == count, "{} of {count} firings were made, {folded} folded", instances.len());
    ensure!(tasks.len() == instances.len(), "{} of {} tasks came to their end", tasks.len(), instances.len());
    let due: HashMap<InstanceId, Timestamp> = instances.iter().map(|row| (row.instance.id, row.instance.due)).collect();
    let behind = ended.since(until);
    println!(
        "steady      {per_second} firings a second for {seconds} s: all done {behind:.2?} after the last, {folded} folded, none lost"
    );
    let fired = instances.iter().map(|row| row.instance.created.since(row.instance.due).as_millis() as i64);
    println!("            fired late       {}", Spans::of(fired));
    println!("            ready → running  {}", ready_to_running(&tasks));
    let whole = tasks.iter().filter_map(|task| Some((*due.get(&task.instance)?, task.finished_at?)));
    println!("            due → done       {}", Spans::of(whole.map(|(due, end)| end.since(due).as_millis() as i64)));
    println!("            done → visible   {}", Spans::of(seen));
    println!("            {:.3} statements a firing, its task and its reports", (after - before) as f64 / count as f64);
    rig.ends_clean().await
}

/// What a window sees: with each frame of the live feed it reads again. How long after their end it saw runs done.
async fn watched(rig: &Rig, probes: &[JobId], until: Timestamp) -> anyhow::Result<Vec<i64>> {
    let mut feed = rig.hosts[0].feed().subscribe();
    let (mut known, mut spans): (HashSet<InstanceId>, Vec<i64>) = (HashSet::new(), Vec::new());
    while now() < until {
        let Some(frame) = feed.next().await else { anyhow::bail!("the feed has ended") };
        if !frame.stale.iter().any(|stale| stale == "instances") {
            continue;
        }
        for job in probes {
            let filter =
                InstanceFilter { job: Some(*job), states: vec![InstanceState::Succeeded], ..InstanceFilter::default() };
            for row in rig.store.instance_page(&filter, None, PROBES).await?.rows {
                let told = row.instance.result.as_deref().and_then(|result| serde_json::from_str::<Value>(result).ok());
                let done = told.and_then(|told| told.as_i64());
                if let Some(done) = done.filter(|_| known.insert(row.instance.id)) {
                    spans.push(now().millis() - done);
                }
            }
        }
    }
    Ok(spans)
}
