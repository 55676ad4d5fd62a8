//! Sharding processors, played against a node that the test is.

#![allow(clippy::unwrap_used)]

mod node;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use campanile_proto::v1::{self, from_executor::Message as From, report::What};
use campanile_sdk::sharding::{Items, MAX_ITEM_BYTES, NewData, Notice, Shard, ShardEnds};
use campanile_sdk::testing::TestRun;
use campanile_sdk::{Also, Executor, ProcessorInfo, ShardingProcessor, TaskContext, TaskError};
use node::{Node, World, told, welcome, world};
use serde_json::{Value, json};

/// A sharding processor with every method.
#[derive(Clone, Default)]
struct Adding {
    notices: Arc<Mutex<Vec<Notice>>>,
}

#[async_trait]
impl ShardingProcessor for Adding {
    fn name(&self) -> &str {
        "add"
    }

    fn describe(&self) -> ProcessorInfo {
        ProcessorInfo::new("add").also(Also::PostProcess).also(Also::PreProcess).also(Also::Notify)
    }

    async fn pre_process(&self, _ctx: TaskContext, mut items: Items, data: &mut NewData) -> Result<(), TaskError> {
        while let Some(item) = items.next().await {
            let value = item?.value;
            match value.as_str() {
                Some("keep") => return Ok(()),
                Some("large") => data.add(0, Value::String("x".repeat(MAX_ITEM_BYTES))).await?,
                Some("much") => {
                    for _ in 0..40 {
                        data.add(0, Value::String("x".repeat(100 * 1024))).await?;
                    }
                    return Ok(());
                }
                _ => {}
            }
            data.add(0, json!({"was": value})).await?;
            data.add(1, json!(1)).await?;
        }
        data.add(0, json!("too late")).await
    }

    async fn sharding_process(&self, ctx: TaskContext, shard: Shard, mut items: Items) -> Result<Value, TaskError> {
        let mut sum = 0;
        while let Some(item) = items.next().await {
            // It must fail all the same.
            let Ok(item) = item else { return Ok(json!("swallowed")) };
            match item.value.as_i64() {
                Some(n) => {
                    sum += n;
                    ctx.item(item.index, Ok(()), "");
                }
                None => ctx.item(item.index, Err(()), "no number"),
            }
        }
        Ok(json!([shard.level, shard.index, shard.count, shard.item_count, sum]))
    }

    async fn notify(&self, _ctx: TaskContext, progress: Notice) -> Result<(), TaskError> {
        self.notices.lock().unwrap().push(progress);
        Ok(())
    }

    async fn post_process(&self, _ctx: TaskContext, mut ends: ShardEnds) -> Result<Value, TaskError> {
        let mut each = Vec::new();
        while let Some(end) = ends.next().await {
            let end = end?;
            let said = match end.result {
                Ok(result) => result.to_string(),
                Err(failed) => failed.to_string(),
            };
            each.push(format!("{} {} {} {said}", end.level, end.shard, end.code));
        }
        Ok(json!(each))
    }
}

async fn adding() -> World {
    world(Executor::builder("local", "desk").sharding_processor(Adding::default()).capacity(1).queued(3)).await
}

fn push(task: &str, method: v1::Method, more_follows: bool) -> v1::Push {
    v1::Push {
        method: method.into(),
        more_follows,
        shard: Some(v1::Shard { level: 1, level_count: 2, index: Some(2), count: 3, round: 1, item_count: 3 }),
        ..node::push(task, "add", &json!({}))
    }
}

fn data(task: &str, last: bool, values: &[&str]) -> v1::ShardData {
    let items = values.iter().zip(10..).map(|(value, index)| v1::DataItem { index, value_json: (*value).to_owned() });
    v1::ShardData { attempt: Some(v1::AttemptRef::new(task, 1)), level: 1, items: items.collect(), last }
}

/// What comes until the attempt is over; items in one line, in however many reports they came.
async fn until_the_end(node: &mut Node) -> Vec<String> {
    let (mut heard, mut items) = (Vec::new(), Vec::new());
    loop {
        let report = node.report().await;
        match report.what.as_ref().unwrap() {
            What::Items(some) => {
                items.extend(some.outcomes.iter().map(|item| format!("{} {}", item.index, item.succeeded)));
            }
            What::Finished(_) => {
                heard.push(items.join(" "));
                heard.push(told(&report).split_once(' ').unwrap().1.split_once(' ').unwrap().1.to_owned());
                return heard;
            }
            _ => heard.push(told(&report)),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shard_starts_with_its_first_items_and_reports_each() {
    let mut world = adding().await;
    let node = &mut world.node;
    let offered = &node.register.processors[0];
    assert_eq!(offered.kind(), v1::ProcessorKind::Sharding);
    assert_eq!(offered.methods, [2, 3, 4, 5]);

    node.say(push("a", v1::Method::ShardingProcess, true)).await;
    assert_eq!(node.reports(1).await, ["a 1 accepted"]);
    node.say(data("a", false, &["1", "\"x\""])).await;
    assert_eq!(node.reports(1).await, ["a 2 started"]);
    node.say(data("a", true, &["5"])).await;
    assert_eq!(until_the_end(node).await, ["10 true 11 false 10 true", "succeeded [1,2,3,3,6]"]);
}

#[tokio::test(start_paused = true)]
async fn what_has_its_data_starts_before_what_still_waits_for_it() {
    let mut world = adding().await;
    let node = &mut world.node;
    node.say(push("a", v1::Method::ShardingProcess, true)).await;
    node.say(push("b", v1::Method::ShardingProcess, true)).await;
    assert_eq!(node.reports(2).await, ["a 1 accepted", "b 1 accepted"]);
    node.say(data("b", true, &[])).await;
    assert_eq!(node.reports(1).await, ["b 2 started"]);
    assert_eq!(until_the_end(node).await, ["", "succeeded [1,2,3,3,0]"]);
    node.say(data("a", true, &["7"])).await;
    assert_eq!(node.reports(1).await, ["a 2 started"]);
}

#[tokio::test(start_paused = true)]
async fn a_method_that_is_not_named_is_handed_back_and_so_is_a_plain_run() {
    struct Plain;
    #[async_trait]
    impl ShardingProcessor for Plain {
        fn name(&self) -> &str {
            "add"
        }
        async fn sharding_process(&self, _: TaskContext, _: Shard, _: Items) -> Result<Value, TaskError> {
            Ok(Value::Null)
        }
    }
    let mut world = world(Executor::builder("local", "desk").sharding_processor(Plain)).await;
    let node = &mut world.node;
    assert_eq!(node.register.processors[0].methods, [3]);
    node.say(push("a", v1::Method::PostProcess, true)).await;
    node.say(push("b", v1::Method::Process, false)).await;
    assert_eq!(node.reports(2).await, ["a 1 handed back UNKNOWN_PROCESSOR", "b 1 handed back UNKNOWN_PROCESSOR"]);
}

#[tokio::test(start_paused = true)]
async fn data_that_does_not_come_whole_fails_what_began_and_lets_go_of_what_did_not() {
    let mut world = adding().await;
    let node = &mut world.node;
    node.say(push("a", v1::Method::ShardingProcess, true)).await;
    node.say(push("b", v1::Method::ShardingProcess, true)).await;
    node.say(data("a", false, &["1"])).await;
    let mut heard = node.reports(3).await;
    heard.sort();
    assert_eq!(heard, ["a 1 accepted", "a 2 started", "b 1 accepted"]);
    node.break_stream().await;
    let held: Vec<&str> =
        node.register.still_held.iter().map(|held| held.attempt.as_ref().unwrap().task_id.as_str()).collect();
    assert_eq!(held, ["a"]);
    node.say(welcome(&[("a", 1, 2)])).await;
    let heard = until_the_end(node).await;
    assert_eq!(heard, ["10 true", "failed TRANSIENT k_sc_ec_300050"]);
}

#[tokio::test(start_paused = true)]
async fn pre_process_replaces_the_data_in_order_or_keeps_it() {
    let table: [(&[&str], &[&str]); 4] = [
        (&["\"keep\""], &["t 1 accepted", "t 2 started", "", "succeeded null"]),
        (
            &["7"],
            &["t 1 accepted", "t 2 started", "t 3 data 0 [{\"was\":7}] more", "", "failed BUSINESS k_sc_ec_300053"],
        ),
        (&["\"large\""], &["t 1 accepted", "t 2 started", "", "failed BUSINESS k_sc_ec_300052"]),
        (&[], &["t 1 accepted", "t 2 started", "t 3 data 0 [\"too late\"] last", "", "succeeded null"]),
    ];
    for (given, expected) in table {
        let mut world = adding().await;
        world.node.say(push("t", v1::Method::PreProcess, true)).await;
        world.node.say(data("t", true, given)).await;
        assert_eq!(until_the_end(&mut world.node).await, expected, "{given:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn new_data_waits_while_a_mebibyte_is_under_way() {
    let mut world = adding().await;
    let node = &mut world.node;
    node.say(push("t", v1::Method::PreProcess, true)).await;
    node.say(data("t", true, &["\"much\""])).await;
    node.reports(2).await;
    let (mut items, mut under_way, mut most) = (0, Vec::new(), 0);
    loop {
        // Nothing more comes until something is acknowledged.
        let quiet = std::time::Duration::from_millis(500);
        match tokio::time::timeout(quiet, node.hear()).await {
            Ok(From::Report(report)) => match report.what.unwrap() {
                What::NewData(piece) => {
                    items += piece.items_json.len();
                    under_way.push(report.sequence);
                    most = most.max(under_way.len());
                }
                What::Finished(_) => break,
                other => panic!("{other:?}"),
            },
            Ok(other) => panic!("{other:?}"),
            Err(_) => {
                for sequence in std::mem::take(&mut under_way) {
                    node.ack("t", sequence).await;
                }
            }
        }
    }
    // Pieces of half a mebibyte at most: the third is begun while less than one is under way.
    assert_eq!((items, most), (40, 3));
}

#[tokio::test(start_paused = true)]
async fn notices_and_ends_of_shards_are_handed_on() {
    let adding = Adding::default();
    let mut world = world(Executor::builder("local", "desk").sharding_processor(adding.clone())).await;
    let node = &mut world.node;
    let notice = v1::Notice { items_done: 1, items_total: 4, percent: 25.0 };
    node.say(v1::Push { notice: Some(notice), ..push("n", v1::Method::Notify, false) }).await;
    assert_eq!(node.reports(3).await, ["n 1 accepted", "n 2 started", "n 3 succeeded null"]);
    let said = Notice { items_done: 1, items_total: 4, percent: 25.0 };
    assert_eq!(*adding.notices.lock().unwrap(), [said]);

    node.say(push("p", v1::Method::PostProcess, true)).await;
    let attempt = Some(v1::AttemptRef::new("p", 1));
    let first = v1::ShardEnd { code: 301, result_json: Some("6".into()), ..v1::ShardEnd::default() };
    node.say(v1::ShardEnds { attempt: attempt.clone(), ends: vec![first], last: false }).await;
    let failure = v1::Failure {
        class: v1::FailureClass::Business.into(),
        code: "bad".into(),
        message_en: "no".into(),
        message_zh: String::new(),
    };
    let second = v1::ShardEnd { level: 1, shard: 2, code: 302, error: Some(failure), ..v1::ShardEnd::default() };
    let third = v1::ShardEnd { level: 2, code: 303, ..v1::ShardEnd::default() };
    node.say(v1::ShardEnds { attempt, ends: vec![second, third], last: true }).await;
    let heard = until_the_end(node).await;
    let expected = r#"succeeded ["0 0 301 6","1 2 302 bad: no","2 0 303 cancelled: it did not run to its end"]"#;
    assert_eq!(heard.last().unwrap(), expected);
}

#[tokio::test]
async fn a_method_can_be_tried_without_an_executor() {
    let run = TestRun::new(json!({}));
    let (arriving, items) = tokio::sync::mpsc::channel(1);
    drop(arriving);
    let mut data = run.new_data();
    Adding::default().pre_process(run.context(), Items::new(items), &mut data).await.unwrap();
    drop(data);
    assert_eq!(run.data(), []);
}
