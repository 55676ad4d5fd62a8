//! What can be typed, with its help in both languages.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use campanile_host::config::Flags;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Parser, Subcommand};

use crate::said::Lang;

#[derive(Debug, Parser)]
#[command(name = "campanile", version, about = "Tells executors to run work at given times.")]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Line {
    /// The data folder; the desktop app's own where absent.
    #[arg(long, global = true, env = "CAMPANILE_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Write JSON, for programs to read.
    #[arg(long, global = true)]
    pub json: bool,
    /// Language of what is written: zh or en. By LANG where absent.
    #[arg(long, global = true, value_name = "LANG")]
    pub lang: Option<Lang>,
    /// Zone that times are told in, such as Asia/Shanghai; this machine's where absent.
    #[arg(long, global = true, value_name = "ZONE")]
    pub zone: Option<String>,
    /// Configuration; campanile.toml in the data folder where absent.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Drive the engine without a window, and open the console to a browser on this machine.
    Serve(Serve),
    /// Show the next runs of a job or of a schedule.
    Preview(Preview),
    /// Move one run of a job, this and the following ones, or all.
    Reschedule(Reschedule),
    /// Run the times that a job had in a stretch of the past.
    Backfill(Backfill),
    /// Make the jobs what a file says they are.
    Apply(Apply),
    /// Write jobs as a file for `apply`.
    Export(Export),
    /// List jobs.
    Jobs(Jobs),
    /// Run jobs now.
    Run(Run),
    /// List runs.
    Runs(Runs),
    /// Save what became of every item of a run that is cut into shards.
    Report(Report),
    /// List tasks.
    Tasks(Tasks),
    /// Show what a task wrote.
    Logs(Logs),
    /// Say why a run or a task ran when it did, why it waits, or why a job did not fire.
    Why(Why),
    /// List executors.
    Executors,
    /// List the locks that tasks hold and wait for.
    Locks,
    /// Give an executor nothing new; what it runs goes on.
    Drain(Drain),
    /// Let an executor that was drained take work again.
    Undrain(Undrain),
    /// Keep values that only executors can read.
    Secret(Secret),
    /// List alarms that are open.
    Alarms(Alarms),
    /// Acknowledge alarms.
    Ack(Ack),
    /// Check that no firing was lost or doubled; fails where one was.
    Ledger,
    /// Show which zone data times are planned by, or take in newer data.
    Zones(ZonesArguments),
    /// Working-day calendars: list, show, import, export.
    Calendar(CalendarArguments),
    /// Make jobs of what another scheduler has.
    Import(Import),
    /// Stop a run.
    Cancel(OfShards),
    /// Try a run again that failed or was cancelled.
    Retry(OfShards),
    /// Start nothing more until it is released.
    Hold(Hold),
    /// Go on after a hold.
    Release,
    /// Keep jobs from firing.
    Pause(OfJobs),
    /// Let paused jobs fire again.
    Resume(OfJobs),
    /// Remove jobs; their history stays.
    Remove(OfJobs),
    /// Show who changed what.
    Audit(Audit),
    /// Make, list and revoke what executors and programs are let in by.
    Token(Token),
    /// Make certificates for nodes and executors.
    Certs(Certs),
    /// Show every key of the configuration with its value and where that comes from.
    Config,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Port of the console; any that is free where absent or 0.
    #[arg(long)]
    pub port: Option<u16>,
    /// Address of the console; on any but 127.0.0.1, where it is if absent, it takes TLS.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<IpAddr>,
    /// Where consoles and other nodes find this node, as host:port.
    #[arg(long, value_name = "HOST:PORT")]
    pub http_advertise: Option<String>,
    /// Certificate of the console, PEM; without it the node makes one for itself.
    #[arg(long, value_name = "FILE", requires = "http_key")]
    pub http_cert: Option<PathBuf>,
    /// Key of the console's certificate, PEM.
    #[arg(long, value_name = "FILE", requires = "http_cert")]
    pub http_key: Option<PathBuf>,
    /// Let jobs run shell commands on this machine.
    #[arg(long)]
    pub allow_shell: bool,
    /// Tasks that run here at once; twice the cores where absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub capacity: Option<u32>,
    /// Let executors of other processes join at this address, such as 127.0.0.1:4610.
    #[arg(long, value_name = "ADDR")]
    pub executors: Option<SocketAddr>,
    /// Where executors find this node, as host:port; told to those that join.
    #[arg(long, value_name = "HOST:PORT")]
    pub advertise: Option<String>,
    /// Certificate for executors' connections, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Key of the certificate, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Executors must show a certificate that this authority has signed, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub client_ca: Option<PathBuf>,
    /// Let executors of other machines join without TLS, where the network itself is safe.
    #[arg(long, conflicts_with = "tls_cert")]
    pub without_tls: bool,
}

impl Serve {
    /// What of the configuration these say, by key.
    pub fn flags(&self) -> Flags {
        let path = |path: &PathBuf| path.display().to_string();
        let said = [
            ("http.port", "--port", self.port.map(|port| port.to_string())),
            ("http.listen", "--listen", self.listen.map(|address| address.to_string())),
            ("http.advertise", "--http-advertise", self.http_advertise.clone()),
            ("http.certificate", "--http-cert", self.http_cert.as_ref().map(path)),
            ("http.key", "--http-key", self.http_key.as_ref().map(path)),
            ("embedded.allow_shell", "--allow-shell", self.allow_shell.then(|| true.to_string())),
            ("embedded.capacity", "--capacity", self.capacity.map(|capacity| capacity.to_string())),
            ("executors.listen", "--executors", self.executors.map(|address| address.to_string())),
            ("executors.advertise", "--advertise", self.advertise.clone()),
            ("executors.certificate", "--tls-cert", self.tls_cert.as_ref().map(path)),
            ("executors.key", "--tls-key", self.tls_key.as_ref().map(path)),
            ("executors.client_ca", "--client-ca", self.client_ca.as_ref().map(path)),
            ("executors.without_tls", "--without-tls", self.without_tls.then(|| true.to_string())),
        ];
        said.into_iter().filter_map(|(key, flag, text)| Some((key, flag, text?))).collect()
    }
}

#[derive(Debug, Args)]
pub struct Preview {
    /// A job's name.
    #[arg(required_unless_present = "schedule", conflicts_with = "schedule")]
    pub job: Option<String>,
    /// A schedule, as JSON; needs no data folder. With --data it goes by the calendars of that folder.
    #[arg(long, value_name = "JSON")]
    pub schedule: Option<String>,
    /// What else of a job decides its times, as JSON with the fields of a job: exceptions, effectiveFrom, spreadSeconds
    /// and so on.
    #[arg(long, value_name = "JSON", requires = "schedule")]
    pub policies: Option<String>,
    /// The working-day calendar that the schedule goes by.
    #[arg(long, value_name = "NAME", requires = "schedule")]
    pub calendar: Option<String>,
    /// Runs after this time (RFC 3339 or epoch milliseconds); now where absent.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub count: u32,
}

#[derive(Debug, Args)]
pub struct Reschedule {
    /// A job's name.
    pub job: String,
    /// The planned time of the run (RFC 3339 or epoch milliseconds).
    #[arg(long, value_name = "TIME")]
    pub occurrence: String,
    /// Where it is moved to.
    #[arg(long, value_name = "TIME")]
    pub to: String,
    /// this: this run alone; following: this and those after it; all: from the next run on.
    #[arg(long, value_name = "SCOPE", default_value = "this", value_parser = ["this", "following", "all"])]
    pub scope: String,
    /// Say what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Backfill {
    /// A job's name.
    #[arg(required_unless_present_any = ["list", "cancel"])]
    pub job: Option<String>,
    /// The first of the times to run is planned then or later (RFC 3339 or epoch milliseconds).
    #[arg(long, value_name = "TIME", required_unless_present_any = ["list", "cancel"])]
    pub from: Option<String>,
    /// Times planned before this; now where absent.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Say how many runs it would make, and make none.
    #[arg(long)]
    pub dry_run: bool,
    /// List backfills and how far they have come.
    #[arg(long, conflicts_with_all = ["from", "to", "dry_run", "cancel"])]
    pub list: bool,
    /// Make no more runs of this backfill; those that are made go on.
    #[arg(long, value_name = "ID", conflicts_with_all = ["job", "from", "to", "dry_run"])]
    pub cancel: Option<String>,
}

#[derive(Debug, Args)]
pub struct Apply {
    /// YAML or JSON; - reads the standard input.
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Say what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Names; all jobs where absent.
    pub jobs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Jobs {
    /// Only those whose name, tag or tenant has this.
    pub text: Option<String>,
    /// Only those with this tag.
    #[arg(long)]
    pub tag: Option<String>,
    /// Only paused ones.
    #[arg(long)]
    pub paused: bool,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Names.
    #[arg(required = true)]
    pub jobs: Vec<String>,
    /// A parameter for this run alone: NAME=VALUE, the value as JSON where it is some.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    pub param: Vec<(String, String)>,
    /// Do not wait for earlier runs of the job.
    #[arg(long)]
    pub beside: bool,
    /// Lets this executor of the job's group run it, and no other.
    #[arg(long, value_name = "NAME")]
    pub executor: Option<String>,
    /// Wait for the end; fails where a run does.
    #[arg(long)]
    pub wait: bool,
    /// Run a job that is cut into shards with the items of this file (CSV, Excel or JSON), and follow it; `--data FILE`
    /// means the same where FILE is no folder.
    #[arg(long, value_name = "FILE", conflicts_with = "wait")]
    pub data_file: Option<PathBuf>,
    /// The column, or the field of JSON items, that says the level of an item; without it all are of one level.
    #[arg(long, value_name = "NAME", requires = "data_file")]
    pub level_column: Option<String>,
    /// The sheet of a workbook; the first one where absent.
    #[arg(long, value_name = "NAME", requires = "data_file")]
    pub sheet: Option<String>,
    /// What the file is written in, such as gbk; found where absent.
    #[arg(long, value_name = "NAME", requires = "data_file")]
    pub encoding: Option<String>,
    /// The first row is an item too; columns are called A, B, C and so on.
    #[arg(long, requires = "data_file")]
    pub headerless: bool,
    /// Start the run with the file, and do not follow it.
    #[arg(long, requires = "data_file")]
    pub no_wait: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// The id of a run that is cut into shards.
    pub run: String,
    /// A file that ends in .csv or .xlsx; - writes CSV to the standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `run --data FILE` means the items of a file. Where it names a folder it is the data folder, as with every command.
pub fn with_items(typed: Vec<String>, is_folder: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut verb = None;
    let mut words = typed.into_iter().peekable();
    let mut told = Vec::new();
    while let Some(word) = words.next() {
        let is_first = told.is_empty();
        let takes_value = matches!(word.as_str(), "--data" | "--lang" | "--zone");
        if verb.as_deref() == Some("run") {
            let named = match word.strip_prefix("--data=") {
                Some(path) => Some(path.to_owned()),
                None if word == "--data" => words.peek().cloned(),
                None => None,
            };
            if let Some(path) = named.filter(|path| !is_folder(Path::new(path))) {
                if word == "--data" {
                    words.next();
                }
                told.push("--data-file".to_owned());
                told.push(path);
                continue;
            }
        }
        let is_verb = verb.is_none() && !is_first && !word.starts_with('-');
        if is_verb {
            verb = Some(word.clone());
        }
        told.push(word);
        if takes_value && verb.is_none() {
            told.extend(words.next());
        }
    }
    told
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("NAME=VALUE".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct Runs {
    /// Only those of this job.
    pub job: Option<String>,
    /// Only those in this state: waiting, running, succeeded, failed, cancelled, superseded.
    #[arg(long)]
    pub state: Vec<String>,
    /// Only those with a task that this executor has, or had last.
    #[arg(long, value_name = "[GROUP/]NAME")]
    pub executor: Option<String>,
    /// How many, newest first.
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
}

#[derive(Debug, Args)]
pub struct Tasks {
    /// Only those with this code, such as 302.
    #[arg(long)]
    pub state: Vec<u16>,
    /// Only those that this executor has, or had last.
    #[arg(long, value_name = "[GROUP/]NAME")]
    pub executor: Option<String>,
    /// How many, newest first.
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
}

#[derive(Debug, Args)]
pub struct Logs {
    /// The id of a task, or of a run.
    pub task: String,
    /// Go on until the task has ended.
    #[arg(short, long)]
    pub follow: bool,
    /// Which attempt; the last one where absent.
    #[arg(long)]
    pub attempt: Option<u32>,
}

#[derive(Debug, Args)]
pub struct Why {
    /// The id of a run or of a task; or, with --at, a job's name.
    pub what: String,
    /// A time of the job: 2026-11-21T09:30 in --zone, RFC 3339, or epoch milliseconds.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

#[derive(Debug, Args)]
pub struct Drain {
    /// The executor's name.
    pub name: String,
    /// Its group.
    #[arg(long, default_value = "local")]
    pub group: String,
    /// Why, for those who see it.
    #[arg(long, default_value = "")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct Undrain {
    /// The executor's name.
    pub name: String,
    /// Its group.
    #[arg(long, default_value = "local")]
    pub group: String,
}

#[derive(Debug, Args)]
pub struct Secret {
    #[command(subcommand)]
    pub what: SecretVerb,
}

#[derive(Debug, Subcommand)]
pub enum SecretVerb {
    /// Seal a value for the executors of a group. It is read from the standard input, not from the line.
    Set(SecretSet),
    /// List the names of secrets.
    List,
    /// Forget a secret.
    Remove(OfSecret),
    /// Make a key for the executors of a group.
    Keygen(Keygen),
}

#[derive(Debug, Args)]
pub struct SecretSet {
    /// What jobs call it: ${secret:NAME}.
    pub name: String,
    /// The executor group that may open it.
    #[arg(long, default_value = "local")]
    pub group: String,
    /// The group's public key in hexadecimal; what its executors registered where absent.
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

#[derive(Debug, Args)]
pub struct OfSecret {
    /// Its name.
    pub name: String,
    /// The executor group that it is for.
    #[arg(long, default_value = "local")]
    pub group: String,
}

#[derive(Debug, Args)]
pub struct Keygen {
    /// The file that the key is written to; its executors read it there.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct Alarms {
    /// Those that are over, too.
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct Ack {
    /// Ids of alarms.
    #[arg(required = true)]
    pub alarms: Vec<String>,
    /// What you know, or what you will do.
    #[arg(long)]
    pub note: String,
}

#[derive(Debug, Args)]
pub struct ZonesArguments {
    #[command(subcommand)]
    pub verb: Option<ZonesVerb>,
}

#[derive(Debug, Subcommand)]
pub enum ZonesVerb {
    /// Plan by newer data from now on; no restart is needed.
    Import(ImportZones),
}

#[derive(Debug, Args)]
pub struct ImportZones {
    /// Compiled zones with their tzdata.zi: /usr/share/zoneinfo, or the folder of the Python package tzdata.
    pub folder: PathBuf,
    /// Only say which times would change.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct CalendarArguments {
    #[command(subcommand)]
    pub verb: CalendarVerb,
}

#[derive(Debug, Subcommand)]
pub enum CalendarVerb {
    /// List calendars.
    List,
    /// Show the days of a year that depart from the week.
    Show(ShowCalendar),
    /// Read an .ics or CSV file into a calendar.
    Import(ImportCalendarArguments),
    /// Write a calendar as .ics or CSV.
    Export(ExportCalendarArguments),
}

#[derive(Debug, Args)]
pub struct ShowCalendar {
    /// A calendar's name, such as cn.
    pub name: String,
    /// The year; this one where absent.
    #[arg(long)]
    pub year: Option<u16>,
}

#[derive(Debug, Args)]
pub struct ImportCalendarArguments {
    /// An .ics or CSV file; - reads the standard input.
    pub file: PathBuf,
    /// The calendar; one that is not there is made.
    #[arg(long)]
    pub name: String,
    /// The layer whose days of the same years are replaced.
    #[arg(long, default_value = "country")]
    pub layer: String,
    /// Only say what would change.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ExportCalendarArguments {
    /// A calendar's name, such as cn.
    pub name: String,
    /// CSV instead of .ics.
    #[arg(long)]
    pub csv: bool,
    /// Only this year.
    #[arg(long)]
    pub year: Option<u16>,
}

#[derive(Debug, Args)]
pub struct Import {
    #[command(subcommand)]
    pub from: ImportFrom,
}

#[derive(Debug, Subcommand)]
pub enum ImportFrom {
    /// Make a job of each line of a crontab.
    Crontab(Crontab),
}

#[derive(Debug, Args)]
pub struct Crontab {
    /// A crontab; - reads the standard input. Its times are those of --zone.
    pub file: PathBuf,
    /// Say what each line would become, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct OfShards {
    /// The id of a run.
    pub run: String,

    /// Of a run that is cut into shards these alone: the level, and the shard or the first and the last.
    #[arg(long, value_name = "LEVEL:FROM-TO", value_delimiter = ',')]
    pub shards: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Hold {
    /// Why, for those who see it.
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct OfJobs {
    /// Names.
    #[arg(required = true)]
    pub jobs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// How many, newest first.
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
}

#[derive(Debug, Args)]
pub struct Token {
    #[command(subcommand)]
    pub what: TokenVerb,
}

#[derive(Debug, Subcommand)]
pub enum TokenVerb {
    /// Make a token; it is shown once.
    Make(MakeToken),
    /// List tokens.
    List,
    /// Take a token away; who came in by it is turned out.
    Revoke(OfToken),
}

#[derive(Debug, Args)]
pub struct MakeToken {
    /// What it lets in: executor:GROUP, or run:JOB where JOB may have stars.
    #[arg(long, value_name = "SCOPE")]
    pub scope: String,
    /// For whom it is.
    #[arg(long)]
    pub note: Option<String>,
}

#[derive(Debug, Args)]
pub struct OfToken {
    /// The id of a token.
    pub token: String,
}

#[derive(Debug, Args)]
pub struct Certs {
    #[command(subcommand)]
    pub what: CertsVerb,
}

#[derive(Debug, Subcommand)]
pub enum CertsVerb {
    /// Make an authority, a certificate for the node and one for an executor.
    Make(MakeCerts),
}

#[derive(Debug, Args)]
pub struct MakeCerts {
    /// Folder for the files; an authority that is there signs again.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name or address by which executors reach the node.
    #[arg(long, value_name = "NAME", required = true)]
    pub host: Vec<String>,
    /// What the executor's certificate is called.
    #[arg(long, value_name = "NAME", default_value = "executor")]
    pub executor: String,
}

/// Of each command: what it is in Chinese, and an example.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("serve", "无窗口运行引擎，并在本机浏览器中打开控制台。", "campanile serve --port 4600 --allow-shell"),
    (
        "preview",
        "查看任务或调度的后续执行时间。",
        r#"campanile preview --schedule '{"kind": "cron", "expression": "30 2 * * *", "timeZone": "Europe/Berlin"}' --count 5"#,
    ),
    (
        "reschedule",
        "移动任务的一次执行、这一次及之后的执行，或全部执行。",
        "campanile reschedule nightly-report --occurrence 2026-12-01T02:00:00+08:00 --to 2026-12-01T03:30:00+08:00 \
         --scope following --dry-run",
    ),
    (
        "backfill",
        "补跑任务在过去一段时间内的执行。",
        "campanile backfill nightly-report --from 2026-11-01T00:00:00+08:00 --to 2026-11-08T00:00:00+08:00 --dry-run",
    ),
    ("apply", "使任务与文件中的描述一致。", "campanile apply -f jobs.yaml --dry-run"),
    ("export", "将任务写成可供 apply 使用的文件。", "campanile export > jobs.yaml"),
    ("jobs", "列出任务。", "campanile jobs report --tag nightly"),
    ("run", "立即运行任务。", "campanile run nightly-report --param command='report --day today' --wait"),
    ("report", "保存分片运行中每一项的结果。", "campanile report 019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013 -o out.xlsx"),
    ("runs", "列出执行记录。", "campanile runs nightly-report --state failed"),
    ("tasks", "列出作业。", "campanile tasks --state 302"),
    ("logs", "查看作业的输出。", "campanile logs 019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013 --follow"),
    (
        "why",
        "说明一次运行或作业为何此时执行、为何等待，或任务为何没有触发。",
        "campanile why nightly-report --at 2026-11-21T02:30",
    ),
    ("executors", "列出执行器。", "campanile executors"),
    ("locks", "列出作业持有和等待的锁。", "campanile locks --json"),
    ("drain", "不再向执行器分配新作业；正在运行的继续。", "campanile drain build-7 --group etl --reason 'new disk'"),
    ("undrain", "让已排空的执行器重新接收作业。", "campanile undrain build-7 --group etl"),
    ("secret", "保管只有执行器能读取的值。", "campanile secret list"),
    (
        "secret set",
        "为一个执行器组加密保存一个值。值从标准输入读取，不写在命令行上。",
        "campanile secret set api-token < token.txt",
    ),
    ("secret list", "列出密钥值的名称。", "campanile secret list"),
    ("secret remove", "删除一个密钥值。", "campanile secret remove api-token"),
    ("secret keygen", "为一个执行器组生成密钥对。", "campanile secret keygen --out etl.key"),
    ("alarms", "列出未恢复的告警。", "campanile alarms --all"),
    ("ack", "确认告警。", "campanile ack 019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013 --note 'disk is being extended'"),
    ("ledger", "核对是否有触发丢失或重复；如有则以失败退出。", "campanile ledger && echo clean"),
    ("zones", "查看时区数据的版本，或导入更新的数据。", "campanile zones"),
    (
        "zones import",
        "此后按更新的时区数据计划；无需重启。",
        "pip install --target /tmp/tz tzdata && campanile zones import /tmp/tz --dry-run",
    ),
    ("calendar", "工作日历：列出、查看、导入、导出。", "campanile calendar list"),
    ("calendar list", "列出日历。", "campanile calendar list"),
    ("calendar show", "查看一年中与每周规律不同的日期。", "campanile calendar show cn --year 2026"),
    (
        "calendar import",
        "将 .ics 或 CSV 文件读入日历。",
        "campanile calendar import holidays.ics --name acme --dry-run",
    ),
    ("calendar export", "将日历写成 .ics 或 CSV。", "campanile calendar export cn --csv --year 2026"),
    ("import", "从其他调度器导入任务。", "crontab -l | campanile import crontab -"),
    ("crontab", "将 crontab 的每一行转换为任务。", "crontab -l | campanile import crontab - --dry-run"),
    ("cancel", "停止一次运行。", "campanile cancel 019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013"),
    ("retry", "重试失败或已取消的运行。", "campanile retry 019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013 --shards 0:3,0:7-9"),
    ("hold", "全部暂停：在恢复之前不再开始任何作业。", "campanile hold 'database is being moved'"),
    ("release", "结束全部暂停。", "campanile release"),
    ("pause", "暂停任务的触发。", "campanile pause nightly-report"),
    ("resume", "恢复任务的触发。", "campanile resume nightly-report"),
    ("remove", "删除任务；历史记录保留。", "campanile remove old-report"),
    ("audit", "查看谁做了哪些更改。", "campanile audit --limit 20 --json"),
    ("token", "创建、列出和撤销执行器与程序使用的令牌。", "campanile token list"),
    ("token make", "创建令牌；只显示一次。", "campanile token make --scope executor:billing --note 'billing servers'"),
    ("token list", "列出令牌。", "campanile token list"),
    ("token revoke", "撤销令牌；凭它接入者将被断开。", "campanile token revoke 5f0c81d2a94e"),
    ("config", "显示每个配置项的值及其来源。", "campanile config --config /etc/campanile/campanile.toml"),
    ("certs", "为节点和执行器制作证书。", "campanile certs make --out certs --host node-1.example"),
    (
        "certs make",
        "生成 CA、节点证书和执行器证书。",
        "campanile certs make --out certs --host node-1.example --host 10.0.0.5",
    ),
];

/// Of each argument, what it is in Chinese; `command.argument` where the same name means different things.
const ARGUMENTS: &[(&str, &str)] = &[
    ("data", "数据目录；默认使用桌面应用的目录。"),
    ("config", "配置文件；默认使用数据目录中的 campanile.toml。"),
    ("json", "输出 JSON，供程序读取。"),
    ("lang", "输出语言：zh 或 en；默认按 LANG。"),
    ("zone", "显示时间所用的时区，例如 Asia/Shanghai；默认为本机时区。"),
    ("help", "显示帮助。"),
    ("version", "显示版本。"),
    ("port", "控制台的端口；0 表示任一空闲端口。"),
    ("listen", "控制台的监听地址；默认为 127.0.0.1，其他地址一律使用 TLS。"),
    ("http_advertise", "控制台及其他节点访问本节点的地址（主机:端口）。"),
    ("http_cert", "控制台的证书，PEM；未指定时由节点自行生成。"),
    ("http_key", "控制台证书的私钥，PEM。"),
    ("allow_shell", "允许任务在本机运行 Shell 命令。"),
    ("capacity", "在此同时运行的作业数；默认为 CPU 核数的两倍。"),
    ("executors", "允许其他进程中的执行器在此地址接入，例如 127.0.0.1:4610。"),
    ("advertise", "执行器访问本节点的地址（主机:端口），会告知接入的执行器。"),
    ("tls_cert", "执行器连接所用的证书，PEM。"),
    ("tls_key", "证书的私钥，PEM。"),
    ("client_ca", "执行器须出示由该 CA 签发的证书，PEM。"),
    ("without_tls", "允许其他机器的执行器不使用 TLS 接入（仅限网络本身安全时）。"),
    ("scope", "准入范围：executor:组名，或 run:任务名（可含 *）。"),
    ("make.note", "给谁使用。"),
    ("token", "令牌的 ID。"),
    ("out", "存放文件的目录；其中已有的 CA 会继续使用。"),
    ("host", "执行器访问节点所用的名称或地址。"),
    ("executor", "执行器证书的名称。"),
    ("preview.job", "任务名称。"),
    ("schedule", "JSON 形式的调度；不需要数据目录；用 --data 指定目录时按其中的日历计算。"),
    ("policies", "任务中决定时间的其他字段（JSON），例如 exceptions、effectiveFrom、spreadSeconds。"),
    ("calendar", "调度所用的工作日历。"),
    ("reschedule.job", "任务名称。"),
    ("occurrence", "该次执行的计划时间（RFC 3339 或毫秒时间戳）。"),
    ("reschedule.to", "移动到的时间。"),
    ("scope", "this：仅这一次；following：这一次及之后；all：从下一次起全部。"),
    ("backfill.job", "任务名称。"),
    ("backfill.from", "开始时间（含；RFC 3339 或毫秒时间戳）。"),
    ("backfill.to", "结束时间（不含）；默认为现在。"),
    ("list", "列出补跑及其进度。"),
    ("backfill.cancel", "停止该补跑；已生成的执行继续。"),
    ("from", "此时间之后的执行（RFC 3339 或毫秒时间戳）；默认为现在。"),
    ("count", "数量。"),
    ("apply.file", "YAML 或 JSON；- 表示标准输入。"),
    ("crontab.file", "crontab 文件；- 表示标准输入。其时间按 --zone 解释。"),
    ("dry_run", "只说明会发生什么，不做任何更改。"),
    ("name", "日历名称，例如 cn。"),
    ("import.file", ".ics 或 CSV 文件；- 表示标准输入。"),
    ("import.name", "日历；不存在时新建。"),
    ("layer", "同年日期将被替换的层。"),
    ("year", "年份；默认为今年。"),
    ("export.year", "仅此年份。"),
    ("csv", "写成 CSV 而不是 .ics。"),
    ("shards", "分片运行中仅这些分片：层级，以及分片或首尾两个分片。"),
    ("folder", "包含 tzdata.zi 的已编译时区目录：/usr/share/zoneinfo，或 Python 包 tzdata 的目录。"),
    ("export.jobs", "任务名称；默认为全部。"),
    ("jobs", "任务名称。"),
    ("text", "仅显示名称、标签或租户中含有该文字的任务。"),
    ("tag", "仅显示带有该标签的任务。"),
    ("paused", "仅显示已暂停的任务。"),
    ("param", "仅用于本次运行的参数：名称=值；值可为 JSON。"),
    ("beside", "不等待该任务之前的运行。"),
    ("executor", "只由任务所属组中的该执行器运行。"),
    ("wait", "等待结束；若有运行失败则以失败退出。"),
    (
        "data_file",
        "以该文件（CSV、Excel 或 JSON）中的项运行分片任务，并跟踪进度；FILE 不是目录时也可写作 --data FILE。",
    ),
    ("level_column", "表示各项层级的列（或 JSON 字段）；未指定时只有一个层级。"),
    ("sheet", "工作簿中的工作表；默认为第一个。"),
    ("encoding", "文件的编码，例如 gbk；默认自动识别。"),
    ("headerless", "首行也是数据；列名为 A、B、C……"),
    ("no_wait", "以该文件启动运行，不跟踪进度。"),
    ("report.output", ".csv 或 .xlsx 文件；- 表示将 CSV 写到标准输出。"),
    ("job", "仅显示该任务的记录。"),
    ("runs.state", "仅显示该状态：waiting、running、succeeded、failed、cancelled、superseded。"),
    ("tasks.state", "仅显示该代码，例如 302。"),
    ("limit", "数量，最新的在前。"),
    ("task", "作业或执行记录的 ID。"),
    ("follow", "持续显示，直到作业结束。"),
    ("attempt", "第几次尝试；默认为最后一次。"),
    ("all", "包括已恢复的告警。"),
    ("alarms", "告警的 ID。"),
    ("note", "已知情况或处理打算。"),
    ("run", "执行记录的 ID。"),
    ("reason", "原因，供其他人查看。"),
    ("what", "执行记录或作业的 ID；与 --at 一起使用时为任务名称。"),
    ("at", "任务的一个时间：按 --zone 的 2026-11-21T09:30，或 RFC 3339，或毫秒时间戳。"),
    ("drain.name", "执行器名称。"),
    ("undrain.name", "执行器名称。"),
    ("group", "执行器组。"),
    ("set.name", "任务中的写法：${secret:NAME}。"),
    ("remove.name", "名称。"),
    ("key", "该组的公钥（十六进制）；默认使用其执行器登记的公钥。"),
    ("out", "写入密钥的文件；执行器从该文件读取。"),
];

/// The command line with its help in a language.
pub fn command(lang: Lang) -> Command {
    let mut command = Line::command();
    // What is only added when it is built has to be there to be translated.
    command.build();
    let command = told(command, lang, &[]);
    match lang {
        Lang::En => command,
        Lang::Zh => command.about("在给定的时间让执行器完成工作。"),
    }
}

/// `above` are the names of the commands that this one is a part of.
fn told(command: Command, lang: Lang, above: &[String]) -> Command {
    let name = command.get_name().to_owned();
    let path = [above, std::slice::from_ref(&name)].concat();
    let find = |wanted: &str| COMMANDS.iter().find(|(of, _, _)| *of == wanted);
    // Of two of one name, the one that is told with what it is a part of.
    let said = path.get(1..).and_then(|own| find(&own.join(" "))).or_else(|| find(&name));
    let mut command = command;
    if let Some((_, about, example)) = said {
        command = command.after_help(match lang {
            Lang::En => format!("Example:\n  {example}"),
            Lang::Zh => format!("示例：\n  {example}"),
        });
        if lang == Lang::Zh {
            command = command.about(*about).long_about(*about);
        }
    }
    if lang == Lang::Zh {
        command = command
            .subcommand_help_heading("命令")
            .help_template("{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}")
            .mut_args(|argument| in_chinese(&name, argument));
    }
    command.mut_subcommands(|inner| told(inner, lang, &path))
}

fn in_chinese(command: &str, argument: Arg) -> Arg {
    let id = argument.get_id().as_str().to_owned();
    let own = format!("{command}.{id}");
    let find = |id: &str| ARGUMENTS.iter().find(|(of, _)| *of == id).map(|(_, said)| *said);
    let heading = if argument.is_positional() { "参数" } else { "选项" };
    let argument = argument.help_heading(heading);
    match find(&own).or_else(|| find(&id)) {
        Some(said) if !matches!(argument.get_action(), ArgAction::Version) || id == "version" => {
            argument.help(said).long_help(said)
        }
        _ => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        for lang in [Lang::En, Lang::Zh] {
            command(lang).debug_assert();
        }
    }

    #[test]
    fn run_takes_a_file_with_data_and_still_a_data_folder() {
        let table = [
            ("campanile run job --data a.csv", "campanile run job --data-file a.csv"),
            ("campanile run job --data=a.csv --no-wait", "campanile run job --data-file a.csv --no-wait"),
            ("campanile run job --data folder", "campanile run job --data folder"),
            ("campanile --data folder run job --data a.csv", "campanile --data folder run job --data-file a.csv"),
            ("campanile --data new --json run job", "campanile --data new --json run job"),
            ("campanile --data run jobs", "campanile --data run jobs"),
            ("campanile jobs --data a.csv", "campanile jobs --data a.csv"),
            ("campanile run --data", "campanile run --data"),
            ("campanile", "campanile"),
        ];
        for (typed, expected) in table {
            let words = typed.split(' ').map(str::to_owned).collect();
            let told = with_items(words, |path| path == Path::new("folder"));
            assert_eq!(told.join(" "), expected, "{typed}");
        }
    }

    #[test]
    fn every_command_shows_an_example_and_all_of_it_is_in_both_languages() {
        fn look_at(command: &Command, lang: Lang, seen: &mut usize) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                *seen += 1;
                let help = inner.clone().render_help().to_string();
                let example = if lang == Lang::En { "Example:\n  " } else { "示例：\n  " };
                assert!(help.contains(example), "{}:\n{help}", inner.get_name());
                let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
                assert_eq!(about.is_ascii(), lang == Lang::En, "{}: {about}", inner.get_name());
                for argument in inner.get_arguments() {
                    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                    assert_eq!(help.is_ascii(), lang == Lang::En, "{} {}: {help}", inner.get_name(), argument.get_id());
                }
                look_at(inner, lang, seen);
            }
        }
        for lang in [Lang::En, Lang::Zh] {
            let mut seen = 0;
            look_at(&command(lang), lang, &mut seen);
            assert_eq!(seen, COMMANDS.len(), "each command has its line in the table");
        }
    }
}
