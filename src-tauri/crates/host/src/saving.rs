//! Files that are written here, piece by piece: whole under their name, or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use campanile_api::CallContext;
use campanile_model::{Code, Fault};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use crate::downloads::Wanted;
use crate::{Host, folder};

/// A file that is not whole yet; without its end it goes.
struct Half {
    path: PathBuf,
    goes: bool,
}

impl Drop for Half {
    fn drop(&mut self) {
        if self.goes
            && let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %self.path.display(), "half of a file stays");
        }
    }
}

/// Makes what is wanted and writes it there, over what there is. Dropped on the way, or where the disk is full, it
/// leaves nothing, and what was there before stays.
pub async fn save(host: &Host, wanted: &Wanted, path: &Path, cx: &CallContext) -> Result<(), Fault> {
    let trouble = |error: &io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => folder::fault(error, path),
        _ => Code::ReportUnwritable.fault().with("file", path.display()).with("reason", error),
    };
    let mut pieces = wanted.pieces(host, cx).await?;
    // A device or a pipe takes what it gets, and has no name to give to something else.
    let is_plain = fs::metadata(path).map_or(true, |found| found.is_file());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let mut half = match is_plain {
        true => Half { path: path.with_file_name(name), goes: true },
        false => Half { path: path.to_owned(), goes: false },
    };
    let mut file = File::create(&half.path).await.map_err(|error| trouble(&error))?;
    while let Some(piece) = pieces.next(host, cx).await? {
        file.write_all(&piece).await.map_err(|error| trouble(&error))?;
    }
    file.flush().await.map_err(|error| trouble(&error))?;
    if half.goes {
        file.sync_all().await.map_err(|error| trouble(&error))?;
        drop(file);
        tokio::fs::rename(&half.path, path).await.map_err(|error| trouble(&error))?;
        half.goes = false;
    }
    Ok(())
}
