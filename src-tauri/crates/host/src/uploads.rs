//! Files that a browser sends: written as they come into the data folder, and handed in once they are whole.
//!
//! What breaks off leaves nothing. A copy goes when nobody needs it any more; one that a program left behind goes when
//! the next one begins to listen, a day later.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use campanile_api::views::GivenFile;
use campanile_model::{Code, Fault, Words};
use futures::StreamExt as _;
use tokio::io::AsyncWriteExt as _;

use crate::{Host, folder};

/// Of one file.
const LARGEST_UPLOAD: u64 = 4 << 30;

const KEPT_FOR: Duration = Duration::from_secs(86_400);

/// A copy that is not whole yet.
struct Copy {
    path: PathBuf,
    whole: bool,
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.whole
            && let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %self.path.display(), "half of a file stays");
        }
    }
}

/// Takes a file in, and hands it in under the name that people know it by.
pub(crate) async fn receive(host: &Host, name: &str, body: Body) -> Result<GivenFile, Fault> {
    let place = host.data().uploads();
    let trouble = |error: &io::Error| folder::fault(error, host.data().root());
    tokio::fs::create_dir_all(&place).await.map_err(|error| trouble(&error))?;
    let drawn: [u8; 16] = rand::random();
    let drawn: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
    let ending: String = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str())
        .map(|ending| ending.chars().filter(char::is_ascii_alphanumeric).take(10).collect())
        .unwrap_or_default();
    let mut copy = Copy { path: place.join(format!("{drawn}.{ending}")), whole: false };
    let mut file = tokio::fs::File::create(&copy.path).await.map_err(|error| trouble(&error))?;
    let mut pieces = body.into_data_stream();
    let mut bytes = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            let reason = Words::new(format!("it broke off: {error}"), format!("传输中断：{error}"));
            Code::DataFileUnreadable.fault().with("file", name).with_words("reason", &reason)
        })?;
        bytes += piece.len() as u64;
        if bytes > LARGEST_UPLOAD {
            let most = LARGEST_UPLOAD >> 30;
            let reason = Words::new(format!("it is larger than {most} GB"), format!("超过 {most} GB"));
            return Err(Code::DataFileUnreadable.fault().with("file", name).with_words("reason", &reason));
        }
        file.write_all(&piece).await.map_err(|error| trouble(&error))?;
    }
    file.flush().await.map_err(|error| trouble(&error))?;
    drop(file);
    let given = host.api().hand_in(copy.path.clone(), name, true)?;
    copy.whole = true;
    Ok(given)
}

/// Copies that a program left behind.
pub(crate) fn sweep(place: &Path) {
    let Ok(copies) = fs::read_dir(place) else { return };
    for copy in copies.flatten() {
        let modified = copy.metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > KEPT_FOR));
        if is_old && let Err(error) = fs::remove_file(copy.path()) {
            tracing::warn!(%error, file = %copy.path().display(), "an old copy stays");
        }
    }
}
