//! A store in memory: maps behind one lock, each promise of the contract in the plainest words.
//!
//! It is the reference that the databases are measured against, and it knows no SQL. It holds
//! everything for as long as the process lives; a node that crashes loses its connection to it
//! ([`MemoryStore`]) and nothing else. Every call passes the seams of [`Faults`].
//!
//! It also remembers what no database would: every write with the term it showed and the term that
//! was then in force, for the check that no overtaken leader has written.

mod locks;
mod logs;
mod passes;
mod shards;
mod staged;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use campanile_model::alarm::{Alarm, AlarmRule, AlarmState};
use campanile_model::backfill::{Backfill, BackfillEnd, BackfillState};
use campanile_model::chain::{Ending, after_of};
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Omission, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::ledger::LedgerSpan;
use campanile_model::limits::{LIMITS, Limits};
use campanile_model::lock::LockBoard;
use campanile_model::node::NodeEntry;
use campanile_model::pass::Pass;
use campanile_model::question::{Question, QuestionAnswer};
use campanile_model::request::{Answer, AuditEntry, Request};
use campanile_model::schedule::Schedule;
use campanile_model::sharding::{Chunk, Staged};
use campanile_model::task::{ExecutorRef, Incident, Need, Step, StoredTask, Task, TaskState};
use campanile_model::{AlarmId, DataId, InstanceId, JobId, Lane, Partitions, QuestionId, RequestId, TaskId, Timestamp};
use campanile_store::{
    AlarmStore, Assignment, Bound, CarriedOut, Cause, Change, Claimed, ExecutorStore, HistoryEntry, IncidentMark,
    InstanceStore, JobStore, LaneDepth, Launch, Launched, Lead, LeaseRow, LeaseStore, LedgerExtract, LogPart,
    MadeInstance, NodeStore, OMISSIONS_OUTLIVE, Purge, Purged, RequestStore, Result, Room, Scope, SettingStore,
    Settlement, StoreError, Taken, TaskStore, Unplanned, UnplannedStore, UpkeepStore, Wanted, may_replace, scopes_of,
};
use serde_json::Value;

pub use self::shards::Sharded;
use crate::faults::{Faults, NoFaults, Op};

/// One connection to the store. Connections share what is stored; each has faults of its own.
#[derive(Clone)]
pub struct MemoryStore {
    stored: Arc<Mutex<Stored>>,
    faults: Arc<dyn Faults>,
}

/// Promises that the store can be told to break, to show that the checks would notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BrokenPromises {
    /// A step is written whatever fence the row shows.
    pub fence: bool,
    /// A write is accepted under any term.
    pub term: bool,
    /// A launch leaves `fired_through` where it was, and the same firing may be made again.
    pub once: bool,
    /// A launch drops its omissions.
    pub omissions: bool,
    /// A claim goes through whatever is held already.
    pub bounds: bool,
}

/// An accepted write of an officer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadWrite {
    pub op: &'static str,
    pub lead: Lead,
    /// The term that was in force; none: the lease was free.
    pub in_force: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct HeldLease {
    pub holder: String,
    pub term: u64,
    pub until: Timestamp,
    pub released: bool,
}

#[derive(Clone, Debug)]
pub struct JobRow {
    pub job: Job,
    pub removed: bool,
    /// Instances of the schedule due up to here may be gone …
    pub purged_through: Option<Timestamp>,
}

/// A row with its place in the order of writing.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    pub order: u64,
    pub row: T,
}

/// By level and first place.
pub type StagedChunks = BTreeMap<(u32, u64), Chunk>;

/// Everything that is stored. Open to the checks, which look at it as it lies.
#[derive(Clone, Default)]
pub struct Stored {
    pub broken: BrokenPromises,
    pub writes: Vec<LeadWrite>,
    /// Several nodes work at once.
    pub team: bool,
    pub leases: BTreeMap<String, HeldLease>,
    pub nodes: BTreeMap<String, NodeEntry>,
    pub jobs: BTreeMap<JobId, JobRow>,
    pub versions: BTreeMap<(JobId, u32), JobVersion>,
    pub instances: BTreeMap<InstanceId, Placed<Instance>>,
    pub tasks: BTreeMap<TaskId, Placed<Task>>,
    pub tasks_of: BTreeMap<InstanceId, Vec<TaskId>>,
    /// Instances that end when all their tasks have.
    several: BTreeSet<InstanceId>,
    pub history: BTreeMap<TaskId, Vec<HistoryEntry>>,
    /// Tasks that were purged.
    pub gone: BTreeSet<TaskId>,
    pub omissions: BTreeMap<JobId, Vec<Omission>>,
    pub spans: BTreeMap<JobId, Vec<LedgerSpan>>,
    /// Who runs after which name.
    pub chains: BTreeSet<(String, JobId)>,
    pub endings: BTreeMap<i64, Ending>,
    /// All that ever waited: what became of each of them can be asked.
    pub ever_ended: Vec<Ending>,
    /// Firings of no clock that were purged.
    pub gone_firings: BTreeSet<(JobId, String)>,
    pub questions: Vec<Question>,
    pub backfills: Vec<Backfill>,
    pub incidents: BTreeMap<i64, Incident>,
    pub incident_mark: IncidentMark,
    pub alarms: BTreeMap<AlarmId, Placed<Alarm>>,
    pub requests: BTreeMap<RequestId, Placed<Request>>,
    pub answers: BTreeMap<RequestId, Answer>,
    pub settings: BTreeMap<String, Value>,
    pub audit: Vec<AuditEntry>,
    /// Pushes that went beyond a limit.
    pub overfull: Vec<String>,
    /// How often a limit was just reached, by its kind.
    pub full: BTreeMap<&'static str, u64>,
    pub sharded: BTreeMap<InstanceId, Sharded>,
    /// With its chunks by level and place.
    pub staged: BTreeMap<DataId, (Staged, StagedChunks)>,
    /// By group and name.
    pub executors: BTreeMap<(String, String), (ExecutorEntry, Option<Drain>)>,
    pub lock_tokens: BTreeMap<u32, u64>,
    pub lock_boards: BTreeMap<String, LockBoard>,
    pub log_parts: BTreeMap<(TaskId, u32, u32), LogPart>,
    /// By digest.
    pub passes: BTreeMap<String, Pass>,
    last_order: u64,
    last_incident: i64,
    last_ending: i64,
}

impl MemoryStore {
    /// An empty store that always answers.
    pub fn new() -> MemoryStore {
        MemoryStore { stored: Arc::default(), faults: Arc::new(NoFaults) }
    }

    /// Another connection to the same store.
    pub fn connect(&self, faults: Arc<dyn Faults>) -> MemoryStore {
        MemoryStore { stored: Arc::clone(&self.stored), faults }
    }

    /// What is stored now, for whoever stands outside of the world.
    pub fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().expect("no call panics while it holds the lock")
    }

    async fn read<T>(&self, name: &'static str, look: impl FnOnce(&Stored) -> T) -> Result<T> {
        let op = Op { name, writes: false };
        self.faults.before(op).await?;
        let seen = look(&self.stored());
        self.faults.after(op).await?;
        Ok(seen)
    }

    async fn write<T>(&self, name: &'static str, change: impl FnOnce(&mut Stored) -> Result<T>) -> Result<T> {
        let op = Op { name, writes: true };
        self.faults.before(op).await?;
        let outcome = change(&mut self.stored());
        self.faults.after(op).await?;
        outcome
    }

    /// A write that depends on leading: refused, and nothing changed, where the term has passed.
    async fn lead<T>(&self, name: &'static str, lead: &Lead, change: impl FnOnce(&mut Stored) -> T) -> Result<T> {
        self.write(name, |stored| {
            stored.check_lead(name, lead)?;
            Ok(change(stored))
        })
        .await
    }
}

impl Stored {
    fn check_lead(&mut self, op: &'static str, lead: &Lead) -> Result<()> {
        for (lease, term) in lead.shown() {
            let in_force = self.leases.get(lease).filter(|held| !held.released);
            let ours = in_force.is_some_and(|held| held.term == term && held.holder == lead.holder);
            if !ours && !self.broken.term {
                return Err(StoreError::Fenced(lease.to_owned()));
            }
            let in_force = in_force.map(|held| held.term);
            self.writes.push(LeadWrite { op, lead: Lead::of(lease, lead.holder.clone(), term), in_force });
        }
        Ok(())
    }

    fn take_lease(&mut self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Option<Lead> {
        let term = match self.leases.get(lease) {
            Some(row) if !row.released && row.until > now => {
                if row.holder != holder {
                    return None;
                }
                row.term
            }
            Some(row) => row.term + 1,
            None => 1,
        };
        let held = HeldLease { holder: holder.to_owned(), term, until, released: false };
        self.leases.insert(lease.to_owned(), held);
        Some(Lead::of(lease, holder, term))
    }

    fn own_lease(&mut self, lead: &Lead) -> Option<&mut HeldLease> {
        let row = self.leases.get_mut(&lead.lease)?;
        (row.term == lead.term && row.holder == lead.holder && !row.released).then_some(row)
    }

    fn keep_lease(&mut self, lead: &Lead, until: Timestamp) -> bool {
        let Some(row) = self.own_lease(lead) else { return false };
        row.until = until;
        true
    }

    fn release_lease(&mut self, lead: &Lead) {
        if let Some(row) = self.own_lease(lead) {
            row.released = true;
            row.until = Timestamp::EPOCH;
        }
    }

    fn next_order(&mut self) -> u64 {
        self.last_order += 1;
        self.last_order
    }

    /// The job, unless it was removed.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(&id).filter(|row| !row.removed).map(|row| &row.job)
    }

    fn live_jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values().filter(|row| !row.removed).map(|row| &row.job)
    }

    /// A run that is cut into shards has begun before it has tasks.
    fn has_tasks(&self, instance: InstanceId) -> bool {
        self.sharded.contains_key(&instance) || self.tasks_of.get(&instance).is_some_and(|tasks| !tasks.is_empty())
    }

    pub fn instances_in_order(&self) -> Vec<&Instance> {
        in_order(self.instances.values())
    }

    fn tasks_where(&self, keep: impl Fn(&Task) -> bool) -> Vec<&Placed<Task>> {
        let mut found: Vec<_> = self.tasks.values().filter(|task| keep(&task.row)).collect();
        found.sort_by_key(|task| task.order);
        found
    }

    fn put_instance(&mut self, instance: &Instance) -> bool {
        let known = self.instances.values().any(|other| {
            other.row.job == instance.job && other.row.origin == instance.origin && other.row.key == instance.key
        });
        if known && !self.broken.once {
            return false;
        }
        let order = self.next_order();
        self.instances.insert(instance.id, Placed { order, row: instance.clone() });
        true
    }

    fn put_incident(&mut self, incident: &Incident) {
        self.last_incident += 1;
        let seq = self.last_incident;
        self.incidents.insert(seq, Incident { seq, ..incident.clone() });
    }

    fn put_omission(&mut self, omission: &Omission) {
        let made_between = |last: &Omission| {
            self.instances.values().any(|instance| {
                instance.row.job == omission.job
                    && instance.row.origin.is_planned()
                    && last.to < instance.row.planned
                    && instance.row.planned < omission.from
            })
        };
        let continues = self.omissions.get(&omission.job).and_then(|rows| rows.last()).is_some_and(|last| {
            last.version == omission.version && last.reason == omission.reason && !made_between(last)
        });
        let rows = self.omissions.entry(omission.job).or_default();
        match rows.last_mut() {
            Some(last) if continues => {
                last.from = last.from.min(omission.from);
                last.to = last.to.max(omission.to);
                last.count += omission.count;
            }
            _ => rows.push(omission.clone()),
        }
    }

    fn put_span(&mut self, span: &LedgerSpan) {
        let rows = self.spans.entry(span.job).or_default();
        match rows.last_mut() {
            Some(last) if last.to == span.from && last.version == span.version && last.zone_data == span.zone_data => {
                last.to = span.to;
                last.planned += span.planned;
                last.made += span.made;
                last.not_made += span.not_made;
            }
            _ => rows.push(span.clone()),
        }
    }

    fn launch(&mut self, launch: &Launch) -> Launched {
        let as_seen = self
            .job(launch.job)
            .is_some_and(|job| job.version == launch.version && job.fired_through == launch.seen_through);
        if !as_seen {
            return Launched::Stale;
        }
        let mut made = 0;
        for instance in &launch.instances {
            made += u32::from(self.put_instance(instance));
        }
        for gone in &launch.supersedes {
            self.end_unassigned(gone);
        }
        if !self.broken.omissions {
            for omission in &launch.omissions {
                self.put_omission(omission);
            }
        }
        self.questions.extend(launch.questions.iter().cloned());
        self.put_span(&launch.span);
        for incident in &launch.incidents {
            self.put_incident(incident);
        }
        let job = &mut self.jobs.get_mut(&launch.job).expect("it was seen above").job;
        if !self.broken.once {
            job.fired_through = launch.fired_through;
        }
        job.next_due = launch.next_due;
        Launched::Written { made }
    }

    /// Writes a move of an instance that is not left out.
    fn move_instance(&mut self, change: &InstanceMove) {
        let Some(placed) = self.instances.get_mut(&change.instance) else { return };
        let instance = &mut placed.row;
        if instance.state == change.to || (instance.state.is_final() && change.to != InstanceState::Running) {
            return;
        }
        instance.state = change.to;
        instance.failure = None;
        if change.to.is_final() {
            instance.finished_at = Some(change.at);
            instance.result.clone_from(&change.result);
            let (job, origin) = (instance.job, instance.origin);
            self.queue_end(job, change);
            // What people ask for does not move the schedule.
            if origin == Origin::Schedule
                && let Some(row) = self.jobs.get_mut(&job)
            {
                row.job.last_final_at = row.job.last_final_at.max(Some(change.at));
            }
            return;
        }
        instance.finished_at = None;
        instance.result = None;
        if change.to == InstanceState::Running && instance.started_at.is_none() {
            instance.started_at = Some(change.at);
        }
    }

    /// The end waits for every job that runs after this one.
    fn queue_end(&mut self, upstream: JobId, change: &InstanceMove) {
        if change.to == InstanceState::Superseded {
            return;
        }
        let Some(name) = self.jobs.get(&upstream).map(|row| row.job.spec.name.clone()) else { return };
        let followers: Vec<JobId> =
            self.chains.iter().filter(|(before, _)| *before == name).map(|(_, job)| *job).collect();
        for job in followers {
            self.last_ending += 1;
            let seq = self.last_ending;
            let (instance, state, at) = (change.instance, change.to, change.at);
            let ending = Ending { seq, job, upstream, instance, state, at, kept: false };
            self.ever_ended.push(ending.clone());
            self.endings.insert(seq, ending);
        }
    }

    fn cause_stands(&self, cause: &Cause) -> bool {
        match cause {
            Cause::Endings { used, kept } => used.iter().chain(kept).all(|seq| self.endings.contains_key(seq)),
            Cause::Backfill { id, seen_through, .. } => self
                .backfills
                .iter()
                .any(|backfill| backfill.id == *id && backfill.ended.is_none() && backfill.through == *seen_through),
        }
    }

    fn launch_unplanned(&mut self, unplanned: &Unplanned) -> Launched {
        let as_seen = self.job(unplanned.job).is_some_and(|job| job.version == unplanned.version);
        if !as_seen || !self.cause_stands(&unplanned.cause) {
            return Launched::Stale;
        }
        let mut made = 0;
        for instance in &unplanned.instances {
            made += u32::from(self.put_instance(instance));
        }
        for gone in &unplanned.supersedes {
            self.end_unassigned(gone);
        }
        for omission in &unplanned.omissions {
            self.put_omission(omission);
        }
        self.questions.extend(unplanned.questions.iter().cloned());
        for incident in &unplanned.incidents {
            self.put_incident(incident);
        }
        match &unplanned.cause {
            Cause::Endings { used, kept } => {
                self.endings.retain(|seq, _| !used.contains(seq));
                for seq in kept {
                    self.endings.get_mut(seq).expect("it stands").kept = true;
                }
            }
            Cause::Backfill { id, through, done_at, .. } => {
                for backfill in self.backfills.iter_mut().filter(|backfill| backfill.id == *id) {
                    backfill.through = *through;
                    backfill.made += u32::try_from(unplanned.instances.len()).expect("a few");
                    backfill.ended = done_at.map(|at| BackfillEnd { at, how: BackfillState::Done });
                }
            }
        }
        Launched::Written { made }
    }

    fn put_chain(&mut self, job: &Job) {
        if job.spec.effective_from.is_none_or(|from| from <= job.saved_at) {
            self.chains.retain(|(_, follower)| *follower != job.id);
        }
        for name in after_of(&job.spec).into_iter().flat_map(|after| &after.jobs) {
            self.chains.insert((name.clone(), job.id));
        }
    }

    fn take(&mut self, node: &str, step: &Step) -> Taken {
        let task = step.task();
        let Some(placed) = self.tasks.get_mut(&task.id) else { return Taken::Lost };
        if placed.row.fence() != step.seen() && !self.broken.fence {
            return Taken::Lost;
        }
        let held_before = placed.row.executor.clone();
        let fence = step.next_fence().max(placed.row.fence() + 1);
        placed.row = task.clone().stored(&StoredTask { state: task.state(), attempt: task.attempt(), fence });
        let executor = task.executor.clone().or(held_before).map(|executor| executor.name);
        let history = self.history.entry(task.id).or_default();
        history.extend(step.moves().iter().map(|step| HistoryEntry {
            at: step.at(),
            from: step.from(),
            to: step.to(),
            attempt: step.attempt(),
            executor: executor.clone(),
            node: node.to_owned(),
            reason: step.reason().cloned(),
        }));
        for incident in step.incidents() {
            self.put_incident(incident);
        }
        if let Some(change) = step.instance() {
            self.move_instance(change);
        }
        if let Some(sharded) = self.sharded.get_mut(&task.instance) {
            sharded.take(step);
        }
        Taken::Done
    }

    fn held(&self, scope: &Scope) -> u64 {
        if self.broken.bounds { 0 } else { self.truly_held(scope) }
    }

    fn truly_held(&self, scope: &Scope) -> u64 {
        self.tasks.values().filter(|task| task.row.state().is_held() && scopes_of(&task.row).contains(scope)).count()
            as u64
    }

    fn limits(&self) -> Limits {
        Limits::of(self.settings.get(LIMITS).cloned()).expect("they were looked at when they were set")
    }

    fn claim(&mut self, node: &str, push: &Step, mut admits: impl FnMut(&Task) -> bool) -> Claimed {
        let is_as_seen =
            self.tasks.get(&push.task().id).is_some_and(|task| task.row.fence() == push.seen() || self.broken.fence);
        if is_as_seen && !admits(push.task()) && !self.broken.bounds {
            return Claimed::Full;
        }
        if self.take(node, push) == Taken::Lost {
            return Claimed::Lost;
        }
        self.look_at_bounds(push.task());
        Claimed::Done
    }

    /// Holds a push that was written against every limit that is set, counted in the plainest way.
    fn look_at_bounds(&mut self, task: &Task) {
        let limits = self.limits();
        let tenant = task.needs.tenant.clone();
        let bounds = [
            ("job", Scope::Job(task.job), task.needs.limit),
            ("group", Scope::Group(task.group.clone()), limits.groups.get(&task.group).copied()),
            ("node", Scope::Everything, limits.node),
            (
                "tenant",
                Scope::Tenant(tenant.clone().unwrap_or_default()),
                tenant.and_then(|tenant| limits.tenants.get(&tenant).copied()),
            ),
        ];
        for (name, scope, most) in bounds {
            let Some(most) = most else { continue };
            // What one of several nodes has given out it knows by itself; here it could only be guessed.
            if name == "node" && self.team {
                continue;
            }
            let held = self.truly_held(&scope);
            if held > u64::from(most) {
                self.overfull.push(format!("{held} tasks are held under the {name}'s limit of {most}: {}", task.id));
            } else if held == u64::from(most) {
                *self.full.entry(name).or_default() += 1;
            }
        }
    }

    /// Ready tasks that have such a time, earliest first.
    fn ready_by(&self, limit: usize, time: impl Fn(&Task) -> Option<Timestamp>) -> Vec<Task> {
        let mut ready = self.tasks_where(|task| task.state() == TaskState::Ready && time(task).is_some());
        ready.sort_by_key(|task| (time(&task.row), task.order));
        rows_of(ready).take(limit).collect()
    }

    fn goes_on(&self, instance: InstanceId) -> bool {
        self.tasks.values().any(|task| task.row.instance == instance && !task.row.state().is_final())
    }

    fn settle(&mut self, settlement: &Settlement) -> bool {
        let id = settlement.change.instance;
        let open = self.instances.get(&id).is_some_and(|placed| !placed.row.state.is_final());
        if !open || self.goes_on(id) {
            return false;
        }
        for incident in &settlement.incidents {
            self.put_incident(incident);
        }
        self.move_instance(&settlement.change);
        if let Some(placed) = self.instances.get_mut(&id) {
            placed.row.failure.clone_from(&settlement.failure);
        }
        true
    }

    fn assign(&mut self, assignment: &Assignment) -> bool {
        if assignment.tasks.is_empty() || self.has_tasks(assignment.instance) {
            return false;
        }
        let Some(placed) = self.instances.get_mut(&assignment.instance) else { return false };
        if placed.row.state != InstanceState::Waiting {
            return false;
        }
        placed.row.assigned_at = Some(assignment.at);
        if assignment.tasks.len() > 1 || assignment.tasks.iter().any(|task| task.limits.of_several) {
            self.several.insert(assignment.instance);
        }
        for task in &assignment.tasks {
            let order = self.next_order();
            self.tasks.insert(task.id, Placed { order, row: task.clone() });
            self.tasks_of.entry(assignment.instance).or_default().push(task.id);
        }
        true
    }

    fn end_unassigned(&mut self, change: &InstanceMove) -> bool {
        let open = self.instances.get(&change.instance).is_some_and(|placed| !placed.row.state.is_final());
        if !open || self.has_tasks(change.instance) {
            return false;
        }
        self.move_instance(change);
        true
    }

    fn alarm_is_as_seen(&self, alarm: &Alarm) -> bool {
        self.alarms.get(&alarm.id).map_or(0, |stored| stored.row.fence) == alarm.fence
    }

    fn put_alarm(&mut self, alarm: &Alarm) {
        let order = match self.alarms.get(&alarm.id) {
            Some(stored) => stored.order,
            None => self.next_order(),
        };
        self.alarms.insert(alarm.id, Placed { order, row: Alarm { fence: alarm.fence + 1, ..alarm.clone() } });
    }

    fn put_job(&mut self, job: &Job, seen_version: Option<u32>, by: &str) -> Taken {
        let name_is_anothers = self.live_jobs().any(|other| other.id != job.id && other.spec.name == job.spec.name);
        let stored = self.jobs.get(&job.id);
        let as_seen = match (stored, seen_version) {
            (None, None) => true,
            (Some(row), Some(version)) => !row.removed && row.job.version == version,
            _ => false,
        };
        if name_is_anothers || !as_seen {
            return Taken::Lost;
        }
        let mut next = job.clone();
        if let Some(row) = stored {
            next.fired_through = next.fired_through.max(row.job.fired_through);
            // Neither belongs to a version: what was written meanwhile stands.
            next.paused = row.job.paused;
            next.last_final_at = row.job.last_final_at;
        }
        let version = JobVersion {
            job: job.id,
            version: job.version,
            spec: job.spec.clone(),
            saved_at: job.saved_at,
            saved_by: by.to_owned(),
        };
        self.versions.insert((job.id, job.version), version);
        let purged_through = stored.and_then(|row| row.purged_through);
        let row = JobRow { job: next, removed: false, purged_through };
        self.jobs.insert(job.id, row);
        self.put_chain(job);
        Taken::Done
    }

    fn change(&mut self, node: &str, change: &Change) -> Taken {
        let done = match change {
            Change::PutJob { job, seen_version, by } => return self.put_job(job, *seen_version, by),
            Change::Step(step) => return self.take(node, step),
            Change::RemoveJob(id) => {
                if let Some(row) = self.jobs.get_mut(id) {
                    row.removed = true;
                    row.job.next_due = None;
                }
                self.chains.retain(|(_, follower)| follower != id);
                self.endings.retain(|_, ending| ending.job != *id);
                true
            }
            Change::PauseJob { job, paused } => {
                if let Some(row) = self.jobs.get_mut(job).filter(|row| !row.removed) {
                    row.job.paused = *paused;
                }
                true
            }
            Change::PutInstance(instance) => {
                self.put_instance(instance);
                true
            }
            Change::EndUnassigned(change) => self.end_unassigned(change),
            Change::AnswerQuestion { question, answer } => {
                let open = self.questions.iter_mut().find(|one| one.id == *question && one.answer.is_none());
                open.is_some_and(|open| open.answer.replace(answer.clone()).is_none())
            }
            Change::PutBackfill(backfill) => {
                if !self.backfills.iter().any(|known| known.id == backfill.id) {
                    self.backfills.push(backfill.clone());
                }
                true
            }
            Change::EndBackfill { backfill, end } => {
                let open = self.backfills.iter_mut().find(|one| one.id == *backfill && one.ended.is_none());
                open.is_some_and(|open| open.ended.replace(end.clone()).is_none())
            }
            Change::PutAlarm(alarm) => {
                let as_seen = self.alarm_is_as_seen(alarm);
                if as_seen {
                    self.put_alarm(alarm);
                }
                as_seen
            }
            Change::Set { key, value } => {
                self.settings.insert(key.clone(), value.clone());
                true
            }
            Change::Conduct(write) => self.conduct(write) == Taken::Done,
            Change::TakeStaged { data, instance } => self.take_staged(*data, *instance) == Taken::Done,
            Change::DrainExecutor { group, name, drain } => {
                match self.executors.get_mut(&(group.clone(), name.clone())) {
                    Some((_, drained)) => {
                        drained.clone_from(drain);
                        true
                    }
                    None => false,
                }
            }
            Change::PutPass(pass) => {
                self.passes.insert(pass.digest.clone(), pass.clone());
                true
            }
        };
        if done { Taken::Done } else { Taken::Lost }
    }

    fn remove_instance(&mut self, id: InstanceId, purged: &mut Purged) {
        let Some(gone) = self.instances.remove(&id) else { return };
        self.sharded.remove(&id);
        for task in self.tasks_of.remove(&id).unwrap_or_default() {
            self.tasks.remove(&task);
            self.history.remove(&task);
            self.log_parts.retain(|(of, ..), _| *of != task);
            self.gone.insert(task);
            purged.tasks.push(task);
        }
        purged.instances += 1;
        // The ledger knows both; what people ask for is no business of its.
        if !matches!(gone.row.origin, Origin::Schedule | Origin::Added) {
            self.gone_firings.insert((gone.row.job, gone.row.key));
            return;
        }
        let Some(row) = self.jobs.get_mut(&gone.row.job) else { return };
        if row.purged_through.is_some_and(|mark| gone.row.due <= mark) {
            return;
        }
        row.purged_through = Some(gone.row.due);
        self.begin_ledger_anew(gone.row.job);
    }

    /// What lies wholly before the mark goes; omissions, which are known by planned times, a good while later.
    fn begin_ledger_anew(&mut self, job: JobId) {
        let Some(mark) = self.jobs.get(&job).and_then(|row| row.purged_through) else { return };
        self.spans.entry(job).or_default().retain(|span| span.to > mark);
        self.omissions.entry(job).or_default().retain(|omission| omission.to > mark - OMISSIONS_OUTLIVE);
    }

    /// Final instances that may go, those that ended first before the others.
    fn purgeable(&self, purge: &Purge) -> Vec<InstanceId> {
        let mut found = BTreeSet::new();
        let mut newer: BTreeMap<JobId, u32> = BTreeMap::new();
        for instance in self.instances_in_order().into_iter().rev() {
            let newer = newer.entry(instance.job).or_default();
            let is_old = instance.finished_at.is_some_and(|at| at < purge.instances_before);
            if instance.state.is_final() && (is_old || *newer >= purge.keep_per_job) {
                found.insert((instance.finished_at, instance.id));
            }
            *newer += 1;
        }
        found.into_iter().map(|(_, id)| id).take(purge.limit).collect()
    }

    fn purge(&mut self, purge: &Purge) -> Purged {
        let mut purged = Purged::default();
        for id in self.purgeable(purge) {
            self.remove_instance(id, &mut purged);
        }
        let requests: Vec<RequestId> = in_order(self.requests.values())
            .into_iter()
            .filter(|request| request.asked_at < purge.requests_before && self.answers.contains_key(&request.id))
            .map(|request| request.id)
            .take(purge.limit)
            .collect();
        let incidents: Vec<i64> = self
            .incidents
            .values()
            .filter(|incident| incident.at < purge.incidents_before && incident.seq <= self.incident_mark)
            .map(|incident| incident.seq)
            .take(purge.limit)
            .collect();
        let alarms: Vec<AlarmId> = in_order(self.alarms.values())
            .into_iter()
            .filter(|alarm| alarm.state == AlarmState::Resolved && alarm.last_at < purge.alarms_before)
            .map(|alarm| alarm.id)
            .take(purge.limit)
            .collect();
        purged.others += (requests.len() + incidents.len() + alarms.len()) as u64;
        purged.others += self.purge_staged(purge);
        purged.others += self.purge_passes(purge);
        let before = self.questions.len() + self.backfills.len();
        self.questions.retain(|one| one.answer.is_none() || one.asked_at >= purge.instances_before);
        self.backfills.retain(|one| one.ended.is_none() || one.asked_at >= purge.instances_before);
        purged.others += (before - self.questions.len() - self.backfills.len()) as u64;
        for id in requests {
            self.requests.remove(&id);
            self.answers.remove(&id);
        }
        for seq in incidents {
            self.incidents.remove(&seq);
        }
        for id in alarms {
            self.alarms.remove(&id);
        }
        purged
    }

    fn ledger_extract(&self, job: JobId) -> LedgerExtract {
        let mark = self.jobs.get(&job).and_then(|row| row.purged_through);
        let after_mark = |at: Timestamp| mark.is_none_or(|mark| at > mark);
        let mut made: Vec<MadeInstance> = self
            .instances_in_order()
            .into_iter()
            .filter(|instance| instance.job == job && after_mark(instance.due))
            .filter(|instance| matches!(instance.origin, Origin::Schedule | Origin::Added))
            .map(|instance| MadeInstance {
                id: instance.id,
                origin: instance.origin,
                key: instance.key.clone(),
                planned: instance.planned,
                due: instance.due,
            })
            .collect();
        made.sort_by_key(|instance| instance.due);
        LedgerExtract {
            purged_through: mark,
            spans: self.spans.get(&job).cloned().unwrap_or_default(),
            made,
            omissions: self.omissions.get(&job).cloned().unwrap_or_default(),
        }
    }
}

fn in_order<'a, T: 'a>(rows: impl Iterator<Item = &'a Placed<T>>) -> Vec<&'a T> {
    in_order_placed(rows).into_iter().map(|placed| &placed.row).collect()
}

fn in_order_placed<'a, T: 'a>(rows: impl Iterator<Item = &'a Placed<T>>) -> Vec<&'a Placed<T>> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|placed| placed.order);
    rows
}

fn rows_of<'a>(tasks: Vec<&'a Placed<Task>>) -> impl Iterator<Item = Task> + use<'a> {
    tasks.into_iter().map(|task| task.row.clone())
}

#[async_trait]
impl LeaseStore for MemoryStore {
    async fn take_lease(&self, lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<Option<Lead>> {
        self.write("take_lease", |stored| Ok(stored.take_lease(lease, holder, now, until))).await
    }

    async fn keep_lease(&self, lead: &Lead, until: Timestamp) -> Result<bool> {
        self.write("keep_lease", |stored| Ok(stored.keep_lease(lead, until))).await
    }

    async fn leases(&self, beginning: &str) -> Result<Vec<LeaseRow>> {
        self.read("leases", |stored| {
            let named = stored.leases.iter().filter(|(lease, _)| lease.starts_with(beginning));
            named
                .map(|(lease, row)| LeaseRow { lead: Lead::of(lease, row.holder.clone(), row.term), until: row.until })
                .collect()
        })
        .await
    }

    async fn take_leases(
        &self,
        leases: &[String],
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Lead>> {
        self.write("take_leases", |stored| {
            Ok(leases.iter().filter_map(|lease| stored.take_lease(lease, holder, now, until)).collect())
        })
        .await
    }

    async fn keep_leases(&self, leads: &[Lead], until: Timestamp) -> Result<Vec<Lead>> {
        self.write("keep_leases", |stored| {
            Ok(leads.iter().filter(|lead| stored.keep_lease(lead, until)).cloned().collect())
        })
        .await
    }

    async fn release_leases(&self, leads: &[Lead]) -> Result<()> {
        self.write("release_leases", |stored| {
            leads.iter().for_each(|lead| stored.release_lease(lead));
            Ok(())
        })
        .await
    }

    async fn release_lease(&self, lead: &Lead) -> Result<()> {
        self.write("release_lease", |stored| {
            stored.release_lease(lead);
            Ok(())
        })
        .await
    }

    async fn lease(&self, lease: &str) -> Result<Option<LeaseRow>> {
        self.read("lease", |stored| {
            stored
                .leases
                .get(lease)
                .map(|row| LeaseRow { lead: Lead::of(lease, row.holder.clone(), row.term), until: row.until })
        })
        .await
    }
}

#[async_trait]
impl NodeStore for MemoryStore {
    async fn put_node(&self, lead: &Lead, entry: &NodeEntry, forget_before: Timestamp) -> Result<()> {
        self.lead("put_node", lead, |stored| {
            stored.nodes.insert(entry.node.clone(), entry.clone());
            stored.nodes.retain(|_, entry| entry.seen_at >= forget_before);
        })
        .await
    }

    async fn remove_node(&self, lead: &Lead, node: &str) -> Result<()> {
        self.lead("remove_node", lead, |stored| stored.nodes.remove(node)).await.map(|_| ())
    }

    async fn nodes(&self) -> Result<Vec<NodeEntry>> {
        self.read("nodes", |stored| stored.nodes.values().cloned().collect()).await
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn due_jobs(&self, of: Partitions, now: Timestamp, limit: usize) -> Result<Vec<Job>> {
        self.read("due_jobs", |stored| {
            let mut due: Vec<&Job> =
                stored.live_jobs().filter(|job| of.has(job.id) && job.next_due.is_some_and(|due| due <= now)).collect();
            due.sort_by_key(|job| job.next_due);
            due.into_iter().take(limit).cloned().collect()
        })
        .await
    }

    async fn earliest_due(&self, of: Partitions) -> Result<Option<Timestamp>> {
        self.read("earliest_due", |stored| {
            stored.live_jobs().filter(|job| of.has(job.id)).filter_map(|job| job.next_due).min()
        })
        .await
    }

    async fn idle_fixed_delay_jobs(&self, of: Partitions, limit: usize) -> Result<Vec<Job>> {
        self.read("idle_fixed_delay_jobs", |stored| {
            let busy: BTreeSet<JobId> = stored
                .instances
                .values()
                .filter(|instance| !instance.row.state.is_final())
                .map(|instance| instance.row.job)
                .collect();
            stored
                .live_jobs()
                .filter(|job| matches!(job.spec.schedule, Schedule::FixedDelay(_)))
                .filter(|job| of.has(job.id) && job.next_due.is_none() && !busy.contains(&job.id))
                .take(limit)
                .cloned()
                .collect()
        })
        .await
    }

    async fn jobs(&self, ids: &[JobId]) -> Result<Vec<Job>> {
        self.read("jobs", |stored| {
            let ids: BTreeSet<_> = ids.iter().collect();
            ids.into_iter().filter_map(|id| stored.job(*id)).cloned().collect()
        })
        .await
    }

    async fn job_named(&self, name: &str) -> Result<Option<Job>> {
        self.read("job_named", |stored| stored.live_jobs().find(|job| job.spec.name == name).cloned()).await
    }

    async fn job_version(&self, job: JobId, version: u32) -> Result<Option<JobVersion>> {
        self.read("job_version", |stored| stored.versions.get(&(job, version)).cloned()).await
    }

    async fn job_versions(&self, of: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
        self.read("job_versions", |stored| of.iter().filter_map(|key| stored.versions.get(key).cloned()).collect())
            .await
    }

    async fn jobs_after(&self, after: Option<JobId>, limit: usize) -> Result<Vec<Job>> {
        self.read("jobs_after", |stored| {
            stored.live_jobs().filter(|job| after.is_none_or(|after| job.id > after)).take(limit).cloned().collect()
        })
        .await
    }

    async fn ledger_extract(&self, job: JobId) -> Result<LedgerExtract> {
        self.read("ledger_extract", |stored| stored.ledger_extract(job)).await
    }
}

#[async_trait]
impl InstanceStore for MemoryStore {
    async fn launch(&self, lead: &Lead, launches: &[Launch]) -> Result<Vec<Launched>> {
        self.lead("launch", lead, |stored| launches.iter().map(|launch| stored.launch(launch)).collect()).await
    }

    async fn plan_next(&self, lead: &Lead, job: JobId, version: u32, next_due: Timestamp) -> Result<bool> {
        self.lead("plan_next", lead, |stored| {
            let unplanned = stored
                .jobs
                .get_mut(&job)
                .filter(|row| !row.removed && row.job.version == version && row.job.next_due.is_none());
            let Some(row) = unplanned else { return false };
            row.job.next_due = Some(next_due);
            true
        })
        .await
    }

    async fn unassigned(&self, of: Partitions, limit: usize) -> Result<Vec<Instance>> {
        self.read("unassigned", |stored| {
            let mut with_one_before_them = BTreeSet::new();
            let mut found = Vec::new();
            for instance in stored.instances_in_order() {
                if instance.state.is_final() {
                    continue;
                }
                let is_oldest = with_one_before_them.insert(instance.job);
                let its_turn = instance.beside || is_oldest;
                if of.has(instance.job)
                    && its_turn
                    && instance.state == InstanceState::Waiting
                    && !stored.has_tasks(instance.id)
                {
                    found.push(instance.clone());
                }
            }
            found.truncate(limit);
            found
        })
        .await
    }

    async fn replacing(&self, of: Partitions, limit: usize) -> Result<Vec<Instance>> {
        self.read("replacing", |stored| {
            let mut open_jobs = BTreeSet::new();
            let mut newest: BTreeMap<JobId, (u64, &Instance)> = BTreeMap::new();
            for placed in in_order_placed(stored.instances.values()) {
                let instance = &placed.row;
                if instance.state.is_final() {
                    continue;
                }
                let stands_behind = !open_jobs.insert(instance.job);
                if of.has(instance.job)
                    && stands_behind
                    && instance.replaces
                    && instance.state == InstanceState::Waiting
                {
                    newest.insert(instance.job, (placed.order, instance));
                }
            }
            let mut newest: Vec<_> = newest.into_values().collect();
            newest.sort_by_key(|(order, _)| *order);
            newest.into_iter().map(|(_, instance)| instance.clone()).take(limit).collect()
        })
        .await
    }

    async fn assign(&self, lead: &Lead, assignments: &[Assignment]) -> Result<Vec<bool>> {
        self.lead("assign", lead, |stored| assignments.iter().map(|assignment| stored.assign(assignment)).collect())
            .await
    }

    async fn end_unassigned(&self, lead: &Lead, change: &InstanceMove) -> Result<bool> {
        self.lead("end_unassigned", lead, |stored| stored.end_unassigned(change)).await
    }

    async fn ended_together(&self, of: Partitions, limit: usize) -> Result<Vec<InstanceId>> {
        self.read("ended_together", |stored| {
            let together = |instance: &&Instance| {
                of.has(instance.job)
                    && stored.several.contains(&instance.id)
                    && !instance.state.is_final()
                    && !stored.goes_on(instance.id)
            };
            stored.instances_in_order().into_iter().filter(together).map(|instance| instance.id).take(limit).collect()
        })
        .await
    }

    async fn firing(&self, job: JobId, origin: Origin, key: &str) -> Result<Option<InstanceId>> {
        let is_it = |made: &Instance| (made.job, made.origin, made.key.as_str()) == (job, origin, key);
        self.read("firing", |stored| {
            stored.instances.values().find(|placed| is_it(&placed.row)).map(|placed| placed.row.id)
        })
        .await
    }

    async fn settle(&self, lead: &Lead, settlements: &[Settlement]) -> Result<Vec<bool>> {
        self.lead("settle", lead, |stored| settlements.iter().map(|settlement| stored.settle(settlement)).collect())
            .await
    }

    async fn instances(&self, ids: &[InstanceId]) -> Result<Vec<Instance>> {
        self.read("instances", |stored| {
            let ids: BTreeSet<_> = ids.iter().collect();
            ids.into_iter().filter_map(|id| stored.instances.get(id)).map(|placed| placed.row.clone()).collect()
        })
        .await
    }

    async fn unfinished(&self, jobs: &[JobId]) -> Result<Vec<(JobId, InstanceId, InstanceState)>> {
        self.read("unfinished", |stored| {
            stored
                .instances_in_order()
                .into_iter()
                .filter(|instance| jobs.contains(&instance.job) && !instance.state.is_final())
                .map(|instance| (instance.job, instance.id, instance.state))
                .collect()
        })
        .await
    }
}

#[async_trait]
impl UnplannedStore for MemoryStore {
    async fn downstream(&self, upstream: &str) -> Result<Vec<Job>> {
        self.read("downstream", |stored| {
            let runs_after =
                |job: &&Job| after_of(&job.spec).is_some_and(|after| after.jobs.iter().any(|name| name == upstream));
            stored.live_jobs().filter(runs_after).cloned().collect()
        })
        .await
    }

    async fn endings(&self, of: Partitions, limit: usize) -> Result<Vec<Ending>> {
        self.read("endings", |stored| {
            let is_new = |ending: &&Ending| !ending.kept && of.has(ending.job);
            let new: Vec<&Ending> = stored.endings.values().filter(is_new).take(limit).collect();
            let jobs: BTreeSet<JobId> = new.iter().map(|ending| ending.job).collect();
            let last = new.last().map_or(0, |ending| ending.seq);
            let wanted = |ending: &&Ending| match ending.kept {
                true => jobs.contains(&ending.job),
                false => ending.seq <= last && of.has(ending.job),
            };
            stored.endings.values().filter(wanted).cloned().collect()
        })
        .await
    }

    async fn launch_unplanned(&self, lead: &Lead, unplanned: &[Unplanned]) -> Result<Vec<Launched>> {
        self.lead("launch_unplanned", lead, |stored| unplanned.iter().map(|one| stored.launch_unplanned(one)).collect())
            .await
    }

    async fn open_backfills(&self, of: Partitions, limit: usize) -> Result<Vec<Backfill>> {
        self.read("open_backfills", |stored| {
            let is_open = |backfill: &&Backfill| {
                of.has(backfill.job) && backfill.ended.is_none() && stored.job(backfill.job).is_some()
            };
            stored.backfills.iter().filter(is_open).take(limit).cloned().collect()
        })
        .await
    }

    async fn open_questions(&self, limit: usize) -> Result<Vec<Question>> {
        self.read("open_questions", |stored| {
            let mut open: Vec<Question> =
                stored.questions.iter().filter(|question| question.answer.is_none()).cloned().collect();
            open.sort_by_key(|question| question.until);
            open.truncate(limit);
            open
        })
        .await
    }

    async fn end_questions(&self, lead: &Lead, now: Timestamp, limit: usize) -> Result<u64> {
        self.lead("end_questions", lead, |stored| {
            let mut over: Vec<(Timestamp, QuestionId)> = stored
                .questions
                .iter()
                .filter(|question| question.answer.is_none() && question.until <= now)
                .map(|question| (question.until, question.id))
                .collect();
            over.sort_unstable_by_key(|(until, _)| *until);
            over.truncate(limit);
            for question in &mut stored.questions {
                if over.iter().any(|(_, id)| *id == question.id) {
                    question.answer = Some(QuestionAnswer::ran_out(now));
                }
            }
            over.len() as u64
        })
        .await
    }
}

#[async_trait]
impl TaskStore for MemoryStore {
    async fn take(&self, lead: &Lead, steps: &[Step]) -> Result<Vec<Taken>> {
        self.lead("take", lead, |stored| steps.iter().map(|step| stored.take(&lead.holder, step)).collect()).await
    }

    async fn claim(&self, lead: &Lead, pushes: &[Step], bounds: &[Bound], limits: &Limits) -> Result<Vec<Claimed>> {
        self.lead("claim", lead, |stored| {
            let as_seen = stored.limits() == *limits;
            let held: Vec<u64> = bounds.iter().map(|bound| stored.held(&bound.scope)).collect();
            let mut room = Room::left(bounds, &held);
            pushes.iter().map(|step| stored.claim(&lead.holder, step, |task| as_seen && room.admit(task))).collect()
        })
        .await
    }

    async fn held(&self, scopes: &[Scope]) -> Result<Vec<u64>> {
        self.read("held", |stored| scopes.iter().map(|scope| stored.held(scope)).collect()).await
    }

    async fn tasks(&self, ids: &[TaskId]) -> Result<Vec<Task>> {
        self.read("tasks", |stored| rows_of(stored.tasks_where(|task| ids.contains(&task.id))).collect()).await
    }

    async fn tasks_of(&self, instance: InstanceId) -> Result<Vec<Task>> {
        self.read("tasks_of", |stored| rows_of(stored.tasks_where(|task| task.instance == instance)).collect()).await
    }

    async fn due_tasks(&self, of: Partitions, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        self.read("due_tasks", |stored| {
            let mut due =
                stored.tasks_where(|task| of.has(task.job) && task.state() == TaskState::Waiting && task.due_at <= now);
            due.sort_by_key(|task| (task.row.due_at, task.order));
            rows_of(due).take(limit).collect()
        })
        .await
    }

    async fn earliest_due_task(&self, of: Partitions) -> Result<Option<Timestamp>> {
        self.read("earliest_due_task", |stored| {
            rows_of(stored.tasks_where(|task| of.has(task.job) && task.state() == TaskState::Waiting))
                .map(|task| task.due_at)
                .min()
        })
        .await
    }

    async fn ready_tasks(&self, wanted: &Wanted) -> Result<Vec<Task>> {
        self.read("ready_tasks", |stored| {
            let mut ready = stored.tasks_where(|task| task.state() == TaskState::Ready);
            ready.sort_by_key(|task| (task.row.lane, task.row.lane_since, task.order));
            let mut left: BTreeMap<Need, (Lane, usize)> = BTreeMap::new();
            for wanted in &wanted.needs {
                let of_need = left.entry(wanted.need.clone()).or_insert((wanted.down_to, wanted.limit));
                *of_need = (of_need.0.max(wanted.down_to), of_need.1.max(wanted.limit));
            }
            ready.retain(|task| match left.get_mut(&task.row.need()) {
                Some((down_to, left)) if task.row.lane <= *down_to && *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            });
            rows_of(ready).take(wanted.limit).collect()
        })
        .await
    }

    async fn ready_needs(&self) -> Result<Vec<Need>> {
        self.read("ready_needs", |stored| {
            let ready = rows_of(stored.tasks_where(|task| task.state() == TaskState::Ready));
            ready.map(|task| task.need()).collect::<BTreeSet<_>>().into_iter().collect()
        })
        .await
    }

    async fn ready_counts(&self) -> Result<Vec<(Need, Lane, u64)>> {
        self.read("ready_counts", |stored| {
            let mut counts: BTreeMap<(Need, Lane), u64> = BTreeMap::new();
            for task in rows_of(stored.tasks_where(|task| task.state() == TaskState::Ready)) {
                *counts.entry((task.need(), task.lane)).or_default() += 1;
            }
            counts.into_iter().map(|((need, lane), n)| (need, lane, n)).collect()
        })
        .await
    }

    async fn promotable(&self, lane_time: Timestamp, limit: usize) -> Result<Vec<Task>> {
        self.read("promotable", |stored| stored.ready_by(limit, |task| task.promote_at.filter(|at| *at <= lane_time)))
            .await
    }

    async fn expired(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        self.read("expired", |stored| stored.ready_by(limit, |task| task.expires_at.filter(|at| *at <= now))).await
    }

    async fn last_executors(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        self.read("last_executors", |stored| {
            let mut last = BTreeMap::new();
            for task in stored.tasks_where(|task| jobs.contains(&task.job)) {
                if let Some(executor) = &task.row.executor {
                    last.insert(task.row.job, executor.name.clone());
                }
            }
            last.into_iter().collect()
        })
        .await
    }

    async fn past_deadline(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        self.read("past_deadline", |stored| {
            let mut late =
                stored.tasks_where(|task| task.state().is_held() && task.deadline_at.is_some_and(|at| at <= now));
            late.sort_by_key(|task| (task.row.deadline_at, task.order));
            rows_of(late).take(limit).collect()
        })
        .await
    }

    async fn earliest_deadline(&self) -> Result<Option<Timestamp>> {
        self.read("earliest_deadline", |stored| {
            rows_of(stored.tasks_where(|task| task.state().is_held())).filter_map(|task| task.deadline_at).min()
        })
        .await
    }

    async fn stopping_tasks(&self, limit: usize) -> Result<Vec<Task>> {
        self.read("stopping_tasks", |stored| {
            let stopping = stored.tasks_where(|task| task.state().is_held() && task.stop.is_some());
            rows_of(stopping).take(limit).collect()
        })
        .await
    }

    async fn holders(&self) -> Result<Vec<ExecutorRef>> {
        self.read("holders", |stored| {
            let held = rows_of(stored.tasks_where(|task| task.state().is_held()));
            held.filter_map(|task| task.executor).collect::<BTreeSet<_>>().into_iter().collect()
        })
        .await
    }

    async fn held_by(&self, executor: &ExecutorRef, limit: usize) -> Result<Vec<Task>> {
        self.read("held_by", |stored| {
            rows_of(stored.tasks_where(|task| task.is_held_by(executor))).take(limit).collect()
        })
        .await
    }

    async fn lane_depths(&self, stale_before: Timestamp) -> Result<Vec<LaneDepth>> {
        self.read("lane_depths", |stored| {
            let depth = |lane| {
                let ready = stored.tasks_where(|task| task.state() == TaskState::Ready && task.lane == lane);
                let count = |keep: &dyn Fn(&Task) -> bool| ready.iter().filter(|task| keep(&task.row)).count() as u64;
                LaneDepth {
                    lane,
                    depth: ready.len() as u64,
                    oldest_ready_at: ready.iter().filter_map(|task| task.row.ready_at).min(),
                    promoted: count(&|task| task.promotions > 0),
                    stale: count(&|task| task.lane_since.is_some_and(|since| since < stale_before)),
                }
            };
            Lane::ALL.into_iter().map(depth).collect()
        })
        .await
    }
}

#[async_trait]
impl ExecutorStore for MemoryStore {
    async fn put_executors(&self, lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> Result<()> {
        self.lead("put_executors", lead, |stored| {
            for entry in seen {
                let name = (entry.executor.group.clone(), entry.executor.name.clone());
                if stored.executors.get(&name).is_some_and(|(there, _)| !may_replace(entry, there)) {
                    continue;
                }
                let drain = stored.executors.remove(&name).and_then(|(_, drain)| drain);
                stored.executors.insert(name, (entry.clone(), drain));
            }
            stored.executors.retain(|_, (entry, _)| entry.gone_at.is_none_or(|gone| gone >= forget_before));
        })
        .await
    }

    async fn executors(&self) -> Result<Vec<(ExecutorEntry, Option<Drain>)>> {
        self.read("executors", |stored| stored.executors.values().cloned().collect()).await
    }
}

#[async_trait]
impl AlarmStore for MemoryStore {
    async fn new_incidents(&self, limit: usize) -> Result<Vec<Incident>> {
        self.read("new_incidents", |stored| {
            stored
                .incidents
                .range(stored.incident_mark + 1..)
                .map(|(_, incident)| incident)
                .take(limit)
                .cloned()
                .collect()
        })
        .await
    }

    async fn put_alarms(&self, lead: &Lead, alarms: &[Alarm], mark: Option<IncidentMark>) -> Result<Taken> {
        self.lead("put_alarms", lead, |stored| {
            if !alarms.iter().all(|alarm| stored.alarm_is_as_seen(alarm)) {
                return Taken::Lost;
            }
            for alarm in alarms {
                stored.put_alarm(alarm);
            }
            stored.incident_mark = mark.unwrap_or(stored.incident_mark);
            Taken::Done
        })
        .await
    }

    async fn latest_alarms(&self, of: &[(AlarmRule, String)]) -> Result<Vec<Alarm>> {
        self.read("latest_alarms", |stored| {
            let mut latest: BTreeMap<(&str, &str), &Alarm> = BTreeMap::new();
            for alarm in in_order(stored.alarms.values()) {
                if of.iter().any(|(rule, subject)| *rule == alarm.rule && *subject == alarm.subject) {
                    latest.insert((alarm.rule.name(), &alarm.subject), alarm);
                }
            }
            latest.into_values().cloned().collect()
        })
        .await
    }

    async fn alarms(&self, ids: &[AlarmId]) -> Result<Vec<Alarm>> {
        self.read("alarms", |stored| {
            let ids: BTreeSet<_> = ids.iter().collect();
            ids.into_iter().filter_map(|id| stored.alarms.get(id)).map(|placed| placed.row.clone()).collect()
        })
        .await
    }

    async fn open_alarms(&self) -> Result<Vec<Alarm>> {
        self.read("open_alarms", |stored| {
            in_order(stored.alarms.values())
                .into_iter()
                .filter(|alarm| alarm.state != AlarmState::Resolved)
                .cloned()
                .collect()
        })
        .await
    }
}

#[async_trait]
impl RequestStore for MemoryStore {
    async fn ask(&self, request: &Request) -> Result<()> {
        self.write("ask", |stored| {
            if !stored.requests.contains_key(&request.id) {
                let order = stored.next_order();
                stored.requests.insert(request.id, Placed { order, row: request.clone() });
            }
            Ok(())
        })
        .await
    }

    async fn open_requests(&self, limit: usize) -> Result<Vec<Request>> {
        self.read("open_requests", |stored| {
            in_order(stored.requests.values())
                .into_iter()
                .filter(|request| !stored.answers.contains_key(&request.id))
                .take(limit)
                .cloned()
                .collect()
        })
        .await
    }

    async fn answer(&self, request: RequestId) -> Result<Option<Answer>> {
        self.read("answer", |stored| stored.answers.get(&request).cloned()).await
    }

    async fn carry_out(&self, lead: &Lead, done: &CarriedOut) -> Result<Taken> {
        self.lead("carry_out", lead, |stored| {
            if !stored.requests.contains_key(&done.request) || stored.answers.contains_key(&done.request) {
                return Taken::Lost;
            }
            // Rare, and each change may rest on the one before it: a copy is the simplest transaction.
            let mut next = stored.clone();
            for change in &done.changes {
                if next.change(&lead.holder, change) == Taken::Lost {
                    return Taken::Lost;
                }
            }
            next.answers.insert(done.request, done.answer.clone());
            next.audit.extend(done.audit.iter().cloned());
            *stored = next;
            Taken::Done
        })
        .await
    }
}

#[async_trait]
impl SettingStore for MemoryStore {
    async fn setting(&self, key: &str) -> Result<Option<Value>> {
        self.read("setting", |stored| stored.settings.get(key).cloned()).await
    }

    async fn settings(&self) -> Result<Vec<(String, Value)>> {
        self.read("settings", |stored| {
            stored.settings.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
        })
        .await
    }
}

#[async_trait]
impl UpkeepStore for MemoryStore {
    async fn purge(&self, lead: &Lead, purge: &Purge) -> Result<Purged> {
        self.lead("purge", lead, |stored| stored.purge(purge)).await
    }
}
