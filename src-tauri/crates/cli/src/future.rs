//! A job's times: what comes, moving it, and making good what was.

use campanile_api::views::*;
use campanile_model::backfill::BackfillState;
use campanile_model::schedule::Scope;
use campanile_model::{Almanac, Code, Fault, Timestamp, Words};
use serde_json::{Map, Value, json};

use crate::Answer;
use crate::arguments::{Backfill, Preview, Reschedule};
use crate::said::{self, Lang};
use crate::session::{Session, write};

/// Of a job, each run at its own place in its spread; or of a schedule, by the calendars of the data folder.
pub async fn preview(session: &Session, preview: Preview) -> Result<Answer, Fault> {
    let spec = preview.schedule.as_deref().map(|schedule| document(schedule, &preview)).transpose()?;
    let from = time(preview.from.as_deref(), "from")?;
    let input = json!({"job": preview.job, "spec": spec, "from": from, "count": preview.count});
    let view = session.show("preview", input, |view| runs(view, session.lang)).await?;
    warn(&view, session.lang);
    Ok(Answer::Yes)
}

/// Of a schedule that belongs to no job.
pub fn preview_alone(
    schedule: &str,
    preview: &Preview,
    zone: Option<&str>,
    json: bool,
    lang: Lang,
) -> Result<Answer, Fault> {
    let document = document(schedule, preview)?;
    let almanac = Almanac::bundled();
    let zone = zone.map_or_else(|| campanile_host::machine_zone(almanac.zones()), str::to_owned);
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let from = time(preview.from.as_deref(), "from")?.unwrap_or(Timestamp::EPOCH + since_epoch);
    let view = campanile_api::preview_alone(document, &almanac, &zone, from, preview.count)?;
    match json {
        true => write(&format!("{:#}\n", serde_json::to_value(&view).unwrap_or_default())),
        false => write(&runs(&view, lang)),
    }
    warn(&view, lang);
    Ok(Answer::Yes)
}

/// As much of a job as decides its times.
fn document(schedule: &str, preview: &Preview) -> Result<Map<String, Value>, Fault> {
    let mut document = match &preview.policies {
        None => Map::new(),
        Some(policies) => match read_json(policies, "policies")? {
            Value::Object(fields) => fields,
            _ => return Err(no_json("policies", "not a set of fields", "不是一组字段")),
        },
    };
    document.insert("schedule".to_owned(), read_json(schedule, "schedule")?);
    if let Some(calendar) = &preview.calendar {
        document.insert("calendar".to_owned(), Value::from(calendar.as_str()));
    }
    Ok(document)
}

fn read_json(text: &str, field: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| no_json(field, &error.to_string(), &error.to_string()))
}

fn no_json(field: &str, en: &str, zh: &str) -> Fault {
    let reason =
        Words::new(format!("--{field} is no JSON object: {en}"), format!("--{field} 不是有效的 JSON 对象：{zh}"));
    Code::BadRequest.fault().with_words("reason", &reason).at(field)
}

fn time(text: Option<&str>, field: &str) -> Result<Option<Timestamp>, Fault> {
    let read = |text: &str| text.parse().map_err(|_| Code::TimeInvalid.fault().with("text", text).at(field));
    text.map(read).transpose()
}

/// A time at the start of each line, then what is particular about it.
fn runs(view: &PreviewView, lang: Lang) -> String {
    let line = |run: &PreviewRow| match &run.reason {
        Some(reason) => format!("{}  {}\n", run.local, lang.of(reason)),
        None => format!("{}\n", run.local),
    };
    view.runs.iter().map(line).collect()
}

/// Beside the answer, which scripts read.
fn warn(view: &PreviewView, lang: Lang) {
    for warning in &view.warnings {
        eprintln!("! {}", lang.of(warning));
    }
}

pub async fn reschedule(session: &Session, drag: Reschedule) -> Result<Answer, Fault> {
    let scope = match drag.scope.as_str() {
        "following" => Scope::Following,
        "all" => Scope::All,
        _ => Scope::ThisRun,
    };
    let input = json!({
        "job": drag.job,
        "planned": time(Some(&drag.occurrence), "occurrence")?,
        "to": time(Some(&drag.to), "to")?,
    });
    let view: RescheduleView = session.ask("reschedule", input).await?;
    let Some(choice) = view.choices.iter().find(|choice| choice.scope == scope) else {
        return Err(Code::BadRequest.fault().with("reason", "scope").at("scope"));
    };
    if !choice.allowed.ok {
        let why = choice.allowed.why.clone().unwrap_or_default();
        return Err(Code::CannotMove.fault().with_words("reason", &why));
    }
    let saved: Option<DoneView> = match (drag.dry_run, &choice.spec) {
        (false, Some(spec)) => {
            let save = json!({"job": view.job, "spec": spec, "seen_version": view.version});
            Some(session.ask("save_job", save).await?)
        }
        _ => None,
    };
    if session.is_for_programs() {
        write(&format!("{:#}\n", json!({"choice": choice, "saved": saved})));
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    if let Some(words) = &choice.words {
        text.push_str(&format!("{}\n", session.lang.of(words)));
    }
    for (title, runs) in
        [(session.say("before:", "之前："), &choice.before), (session.say("after:", "之后："), &choice.after)]
    {
        text.push_str(&format!("{title}\n"));
        for run in runs {
            text.push_str(&format!("  {} {}\n", run.text, run.offset));
        }
    }
    if !choice.collisions.is_empty() {
        let names = choice.collisions.join(", ");
        text.push_str(&format!("{} {names}\n", session.say("others within a minute:", "一分钟之内的其他任务：")));
    }
    match saved.and_then(|done| done.version) {
        None => text.push_str(session.say("(nothing was written)\n", "（未写入任何更改）\n")),
        Some(version) => match session.lang {
            Lang::En => text.push_str(&format!("saved as version {version}\n")),
            Lang::Zh => text.push_str(&format!("已保存为第 {version} 版\n")),
        },
    }
    write(&text);
    Ok(Answer::Yes)
}

pub async fn backfill(session: &Session, backfill: Backfill) -> Result<Answer, Fault> {
    if let Some(id) = &backfill.cancel {
        let told = |_: &DoneView| session.say("cancelled\n", "已取消\n").to_owned();
        return session.show("cancel_backfill", json!({"backfill": id}), told).await.map(|_| Answer::Yes);
    }
    if backfill.list {
        return list(session, backfill.job.as_deref()).await;
    }
    let input = json!({
        "job": backfill.job,
        "from": time(backfill.from.as_deref(), "from")?,
        "to": time(backfill.to.as_deref(), "to")?,
    });
    let plan: BackfillPlan = session.ask("plan_backfill", input.clone()).await?;
    let started: Option<DoneView> = match backfill.dry_run {
        true => None,
        false => Some(session.ask("start_backfill", input).await?),
    };
    if session.is_for_programs() {
        write(&format!("{:#}\n", json!({"plan": plan, "started": started})));
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    if let (Some(first), Some(last)) = (&plan.first, &plan.last) {
        text.push_str(&format!("{} {} … {} {}\n", first.text, first.offset, last.text, last.offset));
    }
    text.push_str(&format!("{}\n", session.lang.of(&plan.words)));
    text.push_str(match started {
        None => session.say("(nothing was written)\n", "（未写入任何更改）\n"),
        Some(_) => session.say(
            "started; `campanile backfill --list` shows how far it is\n",
            "已开始；可用 `campanile backfill --list` 查看进度\n",
        ),
    });
    write(&text);
    Ok(Answer::Yes)
}

async fn list(session: &Session, job: Option<&str>) -> Result<Answer, Fault> {
    let told = |list: &BackfillList| {
        let mut table = said::Table::new(
            session.lang,
            &[("ID", "ID"), ("JOB", "任务"), ("FROM", "开始"), ("TO", "结束"), ("MADE", "已生成"), ("STATE", "状态")],
        );
        for row in &list.rows {
            let state = match row.state {
                BackfillState::Running => session.say("running", "进行中"),
                BackfillState::Done => session.say("done", "已完成"),
                BackfillState::Cancelled => session.say("cancelled", "已取消"),
            };
            table.row(vec![
                row.id.clone(),
                row.name.clone(),
                row.from.text.clone(),
                row.to.text.clone(),
                format!("{}/{}", row.made, row.planned),
                state.to_owned(),
            ]);
        }
        table.text()
    };
    session.show("list_backfills", json!({"job": job}), told).await.map(|_| Answer::Yes)
}
