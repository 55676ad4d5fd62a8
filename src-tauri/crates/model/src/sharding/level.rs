//! Levels: one after another, and what the failure of one means for those after it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::task::TaskState;

/// What becomes of the levels after one that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OnLevelFailure {
    /// They are cancelled, and their items reported as not run.
    #[default]
    Stop,
    /// They run all the same.
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum LevelState {
    /// Its shards are no tasks yet.
    Waiting,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl LevelState {
    pub const ALL: [LevelState; 5] =
        [LevelState::Waiting, LevelState::Running, LevelState::Succeeded, LevelState::Failed, LevelState::Cancelled];

    pub const fn name(self) -> &'static str {
        match self {
            LevelState::Waiting => "waiting",
            LevelState::Running => "running",
            LevelState::Succeeded => "succeeded",
            LevelState::Failed => "failed",
            LevelState::Cancelled => "cancelled",
        }
    }

    pub fn named(name: &str) -> Option<LevelState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub const fn is_final(self) -> bool {
        !matches!(self, LevelState::Waiting | LevelState::Running)
    }
}

/// How a level ended whose shards are all final.
pub fn ended(shards: impl IntoIterator<Item = TaskState>) -> LevelState {
    let mut cancelled = false;
    for shard in shards {
        match shard {
            TaskState::Succeeded => {}
            // Taken out of it by a person, or no longer needed: nothing went wrong.
            TaskState::Cancelled | TaskState::Superseded => cancelled = true,
            _ => return LevelState::Failed,
        }
    }
    if cancelled { LevelState::Cancelled } else { LevelState::Succeeded }
}

/// The worst that became of levels, with one more of them; none while all have succeeded. What was cancelled weighs
/// more than what failed: nothing comes after it.
pub fn worse(of: Option<LevelState>, one: LevelState) -> Option<LevelState> {
    match (of, one) {
        (Some(LevelState::Cancelled), _) | (_, LevelState::Cancelled) => Some(LevelState::Cancelled),
        (Some(LevelState::Failed), _) | (_, LevelState::Failed) => Some(LevelState::Failed),
        _ => None,
    }
}

/// What comes next for the levels of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This one starts.
    Start(usize),
    /// This one runs.
    Wait(usize),
    /// From this one on they are cancelled: one before them failed, or was cancelled.
    Cancel(usize),
    /// All of them are final.
    Over,
}

pub fn next(levels: &[LevelState], policy: OnLevelFailure) -> Next {
    let Some(place) = levels.iter().position(|level| !level.is_final()) else { return Next::Over };
    if levels[place] == LevelState::Running {
        return Next::Wait(place);
    }
    let failed = levels[..place].contains(&LevelState::Failed) && policy == OnLevelFailure::Stop;
    if failed || levels[..place].contains(&LevelState::Cancelled) { Next::Cancel(place) } else { Next::Start(place) }
}

/// Whether a level runs in a further round: where it did not succeed and something of it was asked for, or it never ran
/// at all. Of others that did not succeed the end stays as it was.
pub fn opens_again(level: LevelState, is_asked_for: bool, ran: bool) -> bool {
    level != LevelState::Succeeded && (is_asked_for || !ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_run_one_after_another_and_a_failure_stops_those_behind_it_unless_told_otherwise() {
        use LevelState::{Cancelled as C, Failed as F, Running as R, Succeeded as S, Waiting as W};
        use OnLevelFailure::{Continue, Stop};
        let table: &[(&[LevelState], OnLevelFailure, Next)] = &[
            (&[], Stop, Next::Over),
            (&[W, W], Stop, Next::Start(0)),
            (&[R, W], Stop, Next::Wait(0)),
            (&[S, W], Stop, Next::Start(1)),
            (&[S, S], Stop, Next::Over),
            (&[F, W, W], Stop, Next::Cancel(1)),
            (&[F, W, W], Continue, Next::Start(1)),
            (&[S, F, C], Stop, Next::Over),
            // A person cancelled it: nothing behind it starts, whatever the policy.
            (&[C, W], Continue, Next::Cancel(1)),
            // A further round.
            (&[S, R, W], Stop, Next::Wait(1)),
        ];
        for (levels, policy, expected) in table {
            assert_eq!(next(levels, *policy), *expected, "{levels:?} {policy:?}");
        }
    }

    #[test]
    fn of_levels_that_are_over_the_worst_is_remembered() {
        use LevelState::{Cancelled as C, Failed as F, Succeeded as S};
        let table: &[(&[LevelState], Option<LevelState>)] =
            &[(&[], None), (&[S, S], None), (&[S, F, S], Some(F)), (&[F, C], Some(C)), (&[C, F, S], Some(C))];
        for (levels, expected) in table {
            assert_eq!(levels.iter().fold(None, |of, one| worse(of, *one)), *expected, "{levels:?}");
        }
    }

    #[test]
    fn a_level_ends_as_its_shards_did() {
        use TaskState::{Cancelled, ExecutorLost, Failed, ReadyTimeout, Succeeded, Superseded};
        let table: &[(&[TaskState], LevelState)] = &[
            (&[], LevelState::Succeeded),
            (&[Succeeded, Succeeded], LevelState::Succeeded),
            (&[Succeeded, Failed], LevelState::Failed),
            (&[ExecutorLost, Cancelled], LevelState::Failed),
            (&[Cancelled, ReadyTimeout], LevelState::Failed),
            (&[Succeeded, Cancelled], LevelState::Cancelled),
            (&[Superseded, Superseded], LevelState::Cancelled),
            (&[Superseded, Succeeded], LevelState::Cancelled),
            (&[Superseded, Failed], LevelState::Failed),
        ];
        for (shards, expected) in table {
            assert_eq!(ended(shards.iter().copied()), *expected, "{shards:?}");
        }
    }

    #[test]
    fn a_further_round_runs_what_failed_and_what_never_ran() {
        use LevelState::{Cancelled, Failed, Succeeded, Waiting};
        let table = [
            // State, asked for, ran: opens.
            (Succeeded, true, true, false),
            (Failed, true, true, true),
            (Cancelled, true, true, true),
            (Cancelled, true, false, true),
            // A person marked shards of other levels: what never ran follows them, what failed does not.
            (Succeeded, false, true, false),
            (Failed, false, true, false),
            (Cancelled, false, true, false),
            (Cancelled, false, false, true),
            (Failed, false, false, true),
            (Waiting, false, false, true),
        ];
        for (level, is_asked_for, ran, expected) in table {
            assert_eq!(opens_again(level, is_asked_for, ran), expected, "{level:?} {is_asked_for} {ran}");
        }
    }
}
