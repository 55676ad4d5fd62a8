//! Runs that are cut into shards: how many items and shards a second, what planning costs, and how much memory the node
//! takes while a million items pass through it.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use campanile_model::Timestamp;
use campanile_model::instance::Instance;
use campanile_model::job::Job;
use campanile_model::sharding::{Chunk, Level, LevelState, ShardRun, data, deal};
use campanile_store::InstanceFilter;
use serde_json::{Value, json};

use crate::burst;
use crate::figures::scaled;
use crate::rig::{Rig, job, now};

const EXECUTORS: usize = 3;
const CAPACITY: u32 = 100;

/// Between two looks at the memory that is taken.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// One run with so many items, due then.
fn sharded(items: usize, size: usize, parameters: &Value, at: Timestamp) -> anyhow::Result<Vec<Job>> {
    let mut parameters = parameters.clone();
    parameters["items"] = json!(items);
    let more = json!({"mode": "sharding", "shardMaxSize": size, "parameters": parameters});
    Ok(vec![job("sharded", "shards", &json!({"kind": "once", "at": at}), at, &more)?])
}

async fn the_run(rig: &Rig) -> anyhow::Result<(Instance, ShardRun, Vec<Level>)> {
    let page = rig.store.instance_page(&InstanceFilter::default(), None, 2).await?;
    let [row] = &page.rows[..] else { anyhow::bail!("{} runs instead of one", page.rows.len()) };
    let id = row.instance.id;
    let run = rig.store.shard_run(id).await?.context("it is cut into shards")?;
    Ok((row.instance.clone(), run, rig.store.levels(id).await?))
}

/// Every item is done, and in so many shards.
async fn is_whole(rig: &Rig, items: usize, shards: usize) -> anyhow::Result<()> {
    let (instance, run, levels) = the_run(rig).await?;
    ensure!(run.tally.done == items as u64, "{} of {items} items are done: {:?}", run.tally.done, instance.failure);
    ensure!(levels.iter().all(|level| level.state == LevelState::Succeeded), "{levels:?}");
    let made: u32 = levels.iter().map(|level| level.shards).sum();
    ensure!(made as usize == shards, "{made} shards instead of {shards}");
    Ok(())
}

/// As many plain tasks as shards of one item each, one after the other.
pub async fn beside_plain_tasks() -> anyhow::Result<()> {
    let count = scaled(20_000, 400);
    let mut rig = Rig::with(EXECUTORS, CAPACITY).await?;
    let from = rig.begins(count, |from| burst::jobs(count, from)).await?;
    rig.until(from.plus_seconds(1)).await?;
    rig.recorded().await?;
    rig.done().await?;
    let plain = now().since(from);
    rig.ends_clean().await?;

    let mut rig = Rig::with(EXECUTORS, CAPACITY).await?;
    let from = rig.begins(1, |from| sharded(count, 1, &json!({}), from)).await?;
    rig.until(from).await?;
    let before = rig.statements();
    rig.recorded().await?;
    rig.done().await?;
    let (cut, statements) = (now().since(from), rig.statements() - before);
    is_whole(&rig, count, count).await?;
    rig.ends_clean().await?;
    let rate = |took: Duration| count as f64 / took.as_secs_f64();
    println!(
        "shards      {count} shards of one item: {:.0} a second end to end, {:.2} of {:.0} plain tasks a second; {:.3} statements each",
        rate(cut),
        rate(cut) / rate(plain),
        rate(plain),
        statements as f64 / count as f64,
    );
    Ok(())
}

pub async fn items() -> anyhow::Result<()> {
    let (count, size) = (scaled(1_000_000, 5000), 1000);
    let mut rig = Rig::with(EXECUTORS, 4).await?;
    // What other parts of this program took is no figure of this one.
    fs::write("/proc/self/clear_refs", "5")?;
    let from = rig.begins(1, |from| sharded(count, size, &json!({}), from)).await?;
    rig.until(from).await?;
    let before = rig.statements();
    let ((), (taken, loaded)) = tokio::try_join!(
        async {
            rig.recorded().await?;
            rig.done().await
        },
        memory_until_done(&rig, from),
    )?;
    let (took, statements) = (now().since(from), rig.statements() - before);
    is_whole(&rig, count, count.div_ceil(size)).await?;
    let most = memory("VmHWM:")?;
    let mib = |bytes: u64| (bytes >> 20).to_string();
    let over_time: Vec<String> =
        (0..=4).filter_map(|at| taken.get((taken.len() - 1) * at / 4)).copied().map(mib).collect();
    println!(
        "items       {count} items in shards of {size}: {:.0} a second end to end, {:.0} once pre_process had given them ({:.1} s); {:.2} statements for 1,000 items",
        count as f64 / took.as_secs_f64(),
        count as f64 / took.saturating_sub(loaded).as_secs_f64().max(0.001),
        loaded.as_secs_f64(),
        1000.0 * statements as f64 / count as f64,
    );
    println!(
        "            memory of the node: {} MiB by quarters of the time, {} at most",
        over_time.join(", "),
        mib(most)
    );
    rig.ends_clean().await
}

/// What the process took from look to look, and when the data was there.
async fn memory_until_done(rig: &Rig, from: Timestamp) -> anyhow::Result<(Vec<u64>, Duration)> {
    let (mut taken, mut loaded) = (vec![memory("VmRSS:")?], None);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        taken.push(memory("VmRSS:")?);
        let Ok((instance, run, _)) = the_run(rig).await else { continue };
        if run.level_count > 0 {
            loaded.get_or_insert_with(|| now().since(from));
        }
        if instance.state.is_final() {
            return Ok((taken, loaded.unwrap_or_default()));
        }
    }
}

fn memory(what: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(what)).context("Linux tells of its processes")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? * 1024)
}

/// From the data of a run to a task for each item, with one executor that is busy for ever.
pub async fn planning() -> anyhow::Result<()> {
    let count = scaled(100_000, 1000);
    let mut rig = Rig::with(1, 1).await?;
    let from = rig.begins(1, |from| sharded(count, 1, &json!({"hangs": true}), from)).await?;
    rig.until(from).await?;
    rig.wait_until("its data is there", async || Ok(the_run(&rig).await.is_ok_and(|(_, run, _)| run.level_count > 0)))
        .await?;
    let (began, before) = (Instant::now(), rig.statements());
    rig.wait_until("all shards are tasks", async || {
        let (.., levels) = the_run(&rig).await?;
        Ok(levels.iter().all(|level| level.shards > 0 && level.made == level.shards))
    })
    .await?;
    let (took, statements) = (began.elapsed(), rig.statements() - before);

    let items = |first: usize| (first..(first + 1000).min(count)).map(|n| n.to_string()).collect();
    let chunks = (0..count).step_by(1000);
    let chunks: Vec<Chunk> =
        chunks.map(|first| Chunk { draft: 0, level: 0, first: first as u64, items: items(first) }).collect();
    let began = Instant::now();
    let pieces = data::pieces_of(chunks, count as u32);
    let shards: Vec<u32> = (0..count as u32).collect();
    let dealt = deal::deal(&shards, &["a", "b", "c"]);
    let alone = began.elapsed();
    ensure!((pieces.len(), dealt.len()) == (count, count), "{} pieces, {} dealt", pieces.len(), dealt.len());
    println!(
        "planning    {count} shards are tasks after {took:.2?} ({:.0} a second, {statements} statements); the rules alone take {alone:.2?}",
        count as f64 / took.as_secs_f64(),
    );
    rig.leaves().await
}
