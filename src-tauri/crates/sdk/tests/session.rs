//! The executor's side of the protocol, played against a node that the test is.
//! Time is tokio's paused time: it moves when everything waits, or when told.

#![allow(clippy::unwrap_used)]

mod node;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use campanile_proto::v1::{self, from_executor::Message as From, report::What};
use campanile_sdk::transport::pair;
use campanile_sdk::{Builder, CancelStage, Executor, Left, TaskContext, TaskError, processor_fn};
use node::{Node, accept, cancel, push, start, welcome, world};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

/// Ends when it is told how, and counts how often it was called.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<Notify>,
    calls: Arc<AtomicUsize>,
}

impl Gate {
    fn processor(&self) -> impl campanile_sdk::Processor {
        let gate = self.clone();
        processor_fn("gate", move |ctx: TaskContext| {
            let gate = gate.clone();
            async move {
                gate.calls.fetch_add(1, Ordering::SeqCst);
                tokio::select! {
                    () = gate.open.notified() => Ok(json!("through")),
                    () = ctx.cancelled() => Err(TaskError::cancelled("as asked")),
                }
            }
        })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn gated(gate: &Gate) -> Builder {
    Executor::builder("local", "desk").processor(gate.processor()).capacity(2).queued(1)
}

#[tokio::test(start_paused = true)]
async fn a_task_is_accepted_started_logged_and_finished_in_that_order() {
    let greet = processor_fn("greet", |ctx: TaskContext| async move {
        ctx.log("one\ntwo");
        ctx.progress(50.0, "half");
        ctx.item(3, Ok(()), "");
        Ok(json!({"key": ctx.idempotency_key(), "name": ctx.parameters()["name"]}))
    });
    let mut world = world(Executor::builder("local", "desk").processor(greet).label("os", "linux")).await;
    assert_eq!(world.node.register.name, "desk");
    assert_eq!(world.node.register.boot_id, "boot-1");
    assert_eq!(world.node.register.processors[0].name, "greet");
    assert_eq!(world.node.register.labels["os"], "linux");

    world.node.say(push("t", "greet", &json!({"name": "Ada"}))).await;
    assert_eq!(
        world.node.reports(6).await,
        [
            "t 1 accepted",
            "t 2 started",
            "t 3 1 items",
            "t 4 log one|two",
            "t 5 progress Some(50.0) half",
            r#"t 6 succeeded {"key":"key of t","name":"Ada"}"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_log_reaches_the_node_within_a_tenth_of_a_second() {
    let talk = processor_fn("talk", |ctx: TaskContext| async move {
        ctx.log("early");
        ctx.cancelled().await;
        Err(TaskError::cancelled(""))
    });
    let mut world = world(Executor::builder("local", "desk").processor(talk)).await;
    world.node.push("t", "talk").await;
    let before = Instant::now();
    assert_eq!(world.node.reports(3).await, ["t 1 accepted", "t 2 started", "t 3 log early"]);
    assert!(before.elapsed() <= Duration::from_millis(101), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_is_beyond_capacity_and_queue_is_handed_back() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    for task in ["a", "b", "c", "d"] {
        world.node.push(task, "gate").await;
    }
    world.node.push("e", "nobody").await;
    let mut reports = world.node.reports(7).await;
    reports.sort();
    assert_eq!(
        reports,
        [
            "a 1 accepted",
            "a 2 started",
            "b 1 accepted",
            "b 2 started",
            "c 1 accepted",
            "d 1 handed back NO_ROOM",
            "e 1 handed back UNKNOWN_PROCESSOR"
        ]
    );
    gate.open.notify_one();
    let mut reports = world.node.reports(2).await;
    reports.sort();
    assert!(reports[0].ends_with("3 succeeded \"through\"") && reports[1] == "c 2 started", "{reports:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_not_acknowledged_is_sent_again_after_a_break_and_runs_once() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.push("t", "gate").await;
    assert_eq!(world.node.reports(2).await, ["t 1 accepted", "t 2 started"]);
    world.node.ack("t", 1).await;
    gate.open.notify_one();
    assert_eq!(world.node.reports(1).await, ["t 3 succeeded \"through\""]);

    world.node.break_stream().await;
    let held = &world.node.register.still_held;
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].state(), held[0].last_sequence), (v1::HeldState::Ended, 3));
    world.node.say(welcome(&[("t", 1, 0)])).await;
    assert_eq!(world.node.reports(2).await, ["t 2 started", "t 3 succeeded \"through\""]);

    // Pushed once more before the acknowledgement: told again, not run again.
    world.node.push("t", "gate").await;
    assert_eq!(world.node.reports(2).await, ["t 2 started", "t 3 succeeded \"through\""]);
    world.node.ack("t", 2).await;
    world.node.ack("t", 3).await;
    // And after it.
    world.node.push("t", "gate").await;
    assert_eq!(world.node.reports(1).await, ["t 0 handed back ALREADY_ENDED"]);
    assert_eq!(gate.calls(), 1);
    world.node.break_stream().await;
    assert!(world.node.register.still_held.is_empty());
}

#[tokio::test(start_paused = true)]
async fn reports_that_the_node_says_are_stored_are_not_sent_again() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.push("t", "gate").await;
    world.node.reports(2).await;
    world.node.break_stream().await;
    world.node.say(welcome(&[("t", 1, 2)])).await;
    assert_eq!(world.node.quiet_for(Duration::from_secs(2)).await, [] as [String; 0]);
    gate.open.notify_one();
    assert_eq!(world.node.reports(1).await, ["t 3 succeeded \"through\""]);
}

#[tokio::test(start_paused = true)]
async fn a_push_of_what_runs_here_is_answered_and_starts_nothing() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.push("t", "gate").await;
    world.node.reports(2).await;
    world.node.ack("t", 1).await;
    world.node.ack("t", 2).await;
    world.node.push("t", "gate").await;
    assert_eq!(world.node.reports(1).await, ["t 1 accepted"]);
    assert_eq!(gate.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_handed_back_is_taken_as_new_and_numbers_go_on() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    for task in ["a", "b", "c"] {
        world.node.push(task, "gate").await;
    }
    world.node.reports(5).await;
    world.node.say(v1::Withdraw { attempt: Some(v1::AttemptRef::new("c", 1)) }).await;
    assert_eq!(world.node.reports(1).await, ["c 2 handed back WITHDRAWN"]);
    world.node.ack("c", 1).await;
    world.node.ack("c", 2).await;
    world.node.say(v1::Push { sequence_after: 2, ..push("c", "gate", &json!({})) }).await;
    assert_eq!(world.node.reports(1).await, ["c 3 accepted"]);
    // What was started is not given back, and what is not here cannot be.
    world.node.say(v1::Withdraw { attempt: Some(v1::AttemptRef::new("a", 1)) }).await;
    world.node.say(v1::Withdraw { attempt: Some(v1::AttemptRef::new("z", 1)) }).await;
    assert_eq!(world.node.reports(1).await, ["z 0 handed back UNKNOWN"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_node_no_longer_counts_as_ours_is_stopped_and_still_told() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    for task in ["a", "b", "c"] {
        world.node.push(task, "gate").await;
    }
    world.node.reports(5).await;
    world.node.break_stream().await;
    // b and the queued c are not ours any more.
    world.node.say(welcome(&[("a", 1, 2)])).await;
    let mut reports = world.node.reports(3).await;
    reports.sort();
    assert_eq!(reports, ["b 1 accepted", "b 2 started", "b 3 failed TRANSIENT k_sc_ec_300022"]);
    world.node.say(v1::Forget { attempt: Some(v1::AttemptRef::new("b", 1)) }).await;
    assert_eq!(world.node.quiet_for(Duration::from_secs(2)).await, [] as [String; 0]);
    assert_eq!(gate.calls(), 2);
    world.node.break_stream().await;
    assert_eq!(world.node.register.still_held.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_without_a_lease_and_what_runs_goes_on() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.push("a", "gate").await;
    world.node.reports(2).await;

    world.node.acks_heartbeats = false;
    // The lease has been over since 3 s; the stream is given up at 6 s of silence.
    assert_eq!(world.node.quiet_for(Duration::from_secs(4)).await, [] as [String; 0]);
    world.node.push("b", "gate").await;
    assert_eq!(world.node.quiet_for(Duration::from_secs(2)).await, ["b 1 accepted"]);
    assert_eq!(gate.calls(), 1);

    world.node.acks_heartbeats = true;
    assert_eq!(world.node.reports(1).await, ["b 2 started"]);
    gate.open.notify_waiters();
    let mut reports = world.node.reports(2).await;
    reports.sort();
    assert_eq!(reports, ["a 3 succeeded \"through\"", "b 3 succeeded \"through\""]);
}

#[tokio::test(start_paused = true)]
async fn a_processor_that_wants_it_is_stopped_with_the_lease() {
    struct Fragile;
    #[async_trait::async_trait]
    impl campanile_sdk::Processor for Fragile {
        fn name(&self) -> &str {
            "fragile"
        }
        fn describe(&self) -> campanile_sdk::ProcessorInfo {
            campanile_sdk::ProcessorInfo::new("fragile").stop_without_lease()
        }
        async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
            ctx.cancelled().await;
            Err(TaskError::cancelled("no lease"))
        }
    }
    let mut world = world(Executor::builder("local", "desk").processor(Fragile)).await;
    assert!(world.node.register.processors[0].stop_without_lease);
    world.node.push("a", "fragile").await;
    world.node.reports(2).await;
    world.node.acks_heartbeats = false;
    assert_eq!(world.node.quiet_for(Duration::from_secs(4)).await, ["a 3 failed TRANSIENT k_sc_ec_300022"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_is_left_and_the_executor_comes_back() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.push("a", "gate").await;
    world.node.reports(2).await;
    let before = Instant::now();
    let (wire, register) = accept(&mut world.node.acceptor).await;
    assert!(before.elapsed() < Duration::from_secs(8), "{:?}", before.elapsed());
    assert_eq!(register.still_held.len(), 1);
    world.node.wire = wire;
    world.node.say(welcome(&[("a", 1, 0)])).await;
    assert_eq!(world.node.reports(2).await, ["a 1 accepted", "a 2 started"]);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_come_every_second_and_the_machine_every_tenth() {
    let gate = Gate::default();
    let machine = || v1::Machine { cpu_percent: Some(12.5), ..v1::Machine::default() };
    let mut world = world(gated(&gate).machine(machine)).await;
    let mut beats = Vec::new();
    while beats.len() < 12 {
        if let From::Heartbeat(beat) = world.node.wire.from_executor.recv().await.unwrap().message.unwrap() {
            world.node.say(v1::HeartbeatAck { number: beat.number, lease_ms: 3_000 }).await;
            beats.push((beat.number, beat.machine.is_some()));
        }
    }
    let expected: Vec<_> = (1..=12).map(|number| (number, number == 1 || number == 11)).collect();
    assert_eq!(beats, expected);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_goes_stage_by_stage_and_each_is_told_once() {
    let stubborn = processor_fn("stubborn", |ctx: TaskContext| async move {
        ctx.cancel_reaches(CancelStage::Terminate).await;
        ctx.log("terminated");
        std::future::pending().await
    });
    let mut world = world(Executor::builder("local", "desk").processor(stubborn).capacity(1)).await;
    world.node.push("t", "stubborn").await;
    world.node.reports(2).await;
    world.node.say(cancel("t", v1::CancelAsk::Ask)).await;
    world.node.say(cancel("t", v1::CancelAsk::Ask)).await;
    world.node.say(cancel("t", v1::CancelAsk::Terminate)).await;
    assert_eq!(world.node.reports(3).await, ["t 3 ACKNOWLEDGED", "t 4 TERMINATED", "t 5 log terminated"]);
    world.node.say(cancel("t", v1::CancelAsk::Kill)).await;
    assert_eq!(world.node.reports(2).await, ["t 6 KILLED", "t 7 cancelled dropped at KILL"]);
    world.node.say(cancel("unknown", v1::CancelAsk::Ask)).await;
    assert_eq!(world.node.reports(1).await, ["unknown 0 GONE"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_only_queued_is_cancelled_without_being_started() {
    let gate = Gate::default();
    let mut world = world(gated(&gate).capacity(1)).await;
    world.node.push("a", "gate").await;
    world.node.push("b", "gate").await;
    world.node.reports(3).await;
    world.node.say(cancel("b", v1::CancelAsk::Ask)).await;
    assert_eq!(world.node.reports(2).await, ["b 2 ACKNOWLEDGED", "b 3 cancelled before it was started: a test"]);
    assert_eq!(gate.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_fails_its_task_alone() {
    let gate = Gate::default();
    let panics = processor_fn("panics", |_| async { panic!("on purpose") });
    let mut world = world(gated(&gate).processor(panics)).await;
    world.node.push("a", "gate").await;
    world.node.reports(2).await;
    world.node.push("b", "panics").await;
    assert_eq!(world.node.reports(3).await, ["b 1 accepted", "b 2 started", "b 3 failed BUSINESS k_sc_ec_300018"]);
    gate.open.notify_one();
    assert_eq!(world.node.reports(1).await, ["a 3 succeeded \"through\""]);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_large_and_parameters_that_are_no_json_fail_clearly() {
    let large = processor_fn("large", |_| async { Ok(json!("x".repeat(70_000))) });
    let mut world = world(Executor::builder("local", "desk").processor(large)).await;
    world.node.push("a", "large").await;
    assert_eq!(world.node.reports(3).await[2], "a 3 failed BUSINESS k_sc_ec_300028");
    world.node.say(v1::Push { parameters_json: "{".into(), ..push("b", "large", &json!({})) }).await;
    assert_eq!(world.node.reports(3).await[2], "b 3 failed BUSINESS k_sc_ec_300010");
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_the_queue_is_handed_back_and_what_runs_is_finished() {
    let gate = Gate::default();
    let mut world = world(gated(&gate).capacity(1)).await;
    world.node.push("a", "gate").await;
    world.node.push("b", "gate").await;
    world.node.reports(3).await;
    world.shutdown.cancel();
    assert_eq!(world.node.hear().await, From::Draining(v1::Draining { leaving: true }));
    assert_eq!(world.node.reports(1).await, ["b 2 handed back DRAINING"]);
    world.node.push("c", "gate").await;
    assert_eq!(world.node.reports(1).await, ["c 1 handed back DRAINING"]);
    gate.open.notify_one();
    assert_eq!(world.node.reports(1).await, ["a 3 succeeded \"through\""]);
    for (task, sequence) in [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("c", 1)] {
        assert!(!world.running.is_finished(), "it waits for what is not acknowledged");
        world.node.ack(task, sequence).await;
    }
    assert_eq!(world.node.hear().await, From::Goodbye(v1::Goodbye {}));
    assert_eq!(world.running.await.unwrap().unwrap(), Left { unfinished: 0, unreported: 0 });
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_what_does_not_end_in_time_is_ended() {
    let stubborn = processor_fn("stubborn", |_| std::future::pending());
    let builder = Executor::builder("local", "desk").processor(stubborn).time_to_leave(Duration::from_secs(10));
    let mut world = world(builder).await;
    world.node.push("t", "stubborn").await;
    world.node.reports(2).await;
    let before = Instant::now();
    world.shutdown.cancel();
    assert_eq!(world.node.hear().await, From::Draining(v1::Draining { leaving: true }));
    assert_eq!(world.node.reports(1).await, ["t 3 failed TRANSIENT k_sc_ec_300021"]);
    assert_eq!(before.elapsed().as_secs(), 15);
    // Nobody acknowledges: it leaves all the same, and says what it left.
    world.node.quiet_for(Duration::from_secs(4)).await;
    assert_eq!(world.running.await.unwrap().unwrap(), Left { unfinished: 0, unreported: 1 });
}

#[tokio::test(start_paused = true)]
async fn a_refused_executor_says_why_or_tries_again_when_told() {
    let gate = Gate::default();
    let (_transport, mut acceptor, _shutdown, running) = start(gated(&gate));
    let refused = |retry_after_ms| v1::Refused {
        code: "k_sc_ec_400006".into(),
        message_en: "another one has that name".into(),
        message_zh: "名称已被占用".into(),
        retry_after_ms,
    };
    let (wire, _) = accept(&mut acceptor).await;
    let before = Instant::now();
    wire.to_executor.send(refused(2_500).into()).await.unwrap();
    let (wire, _) = accept(&mut acceptor).await;
    assert_eq!(before.elapsed().as_millis(), 2_500);
    wire.to_executor.send(refused(0).into()).await.unwrap();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "k_sc_ec_400006: another one has that name");
}

#[tokio::test(start_paused = true)]
async fn a_drained_executor_hands_back_and_takes_again_when_resumed() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    world.node.say(v1::Drain { reason: "maintenance".into() }).await;
    assert_eq!(world.node.hear().await, From::Draining(v1::Draining { leaving: false }));
    world.node.push("a", "gate").await;
    assert_eq!(world.node.reports(1).await, ["a 1 handed back DRAINING"]);
    world.node.say(v1::Resume {}).await;
    world.node.say(v1::Push { sequence_after: 1, ..push("a", "gate", &json!({})) }).await;
    assert_eq!(world.node.reports(2).await, ["a 2 accepted", "a 3 started"]);
}

#[tokio::test(start_paused = true)]
async fn more_capacity_starts_what_waits() {
    let gate = Gate::default();
    let (transport, mut acceptor) = pair();
    let executor = gated(&gate).capacity(1).build().unwrap();
    let dial = executor.capacity_dial();
    let _running = tokio::spawn(executor.run(transport, CancellationToken::new()));
    let (wire, register) = accept(&mut acceptor).await;
    let mut node = Node { acceptor, wire, register, acks_heartbeats: true };
    node.say(welcome(&[])).await;
    node.push("a", "gate").await;
    node.push("b", "gate").await;
    assert_eq!(node.reports(3).await, ["a 1 accepted", "a 2 started", "b 1 accepted"]);
    dial.set(2, 2);
    assert_eq!(node.hear().await, From::Capacity(v1::Capacity { running: 2, queued: 2 }));
    assert_eq!(node.reports(1).await, ["b 2 started"]);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_nobody_takes_is_bounded_and_says_what_is_missing() {
    let flood = processor_fn("flood", |ctx: TaskContext| async move {
        for _ in 0..100 {
            ctx.log("x".repeat(60_000));
        }
        Ok(Value::Null)
    });
    let mut world = world(Executor::builder("local", "desk").processor(flood)).await;
    world.node.push("t", "flood").await;
    let mut lines = 0;
    let mut dropped = 0;
    loop {
        match world.node.report().await.what.unwrap() {
            What::LogLines(log) => {
                lines += log.lines.len() as u64;
                dropped += log.dropped;
            }
            What::Finished(_) => break,
            _ => {}
        }
    }
    assert_eq!(lines + dropped, 100);
    assert!(dropped > 0 && lines >= 17, "{lines} lines came, {dropped} were dropped");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_while_the_stream_is_broken_comes_after_it() {
    let go = Arc::new(Notify::new());
    let talk = {
        let go = go.clone();
        processor_fn("talk", move |ctx: TaskContext| {
            let go = go.clone();
            async move {
                go.notified().await;
                ctx.log("while away");
                ctx.progress(None, "on my own");
                go.notified().await;
                Ok(Value::Null)
            }
        })
    };
    let mut world = world(Executor::builder("local", "desk").processor(talk)).await;
    world.node.push("t", "talk").await;
    world.node.reports(2).await;
    let (_, dead) = campanile_sdk::transport::wire();
    world.node.wire = dead;
    go.notify_one();
    tokio::time::sleep(Duration::from_millis(20)).await;
    (world.node.wire, world.node.register) = accept(&mut world.node.acceptor).await;
    world.node.say(welcome(&[("t", 1, 2)])).await;
    let reports = world.node.reports(2).await;
    assert!(reports[0] == "t 3 log while away", "{reports:?}");
    assert!(reports[1].ends_with("progress None on my own"), "{reports:?}");
}

#[tokio::test(start_paused = true)]
async fn still_needed_is_asked_and_no_answer_is_yes() {
    struct Picky;
    #[async_trait::async_trait]
    impl campanile_sdk::Processor for Picky {
        fn name(&self) -> &str {
            "picky"
        }
        async fn process(&self, _: TaskContext) -> Result<Value, TaskError> {
            Ok(Value::Null)
        }
        async fn still_needed(&self, question: campanile_sdk::Question) -> Result<bool, TaskError> {
            match question.parameters["say"].as_str() {
                Some("no") => Ok(false),
                _ => std::future::pending().await,
            }
        }
    }
    let mut world = world(Executor::builder("local", "desk").processor(Picky)).await;
    for (id, say) in [("1", "no"), ("2", "nothing")] {
        let question = v1::StillNeeded {
            question_id: id.into(),
            processor: "picky".into(),
            parameters_json: json!({ "say": say }).to_string(),
            context: None,
        };
        world.node.say(question).await;
        match world.node.hear().await {
            From::StillNeededAnswer(answer) => {
                assert_eq!((answer.question_id.as_str(), answer.needed), (id, say != "no"));
            }
            other => panic!("an answer, not {other:?}"),
        }
    }
}

/// The network may bring a push twice, and the second one after the attempt has gone to someone else.
#[tokio::test(start_paused = true)]
async fn an_old_push_of_what_was_handed_back_is_not_taken_again() {
    let gate = Gate::default();
    let mut world = world(gated(&gate)).await;
    for task in ["a", "b", "c"] {
        world.node.push(task, "gate").await;
    }
    world.node.reports(5).await;
    world.node.say(v1::Withdraw { attempt: Some(v1::AttemptRef::new("c", 1)) }).await;
    assert_eq!(world.node.reports(1).await, ["c 2 handed back WITHDRAWN"]);
    world.node.push("c", "gate").await;
    world.node.ack("c", 1).await;
    world.node.ack("c", 2).await;
    world.node.push("c", "gate").await;
    assert_eq!(world.node.quiet_for(Duration::from_secs(1)).await, Vec::<String>::new());
    world.node.say(v1::Push { sequence_after: 2, ..push("c", "gate", &json!({})) }).await;
    assert_eq!(world.node.reports(1).await, ["c 3 accepted"]);
}
