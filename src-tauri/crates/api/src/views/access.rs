//! Connections that processors are given by name, and tokens that programs are let in by.

use campanile_model::Fault;
use campanile_model::connection::{Address, Keeper, Secret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::*;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionList {
    pub rows: Vec<ConnectionView>,
    /// What would hold a password that is given now.
    pub keeper: Keeper,
    pub can_add: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionView {
    pub name: String,
    /// `mysql`, `postgres`, `sqlite`.
    pub kind: String,
    /// None of one that the executor's configuration defines: its address may hold a password.
    pub address: Option<Address>,
    /// What holds its password, where it has one.
    pub password: Option<Keeper>,
    pub can_change: Allowed,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutConnection {
    pub name: String,
    pub address: Address,
    /// Absent: the one that is kept stays. Empty: none.
    pub password: Option<Secret>,
    /// It is refused where there is one of that name.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub new: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfConnection {
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct TestConnection {
    pub name: String,
    /// Absent: as it is defined now, and as a job would get it.
    pub address: Option<Address>,
    /// As for putting.
    pub password: Option<Secret>,
}

/// One of the two is there.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConnectionTest {
    /// What the database says it is: `MySQL 8.4.2`.
    pub server: Option<String>,
    /// What is in the way.
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct MakeToken {
    /// `executor:GROUP`, or `run:JOB` where the name may have stars.
    pub scope: String,
    /// For whom it is.
    #[serde(default)]
    #[ts(as = "Option<String>", optional)]
    pub note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenMade {
    pub id: String,
    /// Told here and never again.
    pub token: String,
    pub scope: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenList {
    pub rows: Vec<TokenView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TokenView {
    pub id: String,
    pub scope: String,
    pub note: String,
    pub made_by: String,
    pub made_at: Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OfToken {
    pub id: String,
}
