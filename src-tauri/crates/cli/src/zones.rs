//! The zone data that times are planned by.

use campanile_api::views::{Moment, ZonesImported, ZonesView};
use campanile_model::Fault;
use serde_json::json;

use crate::Answer;
use crate::arguments::ImportZones;
use crate::said::Lang;
use crate::session::Session;

pub async fn show(session: &Session) -> Result<Answer, Fault> {
    let told = |view: &ZonesView| match session.lang {
        Lang::En => format!("{}, {} zones; the program carries {}\n", view.version, view.zones, view.bundled),
        Lang::Zh => format!("{}，{} 个时区；程序自带 {}\n", view.version, view.zones, view.bundled),
    };
    session.show("zones", json!({}), told).await.map(|_| Answer::Yes)
}

pub async fn import(session: &Session, import: ImportZones) -> Result<Answer, Fault> {
    let folder = std::path::absolute(&import.folder).unwrap_or(import.folder);
    let told = |done: &ZonesImported| {
        let ZonesImported { before, version, changed, jobs } = done;
        let mut text = match (session.lang, import.dry_run) {
            (Lang::En, false) => format!("{before} → {version}; {changed} jobs have other times\n"),
            (Lang::En, true) => format!("{before} → {version}; {changed} jobs would have other times\n"),
            (Lang::Zh, false) => format!("{before} → {version}；{changed} 个任务的时间有变化\n"),
            (Lang::Zh, true) => format!("{before} → {version}；将有 {changed} 个任务的时间变化\n"),
        };
        let list = |times: &[Moment]| {
            times.iter().map(|at| format!("{} {}", at.text, at.offset)).collect::<Vec<_>>().join(", ")
        };
        for job in jobs {
            text.push_str(&format!(
                "{} ({})\n  - {}\n  + {}\n",
                job.name,
                job.time_zone,
                list(&job.before),
                list(&job.after)
            ));
        }
        if usize::try_from(*changed).is_ok_and(|changed| changed > jobs.len()) {
            text.push_str("…\n");
        }
        text
    };
    let sent = json!({"folder": folder, "dry_run": import.dry_run});
    session.show("import_zones", sent, told).await.map(|_| Answer::Yes)
}
