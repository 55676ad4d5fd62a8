//! Locks as an executor asks for them, against a node that the test is: asked, granted, lost, told again after a break.

#![allow(clippy::unwrap_used)]

mod node;

use std::time::Duration;

use campanile_proto::v1::{self, from_executor::Message as From};
use campanile_sdk::testing::TestRun;
use campanile_sdk::{Builder, Executor, LockGuard, Processor as _, TaskContext, TaskError, processor_fn};
use node::{Node, welcome, world};
use serde_json::json;
use tokio::time::Instant;

/// Takes x and y, says its token, and keeps them until it is told to end.
fn keeper() -> Builder {
    let keep = processor_fn("keep", |ctx: TaskContext| async move {
        let guard = ctx.locks(["y", "x"]).wait(Duration::from_secs(5)).await?;
        ctx.log(format!("{:?} {}", guard.locks(), guard.is_lost()));
        tokio::select! {
            biased;
            () = guard.lost() => ctx.log("lost"),
            () = ctx.cancelled() => {}
        }
        Err(TaskError::cancelled("as asked"))
    });
    Executor::builder("local", "desk").processor(keep)
}

/// Takes x, releases it, and says how that went.
fn brief() -> Builder {
    let brief = processor_fn("brief", |ctx: TaskContext| async move {
        let guard = ctx.lock("x").wait(Duration::ZERO).await?;
        let token = guard.token();
        guard.release().await?;
        Ok(json!(token))
    });
    Executor::builder("local", "desk").processor(brief)
}

async fn asked(node: &mut Node) -> v1::AskLocks {
    loop {
        match node.hear().await {
            From::AskLocks(ask) => return ask,
            From::Report(_) => {}
            other => panic!("locks, not {other:?}"),
        }
    }
}

async fn left(node: &mut Node) -> u64 {
    loop {
        match node.hear().await {
            From::LeaveLocks(leave) => return leave.ask,
            From::Report(_) => {}
            other => panic!("it leaves, not {other:?}"),
        }
    }
}

/// The end of the task, as it is told; what is left on the way to it is left.
async fn end(node: &mut Node) -> String {
    loop {
        let told = match node.hear().await {
            From::Report(report) => node::told(&report),
            From::LeaveLocks(_) => continue,
            other => panic!("its end, not {other:?}"),
        };
        if ["succeeded", "failed", "cancelled"].iter().any(|end| told.contains(end)) {
            return told.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
        }
    }
}

fn held(locks: &[(&str, u64)]) -> Vec<v1::HeldLock> {
    locks.iter().map(|(name, token)| v1::HeldLock { name: (*name).into(), token: *token }).collect()
}

fn grant(ask: &v1::AskLocks, locks: &[(&str, u64)]) -> v1::LocksGranted {
    v1::LocksGranted { attempt: ask.attempt.clone(), ask: ask.ask, locks: held(locks), left_ms: None }
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_asked_for_granted_released_and_confirmed() {
    let mut world = world(brief()).await;
    world.node.push("t", "brief").await;
    let ask = asked(&mut world.node).await;
    assert_eq!((ask.names.as_slice(), ask.wait_ms, ask.lease_ms), (["x".to_owned()].as_slice(), 0, None));
    world.node.say(grant(&ask, &[("x", 7)])).await;
    assert_eq!(left(&mut world.node).await, ask.ask);
    // Until that is confirmed, the task waits.
    assert!(world.node.quiet_for(Duration::from_secs(2)).await.is_empty());
    world.node.say(v1::LocksLeft { attempt: ask.attempt, ask: ask.ask }).await;
    assert_eq!(end(&mut world.node).await, "succeeded 7");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_the_tasks_error() {
    let mut world = world(brief()).await;
    world.node.push("t", "brief").await;
    let ask = asked(&mut world.node).await;
    let why = v1::Failure {
        class: v1::FailureClass::Transient.into(),
        code: "k_sc_ec_300071".into(),
        message_en: "lock x is held by someone".into(),
        ..v1::Failure::default()
    };
    world.node.say(v1::LocksRefused { attempt: ask.attempt, ask: ask.ask, why: Some(why) }).await;
    assert_eq!(end(&mut world.node).await, "failed TRANSIENT k_sc_ec_300071");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_knows_no_locks_holds_nobody_up_for_ever() {
    let mut world = world(brief()).await;
    world.node.push("t", "brief").await;
    let began = Instant::now();
    let ask = asked(&mut world.node).await;
    assert_eq!(left(&mut world.node).await, ask.ask, "what may have been had all the same is left");
    assert_eq!(end(&mut world.node).await, "failed TRANSIENT k_sc_ec_300074");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_lost_lock_cancels_the_task_which_fails_as_transient() {
    let mut world = world(keeper()).await;
    world.node.push("t", "keep").await;
    let ask = asked(&mut world.node).await;
    assert_eq!(ask.wait_ms, 5_000);
    world.node.say(grant(&ask, &[("x", 7), ("y", 2)])).await;
    let log = node::told(&world.node.report().await);
    assert_eq!(log, r#"t 3 log [("x", 7), ("y", 2)] false"#);
    world.node.say(v1::LocksLost { attempt: ask.attempt, ask: ask.ask, names: vec!["y".into()] }).await;
    let (mut reports, mut left) = (Vec::new(), Vec::new());
    while reports.last().is_none_or(|told: &String| !told.contains("failed")) {
        match world.node.hear().await {
            From::Report(report) => reports.push(node::told(&report)),
            From::LeaveLocks(leave) => left.push(leave.ask),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(reports, ["t 4 log lost", "t 5 failed TRANSIENT k_sc_ec_300070"]);
    assert_eq!(left, [ask.ask], "the other of the two is left");
}

#[tokio::test(start_paused = true)]
async fn after_a_break_what_is_held_and_what_waits_is_told_again() {
    let mut world = world(keeper().capacity(2)).await;
    world.node.push("t", "keep").await;
    let first = asked(&mut world.node).await;
    world.node.say(grant(&first, &[("x", 7), ("y", 2)])).await;
    world.node.push("u", "keep").await;
    let second = asked(&mut world.node).await;
    world.node.break_stream().await;
    world.node.say(welcome(&[("t", 1, 2), ("u", 1, 2)])).await;
    let again = asked(&mut world.node).await;
    assert_eq!(
        (again.attempt.clone(), again.ask, again.held.clone()),
        (first.attempt, first.ask, held(&[("x", 7), ("y", 2)]))
    );
    let waits = asked(&mut world.node).await;
    assert_eq!((waits.attempt, waits.ask, waits.held), (second.attempt, second.ask, vec![]));
    assert!(waits.wait_ms < 5_000, "what is left of its patience: {}", waits.wait_ms);
    world.node.say(grant(&again, &[("x", 7), ("y", 2)])).await;
    assert!(world.node.quiet_for(Duration::from_secs(1)).await.iter().all(|told| told.contains("log")), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn with_the_lease_goes_what_is_held() {
    let mut world = world(keeper()).await;
    world.node.push("t", "keep").await;
    let ask = asked(&mut world.node).await;
    world.node.say(grant(&ask, &[("x", 7), ("y", 2)])).await;
    world.node.acks_heartbeats = false;
    assert_eq!(end(&mut world.node).await, "failed TRANSIENT k_sc_ec_300070");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_not_its_own_any_more_holds_nothing() {
    let mut world = world(keeper()).await;
    world.node.push("t", "keep").await;
    let ask = asked(&mut world.node).await;
    world.node.say(grant(&ask, &[("x", 7), ("y", 2)])).await;
    world.node.break_stream().await;
    world.node.say(welcome(&[])).await;
    assert!(end(&mut world.node).await.starts_with("failed TRANSIENT k_sc_ec_3000"));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_is_given_up() {
    let impatient = processor_fn("impatient", |ctx: TaskContext| async move {
        let tried = tokio::time::timeout(Duration::from_secs(1), ctx.lock("x").into_future()).await;
        Ok(json!(tried.is_err()))
    });
    let mut world = world(Executor::builder("local", "desk").processor(impatient)).await;
    world.node.push("t", "impatient").await;
    let ask = asked(&mut world.node).await;
    assert_eq!(left(&mut world.node).await, ask.ask);
    assert_eq!(end(&mut world.node).await, "succeeded true");
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_its_own_ends_at_the_executor_too() {
    let leased = processor_fn("leased", |ctx: TaskContext| async move {
        let guard = ctx.lock("x").lease(Duration::from_secs(10)).await?;
        let began = Instant::now();
        guard.lost().await;
        assert!(guard.is_lost());
        Ok(json!(began.elapsed().as_secs()))
    });
    let mut world = world(Executor::builder("local", "desk").processor(leased)).await;
    world.node.push("t", "leased").await;
    let ask = asked(&mut world.node).await;
    assert_eq!(ask.lease_ms, Some(10_000));
    world.node.say(v1::LocksGranted { left_ms: Some(4_000), ..grant(&ask, &[("x", 7)]) }).await;
    assert_eq!(end(&mut world.node).await, "succeeded 4");
}

#[tokio::test(start_paused = true)]
async fn a_processor_that_locks_is_tested_without_a_node() {
    let work = processor_fn("work", |ctx: TaskContext| async move {
        let outer: LockGuard = ctx.lock("x").await?;
        let inner = ctx.lock("x").await?;
        drop(inner);
        ctx.cancelled().await;
        match outer.release().await {
            Ok(()) => Err(TaskError::cancelled("it was lost")),
            Err(error) => Err(error),
        }
    });
    let run = TestRun::new(json!({}));
    let working = tokio::spawn({
        let ctx = run.context();
        async move { work.process(ctx).await }
    });
    while run.locks() != ["x"] {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(run.locks(), ["x"], "the inner one was left");
    run.lose_locks();
    assert_eq!(working.await.unwrap().unwrap_err().code(), Some("k_sc_ec_300075"));
}
