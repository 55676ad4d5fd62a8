//! The life of a task, as one table.
//!
//! `docs/task-states.md` is drawn from it, and the store writes a state only as a [`Move`],
//! which nothing but this table makes: no code can write a state that the table forbids.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Timestamp, Words};

/// Where a task stands. The number is what people, logs and the protocol say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, TS)]
#[ts(type = "number")]
#[repr(u16)]
pub enum TaskState {
    /// For its turn: trigger time, retry delay, overlap queue.
    Waiting = 100,
    /// Waiting to be pushed.
    Ready = 101,
    /// At the executor, queued there.
    Pushed = 201,
    Running = 202,
    /// Still executing past its timeout: the logic is slow, the executor is alive.
    Overrun = 203,
    Succeeded = 301,
    /// Final for this attempt.
    Failed = 302,
    /// By an operator or by `replace`.
    Cancelled = 303,
    /// No longer worth doing when its turn came.
    Superseded = 304,
    /// No executor was there to take it.
    ReadyTimeout = 401,
    /// Pushed and never started; its withdrawal was confirmed.
    PushTimeout = 402,
    /// The executor died or went silent while it had the task.
    ExecutorLost = 403,
}

/// What can happen to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskEvent {
    /// Its turn has come.
    Due,
    /// It was given to an executor.
    Push,
    /// The executor says that it did not start it: the same attempt.
    HandBack,
    Start,
    Succeed,
    Fail,
    /// Its time is up and it still runs.
    PassDeadline,
    /// Its executor is gone.
    Lose,
    /// No executor came for it.
    NoExecutor,
    /// It was taken back before it began.
    NeverStarted,
    Cancel,
    Supersede,
    /// The next attempt, by policy.
    Retry,
    /// The next attempt, because an operator said so.
    RunAgain,
}

/// A step of a task's life that the table allows, with the moment and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    from: TaskState,
    to: TaskState,
    at: Timestamp,
    attempt: u32,
    reason: Option<Words>,
}

impl Move {
    /// No step: something that was said of an attempt and changed nothing, to be read in the history.
    pub(super) fn remark(state: TaskState, at: Timestamp, attempt: u32, reason: Words) -> Move {
        Move { from: state, to: state, at, attempt, reason: Some(reason) }
    }

    /// It only says something.
    pub fn is_remark(&self) -> bool {
        self.from == self.to
    }

    pub fn from(&self) -> TaskState {
        self.from
    }

    pub fn to(&self) -> TaskState {
        self.to
    }

    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The attempt that made the step; a step back to Waiting still belongs to the attempt that ended.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn reason(&self) -> Option<&Words> {
        self.reason.as_ref()
    }
}

/// The table has no such step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot happen to a task that is {from}")]
pub struct Illegal {
    pub from: TaskState,
    pub event: TaskEvent,
}

impl TaskState {
    pub const ALL: [TaskState; 12] = {
        use TaskState::*;
        [
            Waiting,
            Ready,
            Pushed,
            Running,
            Overrun,
            Succeeded,
            Failed,
            Cancelled,
            Superseded,
            ReadyTimeout,
            PushTimeout,
            ExecutorLost,
        ]
    };

    /// The whole life of a task.
    pub fn on(self, event: TaskEvent) -> Result<TaskState, Illegal> {
        use TaskEvent::*;
        use TaskState::*;

        let to = match (self, event) {
            (Waiting, Due) => Ready,
            (Waiting | Ready, Supersede) => Superseded,

            (Ready, Push) => Pushed,
            (Ready, NoExecutor) => ReadyTimeout,

            (Pushed, HandBack) => Ready,
            (Pushed, Start) => Running,
            (Pushed, NeverStarted) => PushTimeout,

            (Running, PassDeadline) => Overrun,

            (Pushed | Running | Overrun, Succeed) => Succeeded,
            (Pushed | Running | Overrun, Fail) => Failed,
            (Pushed | Running | Overrun, Lose) => ExecutorLost,

            (Waiting | Ready | Pushed | Running | Overrun, Cancel) => Cancelled,

            (Failed | ReadyTimeout | PushTimeout | ExecutorLost, Retry | RunAgain) => Waiting,
            (Cancelled, RunAgain) => Waiting,

            (from, event) => return Err(Illegal { from, event }),
        };
        Ok(to)
    }

    pub(super) fn step(
        self,
        event: TaskEvent,
        at: Timestamp,
        attempt: u32,
        reason: Option<Words>,
    ) -> Result<Move, Illegal> {
        Ok(Move { from: self, to: self.on(event)?, at, attempt, reason })
    }

    pub const fn code(self) -> u16 {
        self as u16
    }

    pub fn from_code(code: u16) -> Option<TaskState> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }

    pub const fn name(self) -> &'static str {
        match self {
            TaskState::Waiting => "Waiting",
            TaskState::Ready => "Ready",
            TaskState::Pushed => "Pushed",
            TaskState::Running => "Running",
            TaskState::Overrun => "Overrun",
            TaskState::Succeeded => "Succeeded",
            TaskState::Failed => "Failed",
            TaskState::Cancelled => "Cancelled",
            TaskState::Superseded => "Superseded",
            TaskState::ReadyTimeout => "Ready timeout",
            TaskState::PushTimeout => "Push timeout",
            TaskState::ExecutorLost => "Executor lost",
        }
    }

    pub const fn name_zh(self) -> &'static str {
        match self {
            TaskState::Waiting => "等待",
            TaskState::Ready => "就绪",
            TaskState::Pushed => "已下发",
            TaskState::Running => "运行中",
            TaskState::Overrun => "超时运行",
            TaskState::Succeeded => "成功",
            TaskState::Failed => "失败",
            TaskState::Cancelled => "已取消",
            TaskState::Superseded => "已作废",
            TaskState::ReadyTimeout => "就绪超时",
            TaskState::PushTimeout => "下发超时",
            TaskState::ExecutorLost => "执行器失联",
        }
    }

    pub const fn meaning(self) -> &'static str {
        match self {
            TaskState::Waiting => "for its turn: trigger time, retry delay, overlap queue",
            TaskState::Ready => "waiting to be pushed",
            TaskState::Pushed => "at the executor, queued there",
            TaskState::Running => "executing",
            TaskState::Overrun => "still executing past its timeout",
            TaskState::Succeeded => "final",
            TaskState::Failed => "final for this attempt",
            TaskState::Cancelled => "by an operator or by `replace`",
            TaskState::Superseded => "no longer worth doing when its turn came",
            TaskState::ReadyTimeout => "no executor was there to take it",
            TaskState::PushTimeout => "pushed and never started",
            TaskState::ExecutorLost => "the executor died or went silent while it had the task",
        }
    }

    /// An executor has it.
    pub const fn is_held(self) -> bool {
        matches!(self, TaskState::Pushed | TaskState::Running | TaskState::Overrun)
    }

    /// Nothing more happens to it by itself. A task between two attempts is Waiting, not here.
    pub const fn is_final(self) -> bool {
        self.code() >= 300
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code(), self.name())
    }
}

impl Serialize for TaskState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.code())
    }
}

impl<'de> Deserialize<'de> for TaskState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = u16::deserialize(deserializer)?;
        TaskState::from_code(code).ok_or_else(|| serde::de::Error::custom(format!("{code} is not a task code")))
    }
}

impl TaskEvent {
    pub const ALL: [TaskEvent; 14] = {
        use TaskEvent::*;
        [
            Due,
            Push,
            HandBack,
            Start,
            Succeed,
            Fail,
            PassDeadline,
            Lose,
            NoExecutor,
            NeverStarted,
            Cancel,
            Supersede,
            Retry,
            RunAgain,
        ]
    };
}

/// The table as the page that people read: a diagram and the list of states.
pub fn page() -> String {
    let mut page = String::from(
        "# The life of a task\n\nDrawn from the table in `model/src/task/state.rs`; `make gen` draws it anew.\n\n\
         ```mermaid\nstateDiagram-v2\n",
    );
    for state in TaskState::ALL {
        page.push_str(&format!("    {} : {} {}\n", state.code(), state.code(), state.name()));
    }
    page.push_str("    [*] --> 100\n");
    for from in TaskState::ALL {
        for event in TaskEvent::ALL {
            if let Ok(to) = from.on(event) {
                page.push_str(&format!("    {} --> {} : {event:?}\n", from.code(), to.code()));
            }
        }
    }
    page.push_str("```\n\n| code | name | 名称 | meaning | may go to |\n| --- | --- | --- | --- | --- |\n");
    for from in TaskState::ALL {
        let mut next: Vec<u16> =
            TaskEvent::ALL.iter().filter_map(|event| from.on(*event).ok()).map(TaskState::code).collect();
        next.sort_unstable();
        next.dedup();
        let next = next.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        page.push_str(&format!(
            "| {} | {} | {} | {} | {next} |\n",
            from.code(),
            from.name(),
            from.name_zh(),
            from.meaning()
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contract, written down a second time by hand.
    #[test]
    fn a_task_may_go_where_the_contract_says_and_nowhere_else() {
        let contract: &[(u16, &[u16])] = &[
            (100, &[101, 303, 304]),
            (101, &[201, 303, 304, 401]),
            (201, &[101, 202, 301, 302, 303, 402, 403]),
            (202, &[203, 301, 302, 303, 403]),
            (203, &[301, 302, 303, 403]),
            (301, &[]),
            (302, &[100]),
            (303, &[100]),
            (304, &[]),
            (401, &[100]),
            (402, &[100]),
            (403, &[100]),
        ];
        for (code, allowed) in contract {
            let from = TaskState::from_code(*code).expect("a code of the contract");
            let mut reached: Vec<u16> =
                TaskEvent::ALL.iter().filter_map(|event| from.on(*event).ok()).map(TaskState::code).collect();
            reached.sort_unstable();
            reached.dedup();
            assert_eq!(&reached, allowed, "from {from}");
        }
    }

    #[test]
    fn only_an_operator_brings_a_cancelled_task_back() {
        assert!(TaskState::Cancelled.on(TaskEvent::Retry).is_err());
        assert_eq!(TaskState::Cancelled.on(TaskEvent::RunAgain), Ok(TaskState::Waiting));
    }
}
