//! Who may come in over the network, asked before anything else of a stream is looked at.

use std::net::SocketAddr;

use async_trait::async_trait;
use campanile_model::Fault;

/// Someone who has said who they are, and is not believed yet.
#[derive(Clone, Debug)]
pub struct Caller {
    pub group: String,
    pub name: String,
    pub token: String,
    /// Where the connection comes from.
    pub peer: SocketAddr,
    /// It has shown a certificate that the listener asked for.
    pub certified: bool,
}

/// Whether a caller may be what it says. It is asked when an executor registers, and from time to time while it stays.
#[async_trait]
pub trait Door: Send + Sync {
    async fn admits(&self, caller: &Caller) -> Result<(), Fault>;
}
