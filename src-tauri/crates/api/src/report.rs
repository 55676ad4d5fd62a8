//! What became of every item of a run that is cut into shards, as a file: a row for each, whatever its outcome.
//!
//! It is made while it is taken: what is held of it is a few pieces of a shard. Rows come level by level and shard by
//! shard, as they are kept; what counts is the outcome that stands, whichever round it is of. An item of which nobody
//! said anything ended as its shard did.

use std::collections::{HashMap, VecDeque};
use std::io;

use campanile_engine::courier::Portion;
use campanile_model::instance::Instance;
use campanile_model::sharding::data::MOST_ITEMS;
use campanile_model::sharding::plan::Cut;
use campanile_model::sharding::{Chunk, Level, Piece, PieceAt, PieceOutcomes, ShardRun};
use campanile_model::task::{Part, Task, TaskState};
use campanile_model::{Code, Fault, TaskId, Words};
use campanile_sheets::{Cell, Report, ReportKind};
use serde_json::{Map, Value};

use crate::views::ReportFormat;
use crate::{Api, CallContext, Lang};

/// Chunks and tasks that are read at once.
const AT_ONCE: usize = 8;
const TASKS: u32 = 200;

/// Columns that the fields of items have of their own.
const MOST_COLUMNS: usize = 200;

/// As much of a number as a spreadsheet shows exactly.
const EXACT: u64 = 1 << 53;

/// A report that is being made.
pub struct ReportPieces {
    instance: Instance,
    run: ShardRun,
    levels: Vec<Level>,
    lang: Lang,
    kind: ReportKind,
    /// Once the first item was seen, by which the columns are laid out.
    begun: Option<(Report, Vec<String>)>,
    work: VecDeque<Work>,
    portion: Portion,
    over: bool,
}

/// What is still to be looked at.
enum Work {
    Level(usize),
    /// Shards of a level that are tasks, after that one.
    Tasks {
        level: usize,
        after: Option<TaskId>,
        seen: u32,
    },
    /// Shards of a level that are no tasks yet.
    Untasked {
        level: usize,
        shard: u32,
    },
    /// Pieces of these shards, one shard after the other.
    Pieces {
        level: usize,
        shards: VecDeque<OfShard>,
    },
    /// Items of a level that are no shard's yet.
    Chunks {
        level: usize,
        from: u64,
    },
}

/// What is still to be written of a shard.
struct OfShard {
    shard: u32,
    from: u64,
    items: u64,
    /// Where it is one.
    task: Option<Task>,
}

/// An item with what became of it.
struct Row<'a> {
    level: u32,
    place: u64,
    shard: Option<u32>,
    executor: &'a str,
    outcome: Outcome,
    message: &'a str,
    item: &'a str,
}

#[derive(Clone, Copy)]
enum Outcome {
    Succeeded,
    Failed,
    NotRun,
    Open,
}

impl Outcome {
    fn word(self, lang: Lang) -> &'static str {
        let (en, zh) = match self {
            Outcome::Succeeded => ("succeeded", "成功"),
            Outcome::Failed => ("failed", "失败"),
            Outcome::NotRun => ("not run", "未执行"),
            Outcome::Open => ("open", "未完成"),
        };
        match lang {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

impl Api {
    /// Begins a report of a run; it is made as its pieces are asked for.
    pub async fn report(&self, instance: &str, format: ReportFormat, cx: &CallContext) -> Result<ReportPieces, Fault> {
        let not_found = || Code::InstanceNotFound.fault().with("instance", instance).at("instance");
        let id = instance.parse().map_err(|_| not_found())?;
        let found = self.store().instances(&[id]).await?.pop().ok_or_else(not_found)?;
        let Some(run) = self.store().shard_run(id).await? else {
            let reason = Words::new("the run is not cut into shards", "该次运行未分片");
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("instance"));
        };
        let mut levels = self.store().levels(id).await?;
        if levels.is_empty() {
            let sizes = self.store().level_sizes(id, run.draft).await?;
            levels = sizes.into_iter().map(|(level, items)| Level::new(level, items)).collect();
        }
        let kind = match format {
            ReportFormat::Csv => ReportKind::Csv,
            ReportFormat::Xlsx => ReportKind::Xlsx,
        };
        let work = (0..levels.len()).map(Work::Level).collect();
        let (lang, portion) = (cx.lang, Portion::default());
        Ok(ReportPieces { instance: found, run, levels, lang, kind, begun: None, work, portion, over: false })
    }
}

impl ReportPieces {
    /// The next piece of the file; none after the last.
    pub async fn next(&mut self, api: &Api) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            if self.over {
                return Ok(None);
            }
            let Some(work) = self.work.pop_front() else {
                self.over = true;
                let (report, _) = match self.begun.take() {
                    Some(begun) => begun,
                    None => self.begin("").map_err(|error| unwritable(&error))?,
                };
                return Ok(Some(report.finish().map_err(|error| unwritable(&error))?));
            };
            self.look(api, work).await?;
            let Some((report, _)) = &mut self.begun else { continue };
            let written = report.take().map_err(|error| unwritable(&error))?;
            if !written.is_empty() {
                return Ok(Some(written));
            }
        }
    }

    async fn look(&mut self, api: &Api, work: Work) -> Result<(), Fault> {
        let (store, instance) = (api.store(), self.instance.id);
        let mut next: Vec<Work> = Vec::new();
        match work {
            Work::Level(level) => {
                let of = &self.levels[level];
                if of.first.is_some() {
                    next.push(Work::Tasks { level, after: None, seen: 0 });
                }
                if of.dealt > 0 && of.made < of.shards {
                    next.push(Work::Untasked { level, shard: of.made });
                }
                if of.dealt < of.items {
                    next.push(Work::Chunks { level, from: of.dealt });
                }
            }
            Work::Tasks { level, after, mut seen } => {
                let of = &self.levels[level];
                let page = match (after, of.first) {
                    (None, Some(first)) => store.tasks(&[first]).await?,
                    _ => store.tasks_after(instance, after, TASKS as usize).await?,
                };
                let last = page.last().map(|task| task.id);
                let shards = page.into_iter().filter_map(|task| match task.part {
                    Some(Part::Shard { level: of_level, index: shard, items, .. }) if of_level == of.level => {
                        Some(OfShard { shard, from: 0, items, task: Some(task) })
                    }
                    _ => None,
                });
                let shards: VecDeque<OfShard> = shards.collect();
                seen += u32::try_from(shards.len()).unwrap_or(u32::MAX);
                if !shards.is_empty() {
                    next.push(Work::Pieces { level, shards });
                }
                if last.is_some() && seen < of.made {
                    next.push(Work::Tasks { level, after: last, seen });
                }
            }
            Work::Untasked { level, shard } => {
                let of = &self.levels[level];
                let cut = Cut { items: of.items, shards: of.shards };
                let end = of.shards.min(shard.saturating_add(TASKS));
                let shards =
                    (shard..end).map(|shard| OfShard { shard, from: 0, items: cut.size_of(shard), task: None });
                next.push(Work::Pieces { level, shards: shards.collect() });
                if end < of.shards {
                    next.push(Work::Untasked { level, shard: end });
                }
            }
            Work::Pieces { level, shards } => {
                let shards = self.put_shards(api, level, shards).await?;
                if !shards.is_empty() {
                    next.push(Work::Pieces { level, shards });
                }
            }
            Work::Chunks { level, from } => {
                let of = self.levels[level].level;
                let mut chunks = store.chunks(instance, self.run.draft, (of, from), AT_ONCE).await?;
                let may_be_more = chunks.len() == AT_ONCE;
                chunks.retain(|chunk| chunk.level == of);
                for chunk in &chunks {
                    self.put_chunk(chunk).map_err(|error| unwritable(&error))?;
                }
                if let Some(last) = chunks.last().filter(|_| may_be_more) {
                    next.push(Work::Chunks { level, from: last.end() });
                }
            }
        }
        next.into_iter().rev().for_each(|work| self.work.push_front(work));
        Ok(())
    }

    /// Writes what comes next of these shards, small ones together, and hands back what is left of them.
    async fn put_shards(
        &mut self,
        api: &Api,
        level: usize,
        mut shards: VecDeque<OfShard>,
    ) -> Result<VecDeque<OfShard>, Fault> {
        let (number, count) = (self.levels[level].level, self.levels[level].shards.max(1));
        let mut items = 0;
        let few = shards.iter().take(self.portion.pieces()).take_while(|shard| {
            items += shard.items;
            items <= MOST_ITEMS as u64
        });
        let together = few.count().max(1).min(shards.len());
        // Of small ones a second piece is looked for, to know that there is none.
        let each = if together == 1 { self.portion.pieces() } else { 2 };
        let from = shards.iter().take(together);
        let from: Vec<_> =
            from.map(|of| (self.instance.id, PieceAt { level: number, shard: of.shard, first: of.from })).collect();
        let found = api.store().pieces(&from, each).await?;
        let lengths = found.iter().flat_map(|(_, piece, _)| &piece.items).map(String::len);
        self.portion = self.portion.after(lengths.sum());
        let mut of_shard: HashMap<u32, Vec<(Piece, PieceOutcomes)>> = HashMap::new();
        for (_, piece, said) in found {
            of_shard.entry(piece.at.shard).or_default().push((piece, said));
        }
        for _ in 0..together {
            let Some(mut of) = shards.pop_front() else { break };
            let pieces = of_shard.remove(&of.shard).unwrap_or_default();
            for piece in &pieces {
                self.put_piece(piece, count, of.task.as_ref()).map_err(|error| unwritable(&error))?;
                of.from = piece.0.at.first + 1;
            }
            if pieces.len() == each {
                // There may be more of it, which comes before the next shard.
                shards.push_front(of);
                break;
            }
        }
        Ok(shards)
    }

    fn put_piece(&mut self, (piece, said): &(Piece, PieceOutcomes), count: u32, task: Option<&Task>) -> io::Result<()> {
        let (by_shard, failure) = self.by_shard(task);
        let executor = task.and_then(|task| task.executor.as_ref()).map_or("", |executor| executor.name.as_str());
        let places = (piece.at.first..).step_by(count as usize);
        for ((n, place), item) in places.enumerate().zip(&piece.items) {
            let (outcome, message) = match said.outcomes.of(n) {
                Some((true, message)) => (Outcome::Succeeded, message),
                Some((false, message)) => (Outcome::Failed, message),
                None => (by_shard, failure.as_str()),
            };
            let (level, shard) = (piece.at.level, Some(piece.at.shard));
            self.put(&Row { level, place, shard, executor, outcome, message, item })?;
        }
        Ok(())
    }

    fn put_chunk(&mut self, chunk: &Chunk) -> io::Result<()> {
        let outcome = self.of_the_rest();
        for (place, item) in (chunk.first..).zip(&chunk.items) {
            self.put(&Row { level: chunk.level, place, shard: None, executor: "", outcome, message: "", item })?;
        }
        Ok(())
    }

    /// What becomes of items that nothing was said of.
    fn by_shard(&self, task: Option<&Task>) -> (Outcome, String) {
        let Some(task) = task else { return (self.of_the_rest(), String::new()) };
        match task.state() {
            TaskState::Succeeded => (Outcome::Succeeded, String::new()),
            TaskState::Cancelled | TaskState::Superseded => (Outcome::NotRun, String::new()),
            state if state.is_final() => {
                let said = |failure: &campanile_model::Failure| {
                    let words = match self.lang {
                        Lang::En => &failure.message.en,
                        Lang::Zh => &failure.message.zh,
                    };
                    format!("{}: {words}", failure.code)
                };
                (Outcome::Failed, task.failure.as_ref().map(said).unwrap_or_default())
            }
            _ => (Outcome::Open, String::new()),
        }
    }

    fn of_the_rest(&self) -> Outcome {
        if self.instance.state.is_final() { Outcome::NotRun } else { Outcome::Open }
    }

    /// Lays out the columns by an item.
    fn begin(&self, item: &str) -> io::Result<(Report, Vec<String>)> {
        let fields: Map<String, Value> = serde_json::from_str(item).unwrap_or_default();
        let columns: Vec<String> =
            if fields.len() <= MOST_COLUMNS { fields.keys().cloned().collect() } else { Vec::new() };
        let [row, level, shard, executor, outcome, message, rest] = match self.lang {
            Lang::En => ["row", "level", "shard", "executor", "outcome", "message", "item"],
            Lang::Zh => ["行", "层级", "分片", "执行器", "结果", "说明", "数据项"],
        };
        let head = [row, level, shard, executor, outcome, message].into_iter().map(Cell::from);
        let head = head.chain(columns.iter().map(|name| Cell::from(name.as_str()))).chain([Cell::from(rest)]);
        let sheet = match self.lang {
            Lang::En => "report",
            Lang::Zh => "结果",
        };
        Ok((Report::begin(self.kind, sheet, head.collect())?, columns))
    }

    fn put(&mut self, row: &Row<'_>) -> io::Result<()> {
        if self.begun.is_none() {
            self.begun = Some(self.begin(row.item)?);
        }
        let lang = self.lang;
        let Some((report, columns)) = &mut self.begun else { return Ok(()) };
        let mut cells = vec![
            Cell::Number(row.place + 1),
            Cell::Number(u64::from(row.level)),
            row.shard.map_or(Cell::Empty, |shard| Cell::Number(u64::from(shard))),
            text(row.executor),
            Cell::from(row.outcome.word(lang)),
            text(row.message),
        ];
        put_item(&mut cells, columns, row.item);
        report.row(&cells)
    }
}

/// The item by its fields, and whole where it has others.
fn put_item(cells: &mut Vec<Cell>, columns: &[String], item: &str) {
    let fields: Option<Map<String, Value>> = match columns {
        [] => None,
        _ => serde_json::from_str(item).ok(),
    };
    let fields = fields.filter(|fields| fields.keys().all(|field| columns.contains(field)));
    let Some(fields) = fields else {
        cells.extend(columns.iter().map(|_| Cell::Empty));
        cells.push(Cell::from(item));
        return;
    };
    cells.extend(columns.iter().map(|column| fields.get(column).map_or(Cell::Empty, cell_of)));
    cells.push(Cell::Empty);
}

fn cell_of(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Empty,
        Value::String(words) => text(words),
        Value::Number(number) => match number.as_u64().filter(|number| *number <= EXACT) {
            Some(number) => Cell::Number(number),
            None => Cell::Text(number.to_string()),
        },
        other => Cell::Text(other.to_string()),
    }
}

fn text(words: &str) -> Cell {
    if words.is_empty() { Cell::Empty } else { Cell::from(words) }
}

fn unwritable(error: &io::Error) -> Fault {
    Code::ReportUnwritable.fault().with("file", "report").with("reason", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_stands_in_its_columns_or_whole_where_it_has_others() {
        let columns = ["id".to_owned(), "名称".to_owned()];
        let row = |item: &str| {
            let mut cells = Vec::new();
            put_item(&mut cells, &columns, item);
            cells
        };
        assert_eq!(row(r#"{"id": 7, "名称": "x"}"#), [Cell::Number(7), "x".into(), Cell::Empty]);
        assert_eq!(row(r#"{"名称": [1]}"#), [Cell::Empty, "[1]".into(), Cell::Empty]);
        let more = r#"{"id": 7, "other": true}"#;
        assert_eq!(row(more), [Cell::Empty, Cell::Empty, more.into()]);
        assert_eq!(row("5"), [Cell::Empty, Cell::Empty, "5".into()]);
        let large = r#"{"id": 18446744073709551615}"#;
        assert_eq!(row(large)[0], Cell::Text("18446744073709551615".to_owned()));
    }
}
