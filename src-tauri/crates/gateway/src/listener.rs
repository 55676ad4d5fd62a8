//! Listens for executors on an address of the network.
//!
//! How many connections there may be, how long one may be of no use and how large a message may be are bounded here,
//! before anything of ours looks at them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use campanile_proto::MAX_MESSAGE_BYTES;
use campanile_proto::v1::executor_link_server::ExecutorLinkServer;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

use crate::connection::Connection;
use crate::door::Door;
use crate::stream::Entrance;
use crate::switchboard::Switchboard;

/// Beyond these a connection is closed at once.
const MOST_CONNECTIONS: usize = 2048;

/// A peer that has gone without a word is found by asking this often …
const PING_EVERY: Duration = Duration::from_secs(5);

/// … and waiting for this long.
const PONG_WITHIN: Duration = Duration::from_secs(5);

/// When no connection can be accepted (for want of file handles, say), the next try waits.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// At the end, what is on its way still goes out; nobody is waited for longer.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// What may be under way on one stream before its reader must have caught up.
const WINDOW: u32 = 1024 * 1024;

/// A handshake that takes longer is given up.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);

/// What TLS is made of, PEM.
pub struct Secure {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
    /// Whoever comes must show a certificate that this authority has signed.
    pub client_ca: Option<Vec<u8>>,
}

/// A listening address; nobody is let in until it runs.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    server: Server,
}

impl Listener {
    pub async fn bind(address: SocketAddr) -> io::Result<Listener> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let server = Server::builder()
            .http2_keepalive_interval(Some(PING_EVERY))
            .http2_keepalive_timeout(Some(PONG_WITHIN))
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(2 * WINDOW)
            // One for the executor, and one for a stream of it that is still ending.
            .max_concurrent_streams(2)
            .http2_max_header_list_size(16 * 1024);
        Ok(Listener { listener, address, server })
    }

    /// From here on nobody comes in without TLS.
    pub fn secured(mut self, secure: &Secure) -> Result<Listener, tonic::transport::Error> {
        // It may have been chosen already, by whoever uses TLS in this process too.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let mut tls = ServerTlsConfig::new()
            .identity(Identity::from_pem(&secure.certificate, &secure.key))
            .timeout(HANDSHAKE_WITHIN);
        if let Some(authority) = &secure.client_ca {
            tls = tls.client_ca_root(Certificate::from_pem(authority));
        }
        self.server = self.server.tls_config(tls)?;
        Ok(self)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets executors in until `shutdown`; streams that are open then are closed.
    pub async fn run(self, switchboard: Arc<Switchboard>, door: Arc<dyn Door>, shutdown: CancellationToken) {
        let entrance = ExecutorLinkServer::new(Entrance { switchboard, door, shutdown: shutdown.clone() })
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let mut server = self.server;
        let server = server.add_service(entrance);
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let incoming = futures::stream::unfold((self.listener, places), |(listener, places)| async move {
            let connection = accept(&listener, &places).await;
            Some((Ok::<_, io::Error>(connection), (listener, places)))
        });
        let leaving = async {
            shutdown.cancelled().await;
            tokio::time::sleep(LEAVE_WITHIN).await;
        };
        tokio::select! {
            () = leaving => {}
            ended = server.serve_with_incoming_shutdown(incoming, shutdown.cancelled()) => {
                if let Err(error) = ended {
                    tracing::error!(error = &error as &dyn std::error::Error, "executors cannot come in any more");
                }
            }
        }
    }
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Connection {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => match places.clone().try_acquire_owned() {
                Ok(place) => {
                    // Reports and acknowledgements are small and many.
                    let _ = stream.set_nodelay(true);
                    return Connection::new(stream, peer, place);
                }
                Err(_) => tracing::warn!(%peer, "no place for one more connection of an executor"),
            },
            Err(error) => {
                tracing::warn!(%error, "a connection of an executor could not be accepted");
                tokio::time::sleep(TRY_AGAIN).await;
            }
        }
    }
}
