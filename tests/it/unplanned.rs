//! Runs that no clock plans: after others, of the past, and those that a person is asked about.

use campanile_model::backfill::BackfillState;
use campanile_model::blackout::Blackout;
use campanile_model::instance::{Instance, InstanceState, OmissionReason, Origin};
use campanile_model::request::{Ask, SaveJob};
use campanile_model::{Code, JobId, Lane, Partitions};
use campanile_sdk::Class;
use campanile_store::{Archive as _, UnplannedStore as _};
use campanile_tests::{Deed, World, every, job, story};
use serde_json::{Value, json};

use InstanceState::{Running, Succeeded, Superseded, Waiting};

fn after(jobs: &[&str], on: &str, need: &str) -> Value {
    json!({"schedule": {"kind": "after", "jobs": jobs, "on": on, "need": need}})
}

async fn backfilled(world: &World, job: JobId) -> Vec<Instance> {
    let mut runs = world.instances(job).await;
    runs.retain(|run| run.origin == Origin::Backfill);
    runs
}

async fn skipped(world: &World, job: JobId) -> Vec<(u32, OmissionReason)> {
    world.omissions(job).await.iter().map(|left| (left.count, left.reason)).collect()
}

#[tokio::test]
async fn a_job_runs_after_each_success_of_another_and_is_told_of_it() {
    story(async |world| {
        let load = world.saves("load", json!({})).await;
        let report = world.saves("report", after(&["load"], "success", "any")).await;
        let first = world.runs(load).await;
        world.advance(2).await;
        let run = world.instances(report).await.remove(0);
        assert_eq!((run.origin, run.key.clone(), run.state), (Origin::After, first.to_string(), Succeeded));
        assert_eq!(run.upstream(), [first]);
        let told = world.executors[0].pushed.last().and_then(|push| push.context.clone()).expect("it was pushed");
        assert_eq!(told.job, "report");
        assert_eq!((told.upstream[0].job.as_str(), told.upstream[0].result_json.as_str()), ("load", "\"done\""));

        world.one().does([Deed::Fails(Class::Business)]);
        world.runs(load).await;
        world.advance(2).await;
        assert_eq!(world.states(report).await, [Succeeded], "a failure is not what it runs after");
    })
    .await;
}

#[tokio::test]
async fn with_all_it_runs_once_each_has_ended_so() {
    story(async |world| {
        let load = world.saves("load", json!({})).await;
        let clean = world.saves("clean", json!({})).await;
        let report = world.saves("report", after(&["load", "clean"], "success", "all")).await;
        for _ in 0..2 {
            world.runs(load).await;
            world.advance(2).await;
        }
        assert_eq!(world.states(report).await, []);
        world.is_away(30).await;
        world.runs(clean).await;
        world.advance(2).await;
        assert_eq!(world.states(report).await, [Succeeded]);
        assert_eq!(world.instances(report).await[0].upstream().len(), 2);
        world.runs(clean).await;
        world.advance(2).await;
        assert_eq!(world.states(report).await, [Succeeded], "load has not ended since");
    })
    .await;
}

#[tokio::test]
async fn what_follows_is_neither_lost_nor_doubled_when_the_program_dies() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let load = world.saves("load", json!({})).await;
        let report = world.saves("report", after(&["load"], "done", "any")).await;
        world.runs(load).await;
        world.advance(1).await;
        world.one().finishes("load");
        world.program_dies("first").await;
        world.program_starts("first").await;
        world.advance(20).await;
        assert_eq!(world.instances(report).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn circles_and_jobs_that_are_not_there_are_refused_by_name() {
    story(async |world| {
        let unknown = job("report", after(&["load"], "success", "any"));
        let save = |spec| Ask::SaveJobs { jobs: vec![SaveJob { spec, job: None, seen_version: None }] };
        let refused = world.asks(save(unknown.clone())).await.expect_err("there is no load");
        assert!(refused.is(Code::UpstreamUnknown) && refused.field.as_deref() == Some("schedule.jobs"), "{refused}");

        let load = world.saves("load", json!({})).await;
        world.asks(save(unknown)).await.expect("now there is");
        let refused = world.changes(load, after(&["report"], "success", "any")).await.expect_err("a circle");
        assert!(refused.is(Code::AfterCircle), "{refused}");
        assert!(refused.message.en.contains("load → report → load"), "{refused}");

        // Saved together, either may come first.
        let both = [job("second", after(&["first"], "success", "any")), job("first", json!({}))];
        let jobs = both.map(|spec| SaveJob { spec, job: None, seen_version: None }).into();
        world.asks(Ask::SaveJobs { jobs }).await.expect("they are there together");
    })
    .await;
}

#[tokio::test]
async fn a_job_that_others_run_after_stays_and_takes_them_along_when_it_is_renamed() {
    story(async |world| {
        let load = world.saves("load", json!({})).await;
        let report = world.saves("report", after(&["load"], "success", "any")).await;
        let refused = world.asks(Ask::RemoveJobs { jobs: vec![load] }).await.expect_err("report runs after it");
        assert!(refused.is(Code::JobHasDownstream) && refused.message.en.contains("report"), "{refused}");

        let seen_version = Some(1);
        let rename = SaveJob { spec: job("fetch", json!({})), job: Some(load), seen_version };
        world.asks(Ask::SaveJobs { jobs: vec![rename] }).await.expect("it is renamed");
        assert_eq!(world.job(report).await.version, 2);
        world.runs(load).await;
        world.advance(2).await;
        assert_eq!(world.states(report).await, [Succeeded]);

        world.asks(Ask::RemoveJobs { jobs: vec![load, report] }).await.expect("both go");
    })
    .await;
}

#[tokio::test]
async fn a_paused_job_that_others_are_before_says_what_it_left_out() {
    story(async |world| {
        let load = world.saves("load", json!({})).await;
        let report = world.saves("report", after(&["load"], "success", "any")).await;
        world.pauses(report).await;
        world.runs(load).await;
        world.advance(2).await;
        assert_eq!(skipped(world, report).await, [(1, OmissionReason::Paused)]);
        assert_eq!(world.states(report).await, []);
    })
    .await;
}

#[tokio::test]
async fn the_latest_takes_the_place_of_the_one_that_waits() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let fields = json!({"schedule": every(10), "overlap": "queue", "supersede": "latest"});
        let busy = world.saves("busy", fields).await;
        world.advance(40).await;
        assert_eq!(world.states(busy).await, [Running, Superseded, Superseded, Waiting]);
        assert_eq!(skipped(world, busy).await, []);
        world.runs_with(busy, None, false).await.expect("a run by hand takes its place as well");
        assert_eq!(world.states(busy).await, [Running, Superseded, Superseded, Superseded, Waiting]);
        world.one().finishes("busy");
        world.rests().await;
        assert_eq!(world.states(busy).await.last(), Some(&Running));
    })
    .await;
}

#[tokio::test]
async fn what_was_missed_waits_for_an_answer_and_runs_once_if_it_is_yes() {
    story(async |world| {
        let fields = json!({"schedule": every(60), "misfire": {"policy": "ask"}});
        let tick = world.saves("tick", fields).await;
        world.is_away(250).await;
        world.advance(1).await;
        let open = world.store().open_questions(10).await.expect("storage answers");
        assert_eq!(open.iter().map(|one| one.count).collect::<Vec<_>>(), [3], "the fourth came on time");
        let before = world.instances(tick).await.len();
        let answer = Ask::AnswerQuestions { questions: vec![open[0].id], run: true };
        world.asks(answer.clone()).await.expect("it is answered");
        world.advance(2).await;
        let runs = world.instances(tick).await;
        assert_eq!(runs.len(), before + 1);
        assert_eq!((runs[before].origin, runs[before].planned), (Origin::Manual, open[0].to));
        assert!(world.asks(answer).await.expect_err("once is enough").is(Code::QuestionAnswered));
        assert_eq!(world.audit().await.last().expect("an entry").action, "answerQuestions");
    })
    .await;
}

#[tokio::test]
async fn what_nobody_answers_ends_as_skipped_after_a_day() {
    story(async |world| {
        let once = json!({"kind": "once", "at": world.at(60).millis()});
        let tick = world.saves("tick", json!({"schedule": once, "misfire": {"policy": "ask"}})).await;
        world.is_away(300).await;
        world.advance(1).await;
        assert_eq!(world.store().open_questions(10).await.expect("storage answers").len(), 1);
        world.is_away(86_400).await;
        world.advance(2).await;
        assert!(world.store().open_questions(10).await.expect("storage answers").is_empty());
        let told = world.store().questions(world.at(0), 10).await.expect("storage answers").remove(0);
        let answer = told.answer.expect("it is over");
        assert_eq!((answer.by, answer.ran), (None, None));
        assert_eq!(world.states(tick).await, []);
        assert_eq!(skipped(world, tick).await, [(1, OmissionReason::Asked)]);
    })
    .await;
}

#[tokio::test]
async fn the_past_is_made_good_one_run_at_a_time_and_beside_the_schedule() {
    story(async |world| {
        let fields = json!({"schedule": {"kind": "cron", "expression": "*/10 * * * *", "timeZone": "UTC"}});
        let report = world.saves("report", fields).await;
        let ask = Ask::Backfill { job: report, from: world.at(-3600), to: world.at(0) };
        assert_eq!(world.asks(ask).await.expect("it begins").changed, 6);
        world.advance(3).await;
        let made = backfilled(world, report).await.len();
        assert!((3..=4).contains(&made), "{made} runs in three seconds");
        world.advance(10).await;
        let runs = backfilled(world, report).await;
        let planned: Vec<_> = runs.iter().map(|run| run.planned).collect();
        assert_eq!(planned, (0..6).map(|n| world.at(-3600 + n * 600)).collect::<Vec<_>>());
        assert!(runs.iter().all(|run| run.lane == Lane::Low && run.state == Succeeded));
        let told = world.store().backfills(Some(report), 10).await.expect("storage answers").remove(0);
        assert_eq!((told.made, told.state()), (6, BackfillState::Done));

        for (from, to) in [(0, -60), (-60, 3600), (-300, -240)] {
            let ask = Ask::Backfill { job: report, from: world.at(from), to: world.at(to) };
            let refused = world.asks(ask).await.expect_err("there is nothing to make good");
            assert!(refused.is(Code::BackfillRefused), "{refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_backfill_waits_for_the_runs_there_are_and_ends_when_it_is_told() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let fields = json!({"schedule": {"kind": "cron", "expression": "*/10 * * * *", "timeZone": "UTC"}});
        let report = world.saves("report", fields).await;
        let ask = Ask::Backfill { job: report, from: world.at(-3600), to: world.at(0) };
        world.asks(ask).await.expect("it begins");
        world.advance(10).await;
        assert_eq!(backfilled(world, report).await.len(), 0, "a run of the schedule is there");
        let id = world.store().open_backfills(Partitions::ALL, 10).await.expect("storage answers")[0].id;
        world.asks(Ask::CancelBackfill { backfill: id }).await.expect("it is under way");
        world.one().finishes("report");
        world.advance(10).await;
        assert_eq!(world.states(report).await, [Succeeded]);
        assert!(
            world.asks(Ask::CancelBackfill { backfill: id }).await.expect_err("it is over").is(Code::BackfillNotFound)
        );
    })
    .await;
}

fn blackout(window: &Value) -> Option<Blackout> {
    Some(serde_json::from_value(json!({"window": window})).expect("a window"))
}

#[tokio::test]
async fn nothing_fires_in_a_blackout_window_and_one_run_stands_for_what_was_to_be() {
    story(async |world| {
        let from = world.at(15).millis();
        let window = json!({"from": from, "until": from + 30_000});
        world
            .asks(Ask::PutBlackout { name: "move".to_owned(), blackout: blackout(&window) })
            .await
            .expect("a window of the workspace");
        let tick = world.saves("tick", json!({"schedule": every(10), "overlap": "allow"})).await;
        let strict = world.saves("strict", json!({"schedule": every(10), "misfire": {"policy": "skip"}})).await;
        world.advance(44).await;
        assert_eq!(world.states(tick).await, [Succeeded, Waiting], "by hand it would run");
        assert_eq!(skipped(world, tick).await, [(2, OmissionReason::Folded)]);
        assert_eq!(skipped(world, strict).await, [(3, OmissionReason::Blackout)]);
        let held = world.instances(tick).await.remove(1);
        assert!(held.not_before >= world.at(45) && held.reason.is_some(), "{held:?}");
        world.runs_with(strict, None, false).await.expect("what a person starts starts");
        world.advance(12).await;
        assert_eq!(world.states(tick).await, [Succeeded; 3]);
        assert_eq!(world.audit().await[0].action, "putBlackout");
    })
    .await;
}

#[tokio::test]
async fn a_window_that_makes_no_sense_is_refused_and_one_that_is_gone_holds_nothing() {
    story(async |world| {
        let put = |blackout| Ask::PutBlackout { name: "night".to_owned(), blackout };
        let refused = world.asks(put(blackout(&json!({"from": 2000, "until": 1000})))).await.expect_err("backwards");
        assert!(refused.is(Code::BlackoutInvalid) && refused.field.as_deref() == Some("until"), "{refused}");
        let refused = world.asks(put(None)).await.expect_err("there is none");
        assert!(refused.is(Code::BlackoutNotFound), "{refused}");
        let window = json!({"from": world.at(0).millis(), "until": world.at(3600).millis()});
        world.asks(put(blackout(&window))).await.expect("a window");
        world.asks(put(None)).await.expect("it goes");
        let tick = world.saves("tick", json!({"schedule": every(10)})).await;
        world.advance(10).await;
        assert_eq!(world.states(tick).await, [Succeeded]);
    })
    .await;
}
