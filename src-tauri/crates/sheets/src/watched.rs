//! A file that is read while others look on: how far it is, whether it is to stop, and whether it stayed as it was.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use campanile_model::Words;
use sha2::{Digest as _, Sha256};

use crate::taking::{Found, ReadError};

/// How far the reading of a file is. Clones are of the same reading.
#[derive(Clone, Debug, Default)]
pub struct Reading(Arc<State>);

#[derive(Debug, Default)]
struct State {
    bytes: AtomicU64,
    items: AtomicU64,
    stopped: AtomicBool,
}

impl Reading {
    /// Read so far; of a workbook it may be more than once.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    pub fn items(&self) -> u64 {
        self.0.items.load(Ordering::Relaxed)
    }

    /// It ends as soon as it sees this.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn one_more(&self) {
        self.0.items.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a file is known by while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    /// In nanoseconds since 1970.
    modified: u128,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Stamp { bytes: metadata.len(), modified: modified.map_or(0, |since| since.as_nanos()) }
    }
}

/// A file from its first byte to its last.
pub(crate) struct Opened {
    path: PathBuf,
    stamp: Stamp,
    hash: Arc<Mutex<Sha256>>,
}

impl Opened {
    pub(crate) fn open(path: &Path) -> Result<Opened, ReadError> {
        let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
        if !metadata.is_file() {
            return Err(ReadError::Unreadable(Words::new("it is no file", "它不是文件")));
        }
        Ok(Opened { path: path.to_owned(), stamp: Stamp::of(&metadata), hash: Arc::default() })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.stamp.bytes
    }

    pub(crate) fn beginning(&self) -> Result<Vec<u8>, ReadError> {
        let mut beginning = Vec::new();
        let file = File::open(&self.path).map_err(|error| unreadable(&error))?;
        file.take(8).read_to_end(&mut beginning).map_err(|error| unreadable(&error))?;
        Ok(beginning)
    }

    /// What is read of it in its order counts for its hash; the whole of it must be, once.
    pub(crate) fn hashed(&self, reading: &Reading) -> Result<Watched, ReadError> {
        let file = File::open(&self.path).map_err(|error| unreadable(&error))?;
        Ok(Watched { file, reading: reading.clone(), hash: Some(self.hash.clone()) })
    }

    /// To jump about in.
    pub(crate) fn seekable(&self, reading: &Reading) -> Result<Watched, ReadError> {
        let file = File::open(&self.path).map_err(|error| unreadable(&error))?;
        Ok(Watched { file, reading: reading.clone(), hash: None })
    }

    pub(crate) fn ends_as_it_began(&self, found: Found) -> Result<Found, ReadError> {
        let now = fs::metadata(&self.path).map_err(|error| unreadable(&error))?;
        if Stamp::of(&now) != self.stamp {
            return Err(ReadError::Changed);
        }
        let hash = self.hash.lock().unwrap_or_else(PoisonError::into_inner).clone().finalize();
        let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Found { sha256, bytes: self.stamp.bytes, ..found })
    }
}

pub(crate) struct Watched {
    file: File,
    reading: Reading,
    hash: Option<Arc<Mutex<Sha256>>>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.reading.is_stopped() {
            return Err(io::Error::other(Stopped));
        }
        let read = self.file.read(buffer)?;
        self.reading.0.bytes.fetch_add(read as u64, Ordering::Relaxed);
        if let Some(hash) = &self.hash {
            hash.lock().unwrap_or_else(PoisonError::into_inner).update(&buffer[..read]);
        }
        Ok(read)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("it was stopped")]
pub(crate) struct Stopped;

pub(crate) fn unreadable(error: &io::Error) -> ReadError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => Words::new("there is no such file", "没有这个文件"),
        io::ErrorKind::PermissionDenied => Words::new("it may not be read", "没有读取权限"),
        _ => Words::new(error.to_string(), error.to_string()),
    };
    ReadError::Unreadable(reason)
}

/// Of its name, in small letters.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}
