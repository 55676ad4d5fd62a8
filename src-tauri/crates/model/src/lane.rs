//! Lanes: the order in which ready work goes.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Smaller goes first; first in, first out within one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum Lane {
    Immediate = 0,
    High = 1,
    /// Further attempts; not to be chosen.
    Retry = 2,
    #[default]
    Normal = 3,
    Low = 4,
}

impl Lane {
    pub const ALL: [Lane; 5] = [Lane::Immediate, Lane::High, Lane::Retry, Lane::Normal, Lane::Low];

    pub const fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Lane> {
        Lane::ALL.into_iter().find(|lane| lane.number() == number)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Lane::Immediate => "Immediate",
            Lane::High => "High",
            Lane::Retry => "Retry",
            Lane::Normal => "Normal",
            Lane::Low => "Low",
        }
    }
}
