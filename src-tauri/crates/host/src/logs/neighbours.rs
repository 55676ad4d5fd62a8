//! Fetches lines from the nodes that keep them, by their API and the certificates that their rows name.
//!
//! A node that could not be asked just now is not asked again for a moment: whoever reads waits for it once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_engine::logs::{LogLine, LogPage, LogStream};
use campanile_model::node::{NodeApi, NodeEntry};
use campanile_model::{Fault, Timestamp};
use campanile_store::{LogPart, Store, StoreError};
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::team::{Others, known_by};
use crate::teams::pinned;

const CONNECTS_WITHIN: Duration = Duration::from_secs(1);

const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Rows of nodes are good for so long.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// So long is a node that did not answer taken for away.
const STAYS_AWAY: Duration = Duration::from_secs(2);

/// Lines that one question brings; a page of a person's is no larger.
pub(crate) const MOST_LINES: usize = 5_000;

/// Where it is asked.
pub(crate) const PATH: &str = "/api/log-parts";

/// What one node asks another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub task: String,
    pub attempt: u32,
    pub part: u32,
    /// Who is meant; somebody else at that address does not answer.
    pub keeper: String,
    pub from: i64,
    pub limit: usize,
}

/// What it is given.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Given {
    /// When, by which stream, what.
    lines: Vec<(Timestamp, String, String)>,
    starts: Vec<u64>,
    next: u64,
    at_end: bool,
}

impl From<LogPage> for Given {
    fn from(page: LogPage) -> Given {
        let LogPage { lines, starts, next, at_end } = page;
        let lines = lines.into_iter().map(|line| (line.at, line.stream.name().to_owned(), line.text)).collect();
        Given { lines, starts, next, at_end }
    }
}

impl From<Given> for LogPage {
    fn from(given: Given) -> LogPage {
        let Given { lines, starts, next, at_end } = given;
        let line = |(at, stream, text): (Timestamp, String, String)| {
            let stream = LogStream::named(&stream).unwrap_or(LogStream::Log);
            LogLine { at, stream, text }
        };
        LogPage { lines: lines.into_iter().map(line).collect(), starts, next, at_end }
    }
}

/// What proves to another node that this one is of the team.
#[async_trait]
pub(crate) trait Passes: Send + Sync {
    /// One that is good for now; another one where the last was `refused`.
    async fn pass(&self, refused: bool) -> Result<String, Fault>;
}

pub(crate) struct Neighbours {
    store: Arc<dyn Store>,
    machine: String,
    passes: Box<dyn Passes>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    nodes: Vec<NodeEntry>,
    looked_at: Option<Instant>,
    /// By fingerprint.
    clients: HashMap<Option<String>, Client>,
    /// By what the keeper is known by, since when.
    away: HashMap<String, Instant>,
}

type Trouble = Box<dyn std::error::Error + Send + Sync>;

impl Neighbours {
    pub fn new(store: Arc<dyn Store>, machine: String, passes: Box<dyn Passes>) -> Neighbours {
        Neighbours { store, machine, passes, known: Mutex::default() }
    }

    /// How the keeper is reached now; none: it is not, or was not just now.
    async fn way(&self, keeper: &str) -> Result<Option<(NodeApi, Client)>, Trouble> {
        let mut known = self.known.lock().await;
        known.away.retain(|_, since| since.elapsed() < STAYS_AWAY);
        if known.away.contains_key(keeper) {
            return Ok(None);
        }
        if known.looked_at.is_none_or(|at| at.elapsed() >= LOOKS_EVERY) {
            known.nodes = self.nodes().await?;
            known.looked_at = Some(Instant::now());
        }
        // Of several lives the latest.
        let lives = known.nodes.iter().filter(|node| known_by(&node.keeper) == keeper).max_by_key(|node| node.seen_at);
        let api = lives.and_then(|node| node.api.clone()).filter(|api| api.leads_there_from(&self.machine));
        let Some(api) = api else { return Ok(None) };
        let client = match known.clients.get(&api.fingerprint) {
            Some(client) => client.clone(),
            None => {
                let client = pinned::client(api.fingerprint.as_deref(), CONNECTS_WITHIN)?;
                known.clients.insert(api.fingerprint.clone(), client.clone());
                client
            }
        };
        Ok(Some((api, client)))
    }

    async fn nodes(&self) -> Result<Vec<NodeEntry>, StoreError> {
        self.store.nodes().await
    }

    async fn ask(&self, asked: &Asked) -> Result<Option<LogPage>, Trouble> {
        let Some((api, client)) = self.way(known_by(&asked.keeper)).await? else { return Ok(None) };
        let place = format!("{}{PATH}", pinned::base(&api.address, api.fingerprint.as_deref()));
        let mut refused = false;
        loop {
            let pass = self.passes.pass(refused).await?;
            let question = client.post(&place).bearer_auth(pass).timeout(ANSWERS_WITHIN).json(asked);
            let answer = question.send().await?;
            if answer.status() == StatusCode::UNAUTHORIZED && !refused {
                refused = true;
                continue;
            }
            let given: Given = answer.error_for_status()?.json().await?;
            return Ok(Some(given.into()));
        }
    }
}

#[async_trait]
impl Others for Neighbours {
    async fn read(&self, part: &LogPart, from: i64, limit: usize) -> Option<LogPage> {
        let asked = Asked {
            task: part.task.to_string(),
            attempt: part.attempt,
            part: part.part,
            keeper: part.keeper.clone(),
            from,
            limit: limit.min(MOST_LINES),
        };
        self.ask(&asked).await.unwrap_or_else(|error| {
            tracing::warn!(
                keeper = part.keeper,
                error = &*error as &dyn std::error::Error,
                "a part of a log is out of reach"
            );
            None
        })
    }
}
