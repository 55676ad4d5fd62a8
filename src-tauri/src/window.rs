//! The window: opened once, hidden when it is closed, shown again from the tray.

use std::sync::atomic::{AtomicBool, Ordering};

use tauri::{AppHandle, Emitter, Manager, Runtime, WebviewUrl, WebviewWindowBuilder, Window, WindowEvent};

const MAIN: &str = "main";

/// Asked before the window is closed for the first time; `ui/src/app/Closing.tsx` answers.
const CLOSING: &str = "closing";

/// Whether this program has said that closing is not quitting.
#[derive(Default)]
pub struct Closing {
    told: AtomicBool,
}

pub fn open<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<()> {
    WebviewWindowBuilder::new(app, MAIN, WebviewUrl::default())
        .title("Campanile")
        .inner_size(1280.0, 800.0)
        .min_inner_size(900.0, 600.0)
        .build()?;
    Ok(())
}

pub fn show<R: Runtime>(app: &AppHandle<R>) {
    if let Some(window) = app.get_webview_window(MAIN) {
        let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
        if let Err(error) = shown {
            tracing::warn!(%error, "the window cannot be shown");
        }
    }
}

pub fn hide<R: Runtime>(app: &AppHandle<R>) {
    app.state::<Closing>().told.store(true, Ordering::Relaxed);
    if let Some(window) = app.get_webview_window(MAIN)
        && let Err(error) = window.hide()
    {
        tracing::warn!(%error, "the window cannot be hidden");
    }
}

/// Closing hides: the engine goes on. The first time the window is asked to say so.
pub fn on_event<R: Runtime>(window: &Window<R>, event: &WindowEvent) {
    let WindowEvent::CloseRequested { api, .. } = event else { return };
    api.prevent_close();
    if window.state::<Closing>().told.load(Ordering::Relaxed) {
        hide(window.app_handle());
    } else if let Err(error) = window.emit(CLOSING, ()) {
        tracing::warn!(%error, "the window does not answer");
        hide(window.app_handle());
    }
}
