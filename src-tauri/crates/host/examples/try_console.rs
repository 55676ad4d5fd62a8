//! Throwaway: serves the console on a folder, for looking at it.
use campanile_host::{Host, Options, Server, Who};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let data = after("--data").unwrap().into();
    let port = after("--port").unwrap_or_default().parse().unwrap_or(0);
    let shell = args.iter().any(|a| a == "--allow-shell");
    let host = Arc::new(Host::open(Options { data, who: Who::Serve { allow_shell: shell } }).await.unwrap());
    let server = Server::bind(&host, port).await.unwrap();
    println!("{}", server.url());
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).unwrap();
        term.recv().await;
        stopping.cancel();
    });
    let served = tokio::spawn(server.run(host.clone(), stop.clone()));
    host.run(stop).await;
    served.await.unwrap();
}
