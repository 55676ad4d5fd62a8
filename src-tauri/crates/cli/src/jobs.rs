//! Jobs: what is to be run, when, and as documents.

use campanile_api::views::*;
use campanile_model::{Code, Fault};
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments::{Apply, Crontab, Export, Jobs, OfJobs};
use crate::said::{self, Lang};
use crate::session::{Session, read, write};

/// Jobs asked for at once while all are listed.
const PAGE: u32 = 500;

pub async fn list(session: &Session, list: Jobs) -> Result<Answer, Fault> {
    let mut rows = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let paused = list.paused.then_some(true);
        let input = json!({"text": list.text, "tag": list.tag, "paused": paused, "cursor": cursor, "limit": PAGE});
        let page: Value = session.ask("list_jobs", input).await?;
        rows.extend(page["rows"].as_array().cloned().unwrap_or_default());
        cursor = page["next"].clone();
        if cursor.is_null() {
            break;
        }
    }
    if session.is_for_programs() {
        write(&format!("{:#}\n", Value::Array(rows)));
        return Ok(Answer::Yes);
    }
    let mut table = session.table(&[
        ("NAME", "名称"),
        ("NEXT", "下次执行"),
        ("LAST", "最近结果"),
        ("PROCESSOR", "PROCESSOR"),
        ("TAGS", "标签"),
        ("SCHEDULE", "调度"),
    ]);
    for row in rows {
        let row: JobRow =
            serde_json::from_value(row).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
        let next = match (&row.next, row.paused) {
            (_, true) => session.say("paused", "已暂停").to_owned(),
            (Some(next), _) => next.text.clone(),
            (None, _) => "-".to_owned(),
        };
        let last = row.last.first().map_or_else(|| "-".to_owned(), |last| last.state.to_string());
        table.row(vec![
            row.name,
            next,
            last,
            row.processor,
            row.tags.join(","),
            session.lang.of(&row.words).to_owned(),
        ]);
    }
    write(&table.text());
    Ok(Answer::Yes)
}

pub async fn apply(session: &Session, apply: Apply) -> Result<Answer, Fault> {
    let text = read(&apply.file)?;
    let input = json!({"text": text, "dry_run": apply.dry_run});
    let told = |applied: &Applied| {
        let mut text = String::new();
        for job in &applied.jobs {
            let change = match job.change {
                AppliedChange::Created => session.say("created", "新建"),
                AppliedChange::Changed => session.say("changed", "已更改"),
                AppliedChange::Unchanged => session.say("unchanged", "无变化"),
            };
            text.push_str(&format!("{} {change}\n", job.name));
        }
        if apply.dry_run {
            text.push_str(session.say("(nothing was written)\n", "（未写入任何更改）\n"));
        }
        text
    };
    session.show("apply_jobs", input, told).await.map(|_: Applied| Answer::Yes)
}

pub async fn export(session: &Session, export: Export) -> Result<Answer, Fault> {
    session
        .show("export_jobs", json!({"jobs": export.jobs}), |document: &Document| document.text.clone())
        .await
        .map(|_| Answer::Yes)
}

pub async fn change(session: &Session, operation: &str, of: OfJobs) -> Result<Answer, Fault> {
    let told = |done: &DoneView| match session.lang {
        Lang::En => format!("{} changed\n", done.changed),
        Lang::Zh => format!("已更改 {} 项\n", done.changed),
    };
    session.show(operation, json!({"jobs": of.jobs}), told).await.map(|_| Answer::Yes)
}

pub async fn import_crontab(session: &Session, crontab: Crontab) -> Result<Answer, Fault> {
    let text = read(&crontab.file)?;
    let zone = Some(session.zone()).filter(|zone| !zone.is_empty());
    let input = json!({"text": text, "zone": zone});
    let reading: CrontabReading = session.ask("read_crontab", input.clone()).await?;
    let done: Option<DoneView> = match crontab.dry_run {
        true => None,
        false => Some(session.ask("import_crontab", input).await?),
    };
    if session.is_for_programs() {
        write(&format!("{:#}\n", json!({"reading": reading, "done": done})));
        return Ok(Answer::Yes);
    }
    let mut table = session.table(&[("LINE", "行"), ("JOB", "任务"), ("SCHEDULE", "调度"), ("COMMAND", "命令")]);
    let mut refused = String::new();
    for line in &reading.lines {
        match &line.outcome {
            CrontabOutcome::Job { name, words, command, .. } => {
                table.row(vec![
                    line.number.to_string(),
                    name.clone(),
                    session.lang.of(words).to_owned(),
                    command.clone(),
                ]);
            }
            CrontabOutcome::Refused { fault } => {
                refused.push_str(&format!("{}: {}\n", line.number, line.text));
                for said in said::fault(fault, session.lang).lines() {
                    refused.push_str(&format!("   {said}\n"));
                }
            }
            CrontabOutcome::Blank | CrontabOutcome::Environment => {}
        }
    }
    let mut text = table.text();
    if !refused.is_empty() {
        text.push_str(session.say("\nnot taken:\n", "\n未导入：\n"));
        text.push_str(&refused);
    }
    match (&done, session.lang) {
        (None, _) => text.push_str(session.say("(nothing was written)\n", "（未写入任何更改）\n")),
        (Some(done), Lang::En) => text.push_str(&format!("{} jobs created\n", done.jobs.len())),
        (Some(done), Lang::Zh) => text.push_str(&format!("已创建 {} 个任务\n", done.jobs.len())),
    }
    write(&text);
    Ok(Answer::Yes)
}
