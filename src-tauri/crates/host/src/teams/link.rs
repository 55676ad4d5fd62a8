//! A team as a console reaches it: through one of its nodes at a time, and through another when that one goes.
//!
//! What could not be handed to a node is handed to the next. What a node took and did not answer is not asked again by
//! itself: it may have been done.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use campanile_api::Lang;
use campanile_api::views::{Bootstrap, Frame, GivenFile, TeamNodeTried};
use campanile_model::connection::Secret;
use campanile_model::{Code, Fault, Words};
use futures::{StreamExt as _, TryStreamExt as _};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tokio_util::io::ReaderStream;

use crate::downloads::Wanted;
use crate::saving;

const CONNECTS_WITHIN: Duration = Duration::from_secs(3);

/// A node itself gives up sooner on what it hands to the engine.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// A node says at least this often that it is there.
const SILENT_AFTER: Duration = Duration::from_secs(10);

pub struct Team {
    name: String,
    nodes: Vec<Node>,
    /// The node that answered last, or is tried next.
    at: AtomicUsize,
    client: Client,
}

pub(super) struct Node {
    /// `http://127.0.0.1:4000`
    pub base: String,
    pub token: Secret,
}

impl Team {
    pub(super) fn new(name: &str, nodes: Vec<Node>) -> Team {
        let client = Client::builder().connect_timeout(CONNECTS_WITHIN).redirect(Policy::none()).no_proxy().build();
        let client = client.unwrap_or_else(|error| {
            // Only where the system's certificates cannot be read; then each request says so.
            tracing::error!(%error, "the way to a team begins without its settings");
            Client::new()
        });
        Team { name: name.to_owned(), nodes, at: AtomicUsize::new(0), client }
    }

    /// The node that answered last, or is tried next.
    pub fn node(&self) -> Option<&str> {
        self.nodes.get(self.at.load(Ordering::Relaxed)).map(|node| node.base.as_str())
    }

    pub async fn call(&self, operation: &str, input: &Value, zone: &str, lang: Lang) -> Result<Value, Fault> {
        let envelope = json!({"input": input, "zone": zone, "lang": lang});
        let (_, response) =
            self.ask(|node| Ok(self.post(node, operation).timeout(ANSWERS_WITHIN).json(&envelope))).await?;
        self.read(response).await
    }

    /// The live feed of a node, until it goes, is silent, or `each` wants no more; the next try begins with another one.
    pub async fn follow(&self, mut each: impl FnMut(Frame) -> bool) -> Result<(), Fault> {
        let mut refused = None;
        let mut reason = Words::default();
        for at in self.order() {
            let node = &self.nodes[at];
            let address = format!("{}/api/feed", node.base.replacen("http", "ws", 1));
            let address = Url::parse_with_params(&address, [("token", &node.token.0)])
                .map_err(|error| Code::BadRequest.fault().with("reason", error))?;
            let opening = tokio_tungstenite::connect_async(address.as_str());
            let mut socket = match timeout(CONNECTS_WITHIN, opening).await {
                Ok(Ok((socket, _))) => socket,
                Ok(Err(tungstenite::Error::Http(answer))) if answer.status() == 401 => {
                    refused = Some(Code::TokenWrong.fault());
                    continue;
                }
                Ok(Err(error)) => {
                    reason = plain(&format!("{}: {error}", node.base));
                    continue;
                }
                Err(_) => {
                    reason = no_answer(&node.base);
                    continue;
                }
            };
            self.at.store(at, Ordering::Relaxed);
            while let Ok(Some(Ok(message))) = timeout(SILENT_AFTER, socket.next()).await {
                let tungstenite::Message::Text(text) = message else { continue };
                let frame = serde_json::from_str(&text)
                    .map_err(|error| Code::NoNode.fault().with("address", &node.base).with("reason", error))?;
                if !each(frame) {
                    return Ok(());
                }
            }
            self.at.store((at + 1) % self.nodes.len(), Ordering::Relaxed);
            return Ok(());
        }
        Err(refused.unwrap_or_else(|| self.away(&reason)))
    }

    /// Writes a log or a report of the team to a file of this machine.
    pub async fn save(&self, wanted: &Wanted, path: &Path, lang: Lang) -> Result<(), Fault> {
        let envelope = json!({"input": wanted, "lang": lang});
        let (at, response) =
            self.ask(|node| Ok(self.post(node, "downloads").timeout(ANSWERS_WITHIN).json(&envelope))).await?;
        let offer: Value = self.read(response).await?;
        let ticket = offer.get("ticket").and_then(Value::as_str).unwrap_or_default();
        // A ticket is good where it was drawn.
        let asked = self.client.get(format!("{}/api/downloads/{ticket}", self.nodes[at].base)).send().await;
        let response = asked.map_err(|error| self.silent(&error))?;
        if !response.status().is_success() {
            return self.read::<Value>(response).await.map(|_| ());
        }
        saving::write(path, response.bytes_stream().map_err(|error| self.silent(&error))).await
    }

    /// Sends a file of this machine to a node.
    pub async fn hand_in(&self, path: &Path) -> Result<GivenFile, Fault> {
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
                let request = self.client.post(place).bearer_auth(&node.token.0);
                Ok(request.header("content-length", bytes).body(reqwest::Body::wrap_stream(pieces)))
            })
            .await?;
        self.read(response).await
    }

    /// What each node says when it is asked who it is.
    pub async fn test(&self) -> Vec<TeamNodeTried> {
        let mut tried = Vec::new();
        for node in &self.nodes {
            let asked = self.post(node, "bootstrap").timeout(CONNECTS_WITHIN).json(&json!({"input": {}})).send().await;
            let found: Result<Bootstrap, Fault> = match asked {
                Ok(response) => self.read(response).await,
                Err(error) => Err(self.away(&why(&node.base, &error))),
            };
            let address = node.base.clone();
            tried.push(match found {
                Ok(node) => TeamNodeTried { address, version: Some(node.version), fault: None },
                Err(fault) => TeamNodeTried { address, version: None, fault: Some(fault) },
            });
        }
        tried
    }

    fn post(&self, node: &Node, what: &str) -> RequestBuilder {
        self.client.post(format!("{}/api/{what}", node.base)).bearer_auth(&node.token.0)
    }

    /// Each node once, from the one that answered last.
    fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = (self.at.load(Ordering::Relaxed), self.nodes.len());
        (0..count).map(move |step| (first + step) % count)
    }

    /// Asks the first node that can be reached.
    async fn ask(&self, request: impl Fn(&Node) -> Result<RequestBuilder, Fault>) -> Result<(usize, Response), Fault> {
        let mut reason = Words::default();
        for at in self.order() {
            let node = &self.nodes[at];
            match request(node)?.send().await {
                Ok(response) => {
                    self.at.store(at, Ordering::Relaxed);
                    return Ok((at, response));
                }
                // Nothing has been asked of it.
                Err(error) if error.is_connect() => reason = why(&node.base, &error),
                Err(error) => return Err(self.silent(&error)),
            }
        }
        Err(self.away(&reason))
    }

    async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, Fault> {
        let (status, address) = (response.status(), response.url().origin().ascii_serialization());
        let bytes = response.bytes().await.map_err(|error| self.silent(&error))?;
        let other =
            |reason: &dyn std::fmt::Display| Code::NoNode.fault().with("address", &address).with("reason", reason);
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|error| other(&error));
        }
        Err(serde_json::from_slice::<Fault>(&bytes).unwrap_or_else(|_| other(&status)))
    }

    fn away(&self, reason: &Words) -> Fault {
        Code::TeamAway.fault().with("team", &self.name).with_words("reason", reason)
    }

    fn silent(&self, error: &reqwest::Error) -> Fault {
        Code::TeamSilent.fault().with("team", &self.name).with_words("reason", &why("", error))
    }
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
