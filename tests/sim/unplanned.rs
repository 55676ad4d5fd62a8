//! What must be true of firings that no clock plans: after others, of the past, and those asked about.

use std::collections::{BTreeMap, BTreeSet};

use campanile_model::backfill::{Backfill, BackfillState};
use campanile_model::blackout::JobBlackout;
use campanile_model::chain::Ending;
use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin};
use campanile_model::job::JobVersion;
use campanile_model::schedule::{After, AfterNeed, AfterOutcome, Exception, Schedule};
use campanile_model::{JobId, Timestamp};

use crate::checks::Rests;
use crate::checks::{Promise, Violation, broken, name_of};
use crate::memory_store::Stored;
use crate::planned::planned;

pub fn check(stored: &Stored, found: &mut Vec<Violation>) {
    let mut complain = |what: String| found.push(broken(Promise::Ledger, what));
    ends_that_are_followed(stored, &mut complain);
    questions(stored, &mut complain);
    windows(stored, &mut complain);
    for backfill in &stored.backfills {
        of_the_past(stored, backfill, &mut complain);
    }
}

/// Ends that nobody has decided on.
pub fn undecided(stored: &Stored) -> Vec<String> {
    let undecided = stored.endings.values().filter(|ending| !ending.kept);
    undecided.map(|ending| format!("{} has not looked at {ending:?}", name_of(stored, ending.job))).collect()
}

fn of_origin(stored: &Stored, job: JobId, origin: Origin) -> impl Iterator<Item = &Instance> {
    stored.instances.values().map(|placed| &placed.row).filter(move |one| one.job == job && one.origin == origin)
}

/// The version that held at that time.
fn version_at(stored: &Stored, job: JobId, at: Timestamp) -> Option<&JobVersion> {
    let versions = stored.versions.range((job, 0)..=(job, u32::MAX)).map(|(_, version)| version);
    let holds_from =
        |version: &JobVersion| version.spec.effective_from.unwrap_or(version.saved_at).max(version.saved_at);
    versions.rev().find(|version| holds_from(version) <= at)
}

fn counts(after: &After, ending: &Ending) -> bool {
    match after.on {
        AfterOutcome::Success => ending.state == InstanceState::Succeeded,
        AfterOutcome::Failure => ending.state == InstanceState::Failed,
        AfterOutcome::Done => true,
    }
}

/// Each end that counts has come to one firing, has a reason, or still waits.
fn ends_that_are_followed(stored: &Stored, complain: &mut impl FnMut(String)) {
    let mut ended: BTreeMap<(JobId, String), usize> = BTreeMap::new();
    for ending in &stored.ever_ended {
        *ended.entry((ending.job, ending.instance.to_string())).or_default() += 1;
        if stored.job(ending.job).is_none() || stored.endings.contains_key(&ending.seq) {
            continue;
        }
        let Some(version) = version_at(stored, ending.job, ending.at) else { continue };
        let Schedule::After(after) = &version.spec.schedule else { continue };
        let is_named = after.jobs.contains(&name_of(stored, ending.upstream));
        // Which of several ends of one job the others came to is not told by any one of them.
        if !is_named || !counts(after, ending) || after.need == AfterNeed::All {
            continue;
        }
        let key = ending.instance.to_string();
        let made = of_origin(stored, ending.job, Origin::After).any(|one| one.key == key)
            || stored.gone_firings.contains(&(ending.job, key));
        let omitted = stored
            .omissions
            .get(&ending.job)
            .is_some_and(|rows| rows.iter().any(|row| row.from <= ending.at && ending.at <= row.to));
        if !made && !omitted {
            complain(format!("{}: {ending:?} came to nothing, without a reason", name_of(stored, ending.job)));
        }
    }
    let mut followed: BTreeMap<(JobId, String), usize> = BTreeMap::new();
    for one in stored.instances.values().map(|placed| &placed.row).filter(|one| one.origin == Origin::After) {
        for upstream in one.key.split(',') {
            *followed.entry((one.job, upstream.to_owned())).or_default() += 1;
        }
    }
    for (of, times) in followed {
        if ended.get(&of).is_none_or(|ends| times > *ends) {
            complain(format!("{}: the end of {} was followed {times} times", name_of(stored, of.0), of.1));
        }
    }
}

/// Nothing that its plan brings about begins inside of a window of the job, as long as the job has one form.
fn windows(stored: &Stored, complain: &mut impl FnMut(String)) {
    for one in stored.instances.values().map(|placed| &placed.row) {
        let by_plan = matches!(one.origin, Origin::Schedule | Origin::Added | Origin::After | Origin::Backfill);
        let mut versions = stored.versions.range((one.job, 0)..=(one.job, u32::MAX)).map(|(_, version)| version);
        let (Some(version), None) = (versions.next(), versions.next()) else { continue };
        for own in &version.spec.blackouts {
            let JobBlackout::Own(window) = own else { continue };
            // What came inside of it while nobody was there is made good after it.
            let inside = window.from.is_some_and(|from| from <= one.not_before)
                && window.until.is_some_and(|until| one.not_before.max(one.created) < until);
            if by_plan && inside {
                complain(format!("{}: {one:?} begins inside of {window:?}", name_of(stored, one.job)));
            }
        }
    }
}

/// What was left out because it is asked about is asked about, once; a question that was answered with yes has run.
fn questions(stored: &Stored, complain: &mut impl FnMut(String)) {
    let jobs: BTreeSet<JobId> = stored.questions.iter().map(|question| question.job).collect();
    for job in jobs.iter().chain(stored.omissions.keys()) {
        let left_out: u32 = stored
            .omissions
            .get(job)
            .into_iter()
            .flatten()
            .filter(|row| row.reason == OmissionReason::Asked)
            .map(|row| row.count)
            .sum();
        let asked: u32 = stored.questions.iter().filter(|one| one.job == *job).map(|one| one.count).sum();
        if left_out != asked {
            complain(format!("{}: {left_out} were left out to be asked about, {asked} were", name_of(stored, *job)));
        }
    }
    for question in &stored.questions {
        let key = question.id.to_string();
        let times = of_origin(stored, question.job, Origin::Manual).filter(|one| one.key == key).count()
            + usize::from(stored.gone_firings.contains(&(question.job, key)));
        let wanted = usize::from(question.answer.as_ref().is_some_and(|answer| answer.ran.is_some()));
        if times != wanted {
            complain(format!("{}: {question:?} ran {times} times", name_of(stored, question.job)));
        }
    }
}

/// A backfill has made what it says; one that is done has made every time of its stretch.
fn of_the_past(stored: &Stored, backfill: &Backfill, complain: &mut impl FnMut(String)) {
    let of_it = |key: &str| {
        let time = key.strip_prefix(&format!("{}:", backfill.id))?.parse().ok()?;
        Some(Timestamp::from_millis(time))
    };
    let gone = stored.gone_firings.iter().filter(|(job, _)| *job == backfill.job).filter_map(|(_, key)| of_it(key));
    let there = of_origin(stored, backfill.job, Origin::Backfill).filter_map(|one| of_it(&one.key));
    let made: BTreeSet<Timestamp> = there.chain(gone).collect();
    if made.len() != backfill.made as usize {
        complain(format!("{}: {backfill:?} has {} runs", name_of(stored, backfill.job), made.len()));
    }
    let Some(version) = stored.versions.get(&(backfill.job, backfill.version)) else { return };
    let (after, until) = (backfill.from.plus_millis(-1), backfill.to.plus_millis(-1));
    let times = planned(&version.spec.schedule, backfill.from, after, until).unwrap_or_default();
    let rests = |time: &Timestamp| Rests::of(&version.spec, *time);
    let mut wanted: BTreeSet<Timestamp> = times.into_iter().filter(|time| rests(time) != Rests::Yes).collect();
    for exception in &version.spec.exceptions {
        match *exception {
            Exception::Skip { planned } => {
                wanted.remove(&planned);
            }
            Exception::Added { at } if after < at && at <= until => {
                wanted.insert(at);
            }
            _ => {}
        }
    }
    let is_added = |time: &Timestamp| version.spec.exceptions.contains(&Exception::Added { at: *time });
    let is_done = backfill.state() == BackfillState::Done;
    let left = wanted.difference(&made).any(|time| rests(time) == Rests::No || is_added(time));
    if !made.is_subset(&wanted) || (is_done && left) {
        complain(format!("{}: {backfill:?} made {made:?} of {wanted:?}", name_of(stored, backfill.job)));
    }
}
