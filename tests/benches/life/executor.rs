//! The executor that the benches work with.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use campanile_sdk::log::{Line, Stream};
use campanile_sdk::proto::v1::Machine;
use campanile_sdk::sharding::{Items, NewData, Shard};
use campanile_sdk::{Also, Executor, Network, ProcessorInfo, ShardingProcessor, TaskContext, TaskError, processor_fn};
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
        .sharding_processor(Shards)
        .build()?;
    executor.serve(Network::to_any(nodes.split(',').map(str::to_owned))).await?;
    Ok(())
}

/// Gives as many items as it is told to, about as long as a line of a table, and says of each that it is done.
struct Shards;

#[async_trait]
impl ShardingProcessor for Shards {
    fn name(&self) -> &str {
        "shards"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name()).also(Also::PreProcess)
    }

    async fn pre_process(&self, ctx: TaskContext, _: Items, data: &mut NewData) -> Result<(), TaskError> {
        for n in 0..ctx.parameters()["items"].as_u64().unwrap_or(0) {
            let row =
                json!([n, format!("customer {n}"), format!("{n}@example.org"), "1985-04-12", "Shanghai", n * 7 % 1000]);
            data.add(0, row).await?;
        }
        Ok(())
    }

    async fn sharding_process(&self, ctx: TaskContext, _: Shard, mut items: Items) -> Result<Value, TaskError> {
        if ctx.parameters()["hangs"] == true {
            ctx.cancelled().await;
            return Err(TaskError::cancelled("asked to end"));
        }
        while let Some(item) = items.next().await {
            ctx.item(item?.index, Ok(()), "");
        }
        Ok(Value::Null)
    }
}
