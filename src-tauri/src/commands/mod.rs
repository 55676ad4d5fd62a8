//! What the window may ask of this side. A command carries; it does not think.

use std::sync::Arc;

use campanile_api::{Fault, Frame};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use crate::engine::Engine;
use crate::{feed, window};

/// Any operation of the API, by its name.
#[tauri::command]
pub async fn call(
    engine: State<'_, Arc<Engine>>,
    op: String,
    input: Value,
    zone: String,
    lang: String,
) -> Result<Value, Fault> {
    let host = engine.host().await?;
    host.call_as_owner(&op, input, &zone, &lang).await
}

/// The live feed, until the window is gone.
#[tauri::command]
pub async fn subscribe(engine: State<'_, Arc<Engine>>, channel: Channel<Frame>) -> Result<(), Fault> {
    feed::pass_on(&engine.host().await?, channel);
    Ok(())
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
