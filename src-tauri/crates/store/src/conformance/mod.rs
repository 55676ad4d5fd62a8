//! The promises of the contract, as tests that every backend runs.
//!
//! A case is an async function with a sentence for a name; it gets an empty store and panics where a promise is
//! broken. [`conformance!`](crate::conformance) runs those about the engine's part, which a store in memory passes too;
//! [`archive_conformance!`](crate::archive_conformance) those about what people look at. Both take the path of an async
//! function that makes a fresh store, inside whatever keeps it alive: `&*fresh().await` is the store. After `if_there`
//! stands one that makes none where this machine has no server for it; the cases then pass without having run.
//!
//! Cases bring their own time and never sleep.

// The panic of a case is its message, as it is in any test.
#![allow(clippy::unwrap_used)]

pub mod alarms;
pub mod archive;
pub mod budget;
pub mod executors;
pub mod fixtures;
pub mod in_turn;
pub mod jobs;
pub mod lanes;
pub mod launch;
pub mod leases;
pub mod locks;
pub mod logs;
pub mod nodes;
pub mod passes;
pub mod requests;
pub mod shards;
pub mod staged;
pub mod tasks;
pub mod unplanned;
pub mod upkeep;

/// Runs the engine's part of the suite against a backend, one `#[test]` per case.
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance! { @cases each $fresh }
    };
    (if_there $fresh:path) => {
        $crate::conformance! { @cases each_if_there $fresh }
    };
    (@cases $how:ident $fresh:path) => {
        $crate::conformance! { @$how $fresh;
            leases::a_free_lease_is_taken_and_seen,
            leases::of_several_that_ask_at_once_one_gets_it,
            leases::a_lease_passes_on_once_its_end_has_come_and_its_term_grows,
            leases::its_holder_keeps_its_term_while_it_has_it,
            leases::its_holder_gets_a_new_term_once_it_has_run_out,
            leases::one_that_ran_out_is_still_kept_while_nobody_took_it,
            leases::one_that_passed_on_is_not_kept,
            leases::a_released_lease_is_free_at_once,
            leases::giving_up_one_that_passed_on_changes_nothing,
            leases::leases_do_not_touch_each_other,
            leases::an_old_term_is_refused_everywhere,
            leases::a_released_term_is_refused,
            leases::a_term_that_ran_out_writes_while_nobody_took_it,
            leases::what_an_old_leader_writes_is_written_before_the_new_one_leads,

            nodes::a_node_reads_back_as_it_last_said_and_is_forgotten_when_long_unseen,
            nodes::many_leases_are_taken_kept_and_given_up_together,
            nodes::of_nodes_that_take_at_once_each_lease_goes_to_one,
            nodes::a_write_shows_every_lease_that_it_depends_on,
            nodes::what_is_to_be_done_is_told_apart_by_partition,

            passes::a_pass_reads_back_as_it_was_given_last,
            passes::a_pass_is_given_with_the_answer_to_its_request_or_not_at_all,
            passes::a_node_that_does_not_lead_gives_no_pass,
            passes::passes_that_ran_out_go_in_small_steps,

            locks::tokens_of_a_lock_only_grow,
            locks::of_many_who_ask_at_once_each_gets_a_token_of_its_own,
            locks::a_board_reads_back_as_it_was_last_written_and_is_forgotten_when_long_unseen,

            logs::parts_of_logs_read_back_in_order_by_their_task,
            logs::of_two_that_note_the_same_part_the_first_stays,
            logs::parts_go_with_their_task,

            jobs::due_jobs_come_earliest_first_and_paused_ones_too,
            jobs::a_removed_job_is_found_nowhere_but_in_its_versions,
            jobs::jobs_come_in_the_order_of_their_ids,
            jobs::a_fixed_delay_job_is_idle_once_none_of_its_instances_is_left,
            jobs::the_next_time_of_a_fixed_delay_is_set_once,
            jobs::every_version_is_kept_in_the_form_it_had,
            jobs::names_are_told_apart_by_their_bytes,

            launch::a_launch_is_written_whole,
            launch::an_instance_reads_back_as_it_was_written,
            launch::a_firing_is_made_once,
            launch::a_firing_is_found_by_its_key,
            launch::a_launch_of_another_version_writes_nothing,
            launch::a_launch_that_saw_another_time_writes_nothing,
            launch::a_launch_of_a_removed_or_unknown_job_writes_nothing,
            launch::of_two_launches_at_once_one_is_written,
            launch::of_a_batch_only_the_stale_ones_are_left_out,
            launch::launches_of_one_job_in_one_batch_follow_each_other,
            launch::an_unbroken_run_of_omissions_is_one_row,
            launch::a_run_of_omissions_ends_where_reason_or_version_changes,
            launch::a_run_of_omissions_ends_where_an_instance_was_made,
            launch::a_span_that_continues_lengthens_the_last,
            launch::a_span_begins_anew_with_version_or_zone_data,
            launch::several_hundred_launches_are_one_batch,
            launch::keys_are_told_apart_by_their_bytes,
            launch::launches_under_two_leases_at_once_make_a_firing_once,
            launch::launches_and_ends_at_once_all_come_to_their_end,
            launch::the_oldest_of_a_job_is_unassigned_and_the_next_waits,
            launch::an_instance_beside_others_does_not_wait,
            launch::a_running_instance_holds_back_the_next,
            launch::the_newest_that_replaces_stands_behind_an_older_one,
            launch::tasks_are_assigned_once,
            launch::an_instance_that_has_ended_gets_no_tasks,
            launch::an_instance_without_tasks_can_be_ended,
            launch::unfinished_instances_come_oldest_first,

            tasks::a_task_reads_back_as_it_was_written,
            tasks::of_two_takers_one_wins,
            tasks::of_two_steps_in_one_batch_that_saw_the_same_one_is_lost,
            tasks::steps_of_one_task_in_one_batch_follow_each_other,
            tasks::an_old_fence_is_refused_and_nothing_of_that_step_is_written,
            tasks::a_step_of_a_task_that_nobody_knows_is_lost,
            tasks::an_instance_moves_with_the_step_of_its_task,
            tasks::an_instance_that_has_ended_moves_only_back_to_running,
            tasks::moves_of_one_instance_in_one_batch_follow_each_other,
            tasks::the_end_of_an_instance_of_the_schedule_is_noted_at_its_job,
            tasks::a_waiting_task_is_due_from_its_time_on,
            tasks::ready_tasks_come_in_lane_order_and_first_in_first_out,
            tasks::ready_tasks_are_those_of_the_processors_wanted,
            tasks::a_held_task_is_past_its_deadline_from_that_time_on,
            tasks::only_held_tasks_are_stopping,
            tasks::holders_are_told_apart_by_their_lives,
            tasks::every_lane_has_a_depth,
            tasks::several_hundred_steps_are_one_batch,
            tasks::of_many_batches_at_once_each_step_is_taken_once,

            lanes::ready_tasks_are_found_by_what_they_need,
            lanes::of_each_need_only_so_many_are_read_and_of_the_lanes_that_may_go,
            lanes::a_claim_stops_at_every_bound,
            lanes::nothing_is_claimed_under_limits_that_are_no_longer_set,
            lanes::claims_at_once_do_not_exceed_a_bound_together,
            lanes::of_claims_of_the_same_tasks_at_once_each_is_pushed_once,
            lanes::a_task_is_promotable_from_its_time_on_while_it_is_ready,
            lanes::a_ready_task_expires_at_its_time,
            lanes::the_last_executor_of_a_job_is_that_of_its_newest_task_that_had_one,
            lanes::an_instance_of_several_tasks_is_settled_when_all_have_ended,

            alarms::incidents_are_read_in_order_and_once,
            alarms::alarms_and_mark_are_written_together_or_not_at_all,
            alarms::of_two_that_saw_the_same_alarm_one_writes,
            alarms::an_alarm_reads_back_as_it_was_written,
            alarms::the_newest_of_a_rule_and_subject_is_the_latest,
            alarms::resolved_alarms_are_not_open,

            shards::a_run_begins_once_and_reads_back_as_it_was_written,
            shards::an_instance_that_has_ended_or_has_tasks_does_not_begin,
            shards::an_instance_that_has_ended_gets_no_further_tasks,
            shards::of_two_that_saw_the_same_run_one_writes,
            shards::runs_that_are_over_are_not_found_and_the_others_oldest_first,
            shards::data_comes_in_order_and_drafts_stay_apart,
            shards::dealing_moves_items_from_the_data_into_shards_in_one_write,
            shards::tasks_are_added_and_come_in_the_order_they_were_made,
            shards::outcomes_are_written_with_the_step_that_brings_them_or_not_at_all,
            shards::a_part_and_what_it_gives_are_written_with_its_step,
            shards::shards_go_with_their_instance,

            executors::an_executor_reads_back_as_it_was_last_seen,
            executors::what_drains_an_executor_outlives_its_lives,
            executors::one_that_has_long_been_gone_is_forgotten,
            executors::one_that_has_moved_or_come_back_is_not_written_down_as_gone,

            requests::asking_twice_is_asking_once,
            requests::requests_are_open_in_the_order_they_were_asked_until_answered,
            requests::a_request_is_answered_once,
            requests::a_request_that_nobody_asked_is_not_carried_out,
            requests::changes_are_written_all_or_none,
            requests::a_new_job_is_not_written_over_another,
            requests::a_version_is_written_over_the_one_that_was_seen,
            requests::the_name_of_a_removed_job_is_free,
            requests::pausing_makes_no_version_and_a_version_does_not_end_a_pause,
            requests::what_was_fired_is_never_unfired,
            requests::an_instance_that_a_person_asked_for_is_made_once,
            requests::of_requests_at_once_for_the_same_firing_one_makes_it,
            requests::of_jobs_of_one_name_at_once_one_is_written,
            requests::a_step_asked_for_is_lost_where_the_task_has_moved,
            requests::several_steps_asked_for_are_taken_together,
            requests::an_instance_with_tasks_is_not_ended_unassigned,
            requests::an_alarm_that_has_changed_is_not_acknowledged,
            requests::a_setting_is_written_over,

            staged::data_that_is_read_comes_back_in_order_and_is_whole_once,
            staged::one_run_takes_it_and_only_whole,
            staged::what_a_run_takes_goes_from_there_in_one_write,
            staged::what_is_discarded_is_gone_and_its_chunks_go_bit_by_bit,
            staged::what_lies_for_long_goes_unless_a_run_waits_for_it,

            unplanned::the_end_of_an_instance_waits_for_every_job_that_runs_after_its_own,
            unplanned::an_end_that_a_person_brings_about_waits_too,
            unplanned::what_follows_is_written_with_the_end_it_uses_up,
            unplanned::of_two_that_follow_one_end_one_is_written,
            unplanned::an_end_that_is_kept_comes_again_with_the_next_one,
            unplanned::who_runs_after_whom_follows_the_present_version,
            unplanned::what_is_superseded_ends_with_the_launch,
            unplanned::a_question_is_open_until_it_is_answered_once,
            unplanned::a_question_that_nobody_answers_ends_when_its_time_has_come,
            unplanned::a_backfill_goes_on_from_where_it_was_seen_until_it_is_done,
            unplanned::a_backfill_that_was_ended_goes_no_further,
            unplanned::what_is_still_to_be_answered_or_made_stays_however_old,

            upkeep::with_nothing_old_nothing_goes,
            upkeep::old_instances_go_with_their_tasks,
            upkeep::what_has_not_ended_stays_however_old,
            upkeep::of_a_job_with_too_many_the_oldest_go,
            upkeep::a_step_of_upkeep_is_small,
            upkeep::the_ledger_begins_where_the_purge_ended,
            upkeep::a_time_left_out_after_the_last_that_went_keeps_its_reason,
            upkeep::an_instance_asked_for_does_not_move_the_mark,
            upkeep::open_things_stay_however_old,
        }
    };
    (@each $fresh:path; $($group:ident::$case:ident,)*) => {$(
        #[tokio::test]
        async fn $case() {
            let store = $fresh().await;
            $crate::conformance::$group::$case(&*store).await;
        }
    )*};
    (@each_if_there $fresh:path; $($group:ident::$case:ident,)*) => {$(
        #[tokio::test]
        async fn $case() {
            if let Some(store) = $fresh().await {
                $crate::conformance::$group::$case(&*store).await;
            }
        }
    )*};
}

/// Runs the part about what people look at.
#[macro_export]
macro_rules! archive_conformance {
    ($fresh:path) => {
        $crate::archive_conformance! { @cases each $fresh }
    };
    (if_there $fresh:path) => {
        $crate::archive_conformance! { @cases each_if_there $fresh }
    };
    (@cases $how:ident $fresh:path) => {
        $crate::conformance! { @$how $fresh;
            archive::jobs_come_in_the_order_of_names,
            archive::jobs_are_found_by_text_tag_and_pause,
            archive::a_job_shows_its_last_twelve_instances,
            archive::pages_of_jobs_have_no_gaps_or_doubles_while_jobs_are_added,
            archive::versions_come_newest_first,
            archive::instances_come_newest_first_with_their_job_and_tasks,
            archive::instances_are_found_by_job_state_task_executor_and_due_time,
            archive::pages_of_instances_have_no_gaps_or_doubles_while_more_are_made,
            archive::instances_due_at_one_moment_are_told_apart,
            archive::the_history_of_a_task_says_when_who_and_why,
            archive::a_lost_step_leaves_no_history,
            archive::tasks_come_newest_first_by_state_and_executor,
            archive::shards_come_in_order_and_those_that_moved_since,
            archive::a_sharded_instance_names_no_tasks,
            archive::omissions_come_latest_first,
            archive::alarms_come_worst_and_latest_first,
            archive::audit_entries_come_newest_first,
            archive::what_was_not_carried_out_is_not_in_the_audit,
            archive::outcomes_are_counted_within_their_time,
            archive::what_fired_comes_in_the_order_of_due_times,
            archive::the_change_count_grows_with_every_write,
        }
    };
}
