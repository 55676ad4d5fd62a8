//! Who gets which ready task now, and what keeps the others. Pure.
//!
//! Whether a task may go is decided by its need, which many tasks share, before any of them is read; who of those that
//! could take it does, when it is looked at, in lane order.

use std::time::Duration;

use campanile_model::job::Route;
use campanile_model::limits::Limits;
use campanile_model::task::{Need, Task};
use campanile_model::{Lane, Timestamp};
use campanile_store::{Bound, Scope};

use crate::held::HoldCause;
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

/// The bounds that work of this need falls under, executors apart, with what each is called when it is reached.
pub fn bounds_on(need: &Need, limits: &Limits) -> Vec<(Bound, HoldCause)> {
    let mut bounds = Vec::new();
    let mut add = |scope, most, cause| bounds.push((Bound { scope, most }, cause));
    if let Some(most) = limits.node {
        add(Scope::Everything, most, HoldCause::NodeLimit { most });
    }
    if let Some(most) = limits.groups.get(&need.group) {
        let group = need.group.clone();
        add(Scope::Group(group.clone()), *most, HoldCause::GroupLimit { group, most: *most });
    }
    if let Some((tenant, most)) = need.tenant.as_ref().and_then(|tenant| Some((tenant, limits.tenants.get(tenant)?))) {
        let tenant = tenant.clone();
        add(Scope::Tenant(tenant.clone()), *most, HoldCause::TenantLimit { tenant, most: *most });
    }
    if let Some(limit) = need.limit {
        add(Scope::Job(limit.job), limit.most, HoldCause::JobLimit { job: limit.job, most: limit.most });
    }
    bounds
}

/// What may go of one need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// No lane below this one, and so many; none: nothing.
    pub goes: Option<(Lane, usize)>,
    /// What keeps the rest: everything, or the lanes below.
    pub cause: Option<HoldCause>,
}

impl Verdict {
    fn nothing(cause: HoldCause) -> Verdict {
        Verdict { goes: None, cause: Some(cause) }
    }
}

/// `room_left` says how much a bound leaves, with what it is called.
pub fn judge(need: &Need, offers: &[Offer], room_left: &[(u64, HoldCause)], now: Timestamp) -> Verdict {
    let (group, processor) = (need.group.clone(), need.processor.clone());
    let suited: Vec<&Offer> = offers.iter().filter(|offer| offer.suits(need)).collect();
    if suited.is_empty() {
        return Verdict::nothing(match &need.placed {
            Some(placed) => HoldCause::ExecutorAway { group, executor: placed.executor.clone() },
            None => HoldCause::NoExecutor { group, processor },
        });
    }
    if let Some((_, cause)) = room_left.iter().find(|(left, _)| *left == 0) {
        return Verdict::nothing(cause.clone());
    }
    let awake: Vec<&Offer> = suited.into_iter().filter(|offer| !offer.rests(now)).collect();
    if awake.is_empty() {
        return Verdict::nothing(HoldCause::Resting { group, processor });
    }
    let with_room: Vec<&Offer> = awake.into_iter().filter(|offer| offer.room > 0).collect();
    if with_room.is_empty() {
        return Verdict::nothing(HoldCause::Busy { group, processor });
    }
    let short_of = |lane| with_room.iter().filter_map(|offer| offer.strained(need, lane)).min();
    let fit: Vec<&&Offer> = with_room.iter().filter(|offer| offer.strained(need, Lane::Immediate).is_none()).collect();
    let Some(down_to) = fit.iter().map(|offer| offer.strain.down_to()).max() else {
        let resource = short_of(Lane::Immediate).unwrap_or(crate::machine::Resource::Disk);
        return Verdict::nothing(HoldCause::Machine { group, processor, resource });
    };
    let room: usize = fit.iter().map(|offer| offer.room as usize).sum();
    let left = room_left.iter().map(|(left, _)| usize::try_from(*left).unwrap_or(usize::MAX)).min();
    let cause = match down_to {
        Lane::Low => None,
        _ => short_of(Lane::Low).map(|resource| HoldCause::Machine { group, processor, resource }),
    };
    Verdict { goes: Some((down_to, room.min(left.unwrap_or(usize::MAX)))), cause }
}

/// Where a chooser stands between two passes.
#[derive(Default)]
pub struct Rounds {
    next: usize,
}

/// The offer that takes the task, by its place; its room shrinks. None: nobody takes it just now.
pub fn choose(
    task: &Task,
    route: Route,
    offers: &mut [Offer],
    rounds: &mut Rounds,
    now: Timestamp,
    mut below: impl FnMut(usize) -> usize,
) -> Option<usize> {
    let need = task.need();
    let able: Vec<usize> = offers
        .iter()
        .enumerate()
        .filter(|(_, offer)| {
            offer.room > 0
                && offer.suits(&need)
                && !offer.rests(now)
                && !offer.refused.contains_key(&task.id)
                && offer.strained(&need, task.lane).is_none()
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
        // A task of the placing routes that has no place yet goes where there is most room.
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};

    use campanile_model::JobId;
    use campanile_model::task::{ExecutorRef, Needs, Placement};

    use super::*;
    use crate::machine::{Resource, Strain};

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn offer(name: &str, room: u32) -> Offer {
        Offer {
            executor: ExecutorRef { group: "g".to_owned(), name: name.to_owned(), boot: "1".to_owned() },
            session: 1,
            processors: HashSet::from(["p".to_owned()]),
            answering: HashSet::new(),
            labels: BTreeMap::from([("zone".to_owned(), name.to_owned())]),
            room,
            in_hand: 0,
            capacity: 4,
            most: 8,
            strain: Strain::default(),
            rests_until: None,
            refused: HashMap::new(),
        }
    }

    fn need_of(needs: &Needs) -> Need {
        needs.of("g", "p", JobId::new(1, [1; 10]))
    }

    fn machine(resource: Resource) -> Option<HoldCause> {
        Some(HoldCause::Machine { group: "g".to_owned(), processor: "p".to_owned(), resource })
    }

    #[test]
    fn what_may_go_is_decided_by_who_is_there_and_what_they_have_left() {
        let plain = Needs::default();
        let labelled = Needs { labels: BTreeMap::from([("zone".to_owned(), "b".to_owned())]), ..Needs::default() };
        let placed = Needs { placed: Some(Placement { executor: "a".to_owned(), firm: true }), ..Needs::default() };
        let io = Needs { io: true, ..Needs::default() };
        let strained = |name, strain| Offer { strain, ..offer(name, 4) };
        let cpu = Strain { cpu: true, ..Strain::default() };
        let memory = Strain { memory: true, ..Strain::default() };
        let disk = Strain { disk: true, ..Strain::default() };
        let resting = Offer { rests_until: Some(NOW.plus_seconds(1)), ..offer("a", 4) };
        let (group, processor) = ("g".to_owned(), "p".to_owned());
        let busy = Some(HoldCause::Busy { group: group.clone(), processor: processor.clone() });
        let nobody = Some(HoldCause::NoExecutor { group: group.clone(), processor: processor.clone() });
        let away = Some(HoldCause::ExecutorAway { group: group.clone(), executor: "a".to_owned() });
        let rests = Some(HoldCause::Resting { group, processor });
        type Case<'a> = (&'a Needs, Vec<Offer>, Option<(Lane, usize)>, Option<HoldCause>);
        let table: Vec<Case<'_>> = vec![
            (&plain, vec![], None, nobody.clone()),
            (&plain, vec![offer("a", 2), offer("b", 3)], Some((Lane::Low, 5)), None),
            (&plain, vec![offer("a", 0)], None, busy),
            (&labelled, vec![offer("a", 4)], None, nobody),
            (&labelled, vec![offer("a", 4), offer("b", 3)], Some((Lane::Low, 3)), None),
            (&placed, vec![offer("b", 4)], None, away),
            (&placed, vec![offer("a", 4), offer("b", 3)], Some((Lane::Low, 4)), None),
            (&plain, vec![strained("a", cpu)], Some((Lane::Normal, 4)), machine(Resource::Cpu)),
            (&plain, vec![strained("a", cpu), offer("b", 1)], Some((Lane::Low, 5)), None),
            (&plain, vec![strained("a", memory)], Some((Lane::High, 4)), machine(Resource::Memory)),
            (&plain, vec![strained("a", disk)], Some((Lane::Low, 4)), None),
            (&io, vec![strained("a", disk)], None, machine(Resource::Disk)),
            (&io, vec![strained("a", disk), offer("b", 1)], Some((Lane::Low, 1)), None),
            (&plain, vec![resting.clone()], None, rests),
            (&plain, vec![resting, offer("b", 1)], Some((Lane::Low, 1)), None),
        ];
        for (n, (needs, offers, goes, cause)) in table.into_iter().enumerate() {
            assert_eq!(judge(&need_of(needs), &offers, &[], NOW), Verdict { goes, cause }, "case {n}");
        }
    }

    #[test]
    fn a_limit_that_is_reached_is_named() {
        let needs = Needs { tenant: Some("acme".to_owned()), limit: Some(3), ..Needs::default() };
        let limits = Limits {
            node: Some(100),
            groups: BTreeMap::from([("g".to_owned(), 10), ("other".to_owned(), 1)]),
            tenants: BTreeMap::from([("acme".to_owned(), 5)]),
        };
        let need = need_of(&needs);
        let bounds = bounds_on(&need, &limits);
        let most: Vec<u32> = bounds.iter().map(|(bound, _)| bound.most).collect();
        assert_eq!(most, [100, 10, 5, 3]);
        assert_eq!(bounds_on(&need_of(&Needs::default()), &Limits::default()), []);
        let left =
            |left: [u64; 4]| left.into_iter().zip(bounds.iter().map(|(_, cause)| cause.clone())).collect::<Vec<_>>();
        let offers = [offer("a", 8)];
        assert_eq!(
            judge(&need, &offers, &left([50, 9, 2, 3]), NOW),
            Verdict { goes: Some((Lane::Low, 2)), cause: None }
        );
        let full = HoldCause::TenantLimit { tenant: "acme".to_owned(), most: 5 };
        assert_eq!(judge(&need, &offers, &left([50, 9, 0, 3]), NOW), Verdict::nothing(full));
    }
}
