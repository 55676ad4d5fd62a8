//! Several programs on one folder: one drives the engine, and nothing is lost or doubled when it goes.

use campanile_model::instance::InstanceState;
use campanile_model::request::{Answer, Ask, Role};
use campanile_model::task::TaskState;
use campanile_tests::{Deed, every, story};
use serde_json::json;

#[tokio::test]
async fn of_two_programs_one_leads_and_the_other_takes_over_when_it_dies() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        world.program_starts("second").await;
        assert!(world.program("first").leads() && !world.program("second").leads());
        world.advance(25).await;

        world.program_dies("first").await;
        world.advance(5).await;
        assert_eq!(world.leader().await.as_deref(), Some("second"), "within five seconds");
        world.advance(30).await;
        let planned: Vec<_> = world.instances(job).await.iter().map(|made| made.planned).collect();
        assert_eq!(planned, [10, 20, 30, 40, 50, 60].map(|second| world.at(second)), "none lost, none doubled");
        assert_eq!(world.states(job).await, [InstanceState::Succeeded; 6]);
    })
    .await;
}

#[tokio::test]
async fn a_program_that_leaves_in_good_order_is_followed_at_once() {
    story(async |world| {
        world.program_starts("second").await;
        world.program_stops("first").await;
        world.advance(1).await;
        assert!(world.program("second").leads());
    })
    .await;
}

#[tokio::test]
async fn what_runs_goes_on_while_the_lead_passes() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.program_starts("second").await;
        world.program_dies("first").await;
        world.advance(6).await;
        world.one().finishes("work");
        world.advance(1).await;
        let task = world.task(job).await;
        assert_eq!((task.state(), task.attempt()), (TaskState::Succeeded, 1));
    })
    .await;
}

#[tokio::test]
async fn a_new_leader_gives_every_executor_ten_seconds_to_come_back() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.program_starts("second").await;
        world.program_dies("first").await;
        world.one().dies();
        let mut led = 0;
        while !world.program("second").leads() {
            world.advance(1).await;
            led += 1;
            assert!(led <= 5, "nobody takes over");
        }
        world.advance(9).await;
        assert_eq!(world.task(job).await.state(), TaskState::Running);
        world.advance(1).await;
        assert_eq!(world.way(job).await[3], TaskState::ExecutorLost);
    })
    .await;
}

#[tokio::test]
async fn what_someone_asks_at_a_console_that_does_not_lead_is_carried_out_by_the_leader() {
    story(async |world| {
        let job = world.saves("work", json!({})).await;
        world.program_starts("second").await;
        let run = Ask::RunJobs { jobs: vec![job], parameters: None, beside: false, repeats: None, executor: None };
        let asked_at = world.now();
        world.asks_at("second", Role::Admin, run).await.expect("it is carried out");
        assert!(world.now().since(asked_at).as_millis() <= 1000, "within a second");
        world.advance(1).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn with_nobody_leading_a_command_has_its_request_carried_out_and_starts_no_task() {
    story(async |world| {
        let job = world.saves("work", json!({"schedule": every(10)})).await;
        let command = world.command("command").await;
        world.program_stops("first").await;
        world.time_is(5);
        let run = Ask::RunJobs { jobs: vec![job], parameters: None, beside: false, repeats: None, executor: None };
        let answer = command.carries_out_alone(run).await;
        assert!(matches!(answer, Some(Answer::Done(_))), "{answer:?}");
        world.time_is(15);
        let pause = Ask::PauseJobs { jobs: vec![job] };
        assert!(command.carries_out_alone(pause).await.is_some());

        world.programs.push(command);
        assert_eq!(world.states(job).await, [InstanceState::Waiting], "nothing was launched");
        assert!(world.tasks(job).await.is_empty(), "and nothing was started");
        assert_eq!(world.leader().await, None, "the lease was given back");

        world.program_starts("first").await;
        world.advance(1).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn with_somebody_leading_a_command_leaves_it_to_them() {
    story(async |world| {
        let job = world.saves("work", json!({})).await;
        let command = world.command("command").await;
        let run = Ask::RunJobs { jobs: vec![job], parameters: None, beside: false, repeats: None, executor: None };
        assert_eq!(command.carries_out_alone(run).await, None);
        world.advance(1).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_killed_and_starts_again_goes_on_where_it_was() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let running = world.saves("running", json!({"overlap": "allow", "schedule": every(10)})).await;
        world.advance(20).await;
        world.program_dies("first").await;
        world.one().dies();
        world.one().returns();
        world.one().does([Deed::Succeeds]);
        world.program_starts("again").await;
        world.advance(30).await;
        let states = world.states(running).await;
        assert!(states.len() >= 4 && states.iter().all(|state| *state == InstanceState::Succeeded), "{states:?}");
    })
    .await;
}
