//! Firings that no clock plans: each comes about once, with what brought it about.

use campanile_model::backfill::{Backfill, BackfillEnd, BackfillState};
use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin};
use campanile_model::job::Job;
use campanile_model::question::{Question, QuestionAnswer};
use campanile_model::{InstanceId, Partitions, QuestionId, RequestId, Timestamp};
use futures::future::join;
use serde_json::json;

use super::fixtures::*;
use crate::{Cause, Change, Launched, Purge, Store, Taken, Unplanned};

fn after(name: &str, upstream: &[&str]) -> Job {
    let mut job = job(name);
    let schedule = json!({"kind": "after", "jobs": upstream});
    job.spec.schedule = serde_json::from_value(schedule).expect("a schedule");
    job.next_due = None;
    job
}

fn follows(job: &Job, used: Vec<i64>, kept: Vec<i64>, instances: Vec<Instance>) -> Unplanned {
    Unplanned {
        job: job.id,
        version: job.version,
        cause: Cause::Endings { used, kept },
        instances,
        supersedes: Vec::new(),
        omissions: Vec::new(),
        questions: Vec::new(),
        incidents: Vec::new(),
    }
}

fn following(job: &Job, second: i64, upstream: &Instance) -> Instance {
    Instance { origin: Origin::After, key: upstream.id.to_string(), ..instance(job, second) }
}

async fn waiting(store: &dyn Store) -> Vec<(i64, InstanceId, InstanceState, bool)> {
    let endings = store.endings(Partitions::ALL, 100).await.unwrap();
    endings.into_iter().map(|ending| (ending.seq, ending.instance, ending.state, ending.kept)).collect()
}

pub async fn the_end_of_an_instance_waits_for_every_job_that_runs_after_its_own(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    let other = saved(store, &lead, "other").await;
    let (one, two) = (after("one", &["load"]), after("two", &["load", "other"]));
    save(store, &lead, &[&one, &two]).await;
    let (first, _) = succeeded(store, &lead, &load, 60).await;
    let second = launched(store, &lead, &load, 120).await;
    assert!(store.end_unassigned(&lead, &moves(second.id, InstanceState::Cancelled, 121)).await.unwrap());
    let third = launched(store, &lead, &other, 60).await;
    ended(store, &lead, &third, InstanceState::Failed, 130).await;
    let superseded = launched(store, &lead, &other, 120).await;
    assert!(store.end_unassigned(&lead, &moves(superseded.id, InstanceState::Superseded, 140)).await.unwrap());

    let mut found = store.endings(Partitions::ALL, 100).await.unwrap();
    found.sort_by_key(|ending| (ending.at, ending.job));
    let told: Vec<_> = found.iter().map(|ending| (ending.job, ending.instance, ending.state, ending.at)).collect();
    let expected = [
        (one.id, first.id, InstanceState::Succeeded, at(61)),
        (two.id, first.id, InstanceState::Succeeded, at(61)),
        (one.id, second.id, InstanceState::Cancelled, at(121)),
        (two.id, second.id, InstanceState::Cancelled, at(121)),
        (two.id, third.id, InstanceState::Failed, at(130)),
    ];
    assert_eq!(told, expected);
    assert!(found.iter().all(|ending| !ending.kept));
    assert_eq!(found[0].upstream, load.id);
    assert_eq!(store.endings(Partitions::ALL, 1).await.unwrap().len(), 1);
}

pub async fn an_end_that_a_person_brings_about_waits_too(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    save(store, &lead, &[&after("one", &["load"])]).await;
    let made = launched(store, &lead, &load, 60).await;
    let end = Change::EndUnassigned(moves(made.id, InstanceState::Cancelled, 70));
    assert_eq!(carry_out(store, &lead, vec![end]).await, Taken::Done);
    assert_eq!(waiting(store).await.len(), 1);
}

pub async fn what_follows_is_written_with_the_end_it_uses_up(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    let next = after("next", &["load"]);
    save(store, &lead, &[&next]).await;
    let (upstream, _) = succeeded(store, &lead, &load, 60).await;
    let seq = waiting(store).await[0].0;
    let made = following(&next, 61, &upstream);
    let unplanned = Unplanned {
        questions: vec![question(&next, 1, 70)],
        ..follows(&next, vec![seq], Vec::new(), vec![made.clone()])
    };
    let stale = Unplanned { version: 9, ..unplanned.clone() };
    assert_eq!(store.launch_unplanned(&lead, &[stale]).await.unwrap(), [Launched::Stale]);
    assert_eq!(waiting(store).await.len(), 1);

    let written = store.launch_unplanned(&lead, std::slice::from_ref(&unplanned)).await.unwrap();
    assert_eq!(written, [Launched::Written { made: 1 }]);
    assert_eq!(waiting(store).await, []);
    assert_eq!(store.open_questions(10).await.unwrap(), [question(&next, 1, 70)]);
    assert_eq!(instance_now(store, made.id).await.upstream(), [upstream.id]);
    let again = Unplanned { instances: vec![following(&next, 61, &upstream)], ..unplanned };
    assert_eq!(store.launch_unplanned(&lead, &[again]).await.unwrap(), [Launched::Stale]);
    assert_eq!(store.unfinished(&[next.id]).await.unwrap().len(), 1);
}

pub async fn of_two_that_follow_one_end_one_is_written(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    let next = after("next", &["load"]);
    save(store, &lead, &[&next]).await;
    let (upstream, _) = succeeded(store, &lead, &load, 60).await;
    let seq = waiting(store).await[0].0;
    let one = [follows(&next, vec![seq], Vec::new(), vec![following(&next, 61, &upstream)])];
    let other = [follows(&next, vec![seq], Vec::new(), vec![following(&next, 61, &upstream)])];
    let (one, other) = join(store.launch_unplanned(&lead, &one), store.launch_unplanned(&lead, &other)).await;
    let (one, other) = (one.unwrap()[0], other.unwrap()[0]);
    assert!((one == Launched::Stale) != (other == Launched::Stale), "{one:?} and {other:?}");
    assert_eq!(store.unfinished(&[next.id]).await.unwrap().len(), 1);
}

pub async fn an_end_that_is_kept_comes_again_with_the_next_one(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    let clean = saved(store, &lead, "clean").await;
    let next = after("next", &["load", "clean"]);
    save(store, &lead, &[&next]).await;
    let (first, _) = succeeded(store, &lead, &load, 60).await;
    let seq = waiting(store).await[0].0;
    let kept = follows(&next, Vec::new(), vec![seq], Vec::new());
    assert_eq!(store.launch_unplanned(&lead, &[kept]).await.unwrap(), [Launched::Written { made: 0 }]);
    assert_eq!(waiting(store).await, [], "it waits for others, and nobody need look at it");

    let (second, _) = succeeded(store, &lead, &clean, 60).await;
    let found = waiting(store).await;
    let told: Vec<_> = found.iter().map(|(_, instance, _, kept)| (*instance, *kept)).collect();
    assert_eq!(told, [(first.id, true), (second.id, false)]);
    let used = found.iter().map(|(seq, ..)| *seq).collect();
    let both = follows(&next, used, Vec::new(), vec![following(&next, 62, &second)]);
    assert_eq!(store.launch_unplanned(&lead, &[both]).await.unwrap(), [Launched::Written { made: 1 }]);
    assert_eq!(waiting(store).await, []);
}

pub async fn who_runs_after_whom_follows_the_present_version(store: &dyn Store) {
    let lead = lead(store).await;
    let load = saved(store, &lead, "load").await;
    let next = after("next", &["load"]);
    save(store, &lead, &[&next]).await;
    let names = |jobs: Vec<Job>| jobs.into_iter().map(|job| job.spec.name).collect::<Vec<_>>();
    assert_eq!(names(store.downstream("load").await.unwrap()), ["next"]);
    assert_eq!(names(store.downstream("next").await.unwrap()), Vec::<String>::new());

    // A version that holds later: until then the end of its present upstream counts as well.
    let mut later = Job { version: 2, saved_at: at(50), ..after("next", &["other"]) };
    later.id = next.id;
    later.spec.effective_from = Some(at(1000));
    let change = Change::PutJob { job: later.clone(), seen_version: Some(1), by: "lin".to_owned() };
    assert_eq!(carry_out(store, &lead, vec![change]).await, Taken::Done);
    succeeded(store, &lead, &load, 60).await;
    assert_eq!(waiting(store).await.len(), 1);
    assert_eq!(store.downstream("load").await.unwrap(), []);

    let mut manual = Job { version: 3, saved_at: at(80), ..job("next") };
    manual.id = next.id;
    let change = Change::PutJob { job: manual, seen_version: Some(2), by: "lin".to_owned() };
    assert_eq!(carry_out(store, &lead, vec![change]).await, Taken::Done);
    succeeded(store, &lead, &load, 120).await;
    assert_eq!(waiting(store).await.len(), 1, "it follows nobody any more");
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(next.id)]).await, Taken::Done);
    assert_eq!(waiting(store).await, [], "and is gone");
}

pub async fn what_is_superseded_ends_with_the_launch(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let first = launched(store, &lead, &job, 60).await;
    assigned(store, &lead, &first).await;
    let second = launched(store, &lead, &job, 120).await;
    let third = instance(&job, 180);
    let now = job_now(store, job.id).await;
    let mut launch = launch_of(&now, 180, vec![third.clone()], Vec::new());
    launch.supersedes =
        [&first, &second].map(|older| moves(older.id, InstanceState::Superseded, 180)).into_iter().collect();
    assert_eq!(store.launch(&lead, &[launch]).await.unwrap(), [Launched::Written { made: 1 }]);
    assert_eq!(instance_now(store, first.id).await.state, InstanceState::Waiting, "it has a task");
    let second = instance_now(store, second.id).await;
    assert_eq!((second.state, second.finished_at), (InstanceState::Superseded, Some(at(180))));
    assert_eq!(instance_now(store, third.id).await.state, InstanceState::Waiting);
}

fn question(job: &Job, n: u8, asked: i64) -> Question {
    Question {
        id: QuestionId::from_bytes([n; 16]),
        job: job.id,
        version: job.version,
        from: at(60),
        to: at(180),
        count: 3,
        asked_at: at(asked),
        until: at(asked + 100),
        answer: None,
    }
}

async fn asked(store: &dyn Store, lead: &crate::Lead, job: &Job, questions: Vec<Question>) {
    let now = job_now(store, job.id).await;
    let through = (now.fired_through.millis() - at(0).millis()) / 1000 + 180;
    let skipped = omission(job, through - 120, through, OmissionReason::Asked);
    let mut launch = launch_of(&now, through, Vec::new(), vec![skipped]);
    launch.questions = questions;
    assert_eq!(store.launch(lead, &[launch]).await.unwrap(), [Launched::Written { made: 0 }]);
}

pub async fn a_question_is_open_until_it_is_answered_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (one, two) = (question(&job, 1, 300), question(&job, 2, 200));
    asked(store, &lead, &job, vec![one.clone(), two.clone()]).await;
    assert_eq!(store.open_questions(10).await.unwrap(), [two.clone(), one.clone()]);
    assert_eq!(store.open_questions(1).await.unwrap(), std::slice::from_ref(&two));

    let answer = QuestionAnswer { at: at(310), by: Some("mei".to_owned()), ran: Some(instance_id()) };
    let answers = |question: &Question| Change::AnswerQuestion { question: question.id, answer: answer.clone() };
    assert_eq!(carry_out(store, &lead, vec![answers(&one)]).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![answers(&one)]).await, Taken::Lost);
    assert_eq!(carry_out(store, &lead, vec![answers(&question(&job, 9, 0))]).await, Taken::Lost);
    assert_eq!(store.open_questions(10).await.unwrap(), [two]);
}

pub async fn a_question_that_nobody_answers_ends_when_its_time_has_come(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    asked(store, &lead, &job, vec![question(&job, 1, 100), question(&job, 2, 200)]).await;
    assert_eq!(store.end_questions(&lead, at(199), 10).await.unwrap(), 0);
    assert_eq!(store.end_questions(&lead, at(200), 10).await.unwrap(), 1);
    assert_eq!(store.open_questions(10).await.unwrap(), [question(&job, 2, 200)]);
    let late = QuestionAnswer { at: at(210), by: Some("mei".to_owned()), ran: None };
    let late = Change::AnswerQuestion { question: QuestionId::from_bytes([1; 16]), answer: late };
    assert_eq!(carry_out(store, &lead, vec![late]).await, Taken::Lost);
}

fn backfill(job: &Job, n: u8) -> Backfill {
    Backfill {
        id: RequestId::from_bytes([n; 16]),
        job: job.id,
        version: job.version,
        from: at(-600),
        to: at(-300),
        through: at(-601),
        planned: 5,
        made: 0,
        asked_by: "mei".to_owned(),
        asked_at: at(0),
        ended: None,
    }
}

fn goes_on(job: &Job, backfill: &Backfill, through: Timestamp, done_at: Option<Timestamp>) -> Unplanned {
    let made = Instance { origin: Origin::Backfill, key: backfill.key(through), ..instance(job, 10) };
    Unplanned {
        cause: Cause::Backfill { id: backfill.id, seen_through: backfill.through, through, done_at },
        ..follows(job, Vec::new(), Vec::new(), vec![made])
    }
}

pub async fn a_backfill_goes_on_from_where_it_was_seen_until_it_is_done(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let asked = backfill(&job, 1);
    let puts = vec![Change::PutBackfill(asked.clone()), Change::PutBackfill(asked.clone())];
    assert_eq!(carry_out(store, &lead, puts).await, Taken::Done);
    assert_eq!(store.open_backfills(Partitions::ALL, 10).await.unwrap(), std::slice::from_ref(&asked));

    let first = goes_on(&job, &asked, at(-600), None);
    assert_eq!(store.launch_unplanned(&lead, &[first]).await.unwrap(), [Launched::Written { made: 1 }]);
    let again = goes_on(&job, &asked, at(-600), None);
    assert_eq!(store.launch_unplanned(&lead, &[again]).await.unwrap(), [Launched::Stale]);
    let now = store.open_backfills(Partitions::ALL, 10).await.unwrap().pop().expect("it is open");
    assert_eq!((now.through, now.made), (at(-600), 1));
    let last = goes_on(&job, &now, at(-300), Some(at(70)));
    assert_eq!(store.launch_unplanned(&lead, &[last]).await.unwrap(), [Launched::Written { made: 1 }]);
    assert_eq!(store.open_backfills(Partitions::ALL, 10).await.unwrap(), []);
}

pub async fn a_backfill_that_was_ended_goes_no_further(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let gone = saved(store, &lead, "gone").await;
    let (one, other) = (backfill(&job, 1), backfill(&gone, 2));
    let puts = [&one, &other].map(|backfill| Change::PutBackfill(backfill.clone()));
    assert_eq!(carry_out(store, &lead, puts.into()).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(gone.id)]).await, Taken::Done);
    assert_eq!(
        store.open_backfills(Partitions::ALL, 10).await.unwrap(),
        std::slice::from_ref(&one),
        "there is no job any more"
    );

    let end =
        || Change::EndBackfill { backfill: one.id, end: BackfillEnd { at: at(5), how: BackfillState::Cancelled } };
    assert_eq!(carry_out(store, &lead, vec![end()]).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![end()]).await, Taken::Lost);
    assert_eq!(store.open_backfills(Partitions::ALL, 10).await.unwrap(), []);
    let late = goes_on(&job, &one, at(-600), None);
    assert_eq!(store.launch_unplanned(&lead, &[late]).await.unwrap(), [Launched::Stale]);
    assert_eq!(store.unfinished(&[job.id]).await.unwrap(), []);
}

pub async fn what_is_still_to_be_answered_or_made_stays_however_old(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    asked(store, &lead, &job, vec![question(&job, 1, 100), question(&job, 2, 300)]).await;
    assert_eq!(store.end_questions(&lead, at(200), 10).await.unwrap(), 1);
    let (one, other) = (backfill(&job, 1), backfill(&job, 2));
    let changes = vec![
        Change::PutBackfill(one.clone()),
        Change::PutBackfill(other.clone()),
        Change::EndBackfill { backfill: one.id, end: BackfillEnd { at: at(5), how: BackfillState::Cancelled } },
    ];
    assert_eq!(carry_out(store, &lead, changes).await, Taken::Done);
    let purge = Purge { instances_before: at(1000), ..super::upkeep::nothing() };
    let purged = store.purge(&lead, &purge).await.unwrap();
    assert!(purged.others >= 2, "{purged:?}");
    assert_eq!(store.open_questions(10).await.unwrap(), [question(&job, 2, 300)]);
    assert_eq!(store.open_backfills(Partitions::ALL, 10).await.unwrap(), [other]);
}
