//! What an author of executors depends on: write a processor, host it, run it.
//!
//! ```no_run
//! use campanile_sdk::{processor_fn, Executor, TaskError};
//! use serde_json::json;
//!
//! # async fn run(transport: campanile_sdk::transport::InProcess) -> Result<(), Box<dyn std::error::Error>> {
//! let executor = Executor::builder("billing", "billing-1")
//!     .processor(processor_fn("greet", |ctx| async move {
//!         let name = ctx.parameters()["name"].as_str().unwrap_or("world").to_owned();
//!         ctx.log(format!("hello, {name}"));
//!         Ok::<_, TaskError>(json!({ "greeted": name }))
//!     }))
//!     .capacity(8)
//!     .build()?;
//! executor.run(transport, tokio_util::sync::CancellationToken::new()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A processor is given a [`TaskContext`] and returns a JSON result or a
//! [`TaskError`], which says whether another try is worth it. Everything else is
//! the executor's: the lease, credit, acknowledgements, reconnection, that an
//! attempt is never run twice, and an orderly end.
//!
//! The SDK knows the protocol and nothing else of ours, because users pin it. It
//! keeps no state on disk: after a restart of its process an executor holds
//! nothing, and the node decides what becomes of its attempts.

pub mod context;
pub mod executor;
pub mod failure;
pub mod locks;
pub mod log;
#[cfg(feature = "machine")]
pub mod machine;
#[cfg(feature = "network")]
pub mod network;
pub mod processor;
pub mod sharding;
pub mod testing;
pub mod transport;

mod outbox;
mod secrets;
mod session;

pub use campanile_proto as proto;

pub use context::{CancelStage, TaskContext, Undroppable};
pub use executor::{BuildError, Builder, Executor, Left, RunError};
pub use failure::{Class, FailureCode, TaskError};
pub use locks::{LockGuard, LockRequest};
#[cfg(feature = "network")]
pub use network::Network;
pub use processor::{Processor, ProcessorInfo, Question, processor_fn};
pub use secrets::{KeyError, SecretKey};
pub use sharding::{Also, ShardingProcessor};
pub use transport::{ConnectError, Transport, Wire};
