//! What times cost: to read a schedule, to ask for its next time or for twenty, to keep a hundred thousand of them,
//! and to draw a week of them all.
//!
//! Small unless SCALE says otherwise (`make bench` sets 1). Each figure comes with a sum over what was found, so that
//! a number that was measured on nothing, or on something else than last time, shows.

use std::hint::black_box;
use std::time::{Duration, Instant};

use campanile_model::schedule::{CompiledTiming, Cron, Dialect, Grid, Schedule, Timing, preview};
use campanile_model::{Almanac, Timestamp};
use serde_json::{Value, json};

/// 2026-11-16, a Monday.
const MONDAY: i64 = 1_794_787_200_000;
const WEEK_SECONDS: i64 = 7 * 86_400;

type Failed = Box<dyn std::error::Error>;

fn scaled(most: usize) -> usize {
    let scale = std::env::var("SCALE").ok().and_then(|scale| scale.parse::<f64>().ok()).unwrap_or(0.01);
    ((most as f64 * scale) as usize).max(100)
}

fn main() -> Result<(), Failed> {
    // `cargo test --benches` passes flags of the test runner; there is nothing to choose here.
    let almanac = Almanac::bundled();
    parsing();
    single(&almanac)?;
    many(&almanac)
}

fn told(what: &str, name: &str, took: Duration, rounds: usize, sum: i64) {
    let each = took.as_nanos() / rounds.max(1) as u128;
    println!("{what:<12} {name:<22} {each:>8} ns each   (checksum {sum:x})");
}

fn parsing() {
    let rounds = scaled(200_000);
    for (name, expression, dialect) in [
        ("cron */5", "*/5 * * * *", Dialect::Unix),
        ("cron weekdays", "30 9 * * 1-5", Dialect::Unix),
        ("cron never", "0 0 30 2 *", Dialect::Unix),
        ("quartz L-3W", "0 0/7 9-17 L-3W * ? 2026-2030", Dialect::Quartz),
    ] {
        let almanac = Almanac::bundled();
        let schedule = Schedule::Cron(Cron { dialect: Some(dialect), ..Cron::unix(expression, "Asia/Shanghai") });
        let start = Instant::now();
        let read = (0..rounds).filter(|_| black_box(&schedule).plan(&almanac, Timestamp::EPOCH).is_ok()).count();
        told("parse", name, start.elapsed(), rounds, i64::try_from(read).unwrap_or(0));
    }
}

fn kinds() -> [(&'static str, Value); 9] {
    [
        ("cron */5", json!({"kind": "cron", "expression": "*/5 * * * *", "timeZone": "Asia/Shanghai"})),
        ("cron weekdays", json!({"kind": "cron", "expression": "30 9 * * 1-5", "timeZone": "Europe/Berlin"})),
        ("cron 29 Feb", json!({"kind": "cron", "expression": "0 0 29 2 *", "timeZone": "UTC"})),
        ("quartz 6#3", json!({"kind": "cron", "expression": "0 0 9 ? * 6#3 *", "timeZone": "America/New_York"})),
        ("fixedRate", json!({"kind": "fixedRate", "everySeconds": 10, "startTime": 0})),
        ("repeat hour", json!({"startTime": 1_648_029_600_000_i64, "repeatLevel": "hour", "repeatInterval": 5})),
        ("repeat day", json!({"startTime": 1_648_029_600_000_i64, "timeZone": "Europe/Berlin", "repeatLevel": "day"})),
        (
            "repeat month",
            json!({"startTime": 1_648_029_600_000_i64, "timeZone": "Asia/Shanghai", "repeatLevel": "month", "repeatInterval": 2, "repeatDays": [3, 5, 23]}),
        ),
        ("once", json!({"kind": "once", "at": MONDAY + 1})),
    ]
}

fn single(almanac: &Almanac) -> Result<(), Failed> {
    for (name, document) in kinds() {
        let schedule: Schedule = serde_json::from_value(document)?;
        let plan = schedule.plan(almanac, Timestamp::EPOCH)?;
        let (first, last) = (Timestamp::from_millis(MONDAY), Timestamp::from_millis(MONDAY).plus_seconds(86_400 * 365));

        let rounds = scaled(1_000_000);
        let (mut time, mut sum) = (first, 0_i64);
        let start = Instant::now();
        for _ in 0..rounds {
            time = plan.next_after(time).filter(|next| *next < last).unwrap_or(first);
            sum = sum.wrapping_add(time.millis());
        }
        told("next", name, start.elapsed(), rounds, sum);

        let (mut time, mut sum) = (last, 0_i64);
        let start = Instant::now();
        for _ in 0..rounds {
            time = plan.last_before(time).filter(|before| *before > first).unwrap_or(last);
            sum = sum.wrapping_add(time.millis());
        }
        told("previous", name, start.elapsed(), rounds, sum);

        let rounds = scaled(20_000);
        let mut sum = 0_i64;
        let start = Instant::now();
        for _ in 0..rounds {
            sum = sum.wrapping_add(i64::try_from(plan.count_between(first, last)).unwrap_or(0));
        }
        told("count a year", name, start.elapsed(), rounds, sum);

        let timing = Timing::plain(schedule, Timestamp::EPOCH);
        let mut runs = 0;
        let start = Instant::now();
        for _ in 0..rounds {
            runs += preview(&timing, almanac, first, 20)?.runs.len();
        }
        told("preview 20", name, start.elapsed(), rounds, i64::try_from(runs).unwrap_or(0));
    }
    Ok(())
}

/// As jobs are: most run once a day or less, some every few minutes, a few all the time.
fn mixed(n: usize) -> Result<Schedule, serde_json::Error> {
    let zone = ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC"][n % 4];
    let (minute, hour) = (n * 7 % 60, n * 13 % 24);
    let cron = |expression: String| Ok(Schedule::Cron(Cron::unix(expression, zone)));
    match n % 20 {
        0..=8 => cron(format!("{minute} {hour} * * *")),
        9..=11 => cron(format!("{minute} {hour} * * 1-5")),
        12 => cron(format!("{minute} {hour} 1,15 * *")),
        13 => cron(format!("{minute} * * * *")),
        14 => cron("*/15 * * * *".to_owned()),
        15 => cron("*/5 8-18 * * 1-5".to_owned()),
        16 => cron("* * * * *".to_owned()),
        17 => serde_json::from_value(json!({"kind": "fixedRate", "everySeconds": 30, "startTime": n})),
        18 => serde_json::from_value(json!({
            "startTime": 1_648_029_600_000_i64 + n as i64 * 1000, "timeZone": zone, "repeatLevel": "month", "repeatDays": [1, 20, -1]
        })),
        _ => serde_json::from_value(json!({
            "startTime": 1_648_029_600_000_i64 + n as i64 * 1000, "timeZone": zone, "repeatLevel": "week", "repeatDays": [1, 3, 5]
        })),
    }
}

/// Of this process, where the system tells it.
fn resident_bytes() -> Option<usize> {
    let pages: usize = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn many(almanac: &Almanac) -> Result<(), Failed> {
    const SCREENFUL: usize = 500;
    let count = scaled(100_000);
    let before = resident_bytes();
    let start = Instant::now();
    let mut timings: Vec<CompiledTiming> = Vec::with_capacity(count);
    for n in 0..count {
        timings.push(Timing::plain(mixed(n)?, Timestamp::from_millis(MONDAY - 1)).compile(almanac)?);
    }
    let took = start.elapsed();
    let bytes = resident_bytes().zip(before).map(|(now, before)| now.saturating_sub(before) / count);
    let bytes = bytes.map_or("unknown".to_owned(), |bytes| format!("{bytes} bytes"));
    println!("compile      {count} schedules in {took:.1?}, {bytes} each");

    let monday = Timestamp::from_millis(MONDAY);
    let sunday = monday.plus_seconds(WEEK_SECONDS);
    let grid = Grid::new(monday, 900, 7 * 96);
    let start = Instant::now();
    let mut counts = vec![0_u32; grid.cells()];
    for timing in &timings {
        timing.add_counts(&grid, monday, sunday, &mut counts);
    }
    let took = start.elapsed();
    let all: u64 = counts.iter().copied().map(u64::from).sum();
    let digest = counts.iter().fold(0_u64, |digest, count| digest.wrapping_mul(31).wrapping_add(u64::from(*count)));
    println!("range        {all} firings of {count} jobs in a week, by quarters: {took:.1?}   (checksum {digest:x})");

    let start = Instant::now();
    let mut own = vec![0_u32; grid.cells()];
    let (mut drawn, mut sum) = (0, 0_i64);
    for timing in &timings {
        own.fill(0);
        timing.add_counts(&grid, monday, sunday, &mut own);
        if own.iter().sum::<u32>() > 7 * 24 {
            continue;
        }
        for occurrence in timing.due_between(monday.plus_millis(-1), sunday, SCREENFUL - drawn) {
            drawn += 1;
            sum = sum.wrapping_add(occurrence.due.millis());
        }
        if drawn == SCREENFUL {
            break;
        }
    }
    println!("screenful    {drawn} firings of a week, of {count} jobs: {:.1?}   (checksum {sum:x})", start.elapsed());
    Ok(())
}
