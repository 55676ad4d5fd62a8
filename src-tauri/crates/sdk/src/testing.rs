//! Runs a processor without an executor, to test it.
//!
//! ```
//! # use campanile_sdk::{Processor, processor_fn, testing::TestRun};
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let double = processor_fn("double", |ctx| async move {
//!     ctx.log("doubling");
//!     Ok((ctx.parameters()["n"].as_i64().unwrap_or(0) * 2).into())
//! });
//! let mut run = TestRun::new(serde_json::json!({ "n": 21 }));
//! assert_eq!(double.process(run.context()).await, Ok(42.into()));
//! assert_eq!(run.log(), ["doubling"]);
//! # });
//! ```

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use campanile_proto::v1;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    CancelStage, TaskContext, TaskError,
    context::{Attempt, Ending},
    locks::{Claim, Door, Stage, Wanted},
    outbox::Outbox,
    sharding::{Item, Items, NewData, Shard, ShardEnd, ShardEnds, ShardingProcessor},
};

/// One attempt, with the test in the place of the node.
pub struct TestRun {
    push: v1::Push,
    context: v1::Context,
    parameters: Value,
    outbox: Arc<Outbox>,
    ending: Arc<Ending>,
    boot_id: String,
    scratch: PathBuf,
    lines: Vec<v1::LogLine>,
    locks: FreeLocks,
}

/// Nobody else is there: every lock is free.
#[derive(Clone, Default)]
struct FreeLocks {
    held: Arc<Mutex<Vec<Arc<Claim>>>>,
    tokens: Arc<AtomicU64>,
}

impl FreeLocks {
    fn held(&self) -> MutexGuard<'_, Vec<Arc<Claim>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn door(&self) -> Arc<Door> {
        let locks = self.clone();
        Door::new(move |wanted| match wanted {
            Wanted::Take(claim) => {
                let mut names = claim.names.clone();
                names.sort_unstable();
                names.dedup();
                let token = |name| (name, locks.tokens.fetch_add(1, Ordering::Relaxed) + 1);
                let until = claim.lease.map(|lease| tokio::time::Instant::now() + lease);
                claim.granted(names.into_iter().map(token).collect(), until);
                locks.held().push(claim);
            }
            Wanted::Leave(number) => {
                for claim in locks.held().extract_if(.., |claim| claim.number == number) {
                    claim.reach(Stage::Left);
                }
            }
        })
    }
}

impl TestRun {
    /// Attempt 1 of task `test-task` of job `test`.
    pub fn new(parameters: Value) -> Self {
        // Tests run beside each other in one process; each has a folder of its own.
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        TestRun {
            push: v1::Push {
                attempt: Some(v1::AttemptRef::new("test-task", 1)),
                idempotency_key: "test-key".into(),
                ..v1::Push::default()
            },
            context: v1::Context {
                job: "test".into(),
                job_version: 1,
                instance_id: "test-instance".into(),
                origin: "manual".into(),
                ..v1::Context::default()
            },
            parameters,
            outbox: Arc::new(Outbox::new(false, |_| {})),
            ending: Arc::new(Ending::new()),
            boot_id: "test-boot".into(),
            scratch: std::env::temp_dir().join(format!("campanile-test-{}-{run}", std::process::id())),
            lines: Vec::new(),
            locks: FreeLocks::default(),
        }
    }

    #[must_use]
    pub fn task(mut self, task_id: &str, attempt: u32) -> Self {
        self.push.attempt = Some(v1::AttemptRef::new(task_id, attempt));
        self
    }

    #[must_use]
    pub fn boot(mut self, boot_id: &str) -> Self {
        self.boot_id = boot_id.to_owned();
        self
    }

    #[must_use]
    pub fn context_of(mut self, context: v1::Context) -> Self {
        self.context = context;
        self
    }

    pub fn context(&self) -> TaskContext {
        TaskContext::new(Attempt {
            push: self.push.clone(),
            context: self.context.clone(),
            parameters: self.parameters.clone(),
            outbox: self.outbox.clone(),
            ending: self.ending.clone(),
            boot_id: self.boot_id.clone(),
            executor: "test-executor".into(),
            scratch: self.scratch.clone(),
            scratch_made: AtomicBool::new(false),
            wall_clock: Arc::new(|| 0),
            locks: self.locks.door(),
        })
    }

    /// Makes every lock that the processor holds a lost one, and asks for the end, as an executor does then.
    pub fn lose_locks(&self) {
        for claim in std::mem::take(&mut *self.locks.held()) {
            claim.lose(&claim.names);
        }
        self.cancel(CancelStage::Ask);
    }

    /// Names of the locks that it holds now.
    pub fn locks(&self) -> Vec<String> {
        self.locks.held().iter().flat_map(|claim| claim.names.clone()).collect()
    }

    /// Asks for the end, as a node does stage by stage.
    pub fn cancel(&self, stage: CancelStage) {
        self.ending.reach(stage);
    }

    /// Everything that was logged so far, whole.
    pub fn lines(&mut self) -> &[v1::LogLine] {
        while let Some(lines) = self.outbox.take_lines(usize::MAX) {
            self.lines.extend(lines.lines);
        }
        &self.lines
    }

    /// The text of every line so far.
    pub fn log(&mut self) -> Vec<String> {
        self.lines().iter().map(|line| line.text.clone()).collect()
    }

    /// Outcomes of items since the last call.
    pub fn items(&self) -> Vec<v1::ItemOutcome> {
        std::iter::from_fn(|| self.outbox.take_items()).flat_map(|items| items.outcomes).collect()
    }

    /// What `pre_process` is given to add to. Beyond 1 MiB it waits until [`TestRun::data`] is looked at.
    pub fn new_data(&self) -> NewData {
        NewData::new(self.context(), self.outbox.clone())
    }

    /// What was added to the new data and handed on so far, by level.
    pub fn data(&self) -> Vec<(u32, Value)> {
        let mut data = Vec::new();
        while let Some(piece) = self.outbox.take_data() {
            self.outbox.data_arrived(&piece);
            let values = piece.items_json.iter().filter_map(|value| serde_json::from_str(value).ok());
            data.extend(values.map(|value| (piece.level, value)));
        }
        data
    }

    /// The latest progress, if there is news.
    pub fn progress(&self) -> Option<v1::Progress> {
        self.outbox.take_progress()
    }
}

/// A whole run of a sharding processor, in the place of a node: `pre_process`, each level as one shard, `post_process`.
#[derive(Debug)]
pub struct ShardedRun {
    /// As the shards got them.
    pub items: Vec<Item>,
    /// Level and place, whether it succeeded, and what was said of it.
    pub outcomes: Vec<((u32, u64), bool, String)>,
    /// What `post_process` returned.
    pub result: Value,
}

impl ShardedRun {
    /// An error is that of the method that failed; shards that fail are shown to `post_process` instead.
    pub async fn of(
        processor: &impl ShardingProcessor,
        parameters: Value,
        data: Vec<Vec<Value>>,
    ) -> Result<ShardedRun, TaskError> {
        let levels = (0..).zip(data);
        let given: Vec<(u32, Value)> =
            levels.flat_map(|(level, values)| values.into_iter().map(move |value| (level, value))).collect();
        let run = TestRun::new(parameters.clone());
        let mut new_data = run.new_data();
        let mut made = Vec::new();
        {
            let work = async {
                processor.pre_process(run.context(), Items::new(arriving(numbered(&given))), &mut new_data).await?;
                new_data.finish().await
            };
            tokio::pin!(work);
            loop {
                tokio::select! {
                    done = &mut work => break done?,
                    () = tokio::task::yield_now() => made.extend(run.data()),
                }
            }
        }
        made.extend(run.data());
        let items = numbered(if made.is_empty() { &given } else { &made });
        let level_count = items.last().map_or(0, |item| item.level + 1);
        let (mut outcomes, mut ends) = (Vec::new(), Vec::new());
        for level in 0..level_count {
            let own: Vec<Item> = items.iter().filter(|item| item.level == level).cloned().collect();
            let shard = Shard { level, level_count, index: 0, count: 1, round: 1, item_count: own.len() as u64 };
            let run = TestRun::new(parameters.clone());
            let result = processor.sharding_process(run.context(), shard, Items::new(arriving(own))).await;
            let said = run.items().into_iter();
            outcomes.extend(said.map(|said| ((level, said.index), said.succeeded, said.message)));
            ends.push(ShardEnd { level, shard: 0, code: if result.is_ok() { 301 } else { 302 }, result });
        }
        let run = TestRun::new(parameters);
        let result = processor.post_process(run.context(), ShardEnds::new(arriving(ends))).await?;
        Ok(ShardedRun { items, outcomes, result })
    }
}

fn numbered(values: &[(u32, Value)]) -> Vec<Item> {
    let mut next = (0, 0);
    let place = |(level, value): &(u32, Value)| {
        next = if *level == next.0 { (next.0, next.1 + 1) } else { (*level, 1) };
        Item { level: *level, index: next.1 - 1, value: value.clone() }
    };
    values.iter().map(place).collect()
}

fn arriving<T: Send + 'static>(all: Vec<T>) -> mpsc::Receiver<Result<T, TaskError>> {
    let (room, arriving) = mpsc::channel(all.len().max(1));
    for one in all {
        room.try_send(Ok(one)).expect("there is room for all of them");
    }
    arriving
}
