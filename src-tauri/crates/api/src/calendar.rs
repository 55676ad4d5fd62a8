//! The calendar: what ran and what is to run, day by day, and what dragging a run comes to.
//!
//! What fired is told from its instance, what is to come from the job's times. A job with more
//! firings on a day than a person could tell apart is a band with a count on that day.

use campanile_model::job::{Job, JobSpec};
use campanile_model::request::Role;
use campanile_model::schedule::{
    Exception, Grid, Occurrence, OccurrenceOrigin, Refusal, Rescheduled, Schedule, Scope, Upshot, copied,
    reschedule as moved, spread_over,
};
use campanile_model::{Code, Fault, JobId, Timestamp, Words};
use campanile_store::InstanceFilter;

use crate::moments::{Told, read_day, read_wall, weekday};
use crate::painter::{DRAWN_ONE_BY_ONE, Day, Held, Painter, Sheet};
use crate::views::*;
use crate::{Api, CallContext};

const MOST_DAYS: u32 = 42;

/// Instances read at once, and how often on one day before the busy jobs are left to their schedules.
const READ_AT_ONCE: usize = 2000;
const READS_A_DAY: usize = 4;
/// Jobs that are asked one by one when a day holds more than that.
const ASKED_ONE_BY_ONE: usize = 300;

/// A time that has come and is not an instance after so long is one that was missed, not one that is to come.
const STILL_TO_COME_MS: i64 = 60_000;

/// Other jobs due so near to a dropped one are named, unless they are due all day long.
const NEAR_MS: i64 = 60_000;
const MOST_COLLISIONS: usize = 20;

impl Api {
    pub(crate) async fn calendar(&self, ask: AskCalendar, cx: &CallContext) -> Result<CalendarView, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let today = told.day(now);
        let first = match &ask.date {
            Some(date) => read_day(date).map_err(|fault| fault.at("date"))?,
            None => today + 1 - i64::from(weekday(today)),
        };
        let count = ask.days.unwrap_or(7);
        if !(1..=MOST_DAYS).contains(&count) {
            let reason = Words::new(
                format!("days is {count}; it can be 1 to {MOST_DAYS}"),
                format!("days 为 {count}；可用范围是 1 到 {MOST_DAYS}"),
            );
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("days"));
        }
        let days: Vec<Day> = (0..count)
            .map(|index| {
                let number = first + i64::from(index);
                Day { start: told.day_start(number), end: told.day_start(number + 1), number, index }
            })
            .collect();

        let mut jobs = self.all_jobs().await?;
        let text = ask.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if let Some(text) = text {
            jobs.retain(|job| has_text(&job.spec, text));
        }
        // Where there is not room for all, it is the same ones each time.
        let mut order: Vec<(String, JobId)> = jobs.iter().map(|job| (job.spec.name.clone(), job.id)).collect();
        order.sort();
        let mut painter = Painter::new(&told, cx, jobs, text.is_some(), now, days.len());
        let mut held: Vec<Held> = days.iter().map(|_| Held::default()).collect();
        for (day, held) in days.iter().zip(&mut held) {
            if day.start <= now {
                self.paint_past(day, &mut painter, held).await?;
            }
        }
        if let Some(sheet) = Sheet::new(&days, &told).filter(|sheet| sheet.grid.end() > now) {
            self.paint_future(&days, &sheet, &order, &mut painter, &mut held).await?;
        }
        let mut view = painter.finish(&days, held, &self.almanac());
        self.paint_blackouts(&mut view.days, &told).await?;
        Ok(view)
    }

    async fn paint_past(&self, day: &Day, painter: &mut Painter<'_>, held: &mut Held) -> Result<(), Fault> {
        let until = day.end.min(painter.now.plus_millis(1));
        let mut from = day.start;
        for _ in 0..READS_A_DAY {
            let fired = self.archive.fired(from, until, READ_AT_ONCE).await?;
            let full = fired.len() == READ_AT_ONCE;
            let last = fired.last().map(|one| one.instance.due);
            for summary in fired {
                painter.put_past(day, summary, held, &self.almanac());
            }
            match last {
                // A page that ends within one instant is read again from it; what was seen is passed over.
                Some(last) if full && last > from => from = last,
                _ if !full => return Ok(()),
                _ => break,
            }
        }
        // So much has fired that the day was not read to its end. Busy jobs are counted by their schedules, the others
        // looked up one by one.
        let Some(sheet) = Sheet::new(std::slice::from_ref(day), painter.told) else { return Ok(()) };
        let mut counts = vec![0; sheet.grid.cells()];
        let mut asked = 0;
        let jobs: Vec<Job> = painter.jobs.values().cloned().collect();
        for job in &jobs {
            let Some(timeline) = self.timeline(job).await? else { continue };
            counts.fill(0);
            timeline.add_counts(&sheet.grid, from.max(job.saved_at).min(until), until, &mut counts);
            let is_band = held.jobs.get(&job.id).is_some_and(|of_job| of_job.band.is_some());
            if counts.iter().sum::<u32>() as usize > DRAWN_ONE_BY_ONE || is_band {
                painter.put_band(job.id, &sheet, &counts, 0, held);
            } else if asked < ASKED_ONE_BY_ONE {
                asked += 1;
                let filter = InstanceFilter {
                    job: Some(job.id),
                    due_from: Some(from),
                    due_until: Some(until),
                    ..InstanceFilter::default()
                };
                let page = self.archive.instance_page(&filter, None, DRAWN_ONE_BY_ONE + 1).await?;
                for summary in page.rows {
                    painter.put_past(day, summary, held, &self.almanac());
                }
            }
        }
        Ok(())
    }

    async fn paint_future(
        &self,
        days: &[Day],
        sheet: &Sheet,
        order: &[(String, JobId)],
        painter: &mut Painter<'_>,
        held: &mut [Held],
    ) -> Result<(), Fault> {
        let mut counts = vec![0; sheet.grid.cells()];
        for (_, id) in order {
            let Some(job) = painter.jobs.get(id).filter(|job| !job.paused).cloned() else { continue };
            let Some(timeline) = self.timeline(&job).await? else { continue };
            let begun = job.fired_through.max(painter.now.plus_millis(-STILL_TO_COME_MS));
            let from = sheet.grid.start().max(begun.plus_millis(1));
            let until = days.last().map_or(from, |day| day.end);
            if from >= until {
                continue;
            }
            counts.fill(0);
            // Of a fixed delay only the next run is known, and the job knows it better than its schedule.
            let of_a_delay = matches!(job.spec.schedule, Schedule::FixedDelay(_))
                .then(|| job.next_due.filter(|next| (from..until).contains(next)));
            match of_a_delay {
                None => timeline.add_counts(&sheet.grid, from, until, &mut counts),
                Some(next) => {
                    if let Some(cell) = next.and_then(|next| sheet.grid.cell_of(next)) {
                        counts[cell] = 1;
                    }
                }
            }
            let on_day: Vec<u32> = (0..days.len()).map(|day| sheet.on_day(day, &counts)).collect();
            for (index, day) in days.iter().enumerate().filter(|(index, _)| on_day[*index] > 0) {
                let held = &mut held[index];
                let already = held.jobs.get(id);
                let drawn = already.map_or(0, |of_job| of_job.entries.len());
                let is_band = already.is_some_and(|of_job| of_job.band.is_some());
                if is_band || drawn + on_day[index] as usize > DRAWN_ONE_BY_ONE {
                    painter.put_band(*id, sheet, &counts, index, held);
                    continue;
                }
                if held.entries + on_day[index] as usize > painter.entries_a_day {
                    held.unlisted += on_day[index];
                    sheet.add_day(index, &counts, &mut held.load);
                    continue;
                }
                let (from, until) = (from.max(day.start).plus_millis(-1), day.end.plus_millis(-1));
                let coming = match of_a_delay {
                    None => timeline.due_between(from, until, DRAWN_ONE_BY_ONE + 1),
                    Some(next) => next.map(|next| (job.version, at_its_place(next))).into_iter().collect(),
                };
                for (version, occurrence) in coming {
                    let entry = painter.future_entry(day, &job, version, &occurrence, &timeline, &self.almanac());
                    held.entries += 1;
                    held.jobs.entry(*id).or_default().entries.push(entry);
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn reschedule(&self, ask: AskReschedule, cx: &CallContext) -> Result<RescheduleView, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&ask.job).await?;
        let to = place_of(ask.to_local.as_deref(), ask.to, &told)?;
        let now = self.now();
        let collisions = self.near(&job, to).await?;
        let from = self.due_of(&job, ask.planned).await?;
        let timing = job.spec.timing(job.id, job.saved_at);
        let choice = |scope: Scope| {
            let moved = moved(&timing, ask.planned, to, scope, &self.almanac(), now);
            self.choice(&job, scope, moved, collisions.clone(), &told, cx)
        };
        Ok(RescheduleView {
            job: job.id.to_string(),
            name: job.spec.name.clone(),
            version: job.version,
            from: told.moment(from),
            to: told.moment(to),
            choices: [Scope::ThisRun, Scope::Following, Scope::All].into_iter().map(choice).collect(),
        })
    }

    /// One run more at another time: what a copy of a run comes to.
    pub(crate) async fn copy_run(&self, ask: AskCopy, cx: &CallContext) -> Result<AdjustView, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&ask.job).await?;
        let to = place_of(ask.to_local.as_deref(), ask.to, &told)?;
        let collisions = self.near(&job, to).await?;
        let copy = copied(&job.spec.timing(job.id, job.saved_at), to, &self.almanac(), self.now());
        Ok(AdjustView {
            job: job.id.to_string(),
            name: job.spec.name.clone(),
            version: job.version,
            choice: self.choice(&job, Scope::ThisRun, copy, collisions, &told, cx),
        })
    }

    /// Another window in which each run of the job may start.
    pub(crate) async fn spread_runs(&self, ask: AskSpread, cx: &CallContext) -> Result<AdjustView, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&ask.job).await?;
        let timing = job.spec.timing(job.id, job.saved_at);
        let spread = spread_over(&timing, ask.seconds, &self.almanac(), self.now());
        Ok(AdjustView {
            job: job.id.to_string(),
            name: job.spec.name.clone(),
            version: job.version,
            choice: self.choice(&job, Scope::All, spread, Vec::new(), &told, cx),
        })
    }

    fn choice(
        &self,
        job: &Job,
        scope: Scope,
        outcome: Result<Rescheduled, Refusal>,
        collisions: Vec<String>,
        told: &Told,
        cx: &CallContext,
    ) -> RescheduleChoice {
        let choice = RescheduleChoice {
            scope,
            allowed: cx.may(Role::Editor),
            words: None,
            before: Vec::new(),
            after: Vec::new(),
            collisions,
            spec: None,
        };
        match outcome {
            Ok(moved) => RescheduleChoice {
                words: Some(moved.words),
                before: moved.before.iter().map(|run| told.moment(run.due)).collect(),
                after: moved.after.iter().map(|run| told.moment(run.due)).collect(),
                spec: Some(self.moved_spec(job, moved.outcome)),
                ..choice
            },
            Err(refusal) => {
                let why = Words::new(
                    format!("{}: {}", refusal.reason.en, refusal.instead.en),
                    format!("{}：{}", refusal.reason.zh, refusal.instead.zh),
                );
                RescheduleChoice { allowed: Allowed::no(why), ..choice }
            }
        }
    }

    /// The job as it would be saved.
    fn moved_spec(&self, job: &Job, outcome: Upshot) -> JobSpec {
        let mut spec = job.spec.clone();
        match outcome {
            Upshot::Exception { exception, replaces } => {
                spec.exceptions.retain(|other| Some(*other) != replaces);
                spec.exceptions.push(exception);
            }
            Upshot::NewSpread { spread_seconds } => spec.spread_seconds = spread_seconds,
            Upshot::NewSchedule { schedule, effective_from } => {
                spec.schedule = schedule;
                spec.effective_from = Some(effective_from.max(spec.effective_from.unwrap_or(effective_from)));
                // Those about times that the new schedule does not plan mean nothing any more.
                let lapsed = spec.timing(job.id, self.now()).compile(&self.almanac());
                if let Ok(times) = lapsed {
                    spec.exceptions.retain(|exception| !times.lapsed().contains(exception));
                }
            }
        }
        spec
    }

    /// When the occurrence is due as things stand.
    async fn due_of(&self, job: &Job, planned: Timestamp) -> Result<Timestamp, Fault> {
        const LOOKED_THROUGH: usize = 500;
        let Some(timeline) = self.timeline(job).await? else { return Ok(planned) };
        let moved_to = job.spec.exceptions.iter().rev().find_map(|exception| match exception {
            Exception::MoveTo { planned: of, at } if *of == planned => Some(*at),
            _ => None,
        });
        let near = moved_to.unwrap_or(planned);
        let due = timeline.due_between(near.plus_millis(-1), near.plus_seconds(86_400), LOOKED_THROUGH);
        Ok(due.iter().find(|(_, one)| one.planned == planned).map_or(near, |(_, one)| one.due))
    }

    /// Other jobs due within a minute, those left out that are due all day long: they meet everything.
    async fn near(&self, job: &Job, at: Timestamp) -> Result<Vec<String>, Fault> {
        const HALF_A_DAY_SECONDS: i64 = 43_200;
        let the_day_around = Grid::new(at.plus_seconds(-HALF_A_DAY_SECONDS), 86_400, 1);
        let mut names = Vec::new();
        for other in self.all_jobs().await? {
            if other.id == job.id || other.paused {
                continue;
            }
            let Some(timeline) = self.timeline(&other).await? else { continue };
            let (from, until) = (at.plus_millis(-NEAR_MS - 1), at.plus_millis(NEAR_MS));
            if timeline.due_between(from, until, 1).is_empty() {
                continue;
            }
            let mut around = [0];
            timeline.add_counts(&the_day_around, the_day_around.start(), the_day_around.end(), &mut around);
            if around[0] as usize > DRAWN_ONE_BY_ONE {
                continue;
            }
            names.push(other.spec.name);
            if names.len() == MOST_COLLISIONS {
                break;
            }
        }
        names.sort();
        Ok(names)
    }
}

fn at_its_place(due: Timestamp) -> Occurrence {
    Occurrence { planned: due, due, origin: OccurrenceOrigin::Schedule, shifts: Vec::new() }
}

/// Where something was dropped.
fn place_of(local: Option<&str>, at: Option<Timestamp>, told: &Told) -> Result<Timestamp, Fault> {
    match (local, at) {
        (_, Some(to)) => Ok(to),
        (Some(local), None) => Ok(told.instant(read_wall(local).map_err(|fault| fault.at("to_local"))?)),
        (None, None) => {
            let reason = Words::new("where it is moved to is missing", "缺少移动的目标时间");
            Err(Code::BadRequest.fault().with_words("reason", &reason).at("to"))
        }
    }
}

fn has_text(spec: &JobSpec, text: &str) -> bool {
    let text = text.to_lowercase();
    let has = |field: &str| field.to_lowercase().contains(&text);
    has(&spec.name) || spec.tags.iter().any(|tag| has(tag)) || spec.tenant.as_deref().is_some_and(has)
}
