//! Tells the desktop of alarms while nobody looks at the window, and keeps the tray's icon true.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use campanile_api::{AlarmState, Severity};
use futures::StreamExt;
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

async fn follow(app: &AppHandle, host: &campanile_host::Host) {
    let mut frames = host.feed();
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
        let Ok(firing) = host.firing_alarms().await else { continue };
        let now: HashSet<_> = firing.iter().map(|alarm| (alarm.id.clone(), alarm.severity)).collect();
        // What was open when the program started is in the window already.
        if let Some(known) = &known {
            for alarm in firing.iter().filter(|alarm| {
                alarm.state == AlarmState::Firing && !known.contains(&(alarm.id.clone(), alarm.severity))
            }) {
                let text = if speaks_chinese() { &alarm.message.zh } else { &alarm.message.en };
                let shown = app.notification().builder().title("Campanile").body(text).show();
                if let Err(error) = shown {
                    tracing::warn!(%error, "this desktop shows no notifications");
                }
            }
        }
        known = Some(now);
    }
}

/// What the desktop speaks: the tray and its notifications follow it.
pub fn speaks_chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.starts_with("zh"))
}
