//! Executors, and the secrets that only they can read.

use campanile_api::views::*;
use campanile_model::connection::Secret;
use campanile_model::secret::to_hex;
use campanile_model::{Code, Fault, Words};
use serde_json::json;

use crate::Answer;
use crate::arguments::{Drain, Keygen, OfSecret, SecretSet, SecretVerb, Undrain};
use crate::said::Lang;
use crate::session::{Session, read, write};
use crate::why::span;

pub async fn list(session: &Session) -> Result<Answer, Fault> {
    session.show("list_executors", json!({}), |list: &ExecutorList| told(session, list)).await.map(|_| Answer::Yes)
}

fn told(session: &Session, list: &ExecutorList) -> String {
    let lang = session.lang;
    let mut table = session.table(&[
        ("EXECUTOR", "执行器"),
        ("STATE", "状态"),
        ("RUNS", "运行"),
        ("WAITS", "排队"),
        ("HEARD", "心跳"),
        ("CPU", "CPU"),
        ("MEMORY", "内存"),
        ("MEAN", "平均耗时"),
        ("PROCESSORS", "处理器"),
        ("LABELS", "标签"),
        ("VERSION", "版本"),
        ("REMARKS", "说明"),
    ]);
    for row in &list.rows {
        let percent = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0} %"));
        let labels: Vec<String> = row.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let names: Vec<&str> = row.processors.iter().map(|processor| processor.name.as_str()).collect();
        let remarks: Vec<&str> = row.remarks.iter().map(|remark| lang.of(remark)).collect();
        let age = list.now.millis() - row.heard.ms.millis();
        table.row(vec![
            format!("{}/{}", row.group, row.name),
            state(row.state, lang).to_owned(),
            format!("{}/{}", row.running, row.capacity),
            row.in_hand.saturating_sub(row.running).to_string(),
            span(age.max(0) as f64),
            percent(row.machine.and_then(|machine| machine.cpu_percent)),
            percent(row.machine.and_then(|machine| machine.memory_percent)),
            row.mean_ms.map_or_else(|| "-".to_owned(), span),
            names.join(","),
            labels.join(","),
            row.version.clone(),
            remarks.join(lang.choose("; ", "；")),
        ]);
    }
    format!("{}\n{}", lang.of(&list.verdict), table.text())
}

fn state(state: ExecutorState, lang: Lang) -> &'static str {
    match state {
        ExecutorState::Live => lang.choose("live", "正常"),
        ExecutorState::Draining => lang.choose("draining", "排空中"),
        ExecutorState::Silent => lang.choose("silent", "无心跳"),
        ExecutorState::Gone => lang.choose("gone", "已离开"),
    }
}

pub async fn drain(session: &Session, drain: Drain) -> Result<Answer, Fault> {
    let Drain { name, group, reason } = drain;
    let said = |_: &DoneView| {
        session.say("it takes nothing new; what it runs goes on\n", "不再接收新作业，正在运行的继续\n").to_owned()
    };
    let input = json!({"group": group, "name": name, "reason": reason});
    session.show("drain_executor", input, said).await.map(|_| Answer::Yes)
}

pub async fn undrain(session: &Session, of: Undrain) -> Result<Answer, Fault> {
    let said = |_: &DoneView| session.say("it takes work again\n", "已恢复接收作业\n").to_owned();
    let input = json!({"group": of.group, "name": of.name});
    session.show("resume_executor", input, said).await.map(|_| Answer::Yes)
}

pub async fn secret(session: &Session, what: SecretVerb) -> Result<Answer, Fault> {
    match what {
        SecretVerb::Set(set) => put(session, set).await,
        SecretVerb::List => {
            session.show("list_secrets", json!({}), |list: &SecretList| secrets(session, list)).await?;
            Ok(Answer::Yes)
        }
        SecretVerb::Remove(OfSecret { name, group }) => {
            let said = |_: &DoneView| session.say("it is forgotten\n", "已删除\n").to_owned();
            let input = json!({"group": group, "name": name});
            session.show("remove_secret", input, said).await.map(|_| Answer::Yes)
        }
        SecretVerb::Keygen(keygen) => make_key(session, &keygen),
    }
}

/// From the standard input: what stands on a command line, every user of the machine can read.
async fn put(session: &Session, set: SecretSet) -> Result<Answer, Fault> {
    let typed = read(std::path::Path::new("-"))?;
    // The line's end belongs to the terminal, or to `echo`.
    let value = typed.strip_suffix('\n').unwrap_or(&typed);
    let value = value.strip_suffix('\r').unwrap_or(value);
    let input = json!({
        "group": set.group, "name": set.name, "key": set.key, "value": Secret(value.to_owned())
    });
    let said = |_: &DoneView| {
        let name = &set.name;
        match session.lang {
            Lang::En => format!("sealed; jobs of group {} may say ${{secret:{name}}}\n", set.group),
            Lang::Zh => format!("已加密保存；{} 组的任务可使用 ${{secret:{name}}}\n", set.group),
        }
    };
    session.show("put_secret", input, said).await.map(|_| Answer::Yes)
}

fn secrets(session: &Session, list: &SecretList) -> String {
    let lang = session.lang;
    let mut table = session.table(&[
        ("GROUP", "组"),
        ("NAME", "名称"),
        ("SET", "设置时间"),
        ("BY", "由"),
        ("KEY", "公钥"),
        ("", ""),
    ]);
    for row in &list.rows {
        let stale = match row.stale {
            true => lang.choose(
                "sealed to another key than its executors have: set it again",
                "加密到的公钥与其执行器不同，请重新设置",
            ),
            false => "",
        };
        table.row(vec![
            row.group.clone(),
            row.name.clone(),
            row.at.text.clone(),
            row.by.clone(),
            format!("{}…", row.sealed_to),
            stale.to_owned(),
        ]);
    }
    table.text()
}

fn make_key(session: &Session, keygen: &Keygen) -> Result<Answer, Fault> {
    let key = campanile_host::make_key(&keygen.out).map_err(|error| {
        let reason = Words::new(error.to_string(), error.to_string());
        Code::BadRequest.fault().with_words("reason", &reason).at("out")
    })?;
    let public = to_hex(&key.public());
    let path = keygen.out.display();
    match (session.is_for_programs(), session.lang) {
        (true, _) => write(&format!("{:#}\n", json!({"file": path.to_string(), "public": public}))),
        (false, Lang::En) => {
            write(&format!("{path} holds the key of a group; its executors read it there.\nPublic: {public}\n"));
        }
        (false, Lang::Zh) => write(&format!("{path} 是执行器组的密钥，由其执行器读取。\n公钥：{public}\n")),
    }
    Ok(Answer::Yes)
}
