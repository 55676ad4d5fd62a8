//! Working-day calendars: what there are, a year at a glance, files in and out, and what a change does to the
//! times of jobs before it is saved.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use campanile_engine::effect::{JobEffect, TimeChange, calendar_of, effect};
use campanile_model::calendar::{
    Calendar, Date, DayKind, FileKind, FileRead, Layer, MarkedDay, Standing, Uncovered, WorkingDays, built_in,
    calendar_of_file, check, difference, read_file, write_file,
};
use campanile_model::job::Job;
use campanile_model::job_check::schedule_fault;
use campanile_model::request::{Ask, Role};
use campanile_model::{Almanac, Code, Fault, Words};

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext, Lang};

/// The first hundred of what changes is told, and how much more there is.
const MOST_DAYS: usize = 1000;
const MOST_JOBS: usize = 100;
const MOST_TIMES: usize = 20;

/// An alarm comes so long before the data ends.
const SOON_DAYS: i64 = 30;

/// A calendar by its name, else out of a file that `read` reads: without a node, and without keeping it.
///
/// Gives the almanac that has it, and its name in there.
pub fn calendar_alone(
    almanac: &Almanac,
    named: &str,
    read: impl FnOnce(&str) -> Result<String, Fault>,
) -> Result<(Almanac, String), Fault> {
    if almanac.calendar_document(named).is_some() {
        return Ok((almanac.clone(), named.to_owned()));
    }
    if !named.contains(['.', '/', '\\']) {
        return Err(schedule_fault(&match almanac.calendar(named) {
            Err(unknown) => unknown,
            Ok(days) => return Ok((almanac.clone(), days.name().to_owned())),
        }));
    }
    let text = read(named)?;
    let file = named.rsplit(['/', '\\']).next().unwrap_or(named);
    let stem = file.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("file");
    let calendar = match serde_json::from_str::<Calendar>(&text) {
        Ok(calendar) => calendar,
        Err(_) => match read_file(FileKind::guess(file, &text), &text) {
            Ok(read) => calendar_of_file(stem, file, &read),
            Err(faults) => return Err(faults.into_iter().next().unwrap_or_else(|| Code::BadRequest.fault())),
        },
    };
    if let Some(fault) = check(&calendar, almanac).into_iter().next() {
        return Err(fault);
    }
    let name = calendar.name.clone();
    Ok((almanac.with_calendar(calendar), name))
}

impl Api {
    pub(crate) async fn list_calendars(&self, _: Nothing, cx: &CallContext) -> Result<WorkCalendarList, Fault> {
        let told = self.told(cx)?;
        let almanac = self.almanac();
        let mut users: HashMap<String, u32> = HashMap::new();
        for job in self.all_jobs().await? {
            if let Some(name) = calendar_of(&job, &almanac) {
                *users.entry(name).or_default() += 1;
            }
        }
        let row = |(document, days): (&Calendar, &WorkingDays)| {
            let jobs = users.get(&document.name).copied().unwrap_or(0);
            self.calendar_row(document, days, &almanac, jobs, &told, cx)
        };
        Ok(WorkCalendarList { rows: almanac.calendars().map(row).collect() })
    }

    pub(crate) async fn get_calendar(&self, of: OfCalendar, cx: &CallContext) -> Result<WorkCalendarView, Fault> {
        let told = self.told(cx)?;
        let almanac = self.almanac();
        let (document, days) = found(&almanac, &of.calendar)?;
        let named = |job: &Job| calendar_of(job, &almanac).as_ref() == Some(&document.name);
        let mut jobs: Vec<String> = self.all_jobs().await?.into_iter().filter(named).map(|job| job.spec.name).collect();
        let count = u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        jobs.sort();
        jobs.truncate(MOST_JOBS);
        let now = Date::of_day(told.day(self.now())).year();
        let year = of.year.unwrap_or_else(|| u16::try_from(now).unwrap_or(1970));
        Ok(WorkCalendarView {
            row: self.calendar_row(document, days, &almanac, count, &told, cx),
            document: document.clone(),
            year: year_of(days, year)?,
            jobs,
        })
    }

    fn calendar_row(
        &self,
        document: &Calendar,
        days: &WorkingDays,
        almanac: &Almanac,
        jobs: u32,
        told: &Told,
        cx: &CallContext,
    ) -> WorkCalendarRow {
        let data_ends = days.data_ends_from(self.now());
        let built_in_now = almanac.is_built_in(&document.name);
        let carried = built_in().iter().any(|calendar| calendar.name == document.name);
        let editor = cx.may(Role::Editor);
        let can_remove = match (editor.ok, built_in_now, carried) {
            (false, ..) => editor.clone(),
            (_, true, _) => Allowed::no(Code::CalendarBuiltIn.fault().with("calendar", &document.name).message),
            (_, _, false) if jobs > 0 => {
                let users = Words::new(format!("{jobs} jobs"), format!("{jobs} 个任务"));
                let fault = Code::CalendarInUse.fault().with("calendar", &document.name);
                Allowed::no(fault.with_words("users", &users).message)
            }
            _ => Allowed::YES,
        };
        WorkCalendarRow {
            name: document.name.clone(),
            title: document.label(),
            built_in: built_in_now,
            carried,
            base: document.base.clone(),
            revision: document.revision,
            saved_at: told.maybe(document.saved_at),
            saved_by: document.saved_by.clone(),
            week: days.week(),
            uncovered: if days.holds() { Uncovered::Hold } else { Uncovered::Weekly },
            years: days.covered_years().filter_map(|year| u16::try_from(year).ok()).collect(),
            data_ends,
            ends_soon: data_ends
                .is_some_and(|ends| ends.day() - self.now().millis().div_euclid(86_400_000) < SOON_DAYS),
            jobs,
            version: days.version().to_owned(),
            can_edit: editor,
            can_remove,
        }
    }

    pub(crate) async fn calendar_effect(&self, put: PutCalendar, cx: &CallContext) -> Result<CalendarDraft, Fault> {
        let almanac = self.almanac();
        let new = almanac.calendar_document(&put.calendar.name).is_none();
        self.drafted(put.calendar, new, 0, 0, &almanac, cx).await
    }

    pub(crate) async fn put_calendar(&self, put: PutCalendar, cx: &CallContext) -> Result<CalendarSaved, Fault> {
        let before = self.almanac();
        if let Some(fault) = check(&put.calendar, &before).into_iter().next() {
            return Err(fault);
        }
        let (name, after) = (put.calendar.name.clone(), before.with_calendar(put.calendar.clone()));
        let ask = Ask::PutCalendar { calendar: Box::new(put.calendar), seen_revision: put.seen_revision };
        self.save_calendar(&name, ask, &before, &after, cx).await
    }

    pub(crate) async fn remove_calendar(&self, of: OfCalendar, cx: &CallContext) -> Result<CalendarSaved, Fault> {
        let before = self.almanac();
        found(&before, &of.calendar)?;
        let after = before.without_calendar(&of.calendar);
        let ask = Ask::RemoveCalendar { calendar: of.calendar.clone(), seen_revision: of.seen_revision };
        self.save_calendar(&of.calendar, ask, &before, &after, cx).await
    }

    async fn save_calendar(
        &self,
        name: &str,
        ask: Ask,
        before: &Almanac,
        after: &Almanac,
        cx: &CallContext,
    ) -> Result<CalendarSaved, Fault> {
        let told = self.told(cx)?;
        let effects = effect(self.store(), before, after, self.now()).await?;
        let done = self.ask(cx, ask).await?;
        let almanac = self.shelf.renew(self.store()).await?;
        let (jobs, more_jobs) = job_changes(effects, &told);
        let revision = almanac.calendar_document(name).map_or(0, |saved| saved.revision);
        Ok(CalendarSaved { changed: done.changed, revision, jobs, more_jobs })
    }

    pub(crate) async fn read_calendar_file(
        &self,
        file: CalendarFile,
        cx: &CallContext,
    ) -> Result<CalendarDraft, Fault> {
        let almanac = self.almanac();
        let new = almanac.calendar_document(&file.calendar).is_none();
        match read_into(&file, &almanac) {
            Err(faults) => Ok(CalendarDraft {
                calendar: None,
                new,
                faults,
                read: 0,
                passed_over: 0,
                days: Vec::new(),
                more_days: 0,
                jobs: Vec::new(),
                more_jobs: 0,
            }),
            Ok((draft, read)) => {
                let days = u32::try_from(read.days.len()).unwrap_or(u32::MAX);
                self.drafted(draft, new, days, read.passed_over, &almanac, cx).await
            }
        }
    }

    pub(crate) async fn import_calendar(&self, file: CalendarFile, cx: &CallContext) -> Result<CalendarSaved, Fault> {
        let almanac = self.almanac();
        let (calendar, _) = read_into(&file, &almanac)
            .map_err(|faults| faults.into_iter().next().unwrap_or_else(|| Code::BadRequest.fault()))?;
        self.put_calendar(PutCalendar { calendar, seen_revision: file.seen_revision }, cx).await
    }

    pub(crate) async fn export_calendar(&self, export: ExportCalendar, cx: &CallContext) -> Result<Document, Fault> {
        let almanac = self.almanac();
        let (_, days) = found(&almanac, &export.calendar)?;
        let years = match &export.years {
            Some(years) => span(years.iter().map(|year| i64::from(*year))),
            None => span(days.told_years()),
        };
        let now = Date::of_day(self.told(cx)?.day(self.now())).year();
        let years = years.unwrap_or(now..=now);
        Ok(Document { text: write_file(export.kind, days, years, cx.lang == Lang::Zh) })
    }

    async fn drafted(
        &self,
        calendar: Calendar,
        new: bool,
        read: u32,
        passed_over: u32,
        almanac: &Almanac,
        cx: &CallContext,
    ) -> Result<CalendarDraft, Fault> {
        let told = self.told(cx)?;
        let faults = check(&calendar, almanac);
        let mut draft = CalendarDraft {
            calendar: Some(calendar.clone()),
            new,
            faults,
            read,
            passed_over,
            days: Vec::new(),
            more_days: 0,
            jobs: Vec::new(),
            more_jobs: 0,
        };
        if !draft.faults.is_empty() {
            return Ok(draft);
        }
        let after = almanac.with_calendar(calendar.clone());
        let (_, is) = found(&after, &calendar.name)?;
        // A new one is compared with the plain week.
        let plain = Calendar::new(&calendar.name);
        let plain = WorkingDays::new(&plain, None);
        let was = almanac.calendar(&calendar.name).ok();
        let was = was.as_deref().unwrap_or(&plain);
        let now = Date::of_day(told.day(self.now())).year();
        if let Some(years) = span(was.told_years().chain(is.told_years()).chain([now, now + 1])) {
            draft.days = difference(was, is, years);
        }
        draft.more_days = cut(&mut draft.days, MOST_DAYS);
        (draft.jobs, draft.more_jobs) = job_changes(effect(self.store(), almanac, &after, self.now()).await?, &told);
        Ok(draft)
    }
}

fn found<'a>(almanac: &'a Almanac, name: &str) -> Result<(&'a Calendar, &'a WorkingDays), Fault> {
    let found = almanac.calendars().find(|(document, _)| document.name == name);
    found.ok_or_else(|| Code::CalendarNotFound.fault().with("calendar", name).at("calendar"))
}

fn span(years: impl Iterator<Item = i64>) -> Option<RangeInclusive<i64>> {
    years.fold(None, |span, year| match span {
        None => Some(year..=year),
        Some(span) => Some(*span.start().min(&year)..=*span.end().max(&year)),
    })
}

fn cut<T>(list: &mut Vec<T>, most: usize) -> u32 {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    u32::try_from(more).unwrap_or(u32::MAX)
}

fn job_changes(mut effects: Vec<JobEffect>, told: &Told) -> (Vec<JobTimesChange>, u32) {
    let more_jobs = cut(&mut effects, MOST_JOBS);
    let change = |change: TimeChange| TimeChangeView {
        planned: told.moment(change.planned),
        before: told.maybe(change.before),
        after: told.maybe(change.after),
    };
    let jobs = effects
        .into_iter()
        .map(|mut effect| {
            let more = cut(&mut effect.changes, MOST_TIMES);
            JobTimesChange {
                job: effect.job.to_string(),
                name: effect.name,
                changes: effect.changes.into_iter().map(change).collect(),
                more,
            }
        })
        .collect();
    (jobs, more_jobs)
}

fn year_of(days: &WorkingDays, year: u16) -> Result<WorkCalendarYear, Fault> {
    let wrong =
        || Code::BadRequest.fault().with("reason", format!("{year} is not a year from 1970 to 2199")).at("year");
    let first = Date::new(i64::from(year), 1, 1).ok_or_else(wrong)?;
    let day = |date: Date| {
        let works = match days.standing_of(date) {
            Standing::Working => Some(true),
            Standing::Off => Some(false),
            Standing::Unknown => None,
        };
        WorkCalendarDay {
            date,
            weekday: date.weekday(),
            works,
            why: days.why(date),
            mark: days.mark_of(date).map(|mark| DayMark {
                kind: mark.kind,
                name: mark.name.clone(),
                calendar: mark.calendar.clone(),
                layer: mark.layer.clone(),
            }),
        }
    };
    let days_of_year: Vec<WorkCalendarDay> =
        (0..366).map(|n| first.plus_days(n)).filter(|date| date.year() == first.year()).map(day).collect();
    let working_days = days_of_year.iter().filter(|day| day.works == Some(true)).count();
    Ok(WorkCalendarYear {
        year,
        covered: days.covers_year(i64::from(year)),
        working_days: u32::try_from(working_days).unwrap_or(0),
        days: days_of_year,
    })
}

/// The calendar with the file's days in one of its layers, in place of what stood there for the same years.
fn read_into(file: &CalendarFile, almanac: &Almanac) -> Result<(Calendar, FileRead), Vec<Fault>> {
    let file_name = file.file_name.as_deref().unwrap_or_default();
    let kind = file.kind.unwrap_or_else(|| FileKind::guess(file_name, &file.text));
    let read = read_file(kind, &file.text)?;
    let years = file.years.clone().unwrap_or_else(|| read.years.clone());
    let before = almanac.calendar_document(&file.calendar);
    let mut calendar = match before {
        Some(document) if almanac.is_built_in(&file.calendar) => {
            Calendar { base: Some(document.name.clone()), ..Calendar::new(&document.name) }
        }
        Some(document) => document.clone(),
        None => {
            let title = read.title.as_ref().map(|title| Words::new(title.clone(), title.clone()));
            Calendar { title, ..Calendar::new(&file.calendar) }
        }
    };
    let name = file.layer.clone().unwrap_or_else(|| "country".to_owned());
    let place = calendar.layers.iter().position(|layer| layer.name == name).unwrap_or_else(|| {
        calendar.layers.push(Layer { name: name.clone(), ..Layer::default() });
        calendar.layers.len() - 1
    });
    let in_years = |date: Date| years.iter().any(|year| i64::from(*year) == date.year());
    let layer = &mut calendar.layers[place];
    layer.days.retain(|day| !in_years(day.date));
    layer.days.extend(read.days.iter().filter(|day| in_years(day.date)).cloned());
    layer.years.extend(&years);
    layer.years.sort_unstable();
    layer.years.dedup();
    layer.source = file_name.to_owned();
    let marked: Vec<Date> = read.days.iter().map(|day| day.date).collect();
    // What lies below and is not in the file is no longer so.
    let below = Calendar { layers: calendar.layers[..place].to_vec(), ..calendar.clone() };
    let below = almanac.with_calendar(below);
    if let Ok(below) = below.calendar(&calendar.name) {
        let stale = below.marked_days().filter(|date| in_years(*date) && marked.binary_search(date).is_err());
        let plain = stale.map(|date| MarkedDay {
            date,
            kind: if below.week().contains(&date.weekday()) { DayKind::Work } else { DayKind::Off },
            name: None,
        });
        let plain: Vec<MarkedDay> = plain.collect();
        calendar.layers[place].days.extend(plain);
    }
    calendar.layers[place].days.sort_by_key(|day| day.date);
    Ok((calendar, read))
}
