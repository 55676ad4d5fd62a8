//! Where a console looks: at the data of its own machine, or at a team through one of the team's nodes.

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
    /// The node of that team that answered last, or is asked next.
    pub node: Option<String>,
    /// Where a token that is given now would lie.
    pub keeper: Keeper,
    pub rows: Vec<TeamView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamView {
    pub id: String,
    pub name: String,
    pub colour: TeamColour,
    pub nodes: Vec<TeamNodeView>,
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
    pub nodes: Vec<PutTeamNode>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(optional_fields = nullable)]
pub struct PutTeamNode {
    /// As `campanile serve` prints it, with or without its token.
    pub address: String,
    /// None: the one in the address, else the one that is kept.
    pub token: Option<Secret>,
}

/// What a node answered that was tried.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamNodeTried {
    pub address: String,
    pub version: Option<String>,
    pub fault: Option<Fault>,
}
