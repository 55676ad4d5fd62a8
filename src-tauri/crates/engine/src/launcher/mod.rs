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
use campanile_model::instance::{InstanceState, Origin};
use campanile_model::job::{Job, JobVersion};
use campanile_model::schedule::{Occurrence, ScheduleError};
use campanile_model::timeline::{Timeline, needs_earlier};
use campanile_model::{Almanac, JobId, Timestamp};
use campanile_store::{JobStore, Launched, Lead, StoreError};
use decide::{Facts, decide};

use crate::events::Topic;
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;

/// Jobs in one transaction.
const BATCH: usize = 500;

/// Jobs that one pass looks at when there is another almanac.
const REPLANNED_AT_ONCE: usize = 100;

pub struct Launcher {
    shared: Arc<Shared>,
    lead: Lead,
    /// Parsed schedules of jobs, with the version that each is for.
    timelines: HashMap<JobId, (u32, Arc<Timeline>)>,
    /// By which almanac the timelines were made.
    almanac: String,
    replanning: Replanning,
}

/// Whether the next times of all jobs are by the almanac of the moment.
enum Replanning {
    /// Those after this one are not looked at yet.
    After(Option<JobId>),
    Done,
}

impl Launcher {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Launcher {
        // Nobody knows by which data a time was found before this term.
        Launcher {
            shared,
            lead,
            timelines: HashMap::new(),
            almanac: String::new(),
            replanning: Replanning::After(None),
        }
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

    /// Takes the almanac of the moment. With another one nothing that was worked out before holds.
    async fn take_almanac(&mut self) -> Result<Arc<Almanac>, StoreError> {
        let almanac = self.shared.shelf.renew(self.shared.store.as_ref()).await?;
        if self.almanac != almanac.version() {
            almanac.version().clone_into(&mut self.almanac);
            self.timelines.clear();
            self.replanning = Replanning::After(None);
        }
        Ok(almanac)
    }

    /// The next jobs whose times are another by this almanac than they were found by the one before.
    async fn replanned(&mut self, almanac: &Almanac) -> Result<Vec<Job>, PassError> {
        let Replanning::After(after) = self.replanning else { return Ok(Vec::new()) };
        let store = self.shared.store.as_ref();
        let jobs = store.jobs_after(after, REPLANNED_AT_ONCE).await?;
        self.replanning = match jobs.last() {
            Some(last) if jobs.len() == REPLANNED_AT_ONCE => Replanning::After(Some(last.id)),
            _ => Replanning::Done,
        };
        let mut changed = Vec::new();
        for job in jobs {
            let timeline = match timeline(store, &job, almanac).await {
                Ok(timeline) => timeline,
                Err(TimelineError::Store(error)) => return Err(error.into()),
                // It says so when it is due.
                Err(TimelineError::Schedule(_)) => continue,
            };
            let waits = timeline.newest().is_some_and(|timing| timing.plan().waits_for_the_last_run());
            let expected = match next_due(store, &job, &timeline).await? {
                None if waits => match (timeline.uses_calendar(), job.last_final_at) {
                    (true, Some(_)) if job.next_due.is_some() => following_time(&job, &timeline).or(job.next_due),
                    _ => job.next_due,
                },
                next => next,
            };
            if expected != job.next_due {
                tracing::info!(job = job.spec.name, "its next time is another one by the data of now");
                changed.push(job);
            }
        }
        Ok(changed)
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

/// When a job is due next, after what has been decided of it.
pub async fn next_due(
    store: &(impl JobStore + ?Sized),
    job: &Job,
    timeline: &Timeline,
) -> Result<Option<Timestamp>, StoreError> {
    let behind = behind(store, job, timeline).await?;
    Ok(behind.first().map(|(_, first)| first.due).or_else(|| timeline.next_due(job.fired_through)))
}

/// Occurrences that were moved to a working day that has passed, by an edit of the job or of its calendar, before
/// anything was decided of them.
async fn behind(
    store: &(impl JobStore + ?Sized),
    job: &Job,
    timeline: &Timeline,
) -> Result<Vec<(u32, Occurrence)>, StoreError> {
    let mut behind = timeline.moved_behind(job.fired_through);
    if behind.is_empty() {
        return Ok(behind);
    }
    let extract = store.ledger_extract(job.id).await?;
    behind.retain(|(_, occurrence)| {
        let planned = occurrence.planned;
        let made = extract.made.iter().any(|made| made.origin == Origin::Schedule && made.planned == planned);
        !made && !extract.omissions.iter().any(|left| left.from <= planned && planned <= left.to)
    });
    Ok(behind)
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
        let almanac = self.take_almanac().await?;
        let mut did = self.plan_fixed_delays(&almanac).await?;
        let mut due = self.shared.store.due_jobs(now, BATCH).await?;
        let full = due.len() == BATCH;
        for job in self.replanned(&almanac).await? {
            if !due.iter().any(|other| other.id == job.id) {
                due.push(job);
            }
        }
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
            let behind = behind(self.shared.store.as_ref(), job, &timeline).await?;
            let zone_data = timeline.data_version(&almanac);
            let facts =
                Facts { job, timeline: &timeline, now, zone_data: &zone_data, behind, unfinished: all, waiting };
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
        let again = matches!(self.replanning, Replanning::After(_));
        let again = again || (full || next.is_some_and(|next| next <= now)) && !launches.is_empty();
        Ok(Pass { did, again, next: next.map(|next| next.max(now.plus_millis(1))) })
    }
}
