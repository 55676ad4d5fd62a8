//! Many streams, one ear: sessions by number, what they say in one queue.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use campanile_engine::link::{FromExecutor, Heard, Link, SessionId, ToExecutor};
use campanile_proto::v1;
use tokio::sync::{mpsc, oneshot};

use crate::convert;

/// What is heard and not yet taken in, of all sessions together.
const HEARD_DEPTH: usize = 4096;

/// Who may come in on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The executor inside this program: when it comes, its earlier lives are known to be over.
    Embedded,
    /// Anyone else.
    Remote,
}

struct Session {
    to_executor: mpsc::Sender<v1::ToExecutor>,
    /// Dropped to end the session.
    _hang_up: oneshot::Sender<()>,
}

pub struct Switchboard {
    sessions: Arc<Mutex<HashMap<SessionId, Session>>>,
    next: AtomicU64,
    say: mpsc::Sender<Heard>,
    /// Held by whoever listens: one at a time.
    ear: tokio::sync::Mutex<mpsc::Receiver<Heard>>,
}

impl Default for Switchboard {
    fn default() -> Self {
        let (say, ear) = mpsc::channel(HEARD_DEPTH);
        Switchboard { sessions: Arc::default(), next: AtomicU64::new(1), say, ear: tokio::sync::Mutex::new(ear) }
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
        let session = self.next.fetch_add(1, Ordering::Relaxed);
        let (hang_up, mut hung_up) = oneshot::channel();
        self.sessions().insert(session, Session { to_executor, _hang_up: hang_up });

        loop {
            let message = tokio::select! {
                biased;
                _ = &mut hung_up => break,
                message = from_executor.recv() => message,
            };
            let Some(message) = message else { break };
            let said = match convert::from_executor(message, admission) {
                Ok(Some(said)) => said,
                Ok(None) => continue,
                Err(fault) => {
                    tracing::warn!(session, %fault, "a message makes no sense; the session ends");
                    self.tell(session, ToExecutor::Refused(fault));
                    break;
                }
            };
            let heard = self.say.send(Heard { session, said });
            tokio::select! {
                biased;
                _ = &mut hung_up => break,
                sent = heard => if sent.is_err() { break },
            }
        }
        self.close(session);
        // Only when the program ends does nobody listen.
        let _ = self.say.send(Heard { session, said: FromExecutor::Gone }).await;
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Link for Switchboard {
    async fn hear(&self) -> Heard {
        match self.ear.lock().await.recv().await {
            Some(heard) => heard,
            // We hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    fn overhear(&self) -> Option<Heard> {
        self.ear.try_lock().ok()?.try_recv().ok()
    }

    fn tell(&self, session: SessionId, what: ToExecutor) -> bool {
        let Some(to_executor) = self.sessions().get(&session).map(|session| session.to_executor.clone()) else {
            return false;
        };
        let told = to_executor.try_send(convert::to_executor(what)).is_ok();
        if !told {
            // It takes nothing: what is lost on the way is settled when it comes back.
            tracing::warn!(session, "an executor does not take what it is told; its session ends");
            self.close(session);
        }
        told
    }

    fn close(&self, session: SessionId) {
        self.sessions().remove(&session);
    }
}
