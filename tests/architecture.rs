//! The walls of the tree, as a test: which crate may use which, what some must never touch, and where a file may lie.
//!
//! Reads Cargo's own metadata and the sources as text. Most of what holds here is an absence, which no compiler reports.
//! Does not look into dependencies of dependencies that are not ours: what may be linked at all is `.deny.toml`'s.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const DESKTOP: &str = "campanile-desktop";
const TESTS: &str = "campanile-tests";

/// What each crate may use of ours. A crate that is not in this table fails the test, so that a new one finds its storey.
const MAY_USE: &[(&str, &[&str])] = &[
    ("campanile-model", &[]),
    ("campanile-proto", &[]),
    ("campanile-store", &["campanile-model"]),
    ("campanile-coord", &["campanile-model"]),
    ("campanile-store-sql", &["campanile-model", "campanile-store"]),
    ("campanile-store-sqlite", &["campanile-model", "campanile-store", "campanile-store-sql"]),
    ("campanile-store-mysql", &["campanile-model", "campanile-store", "campanile-store-sql"]),
    ("campanile-coord-redis", &["campanile-model", "campanile-coord"]),
    ("campanile-engine", &["campanile-model", "campanile-store", "campanile-coord"]),
    ("campanile-sdk", &["campanile-proto"]),
    ("campanile-processors", &["campanile-sdk"]),
    (
        "campanile-gateway",
        &["campanile-model", "campanile-store", "campanile-coord", "campanile-engine", "campanile-proto"],
    ),
    ("campanile-sheets", &["campanile-model"]),
    (
        "campanile-api",
        &["campanile-model", "campanile-store", "campanile-coord", "campanile-engine", "campanile-sheets"],
    ),
    ("campanile-cli", &["campanile-host", "campanile-api", "campanile-model"]),
    (DESKTOP, &["campanile-host", "campanile-api", "campanile-model"]),
];

/// These see everything below them: the host puts a node together, the tests look from outside.
const MAY_USE_ALL_BUT: &[(&str, &[&str])] =
    &[("campanile-host", &["campanile-cli", DESKTOP, TESTS]), (TESTS, &[DESKTOP])];

/// Crates of others that some of ours must not reach, not even through another of ours. A name stands for everything
/// that begins with it, so `tauri` is also `tauri-plugin-dialog`.
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "campanile-model",
        &["tokio", "sqlx", "redis", "tonic", "tauri", "reqwest"],
        "a rule must be checkable by a table",
    ),
    ("campanile-store", &["sqlx", "redis", "tonic", "tauri"], "a contract does not know who keeps it"),
    ("campanile-coord", &["sqlx", "redis", "tonic", "tauri"], "a contract does not know who keeps it"),
    (
        "campanile-sheets",
        &["tokio", "sqlx", "redis", "tonic", "tauri"],
        "what stands in a file is a matter of its bytes alone",
    ),
    ("campanile-engine", &["sqlx", "redis", "tonic", "tauri"], "it is hosted twice, and simulated every day"),
    (
        "campanile-sdk",
        &["sqlx", "redis", "tauri"],
        "users pin it; what it needs from a node is a message on the stream",
    ),
    ("campanile-api", &["sqlx", "redis", "tonic", "tauri"], "two hosts, one meaning"),
    ("campanile-host", &["tauri"], "two hosts, one meaning"),
    ("campanile-cli", &["tauri"], "two hosts, one meaning"),
];

/// Time and chance enter the rules as arguments, and the engine through one file each, so that a whole cluster can run
/// on a clock that a test moves and a seed that it chose.
const CLOCKS_AND_DICE: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "Zoned::now",
    "Timestamp::now",
    "Utc::now",
    "Local::now",
    "time::sleep(",
    "time::interval(",
    "rand::rng(",
    "thread_rng(",
    "Uuid::now_v7",
    "Uuid::new_v4",
];

const TOP_LEVEL: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "docs",
    "icons",
    "sdks",
    "src-tauri",
    "tests",
    "ui",
];

#[test]
fn each_crate_uses_only_what_stands_below_it() {
    let mut wrong = Vec::new();
    for (name, uses) in ours() {
        let allowed = MAY_USE.iter().find(|(named, _)| *named == name).map(|(_, allowed)| allowed.to_vec());
        let barred = MAY_USE_ALL_BUT.iter().find(|(named, _)| *named == name).map(|(_, barred)| *barred);
        for used in uses.iter().filter(|used| used.starts_with("campanile-")) {
            let fine = match (&allowed, barred) {
                (Some(allowed), _) => allowed.contains(&used.as_str()),
                (None, Some(barred)) => !barred.contains(&used.as_str()),
                (None, None) => false,
            };
            if !fine {
                wrong.push(format!("{name} uses {used}"));
            }
        }
        if allowed.is_none() && barred.is_none() {
            wrong.push(format!("{name} has no place in the table yet"));
        }
    }
    assert!(wrong.is_empty(), "dependencies point the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn what_must_stay_pure_reaches_no_driver_and_no_window() {
    let ours = ours();
    let mut wrong = Vec::new();
    for (name, never, because) in NEVER {
        assert!(ours.contains_key(*name), "{name} is gone; take it out of the table");
        for (through, used) in reached(name, &ours) {
            if never.iter().any(|barred| begins_with_name(&used, barred)) {
                wrong.push(format!("{name} reaches {used} through {through}: {because}"));
            }
        }
    }
    for (name, uses) in &ours {
        let tauri = uses.iter().find(|used| begins_with_name(used, "tauri"));
        if let (Some(tauri), true) = (tauri, name != DESKTOP) {
            wrong.push(format!("{name} uses {tauri}; only the desktop app may"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_desktop_app_says_tauri() {
    let mut wrong = said_in("src-tauri/crates", "rs", &["tauri::", "use tauri"]);
    wrong.extend(said_in("tests/support", "rs", &["tauri::", "use tauri"]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let said = said_in("src-tauri/src", "rs", &["tauri::"]);
    assert!(!said.is_empty(), "the desktop app does not say it either; this test reads the wrong files");
}

#[test]
fn time_and_chance_come_in_through_one_door() {
    let mut wrong = said_in("src-tauri/crates/model/src", "rs", CLOCKS_AND_DICE);
    wrong.extend(
        said_in("src-tauri/crates/engine/src", "rs", CLOCKS_AND_DICE)
            .into_iter()
            .filter(|place| !["engine/src/clock.rs", "engine/src/dice.rs"].iter().any(|door| place.contains(door))),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_view_can_be_deleted() {
    let mut wrong = Vec::new();
    let mut views = BTreeSet::new();
    for file in files_under("ui/src", &["ts", "tsx"]) {
        let from = Place::of(&file);
        if from.layer == "views" {
            views.insert(from.part.clone());
        }
        for import in imports_of(&file) {
            if import.starts_with("@tauri-apps") && from.layer != "api" {
                wrong.push(format!("{}: {import} is for ui/src/api alone", shown(&file)));
            }
            let Some(to) = target_of(&file, &import).map(|path| Place::of(&path)) else { continue };
            let why = match (from.layer.as_str(), to.layer.as_str()) {
                ("views", "views") if from.part != to.part => "a view imports another",
                ("components" | "primitives" | "lib" | "api", "views" | "app") => "what views are made of imports one",
                ("primitives" | "lib", "components" | "api") => "a primitive knows our nouns",
                _ => continue,
            };
            wrong.push(format!("{}: {import}: {why}", shown(&file)));
        }
    }
    assert!(!views.is_empty(), "no views were found; this test reads the wrong files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_top_of_the_tree_stays_short() {
    let strange: Vec<String> =
        top_level().into_iter().filter(|name| !name.starts_with('.') && !TOP_LEVEL.contains(&name.as_str())).collect();
    assert!(strange.is_empty(), "at the top of the tree, and not on its list: {}", strange.join(", "));
}

#[test]
fn an_import_is_found_in_each_way_of_writing_it() {
    let source = r#"
        import { a } from "./a";
        import type { B } from '../b';
        import "@/c.css";
        export * from "@/d";
        import {
          e,
        } from "@/e";
        const f = lazy(() => import("../f"));
        const text = "from nowhere";
    "#;
    let found: Vec<String> = imports_in(source);
    assert_eq!(found, ["./a", "../b", "@/c.css", "@/d", "@/e", "../f"]);
}

/// Each crate of ours with the names of what it uses in a build; what only its tests use is not a wall.
fn ours() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs this test, so it is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");

    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .map(|package| {
            let uses = package["dependencies"].as_array().expect("a list of dependencies").iter();
            let uses = uses.filter(|used| used["kind"] != "dev").map(|used| text(&used["name"])).collect();
            (text(&package["name"]), uses)
        })
        .collect()
}

/// What a crate uses, itself and through others of ours: (through which of ours, what).
fn reached(name: &str, ours: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<(String, String)> {
    let mut reached = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(through) = open.pop() {
        if !seen.insert(through.clone()) {
            continue;
        }
        for used in &ours[&through] {
            if ours.contains_key(used) {
                open.push(used.clone());
            }
            reached.insert((through.clone(), used.clone()));
        }
    }
    reached
}

fn begins_with_name(used: &str, name: &str) -> bool {
    used.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// `file:line: text` for each line of code under a folder that says one of the words. Comments may say anything.
fn said_in(folder: &str, extension: &str, words: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    for file in files_under(folder, &[extension]) {
        for (index, line) in read(&file).lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                places.push(format!("{}:{}: {}", shown(&file), index + 1, code));
            }
        }
    }
    places
}

/// Where a file of the console stands: its layer (`views`) and, within it, its part (`jobs`).
struct Place {
    layer: String,
    part: String,
}

impl Place {
    fn of(file: &Path) -> Self {
        let inside = file.strip_prefix(root().join("ui/src")).unwrap_or(file);
        let mut parts = inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        Self { layer: parts.next().unwrap_or_default(), part: parts.next().unwrap_or_default() }
    }
}

fn imports_of(file: &Path) -> Vec<String> {
    imports_in(&read(file))
}

/// The specifiers of a TypeScript source: the quoted text after `from`, `import` or `import(`.
fn imports_in(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in source.lines() {
        let line = line.trim();
        let statement = ["import ", "export ", "} from "].iter().any(|opening| line.starts_with(opening));
        let after = match (line.find("import("), line.rfind(" from ")) {
            (Some(at), _) => &line[at + "import(".len()..],
            (None, Some(at)) if statement => &line[at + " from ".len()..],
            (None, None) if line.starts_with("import ") => &line["import ".len()..],
            _ => match line.strip_prefix("} from ") {
                Some(after) => after,
                None => continue,
            },
        };
        let Some(quote) = after.chars().next().filter(|first| *first == '"' || *first == '\'') else { continue };
        if let Some(specifier) = after[1..].split(quote).next() {
            found.push(specifier.to_owned());
        }
    }
    found
}

/// The path that an import means, without an extension; `None` for a package.
fn target_of(file: &Path, import: &str) -> Option<PathBuf> {
    let joined = match import.strip_prefix("@/") {
        Some(inside) => root().join("ui/src").join(inside),
        None if import.starts_with('.') => file.parent()?.join(import),
        None => return None,
    };
    let mut plain = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// What is kept at the top of the tree. An archive without git's records is read from the disk, where a build folder
/// may lie beside it.
fn top_level() -> BTreeSet<String> {
    let listed = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .current_dir(root())
        .output()
        .ok()
        .filter(|output| output.status.success() && !output.stdout.is_empty());
    match listed {
        Some(output) => String::from_utf8_lossy(&output.stdout)
            .split('\0')
            .filter_map(|path| path.split('/').next())
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        None => fs::read_dir(root())
            .expect("the tree can be read")
            .map(|entry| entry.expect("the tree can be read").file_name().to_string_lossy().into_owned())
            .filter(|name| name != "target")
            .collect(),
    }
}

fn files_under(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if extensions.contains(&extension.as_str()) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the tree").to_owned()
}

fn shown(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn text(value: &Value) -> String {
    value.as_str().expect("a name").to_owned()
}
