//! Instances on their way through the moves of one batch, in memory, for a backend to write with a few statements.

use std::collections::{BTreeMap, HashMap};

use campanile_model::instance::{InstanceMove, InstanceState, Origin};
use campanile_model::{InstanceId, JobId, Timestamp};

/// An instance as the moves leave it; a backend brings it as it is stored.
#[derive(Clone, Debug)]
pub struct Moving {
    pub id: InstanceId,
    pub job: JobId,
    pub origin: Origin,
    pub state: InstanceState,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub result: Option<String>,
}

impl Moving {
    fn follow(&mut self, change: &InstanceMove) -> bool {
        let back_to_running = change.to == InstanceState::Running;
        if self.state == change.to || (self.state.is_final() && !back_to_running) {
            return false;
        }
        self.state = change.to;
        if back_to_running {
            self.started_at = self.started_at.or(Some(change.at));
        }
        self.finished_at = change.to.is_final().then_some(change.at);
        self.result.clone_from(&change.result);
        true
    }
}

/// What the moves of one batch came to.
#[derive(Debug, Default)]
pub struct Moved {
    /// How many moves counted.
    pub counted: usize,
    /// Those that moved, by `seq`.
    pub instances: BTreeMap<i64, Moving>,
    /// Ends, in the order of the moves.
    pub endings: Vec<(JobId, InstanceId, InstanceState, Timestamp)>,
    /// The latest end of an instance of the schedule, for each job that had one.
    pub last_final: BTreeMap<JobId, Timestamp>,
}

/// Carries the instances along, in the order of the moves. Moves of instances that were not found count for nothing.
pub fn follow(moves: &[&InstanceMove], mut found: BTreeMap<i64, Moving>) -> Moved {
    let seqs: HashMap<InstanceId, i64> = found.iter().map(|(seq, instance)| (instance.id, *seq)).collect();
    let mut moved = Moved::default();
    for change in moves {
        let Some((seq, instance)) = seqs.get(&change.instance).and_then(|seq| Some((*seq, found.get_mut(seq)?))) else {
            continue;
        };
        if !instance.follow(change) {
            continue;
        }
        moved.counted += 1;
        if change.to.is_final() {
            moved.endings.push((instance.job, instance.id, change.to, change.at));
        }
        if change.to.is_final() && instance.origin == Origin::Schedule {
            let at = moved.last_final.entry(instance.job).or_insert(change.at);
            *at = change.at.max(*at);
        }
        moved.instances.insert(seq, instance.clone());
    }
    moved
}
