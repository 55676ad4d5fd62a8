//! Ready lanes of one process: the reference for any other.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::{Lane, TaskId, Timestamp};

use crate::lanes::{FILLED_TO, Grasp, IN_HAND, InLane, Kept, Lanes, Shelf, WINDOW};
use crate::{Clock, Result};

/// Where an id stands. What a queue says of an id counts only where this says the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Window(Lane),
    Hand(String),
    Shelf(Shelf),
}

type Queues = [VecDeque<TaskId>; Lane::ALL.len()];

#[derive(Default)]
struct OnShelf {
    queues: Queues,
    since: Timestamp,
}

#[derive(Default)]
struct Group {
    known: HashMap<TaskId, Place>,
    windows: Queues,
    hands: HashMap<String, BTreeMap<InLane, Timestamp>>,
    shelves: BTreeMap<Shelf, OnShelf>,
}

impl Group {
    /// To the head of their lanes, in their order.
    fn put_back(&mut self, ids: impl DoubleEndedIterator<Item = InLane>) {
        for InLane { lane, task } in ids.rev() {
            let window = &mut self.windows[lane as usize];
            if window.len() < WINDOW {
                window.push_front(task);
                self.known.insert(task, Place::Window(lane));
            } else {
                self.known.remove(&task);
            }
        }
    }

    /// Those of them that were still in the taker's hand, and are no more.
    fn out_of_hand(&mut self, taker: &str, ids: &[InLane]) -> Vec<InLane> {
        let Some(hand) = self.hands.get_mut(taker) else { return Vec::new() };
        let out = ids.iter().filter(|id| hand.remove(id).is_some()).copied().collect();
        if hand.is_empty() {
            self.hands.remove(taker);
        }
        out
    }

    fn clear_shelf(&mut self, shelf: &Shelf) -> usize {
        let Some(cleared) = self.shelves.remove(shelf) else { return 0 };
        let place = Place::Shelf(shelf.clone());
        let mut returned = 0;
        for (lane, queue) in Lane::ALL.into_iter().zip(cleared.queues) {
            let still: Vec<InLane> = queue
                .into_iter()
                .filter(|task| self.known.get(task) == Some(&place))
                .map(|task| InLane { lane, task })
                .collect();
            returned += still.len();
            self.put_back(still.into_iter());
        }
        returned
    }
}

pub struct LocalLanes {
    clock: Arc<dyn Clock>,
    on_shelf: Duration,
    groups: Mutex<HashMap<String, Group>>,
}

impl LocalLanes {
    /// `on_shelf`: how long something stays on a shelf before it is looked at anew.
    pub fn new(clock: Arc<dyn Clock>, on_shelf: Duration) -> LocalLanes {
        LocalLanes { clock, on_shelf, groups: Mutex::default() }
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<String, Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All is forgotten, as a server does that was flushed.
    pub fn forgets(&self) {
        self.groups().clear();
    }

    fn in_group<T>(&self, group: &str, act: impl FnOnce(&mut Group) -> T) -> T {
        act(self.groups().entry(group.to_owned()).or_default())
    }
}

#[async_trait]
impl Lanes for LocalLanes {
    async fn refill(&self, group: &str, lane: Lane, ids: &[TaskId]) -> Result<usize> {
        Ok(self.in_group(group, |group| {
            let Group { known, windows, .. } = group;
            let window = &mut windows[lane as usize];
            for id in ids {
                if window.len() >= FILLED_TO {
                    break;
                }
                let is_new = known.get(id).is_none_or(|at| matches!(at, Place::Window(other) if *other != lane));
                if is_new {
                    window.push_back(*id);
                    known.insert(*id, Place::Window(lane));
                }
            }
            FILLED_TO.saturating_sub(window.len())
        }))
    }

    async fn take(&self, group: &str, grasp: &Grasp<'_>) -> Result<Vec<InLane>> {
        let until = self.clock.now() + grasp.lease;
        Ok(self.in_group(group, |group| {
            let Group { known, windows, hands, shelves } = group;
            let hand = hands.entry(grasp.taker.to_owned()).or_default();
            let most = grasp.most.min(IN_HAND.saturating_sub(hand.len()));
            let mut taken = Vec::new();
            let mut from = |queue: &mut VecDeque<TaskId>, lane: Lane, place: &Place, taken: &mut Vec<InLane>| {
                while taken.len() < most
                    && let Some(task) = queue.pop_front()
                {
                    if known.get(&task) == Some(place) {
                        known.insert(task, Place::Hand(grasp.taker.to_owned()));
                        taken.push(InLane { lane, task });
                    }
                }
            };
            for lane in Lane::ALL.into_iter().filter(|lane| *lane <= grasp.down_to) {
                for shelf in grasp.shelves {
                    if let Some(on_shelf) = shelves.get_mut(shelf) {
                        let place = Place::Shelf(shelf.clone());
                        from(&mut on_shelf.queues[lane as usize], lane, &place, &mut taken);
                    }
                }
                from(&mut windows[lane as usize], lane, &Place::Window(lane), &mut taken);
            }
            hand.extend(taken.iter().map(|id| (*id, until)));
            taken
        }))
    }

    async fn done(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        self.in_group(group, |group| {
            group.out_of_hand(taker, ids);
            for id in ids {
                group.known.remove(&id.task);
            }
        });
        Ok(())
    }

    async fn give_back(&self, group: &str, taker: &str, ids: &[InLane]) -> Result<()> {
        self.in_group(group, |group| {
            let back = group.out_of_hand(taker, ids);
            group.put_back(back.into_iter());
        });
        Ok(())
    }

    async fn put_aside(&self, group: &str, taker: &str, shelf: &Shelf, ids: &[InLane]) -> Result<()> {
        let since = self.clock.now();
        self.in_group(group, |group| {
            let aside = group.out_of_hand(taker, ids);
            if aside.is_empty() {
                return;
            }
            let Group { known, shelves, .. } = group;
            let fresh = || OnShelf { since, ..OnShelf::default() };
            let on_shelf = shelves.entry(shelf.clone()).or_insert_with(fresh);
            for InLane { lane, task } in aside {
                let queue = &mut on_shelf.queues[lane as usize];
                if queue.len() < WINDOW {
                    queue.push_back(task);
                    known.insert(task, Place::Shelf(shelf.clone()));
                } else {
                    known.remove(&task);
                }
            }
        });
        Ok(())
    }

    async fn keep(&self, group: &str) -> Result<Kept> {
        let now = self.clock.now();
        Ok(self.in_group(group, |group| {
            let mut late = Vec::new();
            for (taker, hand) in &mut group.hands {
                hand.retain(|id, until| {
                    if *until <= now {
                        late.push((Place::Hand(taker.clone()), *id));
                    }
                    *until > now
                });
            }
            group.hands.retain(|_, hand| !hand.is_empty());
            late.retain(|(place, id)| group.known.get(&id.task) == Some(place));
            let mut late: Vec<InLane> = late.into_iter().map(|(_, id)| id).collect();
            late.sort_unstable();
            let mut returned = late.len();
            group.put_back(late.into_iter());
            let long = |on_shelf: &OnShelf| now.since(on_shelf.since) >= self.on_shelf;
            let over: Vec<Shelf> =
                group.shelves.iter().filter(|(_, on)| long(on)).map(|(shelf, _)| shelf.clone()).collect();
            for shelf in over {
                returned += group.clear_shelf(&shelf);
            }
            Kept { returned, again: false }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::LocalLanes;
    use crate::conformance::lanes::{Fresh, ON_SHELF};
    use crate::conformance::tokio_clock;

    async fn fresh() -> Fresh {
        let clock = tokio_clock();
        let lanes = Arc::new(LocalLanes::new(clock.clone(), ON_SHELF));
        Fresh { one: lanes.clone(), other: lanes, clock, house: Arc::new(()) }
    }

    crate::lanes_conformance!(paused, fresh);
}
