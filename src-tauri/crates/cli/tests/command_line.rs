//! The program itself, as a terminal and a script see it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const CRONTAB: &str = r#"# What a machine does at night
SHELL=/bin/bash
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
MAILTO="ops@example.com"
BACKUP_TARGET='/mnt/backup'

# m h  dom mon dow   command
*/5 * * * *     /usr/local/bin/poll.sh >/dev/null 2>&1
0,15,30,45 * * * * /opt/metrics/collect --quiet
7 3 * * *       cd /srv/app && ./manage.py clearsessions
30 2 * * mon-fri /usr/local/bin/backup.sh --full
0 4 * * SUN     /usr/local/bin/backup.sh --verify
0 0 1 jan,JUL * /usr/bin/half-year-report
15 10-18/2 * * 1-5 /usr/bin/office-hours
@hourly         /usr/bin/hourly-thing
@daily          find /tmp -name '*.tmp' -mtime +7 -delete
@weekly         /usr/sbin/logrotate /etc/logrotate.conf
@monthly        /usr/bin/certbot renew
@yearly         echo "happy new year"
@midnight       /usr/bin/rollover
0 6 * * *       mail -s report boss%Dear boss,%all is well.%
0 7 * * *       date "+\%Y-\%m-\%d" >> /var/log/mornings
1 1 29 2 *      /usr/bin/leap-day
5 5 * * 0       php /var/www/cron.php
5 6 * * 7       php /var/www/cron.php
*/10 9-17 * * 1,3,5 flock -n /tmp/sync.lock /opt/sync/run
0 22 * * 1-5    nice -n 19 /usr/bin/updatedb
23 0-23/2 * * * ( echo "every other hour"; date )
12 4 * 12 *     /usr/bin/december-only
0 3 1-7 * 1     /usr/bin/first-monday-or-so
CRON_TZ=Europe/Berlin
30 2 * * *      /usr/bin/in-berlin
61 * * * *      /usr/bin/no-such-minute
0 5 30 2 *      /usr/bin/never
0 5 * *         too-few
@reboot         /usr/bin/at-boot
@fortnightly    /usr/bin/unknown
* * * * foo bar
"#;

/// A folder, and the commands that are given for it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn data(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = campanile();
        command.arg("--data").arg(self.data()).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        Said::of(self.command(words).output().expect("the program runs"))
    }

    fn ok(&self, words: &[&str]) -> String {
        let said = self.run(words);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        said.out
    }

    fn json(&self, words: &[&str]) -> Value {
        let mut with = vec!["--json"];
        with.extend(words);
        let said = self.run(&with);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{words:?}: {error}: {}", said.out))
    }
}

fn campanile() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_campanile"));
    for name in ["LANG", "LC_ALL", "LC_MESSAGES", "CAMPANILE_DATA", "CAMPANILE_LOG"] {
        command.env_remove(name);
    }
    command.env("TZ", "Asia/Shanghai").stdin(Stdio::null());
    command
}

#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    fn of(output: Output) -> Said {
        Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// A `serve` of a folder; it is killed when the test ends before it.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(folder: &Folder, words: &[&str]) -> Serving {
        let mut with = vec!["serve"];
        with.extend(words);
        let mut child =
            folder.command(&with).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let mut url = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut url).expect("a line");
        Serving { child, url: url.trim().to_owned() }
    }

    fn ask_to_end(mut self) -> i32 {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().expect("kill is there");
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn shell_job(name: &str, command: &str) -> String {
    format!(
        "name: {name}\nschedule: {{kind: manual}}\nprocessor: shell\nparameters: {{command: '{command}'}}\nretry: {{retries: 0}}\n"
    )
}

#[test]
fn a_schedule_is_previewed_without_a_data_folder() {
    let home = tempfile::tempdir().expect("a folder");
    let schedule = r#"{"startTime": 1648029600000, "timeZone": "Asia/Shanghai", "repeatLevel": "month", "repeatInterval": 2, "repeatDays": [3, 5, 23]}"#;
    let preview = ["preview", "--schedule", schedule, "--from", "2022-03-01T00:00:00Z", "--count", "5", "--json"];
    let said = Said::of(campanile().env("HOME", home.path()).args(preview).output().expect("the program runs"));
    assert_eq!(said.code, 0, "{said:?}");
    let view: Value = serde_json::from_str(&said.out).expect("JSON");
    let runs: Vec<&str> =
        view["runs"].as_array().into_iter().flatten().filter_map(|run| run["due"]["text"].as_str()).collect();
    assert_eq!(
        runs,
        [
            "2022-03-23 18:00:00",
            "2022-05-03 18:00:00",
            "2022-05-05 18:00:00",
            "2022-05-23 18:00:00",
            "2022-07-03 18:00:00"
        ]
    );
    let left = std::fs::read_dir(home.path()).expect("a folder").count();
    assert_eq!(left, 0, "nothing was made");
}

#[test]
fn a_preview_has_a_time_at_the_start_of_each_line_and_then_its_reason() {
    let said = |schedule: &str, more: &[&str]| {
        let from = ["preview", "--from", "2026-12-01T00:00:00Z", "--count", "3", "--schedule", schedule];
        let said = Said::of(campanile().args(from).args(more).output().expect("it runs"));
        assert_eq!(said.code, 0, "{said:?}");
        said.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let daily = r#"{"kind": "cron", "expression": "0 9 * * *", "timeZone": "Europe/Berlin"}"#;
    assert_eq!(
        said(daily, &[]),
        ["2026-12-01T09:00:00+01:00", "2026-12-02T09:00:00+01:00", "2026-12-03T09:00:00+01:00"]
    );
    let moved = r#"{"exceptions": [{"change": "moveTo", "planned": "2026-12-01T09:00:00+01:00",
                    "at": "2026-12-01T10:00:00+01:00"}], "misfire": {"policy": "skip"}}"#;
    let lines = said(daily, &["--policies", moved]);
    assert!(lines[0].starts_with("2026-12-01T10:00:00+01:00  moved by hand"), "{lines:?}");
    let lines = said(daily, &["--policies", moved, "--lang", "zh"]);
    assert!(lines[0].contains("手动移动"), "{lines:?}");

    let wrong = ["preview", "--schedule", daily, "--policies", r#"{"spreadSecond": 3}"#];
    let said = Said::of(campanile().args(wrong).output().expect("it runs"));
    assert!(said.code == 3 && said.err.contains("spreadSecond"), "{said:?}");
}

#[test]
fn what_is_refused_says_its_code_and_what_to_do_in_the_language_of_the_reader() {
    let schedule = r#"{"kind": "cron", "expression": "0 0 30 2 *"}"#;
    let said = |words: &[&str]| {
        Said::of(campanile().args(["preview", "--schedule", schedule]).args(words).output().expect("it runs"))
    };
    let english = said(&[]);
    assert_eq!(english.code, 3, "{english:?}");
    assert!(english.err.starts_with("k_sc_ec_000012: the schedule can never fire"), "{english:?}");
    let chinese = said(&["--lang", "zh"]);
    assert!(chinese.err.contains("k_sc_ec_000012: 该调度永远不会触发"), "{chinese:?}");
    let json = said(&["--json"]);
    let fault: Value = serde_json::from_str(&json.err).expect("JSON");
    assert_eq!(
        (fault["code"].as_str(), fault["field"].as_str()),
        (Some("k_sc_ec_000012"), Some("schedule.expression"))
    );
    let environment = Said::of(
        campanile().env("LANG", "zh_CN.UTF-8").args(["preview", "--schedule", schedule]).output().expect("it runs"),
    );
    assert!(environment.err.contains("永远不会触发"), "{environment:?}");
}

#[test]
fn a_line_that_makes_no_sense_ends_with_two() {
    for words in
        [&["jobs", "--nonsense"][..], &["preview"], &["run"], &["ack", "x"], &["run", "a", "--param", "novalue"]]
    {
        let said = Said::of(campanile().args(words).output().expect("it runs"));
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
    }
    let help = Said::of(campanile().args(["run", "--help"]).output().expect("it runs"));
    assert!(help.code == 0 && help.out.contains("Example:"), "{help:?}");
    let help = Said::of(campanile().args(["run", "--help", "--lang", "zh"]).output().expect("it runs"));
    assert!(help.code == 0 && help.out.contains("示例："), "{help:?}");
}

#[test]
fn a_crontab_of_a_real_machine_becomes_jobs_and_the_rest_is_listed() {
    let folder = Folder::new();
    let file = folder.file("crontab", CRONTAB);
    let dry = folder.json(&["import", "crontab", &file, "--dry-run"]);
    assert!(dry["done"].is_null());
    assert!(folder.json(&["jobs"]).as_array().is_some_and(Vec::is_empty), "a dry run writes nothing");

    let mut child = folder
        .command(&["--json", "import", "crontab", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    child.stdin.take().expect("piped").write_all(CRONTAB.as_bytes()).expect("it reads");
    let said = Said::of(child.wait_with_output().expect("it ends"));
    assert_eq!(said.code, 0, "{said:?}");
    let imported: Value = serde_json::from_str(&said.out).expect("JSON");

    let refused: Vec<(u64, &str)> = imported["reading"]["lines"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|line| line["outcome"]["is"] == "refused")
        .filter_map(|line| Some((line["number"].as_u64()?, line["outcome"]["fault"]["code"].as_str()?)))
        .collect();
    let number = |text: &str| CRONTAB.lines().position(|line| line.contains(text)).expect("a line") as u64 + 1;
    assert_eq!(
        refused,
        [
            (number("no-such-minute"), "k_sc_ec_000011"),
            (number("usr/bin/never"), "k_sc_ec_000012"),
            (number("too-few"), "k_sc_ec_000011"),
            (number("at-boot"), "k_sc_ec_000014"),
            (number("fortnightly"), "k_sc_ec_000011"),
            (number("foo bar"), "k_sc_ec_000011"),
        ]
    );
    let jobs = folder.json(&["jobs"]);
    let names: Vec<&str> = jobs.as_array().into_iter().flatten().filter_map(|job| job["name"].as_str()).collect();
    assert_eq!(names.len(), imported["reading"]["jobs"].as_u64().expect("a number") as usize);
    assert_eq!(names.len(), 24, "{names:?}");
    for name in ["backup", "backup-2", "manage", "cron", "cron-2", "run", "in-berlin", "updatedb"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let exported = folder.ok(&["export", "in-berlin", "backup"]);
    assert!(
        exported.contains("timeZone: Europe/Berlin") && exported.contains("BACKUP_TARGET: /mnt/backup"),
        "{exported}"
    );

    let nothing = folder.file("nothing", "# only a comment\n");
    assert_eq!(folder.run(&["import", "crontab", &nothing]).code, 3);
}

#[test]
fn applying_twice_is_applying_once() {
    let folder = Folder::new();
    let file = folder.file("jobs.yaml", &format!("{}---\n{}", shell_job("one", "true"), shell_job("two", "true")));
    assert!(folder.ok(&["apply", "-f", &file, "--dry-run"]).contains("one created"));
    assert!(folder.ok(&["apply", "-f", &file]).contains("two created"));
    assert!(folder.ok(&["apply", "-f", &file]).contains("one unchanged"));
    let exported = folder.file("exported.yaml", &folder.ok(&["export"]));
    assert!(folder.ok(&["apply", "-f", &exported]).contains("two unchanged"));

    let broken =
        folder.file("broken.yaml", &format!("{}---\nname: three\nprocessor: shell\n", shell_job("one", "false")));
    let said = folder.run(&["apply", "-f", &broken]);
    assert!(said.code == 3 && said.err.contains("#2 (three)") && said.err.contains("schedule"), "{said:?}");
    assert!(folder.ok(&["apply", "-f", &file]).contains("one unchanged"), "all or nothing");
    assert_eq!(folder.run(&["apply", "-f", "/no/such/file"]).code, 3);

    folder.ok(&["pause", "one"]);
    assert!(folder.ok(&["jobs", "--paused"]).contains("one"));
    folder.ok(&["resume", "one"]);
    folder.ok(&["remove", "two"]);
    assert!(!folder.ok(&["jobs"]).contains("two"));
    let audit = folder.json(&["audit"]);
    let actions: Vec<&str> =
        audit["rows"].as_array().into_iter().flatten().filter_map(|row| row["action"].as_str()).collect();
    assert_eq!(actions[..3], ["removeJobs", "resumeJobs", "pauseJobs"]);
}

#[test]
fn runs_are_waited_for_and_their_output_followed() {
    let folder = Folder::new();
    let jobs = [
        shell_job("greet", "for n in 1 2 3; do echo line $n; sleep 0.2; done"),
        shell_job("fails", "echo broken >&2; exit 9"),
    ];
    let file = folder.file("jobs.yaml", &jobs.join("---\n"));
    folder.ok(&["apply", "-f", &file]);
    let nobody = folder.run(&["run", "greet", "--wait"]);
    assert!(nobody.code == 4 && nobody.err.contains("k_sc_ec_600001"), "{nobody:?}");

    let serving = Serving::start(&folder, &["--allow-shell"]);
    assert!(serving.url.contains("http://127.0.0.1:") && serving.url.contains("#token="), "{}", serving.url);
    let run = folder.ok(&["run", "greet"]).trim().to_owned();
    let followed = folder.ok(&["logs", &run, "--follow"]);
    assert_eq!(followed.matches("stdout line ").count(), 3, "{followed}");
    assert!(folder.ok(&["run", "greet", "--param", "command=echo other", "--wait"]).contains("succeeded"));

    let failed = folder.run(&["run", "fails", "--wait", "--json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let detail: Value = serde_json::from_str(&failed.out).expect("JSON");
    assert_eq!(detail[0]["row"]["state"], "failed");
    assert!(folder.ok(&["tasks", "--state", "302"]).contains("302 Failed"));
    assert!(folder.ok(&["runs", "fails", "--state", "failed"]).contains("failed"));
    let task = detail[0]["tasks"][0]["id"].as_str().expect("an id").to_owned();
    assert!(folder.ok(&["logs", &task]).contains("stderr broken"));

    // The alerter comes by a moment after the run ended.
    let alarm = (0..200).find_map(|_| folder.json(&["alarms"])["rows"][0]["id"].as_str().map(str::to_owned));
    let alarm = alarm.expect("an alarm");
    folder.ok(&["ack", &alarm, "--note", "known"]);
    assert!(folder.ok(&["alarms"]).contains("acknowledged"));
    folder.ok(&["hold", "for a test"]);
    folder.ok(&["release"]);
    assert!(folder.ok(&["ledger"]).contains("clean"));
    assert_eq!(folder.run(&["cancel", &run]).code, 3, "it has ended");
    assert_eq!(serving.ask_to_end(), 0, "it steps down when asked to");
    assert_eq!(folder.run(&["run", "greet", "--wait"]).code, 4);
}

#[test]
fn without_leave_serve_runs_no_shell() {
    let folder = Folder::new();
    let file = folder.file("jobs.yaml", &shell_job("greet", "true"));
    let serving = Serving::start(&folder, &[]);
    // Once it leads, what it does not host is refused there; the command line does not know whom it talks to.
    let taken = Serving::start_on_its_port(&folder, &serving);
    assert!(taken.code == 4 && taken.err.contains("k_sc_ec_600003"), "{taken:?}");
    folder.ok(&["apply", "-f", &file]);
    let run = folder.ok(&["run", "greet"]).trim().to_owned();
    let detail = folder.json(&["runs", "greet"]);
    assert_eq!(detail["rows"][0]["id"], run.as_str());
    assert_ne!(detail["rows"][0]["state"], "succeeded");
    assert_eq!(serving.ask_to_end(), 0);
}

impl Serving {
    fn start_on_its_port(folder: &Folder, other: &Serving) -> Said {
        let port = other.url.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).expect("a port");
        folder.run(&["serve", "--port", port])
    }
}

#[test]
fn a_folder_of_a_newer_version_or_a_damaged_one_is_left_alone() {
    let folder = Folder::new();
    folder.ok(&["jobs"]);
    let database = folder.data().join("campanile.db");
    std::fs::write(&database, "not a database, whatever its name says").expect("ours");
    let before = std::fs::read(&database).expect("ours");
    let said = folder.run(&["jobs"]);
    assert!(said.code == 4 && said.err.contains("k_sc_ec_500005"), "{said:?}");
    assert_eq!(std::fs::read(&database).expect("ours"), before, "it is left as it was");
    assert!(Path::new(&database).exists());
}
