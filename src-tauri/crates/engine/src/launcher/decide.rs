//! Which of the times that have come become instances, and what is said of the others. Pure.

use campanile_model::blackout::{Hit, JobWindows};
use campanile_model::instance::{Instance, Omission, OmissionReason, Origin};
use campanile_model::job::{Job, MisfirePolicy, Overlap};
use campanile_model::ledger::LedgerSpan;
use campanile_model::question::{ASKED_FOR_SECONDS, Question};
use campanile_model::schedule::{CompiledTiming, Occurrence, OccurrenceOrigin, Shift, Skipped, Zone};
use campanile_model::task::{Incident, IncidentKind};
use campanile_model::timeline::Timeline;
use campanile_model::{InstanceId, JobId, QuestionId, Timestamp, Words};
use campanile_store::Launch;

use super::line::{Line, Room};
use super::unplanned::{new_instance, superseded};

/// The most times of one job that one pass decides.
const MOST_AT_ONCE: usize = 1000;

/// The most times left out by its calendar that one pass records.
const MOST_LEFT_OUT: usize = 10_000;

/// What was missed for one cause comes back over this long, each job at a place of its own.
const RELEASED_OVER_MS: i64 = 60_000;

pub struct Facts<'a> {
    pub job: &'a Job,
    pub timeline: &'a Timeline,
    pub now: Timestamp,
    pub zone_data: &'a str,
    /// Occurrences that were moved to before what has been decided already, and are still to be decided.
    pub behind: Vec<(u32, Occurrence)>,
    /// Instances of the job that are not final.
    pub line: Line,
    /// In which nothing of it fires.
    pub windows: &'a JobWindows,
}

/// Where names for what is new come from.
pub struct NewIds<I, Q> {
    pub instance: I,
    pub question: Q,
}

/// Decides all times that have come since the job last fired, up to `now` or as many as one pass takes.
pub fn decide<I, Q>(facts: &Facts<'_>, mut new: NewIds<I, Q>) -> Launch
where
    I: FnMut() -> InstanceId,
    Q: FnMut() -> QuestionId,
{
    let Facts { job, timeline, now, .. } = *facts;
    let behind = &facts.behind;
    let from = job.fired_through;
    let mut due = timeline.due_between(from, now, MOST_AT_ONCE);
    let after_the_last = timeline.newest().is_some_and(|timing| timing.plan().waits_for_the_last_run());
    if after_the_last
        // One that has been fired through was written by a save that had not seen it come.
        && let Some(next) = job.next_due.filter(|next| from < *next && *next <= now)
        && !due.iter().any(|(_, occurrence)| occurrence.due == next)
    {
        due.push((job.version, following_run(job, timeline, next)));
    }
    let mut to = if due.len() == MOST_AT_ONCE { due.last().map_or(now, |(_, last)| last.due) } else { now.max(from) };
    // Times that share the last one's instant must not be cut apart.
    if due.len() == MOST_AT_ONCE {
        for more in timeline.due_between(to.plus_millis(-1), to, MOST_AT_ONCE * 2) {
            if !due.contains(&more) {
                due.push(more);
            }
        }
    }

    let mut skipped = timeline.skipped_between(from, to, MOST_LEFT_OUT);
    if let Some((_, last)) = skipped.last().filter(|_| skipped.len() == MOST_LEFT_OUT) {
        to = to.min(last.due);
        due.retain(|(_, occurrence)| occurrence.due <= to);
        for more in timeline.skipped_between(to.plus_millis(-1), to, usize::MAX) {
            if !skipped.contains(&more) {
                skipped.push(more);
            }
        }
    }

    let mut launch = Launch {
        job: job.id,
        version: job.version,
        seen_through: from,
        instances: Vec::new(),
        supersedes: Vec::new(),
        omissions: Vec::new(),
        questions: Vec::new(),
        span: LedgerSpan {
            job: job.id,
            version: job.version,
            zone_data: facts.zone_data.to_owned(),
            from,
            to,
            planned: 0,
            made: 0,
            not_made: 0,
        },
        fired_through: to,
        next_due: timeline.next_due(to),
        incidents: Vec::new(),
    };

    let mut decisions: Vec<(u32, Occurrence, Decision)> = Vec::with_capacity(due.len());
    let behind_count = behind.len();
    due.splice(0..0, behind.iter().cloned());
    let lateness = Lateness::of(&due, facts, to);
    let upcoming: Vec<Timestamp> = due.iter().map(|(_, occurrence)| occurrence.due).collect();
    for (index, (version, occurrence)) in due.into_iter().enumerate() {
        let merged = index > 0 && index < behind_count && decisions[index - 1].1.due == occurrence.due;
        let decision = match job.paused {
            true => Decision::Omit(OmissionReason::Paused),
            false if merged => Decision::Omit(OmissionReason::Merged),
            false => match facts.windows.hit(occurrence.due) {
                Some(hit) => {
                    let next = upcoming.get(index + 1).copied().or_else(|| timeline.next_due(occurrence.due));
                    blacked_out(job, hit, next, facts.line.len(), now).unwrap_or_else(|| lateness.decide(index))
                }
                None => lateness.decide(index),
            },
        };
        decisions.push((version, occurrence, decision));
    }
    for (version, skipped) in skipped {
        let Skipped { planned, due, cause, .. } = skipped;
        let occurrence = Occurrence { planned, due, origin: OccurrenceOrigin::Schedule, shifts: Vec::new() };
        decisions.push((version, occurrence, Decision::Omit(cause)));
    }
    decisions.sort_by_key(|(_, occurrence, _)| (occurrence.due, occurrence.planned));

    let mut line = facts.line.clone();
    let mut made_since = false;
    for (version, occurrence, decision) in decisions {
        // The span tells of what came in it; what was moved behind it came in none.
        let in_span = u32::from(occurrence.due > from);
        launch.span.planned += in_span;
        let room = match &decision {
            Decision::Omit(reason) => Err(*reason),
            Decision::Fire | Decision::FireLate { .. } => match line.room(&job.spec) {
                Room::None => Err(OmissionReason::Overlap),
                room => Ok(room),
            },
            // They queue one behind the other, whatever the policy: that is what catching up means.
            Decision::CatchUp { .. } | Decision::Hold(_) => Ok(Room::Free),
        };
        let room = match room {
            Ok(room) => room,
            Err(reason) => {
                launch.span.not_made += in_span;
                omit(&mut launch.omissions, job, version, occurrence.planned, reason, made_since);
                made_since = false;
                if reason == OmissionReason::Asked {
                    ask(&mut launch.questions, &mut new.question, job, version, occurrence.planned, now);
                }
                if reason.is_missed() {
                    launch.incidents.push(missed(job, now));
                }
                continue;
            }
        };
        if let Room::InPlaceOf(older) = room {
            line.leave(older);
            launch.supersedes.push(superseded(older, now));
        }
        launch.span.made += in_span;
        // What is made good goes one behind the other, whatever else the job may do.
        let in_line = matches!(decision, Decision::CatchUp { .. });
        let beside = job.spec.overlap == Overlap::Allow && !in_line;
        let replaces = job.spec.overlap == Overlap::Replace && !in_line;
        let (not_before, late) = match decision {
            Decision::FireLate { missed } | Decision::CatchUp { missed } => {
                (released_at(facts, now, occurrence.due), Some(late_words(missed)))
            }
            Decision::Hold(hit) => (released_at(facts, hit.until, occurrence.due), Some(held_words(timeline, &hit))),
            _ => (occurrence.due, None),
        };
        let made = Instance {
            origin: match occurrence.origin {
                OccurrenceOrigin::Schedule => Origin::Schedule,
                OccurrenceOrigin::Added => Origin::Added,
            },
            key: occurrence.planned.millis().to_string(),
            planned: occurrence.planned,
            due: occurrence.due,
            not_before,
            reason: late.or_else(|| shift_words(timeline, &occurrence)),
            beside,
            replaces,
            ..new_instance((new.instance)(), job.id, version, &job.spec, now)
        };
        line.join(made.id);
        launch.instances.push(made);
        made_since = true;
    }
    launch
}

/// For a job whose schedule cannot be evaluated: nothing is decided, it is due no more, and an alarm says so.
pub fn give_up(job: &Job, now: Timestamp, zone_data: &str) -> Launch {
    let from = job.fired_through;
    Launch {
        job: job.id,
        version: job.version,
        seen_through: from,
        instances: Vec::new(),
        supersedes: Vec::new(),
        omissions: Vec::new(),
        questions: Vec::new(),
        span: LedgerSpan {
            job: job.id,
            version: job.version,
            zone_data: zone_data.to_owned(),
            from,
            to: from,
            planned: 0,
            made: 0,
            not_made: 0,
        },
        fired_through: from,
        next_due: None,
        incidents: vec![missed(job, now)],
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Fire,
    /// The latest of `missed` times; the others are folded into it.
    FireLate {
        missed: usize,
    },
    CatchUp {
        missed: usize,
    },
    /// At the end of a blackout window.
    Hold(Hit),
    Omit(OmissionReason),
}

/// What the misfire policy makes of a time inside of a blackout window. None: the window is over, and it is judged by
/// how late it is. `next` is the job's next due time after it.
pub(super) fn blacked_out(
    job: &Job,
    hit: Hit,
    next: Option<Timestamp>,
    open: usize,
    now: Timestamp,
) -> Option<Decision> {
    let is_last = next.is_none_or(|next| next >= hit.until);
    Some(match job.spec.misfire.policy {
        MisfirePolicy::Skip => Decision::Omit(OmissionReason::Blackout),
        _ if hit.until <= now => return None,
        MisfirePolicy::FireOnce | MisfirePolicy::Ask if !is_last => Decision::Omit(OmissionReason::Folded),
        MisfirePolicy::FireOnce => Decision::Hold(hit),
        MisfirePolicy::Ask => Decision::Omit(OmissionReason::Asked),
        MisfirePolicy::CatchUp if open >= job.spec.misfire.max as usize => {
            Decision::Omit(OmissionReason::BeyondCatchUp)
        }
        MisfirePolicy::CatchUp => Decision::Hold(hit),
    })
}

/// What the misfire policy makes of the times that came too late.
struct Lateness(Vec<Decision>);

impl Lateness {
    /// `to` is the last of what this pass decides; later times up to now count as missed ones too.
    fn of(due: &[(u32, Occurrence)], facts: &Facts<'_>, to: Timestamp) -> Lateness {
        let Facts { timeline, now, .. } = *facts;
        let misfire = &facts.job.spec.misfire;
        let most = misfire.max as usize;
        let late = late_places(due, facts);
        let later = match late.is_empty() || to >= now {
            true => 0,
            false => late_places(&timeline.due_between(to, now, most.max(2)), facts).len(),
        };
        let missed = late.len() + later;
        let mut decisions = vec![Decision::Fire; due.len()];
        for (place, index) in late.into_iter().enumerate() {
            decisions[index] = match misfire.policy {
                MisfirePolicy::Skip => Decision::Omit(OmissionReason::Misfire),
                MisfirePolicy::FireOnce if place + 1 == missed => Decision::FireLate { missed },
                MisfirePolicy::FireOnce => Decision::Omit(OmissionReason::Folded),
                // The latest ones are worth most; they still run oldest first.
                MisfirePolicy::CatchUp if place + most < missed => Decision::Omit(OmissionReason::BeyondCatchUp),
                MisfirePolicy::CatchUp => Decision::CatchUp { missed },
                MisfirePolicy::Ask => Decision::Omit(OmissionReason::Asked),
            };
        }
        Lateness(decisions)
    }

    fn decide(&self, index: usize) -> Decision {
        self.0[index].clone()
    }
}

/// Where in `due` stand those that are late: by more than the grace, or because the job was due again since; or
/// because they fell into a window that is over.
fn late_places(due: &[(u32, Occurrence)], facts: &Facts<'_>) -> Vec<usize> {
    let Facts { timeline, now, .. } = *facts;
    let grace = i64::from(facts.job.spec.misfire.grace_seconds);
    let is_late = |index: &usize| {
        let at = due[*index].1.due;
        if facts.windows.hit(at).is_some_and(|hit| hit.until <= now) {
            return true;
        }
        let next = due[index + 1..].iter().map(|(_, next)| next.due).find(|next| *next > at);
        let next = next.or_else(|| timeline.next_due(at));
        let limit = at.plus_seconds(grace);
        now > next.map_or(limit, |next| limit.min(next))
    };
    (0..due.len()).filter(is_late).collect()
}

/// What is missed together is asked together.
pub(super) fn ask(
    questions: &mut Vec<Question>,
    new_id: &mut impl FnMut() -> QuestionId,
    job: &Job,
    version: u32,
    planned: Timestamp,
    now: Timestamp,
) {
    if let Some(last) = questions.last_mut().filter(|last| last.version == version) {
        last.from = last.from.min(planned);
        last.to = last.to.max(planned);
        last.count += 1;
        return;
    }
    questions.push(Question {
        id: new_id(),
        job: job.id,
        version,
        from: planned,
        to: planned,
        count: 1,
        asked_at: now,
        until: now.plus_seconds(ASKED_FOR_SECONDS),
        answer: None,
    });
}

/// Lengthens the last run of omissions where this one continues it: nothing was made since.
pub(super) fn omit(
    omissions: &mut Vec<Omission>,
    job: &Job,
    version: u32,
    planned: Timestamp,
    reason: OmissionReason,
    made_since: bool,
) {
    match omissions.last_mut() {
        Some(last) if !made_since && last.reason == reason && last.version == version => {
            last.from = last.from.min(planned);
            last.to = last.to.max(planned);
            last.count += 1;
        }
        _ => omissions.push(Omission { job: job.id, version, from: planned, to: planned, count: 1, reason }),
    }
}

pub(super) fn missed(job: &Job, now: Timestamp) -> Incident {
    Incident {
        seq: 0,
        at: now,
        kind: IncidentKind::FiringMissed,
        job: job.id,
        instance: None,
        task: None,
        executor: None,
        failure: None,
    }
}

/// The run of a fixed delay that is due at `due`.
fn following_run(job: &Job, timeline: &Timeline, due: Timestamp) -> Occurrence {
    let ended = job.last_final_at.unwrap_or(job.fired_through).max(job.fired_through);
    let moved = timeline.newest().and_then(|timing| timing.after_final(ended));
    if let Some(occurrence) = moved.filter(|occurrence| occurrence.due == due) {
        return occurrence;
    }
    let spread = timeline.newest().map_or(0, CompiledTiming::place_in_spread_seconds);
    Occurrence {
        planned: due.plus_seconds(-i64::from(spread)),
        due,
        origin: OccurrenceOrigin::Schedule,
        shifts: Vec::new(),
    }
}

/// A job's own place in the minute over which many come back together.
pub(super) fn released_from(job: JobId, from: Timestamp) -> Timestamp {
    let place = job.seed() % RELEASED_OVER_MS.unsigned_abs();
    from.plus_millis(i64::try_from(place).unwrap_or(0))
}

fn held_words(timeline: &Timeline, hit: &Hit) -> Words {
    let zone = timeline.newest().and_then(|timing| timing.plan().zone());
    held_until(hit, zone)
}

pub(super) fn held_until(hit: &Hit, zone: Option<&Zone>) -> Words {
    let what = hit.words();
    let until =
        zone.map_or_else(|| Words::new(hit.until.to_string(), hit.until.to_string()), |zone| zone.words(hit.until));
    Words::new(format!("held by the {} until {}", what.en, until.en), format!("因{}推迟到 {}", what.zh, until.zh))
}

/// A job's own place in the time over which what was missed comes back; within its period, so that a job of every
/// second is not held back for a minute.
fn released_at(facts: &Facts<'_>, from: Timestamp, due: Timestamp) -> Timestamp {
    let period = facts.timeline.next_due(due).map_or(RELEASED_OVER_MS, |next| next.millis() - due.millis());
    let window = period.clamp(1, RELEASED_OVER_MS);
    let place = i64::try_from(facts.job.id.seed() % window.unsigned_abs()).unwrap_or(0);
    let at = from.plus_millis(place);
    facts.windows.hit(at).map_or(at, |hit| hit.until.plus_millis(place))
}

fn late_words(missed: usize) -> Words {
    match missed {
        1 => Words::new("its time was missed; it runs now", "错过了执行时间，现在补跑"),
        _ => Words::new(
            format!("{missed} times were missed; this run makes them good"),
            format!("错过了 {missed} 次，由本次运行补上"),
        ),
    }
}

fn shift_words(timeline: &Timeline, occurrence: &Occurrence) -> Option<Words> {
    let zone = timeline.newest()?.plan().zone();
    let told = |shift: &Shift| zone.map_or_else(|| shift.words_in_utc(), |zone| shift.words(zone));
    occurrence
        .shifts
        .iter()
        .map(told)
        .reduce(|all, one| Words::new(format!("{}; {}", all.en, one.en), format!("{}；{}", all.zh, one.zh)))
}

#[cfg(test)]
mod tests {
    use campanile_model::Almanac;
    use campanile_model::instance::InstanceState::{Running, Superseded, Waiting};
    use campanile_model::job::JobSpec;
    use serde_json::{Value, json};

    use super::*;

    /// A job of every ten seconds, last decided at 0, with `policies` over it.
    fn job(policies: &Value) -> Job {
        let mut spec = json!({
            "name": "tick",
            "schedule": {"kind": "fixedRate", "everySeconds": 10, "startTime": 0},
            "processor": "shell",
        });
        for (key, value) in policies.as_object().expect("an object") {
            spec[key] = value.clone();
        }
        let spec: JobSpec = serde_json::from_value(spec).expect("a job");
        Job {
            id: JobId::from_bytes([7; 16]),
            spec,
            version: 1,
            saved_at: Timestamp::EPOCH,
            fired_through: Timestamp::EPOCH,
            next_due: None,
            paused: false,
            last_final_at: None,
        }
    }

    /// Of the instances that have not ended, how many there are, and how many of them, the newest, wait.
    struct There {
        unfinished: u8,
        waiting: u8,
    }

    const NOBODY: There = There { unfinished: 0, waiting: 0 };

    impl There {
        fn line(&self) -> Line {
            let state = |n| if n + self.waiting < self.unfinished { Running } else { Waiting };
            Line::new((0..self.unfinished).map(|n| (InstanceId::from_bytes([200 + n; 16]), state(n))).collect())
        }
    }

    fn decided(job: &Job, second: f64, there: &There) -> Launch {
        let almanac = Almanac::bundled();
        let timeline = Timeline::new(&[job.as_version()], &almanac).expect("a schedule");
        let facts = Facts {
            job,
            timeline: &timeline,
            now: Timestamp::from_millis((second * 1000.0) as i64),
            zone_data: almanac.version(),
            behind: Vec::new(),
            line: there.line(),
            windows: &JobWindows::of(&job.spec, &Default::default(), &almanac),
        };
        let mut n = 0;
        let instance = || {
            n += 1;
            InstanceId::from_bytes([n; 16])
        };
        let mut q = 0;
        let question = || {
            q += 1;
            QuestionId::from_bytes([q; 16])
        };
        decide(&facts, NewIds { instance, question })
    }

    /// Fired seconds, then what was left out and why.
    fn check(policies: &Value, now: f64, there: &There, fired: &[i64], omitted: &[(i64, i64, u32, OmissionReason)]) {
        let mut job = job(policies);
        job.paused = job.spec.description == "paused";
        let launch = decided(&job, now, there);
        let made: Vec<i64> = launch.instances.iter().map(|made| made.planned.millis() / 1000).collect();
        assert_eq!(made, fired, "fired");
        let left: Vec<_> = launch
            .omissions
            .iter()
            .map(|left| (left.from.millis() / 1000, left.to.millis() / 1000, left.count, left.reason))
            .collect();
        assert_eq!(left, omitted, "left out");
        assert_eq!(launch.span.planned, launch.span.made + launch.span.not_made);
        assert!(launch.next_due > Some(launch.fired_through), "what is decided is never due again");
    }

    #[test]
    fn a_time_that_has_come_fires_and_the_next_one_waits() {
        check(&json!({}), 10.0, &NOBODY, &[10], &[]);
        check(&json!({}), 9.999, &NOBODY, &[], &[]);
    }

    #[test]
    fn late_times_go_by_the_misfire_policy() {
        use OmissionReason::*;
        // At 45 s: 10, 20 and 30 are late, because later ones were due since; 40 is not.
        check(&json!({"overlap": "allow"}), 45.0, &NOBODY, &[30, 40], &[(10, 20, 2, Folded)]);
        let skip = json!({"overlap": "allow", "misfire": {"policy": "skip"}});
        check(&skip, 45.0, &NOBODY, &[40], &[(10, 30, 3, Misfire)]);
        let catch_up = json!({"overlap": "allow", "misfire": {"policy": "catchUp", "max": 2}});
        check(&catch_up, 45.0, &NOBODY, &[20, 30, 40], &[(10, 10, 1, BeyondCatchUp)]);
        let short_grace = json!({"misfire": {"policy": "skip", "graceSeconds": 2}});
        check(&short_grace, 13.0, &NOBODY, &[], &[(10, 10, 1, Misfire)]);
    }

    #[test]
    fn what_is_already_there_goes_by_the_overlap_policy() {
        use OmissionReason::*;
        let running = There { unfinished: 1, waiting: 0 };
        let both = There { unfinished: 2, waiting: 1 };
        check(&json!({"overlap": "allow"}), 10.0, &both, &[10], &[]);
        check(&json!({"overlap": "skip"}), 10.0, &running, &[], &[(10, 10, 1, Overlap)]);
        check(&json!({"overlap": "queue"}), 10.0, &running, &[10], &[]);
        check(&json!({"overlap": "queue"}), 10.0, &both, &[], &[(10, 10, 1, Overlap)]);
        check(&json!({"overlap": "replace"}), 10.0, &both, &[10], &[]);
    }

    #[test]
    fn the_one_that_waits_gives_way_to_the_latest_where_that_is_asked() {
        let latest = json!({"overlap": "queue", "supersede": "latest"});
        let both = There { unfinished: 2, waiting: 1 };
        let launch = decided(&job(&latest), 10.0, &both);
        assert_eq!(launch.instances.len(), 1);
        let older = InstanceId::from_bytes([201; 16]);
        let gone: Vec<_> = launch.supersedes.iter().map(|gone| (gone.instance, gone.to)).collect();
        assert_eq!(gone, [(older, Superseded)]);
        let running = There { unfinished: 1, waiting: 0 };
        assert!(decided(&job(&latest), 10.0, &running).supersedes.is_empty(), "there is room to wait");

        // Of several that come at once the last one waits.
        let mut steady = latest.clone();
        steady["misfire"] = json!({"graceSeconds": 0});
        let mut spec = job(&steady);
        spec.spec.exceptions = vec![campanile_model::schedule::Exception::Added { at: Timestamp::from_millis(10_000) }];
        let launch = decided(&spec, 10.0, &running);
        assert_eq!(launch.instances.len(), 2);
        assert_eq!(launch.supersedes[0].instance, launch.instances[0].id);
    }

    #[test]
    fn what_falls_into_a_blackout_window_goes_by_the_misfire_policy() {
        use OmissionReason::*;
        let policies = |policy: &str| {
            json!({
                "overlap": "allow", "misfire": {"policy": policy},
                "blackouts": [{"from": 15_000, "until": 35_000}],
            })
        };
        // 20 and 30 are inside. Each is decided when it comes.
        check(&policies("skip"), 10.0, &NOBODY, &[10], &[]);
        let at = |policy: &str, second: i64| {
            let mut job = job(&policies(policy));
            job.fired_through = Timestamp::from_millis((second - 1) * 1000);
            let launch = decided(&job, second as f64, &NOBODY);
            let not_before = launch.instances.first().map(|made| made.not_before.millis());
            (not_before, launch.omissions.first().map(|left| left.reason), launch.questions.len())
        };
        assert_eq!(at("skip", 20), (None, Some(Blackout), 0));
        assert_eq!(at("fireOnce", 20), (None, Some(Folded), 0));
        assert_eq!(at("ask", 20), (None, Some(Folded), 0));
        assert_eq!(at("ask", 30), (None, Some(Asked), 1));
        for (policy, second) in [("fireOnce", 30), ("catchUp", 20), ("catchUp", 30)] {
            let (not_before, left, _) = at(policy, second);
            assert!((35_000..45_000).contains(&not_before.expect("it is held")), "{policy} {second}: {not_before:?}");
            assert_eq!(left, None);
        }
        assert_eq!(at("fireOnce", 40), (Some(40_000), None, 0), "the window is over");
        // Nobody was there while it lasted: what was in it was missed like anything else, or skipped.
        check(&policies("skip"), 45.0, &NOBODY, &[40], &[(10, 10, 1, Misfire), (20, 30, 2, Blackout)]);
        check(&policies("fireOnce"), 45.0, &NOBODY, &[30, 40], &[(10, 20, 2, Folded)]);
        // Within the grace, too: one run stands for all that fell into it.
        let hurried = json!({
            "overlap": "allow", "misfire": {"policy": "fireOnce", "graceSeconds": 60},
            "blackouts": [{"from": 15_000, "until": 35_000}],
        });
        check(&hurried, 36.0, &NOBODY, &[30], &[(10, 20, 2, Folded)]);
    }

    #[test]
    fn what_was_missed_is_asked_about_together() {
        use OmissionReason::*;
        let ask = json!({"overlap": "allow", "misfire": {"policy": "ask"}});
        check(&ask, 45.0, &NOBODY, &[40], &[(10, 30, 3, Asked)]);
        let launch = decided(&job(&ask), 45.0, &NOBODY);
        let [question] = launch.questions.as_slice() else { panic!("one question: {:?}", launch.questions) };
        assert_eq!((question.from.millis(), question.to.millis(), question.count), (10_000, 30_000, 3));
        assert_eq!(question.until, Timestamp::from_millis(45_000).plus_seconds(86_400));
        assert_eq!(launch.incidents.len(), 3, "a missed firing is one, whatever is asked");
        assert!(decided(&job(&ask), 10.0, &NOBODY).questions.is_empty());
        let mut paused = job(&ask);
        paused.paused = true;
        assert!(decided(&paused, 45.0, &NOBODY).questions.is_empty(), "a paused job's are skipped");
    }

    #[test]
    fn a_paused_job_fires_nothing_and_says_so() {
        check(&json!({"description": "paused"}), 45.0, &NOBODY, &[], &[(10, 40, 4, OmissionReason::Paused)]);
    }

    #[test]
    fn an_occurrence_taken_out_by_hand_is_recorded() {
        let exceptions = json!({"exceptions": [{"change": "skip", "planned": 20_000}], "overlap": "allow"});
        let mut job = job(&exceptions);
        job.fired_through = Timestamp::from_millis(15_000);
        let launch = decided(&job, 25.0, &NOBODY);
        assert!(launch.instances.is_empty());
        assert_eq!(launch.omissions[0].reason, OmissionReason::Exception);
        assert_eq!((launch.span.planned, launch.span.not_made), (1, 1));
    }

    #[test]
    fn what_was_missed_comes_back_within_the_period_of_the_job() {
        let launch = decided(&job(&json!({"overlap": "allow"})), 45.0, &NOBODY);
        let late = &launch.instances[0];
        let wait = late.not_before.millis() - 45_000;
        assert!((0..10_000).contains(&wait), "{wait}");
        assert!(late.reason.is_some(), "a late run says why it is late");
    }

    #[test]
    fn a_long_absence_is_decided_a_thousand_times_at_a_go() {
        let launch = decided(&job(&json!({})), 1_000_000.0, &NOBODY);
        assert_eq!(launch.span.planned, 1000);
        assert_eq!(launch.fired_through, Timestamp::from_millis(10_000_000));
        assert_eq!(launch.next_due, Some(Timestamp::from_millis(10_010_000)));
        assert!(launch.instances.is_empty(), "the latest missed time is not among them");

        // The first go of two: the one time that is not decided yet is on time.
        let launch = decided(&job(&json!({"overlap": "allow"})), 10_015.0, &NOBODY);
        let made: Vec<i64> = launch.instances.iter().map(|made| made.planned.millis() / 1000).collect();
        assert_eq!(made, [10_000]);
    }
}
