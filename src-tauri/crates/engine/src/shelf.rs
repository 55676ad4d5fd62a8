//! Where the almanac of the moment lies.
//!
//! Whoever plans takes it from here once and plans with that one; another may lie here the next moment.

use std::sync::{Arc, PoisonError, RwLock};

use campanile_model::Almanac;
use campanile_model::schedule::Zones;

pub struct Shelf(RwLock<Arc<Almanac>>);

impl Shelf {
    pub fn new(almanac: Almanac) -> Shelf {
        Shelf(RwLock::new(Arc::new(almanac)))
    }

    pub fn almanac(&self) -> Arc<Almanac> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on times are planned by other zone data.
    pub fn put_zones(&self, zones: Arc<Zones>) {
        let mut lying = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *lying = Arc::new(lying.with_zones(zones));
    }
}
