//! One, two and three nodes on one MariaDB and Redis: a burst, a load that lasts, and their store alone.

use crate::figures::scaled;
use crate::rig::Rig;
use crate::servers::Server;
use crate::{burst, steady, store};

const MOST: usize = 3;

/// Executors of each of them, so that it is not these that are too few.
const EXECUTORS: usize = 2;
const CAPACITY: u32 = 100;

pub async fn of_a_team() -> anyhow::Result<()> {
    let Some(server) = Server::of_its_own() else { return Ok(()) };
    let database = server.database().await;
    let kept = database.open().await;
    let alone = store::firings_on(&kept, || kept.statements(), scaled(20_000, 500)).await?;
    kept.close().await;
    tokio::task::spawn_blocking(move || drop((database, server))).await?;
    for nodes in 1..=MOST {
        let rig = || Rig::of_team(nodes, EXECUTORS * nodes, CAPACITY);
        let (Some(bursting), count) = (rig().await?, scaled(20_000, 500)) else { return Ok(()) };
        println!("nodes       {nodes} on one MariaDB and Redis, {} executors", EXECUTORS * nodes);
        Box::pin(burst::on(bursting, count, alone)).await?;
        if let Some(lasting) = rig().await? {
            Box::pin(steady::on(lasting, 200)).await?;
        }
    }
    Ok(())
}
