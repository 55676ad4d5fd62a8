//! Lanes: the order in which ready work goes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

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

    pub const fn above(self) -> Option<Lane> {
        match self {
            Lane::Immediate => None,
            Lane::High => Some(Lane::Immediate),
            Lane::Retry => Some(Lane::High),
            Lane::Normal => Some(Lane::Retry),
            Lane::Low => Some(Lane::Normal),
        }
    }

    /// A task that has waited longer in it moves one lane up, where its wait starts anew.
    pub const fn patience(self) -> Option<Duration> {
        match self {
            Lane::Immediate => None,
            Lane::High => Some(Duration::from_secs(30)),
            Lane::Retry => Some(Duration::from_secs(60)),
            Lane::Normal => Some(Duration::from_secs(300)),
            Lane::Low => Some(Duration::from_secs(1800)),
        }
    }
}

/// Time as waiting in a lane counts it: it stands still while everything is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneClock {
    /// All holds so far, those that have ended.
    pub held_millis: i64,
    /// The present one.
    pub held_since: Option<Timestamp>,
}

impl LaneClock {
    /// What it shows at a moment.
    pub fn at(&self, now: Timestamp) -> Timestamp {
        let stands = self.held_since.map_or(now, |since| since.min(now));
        stands.plus_millis(-self.held_millis)
    }

    /// When a task that enters the lane now moves up, by this clock.
    pub fn promotion(&self, lane: Lane, now: Timestamp) -> Option<Timestamp> {
        lane.patience().map(|patience| self.at(now) + patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_low_to_immediate_takes_2190_seconds() {
        let mut lane = Lane::Low;
        let mut waited = 0;
        while let (Some(above), Some(patience)) = (lane.above(), lane.patience()) {
            assert_eq!(above.number() + 1, lane.number());
            waited += patience.as_secs();
            lane = above;
        }
        assert_eq!((lane, waited), (Lane::Immediate, 2190));
    }

    #[test]
    fn the_clock_of_the_lanes_stands_still_while_everything_is_held() {
        let at = |second| Timestamp::EPOCH.plus_seconds(second);
        let running = LaneClock { held_millis: 10_000, held_since: None };
        assert_eq!(running.at(at(100)), at(90));
        let held = LaneClock { held_since: Some(at(100)), ..running };
        assert_eq!((held.at(at(100)), held.at(at(500))), (at(90), at(90)));
        // Released at 500: it goes on where it stood.
        let released = LaneClock { held_millis: 410_000, held_since: None };
        assert_eq!((released.at(at(500)), released.at(at(501))), (at(90), at(91)));
        assert_eq!(released.promotion(Lane::High, at(501)), Some(at(121)));
        // Held by a clock that has been set back since.
        assert_eq!(held.at(at(50)), at(40));
    }
}
