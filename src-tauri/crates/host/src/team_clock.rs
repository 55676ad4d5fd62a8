//! The time of a team: the database's, as this node last measured it.
//!
//! Between two measurements it goes by the machine's steady clock, so that setting the machine's time changes nothing
//! here. How far it may be wrong is known: half the way to the database and back, a hundredth of the time since (no
//! clock is that bad), and whatever the two clocks of the machine disagree by, as they do when it has slept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use campanile_engine::{Clock, SystemClock};
use campanile_model::Timestamp;
use campanile_store::StoreError;
use campanile_store_mysql::MysqlStore;

/// Between two measurements.
const MEASURE_EVERY: Duration = Duration::from_secs(10);

/// Between two while it is not sure of itself, and between two looks at whether it is.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Sure enough.
const SURE: Duration = Duration::from_millis(500);

const LONGEST_NAP_MS: u64 = 1000;

#[derive(Clone, Copy, Debug)]
struct Measured {
    at: Instant,
    /// By the machine's own clock.
    machine: Timestamp,
    /// By the database's.
    time: Timestamp,
    half_way: Duration,
}

impl Measured {
    fn time(&self, elapsed: Duration) -> Timestamp {
        self.time + elapsed
    }

    /// `elapsed` by the steady clock, `machine` by the other one.
    fn uncertainty(&self, elapsed: Duration, machine: Timestamp) -> Duration {
        let by_machine = machine.millis() - self.machine.millis();
        let steady = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        let disagree = Duration::from_millis(by_machine.saturating_sub(steady).unsigned_abs());
        self.half_way + elapsed / 100 + disagree
    }
}

pub struct TeamClock {
    store: Arc<MysqlStore>,
    measured: Mutex<Measured>,
}

impl TeamClock {
    pub async fn open(store: Arc<MysqlStore>) -> Result<TeamClock, StoreError> {
        let measured = Mutex::new(measure(&store).await?);
        Ok(TeamClock { store, measured })
    }

    /// Measures, for ever.
    pub async fn go(&self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let elapsed = self.measured().at.elapsed();
            if elapsed < MEASURE_EVERY && self.uncertainty() < SURE {
                continue;
            }
            match measure(&self.store).await {
                Ok(measured) => *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = measured,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the database's time cannot be measured");
                }
            }
        }
    }

    fn measured(&self) -> Measured {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn measure(store: &MysqlStore) -> Result<Measured, StoreError> {
    let before = Instant::now();
    let time = store.now().await?;
    let half_way = before.elapsed() / 2;
    // It was that time when the answer set out.
    Ok(Measured { at: Instant::now(), machine: SystemClock.now(), time: time + half_way, half_way })
}

#[async_trait]
impl Clock for TeamClock {
    fn now(&self) -> Timestamp {
        let measured = self.measured();
        measured.time(measured.at.elapsed())
    }

    fn uncertainty(&self) -> Duration {
        let measured = self.measured();
        measured.uncertainty(measured.at.elapsed(), SystemClock.now())
    }

    fn offset_ms(&self) -> i64 {
        SystemClock.now().millis() - self.now().millis()
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let mut before = self.now();
        loop {
            let now = self.now();
            let left = deadline.millis() - now.millis();
            // Set back by another measurement: whoever sleeps looks again.
            if left <= 0 || now < before {
                return;
            }
            before = now;
            tokio::time::sleep(Duration::from_millis(left.unsigned_abs().min(LONGEST_NAP_MS))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_it_may_be_wrong_grows_with_time_and_with_what_the_machine_does() {
        let at = |millis: i64| Timestamp::from_millis(1_790_000_000_000 + millis);
        let measured =
            Measured { at: Instant::now(), machine: at(5000), time: at(0), half_way: Duration::from_millis(20) };
        let uncertain =
            |elapsed, machine| measured.uncertainty(Duration::from_millis(elapsed), at(machine)).as_millis();
        for ((elapsed, machine), expected) in [
            ((0, 5000), 20),
            ((10_000, 15_000), 120),
            ((90_000, 95_000), 920),
            // The machine's time was set, forwards and back.
            ((10_000, 25_000), 10_120),
            ((10_000, 5_000), 10_120),
        ] {
            assert_eq!(uncertain(elapsed, machine), expected, "{elapsed} ms later, the machine says {machine}");
        }
        assert_eq!(measured.time(Duration::from_secs(7)), at(7000));
    }
}
