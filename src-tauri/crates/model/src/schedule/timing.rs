//! A schedule together with what moves its times: exceptions, the span in which it holds, spread.
//!
//! The order is fixed: planned times → exceptions → effective from and until → spread. What
//! comes after (pauses, misfires, overlap) depends on what happened and is the launcher's.
//!
//! A time keeps its planned time as its name, wherever it is moved to: that is what makes one
//! firing the same firing after a restart.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Grid, Plan, Schedule, ScheduleError, Zone};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "shift", rename_all = "camelCase")]
pub enum Shift {
    /// By hand.
    Moved { from: Timestamp, to: Timestamp },
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

/// A time that was planned and, by an exception, does not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    pub planned: Timestamp,
    /// When it would have been due.
    pub due: Timestamp,
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
            spread_seconds: 0,
            saved_at,
            spread_seed: 0,
        }
    }

    pub fn compile(&self, almanac: &Almanac) -> Result<CompiledTiming, ScheduleError> {
        let plan = self.schedule.plan(almanac, self.saved_at)?;
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
            plan,
            hidden: Vec::new(),
            extra: Vec::new(),
            skipped: Vec::new(),
            lapsed: Vec::new(),
            from: self.effective_from.map_or(i64::MIN, Timestamp::millis),
            until: self.effective_until.map_or(i64::MAX, Timestamp::millis),
            spread_seconds: place_in_spread(self.spread_seed, self.spread_seconds),
        };
        timing.take_in(&self.exceptions);
        Ok(timing)
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
    spread_seconds: u32,
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
        self.skipped.push(Skipped { planned, due, reason });
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

    /// The first occurrence, at its own place, that is due strictly after `after`.
    fn next_planned(&self, after: Timestamp) -> Option<Occurrence> {
        let before_spread = after.plus_seconds(-i64::from(self.spread_seconds)).millis();
        let mut after = Timestamp::from_millis(before_spread.max(self.from.saturating_sub(1)));
        loop {
            let planned = self.plan.next_after(after).filter(|planned| planned.millis() < self.until)?;
            if self.hidden.binary_search(&planned).is_err() {
                let (due, shifts) = self.spread(planned, Vec::new());
                return Some(Occurrence { planned, due, origin: OccurrenceOrigin::Schedule, shifts });
            }
            after = planned;
        }
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
    /// without going through them.
    pub fn add_counts(&self, grid: &Grid, from: Timestamp, until: Timestamp, counts: &mut [u32]) {
        let (from, until) = (from.max(grid.start()), until.min(grid.end()));
        let later = i64::from(self.spread_seconds) * 1000;
        let planned_from = from.plus_millis(-later).max(Timestamp::from_millis(self.from));
        let planned_until = until.plus_millis(-later).min(Timestamp::from_millis(self.until));
        self.plan.add_counts(grid, planned_from, planned_until, later, counts);
        let cells = counts.len();
        let cell = |due: Timestamp| grid.cell_of(due).filter(|cell| *cell < cells);
        for hidden in self.hidden.iter().filter(|hidden| (planned_from..planned_until).contains(hidden)) {
            if let Some(cell) = cell(hidden.plus_millis(later)) {
                counts[cell] = counts[cell].saturating_sub(1);
            }
        }
        for extra in self.extra.iter().filter(|extra| (from..until).contains(&extra.due)) {
            if let Some(cell) = cell(extra.due) {
                counts[cell] += 1;
            }
        }
    }

    pub fn next_due(&self, after: Timestamp) -> Option<Occurrence> {
        self.due_between(after, Timestamp::MAX, 1).pop()
    }

    /// What exceptions dropped, by the time it would have been due, in (after, until].
    pub fn skipped_between(&self, after: Timestamp, until: Timestamp) -> Vec<Skipped> {
        self.skipped.iter().filter(|skipped| skipped.due > after && skipped.due <= until).cloned().collect()
    }

    /// Exceptions that mean nothing here, because the schedule does not plan their time.
    pub fn lapsed(&self) -> &[Exception] {
        &self.lapsed
    }

    /// Of a fixed delay, the occurrence that follows a run which became final at `ended`.
    pub fn after_final(&self, ended: Timestamp) -> Option<Occurrence> {
        let planned = self.plan.after_final(ended).filter(|planned| self.holds(*planned))?;
        let (due, shifts) = self.spread(planned, Vec::new());
        Some(Occurrence { planned, due, origin: OccurrenceOrigin::Schedule, shifts })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How much later than planned every run of this job is due.
    pub fn place_in_spread_seconds(&self) -> u32 {
        self.spread_seconds
    }
}
