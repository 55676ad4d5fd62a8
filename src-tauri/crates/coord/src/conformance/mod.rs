//! The promises of the contract, as tests that every backend runs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;
use futures::FutureExt;

use crate::{Bell, Clock, Coord, Presence};

pub mod locks;

/// Tokio's time: the real one for a server, or one that runs ahead in a test that has paused it.
pub fn tokio_clock() -> Arc<dyn Clock> {
    Arc::new(TokioClock(tokio::time::Instant::now()))
}

struct TokioClock(tokio::time::Instant);

#[async_trait]
impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH + self.0.elapsed()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let since = u64::try_from(deadline.millis()).unwrap_or(0);
        tokio::time::sleep_until(self.0 + Duration::from_millis(since)).await;
    }
}

/// Runs the whole suite against a backend, one test per case.
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance! { @each $fresh;
            a_ring_wakes_the_one_who_listens,
            a_ring_before_anyone_listens_is_heard,
            a_bell_is_not_another_bell,
            presence_ends_by_itself,
        }
    };
    (@each $fresh:path; $($case:ident,)*) => {$(
        #[tokio::test]
        async fn $case() {
            $crate::conformance::$case(&$fresh().await).await
        }
    )*};
}

pub async fn a_ring_wakes_the_one_who_listens(coord: &dyn Coord) {
    let listening = coord.listen(Bell::Clerk);
    coord.ring(Bell::Clerk);
    listening.await;
}

pub async fn a_ring_before_anyone_listens_is_heard(coord: &dyn Coord) {
    coord.ring(Bell::Launcher);
    coord.ring(Bell::Launcher);
    coord.listen(Bell::Launcher).await;
    assert!(coord.listen(Bell::Launcher).now_or_never().is_none(), "two rings were heard as one");
}

pub async fn a_bell_is_not_another_bell(coord: &dyn Coord) {
    coord.ring(Bell::Launcher);
    assert!(coord.listen(Bell::Monitor).now_or_never().is_none());
}

pub async fn presence_ends_by_itself(coord: &dyn Coord) {
    let at = Timestamp::from_millis;
    coord.announce(Presence { node: "b".into(), until: at(20) });
    coord.announce(Presence { node: "a".into(), until: at(10) });
    let names = |now| coord.present(at(now)).into_iter().map(|presence| presence.node).collect::<Vec<_>>();
    assert_eq!(names(5), ["a", "b"]);
    assert_eq!(names(10), ["b"]);
}
