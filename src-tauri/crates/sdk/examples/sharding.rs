//! Work that is cut into shards: the four methods, and items reported one by one.
//!
//! Nodes do not push shards yet, and executors do not host such processors: this is how one is written, and it is run
//! here against data of its own so that what it does can be seen.
//!
//!     cargo run -p campanile-sdk --example sharding

use async_trait::async_trait;
use campanile_sdk::sharding::{Item, Items, Notice, Shard, ShardEnds};
use campanile_sdk::testing::TestRun;
use campanile_sdk::{ShardingProcessor, TaskContext, TaskError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

struct ImportCustomers;

#[async_trait]
impl ShardingProcessor for ImportCustomers {
    fn name(&self) -> &str {
        "import-customers"
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
async fn main() -> Result<(), TaskError> {
    let run = TestRun::new(json!({}));
    let (arriving, items) = mpsc::channel(3);
    let values = [json!({"email": "mei@example.org"}), json!({"name": "nobody"}), json!({"email": "lin@example.org"})];
    for (index, value) in values.into_iter().enumerate() {
        let item = Item { level: 0, index: index as u64, value };
        // There is room for all of them.
        let _ = arriving.send(Ok(item)).await;
    }
    drop(arriving);
    let shard = Shard { level: 0, index: 0, count: 1, round: 1, item_count: 3 };
    let result = ImportCustomers.sharding_process(run.context(), shard, Items::new(items)).await?;
    println!("{result}; {} items were reported", run.items().len());
    Ok(())
}
