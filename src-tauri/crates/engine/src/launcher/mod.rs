//! Turns due times into instances, and what brings a firing about beside the clock.
//!
//! A job is *due* when `next_due <= now`. One pass writes an instance for each time that the
//! policies keep, and moves `next_due` past all of them, in one transaction.
//!
//! The ends of instances wait in the store for the jobs that run after theirs, and backfills for
//! their next run; both are used up in the transaction that writes what they come to.
//!
//! The launcher does not choose executors (the assigner does) and does not ask whether anything may
//! run now (the dispatcher's gate does): an instance records that the time came, whatever happens next.

mod chains;
pub mod decide;
pub mod line;
pub mod unplanned;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::backfill::{Backfill, EVERY_MS, MOST_BACKFILLED};
use campanile_model::blackout::{Blackouts, JobWindows};
use campanile_model::chain::Ending;
use campanile_model::instance::Origin;
use campanile_model::job::{Job, JobSpec, JobVersion};
use campanile_model::schedule::{CompiledTiming, Occurrence, ScheduleError};
use campanile_model::timeline::{Timeline, holds_from, needs_earlier};
use campanile_model::{Almanac, Code, Fault, JobId, Partitions, Timestamp, Words};
use campanile_store::{JobStore, Launched, StoreError, Unplanned};
pub use chains::chain_faults;
use decide::{Facts, NewIds, decide};
use line::Line;
use unplanned::{Chained, backfilled, chained};

use crate::events::Topic;
use crate::officer::{Officer, Pass, PassError};
use crate::share::{Led, Share};
use crate::shared::{Shared, read_blackouts};
use crate::specs::Specs;

/// Jobs in one transaction.
const BATCH: usize = 500;

/// Beyond this nothing is launched.
const MOST_UNCERTAIN: Duration = Duration::from_secs(1);

/// Jobs that one pass looks at when there is another almanac.
const REPLANNED_AT_ONCE: usize = 100;
/// More than a pass makes of one backfill.
const BACKFILLED_AT_ONCE: usize = 100;

pub struct Launcher {
    shared: Arc<Shared>,
    share: Arc<Share>,
    /// What this pass is for.
    led: Led,
    /// Parsed schedules of jobs, with the version that each is for.
    timelines: HashMap<JobId, (u32, Arc<Timeline>)>,
    /// By which almanac the timelines were made.
    almanac: String,
    replanning: Replanning,
    specs: Specs,
}

/// Whether the next times of all jobs are by the almanac of the moment.
enum Replanning {
    /// Those after this one are not looked at yet.
    After(Option<JobId>),
    Done,
}

impl Launcher {
    pub fn new(shared: Arc<Shared>, share: Arc<Share>) -> Launcher {
        // Nobody knows by which data a time was found before this term.
        Launcher {
            shared,
            share,
            led: Led::default(),
            timelines: HashMap::new(),
            almanac: String::new(),
            replanning: Replanning::After(None),
            specs: Specs::default(),
        }
    }

    /// Takes what is led here for the pass that begins.
    fn take_share(&mut self) -> Partitions {
        let led = self.share.led();
        if !led.of().without(self.led.of()).is_empty() {
            // Of those that have come nobody knows by which data their times were found.
            self.replanning = Replanning::After(None);
        }
        self.led = led;
        self.led.of()
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
        let of = self.led.of();
        for job in jobs.into_iter().filter(|job| of.has(job.id)) {
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
        for job in self.shared.store.idle_fixed_delay_jobs(self.led.of(), BATCH).await? {
            let Some(lead) = self.led.lead([job.id]) else { continue };
            let next = match self.timeline(&job, almanac).await {
                Ok(timeline) => following_time(&job, &timeline),
                Err(TimelineError::Store(error)) => return Err(error.into()),
                Err(TimelineError::Schedule(_)) => None,
            };
            // Never, rather than unknown: nobody needs to look at this job again.
            let next = next.unwrap_or(Timestamp::MAX);
            if self.shared.store.plan_next(&lead, job.id, job.version, next).await? {
                planned += 1;
            }
        }
        Ok(planned)
    }
}

impl Launcher {
    async fn lines(&self, jobs: &[JobId]) -> Result<HashMap<JobId, Line>, StoreError> {
        let mut open: HashMap<JobId, Vec<_>> = HashMap::new();
        if !jobs.is_empty() {
            for (job, instance, state) in self.shared.store.unfinished(jobs).await? {
                open.entry(job).or_default().push((instance, state));
            }
        }
        Ok(open.into_iter().map(|(job, open)| (job, Line::new(open))).collect())
    }

    /// What the ends of instances come to for the jobs that run after theirs.
    async fn follow_ends(
        &mut self,
        now: Timestamp,
        almanac: &Almanac,
        blackouts: &Blackouts,
    ) -> Result<Beside, PassError> {
        let endings = self.shared.store.endings(self.led.of(), BATCH).await?;
        let full = endings.iter().filter(|ending| !ending.kept).count() >= BATCH;
        let mut by_job: BTreeMap<JobId, Vec<Ending>> = BTreeMap::new();
        for ending in endings {
            by_job.entry(ending.job).or_default().push(ending);
        }
        by_job.retain(|_, endings| endings.iter().any(|ending| !ending.kept));
        if by_job.is_empty() {
            return Ok(Beside::default());
        }
        let ids: Vec<JobId> = by_job.keys().copied().collect();
        let upstream: BTreeSet<JobId> = by_job.values().flatten().map(|ending| ending.upstream).collect();
        let upstream: Vec<JobId> = upstream.into_iter().collect();
        let names: HashMap<JobId, String> =
            self.shared.store.jobs(&upstream).await?.into_iter().map(|job| (job.id, job.spec.name)).collect();
        let jobs = self.shared.store.jobs(&ids).await?;
        let mut lines = self.lines(&ids).await?;
        let mut unplanned = Vec::with_capacity(jobs.len());
        for job in &jobs {
            let Some(endings) = by_job.get(&job.id) else { continue };
            let timeline = match self.timeline(job, almanac).await {
                Ok(timeline) => Some(timeline),
                Err(TimelineError::Store(error)) => return Err(error.into()),
                Err(TimelineError::Schedule(_)) => None,
            };
            let timing = timeline.as_ref().and_then(|timeline| timeline.newest());
            let spread_seconds = timing.map_or(0, CompiledTiming::place_in_spread_seconds);
            let zone = timing.and_then(|timing| timing.plan().zone());
            let windows = JobWindows::of(&job.spec, blackouts, almanac);
            let oldest = endings.iter().map(|ending| ending.at).min().unwrap_or(now);
            let versions = versions_held(self.shared.store.as_ref(), job.as_version(), oldest).await?;
            let line = lines.remove(&job.id).unwrap_or_default();
            let windows = &windows;
            let facts = Chained { job, versions: &versions, endings, spread_seconds, line, windows, zone, now };
            let dice = &self.shared.dice;
            unplanned.push(chained(
                facts,
                |job| names.get(&job).cloned(),
                NewIds { instance: || dice.instance_id(now), question: || dice.question_id(now) },
            ));
        }
        let launched = self.launch_unplanned(&unplanned).await?;
        Ok(Beside { did: unplanned.len(), again: full, ..launched })
    }

    /// The next runs of backfills whose turn it is.
    async fn go_on_with_backfills(
        &mut self,
        now: Timestamp,
        almanac: &Almanac,
        blackouts: &Blackouts,
    ) -> Result<Beside, PassError> {
        let open = self.shared.store.open_backfills(self.led.of(), BATCH).await?;
        let ids: Vec<JobId> = open.iter().map(|backfill| backfill.job).collect();
        if ids.is_empty() {
            return Ok(Beside::default());
        }
        let jobs: HashMap<JobId, Job> =
            self.shared.store.jobs(&ids).await?.into_iter().map(|job| (job.id, job)).collect();
        let mut lines = self.lines(&ids).await?;
        let mut next: Option<Timestamp> = None;
        let mut unplanned: Vec<Unplanned> = Vec::new();
        for backfill in &open {
            let Some(job) = jobs.get(&backfill.job) else { continue };
            // What is made good is no more urgent than what is due.
            if let Some(hit) = JobWindows::of(&job.spec, blackouts, almanac).hit(now) {
                next = next.into_iter().chain(Some(hit.until)).min();
                continue;
            }
            let line = lines.entry(job.id).or_default();
            let Some(spec) = self.specs.of(self.shared.store.as_ref(), backfill.job, backfill.version).await? else {
                tracing::error!(job = job.spec.name, "it has no version {}", backfill.version);
                continue;
            };
            let due = times_to_make(backfill, &spec, almanac);
            let dice = &self.shared.dice;
            match backfilled(backfill, job, &spec, &due, line, now, || dice.instance_id(now)) {
                Some(made) => {
                    made.instances.iter().for_each(|instance| line.join(instance.id));
                    unplanned.push(made);
                }
                None => next = next.into_iter().chain(Some(backfill.next_at()).filter(|at| *at > now)).min(),
            }
        }
        let launched = self.launch_unplanned(&unplanned).await?;
        let next = next.or((!unplanned.is_empty()).then(|| now.plus_millis(EVERY_MS)));
        Ok(Beside { did: unplanned.len(), next, ..launched })
    }

    async fn launch_unplanned(&self, unplanned: &[Unplanned]) -> Result<Beside, PassError> {
        if unplanned.is_empty() {
            return Ok(Beside::default());
        }
        let Some(lead) = self.led.lead(unplanned.iter().map(|one| one.job)) else { return Ok(Beside::default()) };
        let launched = self.shared.store.launch_unplanned(&lead, unplanned).await?;
        Ok(Beside {
            made: made(&launched),
            missed: unplanned.iter().any(|one| !one.incidents.is_empty()),
            ..Beside::default()
        })
    }
}

/// What a pass did beside the clock.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    did: usize,
    made: u32,
    missed: bool,
    again: bool,
    next: Option<Timestamp>,
}

fn made(launched: &[Launched]) -> u32 {
    launched
        .iter()
        .map(|launched| match launched {
            Launched::Written { made } => *made,
            Launched::Stale => 0,
        })
        .sum()
}

/// The planned times that a backfill has still to make, as many as one pass can use.
fn times_to_make(backfill: &Backfill, spec: &JobSpec, almanac: &Almanac) -> Vec<Occurrence> {
    match spec.backfill_timing(backfill.job, backfill.from).compile(almanac) {
        Ok(timing) => timing.due_between(backfill.through, backfill.to.plus_millis(-1), BACKFILLED_AT_ONCE),
        Err(error) => {
            // It was looked at when it was asked for; only other zone data can have done this.
            tracing::error!(backfill = %backfill.id, %error, "its times cannot be told any more");
            Vec::new()
        }
    }
}

/// The planned times of a job in [from, to), a stretch of the past; refused where there are none, or too many.
pub fn backfill_times(
    job: &Job,
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
    almanac: &Almanac,
) -> Result<Vec<Occurrence>, Fault> {
    let refused =
        |en: String, zh: String| Code::BackfillRefused.fault().with_words("reason", &Words::new(en, zh)).at("from");
    if to <= from {
        return Err(refused("it ends before it begins".to_owned(), "结束早于开始".to_owned()));
    }
    if to > now {
        return Err(refused("it reaches into the future".to_owned(), "结束时间在将来".to_owned()).at("to"));
    }
    let timing = job.spec.backfill_timing(job.id, from).compile(almanac).map_err(|error| {
        let words = error.words();
        refused(words.en, words.zh)
    })?;
    let times = match timing.plan().waits_for_the_last_run() {
        true => Vec::new(),
        false => timing.due_between(from.plus_millis(-1), to.plus_millis(-1), MOST_BACKFILLED + 1),
    };
    if times.is_empty() {
        return Err(refused("the job has no planned time in it".to_owned(), "该时间段内没有计划时间".to_owned()));
    }
    if times.len() > MOST_BACKFILLED {
        return Err(refused(
            format!("it has more than {MOST_BACKFILLED} planned times"),
            format!("计划时间超过 {MOST_BACKFILLED} 个"),
        ));
    }
    Ok(times)
}

/// The newest version and those before it, down to one that held at `at`.
async fn versions_held(
    store: &(impl JobStore + ?Sized),
    newest: JobVersion,
    at: Timestamp,
) -> Result<Vec<JobVersion>, StoreError> {
    let mut versions = vec![newest];
    while let Some(oldest) = versions.last()
        && holds_from(oldest) > at
        && oldest.version > 1
        && let Some(earlier) = store.job_version(oldest.job, oldest.version - 1).await?
    {
        versions.push(earlier);
    }
    Ok(versions)
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
        let of = self.take_share();
        if of.is_empty() {
            return Ok(Pass::default());
        }
        // Nobody knows what is due while nobody knows what time it is.
        if self.shared.clock.uncertainty() > MOST_UNCERTAIN {
            tracing::warn!("nothing is launched before it is known what time it is");
            return Ok(Pass { next: Some(now.plus_millis(200)), ..Pass::default() });
        }
        let outcome = self.launch_due(of, now).await;
        self.share.settle(outcome)
    }
}

impl Launcher {
    async fn launch_due(&mut self, of: Partitions, now: Timestamp) -> Result<Pass, PassError> {
        let almanac = self.take_almanac().await?;
        let blackouts = read_blackouts(self.shared.store.as_ref()).await?;
        let mut did = self.plan_fixed_delays(&almanac).await?;
        let mut due = self.shared.store.due_jobs(of, now, BATCH).await?;
        let full = due.len() == BATCH;
        for job in self.replanned(&almanac).await? {
            if !due.iter().any(|other| other.id == job.id) {
                due.push(job);
            }
        }
        let ids: Vec<JobId> = due.iter().map(|job| job.id).collect();
        let mut lines = self.lines(&ids).await?;

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
            let behind = behind(self.shared.store.as_ref(), job, &timeline).await?;
            let zone_data = timeline.data_version(&almanac);
            let facts = Facts {
                job,
                timeline: &timeline,
                now,
                zone_data: &zone_data,
                behind,
                line: lines.remove(&job.id).unwrap_or_default(),
                windows: &JobWindows::of(&job.spec, &blackouts, &almanac),
            };
            let dice = &self.shared.dice;
            let new = NewIds { instance: || dice.instance_id(now), question: || dice.question_id(now) };
            launches.push(decide(&facts, new));
        }
        let mut made_any = false;
        let mut missed_any = false;
        if let Some(lead) = self.led.lead(launches.iter().map(|launch| launch.job)).filter(|_| !launches.is_empty()) {
            let launched = self.shared.store.launch(&lead, &launches).await?;
            did += launches.len();
            made_any = made(&launched) > 0;
            missed_any = launches.iter().any(|launch| !launch.incidents.is_empty());
        }
        // After the clock's: an end that was written meanwhile finds what it brought about in its line.
        let followed = self.follow_ends(now, &almanac, &blackouts).await?;
        let backfilled = self.go_on_with_backfills(now, &almanac, &blackouts).await?;
        did += followed.did + backfilled.did;
        if made_any || followed.made + backfilled.made > 0 {
            self.shared.coord.ring(Bell::Assigner);
            self.shared.events.say(Topic::Instances, now);
        }
        if missed_any || followed.missed {
            self.shared.coord.ring(Bell::Alerter);
        }
        if did > 0 {
            self.shared.events.say(Topic::Jobs, now);
        }
        // What `now` cut short (a thousand times of one job) is due still.
        let next = self.shared.store.earliest_due(of).await?;
        let again = matches!(self.replanning, Replanning::After(_)) || followed.again;
        let again = again || (full || next.is_some_and(|next| next <= now)) && !launches.is_empty();
        let next = next.into_iter().chain(backfilled.next).min();
        Ok(Pass { did, again, next: next.map(|next| next.max(now.plus_millis(1))) })
    }
}
