//! What the window may ask of this side. A command carries; it does not think.

#![expect(clippy::needless_pass_by_value, reason = "a command owns what it is called with")]

use std::sync::Arc;

use campanile_api::views::Frame;
use campanile_api::{CallContext, Fault, Lang};
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

/// The person has been told that work goes on; the window may hide.
#[tauri::command]
pub fn keep_running(app: AppHandle) {
    window::hide(&app);
}

#[tauri::command]
pub fn quit(app: AppHandle) {
    app.exit(0);
}
