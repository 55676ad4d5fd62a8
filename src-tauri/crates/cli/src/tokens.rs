//! Tokens and certificates: what executors and programs are let in by.

use std::path::PathBuf;

use campanile_api::views::*;
use campanile_host::certs;
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::arguments::{MakeCerts, MakeToken, OfToken};
use crate::said::Lang;
use crate::session::{Session, write};

pub async fn make(session: &Session, make: MakeToken) -> Result<Answer, Fault> {
    let input = json!({"scope": make.scope, "note": make.note.unwrap_or_default()});
    session.show("make_token", input, |made: &TokenMade| format!("{}\n", made.token)).await?;
    if !session.is_for_programs() {
        eprintln!("{}", session.say("It is not shown again.", "此令牌不会再次显示。"));
    }
    Ok(Answer::Yes)
}

pub async fn list(session: &Session) -> Result<Answer, Fault> {
    let told = |list: &TokenList| {
        let mut table = session.table(&[
            ("TOKEN", "令牌"),
            ("SCOPE", "范围"),
            ("NOTE", "备注"),
            ("BY", "创建者"),
            ("MADE", "创建时间"),
        ]);
        for row in &list.rows {
            let row = row.clone();
            table.row(vec![row.id, row.scope, row.note, row.made_by, row.made_at.text]);
        }
        table.text()
    };
    session.show("list_tokens", json!({}), told).await.map(|_| Answer::Yes)
}

pub async fn revoke(session: &Session, of: OfToken) -> Result<Answer, Fault> {
    let told = |_: &DoneView| session.say("revoked\n", "已撤销\n").to_owned();
    session.show("revoke_token", json!({"id": of.token}), told).await.map(|_| Answer::Yes)
}

/// Needs no data folder: whoever has the files is who they make them.
pub fn make_certs(make: &MakeCerts, json: bool, lang: Lang) -> Result<Answer, Fault> {
    let made = certs::make(&make.out, &make.host, &make.executor)?;
    let files: Vec<String> = made.files.iter().map(|file: &PathBuf| file.display().to_string()).collect();
    if json {
        write(&format!("{}\n", json!({"files": files, "byOldAuthority": made.by_old_authority})));
        return Ok(Answer::Yes);
    }
    let mut text: String = files.iter().map(|file| format!("{file}\n")).collect();
    if made.by_old_authority {
        text.push_str(lang.choose("signed by the authority that was there\n", "由已有的 CA 签发\n"));
    }
    write(&text);
    Ok(Answer::Yes)
}
