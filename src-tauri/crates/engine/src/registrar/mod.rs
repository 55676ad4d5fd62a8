//! Keeps the register of executors: writes down who is there, and carries out who is to be drained.
//!
//! The roster knows who is connected, and nobody but this node can look into it. What is written here is
//! for everyone else: people, the command line, programs that stand by. What an executor was last seen
//! doing is written when it changes, once a second at most; that it is still heard of, every few seconds.
//!
//! Whether an executor is drained stands in its row, for every life it has under its name. The registrar
//! tells it, and the roster, which offers nobody before it has been told who is to be left alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::Timestamp;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_store::Lead;

use crate::events::Topic;
use crate::link::{SessionId, ToExecutor};
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;

/// What changes all the time is written no more often.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// That nothing but the time has changed is written this often.
const HEARD_EVERY: Duration = Duration::from_secs(5);

/// Those that have gone are shown for so long.
const REMEMBERED_SECONDS: i64 = 3_600;

type Name = (String, String);

pub struct Registrar {
    shared: Arc<Shared>,
    lead: Lead,
    /// What was written last of each, and when.
    written: HashMap<Name, (ExecutorEntry, Timestamp)>,
    /// Who was told what, in which session.
    told: BTreeMap<Name, (SessionId, bool)>,
}

impl Registrar {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Registrar {
        Registrar { shared, lead, written: HashMap::new(), told: BTreeMap::new() }
    }

    /// Tells each that is connected whether it is to take work; once in a session, and again where that changes.
    fn tell(&mut self, drains: &BTreeMap<Name, Drain>) -> usize {
        let mut did = 0;
        let sessions = self.shared.roster.drain_only(drains.keys().cloned().collect());
        self.told.retain(|name, _| sessions.contains_key(name));
        for (name, session) in sessions {
            let drain = drains.get(&name);
            let before = match self.told.get(&name) {
                Some((same, drained)) if *same == session => *drained,
                // A new session takes work until it is told otherwise.
                _ => false,
            };
            if before != drain.is_some() {
                let what = match drain {
                    Some(drain) => ToExecutor::Drain { reason: drain.reason.clone() },
                    None => ToExecutor::Resume,
                };
                if !self.shared.link.tell(session, what) {
                    continue;
                }
                did += 1;
                if drain.is_none() {
                    self.shared.coord.ring(Bell::Dispatcher);
                }
            }
            self.told.insert(name, (session, drain.is_some()));
        }
        did
    }

    /// What has to be written of this one now.
    fn is_news(&self, entry: &ExecutorEntry, now: Timestamp) -> bool {
        let Some((written, at)) = self.written.get(&name_of(entry)) else { return true };
        if standing(written) != standing(entry) {
            return true;
        }
        let age = now.since(*at);
        (written != entry && age >= FRESH_FOR && doing(written) != doing(entry)) || age >= HEARD_EVERY
    }
}

fn name_of(entry: &ExecutorEntry) -> Name {
    (entry.executor.group.clone(), entry.executor.name.clone())
}

/// What is written at once.
fn standing(entry: &ExecutorEntry) -> ExecutorEntry {
    ExecutorEntry {
        in_hand: 0,
        running: 0,
        machine: None,
        heard_at: Timestamp::EPOCH,
        disregarded: 0,
        ended: 0,
        ended_took_ms: 0,
        ..entry.clone()
    }
}

/// What changes while it works.
fn doing(entry: &ExecutorEntry) -> (u32, u32, u64, u32) {
    (entry.in_hand, entry.running, entry.disregarded, entry.ended)
}

#[async_trait]
impl Officer for Registrar {
    fn name(&self) -> &'static str {
        "registrar"
    }

    fn bell(&self) -> Bell {
        Bell::Registrar
    }

    fn patience(&self) -> Duration {
        FRESH_FOR
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let stored = self.shared.store.executors().await?;
        self.shared.look_around(&stored, now).await?;
        let drains: BTreeMap<Name, Drain> =
            stored.iter().filter_map(|(entry, drain)| Some((name_of(entry), drain.clone()?))).collect();
        let mut did = self.tell(&drains);

        let mut here = BTreeSet::new();
        let mut news = Vec::new();
        for entry in self.shared.roster.entries(&self.shared.node, now) {
            here.insert(name_of(&entry));
            // What its new node says of it counts.
            if !entry.connected && self.shared.roster.lives_elsewhere(&entry.executor) {
                continue;
            }
            if self.is_news(&entry, now) {
                news.push(entry);
            }
        }
        for (entry, _) in stored {
            let gone = !here.contains(&name_of(&entry)) && entry.gone_at.is_none();
            if gone && self.shared.roster.is_gone(&entry.executor, now) {
                news.push(ExecutorEntry { gone_at: Some(now), connected: false, in_hand: 0, running: 0, ..entry });
            }
        }
        self.written.retain(|name, _| here.contains(name));
        if !news.is_empty() {
            let forget_before = now.plus_seconds(-REMEMBERED_SECONDS);
            self.shared.store.put_executors(&self.lead, &news, forget_before).await?;
            did += news.len();
            for entry in news {
                self.written.insert(name_of(&entry), (entry, now));
            }
            self.shared.events.say(Topic::Executors, now);
        }
        Ok(Pass { did, again: false, next: None })
    }
}
