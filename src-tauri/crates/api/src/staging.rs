//! A file on its way into storage: read by a thread that may block, gathered into chunks, written in small transactions
//! with a rest after each, so that whoever else writes gets a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use campanile_engine::Desk;
use campanile_model::sharding::data::Gatherer;
use campanile_model::sharding::{Chunk, Staged};
use campanile_model::{Code, Fault};
use campanile_sheets::{Found, Options, ReadError, Reading, read};
use campanile_store::Taken;
use tokio::sync::mpsc;

/// Items that are gathered and not yet written, all levels together.
const MOST_GATHERED: usize = 16 << 20;

/// Chunks between the one who reads and the one who writes.
const BETWEEN: usize = 16;

/// Written in one transaction, unless a single chunk is larger.
const MOST_AT_ONCE: usize = 2 << 20;

/// Reads the file, and tells what was found.
pub async fn look(path: PathBuf, options: Options, reading: Reading) -> Result<Found, ReadError> {
    let looked = tokio::task::spawn_blocking(move || read(&path, &options, &reading, &mut |_, _, _| true)).await;
    looked.unwrap_or(Err(ReadError::Stopped))
}

/// Reads the file that was looked at, and writes it. Whatever goes wrong, nothing of it can be taken by a run.
pub async fn stage(
    desk: &Desk,
    staged: Staged,
    path: PathBuf,
    options: Options,
    reading: Reading,
    name: &str,
) -> Result<Staged, Fault> {
    let id = staged.id;
    let sha256 = staged.sha256.clone();
    let written = write(desk, staged, path, options, reading, name, &sha256).await;
    if written.is_err() {
        // It lies there for a day at most, where this cannot be done either.
        if let Err(error) = desk.store.discard_staged(id).await {
            tracing::warn!(error = &error as &dyn std::error::Error, %id, "data that nobody will take stays for a day");
        }
    }
    written
}

async fn write(
    desk: &Desk,
    mut staged: Staged,
    path: PathBuf,
    options: Options,
    reading: Reading,
    name: &str,
    sha256: &str,
) -> Result<Staged, Fault> {
    let (give, mut given) = mpsc::channel::<Chunk>(BETWEEN);
    let thread = tokio::task::spawn_blocking(move || {
        let mut gathering = Gathering::default();
        let found = read(&path, &options, &reading, &mut |level, _, item| {
            gathering.add(level, item, &mut |chunk| give.blocking_send(chunk).is_ok())
        })?;
        gathering.end(&mut |chunk| give.blocking_send(chunk).is_ok());
        Ok(found)
    });
    put(desk, &mut staged, &[]).await?;
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut bytes = 0;
    while let Some(chunk) = given.recv().await {
        bytes += chunk.items.iter().map(String::len).sum::<usize>();
        chunks.push(chunk);
        if bytes >= MOST_AT_ONCE || given.is_empty() {
            put(desk, &mut staged, &chunks).await?;
            chunks.clear();
            bytes = 0;
        }
    }
    let found: Result<Found, ReadError> = thread.await.unwrap_or(Err(ReadError::Stopped));
    let found = found.map_err(|error| fault_of(&error, name))?;
    if found.sha256 != sha256 || found.faulty > 0 {
        return Err(fault_of(&ReadError::Changed, name));
    }
    staged.items = found.items;
    staged.levels = u32::try_from(found.levels.len()).unwrap_or(u32::MAX);
    staged.whole = true;
    put(desk, &mut staged, &[]).await?;
    Ok(staged)
}

async fn put(desk: &Desk, staged: &mut Staged, chunks: &[Chunk]) -> Result<(), Fault> {
    let began = desk.clock.now();
    staged.at = began;
    if desk.store.stage(staged, chunks).await? == Taken::Lost {
        return Err(Code::DataGone.fault().with("data", staged.id));
    }
    if !chunks.is_empty() {
        let now = desk.clock.now();
        let rest: Duration = now.since(began) / 4;
        desk.clock.sleep_until(now + rest).await;
    }
    Ok(())
}

/// A refusal of a file, by the name that people know it by.
pub fn fault_of(error: &ReadError, name: &str) -> Fault {
    match error {
        ReadError::Unreadable(words) => Code::DataFileUnreadable.fault().with("file", name).with_words("reason", words),
        ReadError::Changed => Code::DataFileChanged.fault().with("file", name),
        ReadError::Stopped => Code::ReadingStopped.fault().with("file", name),
    }
}

/// Items of all levels as they come, in chunks of each.
#[derive(Default)]
struct Gathering {
    levels: BTreeMap<u32, (u64, Gatherer)>,
    bytes: usize,
}

impl Gathering {
    fn add(&mut self, level: u32, item: String, give: &mut dyn FnMut(Chunk) -> bool) -> bool {
        self.bytes += item.len();
        let (first, gatherer) = self.levels.entry(level).or_default();
        let goes_on = gatherer.add(item).is_none_or(|items| {
            self.bytes = self.bytes.saturating_sub(items.iter().map(String::len).sum());
            let chunk = Chunk { draft: 0, level, first: *first, items };
            *first = chunk.end();
            give(chunk)
        });
        if self.bytes < MOST_GATHERED {
            return goes_on;
        }
        goes_on && self.end(give)
    }

    /// What is left of each level.
    fn end(&mut self, give: &mut dyn FnMut(Chunk) -> bool) -> bool {
        self.bytes = 0;
        self.levels.iter_mut().all(|(level, (first, gatherer))| {
            gatherer.take().is_none_or(|items| {
                let chunk = Chunk { draft: 0, level: *level, first: *first, items };
                *first = chunk.end();
                give(chunk)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_every_level_stay_in_their_order_and_little_is_held() {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut gathering = Gathering::default();
        let item = |n: usize| format!("\"{n:08}{}\"", "x".repeat(1000));
        for n in 0..60_000 {
            let level = u32::try_from(n % 700).expect("few");
            assert!(gathering.add(level, item(n), &mut |chunk| {
                chunks.push(chunk);
                true
            }));
            assert!(gathering.bytes < MOST_GATHERED);
        }
        gathering.end(&mut |chunk| {
            chunks.push(chunk);
            true
        });
        let mut levels: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for chunk in chunks {
            let items = levels.entry(chunk.level).or_default();
            assert_eq!(chunk.first, items.len() as u64);
            items.extend(chunk.items);
        }
        assert_eq!(levels.len(), 700);
        for (level, items) in levels {
            assert!(items.iter().enumerate().all(|(place, found)| *found == item(place * 700 + level as usize)));
        }
    }

    #[test]
    fn nothing_more_is_gathered_once_nobody_takes_it() {
        let mut gathering = Gathering::default();
        let went: Vec<bool> = (0..1002).map(|n| gathering.add(0, n.to_string(), &mut |_| false)).collect();
        assert_eq!(went.iter().position(|went| !went), Some(1000));
    }
}
