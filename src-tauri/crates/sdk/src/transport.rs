//! How an executor reaches a node: something that gives a pair of channels.
//!
//! The embedded executor uses [`pair`], which carries the very messages of the
//! protocol without a network. A transport neither retries nor looks into what it
//! carries: the session does both.

use async_trait::async_trait;
use campanile_proto::v1;
use tokio::sync::mpsc;

/// Messages under way to the node before the sender waits.
const TO_NODE: usize = 256;

/// To the executor there is room for all that its credit allows, and for the acknowledgements of a whole batch: a node
/// does not wait for one executor.
const FROM_NODE: usize = 32 * 1024;

/// The executor's end of one stream.
#[derive(Debug)]
pub struct Wire {
    pub to_node: mpsc::Sender<v1::FromExecutor>,
    pub from_node: mpsc::Receiver<v1::ToExecutor>,
}

/// The node's end of one stream.
#[derive(Debug)]
pub struct NodeWire {
    pub from_executor: mpsc::Receiver<v1::FromExecutor>,
    pub to_executor: mpsc::Sender<v1::ToExecutor>,
}

/// One stream: what goes in at one end comes out at the other, in order, until
/// either end is dropped.
pub fn wire() -> (Wire, NodeWire) {
    let (to_node, from_executor) = mpsc::channel(TO_NODE);
    let (to_executor, from_node) = mpsc::channel(FROM_NODE);
    (Wire { to_node, from_node }, NodeWire { from_executor, to_executor })
}

/// No stream now. The session tries again.
#[derive(Debug, thiserror::Error)]
#[error("no node could be reached: {0}")]
pub struct ConnectError(pub String);

#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Opens a new stream, to any node. `nodes` are those that the last node told
    /// of, empty before the first stream.
    async fn connect(&self, nodes: &[v1::NodeAddress]) -> Result<Wire, ConnectError>;
}

/// The executor's side of an in-process link.
#[derive(Clone, Debug)]
pub struct InProcess(mpsc::Sender<NodeWire>);

/// The node's side of an in-process link: each stream that an executor opens
/// comes out here.
#[derive(Debug)]
pub struct Acceptor(mpsc::Receiver<NodeWire>);

/// A link without a network. While the acceptor lives a connection succeeds, also
/// when nobody has taken it yet.
pub fn pair() -> (InProcess, Acceptor) {
    let (opened, accepted) = mpsc::channel(16);
    (InProcess(opened), Acceptor(accepted))
}

impl Acceptor {
    /// The next stream that is opened; `None` when every [`InProcess`] is gone.
    pub async fn accept(&mut self) -> Option<NodeWire> {
        self.0.recv().await
    }
}

#[async_trait]
impl Transport for InProcess {
    async fn connect(&self, _nodes: &[v1::NodeAddress]) -> Result<Wire, ConnectError> {
        let (wire, node_wire) = wire();
        self.0.send(node_wire).await.map_err(|_| ConnectError("the node in this process is gone".into()))?;
        Ok(wire)
    }
}
