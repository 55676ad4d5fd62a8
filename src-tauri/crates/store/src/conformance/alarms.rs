//! Alarms, and the incidents they are made of.

use campanile_model::alarm::{Alarm, AlarmRule, AlarmState, Severity};
use campanile_model::task::{Incident, IncidentKind};
use campanile_model::{Failure, FailureClass, Words};
use futures::future::join;

use super::fixtures::*;
use crate::{Lead, Store, Taken};

/// Has the store write down incidents by a launch.
async fn happen(store: &dyn Store, lead: &Lead, job: &campanile_model::job::Job, incidents: Vec<Incident>) {
    let job = job_now(store, job.id).await;
    let through = (job.fired_through.millis() - at(0).millis()) / 1000 + 60;
    let mut launch = launch_of(&job, through, Vec::new(), Vec::new());
    launch.incidents = incidents;
    store.launch(lead, &[launch]).await.unwrap();
}

pub async fn incidents_are_read_in_order_and_once(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    let full = Incident {
        instance: Some(instance_id()),
        task: Some(task_id()),
        failure: Some(Failure {
            class: FailureClass::Business, code: "x".to_owned(), message: Words::new("no", "否")
        }),
        ..incident(&job, IncidentKind::SystemFailure, 5)
    };
    happen(store, &lead, &job, vec![full.clone(), incident(&job, IncidentKind::Overran, 4)]).await;
    happen(store, &lead, &job, vec![incident(&job, IncidentKind::ExecutorLost, 3)]).await;

    let all = store.new_incidents(10).await.unwrap();
    let kinds: Vec<_> = all.iter().map(|incident| incident.kind).collect();
    assert_eq!(kinds, [IncidentKind::SystemFailure, IncidentKind::Overran, IncidentKind::ExecutorLost]);
    assert!(all.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(all[0], Incident { seq: all[0].seq, ..full });
    assert_eq!(store.new_incidents(2).await.unwrap(), all[..2]);

    assert_eq!(store.put_alarms(&lead, &[], Some(all[1].seq)).await.unwrap(), Taken::Done);
    assert_eq!(store.new_incidents(10).await.unwrap(), all[2..]);
    assert_eq!(store.put_alarms(&lead, &[], Some(all[2].seq)).await.unwrap(), Taken::Done);
    assert_eq!(store.new_incidents(10).await.unwrap(), []);
    happen(store, &lead, &job, vec![incident(&job, IncidentKind::PushTimeout, 6)]).await;
    assert_eq!(store.new_incidents(10).await.unwrap().len(), 1);
}

pub async fn alarms_and_mark_are_written_together_or_not_at_all(store: &dyn Store) {
    let lead = lead(store).await;
    let job = saved(store, &lead, "job").await;
    happen(store, &lead, &job, vec![incident(&job, IncidentKind::Overran, 4)]).await;
    let mark = store.new_incidents(1).await.unwrap()[0].seq;

    let known = alarm("job:a", Severity::Warning, 0);
    assert_eq!(store.put_alarms(&lead, std::slice::from_ref(&known), None).await.unwrap(), Taken::Done);
    let fresh = alarm("job:b", Severity::Warning, 0);
    // `known` has fence 1 by now, so this has not seen it.
    let outcome = store.put_alarms(&lead, &[fresh.clone(), known.clone()], Some(mark)).await.unwrap();
    assert_eq!(outcome, Taken::Lost);
    assert_eq!(store.alarms(&[fresh.id]).await.unwrap(), []);
    assert_eq!(store.new_incidents(10).await.unwrap().len(), 1);

    let seen = Alarm { fence: 1, count: 2, ..known };
    assert_eq!(store.put_alarms(&lead, &[fresh, seen.clone()], Some(mark)).await.unwrap(), Taken::Done);
    assert_eq!(store.alarms(&[seen.id]).await.unwrap(), [Alarm { fence: 2, ..seen }]);
    assert_eq!(store.new_incidents(10).await.unwrap(), []);
}

pub async fn of_two_that_saw_the_same_alarm_one_writes(store: &dyn Store) {
    let lead = lead(store).await;
    let new = alarm("job:a", Severity::Warning, 0);
    assert_eq!(store.put_alarms(&lead, std::slice::from_ref(&new), None).await.unwrap(), Taken::Done);
    let seen = store.alarms(&[new.id]).await.unwrap();
    let other = [seen[0].clone().resolve(at(9))];
    let (one, two) = join(store.put_alarms(&lead, &seen, None), store.put_alarms(&lead, &other, None)).await;
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!((one == Taken::Done) != (two == Taken::Done), "{one:?} and {two:?}");
    // One that was never written has no fence to show.
    let unknown = Alarm { fence: 3, ..alarm("job:b", Severity::Info, 0) };
    assert_eq!(store.put_alarms(&lead, &[unknown], None).await.unwrap(), Taken::Lost);
}

pub async fn an_alarm_reads_back_as_it_was_written(store: &dyn Store) {
    let lead = lead(store).await;
    for severity in Severity::ALL {
        let mut full =
            alarm(&format!("job:{}", severity.name()), severity, 0).acknowledge("mei", "seen \u{1F440}", at(3));
        full.job = Some(job_id());
        full.streak = 3;
        full.resolved_at = Some(at(4));
        assert_eq!(store.put_alarms(&lead, std::slice::from_ref(&full), None).await.unwrap(), Taken::Done);
        let id = full.id;
        assert_eq!(store.alarms(&[id]).await.unwrap(), [Alarm { fence: 1, ..full }]);
    }
}

pub async fn the_newest_of_a_rule_and_subject_is_the_latest(store: &dyn Store) {
    let lead = lead(store).await;
    let old = alarm("job:a", Severity::Warning, 0).resolve(at(1));
    let new = alarm("job:a", Severity::Warning, 1000);
    let other = alarm("job:b", Severity::Warning, 2000);
    let other_rule = Alarm { rule: AlarmRule::Overran, ..alarm("job:a", Severity::Warning, 3000) };
    for alarm in [&old, &new, &other, &other_rule] {
        assert_eq!(store.put_alarms(&lead, std::slice::from_ref(alarm), None).await.unwrap(), Taken::Done);
    }
    let asked = |rule, subject: &str| (rule, subject.to_owned());
    let of = [asked(AlarmRule::InstanceFailed, "job:a"), asked(AlarmRule::InstanceFailed, "job:c")];
    let latest = store.latest_alarms(&of).await.unwrap();
    assert_eq!(latest.iter().map(|alarm| alarm.id).collect::<Vec<_>>(), [new.id]);

    // A resolved one is still the latest.
    let seen = latest.into_iter().next().unwrap().resolve(at(1001));
    assert_eq!(store.put_alarms(&lead, &[seen], None).await.unwrap(), Taken::Done);
    let of = [asked(AlarmRule::InstanceFailed, "job:a"), asked(AlarmRule::InstanceFailed, "job:b")];
    let mut latest: Vec<_> = store.latest_alarms(&of).await.unwrap().into_iter().map(|alarm| alarm.id).collect();
    latest.sort();
    assert_eq!(latest, [new.id, other.id]);
}

pub async fn resolved_alarms_are_not_open(store: &dyn Store) {
    let lead = lead(store).await;
    let firing = alarm("job:a", Severity::Warning, 0);
    let acknowledged = alarm("job:b", Severity::Warning, 0).acknowledge("mei", "", at(1));
    let resolved = alarm("job:c", Severity::Warning, 0).resolve(at(1));
    let all = [firing.clone(), acknowledged.clone(), resolved];
    assert_eq!(store.put_alarms(&lead, &all, None).await.unwrap(), Taken::Done);
    let mut open = store.open_alarms().await.unwrap();
    open.sort_by_key(|alarm| alarm.id);
    let open: Vec<_> = open.iter().map(|alarm| (alarm.id, alarm.state)).collect();
    assert_eq!(open, [(firing.id, AlarmState::Firing), (acknowledged.id, AlarmState::Acknowledged)]);
}
