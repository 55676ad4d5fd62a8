//! Where a console looks: at the data of its own machine, or at a team, through one of the team's nodes or by what stands
//! in its database.

use campanile_model::Fault;
use campanile_model::connection::{Keeper, Secret};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// By which a team is told from another, and from one's own machine, at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TeamColour {
    #[default]
    Red,
    Amber,
    Violet,
    Blue,
}

/// Every place that this console knows.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PlacesView {
    /// The team that is looked at; none: this machine.
    pub current: Option<String>,
    /// The node of that team that answered last, or is asked next; none while it is not looked at through a node.
    pub node: Option<String>,
    /// Why the team's database is read instead of asking a node; none: it is not.
    pub reads_database: Option<Fault>,
    /// Where a token that is given now would lie.
    pub keeper: Keeper,
    pub rows: Vec<TeamView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamView {
    pub id: String,
    pub name: String,
    pub colour: TeamColour,
    /// None where it is known by its database.
    pub nodes: Vec<TeamNodeView>,
    pub database: Option<TeamDatabaseView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamDatabaseView {
    /// Without the password.
    pub address: String,
    /// What holds the password of its account; none: it has none.
    pub password: Option<Keeper>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamNodeView {
    pub address: String,
    /// What holds its token.
    pub token: Keeper,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutTeam {
    /// None: a new one.
    pub id: Option<String>,
    pub name: String,
    pub colour: TeamColour,
    /// None where a database is given.
    #[serde(default)]
    pub nodes: Vec<PutTeamNode>,
    /// Where what nodes there are is read; none: the nodes are given.
    pub database: Option<PutTeamDatabase>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutTeamDatabase {
    /// `mysql://user@host:3306/database`, with or without the password.
    pub address: String,
    /// None: the one in the address, else the one that is kept.
    pub password: Option<Secret>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutTeamNode {
    /// As `campanile serve` prints it, with or without its token.
    pub address: String,
    /// None: the one in the address, else the one that is kept.
    pub token: Option<Secret>,
}

/// What a node answered that was tried, or a database.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamNodeTried {
    pub address: String,
    /// None: it is no node, or there is a fault.
    pub version: Option<String>,
    pub fault: Option<Fault>,
}
