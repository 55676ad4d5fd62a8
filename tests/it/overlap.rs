//! What happens while an earlier run of the job has not ended.

use campanile_model::instance::{InstanceState, OmissionReason};
use campanile_model::{Code, JobId};
use campanile_tests::{Deed, World, every, story};
use serde_json::json;

use InstanceState::{Cancelled, Running, Succeeded, Waiting};

/// A job of every ten seconds whose runs last until they are told to end.
async fn busy(world: &mut World, overlap: &str) -> JobId {
    world.one().does([Deed::Runs]);
    world.saves("busy", json!({"schedule": every(10), "overlap": overlap})).await
}

async fn skipped(world: &World, job: JobId) -> Vec<(u32, OmissionReason)> {
    world.omissions(job).await.iter().map(|left| (left.count, left.reason)).collect()
}

#[tokio::test]
async fn with_queue_one_waits_and_a_further_one_is_skipped() {
    story(async |world| {
        let job = busy(world, "queue").await;
        world.advance(20).await;
        assert_eq!(world.states(job).await, [Running, Waiting]);
        world.advance(10).await;
        assert_eq!(world.states(job).await, [Running, Waiting]);
        assert_eq!(skipped(world, job).await, [(1, OmissionReason::Overlap)]);

        world.one().finishes("busy");
        world.rests().await;
        assert_eq!(world.states(job).await, [Succeeded, Running]);
    })
    .await;
}

#[tokio::test]
async fn with_skip_nothing_starts_before_the_end() {
    story(async |world| {
        let job = busy(world, "skip").await;
        world.advance(35).await;
        assert_eq!(world.states(job).await, [Running]);
        assert_eq!(skipped(world, job).await, [(2, OmissionReason::Overlap)], "an unbroken run of them is one row");

        world.one().finishes("busy");
        world.advance(5).await;
        assert_eq!(world.states(job).await, [Succeeded, Running]);
    })
    .await;
}

#[tokio::test]
async fn with_replace_the_old_run_is_stopped_and_the_new_one_starts_when_it_is() {
    story(async |world| {
        world.one().obeys(campanile_tests::Obeys::AtTerm);
        let job = busy(world, "replace").await;
        world.advance(20).await;
        assert_eq!(world.states(job).await, [Running, Waiting]);
        world.advance(5).await;
        assert_eq!(world.states(job).await, [Cancelled, Running]);
    })
    .await;
}

#[tokio::test]
async fn with_allow_runs_go_side_by_side() {
    story(async |world| {
        let job = busy(world, "allow").await;
        world.advance(30).await;
        assert_eq!(world.states(job).await, [Running, Running, Running]);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_waits_for_its_retry_still_counts() {
    story(async |world| {
        world.one().does([Deed::Fails(campanile_sdk::Class::Transient)]);
        let retry = json!({"retries": 1, "baseSeconds": 100, "maxSeconds": 100});
        let job = world.saves("busy", json!({"schedule": every(10), "overlap": "skip", "retry": retry})).await;
        world.advance(20).await;
        assert_eq!(world.states(job).await, [Running]);
        assert_eq!(skipped(world, job).await, [(1, OmissionReason::Overlap)]);
    })
    .await;
}

#[tokio::test]
async fn a_run_by_hand_obeys_it_unless_it_is_to_run_beside() {
    story(async |world| {
        let job = busy(world, "skip").await;
        world.advance(10).await;
        let refused = world.runs_with(job, None, false).await.expect_err("one runs already");
        assert!(refused.is(Code::BadRequest), "{refused}");
        assert_eq!(refused.field.as_deref(), Some("beside"));
        world.runs_with(job, None, true).await.expect("it runs beside");
        assert_eq!(world.states(job).await, [Running, Running]);
    })
    .await;
}
