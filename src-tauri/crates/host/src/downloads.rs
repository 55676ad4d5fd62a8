//! Whole logs and reports, for files: piece by piece, however long they are.
//!
//! A browser saves what an address gives, and an address is kept in its history. So what opens one is a
//! ticket: drawn for one file, good for a minute and for one look.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use campanile_api::views::{LogView, ReportFormat};
use campanile_api::{CallContext, ReportPieces};
use campanile_model::{Code, Fault};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Host;

const GOOD_FOR: Duration = Duration::from_secs(60);

/// Tickets that nobody has used yet; the oldest go first.
const MOST_TICKETS: usize = 100;

const LINES_AT_ONCE: u32 = 5_000;

/// What a person wants saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WantedLog {
    pub task: String,
    pub attempt: u32,
    /// Of the file.
    pub name: String,
}

/// What became of every item of a run that is cut into shards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WantedReport {
    pub instance: String,
    pub format: ReportFormat,
    /// Of the file.
    pub name: String,
}

/// A file of either kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Wanted {
    Log(WantedLog),
    Report(WantedReport),
}

impl Wanted {
    pub fn name(&self) -> &str {
        match self {
            Wanted::Log(log) => &log.name,
            Wanted::Report(report) => &report.name,
        }
    }

    pub(crate) fn content_type(&self) -> &'static str {
        match self {
            Wanted::Log(_) => "text/plain; charset=utf-8",
            Wanted::Report(WantedReport { format: ReportFormat::Csv, .. }) => "text/csv; charset=utf-8",
            Wanted::Report(WantedReport { format: ReportFormat::Xlsx, .. }) => {
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            }
        }
    }

    /// Begins it; what is refused is refused here.
    pub async fn pieces(&self, host: &Host, cx: &CallContext) -> Result<Pieces, Fault> {
        Ok(match self {
            Wanted::Log(log) => Pieces::Log(LogText::new(log)),
            Wanted::Report(report) => {
                Pieces::Report(Box::new(host.api().report(&report.instance, report.format, cx).await?))
            }
        })
    }
}

/// A file on its way.
pub enum Pieces {
    Log(LogText),
    Report(Box<ReportPieces>),
}

impl Pieces {
    /// The next piece; none after the last.
    pub async fn next(&mut self, host: &Host, cx: &CallContext) -> Result<Option<Vec<u8>>, Fault> {
        match self {
            Pieces::Log(text) => Ok(text.next(host, cx).await?.map(String::into_bytes)),
            Pieces::Report(report) => report.next(host.api()).await,
        }
    }
}

#[derive(Default)]
pub struct Downloads(Mutex<HashMap<String, (Wanted, CallContext, Instant)>>);

impl Downloads {
    pub fn offer(&self, wanted: Wanted, cx: CallContext) -> String {
        let drawn: [u8; 16] = rand::random();
        let ticket: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|_, (_, _, since)| since.elapsed() < GOOD_FOR);
        if tickets.len() >= MOST_TICKETS {
            let oldest = tickets.iter().min_by_key(|(_, (_, _, since))| *since).map(|(ticket, _)| ticket.clone());
            oldest.map(|oldest| tickets.remove(&oldest));
        }
        tickets.insert(ticket.clone(), (wanted, cx, Instant::now()));
        ticket
    }

    /// What it is good for, and for whom.
    pub fn take(&self, ticket: &str) -> Option<(Wanted, CallContext)> {
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (wanted, cx, since) = tickets.remove(ticket)?;
        (since.elapsed() < GOOD_FOR).then_some((wanted, cx))
    }
}

/// A log as text: `2026-11-21T07:30:00.120Z stdout …`, a line each.
pub struct LogText {
    task: String,
    attempt: u32,
    from: Option<u64>,
}

impl LogText {
    pub fn new(wanted: &WantedLog) -> LogText {
        LogText { task: wanted.task.clone(), attempt: wanted.attempt, from: Some(0) }
    }

    /// The next piece; none after the last.
    pub async fn next(&mut self, host: &Host, cx: &CallContext) -> Result<Option<String>, Fault> {
        let Some(from) = self.from else { return Ok(None) };
        let input = json!({"task": self.task, "attempt": self.attempt, "from": from, "limit": LINES_AT_ONCE});
        let page = host.call("read_log", input, cx).await?;
        let page: LogView =
            serde_json::from_value(page).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
        self.from = (!page.at_end && !page.lines.is_empty()).then_some(page.next);
        let mut text = String::new();
        for line in &page.lines {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{} {} {}", line.at, line.stream, line.text);
        }
        Ok(Some(text))
    }
}

/// What a file may be called on any system.
pub fn file_name(wanted: &str) -> String {
    let name: String = wanted
        .chars()
        .map(|letter| if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' ') { letter } else { '_' })
        .take(120)
        .collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() { "log.txt".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use campanile_api::Lang;
    use campanile_model::request::{Person, Role};

    use super::*;

    #[test]
    fn a_ticket_is_good_for_one_look() {
        let downloads = Downloads::default();
        let wanted = WantedLog { task: "t".to_owned(), attempt: 1, name: "a.log".to_owned() };
        let who = Person { name: "mei".to_owned(), role: Role::Viewer };
        let ticket = downloads.offer(Wanted::Log(wanted), CallContext { who, zone: String::new(), lang: Lang::Zh });
        let (wanted, cx) = downloads.take(&ticket).expect("it is good");
        assert!(matches!(wanted, Wanted::Log(log) if log.task == "t"));
        assert_eq!((cx.who.name.as_str(), cx.lang), ("mei", Lang::Zh));
        assert!(downloads.take(&ticket).is_none());
        assert!(downloads.take("other").is_none());
    }

    #[test]
    fn what_is_wanted_is_told_apart_by_what_it_names() {
        let read = |text: &str| serde_json::from_str::<Wanted>(text).ok();
        let log = r#"{"task": "t", "attempt": 1, "name": "a.log"}"#;
        assert!(matches!(read(log), Some(Wanted::Log(_))));
        let report = r#"{"instance": "i", "format": "xlsx", "name": "a.xlsx"}"#;
        assert!(matches!(read(report), Some(Wanted::Report(report)) if report.format == ReportFormat::Xlsx));
        assert!(read(r#"{"name": "a.log"}"#).is_none());
    }

    #[test]
    fn a_file_is_called_what_any_system_takes() {
        for (wanted, name) in
            [("a.log", "a.log"), ("../../etc/x", "_.._etc_x"), ("日报\r\n: 1.log", "日报___ 1.log"), ("..", "log.txt")]
        {
            assert_eq!(file_name(wanted), name);
        }
    }
}
