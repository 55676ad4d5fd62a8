//! Tasks: who may move them, and where they are found.

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::job::Job;
use campanile_model::task::{IncidentKind, Placement, Step, Stop, StopCause, StopStage, Task, TaskEvent, TaskState};
use campanile_model::{Failure, FailureClass, Lane, Partitions, TaskId, Words};
use futures::future::join_all;

use super::fixtures::*;
use crate::{Change, Lead, Store, Taken, Wanted, WantedNeed};

use TaskEvent::{Due, Fail, HandBack, PassDeadline, Push, RunAgain, Start, Succeed};

fn ids(tasks: &[Task]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.id).collect()
}

fn task_with(instance: &Instance, change: impl FnOnce(&mut Task)) -> Task {
    let mut task = task(instance);
    change(&mut task);
    task
}

/// An instance with so many tasks, as the store has them.
async fn some_tasks(store: &dyn Store, lead: &Lead, job: &Job, second: i64, n: usize) -> (Instance, Vec<Task>) {
    let made = launched(store, lead, job, second).await;
    let tasks: Vec<Task> = (0..n).map(|_| task(&made)).collect();
    assign(store, lead, &made, tasks.clone()).await;
    (made, tasks)
}

async fn one_task(store: &dyn Store, lead: &Lead) -> (Job, Instance, Task) {
    let job = saved(store, lead, "job").await;
    let (made, mut tasks) = some_tasks(store, lead, &job, 60, 1).await;
    (job, made, tasks.remove(0))
}

pub async fn a_task_reads_back_as_it_was_written(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, made, task) = one_task(store, &lead).await;
    assert_eq!(task_now(store, task.id).await, task);

    let mut full = step(task, &[Due, Push, Start, Fail], 70);
    {
        let task = full.task_mut();
        task.lane = Lane::High;
        task.due_at = at(71);
        task.deadline_at = Some(at(72));
        task.sequence = 9;
        task.retries_used = 2;
        task.lost_unstarted = 3;
        task.handed_back = 4;
        task.lane_since = Some(at(73));
        task.promote_at = Some(at(74));
        task.promotions = 5;
        task.needs.placed = Some(Placement { executor: "b".to_owned(), firm: true });
        task.limits.of_several = true;
        task.limits.run_timeout_ms = Some(1234);
        task.stop = Some(Stop {
            cause: StopCause::Operator,
            stage: StopStage::Acknowledged,
            asked_at: at(68),
            stage_at: at(69),
        });
        task.failure = Some(Failure {
            class: FailureClass::System,
            code: "k_sc_ec_200010".to_owned(),
            message: Words::new("\u{0}said \"no\"\r\n\u{FFFD}", "磁盘已满"),
        });
        task.result = Some("{\"rows\": [1, null]}".to_owned());
    }
    let written = full.task().clone();
    assert_eq!(take(store, &lead, full).await, Taken::Done);
    let read = task_now(store, written.id).await;
    assert_eq!((read.state(), read.attempt(), read.fence()), (TaskState::Failed, 1, 1));
    // The fence apart, which the write itself moved on, it is what was written.
    let row = campanile_model::task::StoredTask { state: read.state(), attempt: read.attempt(), fence: 1 };
    assert_eq!(read, written.stored(&row));
    assert_eq!(store.tasks_of(made.id).await.unwrap(), [read]);
    assert_eq!(store.tasks(&[task_id()]).await.unwrap(), []);
}

pub async fn of_two_takers_one_wins(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, _, task) = one_task(store, &lead).await;
    let steps: Vec<[Step; 1]> = (0..8).map(|n| [step(task.clone(), &[Due], 60 + n)]).collect();
    let taken = join_all(steps.iter().map(|step| store.take(&lead, step))).await;
    let won = taken.into_iter().filter(|taken| taken.as_ref().unwrap() == &[Taken::Done]).count();
    assert_eq!(won, 1);
    assert_eq!(task_now(store, task.id).await.fence(), 1);
}

pub async fn of_two_steps_in_one_batch_that_saw_the_same_one_is_lost(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, _, task) = one_task(store, &lead).await;
    let steps = [step(task.clone(), &[Due], 61), step(task.clone(), &[TaskEvent::Cancel], 62)];
    assert_eq!(store.take(&lead, &steps).await.unwrap(), [Taken::Done, Taken::Lost]);
    let now = task_now(store, task.id).await;
    assert_eq!((now.state(), now.ready_at, now.fence()), (TaskState::Ready, Some(at(61)), 1));
}

pub async fn steps_of_one_task_in_one_batch_follow_each_other(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, _, task) = one_task(store, &lead).await;
    let ready = step(task.clone(), &[Due], 61);
    let row = campanile_model::task::StoredTask { state: TaskState::Ready, attempt: 1, fence: ready.next_fence() };
    let pushed = step(ready.task().clone().stored(&row), &[Push], 62);
    assert_eq!(store.take(&lead, &[ready, pushed]).await.unwrap(), [Taken::Done, Taken::Done]);
    let now = task_now(store, task.id).await;
    assert_eq!(
        (now.state(), now.ready_at, now.pushed_at, now.fence()),
        (TaskState::Pushed, Some(at(61)), Some(at(62)), 2)
    );
}

pub async fn an_old_fence_is_refused_and_nothing_of_that_step_is_written(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (made, tasks) = some_tasks(store, &lead, &job, 60, 2).await;
    let ready = moved(store, &lead, &tasks[0], &[Due], 61).await;

    let mut late = step(tasks[0].clone(), &[Due, Push, Start, Succeed], 99);
    late.moves_instance(moves(made.id, InstanceState::Succeeded, 99));
    late.notes(incident(&job, IncidentKind::InstanceSucceeded, 99));
    let mut timely = step(tasks[1].clone(), &[Due], 99);
    timely.notes(incident(&job, IncidentKind::ReadyTimeout, 99));
    assert_eq!(store.take(&lead, &[late, timely]).await.unwrap(), [Taken::Lost, Taken::Done]);

    assert_eq!(task_now(store, tasks[0].id).await, ready);
    assert_eq!(task_now(store, tasks[1].id).await.state(), TaskState::Ready);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.finished_at), (InstanceState::Waiting, None));
    assert_eq!(job_now(store, job.id).await.last_final_at, None);
    let incidents = store.new_incidents(10).await.unwrap();
    assert_eq!(incidents.iter().map(|incident| incident.kind).collect::<Vec<_>>(), [IncidentKind::ReadyTimeout]);
}

pub async fn a_step_of_a_task_that_nobody_knows_is_lost(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let stranger = task(&made);
    assert_eq!(take(store, &lead, step(stranger, &[Due], 61)).await, Taken::Lost);
    assert_eq!(store.take(&lead, &[]).await.unwrap(), []);
}

pub async fn an_instance_moves_with_the_step_of_its_task(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, made, task) = one_task(store, &lead).await;
    let mut start = step(task, &[Due, Push, Start], 61);
    start.moves_instance(moves(made.id, InstanceState::Running, 61));
    let id = start.task().id;
    assert_eq!(take(store, &lead, start).await, Taken::Done);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.started_at, now.finished_at), (InstanceState::Running, Some(at(61)), None));

    let mut end = step(task_now(store, id).await, &[Succeed], 65);
    let mut change = moves(made.id, InstanceState::Succeeded, 65);
    change.result = Some("42".to_owned());
    end.moves_instance(change);
    assert_eq!(take(store, &lead, end).await, Taken::Done);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.started_at, now.finished_at), (InstanceState::Succeeded, Some(at(61)), Some(at(65))));
    assert_eq!(now.result.as_deref(), Some("42"));
}

pub async fn an_instance_that_has_ended_moves_only_back_to_running(store: &dyn Store) {
    let lead = lead(store).await;
    let (_, made, task) = one_task(store, &lead).await;
    let mut fail = step(task, &[Due, Push, Start, Fail], 61);
    fail.moves_instance(moves(made.id, InstanceState::Failed, 61));
    let id = fail.task().id;
    assert_eq!(take(store, &lead, fail).await, Taken::Done);

    // The step is written, the instance is left as it was.
    for (state, second) in [(InstanceState::Failed, 62), (InstanceState::Succeeded, 63), (InstanceState::Waiting, 64)] {
        let mut other = task_now(store, id).await.begin();
        other.moves_instance(moves(made.id, state, second));
        assert_eq!(take(store, &lead, other).await, Taken::Done);
        let now = instance_now(store, made.id).await;
        assert_eq!((now.state, now.finished_at), (InstanceState::Failed, Some(at(61))));
    }

    let mut again = step(task_now(store, id).await, &[RunAgain], 70);
    again.moves_instance(moves(made.id, InstanceState::Running, 70));
    assert_eq!(take(store, &lead, again).await, Taken::Done);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.finished_at), (InstanceState::Running, None));
    assert_eq!(task_now(store, id).await.attempt(), 2);
}

pub async fn moves_of_one_instance_in_one_batch_follow_each_other(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (made, tasks) = some_tasks(store, &lead, &job, 60, 3).await;
    let with = |n: usize, to, second| {
        let mut step = step(tasks[n].clone(), &[Due, Push, Start], second);
        step.moves_instance(moves(made.id, to, second));
        step
    };
    let steps = [
        with(0, InstanceState::Running, 61),
        with(1, InstanceState::Running, 62),
        with(2, InstanceState::Cancelled, 63),
    ];
    assert_eq!(store.take(&lead, &steps).await.unwrap(), [Taken::Done; 3]);
    let now = instance_now(store, made.id).await;
    assert_eq!((now.state, now.started_at, now.finished_at), (InstanceState::Cancelled, Some(at(61)), Some(at(63))));
}

pub async fn the_end_of_an_instance_of_the_schedule_is_noted_at_its_job(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    succeeded(store, &lead, &job, 60).await;
    assert_eq!(job_now(store, job.id).await.last_final_at, Some(at(61)));

    let by_hand = manual_instance(&job, 70);
    assert_eq!(carry_out(store, &lead, vec![Change::PutInstance(by_hand.clone())]).await, Taken::Done);
    ended(store, &lead, &by_hand, InstanceState::Succeeded, 80).await;
    assert_eq!(job_now(store, job.id).await.last_final_at, Some(at(61)));

    let late = launched(store, &lead, &job, 120).await;
    ended(store, &lead, &late, InstanceState::Failed, 130).await;
    assert_eq!(job_now(store, job.id).await.last_final_at, Some(at(130)));
}

pub async fn a_waiting_task_is_due_from_its_time_on(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.earliest_due_task(Partitions::ALL).await.unwrap(), None);
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let due = |second| task_with(&made, |task| task.due_at = at(second));
    let (late, early, same) = (due(90), due(70), due(70));
    assign(store, &lead, &made, vec![late.clone(), early.clone(), same.clone()]).await;

    assert_eq!(store.earliest_due_task(Partitions::ALL).await.unwrap(), Some(at(70)));
    assert_eq!(store.due_tasks(Partitions::ALL, at(69), 10).await.unwrap(), []);
    assert_eq!(ids(&store.due_tasks(Partitions::ALL, at(89), 10).await.unwrap()), [early.id, same.id]);
    assert_eq!(ids(&store.due_tasks(Partitions::ALL, at(90), 10).await.unwrap()), [early.id, same.id, late.id]);
    assert_eq!(ids(&store.due_tasks(Partitions::ALL, at(90), 1).await.unwrap()), [early.id]);
    moved(store, &lead, &early, &[Due], 90).await;
    moved(store, &lead, &same, &[Due], 90).await;
    assert_eq!(ids(&store.due_tasks(Partitions::ALL, at(90), 10).await.unwrap()), [late.id]);
    assert_eq!(store.earliest_due_task(Partitions::ALL).await.unwrap(), Some(at(90)));
}

fn wanted(limit: usize) -> Wanted {
    wanted_of(&["shell"], limit)
}

fn wanted_of(processors: &[&str], limit: usize) -> Wanted {
    let needs = processors.iter().map(|processor| WantedNeed::all_of(plain_need("local", processor))).collect();
    Wanted { needs, limit }
}

pub async fn ready_tasks_come_in_lane_order_and_first_in_first_out(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let lanes = [Lane::Low, Lane::Normal, Lane::Normal, Lane::Normal, Lane::Immediate, Lane::Retry, Lane::High];
    let tasks: Vec<Task> = lanes.into_iter().map(|lane| task_with(&made, |task| task.lane = lane)).collect();
    assign(store, &lead, &made, tasks.clone()).await;
    assert_eq!(store.ready_tasks(&wanted(10)).await.unwrap(), []);
    // Of the Normal ones the third becomes ready first, the other two at one moment.
    for (n, second) in [(0, 61), (3, 62), (2, 63), (1, 63), (4, 64), (5, 65), (6, 66)] {
        moved(store, &lead, &tasks[n], &[Due], second).await;
    }
    let order = [4, 6, 5, 3, 1, 2, 0].map(|n: usize| tasks[n].id);
    assert_eq!(ids(&store.ready_tasks(&wanted(10)).await.unwrap()), order);
    assert_eq!(ids(&store.ready_tasks(&wanted(3)).await.unwrap()), order[..3]);
    // Handed back, it has its old place.
    moved(store, &lead, &tasks[4], &[Push], 70).await;
    assert_eq!(ids(&store.ready_tasks(&wanted(10)).await.unwrap()), order[1..]);
    moved(store, &lead, &tasks[4], &[HandBack], 71).await;
    assert_eq!(ids(&store.ready_tasks(&wanted(10)).await.unwrap()), order);
}

pub async fn ready_tasks_are_those_of_the_processors_wanted(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let made = launched(store, &lead, &job, 60).await;
    let of = |group: &str, processor: &str| {
        task_with(&made, |task| {
            task.group = group.to_owned();
            task.processor = processor.to_owned();
        })
    };
    let tasks = [of("local", "http"), of("other", "shell"), of("local", "shell"), of("local", "http")];
    assign(store, &lead, &made, tasks.to_vec()).await;
    assert_eq!(store.ready_needs().await.unwrap(), []);
    for (n, task) in tasks.iter().enumerate() {
        moved(store, &lead, task, &[Due], 61 + i64::try_from(n).unwrap()).await;
    }

    let mut needs = store.ready_needs().await.unwrap();
    needs.sort();
    assert_eq!(needs, [plain_need("local", "http"), plain_need("local", "shell"), plain_need("other", "shell")]);
    assert_eq!(ids(&store.ready_tasks(&wanted(10)).await.unwrap()), [tasks[2].id]);
    let several = wanted_of(&["shell", "http"], 10);
    assert_eq!(ids(&store.ready_tasks(&several).await.unwrap()), [tasks[0].id, tasks[2].id, tasks[3].id]);
    let twice = wanted_of(&["http", "http"], 10);
    assert_eq!(ids(&store.ready_tasks(&twice).await.unwrap()), [tasks[0].id, tasks[3].id]);
    assert_eq!(store.ready_tasks(&wanted_of(&[], 10)).await.unwrap(), []);
}

pub async fn a_held_task_is_past_its_deadline_from_that_time_on(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (_, tasks) = some_tasks(store, &lead, &job, 60, 4).await;
    assert_eq!(store.earliest_deadline().await.unwrap(), None);
    let deadlines = [(&[Due, Push][..], 90), (&[Due, Push, Start], 80), (&[Due, Push, Start], 70), (&[Due, Push], 99)];
    for (task, (events, deadline)) in tasks.iter().zip(deadlines) {
        let mut step = step(task.clone(), events, 61);
        step.task_mut().deadline_at = Some(at(deadline));
        assert_eq!(take(store, &lead, step).await, Taken::Done);
    }
    assert_eq!(store.earliest_deadline().await.unwrap(), Some(at(70)));
    assert_eq!(store.past_deadline(at(69), 10).await.unwrap(), []);
    let mut past = ids(&store.past_deadline(at(90), 10).await.unwrap());
    past.sort();
    assert_eq!(past, [tasks[0].id, tasks[1].id, tasks[2].id]);
    assert_eq!(store.past_deadline(at(90), 2).await.unwrap().len(), 2);

    // Neither what overran nor what ended has one any more.
    moved(store, &lead, &tasks[2], &[PassDeadline], 75).await;
    moved(store, &lead, &tasks[1], &[Succeed], 76).await;
    assert_eq!(store.earliest_deadline().await.unwrap(), Some(at(90)));
    assert_eq!(ids(&store.past_deadline(at(90), 10).await.unwrap()), [tasks[0].id]);
}

pub async fn only_held_tasks_are_stopping(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (_, tasks) = some_tasks(store, &lead, &job, 60, 3).await;
    for (task, events) in tasks.iter().zip([&[Due, Push, Start][..], &[Due, Push, Start, PassDeadline], &[Due, Push]]) {
        let mut step = step(task.clone(), events, 61);
        step.task_mut().stop =
            Some(Stop { cause: StopCause::Operator, stage: StopStage::Asked, asked_at: at(61), stage_at: at(61) });
        assert_eq!(take(store, &lead, step).await, Taken::Done);
    }
    let mut stopping = ids(&store.stopping_tasks(10).await.unwrap());
    stopping.sort();
    assert_eq!(stopping, ids(&tasks));
    assert_eq!(store.stopping_tasks(2).await.unwrap().len(), 2);
    moved(store, &lead, &tasks[0], &[TaskEvent::Cancel], 62).await;
    moved(store, &lead, &tasks[2], &[HandBack], 62).await;
    assert_eq!(ids(&store.stopping_tasks(10).await.unwrap()), [tasks[1].id]);
}

pub async fn holders_are_told_apart_by_their_lives(store: &dyn Store) {
    let lead = lead(store).await;
    assert_eq!(store.holders().await.unwrap(), []);
    let job = saved(store, &lead, "job").await;
    let (_, tasks) = some_tasks(store, &lead, &job, 60, 4).await;
    for (task, boot) in tasks.iter().zip(["boot-1", "boot-2", "boot-1", "boot-1"]) {
        let mut step = step(task.clone(), &[Due, Push], 61);
        step.task_mut().executor = Some(executor(boot));
        assert_eq!(take(store, &lead, step).await, Taken::Done);
    }
    moved(store, &lead, &tasks[3], &[Start, Succeed], 62).await;

    let mut holders = store.holders().await.unwrap();
    holders.sort();
    assert_eq!(holders, [executor("boot-1"), executor("boot-2")]);
    let mut held = ids(&store.held_by(&executor("boot-1"), 10).await.unwrap());
    held.sort();
    assert_eq!(held, [tasks[0].id, tasks[2].id]);
    assert_eq!(store.held_by(&executor("boot-1"), 1).await.unwrap().len(), 1);
    assert_eq!(ids(&store.held_by(&executor("boot-2"), 10).await.unwrap()), [tasks[1].id]);
    assert_eq!(store.held_by(&executor("boot-3"), 10).await.unwrap(), []);
}

pub async fn every_lane_has_a_depth(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (_, tasks) = some_tasks(store, &lead, &job, 60, 3).await;
    moved(store, &lead, &tasks[0], &[Due], 65).await;
    moved(store, &lead, &tasks[1], &[Due], 63).await;
    let depths = store.lane_depths(at(64)).await.unwrap();
    assert_eq!(depths.iter().map(|depth| depth.lane).collect::<Vec<_>>(), Lane::ALL);
    for depth in depths {
        let expected = if depth.lane == Lane::Normal { (2, Some(at(63))) } else { (0, None) };
        assert_eq!((depth.depth, depth.oldest_ready_at), expected, "{}", depth.lane.name());
    }
}

pub async fn several_hundred_steps_are_one_batch(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let (made, tasks) = some_tasks(store, &lead, &job, 60, 500).await;
    let steps: Vec<Step> = tasks.iter().map(|task| step(task.clone(), &[Due], 61)).collect();
    assert_eq!(store.take(&lead, &steps).await.unwrap(), [Taken::Done; 500]);
    assert_eq!(ids(&store.ready_tasks(&wanted(1000)).await.unwrap()), ids(&tasks));

    let ready = store.tasks_of(made.id).await.unwrap();
    let ends: Vec<Step> = ready
        .into_iter()
        .map(|task| {
            let mut step = step(task, &[Push, Start, Succeed], 62);
            step.notes(incident(&job, IncidentKind::InstanceSucceeded, 62));
            step.moves_instance(moves(made.id, InstanceState::Succeeded, 62));
            step
        })
        .collect();
    assert_eq!(store.take(&lead, &ends).await.unwrap(), [Taken::Done; 500]);
    assert_eq!(store.new_incidents(1000).await.unwrap().len(), 500);
    assert_eq!(store.take(&lead, &ends).await.unwrap(), [Taken::Lost; 500]);
}

/// The batches name the tasks in different orders.
pub async fn of_many_batches_at_once_each_step_is_taken_once(store: &dyn Store) {
    let lead = lead(store).await;
    let mut tasks = Vec::new();
    for n in 0..10 {
        let job = saved(store, &lead, &format!("job-{n}")).await;
        let made = launched(store, &lead, &job, 60).await;
        tasks.push(assigned(store, &lead, &made).await);
    }
    let batches: Vec<Vec<Step>> = (0..6)
        .map(|n| {
            let mut steps: Vec<Step> = tasks
                .iter()
                .map(|task| {
                    let mut step = step(task.clone(), &[TaskEvent::Cancel], 61);
                    step.moves_instance(moves(task.instance, InstanceState::Cancelled, 61));
                    step
                })
                .collect();
            let by = 3 * n % steps.len();
            steps.rotate_left(by);
            if n % 2 == 1 {
                steps.reverse();
            }
            steps
        })
        .collect();
    let taken = join_all(batches.iter().map(|steps| store.take(&lead, steps))).await;
    let done = taken.into_iter().flat_map(Result::unwrap).filter(|taken| *taken == Taken::Done).count();
    assert_eq!(done, tasks.len());
    for task in &tasks {
        assert_eq!(instance_now(store, task.instance).await.state, InstanceState::Cancelled);
    }
}
