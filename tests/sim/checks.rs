//! What must be true of a world, told from what lies in the store and what executors wrote down.
//!
//! Nothing here asks the engine: planned times come from [`planned`](crate::planned), the life of a
//! task is the contract's table written down once more.

use std::collections::{BTreeMap, BTreeSet};

use campanile_engine::link::{AttemptRef, Said};
use campanile_model::calendar::Calendar;
use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin, settled};
use campanile_model::job::{JobSpec, JobVersion};
use campanile_model::request::Ask;
use campanile_model::schedule::{Exception, OnNonWorkday, Schedule};
use campanile_model::task::TaskState;
use campanile_model::{InstanceId, JobId, Timestamp};
use campanile_store::HistoryEntry;

use crate::executor::{Deed, Entry};
use crate::link::brief_attempt;
use crate::memory_store::Stored;
use crate::planned::planned;
use crate::world::{TEAM, almanac};
use crate::{sharded, staged, unplanned};

/// Which promise was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// A firing was lost, doubled, or not made without a reason.
    Ledger,
    /// An attempt was begun twice.
    OnceAtMost,
    /// What was acknowledged is not what is written.
    Acknowledged,
    /// A task went where the table does not let it.
    Table,
    /// An overtaken leader wrote.
    Lease,
    /// More went at once than a limit allows.
    Bounds,
    /// An item was lost, counted twice or given out again; or progress went back.
    Items,
    /// Something does not end.
    NothingStuck,
    /// The world is busy for ever at one instant.
    TimePasses,
}

#[derive(Clone, Debug)]
pub struct Violation {
    pub of: Promise,
    pub what: String,
}

pub fn broken(of: Promise, what: impl Into<String>) -> Violation {
    Violation { of, what: what.into() }
}

/// What holds at every moment.
pub fn always(stored: &Stored, diary: &[Entry]) -> Vec<Violation> {
    let mut found = Vec::new();
    ledger(stored, &mut found);
    once_at_most(diary, &mut found);
    acknowledged(stored, diary, &mut found);
    table(stored, &mut found);
    leases(stored, &mut found);
    found.extend(stored.overfull.iter().map(|what| broken(Promise::Bounds, what.as_str())));
    unplanned::check(stored, &mut found);
    sharded::check(stored, diary, &mut found);
    staged::check(stored, &mut found);
    found
}

/// What holds once nothing more is started and everyone had the time to finish.
pub fn at_rest(stored: &Stored, diary: &[Entry]) -> Vec<Violation> {
    let mut found = always(stored, diary);
    found.extend(unfinished(stored).into_iter().map(|what| broken(Promise::NothingStuck, what)));
    found.extend(unplanned::undecided(stored).into_iter().map(|what| broken(Promise::NothingStuck, what)));
    agreement(stored, diary, &mut found);
    sharded::ended(stored, diary, &mut found);
    found
}

// ---------------------------------------------------------------- the ledger

fn ledger(stored: &Stored, found: &mut Vec<Violation>) {
    let mut firings = BTreeSet::new();
    for instance in stored.instances_in_order() {
        if !firings.insert((instance.job, instance.origin.name(), instance.key.clone())) {
            let what = format!("{} of {} was made twice", instance.key, name_of(stored, instance.job));
            found.push(broken(Promise::Ledger, what));
        }
    }
    for (id, row) in &stored.jobs {
        let versions: Vec<&JobVersion> = stored.versions.range((*id, 0)..=(*id, u32::MAX)).map(|(_, v)| v).collect();
        let mut job = JobLedger { stored, job: *id, versions, complaints: 0, found };
        job.check_spans(row.job.fired_through);
        job.check_firings();
    }
}

/// A planned time, whether a person added it, and the version that plans it. (Two versions can plan one time where a
/// clock was set back between them; the firing is one and the same.)
type Occurrence = (Timestamp, bool, u32);

/// What was to become of an occurrence.
struct Fate {
    due: Timestamp,
    skipped: bool,
    rests: Rests,
}

/// Whether nobody works on the day of an occurrence, and the job leaves it out then.
#[derive(Clone, Copy, PartialEq)]
pub enum Rests {
    No,
    Yes,
    /// It hangs on whether the calendar was edited before its time came.
    Perhaps,
}

impl Rests {
    pub fn of(spec: &JobSpec, time: Timestamp) -> Rests {
        const DAY_MS: i64 = 86_400_000;
        // The first day of all was a Thursday; these worlds keep to UTC.
        let weekday = (time.millis().div_euclid(DAY_MS) + 3).rem_euclid(7);
        match (spec.on_non_workday, weekday < 5, spec.calendar.as_deref()) {
            (OnNonWorkday::Run, ..) | (_, true, _) => Rests::No,
            (_, _, Some(TEAM)) => Rests::Perhaps,
            (_, _, None) => Rests::Yes,
            (_, _, Some(other)) => panic!("there is no calendar {other} in these worlds"),
        }
    }
}

/// The job's ledger, for whoever reads a complaint.
pub fn ledger_of(stored: &Stored, job: JobId) -> String {
    let versions = stored.versions.range((job, 0)..=(job, u32::MAX)).map(|(_, version)| version).collect();
    JobLedger { stored, job, versions, complaints: 0, found: &mut Vec::new() }.pages()
}

struct JobLedger<'a> {
    stored: &'a Stored,
    job: JobId,
    versions: Vec<&'a JobVersion>,
    complaints: usize,
    found: &'a mut Vec<Violation>,
}

impl JobLedger<'_> {
    fn complain(&mut self, what: impl std::fmt::Display) {
        let mut what = format!("{}: {what}", name_of(self.stored, self.job));
        if self.complaints == 0 {
            what.push_str(&self.pages());
        }
        self.complaints += 1;
        self.found.push(broken(Promise::Ledger, what));
    }

    fn pages(&self) -> String {
        let mut pages = format!("\n      purged through {:?}", self.purged_through());
        for version in &self.versions {
            let spec = &version.spec;
            pages.push_str(&format!(
                "\n      version {} saved at {}: {:?} {:?} spread {} {:?} {:?}",
                version.version,
                version.saved_at,
                spec.schedule,
                spec.exceptions,
                spec.spread_seconds,
                spec.misfire,
                spec.overlap,
            ));
        }
        for span in self.stored.spans.get(&self.job).into_iter().flatten() {
            pages.push_str(&format!(
                "\n      span of version {}: {} to {}: {} = {} + {}",
                span.version, span.from, span.to, span.planned, span.made, span.not_made
            ));
        }
        for omission in self.stored.omissions.get(&self.job).into_iter().flatten() {
            pages.push_str(&format!(
                "\n      version {} omitted {} to {}: {} {}",
                omission.version,
                omission.from,
                omission.to,
                omission.count,
                omission.reason.name()
            ));
        }
        for instance in self.stored.instances_in_order().into_iter().filter(|instance| instance.job == self.job) {
            pages.push_str(&format!(
                "\n      version {} made {} {} due {} at {}",
                instance.version,
                instance.origin.name(),
                instance.planned,
                instance.due,
                instance.created
            ));
        }
        pages
    }

    /// Spans touch, from before the job was saved up to where it has fired through.
    fn check_spans(&mut self, fired_through: Timestamp) {
        let spans = self.stored.spans.get(&self.job).cloned().unwrap_or_default();
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return };
        let saved_at = self.versions.first().map_or(Timestamp::EPOCH, |version| version.saved_at);
        let purged_through = self.purged_through();
        // A version saved after the purge, by a clock that was set back, begins with an empty one at the mark.
        let is_empty = first.from == first.to;
        if purged_through.is_some_and(|mark| first.to < mark || (first.to == mark && !is_empty)) {
            self.complain(format!("the first span ends at {}, before the purge mark", first.to));
        }
        if first.from > saved_at.max(purged_through.unwrap_or(saved_at)) {
            self.complain(format!("the first span begins at {}, after it was saved at {saved_at}", first.from));
        }
        for pair in spans.windows(2) {
            if pair[0].to != pair[1].from {
                self.complain(format!(
                    "spans do not touch: one ends at {}, the next begins at {}",
                    pair[0].to, pair[1].from
                ));
            }
        }
        if last.to != fired_through {
            self.complain(format!("fired through {fired_through}, but the last span ends at {}", last.to));
        }
    }

    fn purged_through(&self) -> Option<Timestamp> {
        self.stored.jobs.get(&self.job).and_then(|row| row.purged_through)
    }

    fn is_purged(&self, planned: Timestamp) -> bool {
        self.stored.gone_firings.contains(&(self.job, planned.millis().to_string()))
    }

    /// Every planned time up to the end of the last span was made or has a reason, once.
    fn check_firings(&mut self) {
        let made: Vec<&Instance> = self
            .stored
            .instances_in_order()
            .into_iter()
            .filter(|instance| instance.job == self.job)
            .filter(|instance| matches!(instance.origin, Origin::Schedule | Origin::Added))
            .filter(|instance| self.purged_through().is_none_or(|mark| instance.due > mark))
            .collect();
        let mut omissions = self.stored.omissions.get(&self.job).cloned().unwrap_or_default();
        // Those of a version that runs after others are held against the ends of those.
        let follows = |version: &u32| {
            let version = self.versions.iter().find(|one| one.version == *version);
            version.is_some_and(|version| matches!(version.spec.schedule, Schedule::After(_)))
        };
        omissions.retain(|omission| !follows(&omission.version));
        let Some(expected) = self.expected() else {
            self.check_delays(&made);
            return;
        };
        let times_made = |(time, added, version): &Occurrence| {
            let made = made.iter().filter(|one| one.planned == *time && (one.origin == Origin::Added) == *added);
            let by_version: Vec<bool> = made.map(|one| one.version == *version).collect();
            let own = by_version.iter().filter(|own| **own).count();
            (own, by_version.len() - own)
        };
        for (occurrence, fate) in &expected {
            let (time, added, version) = occurrence;
            let times_omitted = omissions
                .iter()
                .filter(|omission| omission.from <= *time && *time <= omission.to)
                .filter(|omission| match omission.reason {
                    // These are told under the version that was in force when their time came.
                    OmissionReason::Exception => fate.skipped,
                    OmissionReason::NonWorkday => !fate.skipped && fate.rests != Rests::No,
                    _ => !fate.skipped && fate.rests != Rests::Yes && omission.version == *version,
                })
                .count();
            match (times_made(occurrence), times_omitted) {
                ((0, _), 1) => {}
                ((1, _), 0) if !fate.skipped && fate.rests != Rests::Yes => {}
                // Another version has fired it.
                ((0, 1), 0) => {}
                // An added run does not break a run of omissions around it, and one of the plan at the same moment none
                // in which the added one was left out.
                ((1, _), _) if *added || expected.contains_key(&(*time, true, *version)) => {}
                // Another version fired it while this one was being saved, and that run has been purged.
                ((0, 0), 0) if !*added && self.is_purged(*time) => {}
                ((0, 0), 0) => self.complain(format!("{time} (version {version}) was lost without a reason")),
                ((made, _), omitted) => self.complain(format!(
                    "{time} (version {version}, skipped: {}) was made {made} times and omitted {omitted} times",
                    fate.skipped
                )),
            }
        }
        for instance in &made {
            let (planned, version) = (instance.planned, instance.version);
            match expected.get(&(planned, instance.origin == Origin::Added, version)) {
                None => self.complain(format!("{planned} was made by version {version}, which did not plan it")),
                Some(fate) if fate.due != instance.due => {
                    self.complain(format!("{planned} was due at {}", instance.due));
                }
                Some(_) => {}
            }
        }
        for omission in omissions {
            let covered = expected
                .range((omission.from, false, 0)..=(omission.to, true, u32::MAX))
                .filter(|(name, fate)| match omission.reason {
                    OmissionReason::Exception => fate.skipped,
                    OmissionReason::NonWorkday => !fate.skipped && fate.rests != Rests::No && times_made(name).0 == 0,
                    _ => {
                        let may_run = !fate.skipped && fate.rests != Rests::Yes;
                        may_run && name.2 == omission.version && times_made(name).0 == 0
                    }
                })
                .count();
            let cut = self.purged_through().is_some_and(|mark| omission.from <= mark);
            if covered != omission.count as usize && !cut {
                self.complain(format!("{omission:?} covers {covered} planned times"));
            }
        }
    }

    /// What was due in the decided spans, and what was to become of it. None: a version's times depend on its runs.
    fn expected(&self) -> Option<BTreeMap<Occurrence, Fate>> {
        let mut expected = BTreeMap::new();
        let spans = self.stored.spans.get(&self.job).cloned().unwrap_or_default();
        for span in spans {
            let known: Vec<&&JobVersion> =
                self.versions.iter().filter(|version| version.version <= span.version).collect();
            for (index, version) in known.iter().enumerate() {
                let overtaken_at = known[index + 1..].iter().map(|later| later.saved_at).min();
                let holds_until = overtaken_at.unwrap_or(Timestamp::MAX).plus_millis(-1);
                let later_by = self.place_in_spread(version);
                let from = self.purged_through().map_or(span.from, |mark| mark.max(span.from)).plus_seconds(-later_by);
                let to = span.to.plus_seconds(-later_by).min(holds_until);
                let spec = &version.spec;
                let fate = |time: Timestamp, skipped, rests| Fate { due: time.plus_seconds(later_by), skipped, rests };
                let by = version.version;
                for time in planned(&spec.schedule, version.saved_at, from, to)? {
                    let skipped = spec.exceptions.contains(&Exception::Skip { planned: time });
                    expected.insert((time, false, by), fate(time, skipped, Rests::of(spec, time)));
                }
                for exception in &spec.exceptions {
                    if let Exception::Added { at } = *exception
                        && from < at
                        && at <= to
                    {
                        expected.insert((at, true, by), fate(at, false, Rests::No));
                    }
                }
            }
        }
        Some(expected)
    }

    /// Any place in the window will do, as long as it is one and the same.
    fn place_in_spread(&self, version: &JobVersion) -> i64 {
        let within = version.spec.spread_seconds;
        if within == 0 {
            return 0;
        }
        let made = self.stored.instances.values().map(|placed| &placed.row).find(|instance| {
            instance.job == self.job && instance.version == version.version && instance.origin == Origin::Schedule
        });
        let compiled =
            version.spec.timing(self.job, version.saved_at).compile(&almanac().with_calendar(Calendar::new(TEAM)));
        let place = match (made, compiled) {
            (Some(made), _) => made.due.since(made.planned).as_secs(),
            (None, Ok(compiled)) => u64::from(compiled.place_in_spread_seconds()),
            (None, Err(error)) => panic!("it was saved, and now: {error}"),
        };
        assert!(place <= u64::from(within), "{place} s is not within {within} s");
        i64::try_from(place).unwrap_or(0)
    }

    /// Runs of a fixed delay come one after the other, never nearer than the delay.
    fn check_delays(&mut self, made: &[&Instance]) {
        let asked_again: BTreeSet<InstanceId> = self
            .stored
            .requests
            .values()
            .filter_map(|request| match request.row.ask {
                Ask::RetryInstance { instance, .. } => Some(instance),
                _ => None,
            })
            .collect();
        for pair in made.windows(2) {
            let delay = self.versions.iter().find(|version| version.version == pair[1].version).and_then(|version| {
                match &version.spec.schedule {
                    Schedule::FixedDelay(delay) => Some(i64::from(delay.every_seconds)),
                    _ => None,
                }
            });
            let Some(delay) = delay.filter(|_| pair[0].version == pair[1].version) else { continue };
            if asked_again.contains(&pair[0].id) {
                continue;
            }
            match pair[0].finished_at {
                None => self.complain(format!("{} was planned before the run before it ended", pair[1].planned)),
                Some(ended) if pair[1].planned < ended.plus_seconds(delay) => {
                    self.complain(format!("{} is less than {delay} s after {ended}", pair[1].planned));
                }
                Some(_) => {}
            }
        }
    }
}

pub fn name_of(stored: &Stored, job: JobId) -> String {
    stored.jobs.get(&job).map_or_else(|| job.to_string(), |row| row.job.spec.name.clone())
}

// ------------------------------------------------------- attempts and their ends

fn once_at_most(diary: &[Entry], found: &mut Vec<Violation>) {
    let mut begun: BTreeMap<AttemptRef, &Entry> = BTreeMap::new();
    for entry in diary.iter().filter(|entry| entry.deed == Deed::Began) {
        if let Some(first) = begun.insert(entry.attempt, entry) {
            let what = format!(
                "{} was begun by {} at {} and by {} at {}",
                brief_attempt(entry.attempt),
                first.executor.boot,
                first.at,
                entry.executor.boot,
                entry.at
            );
            found.push(broken(Promise::OnceAtMost, what));
        }
    }
}

/// Something that was said and changed nothing.
fn is_remark(entry: &HistoryEntry) -> bool {
    entry.from == entry.to
}

fn moves_of(stored: &Stored, attempt: AttemptRef) -> impl Iterator<Item = &HistoryEntry> {
    let history = stored.history.get(&attempt.task).map_or(&[][..], Vec::as_slice);
    history.iter().filter(move |entry| entry.attempt == attempt.attempt && !is_remark(entry))
}

/// What was acknowledged as an end is written as that end.
fn acknowledged(stored: &Stored, diary: &[Entry], found: &mut Vec<Violation>) {
    for entry in diary {
        let Deed::EndAcknowledged(said) = &entry.deed else { continue };
        let may_be: &[TaskState] = match said {
            Said::Succeeded { .. } => &[TaskState::Succeeded],
            // Where a stop was asked, its cause names the end.
            Said::Failed(_) => &[TaskState::Failed, TaskState::Cancelled],
            _ => &[TaskState::Cancelled, TaskState::Failed, TaskState::PushTimeout],
        };
        let written = moves_of(stored, entry.attempt).any(|entry| may_be.contains(&entry.to));
        if !written && !stored.gone.contains(&entry.attempt.task) {
            let what = format!("{} was acknowledged as {said:?} and is not written", brief_attempt(entry.attempt));
            found.push(broken(Promise::Acknowledged, what));
        }
    }
}

/// What is written as an end of work is what its executor did.
fn agreement(stored: &Stored, diary: &[Entry], found: &mut Vec<Violation>) {
    let mut ends: BTreeMap<AttemptRef, &Said> = BTreeMap::new();
    for entry in diary {
        if let Deed::Ended(said) = &entry.deed {
            ends.insert(entry.attempt, said);
        }
    }
    for (task, history) in &stored.history {
        for entry in history.iter().filter(|entry| !is_remark(entry)) {
            let attempt = AttemptRef { task: *task, attempt: entry.attempt };
            let agrees = match entry.to {
                TaskState::Succeeded => matches!(ends.get(&attempt), Some(Said::Succeeded { .. })),
                TaskState::Failed => matches!(ends.get(&attempt), Some(Said::Failed(_) | Said::Cancelled)),
                _ => true,
            };
            if !agrees {
                let what = format!(
                    "{} is written as {}, and its executor says {:?}",
                    brief_attempt(attempt),
                    entry.to,
                    ends.get(&attempt)
                );
                found.push(broken(Promise::Acknowledged, what));
            }
        }
    }
}

// ------------------------------------------------------------ the table of states

fn may_go(from: TaskState, to: TaskState) -> bool {
    let to_codes: &[u16] = match from.code() {
        100 => &[101, 303, 304],
        101 => &[201, 401, 303, 304],
        201 => &[202, 301, 302, 101, 402, 403, 303],
        202 => &[301, 302, 203, 403, 303],
        203 => &[301, 302, 403, 303],
        302 | 303 | 401 | 402 | 403 => &[100],
        _ => &[],
    };
    to_codes.contains(&to.code())
}

fn table(stored: &Stored, found: &mut Vec<Violation>) {
    for (id, task) in &stored.tasks {
        let mut stands = (TaskState::Waiting, 1);
        let history = stored.history.get(id).map_or(&[][..], Vec::as_slice);
        for entry in history.iter().filter(|entry| !is_remark(entry)) {
            if (entry.from, entry.attempt) != stands {
                let what = format!("{id} stood at {stands:?} and its history goes on with {entry:?}");
                found.push(broken(Promise::Table, what));
            }
            if !may_go(entry.from, entry.to) {
                found.push(broken(Promise::Table, format!("{id} went from {} to {}", entry.from, entry.to)));
            }
            let goes_back = entry.to == TaskState::Waiting;
            stands = (entry.to, entry.attempt + u32::from(goes_back));
        }
        if (task.row.state(), task.row.attempt()) != stands {
            let what = format!(
                "{id} is {} in attempt {}, its history ends at {stands:?}",
                task.row.state(),
                task.row.attempt()
            );
            found.push(broken(Promise::Table, what));
        }
    }
}

// ---------------------------------------------------------------------- leading

fn leases(stored: &Stored, found: &mut Vec<Violation>) {
    for write in &stored.writes {
        if write.in_force != Some(write.lead.term) {
            let what = format!(
                "{} wrote {} under term {} of '{}' while {:?} was in force",
                write.lead.holder, write.op, write.lead.term, write.lead.lease, write.in_force
            );
            found.push(broken(Promise::Lease, what));
        }
    }
}

// ----------------------------------------------------------------- nothing stuck

/// Everything that has not come to its end, in words.
pub fn unfinished(stored: &Stored) -> Vec<String> {
    let mut found = Vec::new();
    for instance in stored.instances_in_order() {
        let tasks = stored.tasks_of.get(&instance.id).into_iter().flatten().filter_map(|task| stored.tasks.get(task));
        let tasks: Vec<_> = tasks.map(|task| &task.row).collect();
        let states: Vec<TaskState> = tasks.iter().map(|task| task.state()).collect();
        let least = stored.versions.get(&(instance.job, instance.version)).and_then(|version| version.spec.min_success);
        let is_sharded = stored.sharded.contains_key(&instance.id);
        let ends = |states: &[TaskState]| match tasks.iter().any(|task| task.limits.of_several) {
            // How such a run ends is looked at by itself.
            _ if is_sharded => true,
            true => settled(states, least) == instance.state,
            false => ends_as(instance.state, states),
        };
        let name = name_of(stored, instance.job);
        if !instance.state.is_final() {
            found.push(format!(
                "an instance of {name}, due {}, is {}; its tasks: {states:?}",
                instance.due, instance.state
            ));
        } else if states.iter().any(|state| !state.is_final()) {
            found.push(format!("an instance of {name} is {}, and its tasks are {states:?}", instance.state));
        } else if !states.is_empty() && !ends(&states) {
            found.push(format!("an instance of {name} ended {}, and its tasks ended {states:?}", instance.state));
        }
    }
    for request in stored.requests.values() {
        if !stored.answers.contains_key(&request.row.id) {
            found.push(format!("nobody has answered {:?}", request.row.ask));
        }
    }
    found
}

fn ends_as(instance: InstanceState, tasks: &[TaskState]) -> bool {
    tasks.iter().all(|task| match instance {
        InstanceState::Succeeded => *task == TaskState::Succeeded,
        InstanceState::Cancelled => *task == TaskState::Cancelled,
        InstanceState::Superseded => *task == TaskState::Superseded,
        InstanceState::Failed => {
            use TaskState::{ExecutorLost, Failed, PushTimeout, ReadyTimeout};
            matches!(task, Failed | ReadyTimeout | PushTimeout | ExecutorLost)
        }
        InstanceState::Waiting | InstanceState::Running => false,
    })
}

/// Jobs that should have a next time by now and have none, or one that has passed; with the time up to which they
/// are decided, so that one which is only between two runs can be told from one that sleeps.
pub fn sleepers(stored: &Stored, now: Timestamp) -> BTreeMap<(JobId, Timestamp), String> {
    let overdue_by_ms = 5000;
    let mut found = BTreeMap::new();
    for row in stored.jobs.values().filter(|row| !row.removed) {
        let job = &row.job;
        let busy =
            stored.instances.values().any(|instance| instance.row.job == job.id && !instance.row.state.is_final());
        let waits_for_ever = matches!(job.spec.schedule, Schedule::FixedDelay(_)) && job.next_due.is_none() && !busy;
        let overdue = job.next_due.is_some_and(|due| due.plus_millis(overdue_by_ms) < now);
        if waits_for_ever || overdue {
            let what = format!("{} sleeps: next due {:?}, now {now}", job.spec.name, job.next_due);
            found.insert((job.id, job.fired_through), what);
        }
    }
    found
}
