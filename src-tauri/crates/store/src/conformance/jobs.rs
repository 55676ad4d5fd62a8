//! Jobs, as the launcher finds them.

use campanile_model::Partitions;
use campanile_model::instance::InstanceState;
use campanile_model::job::Job;

use super::fixtures::*;
use crate::{Change, Store, Taken};

fn names(jobs: &[Job]) -> Vec<&str> {
    jobs.iter().map(|job| job.spec.name.as_str()).collect()
}

pub async fn due_jobs_come_earliest_first_and_paused_ones_too(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.earliest_due(Partitions::ALL).await.unwrap(), None);
    let planned = |name: &str, due: Option<i64>| Job { next_due: due.map(at), ..job(name) };
    let late = planned("late", Some(90));
    let paused = Job { paused: true, ..planned("paused", Some(30)) };
    let early = planned("early", Some(20));
    let never = planned("never", None);
    let future = planned("future", Some(91));
    save(store, &lead, &[&late, &paused, &early, &never, &future]).await;

    assert_eq!(names(&store.due_jobs(Partitions::ALL, at(90), 10).await.unwrap()), ["early", "paused", "late"]);
    assert_eq!(names(&store.due_jobs(Partitions::ALL, at(90), 2).await.unwrap()), ["early", "paused"]);
    assert_eq!(names(&store.due_jobs(Partitions::ALL, at(19), 10).await.unwrap()), Vec::<&str>::new());
    assert_eq!(store.earliest_due(Partitions::ALL).await.unwrap(), Some(at(20)));
    assert_eq!(job_now(store, paused.id).await, paused);
}

pub async fn a_removed_job_is_found_nowhere_but_in_its_versions(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "gone").await;
    assert_eq!(store.job_named("gone").await.unwrap(), Some(job.clone()));
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(job.id)]).await, Taken::Done);

    assert_eq!(store.job_named("gone").await.unwrap(), None);
    assert_eq!(store.jobs(&[job.id]).await.unwrap(), []);
    assert_eq!(store.jobs_after(None, 10).await.unwrap(), []);
    assert_eq!(store.due_jobs(Partitions::ALL, at(600), 10).await.unwrap(), []);
    assert_eq!(store.earliest_due(Partitions::ALL).await.unwrap(), None);
    let version = store.job_version(job.id, 1).await.unwrap().expect("its history stays");
    assert_eq!(version.spec, job.spec);
}

pub async fn jobs_come_in_the_order_of_their_ids(store: &dyn Store) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = ["c", "a", "b"].into_iter().map(job).collect();
    save(store, &lead, &[&jobs[2], &jobs[0], &jobs[1]]).await;
    let first = store.jobs_after(None, 2).await.unwrap();
    assert_eq!(names(&first), ["c", "a"]);
    assert_eq!(names(&store.jobs_after(Some(first[1].id), 2).await.unwrap()), ["b"]);
    assert_eq!(store.jobs_after(Some(jobs[2].id), 2).await.unwrap(), []);
}

pub async fn a_fixed_delay_job_is_idle_once_none_of_its_instances_is_left(store: &dyn Store) {
    let lead = lead(store).await;
    let idle = Job { next_due: None, ..delayed_job("idle") };
    let planned = delayed_job("planned");
    let other = Job { next_due: None, ..job("other kind") };
    save(store, &lead, &[&idle, &planned, &other]).await;
    assert_eq!(names(&store.idle_fixed_delay_jobs(Partitions::ALL, 10).await.unwrap()), ["idle"]);

    let job = job_now(store, planned.id).await;
    let made = instance(&job, 60);
    let mut launch = launch_of(&job, 60, vec![made.clone()], Vec::new());
    launch.next_due = None;
    store.launch(&lead, &[launch]).await.unwrap();
    assert_eq!(names(&store.idle_fixed_delay_jobs(Partitions::ALL, 10).await.unwrap()), ["idle"]);

    ended(store, &lead, &made, InstanceState::Failed, 70).await;
    assert_eq!(names(&store.idle_fixed_delay_jobs(Partitions::ALL, 10).await.unwrap()), ["idle", "planned"]);
    assert_eq!(store.idle_fixed_delay_jobs(Partitions::ALL, 1).await.unwrap().len(), 1);
}

pub async fn the_next_time_of_a_fixed_delay_is_set_once(store: &dyn Store) {
    let lead = lead(store).await;
    let idle = Job { next_due: None, ..delayed_job("idle") };
    save(store, &lead, &[&idle]).await;
    assert!(!store.plan_next(&lead, idle.id, 2, at(90)).await.unwrap());
    assert_eq!(job_now(store, idle.id).await.next_due, None);
    assert!(store.plan_next(&lead, idle.id, 1, at(90)).await.unwrap());
    assert!(!store.plan_next(&lead, idle.id, 1, at(99)).await.unwrap());
    assert_eq!(job_now(store, idle.id).await.next_due, Some(at(90)));
    assert_eq!(store.earliest_due(Partitions::ALL).await.unwrap(), Some(at(90)));
}

pub async fn every_version_is_kept_in_the_form_it_had(store: &dyn Store) {
    let lead = lead(store).await;
    let first = saved(store, &lead, "report").await;
    let other = saved(store, &lead, "weekly").await;
    let mut second = Job { version: 2, saved_at: at(50), ..first.clone() };
    second.spec.description = "monthly".to_owned();
    let change = Change::PutJob { job: second.clone(), seen_version: Some(1), by: "lin".to_owned() };
    assert_eq!(carry_out(store, &lead, vec![change]).await, Taken::Done);

    let old = store.job_version(first.id, 1).await.unwrap().expect("kept");
    assert_eq!((&old.spec, old.saved_at, old.saved_by.as_str()), (&first.spec, at(0), "mei"));
    let new = store.job_version(first.id, 2).await.unwrap().expect("kept");
    assert_eq!((&new.spec, new.saved_at, new.saved_by.as_str()), (&second.spec, at(50), "lin"));
    assert_eq!(store.job_version(first.id, 3).await.unwrap(), None);

    let asked = [(first.id, 1), (first.id, 3), (other.id, 1), (job_id(), 1), (first.id, 2)];
    let mut found = store.job_versions(&asked).await.unwrap();
    found.sort_by(|a, b| (&a.spec.name, a.version).cmp(&(&b.spec.name, b.version)));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[..2], [old, new]);
    assert_eq!((found[2].job, found[2].version), (other.id, 1));
    assert_eq!(store.job_versions(&[]).await.unwrap(), []);
    assert_eq!(job_now(store, first.id).await, second);
}

pub async fn names_are_told_apart_by_their_bytes(store: &dyn Store) {
    let lead = lead(store).await;
    let names = ["Strasse", "strasse", "Straße", "STRASSE", "cafe\u{301}", "caf\u{e9}", "任务", "任務", "ａ", "a"];
    let jobs: Vec<Job> = names.into_iter().map(job).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;
    for saved in &jobs {
        assert_eq!(store.job_named(&saved.spec.name).await.unwrap().map(|job| job.id), Some(saved.id));
    }
    for stranger in ["sTRASSE", "cafe", "A", "a ", " a", ""] {
        assert_eq!(store.job_named(stranger).await.unwrap(), None, "{stranger:?}");
    }
}
