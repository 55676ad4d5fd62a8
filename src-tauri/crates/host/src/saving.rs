//! Files that are written here, piece by piece: whole under their name, or not at all. Where the pieces come from, this
//! node or one far away, is not known here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;

use campanile_api::CallContext;
use campanile_model::{Code, Fault};
use futures::{Stream, StreamExt as _, stream};
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

/// Makes what is wanted and writes it there, over what there is.
pub async fn save(host: &Host, wanted: &Wanted, path: &Path, cx: &CallContext) -> Result<(), Fault> {
    let pieces = wanted.pieces(host, cx).await?;
    let pieces = stream::try_unfold(pieces, move |mut pieces| async move {
        Ok(pieces.next(host, cx).await?.map(|piece| (piece, pieces)))
    });
    write(path, pieces).await
}

/// Dropped on the way, or where the disk is full, it leaves nothing, and what was there before stays.
pub(crate) async fn write<P: AsRef<[u8]>>(
    path: &Path,
    pieces: impl Stream<Item = Result<P, Fault>> + Send,
) -> Result<(), Fault> {
    let trouble = |error: &io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => folder::fault(error, path),
        _ => Code::ReportUnwritable.fault().with("file", path.display()).with("reason", error),
    };
    // A device or a pipe takes what it gets, and has no name to give to something else.
    let is_plain = fs::metadata(path).map_or(true, |found| found.is_file());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let mut half = match is_plain {
        true => Half { path: path.with_file_name(name), goes: true },
        false => Half { path: path.to_owned(), goes: false },
    };
    let mut file = File::create(&half.path).await.map_err(|error| trouble(&error))?;
    let mut pieces = pin!(pieces);
    while let Some(piece) = pieces.next().await {
        file.write_all(piece?.as_ref()).await.map_err(|error| trouble(&error))?;
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
