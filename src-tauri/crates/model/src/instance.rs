//! Instances: one firing of a job, and what makes a firing one and the same.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::task::TaskState;
use crate::{Failure, InstanceId, JobId, Lane, Timestamp, Words};

/// What brought an instance about. With the job and the key it is the firing's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// Key: the planned time, before anything moved it.
    Schedule,
    /// An occurrence that a person added. Key: its time.
    Added,
    /// Key: the request's id.
    Manual,
    /// Key: the request's id.
    Api,
    /// Key: the request's id and the time.
    Backfill,
    /// Key: the upstream instances.
    After,
}

impl Origin {
    /// The job's own plan brought it about, by the clock or by the end of others: it breaks a run of firings that
    /// did not happen.
    pub const fn is_planned(self) -> bool {
        matches!(self, Origin::Schedule | Origin::After)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Origin::Schedule => "schedule",
            Origin::Added => "added",
            Origin::Manual => "manual",
            Origin::Api => "api",
            Origin::Backfill => "backfill",
            Origin::After => "after",
        }
    }

    pub fn named(name: &str) -> Option<Origin> {
        [Origin::Schedule, Origin::Added, Origin::Manual, Origin::Api, Origin::Backfill, Origin::After]
            .into_iter()
            .find(|origin| origin.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum InstanceState {
    Waiting,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    Superseded,
}

impl InstanceState {
    pub const ALL: [InstanceState; 6] = [
        InstanceState::Waiting,
        InstanceState::Running,
        InstanceState::Succeeded,
        InstanceState::Failed,
        InstanceState::Cancelled,
        InstanceState::Superseded,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            InstanceState::Waiting => "waiting",
            InstanceState::Running => "running",
            InstanceState::Succeeded => "succeeded",
            InstanceState::Failed => "failed",
            InstanceState::Cancelled => "cancelled",
            InstanceState::Superseded => "superseded",
        }
    }

    pub fn named(name: &str) -> Option<InstanceState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub const fn is_final(self) -> bool {
        !matches!(self, InstanceState::Waiting | InstanceState::Running)
    }
}

impl fmt::Display for InstanceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One firing, with the moments of its life as far as they have come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    pub id: InstanceId,
    pub job: JobId,
    /// The version of the job that made it.
    pub version: u32,
    pub origin: Origin,
    pub key: String,
    pub planned: Timestamp,
    pub due: Timestamp,
    /// Its tasks start no earlier: the due time, or later where many are released at once and spread.
    pub not_before: Timestamp,
    /// Why `due` is not `planned`, or why it fired although late.
    pub reason: Option<Words>,
    pub created: Timestamp,
    pub state: InstanceState,
    /// It need not wait for earlier instances of its job.
    pub beside: bool,
    /// Earlier instances of its job are stopped for it (`overlap: replace`).
    pub replaces: bool,
    pub lane: Lane,
    /// What a person set instead of the job's parameters, as JSON.
    pub parameters: Option<String>,
    /// The instance that this one repeats.
    pub repeats: Option<InstanceId>,
    pub asked_by: Option<String>,
    /// The executor that a person picked for it.
    pub executor: Option<String>,
    pub assigned_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub result: Option<String>,
    /// Why it failed, where that is not said by one of its tasks.
    pub failure: Option<Failure>,
}

impl Instance {
    /// Of one that runs after others: the instances whose end brought it about.
    pub fn upstream(&self) -> Vec<InstanceId> {
        match self.origin {
            Origin::After => self.key.split(',').filter_map(|id| id.parse().ok()).collect(),
            _ => Vec::new(),
        }
    }
}

/// A change of an instance, written with the step of a task or by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceMove {
    pub instance: InstanceId,
    pub to: InstanceState,
    pub at: Timestamp,
    pub result: Option<String>,
}

/// How an instance of several tasks ended, all of them being final: as many as it asks for succeeded (none: all), or
/// someone cancelled it, or nothing of it was worth doing any more, or it failed.
pub fn settled(tasks: &[TaskState], least: Option<u32>) -> InstanceState {
    let count = |state| tasks.iter().filter(|task| **task == state).count();
    let least = least.map_or(tasks.len(), |least| least as usize);
    if count(TaskState::Succeeded) >= least {
        InstanceState::Succeeded
    } else if count(TaskState::Cancelled) > 0 {
        InstanceState::Cancelled
    } else if count(TaskState::Superseded) == tasks.len() {
        InstanceState::Superseded
    } else {
        InstanceState::Failed
    }
}

/// Why a firing did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OmissionReason {
    /// Skipped: the job was paused.
    Paused,
    /// Skipped: an earlier instance was still there.
    Overlap,
    /// Skipped: a person took this occurrence out.
    Exception,
    /// Skipped: nobody works that day, or on any day that it could be moved to.
    NonWorkday,
    /// Skipped: it was moved to a moment at which another one runs.
    Merged,
    /// Skipped: its calendar has no data for the year, and says to wait.
    NoCalendarData,
    /// Missed: it was late, and the policy is `skip`.
    Misfire,
    /// Missed: folded into a later run (`fireOnce`).
    Folded,
    /// Missed: more than `catchUp` makes good.
    BeyondCatchUp,
    /// Missed: a person is asked whether it is still to run (`ask`).
    Asked,
    /// Missed: nothing was to fire then, and the policy is `skip`.
    Blackout,
}

impl OmissionReason {
    pub const ALL: [OmissionReason; 11] = [
        OmissionReason::Paused,
        OmissionReason::Overlap,
        OmissionReason::Exception,
        OmissionReason::NonWorkday,
        OmissionReason::Merged,
        OmissionReason::NoCalendarData,
        OmissionReason::Misfire,
        OmissionReason::Folded,
        OmissionReason::BeyondCatchUp,
        OmissionReason::Asked,
        OmissionReason::Blackout,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            OmissionReason::Paused => "paused",
            OmissionReason::Overlap => "overlap",
            OmissionReason::Exception => "exception",
            OmissionReason::NonWorkday => "nonWorkday",
            OmissionReason::Merged => "merged",
            OmissionReason::NoCalendarData => "noCalendarData",
            OmissionReason::Misfire => "misfire",
            OmissionReason::Folded => "folded",
            OmissionReason::BeyondCatchUp => "beyondCatchUp",
            OmissionReason::Asked => "asked",
            OmissionReason::Blackout => "blackout",
        }
    }

    pub fn named(name: &str) -> Option<OmissionReason> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Missed, not Skipped: time ran away, nobody chose it.
    pub const fn is_missed(self) -> bool {
        matches!(
            self,
            OmissionReason::Misfire
                | OmissionReason::Folded
                | OmissionReason::BeyondCatchUp
                | OmissionReason::Asked
                | OmissionReason::Blackout
        )
    }

    pub fn words(self) -> Words {
        match self {
            OmissionReason::Paused => Words::new("the job was paused", "任务已暂停"),
            OmissionReason::Overlap => Words::new("an earlier run was still there", "前一次运行尚未结束"),
            OmissionReason::Exception => Words::new("this occurrence was taken out", "该次执行已被移除"),
            OmissionReason::NonWorkday => Words::new("not a working day", "非工作日"),
            OmissionReason::Merged => {
                Words::new("moved off a day off to where another run is", "由非工作日移动后与另一次运行合并")
            }
            OmissionReason::NoCalendarData => {
                Words::new("its calendar has no data for that year yet", "日历尚无该年的数据")
            }
            OmissionReason::Misfire => Words::new("too late to run, and the policy is to skip", "已错过，策略为跳过"),
            OmissionReason::Folded => Words::new("missed; folded into a later run", "已错过，合并到之后的一次运行"),
            OmissionReason::BeyondCatchUp => {
                Words::new("missed; more than the catch-up makes good", "已错过，超出补跑上限")
            }
            OmissionReason::Asked => {
                Words::new("missed; a person is asked whether to run it still", "已错过，等待人工决定是否补跑")
            }
            OmissionReason::Blackout => {
                Words::new("in a blackout window, and the policy is to skip", "处于禁止执行时段，策略为跳过")
            }
        }
    }
}

/// An unbroken run of firings that did not happen, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Omission {
    #[ts(type = "string")]
    pub job: JobId,
    pub version: u32,
    /// Planned time of the first and of the last of them.
    pub from: Timestamp,
    pub to: Timestamp,
    pub count: u32,
    pub reason: OmissionReason,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_of_several_tasks_ends_as_they_did() {
        use InstanceState as I;
        use TaskState::{Cancelled, ExecutorLost, Failed, ReadyTimeout, Succeeded, Superseded};
        let table: &[(&[TaskState], Option<u32>, InstanceState)] = &[
            (&[Succeeded, Succeeded], None, I::Succeeded),
            (&[Succeeded, Failed], None, I::Failed),
            (&[Succeeded, ReadyTimeout], Some(1), I::Succeeded),
            (&[Succeeded, Failed, ExecutorLost], Some(2), I::Failed),
            (&[Succeeded, Cancelled], None, I::Cancelled),
            (&[Succeeded, Cancelled], Some(1), I::Succeeded),
            (&[Superseded, Superseded], None, I::Superseded),
            (&[Superseded, Failed], None, I::Failed),
            // More were asked for than there were executors.
            (&[Succeeded], Some(5), I::Failed),
        ];
        for (tasks, least, expected) in table {
            assert_eq!(settled(tasks, *least), *expected, "{tasks:?} {least:?}");
        }
    }
}
