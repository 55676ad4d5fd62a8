//! Nodes as they write themselves down, and what they share out.

use std::collections::BTreeSet;

use campanile_model::node::{NodeApi, NodeEntry};
use campanile_model::{JobId, Partitions};
use futures::future::join_all;

use super::fixtures::*;
use crate::{Launched, Lead, Store, StoreError};

fn entry(node: &str, seen: i64) -> NodeEntry {
    NodeEntry {
        node: node.to_owned(),
        name: "an engine".to_owned(),
        executors_at: "10.0.0.1:7702".to_owned(),
        api: Some(NodeApi {
            address: "10.0.0.1:4600".to_owned(),
            fingerprint: Some("ab".repeat(32)),
            machine: "one".to_owned(),
        }),
        keeper: "one#ab12".to_owned(),
        version: "1.2.3".to_owned(),
        offset_ms: -7,
        partitions: 22,
        since: at(0),
        seen_at: at(seen),
    }
}

pub async fn a_node_reads_back_as_it_last_said_and_is_forgotten_when_long_unseen(store: &dyn Store) {
    let lead = lead(store).await;
    store.put_node(&lead, &entry("b", 1), at(0)).await.unwrap();
    store.put_node(&lead, &entry("a", 5), at(0)).await.unwrap();
    store.put_node(&lead, &entry("b", 6), at(0)).await.unwrap();
    assert_eq!(store.nodes().await.unwrap(), [entry("a", 5), entry("b", 6)]);
    store.put_node(&lead, &entry("c", 7), at(6)).await.unwrap();
    assert_eq!(store.nodes().await.unwrap(), [entry("b", 6), entry("c", 7)]);
    store.remove_node(&lead, "b").await.unwrap();
    assert_eq!(store.nodes().await.unwrap(), [entry("c", 7)]);
    store.release_lease(&lead).await.unwrap();
    let refused = store.put_node(&lead, &entry("c", 9), at(0)).await;
    assert!(matches!(refused, Err(StoreError::Fenced(_))), "{refused:?}");
    assert!(matches!(store.remove_node(&lead, "c").await, Err(StoreError::Fenced(_))));
    assert_eq!(store.nodes().await.unwrap(), [entry("c", 7)]);
}

fn named(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("launch/{n:02}")).collect()
}

fn names(leads: &[Lead]) -> Vec<String> {
    let mut names: Vec<String> = leads.iter().map(|lead| lead.lease.clone()).collect();
    names.sort();
    names
}

pub async fn many_leases_are_taken_kept_and_given_up_together(store: &dyn Store) {
    let mine = store.take_leases(&named(0..40), "a", at(0), at(10)).await.unwrap();
    assert_eq!(names(&mine), named(0..40));
    assert!(mine.iter().all(|lead| lead.holder == "a" && lead.term == 1));
    // Someone else gets what is free, and what is asked for again keeps its term.
    let others = store.take_leases(&named(30..64), "b", at(5), at(15)).await.unwrap();
    assert_eq!(names(&others), named(40..64));
    assert_eq!(store.take_leases(&named(0..2), "a", at(5), at(10)).await.unwrap(), mine[0..2]);

    assert_eq!(store.keep_leases(&mine, at(20)).await.unwrap().len(), 40);
    let (kept, given) = mine.split_at(30);
    store.release_leases(given).await.unwrap();
    assert_eq!(names(&store.keep_leases(&mine, at(21)).await.unwrap()), named(0..30));
    let others = store.take_leases(&named(0..64), "b", at(16), at(30)).await.unwrap();
    assert_eq!(names(&others), named(30..64));
    assert!(others.iter().all(|lead| lead.term == 2), "{others:?}");

    let rows = store.leases("launch/").await.unwrap();
    assert_eq!(rows.iter().map(|row| row.lead.lease.clone()).collect::<Vec<_>>(), named(0..64));
    let of_a = rows.iter().filter(|row| row.lead.holder == "a").map(|row| (row.lead.clone(), row.until));
    assert_eq!(of_a.collect::<Vec<_>>(), kept.iter().map(|lead| (lead.clone(), at(21))).collect::<Vec<_>>());
    assert_eq!(store.leases("launch/1").await.unwrap().len(), 10);
    assert_eq!(store.leases("monitor").await.unwrap(), []);
    assert_eq!(store.keep_leases(&[], at(40)).await.unwrap(), []);
    assert_eq!(store.take_leases(&[], "a", at(0), at(10)).await.unwrap(), []);
    store.release_leases(&[]).await.unwrap();
}

pub async fn of_nodes_that_take_at_once_each_lease_goes_to_one(store: &dyn Store) {
    let holders: Vec<String> = (0..6).map(|n| format!("node-{n}")).collect();
    let all = named(0..64);
    let mut led: Vec<Lead> = Vec::new();
    // What one leaves out because another is just about it, it gets the next time.
    for _ in 0..3 {
        let asked = holders.iter().map(|holder| store.take_leases(&all, holder, at(0), at(10)));
        led = join_all(asked).await.into_iter().flat_map(Result::unwrap).collect();
    }
    assert_eq!(names(&led), all);

    // Who asks for what others hold is not in their way: their own is theirs each time they ask.
    for _ in 0..10 {
        let asked = holders.iter().map(|holder| store.take_leases(&all, holder, at(1), at(10)));
        let again: Vec<Lead> = join_all(asked).await.into_iter().flat_map(Result::unwrap).collect();
        assert_eq!(names(&again), all);
        assert!(again.iter().all(|lead| led.contains(lead)), "{again:?}");
    }
}

pub async fn a_write_shows_every_lease_that_it_depends_on(store: &dyn Store) {
    let all = store.take_leases(&named(0..64), "a", at(0), at(10)).await.unwrap();
    let clerk = store.take_lease("engine", "a", at(0), at(10)).await.unwrap().unwrap();
    let mut jobs = Vec::new();
    for n in 0..6 {
        jobs.push(saved(store, &clerk, &format!("job-{n}")).await);
    }
    let lead_of = |of: &[campanile_model::job::Job]| {
        let partitions: BTreeSet<u32> = of.iter().map(|job| job.id.partition()).collect();
        let of_these = all.iter().filter(|lead| partitions.iter().any(|one| lead.lease == format!("launch/{one:02}")));
        Lead::together(of_these).unwrap()
    };
    let launches = |of: &[campanile_model::job::Job], second| {
        of.iter().map(|job| launch_of(job, second, vec![instance(job, second)], Vec::new())).collect::<Vec<_>>()
    };
    let together = lead_of(&jobs);
    let written = store.launch(&together, &launches(&jobs, 60)).await.unwrap();
    assert_eq!(written, [Launched::Written { made: 1 }; 6]);

    // One of them passes on: what depends on it is refused wholly, and the rest goes on.
    let mut now = Vec::new();
    for job in &jobs {
        now.push(job_now(store, job.id).await);
    }
    let lost = format!("launch/{:02}", jobs[0].id.partition());
    store.take_lease(&lost, "b", at(10), at(20)).await.unwrap().expect("at its end");
    match store.launch(&together, &launches(&now, 120)).await {
        Err(StoreError::Fenced(lease)) => assert_eq!(lease, lost),
        other => panic!("an old term got {other:?}"),
    }
    for (job, now) in jobs.iter().zip(&now) {
        assert_eq!(job_now(store, job.id).await, *now);
    }
    let rest: Vec<_> = now.into_iter().filter(|job| job.id.partition() != jobs[0].id.partition()).collect();
    if !rest.is_empty() {
        let written = store.launch(&lead_of(&rest), &launches(&rest, 120)).await.unwrap();
        assert!(written.iter().all(|written| *written == Launched::Written { made: 1 }), "{written:?}");
    }
}

pub async fn what_is_to_be_done_is_told_apart_by_partition(store: &dyn Store) {
    let lead = lead(store).await;
    let mut due: BTreeSet<JobId> = BTreeSet::new();
    for n in 0..12 {
        due.insert(saved(store, &lead, &format!("job-{n}")).await.id);
    }
    let mut found = BTreeSet::new();
    for n in 0..64 {
        let of: Partitions = [n].into_iter().collect();
        let jobs = store.due_jobs(of, at(10_000), 100).await.unwrap();
        assert_eq!(store.earliest_due(of).await.unwrap().is_some(), !jobs.is_empty());
        for job in jobs {
            assert_eq!(job.id.partition(), n);
            assert!(found.insert(job.id));
        }
    }
    assert_eq!(found, due);

    let half: Partitions = (0..32).collect();
    let other = Partitions::ALL.without(half);
    let of = |ids: Vec<JobId>, of: Partitions| ids.iter().all(|id| of.has(*id)).then_some(ids.len());
    let jobs: Vec<_> = store.due_jobs(Partitions::ALL, at(10_000), 100).await.unwrap();
    for job in &jobs {
        launched(store, &lead, job, 60).await;
    }
    let unassigned = async |part| store.unassigned(part, 100).await.unwrap();
    let (one, two) = (unassigned(half).await, unassigned(other).await);
    let job_of = |made: &Vec<campanile_model::instance::Instance>| made.iter().map(|made| made.job).collect();
    assert_eq!(of(job_of(&one), half).unwrap() + of(job_of(&two), other).unwrap(), 12);
    for instance in one.iter().chain(&two) {
        assigned(store, &lead, instance).await;
    }
    let waiting = async |part| store.due_tasks(part, at(100_000), 100).await.unwrap();
    let (one, two) = (waiting(half).await, waiting(other).await);
    let job_of = |tasks: &Vec<campanile_model::task::Task>| tasks.iter().map(|task| task.job).collect();
    assert_eq!(of(job_of(&one), half).unwrap() + of(job_of(&two), other).unwrap(), 12);
    for (part, tasks) in [(half, one), (other, two)] {
        assert_eq!(store.earliest_due_task(part).await.unwrap(), tasks.iter().map(|task| task.due_at).min());
        assert_eq!(store.idle_fixed_delay_jobs(part, 10).await.unwrap(), []);
        assert_eq!(store.replacing(part, 10).await.unwrap(), []);
        assert_eq!(store.ended_together(part, 10).await.unwrap(), []);
        assert_eq!(store.endings(part, 10).await.unwrap(), []);
        assert_eq!(store.open_backfills(part, 10).await.unwrap(), []);
        assert_eq!(store.shard_runs(part, None, 10).await.unwrap(), []);
    }
    assert_eq!(store.due_jobs(Partitions::NONE, at(10_000), 100).await.unwrap(), []);
}
