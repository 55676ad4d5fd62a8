//! Two of these never book the same account at once, wherever they run.
//!
//!     campanile serve --executors 127.0.0.1:4610
//!     cargo run -p campanile-sdk --example locking -- 127.0.0.1:4610
//!
//! A job for it: `executorGroup: examples`, `processor: book`, `parameters: {account: "17"}`. Run it twice at once.

use std::time::Duration;

use campanile_sdk::{Executor, Network, TaskError, processor_fn};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4610".to_owned());
    let book = processor_fn("book", |ctx| async move {
        let account = ctx.parameters()["account"].as_str().unwrap_or_default().to_owned();
        let guard = ctx.lock(format!("accounts/{account}")).wait(Duration::from_secs(60)).await?;
        ctx.log(format!("account {account} is ours with token {}", guard.token()));
        // What is written shows the token, for the time when two believe that it is theirs:
        //   UPDATE accounts SET balance = :new, token = :token WHERE id = :account AND token <= :token
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
            // Also when the lock is lost.
            () = ctx.cancelled() => return Err(TaskError::cancelled("asked to end")),
        }
        let token = guard.token();
        guard.release().await?;
        Ok(json!({ "account": account, "token": token }))
    });
    let executor = Executor::builder("examples", "locking-1").processor(book).capacity(8).build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}
