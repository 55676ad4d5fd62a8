//! The executor that lives in the program itself, in the group `local`, while the program drives the engine.
//!
//! It talks to the node through the same messages as a remote one, over channels instead of a
//! network. Before it takes its first task it ends what earlier lives on this folder left running;
//! when the lease is lost it stops, and its children with it.

use std::sync::Arc;
use std::time::Duration;

use campanile_engine::{Node, Standing};
use campanile_gateway::{Admission, Switchboard};
use campanile_processors::{
    ChildLedger, Files, HttpPolicy, HttpProcessor, ImportProcessor, PrivateAddresses, ShellProcessor, ShellShards,
    SqlProcessor,
};
use campanile_sdk::{Executor, Processor, SecretKey, ShardingProcessor, transport};
use tokio_util::sync::CancellationToken;

use crate::Who;
use crate::connections::NamedConnections;
use crate::face::Offer;
use crate::folder::DataFolder;

pub const GROUP: &str = "local";

/// What runs may go on for so long when the program is to end, or the lease was lost.
const TIME_TO_LEAVE: Duration = Duration::from_secs(2);

/// How often it looks whether the program leads.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// After an executor that could not live.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

pub struct Embedded {
    name: String,
    children: Arc<ChildLedger>,
    shell: Arc<ShellProcessor>,
    http: Arc<HttpProcessor>,
    sql: Arc<SqlProcessor>,
    import: Arc<ImportProcessor>,
    allow_shell: bool,
    capacity: Option<u32>,
    key: Option<SecretKey>,
    scratch: std::path::PathBuf,
    switchboard: Arc<Switchboard>,
}

impl Embedded {
    pub fn new(
        name: String,
        children: Arc<ChildLedger>,
        data: &DataFolder,
        who: Who,
        connections: NamedConnections,
        switchboard: Arc<Switchboard>,
    ) -> Embedded {
        Embedded {
            name,
            shell: Arc::new(ShellProcessor::new(children.clone())),
            http: Arc::new(HttpProcessor::new(HttpPolicy { private: PrivateAddresses::WhenAsked })),
            sql: Arc::new(SqlProcessor::new(connections.clone())),
            import: Arc::new(ImportProcessor::new(connections, data.imported(), files(data, who))),
            children,
            allow_shell: who.may_run_shell(),
            capacity: who.capacity(),
            key: None,
            scratch: data.scratch(),
            switchboard,
        }
    }

    /// What opens its secrets; without it a task that names one is refused.
    #[must_use]
    pub fn with_key(self, key: Option<SecretKey>) -> Embedded {
        Embedded { key, ..self }
    }

    pub fn offers(&self) -> Vec<Offer> {
        vec![
            Offer { info: self.shell.describe(), hosted: self.allow_shell },
            Offer { info: self.http.describe(), hosted: true },
            Offer { info: self.sql.describe(), hosted: true },
            Offer { info: self.import.describe(), hosted: true },
        ]
    }

    /// Lives one life for each time that the program leads.
    pub async fn run(&self, node: &Node, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = until(node, true) => {}
            }
            let leave = shutdown.child_token();
            let life = self.live(leave.clone());
            tokio::pin!(life);
            tokio::select! {
                () = &mut life => {
                    tokio::select! {
                        () = shutdown.cancelled() => return,
                        () = tokio::time::sleep(TRY_AGAIN_AFTER) => continue,
                    }
                }
                () = until(node, false) => leave.cancel(),
                () = shutdown.cancelled() => {}
            }
            life.await;
        }
    }

    /// Until it is told to leave, or cannot live.
    async fn live(&self, leave: CancellationToken) {
        let executor = match self.executor() {
            Ok(executor) => executor,
            Err(error) => {
                tracing::error!(%error, "the embedded executor cannot be built");
                return;
            }
        };
        match self.children.end_strays(executor.boot_id()).await {
            Ok(ended) => {
                for child in ended {
                    tracing::warn!(
                        pid = child.pid,
                        task = child.task,
                        attempt = child.attempt,
                        "a child of an earlier life was ended"
                    );
                }
            }
            Err(error) => {
                // Its tasks must not be tried again while an old child may still run.
                tracing::error!(%error, "children of an earlier life cannot be ended");
                return;
            }
        }
        let (transport, mut acceptor) = transport::pair();
        let switchboard = self.switchboard.clone();
        let accepting = tokio::spawn(async move {
            while let Some(wire) = acceptor.accept().await {
                let switchboard = switchboard.clone();
                tokio::spawn(async move {
                    switchboard.serve(Admission::Embedded, wire.from_executor, wire.to_executor).await;
                });
            }
        });
        match executor.run(transport, leave).await {
            Ok(left) if left.unfinished + left.unreported > 0 => {
                tracing::warn!(
                    unfinished = left.unfinished,
                    unreported = left.unreported,
                    "the embedded executor left in a hurry"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the embedded executor was turned away"),
        }
        accepting.abort();
    }

    fn executor(&self) -> Result<Executor, campanile_sdk::BuildError> {
        let mut builder = Executor::builder(GROUP, &self.name)
            .processor(self.http.clone())
            .processor(self.sql.clone())
            .sharding_processor(self.import.clone())
            .scratch(&self.scratch)
            .time_to_leave(TIME_TO_LEAVE);
        if let Some(capacity) = self.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(key) = &self.key {
            builder = builder.secret_key(key.clone());
        }
        if self.allow_shell {
            builder = builder.processor(self.shell.clone()).sharding_processor(ShellShards(self.shell.clone()));
        }
        builder.build()
    }
}

/// Who may run a command here may read a file as well; nobody else is shown the files of a server.
fn files(data: &DataFolder, who: Who) -> Files {
    if who.may_run_shell() {
        return Files::Anywhere;
    }
    let folder = data.imports();
    if let Err(error) = std::fs::create_dir_all(&folder) {
        tracing::warn!(%error, folder = %folder.display(), "there is no place for files to import");
    }
    Files::In(folder)
}

/// Until the program leads, or no longer does.
async fn until(node: &Node, leads: bool) {
    while (node.standing() == Standing::Leading) != leads {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
