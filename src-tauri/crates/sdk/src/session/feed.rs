//! What follows a push: pieces of data, or ends of shards. The session puts them in, the attempt takes them out as it
//! goes.
//!
//! The session never waits for a processor, so what has arrived and was not read is held here: a shard's items at
//! most, or what the node lets be under way of the whole.

use campanile_proto::v1::{self, Method};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::sharding::{Item, Items, ShardEnd, ShardEnds};
use crate::{Class, TaskError, failure};

/// Values that are read ahead of the processor.
const AHEAD: usize = 64;

pub(super) enum Piece {
    Data(v1::ShardData),
    Ends(v1::ShardEnds),
}

impl Piece {
    fn is_last(&self) -> bool {
        match self {
            Piece::Data(data) => data.last,
            Piece::Ends(ends) => ends.last,
        }
    }
}

/// The session's end of it.
pub(super) struct Feed {
    /// None once everything is in, or the stream broke.
    open: Option<UnboundedSender<Result<Piece, TaskError>>>,
    arriving: Option<Arriving>,
    begun: bool,
    broken: bool,
}

/// The attempt's end of it.
pub(super) struct Arriving(UnboundedReceiver<Result<Piece, TaskError>>);

impl Feed {
    pub(super) fn new(more_follows: bool) -> Feed {
        let (open, arriving) = mpsc::unbounded_channel();
        Feed {
            open: more_follows.then_some(open),
            arriving: Some(Arriving(arriving)),
            begun: !more_follows,
            broken: false,
        }
    }

    pub(super) fn put(&mut self, piece: Piece) {
        let Some(open) = &self.open else { return };
        self.begun = true;
        let last = piece.is_last();
        // Fails where the processor has ended, or wants no more of it.
        let _ = open.send(Ok(piece));
        if last {
            self.open = None;
        }
    }

    /// The stream broke. True where not everything was in.
    pub(super) fn break_off(&mut self) -> bool {
        if let Some(open) = self.open.take() {
            self.broken = true;
            // Fails where nobody reads it any more.
            let _ = open.send(Err(failure::DATA_INCOMPLETE.transient()));
        }
        self.broken
    }

    /// There is something to start with.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(super) fn take(&mut self) -> Option<Arriving> {
        self.arriving.take()
    }
}

impl Arriving {
    pub(super) fn into_items(mut self) -> Items {
        let (room, items) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            while let Some(piece) = self.0.recv().await {
                let data = match piece {
                    Ok(Piece::Data(data)) => data,
                    Ok(Piece::Ends(_)) => continue,
                    Err(broken) => return drop(room.send(Err(broken)).await),
                };
                for item in data.items {
                    if room.send(read(data.level, &item)).await.is_err() {
                        return;
                    }
                }
            }
        });
        Items::new(items)
    }

    pub(super) fn into_shard_ends(mut self) -> ShardEnds {
        let (room, ends) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            while let Some(piece) = self.0.recv().await {
                let some = match piece {
                    Ok(Piece::Ends(some)) => some,
                    Ok(Piece::Data(_)) => continue,
                    Err(broken) => return drop(room.send(Err(broken)).await),
                };
                for end in some.ends {
                    if room.send(Ok(ended(end))).await.is_err() {
                        return;
                    }
                }
            }
        });
        ShardEnds::new(ends)
    }
}

fn read(level: u32, item: &v1::DataItem) -> Result<Item, TaskError> {
    let value = serde_json::from_str(&item.value_json)
        .map_err(|error| failure::ITEM_NOT_JSON.business().with("detail", error))?;
    Ok(Item { level, index: item.index, value })
}

fn ended(end: v1::ShardEnd) -> ShardEnd {
    let result = match (end.error, end.result_json) {
        (Some(failed), _) => {
            let class = match failed.class() {
                v1::FailureClass::Business => Class::Business,
                v1::FailureClass::System => Class::System,
                v1::FailureClass::Transient | v1::FailureClass::Unspecified => Class::Transient,
            };
            Err(TaskError::failed(class, failed.code, failed.message_en, failed.message_zh))
        }
        (None, Some(result)) => Ok(serde_json::from_str(&result).unwrap_or(Value::String(result))),
        (None, None) if end.code == 301 => Ok(Value::Null),
        (None, None) => Err(TaskError::cancelled("it did not run to its end")),
    };
    ShardEnd { level: end.level, shard: end.shard, code: end.code, result }
}

/// Whether more may follow a push of this method.
pub(super) fn is_fed(push: &v1::Push) -> bool {
    push.more_follows && !matches!(push.method(), Method::Process | Method::Notify)
}
