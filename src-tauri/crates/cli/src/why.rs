//! Why a run ran when it ran, or a job did not fire.

use campanile_api::views::*;
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::arguments::Why;
use crate::said::Lang;
use crate::session::Session;

pub async fn why(session: &Session, why: Why) -> Result<Answer, Fault> {
    let input = match &why.at {
        Some(at) => json!({"job": why.what, "at": at}),
        None => json!({"id": why.what}),
    };
    session.show("why", input, |view: &WhyView| told(session, view)).await.map(|_| Answer::Yes)
}

fn told(session: &Session, view: &WhyView) -> String {
    let lang = session.lang;
    let mut text = format!("{}: {}\n", view.job_name, lang.of(&view.verdict));
    let mut table = session.table(&[
        ("TIME", "时间"),
        ("AFTER", "间隔"),
        ("STEP", "步骤"),
        ("TRY", "尝试"),
        ("BY", "由"),
        ("", ""),
    ]);
    for link in &view.links {
        table.row(vec![
            link.at.as_ref().map_or_else(|| "-".to_owned(), time),
            link.after_ms.map(|ms| format!("+{}", span(ms))).unwrap_or_default(),
            step(link, lang),
            link.attempt.map(|attempt| attempt.to_string()).unwrap_or_default(),
            link.who.clone().unwrap_or_default(),
            lang.of(&link.words).to_owned(),
        ]);
    }
    text.push_str(&table.text());
    if let Some(waiting) = &view.waiting {
        let until = waiting.ends_at.as_ref().map(|at| format!(" ({})", at.text)).unwrap_or_default();
        let ends = lang.of(&waiting.ends);
        text.push_str(&match lang {
            Lang::En => format!("What ends the wait: {ends}{until}\n"),
            Lang::Zh => format!("等待将如何结束：{ends}{until}\n"),
        });
    }
    text
}

/// To the millisecond: what happens within one second is told apart.
fn time(at: &Moment) -> String {
    format!("{}.{:03}", at.text, at.ms.millis().rem_euclid(1000))
}

fn step(link: &WhyLink, lang: Lang) -> String {
    let (en, zh) = match link.step {
        WhyStep::Planned => ("planned", "计划"),
        WhyStep::Due => ("due", "应触发"),
        WhyStep::Created => ("recorded", "已记录"),
        WhyStep::Assigned => ("assigned", "已分配"),
        WhyStep::Held => ("waits", "等待"),
        WhyStep::Admitted => ("ready", "就绪"),
        WhyStep::Pushed => ("pushed", "已下发"),
        WhyStep::HandedBack => ("handed back", "被退回"),
        WhyStep::Started => ("started", "开始"),
        WhyStep::Overran => ("overran", "超时"),
        WhyStep::Stopping => ("stopping", "停止中"),
        WhyStep::AttemptEnded => ("ended", "结束"),
        WhyStep::Retry => ("retry", "重试"),
        WhyStep::Finished => ("finished", "完成"),
        WhyStep::NotFired => ("not fired", "未触发"),
        WhyStep::Promoted => ("moved up", "上移"),
        WhyStep::Remark => ("remark", "备注"),
    };
    match link.state {
        Some(state) => format!("{} {}", state.code(), lang.choose(en, zh)),
        None => lang.choose(en, zh).to_owned(),
    }
}

pub fn span(ms: f64) -> String {
    match ms {
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms if ms < 3_600_000.0 => format!("{:.0} min {:.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0) / 1000.0),
        ms => format!("{:.0} h {:.0} min", (ms / 3_600_000.0).floor(), (ms % 3_600_000.0) / 60_000.0),
    }
}
