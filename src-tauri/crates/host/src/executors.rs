//! The address on which executors of other processes and machines come in.
//!
//! Who may: without a token, whoever is on this machine.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use campanile_gateway::{Caller, Door, Listener};
use campanile_model::{Code, Fault, Words};
use tokio_util::sync::CancellationToken;

use crate::Host;
use crate::embedded::GROUP;

/// A listening address; nobody is let in until it runs.
pub struct ExecutorPort {
    listener: Listener,
}

impl ExecutorPort {
    /// Port 0: any that is free.
    pub async fn bind(address: SocketAddr) -> Result<ExecutorPort, Fault> {
        let listener = Listener::bind(address).await.map_err(|error| cannot_listen(&address.to_string(), &error))?;
        Ok(ExecutorPort { listener })
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Lets executors in until `shutdown`.
    pub async fn run(self, host: Arc<Host>, shutdown: CancellationToken) {
        let door = Arc::new(HouseDoor);
        self.listener.run(host.switchboard().clone(), door, shutdown).await;
    }
}

pub(crate) fn cannot_listen(address: &str, error: &std::io::Error) -> Fault {
    let reason = match error.kind() {
        ErrorKind::AddrInUse => Words::new("another program has it", "已被其他程序占用"),
        ErrorKind::PermissionDenied => Words::new("it is not allowed", "没有权限"),
        ErrorKind::AddrNotAvailable => Words::new("it is no address of this machine", "不是本机地址"),
        _ => Words::new(error.to_string(), error.to_string()),
    };
    Code::AddressTaken.fault().with("address", address).with_words("reason", &reason)
}

struct HouseDoor;

#[async_trait]
impl Door for HouseDoor {
    async fn admits(&self, caller: &Caller) -> Result<(), Fault> {
        let refused = |reason: Words| {
            Err(Code::ExecutorTokenRefused.fault().with("group", &caller.group).with_words("reason", &reason))
        };
        if caller.group == GROUP {
            return refused(Words::new("it is the embedded executor's own", "该组专属于内置执行器"));
        }
        match caller.peer.ip().to_canonical().is_loopback() {
            true => Ok(()),
            false => refused(Words::new("it comes from another machine and has no token", "来自其他机器且没有令牌")),
        }
    }
}
