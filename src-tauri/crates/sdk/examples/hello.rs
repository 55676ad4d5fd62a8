//! The least executor: one processor, one node.
//!
//!     campanile serve --executors 127.0.0.1:4610
//!     cargo run -p campanile-sdk --example hello -- 127.0.0.1:4610

use campanile_sdk::{Executor, Network, TaskError, processor_fn};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4610".to_owned());
    let greet = processor_fn("greet", |ctx| async move {
        let name = ctx.parameters()["name"].as_str().unwrap_or("world").to_owned();
        ctx.log(format!("hello, {name}"));
        Ok::<_, TaskError>(json!({ "greeted": name }))
    });
    let executor = Executor::builder("examples", "hello-1").processor(greet).build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}
