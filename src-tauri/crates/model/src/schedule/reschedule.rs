//! What dragging an occurrence on the calendar comes to: an exception for this run, or a new
//! schedule for this and the following ones or for all.
//!
//! Pure: nothing is saved here. The answer carries what the person sees before saving, the
//! schedule in words and the next runs before and after. What cannot be said by the schedule's
//! own fields is refused, with the reason and what could be done instead.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Exception, PreviewRun, Schedule, ScheduleError, Timing, Zones, preview};
use crate::{Timestamp, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    ThisRun,
    Following,
    All,
}

/// What is to be saved.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "save", rename_all = "camelCase")]
pub enum Upshot {
    /// One more exception on the schedule as it is.
    Exception { exception: Exception },
    /// A new version. The old one holds before `effective_from`, this one from it on, so that
    /// no occurrence belongs to both.
    #[serde(rename_all = "camelCase")]
    NewSchedule { schedule: Schedule, effective_from: Timestamp },
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rescheduled {
    pub outcome: Upshot,
    /// 'daily at 09:00 → daily at 10:30'
    pub words: Words,
    /// The next runs as they would be without the change, from where it begins to show.
    pub before: Vec<PreviewRun>,
    /// The same stretch of time with it.
    pub after: Vec<PreviewRun>,
}

/// Why it cannot be moved so, and what can be done instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub reason: Words,
    pub instead: Words,
}

const SHOWN_RUNS: usize = 5;

/// Moves the occurrence planned at `planned` to `new_time`.
pub fn reschedule(
    timing: &Timing,
    planned: Timestamp,
    new_time: Timestamp,
    scope: Scope,
    zones: &Zones,
    now: Timestamp,
) -> Result<Rescheduled, Refusal> {
    let compiled = timing.compile(zones).map_err(|error| not_planned(&error))?;
    if new_time < now {
        return Err(Refusal::because(
            Words::new("that time has already passed", "该时间已经过去"),
            Words::new("choose a time that is still to come", "请选择将来的时间"),
        ));
    }
    if !compiled.plan().plans(planned) {
        return Err(Refusal::because(
            Words::new("the schedule has no run at that time", "该调度在此时没有运行"),
            Words::new("look at the calendar again: it may have changed", "请刷新日历：调度可能已更改"),
        ));
    }
    match scope {
        Scope::ThisRun => {
            let exception = Exception::MoveTo { planned, at: new_time };
            let mut changed = timing.clone();
            changed.exceptions.push(exception);
            let shown_from = planned.min(new_time).plus_millis(-1);
            let runs = |timing: &Timing| {
                preview(timing, zones, shown_from, SHOWN_RUNS)
                    .map(|preview| preview.runs)
                    .map_err(|error| not_planned(&error))
            };
            Ok(Rescheduled {
                outcome: Upshot::Exception { exception },
                words: timing.schedule.words(zones),
                before: runs(timing)?,
                after: runs(&changed)?,
            })
        }
        Scope::Following | Scope::All => Err(Refusal::because(
            Words::new("this schedule cannot be moved as a whole", "该调度不能整体移动"),
            Words::new("move only this run, or edit the schedule", "请只移动这一次，或直接编辑调度"),
        )),
    }
}

impl Refusal {
    fn because(reason: Words, instead: Words) -> Refusal {
        Refusal { reason, instead }
    }
}

fn not_planned(error: &ScheduleError) -> Refusal {
    Refusal::because(error.words(), Words::new("edit the schedule", "请编辑该调度"))
}
