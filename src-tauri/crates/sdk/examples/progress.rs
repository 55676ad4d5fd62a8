//! Parameters as a type, progress, being cancelled, and errors that say whether another try is worth it.
//!
//!     campanile serve --executors 127.0.0.1:4610
//!     cargo run -p campanile-sdk --example progress -- 127.0.0.1:4610
//!
//! A job for it: `executorGroup: examples`, `processor: copy-rows`, `parameters: {table: orders, rows: 500}`.

use std::time::Duration;

use async_trait::async_trait;
use campanile_sdk::{Executor, Network, Processor, ProcessorInfo, TaskContext, TaskError};
use serde::Deserialize;
use serde_json::{Value, json};

struct CopyRows;

#[derive(Deserialize)]
struct Wanted {
    table: String,
    rows: u32,
}

#[async_trait]
impl Processor for CopyRows {
    fn name(&self) -> &str {
        "copy-rows"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name()).parameters(json!({
            "type": "object",
            "required": ["table", "rows"],
            "properties": {
                "table": {"type": "string", "title": "Table", "title:zh": "表"},
                "rows": {"type": "integer", "minimum": 1, "title": "Rows", "title:zh": "行数"},
            },
        }))
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        let wanted: Wanted = ctx.parameters_as()?;
        if wanted.table.contains(';') {
            // It would fail again: there is nothing to retry.
            return Err(TaskError::business("examples.table", "a table's name has no semicolon"));
        }
        for row in 0..wanted.rows {
            tokio::select! {
                () = ctx.cancelled() => {
                    ctx.log(format!("{row} rows were copied before it was asked to end"));
                    return Err(TaskError::cancelled("asked to end"));
                }
                () = copy_one() => {}
            }
            ctx.progress(f64::from(row + 1) * 100.0 / f64::from(wanted.rows), format!("row {}", row + 1));
        }
        Ok(json!({ "table": wanted.table, "rows": wanted.rows, "key": ctx.idempotency_key() }))
    }
}

async fn copy_one() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4610".to_owned());
    let executor = Executor::builder("examples", "progress-1").processor(CopyRows).capacity(8).build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}
