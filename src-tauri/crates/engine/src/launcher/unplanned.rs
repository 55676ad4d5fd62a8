//! What comes of things that no clock plans: the ends of other jobs' instances, and backfills. Pure.

use campanile_model::backfill::Backfill;
use campanile_model::blackout::{Hit, JobWindows};
use campanile_model::chain::{Ending, follow};
use campanile_model::instance::{Instance, InstanceMove, InstanceState, OmissionReason, Origin};
use campanile_model::job::{Job, JobSpec, JobVersion, MisfirePolicy, Overlap};
use campanile_model::schedule::{Occurrence, Zone};
use campanile_model::{InstanceId, JobId, Lane, QuestionId, Timestamp};
use campanile_store::{Cause, Unplanned};

use super::decide::{Decision, NewIds, ask, blacked_out, held_until, missed, omit, released_from};
use super::line::{Line, Room};

pub struct Chained<'a> {
    pub job: &'a Job,
    /// Newest first, as far back as one held when the oldest of the ends came.
    pub versions: &'a [JobVersion],
    /// Those that wait for this job, oldest first.
    pub endings: &'a [Ending],
    /// How much later than its cause every run of this job is due.
    pub spread_seconds: u32,
    pub line: Line,
    /// In which nothing of it fires.
    pub windows: &'a JobWindows,
    /// That its times are told in.
    pub zone: Option<&'a Zone>,
    pub now: Timestamp,
}

/// Decides on the ends that wait for a job: each firing they come to is made, or left out with its reason.
pub fn chained(
    facts: Chained<'_>,
    name_of: impl Fn(JobId) -> Option<String>,
    mut new: NewIds<impl FnMut() -> InstanceId, impl FnMut() -> QuestionId>,
) -> Unplanned {
    let Chained { job, versions, endings, spread_seconds, mut line, windows, zone, now } = facts;
    let follows = follow(versions, endings, name_of);
    let mut unplanned = Unplanned {
        job: job.id,
        version: job.version,
        cause: Cause::Endings { used: follows.used.clone(), kept: follows.kept.clone() },
        instances: Vec::new(),
        supersedes: Vec::new(),
        omissions: Vec::new(),
        questions: Vec::new(),
        incidents: Vec::new(),
    };
    for firing in follows.firings {
        let due = firing.at.plus_seconds(i64::from(spread_seconds));
        let mut held: Option<Hit> = None;
        let hit = windows.hit(due).filter(|_| !job.paused);
        let room = match hit.and_then(|hit| blacked_out(job, hit, None, line.len(), now)) {
            _ if job.paused => Err(OmissionReason::Paused),
            Some(Decision::Omit(reason)) => Err(reason),
            // One that waits already stands for it.
            Some(Decision::Hold(_)) if job.spec.misfire.policy == MisfirePolicy::FireOnce && line.waits() => {
                Err(OmissionReason::Folded)
            }
            Some(Decision::Hold(hit)) => {
                held = Some(hit);
                Ok(Room::Free)
            }
            _ => match line.room(&job.spec) {
                Room::None => Err(OmissionReason::Overlap),
                room => Ok(room),
            },
        };
        match room {
            Err(reason) => {
                omit(&mut unplanned.omissions, job, firing.version, firing.at, reason, false);
                if reason == OmissionReason::Asked {
                    ask(&mut unplanned.questions, &mut new.question, job, firing.version, firing.at, now);
                }
                if reason.is_missed() {
                    unplanned.incidents.push(missed(job, now));
                }
            }
            Ok(room) => {
                if let Room::InPlaceOf(older) = room {
                    line.leave(older);
                    unplanned.supersedes.push(superseded(older, now));
                }
                let made = Instance {
                    origin: Origin::After,
                    key: firing.key(),
                    planned: firing.at,
                    due,
                    not_before: held.as_ref().map_or(due, |hit| released_from(job.id, hit.until)),
                    reason: held.map(|hit| held_until(&hit, zone)),
                    ..new_instance((new.instance)(), job.id, firing.version, &job.spec, now)
                };
                line.join(made.id);
                unplanned.instances.push(made);
            }
        }
    }
    unplanned
}

/// The next runs of a backfill: those of `due`, the planned times still to be made, that there is room for. None: it
/// is not their turn.
pub fn backfilled(
    backfill: &Backfill,
    job: &Job,
    spec: &JobSpec,
    due: &[Occurrence],
    line: &Line,
    now: Timestamp,
    mut new_id: impl FnMut() -> InstanceId,
) -> Option<Unplanned> {
    let room = backfill.room(job.spec.overlap, line.len(), now);
    if job.paused || (room == 0 && !due.is_empty()) {
        return None;
    }
    let taken = due.get(..room).unwrap_or(due);
    let instances: Vec<Instance> = taken
        .iter()
        .map(|occurrence| Instance {
            origin: Origin::Backfill,
            key: backfill.key(occurrence.planned),
            planned: occurrence.planned,
            due: now,
            not_before: now,
            lane: Lane::Low,
            replaces: false,
            asked_by: Some(backfill.asked_by.clone()),
            ..new_instance(new_id(), job.id, backfill.version, spec, now)
        })
        .collect();
    let through = taken.last().map_or(backfill.to, |last| last.due);
    Some(Unplanned {
        job: job.id,
        version: job.version,
        cause: Cause::Backfill {
            id: backfill.id,
            seen_through: backfill.through,
            through,
            done_at: (taken.len() == due.len()).then_some(now),
        },
        instances,
        supersedes: Vec::new(),
        omissions: Vec::new(),
        questions: Vec::new(),
        incidents: Vec::new(),
    })
}

pub fn superseded(instance: InstanceId, at: Timestamp) -> InstanceMove {
    InstanceMove { instance, to: InstanceState::Superseded, at, result: None }
}

/// One that starts now, whatever brought it about.
pub fn new_instance(id: InstanceId, job: JobId, version: u32, spec: &JobSpec, now: Timestamp) -> Instance {
    Instance {
        id,
        job,
        version,
        origin: Origin::Manual,
        key: String::new(),
        planned: now,
        due: now,
        not_before: now,
        reason: None,
        created: now,
        state: InstanceState::Waiting,
        beside: spec.overlap == Overlap::Allow,
        replaces: spec.overlap == Overlap::Replace,
        lane: spec.priority,
        parameters: None,
        repeats: None,
        asked_by: None,
        executor: None,
        assigned_at: None,
        started_at: None,
        finished_at: None,
        result: None,
        failure: None,
    }
}

#[cfg(test)]
mod tests {
    use campanile_model::RequestId;
    use campanile_model::schedule::OccurrenceOrigin;
    use serde_json::{Value, json};

    use super::*;

    const UP: JobId = JobId::from_bytes([1; 16]);

    fn job(policies: &Value) -> Job {
        let mut spec = json!({"name": "next", "schedule": {"kind": "after", "jobs": ["up"]}, "processor": "shell"});
        for (key, value) in policies.as_object().expect("an object") {
            spec[key] = value.clone();
        }
        Job {
            id: JobId::from_bytes([7; 16]),
            paused: policies.get("description").is_some(),
            spec: serde_json::from_value(spec).expect("a job"),
            version: 1,
            saved_at: Timestamp::EPOCH,
            fired_through: Timestamp::EPOCH,
            next_due: None,
            last_final_at: None,
        }
    }

    fn ids() -> impl FnMut() -> InstanceId {
        let mut n = 100;
        move || {
            n += 1;
            InstanceId::from_bytes([n; 16])
        }
    }

    fn line(states: &[InstanceState]) -> Line {
        Line::new(states.iter().enumerate().map(|(n, state)| (InstanceId::from_bytes([n as u8; 16]), *state)).collect())
    }

    #[test]
    fn ends_that_are_followed_obey_pause_and_overlap() {
        use InstanceState::{Running, Waiting};
        use OmissionReason::{Overlap, Paused};
        /// Policies and what is there; how many are made and superseded, and what is left out.
        type Row = (Value, &'static [InstanceState], usize, usize, &'static [(u32, OmissionReason)]);
        #[rustfmt::skip]
        let table: [Row; 8] = [
            (json!({}), &[], 2, 0, &[(1, Overlap)]),
            (json!({}), &[Running], 1, 0, &[(2, Overlap)]),
            (json!({"overlap": "allow"}), &[Running], 3, 0, &[]),
            (json!({"overlap": "skip"}), &[], 1, 0, &[(2, Overlap)]),
            (json!({"overlap": "replace"}), &[Running], 3, 0, &[]),
            (json!({"supersede": "latest"}), &[Running], 3, 2, &[]),
            (json!({"supersede": "latest"}), &[Running, Waiting], 3, 3, &[]),
            (json!({"description": "paused"}), &[], 0, 0, &[(3, Paused)]),
        ];
        for (policies, there, made, superseded, omitted) in table {
            let job = job(&policies);
            let versions = [job.as_version()];
            let endings: Vec<Ending> = (1..=3)
                .map(|n| Ending {
                    seq: n,
                    job: job.id,
                    upstream: UP,
                    instance: InstanceId::from_bytes([n as u8 + 50; 16]),
                    state: InstanceState::Succeeded,
                    at: Timestamp::from_millis(n * 1000),
                    kept: false,
                })
                .collect();
            let facts = Chained {
                job: &job,
                versions: &versions,
                endings: &endings,
                spread_seconds: 2,
                line: line(there),
                windows: &JobWindows::default(),
                zone: None,
                now: Timestamp::from_millis(5000),
            };
            let found = chained(
                facts,
                |_| Some("up".to_owned()),
                NewIds { instance: ids(), question: || QuestionId::from_bytes([1; 16]) },
            );
            let left: Vec<_> = found.omissions.iter().map(|left| (left.count, left.reason)).collect();
            assert_eq!((found.instances.len(), found.supersedes.len(), left.as_slice()), (made, superseded, omitted));
            assert_eq!(found.cause, Cause::Endings { used: vec![1, 2, 3], kept: Vec::new() }, "{policies}");
            for one in &found.instances {
                assert_eq!(one.due, one.planned.plus_seconds(2));
                assert_eq!(one.upstream().len(), 1);
            }
        }
    }

    #[test]
    fn a_backfill_goes_on_from_where_it_stands_and_says_when_it_is_done() {
        let at = Timestamp::from_millis;
        let backfill = Backfill {
            id: RequestId::from_bytes([3; 16]),
            job: JobId::from_bytes([7; 16]),
            version: 1,
            from: at(0),
            to: at(10_000),
            through: at(-1),
            planned: 2,
            made: 0,
            asked_by: "mei".to_owned(),
            asked_at: at(20_000),
            ended: None,
        };
        let due = |times: &[i64]| -> Vec<Occurrence> {
            times
                .iter()
                .map(|time| Occurrence {
                    planned: at(*time),
                    due: at(*time),
                    origin: OccurrenceOrigin::Schedule,
                    shifts: Vec::new(),
                })
                .collect()
        };
        let job = job(&json!({"overlap": "queue"}));
        let next = |made: u32, times: &[i64], there: &[InstanceState], now: i64| {
            let backfill = Backfill { made, ..backfill.clone() };
            backfilled(&backfill, &job, &job.spec, &due(times), &line(there), at(now), ids())
        };
        let first = next(0, &[1000, 2000], &[], 20_000).expect("there is room");
        assert_eq!(first.instances.len(), 1);
        assert_eq!(first.instances[0].key, backfill.key(at(1000)));
        assert_eq!(first.instances[0].lane, Lane::Low);
        let stands = |unplanned: Unplanned| match unplanned.cause {
            Cause::Backfill { through, done_at, .. } => (through, done_at),
            Cause::Endings { .. } => unreachable!("it is a backfill"),
        };
        assert_eq!(stands(first), (at(1000), None));
        assert!(next(1, &[2000], &[InstanceState::Running], 21_000).is_none(), "one at a time");
        assert!(next(1, &[2000], &[], 20_900).is_none(), "a second apart");
        assert_eq!(stands(next(1, &[2000], &[], 21_000).expect("it ends")), (at(2000), Some(at(21_000))));
        let nothing_left = next(1, &[], &[InstanceState::Running], 20_000).expect("it ends");
        assert_eq!(stands(nothing_left), (at(10_000), Some(at(20_000))));
    }
}
