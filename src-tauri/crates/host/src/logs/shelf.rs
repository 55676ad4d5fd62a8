//! The files that logs lie in: segments of one attempt, in a folder for each minute in which tasks were made.
//!
//! A line is `<milliseconds> <stream> <text>`. Where it is kept follows from the task's id alone, so
//! nothing has to be looked up, and no folder holds more than a minute's tasks. An attempt that
//! writes too much keeps its beginning and its end: the oldest segment after the first goes, its lines
//! are counted, and the log says so where they stood.
//!
//! Where an attempt's executor has gone from node to node, each of them has parts of the log ([`LogPart`]); a part lies here
//! as a log of its own, and the first of them under the name of the attempt alone.
//!
//! A place in a log is a number that a reader hands back: which segment, and which byte of it.
//!
//! [`LogPart`]: campanile_store::LogPart

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use campanile_engine::logs::{LogLine, LogPage, LogStream};
use campanile_model::{TaskId, Timestamp};

/// A longer line is cut, with a mark.
pub const LONGEST_LINE: usize = 64 * 1024;

/// A segment that has grown so large is followed by another one.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;

/// Of one attempt; what was written between the first and the last of them is let go.
const MOST_SEGMENTS: u64 = 8;

/// Of one page, whatever the number of its lines.
const LARGEST_PAGE: u64 = 4 * 1024 * 1024;

/// A place is the number of a segment times this, and the byte in it.
const PLACES: u64 = 1 << 28;

/// Beyond every place in one part of a log.
pub const PART_ENDS: u64 = PLACES << 17;

/// Attempts whose last segment is remembered; beyond it is looked for anew.
const REMEMBERED: usize = 4_096;

/// Whose lines they are: an attempt's, or one part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Of {
    pub task: TaskId,
    pub attempt: u32,
    pub part: u32,
}

impl Of {
    /// As the names of its files begin.
    fn stem(self) -> String {
        let Of { task, attempt, part } = self;
        match part {
            0 => format!("{task}.{attempt}"),
            more => format!("{task}.{attempt}p{more}"),
        }
    }
}

pub struct Shelf {
    root: PathBuf,
    segment_bytes: u64,
    /// Lines of an attempt that could not be written, until its log can say so.
    lost: Mutex<HashMap<Of, u64>>,
    /// The segment that an attempt writes to.
    last: Mutex<HashMap<Of, u64>>,
}

/// What was let go of an attempt: segments from the second up to before `kept_from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    kept_from: u64,
    lines: u64,
}

impl Default for Gap {
    fn default() -> Gap {
        Gap { kept_from: 1, lines: 0 }
    }
}

impl Shelf {
    pub fn new(root: PathBuf) -> Shelf {
        Shelf { root, segment_bytes: SEGMENT_BYTES, lost: Mutex::default(), last: Mutex::default() }
    }

    #[cfg(test)]
    pub fn of_small_segments(root: PathBuf, segment_bytes: u64) -> Shelf {
        Shelf { segment_bytes, ..Shelf::new(root) }
    }

    /// So many lines could not be written.
    pub fn lost(&self, of: Of, lines: u64) {
        *locked(&self.lost).entry(of).or_default() += lines;
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

    pub fn file(&self, of: Of, segment: u64) -> PathBuf {
        let stem = of.stem();
        self.folder(of.task).join(match segment {
            0 => format!("{stem}.log"),
            more => format!("{stem}.{more}.log"),
        })
    }

    fn gap_file(&self, of: Of) -> PathBuf {
        self.folder(of.task).join(format!("{}.gap", of.stem()))
    }

    pub fn has(&self, of: Of) -> bool {
        self.file(of, 0).exists()
    }

    fn gap(&self, of: Of) -> io::Result<Gap> {
        let text = match fs::read_to_string(self.gap_file(of)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Gap::default()),
            text => text?,
        };
        let mut words = text.split_whitespace().map(str::parse::<u64>);
        match (words.next(), words.next()) {
            (Some(Ok(kept_from)), Some(Ok(lines))) => Ok(Gap { kept_from: kept_from.max(1), lines }),
            // It was cut off while it was written: the segments themselves tell where the rest begins.
            _ => {
                let kept_from = (1..PLACES).take(100_000).find(|at| self.file(of, *at).exists());
                Ok(Gap { kept_from: kept_from.unwrap_or(1), lines: 0 })
            }
        }
    }

    /// The last segment there is; 0 where there is none.
    fn last_segment(&self, of: Of, gap: Gap) -> u64 {
        if !self.file(of, gap.kept_from).exists() {
            return 0;
        }
        (gap.kept_from..).find(|at| !self.file(of, at + 1).exists()).unwrap_or(gap.kept_from)
    }

    pub fn append(&self, of: Of, lines: &[LogLine]) -> io::Result<()> {
        let remembered = locked(&self.last).get(&of).copied();
        let mut segment = match remembered {
            Some(segment) => segment,
            None => self.last_segment(of, self.gap(of)?),
        };
        let mut file = self.opened(of, segment)?;
        let mut size = file.metadata()?.len();
        if size >= self.segment_bytes {
            segment += 1;
            self.make_room(of, segment)?;
            file = self.opened(of, segment)?;
            size = file.metadata()?.len();
        }
        let mut text = Vec::new();
        if !ends_with_line_break(&mut file, size)? {
            // A write was cut off in the middle.
            text.push(b'\n');
        }
        let lost = locked(&self.lost).get(&of).copied();
        if let (Some(lost), Some(first)) = (lost, lines.first()) {
            let said = format!("[campanile: {lost} lines could not be written / 有 {lost} 行未能写入]");
            put_line(&mut text, first.at, LogStream::Log, &said);
        }
        for line in lines {
            for part in line.text.split('\n') {
                put_line(&mut text, line.at, line.stream, part);
            }
        }
        file.write_all(&text)?;
        if lost.is_some() {
            locked(&self.lost).remove(&of);
        }
        let mut last = locked(&self.last);
        if last.len() >= REMEMBERED {
            last.clear();
        }
        last.insert(of, segment);
        Ok(())
    }

    fn opened(&self, of: Of, segment: u64) -> io::Result<File> {
        let path = self.file(of, segment);
        let mut options = OpenOptions::new();
        options.append(true).create(true).read(true);
        match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(self.folder(of.task))?;
                options.open(&path)
            }
            opened => opened,
        }
    }

    /// Before segment `next` is begun: the oldest after the first goes where there are as many as there may be.
    fn make_room(&self, of: Of, next: u64) -> io::Result<()> {
        let mut gap = self.gap(of)?;
        while next - gap.kept_from + 2 > MOST_SEGMENTS && gap.kept_from < next {
            let oldest = self.file(of, gap.kept_from);
            gap.lines += lines_in(&oldest)?;
            gap.kept_from += 1;
            // Written first: a segment that is gone and not told of would end the log for whoever reads it.
            fs::write(self.gap_file(of), format!("{} {}\n", gap.kept_from, gap.lines))?;
            remove_file(&oldest)?;
        }
        Ok(())
    }

    pub fn read(&self, of: Of, from: i64, limit: usize) -> io::Result<LogPage> {
        let gap = self.gap(of)?;
        let mut place = match u64::try_from(from) {
            Ok(place) => place,
            Err(_) => self.place_from_end(of, gap, from.unsigned_abs())?,
        };
        let mut skips_half = from < 0 && place % PLACES > 0;
        let mut page = LogPage::default();
        let mut bytes = 0;
        loop {
            let (segment, offset) = (place / PLACES, place % PLACES);
            if segment > 0 && segment < gap.kept_from {
                let next = gap.kept_from * PLACES;
                let at = self.first_moment(of, gap.kept_from)?;
                let lines = gap.lines;
                let said = format!(
                    "[campanile: {lines} lines were left out here: the log grew too large / 日志过大，此处略去 {lines} 行]"
                );
                page.starts.push(place);
                page.lines.push(LogLine { at, stream: LogStream::Log, text: said });
                place = next;
                continue;
            }
            let file = match File::open(self.file(of, segment)) {
                // A segment is followed by the next, or by the gap.
                Err(error) if error.kind() == ErrorKind::NotFound && segment > 0 => {
                    page.next = place;
                    page.at_end = true;
                    return Ok(page);
                }
                file => file?,
            };
            let size = file.metadata()?.len();
            let read = self.read_segment(file, size, segment, offset.min(size), limit, &mut page, skips_half, bytes)?;
            skips_half = false;
            bytes += read.bytes;
            place = segment * PLACES + read.offset;
            let whole = read.offset + read.not_whole >= size;
            let more = self.follower(of, segment, gap);
            if page.lines.len() >= limit || bytes >= LARGEST_PAGE || (whole && more.is_none()) {
                page.next = place;
                page.at_end = whole && more.is_none();
                return Ok(page);
            }
            match more {
                // What is not whole in a segment that has been left never will be.
                Some(next) if whole => place = next * PLACES,
                _ => {
                    page.next = place;
                    return Ok(page);
                }
            }
        }
    }

    /// The segment to read after this one, or where the gap stands.
    fn follower(&self, of: Of, segment: u64, gap: Gap) -> Option<u64> {
        let next = segment + 1;
        let exists = next < gap.kept_from || self.file(of, next).exists();
        exists.then_some(next)
    }

    #[allow(clippy::too_many_arguments)]
    fn read_segment(
        &self,
        mut file: File,
        size: u64,
        segment: u64,
        start: u64,
        limit: usize,
        page: &mut LogPage,
        skips_half: bool,
        read_before: u64,
    ) -> io::Result<ReadSegment> {
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::new(file.take(size - start));
        let mut next = start;
        if skips_half {
            // Into the middle of a line, most likely.
            next += reader.read_until(b'\n', &mut Vec::new())? as u64;
        }
        let mut raw = Vec::new();
        let mut not_whole = 0;
        let begun = next;
        while page.lines.len() < limit && read_before + (next - begun) < LARGEST_PAGE {
            raw.clear();
            let read = reader.read_until(b'\n', &mut raw)? as u64;
            // A line that is not whole yet is read when it is.
            if raw.last() != Some(&b'\n') {
                not_whole = read;
                break;
            }
            let place = segment * PLACES + next;
            next += read;
            raw.pop();
            if let Some(line) = read_line(&String::from_utf8_lossy(&raw)) {
                page.starts.push(place);
                page.lines.push(line);
            }
        }
        Ok(ReadSegment { offset: next, not_whole, bytes: next - begun })
    }

    /// So many bytes before the end.
    fn place_from_end(&self, of: Of, gap: Gap, bytes: u64) -> io::Result<u64> {
        let mut left = bytes;
        let mut segment = self.last_segment(of, gap);
        loop {
            let size = fs::metadata(self.file(of, segment))?.len();
            if size >= left {
                return Ok(segment * PLACES + (size - left));
            }
            left -= size;
            match segment {
                0 => return Ok(0),
                first if first == gap.kept_from => segment = 0,
                _ => segment -= 1,
            }
        }
    }

    fn first_moment(&self, of: Of, segment: u64) -> io::Result<Timestamp> {
        let mut line = String::new();
        match File::open(self.file(of, segment)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Timestamp::EPOCH),
            file => BufReader::new(file?.take(64)).read_line(&mut line).ok(),
        };
        let at = line.split(' ').next().and_then(|at| at.parse().ok());
        Ok(at.map_or(Timestamp::EPOCH, Timestamp::from_millis))
    }

    pub fn attempts(&self, task: TaskId) -> io::Result<Vec<u32>> {
        let prefix = format!("{task}.");
        let entries = match fs::read_dir(self.folder(task)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut attempts = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let attempt: Option<u32> = name.to_str().and_then(|name| {
                let rest = name.strip_prefix(&prefix)?.strip_suffix(".log")?;
                rest.split(['.', 'p']).next()?.parse().ok()
            });
            attempts.extend(attempt);
        }
        attempts.sort_unstable();
        attempts.dedup();
        Ok(attempts)
    }

    pub fn remove(&self, tasks: &[TaskId]) -> io::Result<()> {
        let mut by_folder: BTreeMap<PathBuf, HashSet<String>> = BTreeMap::new();
        for task in tasks {
            by_folder.entry(self.folder(*task)).or_default().insert(task.to_string());
        }
        locked(&self.lost).retain(|of, _| !tasks.contains(&of.task));
        locked(&self.last).retain(|of, _| !tasks.contains(&of.task));
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

    pub fn purge(&self, before: Timestamp, most_bytes: u64) -> io::Result<()> {
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

struct ReadSegment {
    /// Where it stopped.
    offset: u64,
    /// Bytes behind that which are no whole line yet.
    not_whole: u64,
    bytes: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lines_in(path: &Path) -> io::Result<u64> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        file => file?,
    };
    let mut block = vec![0; 64 * 1024];
    let mut lines = 0;
    loop {
        match file.read(&mut block)? {
            0 => return Ok(lines),
            read => lines += block[..read].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
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
    let stream = LogStream::named(stream)?;
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
