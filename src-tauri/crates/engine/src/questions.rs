//! Whether runs are still worth doing: what was asked of executors, and what they said. Forgotten with the node, and
//! asked again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use campanile_model::Timestamp;

use crate::link::AttemptRef;

/// No answer for so long is yes.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// An answer that is older is asked for again.
const FRESH: Duration = Duration::from_secs(10);

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
pub struct Questions(Mutex<HashMap<AttemptRef, Asked>>);

impl Questions {
    pub fn ask(&self, about: AttemptRef, now: Timestamp) {
        let mut asked = self.state();
        asked.retain(|_, asked| now.since(asked.at) < FRESH && asked.at <= now);
        asked.insert(about, Asked { at: now, answer: None });
    }

    /// An answer to what was not asked, or to another attempt, says nothing.
    pub fn answer(&self, id: &str, needed: bool, message: &str) {
        let Some(about) = about(id) else { return };
        if let Some(asked) = self.state().get_mut(&about) {
            asked.answer = Some((needed, message.to_owned()));
        }
    }

    pub fn about(&self, about: AttemptRef, now: Timestamp) -> Need {
        let asked = self.state();
        let Some(asked) = asked.get(&about).filter(|asked| now.since(asked.at) < FRESH && asked.at <= now) else {
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

    pub fn forget(&self, about: AttemptRef) {
        self.state().remove(&about);
    }

    fn state(&self) -> MutexGuard<'_, HashMap<AttemptRef, Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the answer names.
pub fn id_of(about: AttemptRef) -> String {
    format!("{}/{}", about.task, about.attempt)
}

fn about(id: &str) -> Option<AttemptRef> {
    let (task, attempt) = id.split_once('/')?;
    Some(AttemptRef { task: task.parse().ok()?, attempt: attempt.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use campanile_model::TaskId;

    use super::*;

    #[test]
    fn no_answer_in_two_seconds_is_yes_and_an_old_one_is_asked_for_again() {
        let at = |millis: i64| Timestamp::from_millis(1_790_000_000_000 + millis);
        let about = AttemptRef { task: TaskId::new(1, [1; 10]), attempt: 2 };
        let other = AttemptRef { attempt: 3, ..about };
        let questions = Questions::default();
        assert_eq!(questions.about(about, at(0)), Need::NotAsked);
        questions.ask(about, at(0));
        assert_eq!(questions.about(about, at(1999)), Need::Asked(at(2000)));
        questions.answer(&id_of(other), false, "");
        questions.answer("nonsense", false, "");
        assert_eq!(questions.about(about, at(2000)), Need::Needed);
        questions.answer(&id_of(about), false, "done by hand");
        assert_eq!(questions.about(about, at(2500)), Need::NotNeeded("done by hand".to_owned()));
        assert_eq!(questions.about(other, at(2500)), Need::NotAsked);
        assert_eq!(questions.about(about, at(10_000)), Need::NotAsked);
        questions.ask(about, at(10_000));
        questions.answer(&id_of(about), true, "");
        assert_eq!(questions.about(about, at(10_001)), Need::Needed);
        questions.forget(about);
        assert_eq!(questions.about(about, at(10_001)), Need::NotAsked);
    }
}
