//! An executor for stories about runs that are cut into shards: `sharding-executor NODE NAME CAPACITY`.
//!
//! Its processor `import` does what the parameters of the job say, and `silent` does the same without a word on single
//! items. Whatever is begun and ended is written down first, a JSON object in a line, in the diary that CAMPANILE_DIARY
//! names: so a story can hold what ran against what the node says of it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use campanile_sdk::sharding::{Items, NewData, Notice, Shard, ShardEnds};
use campanile_sdk::{Also, Executor, Network, ProcessorInfo, ShardingProcessor, TaskContext, TaskError};
use serde::Deserialize;
use serde_json::{Value, json};

/// The group that it is of.
const GROUP: &str = "shards";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = |what: &str| words.next().ok_or(format!("usage: NODE NAME CAPACITY; there is no {what}"));
    let (node, name, capacity) = (word("node")?, word("name")?, word("capacity")?.parse()?);
    let import = |name: &'static str, tells: bool| Import { name, tells, diary: Mutex::new(diary()) };
    let executor = Executor::builder(GROUP, name)
        .capacity(capacity)
        .sharding_processor(import("import", true))
        .sharding_processor(import("silent", false))
        .build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}

fn diary() -> Option<File> {
    let path = std::env::var_os("CAMPANILE_DIARY")?;
    Some(OpenOptions::new().create(true).append(true).open(path).expect("the diary can be written"))
}

/// What a job may ask of it; nothing is asked by default.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    /// So many items, in so many levels, which `pre_process` puts in the place of the data; 0: it leaves it as it is.
    items: u64,
    levels: u32,
    /// The first item is padded to so many bytes.
    bytes: usize,
    /// Items are told of so many at a time, and so long passes before each such report.
    batch: usize,
    pause_ms: u64,
    /// Of items whose number it divides it says that they failed.
    fail_every: u64,
    /// Shards of that index panic while this file is not there.
    panics_at: Option<u32>,
    until: String,
    /// Shards of that level end only when they are asked to.
    hangs_at: Option<u32>,
}

impl Default for Asked {
    fn default() -> Self {
        let until = String::new();
        Asked {
            items: 0,
            levels: 1,
            bytes: 0,
            batch: 1000,
            pause_ms: 0,
            fail_every: 0,
            panics_at: None,
            until,
            hangs_at: None,
        }
    }
}

struct Import {
    name: &'static str,
    tells: bool,
    diary: Mutex<Option<File>>,
}

impl Import {
    fn says(&self, ctx: &TaskContext, what: &str, more: &Value) {
        let mut line = json!({"what": what, "by": ctx.executor(), "attempt": ctx.attempt()});
        for (name, value) in more.as_object().into_iter().flatten() {
            line[name.as_str()] = value.clone();
        }
        let mut diary = self.diary.lock().expect("no panic while it is written");
        if let Some(file) = diary.as_mut() {
            file.write_all(format!("{line}\n").as_bytes()).expect("the diary can be written");
        }
    }

    fn tell(&self, ctx: &TaskContext, level: u32, done: &mut Vec<(u64, bool)>) {
        if done.is_empty() {
            return;
        }
        let places: Vec<u64> = done.iter().map(|(place, _)| *place).collect();
        self.says(ctx, "items", &json!({"level": level, "places": places}));
        for (place, well) in done.drain(..) {
            match well {
                _ if !self.tells => {}
                true => ctx.item(place, Ok(()), ""),
                false => ctx.item(place, Err(()), format!("item {place} is not wanted")),
            }
        }
    }
}

#[async_trait]
impl ShardingProcessor for Import {
    fn name(&self) -> &str {
        self.name
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name).also(Also::PreProcess).also(Also::Notify).also(Also::PostProcess)
    }

    async fn pre_process(&self, ctx: TaskContext, _items: Items, data: &mut NewData) -> Result<(), TaskError> {
        let asked: Asked = ctx.parameters_as()?;
        self.says(&ctx, "pre_process", &json!({}));
        let each = asked.items.div_ceil(u64::from(asked.levels.max(1))).max(1);
        for n in 0..asked.items {
            let level = u32::try_from(n / each).unwrap_or(u32::MAX);
            let item = match n {
                0 if asked.bytes > 0 => json!({"n": n, "text": "x".repeat(asked.bytes)}),
                _ => json!({"n": n}),
            };
            data.add(level, item).await?;
        }
        Ok(())
    }

    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, mut items: Items) -> Result<Value, TaskError> {
        let asked: Asked = ctx.parameters_as()?;
        let Shard { level, index, count, round, item_count, .. } = shard;
        let place = json!({"level": level, "shard": index, "count": count, "round": round, "items": item_count});
        self.says(&ctx, "begins", &place);
        assert!(asked.panics_at != Some(index) || std::path::Path::new(&asked.until).exists(), "as it was told to");
        if asked.hangs_at == Some(level) {
            ctx.cancelled().await;
            return Err(TaskError::cancelled("it was asked to end"));
        }
        let (mut done, mut all) = (Vec::new(), 0);
        while let Some(item) = items.next().await {
            let item = item?;
            let n = item.value["n"].as_u64().or(item.value.as_u64()).unwrap_or(item.index);
            let fails = asked.fail_every > 0 && n.is_multiple_of(asked.fail_every);
            done.push((item.index, !fails));
            all += 1;
            if done.len() >= asked.batch {
                if asked.pause_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(asked.pause_ms)).await;
                }
                self.tell(&ctx, level, &mut done);
            }
            if ctx.is_cancelled() {
                return Err(TaskError::cancelled("it was asked to end"));
            }
        }
        self.tell(&ctx, level, &mut done);
        self.says(&ctx, "ends", &place);
        Ok(json!({ "items": all }))
    }

    async fn notify(&self, ctx: TaskContext, progress: Notice) -> Result<(), TaskError> {
        let said = json!({"done": progress.items_done, "total": progress.items_total});
        self.says(&ctx, "notice begins", &said);
        self.says(&ctx, "notice ends", &said);
        Ok(())
    }

    async fn post_process(&self, ctx: TaskContext, mut ends: ShardEnds) -> Result<Value, TaskError> {
        let mut saw = Vec::new();
        while let Some(end) = ends.next().await {
            let end = end?;
            saw.push(json!([end.level, end.shard, end.code]));
        }
        let shards = saw.len();
        self.says(&ctx, "post_process", &json!({"saw": saw}));
        Ok(json!({ "shards": shards }))
    }
}
