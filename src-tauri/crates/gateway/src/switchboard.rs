//! Many streams, one ear: sessions by number, what they say in one queue.
//!
//! Nobody's flood drowns the others. What one session has said and the engine has not heard is bounded for that
//! session; beyond it, it is read no further, and waits. What an executor does not take is bounded likewise; beyond
//! it the session ends, and what was lost on the way is settled when the executor comes back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use async_trait::async_trait;
use campanile_coord::locks::Locks;
use campanile_engine::link::{FromExecutor, Heard, Link, NodeAddress, SessionId, ToExecutor};
use campanile_model::Fault;
use campanile_proto::{MAX_MESSAGE_BYTES, v1};
use prost::Message as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::convert;
use crate::locks::{LockRoom, answer_without};

/// What is heard and not yet taken in, of all sessions together.
const HEARD_DEPTH: usize = 4096;

/// Of one session, in KiB: what it has said and the engine has not taken in.
const SESSION_KIB: u32 = 4096;

/// What the least message counts, in KiB: 1024 of them fill a session, which is as many as the engine takes in at once.
const LEAST_KIB: u32 = 4;

/// Who may come in on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The executor inside this program: when it comes, its earlier lives are known to be over.
    Embedded,
    /// Anyone else.
    Remote,
}

/// What may wait for one executor to take it, in bytes.
const MOST_WAITING: usize = 64 * 1024 * 1024;

/// From here on whoever has much to say to it holds back, in bytes.
const MUCH_WAITING: usize = 4 * 1024 * 1024;

struct Session {
    to_executor: mpsc::Sender<v1::ToExecutor>,
    /// Counted where the stream crosses a network.
    waiting: Option<Backlog>,
    /// Dropped to end the session.
    _hang_up: oneshot::Sender<()>,
}

/// Bytes that were told and not taken yet. Whoever carries the stream says what was taken.
#[derive(Clone, Default)]
pub(crate) struct Backlog(Arc<AtomicUsize>);

impl Backlog {
    /// How much waited before.
    pub fn told(&self, message: &v1::ToExecutor) -> usize {
        self.0.fetch_add(message.encoded_len(), Ordering::Relaxed)
    }

    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub fn taken(&self, message: &v1::ToExecutor) {
        self.0.fetch_sub(message.encoded_len(), Ordering::Relaxed);
    }
}

/// What was heard, with the room that it takes up of its session's.
type Waiting = (Heard, Option<OwnedSemaphorePermit>);

pub struct Switchboard {
    sessions: Arc<Mutex<HashMap<SessionId, Session>>>,
    next: AtomicU64,
    say: mpsc::Sender<Waiting>,
    /// Held by whoever listens: one at a time.
    ear: tokio::sync::Mutex<mpsc::Receiver<Waiting>>,
    nodes: RwLock<Vec<NodeAddress>>,
    /// None: this node gives out no locks.
    locks: OnceLock<Arc<LockRoom>>,
}

impl Default for Switchboard {
    fn default() -> Self {
        let (say, ear) = mpsc::channel(HEARD_DEPTH);
        Switchboard {
            sessions: Arc::default(),
            next: AtomicU64::new(1),
            say,
            ear: tokio::sync::Mutex::new(ear),
            nodes: RwLock::default(),
            locks: OnceLock::new(),
        }
    }
}

/// One stream, plugged in. Whoever carries it hands in what the executor says, and unplugs it at the end.
pub(crate) struct Plug<'a> {
    board: &'a Switchboard,
    pub session: SessionId,
    admission: Admission,
    hung_up: oneshot::Receiver<()>,
    room: Arc<Semaphore>,
}

/// Nothing more is to be read from the stream.
pub(crate) struct Over;

impl Plug<'_> {
    /// Until the engine ends the session.
    pub async fn hung_up(&mut self) {
        // Its sender is dropped, never used.
        let _ = (&mut self.hung_up).await;
    }

    /// Passes on what the executor said, as soon as there is room for it.
    pub async fn hear(&mut self, message: v1::FromExecutor) -> Result<(), Over> {
        let overheard = match self.board.locks.get() {
            Some(room) => room.overhears(self.session, &message),
            None => Ok(answer_without(&message).map(|answer| self.board.pass(self.session, answer)).is_some()),
        };
        match overheard {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(fault) => {
                self.refuse(fault);
                return Err(Over);
            }
        }
        let kib = u32::try_from(message.encoded_len() / 1024).unwrap_or(u32::MAX);
        let said = match convert::from_executor(message, self.admission) {
            Ok(Some(said)) => said,
            Ok(None) => return Ok(()),
            Err(fault) => {
                self.refuse(fault);
                return Err(Over);
            }
        };
        let session = self.session;
        let room = self.room.clone().acquire_many_owned(kib.clamp(LEAST_KIB, SESSION_KIB));
        let say = self.board.say.clone();
        let passing = async {
            // The semaphore is never closed.
            let room = room.await.ok();
            say.send((Heard { session, said }, room)).await.map_err(|_| Over)
        };
        tokio::select! {
            biased;
            _ = &mut self.hung_up => Err(Over),
            passed = passing => passed,
        }
    }

    /// The last word to an executor that does not keep to the protocol.
    pub fn refuse(&self, fault: Fault) {
        tracing::warn!(session = self.session, %fault, "a stream makes no sense; the session ends");
        self.board.tell(self.session, ToExecutor::Refused(fault));
    }

    pub async fn unplug(self) {
        self.board.close(self.session);
        if let Some(room) = self.board.locks.get() {
            room.gone(self.session);
        }
        let gone = Heard { session: self.session, said: FromExecutor::Gone };
        // Only when the program ends does nobody listen.
        let _ = self.board.say.send((gone, None)).await;
    }
}

impl Switchboard {
    /// Carries one stream until either end closes it.
    pub async fn serve(
        &self,
        admission: Admission,
        mut from_executor: mpsc::Receiver<v1::FromExecutor>,
        to_executor: mpsc::Sender<v1::ToExecutor>,
    ) {
        // In one process both ends are ours, and a count of messages is enough.
        let mut plug = self.plug(admission, to_executor, None);
        loop {
            let message = tokio::select! {
                biased;
                () = plug.hung_up() => break,
                message = from_executor.recv() => message,
            };
            let Some(message) = message else { break };
            if plug.hear(message).await.is_err() {
                break;
            }
        }
        plug.unplug().await;
    }

    pub(crate) fn plug(
        &self,
        admission: Admission,
        to_executor: mpsc::Sender<v1::ToExecutor>,
        waiting: Option<Backlog>,
    ) -> Plug<'_> {
        let session = self.next.fetch_add(1, Ordering::Relaxed);
        let (hang_up, hung_up) = oneshot::channel();
        self.sessions().insert(session, Session { to_executor, waiting, _hang_up: hang_up });
        Plug { board: self, session, admission, hung_up, room: Arc::new(Semaphore::new(SESSION_KIB as usize)) }
    }

    /// Where executors find nodes, as each is told when it joins; who has joined already is told now.
    pub fn set_nodes(&self, nodes: &[NodeAddress]) {
        *self.nodes.write().unwrap_or_else(PoisonError::into_inner) = nodes.to_vec();
        let sessions: Vec<SessionId> = self.sessions().keys().copied().collect();
        for session in sessions {
            self.tell(session, ToExecutor::Nodes(nodes.to_vec()));
        }
    }

    /// Gives out locks to attempts from now on; once. The room is to be run.
    pub fn gives_out_locks(self: &Arc<Self>, locks: Arc<Locks>) -> Arc<LockRoom> {
        self.locks.get_or_init(|| Arc::new(LockRoom::new(locks, Arc::downgrade(self)))).clone()
    }

    /// Passes a message on to an executor. False: the session has ended, or ends with this.
    pub(crate) fn pass(&self, session: SessionId, message: v1::ToExecutor) -> bool {
        let found = self.sessions().get(&session).map(|found| (found.to_executor.clone(), found.waiting.clone()));
        let Some((to_executor, waiting)) = found else { return false };
        if message.encoded_len() > MAX_MESSAGE_BYTES {
            // No executor would take it. A push that is never answered ends by its own timeout.
            tracing::error!(session, bytes = message.encoded_len(), "a message is larger than the protocol allows");
            return false;
        }
        let before = waiting.map_or(0, |waiting| waiting.told(&message));
        let told = before <= MOST_WAITING && to_executor.try_send(message).is_ok();
        if !told {
            // It takes nothing: what is lost on the way is settled when it comes back.
            tracing::warn!(session, "an executor does not take what it is told; its session ends");
            self.close(session);
        }
        told
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Link for Switchboard {
    async fn hear(&self) -> Heard {
        match self.ear.lock().await.recv().await {
            Some((heard, _)) => heard,
            // We hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    fn overhear(&self) -> Option<Heard> {
        self.ear.try_lock().ok()?.try_recv().ok().map(|(heard, _)| heard)
    }

    fn tell(&self, session: SessionId, what: ToExecutor) -> bool {
        // Before the executor hears of it: it may ask at once.
        if let Some(room) = self.locks.get() {
            room.told(session, &what);
        }
        let message = convert::to_executor(what, &self.nodes.read().unwrap_or_else(PoisonError::into_inner));
        self.pass(session, message)
    }

    fn has_room(&self, session: SessionId) -> bool {
        match self.sessions().get(&session) {
            Some(Session { waiting: Some(waiting), .. }) => waiting.bytes() < MUCH_WAITING,
            Some(Session { to_executor, .. }) => to_executor.capacity() * 2 > to_executor.max_capacity(),
            None => true,
        }
    }

    fn show_nodes(&self, nodes: &[NodeAddress]) {
        self.set_nodes(nodes);
    }

    fn close(&self, session: SessionId) {
        self.sessions().remove(&session);
    }
}
