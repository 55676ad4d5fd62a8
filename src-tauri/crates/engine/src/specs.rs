//! The forms that jobs had, kept at hand: a version never changes, so it is read once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use campanile_model::JobId;
use campanile_model::job::JobSpec;
use campanile_store::{JobStore, Result};

/// More than these and the oldest are read again when they are wanted.
const AT_HAND: usize = 20_000;

#[derive(Default)]
pub struct Specs(HashMap<(JobId, u32), Arc<JobSpec>>);

impl Specs {
    /// Reads all of these at once that are not at hand.
    pub async fn fetch(
        &mut self,
        store: &(impl JobStore + ?Sized),
        wanted: impl Iterator<Item = (JobId, u32)>,
    ) -> Result<()> {
        let missing: BTreeSet<(JobId, u32)> = wanted.filter(|key| !self.0.contains_key(key)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<(JobId, u32)> = missing.into_iter().collect();
        let found = store.job_versions(&missing).await?;
        if self.0.len() + found.len() > AT_HAND {
            self.0.clear();
        }
        self.0.extend(found.into_iter().map(|found| ((found.job, found.version), Arc::new(found.spec))));
        Ok(())
    }

    pub async fn of(
        &mut self,
        store: &(impl JobStore + ?Sized),
        job: JobId,
        version: u32,
    ) -> Result<Option<Arc<JobSpec>>> {
        if let Some(spec) = self.0.get(&(job, version)) {
            return Ok(Some(spec.clone()));
        }
        let Some(found) = store.job_version(job, version).await? else { return Ok(None) };
        if self.0.len() >= AT_HAND {
            self.0.clear();
        }
        let spec = Arc::new(found.spec);
        self.0.insert((job, version), spec.clone());
        Ok(Some(spec))
    }
}
