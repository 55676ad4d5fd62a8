//! What the program writes about itself: structured lines, to a file in the data folder and, for a server, to stderr.

use campanile_model::Fault;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::folder::{self, DataFolder};

/// Days of the program's own log that are kept.
const DAYS_KEPT: usize = 7;

/// What is written; `CAMPANILE_LOG` says otherwise, in the manner of `warn,campanile_engine=debug`.
const FILTER: &str = "info,sqlx=warn,hyper=warn,reqwest=warn";

/// Keeps the records flowing; what is still under way is written when it is dropped.
pub struct Records {
    _guard: WorkerGuard,
}

/// Begins to keep records in `logs/campanile.<date>.log`. Only the first call in a program has an effect on where
/// they go.
pub fn keep_records(data: &DataFolder, to_stderr: bool) -> Result<Records, Fault> {
    std::fs::create_dir_all(data.logs()).map_err(|error| folder::fault(&error, data.root()))?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("campanile")
        .filename_suffix("log")
        .max_log_files(DAYS_KEPT)
        .build(data.logs())
        .map_err(|error| folder::fault(&std::io::Error::other(error), data.root()))?;
    let (to_file, guard) = tracing_appender::non_blocking(appender);
    let filter = || EnvFilter::try_from_env("CAMPANILE_LOG").unwrap_or_else(|_| EnvFilter::new(FILTER));
    let file = fmt::layer().json().with_writer(to_file).with_filter(filter());
    let stderr = to_stderr.then(|| fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_filter(filter()));
    // Someone has set one up already where this fails: then that is where they go.
    let _ = tracing_subscriber::registry().with(file).with(stderr).try_init();
    Ok(Records { _guard: guard })
}
