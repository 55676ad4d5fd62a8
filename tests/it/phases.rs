//! Runs that are cut into shards, told with time in one's hands: what is waited for, and for how long.

use campanile_model::instance::InstanceState;
use campanile_sdk::proto::v1::Method;
use campanile_tests::{Deed, Obeys, World, story};
use serde_json::{Value, json};

const SHARDS: [Method; 3] = [Method::ShardingProcess, Method::Notify, Method::PostProcess];

/// A job with one level of so many items, each a shard of its own.
fn fields(items: usize, more: &Value) -> Value {
    let data: Vec<usize> = (0..items).collect();
    let mut fields = json!({"mode": "sharding", "shardMaxSize": 1, "parameters": {"data": [data]}, "notifyStep": 100});
    for (field, value) in more.as_object().expect("fields") {
        fields[field.as_str()] = value.clone();
    }
    fields
}

fn calls(world: &mut World, of: Method) -> usize {
    world.one().called_for().into_iter().filter(|method| *method == of).count()
}

#[tokio::test]
async fn post_process_waits_a_minute_for_a_notice_and_no_longer() {
    for (obeys, latest) in [(Obeys::AtOnce, 63), (Obeys::AtKill, 95)] {
        story(async |world| {
            world.one().has_methods(SHARDS).takes_notices(Deed::Runs).obeys(obeys).is_back();
            world.rests().await;
            let job = world.saves("import", fields(4, &json!({}))).await;
            world.runs(job).await;
            world.advance(3).await;
            assert_eq!(calls(world, Method::ShardingProcess), 4);
            assert_eq!(calls(world, Method::Notify), 1);
            world.advance(56).await;
            assert_eq!(calls(world, Method::PostProcess), 0, "the last notice comes before it");
            world.advance(latest - 59).await;
            // What became of the notice fails nothing, and it is not told again.
            assert_eq!((calls(world, Method::Notify), calls(world, Method::PostProcess)), (1, 1));
            world.advance(2).await;
            assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        })
        .await;
    }
}

#[tokio::test]
async fn a_notice_that_nobody_can_take_is_dropped_after_a_minute() {
    story(async |world| {
        // It has the notice and never begins it; then it is gone, and nobody else is there.
        world.one().has_methods(SHARDS).takes_notices(Deed::Waits).has_room_for(4, 0).is_back();
        world.rests().await;
        let job = world.saves("import", fields(2, &json!({"pushTimeoutSeconds": 600}))).await;
        world.runs(job).await;
        world.advance(3).await;
        assert_eq!(calls(world, Method::Notify), 1);
        world.executor("one").dies();
        world.advance(90).await;
        world.executor("one").returns();
        world.advance(10).await;
        assert_eq!(calls(world, Method::Notify), 1, "it is not tried again");
        assert_eq!(calls(world, Method::PostProcess), 1);
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_run_expires_while_nothing_of_it_has_begun_and_is_carried_through_once_it_has() {
    story(async |world| {
        // There is nobody with the method: it waits.
        let waits =
            world.saves("waits", fields(3, &json!({"expiresAfterSeconds": 30, "readyTimeoutSeconds": 600}))).await;
        world.runs(waits).await;
        world.advance(29).await;
        assert!(!world.states(waits).await[0].is_final());
        world.advance(3).await;
        assert_eq!(world.states(waits).await, [InstanceState::Superseded]);

        world.one().has_methods(SHARDS).has_room_for(1, 0).does([Deed::Runs]).is_back();
        world.rests().await;
        let goes_on = world.saves("goes-on", fields(3, &json!({"expiresAfterSeconds": 30}))).await;
        world.runs(goes_on).await;
        for _ in 0..3 {
            world.advance(20).await;
            world.one().finishes("goes-on");
        }
        world.one().does([Deed::Succeeds]);
        world.advance(3).await;
        // Whatever is still to be called for succeeds from now on.
        while world.one().runs().iter().any(|job| job == "goes-on") {
            world.one().finishes("goes-on");
            world.advance(1).await;
        }
        assert_eq!(calls(world, Method::ShardingProcess), 3);
        assert_eq!(world.states(goes_on).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn whether_a_run_is_still_needed_is_asked_once_for_all_of_its_shards() {
    story(async |world| {
        world.one().has_methods(SHARDS).answers(Some(true)).is_back();
        world.rests().await;
        let job = world.saves("asks", fields(8, &json!({"stillNeeded": {"ask": "processor"}}))).await;
        world.runs(job).await;
        world.advance(3).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        assert_eq!(world.one().questions(), 1);

        world.one().answers(Some(false));
        world.runs(job).await;
        world.advance(3).await;
        assert_eq!(calls(world, Method::ShardingProcess), 8, "nothing of the second run began");
        assert_eq!(world.states(job).await[1], InstanceState::Superseded);
        assert_eq!(world.one().questions(), 2);
    })
    .await;
}
