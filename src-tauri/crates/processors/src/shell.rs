//! `shell`: a command line, run by a shell in a process group of its own.
//!
//! Output goes to the task's log line by line; memory stays bounded whatever the
//! command writes. Exit code 0 is success. Any other is a transient failure, since
//! most commands do not say whether another try is worth it, unless the job lists
//! the code among `businessCodes`; 126 and 127, which shells give for a command
//! that they cannot run, are business failures.
//!
//! TERM and KILL of a cancellation go to the whole group. After a failure or a
//! cancellation nothing of the group is left. After a success, processes that the
//! command put in the background go on, the log says so, and what they write from
//! then on is lost; they are ended when the executor starts anew.

use std::{
    collections::{BTreeMap, VecDeque},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use campanile_sdk::{
    CancelStage, Processor, ProcessorInfo, ShardingProcessor, TaskContext, TaskError, failure,
    log::{LineSplitter, Stream},
    sharding::{Items, Shard},
};
use nix::sys::signal::Signal;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufWriter};

use crate::children::{ChildLedger, ChildSpec, Running};

/// Of the standard output, this much of the end is the task's result.
const TAIL_BYTES: usize = 8 * 1024;

/// Once the command is over, its output may take this long to end: what keeps it
/// open longer is a process in the background.
const OUTPUT_AFTER_EXIT: Duration = Duration::from_millis(300);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ShellParameters {
    pub command: String,
    pub working_folder: Option<PathBuf>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default = "default_shell")]
    pub shell: String,
    #[serde(default = "default_success")]
    pub success_codes: Vec<i32>,
    #[serde(default)]
    pub business_codes: Vec<i32>,
}

fn default_shell() -> String {
    "/bin/sh".into()
}

fn default_success() -> Vec<i32> {
    vec![0]
}

pub struct ShellProcessor {
    children: Arc<ChildLedger>,
}

impl ShellProcessor {
    /// `children` is where each child is recorded. Its strays have to be ended
    /// before this takes its first task.
    pub fn new(children: Arc<ChildLedger>) -> Self {
        ShellProcessor { children }
    }
}

#[async_trait]
impl Processor for ShellProcessor {
    fn name(&self) -> &str {
        "shell"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new("shell")
            .title("Shell command", "Shell 命令")
            .description(
                "Runs a command line on the executor's machine. Its output is the task's log, its exit code the outcome.",
                "在 Executor 所在机器上运行一条命令。输出写入任务日志，退出码决定结果。",
            )
            .parameters(json!({
                "type": "object",
                "required": ["command"],
                "additionalProperties": false,
                "x-order": ["command", "workingFolder", "environment", "shell", "successCodes", "businessCodes"],
                "properties": {
                    "command": {
                        "type": "string", "minLength": 1, "format": "command",
                        "title": "Command", "title:zh": "命令",
                        "description": "What the shell is to run. CAMPANILE_JOB, CAMPANILE_PLANNED and others are set in its environment.",
                        "description:zh": "由 Shell 执行的命令。环境中带有 CAMPANILE_JOB、CAMPANILE_PLANNED 等变量。"
                    },
                    "workingFolder": {
                        "type": "string",
                        "title": "Working folder", "title:zh": "工作目录",
                        "description": "Where it runs. The executor's own folder if empty.",
                        "description:zh": "命令运行的目录；留空则为 Executor 自己的目录。"
                    },
                    "environment": {
                        "type": "object", "additionalProperties": { "type": "string" }, "default": {},
                        "title": "Environment", "title:zh": "环境变量",
                        "description": "Variables to add to those of the executor.",
                        "description:zh": "在 Executor 环境之上附加的变量。"
                    },
                    "shell": {
                        "type": "string", "default": "/bin/sh",
                        "title": "Shell", "title:zh": "Shell",
                        "description": "The program that is given the command after -c.",
                        "description:zh": "以 -c 接收命令的程序。"
                    },
                    "successCodes": {
                        "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 }, "default": [0],
                        "title": "Exit codes that mean success", "title:zh": "视为成功的退出码",
                    },
                    "businessCodes": {
                        "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 }, "default": [],
                        "title": "Exit codes not worth a retry", "title:zh": "不值得重试的退出码",
                        "description": "Any other failure is retried as the job says. 126 and 127 never are.",
                        "description:zh": "其他失败按任务的重试策略处理；126 与 127 从不重试。"
                    }
                }
            }))
    }

    async fn process(&self, ctx: TaskContext) -> Result<Value, TaskError> {
        let parameters: ShellParameters = ctx.parameters_as()?;
        check(&parameters)?;
        let environment = environment(&ctx, &parameters);
        self.run(&ctx, &parameters, &environment).await
    }
}

impl ShellProcessor {
    async fn run(
        &self,
        ctx: &TaskContext,
        parameters: &ShellParameters,
        environment: &[(String, String)],
    ) -> Result<Value, TaskError> {
        // From here on a process may outlive this future: it must not be dropped.
        let _hold = ctx.undroppable();
        let running = self
            .children
            .start(ChildSpec {
                program: &parameters.shell,
                arguments: &["-c", &parameters.command],
                folder: parameters.working_folder.as_deref(),
                environment,
                boot: ctx.boot_id(),
                task: ctx.task_id(),
                attempt: ctx.attempt(),
            })
            .await
            .map_err(|error| not_started(&error))?;
        see_through(running, ctx, parameters).await
    }
}

/// The same for a run that is cut into shards: the command runs once for each shard, whose items it finds in a file.
pub struct ShellShards(pub Arc<ShellProcessor>);

#[async_trait]
impl ShardingProcessor for ShellShards {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn describe(&self) -> ProcessorInfo {
        self.0.describe()
    }

    async fn sharding_process(&self, ctx: TaskContext, _: Shard, mut items: Items) -> Result<Value, TaskError> {
        let parameters: ShellParameters = ctx.parameters_as()?;
        check(&parameters)?;
        let path = ctx.scratch().map_err(|error| not_started(&error))?.join("items.jsonl");
        let mut file = BufWriter::new(File::create(&path).await.map_err(|error| not_started(&error))?);
        while let Some(item) = items.next().await {
            let line = format!("{}\n", item?.value);
            file.write_all(line.as_bytes()).await.map_err(|error| not_started(&error))?;
        }
        file.flush().await.map_err(|error| not_started(&error))?;
        let mut environment = environment(&ctx, &parameters);
        environment.push(("CAMPANILE_SHARD_ITEMS".to_owned(), path.display().to_string()));
        self.0.run(&ctx, &parameters, &environment).await
    }
}

fn check(parameters: &ShellParameters) -> Result<(), TaskError> {
    let refused = |field: &str, en: &str, zh: &str| {
        Err(failure::PARAMETERS_REFUSED.business().with("field", field).with_words("problem", en, zh))
    };
    if parameters.command.trim().is_empty() {
        return refused("command", "it is empty", "不能为空");
    }
    if parameters.command.contains('\0') {
        return refused("command", "it contains a NUL character", "含有 NUL 字符");
    }
    for (name, value) in &parameters.environment {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return refused(
                &format!("environment.{name}"),
                "a variable's name must not be empty or contain =, and nothing may contain NUL",
                "变量名不能为空或含有 =，且名称和值都不能含有 NUL",
            );
        }
        if name.starts_with("CAMPANILE_") {
            return refused(
                &format!("environment.{name}"),
                "names that begin with CAMPANILE_ are set by the executor",
                "以 CAMPANILE_ 开头的变量由 Executor 设置",
            );
        }
    }
    if let Some(folder) = &parameters.working_folder
        && !folder.is_dir()
    {
        return Err(failure::FOLDER_MISSING.business().with("folder", folder.display()));
    }
    if parameters.shell.contains('/') && !Path::new(&parameters.shell).exists() {
        return Err(failure::COMMAND_NOT_FOUND.business().with("command", &parameters.shell));
    }
    Ok(())
}

fn environment(ctx: &TaskContext, parameters: &ShellParameters) -> Vec<(String, String)> {
    let mut environment: Vec<(String, String)> =
        parameters.environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut set = |name: &str, value: String| environment.push((format!("CAMPANILE_{name}"), value));
    set("TASK_ID", ctx.task_id().to_owned());
    set("ATTEMPT", ctx.attempt().to_string());
    set("IDEMPOTENCY_KEY", ctx.idempotency_key().to_owned());
    set("JOB", ctx.job().to_owned());
    set("JOB_VERSION", ctx.job_version().to_string());
    set("INSTANCE", ctx.instance_id().to_owned());
    set("ORIGIN", ctx.origin().to_owned());
    set("PLANNED", ctx.planned_ms().to_string());
    set("DUE", ctx.due_ms().to_string());
    set("TENANT", ctx.tenant().to_owned());
    set("EXECUTOR", ctx.executor().to_owned());
    if let Some(deadline) = ctx.deadline_ms() {
        set("DEADLINE", deadline.to_string());
    }
    if let Some(shard) = ctx.shard() {
        set("SHARD_LEVEL", shard.level.to_string());
        set("SHARD_INDEX", shard.index.unwrap_or_default().to_string());
        set("SHARD_COUNT", shard.count.to_string());
        set("SHARD_ROUND", shard.round.to_string());
    }
    if let [upstream] = ctx.upstream() {
        set("UPSTREAM_RESULT", upstream.result_json.clone());
    }
    environment
}

fn not_started(error: &std::io::Error) -> TaskError {
    use std::io::ErrorKind;

    match error.kind() {
        ErrorKind::ArgumentListTooLong => failure::PARAMETERS_REFUSED.business().with("field", "command").with_words(
            "problem",
            "it is too long for this system",
            "长度超过系统限制",
        ),
        ErrorKind::OutOfMemory | ErrorKind::StorageFull | ErrorKind::WouldBlock | ErrorKind::QuotaExceeded => {
            failure::EXHAUSTED.system().with("detail", error)
        }
        _ => failure::NOT_STARTED.transient().with("detail", error),
    }
}

async fn see_through(
    mut running: Running,
    ctx: &TaskContext,
    parameters: &ShellParameters,
) -> Result<Value, TaskError> {
    let said = Arc::new(Said::default());
    let stdout =
        running.child.stdout.take().map(|from| tokio::spawn(listen(from, Stream::Stdout, ctx.clone(), said.clone())));
    let stderr =
        running.child.stderr.take().map(|from| tokio::spawn(listen(from, Stream::Stderr, ctx.clone(), said.clone())));

    let mut told = CancelStage::Ask;
    let status = loop {
        let next = if told == CancelStage::Ask { CancelStage::Terminate } else { CancelStage::Kill };
        tokio::select! {
            status = running.child.wait() => break status,
            () = ctx.cancel_reaches(next), if told < CancelStage::Kill => {
                told = ctx.cancel_stage();
                let signal = if told == CancelStage::Kill { Signal::SIGKILL } else { Signal::SIGTERM };
                if let Err(error) = running.signal(signal) {
                    ctx.log(format!("{signal} could not be sent: {error}"));
                }
            }
        }
    };
    let status = status.map_err(|error| failure::NOT_STARTED.transient().with("detail", error))?;
    let succeeded = status.code().is_some_and(|code| parameters.success_codes.contains(&code));
    let ended_by_us = told > CancelStage::Ask;

    if ended_by_us || !succeeded {
        // Nothing of this attempt may run beside the next one.
        if let Err(error) = running.end_group().await {
            ctx.log(format!("what is left of the process group could not be ended: {error}"));
        }
    }
    let mut background = Vec::new();
    for listener in [stdout, stderr].into_iter().flatten() {
        let stop = listener.abort_handle();
        if tokio::time::timeout(OUTPUT_AFTER_EXIT, listener).await.is_err() {
            stop.abort();
            background = running.members();
        }
    }
    if succeeded && !ended_by_us && background.is_empty() {
        background = running.members();
    }
    if background.is_empty() {
        if let Err(error) = running.close() {
            ctx.log(format!("the record of the process could not be removed: {error}"));
        }
    } else {
        ctx.log(format!(
            "still running in the background: {background:?}; what they write from here on is lost · 后台进程仍在运行，其后续输出不再记录"
        ));
    }

    if ended_by_us {
        return Err(TaskError::cancelled(match status.signal() {
            Some(signal) => format!("ended by {}", signal_name(signal)),
            None => format!("ended with exit code {}", status.code().unwrap_or_default()),
        }));
    }
    let last_words = said.last_error();
    match (status.code(), status.signal()) {
        (Some(code), _) if succeeded => Ok(json!({ "exitCode": code, "stdout": said.tail() })),
        (Some(127), _) => Err(failure::COMMAND_NOT_FOUND.business().with("command", last_words)),
        (Some(126), _) => Err(failure::NOT_EXECUTABLE.business().with("command", last_words)),
        (Some(code), _) if parameters.business_codes.contains(&code) => {
            Err(failure::EXITED.business().with("code", code))
        }
        (Some(code), _) => Err(failure::EXITED.transient().with("code", code)),
        (None, signal) => Err(failure::SIGNALLED.transient().with("signal", signal_name(signal.unwrap_or_default()))),
    }
}

fn signal_name(signal: i32) -> String {
    Signal::try_from(signal).map_or_else(|_| signal.to_string(), |known| known.to_string())
}

/// What is kept of the output for the outcome.
#[derive(Default)]
struct Said(Mutex<(VecDeque<u8>, String)>);

impl Said {
    fn hear(&self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout {
            let tail = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
            tail.extend(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
            let over = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..over);
        }
    }

    fn tail(&self) -> String {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).0.iter().copied().collect();
        // The tail may begin in the middle of a character.
        let start = if bytes.len() < TAIL_BYTES {
            0
        } else {
            bytes.iter().take(4).position(|byte| byte & 0b1100_0000 != 0b1000_0000).unwrap_or(0)
        };
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    fn last_error(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

async fn listen(mut from: impl AsyncRead + Unpin, stream: Stream, ctx: TaskContext, said: Arc<Said>) {
    let mut splitter = LineSplitter::default();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = match from.read(&mut buffer).await {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => {
                ctx.log(format!("its output could not be read: {error}"));
                break;
            }
        };
        said.hear(stream, &buffer[..read]);
        for line in splitter.push(&buffer[..read]) {
            if stream == Stream::Stderr && !line.text.is_empty() {
                said.0.lock().unwrap_or_else(PoisonError::into_inner).1 = line.text.chars().take(500).collect();
            }
            ctx.line_when_room(stream, line).await;
        }
    }
    if let Some(line) = splitter.finish() {
        if stream == Stream::Stderr {
            said.0.lock().unwrap_or_else(PoisonError::into_inner).1 = line.text.chars().take(500).collect();
        }
        ctx.line_when_room(stream, line).await;
    }
}
