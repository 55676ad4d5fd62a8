//! How an executor has fared with what it was given: who gave work back is left alone for a while, ever longer; what
//! was done says how much it could take. Pure, and forgotten with the executor.

use std::collections::{HashMap, VecDeque};
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

/// Five minutes in so many pieces: work of longer ago says nothing of now.
const PIECES: i64 = 30;
const PIECE_MILLIS: i64 = 10_000;

/// What an executor has done in the last five minutes.
#[derive(Clone, Debug, Default)]
pub struct WorkRate {
    /// Piece of time, tasks done in it, and how long they took together.
    pieces: VecDeque<(i64, u32, Duration)>,
    first_at: Option<Timestamp>,
}

impl WorkRate {
    pub fn finished(&mut self, took: Duration, now: Timestamp) {
        self.first_at = self.first_at.or(Some(now - took));
        let piece = piece_of(now);
        match self.pieces.back_mut() {
            Some((at, tasks, sum)) if *at == piece => {
                *tasks += 1;
                *sum += took;
            }
            _ => self.pieces.push_back((piece, 1, took)),
        }
        self.pieces.retain(|(at, _, _)| *at > piece - PIECES);
    }

    /// Rate times mean duration times 2.5, rounded up: 1000 a second of 0.1 s each are 250.
    pub fn suggested_capacity(&self, now: Timestamp) -> Option<u32> {
        let from = piece_of(now) - PIECES;
        // Rate times mean duration is time worked over time passed, whatever the number of tasks.
        let worked: Duration = self.pieces.iter().filter(|(at, _, _)| *at > from).map(|(_, _, sum)| *sum).sum();
        // The present piece has only begun.
        let begun = Timestamp::from_millis((from + 1) * PIECE_MILLIS).max(self.first_at?);
        let passed = now.since(begun).max(Duration::from_secs(1));
        let capacity = (worked.as_secs_f64() / passed.as_secs_f64() * 2.5).ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
        (worked > Duration::ZERO).then(|| capacity.clamp(1.0, 1e6) as u32)
    }
}

fn piece_of(at: Timestamp) -> i64 {
    at.millis() / PIECE_MILLIS
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

    #[test]
    fn a_thousand_tasks_a_second_of_a_tenth_of_a_second_suggest_250() {
        let mut rate = WorkRate::default();
        assert_eq!(rate.suggested_capacity(at(0)), None);
        for n in 0..600_000 {
            rate.finished(Duration::from_millis(100), at(n));
        }
        assert!((248..=252).contains(&rate.suggested_capacity(at(600_000)).expect("it worked")));
        assert_eq!(rate.suggested_capacity(at(2_000_000)), None);
    }
}
