//! Pulse: whether all is well, what comes next, and what needs a hand.

use campanile_model::instance::InstanceState;
use campanile_model::schedule::Grid;
use campanile_model::{Fault, Timestamp};
use campanile_store::{InstanceFilter, JobFilter};

use crate::alarms::alarm_row;
use crate::jobs::MOST_COUNTED;
use crate::moments::{HOUR, MINUTE};
use crate::runs::instance_row;
use crate::views::*;
use crate::{Api, CallContext};

const MINUTES: usize = 60;
const NAMED_IN_A_MINUTE: usize = 5;
const UPCOMING: usize = 8;
const RUNNING_SHOWN: usize = 50;
const ALARMS_SHOWN: usize = 20;
const OMISSIONS_SHOWN: usize = 50;
const A_DAY_SECONDS: i64 = 86_400;

impl Api {
    pub(crate) async fn pulse(&self, _: Nothing, cx: &CallContext) -> Result<Pulse, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let first = Timestamp::from_millis(now.millis() - now.millis().rem_euclid(MINUTE));
        let mut next_hour: Vec<StripMinute> = (0..MINUTES as i64)
            .map(|minute| StripMinute {
                at: told.moment(first.plus_millis(minute * MINUTE)),
                firings: 0,
                jobs: Vec::new(),
            })
            .collect();
        let hour = Grid::new(first, 60, MINUTES);
        let mut counts = vec![0; MINUTES];
        let mut upcoming = Vec::new();
        for job in self.all_jobs().await?.iter().filter(|job| !job.paused) {
            if let Some(due) = job.next_due {
                upcoming.push((due, job.id, job.spec.name.clone()));
            }
            let Some(timeline) = self.timeline(job).await? else { continue };
            counts.fill(0);
            timeline.add_counts(&hour, job.fired_through.plus_millis(1).max(now), hour.end(), &mut counts);
            for (minute, count) in next_hour.iter_mut().zip(&counts).filter(|(_, count)| **count > 0) {
                minute.firings += count;
                if minute.jobs.len() < NAMED_IN_A_MINUTE {
                    minute.jobs.push(job.spec.name.clone());
                }
            }
        }
        upcoming.sort();
        upcoming.truncate(UPCOMING);

        let running = InstanceFilter { states: vec![InstanceState::Running], ..InstanceFilter::default() };
        let running = self.archive.instance_page(&running, None, RUNNING_SHOWN).await?.rows;
        let sharded = self.sharded_in_progress().await?;
        let outcomes = self.archive.outcomes(now.plus_millis(-HOUR), now.plus_millis(1)).await?;
        let ended = outcomes.succeeded + outcomes.failed;
        let mut alarms = self.store().open_alarms().await?;
        alarms.sort_by_key(|alarm| (std::cmp::Reverse(alarm.severity), std::cmp::Reverse(alarm.last_at)));
        alarms.truncate(ALARMS_SHOWN);
        let omissions = self.archive.omissions(None, now.plus_seconds(-A_DAY_SECONDS), OMISSIONS_SHOWN).await?;
        Ok(Pulse {
            now,
            next_hour,
            upcoming: upcoming
                .into_iter()
                .map(|(due, job, name)| Upcoming { job: job.to_string(), name, due: told.moment(due) })
                .collect(),
            running: running
                .into_iter()
                .filter(|summary| summary.sharded.is_none())
                .map(|summary| instance_row(summary, &told, cx))
                .collect(),
            sharded: sharded.into_iter().map(|summary| instance_row(summary, &told, cx)).collect(),
            outcomes: OutcomesView {
                succeeded: outcomes.succeeded,
                failed: outcomes.failed,
                rate: (ended > 0).then(|| outcomes.succeeded as f64 / ended as f64),
            },
            alarms: alarms.into_iter().map(|alarm| alarm_row(alarm, &told, cx)).collect(),
            omissions: self.omission_rows(omissions, &told).await?,
            jobs: self.archive.job_count(&JobFilter::default(), MOST_COUNTED).await?,
        })
    }
}
