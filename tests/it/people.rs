//! What people ask: done as a whole and on record, or refused with a reason and nothing changed.

use campanile_model::instance::{InstanceState, Origin};
use campanile_model::request::{Ask, Role, SaveJob};
use campanile_model::sharding::Selection;
use campanile_model::task::TaskState;
use campanile_model::{Code, InstanceId, JobId};
use campanile_tests::{Deed, every, job, story};
use serde_json::{Value, json};

fn hold(reason: &str) -> Ask {
    Ask::Hold { reason: reason.to_owned() }
}

#[tokio::test]
async fn a_hold_keeps_everything_from_starting_and_nothing_from_being_due() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10), "overlap": "allow"})).await;
        world.asks(hold("the database is being moved")).await.expect("it is held");
        world.advance(30).await;
        assert_eq!(world.states(job).await, [InstanceState::Waiting; 3]);
        assert!(world.tasks(job).await.iter().all(|task| task.state() == TaskState::Ready));
        assert!(world.executors[0].pushed.is_empty());
        assert_eq!(world.audit().await.last().expect("an entry").action, "hold");
    })
    .await;
}

#[tokio::test]
async fn a_hold_outlives_the_program() {
    story(async |world| {
        let job = world.saves("work", json!({})).await;
        world.asks(hold("the database is being moved")).await.expect("it is held");
        world.runs(job).await;
        world.is_away(100).await;
        world.advance(5).await;
        assert_eq!(world.task(job).await.state(), TaskState::Ready);
        assert!(world.executors[0].pushed.is_empty());
    })
    .await;
}

#[tokio::test]
async fn what_a_hold_kept_back_is_released_over_a_minute() {
    story(async |world| {
        world.asks(hold("the database is being moved")).await.expect("it is held");
        let mut jobs = Vec::new();
        for n in 0..20 {
            jobs.push(world.saves(&format!("job-{n}"), json!({})).await);
        }
        for job in &jobs {
            world.runs(*job).await;
        }
        world.advance(1).await;
        world.asks(Ask::Release).await.expect("it is released");
        let mut begun = Vec::new();
        for _ in 0..6 {
            begun.push(world.executors[0].pushed.len());
            world.advance(10).await;
        }
        assert!(begun[0] < 5, "{begun:?} went at once");
        assert!(
            begun.windows(2).filter(|pair| pair[1] > pair[0]).count() >= 3,
            "{begun:?} did not go little by little"
        );
        world.advance(1).await;
        assert_eq!(world.executors[0].pushed.len(), 20);
        for job in jobs {
            assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
        }
    })
    .await;
}

#[tokio::test]
async fn what_becomes_ready_after_a_release_goes_at_once() {
    story(async |world| {
        world.asks(hold("a look around")).await.expect("it is held");
        world.asks(Ask::Release).await.expect("it is released");
        world.advance(1).await;
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        assert_eq!(world.states(job).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_run_by_hand_may_have_parameters_of_its_own() {
    story(async |world| {
        let job = world.saves("greet", json!({"parameters": {"name": "world", "loud": false}})).await;
        let instance = world.runs_with(job, Some(json!({"name": "mei"})), false).await.expect("it runs");
        assert_eq!(world.executors[0].pushed[0].parameters_json, r#"{"name":"mei","loud":false}"#);
        let made = world.instance(instance).await;
        assert_eq!((made.origin, made.asked_by.as_deref()), (Origin::Manual, Some("mei")));

        world.runs(job).await;
        assert_eq!(world.executors[0].pushed[1].parameters_json, r#"{"name":"world","loud":false}"#);
    })
    .await;
}

#[tokio::test]
async fn a_change_on_top_of_an_old_version_is_refused_and_nothing_is_changed() {
    story(async |world| {
        let job = world.saves("report", json!({"description": "first"})).await;
        world.changes(job, json!({"description": "second"})).await.expect("it is saved");
        let before = world.audit().await.len();
        let refused = world.changes_seeing(job, Some(1), json!({"description": "third"})).await;
        let fault = refused.expect_err("someone was faster");
        assert!(fault.is(Code::JobChanged), "{fault}");
        let kept = world.job(job).await;
        assert_eq!((kept.version, kept.spec.description.as_str()), (2, "second"));
        assert_eq!(world.audit().await.len(), before);
    })
    .await;
}

#[tokio::test]
async fn a_change_that_changes_nothing_makes_no_version() {
    story(async |world| {
        let job = world.saves("report", json!({"description": "first"})).await;
        world.changes(job, json!({"description": "first"})).await.expect("it is accepted");
        assert_eq!(world.job(job).await.version, 1);
    })
    .await;
}

#[tokio::test]
async fn every_change_is_on_record_with_before_and_after() {
    story(async |world| {
        let job = world.saves("report", json!({"description": "first"})).await;
        world.changes(job, json!({"description": "second"})).await.expect("it is saved");
        world.pauses(job).await;
        let audit = world.audit().await;
        let told: Vec<(&str, &str, &str)> =
            audit.iter().map(|entry| (entry.who.as_str(), entry.action.as_str(), entry.subject.as_str())).collect();
        assert_eq!(
            told,
            [("mei", "saveJobs", "report"), ("mei", "saveJobs", "report"), ("mei", "pauseJobs", "report")]
        );
        let described = |value: &Option<Value>| value.as_ref().map(|value| value["description"].clone());
        assert_eq!(described(&audit[0].before), None);
        assert_eq!(described(&audit[1].before), Some(json!("first")));
        assert_eq!(described(&audit[1].after), Some(json!("second")));
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused_by_its_code_and_changes_nothing() {
    story(async |world| {
        world.saves("there", json!({})).await;
        let save = |fields: Value| {
            let spec = job(fields["name"].as_str().unwrap_or("new"), fields.clone());
            Ask::SaveJobs { jobs: vec![SaveJob { spec, job: None, seen_version: None }] }
        };
        let good = SaveJob { spec: job("good", json!({})), job: None, seen_version: None };
        let bad = SaveJob { spec: job("bad", json!({"timeoutSeconds": 0})), job: None, seen_version: None };
        let nobody = JobId::new(0, [7; 10]);
        let nothing = InstanceId::new(0, [7; 10]);
        let cron = |expression: &str, zone: &str| {
            save(json!({"schedule": {"kind": "cron", "expression": expression, "timeZone": zone}}))
        };
        let table = [
            (save(json!({"name": "there"})), Code::JobNameTaken),
            (save(json!({"name": ""})), Code::JobInvalid),
            (cron("0 0 30 2 *", "UTC"), Code::ScheduleNeverFires),
            (cron("0 25 * * *", "UTC"), Code::ScheduleInvalid),
            (cron("0 0 * * *", "Asia/Shangai"), Code::UnknownZone),
            (save(json!({"schedule": {"kind": "once", "at": 0}})), Code::ScheduleNeverFires),
            (save(json!({"mode": "sharding", "parameters": {"data": [1]}})), Code::JobInvalid),
            (save(json!({"priority": "retry"})), Code::JobInvalid),
            (Ask::SaveJobs { jobs: vec![good, bad] }, Code::JobInvalid),
            (Ask::PauseJobs { jobs: vec![nobody] }, Code::JobNotFound),
            (Ask::RemoveJobs { jobs: vec![nobody] }, Code::JobNotFound),
            (
                Ask::RunJobs { jobs: vec![nobody], parameters: None, beside: false, repeats: None, executor: None },
                Code::JobNotFound,
            ),
            (Ask::CancelInstance { instance: nothing, shards: Selection::default() }, Code::InstanceNotFound),
            (Ask::RetryInstance { instance: nothing, shards: Selection::default() }, Code::InstanceNotFound),
            (hold(" "), Code::HoldNeedsReason),
            (Ask::Set { key: "hold".to_owned(), value: json!(null) }, Code::BadRequest),
        ];
        let before = world.audit().await;
        for (ask, code) in table {
            let told = format!("{ask:?}");
            let fault = world.asks(ask).await.expect_err(&told);
            assert!(fault.is(code), "{told}: {fault}, not {code}");
            assert!(!fault.message.zh.is_empty());
        }
        assert_eq!(world.audit().await, before);
        assert_eq!(world.names().await, ["there"]);
    })
    .await;
}

#[tokio::test]
async fn each_role_may_do_its_own_and_no_more() {
    story(async |world| {
        let id = world.saves("there", json!({})).await;
        let run = || Ask::RunJobs { jobs: vec![id], parameters: None, beside: true, repeats: None, executor: None };
        let remove = || Ask::RemoveJobs { jobs: vec![id] };
        let pass = || Ask::GivePass { digest: "0f".repeat(32) };
        let set = || Ask::Set { key: "theme".to_owned(), value: json!("dark") };
        let table = [
            (Role::Viewer, run(), false),
            (Role::Operator, run(), true),
            (Role::Operator, remove(), false),
            (Role::Editor, set(), false),
            (Role::Admin, set(), true),
            (Role::Editor, remove(), true),
            (Role::Viewer, pass(), true),
        ];
        for (role, ask, may) in table {
            let told = format!("{role:?} {ask:?}");
            match world.asks_as(role, ask).await {
                Ok(_) => assert!(may, "{told}"),
                Err(fault) => assert!(!may && fault.is(Code::NoPermission), "{told}: {fault}"),
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_removed_jobs_waiting_runs_go_and_what_runs_may_finish() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let job = world.saves("old", json!({})).await;
        let running = world.runs(job).await;
        let waiting = world.runs(job).await;
        world.asks(Ask::RemoveJobs { jobs: vec![job] }).await.expect("it is removed");
        assert_eq!(world.instance(waiting).await.state, InstanceState::Cancelled);
        assert_eq!(world.instance(running).await.state, InstanceState::Running);
        world.one().finishes("old");
        world.rests().await;
        assert_eq!(world.instance(running).await.state, InstanceState::Succeeded);

        let another = world.saves("old", json!({})).await;
        assert_ne!(another, job, "its name is free again");
    })
    .await;
}

#[tokio::test]
async fn a_removed_job_fires_no_more() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(10)})).await;
        world.advance(10).await;
        world.asks(Ask::RemoveJobs { jobs: vec![job] }).await.expect("it is removed");
        world.advance(30).await;
        assert_eq!(world.instances(job).await.len(), 1);
    })
    .await;
}
