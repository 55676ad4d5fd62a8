//! Bad input of every kind gets a clear error with its code, and the program stays up.
//!
//! Two of the stories need a file system of their own, which only root may mount: where they ran they leave a receipt in
//! the build's folder for tests.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use campanile_tests::campanile::{Campanile, wait_until};
use serde_json::{Value, json};

const STORAGE: i32 = 4;
const REFUSED: i32 = 3;

fn shell(name: &str, command: &str) -> Value {
    json!({
        "name": name,
        "schedule": {"kind": "manual"},
        "processor": "shell",
        "parameters": {"command": command},
        "retry": {"retries": 0},
    })
}

fn id(run: &Value) -> &str {
    run["row"]["id"].as_str().expect("a run has an id")
}

#[test]
fn a_schedule_that_cannot_be_is_refused_by_its_code_and_nothing_is_made() {
    let campanile = Campanile::new();
    let cron = |expression: &str, zone: &str| json!({"kind": "cron", "expression": expression, "timeZone": zone});
    let repeat = |level: &str, days: Value| json!({"startTime": "2026-01-01T00:00:00Z", "timeZone": "UTC", "repeatLevel": level, "repeatInterval": 1, "repeatDays": days});
    let table = [
        (cron("0 0 30 2 *", "UTC"), "k_sc_ec_000012", "schedule.expression"),
        (cron("0 0 31 4,6 *", "UTC"), "k_sc_ec_000012", "schedule.expression"),
        (cron("*/0 * * * *", "UTC"), "k_sc_ec_000011", "schedule.expression"),
        (cron("0 0 * *", "UTC"), "k_sc_ec_000011", "schedule.expression"),
        (cron("0 0 0 * * *", "UTC"), "k_sc_ec_000011", "schedule.dialect"),
        (cron("0 0 * * *", "Europe/Atlantis"), "k_sc_ec_000013", "schedule.timeZone"),
        (repeat("day", json!([3])), "k_sc_ec_000011", "schedule.repeatDays"),
        (json!({"kind": "fixedRate", "everySeconds": 0}), "k_sc_ec_000011", "schedule.everySeconds"),
        (json!({"kind": "once", "at": "2001-01-01T00:00:00Z"}), "k_sc_ec_000012", "schedule.at"),
    ];
    for (schedule, code, field) in table {
        let said = campanile.apply(&[
            shell("innocent", "true"),
            json!({"name": "bad", "schedule": schedule, "processor": "shell", "parameters": {"command": "true"}}),
        ]);
        assert_eq!(said.refused(), (REFUSED, code.to_owned()), "{schedule}: {said:?}");
        assert!(said.err.contains(field), "{schedule}: the field is not named: {}", said.err);
    }
    assert_eq!(campanile.cli(&["jobs"]).done(), json!([]), "all of a document or nothing");
    assert_eq!(campanile.cli(&["audit"]).done()["rows"], json!([]));
}

#[test]
fn what_is_not_a_job_is_refused_and_says_where() {
    let campanile = Campanile::new();
    let table =
        ["name: [", "just words", "name: a\nschedule: {kind: sometimes}\nprocessor: shell\n", "- - -\n", "\u{0}"];
    for text in table {
        let said = campanile.cli_reading(&["apply", "-f", "-"], text);
        let (exit, code) = said.refused();
        assert!(exit == REFUSED && code.starts_with("k_sc_ec_0"), "{text:?}: {said:?}");
    }
    let missing = campanile.cli(&["apply", "-f", "/no/such/file"]).refused();
    assert_eq!(missing.0, REFUSED);
    assert_eq!(campanile.cli(&["jobs"]).done(), json!([]));
}

#[test]
fn whatever_a_command_writes_the_node_stays_up_and_its_log_can_be_read() {
    let mut campanile = Campanile::new();
    let mut serve = campanile.serves();
    campanile.applies(&[
        shell("five-megabytes", r"head -c 5000000 /dev/zero | tr '\0' x; echo; echo after"),
        shell("no-text", r"printf 'caf\351 \377\376 end\n\000\001\n'"),
        shell("no-such-command", "no-such-command-anywhere --help"),
        shell("no-such-folder", "true"),
        shell("much", "seq 1 20000; echo the last one"),
    ]);

    let run = campanile.runs_to_its_end("five-megabytes");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    let log = campanile.log(id(&run));
    let longest = log.iter().map(String::len).max().expect("it wrote something");
    assert!((60_000..70_000).contains(&longest), "the line is cut at 64 KB: {longest}");
    assert!(log.iter().any(|line| line == "after"), "what came after it is there");

    let run = campanile.runs_to_its_end("no-text");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    let log = campanile.log(id(&run));
    assert!(log[0].starts_with("caf\u{fffd}") && log[0].ends_with(" end"), "{log:?}");

    let run = campanile.runs_to_its_end("no-such-command");
    assert_eq!(run["row"]["state"], "failed");
    assert_eq!(run["tasks"][0]["failure"]["code"], "k_sc_ec_300011", "{run}");
    let alarms = campanile.cli(&["alarms"]).done();
    assert!(alarms.to_string().contains("no-such-command"), "{alarms}");

    let said = campanile.cli(&["run", "no-such-folder", "--param", "workingFolder=/no/such/folder", "--wait"]);
    assert_eq!(said.code, 1, "a run that failed is an answer of no");
    assert!(said.out.contains("k_sc_ec_300020"), "{}", said.out);

    let run = campanile.runs_to_its_end("much");
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    let said = campanile.cli(&["logs", id(&run), "--follow"]);
    assert!(said.out.trim_end().ends_with('}') && said.out.contains("the last one"));

    assert!(serve.is_running(), "it stays up: {}", serve.said());
    assert!(serve.stop().success());
}

#[test]
fn what_is_asked_of_things_that_are_not_there_is_refused() {
    let campanile = Campanile::new();
    let nothing = "019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013";
    let table: [(&[&str], &str); 7] = [
        (&["run", "nobody"], "k_sc_ec_000004"),
        (&["pause", "nobody"], "k_sc_ec_000004"),
        (&["cancel", nothing], "k_sc_ec_100004"),
        (&["retry", nothing], "k_sc_ec_100004"),
        (&["logs", nothing], "k_sc_ec_200004"),
        (&["ack", nothing, "--note", "seen"], "k_sc_ec_800004"),
        (&["hold", " "], "k_sc_ec_700002"),
    ];
    for (line, code) in table {
        let said = campanile.cli(line);
        assert_eq!(said.refused(), (REFUSED, code.to_owned()), "{line:?}: {said:?}");
    }
}

/// A database that someone has made here, with a job in it.
fn used() -> (Campanile, PathBuf) {
    let campanile = Campanile::new();
    campanile.applies(&[shell("there", "true")]);
    let database = campanile.data().join("campanile.db");
    // Everything is in the file itself, so that what is done to it counts.
    for rest in ["campanile.db-wal", "campanile.db-shm"] {
        let rest = campanile.data().join(rest);
        assert!(
            !rest.exists() || fs::metadata(&rest).is_ok_and(|found| found.len() == 0),
            "{} is left",
            rest.display()
        );
    }
    (campanile, database)
}

fn write_at(database: &Path, place: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(database).expect("the database");
    file.seek(SeekFrom::Start(place)).expect("it is that long");
    file.write_all(bytes).expect("it can be written");
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_left_as_it_is() {
    let (mut campanile, database) = used();
    // Where SQLite keeps the number of the schema.
    write_at(&database, 60, &9999_u32.to_be_bytes());
    let before = fs::read(&database).expect("it is there");
    assert_eq!(campanile.cli(&["jobs"]).refused(), (STORAGE, "k_sc_ec_500004".to_owned()));
    let said = campanile.try_serve().err().expect("it does not serve");
    assert_eq!(said.refused(), (STORAGE, "k_sc_ec_500004".to_owned()));
    assert_eq!(fs::read(&database).expect("it is there"), before);
}

#[test]
fn a_database_that_is_damaged_is_refused_and_left_as_it_is() {
    let (mut campanile, database) = used();
    write_at(&database, 0, &[b'x'; 4096]);
    let before = fs::read(&database).expect("it is there");
    assert_eq!(campanile.cli(&["jobs"]).refused(), (STORAGE, "k_sc_ec_500005".to_owned()));
    let said = campanile.try_serve().err().expect("it does not serve");
    assert_eq!(said.refused(), (STORAGE, "k_sc_ec_500005".to_owned()));
    assert_eq!(fs::read(&database).expect("it is there"), before);
}

#[test]
fn a_database_that_is_damaged_further_in_says_so_when_it_is_read() {
    let (campanile, database) = used();
    let length = fs::metadata(&database).expect("it is there").len();
    let page = 4096;
    let mut place = page;
    while place < length {
        write_at(&database, place, &[0xA5; 4096]);
        place += page;
    }
    let (exit, code) = campanile.cli(&["jobs"]).refused();
    assert_eq!((exit, code.as_str()), (STORAGE, "k_sc_ec_500005"));
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused() {
    let own = tempfile::tempdir().expect("a folder");
    let file = own.path().join("file");
    fs::write(&file, "something else").expect("a file");
    for data in [file.clone(), file.join("deeper")] {
        let said = Campanile::on(&data).cli(&["jobs"]);
        let (exit, code) = said.refused();
        assert!(exit == STORAGE && code.starts_with("k_sc_ec_5"), "{said:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "something else");
}

/// Something mounted for as long as this lives.
pub struct Mounted(PathBuf);

impl Mounted {
    /// None where this machine does not let us.
    pub fn new(place: &Path, arguments: &[&str]) -> Option<Mounted> {
        let mut mount = Command::new("mount");
        mount.args(arguments).arg(place).stdout(Stdio::null()).stderr(Stdio::null());
        let done = mount.status().is_ok_and(|status| status.success());
        if !done {
            eprintln!("not run: nothing can be mounted here");
        }
        done.then(|| Mounted(place.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily: a story that failed may still have something open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

pub fn receipt(name: &str) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ran-{name}"));
    fs::write(place, "ran\n").expect("a receipt");
}

#[test]
fn a_full_disk_is_said_and_work_goes_on_when_there_is_room() {
    let own = tempfile::tempdir().expect("a folder");
    let disk = own.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let Some(_mounted) = Mounted::new(&disk, &["-t", "tmpfs", "-o", "size=16m", "tmpfs"]) else { return };
    let mut campanile = Campanile::on(&disk.join("data"));
    let diary = campanile.beside("diary");
    let ticks = || fs::read_to_string(&diary).unwrap_or_default().lines().count();
    let mut tick = shell("tick", &format!("echo tick >> '{}'", diary.display()));
    tick["schedule"] = json!({"kind": "fixedRate", "everySeconds": 1});
    campanile.applies(&[shell("work", "true"), tick]);
    let mut serve = campanile.serves();
    wait_until("it works", || ticks() >= 2);

    let ballast = disk.join("ballast");
    let fill = || {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&ballast).expect("a file");
        for piece in [64 * 1024, 4096, 1] {
            while file.write_all(&vec![0; piece]).is_ok() {}
        }
    };
    // What the node lets go of is filled, too.
    let said = campanile_tests::campanile::wait_for("a command is told that the disk is full", || {
        fill();
        let said = campanile.cli(&["run", "work"]);
        (said.code != 0).then_some(said)
    });
    assert_eq!(said.refused(), (STORAGE, "k_sc_ec_500002".to_owned()), "{said:?}");
    wait_until("the node has noticed", || {
        fill();
        serve.said().contains("the disk is full")
    });
    assert!(serve.is_running(), "it stays up: {}", serve.said());

    fs::remove_file(&ballast).expect("room is made");
    let before = ticks();
    wait_until("work goes on by itself", || ticks() > before);
    assert_eq!(campanile.runs_to_its_end("work")["row"]["state"], "succeeded");
    campanile.checks_the_ledger();
    assert!(serve.is_running(), "it stays up: {}", serve.said());
    assert!(serve.stop().success());
    receipt("full-disk");
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let (made, _) = used();
    let own = tempfile::tempdir().expect("a folder");
    let place = own.path().join("data");
    fs::create_dir(&place).expect("a folder");
    let from = made.data().display().to_string();
    let Some(_mounted) = Mounted::new(&place, &["--bind", &from]) else { return };
    let remount = Command::new("mount").args(["-o", "remount,bind,ro"]).arg(&place).status();
    assert!(remount.is_ok_and(|status| status.success()), "what was mounted can be made read-only");
    let mut campanile = Campanile::on(&place);
    for line in [&["jobs"][..], &["pause", "there"], &["ledger"]] {
        let said = campanile.cli(line);
        assert_eq!(said.refused(), (STORAGE, "k_sc_ec_500003".to_owned()), "{line:?}: {said:?}");
        assert!(said.err.contains(&place.display().to_string()), "the folder is not named: {}", said.err);
    }
    let said = campanile.try_serve().err().expect("it does not serve");
    assert_eq!(said.refused(), (STORAGE, "k_sc_ec_500003".to_owned()));
    receipt("read-only-folder");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let campanile = Campanile::new();
    let said = campanile.cli(&["serve", "--port", &port]);
    assert_eq!(said.refused(), (STORAGE, "k_sc_ec_600003".to_owned()), "{said:?}");
}
