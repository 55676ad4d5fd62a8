//! Whether runs are still worth doing: what was asked of executors, and what they said. Forgotten with the node, and
//! asked again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::task::{Part, Task};
use campanile_model::{InstanceId, Timestamp};

use crate::link::AttemptRef;

/// No answer for so long is yes.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// An answer that is older is asked for again.
const FRESH: Duration = Duration::from_secs(10);

/// A run that is cut into shards is carried through once it was worth beginning.
const FRESH_OF_RUN: Duration = Duration::from_secs(24 * 3600);

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum About {
    Attempt(AttemptRef),
    /// All shards of a run together, in that round.
    Run(InstanceId, u32),
}

impl About {
    /// None: it goes in any case.
    pub fn of(task: &Task) -> Option<About> {
        match task.part {
            None => Some(About::Attempt(AttemptRef { task: task.id, attempt: task.attempt() })),
            Some(Part::PreProcess { .. }) => Some(About::Run(task.instance, 1)),
            Some(Part::Shard { round, .. }) => Some(About::Run(task.instance, round)),
            Some(Part::Notify { .. } | Part::PostProcess { .. }) => None,
        }
    }

    /// What the answer names.
    pub fn id(self) -> String {
        match self {
            About::Attempt(AttemptRef { task, attempt }) => format!("{task}/{attempt}"),
            About::Run(instance, round) => format!("run/{instance}/{round}"),
        }
    }

    fn named(id: &str) -> Option<About> {
        let (of, number) = id.rsplit_once('/')?;
        let number = number.parse().ok()?;
        Some(match of.strip_prefix("run/") {
            Some(instance) => About::Run(instance.parse().ok()?, number),
            None => About::Attempt(AttemptRef { task: of.parse().ok()?, attempt: number }),
        })
    }

    fn fresh(self) -> Duration {
        match self {
            About::Attempt(_) => FRESH,
            About::Run(..) => FRESH_OF_RUN,
        }
    }
}

#[derive(Clone, Debug)]
struct Asked {
    at: Timestamp,
    answer: Option<(bool, String)>,
}

/// What is known of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nobody was asked, or too long ago.
    NotAsked,
    /// An answer is due by then.
    Asked(Timestamp),
    Needed,
    /// With what was said about it.
    NotNeeded(String),
}

#[derive(Default)]
pub struct Questions(Mutex<HashMap<About, Asked>>);

impl Questions {
    pub fn ask(&self, about: About, now: Timestamp) {
        let mut asked = self.state();
        asked.retain(|about, asked| now.since(asked.at) < about.fresh() && asked.at <= now);
        asked.insert(about, Asked { at: now, answer: None });
    }

    /// An answer to what was not asked, or to another attempt, says nothing.
    pub fn answer(&self, id: &str, needed: bool, message: &str) {
        let Some(about) = About::named(id) else { return };
        if let Some(asked) = self.state().get_mut(&about) {
            asked.answer = Some((needed, message.to_owned()));
        }
    }

    pub fn about(&self, about: About, now: Timestamp) -> Need {
        let asked = self.state();
        let fresh = |asked: &&Asked| now.since(asked.at) < about.fresh() && asked.at <= now;
        let Some(asked) = asked.get(&about).filter(fresh) else {
            return Need::NotAsked;
        };
        match &asked.answer {
            Some((true, _)) => Need::Needed,
            Some((false, message)) => Need::NotNeeded(message.clone()),
            None if now.since(asked.at) >= ANSWER_WITHIN => Need::Needed,
            None => Need::Asked(asked.at + ANSWER_WITHIN),
        }
    }

    /// How many runs wait for an answer.
    pub fn open(&self, now: Timestamp) -> usize {
        let asked = self.state();
        asked.values().filter(|asked| asked.answer.is_none() && now.since(asked.at) < ANSWER_WITHIN).count()
    }

    /// It has gone: what comes of it later is asked for anew.
    pub fn forget(&self, attempt: AttemptRef) {
        self.state().remove(&About::Attempt(attempt));
    }

    fn state(&self) -> MutexGuard<'_, HashMap<About, Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use campanile_model::TaskId;

    use super::*;

    #[test]
    fn no_answer_in_two_seconds_is_yes_and_an_old_one_is_asked_for_again() {
        let at = |millis: i64| Timestamp::from_millis(1_790_000_000_000 + millis);
        let attempt = AttemptRef { task: TaskId::new(1, [1; 10]), attempt: 2 };
        let (about, other) = (About::Attempt(attempt), About::Attempt(AttemptRef { attempt: 3, ..attempt }));
        let questions = Questions::default();
        assert_eq!(questions.about(about, at(0)), Need::NotAsked);
        questions.ask(about, at(0));
        assert_eq!(questions.about(about, at(1999)), Need::Asked(at(2000)));
        questions.answer(&other.id(), false, "");
        questions.answer("nonsense", false, "");
        assert_eq!(questions.about(about, at(2000)), Need::Needed);
        questions.answer(&about.id(), false, "done by hand");
        assert_eq!(questions.about(about, at(2500)), Need::NotNeeded("done by hand".to_owned()));
        assert_eq!(questions.about(other, at(2500)), Need::NotAsked);
        assert_eq!(questions.about(about, at(10_000)), Need::NotAsked);
        questions.ask(about, at(10_000));
        questions.answer(&about.id(), true, "");
        assert_eq!(questions.about(about, at(10_001)), Need::Needed);
        questions.forget(attempt);
        assert_eq!(questions.about(about, at(10_001)), Need::NotAsked);
    }

    #[test]
    fn the_answer_for_a_run_is_that_for_all_of_its_shards() {
        let at = |seconds: i64| Timestamp::from_millis(1_790_000_000_000 + seconds * 1000);
        let instance = InstanceId::new(1, [1; 10]);
        let (run, again) = (About::Run(instance, 1), About::Run(instance, 2));
        let questions = Questions::default();
        questions.ask(run, at(0));
        questions.answer(&run.id(), true, "");
        // It goes on for hours.
        assert_eq!(questions.about(run, at(7200)), Need::Needed);
        assert_eq!(questions.about(again, at(7200)), Need::NotAsked);
        questions.ask(again, at(7200));
        questions.answer(&again.id(), false, "");
        assert_eq!(questions.about(again, at(7300)), Need::NotNeeded(String::new()));
        assert_eq!(questions.about(run, at(7300)), Need::Needed);
    }
}
