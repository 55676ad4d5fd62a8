//! Tells the desktop of alarms and of the end of sharded runs while nobody looks at the window, and keeps the tray's icon
//! true.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use campanile_api::views::{AlarmPage, AlarmRow, Frame, InstanceDetail};
use campanile_api::{CallContext, Code, Fault, Lang, Severity};
use campanile_host::Host;
use serde_json::{Value, json};
use tauri::{AppHandle, Emitter, Manager};
use tauri_plugin_notification::{ActionPerformed, NotificationExt};

use crate::engine::Engine;
use crate::{tray, window};

/// Between two tries at a data folder that does not open.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// Of a run that was over sooner nobody is told: whoever started it is still looking.
const WORTH_TELLING_MS: i64 = 10_000;

/// The window is asked to show a run; `ui/src/app/Shell.tsx` does.
const OPEN_RUN: &str = "open-run";

/// What a notification carries of the run that it is about.
const RUN: &str = "run";

pub fn watch(app: AppHandle) {
    let opener = app.clone();
    if let Err(error) = app.notification().on_action(move |action| open(&opener, action)) {
        tracing::warn!(%error, "clicks on notifications lead nowhere");
    }
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
    let mut sharded = HashMap::new();
    while let Some(frame) = frames.next().await {
        for run in ended(&mut sharded, &frame) {
            match outcome(host, &run).await {
                Ok(Some(text)) => show(app, &text, Some(&run)),
                Ok(None) => {}
                Err(fault) => tracing::warn!(%fault, run, "how a run ended cannot be read"),
            }
        }
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
                show(app, text, None);
            }
        }
        known = Some(now);
    }
}

fn show(app: &AppHandle, text: &str, run: Option<&str>) {
    let mut notification = app.notification().builder().title("Campanile").body(text);
    if let Some(run) = run {
        notification = notification.extra(RUN, run);
    }
    if let Err(error) = notification.show() {
        tracing::warn!(%error, "this desktop shows no notifications");
    }
}

/// A click shows the window, and the run that the notification was about.
fn open(app: &AppHandle, action: &ActionPerformed) {
    window::show(app);
    let run = action.notification().and_then(|notification| notification.extra().get(RUN)).and_then(Value::as_str);
    if let Some(run) = run
        && let Err(error) = app.emit(OPEN_RUN, run)
    {
        tracing::warn!(%error, "the window does not answer");
    }
}

/// Sharded runs that are in progress no more and were long enough. Keeps since when each has been seen.
fn ended(sharded: &mut HashMap<String, i64>, frame: &Frame) -> Vec<String> {
    let now = frame.status.now.millis();
    let in_progress: HashSet<&str> = frame.status.sharded.iter().map(|run| run.instance.as_str()).collect();
    let gone: Vec<(String, i64)> = sharded.extract_if(|run, _| !in_progress.contains(run.as_str())).collect();
    for run in in_progress {
        sharded.entry(run.to_owned()).or_insert(now);
    }
    gone.into_iter().filter(|(_, since)| now - since >= WORTH_TELLING_MS).map(|(run, _)| run).collect()
}

/// How a run ended, in words; none: it has not.
async fn outcome(host: &Host, run: &str) -> Result<Option<String>, Fault> {
    let cx = CallContext { who: host.person().clone(), zone: String::new(), lang: Lang::En };
    let detail = host.call("get_instance", json!({"instance": run}), &cx).await?;
    let detail: InstanceDetail =
        serde_json::from_value(detail).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
    Ok(detail.ended_words().map(|words| if speaks_chinese() { words.zh } else { words.en }))
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
