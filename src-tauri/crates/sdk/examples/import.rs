//! A real import: customers out of a CSV file into a database, with who was brought by another after that one, and the
//! errors of all rows as an Excel file.
//!
//!     campanile serve --executors 127.0.0.1:4610
//!     cargo run -p campanile-sdk --example import 127.0.0.1:4610
//!     campanile apply -f - <<< '{"name": "customers", "schedule": {"kind": "manual"}, "mode": "sharding",
//!         "executorGroup": "examples", "processor": "import-customers", "parameters": {
//!             "file": "/data/customers.csv", "database": "sqlite:/data/customers.db", "reports": "/data"}}'
//!
//! The file has the columns id, name, email and brought_by. Executors on several machines all reach the database; the
//! file, and the folder of reports, are wanted where `pre_process` and `post_process` run.

use std::collections::HashMap;
use std::path::PathBuf;

use async_trait::async_trait;
use campanile_sdk::sharding::{Items, NewData, Shard, ShardEnds};
use campanile_sdk::{Also, Executor, Network, ProcessorInfo, ShardingProcessor, TaskContext, TaskError};
use rust_xlsxwriter::{Format, Workbook, XlsxError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Row as _};

#[derive(Deserialize)]
struct Parameters {
    file: PathBuf,
    database: String,
    reports: PathBuf,
}

#[derive(Clone, Deserialize, Serialize)]
struct Customer {
    id: String,
    name: String,
    email: String,
    brought_by: String,
}

/// What an item is: a customer, and the line that it stands in.
#[derive(Deserialize, Serialize)]
struct Line {
    line: u64,
    customer: Customer,
}

struct ImportCustomers;

#[async_trait]
impl ShardingProcessor for ImportCustomers {
    fn name(&self) -> &str {
        "import-customers"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new(self.name())
            .title("Import customers", "导入客户")
            .parameters(json!({
                "type": "object",
                "required": ["file", "database", "reports"],
                "properties": {
                    "file": {"type": "string", "title": "CSV file", "title:zh": "CSV 文件"},
                    "database": {"type": "string", "title": "Database", "title:zh": "数据库"},
                    "reports": {"type": "string", "title": "Folder for the list of errors", "title:zh": "错误清单所在目录"}
                }
            }))
            .also(Also::PreProcess)
            .also(Also::PostProcess)
    }

    /// Reads the file, and puts customers into the level after whoever brought them.
    async fn pre_process(&self, ctx: TaskContext, _: Items, data: &mut NewData) -> Result<(), TaskError> {
        let Parameters { file, database, .. } = ctx.parameters_as()?;
        let mut database = Database::open(&database).await?;
        let (mut lines, mut errors) = (Vec::new(), Vec::new());
        let mut reader = csv::Reader::from_path(&file).map_err(|error| wrong_file(&error))?;
        for (line, row) in (2..).zip(reader.deserialize()) {
            match row {
                Ok(customer) => lines.push(Line { line, customer }),
                Err(error) if error.is_io_error() => return Err(wrong_file(&error)),
                Err(error) => errors.push((line, error.to_string())),
            }
        }
        let mut levels: Vec<Vec<&Line>> = Vec::new();
        for (line, level) in lines.iter().zip(levels_of(&lines)) {
            match level {
                Ok(level) => {
                    levels.resize_with(levels.len().max(level + 1), Vec::new);
                    levels[level].push(line);
                }
                Err(why) => errors.push((line.line, why)),
            }
        }
        database.forget_errors(ctx.instance_id()).await?;
        database.note_errors(ctx.instance_id(), &errors).await?;
        for (level, lines) in (0..).zip(levels) {
            for line in lines {
                data.add(level, json!(line)).await?;
            }
        }
        Ok(())
    }

    /// A customer that is there already is left alone: whatever runs again does no harm.
    async fn sharding_process(&self, ctx: TaskContext, _: Shard, mut items: Items) -> Result<Value, TaskError> {
        let Parameters { database, .. } = ctx.parameters_as()?;
        let mut database = Database::open(&database).await?;
        let mut imported = 0;
        while let Some(item) = items.next().await {
            let item = item?;
            let Line { line, customer } = serde_json::from_value(item.value)
                .map_err(|error| TaskError::business("not_a_customer", error.to_string()))?;
            let refused = match check(&customer) {
                Ok(()) => database.insert(&customer).await?,
                Err(why) => Some(why),
            };
            match refused {
                None => {
                    imported += 1;
                    // An item that was reported is not handed out again when the shard is retried.
                    ctx.item(item.index, Ok(()), "");
                }
                Some(why) => {
                    database.note_errors(ctx.instance_id(), &[(line, why.clone())]).await?;
                    ctx.item(item.index, Err(()), format!("line {line}: {why}"));
                }
            }
        }
        Ok(json!({ "imported": imported }))
    }

    async fn post_process(&self, ctx: TaskContext, mut ends: ShardEnds) -> Result<Value, TaskError> {
        let Parameters { database, reports, .. } = ctx.parameters_as()?;
        let mut imported = 0;
        while let Some(end) = ends.next().await {
            if let Ok(result) = end?.result {
                imported += result["imported"].as_u64().unwrap_or(0);
            }
        }
        let errors = Database::open(&database).await?.errors(ctx.instance_id()).await?;
        let report = reports.join(format!("errors-{}.xlsx", ctx.instance_id()));
        write(&errors, &report).map_err(|error| TaskError::transient("report_not_written", error.to_string()))?;
        Ok(json!({ "imported": imported, "refused": errors.len(), "errors": report }))
    }
}

fn check(customer: &Customer) -> Result<(), String> {
    match customer.email.split_once('@') {
        _ if customer.name.trim().is_empty() => Err("there is no name".to_owned()),
        Some((who, at)) if !who.is_empty() && at.contains('.') => Ok(()),
        _ => Err(format!("'{}' is no e-mail address", customer.email)),
    }
}

/// How many come before each: who was brought by nobody is in level 0. Nobody may have brought themselves, and whoever
/// brought somebody stands in the file.
fn levels_of(lines: &[Line]) -> Vec<Result<usize, String>> {
    let places: HashMap<&str, usize> =
        lines.iter().enumerate().rev().map(|(place, line)| (line.customer.id.as_str(), place)).collect();
    let level_of = |start: &Line| {
        let (mut level, mut at) = (0, start);
        while !at.customer.brought_by.is_empty() {
            let by = at.customer.brought_by.as_str();
            at = places.get(by).map(|place| &lines[*place]).ok_or_else(|| format!("there is no customer {by}"))?;
            level += 1;
            if level > lines.len() {
                return Err(format!("whoever brought {} was brought by {0}", start.customer.id));
            }
        }
        Ok(level)
    };
    let judge = |(place, line): (usize, &Line)| match places[line.customer.id.as_str()] {
        first if first != place => Err(format!("line {} has the same id", lines[first].line)),
        _ => level_of(line),
    };
    lines.iter().enumerate().map(judge).collect()
}

fn write(errors: &[(i64, String)], report: &std::path::Path) -> Result<(), XlsxError> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let bold = Format::new().set_bold();
    sheet.write_with_format(0, 0, "Line", &bold)?.write_with_format(0, 1, "Error", &bold)?;
    sheet.set_column_width(1, 60)?.set_freeze_panes(1, 0)?;
    for (row, (line, why)) in (1..).zip(errors) {
        sheet.write(row, 0, *line)?.write(row, 1, why)?;
    }
    workbook.save(report)
}

struct Database(SqliteConnection);

impl Database {
    async fn open(url: &str) -> Result<Database, TaskError> {
        let options: SqliteConnectOptions = url.parse().map_err(away)?;
        let mut link = SqliteConnection::connect_with(&options.create_if_missing(true)).await.map_err(away)?;
        let tables = "CREATE TABLE IF NOT EXISTS customers (
                          id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
                          brought_by TEXT REFERENCES customers);
                      CREATE TABLE IF NOT EXISTS import_errors (
                          run TEXT NOT NULL, line INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY (run, line))";
        sqlx::raw_sql(tables).execute(&mut link).await.map_err(away)?;
        Ok(Database(link))
    }

    /// Why the database does not take it, if it does not.
    async fn insert(&mut self, customer: &Customer) -> Result<Option<String>, TaskError> {
        let Customer { id, name, email, brought_by } = customer;
        let insert = "INSERT INTO customers VALUES (?, ?, ?, nullif(?, '')) ON CONFLICT (id) DO NOTHING";
        let done = sqlx::query(insert).bind(id).bind(name).bind(email).bind(brought_by).execute(&mut self.0).await;
        match done {
            Ok(_) => Ok(None),
            Err(sqlx::Error::Database(refused)) if refused.constraint().is_some() || is_of_the_row(&*refused) => {
                Ok(Some(refused.message().to_owned()))
            }
            Err(error) => Err(away(error)),
        }
    }

    async fn note_errors(&mut self, run: &str, errors: &[(u64, String)]) -> Result<(), TaskError> {
        for (line, why) in errors {
            let note = "INSERT INTO import_errors VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
            let line = i64::try_from(*line).unwrap_or(i64::MAX);
            sqlx::query(note).bind(run).bind(line).bind(why).execute(&mut self.0).await.map_err(away)?;
        }
        Ok(())
    }

    async fn forget_errors(&mut self, run: &str) -> Result<(), TaskError> {
        let forget = sqlx::query("DELETE FROM import_errors WHERE run = ?").bind(run);
        forget.execute(&mut self.0).await.map(|_| ()).map_err(away)
    }

    async fn errors(&mut self, run: &str) -> Result<Vec<(i64, String)>, TaskError> {
        let errors = sqlx::query("SELECT line, error FROM import_errors WHERE run = ? ORDER BY line").bind(run);
        let rows = errors.fetch_all(&mut self.0).await.map_err(away)?;
        Ok(rows.iter().map(|row| (row.get("line"), row.get("error"))).collect())
    }
}

fn is_of_the_row(refused: &dyn sqlx::error::DatabaseError) -> bool {
    refused.is_unique_violation() || refused.is_foreign_key_violation() || refused.is_check_violation()
}

/// Another try may find it there.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn away(error: sqlx::Error) -> TaskError {
    TaskError::transient("database_away", error.to_string())
}

/// Another try would find the same.
fn wrong_file(error: &csv::Error) -> TaskError {
    TaskError::business("file_unreadable", error.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4610".to_owned());
    let executor = Executor::builder("examples", "import-1").sharding_processor(ImportCustomers).build()?;
    executor.serve(Network::to(node)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use campanile_sdk::testing::ShardedRun;

    use super::*;

    #[tokio::test]
    async fn customers_come_after_whoever_brought_them_and_every_error_has_its_line() {
        let home = std::env::temp_dir().join(format!("campanile-import-{}", std::process::id()));
        std::fs::create_dir_all(&home).expect("a folder");
        let file = home.join("customers.csv");
        let rows = "id,name,email,brought_by\n\
                    3,Li,li@example.org,2\n2,Pat,pat@example.org,1\n1,Mei,mei@example.org,\n\
                    4,Wu,nowhere,\n5,Zoe,zoe@example.org,9\n6,Ann,ann@example.org,7\n7,Bob,bob@example.org,6\n";
        std::fs::write(&file, rows).expect("a file");
        let database = format!("sqlite:{}", home.join("customers.db").display());
        let parameters = json!({"file": file, "database": database, "reports": home});
        for imported in [3, 3] {
            let run = ShardedRun::of(&ImportCustomers, parameters.clone(), Vec::new()).await.expect("it runs");
            assert_eq!((&run.result["imported"], &run.result["refused"]), (&json!(imported), &json!(4)));
            assert!(std::path::Path::new(run.result["errors"].as_str().expect("a path")).exists());
        }
        let mut database = Database::open(&database).await.expect("it is there");
        let lines: Vec<i64> = database.errors("test-instance").await.expect("errors").iter().map(|row| row.0).collect();
        assert_eq!(lines, [5, 6, 7, 8]);
        std::fs::remove_dir_all(&home).expect("it can go");
    }
}
