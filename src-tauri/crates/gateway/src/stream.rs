//! One stream of one executor, from its first message to its end.
//!
//! A stream has a short time to say who it is; then the door is asked, and only then does the engine hear of it. What
//! breaks the order, is too large or makes no sense ends this stream, with a refusal that says why, and no other.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use campanile_engine::link::ToExecutor;
use campanile_model::{Code, Fault, Words};
use campanile_proto::v1::{self, executor_link_server::ExecutorLink, from_executor::Message};
use campanile_proto::{MAX_MESSAGE_BYTES, PROTOCOL_VERSION};
use futures::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::TlsConnectInfo;
use tonic::{Code as Status, Request, Response, Streaming};

use crate::connection::{Line, Streaming as InUse};
use crate::convert;
use crate::door::{Caller, Door};
use crate::switchboard::{Admission, Backlog, Plug, Switchboard};

/// A stream that does not say who it is in this time is closed.
const REGISTER_WITHIN: Duration = Duration::from_secs(5);

/// How often the door is asked whether an executor may stay: a token that is taken away ends its sessions.
const ASK_AGAIN_EVERY: Duration = Duration::from_secs(5);

/// Messages on their way to one executor: all that its credit allows, and the acknowledgements of a whole batch.
const TO_EXECUTOR: usize = 32 * 1024;

pub(crate) struct Entrance {
    pub switchboard: Arc<Switchboard>,
    pub door: Arc<dyn Door>,
    pub shutdown: CancellationToken,
}

type Told = Pin<Box<dyn Stream<Item = Result<v1::ToExecutor, tonic::Status>> + Send>>;

#[tonic::async_trait]
impl ExecutorLink for Entrance {
    type ConnectStream = Told;

    async fn connect(&self, request: Request<Streaming<v1::FromExecutor>>) -> Result<Response<Told>, tonic::Status> {
        let parts = request.extensions();
        let certified = parts.get::<TlsConnectInfo<Line>>().is_some_and(|info| info.peer_certs().is_some());
        let line = line_of(&request).ok_or_else(|| tonic::Status::internal("a connection without an address"))?;
        let in_use = line.stream_begins().ok_or_else(|| {
            tonic::Status::resource_exhausted("one connection carries one stream at a time; open another connection")
        })?;
        let (to_executor, told) = mpsc::channel(TO_EXECUTOR);
        let waiting = Backlog::default();
        let visit = Visit {
            switchboard: self.switchboard.clone(),
            door: self.door.clone(),
            shutdown: self.shutdown.clone(),
            line,
            certified,
            said: request.into_inner(),
            to_executor,
            waiting: waiting.clone(),
            _in_use: in_use,
        };
        // The answer goes out at once: whoever waits for it before saying who it is would wait for ever.
        tokio::spawn(visit.last());
        let told = ReceiverStream::new(told).map(move |message| {
            waiting.taken(&message);
            Ok(message)
        });
        Ok(Response::new(Box::pin(told)))
    }
}

fn line_of(request: &Request<Streaming<v1::FromExecutor>>) -> Option<Line> {
    let parts = request.extensions();
    parts.get::<TlsConnectInfo<Line>>().map(TlsConnectInfo::get_ref).or_else(|| parts.get::<Line>()).cloned()
}

struct Visit {
    switchboard: Arc<Switchboard>,
    door: Arc<dyn Door>,
    shutdown: CancellationToken,
    line: Line,
    certified: bool,
    said: Streaming<v1::FromExecutor>,
    to_executor: mpsc::Sender<v1::ToExecutor>,
    waiting: Backlog,
    _in_use: InUse,
}

/// What comes next on a stream.
enum Next {
    Said(v1::FromExecutor),
    Ended,
    Refused(Fault),
}

impl Visit {
    async fn last(mut self) {
        let register = match self.first_message().await {
            Ok(Some(register)) => register,
            Ok(None) => return,
            Err(fault) => return self.turn_away(fault).await,
        };
        let caller = Caller {
            group: register.group.clone(),
            name: register.name.clone(),
            token: register.token.clone(),
            peer: self.line.peer,
            certified: self.certified,
        };
        if let Err(fault) = self.door.admits(&caller).await {
            tracing::warn!(peer = %caller.peer, group = caller.group, name = caller.name, %fault, "an executor is not admitted");
            return self.turn_away(fault).await;
        }
        let switchboard = self.switchboard.clone();
        let mut plug = switchboard.plug(Admission::Remote, self.to_executor.clone(), Some(self.waiting.clone()));
        tracing::debug!(session = plug.session, peer = %caller.peer, group = caller.group, name = caller.name, "a stream");
        if plug.hear(register.into()).await.is_ok() {
            self.carry(&mut plug, &caller).await;
        }
        plug.unplug().await;
    }

    /// None: it went before it said anything.
    async fn first_message(&mut self) -> Result<Option<v1::Register>, Fault> {
        let first = match tokio::time::timeout(REGISTER_WITHIN, next(&mut self.said)).await {
            Ok(Next::Said(first)) => first,
            Ok(Next::Ended) => return Ok(None),
            Ok(Next::Refused(fault)) => return Err(fault),
            Err(_) => return Err(out_of_order("it did not say who it is", "未说明身份")),
        };
        let Some(Message::Register(register)) = first.message else {
            return Err(out_of_order("the first message was not Register", "第一条消息不是 Register"));
        };
        if register.protocol_version != PROTOCOL_VERSION {
            return Err(Code::ProtocolVersion.fault().with("version", register.protocol_version));
        }
        Ok(Some(register))
    }

    /// Until the executor goes, the engine hangs up, or it may not stay.
    async fn carry(&mut self, plug: &mut Plug<'_>, caller: &Caller) {
        let mut again = tokio::time::interval(ASK_AGAIN_EVERY);
        again.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        again.tick().await;
        loop {
            let next = tokio::select! {
                biased;
                () = plug.hung_up() => return,
                () = self.to_executor.closed() => return,
                () = self.shutdown.cancelled() => return,
                _ = again.tick() => {
                    // Only a plain no counts: storage that does not answer now has admitted it before.
                    match self.door.admits(caller).await {
                        Err(fault) if fault.is(Code::ExecutorTokenRefused) => Next::Refused(fault),
                        _ => continue,
                    }
                }
                next = next(&mut self.said) => next,
            };
            match next {
                Next::Said(message) => {
                    if plug.hear(message).await.is_err() {
                        return;
                    }
                }
                Next::Ended => return,
                Next::Refused(fault) => return plug.refuse(fault),
            }
        }
    }

    async fn turn_away(self, fault: Fault) {
        let refusal = convert::to_executor(ToExecutor::Refused(fault), &[]);
        self.waiting.told(&refusal);
        // It may have gone without waiting for it.
        let _ = self.to_executor.send(refusal).await;
    }
}

async fn next(said: &mut Streaming<v1::FromExecutor>) -> Next {
    match said.message().await {
        Ok(Some(message)) => Next::Said(message),
        Ok(None) => Next::Ended,
        Err(status) => match status.code() {
            Status::OutOfRange => Next::Refused(Code::MessageTooLarge.fault().with("limit", MAX_MESSAGE_BYTES)),
            // Bytes that are no message of ours.
            Status::Internal => Next::Refused(out_of_order("a message could not be read", "消息无法解析")),
            _ => {
                tracing::debug!(%status, "a stream broke");
                Next::Ended
            }
        },
    }
}

fn out_of_order(en: &str, zh: &str) -> Fault {
    Code::RegisterFirst.fault().with_words("reason", &Words::new(en, zh))
}
