//! A small answer over HTTP on loopback, `ok`, while this program drives the engine: for whoever watches
//! the machine, and for the sample job that shows what an HTTP check is.
//!
//! Its port is drawn once for a data folder and kept. Where it is taken by another program the
//! answer is left out: nothing else depends on it.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use campanile_engine::{Node, Standing};
use tokio::net::TcpListener;

use crate::folder::DataFolder;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Where it answers. A port is drawn where there is none yet; none where the folder cannot keep it.
pub fn address(data: &DataFolder) -> Option<String> {
    let port = match data.kept_port() {
        Some(port) => port,
        None => {
            let drawn = std::net::TcpListener::bind(("127.0.0.1", 0)).ok()?.local_addr().ok()?.port();
            data.keep_port(drawn).ok()?;
            drawn
        }
    };
    Some(format!("http://127.0.0.1:{port}/health"))
}

/// Answers whenever the program leads.
pub async fn run(data: &DataFolder, node: &Node) {
    let Some(port) = data.kept_port() else { return };
    loop {
        until(node, true).await;
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => {
                let answers = Router::new().route("/health", get(|| async { "ok\n" }));
                let serving = axum::serve(listener, answers);
                tokio::select! {
                    served = serving => if let Err(error) = served {
                        tracing::warn!(%error, "the health answer ended");
                    },
                    () = until(node, false) => {}
                }
            }
            Err(error) => {
                tracing::warn!(port, %error, "the port of the health answer is taken");
                until(node, false).await;
            }
        }
    }
}

async fn until(node: &Node, leads: bool) {
    while (node.standing() == Standing::Leading) != leads {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
