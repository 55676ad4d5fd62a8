//! Items from a file into the store: how many a second are looked at and taken in, and with how much memory.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Options, Who};
use campanile_sheets::{Cell, Report, ReportKind};
use serde_json::{Value, json};

use crate::figures::scaled;

const PATIENCE: Duration = Duration::from_secs(1800);

/// A customer, of about a hundred bytes as an item.
const COLUMNS: [&str; 5] = ["id", "name", "city", "mail", "amount"];

fn row(n: usize) -> [String; 5] {
    [
        format!("{n:09}"),
        format!("客户 {n}"),
        ["上海", "Berlin", "Oslo"][n % 3].to_owned(),
        format!("c{n}@example.com"),
        format!("{}.{:02}", n % 10_000, n % 100),
    ]
}

pub async fn from_files() -> anyhow::Result<()> {
    let count = scaled(1_000_000, 10_000);
    let folder = tempfile::tempdir()?;
    let table = folder.path().join("customers.csv");
    let mut text = BufWriter::new(File::create(&table)?);
    writeln!(text, "{}", COLUMNS.join(","))?;
    for n in 0..count {
        writeln!(text, "{}", row(n).join(","))?;
    }
    text.into_inner()?.sync_all()?;
    let book = folder.path().join("customers.xlsx");
    let mut file = File::create(&book)?;
    let mut sheet = Report::begin(ReportKind::Xlsx, "customers", COLUMNS.map(Cell::from).to_vec())?;
    for n in 0..count {
        sheet.row(&row(n).map(|cell| Cell::from(cell.as_str())))?;
        file.write_all(&sheet.take()?)?;
    }
    file.write_all(&sheet.finish()?)?;
    drop(file);

    let host = Host::open(Options { data: folder.path().join("data"), who: Who::Command }).await?;
    let before = peak();
    for path in [&table, &book] {
        take_in(&host, path, count).await?;
    }
    println!("items       memory at most: {} MB before, {} MB after", before, peak());
    host.close().await;
    Ok(())
}

async fn take_in(host: &Host, path: &Path, count: usize) -> anyhow::Result<()> {
    let given = host.hand_in(path)?;
    let began = Instant::now();
    let looked = settled(host, "look_at_data", &given.file).await?;
    let looking = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let staged = settled(host, "stage_data", &given.file).await?;
    let staging = began.elapsed().as_secs_f64();
    let bytes = given.bytes as f64 / 1e6;
    let name = &given.name;
    println!(
        "items       {count} of {name} ({bytes:.0} MB): looked at {:.0} a second, taken in {:.0} a second; sha256 {}",
        count as f64 / looking,
        count as f64 / staging,
        &looked["look"]["sha256"].as_str().unwrap_or_default()[..8],
    );
    ensure!(staged["phase"] == "staged" && staged["items"] == json!(count), "{staged}");
    ask(host, "discard_data", json!({"file": given.file})).await?;
    Ok(())
}

async fn settled(host: &Host, operation: &str, file: &str) -> anyhow::Result<Value> {
    let began = Instant::now();
    let mut view = ask(host, operation, json!({"file": file})).await?;
    while matches!(view["phase"].as_str(), Some("looking" | "staging")) {
        ensure!(began.elapsed() < PATIENCE, "{operation} takes too long");
        view = ask(host, "data_file", json!({"file": file})).await?;
    }
    Ok(view)
}

async fn ask(host: &Host, operation: &str, input: Value) -> anyhow::Result<Value> {
    let cx = CallContext { who: host.person().clone(), zone: String::new(), lang: Lang::En };
    host.call(operation, input, &cx).await.with_context(|| operation.to_owned())
}

/// Of this process, in MB; 0 where the system does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes / 1024)
}
