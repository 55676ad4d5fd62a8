//! Logs of tasks, in files, for whoever writes and reads them without waiting for the disk on the spot.
//!
//! What a file looks like, and which files there are, is the shelf's; that other nodes have parts of them, the team's.

pub(crate) mod neighbours;
pub(crate) mod passes;
mod shelf;
pub(crate) mod team;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use campanile_engine::logs::{LogLine, LogPage, Logs};
use campanile_model::{Code, Fault, TaskId, Timestamp};

use shelf::{Of, Shelf};

#[derive(Clone)]
pub struct FileLogs {
    shelf: Arc<Shelf>,
}

impl FileLogs {
    /// The folder is made when the first line comes.
    pub fn new(root: PathBuf) -> FileLogs {
        FileLogs { shelf: Arc::new(Shelf::new(root)) }
    }

    async fn append_to(&self, of: Of, lines: &[LogLine]) {
        let lines = lines.to_vec();
        self.shelve(move |shelf| {
            let count = lines.len() as u64;
            if let Err(error) = shelf.append(of, &lines) {
                tracing::warn!(task = %of.task, of.attempt, lines = count, %error, "lines of a log cannot be written");
                shelf.lost(of, count);
            }
        })
        .await;
    }

    async fn read_part(&self, of: Of, from: i64, limit: usize) -> Result<LogPage, Fault> {
        let unavailable =
            move |reason: String| Code::LogUnavailable.fault().with("task", of.task).with("reason", reason);
        match self.shelve(move |shelf| shelf.read(of, from, limit)).await {
            Some(Ok(page)) => Ok(page),
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => {
                Ok(LogPage { at_end: true, ..LogPage::default() })
            }
            Some(Err(error)) => Err(unavailable(error.to_string())),
            None => Err(unavailable("the program is ending".to_owned())),
        }
    }

    /// Whether any of its lines are here.
    async fn has(&self, of: Of) -> bool {
        self.shelve(move |shelf| shelf.has(of)).await.unwrap_or(false)
    }

    async fn shelve<T: Send + 'static>(&self, act: impl FnOnce(&Shelf) -> T + Send + 'static) -> Option<T> {
        let shelf = self.shelf.clone();
        tokio::task::spawn_blocking(move || act(&shelf)).await.ok()
    }
}

#[async_trait]
impl Logs for FileLogs {
    async fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]) {
        self.append_to(Of { task, attempt, part: 0 }, lines).await;
    }

    async fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> Result<LogPage, Fault> {
        self.read_part(Of { task, attempt, part: 0 }, from, limit).await
    }

    async fn attempts(&self, task: TaskId) -> Result<Vec<u32>, Fault> {
        let found = self.shelve(move |shelf| shelf.attempts(task)).await.unwrap_or(Ok(Vec::new()));
        found.map_err(|error| Code::LogUnavailable.fault().with("task", task).with("reason", error))
    }

    async fn remove(&self, tasks: &[TaskId]) {
        let tasks = tasks.to_vec();
        self.shelve(move |shelf| {
            if let Err(error) = shelf.remove(&tasks) {
                tracing::warn!(%error, "logs of purged tasks cannot be removed");
            }
        })
        .await;
    }

    async fn purge(&self, before: Timestamp, most_bytes: u64) {
        self.shelve(move |shelf| {
            if let Err(error) = shelf.purge(before, most_bytes) {
                tracing::warn!(%error, "old logs cannot be removed");
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use campanile_engine::logs::LogStream;

    use super::shelf::LONGEST_LINE;
    use super::*;

    const BEGAN: i64 = 1_795_000_000_000;

    fn task(n: u8) -> TaskId {
        TaskId::new(BEGAN, [n; 10])
    }

    fn first() -> Of {
        Of { task: task(1), attempt: 1, part: 0 }
    }

    fn line(stream: LogStream, text: &str) -> LogLine {
        LogLine { at: Timestamp::from_millis(BEGAN + 5), stream, text: text.to_owned() }
    }

    fn logs() -> (tempfile::TempDir, FileLogs) {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = FileLogs::new(folder.path().join("logs"));
        (folder, logs)
    }

    #[tokio::test]
    async fn what_was_written_is_read_back_page_by_page() {
        let (_folder, logs) = logs();
        let written = [
            line(LogStream::Stdout, "one"),
            line(LogStream::Stderr, "  two, with spaces  "),
            line(LogStream::Log, ""),
            line(LogStream::Stdout, "四 🔔"),
        ];
        logs.append(task(1), 1, &written[..3]).await;
        logs.append(task(1), 1, &written[3..]).await;
        logs.append(task(1), 3, &written[..1]).await;
        logs.append(task(2), 1, &written[..1]).await;

        let first = logs.read(task(1), 1, 0, 2).await.expect("a page");
        assert_eq!((first.lines.as_slice(), first.at_end), (&written[..2], false));
        let rest = logs.read(task(1), 1, i64::try_from(first.next).expect("small"), 100).await.expect("a page");
        assert_eq!((rest.lines.as_slice(), rest.at_end), (&written[2..], true));
        let nothing_new = logs.read(task(1), 1, i64::try_from(rest.next).expect("small"), 100).await.expect("a page");
        assert_eq!((nothing_new.lines.len(), nothing_new.next, nothing_new.at_end), (0, rest.next, true));
        let end = logs.read(task(1), 1, -40, 100).await.expect("a page");
        assert_eq!(end.lines, &written[3..]);
        assert_eq!(logs.attempts(task(1)).await.expect("attempts"), [1, 3]);
        assert!(logs.read(task(9), 1, 0, 10).await.expect("a page").at_end, "a log that does not exist is empty");
    }

    #[tokio::test]
    async fn a_line_of_five_megabytes_is_cut_and_says_so() {
        let (_folder, logs) = logs();
        logs.append(task(1), 1, &[line(LogStream::Stdout, &"钟".repeat(2_000_000)), line(LogStream::Stdout, "next")])
            .await;
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        assert!(page.lines[0].text.len() < LONGEST_LINE + 100);
        assert!(page.lines[0].text.ends_with("字节]"), "{}", &page.lines[0].text[LONGEST_LINE - 10..]);
        assert_eq!(page.lines[1].text, "next");
    }

    #[tokio::test]
    async fn a_log_that_grows_too_large_keeps_its_beginning_and_its_end_and_counts_what_is_between() {
        let (folder, _) = logs();
        let root = folder.path().join("logs");
        let shelf = Shelf::of_small_segments(root.clone(), 1000);
        let whole = |shelf: &Shelf| {
            let mut lines = Vec::new();
            let mut from = 0;
            loop {
                let page = shelf.read(first(), from, 7).expect("a page");
                assert_eq!(page.lines.len(), page.starts.len());
                lines.extend(page.lines);
                from = i64::try_from(page.next).expect("small");
                if page.at_end {
                    return lines;
                }
            }
        };
        for n in 0..400 {
            shelf.append(first(), &[line(LogStream::Stdout, &format!("line {n} {}", "x".repeat(80)))]).expect("ok");
        }
        let lines = whole(&shelf);
        assert!(lines[0].text.starts_with("line 0 "), "{}", lines[0].text);
        assert!(lines.last().is_some_and(|last| last.text.starts_with("line 399 ")), "{:?}", lines.last());
        let said: Vec<&LogLine> = lines.iter().filter(|line| line.stream == LogStream::Log).collect();
        assert_eq!(said.len(), 1, "it is said once, where they stood");
        let left_out = 400 - (lines.len() - 1);
        assert!(said[0].text.contains(&format!("{left_out} lines")), "{left_out}: {}", said[0].text);
        assert!((60..100).contains(&lines.len()), "{} lines are kept", lines.len());
        assert_eq!(shelf.attempts(task(1)).expect("attempts"), [1]);

        // After a restart it goes on where it was, and a place still means the same.
        let again = Shelf::of_small_segments(root.clone(), 1000);
        again.append(first(), &[line(LogStream::Stdout, "after")]).expect("ok");
        assert_eq!(whole(&again).last().map(|last| last.text.as_str()), Some("after"));
        let end = again.read(first(), -2500, 1000).expect("a page");
        assert!((15..35).contains(&end.lines.len()) && end.at_end, "{}", end.lines.len());
        let third = i64::try_from(end.starts[2]).expect("small");
        assert_eq!(again.read(first(), third, 1).expect("a page").lines[0], end.lines[2]);

        again.remove(&[task(1)]).expect("it goes");
        assert_eq!(fs::read_dir(&root).map_or(0, |left| left.flatten().count()), 1, "the day's folder alone");
    }

    #[tokio::test]
    async fn lines_that_could_not_be_written_are_counted_in_the_log() {
        let (folder, logs) = logs();
        // A file stands where the folder should be.
        fs::write(folder.path().join("logs"), "").expect("a file");
        logs.append(task(1), 1, &[line(LogStream::Stdout, "a"), line(LogStream::Stdout, "b")]).await;
        fs::remove_file(folder.path().join("logs")).expect("it goes");
        logs.append(task(1), 1, &[line(LogStream::Stdout, "c")]).await;
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        let texts: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        assert!(texts[0].contains("2 lines could not be written"), "{texts:?}");
        assert_eq!(texts[1..], ["c"]);
    }

    #[tokio::test]
    async fn half_a_line_is_not_shown_and_harms_no_other() {
        let (_folder, logs) = logs();
        logs.append(task(1), 1, &[line(LogStream::Stdout, "whole")]).await;
        let path = logs.shelf.file(first(), 0);
        let mut file = OpenOptions::new().append(true).open(path).expect("the file");
        file.write_all(b"1795000000005 std").expect("half a line");
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        assert_eq!((page.lines.len(), page.at_end), (1, true));
        logs.append(task(1), 1, &[line(LogStream::Stdout, "after")]).await;
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        assert_eq!(page.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["whole", "after"]);
    }

    #[tokio::test]
    async fn parts_of_an_attempt_lie_apart_and_go_together() {
        let (_folder, logs) = logs();
        let second = Of { part: 3, ..first() };
        logs.append(task(1), 1, &[line(LogStream::Stdout, "first")]).await;
        logs.append_to(second, &[line(LogStream::Stdout, "third")]).await;
        logs.append_to(Of { attempt: 2, ..second }, &[line(LogStream::Stdout, "of another attempt")]).await;
        let texts = async |of| {
            let page = logs.read_part(of, 0, 10).await.expect("a page");
            page.lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
        };
        assert_eq!((texts(first()).await, texts(second).await), (vec!["first".to_owned()], vec!["third".to_owned()]));
        assert_eq!(logs.attempts(task(1)).await.expect("attempts"), [1, 2]);
        assert!(logs.has(second).await && !logs.has(Of { part: 1, ..first() }).await);
        logs.remove(&[task(1)]).await;
        assert!(logs.attempts(task(1)).await.expect("attempts").is_empty());
    }

    #[tokio::test]
    async fn what_is_purged_leaves_no_folder_behind() {
        let (folder, logs) = logs();
        for n in 0..4 {
            logs.append(task(n), 1, &[line(LogStream::Stdout, "some text")]).await;
        }
        logs.remove(&[task(0), task(1)]).await;
        assert!(logs.attempts(task(0)).await.expect("attempts").is_empty());
        assert_eq!(logs.attempts(task(2)).await.expect("attempts"), [1]);
        logs.purge(Timestamp::EPOCH, 0).await;
        assert!(logs.attempts(task(2)).await.expect("attempts").is_empty(), "more bytes than there may be");
        let left = fs::read_dir(folder.path().join("logs")).expect("a folder").count();
        assert_eq!(left, 0);
    }
}
