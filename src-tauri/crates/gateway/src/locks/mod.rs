//! The lock room: locks of the meeting place, given out to the attempts of executors that are connected here.
//!
//! It overhears what comes and goes over the streams (who registers, who beats, which attempts begin and end), answers
//! what is asked about locks, and lets go of what nobody can hold any more. The [`rules`] decide; here they are carried
//! out, each ask by a task of its own that takes, waits, holds and leaves. Neither the engine nor what it writes knows
//! of it.

mod rules;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use campanile_coord::locks::{Holding, LockError, LockName, Locks, Owner, Wish};
use campanile_engine::link::{AttemptRef, SessionId, ToExecutor};
use campanile_model::lock::LockClaim;
use campanile_model::task::ExecutorRef;
use campanile_model::{Code, Fault, Timestamp, Words};
use campanile_proto::v1;
use campanile_proto::v1::from_executor::Message;
use futures::future::select_all;
use tokio_util::sync::CancellationToken;

use self::rules::{AskId, Deed, Event, Room, no_locks};
use crate::convert;
use crate::switchboard::Switchboard;

/// How often the room looks who is still there.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A table that does not answer is asked so often more, so far apart, before a lock is left to expire.
const TRIES: u32 = 4;
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

pub struct LockRoom {
    inside: Mutex<Inside>,
    locks: Arc<Locks>,
    board: Weak<Switchboard>,
}

/// What the rules know, and the tasks that they have begun: of one mind, so that none is begun after it was told to stop.
#[derive(Default)]
struct Inside {
    rules: Room,
    under_way: HashMap<AskId, CancellationToken>,
}

impl LockRoom {
    pub(crate) fn new(locks: Arc<Locks>, board: Weak<Switchboard>) -> LockRoom {
        LockRoom { inside: Mutex::default(), locks, board }
    }

    /// Keeps alive what is held here and lets go of what nobody holds any more, for as long as it is polled.
    pub async fn run(self: &Arc<Self>) -> std::convert::Infallible {
        tokio::select! {
            never = self.locks.keep_alive() => never,
            never = self.looks() => never,
        }
    }

    async fn looks(self: &Arc<Self>) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.on(Event::Tick);
        }
    }

    /// What is held and waited for through this node, with times in milliseconds from now.
    pub fn claims(&self) -> Vec<LockClaim> {
        let now = self.locks.now();
        let from_now = |at: Timestamp| Timestamp::from_millis(at.millis() - now.millis());
        let renewed = |lock: &LockName, owner: &Owner| self.locks.watched_until(lock, owner);
        let claims = self.inside().rules.claims(renewed).into_iter();
        claims.map(|claim| LockClaim { since: from_now(claim.since), until: from_now(claim.until), ..claim }).collect()
    }

    /// What an executor said. True: it was about locks, and for nobody else.
    pub(crate) fn overhears(self: &Arc<Self>, session: SessionId, message: &v1::FromExecutor) -> Result<bool, Fault> {
        let event = match &message.message {
            Some(Message::Register(register)) => {
                let (group, name) = (register.group.clone(), register.name.clone());
                Event::Registers(session, ExecutorRef { group, name, boot: register.boot_id.clone() })
            }
            Some(Message::Heartbeat(_)) => Event::Beats(session),
            Some(Message::Goodbye(_)) => Event::Leaves(session),
            Some(Message::Report(report)) => match (&report.attempt, &report.what) {
                (Some(about), Some(v1::report::What::Finished(_) | v1::report::What::HandedBack(_))) => {
                    Event::Over(session, convert::attempt(about)?)
                }
                _ => return Ok(false),
            },
            Some(Message::AskLocks(ask)) => {
                let about = convert::attempt(ask.attempt.as_ref().unwrap_or(&v1::AttemptRef::default()))?;
                self.on(Event::Asks(session, about, ask.clone()));
                return Ok(true);
            }
            Some(Message::LeaveLocks(leave)) => {
                let about = convert::attempt(leave.attempt.as_ref().unwrap_or(&v1::AttemptRef::default()))?;
                self.on(Event::Lets(session, about, leave.ask));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.on(event);
        Ok(false)
    }

    /// What the engine told an executor.
    pub(crate) fn told(self: &Arc<Self>, session: SessionId, what: &ToExecutor) {
        match what {
            ToExecutor::Welcome { still_yours, .. } => {
                let attempts: Vec<AttemptRef> = still_yours.iter().map(|(attempt, _)| *attempt).collect();
                self.on(Event::Welcomed(session, attempts));
            }
            ToExecutor::Push(push) => self.on(Event::Pushed(session, push.attempt)),
            _ => {}
        }
    }

    pub(crate) fn gone(self: &Arc<Self>, session: SessionId) {
        self.on(Event::Gone(session));
    }

    fn on(self: &Arc<Self>, event: Event) {
        let now = self.locks.now();
        let mut inside = self.inside();
        if let Event::Ended(id) | Event::Failed(id, _) = &event {
            inside.under_way.remove(id);
        }
        for deed in inside.rules.on(event, now) {
            match deed {
                Deed::Tell(session, message) => {
                    if let Some(board) = self.board.upgrade() {
                        board.pass(session, *message);
                    }
                }
                Deed::Take(id, names, wish) => self.begin(&mut inside, id, First::Take(names), wish),
                Deed::Adopt(id, held, wish) => self.begin(&mut inside, id, First::Adopt(held), wish),
                Deed::Stop(id) => {
                    if let Some(stop) = inside.under_way.get(&id) {
                        stop.cancel();
                    }
                }
            }
        }
    }

    fn begin(self: &Arc<Self>, inside: &mut Inside, id: AskId, first: First, wish: Wish) {
        let stop = CancellationToken::new();
        inside.under_way.insert(id.clone(), stop.clone());
        let room = self.clone();
        tokio::spawn(async move {
            let failed = match first {
                First::Take(names) => room.takes(&id, &names, &wish, &stop).await,
                First::Adopt(held) => room.goes_on(&id, held, &wish, &stop).await,
            };
            room.on(match failed {
                Some(fault) => Event::Failed(id, fault),
                None => Event::Ended(id),
            });
        });
    }

    /// From the first try until it is left or lost; a fault where it was never had.
    async fn takes(
        self: &Arc<Self>,
        id: &AskId,
        names: &[LockName],
        wish: &Wish,
        stop: &CancellationToken,
    ) -> Option<Fault> {
        let taken = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            taken = self.locks.take_as(names, wish) => Some(taken),
        };
        match taken {
            None => self.locks.withdraw(names, wish).await,
            Some(Ok(holdings)) => self.holds(id, holdings, stop).await,
            Some(Err(error)) => return Some(fault_of(error)),
        }
        None
    }

    /// The same for what an earlier stream took.
    async fn goes_on(
        self: &Arc<Self>,
        id: &AskId,
        held: Vec<(LockName, u64)>,
        wish: &Wish,
        stop: &CancellationToken,
    ) -> Option<Fault> {
        let (mut holdings, mut lost) = (Vec::new(), Vec::new());
        for (lock, token) in held {
            match self.adopts(&lock, token, wish).await {
                Ok(holding) => holdings.push(holding),
                Err(error) => {
                    tracing::info!(%lock, owner = %wish.owner, error = &error as &dyn std::error::Error, "a lock did not go on");
                    lost.push(lock);
                }
            }
        }
        let any = !holdings.is_empty();
        if any {
            self.has(id, &holdings);
        }
        if !lost.is_empty() {
            self.on(Event::Lost(id.clone(), lost));
        }
        if any {
            self.is_lost_or_let_go(id, &mut holdings, stop).await;
            self.leaves(holdings).await;
        } else {
            stop.cancelled().await;
        }
        None
    }

    async fn adopts(&self, lock: &LockName, token: u64, wish: &Wish) -> Result<Holding, LockError> {
        for _ in 1..TRIES {
            match self.locks.adopt(lock, &wish.owner, wish.number, wish.keep, token).await {
                Err(LockError::Unavailable(_)) => tokio::time::sleep(BETWEEN_TRIES).await,
                answer => return answer,
            }
        }
        self.locks.adopt(lock, &wish.owner, wish.number, wish.keep, token).await
    }

    async fn holds(self: &Arc<Self>, id: &AskId, mut holdings: Vec<Holding>, stop: &CancellationToken) {
        self.has(id, &holdings);
        self.is_lost_or_let_go(id, &mut holdings, stop).await;
        self.leaves(holdings).await;
    }

    fn has(self: &Arc<Self>, id: &AskId, holdings: &[Holding]) {
        let locks = holdings.iter().map(|holding| (holding.lock.clone(), holding.token)).collect();
        let until = holdings.iter().map(|holding| holding.until).min().unwrap_or(Timestamp::EPOCH);
        self.on(Event::Took(id.clone(), locks, until));
    }

    /// Until it is to be left; what is lost meanwhile is told, and is not among them any more.
    async fn is_lost_or_let_go(self: &Arc<Self>, id: &AskId, holdings: &mut Vec<Holding>, stop: &CancellationToken) {
        while !holdings.is_empty() {
            let losses = select_all(holdings.iter_mut().map(|holding| Box::pin(holding.lost())));
            let place = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                ((), place, _) = losses => place,
            };
            let gone = holdings.swap_remove(place);
            self.on(Event::Lost(id.clone(), vec![gone.lock]));
        }
        stop.cancelled().await;
    }

    async fn leaves(&self, holdings: Vec<Holding>) {
        for holding in holdings.iter().rev() {
            for tried in 1..=TRIES {
                match self.locks.leave(holding).await {
                    Err(LockError::Unavailable(_)) if tried < TRIES => tokio::time::sleep(BETWEEN_TRIES).await,
                    // It goes by itself now: nobody renews it.
                    Err(LockError::Unavailable(_)) => self.locks.let_expire(holding),
                    // Not held any more: somebody else may have it by now, and that is as well.
                    Ok(_) | Err(_) => break,
                }
            }
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum First {
    Take(Vec<LockName>),
    Adopt(Vec<(LockName, u64)>),
}

/// The answer of a node that has no room for locks.
pub(crate) fn answer_without(message: &v1::FromExecutor) -> Option<v1::ToExecutor> {
    match &message.message {
        Some(Message::AskLocks(ask)) => {
            let fault = no_locks("this node has no place where locks are kept", "该节点没有保存锁的位置");
            let why = v1::Failure {
                class: v1::FailureClass::Transient.into(),
                code: fault.code,
                message_en: fault.message.en,
                message_zh: fault.message.zh,
            };
            Some(v1::LocksRefused { attempt: ask.attempt.clone(), ask: ask.ask, why: Some(why) }.into())
        }
        Some(Message::LeaveLocks(leave)) => {
            Some(v1::LocksLeft { attempt: leave.attempt.clone(), ask: leave.ask }.into())
        }
        _ => None,
    }
}

fn fault_of(error: LockError) -> Fault {
    match error {
        LockError::TimedOut { lock, holder } => {
            Code::LockHeld.fault().with("lock", lock).with_words("holder", &holder_words(&holder))
        }
        LockError::BadName(name) => Code::LockNameRefused.fault().with("lock", name),
        LockError::NotHeld { lock, .. } => Code::LockNotHeld.fault().with("lock", lock),
        LockError::Unavailable(cause) => {
            tracing::warn!(error = &*cause as &dyn std::error::Error, "locks cannot be given out");
            no_locks("the place where they are kept does not answer", "保存锁的位置没有应答")
        }
    }
}

/// An owner as [`AskId::owner`] names it, in words.
fn holder_words(owner: &Owner) -> Words {
    let parts: Vec<&str> = owner.0.rsplitn(4, '/').collect();
    match parts.as_slice() {
        [attempt, task, _boot, executor] => Words::new(
            format!("{executor} (task {task}, attempt {attempt})"),
            format!("{executor}（作业 {task}，第 {attempt} 次尝试）"),
        ),
        _ => Words::new(&owner.0, &owner.0),
    }
}
