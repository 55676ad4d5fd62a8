//! What can happen between nodes and their server, and what is said then.

// Also in the functions that the tests share.
#![allow(clippy::unwrap_used)]

mod servers;

use std::task::Poll;
use std::time::Duration;

use campanile_model::Timestamp;
use campanile_model::job::Job;
use campanile_model::task::IncidentKind;
use campanile_store::conformance::fixtures::*;
use campanile_store::{
    AlarmStore, Archive, CarriedOut, Change, ExecutorStore, InstanceStore, JobStore, Launched, Lead, LeaseStore,
    RequestStore, SettingStore, StoreError, Taken,
};
use campanile_store_mysql::{Manner, MysqlStore};
use futures::future::join_all;
use servers::{Server, run};
use sqlx::Row as _;

#[tokio::test]
async fn opening_again_finds_everything() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let job = saved(&store, &lead, "job").await;
    let (made, task) = succeeded(&store, &lead, &job, 60).await;
    drop(store);
    let store = database.open().await;
    assert_eq!(store.job_named("job").await.unwrap().map(|job| job.id), Some(job.id));
    assert_eq!(task_now(&store, task.id).await, task);
    assert_eq!(store.ledger_extract(job.id).await.unwrap().made[0].id, made.id);
    assert_eq!(store.lease("engine").await.unwrap().map(|row| row.lead), Some(lead));
    store.close().await;
}

/// By the names of the files, which begin with it.
fn newest_migration() -> i64 {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    let number = |name: String| name.split('_').next().unwrap().parse().unwrap();
    files.map(|file| number(file.unwrap().file_name().into_string().unwrap())).max().unwrap()
}

#[tokio::test]
async fn of_many_nodes_that_open_an_empty_database_at_once_one_makes_the_schema() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let stores = join_all((0..6).map(|_| database.open())).await;
    let mut meddler = database.connect().await;
    let rows = sqlx::query("SELECT version, steps FROM campanile_schema").fetch_all(&mut meddler).await.unwrap();
    assert_eq!(rows.len(), 1);
    let come: (i64, i64) = (rows[0].get("version"), rows[0].get("steps"));
    assert_eq!(come, (newest_migration(), 0));
    for store in &stores {
        store.ask(&request()).await.unwrap();
    }
    assert_eq!(stores[0].open_requests(10).await.unwrap().len(), 6);
    join_all(stores.iter().map(MysqlStore::close)).await;
}

#[tokio::test]
async fn a_schema_that_was_left_half_done_is_gone_on_with() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    saved(&store, &lead, "job").await;
    store.close().await;
    // Its node went after a step, before or after it had written that down.
    let mut meddler = database.connect().await;
    run(&mut meddler, "DROP TABLE executors; UPDATE campanile_schema SET version = 0, steps = 3").await;
    let store = database.open().await;
    assert!(store.job_named("job").await.unwrap().is_some());
    store.put_executors(&lead, &[], Timestamp::EPOCH).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    database.open().await.close().await;
    let mut meddler = database.connect().await;
    run(&mut meddler, "UPDATE campanile_schema SET version = 4711").await;
    let refused = MysqlStore::open(&database.url()).await.err().expect("a newer program has been here");
    let StoreError::Newer { found, known } = refused else { panic!("{refused:?}") };
    assert_eq!((found, known), (4711, newest_migration()));
}

#[tokio::test]
async fn whoever_only_looks_on_takes_the_schema_as_it_is_and_changes_nothing() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let known = newest_migration();
    let look = async || MysqlStore::open_to_look(&database.url(), Manner::default()).await;
    let mut meddler = database.connect().await;
    let refused = look().await.err().expect("there is nothing yet");
    assert!(matches!(refused, StoreError::Older { found: 0, .. }), "{refused:?}");
    assert!(sqlx::query("SHOW TABLES").fetch_all(&mut meddler).await.unwrap().is_empty());
    database.open().await.close().await;
    look().await.expect("it is of this version").close().await;

    run(&mut meddler, &format!("UPDATE campanile_schema SET version = {}", known - 1)).await;
    let refused = look().await.err().expect("a node has to change it first");
    assert!(
        matches!(refused, StoreError::Older { found, known: ours } if found == known - 1 && ours == known),
        "{refused:?}"
    );
    let come: i64 = sqlx::query_scalar("SELECT version FROM campanile_schema").fetch_one(&mut meddler).await.unwrap();
    assert_eq!(come, known - 1);
    run(&mut meddler, "UPDATE campanile_schema SET version = 4711").await;
    let refused = look().await.err().expect("a newer program has been here");
    assert!(matches!(refused, StoreError::Newer { found: 4711, .. }), "{refused:?}");
}

#[tokio::test]
async fn another_programs_database_is_refused() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let mut meddler = database.connect().await;
    run(&mut meddler, "CREATE TABLE recipes (name TEXT)").await;
    let refused = MysqlStore::open(&database.url()).await.err().expect("not ours");
    assert!(matches!(&refused, StoreError::Damaged(reason) if reason.contains("another program")), "{refused:?}");
    let tables: Vec<String> = sqlx::query_scalar("SHOW TABLES").fetch_all(&mut meddler).await.unwrap();
    assert_eq!(tables, ["recipes"]);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    for url in ["mysql://a:b@127.0.0.1:1/campanile", "no address at all"] {
        let refused = MysqlStore::open(url).await.err().expect("nobody listens there");
        assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_row_that_makes_no_sense_is_damage() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    saved(&store, &lead, "job").await;
    run(&mut database.connect().await, "UPDATE jobs SET spec = '{\"name\": 5'").await;
    let refused = store.job_named("job").await.expect_err("half a document");
    assert!(matches!(&refused, StoreError::Damaged(reason) if reason.contains("spec")), "{refused:?}");
    store.close().await;
}

/// Whatever stands in it, and however long it is.
#[tokio::test]
async fn text_of_any_kind_comes_back_as_it_went() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let job = saved(&store, &lead, "job").await;
    let kinds = ["", " ", "'; DROP TABLE jobs; --", "\\", "\\'", "\0\u{1}\u{1a}", "\"`?:$1", "🔔 钟楼", "é\r\n\t"];
    for text in kinds.iter().map(ToString::to_string).chain(["'\\🔔".repeat(200_000)]) {
        let mut made = manual_instance(&job, 60);
        made.parameters = Some(text.clone());
        made.key.clone_from(&text);
        let put = Change::PutInstance(made.clone());
        assert_eq!(carry_out(&store, &lead, vec![put]).await, Taken::Done);
        assert_eq!(instance_now(&store, made.id).await, made);
        assert_eq!(store.firing(job.id, made.origin, &text).await.unwrap(), Some(made.id));
    }
    store.close().await;
}

/// Asks until the server says that somebody waits for a lock.
async fn until_someone_waits(store: &MysqlStore, before: u64) {
    while store.retries() == before {
        tokio::task::yield_now().await;
        store.setting("nothing").await.unwrap();
    }
}

#[tokio::test]
async fn a_lock_that_somebody_keeps_is_waited_for_and_the_write_tried_again() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let manner = Manner { lock_wait: Duration::from_secs(1), ..Manner::default() };
    let store = MysqlStore::open_in(&database.url(), manner).await.unwrap();
    let lead = lead(&store).await;
    let job = saved(&store, &lead, "job").await;
    let mut meddler = database.connect().await;
    run(&mut meddler, "START TRANSACTION; UPDATE jobs SET paused = 1").await;
    let launch = [launch_of(&job, 60, vec![instance(&job, 60)], Vec::new())];
    let (launched, ()) = tokio::join!(store.launch(&lead, &launch), async {
        until_someone_waits(&store, 0).await;
        run(&mut meddler, "ROLLBACK").await;
    });
    assert_eq!(launched.unwrap(), [Launched::Written { made: 1 }]);
    assert!(store.retries() > 0);
    store.close().await;
}

#[tokio::test]
async fn a_deadlock_is_tried_again_without_a_word() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let (one, other) = (saved(&store, &lead, "one").await, saved(&store, &lead, "other").await);
    let launches = [&one, &other].map(|job| launch_of(job, 60, vec![instance(job, 60)], Vec::new()));
    let mut meddler = database.connect().await;
    // It has written more than the store will have: it is the store that is ended.
    run(
        &mut meddler,
        "START TRANSACTION; INSERT INTO settings (name, value) VALUES ('a', '1'), ('b', '2'), ('c', '3')",
    )
    .await;
    run(&mut meddler, "UPDATE changes SET times = times + 1; UPDATE jobs SET paused = 1 WHERE live_name = 'other'")
        .await;
    let (launched, ()) = tokio::join!(store.launch(&lead, &launches), async {
        // It holds the one and waits for the other, which shows in that the one cannot be had at once.
        let mut looker = database.connect().await;
        let free = "SELECT seq FROM jobs WHERE live_name = 'one' FOR UPDATE SKIP LOCKED";
        while sqlx::query(free).fetch_optional(&mut looker).await.unwrap().is_some() {}
        run(&mut meddler, "UPDATE jobs SET paused = 1 WHERE live_name = 'one'; ROLLBACK").await;
    });
    assert_eq!(launched.unwrap(), [Launched::Written { made: 1 }; 2]);
    assert!(store.retries() > 0);
    store.close().await;
}

/// Lets a write go so far, and no further for now.
async fn polled<T>(write: &mut (impl Future<Output = T> + Unpin), times: usize) -> Option<T> {
    let mut left = times;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        std::pin::Pin::new(&mut *write).poll(context).map(Some)
    })
    .await
}

/// One node is paused at each of its steps through a launch; the other takes over its lease.
#[tokio::test]
async fn a_leader_that_was_paused_in_a_write_neither_holds_up_the_next_nor_writes_after_it() {
    let Some(server) = Server::shared() else { return };
    // Longer than a busy machine makes a node wait that is not paused at all.
    let manner = Manner { patience: Duration::from_secs(2), ..Manner::default() };
    let outcomes = join_all((0..10).map(async |place| {
        // From before it has a connection until after it is told the end.
        let polls = 1 + 9 * place;
        let database = server.database().await;
        let next = database.open().await;
        let paused = MysqlStore::open_in(&database.url(), manner.clone()).await.unwrap();
        let old = next.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
        let job = saved(&next, &old, "job").await;
        let launch = [launch_of(&job, 60, vec![instance(&job, 60)], Vec::new())];
        let mut write = Box::pin(paused.launch(&old, &launch));
        let mut outcome = polled(&mut write, polls).await;

        let new = next.take_lease("engine", "b", at(10), at(1_000_000)).await.unwrap().expect("past its end");
        let seen = job_now(&next, job.id).await;
        let again = [launch_of(&seen, 120, vec![instance(&job, 60), instance(&job, 120)], Vec::new())];
        let launched = next.launch(&new, &again).await.unwrap();

        if outcome.is_none() {
            outcome = Some(write.await);
        }
        let was_written = seen.fired_through == at(60);
        match outcome.expect("it was waited for") {
            Ok(old_launch) => assert!(was_written, "{polls}: {old_launch:?} after the lease had passed on"),
            // Where the pause came between the commit and its answer, it is written and nobody was told.
            Err(StoreError::Unknown(_)) => {}
            Err(StoreError::Fenced(_) | StoreError::Unavailable(_)) => assert!(!was_written, "{polls}"),
            Err(other) => panic!("{polls}: {other:?}"),
        }
        assert_eq!(launched, [Launched::Written { made: if was_written { 1 } else { 2 } }], "{polls}");
        let made = next.ledger_extract(job.id).await.unwrap().made;
        assert_eq!(made.iter().map(|made| made.planned).collect::<Vec<_>>(), [at(60), at(120)], "{polls}");
        paused.close().await;
        next.close().await;
        was_written
    }))
    .await;
    // Some were paused before they had written and some after.
    assert!(outcomes.contains(&true) && outcomes.contains(&false), "{outcomes:?}");
}

#[tokio::test]
async fn a_write_that_was_dropped_halfway_leaves_nothing_and_holds_nothing_up() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let jobs: Vec<_> = (0..30).map(|n| job(&format!("job-{n}"))).collect();
    for (polls, job) in jobs.iter().enumerate() {
        let request = request();
        store.ask(&request).await.unwrap();
        let done = CarriedOut { request: request.id, changes: vec![new_job(job)], answer: done(), audit: Vec::new() };
        let mut write = Box::pin(store.carry_out(&lead, &done));
        polled(&mut write, polls).await;
        drop(write);
        // Whether it came to an end or not, both or neither. The server may still be at what was sent to it last.
        let again = store.carry_out(&lead, &done).await.unwrap();
        let (saved, answered) =
            (store.job_named(&job.spec.name).await.unwrap(), store.answer(request.id).await.unwrap());
        assert!(saved.is_some() && answered.is_some(), "{polls}: {again:?}");
        assert_eq!(store.versions(job.id).await.unwrap().len(), 1, "{polls}");
    }
    store.close().await;
}

#[tokio::test]
async fn connections_that_the_server_ended_are_replaced() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    join_all((0..8).map(|_| store.settings())).await;
    let mut meddler = database.connect().await;
    let others: Vec<i64> = sqlx::query_scalar(
        "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
    )
    .fetch_all(&mut meddler)
    .await
    .unwrap();
    assert!(!others.is_empty());
    for other in others {
        run(&mut meddler, &format!("KILL {other}")).await;
    }
    let mut refusals = 0;
    while let Err(error) = store.ask(&request()).await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        refusals += 1;
        assert!(refusals <= 16, "no new connection is made");
    }
    store.close().await;
    assert!(matches!(store.settings().await, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn the_servers_time_is_the_nodes_time() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let first = store.now().await.unwrap();
    // A server whose zone is another tells the same time.
    assert!(first > Timestamp::from_millis(1_700_000_000_000), "{first:?}");
    assert!(store.now().await.unwrap() >= first);
    store.close().await;
}

/// Has the store write down an incident.
async fn overruns(store: &MysqlStore, lead: &Lead, job: &Job) {
    let job = job_now(store, job.id).await;
    let through = (job.fired_through.millis() - at(0).millis()) / 1000 + 60;
    let mut launch = launch_of(&job, through, Vec::new(), Vec::new());
    launch.incidents = vec![incident(&job, IncidentKind::Overran, through)];
    store.launch(lead, &[launch]).await.unwrap();
}

/// Numbers are drawn when incidents are written, and seen when they are committed.
#[tokio::test]
async fn an_incident_that_is_still_being_written_is_not_passed_by() {
    let Some(server) = Server::shared() else { return };
    let database = server.database().await;
    let store = database.open().await;
    let lead = lead(&store).await;
    let job = saved(&store, &lead, "job").await;
    overruns(&store, &lead, &job).await;
    let mark = store.new_incidents(10).await.unwrap()[0].seq;
    assert_eq!(store.put_alarms(&lead, &[], Some(mark)).await.unwrap(), Taken::Done);
    assert_eq!(store.new_incidents(10).await.unwrap(), []);

    let mut slow = database.connect().await;
    let begins = "START TRANSACTION; SELECT gate FROM gates WHERE gate = 'incidents' LOCK IN SHARE MODE;
         INSERT INTO incidents (at, kind, job, instance) SELECT at, kind, job, instance FROM incidents LIMIT 1";
    run(&mut slow, begins).await;
    let drawn: i64 = sqlx::query_scalar("SELECT MAX(seq) FROM incidents").fetch_one(&mut slow).await.unwrap();
    overruns(&store, &lead, &job).await;
    let reading = store.new_incidents(10);
    let time_to_answer = async {
        for _ in 0..100 {
            run(&mut slow, "SELECT 1").await;
        }
    };
    let reading = match futures::future::select(Box::pin(reading), Box::pin(time_to_answer)).await {
        futures::future::Either::Left((read, _)) => panic!("it is passed by: {read:?}"),
        futures::future::Either::Right(((), reading)) => reading,
    };
    run(&mut slow, "COMMIT").await;
    let seen: Vec<i64> = reading.await.unwrap().iter().map(|one| one.seq).collect();
    assert!(seen.len() == 2 && seen[0] == drawn && seen[1] > drawn, "{drawn}: {seen:?}");

    // What was undone leaves a number that nobody has, and is waited for by nobody.
    assert_eq!(store.put_alarms(&lead, &[], seen.last().copied()).await.unwrap(), Taken::Done);
    run(&mut slow, begins).await;
    run(&mut slow, "ROLLBACK").await;
    overruns(&store, &lead, &job).await;
    assert_eq!(store.new_incidents(10).await.unwrap().len(), 1);
    store.close().await;
}
