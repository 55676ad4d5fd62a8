//! The tray: the worst open severity as an icon, and the way back to the window.

use std::panic::AssertUnwindSafe;

use campanile_api::Severity;
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem};
use tauri::tray::{TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, include_image};

use crate::window;

const TRAY: &str = "tray";
const CALM: Image<'_> = include_image!("../icons/tray-calm.png");
const WARNING: Image<'_> = include_image!("../icons/tray-warning.png");
const CRITICAL: Image<'_> = include_image!("../icons/tray-critical.png");

/// A desktop without a tray goes without: starting the app again shows the window.
pub fn raise(app: &AppHandle) {
    // The library panics where the system's indicator library is not installed.
    match std::panic::catch_unwind(AssertUnwindSafe(|| build(app))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "this desktop has no tray"),
        Err(_) => tracing::warn!("this system has no indicator library; the app goes without a tray"),
    }
}

fn build(app: &AppHandle) -> tauri::Result<()> {
    let chinese = crate::notifications::speaks_chinese();
    let (open, quit) = if chinese {
        ("打开 Campanile", "退出（任务不再运行）")
    } else {
        ("Open Campanile", "Quit (nothing runs any more)")
    };
    let open = MenuItem::with_id(app, "open", open, true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", quit, true, None::<&str>)?;
    TrayIconBuilder::with_id(TRAY)
        .icon(CALM)
        .tooltip("Campanile")
        .menu(&Menu::with_items(app, &[&open, &quit])?)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| match event.id().as_ref() {
            "open" => window::show(app),
            "quit" => app.exit(0),
            _ => {}
        })
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click { .. } = event {
                window::show(tray.app_handle());
            }
        })
        .build(app)?;
    Ok(())
}

/// Shows the worst of what is open.
pub fn tell(app: &AppHandle, worst: Option<Severity>) {
    let icon = match worst {
        None | Some(Severity::Info) => CALM,
        Some(Severity::Warning) => WARNING,
        Some(Severity::Critical | Severity::Emergency) => CRITICAL,
    };
    if let Some(tray) = app.tray_by_id(TRAY)
        && let Err(error) = tray.set_icon(Some(icon))
    {
        tracing::warn!(%error, "the tray's icon cannot be changed");
    }
}
