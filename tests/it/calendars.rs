//! Days on which nobody works, and calendars that are edited while jobs live by them.

use campanile_model::alarm::AlarmRule;
use campanile_model::calendar::{Calendar, Date, DayKind, Layer, MarkedDay};
use campanile_model::request::{Ask, Role};
use campanile_model::{Code, Timestamp};
use campanile_store::AlarmStore;
use campanile_tests::{World, story};
use serde_json::{Value, json};

const A_DAY: i64 = 86_400;

/// Every day is worked but those that are `off`, counted from today.
fn calendar(world: &World, off: &[i64]) -> Calendar {
    let today = Date::of_day(world.at(0).millis().div_euclid(A_DAY * 1000));
    let day = |n: &i64| MarkedDay { date: today.plus_days(*n), kind: DayKind::Off, name: None };
    let layer = Layer { name: "ours".into(), days: off.iter().map(day).collect(), ..Layer::default() };
    Calendar { week: Some((1..=7).collect()), layers: vec![layer], ..Calendar::new("ours") }
}

fn put(calendar: Calendar) -> Ask {
    Ask::PutCalendar { calendar: Box::new(calendar), seen_revision: None }
}

/// Every day at so many seconds after the beginning of the world.
fn daily(world: &World, seconds: i64, policy: &str) -> Value {
    json!({
        "schedule": {"repeatLevel": "day", "startTime": world.at(seconds), "timeZone": "UTC"},
        "calendar": "ours",
        "onNonWorkday": policy,
    })
}

async fn next_due(world: &World, job: campanile_model::JobId) -> Option<Timestamp> {
    world.job(job).await.next_due
}

#[tokio::test]
async fn an_edited_calendar_changes_the_next_time_at_once() {
    story(async |world| {
        world.asks(put(calendar(world, &[0]))).await.expect("a calendar");
        let fields = daily(world, 60, "skip");
        let job = world.saves("report", fields).await;
        assert_eq!(next_due(world, job).await, Some(world.at(60 + A_DAY)), "nobody works today");

        world.asks(put(calendar(world, &[1]))).await.expect("an edit");
        world.rests().await;
        world.advance(1).await;
        assert_eq!(next_due(world, job).await, Some(world.at(60)), "today is worked, tomorrow is not");
        world.advance(70).await;
        assert_eq!(world.instances(job).await.len(), 1);
        assert_eq!(next_due(world, job).await, Some(world.at(60 + 2 * A_DAY)));
        let noted =
            world.audit().await.into_iter().any(|entry| entry.action == "putCalendar" && entry.subject == "report");
        assert!(noted, "the times that changed are in the audit log");
    })
    .await;
}

#[tokio::test]
async fn a_run_moved_to_a_moment_that_has_passed_is_handled_as_late() {
    story(async |world| {
        world.asks(put(calendar(world, &[1]))).await.expect("a calendar");
        world.advance(600).await;
        // Tomorrow's belongs to today, an hour ago by now.
        let late = world.now().plus_seconds(A_DAY - 300);
        let fields = json!({
            "schedule": {"kind": "once", "at": late}, "calendar": "ours", "onNonWorkday": "previousWorkday",
        });
        let job = world.saves("report", fields).await;
        world.advance(70).await;
        let made = world.instances(job).await;
        assert_eq!(made.len(), 1, "it is made good once");
        assert_eq!((made[0].planned, made[0].due), (late, late.plus_seconds(-A_DAY)));
    })
    .await;
}

#[tokio::test]
async fn a_calendar_in_use_stays_and_only_an_editor_changes_one() {
    story(async |world| {
        world.asks(put(calendar(world, &[0]))).await.expect("a calendar");
        let fields = daily(world, 60, "nextWorkday");
        world.saves("report", fields).await;
        let remove = |name: &str| Ask::RemoveCalendar { calendar: name.to_owned(), seen_revision: None };
        let refused = [
            (Role::Editor, remove("ours"), Code::CalendarInUse),
            (Role::Editor, remove("cn"), Code::CalendarBuiltIn),
            (Role::Editor, remove("nobody"), Code::CalendarNotFound),
            (Role::Operator, put(calendar(world, &[2])), Code::NoPermission),
            (Role::Admin, Ask::Set { key: "calendar:ours".into(), value: json!(1) }, Code::BadRequest),
        ];
        for (role, ask, code) in refused {
            let name = ask.name();
            let fault = world.asks_as(role, ask).await.expect_err(name);
            assert_eq!(fault.code, code.as_str(), "{name}");
        }
        let seen = Ask::PutCalendar { calendar: Box::new(calendar(world, &[3])), seen_revision: Some(7) };
        assert_eq!(world.asks(seen).await.expect_err("it is at 1").code, Code::CalendarChanged.as_str());
        let fault = world.asks(put(Calendar { week: Some(vec![9]), ..calendar(world, &[]) })).await;
        assert_eq!(fault.expect_err("no such day").code, Code::CalendarInvalid.as_str());
    })
    .await;
}

#[tokio::test]
async fn data_that_ends_soon_is_an_alarm_while_a_job_depends_on_it() {
    story(async |world| {
        let year = |world: &World| Date::of_day(world.now().millis().div_euclid(A_DAY * 1000)).year() as u16;
        let mut ending = calendar(world, &[0]);
        ending.layers[0].years = vec![year(world) - 1];
        world.asks(put(ending)).await.expect("a calendar");
        let fields = daily(world, 60, "skip");
        world.saves("report", fields).await;
        world.sleeps(3700).await;
        world.advance(5).await;
        let alarms = world.store().open_alarms().await.expect("alarms");
        assert!(alarms.iter().any(|alarm| alarm.rule == AlarmRule::CalendarEnds && alarm.subject == "calendar:ours"));

        let mut whole = calendar(world, &[0]);
        whole.layers[0].years = (year(world) - 1..=year(world) + 1).collect();
        world.asks(put(whole)).await.expect("more data");
        world.advance(5).await;
        let alarms = world.store().open_alarms().await.expect("alarms");
        assert!(alarms.iter().all(|alarm| alarm.rule != AlarmRule::CalendarEnds), "it ends with the data");
    })
    .await;
}
