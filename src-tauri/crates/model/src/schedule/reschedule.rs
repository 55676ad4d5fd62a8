//! What dragging an occurrence on the calendar comes to: an exception for this run, or a new
//! schedule for this and the following ones or for all.
//!
//! Pure: nothing is saved here. The answer carries what the person sees before saving, the
//! schedule in words and the next runs before and after. What cannot be said by the schedule's
//! own fields is refused, with the reason and what could be done instead.
//!
//! 'Following' and 'all' are both a new version from one instant on: the old version has what is
//! before it, the new one the rest, so that no occurrence belongs to both and none is lost.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::civil::{Day, Wall, date_of, day_of, days_in_month, split, weekday};
use super::{
    CompiledTiming, Exception, FixedDelay, FixedRate, Once, Plan, PreviewRun, Repeat, RepeatLevel, Schedule,
    ScheduleError, Timing, Zone, preview,
};
use crate::{Almanac, Timestamp, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    ThisRun,
    Following,
    /// From the next run on, whichever run was dragged; what has run is not touched.
    All,
}

/// What is to be saved.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "save", rename_all = "camelCase")]
pub enum Upshot {
    /// One more exception on the schedule as it is, in place of `replaces`.
    Exception {
        exception: Exception,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        replaces: Option<Exception>,
    },
    /// A new version. The old one holds before `effective_from`, this one from it on.
    #[serde(rename_all = "camelCase")]
    NewSchedule { schedule: Schedule, effective_from: Timestamp },
    /// A new version with another window, as it is otherwise.
    #[serde(rename_all = "camelCase")]
    NewSpread { spread_seconds: u32 },
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
    /// What the new schedule brings with it, such as months that lack the day it was put on.
    pub warnings: Vec<Words>,
}

/// Why it cannot be moved so, and what can be done instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub reason: Words,
    pub instead: Words,
}

const SHOWN_RUNS: usize = 5;

/// A person reads before saving, and saving takes its time: what comes within this is left alone
/// when all runs are moved, or it could be lost between the two versions.
const SAVING_SECONDS: i64 = 60;

/// Moves the occurrence planned at `planned` to `new_time`, before spread.
pub fn reschedule(
    timing: &Timing,
    planned: Timestamp,
    new_time: Timestamp,
    scope: Scope,
    almanac: &Almanac,
    now: Timestamp,
) -> Result<Rescheduled, Refusal> {
    let compiled = timing.compile(almanac).map_err(|error| Refusal::of(&error))?;
    let plan = compiled.plan();
    let by_hand = timing.exceptions.iter().rev().find(|exception| exception.planned() == planned).copied();
    check_it_is_still_to_come(&compiled, by_hand, planned, new_time, now)?;
    let added = matches!(by_hand, Some(Exception::Added { .. })) && !plan.plans(planned);
    let own_time = matches!(timing.schedule, Schedule::Once(_) | Schedule::FixedDelay(_)) && !added;
    if scope == Scope::ThisRun && !own_time {
        let exception = match added {
            true => Exception::Added { at: new_time },
            false => Exception::MoveTo { planned, at: new_time },
        };
        return this_run(timing, plan, exception, by_hand, almanac);
    }
    if added {
        return Err(Refusal::because(
            Words::new("this run was added by hand and belongs to no series", "这次运行是手动添加的，不属于任何系列"),
            Words::new("move only this run", "请只移动这一次"),
        ));
    }
    if planned < now && by_hand.is_none() {
        return Err(Refusal::because(
            Words::new(
                "the time for which it was planned has passed; it was only moved off a day off",
                "其计划时间已过，只是因非工作日而顺延",
            ),
            Words::new("move only this run", "请只移动这一次"),
        ));
    }
    let calendar = timing.calendar.as_deref();
    let drag = Drag { planned, new_time, zone: plan.zone(), almanac, calendar };
    let schedule = match scope {
        Scope::All => drag.all(&timing.schedule, timing.saved_at)?,
        Scope::ThisRun | Scope::Following => drag.following(&timing.schedule)?,
    };
    let new_plan = schedule.plan_by(almanac, calendar, now).map_err(|error| Refusal::of(&error))?;
    let effective_from = match scope {
        Scope::All => drag.first_for_all(plan, &new_plan, now)?,
        Scope::ThisRun | Scope::Following => planned.min(new_time),
    };
    if !new_plan.plans(new_time) {
        return Err(Refusal::because(
            Words::new(
                "the series cannot be moved so: its interval would not meet that time",
                "系列无法这样移动：按其间隔不会落在该时间",
            ),
            Words::new(
                "move only this run, or this and the following ones",
                "请只移动这一次，或移动这一次及之后的运行",
            ),
        ));
    }
    if scope != Scope::All {
        let (from, to) = (planned.min(new_time), planned.max(new_time));
        if let Some(passed) = plan.next_after(from).filter(|passed| *passed < to) {
            return Err(drag.would_pass_over(passed));
        }
        match new_plan.next_after(effective_from.plus_millis(-1)) {
            Some(first) if first == new_time => {}
            Some(first) => return Err(drag.would_also_run(first)),
            None => return Err(drag.would_also_run(new_time)),
        }
    }
    let changed = Timing {
        schedule: schedule.clone(),
        effective_from: Some(effective_from.max(timing.effective_from.unwrap_or(effective_from))),
        saved_at: now,
        ..timing.clone()
    };
    let (old, new) = (timing.words(almanac), changed.words(almanac));
    Ok(Rescheduled {
        words: Words::new(format!("{} → {}", old.en, new.en), format!("{} → {}", old.zh, new.zh)),
        before: shown(timing, almanac, effective_from)?,
        after: shown(&changed, almanac, effective_from)?,
        warnings: schedule.warnings_by(almanac, calendar).map_err(|error| Refusal::of(&error))?,
        outcome: Upshot::NewSchedule { schedule, effective_from },
    })
}

fn check_it_is_still_to_come(
    timing: &CompiledTiming,
    by_hand: Option<Exception>,
    planned: Timestamp,
    new_time: Timestamp,
    now: Timestamp,
) -> Result<(), Refusal> {
    if new_time < now {
        return Err(Refusal::because(
            Words::new("that time has already passed", "该时间已经过去"),
            Words::new("choose a time that is still to come", "请选择将来的时间"),
        ));
    }
    let stands_at = match by_hand {
        Some(Exception::MoveTo { at, .. } | Exception::Added { at }) => Some(at),
        Some(Exception::Skip { .. }) => None,
        // A day off may have moved it on; its spread is not looked at.
        None => timing.due_of(planned).map(|due| due.plus_seconds(-i64::from(timing.place_in_spread_seconds()))),
    };
    match stands_at {
        Some(at) if at >= now => Ok(()),
        Some(_) => Err(Refusal::because(
            Words::new("this run has already come", "这次运行已经发生"),
            Words::new("move a run that is still to come, or run the job now", "请移动将来的运行，或立即运行该任务"),
        )),
        None => Err(Refusal::because(
            Words::new("the job has no run at that time", "该任务在此时没有运行"),
            Words::new("look at the calendar again: it may have changed", "请刷新日历：调度可能已更改"),
        )),
    }
}

pub(super) fn shown(timing: &Timing, almanac: &Almanac, from: Timestamp) -> Result<Vec<PreviewRun>, Refusal> {
    preview(timing, almanac, from.plus_millis(-1), SHOWN_RUNS)
        .map(|preview| preview.runs)
        .map_err(|error| Refusal::of(&error))
}

fn this_run(
    timing: &Timing,
    plan: &Plan,
    exception: Exception,
    replaces: Option<Exception>,
    almanac: &Almanac,
) -> Result<Rescheduled, Refusal> {
    let mut changed = timing.clone();
    changed.exceptions.retain(|other| Some(*other) != replaces);
    changed.exceptions.push(exception);
    let (from, to) = match (exception, replaces) {
        (Exception::MoveTo { at, .. }, Some(Exception::MoveTo { at: before, .. })) => (before, at),
        (Exception::MoveTo { planned, at }, _) => (planned, at),
        (Exception::Added { at }, Some(old)) => (old.planned(), at),
        (Exception::Added { at } | Exception::Skip { planned: at }, _) => (at, at),
    };
    let drag = Drag { planned: from, new_time: to, zone: plan.zone(), almanac, calendar: timing.calendar.as_deref() };
    let (told_from, told_to) = (drag.told(from), drag.told(to));
    Ok(Rescheduled {
        outcome: Upshot::Exception { exception, replaces },
        words: Words::new(
            format!("this run only: {} → {}", told_from.en, told_to.en),
            format!("仅这一次：{} → {}", told_from.zh, told_to.zh),
        ),
        before: shown(timing, almanac, from.min(to))?,
        after: shown(&changed, almanac, from.min(to))?,
        warnings: Vec::new(),
    })
}

/// One occurrence on its way from one time to another.
struct Drag<'a> {
    planned: Timestamp,
    new_time: Timestamp,
    zone: Option<&'a Zone>,
    almanac: &'a Almanac,
    calendar: Option<&'a str>,
}

impl Drag<'_> {
    /// The schedule whose first run is the one that was dragged.
    fn following(&self, schedule: &Schedule) -> Result<Schedule, Refusal> {
        let start_time = Some(self.new_time);
        Ok(match schedule {
            Schedule::Repeat(repeat) => Schedule::Repeat(self.repeat_following(repeat)?),
            Schedule::Cron(cron) => Schedule::Cron(cron.moved(self.wall(self.planned), self.wall(self.new_time))?),
            Schedule::FixedRate(rate) => Schedule::FixedRate(FixedRate { start_time, ..rate.clone() }),
            Schedule::FixedDelay(delay) => Schedule::FixedDelay(FixedDelay { start_time, ..delay.clone() }),
            Schedule::Once(_) => Schedule::Once(Once { at: self.new_time }),
            Schedule::After(_) | Schedule::Manual => return Err(no_times()),
        })
    }

    /// The schedule in which every run is moved as the one that was dragged.
    fn all(&self, schedule: &Schedule, saved_at: Timestamp) -> Result<Schedule, Refusal> {
        match schedule {
            Schedule::Repeat(repeat) => self.repeat_all(repeat).map(Schedule::Repeat),
            Schedule::FixedRate(rate) => {
                let start = rate.start_time.unwrap_or(saved_at).plus_millis(self.millis());
                Ok(Schedule::FixedRate(FixedRate { start_time: Some(start), ..rate.clone() }))
            }
            other => self.following(other),
        }
    }

    fn millis(&self) -> i64 {
        self.new_time.millis() - self.planned.millis()
    }

    fn wall(&self, at: Timestamp) -> Wall {
        self.zone.map_or(at.millis(), |zone| zone.wall(at))
    }

    /// The days before and after.
    fn days(&self) -> (Day, Day) {
        (split(self.wall(self.planned)).0, split(self.wall(self.new_time)).0)
    }

    /// From when 'all' holds: from the first run of the new schedule whose counterpart in the old
    /// one has not come yet, so that a run of today is not had twice.
    fn first_for_all(&self, old: &Plan, new: &Plan, now: Timestamp) -> Result<Timestamp, Refusal> {
        let soonest = now.plus_seconds(SAVING_SECONDS);
        let mut after = soonest;
        while let Some(run) = new.next_after(after) {
            let counterpart = self.counterpart(old, run);
            if counterpart > soonest {
                return Ok(run.min(counterpart));
            }
            after = run;
        }
        Err(Refusal::because(
            Words::new("no run would be left", "之后不会再有运行"),
            Words::new("move only this run", "请只移动这一次"),
        ))
    }

    /// Where a run of the new schedule was in the old one.
    fn counterpart(&self, old: &Plan, run: Timestamp) -> Timestamp {
        let Some(zone) = self.zone else { return run.plus_millis(-self.millis()) };
        if self.planned_by_elapsed_time(old) {
            return run.plus_millis(-self.millis());
        }
        let (from_day, to_day) = self.days();
        let time = split(self.wall(self.planned)).1;
        let day = split(zone.wall(run)).0;
        let on = |day: Day| zone.instant_of(day * super::civil::DAY + time);
        // Where one day of several was changed, the others were moved within their own day.
        let moved_days = on(day - (to_day - from_day));
        if old.plans(moved_days) { moved_days } else { on(day) }
    }

    fn planned_by_elapsed_time(&self, plan: &Plan) -> bool {
        matches!(plan.times, super::Planned::Elapsed { .. })
    }

    fn told(&self, at: Timestamp) -> Words {
        // A schedule without a zone is told in none of the others.
        let words = super::zone::wall_words(self.wall(at));
        match self.zone {
            Some(_) => words,
            None => Words::new(format!("{} UTC", words.en), format!("{} UTC", words.zh)),
        }
    }

    fn would_pass_over(&self, at: Timestamp) -> Refusal {
        let told = self.told(at);
        Refusal::because(
            Words::new(
                format!("it would pass over another run of the series, at {}", told.en),
                format!("会越过该系列的另一次运行（{}）", told.zh),
            ),
            Words::new("move only this run, or stay between its neighbours", "请只移动这一次，或移到前后两次运行之间"),
        )
    }

    fn would_also_run(&self, at: Timestamp) -> Refusal {
        let told = self.told(at);
        Refusal::because(
            Words::new(
                format!("the schedule so moved would run at {} as well", told.en),
                format!("这样移动后，该调度在 {} 也会运行", told.zh),
            ),
            Words::new("move only this run", "请只移动这一次"),
        )
    }

    fn repeat_following(&self, repeat: &Repeat) -> Result<Repeat, Refusal> {
        let (from, to) = self.days();
        let mut moved = Repeat { start_time: self.new_time, ..repeat.clone() };
        self.check_days(repeat, from, to)?;
        moved.repeat_days = replaced_days(repeat, from, to)?;
        moved.count = match repeat.count {
            None => None,
            Some(count) => Some(count.saturating_sub(self.runs_before(repeat)?)),
        };
        Ok(moved)
    }

    fn repeat_all(&self, repeat: &Repeat) -> Result<Repeat, Refusal> {
        let mut moved = repeat.clone();
        let Some(zone) = self.zone.filter(|_| repeat.repeat_level != RepeatLevel::Hour) else {
            moved.start_time = repeat.start_time.plus_millis(self.millis());
            return Ok(moved);
        };
        let (from, to) = self.days();
        self.check_days(repeat, from, to)?;
        moved.repeat_days = replaced_days(repeat, from, to)?;
        let start = split(zone.wall(repeat.start_time)).0;
        let start = match repeat.repeat_level {
            RepeatLevel::Month | RepeatLevel::Year if from != to => {
                let ((_, _, from_date), (_, to_month, to_date)) = (date_of(from), date_of(to));
                let (year, month, date) = date_of(start);
                let month = if repeat.repeat_level == RepeatLevel::Year { to_month } else { month };
                let date = if date == from_date { to_date } else { date };
                if date > days_in_month(year, month) {
                    return Err(Refusal::because(
                        Words::new("the month of the first run has no such day", "首次运行所在的月份没有这一天"),
                        Words::new("move this run and the following ones", "请移动这一次及之后的运行"),
                    ));
                }
                day_of(year, month, date)
            }
            RepeatLevel::Week if weekday(start) == weekday(from) => start + (to - from),
            RepeatLevel::Day => start + (to - from),
            RepeatLevel::Workday if from != to => {
                return Err(Refusal::because(
                    Words::new("a series of working days has no other day to begin on", "工作日系列无法整体改到另一天"),
                    Words::new("move this run and the following ones", "请移动这一次及之后的运行"),
                ));
            }
            _ => start,
        };
        let time = split(zone.wall(self.new_time)).1;
        moved.start_time = zone.instant_of(start * super::civil::DAY + time);
        Ok(moved)
    }

    /// Whether another day means anything at this level.
    fn check_days(&self, repeat: &Repeat, from: Day, to: Day) -> Result<(), Refusal> {
        if from == to {
            return Ok(());
        }
        let several_days = repeat.repeat_days.len() > 1;
        let month = |day: Day| (date_of(day).0, date_of(day).1);
        let monday = |day: Day| day - i64::from(weekday(day));
        match repeat.repeat_level {
            RepeatLevel::Day | RepeatLevel::Workday if repeat.repeat_interval == 1 => {
                Err(Refusal::every_day_is_a_run())
            }
            RepeatLevel::Workday if !self.works_on(to)? => Err(Refusal::because(
                Words::new("that is not a working day", "那一天不是工作日"),
                Words::new("choose a working day, or move only this run", "请选择工作日，或只移动这一次"),
            )),
            RepeatLevel::Week if several_days && repeat.repeat_interval > 1 && monday(from) != monday(to) => {
                Err(Refusal::because(
                    Words::new(
                        "one of several days of the week cannot go to another week",
                        "一周多天的系列不能移到另一周",
                    ),
                    Words::new(
                        "move only this run, or choose a day of the same week",
                        "请只移动这一次，或选择同一周的日期",
                    ),
                ))
            }
            RepeatLevel::Month if !repeat.repeat_days.is_empty() && month(from) != month(to) => Err(Refusal::because(
                Words::new("a run of each month cannot be moved into another month", "每月的运行不能移到另一个月"),
                Words::new("move only this run, or choose a day of the same month", "请只移动这一次，或选择同月的日期"),
            )),
            RepeatLevel::Year if date_of(from).0 != date_of(to).0 => Err(Refusal::because(
                Words::new("a run of each year cannot be moved into another year", "每年的运行不能移到另一年"),
                Words::new("move only this run", "请只移动这一次"),
            )),
            _ => Ok(()),
        }
    }

    /// By the calendar that the series counts its working days by.
    fn works_on(&self, day: Day) -> Result<bool, Refusal> {
        let calendar = match self.calendar {
            Some(name) => self.almanac.calendar(name),
            None => self.almanac.workspace_calendar(self.zone),
        };
        Ok(calendar.map_err(|error| Refusal::of(&error))?.is_working(day))
    }

    /// How many of the counted runs stay with the old schedule.
    fn runs_before(&self, repeat: &Repeat) -> Result<u32, Refusal> {
        let start = repeat.start_time;
        let plan = Schedule::Repeat(repeat.clone()).plan_by(self.almanac, self.calendar, start);
        let plan = plan.map_err(|error| Refusal::of(&error))?;
        let mut before = 0;
        let mut after = start.plus_millis(-1);
        while let Some(run) = plan.next_after(after).filter(|run| *run < self.planned) {
            before += 1;
            after = run;
        }
        Ok(before)
    }
}

/// The named days with one in place of another.
fn replaced_days(repeat: &Repeat, from: Day, to: Day) -> Result<Vec<i8>, Refusal> {
    if from == to || repeat.repeat_days.is_empty() {
        return Ok(repeat.repeat_days.clone());
    }
    // The ways in which a day can be named, in the order in which they are looked for.
    let names = |day: Day| -> Vec<i8> {
        let (year, month, date) = date_of(day);
        match repeat.repeat_level {
            RepeatLevel::Week => vec![weekday(day) as i8 + 1],
            _ => vec![date as i8, date as i8 - days_in_month(year, month) as i8 - 1],
        }
    };
    let new_names = names(to);
    if new_names.iter().any(|name| repeat.repeat_days.contains(name)) {
        return Err(Refusal::already_a_run());
    }
    let named = names(from).into_iter().zip(new_names).find(|(old, _)| repeat.repeat_days.contains(old));
    let Some((old, new)) = named else {
        return Err(Refusal::because(
            Words::new(
                "this first run is at the start of the series, on a day that the series does not name",
                "这是系列的首次运行，当天不在系列所选的日期中",
            ),
            Words::new("move only this run, or edit the schedule", "请只移动这一次，或直接编辑调度"),
        ));
    };
    Ok(repeat.repeat_days.iter().map(|day| if *day == old { new } else { *day }).collect())
}

fn no_times() -> Refusal {
    Refusal::because(
        Words::new("this schedule plans no times", "该调度没有计划时间"),
        Words::new("edit the schedule", "请编辑该调度"),
    )
}

impl Refusal {
    pub(crate) fn because(reason: Words, instead: Words) -> Refusal {
        Refusal { reason, instead }
    }

    pub(crate) fn of(error: &ScheduleError) -> Refusal {
        Refusal::because(error.words(), Words::new("edit the schedule", "请编辑该调度"))
    }

    pub(crate) fn every_day_is_a_run() -> Refusal {
        Refusal::because(
            Words::new(
                "every day is a run already, so another day would change nothing",
                "每天都会运行，换一天没有意义",
            ),
            Words::new(
                "choose another time of the same day, or move only this run",
                "请选择同一天的其他时间，或只移动这一次",
            ),
        )
    }

    pub(crate) fn already_a_run() -> Refusal {
        Refusal::because(
            Words::new("there is a run of this series on that day already", "该系列在那一天已有运行"),
            Words::new("choose another day, or move only this run", "请选择其他日期，或只移动这一次"),
        )
    }
}
