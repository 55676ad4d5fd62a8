//! The instances of a job that have not ended, and whether one more may join them. Pure.

use campanile_model::InstanceId;
use campanile_model::instance::InstanceState;
use campanile_model::job::{JobSpec, Overlap};

/// Oldest first.
#[derive(Clone, Debug, Default)]
pub struct Line(Vec<(InstanceId, InstanceState)>);

/// What the overlap policy has for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Free,
    /// In place of the one that waits.
    InPlaceOf(InstanceId),
    None,
}

impl Line {
    pub fn new(open: Vec<(InstanceId, InstanceState)>) -> Line {
        Line(open)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn room(&self, spec: &JobSpec) -> Room {
        match spec.overlap {
            Overlap::Allow | Overlap::Replace => Room::Free,
            Overlap::Skip if self.0.is_empty() => Room::Free,
            Overlap::Skip => Room::None,
            Overlap::Queue => {
                // One runs, one waits.
                let behind = self.0.get(1..).unwrap_or_default();
                let waits = |(_, state): &&(InstanceId, InstanceState)| *state == InstanceState::Waiting;
                let anyone_waits = self.0.iter().any(|one| waits(&one));
                match behind.iter().rev().find(waits) {
                    _ if behind.is_empty() || !anyone_waits => Room::Free,
                    Some((waiting, _)) if spec.supersede.is_some() => Room::InPlaceOf(*waiting),
                    _ => Room::None,
                }
            }
        }
    }

    pub fn waits(&self) -> bool {
        self.0.iter().any(|(_, state)| *state == InstanceState::Waiting)
    }

    pub fn join(&mut self, instance: InstanceId) {
        self.0.push((instance, InstanceState::Waiting));
    }

    pub fn leave(&mut self, instance: InstanceId) {
        self.0.retain(|(id, _)| *id != instance);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const fn id(n: u8) -> InstanceId {
        InstanceId::from_bytes([n; 16])
    }

    /// `w` waits, `r` runs; the first letter is number 1.
    fn line(letters: &str) -> Line {
        let state = |letter| if letter == 'w' { InstanceState::Waiting } else { InstanceState::Running };
        Line::new((1..).map(id).zip(letters.chars().map(state)).collect())
    }

    #[test]
    fn one_more_finds_room_as_the_policy_says() {
        let table = [
            ("allow", false, "rrww", Room::Free),
            ("replace", false, "rw", Room::Free),
            ("skip", false, "", Room::Free),
            ("skip", false, "w", Room::None),
            ("skip", false, "r", Room::None),
            ("queue", false, "", Room::Free),
            ("queue", false, "r", Room::Free),
            ("queue", false, "w", Room::Free),
            ("queue", false, "rr", Room::Free),
            ("queue", false, "rw", Room::None),
            ("queue", false, "ww", Room::None),
            ("queue", true, "r", Room::Free),
            ("queue", true, "rw", Room::InPlaceOf(id(2))),
            ("queue", true, "ww", Room::InPlaceOf(id(2))),
            ("queue", true, "rwww", Room::InPlaceOf(id(4))),
        ];
        for (overlap, latest, letters, room) in table {
            let supersede = latest.then_some("latest");
            let spec = json!({
                "name": "a", "processor": "p", "schedule": {"kind": "manual"},
                "overlap": overlap, "supersede": supersede,
            });
            let spec: JobSpec = serde_json::from_value(spec).expect("a job");
            assert_eq!(line(letters).room(&spec), room, "{overlap} {supersede:?} beside {letters}");
        }
    }
}
