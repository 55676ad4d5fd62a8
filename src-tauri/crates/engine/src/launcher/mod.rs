//! Turns due times into instances.
//!
//! A job is *due* when `next_due <= now`. One pass writes an instance for each time that the
//! policies keep, and moves `next_due` past all of them, in one transaction.
//!
//! The launcher does not choose executors (the assigner does) and does not ask whether anything may
//! run now (the dispatcher's gate does): an instance records that the time came, whatever happens next.

pub mod decide;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::instance::InstanceState;
use campanile_model::job::{Job, JobVersion};
use campanile_model::schedule::ScheduleError;
use campanile_model::timeline::{Timeline, needs_earlier};
use campanile_model::{Almanac, JobId, Timestamp};
use campanile_store::{JobStore, Launched, Lead, StoreError};
use decide::{Facts, decide};

use crate::events::Topic;
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;

/// Jobs in one transaction.
const BATCH: usize = 500;

pub struct Launcher {
    shared: Arc<Shared>,
    lead: Lead,
    /// Parsed schedules of jobs, with the version that each is for.
    timelines: HashMap<JobId, (u32, Arc<Timeline>)>,
}

impl Launcher {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Launcher {
        Launcher { shared, lead, timelines: HashMap::new() }
    }

    async fn timeline(&mut self, job: &Job, almanac: &Almanac) -> Result<Arc<Timeline>, TimelineError> {
        if let Some((version, timeline)) = self.timelines.get(&job.id)
            && *version == job.version
        {
            return Ok(timeline.clone());
        }
        let timeline = Arc::new(timeline(self.shared.store.as_ref(), job, almanac).await?);
        // What earlier versions planned stays right as time goes on: they plan less and less.
        self.timelines.insert(job.id, (job.version, timeline.clone()));
        Ok(timeline)
    }

    /// What jobs of a fixed delay wait for has ended: their next time is known.
    async fn plan_fixed_delays(&mut self, almanac: &Almanac) -> Result<usize, PassError> {
        let mut planned = 0;
        for job in self.shared.store.idle_fixed_delay_jobs(BATCH).await? {
            let next = match self.timeline(&job, almanac).await {
                Ok(timeline) => following_time(&job, &timeline),
                Err(TimelineError::Store(error)) => return Err(error.into()),
                Err(TimelineError::Schedule(_)) => None,
            };
            // Never, rather than unknown: nobody needs to look at this job again.
            let next = next.unwrap_or(Timestamp::MAX);
            if self.shared.store.plan_next(&self.lead, job.id, job.version, next).await? {
                planned += 1;
            }
        }
        Ok(planned)
    }
}

/// When a job of a fixed delay runs next: the delay after its last run ended.
fn following_time(job: &Job, timeline: &Timeline) -> Option<Timestamp> {
    let ended = job.last_final_at.unwrap_or(job.fired_through).max(job.fired_through);
    timeline.newest()?.after_final(ended).map(|occurrence| occurrence.due)
}

#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// A job's times after it last fired.
pub async fn timeline(
    store: &(impl JobStore + ?Sized),
    job: &Job,
    almanac: &Almanac,
) -> Result<Timeline, TimelineError> {
    let versions = versions_since(store, job.as_version(), job.fired_through).await?;
    Ok(Timeline::new(&versions, almanac)?)
}

/// The version and those before it that planned times after `through`, newest first.
pub async fn versions_since(
    store: &(impl JobStore + ?Sized),
    newest: JobVersion,
    through: Timestamp,
) -> Result<Vec<JobVersion>, StoreError> {
    let mut versions = vec![newest];
    while let Some(oldest) = versions.last()
        && needs_earlier(oldest, through)
        && let Some(earlier) = store.job_version(oldest.job, oldest.version - 1).await?
    {
        versions.push(earlier);
    }
    Ok(versions)
}

#[async_trait]
impl Officer for Launcher {
    fn name(&self) -> &'static str {
        "launcher"
    }

    fn bell(&self) -> Bell {
        Bell::Launcher
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let almanac = self.shared.shelf.almanac();
        let mut did = self.plan_fixed_delays(&almanac).await?;
        let due = self.shared.store.due_jobs(now, BATCH).await?;
        let full = due.len() == BATCH;
        let ids: Vec<JobId> = due.iter().map(|job| job.id).collect();
        let mut unfinished: HashMap<JobId, (usize, usize)> = HashMap::new();
        if !ids.is_empty() {
            for (job, _, state) in self.shared.store.unfinished(&ids).await? {
                let (all, waiting) = unfinished.entry(job).or_default();
                *all += 1;
                *waiting += usize::from(state == InstanceState::Waiting);
            }
        }

        let mut launches = Vec::with_capacity(due.len());
        for job in &due {
            let timeline = match self.timeline(job, &almanac).await {
                Ok(timeline) => timeline,
                Err(TimelineError::Store(error)) => return Err(error.into()),
                Err(TimelineError::Schedule(error)) => {
                    // It was checked when it was saved; only other zone data can have done this.
                    tracing::error!(job = job.spec.name, %error, "the schedule cannot be evaluated any more");
                    launches.push(decide::give_up(job, now, almanac.version()));
                    continue;
                }
            };
            let (all, waiting) = unfinished.get(&job.id).copied().unwrap_or_default();
            let facts = Facts { job, timeline: &timeline, now, zone_data: almanac.version(), unfinished: all, waiting };
            launches.push(decide(&facts, || self.shared.dice.instance_id(now)));
        }
        if !launches.is_empty() {
            let launched = self.shared.store.launch(&self.lead, &launches).await?;
            let made: u32 = launched
                .iter()
                .map(|launched| match launched {
                    Launched::Written { made } => *made,
                    Launched::Stale => 0,
                })
                .sum();
            did += launches.len();
            if made > 0 {
                self.shared.coord.ring(Bell::Assigner);
                self.shared.events.say(Topic::Instances, now);
            }
            if launches.iter().any(|launch| !launch.incidents.is_empty()) {
                self.shared.coord.ring(Bell::Alerter);
            }
            self.shared.events.say(Topic::Jobs, now);
        }
        // What `now` cut short (a thousand times of one job) is due still.
        let next = self.shared.store.earliest_due().await?;
        let again = (full || next.is_some_and(|next| next <= now)) && !launches.is_empty();
        Ok(Pass { did, again, next: next.map(|next| next.max(now.plus_millis(1))) })
    }
}
