//! What asks for a person's attention, and when it stops asking.

use campanile_model::alarm::{Alarm, AlarmRule, AlarmState, Severity};
use campanile_model::{Code, JobId};
use campanile_sdk::Class;
use campanile_store::AlarmStore as _;
use campanile_tests::{Deed, World, every, story};
use serde_json::json;

async fn broken(world: &mut World) -> JobId {
    world.one().does([Deed::Fails(Class::Business)]);
    world.saves("broken", json!({})).await
}

async fn failed(world: &World) -> Alarm {
    world.alarm(AlarmRule::InstanceFailed, "broken").await.expect("a run that fails is an alarm")
}

#[tokio::test]
async fn a_run_that_fails_is_one_alarm_that_counts_up_and_is_critical_the_third_time() {
    story(async |world| {
        let job = broken(world).await;
        let mut seen = Vec::new();
        for _ in 0..3 {
            world.runs(job).await;
            let alarm = failed(world).await;
            seen.push((alarm.id, alarm.count, alarm.severity));
        }
        let id = seen[0].0;
        assert_eq!(seen, [(id, 1, Severity::Warning), (id, 2, Severity::Warning), (id, 3, Severity::Critical)]);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_succeeds_ends_it() {
    story(async |world| {
        let job = broken(world).await;
        world.runs(job).await;
        assert_eq!(failed(world).await.state, AlarmState::Firing);
        world.one().does([Deed::Succeeds]);
        world.runs(job).await;
        let ended = world.now();
        // What went well is read within a second, and counts from when it was so.
        world.advance(1).await;
        let alarm = failed(world).await;
        assert_eq!((alarm.state, alarm.resolved_at), (AlarmState::Resolved, Some(ended)));
    })
    .await;
}

#[tokio::test]
async fn what_comes_back_within_ten_minutes_is_the_same_alarm_and_later_a_new_one() {
    story(async |world| {
        let job = broken(world).await;
        world.runs(job).await;
        let first = failed(world).await.id;
        world.one().does([Deed::Succeeds]);
        world.runs(job).await;

        world.sleeps(590).await;
        world.advance(2).await;
        world.one().does([Deed::Fails(Class::Business)]);
        world.runs(job).await;
        let again = failed(world).await;
        assert_eq!((again.id, again.state, again.count), (first, AlarmState::Firing, 2));

        world.one().does([Deed::Succeeds]);
        world.runs(job).await;
        world.sleeps(610).await;
        world.advance(2).await;
        world.one().does([Deed::Fails(Class::Business)]);
        world.runs(job).await;
        let later = failed(world).await;
        assert_ne!(later.id, first);
        assert_eq!(later.count, 1);
    })
    .await;
}

#[tokio::test]
async fn acknowledging_takes_a_note_and_keeps_who_and_when() {
    story(async |world| {
        let job = broken(world).await;
        world.runs(job).await;
        let alarm = failed(world).await.id;
        let refused = world.acknowledges(alarm, "  ").await.expect_err("a note is missing");
        assert!(refused.is(Code::NoteMissing), "{refused}");
        assert_eq!(failed(world).await.state, AlarmState::Firing);

        world.acknowledges(alarm, "the disk is being replaced").await.expect("it is acknowledged");
        let known = failed(world).await;
        assert_eq!(known.state, AlarmState::Acknowledged);
        let acknowledged = known.acknowledged.expect("who and when");
        assert_eq!(
            (acknowledged.by.as_str(), acknowledged.note.as_str(), acknowledged.at),
            ("mei", "the disk is being replaced", world.now())
        );
        assert_eq!(world.audit().await.last().expect("an entry").action, "acknowledgeAlarms");
    })
    .await;
}

#[tokio::test]
async fn an_acknowledged_alarm_that_becomes_critical_fires_again() {
    story(async |world| {
        let job = broken(world).await;
        world.runs(job).await;
        world.acknowledges(failed(world).await.id, "seen").await.expect("it is acknowledged");
        world.runs(job).await;
        assert_eq!(failed(world).await.state, AlarmState::Acknowledged);
        world.runs(job).await;
        let worse = failed(world).await;
        assert_eq!((worse.state, worse.severity), (AlarmState::Firing, Severity::Critical));
    })
    .await;
}

#[tokio::test]
async fn a_failure_of_the_system_is_an_emergency_at_once() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::System)]);
        let job = world.saves("broken", json!({})).await;
        world.runs(job).await;
        let alarm = world.alarm(AlarmRule::SystemFailure, "broken").await.expect("an alarm");
        assert_eq!((alarm.severity, alarm.state), (Severity::Emergency, AlarmState::Firing));
    })
    .await;
}

#[tokio::test]
async fn an_alarm_of_nobody_is_not_acknowledged() {
    story(async |world| {
        let unknown = campanile_model::AlarmId::new(0, [7; 10]);
        let refused = world.acknowledges(unknown, "seen").await.expect_err("there is none");
        assert!(refused.is(Code::AlarmNotFound), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_meeting_place_that_falls_silent_is_an_alarm_while_work_goes_on() {
    story(async |world| {
        let told = async |world: &World| {
            let wanted = [(AlarmRule::Coordination, "redis".to_owned())];
            world.store().latest_alarms(&wanted).await.expect("alarms").pop()
        };
        world.saves("tick", json!({"schedule": every(1)})).await;
        world.program("first").meets_nobody(true);
        world.advance(2).await;
        assert_eq!(told(world).await, None, "who is back in a moment has missed nothing");
        world.advance(3).await;
        let alarm = told(world).await.expect("it says so");
        assert_eq!((alarm.state, alarm.severity, alarm.count), (AlarmState::Firing, Severity::Warning, 1));
        world.advance(60).await;
        let alarm = told(world).await.expect("it says so");
        assert_eq!((alarm.state, alarm.count), (AlarmState::Firing, 1), "once, not every second");

        // Whoever takes over knows of it, and of its end.
        world.program_starts("second").await;
        world.program_dies("first").await;
        world.advance(6).await;
        let alarm = told(world).await.expect("it was told");
        assert_eq!(alarm.state, AlarmState::Resolved, "who leads now meets whom there is");
    })
    .await;
}
