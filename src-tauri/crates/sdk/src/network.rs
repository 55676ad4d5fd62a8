//! Streams to nodes over gRPC.
//!
//! ```no_run
//! # use campanile_sdk::Network;
//! // One node on this machine.
//! let network = Network::to("127.0.0.1:4610");
//! // Several, over TLS; the next one is tried where one cannot be reached.
//! # fn more() -> std::io::Result<Network> {
//! let network = Network::to_any(["node-1:4610", "node-2:4610"]).ca_certificate(std::fs::read("ca.pem")?);
//! # Ok(network)
//! # }
//! ```
//!
//! It opens one stream at a time and does not try again by itself: when to, the session decides.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use campanile_proto::{
    MAX_MESSAGE_BYTES,
    v1::{self, executor_link_client::ExecutorLinkClient},
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::transport::{ConnectError, Transport, Wire};

/// A node that does not take a connection in this time is passed over.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A node that has gone without a word is found by asking this often …
const PING_EVERY: Duration = Duration::from_secs(5);

/// … and waiting for this long.
const PONG_WITHIN: Duration = Duration::from_secs(5);

/// Messages on their way in one direction before the sender waits.
const DEPTH: usize = 256;

/// The nodes that an executor can reach, and how. Addresses are `host:port`, or begin with `http://` or `https://`.
#[derive(Debug)]
pub struct Network {
    addresses: Vec<String>,
    tls: Option<ClientTlsConfig>,
    identity: Option<Identity>,
    next: AtomicUsize,
}

impl Network {
    pub fn to(address: impl Into<String>) -> Network {
        Network::to_any([address])
    }

    /// Any of these will do. They are tried in turn, and with them those that a node tells of.
    pub fn to_any(addresses: impl IntoIterator<Item = impl Into<String>>) -> Network {
        Network {
            addresses: addresses.into_iter().map(Into::into).collect(),
            tls: None,
            identity: None,
            next: AtomicUsize::new(0),
        }
    }

    /// Over TLS, to nodes whose certificate this authority has signed. PEM.
    #[must_use]
    pub fn ca_certificate(mut self, pem: impl AsRef<[u8]>) -> Network {
        let tls = self.tls.unwrap_or_default();
        self.tls = Some(tls.ca_certificate(Certificate::from_pem(pem)));
        self
    }

    /// What the executor shows of itself, to nodes that ask for a certificate. PEM; of use with TLS only.
    #[must_use]
    pub fn identity(mut self, certificate: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Network {
        self.identity = Some(Identity::from_pem(certificate, key));
        self
    }

    /// The name in the node's certificate, where it is not the one in the address.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Network {
        let tls = self.tls.unwrap_or_default();
        self.tls = Some(tls.domain_name(name));
        self
    }

    fn endpoint(&self, address: &str) -> Result<Endpoint, tonic::transport::Error> {
        let secure = address.starts_with("https://") || (self.tls.is_some() && !address.contains("://"));
        let address = match address.contains("://") {
            true => address.to_owned(),
            false => format!("{}://{address}", if secure { "https" } else { "http" }),
        };
        let endpoint = Endpoint::new(address)?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_WITHIN)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PONG_WITHIN)
            .keep_alive_while_idle(true);
        if !secure {
            return Ok(endpoint);
        }
        // It may have been chosen already, by whoever uses TLS in this process too.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut tls = self.tls.clone().unwrap_or_default();
        if let Some(identity) = &self.identity {
            tls = tls.identity(identity.clone());
        }
        endpoint.tls_config(tls)
    }

    async fn open(&self, address: &str) -> Result<Wire, String> {
        let channel = self.endpoint(address).map_err(|error| told(&error))?;
        let channel = channel.connect().await.map_err(|error| told(&error))?;
        let (to_node, said) = mpsc::channel(DEPTH);
        let (tell, from_node) = mpsc::channel(DEPTH);
        let mut client = ExecutorLinkClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let answer = client.connect(ReceiverStream::new(said)).await.map_err(|status| told(&status))?;
        let mut heard = answer.into_inner();
        tokio::spawn(async move {
            loop {
                let message: Result<Option<v1::ToExecutor>, _> = tokio::select! {
                    () = tell.closed() => return,
                    message = heard.message() => message,
                };
                match message {
                    Ok(Some(message)) => {
                        if tell.send(message).await.is_err() {
                            return;
                        }
                    }
                    Ok(None) => return,
                    Err(status) => {
                        tracing::debug!(%status, "the stream ended");
                        return;
                    }
                }
            }
        });
        Ok(Wire { to_node, from_node })
    }
}

#[async_trait]
impl Transport for Network {
    async fn connect(&self, nodes: &[v1::NodeAddress]) -> Result<Wire, ConnectError> {
        let told_of = nodes.iter().map(|node| &node.address).filter(|address| !self.addresses.contains(address));
        let addresses: Vec<&String> = self.addresses.iter().chain(told_of).collect();
        let mut problems = Vec::new();
        for _ in 0..addresses.len() {
            // Each try begins with the one after the last: a node that was left is not asked again first.
            let at = self.next.fetch_add(1, Ordering::Relaxed) % addresses.len();
            match self.open(addresses[at]).await {
                Ok(wire) => return Ok(wire),
                Err(problem) => problems.push(format!("{}: {problem}", addresses[at])),
            }
        }
        Err(ConnectError(match problems.is_empty() {
            true => "there is no address to try".to_owned(),
            false => problems.join("; "),
        }))
    }
}

/// With what stands behind it: "transport error" alone helps nobody.
fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        told.push_str(": ");
        told.push_str(&error.to_string());
        source = error.source();
    }
    told
}
