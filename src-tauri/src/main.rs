//! The desktop app: a window and a tray on the same API that the command line serves.
//!
//! Nothing here decides anything about jobs: commands carry, the feed passes on, the tray shows.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod commands;
mod engine;
mod notifications;
mod tray;
mod window;

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use campanile_host::DataFolder;
use engine::Engine;
use tauri::{Manager, RunEvent};
use tauri_plugin_window_state::StateFlags;

fn main() -> anyhow::Result<()> {
    let data = data_folder(std::env::args_os().skip(1));
    let folder = one_for_each(&data);
    let engine = Arc::new(Engine::new(data));

    let app = tauri::Builder::default()
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(folder)
                .callback(|app, _, _| window::show(app))
                .build(),
        )
        .plugin(tauri_plugin_window_state::Builder::default().with_state_flags(remembered()).build())
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_opener::init())
        .plugin(tauri_plugin_dialog::init())
        .manage(engine.clone())
        .manage(window::Closing::default())
        .manage(commands::Saving::default())
        .invoke_handler(tauri::generate_handler![
            commands::call,
            commands::subscribe,
            commands::keep_running,
            commands::save_log,
            commands::save_report,
            commands::stop_saving,
            commands::choose_data,
            commands::hand_in_data,
            commands::places,
            commands::put_team,
            commands::test_team,
            commands::remove_team,
            commands::look_at,
            commands::quit
        ])
        .on_window_event(window::on_event)
        .setup(|app| {
            let opening = app.state::<Arc<Engine>>().inner().clone();
            tauri::async_runtime::spawn(async move { opening.open().await });
            window::open(app.handle())?;
            tray::raise(app.handle());
            notifications::watch(app.handle().clone());
            Ok(())
        })
        .build(tauri::generate_context!())?;

    app.run(move |app, event| match event {
        // The last window is hidden, not closed; only `quit` ends the program.
        RunEvent::ExitRequested { api, code: None, .. } => api.prevent_exit(),
        RunEvent::Exit => {
            let engine = app.state::<Arc<Engine>>();
            tauri::async_runtime::block_on(engine.close());
        }
        _ => {}
    });
    Ok(())
}

/// Starting the app again shows its window; with another data folder it is another app.
fn one_for_each(data: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    data.canonicalize().unwrap_or_else(|_| data.to_owned()).hash(&mut hasher);
    format!("dev.campanile.console.d{:x}", hasher.finish())
}

/// Where the window was and how large; not whether it was hidden when the program ended.
fn remembered() -> StateFlags {
    StateFlags::all() & !StateFlags::VISIBLE
}

/// `--data DIR`, else what CAMPANILE_DATA says, else the place that desktops keep such things in.
fn data_folder(mut arguments: impl Iterator<Item = OsString>) -> PathBuf {
    while let Some(argument) = arguments.next() {
        if argument == "--data"
            && let Some(folder) = arguments.next()
        {
            return PathBuf::from(folder);
        }
    }
    std::env::var_os("CAMPANILE_DATA").map_or_else(DataFolder::default_path, PathBuf::from)
}
