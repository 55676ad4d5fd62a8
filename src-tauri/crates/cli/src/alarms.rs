//! Alarms, the ledger, holds, and who did what.

use campanile_api::views::*;
use campanile_model::Fault;
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments::{Ack, Alarms, Audit, Hold};
use crate::said::Lang;
use crate::session::Session;

pub async fn list(session: &Session, list: Alarms) -> Result<Answer, Fault> {
    let states: &[&str] = if list.all { &[] } else { &["firing", "acknowledged"] };
    let told = |page: &AlarmPage| {
        if page.rows.is_empty() {
            return session.say("all is well\n", "一切正常\n").to_owned();
        }
        let mut table = session.table(&[
            ("ALARM", "告警"),
            ("SEVERITY", "级别"),
            ("STATE", "状态"),
            ("LAST", "最近一次"),
            ("COUNT", "次数"),
            ("MESSAGE", "内容"),
        ]);
        for row in &page.rows {
            table.row(vec![
                row.id.clone(),
                row.severity.name().to_owned(),
                row.state.name().to_owned(),
                row.last.text.clone(),
                row.count.to_string(),
                session.lang.of(&row.message).to_owned(),
            ]);
        }
        table.text()
    };
    session.show("list_alarms", json!({"states": states, "limit": 500}), told).await.map(|_| Answer::Yes)
}

pub async fn acknowledge(session: &Session, ack: Ack) -> Result<Answer, Fault> {
    let input = json!({"alarms": ack.alarms, "note": ack.note});
    session.show("acknowledge_alarms", input, |done| changed(session, done)).await.map(|_| Answer::Yes)
}

fn changed(session: &Session, done: &DoneView) -> String {
    match session.lang {
        Lang::En => format!("{} changed\n", done.changed),
        Lang::Zh => format!("已更改 {} 项\n", done.changed),
    }
}

pub async fn ledger(session: &Session) -> Result<Answer, Fault> {
    let told = |view: &LedgerView| {
        let mut text = match session.lang {
            Lang::En => format!(
                "{} jobs, {} spans: {} planned, {} made, {} not made\n",
                view.jobs, view.spans, view.planned, view.made, view.not_made
            ),
            Lang::Zh => format!(
                "{} 个任务，{} 段：计划 {} 次，已触发 {} 次，未触发 {} 次\n",
                view.jobs, view.spans, view.planned, view.made, view.not_made
            ),
        };
        for finding in &view.findings {
            let at = finding.at.as_ref().map(|at| at.text.clone()).unwrap_or_default();
            text.push_str(&format!("! {} {at} {}\n", finding.job, session.lang.of(&finding.words)));
        }
        text.push_str(match view.clean {
            true => session.say("clean\n", "账目无误\n"),
            false => session.say("NOT clean\n", "账目有误\n"),
        });
        text
    };
    let view: LedgerView = session.show("ledger", json!({}), told).await?;
    Ok(if view.clean { Answer::Yes } else { Answer::No })
}

pub async fn hold(session: &Session, hold: Hold) -> Result<Answer, Fault> {
    let told = |_: &DoneView| session.say("everything is held\n", "已全部暂停\n").to_owned();
    session.show("hold", json!({"reason": hold.reason}), told).await.map(|_| Answer::Yes)
}

pub async fn release(session: &Session) -> Result<Answer, Fault> {
    let told = |done: &DoneView| match done.changed {
        0 => session.say("nothing was held\n", "当前没有暂停\n").to_owned(),
        _ => session.say("released\n", "已恢复\n").to_owned(),
    };
    session.show("release", json!({}), told).await.map(|_| Answer::Yes)
}

pub async fn audit(session: &Session, list: Audit) -> Result<Answer, Fault> {
    let told = |page: &AuditPage| {
        let mut table = session.table(&[
            ("AT", "时间"),
            ("WHO", "操作人"),
            ("ACTION", "操作"),
            ("SUBJECT", "对象"),
            ("AFTER", "之后"),
        ]);
        for row in &page.rows {
            let after: String = row.after.as_ref().map(Value::to_string).unwrap_or_default().chars().take(60).collect();
            table.row(vec![row.at.text.clone(), row.who.clone(), row.action.clone(), row.subject.clone(), after]);
        }
        table.text()
    };
    session.show("list_audit", json!({"limit": list.limit}), told).await.map(|_| Answer::Yes)
}
