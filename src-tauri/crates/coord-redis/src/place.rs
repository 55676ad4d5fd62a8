//! Where Redis is, and the connection to it: one server, one behind Sentinel, or a Cluster.
//!
//! A connection that fails is thrown away and dialled anew by whoever asks next. Nothing is sent a second time here:
//! whether that may be done only the caller knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::sentinel::Sentinel;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ErrorKind, IntoConnectionInfo, Pipeline, RedisError,
    RedisFuture, RedisResult, ServerErrorKind, Value,
};
use tokio::sync::Mutex;

/// One answer, and one connection; all that somebody waits for ends within [`campanile_coord::PATIENCE`].
const PATIENCE: Duration = Duration::from_millis(1500);

/// Where Redis is. Addresses are URLs: `redis://[user:password@]host:port[/database]`, or `rediss://` with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Single(String),
    /// Addresses of sentinels, and the name under which they watch the master.
    Sentinel {
        sentinels: Vec<String>,
        master: String,
    },
    /// Some of its nodes; the others are found through them.
    Cluster(Vec<String>),
}

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It can never be reached as it is written.
    #[error("{0} is not the address of a Redis")]
    BadAddress(String, #[source] RedisError),
    /// Try again.
    #[error("Redis does not answer")]
    Away(#[from] RedisError),
}

impl Place {
    /// Finds what is wrong with the addresses themselves, without reaching out.
    pub fn check(&self) -> Result<(), PlaceError> {
        let addresses = match self {
            Place::Single(url) => std::slice::from_ref(url),
            Place::Sentinel { sentinels: urls, .. } | Place::Cluster(urls) => urls.as_slice(),
        };
        for url in addresses {
            url.as_str().into_connection_info().map_err(|error| PlaceError::BadAddress(url.clone(), error))?;
        }
        Ok(())
    }

    /// A node that hears every message that is published: the master, or any node of a cluster. Each `turn` begins
    /// with another of the addresses: one that takes connections and says nothing must not cost all the time there is
    /// every time.
    pub(crate) async fn listening_post(&self, turn: usize) -> RedisResult<Client> {
        match self {
            Place::Single(url) => client(url),
            Place::Sentinel { sentinels, master } => {
                let mut sentinel = Sentinel::build(in_turn(sentinels, turn).collect())?;
                sentinel.async_master_for(master, None).await
            }
            Place::Cluster(urls) => {
                let mut last = None;
                for url in in_turn(urls, turn) {
                    let found = client(url)?;
                    match found.get_multiplexed_async_connection_with_config(&timeouts()).await {
                        Ok(_) => return Ok(found),
                        Err(error) => last = Some(error),
                    }
                }
                Err(last
                    .unwrap_or_else(|| RedisError::from((ErrorKind::InvalidClientConfig, "a cluster without nodes"))))
            }
        }
    }

    /// The nodes that have keys of their own: for walking through all of them.
    pub(crate) async fn masters(&self) -> RedisResult<Vec<MultiplexedConnection>> {
        let first = self.listening_post(0).await?;
        let mut connection = first.get_multiplexed_async_connection_with_config(&timeouts()).await?;
        let Place::Cluster(_) = self else { return Ok(vec![connection]) };
        let slots: Value = redis::cmd("CLUSTER").arg("SLOTS").query_async(&mut connection).await?;
        let mut addresses = masters_of(&slots);
        addresses.sort_unstable();
        addresses.dedup();
        let mut masters = Vec::with_capacity(addresses.len());
        for (host, port) in addresses {
            let info = first.get_connection_info().clone();
            let address = match info.addr() {
                ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                    ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
                }
                _ => ConnectionAddr::Tcp(host, port),
            };
            let node = Client::open(info.set_addr(address))?;
            masters.push(node.get_multiplexed_async_connection_with_config(&timeouts()).await?);
        }
        Ok(masters)
    }

    async fn dial(&self, turn: usize) -> RedisResult<Wire> {
        match self {
            Place::Cluster(urls) => {
                let client = ClusterClient::builder(urls.iter().map(String::as_str))
                    .connection_timeout(PATIENCE)
                    .response_timeout(PATIENCE)
                    .tcp_settings(TcpSettings::default().set_nodelay(true))
                    .retries(2)
                    .build()?;
                Ok(Wire::Cluster(client.get_async_connection().await?))
            }
            Place::Single(_) | Place::Sentinel { .. } => {
                let client = self.listening_post(turn).await?;
                Ok(Wire::Node(client.get_multiplexed_async_connection_with_config(&timeouts()).await?))
            }
        }
    }
}

fn in_turn(urls: &[String], turn: usize) -> impl Iterator<Item = &str> {
    urls.iter().cycle().skip(turn % urls.len().max(1)).take(urls.len()).map(String::as_str)
}

fn client(url: &str) -> RedisResult<Client> {
    // Off by default, and every command here is one small packet that somebody waits for.
    Client::open(url.into_connection_info()?.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
}

fn timeouts() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE))
}

/// Host and port of each range's master in an answer to `CLUSTER SLOTS`: (from, to, (host, port, ..), replicas ..) each.
fn masters_of(slots: &Value) -> Vec<(String, u16)> {
    let of_range = |range: &Value| -> Option<(String, u16)> {
        let Value::Array(range) = range else { return None };
        let Value::Array(master) = range.get(2)? else { return None };
        let host = redis::from_redis_value_ref(master.first()?).ok()?;
        let port = redis::from_redis_value_ref(master.get(1)?).ok()?;
        Some((host, port))
    };
    match slots {
        Value::Array(ranges) => ranges.iter().filter_map(of_range).collect(),
        _ => Vec::new(),
    }
}

#[derive(Clone)]
enum Wire {
    Node(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Wire {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Wire::Node(wire) => wire.req_packed_command(cmd),
            Wire::Cluster(wire) => wire.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Wire::Node(wire) => wire.req_packed_commands(pipeline, offset, count),
            Wire::Cluster(wire) => wire.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Wire::Node(wire) => wire.get_db(),
            Wire::Cluster(wire) => wire.get_db(),
        }
    }
}

/// One way to Redis, for all of this process that needs it.
#[derive(Clone)]
pub struct Redis(Arc<Line>);

impl Redis {
    /// Does not reach out: a Redis that is away is an error of each thing asked of it, until it is back.
    pub fn at(place: Place) -> Result<Redis, PlaceError> {
        place.check()?;
        Ok(Redis(Arc::new(Line { place, wire: Mutex::new(None), dialled: AtomicUsize::new(0) })))
    }

    pub(crate) fn line(&self) -> Arc<Line> {
        self.0.clone()
    }
}

/// The connection that everyone of this process shares.
pub(crate) struct Line {
    pub place: Place,
    wire: Mutex<Option<Wire>>,
    dialled: AtomicUsize,
}

impl Line {
    /// A connection that looked sound a moment ago.
    async fn wire(&self) -> RedisResult<Wire> {
        let mut wire = self.wire.lock().await;
        if let Some(wire) = wire.as_ref() {
            return Ok(wire.clone());
        }
        let turn = self.dialled.fetch_add(1, Ordering::Relaxed);
        let dialled = self.place.dial(turn).await?;
        *wire = Some(dialled.clone());
        Ok(dialled)
    }

    /// Runs a script once. Keys that one script names stand under one hash tag. However many wait for the same
    /// connection, none waits for longer than it may.
    pub async fn run<T: redis::FromRedisValue>(&self, script: &redis::ScriptInvocation<'_>) -> RedisResult<T> {
        let answer = tokio::time::timeout(campanile_coord::PATIENCE, async {
            let mut wire = self.wire().await?;
            script.invoke_async(&mut wire).await
        });
        let answer = answer.await.unwrap_or_else(|_| Err(late()));
        if answer.as_ref().is_err_and(is_the_wires_fault)
            // Whoever dials just now is on the way to a new one.
            && let Ok(mut wire) = self.wire.try_lock()
        {
            *wire = None;
        }
        answer
    }
}

pub(crate) fn late() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

/// Whether another connection may do better: this one broke, or leads to a server that is no master any more.
fn is_the_wires_fault(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_unrecoverable_error()
        || matches!(error.kind(), ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_begins_with_another_address() {
        let urls = ["a", "b", "c"].map(str::to_owned);
        for (turn, order) in [(0, ["a", "b", "c"]), (1, ["b", "c", "a"]), (5, ["c", "a", "b"])] {
            assert_eq!(in_turn(&urls, turn).collect::<Vec<_>>(), order);
        }
        assert_eq!(in_turn(&[], 3).count(), 0);
    }
}
