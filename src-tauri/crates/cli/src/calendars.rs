//! Working-day calendars: listing, a year at a glance, files in and out.

use campanile_api::views::*;
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::arguments::{CalendarVerb, ExportCalendarArguments, ImportCalendarArguments, ShowCalendar};
use crate::said::Lang;
use crate::session::{Session, read, write};

pub async fn carry_out(session: &Session, verb: CalendarVerb) -> Result<Answer, Fault> {
    match verb {
        CalendarVerb::List => list(session).await,
        CalendarVerb::Show(show) => shown(session, show).await,
        CalendarVerb::Import(import) => imported(session, import).await,
        CalendarVerb::Export(export) => exported(session, export).await,
    }
}

async fn list(session: &Session) -> Result<Answer, Fault> {
    let told = |list: &WorkCalendarList| {
        let mut table = session.table(&[
            ("CALENDAR", "日历"),
            ("NAME", "名称"),
            ("DATA UP TO", "数据截至"),
            ("JOBS", "任务"),
            ("REVISION", "修订"),
        ]);
        for row in &list.rows {
            table.row(vec![
                row.name.clone(),
                session.lang.of(&row.title).to_owned(),
                row.data_ends.map_or_else(|| "-".to_owned(), |date| date.to_string()),
                row.jobs.to_string(),
                row.revision.to_string(),
            ]);
        }
        table.text()
    };
    session.show("list_calendars", json!({}), told).await.map(|_| Answer::Yes)
}

async fn shown(session: &Session, show: ShowCalendar) -> Result<Answer, Fault> {
    let told = |view: &WorkCalendarView| {
        let year = &view.year;
        let mut text = match session.lang {
            Lang::En => format!("{}, {}: {} working days\n", view.row.title.en, year.year, year.working_days),
            Lang::Zh => format!("{}，{} 年：{} 个工作日\n", view.row.title.zh, year.year, year.working_days),
        };
        if !year.covered {
            text.push_str(session.say("! there is no data for this year\n", "! 没有该年的数据\n"));
        }
        for day in year.days.iter().filter(|day| day.mark.is_some()) {
            let works = match day.works {
                Some(true) => session.say("work", "班"),
                Some(false) => session.say("off", "休"),
                None => "?",
            };
            let layer = day.mark.as_ref().map(|mark| format!("{}/{}", mark.calendar, mark.layer)).unwrap_or_default();
            text.push_str(&format!("{} {works} {} ({layer})\n", day.date, session.lang.of(&day.why)));
        }
        text
    };
    let input = json!({"calendar": show.name, "year": show.year});
    session.show("get_calendar", input, told).await.map(|_| Answer::Yes)
}

async fn imported(session: &Session, import: ImportCalendarArguments) -> Result<Answer, Fault> {
    let text = read(&import.file)?;
    let file_name = import.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let input = json!({"calendar": import.name, "layer": import.layer, "file_name": file_name, "text": text});
    if import.dry_run {
        let draft: CalendarDraft = session.ask("read_calendar_file", input.clone()).await?;
        if let Some(fault) = draft.faults.into_iter().next() {
            return Err(fault);
        }
        let told = |draft: &CalendarDraft| {
            let mut text = String::new();
            for day in &draft.days {
                let mark = if day.worked_after == Some(true) { '+' } else { '-' };
                text.push_str(&format!("{mark} {} {}\n", day.date, session.lang.of(&day.why_after)));
            }
            text.push_str(&changes(session, &draft.jobs));
            text.push_str(session.say("(nothing was written)\n", "（未写入任何更改）\n"));
            text
        };
        return session.show("read_calendar_file", input, told).await.map(|_| Answer::Yes);
    }
    let told = |saved: &CalendarSaved| {
        let mut text = match session.lang {
            Lang::En => format!("{}: revision {}\n", import.name, saved.revision),
            Lang::Zh => format!("{}：第 {} 次修订\n", import.name, saved.revision),
        };
        text.push_str(&changes(session, &saved.jobs));
        text
    };
    session.show("import_calendar", input, told).await.map(|_| Answer::Yes)
}

/// Future times of jobs that become others, a line each.
fn changes(session: &Session, jobs: &[JobTimesChange]) -> String {
    let none = session.say("does not run", "不运行");
    let told = |at: &Option<Moment>| at.as_ref().map_or_else(|| none.to_owned(), |at| at.text.clone());
    let mut text = String::new();
    for job in jobs {
        for change in &job.changes {
            text.push_str(&format!("{}: {} → {}\n", job.name, told(&change.before), told(&change.after)));
        }
    }
    text
}

async fn exported(session: &Session, export: ExportCalendarArguments) -> Result<Answer, Fault> {
    let kind = if export.csv { "csv" } else { "ics" };
    let years = export.year.map(|year| [year]);
    let input = json!({"calendar": export.name, "kind": kind, "years": years});
    let document: Document = session.ask("export_calendar", input).await?;
    write(&document.text);
    Ok(Answer::Yes)
}
