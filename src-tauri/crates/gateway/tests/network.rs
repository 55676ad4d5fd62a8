//! The real listener on a real socket, against peers that keep to nothing: each is turned out, and nobody else notices.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_engine::link::{
    AttemptRef, FromExecutor, Heard, Link as _, Method, Push, SessionId, Shard, ShardEnd, ToExecutor,
};
use campanile_gateway::{Caller, Door, Listener, Switchboard};
use campanile_model::instance::Origin;
use campanile_model::sharding::Tally;
use campanile_model::task::TaskState;
use campanile_model::{Code, Failure, FailureClass, Fault, TaskId, Timestamp, Words};
use campanile_proto::v1::{self, executor_link_client::ExecutorLinkClient, from_executor, to_executor};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use tonic::transport::Endpoint;

/// Only a test that goes wrong waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lets in whoever does not say that it is bad.
struct OpenDoor;

#[async_trait]
impl Door for OpenDoor {
    async fn admits(&self, caller: &Caller) -> Result<(), Fault> {
        match caller.token.as_str() {
            "bad" => Err(Code::ExecutorTokenRefused.fault().with("group", &caller.group)),
            _ => Ok(()),
        }
    }
}

struct Node {
    board: Arc<Switchboard>,
    address: SocketAddr,
    shutdown: CancellationToken,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Node {
    async fn listens() -> Node {
        let board = Arc::new(Switchboard::default());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let shutdown = CancellationToken::new();
        tokio::spawn(listener.run(board.clone(), Arc::new(OpenDoor), shutdown.clone()));
        Node { board, address, shutdown }
    }

    async fn hears(&self) -> Heard {
        timeout(PATIENCE, self.board.hear()).await.expect("someone says something")
    }

    /// An executor comes in and is heard of.
    async fn admits(&self, name: &str) -> (Peer, SessionId) {
        let peer = Peer::comes(self.address).await;
        peer.says(register(name)).await;
        let heard = self.hears().await;
        assert!(matches!(&heard.said, FromExecutor::Register(who) if who.executor.name == name), "{heard:?}");
        (peer, heard.session)
    }

    /// Another executor can still come in and be answered.
    async fn is_well(&self) {
        let (mut peer, session) = self.admits("well").await;
        assert!(self.board.tell(session, ToExecutor::HeartbeatSeen { number: 7 }));
        let told = peer.hears().await.unwrap();
        assert!(matches!(told, to_executor::Message::HeartbeatAck(ack) if ack.number == 7), "{told:?}");
        drop(peer);
        assert_eq!(self.hears().await, Heard { session, said: FromExecutor::Gone });
    }
}

struct Peer {
    say: mpsc::Sender<v1::FromExecutor>,
    told: Streaming<v1::ToExecutor>,
}

impl Peer {
    async fn comes(address: SocketAddr) -> Peer {
        let channel = Endpoint::new(format!("http://{address}")).unwrap().connect().await.unwrap();
        let (say, said) = mpsc::channel(4);
        let told = ExecutorLinkClient::new(channel).connect(ReceiverStream::new(said)).await.unwrap().into_inner();
        Peer { say, told }
    }

    async fn says(&self, message: impl Into<v1::FromExecutor>) {
        self.say.send(message.into()).await.unwrap();
    }

    /// None: the stream has ended.
    async fn hears(&mut self) -> Option<to_executor::Message> {
        let told = timeout(PATIENCE, self.told.message()).await.expect("it is told something, or turned out");
        told.ok().flatten().and_then(|told| told.message)
    }

    async fn turned_out(mut self) -> v1::Refused {
        let refused = match self.hears().await {
            Some(to_executor::Message::Refused(refused)) => refused,
            other => panic!("a refusal, not {other:?}"),
        };
        assert!(self.hears().await.is_none(), "the stream ends after it");
        refused
    }
}

fn register(name: &str) -> v1::Register {
    v1::Register {
        protocol_version: 1,
        group: "g".into(),
        name: name.into(),
        boot_id: "b".into(),
        capacity: Some(v1::Capacity { running: 1, queued: 1 }),
        ..v1::Register::default()
    }
}

fn beat(number: u64) -> v1::FromExecutor {
    v1::Heartbeat { number, machine: None }.into()
}

#[tokio::test]
async fn what_an_executor_says_is_heard_in_its_order_and_what_it_is_told_arrives() {
    let node = Node::listens().await;
    let (mut peer, session) = node.admits("one").await;
    for number in 1..=100 {
        peer.says(beat(number)).await;
        let heard = node.hears().await;
        assert_eq!(heard, Heard { session, said: FromExecutor::Heartbeat { number, machine: None } });
        assert!(node.board.tell(session, ToExecutor::HeartbeatSeen { number }));
    }
    for number in 1..=100 {
        let told = peer.hears().await.unwrap();
        assert!(matches!(told, to_executor::Message::HeartbeatAck(ack) if ack.number == number), "{told:?}");
    }
    drop(peer);
    assert_eq!(node.hears().await, Heard { session, said: FromExecutor::Gone });
}

#[tokio::test]
async fn a_wrong_version_is_refused_by_its_code_and_for_good() {
    let node = Node::listens().await;
    let peer = Peer::comes(node.address).await;
    peer.says(v1::Register { protocol_version: 2, ..register("new") }).await;
    let refused = peer.turned_out().await;
    assert_eq!((refused.code.as_str(), refused.retry_after_ms), (Code::ProtocolVersion.as_str(), 0));
    assert!(refused.message_en.contains('2') && refused.message_zh.contains('2'), "{refused:?}");
    node.is_well().await;
}

#[tokio::test]
async fn whom_the_door_does_not_admit_the_engine_never_hears_of() {
    let node = Node::listens().await;
    let peer = Peer::comes(node.address).await;
    peer.says(v1::Register { token: "bad".into(), ..register("bad") }).await;
    let refused = peer.turned_out().await;
    assert_eq!((refused.code.as_str(), refused.retry_after_ms), (Code::ExecutorTokenRefused.as_str(), 0));
    node.is_well().await;
}

#[tokio::test]
async fn whoever_begins_with_something_else_is_turned_out() {
    let node = Node::listens().await;
    let peer = Peer::comes(node.address).await;
    peer.says(beat(1)).await;
    assert_eq!(peer.turned_out().await.code, Code::RegisterFirst.as_str());
    node.is_well().await;
}

#[tokio::test]
async fn a_stream_that_says_nothing_is_turned_out() {
    let node = Node::listens().await;
    let peer = Peer::comes(node.address).await;
    assert_eq!(peer.turned_out().await.code, Code::RegisterFirst.as_str());
    node.is_well().await;
}

#[tokio::test]
async fn a_message_that_makes_no_sense_ends_its_stream_alone() {
    let node = Node::listens().await;
    let (other, _) = node.admits("other").await;
    let (peer, session) = node.admits("one").await;
    let attempt = v1::AttemptRef { task_id: "no id".into(), attempt: 1 };
    let what = v1::report::What::Started(v1::Started {});
    peer.says(v1::Report { attempt: Some(attempt), sequence: 1, at_ms: 0, what: Some(what) }).await;
    assert_eq!(peer.turned_out().await.code, Code::BadRequest.as_str());
    assert_eq!(node.hears().await, Heard { session, said: FromExecutor::Gone });
    other.says(beat(1)).await;
    assert!(matches!(node.hears().await.said, FromExecutor::Heartbeat { number: 1, .. }));
}

#[tokio::test]
async fn an_oversized_message_ends_its_stream_alone() {
    let node = Node::listens().await;
    let (other, _) = node.admits("other").await;
    let (peer, session) = node.admits("one").await;
    let answer = v1::StillNeededAnswer { message: "x".repeat(1024 * 1024), ..v1::StillNeededAnswer::default() };
    peer.says(answer).await;
    let refused = peer.turned_out().await;
    assert_eq!(refused.code, Code::MessageTooLarge.as_str());
    assert!(refused.message_en.contains("1048576"), "{refused:?}");
    assert_eq!(node.hears().await, Heard { session, said: FromExecutor::Gone });
    other.says(beat(1)).await;
    assert!(matches!(node.hears().await.said, FromExecutor::Heartbeat { number: 1, .. }));
}

#[tokio::test]
async fn garbage_and_silence_on_the_socket_are_closed() {
    let node = Node::listens().await;
    let mut garbage = TcpStream::connect(node.address).await.unwrap();
    garbage.write_all(&[0x5a; 4096]).await.unwrap();
    let mut silent = TcpStream::connect(node.address).await.unwrap();
    // It greets as HTTP/2 does, and then says nothing.
    let mut polite = TcpStream::connect(node.address).await.unwrap();
    polite.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    node.is_well().await;
    for socket in [&mut garbage, &mut silent, &mut polite] {
        let mut rest = Vec::new();
        // Closed in good order or reset: either way it is over.
        let _ = timeout(PATIENCE, socket.read_to_end(&mut rest)).await.expect("it is closed");
    }
    node.is_well().await;
}

/// While nobody listens, a flood fills its own session's share and is read no further; whoever comes after it is heard.
#[tokio::test]
async fn a_flood_waits_and_the_others_are_heard() {
    let node = Node::listens().await;
    let (flood, session) = node.admits("flood").await;
    let pouring = tokio::spawn(async move {
        for number in 1..=20_000 {
            let text = "x".repeat(16 * 1024);
            let answer = v1::StillNeededAnswer { question_id: number.to_string(), needed: true, message: text };
            if flood.say.send(answer.into()).await.is_err() {
                break;
            }
        }
        flood
    });
    let other = Peer::comes(node.address).await;
    other.says(register("other")).await;
    let mut before = 0;
    loop {
        let heard = node.hears().await;
        match heard.said {
            FromExecutor::Register(who) if who.executor.name == "other" => break,
            said => assert!(heard.session == session, "{said:?}"),
        }
        before += 1;
        assert!(before < 2000, "the flood drowns the others");
    }
    node.board.close(session);
    pouring.abort();
}

/// An executor that takes nothing is let go once what it is told exceeds what a network and a queue hold.
#[tokio::test]
async fn an_executor_that_does_not_read_loses_its_session_and_no_other() {
    let node = Node::listens().await;
    let (mut other, other_session) = node.admits("other").await;
    let (deaf, session) = node.admits("deaf").await;
    let reason = "x".repeat(64 * 1024);
    let mut told = 0;
    while node.board.tell(session, ToExecutor::Drain { reason: reason.clone() }) {
        told += 1;
        assert!(told < 100_000, "it is never let go");
    }
    assert!(node.board.tell(other_session, ToExecutor::HeartbeatSeen { number: 3 }));
    assert!(matches!(other.hears().await, Some(to_executor::Message::HeartbeatAck(_))));
    drop(deaf);
}

#[tokio::test]
async fn a_shard_goes_over_with_its_items_and_the_ends_of_others() {
    let node = Node::listens().await;
    let peer = Peer::comes(node.address).await;
    let processor = v1::Processor { name: "add".into(), methods: vec![3, 5, 99], ..v1::Processor::default() };
    peer.says(v1::Register { processors: vec![processor], ..register("one") }).await;
    let Heard { session, said: FromExecutor::Register(who) } = node.hears().await else { panic!("it registers") };
    assert_eq!(who.processors[0].methods, [Method::ShardingProcess, Method::PostProcess]);
    let mut peer = peer;

    let attempt = AttemptRef { task: TaskId::new(1, [1; 10]), attempt: 2 };
    let about = Some(v1::AttemptRef::new(attempt.task.to_string(), 2));
    let shard = Shard { level: 1, level_count: 2, index: Some(3), count: 4, round: 1, items: 5 };
    let push = Push {
        attempt,
        idempotency_key: "key".into(),
        processor: "add".into(),
        parameters: "{}".into(),
        job: "import".into(),
        instance: "i".into(),
        planned: Timestamp::EPOCH,
        due: Timestamp::EPOCH,
        version: 1,
        origin: Origin::Manual,
        tenant: None,
        deadline: None,
        kill_on_overrun: false,
        sequence_after: 0,
        secrets: Vec::new(),
        upstream: Vec::new(),
        method: Method::ShardingProcess,
        shard: Some(shard),
        notice: Some(Tally { done: 1, total: 4 }),
        more_follows: true,
    };
    assert!(node.board.tell(session, ToExecutor::Push(Box::new(push))));
    let items = vec![(3, "{}".to_owned()), (7, "null".to_owned())];
    assert!(node.board.tell(session, ToExecutor::ShardData { attempt, level: 1, items, last: true }));
    let failure = Failure { class: FailureClass::Business, code: "bad".into(), message: Words::new("no", "不行") };
    let ends = vec![ShardEnd { level: 0, shard: 6, state: TaskState::Failed, result: None, failure: Some(failure) }];
    assert!(node.board.tell(session, ToExecutor::ShardEnds { attempt, ends, last: false }));

    let Some(to_executor::Message::Push(push)) = peer.hears().await else { panic!("a push") };
    assert_eq!((push.method(), push.more_follows), (v1::Method::ShardingProcess, true));
    let shard = v1::Shard { level: 1, level_count: 2, index: Some(3), count: 4, round: 1, item_count: 5 };
    assert_eq!(push.shard, Some(shard));
    assert_eq!(push.notice, Some(v1::Notice { items_done: 1, items_total: 4, percent: 25.0 }));
    let Some(to_executor::Message::ShardData(data)) = peer.hears().await else { panic!("items") };
    assert_eq!((data.attempt, data.level, data.last), (about.clone(), 1, true));
    let items: Vec<(u64, &str)> = data.items.iter().map(|item| (item.index, item.value_json.as_str())).collect();
    assert_eq!(items, [(3, "{}"), (7, "null")]);
    let Some(to_executor::Message::ShardEnds(ends)) = peer.hears().await else { panic!("ends") };
    let end = &ends.ends[0];
    assert_eq!((ends.attempt, ends.last, end.level, end.shard, end.code), (about, false, 0, 6, 302));
    let error = end.error.as_ref().unwrap();
    assert_eq!((error.class(), error.message_zh.as_str()), (v1::FailureClass::Business, "不行"));
}

/// Long before an executor that takes nothing loses its session, whoever has much to tell it knows.
#[tokio::test]
async fn whoever_tells_much_is_held_back_until_it_is_taken() {
    let node = Node::listens().await;
    let (mut slow, session) = node.admits("slow").await;
    let reason = "x".repeat(64 * 1024);
    let mut told = 0;
    while node.board.has_room(session) {
        assert!(node.board.tell(session, ToExecutor::Drain { reason: reason.clone() }));
        told += 1;
        assert!(told < 1000, "it is never held back");
    }
    for _ in 0..told {
        assert!(matches!(slow.hears().await, Some(to_executor::Message::Drain(_))));
    }
    assert!(node.board.has_room(session));
}

#[tokio::test]
async fn one_connection_carries_one_stream() {
    let node = Node::listens().await;
    let channel = Endpoint::new(format!("http://{}", node.address)).unwrap().connect().await.unwrap();
    let (say, said) = mpsc::channel(4);
    let mut client = ExecutorLinkClient::new(channel);
    let _first = client.connect(ReceiverStream::new(said)).await.unwrap();
    let register = v1::FromExecutor { message: Some(from_executor::Message::Register(register("one"))) };
    say.send(register).await.unwrap();
    assert!(matches!(node.hears().await.said, FromExecutor::Register(_)));
    let (_say, said) = mpsc::channel(4);
    let status = client.connect(ReceiverStream::new(said)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::ResourceExhausted);
}

#[tokio::test]
async fn when_the_node_leaves_streams_end() {
    let node = Node::listens().await;
    let (mut peer, session) = node.admits("one").await;
    node.shutdown.cancel();
    assert!(peer.hears().await.is_none());
    assert_eq!(node.hears().await, Heard { session, said: FromExecutor::Gone });
}
