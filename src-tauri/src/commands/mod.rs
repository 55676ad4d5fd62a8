//! What the window may ask of this side. A command carries; it does not think.

#![expect(clippy::needless_pass_by_value, reason = "a command owns what it is called with")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use campanile_api::views::{Frame, GivenFile};
use campanile_api::{CallContext, Code, Fault, Lang};
use campanile_host::{LogText, Wanted, WantedLog, WantedReport, file_name, save};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::{feed, window};

/// Reports that are being written.
#[derive(Default)]
pub struct Saving(Mutex<CancellationToken>);

impl Saving {
    fn begin(&self) -> CancellationToken {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stop(&self) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).cancel();
    }
}

/// Any operation of the API, by its name.
#[tauri::command]
pub async fn call(
    engine: State<'_, Arc<Engine>>,
    op: String,
    input: Value,
    zone: String,
    lang: Lang,
) -> Result<Value, Fault> {
    let host = engine.host().await?;
    host.call(&op, input, &CallContext { who: host.person().clone(), zone, lang }).await
}

/// The live feed, until the window is gone.
#[tauri::command]
pub async fn subscribe(engine: State<'_, Arc<Engine>>, channel: Channel<Frame>) -> Result<(), Fault> {
    let host = engine.host().await?;
    feed::pass_on(&host, channel);
    Ok(())
}

/// Asks where to, and writes a whole log there. False: the person changed their mind.
#[tauri::command]
pub async fn save_log(app: AppHandle, engine: State<'_, Arc<Engine>>, wanted: WantedLog) -> Result<bool, Fault> {
    let host = engine.host().await?;
    let (say, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().set_file_name(file_name(&wanted.name)).save_file(move |path| {
        // Fails only when the window is gone, and nobody waits for the answer.
        let _ = say.send(path);
    });
    let Ok(Some(path)) = chosen.await else { return Ok(false) };
    let trouble =
        |error: &dyn std::fmt::Display| Code::LogUnavailable.fault().with("task", &wanted.task).with("reason", error);
    let path = path.into_path().map_err(|error| trouble(&error))?;
    let mut file = tokio::fs::File::create(&path).await.map_err(|error| trouble(&error))?;
    let cx = CallContext { who: host.person().clone(), zone: String::new(), lang: Lang::En };
    let mut text = LogText::new(&wanted);
    while let Some(piece) = text.next(&host, &cx).await? {
        file.write_all(piece.as_bytes()).await.map_err(|error| trouble(&error))?;
    }
    file.flush().await.map_err(|error| trouble(&error))?;
    Ok(true)
}

/// Asks where to, and writes the report of a run there. False: the person changed their mind, before or on the way.
#[tauri::command]
pub async fn save_report(
    app: AppHandle,
    engine: State<'_, Arc<Engine>>,
    saving: State<'_, Saving>,
    wanted: WantedReport,
    lang: Lang,
) -> Result<bool, Fault> {
    let host = engine.host().await?;
    let (say, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().set_file_name(file_name(&wanted.name)).save_file(move |path| {
        // Fails only when the window is gone, and nobody waits for the answer.
        let _ = say.send(path);
    });
    let Ok(Some(path)) = chosen.await else { return Ok(false) };
    let unwritable =
        |error: &dyn std::fmt::Display| Code::ReportUnwritable.fault().with("file", &wanted.name).with("reason", error);
    let path = path.into_path().map_err(|error| unwritable(&error))?;
    let cx = CallContext { who: host.person().clone(), zone: String::new(), lang };
    let stopped = saving.begin();
    let wanted = Wanted::Report(wanted);
    tokio::select! {
        saved = save(&host, &wanted, &path, &cx) => saved.map(|()| true),
        () = stopped.cancelled() => Ok(false),
    }
}

/// Ends every report that is being written; nothing of it stays.
#[tauri::command]
pub fn stop_saving(saving: State<'_, Saving>) {
    saving.stop();
}

/// Asks for a file with data for a run, and hands it in; none: the person changed their mind.
#[tauri::command]
pub async fn choose_data(app: AppHandle, engine: State<'_, Arc<Engine>>) -> Result<Option<GivenFile>, Fault> {
    let host = engine.host().await?;
    let (say, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().pick_file(move |path| {
        // Fails only when the window is gone, and nobody waits for the answer.
        let _ = say.send(path);
    });
    let Ok(Some(path)) = chosen.await else { return Ok(None) };
    let unreadable = |error: &dyn std::fmt::Display| Code::BadRequest.fault().with("reason", error);
    host.hand_in(&path.into_path().map_err(|error| unreadable(&error))?).map(Some)
}

/// Hands in a file that was dropped on the window.
#[tauri::command]
pub async fn hand_in_data(engine: State<'_, Arc<Engine>>, path: PathBuf) -> Result<GivenFile, Fault> {
    engine.host().await?.hand_in(&path)
}

/// The person has been told that work goes on; the window may hide.
#[tauri::command]
pub fn keep_running(app: AppHandle) {
    window::hide(&app);
}

#[tauri::command]
pub fn quit(app: AppHandle) {
    app.exit(0);
}
