//! What people look at.

use std::collections::BTreeMap;

use campanile_model::alarm::{AlarmState, Severity};
use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin};
use campanile_model::job::Job;
use campanile_model::request::AuditEntry;
use campanile_model::sharding::{ShardRun, Tally};
use campanile_model::task::{Part, Task, TaskEvent, TaskState};
use campanile_model::{InstanceId, Words};
use serde_json::json;

use super::fixtures::*;
use crate::{
    Archive, CarriedOut, Change, Cursor, ExecutorName, InstanceFilter, JobFilter, OutcomeCounts, Page, ShardMark,
    ShardWrite, Store, Taken, TaskFilter,
};

fn names(page: &Page<crate::JobSummary>) -> Vec<&str> {
    page.rows.iter().map(|row| row.job.spec.name.as_str()).collect()
}

fn ids(page: &Page<crate::InstanceSummary>) -> Vec<InstanceId> {
    page.rows.iter().map(|row| row.instance.id).collect()
}

pub async fn jobs_come_in_the_order_of_names(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = ["pear", "apple", "Banana", "zebra", "cherry"].into_iter().map(job).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(jobs[3].id)]).await, Taken::Done);

    let any = JobFilter::default();
    let all = store.job_page(&any, None, 10).await.unwrap();
    assert_eq!(names(&all), ["apple", "Banana", "cherry", "pear"]);
    assert_eq!(all.next, None);
    let exact = store.job_page(&any, None, 4).await.unwrap();
    assert_eq!((exact.rows.len(), exact.next), (4, None));
    let first = store.job_page(&any, None, 3).await.unwrap();
    assert_eq!(names(&first), ["apple", "Banana", "cherry"]);
    let second = store.job_page(&any, first.next, 3).await.unwrap();
    assert_eq!((names(&second), second.next), (vec!["pear"], None));
    assert_eq!(store.job_count(&any, 100).await.unwrap(), 4);
    assert_eq!(store.job_count(&any, 3).await.unwrap(), 3);
}

pub async fn jobs_are_found_by_text_tag_and_pause(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let mut report = job("Nightly-Report");
    report.spec.tags = vec!["finance".to_owned(), "ünïcode".to_owned()];
    let mut backup = job("backup");
    backup.spec.tenant = Some("Acme".to_owned());
    backup.spec.tags = vec!["ops".to_owned()];
    backup.paused = true;
    let plain = job("100%_plain");
    save(store, &lead, &[&report, &backup, &plain]).await;

    for (text, found) in [
        ("REPORT", vec!["Nightly-Report"]),
        ("acme", vec!["backup"]),
        ("Financ", vec!["Nightly-Report"]),
        ("ÜNÏ", vec!["Nightly-Report"]),
        ("%_", vec!["100%_plain"]),
        ("nothing", vec![]),
        ("", vec!["100%_plain", "backup", "Nightly-Report"]),
    ] {
        let filter = JobFilter { text: Some(text.to_owned()), ..JobFilter::default() };
        assert_eq!(names(&store.job_page(&filter, None, 10).await.unwrap()), found, "{text}");
        assert_eq!(store.job_count(&filter, 10).await.unwrap(), u64::try_from(found.len()).unwrap(), "{text}");
    }
    let tagged = JobFilter { tag: Some("ops".to_owned()), ..JobFilter::default() };
    assert_eq!(names(&store.job_page(&tagged, None, 10).await.unwrap()), ["backup"]);
    let part_of_tag = JobFilter { tag: Some("op".to_owned()), ..JobFilter::default() };
    assert_eq!(store.job_count(&part_of_tag, 10).await.unwrap(), 0);
    let paused = JobFilter { paused: Some(true), ..JobFilter::default() };
    assert_eq!(names(&store.job_page(&paused, None, 10).await.unwrap()), ["backup"]);
    let running = JobFilter { paused: Some(false), ..JobFilter::default() };
    assert_eq!(names(&store.job_page(&running, None, 10).await.unwrap()), ["100%_plain", "Nightly-Report"]);
    let first = store.job_page(&running, None, 1).await.unwrap();
    assert_eq!(names(&store.job_page(&running, first.next, 1).await.unwrap()), ["Nightly-Report"]);
}

pub async fn a_job_shows_its_last_twelve_instances(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let busy = saved(store, &lead, "busy").await;
    let idle = saved(store, &lead, "idle").await;
    let mut made = Vec::new();
    for n in 1..=14 {
        made.push(succeeded(store, &lead, &busy, 60 * n).await.0);
    }
    made.push(launched(store, &lead, &busy, 900).await);
    let page = store.job_page(&JobFilter::default(), None, 10).await.unwrap();
    let expected: Vec<_> = made
        .iter()
        .rev()
        .take(12)
        .map(|made| {
            let state = if made.due == at(900) { InstanceState::Waiting } else { InstanceState::Succeeded };
            (state, made.due, made.id)
        })
        .collect();
    assert_eq!(page.rows[0].last, expected);
    assert_eq!(page.rows[0].job.id, busy.id);
    assert_eq!((page.rows[1].job.id, page.rows[1].last.len()), (idle.id, 0));
}

pub async fn pages_of_jobs_have_no_gaps_or_doubles_while_jobs_are_added(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = (0..30).map(|n| job(&format!("job-{n:02}"))).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;
    let any = JobFilter::default();
    let (mut cursor, mut seen, mut page_number) = (None, Vec::new(), 0);
    loop {
        let page = store.job_page(&any, cursor, 7).await.unwrap();
        seen.extend(names(&page).into_iter().map(ToOwned::to_owned));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        // One before the place that was reached; the last of the page goes.
        page_number += 1;
        saved(store, &lead, &format!("a-{page_number}")).await;
        let last = page.rows.last().unwrap().job.id;
        assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(last)]).await, Taken::Done);
    }
    assert_eq!(seen, (0..30).map(|n| format!("job-{n:02}")).collect::<Vec<_>>());
}

pub async fn versions_come_newest_first(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let first = saved(store, &lead, "job").await;
    assert_eq!(carry_out(store, &lead, vec![next_version(&first)]).await, Taken::Done);
    let versions = store.versions(first.id).await.unwrap();
    let versions: Vec<_> = versions.iter().map(|row| (row.version, row.saved_by.as_str())).collect();
    assert_eq!(versions, [(2, "lin"), (1, "mei")]);
}

pub async fn instances_come_newest_first_with_their_job_and_tasks(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (done, task) = succeeded(store, &lead, &job, 60).await;
    let waiting = launched(store, &lead, &job, 120).await;
    let page = store.instance_page(&InstanceFilter::default(), None, 10).await.unwrap();
    assert_eq!(ids(&page), [waiting.id, done.id]);
    assert_eq!(page.next, None);
    assert_eq!(page.rows[1].job_name, "job");
    assert_eq!(page.rows[1].tasks, [(task.id, TaskState::Succeeded, 1)]);
    assert_eq!(page.rows[0].tasks, []);
    assert_eq!(page.rows[0].instance, waiting);

    // The name stays when the job goes.
    assert_eq!(carry_out(store, &lead, vec![Change::RemoveJob(job.id)]).await, Taken::Done);
    let summary = store.instance_summary(done.id).await.unwrap().expect("it is there");
    assert_eq!((summary.instance.id, summary.job_name.as_str(), summary.tasks.len()), (done.id, "job", 1));
    assert!(store.instance_summary(instance_id()).await.unwrap().is_none());
}

pub async fn instances_are_found_by_job_state_task_executor_and_due_time(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let (one, two) = (saved(store, &lead, "one").await, saved(store, &lead, "two").await);
    let good = succeeded(store, &lead, &one, 60).await.0.id;
    let bad = launched(store, &lead, &two, 60).await;
    ended(store, &lead, &bad, InstanceState::Failed, 70).await;
    let bad = bad.id;
    let running = launched(store, &lead, &one, 120).await;
    let task = assigned(store, &lead, &running).await;
    let mut start = step(task, &[TaskEvent::Due, TaskEvent::Push, TaskEvent::Start], 121);
    start.moves_instance(moves(running.id, InstanceState::Running, 121));
    assert_eq!(take(store, &lead, start).await, Taken::Done);
    let running = running.id;
    let waiting = launched(store, &lead, &two, 180).await;
    assigned(store, &lead, &waiting).await;
    let waiting = waiting.id;

    let any = InstanceFilter::default;
    let (job, failed) = (Some(one.id), vec![InstanceState::Failed]);
    let held = vec![TaskState::Running, TaskState::Waiting];
    let [here, elsewhere] =
        [("local", "here"), ("LOCAL", "here")].map(|(group, name)| Some(executor_name(group, name)));
    let cases = [
        (InstanceFilter { job, ..any() }, vec![running, good]),
        (InstanceFilter { states: failed.clone(), ..any() }, vec![bad]),
        (InstanceFilter { states: vec![InstanceState::Succeeded, InstanceState::Failed], ..any() }, vec![bad, good]),
        (InstanceFilter { task_states: held.clone(), ..any() }, vec![waiting, running]),
        (InstanceFilter { task_states: vec![TaskState::Failed], ..any() }, vec![bad]),
        (InstanceFilter { task_states: held.clone(), states: vec![InstanceState::Waiting], ..any() }, vec![waiting]),
        (InstanceFilter { job, task_states: held.clone(), ..any() }, vec![running]),
        (InstanceFilter { job, states: failed.clone(), ..any() }, vec![]),
        (InstanceFilter { due_from: Some(at(120)), ..any() }, vec![waiting, running]),
        (InstanceFilter { due_until: Some(at(120)), ..any() }, vec![bad, good]),
        (InstanceFilter { due_from: Some(at(60)), due_until: Some(at(180)), ..any() }, vec![running, bad, good]),
        (InstanceFilter { due_until: Some(at(120)), states: failed, ..any() }, vec![bad]),
        (InstanceFilter { due_from: Some(at(61)), task_states: held, ..any() }, vec![waiting, running]),
        (InstanceFilter { job, due_from: Some(at(61)), ..any() }, vec![running]),
        (InstanceFilter { executor: here.clone(), ..any() }, vec![running, bad, good]),
        (InstanceFilter { executor: here.clone(), states: vec![InstanceState::Running], ..any() }, vec![running]),
        (InstanceFilter { executor: here.clone(), task_states: vec![TaskState::Failed], ..any() }, vec![bad]),
        (InstanceFilter { executor: here.clone(), job, ..any() }, vec![running, good]),
        (InstanceFilter { executor: here, due_until: Some(at(120)), ..any() }, vec![bad, good]),
        (InstanceFilter { executor: elsewhere, ..any() }, vec![]),
    ];
    for (filter, expected) in cases {
        let page = store.instance_page(&filter, None, 10).await.unwrap();
        assert_eq!(ids(&page), expected, "{filter:?}");
        // Page by page it is the same.
        let (mut cursor, mut seen) = (None, Vec::new());
        for _ in 0..=expected.len() {
            let page = store.instance_page(&filter, cursor, 1).await.unwrap();
            seen.extend(ids(&page));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((seen, cursor), (expected, None), "{filter:?}");
    }
}

/// Reads to the end, making more between the pages.
async fn read_while_more_are_made(
    store: &(impl Store + Archive),
    lead: &crate::Lead,
    job: &Job,
    filter: &InstanceFilter,
    first_second: i64,
) -> Vec<InstanceId> {
    let (mut cursor, mut seen, mut second): (Cursor, Vec<InstanceId>, i64) = (None, Vec::new(), first_second);
    loop {
        let page = store.instance_page(filter, cursor, 4).await.unwrap();
        assert!(page.rows.len() <= 4);
        seen.extend(ids(&page));
        cursor = page.next;
        if cursor.is_none() {
            return seen;
        }
        launched(store, lead, job, second).await;
        second += 60;
    }
}

pub async fn pages_of_instances_have_no_gaps_or_doubles_while_more_are_made(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let mut made = Vec::new();
    for n in 1..=10 {
        let one = launched(store, &lead, &job, 60 * n).await;
        assigned(store, &lead, &one).await;
        made.insert(0, one.id);
    }
    let filters = [
        InstanceFilter::default(),
        InstanceFilter { job: Some(job.id), ..InstanceFilter::default() },
        InstanceFilter { states: vec![InstanceState::Waiting], ..InstanceFilter::default() },
        InstanceFilter { task_states: vec![TaskState::Waiting], ..InstanceFilter::default() },
        InstanceFilter { due_from: Some(at(0)), ..InstanceFilter::default() },
    ];
    for (n, filter) in filters.iter().enumerate() {
        let second = 1000 + 1000 * i64::try_from(n).unwrap();
        let seen = read_while_more_are_made(store, &lead, &job, filter, second).await;
        assert_eq!(seen[seen.len() - 10..], made, "{filter:?}");
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "{filter:?}");
    }
}

pub async fn instances_due_at_one_moment_are_told_apart(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let jobs: Vec<Job> = (0..9).map(|n| job(&format!("job-{n}"))).collect();
    save(store, &lead, &jobs.iter().collect::<Vec<_>>()).await;
    for job in &jobs {
        launched(store, &lead, job, 60).await;
    }
    let filter = InstanceFilter { due_from: Some(at(60)), due_until: Some(at(61)), ..InstanceFilter::default() };
    let (mut cursor, mut seen) = (None, Vec::new());
    loop {
        let page = store.instance_page(&filter, cursor, 2).await.unwrap();
        seen.extend(ids(&page));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 9);
}

pub async fn the_history_of_a_task_says_when_who_and_why(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let task = assigned(store, &lead, &made).await;
    assert_eq!(store.history(task.id).await.unwrap(), []);
    moved(store, &lead, &task, &[TaskEvent::Due], 61).await;
    moved(store, &lead, &task, &[TaskEvent::Push], 62).await;
    moved(store, &lead, &task, &[TaskEvent::HandBack], 63).await;
    moved(store, &lead, &task, &[TaskEvent::Push, TaskEvent::Start], 64).await;
    let mut fail = task_now(store, task.id).await.begin();
    fail.on(TaskEvent::Fail, at(65), Some(Words::new("exit code 1", "退出码 1"))).unwrap();
    fail.on(TaskEvent::Retry, at(65), None).unwrap();
    assert_eq!(take(store, &lead, fail).await, Taken::Done);

    let history = store.history(task.id).await.unwrap();
    let steps: Vec<_> = history.iter().map(|row| (row.at, row.from.code(), row.to.code(), row.attempt)).collect();
    assert_eq!(
        steps,
        [
            (at(61), 100, 101, 1),
            (at(62), 101, 201, 1),
            (at(63), 201, 101, 1),
            (at(64), 101, 201, 1),
            (at(64), 201, 202, 1),
            (at(65), 202, 302, 1),
            (at(65), 302, 100, 1),
        ]
    );
    assert!(history.iter().all(|row| row.node == lead.holder));
    assert_eq!(history[0].executor, None);
    // Also who handed it back.
    assert!(history[1..].iter().all(|row| row.executor.as_deref() == Some("here")), "{history:?}");
    assert_eq!(history[5].reason, Some(Words::new("exit code 1", "退出码 1")));
    assert_eq!(history[6].reason, None);
    assert_eq!(store.history(task_id()).await.unwrap(), []);

    // Of several at once each has its own.
    let other_job = saved(store, &lead, "other").await;
    let made = launched(store, &lead, &other_job, 60).await;
    let other = assigned(store, &lead, &made).await;
    moved(store, &lead, &other, &[TaskEvent::Due], 66).await;
    let histories = store.histories(&[other.id, task_id(), task.id]).await.unwrap();
    assert_eq!(histories.len(), 2);
    assert_eq!(histories[&task.id], history);
    assert_eq!(histories[&other.id].iter().map(|row| row.at).collect::<Vec<_>>(), [at(66)]);
    assert!(store.histories(&[]).await.unwrap().is_empty());
}

pub async fn a_lost_step_leaves_no_history(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let task = assigned(store, &lead, &made).await;
    moved(store, &lead, &task, &[TaskEvent::Due], 61).await;
    assert_eq!(take(store, &lead, step(task.clone(), &[TaskEvent::Due], 62)).await, Taken::Lost);
    let cancel = Change::Step(step(task.clone(), &[TaskEvent::Cancel], 63));
    assert_eq!(carry_out(store, &lead, vec![cancel]).await, Taken::Lost);
    assert_eq!(store.history(task.id).await.unwrap().len(), 1);
}

fn executor_name(group: &str, name: &str) -> ExecutorName {
    ExecutorName { group: group.to_owned(), name: name.to_owned() }
}

pub async fn tasks_come_newest_first_by_state_and_executor(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let mut tasks: Vec<Task> = Vec::new();
    for n in 1..=4 {
        let made = launched(store, &lead, &job, 60 * n).await;
        let pair: Vec<Task> = (0..2).map(|_| task(&made)).collect();
        assign(store, &lead, &made, pair.clone()).await;
        tasks.extend(pair);
    }
    for n in [0, 3] {
        moved(store, &lead, &tasks[n], &[TaskEvent::Due], 70).await;
    }
    moved(store, &lead, &tasks[4], &[TaskEvent::Cancel], 70).await;
    moved(store, &lead, &tasks[6], &[TaskEvent::Due, TaskEvent::Push, TaskEvent::Start], 70).await;
    moved(store, &lead, &tasks[7], &[TaskEvent::Due, TaskEvent::Push], 70).await;
    let expected = |places: &[usize]| places.iter().map(|n| tasks[*n].id).collect::<Vec<_>>();
    let cases = [
        (vec![], expected(&[7, 6, 5, 4, 3, 2, 1, 0])),
        (vec![TaskState::Ready], expected(&[3, 0])),
        (vec![TaskState::Ready, TaskState::Waiting], expected(&[5, 3, 2, 1, 0])),
        (vec![TaskState::Cancelled, TaskState::Ready], expected(&[4, 3, 0])),
        (vec![TaskState::Succeeded], vec![]),
    ];
    let here = Some(executor_name("local", "here"));
    let cases = cases.map(|(states, expected)| (TaskFilter { states, executor: None }, expected));
    let of_here = [
        (TaskFilter { executor: here.clone(), ..TaskFilter::default() }, expected(&[7, 6])),
        (TaskFilter { executor: here, states: vec![TaskState::Running] }, expected(&[6])),
        (TaskFilter { executor: Some(executor_name("local", "there")), ..TaskFilter::default() }, vec![]),
    ];
    for (filter, expected) in cases.into_iter().chain(of_here) {
        let page = store.task_page(&filter, None, 10).await.unwrap();
        assert_eq!(page.rows.iter().map(|task| task.id).collect::<Vec<_>>(), expected, "{filter:?}");
        assert_eq!(page.next, None);
        let (mut cursor, mut seen) = (None, Vec::new());
        loop {
            let page = store.task_page(&filter, cursor, 2).await.unwrap();
            seen.extend(page.rows.iter().map(|task| task.id));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{filter:?}");
    }
}

pub async fn omissions_come_latest_first(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let (one, two) = (saved(store, &lead, "one").await, saved(store, &lead, "two").await);
    let first = omission(&one, 60, 120, OmissionReason::Paused);
    let second = omission(&two, 180, 180, OmissionReason::Overlap);
    let third = omission(&one, 240, 240, OmissionReason::Misfire);
    launch(store, &lead, two.id, 200, Vec::new(), vec![second.clone()]).await;
    launch(store, &lead, one.id, 300, Vec::new(), vec![first.clone(), third.clone()]).await;
    assert_eq!(store.omissions(None, at(0), 10).await.unwrap(), [third.clone(), second.clone(), first.clone()]);
    assert_eq!(store.omissions(None, at(121), 10).await.unwrap(), [third.clone(), second]);
    assert_eq!(store.omissions(Some(one.id), at(120), 10).await.unwrap(), [third.clone(), first]);
    assert_eq!(store.omissions(Some(one.id), at(0), 1).await.unwrap(), [third]);
}

pub async fn alarms_come_worst_and_latest_first(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let alarms = [
        alarm("job:a", Severity::Warning, 10),
        alarm("job:b", Severity::Emergency, 0),
        alarm("job:c", Severity::Warning, 20),
        alarm("job:d", Severity::Info, 30),
        alarm("job:e", Severity::Warning, 20).acknowledge("mei", "", at(21)),
        alarm("job:f", Severity::Critical, 5).resolve(at(6)),
    ];
    assert_eq!(store.put_alarms(&lead, &alarms, None).await.unwrap(), Taken::Done);
    let cases = [
        (vec![], "bfecad"),
        (vec![AlarmState::Firing], "bcad"),
        (vec![AlarmState::Acknowledged, AlarmState::Firing], "becad"),
        (vec![AlarmState::Resolved], "f"),
    ];
    for (states, expected) in cases {
        let (mut cursor, mut seen) = (None, String::new());
        loop {
            let page = store.alarm_page(&states, cursor, 2).await.unwrap();
            assert!(page.rows.len() <= 2);
            seen.extend(page.rows.iter().map(|alarm| alarm.subject.chars().last().unwrap()));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{states:?}");
    }
}

fn entry(n: i64) -> AuditEntry {
    AuditEntry {
        at: at(n),
        who: "mei".to_owned(),
        action: "pauseJobs".to_owned(),
        subject: format!("job:{n}"),
        before: (n % 2 == 0).then(|| json!({"paused": false})),
        after: Some(json!({"paused": true, "n": n})),
    }
}

async fn audited(store: &dyn Store, lead: &crate::Lead, changes: Vec<Change>, audit: Vec<AuditEntry>) -> Taken {
    let request = request();
    store.ask(&request).await.unwrap();
    let done = CarriedOut { request: request.id, changes, answer: done(), audit };
    store.carry_out(lead, &done).await.unwrap()
}

pub async fn audit_entries_come_newest_first(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    assert_eq!(audited(store, &lead, Vec::new(), vec![entry(1), entry(2)]).await, Taken::Done);
    assert_eq!(audited(store, &lead, Vec::new(), vec![entry(3)]).await, Taken::Done);
    let first = store.audit_page(None, 2).await.unwrap();
    assert_eq!(first.rows, [entry(3), entry(2)]);
    assert_eq!(audited(store, &lead, Vec::new(), vec![entry(4)]).await, Taken::Done);
    let second = store.audit_page(first.next, 2).await.unwrap();
    assert_eq!((second.rows, second.next), (vec![entry(1)], None));
}

pub async fn what_was_not_carried_out_is_not_in_the_audit(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    saved(store, &lead, "job").await;
    assert_eq!(audited(store, &lead, vec![new_job(&job("job"))], vec![entry(1)]).await, Taken::Lost);
    assert_eq!(store.audit_page(None, 10).await.unwrap().rows, []);
}

pub async fn outcomes_are_counted_within_their_time(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    assert_eq!(store.outcomes(at(0), at(1000)).await.unwrap(), OutcomeCounts::default());
    for (n, state) in [
        (1, InstanceState::Succeeded),
        (2, InstanceState::Failed),
        (3, InstanceState::Succeeded),
        (4, InstanceState::Cancelled),
        (5, InstanceState::Succeeded),
    ] {
        let made = launched(store, &lead, &job, 60 * n).await;
        ended(store, &lead, &made, state, 60 * n + 1).await;
    }
    launched(store, &lead, &job, 360).await;
    assert_eq!(store.outcomes(at(0), at(1000)).await.unwrap(), OutcomeCounts { succeeded: 3, failed: 1 });
    assert_eq!(store.outcomes(at(121), at(301)).await.unwrap(), OutcomeCounts { succeeded: 1, failed: 1 });
}

pub async fn what_fired_comes_in_the_order_of_due_times(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let late = launched(store, &lead, &job, 120).await;
    let moved_ahead = Instance { origin: Origin::Added, ..instance(&job, 90) };
    launch(store, &lead, job.id, 130, vec![moved_ahead.clone()], Vec::new()).await;
    let last = launched(store, &lead, &job, 180).await;
    let due = |rows: Vec<crate::InstanceSummary>| rows.into_iter().map(|row| row.instance.id).collect::<Vec<_>>();
    let all = due(store.fired(at(0), at(1000), 10).await.unwrap());
    assert_eq!(all, [moved_ahead.id, late.id, last.id]);
    assert_eq!(due(store.fired(at(90), at(180), 10).await.unwrap()), [moved_ahead.id, late.id]);
    assert_eq!(due(store.fired(at(0), at(1000), 1).await.unwrap()), [moved_ahead.id]);
}

pub async fn the_change_count_grows_with_every_write(store: &(impl Store + Archive)) {
    let mut last = store.change_count().await.unwrap();
    for n in 0..5 {
        // Looking changes nothing.
        store.settings().await.unwrap();
        store.job_page(&JobFilter::default(), None, 10).await.unwrap();
        assert_eq!(store.change_count().await.unwrap(), last);
        match n {
            0 => drop(lead(store).await),
            _ => store.ask(&request()).await.unwrap(),
        }
        let now = store.change_count().await.unwrap();
        assert!(now > last, "{now} after {last}");
        last = now;
    }
}

pub async fn shards_come_in_order_and_those_that_moved_since(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let import = saved(store, &lead, "import").await;
    let instance = launched(store, &lead, &import, 60).await;
    let begins = ShardWrite { begins: Some(at(61)), ..ShardWrite::of(ShardRun::new(instance.id)) };
    assert_eq!(store.conduct(&lead, &begins).await.unwrap(), Taken::Done);
    let shard =
        |level, index, done| task(&instance).as_part(Part::Shard { level, index, count: 3, round: 1, items: 4, done });
    let notice = || task(&instance).as_part(Part::Notify { done: 1, total: 4 });
    let tasks = vec![shard(0, 0, 0), notice(), shard(0, 1, 2), shard(0, 2, 0), notice(), shard(3, 0, 0)];
    let run = store.shard_run(instance.id).await.unwrap().expect("it has begun");
    let write = ShardWrite { tasks: tasks.clone(), ..ShardWrite::of(run) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Done);
    // Another job's tasks are nobody's shards.
    let other = saved(store, &lead, "other").await;
    let other = launched(store, &lead, &other, 60).await;
    let other = assigned(store, &lead, &other).await;

    let mark = |level, shard, state, done| ShardMark { level, shard, state, done };
    use TaskState::{Ready, Running, Succeeded, Waiting};
    let all = [mark(0, 0, Waiting, 0), mark(0, 1, Waiting, 2), mark(0, 2, Waiting, 0), mark(3, 0, Waiting, 0)];
    let whole = store.shard_page(instance.id, None, 100).await.unwrap();
    assert_eq!((whole.rows, whole.next), (all.to_vec(), None));
    // Page by page it is the same.
    let (mut paged, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.shard_page(instance.id, cursor, 2).await.unwrap();
        paged.extend(page.rows);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    assert_eq!(store.shard_page(other.instance, None, 9).await.unwrap().rows, []);

    let before = store.last_move().await.unwrap();
    moved(store, &lead, &other, &[TaskEvent::Due], 70).await;
    let first = moved(store, &lead, &tasks[0], &[TaskEvent::Due, TaskEvent::Push, TaskEvent::Start], 70).await;
    moved(store, &lead, &tasks[3], &[TaskEvent::Due], 71).await;
    let sorted = |mut marks: Vec<ShardMark>| {
        marks.sort_by_key(|mark| (mark.level, mark.shard));
        marks
    };
    let news = store.shard_news(instance.id, before, 100).await.unwrap();
    assert_eq!(sorted(news.marks), [mark(0, 0, Running, 0), mark(0, 2, Ready, 0)]);
    assert_eq!((news.through, news.more), (store.last_move().await.unwrap(), false));

    // What runs is told without a move: its items go on.
    let mut reports = first.clone().begin();
    reports.task_mut().part = Some(Part::Shard { level: 0, index: 0, count: 3, round: 1, items: 4, done: 3 });
    assert_eq!(take(store, &lead, reports).await, Taken::Done);
    let quiet = store.shard_news(instance.id, news.through, 100).await.unwrap();
    assert!(quiet.marks.contains(&mark(0, 0, Running, 3)), "{quiet:?}");
    assert_eq!((quiet.through, quiet.more), (news.through, false));

    // A few moves at a time come to the same.
    let mut since = before;
    let mut seen = BTreeMap::new();
    for _ in 0..100 {
        let some = store.shard_news(instance.id, since, 2).await.unwrap();
        assert!(some.through > since || !some.more, "it does not come on: {some:?}");
        seen.extend(some.marks.iter().map(|mark| ((mark.level, mark.shard), *mark)));
        since = some.through;
        if !some.more {
            break;
        }
    }
    assert_eq!(since, news.through);
    assert_eq!(seen.into_values().collect::<Vec<_>>(), [mark(0, 0, Running, 3), mark(0, 2, Ready, 0)]);

    let ends = task_now(store, tasks[0].id).await;
    moved(store, &lead, &ends, &[TaskEvent::Succeed], 72).await;
    let last = store.shard_news(instance.id, news.through, 100).await.unwrap();
    assert!(last.marks.contains(&mark(0, 0, Succeeded, 3)), "{last:?}");

    let found = store.shard(instance.id, tasks[0].id, 0, 2).await.unwrap();
    assert_eq!(found.map(|task| task.id), Some(tasks[3].id));
    let found = store.shard(instance.id, tasks[5].id, 3, 0).await.unwrap();
    assert_eq!(found.map(|task| task.id), Some(tasks[5].id));
    assert_eq!(store.shard(instance.id, tasks[0].id, 0, 7).await.unwrap(), None);
}

pub async fn a_sharded_instance_names_no_tasks(store: &(impl Store + Archive)) {
    let lead = lead(store).await;
    let import = saved(store, &lead, "import").await;
    let instance = launched(store, &lead, &import, 60).await;
    let begins = ShardWrite { begins: Some(at(61)), ..ShardWrite::of(ShardRun::new(instance.id)) };
    assert_eq!(store.conduct(&lead, &begins).await.unwrap(), Taken::Done);
    let run = store.shard_run(instance.id).await.unwrap().expect("it has begun");
    let run = ShardRun { tally: Tally { done: 0, total: 9 }, ..run };
    let part = Part::Shard { level: 0, index: 0, count: 1, round: 1, items: 9, done: 0 };
    let write = ShardWrite { done: 4, tasks: vec![task(&instance).as_part(part)], ..ShardWrite::of(run) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Done);
    let plain = saved(store, &lead, "plain").await;
    let plain = launched(store, &lead, &plain, 61).await;
    assigned(store, &lead, &plain).await;

    let page = store.instance_page(&InstanceFilter::default(), None, 9).await.unwrap();
    let tallies: Vec<_> =
        page.rows.iter().map(|row| (row.tasks.len(), row.sharded.as_ref().map(|run| run.tally))).collect();
    assert_eq!(tallies, [(1, None), (0, Some(Tally { done: 4, total: 9 }))]);
    let one = store.instance_summary(instance.id).await.unwrap().expect("it is there");
    assert_eq!(one.sharded.map(|run| run.tally.done), Some(4));
}
