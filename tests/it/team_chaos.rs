//! A whole team on real servers, which fail one after another: nodes are killed and frozen, Redis is restarted, flushed,
//! failed over and wholly gone, the database is killed. Afterwards nothing is lost, doubled or stuck.
//!
//! A seed is an order of what goes wrong; `CAMPANILE_SEED=n` has the same go wrong again. A minute and a half, or ten
//! with CAMPANILE_SOAK.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use campanile_coord_redis::{Place, Redis, keyspace};
use campanile_model::Timestamp;
use campanile_model::task::TaskState;
use campanile_tests::campanile::wait_until;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::chaos::{Kept, seed};
use crate::redis_servers::{self, receipt};
use crate::team::Team;

const NODES: usize = 3;
const JOBS: usize = 500;

/// How many of them run every two seconds, whatever the others do.
const QUICK: usize = 12;

/// What goes wrong until everything has.
const KINDS: usize = 8;

/// Where Redis is away, tasks go on from the database within this.
const GOES_ON_WITHIN: Duration = Duration::from_secs(5);

/// What of a build without optimisation is enough to do for two cores.
const SECONDS_BETWEEN: (usize, usize) = if cfg!(debug_assertions) { (12, 24) } else { (2, 8) };

fn length() -> Duration {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some_and(|soak| soak != "0");
    Duration::from_secs(if soak { 600 } else { 90 })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// kill -9; it starts again when it is over.
    NodeKilled(usize),
    /// SIGSTOP for longer than its leases, and SIGCONT.
    NodeFrozen(usize),
    /// The master of Redis forgets everything.
    RedisFlushed,
    /// Its process ends, and another takes its place with nothing of what it knew.
    RedisRestarted,
    /// The master dies, the sentinels choose another, and it comes back as a replica.
    FailedOver,
    /// Master and replica are both away.
    RedisGone,
    /// kill -9; it comes up by itself.
    DatabaseKilled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    trouble: Trouble,
    lasts: Duration,
    calm: Duration,
}

/// One after the other, so that each has the team to itself.
fn plan(seed: u64, length: Duration) -> Vec<Turn> {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let (mut turns, mut deck, mut sum) = (Vec::new(), Vec::new(), Duration::ZERO);
    while sum < length {
        if deck.is_empty() {
            deck = vec![
                (Trouble::NodeKilled(dice.random_range(0..NODES)), 200..5000),
                (Trouble::NodeKilled(dice.random_range(0..NODES)), 200..2000),
                (Trouble::NodeFrozen(dice.random_range(0..NODES)), 4000..7000),
                (Trouble::RedisFlushed, 1..2),
                (Trouble::RedisRestarted, 1..400),
                (Trouble::FailedOver, 1..2000),
                (Trouble::RedisGone, 5500..7500),
                (Trouble::DatabaseKilled, 1..2),
            ];
            assert_eq!(deck.len(), KINDS);
            deck.shuffle(&mut dice);
        }
        let (trouble, lasts) = deck.pop().expect("it was filled");
        let lasts = Duration::from_millis(dice.random_range(lasts));
        let calm = Duration::from_millis(dice.random_range(1500..3500));
        turns.push(Turn { trouble, lasts, calm });
        sum += lasts + calm;
    }
    turns
}

/// A master, its replica and three sentinels, whoever is which by now.
struct Town {
    servers: [redis_servers::Server; 2],
    sentinels: Vec<redis_servers::Server>,
}

impl Town {
    fn begins() -> Town {
        let (master, replica, sentinels) = redis_servers::watched();
        Town { servers: [master, replica], sentinels }
    }

    fn addresses(&self) -> Vec<String> {
        self.sentinels.iter().map(redis_servers::Server::url).collect()
    }

    fn place(&self) -> Redis {
        Redis::at(Place::Sentinel { sentinels: self.addresses(), master: "town".to_owned() }).expect("good addresses")
    }

    /// As most sentinels see it.
    fn master(&self) -> usize {
        let says = |port: u16| {
            let of = |sentinel: &redis_servers::Server| sentinel.cli(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "town"]);
            self.sentinels.iter().filter(|sentinel| of(sentinel).lines().nth(1) == Some(&port.to_string())).count()
        };
        usize::from(says(self.servers[1].port) > says(self.servers[0].port))
    }

    /// The master's place is taken by the other; until when nobody answers.
    fn fails_over(&mut self, away: Duration) {
        let old = self.master();
        self.servers[old].kill();
        wait_until("the sentinels choose another master", || {
            let new = 1 - old;
            self.master() == new && self.servers[new].cli(&["ROLE"]).starts_with("master")
        });
        std::thread::sleep(away);
        self.servers[old].restart();
        self.servers[old].follows(self.servers[1 - old].port);
    }
}

struct Chaos {
    team: Team,
    town: Town,
    /// From when to when Redis was away, as the database tells time.
    away: Vec<(Timestamp, Timestamp)>,
}

impl Chaos {
    fn begins() -> Option<Chaos> {
        if !redis_servers::installed() {
            return None;
        }
        let town = Town::begins();
        let more = format!("[redis]\nurl = \"{}\"\nmaster = \"town\"\n", town.addresses().join(" "));
        let team = Team::begins(&more)?;
        team.server.is_looked_after();
        let jobs: Vec<Value> = (0..JOBS)
            .map(|n| {
                let (from, to) = SECONDS_BETWEEN;
                // All begin together: without the quick ones there would be seconds in which nothing is due.
                let every = if n < QUICK { 2 } else { from + n % (to - from) };
                // Not `low`: that waits while the machine is busy, and what else it does is not this story's matter.
                let (ms, lane) = ([1, 20, 150, 600][n % 4], ["immediate", "high", "normal"][n % 3]);
                json!({
                    "name": name(n),
                    "schedule": {"kind": "fixedRate", "everySeconds": every},
                    "executorGroup": "conformance",
                    "processor": "sleeps",
                    "parameters": {"ms": ms},
                    "overlap": if n % 3 == 0 { "allow" } else { "queue" },
                    "priority": lane,
                    "retry": {"retries": 50, "baseSeconds": 0.2, "maxSeconds": 1},
                    // What a node pushed to an executor that had just left it nobody tells of: it is taken back then.
                    "pushTimeoutSeconds": 5,
                })
            })
            .collect();
        team.nodes[1].applies(&jobs);
        team.are_shared_by(NODES);
        Some(Chaos { team, town, away: Vec::new() })
    }

    fn now(&self) -> Timestamp {
        self.team.looks(async |store| store.now().await).expect("the database answers")
    }

    fn lives_through(&mut self, Turn { trouble, lasts, calm }: Turn) {
        match trouble {
            Trouble::NodeKilled(node) => {
                self.team.serving[node].take().expect("it runs").kill_9();
                std::thread::sleep(lasts);
                self.team.starts(node);
            }
            Trouble::NodeFrozen(node) => {
                self.team.serving[node].as_ref().expect("it runs").freeze();
                std::thread::sleep(lasts);
                self.team.serving[node].as_ref().expect("it runs").thaw();
            }
            Trouble::RedisFlushed => drop(self.town.servers[self.town.master()].cli(&["FLUSHALL"])),
            Trouble::RedisRestarted => {
                let master = self.town.master();
                self.town.servers[master].kill();
                std::thread::sleep(lasts);
                self.town.servers[master].restart();
            }
            Trouble::FailedOver => self.town.fails_over(lasts),
            Trouble::RedisGone => {
                let from = self.now();
                self.town.servers.iter_mut().for_each(redis_servers::Server::kill);
                std::thread::sleep(lasts);
                self.away.push((from, self.now()));
                self.town.servers.iter_mut().for_each(redis_servers::Server::restart);
            }
            Trouble::DatabaseKilled => self.team.server.crashes(),
        }
        self.team.goes_on(&format!("{trouble:?}"));
        std::thread::sleep(calm);
    }
}

impl Chaos {
    /// As soon as the database answers for long enough.
    fn ledger_is_clean(&self) {
        wait_until("the ledger can be read", || {
            let said = self.team.nodes[0].cli(&["ledger"]);
            let away = said.code != 0 && said.refused().1 == "k_sc_ec_500001";
            assert!(said.code == 0 || away, "the ledger is not clean: {said:?}");
            !away
        });
    }
}

fn name(n: usize) -> String {
    format!("busy-{n:03}")
}

/// While nobody could meet, tasks were given out from the database, and the first of them soon.
fn went_on(tasks: &Kept, away: &[(Timestamp, Timestamp)]) {
    let moves = tasks.values().flat_map(|(_, history)| history);
    let mut pushed: Vec<Timestamp> =
        moves.filter(|entry| entry.to == TaskState::Pushed).map(|entry| entry.at).collect();
    pushed.sort_unstable();
    for (from, until) in away {
        let within: Vec<Timestamp> = pushed.iter().copied().filter(|at| at > from && at <= until).collect();
        let moments = std::iter::once(*from).chain(within.iter().copied()).chain([*until]).collect::<Vec<_>>();
        let longest = moments.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default();
        println!("{} pushed while Redis was away, none for {longest:?} at most", within.len());
        let went_on = !within.is_empty() && longest < GOES_ON_WITHIN;
        assert!(went_on, "from {from} until {until} tasks came to these states:\n{}", steps(tasks, *from, *until));
    }
}

/// How many tasks came to which state in each half of a second, for whoever wants to know where it stopped.
fn steps(tasks: &Kept, from: Timestamp, until: Timestamp) -> String {
    let mut steps: BTreeMap<(u128, u16), usize> = BTreeMap::new();
    for entry in tasks.values().flat_map(|(_, history)| history).filter(|entry| entry.at > from && entry.at <= until) {
        *steps.entry((entry.at.since(from).as_millis() / 500, entry.to.code())).or_default() += 1;
    }
    steps.into_iter().map(|((half, code), many)| format!("{:5} ms {code}: {many}\n", half * 500)).collect()
}

#[test]
fn whatever_of_a_team_fails_nothing_is_lost_doubled_or_stuck() {
    let seed = seed();
    println!("CAMPANILE_SEED={seed} has the same go wrong again");
    let Some(mut chaos) = Chaos::begins() else { return };
    let began = Instant::now();
    for (n, turn) in plan(seed, length()).into_iter().enumerate() {
        // Some need longer than they last; everything goes wrong once at least.
        if began.elapsed() >= length() && n >= KINDS {
            break;
        }
        println!("{:6} ms: {turn:?}", began.elapsed().as_millis());
        chaos.lives_through(turn);
        if n == KINDS / 2 {
            chaos.ledger_is_clean();
        }
    }
    chaos.team.are_shared_by(NODES);
    chaos.team.comes_to_rest(&(0..JOBS).map(name).collect::<Vec<_>>());

    for (node, said) in chaos.team.nodes.iter().map(campanile_tests::campanile::Campanile::all_said).enumerate() {
        let bad = |line: &&str| ["deadlock", "panicked"].iter().any(|word| line.to_lowercase().contains(word));
        let lines: Vec<&str> = said.lines().filter(bad).collect();
        assert!(!said.is_empty() && lines.is_empty(), "node {node} says: {lines:#?}");
    }
    let Chaos { team, town, away } = chaos;
    let reading = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(async { keyspace::read(&town.place()).await })
        .expect("Redis can be read");
    println!("{} keys in Redis", reading.keys);
    assert!(reading.keys > 0 && reading.breaches.is_empty(), "{:?}", reading.breaches);
    let (tasks, counts) = team.agrees();
    went_on(&tasks, &away);
    assert!(counts.tasks > JOBS, "hardly anything ran: {counts:?}");
    receipt("team-chaos");
}

#[test]
fn a_seed_is_an_order_in_which_everything_goes_wrong() {
    let length = Duration::from_secs(90);
    assert_eq!(plan(7, length), plan(7, length));
    assert_ne!(plan(7, length), plan(8, length));
    for seed in 0..50 {
        let all = plan(seed, length);
        let kinds = |of: fn(&Trouble) -> bool| all.iter().filter(|turn| of(&turn.trouble)).count();
        assert!(kinds(|one| matches!(one, Trouble::NodeKilled(_))) >= 2, "seed {seed}");
        assert!(kinds(|one| matches!(one, Trouble::NodeFrozen(_))) >= 1, "seed {seed}");
        for one in [Trouble::RedisFlushed, Trouble::RedisRestarted, Trouble::FailedOver, Trouble::RedisGone] {
            assert!(all.iter().any(|turn| turn.trouble == one), "seed {seed}: no {one:?}");
        }
        assert!(all.iter().any(|turn| turn.trouble == Trouble::DatabaseKilled), "seed {seed}");
    }
}
