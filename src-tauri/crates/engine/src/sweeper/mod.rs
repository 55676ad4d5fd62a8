//! Lets go of what is old, in small steps, so that nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::Timestamp;
use campanile_model::retention::{RETENTION, Retention};
use campanile_store::{Lead, Purge, Purged};

use crate::officer::{Officer, Pass, PassError};
use crate::shared::Shared;

/// Rows of a kind in one step.
const STEP: usize = 500;

pub struct Sweeper {
    shared: Arc<Shared>,
    lead: Lead,
}

impl Sweeper {
    pub fn new(shared: Arc<Shared>, lead: Lead) -> Sweeper {
        Sweeper { shared, lead }
    }
}

fn days_before(now: Timestamp, days: u32) -> Timestamp {
    now.plus_seconds(-i64::from(days) * 86_400)
}

#[async_trait]
impl Officer for Sweeper {
    fn name(&self) -> &'static str {
        "sweeper"
    }

    fn bell(&self) -> Bell {
        Bell::Sweeper
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let retention: Retention = match self.shared.store.setting(RETENTION).await? {
            Some(value) => serde_json::from_value(value).unwrap_or_else(|error| {
                tracing::warn!(%error, "the retention setting makes no sense; the defaults hold");
                Retention::default()
            }),
            None => Retention::default(),
        };
        let purge = Purge {
            instances_before: days_before(now, retention.instance_days),
            keep_per_job: retention.instances_per_job,
            requests_before: days_before(now, 1),
            incidents_before: days_before(now, 1),
            alarms_before: days_before(now, retention.alarm_days),
            staged_before: days_before(now, 1),
            passes_before: now,
            limit: STEP,
        };
        let purged = self.shared.store.purge(&self.lead, &purge).await?;
        if !purged.tasks.is_empty() {
            self.shared.logs.remove(&purged.tasks).await;
        }
        if purged == Purged::default() {
            let most_bytes = u64::from(retention.log_gigabytes) * 1_000_000_000;
            self.shared.logs.purge(days_before(now, retention.log_days), most_bytes).await;
        }
        let did = usize::try_from(purged.instances + purged.others).unwrap_or(usize::MAX);
        Ok(Pass { did, again: false, next: (did > 0).then(|| now.plus_seconds(1)) })
    }
}
