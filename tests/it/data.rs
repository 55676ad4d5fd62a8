//! Runs that are given the items of a file: looked at, taken in, run, and reported of, by the real program.

use std::fs;
use std::path::{Path, PathBuf};

use campanile_tests::campanile::{Campanile, wait_until};
use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::bad_input::{Mounted, receipt};

/// A job whose shards write each of their items into a file, with the level that it is of.
fn job(file: &Path) -> Value {
    let command = format!(
        "while read -r item; do echo \"$CAMPANILE_SHARD_LEVEL $item\"; done < \"$CAMPANILE_SHARD_ITEMS\" >> '{}'",
        file.display()
    );
    json!({
        "name": "import",
        "schedule": {"kind": "manual"},
        "mode": "sharding",
        "processor": "shell",
        "parameters": {"command": command, "data": [["of the job itself"]]},
        "retry": {"retries": 0},
    })
}

fn campanile() -> (Campanile, PathBuf) {
    let campanile = Campanile::new();
    let written = campanile.beside("written");
    campanile.applies(&[job(&written)]);
    (campanile, written)
}

fn file(campanile: &Campanile, name: &str, text: &[u8]) -> String {
    let path = campanile.beside(name);
    fs::write(&path, text).expect("it can be written");
    path.to_str().expect("a plain path").to_owned()
}

fn lines(path: &Path) -> Vec<String> {
    let mut lines: Vec<String> = fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The run as it ended.
fn runs(campanile: &Campanile, more: &[&str]) -> Value {
    let said = campanile.cli(&[&["run", "import"], more].concat());
    let ended: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("no run: {said:?}"));
    ended[0].clone()
}

fn report(campanile: &Campanile, run: &Value) -> Vec<String> {
    let said = campanile.cli(&["report", run["row"]["id"].as_str().expect("an id"), "-o", "-"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.out.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect()
}

#[test]
fn rows_of_a_file_become_items_and_a_column_says_their_level() {
    let (mut campanile, written) = campanile();
    let serve = campanile.serves();
    // 编号,level / 007,1 / 008,0 in GBK, as a Chinese Excel writes it.
    let gbk = file(&campanile, "客户.csv", b"\xb1\xe0\xba\xc5,level\r\n007,1\r\n008,0\r\n");
    let run = runs(&campanile, &["--data", &gbk, "--level-column", "level"]);
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    assert_eq!(lines(&written), [r#"0 {"编号":"008","level":"0"}"#, r#"1 {"编号":"007","level":"1"}"#]);
    let report = report(&campanile, &run);
    assert_eq!(report[0], "row,level,shard,executor,outcome,message,编号,level,item");
    let executor = report[1].split(',').nth(3).expect("an executor").to_owned();
    assert_eq!(
        report[1..],
        [format!("1,0,0,{executor},succeeded,,008,0,"), format!("1,1,0,{executor},succeeded,,007,1,")]
    );
    // What was taken in is in the audit log, by name and hash.
    let audit = campanile.cli(&["audit", "--limit", "1"]).done();
    let told = &audit["rows"][0];
    assert_eq!(told["action"], "runWithData");
    assert_eq!((&told["after"]["data"]["file"], &told["after"]["data"]["items"]), (&json!("客户.csv"), &json!(2)));
    campanile.checks_the_ledger();
    assert!(serve.stop().success());
}

#[test]
fn a_workbook_and_json_are_taken_in_like_a_table() {
    let (mut campanile, written) = campanile();
    let serve = campanile.serves();
    let levels = file(&campanile, "levels.json", b"[[{\"id\": 1}, 2], [], [3]]");
    let first = runs(&campanile, &["--data", &levels]);
    assert_eq!(first["row"]["state"], "succeeded", "{first}");
    assert_eq!(lines(&written), ["0 2", r#"0 {"id":1}"#, "2 3"]);
    // Its report is a workbook that can be taken in again.
    let book = campanile.beside("report.xlsx");
    let book = book.to_str().expect("a plain path");
    campanile.cli(&["report", first["row"]["id"].as_str().expect("an id"), "-o", book]).done();
    fs::remove_file(&written).expect("it is there");
    let second = runs(&campanile, &["--data", book]);
    assert_eq!(second["row"]["state"], "succeeded", "{second}");
    let written = lines(&written);
    assert_eq!(written.len(), 3);
    assert!(written[0].starts_with(r#"0 {"row":1,"level":0,"shard":0,"executor":""#), "{written:?}");
    assert!(written[1].contains(r#""level":2,"#) && written[1].ends_with(r#""item":"3"}"#), "{written:?}");
    assert!(serve.stop().success());
}

#[test]
fn a_row_that_is_wrong_refuses_the_whole_before_anything_runs() {
    let (mut campanile, written) = campanile();
    let serve = campanile.serves();
    let scale: f64 = std::env::var("SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(0.01);
    let rows = (1_000_000.0 * scale) as usize;
    let mut text = String::from("id,name\n");
    for n in 2..=rows {
        text.push_str(if n == rows - 1 { "broken\n" } else { "1,x\n" });
    }
    let broken = file(&campanile, "broken.csv", text.as_bytes());
    let said = campanile.cli(&["run", "import", "--data", &broken]);
    assert_eq!(said.refused(), (3, "k_sc_ec_100014".to_owned()));
    assert!(said.err.contains(&format!("row {} of broken.csv: it has 1 cells", rows - 1)), "{}", said.err);
    assert_eq!(campanile.runs("import").len(), 0);
    let large = file(&campanile, "large.json", format!("[1, \"{}\"]", "x".repeat(1 << 20)).as_bytes());
    assert_eq!(campanile.cli(&["run", "import", "--data", &large]).refused().1, "k_sc_ec_100014");
    for (name, text) in [("cut.json", &b"[1, 2"[..]), ("no.xlsx", b"PK\x03\x04 nothing"), ("twice.csv", b"a,a\n1,2\n")]
    {
        let refused = file(&campanile, name, text);
        assert_eq!(campanile.cli(&["run", "import", "--data", &refused]).refused().0, 3, "{name}");
    }
    let missing = campanile.beside("missing.csv");
    let missing = campanile.cli(&["run", "import", "--data", missing.to_str().expect("a plain path")]);
    assert_eq!(missing.refused().1, "k_sc_ec_100012");
    assert_eq!(campanile.runs("import").len(), 0);
    assert_eq!(lines(&written), [] as [String; 0]);
    assert!(serve.stop().success());
}

#[test]
fn no_items_one_item_and_a_thousand_levels_of_one_item() {
    let (mut campanile, written) = campanile();
    let serve = campanile.serves();
    let empty = file(&campanile, "empty.csv", b"id\n");
    let run = runs(&campanile, &["--data", &empty]);
    assert_eq!(run["row"]["state"], "succeeded", "{run}");
    assert_eq!(report(&campanile, &run).len(), 1);
    assert_eq!(lines(&written), [] as [String; 0]);

    let one = file(&campanile, "one.csv", b"id\n1\n");
    assert_eq!(runs(&campanile, &["--data", &one])["row"]["state"], "succeeded");
    assert_eq!(lines(&written), [r#"0 {"id":"1"}"#]);
    fs::remove_file(&written).expect("it is there");

    // Each is a process of its own; a thousand of them take minutes in an ordinary run.
    let levels = if std::env::var_os("CAMPANILE_SOAK").is_some() { 1000 } else { 40 };
    let text: String = (0..levels).rev().map(|level| format!("{level}\n")).collect();
    let many = file(&campanile, "levels.csv", format!("level\n{text}").as_bytes());
    let run = campanile.cli(&["run", "import", "--data", &many, "--level-column", "level", "--no-wait"]).done();
    let id = run["instances"][0].as_str().expect("an id").to_owned();
    wait_until_long("the levels have run", || campanile.runs("import")[0]["state"] == "succeeded");
    let text = fs::read_to_string(&written).expect("it was written");
    let order: Vec<u32> = text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert_eq!(order, (0..levels).collect::<Vec<u32>>());
    let said = campanile.cli(&["report", &id, "-o", "-"]);
    assert_eq!(said.out.lines().count(), levels as usize + 1);
    assert!(serve.stop().success());
}

/// As long as a thousand processes take one after another.
fn wait_until_long(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..15 {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wait_until(what, &mut so))).is_ok() {
            return;
        }
    }
    panic!("never: {what}");
}

#[test]
fn data_for_a_job_that_is_not_cut_into_shards_is_refused_and_goes() {
    let (mut campanile, _) = campanile();
    campanile.applies(&[json!({
        "name": "plain", "schedule": {"kind": "manual"}, "processor": "shell", "parameters": {"command": "true"},
    })]);
    let serve = campanile.serves();
    let data = file(&campanile, "a.csv", b"id\n1\n");
    assert_eq!(campanile.cli(&["run", "plain", "--data", &data]).refused().1, "k_sc_ec_100010");
    assert_eq!(campanile.cli(&["run", "plain", "import", "--data", &data]).refused().1, "k_sc_ec_000001");
    assert_eq!(campanile.cli(&["report", "nothing", "-o", "a.csv"]).refused().1, "k_sc_ec_100004");
    let run = campanile.runs_to_its_end("plain");
    let id = run["row"]["id"].as_str().expect("an id");
    assert_eq!(campanile.cli(&["report", id, "-o", "a.csv"]).refused().1, "k_sc_ec_000001");
    assert_eq!(campanile.cli(&["report", id, "-o", "a.doc"]).refused().1, "k_sc_ec_000001");
    assert!(serve.stop().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_finds_the_disk_full_says_so_and_leaves_nothing() {
    let (mut campanile, _) = campanile();
    let serve = campanile.serves();
    let data = file(&campanile, "a.csv", format!("id\n{}", "123456789\n".repeat(1000)).as_bytes());
    let run = runs(&campanile, &["--data", &data]);
    let id = run["row"]["id"].as_str().expect("an id");
    assert_eq!(campanile.cli(&["report", id, "-o", "/dev/full"]).refused(), (3, "k_sc_ec_000001".to_owned()));
    let full = campanile.beside("full.csv");
    std::os::unix::fs::symlink("/dev/full", &full).expect("a link");
    let full = full.to_str().expect("a plain path").to_owned();
    assert_eq!(campanile.cli(&["report", id, "-o", &full]).refused(), (4, "k_sc_ec_500002".to_owned()));
    // In a folder that cannot be written nothing appears, and what was there stays.
    let there = file(&campanile, "there.csv", b"before");
    let gone = campanile.beside("no/such/folder.csv");
    let gone = gone.to_str().expect("a plain path");
    assert_eq!(campanile.cli(&["report", id, "-o", gone]).refused().1, "k_sc_ec_100017");
    campanile.cli(&["report", id, "-o", &there]).done();
    assert_eq!(fs::read_to_string(&there).expect("it is there").lines().count(), 1001);
    let halves = fs::read_dir(campanile.beside("")).expect("a folder").flatten();
    assert!(halves.into_iter().all(|entry| !entry.file_name().to_string_lossy().ends_with(".part")));
    assert!(serve.stop().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_does_not_fit_on_its_disk_leaves_nothing_there_and_fits_once_there_is_room() {
    let (mut campanile, _) = campanile();
    let disk = campanile.beside("disk");
    fs::create_dir(&disk).expect("a folder");
    let Some(_mounted) = Mounted::new(&disk, &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) else { return };
    let serve = campanile.serves();
    // Two megabytes that hardly get smaller in a workbook, either.
    let mut seed = 7_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{seed:016x}")
    };
    let text: String = (0..2000).map(|_| (0..64).map(|_| word()).collect::<String>() + "\n").collect();
    let data = file(&campanile, "a.csv", format!("id\n{text}").as_bytes());
    let run = runs(&campanile, &["--data", &data]);
    let id = run["row"]["id"].as_str().expect("an id");
    let before = disk.join("before.csv");
    fs::write(&before, "before").expect("a small file fits");
    for name in ["report.csv", "report.xlsx", "before.csv"] {
        let path = disk.join(name);
        let said = campanile.cli(&["report", id, "-o", path.to_str().expect("a plain path")]);
        assert_eq!(said.refused(), (4, "k_sc_ec_500002".to_owned()), "{name}: {said:?}");
    }
    let there: Vec<_> = fs::read_dir(&disk).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(there, ["before.csv"]);
    assert_eq!(fs::read_to_string(&before).expect("it is there"), "before");

    let remount = std::process::Command::new("mount").args(["-o", "remount,size=16m"]).arg(&disk).status();
    assert!(remount.is_ok_and(|status| status.success()), "a disk can be made larger");
    campanile.cli(&["report", id, "-o", before.to_str().expect("a plain path")]).done();
    assert_eq!(fs::read_to_string(&before).expect("it is there").lines().count(), 2001);
    assert!(serve.stop().success());
    receipt("full-disk-of-reports");
}
