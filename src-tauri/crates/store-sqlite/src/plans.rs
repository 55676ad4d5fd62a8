//! Holds every statement against the indexes: nothing that the engine or a page asks may read through history.

use std::collections::BTreeSet;
use std::sync::Mutex;

use campanile_store::conformance::{
    alarms, archive, jobs, lanes, launch, leases, logs, requests, shards, tasks, unplanned, upkeep,
};
use sqlx::{AssertSqlSafe, ConnectOptions, Row};

use crate::SqliteStore;

static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(crate) fn note(text: &str) {
    NOTED.lock().expect("nobody panics with it").insert(text.to_owned());
}

/// Runs cases that between them send every statement there is.
macro_rules! send {
    ($folder:ident: $($group:ident::$case:ident),* $(,)?) => {$(
        let path = $folder.path().join(concat!(stringify!($case), ".db"));
        $group::$case(&SqliteStore::open(&path).await.unwrap()).await;
    )*};
}

#[tokio::test]
async fn nothing_reads_through_history() {
    let folder = tempfile::tempdir().unwrap();
    send! { folder:
        leases::an_old_term_is_refused_everywhere,
        jobs::a_removed_job_is_found_nowhere_but_in_its_versions,
        jobs::due_jobs_come_earliest_first_and_paused_ones_too,
        jobs::every_version_is_kept_in_the_form_it_had,
        jobs::a_fixed_delay_job_is_idle_once_none_of_its_instances_is_left,
        launch::an_unbroken_run_of_omissions_is_one_row,
        launch::a_launch_is_written_whole,
        launch::tasks_are_assigned_once,
        launch::the_oldest_of_a_job_is_unassigned_and_the_next_waits,
        launch::the_newest_that_replaces_stands_behind_an_older_one,
        launch::unfinished_instances_come_oldest_first,
        tasks::a_waiting_task_is_due_from_its_time_on,
        tasks::ready_tasks_are_those_of_the_processors_wanted,
        tasks::a_held_task_is_past_its_deadline_from_that_time_on,
        tasks::only_held_tasks_are_stopping,
        tasks::holders_are_told_apart_by_their_lives,
        tasks::every_lane_has_a_depth,
        tasks::the_end_of_an_instance_of_the_schedule_is_noted_at_its_job,
        lanes::ready_tasks_are_found_by_what_they_need,
        lanes::a_claim_stops_at_every_bound,
        lanes::a_task_is_promotable_from_its_time_on_while_it_is_ready,
        lanes::a_ready_task_expires_at_its_time,
        lanes::the_last_executor_of_a_job_is_that_of_its_newest_task_that_had_one,
        lanes::an_instance_of_several_tasks_is_settled_when_all_have_ended,
        alarms::alarms_and_mark_are_written_together_or_not_at_all,
        alarms::the_newest_of_a_rule_and_subject_is_the_latest,
        alarms::resolved_alarms_are_not_open,
        requests::changes_are_written_all_or_none,
        requests::requests_are_open_in_the_order_they_were_asked_until_answered,
        requests::a_setting_is_written_over,
        shards::a_run_begins_once_and_reads_back_as_it_was_written,
        shards::data_comes_in_order_and_drafts_stay_apart,
        shards::dealing_moves_items_from_the_data_into_shards_in_one_write,
        shards::tasks_are_added_and_come_in_the_order_they_were_made,
        shards::outcomes_are_written_with_the_step_that_brings_them_or_not_at_all,
        shards::a_part_and_what_it_gives_are_written_with_its_step,
        unplanned::an_end_that_is_kept_comes_again_with_the_next_one,
        unplanned::who_runs_after_whom_follows_the_present_version,
        unplanned::a_question_that_nobody_answers_ends_when_its_time_has_come,
        unplanned::a_backfill_that_was_ended_goes_no_further,
        unplanned::a_backfill_goes_on_from_where_it_was_seen_until_it_is_done,
        logs::parts_go_with_their_task,
        upkeep::the_ledger_begins_where_the_purge_ended,
        upkeep::of_a_job_with_too_many_the_oldest_go,
        upkeep::open_things_stay_however_old,
        archive::jobs_are_found_by_text_tag_and_pause,
        archive::jobs_come_in_the_order_of_names,
        archive::versions_come_newest_first,
        archive::instances_come_newest_first_with_their_job_and_tasks,
        archive::instances_are_found_by_job_state_task_executor_and_due_time,
        archive::the_history_of_a_task_says_when_who_and_why,
        archive::tasks_come_newest_first_by_state_and_executor,
        archive::shards_come_in_order_and_those_that_moved_since,
        archive::omissions_come_latest_first,
        archive::alarms_come_worst_and_latest_first,
        archive::audit_entries_come_newest_first,
        archive::outcomes_are_counted_within_their_time,
        archive::what_fired_comes_in_the_order_of_due_times,
    }
    let store = SqliteStore::open(&folder.path().join("plans.db")).await.unwrap();
    let mut connection = store.options.connect().await.unwrap();
    let noted = NOTED.lock().unwrap().clone();
    assert!(noted.len() > 110, "only {} statements were sent", noted.len());
    let mut wrong = Vec::new();
    for text in noted {
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
        let plan = sqlx::query(explain).fetch_all(&mut connection).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
        wrong.extend(complaints(&text, &plan).into_iter().map(|complaint| format!("{complaint}\n{text}\n{plan:#?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Grows with what has been, not with what there is to do.
const HISTORY: [&str; 9] =
    ["instances", "i", "tasks", "t", "task_moves", "omissions", "ledger_spans", "incidents", "alarms"];

/// Indexes that hold only what is still to be done.
const SMALL: [&str; 12] = [
    "instances_several",
    "instances_unfinished",
    "instances_unassigned",
    "instances_replacing",
    "tasks_waiting",
    "tasks_ready",
    "tasks_promotable",
    "tasks_expiring",
    "tasks_deadline",
    "tasks_held",
    "tasks_stopping",
    "alarms_open",
];

fn complaints(text: &str, plan: &[String]) -> Vec<&'static str> {
    let mut complaints = Vec::new();
    let is_page = text.contains("DESC LIMIT");
    let sorts = plan.iter().any(|line| line.starts_with("USE TEMP B-TREE FOR") && line.ends_with("BY"));
    for line in plan {
        let words: Vec<&str> = line.split(' ').collect();
        let scans = words[0] == "SCAN" && words.get(1).is_some_and(|table| HISTORY.contains(table));
        if scans && !is_page && !words.iter().any(|word| SMALL.contains(word)) {
            complaints.push("reads a whole table");
        }
        let is_of_one = line.contains("instance_seq=?");
        if line.contains("_by_state") && !is_of_one && (!is_page || sorts) && !line.contains("EXISTS") {
            complaints.push("finds its rows among all of a state");
        }
    }
    if is_page && sorts && !text.contains("& 1048575") && !text.contains("json_each") {
        complaints.push("sorts a list to show a page of it");
    }
    complaints
}
