//! From a planned time to a run: once, in its turn, and never without trace.

use campanile_model::Timestamp;
use campanile_model::alarm::{AlarmRule, AlarmState};
use campanile_model::instance::{InstanceState, OmissionReason, Origin};
use campanile_model::task::TaskState;
use campanile_tests::{Deed, World, every, story};
use serde_json::json;

/// Which times became instances, in seconds after the beginning.
async fn fired(world: &World, job: campanile_model::JobId) -> Vec<i64> {
    let start = world.at(0).millis();
    world.instances(job).await.iter().map(|made| (made.planned.millis() - start) / 1000).collect()
}

/// Which did not: from, to, how many, why.
async fn left_out(world: &World, job: campanile_model::JobId) -> Vec<(i64, i64, u32, OmissionReason)> {
    let start = world.at(0).millis();
    let second = |at: Timestamp| (at.millis() - start) / 1000;
    let omissions = world.omissions(job).await;
    omissions.iter().map(|left| (second(left.from), second(left.to), left.count, left.reason)).collect()
}

#[tokio::test]
async fn a_time_that_comes_fires_once_and_its_run_succeeds() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(60)})).await;
        world.advance(59).await;
        assert_eq!(fired(world, job).await, [] as [i64; 0]);

        world.advance(1).await;
        assert_eq!(fired(world, job).await, [60]);
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        use TaskState::*;
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, Succeeded]);

        let run = world.instances(job).await.remove(0);
        assert_eq!((run.origin, run.planned, run.due), (Origin::Schedule, world.at(60), world.at(60)));
        assert_eq!(run.result.as_deref(), Some("\"done\""));

        world.advance(60).await;
        assert_eq!(fired(world, job).await, [60, 120]);
    })
    .await;
}

#[tokio::test]
async fn what_a_run_writes_is_kept_beside_it() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        world.advance(10).await;
        let task = world.task(job).await;
        assert_eq!(world.programs[0].logs.text(task.id, 1), "tick begins");
    })
    .await;
}

#[tokio::test]
async fn after_an_absence_all_missed_times_are_one_run() {
    story(async |world| {
        let job = world.saves("report", json!({"schedule": every(600)})).await;
        world.is_away(4000).await;
        assert_eq!(fired(world, job).await, [3600]);
        assert_eq!(left_out(world, job).await, [(600, 3000, 5, OmissionReason::Folded)]);
        let late = world.instances(job).await.remove(0);
        assert!(late.reason.expect("a late run says why").en.starts_with("6 times were missed"));

        world.advance(60).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        let alarm = world.alarm(AlarmRule::FiringMissed, "report").await.expect("a missed time is an alarm");
        assert_eq!(alarm.state, AlarmState::Resolved, "the run that made good ended it");
    })
    .await;
}

#[tokio::test]
async fn a_machine_that_slept_is_like_one_that_was_off() {
    story(async |world| {
        let job = world.saves("report", json!({"schedule": every(600)})).await;
        world.sleeps(4000).await;
        assert_eq!(fired(world, job).await, [3600]);
        assert_eq!(left_out(world, job).await, [(600, 3000, 5, OmissionReason::Folded)]);
        world.advance(60).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn catching_up_runs_the_latest_missed_times_oldest_first_and_one_at_a_time() {
    story(async |world| {
        let misfire = json!({"policy": "catchUp", "max": 3});
        let job = world.saves("report", json!({"schedule": every(600), "misfire": misfire})).await;
        world.one().does([Deed::Runs]);
        world.is_away(4000).await;
        assert_eq!(fired(world, job).await, [2400, 3000, 3600]);
        assert_eq!(left_out(world, job).await, [(600, 1800, 3, OmissionReason::BeyondCatchUp)]);

        world.advance(61).await;
        use InstanceState::*;
        assert_eq!(world.states(job).await, [Running, Waiting, Waiting]);
        world.one().finishes("report");
        world.rests().await;
        assert_eq!(world.states(job).await, [Succeeded, Running, Waiting]);
        world.one().finishes("report");
        world.rests().await;
        world.one().finishes("report");
        world.rests().await;
        assert_eq!(world.states(job).await, [Succeeded, Succeeded, Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_policy_of_skipping_leaves_the_missed_times_out_and_says_so() {
    story(async |world| {
        let job = world.saves("report", json!({"schedule": every(600), "misfire": {"policy": "skip"}})).await;
        world.is_away(4000).await;
        world.advance(60).await;
        assert_eq!(fired(world, job).await, [] as [i64; 0]);
        assert_eq!(left_out(world, job).await, [(600, 3600, 6, OmissionReason::Misfire)]);
        let alarm = world.alarm(AlarmRule::FiringMissed, "report").await.expect("a missed time is an alarm");
        assert_eq!(alarm.state, AlarmState::Firing);

        world.advance_to(world.at(4200)).await;
        assert_eq!(fired(world, job).await, [4200]);
    })
    .await;
}

#[tokio::test]
async fn a_time_within_its_grace_is_not_missed() {
    story(async |world| {
        let job = world.saves("report", json!({"schedule": every(600), "misfire": {"policy": "skip"}})).await;
        world.is_away(650).await;
        world.advance(1).await;
        assert_eq!(fired(world, job).await, [600]);
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_paused_job_fires_nothing_and_each_time_is_recorded() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        world.pauses(job).await;
        world.advance(35).await;
        assert_eq!(fired(world, job).await, [] as [i64; 0]);
        assert_eq!(left_out(world, job).await, [(10, 30, 3, OmissionReason::Paused)]);

        world.resumes(job).await;
        world.advance(5).await;
        assert_eq!(fired(world, job).await, [40]);
    })
    .await;
}

#[tokio::test]
async fn a_moved_occurrence_fires_at_its_new_time_and_once() {
    story(async |world| {
        let moved = json!([{"change": "moveTo", "planned": world.at(60), "at": world.at(75)}]);
        let job = world.saves("tick", json!({"schedule": every(60), "exceptions": moved})).await;
        world.advance(74).await;
        assert_eq!(fired(world, job).await, [] as [i64; 0]);
        world.advance(1).await;
        let run = world.instances(job).await.remove(0);
        assert_eq!((run.planned, run.due), (world.at(60), world.at(75)));
        assert!(run.reason.expect("it says that it was moved").en.contains("moved by hand"));

        world.advance(60).await;
        assert_eq!(fired(world, job).await, [60, 120]);
    })
    .await;
}

#[tokio::test]
async fn an_occurrence_that_was_moved_after_it_fired_does_not_fire_again() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(60)})).await;
        world.advance(60).await;
        let moved = json!([{"change": "moveTo", "planned": world.at(60), "at": world.at(90)}]);
        world.changes(job, json!({"exceptions": moved})).await.expect("it is saved");
        world.advance(59).await;
        assert_eq!(fired(world, job).await, [60]);
    })
    .await;
}

#[tokio::test]
async fn an_occurrence_taken_out_by_hand_does_not_fire_and_is_recorded() {
    story(async |world| {
        let skipped = json!([{"change": "skip", "planned": world.at(60)}]);
        let job = world.saves("tick", json!({"schedule": every(60), "exceptions": skipped})).await;
        world.advance(121).await;
        assert_eq!(fired(world, job).await, [120]);
        assert_eq!(left_out(world, job).await, [(60, 60, 1, OmissionReason::Exception)]);
    })
    .await;
}

#[tokio::test]
async fn an_added_occurrence_fires_beside_those_of_the_schedule() {
    story(async |world| {
        let added = json!([{"change": "added", "at": world.at(70)}]);
        let job = world.saves("tick", json!({"schedule": every(60), "exceptions": added})).await;
        world.advance(71).await;
        assert_eq!(fired(world, job).await, [60, 70]);
        assert_eq!(world.instances(job).await[1].origin, Origin::Added);
    })
    .await;
}

#[tokio::test]
async fn a_version_that_is_to_hold_later_leaves_the_old_one_until_then() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10), "parameters": {"n": 1}})).await;
        world.changes(job, json!({"parameters": {"n": 2}, "effectiveFrom": world.at(25)})).await.expect("it is saved");
        world.advance(40).await;
        let made: Vec<(i64, u32)> = fired(world, job)
            .await
            .into_iter()
            .zip(world.instances(job).await.iter().map(|made| made.version))
            .collect();
        assert_eq!(made, [(10, 1), (20, 1), (30, 2), (40, 2)]);
        let given: Vec<&str> = world.executors[0].pushed.iter().map(|push| push.parameters_json.as_str()).collect();
        assert_eq!(given, [r#"{"n":1}"#, r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":2}"#]);
    })
    .await;
}

#[tokio::test]
async fn a_change_of_the_schedule_loses_no_time_that_had_come() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        // Nobody launches for a while; then someone edits the job.
        let command = world.command("command").await;
        let mut spec = world.job(job).await.spec;
        world.program_dies("first").await;
        spec.schedule = serde_json::from_value(every(600)).expect("a schedule");
        world.time_is(25);
        let save = campanile_model::request::SaveJob { spec, job: Some(job), seen_version: Some(1) };
        let ask = campanile_model::request::Ask::SaveJobs { jobs: vec![save] };
        assert!(command.carries_out_alone(ask).await.is_some(), "nobody leads");

        world.program_starts("first").await;
        world.advance(60).await;
        assert_eq!(fired(world, job).await, [10, 20]);
        assert!(world.instances(job).await.iter().all(|made| made.version == 1), "the old version planned them");
        assert_eq!(world.job(job).await.next_due, Some(world.at(600)));
    })
    .await;
}

#[tokio::test]
async fn a_fixed_delay_counts_from_the_end_of_the_last_run() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("pull", json!({"schedule": {"kind": "fixedDelay", "everySeconds": 10}})).await;
        world.advance(7).await;
        assert_eq!(fired(world, job).await, [0], "the first run is at saving");
        assert_eq!(world.job(job).await.next_due, None, "the next one depends on its end");

        world.one().finishes("pull");
        world.rests().await;
        assert_eq!(world.job(job).await.next_due, Some(world.at(17)));
        world.advance(9).await;
        assert_eq!(fired(world, job).await, [0]);
        world.advance(1).await;
        assert_eq!(fired(world, job).await, [0, 17]);

        // However it ends.
        world.one().fails("pull", campanile_sdk::Class::Business);
        world.rests().await;
        assert_eq!(world.job(job).await.next_due, Some(world.at(27)));
    })
    .await;
}

#[tokio::test]
async fn a_job_of_one_instant_fires_at_it_and_never_again() {
    story(async |world| {
        let job = world.saves("once", json!({"schedule": {"kind": "once", "at": world.at(30)}})).await;
        world.advance(30).await;
        assert_eq!(fired(world, job).await, [30]);
        assert_eq!(world.job(job).await.next_due, None);
        world.sleeps(86_400).await;
        assert_eq!(fired(world, job).await, [30]);
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_fires_nothing_again() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        world.advance(45).await;
        world.clock_goes_back(30).await;
        world.advance(30).await;
        assert_eq!(fired(world, job).await, [10, 20, 30, 40]);
        world.advance(5).await;
        assert_eq!(fired(world, job).await, [10, 20, 30, 40, 50]);
        assert_eq!(world.states(job).await, [InstanceState::Succeeded; 5]);
    })
    .await;
}

#[tokio::test]
async fn each_run_of_a_spread_job_has_the_same_place_in_the_window() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(60), "spreadSeconds": 30})).await;
        world.advance(155).await;
        let runs = world.instances(job).await;
        assert_eq!(fired(world, job).await, [60, 120]);
        let places: Vec<i64> = runs.iter().map(|run| run.due.millis() - run.planned.millis()).collect();
        assert!((0..30_000).contains(&places[0]) && places[0] == places[1], "{places:?}");
    })
    .await;
}

#[tokio::test]
async fn what_a_paused_job_would_have_fired_in_an_absence_is_skipped_and_not_missed() {
    story(async |world| {
        let job = world.saves("report", json!({"schedule": every(600)})).await;
        world.pauses(job).await;
        world.is_away(4000).await;
        world.resumes(job).await;
        assert_eq!(left_out(world, job).await, [(600, 3600, 6, OmissionReason::Paused)]);
        assert!(world.alarm(AlarmRule::FiringMissed, "report").await.is_none());
    })
    .await;
}
