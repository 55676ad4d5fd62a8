//! What the stories of whole nodes stand on: one on a folder of its own, asked through the API.

// Each story file uses what it needs of it.
#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Options, Who};
use campanile_model::Fault;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Nothing here takes so long; what does is stuck.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Running {
    pub host: Arc<Host>,
    pub shutdown: CancellationToken,
    pub task: JoinHandle<()>,
}

impl Running {
    pub async fn start(folder: &TempDir, who: Who) -> Running {
        let host = Arc::new(open(folder, who).await.expect("it opens"));
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(host.clone().run(shutdown.clone()));
        Running { host, shutdown, task }
    }

    pub async fn leading(folder: &TempDir, who: Who) -> Running {
        let running = Running::start(folder, who).await;
        running.until(|status| status["node"] == "leading").await;
        running
    }

    pub async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("it ends in good order");
        self.host.close().await;
    }

    pub async fn ask(&self, operation: &str, input: Value) -> Value {
        ask(&self.host, operation, input).await.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    pub async fn refused(&self, operation: &str, input: Value) -> Fault {
        ask(&self.host, operation, input).await.expect_err(operation)
    }

    /// Waits for a status that the feed tells.
    pub async fn until(&self, reached: impl Fn(&Value) -> bool) {
        let mut frames = self.host.feed().subscribe();
        let waiting = async {
            while let Some(frame) = frames.next().await {
                if reached(&serde_json::to_value(&frame.status).expect("JSON")) {
                    return;
                }
            }
            panic!("the feed ended");
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("in time");
    }

    /// Asks again with each frame until the answer is as wanted.
    pub async fn until_answer(&self, operation: &str, input: Value, reached: impl Fn(&Value) -> bool) -> Value {
        let mut frames = self.host.feed().subscribe();
        let waiting = async {
            loop {
                let answer = self.ask(operation, input.clone()).await;
                if reached(&answer) {
                    return answer;
                }
                frames.next().await.expect("the feed goes on");
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(answer) => answer,
            Err(_) => panic!("{operation}: still {:#}", self.ask(operation, input).await),
        }
    }

    pub async fn run_to_its_end(&self, job: &str) -> Value {
        let done = self.ask("run_jobs", json!({"jobs": [job]})).await;
        let instance = done["instances"][0].clone();
        self.until_answer("get_instance", json!({"instance": instance}), |detail| {
            !matches!(detail["row"]["state"].as_str(), Some("waiting" | "running"))
        })
        .await
    }
}

pub async fn open(folder: &TempDir, who: Who) -> Result<Host, Fault> {
    Host::open(Options { data: folder.path().join("data"), who }).await
}

pub async fn ask(host: &Host, operation: &str, input: Value) -> Result<Value, Fault> {
    let cx = CallContext { who: host.person().clone(), zone: "Asia/Shanghai".to_owned(), lang: Lang::En };
    host.call(operation, input, &cx).await
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub fn shell(name: &str, command: &str) -> Value {
    json!({"spec": {"name": name, "schedule": {"kind": "manual"}, "processor": "shell", "parameters": {"command": command}, "retry": {"retries": 0}}})
}
