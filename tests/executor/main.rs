//! An executor that does what the parameters of its tasks say, for stories about processes: `conformance-executor NODE
//! NAME CAPACITY`.
//!
//! The SDKs for Go and Python have the same one, word for word (`sdks/go/conformance`, `sdks/python/conformance`), and a
//! story is told of all of them. Each attempt that touches a file says so as a line `begins NAME TASK ATTEMPT KEY` or
//! `ends …` in the diary that CAMPANILE_DIARY names. CAMPANILE_TOKEN is what it shows at the door, and CAMPANILE_CERTS the
//! folder of the certificates with which it comes over TLS.
//!
//! What is to last until a story has seen what it came for has the parameter `until`: the path of a file, and it lasts
//! until that is there. Everything else lasts `ms` milliseconds.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use campanile_sdk::{CancelStage, Executor, Network, Processor, TaskContext, TaskError, processor_fn};
use serde_json::{Value, json};

/// Between two looks for the file of `until`.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = |what: &str| words.next().ok_or(format!("usage: NODE NAME CAPACITY; there is no {what}"));
    let (node, name, capacity) = (word("node")?, word("name")?, word("capacity")?.parse()?);
    let mut network = Network::to(node);
    if let Some(certs) = std::env::var_os("CAMPANILE_CERTS") {
        let read = |name: &str| std::fs::read(Path::new(&certs).join(name));
        network = network.ca_certificate(read("ca.pem")?);
        network = network.identity(read("executor.pem")?, read("executor-key.pem")?);
    }
    let executor = Executor::builder("conformance", name)
        .capacity(capacity)
        .token(std::env::var("CAMPANILE_TOKEN").unwrap_or_default())
        .processor(echo())
        .processor(fails())
        .processor(panics())
        .processor(talks())
        .processor(walks())
        .processor(sleeps())
        .processor(stubborn())
        .processor(locks())
        .build()?;
    executor.serve(network).await?;
    Ok(())
}

fn number(ctx: &TaskContext, name: &str) -> u64 {
    ctx.parameters()[name].as_u64().unwrap_or(0)
}

fn text(ctx: &TaskContext, name: &str) -> String {
    ctx.parameters()[name].as_str().unwrap_or_default().to_owned()
}

fn says(ctx: &TaskContext, what: &str) {
    let Some(diary) = std::env::var_os("CAMPANILE_DIARY") else { return };
    let line = format!("{what} {} {} {} {}\n", ctx.executor(), ctx.task_id(), ctx.attempt(), ctx.idempotency_key());
    let file = OpenOptions::new().create(true).append(true).open(diary);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the diary can be written");
}

fn echo() -> impl Processor {
    processor_fn("echo", |ctx| async move {
        ctx.log("an echo");
        Ok(json!({
            "parameters": ctx.parameters(),
            "attempt": ctx.attempt(),
            "key": ctx.idempotency_key(),
            "job": ctx.job(),
            "origin": ctx.origin(),
        }))
    })
}

fn fails() -> impl Processor {
    processor_fn("fails", |ctx| async move {
        says(&ctx, "begins");
        let (code, message) = ("said_no", "it was told to");
        Err::<Value, _>(match text(&ctx, "class").as_str() {
            "business" => TaskError::business(code, message),
            "system" => TaskError::system(code, message),
            _ => TaskError::transient(code, message),
        })
    })
}

fn panics() -> impl Processor {
    processor_fn("panics", |_| async move { panic!("it was told to") })
}

fn talks() -> impl Processor {
    processor_fn("talks", |ctx| async move {
        for line in 0..number(&ctx, "lines") {
            let line = campanile_sdk::log::Line::from_bytes(format!("line {line}").as_bytes());
            ctx.line_when_room(campanile_sdk::log::Stream::Stdout, line).await;
        }
        Ok(Value::Null)
    })
}

fn walks() -> impl Processor {
    processor_fn("walks", |ctx| async move {
        let steps = number(&ctx, "steps");
        for step in 1..=steps {
            ctx.progress(100.0 * step as f64 / steps as f64, format!("step {step}"));
        }
        Ok(steps.into())
    })
}

/// Lasts as long as its parameters say; ends early, as cancelled, when it is asked to.
async fn lasts(ctx: &TaskContext) -> Result<(), TaskError> {
    let over = async {
        match ctx.parameters()["until"].as_str().map(Path::new) {
            None => tokio::time::sleep(Duration::from_millis(number(ctx, "ms"))).await,
            Some(file) => {
                while !file.exists() {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    };
    tokio::select! {
        () = over => Ok(()),
        () = ctx.cancelled() => Err(TaskError::cancelled("asked to end")),
    }
}

fn sleeps() -> impl Processor {
    processor_fn("sleeps", |ctx| async move {
        says(&ctx, "begins");
        lasts(&ctx).await?;
        says(&ctx, "ends");
        Ok(ctx.attempt().into())
    })
}

/// Takes a lock, again if told so, keeps it for a while and says when it has it and when it lets go.
fn locks() -> impl Processor {
    processor_fn("locks", |ctx| async move {
        let (name, wait) = (text(&ctx, "lock"), ctx.parameters()["waitMs"].as_u64().unwrap_or(60_000));
        let lock = ctx.lock(&name).wait(Duration::from_millis(wait)).await?;
        says(&ctx, &format!("locks:{}", lock.token()));
        if ctx.parameters()["again"] == true {
            let again = ctx.lock(&name).wait(Duration::ZERO).await?;
            says(&ctx, &format!("locks:{}", again.token()));
            again.release().await?;
        }
        lasts(&ctx).await?;
        says(&ctx, &format!("leaves:{}", lock.token()));
        let token = lock.token();
        lock.release().await?;
        Ok(token.into())
    })
}

/// Hears nothing before the last stage.
fn stubborn() -> impl Processor {
    processor_fn("stubborn", |ctx| async move {
        says(&ctx, "begins");
        ctx.cancel_reaches(CancelStage::Kill).await;
        Err::<Value, _>(TaskError::cancelled("killed"))
    })
}
