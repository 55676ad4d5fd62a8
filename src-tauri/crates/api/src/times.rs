//! The times of jobs, kept at hand: a version of a job never changes, so it is compiled once for each almanac.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use campanile_engine::launcher::{self, TimelineError};
use campanile_model::job::Job;
use campanile_model::timeline::Timeline;
use campanile_model::{Fault, JobId};

use crate::Api;

/// Beyond these all are compiled anew when they are wanted.
const AT_HAND: usize = 120_000;

/// None: its times cannot be told.
type Known = Option<Arc<Timeline>>;

#[derive(Default)]
pub(crate) struct Times(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// By which almanac they were planned.
    almanac: String,
    timelines: HashMap<(JobId, u32), Known>,
}

impl Api {
    /// None: its times cannot be told (its zone is gone, say); an alarm says so.
    pub(crate) async fn timeline(&self, job: &Job) -> Result<Option<Arc<Timeline>>, Fault> {
        let almanac = self.almanac();
        let key = (job.id, job.version);
        if let Some(known) = self.times.known(almanac.version(), key) {
            return Ok(known);
        }
        let timeline = match launcher::timeline(self.store(), job, &almanac).await {
            Ok(timeline) => Some(Arc::new(timeline)),
            Err(TimelineError::Store(error)) => return Err(error.into()),
            Err(TimelineError::Schedule(_)) => None,
        };
        self.times.keep(almanac.version(), key, timeline.clone());
        Ok(timeline)
    }
}

impl Times {
    fn known(&self, almanac: &str, key: (JobId, u32)) -> Option<Known> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.timelines.get(&key).filter(|_| held.almanac == almanac).cloned()
    }

    fn keep(&self, almanac: &str, key: (JobId, u32), timeline: Known) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.almanac != almanac || held.timelines.len() >= AT_HAND {
            *held = Held { almanac: almanac.to_owned(), timelines: HashMap::new() };
        }
        held.timelines.insert(key, timeline);
    }
}
