//! A crontab, as people paste it: what each line says, and the job it becomes.
//!
//! Follows what Vixie cron and its children do: environment lines hold for what stands below them,
//! a `%` ends the command and begins its input, names and `@daily` and its kin are known. The
//! column for a user, which only the system's own crontab has, is recognised where a comment names
//! it or every line has one.

use std::collections::{BTreeMap, HashSet};

use campanile_model::job::JobSpec;
use campanile_model::job_check::schedule_fault;
use campanile_model::request::SaveJob;
use campanile_model::schedule::{Cron, Schedule};
use campanile_model::{Almanac, Code, Fault, Timestamp, Words, template};
use serde_json::{Map, Value, json};

use crate::views::*;
use crate::{Api, CallContext, input};

/// What a line is.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    Blank,
    Environment,
    Job(Box<JobSpec>),
    Refused(Fault),
}

impl Api {
    pub(crate) async fn read_crontab(&self, crontab: CrontabInput, cx: &CallContext) -> Result<CrontabReading, Fault> {
        let lines = self.crontab_lines(&crontab).await?;
        let told = self.told(cx)?;
        let now = self.now();
        let mut reading = CrontabReading { lines: Vec::new(), jobs: 0, refused: 0 };
        for (index, (text, line)) in lines.into_iter().enumerate() {
            let outcome = match line {
                Line::Blank => CrontabOutcome::Blank,
                Line::Environment => CrontabOutcome::Environment,
                Line::Refused(fault) => {
                    reading.refused += 1;
                    CrontabOutcome::Refused { fault }
                }
                Line::Job(spec) => {
                    reading.jobs += 1;
                    let plan = spec.schedule.plan(&self.almanac(), now).ok();
                    CrontabOutcome::Job {
                        words: spec.schedule.words(&self.almanac()),
                        command: spec.parameters["command"].as_str().unwrap_or_default().to_owned(),
                        next: plan.and_then(|plan| plan.next_after(now)).map(|next| told.moment(next)),
                        name: spec.name,
                    }
                }
            };
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            reading.lines.push(CrontabLine { number, text, outcome });
        }
        Ok(reading)
    }

    pub(crate) async fn import_crontab(&self, crontab: CrontabInput, cx: &CallContext) -> Result<DoneView, Fault> {
        let lines = self.crontab_lines(&crontab).await?;
        let mut jobs = Vec::new();
        for (index, (_, line)) in lines.into_iter().enumerate() {
            let wanted =
                crontab.lines.as_ref().is_none_or(|lines| lines.iter().any(|line| *line as usize == index + 1));
            match line {
                Line::Job(spec) if wanted => {
                    let (faults, _) = self.faults_of(&spec, None).await?;
                    if let Some(fault) = faults.into_iter().next() {
                        return Err(on_line(fault, index + 1));
                    }
                    jobs.push(SaveJob { spec: *spec, job: None, seen_version: None });
                }
                // Asked for by number, so the reason is worth more than silence.
                Line::Refused(fault) if wanted && crontab.lines.is_some() => return Err(on_line(fault, index + 1)),
                _ => {}
            }
        }
        if jobs.is_empty() {
            return Err(Code::CrontabRefused.fault());
        }
        self.save_all(jobs, cx).await
    }

    async fn crontab_lines(&self, crontab: &CrontabInput) -> Result<Vec<(String, Line)>, Fault> {
        let zone = self.zone(crontab.zone.as_deref().unwrap_or_default())?;
        let mut lines = read(&crontab.text, zone.name(), &self.almanac(), self.now());
        let mut taken: HashSet<String> = HashSet::new();
        for (_, line) in &mut lines {
            let Line::Job(spec) = line else { continue };
            let base = spec.name.clone();
            let mut number = 1;
            while taken.contains(&spec.name) || self.store().job_named(&spec.name).await?.is_some() {
                number += 1;
                spec.name = format!("{base}-{number}");
            }
            taken.insert(spec.name.clone());
        }
        Ok(lines)
    }
}

fn on_line(mut fault: Fault, number: usize) -> Fault {
    fault.message =
        Words::new(format!("line {number}: {}", fault.message.en), format!("第 {number} 行：{}", fault.message.zh));
    fault
}

/// What holds for the lines below.
#[derive(Default)]
struct Surroundings {
    environment: BTreeMap<String, String>,
    shell: Option<String>,
    zone: Option<String>,
}

/// Reads a crontab line by line. Names are made from commands and may stand more than once.
fn read(text: &str, zone: &str, almanac: &Almanac, now: Timestamp) -> Vec<(String, Line)> {
    let has_user = has_user_column(text);
    let mut around = Surroundings::default();
    text.lines()
        .map(|raw| {
            let raw = raw.trim_end_matches('\r');
            let line = raw.trim();
            let read = if line.is_empty() || line.starts_with('#') {
                Line::Blank
            } else if let Some((name, value)) = assignment(line) {
                around.set(&name, value);
                Line::Environment
            } else {
                match job(line, &around, zone, has_user, almanac, now) {
                    Ok(spec) => Line::Job(Box::new(spec)),
                    Err(fault) => Line::Refused(fault),
                }
            };
            (raw.to_owned(), read)
        })
        .collect()
}

impl Surroundings {
    fn set(&mut self, name: &str, value: String) {
        match name {
            "SHELL" => self.shell = Some(value),
            "CRON_TZ" => self.zone = Some(value),
            // Alarms say what mail said.
            "MAILTO" | "MAILFROM" => {}
            _ => {
                self.environment.insert(name.to_owned(), value);
            }
        }
    }
}

/// `NAME = value`, with quotes around either, as cron takes it.
fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = unquoted(name.trim());
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let is_name = begins && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| (name.to_owned(), unquoted(value.trim()).to_owned()))
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

/// Accounts that a command is never called.
const ACCOUNTS: [&str; 6] = ["root", "www-data", "nobody", "daemon", "postgres", "ubuntu"];

fn has_user_column(text: &str) -> bool {
    let named = text.lines().filter_map(|line| line.trim().strip_prefix('#')).any(|comment| {
        let words: Vec<&str> = comment.split_whitespace().collect();
        words
            .windows(3)
            .any(|three| three[0] == "dow" && three[1].starts_with("user") && three[2].starts_with("command"))
            || words.windows(2).any(|two| two[0] == "user-name" && two[1].starts_with("command"))
    });
    let mut jobs = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && assignment(line).is_none())
        .filter_map(|line| split_times(line).map(|(_, rest)| rest))
        .peekable();
    let all = jobs.peek().is_some()
        && jobs.all(|rest| {
            let mut words = rest.split_whitespace();
            words.next().is_some_and(|word| ACCOUNTS.contains(&word)) && words.next().is_some()
        });
    named || all
}

/// The expression, and what follows it.
fn split_times(line: &str) -> Option<(String, &str)> {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let mut rest = line;
    let mut times: Vec<&str> = Vec::new();
    for _ in 0..fields {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        if field.is_empty() {
            return None;
        }
        times.push(field);
        rest = after;
    }
    Some((times.join(" "), rest.trim_start()))
}

fn job(
    line: &str,
    around: &Surroundings,
    zone: &str,
    has_user: bool,
    almanac: &Almanac,
    now: Timestamp,
) -> Result<JobSpec, Fault> {
    if line.starts_with("@reboot") {
        let feature = Words::new("@reboot (running when the machine starts)", "@reboot（开机时运行）");
        return Err(Code::NotYet.fault().with_words("feature", &feature));
    }
    let (expression, mut rest) = split_times(line)
        .ok_or_else(|| wrong("five fields of times and a command are needed", "需要五个时间字段和一条命令"))?;
    let zone = around.zone.as_deref().unwrap_or(zone);
    let schedule = Schedule::Cron(Cron::unix(expression, zone));
    // A time that cron can express once a year may lie ahead; one that never comes is refused here.
    schedule.plan(almanac, now).map_err(|error| schedule_fault(&error))?;

    let mut user = None;
    if has_user {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        user = Some(name);
        rest = after.trim_start();
    }
    if rest.is_empty() {
        return Err(wrong("the command is missing", "缺少命令"));
    }
    let (command, stdin) = split_input(rest);
    if command.trim().is_empty() {
        return Err(wrong("the command is missing", "缺少命令"));
    }

    let mut parameters = Map::new();
    let name = name_of(&command);
    let command_line = template::escaped(&with_input(&command, stdin.as_deref()));
    parameters.insert("command".into(), Value::String(command_line));
    if !around.environment.is_empty() {
        parameters.insert("environment".into(), json!(around.environment));
    }
    if let Some(shell) = &around.shell {
        parameters.insert("shell".into(), Value::String(shell.clone()));
    }
    let description = match user {
        Some(user) => format!("{line} (of {user})"),
        None => line.to_owned(),
    };
    input::read_spec(&json!({
        "name": name,
        "description": description.chars().filter(|letter| !letter.is_control()).take(500).collect::<String>(),
        "schedule": serde_json::to_value(&schedule).unwrap_or_default(),
        "processor": "shell",
        "parameters": parameters,
        "tags": ["crontab"],
        // As cron does: every time starts its own process, and nothing is tried again.
        "overlap": "allow",
        "misfire": {"policy": "skip"},
        "retry": {"retries": 0},
    }))
}

fn wrong(en: &str, zh: &str) -> Fault {
    Code::BadRequest.fault().with_words("reason", &Words::new(en, zh))
}

/// The command, and the lines of its input where a `%` begins them. `\%` is a plain `%`.
fn split_input(rest: &str) -> (String, Option<String>) {
    let mut parts = vec![String::new()];
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'%') => {
                letters.next();
                parts.last_mut().expect("never empty").push('%');
            }
            '%' => parts.push(String::new()),
            letter => parts.last_mut().expect("never empty").push(letter),
        }
    }
    let command = parts.remove(0);
    let stdin = (!parts.is_empty()).then(|| parts.join("\n"));
    (command.trim_end().to_owned(), stdin)
}

/// Cron ends the input with a line break.
fn with_input(command: &str, stdin: Option<&str>) -> String {
    match stdin {
        None => command.to_owned(),
        Some(stdin) => format!("printf '%s\\n' '{}' | (\n{command}\n)", stdin.replace('\'', r"'\''")),
    }
}

/// Programs that run another one.
const WRAPPERS: [&str; 22] = [
    "sudo", "env", "nice", "ionice", "nohup", "time", "timeout", "flock", "exec", "chronic", "setsid", "stdbuf",
    "bash", "sh", "zsh", "python", "python3", "perl", "php", "ruby", "node", "java",
];

/// Such as `backup` for `cd /srv && /usr/local/bin/backup.sh --full > /dev/null 2>&1`.
fn name_of(command: &str) -> String {
    let mut parts = command.split("&&").flat_map(|part| part.split([';', '|'])).map(str::trim);
    let passed_over = |part: &&str| {
        ["cd", "test", "[", "[[", "export", "source", ".", "umask", "command", "set", "true"]
            .contains(&part.split_whitespace().next().unwrap_or_default())
    };
    let part = parts.clone().find(|part| !part.is_empty() && !passed_over(part)).or_else(|| parts.next());
    let words = part.unwrap_or(command).split_whitespace();
    let mut chosen = "";
    for word in words {
        let word = word.trim_matches(['"', '\'', '(', ')', '{', '}', '`']);
        let plain = !word.is_empty()
            && !word.starts_with(['-', '>', '<', '$', '&'])
            && !word.contains('=')
            && !word.chars().all(|letter| letter.is_ascii_digit() || ".:smhd".contains(letter));
        if !plain {
            continue;
        }
        chosen = word;
        let base = word.rsplit('/').next().unwrap_or(word);
        let lock = word.ends_with(".lock") || word.ends_with(".pid");
        if !WRAPPERS.contains(&base) && !lock {
            break;
        }
    }
    let base = chosen.rsplit('/').find(|part| !part.is_empty()).unwrap_or(chosen);
    let stem = match base.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 4 && ending.chars().all(char::is_alphanumeric) => {
            stem
        }
        _ => base,
    };
    let mut name = String::new();
    for letter in stem.chars() {
        if letter.is_alphanumeric() || letter == '_' || letter == '.' {
            name.extend(letter.to_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.trim_matches(['-', '.']).chars().take(60).collect();
    if name.is_empty() { "cron-job".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn lines(text: &str) -> Vec<Line> {
        read(text, "Asia/Shanghai", &Almanac::bundled(), NOW).into_iter().map(|(_, line)| line).collect()
    }

    fn only_job(text: &str) -> JobSpec {
        match lines(text).pop() {
            Some(Line::Job(spec)) => *spec,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn times_of_every_form_become_schedules() {
        let table = [
            ("*/5 * * * * date", "*/5 * * * *"),
            ("0 9-17/2 * * mon-fri date", "0 9-17/2 * * mon-fri"),
            ("0\t0\t1,15\tjan,JUL\t* date", "0 0 1,15 jan,JUL *"),
            ("  30 4 * * 7   date", "30 4 * * 7"),
            ("@daily date", "@daily"),
            ("@hourly date", "@hourly"),
            ("@midnight date", "@midnight"),
            ("@weekly date", "@weekly"),
            ("@monthly date", "@monthly"),
            ("@yearly date", "@yearly"),
            ("@annually date", "@annually"),
        ];
        for (line, expression) in table {
            let Schedule::Cron(cron) = only_job(line).schedule else { panic!("{line}") };
            assert_eq!(cron.expression, expression, "{line}");
            assert_eq!(cron.time_zone, "Asia/Shanghai", "{line}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_a_job_says_why() {
        let table = [
            ("@reboot date", Code::NotYet),
            ("61 * * * * date", Code::ScheduleInvalid),
            ("0 0 30 feb * date", Code::ScheduleNeverFires),
            ("0 5 * * date", Code::ScheduleInvalid), // the command stands where the weekday should
            ("0 5 * *", Code::BadRequest),
            ("0 5 * * *", Code::BadRequest),
            ("0 5 * * * %input only", Code::BadRequest),
            ("@sometimes date", Code::ScheduleInvalid),
            ("hello world", Code::BadRequest),
            ("CRON_TZ=Mars/Olympus\n0 5 * * * date", Code::UnknownZone),
        ];
        for (line, code) in table {
            match lines(line).pop() {
                Some(Line::Refused(fault)) => assert!(fault.is(code), "{line}: {fault}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn environment_lines_go_with_the_jobs_below_them() {
        let text = "0 1 * * * first\nPATH=/opt/bin:/bin\nSHELL = /bin/bash\nMAILTO=\"ops@example.com\"\nGREETING='hello there'\nCRON_TZ=UTC\n0 2 * * * second";
        let read = lines(text);
        assert_eq!(read.iter().filter(|line| **line == Line::Environment).count(), 5);
        let (Line::Job(first), Line::Job(second)) = (&read[0], &read[6]) else { panic!("{read:?}") };
        assert!(!first.parameters.contains_key("environment"));
        assert_eq!(second.parameters["environment"], json!({"GREETING": "hello there", "PATH": "/opt/bin:/bin"}));
        assert_eq!(second.parameters["shell"], "/bin/bash");
        assert_eq!(second.schedule.time_zone(), Some("UTC"));
    }

    #[test]
    fn a_percent_sign_begins_the_input_of_the_command() {
        let command = |line: &str| only_job(line).parameters["command"].as_str().map(str::to_owned);
        assert_eq!(command(r"0 0 * * * date +\%F").as_deref(), Some("date +%F"));
        assert_eq!(
            command("0 0 * * * mail -s hi joe%Dear Joe,%it's late").as_deref(),
            Some("printf '%s\\n' 'Dear Joe,\nit'\\''s late' | (\nmail -s hi joe\n)")
        );
    }

    #[test]
    fn a_column_of_users_is_seen_for_what_it_is() {
        let system = "# m h dom mon dow user\tcommand\n17 * * * * root cd / && run-parts --report /etc/cron.hourly";
        assert_eq!(only_job(system).parameters["command"], "cd / && run-parts --report /etc/cron.hourly");
        assert_eq!(only_job("0 1 * * * root /bin/a\n0 2 * * * www-data /bin/b").parameters["command"], "/bin/b");
        assert_eq!(only_job("0 1 * * * root /bin/a\n0 2 * * * backup").parameters["command"], "backup");
    }

    #[test]
    fn jobs_are_called_after_their_commands() {
        let table = [
            ("/usr/local/bin/backup.sh --full > /dev/null 2>&1", "backup"),
            ("cd /srv/app && ./manage.py send_mail", "manage"),
            ("/usr/bin/php /var/www/cron.php", "cron"),
            ("flock -n /tmp/sync.lock /opt/sync/run-sync", "run-sync"),
            ("FOO=bar nice -n 10 /opt/x/Report_Daily.pl", "report_daily"),
            ("[ -x /usr/sbin/logrotate ] && logrotate /etc/logrotate.conf", "logrotate"),
            ("/opt/数据/同步.sh", "同步"),
            ("$HOME/bin/x", "cron-job"),
            ("bash", "bash"),
        ];
        for (command, name) in table {
            assert_eq!(name_of(command), name, "{command}");
        }
    }
}
