//! What waits, in which order it goes, how much of it at once, and who takes it.

use campanile_engine::held::HoldCause;
use campanile_engine::machine::Resource;
use campanile_model::alarm::{AlarmRule, AlarmState, Severity};
use campanile_model::instance::InstanceState;
use campanile_model::limits::LimitOn;
use campanile_model::request::{Ask, Role};
use campanile_model::sharding::Selection;
use campanile_model::task::TaskState;
use campanile_model::{Code, Lane};
use campanile_sdk::Class;
use campanile_store::AlarmStore as _;
use campanile_tests::{Deed, World, story};
use serde_json::json;

use TaskState::*;

/// The lanes are flooded with High work, always more than goes: what is Low goes all the same, in its turn.
#[tokio::test]
async fn under_a_flood_of_high_work_low_tasks_finish_by_promotion_in_order() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0).is_back();
        world.rests().await;
        let flood = world.saves("flood", json!({"priority": "high", "overlap": "allow"})).await;
        for _ in 0..4 {
            world.runs(flood).await;
        }
        let first = world.saves("first", json!({"priority": "low"})).await;
        let second = world.saves("second", json!({"priority": "low"})).await;
        world.runs(first).await;
        world.runs(second).await;
        let mut lanes = vec![(0, Lane::Low)];
        let begun = world.now();
        let mut ended = Vec::new();
        // One task ends every twenty seconds, and another of the flood comes for it.
        for _ in 0..125 {
            world.advance(20).await;
            for job in world.one().runs() {
                if job != "flood" {
                    ended.push((job.clone(), world.now().since(begun).as_secs()));
                }
                world.one().finishes(&job);
            }
            world.rests().await;
            if ended.len() == 2 {
                break;
            }
            world.runs(flood).await;
            let lane = world.task(first).await.lane;
            if lanes.last().is_some_and(|(_, last)| *last != lane) {
                lanes.push((world.now().since(begun).as_secs(), lane));
            }
        }
        let order: Vec<Lane> = lanes.iter().map(|(_, lane)| *lane).collect();
        assert_eq!(order, [Lane::Low, Lane::Normal, Lane::Retry, Lane::High, Lane::Immediate], "{lanes:?}");
        for ((second, lane), expected) in lanes.iter().zip([0, 1800, 2100, 2160, 2190]) {
            assert!((expected..=expected + 25).contains(second), "in {lane:?} after {second} s");
        }
        let names: Vec<&str> = ended.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        // Behind those of the flood that came into Immediate before them, and no others.
        assert!(ended.iter().all(|(_, second)| (2190..2400).contains(second)), "{ended:?}");
        let task = world.task(first).await;
        assert_eq!(task.promotions, 4);
        let history = world.history(&task).await;
        let moved = history.iter().filter(|entry| (entry.from, entry.to) == (Ready, Ready));
        let moved: Vec<&str> = moved.filter_map(|entry| Some(entry.reason.as_ref()?.en.as_str())).collect();
        assert_eq!(moved.len(), 4);
        assert_eq!(moved[0], "waited 1800 s in lane Low and moved up to Normal");
        assert_eq!(moved[3], "waited 30 s in lane High and moved up to Immediate");
    })
    .await;
}

#[tokio::test]
async fn time_that_everything_was_held_does_not_count_towards_the_next_lane() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0).is_back();
        world.rests().await;
        let filler = world.saves("filler", json!({})).await;
        world.runs(filler).await;
        let waits = world.saves("waits", json!({"priority": "high"})).await;
        world.runs(waits).await;
        world.advance(20).await;
        world.asks(Ask::Hold { reason: "a look at the database".to_owned() }).await.unwrap();
        world.advance(100).await;
        assert_eq!(world.task(waits).await.lane, Lane::High);
        assert_eq!(world.held(), [HoldCause::Everything]);
        world.asks(Ask::Release).await.unwrap();
        world.advance(8).await;
        assert_eq!(world.task(waits).await.lane, Lane::High);
        world.advance(4).await;
        assert_eq!(world.task(waits).await.lane, Lane::Immediate);
    })
    .await;
}

#[tokio::test]
async fn a_job_goes_as_often_at_once_as_it_allows_and_stands_in_nobodys_way() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let limited = world.saves("limited", json!({"overlap": "allow", "maxConcurrent": 2})).await;
        for _ in 0..6 {
            world.runs(limited).await;
        }
        let other = world.saves("other", json!({"priority": "low"})).await;
        world.runs(other).await;
        let mut runs = world.one().runs();
        runs.sort();
        assert_eq!(runs, ["limited", "limited", "other"]);
        world.advance(2).await;
        assert_eq!(world.held(), [HoldCause::JobLimit { job: limited, most: 2 }]);
        world.one().finishes("limited");
        world.rests().await;
        assert_eq!(world.one().runs().iter().filter(|job| *job == "limited").count(), 2);
    })
    .await;
}

#[tokio::test]
async fn limits_of_tenant_group_and_node_hold_and_are_named() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let acme = world.saves("acme", json!({"overlap": "allow", "tenant": "acme"})).await;
        let plain = world.saves("plain", json!({"overlap": "allow"})).await;
        let set = |value| Ask::Set { key: "limits".to_owned(), value };
        let refused = world.asks(set(json!({"tenants": {"acme": 0}}))).await.unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("tenants.acme"));
        world.asks(set(json!({"tenants": {"acme": 1}}))).await.unwrap();
        for job in [acme, acme, plain, plain] {
            world.runs(job).await;
        }
        let mut runs = world.one().runs();
        runs.sort();
        assert_eq!(runs, ["acme", "plain", "plain"]);
        world.advance(1).await;
        assert_eq!(world.held(), [HoldCause::TenantLimit { tenant: "acme".to_owned(), most: 1 }]);
        world.asks(set(json!({"groups": {"local": 3}}))).await.unwrap();
        world.advance(1).await;
        assert_eq!(world.held(), [HoldCause::GroupLimit { group: "local".to_owned(), most: 3 }]);
        world.asks(set(json!({"node": 3}))).await.unwrap();
        world.advance(1).await;
        assert_eq!(world.held(), [HoldCause::NodeLimit { most: 3 }]);
        world.asks(set(json!({}))).await.unwrap();
        world.advance(1).await;
        assert_eq!(world.one().runs().len(), 4);
        assert_eq!(world.held(), []);
    })
    .await;
}

#[tokio::test]
async fn low_work_waits_while_the_machine_is_short_of_cpu() {
    story(async |world| {
        let low = world.saves("low", json!({"priority": "low"})).await;
        let normal = world.saves("normal", json!({})).await;
        for _ in 0..3 {
            world.one().reads_machine(85.0, 50.0, 0.0);
            world.advance(1).await;
        }
        world.runs(low).await;
        world.runs(normal).await;
        world.advance(2).await;
        assert_eq!(world.states(normal).await, [InstanceState::Succeeded]);
        assert_eq!(world.states(low).await, [InstanceState::Waiting]);
        let (group, processor) = ("local".to_owned(), "work".to_owned());
        assert_eq!(world.held(), [HoldCause::Machine { group, processor, resource: Resource::Cpu }]);
        world.one().reads_machine(30.0, 50.0, 0.0);
        world.advance(2).await;
        assert_eq!(world.states(low).await, [InstanceState::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_broadcast_runs_on_every_executor_and_ends_when_all_of_them_have() {
    story(async |world| {
        world.one().does([Deed::Succeeds]);
        world.executor("two").does([Deed::Runs]);
        world.rests().await;
        let job = world.saves("all", json!({"mode": "broadcast", "retry": {"retries": 0}})).await;
        world.runs(job).await;
        let executors = |tasks: &[campanile_model::task::Task]| -> Vec<String> {
            tasks.iter().filter_map(|task| Some(task.executor.as_ref()?.name.clone())).collect()
        };
        let mut names = executors(&world.tasks(job).await);
        names.sort();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(world.states(job).await, [InstanceState::Running]);
        world.executor("two").fails("all", Class::Business);
        world.rests().await;
        assert_eq!(world.states(job).await, [InstanceState::Failed]);
        let instance = world.instances(job).await.pop().unwrap();
        assert_eq!(instance.failure.expect("it says why").code, "test_said_no");

        // One of the two is enough, and an operator's retry goes to the same executor again.
        world.changes(job, json!({"minSuccess": 1})).await.unwrap();
        world.runs(job).await;
        world.executor("two").fails("all", Class::Business);
        world.rests().await;
        assert_eq!(world.states(job).await.last(), Some(&InstanceState::Succeeded));
        world.asks(Ask::RetryInstance { instance: instance.id, shards: Selection::default() }).await.unwrap();
        assert_eq!(world.executor("two").runs(), ["all"]);
        world.executor("two").finishes("all");
        world.rests().await;
        assert_eq!(world.instance(instance.id).await.state, InstanceState::Succeeded);
    })
    .await;
}

#[tokio::test]
async fn one_limit_is_set_and_lifted_by_an_admin_and_the_others_stay() {
    story(async |world| {
        world.one().does([Deed::Runs]);
        let put = |limit: LimitOn, most| Ask::PutLimit { limit, most };
        let tenant = || LimitOn::Tenant("acme".to_owned());
        let refused = world.asks_as(Role::Editor, put(LimitOn::Node, Some(1))).await.expect_err("not an editor's");
        assert!(refused.is(Code::NoPermission), "{refused}");
        let refused = world.asks(put(LimitOn::Node, Some(0))).await.expect_err("nothing is no limit");
        assert_eq!((refused.is(Code::JobInvalid), refused.field.as_deref()), (true, Some("most")));
        let refused = world.asks(put(LimitOn::Group("  ".to_owned()), Some(1))).await.expect_err("a name");
        assert_eq!((refused.is(Code::BadRequest), refused.field.as_deref()), (true, Some("name")));
        assert_eq!(world.audit().await, []);

        world.asks(put(tenant(), Some(1))).await.unwrap();
        world.asks(put(LimitOn::Node, Some(3))).await.unwrap();
        let acme = world.saves("acme", json!({"overlap": "allow", "tenant": "acme"})).await;
        let plain = world.saves("plain", json!({"overlap": "allow"})).await;
        for job in [acme, acme, plain, plain, plain] {
            world.runs(job).await;
        }
        assert_eq!(world.one().runs().len(), 3);
        world.asks(put(LimitOn::Node, None)).await.unwrap();
        world.advance(1).await;
        let mut runs = world.one().runs();
        runs.sort();
        assert_eq!(runs, ["acme", "plain", "plain", "plain"]);
        let entry = world.audit().await.pop().expect("an entry");
        assert_eq!((entry.action.as_str(), entry.subject.as_str()), ("putLimit", "setting:limits"));
        let tenants = json!({"acme": 1});
        assert_eq!(entry.before, Some(json!({"node": 3, "tenants": tenants})));
        assert_eq!(entry.after, Some(json!({"tenants": tenants})));
        // What is so already is no change.
        let before = world.audit().await.len();
        world.asks(put(LimitOn::Node, None)).await.unwrap();
        assert_eq!(world.audit().await.len(), before);
    })
    .await;
}

#[tokio::test]
async fn what_starves_is_an_alarm_but_not_while_somebody_holds_it() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0).is_back();
        world.rests().await;
        let urgent = world.saves("urgent", json!({"priority": "immediate", "overlap": "allow"})).await;
        for _ in 0..6 {
            world.runs(urgent).await;
        }
        let starved = async |world: &World| {
            let wanted = [(AlarmRule::Starved, "lane:Immediate".to_owned())];
            world.store().latest_alarms(&wanted).await.expect("alarms").pop().map(|alarm| (alarm.state, alarm.severity))
        };
        world.advance(61).await;
        assert_eq!(starved(world).await, Some((AlarmState::Firing, Severity::Warning)));
        world.asks(Ask::Hold { reason: "a look at the database".to_owned() }).await.unwrap();
        world.advance(31).await;
        assert_eq!(starved(world).await, Some((AlarmState::Resolved, Severity::Warning)));
    })
    .await;
}

#[tokio::test]
async fn a_broadcast_with_nobody_there_has_failed() {
    story(async |world| {
        world.advance(12).await;
        let job = world.saves("all", json!({"mode": "broadcast", "labels": {"disk": "tape"}})).await;
        world.runs(job).await;
        let instance = world.instances(job).await.pop().unwrap();
        assert_eq!(instance.state, InstanceState::Failed);
        assert_eq!(instance.failure.expect("it says why").code, Code::NoExecutorForProcessor.as_str());
        assert_eq!(world.tasks(job).await, []);
    })
    .await;
}

#[tokio::test]
async fn labels_decide_who_takes_it_and_without_such_an_executor_it_ends_401() {
    story(async |world| {
        world.executor("two").has_labels([("disk", "ssd")]);
        world.rests().await;
        let there = world.saves("there", json!({"route": "label", "labels": {"disk": "ssd"}})).await;
        let nowhere = json!({"labels": {"disk": "tape"}, "readyTimeoutSeconds": 5, "retry": {"retries": 0}});
        let nowhere = world.saves("nowhere", nowhere).await;
        for _ in 0..3 {
            world.runs(there).await;
        }
        assert_eq!(world.executor("two").pushed.len(), 3);
        world.runs(nowhere).await;
        world.advance(4).await;
        assert_eq!(world.task(nowhere).await.state(), Ready);
        world.advance(3).await;
        assert_eq!(world.task(nowhere).await.state(), ReadyTimeout);
    })
    .await;
}

#[tokio::test]
async fn sticky_work_stays_with_its_executor_until_that_one_is_gone() {
    story(async |world| {
        world.executor("two");
        world.rests().await;
        let job = world.saves("sticky", json!({"route": "sticky"})).await;
        world.runs(job).await;
        let first = world.tasks(job).await.pop().unwrap().executor.unwrap().name;
        for _ in 0..3 {
            world.runs(job).await;
        }
        assert!(world.tasks(job).await.iter().all(|task| task.executor.as_ref().unwrap().name == first));
        world.executor(&first).dies();
        world.advance(5).await;
        world.runs(job).await;
        world.advance(1).await;
        assert!(world.states(job).await.iter().all(|state| *state == InstanceState::Succeeded));
        let other = if first == "one" { "two" } else { "one" };
        assert_eq!(world.executor(other).pushed.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn equal_keys_go_to_one_executor_and_move_when_it_is_gone() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0).is_back();
        world.executor("two").does([Deed::Runs]).has_room_for(1, 0);
        world.rests().await;
        world.advance(12).await;
        let fields = json!({"route": "consistentHash", "hashKey": "customer", "overlap": "allow",
                            "parameters": {"customer": 7}});
        let job = world.saves("hashed", fields).await;
        world.runs(job).await;
        let home = world.task(job).await.executor.unwrap().name;
        world.runs(job).await;
        world.advance(2).await;
        // The other one has room, and it waits all the same.
        let waiting = world.tasks(job).await.pop().unwrap();
        assert_eq!(waiting.state(), Ready);
        assert_eq!(waiting.needs.placed.unwrap().executor, home);
        world.executor(&home).dies();
        world.advance(8).await;
        let other = if home == "one" { "two" } else { "one" };
        assert_eq!(world.executor(other).runs(), ["hashed"]);
    })
    .await;
}

#[tokio::test]
async fn what_was_not_begun_before_it_expired_is_superseded() {
    story(async |world| {
        world.one().does([Deed::Runs]).has_room_for(1, 0).is_back();
        world.rests().await;
        let filler = world.saves("filler", json!({})).await;
        world.runs(filler).await;
        let job = world.saves("fresh", json!({"expiresAfterSeconds": 10})).await;
        world.runs(job).await;
        world.advance(9).await;
        assert_eq!(world.task(job).await.state(), Ready);
        world.advance(3).await;
        assert_eq!(world.task(job).await.state(), Superseded);
        assert_eq!(world.states(job).await, [InstanceState::Superseded]);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_longer_needed_is_not_run_and_no_answer_is_yes() {
    story(async |world| {
        world.one().answers(Some(false)).is_back();
        world.rests().await;
        let job = world.saves("asks", json!({"stillNeeded": {"ask": "processor"}})).await;
        world.runs(job).await;
        world.advance(1).await;
        assert_eq!(world.states(job).await, [InstanceState::Superseded]);
        assert!(world.one().pushed.is_empty());

        world.one().answers(None);
        world.runs(job).await;
        world.advance(1).await;
        assert!(world.one().pushed.is_empty());
        world.advance(2).await;
        assert_eq!(world.states(job).await.last(), Some(&InstanceState::Succeeded));
    })
    .await;
}

#[tokio::test]
async fn parameters_are_filled_in_when_a_run_goes_out() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Transient), Deed::Succeeds]);
        let parameters = json!({"command": "{{job}} for {{planned.date}}, try {{attempt}}", "braces": "{{{{x}}"});
        let job = world.saves("report", json!({"parameters": parameters})).await;
        world.runs(job).await;
        world.advance(2).await;
        let seen: Vec<serde_json::Value> = (world.one().pushed.iter())
            .map(|push| serde_json::from_str(&push.parameters_json).expect("JSON"))
            .collect();
        let day = world.at(0).to_string()[..10].to_owned();
        assert_eq!(seen[0], json!({"command": format!("report for {day}, try 1"), "braces": "{{x}}"}));
        assert_eq!(seen[1]["command"], json!(format!("report for {day}, try 2")));
    })
    .await;
}

#[tokio::test]
async fn a_rule_on_the_message_decides_what_the_processor_left_open() {
    story(async |world| {
        world.one().does([Deed::Fails(Class::Transient)]);
        let rules = json!([{"match": "/^test_said/", "class": "business"}]);
        let job = world.saves("ruled", json!({"failureRules": rules})).await;
        world.runs(job).await;
        assert_eq!(world.way(job).await, [Ready, Pushed, Running, Failed]);
        assert_eq!(world.states(job).await, [InstanceState::Failed]);
    })
    .await;
}

#[tokio::test]
async fn a_task_that_is_given_back_again_and_again_comes_ever_more_seldom() {
    story(async |world| {
        world.one().does([Deed::AlwaysHandsBack]);
        let job = world.saves("unwanted", json!({})).await;
        world.runs(job).await;
        // At once, once more, and then after 1, 2, 4, 8 s: a second is as finely as it is looked at.
        world.advance(30).await;
        let times = world.one().pushed.len();
        assert!((5..=8).contains(&times), "{times} times in half a minute");
        assert_eq!(world.task(job).await.state(), Ready);
    })
    .await;
}

#[tokio::test]
async fn a_person_picks_the_executor_of_a_run() {
    story(async |world| {
        world.executor("two");
        world.advance(12).await;
        let job = world.saves("picked", json!({})).await;
        let run = |executor: &str, parameters| Ask::RunJobs {
            jobs: vec![job],
            parameters,
            beside: true,
            repeats: None,
            executor: Some(executor.to_owned()),
        };
        for _ in 0..3 {
            world.asks(run("two", None)).await.unwrap();
        }
        assert_eq!((world.executor("two").pushed.len(), world.one().pushed.len()), (3, 0));
        let refused = world.asks(run("three", None)).await.unwrap_err();
        assert!(refused.is(Code::ExecutorNotFound), "{refused}");
        let parameters = serde_json::Map::from_iter([("command".to_owned(), json!("{{plannedd}}"))]);
        let refused = world.asks(run("two", Some(parameters))).await.unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("parameters.command"));
    })
    .await;
}
