//! What is old goes, and what is left still adds up.

use campanile_model::request::Ask;
use campanile_store::SettingStore as _;
use campanile_tests::{every, story};
use serde_json::json;

#[tokio::test]
async fn a_job_keeps_so_many_runs_and_the_ledger_stays_clean() {
    story(async |world| {
        let job = world.saves("tick", json!({"schedule": every(2)})).await;
        world.advance(21).await;
        assert_eq!(world.instances(job).await.len(), 10);
        let keep = json!({"instancesPerJob": 3});
        world.asks(Ask::Set { key: "retention".to_owned(), value: keep }).await.expect("it is set");
        assert_eq!(world.instances(job).await.len(), 3);
        let tasks: Vec<_> = world.tasks(job).await.iter().map(|task| task.id).collect();
        assert_eq!(world.programs[0].logs.tasks(), tasks, "their logs go with them");
        world.checks_the_ledger().await;

        // What was purged is not fired again.
        world.is_away(30).await;
        let first = world.instances(job).await.iter().map(|made| made.planned).min();
        assert!(first >= Some(world.at(16)), "{first:?}");
    })
    .await;
}

#[tokio::test]
async fn runs_go_after_thirty_days() {
    story(async |world| {
        let job = world.saves("work", json!({})).await;
        world.runs(job).await;
        world.sleeps(29 * 86_400).await;
        world.advance(61).await;
        assert_eq!(world.instances(job).await.len(), 1);
        world.sleeps(86_400).await;
        world.advance(61).await;
        assert_eq!(world.instances(job).await.len(), 0);
        assert!(!world.audit().await.is_empty(), "the audit log is kept for ever");
    })
    .await;
}

#[tokio::test]
async fn what_makes_no_sense_is_not_kept_to() {
    story(async |world| {
        for senseless in [json!({"instancesPerJob": 0}), json!({"instances": 3}), json!("all")] {
            let ask = Ask::Set { key: "retention".to_owned(), value: senseless };
            let refused = world.asks(ask).await.expect_err("nothing would be kept, or nobody knows what");
            assert_eq!(refused.code, "k_sc_ec_000001");
        }
        assert_eq!(world.store().setting("retention").await.expect("the store answers"), None);
    })
    .await;
}
