//! Brings executors what follows a push: items of a shard, the whole data, or the ends of all shards.
//!
//! Everything goes in pieces, a piece of each delivery in turn, and only while the executor takes what it is told: so
//! that neither a large run nor a slow executor fills the node's memory. A delivery lives in memory alone. Where it is
//! cut short, by the end of the session or of the node, the executor says so of the attempt, and the next attempt gets
//! what is still to be done.

mod portion;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::sharding::{Piece, PieceAt, PieceOutcomes};
use campanile_model::task::Part;
use campanile_model::{InstanceId, TaskId};
use campanile_store::StoreError;
pub use portion::Portion;
use tokio::sync::Notify;

use crate::link::{AttemptRef, SessionId, ShardEnd, ToExecutor};
use crate::shared::Shared;

/// Chunks that are read at once; and ten times as many tasks.
const AT_ONCE: usize = 8;

/// Of one message of ends, in bytes, or a little more.
const MOST_BYTES: usize = 256 * 1024;

/// Between two looks at executors that do not take what they are told, and between two tries at storage.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// What is still to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Items of a shard of which nothing is known, from that piece on; `count` shards share the level.
    Items { from: PieceAt, count: u32 },
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

    /// Those whose turn it is, so many at most.
    fn take(&self, most: usize) -> Vec<Delivery> {
        let mut waiting = self.lock();
        let most = most.min(waiting.len());
        waiting.drain(..most).collect()
    }

    /// Puts them behind the others.
    fn put_back(&self, deliveries: Vec<Delivery>) {
        self.lock().extend(deliveries);
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Delivery>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A delivery of items.
struct OfItems {
    delivery: Delivery,
    from: PieceAt,
    count: u32,
}

impl OfItems {
    fn of(delivery: Delivery) -> Result<OfItems, Delivery> {
        match delivery.contents {
            Contents::Items { from, count } => Ok(OfItems { delivery, from, count }),
            _ => Err(delivery),
        }
    }

    fn shard(&self) -> (InstanceId, u32, u32) {
        (self.delivery.instance, self.from.level, self.from.shard)
    }
}

pub struct Courier {
    shared: Arc<Shared>,
    /// As many deliveries go on together: of many small shards, or of few large ones.
    portion: Portion,
}

impl Courier {
    pub fn new(shared: Arc<Shared>) -> Courier {
        Courier { shared, portion: Portion::default() }
    }

    /// Delivers for as long as it is let.
    pub async fn deliver(&mut self) -> std::convert::Infallible {
        let shared = self.shared.clone();
        // So many in a row that could not go on.
        let mut stuck = 0;
        loop {
            let turn = shared.deliveries.take(self.portion.pieces());
            if turn.is_empty() {
                stuck = 0;
                shared.deliveries.news.notified().await;
                continue;
            }
            let (going, waiting): (Vec<Delivery>, Vec<Delivery>) =
                turn.into_iter().partition(|delivery| shared.link.has_room(delivery.session));
            stuck = if going.is_empty() { stuck + waiting.len() } else { 0 };
            shared.deliveries.put_back(waiting);
            let mut could_be_read = true;
            let (mut of_items, mut named) = (Vec::new(), HashSet::new());
            for delivery in going {
                match OfItems::of(delivery) {
                    // One that goes to another session as well has its turn later.
                    Ok(items) if !named.insert(items.shard()) => shared.deliveries.put_back(vec![items.delivery]),
                    Ok(items) => of_items.push(items),
                    Err(other) => could_be_read &= self.goes_on(vec![other.clone()], self.tell_next(other).await),
                }
            }
            if !of_items.is_empty() {
                let all = of_items.iter().map(|items| items.delivery.clone()).collect();
                let told = self.tell_items(of_items).await;
                could_be_read &= self.goes_on(all, told);
            }
            let clock = &shared.clock;
            if !could_be_read {
                clock.sleep_until(clock.now() + TRY_AGAIN).await;
            } else if stuck > 0 && stuck >= shared.deliveries.len() {
                stuck = 0;
                clock.sleep_until(clock.now() + LOOK_AGAIN).await;
            }
        }
    }

    /// What is left of deliveries goes on in its turn; where they could not be read, all of them do. False: so it is.
    fn goes_on(&self, all: Vec<Delivery>, left: Result<Vec<Delivery>, StoreError>) -> bool {
        let could_be_read = left.is_ok();
        let left = left.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "data of a run cannot be read");
            all
        });
        self.shared.deliveries.put_back(left);
        could_be_read
    }

    /// Tells the next items of several shards, and hands back what is left. Everything is read before anything is told:
    /// what failed is tried again, and nothing may be told twice on one stream.
    async fn tell_items(&mut self, deliveries: Vec<OfItems>) -> Result<Vec<Delivery>, StoreError> {
        let each = (self.portion.pieces() / deliveries.len()).max(1);
        let from: Vec<(InstanceId, PieceAt)> =
            deliveries.iter().map(|items| (items.delivery.instance, items.from)).collect();
        let mut found: HashMap<(InstanceId, u32, u32), Vec<(Piece, PieceOutcomes)>> = HashMap::new();
        let mut bytes = 0;
        for (instance, piece, said) in self.shared.store.pieces(&from, each).await? {
            bytes += piece.items.iter().map(String::len).sum::<usize>();
            found.entry((instance, piece.at.level, piece.at.shard)).or_default().push((piece, said));
        }
        self.portion = self.portion.after(bytes);
        let mut left = Vec::new();
        for items in deliveries {
            let pieces = found.remove(&items.shard()).unwrap_or_default();
            let OfItems { delivery, from: PieceAt { level, shard, .. }, count } = items;
            let next = pieces.last().map(|(piece, _)| piece.at.first + 1).filter(|_| pieces.len() == each);
            let mut messages: Vec<Vec<(u64, String)>> =
                pieces.into_iter().map(|piece| open_items(piece, count)).filter(|items| !items.is_empty()).collect();
            if next.is_none() && messages.is_empty() {
                messages.push(Vec::new());
            }
            let (attempt, of_them) = (delivery.attempt, messages.len());
            let messages = (1..).zip(messages).map(|(n, items)| {
                let last = next.is_none() && n == of_them;
                ToExecutor::ShardData { attempt, level, items, last }
            });
            let told = self.tell(delivery.session, messages);
            if let (true, Some(first)) = (told, next) {
                let contents = Contents::Items { from: PieceAt { level, shard, first }, count };
                left.push(Delivery { contents, ..delivery });
            }
        }
        Ok(left)
    }

    /// Tells the next of anything but items, and hands back what is left; else as with items.
    async fn tell_next(&self, delivery: Delivery) -> Result<Vec<Delivery>, StoreError> {
        let Delivery { attempt, instance, .. } = delivery;
        let store = &self.shared.store;
        let (messages, left): (Vec<ToExecutor>, Option<Contents>) = match delivery.contents {
            Contents::Items { .. } => return Ok(vec![delivery]),
            Contents::Data { draft, from } => {
                let chunks = store.chunks(instance, draft, from, AT_ONCE).await?;
                let next = chunks.last().map(|chunk| (chunk.level, chunk.end())).filter(|_| chunks.len() == AT_ONCE);
                let mut messages: Vec<ToExecutor> = chunks
                    .into_iter()
                    .map(|chunk| {
                        let items = (chunk.first..).zip(chunk.items).collect();
                        ToExecutor::ShardData { attempt, level: chunk.level, items, last: false }
                    })
                    .collect();
                if next.is_none() {
                    messages.push(ToExecutor::ShardData { attempt, level: 0, items: Vec::new(), last: true });
                }
                (messages, next.map(|from| Contents::Data { draft, from }))
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
                let bundles = bundled(ends.collect()).into_iter();
                let mut messages: Vec<ToExecutor> =
                    bundles.map(|ends| ToExecutor::ShardEnds { attempt, ends, last: false }).collect();
                if next.is_none() {
                    messages.push(ToExecutor::ShardEnds { attempt, ends: Vec::new(), last: true });
                }
                (messages, next.map(|after| Contents::Ends { after: Some(after) }))
            }
        };
        let told = self.tell(delivery.session, messages);
        Ok(left.filter(|_| told).map(|contents| Delivery { contents, ..delivery }).into_iter().collect())
    }

    /// False: the session is over, and so is the delivery.
    fn tell(&self, session: SessionId, messages: impl IntoIterator<Item = ToExecutor>) -> bool {
        messages.into_iter().all(|message| self.shared.link.tell(session, message))
    }
}

/// Items of a piece of which nothing is known, with their places in the level.
fn open_items((piece, said): (Piece, PieceOutcomes), count: u32) -> Vec<(u64, String)> {
    let places = (piece.at.first..).step_by(count.max(1) as usize);
    let open: HashSet<usize> = said.outcomes.open().collect();
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
