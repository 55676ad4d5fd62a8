//! The live feed: what is stale, and the status, for every window that looks on.
//!
//! Changes are gathered into at most ten frames a second, and there is one every second even where
//! nothing happens. A frame is made once for all; each subscriber counts its own, from a snapshot on. With nobody looking
//! on none is made and nothing is read; what is changed here is told to the others all the same.
//! Nodes that meet tell each other what they have changed. Where nobody tells, what another program writes
//! is noticed by the store's count of changes, and makes everything stale: nobody told us what it was. Of
//! its logs nobody tells either; those of tasks that run are taken to grow.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use campanile_coord::{Heard, Reach};
use campanile_engine::events::Topic;
use campanile_model::task::TaskState;
use campanile_model::{TaskId, Timestamp};
use campanile_store::TaskFilter;
use futures::future::{Either, FutureExt, select};
use futures::stream::StreamExt;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{Notify, broadcast, watch};

use crate::Api;
use crate::views::{Frame, FrameKind, Status};

const FRAME_EVERY: Duration = Duration::from_millis(100);
const AT_LEAST_EVERY: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Tasks a second are told over this long.
const RATE_OVER: Duration = Duration::from_secs(10);

/// A subscriber that lags by more frames begins anew with a snapshot.
const FRAMES_KEPT: usize = 64;

/// More topics than this in one frame, and it says that everything is stale.
const MOST_TOPICS: usize = 200;

/// What every window asks for.
pub const EVERYTHING: [&str; 7] = ["jobs", "instances", "tasks", "alarms", "settings", "audit", "executors"];

#[derive(Clone, Debug)]
struct Beat {
    /// Something was missed: what is stale is not known.
    missed: bool,
    stale: Vec<String>,
    status: Status,
}

pub struct Feed {
    api: Arc<Api>,
    beats: broadcast::Sender<Arc<Beat>>,
    /// None: none has been made since somebody began to look on.
    latest: watch::Sender<Option<Arc<Beat>>>,
    somebody_came: Notify,
    look_every: Duration,
}

impl Feed {
    pub fn new(api: Arc<Api>) -> Feed {
        Feed {
            api,
            beats: broadcast::channel(FRAMES_KEPT).0,
            latest: watch::Sender::new(None),
            somebody_came: Notify::new(),
            look_every: LOOK_EVERY,
        }
    }

    /// One that looks for changes no more often than that.
    pub fn looking_every(api: Arc<Api>, look_every: Duration) -> Feed {
        Feed { look_every, ..Feed::new(api) }
    }

    /// Makes frames for as long as it is polled.
    pub async fn run(&self) -> std::convert::Infallible {
        let clock = self.api.desk.clock.clone();
        let mut events = self.api.events.subscribe();
        let coord = self.api.desk.coord.clone();
        let mut others = coord.hear();
        let mut rate = Rate::default();
        let mut seen_changes = None;
        let mut stale = Stale::default();
        let mut last_beat = Timestamp::EPOCH;
        let mut logs_taken_to_grow = Timestamp::EPOCH;
        let mut running = HashSet::new();
        loop {
            let now = clock.now();
            let is_watched = self.beats.receiver_count() > 0;
            let nobody_tells = self.nobody_tells() && is_watched;
            // Another program's changes, and those of this one that nobody said.
            if nobody_tells {
                match self.api.archive.change_count().await {
                    Ok(count) if seen_changes.is_some_and(|seen| seen != count) => {
                        seen_changes = Some(count);
                        stale.all();
                    }
                    Ok(count) => seen_changes = Some(count),
                    Err(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "changes cannot be looked for");
                    }
                }
            }
            loop {
                match events.try_recv() {
                    Ok(topic) => stale.own(topic),
                    Err(TryRecvError::Lagged(_)) => stale.own_missed(),
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            while let Some(Some(heard)) = others.next().now_or_never() {
                stale.hears(heard);
            }
            let quiet_for = now.since(last_beat);
            let is_due = !stale.is_empty() || (is_watched && self.latest.borrow().is_none());
            if (is_due && quiet_for >= FRAME_EVERY) || quiet_for >= AT_LEAST_EVERY {
                last_beat = now;
                coord.tell(&stale.take_own());
                if !is_watched {
                    // Whoever comes begins with a snapshot.
                    rate.note(now, self.api.events.finished());
                    stale = Stale::default();
                    self.latest.send_replace(None);
                    continue;
                }
                if nobody_tells && now.since(logs_taken_to_grow) >= AT_LEAST_EVERY {
                    logs_taken_to_grow = now;
                    self.logs_of_others(&mut stale, &mut running).await;
                }
                rate.note(now, self.api.events.finished());
                match self.api.status_now(self.rate(&rate, now).await).await {
                    Ok(status) => {
                        let (missed, stale) = stale.take();
                        let beat = Arc::new(Beat { missed, stale, status });
                        self.latest.send_replace(Some(beat.clone()));
                        // Nobody listening is no fault.
                        let _ = self.beats.send(beat);
                    }
                    Err(fault) => {
                        tracing::warn!(%fault, "the status cannot be read");
                        self.say_trouble(now, fault);
                    }
                }
                continue;
            }
            let wake_at = match is_due {
                true => last_beat + FRAME_EVERY,
                false => (last_beat + AT_LEAST_EVERY).min(now + self.look_every),
            };
            let heard = select(Box::pin(events.recv()), others.next());
            let in_time = select(clock.sleep_until(wake_at), Box::pin(self.somebody_came.notified()));
            match select(heard, in_time).await {
                Either::Left((Either::Left((Ok(topic), _)), _)) => stale.own(topic),
                Either::Left((Either::Left((Err(RecvError::Lagged(_)), _)), _)) => stale.own_missed(),
                Either::Left((Either::Right((Some(heard), _)), _)) => stale.hears(heard),
                Either::Left((Either::Left((Err(RecvError::Closed), _)) | Either::Right((None, _)), in_time)) => {
                    in_time.await;
                }
                Either::Right(_) => {}
            }
        }
    }

    /// Whether what others write is to be looked for: they cannot be heard.
    fn nobody_tells(&self) -> bool {
        match self.api.desk.coord.reach() {
            Reach::Team => false,
            Reach::Alone => !self.api.node.leads_everything(),
            Reach::Away => true,
        }
    }

    /// Logs of what another program's executors have in hand, and of what they had when we looked last.
    async fn logs_of_others(&self, stale: &mut Stale, running: &mut HashSet<TaskId>) {
        let states = vec![TaskState::Pushed, TaskState::Running, TaskState::Overrun];
        let held = TaskFilter { states, executor: None };
        match self.api.archive.task_page(&held, None, MOST_TOPICS).await {
            Ok(page) => {
                let now: HashSet<TaskId> = page.rows.iter().map(|task| task.id).collect();
                running.union(&now).for_each(|task| {
                    stale.add(&format!("log:{task}"));
                });
                *running = now;
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what runs elsewhere cannot be looked for");
            }
        }
    }

    async fn rate(&self, rate: &Rate, now: Timestamp) -> f64 {
        if self.api.node.leads_everything() {
            return rate.per_second();
        }
        // Other programs count their tasks; what ended is in the store.
        match self.api.archive.outcomes(now - RATE_OVER, now).await {
            Ok(ended) => (ended.succeeded + ended.failed) as f64 / RATE_OVER.as_secs_f64(),
            Err(_) => 0.0,
        }
    }

    /// The last known status, with what is wrong.
    fn say_trouble(&self, now: Timestamp, fault: campanile_model::Fault) {
        let Some(last) = self.latest.borrow().clone() else { return };
        let status = Status { now, trouble: Some(fault), ..last.status.clone() };
        let beat = Arc::new(Beat { missed: false, stale: Vec::new(), status });
        self.latest.send_replace(Some(beat.clone()));
        let _ = self.beats.send(beat);
    }

    pub fn subscribe(&self) -> Subscription {
        let (beats, latest) = (self.beats.subscribe(), self.latest.subscribe());
        self.somebody_came.notify_one();
        Subscription { beats, latest, seq: 0, anew: true }
    }
}

/// One window's view of the feed.
pub struct Subscription {
    beats: broadcast::Receiver<Arc<Beat>>,
    latest: watch::Receiver<Option<Arc<Beat>>>,
    seq: u64,
    /// The next frame is a snapshot.
    anew: bool,
}

impl Subscription {
    /// The next frame; a snapshot at first, and after frames were missed. None: the feed has ended.
    pub async fn next(&mut self) -> Option<Frame> {
        if self.anew {
            self.anew = false;
            let beat = self.latest.wait_for(Option::is_some).await.ok()?.clone()?;
            return Some(self.frame(FrameKind::Snapshot, EVERYTHING.map(str::to_owned).to_vec(), &beat));
        }
        match self.beats.recv().await {
            Ok(beat) if beat.missed => {
                Some(self.frame(FrameKind::Snapshot, EVERYTHING.map(str::to_owned).to_vec(), &beat))
            }
            Ok(beat) => Some(self.frame(FrameKind::Delta, beat.stale.clone(), &beat)),
            Err(RecvError::Lagged(_)) => {
                // The newest is in `latest`; what is kept of the older ones says less than the snapshot.
                self.beats = self.beats.resubscribe();
                let beat = self.latest.borrow().clone()?;
                Some(self.frame(FrameKind::Snapshot, EVERYTHING.map(str::to_owned).to_vec(), &beat))
            }
            Err(RecvError::Closed) => None,
        }
    }

    fn frame(&mut self, kind: FrameKind, stale: Vec<String>, beat: &Beat) -> Frame {
        self.seq += 1;
        Frame { seq: self.seq, kind, stale, status: beat.status.clone() }
    }
}

#[derive(Default)]
struct Stale {
    missed: bool,
    topics: BTreeSet<String>,
    /// Of them what this program has changed itself, and has not yet told the others.
    own: BTreeSet<String>,
}

impl Stale {
    /// Something that this program has changed.
    fn own(&mut self, topic: Topic) {
        let name = match topic {
            Topic::Jobs => "jobs",
            Topic::Instances => "instances",
            Topic::Tasks => "tasks",
            Topic::Alarms => "alarms",
            Topic::Settings => "settings",
            Topic::Audit => "audit",
            Topic::Executors => "executors",
            Topic::Log(task) => {
                let name = format!("log:{task}");
                if self.add(&name) {
                    self.own.insert(name);
                }
                return;
            }
        };
        self.add(name);
        if !self.own.contains(name) {
            self.own.insert(name.to_owned());
        }
    }

    fn own_missed(&mut self) {
        self.missed();
        self.own.extend(EVERYTHING.map(str::to_owned));
    }

    /// Something that another node has changed.
    fn hears(&mut self, heard: Heard) {
        match heard {
            Heard::Stale(names) => {
                for name in &names {
                    self.add(name);
                }
            }
            Heard::Missed => self.missed(),
        }
    }

    /// False: of so many nobody is told one by one.
    fn add(&mut self, name: &str) -> bool {
        if self.topics.contains(name) {
            return true;
        }
        let fits = self.topics.len() < MOST_TOPICS || EVERYTHING.contains(&name);
        match fits {
            true => self.topics.insert(name.to_owned()),
            false => std::mem::replace(&mut self.missed, true),
        };
        fits
    }

    fn all(&mut self) {
        self.topics.extend(EVERYTHING.map(str::to_owned));
    }

    fn missed(&mut self) {
        self.missed = true;
        self.all();
    }

    fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    fn take_own(&mut self) -> Vec<String> {
        std::mem::take(&mut self.own).into_iter().collect()
    }

    fn take(&mut self) -> (bool, Vec<String>) {
        let missed = std::mem::take(&mut self.missed);
        (missed, std::mem::take(&mut self.topics).into_iter().collect())
    }
}

/// How many tasks became final, over the last ten seconds.
#[derive(Default)]
struct Rate(VecDeque<(Timestamp, u64)>);

impl Rate {
    fn note(&mut self, now: Timestamp, finished: u64) {
        // A clock that was set back says nothing about what came before.
        self.0.retain(|(at, _)| *at <= now);
        self.0.push_back((now, finished));
        while self.0.len() > 2 && self.0.get(1).is_some_and(|(at, _)| now.since(*at) >= RATE_OVER) {
            self.0.pop_front();
        }
    }

    fn per_second(&self) -> f64 {
        match (self.0.front(), self.0.back()) {
            (Some((from, before)), Some((to, after))) if to > from => {
                after.saturating_sub(*before) as f64 / to.since(*from).as_secs_f64().max(1.0)
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_ten_seconds() {
        let mut rate = Rate::default();
        assert!(rate.per_second().abs() < f64::EPSILON);
        for second in 0..30_i64 {
            rate.note(Timestamp::EPOCH.plus_seconds(second), if second < 15 { 0 } else { (second as u64 - 14) * 100 });
        }
        assert!((rate.per_second() - 100.0).abs() < 1.0, "{}", rate.per_second());
    }

    #[test]
    fn topics_are_gathered_by_name() {
        let mut stale = Stale::default();
        stale.own(Topic::Jobs);
        stale.own(Topic::Jobs);
        stale.own(Topic::Alarms);
        assert_eq!(stale.take(), (false, vec!["alarms".to_owned(), "jobs".to_owned()]));
        assert!(stale.is_empty());
        for n in 0..1000 {
            stale.own(Topic::Log(TaskId::new(n, [0; 10])));
        }
        stale.own(Topic::Jobs);
        let (missed, topics) = stale.take();
        assert!(missed, "more logs than are named one by one: a snapshot is due");
        assert_eq!(topics.len(), MOST_TOPICS + 1);
    }

    #[test]
    fn the_others_are_told_what_was_changed_here_and_nothing_else() {
        let mut stale = Stale::default();
        stale.own(Topic::Jobs);
        stale.hears(Heard::Stale(vec!["alarms".to_owned(), "jobs".to_owned()]));
        assert_eq!(stale.take_own(), ["jobs"]);
        assert_eq!(stale.take(), (false, vec!["alarms".to_owned(), "jobs".to_owned()]));
        stale.hears(Heard::Missed);
        assert!(stale.take_own().is_empty());
        let (missed, topics) = stale.take();
        assert!(missed && topics.len() == EVERYTHING.len());
        stale.own_missed();
        assert_eq!(stale.take_own().len(), EVERYTHING.len(), "what was changed is not known");
    }
}
