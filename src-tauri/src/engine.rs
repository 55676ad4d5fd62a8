//! What is behind the window: the host of this machine, and the place that the window looks at, which may be a team.
//!
//! The host may not open at first (a full disk, a read-only folder): then the window says so, and every further question
//! tries again. It runs on while the window looks elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use campanile_api::Fault;
use campanile_host::{DataFolder, Host, Options, Place, Places, Records, Who, keep_records};
use tauri::async_runtime::JoinHandle;
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

pub struct Engine {
    data: PathBuf,
    open: Mutex<Option<Open>>,
    places: OnceCell<Places>,
}

struct Open {
    host: Arc<Host>,
    shutdown: CancellationToken,
    running: JoinHandle<()>,
    /// Dropped last: it writes what is still under way.
    _records: Records,
}

impl Engine {
    pub fn new(data: PathBuf) -> Engine {
        Engine { data, open: Mutex::new(None), places: OnceCell::new() }
    }

    /// Opens the data folder and starts the engine. What keeps it from that is told to whoever asks next.
    pub async fn open(&self) {
        if let Err(fault) = self.host().await {
            eprintln!("{fault}");
        }
    }

    pub async fn host(&self) -> Result<Arc<Host>, Fault> {
        let mut open = self.open.lock().await;
        if let Some(open) = open.as_ref() {
            return Ok(open.host.clone());
        }
        let host = Arc::new(Host::open(Options { data: self.data.clone(), who: Who::Desktop }).await?);
        let records = keep_records(host.data(), false)?;
        let shutdown = CancellationToken::new();
        let running = tauri::async_runtime::spawn(host.clone().run(shutdown.clone()));
        *open = Some(Open { host: host.clone(), shutdown, running, _records: records });
        Ok(host)
    }

    /// The teams that this machine knows.
    pub async fn places(&self) -> Result<&Places, Fault> {
        self.places.get_or_try_init(async || Places::open(DataFolder::open(&self.data)?, true).await).await
    }

    /// What the window looks at.
    pub async fn place(&self) -> Result<Place, Fault> {
        match self.places().await?.team() {
            Some(team) => Ok(Place::Team(team)),
            None => Ok(Place::Here(self.host().await?)),
        }
    }

    /// Lets go of the folder, so that another program may take over at once.
    pub async fn close(&self) {
        let Some(open) = self.open.lock().await.take() else { return };
        open.shutdown.cancel();
        if open.running.await.is_err() {
            tracing::error!("the engine ended in a panic");
        }
        open.host.close().await;
    }
}
