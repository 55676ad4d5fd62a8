//! Alarms, and the incidents that they are made of.

use async_trait::async_trait;
use campanile_model::AlarmId;
use campanile_model::alarm::{Alarm, AlarmRule};
use campanile_model::task::Incident;

use crate::{Lead, Result, Taken};

/// The last incident that the alerter has dealt with.
pub type IncidentMark = i64;

#[async_trait]
pub trait AlarmStore: Send + Sync {
    /// Incidents after the mark that the alerter wrote last, in the order they were written, at most `limit`.
    async fn new_incidents(&self, limit: usize) -> Result<Vec<Incident>>;

    /// Writes alarms and the mark together: an incident counts once, whatever crashes. An alarm with fence 0 is new;
    /// one whose fence is not the one stored is Lost, and then nothing is written and the mark stays.
    async fn put_alarms(&self, lead: &Lead, alarms: &[Alarm], mark: Option<IncidentMark>) -> Result<Taken>;

    /// The newest alarm of each (rule, subject), open or resolved.
    async fn latest_alarms(&self, of: &[(AlarmRule, String)]) -> Result<Vec<Alarm>>;

    async fn alarms(&self, ids: &[AlarmId]) -> Result<Vec<Alarm>>;

    /// Firing and acknowledged ones.
    async fn open_alarms(&self) -> Result<Vec<Alarm>>;
}
