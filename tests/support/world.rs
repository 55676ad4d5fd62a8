//! A whole node on a real SQLite file, on time that moves when the story says so.
//!
//! One world is one data folder with one program on it or more, executors that do as they are told, and people who ask.
//! When a story has been told, the ledger must be clean and no attempt may have begun twice.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use campanile_coord::Bell;
use campanile_engine::courier::Deliveries;
use campanile_engine::events::Events;
use campanile_engine::held::{HeldTable, HoldCause};
use campanile_engine::questions::Questions;
use campanile_engine::roster::Roster;
use campanile_engine::{Clock as _, Desk, Dice, ENGINE_LEASE, Node, Shared, Shelf, Standing, ledger, read_calendars};
use campanile_model::alarm::{Alarm, AlarmRule};
use campanile_model::instance::{Instance, InstanceState, Omission};
use campanile_model::job::{Job, JobSpec};
use campanile_model::request::{Answer, Ask, AuditEntry, Done, Person, Request, Role, SaveJob};
use campanile_model::sharding::Selection;
use campanile_model::task::{Task, TaskState};
use campanile_model::{AlarmId, Almanac, Fault, InstanceId, JobId, Timestamp};
use campanile_store::{
    AlarmStore as _, Archive as _, HistoryEntry, InstanceFilter, JobStore as _, LeaseStore as _, RequestStore as _,
    Store, TaskStore as _,
};
use campanile_store_sqlite::SqliteStore;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::actor::{Actor, Begun};
use crate::clock::ManualClock;
use crate::logs::MemoryLogs;
use crate::stillness::{CountedBells, Ear, Pulse};

/// Monday.
pub const BEGINNING: &str = "2026-03-02T00:00:00Z";

/// A node that leads has eight officers at rest, and one who renews the lease.
const ASLEEP_WHILE_LEADING: usize = 9;

/// Turns that everyone gets before a world without motion is said to be still.
const TURNS: u32 = 12;

/// Longest that anything may take in real time: only a story that goes wrong ever waits so long.
const NEVER_SO_LONG: Duration = Duration::from_secs(180);

/// Where something changes without a pulse (a statement that SQLite is at), it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// How far time goes at once, so that heartbeats come as they do in life.
const STEP_MS: i64 = 1000;

/// One program on the data folder.
pub struct Program {
    pub name: String,
    pub store: Arc<SqliteStore>,
    pub node: Arc<Node>,
    pub logs: Arc<MemoryLogs>,
    pub events: Arc<Events>,
    clock: Arc<ManualClock>,
    coord: Arc<CountedBells>,
    ear: Arc<Ear>,
    dice: Arc<Dice>,
    running: Option<JoinHandle<()>>,
}

impl Program {
    async fn open(world: &Sky, name: &str, seed: u64) -> Program {
        let store = Arc::new(SqliteStore::open(&world.folder.path().join("campanile.db")).await.expect("a database"));
        let clock = Arc::new(world.clock.beside());
        let coord = Arc::new(CountedBells::new(world.pulse.clone()));
        let ear = Arc::new(Ear::new(world.pulse.clone()));
        let dice = Arc::new(Dice::seeded(seed));
        let events = Arc::new(Events::default());
        let node = Arc::new(Node::new(Shared {
            node: name.to_owned(),
            member: Mutex::new(None),
            store: store.clone(),
            coord: coord.clone(),
            clock: clock.clone(),
            dice: dice.clone(),
            link: ear.clone(),
            logs: world.logs.clone(),
            events: events.clone(),
            shelf: Arc::new(Shelf::new(world.almanac.clone())),
            roster: Roster::default(),
            held: HeldTable::default(),
            questions: Questions::default(),
            deliveries: Deliveries::default(),
            trouble: Mutex::default(),
        }));
        let logs = world.logs.clone();
        Program { name: name.to_owned(), store, node, logs, events, clock, coord, ear, dice, running: None }
    }

    fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub fn leads(&self) -> bool {
        self.is_running() && self.node.standing() == Standing::Leading
    }

    fn is_still(&self) -> bool {
        if !self.is_running() {
            return true;
        }
        match self.node.standing() {
            Standing::Leading => {
                let unheard = Bell::ALL.into_iter().any(|bell| bell != Bell::Answers && self.coord.is_unheard(bell));
                self.clock.asleep() >= ASLEEP_WHILE_LEADING && !unheard && self.ear.is_listening()
            }
            Standing::Standby => self.clock.asleep() >= 1 && self.ear.is_listening(),
            Standing::Unknown => false,
        }
    }

    /// As a command does: with nobody leading, holds the lease just long enough to have this carried out. None: someone
    /// leads, and will do it.
    pub async fn carries_out_alone(&self, ask: Ask) -> Option<Answer> {
        let now = self.clock.now();
        let id = self.dice.request_id(now);
        let who = Person { name: "mei".to_owned(), role: Role::Admin };
        self.store.ask(&Request { id, who, ask, asked_at: now }).await.expect("it is written down");
        let carried = self.node.clerk_once().await.expect("storage answers");
        let answer = self.store.answer(id).await.expect("storage answers");
        assert_eq!(carried, answer.is_some(), "whoever carries out answers");
        answer
    }

    /// The place where it would meet others falls silent, or speaks again.
    pub fn meets_nobody(&self, silent: bool) {
        self.coord.falls_silent(silent);
    }

    fn motion(&self) -> String {
        format!(
            "{}: {:?}, {} asleep, listening {}, unheard {:?}",
            self.name,
            self.node.standing(),
            self.clock.asleep(),
            self.ear.is_listening(),
            Bell::ALL.into_iter().filter(|bell| self.coord.is_unheard(*bell)).collect::<Vec<_>>(),
        )
    }
}

/// What all programs of a world share.
struct Sky {
    folder: tempfile::TempDir,
    clock: ManualClock,
    pulse: Arc<Pulse>,
    almanac: Almanac,
    logs: Arc<MemoryLogs>,
}

pub struct World {
    sky: Sky,
    pub programs: Vec<Program>,
    pub executors: Vec<Actor>,
    begun: Arc<Begun>,
    lives: u64,
}

/// Tells one story: a world with a node that leads and one executor that succeeds in everything. Afterwards the ledger
/// has to be clean.
pub async fn story(tell: impl AsyncFnOnce(&mut World)) {
    let mut world = Box::pin(World::new()).await;
    world.executor("one");
    Box::pin(world.rests()).await;
    Box::pin(tell(&mut world)).await;
    Box::pin(world.ends()).await;
}

impl World {
    /// One program, which leads, and nobody else.
    pub async fn new() -> World {
        let pulse = Arc::new(Pulse::default());
        let start: Timestamp = BEGINNING.parse().expect("a time");
        let sky = Sky {
            folder: tempfile::tempdir().expect("a folder"),
            clock: ManualClock::new(start, pulse.clone()),
            pulse,
            almanac: Almanac::bundled(),
            logs: Arc::default(),
        };
        let mut world = World { sky, programs: Vec::new(), executors: Vec::new(), begun: Arc::default(), lives: 0 };
        world.program_starts("first").await;
        world
    }

    // Time.

    pub fn now(&self) -> Timestamp {
        self.sky.clock.now()
    }

    /// A moment after the beginning of the world.
    pub fn at(&self, seconds: i64) -> Timestamp {
        let start: Timestamp = BEGINNING.parse().expect("a time");
        start.plus_seconds(seconds)
    }

    /// Time passes, a second at a go, and everyone does what is theirs to do at each.
    pub async fn advance(&mut self, seconds: impl Into<f64>) {
        let millis = (seconds.into() * 1000.0).round() as i64;
        let until = self.now().plus_millis(millis);
        self.rests().await;
        while self.now() < until {
            self.sky.clock.set(until.min(self.now().plus_millis(STEP_MS)));
            self.rests().await;
        }
    }

    pub async fn advance_to(&mut self, moment: Timestamp) {
        let millis = moment.millis() - self.now().millis();
        assert!(millis >= 0, "{moment} has passed");
        self.advance(millis as f64 / 1000.0).await;
    }

    /// Time passes at once, as for a machine that was asleep: nobody did anything meanwhile, and executors are the last
    /// to wake.
    pub async fn sleeps(&mut self, seconds: i64) {
        let awake: Vec<usize> = (0..self.executors.len()).filter(|place| self.executors[*place].is_awake()).collect();
        for place in &awake {
            self.executors[*place].falls_silent();
        }
        self.sky.clock.set(self.now().plus_seconds(seconds));
        self.rests().await;
        for place in awake {
            self.executors[place].wakes();
        }
        self.rests().await;
    }

    /// Somebody sets the machine's clock back.
    pub async fn clock_goes_back(&mut self, seconds: i64) {
        self.rests().await;
        self.sky.clock.set(self.now().plus_seconds(-seconds));
        self.rests().await;
    }

    /// The clock is set to so many seconds after the beginning, while nobody is there to see it.
    pub fn time_is(&self, seconds: i64) {
        assert!(self.programs.is_empty(), "somebody is there");
        self.sky.clock.set(self.at(seconds));
    }

    /// Everything that is to happen now has happened.
    pub async fn rests(&mut self) {
        let began = Instant::now();
        let mut turns = 0;
        while turns < TURNS {
            let acted = self.executors_act();
            tokio::task::yield_now().await;
            if self.is_still() && !acted {
                turns += 1;
                continue;
            }
            turns = 0;
            if !acted {
                // The pulse makes the next look come sooner; nothing depends on it.
                let _ = timeout(LOOK_AGAIN, self.sky.pulse.felt()).await;
            }
            assert!(began.elapsed() < NEVER_SO_LONG, "the world never comes to rest: {}", self.motion());
        }
    }

    fn executors_act(&mut self) -> bool {
        let now = self.now();
        let mut acted = false;
        for executor in &mut self.executors {
            if executor.wants_a_node(now) {
                let leader = self.programs.iter().find(|program| program.leads());
                if let Some(program) = leader.or_else(|| self.programs.iter().find(|program| program.is_running())) {
                    executor.connects(&program.ear);
                    acted = true;
                } else {
                    executor.looks_again_at(now.plus_millis(1000));
                }
            }
            acted |= executor.acts(now);
        }
        acted
    }

    fn is_still(&self) -> bool {
        self.programs.iter().all(Program::is_still) && self.executors.iter().all(Actor::is_still)
    }

    fn motion(&self) -> String {
        let programs = self.programs.iter().map(Program::motion);
        let executors = self
            .executors
            .iter()
            .filter(|executor| !executor.is_still())
            .map(|executor| format!("executor {} waits for an answer", executor.name));
        programs.chain(executors).collect::<Vec<_>>().join("; ")
    }

    // Programs.

    /// A program opens the folder; it leads as soon as it can.
    pub async fn program_starts(&mut self, name: &str) {
        self.lives += 1;
        let mut program = Program::open(&self.sky, name, self.lives).await;
        let node = program.node.clone();
        program.running = Some(tokio::spawn(async move {
            node.run().await;
        }));
        self.programs.push(program);
        self.rests().await;
    }

    /// A program that only looks in, as a command does: it drives nothing.
    pub async fn command(&mut self, name: &str) -> Program {
        self.lives += 1;
        Program::open(&self.sky, name, self.lives).await
    }

    /// Killed: whatever it was at stays as it is.
    pub async fn program_dies(&mut self, name: &str) {
        let program = self.program_named(name);
        let running = program.running.take().expect("it runs");
        running.abort();
        // It was cancelled; there is no other way for it to end.
        let _ = running.await;
        // Sessions go with the process.
        let place = self.programs.iter().position(|program| program.name == name).expect("it is there");
        self.programs.remove(place);
        for executor in &mut self.executors {
            executor.loses_its_node();
        }
    }

    /// Leaves in good order.
    pub async fn program_stops(&mut self, name: &str) {
        self.rests().await;
        let program = self.program_named(name);
        let running = program.running.take().expect("it runs");
        running.abort();
        let _ = running.await;
        program.node.step_down().await.expect("the lease is given up");
        program.store.close().await.expect("the database is closed");
        let place = self.programs.iter().position(|program| program.name == name).expect("it is there");
        self.programs.remove(place);
        for executor in &mut self.executors {
            executor.loses_its_node();
        }
    }

    fn program_named(&mut self, name: &str) -> &mut Program {
        self.programs.iter_mut().find(|program| program.name == name).expect("there is such a program")
    }

    pub fn program(&self, name: &str) -> &Program {
        self.programs.iter().find(|program| program.name == name).expect("there is such a program")
    }

    /// Nobody is there for so long: the only program stops, and one comes back later.
    pub async fn is_away(&mut self, seconds: i64) {
        self.program_stops("first").await;
        self.sky.clock.set(self.now().plus_seconds(seconds));
        self.program_starts("first").await;
    }

    pub fn store(&self) -> &SqliteStore {
        &self.programs.first().expect("a program").store
    }

    pub fn folder(&self) -> PathBuf {
        self.sky.folder.path().to_owned()
    }

    // Executors.

    pub fn executor(&mut self, name: &str) -> &mut Actor {
        if let Some(place) = self.executors.iter().position(|executor| executor.name == name) {
            return &mut self.executors[place];
        }
        self.executors.push(Actor::new(name, self.begun.clone()));
        self.executors.last_mut().expect("it was just put there")
    }

    /// The executor that every story begins with.
    pub fn one(&mut self) -> &mut Actor {
        self.executor("one")
    }

    /// What ready tasks wait for, as the program that leads shows it.
    pub fn held(&self) -> Vec<HoldCause> {
        let program = self.programs.iter().find(|program| program.leads()).expect("somebody leads");
        program.node.held().into_iter().map(|held| held.cause).collect()
    }

    // People.

    pub async fn asks(&mut self, ask: Ask) -> Result<Done, Fault> {
        self.asks_as(Role::Admin, ask).await
    }

    pub async fn asks_as(&mut self, role: Role, ask: Ask) -> Result<Done, Fault> {
        let name = self.programs.first().expect("a program").name.clone();
        self.asks_at(&name, role, ask).await
    }

    /// Someone who sits at that program asks, and is answered.
    pub async fn asks_at(&mut self, program: &str, role: Role, ask: Ask) -> Result<Done, Fault> {
        self.asks_in_person(program, Person { name: "mei".to_owned(), role }, ask).await
    }

    pub async fn asks_in_person(&mut self, program: &str, who: Person, ask: Ask) -> Result<Done, Fault> {
        let program = self.program(program);
        let clock = Arc::new(self.sky.clock.beside());
        let desk = Desk {
            store: program.store.clone() as Arc<dyn Store>,
            coord: program.coord.clone(),
            clock: clock.clone(),
            dice: program.dice.clone(),
        };
        let bells = program.coord.clone();
        let pulse = self.sky.pulse.clone();
        let asking = tokio::spawn(async move {
            let answer = desk.ask(&who, ask, Duration::from_secs(10)).await;
            pulse.beat();
            answer
        });
        let began = Instant::now();
        while !asking.is_finished() {
            self.rests().await;
            let waits = clock.asleep() > 0 && !bells.is_unheard(Bell::Answers);
            if waits && self.is_still() {
                // It came to rest between two programs: the answer is looked for on the next tick.
                self.sky.clock.set(self.now().plus_millis(50));
            } else {
                let _ = timeout(LOOK_AGAIN, self.sky.pulse.felt()).await;
            }
            assert!(began.elapsed() < NEVER_SO_LONG, "nobody answers: {}", self.motion());
        }
        self.rests().await;
        asking.await.expect("the desk does not panic")
    }

    /// Saves a job of processor `work` as these fields say.
    pub async fn saves(&mut self, name: &str, fields: Value) -> JobId {
        let spec = job(name, fields);
        let done = self.asks(Ask::SaveJobs { jobs: vec![SaveJob { spec, job: None, seen_version: None }] }).await;
        done.unwrap_or_else(|fault| panic!("{name} is not saved: {fault}")).jobs[0]
    }

    /// Saves the next version of a job, on top of the version that is there.
    pub async fn changes(&mut self, id: JobId, fields: Value) -> Result<Done, Fault> {
        let before = self.job(id).await;
        let seen_version = Some(before.version);
        self.changes_seeing(id, seen_version, fields).await
    }

    pub async fn changes_seeing(&mut self, id: JobId, seen_version: Option<u32>, fields: Value) -> Result<Done, Fault> {
        let before = self.job(id).await;
        let mut spec = serde_json::to_value(&before.spec).expect("a job");
        lay_over(&mut spec, fields);
        let spec = serde_json::from_value(spec).expect("a job");
        self.asks(Ask::SaveJobs { jobs: vec![SaveJob { spec, job: Some(id), seen_version }] }).await
    }

    pub async fn runs(&mut self, id: JobId) -> InstanceId {
        self.runs_with(id, None, false).await.expect("it runs")
    }

    pub async fn runs_with(&mut self, id: JobId, parameters: Option<Value>, beside: bool) -> Result<InstanceId, Fault> {
        let parameters: Option<Map<String, Value>> =
            parameters.map(|parameters| parameters.as_object().expect("an object").clone());
        let done =
            self.asks(Ask::RunJobs { jobs: vec![id], parameters, beside, repeats: None, executor: None }).await?;
        Ok(done.instances[0])
    }

    pub async fn cancels(&mut self, instance: InstanceId) -> Result<Done, Fault> {
        self.asks(Ask::CancelInstance { instance, shards: Selection::default() }).await
    }

    pub async fn pauses(&mut self, id: JobId) {
        self.asks(Ask::PauseJobs { jobs: vec![id] }).await.expect("it is paused");
    }

    pub async fn resumes(&mut self, id: JobId) {
        self.asks(Ask::ResumeJobs { jobs: vec![id] }).await.expect("it is resumed");
    }

    pub async fn acknowledges(&mut self, alarm: AlarmId, note: &str) -> Result<Done, Fault> {
        self.asks(Ask::AcknowledgeAlarms { alarms: vec![alarm], note: note.to_owned() }).await
    }

    // What is there.

    pub async fn job(&self, id: JobId) -> Job {
        self.store().jobs(&[id]).await.expect("jobs").pop().expect("the job is there")
    }

    /// Of the job, oldest first.
    pub async fn instances(&self, id: JobId) -> Vec<Instance> {
        let filter = InstanceFilter { job: Some(id), ..InstanceFilter::default() };
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.store().instance_page(&filter, cursor, 500).await.expect("instances");
            found.extend(page.rows.into_iter().map(|row| row.instance));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        found.reverse();
        found
    }

    pub async fn states(&self, id: JobId) -> Vec<InstanceState> {
        self.instances(id).await.into_iter().map(|instance| instance.state).collect()
    }

    /// Of all jobs there are.
    pub async fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.store().jobs_after(None, 1000).await.expect("jobs").into_iter().map(|job| job.spec.name).collect();
        names.sort_unstable();
        names
    }

    pub async fn instance(&self, id: InstanceId) -> Instance {
        let summary = self.store().instance_summary(id).await.expect("instances").expect("the instance is there");
        summary.instance
    }

    /// Tasks of all instances of the job, oldest first.
    pub async fn tasks(&self, id: JobId) -> Vec<Task> {
        let mut tasks = Vec::new();
        for instance in self.instances(id).await {
            tasks.extend(self.store().tasks_of(instance.id).await.expect("tasks"));
        }
        tasks
    }

    /// The only task of the job.
    pub async fn task(&self, id: JobId) -> Task {
        let mut tasks = self.tasks(id).await;
        assert_eq!(tasks.len(), 1, "there is one task");
        tasks.remove(0)
    }

    pub async fn history(&self, task: &Task) -> Vec<HistoryEntry> {
        self.store().history(task.id).await.expect("a history")
    }

    /// The states that the only task of the job went through, after its first.
    pub async fn way(&self, id: JobId) -> Vec<TaskState> {
        let task = self.task(id).await;
        self.history(&task).await.into_iter().map(|entry| entry.to).collect()
    }

    /// Firings of the job that did not happen, oldest first.
    pub async fn omissions(&self, id: JobId) -> Vec<Omission> {
        let mut found = self.store().omissions(Some(id), Timestamp::EPOCH, 1000).await.expect("omissions");
        found.sort_by_key(|omission| omission.from);
        found
    }

    pub async fn alarm(&self, rule: AlarmRule, job: &str) -> Option<Alarm> {
        let wanted = [(rule, format!("job:{job}"))];
        self.store().latest_alarms(&wanted).await.expect("alarms").pop()
    }

    /// Oldest first.
    pub async fn audit(&self) -> Vec<AuditEntry> {
        let mut entries = self.store().audit_page(None, 1000).await.expect("an audit").rows;
        entries.reverse();
        entries
    }

    pub async fn leader(&self) -> Option<String> {
        let row = self.store().lease(ENGINE_LEASE).await.expect("a lease");
        row.filter(|row| row.until > self.now()).map(|row| row.lead.holder)
    }

    // The end.

    pub async fn checks_the_ledger(&self) {
        let calendars = read_calendars(self.store()).await.expect("settings");
        let almanac = self.sky.almanac.with_calendars(calendars);
        let report = ledger::check_all(self.store(), &almanac).await.expect("a ledger");
        assert_eq!(report.findings, Vec::new(), "the ledger is not clean");
    }

    /// What must hold after any story.
    pub async fn ends(&mut self) {
        self.rests().await;
        self.checks_the_ledger().await;
        let twice = self.begun.twice();
        assert!(twice.is_empty(), "attempts began twice: {twice:?}");
        let open = self.store().open_requests(10).await.expect("requests");
        assert!(open.is_empty() || self.leader().await.is_none(), "requests were left open: {open:?}");
    }
}

/// A job of processor `work` that runs when asked, unless the fields say otherwise.
pub fn job(name: &str, fields: Value) -> JobSpec {
    let mut spec = json!({"name": name, "processor": "work", "schedule": {"kind": "manual"}});
    lay_over(&mut spec, fields);
    serde_json::from_value(spec).expect("a job that can be read")
}

#[expect(clippy::needless_pass_by_value, reason = "a literal is handed over")]
fn lay_over(spec: &mut Value, fields: Value) {
    for (field, value) in fields.as_object().expect("fields of a job") {
        spec[field] = value.clone();
    }
}

/// Every so many seconds, the first time so many after the beginning of the world.
pub fn every(seconds: u32) -> Value {
    let start: Timestamp = BEGINNING.parse().expect("a time");
    json!({"kind": "fixedRate", "everySeconds": seconds, "startTime": start.plus_seconds(i64::from(seconds))})
}
