//! The nouns of Campanile and the rules about them: what exists, and what may become of it.
//!
//! Nothing here waits, reads a clock, draws a random number or touches a disk: time is an
//! argument, so that every rule can be checked by a table.

pub mod alarm;
pub mod almanac;
pub mod backfill;
pub mod blackout;
pub mod calendar;
pub mod chain;
pub mod connection;
pub mod error_code;
pub mod executor;
pub mod ids;
pub mod instance;
pub mod job;
pub mod job_check;
pub mod lane;
pub mod ledger;
pub mod limits;
pub mod lock;
pub mod node;
pub mod partition;
pub mod pass;
pub mod question;
pub mod request;
pub mod retention;
pub mod retry;
pub mod schedule;
pub mod secret;
pub mod sharding;
pub mod task;
pub mod template;
pub mod time;
pub mod timeline;
pub mod token;
pub mod words;

pub use almanac::Almanac;
pub use error_code::{Code, Fault};
pub use ids::{AlarmId, DataId, InstanceId, JobId, QuestionId, RequestId, TaskId};
pub use lane::{Lane, LaneClock};
pub use partition::Partitions;
pub use retry::{Failure, FailureClass, FailureRule, Retry};
pub use time::Timestamp;
pub use words::Words;
