//! Makes alarms of what went wrong.
//!
//! Officers write incidents with the steps that saw them; the alerter reads each once, and writes
//! alarms and the place it has read to together. It notifies nobody: channels do, and the console
//! sees alarms like anything else.

pub mod rules;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::{Bell, Reach};
use campanile_model::alarm::{Alarm, AlarmRule, AlarmState, Sighting};
use campanile_model::task::{Incident, IncidentKind};
use campanile_model::{JobId, Lane, Timestamp};
use campanile_store::{Lead, Taken};

use crate::effect::calendar_of;
use crate::events::Topic;
use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;
use crate::shelf::almanac_changes;

/// Incidents read at once.
const BATCH: usize = 500;

/// Between two looks at the lanes.
const LANES_EVERY: Duration = Duration::from_secs(30);

/// Between two looks at the calendars, whose data ends with a year.
const CALENDARS_EVERY: Duration = Duration::from_secs(3600);

const JOBS_AT_ONCE: usize = 200;

/// A task that has been in Immediate for so long since it came there is starved.
const STARVED_AFTER: Duration = Duration::from_secs(30);

/// So long the meeting place may be silent: whoever finds it again soon has missed nothing.
const SILENT_FOR: Duration = Duration::from_secs(3);

/// A job that has been removed has no name any more.
const REMOVED: &str = "(removed)";

pub struct Alerter {
    shared: Arc<Shared>,
    lead: Lead,
    lanes_at: Option<Timestamp>,
    /// When, and how often the almanac had been changed by then.
    calendars_at: Option<(Timestamp, u64)>,
    /// Since when the meeting place has been silent.
    silent_since: Option<Timestamp>,
    /// Whether there is an alarm of it, as far as this term knows.
    silence_told: Option<bool>,
}

/// Alarms on their way to being written, by what makes two sightings one alarm.
#[derive(Default)]
struct Desk(HashMap<(AlarmRule, String), Alarm>);

impl Alerter {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Alerter {
        Alerter { shared, lead, lanes_at: None, calendars_at: None, silent_since: None, silence_told: None }
    }

    /// The incidents since the last pass, as alarms.
    async fn read_incidents(&mut self, now: Timestamp) -> Result<usize, PassError> {
        let incidents = self.shared.store.new_incidents(BATCH).await?;
        let Some(mark) = incidents.last().map(|incident| incident.seq) else { return Ok(0) };
        let read = incidents.len();
        let incidents = self.worth_a_look(incidents).await?;
        let mut ids: Vec<JobId> = incidents.iter().map(|incident| incident.job).collect();
        ids.sort_unstable();
        ids.dedup();
        let names: HashMap<JobId, String> =
            self.shared.store.jobs(&ids).await?.into_iter().map(|job| (job.id, job.spec.name)).collect();
        let name = |job: &JobId| names.get(job).map_or(REMOVED, String::as_str);

        let mut wanted: Vec<(AlarmRule, String)> = Vec::new();
        for incident in &incidents {
            let subject = rules::subject(name(&incident.job));
            match incident.kind {
                IncidentKind::InstanceSucceeded => {
                    wanted.extend(rules::ENDED_BY_SUCCESS.map(|rule| (rule, subject.clone())));
                }
                _ => wanted.extend(
                    rules::sighting(incident, name(&incident.job)).map(|sighting| (sighting.rule, sighting.subject)),
                ),
            }
        }
        let mut desk = self.latest(wanted).await?;
        let mut changed = Vec::new();
        for incident in &incidents {
            match rules::sighting(incident, name(&incident.job)) {
                Some(sighting) => changed.push(self.sight(&mut desk, sighting, now)),
                None => {
                    let subject = rules::subject(name(&incident.job));
                    for rule in rules::ENDED_BY_SUCCESS {
                        changed.extend(desk.end((rule, subject.clone()), incident.at));
                    }
                }
            }
        }
        self.write(&desk, changed, Some(mark), now).await?;
        Ok(read)
    }

    /// Without the successes of jobs that have no alarm and get none here: most runs go well, and end nothing.
    async fn worth_a_look(&self, mut incidents: Vec<Incident>) -> Result<Vec<Incident>, PassError> {
        let is_success = |incident: &Incident| incident.kind == IncidentKind::InstanceSucceeded;
        if incidents.iter().any(is_success) {
            let open = self.shared.store.open_alarms().await?;
            let failing = incidents.iter().filter(|incident| !is_success(incident)).map(|incident| incident.job);
            let troubled: HashSet<JobId> = open.iter().filter_map(|alarm| alarm.job).chain(failing).collect();
            incidents.retain(|incident| troubled.contains(&incident.job));
        }
        Ok(incidents)
    }

    async fn look_at_lanes(&mut self, now: Timestamp) -> Result<(), PassError> {
        let depths = self.shared.store.lane_depths(now - STARVED_AFTER).await?;
        let promoted = (AlarmRule::Promoted, rules::LANES.to_owned());
        let starved = (AlarmRule::Starved, rules::lane_subject(Lane::Immediate));
        let mut wanted = Lane::ALL.map(|lane| (AlarmRule::LaneDepth, rules::lane_subject(lane))).to_vec();
        wanted.extend([promoted.clone(), starved.clone()]);
        let mut desk = self.latest(wanted).await?;
        let mut changed = Vec::new();
        // What somebody holds waits for that person, and not for its turn.
        let held = self.shared.hold().await?.is_some();
        for (key, seen) in
            [(promoted, rules::promoted_sighting(&depths, now)), (starved, rules::starved_sighting(&depths, now))]
        {
            match seen.filter(|_| !held) {
                Some(sighting) => changed.push(self.sight(&mut desk, sighting, now)),
                None => changed.extend(desk.end(key, now)),
            }
        }
        for depth in &depths {
            match rules::lane_sighting(depth, now) {
                Some(sighting) => changed.push(self.sight(&mut desk, sighting, now)),
                None => changed.extend(desk.end((AlarmRule::LaneDepth, rules::lane_subject(depth.lane)), now)),
            }
        }
        self.write(&desk, changed, None, now).await.map(drop)
    }

    /// Calendars that jobs depend on and whose data ends soon.
    async fn look_at_calendars(&mut self, now: Timestamp) -> Result<(), PassError> {
        let store = self.shared.store.as_ref();
        let almanac = self.shared.shelf.renew(store).await?;
        let mut used = BTreeSet::new();
        let mut last = None;
        loop {
            let jobs = store.jobs_after(last, JOBS_AT_ONCE).await?;
            used.extend(jobs.iter().filter_map(|job| calendar_of(job, &almanac)));
            match jobs.last() {
                Some(job) if jobs.len() == JOBS_AT_ONCE => last = Some(job.id),
                _ => break,
            }
        }
        let wanted = almanac.calendar_names().map(|name| (AlarmRule::CalendarEnds, rules::calendar_subject(name)));
        let mut desk = self.latest(wanted.collect()).await?;
        let mut changed = Vec::new();
        for (document, days) in almanac.calendars() {
            let sighting = used.contains(&document.name).then(|| rules::calendar_sighting(days, now)).flatten();
            match sighting {
                Some(sighting) => changed.push(self.sight(&mut desk, sighting, now)),
                None => {
                    let subject = rules::calendar_subject(&document.name);
                    changed.extend(desk.end((AlarmRule::CalendarEnds, subject), now));
                }
            }
        }
        self.write(&desk, changed, None, now).await.map(drop)
    }

    /// Whether nodes still reach each other.
    async fn look_at_meeting_place(&mut self, now: Timestamp) -> Result<(), PassError> {
        let silent = self.shared.coord.reach() == Reach::Away;
        self.silent_since = silent.then(|| self.silent_since.map_or(now, |since| since.min(now)));
        let tells = self.silent_since.is_some_and(|since| now.since(since) >= SILENT_FOR);
        if self.silence_told == Some(tells) {
            return Ok(());
        }
        let key = (AlarmRule::Coordination, rules::MEETING_PLACE.to_owned());
        let mut desk = self.latest(vec![key.clone()]).await?;
        let changed = match tells {
            true => vec![self.sight(&mut desk, rules::silence_sighting(now), now)],
            false => desk.end(key, now).into_iter().collect(),
        };
        if self.write(&desk, changed, None, now).await? == Taken::Done {
            self.silence_told = Some(tells);
        }
        Ok(())
    }

    async fn latest(&self, mut wanted: Vec<(AlarmRule, String)>) -> Result<Desk, PassError> {
        wanted.sort_by(|a, b| (a.0.name(), &a.1).cmp(&(b.0.name(), &b.1)));
        wanted.dedup();
        let alarms = self.shared.store.latest_alarms(&wanted).await?;
        Ok(Desk(alarms.into_iter().map(|alarm| ((alarm.rule, alarm.subject.clone()), alarm)).collect()))
    }

    fn sight(&self, desk: &mut Desk, sighting: Sighting, now: Timestamp) -> (AlarmRule, String) {
        let key = (sighting.rule, sighting.subject.clone());
        let latest = desk.0.remove(&key);
        let alarm = Alarm::sighted(latest, sighting, self.shared.dice.alarm_id(now));
        desk.0.insert(key.clone(), rules::judged(alarm));
        key
    }

    async fn write(
        &self,
        desk: &Desk,
        mut changed: Vec<(AlarmRule, String)>,
        mark: Option<i64>,
        now: Timestamp,
    ) -> Result<Taken, PassError> {
        changed.sort_by(|a, b| (a.0.name(), &a.1).cmp(&(b.0.name(), &b.1)));
        changed.dedup();
        let alarms: Vec<Alarm> = changed.iter().filter_map(|key| desk.0.get(key)).cloned().collect();
        if alarms.is_empty() && mark.is_none() {
            return Ok(Taken::Done);
        }
        let taken = self.shared.store.put_alarms(&self.lead, &alarms, mark).await?;
        // Lost against someone who acknowledged meanwhile: the next pass reads again, from the same mark.
        if taken == Taken::Lost {
            self.shared.coord.ring(Bell::Alerter);
        } else if !alarms.is_empty() {
            self.shared.events.say(Topic::Alarms, now);
        }
        Ok(taken)
    }
}

impl Desk {
    /// Resolves it where it is open.
    fn end(&mut self, key: (AlarmRule, String), at: Timestamp) -> Option<(AlarmRule, String)> {
        let alarm = self.0.remove(&key)?;
        let open = alarm.state != AlarmState::Resolved;
        self.0.insert(key.clone(), if open { alarm.resolve(at) } else { alarm });
        open.then_some(key)
    }
}

#[async_trait]
impl Officer for Alerter {
    fn name(&self) -> &'static str {
        "alerter"
    }

    fn bell(&self) -> Bell {
        Bell::Alerter
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let did = self.read_incidents(now).await?;
        // A clock that was set back must not keep the lanes from being looked at.
        let looked = self.lanes_at.is_some_and(|at| at <= now && now.since(at) < LANES_EVERY);
        if !looked {
            self.look_at_lanes(now).await?;
            self.lanes_at = Some(now);
        }
        self.look_at_meeting_place(now).await?;
        let changes = almanac_changes(self.shared.store.as_ref()).await?;
        let looked =
            self.calendars_at.is_some_and(|(at, seen)| seen == changes && at <= now && now.since(at) < CALENDARS_EVERY);
        if !looked {
            self.look_at_calendars(now).await?;
            self.calendars_at = Some((now, changes));
        }
        Ok(Pass { did, again: did == BATCH, next: None })
    }
}
