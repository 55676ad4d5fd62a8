//! A crontab as people have it, pasted in.

use campanile_tests::campanile::Campanile;
use serde_json::Value;

/// Forty lines: comments, environment, steps, ranges, lists, names, `@daily` and kin, and one that is wrong.
const CRONTAB: &str = r#"# m h  dom mon dow   command
SHELL=/bin/bash
PATH=/usr/local/bin:/usr/bin:/bin
MAILTO=ops@example.com

# backups
0 2 * * *       /opt/backup/run.sh daily
0 3 * * 0       /opt/backup/run.sh weekly
30 3 1 * *      /opt/backup/run.sh monthly
15 4 1 1,4,7,10 * /opt/backup/run.sh quarterly
@daily          /opt/backup/prune.sh --keep 14
@weekly         /opt/backup/verify.sh
@monthly        /opt/backup/report.sh
@yearly         /opt/backup/archive.sh

# the web
*/5 * * * *     /usr/bin/php /srv/www/cron.php
*/15 8-18 * * mon-fri  /srv/www/bin/sync-orders
0,30 * * * *    /srv/www/bin/warm-cache
5 0 * * *       /srv/www/bin/rotate-sessions
10 0-23/2 * * * /srv/www/bin/reindex --incremental
0 6 * * sat,sun /srv/www/bin/weekend-mail
45 23 28-31 * * [ "$(date -d tomorrow +\%d)" = 01 ] && /srv/www/bin/close-month
@hourly         /srv/www/bin/collect-stats

# this one never worked
61 25 * * *     /srv/www/bin/broken

# the databases
LOGDIR=/var/log/db
20 1 * * *      mysqldump shop > $LOGDIR/shop.sql
25 1 * * *      mysqldump crm > $LOGDIR/crm.sql
*/10 * * * *    /opt/db/check-replica
0 5 * jan-mar *  /opt/db/vacuum
0 5 * * 1-5     /opt/db/analyze
7 */6 * * *     /opt/db/snapshot
@midnight       /opt/db/expire-tokens
1 0 1 1 *       /opt/db/new-year

# the rest
0 9 * * Mon     echo "good morning"
0 12 * * *      date % this goes to its input
59 23 31 12 *   echo "goodbye"
"#;

fn reading(campanile: &Campanile, arguments: &[&str]) -> Value {
    let mut all = vec!["--zone", "Europe/Berlin", "import", "crontab", "-"];
    all.extend(arguments);
    campanile.cli_reading(&all, CRONTAB).done()
}

fn refused(reading: &Value) -> Vec<(u64, String)> {
    let lines = reading["reading"]["lines"].as_array().expect("lines");
    let refused = lines.iter().filter(|line| line["outcome"]["is"] == "refused");
    refused
        .map(|line| {
            let fault = &line["outcome"]["fault"];
            (line["number"].as_u64().expect("a number"), fault["message"]["en"].as_str().expect("a reason").to_owned())
        })
        .collect()
}

#[test]
fn what_can_be_becomes_jobs_and_what_cannot_is_listed_with_its_line_and_reason() {
    let campanile = Campanile::new();
    let looked_at = reading(&campanile, &["--dry-run"]);
    assert_eq!(looked_at["done"], Value::Null);
    assert_eq!(campanile.cli(&["jobs"]).done(), Value::Array(Vec::new()), "looking makes nothing");

    let expected = CRONTAB.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let expected =
        expected.filter(|line| line.starts_with('@') || line.starts_with(|c: char| c.is_ascii_digit() || c == '*'));
    let expected = expected.count() - 1;

    let imported = reading(&campanile, &[]);
    let wrong = CRONTAB.lines().position(|line| line.starts_with("61 25")).expect("the wrong line") as u64 + 1;
    let refused = refused(&imported);
    assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [wrong]);
    assert!(refused[0].1.contains("61"), "{}", refused[0].1);
    assert_eq!(imported["done"]["jobs"].as_array().map(Vec::len), Some(expected));

    let jobs = campanile.cli(&["jobs"]).done();
    let jobs = jobs.as_array().expect("jobs");
    assert_eq!(jobs.len(), expected);
    let said = campanile.cli(&["export"]);
    assert_eq!(said.code, 0);
    let exported = said.out;
    assert!(exported.contains("Europe/Berlin"), "the times are those of the zone");
    assert!(exported.contains("/opt/backup/run.sh quarterly"));
    assert!(exported.contains("LOGDIR"), "environment lines go with the jobs below them");
    // What an import gets has no retries: cron never made any.
    assert!(!exported.contains("retries: 3"), "{exported}");
    campanile.checks_the_ledger();
}

#[test]
fn what_was_exported_can_be_applied_and_changes_nothing() {
    let campanile = Campanile::new();
    reading(&campanile, &[]);
    let said = campanile.cli(&["export"]);
    let document = match serde_json::from_str::<Value>(&said.out) {
        Ok(Value::Object(view)) if view.contains_key("text") => view["text"].as_str().expect("a text").to_owned(),
        _ => said.out,
    };
    let applied = campanile.cli_reading(&["apply", "-f", "-"], &document).done();
    let jobs = applied["jobs"].as_array().expect("jobs");
    assert!(jobs.len() > 20 && jobs.iter().all(|job| job["change"] == "unchanged"), "{applied}");
}

#[test]
fn a_crontab_of_nothing_but_wrong_lines_is_refused_and_makes_nothing() {
    let campanile = Campanile::new();
    let said = campanile.cli_reading(&["import", "crontab", "-"], "61 * * * * x\n* * * * no\n");
    assert_eq!(said.refused(), (3, "k_sc_ec_000017".to_owned()));
    assert_eq!(campanile.cli(&["jobs"]).done(), Value::Array(Vec::new()));
}
