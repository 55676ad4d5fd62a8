//! Takes connections in, with TLS or without, each on its own: one that never finishes to greet, or says nothing, is in
//! nobody's way and does not stay.
//!
//! Who may ask for what is not known here.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::teams::pinned::fingerprint;

/// Beyond these a connection is closed at once.
const MOST_CONNECTIONS: usize = 1024;

/// A handshake that takes longer is given up.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);

/// Whoever has asked nothing for so long is let go; so is whoever begins to ask and does not come to an end.
const ASKS_WITHIN: Duration = Duration::from_secs(30);

/// At the end, what is on its way still goes out; nobody is waited for longer.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// When no connection can be accepted (for want of file handles, say), the next try waits.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// What TLS is made of.
pub(super) struct Tls {
    acceptor: TlsAcceptor,
    /// Of the certificate that is shown.
    pub fingerprint: String,
}

impl Tls {
    /// Both PEM; of the certificates the first is the node's own.
    pub fn read(certificate: &[u8], key: &[u8]) -> Result<Tls, Box<dyn std::error::Error>> {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(certificate).collect::<Result<_, _>>()?;
        let fingerprint = chain.first().map(fingerprint).ok_or("there is no certificate in the file")?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_slice(key)?)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(config)), fingerprint })
    }
}

type Pages = TowerToHyperService<Router>;

/// Answers until `shutdown`, and a little longer what was asked before.
pub(super) async fn serve(listener: TcpListener, tls: Option<Tls>, pages: Router, shutdown: CancellationToken) {
    let tls = tls.map(|tls| tls.acceptor);
    let pages = TowerToHyperService::new(pages);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let visits = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // It was gone before it was looked at.
            Err(error) if is_of_one(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(TRY_AGAIN).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            tracing::warn!(%peer, "no place for one more connection of a console");
            continue;
        };
        let visit = receive(stream, peer, tls.clone(), pages.clone(), shutdown.clone());
        visits.spawn(async move {
            visit.await;
            drop(place);
        });
    }
    visits.close();
    if timeout(LEAVES_WITHIN, visits.wait()).await.is_err() {
        tracing::warn!(connections = visits.len(), "what was on its way to consoles is cut off");
    }
}

fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn receive(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    pages: Pages,
    shutdown: CancellationToken,
) {
    // Frames of the feed are small and many.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return answer(stream, peer, pages, shutdown).await };
    let greeted = tokio::select! {
        greeted = timeout(HANDSHAKE_WITHIN, tls.accept(stream)) => greeted,
        () = shutdown.cancelled() => return,
    };
    match greeted {
        Ok(Ok(stream)) => answer(stream, peer, pages, shutdown).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
        Err(_) => tracing::debug!(%peer, "a handshake was never finished"),
    }
}

async fn answer<S>(stream: S, peer: SocketAddr, pages: Pages, shutdown: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pages = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        pages.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKS_WITHIN)
        .serve_connection(TokioIo::new(stream), pages)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection broke off");
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::WebSocketUpgrade;
    use axum::extract::ws::{Message, WebSocket};
    use axum::routing::get;
    use futures::{SinkExt as _, StreamExt as _};
    use reqwest::{Client, Url};
    use tokio::io::AsyncReadExt as _;
    use tokio_tungstenite::{Connector, connect_async_tls_with_config, tungstenite};

    use super::*;
    use crate::certs;
    use crate::teams::pinned;

    const CONNECTS_WITHIN: Duration = Duration::from_secs(3);

    struct Served {
        address: SocketAddr,
        fingerprint: String,
        shutdown: CancellationToken,
        _folder: tempfile::TempDir,
    }

    impl Served {
        async fn begin() -> Served {
            let folder = tempfile::tempdir().expect("a folder");
            let names = ["127.0.0.1".to_owned()].into_iter();
            let own = certs::own(&folder.path().join("http.pem"), names).expect("a certificate");
            let tls = Tls::read(own.as_bytes(), own.as_bytes()).expect("it makes TLS");
            let fingerprint = tls.fingerprint.clone();
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("it has one");
            let echo = |mut socket: WebSocket| async move {
                while let Some(Ok(Message::Text(text))) = socket.recv().await {
                    socket.send(Message::Text(text)).await.expect("it is sent");
                }
            };
            let pages = Router::new()
                .route("/", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() }))
                .route("/echo", get(move |upgrade: WebSocketUpgrade| async move { upgrade.on_upgrade(echo) }));
            let shutdown = CancellationToken::new();
            tokio::spawn(serve(listener, Some(tls), pages, shutdown.clone()));
            Served { address, fingerprint, shutdown, _folder: folder }
        }

        fn place(&self) -> Url {
            pinned::base(&self.address.to_string(), Some(&self.fingerprint)).parse().expect("an address")
        }

        async fn asks(&self, client: &Client) -> Result<String, reqwest::Error> {
            client.get(self.place()).send().await?.text().await
        }
    }

    #[tokio::test]
    async fn who_knows_the_certificate_comes_in_and_another_is_not_trusted() {
        let served = Served::begin().await;
        let client = pinned::client(Some(&served.fingerprint), CONNECTS_WITHIN).expect("a client");
        assert_eq!(served.asks(&client).await.expect("an answer"), "127.0.0.1");
        let other = pinned::client(Some(&"ab".repeat(32)), CONNECTS_WITHIN).expect("a client");
        assert!(served.asks(&other).await.expect_err("it is not that one").is_connect());
        let by_names = Client::builder().no_proxy().build().expect("a client");
        assert!(served.asks(&by_names).await.expect_err("nobody has signed it").is_connect());
        let plain = pinned::client(None, CONNECTS_WITHIN).expect("a client");
        let place = pinned::base(&served.address.to_string(), None);
        assert!(plain.get(place).send().await.is_err(), "nothing goes without TLS");
    }

    #[tokio::test]
    async fn a_socket_is_opened_by_the_same_certificate() {
        let served = Served::begin().await;
        let place = format!("wss://{}/echo", served.address);
        let connector = |fingerprint: &str| Some(Connector::Rustls(pinned::tls(fingerprint).expect("it makes TLS")));
        let (mut socket, _) =
            connect_async_tls_with_config(&place, None, false, connector(&served.fingerprint)).await.expect("it opens");
        socket.send(tungstenite::Message::Text("钟".into())).await.expect("it is sent");
        let heard = socket.next().await.expect("an answer").expect("a message");
        assert_eq!(heard.into_text().expect("text").as_str(), "钟");
        let other = connect_async_tls_with_config(&place, None, false, connector(&"ab".repeat(32))).await;
        assert!(matches!(other, Err(tungstenite::Error::Io(_) | tungstenite::Error::Tls(_))), "{other:?}");
    }

    #[tokio::test]
    async fn who_says_nothing_is_in_nobodys_way_and_goes_at_the_end() {
        let served = Served::begin().await;
        let mut silent = Vec::new();
        for _ in 0..100 {
            silent.push(TcpStream::connect(served.address).await.expect("a connection"));
        }
        let client = pinned::client(Some(&served.fingerprint), CONNECTS_WITHIN).expect("a client");
        assert_eq!(served.asks(&client).await.expect("an answer"), "127.0.0.1");
        served.shutdown.cancel();
        for mut stream in silent {
            let read = timeout(LEAVES_WITHIN, stream.read(&mut [0; 1])).await.expect("it is closed");
            assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
        }
    }

    #[test]
    fn what_is_no_certificate_or_has_another_key_makes_no_tls() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = || ["127.0.0.1".to_owned()].into_iter();
        let one = certs::own(&folder.path().join("one.pem"), names()).expect("a certificate");
        let other = certs::own(&folder.path().join("other.pem"), names()).expect("a certificate");
        assert!(Tls::read(one.as_bytes(), other.as_bytes()).is_err());
        assert!(Tls::read(b"", one.as_bytes()).is_err());
        assert!(Tls::read(b"nonsense", b"nonsense").is_err());
        assert!(Tls::read(one.as_bytes(), one.as_bytes()).is_ok());
    }
}
