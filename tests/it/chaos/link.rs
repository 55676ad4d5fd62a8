//! A network of one executor, between it and its node, in which a story can make anything go wrong that a network can.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How much longer everything takes where it is slow: each piece, in each direction.
const SLOW: Duration = Duration::from_millis(150);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    Fair,
    Cut,
    Slow,
    MuteUp,
    MuteDown,
}

#[derive(Clone, Copy, Debug)]
struct State {
    weather: Weather,
    /// Streams of an earlier age are broken.
    age: u64,
}

pub struct Link {
    pub address: String,
    state: Arc<watch::Sender<State>>,
}

impl Link {
    /// Leads to `node`, whether or not somebody listens there.
    pub async fn to(node: String) -> Link {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let state = Arc::new(watch::Sender::new(State { weather: Weather::Fair, age: 0 }));
        let own = state.clone();
        tokio::spawn(async move {
            loop {
                let Ok((executor, _)) = listener.accept().await else { continue };
                tokio::spawn(carry(executor, node.clone(), own.clone()));
            }
        });
        Link { address, state }
    }

    pub fn becomes(&self, weather: Weather) {
        self.state.send_modify(|state| {
            state.weather = weather;
            state.age += u64::from(weather == Weather::Cut);
        });
    }

    /// Breaks every stream, and is fair.
    pub fn breaks(&self) {
        self.becomes(Weather::Cut);
        self.becomes(Weather::Fair);
    }
}

async fn carry(executor: TcpStream, node: String, state: Arc<watch::Sender<State>>) {
    let now = *state.borrow();
    if now.weather == Weather::Cut {
        return;
    }
    let Ok(node) = TcpStream::connect(node).await else { return };
    let _ = (executor.set_nodelay(true), node.set_nodelay(true));
    let (from_executor, to_executor) = executor.into_split();
    let (from_node, to_node) = node.into_split();
    tokio::select! {
        () = pump(from_executor, to_node, Weather::MuteUp, state.subscribe(), now.age) => {}
        () = pump(from_node, to_executor, Weather::MuteDown, state.subscribe(), now.age) => {}
    }
    // Both directions end with the first one.
}

async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mute: Weather,
    mut state: watch::Receiver<State>,
    age: u64,
) {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut piece) => read,
            _ = broken(state.clone(), age) => return,
        };
        let Ok(length @ 1..) = read else { return };
        let Ok(now) = state.wait_for(|now| now.age != age || now.weather != mute).await.map(|now| *now) else { return };
        if now.age != age {
            return;
        }
        if now.weather == Weather::Slow {
            tokio::time::sleep(SLOW).await;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}

async fn broken(mut state: watch::Receiver<State>, age: u64) {
    // Its sender lives as long as the link.
    let _ = state.wait_for(|now| now.age != age).await;
}
