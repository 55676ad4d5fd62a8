//! The network between executors and nodes: sessions that delay, repeat, break and lose.
//!
//! Within a session messages arrive in order. When it ends, whatever was under way is lost in both
//! directions, and each side learns of it in its own time. A node's life has a link of its own; when
//! the node dies all its sessions end.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use campanile_engine::link::{FromExecutor, Heard, Link, NodeAddress, Said, SessionId, ToExecutor};
use campanile_model::task::ExecutorRef;
use futures::future::select;
use tokio::sync::Notify;

use crate::runtime::{Hands, Luck};

/// How bad the wires are.
#[derive(Clone, Copy, Debug)]
pub struct Wires {
    pub slowest_ms: i64,
    /// Of a thousand pushes so many arrive twice.
    pub repeats: u32,
    /// Of a thousand messages so many break their session.
    pub breaks: u32,
}

impl Wires {
    pub const CALM: Wires = Wires { slowest_ms: 3, repeats: 0, breaks: 0 };
}

struct Session {
    node: String,
    life: u64,
    executor: String,
    boot: String,
    ended: bool,
    to_node: VecDeque<(i64, FromExecutor)>,
    to_executor: VecDeque<(i64, ToExecutor)>,
    /// When the executor learns that it is over.
    told_at: i64,
    executor_wakes: Arc<Notify>,
}

struct Wiring {
    luck: Luck,
    wires: Wires,
    /// Nodes that are up, with the number of the life that each leads.
    nodes: BTreeMap<String, (u64, Arc<Notify>)>,
    last_life: u64,
    sessions: BTreeMap<SessionId, Session>,
    last_session: SessionId,
    /// Executors that cannot reach anyone before this moment.
    cut_off: BTreeMap<String, i64>,
    /// The mutation: final reports are said to be committed before the node has heard them.
    acks_before_commit: bool,
}

#[derive(Clone)]
pub struct Network {
    hands: Hands,
    wiring: Arc<Mutex<Wiring>>,
}

impl Network {
    pub fn new(hands: &Hands, luck: Luck, acks_before_commit: bool) -> Network {
        let wiring = Wiring {
            luck,
            wires: Wires::CALM,
            nodes: BTreeMap::new(),
            last_life: 0,
            sessions: BTreeMap::new(),
            last_session: 0,
            cut_off: BTreeMap::new(),
            acks_before_commit,
        };
        Network { hands: hands.clone(), wiring: Arc::new(Mutex::new(wiring)) }
    }

    pub fn set_wires(&self, wires: Wires) {
        self.wiring().wires = wires;
    }

    /// The executor reaches nobody before `until`, and what it has breaks now.
    pub fn cut_off(&self, executor: &str, until: i64) {
        let now = self.hands.now();
        let mut wiring = self.wiring();
        wiring.cut_off.insert(executor.to_owned(), until);
        wiring.end_where(now, |session| session.executor == executor);
    }

    /// The node's side of the network, from now until it goes down.
    pub fn node_up(&self, node: &str) -> Arc<NodeLink> {
        let wakes = Arc::new(Notify::new());
        let mut wiring = self.wiring();
        wiring.last_life += 1;
        let life = wiring.last_life;
        wiring.nodes.insert(node.to_owned(), (life, Arc::clone(&wakes)));
        Arc::new(NodeLink { network: self.clone(), node: node.to_owned(), life, wakes })
    }

    pub fn node_down(&self, node: &str) {
        let now = self.hands.now();
        let mut wiring = self.wiring();
        wiring.nodes.remove(node);
        wiring.end_where(now, |session| session.node == node);
    }

    /// A link for a node that nobody connects to.
    pub fn nobodys_link(&self) -> Arc<NodeLink> {
        Arc::new(NodeLink { network: self.clone(), node: String::new(), life: 0, wakes: Arc::default() })
    }

    /// The process behind all its sessions is gone.
    pub fn executor_down(&self, boot: &str) {
        let now = self.hands.now();
        self.wiring().end_where(now, |session| session.boot == boot);
    }

    /// A new session with some node that is up, or with the one that it must be; none where nobody can be reached.
    pub fn connect(&self, executor: &ExecutorRef, home: Option<&str>, nth_try: usize) -> Option<Wire> {
        let now = self.hands.now();
        let mut wiring = self.wiring();
        // What lives in the node's own process needs no wire to it.
        let is_cut_off = wiring.cut_off.get(&executor.name).is_some_and(|until| *until > now);
        if (is_cut_off && home.is_none()) || wiring.nodes.is_empty() {
            return None;
        }
        // Long after both sides know, nothing of a session is left.
        wiring.sessions.retain(|_, session| !session.ended || now < session.told_at + 60_000);
        let (node, life) = match home {
            Some(home) => wiring.nodes.get_key_value(home),
            None => wiring.nodes.iter().nth(nth_try % wiring.nodes.len()),
        }
        .map(|(node, (life, _))| (node.clone(), *life))?;
        wiring.last_session += 1;
        let id = wiring.last_session;
        let wakes = Arc::new(Notify::new());
        wiring.sessions.insert(
            id,
            Session {
                node,
                life,
                executor: executor.name.clone(),
                boot: executor.boot.clone(),
                ended: false,
                to_node: VecDeque::new(),
                to_executor: VecDeque::new(),
                told_at: i64::MAX,
                executor_wakes: Arc::clone(&wakes),
            },
        );
        Some(Wire { network: self.clone(), id, wakes })
    }

    fn wiring(&self) -> MutexGuard<'_, Wiring> {
        self.wiring.lock().expect("no call panics while it holds the lock")
    }
}

impl Wiring {
    fn delay(&mut self) -> i64 {
        let slowest = self.wires.slowest_ms;
        self.luck.between(0, slowest)
    }

    /// Ends sessions: what was under way is lost, and each side is told later.
    fn end_where(&mut self, now: i64, which: impl Fn(&Session) -> bool) {
        let ids: Vec<SessionId> =
            self.sessions.iter().filter(|(_, session)| !session.ended && which(session)).map(|(id, _)| *id).collect();
        for id in ids {
            self.end(now, id);
        }
    }

    fn end(&mut self, now: i64, id: SessionId) {
        // A broken wire is sometimes noticed late.
        let slow = if self.luck.chance(200) { 2500 } else { 50 };
        let (node_learns, executor_learns) = (now + self.luck.between(0, slow), now + self.luck.between(0, slow));
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.ended = true;
        session.to_executor.clear();
        session.to_node.clear();
        session.to_node.push_back((node_learns, FromExecutor::Gone));
        session.told_at = executor_learns;
        session.executor_wakes.notify_one();
        if let Some((_, node)) = self.nodes.get(&session.node) {
            node.notify_one();
        }
    }

    /// The first thing that has arrived at the node, and when the next one will.
    fn arrived(&mut self, life: u64, now: i64) -> Result<Heard, Option<i64>> {
        let first = self
            .sessions
            .iter()
            .filter(|(_, session)| session.life == life)
            .filter_map(|(id, session)| session.to_node.front().map(|(at, _)| (*at, *id)))
            .min();
        let (at, id) = first.ok_or(None)?;
        if at > now {
            return Err(Some(at));
        }
        let session = self.sessions.get_mut(&id).ok_or(None)?;
        let (_, said) = session.to_node.pop_front().ok_or(None)?;
        Ok(Heard { session: id, said })
    }
}

/// The link of one life of a node.
pub struct NodeLink {
    network: Network,
    node: String,
    life: u64,
    wakes: Arc<Notify>,
}

#[async_trait]
impl Link for NodeLink {
    async fn hear(&self) -> Heard {
        loop {
            let woken = self.wakes.notified();
            let arrived = self.network.wiring().arrived(self.life, self.network.hands.now());
            match arrived {
                Ok(heard) => return heard,
                Err(None) => woken.await,
                Err(Some(at)) => {
                    let arrival = self.network.hands.sleep_until(at);
                    select(std::pin::pin!(woken), std::pin::pin!(arrival)).await;
                }
            }
        }
    }

    fn overhear(&self) -> Option<Heard> {
        self.network.wiring().arrived(self.life, self.network.hands.now()).ok()
    }

    fn tell(&self, session: SessionId, what: ToExecutor) -> bool {
        let now = self.network.hands.now();
        let mut wiring = self.network.wiring();
        let breaks = wiring.wires.breaks;
        if wiring.luck.chance(breaks) {
            wiring.end(now, session);
        }
        let delay = wiring.delay();
        let repeats = wiring.wires.repeats;
        let twice = matches!(what, ToExecutor::Push(_)) && wiring.luck.chance(repeats);
        let Some(session) = wiring.sessions.get_mut(&session).filter(|session| !session.ended) else { return false };
        let at = session.to_executor.back().map_or(now + delay, |(last, _)| (*last).max(now + delay));
        if !matches!(what, ToExecutor::HeartbeatSeen { .. }) {
            self.network.hands.note(|| format!("{} → {}: {}", self.node, session.executor, brief_order(&what)));
        }
        if twice {
            session.to_executor.push_back((at, what.clone()));
        }
        session.to_executor.push_back((at, what));
        session.executor_wakes.notify_one();
        true
    }

    /// What is under way here takes no room.
    fn has_room(&self, _session: SessionId) -> bool {
        true
    }

    fn show_nodes(&self, _nodes: &[NodeAddress]) {
        // Here everyone knows every node.
    }

    fn close(&self, session: SessionId) {
        let now = self.network.hands.now();
        let mut wiring = self.network.wiring();
        if wiring.sessions.get(&session).is_some_and(|session| !session.ended) {
            wiring.end(now, session);
        }
    }
}

/// An executor's end of one session.
pub struct Wire {
    network: Network,
    id: SessionId,
    wakes: Arc<Notify>,
}

impl Wire {
    pub fn say(&self, what: FromExecutor) {
        let now = self.network.hands.now();
        let mut wiring = self.network.wiring();
        let breaks = wiring.wires.breaks;
        if wiring.luck.chance(breaks) {
            wiring.end(now, self.id);
        }
        let delay = wiring.delay();
        let acks_before_commit = wiring.acks_before_commit;
        let Some(session) = wiring.sessions.get_mut(&self.id).filter(|session| !session.ended) else { return };
        let at = session.to_node.back().map_or(now + delay, |(last, _)| (*last).max(now + delay));
        if !matches!(what, FromExecutor::Heartbeat { .. }) {
            self.network.hands.note(|| format!("{} → {}: {}", session.executor, session.node, brief_word(&what)));
        }
        if acks_before_commit
            && let FromExecutor::Report(report) = &what
            && matches!(report.said, Said::Succeeded { .. } | Said::Failed(_))
        {
            let seen = ToExecutor::Seen { attempt: report.attempt, sequence: report.sequence };
            let at = session.to_executor.back().map_or(now, |(last, _)| (*last).max(now));
            session.to_executor.push_back((at, seen));
            session.executor_wakes.notify_one();
        }
        session.to_node.push_back((at, what));
        let node = session.node.clone();
        if let Some((_, node)) = wiring.nodes.get(&node) {
            node.notify_one();
        }
    }

    /// The next thing the node says; none once the session has ended.
    pub async fn hear(&self) -> Option<ToExecutor> {
        loop {
            let woken = self.wakes.notified();
            let arrival = {
                let now = self.network.hands.now();
                let mut wiring = self.network.wiring();
                let session = wiring.sessions.get_mut(&self.id)?;
                match session.to_executor.front() {
                    Some((at, _)) if *at <= now => return session.to_executor.pop_front().map(|(_, what)| what),
                    Some((at, _)) => *at,
                    None if session.told_at <= now => return None,
                    None => session.told_at,
                }
            };
            if arrival == i64::MAX {
                woken.await;
                continue;
            }
            let arrival = self.network.hands.sleep_until(arrival);
            select(std::pin::pin!(woken), std::pin::pin!(arrival)).await;
        }
    }

    pub fn hang_up(&self) {
        let now = self.network.hands.now();
        let mut wiring = self.network.wiring();
        if wiring.sessions.get(&self.id).is_some_and(|session| !session.ended) {
            wiring.end(now, self.id);
        }
    }
}

fn brief_order(what: &ToExecutor) -> String {
    match what {
        ToExecutor::Push(push) => format!("push {} of {}", brief_attempt(push.attempt), push.job),
        ToExecutor::ShardData { attempt, items, last, .. } => {
            format!("{} items for {}, last {last}", items.len(), brief_attempt(*attempt))
        }
        ToExecutor::ShardEnds { attempt, ends, last } => {
            format!("{} ends for {}, last {last}", ends.len(), brief_attempt(*attempt))
        }
        ToExecutor::Stop { attempt, stage } => format!("stop {} {stage:?}", brief_attempt(*attempt)),
        ToExecutor::Seen { attempt, sequence } => format!("seen {} #{sequence}", brief_attempt(*attempt)),
        ToExecutor::Withdraw(attempt) => format!("withdraw {}", brief_attempt(*attempt)),
        ToExecutor::Forget(attempt) => format!("forget {}", brief_attempt(*attempt)),
        ToExecutor::Welcome { still_yours, .. } => {
            let yours: Vec<String> =
                still_yours.iter().map(|(attempt, stored)| format!("{} #{stored}", brief_attempt(*attempt))).collect();
            format!("welcome, still yours {yours:?}")
        }
        other => format!("{other:?}"),
    }
}

fn brief_word(what: &FromExecutor) -> String {
    match what {
        FromExecutor::Report(report) => {
            let said = match &report.said {
                Said::Failed(failure) => format!("failed {:?}", failure.class),
                Said::HandedBack(words) => format!("handed back: {}", words.en),
                other => format!("{other:?}"),
            };
            format!("report {} #{} {said}", brief_attempt(report.attempt), report.sequence)
        }
        FromExecutor::Register(registration) => {
            let held: Vec<String> = registration.still_held.iter().map(|attempt| brief_attempt(*attempt)).collect();
            format!("register {}, holds {held:?}", registration.executor.boot)
        }
        other => format!("{other:?}"),
    }
}

/// The random end of a task's id tells it apart well enough.
pub fn brief_attempt(attempt: campanile_engine::link::AttemptRef) -> String {
    let id = attempt.task.to_string();
    format!("{}/{}", &id[id.len() - 6..], attempt.attempt)
}
