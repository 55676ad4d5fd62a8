//! Who gets which ready task now. Pure.
//!
//! Tasks are looked at in lane order; each goes to one of the executors that have its processor and
//! room for it, by its job's route.

use std::time::Duration;

use campanile_model::Timestamp;
use campanile_model::job::Route;
use campanile_model::task::Task;

use crate::roster::Offer;

/// What a hold kept back goes out over this long.
pub const RELEASED_OVER: Duration = Duration::from_millis(RELEASED_OVER_MS);
const RELEASED_OVER_MS: u64 = 60_000;

/// Whether a task goes again after a hold that ended at `released_at`. What became ready since goes at once; what had
/// waited goes at its job's own place in the time over which it is released.
pub fn is_released(task: &Task, released_at: Timestamp, now: Timestamp) -> bool {
    if task.ready_at.is_some_and(|ready_at| ready_at >= released_at) {
        return true;
    }
    let place = Duration::from_millis(task.job.seed() % RELEASED_OVER_MS);
    now >= released_at + place
}

/// Where a chooser stands between two passes.
#[derive(Default)]
pub struct Rounds {
    next: usize,
}

/// The offer that takes the task, by its place; its room shrinks. None: nobody has room for it now.
pub fn choose(
    task: &Task,
    route: Route,
    offers: &mut [Offer],
    rounds: &mut Rounds,
    mut below: impl FnMut(usize) -> usize,
) -> Option<usize> {
    let able: Vec<usize> = offers
        .iter()
        .enumerate()
        .filter(|(_, offer)| {
            offer.room > 0 && offer.executor.group == task.group && offer.processors.contains(&task.processor)
        })
        .map(|(place, _)| place)
        .collect();
    let place = match route {
        _ if able.is_empty() => return None,
        Route::RoundRobin => {
            rounds.next = rounds.next.wrapping_add(1);
            able[rounds.next % able.len()]
        }
        Route::Random => able[below(able.len())],
        // The others place a task on a certain executor; a job that asks for one is refused when it is saved.
        Route::LeastLoaded | Route::ConsistentHash | Route::Sticky | Route::Label => {
            *able.iter().min_by(|a, b| load(&offers[**a]).total_cmp(&load(&offers[**b])))?
        }
    };
    offers[place].room -= 1;
    offers[place].in_hand += 1;
    Some(place)
}

fn load(offer: &Offer) -> f64 {
    f64::from(offer.in_hand) / f64::from(offer.capacity.max(1))
}
