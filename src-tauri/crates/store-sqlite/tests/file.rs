//! What can happen to the file and the disk that it lies on, and what is said then.

// Also in the functions that the tests share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use campanile_store::conformance::fixtures::*;
use campanile_store::{Archive, JobFilter, JobStore, LeaseStore, RequestStore, SettingStore, Store, StoreError};
use campanile_store_sqlite::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// Does something to the file that the store itself never does.
async fn meddle(path: &Path, statement: &str) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// A few jobs with instances, closed again.
async fn filled(path: &Path, jobs: usize) {
    let store = SqliteStore::open(path).await.unwrap();
    let lead = lead(&store).await;
    for n in 0..jobs {
        let job = saved(&store, &lead, &format!("job-{n:04}")).await;
        succeeded(&store, &lead, &job, 60).await;
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn opening_again_finds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    let (job, made, task, entry);
    {
        let store = SqliteStore::open(&path).await.unwrap();
        let lead = lead(&store).await;
        job = saved(&store, &lead, "job").await;
        (made, task) = succeeded(&store, &lead, &job, 60).await;
        entry = store.lease("engine").await.unwrap();
        // Dropped without a word, as in a crash.
    }
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.job_named("job").await.unwrap().map(|job| job.id), Some(job.id));
    assert_eq!(task_now(&store, task.id).await, task);
    assert_eq!(store.history(task.id).await.unwrap().len(), 4);
    assert_eq!(store.ledger_extract(job.id).await.unwrap().made[0].id, made.id);
    assert_eq!(store.lease("engine").await.unwrap(), entry);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    filled(&path, 1).await;
    meddle(&path, "PRAGMA user_version = 4711").await;
    let before = fs::read(&path).unwrap();
    let refused = SqliteStore::open(&path).await.err().expect("a newer program has been here");
    assert!(matches!(refused, StoreError::Newer { found: 4711, known } if known < 4711), "{refused:?}");
    assert!(fs::read(&path).unwrap() == before, "the file was changed");
}

#[tokio::test]
async fn another_programs_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    meddle_new(&path, "CREATE TABLE recipes (name TEXT)").await;
    let refused = SqliteStore::open(&path).await.err().expect("not ours");
    assert!(matches!(&refused, StoreError::Damaged(reason) if reason.contains("another program")), "{refused:?}");
}

async fn meddle_new(path: &Path, statement: &str) {
    fs::write(path, []).unwrap();
    meddle(path, statement).await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    fs::write(&path, "Dear diary, today I was overwritten.\n".repeat(1000)).unwrap();
    let refused = SqliteStore::open(&path).await.err().expect("not a database");
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused:?}");
}

#[tokio::test]
async fn a_damaged_page_is_reported_and_the_rest_still_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    filled(&path, 200).await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let root: i64 = sqlx::query_scalar("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4096;
    bytes[page..page + 4096].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let store = SqliteStore::open(&path).await.expect("the schema is whole");
    let refused = store.job_page(&JobFilter::default(), None, 1000).await.expect_err("the rows are not");
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused:?}");
    assert_eq!(store.setting("theme").await.unwrap(), None);
}

#[tokio::test]
async fn a_row_that_makes_no_sense_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campanile.db");
    filled(&path, 1).await;
    meddle(&path, "UPDATE jobs SET spec = '{\"name\": 5'").await;
    let store = SqliteStore::open(&path).await.unwrap();
    let refused = store.job_named("job-0000").await.expect_err("half a document");
    assert!(matches!(&refused, StoreError::Damaged(reason) if reason.contains("spec")), "{refused:?}");
}

#[tokio::test]
async fn a_missing_folder_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        SqliteStore::open(&folder.path().join("nowhere").join("campanile.db")).await.err().expect("no folder");
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
}

/// A small file system of its own, for as long as the test wants it. None where only root may have one.
struct Disk<'f>(&'f Path);

impl<'f> Disk<'f> {
    fn mounted(at: &'f Path, bytes: &str) -> Option<Disk<'f>> {
        let size = format!("size={bytes},mode=0777");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Disk(at)),
            other => {
                println!("SKIPPED: no file system of its own could be mounted for this test: {other:?}");
                None
            }
        }
    }

    fn make_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mounted(folder.path(), "16m") else { return };
    let path = folder.path().join("campanile.db");
    filled(&path, 1).await;
    disk.make_read_only();
    for path in [path, folder.path().join("new.db")] {
        let refused = SqliteStore::open(&path).await.err().expect("nothing can be written there");
        let StoreError::ReadOnly(named) = refused else { panic!("{path:?}: {refused:?}") };
        assert_eq!(Path::new(&named), folder.path());
    }
    println!("RAN: a_folder_that_cannot_be_written_says_so");
}

#[tokio::test]
async fn a_full_disk_says_so_and_everything_goes_on_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = Disk::mounted(folder.path(), "3m") else { return };
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.unwrap();
    let lead = lead(&store).await;
    let before = saved(&store, &lead, "before").await;

    let ballast = folder.path().join("ballast");
    let _full = fs::write(&ballast, vec![0; 4 << 20]);
    let refused = filling_up(&store, &lead).await;
    assert!(matches!(refused, StoreError::DiskFull), "{refused:?}");
    // What there was can still be read, and nothing half-written is among it.
    assert_eq!(job_now(&store, before.id).await, before);
    let jobs = store.jobs_after(None, 10_000).await.unwrap().len();

    fs::remove_file(&ballast).unwrap();
    saved(&store, &lead, "after").await;
    assert_eq!(store.jobs_after(None, 10_000).await.unwrap().len(), jobs + 1);

    // Nor can a new one be made where there is no room.
    fs::write(&ballast, vec![0; 4 << 20]).unwrap_err();
    let refused = SqliteStore::open(&folder.path().join("second.db")).await.err().expect("no room");
    assert!(matches!(refused, StoreError::DiskFull), "{refused:?}");
    println!("RAN: a_full_disk_says_so_and_everything_goes_on_once_there_is_room");
}

/// Saves jobs until one is refused.
async fn filling_up(store: &dyn Store, lead: &campanile_store::Lead) -> StoreError {
    for n in 0..100_000 {
        let mut large = job(&format!("job-{n}"));
        large.spec.description = "x".repeat(10_000);
        let request = request();
        if let Err(error) = store.ask(&request).await {
            return error;
        }
        let done = campanile_store::CarriedOut {
            request: request.id,
            changes: vec![new_job(&large)],
            answer: done(),
            audit: Vec::new(),
        };
        if let Err(error) = store.carry_out(lead, &done).await {
            return error;
        }
    }
    panic!("the disk has no end")
}

#[tokio::test]
async fn a_write_that_was_dropped_halfway_leaves_nothing_and_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.unwrap();
    let lead = lead(&store).await;
    let jobs: Vec<_> = (0..40).map(|n| job(&format!("job-{n}"))).collect();
    // Polled so and so often and then dropped, at every await there is.
    for (polls, job) in jobs.iter().enumerate() {
        let request = request();
        store.ask(&request).await.unwrap();
        let done = campanile_store::CarriedOut {
            request: request.id,
            changes: vec![new_job(job)],
            answer: done(),
            audit: Vec::new(),
        };
        let mut left = polls;
        let mut write = Box::pin(store.carry_out(&lead, &done));
        let dropped = std::future::poll_fn(|context| {
            if left == 0 {
                return std::task::Poll::Ready(());
            }
            left -= 1;
            write.as_mut().poll(context).map(|_| ())
        });
        dropped.await;
        drop(write);
        let saved = store.job_named(&job.spec.name).await.unwrap().is_some();
        let answered = store.answer(request.id).await.unwrap().is_some();
        // Whether it came to an end or not, both or neither.
        let again = store.carry_out(&lead, &done).await.unwrap();
        assert_eq!(again == campanile_store::Taken::Lost, saved, "{polls}");
        assert!(saved || !answered, "{polls}");
        assert!(store.job_named(&job.spec.name).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_store_that_was_closed_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("campanile.db")).await.unwrap();
    store.close().await.unwrap();
    assert!(matches!(store.ask(&request()).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.settings().await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.change_count().await, Err(StoreError::Unavailable(_))));
}
