//! The only way time enters the engine.

use async_trait::async_trait;
pub use campanile_coord::Clock;
use campanile_model::Timestamp;

/// The machine's clock.
///
/// Sleeps are cut into pieces of a second at most, so that a clock that is set, or a machine that
/// wakes up, is noticed.
pub struct SystemClock;

const LONGEST_NAP_MS: i64 = 1000;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::EPOCH + since_epoch
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let mut before = self.now();
        loop {
            let now = self.now();
            let left = deadline.millis() - now.millis();
            if left <= 0 || now < before {
                return;
            }
            before = now;
            let nap = left.min(LONGEST_NAP_MS).unsigned_abs();
            tokio::time::sleep(std::time::Duration::from_millis(nap)).await;
        }
    }
}
