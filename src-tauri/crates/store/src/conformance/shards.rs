//! Sharded runs: data, levels, pieces, outcomes.

use std::collections::BTreeSet;

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::sharding::{
    Chunk, Level, LevelState, Outcomes, Phase, Piece, PieceAt, PieceOutcomes, Selection, ShardRange, ShardRun, Tally,
};
use campanile_model::task::{Part, Task, TaskEvent};
use campanile_model::{InstanceId, Partitions, TaskId};

use super::fixtures::*;
use crate::{Change, Lead, Purge, Settlement, ShardWrite, Store, Taken};

async fn instance_of(store: &dyn Store, lead: &Lead, name: &str) -> Instance {
    let job = saved(store, lead, name).await;
    launched(store, lead, &job, 60).await
}

fn begins(instance: &Instance) -> ShardWrite {
    ShardWrite { begins: Some(at(61)), ..ShardWrite::of(ShardRun::new(instance.id)) }
}

/// A run that has begun.
async fn begun(store: &dyn Store, lead: &Lead, name: &str) -> Instance {
    let instance = instance_of(store, lead, name).await;
    assert_eq!(store.conduct(lead, &begins(&instance)).await.unwrap(), Taken::Done);
    instance
}

async fn run_now(store: &dyn Store, instance: InstanceId) -> ShardRun {
    store.shard_run(instance).await.unwrap().expect("the run is there")
}

/// Writes, seeing the run as it is.
async fn conducts(store: &dyn Store, lead: &Lead, instance: InstanceId, change: impl FnOnce(&mut ShardWrite)) {
    let mut write = ShardWrite::of(run_now(store, instance).await);
    change(&mut write);
    assert_eq!(store.conduct(lead, &write).await.unwrap(), Taken::Done);
}

fn chunk(draft: u32, level: u32, first: u64, items: &[&str]) -> Chunk {
    Chunk { draft, level, first, items: items.iter().map(|item| (*item).to_owned()).collect() }
}

fn piece(level: u32, shard: u32, first: u64, items: &[&str]) -> Piece {
    let items = items.iter().map(|item| (*item).to_owned()).collect();
    Piece { at: PieceAt { level, shard, first }, items }
}

fn shard_task(instance: &Instance, index: u32) -> Task {
    let part = Part::Shard { level: 0, index, count: 2, round: 1, items: 3, done: 0 };
    task(instance).as_part(part)
}

pub async fn a_run_begins_once_and_reads_back_as_it_was_written(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = instance_of(store, &lead, "import").await;
    assert_eq!(store.shard_run(instance.id).await.unwrap(), None);
    assert_eq!(store.conduct(&lead, &begins(&instance)).await.unwrap(), Taken::Done);
    assert_eq!(store.conduct(&lead, &begins(&instance)).await.unwrap(), Taken::Lost);
    assert_eq!(run_now(store, instance.id).await, ShardRun { fence: 1, ..ShardRun::new(instance.id) });
    assert_eq!(instance_now(store, instance.id).await.assigned_at, Some(at(61)));
    assert_eq!(store.unassigned(Partitions::ALL, 10).await.unwrap(), []);
    assert_eq!(store.ended_together(Partitions::ALL, 10).await.unwrap(), []);

    let changed = ShardRun {
        fence: 1,
        phase: Phase::Levels,
        round: 2,
        draft: 3,
        tally: Tally { done: 0, total: 70 },
        told: 5,
        notices: vec![task_id(), task_id()],
        post: Some(task_id()),
        level_count: 2,
        notifies: true,
        post_processes: true,
        stopping: true,
        again: Some(Selection::from(vec![ShardRange { level: 1, from: 0, until: 3 }])),
        stops: Selection::from(vec![ShardRange { level: 0, from: 2, until: 4 }]),
        ..ShardRun::new(instance.id)
    };
    let level = Level {
        state: LevelState::Running,
        shards: 4,
        dealt: 60,
        made: 2,
        first: Some(task_id()),
        executors: BTreeSet::from(["b".to_owned(), "a".to_owned()]),
        round: 1,
        waits_since: Some(at(70)),
        started_at: Some(at(71)),
        ended_at: Some(at(72)),
        ..Level::new(1, 60)
    };
    let write =
        ShardWrite { levels: vec![level.clone(), Level::new(0, 10)], done: 7, ..ShardWrite::of(changed.clone()) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Done);
    let expected = ShardRun { fence: 2, tally: Tally { done: 7, total: 70 }, ..changed };
    assert_eq!(run_now(store, instance.id).await, expected);
    assert_eq!(store.levels(instance.id).await.unwrap(), [Level::new(0, 10), level.clone()]);
    let ended = Level { state: LevelState::Failed, executors: BTreeSet::new(), waits_since: None, ..level };
    conducts(store, &lead, instance.id, |write| write.levels = vec![ended.clone()]).await;
    assert_eq!(store.levels(instance.id).await.unwrap(), [Level::new(0, 10), ended.clone()]);
    assert_eq!(store.levels_from(instance.id, 0, 1).await.unwrap(), [Level::new(0, 10)]);
    assert_eq!(store.levels_from(instance.id, 1, 9).await.unwrap(), [ended]);
    assert_eq!(store.levels_from(instance.id, 9, 9).await.unwrap(), []);
}

pub async fn an_instance_that_has_ended_or_has_tasks_does_not_begin(store: &dyn Store) {
    let lead = lead(store).await;
    let cancelled = instance_of(store, &lead, "cancelled").await;
    assert!(store.end_unassigned(&lead, &moves(cancelled.id, InstanceState::Cancelled, 61)).await.unwrap());
    let plain = instance_of(store, &lead, "plain").await;
    assigned(store, &lead, &plain).await;
    for instance in [cancelled, plain] {
        assert_eq!(store.conduct(&lead, &begins(&instance)).await.unwrap(), Taken::Lost);
        assert_eq!(store.shard_run(instance.id).await.unwrap(), None);
    }
}

pub async fn an_instance_that_has_ended_gets_no_further_tasks(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let ended =
        Settlement { change: moves(instance.id, InstanceState::Cancelled, 70), failure: None, incidents: Vec::new() };
    assert_eq!(store.settle(&lead, &[ended]).await.unwrap(), [true]);
    let run = run_now(store, instance.id).await;
    let write = ShardWrite { tasks: vec![shard_task(&instance, 0)], ..ShardWrite::of(run.clone()) };
    assert_eq!(store.conduct(&lead, &write).await.unwrap(), Taken::Lost);
    assert_eq!(run_now(store, instance.id).await, run);
    conducts(store, &lead, instance.id, |write| write.run.phase = Phase::Over).await;

    // Unless it is to run again.
    let mut again = ShardWrite { reopens: Some(at(80)), ..write };
    assert_eq!(store.conduct(&lead, &again).await.unwrap(), Taken::Lost);
    assert_eq!(instance_now(store, instance.id).await.state, InstanceState::Cancelled);
    again.run.fence += 1;
    assert_eq!(carry_out(store, &lead, vec![Change::Conduct(Box::new(again.clone()))]).await, Taken::Done);
    assert_eq!(carry_out(store, &lead, vec![Change::Conduct(Box::new(again))]).await, Taken::Lost);
    assert_eq!(instance_now(store, instance.id).await.state, InstanceState::Running);
    assert_eq!(store.tasks_of(instance.id).await.unwrap().len(), 1);
}

pub async fn of_two_that_saw_the_same_run_one_writes(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let seen = run_now(store, instance.id).await;
    let write = |phase, item: &str| ShardWrite {
        data: vec![chunk(0, 0, 0, &[item])],
        levels: vec![Level::new(0, 1)],
        tasks: vec![shard_task(&instance, 0)],
        pieces: vec![piece(1, 0, 0, &[item])],
        ..ShardWrite::of(ShardRun { phase, ..seen.clone() })
    };
    assert_eq!(store.conduct(&lead, &write(Phase::Levels, "1")).await.unwrap(), Taken::Done);
    assert_eq!(store.conduct(&lead, &write(Phase::PreProcess, "2")).await.unwrap(), Taken::Lost);
    assert_eq!(run_now(store, instance.id).await.phase, Phase::Levels);
    assert_eq!(store.chunks(instance.id, 0, (0, 0), 9).await.unwrap(), [chunk(0, 0, 0, &["1"])]);
    assert_eq!(store.tasks_of(instance.id).await.unwrap().len(), 1);
}

pub async fn runs_that_are_over_are_not_found_and_the_others_oldest_first(store: &dyn Store) {
    let lead = lead(store).await;
    let mut begun_here = Vec::new();
    for name in ["a", "b", "c"] {
        begun_here.push(begun(store, &lead, name).await.id);
    }
    conducts(store, &lead, begun_here[1], |write| write.run.phase = Phase::Over).await;
    let found = |after, limit| async move {
        let runs = store.shard_runs(Partitions::ALL, after, limit).await.unwrap();
        runs.into_iter().map(|run| run.instance).collect::<Vec<_>>()
    };
    assert_eq!(found(None, 9).await, [begun_here[0], begun_here[2]]);
    assert_eq!(found(None, 1).await, [begun_here[0]]);
    assert_eq!(found(Some(begun_here[0]), 9).await, [begun_here[2]]);
    // What is over has its place still; of what was never there nobody knows one.
    assert_eq!(found(Some(begun_here[1]), 9).await, [begun_here[2]]);
    assert_eq!(found(Some(begun_here[2]), 9).await, []);
    assert_eq!(found(Some(instance(&job("never"), 60).id), 1).await, [begun_here[0]]);
    // A further round.
    conducts(store, &lead, begun_here[1], |write| write.run.phase = Phase::Levels).await;
    assert_eq!(found(None, 9).await, begun_here);
}

pub async fn data_comes_in_order_and_drafts_stay_apart(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await.id;
    let other = begun(store, &lead, "other").await.id;
    let given = [chunk(0, 1, 0, &["[1]"]), chunk(0, 0, 2, &[r#""c""#]), chunk(0, 0, 0, &[r#"{"a":"错\n"}"#, "null"])];
    conducts(store, &lead, instance, |write| write.data = given.to_vec()).await;
    conducts(store, &lead, instance, |write| write.data = vec![chunk(2, 0, 0, &["7"]), chunk(2, 5, 0, &["8", "9"])])
        .await;
    conducts(store, &lead, other, |write| write.data = vec![chunk(0, 0, 0, &["x"])]).await;
    // What was written may be written again.
    conducts(store, &lead, instance, |write| write.data = vec![chunk(0, 0, 2, &["changed"])]).await;

    let [third, second, first] = given;
    let in_order = [first, second, third];
    assert_eq!(store.chunks(instance, 0, (0, 0), 9).await.unwrap(), in_order);
    assert_eq!(store.chunks(instance, 0, (0, 0), 2).await.unwrap(), in_order[..2]);
    assert_eq!(store.chunks(instance, 0, (0, 1), 9).await.unwrap(), in_order[1..]);
    assert_eq!(store.chunks(instance, 0, (1, 0), 9).await.unwrap(), in_order[2..]);
    assert_eq!(store.chunks(instance, 0, (1, 1), 9).await.unwrap(), []);
    assert_eq!(store.level_sizes(instance, 0).await.unwrap(), [(0, 3), (1, 1)]);
    assert_eq!(store.level_sizes(instance, 2).await.unwrap(), [(0, 1), (5, 2)]);
    assert_eq!(store.level_sizes(instance, 1).await.unwrap(), []);

    conducts(store, &lead, instance, |write| {
        write.run.draft = 2;
        write.adopts = true;
    })
    .await;
    assert_eq!(store.level_sizes(instance, 0).await.unwrap(), []);
    assert_eq!(store.level_sizes(instance, 2).await.unwrap(), [(0, 1), (5, 2)]);
    assert_eq!(store.level_sizes(other, 0).await.unwrap(), [(0, 1)]);
}

pub async fn dealing_moves_items_from_the_data_into_shards_in_one_write(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await.id;
    let data = vec![chunk(0, 0, 0, &["0", "1"]), chunk(0, 0, 2, &["2", "3"]), chunk(0, 1, 0, &["9"])];
    conducts(store, &lead, instance, |write| write.data = data.clone()).await;
    let pieces = [piece(0, 0, 0, &["0", "2"]), piece(0, 1, 1, &["1"])];
    conducts(store, &lead, instance, |write| {
        write.pieces = pieces.to_vec();
        write.dealt = Some((0, 2));
        write.levels = vec![Level { dealt: 2, shards: 2, ..Level::new(0, 4) }];
    })
    .await;
    assert_eq!(store.chunks(instance, 0, (0, 0), 9).await.unwrap(), data[1..]);
    let more = [piece(0, 0, 4, &["4"]), piece(0, 0, 6, &["6"])];
    conducts(store, &lead, instance, |write| write.pieces = more.to_vec()).await;

    let other = begun(store, &lead, "other").await.id;
    let its = [piece(0, 0, 0, &["a"])];
    conducts(store, &lead, other, |write| write.pieces = its.to_vec()).await;

    let none = |instance: InstanceId, piece: &Piece| {
        (instance, piece.clone(), PieceOutcomes { at: piece.at, outcomes: Outcomes::none(piece.items.len()) })
    };
    let first = [none(instance, &pieces[0]), none(instance, &more[0]), none(instance, &more[1])];
    let of = |shard, first| (instance, PieceAt { level: 0, shard, first });
    assert_eq!(store.pieces(&[of(0, 0)], 9).await.unwrap(), first);
    assert_eq!(store.pieces(&[of(0, 0)], 2).await.unwrap(), first[..2]);
    assert_eq!(store.pieces(&[of(0, 4)], 9).await.unwrap(), first[1..]);
    assert_eq!(store.pieces(&[(instance, PieceAt { level: 1, shard: 0, first: 0 })], 9).await.unwrap(), []);
    assert_eq!(store.pieces(&[], 9).await.unwrap(), []);
    // Of several shards at once, so many of each.
    let second = none(instance, &pieces[1]);
    let found = store.pieces(&[of(1, 0), of(0, 3), of(7, 0)], 1).await.unwrap();
    assert_eq!(found, [first[1].clone(), second.clone()]);
    let found = store.pieces(&[(other, its[0].at), of(1, 0)], 9).await.unwrap();
    let (theirs, ours): (Vec<_>, Vec<_>) = found.into_iter().partition(|(of, _, _)| *of == other);
    assert_eq!((theirs, ours), (vec![none(other, &its[0])], vec![second]));
}

pub async fn tasks_are_added_and_come_in_the_order_they_were_made(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id).collect::<Vec<TaskId>>();
    let other = begun(store, &lead, "other").await;
    let mut all = Vec::new();
    for batch in 0..2 {
        let tasks: Vec<Task> = (0..3).map(|index| shard_task(&instance, 3 * batch + index)).collect();
        all.extend(tasks.clone());
        conducts(store, &lead, instance.id, |write| write.tasks = tasks).await;
    }
    assert_eq!(store.tasks_after(instance.id, None, 9).await.unwrap(), all);
    assert_eq!(store.tasks_after(instance.id, None, 2).await.unwrap(), all[..2]);
    assert_eq!(ids(&store.tasks_after(instance.id, Some(all[1].id), 3).await.unwrap()), ids(&all[2..5]));
    assert_eq!(ids(&store.tasks_after(instance.id, Some(all[5].id), 3).await.unwrap()), []);
    moved(store, &lead, &all[0], &[TaskEvent::Due], 65).await;
    assert_eq!(store.open_tasks(instance.id, 9).await.unwrap().len(), 6);
    assert_eq!(store.open_tasks(instance.id, 1).await.unwrap().len(), 1);
    assert_eq!(store.open_tasks(other.id, 9).await.unwrap(), []);
    for task in &all {
        moved(store, &lead, task, &[TaskEvent::Cancel], 70).await;
    }
    assert_eq!(store.open_tasks(instance.id, 9).await.unwrap(), []);
    // They do not end their instance, and it is not one that ends with its tasks.
    assert_eq!(store.ended_together(Partitions::ALL, 9).await.unwrap(), []);
}

pub async fn outcomes_are_written_with_the_step_that_brings_them_or_not_at_all(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let (one, two) = (shard_task(&instance, 0), shard_task(&instance, 1));
    let pieces = vec![piece(0, 0, 0, &["0", "2", "4"]), piece(0, 1, 1, &["1", "3"]), piece(0, 1, 5, &["5"])];
    conducts(store, &lead, instance.id, |write| {
        write.tasks = vec![one.clone(), two.clone()];
        write.pieces = pieces.clone();
        write.run.tally.total = 6;
    })
    .await;
    let said = |at: PieceAt, count, places: &[(usize, bool, &str)]| {
        let mut outcomes = Outcomes::none(count);
        for (place, succeeded, message) in places {
            assert!(outcomes.say(*place, *succeeded, message));
        }
        PieceOutcomes { at, outcomes }
    };
    let first = said(pieces[0].at, 3, &[(0, true, ""), (2, false, "行 4 \"坏\"")]);
    let second = said(pieces[2].at, 1, &[(0, true, "ok")]);

    let begin = |task: &Task| step(task.clone(), &[TaskEvent::Due], 62);
    let mut brings = begin(&one);
    brings.settles(vec![first.clone()], 2);
    let mut brings_too = begin(&two);
    brings_too.settles(vec![second.clone()], 1);
    assert_eq!(store.take(&lead, &[brings.clone(), brings_too]).await.unwrap(), [Taken::Done, Taken::Done]);
    // Once more, or late: nothing of it counts.
    let mut late = begin(&one);
    late.settles(vec![said(pieces[0].at, 3, &[(1, true, "")])], 1);
    assert_eq!(store.take(&lead, &[late]).await.unwrap(), [Taken::Lost]);

    let run = run_now(store, instance.id).await;
    assert_eq!((run.tally, run.fence), (Tally { done: 3, total: 6 }, 2));
    let kept = store.pieces(&[(instance.id, pieces[0].at)], 9).await.unwrap();
    assert_eq!(kept, [(instance.id, pieces[0].clone(), first.clone())]);
    let untouched = said(pieces[1].at, 2, &[]);
    let of = |level, shard, first, last| (instance.id, PieceAt { level, shard, first }, last);
    let found = store.item_outcomes(&[of(0, 1, 0, 9), of(0, 0, 0, 9), of(3, 0, 0, 9)]).await.unwrap();
    let [first, untouched, second] = [first, untouched, second].map(|outcomes| (instance.id, outcomes));
    assert_eq!(found, [first, untouched.clone(), second.clone()]);
    // Some of a shard's pieces alone.
    assert_eq!(store.item_outcomes(&[of(0, 1, 0, 4)]).await.unwrap(), [untouched]);
    assert_eq!(store.item_outcomes(&[of(0, 1, 2, 5), of(0, 0, 1, 9)]).await.unwrap(), [second]);
    assert_eq!(store.item_outcomes(&[of(0, 1, 2, 4)]).await.unwrap(), []);
    assert_eq!(store.item_outcomes(&[]).await.unwrap(), []);
    // What the run says of itself leaves it alone, unless it says so.
    conducts(store, &lead, instance.id, |write| write.run.told = 3).await;
    assert_eq!(run_now(store, instance.id).await.tally.done, 3);
    conducts(store, &lead, instance.id, |write| write.done = -3).await;
    assert_eq!(run_now(store, instance.id).await.tally.done, 0);
}

pub async fn a_part_and_what_it_gives_are_written_with_its_step(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let pre = task(&instance).as_part(Part::PreProcess { level: 0, next: 0, whole: false });
    conducts(store, &lead, instance.id, |write| write.tasks = vec![pre.clone()]).await;
    assert_eq!(task_now(store, pre.id).await.part, pre.part);
    let mut gives = step(pre.clone(), &[TaskEvent::Due], 62);
    gives.gives(chunk(1, 0, 0, &["1", "2"]));
    gives.gives(chunk(1, 1, 0, &["3"]));
    gives.task_mut().part = Some(Part::PreProcess { level: 1, next: 1, whole: true });
    assert_eq!(store.take(&lead, std::slice::from_ref(&gives)).await.unwrap(), [Taken::Done]);
    assert_eq!(store.take(&lead, &[gives.clone()]).await.unwrap(), [Taken::Lost]);
    assert_eq!(task_now(store, pre.id).await.part, gives.task().part);
    assert_eq!(store.level_sizes(instance.id, 1).await.unwrap(), [(0, 2), (1, 1)]);
    // Each attempt says it anew.
    assert_eq!(gives.task().part.map(Part::again), pre.part);
}

pub async fn shards_go_with_their_instance(store: &dyn Store) {
    let lead = lead(store).await;
    let instance = begun(store, &lead, "import").await;
    let other = begun(store, &lead, "other").await;
    for instance in [&instance, &other] {
        let tasks = vec![shard_task(instance, 0)];
        conducts(store, &lead, instance.id, |write| {
            write.tasks = tasks;
            write.data = vec![chunk(0, 0, 0, &["1"])];
            write.levels = vec![Level::new(0, 1)];
            write.pieces = vec![piece(0, 0, 0, &["1"])];
        })
        .await;
    }
    let task = store.tasks_of(instance.id).await.unwrap().remove(0);
    let mut last = step(task, &[TaskEvent::Cancel], 70);
    last.moves_instance(moves(instance.id, InstanceState::Cancelled, 70));
    assert_eq!(take(store, &lead, last).await, Taken::Done);
    let purge = Purge {
        instances_before: at(100),
        requests_before: at(0),
        incidents_before: at(0),
        alarms_before: at(0),
        staged_before: at(0),
        passes_before: at(0),
        keep_per_job: 1000,
        limit: 10,
    };
    assert_eq!(store.purge(&lead, &purge).await.unwrap().instances, 1);
    assert_eq!(store.shard_run(instance.id).await.unwrap(), None);
    assert_eq!(store.levels(instance.id).await.unwrap(), []);
    assert_eq!(store.chunks(instance.id, 0, (0, 0), 9).await.unwrap(), []);
    let at = PieceAt { level: 0, shard: 0, first: 0 };
    assert_eq!(store.pieces(&[(instance.id, at)], 9).await.unwrap(), []);
    assert_eq!(store.item_outcomes(&[(instance.id, at, 9), (other.id, at, 9)]).await.unwrap().len(), 1);
    assert_eq!(store.levels(other.id).await.unwrap().len(), 1);
}
