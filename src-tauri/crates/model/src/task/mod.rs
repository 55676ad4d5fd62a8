//! Tasks: the smallest unit that an executor runs.
//!
//! A task changes through a [`Step`] alone: it takes the task as it was read, carries it along
//! the table of `state`, and is written only where the task is still as it was read.

pub mod need;
mod part;
pub mod state;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use need::{JobLimit, Need, Needs, Placement};
pub use part::Part;
pub use state::{Illegal, Move, TaskEvent, TaskState};

use crate::sharding::{Chunk, PieceOutcomes};
use crate::{Failure, InstanceId, JobId, Lane, TaskId, Timestamp, Words};

/// An executor as the engine knows it: a name within its group, and which of its lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
pub struct ExecutorRef {
    pub group: String,
    pub name: String,
    /// A new one at every start: an executor that restarts is another owner.
    pub boot: String,
}

/// Why a task is being stopped; it decides what the end is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum StopCause {
    Operator,
    /// `overlap: replace`.
    Replaced,
    /// Its timeout passed and its policy is `kill`.
    Overran,
    /// Pushed and not started in time; it is taken back.
    Withdrawn,
}

/// How far stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum StopStage {
    Asked,
    Acknowledged,
    /// The whole process group was told to terminate.
    Terminated,
    Killed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Stop {
    pub cause: StopCause,
    pub stage: StopStage,
    pub asked_at: Timestamp,
    /// When the present stage was reached.
    pub stage_at: Timestamp,
}

/// What the job's policies say of each of its tasks; copied when the task is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskLimits {
    pub ready_timeout_ms: i64,
    pub push_timeout_ms: i64,
    /// None: it may run for as long as it likes.
    pub run_timeout_ms: Option<i64>,
    pub kill_on_overrun: bool,
    pub retry: crate::Retry,
    /// One of several of its instance, which ends when all of them have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_several: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_rules: Vec<crate::FailureRule>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub instance: InstanceId,
    pub job: JobId,
    pub version: u32,
    pub group: String,
    pub processor: String,
    pub limits: TaskLimits,
    pub needs: Needs,
    /// From then on it is no longer worth beginning.
    pub expires_at: Option<Timestamp>,
    /// Of a sharded run; none: it is all of its run.
    pub part: Option<Part>,

    state: TaskState,
    /// Counts from 1.
    attempt: u32,
    /// Grows by one with every write; a write names the one it has seen.
    fence: u64,

    pub lane: Lane,
    /// When a Waiting task's turn comes.
    pub due_at: Timestamp,
    /// When it became Ready for this attempt.
    pub ready_at: Option<Timestamp>,
    /// When it came into its lane; its place there goes by it.
    pub lane_since: Option<Timestamp>,
    /// When it moves up, by the clock of the lanes.
    pub promote_at: Option<Timestamp>,
    /// How often it has moved up.
    pub promotions: u32,
    pub pushed_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// When the monitor has to look at it next: its push or run timeout.
    pub deadline_at: Option<Timestamp>,

    /// Who has it, or had it last.
    pub executor: Option<ExecutorRef>,
    /// The last report of this attempt that counted. Numbers go on where an attempt is handed back.
    pub sequence: u64,
    pub retries_used: u32,
    /// Times an executor was lost before it had started the task.
    pub lost_unstarted: u32,
    /// Times an executor gave it back unbegun.
    pub handed_back: u32,
    pub stop: Option<Stop>,
    pub failure: Option<Failure>,
    /// What the processor handed back, as JSON.
    pub result: Option<String>,
}

/// What an assigner has to say of a new task.
pub struct NewTask {
    pub id: TaskId,
    pub instance: InstanceId,
    pub job: JobId,
    pub version: u32,
    pub group: String,
    pub processor: String,
    pub limits: TaskLimits,
    pub needs: Needs,
    pub expires_at: Option<Timestamp>,
    pub lane: Lane,
    pub due_at: Timestamp,
}

/// The columns that a store keeps beside those it may show to anyone.
pub struct StoredTask {
    pub state: TaskState,
    pub attempt: u32,
    pub fence: u64,
}

impl Task {
    pub fn waiting(new: NewTask) -> Task {
        Task {
            id: new.id,
            instance: new.instance,
            job: new.job,
            version: new.version,
            group: new.group,
            processor: new.processor,
            limits: new.limits,
            needs: new.needs,
            expires_at: new.expires_at,
            part: None,
            state: TaskState::Waiting,
            attempt: 1,
            fence: 0,
            lane: new.lane,
            due_at: new.due_at,
            ready_at: None,
            lane_since: None,
            promote_at: None,
            promotions: 0,
            pushed_at: None,
            started_at: None,
            finished_at: None,
            deadline_at: None,
            executor: None,
            sequence: 0,
            retries_used: 0,
            lost_unstarted: 0,
            handed_back: 0,
            stop: None,
            failure: None,
            result: None,
        }
    }

    /// A task as a store read it back. Nobody else has a state to give.
    #[must_use]
    pub fn stored(mut self, row: &StoredTask) -> Task {
        self.state = row.state;
        self.attempt = row.attempt;
        self.fence = row.fence;
        self
    }

    pub fn state(&self) -> TaskState {
        self.state
    }

    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// The same for every attempt, so that what a task does can be made to count once.
    pub fn idempotency_key(&self) -> String {
        self.id.to_string()
    }

    /// What decides whether it may go while it is Ready.
    pub fn need(&self) -> Need {
        self.needs.of(&self.group, &self.processor, self.job)
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    pub fn is_held_by(&self, executor: &ExecutorRef) -> bool {
        self.state.is_held() && self.executor.as_ref() == Some(executor)
    }

    pub fn begin(self) -> Step {
        Step {
            seen: self.fence,
            before: self.state,
            started_before: self.started_at,
            task: self,
            moves: Vec::new(),
            instance: None,
            incidents: Vec::new(),
            outcomes: Vec::new(),
            done: 0,
            data: Vec::new(),
        }
    }

    /// The same as a part of a sharded run.
    #[must_use]
    pub fn as_part(mut self, part: Part) -> Task {
        self.part = Some(part);
        self
    }
}

/// Something that went wrong, written with the step that saw it, for the alerter to read once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Given by the store; what the alerter remembers.
    pub seq: i64,
    pub at: Timestamp,
    pub kind: IncidentKind,
    pub job: JobId,
    pub instance: Option<InstanceId>,
    pub task: Option<TaskId>,
    pub executor: Option<String>,
    pub failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncidentKind {
    ReadyTimeout,
    PushTimeout,
    ExecutorLost,
    Overran,
    SystemFailure,
    InstanceFailed,
    /// Not trouble: it ends what InstanceFailed began.
    InstanceSucceeded,
    FiringMissed,
}

/// A task on its way from one row to the next.
#[derive(Clone, Debug)]
pub struct Step {
    seen: u64,
    before: TaskState,
    started_before: Option<Timestamp>,
    task: Task,
    moves: Vec<Move>,
    instance: Option<crate::instance::InstanceMove>,
    incidents: Vec<Incident>,
    outcomes: Vec<PieceOutcomes>,
    done: u64,
    data: Vec<Chunk>,
}

impl Step {
    /// Carries the task along the table.
    pub fn on(&mut self, event: TaskEvent, at: Timestamp, reason: Option<Words>) -> Result<(), Illegal> {
        let step = self.task.state.step(event, at, self.task.attempt, reason)?;
        self.task.state = step.to();
        match event {
            TaskEvent::Retry | TaskEvent::RunAgain => {
                self.task.attempt += 1;
                self.task.sequence = 0;
                self.task.ready_at = None;
                self.task.lane_since = None;
                self.task.promote_at = None;
                self.task.pushed_at = None;
                self.task.started_at = None;
                self.task.finished_at = None;
                self.task.deadline_at = None;
                self.task.stop = None;
                self.task.result = None;
                self.task.part = self.task.part.map(Part::again);
            }
            TaskEvent::Due => {
                self.task.ready_at = Some(at);
                self.task.lane_since = Some(at);
            }
            TaskEvent::HandBack => {
                self.task.handed_back += 1;
                self.task.pushed_at = None;
                self.task.deadline_at = None;
                self.task.executor = None;
                self.task.stop = None;
            }
            TaskEvent::Push => self.task.pushed_at = Some(at),
            TaskEvent::Start => self.task.started_at = Some(at),
            TaskEvent::PassDeadline => self.task.deadline_at = None,
            _ => {
                self.task.finished_at = Some(at);
                self.task.deadline_at = None;
            }
        }
        self.moves.push(step);
        Ok(())
    }

    /// Leaves the task where it is, and says something of an attempt in its history.
    pub fn remarks(&mut self, attempt: u32, at: Timestamp, reason: Words) {
        self.moves.push(Move::remark(self.task.state, at, attempt, reason));
    }

    /// The task as it will be; what is set here is written with the step.
    pub fn task(&self) -> &Task {
        &self.task
    }

    pub fn task_mut(&mut self) -> &mut Task {
        &mut self.task
    }

    pub fn moves_instance(&mut self, change: crate::instance::InstanceMove) {
        self.instance = Some(change);
    }

    pub fn notes(&mut self, incident: Incident) {
        self.incidents.push(incident);
    }

    /// What became of items, each piece as it is from here on, and how many more of the run are done by it.
    pub fn settles(&mut self, outcomes: Vec<PieceOutcomes>, done: u64) {
        self.outcomes.extend(outcomes);
        self.done += done;
    }

    /// What is to take the place of the run's data.
    pub fn gives(&mut self, chunk: Chunk) {
        self.data.push(chunk);
    }

    pub fn outcomes(&self) -> &[PieceOutcomes] {
        &self.outcomes
    }

    /// How many more items of the run are done.
    pub fn done(&self) -> u64 {
        self.done
    }

    pub fn data(&self) -> &[Chunk] {
        &self.data
    }

    /// The fence that the row must still show.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The fence that the row shows afterwards.
    pub fn next_fence(&self) -> u64 {
        self.seen + 1
    }

    /// The state in which the row was read.
    pub fn before(&self) -> TaskState {
        self.before
    }

    /// When the attempt had started that the row showed.
    pub fn started_before(&self) -> Option<Timestamp> {
        self.started_before
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    pub fn instance(&self) -> Option<&crate::instance::InstanceMove> {
        self.instance.as_ref()
    }

    pub fn incidents(&self) -> &[Incident] {
        &self.incidents
    }
}
