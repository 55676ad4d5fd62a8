//! Logs of tasks, in files: one for each attempt, in a folder for each minute in which tasks were made.
//!
//! A line is `<milliseconds> <stream> <text>`. Where it is kept follows from the task's id alone, so
//! nothing has to be looked up, and no folder holds more than a minute's tasks. An attempt that
//! writes too much is cut off, and its log says so.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use campanile_engine::logs::{LogLine, LogPage, LogStream, Logs};
use campanile_model::{Code, Fault, TaskId, Timestamp};

/// A longer line is cut, with a mark.
const LONGEST_LINE: usize = 64 * 1024;

/// Of one attempt; what comes after is not kept.
const LARGEST_LOG: u64 = 64 * 1024 * 1024;

/// Of one page, whatever the number of its lines.
const LARGEST_PAGE: u64 = 4 * 1024 * 1024;

#[derive(Clone)]
pub struct FileLogs {
    shelf: Arc<Shelf>,
}

struct Shelf {
    root: PathBuf,
    largest: u64,
    /// Lines of an attempt that could not be written, until its log can say so.
    lost: Mutex<HashMap<(TaskId, u32), u64>>,
}

impl FileLogs {
    /// The folder is made when the first line comes.
    pub fn new(root: PathBuf) -> FileLogs {
        FileLogs { shelf: Arc::new(Shelf { root, largest: LARGEST_LOG, lost: Mutex::default() }) }
    }

    async fn shelve<T: Send + 'static>(&self, act: impl FnOnce(&Shelf) -> T + Send + 'static) -> Option<T> {
        let shelf = self.shelf.clone();
        tokio::task::spawn_blocking(move || act(&shelf)).await.ok()
    }
}

#[async_trait]
impl Logs for FileLogs {
    async fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]) {
        let lines = lines.to_vec();
        self.shelve(move |shelf| {
            let count = lines.len() as u64;
            if let Err(error) = shelf.append(task, attempt, &lines) {
                tracing::warn!(%task, attempt, lines = count, %error, "lines of a log cannot be written");
                *shelf.lost().entry((task, attempt)).or_default() += count;
            }
        })
        .await;
    }

    async fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> Result<LogPage, Fault> {
        let unavailable = move |reason: String| Code::LogUnavailable.fault().with("task", task).with("reason", reason);
        match self.shelve(move |shelf| shelf.read(task, attempt, from, limit)).await {
            Some(Ok(page)) => Ok(page),
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => {
                Ok(LogPage { at_end: true, ..LogPage::default() })
            }
            Some(Err(error)) => Err(unavailable(error.to_string())),
            None => Err(unavailable("the program is ending".to_owned())),
        }
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

impl Shelf {
    fn lost(&self) -> std::sync::MutexGuard<'_, HashMap<(TaskId, u32), u64>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// By the minute that the id was made in: `2026-11-21/0730`.
    fn folder(&self, task: TaskId) -> PathBuf {
        let bytes = task.bytes();
        let millis = bytes[..6].iter().fold(0_i64, |millis, byte| millis << 8 | i64::from(*byte));
        // `2026-11-21T07:30:00Z`
        let text = Timestamp::from_millis(millis - millis.rem_euclid(1000)).to_string();
        match (text.get(..10), text.get(11..13), text.get(14..16)) {
            (Some(day), Some(hour), Some(minute)) => self.root.join(day).join(format!("{hour}{minute}")),
            _ => self.root.join("undated"),
        }
    }

    fn file(&self, task: TaskId, attempt: u32) -> PathBuf {
        self.folder(task).join(format!("{task}.{attempt}.log"))
    }

    fn append(&self, task: TaskId, attempt: u32, lines: &[LogLine]) -> io::Result<()> {
        let path = self.file(task, attempt);
        let mut options = OpenOptions::new();
        options.append(true).create(true).read(true);
        let mut file = match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(self.folder(task))?;
                options.open(&path)?
            }
            opened => opened?,
        };
        let size = file.metadata()?.len();
        if size >= self.largest {
            return Ok(());
        }
        let mut text = Vec::new();
        if !ends_with_line_break(&mut file, size)? {
            // A write was cut off in the middle.
            text.push(b'\n');
        }
        let lost = self.lost().get(&(task, attempt)).copied();
        if let (Some(lost), Some(first)) = (lost, lines.first()) {
            let said = format!("[campanile: {lost} lines could not be written / 有 {lost} 行未能写入]");
            put_line(&mut text, first.at, LogStream::Log, &said);
        }
        for line in lines {
            for part in line.text.split('\n') {
                put_line(&mut text, line.at, line.stream, part);
            }
            if size + text.len() as u64 >= self.largest {
                let said = format!(
                    "[campanile: the log has reached {0} MB; what follows is not kept / 日志已达 {0} MB，其后的内容不再保留]",
                    self.largest / 1024 / 1024
                );
                put_line(&mut text, line.at, LogStream::Log, &said);
                break;
            }
        }
        file.write_all(&text)?;
        if lost.is_some() {
            self.lost().remove(&(task, attempt));
        }
        Ok(())
    }

    fn read(&self, task: TaskId, attempt: u32, from: i64, limit: usize) -> io::Result<LogPage> {
        let mut file = File::open(self.file(task, attempt))?;
        let size = file.metadata()?.len();
        let start = match u64::try_from(from) {
            Ok(offset) => offset.min(size),
            Err(_) => size.saturating_sub(from.unsigned_abs()),
        };
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::new(file.take(size - start));
        let mut next = start;
        if from < 0 && start > 0 {
            // Into the middle of a line, most likely.
            next += reader.read_until(b'\n', &mut Vec::new())? as u64;
        }
        let mut lines = Vec::new();
        let begun = next;
        let mut raw = Vec::new();
        let mut not_whole = 0;
        while lines.len() < limit && next - begun < LARGEST_PAGE {
            raw.clear();
            let read = reader.read_until(b'\n', &mut raw)? as u64;
            // A line that is not whole yet is read when it is.
            if raw.last() != Some(&b'\n') {
                not_whole = read;
                break;
            }
            next += read;
            raw.pop();
            lines.extend(read_line(&String::from_utf8_lossy(&raw)));
        }
        Ok(LogPage { lines, next, at_end: next + not_whole >= size })
    }

    fn attempts(&self, task: TaskId) -> io::Result<Vec<u32>> {
        let prefix = format!("{task}.");
        let entries = match fs::read_dir(self.folder(task)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut attempts = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let attempt: Option<u32> =
                name.to_str().and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(".log")?.parse().ok());
            attempts.extend(attempt);
        }
        attempts.sort_unstable();
        Ok(attempts)
    }

    fn remove(&self, tasks: &[TaskId]) -> io::Result<()> {
        let mut by_folder: BTreeMap<PathBuf, HashSet<String>> = BTreeMap::new();
        for task in tasks {
            by_folder.entry(self.folder(*task)).or_default().insert(task.to_string());
        }
        self.lost().retain(|(task, _), _| !tasks.contains(task));
        for (folder, tasks) in by_folder {
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let of = name.to_str().and_then(|name| name.split('.').next()).unwrap_or_default();
                if tasks.contains(of) {
                    remove_file(&entry.path())?;
                }
            }
            remove_if_empty(&folder)?;
        }
        Ok(())
    }

    fn purge(&self, before: Timestamp, most_bytes: u64) -> io::Result<()> {
        let before = UNIX_EPOCH + Duration::from_millis(u64::try_from(before.millis()).unwrap_or(0));
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        let mut folders = Vec::new();
        for day in folders_in(&self.root)? {
            for minute in folders_in(&day)? {
                for entry in fs::read_dir(&minute)? {
                    let entry = entry?;
                    let Ok(found) = entry.metadata() else { continue };
                    let written = found.modified().unwrap_or(UNIX_EPOCH);
                    match written < before {
                        true => remove_file(&entry.path())?,
                        false => kept.push((written, found.len(), entry.path())),
                    }
                }
                folders.push(minute);
            }
            folders.push(day);
        }
        let mut bytes: u64 = kept.iter().map(|(_, size, _)| size).sum();
        if bytes > most_bytes {
            kept.sort();
            for (_, size, path) in kept {
                if bytes <= most_bytes {
                    break;
                }
                remove_file(&path)?;
                bytes -= size;
            }
        }
        folders.iter().try_for_each(|folder| remove_if_empty(folder))
    }
}

fn ends_with_line_break(file: &mut File, size: u64) -> io::Result<bool> {
    if size == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(size - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn put_line(to: &mut Vec<u8>, at: Timestamp, stream: LogStream, text: &str) {
    to.extend_from_slice(format!("{} {} ", at.millis(), stream.name()).as_bytes());
    if text.len() <= LONGEST_LINE {
        to.extend_from_slice(text.as_bytes());
    } else {
        let mut cut = LONGEST_LINE;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        to.extend_from_slice(&text.as_bytes()[..cut]);
        let said = format!(" [campanile: {0} bytes cut off / 截去 {0} 字节]", text.len() - cut);
        to.extend_from_slice(said.as_bytes());
    }
    to.push(b'\n');
}

/// None for what is not a line of ours, such as one that was cut off by a full disk.
fn read_line(raw: &str) -> Option<LogLine> {
    let (at, rest) = raw.split_once(' ')?;
    let (stream, text) = rest.split_once(' ')?;
    let stream = [LogStream::Stdout, LogStream::Stderr, LogStream::Log].into_iter().find(|one| one.name() == stream)?;
    Some(LogLine { at: Timestamp::from_millis(at.parse().ok()?), stream, text: text.to_owned() })
}

fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn remove_if_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: i64 = 1_795_000_000_000;

    fn task(n: u8) -> TaskId {
        TaskId::new(BEGAN, [n; 10])
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
    async fn a_log_that_grows_too_large_ends_with_a_word_about_it() {
        let (folder, _) = logs();
        let shelf = Shelf { root: folder.path().join("logs"), largest: 2000, lost: Mutex::default() };
        for _ in 0..100 {
            shelf.append(task(1), 1, &[line(LogStream::Stdout, &"x".repeat(100))]).expect("it is written");
        }
        let page = shelf.read(task(1), 1, 0, 1000).expect("a page");
        assert!(page.lines.len() < 25, "{}", page.lines.len());
        assert!(page.lines.last().is_some_and(|last| last.text.contains("not kept")));
        let said = page.lines.iter().filter(|line| line.stream == LogStream::Log).count();
        assert_eq!(said, 1, "it is said once");
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
        let path = logs.shelf.file(task(1), 1);
        let mut file = OpenOptions::new().append(true).open(path).expect("the file");
        file.write_all(b"1795000000005 std").expect("half a line");
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        assert_eq!((page.lines.len(), page.at_end), (1, true));
        logs.append(task(1), 1, &[line(LogStream::Stdout, "after")]).await;
        let page = logs.read(task(1), 1, 0, 10).await.expect("a page");
        assert_eq!(page.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["whole", "after"]);
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
