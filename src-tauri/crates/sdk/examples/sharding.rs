//! Work that is cut into shards: the four methods, and items reported one by one.
//!
//!     campanile serve --executors 127.0.0.1:4610
//!     cargo run -p campanile-sdk --example sharding

use async_trait::async_trait;
use campanile_sdk::sharding::{Items, NewData, Notice, Shard, ShardEnds};
use campanile_sdk::{Also, Executor, Network, ProcessorInfo, ShardingProcessor, TaskContext, TaskError};
use serde_json::{Value, json};

struct ImportCustomers;

#[async_trait]
impl ShardingProcessor for ImportCustomers {
    fn name(&self) -> &str {
        "import-customers"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name())
            .title("Import customers", "导入客户")
            .also(Also::PreProcess)
            .also(Also::Notify)
            .also(Also::PostProcess)
    }

    async fn pre_process(&self, ctx: TaskContext, mut items: Items, data: &mut NewData) -> Result<(), TaskError> {
        // Who brought others comes first: levels run one after another.
        let mut brought = Vec::new();
        while let Some(item) = items.next().await {
            let customer = item?.value;
            match customer["brought_by"].is_null() {
                true => data.add(0, customer).await?,
                false => brought.push(customer),
            }
        }
        ctx.log(format!("{} customers were brought by others", brought.len()));
        for customer in brought {
            data.add(1, customer).await?;
        }
        Ok(())
    }

    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, mut items: Items) -> Result<Value, TaskError> {
        let mut imported = 0;
        while let Some(item) = items.next().await {
            let item = item?;
            // An item that was reported is not handed out again when the shard is retried.
            match item.value["email"].as_str() {
                Some(_) => {
                    imported += 1;
                    ctx.item(item.index, Ok(()), "");
                }
                None => ctx.item(item.index, Err(()), "there is no e-mail address"),
            }
        }
        ctx.log(format!("shard {} of {}: {imported} imported", shard.index + 1, shard.count));
        Ok(json!({ "imported": imported }))
    }

    async fn notify(&self, ctx: TaskContext, progress: Notice) -> Result<(), TaskError> {
        ctx.log(format!("{} of {} items", progress.items_done, progress.items_total));
        Ok(())
    }

    async fn post_process(&self, _ctx: TaskContext, mut ends: ShardEnds) -> Result<Value, TaskError> {
        let mut imported = 0;
        while let Some(end) = ends.next().await {
            if let Ok(result) = end?.result {
                imported += result["imported"].as_u64().unwrap_or(0);
            }
        }
        Ok(json!({ "imported": imported }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4610".to_owned());
    let executor = Executor::builder("examples", "sharding-1").sharding_processor(ImportCustomers).build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}
