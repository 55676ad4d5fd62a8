//! One task that writes ten thousand lines a second, and what becomes of the others meanwhile.

use anyhow::{Context as _, ensure};
use campanile_model::Timestamp;
use campanile_model::task::Task;
use serde_json::json;

use crate::figures::{Spans, bearable, scaled};
use crate::rig::{Rig, job};

const LINES_PER_SECOND: usize = 10_000;
const OTHERS_PER_SECOND: usize = 100;

const FLOOD: &str = "flood";

pub async fn beside_a_flood() -> anyhow::Result<()> {
    let (each_second, seconds) = (bearable(OTHERS_PER_SECOND), scaled(20, 2));
    let half = seconds as i64;
    let jobs = |from: Timestamp| {
        let end = json!({"effectiveUntil": from.plus_seconds(2 * half).plus_millis(-1)});
        let other = |n: usize| {
            let first = from.plus_millis((n * 1000 / each_second) as i64);
            let schedule = json!({"kind": "fixedRate", "everySeconds": 1, "startTime": first});
            job(&format!("other-{n:03}"), "nothing", &schedule, first, &end)
        };
        let at = from.plus_seconds(half);
        let talk = json!({"parameters": {"lines": LINES_PER_SECOND, "seconds": seconds}});
        let flood = job(FLOOD, "talk", &json!({"kind": "once", "at": at}), at, &talk);
        (0..each_second).map(other).chain([flood]).collect()
    };
    let mut rig = Rig::with(1, 50).await?;
    let from = rig.begins(each_second, jobs).await?;
    // Half of the time without the flood, and half beside it.
    let (flood_at, until) = (from.plus_seconds(half), from.plus_seconds(2 * half));
    let flood = rig.store.job_named(FLOOD).await?.context("it was written")?.id;
    rig.until(until).await?;
    rig.recorded().await?;
    rig.done().await?;

    let (_, tasks) = rig.made().await?;
    let others = each_second * seconds * 2;
    ensure!(tasks.len() == others + 1, "{} of {} tasks came to their end", tasks.len(), others + 1);
    let talked =
        tasks.iter().find(|task| task.job == flood).and_then(|task| Some(task.finished_at?.since(task.started_at?)));
    let lines = LINES_PER_SECOND * seconds;
    println!("logs        {lines} lines of one task in {:.2?}", talked.unwrap_or_default());
    let spans = |beside: bool| {
        let others = tasks.iter().filter(|task| task.job != flood);
        let due = others.filter(|task| (task.due_at >= flood_at) == beside);
        Spans::of(due.filter_map(|task: &Task| Some(task.finished_at?.since(task.due_at).as_millis() as i64)))
    };
    println!("            others, due → done, without it {}", spans(false));
    println!("            others, due → done, beside it  {}", spans(true));
    rig.ends_clean().await
}
