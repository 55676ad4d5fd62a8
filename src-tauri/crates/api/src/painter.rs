//! Puts the calendar's answer together: each firing that there is room for, and of the others how many.
//!
//! Texts that many entries share are told once. Reads nothing: what fired and what is to come is handed in.

use std::collections::HashMap;
use std::ops::Range;

use campanile_model::instance::{InstanceState, Origin};
use campanile_model::job::Job;
use campanile_model::request::Role;
use campanile_model::schedule::{Grid, Occurrence, OccurrenceOrigin};
use campanile_model::timeline::Timeline;
use campanile_model::{Almanac, JobId, Timestamp, Words};
use campanile_store::InstanceSummary;

use crate::CallContext;
use crate::jobs::{has_places, hue};
use crate::moments::{Told, day_text, weekday};
use crate::views::*;

/// More firings of a job on one day become a band.
pub(crate) const DRAWN_ONE_BY_ONE: usize = 24;

/// Entries in one answer, and on one of its days. What is beyond is counted.
const MOST_ENTRIES: usize = 6000;
const ENTRIES_A_DAY: std::ops::RangeInclusive<usize> = 100..=1000;

/// Bands on one day; what is beyond is counted.
const BANDS_A_DAY: usize = 100;

const QUARTER_SECONDS: u32 = 900;
const QUARTERS: usize = 96;

/// Firings in each quarter of an hour of a day, as the clock on the wall has them.
pub(crate) type Quarters = [u32; QUARTERS];

pub(crate) struct Day {
    pub start: Timestamp,
    pub end: Timestamp,
    pub number: i64,
    pub index: u32,
}

/// What a day holds of one job.
#[derive(Default)]
pub(crate) struct OfJobOnDay {
    pub entries: Vec<CalendarEntry>,
    /// More than are drawn one by one.
    pub band: Option<Quarters>,
}

/// What is known of one day, job by job, and of what there was no room for.
pub(crate) struct Held {
    pub jobs: HashMap<JobId, OfJobOnDay>,
    pub entries: usize,
    pub unlisted: u32,
    pub load: Quarters,
}

impl Default for Held {
    fn default() -> Held {
        Held { jobs: HashMap::new(), entries: 0, unlisted: 0, load: [0; QUARTERS] }
    }
}

/// The quarters of an hour of a range of days, in elapsed time, each with its day and its place on the wall clock.
pub(crate) struct Sheet {
    pub grid: Grid,
    /// Which cells are of each day.
    pub days: Vec<Range<usize>>,
    /// Of each cell, its place on the wall clock.
    quarters: Vec<usize>,
}

impl Sheet {
    pub(crate) fn new(days: &[Day], told: &Told) -> Option<Sheet> {
        let (first, last) = (days.first()?, days.last()?);
        let seconds = last.end.since(first.start).as_secs();
        let cells = usize::try_from(seconds.div_ceil(u64::from(QUARTER_SECONDS))).unwrap_or(0);
        let grid = Grid::new(first.start, QUARTER_SECONDS, cells);
        let quarters: Vec<usize> = (0..cells).map(|cell| quarter_of(told, grid.cell_start(cell))).collect();
        let cell_at = |at| grid.cell_of(at).unwrap_or(cells);
        let days = days.iter().map(|day| cell_at(day.start)..cell_at(day.end)).collect();
        Some(Sheet { grid, days, quarters })
    }
}

impl Sheet {
    pub(crate) fn on_day(&self, day: usize, counts: &[u32]) -> u32 {
        counts[self.days[day].clone()].iter().sum()
    }

    /// Adds what `counts` has on a day to what is in its quarters.
    pub(crate) fn add_day(&self, day: usize, counts: &[u32], to: &mut Quarters) {
        for cell in self.days[day].clone() {
            to[self.quarters[cell]] += counts[cell];
        }
    }
}

fn quarter_of(told: &Told, at: Timestamp) -> usize {
    told.minute(at) as usize / 15
}

/// An answer while it is put together.
pub(crate) struct Painter<'a> {
    pub told: &'a Told,
    pub cx: &'a CallContext,
    pub jobs: HashMap<JobId, Job>,
    /// Whether only some jobs were asked for.
    pub filtered: bool,
    pub now: Timestamp,
    pub entries_a_day: usize,
    pub notes: Notes,
    pub table: Table,
}

/// Texts that many entries share, each once.
#[derive(Default)]
pub(crate) struct Notes {
    known: HashMap<(String, String), u32>,
    list: Vec<Words>,
}

impl Notes {
    fn place(&mut self, words: Words) -> u32 {
        let Notes { known, list } = self;
        *known.entry((words.en.clone(), words.zh.clone())).or_insert_with(|| {
            list.push(words);
            u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

#[derive(Default)]
pub(crate) struct Table {
    known: HashMap<JobId, u32>,
    list: Vec<CalendarJob>,
}

impl Table {
    fn place(&mut self, id: JobId, job: Option<&Job>, name: &str, almanac: &Almanac) -> u32 {
        let Table { known, list } = self;
        *known.entry(id).or_insert_with(|| {
            list.push(CalendarJob {
                id: id.to_string(),
                name: job.map_or(name, |job| &job.spec.name).to_owned(),
                words: job.map(|job| job.spec.schedule_words(almanac)).unwrap_or_default(),
                hue: hue(id),
            });
            u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

impl<'a> Painter<'a> {
    pub(crate) fn new(
        told: &'a Told,
        cx: &'a CallContext,
        jobs: Vec<Job>,
        filtered: bool,
        now: Timestamp,
        days: usize,
    ) -> Painter<'a> {
        Painter {
            told,
            cx,
            jobs: jobs.into_iter().map(|job| (job.id, job)).collect(),
            filtered,
            now,
            entries_a_day: (MOST_ENTRIES / days.max(1)).clamp(*ENTRIES_A_DAY.start(), *ENTRIES_A_DAY.end()),
            notes: Notes::default(),
            table: Table::default(),
        }
    }

    pub(crate) fn put_past(&mut self, day: &Day, summary: InstanceSummary, held: &mut Held, almanac: &Almanac) {
        let InstanceSummary { instance, job_name, .. } = summary;
        let job = self.jobs.get(&instance.job);
        if self.filtered && job.is_none() {
            return;
        }
        let of_job = held.jobs.entry(instance.job).or_default();
        let id = instance.id.to_string();
        if of_job.entries.iter().any(|entry| entry.instance.as_ref() == Some(&id)) {
            return;
        }
        if let Some(band) = &mut of_job.band {
            band[quarter_of(self.told, instance.due)] += 1;
            return;
        }
        if held.entries >= self.entries_a_day {
            held.unlisted += 1;
            held.load[quarter_of(self.told, instance.due)] += 1;
            return;
        }
        let of_schedule = matches!(instance.origin, Origin::Schedule | Origin::Added);
        held.entries += 1;
        of_job.entries.push(CalendarEntry {
            job: self.table.place(instance.job, job, &job_name, almanac),
            version: instance.version,
            planned: of_schedule.then_some(instance.planned),
            due: self.told.moment(instance.due),
            day: day.index,
            minute: self.told.minute(instance.due),
            instance: Some(id),
            state: Some(instance.state),
            origin: instance.origin,
            reason: instance.reason.map(|reason| self.notes.place(reason)),
            fixed: Some(self.notes.place(has_run(instance.state))),
        });
        if of_job.entries.len() > DRAWN_ONE_BY_ONE {
            held.entries -= of_job.entries.len();
            of_job.make_band(self.told);
        }
    }

    /// Adds what `counts` has on one day to the band of a job, and makes it one.
    pub(crate) fn put_band(&mut self, job: JobId, sheet: &Sheet, counts: &[u32], day: usize, held: &mut Held) {
        let of_job = held.jobs.entry(job).or_default();
        held.entries -= of_job.entries.len();
        let band = of_job.make_band(self.told);
        sheet.add_day(day, counts, band);
    }

    pub(crate) fn future_entry(
        &mut self,
        day: &Day,
        job: &Job,
        version: u32,
        occurrence: &Occurrence,
        timeline: &Timeline,
        almanac: &Almanac,
    ) -> CalendarEntry {
        let added = occurrence.origin == OccurrenceOrigin::Added;
        let remark = match added {
            true => Some(Words::new("added by hand", "手动添加")),
            false => timeline
                .newest()
                .filter(|_| version == job.version)
                .and_then(|times| times.plan().remark(occurrence.planned)),
        };
        let shifts = occurrence.shifts.iter().map(|shift| shift.words(self.told.zone()));
        let reason = remark
            .into_iter()
            .chain(shifts)
            .reduce(|all, one| Words::new(format!("{}; {}", all.en, one.en), format!("{}；{}", all.zh, one.zh)));
        let can_move = can_move(job, version, added, self.cx);
        CalendarEntry {
            job: self.table.place(job.id, Some(job), &job.spec.name, almanac),
            version: job.version,
            planned: Some(occurrence.planned),
            due: self.told.moment(occurrence.due),
            day: day.index,
            minute: self.told.minute(occurrence.due),
            instance: None,
            state: None,
            origin: if added { Origin::Added } else { Origin::Schedule },
            reason: reason.map(|reason| self.notes.place(reason)),
            fixed: can_move.why.filter(|_| !can_move.ok).map(|why| self.notes.place(why)),
        }
    }

    pub(crate) fn finish(mut self, days: &[Day], held: Vec<Held>, almanac: &Almanac) -> CalendarView {
        let mut view = CalendarView {
            now: self.now,
            zone: self.told.zone().name().to_owned(),
            days: Vec::new(),
            jobs: Vec::new(),
            entries: Vec::new(),
            bands: Vec::new(),
            load: Vec::new(),
            notes: Vec::new(),
        };
        for (day, held) in days.iter().zip(held) {
            view.days.push(CalendarDay {
                blackouts: Vec::new(),
                date: day_text(day.number),
                weekday: weekday(day.number),
                start: day.start,
                end: day.end,
                today: (day.start..day.end).contains(&self.now),
                clock_change: self.told.change_between(day.start, day.end).map(|change| change.words()),
                unlisted: held.unlisted,
            });
            let mut load = held.load;
            let mut bands = Vec::new();
            for (id, of_job) in held.jobs {
                for entry in &of_job.entries {
                    load[entry.minute as usize / 15] += 1;
                }
                view.entries.extend(of_job.entries);
                if let (Some(band), Some(job)) = (of_job.band, self.jobs.get(&id)) {
                    load.iter_mut().zip(band).for_each(|(all, more)| *all += more);
                    bands.push((job, band));
                }
            }
            bands.sort_by(|(one, _), (other, _)| one.spec.name.cmp(&other.spec.name));
            let passed_over = bands.iter().skip(BANDS_A_DAY).flat_map(|(_, band)| band).sum::<u32>();
            if let Some(day) = view.days.last_mut() {
                day.unlisted += passed_over;
            }
            for (job, band) in bands.into_iter().take(BANDS_A_DAY) {
                let (Some(first), Some(last)) = (band.iter().position(|n| *n > 0), band.iter().rposition(|n| *n > 0))
                else {
                    continue;
                };
                view.bands.push(CalendarBand {
                    job: self.table.place(job.id, Some(job), &job.spec.name, almanac),
                    version: job.version,
                    day: day.index,
                    from_minute: u32::try_from(first * 15).unwrap_or(0),
                    to_minute: u32::try_from((last + 1) * 15).unwrap_or(1440),
                    count: band.iter().sum(),
                });
            }
            view.load.push(load.to_vec());
        }
        let name = |place: u32| &self.table.list[place as usize].name;
        view.entries.sort_by(|one, other| (one.due.ms, name(one.job)).cmp(&(other.due.ms, name(other.job))));
        view.jobs = self.table.list;
        view.notes = self.notes.list;
        view
    }
}

impl OfJobOnDay {
    fn make_band(&mut self, told: &Told) -> &mut Quarters {
        let band = self.band.get_or_insert([0; QUARTERS]);
        for entry in self.entries.drain(..) {
            band[quarter_of(told, entry.due.ms)] += 1;
        }
        band
    }
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
