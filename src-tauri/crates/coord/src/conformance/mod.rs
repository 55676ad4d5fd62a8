//! The promises of the contract, as tests that every backend runs: bells, presence and what is told in `place`, ready
//! lanes, traffic windows and locks in files of their own.

use std::sync::Arc;
use std::time::Duration;

use crate::Clock;

pub mod lanes;
pub mod locks;
pub mod place;
pub mod traffic;

/// Tokio's time: the real one for a server, or one that runs ahead in a test that has paused it.
pub fn tokio_clock() -> Arc<dyn Clock> {
    crate::spans()
}

/// Longest that something may take which comes by itself.
const NEVER_SO_LONG: Duration = Duration::from_secs(30);

/// Until something is so that comes by itself.
pub(crate) async fn until(clock: &dyn Clock, what: &str, mut so: impl AsyncFnMut() -> bool) {
    let give_up_at = clock.now() + NEVER_SO_LONG;
    while !so().await {
        assert!(clock.now() < give_up_at, "never: {what}");
        clock.sleep_until(clock.now() + Duration::from_millis(2)).await;
    }
}

/// One test per case of a suite. `paused` for a backend that lives in this process and on tokio's time, which then runs
/// ahead whenever everyone waits; `real` for a server, where `fresh` says None when there is none to start. `all` is no
/// test but a statement within one, which does one case after the other.
#[macro_export]
macro_rules! cases {
    (paused $suite:ident $fresh:path; $($case:ident,)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $case() {
            $crate::conformance::$suite::$case(&$fresh().await).await
        }
    )*};
    (all $suite:ident $fresh:path; $($case:ident,)*) => {{$(
        $crate::conformance::$suite::$case(&$fresh().await).await;
    )*}};
    (real $suite:ident $fresh:path; $($case:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            if let Some(fresh) = $fresh().await {
                $crate::conformance::$suite::$case(&fresh).await
            }
        }
    )*};
}

/// Bells, presence and what is told.
#[macro_export]
macro_rules! conformance {
    ($time:ident, $fresh:path) => {
        $crate::cases! { $time place $fresh;
            a_ring_wakes_the_one_who_listens,
            a_ring_before_anyone_listens_is_heard,
            a_bell_is_not_another_bell,
            a_ring_is_heard_on_every_node,
            presence_is_seen_by_every_node_and_ends_by_itself,
            whoever_leaves_is_there_no_more,
            what_one_tells_the_other_hears,
            nobody_hears_what_he_told_himself,
            nothing_is_lost_in_silence,
            nodes_that_meet_reach_each_other,
        }
    };
}

#[macro_export]
macro_rules! lanes_conformance {
    ($time:ident, $fresh:path) => {
        $crate::cases! { $time lanes $fresh;
            ids_go_in_lane_order_and_first_in_first_out,
            only_lanes_that_may_go_are_taken_from,
            an_id_is_in_the_lanes_once,
            of_several_takers_each_id_goes_to_one,
            what_has_gone_may_come_again,
            what_is_given_back_stands_at_the_head_in_its_order,
            what_stays_in_hand_past_its_lease_goes_back_to_its_lane,
            whoever_lost_it_cannot_give_it_back,
            what_was_put_aside_is_taken_by_those_who_ask_for_it,
            what_was_put_aside_for_long_is_looked_at_again,
            a_task_that_moved_up_stands_in_its_new_lane_alone,
            a_window_has_a_bound,
            a_hand_has_a_bound,
            groups_are_apart,
        }
    };
}

#[macro_export]
macro_rules! traffic_conformance {
    ($time:ident, $fresh:path) => {
        $crate::cases! { $time traffic $fresh;
            what_meters_count_adds_up,
            nothing_counted_is_known_too,
            a_probe_stands_beside_the_meters,
            windows_are_those_of_ten_seconds,
            an_allowance_is_one_for_all,
            another_round_begins_anew,
            databases_are_apart,
        }
    };
}
