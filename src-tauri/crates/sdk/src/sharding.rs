//! A processor whose work is cut into shards, which run at many executors.
//!
//! Only [`ShardingProcessor::sharding_process`] has to be written; of the other methods those are called that
//! [`ProcessorInfo::also`] names.

use std::sync::Arc;

use async_trait::async_trait;
use campanile_proto::v1;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{ProcessorInfo, TaskContext, TaskError, failure, outbox::Outbox};

/// Of one value of the data, as JSON.
pub const MAX_ITEM_BYTES: usize = 1_000_000;

/// Values in one piece of new data, and bytes of them where there are several.
const MOST_IN_PIECE: usize = 1000;
const MOST_BYTES_IN_PIECE: usize = 512 * 1024;

#[async_trait]
pub trait ShardingProcessor: Send + Sync + 'static {
    fn name(&self) -> &str;

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name())
    }

    /// Once, at one executor, before anything else. What it adds to `data` takes the place of what the job has; where
    /// it adds nothing, the job's own is kept.
    ///
    /// Called where [`ProcessorInfo::also`] names [`Also::PreProcess`].
    async fn pre_process(&self, _ctx: TaskContext, _items: Items, _data: &mut NewData) -> Result<(), TaskError> {
        Ok(())
    }

    /// The work of one shard. Outcomes of single items are reported by
    /// `ctx.item`; an item that was reported is not handed out again when the
    /// shard is retried. Without any, the shard is judged by what this returns.
    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, items: Items) -> Result<Value, TaskError>;

    /// When progress has grown by the job's `notifyStep`. Its failure fails nothing.
    ///
    /// Called where [`ProcessorInfo::also`] names [`Also::Notify`].
    async fn notify(&self, _ctx: TaskContext, _progress: Notice) -> Result<(), TaskError> {
        Ok(())
    }

    /// Once all shards are final, failed ones included; not after a cancel.
    ///
    /// Called where [`ProcessorInfo::also`] names [`Also::PostProcess`].
    async fn post_process(&self, _ctx: TaskContext, _ends: ShardEnds) -> Result<Value, TaskError> {
        Ok(Value::Null)
    }
}

#[async_trait]
impl<P: ShardingProcessor + ?Sized> ShardingProcessor for Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn describe(&self) -> ProcessorInfo {
        (**self).describe()
    }

    async fn pre_process(&self, ctx: TaskContext, items: Items, data: &mut NewData) -> Result<(), TaskError> {
        (**self).pre_process(ctx, items, data).await
    }

    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, items: Items) -> Result<Value, TaskError> {
        (**self).sharding_process(ctx, shard, items).await
    }

    async fn notify(&self, ctx: TaskContext, progress: Notice) -> Result<(), TaskError> {
        (**self).notify(ctx, progress).await
    }

    async fn post_process(&self, ctx: TaskContext, ends: ShardEnds) -> Result<Value, TaskError> {
        (**self).post_process(ctx, ends).await
    }
}

/// A method that a sharding processor need not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Also {
    PreProcess,
    Notify,
    PostProcess,
}

impl From<Also> for v1::Method {
    fn from(also: Also) -> Self {
        match also {
            Also::PreProcess => v1::Method::PreProcess,
            Also::Notify => v1::Method::Notify,
            Also::PostProcess => v1::Method::PostProcess,
        }
    }
}

/// Which piece of the data this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The row of the data, counted from 0.
    pub level: u32,
    pub level_count: u32,
    pub index: u32,
    pub count: u32,
    /// 1, and one more each time that failed shards are retried.
    pub round: u32,
    /// How many items come: those without an outcome yet.
    pub item_count: u64,
}

/// One value of the data and its place in its level.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub level: u32,
    pub index: u64,
    pub value: Value,
}

/// Items as they arrive, in order; never all of them in memory.
#[derive(Debug)]
pub struct Items(mpsc::Receiver<Result<Item, TaskError>>);

impl Items {
    pub fn new(arriving: mpsc::Receiver<Result<Item, TaskError>>) -> Self {
        Items(arriving)
    }

    /// `None` after the last. An error when the stream broke before it: the attempt then fails and is tried again,
    /// whatever the processor returns.
    pub async fn next(&mut self) -> Option<Result<Item, TaskError>> {
        self.0.recv().await
    }
}

/// Takes what [`ShardingProcessor::pre_process`] puts in the place of the data.
#[derive(Debug)]
pub struct NewData {
    ctx: TaskContext,
    outbox: Arc<Outbox>,
    level: u32,
    pending: Vec<String>,
    bytes: usize,
    began: bool,
}

impl NewData {
    pub(crate) fn new(ctx: TaskContext, outbox: Arc<Outbox>) -> Self {
        NewData { ctx, outbox, level: 0, pending: Vec::new(), bytes: 0, began: false }
    }

    /// Appends a value to a level; levels come in order, the first one is 0. Waits while much is under way to the
    /// node, and fails as cancelled once the attempt is to end.
    pub async fn add(&mut self, level: u32, value: Value) -> Result<(), TaskError> {
        if level < self.level {
            let refused = failure::LEVELS_OUT_OF_ORDER.business();
            return Err(refused.with("level", level).with("after", self.level));
        }
        let text = value.to_string();
        if text.len() > MAX_ITEM_BYTES {
            let refused = failure::ITEM_TOO_LARGE.business();
            return Err(refused.with("bytes", text.len()).with("limit", MAX_ITEM_BYTES));
        }
        let full = self.bytes + text.len() > MOST_BYTES_IN_PIECE || self.pending.len() >= MOST_IN_PIECE;
        if !self.pending.is_empty() && (level != self.level || full) {
            self.send(false).await?;
        }
        self.level = level;
        self.began = true;
        self.bytes += text.len();
        self.pending.push(text);
        Ok(())
    }

    /// Says that this was all of it, where there was any.
    pub(crate) async fn finish(mut self) -> Result<(), TaskError> {
        if self.began { self.send(true).await } else { Ok(()) }
    }

    async fn send(&mut self, last: bool) -> Result<(), TaskError> {
        self.bytes = 0;
        let piece = v1::NewData { level: self.level, items_json: std::mem::take(&mut self.pending), last };
        tokio::select! {
            () = self.outbox.new_data_when_room(piece) => Ok(()),
            () = self.ctx.cancelled() => Err(TaskError::cancelled("while data was handed over")),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub items_done: u64,
    pub items_total: u64,
    pub percent: f64,
}

/// How one shard ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardEnd {
    pub level: u32,
    pub shard: u32,
    /// 301, 302, 303 ...
    pub code: u32,
    /// What it returned, or what its last attempt failed with.
    pub result: Result<Value, TaskError>,
}

/// The ends of all shards, by level and then by shard.
#[derive(Debug)]
pub struct ShardEnds(mpsc::Receiver<Result<ShardEnd, TaskError>>);

impl ShardEnds {
    pub fn new(arriving: mpsc::Receiver<Result<ShardEnd, TaskError>>) -> Self {
        ShardEnds(arriving)
    }

    /// `None` after the last; an error as with [`Items::next`].
    pub async fn next(&mut self) -> Option<Result<ShardEnd, TaskError>> {
        self.0.recv().await
    }
}
