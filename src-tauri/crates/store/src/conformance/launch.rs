//! Launching: what became an instance, what did not, and what the ledger says of it.

use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin};
use campanile_model::job::Job;
use campanile_model::task::{IncidentKind, TaskEvent};
use campanile_model::{InstanceId, Lane, Partitions, Words};
use futures::future::{join, join_all};

use super::fixtures::*;
use crate::{Assignment, Change, Launched, Store, Taken};

fn ids(instances: &[Instance]) -> Vec<InstanceId> {
    instances.iter().map(|instance| instance.id).collect()
}

pub async fn a_launch_is_written_whole(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = instance(&job, 180);
    let mut launch = launch_of(&job, 200, vec![made.clone()], vec![omission(&job, 60, 120, OmissionReason::Folded)]);
    launch.incidents.push(incident(&job, IncidentKind::FiringMissed, 200));
    assert_eq!(store.launch(&lead, &[launch.clone()]).await.unwrap(), [Launched::Written { made: 1 }]);

    let now = job_now(store, job.id).await;
    assert_eq!((now.fired_through, now.next_due), (at(200), Some(at(260))));
    assert_eq!(instance_now(store, made.id).await, made);
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!(ledger.spans, [launch.span]);
    assert_eq!(ledger.omissions, launch.omissions);
    assert_eq!(ledger.made.len(), 1);
    let entry = &ledger.made[0];
    assert_eq!((entry.id, entry.origin, &entry.key, entry.planned), (made.id, made.origin, &made.key, made.planned));
    let incidents = store.new_incidents(10).await.unwrap();
    assert_eq!((incidents.len(), incidents[0].kind, incidents[0].at), (1, IncidentKind::FiringMissed, at(200)));
}

pub async fn an_instance_reads_back_as_it_was_written(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    let full = Instance {
        reason: Some(Words::new("moved from \"Saturday\"\n", "从周六移来")),
        planned: at(90),
        due: at(120),
        not_before: at(130),
        beside: true,
        replaces: true,
        lane: Lane::Immediate,
        parameters: Some("{\"command\":\"echo '\u{1F514}'\"}".to_owned()),
        repeats: Some(first.id),
        asked_by: Some("mei".to_owned()),
        executor: Some("host-2".to_owned()),
        origin: Origin::Added,
        ..instance(&job, 120)
    };
    launch(store, &lead, job.id, 120, vec![full.clone()], Vec::new()).await;
    assert_eq!(instance_now(store, full.id).await, full);
    assert_eq!(store.instances(&[instance_id()]).await.unwrap(), []);
    assert_eq!(store.instances(&[]).await.unwrap(), []);
}

pub async fn a_firing_is_made_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    let again = instance(&job, 60);
    let next = instance(&job, 120);
    let outcome = launch(store, &lead, job.id, 120, vec![again.clone(), next.clone()], Vec::new()).await;
    assert_eq!(outcome, Launched::Written { made: 1 });
    assert_eq!(store.instances(&[again.id]).await.unwrap(), []);
    assert_eq!(instance_now(store, first.id).await, first);

    // Another origin is another firing, and so is another job's.
    let other = saved(store, &lead, "other").await;
    let added = Instance { origin: Origin::Added, key: first.key.clone(), ..instance(&job, 60) };
    assert_eq!(launch(store, &lead, job.id, 180, vec![added], Vec::new()).await, Launched::Written { made: 1 });
    launched(store, &lead, &other, 60).await;
}

pub async fn a_firing_is_found_by_its_key(store: &dyn Store) {
    let lead = lead(store).await;
    let (job, other) = (saved(store, &lead, "job").await, saved(store, &lead, "other").await);
    let made = launched(store, &lead, &job, 60).await;
    assert_eq!(store.firing(job.id, made.origin, &made.key).await.unwrap(), Some(made.id));
    assert_eq!(store.firing(job.id, Origin::Api, &made.key).await.unwrap(), None);
    assert_eq!(store.firing(job.id, made.origin, "another").await.unwrap(), None);
    assert_eq!(store.firing(other.id, made.origin, &made.key).await.unwrap(), None);
}

async fn writes_nothing(store: &dyn Store, job: &Job, made: &Instance) {
    assert_eq!(store.instances(&[made.id]).await.unwrap(), []);
    let ledger = store.ledger_extract(job.id).await.unwrap();
    assert_eq!((ledger.spans.len(), ledger.made.len(), ledger.omissions.len()), (0, 0, 0));
    assert_eq!(store.new_incidents(10).await.unwrap(), []);
}

fn full_launch(job: &Job) -> (crate::Launch, Instance) {
    let made = instance(job, 120);
    let mut launch = launch_of(job, 120, vec![made.clone()], vec![omission(job, 60, 60, OmissionReason::Misfire)]);
    launch.incidents.push(incident(job, IncidentKind::FiringMissed, 120));
    (launch, made)
}

pub async fn a_launch_of_another_version_writes_nothing(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    assert_eq!(carry_out(store, &lead, vec![next_version(&job)]).await, Taken::Done);
    let (launch, made) = full_launch(&job);
    assert_eq!(store.launch(&lead, &[launch]).await.unwrap(), [Launched::Stale]);
    writes_nothing(store, &job, &made).await;
    assert_eq!(job_now(store, job.id).await.fired_through, at(0));
}

pub async fn a_launch_that_saw_another_time_writes_nothing(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (mut launch, made) = full_launch(&job);
    launch.seen_through = at(-1);
    assert_eq!(store.launch(&lead, &[launch]).await.unwrap(), [Launched::Stale]);
    writes_nothing(store, &job, &made).await;
    assert_eq!(job_now(store, job.id).await, job);
}

pub async fn a_launch_of_a_removed_or_unknown_job_writes_nothing(store: &dyn Store) {
    let lead = lead(store).await;
    let removed = saved(store, &lead, "job").await;
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(removed.id)]).await, Taken::Done);
    for job in [removed, job("never saved")] {
        let (launch, made) = full_launch(&job);
        assert_eq!(store.launch(&lead, &[launch]).await.unwrap(), [Launched::Stale]);
        writes_nothing(store, &job, &made).await;
    }
}

pub async fn of_two_launches_at_once_one_is_written(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let one = [launch_of(&job, 60, vec![instance(&job, 60)], Vec::new())];
    let other = [launch_of(&job, 61, vec![instance(&job, 60)], Vec::new())];
    let (one, other) = join(store.launch(&lead, &one), store.launch(&lead, &other)).await;
    let (one, other) = (one.unwrap()[0], other.unwrap()[0]);
    assert!((one == Launched::Stale) != (other == Launched::Stale), "{one:?} and {other:?}");
    assert_eq!(store.ledger_extract(job.id).await.unwrap().made.len(), 1);
}

pub async fn of_a_batch_only_the_stale_ones_are_left_out(store: &dyn Store) {
    let lead = lead(store).await;
    let fresh = saved(store, &lead, "fresh").await;
    let stale = saved(store, &lead, "stale").await;
    let other = saved(store, &lead, "other").await;
    let mut launches: Vec<_> =
        [&fresh, &stale, &other].map(|job| launch_of(job, 60, vec![instance(job, 60)], Vec::new())).into();
    launches[1].version = 9;
    let written = Launched::Written { made: 1 };
    assert_eq!(store.launch(&lead, &launches).await.unwrap(), [written, Launched::Stale, written]);
    assert_eq!(store.ledger_extract(stale.id).await.unwrap().made.len(), 0);
    assert_eq!(store.ledger_extract(other.id).await.unwrap().made.len(), 1);
    assert_eq!(store.launch(&lead, &[]).await.unwrap(), []);
}

pub async fn launches_of_one_job_in_one_batch_follow_each_other(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launch_of(&job, 60, vec![instance(&job, 60)], Vec::new());
    let later = Job { fired_through: at(60), ..job.clone() };
    let second = launch_of(&later, 120, vec![instance(&job, 120)], Vec::new());
    let repeated = launch_of(&later, 180, vec![instance(&job, 180)], Vec::new());
    let written = Launched::Written { made: 1 };
    let outcome = store.launch(&lead, &[first, second, repeated]).await.unwrap();
    assert_eq!(outcome, [written, written, Launched::Stale]);
    let now = job_now(store, job.id).await;
    assert_eq!((now.fired_through, now.next_due), (at(120), Some(at(180))));
    let spans = store.ledger_extract(job.id).await.unwrap().spans;
    assert_eq!((spans.len(), spans[0].from, spans[0].to, spans[0].made), (1, at(0), at(120), 2));
}

pub async fn an_unbroken_run_of_omissions_is_one_row(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let paused = |from, to| omission(&job, from, to, OmissionReason::Paused);
    launch(store, &lead, job.id, 100, Vec::new(), vec![paused(60, 60)]).await;
    launch(store, &lead, job.id, 200, Vec::new(), vec![paused(120, 180)]).await;
    // A run by hand does not break it.
    let by_hand = manual_instance(&job, 210);
    assert_eq!(carry_out(store, &lead, vec![Change::PutInstance(by_hand)]).await, Taken::Done);
    launch(store, &lead, job.id, 320, Vec::new(), vec![paused(240, 240), paused(300, 300)]).await;
    let omissions = store.ledger_extract(job.id).await.unwrap().omissions;
    assert_eq!(omissions.len(), 1, "{omissions:?}");
    assert_eq!((omissions[0].from, omissions[0].to, omissions[0].count), (at(60), at(300), 5));
}

pub async fn a_run_of_omissions_ends_where_reason_or_version_changes(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = omission(&job, 60, 60, OmissionReason::Paused);
    launch(store, &lead, job.id, 60, Vec::new(), vec![first.clone()]).await;
    let second = omission(&job, 120, 120, OmissionReason::Overlap);
    launch(store, &lead, job.id, 120, Vec::new(), vec![second.clone()]).await;
    let now = job_now(store, job.id).await;
    assert_eq!(carry_out(store, &lead, vec![next_version(&now)]).await, Taken::Done);
    let third = omission(&job_now(store, job.id).await, 180, 180, OmissionReason::Overlap);
    launch(store, &lead, job.id, 180, Vec::new(), vec![third.clone()]).await;
    assert_eq!(store.ledger_extract(job.id).await.unwrap().omissions, [first, second, third]);
}

pub async fn a_run_of_omissions_ends_where_an_instance_was_made(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let skipped = |from, to| omission(&job, from, to, OmissionReason::Overlap);
    launch(store, &lead, job.id, 60, Vec::new(), vec![skipped(60, 60)]).await;
    launched(store, &lead, &job, 120).await;
    launch(store, &lead, job.id, 180, Vec::new(), vec![skipped(180, 180)]).await;
    // Within one launch as well.
    let made = instance(&job, 300);
    launch(store, &lead, job.id, 400, vec![made], vec![skipped(240, 240), skipped(360, 360)]).await;
    let runs: Vec<_> = store.ledger_extract(job.id).await.unwrap().omissions;
    let runs: Vec<_> = runs.iter().map(|run| (run.from, run.to, run.count)).collect();
    assert_eq!(runs, [(at(60), at(60), 1), (at(180), at(240), 2), (at(360), at(360), 1)]);
}

pub async fn a_span_that_continues_lengthens_the_last(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    launched(store, &lead, &job, 60).await;
    launch(store, &lead, job.id, 100, Vec::new(), Vec::new()).await;
    let skipped = omission(&job, 120, 120, OmissionReason::Overlap);
    launch(store, &lead, job.id, 190, vec![instance(&job, 180)], vec![skipped]).await;
    let spans = store.ledger_extract(job.id).await.unwrap().spans;
    assert_eq!(spans.len(), 1, "{spans:?}");
    let span = &spans[0];
    assert_eq!((span.from, span.to, span.planned, span.made, span.not_made), (at(0), at(190), 3, 2, 1));
}

pub async fn a_span_begins_anew_with_version_or_zone_data(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    launched(store, &lead, &job, 60).await;
    let now = job_now(store, job.id).await;
    let mut newer_zones = launch_of(&now, 120, vec![instance(&job, 120)], Vec::new());
    newer_zones.span.zone_data = "2027a".to_owned();
    store.launch(&lead, &[newer_zones]).await.unwrap();
    let now = job_now(store, job.id).await;
    assert_eq!(carry_out(store, &lead, vec![next_version(&now)]).await, Taken::Done);
    let now = job_now(store, job.id).await;
    let mut next = launch_of(&now, 180, vec![instance(&now, 180)], Vec::new());
    next.span.zone_data = "2027a".to_owned();
    store.launch(&lead, &[next]).await.unwrap();

    let spans = store.ledger_extract(job.id).await.unwrap().spans;
    let spans: Vec<_> = spans.iter().map(|span| (span.version, span.zone_data.as_str(), span.from, span.to)).collect();
    assert_eq!(spans, [(1, "2026f", at(0), at(60)), (1, "2027a", at(60), at(120)), (2, "2027a", at(120), at(180))]);
}

pub async fn several_hundred_launches_are_one_batch(store: &dyn Store) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = (0..400).map(|n| job(&format!("job-{n}"))).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;
    assert_eq!(store.due_jobs(Partitions::ALL, at(60), 1000).await.unwrap().len(), 400);
    let launches: Vec<_> =
        jobs.iter().map(|job| launch_of(job, 60, vec![instance(job, 60), instance(job, 59)], Vec::new())).collect();
    let outcome = store.launch(&lead, &launches).await.unwrap();
    assert!(outcome.iter().all(|launched| *launched == Launched::Written { made: 2 }));
    assert_eq!(store.due_jobs(Partitions::ALL, at(60), 1000).await.unwrap(), []);
    assert_eq!(store.unassigned(Partitions::ALL, 1000).await.unwrap().len(), 400);
}

pub async fn the_oldest_of_a_job_is_unassigned_and_the_next_waits(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let other = saved(store, &lead, "other").await;
    let first = launched(store, &lead, &job, 60).await;
    let second = launched(store, &lead, &job, 120).await;
    let third = launched(store, &lead, &other, 60).await;
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 10).await.unwrap()), [first.id, third.id]);
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 1).await.unwrap()), [first.id]);

    ended(store, &lead, &first, InstanceState::Failed, 130).await;
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 10).await.unwrap()), [second.id, third.id]);
}

pub async fn an_instance_beside_others_does_not_wait(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    let waits = manual_instance(&job, 70);
    let beside = Instance { beside: true, ..manual_instance(&job, 80) };
    let changes = [&waits, &beside].map(|instance| Change::PutInstance(instance.clone()));
    assert_eq!(carry_out(store, &lead, changes.into()).await, Taken::Done);
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 10).await.unwrap()), [first.id, beside.id]);
    assigned(store, &lead, &beside).await;
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 10).await.unwrap()), [first.id]);
}

pub async fn a_running_instance_holds_back_the_next(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    let task = assigned(store, &lead, &first).await;
    let second = launched(store, &lead, &job, 120).await;
    assert_eq!(store.unassigned(Partitions::ALL, 10).await.unwrap(), []);
    let mut start = step(task, &[TaskEvent::Due, TaskEvent::Push, TaskEvent::Start], 61);
    start.moves_instance(moves(first.id, InstanceState::Running, 61));
    assert_eq!(take(store, &lead, start).await, Taken::Done);
    assert_eq!(store.unassigned(Partitions::ALL, 10).await.unwrap(), []);
    let now = store.tasks_of(first.id).await.unwrap().remove(0);
    let mut end = step(now, &[TaskEvent::Succeed], 130);
    end.moves_instance(moves(first.id, InstanceState::Succeeded, 130));
    assert_eq!(take(store, &lead, end).await, Taken::Done);
    assert_eq!(ids(&store.unassigned(Partitions::ALL, 10).await.unwrap()), [second.id]);
}

pub async fn the_newest_that_replaces_stands_behind_an_older_one(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let plain = saved(store, &lead, "plain").await;
    let replacing = |second| Instance { replaces: true, ..instance(&job, second) };
    let (first, second, third) = (replacing(60), replacing(120), replacing(180));
    launch(store, &lead, job.id, 60, vec![first.clone()], Vec::new()).await;
    assert_eq!(store.replacing(Partitions::ALL, 10).await.unwrap(), []);
    launch(store, &lead, job.id, 120, vec![second.clone()], Vec::new()).await;
    assert_eq!(ids(&store.replacing(Partitions::ALL, 10).await.unwrap()), [second.id]);
    launch(store, &lead, job.id, 180, vec![third.clone()], Vec::new()).await;
    assert_eq!(ids(&store.replacing(Partitions::ALL, 10).await.unwrap()), [third.id]);
    launched(store, &lead, &plain, 60).await;
    launched(store, &lead, &plain, 120).await;
    assert_eq!(ids(&store.replacing(Partitions::ALL, 10).await.unwrap()), [third.id]);

    for older in [&first, &second] {
        assert!(store.end_unassigned(&lead, &moves(older.id, InstanceState::Cancelled, 190)).await.unwrap());
    }
    assert_eq!(store.replacing(Partitions::ALL, 10).await.unwrap(), []);
}

pub async fn tasks_are_assigned_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    let second = launched(store, &lead, &job, 120).await;
    let assignment = |instance: &Instance, n: usize| Assignment {
        instance: instance.id,
        at: at(61),
        tasks: (0..n).map(|_| task(instance)).collect(),
    };
    let (one, two) = (assignment(&first, 2), assignment(&second, 1));
    let unknown = Assignment { instance: instance_id(), ..assignment(&second, 1) };
    let batch = [one.clone(), assignment(&first, 1), unknown, two];
    assert_eq!(store.assign(&lead, &batch).await.unwrap(), [true, false, false, true]);
    assert_eq!(store.assign(&lead, &[assignment(&first, 1)]).await.unwrap(), [false]);

    assert_eq!(store.tasks_of(first.id).await.unwrap(), one.tasks);
    assert_eq!(store.tasks_of(second.id).await.unwrap().len(), 1);
    let now = instance_now(store, first.id).await;
    assert_eq!((now.assigned_at, now.state), (Some(at(61)), InstanceState::Waiting));
}

pub async fn an_instance_that_has_ended_gets_no_tasks(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    assert!(store.end_unassigned(&lead, &moves(made.id, InstanceState::Superseded, 70)).await.unwrap());
    let late = Assignment { instance: made.id, at: at(71), tasks: vec![task(&made)] };
    assert_eq!(store.assign(&lead, &[late]).await.unwrap(), [false]);
    assert_eq!(store.tasks_of(made.id).await.unwrap(), []);
}

pub async fn an_instance_without_tasks_can_be_ended(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let busy = launched(store, &lead, &job, 120).await;
    assert!(store.end_unassigned(&lead, &moves(made.id, InstanceState::Cancelled, 70)).await.unwrap());
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.finished_at), (InstanceState::Cancelled, Some(at(70))));
    assert_eq!(job_now(store, job.id).await.last_final_at, Some(at(70)));

    assert!(!store.end_unassigned(&lead, &moves(made.id, InstanceState::Failed, 80)).await.unwrap());
    assigned(store, &lead, &busy).await;
    assert!(!store.end_unassigned(&lead, &moves(busy.id, InstanceState::Cancelled, 130)).await.unwrap());
    assert!(!store.end_unassigned(&lead, &moves(instance_id(), InstanceState::Cancelled, 130)).await.unwrap());
    assert_eq!(instance_now(store, busy.id).await.state, InstanceState::Waiting);
    assert_eq!(instance_now(store, made.id).await.state, InstanceState::Cancelled);
}

pub async fn unfinished_instances_come_oldest_first(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let other = saved(store, &lead, "other").await;
    let (done, _) = succeeded(store, &lead, &job, 60).await;
    let first = launched(store, &lead, &other, 60).await;
    let second = launched(store, &lead, &job, 120).await;
    let unfinished = store.unfinished(&[job.id, other.id]).await.unwrap();
    let waiting = InstanceState::Waiting;
    assert_eq!(unfinished, [(other.id, first.id, waiting), (job.id, second.id, waiting)]);
    assert!(unfinished.iter().all(|(_, id, _)| *id != done.id));
    assert_eq!(store.unfinished(&[job.id]).await.unwrap().len(), 1);
    assert_eq!(store.unfinished(&[]).await.unwrap(), []);
}

pub async fn keys_are_told_apart_by_their_bytes(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let long = "k".repeat(5000);
    let keys =
        ["order-1", "ORDER-1", "order-1 ", " order-1", "order-1\n", "örder-1", "o\u{308}rder-1", "ｏrder-1", &long];
    let made: Vec<Instance> =
        keys.iter().map(|key| Instance { key: (*key).to_owned(), ..manual_instance(&job, 60) }).collect();
    let changes = made.iter().cloned().map(Change::PutInstance).collect();
    assert_eq!(carry_out(store, &lead, changes).await, Taken::Done);
    for one in &made {
        assert_eq!(store.firing(job.id, Origin::Manual, &one.key).await.unwrap(), Some(one.id), "{:?}", one.key);
        assert_eq!(instance_now(store, one.id).await.key, one.key);
    }
    assert_eq!(store.firing(job.id, Origin::Manual, "order-1  ").await.unwrap(), None);
}

/// Leases do not keep each other out; the rows do.
pub async fn launches_under_two_leases_at_once_make_a_firing_once(store: &dyn Store) {
    let one = lead(store).await;
    let other = store.take_lease("other", "node-2", at(0), at(1_000_000)).await.unwrap().expect("free");
    let mut jobs = Vec::new();
    for n in 0..8 {
        jobs.push(saved(store, &one, &format!("job-{n}")).await);
    }
    let launches = |turned: bool| {
        let mut launches: Vec<_> =
            jobs.iter().map(|job| launch_of(job, 60, vec![instance(job, 60)], Vec::new())).collect();
        if turned {
            launches.reverse();
        }
        launches
    };
    let (forth, back) = (launches(false), launches(true));
    let (forth, back) = join(store.launch(&one, &forth), store.launch(&other, &back)).await;
    let (forth, mut back) = (forth.unwrap(), back.unwrap());
    back.reverse();
    for ((job, one), other) in jobs.iter().zip(forth).zip(back) {
        assert!((one == Launched::Stale) != (other == Launched::Stale), "{one:?} and {other:?}");
        let ledger = store.ledger_extract(job.id).await.unwrap();
        assert_eq!((ledger.made.len(), ledger.spans.len()), (1, 1));
    }
}

/// A launch goes from the job to the instances that it supersedes, an end from the instance to its job: where a database
/// lets the two wait for each other, nobody is told.
pub async fn launches_and_ends_at_once_all_come_to_their_end(store: &dyn Store) {
    let lead = lead(store).await;
    let mut waiting = Vec::new();
    for n in 0..10 {
        let job = saved(store, &lead, &format!("job-{n}")).await;
        let made = launched(store, &lead, &job, 60).await;
        waiting.push((job_now(store, job.id).await, made));
    }
    let launches = join_all(waiting.iter().map(async |(job, made)| {
        let mut launch = launch_of(job, 120, vec![instance(job, 120)], Vec::new());
        launch.supersedes.push(moves(made.id, InstanceState::Superseded, 120));
        store.launch(&lead, &[launch]).await.unwrap()[0]
    }));
    let ends = join_all(waiting.iter().map(async |(_, made)| {
        store.end_unassigned(&lead, &moves(made.id, InstanceState::Cancelled, 119)).await.unwrap()
    }));
    let (launches, ends) = join(launches, ends).await;
    for (((job, made), launched), ended) in waiting.iter().zip(launches).zip(ends) {
        assert_eq!(launched, Launched::Written { made: 1 });
        let state = if ended { InstanceState::Cancelled } else { InstanceState::Superseded };
        assert_eq!(instance_now(store, made.id).await.state, state);
        assert_eq!(job_now(store, job.id).await.fired_through, at(120));
        let unfinished = store.unfinished(&[job.id]).await.unwrap();
        assert_eq!(unfinished.len(), 1, "{unfinished:?}");
    }
}
