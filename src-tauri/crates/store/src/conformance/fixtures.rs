//! What the cases are made of: jobs, instances and tasks that differ only where a case says so.

use std::sync::atomic::{AtomicI64, Ordering};

use campanile_model::alarm::{Alarm, AlarmRule, Severity, Sighting};
use campanile_model::instance::{Instance, InstanceState, Omission, OmissionReason, Origin};
use campanile_model::job::Job;
use campanile_model::ledger::LedgerSpan;
use campanile_model::request::{Answer, Ask, Done, Person, Request, Role};
use campanile_model::sharding::{Outcomes, Phase, Piece, PieceAt, PieceOutcomes, ShardRun};
use campanile_model::task::{
    ExecutorRef, Incident, IncidentKind, Need, Needs, NewTask, Part, Step, Task, TaskEvent, TaskLimits,
};
use campanile_model::{AlarmId, InstanceId, JobId, Lane, RequestId, Retry, TaskId, Timestamp, Words};
use serde_json::{Value, json};

use crate::{Assignment, CarriedOut, Change, Launch, Launched, Lead, ShardWrite, Store, Taken};

/// Seconds after a moment of no importance.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000).plus_seconds(second)
}

/// Ids sort by the order in which they are made.
fn next() -> (i64, [u8; 10]) {
    static MADE: AtomicI64 = AtomicI64::new(1_700_000_000_000);
    (MADE.fetch_add(1, Ordering::Relaxed), [7; 10])
}

pub fn job_id() -> JobId {
    let (millis, random) = next();
    JobId::new(millis, random)
}

pub fn instance_id() -> InstanceId {
    let (millis, random) = next();
    InstanceId::new(millis, random)
}

pub fn task_id() -> TaskId {
    let (millis, random) = next();
    TaskId::new(millis, random)
}

pub fn alarm_id() -> AlarmId {
    let (millis, random) = next();
    AlarmId::new(millis, random)
}

pub fn request_id() -> RequestId {
    let (millis, random) = next();
    RequestId::new(millis, random)
}

fn job_of(name: &str, schedule: &Value) -> Job {
    let spec = json!({"name": name, "processor": "shell", "schedule": schedule});
    Job {
        id: job_id(),
        spec: serde_json::from_value(spec).expect("a job that can be read"),
        version: 1,
        saved_at: at(0),
        fired_through: at(0),
        next_due: Some(at(60)),
        paused: false,
        last_final_at: None,
    }
}

/// One that fires every minute.
pub fn job(name: &str) -> Job {
    job_of(name, &json!({"kind": "fixedRate", "everySeconds": 60, "startTime": at(0)}))
}

/// One whose next time depends on the end of the last instance.
pub fn delayed_job(name: &str) -> Job {
    job_of(name, &json!({"kind": "fixedDelay", "everySeconds": 60}))
}

/// Planned and due at that second, by the schedule.
pub fn instance(job: &Job, second: i64) -> Instance {
    Instance {
        id: instance_id(),
        job: job.id,
        version: job.version,
        origin: Origin::Schedule,
        key: at(second).millis().to_string(),
        planned: at(second),
        due: at(second),
        not_before: at(second),
        reason: None,
        created: at(second),
        state: InstanceState::Waiting,
        beside: false,
        replaces: false,
        lane: Lane::Normal,
        parameters: None,
        repeats: None,
        asked_by: None,
        executor: None,
        assigned_at: None,
        started_at: None,
        finished_at: None,
        result: None,
        failure: None,
    }
}

/// The same, but asked for by a person.
pub fn manual_instance(job: &Job, second: i64) -> Instance {
    let made = instance(job, second);
    Instance { origin: Origin::Manual, key: made.id.to_string(), asked_by: Some("mei".to_owned()), ..made }
}

pub fn task(instance: &Instance) -> Task {
    Task::waiting(NewTask {
        id: task_id(),
        instance: instance.id,
        job: instance.job,
        version: instance.version,
        group: "local".to_owned(),
        processor: "shell".to_owned(),
        limits: TaskLimits {
            ready_timeout_ms: 60_000,
            push_timeout_ms: 60_000,
            run_timeout_ms: None,
            kill_on_overrun: false,
            retry: Retry::default(),
            of_several: false,
            failure_rules: Vec::new(),
        },
        needs: Needs::default(),
        expires_at: None,
        lane: instance.lane,
        due_at: instance.due,
    })
}

/// What a task asks that asks for nothing in particular.
pub fn plain_need(group: &str, processor: &str) -> Need {
    Needs::default().of(group, processor, job_id())
}

pub fn executor(boot: &str) -> ExecutorRef {
    ExecutorRef { group: "local".to_owned(), name: "here".to_owned(), boot: boot.to_owned() }
}

pub fn omission(job: &Job, from: i64, to: i64, reason: OmissionReason) -> Omission {
    let count = u32::try_from((to - from) / 60 + 1).expect("a few");
    Omission { job: job.id, version: job.version, from: at(from), to: at(to), count, reason }
}

pub fn incident(job: &Job, kind: IncidentKind, second: i64) -> Incident {
    Incident {
        seq: 0,
        at: at(second),
        kind,
        job: job.id,
        instance: None,
        task: None,
        executor: Some("here".to_owned()),
        failure: None,
    }
}

pub fn alarm(subject: &str, severity: Severity, second: i64) -> Alarm {
    let sighting = Sighting {
        rule: AlarmRule::InstanceFailed,
        severity,
        subject: subject.to_owned(),
        job: None,
        message: Words::new("failed", "失败"),
        at: at(second),
    };
    Alarm::sighted(None, sighting, alarm_id())
}

pub fn request() -> Request {
    Request {
        id: request_id(),
        who: Person { name: "mei".to_owned(), role: Role::Editor },
        ask: Ask::Release,
        asked_at: at(0),
    }
}

pub fn done() -> Answer {
    Answer::Done(Done::default())
}

/// Leads until far into any case.
pub async fn lead(store: &dyn Store) -> Lead {
    store.take_lease("engine", "node-1", at(0), at(1_000_000)).await.unwrap().expect("nobody else asks")
}

/// Asks for the changes and carries them out.
pub async fn carry_out(store: &dyn Store, lead: &Lead, changes: Vec<Change>) -> Taken {
    let request = request();
    store.ask(&request).await.unwrap();
    let done = CarriedOut { request: request.id, changes, answer: done(), audit: Vec::new() };
    store.carry_out(lead, &done).await.unwrap()
}

pub fn new_job(job: &Job) -> Change {
    Change::PutJob { job: job.clone(), seen_version: None, by: "mei".to_owned() }
}

pub fn next_version(job: &Job) -> Change {
    let mut next = job.clone();
    next.version += 1;
    Change::PutJob { job: next, seen_version: Some(job.version), by: "lin".to_owned() }
}

pub async fn save(store: &dyn Store, lead: &Lead, jobs: &[&Job]) {
    let changes = jobs.iter().map(|job| new_job(job)).collect();
    assert_eq!(carry_out(store, lead, changes).await, Taken::Done);
}

pub async fn saved(store: &dyn Store, lead: &Lead, name: &str) -> Job {
    let job = job(name);
    save(store, lead, &[&job]).await;
    job
}

pub async fn job_now(store: &dyn Store, job: JobId) -> Job {
    store.jobs(&[job]).await.unwrap().pop().expect("the job is there")
}

/// A launch from where the job stands to that second.
pub fn launch_of(job: &Job, through: i64, instances: Vec<Instance>, omissions: Vec<Omission>) -> Launch {
    let made = u32::try_from(instances.len()).expect("a few");
    let not_made = omissions.iter().map(|omission| omission.count).sum::<u32>();
    Launch {
        job: job.id,
        version: job.version,
        seen_through: job.fired_through,
        instances,
        supersedes: Vec::new(),
        omissions,
        questions: Vec::new(),
        span: LedgerSpan {
            job: job.id,
            version: job.version,
            zone_data: "2026f".to_owned(),
            from: job.fired_through,
            to: at(through),
            planned: made + not_made,
            made,
            not_made,
        },
        fired_through: at(through),
        next_due: Some(at(through + 60)),
        incidents: Vec::new(),
    }
}

/// Launches from where the job stands in the store.
pub async fn launch(
    store: &dyn Store,
    lead: &Lead,
    job: JobId,
    through: i64,
    instances: Vec<Instance>,
    omissions: Vec<Omission>,
) -> Launched {
    let job = job_now(store, job).await;
    let launch = launch_of(&job, through, instances, omissions);
    store.launch(lead, &[launch]).await.unwrap()[0]
}

/// Launches one instance by the schedule.
pub async fn launched(store: &dyn Store, lead: &Lead, job: &Job, second: i64) -> Instance {
    let made = instance(job, second);
    let outcome = launch(store, lead, job.id, second, vec![made.clone()], Vec::new()).await;
    assert_eq!(outcome, Launched::Written { made: 1 });
    made
}

pub async fn instance_now(store: &dyn Store, id: InstanceId) -> Instance {
    store.instances(&[id]).await.unwrap().pop().expect("the instance is there")
}

/// Gives the instance a task.
pub async fn assigned(store: &dyn Store, lead: &Lead, instance: &Instance) -> Task {
    let task = task(instance);
    assign(store, lead, instance, vec![task.clone()]).await;
    task
}

pub async fn assign(store: &dyn Store, lead: &Lead, instance: &Instance, tasks: Vec<Task>) {
    let assignment = Assignment { instance: instance.id, at: instance.due, tasks };
    assert_eq!(store.assign(lead, &[assignment]).await.unwrap(), [true]);
}

/// A run with so many shards of one item each, none of which has begun.
pub async fn sharded(store: &dyn Store, lead: &Lead, instance: &Instance, shards: u32) -> Vec<Task> {
    let begins = ShardWrite { begins: Some(at(60)), ..ShardWrite::of(ShardRun::new(instance.id)) };
    assert_eq!(store.conduct(lead, &begins).await.unwrap(), Taken::Done);
    let piece = |shard: u32| Piece { at: piece_of(shard), items: vec![shard.to_string()] };
    let part = |index| Part::Shard { level: 0, index, count: shards, round: 1, items: 1, done: 0 };
    let tasks: Vec<Task> = (0..shards).map(|shard| task(instance).as_part(part(shard))).collect();
    let mut run = ShardRun { fence: 1, phase: Phase::Levels, ..ShardRun::new(instance.id) };
    run.tally.total = shards.into();
    let write = ShardWrite { pieces: (0..shards).map(piece).collect(), tasks: tasks.clone(), ..ShardWrite::of(run) };
    assert_eq!(store.conduct(lead, &write).await.unwrap(), Taken::Done);
    tasks
}

/// Where the one piece of a shard of [`sharded`] stands.
pub fn piece_of(shard: u32) -> PieceAt {
    PieceAt { level: 0, shard, first: shard.into() }
}

/// A step that says of the one item of such a shard that it is done.
pub fn says_done(task: Task, second: i64) -> Step {
    let Some(Part::Shard { index, .. }) = task.part else { panic!("it is no shard") };
    let mut outcomes = Outcomes::none(1);
    outcomes.say(0, true, "");
    let mut step = step(task, &[TaskEvent::Due], second);
    step.settles(vec![PieceOutcomes { at: piece_of(index), outcomes }], 1);
    step
}

pub async fn task_now(store: &dyn Store, id: TaskId) -> Task {
    store.tasks(&[id]).await.unwrap().pop().expect("the task is there")
}

/// A step along the table; a push is to the executor's first life.
pub fn step(task: Task, events: &[TaskEvent], second: i64) -> Step {
    let mut step = task.begin();
    for event in events {
        step.on(*event, at(second), None).expect("the table has this step");
        if *event == TaskEvent::Push {
            step.task_mut().executor = Some(executor("boot-1"));
        }
    }
    step
}

pub async fn take(store: &dyn Store, lead: &Lead, step: Step) -> Taken {
    store.take(lead, &[step]).await.unwrap()[0]
}

/// Carries the task along and reads it back.
pub async fn moved(store: &dyn Store, lead: &Lead, task: &Task, events: &[TaskEvent], second: i64) -> Task {
    let task = task_now(store, task.id).await;
    let id = task.id;
    assert_eq!(take(store, lead, step(task, events, second)).await, Taken::Done);
    task_now(store, id).await
}

/// A whole short life: launched, assigned, run, ended with its instance.
pub async fn succeeded(store: &dyn Store, lead: &Lead, job: &Job, second: i64) -> (Instance, Task) {
    let made = launched(store, lead, job, second).await;
    let task = ended(store, lead, &made, InstanceState::Succeeded, second + 1).await;
    (made, task)
}

/// Gives an instance a task and ends both.
pub async fn ended(store: &dyn Store, lead: &Lead, instance: &Instance, state: InstanceState, second: i64) -> Task {
    let task = assigned(store, lead, instance).await;
    let last = if state == InstanceState::Succeeded { TaskEvent::Succeed } else { TaskEvent::Fail };
    let now = task_now(store, task.id).await;
    let mut step = step(now, &[TaskEvent::Due, TaskEvent::Push, TaskEvent::Start, last], second);
    step.moves_instance(moves(instance.id, state, second));
    assert_eq!(take(store, lead, step).await, Taken::Done);
    task_now(store, task.id).await
}

pub fn moves(instance: InstanceId, to: InstanceState, second: i64) -> campanile_model::instance::InstanceMove {
    campanile_model::instance::InstanceMove { instance, to, at: at(second), result: None }
}
