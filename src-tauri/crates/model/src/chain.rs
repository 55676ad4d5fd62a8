//! Jobs that run after others: which ends of instances count, what they come to, and circles.
//!
//! The end of an instance waits in a queue of each job that follows its own, until it was decided on.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::instance::InstanceState;
use crate::job::{JobSpec, JobVersion};
use crate::schedule::{After, AfterNeed, AfterOutcome, Schedule};
use crate::timeline::holds_from;
use crate::{InstanceId, JobId, Timestamp};

/// More than these and nobody could say any more what the job waits for.
pub const MOST_UPSTREAMS: usize = 32;

/// The end of an instance, as it waits for one job that runs after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub seq: i64,
    /// The job that follows.
    pub job: JobId,
    pub upstream: JobId,
    pub instance: InstanceId,
    pub state: InstanceState,
    pub at: Timestamp,
    /// It has been looked at, and waits for those of other upstream jobs.
    pub kept: bool,
}

/// Ends that together bring one firing about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The version of the job that held when the last of them came.
    pub version: u32,
    pub at: Timestamp,
    /// In the order of their ids; one for each upstream job.
    pub instances: Vec<InstanceId>,
}

impl Followed {
    /// What makes this firing one and the same, whoever decides on it and how often.
    pub fn key(&self) -> String {
        self.instances.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
}

/// What the ends that wait for a job come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Follows {
    pub firings: Vec<Followed>,
    /// They leave the queue …
    pub used: Vec<i64>,
    /// … and these wait for those of other upstream jobs.
    pub kept: Vec<i64>,
}

impl AfterOutcome {
    /// An instance that was superseded has not run: it is no end of a run.
    pub const fn suits(self, state: InstanceState) -> bool {
        match self {
            AfterOutcome::Success => matches!(state, InstanceState::Succeeded),
            AfterOutcome::Failure => matches!(state, InstanceState::Failed),
            AfterOutcome::Done => {
                matches!(state, InstanceState::Succeeded | InstanceState::Failed | InstanceState::Cancelled)
            }
        }
    }
}

/// Decides on the ends that wait for one job, in the order in which they came. `versions` are the job's, newest
/// first, as far back as one held when the oldest of them came; `name_of` says what an upstream job is called now.
pub fn follow(versions: &[JobVersion], endings: &[Ending], name_of: impl Fn(JobId) -> Option<String>) -> Follows {
    let mut follows = Follows::default();
    let mut waiting: BTreeMap<JobId, &Ending> = BTreeMap::new();
    for ending in endings {
        let version = versions.iter().find(|version| holds_from(version) <= ending.at);
        let suits = version.and_then(|version| {
            let after = after_of(&version.spec)?;
            let is_over = version.spec.effective_until.is_some_and(|until| until <= ending.at);
            let name = name_of(ending.upstream)?;
            (after.jobs.contains(&name) && after.on.suits(ending.state) && !is_over).then_some((version, after))
        });
        let Some((version, after)) = suits else {
            follows.used.push(ending.seq);
            continue;
        };
        if let Some(older) = waiting.insert(ending.upstream, ending) {
            follows.used.push(older.seq);
        }
        let upstreams: HashSet<String> = waiting.keys().filter_map(|upstream| name_of(*upstream)).collect();
        let complete = after.need == AfterNeed::Any || after.jobs.iter().all(|job| upstreams.contains(job));
        if !complete {
            continue;
        }
        let together = match after.need {
            AfterNeed::Any => waiting.remove(&ending.upstream).into_iter().collect(),
            AfterNeed::All => std::mem::take(&mut waiting).into_values().collect::<Vec<_>>(),
        };
        follows.used.extend(together.iter().map(|ending| ending.seq));
        let mut instances: Vec<InstanceId> = together.iter().map(|ending| ending.instance).collect();
        instances.sort_unstable();
        follows.firings.push(Followed { version: version.version, at: ending.at, instances });
    }
    follows.kept.extend(waiting.values().map(|ending| ending.seq));
    follows.kept.sort_unstable();
    follows
}

pub fn after_of(spec: &JobSpec) -> Option<&After> {
    match &spec.schedule {
        Schedule::After(after) => Some(after),
        _ => None,
    }
}

/// The jobs, by name, that would wait for each other if `name` ran after `jobs`: from `name` back to itself.
pub fn circle(name: &str, jobs: &[String], upstreams: impl Fn(&str) -> Vec<String>) -> Option<Vec<String>> {
    let mut seen = HashSet::new();
    let mut paths: Vec<Vec<String>> = jobs.iter().map(|job| vec![name.to_owned(), job.clone()]).collect();
    while let Some(path) = paths.pop() {
        let last = path.last().cloned().unwrap_or_default();
        if last == name {
            return Some(path);
        }
        if seen.insert(last.clone()) {
            paths.extend(upstreams(&last).into_iter().map(|next| [path.clone(), vec![next]].concat()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JOB: JobId = JobId::from_bytes([9; 16]);

    fn version(number: u32, saved_at: i64, changes: &serde_json::Value) -> JobVersion {
        let mut document = json!({"name": "report", "processor": "shell"});
        for (key, value) in changes.as_object().expect("an object") {
            document[key.as_str()] = value.clone();
        }
        JobVersion {
            job: JOB,
            version: number,
            spec: serde_json::from_value(document).expect("a job"),
            saved_at: Timestamp::from_millis(saved_at),
            saved_by: String::new(),
        }
    }

    fn after(need: &str, on: &str) -> serde_json::Value {
        json!({"schedule": {"kind": "after", "jobs": ["a", "b"], "on": on, "need": need}})
    }

    /// `a1+` is the success of a's first instance, `-` a failure, `x` a cancellation, `~` superseded; the second of
    /// each is the time at which it comes.
    fn endings(told: &str) -> Vec<Ending> {
        told.split_whitespace()
            .enumerate()
            .map(|(index, ending)| {
                let letters = ending.as_bytes();
                Ending {
                    seq: index as i64 + 1,
                    job: JOB,
                    upstream: JobId::from_bytes([letters[0]; 16]),
                    instance: InstanceId::from_bytes([letters[0] * 2 + letters[1]; 16]),
                    state: match letters[2] {
                        b'+' => InstanceState::Succeeded,
                        b'-' => InstanceState::Failed,
                        b'x' => InstanceState::Cancelled,
                        _ => InstanceState::Superseded,
                    },
                    at: Timestamp::from_millis(index as i64 + 1),
                    kept: false,
                }
            })
            .collect()
    }

    fn told(versions: &[JobVersion], ends: &str) -> (Vec<(u32, i64, usize)>, Vec<i64>) {
        let ends = endings(ends);
        let follows = follow(versions, &ends, |job| Some((job.bytes()[0] as char).to_string()));
        let mut all = [follows.used.clone(), follows.kept.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (1..=ends.len() as i64).collect::<Vec<_>>(), "each is used or kept, once");
        let firings = follows.firings.iter().map(|one| (one.version, one.at.millis(), one.instances.len())).collect();
        (firings, follows.kept)
    }

    #[test]
    fn ends_come_to_firings_as_the_job_asks() {
        /// Need, outcome, ends as they come; firings with how many ends each, and the ends that are kept.
        type Row = (&'static str, &'static str, &'static str, &'static [(i64, usize)], &'static [i64]);
        #[rustfmt::skip]
        let table: &[Row] = &[
            ("any", "success", "a1+", &[(1, 1)], &[]),
            ("any", "success", "a1+ a2+ b1+", &[(1, 1), (2, 1), (3, 1)], &[]),
            ("any", "success", "a1- a2x a3~", &[], &[]),
            ("any", "failure", "a1- a2+ b1-", &[(1, 1), (3, 1)], &[]),
            ("any", "done", "a1- a2+ b1x b2~", &[(1, 1), (2, 1), (3, 1)], &[]),
            ("any", "success", "c1+", &[], &[]),
            ("all", "success", "a1+", &[], &[1]),
            ("all", "success", "a1+ b1+", &[(2, 2)], &[]),
            ("all", "success", "a1+ a2+ a3+ b1+ b2+", &[(4, 2)], &[5]),
            ("all", "success", "a1+ b1- b2+ a2+", &[(3, 2)], &[4]),
            ("all", "failure", "a1+ b1- a2-", &[(3, 2)], &[]),
        ];
        for (need, on, ends, firings, kept) in table {
            let expected: Vec<(u32, i64, usize)> = firings.iter().map(|(at, many)| (1, *at, *many)).collect();
            let versions = [version(1, 0, &after(need, on))];
            assert_eq!(told(&versions, ends), (expected, kept.to_vec()), "{need} {on}: {ends}");
        }
    }

    #[test]
    fn an_end_counts_for_the_version_that_held_when_it_came() {
        let first = version(1, 0, &after("any", "success"));
        let mut later = after("any", "failure");
        later["effectiveFrom"] = json!(3);
        let second = version(2, 1, &later);
        let (firings, _) = told(&[second, first], "a1+ a2- b1- b2+");
        assert_eq!(firings, [(1, 1, 1), (2, 3, 1)]);

        let mut until = after("any", "success");
        until["effectiveUntil"] = json!(2);
        assert_eq!(told(&[version(1, 0, &until)], "a1+ a2+").0, [(1, 1, 1)]);
        let manual = version(2, 0, &json!({"schedule": {"kind": "manual"}}));
        assert_eq!(told(&[manual], "a1+").0, [], "it follows nobody any more");
    }

    #[test]
    fn a_firing_is_known_by_the_instances_it_follows_in_whatever_order_they_came() {
        let versions = [version(1, 0, &after("all", "success"))];
        let name_of = |job: JobId| Some((job.bytes()[0] as char).to_string());
        let keys: Vec<String> = ["a1+ b1+", "b1+ a1+"]
            .iter()
            .map(|ends| follow(&versions, &endings(ends), name_of).firings[0].key())
            .collect();
        assert_eq!(keys[0], keys[1]);
        assert_eq!(keys[0].split(',').count(), 2);
    }

    #[test]
    fn circles_are_named() {
        let jobs = |list: &str| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let graph = |name: &str| match name {
            "b" => jobs("c"),
            "c" => jobs("d e"),
            "e" => jobs("a"),
            _ => Vec::new(),
        };
        assert_eq!(circle("a", &jobs("b"), graph), Some(jobs("a b c e a")));
        assert_eq!(circle("a", &jobs("a"), graph), Some(jobs("a a")));
        assert_eq!(circle("z", &jobs("b d"), graph), None, "a circle among others is theirs");
    }
}
