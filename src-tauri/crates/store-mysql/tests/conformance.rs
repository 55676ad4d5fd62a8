//! The promises of the contract, kept on a real server: MariaDB 10.11 where `make test` runs, another one by
//! `make test-mysql`.

mod servers;

use campanile_store_mysql::MysqlStore;
use servers::{Housed, Server};

async fn fresh() -> Option<Housed<MysqlStore>> {
    let database = Server::shared()?.database().await;
    Some(Housed::new(database.open().await, database))
}

campanile_store::conformance!(if_there fresh);
campanile_store::archive_conformance!(if_there fresh);
