//! The real program, as processes on a data folder.
//!
//! What stands here is about processes, and so about real time: a story waits until something is so, and fails when that
//! takes longer than it may. It never waits for a duration.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Between two looks.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A machine with two cores that does other things too. Only a story that goes wrong ever waits so long.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Beside the test's own executable, in the folder above.
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().expect("a test has an executable");
    let folder = own.parent().and_then(Path::parent).expect("it lies in a folder of the target");
    let binary = folder.join(format!("campanile{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.exists(), "{} is not there: build it first, with `cargo build -p campanile-cli`", binary.display());
    binary
}

/// Until something is so.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    wait_for(what, || so().then_some(()));
}

/// Until there is something.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "in {} s never: {what}", PATIENCE.as_secs());
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The end of a command that must not wait for ever.
fn ended(child: Child, arguments: &[&str]) -> Output {
    let pid = child.id().to_string();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody waits for it any more where this fails.
        let _ = tell.send(child.wait_with_output());
    });
    let ended = told.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        // Nothing is left behind by a story that failed.
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
        panic!("{arguments:?} does not end")
    });
    ended.expect("its output can be read")
}

fn signal(child: &Child, name: &str) {
    let told = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill can be run");
    assert!(told.success(), "process {} is gone already", child.id());
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// It did what it was asked.
    #[track_caller]
    pub fn done(self) -> Value {
        assert_eq!(self.code, 0, "it was refused: {}{}", self.out, self.err);
        match self.out.trim() {
            "" => Value::Null,
            json => serde_json::from_str(json).unwrap_or_else(|error| panic!("no JSON: {error}: {json}")),
        }
    }

    /// It was refused: the exit code, and the fault's code.
    #[track_caller]
    pub fn refused(&self) -> (i32, String) {
        assert_ne!(self.code, 0, "it was not refused: {}", self.out);
        let fault: Value = self
            .err
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str(line).ok())
            .unwrap_or_else(|| panic!("no fault was told: {self:?}"));
        assert!(fault["message"]["zh"].as_str().is_some_and(|zh| !zh.is_empty()), "{fault} has no Chinese");
        assert!(fault["hint"]["en"].as_str().is_some_and(|hint| !hint.is_empty()), "{fault} does not say what to do");
        (self.code, fault["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// A data folder, and what runs on it.
pub struct Campanile {
    data: PathBuf,
    own: TempDir,
    served: u32,
}

impl Default for Campanile {
    fn default() -> Self {
        Self::new()
    }
}

impl Campanile {
    /// On a folder that does not exist yet.
    pub fn new() -> Campanile {
        let own = tempfile::tempdir().expect("a folder");
        Campanile { data: own.path().join("data"), own, served: 0 }
    }

    /// On a folder that the story has made.
    pub fn on(data: &Path) -> Campanile {
        Campanile { data: data.to_owned(), own: tempfile::tempdir().expect("a folder"), served: 0 }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// A place for files of the story, beside the data folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.own.path().join(name)
    }

    /// A gate for tasks of the conformance executor to wait at.
    pub fn gate(&self, name: &str) -> Gate {
        Gate(self.beside(&format!("{name}.gate")))
    }

    /// What its nodes have written about themselves, in all their lives.
    pub fn all_said(&self) -> String {
        let said = |life| fs::read_to_string(self.beside(&format!("serve-{life}.log"))).unwrap_or_default();
        (1..=self.served).map(said).collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.env_remove("CAMPANILE_DATA").env("LC_ALL", "C.UTF-8").env("USER", "mei");
        command.arg("--data").arg(&self.data).arg("--json");
        command
    }

    /// Starts a node that may run shell commands, and waits until its console answers.
    pub fn serves(&mut self) -> Serve {
        self.serves_with(&[])
    }

    pub fn serves_with(&mut self, more: &[&str]) -> Serve {
        self.try_serve_with(more).unwrap_or_else(|said| panic!("it does not serve: {said:?}"))
    }

    /// As `serves`; what it said where it ended instead.
    pub fn try_serve(&mut self) -> Result<Serve, Said> {
        self.try_serve_with(&[])
    }

    pub fn try_serve_with(&mut self, more: &[&str]) -> Result<Serve, Said> {
        self.served += 1;
        let record = self.beside(&format!("serve-{}.log", self.served));
        let mut command = self.command();
        command.args(["serve", "--allow-shell"]).args(more);
        if !more.contains(&"--port") {
            command.args(["--port", "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&record).expect("a record"));
        let mut child = command.spawn().expect("it can be started");
        let output = child.stdout.take().expect("its output is a pipe");
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(output).read_line(&mut line);
            // Nobody waits for it any more where this fails.
            let _ = tell.send(read.map(|_| line));
        });
        let line = told.recv_timeout(PATIENCE).expect("it says where it is, or ends").expect("its output can be read");
        if line.trim().is_empty() {
            let status = child.wait().expect("it has ended");
            let err = fs::read_to_string(&record).unwrap_or_default();
            return Err(Said { code: status.code().unwrap_or(-1), out: line, err });
        }
        let said: Value = serde_json::from_str(&line).expect("it says where it is as JSON");
        let url = said["url"].as_str().expect("an address").to_owned();
        let text = |key: &str| said[key].as_str().map(str::to_owned);
        Ok(Serve { child, url, fingerprint: text("fingerprint"), executors: text("executors"), record })
    }

    /// One command.
    pub fn cli(&self, arguments: &[&str]) -> Said {
        self.cli_reading(arguments, "")
    }

    /// One command, with something on its input.
    pub fn cli_reading(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let mut pipe = child.stdin.take().expect("its input is a pipe");
        // A command that does not read its input is no fault.
        let _ = pipe.write_all(input.as_bytes());
        drop(pipe);
        let output = ended(child, arguments);
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Saves jobs as documents.
    #[track_caller]
    pub fn applies(&self, jobs: &[Value]) -> Value {
        self.apply(jobs).done()
    }

    pub fn apply(&self, jobs: &[Value]) -> Said {
        self.cli_reading(&["apply", "-f", "-"], &Value::from(jobs).to_string())
    }

    /// Runs of a job, newest first.
    pub fn runs(&self, job: &str) -> Vec<Value> {
        let page = self.cli(&["runs", job]).done();
        page["rows"].as_array().expect("rows").clone()
    }

    /// Runs a job to its end: how it ended.
    pub fn runs_to_its_end(&self, job: &str) -> Value {
        let said = self.cli(&["run", job, "--wait"]);
        let ended: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("no run: {said:?}"));
        ended[0].clone()
    }

    /// What the last attempt of the only task of a run wrote, line by line.
    pub fn log(&self, run: &str) -> Vec<String> {
        let said = self.cli(&["logs", run]);
        assert_eq!(said.code, 0, "{said:?}");
        let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line as JSON"));
        lines.map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Until these executors have joined.
    pub fn joined(&self, names: &[&str]) {
        wait_until("they join", || {
            let there = self.cli(&["executors"]).done();
            let rows = there["rows"].as_array().expect("rows");
            names.iter().all(|name| rows.iter().any(|row| row["name"] == **name && row["state"] == "live"))
        });
    }

    /// The ledger is clean.
    #[track_caller]
    pub fn checks_the_ledger(&self) {
        let said = self.cli(&["ledger"]);
        assert_eq!(said.code, 0, "the ledger is not clean: {}{}", said.out, said.err);
    }
}

/// A node without a window.
pub struct Serve {
    child: Child,
    pub url: String,
    /// Of the certificate that its console shows, if it does.
    pub fingerprint: Option<String>,
    /// Where executors of other processes join, if they may.
    pub executors: Option<String>,
    record: PathBuf,
}

impl Serve {
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// As a crash, or the machine's hunger for memory.
    pub fn kill_9(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }

    /// Asks it to leave in good order.
    pub fn stop(mut self) -> ExitStatus {
        signal(&self.child, "-TERM");
        wait_until("it leaves", || !self.is_running());
        self.child.wait().expect("it has ended")
    }

    pub fn freeze(&self) {
        signal(&self.child, "-STOP");
    }

    pub fn thaw(&self) {
        signal(&self.child, "-CONT");
    }

    /// The most memory that it has had, in bytes.
    pub fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        most.and_then(|kib| kib.trim().parse::<u64>().ok()).expect("a number") * 1024
    }

    /// What it wrote about itself.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.record).unwrap_or_default()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It has ended already where this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let said = self.said();
            let from = said.char_indices().rev().nth(6000).map_or(0, |(at, _)| at);
            eprintln!("what serve wrote last:\n{}", &said[from..]);
        }
    }
}

/// An executor in a process of its own, which joins a node over the network.
pub struct Member {
    child: Child,
    pub name: String,
}

impl Member {
    /// `command` takes a node's address, a name and a capacity, and writes its diary where it is told (tests/executor).
    pub fn starts(command: &[String], node: &str, name: &str, capacity: u32, diary: &Path, record: &Path) -> Member {
        Member::starts_with(command, node, name, capacity, diary, record, &[])
    }

    /// As `starts`, with more in its environment.
    pub fn starts_with(
        command: &[String],
        node: &str,
        name: &str,
        capacity: u32,
        diary: &Path,
        record: &Path,
        more: &[(&str, &str)],
    ) -> Member {
        let mut starting = Command::new(&command[0]);
        starting.args(&command[1..]).args([node, name, &capacity.to_string()]).env("CAMPANILE_DIARY", diary);
        starting.envs(more.iter().copied());
        let said = File::options().create(true).append(true).open(record).expect("a record");
        starting.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        Member { child: starting.spawn().expect("it can be started"), name: name.to_owned() }
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    pub fn kill_9(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }

    pub fn freeze(&self) {
        signal(&self.child, "-STOP");
    }

    pub fn thaw(&self) {
        signal(&self.child, "-CONT");
    }

    /// Asks it to leave in good order, once what it is at has ended.
    pub fn is_asked_to_leave(&self) {
        signal(&self.child, "-TERM");
    }

    /// Waits until it has left.
    pub fn left(mut self) -> ExitStatus {
        wait_for("it leaves", || self.child.try_wait().expect("it can be asked"))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // It has ended already where this fails; KILL ends a frozen one too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a task of the conformance executor lasts until, as its parameter `until`: a file that is there once the story has
/// seen what it came for. However slow the machine is, the task is at work until then.
pub struct Gate(PathBuf);

impl Gate {
    pub fn path(&self) -> &str {
        self.0.to_str().expect("a path in words")
    }

    pub fn opens(&self) {
        File::create(&self.0).expect("it can be opened");
    }

    pub fn closes(&self) {
        fs::remove_file(&self.0).expect("it was open");
    }
}

/// One line that an executor of a story wrote: what, who, task, attempt, idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub what: String,
    pub executor: String,
    pub task: String,
    pub attempt: u32,
    pub key: String,
}

/// The whole lines of a diary, in order.
pub fn told(diary: &Path) -> Vec<Told> {
    let text = fs::read_to_string(diary).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [what, executor, task, attempt, key] = words[..] else { panic!("no line of a diary: {line}") };
            let attempt = attempt.parse().expect("an attempt is a number");
            Told { what: what.into(), executor: executor.into(), task: task.into(), attempt, key: key.into() }
        })
        .collect()
}

/// An address of this machine that nobody listens on, for a node that is to come back to it.
pub fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

/// A process that a node has started for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProcess {
    pub pid: i32,
    pub boot: String,
    pub task: String,
    pub attempt: String,
}

/// Processes that a node on this folder has started, in whichever of its lives, and that run now.
pub fn task_processes(data: &Path) -> Vec<TaskProcess> {
    let data = data.canonicalize().expect("the folder is there");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let value = |name: &str| {
            environment.split(|byte| *byte == 0).find_map(|entry| {
                let entry = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                Some(String::from_utf8_lossy(entry).into_owned())
            })
        };
        let home = value("CAMPANILE_HOME")?;
        let ours = Path::new(&home).starts_with(&data);
        let (boot, task, attempt) =
            (value("CAMPANILE_BOOT")?, value("CAMPANILE_TASK_ID")?, value("CAMPANILE_ATTEMPT")?);
        ours.then_some(TaskProcess { pid, boot, task, attempt })
    })
    .collect()
}
