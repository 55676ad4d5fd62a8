//! Retention.

use campanile_model::alarm::{AlarmState, Severity};
use campanile_model::instance::{InstanceState, OmissionReason};
use campanile_model::task::IncidentKind;

use super::fixtures::*;
use crate::{CarriedOut, Change, Purge, Purged, Store, Taken};

/// Everything may stay for ever.
pub(super) fn nothing() -> Purge {
    Purge {
        instances_before: at(-1_000_000),
        keep_per_job: 10_000,
        requests_before: at(-1_000_000),
        incidents_before: at(-1_000_000),
        alarms_before: at(-1_000_000),
        staged_before: at(-1_000_000),
        passes_before: at(-1_000_000),
        limit: 100,
    }
}

pub async fn with_nothing_old_nothing_goes(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.purge(&lead, &nothing()).await.unwrap(), Purged::default());
    let job = saved(store, &lead, "job").await;
    succeeded(store, &lead, &job, 60).await;
    assert_eq!(store.purge(&lead, &nothing()).await.unwrap(), Purged::default());
    let all_before = Purge { instances_before: at(61), ..nothing() };
    assert_eq!(store.purge(&lead, &all_before).await.unwrap(), Purged::default());
}

pub async fn old_instances_go_with_their_tasks(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (old, old_task) = succeeded(store, &lead, &job, 60).await;
    let (new, new_task) = succeeded(store, &lead, &job, 120).await;
    let purge = Purge { instances_before: at(62), ..nothing() };
    let purged = store.purge(&lead, &purge).await.unwrap();
    assert_eq!(purged, Purged { instances: 1, others: 0, tasks: vec![old_task.id] });
    assert_eq!(store.instances(&[old.id]).await.unwrap(), []);
    assert_eq!(store.tasks(&[old_task.id]).await.unwrap(), []);
    assert_eq!(store.tasks_of(old.id).await.unwrap(), []);
    assert_eq!(instance_now(store, new.id).await.state, InstanceState::Succeeded);
    assert_eq!(task_now(store, new_task.id).await, new_task);
    assert_eq!(store.purge(&lead, &purge).await.unwrap(), Purged::default());
    // What was fired stays fired.
    assert_eq!(job_now(store, job.id).await.fired_through, at(120));
}

pub async fn what_has_not_ended_stays_however_old(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let waiting = launched(store, &lead, &job, 60).await;
    let running = launched(store, &lead, &job, 120).await;
    let task = assigned(store, &lead, &running).await;
    let purge = Purge { instances_before: at(1_000_000), keep_per_job: 0, ..nothing() };
    assert_eq!(store.purge(&lead, &purge).await.unwrap(), Purged::default());
    assert_eq!(store.unfinished(&[job.id]).await.unwrap().len(), 2);
    assert_eq!(instance_now(store, waiting.id).await, waiting);
    assert_eq!(task_now(store, task.id).await, task);
}

pub async fn of_a_job_with_too_many_the_oldest_go(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let other = saved(store, &lead, "other").await;
    let mut made = Vec::new();
    for n in 1..=5 {
        made.push(succeeded(store, &lead, &job, 60 * n).await.0.id);
    }
    let (kept, _) = succeeded(store, &lead, &other, 60).await;
    let purge = Purge { keep_per_job: 3, ..nothing() };
    let purged = store.purge(&lead, &purge).await.unwrap();
    assert_eq!((purged.instances, purged.tasks.len()), (2, 2));
    let mut left: Vec<_> = store.instances(&made).await.unwrap().into_iter().map(|instance| instance.id).collect();
    left.sort();
    assert_eq!(left, made[2..]);
    assert_eq!(instance_now(store, kept.id).await.id, kept.id);
    assert_eq!(store.purge(&lead, &purge).await.unwrap(), Purged::default());
    // One more, one less.
    succeeded(store, &lead, &job, 360).await;
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 1);
}

pub async fn a_step_of_upkeep_is_small(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    for n in 1..=5 {
        succeeded(store, &lead, &job, 60 * n).await;
    }
    let purge = Purge { instances_before: at(1_000_000), limit: 2, ..nothing() };
    for instances in [2, 2, 1, 0] {
        let purged = store.purge(&lead, &purge).await.unwrap();
        assert_eq!((purged.instances, purged.tasks.len()), (instances, usize::try_from(instances).unwrap()));
    }
    let requests = Purge { requests_before: at(1_000_000), limit: 1, ..nothing() };
    assert_eq!(store.purge(&lead, &requests).await.unwrap().others, 1);
    assert_eq!(store.purge(&lead, &requests).await.unwrap(), Purged::default());
}

pub async fn the_ledger_begins_where_the_purge_ended(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let skip = |from, to| omission(&job, from, to, OmissionReason::Overlap);
    succeeded(store, &lead, &job, 60).await;
    launch(store, &lead, job.id, 130, Vec::new(), vec![skip(120, 120)]).await;
    succeeded(store, &lead, &job, 180).await;
    launch(store, &lead, job.id, 310, Vec::new(), vec![skip(240, 300)]).await;
    let (kept, _) = succeeded(store, &lead, &job, 360).await;
    let before = store.ledger_extract(job.id).await.unwrap();
    assert_eq!((before.spans.len(), before.made.len(), before.omissions.len()), (1, 3, 2));

    let purge = Purge { instances_before: at(200), ..nothing() };
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 2);
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!(ledger.made.iter().map(|made| made.id).collect::<Vec<_>>(), [kept.id]);
    assert_eq!(ledger.purged_through, Some(at(180)));
    assert_eq!((ledger.spans, ledger.omissions), (before.spans, before.omissions));

    // What follows still continues it, and in the end nothing is left before the mark.
    succeeded(store, &lead, &job, 420).await;
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!((ledger.spans.len(), ledger.spans[0].to, ledger.spans[0].made), (1, at(420), 4));
    let purge = Purge { instances_before: at(1_000_000), ..nothing() };
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 2);
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!((ledger.purged_through, ledger.spans.len(), ledger.made.len()), (Some(at(420)), 0, 0));
}

/// With a spread, an instance may be due after a time that was planned later and left out.
pub async fn a_time_left_out_after_the_last_that_went_keeps_its_reason(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let spread = |second: i64| {
        let mut made = instance(&job, second);
        made.due = at(second + 90);
        made
    };
    let skip = |second| omission(&job, second, second, OmissionReason::Overlap);
    let (first, last) = (spread(120), spread(240));
    let (made, omitted) = (vec![first.clone(), last.clone()], vec![skip(60), skip(180)]);
    launch(store, &lead, job.id, 340, made, omitted).await;
    ended(store, &lead, &first, InstanceState::Succeeded, 211).await;

    // The mark is second 210: the omission planned for 180 would have been due at 270.
    let purge = Purge { instances_before: at(300), ..nothing() };
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 1);
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!(ledger.purged_through, Some(at(210)));
    assert!(ledger.omissions.contains(&skip(180)), "{:?}", ledger.omissions);
}

pub async fn an_instance_asked_for_does_not_move_the_mark(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (first, _) = succeeded(store, &lead, &job, 60).await;
    let by_hand = manual_instance(&job, 100);
    assert_eq!(carry_out(store, &lead, vec![Change::PutInstance(by_hand.clone())]).await, Taken::Done);
    // It ended long before the other one did.
    ended(store, &lead, &by_hand, InstanceState::Succeeded, 50).await;
    let before = store.ledger_extract(job.id).await.unwrap();
    let purge = Purge { instances_before: at(55), ..nothing() };
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 1);
    assert_eq!(store.instances(&[by_hand.id]).await.unwrap(), []);
    assert_eq!(store.ledger_extract(job.id).await.unwrap(), before);
    assert_eq!(instance_now(store, first.id).await.id, first.id);
}

pub async fn open_things_stay_however_old(store: &dyn Store) {
    let lead = lead(store).await;
    let everything = Purge {
        instances_before: at(1_000_000),
        requests_before: at(1_000_000),
        incidents_before: at(1_000_000),
        alarms_before: at(1_000_000),
        ..nothing()
    };
    let job = saved(store, &lead, "job").await;
    store.purge(&lead, &everything).await.unwrap();

    let mut launch = launch_of(&job, 60, Vec::new(), Vec::new());
    launch.incidents = vec![incident(&job, IncidentKind::Overran, 1), incident(&job, IncidentKind::Overran, 2)];
    store.launch(&lead, &[launch]).await.unwrap();
    let seen = store.new_incidents(10).await.unwrap();
    let alarms = [
        alarm("job:a", Severity::Warning, 0),
        alarm("job:b", Severity::Warning, 0).acknowledge("mei", "", at(1)),
        alarm("job:c", Severity::Warning, 0).resolve(at(1)),
    ];
    assert_eq!(store.put_alarms(&lead, &alarms, Some(seen[0].seq)).await.unwrap(), Taken::Done);
    let (open, answered) = (request(), request());
    store.ask(&open).await.unwrap();
    store.ask(&answered).await.unwrap();
    let outcome = CarriedOut { request: answered.id, changes: Vec::new(), answer: done(), audit: Vec::new() };
    assert_eq!(store.carry_out(&lead, &outcome).await.unwrap(), Taken::Done);

    // One incident, one alarm and one request may go.
    let purged = store.purge(&lead, &everything).await.unwrap();
    assert_eq!(purged, Purged { instances: 0, others: 3, tasks: Vec::new() });
    assert_eq!(store.new_incidents(10).await.unwrap(), seen[1..]);
    assert_eq!(store.open_requests(10).await.unwrap(), [open]);
    assert_eq!(store.answer(answered.id).await.unwrap(), None);
    let ids: Vec<_> = alarms.iter().map(|alarm| alarm.id).collect();
    let left = store.alarms(&ids).await.unwrap();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|alarm| alarm.state != AlarmState::Resolved));
    assert_eq!(store.purge(&lead, &everything).await.unwrap(), Purged::default());
}
