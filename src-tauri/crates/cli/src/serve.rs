//! `serve`: a node without a window, with the console for a browser on this machine.

use std::path::PathBuf;
use std::sync::Arc;

use campanile_host::{DataFolder, ExecutorPort, Host, Options, Server, TlsFiles, Who, keep_records};
use campanile_model::{Code, Fault};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Answer;
use crate::arguments::Serve;
use crate::session::write;

pub async fn serve(data: PathBuf, options: &Serve, json: bool) -> Result<Answer, Fault> {
    let folder = DataFolder::open(&data)?;
    let _records = keep_records(&folder, true)?;
    let who = Who::Serve { allow_shell: options.allow_shell, capacity: options.capacity };
    let host = Arc::new(Host::open(Options { data, who }).await?);
    let server = Server::bind(&host, options.port).await?;
    let (address, url) = (server.address(), server.url());
    let executors = match options.executors {
        Some(address) => {
            let tls = match (&options.tls_cert, &options.tls_key) {
                (Some(certificate), Some(key)) => Some(TlsFiles {
                    certificate: certificate.clone(),
                    key: key.clone(),
                    client_ca: options.client_ca.clone(),
                }),
                _ => None,
            };
            if tls.is_none() && !address.ip().is_loopback() && !options.without_tls {
                return Err(Code::TlsMissing.fault().with("address", address));
            }
            let port = ExecutorPort::bind(address, tls.as_ref()).await?;
            host.tells_executors_of(options.advertise.as_deref());
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
        true => write(&format!("{}\n", json!({"address": address.to_string(), "url": url, "executors": executors_at}))),
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
