//! The promises of the contract, kept while two nodes share the database: every call goes to the other one.

mod servers;

use campanile_store::conformance::in_turn::InTurn;
use campanile_store_mysql::MysqlStore;
use servers::{Housed, Server};

/// Both open the empty database at the same moment: one of them makes the schema.
async fn fresh() -> Option<Housed<InTurn<MysqlStore>>> {
    let database = Server::shared()?.database().await;
    let (one, other) = tokio::join!(database.open(), database.open());
    Some(Housed::new(InTurn::new([one, other]), database))
}

campanile_store::conformance!(if_there fresh);
