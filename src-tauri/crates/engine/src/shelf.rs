//! Where the almanac of the moment lies.
//!
//! Whoever plans takes it from here once and plans with that one. Before a pass, or before an answer, it is
//! asked whether somebody has changed a calendar meanwhile, in this program or in another: that is one
//! number to read.

use std::sync::{Arc, PoisonError, RwLock};

use campanile_model::Almanac;
use campanile_model::calendar::Calendar;
use campanile_model::schedule::Zones;
use campanile_store::{SettingStore, StoreError};
use serde_json::Value;

/// Under this and a calendar's name it is kept; null where it was removed.
pub const CALENDAR_SETTING: &str = "calendar:";

/// Counts the changes of what times are planned by.
pub const ALMANAC_SETTING: &str = "almanac";

pub struct Shelf(RwLock<(u64, Arc<Almanac>)>);

impl Shelf {
    /// What the program carries; what people made is put in by the first [`Shelf::renew`].
    pub fn new(almanac: Almanac) -> Shelf {
        Shelf(RwLock::new((0, Arc::new(almanac))))
    }

    pub fn almanac(&self) -> Arc<Almanac> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The almanac as the store has it now.
    pub async fn renew(&self, store: &(impl SettingStore + ?Sized)) -> Result<Arc<Almanac>, StoreError> {
        let counted = almanac_changes(store).await?;
        let (known, almanac) = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known == counted {
            return Ok(almanac);
        }
        let calendars = read_calendars(store).await?;
        let mut lying = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *lying = (counted, Arc::new(lying.1.with_calendars(calendars)));
        Ok(lying.1.clone())
    }

    /// From now on times are planned by other zone data.
    pub fn put_zones(&self, zones: Arc<Zones>) {
        let mut lying = self.0.write().unwrap_or_else(PoisonError::into_inner);
        lying.1 = Arc::new(lying.1.with_zones(zones));
    }
}

/// How often what times are planned by was changed.
pub async fn almanac_changes(store: &(impl SettingStore + ?Sized)) -> Result<u64, StoreError> {
    Ok(store.setting(ALMANAC_SETTING).await?.as_ref().and_then(Value::as_u64).unwrap_or(0))
}

/// The calendars that people made.
pub async fn read_calendars(store: &(impl SettingStore + ?Sized)) -> Result<Vec<Calendar>, StoreError> {
    let mut calendars = Vec::new();
    for (key, value) in store.settings().await? {
        if !key.starts_with(CALENDAR_SETTING) || value.is_null() {
            continue;
        }
        match serde_json::from_value(value) {
            Ok(calendar) => calendars.push(calendar),
            // Jobs that name it are told that it is not there; the others go on.
            Err(error) => tracing::error!(key, %error, "a calendar cannot be read"),
        }
    }
    Ok(calendars)
}
