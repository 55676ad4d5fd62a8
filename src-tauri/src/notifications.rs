//! Tells the desktop of alarms while nobody looks at the window, and keeps the tray's icon true.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use campanile_api::views::{AlarmPage, AlarmRow};
use campanile_api::{CallContext, Code, Fault, Lang, Severity};
use campanile_host::Host;
use serde_json::json;
use tauri::{AppHandle, Manager};
use tauri_plugin_notification::NotificationExt;

use crate::engine::Engine;
use crate::tray;

/// Between two tries at a data folder that does not open.
const TRY_AGAIN: Duration = Duration::from_secs(5);

pub fn watch(app: AppHandle) {
    tauri::async_runtime::spawn(async move {
        let engine = app.state::<Arc<Engine>>().inner().clone();
        loop {
            if let Ok(host) = engine.host().await {
                follow(&app, &host).await;
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    });
}

async fn follow(app: &AppHandle, host: &Host) {
    let mut frames = host.feed().subscribe();
    let mut known: Option<HashSet<(String, Severity)>> = None;
    let mut worst = None;
    while let Some(frame) = frames.next().await {
        if frame.status.worst != worst {
            worst = frame.status.worst;
            tray::tell(app, worst);
        }
        if known.is_some() && !frame.stale.iter().any(|topic| topic == "alarms") {
            continue;
        }
        let firing = match firing(host).await {
            Ok(firing) => firing,
            Err(fault) => {
                tracing::warn!(%fault, "the alarms cannot be read");
                continue;
            }
        };
        let now: HashSet<_> = firing.iter().map(|alarm| (alarm.id.clone(), alarm.severity)).collect();
        // What was open when the program started is in the window already.
        if let Some(known) = &known {
            for alarm in firing.iter().filter(|alarm| !known.contains(&(alarm.id.clone(), alarm.severity))) {
                let text = if speaks_chinese() { &alarm.message.zh } else { &alarm.message.en };
                if let Err(error) = app.notification().builder().title("Campanile").body(text).show() {
                    tracing::warn!(%error, "this desktop shows no notifications");
                }
            }
        }
        known = Some(now);
    }
}

/// Alarms that nobody has acknowledged, the worst first.
async fn firing(host: &Host) -> Result<Vec<AlarmRow>, Fault> {
    let cx = CallContext { who: host.person().clone(), zone: String::new(), lang: Lang::En };
    let page = host.call("list_alarms", json!({"states": ["firing"], "limit": 50}), &cx).await?;
    let page: AlarmPage =
        serde_json::from_value(page).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
    Ok(page.rows)
}

/// What the desktop speaks: the tray and its notifications follow it.
pub fn speaks_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.starts_with("zh"))
}
