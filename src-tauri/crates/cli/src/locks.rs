//! Locks that tasks hold and wait for.

use campanile_api::views::*;
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::said::Lang;
use crate::session::Session;
use crate::why::span;

pub async fn list(session: &Session) -> Result<Answer, Fault> {
    session.show("list_locks", json!({}), |list: &LockList| told(session, list)).await.map(|_| Answer::Yes)
}

fn told(session: &Session, list: &LockList) -> String {
    if list.rows.is_empty() {
        return session.say("nothing is locked\n", "当前没有锁\n").to_owned();
    }
    let lang = session.lang;
    let mut table = session.table(&[
        ("LOCK", "锁"),
        ("HOLDER", "持有者"),
        ("TOKEN", "令牌"),
        ("COUNT", "重入"),
        ("SINCE", "开始时间"),
        ("LEFT", "剩余"),
        ("WAITERS", "等待者"),
    ]);
    for row in &list.rows {
        let left = |party: &LockParty| span((party.until.ms.millis() - list.now.millis()).max(0) as f64);
        let holder = row.holder.as_ref();
        let dash = || "-".to_owned();
        table.row(vec![
            row.lock.clone(),
            holder.map_or_else(dash, |party| named(party, lang)),
            row.token.map_or_else(dash, |token| token.to_string()),
            row.count.to_string(),
            holder.map_or_else(dash, |party| party.since.text.clone()),
            match (holder, row.watched) {
                (None, _) => dash(),
                (Some(_), true) => lang.choose("renewed", "自动续期").to_owned(),
                (Some(party), false) => left(party),
            },
            match row.waiters.first() {
                None => "0".to_owned(),
                Some(first) => format!("{}: {}", row.waiters.len(), named(first, lang)),
            },
        ]);
    }
    let mut text = table.text();
    if list.left_out > 0 {
        text.push_str(&match lang {
            Lang::En => format!("and {} more\n", list.left_out),
            Lang::Zh => format!("另有 {} 项\n", list.left_out),
        });
    }
    text
}

fn named(party: &LockParty, lang: Lang) -> String {
    let LockParty { group, executor, task, attempt, .. } = party;
    match lang {
        Lang::En => format!("{group}/{executor} task {task} attempt {attempt}"),
        Lang::Zh => format!("{group}/{executor} 作业 {task} 第 {attempt} 次"),
    }
}
