//! The host behind the window. It may not open at first (a full disk, a read-only folder): then the
//! window says so, and every further question tries again.

use std::path::PathBuf;
use std::sync::Arc;

use campanile_api::Fault;
use campanile_host::{Host, Options, Running};
use tokio::sync::Mutex;

pub struct Engine {
    data: Option<PathBuf>,
    open: Mutex<Option<Open>>,
}

struct Open {
    host: Arc<Host>,
    running: Running,
}

impl Engine {
    pub fn new(data: Option<PathBuf>) -> Engine {
        Engine { data, open: Mutex::new(None) }
    }

    /// Opens the data folder and starts the engine. What keeps it from that is told to whoever asks next.
    pub async fn open(&self) {
        if let Err(fault) = self.host().await {
            tracing::error!(%fault, "the data folder cannot be opened");
        }
    }

    pub async fn host(&self) -> Result<Arc<Host>, Fault> {
        let mut open = self.open.lock().await;
        if let Some(open) = open.as_ref() {
            return Ok(open.host.clone());
        }
        let host = Arc::new(Host::open(Options::desktop(self.data.clone())).await?);
        let running = host.clone().start();
        *open = Some(Open { host: host.clone(), running });
        Ok(host)
    }

    /// Lets go of the folder, so that another program may take over at once.
    pub async fn close(&self) {
        if let Some(open) = self.open.lock().await.take() {
            open.running.stop().await;
        }
    }
}
