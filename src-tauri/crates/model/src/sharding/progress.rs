//! How far a sharded run is, and when people's own code is told of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Items of a run, or of a part of it. What had no chance to run counts as done once that is settled, so that every run
/// comes to its whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    #[ts(type = "number")]
    pub done: u64,
    #[ts(type = "number")]
    pub total: u64,
}

impl Tally {
    /// 100 where there is nothing to do.
    pub fn percent(self) -> f64 {
        if self.total == 0 {
            return 100.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "for showing")]
        let part = self.done as f64 / self.total as f64;
        part * 100.0
    }

    pub fn is_whole(self) -> bool {
        self.done >= self.total
    }
}

/// Whether progress has grown by `step` percent since the notice that said `told` items, or has come to its whole
/// without one that said so. Without items there is nothing to say.
pub fn is_notice_due(told: u64, now: Tally, step: u32) -> bool {
    let grown = u128::from(now.done.saturating_sub(told));
    now.done > told && (now.is_whole() || grown * 100 >= u128::from(step) * u128::from(now.total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_due_by_step_and_at_the_end() {
        let table = [
            // Told, done, of, step: due.
            (0, 99, 1000, 10, false),
            (0, 100, 1000, 10, true),
            (100, 199, 1000, 10, false),
            (150, 250, 1000, 10, true),
            (950, 1000, 1000, 10, true),
            (1000, 1000, 1000, 10, false),
            (0, 1, 3, 10, true),
            (0, 0, 0, 10, false),
            (0, 1, 1, 100, true),
            (0, 999, 1000, 100, false),
            // More than fits into sixty-four bits on the way.
            (0, u64::MAX / 2, u64::MAX, 50, false),
            (0, u64::MAX / 2 + 1, u64::MAX, 50, true),
        ];
        for (told, done, total, step, due) in table {
            assert_eq!(is_notice_due(told, Tally { done, total }, step), due, "{told} {done} of {total} by {step}");
        }
    }

    #[test]
    fn nothing_to_do_is_done() {
        assert!((Tally::default().percent() - 100.0).abs() < f64::EPSILON);
        assert!((Tally { done: 1, total: 4 }.percent() - 25.0).abs() < f64::EPSILON);
    }
}
