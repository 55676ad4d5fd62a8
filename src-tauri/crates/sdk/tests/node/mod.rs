//! A node of the test's making, against which an executor is played.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::time::Duration;

use campanile_proto::v1::{self, finished::Outcome, from_executor::Message as From, report::What};
use campanile_sdk::transport::{Acceptor, InProcess, NodeWire, pair};
use campanile_sdk::{Builder, Left, RunError};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

/// A node of the test's making: says only what the test says, and acknowledges
/// nothing by itself but heartbeats, where it is told to.
pub struct Node {
    pub acceptor: Acceptor,
    pub wire: NodeWire,
    pub register: v1::Register,
    pub acks_heartbeats: bool,
}

pub struct World {
    pub node: Node,
    pub running: JoinHandle<Result<Left, RunError>>,
    pub shutdown: CancellationToken,
}

pub fn start(builder: Builder) -> (InProcess, Acceptor, CancellationToken, JoinHandle<Result<Left, RunError>>) {
    let (transport, acceptor) = pair();
    let shutdown = CancellationToken::new();
    let executor = builder.wall_clock(|| 1_000).boot_id("boot-1").build().unwrap();
    let running = tokio::spawn(executor.run(transport.clone(), shutdown.clone()));
    (transport, acceptor, shutdown, running)
}

pub async fn world(builder: Builder) -> World {
    let (_, mut acceptor, shutdown, running) = start(builder);
    let (wire, register) = accept(&mut acceptor).await;
    let node = Node { acceptor, wire, register, acks_heartbeats: true };
    node.say(welcome(&[])).await;
    World { node, running, shutdown }
}

pub async fn accept(acceptor: &mut Acceptor) -> (NodeWire, v1::Register) {
    let mut wire = acceptor.accept().await.unwrap();
    match wire.from_executor.recv().await.unwrap().message {
        Some(From::Register(register)) => (wire, register),
        other => panic!("Register comes first, not {other:?}"),
    }
}

pub fn welcome(still_yours: &[(&str, u32, u64)]) -> v1::Welcome {
    v1::Welcome {
        protocol_version: 1,
        node: "node-1".into(),
        heartbeat_ms: 1_000,
        lease_ms: 3_000,
        still_yours: still_yours
            .iter()
            .map(|(task, attempt, stored_sequence)| v1::StillYours {
                attempt: Some(v1::AttemptRef::new(*task, *attempt)),
                stored_sequence: *stored_sequence,
            })
            .collect(),
        ..v1::Welcome::default()
    }
}

pub fn push(task: &str, processor: &str, parameters: &Value) -> v1::Push {
    v1::Push {
        attempt: Some(v1::AttemptRef::new(task, 1)),
        idempotency_key: format!("key of {task}"),
        processor: processor.into(),
        method: v1::Method::Process.into(),
        parameters_json: parameters.to_string(),
        context: Some(v1::Context { job: "a job".into(), ..v1::Context::default() }),
        ..v1::Push::default()
    }
}

pub fn cancel(task: &str, ask: v1::CancelAsk) -> v1::Cancel {
    v1::Cancel { attempt: Some(v1::AttemptRef::new(task, 1)), ask: ask.into(), reason: "a test".into() }
}

impl Node {
    pub async fn say(&self, message: impl Into<v1::ToExecutor>) {
        self.wire.to_executor.send(message.into()).await.unwrap();
    }

    pub async fn push(&self, task: &str, processor: &str) {
        self.say(push(task, processor, &json!({}))).await;
    }

    /// The next message that is not a heartbeat.
    pub async fn hear(&mut self) -> From {
        loop {
            match self.wire.from_executor.recv().await.expect("the executor is there").message.unwrap() {
                From::Heartbeat(beat) => {
                    if self.acks_heartbeats {
                        self.say(v1::HeartbeatAck { number: beat.number, lease_ms: 3_000 }).await;
                    }
                }
                other => return other,
            }
        }
    }

    pub async fn report(&mut self) -> v1::Report {
        let patience = Duration::from_secs(60);
        match tokio::time::timeout(patience, self.hear()).await.expect("nothing but heartbeats for a minute") {
            From::Report(report) => report,
            other => panic!("a report, not {other:?}"),
        }
    }

    /// The next reports, each as 'task sequence what'.
    pub async fn reports(&mut self, count: usize) -> Vec<String> {
        let mut reports = Vec::new();
        for _ in 0..count {
            reports.push(told(&self.report().await));
        }
        reports
    }

    pub async fn ack(&self, task: &str, sequence: u64) {
        self.say(v1::Ack { attempt: Some(v1::AttemptRef::new(task, 1)), sequence }).await;
    }

    /// Serves heartbeats for `span` and says what else came.
    pub async fn quiet_for(&mut self, span: Duration) -> Vec<String> {
        let until = Instant::now() + span;
        let mut heard = Vec::new();
        while let Ok(message) = tokio::time::timeout_at(until, self.hear()).await {
            match message {
                From::Report(report) => heard.push(told(&report)),
                other => heard.push(format!("{other:?}")),
            }
        }
        heard
    }

    /// The stream breaks and the executor comes back.
    pub async fn break_stream(&mut self) {
        let (_, dead) = campanile_sdk::transport::wire();
        self.wire = dead;
        (self.wire, self.register) = accept(&mut self.acceptor).await;
    }
}

pub fn told(report: &v1::Report) -> String {
    let task = &report.attempt.as_ref().unwrap().task_id;
    let what = match report.what.as_ref().unwrap() {
        What::Accepted(_) => "accepted".to_owned(),
        What::HandedBack(back) => {
            format!("handed back {}", back.reason().as_str_name().trim_start_matches("HAND_BACK_REASON_"))
        }
        What::Started(_) => "started".to_owned(),
        What::Progress(progress) => format!("progress {:?} {}", progress.percent, progress.message),
        What::Items(items) => format!("{} items", items.outcomes.len()),
        What::LogLines(lines) => {
            format!("log {}", lines.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("|"))
        }
        What::Finished(finished) => match finished.outcome.as_ref().unwrap() {
            Outcome::Succeeded(succeeded) => format!("succeeded {}", succeeded.result_json),
            Outcome::Failed(failed) => {
                format!("failed {} {}", failed.class().as_str_name().trim_start_matches("FAILURE_CLASS_"), failed.code)
            }
            Outcome::Cancelled(cancelled) => format!("cancelled {}", cancelled.message),
        },
        What::CancelStage(stage) => stage.reached().as_str_name().trim_start_matches("CANCEL_REACHED_").to_owned(),
        What::NewData(data) => {
            format!("data {} [{}] {}", data.level, data.items_json.join(","), if data.last { "last" } else { "more" })
        }
    };
    format!("{task} {} {what}", report.sequence)
}
