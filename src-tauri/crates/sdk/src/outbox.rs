//! What a running attempt has said and the session has not sent yet.
//!
//! It is where a processor's speed meets the link's: memory stays bounded, and a
//! processor that is faster than the link either waits (where it asked to) or
//! loses log lines, counted. Outcomes of items are never lost; of progress only
//! the latest is kept.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use campanile_proto::{MAX_ITEMS_PER_REPORT, v1};
use tokio::sync::Notify;

use crate::secrets::Mask;

/// Log text held here for one attempt.
const MAX_PENDING_BYTES: usize = 1024 * 1024;

/// From here on the session is told at once rather than at its next flush.
const PRESSING_BYTES: usize = 128 * 1024;

/// A message of an item or of progress is cut here.
const MAX_REMARK_BYTES: usize = 2 * 1024;

/// What one line costs beyond its text.
const LINE_COST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    Soon,
    Now,
}

pub(crate) struct Outbox {
    pending: Mutex<Pending>,
    room: Notify,
    wake: Box<dyn Fn(Urgency) + Send + Sync>,
}

#[derive(Default)]
struct Pending {
    lines: VecDeque<v1::LogLine>,
    bytes: usize,
    dropped: u64,
    items: VecDeque<v1::ItemOutcome>,
    data: VecDeque<v1::NewData>,
    /// Of new data that has not been acknowledged, taken or not.
    data_bytes: usize,
    progress: Option<v1::Progress>,
    told: Option<Urgency>,
    linked: bool,
    mask: Mask,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outbox")
    }
}

impl Outbox {
    pub fn new(linked: bool, wake: impl Fn(Urgency) + Send + Sync + 'static) -> Self {
        Outbox {
            pending: Mutex::new(Pending { linked, ..Pending::default() }),
            room: Notify::new(),
            wake: Box::new(wake),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, mut pending: MutexGuard<'_, Pending>) {
        let pressing = pending.bytes >= PRESSING_BYTES || pending.data_bytes >= PRESSING_BYTES;
        let urgency =
            if pressing || pending.items.len() >= MAX_ITEMS_PER_REPORT { Urgency::Now } else { Urgency::Soon };
        let news = pending.told.is_none() || (pending.told == Some(Urgency::Soon) && urgency == Urgency::Now);
        if news {
            pending.told = Some(urgency);
            drop(pending);
            (self.wake)(urgency);
        }
    }

    /// From here on these are `***` in everything that is said.
    pub fn mask(&self, mask: Mask) {
        self.lock().mask = mask;
    }

    /// Never waits: with no room the line is dropped and counted.
    pub fn line(&self, mut line: v1::LogLine) {
        let mut pending = self.lock();
        let masked = match line.cut_bytes {
            0 => pending.mask.text(&line.text),
            _ => pending.mask.cut_text(&line.text),
        };
        if let Cow::Owned(masked) = masked {
            line.text = masked;
        }
        if pending.bytes >= MAX_PENDING_BYTES {
            pending.dropped += 1;
        } else {
            pending.bytes += line.text.len() + LINE_COST;
            pending.lines.push_back(line);
        }
        self.tell(pending);
    }

    /// Waits for room while there is a link that can make some.
    pub async fn line_when_room(&self, line: v1::LogLine) {
        loop {
            let freed = self.room.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let pending = self.lock();
                if pending.bytes < MAX_PENDING_BYTES || !pending.linked {
                    break;
                }
            }
            freed.await;
        }
        self.line(line);
    }

    pub fn item(&self, index: u64, succeeded: bool, message: &str) {
        let mut pending = self.lock();
        let message = cut(&pending.mask.text(message), MAX_REMARK_BYTES);
        pending.items.push_back(v1::ItemOutcome { index, succeeded, message });
        self.tell(pending);
    }

    /// Waits while much is under way, link or no link: data may not be lost.
    pub async fn new_data_when_room(&self, piece: v1::NewData) {
        loop {
            let freed = self.room.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut pending = self.lock();
                if pending.data_bytes < MAX_PENDING_BYTES {
                    pending.data_bytes += data_weight(&piece);
                    pending.data.push_back(piece);
                    self.tell(pending);
                    return;
                }
            }
            freed.await;
        }
    }

    pub fn progress(&self, percent: Option<f64>, message: &str) {
        let mut pending = self.lock();
        let message = cut(&pending.mask.text(message), MAX_REMARK_BYTES);
        pending.progress = Some(v1::Progress { percent, message });
        self.tell(pending);
    }

    pub fn set_linked(&self, linked: bool) {
        self.lock().linked = linked;
        self.room.notify_waiters();
    }

    /// The oldest lines, at most about `max_bytes` of them.
    pub fn take_lines(&self, max_bytes: usize) -> Option<v1::LogLines> {
        let mut pending = self.lock();
        if pending.lines.is_empty() && pending.dropped == 0 {
            return None;
        }
        let mut taken = v1::LogLines::default();
        let mut bytes = 0;
        while bytes < max_bytes {
            let Some(line) = pending.lines.pop_front() else { break };
            bytes += line.text.len() + LINE_COST;
            taken.lines.push(line);
        }
        pending.bytes -= bytes;
        // Lines are dropped for want of room, thus after all those that had room.
        if pending.lines.is_empty() {
            taken.dropped = std::mem::take(&mut pending.dropped);
        }
        drop(pending);
        self.room.notify_waiters();
        Some(taken)
    }

    pub fn take_items(&self) -> Option<v1::Items> {
        let mut pending = self.lock();
        if pending.items.is_empty() {
            return None;
        }
        let mut outcomes = Vec::new();
        let mut bytes = 0;
        while outcomes.len() < MAX_ITEMS_PER_REPORT && bytes < MAX_PENDING_BYTES / 2 {
            let Some(item) = pending.items.pop_front() else { break };
            bytes += item.message.len() + 16;
            outcomes.push(item);
        }
        Some(v1::Items { outcomes })
    }

    pub fn take_data(&self) -> Option<v1::NewData> {
        self.lock().data.pop_front()
    }

    /// A piece of new data is where it belongs.
    pub fn data_arrived(&self, piece: &v1::NewData) {
        self.lock().data_bytes -= data_weight(piece);
        self.room.notify_waiters();
    }

    pub fn take_progress(&self) -> Option<v1::Progress> {
        self.lock().progress.take()
    }

    /// The session has looked; the next thing said wakes it again.
    pub fn looked(&self) {
        self.lock().told = None;
    }
}

/// At most `max_bytes` of `text`, whole characters.
pub(crate) fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let end = (0..=max_bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} …", &text[..end])
}

fn data_weight(piece: &v1::NewData) -> usize {
    piece.items_json.iter().map(String::len).sum::<usize>() + LINE_COST
}

/// What a report of log lines weighs while it is under way.
pub(crate) fn weight(lines: &v1::LogLines) -> usize {
    lines.lines.iter().map(|line| line.text.len() + LINE_COST).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> v1::LogLine {
        v1::LogLine { text: text.to_owned(), ..v1::LogLine::default() }
    }

    #[test]
    fn lines_beyond_the_bound_are_dropped_and_counted_after_those_that_fitted() {
        let outbox = Outbox::new(false, |_| {});
        let text = "x".repeat(64 * 1024);
        for _ in 0..20 {
            outbox.line(line(&text));
        }
        let mut kept = 0;
        let mut dropped = 0;
        while let Some(lines) = outbox.take_lines(256 * 1024) {
            assert_eq!(dropped, 0, "the count comes with the last of them");
            kept += lines.lines.len();
            dropped += lines.dropped;
        }
        assert_eq!((kept, dropped), (16, 4));
    }

    #[tokio::test]
    async fn whoever_waits_for_room_goes_on_when_lines_are_taken_or_the_link_breaks() {
        let outbox = std::sync::Arc::new(Outbox::new(true, |_| {}));
        for _ in 0..16 {
            outbox.line(line(&"x".repeat(64 * 1024)));
        }
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.line_when_room(line("at last")).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        outbox.take_lines(256 * 1024);
        waiting.await.unwrap();
        while outbox.lock().bytes < MAX_PENDING_BYTES {
            outbox.line(line(&"x".repeat(64 * 1024)));
        }
        outbox.set_linked(false);
        outbox.line_when_room(line("lost")).await;
        assert_eq!(outbox.lock().dropped, 1);
    }

    #[test]
    fn the_session_is_told_once_and_again_when_it_presses() {
        let told = std::sync::Arc::new(Mutex::new(Vec::new()));
        let outbox = Outbox::new(true, {
            let told = told.clone();
            move |urgency| told.lock().unwrap().push(urgency)
        });
        for _ in 0..5 {
            outbox.line(line(&"x".repeat(60 * 1024)));
        }
        assert_eq!(*told.lock().unwrap(), [Urgency::Soon, Urgency::Now]);
    }
}
