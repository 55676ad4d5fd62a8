//! Traffic windows of one process: the reference for any other.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::Result;
use crate::traffic::{Counts, SECONDS_KEPT, Traffic, Window};

#[derive(Default)]
struct Second {
    metered: Option<Counts>,
    probed: Option<Counts>,
    drawn: u32,
}

type Databases = HashMap<String, BTreeMap<i64, Second>>;

#[derive(Default)]
pub struct LocalTraffic(Mutex<Databases>);

impl LocalTraffic {
    fn databases(&self) -> MutexGuard<'_, Databases> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes one second, and lets go of those that are over by then.
    fn change<T>(&self, database: &str, second: i64, change: impl FnOnce(&mut Second) -> T) -> T {
        let mut databases = self.databases();
        let seconds = databases.entry(database.to_owned()).or_default();
        let changed = change(seconds.entry(second).or_default());
        let newest = seconds.keys().next_back().copied().unwrap_or(second);
        seconds.retain(|second, _| *second > newest - SECONDS_KEPT);
        changed
    }
}

#[async_trait]
impl Traffic for LocalTraffic {
    async fn metered(&self, database: &str, second: i64, counts: Counts) -> Result<()> {
        self.change(database, second, |window| {
            let sum = window.metered.get_or_insert_default();
            sum.selects += counts.selects;
            sum.inserts += counts.inserts;
            sum.updates += counts.updates;
            sum.deletes += counts.deletes;
        });
        Ok(())
    }

    async fn probed(&self, database: &str, second: i64, counts: Counts) -> Result<()> {
        self.change(database, second, |window| window.probed = Some(counts));
        Ok(())
    }

    async fn windows(&self, database: &str, through: i64) -> Result<Vec<Window>> {
        let databases = self.databases();
        let Some(seconds) = databases.get(database) else { return Ok(Vec::new()) };
        let known = seconds.range(through - SECONDS_KEPT + 1..=through);
        let windows =
            known.map(|(second, window)| Window { second: *second, metered: window.metered, probed: window.probed });
        Ok(windows.filter(|window| window.metered.is_some() || window.probed.is_some()).collect())
    }

    async fn draw(&self, database: &str, round: i64, allowance: u32, wanted: u32) -> Result<u32> {
        Ok(self.change(database, round, |window| {
            let given = wanted.min(allowance.saturating_sub(window.drawn));
            window.drawn += given;
            given
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::LocalTraffic;
    use crate::conformance::traffic::Fresh;

    async fn fresh() -> Fresh {
        let traffic = Arc::new(LocalTraffic::default());
        Fresh { one: traffic.clone(), other: traffic, house: Arc::new(()) }
    }

    crate::traffic_conformance!(paused, fresh);
}
