//! One simulated world: nodes, executors, people and a store in one process, and what befalls them.
//!
//! A seed decides everything. A world first lives through its troubles; then they end, whoever was
//! down comes back, people stop all jobs, and the checks look at what is left.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::{Coord, LocalCoord};
use campanile_engine::courier::Deliveries;
use campanile_engine::held::HeldTable;
use campanile_engine::link::Said;
use campanile_engine::logs::{LogLine, LogPage, Logs};
use campanile_engine::questions::Questions;
use campanile_engine::roster::Roster;
use campanile_engine::{Desk, Dice, Member, Node, Shared, Shelf, ledger, read_calendars};
use campanile_model::instance::InstanceState;
use campanile_model::job::JobSpec;
use campanile_model::limits::LIMITS;
use campanile_model::request::{Answer, Ask, Person, Role, SaveJob};
use campanile_model::retention::RETENTION;
use campanile_model::schedule::Schedule;
use campanile_model::sharding::LevelState;
use campanile_model::task::{Part, TaskState};
use campanile_model::{Almanac, Fault, InstanceId, JobId, TaskId, Timestamp};
use serde_json::{Value, json};

use crate::checks::{self, Promise, Violation};
use crate::executor::{Deed, Diary, Executor, Script};
use crate::faults::{Forecast, Refusals, Weather};
use crate::link::{Network, NodeLink, Wires};
use crate::meeting::Meeting;
use crate::memory_store::{BrokenPromises, MemoryStore, Stored};
use crate::planned::planned;
use crate::runtime::{Hands, Luck, MachineClock, Runtime, TaskNo};
use crate::sharded;
use crate::staged;

/// 2026-11-21T00:00:00Z
const A_SATURDAY: i64 = 1_795_219_200_000;
const A_DAY: i64 = 86_400_000;

/// Between two looks at what must always hold.
const LOOK_EVERY_MS: i64 = 10_000;

/// Once all is calm somebody carries out what people ask, within this.
const HEARD_WITHIN_MS: i64 = 10_000;

/// Once all is calm the world gets so long to come to rest: a clock may have stood ten minutes ahead when a queue of runs
/// was written that nobody has a processor for, and each of their attempts waits out its timeout.
const REST_WITHIN_MS: i64 = 3_000_000;

/// A rule that the simulation breaks on purpose, in its own parts, to show that it would notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    #[default]
    None,
    /// The store writes a step whatever fence its task shows.
    IgnoresTheFence,
    /// The store accepts a write under any term.
    IgnoresTheTerm,
    /// A launch neither moves `fired_through` nor minds that the firing exists.
    FiresAgain,
    /// A launch drops what it omitted.
    DropsOmissions,
    /// The store counts nothing as held, and claims go through.
    IgnoresBounds,
    /// The link acknowledges ends before they are committed.
    AcknowledgesTooSoon,
    /// Executors start an attempt whenever it is pushed.
    RunsARepeatedPush,
}

/// What became of a world.
pub struct Story {
    pub violations: Vec<Violation>,
    pub last_notes: Vec<String>,
    pub instances: usize,
    pub terms: u64,
    /// What happened in it, and how often.
    pub seen: BTreeMap<String, u64>,
}

/// Runs a world from its seed to its rest; it ends early where a promise is broken.
pub fn live_through(seed: u64, sabotage: Sabotage, aloud: bool) -> Story {
    let mut luck = Luck::new(seed, "world");
    let start = match luck.chance(250) {
        // Its day begins or ends while it lasts: Friday and Sunday are on the other side.
        true => A_SATURDAY + luck.one_of(&[0, 2 * A_DAY]) - luck.between(0, 60_000),
        false => A_SATURDAY + luck.between(0, A_DAY),
    };
    let mut runtime = Runtime::new(seed, start, aloud);
    let world = World::draw(seed, sabotage, &runtime.hands(), &mut luck);
    let outcome = world.clone().run(&mut runtime, &mut luck);
    let violations = outcome.err().unwrap_or_default();
    let stored = world.store.stored();
    Story {
        violations,
        last_notes: runtime.hands().last_notes(),
        instances: stored.instances.len(),
        terms: stored.leases.values().map(|lease| lease.term).max().unwrap_or(0),
        seen: world.count_what_happened(&stored),
    }
}

type Outcome = Result<(), Vec<Violation>>;

/// A way to the meeting place for one more; where there is none each rings for himself.
fn seat(meeting: Option<&Arc<Meeting>>) -> Arc<dyn Coord> {
    meeting.map_or_else(|| Arc::new(LocalCoord::default()) as Arc<dyn Coord>, |meeting| meeting.seat())
}

/// The place of a node: its lives follow one another here.
struct NodePlace {
    node: Mutex<Option<Arc<Node>>>,
    name: String,
    clock: MachineClock,
    weather: Arc<Mutex<Weather>>,
    lives: AtomicU64,
    task: Mutex<Option<TaskNo>>,
}

struct ExecutorPlace {
    executor: Executor,
    lives: AtomicU64,
    task: Mutex<Option<TaskNo>>,
}

struct World {
    seed: u64,
    hands: Hands,
    store: MemoryStore,
    network: Network,
    diary: Diary,
    /// Nodes share the work; otherwise one at a time does all of it.
    team: bool,
    /// Where those of a team meet; without it each looks for the others' work in the store.
    meeting: Option<Arc<Meeting>>,
    nodes: Vec<NodePlace>,
    executors: Vec<ExecutorPlace>,
    /// So many of them, the first, live on their own; the others in the processes of nodes.
    remote: usize,
    people: Desk,
    cli_runs: AtomicU64,
    retention: Option<u64>,
    jobs: Vec<JobSpec>,
    /// Calls that the store refused, or left without an answer.
    refusals: Refusals,
    /// Set when the troubles are over.
    calm: Mutex<bool>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while holding it")
}

/// Does something when it is dropped: what is cut off when a process dies.
struct OnEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

struct NoLogs;

#[async_trait]
impl Logs for NoLogs {
    async fn append(&self, _task: TaskId, _attempt: u32, _lines: &[LogLine]) {}

    async fn read(&self, _task: TaskId, _attempt: u32, _from: i64, _limit: usize) -> Result<LogPage, Fault> {
        Ok(LogPage::default())
    }

    async fn attempts(&self, _task: TaskId) -> Result<Vec<u32>, Fault> {
        Ok(Vec::new())
    }

    async fn remove(&self, _tasks: &[TaskId]) {}

    async fn purge(&self, _before: Timestamp, _most_bytes: u64) {}
}

impl World {
    fn draw(seed: u64, sabotage: Sabotage, hands: &Hands, luck: &mut Luck) -> Arc<World> {
        let store = MemoryStore::new();
        store.stored().broken = BrokenPromises {
            fence: sabotage == Sabotage::IgnoresTheFence,
            term: sabotage == Sabotage::IgnoresTheTerm,
            once: sabotage == Sabotage::FiresAgain,
            omissions: sabotage == Sabotage::DropsOmissions,
            bounds: sabotage == Sabotage::IgnoresBounds,
        };
        let network = Network::new(hands, Luck::new(seed, "network"), sabotage == Sabotage::AcknowledgesTooSoon);
        let diary = Diary::default();
        let script = Script {
            runs_a_repeated_push: sabotage == Sabotage::RunsARepeatedPush,
            transient: luck.one_of(&[0, 50, 200]),
            business: luck.one_of(&[0, 30]),
            system: luck.one_of(&[0, 30]),
            hands_back: luck.one_of(&[0, 30, 150]),
            dawdles: luck.one_of(&[0, 0, 30]),
            long: luck.one_of(&[0, 50]),
            ignores_cancel: luck.one_of(&[0, 100]),
            not_needed: luck.one_of(&[0, 200]),
            says_nothing: luck.one_of(&[0, 100]),
            longest_run_ms: luck.one_of(&[100, 800, 2500]),
        };
        let nodes: Vec<NodePlace> = (0..luck.between(1, 3))
            .map(|n| NodePlace {
                name: format!("node-{n}"),
                clock: MachineClock::new(hands),
                weather: Arc::new(Mutex::new(Weather::CALM)),
                node: Mutex::new(None),
                lives: AtomicU64::new(0),
                task: Mutex::new(None),
            })
            .collect();
        let team = nodes.len() > 1 && Luck::new(seed, "team").chance(500);
        store.stored().team = team;
        let draw_executor = |luck: &mut Luck, name: String, home: Option<String>| {
            let processors: &[&str] = luck.one_of(&[&["alpha", "beta"][..], &["alpha", "beta"], &["alpha"]]);
            let executor = Executor {
                group: "local".to_owned(),
                name,
                home,
                processors: processors.iter().map(|name| (*name).to_owned()).collect(),
                zone: luck.one_of(&["east", "east", "west"]),
                capacity: u32::try_from(luck.between(1, 4)).unwrap_or(1),
                queue: u32::try_from(luck.between(0, 3)).unwrap_or(0),
                hands: hands.clone(),
                network: network.clone(),
                diary: diary.clone(),
                script: Arc::new(Mutex::new(script)),
            };
            ExecutorPlace { executor, lives: AtomicU64::new(0), task: Mutex::new(None) }
        };
        let mut executors: Vec<ExecutorPlace> =
            (0..luck.between(1, 4)).map(|n| draw_executor(luck, format!("hand-{n}"), None)).collect();
        let remote = executors.len();
        if luck.chance(400) {
            // Each program that can hold the data folder brings its own, under the same name; those of a team are
            // there together.
            for node in &nodes {
                let name = if team { format!("embedded-{}", node.name) } else { "embedded".to_owned() };
                executors.push(draw_executor(luck, name, Some(node.name.clone())));
            }
        }
        let meets = team && Luck::new(seed, "meeting place").chance(600);
        let meeting = meets.then(|| Arc::new(Meeting::new(hands)));
        let people = Desk {
            store: Arc::new(store.clone()),
            coord: seat(meeting.as_ref()),
            clock: Arc::new(MachineClock::new(hands)),
            dice: Arc::new(Dice::seeded(luck.number())),
        };
        let mut jobs: Vec<JobSpec> =
            (0..luck.between(2, 6)).map(|n| draw_job(luck, &format!("job-{n}"), hands.now())).collect();
        let mut of_shards = Luck::new(seed, "shards");
        if of_shards.chance(600) {
            jobs.push(draw_sharded_job(&mut of_shards));
        }
        Arc::new(World {
            seed,
            hands: hands.clone(),
            store,
            network,
            diary,
            team,
            meeting,
            nodes,
            executors,
            remote,
            people,
            cli_runs: AtomicU64::new(0),
            retention: luck.one_of(&[None, None, Some(3), Some(20)]),
            jobs,
            refusals: Refusals::default(),
            calm: Mutex::new(false),
        })
    }

    fn run(self: Arc<World>, runtime: &mut Runtime, luck: &mut Luck) -> Outcome {
        for place in 0..self.nodes.len() {
            self.start_node(place);
        }
        for place in 0..self.remote {
            self.start_executor(place);
        }
        let start = self.hands.now();
        let calm_at = start + luck.between(20_000, 120_000);
        self.hands.spawn("people", self.clone().be_people(Luck::new(self.seed, "people"), calm_at));
        let bringing = staged::bring(
            self.people.clone(),
            self.store.clone(),
            mei(),
            self.hands.clone(),
            Luck::new(self.seed, "data"),
            calm_at,
        );
        self.hands.spawn("bringing data", bringing);
        if let Some(meeting) = self.meeting.clone() {
            let luck = Luck::new(self.seed, "silence");
            self.hands.spawn("meeting place", meeting.troubles(self.hands.clone(), luck, calm_at));
        }
        for n in 0..luck.between(1, 2) {
            let luck = Luck::new(self.seed, &format!("trouble {n}"));
            self.hands.spawn(format!("trouble {n}"), self.clone().make_trouble(luck, calm_at));
        }
        self.pass_time(runtime, calm_at)?;

        self.hands.note(|| "all is calm".to_owned());
        self.calm_down();
        self.pass_time(runtime, self.hands.now() + 25_000)?;
        let look = || checks::sleepers(&self.store.stored(), Timestamp::from_millis(self.hands.now()));
        let dozing = look();
        self.pass_time(runtime, self.hands.now() + 3000)?;
        let asleep = look().into_iter().filter(|(job, _)| dozing.contains_key(job));
        let asleep: Vec<Violation> = asleep.map(|(_, what)| Violation { of: Promise::NothingStuck, what }).collect();
        if !asleep.is_empty() {
            return Err(asleep);
        }

        self.hands.spawn("people go home", self.clone().stop_everything());
        self.pass_time(runtime, self.hands.now() + HEARD_WITHIN_MS)?;
        if !self.all_jobs_are_paused() {
            let what = format!("nobody has heard for {HEARD_WITHIN_MS} ms that all jobs are to be paused");
            return Err(vec![Violation { of: Promise::NothingStuck, what }]);
        }
        let rest_by = self.hands.now() + REST_WITHIN_MS;
        loop {
            self.pass_time(runtime, self.hands.now() + LOOK_EVERY_MS)?;
            let at_rest = self.all_jobs_are_paused() && checks::unfinished(&self.store.stored()).is_empty();
            if at_rest || self.hands.now() >= rest_by {
                break;
            }
        }
        // What is acknowledged last is still on its way.
        self.pass_time(runtime, self.hands.now() + LOOK_EVERY_MS)?;
        let mut found = checks::at_rest(&self.store.stored(), &self.diary.entries());
        found.extend(self.ask_the_ledger(runtime)?);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Lets the world go on, and looks at it from time to time.
    fn pass_time(&self, runtime: &mut Runtime, until: i64) -> Outcome {
        loop {
            let next = (self.hands.now() + LOOK_EVERY_MS).min(until);
            runtime.run_until(next).map_err(|spins| {
                let what = format!("'{}' spins", spins.task);
                vec![Violation { of: Promise::TimePasses, what }]
            })?;
            let found = checks::always(&self.store.stored(), &self.diary.entries());
            if !found.is_empty() {
                return Err(found);
            }
            if self.hands.now() >= until {
                return Ok(());
            }
        }
    }

    /// The check that the product itself makes must find nothing either.
    fn ask_the_ledger(&self, runtime: &mut Runtime) -> Result<Vec<Violation>, Vec<Violation>> {
        let told = Arc::new(Mutex::new(None));
        let (store, answer) = (self.store.clone(), told.clone());
        self.hands.spawn("ledger", async move {
            let almanac = almanac().with_calendars(read_calendars(&store).await.expect("the store has no faults"));
            *locked(&answer) = Some(ledger::check_all(&store, &almanac).await);
        });
        self.pass_time(runtime, self.hands.now() + 1)?;
        let report = locked(&told).take().expect("the store answers at once").expect("the store has no faults");
        let stored = self.store.stored();
        let told = report.findings.into_iter().map(|finding| Violation {
            of: Promise::Ledger,
            what: format!(
                "the product's own check: {:?} {}{}",
                finding.at,
                finding.words.en,
                checks::ledger_of(&stored, finding.job)
            ),
        });
        Ok(told.collect())
    }

    // ------------------------------------------------------------- coming and going

    fn start_node(&self, place: usize) {
        let node = &self.nodes[place];
        let mut task = locked(&node.task);
        if task.is_some_and(|task| !self.hands.is_gone(task)) {
            return;
        }
        let life = node.lives.fetch_add(1, Ordering::Relaxed);
        self.hands.note(|| format!("{} starts (life {life})", node.name));
        let link = self.network.node_up(&node.name);
        let shared = self.shared(&node.name, life, node.clock.clone(), node.weather.clone(), link);
        let living = Arc::new(Node::new(shared));
        *locked(&node.node) = Some(living.clone());
        let embedded = self.embedded_in(place);
        let (network, hands, name) = (self.network.clone(), self.hands.clone(), node.name.clone());
        let its_executor = embedded.map(|place| self.begin_executor(place));
        *task = Some(self.hands.spawn(node.name.clone(), async move {
            let _cut = OnEnd(move || {
                network.node_down(&name);
                if let Some(executor) = its_executor {
                    hands.kill(executor);
                }
            });
            match living.run().await {}
        }));
    }

    fn shared(
        &self,
        name: &str,
        life: u64,
        clock: MachineClock,
        weather: Arc<Mutex<Weather>>,
        link: Arc<NodeLink>,
    ) -> Shared {
        let luck = |of: &str| Luck::new(self.seed, &format!("{name} {life} {of}"));
        let forecast = Forecast::new(&self.hands, name, luck("store"), weather, self.refusals.clone());
        Shared {
            node: name.to_owned(),
            member: Mutex::new(self.team.then(|| Member { name: name.to_owned(), ..Member::default() })),
            store: Arc::new(self.store.connect(Arc::new(forecast))),
            coord: seat(self.meeting.as_ref()),
            clock: Arc::new(clock),
            dice: Arc::new(Dice::seeded(luck("dice").number())),
            link,
            logs: Arc::new(NoLogs),
            events: Arc::default(),
            shelf: Arc::new(Shelf::new(almanac())),
            roster: Roster::default(),
            held: HeldTable::default(),
            questions: Questions::default(),
            deliveries: Deliveries::default(),
            trouble: Mutex::new(None),
        }
    }

    /// The executor that lives in a node's process.
    fn embedded_in(&self, node: usize) -> Option<usize> {
        Some(self.remote + node).filter(|place| *place < self.executors.len())
    }

    fn node_task(&self, place: usize) -> Option<TaskNo> {
        locked(&self.nodes[place].task).filter(|task| !self.hands.is_gone(*task))
    }

    fn start_executor(&self, place: usize) {
        if self.executor_task(place).is_none() {
            self.begin_executor(place);
        }
    }

    fn begin_executor(&self, place: usize) -> TaskNo {
        let at = &self.executors[place];
        let life = at.lives.fetch_add(1, Ordering::Relaxed);
        let home = at.executor.home.as_deref().unwrap_or_default();
        let boot = format!("{}{home}#{life}", at.executor.name);
        self.hands.note(|| format!("{boot} starts"));
        let luck = Luck::new(self.seed, &boot);
        let (executor, network, its_boot) = (at.executor.clone(), self.network.clone(), boot.clone());
        let task = self.hands.spawn(boot.clone(), async move {
            let _cut = OnEnd(move || network.executor_down(&its_boot));
            executor.live(boot, luck).await;
        });
        *locked(&at.task) = Some(task);
        task
    }

    fn executor_task(&self, place: usize) -> Option<TaskNo> {
        locked(&self.executors[place].task).filter(|task| !self.hands.is_gone(*task))
    }

    fn is_calm(&self) -> bool {
        *locked(&self.calm)
    }

    /// Everything that troubled the world ends, and whoever is down comes back.
    fn calm_down(&self) {
        *locked(&self.calm) = true;
        self.network.set_wires(Wires::CALM);
        for place in 0..self.nodes.len() {
            *locked(&self.nodes[place].weather) = Weather::CALM;
            self.nodes[place].clock.set_offset(0);
            self.nodes[place].clock.set_uncertainty(0);
            self.start_node(place);
        }
        for (place, at) in self.executors.iter().enumerate() {
            self.network.cut_off(&at.executor.name, 0);
            let mut script = locked(&at.executor.script);
            *script = Script { runs_a_repeated_push: script.runs_a_repeated_push, ..Script::CALM };
            drop(script);
            if place < self.remote {
                self.start_executor(place);
            }
        }
    }

    // ------------------------------------------------------------------- troubles

    async fn make_trouble(self: Arc<World>, mut luck: Luck, calm_at: i64) {
        let rarely = luck.one_of(&[9000, 9000, 3000, 800]);
        loop {
            self.hands.sleep(luck.between(100, rarely)).await;
            if self.hands.now() >= calm_at {
                return;
            }
            self.trouble(&mut luck, calm_at);
        }
    }

    fn trouble(self: &Arc<World>, luck: &mut Luck, calm_at: i64) {
        let node = luck.index(self.nodes.len());
        let hand = luck.index(self.remote);
        let now = self.hands.now();
        match luck.index(14) {
            0..=2 => {
                // At whatever await it stands after so many polls.
                let Some(task) = self.node_task(node) else { return };
                let polls = u32::try_from(luck.between(1, 600)).unwrap_or(1);
                let name = self.nodes[node].name.clone();
                self.hands.note(|| format!("{name} will die after {polls} polls"));
                self.hands.kill_after(task, polls);
                let world = self.clone();
                let away = luck.between(1000, 15_000);
                self.hands.spawn("restart", async move {
                    world.hands.sleep(away).await;
                    world.hands.kill(task);
                    world.hands.step_aside().await;
                    world.start_node(node);
                });
            }
            3 => {
                let Some(task) = self.node_task(node) else { return };
                let until = (now + luck.one_of(&[500, 2500, 4000, 12_000])).min(calm_at);
                self.hands.note(|| format!("{} stands still for {} ms", self.nodes[node].name, until - now));
                self.hands.pause(task, until);
                if let Some(its_executor) = self.embedded_in(node).and_then(|place| self.executor_task(place)) {
                    self.hands.pause(its_executor, until);
                }
            }
            4 => {
                let sizes: &[i64] = &[50, 1500, 5000, 30_000, 30_000, 600_000];
                let size = luck.one_of(sizes);
                let offset = luck.between(-size, size);
                if self.team {
                    // It goes by the store's time, and knows when it may be wrong about it.
                    let uncertain = size.min(3000);
                    self.hands.note(|| format!("{} is not sure what time it is", self.nodes[node].name));
                    self.nodes[node].clock.set_offset(offset.clamp(-200, 200));
                    self.nodes[node].clock.set_uncertainty(uncertain);
                    let world = self.clone();
                    let lasts = luck.between(500, 10_000);
                    self.hands.spawn("measuring", async move {
                        world.hands.sleep(lasts).await;
                        world.nodes[node].clock.set_offset(0);
                        world.nodes[node].clock.set_uncertainty(0);
                    });
                    return;
                }
                self.hands.note(|| format!("{}'s clock is {offset} ms ahead", self.nodes[node].name));
                self.nodes[node].clock.set_offset(offset);
            }
            5 | 6 => {
                let weather = Weather {
                    slowest_ms: luck.one_of(&[0, 5, 80, 1500]),
                    fails_before: luck.one_of(&[0, 20, 300]),
                    fails_after: luck.one_of(&[0, 20, 200]),
                };
                self.hands.note(|| format!("{}'s store: {weather:?}", self.nodes[node].name));
                *locked(&self.nodes[node].weather) = weather;
                let world = self.clone();
                let lasts = luck.between(500, 10_000);
                self.hands.spawn("clearing", async move {
                    world.hands.sleep(lasts).await;
                    *locked(&world.nodes[node].weather) = Weather::CALM;
                });
            }
            7 => {
                let lasts = luck.one_of(&[0, 300, 2000, 5000, 15_000]);
                let name = &self.executors[hand].executor.name;
                self.hands.note(|| format!("{name} is cut off for {lasts} ms"));
                self.network.cut_off(name, (now + lasts).min(calm_at));
            }
            8 => {
                let wires = Wires {
                    slowest_ms: luck.one_of(&[3, 40, 900]),
                    repeats: luck.one_of(&[0, 100, 500]),
                    breaks: luck.one_of(&[0, 5, 40]),
                };
                self.hands.note(|| format!("{wires:?}"));
                self.network.set_wires(wires);
            }
            9 | 10 => {
                let Some(task) = self.executor_task(hand) else { return };
                let away = luck.one_of(&[10, 500, 2500, 8000, 30_000]);
                self.hands.note(|| format!("{} dies", self.executors[hand].executor.name));
                self.hands.kill(task);
                let world = self.clone();
                self.hands.spawn("restart", async move {
                    world.hands.sleep(away).await;
                    world.start_executor(hand);
                });
            }
            11 => {
                let Some(task) = self.executor_task(hand) else { return };
                let until = (now + luck.one_of(&[800, 2900, 3100, 8000, 20_000])).min(calm_at);
                self.hands.note(|| format!("{} freezes for {} ms", self.executors[hand].executor.name, until - now));
                self.hands.pause(task, until);
            }
            12 => {
                // It is asked to leave, and gives its lease up.
                let Some(task) = self.node_task(node) else { return };
                self.hands.note(|| format!("{} leaves", self.nodes[node].name));
                let leaving = locked(&self.nodes[node].node).take();
                let world = self.clone();
                let away = luck.between(10, 8000);
                self.hands.spawn("leave", async move {
                    world.hands.kill(task);
                    world.hands.step_aside().await;
                    if let Some(leaving) = leaving {
                        let left = leaving.step_down().await;
                        world.hands.note(|| format!("{} has left: {left:?}", world.nodes[node].name));
                    }
                    world.hands.sleep(away).await;
                    world.start_node(node);
                });
            }
            _ => {
                // The machine sleeps with everyone on it.
                let until = (now + luck.one_of(&[5000, 20_000, 70_000])).min(calm_at);
                self.hands.note(|| format!("everything sleeps for {} ms", until - now));
                let nodes = (0..self.nodes.len()).filter_map(|place| self.node_task(place));
                let hands = (0..self.executors.len()).filter_map(|place| self.executor_task(place));
                for task in nodes.chain(hands) {
                    self.hands.pause(task, until);
                }
            }
        }
    }

    // --------------------------------------------------------------------- people

    async fn be_people(self: Arc<World>, mut luck: Luck, calm_at: i64) {
        if let Some(kept) = self.retention {
            let value = json!({"instancesPerJob": kept});
            self.ask(Ask::Set { key: RETENTION.to_owned(), value }).await;
        }
        self.ask(teams_calendar(false)).await;
        for spec in &self.jobs {
            self.ask(Ask::SaveJobs { jobs: vec![SaveJob { spec: spec.clone(), job: None, seen_version: None }] }).await;
            self.hands.sleep(luck.between(0, 1500)).await;
        }
        let rarely = luck.one_of(&[6000, 6000, 1000]);
        while self.hands.now() < calm_at {
            self.hands.sleep(luck.between(100, rarely)).await;
            if luck.chance(100) {
                self.clerk_for_once();
            }
            if let Some(ask) = self.draw_wish(&mut luck) {
                self.ask(ask).await;
            }
        }
    }

    async fn ask(&self, ask: Ask) {
        self.hands.note(|| format!("people ask: {}", brief_ask(&ask)));
        let answer = self.people.ask(&mei(), ask, Duration::from_secs(5)).await;
        self.hands.note(|| match answer {
            Ok(done) => format!("people are told: {} changed", done.changed),
            Err(fault) => format!("people are told: {}", fault.message.en),
        });
    }

    /// A command that finds nobody leading carries out by itself what was asked.
    fn clerk_for_once(&self) {
        let run = self.cli_runs.fetch_add(1, Ordering::Relaxed);
        let name = format!("command-{run}");
        let link = self.network.nobodys_link();
        let weather = Arc::new(Mutex::new(Weather::CALM));
        let node = Node::new(self.shared(&name, 0, MachineClock::new(&self.hands), weather, link));
        let hands = self.hands.clone();
        self.hands.spawn(name.clone(), async move {
            let done = node.clerk_once().await;
            hands.note(|| format!("{name} carried requests out: {done:?}"));
        });
    }

    fn draw_wish(&self, luck: &mut Luck) -> Option<Ask> {
        let stored = self.store.stored();
        let jobs: Vec<JobId> = stored.jobs.iter().filter(|(_, row)| !row.removed).map(|(id, _)| *id).collect();
        if jobs.is_empty() {
            return None;
        }
        let job = luck.one_of(&jobs);
        let in_state = |luck: &mut Luck, is: fn(InstanceState) -> bool| -> Option<InstanceId> {
            let found: Vec<InstanceId> = stored
                .instances_in_order()
                .into_iter()
                .rev()
                .filter(|instance| is(instance.state))
                .map(|instance| instance.id)
                .take(8)
                .collect();
            if found.is_empty() { None } else { Some(luck.one_of(&found)) }
        };
        let ask = match luck.index(16) {
            0..=2 => Ask::RunJobs {
                jobs: vec![job],
                parameters: None,
                beside: luck.chance(300),
                repeats: None,
                executor: None,
            },
            3 | 4 => {
                let instance = in_state(luck, |state| !state.is_final())?;
                let shards = sharded::marked(luck, stored.sharded.get(&instance));
                Ask::CancelInstance { instance, shards }
            }
            5 => {
                let instance =
                    in_state(luck, |state| matches!(state, InstanceState::Failed | InstanceState::Cancelled))?;
                let shards = sharded::marked(luck, stored.sharded.get(&instance));
                Ask::RetryInstance { instance, shards }
            }
            6 => Ask::PauseJobs { jobs: vec![job] },
            7 => Ask::ResumeJobs { jobs },
            8 => Ask::Hold { reason: "a look at the database".to_owned() },
            9 if luck.chance(300) => Ask::Set {
                key: LIMITS.to_owned(),
                value: luck.one_of(&[
                    json!({}),
                    json!({"node": 4}),
                    json!({"tenants": {"acme": 1}}),
                    json!({"groups": {"local": 2}, "tenants": {"acme": 2}}),
                ]),
            },
            9 => Ask::Release,
            11 => {
                let open: Vec<_> =
                    stored.questions.iter().filter(|one| one.answer.is_none()).map(|one| one.id).collect();
                if open.is_empty() {
                    return None;
                }
                Ask::AnswerQuestions { questions: vec![luck.one_of(&open)], run: luck.chance(700) }
            }
            12 => {
                let to = self.hands.now() - luck.between(0, 5000);
                let from = to - luck.between(1000, 20_000);
                Ask::Backfill { job, from: Timestamp::from_millis(from), to: Timestamp::from_millis(to) }
            }
            13 => {
                let open: Vec<_> =
                    stored.backfills.iter().filter(|one| one.ended.is_none()).map(|one| one.id).collect();
                if open.is_empty() || luck.chance(500) {
                    // One of a few: now and then it is renewed.
                    let digest = format!("{:064x}", stored.passes.len() % 4);
                    return Some(Ask::GivePass { digest });
                }
                Ask::CancelBackfill { backfill: luck.one_of(&open) }
            }
            10 if luck.chance(300) => teams_calendar(luck.chance(500)),
            10 if luck.chance(150) => Ask::RemoveJobs { jobs: vec![job] },
            14 => {
                let known: Vec<_> = stored.executors.iter().map(|(name, (_, drain))| (name, drain.is_some())).collect();
                if known.is_empty() {
                    return None;
                }
                let ((group, name), drained) = luck.one_of(&known);
                let (group, name) = (group.clone(), name.clone());
                match drained {
                    true => Ask::ResumeExecutor { group, name },
                    false => Ask::DrainExecutor { group, name, reason: "a new disk".to_owned() },
                }
            }
            _ => {
                let row = &stored.jobs[&job].job;
                let spec = draw_job(luck, &row.spec.name, self.hands.now());
                Ask::SaveJobs { jobs: vec![SaveJob { spec, job: Some(job), seen_version: Some(row.version) }] }
            }
        };
        Some(ask)
    }

    /// Lifts the hold and pauses every job, however often it takes.
    async fn stop_everything(self: Arc<World>) {
        self.ask(Ask::Release).await;
        let drained: Vec<_> = {
            let stored = self.store.stored();
            stored.executors.iter().filter(|(_, (_, drain))| drain.is_some()).map(|(name, _)| name.clone()).collect()
        };
        for (group, name) in drained {
            self.ask(Ask::ResumeExecutor { group, name }).await;
        }
        while !self.all_jobs_are_paused() {
            let jobs = self.store.stored().jobs.iter().filter(|(_, row)| !row.removed).map(|(id, _)| *id).collect();
            self.ask(Ask::PauseJobs { jobs }).await;
        }
    }

    /// What the world went through: a rule that no world ever comes to is not tested by any.
    fn count_what_happened(&self, stored: &Stored) -> BTreeMap<String, u64> {
        let mut seen: BTreeMap<String, u64> = locked(&self.refusals).clone();
        let mut count = |what: String| *seen.entry(what).or_default() += 1;
        if self.meeting.as_ref().is_some_and(|meeting| meeting.handed() > 0) {
            count("handed out by lanes".to_owned());
        }
        for entry in stored.history.values().flatten() {
            count(match entry.from == entry.to {
                true => "finished too late".to_owned(),
                false => format!("{} → {}", entry.from.code(), entry.to.code()),
            });
        }
        for omission in stored.omissions.values().flatten() {
            count(format!("omitted: {}", omission.reason.name()));
        }
        for instance in stored.instances.values() {
            count(format!("instance {}", instance.row.state));
            count(format!("origin {}", instance.row.origin.name()));
        }
        for task in stored.tasks.values() {
            if task.row.promotions > 0 {
                count("promoted".to_owned());
            }
            if task.row.handed_back > 1 {
                count("handed back again".to_owned());
            }
            if let Some(placed) = &task.row.needs.placed {
                count(format!("placed {}", if placed.firm { "firmly" } else { "softly" }));
            }
            match task.row.part {
                None if task.row.limits.of_several => count("broadcast".to_owned()),
                None => {}
                Some(Part::PreProcess { whole: true, .. }) => count("data given by pre_process".to_owned()),
                Some(Part::PreProcess { .. }) => count("pre_process".to_owned()),
                Some(Part::Notify { .. }) => count("notice".to_owned()),
                Some(Part::PostProcess { .. }) => count("post_process".to_owned()),
                Some(Part::Shard { done, .. }) => {
                    if done > 0 && task.row.attempt() > 1 {
                        count("shard goes on".to_owned());
                    }
                    let lost = stored
                        .history
                        .get(&task.row.id)
                        .is_some_and(|history| history.iter().any(|entry| entry.to == TaskState::ExecutorLost));
                    if lost {
                        count("shard lost".to_owned());
                    }
                }
            }
        }
        for sharded in stored.sharded.values() {
            if sharded.run.round > 1 {
                count("a further round".to_owned());
            }
            if sharded.run.again.is_some() {
                count("a round of marked shards".to_owned());
            }
            if sharded.run.stopping {
                count("run stopped".to_owned());
                let begun = sharded.pieces.values().any(|(_, said)| said.marks().contains(['+', '-']));
                let rest = sharded.levels.values().any(|level| level.state == LevelState::Cancelled);
                if begun && rest {
                    count("run stopped in the middle".to_owned());
                }
            }
            for seen in &sharded.seen {
                count((*seen).to_owned());
            }
            if sharded.run.loaded && stored.staged.values().any(|(data, _)| data.instance == Some(sharded.run.instance))
            {
                count("data taken whole".to_owned());
            }
            for level in sharded.levels.values() {
                count(format!("level {}", level.state.name()));
            }
        }
        for (what, times) in &stored.full {
            for _ in 0..*times {
                count(format!("full {what}"));
            }
        }
        for instance in stored.instances.values() {
            if let Some(failure) = &instance.row.failure {
                count(format!("instance says {}", failure.code));
            }
        }
        for write in &stored.writes {
            count(format!("wrote {}", write.op));
            let kind = write.lead.lease.split('/').next().unwrap_or_default();
            if self.team && write.lead.term > 1 {
                count(format!("led anew: {kind}"));
            }
        }
        for entry in self.diary.entries().iter() {
            count(match &entry.deed {
                Deed::Began => "began".to_owned(),
                Deed::Ended(Said::Failed(failure)) => format!("failed {:?}", failure.class),
                Deed::Ended(Said::Cancelled) => "stopped".to_owned(),
                Deed::Ended(_) => "succeeded".to_owned(),
                Deed::EndAcknowledged(_) | Deed::ItemsAcknowledged(_) => "acknowledged".to_owned(),
                Deed::GotItems(_) => "shard".to_owned(),
                Deed::SawEnds(_) => "ends of shards".to_owned(),
            });
        }
        for (request, answer) in &stored.answers {
            let name = stored.requests.get(request).map_or("purged", |request| match &request.row.ask {
                Ask::CancelInstance { shards, .. } if !shards.is_empty() => "cancelMarked",
                ask => ask.name(),
            });
            let answer = if matches!(answer, Answer::Done(_)) { "done" } else { "refused" };
            count(format!("{name} {answer}"));
        }
        if !stored.gone.is_empty() {
            count("purged".to_owned());
        }
        seen
    }

    fn all_jobs_are_paused(&self) -> bool {
        self.is_calm() && self.store.stored().jobs.values().all(|row| row.removed || row.job.paused)
    }
}

fn mei() -> Person {
    Person { name: "mei".to_owned(), role: Role::Admin }
}

fn brief_ask(ask: &Ask) -> String {
    match ask {
        Ask::SaveJobs { jobs } => {
            let saved: Vec<String> =
                jobs.iter().map(|save| format!("{} as {:?}", save.spec.name, save.spec.schedule)).collect();
            format!("save {}", saved.join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// What the program carries is the same for all worlds.
pub fn almanac() -> Almanac {
    static ALMANAC: std::sync::OnceLock<Almanac> = std::sync::OnceLock::new();
    ALMANAC.get_or_init(Almanac::bundled).clone()
}

/// The calendar that the worlds' people edit; `weekend`: they work on the Saturday and the Sunday of these worlds.
pub const TEAM: &str = "team";

fn teams_calendar(weekend: bool) -> Ask {
    let days = match weekend {
        true => json!([{"date": "2026-11-21", "kind": "work"}, {"date": "2026-11-22", "kind": "work"}]),
        false => json!([]),
    };
    let calendar = json!({"name": TEAM, "base": "weekdays", "layers": [{"name": "team", "days": days}]});
    let calendar = serde_json::from_value(calendar).expect("a calendar that a person could have written");
    Ask::PutCalendar { calendar: Box::new(calendar), seen_revision: None }
}

/// A job of any kind that works, with policies of any kind.
fn draw_job(luck: &mut Luck, name: &str, now: i64) -> JobSpec {
    let every = luck.one_of(&[1, 2, 3, 5, 10]);
    let soon = now + luck.between(2000, 40_000);
    let schedule: Value = match luck.index(10) {
        0 | 1 => json!({
            "kind": "cron", "dialect": "seconds", "timeZone": "UTC",
            "expression": format!("*/{every} * * * * *"),
        }),
        2 => json!({
            "kind": "cron", "dialect": "seconds", "timeZone": "UTC",
            "expression": format!("{} * * * * *", luck.between(0, 59)),
        }),
        3 => json!({"kind": "fixedRate", "everySeconds": every, "startTime": luck.one_of(&[Value::Null, json!(soon)])}),
        4 => json!({"kind": "fixedDelay", "everySeconds": every}),
        5 => json!({"kind": "once", "at": soon}),
        6 => json!({
            "kind": "repeat", "timeZone": "UTC", "startTime": luck.one_of(&[soon, soon - 3_600_000]),
            "repeatLevel": luck.one_of(&["hour", "day"]), "repeatInterval": 1,
        }),
        7 | 8 => {
            let others: Vec<String> =
                (0..6).map(|n| format!("job-{n}")).filter(|other| other != name && luck.chance(400)).collect();
            match others.is_empty() {
                true => json!({"kind": "manual"}),
                false => json!({
                    "kind": "after", "jobs": others,
                    "on": luck.one_of(&["success", "success", "failure", "done"]),
                    "need": luck.one_of(&["any", "any", "all"]),
                }),
            }
        }
        _ => json!({"kind": "manual"}),
    };
    let overlap = luck.one_of(&["allow", "skip", "queue", "replace"]);
    let supersede = (overlap == "queue" && luck.chance(500)).then_some("latest");
    let exceptions = draw_exceptions(luck, &schedule, now);
    let route = luck.one_of(&["leastLoaded", "roundRobin", "random", "consistentHash", "sticky"]);
    let by_clock = schedule["kind"] != "manual" && schedule["kind"] != "after";
    let document = json!({
        "name": name,
        "schedule": schedule,
        "exceptions": exceptions,
        "calendar": luck.one_of(&[Value::Null, json!(TEAM)]),
        "onNonWorkday": if by_clock { luck.one_of(&["run", "run", "skip"]) } else { "run" },
        "spreadSeconds": luck.one_of(&[0, 0, 0, 2, 5]),
        "processor": luck.one_of(&["alpha", "alpha", "beta"]),
        "overlap": overlap,
        "supersede": supersede,
        "blackouts": draw_blackouts(luck, now),
        "misfire": {
            "policy": luck.one_of(&["skip", "fireOnce", "catchUp", "ask"]),
            "graceSeconds": luck.one_of(&[1, 5, 60]),
            "max": luck.between(1, 5),
        },
        "mode": luck.one_of(&["unicast", "unicast", "unicast", "broadcast"]),
        "route": route,
        "hashKey": if route == "consistentHash" { json!("customer") } else { Value::Null },
        "labels": luck.one_of(&[json!({}), json!({}), json!({}), json!({"zone": "east"}), json!({"zone": "west"})]),
        "parameters": {"customer": luck.between(0, 9), "day": "{{planned.date}}"},
        "maxConcurrent": luck.one_of(&[Value::Null, Value::Null, json!(1), json!(2)]),
        "tenant": luck.one_of(&[Value::Null, json!("acme")]),
        "expiresAfterSeconds": luck.one_of(&[Value::Null, Value::Null, json!(3), json!(20)]),
        "stillNeeded": luck.one_of(&[Value::Null, Value::Null, json!({"ask": "processor"})]),
        "priority": luck.one_of(&["immediate", "high", "normal", "low"]),
        "timeoutSeconds": luck.one_of(&[Value::Null, json!(1), json!(4)]),
        "overrun": luck.one_of(&["note", "kill"]),
        "retry": {"retries": luck.between(0, 3), "baseSeconds": 0.5, "maxSeconds": 4.0, "multiplier": 2.0},
        "readyTimeoutSeconds": luck.one_of(&[5, 20]),
        "pushTimeoutSeconds": luck.one_of(&[2, 10]),
    });
    serde_json::from_value(document).expect("a document that a person could have written")
}

/// A window of the job's own, soon; or none.
fn draw_blackouts(luck: &mut Luck, now: i64) -> Vec<Value> {
    if luck.chance(700) {
        return Vec::new();
    }
    let from = now + luck.between(0, 30_000);
    vec![json!({"from": from, "until": from + luck.one_of(&[3000, 10_000, 40_000])})]
}

/// One whose runs are cut into shards.
fn draw_sharded_job(luck: &mut Luck) -> JobSpec {
    let levels = luck.between(0, 3);
    let data: Vec<Vec<i64>> = (0..levels).map(|_| (0..luck.between(0, 30)).collect()).collect();
    let min = luck.between(1, 4);
    let document = json!({
        "name": "shards",
        "schedule": {"kind": "fixedRate", "everySeconds": luck.one_of(&[5, 10, 20])},
        "processor": luck.one_of(&["alpha", "alpha", "beta"]),
        "mode": "sharding",
        "shardMaxSize": min + luck.one_of(&[0, 3, 20]),
        "shardMinSize": min,
        "onLevelFailure": luck.one_of(&["stop", "continue"]),
        "notifyStep": luck.one_of(&[1, 10, 50]),
        "parameters": {"data": data, "part": "{{shard.index}} of {{shard.count}}"},
        "overlap": luck.one_of(&["skip", "queue", "replace", "allow"]),
        "labels": luck.one_of(&[json!({}), json!({}), json!({"zone": "east"})]),
        "timeoutSeconds": luck.one_of(&[Value::Null, json!(4)]),
        "overrun": luck.one_of(&["note", "kill"]),
        "retry": {"retries": luck.between(0, 2), "baseSeconds": 0.5, "maxSeconds": 4.0, "multiplier": 2.0},
        "readyTimeoutSeconds": luck.one_of(&[5, 20]),
        "pushTimeoutSeconds": luck.one_of(&[2, 10]),
    });
    serde_json::from_value(document).expect("a document that a person could have written")
}

/// Single occurrences skipped and added, where the schedule says beforehand when they are.
fn draw_exceptions(luck: &mut Luck, schedule: &Value, now: i64) -> Vec<Value> {
    let (now, soon) = (Timestamp::from_millis(now), Timestamp::from_millis(now + 40_000));
    let schedule = Schedule::from_document(schedule).expect("it was drawn so");
    if matches!(schedule, Schedule::FixedDelay(_) | Schedule::After(_)) || luck.chance(600) {
        return Vec::new();
    }
    let times = planned(&schedule, now, now, soon).unwrap_or_default();
    let mut drawn = vec![json!({"change": "added", "at": luck.between(now.millis() + 1000, soon.millis())})];
    if !times.is_empty() {
        drawn.push(json!({"change": "skip", "planned": luck.one_of(&times)}));
    }
    drawn
}
