//! The processors that come with Campanile: `shell`, `http`, `sql`, `import`.
//!
//! Each is one file, or a folder, with its parameters, their schema (from which the console
//! makes its form) and the work, on top of the SDK and nothing else of ours: what
//! they can do, anyone's processor can.
//!
//! Which of them an executor hosts, what they may reach and where they keep their
//! records is for the host to decide; nothing here reads a configuration.

pub mod children;
pub mod connection_check;
pub mod http;
pub mod import;
pub mod shell;
pub mod sql;

pub use children::{ChildLedger, EndedChild};
pub use connection_check::{CHECK_WITHIN, Obstacle, check_connection};
pub use http::{HttpPolicy, HttpProcessor, PrivateAddresses};
pub use import::{Files, ImportProcessor};
pub use shell::{ShellProcessor, ShellShards};
pub use sql::{Connections, SqlProcessor};
