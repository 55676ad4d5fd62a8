//! `serve`: a node without a window, with the console for a browser.

use std::path::PathBuf;
use std::sync::Arc;

use campanile_host::config::Config;
use campanile_host::{DataFolder, ExecutorPort, Host, Options, Server, TlsFiles, Who, keep_records};
use campanile_model::{Code, Fault};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Answer;
use crate::session::write;

pub async fn serve(data: PathBuf, config: &Config, json: bool) -> Result<Answer, Fault> {
    let folder = DataFolder::open(&data)?;
    let _records = keep_records(&folder, true)?;
    let allow_shell = config.flag("embedded.allow_shell").unwrap_or(false);
    let who = Who::Serve { allow_shell, capacity: config.number("embedded.capacity") };
    let host = Arc::new(Host::open_as(Options { data, who }, config).await?);
    let server = Server::bind_as(&host, config).await?;
    let (address, url, api) = (server.address(), server.url(), server.api());
    let fingerprint = api.fingerprint.clone();
    host.answers_at(api);
    let executors = match config.listen("executors.listen") {
        Some(address) => {
            let tls = match (config.path("executors.certificate"), config.path("executors.key")) {
                (Some(certificate), Some(key)) => {
                    Some(TlsFiles { certificate, key, client_ca: config.path("executors.client_ca") })
                }
                _ => None,
            };
            let without_tls = config.flag("executors.without_tls").unwrap_or(false);
            if tls.is_none() && !address.ip().is_loopback() && !without_tls {
                return Err(Code::TlsMissing.fault().with("address", address));
            }
            let port = ExecutorPort::bind(address, tls.as_ref()).await?;
            // Of a port on every address nobody can tell by which of them others reach it.
            let own = Some(port.address()).filter(|own| config.in_team() && !own.ip().is_unspecified());
            let advertised = config.text("executors.advertise").map(str::to_owned);
            host.tells_executors_of(advertised.or_else(|| own.map(|own| own.to_string())).as_deref());
            Some(port)
        }
        None => None,
    };
    let executors_at = executors.as_ref().map(ExecutorPort::address);

    let shutdown = CancellationToken::new();
    let running = tokio::spawn(host.clone().run(shutdown.clone()));
    let mut parts = vec![running, tokio::spawn(server.run(host.clone(), shutdown.clone()))];
    parts.extend(executors.map(|port| tokio::spawn(port.run(host.clone(), shutdown.clone()))));
    match json {
        true => {
            let said = json!({
                "address": address.to_string(),
                "url": url,
                "fingerprint": fingerprint,
                "executors": executors_at,
            });
            write(&format!("{said}\n"));
        }
        false => write(&format!("{url}\n")),
    }

    asked_to_end().await;
    tracing::info!("stepping down");
    shutdown.cancel();
    tokio::spawn(async {
        // Asked once more, it does not wait.
        asked_to_end().await;
        std::process::exit(130);
    });
    for task in parts {
        if task.await.is_err() {
            tracing::error!("a part of the node ended in a panic");
        }
    }
    host.close().await;
    Ok(Answer::Yes)
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
