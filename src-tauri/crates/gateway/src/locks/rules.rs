//! The rules of the lock room: who may ask, what an answer means, when a lock must be let go. Pure: events go in, what
//! is to be done comes out, time is an argument.
//!
//! What is asked of the table, and whether it answers, is the room's; a lock itself is the table's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use campanile_coord::locks::{Keep, LONGEST_NAME, LockName, Owner, Wish};
use campanile_engine::link::{AttemptRef, SessionId};
use campanile_engine::roster::EXECUTOR_LEASE;
use campanile_model::lock::{LockClaim, LockHeld};
use campanile_model::task::ExecutorRef;
use campanile_model::{Code, Fault, Timestamp, Words};
use campanile_proto::v1;

/// Open asks of one attempt, and of one executor.
pub const MOST_OF_ATTEMPT: usize = 100;
pub const MOST_OF_EXECUTOR: usize = 1000;

pub const MOST_NAMES: usize = 32;

const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// One ask of one attempt, for as long as its executor lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId {
    pub executor: ExecutorRef,
    pub attempt: AttemptRef,
    pub number: u64,
}

impl AskId {
    /// An attempt of a life of an executor is who holds: two attempts of one task are two owners.
    pub fn owner(&self) -> Owner {
        let ExecutorRef { group, name, boot } = &self.executor;
        Owner(format!("{group}/{name}/{boot}/{}/{}", self.attempt.task, self.attempt.attempt))
    }
}

/// What happens in the room.
#[derive(Debug)]
pub enum Event {
    Registers(SessionId, ExecutorRef),
    /// The engine has admitted it, and counts these attempts as its.
    Welcomed(SessionId, Vec<AttemptRef>),
    Beats(SessionId),
    Gone(SessionId),
    /// It leaves for good.
    Leaves(SessionId),
    Pushed(SessionId, AttemptRef),
    /// It has reported the attempt's end, or handed it back.
    Over(SessionId, AttemptRef),
    Asks(SessionId, AttemptRef, v1::AskLocks),
    Lets(SessionId, AttemptRef, u64),
    /// The table's answers.
    Took(AskId, Vec<(LockName, u64)>, Timestamp),
    Failed(AskId, Fault),
    Lost(AskId, Vec<LockName>),
    /// It was let go of, and nothing of it is left.
    Ended(AskId),
    Tick,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Deed {
    Tell(SessionId, Box<v1::ToExecutor>),
    /// Take them.
    Take(AskId, Vec<LockName>, Wish),
    /// Go on with what was taken before.
    Adopt(AskId, Vec<(LockName, u64)>, Wish),
    /// Let go of it: stop waiting, leave what is held.
    Stop(AskId),
}

#[derive(Debug)]
enum State {
    Waits {
        until: Timestamp,
    },
    /// It was held with an earlier stream; the table is asked whether it still is.
    GoesOn,
    Holds {
        locks: Vec<(LockName, u64)>,
        until: Timestamp,
    },
    /// It was told to stop, and has not ended.
    Stops,
}

#[derive(Debug)]
struct Ask {
    names: Vec<LockName>,
    keep: Keep,
    state: State,
    since: Timestamp,
    /// The session in which it was last spoken of.
    spoken_in: SessionId,
    /// Its executor waits to hear that it is left.
    tell_end: bool,
    /// It was given up with an earlier stream and is asked again; anew, once nothing of it is left.
    again: Option<(SessionId, v1::AskLocks)>,
}

#[derive(Debug)]
struct Visitor {
    executor: ExecutorRef,
    /// None: not admitted yet.
    attempts: Option<BTreeSet<AttemptRef>>,
}

/// One life of an executor that is, or was until just now, connected here.
#[derive(Debug)]
struct Life {
    session: Option<SessionId>,
    heard_at: Timestamp,
    /// Since when it has spoken in this session; what it has not spoken of in a lease's time it does not know of.
    since: Timestamp,
}

/// What is held and waited for through this node.
#[derive(Debug, Default)]
pub struct Room {
    visitors: HashMap<SessionId, Visitor>,
    lives: BTreeMap<ExecutorRef, Life>,
    asks: BTreeMap<AskId, Ask>,
}

impl Room {
    pub fn on(&mut self, event: Event, now: Timestamp) -> Vec<Deed> {
        match event {
            Event::Registers(session, executor) => {
                self.visitors.insert(session, Visitor { executor, attempts: None });
            }
            Event::Welcomed(session, attempts) => {
                if let Some(visitor) = self.visitors.get_mut(&session) {
                    visitor.attempts = Some(attempts.into_iter().collect());
                    let life = Life { session: Some(session), heard_at: now, since: now };
                    self.lives.insert(visitor.executor.clone(), life);
                }
            }
            Event::Beats(session) => {
                if let Some(life) = self.life_in(session) {
                    life.heard_at = now;
                }
            }
            Event::Gone(session) => return self.gone(session),
            Event::Leaves(session) => {
                let Some(visitor) = self.visitors.get(&session) else { return Vec::new() };
                let executor = visitor.executor.clone();
                return self.stop_all(|id, _| id.executor == executor);
            }
            Event::Pushed(session, attempt) => {
                if let Some(attempts) = self.attempts_in(session) {
                    attempts.insert(attempt);
                }
            }
            Event::Over(session, attempt) => return self.over(session, attempt),
            Event::Asks(session, attempt, ask) => return self.asks(session, attempt, ask, now),
            Event::Lets(session, attempt, number) => return self.lets(session, attempt, number),
            Event::Took(id, locks, until) => return self.took(&id, locks, until, now),
            Event::Failed(id, fault) => return self.failed(&id, fault, now),
            Event::Lost(id, names) => return self.lost(&id, &names),
            Event::Ended(id) => return self.ended(&id, now),
            Event::Tick => return self.tick(now),
        }
        Vec::new()
    }

    fn attempts_in(&mut self, session: SessionId) -> Option<&mut BTreeSet<AttemptRef>> {
        self.visitors.get_mut(&session)?.attempts.as_mut()
    }

    fn life_in(&mut self, session: SessionId) -> Option<&mut Life> {
        let visitor = self.visitors.get(&session)?;
        self.lives.get_mut(&visitor.executor).filter(|life| life.session == Some(session))
    }

    /// Where the executor of an ask is spoken to now.
    fn session_of(&self, id: &AskId) -> Option<SessionId> {
        self.lives.get(&id.executor)?.session
    }

    fn tell(&self, id: &AskId, message: impl Into<v1::ToExecutor>) -> Vec<Deed> {
        self.session_of(id).map(|session| say(session, message)).into_iter().collect()
    }

    /// What waits is given up, since another node may be asked for it in a moment; what is held waits for its holder.
    fn gone(&mut self, session: SessionId) -> Vec<Deed> {
        let Some(visitor) = self.visitors.remove(&session) else { return Vec::new() };
        let Some(life) = self.lives.get_mut(&visitor.executor).filter(|life| life.session == Some(session)) else {
            return Vec::new();
        };
        life.session = None;
        self.stop_all(|id, ask| id.executor == visitor.executor && matches!(ask.state, State::Waits { .. }))
    }

    fn over(&mut self, session: SessionId, attempt: AttemptRef) -> Vec<Deed> {
        let Some(visitor) = self.visitors.get_mut(&session) else { return Vec::new() };
        if let Some(attempts) = &mut visitor.attempts {
            attempts.remove(&attempt);
        }
        let executor = visitor.executor.clone();
        self.stop_all(|id, _| id.executor == executor && id.attempt == attempt)
    }

    fn asks(&mut self, session: SessionId, attempt: AttemptRef, ask: v1::AskLocks, now: Timestamp) -> Vec<Deed> {
        let Some(visitor) = self.visitors.get(&session) else { return Vec::new() };
        let id = AskId { executor: visitor.executor.clone(), attempt, number: ask.ask };
        let its_own = visitor.attempts.as_ref().is_some_and(|attempts| attempts.contains(&attempt));
        if let Some(known) = self.asks.get_mut(&id) {
            known.spoken_in = session;
            match &known.state {
                State::Holds { locks, until } => {
                    let granted = granted(&id, locks, (known.keep != Keep::Watched).then_some(until.since(now)));
                    return vec![say(session, granted)];
                }
                State::Waits { .. } | State::GoesOn => return Vec::new(),
                State::Stops => {
                    known.again = Some((session, ask));
                    return Vec::new();
                }
            }
        }
        let wish = match wish_of(&id, &ask) {
            Ok(wish) => wish,
            Err(fault) => return vec![say(session, refused(&id, fault))],
        };
        if !its_own {
            return vec![match wish.held.is_empty() {
                true => {
                    say(session, refused(&id, no_locks("the attempt is not this executor's", "该次执行不属于此执行器")))
                }
                false => say(session, lost(&id, wish.held.iter().map(|(name, _)| name))),
            }];
        }
        let of_attempt = |other: &&AskId| other.executor == id.executor && other.attempt == attempt;
        let too_many = |most: usize, of: Words| {
            let problem = Words::new(format!("{most} for {}", of.en), format!("{}最多 {most} 个", of.zh));
            Code::TooManyLocks.fault().with_words("problem", &problem)
        };
        let fault = if self.asks.keys().filter(of_attempt).count() >= MOST_OF_ATTEMPT {
            Some(too_many(MOST_OF_ATTEMPT, Words::new("one attempt", "一次执行")))
        } else if self.asks.keys().filter(|other| other.executor == id.executor).count() >= MOST_OF_EXECUTOR {
            Some(too_many(MOST_OF_EXECUTOR, Words::new("one executor", "一个执行器")))
        } else {
            None
        };
        if let Some(fault) = fault {
            return vec![say(session, refused(&id, fault))];
        }
        let Wanted { names, held, wish } = wish;
        let known = Ask {
            names: names.clone(),
            keep: wish.keep,
            state: if held.is_empty() { State::Waits { until: now + wish.patience } } else { State::GoesOn },
            since: now,
            spoken_in: session,
            tell_end: false,
            again: None,
        };
        self.asks.insert(id.clone(), known);
        match held.is_empty() {
            true => vec![Deed::Take(id, names, wish)],
            false => vec![Deed::Adopt(id, held, wish)],
        }
    }

    fn lets(&mut self, session: SessionId, attempt: AttemptRef, number: u64) -> Vec<Deed> {
        let Some(visitor) = self.visitors.get(&session) else { return Vec::new() };
        let id = AskId { executor: visitor.executor.clone(), attempt, number };
        match self.asks.get_mut(&id) {
            Some(ask) => {
                ask.tell_end = true;
                ask.again = None;
                self.stop(&id).into_iter().collect()
            }
            None => vec![say(session, left(&id))],
        }
    }

    fn took(&mut self, id: &AskId, locks: Vec<(LockName, u64)>, until: Timestamp, now: Timestamp) -> Vec<Deed> {
        match self.asks.get_mut(id) {
            // It was told to stop meanwhile, and is about to leave them.
            None | Some(Ask { state: State::Stops, .. }) => Vec::new(),
            Some(ask) => {
                ask.since = now;
                let left = (ask.keep != Keep::Watched).then_some(until.since(now));
                let message = granted(id, &locks, left);
                ask.state = State::Holds { locks, until };
                self.tell(id, message)
            }
        }
    }

    fn failed(&mut self, id: &AskId, fault: Fault, now: Timestamp) -> Vec<Deed> {
        if self.asks.get(id).is_some_and(|ask| matches!(ask.state, State::Stops)) {
            return self.ended(id, now);
        }
        match self.asks.remove(id) {
            Some(_) => self.tell(id, refused(id, fault)),
            None => Vec::new(),
        }
    }

    fn lost(&mut self, id: &AskId, names: &[LockName]) -> Vec<Deed> {
        let Some(ask) = self.asks.get_mut(id) else { return Vec::new() };
        let all = match &mut ask.state {
            State::Holds { locks, .. } => {
                locks.retain(|(name, _)| !names.contains(name));
                locks.is_empty()
            }
            // What was to go on did not.
            State::Waits { .. } | State::GoesOn => true,
            State::Stops => return Vec::new(),
        };
        let mut deeds = self.tell(id, lost(id, names));
        if all {
            deeds.extend(self.stop(id));
        }
        deeds
    }

    fn ended(&mut self, id: &AskId, now: Timestamp) -> Vec<Deed> {
        match self.asks.remove(id) {
            Some(Ask { tell_end: true, .. }) => self.tell(id, left(id)),
            Some(Ask { again: Some((session, ask)), .. }) => self.asks(session, id.attempt, ask, now),
            _ => Vec::new(),
        }
    }

    /// An executor that was not heard for its lease holds nothing; nor does anyone hold what has a lease of its own
    /// beyond that, or what its holder has not spoken of since it came back.
    fn tick(&mut self, now: Timestamp) -> Vec<Deed> {
        let mut over = Vec::new();
        for (id, ask) in &self.asks {
            let State::Holds { locks, until } = &ask.state else { continue };
            let is_there = self.lives.get(&id.executor).is_some_and(|life| {
                let spoke = life.session.is_none_or(|session| session == ask.spoken_in);
                now.since(life.heard_at) < EXECUTOR_LEASE && (spoke || now.since(life.since) < EXECUTOR_LEASE)
            });
            let lasts = ask.keep == Keep::Watched || *until > now;
            if !is_there || !lasts {
                over.push((id.clone(), lost(id, locks.iter().map(|(name, _)| name))));
            }
        }
        let mut deeds = Vec::new();
        for (id, message) in over {
            deeds.extend(self.tell(&id, message));
            deeds.extend(self.stop(&id));
        }
        // Whoever waits has a stream; without one the wait has ended with it. A life that holds nothing is forgotten.
        let asks = &self.asks;
        self.lives.retain(|executor, life| life.session.is_some() || asks.keys().any(|id| id.executor == *executor));
        deeds
    }

    fn stop_all(&mut self, which: impl Fn(&AskId, &Ask) -> bool) -> Vec<Deed> {
        let ids: Vec<AskId> = self.asks.iter().filter(|(id, ask)| which(id, ask)).map(|(id, _)| id.clone()).collect();
        ids.iter().filter_map(|id| self.stop(id)).collect()
    }

    /// Once: who was told already is on the way.
    fn stop(&mut self, id: &AskId) -> Option<Deed> {
        let ask = self.asks.get_mut(id)?;
        if matches!(ask.state, State::Stops) {
            return None;
        }
        ask.state = State::Stops;
        Some(Deed::Stop(id.clone()))
    }

    /// What people are shown, by lock, holders first. Times are those of the room's clock; `renewed` is until when a
    /// lock that is kept alive has been renewed for its owner.
    pub fn claims(&self, renewed: impl Fn(&LockName, &Owner) -> Option<Timestamp>) -> Vec<LockClaim> {
        let mut claims: Vec<LockClaim> = Vec::new();
        for (id, ask) in &self.asks {
            let claim = |lock: &LockName, until, held| LockClaim {
                lock: lock.as_str().to_owned(),
                executor: id.executor.clone(),
                task: id.attempt.task.to_string(),
                attempt: id.attempt.attempt,
                since: ask.since,
                until,
                held,
            };
            match &ask.state {
                State::Waits { until } => claims.extend(ask.names.iter().map(|lock| claim(lock, *until, None))),
                State::Holds { locks, until } => {
                    for (lock, token) in locks {
                        let watched = ask.keep == Keep::Watched;
                        let until = watched.then(|| renewed(lock, &id.owner())).flatten().unwrap_or(*until);
                        let held = LockHeld { token: *token, count: 1, watched };
                        claims.push(claim(lock, until, Some(held)));
                    }
                }
                State::GoesOn | State::Stops => {}
            }
        }
        claims.sort_by(|a, b| (&a.lock, a.held.is_none(), a.since).cmp(&(&b.lock, b.held.is_none(), b.since)));
        claims.dedup_by(|again, first| {
            let same = again.lock == first.lock
                && (&again.executor, &again.task, again.attempt) == (&first.executor, &first.task, first.attempt);
            if let (true, Some(first_held), Some(held)) = (same, &mut first.held, again.held) {
                first_held.count += 1;
                first_held.watched |= held.watched;
                first.until = first.until.max(again.until);
                return true;
            }
            false
        });
        claims
    }
}

/// An ask that makes sense.
struct Wanted {
    names: Vec<LockName>,
    held: Vec<(LockName, u64)>,
    wish: Wish,
}

fn wish_of(id: &AskId, ask: &v1::AskLocks) -> Result<Wanted, Fault> {
    let name = |text: &String| {
        LockName::new(text.clone()).map_err(|_| {
            let shown: String = text.chars().filter(|char| !char.is_control()).take(LONGEST_NAME).collect();
            Code::LockNameRefused.fault().with("lock", shown)
        })
    };
    let names = ask.names.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let held = ask.held.iter().map(|held| Ok((name(&held.name)?, held.token))).collect::<Result<Vec<_>, Fault>>()?;
    if names.is_empty() || names.len() > MOST_NAMES || held.len() > MOST_NAMES {
        let problem =
            Words::new(format!("1 to {MOST_NAMES} names in one ask"), format!("一次须请求 1 到 {MOST_NAMES} 个"));
        return Err(Code::TooManyLocks.fault().with_words("problem", &problem));
    }
    let keep = match ask.lease_ms {
        Some(ms) => Keep::For(Duration::from_millis(ms).clamp(Duration::from_millis(1), LONGEST)),
        None => Keep::Watched,
    };
    let patience = Duration::from_millis(ask.wait_ms).min(LONGEST);
    Ok(Wanted { names, held, wish: Wish { owner: id.owner(), number: id.number, keep, patience } })
}

fn say(session: SessionId, message: impl Into<v1::ToExecutor>) -> Deed {
    Deed::Tell(session, Box::new(message.into()))
}

pub fn no_locks(en: &str, zh: &str) -> Fault {
    Code::LocksUnavailable.fault().with_words("problem", &Words::new(en, zh))
}

fn attempt_of(id: &AskId) -> v1::AttemptRef {
    v1::AttemptRef::new(id.attempt.task.to_string(), id.attempt.attempt)
}

fn granted(id: &AskId, locks: &[(LockName, u64)], left: Option<Duration>) -> v1::LocksGranted {
    let held = |(name, token): &(LockName, u64)| v1::HeldLock { name: name.as_str().to_owned(), token: *token };
    v1::LocksGranted {
        attempt: Some(attempt_of(id)),
        ask: id.number,
        locks: locks.iter().map(held).collect(),
        left_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
    }
}

fn refused(id: &AskId, fault: Fault) -> v1::LocksRefused {
    let again = [Code::LockHeld, Code::LocksUnavailable].into_iter().any(|code| fault.is(code));
    let class = if again { v1::FailureClass::Transient } else { v1::FailureClass::Business };
    let why = v1::Failure {
        class: class.into(),
        code: fault.code,
        message_en: fault.message.en,
        message_zh: fault.message.zh,
    };
    v1::LocksRefused { attempt: Some(attempt_of(id)), ask: id.number, why: Some(why) }
}

fn lost<'a>(id: &AskId, names: impl IntoIterator<Item = &'a LockName>) -> v1::LocksLost {
    let names = names.into_iter().map(|name| name.as_str().to_owned()).collect();
    v1::LocksLost { attempt: Some(attempt_of(id)), ask: id.number, names }
}

fn left(id: &AskId) -> v1::LocksLeft {
    v1::LocksLeft { attempt: Some(attempt_of(id)), ask: id.number }
}

#[cfg(test)]
mod tests;
