//! One connection over the network: from where, and whether it is of use.
//!
//! A connection that carries no stream for a while is closed, whatever it says on lower storeys: one that was opened
//! and left, that never finishes to greet, or that answers every ping and asks for nothing.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tonic::transport::server::Connected;

/// So long may a connection be without a stream.
const IDLE: Duration = Duration::from_secs(10);

/// What a stream knows of the connection it came on.
#[derive(Clone)]
pub(crate) struct Line {
    pub peer: SocketAddr,
    streams: Arc<AtomicBool>,
}

impl Line {
    /// None while the connection carries another.
    pub fn stream_begins(&self) -> Option<Streaming> {
        let free = !self.streams.swap(true, Ordering::SeqCst);
        free.then(|| Streaming(self.streams.clone()))
    }
}

/// While it lives, the connection is of use.
pub(crate) struct Streaming(Arc<AtomicBool>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    line: Line,
    idle: Pin<Box<Sleep>>,
    /// One of the places that there are.
    _place: OwnedSemaphorePermit,
}

impl Connection {
    pub fn new(stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) -> Connection {
        let line = Line { peer, streams: Arc::default() };
        Connection { stream, line, idle: Box::pin(tokio::time::sleep(IDLE)), _place: place }
    }
}

impl Connected for Connection {
    type ConnectInfo = Line;

    fn connect_info(&self) -> Line {
        self.line.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.idle.as_mut().poll(cx).is_ready() {
            if !self.line.streams.load(Ordering::SeqCst) {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            let next = Instant::now() + IDLE;
            self.idle.as_mut().reset(next);
            // Polled once more, so that it wakes us when it is over.
            let _ = self.idle.as_mut().poll(cx);
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
