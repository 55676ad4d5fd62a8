//! A schedule together with what moves its times: exceptions, the span in which it holds, days on which
//! nobody works, spread.
//!
//! The order is fixed: planned times → exceptions → effective from and until → non-working days →
//! spread. What comes after (pauses, misfires, overlap) depends on what happened and is the launcher's.
//!
//! A time keeps its planned time as its name, wherever it is moved to: that is what makes one
//! firing the same firing after a restart.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::duty::{Duty, Left, PlannedTimes, Stretch};
use super::{Grid, OnNonWorkday, Plan, Schedule, ScheduleError, Zone};
use crate::calendar::{Date, LONGEST_ROLL_DAYS, WorkingDays};
use crate::instance::OmissionReason;
use crate::{Almanac, Timestamp, Words};

/// One occurrence, changed by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "change", rename_all = "camelCase", deny_unknown_fields)]
pub enum Exception {
    Skip { planned: Timestamp },
    MoveTo { planned: Timestamp, at: Timestamp },
    Added { at: Timestamp },
}

impl Exception {
    /// The planned time that it is about; an added occurrence is its own.
    pub fn planned(&self) -> Timestamp {
        match *self {
            Exception::Skip { planned } | Exception::MoveTo { planned, .. } => planned,
            Exception::Added { at } => at,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub schedule: Schedule,
    /// Of two about the same planned time the later in the list counts.
    pub exceptions: Vec<Exception>,
    /// The first moment at which something may run.
    pub effective_from: Option<Timestamp>,
    /// The first moment at which nothing may run any more.
    pub effective_until: Option<Timestamp>,
    /// By which days are worked; none is that of the workspace.
    pub calendar: Option<String>,
    pub on_non_workday: OnNonWorkday,
    pub spread_seconds: u32,
    pub saved_at: Timestamp,
    /// The same for all runs of a job, different from job to job: it chooses the place in the spread.
    pub spread_seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OccurrenceOrigin {
    Schedule,
    Added,
}

/// One step from a planned time to the time it is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "shift", rename_all = "camelCase")]
pub enum Shift {
    /// By hand.
    Moved { from: Timestamp, to: Timestamp },
    /// Off a day on which nobody works, for which `why` is its name.
    Rolled { from: Date, why: Words },
    /// Nowhere: but its calendar has no data for the year, and its week was taken to hold.
    Uncovered { year: i64, calendar: Words },
    /// To the job's own place in its spread.
    Spread { seconds: u32 },
}

impl Shift {
    pub fn words(&self, zone: &Zone) -> Words {
        self.told(|at| zone.rfc3339(at))
    }

    /// For a schedule that is written in no zone.
    pub fn words_in_utc(&self) -> Words {
        self.told(|at| at.to_string())
    }

    fn told(&self, moment: impl Fn(Timestamp) -> String) -> Words {
        match self {
            Shift::Moved { from, .. } => {
                let from = moment(*from);
                Words::new(format!("moved by hand from {from}"), format!("由 {from} 手动移动"))
            }
            Shift::Rolled { from, why } => {
                let from = from.words();
                Words::new(format!("moved from {}: {}", from.en, why.en), format!("由{}移来：{}", from.zh, why.zh))
            }
            Shift::Uncovered { year, calendar } => Words::new(
                format!("calendar {} has no data for {year}: its week was taken to hold", calendar.en),
                format!("日历“{}”没有 {year} 年的数据：按每周的工作日处理", calendar.zh),
            ),
            Shift::Spread { seconds } => Words::new(
                format!("{seconds} s later: this job's place in its spread"),
                format!("延后 {seconds} 秒：该任务在分散窗口中的位置"),
            ),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// The name of this firing, with its origin.
    pub planned: Timestamp,
    /// When it is to happen.
    pub due: Timestamp,
    pub origin: OccurrenceOrigin,
    /// Why `due` is not `planned`, in the order in which it was moved.
    pub shifts: Vec<Shift>,
}

/// A time that was planned and, by an exception or by its calendar, does not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    pub planned: Timestamp,
    /// When it would have been due.
    pub due: Timestamp,
    pub cause: OmissionReason,
    pub reason: Words,
}

impl Timing {
    /// A schedule as it stands, with nothing to move its times.
    pub fn plain(schedule: Schedule, saved_at: Timestamp) -> Timing {
        Timing {
            schedule,
            exceptions: Vec::new(),
            effective_from: None,
            effective_until: None,
            calendar: None,
            on_non_workday: OnNonWorkday::Run,
            spread_seconds: 0,
            saved_at,
            spread_seed: 0,
        }
    }

    /// The schedule in a sentence, with what becomes of it on days on which nobody works.
    pub fn words(&self, almanac: &Almanac) -> Words {
        let schedule = self.schedule.words_by(almanac, self.calendar.as_deref());
        let (en, zh) = match self.on_non_workday {
            OnNonWorkday::Run => return schedule,
            OnNonWorkday::Skip => ("not on days off", "非工作日跳过"),
            OnNonWorkday::NextWorkday => ("on days off moved to the next working day", "非工作日顺延至下一个工作日"),
            OnNonWorkday::PreviousWorkday => {
                ("on days off moved to the working day before", "非工作日提前至上一个工作日")
            }
        };
        let zone = self.schedule.time_zone().and_then(|zone| almanac.zone(zone).ok());
        let days = match &self.calendar {
            Some(name) => almanac.calendar(name),
            None => almanac.workspace_calendar(zone.as_ref()),
        };
        let label = days.map_or_else(|unknown| unknown.words(), |days| days.label().clone());
        Words::new(format!("{}, {en} ({})", schedule.en, label.en), format!("{}，{zh}（{}）", schedule.zh, label.zh))
    }

    pub fn compile(&self, almanac: &Almanac) -> Result<CompiledTiming, ScheduleError> {
        let plan = self.schedule.plan_by(almanac, self.calendar.as_deref(), self.saved_at)?;
        for exception in &self.exceptions {
            if let Exception::MoveTo { at, .. } | Exception::Added { at } = exception {
                super::check_time("exceptions", *at)?;
            }
        }
        if let (Some(from), Some(until)) = (self.effective_from, self.effective_until)
            && until <= from
        {
            return Err(ScheduleError::never(
                "effectiveUntil",
                "it ends before it begins to hold",
                "失效时间早于生效时间",
            ));
        }
        let mut timing = CompiledTiming {
            hidden: Vec::new(),
            extra: Vec::new(),
            skipped: Vec::new(),
            lapsed: Vec::new(),
            from: self.effective_from.map_or(i64::MIN, Timestamp::millis),
            until: self.effective_until.map_or(i64::MAX, Timestamp::millis),
            duty: self.duty(&plan, almanac)?.map(Box::new),
            spread_seconds: place_in_spread(self.spread_seed, self.spread_seconds),
            plan,
        };
        timing.take_in(&self.exceptions);
        Ok(timing)
    }

    /// None: it is all the same who works when.
    fn duty(&self, plan: &Plan, almanac: &Almanac) -> Result<Option<Duty>, ScheduleError> {
        // A name that means nothing is told also where nothing hangs on it yet.
        let named = self.calendar.as_deref().map(|name| almanac.calendar(name)).transpose()?;
        if self.on_non_workday == OnNonWorkday::Run && plan.workdays().is_none() {
            return Ok(None);
        }
        if plan.waits_for_the_last_run()
            && matches!(self.on_non_workday, OnNonWorkday::Skip | OnNonWorkday::PreviousWorkday)
        {
            return Err(ScheduleError::field(
                "onNonWorkday",
                "each run follows the one before, so none can be left out or come earlier; choose run or nextWorkday",
                "每次运行取决于上一次，不能跳过或提前；请选择 run 或 nextWorkday",
            ));
        }
        let days = match named {
            Some(days) => days,
            None => almanac.workspace_calendar(plan.zone())?,
        };
        let zone = match (plan.zone(), days.time_zone()) {
            (Some(zone), _) => Some(zone.clone()),
            (None, Some(name)) => Some(almanac.zone(name)?),
            (None, None) => None,
        };
        Ok(Some(Duty { days, policy: self.on_non_workday, zone }))
    }
}

/// From 0 to `spread_seconds`, the same for every run of a job.
fn place_in_spread(seed: u64, spread_seconds: u32) -> u32 {
    // Neighbouring seeds must not give neighbouring places.
    let mixed = (seed ^ seed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let place = (mixed ^ mixed >> 33) % (u64::from(spread_seconds) + 1);
    u32::try_from(place).unwrap_or(spread_seconds)
}

#[derive(Clone, Debug)]
pub struct CompiledTiming {
    plan: Plan,
    /// Planned times that do not come at their own place, in order.
    hidden: Vec<Timestamp>,
    /// Moved and added occurrences, by the time they are due.
    extra: Vec<Occurrence>,
    skipped: Vec<Skipped>,
    lapsed: Vec<Exception>,
    from: i64,
    until: i64,
    duty: Option<Box<Duty>>,
    spread_seconds: u32,
}

/// Planned times that come at their own place, as far as exceptions and the effective span go.
struct Own<'a>(&'a CompiledTiming);

impl PlannedTimes for Own<'_> {
    fn first_after(&self, after: Timestamp) -> Option<Timestamp> {
        let timing = self.0;
        let mut after = after.max(Timestamp::from_millis(timing.from.saturating_sub(1)));
        loop {
            let planned = timing.plan.next_after(after).filter(|planned| planned.millis() < timing.until)?;
            if timing.hidden.binary_search(&planned).is_err() {
                return Some(planned);
            }
            after = planned;
        }
    }
}

impl CompiledTiming {
    fn take_in(&mut self, exceptions: &[Exception]) {
        for (index, exception) in exceptions.iter().enumerate() {
            let about = |other: &Exception| {
                matches!(other, Exception::Added { .. }) == matches!(exception, Exception::Added { .. })
                    && other.planned() == exception.planned()
            };
            if exceptions[index + 1..].iter().any(about) {
                continue;
            }
            match *exception {
                Exception::Added { at } if self.holds(at) => {
                    let (due, shifts) = self.spread(at, Vec::new());
                    self.extra.push(Occurrence { planned: at, due, origin: OccurrenceOrigin::Added, shifts });
                }
                Exception::Added { .. } => self.lapsed.push(*exception),
                // Skipping or moving a run that the next one waits for would end the chain of runs.
                Exception::Skip { planned } | Exception::MoveTo { planned, .. }
                    if self.plan.waits_for_the_last_run() || !self.plan.plans(planned) =>
                {
                    self.lapsed.push(*exception);
                }
                Exception::Skip { planned } => {
                    self.hidden.push(planned);
                    if self.holds(planned) {
                        self.skip(planned, Words::new("skipped by hand", "手动跳过"));
                    }
                }
                Exception::MoveTo { planned, at } => {
                    self.hidden.push(planned);
                    if self.holds(at) {
                        let (due, shifts) = self.spread(at, vec![Shift::Moved { from: planned, to: at }]);
                        let origin = OccurrenceOrigin::Schedule;
                        self.extra.push(Occurrence { planned, due, origin, shifts });
                    } else if self.holds(planned) {
                        self.skip(
                            planned,
                            Words::new(
                                "moved by hand to a time at which this schedule does not hold",
                                "被手动移到该调度的有效期之外",
                            ),
                        );
                    }
                }
            }
        }
        self.hidden.sort_unstable();
        self.extra.sort_by_key(|occurrence| (occurrence.due, occurrence.planned));
        self.skipped.sort_by_key(|skipped| skipped.due);
    }

    fn skip(&mut self, planned: Timestamp, reason: Words) {
        let (due, _) = self.spread(planned, Vec::new());
        self.skipped.push(Skipped { planned, due, cause: OmissionReason::Exception, reason });
    }

    fn holds(&self, at: Timestamp) -> bool {
        (self.from..self.until).contains(&at.millis())
    }

    fn spread(&self, at: Timestamp, mut shifts: Vec<Shift>) -> (Timestamp, Vec<Shift>) {
        if self.spread_seconds > 0 {
            shifts.push(Shift::Spread { seconds: self.spread_seconds });
        }
        (at.plus_seconds(i64::from(self.spread_seconds)), shifts)
    }

    /// The first occurrence that no hand has touched and that is due strictly after `after`.
    fn next_planned(&self, after: Timestamp) -> Option<Occurrence> {
        let after = after.plus_seconds(-i64::from(self.spread_seconds));
        match &self.duty {
            None => Own(self).first_after(after).map(|planned| self.occurrence(planned, planned)),
            Some(duty) => duty.first_after(&Own(self), after).map(|placed| self.occurrence(placed.planned, placed.due)),
        }
    }

    /// A planned time that comes at `at`, before spread.
    fn occurrence(&self, planned: Timestamp, at: Timestamp) -> Occurrence {
        let mut shifts = Vec::new();
        if let Some(duty) = &self.duty {
            let (from, to) = (duty.date(planned), duty.date(at));
            if planned != at {
                shifts.push(Shift::Rolled { from, why: duty.days.why(from) });
            }
            let uncovered = [from, to].into_iter().find_map(|date| duty.days.uncovered_year(date.day()));
            shifts.extend(uncovered.map(|year| Shift::Uncovered { year, calendar: duty.days.label().clone() }));
        }
        let (due, shifts) = self.spread(at, shifts);
        Occurrence { planned, due, origin: OccurrenceOrigin::Schedule, shifts }
    }

    /// Occurrences due in (after, until], oldest due first, at most `limit`.
    ///
    /// A moved one appears where it was moved to, under its planned time; neither it nor a
    /// skipped one appears at its old place.
    pub fn due_between(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<Occurrence> {
        let first_extra = self.extra.partition_point(|occurrence| occurrence.due <= after);
        let mut extra = self.extra[first_extra..].iter().peekable();
        let mut planned = self.next_planned(after);
        let mut due = Vec::new();
        while due.len() < limit {
            let own_first = match (&planned, extra.peek()) {
                (None, None) => break,
                (Some(own), Some(other)) => own.due <= other.due,
                (own, _) => own.is_some(),
            };
            let next = match own_first {
                true => planned.take(),
                false => extra.next().cloned(),
            };
            let Some(next) = next.filter(|next| next.due <= until) else { break };
            if own_first {
                planned = self.next_planned(next.due);
            }
            due.push(next);
        }
        due
    }

    /// Adds to each cell of `grid` how many occurrences are due in it, of those due in [from, until),
    /// without going through them, but on working days to which others are moved.
    pub fn add_counts(&self, grid: &Grid, from: Timestamp, until: Timestamp, counts: &mut [u32]) {
        let (from, until) = (from.max(grid.start()), until.min(grid.end()));
        let later = i64::from(self.spread_seconds) * 1000;
        let (planned_from, planned_until) = (from.plus_millis(-later), until.plus_millis(-later));
        match &self.duty {
            None => self.add_planned(grid, planned_from, planned_until, counts),
            Some(duty) => duty.each_stretch(planned_from, planned_until, |from, until, stretch| match stretch {
                Stretch::AsPlanned => self.add_planned(grid, from, until, counts),
                Stretch::Empty => {}
                Stretch::Mixed => {
                    let mut after = from.plus_millis(later - 1);
                    while let Some(next) = self.next_planned(after).filter(|next| next.due < until.plus_millis(later)) {
                        if let Some(count) = grid.cell_of(next.due).and_then(|cell| counts.get_mut(cell)) {
                            *count += 1;
                        }
                        after = next.due;
                    }
                }
            }),
        }
        let cells = counts.len();
        let cell = |due: Timestamp| grid.cell_of(due).filter(|cell| *cell < cells);
        for extra in self.extra.iter().filter(|extra| (from..until).contains(&extra.due)) {
            if let Some(cell) = cell(extra.due) {
                counts[cell] += 1;
            }
        }
    }

    /// Those planned in [from, until) that come at their own place.
    fn add_planned(&self, grid: &Grid, from: Timestamp, until: Timestamp, counts: &mut [u32]) {
        let later = i64::from(self.spread_seconds) * 1000;
        let from = from.max(Timestamp::from_millis(self.from));
        let until = until.min(Timestamp::from_millis(self.until));
        self.plan.add_counts(grid, from, until, later, counts);
        for hidden in self.hidden.iter().filter(|hidden| (from..until).contains(hidden)) {
            if let Some(count) = grid.cell_of(hidden.plus_millis(later)).and_then(|cell| counts.get_mut(cell)) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub fn next_due(&self, after: Timestamp) -> Option<Occurrence> {
        self.due_between(after, Timestamp::MAX, 1).pop()
    }

    /// What exceptions and the calendar dropped, by the time it would have been due, in (after, until], at most `limit`.
    pub fn skipped_between(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<Skipped> {
        let by_hand = self.skipped.iter().filter(|skipped| skipped.due > after && skipped.due <= until);
        let mut skipped: Vec<Skipped> = by_hand.take(limit).cloned().collect();
        if let Some(duty) = &self.duty {
            let spread = i64::from(self.spread_seconds);
            let left = duty.left_between(&Own(self), after.plus_seconds(-spread), until.plus_seconds(-spread), limit);
            skipped.extend(left.into_iter().map(|(at, planned, left)| Skipped {
                planned,
                due: at.plus_seconds(spread),
                cause: match left {
                    Left::Off | Left::NoneNear => OmissionReason::NonWorkday,
                    Left::NoData => OmissionReason::NoCalendarData,
                    Left::Merged => OmissionReason::Merged,
                },
                reason: duty.why(planned, left),
            }));
            skipped.sort_by_key(|skipped| (skipped.due, skipped.planned));
            skipped.truncate(limit);
        }
        skipped
    }

    /// Occurrences that were to come at `through` or before, although their planned time is later: they were moved to a
    /// working day that has passed.
    pub fn moved_behind(&self, through: Timestamp) -> Vec<Occurrence> {
        let Some(duty) = self.duty.as_ref().filter(|duty| duty.policy == OnNonWorkday::PreviousWorkday) else {
            return Vec::new();
        };
        let through = through.plus_seconds(-i64::from(self.spread_seconds));
        let horizon = through.plus_millis((LONGEST_ROLL_DAYS + 1) * super::civil::DAY);
        let mut behind = Vec::new();
        let mut after = through;
        while let Some(planned) = Own(self).first_after(after).filter(|planned| *planned <= horizon) {
            after = planned;
            match duty.place(planned) {
                Ok(placed) if placed.due <= through => behind.push(self.occurrence(planned, placed.due)),
                // Days off follow one another; the first that leads elsewhere ends them.
                Ok(_) => break,
                Err(_) => {}
            }
        }
        behind
    }

    /// When a planned time comes, wherever it was moved to. None: it does not come.
    pub fn due_of(&self, planned: Timestamp) -> Option<Timestamp> {
        if let Some(extra) = self.extra.iter().find(|extra| extra.planned == planned) {
            return Some(extra.due);
        }
        if !self.plan.plans(planned) || Own(self).first_after(planned.plus_millis(-1)) != Some(planned) {
            return None;
        }
        let at = match &self.duty {
            None => planned,
            Some(duty) => duty.place(planned).ok()?.due,
        };
        Some(self.occurrence(planned, at).due)
    }

    /// The calendar on which its times depend.
    pub fn calendar(&self) -> Option<&WorkingDays> {
        self.duty.as_deref().map(|duty| duty.days.as_ref())
    }

    /// What it makes of days on which nobody works.
    pub fn on_non_workday(&self) -> OnNonWorkday {
        self.duty.as_deref().map_or(OnNonWorkday::Run, |duty| duty.policy)
    }

    /// Exceptions that mean nothing here, because the schedule does not plan their time.
    pub fn lapsed(&self) -> &[Exception] {
        &self.lapsed
    }

    /// Of a fixed delay, the occurrence that follows a run which became final at `ended`.
    pub fn after_final(&self, ended: Timestamp) -> Option<Occurrence> {
        let planned = self.plan.after_final(ended).filter(|planned| self.holds(*planned))?;
        let at = match &self.duty {
            None => planned,
            Some(duty) => duty.place(planned).ok()?.due,
        };
        Some(self.occurrence(planned, at))
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How much later than planned every run of this job is due.
    pub fn place_in_spread_seconds(&self) -> u32 {
        self.spread_seconds
    }
}
