//! The executors that are connected to this node, and what each of them has in hand.
//!
//! Of those that are connected to other nodes of a team it knows what these have written down.
//!
//! A cache: what they hold is in the store, and what they are they say again when they come back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::executor::{Drain, ExecutorEntry, HostedProcessor, MachineReading, RATE_OVER_MS};
use campanile_model::node::NodeEntry;
use campanile_model::secret::to_hex;
use campanile_model::task::{ExecutorRef, Move, Need, Step, TaskState};
use campanile_model::{Code, Fault, Lane, TaskId, Timestamp};

use crate::link::{AttemptRef, Machine, Method, ProcessorOffer, Registration, SessionId};
use crate::machine::{Readings, Resource, Strain, Thresholds};
use crate::rest::Rest;
use crate::team::is_live;

/// An executor that says nothing for so long is gone.
pub const EXECUTOR_LEASE: Duration = Duration::from_secs(3);

/// A node that starts gives every executor so long to come back.
pub const RETURN_GRACE: Duration = Duration::from_secs(10);

/// Lost attempts of which a late end would be recognised.
const MOST_LOST: usize = 10_000;

#[derive(Clone, Debug)]
struct Seat {
    registration: Registration,
    /// None between two sessions.
    session: Option<SessionId>,
    heard_at: Timestamp,
    draining: bool,
    machine: Option<(Machine, Timestamp)>,
    readings: Readings,
    rest: Rest,
    /// Attempts pushed to it and not final.
    in_hand: HashMap<TaskId, InHand>,
    /// How long it has had a free slot, all in all, and since when it has had one this time.
    idle_millis: i64,
    idle_since: Option<Timestamp>,
    tally: Tally,
}

/// What of an executor's life is only for people to see.
#[derive(Clone, Debug)]
struct Tally {
    since: Timestamp,
    /// Reports that came too late, twice or out of place.
    disregarded: u64,
    /// Tasks that ended and how long they ran, by tens of seconds, the latest last.
    ended: VecDeque<(i64, u32, u64)>,
}

/// Ended tasks are counted by so long.
const TALLY_MS: i64 = 10_000;

#[derive(Clone, Copy, Debug)]
struct InHand {
    started: bool,
    /// What `idle` showed when it was pushed.
    idle_before: i64,
}

/// An executor that is there and takes work, if not always now.
#[derive(Clone, Debug)]
pub struct Offer {
    pub executor: ExecutorRef,
    pub session: SessionId,
    pub processors: HashSet<String>,
    /// Of them those that know whether a run is still needed.
    pub answering: HashSet<String>,
    pub labels: BTreeMap<String, String>,
    /// How many more it takes.
    pub room: u32,
    pub in_hand: u32,
    pub capacity: u32,
    /// What it runs and what may wait there, together.
    pub most: u32,
    pub strain: Strain,
    /// It gave work back too often, and is left alone until then.
    pub rests_until: Option<Timestamp>,
    /// Tasks that it gave back, each with the time until which it is not offered them again.
    pub refused: HashMap<TaskId, Timestamp>,
}

impl Offer {
    /// Whether it is one that could take such a task at some time.
    pub fn suits(&self, need: &Need) -> bool {
        self.executor.group == need.group
            && self.processors.contains(&need.processor)
            && need.placed.as_ref().is_none_or(|placed| placed.executor == self.executor.name)
            && has_all(&self.labels, &need.labels)
    }

    /// Why its machine does not take such a task now.
    pub fn strained(&self, need: &Need, lane: Lane) -> Option<Resource> {
        self.strain.holds(lane, need.io)
    }

    pub fn rests(&self, now: Timestamp) -> bool {
        self.rests_until.is_some_and(|until| until > now)
    }
}

fn has_all(labels: &BTreeMap<String, String>, asked: &BTreeMap<String, String>) -> bool {
    asked.iter().all(|(name, value)| labels.get(name) == Some(value))
}

/// An executor as another node wrote it down.
#[derive(Clone, Debug)]
struct Elsewhere {
    entry: ExecutorEntry,
    /// Its node is there.
    node_lives: bool,
    /// When its node was last seen, or it itself.
    seen_at: Timestamp,
}

impl Elsewhere {
    fn lives(&self) -> bool {
        self.node_lives && self.entry.gone_at.is_none()
    }

    fn takes(&self) -> bool {
        self.lives() && self.entry.connected && !self.entry.draining
    }

    fn suits(&self, need: &Need) -> bool {
        self.entry.executor.group == need.group
            && self.entry.processors.iter().any(|offer| offer.name == need.processor)
            && need.placed.as_ref().is_none_or(|placed| placed.executor == self.entry.executor.name)
            && has_all(&self.entry.labels, &need.labels)
    }

    fn does(&self, processor: &str, method: Method) -> bool {
        let mut offers = self.entry.processors.iter();
        offers.any(|offer| offer.name == processor && offer.methods.iter().any(|name| name == method.name()))
    }
}

/// One whose life is over.
#[derive(Clone, Debug)]
pub struct Gone {
    pub executor: ExecutorRef,
    pub session: Option<SessionId>,
    /// It left in good order, and its lease did not have to run out.
    pub said_goodbye: bool,
}

/// Who could be called for something, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub live: BTreeSet<String>,
    pub draining: BTreeSet<String>,
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
    /// What its machine is short of.
    pub strain: Strain,
    /// It gave work back too often, and is left alone until then.
    pub rests_until: Option<Timestamp>,
}

#[derive(Default)]
struct State {
    since: Option<Timestamp>,
    /// Until when everything that was said has been heard; none: until now.
    heard_until: Option<Timestamp>,
    /// By group and name.
    seats: BTreeMap<(String, String), Seat>,
    /// Attempts that were lost with their executors and of whose end nothing was heard since, the oldest first.
    lost: VecDeque<AttemptRef>,
    /// What somebody has asked for, and when a live executor last offered it, or it was asked for first.
    wanted: HashMap<Need, Timestamp>,
    /// Executors that are with other nodes, as those have written them down.
    elsewhere: BTreeMap<(String, String), Elsewhere>,
    /// Those that people want left alone; none: it is not known yet, and nobody is offered.
    drained: Option<BTreeSet<(String, String)>>,
}

/// Beyond so many the answers to what is asked for less and less are found anew.
const MOST_WANTED: usize = 50_000;

#[derive(Default)]
pub struct Roster {
    state: Mutex<State>,
    /// What the machine of an executor within this program may be at.
    embedded: Thresholds,
}

impl Roster {
    /// With what the machine of an executor within this program may be at.
    pub fn of(embedded: Thresholds) -> Roster {
        Roster { embedded, ..Roster::default() }
    }

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
        let (mut readings, mut rest) = (Readings::default(), Rest::default());
        let mut tally = Tally { since: now, disregarded: 0, ended: VecDeque::new() };
        if let Some(seat) = state.seats.get(&name) {
            let same_life = seat.registration.executor.boot == registration.executor.boot;
            let live = !seat.was_silent(now);
            if !same_life && live && !registration.embedded {
                return Err(Code::ExecutorNameTaken.fault().with("executor", &registration.executor.name));
            }
            replaced = seat.session.filter(|old| *old != session);
            if same_life {
                in_hand = seat.in_hand.clone();
                machine = seat.machine;
                (readings, rest) = (seat.readings.clone(), seat.rest.clone());
                tally = seat.tally.clone();
            }
        }
        let mut seat = Seat {
            registration,
            session: Some(session),
            heard_at: now,
            draining: false,
            machine,
            readings,
            rest,
            in_hand,
            idle_millis: 0,
            idle_since: None,
            tally,
        };
        // What was told while nobody listened starts its time anew.
        for in_hand in seat.in_hand.values_mut() {
            in_hand.idle_before = 0;
        }
        seat.watch(now);
        state.seats.insert(name, seat);
        state.touch_offers(now);
        Ok(replaced)
    }

    pub fn heard(&self, session: SessionId, now: Timestamp) -> bool {
        self.with_session(session, |seat| seat.heard_at = seat.heard_at.max(now)).is_some()
    }

    /// What is said from `at` on is heard later, once what was said before has been written; where that is not `all`,
    /// so is what was said earlier.
    ///
    /// While a write takes long, executors that speak all the time would look silent. Nobody's lease passes in time of
    /// which nothing was heard yet.
    pub fn hears_late(&self, at: Timestamp, all: bool) {
        let mut state = self.state();
        state.heard_until = Some(if all { at } else { state.heard_until.unwrap_or(at) });
    }

    /// Whatever is said is heard at once.
    pub fn hears_at_once(&self) {
        self.state().heard_until = None;
    }

    /// What its machine is at.
    pub fn reads(&self, session: SessionId, machine: Machine, now: Timestamp) {
        self.with_session(session, |seat| {
            seat.machine = Some((machine, now));
            seat.readings.take(machine);
        });
    }

    pub fn resize(&self, session: SessionId, capacity: u32, queue: u32, now: Timestamp) {
        self.with_session(session, |seat| {
            seat.registration.capacity = capacity;
            seat.registration.queue = queue;
            seat.watch(now);
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
    pub fn holds(&self, executor: &ExecutorRef, task: TaskId, started: bool, now: Timestamp) {
        self.with_executor(executor, |seat| {
            let idle_before = seat.idle(now);
            let entry = seat.in_hand.entry(task).or_insert(InHand { started, idle_before });
            entry.started = started;
            if started {
                seat.rest.started(task);
            }
            seat.watch(now);
        });
    }

    /// The same of one that may have been counted long ago, or by another node.
    pub fn has_in_hand(&self, executor: &ExecutorRef, task: TaskId, now: Timestamp) {
        self.with_executor(executor, |seat| {
            let idle_before = seat.idle(now);
            seat.in_hand.entry(task).or_insert(InHand { started: false, idle_before });
        });
    }

    pub fn lets_go(&self, executor: &ExecutorRef, task: TaskId, now: Timestamp) {
        self.with_executor(executor, |seat| {
            seat.in_hand.remove(&task);
            seat.watch(now);
        });
    }

    /// It gave the task back unbegun, for the `times`-th time that anyone did.
    pub fn gave_back(&self, executor: &ExecutorRef, task: TaskId, times: u32, now: Timestamp) {
        self.with_executor(executor, |seat| {
            let patience = seat.registration.capacity.saturating_add(seat.registration.queue);
            seat.rest.gave_back(task, times, patience, now);
        });
    }

    /// Exactly these are in its hands.
    pub fn recount(&self, executor: &ExecutorRef, in_hand: impl Iterator<Item = (TaskId, bool)>, now: Timestamp) {
        self.with_executor(executor, |seat| {
            let idle_before = seat.idle(now);
            seat.in_hand = in_hand.map(|(task, started)| (task, InHand { started, idle_before })).collect();
            seat.watch(now);
        });
    }

    /// How long the executor has had a free slot since the task was pushed to it, so that it ought to have started.
    pub fn idle_since_push(&self, executor: &ExecutorRef, task: TaskId, now: Timestamp) -> Option<Duration> {
        self.with_executor(executor, |seat| {
            let before = seat.in_hand.get(&task)?.idle_before;
            Some(Duration::from_millis(u64::try_from(seat.idle(now) - before).unwrap_or(0)))
        })
        .flatten()
    }

    /// Whoever is there has been seen by now: this node leads, and has for a while.
    pub fn knows_all(&self, now: Timestamp) -> bool {
        self.state().since.is_some_and(|since| now.since(since) >= RETURN_GRACE)
    }

    pub fn has(&self, group: &str, name: &str) -> bool {
        let name = (group.to_owned(), name.to_owned());
        let state = self.state();
        state.seats.contains_key(&name) || state.elsewhere.get(&name).is_some_and(Elsewhere::lives)
    }

    /// Executors that take work, by name; some have no room just now.
    pub fn offers(&self, now: Timestamp) -> Vec<Offer> {
        let mut state = self.state();
        state.touch_offers(now);
        let offer = |seat: &Seat| {
            let in_hand = u32::try_from(seat.in_hand.len()).unwrap_or(u32::MAX);
            let registration = &seat.registration;
            let most = registration.capacity.saturating_add(registration.queue);
            let names = |keep: fn(&ProcessorOffer) -> bool| {
                registration.processors.iter().filter(|offer| keep(offer)).map(|offer| offer.name.clone()).collect()
            };
            Some(Offer {
                executor: registration.executor.clone(),
                session: seat.session?,
                processors: names(|_| true),
                answering: names(|offer| offer.answers_still_needed),
                labels: registration.labels.clone(),
                room: most.saturating_sub(in_hand),
                in_hand,
                capacity: registration.capacity,
                most,
                strain: seat.readings.strain(self.thresholds(seat)),
                rests_until: seat.rest.until().filter(|until| *until > now),
                refused: seat.rest.refused(now),
            })
        };
        let Some(drained) = &state.drained else { return Vec::new() };
        let left_alone = |seat: &Seat| {
            let executor = &seat.registration.executor;
            drained.iter().any(|(group, name)| *group == executor.group && *name == executor.name)
        };
        let taking = state.seats.values().filter(|seat| seat.takes(now) && !left_alone(seat));
        taking.filter_map(offer).collect()
    }

    /// A node that has just begun does not know yet who is there.
    pub fn is_gathering(&self, now: Timestamp) -> bool {
        self.state().since.is_some_and(|since| now.since(since) < RETURN_GRACE)
    }

    /// Its life is over as far as this node can tell: another life has its name, its lease has passed, or it has not
    /// come back since the node began.
    pub fn is_gone(&self, executor: &ExecutorRef, now: Timestamp) -> bool {
        let state = self.state();
        match state.seats.get(&(executor.group.clone(), executor.name.clone())) {
            Some(seat) if seat.registration.executor.boot == executor.boot => {
                seat.was_silent(state.heard_until(now)) && !state.lives_elsewhere(executor)
            }
            Some(_) => true,
            None => {
                let grace_is_over = |since| now.since(since) >= RETURN_GRACE;
                state.since.is_some_and(grace_is_over)
                    && match state.elsewhere.get(&(executor.group.clone(), executor.name.clone())) {
                        // Another life has its name, or its own node says so.
                        Some(other) if other.entry.executor.boot != executor.boot || other.entry.gone_at.is_some() => {
                            true
                        }
                        // While its node is there, that one will say.
                        Some(other) => !other.node_lives && grace_is_over(other.seen_at),
                        None => true,
                    }
            }
        }
    }

    /// Whether a node that is there has it.
    pub fn lives_elsewhere(&self, executor: &ExecutorRef) -> bool {
        self.state().lives_elsewhere(executor)
    }

    /// It sits here, with or without a stream just now.
    pub fn sits_here(&self, executor: &ExecutorRef) -> bool {
        self.with_executor(executor, |_| ()).is_some()
    }

    /// Whether an executor of another node could take such a task at some time.
    pub fn someone_elsewhere(&self, need: &Need) -> bool {
        self.state().elsewhere.values().any(|other| other.takes() && other.suits(need))
    }

    /// How much all that sit here have in hand.
    pub fn all_in_hand(&self) -> u64 {
        self.state().seats.values().map(|seat| seat.in_hand.len() as u64).sum()
    }

    /// As it is to be written down by the node that it has just come to.
    pub fn entry(&self, node: &str, executor: &ExecutorRef, now: Timestamp) -> Option<ExecutorEntry> {
        self.with_executor(executor, |seat| seat.entry(node, false, now))
    }

    /// The fault of an executor whose name another life has, at another node.
    pub fn is_taken_elsewhere(&self, executor: &ExecutorRef, now: Timestamp) -> Option<Fault> {
        let state = self.state();
        let other = state.elsewhere.get(&(executor.group.clone(), executor.name.clone()))?;
        let another_life = other.entry.executor.boot != executor.boot && other.entry.gone_at.is_none();
        let live = other.node_lives || now.since(other.seen_at) < EXECUTOR_LEASE;
        (another_life && live).then(|| Code::ExecutorNameTaken.fault().with("executor", &executor.name))
    }

    /// Takes in what other nodes have written down. Hands back the sessions of executors that sit here no longer: they
    /// have moved.
    pub fn sees_others(
        &self,
        own: &str,
        stored: &[(ExecutorEntry, Option<Drain>)],
        nodes: &[NodeEntry],
        now: Timestamp,
    ) -> Vec<SessionId> {
        let mut state = self.state();
        state.elsewhere.clear();
        let mut left = Vec::new();
        for (entry, _) in stored.iter().filter(|(entry, _)| entry.node != own) {
            let name = (entry.executor.group.clone(), entry.executor.name.clone());
            let node = nodes.iter().find(|node| node.node == entry.node);
            let other = Elsewhere {
                entry: entry.clone(),
                node_lives: node.is_some_and(|node| is_live(node, now)),
                seen_at: node.map_or(entry.heard_at, |node| node.seen_at.max(entry.heard_at)),
            };
            let has_moved = state.seats.get(&name).is_some_and(|seat| {
                seat.registration.executor.boot == entry.executor.boot
                    && other.lives()
                    && entry.connected
                    && (seat.session.is_none() || seat.heard_at < entry.heard_at)
            });
            if has_moved {
                left.extend(state.seats.remove(&name).and_then(|seat| seat.session));
            }
            state.elsewhere.insert(name, other);
        }
        left
    }

    /// Since when no live executor could take such a task; none where one could now.
    pub fn absent_since(&self, need: &Need, now: Timestamp) -> Option<Timestamp> {
        let mut state = self.state();
        let since = state.since.unwrap_or(now);
        if !state.wanted.contains_key(need) {
            if state.wanted.len() >= MOST_WANTED {
                state.wanted.clear();
            }
            state.wanted.insert(need.clone(), since);
        }
        state.touch_offers(now);
        if state.could_take(need, now) {
            return None;
        }
        state.wanted.get(need).copied()
    }

    /// Who could be called for this, by name: those who take work, and those who live and take nothing new.
    pub fn standing(&self, need: &Need, method: Method, now: Timestamp) -> Standing {
        let state = self.state();
        let mut standing = Standing::default();
        let Some(drained) = &state.drained else { return standing };
        let until = state.heard_until(now);
        for (name, seat) in &state.seats {
            if seat.was_silent(until) || !seat.suits(need) || !seat.does(&need.processor, method) {
                continue;
            }
            let left_alone = seat.draining || drained.contains(name);
            let names = if left_alone { &mut standing.draining } else { &mut standing.live };
            names.insert(name.1.clone());
        }
        for (name, other) in &state.elsewhere {
            if !other.lives() || !other.suits(need) || !other.does(&need.processor, method) {
                continue;
            }
            let left_alone = other.entry.draining || drained.contains(name);
            if left_alone && !standing.live.contains(&name.1) {
                standing.draining.insert(name.1.clone());
            } else if !left_alone {
                standing.draining.remove(&name.1);
                standing.live.insert(name.1.clone());
            }
        }
        standing
    }

    /// Live executors that could take such a task at some time, in the order of their names.
    pub fn names_of(&self, need: &Need, now: Timestamp) -> Vec<String> {
        let state = self.state();
        let here = state.seats.values().filter(|seat| seat.takes(now) && seat.suits(need));
        let elsewhere = state.elsewhere.values().filter(|other| other.takes() && other.suits(need));
        let names: BTreeSet<String> = here
            .map(|seat| seat.registration.executor.name.clone())
            .chain(elsewhere.map(|other| other.entry.executor.name.clone()))
            .collect();
        names.into_iter().collect()
    }

    /// Seats whose lease has passed are cleared; their sessions are to be closed.
    pub fn clear_gone(&self, now: Timestamp) -> Vec<Gone> {
        let mut state = self.state();
        let until = state.heard_until(now);
        let gone = state.seats.extract_if(.., |_, seat| seat.was_silent(until));
        gone.map(|(_, seat)| Gone {
            said_goodbye: seat.heard_at == Timestamp::EPOCH,
            executor: seat.registration.executor,
            session: seat.session,
        })
        .collect()
    }

    /// Remembers attempts that a step has lost, until their late end is written: it is shown, and changes nothing.
    pub fn keeps_who_lost(&self, step: &Step) {
        let of = |made: &Move| AttemptRef { task: step.task().id, attempt: made.attempt() };
        let mut state = self.state();
        for made in step.moves() {
            let attempt = of(made);
            if made.is_remark() {
                state.lost.retain(|lost| *lost != attempt);
            } else if made.to() == TaskState::ExecutorLost {
                state.lost.push_back(attempt);
            }
        }
        while state.lost.len() > MOST_LOST {
            state.lost.pop_front();
        }
    }

    pub fn was_lost(&self, attempt: AttemptRef) -> bool {
        self.state().lost.contains(&attempt)
    }

    /// Exactly these are to be left alone; hands back who has a session.
    pub fn drain_only(&self, drained: BTreeSet<(String, String)>) -> BTreeMap<(String, String), SessionId> {
        let mut state = self.state();
        state.drained = Some(drained);
        state.seats.iter().filter_map(|(name, seat)| Some((name.clone(), seat.session?))).collect()
    }

    /// A report of it changed nothing.
    pub fn disregards(&self, session: SessionId) {
        self.with_session(session, |seat| seat.tally.disregarded += 1);
    }

    /// A task of it has ended.
    pub fn ended(&self, executor: &ExecutorRef, took_ms: u64, now: Timestamp) {
        self.with_executor(executor, |seat| {
            let place = now.millis().div_euclid(TALLY_MS);
            match seat.tally.ended.back_mut() {
                Some((at, count, took)) if *at == place => {
                    *count = count.saturating_add(1);
                    *took = took.saturating_add(took_ms);
                }
                _ => seat.tally.ended.push_back((place, 1, took_ms)),
            }
            let oldest = place - RATE_OVER_MS / TALLY_MS;
            while seat.tally.ended.front().is_some_and(|(at, _, _)| *at < oldest) {
                seat.tally.ended.pop_front();
            }
        });
    }

    /// Each as it is written down for people. One whose lease has passed is none of them.
    pub fn entries(&self, node: &str, now: Timestamp) -> Vec<ExecutorEntry> {
        let state = self.state();
        let drained = |name: &(String, String)| state.drained.as_ref().is_some_and(|drained| drained.contains(name));
        let until = state.heard_until(now);
        let live = state.seats.iter().filter(|(_, seat)| !seat.was_silent(until));
        live.map(|(name, seat)| seat.entry(node, drained(name), now)).collect()
    }

    pub fn sessions(&self) -> Vec<SessionId> {
        self.state().seats.values().filter_map(|seat| seat.session).collect()
    }

    pub fn views(&self) -> Vec<ExecutorView> {
        let state = self.state();
        let drained = |name: &(String, String)| state.drained.as_ref().is_some_and(|drained| drained.contains(name));
        let seats = state.seats.iter();
        seats
            .map(|(name, seat)| ExecutorView {
                executor: seat.registration.executor.clone(),
                processors: seat.registration.processors.clone(),
                labels: seat.registration.labels.clone(),
                sdk_version: seat.registration.sdk_version.clone(),
                machine: seat.machine,
                capacity: seat.registration.capacity,
                queue: seat.registration.queue,
                in_hand: u32::try_from(seat.in_hand.len()).unwrap_or(u32::MAX),
                running: seat.running(),
                heard_at: seat.heard_at,
                draining: seat.draining || drained(name),
                connected: seat.session.is_some(),
                strain: seat.readings.strain(self.thresholds(seat)),
                rests_until: seat.rest.until().filter(|until| *until > seat.heard_at),
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

    fn thresholds(&self, seat: &Seat) -> Thresholds {
        if seat.registration.embedded { self.embedded } else { Thresholds::SERVER }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn entry(&self, node: &str, drained: bool, now: Timestamp) -> ExecutorEntry {
        let registration = &self.registration;
        let processors = registration.processors.iter();
        let oldest = (now.millis() - RATE_OVER_MS).div_euclid(TALLY_MS);
        let of_late = self.tally.ended.iter().filter(|(at, _, _)| *at >= oldest);
        let (ended, ended_took_ms) = of_late.fold((0_u32, 0_u64), |(ended, took), (_, count, ms)| {
            (ended.saturating_add(*count), took.saturating_add(*ms))
        });
        ExecutorEntry {
            executor: registration.executor.clone(),
            node: node.to_owned(),
            embedded: registration.embedded,
            processors: processors
                .map(|offer| HostedProcessor {
                    name: offer.name.clone(),
                    title: offer.title.clone(),
                    methods: offer.methods.iter().map(|method| method.name().to_owned()).collect(),
                })
                .collect(),
            labels: registration.labels.clone(),
            capacity: registration.capacity,
            queue: registration.queue,
            in_hand: u32::try_from(self.in_hand.len()).unwrap_or(u32::MAX),
            running: self.running(),
            version: registration.sdk_version.clone(),
            public_key: registration.public_key.map(|key| to_hex(&key)).unwrap_or_default(),
            machine: self.machine.map(|(machine, _)| MachineReading {
                cpu_percent: machine.cpu_percent,
                memory_percent: machine.memory_percent,
                disk_queue: machine.disk_queue,
                cores: machine.cores,
            }),
            connected: self.session.is_some(),
            draining: self.draining || drained,
            since: self.tally.since,
            heard_at: self.heard_at,
            gone_at: None,
            disregarded: self.tally.disregarded,
            ended,
            ended_took_ms,
        }
    }

    /// Its lease had passed by then.
    fn was_silent(&self, until: Timestamp) -> bool {
        until.since(self.heard_at) >= EXECUTOR_LEASE
    }

    fn takes(&self, now: Timestamp) -> bool {
        self.session.is_some() && !self.draining && !self.was_silent(now)
    }

    fn suits(&self, need: &Need) -> bool {
        let registration = &self.registration;
        registration.executor.group == need.group
            && registration.processors.iter().any(|offer| offer.name == need.processor)
            && need.placed.as_ref().is_none_or(|placed| placed.executor == registration.executor.name)
            && has_all(&registration.labels, &need.labels)
    }

    fn does(&self, processor: &str, method: Method) -> bool {
        let offers = &self.registration.processors;
        offers.iter().any(|offer| offer.name == processor && offer.methods.contains(&method))
    }

    fn running(&self) -> u32 {
        u32::try_from(self.in_hand.values().filter(|in_hand| in_hand.started).count()).unwrap_or(u32::MAX)
    }

    fn idle(&self, now: Timestamp) -> i64 {
        let present = self.idle_since.map_or(0, |since| now.millis().saturating_sub(since.millis()).max(0));
        self.idle_millis + present
    }

    /// Goes on counting the time in which a slot is free, or stops.
    fn watch(&mut self, now: Timestamp) {
        let is_free = self.running() < self.registration.capacity;
        match (is_free, self.idle_since) {
            (true, None) => self.idle_since = Some(now),
            (false, Some(_)) => {
                self.idle_millis = self.idle(now);
                self.idle_since = None;
            }
            _ => {}
        }
    }
}

impl State {
    fn heard_until(&self, now: Timestamp) -> Timestamp {
        self.heard_until.map_or(now, |until| until.min(now))
    }

    fn could_take(&self, need: &Need, now: Timestamp) -> bool {
        self.seats.values().any(|seat| seat.takes(now) && seat.suits(need))
            || self.elsewhere.values().any(|other| other.takes() && other.suits(need))
    }

    fn lives_elsewhere(&self, executor: &ExecutorRef) -> bool {
        let other = self.elsewhere.get(&(executor.group.clone(), executor.name.clone()));
        other.is_some_and(|other| other.lives() && other.entry.executor.boot == executor.boot)
    }

    fn touch_offers(&mut self, now: Timestamp) {
        let State { seats, wanted, elsewhere, .. } = self;
        for (need, offered_at) in wanted {
            let here = seats.values().any(|seat| seat.takes(now) && seat.suits(need));
            if here || elsewhere.values().any(|other| other.takes() && other.suits(need)) {
                *offered_at = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionId = 1;

    /// A goodbye is heard at the beginning of time, so this is long after it.
    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    /// One executor, heard at 1 s.
    fn with_one() -> (Roster, ExecutorRef) {
        let executor = ExecutorRef { group: "g".to_owned(), name: "one".to_owned(), boot: "b".to_owned() };
        let registration = Registration {
            executor: executor.clone(),
            embedded: false,
            processors: Vec::new(),
            labels: BTreeMap::new(),
            sdk_version: String::new(),
            public_key: None,
            capacity: 1,
            queue: 0,
            still_held: Vec::new(),
        };
        let roster = Roster::default();
        roster.open(at(0));
        roster.seat(SESSION, registration, at(1000)).expect("the name is free");
        (roster, executor)
    }

    #[test]
    fn a_lease_passes_only_in_time_of_which_all_has_been_heard() {
        /// From when on what is said is heard late, and whether that is all.
        type Late = &'static [(i64, bool)];
        // What is heard late, when it is asked, is it gone.
        let cases: [(Late, i64, bool); 7] = [
            (&[], 3999, false),
            (&[], 4000, true),
            (&[(1500, true)], 60_000, false),
            (&[(1500, true), (4000, true)], 60_000, true),
            // As long as something is left over it may be from then.
            (&[(1500, true), (4000, false)], 60_000, false),
            (&[(1500, false), (4000, false), (9000, true)], 60_000, true),
            // A clock that was set back.
            (&[(9000, true)], 3999, false),
        ];
        for (late, asked, gone) in cases {
            let (roster, executor) = with_one();
            for (from, all) in late {
                roster.hears_late(at(*from), *all);
            }
            assert_eq!(roster.is_gone(&executor, at(asked)), gone, "{late:?} {asked}");
            assert_eq!(roster.entries("n", at(asked)).is_empty(), gone, "{late:?} {asked}");
            assert_eq!(roster.clear_gone(at(asked)).len(), usize::from(gone), "{late:?} {asked}");
        }
    }

    #[test]
    fn once_all_is_heard_at_once_who_was_silent_is_gone_and_who_spoke_is_not() {
        let (roster, executor) = with_one();
        roster.hears_late(at(1500), true);
        roster.hears_at_once();
        assert!(roster.is_gone(&executor, at(9000)));
        assert!(roster.heard(SESSION, at(8000)));
        assert!(!roster.is_gone(&executor, at(9000)));
    }

    #[test]
    fn a_goodbye_ends_the_lease_while_much_is_left_to_hear() {
        let (roster, executor) = with_one();
        roster.hears_late(at(1500), false);
        roster.leaves(SESSION);
        assert!(roster.is_gone(&executor, at(1500)));
    }
}
