//! Requests: asked once, answered once, carried out wholly or not at all.

use campanile_model::alarm::Severity;
use campanile_model::instance::{Instance, InstanceState};
use campanile_model::job::Job;
use campanile_model::request::{Answer, Ask, Done, Request};
use campanile_model::task::{TaskEvent, TaskState};
use futures::future::{join, join_all};
use serde_json::json;

use super::fixtures::*;
use crate::{CarriedOut, Change, Store, Taken};

fn carried_out(request: &Request, changes: Vec<Change>) -> CarriedOut {
    CarriedOut { request: request.id, changes, answer: done(), audit: Vec::new() }
}

pub async fn asking_twice_is_asking_once(store: &dyn Store) {
    let first = Request { ask: Ask::Hold { reason: "a fire".to_owned() }, ..request() };
    let second = Request { ask: Ask::Release, id: first.id, ..request() };
    store.ask(&first).await.unwrap();
    store.ask(&second).await.unwrap();
    assert_eq!(store.open_requests(10).await.unwrap(), [first]);
}

pub async fn requests_are_open_in_the_order_they_were_asked_until_answered(store: &dyn Store) {
    let lead = lead(store).await;
    let requests = [request(), request(), request()];
    for request in [&requests[1], &requests[0], &requests[2]] {
        store.ask(request).await.unwrap();
    }
    let open = store.open_requests(10).await.unwrap();
    assert_eq!(open, [requests[1].clone(), requests[0].clone(), requests[2].clone()]);
    assert_eq!(store.open_requests(1).await.unwrap(), open[..1]);
    assert_eq!(store.answer(requests[1].id).await.unwrap(), None);
    assert_eq!(store.answer(request_id()).await.unwrap(), None);

    let answer = Answer::Done(Done { jobs: vec![job_id()], instances: vec![instance_id()], changed: 2 });
    let outcome = CarriedOut { answer: answer.clone(), ..carried_out(&requests[1], Vec::new()) };
    assert_eq!(store.carry_out(&lead, &outcome).await.unwrap(), Taken::Done);
    assert_eq!(store.answer(requests[1].id).await.unwrap(), Some(answer));
    assert_eq!(store.open_requests(10).await.unwrap(), open[1..]);
    // Asked again under the same id, it has its answer already.
    store.ask(&requests[1]).await.unwrap();
    assert_eq!(store.open_requests(10).await.unwrap(), open[1..]);

    let refused = Answer::Refused(campanile_model::Code::JobNotFound.fault());
    let outcome = CarriedOut { answer: refused.clone(), ..carried_out(&requests[0], Vec::new()) };
    assert_eq!(store.carry_out(&lead, &outcome).await.unwrap(), Taken::Done);
    assert_eq!(store.answer(requests[0].id).await.unwrap(), Some(refused));
}

pub async fn a_request_is_answered_once(store: &dyn Store) {
    let lead = lead(store).await;
    let request = request();
    store.ask(&request).await.unwrap();
    let with = |job: &Job| carried_out(&request, vec![new_job(job)]);
    let (one, two) = (job("one"), job("two"));
    let (first, second) = (with(&one), with(&two));
    let (first, second) = join(store.carry_out(&lead, &first), store.carry_out(&lead, &second)).await;
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!((first == Taken::Done) != (second == Taken::Done), "{first:?} and {second:?}");
    assert_eq!(store.jobs(&[one.id, two.id]).await.unwrap().len(), 1);
    let late = carried_out(&request, vec![new_job(&job("three"))]);
    assert_eq!(store.carry_out(&lead, &late).await.unwrap(), Taken::Lost);
    assert_eq!(store.job_named("three").await.unwrap(), None);
}

pub async fn a_request_that_nobody_asked_is_not_carried_out(store: &dyn Store) {
    let lead = lead(store).await;
    let unknown = carried_out(&request(), vec![new_job(&job("job"))]);
    assert_eq!(store.carry_out(&lead, &unknown).await.unwrap(), Taken::Lost);
    assert_eq!(store.job_named("job").await.unwrap(), None);
}

pub async fn changes_are_written_all_or_none(store: &dyn Store) {
    let lead = lead(store).await;
    let known = saved(store, &lead, "known").await;
    let request = request();
    store.ask(&request).await.unwrap();
    let changes = vec![
        new_job(&job("new")),
        Change::PauseJob { job: known.id, paused: true },
        Change::PutInstance(manual_instance(&known, 60)),
        Change::Set { key: "theme".to_owned(), value: json!("dark") },
        Change::PutAlarm(alarm("job:known", Severity::Info, 0)),
        // The name is taken: everything is lost with it.
        new_job(&job("known")),
    ];
    assert_eq!(store.carry_out(&lead, &carried_out(&request, changes.clone())).await.unwrap(), Taken::Lost);
    assert_eq!(store.job_named("new").await.unwrap(), None);
    assert_eq!(job_now(store, known.id).await, known);
    assert_eq!(store.unfinished(&[known.id]).await.unwrap(), []);
    assert_eq!(store.setting("theme").await.unwrap(), None);
    assert_eq!(store.open_alarms().await.unwrap(), []);
    assert_eq!(store.answer(request.id).await.unwrap(), None);
    assert_eq!(store.open_requests(10).await.unwrap(), std::slice::from_ref(&request));

    let rest = changes[..5].to_vec();
    assert_eq!(store.carry_out(&lead, &carried_out(&request, rest)).await.unwrap(), Taken::Done);
    assert!(store.job_named("new").await.unwrap().is_some());
    assert!(job_now(store, known.id).await.paused);
    assert_eq!(store.unfinished(&[known.id]).await.unwrap().len(), 1);
    assert_eq!(store.setting("theme").await.unwrap(), Some(json!("dark")));
    assert_eq!(store.open_alarms().await.unwrap().len(), 1);
}

pub async fn a_new_job_is_not_written_over_another(store: &dyn Store) {
    let lead = lead(store).await;
    let first = saved(store, &lead, "job").await;
    assert_eq!(carry_out(store, &lead, vec![new_job(&job("job"))]).await, Taken::Lost);
    let mut same_id = first.clone();
    same_id.spec.name = "renamed".to_owned();
    assert_eq!(carry_out(store, &lead, vec![new_job(&same_id)]).await, Taken::Lost);
    let two = vec![new_job(&job("twin")), new_job(&job("twin"))];
    assert_eq!(carry_out(store, &lead, two).await, Taken::Lost);
    assert_eq!(store.jobs_after(None, 10).await.unwrap(), [first]);
}

pub async fn a_version_is_written_over_the_one_that_was_seen(store: &dyn Store) {
    let lead = lead(store).await;
    let first = saved(store, &lead, "job").await;
    let other = saved(store, &lead, "other").await;
    let mut second = Job { version: 2, saved_at: at(30), next_due: Some(at(90)), ..first.clone() };
    second.spec.name = "renamed".to_owned();
    let put = |job: &Job, seen| Change::PutJob { job: job.clone(), seen_version: Some(seen), by: "lin".to_owned() };
    assert_eq!(carry_out(store, &lead, vec![put(&second, 1)]).await, Taken::Done);
    assert_eq!(job_now(store, first.id).await, second);
    assert_eq!(store.job_named("job").await.unwrap(), None);
    assert_eq!(store.job_named("renamed").await.unwrap(), Some(second.clone()));

    assert_eq!(carry_out(store, &lead, vec![put(&second, 1)]).await, Taken::Lost);
    let mut taken_name = Job { version: 3, ..second.clone() };
    taken_name.spec.name = other.spec.name.clone();
    assert_eq!(carry_out(store, &lead, vec![put(&taken_name, 2)]).await, Taken::Lost);
    assert_eq!(carry_out(store, &lead, vec![put(&job("unknown"), 1)]).await, Taken::Lost);
    assert_eq!(job_now(store, first.id).await, second);
}

pub async fn the_name_of_a_removed_job_is_free(store: &dyn Store) {
    let lead = lead(store).await;
    let old = saved(store, &lead, "job").await;
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(old.id)]).await, Taken::Done);
    let next = Change::PutJob { job: Job { version: 2, ..old.clone() }, seen_version: Some(1), by: "lin".to_owned() };
    assert_eq!(carry_out(store, &lead, vec![next]).await, Taken::Lost);
    let new = job("job");
    assert_eq!(carry_out(store, &lead, vec![new_job(&new)]).await, Taken::Done);
    assert_eq!(store.job_named("job").await.unwrap(), Some(new));
    // Its history is not mixed with the old one's.
    assert!(store.job_version(old.id, 1).await.unwrap().is_some());
}

pub async fn pausing_makes_no_version_and_a_version_does_not_end_a_pause(store: &dyn Store) {
    let lead = lead(store).await;
    let first = saved(store, &lead, "job").await;
    let pause = |paused| Change::PauseJob { job: first.id, paused };
    assert_eq!(carry_out(store, &lead, vec![pause(true)]).await, Taken::Done);
    assert_eq!(job_now(store, first.id).await, Job { paused: true, ..first.clone() });
    assert_eq!(store.job_version(first.id, 2).await.unwrap(), None);
    assert_eq!(carry_out(store, &lead, vec![next_version(&first)]).await, Taken::Done);
    let now = job_now(store, first.id).await;
    assert_eq!((now.version, now.paused), (2, true));
    assert_eq!(carry_out(store, &lead, vec![pause(false)]).await, Taken::Done);
    assert!(!job_now(store, first.id).await.paused);
}

pub async fn what_was_fired_is_never_unfired(store: &dyn Store) {
    let lead = lead(store).await;
    let seen = saved(store, &lead, "job").await;
    succeeded(store, &lead, &seen, 120).await;
    // The clerk read the job before the launch: its version is the same, its times are old.
    assert_eq!(carry_out(store, &lead, vec![next_version(&seen)]).await, Taken::Done);
    let now = job_now(store, seen.id).await;
    assert_eq!((now.version, now.fired_through, now.last_final_at), (2, at(120), Some(at(121))));
    let ahead = Job { fired_through: at(500), ..now };
    assert_eq!(carry_out(store, &lead, vec![next_version(&ahead)]).await, Taken::Done);
    assert_eq!(job_now(store, seen.id).await.fired_through, at(500));
}

pub async fn an_instance_that_a_person_asked_for_is_made_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = manual_instance(&job, 60);
    let again = Instance { key: first.key.clone(), ..manual_instance(&job, 70) };
    for instance in [&first, &again] {
        assert_eq!(carry_out(store, &lead, vec![Change::PutInstance(instance.clone())]).await, Taken::Done);
    }
    assert_eq!(instance_now(store, first.id).await, first);
    assert_eq!(store.instances(&[again.id]).await.unwrap(), []);
    // What a person asked for is no business of the ledger.
    assert_eq!(store.ledger_extract(job.id).await.unwrap().made, []);
}

pub async fn a_step_asked_for_is_lost_where_the_task_has_moved(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let task = assigned(store, &lead, &made).await;
    let ready = moved(store, &lead, &task, &[TaskEvent::Due], 61).await;
    let cancel = |task| Change::Step(step(task, &[TaskEvent::Cancel], 62));
    let pause = Change::PauseJob { job: job.id, paused: true };
    assert_eq!(carry_out(store, &lead, vec![pause.clone(), cancel(task)]).await, Taken::Lost);
    assert!(!job_now(store, job.id).await.paused);
    assert_eq!(carry_out(store, &lead, vec![pause, cancel(ready.clone())]).await, Taken::Done);
    assert_eq!(task_now(store, ready.id).await.state(), TaskState::Cancelled);
}

pub async fn several_steps_asked_for_are_taken_together(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks: Vec<_> = (0..3).map(|_| task(&made)).collect();
    assign(store, &lead, &made, tasks.clone()).await;
    let cancel = |n: usize| Change::Step(step(tasks[n].clone(), &[TaskEvent::Cancel], 62));
    let set = Change::Set { key: "k".to_owned(), value: json!(1) };
    // The second time, one of them has moved.
    assert_eq!(carry_out(store, &lead, vec![cancel(0)]).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![cancel(1), cancel(0), cancel(2)]).await, Taken::Lost);
    assert_eq!(task_now(store, tasks[1].id).await.state(), TaskState::Waiting);
    assert_eq!(carry_out(store, &lead, vec![cancel(1), set, cancel(2)]).await, Taken::Done);
    for task in &tasks {
        assert_eq!(task_now(store, task.id).await.state(), TaskState::Cancelled);
    }
}

pub async fn an_instance_with_tasks_is_not_ended_unassigned(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let busy = launched(store, &lead, &job, 60).await;
    assigned(store, &lead, &busy).await;
    let waiting = launched(store, &lead, &job, 120).await;
    let end =
        |instance: campanile_model::InstanceId| Change::EndUnassigned(moves(instance, InstanceState::Cancelled, 130));
    assert_eq!(carry_out(store, &lead, vec![end(waiting.id), end(busy.id)]).await, Taken::Lost);
    assert_eq!(instance_now(store, waiting.id).await.state, InstanceState::Waiting);
    assert_eq!(carry_out(store, &lead, vec![end(waiting.id)]).await, Taken::Done);
    assert_eq!(instance_now(store, waiting.id).await.state, InstanceState::Cancelled);
    assert_eq!(carry_out(store, &lead, vec![end(waiting.id)]).await, Taken::Lost);
}

pub async fn an_alarm_that_has_changed_is_not_acknowledged(store: &dyn Store) {
    let lead = lead(store).await;
    let new = alarm("job:a", Severity::Warning, 0);
    assert_eq!(store.put_alarms(&lead, std::slice::from_ref(&new), None).await.unwrap(), Taken::Done);
    let seen = store.alarms(&[new.id]).await.unwrap().remove(0);
    assert_eq!(store.put_alarms(&lead, std::slice::from_ref(&seen), None).await.unwrap(), Taken::Done);
    let acknowledge = |alarm: campanile_model::alarm::Alarm| Change::PutAlarm(alarm.acknowledge("mei", "on it", at(9)));
    assert_eq!(carry_out(store, &lead, vec![acknowledge(seen)]).await, Taken::Lost);
    let seen = store.alarms(&[new.id]).await.unwrap().remove(0);
    assert_eq!(carry_out(store, &lead, vec![acknowledge(seen)]).await, Taken::Done);
    let now = store.alarms(&[new.id]).await.unwrap().remove(0);
    assert_eq!((now.fence, now.acknowledged.map(|by| by.note)), (3, Some("on it".to_owned())));
}

pub async fn a_setting_is_written_over(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.setting("retention").await.unwrap(), None);
    assert_eq!(store.settings().await.unwrap(), []);
    let set = |key: &str, value| Change::Set { key: key.to_owned(), value };
    let changes = vec![set("retention", json!({"days": 30})), set("hold", json!(null))];
    assert_eq!(carry_out(store, &lead, changes).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![set("retention", json!({"days": 7}))]).await, Taken::Done);
    assert_eq!(store.setting("retention").await.unwrap(), Some(json!({"days": 7})));
    let mut all = store.settings().await.unwrap();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(all, [("hold".to_owned(), json!(null)), ("retention".to_owned(), json!({"days": 7}))]);
}

pub async fn of_requests_at_once_for_the_same_firing_one_makes_it(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made: Vec<Instance> =
        (0..8).map(|_| Instance { key: "order-1".to_owned(), ..manual_instance(&job, 60) }).collect();
    let puts = made.iter().map(|one| carry_out(store, &lead, vec![Change::PutInstance(one.clone())]));
    assert!(join_all(puts).await.into_iter().all(|taken| taken == Taken::Done));
    let there = store.instances(&made.iter().map(|one| one.id).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(there.len(), 1);
    assert_eq!(store.firing(job.id, made[0].origin, "order-1").await.unwrap(), Some(there[0].id));
}

pub async fn of_jobs_of_one_name_at_once_one_is_written(store: &dyn Store) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = (0..6).map(|_| job("report")).collect();
    let puts = jobs.iter().map(|job| carry_out(store, &lead, vec![new_job(job)]));
    let taken = join_all(puts).await;
    assert_eq!(taken.iter().filter(|taken| **taken == Taken::Done).count(), 1);
    let there = store.jobs(&jobs.iter().map(|job| job.id).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(there.len(), 1);
    assert_eq!(store.job_named("report").await.unwrap().map(|job| job.id), Some(there[0].id));
}
