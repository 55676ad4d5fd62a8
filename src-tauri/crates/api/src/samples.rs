//! A handful of jobs that do something visible, for whoever has none yet.

use campanile_model::request::SaveJob;
use campanile_model::{Fault, Timestamp};
use serde_json::{Value, json};

use crate::moments::{DAY, HOUR, Told};
use crate::views::{DoneView, Nothing};
use crate::{Api, CallContext, input};

/// From the wish for samples to the first run of the import: time to look where it will be.
const SOON_SECONDS: i64 = 15;

impl Api {
    /// Those that are there already stay as they are. A processor that nobody has is passed over.
    pub(crate) async fn sample_jobs(&self, _: Nothing, cx: &CallContext) -> Result<DoneView, Fault> {
        let processors = self.node.processors();
        let told = Told::new(self.zone("local")?);
        let nine = told.instant((told.day(self.now()) - 1) * DAY + 9 * HOUR);
        let mut jobs = Vec::new();
        let soon = self.now().plus_seconds(SOON_SECONDS);
        for document in samples(&self.about.zone, nine, soon, self.about.health.as_deref()) {
            let spec = input::read_spec(&document)?;
            let hosted = processors.iter().any(|one| one.group == spec.executor_group && one.name == spec.processor);
            if hosted && self.store().job_named(&spec.name).await?.is_none() {
                jobs.push(SaveJob { spec, job: None, seen_version: None });
            }
        }
        if jobs.is_empty() {
            return Ok(DoneView { jobs: Vec::new(), instances: Vec::new(), changed: 0, version: None });
        }
        self.save_all(jobs, cx).await
    }
}

/// `nine` is some nine o'clock in the morning that has passed, `soon` the time of what is to be seen once.
fn samples(zone: &str, nine: Timestamp, soon: Timestamp, health: Option<&str>) -> Vec<Value> {
    let mut samples = vec![
        json!({
            "name": "sample-heartbeat",
            "description": "Says hello once a minute. 每分钟打一次招呼。",
            "schedule": {"kind": "cron", "expression": "* * * * *", "timeZone": zone},
            "processor": "shell",
            "parameters": {"command": "echo \"Ding! It is $(date '+%H:%M:%S').\"\nfor i in 1 2 3; do echo \"bell $i\"; sleep 1; done"},
            "tags": ["sample"],
        }),
        json!({
            "name": "sample-workday-reminder",
            "description": "From Monday to Friday at nine. 周一至周五九点提醒。",
            "schedule": {"kind": "repeat", "repeatLevel": "week", "repeatDays": [1, 2, 3, 4, 5], "startTime": nine, "timeZone": zone},
            "processor": "shell",
            "parameters": {"command": "echo 'Good morning. 早上好。'"},
            "tags": ["sample"],
        }),
        json!({
            "name": "sample-fails-on-purpose",
            "description": "Fails every second minute, so that there is an alarm to acknowledge. 故意失败，用来体验告警。",
            "schedule": {"kind": "cron", "expression": "*/2 * * * *", "timeZone": zone},
            "processor": "shell",
            "parameters": {"command": "echo 'The rope has snapped. 钟绳断了。' >&2\nexit 3"},
            "retry": {"retries": 1, "baseSeconds": 2.0},
            "tags": ["sample", "failure"],
        }),
        json!({
            "name": "sample-nightly-report",
            "description": "At two in the morning: drag it to another time on the calendar. 凌晨两点：可在日历上拖动它。",
            "schedule": {"kind": "cron", "expression": "0 2 * * *", "timeZone": zone},
            "processor": "shell",
            "parameters": {"command": "echo 'counting the day'\nsleep 2\necho '{\"orders\": 128, \"refunds\": 3}'"},
            "timeoutSeconds": 600,
            "tags": ["sample", "report"],
        }),
        json!({
            "name": "sample-import",
            "description": "Imports 10,000 made-up customers in shards, a few of them wrong; run it again, and nothing is doubled. 分片导入一万个虚构客户，其中几行有误；再次运行不会重复写入。",
            "schedule": {"kind": "once", "at": soon},
            "mode": "sharding",
            "processor": "import",
            "parameters": {
                "file": "sample:customers",
                "table": "customers",
                "createTable": true,
                "key": "id",
                "parent": "brought_by",
                "required": ["name", "email"],
                "rowsPerSecond": 120,
            },
            "shardMaxSize": 200,
            // What is due on the minute does not wait for it.
            "maxConcurrent": 2,
            "priority": "low",
            "tags": ["sample", "import"],
        }),
    ];
    if let Some(health) = health {
        samples.push(json!({
            "name": "sample-http-check",
            "description": "Asks this program over HTTP whether it is well. 通过 HTTP 检查本程序是否正常。",
            "schedule": {"kind": "cron", "expression": "*/5 * * * *", "timeZone": zone},
            "processor": "http",
            "parameters": {"url": health, "expectedStatus": "200", "allowPrivate": true, "timeoutSeconds": 5},
            "retry": {"retries": 1},
            "tags": ["sample", "check"],
        }));
    }
    samples
}

#[cfg(test)]
mod tests {
    use campanile_model::Almanac;
    use campanile_model::job_check;

    use super::*;

    #[test]
    fn every_sample_can_be_saved_wherever_one_is() {
        let now: Timestamp = "2026-11-21T02:00:00Z".parse().expect("a time");
        for zone in ["Asia/Shanghai", "Europe/Berlin", "UTC", "America/New_York"] {
            for document in
                samples(zone, now.plus_seconds(-86_400), now.plus_seconds(9), Some("http://127.0.0.1:4000/health"))
            {
                let spec = input::read_spec(&document).expect("a job");
                assert_eq!(job_check::check(&spec, &Almanac::bundled(), now), [], "{}", spec.name);
            }
        }
    }
}
