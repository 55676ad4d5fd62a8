//! Which child processes were started, so that none outlives the right to run.
//!
//! A child is recorded *before* it runs: what is spawned first is a gate, a shell
//! that waits for a line on its input. The record is written, then the line, and
//! only then does the gate become the command. If we are killed in between, the
//! gate reads the end of its input and exits.
//!
//! At the start of a process, [`ChildLedger::end_strays`] ends what earlier boots
//! on the same folder left: by record, and by the mark that every child carries in
//! its environment, which also finds those that left their process group. A child
//! that left its group *and* cleared its environment is not found.
//!
//! Linux only: it reads `/proc`.

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
    time::Instant,
};

/// Which boot of an executor a process belongs to.
const BOOT_MARK: &str = "CAMPANILE_BOOT";
/// Which folder of records it belongs to.
const HOME_MARK: &str = "CAMPANILE_HOME";

/// The gate: becomes its arguments once it is told to, and nothing if it is not.
const GATE: &str = r#"IFS= read -r go || exit 125; exec "$@" </dev/null"#;

/// From TERM to KILL for what has to go now.
const TERM_TO_KILL: Duration = Duration::from_secs(2);

/// The kernel does not tell us when someone else's child ends: we look.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A folder with one small file for each child that may be running.
#[derive(Clone, Debug)]
pub struct ChildLedger {
    folder: PathBuf,
    home: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    pid: i32,
    /// In clock ticks since the machine started: with the pid, it names a process.
    start_ticks: u64,
    /// Of the machine: after its restart no pid means anything.
    machine_boot: String,
    boot: String,
    task: String,
    attempt: u32,
}

/// A process of an earlier boot that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedChild {
    pub pid: i32,
    /// Empty for one that was found by its mark alone.
    pub task: String,
    pub attempt: u32,
    /// It did not go on TERM.
    pub killed: bool,
}

/// What to run, for whom.
#[derive(Debug)]
pub struct ChildSpec<'a> {
    pub program: &'a str,
    pub arguments: &'a [&'a str],
    pub folder: Option<&'a Path>,
    pub environment: &'a [(String, String)],
    pub boot: &'a str,
    pub task: &'a str,
    pub attempt: u32,
}

/// A child in a process group of its own, recorded until [`Running::close`].
#[derive(Debug)]
pub struct Running {
    pub child: Child,
    group: Pid,
    record: PathBuf,
    home: String,
}

impl ChildLedger {
    /// `folder` is made if it is not there. One folder belongs to one executor at a
    /// time.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<ChildLedger> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let home = fs::canonicalize(&folder)?.to_string_lossy().into_owned();
        Ok(ChildLedger { folder, home })
    }

    /// Starts a child, recorded before it runs.
    pub async fn start(&self, spec: ChildSpec<'_>) -> io::Result<Running> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", GATE, "campanile-gate", spec.program]).args(spec.arguments);
        command.envs(spec.environment.iter().map(|(name, value)| (name, value)));
        command.env(BOOT_MARK, spec.boot).env(HOME_MARK, &self.home);
        if let Some(folder) = spec.folder {
            command.current_dir(folder);
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pid =
            child.id().and_then(|pid| i32::try_from(pid).ok()).ok_or_else(|| io::Error::other("it has no pid"))?;

        // Until the line is written, dropping its input ends the gate.
        let mut gate = child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?;
        let record = Record {
            pid,
            start_ticks: look_at(pid)
                .map(|process| process.start_ticks)
                .ok_or_else(|| io::Error::other("it is gone"))?,
            machine_boot: machine_boot(),
            boot: spec.boot.to_owned(),
            task: spec.task.to_owned(),
            attempt: spec.attempt,
        };
        let path = self.write(&record)?;
        if let Err(error) = gate.write_all(b"go\n").await {
            fs::remove_file(&path)?;
            return Err(error);
        }
        drop(gate);
        Ok(Running { child, group: Pid::from_raw(pid), record: path, home: self.home.clone() })
    }

    fn write(&self, record: &Record) -> io::Result<PathBuf> {
        let path = self.folder.join(format!("{}.json", record.pid));
        let unfinished = self.folder.join(format!("{}.tmp", record.pid));
        fs::write(&unfinished, serde_json::to_vec(record)?)?;
        fs::rename(&unfinished, &path)?;
        Ok(path)
    }

    /// Ends every process that a boot other than `current_boot` left, with its whole
    /// group, and returns once they are gone.
    ///
    /// Call it before the executor takes its first task, and only while no other
    /// executor uses the folder.
    pub async fn end_strays(&self, current_boot: &str) -> io::Result<Vec<EndedChild>> {
        let mut records = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "tmp") {
                // Its gate was never opened.
                fs::remove_file(&path)?;
                continue;
            }
            match serde_json::from_slice::<Record>(&fs::read(&path)?) {
                Ok(record) if record.boot == current_boot => {}
                Ok(record) => {
                    records.insert(record.pid, (record, path));
                }
                Err(error) => {
                    tracing::warn!(file = %path.display(), %error, "an unreadable record of a child is passed over");
                }
            }
        }

        let mut ended: BTreeMap<i32, EndedChild> = BTreeMap::new();
        let mut kill_from = Instant::now() + TERM_TO_KILL;
        let mut told = HashSet::new();
        let mut killing = false;
        loop {
            let strays = self.strays(&records, current_boot);
            if strays.is_empty() {
                break;
            }
            if !killing && Instant::now() >= kill_from {
                killing = true;
                told.clear();
            }
            for stray in &strays {
                // Each is told once for each signal: a child that appears meanwhile is too.
                if told.insert((stray.pid, stray.start_ticks)) {
                    if !killing {
                        kill_from = kill_from.max(Instant::now() + TERM_TO_KILL / 2);
                    }
                    let signal = if killing { Signal::SIGKILL } else { Signal::SIGTERM };
                    match kill(Pid::from_raw(stray.pid), signal) {
                        Ok(()) | Err(Errno::ESRCH) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                let (task, attempt) = records
                    .get(&stray.group)
                    .map(|(record, _)| (record.task.clone(), record.attempt))
                    .unwrap_or_default();
                ended.insert(stray.pid, EndedChild { pid: stray.pid, task, attempt, killed: killing });
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        for (_, path) in records.values() {
            fs::remove_file(path)?;
        }
        Ok(ended.into_values().collect())
    }

    /// What runs now of what earlier boots left.
    fn strays(&self, records: &BTreeMap<i32, (Record, PathBuf)>, current_boot: &str) -> Vec<Process> {
        let machine_boot = machine_boot();
        let spared = own_line();
        let processes = running_processes();
        // A group is the recorded one if its leader still is, or if a member says so by
        // its mark; a number alone may have been given to someone else since.
        let groups: HashSet<i32> = processes
            .iter()
            .filter(|process| {
                records.get(&process.pid).is_some_and(|(record, _)| {
                    record.start_ticks == process.start_ticks && record.machine_boot == machine_boot
                })
            })
            .map(|process| process.pid)
            .collect();
        processes
            .into_iter()
            .filter(|process| !spared.contains(&process.pid))
            .filter(|process| {
                groups.contains(&process.group)
                    || marks(process.pid).is_some_and(|(boot, home)| home == self.home && boot != current_boot)
            })
            .collect()
    }
}

impl Running {
    /// Sends `signal` to the whole group. Nothing happens if it is gone.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        // While the leader is not reaped or a member lives, the number is not given to
        // another group.
        if self.child.id().is_none() && self.members().is_empty() {
            return Ok(());
        }
        match killpg(self.group, signal) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Those of the group that still run, after the leader was reaped.
    pub fn members(&self) -> Vec<i32> {
        let group = self.group.as_raw();
        running_processes()
            .into_iter()
            .filter(|process| process.group == group)
            .filter(|process| marks(process.pid).is_none_or(|(_, home)| home == self.home))
            .map(|process| process.pid)
            .collect()
    }

    /// Ends what is left of the group and returns once it is gone.
    pub async fn end_group(&self) -> io::Result<()> {
        let kill_from = Instant::now() + TERM_TO_KILL;
        let mut signal = Signal::SIGTERM;
        self.signal(signal)?;
        while !self.members().is_empty() {
            if signal == Signal::SIGTERM && Instant::now() >= kill_from {
                signal = Signal::SIGKILL;
            }
            if signal == Signal::SIGKILL {
                self.signal(signal)?;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// The group is gone: its record goes too.
    pub fn close(self) -> io::Result<()> {
        fs::remove_file(self.record)
    }
}

#[derive(Debug, Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    start_ticks: u64,
}

/// `None` when it is gone, also when only its exit code is left.
fn look_at(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let gone = matches!(*fields.first()?, "Z" | "X");
    (!gone).then_some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

fn running_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| look_at(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// This process and those it came from: a node that was itself started by a task of
/// an earlier one carries the mark and must not end itself.
fn own_line() -> HashSet<i32> {
    let mut line = HashSet::new();
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next {
        if pid <= 0 || !line.insert(pid) {
            break;
        }
        next = look_at(pid).map(|process| process.parent);
    }
    line
}

/// The boot and the folder that a process carries in its environment.
fn marks(pid: i32) -> Option<(String, String)> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        environment.split(|byte| *byte == 0).find_map(|entry| {
            let entry = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(entry).into_owned())
        })
    };
    Some((value(BOOT_MARK)?, value(HOME_MARK)?))
}

fn machine_boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}
