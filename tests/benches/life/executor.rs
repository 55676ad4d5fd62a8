//! The executor that the benches work with.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use campanile_sdk::log::{Line, Stream};
use campanile_sdk::proto::v1::Machine;
use campanile_sdk::{Executor, Network, TaskError, processor_fn};
use serde_json::{Value, json};

pub const GROUP: &str = "bench";

pub fn wall_clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `NODES NAME CAPACITY`; several nodes are parted by commas.
pub async fn live(words: &[String]) -> anyhow::Result<()> {
    let [nodes, name, capacity] = words else { anyhow::bail!("usage: executor NODES NAME CAPACITY") };
    let executor = Executor::builder(GROUP, name)
        .capacity(capacity.parse()?)
        // A machine that is measured is busy, and that is not what is asked here.
        .machine(Machine::default)
        .processor(processor_fn("nothing", |_| async { Ok(Value::Null) }))
        .processor(processor_fn("stamp", |_| async { Ok(json!(wall_clock())) }))
        .processor(processor_fn("sleep", |ctx| async move {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(600)) => Ok(Value::Null),
                () = ctx.cancelled() => Err(TaskError::cancelled("asked to end")),
            }
        }))
        .processor(processor_fn("talk", |ctx| async move {
            // So many lines a second, in tenths, for so many seconds.
            let number = |name: &str| ctx.parameters()[name].as_u64().unwrap_or(0);
            let mut tenths = tokio::time::interval(Duration::from_millis(100));
            for tenth in 0..number("seconds") * 10 {
                tenths.tick().await;
                for line in 0..number("lines") / 10 {
                    let line =
                        Line::from_bytes(format!("line {line} of tenth {tenth}, as long as lines are").as_bytes());
                    ctx.line_when_room(Stream::Stdout, line).await;
                }
            }
            Ok(Value::Null)
        }))
        .build()?;
    executor.serve(Network::to_any(nodes.split(',').map(str::to_owned))).await?;
    Ok(())
}
