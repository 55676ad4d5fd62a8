//! The executors that are connected to this node, and what each of them has in hand.
//!
//! A cache: what they hold is in the store, and what they are they say again when they come back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::task::ExecutorRef;
use campanile_model::{Code, Fault, TaskId, Timestamp};

use crate::link::{Machine, ProcessorOffer, Registration, SessionId};

/// An executor that says nothing for so long is gone.
pub const EXECUTOR_LEASE: Duration = Duration::from_secs(3);

/// A node that starts gives every executor so long to come back.
pub const RETURN_GRACE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
struct Seat {
    registration: Registration,
    /// None between two sessions.
    session: Option<SessionId>,
    heard_at: Timestamp,
    draining: bool,
    machine: Option<(Machine, Timestamp)>,
    /// Attempts pushed to it and not final, with whether each has started.
    in_hand: HashMap<TaskId, bool>,
}

/// An executor that can take something now.
#[derive(Clone, Debug)]
pub struct Offer {
    pub executor: ExecutorRef,
    pub session: SessionId,
    pub processors: HashSet<String>,
    /// How many more it takes.
    pub room: u32,
    pub in_hand: u32,
    pub capacity: u32,
}

/// As people see it.
#[derive(Clone, Debug)]
pub struct ExecutorView {
    pub executor: ExecutorRef,
    pub processors: Vec<ProcessorOffer>,
    pub labels: BTreeMap<String, String>,
    pub sdk_version: String,
    /// Its last readings, and when they came.
    pub machine: Option<(Machine, Timestamp)>,
    pub capacity: u32,
    /// How many more than it runs may wait there.
    pub queue: u32,
    pub in_hand: u32,
    pub running: u32,
    pub heard_at: Timestamp,
    pub draining: bool,
    pub connected: bool,
}

#[derive(Default)]
struct State {
    since: Option<Timestamp>,
    /// By group and name.
    seats: BTreeMap<(String, String), Seat>,
    /// When a live executor last offered a processor of a group.
    offered_at: HashMap<(String, String), Timestamp>,
}

#[derive(Default)]
pub struct Roster(Mutex<State>);

impl Roster {
    /// Forgets everyone: a new term begins.
    pub fn open(&self, now: Timestamp) {
        *self.state() = State { since: Some(now), ..State::default() };
    }

    /// Seats an executor. A second life under a name that is still live is refused, unless the first is known to be
    /// over. `Ok` names the session that this one replaces.
    pub fn seat(
        &self,
        session: SessionId,
        registration: Registration,
        now: Timestamp,
    ) -> Result<Option<SessionId>, Fault> {
        let mut state = self.state();
        let name = (registration.executor.group.clone(), registration.executor.name.clone());
        let mut replaced = None;
        let mut in_hand = HashMap::new();
        let mut machine = None;
        if let Some(seat) = state.seats.get(&name) {
            let same_life = seat.registration.executor.boot == registration.executor.boot;
            let live = now.since(seat.heard_at) < EXECUTOR_LEASE;
            if !same_life && live && !registration.embedded {
                return Err(Code::ExecutorNameTaken.fault().with("executor", &registration.executor.name));
            }
            replaced = seat.session.filter(|old| *old != session);
            if same_life {
                in_hand = seat.in_hand.clone();
                machine = seat.machine;
            }
        }
        let seat = Seat { registration, session: Some(session), heard_at: now, draining: false, machine, in_hand };
        state.seats.insert(name, seat);
        state.touch_offers(now);
        Ok(replaced)
    }

    pub fn heard(&self, session: SessionId, now: Timestamp) -> bool {
        self.with_session(session, |seat| seat.heard_at = seat.heard_at.max(now)).is_some()
    }

    /// What its machine is at.
    pub fn reads(&self, session: SessionId, machine: Machine, now: Timestamp) {
        self.with_session(session, |seat| seat.machine = Some((machine, now)));
    }

    pub fn resize(&self, session: SessionId, capacity: u32, queue: u32) {
        self.with_session(session, |seat| {
            seat.registration.capacity = capacity;
            seat.registration.queue = queue;
        });
    }

    /// It has said goodbye: its lease ends at once.
    pub fn leaves(&self, session: SessionId) {
        self.with_session(session, |seat| seat.heard_at = Timestamp::EPOCH);
    }

    pub fn drains(&self, session: SessionId) {
        self.with_session(session, |seat| seat.draining = true);
    }

    /// The session has ended; the executor may come back within its lease.
    pub fn disconnected(&self, session: SessionId) {
        self.with_session(session, |seat| seat.session = None);
    }

    pub fn executor(&self, session: SessionId) -> Option<ExecutorRef> {
        self.with_session(session, |seat| seat.registration.executor.clone())
    }

    pub fn session(&self, executor: &ExecutorRef) -> Option<SessionId> {
        self.with_executor(executor, |seat| seat.session).flatten()
    }

    /// The task is with the executor now; `started` tells whether it runs.
    pub fn holds(&self, executor: &ExecutorRef, task: TaskId, started: bool) {
        self.with_executor(executor, |seat| seat.in_hand.insert(task, started));
    }

    pub fn lets_go(&self, executor: &ExecutorRef, task: TaskId) {
        self.with_executor(executor, |seat| seat.in_hand.remove(&task));
    }

    /// Exactly these are in its hands.
    pub fn recount(&self, executor: &ExecutorRef, in_hand: impl Iterator<Item = (TaskId, bool)>) {
        self.with_executor(executor, |seat| seat.in_hand = in_hand.collect());
    }

    /// Whether a slot of it is free, so that what was pushed ought to start.
    pub fn has_free_slot(&self, executor: &ExecutorRef) -> bool {
        self.with_executor(executor, |seat| {
            let running = seat.in_hand.values().filter(|started| **started).count();
            running < seat.registration.capacity as usize
        })
        .unwrap_or(false)
    }

    /// Executors that can take something now, by name.
    pub fn offers(&self, now: Timestamp) -> Vec<Offer> {
        let mut state = self.state();
        state.touch_offers(now);
        let offer = |seat: &Seat| {
            let in_hand = u32::try_from(seat.in_hand.len()).unwrap_or(u32::MAX);
            let registration = &seat.registration;
            Some(Offer {
                executor: registration.executor.clone(),
                session: seat.session?,
                processors: registration.processors.iter().map(|processor| processor.name.clone()).collect(),
                room: registration.capacity.saturating_add(registration.queue).saturating_sub(in_hand),
                in_hand,
                capacity: registration.capacity,
            })
        };
        state.seats.values().filter(|seat| seat.takes(now)).filter_map(offer).collect()
    }

    /// Its life is over as far as this node can tell: another life has its name, its lease has passed, or it has not
    /// come back since the node began.
    pub fn is_gone(&self, executor: &ExecutorRef, now: Timestamp) -> bool {
        let state = self.state();
        match state.seats.get(&(executor.group.clone(), executor.name.clone())) {
            Some(seat) if seat.registration.executor.boot == executor.boot => {
                now.since(seat.heard_at) >= EXECUTOR_LEASE
            }
            Some(_) => true,
            None => state.since.is_some_and(|since| now.since(since) >= RETURN_GRACE),
        }
    }

    /// Since when no live executor has offered the processor; none where one does now.
    pub fn absent_since(&self, group: &str, processor: &str, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.state();
        state.touch_offers(now);
        let offered = state.seats.values().any(|seat| {
            seat.takes(now)
                && seat.registration.executor.group == group
                && seat.registration.processors.iter().any(|offer| offer.name == processor)
        });
        if offered {
            return None;
        }
        state.offered_at.get(&(group.to_owned(), processor.to_owned())).copied().or(state.since)
    }

    /// Seats whose lease has passed are cleared; their sessions are handed back to be closed.
    pub fn clear_gone(&self, now: Timestamp) -> Vec<(ExecutorRef, Option<SessionId>)> {
        let mut state = self.state();
        let gone: Vec<_> = state
            .seats
            .iter()
            .filter(|(_, seat)| now.since(seat.heard_at) >= EXECUTOR_LEASE)
            .map(|(name, seat)| (name.clone(), seat.registration.executor.clone(), seat.session))
            .collect();
        for (name, _, _) in &gone {
            state.seats.remove(name);
        }
        gone.into_iter().map(|(_, executor, session)| (executor, session)).collect()
    }

    pub fn sessions(&self) -> Vec<SessionId> {
        self.state().seats.values().filter_map(|seat| seat.session).collect()
    }

    pub fn views(&self) -> Vec<ExecutorView> {
        self.state()
            .seats
            .values()
            .map(|seat| ExecutorView {
                executor: seat.registration.executor.clone(),
                processors: seat.registration.processors.clone(),
                labels: seat.registration.labels.clone(),
                sdk_version: seat.registration.sdk_version.clone(),
                machine: seat.machine,
                capacity: seat.registration.capacity,
                queue: seat.registration.queue,
                in_hand: u32::try_from(seat.in_hand.len()).unwrap_or(u32::MAX),
                running: u32::try_from(seat.in_hand.values().filter(|started| **started).count()).unwrap_or(u32::MAX),
                heard_at: seat.heard_at,
                draining: seat.draining,
                connected: seat.session.is_some(),
            })
            .collect()
    }

    fn with_session<T>(&self, session: SessionId, act: impl FnOnce(&mut Seat) -> T) -> Option<T> {
        self.state().seats.values_mut().find(|seat| seat.session == Some(session)).map(act)
    }

    fn with_executor<T>(&self, executor: &ExecutorRef, act: impl FnOnce(&mut Seat) -> T) -> Option<T> {
        self.state()
            .seats
            .get_mut(&(executor.group.clone(), executor.name.clone()))
            .filter(|seat| seat.registration.executor.boot == executor.boot)
            .map(act)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn takes(&self, now: Timestamp) -> bool {
        self.session.is_some() && !self.draining && now.since(self.heard_at) < EXECUTOR_LEASE
    }
}

impl State {
    fn touch_offers(&mut self, now: Timestamp) {
        let offered: Vec<(String, String)> = self
            .seats
            .values()
            .filter(|seat| seat.takes(now))
            .flat_map(|seat| {
                let group = &seat.registration.executor.group;
                seat.registration.processors.iter().map(|offer| (group.clone(), offer.name.clone()))
            })
            .collect();
        for processor in offered {
            self.offered_at.insert(processor, now);
        }
    }
}
