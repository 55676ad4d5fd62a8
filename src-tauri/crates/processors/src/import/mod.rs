//! `import`: rows of a CSV file, or of the run's own data, into a table of a named connection.
//!
//! `pre_process` reads the file at one executor and puts its rows in the place of the data, in levels where rows name
//! others that have to be there before them. Each shard puts its rows into the table and says of every row how it
//! fared; a row whose key is there already is left as it is, so that whatever is tried again changes nothing. A row
//! that is refused fails no shard: it is an item that failed, with its line and the reason.

mod file;
mod order;
mod sample;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_sdk::sharding::{Items, NewData, Shard, ShardEnds};
use campanile_sdk::{Also, ProcessorInfo, ShardingProcessor, TaskContext, TaskError, failure};
use file::Source;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use table::{Fared, Table};
use tokio::sync::mpsc;

use crate::Connections;

/// In the place of a file: ten thousand customers that nobody knows.
pub const SAMPLE: &str = "sample:customers";

/// Rows that are read ahead of the node.
const AHEAD: usize = 1000;

/// Errors that a shard tells in its result, and the run in its own; those of all rows stand with the items.
const ERRORS_OF_SHARD: usize = 5;
const ERRORS_OF_RUN: usize = 50;

/// Where files may be read.
#[derive(Clone, Debug)]
pub enum Files {
    /// Wherever the user of this machine may.
    Anywhere,
    /// In this folder alone.
    In(PathBuf),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    file: String,
    delimiter: String,
    connection: String,
    table: String,
    create_table: bool,
    columns: Vec<String>,
    key: String,
    parent: Option<String>,
    required: Vec<String>,
    rows_per_second: u32,
}

impl Asked {
    fn delimiter(&self) -> u8 {
        match self.delimiter.as_str() {
            "" => b',',
            "\\t" | "\t" | "tab" => b'\t',
            other => other.as_bytes()[0],
        }
    }

    fn connection_name(&self) -> &str {
        if self.connection.is_empty() { "imports" } else { &self.connection }
    }
}

pub struct ImportProcessor {
    connections: Arc<dyn Connections>,
    /// Of rows for which no connection is named.
    own_database: PathBuf,
    files: Files,
}

impl ImportProcessor {
    pub fn new(connections: impl Connections, own_database: PathBuf, files: Files) -> Self {
        ImportProcessor { connections: Arc::new(connections), own_database, files }
    }

    fn asked(ctx: &TaskContext) -> Result<Asked, TaskError> {
        let mut asked: Asked = ctx.parameters_as()?;
        asked.parent = asked.parent.filter(|parent| !parent.is_empty());
        let refused = |field: &str, en: &str, zh: &str| {
            Err(failure::PARAMETERS_REFUSED.business().with("field", field).with_words("problem", en, zh))
        };
        if asked.table.split('.').any(|part| part.trim().is_empty()) || asked.table.contains('\0') {
            return refused("table", "it is not the name of a table", "不是表名");
        }
        if asked.key.is_empty() {
            return refused("key", "it is empty", "不能为空");
        }
        if !matches!(asked.delimiter.as_str(), "\\t" | "tab") && asked.delimiter.len() > 1 {
            return refused("delimiter", "it is more than one character", "只能是一个字符");
        }
        if !asked.columns.is_empty() && !asked.columns.contains(&asked.key) {
            return refused("columns", "the key is not among them", "其中没有主键列");
        }
        Ok(asked)
    }

    async fn url(&self, asked: &Asked) -> Result<String, TaskError> {
        if asked.connection.is_empty() {
            return Ok(format!("sqlite:{}", self.own_database.display()));
        }
        let name = &asked.connection;
        let url = self.connections.url(name).await;
        url.map_err(|detail| failure::DATABASE_UNREACHABLE.transient().with("connection", name).with("detail", detail))?
            .ok_or_else(|| failure::CONNECTION_UNKNOWN.business().with("connection", name))
    }

    fn source(&self, asked: &Asked) -> Result<Option<Source>, TaskError> {
        let wanted = Path::new(&asked.file);
        match &self.files {
            _ if asked.file.is_empty() => Ok(None),
            _ if asked.file == SAMPLE => Ok(Some(Source::Sample)),
            Files::Anywhere => Ok(Some(Source::Path(wanted.to_owned()))),
            Files::In(folder) => {
                // Links are followed before it is looked where the file lies.
                let path = folder.join(wanted);
                let lies_within = match (path.canonicalize(), folder.canonicalize()) {
                    (Ok(path), Ok(folder)) => path.starts_with(folder),
                    _ => true,
                };
                if wanted.components().any(|part| matches!(part, std::path::Component::ParentDir)) || !lies_within {
                    let folder = folder.display();
                    let en = format!("files are read in {folder} alone");
                    let zh = format!("只能读取 {folder} 中的文件");
                    return Err(failure::PARAMETERS_REFUSED
                        .business()
                        .with("field", "file")
                        .with_words("problem", &en, &zh));
                }
                Ok(Some(Source::Path(path)))
            }
        }
    }
}

/// The columns that a row is made of: those that are asked for, or all that it has.
fn columns_of(asked: &Asked, row: &Map<String, Value>) -> Vec<String> {
    if asked.columns.is_empty() { row.keys().cloned().collect() } else { asked.columns.clone() }
}

/// What stands in an item: of a file the row is within it, of the run's own data it is the row.
fn row_of(item: &Value) -> Option<&Map<String, Value>> {
    item.get("row").unwrap_or(item).as_object()
}

/// Why a row is not even tried.
fn wrong_with(row: &Map<String, Value>, asked: &Asked) -> Option<String> {
    let is_empty = |name: &&String| matches!(row.get(*name), None | Some(Value::Null)) || row[*name] == "";
    let empty = [&asked.key].into_iter().chain(&asked.required).find(is_empty)?;
    Some(format!("{empty} is empty. {empty} 为空。"))
}

#[async_trait]
impl ShardingProcessor for ImportProcessor {
    fn name(&self) -> &str {
        "import"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new("import")
            .title("Import into a table", "导入数据表")
            .description(
                "Puts the rows of a CSV file into a table, each once, and says of every row how it fared.",
                "将 CSV 文件的各行写入数据表，每行只写一次，并逐行报告结果。",
            )
            .parameters(schema())
            .also(Also::PreProcess)
            .also(Also::PostProcess)
    }

    async fn pre_process(&self, ctx: TaskContext, mut items: Items, data: &mut NewData) -> Result<(), TaskError> {
        let asked = Self::asked(&ctx)?;
        let Some(source) = self.source(&asked)? else {
            // The run's own data stays as it is; its first row says which columns there are.
            let first = items.next().await.transpose()?;
            return match first.as_ref().and_then(|item| row_of(&item.value)) {
                Some(row) => self.finds_its_table(&asked, row).await,
                None => Ok(()),
            };
        };
        let (room, mut coming) = mpsc::channel::<(u32, Value)>(AHEAD);
        let reading = tokio::task::spawn_blocking(move || {
            file::rows(&source, &asked, &mut |level, item| {
                // Nobody listens any more: the attempt has ended.
                room.blocking_send((level, item)).map_err(|_| TaskError::cancelled("while the file was read"))
            })
            .map(|()| asked)
        });
        let (mut rows, mut first) = (0_u64, None);
        while let Some((level, item)) = coming.recv().await {
            if first.is_none() {
                first = item.get("row").and_then(Value::as_object).cloned();
            }
            rows += 1;
            data.add(level, item).await?;
        }
        let read = reading.await.map_err(|broken| failure::PANICKED.business().with("detail", broken))?;
        let asked = read?;
        if let Some(row) = first {
            self.finds_its_table(&asked, &row).await?;
        }
        ctx.log(format!("{rows} rows were read"));
        Ok(())
    }

    async fn sharding_process(&self, ctx: TaskContext, _: Shard, mut items: Items) -> Result<Value, TaskError> {
        let asked = Self::asked(&ctx)?;
        let url = self.url(&asked).await?;
        let mut shard =
            OfShard { ctx: &ctx, asked: &asked, table: None, waiting: Vec::new(), counts: Counts::default() };
        while let Some(item) = items.next().await {
            let item = item?;
            let line = item.value.get("line").and_then(Value::as_u64).unwrap_or(item.index + 1);
            if let Some(wrong) = item.value.get("wrong").and_then(Value::as_str) {
                shard.refuses(item.index, line, wrong);
                continue;
            }
            let Some(row) = row_of(&item.value) else {
                shard.refuses(item.index, line, "it is not a row of named values. 不是由列名和值组成的行。");
                continue;
            };
            if let Some(wrong) = wrong_with(row, &asked) {
                shard.refuses(item.index, line, &wrong);
                continue;
            }
            shard.takes(&url, item.index, line, row).await?;
            if ctx.is_cancelled() {
                return Err(TaskError::cancelled("between two rows"));
            }
        }
        shard.writes().await?;
        let counts = std::mem::take(&mut shard.counts);
        if let Some(table) = shard.table {
            table.close().await;
        }
        ctx.log(format!("{} new, {} there already, {} refused", counts.inserted, counts.present, counts.failed));
        Ok(counts.told())
    }

    async fn post_process(&self, _: TaskContext, mut ends: ShardEnds) -> Result<Value, TaskError> {
        let mut all = Counts::default();
        while let Some(end) = ends.next().await {
            let Ok(result) = end?.result else { continue };
            let number = |name: &str| result[name].as_u64().unwrap_or(0);
            all.inserted += number("inserted");
            all.present += number("present");
            all.failed += number("failed");
            all.errors.extend(result["errors"].as_array().into_iter().flatten().cloned());
        }
        all.errors.sort_by_key(|error| error["line"].as_u64());
        all.errors.truncate(ERRORS_OF_RUN);
        Ok(all.told())
    }
}

impl ImportProcessor {
    /// Makes the table where that is asked, and is refused where rows could not go into it: before any is handed out.
    async fn finds_its_table(&self, asked: &Asked, row: &Map<String, Value>) -> Result<(), TaskError> {
        let url = self.url(asked).await?;
        Table::open(&url, asked, columns_of(asked, row), asked.create_table).await?.close().await;
        Ok(())
    }
}

#[derive(Default)]
struct Counts {
    inserted: u64,
    present: u64,
    failed: u64,
    errors: Vec<Value>,
}

impl Counts {
    fn told(&self) -> Value {
        json!({"inserted": self.inserted, "present": self.present, "failed": self.failed, "errors": self.errors})
    }
}

/// A shard at work.
struct OfShard<'a> {
    ctx: &'a TaskContext,
    asked: &'a Asked,
    table: Option<Table>,
    /// Rows that are to be written next: their places and lines.
    waiting: Vec<(u64, u64, Vec<Value>)>,
    counts: Counts,
}

impl OfShard<'_> {
    fn refuses(&mut self, place: u64, line: u64, why: &str) {
        self.ctx.item(place, Err(()), format!("line {line}: {why}"));
        self.counts.failed += 1;
        if self.counts.errors.len() < ERRORS_OF_SHARD {
            self.counts.errors.push(json!({"line": line, "error": why}));
        }
    }

    async fn takes(&mut self, url: &str, place: u64, line: u64, row: &Map<String, Value>) -> Result<(), TaskError> {
        if self.table.is_none() {
            self.table = Some(Table::open(url, self.asked, columns_of(self.asked, row), false).await?);
        }
        let table = self.table.as_ref().expect("it was just opened");
        let values = table.columns().iter().map(|name| row.get(name).cloned().unwrap_or(Value::Null)).collect();
        let most = match self.asked.rows_per_second as usize {
            0 => table.batch(),
            rate => table.batch().min(rate.div_ceil(4)),
        };
        self.waiting.push((place, line, values));
        if self.waiting.len() >= most {
            self.writes().await?;
        }
        Ok(())
    }

    async fn writes(&mut self) -> Result<(), TaskError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        if self.waiting.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<Value>> = self.waiting.iter_mut().map(|(_, _, row)| std::mem::take(row)).collect();
        // Of a key that stands twice in one statement a database may think what it likes.
        let fared = if has_twice(&rows, table) { one_by_one(table, &rows).await? } else { table.insert(&rows).await? };
        for ((place, line, _), fared) in std::mem::take(&mut self.waiting).into_iter().zip(fared) {
            match fared {
                Fared::New => self.counts.inserted += 1,
                Fared::WasThere => self.counts.present += 1,
                Fared::Refused(why) => {
                    self.refuses(place, line, &why);
                    continue;
                }
            }
            self.ctx.item(place, Ok(()), "");
        }
        if self.asked.rows_per_second > 0 {
            let pause = Duration::from_secs(1).mul_f64(rows.len() as f64 / f64::from(self.asked.rows_per_second));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.ctx.cancelled() => return Err(TaskError::cancelled("between two rows")),
            }
        }
        Ok(())
    }
}

fn has_twice(rows: &[Vec<Value>], table: &Table) -> bool {
    let Some(key) = table.key_place() else { return false };
    let mut seen = BTreeSet::new();
    !rows.iter().all(|row| seen.insert(row[key].to_string()))
}

async fn one_by_one(table: &mut Table, rows: &[Vec<Value>]) -> Result<Vec<Fared>, TaskError> {
    let mut fared = Vec::with_capacity(rows.len());
    for row in rows {
        fared.extend(table.insert(std::slice::from_ref(row)).await?);
    }
    Ok(fared)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["table", "key"],
        "additionalProperties": false,
        "x-order": [
            "file", "delimiter", "connection", "table", "createTable", "key", "parent", "columns", "required",
            "rowsPerSecond"
        ],
        "properties": {
            "file": {
                "type": "string", "default": "",
                "title": "CSV file", "title:zh": "CSV 文件",
                "description": "A path at the executor; its first line names the columns. Empty: the data of the run. sample:customers: ten thousand made-up customers.",
                "description:zh": "Executor 上的路径，首行为列名。留空：使用本次运行的数据。sample:customers：一万个虚构客户。"
            },
            "delimiter": {
                "type": "string", "default": ",",
                "title": "Between columns", "title:zh": "列分隔符",
                "description": "One character, or \\t.", "description:zh": "一个字符，或 \\t。"
            },
            "connection": {
                "type": "string", "default": "", "format": "connection",
                "title": "Connection", "title:zh": "连接",
                "description": "One that the executor knows by this name. Empty: imports.db, an SQLite file in the data folder.",
                "description:zh": "Executor 上以此名称配置的连接。留空：数据目录中的 SQLite 文件 imports.db。"
            },
            "table": {
                "type": "string", "minLength": 1,
                "title": "Table", "title:zh": "数据表"
            },
            "createTable": {
                "type": "boolean", "default": false,
                "title": "Make the table where there is none", "title:zh": "表不存在时创建",
                "description": "All of its columns are texts.", "description:zh": "所有列均为文本。"
            },
            "key": {
                "type": "string", "minLength": 1,
                "title": "Key column", "title:zh": "主键列",
                "description": "Unique in the table. A row whose key is there already is left as it is.",
                "description:zh": "在表中唯一。主键已存在的行保持不变。"
            },
            "parent": {
                "type": "string", "default": "",
                "title": "Parent column", "title:zh": "上级列",
                "description": "Holds the key of another row, which has to be there before this one.",
                "description:zh": "填写另一行的主键；那一行须先写入。"
            },
            "columns": {
                "type": "array", "items": {"type": "string"}, "default": [],
                "title": "Columns", "title:zh": "导入的列",
                "description": "Empty: all of them.", "description:zh": "留空：全部列。"
            },
            "required": {
                "type": "array", "items": {"type": "string"}, "default": [],
                "title": "Never empty", "title:zh": "必填列",
                "description": "A row without a value in one of these is refused.",
                "description:zh": "这些列为空的行不予导入。"
            },
            "rowsPerSecond": {
                "type": "integer", "minimum": 0, "default": 0,
                "title": "Rows a second in each shard", "title:zh": "每个分片每秒行数",
                "description": "0: as fast as the database takes them.", "description:zh": "0：不限速。"
            }
        }
    })
}
