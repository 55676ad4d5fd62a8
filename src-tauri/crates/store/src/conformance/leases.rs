//! Leases, and that every write shows one.

use campanile_model::alarm::Severity;
use campanile_model::instance::{Instance, InstanceState};
use campanile_model::task::TaskEvent;
use futures::future::{join, join_all};

use super::fixtures::*;
use crate::{Assignment, CarriedOut, Launched, Lead, Purge, Store, StoreError};

pub async fn a_free_lease_is_taken_and_seen(store: &dyn Store) {
    assert_eq!(store.lease("engine").await.unwrap(), None);
    let lead = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    assert_eq!((lead.lease.as_str(), lead.holder.as_str()), ("engine", "a"));
    let row = store.lease("engine").await.unwrap().expect("taken");
    assert_eq!((row.lead, row.until), (lead, at(10)));
    assert_eq!(store.take_lease("engine", "b", at(9), at(20)).await.unwrap(), None);
}

pub async fn of_several_that_ask_at_once_one_gets_it(store: &dyn Store) {
    let holders: Vec<String> = (0..16).map(|n| format!("node-{n}")).collect();
    let asked = holders.iter().map(|holder| store.take_lease("engine", holder, at(0), at(10)));
    let leads: Vec<Lead> = join_all(asked).await.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(leads.len(), 1);
    assert_eq!(store.lease("engine").await.unwrap().unwrap().lead, leads[0]);
}

pub async fn a_lease_passes_on_once_its_end_has_come_and_its_term_grows(store: &dyn Store) {
    let first = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let second = store.take_lease("engine", "b", at(10), at(20)).await.unwrap().expect("past its end");
    assert!(second.term > first.term);
    assert_eq!(store.take_lease("engine", "a", at(11), at(30)).await.unwrap(), None);
}

pub async fn its_holder_keeps_its_term_while_it_has_it(store: &dyn Store) {
    let first = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let again = store.take_lease("engine", "a", at(5), at(15)).await.unwrap().expect("its own");
    assert_eq!(again, first);
    assert!(store.keep_lease(&first, at(25)).await.unwrap());
    assert_eq!(store.lease("engine").await.unwrap().unwrap().until, at(25));
}

pub async fn its_holder_gets_a_new_term_once_it_has_run_out(store: &dyn Store) {
    let first = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let again = store.take_lease("engine", "a", at(10), at(20)).await.unwrap().expect("past its end");
    assert!(again.term > first.term);
    assert!(!store.keep_lease(&first, at(30)).await.unwrap());
}

pub async fn one_that_ran_out_is_still_kept_while_nobody_took_it(store: &dyn Store) {
    let lead = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    assert!(store.keep_lease(&lead, at(110)).await.unwrap());
    assert_eq!(store.take_lease("engine", "b", at(100), at(200)).await.unwrap(), None);
}

pub async fn one_that_passed_on_is_not_kept(store: &dyn Store) {
    let old = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let new = store.take_lease("engine", "b", at(10), at(20)).await.unwrap().expect("past its end");
    assert!(!store.keep_lease(&old, at(99)).await.unwrap());
    assert_eq!(store.lease("engine").await.unwrap().unwrap().until, at(20));
    assert!(store.keep_lease(&new, at(30)).await.unwrap());
}

pub async fn a_released_lease_is_free_at_once(store: &dyn Store) {
    let old = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    store.release_lease(&old).await.unwrap();
    assert!(!store.keep_lease(&old, at(20)).await.unwrap());
    let row = store.lease("engine").await.unwrap().expect("someone had it");
    assert_eq!((row.lead.holder.as_str(), row.until.millis()), ("a", 0));
    let new = store.take_lease("engine", "b", at(1), at(10)).await.unwrap().expect("released");
    assert!(new.term > old.term);
}

pub async fn giving_up_one_that_passed_on_changes_nothing(store: &dyn Store) {
    let old = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let new = store.take_lease("engine", "b", at(10), at(20)).await.unwrap().expect("past its end");
    store.release_lease(&old).await.unwrap();
    let row = store.lease("engine").await.unwrap().unwrap();
    assert_eq!((row.lead, row.until), (new, at(20)));
}

pub async fn leases_do_not_touch_each_other(store: &dyn Store) {
    let one = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let other = store.take_lease("sweeper", "b", at(0), at(10)).await.unwrap().expect("free");
    store.release_lease(&one).await.unwrap();
    assert!(store.keep_lease(&other, at(20)).await.unwrap());
}

/// Every write there is, under `old`, must be refused and leave everything as it was.
async fn refused_everywhere(store: &dyn Store, old: &Lead, new: &Lead) {
    let job = saved(store, new, "refused").await;
    let idle = delayed_job("idle");
    let idle = campanile_model::job::Job { next_due: None, ..idle };
    save(store, new, &[&idle]).await;
    let (made, task) = succeeded(store, new, &job, 60).await;
    let open = launched(store, new, &job, 120).await;
    let waiting = launched(store, new, &job, 180).await;
    let before = job_now(store, job.id).await;

    let refused = |outcome: Result<(), StoreError>| match outcome {
        Err(StoreError::Fenced(lease)) => assert_eq!(lease, old.lease),
        other => panic!("an old term got {other:?}"),
    };

    let launch = launch_of(&before, 240, vec![instance(&job, 240)], Vec::new());
    refused(store.launch(old, &[launch]).await.map(drop));
    refused(store.plan_next(old, idle.id, 1, at(300)).await.map(drop));
    let assignment = Assignment { instance: open.id, at: at(120), tasks: vec![super::fixtures::task(&open)] };
    refused(store.assign(old, &[assignment]).await.map(drop));
    refused(store.end_unassigned(old, &moves(waiting.id, InstanceState::Cancelled, 200)).await.map(drop));
    let live = assigned(store, new, &open).await;
    refused(store.take(old, &[step(live.clone(), &[TaskEvent::Due], 130)]).await.map(drop));
    refused(store.put_alarms(old, &[alarm("job:refused", Severity::Warning, 0)], Some(99)).await.map(drop));
    let request = request();
    store.ask(&request).await.unwrap();
    let done = CarriedOut { request: request.id, changes: Vec::new(), answer: done(), audit: Vec::new() };
    refused(store.carry_out(old, &done).await.map(drop));
    let purge = Purge {
        instances_before: at(1_000_000),
        keep_per_job: 0,
        requests_before: at(1_000_000),
        incidents_before: at(1_000_000),
        alarms_before: at(1_000_000),
        staged_before: at(1_000_000),
        passes_before: at(1_000_000),
        limit: 100,
    };
    refused(store.purge(old, &purge).await.map(drop));

    assert_eq!(job_now(store, job.id).await, before);
    assert_eq!(job_now(store, idle.id).await.next_due, None);
    assert_eq!(task_now(store, live.id).await.fence(), 0);
    assert_eq!(instance_now(store, waiting.id).await.state, InstanceState::Waiting);
    assert_eq!(store.answer(request.id).await.unwrap(), None);
    assert_eq!(store.open_alarms().await.unwrap(), []);
    assert_eq!(store.tasks_of(made.id).await.unwrap().len(), 1);
    assert_eq!(task_now(store, task.id).await, task);
}

pub async fn an_old_term_is_refused_everywhere(store: &dyn Store) {
    let old = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let new = store.take_lease("engine", "b", at(10), at(1_000_000)).await.unwrap().expect("past its end");
    refused_everywhere(store, &old, &new).await;
    // The same holder under an earlier term is no better.
    store.release_lease(&new).await.unwrap();
    let newest = store.take_lease("engine", "b", at(10), at(1_000_000)).await.unwrap().expect("released");
    let alarms = store.put_alarms(&new, &[], None).await;
    assert!(matches!(alarms, Err(StoreError::Fenced(_))), "{alarms:?}");
    assert!(store.put_alarms(&newest, &[], None).await.is_ok());
}

pub async fn a_released_term_is_refused(store: &dyn Store) {
    let lead = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    assert!(store.put_alarms(&lead, &[], None).await.is_ok());
    store.release_lease(&lead).await.unwrap();
    let refused = store.put_alarms(&lead, &[], None).await;
    assert!(matches!(refused, Err(StoreError::Fenced(_))), "{refused:?}");
    let unknown = Lead::of("nobody's", "a", 1);
    assert!(matches!(store.put_alarms(&unknown, &[], None).await, Err(StoreError::Fenced(_))));
}

/// A store has no clock: only whoever takes the lease ends a term.
pub async fn a_term_that_ran_out_writes_while_nobody_took_it(store: &dyn Store) {
    let lead = store.take_lease("engine", "a", at(0), at(1)).await.unwrap().expect("free");
    let job = saved(store, &lead, "late").await;
    launched(store, &lead, &job, 600).await;
}

/// Two that both believe they lead: whatever the old one still writes is there before the new one begins, and so the
/// new one sees it.
pub async fn what_an_old_leader_writes_is_written_before_the_new_one_leads(store: &dyn Store) {
    let old = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().expect("free");
    let mut jobs = Vec::new();
    for n in 0..12 {
        jobs.push(saved(store, &old, &format!("job-{n}")).await);
    }
    let writes = join_all(jobs.iter().map(async |job| {
        let launch = launch_of(job, 60, vec![instance(job, 60)], Vec::new());
        store.launch(&old, &[launch]).await
    }));
    let takes_over = async {
        let new = store.take_lease("engine", "b", at(10), at(1_000_000)).await.unwrap().expect("past its end");
        let seen = store.jobs(&jobs.iter().map(|job| job.id).collect::<Vec<_>>()).await.unwrap();
        (new, seen)
    };
    let (written, (new, seen)) = join(writes, takes_over).await;
    let mut written_jobs = Vec::new();
    for (job, outcome) in jobs.iter().zip(written) {
        match outcome {
            Ok(launched) => {
                assert_eq!(launched, [Launched::Written { made: 1 }]);
                written_jobs.push(job.id);
            }
            Err(StoreError::Fenced(lease)) => assert_eq!(lease, "engine"),
            Err(other) => panic!("{other:?}"),
        }
    }
    let mut seen_fired: Vec<_> = seen.iter().filter(|job| job.fired_through == at(60)).map(|job| job.id).collect();
    seen_fired.sort();
    assert_eq!(seen_fired, written_jobs);
    for job in &seen {
        let through = job.fired_through.max(at(60)).plus_seconds(60);
        let made = Instance { key: through.millis().to_string(), planned: through, ..instance(job, 120) };
        let launch = crate::Launch { fired_through: through, ..launch_of(job, 120, vec![made], Vec::new()) };
        assert_eq!(store.launch(&new, &[launch]).await.unwrap(), [Launched::Written { made: 1 }]);
    }
    let late = launch_of(&jobs[0], 60, vec![instance(&jobs[0], 60)], Vec::new());
    assert!(matches!(store.launch(&old, &[late]).await, Err(StoreError::Fenced(_))));
}
