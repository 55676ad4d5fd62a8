//! An executor: processors under one name, built and then run.

use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    hash::{BuildHasher, Hasher, RandomState},
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use campanile_proto::v1;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Processor, ProcessorInfo, ShardingProcessor, Transport, session::Session};

/// What [`Executor::run`] leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Attempts that did not end in the time there was. Whatever processes they
    /// started may still run.
    pub unfinished: usize,
    /// Attempts of which the node did not acknowledge everything.
    pub unreported: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("an executor needs a group and a name")]
    Nameless,
    #[error("an executor needs at least one processor")]
    NoProcessor,
    #[error("two processors are named {0}")]
    DoubleProcessor(String),
    #[error("the parameter schema of processor {0} is not a JSON object")]
    SchemaNotAnObject(String),
    #[error("the capacity must be at least 1")]
    NoCapacity,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The node will not have this executor, and says not to try again.
    #[error("{code}: {message_en}")]
    Refused { code: String, message_en: String, message_zh: String },
}

/// What an executor is, once built. [`Executor::run`] makes it live.
pub struct Executor {
    pub(crate) config: Config,
    capacity: Arc<watch::Sender<v1::Capacity>>,
}

/// A processor under its name; it may do both kinds of work.
pub(crate) struct Hosted {
    pub info: ProcessorInfo,
    pub whole: Option<Arc<dyn Processor>>,
    pub shards: Option<Arc<dyn ShardingProcessor>>,
}

/// What a processor does: all of a task, or a piece of what is cut up.
#[derive(Clone)]
pub(crate) enum Work {
    Whole(Arc<dyn Processor>),
    Shards(Arc<dyn ShardingProcessor>),
}

impl Work {
    fn hosted(self) -> Hosted {
        match self {
            Work::Whole(whole) => Hosted { info: whole.describe(), whole: Some(whole), shards: None },
            Work::Shards(shards) => Hosted { info: shards.describe(), whole: None, shards: Some(shards) },
        }
    }
}

impl Hosted {
    pub fn kind(&self) -> v1::ProcessorKind {
        match self.whole {
            Some(_) => v1::ProcessorKind::Unicast,
            None => v1::ProcessorKind::Sharding,
        }
    }

    /// In the order of their numbers.
    pub fn methods(&self) -> Vec<v1::Method> {
        let mut methods = Vec::new();
        methods.extend(self.whole.as_ref().map(|_| v1::Method::Process));
        if self.shards.is_some() {
            methods.extend(self.info.also.iter().map(|also| v1::Method::from(*also)));
            methods.push(v1::Method::ShardingProcess);
        }
        methods.sort_unstable();
        methods
    }

    /// Who is called for the method; none: it has not got it.
    pub fn work(&self, method: v1::Method) -> Option<Work> {
        match method {
            v1::Method::Process => self.whole.clone().map(Work::Whole),
            _ => self.shards.clone().map(Work::Shards),
        }
    }

    /// The same name for the other kind of work. False: there is one of that kind already.
    fn joined_by(&mut self, other: Hosted) -> bool {
        if (self.whole.is_some() && other.whole.is_some()) || (self.shards.is_some() && other.shards.is_some()) {
            return false;
        }
        self.whole = self.whole.take().or(other.whole);
        self.shards = self.shards.take().or(other.shards);
        self.info.also.extend(other.info.also);
        true
    }
}

pub(crate) struct Config {
    pub group: String,
    pub name: String,
    pub boot_id: String,
    pub labels: HashMap<String, String>,
    pub token: String,
    pub public_key: Vec<u8>,
    pub secret_key: Option<crate::SecretKey>,
    pub processors: BTreeMap<String, Hosted>,
    pub machine: Option<Arc<dyn Fn() -> v1::Machine + Send + Sync>>,
    pub wall_clock: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub scratch: PathBuf,
    pub time_to_leave: Duration,
}

/// Changes how much a running executor takes. Lowering it stops nothing.
#[derive(Clone)]
pub struct CapacityDial(Arc<watch::Sender<v1::Capacity>>);

impl CapacityDial {
    pub fn set(&self, running: u32, queued: u32) {
        self.0.send_replace(v1::Capacity { running: running.max(1), queued });
    }
}

impl Executor {
    /// `group` is the service that it belongs to; `name` is unique among the live
    /// executors of the group.
    pub fn builder(group: impl Into<String>, name: impl Into<String>) -> Builder {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Builder {
            running: u32::try_from(2 * cores).unwrap_or(u32::MAX),
            queued: None,
            processors: Vec::new(),
            config: Config {
                group: group.into(),
                name: name.into(),
                boot_id: random_boot_id(),
                labels: HashMap::new(),
                token: String::new(),
                public_key: Vec::new(),
                secret_key: None,
                processors: BTreeMap::new(),
                machine: None,
                wall_clock: Arc::new(system_time_ms),
                scratch: PathBuf::new(),
                time_to_leave: Duration::from_secs(30),
            },
        }
    }

    pub fn boot_id(&self) -> &str {
        &self.config.boot_id
    }

    pub fn capacity_dial(&self) -> CapacityDial {
        CapacityDial(self.capacity.clone())
    }

    /// Lives until the process is asked to end: by Ctrl-C, or by TERM where there are signals. What runs then has its
    /// time to leave; asked once more, it does not wait.
    #[cfg(feature = "network")]
    pub async fn serve(self, network: crate::Network) -> Result<Left, RunError> {
        let shutdown = CancellationToken::new();
        let asked = shutdown.clone();
        let listening = tokio::spawn(async move {
            asked_to_end().await;
            asked.cancel();
            asked_to_end().await;
            std::process::exit(130);
        });
        let left = self.run(network, shutdown).await;
        listening.abort();
        left
    }

    /// Lives until `shutdown` is cancelled and what runs has ended, or its time to
    /// leave is over. Connects, and connects again whenever the stream breaks; what
    /// runs goes on meanwhile.
    ///
    /// Dropping this future abandons what runs without a word to the node.
    pub async fn run(self, transport: impl Transport, shutdown: CancellationToken) -> Result<Left, RunError> {
        let capacity = self.capacity.subscribe();
        Session::new(self.config, Arc::new(transport), shutdown, capacity).run().await
    }
}

pub struct Builder {
    config: Config,
    running: u32,
    queued: Option<u32>,
    processors: Vec<Work>,
}

impl Builder {
    #[must_use]
    pub fn processor(mut self, processor: impl Processor) -> Self {
        self.processors.push(Work::Whole(Arc::new(processor)));
        self
    }

    /// One whose work is cut into shards. It may have the name of a [`Processor`]: then that one does runs that are not
    /// cut up, and describes both.
    #[must_use]
    pub fn sharding_processor(mut self, processor: impl ShardingProcessor) -> Self {
        self.processors.push(Work::Shards(Arc::new(processor)));
        self
    }

    /// How many attempts run at once; twice the cores of the machine by default.
    #[must_use]
    pub fn capacity(mut self, running: u32) -> Self {
        self.running = running;
        self
    }

    /// How many more may wait here; as many as may run, by default.
    #[must_use]
    pub fn queued(mut self, queued: u32) -> Self {
        self.queued = Some(queued);
        self
    }

    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.labels.insert(key.into(), value.into());
        self
    }

    /// What admits the executor to its group, where the node asks for it.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.config.token = token.into();
        self
    }

    /// What opens the secrets of the group; the same for all of its executors. Without it a task that names a secret
    /// is refused.
    #[must_use]
    pub fn secret_key(mut self, key: crate::SecretKey) -> Self {
        self.config.public_key = key.public().to_vec();
        self.config.secret_key = Some(key);
        self
    }

    /// Must be another one at each start of the process; made up at random unless
    /// given.
    #[must_use]
    pub fn boot_id(mut self, boot_id: impl Into<String>) -> Self {
        self.config.boot_id = boot_id.into();
        self
    }

    /// Reads the machine, once every ten seconds, in the place of the SDK's own reader. Must not block.
    #[must_use]
    pub fn machine(mut self, read: impl Fn() -> v1::Machine + Send + Sync + 'static) -> Self {
        self.config.machine = Some(Arc::new(read));
        self
    }

    /// What log lines and reports are stamped with. Nothing is decided by it.
    #[must_use]
    pub fn wall_clock(mut self, now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.config.wall_clock = Arc::new(now_ms);
        self
    }

    /// Where the folders of [`crate::TaskContext::scratch`] are made; in the
    /// system's folder for temporary files by default.
    #[must_use]
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config.scratch = folder.into();
        self
    }

    /// How long what runs may go on once the executor is to shut down. After it,
    /// processors are asked and terminated, and 5 s later killed.
    #[must_use]
    pub fn time_to_leave(mut self, limit: Duration) -> Self {
        self.config.time_to_leave = limit;
        self
    }

    pub fn build(mut self) -> Result<Executor, BuildError> {
        if self.config.group.is_empty() || self.config.name.is_empty() {
            return Err(BuildError::Nameless);
        }
        if self.running == 0 {
            return Err(BuildError::NoCapacity);
        }
        if self.processors.is_empty() {
            return Err(BuildError::NoProcessor);
        }
        for work in self.processors {
            let hosted = work.hosted();
            if !hosted.info.parameter_schema.is_object() {
                return Err(BuildError::SchemaNotAnObject(hosted.info.name));
            }
            let name = hosted.info.name.clone();
            match self.config.processors.entry(name.clone()) {
                Entry::Vacant(free) => {
                    free.insert(hosted);
                }
                Entry::Occupied(mut there) => {
                    if !there.get_mut().joined_by(hosted) {
                        return Err(BuildError::DoubleProcessor(name));
                    }
                }
            }
        }
        if self.config.scratch.as_os_str().is_empty() {
            self.config.scratch = std::env::temp_dir().join(format!("campanile-{}", self.config.boot_id));
        }
        #[cfg(feature = "machine")]
        if self.config.machine.is_none()
            && let Some(reader) = crate::machine::MachineReader::new()
        {
            self.config.machine = Some(Arc::new(move || reader.read()));
        }
        let capacity = v1::Capacity { running: self.running, queued: self.queued.unwrap_or(self.running) };
        Ok(Executor { config: self.config, capacity: Arc::new(watch::Sender::new(capacity)) })
    }
}

#[cfg(all(feature = "network", unix))]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(all(feature = "network", not(unix)))]
async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

fn system_time_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// 128 bits out of the seeds that the standard library draws from the system for
/// its hash maps: unique is all that a boot id has to be.
fn random_boot_id() -> String {
    let draw = |salt: u64| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(salt);
        hasher.write_u32(std::process::id());
        hasher.write_i64(system_time_ms());
        hasher.finish()
    };
    format!("{:016x}{:016x}", draw(1), draw(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor_fn;

    fn idle(name: &str) -> impl Processor {
        processor_fn(name, |_| async { Ok(serde_json::Value::Null) })
    }

    #[test]
    fn what_could_not_work_is_refused_before_it_runs() {
        let refusal = |builder: Builder| builder.build().err().map(|error| error.to_string());
        assert_eq!(refusal(Executor::builder("g", "n").processor(idle("a"))), None);
        assert_eq!(refusal(Executor::builder("g", "")).as_deref(), Some("an executor needs a group and a name"));
        assert_eq!(refusal(Executor::builder("g", "n")).as_deref(), Some("an executor needs at least one processor"));
        assert_eq!(
            refusal(Executor::builder("g", "n").processor(idle("a")).processor(idle("a"))).as_deref(),
            Some("two processors are named a")
        );
        assert_eq!(
            refusal(Executor::builder("g", "n").processor(idle("a")).capacity(0)).as_deref(),
            Some("the capacity must be at least 1")
        );
    }

    #[test]
    fn no_two_boots_have_one_id() {
        assert_ne!(random_boot_id(), random_boot_id());
    }
}
