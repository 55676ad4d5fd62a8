//! The life of a task where something goes wrong.

use campanile_model::alarm::AlarmRule;
use campanile_model::instance::InstanceState;
use campanile_model::sharding::Selection;
use campanile_model::task::TaskState;
use campanile_model::{Code, FailureClass, Lane};
use campanile_sdk::Class;
use campanile_tests::{Deed, every, story};
use serde_json::json;

use TaskState::*;

#[tokio::test]
async fn a_transient_failure_is_tried_again_ever_later_until_it_succeeds() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Transient), Deed::Fails(Class::Transient), Deed::Succeeds]);
        let job = world.saves("flaky", json!({})).await;
        world.runs(job).await;
        let waiting = world.task(job).await;
        assert_eq!((waiting.state(), waiting.attempt(), waiting.lane), (Waiting, 2, Lane::Retry));
        let delay = waiting.due_at.millis() - world.now().millis();
        assert!((800..=1200).contains(&delay), "the first wait is {delay} ms");

        world.advance_to(waiting.due_at).await;
        let delay = world.task(job).await.due_at.millis() - world.now().millis();
        assert!((1600..=2400).contains(&delay), "the second wait is {delay} ms");

        world.advance(3).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        assert_eq!(
            world.way(job).await,
            [
                Ready, Pushed, Running, Failed, Waiting, Ready, Pushed, Running, Failed, Waiting, Ready, Pushed,
                Running, Succeeded
            ]
        );
        let keys: Vec<&str> = world.executors[0].pushed.iter().map(|push| push.idempotency_key.as_str()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "every attempt has the key of its task");
    })
    .await;
}

#[tokio::test]
async fn when_no_attempt_is_left_the_run_has_failed() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Transient)]);
        let job = world.saves("broken", json!({"retry": {"retries": 2}})).await;
        world.runs(job).await;
        world.advance(5).await;
        let task = world.task(job).await;
        assert_eq!((task.state(), task.attempt(), task.retries_used), (Failed, 3, 2));
        assert_eq!(world.states(job).await, [InstanceState::Failed]);
        assert_eq!(task.failure.expect("it says why").code, "test_said_no");
    })
    .await;
}

#[tokio::test]
async fn a_business_failure_is_not_tried_again() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Business)]);
        let job = world.saves("broken", json!({})).await;
        world.runs(job).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, Failed]);
        assert_eq!(world.states(job).await, [InstanceState::Failed]);
    })
    .await;
}

#[tokio::test]
async fn a_system_failure_is_tried_again_one_lane_above_retry() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::System), Deed::Succeeds]);
        let job = world.saves("full", json!({})).await;
        world.runs(job).await;
        assert_eq!(world.task(job).await.lane, Lane::High);
        world.advance(2).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn an_operator_gives_a_failed_run_another_attempt() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Business), Deed::Succeeds]);
        let job = world.saves("broken", json!({})).await;
        let instance = world.runs(job).await;
        world
            .asks(campanile_model::request::Ask::RetryInstance { instance, shards: Selection::default() })
            .await
            .expect("it is tried again");
        let task = world.task(job).await;
        assert_eq!((task.state(), task.attempt()), (Succeeded, 2));
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn what_overruns_is_noted_and_may_still_succeed() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("slow", json!({"timeoutSeconds": 5})).await;
        world.runs(job).await;
        world.advance(4).await;
        assert_eq!(world.task(job).await.state(), Running);
        world.advance(1).await;
        assert_eq!(world.task(job).await.state(), Overrun);
        assert!(world.alarm(AlarmRule::Overran, "slow").await.is_some());
        assert!(world.executors[0].asked.is_empty(), "nobody stops it");

        world.one().finishes("slow");
        world.rests().await;
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, Overrun, Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn where_the_policy_is_kill_what_overruns_is_a_transient_failure() {
    story(async |world| {
        world.one().does([Deed::Runs, Deed::Succeeds]);
        let fields = json!({"timeoutSeconds": 5, "overrun": "kill", "retry": {"retries": 1}});
        let job = world.saves("slow", fields).await;
        world.runs(job).await;
        world.advance(5).await;
        let task = world.task(job).await;
        let failure = task.failure.clone().expect("it says why");
        assert_eq!((failure.code.as_str(), failure.class), (Code::TaskTimedOut.as_str(), FailureClass::Transient));
        world.advance(2).await;
        assert_eq!(
            world.way(job).await,
            [Ready, Pushed, Running, Overrun, Failed, Waiting, Ready, Pushed, Running, Succeeded]
        );
    })
    .await;
}

#[tokio::test]
async fn a_task_for_which_nobody_is_there_ends_as_ready_timeout() {
    story(async |world| {
        world.one().dies();
        world.advance(4).await;
        let fields = json!({"readyTimeoutSeconds": 5, "retry": {"retries": 0}});
        let job = world.saves("lonely", fields).await;
        world.runs(job).await;
        world.advance(4).await;
        assert_eq!(world.task(job).await.state(), Ready);
        world.advance(1).await;
        let task = world.task(job).await;
        assert_eq!(task.state().code(), 401);
        assert_eq!(task.failure.expect("it says why").code, Code::TaskReadyTimeout.as_str());
        assert_eq!(world.states(job).await, [InstanceState::Failed]);
        assert!(world.alarm(AlarmRule::ReadyTimeout, "lonely").await.is_some());
    })
    .await;
}

#[tokio::test]
async fn waiting_for_room_is_not_waiting_for_somebody() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0);
        world.one().dies();
        world.one().returns();
        world.advance(4).await;
        let first = world.saves("first", json!({})).await;
        let second = world.saves("second", json!({"readyTimeoutSeconds": 5})).await;
        world.runs(first).await;
        world.runs(second).await;
        world.advance(20).await;
        assert_eq!(world.task(second).await.state(), Ready);
        world.one().finishes("first");
        world.rests().await;
        assert_eq!(world.task(second).await.state(), Running);
    })
    .await;
}

#[tokio::test]
async fn a_task_that_is_never_started_is_taken_back_as_push_timeout() {
    story(async |world| {
        world.one().does([Deed::Waits, Deed::Succeeds]);
        let job = world.saves("stuck", json!({"pushTimeoutSeconds": 5})).await;
        world.runs(job).await;
        world.advance(4).await;
        assert_eq!(world.task(job).await.state(), Pushed);
        world.advance(1).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, PushTimeout, Waiting]);
        assert_eq!(PushTimeout.code(), 402);
        assert!(world.alarm(AlarmRule::PushTimeout, "stuck").await.is_some());
        world.advance(2).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn push_timeout_counts_only_while_a_slot_is_free() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 1);
        world.one().dies();
        world.one().returns();
        world.advance(4).await;
        let first = world.saves("first", json!({})).await;
        let second = world.saves("second", json!({"pushTimeoutSeconds": 5})).await;
        world.runs(first).await;
        world.runs(second).await;
        world.advance(20).await;
        assert_eq!(world.task(second).await.state(), Pushed);
        world.one().finishes("first");
        world.rests().await;
        assert_eq!(world.task(second).await.state(), Running);
    })
    .await;
}

#[tokio::test]
async fn what_a_lost_executor_ran_is_tried_again_elsewhere() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.one().dies();
        world.executor("two");
        world.advance(2).await;
        assert_eq!(world.task(job).await.state(), Running, "its lease is not over");
        world.advance(1).await;
        assert_eq!(ExecutorLost.code(), 403);
        assert_eq!(world.task(job).await.retries_used, 1);
        world.advance(2).await;
        assert_eq!(
            world.way(job).await,
            [Ready, Pushed, Running, ExecutorLost, Waiting, Ready, Pushed, Running, Succeeded]
        );
        assert_eq!(world.task(job).await.executor.expect("it has one").name, "two");
        assert!(world.alarm(AlarmRule::ExecutorLost, "work").await.is_some());
    })
    .await;
}

#[tokio::test]
async fn what_a_lost_executor_had_not_begun_uses_up_no_retry() {
    story(async |world| {
        world.one().does([Deed::Waits]);
        let job = world.saves("work", json!({"retry": {"retries": 0}})).await;
        world.runs(job).await;
        world.one().dies();
        world.executor("two");
        world.advance(4).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, ExecutorLost, Waiting, Ready, Pushed, Running, Succeeded]);
        let task = world.task(job).await;
        assert_eq!((task.retries_used, task.lost_unstarted), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn an_executor_whose_stream_breaks_resumes_within_its_lease() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.one().falls_silent();
        world.advance(2).await;
        world.one().is_back();
        world.advance(10).await;
        let task = world.task(job).await;
        assert_eq!((task.state(), task.attempt()), (Running, 1));
        world.one().finishes("work");
        world.rests().await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn what_was_done_while_the_stream_was_down_counts_once() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.one().falls_silent();
        world.one().finishes("work");
        world.advance(1).await;
        assert_eq!(world.task(job).await.state(), Running);
        world.one().is_back();
        world.advance(1).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_result_that_comes_after_the_lease_is_refused() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({"retry": {"retries": 0}})).await;
        world.runs(job).await;
        let task = world.task(job).await;
        world.one().falls_silent();
        world.one().finishes("work");
        world.advance(4).await;
        assert_eq!(world.task(job).await.state(), ExecutorLost);
        assert_eq!(world.states(job).await, [InstanceState::Failed]);

        world.one().is_back();
        world.advance(2).await;
        assert_eq!(world.task(job).await.state(), ExecutorLost, "what was refused changes nothing");
        assert_eq!(world.executors[0].forgotten, [(task.id.to_string(), 1)]);
    })
    .await;
}

#[tokio::test]
async fn what_an_executor_hands_back_goes_again_as_the_same_attempt() {
    story(async |world| {
        world.one().does([Deed::HandsBack]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.advance(1).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, Ready, Pushed, Running, Succeeded]);
        assert_eq!(world.task(job).await.attempt(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_second_life_under_a_live_name_is_refused_until_the_first_ones_lease_is_over() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.one().dies();
        world.one().returns();
        world.advance(2).await;
        assert_eq!(world.executors[0].refusals, [Code::ExecutorNameTaken.as_str(); 3]);
        world.advance(2).await;
        assert_eq!(world.executors[0].refusals.len(), 3, "then it is let in");
        assert_eq!(world.way(job).await[3], ExecutorLost);
    })
    .await;
}

#[tokio::test]
async fn the_embedded_executors_second_life_is_let_in_at_once() {
    story(async |world| {
        world.executor("embedded").is_embedded().does([Deed::Runs]);
        world.one().dies();
        world.advance(4).await;
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        assert_eq!(world.executor("embedded").runs(), ["work"]);
        world.executor("embedded").dies();
        world.executor("embedded").returns();
        world.rests().await;
        assert!(world.executor("embedded").refusals.is_empty());
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, ExecutorLost, Waiting]);
    })
    .await;
}

#[tokio::test]
async fn lanes_go_by_their_order_and_by_age_within_one() {
    story(async |world| {
        world.one().dies();
        world.advance(4).await;
        for (name, priority) in
            [("low", "low"), ("normal-a", "normal"), ("normal-b", "normal"), ("high", "high"), ("now", "immediate")]
        {
            let job = world.saves(name, json!({"priority": priority, "schedule": every(10)})).await;
            let _ = job;
        }
        world.advance(10).await;
        world.one().returns();
        world.one().has_room_for(1, 0);
        world.advance(2).await;
        let order: Vec<String> = world.executors[0]
            .pushed
            .iter()
            .map(|push| push.context.as_ref().expect("a context").job.clone())
            .collect();
        assert_eq!(order[..5], ["now", "high", "normal-a", "normal-b", "low"]);
    })
    .await;
}
