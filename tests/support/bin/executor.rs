//! An executor for stories, as a process of its own: `demo-executor --node HOST:PORT --name NAME ...`.
//!
//! What it does it also writes down, in a file that the job names, so that a story can hold what ran against what the
//! node says of it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use campanile_sdk::{Executor, Network, TaskContext, TaskError, processor_fn};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> std::process::ExitCode {
    match live().await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn live() -> Result<(), Box<dyn std::error::Error>> {
    let mut nodes = Vec::new();
    let (mut group, mut name, mut token) = ("demo".to_owned(), "demo-1".to_owned(), String::new());
    let (mut ca, mut identity) = (None, None);
    let mut capacity = 4;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--node" => nodes.push(value),
            "--group" => group = value,
            "--name" => name = value,
            "--token" => token = value,
            "--capacity" => capacity = value.parse()?,
            // PEM files: an authority, and a folder with executor.pem and its key.
            "--ca" => ca = Some(std::fs::read(value)?),
            "--identity" => {
                let folder = Path::new(&value);
                let read = |name: &str| std::fs::read(folder.join(name));
                identity = Some((read("executor.pem")?, read("executor-key.pem")?));
            }
            _ => return Err(format!("{word} is not known").into()),
        }
    }
    let mut network = Network::to_any(nodes);
    if let Some(ca) = ca {
        network = network.ca_certificate(ca);
    }
    if let Some((certificate, key)) = identity {
        network = network.identity(certificate, key);
    }
    let executor = Executor::builder(group, name)
        .token(token)
        .capacity(capacity)
        .time_to_leave(Duration::from_secs(2))
        .processor(processor_fn("greet", greet))
        .processor(processor_fn("diary", diary))
        .processor(processor_fn("panic", |_| async { panic!("as it was asked to") }))
        .build()?;
    executor.serve(network).await?;
    Ok(())
}

async fn greet(ctx: TaskContext) -> Result<Value, TaskError> {
    let name = ctx.parameters()["name"].as_str().unwrap_or("world").to_owned();
    ctx.log(format!("hello, {name}"));
    Ok(json!({ "greeted": name, "by": ctx.executor() }))
}

/// Writes `begins TASK ATTEMPT EXECUTOR BOOT`, waits for as many seconds as `seconds` has for this attempt (its last
/// number for all later ones), and writes `ends ...`, or `stops ...` where it was asked to.
async fn diary(ctx: TaskContext) -> Result<Value, TaskError> {
    let parameters = ctx.parameters().clone();
    let path = parameters["diary"].as_str().unwrap_or("/dev/null").to_owned();
    let write = |what: &str| {
        let line = format!("{what} {} {} {} {}\n", ctx.task_id(), ctx.attempt(), ctx.executor(), ctx.boot_id());
        let file = OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            ctx.log(format!("the diary cannot be written: {error}"));
        }
    };
    let spans: Vec<f64> = parameters["seconds"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let at = (ctx.attempt() as usize - 1).min(spans.len().saturating_sub(1));
    let span = Duration::from_secs_f64(spans.get(at).copied().unwrap_or(0.0));
    write("begins");
    tokio::select! {
        () = tokio::time::sleep(span) => {
            write("ends");
            Ok(json!({ "by": ctx.executor() }))
        }
        _ = ctx.cancelled() => {
            write("stops");
            Err(TaskError::cancelled("as it was asked to"))
        }
    }
}
