//! The nodes of a team and what each leads.

use campanile_api::views::*;
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::session::Session;

pub async fn list(session: &Session) -> Result<Answer, Fault> {
    session.show("list_nodes", json!({}), |list: &NodeList| told(session, list)).await.map(|_| Answer::Yes)
}

fn told(session: &Session, list: &NodeList) -> String {
    if list.rows.is_empty() {
        return session
            .say("one program at a time drives this folder\n", "该目录同一时间只由一个程序驱动\n")
            .to_owned();
    }
    let lang = session.lang;
    let mut table = session.table(&[
        ("NODE", "节点"),
        ("STATE", "状态"),
        ("PARTITIONS", "分区"),
        ("DUTIES", "职责"),
        ("CLOCK", "时钟差"),
        ("VERSION", "版本"),
        ("SINCE", "加入时间"),
        ("SEEN", "最近响应"),
    ]);
    for row in &list.rows {
        let duties: Vec<&str> =
            row.duties.iter().map(|duty| named(*duty)).map(|(en, zh)| lang.choose(en, zh)).collect();
        table.row(vec![
            row.name.clone(),
            if row.live { lang.choose("live", "正常") } else { lang.choose("not heard", "无响应") }.to_owned(),
            format!("{}/{}", row.partitions, row.partitions_of),
            if duties.is_empty() { "-".to_owned() } else { duties.join(" ") },
            format!("{:+} ms", row.offset_ms),
            row.version.clone(),
            row.since.text.clone(),
            row.seen.text.clone(),
        ]);
    }
    table.text()
}

fn named(duty: NodeDuty) -> (&'static str, &'static str) {
    match duty {
        NodeDuty::Clerk => ("requests", "处理请求"),
        NodeDuty::Monitor => ("watch", "巡查"),
        NodeDuty::Alerter => ("alarms", "告警"),
        NodeDuty::Sweeper => ("retention", "清理"),
    }
}
