//! Locks: one holder at a time, among all executors of the node's team.
//!
//! A task takes a lock with [`TaskContext::lock`](crate::TaskContext::lock), may take it again while it has it, and
//! leaves it by releasing or dropping the guard; the node keeps it alive meanwhile. What is held goes on when the stream
//! breaks, for as long as the executor's lease. A lock that is lost all the same cancels the task: what only a holder
//! may do must stop. What must never be written twice shows the guard's [token](LockGuard::token) where it is written,
//! and is refused there where a greater one has been shown.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use campanile_proto::v1;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::TaskError;
use crate::failure::{LOCK_LOST, LOCK_NOT_HELD, LOCKS_UNAVAILABLE};

/// How long one waits for a lock who does not say.
const PATIENCE: Duration = Duration::from_secs(30);

/// A node answers in its own time; so long after what was to wait for.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// What an attempt says to its executor about locks.
pub(crate) enum Wanted {
    Take(Arc<Claim>),
    Leave(u64),
}

/// The way from an attempt to its executor.
pub(crate) struct Door {
    next: AtomicU64,
    say: Box<dyn Fn(Wanted) + Send + Sync>,
}

impl Door {
    pub fn new(say: impl Fn(Wanted) + Send + Sync + 'static) -> Arc<Door> {
        Arc::new(Door { next: AtomicU64::new(1), say: Box::new(say) })
    }
}

/// One ask, as the attempt and its executor both see it.
pub(crate) struct Claim {
    pub number: u64,
    pub names: Vec<String>,
    pub give_up_at: Instant,
    pub lease: Option<Duration>,
    stage: watch::Sender<Stage>,
}

#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Asked,
    Refused(TaskError),
    Held {
        locks: Vec<(String, u64)>,
        until: Option<Instant>,
        lost: BTreeSet<String>,
    },
    /// All of it is lost, or nobody knows.
    Lost,
    Left,
}

impl Claim {
    /// Goes on to where it stands now; from an end it goes nowhere.
    pub fn reach(&self, stage: Stage) {
        self.stage.send_if_modified(|now| {
            let is_over = matches!(now, Stage::Refused(_) | Stage::Lost | Stage::Left);
            if !is_over {
                *now = stage;
            }
            !is_over
        });
    }

    pub fn granted(&self, locks: Vec<(String, u64)>, until: Option<Instant>) {
        // Told again, it is what it was.
        if matches!(*self.stage.borrow(), Stage::Asked) {
            self.reach(Stage::Held { locks, until, lost: BTreeSet::new() });
        }
    }

    /// True: nothing of it is held any more.
    pub fn lose(&self, names: &[String]) -> bool {
        let mut all = true;
        self.stage.send_if_modified(|now| {
            if let Stage::Held { locks, lost, .. } = now {
                lost.extend(names.iter().cloned());
                all = locks.iter().all(|(name, _)| lost.contains(name));
            }
            true
        });
        if all {
            self.reach(Stage::Lost);
        }
        all
    }

    /// What it holds, for the node that is told of it anew.
    pub fn held(&self) -> Vec<v1::HeldLock> {
        match &*self.stage.borrow() {
            Stage::Held { locks, lost, .. } => {
                let held = locks.iter().filter(|(name, _)| !lost.contains(name));
                held.map(|(name, token)| v1::HeldLock { name: name.clone(), token: *token }).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn is_held(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Held { .. })
    }
}

impl Stage {
    fn is_lost(&self, now: Instant) -> bool {
        match self {
            Stage::Held { lost, until, .. } => !lost.is_empty() || until.is_some_and(|until| until <= now),
            Stage::Lost => true,
            Stage::Asked | Stage::Refused(_) | Stage::Left => false,
        }
    }
}

/// A lock that is about to be taken; awaited, it is. Dropped while it waits, it is not.
#[must_use = "a lock is taken when this is awaited"]
pub struct LockRequest {
    door: Arc<Door>,
    names: Vec<String>,
    wait: Duration,
    lease: Option<Duration>,
}

impl LockRequest {
    pub(crate) fn new(door: Arc<Door>, names: Vec<String>) -> LockRequest {
        LockRequest { door, names, wait: PATIENCE, lease: None }
    }

    /// How long it waits at most, 30 s where nothing is said. Zero: it tries once.
    pub fn wait(self, wait: Duration) -> LockRequest {
        LockRequest { wait, ..self }
    }

    /// It ends so long after it was had, whatever is done meanwhile, instead of going on until it is released.
    pub fn lease(self, lease: Duration) -> LockRequest {
        LockRequest { lease: Some(lease), ..self }
    }

    async fn take(self) -> Result<LockGuard, TaskError> {
        let claim = Arc::new(Claim {
            number: self.door.next.fetch_add(1, Ordering::Relaxed),
            names: self.names,
            give_up_at: Instant::now() + self.wait,
            lease: self.lease,
            stage: watch::Sender::new(Stage::Asked),
        });
        let mut stage = claim.stage.subscribe();
        // From here on whatever is dropped is left.
        let mut guard = LockGuard { door: self.door.clone(), claim: claim.clone(), locks: Vec::new() };
        (self.door.say)(Wanted::Take(claim));
        let answer = stage.wait_for(|stage| !matches!(stage, Stage::Asked));
        let answer = tokio::time::timeout(self.wait + ANSWER_WITHIN, answer).await;
        let answer = answer.ok().and_then(Result::ok).map(|stage| stage.clone());
        match answer {
            Some(Stage::Held { locks, .. }) => {
                guard.locks = locks;
                Ok(guard)
            }
            Some(Stage::Refused(error)) => Err(error),
            // Before it was told that it had it.
            Some(Stage::Lost) => Err(LOCK_LOST.transient()),
            _ => Err(unavailable("the node did not answer", "节点没有应答")),
        }
    }
}

impl IntoFuture for LockRequest {
    type Output = Result<LockGuard, TaskError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.take().boxed()
    }
}

/// A lock, or several, that the task has. Dropping it leaves them; [`LockGuard::release`] also says whether they were
/// held until then.
#[must_use = "a lock is left when its guard is dropped"]
pub struct LockGuard {
    door: Arc<Door>,
    claim: Arc<Claim>,
    locks: Vec<(String, u64)>,
}

impl LockGuard {
    /// The fencing token: greater than that of every holding of the lock before. Of several, that of the first by name.
    pub fn token(&self) -> u64 {
        self.locks.first().map_or(0, |(_, token)| *token)
    }

    pub fn token_of(&self, name: &str) -> Option<u64> {
        self.locks.iter().find(|(lock, _)| lock == name).map(|(_, token)| *token)
    }

    /// Names and tokens.
    pub fn locks(&self) -> &[(String, u64)] {
        &self.locks
    }

    /// One of them is not held any more. The task is cancelled by then, or is about to be.
    pub fn is_lost(&self) -> bool {
        self.claim.stage.borrow().is_lost(Instant::now())
    }

    /// Returns once one of them is lost.
    pub async fn lost(&self) {
        let until = match &*self.claim.stage.borrow() {
            Stage::Held { until, .. } => *until,
            _ => None,
        };
        let expires = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let mut stage = self.claim.stage.subscribe();
        let told = async {
            if stage.wait_for(|stage| stage.is_lost(Instant::now())).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = expires => {}
            () = told => {}
        }
    }

    /// Leaves them and waits until they are left, so that whoever is told of it now finds them free. An error where one
    /// was not held any more: somebody else may have had it meanwhile.
    pub async fn release(self) -> Result<(), TaskError> {
        let lost = || {
            let name = self.claim.names.first().cloned().unwrap_or_default();
            LOCK_NOT_HELD.transient().with("lock", name)
        };
        let was_lost = self.is_lost();
        let mut stage = self.claim.stage.subscribe();
        (self.door.say)(Wanted::Leave(self.claim.number));
        let over = stage.wait_for(|stage| matches!(stage, Stage::Left | Stage::Lost));
        let over = tokio::time::timeout(ANSWER_WITHIN, over).await;
        match over.ok().and_then(Result::ok).map(|stage| stage.clone()) {
            Some(Stage::Left) if !was_lost => Ok(()),
            Some(_) => Err(lost()),
            None => Err(unavailable("the node did not answer", "节点没有应答")),
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Of one that is over nobody knows any more, and nothing is said.
        (self.door.say)(Wanted::Leave(self.claim.number));
    }
}

impl std::fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockGuard").field("locks", &self.locks).field("is_lost", &self.is_lost()).finish()
    }
}

pub(crate) fn unavailable(en: &str, zh: &str) -> TaskError {
    LOCKS_UNAVAILABLE.transient().with_words("problem", en, zh)
}
