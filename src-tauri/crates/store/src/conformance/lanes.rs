//! Ready work: what may go, in which order, how much of it at once, and how instances of several tasks end.

use std::collections::BTreeMap;

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::limits::{LIMITS, LimitOn, Limits};
use campanile_model::task::{IncidentKind, Need, Needs, Placement, Step, Task, TaskEvent, TaskState};
use campanile_model::{Failure, FailureClass, Lane, Partitions, TaskId, Words};
use futures::future::join_all;
use serde_json::json;

use super::fixtures::*;
use crate::{Bound, Change, Claimed, Lead, Scope, Settlement, Store, Taken, Wanted, WantedNeed};

use TaskEvent::{Cancel, Due, Fail, Push, Start, Succeed};

fn ids(tasks: &[Task]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.id).collect()
}

fn all_of(needs: Vec<Need>, limit: usize) -> Wanted {
    Wanted { needs: needs.into_iter().map(WantedNeed::all_of).collect(), limit }
}

/// Tasks of one instance with these needs, Ready in this order, a second apart.
async fn ready(store: &dyn Store, lead: &Lead, made: &Instance, tasks: Vec<Task>) -> Vec<Task> {
    assign(store, lead, made, tasks.clone()).await;
    let mut found = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        found.push(moved(store, lead, task, &[Due], 61 + i64::try_from(n).expect("a few")).await);
    }
    found
}

fn with(made: &Instance, change: impl FnOnce(&mut Task)) -> Task {
    let mut task = task(made);
    change(&mut task);
    task
}

pub async fn ready_tasks_are_found_by_what_they_need(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let plain = Needs::default();
    let labelled =
        Needs { labels: BTreeMap::from([("disk".to_owned(), "\"ssd\" 硬盘".to_owned())]), ..Needs::default() };
    let placed = Needs { placed: Some(Placement { executor: "a".to_owned(), firm: false }), ..Needs::default() };
    let limited = Needs { limit: Some(2), tenant: Some("acme".to_owned()), io: true, ..Needs::default() };
    let all = [&plain, &labelled, &placed, &limited, &plain, &labelled];
    assert_eq!(store.ready_needs().await.unwrap(), []);
    let tasks: Vec<Task> = all.iter().map(|needs| with(&made, |task| task.needs = (*needs).clone())).collect();
    let tasks = ready(store, &lead, &made, tasks).await;
    assert_eq!(tasks.iter().map(|task| &task.needs).collect::<Vec<_>>(), all);

    let mut needs = store.ready_needs().await.unwrap();
    needs.sort();
    let mut expected: Vec<Need> =
        [plain, labelled, placed, limited].iter().map(|needs| needs.of("local", "shell", job.id)).collect();
    expected.sort();
    assert_eq!(needs, expected);
    for need in needs {
        let own: Vec<TaskId> = tasks.iter().filter(|task| task.need() == need).map(|task| task.id).collect();
        assert_eq!(ids(&store.ready_tasks(&all_of(vec![need], 10)).await.unwrap()), own);
    }
    let mut counts = store.ready_counts().await.unwrap();
    counts.sort();
    let counted = expected.iter().map(|need| {
        let own = tasks.iter().filter(|task| task.need() == *need).count();
        (need.clone(), Lane::Normal, own as u64)
    });
    assert_eq!(counts, counted.collect::<Vec<_>>());
    assert_eq!(store.ready_tasks(&all_of(expected, 10)).await.unwrap(), tasks);
}

pub async fn of_each_need_only_so_many_are_read_and_of_the_lanes_that_may_go(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let limited = Needs { limit: Some(2), ..Needs::default() };
    // Forty of a limited job stand before the others.
    let mut tasks: Vec<Task> = (0..40).map(|_| with(&made, |task| task.needs = limited.clone())).collect();
    tasks.extend([Lane::Normal, Lane::Low, Lane::Normal].map(|lane| with(&made, |task| task.lane = lane)));
    let tasks = ready(store, &lead, &made, tasks).await;
    let (limited, plain) = (tasks[0].need(), tasks[40].need());
    let wanted = |limited_to: usize, plain_down_to: Lane, limit: usize| Wanted {
        needs: vec![
            WantedNeed { need: limited.clone(), down_to: Lane::Low, limit: limited_to },
            WantedNeed { need: plain.clone(), down_to: plain_down_to, limit: 500 },
        ],
        limit,
    };
    let found = |places: &[usize]| places.iter().map(|place| tasks[*place].id).collect::<Vec<_>>();
    let read = async |wanted: &Wanted| ids(&store.ready_tasks(wanted).await.unwrap());
    assert_eq!(read(&wanted(2, Lane::Low, 10)).await, found(&[0, 1, 40, 42, 41]));
    assert_eq!(read(&wanted(20, Lane::High, 100)).await, found(&(0..20).collect::<Vec<_>>()));
    assert_eq!(read(&wanted(0, Lane::Normal, 10)).await, found(&[40, 42]));
    assert_eq!(read(&wanted(2, Lane::Low, 3)).await, found(&[0, 1, 40]));
}

fn push(task: &Task, boot: &str) -> Step {
    let mut step = step(task.clone(), &[Push], 70);
    step.task_mut().executor = Some(executor(boot));
    step
}

pub async fn a_claim_stops_at_every_bound(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks = (0..8).map(|n| with(&made, |task| task.needs.tenant = (n > 3).then(|| "acme".to_owned()))).collect();
    let tasks = ready(store, &lead, &made, tasks).await;
    let bound = |scope, most| Bound { scope, most };
    let claim = async |places: &[usize], bounds: &[Bound]| {
        let pushes: Vec<Step> = places.iter().map(|place| push(&tasks[*place], "boot-1")).collect();
        store.claim(&lead, &pushes, bounds, &Limits::default()).await.unwrap()
    };
    use Claimed::{Done, Full, Lost};
    let here = Scope::Executor(executor("boot-1"));
    assert_eq!(claim(&[0, 1], &[bound(here.clone(), 1)]).await, [Done, Full]);
    // What is held counts, and another executor's room is its own.
    assert_eq!(claim(&[1], &[bound(here.clone(), 1), bound(Scope::Executor(executor("boot-2")), 5)]).await, [Full]);
    assert_eq!(claim(&[1, 2], &[bound(Scope::Group("local".to_owned()), 2)]).await, [Done, Full]);
    assert_eq!(claim(&[2], &[bound(Scope::Job(job.id), 2)]).await, [Full]);
    assert_eq!(claim(&[2, 3], &[bound(Scope::Everything, 3)]).await, [Done, Full]);
    // The tenant's bound holds back its own tasks and no others.
    let tenant = Scope::Tenant("acme".to_owned());
    assert_eq!(claim(&[4, 5, 3], &[bound(tenant.clone(), 1)]).await, [Done, Full, Done]);
    // One that has moved already takes no room.
    assert_eq!(claim(&[0, 5], &[bound(tenant.clone(), 2)]).await, [Lost, Done]);
    assert_eq!(claim(&[6, 7], &[]).await, [Done, Done]);

    let scopes = [here, Scope::Executor(executor("boot-2")), tenant, Scope::Job(job.id), Scope::Everything];
    assert_eq!(store.held(&scopes).await.unwrap(), [8, 0, 4, 8, 8]);
    let refused = task_now(store, tasks[0].id).await;
    assert_eq!((refused.state(), refused.fence()), (TaskState::Pushed, 2));
    moved(store, &lead, &tasks[0], &[Start, Succeed], 71).await;
    assert_eq!(store.held(&scopes[3..]).await.unwrap(), [7, 7]);
    assert!(store.held(&[]).await.unwrap().is_empty());
}

pub async fn nothing_is_claimed_under_limits_that_are_no_longer_set(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks = ready(store, &lead, &made, (0..3).map(|_| task(&made)).collect()).await;
    let claim =
        async |task: &Task, limits: &Limits| store.claim(&lead, &[push(task, "boot-1")], &[], limits).await.unwrap();
    let mut limits = Limits::default();
    assert_eq!(claim(&tasks[0], &limits).await, [Claimed::Done]);
    let before = limits.clone();
    limits.put(&LimitOn::Group("local".to_owned()), Some(2));
    carry_out(store, &lead, vec![Change::Set { key: LIMITS.to_owned(), value: json!(limits) }]).await;
    assert_eq!(claim(&tasks[1], &before).await, [Claimed::Full]);
    assert_eq!(task_now(store, tasks[1].id).await, tasks[1]);
    assert_eq!(claim(&tasks[1], &limits).await, [Claimed::Done]);
    assert_eq!(claim(&tasks[1], &before).await, [Claimed::Lost]);
}

pub async fn claims_at_once_do_not_exceed_a_bound_together(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks = ready(store, &lead, &made, (0..12).map(|_| task(&made)).collect()).await;
    let bounds = [Bound { scope: Scope::Job(job.id), most: 5 }];
    let claims: Vec<Vec<Step>> =
        tasks.chunks(3).map(|tasks| tasks.iter().map(|task| push(task, "boot-1")).collect()).collect();
    let unlimited = &Limits::default();
    let claimed = join_all(claims.iter().map(|pushes| store.claim(&lead, pushes, &bounds, unlimited))).await;
    let done = claimed.into_iter().flat_map(Result::unwrap).filter(|claimed| *claimed == Claimed::Done).count();
    assert_eq!(done, 5);
    assert_eq!(store.held(&[Scope::Job(job.id)]).await.unwrap(), [5]);
}

pub async fn a_task_is_promotable_from_its_time_on_while_it_is_ready(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks = ready(store, &lead, &made, (0..4).map(|_| task(&made)).collect()).await;
    for (task, second) in tasks.iter().zip([90, 80, 100]) {
        let mut step = task.clone().begin();
        step.task_mut().promote_at = Some(at(second));
        assert_eq!(take(store, &lead, step).await, Taken::Done);
    }
    let promotable = async |second| ids(&store.promotable(at(second), 10).await.unwrap());
    assert_eq!(promotable(79).await, []);
    assert_eq!(promotable(90).await, [tasks[1].id, tasks[0].id]);
    assert_eq!(ids(&store.promotable(at(999), 1).await.unwrap()), [tasks[1].id]);

    // In its new lane it stands behind those that were there before.
    let mut up = task_now(store, tasks[1].id).await.begin();
    up.task_mut().lane = Lane::Retry;
    up.task_mut().lane_since = Some(at(95));
    up.task_mut().promote_at = None;
    up.task_mut().promotions = 1;
    assert_eq!(take(store, &lead, up).await, Taken::Done);
    moved(store, &lead, &tasks[0], &[Push], 96).await;
    assert_eq!(promotable(999).await, [tasks[2].id]);
    let order = ids(&store.ready_tasks(&all_of(vec![tasks[0].need()], 10)).await.unwrap());
    assert_eq!(order, [tasks[1].id, tasks[2].id, tasks[3].id]);
    let depths = store.lane_depths(at(100)).await.unwrap();
    let shown: Vec<_> = depths.iter().map(|depth| (depth.depth, depth.promoted, depth.stale)).collect();
    assert_eq!(shown, [(0, 0, 0), (0, 0, 0), (1, 1, 1), (2, 0, 2), (0, 0, 0)]);
    assert_eq!(store.lane_depths(at(64)).await.unwrap()[3].stale, 1);
}

pub async fn a_ready_task_expires_at_its_time(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let expiring = |second| with(&made, |task| task.expires_at = Some(at(second)));
    let tasks = ready(store, &lead, &made, vec![expiring(90), expiring(80), task(&made), expiring(70)]).await;
    assert_eq!(store.expired(at(69), 10).await.unwrap(), []);
    assert_eq!(ids(&store.expired(at(80), 10).await.unwrap()), [tasks[3].id, tasks[1].id]);
    moved(store, &lead, &tasks[3], &[TaskEvent::Supersede], 80).await;
    moved(store, &lead, &tasks[1], &[Push], 80).await;
    assert_eq!(ids(&store.expired(at(999), 10).await.unwrap()), [tasks[0].id]);
}

pub async fn the_last_executor_of_a_job_is_that_of_its_newest_task_that_had_one(store: &dyn Store) {
    let lead = lead(store).await;
    let (job, other, idle) =
        (saved(store, &lead, "job").await, saved(store, &lead, "other").await, saved(store, &lead, "idle").await);
    for (second, name) in [(60, "a"), (120, "b")] {
        let made = launched(store, &lead, &job, second).await;
        let task = assigned(store, &lead, &made).await;
        let mut step = step(task, &[Due, Push, Start, Succeed], second);
        step.task_mut().executor = Some(campanile_model::task::ExecutorRef { name: name.to_owned(), ..executor("1") });
        assert_eq!(take(store, &lead, step).await, Taken::Done);
    }
    let waiting = launched(store, &lead, &job, 180).await;
    assigned(store, &lead, &waiting).await;
    succeeded(store, &lead, &other, 60).await;
    let mut last = store.last_executors(&[job.id, idle.id, other.id]).await.unwrap();
    last.sort();
    let mut expected = [(job.id, "b".to_owned()), (other.id, "here".to_owned())];
    expected.sort();
    assert_eq!(last, expected);
    assert_eq!(store.last_executors(&[]).await.unwrap(), []);
}

fn settlement(made: &Instance, to: InstanceState) -> Settlement {
    let failure = Failure { class: FailureClass::Transient, code: "k".to_owned(), message: Words::new("no", "无") };
    Settlement { change: moves(made.id, to, 90), failure: Some(failure), incidents: Vec::new() }
}

pub async fn an_instance_of_several_tasks_is_settled_when_all_have_ended(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let part = || with(&made, |task| task.limits.of_several = true);
    let tasks = vec![part(), part()];
    assign(store, &lead, &made, tasks.clone()).await;
    moved(store, &lead, &tasks[0], &[Due, Push, Start, Succeed], 61).await;
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), []);
    let failed = settlement(&made, InstanceState::Failed);
    assert_eq!(store.settle(&lead, std::slice::from_ref(&failed)).await.unwrap(), [false]);
    assert_eq!(instance_now(store, made.id).await.state, InstanceState::Waiting);
    moved(store, &lead, &tasks[1], &[Due, Push, Start, Fail], 62).await;
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), [made.id]);

    let mut noted = failed.clone();
    noted.incidents.push(incident(&job, IncidentKind::InstanceFailed, 90));
    assert_eq!(
        store
            .settle(&lead, &[noted, settlement(&launched(store, &lead, &job, 120).await, InstanceState::Failed)])
            .await
            .unwrap(),
        [true, true]
    );
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.finished_at, &now.failure), (InstanceState::Failed, Some(at(90)), &failed.failure));
    assert_eq!(store.new_incidents(10).await.unwrap().len(), 1);
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), []);
    assert_eq!(store.settle(&lead, &[failed]).await.unwrap(), [false]);

    // An operator opens it again.
    let mut again = step(task_now(store, tasks[1].id).await, &[TaskEvent::RunAgain], 95);
    again.moves_instance(moves(made.id, InstanceState::Running, 95));
    assert_eq!(take(store, &lead, again).await, Taken::Done);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.failure), (InstanceState::Running, None));
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), []);
    moved(store, &lead, &tasks[1], &[Cancel], 96).await;
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), [made.id]);
}

pub async fn of_claims_of_the_same_tasks_at_once_each_is_pushed_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let tasks = ready(store, &lead, &made, (0..12).map(|_| task(&made)).collect()).await;
    let boots = ["boot-1", "boot-2", "boot-3"];
    let claims: Vec<Vec<Step>> = boots
        .iter()
        .enumerate()
        .map(|(n, boot)| {
            let mut pushes: Vec<Step> = tasks.iter().map(|task| push(task, boot)).collect();
            pushes.rotate_left(4 * n);
            pushes
        })
        .collect();
    let unlimited = &Limits::default();
    let claimed = join_all(claims.iter().map(|pushes| store.claim(&lead, pushes, &[], unlimited))).await;
    let mut pushed = BTreeMap::new();
    for ((boot, pushes), claimed) in boots.into_iter().zip(&claims).zip(claimed) {
        for (step, claimed) in pushes.iter().zip(claimed.unwrap()) {
            if claimed == Claimed::Done {
                assert_eq!(pushed.insert(step.task().id, boot), None);
            }
        }
    }
    // Whoever came too late was told so, and nothing of it was written.
    for task in &tasks {
        let now = task_now(store, task.id).await;
        let boot = now.executor.as_ref().map(|executor| executor.boot.as_str());
        assert_eq!(boot, pushed.get(&task.id).copied());
        assert_eq!(now.state() == TaskState::Pushed, boot.is_some());
    }
    assert!(!pushed.is_empty());
}
