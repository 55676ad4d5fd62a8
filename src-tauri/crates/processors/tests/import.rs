//! `import` into an SQLite file.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use campanile_processors::{Files, ImportProcessor};
use campanile_sdk::{Class, TaskError, testing::ShardedRun};
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};

struct World {
    home: tempfile::TempDir,
    import: ImportProcessor,
}

async fn world(files: impl Fn(PathBuf) -> Files) -> World {
    let home = tempfile::tempdir().unwrap();
    let import = ImportProcessor::new(
        BTreeMap::<String, String>::new(),
        home.path().join("imports.db"),
        files(home.path().to_owned()),
    );
    World { home, import }
}

impl World {
    fn file(&self, text: impl AsRef<[u8]>) -> String {
        let path = self.home.path().join("rows.csv");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    async fn runs(&self, parameters: Value) -> Result<ShardedRun, TaskError> {
        let mut all = json!({"table": "people", "key": "id", "createTable": true});
        for (name, value) in parameters.as_object().unwrap() {
            all[name.as_str()] = value.clone();
        }
        ShardedRun::of(&self.import, all, Vec::new()).await
    }

    async fn people(&self) -> Vec<(String, Option<String>)> {
        let url = format!("sqlite:{}/imports.db", self.home.path().display());
        let mut link = SqliteConnection::connect(&url).await.unwrap();
        sqlx::query_as("SELECT id, name FROM people ORDER BY id").fetch_all(&mut link).await.unwrap()
    }
}

/// What was said of items that failed, by level and place.
fn refused(run: &ShardedRun) -> Vec<String> {
    run.outcomes.iter().filter(|(_, well, _)| !*well).map(|(_, _, message)| message.clone()).collect()
}

#[tokio::test]
async fn rows_are_written_once_however_often_they_come() {
    let world = world(|_| Files::Anywhere).await;
    let file = world.file("\u{feff}id,name\n1,Mei\n2,\n3,\"O\"\"Neil, Pat\"\n");
    let run = world.runs(json!({"file": file})).await.unwrap();
    assert_eq!(run.result["inserted"], 3);
    assert_eq!(run.outcomes.len(), 3);
    let again = world.runs(json!({"file": file})).await.unwrap();
    assert_eq!((&again.result["inserted"], &again.result["present"]), (&json!(0), &json!(3)));
    let people = world.people().await;
    assert_eq!(people[1], ("2".to_owned(), None));
    assert_eq!(people[2].1.as_deref(), Some("O\"Neil, Pat"));
}

#[tokio::test]
async fn what_is_wrong_with_a_row_is_said_of_that_row_and_no_other_is_kept_out() {
    let world = world(|_| Files::Anywhere).await;
    let file = world.file(b"id,name,by\n1,Mei,\n2,,1\n3,Pat,9\n4,Li,5\n5,Wu,4\n6,Ann\n7,\xff,\n8,Zoe,1\n1,Twin,\n");
    let run = world.runs(json!({"file": file, "parent": "by", "required": ["name"]})).await.unwrap();
    assert_eq!((&run.result["inserted"], &run.result["failed"]), (&json!(2), &json!(7)));
    let said = refused(&run);
    for (line, part) in [
        (3, "name is empty"),
        (4, "no row has the key 9"),
        (5, "5 comes after this row"),
        (6, "4 comes after this row"),
        (7, "2 fields instead of 3"),
        (8, "it is not UTF-8"),
        (10, "line 2 has the key 1 already"),
    ] {
        let start = format!("line {line}: ");
        assert!(said.iter().any(|said| said.starts_with(&start) && said.contains(part)), "{line}: {said:?}");
    }
    let levels: Vec<u32> = run.items.iter().map(|item| item.level).collect();
    assert!(levels.is_sorted() && levels.last() == Some(&1), "{levels:?}");
    let people = world.people().await;
    assert_eq!(people.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["1", "8"]);
}

#[tokio::test]
async fn a_row_that_the_database_refuses_does_not_keep_its_neighbours_out() {
    let world = world(|_| Files::Anywhere).await;
    let url = format!("sqlite:{}/imports.db?mode=rwc", world.home.path().display());
    let mut link = SqliteConnection::connect(&url).await.unwrap();
    let table = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT CHECK (length(name) < 5))";
    sqlx::raw_sql(table).execute(&mut link).await.unwrap();
    let file = world.file("id,name\n1,Mei\n2,Alexandra\n3,Pat\n");
    let run = world.runs(json!({"file": file, "createTable": false})).await.unwrap();
    assert_eq!((&run.result["inserted"], &run.result["failed"]), (&json!(2), &json!(1)));
    assert!(refused(&run)[0].contains("CHECK constraint failed"), "{:?}", refused(&run));
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_any_row_is_handed_out() {
    let world = world(|_| Files::Anywhere).await;
    let file = world.file("id,name\n1,Mei\n");
    for (parameters, part) in [
        (json!({"file": "/no/such/file.csv"}), "/no/such/file.csv"),
        (json!({"file": file, "key": "number"}), "there is no column number; there is id, name"),
        (json!({"file": file, "createTable": false}), "no such table"),
        (json!({"file": file, "table": " "}), "table"),
        (json!({"file": file, "connection": "nobody"}), "nobody"),
    ] {
        let refused = world.runs(parameters).await.unwrap_err();
        assert_eq!(refused.class(), Some(Class::Business));
        assert!(refused.message().contains(part), "{part}: {}", refused.message());
    }
}

#[tokio::test]
async fn where_commands_may_not_be_run_files_are_read_in_one_folder_alone() {
    let world = world(|home| Files::In(home.join("imports"))).await;
    let folder = world.home.path().join("imports");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("good.csv"), "id,name\n1,Mei\n").unwrap();
    let secret = world.file("id,name\n1,secret\n");
    std::os::unix::fs::symlink(&secret, folder.join("link.csv")).unwrap();
    assert_eq!(world.runs(json!({"file": "good.csv"})).await.unwrap().result["inserted"], 1);
    for file in [secret.as_str(), "../rows.csv", "link.csv"] {
        let refused = world.runs(json!({"file": file})).await.unwrap_err();
        assert!(refused.message().contains("alone"), "{file}: {}", refused.message());
    }
}

#[tokio::test]
async fn the_runs_own_data_is_imported_where_no_file_is_named() {
    let world = world(|_| Files::Anywhere).await;
    let parameters = json!({"table": "people", "key": "id", "createTable": true});
    let data = vec![json!({"id": 1, "name": "Mei"}), json!("nonsense"), json!({"id": 2, "name": "Pat", "more": true})];
    let run = ShardedRun::of(&world.import, parameters, vec![data]).await.unwrap();
    assert_eq!((&run.result["inserted"], &run.result["failed"]), (&json!(2), &json!(1)));
    assert_eq!(world.people().await.len(), 2);
}

#[tokio::test]
async fn the_sample_has_ten_thousand_customers_a_few_of_whom_are_wrong() {
    let world = world(|_| Files::Anywhere).await;
    let sample = json!({
        "file": "sample:customers", "table": "customers", "parent": "brought_by", "required": ["name", "email"],
    });
    let run = world.runs(sample).await.unwrap();
    assert_eq!(run.outcomes.len(), 10_000);
    let failed = run.result["failed"].as_u64().unwrap();
    assert!((10..40).contains(&failed), "{failed}");
    assert_eq!(run.result["inserted"], 10_000 - failed);
    assert_eq!(run.items.iter().map(|item| item.level).max(), Some(2));
    // Of each of the three shards the first five.
    let told = run.result["errors"].as_array().unwrap();
    assert!((5..=15).contains(&told.len()), "{told:?}");
    assert!(told.is_sorted_by_key(|error| error["line"].as_u64()));
}
