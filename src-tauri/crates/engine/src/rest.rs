//! Who gave work back is left alone for a while, ever longer. Pure, and forgotten with the executor.

use std::collections::HashMap;
use std::time::Duration;

use campanile_model::{TaskId, Timestamp};

/// The longest that one who gives work back is left alone.
const LONGEST: Duration = Duration::from_secs(60);

/// The rest after something went wrong for the `times`-th time: none at first, then 1, 2, 4 … seconds.
fn after(times: u32) -> Duration {
    match times {
        0 | 1 => Duration::ZERO,
        _ => Duration::from_secs(1_u64 << (times - 2).min(10)).min(LONGEST),
    }
}

/// What is not offered to an executor for now.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// Tasks given back since the last one that it began.
    in_a_row: u32,
    until: Option<Timestamp>,
    refused: HashMap<TaskId, Timestamp>,
}

impl Rest {
    /// It gave a task back, for the `times`-th time that anyone did. To give back all that it has at once is no fault
    /// yet: `patience` tasks.
    pub fn gave_back(&mut self, task: TaskId, times: u32, patience: u32, now: Timestamp) {
        self.refused.retain(|_, until| *until > now);
        self.refused.insert(task, now + after(times));
        self.in_a_row = self.in_a_row.saturating_add(1);
        let rounds = self.in_a_row / patience.max(1);
        if rounds >= 1 && self.in_a_row.is_multiple_of(patience.max(1)) {
            self.until = Some(now + after(rounds + 1));
        }
    }

    pub fn started(&mut self, task: TaskId) {
        self.in_a_row = 0;
        self.until = None;
        self.refused.remove(&task);
    }

    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Tasks that it is not offered, each until that time.
    pub fn refused(&self, now: Timestamp) -> HashMap<TaskId, Timestamp> {
        self.refused.iter().filter(|(_, until)| **until > now).map(|(task, until)| (*task, *until)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_790_000_000_000 + millis)
    }

    fn task(n: u8) -> TaskId {
        TaskId::new(1, [n; 10])
    }

    #[test]
    fn a_task_that_is_given_back_again_and_again_is_offered_ever_more_seldom() {
        let mut rest = Rest::default();
        let waits: Vec<u64> = (1..=9)
            .map(|times| {
                rest.gave_back(task(1), times, 100, at(0));
                rest.refused(at(0)).get(&task(1)).map_or(0, |until| until.since(at(0)).as_secs())
            })
            .collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        // Nobody else's work is kept from it.
        assert_eq!((rest.until(), rest.refused(at(0)).len()), (None, 1));
        assert!(rest.refused(at(60_000)).is_empty());
    }

    #[test]
    fn an_executor_that_gives_everything_back_is_left_alone_ever_longer_until_it_begins_something() {
        let mut rest = Rest::default();
        let give_back = |rest: &mut Rest, n: u8| {
            rest.gave_back(task(n), 1, 4, at(0));
            rest.until().map(|until| until.since(at(0)).as_secs())
        };
        let untils: Vec<_> = (1..=12).map(|n| give_back(&mut rest, n)).collect();
        assert_eq!(untils[..3], [None; 3]);
        assert_eq!(untils[3..], [1, 1, 1, 1, 2, 2, 2, 2, 4].map(Some));
        rest.started(task(1));
        assert_eq!(rest.until(), None);
        assert_eq!(give_back(&mut rest, 1), None);
    }
}
