//! Stopping what was begun, and what was not.

use campanile_model::Code;
use campanile_model::instance::InstanceState;
use campanile_model::task::{StopStage, TaskState};
use campanile_sdk::proto::v1::CancelAsk;
use campanile_tests::{Deed, Obeys, World, story};
use serde_json::json;

/// When it was asked what, in seconds after `from`.
fn asked(world: &World, from: campanile_model::Timestamp) -> Vec<(i64, CancelAsk)> {
    let asked = world.executors[0].asked.iter();
    asked.map(|(at, ask)| ((at.millis() - from.millis()) / 1000, *ask)).collect()
}

async fn stage(world: &World, job: campanile_model::JobId) -> Option<StopStage> {
    world.task(job).await.stop.map(|stop| stop.stage)
}

#[tokio::test]
async fn what_waits_for_its_turn_ends_at_once() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        let second = world.runs(job).await;
        world.cancels(second).await.expect("it is cancelled");
        assert_eq!(world.states(job).await, [InstanceState::Running, InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_is_ready_ends_at_once() {
    story(async |world| {
        world.one().dies();
        world.advance(4).await;
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        assert_eq!(world.task(job).await.state(), TaskState::Ready);
        world.cancels(instance).await.expect("it is cancelled");
        assert_eq!(world.task(job).await.state(), TaskState::Cancelled);
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_waits_for_its_retry_ends_at_once() {
    story(async |world| {
        world.one().does([Deed::Fails(campanile_sdk::Class::Transient)]);
        let job = world.saves("work", json!({"retry": {"retries": 1, "baseSeconds": 60}})).await;
        let instance = world.runs(job).await;
        world.cancels(instance).await.expect("it is cancelled");
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_runs_is_asked_and_may_end_in_its_own_way() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        let from = world.now();
        world.cancels(instance).await.expect("it is asked");
        assert_eq!(asked(world, from), [(0, CancelAsk::Ask)]);
        assert_eq!(world.way(job).await.last(), Some(&TaskState::Cancelled));
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_end_is_terminated_after_five_seconds() {
    story(async |world| {
        world.one().does([Deed::Runs]).obeys(Obeys::AtTerm);
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        let from = world.now();
        world.cancels(instance).await.expect("it is asked");
        assert_eq!(stage(world, job).await, Some(StopStage::Acknowledged));
        world.advance(4).await;
        assert_eq!(world.task(job).await.state(), TaskState::Running);
        world.advance(1).await;
        assert_eq!(asked(world, from), [(0, CancelAsk::Ask), (5, CancelAsk::Terminate)]);
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_even_then_is_killed_after_ten_more() {
    story(async |world| {
        world.one().does([Deed::Runs]).obeys(Obeys::AtKill);
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        let from = world.now();
        world.cancels(instance).await.expect("it is asked");
        world.advance(5).await;
        assert_eq!(stage(world, job).await, Some(StopStage::Terminated));
        world.advance(9).await;
        assert_eq!(world.task(job).await.state(), TaskState::Running);
        world.advance(1).await;
        assert_eq!(asked(world, from), [(0, CancelAsk::Ask), (5, CancelAsk::Terminate), (15, CancelAsk::Kill)]);
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
    })
    .await;
}

#[tokio::test]
async fn what_is_lost_while_it_is_being_stopped_is_cancelled_and_not_tried_again() {
    story(async |world| {
        world.one().does([Deed::Runs]).obeys(Obeys::AtKill);
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        world.cancels(instance).await.expect("it is asked");
        world.one().dies();
        world.advance(4).await;
        assert_eq!(world.states(job).await, [InstanceState::Cancelled]);
        assert_eq!(world.task(job).await.attempt(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_has_ended_cannot_be_stopped() {
    story(async |world| {
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        let refused = world.cancels(instance).await.expect_err("it has ended");
        assert!(refused.is(Code::InstanceFinal), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_success_that_crosses_the_asking_stands() {
    story(async |world| {
        world.one().does([Deed::Runs]).obeys(Obeys::AtKill);
        let job = world.saves("work", json!({})).await;
        let instance = world.runs(job).await;
        world.cancels(instance).await.expect("it is asked");
        world.one().finishes("work");
        world.rests().await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}
