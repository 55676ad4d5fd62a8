//! Who held what, with which token, in what order: histories of clients that take locks, pause beyond their leases and
//! lose their Redis, and a checker that reads them.
//!
//! What is claimed, and so what is checked: while a Redis keeps what it knows a lock has one holder at a time, and a
//! holder that sleeps through its lease is the only way to two who believe in it. A Redis that forgets (flushed,
//! restarted, failed over) may give a lock to a second holder, a quorum of which a minority forgets never. Tokens grow in
//! the order of the holdings whatever happens, so that a resource that remembers the greatest one refuses the rest.
//!
//! The seed is drawn unless CAMPANILE_SEED says it; CAMPANILE_SOAK lives through a longer history of each kind.

mod servers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::locks::{Fences, Holding, Keep, LockError, LockName, LockTable, Locks, Owner, Quorum, Result};
use campanile_coord::{Clock, spans};
use campanile_coord_redis::{Place, RedisLocks};
use campanile_model::Timestamp;
use futures::future::{join, join_all};
use servers::{Server, installed, receipt, watched};

/// What happened to one holding.
#[derive(Clone, Debug)]
struct Held {
    lock: usize,
    token: u64,
    asked: Timestamp,
    granted: Timestamp,
    /// Until when its holder may believe in it: it left it, or its lease was over.
    until: Timestamp,
}

/// A write that somebody tried, in the order in which they reached the resource.
#[derive(Clone, Copy, Debug)]
struct Write {
    lock: usize,
    token: u64,
    accepted: bool,
}

#[derive(Clone, Debug, Default)]
struct History {
    held: Vec<Held>,
    writes: Vec<Write>,
    /// When what was locked may have been forgotten: from and until.
    forgotten: Vec<(Timestamp, Timestamp)>,
}

/// What is wrong with a history; empty: nothing.
fn faults(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let mut held = history.held.clone();
    held.sort_by_key(|held| held.granted);
    for (n, first) in held.iter().enumerate() {
        for second in held[n + 1..].iter().filter(|second| second.lock == first.lock) {
            if first.token == second.token {
                faults.push(format!("two holdings with one token: {first:?} {second:?}"));
            }
            if first.granted < second.asked && first.token >= second.token {
                faults.push(format!("a token that did not grow: {first:?} {second:?}"));
            }
            let forgot = |(from, until): &(Timestamp, Timestamp)| *from <= second.granted && first.asked <= *until;
            if second.granted < first.until && !history.forgotten.iter().any(forgot) {
                faults.push(format!("two holders at once: {first:?} {second:?}"));
            }
        }
    }
    let mut greatest: HashMap<usize, u64> = HashMap::new();
    for write in history.writes.iter().filter(|write| write.accepted) {
        let greatest = greatest.entry(write.lock).or_default();
        if write.token < *greatest {
            faults.push(format!("an old token was written with after {greatest}: {write:?}"));
        }
        *greatest = write.token.max(*greatest);
    }
    faults
}

/// What tokens come from: the store, which forgets nothing.
#[derive(Default)]
struct Store(Mutex<HashMap<LockName, u64>>);

#[async_trait]
impl Fences for Store {
    async fn next(&self, lock: &LockName) -> Result<u64> {
        let mut last = self.0.lock().expect("nobody panics");
        let token = last.entry(lock.clone()).or_default();
        *token += 1;
        Ok(*token)
    }
}

/// What is written under a lock: it takes a write with a token no smaller than the greatest it was shown.
#[derive(Default)]
struct Resource {
    greatest: HashMap<usize, u64>,
}

impl Resource {
    fn write(&mut self, lock: usize, token: u64) -> Write {
        let greatest = self.greatest.entry(lock).or_default();
        let accepted = token >= *greatest;
        *greatest = token.max(*greatest);
        Write { lock, token, accepted }
    }
}

/// Numbers out of a seed, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn ms(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

fn seed() -> u64 {
    let drawn = || std::time::UNIX_EPOCH.elapsed().map_or(1, |since| u64::from(since.subsec_nanos()));
    let seed = std::env::var("CAMPANILE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(drawn);
    println!("CAMPANILE_SEED={seed}");
    seed
}

fn how_long() -> Duration {
    if std::env::var_os("CAMPANILE_SOAK").is_some() { Duration::from_secs(60) } else { Duration::from_secs(4) }
}

const LOCKS: usize = 2;

/// Clients, one to each of the tables, live for a while with what happens to their servers; what they saw of it.
async fn live(
    tables: Vec<Arc<dyn LockTable>>,
    clock: &Arc<dyn Clock>,
    seed: u64,
    mut trouble: impl AsyncFnMut(&mut Dice, &RefCell<History>),
) -> History {
    let ends = clock.now() + how_long();
    let store = Arc::new(Store::default());
    let (history, resource) = (RefCell::new(History::default()), RefCell::new(Resource::default()));
    let clients = tables.into_iter().enumerate().map(|(client, table)| {
        let (history, resource, store, clock) = (&history, &resource, store.clone(), clock.clone());
        async move {
            let mut dice = Dice(seed ^ ((client as u64) << 32));
            let locks = Locks::new(table, store, clock.clone(), format!("client-{client}"));
            let mut life = 0;
            while clock.now() < ends {
                life += 1;
                let owner = Owner(format!("{client}/{life}"));
                let lock = dice.below(LOCKS as u64) as usize;
                let name = LockName::new(format!("lock-{lock}")).expect("a good name");
                let lease = dice.ms(80, 250);
                let asked = clock.now();
                let taken = locks.take(&name, &owner, Keep::For(lease), dice.ms(0, 600)).await;
                let holding = match taken {
                    Ok(holding) => holding,
                    Err(LockError::TimedOut { .. }) => continue,
                    Err(LockError::Unavailable(_)) => {
                        clock.sleep_until(clock.now() + dice.ms(5, 60)).await;
                        continue;
                    }
                    Err(other) => panic!("{other}"),
                };
                let granted = clock.now();
                let place = {
                    let mut history = history.borrow_mut();
                    let (token, until) = (holding.token, holding.until);
                    history.held.push(Held { lock, token, asked, granted, until });
                    history.held.len() - 1
                };
                works(&clock, &mut dice, &holding, lock, (history, resource)).await;
                let over = clock.now();
                // From when it begins to leave it believes in it no more.
                {
                    let held = &mut history.borrow_mut().held[place];
                    held.until = held.until.min(over);
                }
                drop(locks.leave(&holding).await);
            }
        }
    });
    let troubles = async {
        let mut dice = Dice(seed);
        while clock.now() < ends {
            clock.sleep_until(clock.now() + dice.ms(150, 500)).await;
            trouble(&mut dice, &history).await;
        }
    };
    join(join_all(clients), troubles).await;
    history.into_inner()
}

/// Writes a few times; now and then it sleeps through its lease first, as a process that was stopped does, and believes
/// all the same that the lock is its.
async fn works(
    clock: &Arc<dyn Clock>,
    dice: &mut Dice,
    holding: &Holding,
    lock: usize,
    (history, resource): (&RefCell<History>, &RefCell<Resource>),
) {
    for _ in 0..1 + dice.below(3) {
        let span = if dice.below(4) == 0 { dice.ms(300, 700) } else { dice.ms(1, 25) };
        clock.sleep_until(clock.now() + span).await;
        let write = resource.borrow_mut().write(lock, holding.token);
        history.borrow_mut().writes.push(write);
    }
}

fn check(history: &History, seed: u64) {
    let faults = faults(history);
    assert!(faults.is_empty(), "CAMPANILE_SEED={seed}: {} faults, {:#?}", faults.len(), &faults[..faults.len().min(5)]);
    let refused = history.writes.iter().filter(|write| !write.accepted).count();
    println!("{} holdings, {} writes, {refused} of them refused", history.held.len(), history.writes.len());
    assert!(history.held.len() >= 20 && refused > 0, "it was no life: {} {refused}", history.held.len());
}

fn tables_on(place: &Place, clients: usize) -> Vec<Arc<dyn LockTable>> {
    (0..clients).map(|_| Arc::new(RedisLocks::open(place.clone()).expect("good addresses")) as _).collect()
}

#[tokio::test]
async fn clients_that_sleep_through_their_leases_are_the_only_ones_whose_writes_are_refused() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let (seed, clock) = (seed(), spans());
    let tables = tables_on(&Place::Single(server.url()), 5);
    let history = live(tables, &clock, seed, async |_, _| {}).await;
    check(&history, seed);
}

#[tokio::test]
async fn a_redis_that_is_flushed_and_killed_may_give_a_lock_twice_and_the_token_tells() {
    let Some(server) = installed().then(|| Server::start(&[])) else { return };
    let (seed, clock) = (seed(), spans());
    let tables = tables_on(&Place::Single(server.url()), 5);
    let server = RefCell::new(server);
    let history = live(tables, &clock, seed, async |dice, history| {
        let from = clock.now();
        match dice.below(3) {
            0 => server.borrow_mut().restart(),
            _ => drop(server.borrow().cli(&["FLUSHALL"])),
        }
        history.borrow_mut().forgotten.push((from, clock.now()));
    })
    .await;
    check(&history, seed);
    receipt("lock-histories");
}

#[tokio::test]
async fn behind_sentinel_a_failover_may_forget_and_the_token_tells() {
    if !installed() {
        return;
    }
    let (mut master, replica, sentinels) = watched();
    let (seed, clock) = (seed(), spans());
    let place = Place::Sentinel { sentinels: sentinels.iter().map(Server::url).collect(), master: "town".into() };
    let mut went = false;
    let history = live(tables_on(&place, 5), &clock, seed, async |_, history| {
        if !std::mem::replace(&mut went, true) {
            let from = clock.now();
            master.kill();
            while !replica.cli(&["ROLE"]).starts_with("master") {
                clock.sleep_until(clock.now() + Duration::from_millis(20)).await;
            }
            history.borrow_mut().forgotten.push((from, clock.now()));
        }
    })
    .await;
    check(&history, seed);
    let (from, until) = history.forgotten[0];
    assert!(history.held.iter().any(|held| held.granted < from), "held before");
    assert!(history.held.iter().any(|held| held.asked > until), "and after");
}

/// No time at which anything may be forgotten is granted to a quorum: one of its three is always in trouble.
#[tokio::test]
async fn a_quorum_stays_safe_while_one_of_three_forgets_again_and_again() {
    if !installed() {
        return;
    }
    let servers: Vec<Server> = (0..3).map(|_| Server::start(&[])).collect();
    servers.iter().for_each(Server::has_remembered_for_long);
    let (seed, clock) = (seed(), spans());
    let quorum = |_| {
        let tables = servers.iter().flat_map(|server| tables_on(&Place::Single(server.url()), 1)).collect();
        Arc::new(Quorum::new(tables, clock.clone()).expect("three is odd")) as Arc<dyn LockTable>
    };
    let tables: Vec<Arc<dyn LockTable>> = (0..4).map(quorum).collect();
    // One and the same: two that forget within a lease are more than a minority.
    let victim = RefCell::new(servers);
    let history = live(tables, &clock, seed, async |dice, _| match dice.below(3) {
        0 => victim.borrow_mut()[0].restart(),
        _ => drop(victim.borrow()[0].cli(&["FLUSHALL"])),
    })
    .await;
    check(&history, seed);
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn held(token: u64, asked: i64, granted: i64, until: i64) -> Held {
    Held { lock: 0, token, asked: at(asked), granted: at(granted), until: at(until) }
}

/// The checker itself finds what it is to find.
#[test]
fn a_history_that_breaks_a_promise_is_found_out() {
    let good = History {
        held: vec![held(1, 0, 1, 5), held(2, 2, 5, 9), held(4, 10, 11, 12)],
        writes: [(1, true), (2, true), (1, false), (2, true)]
            .map(|(token, accepted)| Write { lock: 0, token, accepted })
            .to_vec(),
        forgotten: Vec::new(),
    };
    assert_eq!(faults(&good), Vec::<String>::new());
    for (held, forgotten, wrong) in [
        (vec![held(1, 0, 1, 5), held(2, 2, 4, 9)], None, "two holders at once"),
        (vec![held(1, 0, 1, 5), held(2, 2, 4, 9)], Some((2, 3)), ""),
        // Long before either of them.
        (vec![held(1, 10, 11, 15), held(2, 12, 14, 19)], Some((2, 3)), "two holders at once"),
        (vec![held(2, 0, 1, 5), held(1, 6, 7, 9)], None, "a token that did not grow"),
        (vec![held(2, 0, 1, 5), held(2, 6, 7, 9)], Some((0, 9)), "two holdings with one token"),
    ] {
        let forgotten = forgotten.map(|(from, until)| (at(from), at(until))).into_iter().collect();
        let found = faults(&History { held, writes: Vec::new(), forgotten });
        assert!(found.is_empty() == wrong.is_empty(), "{found:?}");
        assert!(wrong.is_empty() || found.iter().any(|fault| fault.starts_with(wrong)), "{found:?}");
    }
    let writes = [(2, true), (1, true)].map(|(token, accepted)| Write { lock: 0, token, accepted }).to_vec();
    assert_eq!(faults(&History { writes, ..History::default() }).len(), 1);
}
