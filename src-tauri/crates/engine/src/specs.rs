//! The forms that jobs had, kept at hand: a version never changes, so it is read once.

use std::collections::HashMap;
use std::sync::Arc;

use campanile_model::JobId;
use campanile_model::job::JobSpec;
use campanile_store::{JobStore, Result};

/// More than these and the oldest are read again when they are wanted.
const AT_HAND: usize = 20_000;

#[derive(Default)]
pub struct Specs(HashMap<(JobId, u32), Arc<JobSpec>>);

impl Specs {
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
