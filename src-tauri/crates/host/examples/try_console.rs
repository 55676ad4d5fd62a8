//! Throwaway: serves the console on a folder, for looking at it.
use campanile_host::{Host, Options, Server, Who};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() {
    let data = std::env::args().nth(1).unwrap_or_default().into();
    let host = Arc::new(Host::open(Options { data, who: Who::Serve { allow_shell: true } }).await.unwrap());
    let server = Server::bind(&host, 4555).await.unwrap();
    println!("{}", server.url());
    let stop = CancellationToken::new();
    let served = tokio::spawn(server.run(host.clone(), stop.clone()));
    host.run(stop).await;
    served.await.unwrap();
}
