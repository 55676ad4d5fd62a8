//! Ready lanes that nodes share: between two looks at the store each dispatcher is handed ids there, and no other is
//! handed the same ones meanwhile.
//!
//! The store is looked at itself at least once a second, and as soon as the lanes have less to give than there may be:
//! so whatever they have forgotten, keep in the hand of a node that is gone, or cannot be asked for is found there.
//! What is handed out is a guess in any case: a task goes by its row and by the claim.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use campanile_coord::lanes::{FILLED_TO, Grasp, InLane, Lanes, Shelf};
use campanile_coord::{Away, Result};
use campanile_model::task::{Need, Task, TaskState};
use campanile_model::{Lane, TaskId, Timestamp};
use campanile_store::{StoreError, Wanted, WantedNeed};
use futures::future::{join_all, join3, try_join_all};

use crate::held::Finding;
use crate::roster::Offer;
use crate::shared::Shared;

/// The store is looked at itself after so long.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a node has been handed and does not get rid of for so long is for others.
const IN_HAND_LEASE: Duration = Duration::from_secs(10);

/// Between two rounds of upkeep.
const KEEP_EVERY: Duration = Duration::from_secs(5);

/// What the last look at the store has shown.
#[derive(Default)]
pub(super) struct Seen {
    at: Option<Timestamp>,
    kept_at: Option<Timestamp>,
    pub needs: Vec<Need>,
    /// Those whose tasks go, of whichever lane: what is on their shelves may be asked for.
    open: Vec<Need>,
    /// There is more in the store than was read.
    more: bool,
    /// The lanes have run dry since.
    dry: bool,
}

impl Seen {
    /// Whether the store is to be looked at itself. A clock that was set back must not keep it from being looked at.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.at.is_none_or(|at| at > now || now.since(at) >= LOOK_EVERY)
    }

    /// What is handed out is not all that there is: the store is to be looked at, and much of it to be shown.
    pub fn is_short(&mut self) {
        (self.at, self.dry) = (None, true);
    }

    pub fn forget(&mut self) {
        self.at = None;
    }

    /// What these need does not go any more: nothing is asked for from their shelves before the next look.
    pub fn closes(&mut self, findings: &[Finding]) {
        self.open.retain(|need| findings.iter().all(|found| found.need != *need));
        self.more |= findings.iter().any(|found| !found.cause.is_absence());
    }

    pub fn note(&mut self, needs: Vec<Need>, open: Vec<Need>, more: bool, now: Timestamp) {
        *self = Seen { at: Some(now), kept_at: self.kept_at, needs, open, more, dry: self.dry };
    }

    fn is_kept(&mut self, now: Timestamp) -> bool {
        let kept = self.kept_at.is_some_and(|at| at <= now && now.since(at) < KEEP_EVERY);
        if !kept {
            self.kept_at = Some(now);
        }
        kept
    }
}

/// A ready task as far as lanes know it.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    group: String,
    lane: Lane,
    pub task: TaskId,
}

impl Queued {
    pub fn of(task: &Task) -> Queued {
        Queued { group: task.group.clone(), lane: task.lane, task: task.id }
    }
}

fn shelf(need: &Need) -> Shelf {
    Shelf(need.key())
}

/// What was handed out, and where it goes from here.
#[derive(Default)]
pub(super) struct Hand {
    taken: Vec<(String, InLane)>,
    pub tasks: Vec<Task>,
    /// There is more in the store than the lanes had to give.
    pub short: bool,
}

impl Hand {
    /// As much as the executors have room for. None of it is Ready only because it was handed out.
    pub async fn fill(
        shared: &Shared,
        lanes: &dyn Lanes,
        seen: &Seen,
        offers: &[Offer],
        slack: usize,
        most: usize,
        now: Timestamp,
    ) -> Result<Hand> {
        let mut room: BTreeMap<&str, (usize, Lane)> = BTreeMap::new();
        for offer in offers.iter().filter(|offer| offer.room > 0 && !offer.rests(now)) {
            let (room, down_to) = room.entry(&offer.executor.group).or_insert((0, Lane::Immediate));
            *room += offer.room as usize;
            *down_to = offer.strain.down_to().max(*down_to);
        }
        let handed = room.iter().map(async |(group, (room, down_to))| {
            let open = seen.open.iter().filter(|need| need.group == *group);
            let shelves: Vec<Shelf> = open.map(shelf).collect();
            let most = (room + slack).min(most);
            let grasp = Grasp { taker: &shared.node, down_to: *down_to, shelves: &shelves, most, lease: IN_HAND_LEASE };
            let taken = lanes.take(group, &grasp).await?;
            let short = taken.len() < most;
            Result::Ok((taken.into_iter().map(|id| ((*group).to_owned(), id)), short))
        });
        let mut hand = Hand::default();
        for (taken, short) in try_join_all(handed).await? {
            hand.taken.extend(taken);
            hand.short |= short && seen.more;
        }
        Ok(hand)
    }

    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    pub fn ids(&self) -> Vec<TaskId> {
        self.taken.iter().map(|(_, id)| id.task).collect()
    }

    /// What of it is Ready by its row, in the order in which it was handed out.
    pub fn shows(&mut self, found: Vec<Task>) {
        let mut found: HashMap<TaskId, Task> = found.into_iter().map(|task| (task.id, task)).collect();
        let ready = self.taken.iter().filter_map(|(_, id)| found.remove(&id.task));
        self.tasks = ready.filter(|task| task.state() == TaskState::Ready).collect();
    }

    /// Gets rid of all of it: what was `left` goes back to the head of its lane, what is not for this node now goes
    /// `aside`, and the rest is no longer ready.
    pub async fn let_go(self, shared: &Shared, lanes: &dyn Lanes, left: &[TaskId], aside: &HashMap<TaskId, Shelf>) {
        let mut done: BTreeMap<&str, Vec<InLane>> = BTreeMap::new();
        let mut back: BTreeMap<&str, Vec<InLane>> = BTreeMap::new();
        let mut by_shelf: BTreeMap<(&str, &Shelf), Vec<InLane>> = BTreeMap::new();
        for (group, id) in &self.taken {
            match aside.get(&id.task) {
                Some(shelf) => by_shelf.entry((group, shelf)).or_default().push(*id),
                None if left.contains(&id.task) => back.entry(group).or_default().push(*id),
                None => done.entry(group).or_default().push(*id),
            }
        }
        let taker = &shared.node;
        let outcomes = join3(
            join_all(done.iter().map(|(group, ids)| lanes.done(group, taker, ids))),
            join_all(back.iter().map(|(group, ids)| lanes.give_back(group, taker, ids))),
            join_all(by_shelf.iter().map(|((group, shelf), ids)| lanes.put_aside(group, taker, shelf, ids))),
        )
        .await;
        // What stays in hand goes back when its lease has passed, and stands in the store meanwhile.
        let (done, back, aside) = outcomes;
        done.into_iter().chain(back).chain(aside).filter_map(Result::err).for_each(|away| trouble(&away));
    }
}

pub(super) fn trouble(away: &Away) {
    tracing::debug!(error = away as &dyn std::error::Error, "ready lanes cannot be reached");
}

/// What is not for this node now, with the shelf on which others find it; `goes` says of a need down to which lane.
pub(super) fn set_aside(tasks: &mut Vec<Task>, goes: &HashMap<String, Lane>) -> HashMap<TaskId, Shelf> {
    let mut aside = HashMap::new();
    tasks.retain(|task| {
        let need = task.need();
        let may = goes.get(&need.key()).is_some_and(|down_to| task.lane <= *down_to);
        if !may {
            aside.insert(task.id, shelf(&need));
        }
        may
    });
    aside
}

/// Shows nodes what has just become Ready, in the order given. Whoever does not see it here finds it in the store.
pub(crate) async fn show(shared: &Shared, ready: impl Iterator<Item = Queued>) {
    let Some(lanes) = shared.lanes() else { return };
    let mut windows: BTreeMap<(String, Lane), Vec<TaskId>> = BTreeMap::new();
    for Queued { group, lane, task } in ready {
        windows.entry((group, lane)).or_default().push(task);
    }
    let shown = windows.iter().map(|((group, lane), ids)| lanes.refill(group, *lane, ids));
    join_all(shown).await.into_iter().filter_map(Result::err).for_each(|away| trouble(&away));
}

/// Fills the windows with what a look at the store has left, and with as much of what stands behind it as they take.
pub(super) async fn refill(
    shared: &Shared,
    seen: &mut Seen,
    left: Vec<Queued>,
    now: Timestamp,
) -> std::result::Result<(), StoreError> {
    let Some(lanes) = shared.lanes() else { return Ok(()) };
    show(shared, left.into_iter()).await;
    if std::mem::take(&mut seen.dry) && seen.more && !seen.open.is_empty() {
        let needs = seen.open.iter().cloned().map(WantedNeed::all_of).collect();
        let behind = shared.store.ready_tasks(&Wanted { needs, limit: FILLED_TO }).await?;
        show(shared, behind.iter().map(Queued::of)).await;
    }
    if !seen.is_kept(now) {
        let mut groups: Vec<&str> = seen.needs.iter().map(|need| need.group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        let kept = join_all(groups.into_iter().map(|group| lanes.keep(group))).await;
        kept.into_iter().filter_map(Result::err).for_each(|away| trouble(&away));
    }
    Ok(())
}
