//! How long what has ended is kept: one setting for all.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Code, Fault, Words};

/// The setting under which it is kept.
pub const RETENTION: &str = "retention";

/// Of two bounds on the same thing the one that is reached first counts. What is not written has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Retention {
    /// Days that instances are kept after their end, with their tasks.
    pub instance_days: u32,
    /// Instances that are kept of one job.
    pub instances_per_job: u32,
    /// Days that logs are kept after they were last written.
    pub log_days: u32,
    /// Gigabytes (10⁹ bytes) that all logs take together.
    pub log_gigabytes: u32,
    /// Days that alarms are kept after they were resolved.
    pub alarm_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { instance_days: 30, instances_per_job: 10_000, log_days: 7, log_gigabytes: 10, alarm_days: 180 }
    }
}

impl Retention {
    /// The most that each can be; the least is 1.
    pub const MOST: Retention = Retention {
        instance_days: 3_650,
        instances_per_job: 1_000_000,
        log_days: 3_650,
        log_gigabytes: 10_000,
        alarm_days: 3_650,
    };

    /// Everything that keeps it from being set.
    pub fn check(&self) -> Vec<Fault> {
        let most = Retention::MOST;
        let bounds = [
            ("instanceDays", self.instance_days, most.instance_days),
            ("instancesPerJob", self.instances_per_job, most.instances_per_job),
            ("logDays", self.log_days, most.log_days),
            ("logGigabytes", self.log_gigabytes, most.log_gigabytes),
            ("alarmDays", self.alarm_days, most.alarm_days),
        ];
        let wrong = bounds.into_iter().filter(|(_, value, most)| !(1..=*most).contains(value));
        wrong
            .map(|(field, value, most)| {
                let reason = Words::new(
                    format!("{field} is {value}; it can be 1 to {most}"),
                    format!("{field} 为 {value}；可用范围是 1 到 {most}"),
                );
                Code::BadRequest.fault().with_words("reason", &reason).at(field)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_written_has_its_default() {
        let written: Retention = serde_json::from_value(json!({"logDays": 3})).expect("a retention");
        assert_eq!(written, Retention { log_days: 3, ..Retention::default() });
        assert!(serde_json::from_value::<Retention>(json!({"logDay": 3})).is_err(), "a slip of the pen is told");
    }

    #[test]
    fn nothing_is_kept_for_no_time_or_for_ever() {
        let wrong = |text| {
            let retention: Retention = serde_json::from_value(text).expect("a retention");
            retention.check().into_iter().map(|fault| fault.field.expect("a field")).collect::<Vec<_>>()
        };
        assert_eq!(wrong(json!({})), [""; 0]);
        assert_eq!(wrong(json!({"instanceDays": 0, "alarmDays": 3651})), ["instanceDays", "alarmDays"]);
        assert_eq!(wrong(json!({"instanceDays": 3650, "instancesPerJob": 1_000_000, "logGigabytes": 10_000})), [""; 0]);
        assert_eq!(wrong(json!({"instancesPerJob": 1_000_001, "logGigabytes": 0, "logDays": 0})).len(), 3);
    }
}
