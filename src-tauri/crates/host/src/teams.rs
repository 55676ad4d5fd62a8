//! Where a console on this machine looks: at the data of the machine itself, or at a team, which it knows by the addresses
//! of nodes or by the team's database.
//!
//! What can be asked is the same in both places, by the same names; so whoever shows it does not know which of them it
//! is, and goes from one to the other without starting anew. The engine of this machine runs on meanwhile.

mod address;
mod book;
mod link;
mod lookout;
mod own_pass;
pub mod pinned;
mod team;

use std::path::Path;
use std::sync::Arc;

use campanile_api::views::{Frame, GivenFile};
use campanile_api::{CallContext, Lang};
use campanile_model::Fault;
use serde_json::Value;

use crate::downloads::Wanted;
use crate::{Host, saving};

pub use book::Places;
pub use team::Team;

/// What is looked at.
#[derive(Clone)]
pub enum Place {
    Here(Arc<Host>),
    Team(Arc<Team>),
}

impl Place {
    /// Any operation of the API, by its name.
    pub async fn call(&self, operation: &str, input: Value, zone: String, lang: Lang) -> Result<Value, Fault> {
        match self {
            Place::Here(host) => host.call(operation, input, &seen_by(host, zone, lang)).await,
            Place::Team(team) => team.call(operation, &input, &zone, lang).await,
        }
    }

    /// The live feed, for as long as `each` wants frames; it ends sooner where the node of a team goes.
    pub async fn follow(&self, mut each: impl FnMut(Frame) -> bool) -> Result<(), Fault> {
        match self {
            Place::Here(host) => {
                let mut frames = host.feed().subscribe();
                while let Some(frame) = frames.next().await {
                    if !each(frame) {
                        break;
                    }
                }
                Ok(())
            }
            Place::Team(team) => team.follow(each).await,
        }
    }

    /// Writes a log or a report there.
    pub async fn save(&self, wanted: &Wanted, path: &Path, lang: Lang) -> Result<(), Fault> {
        match self {
            Place::Here(host) => saving::save(host, wanted, path, &seen_by(host, String::new(), lang)).await,
            Place::Team(team) => team.save(wanted, path, lang).await,
        }
    }

    /// Hands in a file of this machine, to be looked at: as it lies where the data is this machine's, else it is sent.
    pub async fn hand_in(&self, path: &Path) -> Result<GivenFile, Fault> {
        match self {
            Place::Here(host) => host.hand_in(path),
            Place::Team(team) => team.hand_in(path).await,
        }
    }
}

fn seen_by(host: &Host, zone: String, lang: Lang) -> CallContext {
    CallContext { who: host.person().clone(), zone, lang }
}
