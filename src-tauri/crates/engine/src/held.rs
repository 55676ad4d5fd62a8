//! What ready tasks wait for, for people to see: a cache of what the dispatcher found in its last pass.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use campanile_model::task::{Need, Task};
use campanile_model::{JobId, Lane, Timestamp, Words};

use crate::machine::Resource;

/// Why a ready task does not go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldCause {
    /// Somebody holds everything.
    Everything,
    /// A hold has ended, and what had waited goes out little by little.
    Released,
    /// No live executor that is not draining has the processor, and the labels where some are asked for.
    NoExecutor {
        group: String,
        processor: String,
    },
    /// It may go to this executor alone, and that one is not there.
    ExecutorAway {
        group: String,
        executor: String,
    },
    /// Everyone who could take it has as much as they take.
    Busy {
        group: String,
        processor: String,
    },
    /// Everyone who could take it gave work back too often and is left alone for a while.
    Resting {
        group: String,
        processor: String,
    },
    /// The machines of everyone who could take it have too little left.
    Machine {
        group: String,
        processor: String,
        resource: Resource,
    },
    JobLimit {
        job: JobId,
        most: u32,
    },
    TenantLimit {
        tenant: String,
        most: u32,
    },
    GroupLimit {
        group: String,
        most: u32,
    },
    NodeLimit {
        most: u32,
    },
}

impl HoldCause {
    pub fn words(&self) -> Words {
        match self {
            HoldCause::Everything => Words::new("everything is held", "全部暂停中"),
            HoldCause::Released => Words::new("released from a hold, little by little", "暂停已解除，正在逐步放行"),
            HoldCause::NoExecutor { group, processor } => Words::new(
                format!("no executor of group {group} is there for processor {processor}"),
                format!("执行器组 {group} 中没有执行器可运行 {processor}"),
            ),
            HoldCause::ExecutorAway { executor, .. } => Words::new(
                format!("executor {executor}, which alone may take it, is not there"),
                format!("指定的执行器 {executor} 不在线"),
            ),
            HoldCause::Busy { group, processor } => Words::new(
                format!("the executors of group {group} that have {processor} are full"),
                format!("执行器组 {group} 中可运行 {processor} 的执行器均已满载"),
            ),
            HoldCause::Resting { group, processor } => Words::new(
                format!(
                    "the executors of group {group} that have {processor} keep giving work back, and are left alone for a while"
                ),
                format!("执行器组 {group} 中可运行 {processor} 的执行器反复退回作业，暂缓下发"),
            ),
            HoldCause::Machine { group, processor, resource } => {
                let (en, zh) = match resource {
                    Resource::Cpu => ("CPU", "CPU"),
                    Resource::Memory => ("memory", "内存"),
                    Resource::Disk => ("disk", "磁盘"),
                };
                Words::new(
                    format!("the machines of group {group} that have {processor} are short of {en}"),
                    format!("执行器组 {group} 中可运行 {processor} 的机器{zh}紧张"),
                )
            }
            HoldCause::JobLimit { most, .. } => Words::new(
                format!("{most} of its job are under way, as many as the job allows at once"),
                format!("该任务已有 {most} 个作业在执行，达到任务的并发上限"),
            ),
            HoldCause::TenantLimit { tenant, most } => Words::new(
                format!("{most} of tenant {tenant} are under way, as many as its limit allows"),
                format!("租户 {tenant} 已有 {most} 个作业在执行，达到上限"),
            ),
            HoldCause::GroupLimit { group, most } => Words::new(
                format!("{most} of group {group} are under way, as many as its limit allows"),
                format!("执行器组 {group} 已有 {most} 个作业在执行，达到上限"),
            ),
            HoldCause::NodeLimit { most } => Words::new(
                format!("{most} are under way, as many as the node's limit allows"),
                format!("节点已有 {most} 个作业在执行，达到上限"),
            ),
        }
    }

    /// Whether time spent like this counts towards the ready timeout.
    pub fn is_absence(&self) -> bool {
        matches!(self, HoldCause::NoExecutor { .. } | HoldCause::ExecutorAway { .. })
    }
}

/// A cause with what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub cause: HoldCause,
    pub since: Timestamp,
    /// Ready tasks, as they were last counted.
    pub tasks: u64,
}

/// What the dispatcher found of one need: below this lane nothing goes (none: nothing at all), for this reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub need: Need,
    pub below: Option<Lane>,
    pub cause: HoldCause,
}

impl Finding {
    pub fn is_about(&self, need: &Need, lane: Lane) -> bool {
        self.need == *need && self.below.is_none_or(|below| lane > below)
    }
}

#[derive(Default)]
struct State {
    since: BTreeMap<HoldCause, (Timestamp, u64)>,
    findings: HashMap<Need, Finding>,
    all: Option<HoldCause>,
}

#[derive(Default)]
pub struct HeldTable(Mutex<State>);

impl HeldTable {
    /// Puts what one pass found in the place of what the last one did. `all` holds whatever nothing else does.
    pub fn found(&self, findings: Vec<Finding>, all: Option<HoldCause>, now: Timestamp) {
        let mut state = self.state();
        let causes = findings.iter().map(|finding| &finding.cause).chain(&all);
        let since = causes
            .map(|cause| (cause.clone(), state.since.get(cause).copied().unwrap_or((now, 0))))
            .collect::<BTreeMap<_, _>>();
        state.since = since;
        state.findings = findings.into_iter().map(|finding| (finding.need.clone(), finding)).collect();
        state.all = all;
    }

    /// Says how many ready tasks there are of each need and lane.
    pub fn count(&self, ready: &[(Need, Lane, u64)]) {
        let mut state = self.state();
        let mut counts: BTreeMap<HoldCause, u64> = BTreeMap::new();
        for (need, lane, tasks) in ready {
            if let Some(cause) = state.cause(need, *lane) {
                *counts.entry(cause.clone()).or_default() += tasks;
            }
        }
        for (cause, (_, tasks)) in &mut state.since {
            *tasks = counts.get(cause).copied().unwrap_or(0);
        }
    }

    /// Every cause with what it holds.
    pub fn all(&self) -> Vec<Held> {
        let state = self.state();
        state
            .since
            .iter()
            .map(|(cause, (since, tasks))| Held { cause: cause.clone(), since: *since, tasks: *tasks })
            .collect()
    }

    /// What holds this task, and since when it has held anything; none: it goes with the next pass, or is not Ready.
    pub fn of(&self, task: &Task) -> Option<Held> {
        let state = self.state();
        let cause = state.cause(&task.need(), task.lane)?;
        let (since, tasks) = state.since.get(cause).copied()?;
        Some(Held { cause: cause.clone(), since, tasks })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cause(&self, need: &Need, lane: Lane) -> Option<&HoldCause> {
        let finding = self.findings.get(need).filter(|finding| finding.is_about(need, lane));
        finding.map(|finding| &finding.cause).or(self.all.as_ref())
    }
}
