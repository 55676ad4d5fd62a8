//! What the planner looks things up in: zone data, under one version.
//!
//! An almanac never changes. Whoever plans takes the one of the moment, and the ledger records its
//! version with every span, so that the same times can be planned again.

use std::sync::Arc;

use crate::schedule::{ScheduleError, Zone, Zones};

#[derive(Clone, Debug)]
pub struct Almanac {
    zones: Arc<Zones>,
    version: String,
}

impl Almanac {
    pub fn new(zones: Arc<Zones>) -> Almanac {
        Almanac { version: zones.version().to_owned(), zones }
    }

    /// What the program carries.
    pub fn bundled() -> Almanac {
        Almanac::new(Arc::new(Zones::bundled()))
    }

    /// The same with other zone data.
    #[must_use]
    pub fn with_zones(&self, zones: Arc<Zones>) -> Almanac {
        Almanac::new(zones)
    }

    /// Two with the same version plan the same instants.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    pub fn zone(&self, name: &str) -> Result<Zone, ScheduleError> {
        self.zones.get(name)
    }
}
