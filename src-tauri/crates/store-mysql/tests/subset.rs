//! Statements keep to what MySQL and MariaDB share. The list with its reasons stands at the head of the crate.
//!
//! Reads the sources, as text, and the migrations. What it cannot see (whether the two plan a statement alike, or lock the same
//! rows) is for the suites to show on each server.

// Also in the functions that the tests share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

/// What one of the two lacks or means otherwise, and what is allowed all the same.
const NOT_SHARED: &[(&str, &[&str])] = &[
    (" RETURNING", &[]),
    (" AS new", &[]),
    ("VALUES ROW", &[]),
    ("JSON_", &[]),
    ("->>", &[]),
    (" OVER (", &[]),
    ("FOR SHARE", &[]),
    (" NOWAIT", &[]),
    ("INTERSECT", &[]),
    ("EXCEPT ", &[]),
    ("LATERAL", &[]),
    ("NEXT VALUE", &[]),
    ("FULL JOIN", &[]),
    ("INSERT IGNORE", &[]),
    ("REPLACE INTO", &[]),
    ("ON CONFLICT", &[]),
    ("INDEXED BY", &[]),
    ("NULLS FIRST", &[]),
    ("NULLS LAST", &[]),
    ("ILIKE", &[]),
    ("COLLATE", &["COLLATE = utf8mb4_bin"]),
    ("IF NOT EXISTS", &["CREATE TABLE IF NOT EXISTS"]),
    ("IF EXISTS", &[]),
    (" VIRTUAL", &[]),
    ("TIMESTAMP", &["UNIX_TIMESTAMP"]),
    ("UNSIGNED", &[]),
];

/// Reserved by MySQL 8, MariaDB or both, and tempting as names.
const RESERVED: &[&str] = &[
    "accessible",
    "add",
    "all",
    "alter",
    "analyze",
    "and",
    "as",
    "asc",
    "asensitive",
    "before",
    "between",
    "bigint",
    "binary",
    "blob",
    "both",
    "by",
    "call",
    "cascade",
    "case",
    "change",
    "char",
    "character",
    "check",
    "collate",
    "column",
    "condition",
    "constraint",
    "continue",
    "convert",
    "create",
    "cross",
    "cube",
    "cume_dist",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "cursor",
    "database",
    "databases",
    "dec",
    "decimal",
    "declare",
    "default",
    "delayed",
    "delete",
    "dense_rank",
    "desc",
    "describe",
    "deterministic",
    "distinct",
    "distinctrow",
    "div",
    "double",
    "drop",
    "dual",
    "each",
    "else",
    "elseif",
    "empty",
    "enclosed",
    "escaped",
    "except",
    "exists",
    "exit",
    "explain",
    "false",
    "fetch",
    "first_value",
    "float",
    "for",
    "force",
    "foreign",
    "from",
    "fulltext",
    "function",
    "general",
    "generated",
    "get",
    "grant",
    "group",
    "grouping",
    "groups",
    "having",
    "if",
    "ignore",
    "in",
    "index",
    "infile",
    "inner",
    "inout",
    "insensitive",
    "insert",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "iterate",
    "join",
    "json_table",
    "key",
    "keys",
    "kill",
    "lag",
    "last_value",
    "lateral",
    "lead",
    "leading",
    "leave",
    "left",
    "like",
    "limit",
    "linear",
    "lines",
    "load",
    "localtime",
    "localtimestamp",
    "lock",
    "long",
    "longblob",
    "longtext",
    "loop",
    "manual",
    "match",
    "maxvalue",
    "mod",
    "modifies",
    "natural",
    "not",
    "nth_value",
    "ntile",
    "null",
    "numeric",
    "of",
    "offset",
    "on",
    "optimize",
    "option",
    "or",
    "order",
    "out",
    "outer",
    "outfile",
    "over",
    "parallel",
    "partition",
    "percent_rank",
    "precision",
    "primary",
    "procedure",
    "purge",
    "qualify",
    "range",
    "rank",
    "read",
    "reads",
    "real",
    "recursive",
    "references",
    "regexp",
    "release",
    "rename",
    "repeat",
    "replace",
    "require",
    "resignal",
    "restrict",
    "return",
    "returning",
    "revoke",
    "right",
    "rlike",
    "row",
    "row_number",
    "rows",
    "schema",
    "schemas",
    "select",
    "sensitive",
    "separator",
    "set",
    "show",
    "signal",
    "smallint",
    "spatial",
    "specific",
    "sql",
    "sqlexception",
    "sqlstate",
    "sqlwarning",
    "ssl",
    "starting",
    "stats_auto_recalc",
    "stored",
    "straight_join",
    "system",
    "table",
    "tablesample",
    "terminated",
    "then",
    "tinyint",
    "to",
    "trailing",
    "trigger",
    "true",
    "undo",
    "union",
    "unique",
    "unlock",
    "unsigned",
    "update",
    "usage",
    "use",
    "using",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "values",
    "varbinary",
    "varchar",
    "varying",
    "virtual",
    "when",
    "where",
    "while",
    "window",
    "with",
    "write",
    "xor",
    "zerofill",
];

fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push((path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!found.is_empty(), "this test reads the wrong folder");
    found
}

fn breaches(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("//") || line.starts_with("--") {
            continue;
        }
        for (barred, allowed) in NOT_SHARED {
            let rest = allowed.iter().fold(line.to_owned(), |rest, allowed| rest.replace(allowed, ""));
            if rest.contains(barred) {
                found.push(format!("{file}:{}: {barred}", n + 1));
            }
        }
    }
    found
}

/// The names of tables and columns that a migration makes.
fn names(migration: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in migration.lines() {
        if let Some(table) = line.strip_prefix("CREATE TABLE IF NOT EXISTS ") {
            names.push(table.trim_end_matches(" (").to_owned());
        } else if let Some(column) = line.strip_prefix("    ")
            && let Some(first) = column.split(' ').next()
            && first.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
            && !first.is_empty()
        {
            names.push(first.to_owned());
        }
    }
    names
}

#[test]
fn statements_say_only_what_both_servers_understand() {
    let mut wrong = Vec::new();
    for (name, text) in files("src", "rs").into_iter().chain(files("migrations", "sql")) {
        wrong.extend(breaches(&name, &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_named_by_a_word_that_either_reserves() {
    let mut count = 0;
    for (file, text) in files("migrations", "sql") {
        for name in names(&text) {
            count += 1;
            assert!(!RESERVED.contains(&name.as_str()), "{file}: {name}");
        }
    }
    assert!(count > 150, "only {count} names were found");
}

#[test]
fn a_breach_is_seen() {
    let text = "sql(\"INSERT INTO t VALUES (1) RETURNING id\")\n// RETURNING\n\"name COLLATE utf8mb4_0900_bin\"";
    assert_eq!(breaches("x", text), ["x:1:  RETURNING", "x:3: COLLATE"]);
    assert_eq!(names("CREATE TABLE IF NOT EXISTS leads (\n    rank INT,\n    KEY by_rank (rank)\n"), ["leads", "rank"]);
}
