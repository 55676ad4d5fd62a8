//! Brings executors what follows a push: items of a shard, the whole data, or the ends of all shards.
//!
//! Everything goes in pieces, a piece of each delivery in turn, and only while the executor takes what it is told: so
//! that neither a large run nor a slow executor fills the node's memory. A delivery lives in memory alone. Where it is
//! cut short, by the end of the session or of the node, the executor says so of the attempt, and the next attempt gets
//! what is still to be done.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::sharding::{Piece, PieceOutcomes};
use campanile_model::task::Part;
use campanile_model::{InstanceId, TaskId};
use campanile_store::StoreError;
use tokio::sync::Notify;

use crate::link::{AttemptRef, SessionId, ShardEnd, ToExecutor};
use crate::shared::Shared;

/// Pieces, chunks or tasks that are read at once.
const AT_ONCE: usize = 8;

/// Of one message of ends, in bytes, or a little more.
const MOST_BYTES: usize = 256 * 1024;

/// Between two looks at executors that do not take what they are told, and between two tries at storage.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// What is still to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Items of a shard of which nothing is known, from that place of its level on.
    Items { level: u32, shard: u32, count: u32, from: u64 },
    /// The data of that draft, from that level and place on.
    Data { draft: u32, from: (u32, u64) },
    /// How shards ended, after that task.
    Ends { after: Option<TaskId> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub session: SessionId,
    pub attempt: AttemptRef,
    pub instance: InstanceId,
    pub contents: Contents,
}

/// What is to be delivered, in turn.
#[derive(Default)]
pub struct Deliveries {
    waiting: Mutex<VecDeque<Delivery>>,
    news: Notify,
}

impl Deliveries {
    pub fn add(&self, delivery: Delivery) {
        self.lock().push_back(delivery);
        self.news.notify_one();
    }

    fn take(&self) -> Option<Delivery> {
        self.lock().pop_front()
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Courier {
    shared: Arc<Shared>,
}

impl Courier {
    pub fn new(shared: Arc<Shared>) -> Courier {
        Courier { shared }
    }

    /// Delivers for as long as it is let.
    pub async fn deliver(&self) -> std::convert::Infallible {
        let deliveries = &self.shared.deliveries;
        let clock = &self.shared.clock;
        // So many in a row that could not go on.
        let mut stuck = 0;
        loop {
            let Some(delivery) = deliveries.take() else {
                stuck = 0;
                deliveries.news.notified().await;
                continue;
            };
            if !self.shared.link.has_room(delivery.session) {
                deliveries.add(delivery);
                stuck += 1;
                if stuck >= deliveries.len() {
                    stuck = 0;
                    clock.sleep_until(clock.now() + LOOK_AGAIN).await;
                }
                continue;
            }
            stuck = 0;
            match self.go_on(delivery.clone()).await {
                Ok(Some(rest)) => deliveries.add(rest),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "data of a run cannot be read");
                    deliveries.add(delivery);
                    clock.sleep_until(clock.now() + TRY_AGAIN).await;
                }
            }
        }
    }

    /// Tells the next of it, and hands back what is left. Everything is read before anything is told: what failed is
    /// tried again, and nothing may be told twice on one stream.
    async fn go_on(&self, delivery: Delivery) -> Result<Option<Delivery>, StoreError> {
        let Delivery { attempt, instance, .. } = delivery;
        let store = &self.shared.store;
        let is_ends = matches!(delivery.contents, Contents::Ends { .. });
        let (messages, left): (Vec<ToExecutor>, Option<Contents>) = match delivery.contents {
            Contents::Items { level, shard, count, from } => {
                let pieces = store.pieces(instance, (level, shard), from, AT_ONCE).await?;
                let next = pieces.last().map(|(piece, _)| piece.at.first + 1).filter(|_| pieces.len() == AT_ONCE);
                let messages = pieces.into_iter().filter_map(|piece| {
                    let items = open_items(piece, count);
                    (!items.is_empty()).then_some(ToExecutor::ShardData { attempt, level, items, last: false })
                });
                (messages.collect(), next.map(|from| Contents::Items { level, shard, count, from }))
            }
            Contents::Data { draft, from } => {
                let chunks = store.chunks(instance, draft, from, AT_ONCE).await?;
                let next = chunks.last().map(|chunk| (chunk.level, chunk.end())).filter(|_| chunks.len() == AT_ONCE);
                let messages = chunks.into_iter().map(|chunk| {
                    let items = (chunk.first..).zip(chunk.items).collect();
                    ToExecutor::ShardData { attempt, level: chunk.level, items, last: false }
                });
                (messages.collect(), next.map(|from| Contents::Data { draft, from }))
            }
            Contents::Ends { after } => {
                let tasks = store.tasks_after(instance, after, 10 * AT_ONCE).await?;
                let next = tasks.last().map(|task| task.id).filter(|_| tasks.len() == 10 * AT_ONCE);
                let ends = tasks.into_iter().filter_map(|task| match task.part {
                    Some(Part::Shard { level, index, .. }) => Some(ShardEnd {
                        level,
                        shard: index,
                        state: task.state(),
                        result: task.result,
                        failure: task.failure,
                    }),
                    _ => None,
                });
                let messages = bundled(ends.collect());
                let messages = messages.into_iter().map(|ends| ToExecutor::ShardEnds { attempt, ends, last: false });
                (messages.collect(), next.map(|after| Contents::Ends { after: Some(after) }))
            }
        };
        for message in messages {
            if !self.shared.link.tell(delivery.session, message) {
                return Ok(None);
            }
        }
        if let Some(contents) = left {
            return Ok(Some(Delivery { contents, ..delivery }));
        }
        let last = match is_ends {
            true => ToExecutor::ShardEnds { attempt, ends: Vec::new(), last: true },
            false => ToExecutor::ShardData { attempt, level: 0, items: Vec::new(), last: true },
        };
        self.shared.link.tell(delivery.session, last);
        Ok(None)
    }
}

/// Items of a piece of which nothing is known, with their places in the level.
fn open_items((piece, said): (Piece, PieceOutcomes), count: u32) -> Vec<(u64, String)> {
    let places = (piece.at.first..).step_by(count.max(1) as usize);
    let open: std::collections::HashSet<usize> = said.outcomes.open().collect();
    let items = places.zip(piece.items).enumerate();
    items.filter(|(place, _)| open.contains(place)).map(|(_, item)| item).collect()
}

/// Ends in messages that are not too large.
fn bundled(ends: Vec<ShardEnd>) -> Vec<Vec<ShardEnd>> {
    let mut bundles: Vec<Vec<ShardEnd>> = Vec::new();
    let mut bytes = MOST_BYTES;
    for end in ends {
        let failure = end.failure.as_ref().map_or(0, |failure| failure.message.en.len() + failure.message.zh.len());
        let weight = end.result.as_ref().map_or(0, String::len) + failure + 64;
        if bytes + weight > MOST_BYTES {
            bundles.push(Vec::new());
            bytes = 0;
        }
        bytes += weight;
        bundles.last_mut().expect("one was just begun").push(end);
    }
    bundles
}
