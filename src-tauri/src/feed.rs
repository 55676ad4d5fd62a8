//! Passes the live feed on to the window.

use campanile_api::views::Frame;
use campanile_host::Host;
use tauri::ipc::Channel;

/// Until the window does not take it any more.
pub fn pass_on(host: &Host, channel: Channel<Frame>) {
    let mut frames = host.feed().subscribe();
    tauri::async_runtime::spawn(async move {
        while let Some(frame) = frames.next().await {
            if channel.send(frame).is_err() {
                return;
            }
        }
    });
}
