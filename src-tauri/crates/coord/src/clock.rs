//! Time, as those who wait see it. The engine's clock is this one; a backend with a clock of its own uses it to wait only.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_model::Timestamp;

#[async_trait]
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// How far `now` may be from the time that all go by, as far as is known.
    fn uncertainty(&self) -> Duration {
        Duration::ZERO
    }

    /// How far the machine's own clock is from it, in milliseconds.
    fn offset_ms(&self) -> i64 {
        0
    }

    /// Returns at once if `deadline` has passed, and early where the clock was set back meanwhile: whoever sleeps looks
    /// again, so that nobody sleeps for as long as the clock was set back.
    async fn sleep_until(&self, deadline: Timestamp);
}

/// A clock that nobody sets, for spans: it begins at zero and never goes back. It is tokio's, which runs ahead in a test
/// that has paused it.
pub fn spans() -> Arc<dyn Clock> {
    Arc::new(Spans(tokio::time::Instant::now()))
}

struct Spans(tokio::time::Instant);

#[async_trait]
impl Clock for Spans {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH + self.0.elapsed()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let since = u64::try_from(deadline.millis()).unwrap_or(0);
        tokio::time::sleep_until(self.0 + Duration::from_millis(since)).await;
    }
}
