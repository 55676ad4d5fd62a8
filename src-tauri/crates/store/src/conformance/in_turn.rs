//! Several stores on one database, each call to the next of them: as several programs would share it.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use campanile_model::alarm::{Alarm, AlarmRule};
use campanile_model::backfill::Backfill;
use campanile_model::chain::Ending;
use campanile_model::executor::{Drain, ExecutorEntry};
use campanile_model::instance::{Instance, InstanceMove, InstanceState, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::limits::Limits;
use campanile_model::lock::LockBoard;
use campanile_model::node::NodeEntry;
use campanile_model::pass::Pass;
use campanile_model::question::Question;
use campanile_model::request::{Answer, Request};
use campanile_model::sharding::{Chunk, Level, Piece, PieceAt, PieceOutcomes, ShardRun, Staged};
use campanile_model::task::{ExecutorRef, Incident, Need, Step, Task};
use campanile_model::{AlarmId, DataId, InstanceId, JobId, Lane, Partitions, RequestId, TaskId, Timestamp};
use serde_json::Value;

use crate::*;

pub struct InTurn<S> {
    stores: Vec<S>,
    turn: AtomicUsize,
}

impl<S> InTurn<S> {
    pub fn new(stores: impl Into<Vec<S>>) -> InTurn<S> {
        InTurn { stores: stores.into(), turn: AtomicUsize::new(0) }
    }

    fn next(&self) -> &S {
        &self.stores[self.turn.fetch_add(1, Ordering::Relaxed) % self.stores.len()]
    }
}

macro_rules! in_turn {
    ($($contract:ident {$(
        $verb:ident($($name:ident: $type:ty),*) -> $answer:ty;
    )*})*) => {$(
        #[async_trait]
        impl<S: $contract> $contract for InTurn<S> {$(
            async fn $verb(&self, $($name: $type),*) -> Result<$answer> {
                self.next().$verb($($name),*).await
            }
        )*}
    )*};
}

in_turn! {
    LeaseStore {
        take_lease(lease: &str, holder: &str, now: Timestamp, until: Timestamp) -> Option<Lead>;
        keep_lease(lead: &Lead, until: Timestamp) -> bool;
        release_lease(lead: &Lead) -> ();
        lease(lease: &str) -> Option<LeaseRow>;
        leases(beginning: &str) -> Vec<LeaseRow>;
        take_leases(leases: &[String], holder: &str, now: Timestamp, until: Timestamp) -> Vec<Lead>;
        keep_leases(leads: &[Lead], until: Timestamp) -> Vec<Lead>;
        release_leases(leads: &[Lead]) -> ();
    }
    NodeStore {
        put_node(lead: &Lead, entry: &NodeEntry, forget_before: Timestamp) -> ();
        remove_node(lead: &Lead, node: &str) -> ();
        nodes() -> Vec<NodeEntry>;
    }
    JobStore {
        due_jobs(of: Partitions, now: Timestamp, limit: usize) -> Vec<Job>;
        earliest_due(of: Partitions) -> Option<Timestamp>;
        idle_fixed_delay_jobs(of: Partitions, limit: usize) -> Vec<Job>;
        jobs(ids: &[JobId]) -> Vec<Job>;
        job_named(name: &str) -> Option<Job>;
        job_version(job: JobId, version: u32) -> Option<JobVersion>;
        job_versions(of: &[(JobId, u32)]) -> Vec<JobVersion>;
        jobs_after(after: Option<JobId>, limit: usize) -> Vec<Job>;
        ledger_extract(job: JobId) -> LedgerExtract;
    }
    InstanceStore {
        launch(lead: &Lead, launches: &[Launch]) -> Vec<Launched>;
        plan_next(lead: &Lead, job: JobId, version: u32, next_due: Timestamp) -> bool;
        unassigned(of: Partitions, limit: usize) -> Vec<Instance>;
        replacing(of: Partitions, limit: usize) -> Vec<Instance>;
        assign(lead: &Lead, assignments: &[Assignment]) -> Vec<bool>;
        end_unassigned(lead: &Lead, change: &InstanceMove) -> bool;
        ended_together(of: Partitions, limit: usize) -> Vec<InstanceId>;
        settle(lead: &Lead, settlements: &[Settlement]) -> Vec<bool>;
        firing(job: JobId, origin: Origin, key: &str) -> Option<InstanceId>;
        instances(ids: &[InstanceId]) -> Vec<Instance>;
        unfinished(jobs: &[JobId]) -> Vec<(JobId, InstanceId, InstanceState)>;
    }
    UnplannedStore {
        downstream(upstream: &str) -> Vec<Job>;
        endings(of: Partitions, limit: usize) -> Vec<Ending>;
        launch_unplanned(lead: &Lead, unplanned: &[Unplanned]) -> Vec<Launched>;
        open_backfills(of: Partitions, limit: usize) -> Vec<Backfill>;
        open_questions(limit: usize) -> Vec<Question>;
        end_questions(lead: &Lead, now: Timestamp, limit: usize) -> u64;
    }
    ExecutorStore {
        put_executors(lead: &Lead, seen: &[ExecutorEntry], forget_before: Timestamp) -> ();
        executors() -> Vec<(ExecutorEntry, Option<Drain>)>;
    }
    ShardStore {
        conduct(lead: &Lead, write: &ShardWrite) -> Taken;
        shard_runs(of: Partitions, after: Option<InstanceId>, limit: usize) -> Vec<ShardRun>;
        shard_run(instance: InstanceId) -> Option<ShardRun>;
        levels(instance: InstanceId) -> Vec<Level>;
        levels_from(instance: InstanceId, from: u32, limit: usize) -> Vec<Level>;
        level_sizes(instance: InstanceId, draft: u32) -> Vec<(u32, u64)>;
        chunks(instance: InstanceId, draft: u32, from: (u32, u64), limit: usize) -> Vec<Chunk>;
        pieces(from: &[(InstanceId, PieceAt)], limit: usize) -> Vec<(InstanceId, Piece, PieceOutcomes)>;
        item_outcomes(of: &[(InstanceId, PieceAt, u64)]) -> Vec<(InstanceId, PieceOutcomes)>;
        tasks_after(instance: InstanceId, after: Option<TaskId>, limit: usize) -> Vec<Task>;
        open_tasks(instance: InstanceId, limit: usize) -> Vec<Task>;
    }
    StagedStore {
        stage(staged: &Staged, chunks: &[Chunk]) -> Taken;
        staged(data: DataId) -> Option<Staged>;
        staged_chunks(data: DataId, limit: usize) -> Vec<Chunk>;
        discard_staged(data: DataId) -> Taken;
    }
    TaskStore {
        take(lead: &Lead, steps: &[Step]) -> Vec<Taken>;
        claim(lead: &Lead, pushes: &[Step], bounds: &[Bound], limits: &Limits) -> Vec<Claimed>;
        held(scopes: &[Scope]) -> Vec<u64>;
        tasks(ids: &[TaskId]) -> Vec<Task>;
        tasks_of(instance: InstanceId) -> Vec<Task>;
        due_tasks(of: Partitions, now: Timestamp, limit: usize) -> Vec<Task>;
        earliest_due_task(of: Partitions) -> Option<Timestamp>;
        ready_tasks(wanted: &Wanted) -> Vec<Task>;
        ready_needs() -> Vec<Need>;
        ready_counts() -> Vec<(Need, Lane, u64)>;
        promotable(lane_time: Timestamp, limit: usize) -> Vec<Task>;
        expired(now: Timestamp, limit: usize) -> Vec<Task>;
        last_executors(jobs: &[JobId]) -> Vec<(JobId, String)>;
        past_deadline(now: Timestamp, limit: usize) -> Vec<Task>;
        earliest_deadline() -> Option<Timestamp>;
        stopping_tasks(limit: usize) -> Vec<Task>;
        holders() -> Vec<ExecutorRef>;
        held_by(executor: &ExecutorRef, limit: usize) -> Vec<Task>;
        lane_depths(stale_before: Timestamp) -> Vec<LaneDepth>;
    }
    AlarmStore {
        new_incidents(limit: usize) -> Vec<Incident>;
        put_alarms(lead: &Lead, alarms: &[Alarm], mark: Option<IncidentMark>) -> Taken;
        latest_alarms(of: &[(AlarmRule, String)]) -> Vec<Alarm>;
        alarms(ids: &[AlarmId]) -> Vec<Alarm>;
        open_alarms() -> Vec<Alarm>;
    }
    LockStore {
        next_token(lock: &str) -> u64;
        put_lock_board(board: &LockBoard, forget_before: Timestamp) -> ();
        lock_boards() -> Vec<LockBoard>;
    }
    LogStore {
        note_log_parts(parts: &[LogPart]) -> ();
        log_parts(tasks: &[TaskId]) -> Vec<LogPart>;
    }
    PassStore {
        put_pass(lead: &Lead, pass: &Pass) -> ();
        pass(digest: &str) -> Option<Pass>;
    }
    RequestStore {
        ask(request: &Request) -> ();
        open_requests(limit: usize) -> Vec<Request>;
        answer(request: RequestId) -> Option<Answer>;
        carry_out(lead: &Lead, done: &CarriedOut) -> Taken;
    }
    SettingStore {
        setting(key: &str) -> Option<Value>;
        settings() -> Vec<(String, Value)>;
    }
    UpkeepStore {
        purge(lead: &Lead, purge: &Purge) -> Purged;
    }
}
