//! Bells, presence and live events by way of Redis.
//!
//! Everything that a node says goes through one task that gathers and publishes it; nobody else waits for Redis. Another
//! task listens. A node hears itself as well: as long as it does, saying and hearing both work. When it does not, for
//! whatever reason, the place is away, and whoever depends on others is woken to look by himself.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::lanes::{Lanes, ON_SHELF};
use campanile_coord::{Away, Bell, Coord, Heard, LONGEST_TOLD, PATIENCE, Presence, Reach, Result, hearing};
use campanile_model::Timestamp;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use redis::{RedisError, RedisResult};
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::lanes::RedisLanes;
use crate::note::{Note, Numbers, bells, bit};
use crate::place::{Line, Redis, late};
use crate::{PREFIX, ms, scripts};

scripts! {
    SAY = "place/say.lua";
    PRESENT = "place/present.lua";
    LEAVE = "place/leave.lua";
}

/// A node says something this often, and be it that there is nothing to say.
const SAY_EVERY: Duration = Duration::from_millis(500);

/// So long is gathered what is said at once.
const GATHER: Duration = Duration::from_millis(5);

/// Whoever does not hear even itself for so long is cut off.
const CUT_OFF_AFTER: Duration = Duration::from_secs(2);

/// Between two tries to listen.
const LISTEN_AGAIN: Duration = Duration::from_millis(200);

/// Names of nodes are kept so long after the last of them has said that it is there.
const NODES_KEPT: Duration = Duration::from_secs(60);

/// Things that are gathered to be told; of more it is said that there are more.
const MOST_GATHERED: usize = 512;

/// Whoever lags by more has missed something.
const HEARD_KEPT: usize = 256;

#[derive(Default)]
struct ToSay {
    bells: u32,
    stale: Vec<String>,
    /// What stands in `stale`.
    named: HashSet<String>,
    more: bool,
    presence: Option<Presence>,
}

struct Inner {
    line: Arc<Line>,
    /// Which of all nodes this is; for the life of this value.
    from: u64,
    bells: [Notify; Bell::ALL.len()],
    told: broadcast::Sender<Heard>,
    reach: watch::Sender<Reach>,
    to_say: Mutex<ToSay>,
    something_to_say: Notify,
    /// The number of the last thing said; held while something is being said.
    number: tokio::sync::Mutex<u64>,
}

pub struct RedisCoord {
    inner: Arc<Inner>,
    lanes: RedisLanes,
    saying: JoinHandle<()>,
    hearing: JoinHandle<()>,
}

impl Drop for RedisCoord {
    fn drop(&mut self) {
        self.saying.abort();
        self.hearing.abort();
    }
}

impl RedisCoord {
    /// `from` tells this node's notes from those of others: a random number will do.
    pub fn on(redis: &Redis, from: u64) -> RedisCoord {
        let inner = Arc::new(Inner {
            line: redis.line(),
            from,
            bells: Default::default(),
            told: broadcast::channel(HEARD_KEPT).0,
            reach: watch::Sender::new(Reach::Away),
            to_say: Mutex::default(),
            something_to_say: Notify::new(),
            number: tokio::sync::Mutex::default(),
        });
        let saying = tokio::spawn(say_on(inner.clone()));
        let hearing = tokio::spawn(hear_on(inner.clone()));
        RedisCoord { inner, lanes: RedisLanes::on(redis, ON_SHELF), saying, hearing }
    }
}

#[async_trait]
impl Coord for RedisCoord {
    fn ring(&self, bell: Bell) {
        self.inner.bells[bell as usize].notify_one();
        self.inner.to_say().bells |= bit(bell);
        self.inner.something_to_say.notify_one();
    }

    fn listen(&self, bell: Bell) -> BoxFuture<'_, ()> {
        self.inner.bells[bell as usize].notified().boxed()
    }

    fn announce(&self, presence: Presence) {
        self.inner.to_say().presence = Some(presence);
        self.inner.something_to_say.notify_one();
    }

    async fn present(&self, now: Timestamp) -> Result<Vec<Presence>> {
        let mut script = PRESENT.key(nodes_key());
        script.arg(now.millis());
        let rows: Vec<(String, f64)> = self.inner.line.run(&script).await.map_err(away)?;
        // Times in milliseconds are whole numbers far below where a double begins to round.
        let presence = |(node, until): (String, f64)| Presence { node, until: Timestamp::from_millis(until as i64) };
        let mut present: Vec<Presence> = rows.into_iter().map(presence).collect();
        present.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(present)
    }

    fn tell(&self, stale: &[String]) {
        if stale.is_empty() {
            return;
        }
        let mut to_say = self.inner.to_say();
        for name in stale {
            let fits = name.len() <= LONGEST_TOLD && to_say.stale.len() < MOST_GATHERED;
            if to_say.named.contains(name) {
                continue;
            }
            if fits {
                to_say.stale.push(name.clone());
                to_say.named.insert(name.clone());
            } else {
                to_say.more = true;
            }
        }
        drop(to_say);
        self.inner.something_to_say.notify_one();
    }

    fn hear(&self) -> BoxStream<'static, Heard> {
        hearing(self.inner.told.subscribe())
    }

    fn reach(&self) -> Reach {
        *self.inner.reach.borrow()
    }

    fn lanes(&self) -> Option<&dyn Lanes> {
        Some(&self.lanes)
    }

    async fn leave(&self, node: &str) {
        let mut script = LEAVE.key(nodes_key());
        script.arg(node);
        let leaving = async {
            self.inner.say().await?;
            self.inner.line.run::<i64>(&script).await
        };
        // Where it cannot be said it is found out: nobody announces the node any more.
        if let Err(error) = timeout(PATIENCE, leaving).await.unwrap_or_else(|_| Err(late())) {
            tracing::debug!(error = &error as &dyn std::error::Error, "left without a word");
        }
    }
}

pub(crate) fn away(error: RedisError) -> Away {
    Away(Box::new(error))
}

fn nodes_key() -> String {
    format!("{PREFIX}nodes")
}

fn channel() -> String {
    format!("{PREFIX}notes")
}

impl Inner {
    fn to_say(&self) -> MutexGuard<'_, ToSay> {
        self.to_say.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what has been gathered. What does not arrive has had its number: the others find that it is missing.
    async fn say(&self) -> RedisResult<()> {
        let mut number = self.number.lock().await;
        let ToSay { bells, stale, more, presence, .. } = std::mem::take(&mut *self.to_say());
        let mut note = Note { from: self.from, number: *number, bells, stale, more };
        if note.says_something() {
            note.number += 1;
            *number = note.number;
        }
        let mut script = SAY.key(nodes_key());
        let (node, until) = presence.map_or((String::new(), 0), |there| (there.node, there.until.millis()));
        script.arg(channel()).arg(note.text()).arg(node).arg(until).arg(ms(NODES_KEPT));
        self.line.run::<i64>(&script).await.map(drop)
    }

    /// Everyone here looks: something may have been missed, or nobody will tell.
    fn wake_everyone(&self) {
        // Nobody listening is no fault.
        let _ = self.told.send(Heard::Missed);
        self.bells.iter().for_each(Notify::notify_one);
    }

    fn reaches(&self, reach: Reach) {
        let changed = self.reach.send_if_modified(|now| std::mem::replace(now, reach) != reach);
        if changed {
            tracing::info!(?reach, "meeting place");
            self.wake_everyone();
        }
    }

    fn hears(&self, note: Note, numbers: &mut Numbers) {
        if note.from == self.from {
            return self.reaches(Reach::Team);
        }
        let missed = numbers.misses(&note, Instant::now()) || note.more;
        if missed {
            self.wake_everyone();
        }
        bells(note.bells).for_each(|bell| self.bells[bell as usize].notify_one());
        if !missed && !note.stale.is_empty() {
            // Nobody listening is no fault.
            let _ = self.told.send(Heard::Stale(note.stale));
        }
    }

    async fn hear_once(&self, turn: usize) -> RedisResult<()> {
        let subscribing = async {
            let mut messages = self.line.place.listening_post(turn).await?.get_async_pubsub().await?;
            messages.subscribe(channel()).await?;
            RedisResult::Ok(messages)
        };
        let messages = timeout(PATIENCE, subscribing).await.unwrap_or_else(|_| Err(late()))?;
        let mut messages = messages.into_on_message();
        let mut numbers = Numbers::default();
        let mut cut_off_at = Instant::now() + CUT_OFF_AFTER;
        self.wake_everyone();
        loop {
            let message = tokio::time::timeout_at(cut_off_at, messages.next()).await.map_err(|_| late())?;
            let Some(message) = message else { return Err(late()) };
            let Some(note) = Note::read(&message.get_payload::<String>()?) else { continue };
            if note.from == self.from {
                cut_off_at = Instant::now() + CUT_OFF_AFTER;
            }
            self.hears(note, &mut numbers);
        }
    }
}

async fn say_on(inner: Arc<Inner>) {
    loop {
        if let Err(error) = inner.say().await {
            tracing::debug!(error = &error as &dyn std::error::Error, "what was said did not arrive");
        }
        sleep(GATHER).await;
        // What comes first: something to say, or the time to say that there is nothing.
        let _ = timeout(SAY_EVERY, inner.something_to_say.notified()).await;
    }
}

async fn hear_on(inner: Arc<Inner>) {
    for turn in 0.. {
        if let Err(error) = inner.hear_once(turn).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "hears nothing");
        }
        inner.reaches(Reach::Away);
        sleep(LISTEN_AGAIN).await;
    }
}
