//! The way to a team's nodes: through one of them at a time, and through another when that one goes.
//!
//! What could not be handed to a node is handed to the next. What a node took and did not answer is not asked again by
//! itself: it may have been done. Which nodes there are, and what opens them, is said from outside and may change.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_api::Lang;
use campanile_api::views::{Bootstrap, Frame, GivenFile};
use campanile_model::connection::Secret;
use campanile_model::node::NodeApi;
use campanile_model::{Code, Fault, Words};
use futures::future::join_all;
use futures::{StreamExt as _, TryStreamExt as _};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};
use rustls::ClientConfig;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, tungstenite};
use tokio_util::io::ReaderStream;

use super::pinned;
use crate::downloads::Wanted;
use crate::saving;

const CONNECTS_WITHIN: Duration = Duration::from_secs(3);

/// A node itself gives up sooner on what it hands to the engine.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// A node says at least this often that it is there.
const SILENT_AFTER: Duration = Duration::from_secs(10);

pub(super) struct Link {
    name: String,
    nodes: Mutex<Nodes>,
}

#[derive(Default)]
struct Nodes {
    all: Vec<Arc<Node>>,
    /// The node that answered last, or is tried next.
    at: usize,
}

/// A node, and what opens it.
pub(super) struct Node {
    /// `http://127.0.0.1:4000`
    base: String,
    token: Secret,
    client: Client,
    /// What the handshake of its feed goes by; none: the system's authorities.
    tls: Option<Arc<ClientConfig>>,
    fingerprint: Option<String>,
}

impl Node {
    /// By an address that a person gave: a certificate is checked as any is.
    pub fn given(base: String, token: Secret) -> Node {
        let client = Client::builder().connect_timeout(CONNECTS_WITHIN).redirect(Policy::none()).no_proxy().build();
        let client = client.unwrap_or_else(|error| {
            // Only where the system's certificates cannot be read; then each request says so.
            tracing::error!(%error, "the way to a team begins without its settings");
            Client::new()
        });
        Node { base, token, client, tls: None, fingerprint: None }
    }

    /// By its row: exactly the certificate that the row names is trusted.
    pub fn of_row(api: &NodeApi, token: Secret) -> Result<Node, Fault> {
        let trouble =
            |error: &dyn std::fmt::Display| Code::NoNode.fault().with("address", &api.address).with("reason", error);
        let fingerprint = api.fingerprint.clone();
        let tls = fingerprint.as_deref().map(pinned::tls).transpose().map_err(|error| trouble(&error))?;
        let client = pinned::client(fingerprint.as_deref(), CONNECTS_WITHIN).map_err(|error| trouble(&error))?;
        Ok(Node { base: pinned::base(&api.address, fingerprint.as_deref()), token, client, tls, fingerprint })
    }

    fn is_as(&self, other: &Node) -> bool {
        self.base == other.base && self.fingerprint == other.fingerprint && self.token == other.token
    }

    fn post(&self, what: &str) -> RequestBuilder {
        self.client.post(format!("{}/api/{what}", self.base)).bearer_auth(&self.token.0)
    }

    async fn feed(&self) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, Miss> {
        let address = format!("{}/api/feed", self.base.replacen("http", "ws", 1));
        let address = Url::parse_with_params(&address, [("token", &self.token.0)])
            .map_err(|error| Code::BadRequest.fault().with("reason", error))?;
        let connector = self.tls.clone().map(Connector::Rustls);
        let opening = tokio_tungstenite::connect_async_tls_with_config(address.as_str(), None, false, connector);
        match timeout(CONNECTS_WITHIN, opening).await {
            Ok(Ok((socket, _))) => Ok(socket),
            Ok(Err(SocketError::Http(answer))) if answer.status() == 401 => Err(Code::TokenWrong.fault().into()),
            Ok(Err(error)) => Err(Miss::Away(plain(&format!("{}: {error}", self.base)))),
            Err(_) => Err(Miss::Away(no_answer(&self.base))),
        }
    }

    /// Asks it who it is.
    pub async fn answers(&self) -> Result<Bootstrap, Miss> {
        let asked = self.post("bootstrap").timeout(CONNECTS_WITHIN).json(&json!({"input": {}})).send().await;
        let response = asked.map_err(|error| Miss::Away(why(&self.base, &error)))?;
        read(response).await
    }

    pub fn base(&self) -> &str {
        &self.base
    }
}

/// Why nothing came of it.
#[derive(Debug)]
pub(super) enum Miss {
    /// No node took it.
    Away(Words),
    /// A node took it and did not answer.
    Silent(Words),
    /// A node said no, or what was asked could not even be sent.
    Refused(Fault),
}

impl From<Fault> for Miss {
    fn from(fault: Fault) -> Miss {
        Miss::Refused(fault)
    }
}

impl Miss {
    /// As a person sees it who looks at a team of that name.
    pub fn fault(self, team: &str) -> Fault {
        let of_team = |code: Code, reason: &Words| code.fault().with("team", team).with_words("reason", reason);
        match self {
            Miss::Away(reason) => of_team(Code::TeamAway, &reason),
            Miss::Silent(reason) => of_team(Code::TeamSilent, &reason),
            Miss::Refused(fault) => fault,
        }
    }
}

impl Link {
    pub fn new(name: &str, nodes: Vec<Node>) -> Link {
        let all = nodes.into_iter().map(Arc::new).collect();
        Link { name: name.to_owned(), nodes: Mutex::new(Nodes { all, at: 0 }) }
    }

    /// From now on these are the nodes; the one that answered last stays the first to be asked.
    pub fn has(&self, nodes: Vec<Node>) {
        let mut known = self.lock();
        let at = known.all.get(known.at).cloned();
        // What is as it was keeps its connections.
        let before = std::mem::take(&mut known.all);
        let kept = |node: Node| before.iter().find(|one| one.is_as(&node)).cloned().unwrap_or_else(|| Arc::new(node));
        known.all = nodes.into_iter().map(kept).collect();
        let place = at.and_then(|at| known.all.iter().position(|node| node.base == at.base));
        known.at = place.unwrap_or(0);
    }

    pub fn all(&self) -> Vec<Arc<Node>> {
        self.lock().all.clone()
    }

    /// The node that answered last, or is tried next.
    pub fn node(&self) -> Option<String> {
        let nodes = self.lock();
        nodes.all.get(nodes.at).map(|node| node.base.clone())
    }

    /// Whether a node answers that lets us in; it is the first to be asked then.
    pub async fn finds_one(&self) -> Result<(), Miss> {
        let nodes = self.order();
        let answers = join_all(nodes.iter().map(|node| node.answers())).await;
        let mut missed = None;
        for (node, answer) in nodes.iter().zip(answers) {
            match answer {
                Ok(_) => {
                    self.is_at(node);
                    return Ok(());
                }
                Err(miss) => {
                    missed.get_or_insert(miss);
                }
            }
        }
        Err(missed.unwrap_or_else(|| Miss::Away(Words::default())))
    }

    pub async fn call(&self, operation: &str, input: &Value, zone: &str, lang: Lang) -> Result<Value, Miss> {
        let envelope = json!({"input": input, "zone": zone, "lang": lang});
        let (_, response) = self.ask(|node| Ok(node.post(operation).timeout(ANSWERS_WITHIN).json(&envelope))).await?;
        read(response).await
    }

    /// The live feed of a node, until it goes, is silent, or `each` wants no more (then false); the next try begins with
    /// another one.
    pub async fn follow(&self, each: &mut impl FnMut(Frame) -> bool) -> Result<bool, Miss> {
        let mut missed = Miss::Away(Words::default());
        for node in self.order() {
            let mut socket = match node.feed().await {
                Ok(socket) => socket,
                Err(miss) => {
                    // That one was refused says more than that another is away.
                    if !matches!(missed, Miss::Refused(_)) {
                        missed = miss;
                    }
                    continue;
                }
            };
            self.is_at(&node);
            while let Ok(Some(Ok(message))) = timeout(SILENT_AFTER, socket.next()).await {
                let tungstenite::Message::Text(text) = message else { continue };
                let frame = serde_json::from_str(&text)
                    .map_err(|error| Code::NoNode.fault().with("address", &node.base).with("reason", error))?;
                if !each(frame) {
                    return Ok(false);
                }
            }
            self.is_past(&node);
            return Ok(true);
        }
        Err(missed)
    }

    /// Writes a log or a report of the team to a file of this machine.
    pub async fn save(&self, wanted: &Wanted, path: &Path, lang: Lang) -> Result<(), Miss> {
        let envelope = json!({"input": wanted, "lang": lang});
        let (node, response) =
            self.ask(|node| Ok(node.post("downloads").timeout(ANSWERS_WITHIN).json(&envelope))).await?;
        let offer: Value = read(response).await?;
        let ticket = offer.get("ticket").and_then(Value::as_str).unwrap_or_default();
        // A ticket is good where it was drawn.
        let asked = node.client.get(format!("{}/api/downloads/{ticket}", node.base)).send().await;
        let response = asked.map_err(|error| Miss::Silent(why("", &error)))?;
        if !response.status().is_success() {
            return read::<Value>(response).await.map(|_| ());
        }
        let silent = |error| Miss::Silent(why("", &error)).fault(&self.name);
        Ok(saving::write(path, response.bytes_stream().map_err(silent)).await?)
    }

    /// Sends a file of this machine to a node.
    pub async fn hand_in(&self, path: &Path) -> Result<GivenFile, Miss> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unreadable =
            |error: std::io::Error| Code::DataFileUnreadable.fault().with("file", &name).with("reason", error);
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let (_, response) = self
            .ask(|node| {
                let place = format!("{}/api/uploads", node.base);
                let place = Url::parse_with_params(&place, [("name", &name)]);
                let place = place.map_err(|error| Code::BadRequest.fault().with("reason", error))?;
                let pieces = ReaderStream::new(tokio::fs::File::from_std(file.try_clone().map_err(unreadable)?));
                let request = node.client.post(place).bearer_auth(&node.token.0);
                Ok(request.header("content-length", bytes).body(reqwest::Body::wrap_stream(pieces)))
            })
            .await?;
        read(response).await
    }

    /// Each node once, from the one that answered last.
    fn order(&self) -> Vec<Arc<Node>> {
        let nodes = self.lock();
        let (before, from) = nodes.all.split_at(nodes.at.min(nodes.all.len()));
        from.iter().chain(before).cloned().collect()
    }

    fn is_at(&self, node: &Node) {
        self.is_by(node, 0);
    }

    fn is_past(&self, node: &Node) {
        self.is_by(node, 1);
    }

    fn is_by(&self, node: &Node, after: usize) {
        let mut nodes = self.lock();
        if let Some(place) = nodes.all.iter().position(|one| one.base == node.base) {
            nodes.at = (place + after) % nodes.all.len();
        }
    }

    /// Asks the first node that can be reached.
    async fn ask(
        &self,
        request: impl Fn(&Node) -> Result<RequestBuilder, Fault>,
    ) -> Result<(Arc<Node>, Response), Miss> {
        let mut reason = Words::default();
        for node in self.order() {
            match request(&node)?.send().await {
                Ok(response) => {
                    self.is_at(&node);
                    return Ok((node, response));
                }
                // Nothing has been asked of it.
                Err(error) if error.is_connect() => reason = why(&node.base, &error),
                Err(error) => return Err(Miss::Silent(why("", &error))),
            }
        }
        Err(Miss::Away(reason))
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, Miss> {
    let (status, address) = (response.status(), response.url().origin().ascii_serialization());
    let bytes = response.bytes().await.map_err(|error| Miss::Silent(why("", &error)))?;
    let other = |reason: &dyn std::fmt::Display| {
        Miss::Refused(Code::NoNode.fault().with("address", &address).with("reason", reason))
    };
    if status.is_success() {
        return serde_json::from_slice(&bytes).map_err(|error| other(&error));
    }
    Err(serde_json::from_slice(&bytes).map_or_else(|_| other(&status), Miss::Refused))
}

fn no_answer(base: &str) -> Words {
    let seconds = CONNECTS_WITHIN.as_secs();
    Words::new(format!("{base}: nothing within {seconds} s"), format!("{base}：{seconds} 秒内没有应答"))
}

/// The innermost cause says what is the matter; what stands around it names the address, and may name the token.
fn why(base: &str, error: &reqwest::Error) -> Words {
    if error.is_timeout() {
        return no_answer(base);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    plain(&if base.is_empty() { cause.to_string() } else { format!("{base}: {cause}") })
}

/// What a library says, in the one language it has.
fn plain(text: &str) -> Words {
    Words::new(text, text)
}
