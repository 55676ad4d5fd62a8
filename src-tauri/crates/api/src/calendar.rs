//! The calendar: what ran and what is to run, day by day, and what dragging a run comes to.
//!
//! What fired is told from its instance, what is to come from the job's times. A job with more
//! firings on a day than a person could tell apart is a band with a count on that day.

use std::collections::HashMap;

use campanile_model::instance::{InstanceState, Origin};
use campanile_model::job::{Job, JobSpec};
use campanile_model::request::Role;
use campanile_model::schedule::{
    Exception, Occurrence, OccurrenceOrigin, Schedule, Scope, Upshot, reschedule as moved,
};
use campanile_model::timeline::Timeline;
use campanile_model::{Code, Fault, JobId, Timestamp, Words};
use campanile_store::{InstanceFilter, InstanceSummary};

use crate::jobs::{has_places, hue};
use crate::moments::{Told, day_text, read_day, read_wall, weekday};
use crate::times::{QUARTERS, Quarters, quarter_of};
use crate::views::*;
use crate::{Api, CallContext};

/// More firings of a job on one day become a band.
const DRAWN_ONE_BY_ONE: usize = 24;

const MOST_DAYS: u32 = 42;

/// Instances read at once, and how often on one day before the busy jobs are left to their schedules.
const READ_AT_ONCE: usize = 2000;
const READS_A_DAY: usize = 4;
/// Jobs that are asked one by one when a day holds more than that.
const ASKED_ONE_BY_ONE: usize = 300;

/// A time that has come and is not an instance after so long is one that was missed, not one that is to come.
const STILL_TO_COME_MS: i64 = 60_000;

/// Other jobs due so near to a dropped one are named.
const NEAR_MS: i64 = 60_000;
const MOST_COLLISIONS: usize = 20;

struct Day {
    start: Timestamp,
    end: Timestamp,
    number: i64,
    index: u32,
}

/// What a day holds of one job.
#[derive(Default)]
struct OfJobOnDay {
    entries: Vec<CalendarEntry>,
    /// More than are drawn one by one.
    band: Option<Quarters>,
}

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

        let mut jobs = self.all_jobs().await?;
        if let Some(text) = ask.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            jobs.retain(|job| has_text(&job.spec, text));
        }
        let jobs: HashMap<JobId, Job> = jobs.into_iter().map(|job| (job.id, job)).collect();
        let mut view = CalendarView {
            now,
            zone: told.zone().name().to_owned(),
            days: Vec::new(),
            entries: Vec::new(),
            bands: Vec::new(),
            load: Vec::new(),
        };
        for index in 0..count {
            let number = first + i64::from(index);
            let day = Day { start: told.day_start(number), end: told.day_start(number + 1), number, index };
            let mut held: HashMap<JobId, OfJobOnDay> = HashMap::new();
            if day.start <= now {
                self.paint_past(&day, &jobs, ask.text.is_some(), now, &told, &mut held).await?;
            }
            if day.end > now {
                self.paint_future(&day, &jobs, now, &told, cx, &mut held).await?;
            }
            view.put(&day, now, held, &jobs, &told, |job| job.spec.schedule.words(&self.almanac()));
        }
        view.entries.sort_by(|one, other| (one.due.ms, &one.name).cmp(&(other.due.ms, &other.name)));
        Ok(view)
    }

    async fn paint_past(
        &self,
        day: &Day,
        jobs: &HashMap<JobId, Job>,
        filtered: bool,
        now: Timestamp,
        told: &Told,
        held: &mut HashMap<JobId, OfJobOnDay>,
    ) -> Result<(), Fault> {
        let until = day.end.min(now.plus_millis(1));
        let mut from = day.start;
        for _ in 0..READS_A_DAY {
            let fired = self.archive.fired(from, until, READ_AT_ONCE).await?;
            let full = fired.len() == READ_AT_ONCE;
            let last = fired.last().map(|one| one.instance.due);
            for summary in fired {
                self.put_past(day, summary, jobs, filtered, told, held);
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
        let mut asked = 0;
        for job in jobs.values() {
            let Some(timeline) = self.timeline(job).await? else { continue };
            let began = from.max(job.saved_at).min(until);
            let quarters = self.quarters(job, &timeline, began, until, told);
            let of_job = held.entry(job.id).or_default();
            if quarters.iter().sum::<u32>() as usize > DRAWN_ONE_BY_ONE || of_job.band.is_some() {
                let band = of_job.band.get_or_insert([0; QUARTERS]);
                band.iter_mut().zip(quarters).for_each(|(all, more)| *all += more);
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
                    self.put_past(day, summary, jobs, filtered, told, held);
                }
            }
        }
        Ok(())
    }

    fn put_past(
        &self,
        day: &Day,
        summary: InstanceSummary,
        jobs: &HashMap<JobId, Job>,
        filtered: bool,
        told: &Told,
        held: &mut HashMap<JobId, OfJobOnDay>,
    ) {
        let InstanceSummary { instance, job_name, .. } = summary;
        let job = jobs.get(&instance.job);
        if filtered && job.is_none() {
            return;
        }
        let of_job = held.entry(instance.job).or_default();
        let id = instance.id.to_string();
        if of_job.entries.iter().any(|entry| entry.instance.as_ref() == Some(&id)) {
            return;
        }
        if let Some(band) = &mut of_job.band {
            band[quarter_of(told, instance.due)] += 1;
            return;
        }
        let of_schedule = matches!(instance.origin, Origin::Schedule | Origin::Added);
        of_job.entries.push(CalendarEntry {
            job: instance.job.to_string(),
            name: job_name,
            version: instance.version,
            planned: of_schedule.then_some(instance.planned),
            due: told.moment(instance.due),
            day: day.index,
            minute: told.minute(instance.due),
            instance: Some(id),
            state: Some(instance.state),
            origin: instance.origin,
            hue: hue(instance.job),
            words: job.map(|job| job.spec.schedule.words(&self.almanac())).unwrap_or_default(),
            reason: instance.reason,
            can_move: Allowed::no(has_run(instance.state)),
        });
        if of_job.entries.len() > DRAWN_ONE_BY_ONE {
            of_job.into_band(told);
        }
    }

    async fn paint_future(
        &self,
        day: &Day,
        jobs: &HashMap<JobId, Job>,
        now: Timestamp,
        told: &Told,
        cx: &CallContext,
        held: &mut HashMap<JobId, OfJobOnDay>,
    ) -> Result<(), Fault> {
        for job in jobs.values().filter(|job| !job.paused) {
            let Some(timeline) = self.timeline(job).await? else { continue };
            let begun = job.fired_through.max(now.plus_millis(-STILL_TO_COME_MS));
            let from = day.start.max(begun.plus_millis(1));
            let until = day.end;
            if from >= until {
                continue;
            }
            let already = held.get(&job.id);
            let drawn = already.map_or(0, |of_job| of_job.entries.len());
            let is_band = already.is_some_and(|of_job| of_job.band.is_some());
            let coming = match is_band {
                true => None,
                false => Some(self.coming(job, &timeline, from, until))
                    .filter(|coming| coming.len() + drawn <= DRAWN_ONE_BY_ONE),
            };
            match coming {
                Some(coming) if coming.is_empty() => {}
                Some(coming) => {
                    let words = job.spec.schedule.words(&self.almanac());
                    let entries = coming.into_iter().map(|(version, occurrence)| {
                        self.future_entry(day, job, version, &occurrence, &words, &timeline, told, cx)
                    });
                    held.entry(job.id).or_default().entries.extend(entries);
                }
                None => {
                    let quarters = self.quarters(job, &timeline, from, until, told);
                    let of_job = held.entry(job.id).or_default();
                    of_job.into_band(told);
                    let band = of_job.band.get_or_insert([0; QUARTERS]);
                    band.iter_mut().zip(quarters).for_each(|(all, more)| *all += more);
                }
            }
        }
        Ok(())
    }

    /// One more than can be drawn says that there are too many.
    fn coming(&self, job: &Job, timeline: &Timeline, from: Timestamp, until: Timestamp) -> Vec<(u32, Occurrence)> {
        let mut coming = timeline.due_between(from.plus_millis(-1), until.plus_millis(-1), DRAWN_ONE_BY_ONE + 1);
        // Of a fixed delay only the next run is known, and the job knows it better than its schedule.
        if matches!(job.spec.schedule, Schedule::FixedDelay(_)) {
            coming = job
                .next_due
                .filter(|next| (from..until).contains(next))
                .map(|next| Occurrence {
                    planned: next,
                    due: next,
                    origin: OccurrenceOrigin::Schedule,
                    shifts: Vec::new(),
                })
                .map(|occurrence| (job.version, occurrence))
                .into_iter()
                .collect();
        }
        coming
    }

    #[allow(clippy::too_many_arguments)]
    fn future_entry(
        &self,
        day: &Day,
        job: &Job,
        version: u32,
        occurrence: &Occurrence,
        words: &Words,
        timeline: &Timeline,
        told: &Told,
        cx: &CallContext,
    ) -> CalendarEntry {
        let added = occurrence.origin == OccurrenceOrigin::Added;
        let remark = match added {
            true => Some(Words::new("added by hand", "手动添加")),
            false => timeline
                .newest()
                .filter(|_| version == job.version)
                .and_then(|times| times.plan().remark(occurrence.planned)),
        };
        let shifts = occurrence.shifts.iter().map(|shift| shift.words(told.zone()));
        CalendarEntry {
            job: job.id.to_string(),
            name: job.spec.name.clone(),
            version: job.version,
            planned: Some(occurrence.planned),
            due: told.moment(occurrence.due),
            day: day.index,
            minute: told.minute(occurrence.due),
            instance: None,
            state: None,
            origin: if added { Origin::Added } else { Origin::Schedule },
            hue: hue(job.id),
            words: words.clone(),
            reason: remark
                .into_iter()
                .chain(shifts)
                .reduce(|all, one| Words::new(format!("{}; {}", all.en, one.en), format!("{}；{}", all.zh, one.zh))),
            can_move: can_move(job, version, added, cx),
        }
    }

    pub(crate) async fn reschedule(&self, ask: AskReschedule, cx: &CallContext) -> Result<RescheduleView, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&ask.job).await?;
        let to = match (&ask.to_local, ask.to) {
            (_, Some(to)) => to,
            (Some(local), None) => told.instant(read_wall(local).map_err(|fault| fault.at("to_local"))?),
            (None, None) => {
                let reason = Words::new("where it is moved to is missing", "缺少移动的目标时间");
                return Err(Code::BadRequest.fault().with_words("reason", &reason).at("to"));
            }
        };
        let now = self.now();
        let collisions = self.near(&job, to).await?;
        let from = self.due_of(&job, ask.planned).await?;
        let timing = job.spec.timing(job.id, job.saved_at);
        let choice = |scope: Scope| {
            let choice = RescheduleChoice {
                scope,
                allowed: cx.may(Role::Editor),
                words: None,
                before: Vec::new(),
                after: Vec::new(),
                collisions: collisions.clone(),
                spec: None,
            };
            match moved(&timing, ask.planned, to, scope, &self.almanac(), now) {
                Ok(moved) => RescheduleChoice {
                    words: Some(moved.words),
                    before: moved.before.iter().map(|run| told.moment(run.due)).collect(),
                    after: moved.after.iter().map(|run| told.moment(run.due)).collect(),
                    spec: Some(self.moved_spec(&job, moved.outcome)),
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

    /// The job as it would be saved.
    fn moved_spec(&self, job: &Job, outcome: Upshot) -> JobSpec {
        let mut spec = job.spec.clone();
        match outcome {
            Upshot::Exception { exception, replaces } => {
                spec.exceptions.retain(|other| Some(*other) != replaces);
                spec.exceptions.push(exception);
            }
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

    /// Other jobs due within a minute.
    async fn near(&self, job: &Job, at: Timestamp) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        for other in self.all_jobs().await? {
            if other.id == job.id || other.paused {
                continue;
            }
            let Some(timeline) = self.timeline(&other).await? else { continue };
            let (from, until) = (at.plus_millis(-NEAR_MS - 1), at.plus_millis(NEAR_MS));
            if !timeline.due_between(from, until, 1).is_empty() {
                names.push(other.spec.name);
                if names.len() == MOST_COLLISIONS {
                    break;
                }
            }
        }
        names.sort();
        Ok(names)
    }
}

impl OfJobOnDay {
    #[allow(clippy::wrong_self_convention)]
    fn into_band(&mut self, told: &Told) {
        let band = self.band.get_or_insert([0; QUARTERS]);
        for entry in self.entries.drain(..) {
            band[quarter_of(told, entry.due.ms)] += 1;
        }
    }
}

impl CalendarView {
    fn put(
        &mut self,
        day: &Day,
        now: Timestamp,
        held: HashMap<JobId, OfJobOnDay>,
        jobs: &HashMap<JobId, Job>,
        told: &Told,
        words: impl Fn(&Job) -> Words,
    ) {
        self.days.push(CalendarDay {
            date: day_text(day.number),
            weekday: weekday(day.number),
            start: day.start,
            end: day.end,
            today: (day.start..day.end).contains(&now),
            clock_change: told.change_between(day.start, day.end).map(|change| change.words()),
        });
        let mut load = vec![0; QUARTERS];
        for (id, of_job) in held {
            for entry in &of_job.entries {
                load[entry.minute as usize / 15] += 1;
            }
            self.entries.extend(of_job.entries);
            let Some(band) = of_job.band else { continue };
            let count = band.iter().sum();
            let (Some(first), Some(last), Some(job)) =
                (band.iter().position(|n| *n > 0), band.iter().rposition(|n| *n > 0), jobs.get(&id))
            else {
                continue;
            };
            load.iter_mut().zip(band).for_each(|(all, more)| *all += more);
            self.bands.push(CalendarBand {
                job: id.to_string(),
                name: job.spec.name.clone(),
                version: job.version,
                day: day.index,
                from_minute: u32::try_from(first * 15).unwrap_or(0),
                to_minute: u32::try_from((last + 1) * 15).unwrap_or(1440),
                count,
                hue: hue(id),
                words: words(job),
            });
        }
        self.load.push(load);
        self.bands.sort_by(|one, other| (one.day, &one.name).cmp(&(other.day, &other.name)));
    }
}

fn has_text(spec: &JobSpec, text: &str) -> bool {
    let text = text.to_lowercase();
    let has = |field: &str| field.to_lowercase().contains(&text);
    has(&spec.name) || spec.tags.iter().any(|tag| has(tag)) || spec.tenant.as_deref().is_some_and(has)
}

fn has_run(state: InstanceState) -> Words {
    match state.is_final() {
        true => Words::new("it has run already", "已经运行过"),
        false => Words::new("it is under way", "正在进行中"),
    }
}

fn can_move(job: &Job, version: u32, added: bool, cx: &CallContext) -> Allowed {
    let allowed = cx.may(Role::Editor);
    if !allowed.ok {
        return allowed;
    }
    if !has_places(&job.spec) {
        return Allowed::no(Words::new(
            "its time depends on when the run before it ends",
            "它的时间取决于上一次运行何时结束",
        ));
    }
    if !added && version != job.version {
        return Allowed::no(Words::new(
            "it belongs to an earlier version of the job, which ends soon",
            "它属于即将失效的旧版本",
        ));
    }
    Allowed::YES
}
