//! Stopping a task, stage by stage: asked, acknowledged, terminated, killed. Pure.

use std::time::Duration;

use campanile_model::Timestamp;
use campanile_model::task::{Step, Stop, StopCause, StopStage, Task, TaskState};

use crate::dispatcher::outcome;

/// An executor has so long before the process group is terminated …
pub const TERMINATE_AFTER: Duration = Duration::from_secs(5);
/// … and so long again before it is killed.
pub const KILL_AFTER: Duration = Duration::from_secs(10);

/// The step that begins to stop a task; a task that nobody holds ends at once. None: it is final, or being stopped.
pub fn ask(task: Task, cause: StopCause, now: Timestamp) -> Option<Step> {
    match task.state() {
        TaskState::Waiting | TaskState::Ready => {
            let mut step = task.begin();
            outcome::cancel(&mut step, now).ok()?;
            Some(step)
        }
        state if state.is_held() => {
            // An operator's word counts for more than a timeout: it decides that there is no next attempt.
            let stronger = match &task.stop {
                None => true,
                Some(stop) => {
                    matches!(stop.cause, StopCause::Overran | StopCause::Withdrawn)
                        && matches!(cause, StopCause::Operator | StopCause::Replaced)
                }
            };
            if !stronger {
                return None;
            }
            let mut step = task.begin();
            let stop = match step.task().stop.clone() {
                Some(stop) => Stop { cause, ..stop },
                None => Stop { cause, stage: StopStage::Asked, asked_at: now, stage_at: now },
            };
            step.task_mut().stop = Some(stop);
            Some(step)
        }
        _ => None,
    }
}

/// The stage that is due by now, where it is a further one than the task is at.
pub fn due_stage(stop: &Stop, now: Timestamp) -> Option<StopStage> {
    let asked = now.since(stop.asked_at);
    let due = if asked >= TERMINATE_AFTER + KILL_AFTER {
        StopStage::Killed
    } else if asked >= TERMINATE_AFTER {
        StopStage::Terminated
    } else {
        StopStage::Asked
    };
    (due > stop.stage).then_some(due)
}

/// When the next stage is due.
pub fn next_stage_at(stop: &Stop) -> Option<Timestamp> {
    match stop.stage {
        StopStage::Asked | StopStage::Acknowledged => Some(stop.asked_at + TERMINATE_AFTER),
        StopStage::Terminated => Some(stop.asked_at + TERMINATE_AFTER + KILL_AFTER),
        StopStage::Killed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_come_after_five_and_fifteen_seconds() {
        let at = Timestamp::EPOCH;
        let stop = |stage| Stop { cause: StopCause::Operator, stage, asked_at: at, stage_at: at };
        let table = [
            (0, StopStage::Asked, None),
            (4, StopStage::Acknowledged, None),
            (5, StopStage::Asked, Some(StopStage::Terminated)),
            (5, StopStage::Acknowledged, Some(StopStage::Terminated)),
            (6, StopStage::Terminated, None),
            (15, StopStage::Terminated, Some(StopStage::Killed)),
            (16, StopStage::Killed, None),
        ];
        for (second, stage, due) in table {
            assert_eq!(due_stage(&stop(stage), at.plus_seconds(second)), due, "{stage:?} after {second} s");
        }
    }
}
