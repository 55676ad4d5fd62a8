//! What the window may ask of this side. A command carries; it does not think.

#![expect(clippy::needless_pass_by_value, reason = "a command owns what it is called with")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use campanile_api::views::{Frame, GivenFile, PlacesView, PutTeam, TeamNodeTried};
use campanile_api::{Code, Fault, Lang};
use campanile_host::{Wanted, WantedLog, WantedReport, file_name};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt as _;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::window;

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
    engine.place().await?.call(&op, input, zone, lang).await
}

/// The live feed: until the window is gone, looks elsewhere, or the node of a team goes.
#[tauri::command]
pub async fn subscribe(engine: State<'_, Arc<Engine>>, channel: Channel<Frame>) -> Result<(), Fault> {
    let mut left = engine.places().await?.changes();
    left.mark_unchanged();
    let place = engine.place().await?;
    tokio::select! {
        over = place.follow(|frame| channel.send(frame).is_ok()) => over,
        _ = left.changed() => Ok(()),
    }
}

/// Asks where to, and writes a whole log there. False: the person changed their mind.
#[tauri::command]
pub async fn save_log(
    app: AppHandle,
    engine: State<'_, Arc<Engine>>,
    saving: State<'_, Saving>,
    wanted: WantedLog,
    lang: Lang,
) -> Result<bool, Fault> {
    write(&app, &engine, &saving, Wanted::Log(wanted), lang).await
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
    write(&app, &engine, &saving, Wanted::Report(wanted), lang).await
}

async fn write(app: &AppHandle, engine: &Engine, saving: &Saving, wanted: Wanted, lang: Lang) -> Result<bool, Fault> {
    let place = engine.place().await?;
    let (say, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().set_file_name(file_name(wanted.name())).save_file(move |path| {
        // Fails only when the window is gone, and nobody waits for the answer.
        let _ = say.send(path);
    });
    let Ok(Some(path)) = chosen.await else { return Ok(false) };
    let path = path
        .into_path()
        .map_err(|error| Code::ReportUnwritable.fault().with("file", wanted.name()).with("reason", error))?;
    let stopped = saving.begin();
    tokio::select! {
        saved = place.save(&wanted, &path, lang) => saved.map(|()| true),
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
    let place = engine.place().await?;
    let (say, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().pick_file(move |path| {
        // Fails only when the window is gone, and nobody waits for the answer.
        let _ = say.send(path);
    });
    let Ok(Some(path)) = chosen.await else { return Ok(None) };
    let unreadable = |error: &dyn std::fmt::Display| Code::BadRequest.fault().with("reason", error);
    place.hand_in(&path.into_path().map_err(|error| unreadable(&error))?).await.map(Some)
}

/// Hands in a file that was dropped on the window.
#[tauri::command]
pub async fn hand_in_data(engine: State<'_, Arc<Engine>>, path: PathBuf) -> Result<GivenFile, Fault> {
    engine.place().await?.hand_in(&path).await
}

/// The teams that this machine knows, and at which of them the window looks.
#[tauri::command]
pub async fn places(engine: State<'_, Arc<Engine>>) -> Result<PlacesView, Fault> {
    Ok(engine.places().await?.view().await)
}

/// Keeps a new team, or one that was changed; tells its id.
#[tauri::command]
pub async fn put_team(engine: State<'_, Arc<Engine>>, team: PutTeam) -> Result<String, Fault> {
    engine.places().await?.put(team).await
}

/// What each node of it says.
#[tauri::command]
pub async fn test_team(engine: State<'_, Arc<Engine>>, team: PutTeam) -> Result<Vec<TeamNodeTried>, Fault> {
    engine.places().await?.test(&team).await
}

#[tauri::command]
pub async fn remove_team(engine: State<'_, Arc<Engine>>, id: String) -> Result<(), Fault> {
    engine.places().await?.remove(&id).await
}

/// Looks at a team, or at this machine.
#[tauri::command]
pub async fn look_at(engine: State<'_, Arc<Engine>>, id: Option<String>) -> Result<(), Fault> {
    engine.places().await?.look_at(id.as_deref()).await
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
