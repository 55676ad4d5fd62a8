//! A processor whose work is cut into shards, which run at many executors.
//!
//! Only [`ShardingProcessor::sharding_process`] has to be written. The executor
//! here does not host such processors yet: these are the types that it will host
//! them with, and they do not change when it does.

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{ProcessorInfo, TaskContext, TaskError};

#[async_trait]
pub trait ShardingProcessor: Send + Sync + 'static {
    fn name(&self) -> &str;

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name())
    }

    /// Once, at one executor, before anything else. May put other data in the
    /// place of what the job has; the default keeps it.
    async fn pre_process(&self, _ctx: TaskContext, _data: Items) -> Result<NewData, TaskError> {
        Ok(NewData::Keep)
    }

    /// The work of one shard. Outcomes of single items are reported by
    /// `ctx.item`; an item that was reported is not handed out again when the
    /// shard is retried. Without any, the shard is judged by what this returns.
    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, items: Items) -> Result<Value, TaskError>;

    /// When progress has grown by the job's `notifyStep`. Its failure fails nothing.
    async fn notify(&self, _ctx: TaskContext, _progress: Notice) -> Result<(), TaskError> {
        Ok(())
    }

    /// Once all shards are final, failed ones included; not after a cancel.
    async fn post_process(&self, _ctx: TaskContext, _ends: ShardEnds) -> Result<Value, TaskError> {
        Ok(Value::Null)
    }
}

/// Which piece of the data this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The row of the data, counted from 0.
    pub level: u32,
    pub index: u32,
    pub count: u32,
    /// 1, and one more each time that failed shards are retried.
    pub round: u32,
    pub item_count: u64,
}

/// One value of the data and its place in its level.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub level: u32,
    pub index: u64,
    pub value: Value,
}

/// Items as they arrive; never all of them in memory.
#[derive(Debug)]
pub struct Items(mpsc::Receiver<Result<Item, TaskError>>);

impl Items {
    pub fn new(arriving: mpsc::Receiver<Result<Item, TaskError>>) -> Self {
        Items(arriving)
    }

    /// `None` after the last. An error when the stream broke before it.
    pub async fn next(&mut self) -> Option<Result<Item, TaskError>> {
        self.0.recv().await
    }
}

/// What [`ShardingProcessor::pre_process`] decides.
#[derive(Debug)]
pub enum NewData {
    Keep,
    /// Level by level, in order; sent on as it comes.
    Replace(mpsc::Receiver<(u32, Value)>),
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
    pub result: Result<Value, TaskError>,
}

/// The ends of all shards, by level and then by shard.
#[derive(Debug)]
pub struct ShardEnds(mpsc::Receiver<Result<ShardEnd, TaskError>>);

impl ShardEnds {
    pub fn new(arriving: mpsc::Receiver<Result<ShardEnd, TaskError>>) -> Self {
        ShardEnds(arriving)
    }

    pub async fn next(&mut self) -> Option<Result<ShardEnd, TaskError>> {
        self.0.recv().await
    }
}
